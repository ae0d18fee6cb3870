"""The barriers at which a block waits; what the busiest block and warp execute and
store: counted by hand.
"""

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


@pytest.mark.parametrize("blocks", [2, 40])
def test_blocks_and_warps_that_do_the_same_are_equally_busy(blocks):
    """Four warps a block."""
    run = emulate(evenly)[blocks, 128](np.zeros(128 * blocks, np.float32))

    each = run.divergence.instructions / (4 * blocks)
    assert (4 * each, each) == (run.balance.busiest_block, run.balance.busiest_warp)


@pytest.mark.parametrize("blocks", [2, 40])
@pytest.mark.parametrize(
    "kernel, alone, busiest",
    [
        (first_block_alone, (1, 128), "busiest_block"),
        (first_warps_alone, (1, 32), "busiest_warp"),
    ],
)
def test_who_does_the_work_of_all_is_the_busiest(kernel, alone, busiest, blocks):
    """It executes what it does where it is alone."""
    cells = np.zeros(128 * blocks, np.float32)

    run = emulate(kernel)[blocks, 128](cells)

    most = getattr(run.balance, busiest)
    assert emulate(kernel)[alone](cells).divergence.instructions == most
    assert most < run.divergence.instructions


@cuda.jit
def every_second_block(out):
    if cuda.blockIdx.x % 2 == 0:
        for i in range(cuda.grid(1), out.size, 128):
            if i < cuda.grid(1) + 256:
                out[i] = 1
                cuda.atomic.add(out, i, 1)


@pytest.mark.parametrize("blocks", [2, 40])
@pytest.mark.parametrize(
    "kernel, of_block, of_warp",
    [
        (evenly, 4, 1),
        (first_block_alone, "all", "a quarter"),
        (first_warps_alone, 4, 4),
        (every_second_block, 16, 4),  # half of them are updates
    ],
)
def test_who_stores_for_others_makes_more_requests(kernel, of_block, of_warp, blocks):
    """As many as there are full warps of elements; a load is none."""
    balance = emulate(kernel)[blocks, 128](np.zeros(128 * blocks, np.float32)).balance

    words = {"all": 4 * blocks, "a quarter": blocks}
    expected = words.get(of_block, of_block), words.get(of_warp, of_warp)
    assert expected == (balance.stores_of_block, balance.stores_of_warp)


def test_one_block_executes_all_however_long_it_runs():
    """Long enough to be compiled, in which the machine tells counts of all steps."""

    @cuda.jit
    def often(out, times):
        for k in range(times):
            out[cuda.threadIdx.x] += k

    run = emulate(often)[1, 64](np.zeros(64), 20_000)

    assert run.divergence.instructions == run.balance.busiest_block
    assert run.divergence.instructions == 2 * run.balance.busiest_warp
    assert run.balance.busiest_warp > 4 * 20_000


def test_what_stores_to_many_elements_counts_for_each():
    @cuda.jit
    def fill(out):
        if cuda.threadIdx.x < 32:
            out[:] = 1

    run = emulate(fill)[1, 64](np.zeros(100))

    idle = emulate(fill)[1, 64](np.zeros(0)).balance.busiest_warp
    assert run.balance.busiest_warp >= 99 + idle


def test_a_launch_that_does_nothing_has_busy_warps_that_leave():
    @cuda.jit
    def idle(out):
        pass

    run = emulate(idle)[3, 32](np.zeros(1))

    assert run.divergence.instructions == 3 * run.balance.busiest_block
