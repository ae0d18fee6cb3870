"""What the lesson says of its measurements, and when it is true.

Not held: the messages of the fault and the elements that it overwrote, which were
recorded on an H200 and are no measurements of a kernel. That blocks start roughly in
order is held on a GPU, by tests/on_gpu/test_said_in_lessons.py.
"""

import numpy as np
from numba import cuda

from helpers import emulate
from helpers.plotting.grids import schedule
from tests.lessons.claims import about


@cuda.jit
def with_a_double(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 1.0


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
    """Is the GPU faster for so many additions to the same numbers?"""
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


def starts_before(it, first, second):
    rows = schedule(it.lengths, 3, 2)
    start = {block: at for _, at, block in rows}
    return start[first] < start[second]


CLAIMS = {
    "an H200 has room for 270,336 chains at a time": lambda it: (
        270_336
        == it.gpu.MULTIPROCESSOR_COUNT * it.gpu.MAX_THREADS_PER_MULTIPROCESSOR
    ),
    "here block 7 starts before block 6": lambda it: starts_before(it, 7, 6),
    "there are 96 threads more than elements": lambda it: (
        it.blocks == 391 and it.blocks * it.threads - it.N == 96
    ),
    "The first index that differs is 390 × 256": lambda it: (
        left_out(it)[0] == 99_840 == 390 * it.threads
    ),
    "what is missing is block 390, the last one": lambda it: (
        {390} == set(left_out(it) // it.threads) and it.blocks == 391
    ),
    "Launching and waiting take less than a thirtieth of its time": lambda it: (
        30 < compiled(it) / kernel(it) < 40
    ),
    "copying there and back takes longer than the whole loop": lambda it: (
        copies(it) > compiled(it)
    ),
    "one addition to ordinary arrays is not worth the trip": lambda it: (
        not gained(it, 1)
    ),
    "With pinned arrays copying takes a fifth of the time": lambda it: about(
        "0.2", copies(it, ", pinned") / copies(it)
    ),
    "and the GPU wins even with one addition": lambda it: (
        sum(it.trip(it.MANY, ", pinned").values()) < compiled(it)
    ),
    "to make the two takes more than four times as long as the loop": lambda it: (
        took(it, "arrays, pinned") > 4 * compiled(it)
    ),
    "and from then on the GPU is ahead": lambda it: (
        [False, True] == [gained(it, n) for n in (1, 2)]
    ),
    "takes nine times as long as the whole compiled loop": lambda it: about(
        "9", took(it, "launch", n=it.N) / compiled(it, it.N)
    ),
    "adding takes as long as doing nothing, within 3%": lambda it: all(
        0.97 < by_size(it, it.nothing)[size] / by_size(it, it.adding)[size] <= 1.0
        for size in (32, 128)
    ),
    "the GPU is busy starting blocks, about 1,600 in each microsecond": lambda it: all(
        1_550 < starts(it, size) < 1_650 for size in (32, 128)
    ),
    "With 256 threads a block, the additions take longer than the starts": lambda it: (
        by_size(it, it.adding)[256] > 1.2 * by_size(it, it.nothing)[256]
    ),
    "With 1,024 they take longer again": lambda it: (
        by_size(it, it.adding)[1024] > 1.1 * by_size(it, it.adding)[256]
    ),
    "Of these four, 256 is the fastest": lambda it: (
        256 == min(it.sizes, key=by_size(it, it.adding).get)
    ),
    "100 blocks, and every thread has an element": lambda it: it.N == 100 * 1000,
    "In Numba `a[i] + 1.0` is a float64, and so is `a[i] + 1`": lambda it: all(
        any(found.kind == "float64" for found in run.warnings)
        for run in (
            emulate(each)[it.blocks, it.threads](it.out, it.a)
            for each in (with_a_double, with_an_integer)
        )
    ),
    "a request touches eight times as many pieces": lambda it: (
        it.swapped.coalescing.sectors == 8 * it.straight.coalescing.sectors
    ),
    "most of that passes before the launch returns to Python": lambda it: (
        took(it, "launch") > 0.75 * kernel(it)
    ),
}
