"""What the lesson says of its measurements, and when it is true."""

import numpy as np
import pytest
from numba import cuda, float32, uint32

from helpers import assemble, emulate
from tests.lessons.claims import about
from thirty_two_lanes.assembly.compiler import missing

GLOBAL, BARRIER = "global or local memory", "a barrier"


def each(m, counter):
    """What a warp of a launch over 64 million elements did."""
    return 32 * m.counters[counter] / 2**26


def share_of_the_tests(it):
    """The share of a kernel's instructions that is for the array's ends, at 33 uses."""

    def instructions(guarded):
        @cuda.jit
        def add_window(out, a):
            i = uint32(cuda.grid(1))
            total = float32(0)
            for k in range(33):
                at = uint32(i + uint32(k) - uint32(16))
                if not guarded or at < a.size:
                    total += a[at]
            if i < out.size:
                out[i] = total

        return len(assemble(add_window)[16, 256](it.out, it.a).instructions)

    return 1 - instructions(False) / instructions(True)


def alike(measurements, *counters):
    """Do the counters of these launches agree?"""
    return all(len({m.counters[it] for m in measurements}) == 1 for it in counters)


def served_by_l1(m):
    """The share of the sectors that a kernel loads which L2 is not asked for."""
    return 1 - m.counters["l2_read_sectors"] / m.counters["global_load_sectors"]


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
    "nine times, apart from the ends of the array": lambda it: (
        set(loads(it.add_window, it)[4:-4]) == {9}
        and max(loads(it.add_window, it)[[0, 1, 2, 3, -4, -3, -2, -1]]) < 9
    ),
    "thread 100 loads elements 96 to 104, thread 103 loads 99 to 107, and six": (
        lambda it: it.RADIUS == 4 and len({*range(96, 105)} & {*range(99, 108)}) == 6
    ),
    "Its shape must be known when the kernel is compiled": late_shape_is_refused,
    "Once, and twice around the edge of a block": lambda it: (
        set(loads(it.add_window_tiled, it)[4:252]) == {1}
        and set(loads(it.add_window_tiled, it)[252:260]) == {2}
    ),
    "a warp makes 1.1 global loads instead of 9": lambda it: (
        about("1.1", each(it.tiled, "global_load_requests"))
        and each(it.direct, "global_load_requests") == 9
    ),
    "the kernel is slower: 441 µs instead of 267": lambda it: (
        about("441", it.tiled.median_us) and about("267", it.direct.median_us)
    ),
    "With it and without it, a warp fetches 4.25 sectors from L2": lambda it: all(
        about("4.25", each(m, "l2_read_sectors")) for m in (it.direct, it.tiled)
    ),
    "L1 served the other eight loads": lambda it: (
        each(it.direct, "global_load_sectors") - each(it.direct, "l2_read_sectors")
        > 8 * 4
    ),
    "178 a warp instead of 90, which take 82% of the issue slots": lambda it: (
        about("178", each(it.tiled, "instructions"))
        and about("90", each(it.direct, "instructions"))
        and about("82", it.tiled.counters["issue_percent"])
    ),
    "The instructions were most of the reason: with 54 a warp instead of 178, the "
    "tiled kernel takes 278 µs": lambda it: (
        about("54", each(it.narrow[1], "instructions"))
        and about("278", it.narrow[1].median_us)
        and it.narrow[1].median_us - it.narrow[0].median_us
        < (it.tiled.median_us - it.direct.median_us) / 2
    ),
    "the kernel without a tile takes 266, with 90 as before": lambda it: (
        about("90", each(it.narrow[0], "instructions"))
        and alike((it.direct, it.narrow[0]), "instructions")
        and about("266", it.narrow[0].median_us)
    ),
    "The tile still loses: its warps also wait for the barrier, 24% of all their "
    "waiting": (
        lambda it: (
            about("24%", it.narrow[1].waits[BARRIER])
            and BARRIER not in it.narrow[0].waits
            and list(it.narrow[0].waits)[0] == list(it.narrow[1].waits)[0] == GLOBAL
            and not any(
                share > it.narrow[0].waits.get(reason, 0) + 0.02
                for reason, share in it.narrow[1].waits.items()
                if reason != BARRIER
            )
        )
    ),
    "With 16 neighbours on each side, the tile wins: 408 µs against 689": lambda it: (
        about("408", it.wider[1].median_us) and about("689", it.wider[0].median_us)
    ),
    "both fetch 4.5 sectors a warp from L2": lambda it: all(
        about("4.5", each(m, "l2_read_sectors")) for m in it.wider
    ),
    "What the tile saves now are instructions, 102 against 288, which took 85% of the "
    "issue slots": lambda it: (
        about("102", each(it.wider[1], "instructions"))
        and about("288", each(it.wider[0], "instructions"))
        and about("85", it.wider[0].counters["issue_percent"])
    ),
    "Nearly half of the 288 are for these tests": lambda it: (
        missing() or 0.45 < share_of_the_tests(it) < 0.5
    ),
    "Each lane is in another row, and in another column": lambda it: (
        len({33 * lane // 32 for lane in range(32)}) == 32
        and len({33 * lane % 32 for lane in range(32)}) == 32
    ),
    "start in 1, 9, 17 and 32 lines": lambda it: (
        [1, 9, 17, 32] == list(it.lines.values())
    ),
    "303 µs for 32 lines, and 53 for one": lambda it: (
        about("303", it.cached[33].median_us) and about("53", it.cached[1].median_us)
    ),
    "The instructions are the same, and L1 serves more than 99% of the sectors": (
        lambda it: (
            alike(it.cached.values(), "instructions", "global_load_requests")
            and all(served_by_l1(m) > 0.99 for m in it.cached.values())
        )
    ),
    "requests for more lines take it longer": lambda it: (
        sorted(it.APART, key=lambda k: it.cached[k].median_us) == list(it.APART)
    ),
    "The tile takes 55 µs over each of these four distances": lambda it: all(
        about("55", it.shared[apart].median_us) for apart in it.APART
    ),
    "All four distances are odd": lambda it: all(apart % 2 for apart in it.APART),
    "Lanes that are 32 cells apart also start in 32 lines": lambda it: (
        32 == np.unique(32 * np.arange(32) // 32).size == it.lines[33]
    ),
    "Here both kernels are slow, with as many lines and the same instructions": (
        lambda it: all(
            times[32].median_us > 3 * times[33].median_us
            and alike((times[32], times[33]), "instructions")
            for times in (it.cached, it.shared)
        )
    ),
    "each cell is used so often that the instructions saved are worth the barrier: "
    "33 times here, 9 times not": lambda it: (
        it.wider[1].median_us < it.wider[0].median_us
        and it.narrow[1].median_us > it.narrow[0].median_us
        and each(it.narrow[1], "instructions") < each(it.narrow[0], "instructions")
    ),
    "lanes look up words in many lines, and in different banks": lambda it: (
        it.shared[33].median_us < it.cached[33].median_us / 2
        and it.shared[32].median_us > 0.95 * it.cached[32].median_us
    ),
    "lanes cannot be neighbours both when they load and when they store": lambda it: (
        it.turns[3].median_us < 0.9 * min(m.median_us for m in it.turns[:2])
    ),
    "it is 5.5 times as fast for 32 lines, and no faster for one": lambda it: (
        about("5.5", it.cached[33].median_us / it.shared[33].median_us)
        and it.shared[1].median_us > it.cached[1].median_us
    ),
    "Storing down a column is slowest, 973 µs: stores go on to L2, 32 sectors a warp": (
        lambda it: (
            about("973", it.turns[0].median_us)
            and max(it.turns, key=lambda m: m.median_us) is it.turns[0]
            and about("32", each(it.turns[0], "l2_write_sectors"))
        )
    ),
    "stores go on to L2": lambda it: all(
        about("1.0", each(m, "l2_write_sectors") / each(m, "global_store_sectors"))
        for m in it.turns
    ),
    "Loading down a column takes 411 µs: L1 keeps the lines": lambda it: (
        about("411", it.turns[1].median_us)
        and about("32", each(it.turns[1], "global_load_sectors"))
        and about("4", each(it.turns[1], "l2_read_sectors"))
    ),
    "takes 531 µs; with one more column, which nobody uses, 323": lambda it: (
        about("531", it.turns[2].median_us) and about("323", it.turns[3].median_us)
    ),
    "CUDA's guide limits static arrays to 48 KB, and so does the emulator": lambda it: (
        it.gpu.MAX_SHARED_MEMORY_PER_BLOCK == 48 * 1024 < it.most
        and static_beyond_is_refused(it)
    ),
    "Here is a table of 128 KB": lambda it: it.larger.nbytes == 128 * 1024,
    "The same instructions move the same bytes": lambda it: alike(
        it.copies, "instructions", "global_load_sectors", "global_store_sectors"
    ),
    "A multiprocessor has room for eight of these blocks without shared memory, for "
    "four with 48 KB each and for one with 227 KB": lambda it: (
        [it.blocks_at_once(size) for size in (0, 48 * 1024, it.most)] == [8, 4, 1]
        and it.most == 227 * 1024
        and all(
            0.6 < m.counters["occupancy_percent"] / 100 / room_taken(it, size) < 1
            for size, m in zip(it.ROOMS, it.copies, strict=True)
        )
    ),
    "With eight blocks at once, their warps take on average 71% of the places for "
    "warps, as blocks end and start; with one, 12%": lambda it: (
        about("12", it.copies[-1].counters["occupancy_percent"])
        and about("71", it.copies[0].counters["occupancy_percent"])
    ),
    "the copy takes 5.9 times as long": lambda it: (
        about("5.9", it.copies[-1].median_us / it.copies[0].median_us)
        and it.ROOMS[-1] == it.most
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
    "lanes that are 32 cells apart are slow from L1 and from the tile, and a tile of "
    "33 columns is faster than one of 32": lambda it: (
        min(it.cached[32].median_us, it.shared[32].median_us)
        > 3 * max(it.cached[33].median_us, it.shared[33].median_us)
        and it.turns[3].median_us < 0.9 * it.turns[2].median_us
    ),
    "In the film 32 lanes fill 32 cells, then 8 lanes the last 8": lambda it: (
        [*range(32), *range(8)]
        == [it.film.cells("tile", cell)[0][3] for cell in range(40)]
    ),
}
