"""Indices of each type and shape: where they lead, and where they are refused."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import message
from thirty_two_lanes.emulator import KernelError


def mistakes(run):
    """The kinds of what may be wrong."""
    return [warning.kind for warning in run.warnings if not warning.note]


TYPES = np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64


@cuda.jit
def gather(a, index, out):
    i = cuda.grid(1)
    out[i] = a[index[i]]


@cuda.jit
def gather_one(a, index, out):
    out[cuda.grid(1)] = a[index]


@cuda.jit
def gather_some(a, index, out):
    i = cuda.grid(1)
    if i % 3:
        out[i] = a[index[i]]


@pytest.mark.parametrize("dtype", TYPES)
def test_an_index_of_any_type_finds_its_element(dtype):
    """Of each lane, and the same for all."""
    a, out = np.arange(100) * 10, np.zeros(64, np.int64)
    index = ((np.arange(64) * 37) % 100).astype(dtype)

    emulate(gather)[2, 32](a, index, out)
    assert (index.astype(int) * 10).tolist() == out.tolist()
    emulate(gather_one)[2, 32](a, dtype(99), out)
    assert [990] * 64 == out.tolist()
    emulate(gather_one)[2, 32](a, dtype(0), out)
    assert [0] * 64 == out.tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_a_negative_index_counts_from_the_end_and_is_warned_of(dtype):
    """The first and the last that do; the warning counts the threads."""
    a, out = np.arange(100) * 10, np.zeros(64, np.int64)
    index = np.full(64, 3, dtype)
    index[[5, 40]] = -1, -100

    run = emulate(gather)[2, 32](a, index, out)

    expected = np.full(64, 30)
    expected[[5, 40]] = 990, 0
    assert expected.tolist() == out.tolist()
    assert ["wrap"] == mistakes(run)
    run = emulate(gather_one)[1, 32](a, dtype(-1), out)
    assert ([990] * 32, ["wrap"]) == (
        out[:32].tolist(),
        mistakes(run),
    )
    assert [] == mistakes(emulate(gather_one)[1, 32](a, dtype(0), out))


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_a_negative_index_of_few_bits_counts_from_the_end_of_a_long_array(dtype):
    """As an unsigned number it is less than the size."""
    a, out = np.arange(100_000), np.zeros(32, np.int64)

    run = emulate(gather)[1, 32](a, np.arange(-32, 0).astype(dtype), out)

    assert list(range(99_968, 100_000)) == out.tolist()
    assert ["wrap"] == mistakes(run)


@pytest.mark.parametrize("kernel", [gather, gather_some])
@pytest.mark.parametrize("wrong", [100, -101, 127, -128])
def test_an_index_outside_is_an_error_of_its_thread(kernel, wrong):
    """With the first thread whose index is outside, by warps."""
    index = np.zeros(64, np.int64)
    index[[44, 52]] = wrong

    text = message(IndexError, kernel, 2, 32, np.zeros(100), index, np.zeros(64))

    assert f"reads a[{wrong}], but `a` has shape (100,)" in text
    assert "the last index is 99" in text and "thread 12 of block 1" in text


def test_lanes_that_take_no_part_may_have_any_index():
    """They load nothing."""
    index = np.where(np.arange(64) % 3, 5, 10**6)
    a, out = np.arange(100) * 10, np.zeros(64, np.int64)

    emulate(gather_some)[2, 32](a, index, out)

    assert np.where(np.arange(64) % 3, 50, 0).tolist() == out.tolist()


@pytest.mark.parametrize("index", [-1, 2**64 - 1, 100])
def test_an_unsigned_index_does_not_count_from_the_end(index):
    """All its bits are a size."""
    unsigned = np.uint64(index % 2**64)
    text = message(IndexError, gather_one, 1, 32, np.zeros(100), unsigned, np.zeros(32))

    assert f"reads a[{index % 2**64}]" in text
    several = np.full(32, unsigned)
    text = message(IndexError, gather, 1, 32, np.zeros(100), several, np.zeros(32))
    assert f"reads a[{index % 2**64}]" in text


def test_an_index_outside_along_an_axis_names_the_axis():
    """And all indices; of an empty array there is none."""

    @cuda.jit
    def plane(a, row, col, out):
        a[row, col] = 1

    text = message(IndexError, plane, 1, 1, np.zeros((3, 5)), 2, 5, np.zeros(1))
    assert "writes a[2, 5]" in text and "along axis 1 the last index is 4" in text
    assert "`if col < a.shape[1]:`" in text
    text = message(IndexError, plane, 1, 1, np.zeros((3, 5)), 3, 4, np.zeros(1))
    assert "along axis 0 the last index is 2" in text and "a.shape[0]" in text
    text = message(IndexError, gather_one, 1, 1, np.zeros(0), 0, np.zeros(1))
    assert "`a` has no elements along this axis" in text
    text = message(IndexError, gather_one, 1, 1, np.zeros(4), -5, np.zeros(1))
    assert "counts from the end; this one goes too far" in text
    text = message(IndexError, gather_one, 1, 1, np.zeros(4), 4, np.zeros(1))
    assert "`if index < a.size:`" in text


def test_parts_of_arrays_are_stored_element_by_element():
    """One value, or one for each element; of some threads."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 2:
            out[t] = 7
            out[t + 2, 1:3] = t
        if t == 3:
            out[4, :3] = (1, 2, 3)

    out = np.full((5, 5), -1)
    emulate(kernel)[1, 32](out)

    expected = np.full((5, 5), -1)
    expected[:2], expected[2, 1:3], expected[3, 1:3] = 7, 0, 1
    expected[4, :3] = 1, 2, 3
    assert expected.tolist() == out.tolist()


