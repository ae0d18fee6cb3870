"""What the lesson says of its measurements, and when it is true."""

from collections import Counter

import numpy as np
import pytest
from numba import cuda, float32

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.lessons.counted import in_flight
from thirty_two_lanes.assembly.compiler import missing

BARRIER = "a barrier"
REQUESTS = "global_load", "global_store", "shared_load", "shared_store"


def each(m, counter):
    """What a warp of a launch over 64 million elements did."""
    return 32 * m.counters[counter] / 2**26


def passes(m):
    """The cycles for which a request keeps the data path busy."""
    requests = sum(m.counters[f"{it}_requests"] for it in REQUESTS)
    return m.counters["lsu_wavefronts"] / requests


def alike(measurements, *counters):
    """Do the counters of these launches agree?"""
    return all(len({m.counters[it] for m in measurements}) == 1 for it in counters)


def served_by_l1(m):
    """The share of the sectors that a kernel loads which L2 is not asked for."""
    return 1 - m.counters["l2_read_sectors"] / m.counters["global_load_sectors"]


def loss(no_tile, a_tile):
    """The microseconds that a tile costs."""
    return a_tile.median_us - no_tile.median_us


def told(words, *measurements):
    """Are these the microseconds of the launches?"""
    return [int(it) for it in words.split()] == [
        round(m.median_us) for m in measurements
    ]


def names(kernel, *arguments):
    """A kernel's machine instructions in order, without their options."""
    code = assemble(kernel)[16, 256](*arguments).instructions
    return [one.opcode.partition(".")[0] for one in code]


@cuda.jit
def copy_signed(out, a):
    i = cuda.grid(1)
    out[i] = a[i]


def order(it, kernel):
    """The accesses and barriers of a copy, in the order of its machine code."""
    known = "LDG", "STS", "BAR", "LDS", "STG"
    return [name for name in names(kernel, it.out, it.a) if name in known]


def differ_in_the_tile(it):
    """Is the machine code of the padded kernels alike but for the tile's requests?"""
    padded = np.pad(it.a, it.RADIUS)
    plain, tiled = (
        Counter(names(kernel, it.out, padded))
        for kernel in (it.add_padded, it.add_padded_tiled)
    )
    return (
        (plain["LDG"], plain["LDS"], plain["STS"], plain["BAR"]) == (9, 0, 0, 0)
        and (tiled["LDG"], tiled["LDS"], tiled["STS"], tiled["BAR"]) == (2, 9, 2, 1)
        and (plain["FADD"], plain["STG"]) == (tiled["FADD"], tiled["STG"]) == (9, 1)
    )


