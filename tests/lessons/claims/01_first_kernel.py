"""What the lesson says of its measurements, and when it is true.

Not held: the messages of the fault and the elements that it overwrote, which were
recorded on an H200 and are no measurements of a kernel. That blocks start roughly in
order is held on a GPU, by tests/on_gpu/test_said_in_lessons.py.
"""

import numpy as np
from numba import cuda

from helpers import emulate
from helpers.plotting.chains import turns
from helpers.plotting.grids import schedule
from tests.lessons.claims import about


@cuda.jit
def with_a_double(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 1.0


@cuda.jit
def goes_on(out, a):
    for i in range(cuda.grid(1), out.size):
        out[i] = a[i] + np.float32(1)


@cuda.jit
def with_an_integer(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 1


def took(it, *steps, n=None):
    """The time of some steps together, for the many numbers or for `n`."""
    return sum(it.took(n or it.MANY, step) for step in steps)


def copies(it, kind=""):
    return took(it, f"copy there{kind}", f"copy back{kind}")


def kernel(it, n=None):
    return took(it, "launch", "wait", n=n)


def compiled(it, n=None):
    return took(it, "loop compiled for the CPU", n=n)


def gained(it, additions):
    """Would the GPU be faster, if each of so many additions took what the first did?"""
    before = took(it, "reserve") + copies(it)
    return before + additions * kernel(it) < additions * compiled(it)


def by_size(it, measured):
    """Median times by the threads of a block."""
    return dict(zip(it.sizes, (m.median_us for m in measured), strict=True))


def starts(it, size):
    """The blocks a microsecond of the kernel that does nothing."""
    return it.MANY / size / by_size(it, it.nothing)[size]


def left_out(it):
    """The elements that a grid without its last block does not write."""
    out = np.full_like(it.a, np.nan)
    emulate(it.add_one)[it.N // it.threads, it.threads](out, it.a)
    return np.flatnonzero(np.isnan(out))


def without_a_step(it):
    """Do threads that forget the step give the same sums, and store more often?"""
    n, (a, out) = 300, (it.a[:300], np.zeros(300, np.float32))
    run = emulate(goes_on)[2, 64](out, a)
    right = np.array_equal(out, it.add_one_spec(a))
    return right and run.coalescing.by_kind["store"].requests > 2 * n / 32


def sectors_of_a_row(it):
    """The sectors of each request for one row, with x to the column."""
    rows = (np.zeros((1, width), np.float32) for width in (32, it.COLS % 32))
    runs = (emulate(it.add_one_2d)[(1, 1), (32, 8)](row, row.copy()) for row in rows)
    return [run.coalescing.sectors / run.coalescing.requests for run in runs]


def sectors_of_a_column(it):
    """Does a request of 32 rows touch 32 sectors, with x to the row?"""
    column = np.zeros((32, it.COLS), np.float32)
    run = emulate(it.add_one_2d_swapped)[(1, 50), (32, 8)](column, column.copy())
    return run.coalescing.sectors == 32 * run.coalescing.requests


def starts_before(it, first, second):
    rows = schedule(it.lengths, 3, 2)
    start = {block: at for _, at, block in rows}
    return start[first] < start[second]


CLAIMS = {
    "An H200 has room for 270,336 at a time": lambda it: (
        270_336 == it.gpu.MULTIPROCESSOR_COUNT * it.gpu.MAX_THREADS_PER_MULTIPROCESSOR
    ),
    "in this drawing, whose times are made up, block 7 starts before block 6": (
        lambda it: starts_before(it, 7, 6)
    ),
    "there are 96 threads more than elements": lambda it: (
        it.blocks == 391 and it.blocks * it.threads - it.N == 96
    ),
    "The first index that differs is 390 × 256": lambda it: (
        left_out(it)[0] == 99_840 == 390 * it.threads
    ),
    "what is missing is block 390, the last one": lambda it: (
        {390} == set(left_out(it) // it.threads) and it.blocks == 391
    ),
    "launching and waiting take less than a thirtieth of the loop's time": lambda it: (
        30 < compiled(it) / kernel(it) < 40
    ),
    'Most of "launch and wait" is the call': lambda it: (
        took(it, "launch") > 2 * took(it, "wait")
    ),
    "In this model a chain waits three times as long as it works": lambda it: (
        [(0, 0), (0, 4), (0, 8)] == turns(3, 1, 3, 1)
    ),
    "With four, each chain still waits, but the unit always finds one": lambda it: (
        [*range(12)] == [start for _, start in turns(3, 1, 3, 4)]
    ),
    "of the GPU's steps, copying there takes longest": lambda it: (
        "copy there" == max(trip := it.trip(it.MANY), key=trip.get)
    ),
    "copying there and back takes longer than the whole loop": lambda it: (
        copies(it) > compiled(it)
    ),
    "Here the loop wins": lambda it: not gained(it, 1),
    "With pinned arrays copying takes a fifth of the time": lambda it: about(
        "0.2", copies(it, ", pinned") / copies(it)
    ),
    "and the GPU wins even with one addition": lambda it: (
        took(it, *(f"{step}, pinned" for step in ("reserve", "launch", "wait")))
        + copies(it, ", pinned")
        < compiled(it)
    ),
    "to make the two takes more than four times as long as the loop": lambda it: (
        took(it, "arrays, pinned") > 4 * compiled(it)
    ),
    "If a second loop and launch take as long, the GPU is ahead from then on": (
        lambda it: [False, True] == [gained(it, n) for n in (1, 2)]
    ),
    "In a trip with only 100,000 numbers, the call alone takes nine times as long as "
    "the whole compiled loop": lambda it: (
        it.N == 100_000 and about("9", took(it, "launch", n=it.N) / compiled(it, it.N))
    ),
    "adding takes as long as doing nothing, within 3%": lambda it: all(
        0.97 < by_size(it, it.nothing)[size] / by_size(it, it.adding)[size] <= 1.0
        for size in (32, 128)
    ),
    "the GPU is busy starting blocks, about 1,600 in each microsecond (524,288 "
    "blocks of 32 threads in 319 µs)": lambda it: (
        all(1_550 < starts(it, size) < 1_650 for size in (32, 128))
        and 524_288 == it.MANY // 32
        and about("319", by_size(it, it.nothing)[32])
    ),
    "adding takes longer than starting the blocks does": lambda it: (
        by_size(it, it.adding)[256] > 1.2 * by_size(it, it.nothing)[256]
    ),
    "Of these four, 256 is the fastest": lambda it: (
        256 == min(it.sizes, key=by_size(it, it.adding).get)
    ),
    "100 blocks, and every thread has an element": lambda it: it.N == 100 * 1000,
    "`a[i] + 1.0` is a float64, and so is `a[i] + 1`": lambda it: all(
        any(found.kind == "float64" for found in run.warnings)
        for run in (
            emulate(each)[it.blocks, it.threads](it.out, it.a)
            for each in (with_a_double, with_an_integer)
        )
    ),
    "a request touches four sectors, or two at the end of a row": lambda it: (
        [4, 2] == sectors_of_a_row(it)
    ),
    "each thread would go on to the end. That gives the same sums here": without_a_step,
    "so 32 numbers side by side fill four": lambda it: sectors_of_a_row(it)[0] == 4,
    "One for each number, 32 in a full request": sectors_of_a_column,
    "the launch touches eight times as many": lambda it: (
        it.swapped.coalescing.sectors == 8 * it.straight.coalescing.sectors
    ),
}
