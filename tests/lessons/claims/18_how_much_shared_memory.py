"""What the lesson says of its measurements, and when it is true."""

import math

import numpy as np
import pytest
from numba import cuda, float32, float64, uint32

from helpers import emulate
from tests.lessons.claims import about
from tests.lessons.counted import near, recorded

KB = 1024


@cuda.jit
def declared_too_large(out):
    tile = cuda.shared.array(12_289, float32)
    tile[cuda.threadIdx.x] = out[cuda.threadIdx.x]


def static_beyond_is_refused(it):
    """Does the emulator refuse 48 KB and 4 bytes of static arrays?"""
    with pytest.raises(ValueError, match="declares 49,156 bytes of shared arrays"):
        emulate(declared_too_large)[1, 32](it.out)
    return True


def share(one, other):
    """The share of another launch's time that a launch takes."""
    return one.median_us / other.median_us


def of_one_block(it):
    """The copies by one block at a time with four times as much in flight."""
    return it.alone, it.fours


def alike(measurements, *counters):
    """Do the counters of these launches agree?"""
    return all(len({m.counters[it] for m in measurements}) == 1 for it in counters)


def step_to_memory():
    """What a step of the walk through 64 MB takes: as the lesson on memories has it."""
    entries = recorded("times")["runs"]["11_memory_hierarchy"]["measurements"]
    once, twice = (
        next(
            it["median_us"]
            for it in entries
            if it["arguments"] == ["uint32[1]", "uint32[16777216]", f"int64 {steps}"]
        )
        for steps in (2**19, 2**20)
    )
    return 1000 * (twice - once) / 2**19


def under_load(m):
    """The nanoseconds for which a warp of the copy waits for its load."""
    waiting = m.counters["stalls"]["long_scoreboard"] * m.counters["instructions"]
    return waiting / (2**26 / 32) / (m.counters["cycles"] / (1000 * m.median_us))


