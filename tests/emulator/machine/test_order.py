"""Wrong kernels give wrong answers: the order of the warps is adverse, and repeats."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.quick import beside, exhaustive, slow, some
from tests.specimens.kernels import numbers, tiled

SEEDS = range(6)


@cache
def scan(barrier):
    """Sums of all elements up to each; in place, so it needs a barrier between."""

    @cuda.jit
    def in_place(a, out):
        cells = cuda.shared.array(1024, float32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        cuda.syncthreads()
        distance = 1
        while distance < cuda.blockDim.x:
            before = cells[t - distance] if t >= distance else float32(0)
            if barrier:
                cuda.syncthreads()
            cells[t] += before
            cuda.syncthreads()
            distance *= 2
        out[t] = cells[t]

    return in_place


@cuda.jit
def histogram(a, out):
    """Counts without atomics, in shared memory and then in global memory."""
    bins = cuda.shared.array(8, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 8:
        bins[t] = 0
    cuda.syncthreads()
    bins[a[i]] += 1
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, bins[t])


@cuda.jit
def count(out):
    out[0] += 1


def product_differs(kernel, size, seed):
    """Does it differ from NumPy's product? And what did it give?"""
    n = 4 * size
    a, b, out = numbers(n, n), numbers(n, n).T.copy(), np.zeros((n, n), np.float32)
    emulate(kernel, seed=seed)[(4, 4), (size, size)](a, b, out)
    return not np.array_equal(a @ b, out), out.tobytes()


def scan_differs(kernel, threads, seed):
    a, out = numbers(threads), np.zeros(threads, np.float32)
    emulate(kernel, seed=seed)[1, threads](a, out)
    return not np.array_equal(np.cumsum(a), out), out.tobytes()


LARGE = [slow((16, 0)), exhaustive((32, 0))]  # up to a million races


@pytest.mark.parametrize("size, seed", [*some([*product([8], SEEDS)], every=3), *LARGE])
@pytest.mark.parametrize("first, second", [(True, True), (True, False), (False, True)])
def test_a_tiled_product_needs_both_barriers(size, first, second, seed):
    """Without the first or the second, the product is wrong; with both it is right."""
    kernel = tiled(size, first, second)

    wrong, out = product_differs(kernel, size, seed)

    assert (not (first and second)) == wrong
    assert out == product_differs(kernel, size, seed)[1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("threads", beside([96], [64, 256, 1024]))
@pytest.mark.parametrize("barrier", [True, False])
def test_a_scan_in_place_needs_a_barrier_between_load_and_store(barrier, threads, seed):
    """Warps overtake each other in either direction, also when there are only two."""
    kernel = scan(barrier)

    wrong, out = scan_differs(kernel, threads, seed)

    assert (not barrier) == wrong
    assert out == scan_differs(kernel, threads, seed)[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_unguarded_histogram_loses_counts(seed):
    """`bins[x] += 1` by many threads at once."""
    a = np.arange(1024) % 8

    first, again = np.zeros(8, np.int32), np.zeros(8, np.int32)
    emulate(histogram, seed=seed)[4, 256](a, first)
    emulate(histogram, seed=seed)[4, 256](a, again)

    assert (first < 128).all()
    assert first.tolist() == again.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_draw_tickets_in_no_order_of_their_own(seed):
    """Each number once, neither up nor down; with the next seed the other way round,
    and again the same.
    """

    @cuda.jit
    def draw(counter, tickets):
        tickets[cuda.blockIdx.x] = cuda.atomic.add(counter, 0, 1)

    def tickets(seed):
        drawn = np.zeros(8, np.int32)
        emulate(draw, seed=seed)[8, 1](np.zeros(1, np.int32), drawn)
        return drawn.tolist()

    drawn = tickets(seed)

    assert [*range(8)] == sorted(drawn)
    assert drawn not in ([*range(8)], [*range(7, -1, -1)])
    assert drawn == tickets(seed)
    assert [7 - it for it in drawn] == tickets(seed ^ 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_come_to_a_counter_together_or_one_by_one(seed):
    """With an odd seed only one of them finds that all have come."""

    @cuda.jit
    def look(counter, seen):
        cuda.atomic.add(counter, 0, 1)
        seen[cuda.blockIdx.x] = cuda.atomic.add(counter, 0, 0)

    seen = np.zeros(8, np.int32)
    emulate(look, seed=seed)[8, 1](np.zeros(1, np.int32), seen)

    assert (sorted(seen.tolist()) == [*range(1, 9)]) == (seed % 2 == 1)


@pytest.mark.parametrize("launch", [emulate(count), count])
def test_threads_that_add_to_one_cell_lose_updates(launch):
    """4,096 threads add one each; on an H200 the sum was 2."""
    out = np.zeros(1, np.int32)

    launch[16, 256](out)

    assert out[0] < 4096


def test_two_warps_take_turns_to_be_first():
    """From barrier to barrier: a race needs the one order or the other to show."""

    @cuda.jit
    def kernel(last):
        for turn in range(6):
            last[turn] = cuda.threadIdx.x // 32
            cuda.syncthreads()

    last = np.full(6, -1)
    kernel[1, 64](last)

    assert [0, 1] * 3 == last.tolist() or [1, 0] * 3 == last.tolist()


@pytest.mark.parametrize("blocks, seen", [(16, set(range(1, 17))), (17, {17})])
def test_only_few_blocks_that_tell_each_other_run_one_by_one(blocks, seen):
    """With an odd seed; many go on together, and all count before one of them reads."""

    @cuda.jit
    def kernel(count, out):
        cuda.atomic.add(count, 0, 1)
        out[cuda.blockIdx.x] = count[0]

    count, out = np.zeros(1, np.int64), np.zeros(blocks, np.int64)
    emulate(kernel, seed=1)[blocks, 1](count, out)

    assert seen == set(out.tolist())
