"""Whole kernels in the emulator against what NumPy gives."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate
from tests.specimens.kernels import (
    add,
    by_thread,
    grid_stride,
    matrix_product,
    numbers,
    reduce_by_shuffles,
    reduce_in_shared,
    stencil,
    table,
    transpose_with,
)

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("size, threads", [(1, 32), (1000, 128), (4096, 256), (77, 50)])
def test_two_vectors_add_up(size, threads):
    """Each thread adds one element; those beyond the end do nothing."""
    a, b, out = numbers(size), numbers(size), np.zeros(size, np.float32)

    emulate(add)[-(-size // threads), threads](a, b, out)

    assert (a + b).tolist() == out.tolist()


def test_a_grid_stride_loop_covers_more_data_than_threads():
    """160 threads double 1,001 elements; each thread's loop has its own length."""
    a, out = numbers(1001), np.zeros(1001, np.float32)

    emulate(grid_stride)[5, 32](a, out)

    assert (2 * a).tolist() == out.tolist()


def test_a_grid_of_two_axes_covers_a_table():
    """`cuda.grid(2)` gives x, then y: here x is the row."""
    out = np.zeros((37, 50), np.int64)

    emulate(table)[(5, 7), (8, 8)](out)

    assert (1000 * np.arange(37)[:, None] + np.arange(50)).tolist() == out.tolist()


