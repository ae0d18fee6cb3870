"""An error that stops a launch says what the judges had found until then."""

import numpy as np
import pytest
from numba import cuda, float32

from tests.specimens.kernels import line_of
from thirty_two_lanes import emulate, watch
from thirty_two_lanes.core.errors import BarrierError, NoProgressError
from thirty_two_lanes.scripts.kinds import FAULTS
from thirty_two_lanes.scripts.launches import handed_to
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.report import as_lines


@cuda.jit
def stops_late(out):
    i = cuda.grid(1)
    tile = cuda.shared.array(64, float32)
    out[0] = i  # race
    out[i] = tile[cuda.threadIdx.x]  # read
    out[i + 10] = 3


@cuda.jit
def stops_at_once(out):
    out[cuda.grid(1) + 10] = 3


@pytest.mark.parametrize("blocks", [1, 40])
def test_an_error_names_the_races_and_the_reads_before_it(blocks):
    """Below its own words, whether a second run has to look for them or not."""
    out = np.zeros(64 * blocks)

    with pytest.raises(IndexError) as told:
        emulate(stops_late)[blocks, 64](out)

    said = str(told.value).partition("  Found before that:\n")[2]
    assert f"line {line_of(stops_late, '# race')}: WAW race on global `out`" in said
    assert (
        f"line {line_of(stops_late, '# read')}: reads {64 * blocks:,} cells of shared "
        "`tile` that nobody wrote"
    ) in said
    assert told.value.run.races


def test_an_error_with_nothing_before_it_is_as_it_was():
    """Its run has the accesses that were made."""
    with pytest.raises(IndexError) as told:
        emulate(stops_at_once)[1, 64](np.zeros(64))

    assert "Found before" not in str(told.value)
    assert () == told.value.run.races


@cuda.jit(debug=True, opt=False)
def raises_late(out):
    out[0] = cuda.threadIdx.x
    raise ValueError("too late")


def test_an_exception_of_the_kernel_says_it_too():
    """A launch in debug mode raises what a thread raised."""
    with pytest.raises(ValueError, match="Found before that"):
        emulate(raises_late)[1, 64](np.zeros(64))


@cuda.jit
def waits_for_ever(out):
    """A race, and then one thread waits for a flag that nobody raises."""
    out[0] = cuda.threadIdx.x
    while out[1] == 0:
        pass


@cuda.jit
def half_a_warp_waits(out):
    """A race, and then lanes of one warp at two barriers."""
    out[0] = cuda.threadIdx.x
    if cuda.threadIdx.x % 2:
        cuda.syncthreads()
    else:
        out[1] = cuda.shfl_sync(0xFFFFFFFF, 1, 0)


DEADLOCKS = (waits_for_ever, NoProgressError), (half_a_warp_waits, BarrierError)


@pytest.mark.parametrize("kernel, error", DEADLOCKS)
def test_so_does_a_launch_that_hangs(kernel, error):
    """To who calls `emulate`, and in the report of a program."""
    with pytest.raises(error, match="Found before that:\n.* WAW race on global `out`"):
        emulate(kernel)[1, 64](np.zeros(64))
    ledger = Ledger(FAULTS)
    with handed_to(ledger.launch), pytest.raises(error):
        kernel[1, 64](np.zeros(64))

    assert ledger.counts()["races"]
    assert "before that: line" in as_lines(ledger, FAULTS)


def launched(kinds):
    """What a ledger has of a launch that stops."""
    ledger = Ledger(kinds)
    with handed_to(ledger.launch), pytest.raises(IndexError):
        stops_late[1, 64](np.zeros(64))
    return ledger


def test_a_program_fails_for_what_was_found_before_an_error():
    """Also where nobody asks for the error's kind; and each thing is said once."""
    assert {"races": 3, "same-value": 0} == {
        kind: launched(("races",)).counts()[kind] for kind in ("races", "same-value")
    }
    said = as_lines(launched(FAULTS), FAULTS)
    assert "before that: line" in said
    assert "let one thread write the cell, give each thread its own" in said
    assert "Found before that" not in said


def test_a_film_has_the_findings_beside_the_error():
    """The error is the first of them."""
    kinds = [
        it["kind"] for it in watch(stops_late)[1, 64](np.zeros(64)).record()["findings"]
    ]

    assert ("error", {"error", "race", "uninitialised"}) == (kinds[0], set(kinds))
