"""What the lesson says of its measurements, and when it is true.

Not held: the messages of the fault, the elements that it overwrote, and the tickets of
1,056 blocks, which were recorded on an H200 and are no measurements of a kernel.
"""

import numpy as np
from numba import cuda

from helpers import assemble, emulate, exercise
from helpers.assembly.compiler import missing
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


def by_size(it, measured):
    """Median times by the threads of a block."""
    return dict(zip(it.sizes, (m.median_us for m in measured), strict=True))


def starts(it, size):
    """The blocks a microsecond of the kernel that does nothing."""
    return it.MANY / size / by_size(it, it.nothing)[size]


def occupancy(it, size):
    """The share of the threads that fit which a multiprocessor holds."""
    return it.adding[it.sizes.index(size)].counters["occupancy_percent"] / 100


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
    "on a GPU with 3 multiprocessors and on one with 132": lambda it: (
        it.gpu.MULTIPROCESSOR_COUNT == 132
    ),
    "391 blocks have 96 threads more than there are elements": lambda it: (
        it.blocks == 391 and it.blocks * it.threads - it.N == 96
    ),
    "The first index that differs, 99,840, is a multiple of 256": lambda it: (
        99_840 == it.N // it.threads * it.threads and it.threads == 256
    ),
    "`if i >= out.size: return`, which does the same here": lambda it: (
        missing() or opcodes(it, with_an_early_exit) == opcodes(it, it.add_one)
    ),
    "Compiling alone makes the loop more than 500 times as fast": lambda it: all(
        took["loop in Python"] > 500 * compiled(took) for took in it.took.values()
    ),
    "the trip to the GPU takes more than ten times as long": lambda it: (
        trip(it.took[it.N]) > 10 * compiled(it.took[it.N])
    ),
    "launch and wait together are more than thirty times as fast": lambda it: (
        30 * kernel(it.took[it.MANY]) < compiled(it.took[it.MANY])
    ),
    "but the copies alone take longer than it": lambda it: (
        copies(it.took[it.MANY]) > compiled(it.took[it.MANY])
    ),
    "So one addition is not worth the trip": lambda it: all(
        trip(took) > compiled(took) for took in it.took.values()
    ),
    "From the second on the same numbers the GPU is faster": lambda it: (
        trip(it.took[it.MANY]) + kernel(it.took[it.MANY])
        < 2 * compiled(it.took[it.MANY])
    ),
    "doing nothing takes as long as adding, within 3%": lambda it: all(
        0.97 < by_size(it, it.nothing)[size] / by_size(it, it.adding)[size] <= 1.0
        for size in (32, 128)
    ),
    "both wait for the GPU to start blocks, about 1,600 a microsecond": lambda it: all(
        1_550 < starts(it, size) < 1_650 for size in (32, 128)
    ),
    "the multiprocessors hold 9% of the threads that they could": lambda it: (
        about("9%", occupancy(it, 32))
    ),
    "with 256 71%": lambda it: about("71%", occupancy(it, 256)),
    "With 256 adding takes longer than starting the blocks": lambda it: (
        by_size(it, it.adding)[256] > 1.2 * by_size(it, it.nothing)[256]
    ),
    "At each size the threads that run wait mostly for memory": lambda it: all(
        m.waits["global or local memory"] > 0.5 for m in it.adding
    ),
    "and with 1,024 longer still": lambda it: (
        by_size(it, it.adding)[1024] > 1.1 * by_size(it, it.adding)[256]
    ),
    "So 256 is a good first choice": lambda it: (
        256 == min(it.sizes, key=by_size(it, it.adding).get)
    ),
    "as many blocks as the multiprocessors hold at a time": lambda it: all(
        number == it.gpu.MULTIPROCESSOR_COUNT * min(2048 // size, 32)
        for size, number in it.full.items()
    ),
    "blocks of 32 threads take 71 µs instead of 319": lambda it: (
        about("71", it.striding[32].median_us)
        and about("319", by_size(it, it.adding)[32])
    ),
    "and those of 256 and 1,024 threads the same 51 µs": lambda it: all(
        about("51", it.striding[size].median_us) for size in (256, 1024)
    ),
    "32 numbers of 4 bytes lie side by side in 4 sectors, which is the ideal": (
        lambda it: (4, 4) == a_row(it)
    ),
    "31.2 on average: 250 rows leave every eighth warp 26 threads": lambda it: (
        250 / 8 == (7 * 32 + 26) / 8
        == it.swapped.coalescing.sectors / it.swapped.coalescing.requests
    ),
    "asks for 200,000 sectors, eight times as many as the 25,000 of the other": (
        lambda it: (200_000, 25_000)
        == (it.swapped.coalescing.sectors, it.straight.coalescing.sectors)
    ),
    "100 blocks, and every thread has an element": lambda it: it.N == 100 * 1000,
    "The last of the 32 warps in each block has only 8 threads": lambda it: (
        (31, 8) == divmod(1000, 32)
    ),
    "A request takes 8 sectors, twice the ideal": lambda it: (
        (8, 4) == every_second(it)
    ),
    "and `a[i] + 1.0` and `a[i] + 1` are, too": lambda it: all(
        any(found.kind == "float64" for found in run.warnings)
        for run in (
            emulate(each)[it.blocks, it.threads](it.out, it.a)
            for each in (with_a_double, with_an_integer)
        )
    ),
    "the compiler sees that 32 bits give the same result, and uses them": (
        lambda it: missing()
        or not any(in_64_bits(it, it_) for it_ in (with_a_double, with_an_integer))
    ),
    "`2.0 * a[i] + 1.0` it computes in 64 bits": lambda it: (
        missing() or in_64_bits(it, with_two_doubles)
    ),
}
