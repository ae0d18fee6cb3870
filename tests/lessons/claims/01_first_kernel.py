"""What the lesson says of its measurements, and when it is true.

Not held: the messages of the fault and the elements that it overwrote, which were
recorded on an H200 and are no measurements of a kernel. That blocks start roughly in
order is held on a GPU, by tests/on_gpu/test_said_in_lessons.py.
"""

import numpy as np
from numba import cuda

from helpers import assemble, emulate, exercise
from helpers.plotting.grids import schedule
from tests.lessons.claims import about
from thirty_two_lanes.assembly.compiler import missing


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


@cuda.jit
def with_two_doubles(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2.0 * a[i] + 1.0


@cuda.jit
def with_an_early_exit(out, a):
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = a[i] + np.float32(1)


def opcodes(it, kernel):
    """The machine instructions of a kernel that adds one, by name."""
    return assemble(kernel)[it.blocks, it.threads](it.out, it.a).opcodes


def in_64_bits(it, kernel):
    return any(name in ("DADD", "DMUL", "DFMA") for name in opcodes(it, kernel))


def copies(took):
    return took["copy there"] + took["copy back"]


def kernel(took):
    return took["launch"] + took["wait"]


def compiled(took):
    return took["loop compiled for the CPU"]


def trip(took):
    return copies(took) + kernel(took)


def gained(took, additions):
    """Is the GPU faster for so many additions to the same numbers?"""
    return copies(took) + additions * kernel(took) < additions * compiled(took)


def by_size(it, measured):
    """Median times by the threads of a block."""
    return dict(zip(it.sizes, (m.median_us for m in measured), strict=True))


def starts(it, size):
    """The blocks a microsecond of the kernel that does nothing."""
    return it.MANY / size / by_size(it, it.nothing)[size]


def occupancy(it, size):
    """The share of the threads that fit which a multiprocessor holds."""
    return it.adding[it.sizes.index(size)].counters["occupancy_percent"] / 100


def held(it, size):
    """The share of the threads that fit which the striding launch can hold."""
    fitting = it.gpu.MULTIPROCESSOR_COUNT * it.gpu.MAX_THREADS_PER_MULTIPROCESSOR
    return it.full[size] * size / fitting


def fills(it, size):
    """Did the multiprocessors hold nearly as many as they can of these blocks?"""
    found = it.striding[size].counters["occupancy_percent"] / 100
    return 0.9 * held(it, size) < found <= held(it, size)


def left_out(it):
    """The elements that a grid without its last block does not write."""
    out = np.full_like(it.a, np.nan)
    emulate(it.add_one)[it.N // it.threads, it.threads](out, it.a)
    return np.flatnonzero(np.isnan(out))


def by_thousands(it):
    """The emulator's counts of `add_one` in blocks of 1,000 threads."""
    out = np.zeros_like(it.a)
    return emulate(it.add_one)[100, 1000](out, it.a).divergence


def starts_before(it, first, second):
    rows = schedule(it.lengths, 3, 2)
    start = {block: at for _, at, block in rows}
    return start[first] < start[second]


def a_row(it):
    """The sectors of a request to 32 elements of a row, and the ideal."""
    row = np.zeros((1, 32), np.float32)
    table = emulate(it.add_one_2d)[1, 32](np.zeros_like(row), row).coalescing
    return table.sectors / table.requests, table.ideal_sectors / table.requests


def every_second(it):
    """The answer's run: sectors a request, and the ideal."""
    task = exercise("every_second")
    a = np.zeros(768, np.float32)
    answer = task.kernel(task.answer_text)
    table = emulate(answer)[5, 64](a, np.float32(1)).coalescing
    return table.sectors / table.requests, table.ideal_sectors / table.requests


CLAIMS = {
    "here block 7 starts before block 6": lambda it: starts_before(it, 7, 6),
    "391 blocks have 96 threads more than there are elements": lambda it: (
        it.blocks == 391 and it.blocks * it.threads - it.N == 96
    ),
    "The first index that differs, 99,840, is 390 × 256": lambda it: (
        left_out(it)[0] == 99_840 == 390 * it.threads
    ),
    "what is missing is block 390, the last one": lambda it: (
        {390} == set(left_out(it) // it.threads) and it.blocks == 391
    ),
    "`if i >= out.size: return`, which does the same here": lambda it: (
        missing() or opcodes(it, with_an_early_exit) == opcodes(it, it.add_one)
    ),
    "the loop about 6,200 times as fast with 100,000 numbers": lambda it: (
        6_150 < it.took[it.N]["loop in Python"] / compiled(it.took[it.N]) < 6_250
    ),
    "and 615 times with 16,777,216": lambda it: about(
        "615", it.took[it.MANY]["loop in Python"] / compiled(it.took[it.MANY])
    ),
    "the trip takes 45 times as long as the compiled loop": lambda it: about(
        "45", trip(it.took[it.N]) / compiled(it.took[it.N])
    ),
    "launch and wait take 272 µs and the compiled loop 11,370": lambda it: (
        about("272", kernel(it.took[it.MANY]))
        and about("11,370", compiled(it.took[it.MANY]))
    ),
    "but reserving and copying take 13,082": lambda it: about(
        "13,082", copies(it.took[it.MANY])
    ),
    "One addition is not worth the trip": lambda it: all(
        trip(took) > compiled(took) for took in it.took.values()
    ),
    "A second addition needs no more copies": lambda it: (  # with them, it would lose
        trip(it.took[it.MANY]) > compiled(it.took[it.MANY])
    ),
    "the GPU is then ahead, even if its launch takes as long again": lambda it: (
        [False, True] == [gained(it.took[it.MANY], n) for n in (1, 2)]
    ),
    "the first launch alone takes nine times as long as the loop": lambda it: about(
        "9", it.took[it.N]["launch"] / compiled(it.took[it.N])
    ),
    "Most of the 272 µs is the launch": lambda it: (
        it.took[it.MANY]["launch"] > 0.75 * kernel(it.took[it.MANY])
    ),
    "the kernel takes 56": lambda it: about("56", by_size(it, it.adding)[256]),
    "why the larger launch takes twice as long": lambda it: (
        1.8 < it.took[it.MANY]["launch"] / it.took[it.N]["launch"] < 2.2
    ),
    "doing nothing takes as long as adding, within 3%": lambda it: all(
        0.97 < by_size(it, it.nothing)[size] / by_size(it, it.adding)[size] <= 1.0
        for size in (32, 128)
    ),
    "wait for the GPU to start blocks, about 1,600 per microsecond": lambda it: all(
        1_550 < starts(it, size) < 1_650 for size in (32, 128)
    ),
    "blocks of 32 fill 9% of the room that the multiprocessors have": lambda it: about(
        "9%", occupancy(it, 32)
    ),
    "and blocks of 256 fill 71%": lambda it: about("71%", occupancy(it, 256)),
    "With 256 adding takes longer than starting the blocks": lambda it: (
        by_size(it, it.adding)[256] > 1.2 * by_size(it, it.nothing)[256]
    ),
    "At each size these threads wait mostly for memory": lambda it: all(
        m.waits["global or local memory"] > 0.5 for m in it.adding
    ),
    "and with 1,024 longer still": lambda it: (
        by_size(it, it.adding)[1024] > 1.1 * by_size(it, it.adding)[256]
    ),
    "So 256 is a good first choice": lambda it: (
        256 == min(it.sizes, key=by_size(it, it.adding).get)
    ),
    "The timed launches have as many blocks as fit at a time": lambda it: all(
        fills(it, size) for size in it.full
    ),
    "With 32 blocks of 32 threads, the most that fit, a multiprocessor is half full": (
        lambda it: held(it, 32) == 0.5 and fills(it, 32)
    ),
    "blocks of 32 threads take 71 µs instead of 319": lambda it: (
        about("71", it.striding[32].median_us)
        and about("319", by_size(it, it.adding)[32])
    ),
    "those of 256 and of 1,024 take 51 µs, less than before": lambda it: all(
        about("51", it.striding[size].median_us)
        and it.striding[size].median_us < by_size(it, it.adding)[size]
        for size in (256, 1024)
    ),
    "32 numbers of 4 bytes lie side by side in 4 sectors, the ideal": (
        lambda it: (4, 4) == a_row(it)
    ),
    "31.2 on average: every eighth warp has only 26 rows": lambda it: (
        250 / 8
        == (7 * 32 + 26) / 8
        == it.swapped.coalescing.sectors / it.swapped.coalescing.requests
    ),
    "asks for 200,000 sectors, eight times the 25,000 of the other": (
        lambda it: (
            (200_000, 25_000)
            == (it.swapped.coalescing.sectors, it.straight.coalescing.sectors)
        )
    ),
    "The ideal counts 4 for each request, 25,600 in all": (
        lambda it: (
            (25_600, 6_400)
            == (it.swapped.coalescing.ideal_sectors, it.swapped.coalescing.requests)
        )
    ),
    "100 blocks, and every thread has an element": lambda it: (
        (0, 1) == (by_thousands(it).splits, by_thousands(it).active_of_present)
    ),
    "The last of the 32 warps in each block has only 8 threads": lambda it: (
        by_thousands(it).active_share == (31 * 32 + 8) / 32**2
    ),
    "A request takes 8 sectors, twice the ideal": lambda it: (8, 4) == every_second(it),
    "and so are `a[i] + 1.0` and `a[i] + 1`": lambda it: all(
        any(found.kind == "float64" for found in run.warnings)
        for run in (
            emulate(each)[it.blocks, it.threads](it.out, it.a)
            for each in (with_a_double, with_an_integer)
        )
    ),
    "the compiler sees that 32 bits give the same result, and uses them": (
        lambda it: (
            missing()
            or not any(in_64_bits(it, it_) for it_ in (with_a_double, with_an_integer))
        )
    ),
    "It computes `2.0 * a[i] + 1.0` in 64 bits": lambda it: (
        missing() or in_64_bits(it, with_two_doubles)
    ),
}
