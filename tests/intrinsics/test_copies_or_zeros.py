"""Asynchronous copies that bring zeros where a condition is false."""

import numpy as np
import pytest
from numba import cuda, float32, int32, uint32

from helpers import (
    assemble,
    commit_copies,
    copy4_or_zero_async,
    copy_or_zero_async,
    emulate,
    wait_copies,
)
from tests.specimens.kernels import message

THREADS = 64
WIDTH = 4 * THREADS


@cuda.jit
def one_each(out, a, size):
    """Each thread copies a number of the other end, or a zero."""
    tile = cuda.shared.array(THREADS, float32)
    t = uint32(cuda.threadIdx.x)
    copy_or_zero_async(tile, THREADS - 1 - t, a, t, t < size)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = tile[t]


@cuda.jit
def four_each(out, a, size):
    """Each thread copies four numbers, or four zeros."""
    tile = cuda.shared.array(WIDTH, float32)
    t = uint32(cuda.threadIdx.x)
    copy4_or_zero_async(tile, 4 * t, a, 4 * t, 4 * t < size)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    for k in range(4):
        out[cuda.blockIdx.x, THREADS * k + t] = tile[THREADS * k + t]


@cuda.jit
def in_a_branch(out, a, size):
    """Odd threads copy, and some of them a zero; even ones store."""
    tile = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    if t % 2:
        copy_or_zero_async(tile, t, a, t, t < size)
        commit_copies()
        wait_copies(0)
    else:
        tile[t] = -1
    cuda.syncthreads()
    out[0, t] = tile[t]


@cuda.jit
def of_a_matrix(out, a, size):
    """An index of two axes, for both arrays."""
    tile = cuda.shared.array((2, THREADS), float32)
    t = cuda.threadIdx.x
    copy_or_zero_async(tile, (1, t), a, (0, t), t < size)
    commit_copies()
    wait_copies(0)
    out[0, t] = tile[1, t]


@cuda.jit
def read_too_early(out, a, size):
    tile = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    copy_or_zero_async(tile, t, a, t, t < size)
    commit_copies()
    out[0, t] = tile[t]


@cuda.jit
def one_too_many(out, a, size):
    tile = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    copy_or_zero_async(tile, t, a, t, t <= size)
    commit_copies()
    wait_copies(0)
    out[0, t] = tile[t]


@cuda.jit
def not_a_condition(out, a, size):
    tile = cuda.shared.array(THREADS, float32)
    copy_or_zero_async(tile, 0, a, 0, size)
    out[0, 0] = tile[0]


@cuda.jit
def of_two_types(out, a, size):
    tile = cuda.shared.array(THREADS, int32)
    copy4_or_zero_async(tile, 0, a, 0, size > 0)
    out[0, 0] = tile[0]


def numbers(count):
    """Random numbers, none of them zero, which are not the same twice."""
    return np.random.default_rng().random(count, dtype=np.float32) + float32(1)


def padded(a, width):
    """Numbers, and zeros behind them."""
    return np.pad(a, (0, width - a.size))


@pytest.mark.parametrize("size", [0, 1, 31, 32, 50, THREADS])
@pytest.mark.parametrize("blocks", [1, 3])
def test_threads_beyond_the_end_bring_zeros(size, blocks):
    """They read nothing: the array ends where the condition turns false."""
    a, out = numbers(size), np.empty((blocks, THREADS), np.float32)

    run = emulate(one_each)[blocks, THREADS](out, a, size)

    expected = padded(a, THREADS)[::-1]
    np.testing.assert_array_equal(np.tile(expected, (blocks, 1)), out)
    assert not run.races and not run.races.minor and not run.uninitialised


@pytest.mark.parametrize("size", [0, 4, 132, WIDTH])
def test_four_numbers_or_four_zeros(size):
    a, out = numbers(size), np.empty((2, WIDTH), np.float32)

    run = emulate(four_each)[2, THREADS](out, a, size)

    np.testing.assert_array_equal(np.tile(padded(a, WIDTH), (2, 1)), out)
    assert not run.races and not run.uninitialised


def test_lanes_that_take_no_part_bring_nothing():
    """Neither a number nor a zero."""
    a, out = numbers(20), np.empty((1, THREADS), np.float32)

    emulate(in_a_branch)[1, THREADS](out, a, 20)

    expected = padded(a, THREADS)
    expected[::2] = -1
    np.testing.assert_array_equal(expected, out[0])


def test_an_index_has_as_many_parts_as_its_array_has_axes():
    a, out = numbers(40), np.empty((1, THREADS), np.float32)

    emulate(of_a_matrix)[1, THREADS](out, a.reshape(1, 40), 40)

    np.testing.assert_array_equal(padded(a, THREADS), out[0])


def test_a_zero_arrives_with_its_group():
    """It is no more there before the wait than a number is."""
    out = np.zeros((1, THREADS), np.float32)

    run = emulate(read_too_early)[1, THREADS](out, numbers(8), 8)

    assert {"copy"} == {race.scope for race in run.races}
    assert np.isnan(out).all()


def test_what_is_not_inside_counts_as_no_load():
    """A warp with 8 lanes inside asks for a sector, and stores 32 words."""
    a, out = numbers(8), np.empty((1, THREADS), np.float32)

    run = emulate(one_each)[1, THREADS](out, a, 8)

    line = next(s.line for s in run.coalescing.by_line if "copy_or_zero" in s.text)
    loads, stores = run.coalescing.by_line[line], run.bank_conflicts.by_line[line]
    assert (loads.kind, loads.requests, loads.sectors) == ("load", 1, 1)
    assert (stores.kind, stores.requests, stores.wavefronts) == ("store", 2, 2)


@pytest.mark.parametrize(
    ("error", "kernel", "words"),
    [
        (IndexError, one_too_many, "reads a[8], but `a` has shape (8,)"),
        (TypeError, not_a_condition, "takes a condition such as `i < n`, not int64"),
        (TypeError, of_two_types, "elements of one type, not float32 to int32"),
    ],
)
def test_a_copy_that_is_wrong_is_refused(error, kernel, words):
    out = np.zeros((1, THREADS), np.float32)

    assert words in message(error, kernel, 1, THREADS, out, numbers(8), 8)


@pytest.mark.parametrize(
    ("kernel", "opcode"), [(one_each, "LDGSTS"), (four_each, "LDGSTS.128")]
)
def test_a_copy_is_one_instruction_and_no_branch(kernel, opcode):
    out = np.zeros((1, WIDTH), np.float32)

    code = assemble(kernel)[1, THREADS](out, numbers(8), 8)

    assert 1 == code.opcodes[opcode]
    assert not code.opcodes["LDG"] and not code.opcodes["STS"]
