"""The history of a cell: each access, with what it found or left."""

import numpy as np
from numba import cuda

from helpers import watch


@cuda.jit
def add_up(out, a):
    """Add each element to the first cell, with nothing between two threads."""
    out[0] += a[cuda.threadIdx.x]


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
