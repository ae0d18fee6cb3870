"""Shared and local memory: bytes seen as elements of several sizes, arrays chosen by
thread, static arrays of device functions, atomics on parts.
"""

import math

import numpy as np
import pytest
from numba import cuda, float32, float64, int8, int16, int32, int64

from helpers import emulate
from tests.specimens.kernels import BUILT_IN, line_of, message

needs_package = pytest.mark.skipif(BUILT_IN, reason="the built-in target has no such")


@cuda.jit
def two_sizes(a, out):
    """Floats in front of integers, in one piece of dynamic memory."""
    floats = cuda.shared.array(0, float64)
    numbers = cuda.shared.array(0, int32)[64:]
    t = cuda.threadIdx.x
    floats[t] = a[t] / 2
    numbers[t] = 100 * t
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = floats[31 - t] + numbers[(t + 1) % 32]


@cuda.jit
def bytes_of_numbers(out):
    """What one type stores, another reads."""
    words = cuda.shared.array(0, int32)
    halves = cuda.shared.array(0, int16)
    t = cuda.threadIdx.x
    words[t] = 0x10000 * t + cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = halves[2 * t + 1] * 1000 + halves[2 * t]


@cuda.jit
def size_of_dynamic(out):
    out[0] = cuda.shared.array(0, int16).size
    out[1] = cuda.shared.array(0, float64).size


@cuda.jit(device=True)
def high_less_low(cells, a):
    """Of two floats next to each other, as whole numbers."""
    t = cuda.threadIdx.x
    cells[2 * t] = a[t]
    cells[2 * t + 1] = -a[t]
    pair = cells.view(int64)[t]
    part = cells.view(int8)[8 * t : 8 * t + 4].view(int32)
    return (pair >> 32) - part[0]


@cuda.jit
def shared_seen_otherwise(a, out):
    out[cuda.grid(1)] = high_less_low(cuda.shared.array(64, float32), a)


@cuda.jit
def local_seen_otherwise(a, out):
    out[cuda.grid(1)] = high_less_low(cuda.local.array(64, float32), a)


@cuda.jit(device=True)
def counter(amount):
    """The same shared array in each call, as a GPU compiles it."""
    total = cuda.shared.array(1, int64)
    if amount < 0:
        total[0] = 0
    cuda.syncthreads()
    if amount > 0:
        cuda.atomic.add(total, 0, amount)
    cuda.syncthreads()
    return total[0]


@cuda.jit
def counts_twice(out):
    counter(int64(-1))
    counter(int64(cuda.threadIdx.x))
    out[cuda.grid(1)] = counter(int64(1))


@cuda.jit
def ping_pong(a, out):
    """Lanes take turns in two shared arrays, and the odd ones begin in the other."""
    first = cuda.shared.array(64, float32)
    second = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    here, there = first, second
    if t % 2:
        here, there = second, first
    here[t] = a[i]
    there[t] = -a[i]
    for _ in range(3):
        here[t] += 1
        here, there = there, here
    out[i] = here[t] * 1000 + there[t]


@cuda.jit
def any_space(a, b, out):
    """Global, shared or local memory, and a part of each."""
    shared, mine = cuda.shared.array(64, float32), cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    cells, place = a, t
    if t % 4 == 1:
        cells = shared
    elif t % 4 == 2:
        cells, place = mine, 3
    elif t % 4 == 3:
        cells = b[t:]
        place = 1
    cells[place] = t
    cuda.atomic.add(cells, place, 0.5)
    out[t] = cells[place] + cells.size


@cuda.jit
def atomics_on_parts(a, out):
    """Rows, slices that differ by thread, local arrays, tuples, negative numbers."""
    t = cuda.threadIdx.x
    mine = cuda.local.array((2, 2), int32)
    mine[1, 0] = t
    before = cuda.atomic.add(mine, (1, -2), 5)
    cuda.atomic.add(mine[1], 0, 1)
    cuda.atomic.max(a[t % 4], -1, t)
    cuda.atomic.add(a[t % 4, t % 3 :], np.uint8(0), 1)
    out[t] = mine[1, 0] * 100 + before