def test_parts_that_differ_between_threads_are_stored_each_in_its_own():
    """Thread t fills t elements of a row and of an array of its own."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        own = cuda.local.array(6, float32)
        own[:] = 9
        own[:t] = 5
        out[t, :t] = 1
        for place in range(6):
            out[t, place] += own[place]

    out = np.zeros((5, 6))
    emulate(kernel)[1, 5](out)

    assert [[6] * t + [9] * (6 - t) for t in range(5)] == out.tolist()


def test_a_tuple_that_does_not_fit_its_part_is_refused():
    """With its length."""

    @cuda.jit
    def kernel(n, out):
        out[:n] = (1, 2, 3)

    out = np.zeros(5)
    emulate(kernel)[1, 1](3, out)
    assert [1, 2, 3, 0, 0] == out.tolist()
    text = message(KernelError, kernel, 1, 1, 4, out)
    assert "stores 3 values to a part of `out`" in text


@cuda.jit
def ends_of_arrays(out):
    line = cuda.shared.array(4, int32)
    square = cuda.shared.array((2, 3), int32)
    dynamic = cuda.shared.array(0, int32)
    mine = cuda.local.array(3, int32)
    t = cuda.threadIdx.x
    if t == 0:
        line[-1], square[-1, -1], dynamic[-1] = 5, 6, 7
        cuda.atomic.add(line, -1, cuda.blockIdx.x)
    cuda.syncthreads()
    cuda.atomic.add(square, (-1, -1), 1)
    mine[-1] = t
    cuda.syncthreads()
    old = cuda.atomic.max(dynamic[1:], -1, 3)
    part = square[-1]
    i = cuda.grid(1)
    out[i, 0], out[i, 1], out[i, 2] = line[-1], part[-1], dynamic[-1]
    out[i, 3], out[i, 4], out[i, 5] = mine[-1], line[1:][-1], old


@cuda.jit
def end_of_all(out):
    cells = cuda.shared.array(4, int32)
    cells[-1] = 5
    out[cuda.grid(1)] = cells[-1]


@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (3, 40), (2, 1)])
def test_the_same_negative_index_in_all_threads_finds_the_end(blocks, threads):
    """Of shared, dynamic and local arrays and their parts, loaded, stored, updated."""
    out = np.zeros((blocks * threads, 6), np.int32)

    emulate(ends_of_arrays)[blocks, threads, 0, 16](out)

    block, thread = np.divmod(np.arange(blocks * threads), threads)
    fixed = 0 * block
    wanted = [5 + block, fixed + 6 + threads, fixed + 7, thread, 5 + block, fixed + 7]
    assert np.transpose(wanted).tolist() == out.tolist()


def test_the_same_negative_index_in_all_threads_is_one_word():
    """With no lane masked, a store is a wavefront for each warp, and so is a load."""
    out = np.zeros(128, np.int32)

    run = emulate(end_of_all)[2, 64](out)

    assert [5] * 128 == out.tolist()
    assert (8, 8) == (run.bank_conflicts.requests, run.bank_conflicts.wavefronts)


@cuda.jit
def without_guard(out):
    i = cuda.grid(1)
    out[i] = 1


@cuda.jit
def guarded_before_a_barrier(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1
    cuda.syncthreads()
    out[i + 1] = 2


@pytest.mark.parametrize("size", [5, 40, 100, 127])
@pytest.mark.parametrize("launch", [(1, 128), (2, 64), (4, 32), (8, 16), (2, 100)])
@pytest.mark.parametrize(
    ("kernel", "beyond"), [(without_guard, 0), (guarded_before_a_barrier, 1)]
)
def test_the_first_index_outside_is_named(kernel, beyond, launch, size):
    """Whatever order the warps run in: a reader looks for the first thread."""
    for seed in range(3):
        with pytest.raises(IndexError) as told:
            emulate(kernel, seed=seed)[launch](np.zeros(size))
        thread = size - beyond
        block, lane = divmod(thread, launch[1])

        assert f"writes out[{size}]" in str(told.value)
        assert f"thread {lane} of block {block}\n" in str(told.value)
