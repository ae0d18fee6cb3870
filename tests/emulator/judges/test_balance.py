"""How blocks and warps share the requests to global memory."""

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate


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
