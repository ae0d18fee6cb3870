"""Elements at an array's end that no thread comes to: a note, which fails nothing."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.specimens.kernels import line_of


@cuda.jit
def twice(a, out):
    i = cuda.grid(1)
    out[i] = 2 * a[i]


@cuda.jit
def guarded(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * a[i]


@cuda.jit
def smooth(a, out):
    i = cuda.grid(1)
    out[i] = a[i] + a[i + 1]


@cuda.jit
def backwards(a, out):
    i = cuda.grid(1)
    out[out.size - 1 - i] = a[i]


@cuda.jit
def several(a, out):
    i = cuda.grid(1)
    for k in range(i, out.size // 64 * 64, cuda.gridsize(1)):
        out[k] = a[k]


@cuda.jit
def numbers(a, out):
    i = cuda.grid(1)
    out[i] = i


def tails(kernel, blocks, length, lengths=None):
    """What the notes of a launch with blocks of 64 threads say of arrays' ends."""
    sizes = lengths or (length, length)
    run = emulate(kernel)[blocks, 64](*(np.zeros(n, np.int32) for n in sizes))
    found = [it for it in run.warnings if it.kind == "tail"]
    assert len(found) == " ".join(repr(run).split()).count("note: nobody")
    assert all(it.note for it in found)
    return found


@pytest.mark.parametrize("blocks, length", [(15, 1000), (1, 65), (2, 191)])
def test_a_grid_that_was_rounded_down_is_noted(blocks, length):
    """It is no finding, and the text tells it."""
    (found,) = tails(twice, blocks, length)

    assert line_of(twice, "2 * a[i]") == found.line
    told = f"`out[{64 * blocks}:{length}]`, or loads `a` there"
    assert told in found.text


@pytest.mark.parametrize(
    "kernel, blocks, length, lengths",
    [
        (twice, 15, 960, None),  # all is done
        (twice, 15, 1030, None),  # more than a block is left
        (twice, 15, 1000, (960, 1000)),  # as much as there is to load
        (guarded, 15, 1000, None),  # a mistake, and no note
        (smooth, 15, 961, None),  # it loads what it does not store to
        (backwards, 15, 1000, None),  # the beginning is left
        (several, 2, 1000, None),  # a thread does several
        (numbers, 15, 1000, None),  # nothing is loaded
    ],
)
def test_what_may_be_meant_is_not_noted(kernel, blocks, length, lengths):
    """Where nothing else ends there, or more is left than a block."""
    assert [] == tails(kernel, blocks, length, lengths)
