"""The history of a cell: each access, with what it found or left."""

import numpy as np
from numba import cuda, float64

from helpers import watch


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
