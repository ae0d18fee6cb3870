"""Elements at an array's end that no thread comes to: a note, which fails nothing."""

import numpy as np
import pytest
from numba import cuda, float32

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


SIZE = 16


@cuda.jit
def product(a, b, out, tiles):
    """A tiled product that guards each load by the ends of its own array."""
    s = cuda.shared.array((SIZE, SIZE), float32)
    u = cuda.shared.array((SIZE, SIZE), float32)
    x, y = cuda.grid(2)
    t, v = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for m in range(tiles):
        s[v, t] = u[v, t] = 0
        if y < a.shape[0] and m * SIZE + t < a.shape[1]:
            s[v, t] = a[y, m * SIZE + t]
        if m * SIZE + v < b.shape[0] and x < b.shape[1]:
            u[v, t] = b[m * SIZE + v, x]
        cuda.syncthreads()
        for k in range(SIZE):
            total += s[v, k] * u[k, t]
        cuda.syncthreads()
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = total


@cuda.jit
def by_rows(a, x, out, count):
    i = cuda.grid(1)
    total = float32(0)
    for k in range(count):
        total += a[i, k] * x[k]
    out[i] = total


@pytest.mark.parametrize("tiles, noted", [(2, True), (3, False)])
def test_factors_whose_ends_nobody_loads_are_noted(tiles, noted):
    """A loop over as many tiles as the grid has blocks: those of the result."""
    a, b, out = (np.ones(it, np.float32) for it in ((30, 40), (40, 50), (30, 50)))
    run = emulate(product)[(4, 2), (SIZE, SIZE)](a, b, out, tiles)
    found = [it for it in run.warnings if it.kind == "tail"]

    assert noted is bool(found) is ("note: nobody loads" in repr(run))
    assert noted is not (out == 40).all()
    for it in found:
        assert it.note and "nobody loads `a[:, 32:40]` or `b[32:40]`" in it.text
        assert it.text.endswith("let the loop through both go on to `a.shape[1]`")


def test_a_launch_of_one_tile_of_the_result_leaves_the_others_out():
    """It has not come to the rows and columns that nobody loads."""
    a, b, out = np.ones((3, 64, 64), np.float32)
    run = emulate(product)[(1, 1), (SIZE, SIZE)](a, b, out, 4)
    assert not [it for it in run.warnings if it.kind == "tail"]


@pytest.mark.parametrize("count, noted", [(40, False), (39, True)])
def test_a_matrix_and_a_vector_are_factors_too(count, noted):
    """Only what all threads leave out."""
    a, x, out = np.ones((64, 40)), np.ones(40), np.zeros(64)
    run = emulate(by_rows)[1, 64](a, x, out, count)
    assert noted is any("`a[:, 39:40]` or `x[39:40]`" in it.text for it in run.warnings)
    run = emulate(by_rows)[1, 32](a, x, out, count)
    assert not any("nobody loads" in it.text for it in run.warnings)