@cuda.jit
def rows(out):
    tile = cuda.shared.array((32, 33), float32)
    t = cuda.threadIdx.x
    row = tile[t]
    row[3] = t
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[31 - t][3]


def test_dynamic_memory_holds_elements_of_two_sizes():
    """A slice of one type begins behind the elements of the other."""
    a, out = np.random.default_rng(0).random(32), np.zeros((3, 32))

    emulate(two_sizes)[3, 32, 0, 32 * 12](a, out)

    expected = a[::-1] / 2 + 100 * (np.arange(1, 33) % 32)
    np.testing.assert_array_equal(np.tile(expected, (3, 1)), out)


def test_dynamic_arrays_alias_the_same_bytes():
    """Each type counts its own elements; what does not fill one is left over."""
    out, sizes = np.zeros((2, 32)), np.zeros(2)

    emulate(bytes_of_numbers)[2, 32, 0, 128](out)
    emulate(size_of_dynamic)[1, 1, 0, 22](sizes)

    expected = np.arange(32) * 1000 + np.arange(2)[:, None]
    np.testing.assert_array_equal(expected, out)
    assert [11, 2] == sizes.tolist()


def test_two_sizes_are_judged_by_their_bytes():
    """Eight bytes a lane are two wavefronts, four are one; both without conflict."""
    run = emulate(two_sizes)[2, 32, 0, 384](np.zeros(32), np.zeros((2, 32)))

    assert 0 == run.bank_conflicts.conflicts
    assert 2 * (2 + 2 + 1 + 1) == run.bank_conflicts.wavefronts


@pytest.mark.parametrize("kernel", [shared_seen_otherwise, local_seen_otherwise])
def test_memory_is_seen_as_elements_of_another_size(kernel):
    """Two floats as one integer, and as bytes."""
    a, out = np.random.default_rng(1).random(32, np.float32), np.zeros(64, np.int64)

    emulate(kernel)[2, 32](a, out)

    expected = (-a).view(np.int32).astype(np.int64) - a.view(np.int32)
    np.testing.assert_array_equal(np.tile(expected, 2), out)


def test_a_device_function_has_one_shared_array_however_often_it_is_called():
    """What one call left there, the next finds."""
    out = np.zeros(64, np.int64)

    emulate(counts_twice)[2, 32](out)

    np.testing.assert_array_equal([sum(range(32)) + 32] * 64, out)


def test_a_variable_is_one_array_in_some_threads_and_another_in_others():
    """Two shared arrays that change places; the last is whole for each lane."""
    a, out = np.arange(128, dtype=np.float32), np.zeros(128)

    run = emulate(ping_pong)[2, 64](a, out)

    np.testing.assert_array_equal((1 - a) * 1000 + (a + 2), out)
    assert run.bank_conflicts.requests


def test_the_arrays_may_lie_in_different_memories():
    """Loads, stores, atomics and sizes, each in its own."""
    a, b, out = np.zeros(40, np.float32), np.zeros(50, np.float32), np.zeros(40)

    emulate(any_space)[1, 40](a, b, out)

    t = np.arange(40)
    size = np.choose(t % 4, [40, 64, 8, 50 - t])
    np.testing.assert_array_equal(t + 0.5 + size, out)
    np.testing.assert_array_equal(np.where(t % 4 == 0, t + 0.5, 0), a)
    np.testing.assert_array_equal(t[3::4] + 0.5, b[4:44:4])


def test_atomics_reach_parts_of_arrays():
    """Each thread's own place in a row, in a slice and in local memory."""
    a, out = np.zeros((4, 6), np.int32), np.zeros(48)

    emulate(atomics_on_parts)[1, 48](a, out)

    t = np.arange(48)
    np.testing.assert_array_equal((t + 6) * 100 + t, out)
    expected = np.zeros((4, 6), int)
    np.add.at(expected, (t % 4, t % 3), 1)
    expected[:, 5] = [44, 45, 46, 47]
    np.testing.assert_array_equal(expected, a)


def test_rows_of_shared_arrays_are_judged_like_their_elements():
    """A column of 33 floats a row has no conflict, in each block."""
    out = np.zeros(96)

    run = emulate(rows)[3, 32](out)

    np.testing.assert_array_equal(np.tile(31 - np.arange(32), 3), out)
    assert (6, 0) == (run.bank_conflicts.requests, run.bank_conflicts.conflicts)