def loads(kernel, it):
    """How often each element is loaded."""
    run = emulate(kernel)[it.N // it.THREADS, it.THREADS](it.out, it.a)
    return run.reuse["a"].loads


@cuda.jit
def sized_by_argument(out, cells):
    tile = cuda.shared.array(cells, float32)
    tile[cuda.threadIdx.x] = out[cuda.threadIdx.x]


@cuda.jit
def declared_too_large(out):
    tile = cuda.shared.array(12_289, float32)
    tile[cuda.threadIdx.x] = out[cuda.threadIdx.x]


def static_beyond_is_refused(it):
    """Does the emulator refuse 48 KB and 4 bytes of static arrays?"""
    with pytest.raises(ValueError, match="declares 49,156 bytes of shared arrays"):
        emulate(declared_too_large)[1, 32](it.out)
    return True


def late_shape_is_refused(it):
    """Is an argument no shape?"""
    with pytest.raises(TypeError, match="must be a number known when"):
        emulate(sized_by_argument)[1, 32](it.out, 32)
    return True


def race_of_columns(it):
    """The race that the emulator reports first."""
    run = emulate(it.reverse_wrong)[it.N // it.THREADS, it.THREADS, 0, it.room](
        it.times, it.marks, it.all_times, it.all_marks
    )
    return run.races[0]


def unwritten_cells(it):
    """How many cells of the tile without the end of its halo are read unwritten."""
    run = emulate(it.add_window_wrong)[it.N // it.THREADS, it.THREADS](it.out, it.a)
    return run.uninitialised[0].count


def room_taken(it, size):
    """The share of a multiprocessor's room for warps that the blocks at once take."""
    warps = it.THREADS // 32 * it.blocks_at_once(size)
    return 32 * warps / it.gpu.MAX_THREADS_PER_MULTIPROCESSOR


CLAIMS = {
    "Nine times, apart from the ends of the array": lambda it: (
        set(loads(it.add_window, it)[4:-4]) == {9}
        and max(loads(it.add_window, it)[[0, 1, 2, 3, -4, -3, -2, -1]]) < 9
    ),
    "Thread 100 loads elements 96 to 104, thread 103 loads 99 to 107. Six": (
        lambda it: it.RADIUS == 4 and len({*range(96, 105)} & {*range(99, 108)}) == 6
    ),
    "Its shape must be known when the kernel is compiled": late_shape_is_refused,
    "Once, and twice around the edge of a block": lambda it: (
        set(loads(it.add_window_tiled, it)[4:252]) == {1}
        and set(loads(it.add_window_tiled, it)[252:260]) == {2}
    ),
    "32 lanes fill 32 cells, then 8 lanes the last 8": lambda it: (
        [*range(32), *range(8)]
        == [it.film.cells("tile", cell)[0][3] for cell in range(40)]
    ),
    "the copy has 14 machine instructions with `uint32` and 29 without": lambda it: (
        missing()
        or [14, 29]
        == [len(names(each, it.out, it.a)) for each in (it.copy, copy_signed)]
    ),
    # the tile: its kernel differs from the one without in the tile and instructions
    "The tile makes the kernel slower, by two thirds": lambda it: about(
        "0.67", it.tiled.median_us / it.direct.median_us - 1
    ),
    "Only what lies above the floor, a quarter of the time without a tile": lambda it: (
        about("0.25", loss(it.floor, it.direct) / it.direct.median_us)
    ),
    "with and without it, a warp fetches as many sectors from L2": lambda it: all(
        about("4.25", each(m, "l2_read_sectors")) for m in (it.direct, it.tiled)
    ),
    "L1 already served eight of nine loads": lambda it: (
        each(it.direct, "global_load_sectors") - each(it.direct, "l2_read_sectors")
        > 8 * 4
    ),
    "twice as many instructions. They take four fifths of the issue slots": (
        lambda it: (
            about(
                "2.0", each(it.tiled, "instructions") / each(it.direct, "instructions")
            )
            and about("0.8", it.tiled.counters["issue_percent"] / 100)
        )
    ),
    # control of the tile: the copy, with a barrier, with a tile
    "The barrier costs nothing here, and the tile a few percent": lambda it: (
        abs(loss(it.floor, it.waited)) < 0.005 * it.floor.median_us
        and 0.03 < loss(it.floor, it.passed) / it.floor.median_us < 0.09
        and alike(
            (it.floor, it.waited, it.passed), "global_load_sectors", "l2_write_sectors"
        )
        and each(it.waited, "instructions") == each(it.floor, "instructions") + 1
    ),
    "far less than the moving sum has lost": lambda it: (
        loss(it.floor, it.passed) < loss(it.direct, it.tiled) / 10
    ),
    "Each warp issues seven more instructions": lambda it: (
        each(it.passed, "instructions") - each(it.floor, "instructions") == 7
    ),
    "the load is still under way when a warp reaches the barrier; to store to the "
    "tile, a warp must have its number": lambda it: (
        missing()
        or (
            ["LDG", "BAR", "STG"] == order(it, it.copy_and_wait)
            and ["LDG", "STS", "BAR", "LDS", "STG"] == order(it, it.copy_through_tile)
            and it.waited.waits[BARRIER] < 0.05 < it.passed.waits[BARRIER]
        )
    ),
    # control of the instructions: the same pair without them
    "Only a fifth of those of `add_window` load or add": lambda it: (
        each(it.direct, "global_load_requests") == 9
        and about("0.2", 18 / each(it.direct, "instructions"))
    ),
    "These two kernels differ in the tile alone": lambda it: (
        missing() or differ_in_the_tile(it)
    ),
    "Was it the instructions? Yes. For nine uses, the tile now costs as little as in "
    "the copy, and not two thirds of the time": lambda it: (
        0 < loss(*it.padded_4) <= loss(it.floor, it.passed)
        and each(it.padded_4[1], "instructions") - each(it.padded_4[0], "instructions")
        < (each(it.tiled, "instructions") - each(it.direct, "instructions")) / 7
    ),
    "In the rows without tests, nothing for nine uses, and a tenth for 33": lambda it: (
        loss(*it.padded_4) > 0
        and about("0.1", -loss(*it.padded_16) / it.padded_16[0].median_us)
    ),
    "a warp makes 33, to L1 or to the tile": lambda it: (
        each(it.padded_16[0], "global_load_requests") == 33
        and each(it.padded_16[1], "shared_load_requests") == 33
    ),
    "In both it is busy for more than three quarters of the time": lambda it: (
        all(0.75 < m.counters["l1_data_percent"] / 100 < 0.8 for m in it.padded_16)
    ),
    "Removing instructions saved more than the tile did": lambda it: (
        all(
            loss(padded[0], tested[0]) > -loss(*padded)
            for tested, padded in (
                ((it.direct, it.tiled), it.padded_4),
                (it.tested_16, it.padded_16),
            )
        )
    ),
    "198 | 264 | 440": lambda it: told("198 264 440", it.floor, it.direct, it.tiled),
    "198 | 227 | 238": lambda it: told("198 227 238", it.floor, *it.padded_4),
    "198 | 459 | 410": lambda it: told("198 459 410", it.floor, *it.padded_16),
    # lines and columns: the walks
    "the next lane is one row further down and one column further right": lambda it: (
        all((33 * lane // 32, 33 * lane % 32) == (lane, lane) for lane in range(32))
    ),
    "start in 1, 9, 17 and 32 lines": lambda it: (
        [1, 9, 17, 32] == list(it.lines.values())
    ),
    "From L1 the walk takes longer for more lines; from the tile it does not": (
        lambda it: (
            sorted(it.APART, key=lambda k: it.cached[k].median_us) == list(it.APART)
            and all(about("55", it.shared[apart].median_us) for apart in it.APART)
        )
    ),
    "for 32 lines the tile is 5.5 times as fast": lambda it: about(
        "5.5", it.cached[33].median_us / it.shared[33].median_us
    ),
    "each lane needs a sector of its own, and L1 serves nearly all of them. So only "
    "the lines differ": lambda it: (
        alike(it.cached.values(), "instructions", "global_load_requests")
        and alike([it.cached[k] for k in (9, 17, 33)], "global_load_sectors")
        and it.cached[9].counters["global_load_sectors"]
        == 32 * it.cached[9].counters["global_load_requests"]
        and all(served_by_l1(m) > 0.99 for m in it.cached.values())
        and all(1 < passes(it.cached[k]) < 1.06 for k in it.APART)
    ),
    "with as many lines as 33": lambda it: (
        32 == np.unique(32 * np.arange(32) // 32).size == it.lines[33]
    ),
    "Now both kernels are slow, and equally so": lambda it: (
        abs(loss(it.cached[32], it.shared[32])) < 0.01 * it.cached[32].median_us
        and all(
            times[32].median_us > 3 * times[33].median_us
            and alike((times[32], times[33]), "instructions")
            for times in (it.cached, it.shared)
        )
    ),
    "a request keeps the data path busy for some 30 cycles instead of one": lambda it: (
        all(
            28 < passes(times[32]) < 32 and about("1", passes(times[33]))
            for times in (it.cached, it.shared)
        )
    ),
    "53, of one line | 302 | 55": lambda it: told(
        "53 302 55", it.cached[1], it.cached[33], it.shared[33]
    ),
    # rows and columns: the transposes
    "To store down a column is slowest: each request sends 32 sectors on to L2": (
        lambda it: (
            max(it.turns.values(), key=lambda m: m.median_us) is it.turns["stores down"]
            and about("32", each(it.turns["stores down"], "l2_write_sectors"))
            and about("4", each(it.turns["loads down"], "l2_write_sectors"))
            and about(
                "1.0", passes(it.turns["stores down"]) / passes(it.turns["loads down"])
            )
            and alike([it.turns["stores down"], it.turns["loads down"]], "instructions")
        )
    ),
    "L1 asks L2 for each sector once": lambda it: (
        about("32", each(it.turns["loads down"], "global_load_sectors"))
        and about("4", each(it.turns["loads down"], "l2_read_sectors"))
    ),
    "so the lanes of a request meet in one column of L1": lambda it: (
        it.square.shape[1] % 32 == 0
        and passes(it.turns["loads down"]) > 5 * passes(it.turns["a copy"])
    ),
    "In a tile of 32 columns they meet again": lambda it: (
        passes(it.turns["tile, 32 columns"]) > 5 * passes(it.turns["tile, 33 columns"])
    ),
    "makes them 33 apart, and this kernel is fastest": lambda it: (
        it.turns["tile, 33 columns"].median_us
        < 0.8 * min(m.median_us for k, m in it.turns.items() if k[-4:] == "down")
        and it.turns["tile, 33 columns"].median_us
        < 0.8 * it.turns["tile, 32 columns"].median_us
    ),
    "281 | 406 | 319": lambda it: told(
        "281 406 319",
        *(it.turns[k] for k in ("a copy", "loads down", "tile, 33 columns")),
    ),
    "the lanes need many lines, and few cells of one column": lambda it: (
        it.shared[33].median_us < it.cached[33].median_us / 2
        and it.shared[32].median_us > 0.95 * it.cached[32].median_us
        and it.shared[1].median_us > it.cached[1].median_us
    ),
    "each number is used very often (33 times here, and not 9)": lambda it: (
        loss(*it.padded_16) < 0 < loss(*it.padded_4)
    ),
    "CUDA's guide limits static arrays to 48 KB, and so does the emulator": lambda it: (
        it.gpu.MAX_SHARED_MEMORY_PER_BLOCK == 48 * 1024 < it.most
        and static_beyond_is_refused(it)
    ),
    "Here is a table of 128 KB": lambda it: it.larger.nbytes == 128 * 1024,
    "The same instructions move the same bytes": lambda it: alike(
        it.copies, "instructions", "global_load_sectors", "global_store_sectors"
    ),
    "with the most shared memory they take six times as long": lambda it: (
        about("6", it.copies[-1].median_us / it.copies[0].median_us)
        and it.ROOMS[-1] == it.most
    ),
    "a multiprocessor then holds one block instead of eight": lambda it: (
        [it.blocks_at_once(size) for size in (0, it.most)] == [8, 1]
        and all(
            0.6 < m.counters["occupancy_percent"] / 100 / room_taken(it, size) < 1
            for size, m in zip(it.ROOMS, it.copies, strict=True)
        )
    ),
    "and so fewer loads are in flight": lambda it: (
        in_flight(it.copies[-1]) < in_flight(it.copies[0]) / 5
    ),
    "thread 32 stores its mark into the same bytes as thread 16 its time": (
        lambda it: (
            race_of_columns(it).first_thread == "thread 16 of block 0"
            and race_of_columns(it).second_thread == "thread 32 of block 0"
        )
    ),
    "The last four cells of each of the 16 tiles": lambda it: (
        unwritten_cells(it) == 4 * 16 == 4 * it.N // it.THREADS
    ),
    "lanes that are 32 cells apart are slow, and a tile of 33 columns is faster than "
    "one of 32": lambda it: (
        min(it.cached[32].median_us, it.shared[32].median_us)
        > 3 * max(it.cached[33].median_us, it.shared[33].median_us)
        and it.turns["tile, 33 columns"].median_us
        < it.turns["tile, 32 columns"].median_us
    ),
    "that alone is longer than the whole kernel without a tile": lambda it: (
        it.tiled.counters["issue_percent"] / 100 * it.tiled.median_us
        > it.direct.median_us
    ),
    "the kernel is slower than without a tile": lambda it: (
        it.turns["tile, 32 columns"].median_us
        > min(m.median_us for k, m in it.turns.items() if k[-4:] == "down")
    ),
}
