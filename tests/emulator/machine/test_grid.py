"""Barriers of the whole grid, threads that return before a barrier, captured arrays."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate
from tests.specimens.kernels import BUILT_IN, message
from thirty_two_lanes.emulator import BarrierError
from thirty_two_lanes.emulator.machine import machine


@cuda.jit
def rows_in_turn(matrix):
    """Each row is the row above it, read from the other end, and one more."""
    col = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for row in range(1, matrix.shape[0]):
        opposite = matrix.shape[1] - col - 1
        matrix[row, col] = matrix[row - 1, opposite] + 1
        grid.sync()


@cuda.jit(device=True)
def wait_for(group):
    group.sync()


@cuda.jit(device=True)
def next_row(group, matrix, row, col):
    matrix[row, col] = matrix[row - 1, matrix.shape[1] - col - 1] + 1
    wait_for(group)


@cuda.jit
def rows_by_functions(matrix):
    """The same, with the grid as an argument of functions, and by another name."""
    if matrix.shape[0] > 1:
        grid = cuda.cg.this_grid()
    else:
        grid = cuda.cg.this_grid()
    everyone = grid
    for row in range(1, matrix.shape[0]):
        next_row(everyone, matrix, row, cuda.grid(1))


@cuda.jit
def some_blocks_leave(out, first):
    """The blocks before `first` return, the others wait for the grid."""
    if cuda.blockIdx.x < first:
        return
    cuda.cg.this_grid().sync()
    out[0] = 1


@cuda.jit
def last_to_first(out):
    """The threads that have an element turn their block's around."""
    tile = cuda.shared.array(64, int32)
    thread = cuda.threadIdx.x
    if thread >= out.size:
        return
    tile[thread] = thread
    cuda.syncthreads()
    out[thread] = tile[out.size - 1 - thread]


@pytest.mark.parametrize("kernel", [rows_in_turn, rows_by_functions])
@pytest.mark.parametrize("blocks_at_a_time", [1, 3, 1024])
def test_a_grid_barrier_holds_all_blocks_back(kernel, blocks_at_a_time, monkeypatch):
    """Blocks that read what other blocks wrote find it, in batches of any size."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", blocks_at_a_time)
    matrix = np.zeros((9, 8 * 64), np.int32)

    emulate(kernel)[8, 64](matrix)

    np.testing.assert_array_equal(np.tile(np.arange(9)[:, None], 512), matrix)


@pytest.mark.parametrize("blocks_at_a_time", [2, 1024])
def test_a_block_that_misses_a_grid_barrier_is_an_error(blocks_at_a_time, monkeypatch):
    """On a GPU the others would wait for ever; a plain launch says so as well."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", blocks_at_a_time)

    text = message(BarrierError, some_blocks_leave, 5, 32, np.zeros(1), 2)
    assert "not all blocks of the grid reach the grid barrier" in text
    with pytest.raises(BarrierError, match="not all blocks of the grid reach"):
        some_blocks_leave[5, 32](np.zeros(1), 2)


def test_a_plain_launch_goes_on_without_threads_that_returned():
    """As the hardware does, with a warning; `emulate` reports it."""
    out = np.zeros(40, np.int32)

    with pytest.warns(UserWarning, match="threads 40 to 63 never come to it"):
        last_to_first[1, 64](out)

    np.testing.assert_array_equal(np.arange(40)[::-1], out)
    run = emulate(last_to_first)[1, 64](out)
    assert [(24, "40")] == [(it.threads, it.thread) for it in run.barriers]


def test_a_captured_array_is_frozen_when_the_kernel_is_compiled():
    """A later change of the host array is not seen, as on a GPU."""
    prices = np.array([10.0, 25.0, 5.0])

    @cuda.jit
    def price(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = prices[i]

    first, second = np.zeros((2, 3))
    price[1, 32](first)
    prices[:] = 0
    price[1, 32](second)

    np.testing.assert_array_equal([10, 25, 5], first)
    np.testing.assert_array_equal([10, 25, 5], second)


@pytest.mark.skipif(BUILT_IN, reason="Numba's built-in target captures none")
def test_a_captured_device_array_is_read_as_it_is_now():
    """It is captured by its address."""
    prices = cuda.to_device(np.array([10.0, 25.0, 5.0]))

    @cuda.jit
    def price(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = prices[i]

    out = np.zeros(3)
    price[1, 32](out)
    prices.copy_to_device(np.array([1.0, 2.0, 3.0]))
    price[1, 32](out)

    np.testing.assert_array_equal([1, 2, 3], out)
