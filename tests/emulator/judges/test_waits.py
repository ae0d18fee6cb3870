"""The barriers at which a block waits: counted by hand."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, store_release


@cuda.jit
def rounds(out, turns):
    """Block b waits twice in each of `turns + b` turns."""
    for turn in range(turns + cuda.blockIdx.x):
        cuda.syncthreads()
        out[cuda.grid(1)] = turn
        cuda.syncthreads()


@pytest.mark.parametrize("blocks, most", [(1, 6), (4, 12)])
def test_the_block_that_waits_most_often_counts(blocks, most):
    """Whether blocks run together or one by one; a warp's own sync is no barrier."""
    run = emulate(rounds)[blocks, 64](np.zeros(64 * blocks), 3)

    assert (most, 0) == (run.waits.block, run.waits.grid)
    assert {"block": most, "grid": 0, "fences": 0} == run.to_dict()["waits"]


def test_barriers_of_the_grid_are_counted_apart():
    """All blocks pass the same ones."""

    @cuda.jit
    def twice(out):
        grid = cuda.cg.this_grid()
        grid.sync()
        out[cuda.grid(1)] = 1
        cuda.syncwarp()
        grid.sync()

    run = emulate(twice)[2, 32](np.zeros(64))

    assert (0, 2) == (run.waits.block, run.waits.grid)


def test_each_thread_that_passes_a_fence_counts():
    """A store that releases is one, too; an atomic operation is none."""

    @cuda.jit
    def hand_over(out, flags):
        out[cuda.grid(1)] = 1
        cuda.threadfence()
        if cuda.threadIdx.x < 3:
            cuda.threadfence_block()
            cuda.atomic.add(flags, 0, 1)
        if cuda.threadIdx.x == 0:
            store_release(flags, 1, 1)

    run = emulate(hand_over)[2, 64](np.zeros(128), np.zeros(2, np.int32))

    assert 2 * (64 + 3 + 1) == run.waits.fences
