"""The barriers at which a block waits, and the requests of the busiest block and warp:
counted by hand.
"""

import numpy as np
import pytest
from numba import cuda, float32

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


# ---------------------------------------------------------------- who does most


@cuda.jit
def evenly(out):
    i = cuda.grid(1)
    out[i] = i


@cuda.jit
def first_block_alone(out):
    if cuda.blockIdx.x == 0:
        for i in range(cuda.threadIdx.x, out.size, cuda.blockDim.x):
            out[i] = i


@cuda.jit
def first_warps_alone(out):
    if cuda.threadIdx.x < 32:
        for k in range(4):
            i = cuda.blockIdx.x * 128 + 32 * k + cuda.threadIdx.x
            out[i] = i


@cuda.jit
def through_a_tile(out):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    for k in range(7):
        tile[t] = k + t
    out[cuda.grid(1)] = tile[t]


@pytest.mark.parametrize("blocks", [2, 40])
@pytest.mark.parametrize(
    ("kernel", "busiest_block", "busiest_warp"),
    [
        (evenly, lambda blocks: 4, lambda blocks: 1),
        (first_block_alone, lambda blocks: 4 * blocks, lambda blocks: blocks),
        (first_warps_alone, lambda blocks: 4, lambda blocks: 4),
        (through_a_tile, lambda blocks: 4, lambda blocks: 1),
    ],
)
def test_the_busiest_are_counted(kernel, busiest_block, busiest_warp, blocks):
    """Blocks of four warps; every warp's share of the cells takes one request."""
    run = emulate(kernel)[blocks, 128](np.zeros(128 * blocks, np.float32))

    counted = run.balance.busiest_block, run.balance.busiest_warp
    assert (busiest_block(blocks), busiest_warp(blocks)) == counted
    assert 4 * blocks == run.coalescing.requests


def test_one_block_makes_all_requests_however_long_it_runs():
    """Long enough to be compiled, in which the machine tells counts of all steps."""

    @cuda.jit
    def often(out, times):
        for k in range(times):
            out[cuda.threadIdx.x] += k

    run = emulate(often)[1, 64](np.zeros(64), 20_000)

    assert 4 * 20_000 == run.coalescing.requests == run.balance.busiest_block
    assert 2 * 20_000 == run.balance.busiest_warp


def test_a_launch_that_asks_nothing_has_no_busiest():
    @cuda.jit
    def idle(out):
        pass

    balance = emulate(idle)[3, 32](np.zeros(1)).balance

    assert (0, 0) == (balance.busiest_block, balance.busiest_warp)