@cuda.jit
def outside_a_part(a, out):
    t = cuda.threadIdx.x
    out[t] = a[t : t + 4][4 if t == 9 else 0]


@cuda.jit
def wrong_shape(a, out):
    out[0] = a.reshape(3, 3)[0, 0]


def test_an_index_outside_a_part_names_the_part_of_that_thread():
    """Bounds are those of the slice, and not of the array."""
    text = message(IndexError, outside_a_part, 1, 32, np.zeros(64), np.zeros(64))

    assert "thread 9 of block 0" in text and "has shape (4,)" in text


def test_a_shape_that_does_not_fit_is_told():
    """With the line and the shape that there is."""
    text = message(TypeError, wrong_shape, 1, 1, np.zeros(8), np.zeros(1))

    assert "`a`, whose shape is 8" in text and "reshape(3, 3)" in text


COEFFICIENTS = (np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))


@cuda.jit
def over_arrays(a, b, out):
    """A tuple of arrays is gone through, and one is chosen by each thread."""
    t = cuda.threadIdx.x
    total = 0.0
    for cells in (a, b):
        total += cells[t]
    pair = (a, b)
    chosen = pair[t % 2]
    chosen[t] = total
    out[t] = total * len(COEFFICIENTS[1]) + COEFFICIENTS[0][t % 2]


def test_a_tuple_of_arrays_is_gone_through_and_chosen_from():
    """Arguments and captured arrays."""
    a, b = np.random.default_rng(3).random((2, 32))
    before, out = a + b, np.zeros(32)

    emulate(over_arrays)[1, 32](a, b, out)

    np.testing.assert_array_equal(before * 3 + np.tile([1.0, 2.0], 16), out)
    np.testing.assert_array_equal(before[::2], a[::2])
    np.testing.assert_array_equal(before[1::2], b[1::2])


@cuda.jit
def adds_up(a, out):
    i = cuda.grid(1)
    out[i] = a[i].sum()


@cuda.jit
def clears(a):
    a[cuda.grid(1), 1:5] = 0


@cuda.jit
def hinted(a, out):
    i = cuda.grid(1)
    cuda.stcs(out, (i, 1), cuda.ldcg(a, (i, 2)))


@needs_package
def test_the_loads_of_a_reduction_are_those_of_the_line_that_asks_for_it():
    """Six elements, six requests of each warp, under the kernel's name."""
    a, out = np.ones((64, 6), np.float32), np.zeros(64)

    run = emulate(adds_up)[2, 32](a, out)

    assert [6] * 64 == out.tolist()
    row = run.coalescing.by_kind["load"]
    site = next(s for s in run.coalescing.by_line if s.kind == "load")
    assert (2 * 6, "a") == (row.requests, site.array)
    assert (line_of(adds_up, "a[i].sum()"), "out[i] = a[i].sum()") == (
        site.line,
        site.text,
    )


def test_a_store_to_a_part_is_a_request_for_each_element():
    """Four columns of each row."""
    a = np.ones((64, 6))

    run = emulate(clears)[2, 32](a)

    assert 64 * 2 == a.sum()
    assert 2 * 4 == run.coalescing.by_kind["store"].requests


@needs_package
def test_cache_hints_are_loads_and_stores():
    """What caches keep is not modelled."""
    a, out = np.random.default_rng(2).random((2, 64, 3))

    run = emulate(hinted)[2, 32](a, out)

    np.testing.assert_array_equal(a[:, 2], out[:, 1])
    assert 2 == run.coalescing.by_kind["load"].requests
    assert 2 == run.coalescing.by_kind["store"].requests


def test_a_zero_keeps_its_sign_in_the_threads_that_do_not_write_it():
    """Two numbers that are equal may differ in their bits."""

    @cuda.jit
    def kernel(zero, negative, out):
        t = cuda.threadIdx.x
        x = zero
        if t < 5:
            x = negative
        out[t] = math.copysign(1.0, x)

    out = np.zeros(32)
    kernel[1, 32](0.0, -0.0, out)

    assert [-1.0] * 5 + [1.0] * 27 == out.tolist()