def lines(apart):
    """The lines of a request of lanes so many cells apart, on average."""
    starts = np.arange(32)[:, None] + apart * np.arange(32)
    return np.mean([len(set(row // 32)) for row in starts])


def between_loads(it):
    """After how many nanoseconds a multiprocessor gets a warp's next 128 bytes."""
    return 128 * it.gpu.MULTIPROCESSOR_COUNT / it.half


@cuda.jit
def reverse_wrong(times, marks, all_times, all_marks):
    count = cuda.blockDim.x
    time = cuda.shared.array(0, float64)
    mark = cuda.shared.array(0, uint32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    time[thread] = all_times[i]
    mark[thread] = all_marks[i]
    cuda.syncthreads()
    times[i] = time[count - 1 - thread]
    marks[i] = mark[count - 1 - thread]


def without_slices(it):
    """The run of the kernel on two columns whose tiles share their bytes."""
    times, marks = np.zeros_like(it.times), np.zeros_like(it.marks)
    return emulate(reverse_wrong)[it.N // it.THREADS, it.THREADS, 0, it.room](
        times, marks, it.all_times, it.all_marks
    )


def places_taken(it, size):
    """The blocks that small ones had at a time, by the warps that the GPU counted."""
    return of_tile(it, 256)[size].counters["occupancy_percent"] / 12.5


def lost(it, threads):
    """The microseconds lost to the room alone, and to room and table together."""
    least, roomy = (it.rooms[threads, room].median_us for room in (16, 227))
    return roomy - least, of_tile(it, threads)[224 * KB].median_us - least


def of_tile(it, threads):
    """The look-ups from tiles in blocks of so many threads, by the table's bytes."""
    return it.looked[f"tile, {threads:,} threads"]


def told(words, *measurements):
    """Are these the microseconds of the launches?"""
    said = [int(each.replace(",", "")) for each in words.split()]
    return said == [round(m.median_us) for m in measurements]


CLAIMS = {
    "up to 227 KB, the most that a block can have": lambda it: it.most == 227 * KB,
    "The copy executes the same instructions and moves the same bytes": lambda it: (
        alike(
            it.copies.values(),
            *("instructions", "global_load_sectors", "global_store_sectors"),
        )
    ),
    "With the most shared memory it takes nearly six times as long": lambda it: (
        5.7 < share(it.copies[it.most], it.copies[0]) < 6
    ),
    "With its 1 KB a block takes 49 of 228 KB: four fit, and 32 KB stay empty": (
        lambda it: (
            it.gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR == 228 * KB
            and it.held[48 * KB] == 4
            and 228 - 4 * 49 == 32
        )
    ),
    "2,048 are eight blocks of 256": lambda it: (
        it.gpu.MAX_THREADS_PER_MULTIPROCESSOR == 2048 and it.held[0] == 8
    ),
    "one block of 8 warps is left where there is room for 64: an eighth": lambda it: (
        it.held[it.most] == 1 and 8 * it.held[0] == 64
    ),
    "4 bytes in flight": lambda it: it.a.itemsize == 4,
    "with half the blocks the copy has little more than half the rate": lambda it: all(
        0.5 < share(it.copies[more], it.copies[less]) < 0.58
        for more, less in ((0, 48 * KB), (48 * KB, 96 * KB), (96 * KB, it.most))
    ),
    "Right of the dashed line eight blocks still beat six": lambda it: (
        share(it.copies[0], it.copies[32 * KB]) < 0.85
    ),
    # control of the bytes: one block, as large a tile, and more warps or more of each
    "Both take about a third of the time of one small block, with the same tile: "
    "18 and 10% more than four blocks take, which have as much in flight": lambda it: (
        all(near(share(m, it.copies[it.most]), 1 / 3, 0.08) for m in of_one_block(it))
        and [110, 118]
        == sorted(round(100 * share(m, it.copies[48 * KB])) for m in of_one_block(it))
    ),
    "What it lacked may be bytes in flight, for both have four times as many": (
        lambda it: it.copies[it.most].waits["global or local memory"] > 0.8
    ),
    "both start a quarter as many blocks, one after another": lambda it: (
        it.alone.blocks == it.copies[it.most].blocks // 4
        and it.fours.blocks == it.copies[it.most].blocks // 4
        and it.blocks_at_once(1024, it.most) == it.held[it.most] == 1
    ),
    # control of the starts: blocks that stay; of the bytes: as many starts, four times
    # as many bytes
    "All three are faster than blocks in turn, by 28 to 40%": lambda it: all(
        0.275 < 1 - share(stays, it.rows[1, *key]) < 0.405
        and stays.blocks == it.gpu.MULTIPROCESSOR_COUNT
        for key, stays in it.stay.items()
    ),
    "four times as many bytes in flight are about three times as fast, whether more "
    "warps have them or each thread more": lambda it: all(
        near(share(it.stay[256, 1], it.stay[key]), 3, 0.08)
        for key in ((1024, 1), (256, 4))
    ),
    "L1 is as small in all three launches of one block. And `copy_fours` executes a "
    "quarter of the instructions, but the large block executes them all": lambda it: (
        alike([it.alone, it.copies[it.most]], "instructions")
        and near(
            it.fours.counters["instructions"] / it.alone.counters["instructions"],
            1 / 4,
            0.1,
        )
        and 1 < share(it.alone, it.fours) < 1.1
    ),
    "With 33, no two lanes meet in a line, and no two in a bank": (
        lambda it: (
            len({33 * lane // 32 for lane in range(32)}) == 32
            and len({33 * lane % 32 for lane in range(32)}) == 32
        )
    ),
    "A block gets more than 48 KB only if its kernel asks for it, and only as dynamic "
    "memory": lambda it: (
        it.gpu.MAX_SHARED_MEMORY_PER_BLOCK == 48 * KB and static_beyond_is_refused(it)
    ),
    "as many threads as the GPU can hold make 8,192 look-ups each": lambda it: (
        it.found.size == 132 * 2048 and it.LOOKS == 8192
    ),
    "for every table, from L1 the look-ups take eight times as long as from a tile in "
    "large blocks": lambda it: all(
        near(m.median_us, it.looked["from L1"][16 * KB].median_us)
        and 7.8 < share(m, of_tile(it, 1024)[size]) < 8.7
        for size, m in it.looked["from L1"].items()
    ),
    "Large blocks lose hardly anything when only one of them fits": lambda it: (
        [it.blocks_at_once(1024, size * KB) for size in (96, 128)] == [2, 1]
        and 1 < share(of_tile(it, 1024)[128 * KB], of_tile(it, 1024)[96 * KB]) < 1.05
    ),
    "Small blocks lose with every block that is displaced, and are in the end nearly "
    "four times as slow": lambda it: (
        [it.blocks_at_once(256, size) for size in it.SIZES] == [8, 3, 2, 1, 1, 1]
        and all(
            near(places_taken(it, size), it.blocks_at_once(256, size), 0.02)
            for size in it.SIZES
            if size != 64 * KB  # of eight blocks, three at a time, the last are two
        )
        and sorted(it.SIZES, key=lambda size: of_tile(it, 256)[size].median_us)
        == it.SIZES
        and 3.6 < share(of_tile(it, 256)[224 * KB], of_tile(it, 1024)[224 * KB]) < 4
    ),
    # control of the room: the same table, the same kernel, more room
    "with the small table, too, they take more than three times as long. Large blocks "
    "lose little either way": lambda it: (
        share(it.rooms[256, 227], it.rooms[256, 16]) > 3
        and lost(it, 256)[0] > 0.8 * lost(it, 256)[1]
        and lost(it, 1024)[0] < 0.4 * lost(it, 1024)[1]
        and lost(it, 1024)[1] < 0.1 * it.rooms[1024, 16].median_us
    ),
    "To lose half of the warps costs these look-ups 3%": lambda it: about(
        "1.03", share(it.rooms[1024, 227], it.rooms[1024, 16])
    ),
    "and it cost the copy 80%": lambda it: (
        about("80%", share(it.copies[48 * KB], it.copies[0]) - 1)
    ),
    "With one block of 8 warps at a time, the data path is mostly idle": lambda it: (
        it.rooms[256, 227].counters["l1_data_percent"] < 30
    ),
    "With 64 warps the path is busy all the time": lambda it: (
        it.rooms[1024, 16].counters["l1_data_percent"] > 97
    ),
    "A multiprocessor runs its eight blocks one after another": lambda it: (
        it.turns == it.gpu.MAX_THREADS_PER_MULTIPROCESSOR // 256 == 8
        and it.warps == it.gpu.MAX_THREADS_PER_MULTIPROCESSOR // 32
        and it.blocks_at_once(256, it.most) == 1
    ),
    "29 look-ups keep the data path busy, and a block of 1,024 threads has one in each "
    "of its 32 warps: half of the warps are enough": lambda it: (
        about("29", it.latency / it.follows)
        and it.rooms[1024, 227].counters["l1_data_percent"] > 95
    ),
    "A load takes 350 ns": lambda it: near(step_to_memory(), it.LATENCY),
    "Of the copy's loads, the law asks for 43 at least, and more, since under load "
    "each takes longer": lambda it: (
        near(it.arrives, between_loads(it))
        and about("43", it.LATENCY / it.arrives)
        and under_load(it.copies[0]) > under_load(it.copies[it.most])
    ),
    # control of the lines: the same look-ups, the lanes side by side
    "At 9 cells the lanes need as many sectors as at 33, but less than a third of the "
    "lines, and L1 takes little more than a third of the time": lambda it: (
        lines(9) / lines(33) < 1 / 3
        and 1 / 3 < share(it.lined[9, "L1"], it.lined[33, "L1"]) < 0.38
        and all(
            near(of["global_load_sectors"] / of["global_load_requests"], 32)
            for of in (it.lined[apart, "L1"].counters for apart in (9, 33))
        )
        and alike([it.lined[apart, "L1"] for apart in (9, 33)], "instructions")
    ),
    "A tile has no lines to find, and takes as long as ever": lambda it: all(
        near(share(it.lined[apart, "a tile"], it.lined[33, "a tile"]), 1)
        for apart in (9, 1)
    ),
    "a tile gains the more, the more lines a warp looks up at a time. Side by side, it "
    "still saves more than a quarter": lambda it: (
        share(it.lined[33, "L1"], it.lined[33, "a tile"])
        > share(it.lined[9, "L1"], it.lined[9, "a tile"])
        > share(it.lined[1, "L1"], it.lined[1, "a tile"])
        > 4 / 3
    ),
    "and not the data path, which was mostly idle": lambda it: (
        it.lined[33, "L1"].counters["l1_data_percent"] < 15
        and it.lined[33, "L1"].counters["l2_read_sectors"]
        < 0.001 * it.lined[33, "L1"].counters["global_load_sectors"]
    ),
    "the arrays share their bytes. Numba compiles it, a GPU runs it without an error, "
    "and `emulate` reports a race": lambda it: len(without_slices(it).races) > 0,
    "70% in the copy that can fill all": lambda it: about(
        "70", it.copies[0].counters["occupancy_percent"]
    ),
    "8 | 64 | 202": lambda it: told("202", it.copies[0]),
    "1 | 8 | 1,202": lambda it: told("1,202", it.copies[it.most]),
    "1 | 32 | 429": lambda it: told("429", it.alone),
    "1 | 8 | 400": lambda it: told("400", it.fours),
    "2 | 64 | 2,330": lambda it: told("2,330", it.looked["from L1"][128 * KB]),
    "1 | 8 | 1,037": lambda it: told("1,037", of_tile(it, 256)[128 * KB]),
    "1 | 32 | 287": lambda it: told("287", of_tile(it, 1024)[128 * KB]),
    '"blocks": 2, "threads": 512, "bytes": 102400, "each": 4': lambda it: (
        it.blocks_at_once(512, 100 * KB) == it.blocks_at_once(128, 100 * KB) == 2
        and 2 * 512 // 32 == 32 == 4 * 2 * 128 // 32
    ),
    "so three fit in either case: 24 warps, or 48": lambda it: (
        [it.blocks_at_once(threads, 60 * KB) for threads in (256, 512)] == [3, 3]
        and near(places_taken(it, 64 * KB), 8 / 3, 0.02)  # as in 64 KB: 3, 3 and 2
        and math.ceil(256 / 32) * 3 == 24
    ),
}
