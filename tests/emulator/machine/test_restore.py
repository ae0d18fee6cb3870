"""The second look for races begins with the memory of the first, and leaves one run."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from thirty_two_lanes.emulator.judges.races import races as race_judge

PAIR = np.dtype([("seen", np.int32), ("more", np.float64)], align=True)
RACE = [("WAW", "block", 32 * 32, "out[0]")]  # each thread of a warp with the other's
captured = cuda.to_device(np.zeros(2, np.int32))


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """So that a second look is needed."""
    monkeypatch.setattr(race_judge, "MOST_KEPT", 0)


@cuda.jit(device=True)
def race_if(first, out):
    """Only then all threads of the block store to a cell."""
    cuda.syncthreads()
    if first:
        out[0] = cuda.threadIdx.x
    cuda.syncthreads()


@cuda.jit
def of_an_array(seen, out):
    race_if(seen[0] == 0, out)
    if cuda.threadIdx.x == 0:
        seen[0] += 1


@cuda.jit
def of_a_tuple(both, out):
    race_if(both[1][0] == 0, out)
    if cuda.threadIdx.x == 0:
        both[1][0] += 1


@cuda.jit
def of_two_names(seen, same, out):
    """One name is only read, the other only written."""
    race_if(seen[0] == 0, out)
    if cuda.threadIdx.x == 0:
        same[0] = 1


@cuda.jit
def of_a_captured_array(out):
    race_if(captured[1] == 0, out)
    if cuda.threadIdx.x == 0:
        captured[1] += 1


@cuda.jit
def of_a_record(record, out):
    race_if(record.seen == 0, out)
    if cuda.threadIdx.x == 0:
        record.seen += 1
        record.more = 2.5


def races(kernel, *arguments):
    """Kind, scope, hazards and cell of the races between warps."""
    run = emulate(kernel)[1, 64](*arguments, np.zeros(1, np.int32))
    return [(r.kind, r.scope, r.hazards, r.cell) for r in run.races]


def test_a_cell_that_is_read_and_written_is_as_before_in_the_second_look():
    """Else the second look would find no thread that is first."""
    seen = np.zeros(4, np.int32)

    assert RACE == races(of_an_array, seen)
    assert [1, 0, 0, 0] == seen.tolist()


def test_arrays_of_a_tuple_are_as_before_in_the_second_look():
    """Each of them."""
    both = np.zeros(2, np.int32), np.zeros(3, np.int32)

    assert RACE == races(of_a_tuple, both)
    assert [0, 0, 1, 0, 0] == [*both[0], *both[1]]


@pytest.mark.parametrize("end", [1, 2])
def test_memory_that_is_read_under_another_name_is_as_before(end):
    """Two views of one array, whole or in part."""
    memory = np.zeros(2, np.int32)

    assert RACE == races(of_two_names, memory, memory[:end])
    assert [1, 0] == memory.tolist()


def test_a_captured_array_is_as_before_in_the_second_look():
    """It is no argument, and lives on the device."""
    captured.copy_to_device(np.zeros(2, np.int32))

    assert RACE == races(of_a_captured_array)
    assert [0, 1] == captured.copy_to_host().tolist()


def test_a_record_is_as_before_in_the_second_look():
    """All of its fields, and afterwards they hold what one run stores."""
    record = np.zeros(1, PAIR)[0]

    assert RACE == races(of_a_record, record)
    assert (1, 2.5) == (record["seen"], record["more"])


def test_an_array_with_gaps_is_as_before_and_keeps_them():
    """Every other element of a larger array."""
    whole = np.zeros(8, np.int32)
    whole[1::2] = 7

    assert RACE == races(of_an_array, whole[::2])
    assert [1, 7, 0, 7, 0, 7, 0, 7] == whole.tolist()


@cuda.jit
def one_after_the_other(first, second, out):
    first.seen = 7
    out[0] = second.seen


@pytest.mark.parametrize("wrapped", [emulate, lambda kernel: kernel])
def test_each_argument_that_is_a_record_is_a_copy(wrapped):
    """As on a GPU: a store through one is not seen through the other, and the one that
    is copied back last wins. One that is read-only is left alone.
    """
    records, out = np.zeros(2, PAIR), np.zeros(1)
    fixed = np.frombuffer(bytes(PAIR.itemsize), PAIR)[0]

    wrapped(one_after_the_other)[1, 1](records[0], records[0], out)
    assert (0, 0) == (out[0], records[0]["seen"])
    wrapped(one_after_the_other)[1, 1](records[0], fixed, out)
    assert (0, 7) == (out[0], records[0]["seen"])