def test_coordinates_of_a_launch_with_three_axes():
    """x varies fastest among the threads of a block and the blocks of a grid."""

    @cuda.jit
    def where(out):
        x, y, z = cuda.grid(3)
        out[z, y, x, 0] = (
            cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        )
        out[z, y, x, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[z, y, x, 2] = cuda.laneid

    out = np.zeros((6, 4, 6, 3), np.int64)

    emulate(where)[(2, 2, 3), (3, 2, 2)](out)

    z, y, x = np.indices((6, 4, 6))
    assert (x % 3 + 10 * (y % 2) + 100 * (z % 2)).tolist() == out[..., 0].tolist()
    assert (x // 3 + 10 * (y // 2) + 100 * (z // 2)).tolist() == out[..., 1].tolist()
    assert (x % 3 + 3 * (y % 2) + 6 * (z % 2)).tolist() == out[..., 2].tolist()


@pytest.mark.parametrize(
    "rows, inner, cols", [(64, 64, 64), (32, 80, 48), (228, 240, 112), (5, 3, 7)]
)
def test_a_product_through_shared_tiles(rows, inner, cols):
    """Tiles of 16 by 16, of matrices that they fill and that they do not."""
    a, b = numbers(rows, inner), numbers(inner, cols)
    out = np.zeros((rows, cols), np.float32)

    emulate(matrix_product)[(-(-cols // 16), -(-rows // 16)), (16, 16)](a, b, out)

    assert (a @ b).tolist() == out.tolist()


@pytest.mark.parametrize("width, conflicts", [(32, 31), (33, 0)])
@pytest.mark.parametrize("shape", [(64, 96), (70, 45)])
def test_a_transpose_through_shared_memory(shape, width, conflicts):
    """Rows of 33 spread a column over the banks; rows of 32 put it into one."""
    a, out = numbers(*shape), np.zeros(shape[::-1], np.float32)

    run = emulate(transpose_with(width))[
        (-(-shape[1] // 32), -(-shape[0] // 32)), (32, 32)
    ](a, out)

    assert a.T.tolist() == out.tolist()
    if shape == (64, 96):
        assert conflicts * 6 * 32 == run.bank_conflicts.conflicts


@pytest.mark.parametrize("size", [256, 1000, 5000])
def test_a_reduction_through_shared_memory(size):
    """Each block leaves the sum of its 256 elements."""
    a = numbers(size)
    out = np.zeros(-(-size // 256), np.float32)

    emulate(reduce_in_shared)[len(out), 256](a, out)

    assert np.add.reduceat(a, range(0, size, 256)).tolist() == out.tolist()


def test_a_reduction_by_shuffles_and_atomics():
    """One sum of 3,000 elements, from warps of several blocks."""
    a, out = numbers(3000), np.zeros(1, np.float32)

    emulate(reduce_by_shuffles)[12, 256](a, out)

    assert [a.sum()] == out.tolist()


def test_a_stencil_with_a_halo():
    """Each block's first and last thread also bring the neighbour beyond."""
    a, out = numbers(1000), np.zeros(1000, np.float32)

    emulate(stencil)[8, 128](a, out)

    padded = np.concatenate([[0], a, [0]]).astype(np.float32)
    expected = (padded[:-2] + padded[1:-1] + padded[2:]) / np.float32(3)
    assert expected.tolist() == out.tolist()


def test_local_arrays_are_each_threads_own():
    """A thread sorts its four numbers in a local array that no other thread sees."""

    @cuda.jit
    def sort(a, out):
        mine = cuda.local.array(4, int32)
        t = cuda.grid(1)
        for k in range(4):
            mine[k] = a[t, k]
        for last in range(3, 0, -1):
            for k in range(last):
                if mine[k] > mine[k + 1]:
                    mine[k], mine[k + 1] = mine[k + 1], mine[k]
        for k in range(4):
            out[t, k] = mine[k]

    a = RNG.integers(0, 100, (96, 4)).astype(np.int32)
    out = np.zeros_like(a)

    emulate(sort)[3, 32](a, out)

    assert np.sort(a, axis=1).tolist() == out.tolist()


def test_views_are_the_same_cells():
    """Slices with steps, rows, columns and `.T` read and write through to the array."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        row, column, every_other, turned = a[2], a[..., 1], a[0, ::2], a.T
        out[t % 4, 0] = row[t % 4]
        out[t % 4, 1] = column[t % 3]
        out[t % 4, 2] = every_other[t % 2]
        out[t % 4, 3] = turned[3, t % 3] + turned.shape[0] + a[t % 3, ...][2]

    a = np.arange(12).reshape(3, 4)
    out = np.zeros((4, 4), np.int64)

    emulate(kernel)[1, 4](a, out)

    expected = [
        [a[2, t], a[t % 3, 1], a[0, 2 * (t % 2)], a[t % 3, 3] + 4 + a[t % 3, 2]]
        for t in range(4)
    ]
    assert np.array(expected).tolist() == out.tolist()


def test_arguments_may_be_strided_reversed_or_of_no_axis():
    """Arrays are taken with their own strides, as NumPy has them."""

    @cuda.jit
    def kernel(a, b, scalar, out):
        t = cuda.threadIdx.x
        out[t] = a[t] + b[t, 1] + scalar[()]

    base, table_ = np.arange(64), np.asfortranarray(np.arange(64).reshape(32, 2) * 100)

    out = by_thread(kernel, base[::-2], table_, np.array(10**6), threads=32)

    assert (base[::-2] + table_[:, 1] + 10**6).tolist() == out.tolist()


def test_numbers_and_tuples_are_arguments_too():
    """A launch takes numbers with their own types and tuples of them."""

    @cuda.jit
    def kernel(n, x, pair, out):
        t = cuda.grid(1)
        out[t] = n + x + pair[0] * pair[1] + pair[t % 2]

    out = by_thread(kernel, np.int8(3), 0.5, (10, 20))

    assert [203.5 + (20 if t % 2 else 10) for t in range(64)] == out.tolist()


def test_captured_arrays_are_constants():
    """A global array becomes constant memory, plain or by `const.array_like`."""
    weights = np.array([1.0, 10.0, 100.0])

    @cuda.jit
    def kernel(out):
        t = cuda.grid(1)
        copy = cuda.const.array_like(weights)
        out[t] = weights[t % 3] + copy[(t + 1) % 3]

    expected = [weights[t % 3] + weights[(t + 1) % 3] for t in range(64)]

    assert expected == by_thread(kernel).tolist()
