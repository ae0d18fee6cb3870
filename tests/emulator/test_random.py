"""Kernels that a seed wrote: against `numba.njit`, and against themselves.

Threads of a warp that store at one line in the same turns of the loops around it must
do so in one request.
"""

import json
import re

import numpy as np
import pytest

from helpers import emulate
from tests.paths import RECORDED
from tests.quick import beside
from tests.specimens.kernels import BUILT_IN
from tests.specimens.random_kernels import typed, typed_rows
from tests.specimens.random_kernels.blocks import SEGMENTS
from tests.specimens.random_kernels.endless import ENDLESS, endless_program
from tests.specimens.random_kernels.expressions import EXPRESSIONS
from tests.specimens.random_kernels.launches import (
    STEPS,
    as_kernel,
    as_njit,
    compiled,
    faults,
)
from tests.specimens.random_kernels.memory import ATOMICS
from tests.specimens.random_kernels.program import PLAIN_LAUNCH, plain_program, program
from tests.specimens.random_kernels.statements import STATEMENTS
from tests.specimens.random_kernels.warps import WARP
from thirty_two_lanes.emulator import NoProgressError

THREADS = PLAIN_LAUNCH[1]


@pytest.mark.parametrize("seed", beside([2, 3], range(60), slow_every=4))
def test_a_random_kernel_gives_what_njit_gives_and_reconverges(seed):
    """Each thread gets what njit gets; a warp's stores of one turn are one request."""
    made = plain_program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)
    outputs = made.arrays()
    expected, trace = thread_by_thread(made)

    run = emulate(kernel)[PLAIN_LAUNCH](made.n, *outputs)

    for wanted, got in zip(expected, outputs, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    requests = {
        int(re.search(r"# store (\d+)", site.text)[1]): row.requests
        for site, row in run.coalescing.by_line.items()
        if row.kind == "store"
    }
    assert requests_of(trace) == requests


@pytest.mark.parametrize(
    "seed", beside([402, 404, 407, 414], range(600, 800), slow_every=4)
)
def test_a_random_kernel_gives_the_same_bits_in_every_order(seed):
    """In two orders of warps, in a plain launch and with a block at a time; none of
    them has a race, or reads what has no value.
    """
    assert [] == faults(program(seed))


@pytest.mark.skipif(BUILT_IN, reason="some of the statements are the package's own")
@pytest.mark.parametrize("seed", beside([4], range(200), slow_every=6))
def test_a_random_program_of_typed_values_is_right_or_refused_by_numba(seed):
    """It leaves what Python or njit leaves; `python -m` its module runs any number."""
    fault = typed.fault_of(typed.program(seed)[0], seed)

    assert fault.partition(":")[0] in ("", "refused")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_a_random_loop_that_never_ends_is_stopped(seed):
    """Whatever it stores, in one warp or several, with a plain launch and `emulate`."""
    made = endless_program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)

    for launch in (kernel, emulate(kernel)):
        with pytest.raises(NoProgressError):
            launch[made.blocks, made.threads](made.n, *made.arrays())


@pytest.mark.slow
def test_every_feature_is_written():
    """In some kernels of a few thousand; a row that is never drawn tests nothing."""
    tables = STATEMENTS, ATOMICS, SEGMENTS, WARP, *EXPRESSIONS.values()
    rows = {row.name for table in tables for row in table}

    written = set().union(*(program(seed).features for seed in range(2000)))
    endless = set().union(*(endless_program(seed).features for seed in range(100)))

    assert set() == rows - written
    assert set() == {row.name for row in ENDLESS} - endless

    features = set().union(*(typed.program(seed)[1] for seed in range(1000)))
    texts = {text for _, row in typed_rows.EXPRESSIONS.values() for text in row}
    statements = {row.write.__name__ for row in typed_rows.STATEMENTS}
    assert set() == (texts | statements) - features


def thread_by_thread(made):
    """What njit gives: the outputs, and what each thread noted."""
    function = compiled(made.thread, "thread", as_njit, made.seed)
    outputs = made.arrays()
    trace = np.full((made.n, STEPS), -1)
    for t in range(made.n):
        function(t, np.int32(t % THREADS % 32), made.n, *outputs, trace)
    return outputs, trace


def requests_of(trace):
    """Requests by store, from what each thread noted: one for each warp and turn."""
    counts = {}
    threads = np.arange(len(trace))
    warps = threads // THREADS * 8 + threads % THREADS // 32
    for warp in np.unique(warps):
        for code in np.unique(trace[warps == warp]):
            if code >= 0:
                counts[code % 1000] = counts.get(code % 1000, 0) + 1
    return counts


NEGATIVE = "a negative float, known to the compiler, as an unsigned integer: undefined"
OVERFLOW = "a result that its type does not hold, used further: as if it did fit"
ZEROS = "which of two zeros `min` and `max` give beside one that the compiler knows"
REMAINDER = "the remainder of floats by a quotient that was rounded: not exact"
SHIFT = "a shift by 64 or more, undefined: `7 << x` is taken for never 0"
CONTRACTED = "a product and a sum in one operation (FMA), rounded once"
REFUSED = "`7 << 62` is too large for an integer literal: Numba refuses it, too"
CAUSES = {  # of what differed on the GPU, by seed
    **dict.fromkeys(("1757", "4409", "7698", "21229", "23576"), NEGATIVE),
    **dict.fromkeys(("2136", "3098", "3215"), REFUSED),
    **dict.fromkeys(("3236", "22910"), ZEROS),
    **dict.fromkeys(("4169", "5574", "5841"), OVERFLOW),
    **dict.fromkeys(("21925", "23575", "24127", "24739"), OVERFLOW),
    **dict.fromkeys(("5264", "8296", "9657", "21399"), CONTRACTED),
    "22235": REMAINDER,
    "2121": SHIFT,
    "5419": "libNVVM refuses what Numba made of the kernel",
    "8812": "no answer within the time of one kernel",
}


def test_a_gpu_agreed_bit_for_bit_when_it_was_asked():
    """Fifteen thousand kernels were run; what differed is listed, with its cause."""
    file = RECORDED / "random_kernels.json"
    recorded = json.loads(file.read_text(encoding="utf-8"))

    assert recorded["kernels"] >= 15_000
    assert CAUSES.keys() == recorded["differ"].keys()
