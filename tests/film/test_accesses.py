"""The accesses of a film: what the judges say of each, and the history of a cell."""

import numpy as np
import pytest
from numba import cuda, float64

from helpers import emulate, watch
from tests.film import kernels


@cuda.jit
def copied(a, out):
    t = cuda.threadIdx.x
    out[t] = a[t]


@cuda.jit
def add_up(out, a):
    """Add each element to the first cell, with nothing between two threads."""
    out[0] += a[cuda.threadIdx.x]


@cuda.jit
def one_for_all(out, a):
    """Thread 0 stores to a cell, and then all 64 load it."""
    cell = cuda.shared.array(1, float64)
    t = cuda.threadIdx.x
    if t == 0:
        cell[0] = a[0]
    cuda.syncthreads()
    out[t] = cell[0]


def requests(record, name):
    """The accesses of an array that are requests, in order."""
    number = [it["name"] for it in record["arrays"]].index(name)
    accesses = (it for step in record["steps"] for it in step.get("a", ()))
    return [it for it in accesses if it["r"] == number]


def test_half_warps_are_served_one_after_the_other_and_queue_nowhere():
    """Sixteen lanes of 8 bytes, eight in each half: two wavefronts are the ideal."""
    run = emulate(kernels.halves)[1, 32](np.zeros(32))
    (store,) = requests(watch(kernels.halves)[1, 32](np.zeros(32)).record(), "tile")

    assert (2, 0) == (run.bank_conflicts.wavefronts, run.bank_conflicts.conflicts)
    assert ([0xFF, 0xFF << 16], [1, 1]) == (store["b"], store["g"])


def test_a_half_warp_that_queues_has_its_own_wavefronts():
    """Numbers 0, 16 and 32 of 8 bytes share a bank; those of the other half do not."""
    run = emulate(kernels.one_half_queues)[1, 32](np.zeros(32))
    film = watch(kernels.one_half_queues)[1, 32](np.zeros(32))
    (store,) = requests(film.record(), "tile")

    assert [3, 1] == store["g"]
    assert run.bank_conflicts.conflicts == len(store["b"]) - len(store["g"])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(64.0)[::2],
        np.arange(32.0)[::-1],
        np.arange(33.0)[1:],
        np.zeros(32, np.complex64),
        np.zeros((32, 8), np.float32)[:, 3],
    ],
    ids=["every other", "backwards", "past a line", "complex", "a column"],
)
def test_the_sectors_of_a_request_are_those_of_its_bytes(array):
    """As many as the report counts, and each where its cells lie in memory."""
    out = np.zeros(32, array.dtype)
    run = emulate(copied)[1, 32](array, out)
    record = watch(copied)[1, 32](array, out).record()
    (load,), shown = requests(record, "a"), record["arrays"][0]
    strides = shown.get("strides", [shown["itemsize"]])

    lines = run.coalescing.by_line.items()
    assert [len(load["s"])] == [row.sectors for at, row in lines if at.array == "a"]
    lowest = [shown["offset"] + lane * strides[0] for lane in range(32)]
    assert {it // 32 for it in lowest} == set(load["s"])


def test_a_load_that_finds_what_was_there_leaves_nothing_to_replay():
    """A number, what is no number, and what nobody wrote."""
    a = np.arange(32.0)
    a[5] = np.nan
    new = cuda.device_array(32)

    for array in (a, new):
        record = watch(copied)[1, 32](array, np.zeros(32)).record()
        (load,) = requests(record, "a")
        assert "x" not in load


def test_threads_that_do_the_same_are_one_line_of_the_table():
    """A row for each thread, and a line for each warp."""
    film = watch(one_for_all)[1, 64](np.zeros(64), np.array([7.0]))

    history = film.cells("cell", 0)

    threads = [line.split()[3] for line in repr(history).splitlines()[1:]]
    assert 65 == len(history)
    assert ["0", "0–31", "32–63"] == [threads[0], *sorted(threads[1:])]


def test_a_load_shows_what_it_found_and_a_store_what_is_left():
    """Also where both are in one step: no thread finds what another has added, and of
    two stores of a warp one is left.
    """
    out, a = np.array([5.0]), np.array([1.0, 2.0])

    history = watch(add_up)[1, 2](out, a).cells("out", 0)

    found = [(thread, does, value) for *_, thread, does, value in history]
    assert [(0, "loads", 5), (1, "loads", 5)] == found[:2]
    assert [(0, "stores", out[0]), (1, "stores", out[0])] == found[2:]
    assert 5 + max(a) == out[0]
