"""What the lesson says of its measurements, and when it is true."""

from functools import cache

import numpy as np
from numba import cuda, uint32

from helpers import assemble, emulate
from tests.lessons.claims import about
from thirty_two_lanes.core.hardware import gpu_named

KB, MB, GB = 2**10, 2**20, 2**30
SMALL, MIDDLE = (16 * KB, 64 * KB), (MB, 4 * MB, 16 * MB)
UNITS = "issue", "l1_data", "l2", "memory"
WAITS_FOR_MEMORY = "global or local memory"
WAITS_FOR_ROOM = "room in the queue to global memory"


def ns(it, size):
    """The time of a warm step."""
    return it.warm[size][0]


def from_l2(it, size):
    """The bytes that a warm step requests from L2."""
    return it.warm[size][1]


def from_memory(it, size):
    """The bytes that memory delivers for a warm step."""
    return it.warm[size][2]


def ns_of_the_rest(it):
    """How long a step to L2 takes at 40 MB, if one to memory takes as at 64 MB."""
    far = from_memory(it, 40 * MB) / from_memory(it, 64 * MB)
    return (ns(it, 40 * MB) - far * ns(it, 64 * MB)) / (1 - far)


def read_by_a_multiprocessor(it, size):
    """The most bytes of an array that the two blocks of a multiprocessor read."""
    each, grid = 16 * KB, 2 * it.gpu.MULTIPROCESSOR_COUNT
    return 2 * each * len({grid * step % (size // each) for step in range(1024)})


def code_of(made, line_of):
    """The opcodes of the line with the most of this one."""
    return max(made.by_line.values(), key=lambda names: names[line_of])


def solution(it):
    """The instructions of the solution of `cubic`, and with a length of run time."""
    return cubic(tuple(it.WEIGHTS))


@cache
def cubic(numbers):
    """Likewise, for such weights."""
    weights = np.array(numbers, np.float32)

    @cuda.jit
    def fixed(out, points):
        constant = cuda.const.array_like(weights)
        value = constant[0]
        for k in range(1, 4):
            value = value * points[0] + constant[k]
        out[0] = value

    @cuda.jit
    def late(out, points, terms):
        constant = cuda.const.array_like(weights)
        value = constant[0]
        for k in range(1, terms):
            value = value * points[0] + constant[k]
        out[0] = value

    arrays = np.zeros(1, np.float32), np.zeros(1, np.float32)
    kernels = assemble(fixed)[1, 1](*arrays), assemble(late)[1, 1](*arrays, 4)
    return ["\n".join(map(str, made.instructions)) for made in kernels]


def share(it, size, level):
    """The share of what the threads loaded that a level was asked for."""
    asked = it.reads[size].traffic
    return asked[level] / asked["L1"]


def step_ns(it, place, cells):
    """The time of a step of the lanes' walk."""
    return 1000 * it.walks[place, cells] / it.STEPS


def further_cell_ns(it, fewer, more):
    """What each further cell adds to a step in constant memory."""
    slower = step_ns(it, "constant", more) - step_ns(it, "constant", fewer)
    return slower / (more - fewer)


def loop_sectors(run):
    """Sectors a request of local memory, in the line that counts a throw."""
    lines = run.local_memory.by_line.values()
    busiest = max(lines, key=lambda counts: counts.requests)
    return busiest.sectors / busiest.requests


def measured_sectors(m):
    """The same by the GPU's counter: each warp loads once at each of 4,096 throws."""
    warps = m.blocks * 1024 // 32
    return m.counters["local_load_sectors"] / (4096 * warps)


def die(it):
    """What became of the two kernels that count."""
    return it.by_index, it.by_name


def uses_local(made):
    """Does a kernel load from local memory, and store to it?"""
    return [any(name.startswith(op) for name in made.opcodes) for op in ("LDL", "STL")]


def taken(it):
    """Registers, warps and bytes spilled of the free and of the limited kernel."""
    return [
        (made.registers, made.occupancy.warps, made.spill_stores) for made in it.thrown
    ]


def free(it, blocks):
    """The measurement of the free kernel with one block each (0) or two (1)."""
    return list(it.thrown.values())[0][blocks]


def limited(it, blocks):
    """The same of the kernel that is limited to 32 registers."""
    return list(it.thrown.values())[1][blocks]


def uninitialised(kernel, it):
    """Does this kernel read all its 32 cells from where nobody wrote?"""
    (found,) = emulate(kernel)[1, 32](it.swapped, it.a).uninitialised
    return "reads 32 cells of local `held`" in str(found)


def count_of_a_walk(it):
    """Requests and sectors of 300 steps and a store."""
    counts = emulate(it.walk)[1, 1](it.end, it.short, 300).coalescing
    return counts.requests, counts.sectors


@cache
def four_faces():
    """What becomes of the counts by index if the die has four faces."""

    @cuda.jit
    def count(counts, seeds, throws):
        mine = cuda.local.array(4, uint32)
        for face in range(4):
            mine[face] = 0
        seed = seeds[cuda.grid(1)]
        for _ in range(throws):
            seed = uint32(1664525 * seed + 1013904223)
            mine[seed >> 30] += 1
        for face in range(4):
            counts[face, cuda.grid(1)] = mine[face]

    counts, seeds = np.zeros((4, 128), np.uint32), np.zeros(128, np.uint32)
    return assemble(count)[1, 128](counts, seeds, 64)


def a_step_in_code(it):
    """Loads, and integer instructions, in the line of a walk's step."""
    made = assemble(it.walk)[1, 1](it.end, it.short, 300)
    step = max(made.by_line.values(), key=lambda line: line["LDG"])
    return step["LDG"], step["IMAD"]


def close(value, other, by=0.01):
    """Are these equal to within a hundredth?"""
    return abs(value / other - 1) < by


CLAIMS = {
    "each step take more than fifteen times as long": lambda it: (
        it.far.median_us > 15 * it.near.median_us
    ),
    "takes 17 times as long": lambda it: about(
        "17", it.far.median_us / it.near.median_us
    ),
    "is one request for one sector": lambda it: (
        it.far.counters["global_load_requests"] == 2**19
        and it.far.counters["global_load_sectors"] == 2**19
        and (301, 301) == count_of_a_walk(it)
    ),
    "Both walks run the same instructions equally often": lambda it: close(
        it.far.counters["instructions"], it.near.counters["instructions"], 0.001
    ),
    "a step is one load and the one instruction that computes its address": lambda it: (
        len(set(a_step_in_code(it))) == 1
    ),
    "In the first round, every line comes from memory": lambda it: (
        it.far.counters["memory_read_bytes"] >= 32 * 2**19
    ),
    "20 ns up to 64 KB": lambda it: all(about("20", ns(it, size)) for size in SMALL),
    "145 ns from 1 MB to 16 MB": lambda it: all(
        about("145", ns(it, size)) for size in MIDDLE
    ),
    "349 ns at 64 MB": lambda it: about("349", ns(it, 64 * MB)),
    "A step requests 32 bytes from L1": lambda it: all(
        m.counters["global_load_sectors"] == 2**19 for m in (it.near, it.far)
    ),
    "In 16 KB and 64 KB, L1 answers each step": lambda it: all(
        from_l2(it, size) < 0.01 * 32 for size in SMALL
    ),
    "from 1 MB to 16 MB, L2 does": lambda it: all(
        about("32", from_l2(it, size)) and from_memory(it, size) < 0.01 * 32
        for size in MIDDLE
    ),
    "In 64 MB, memory does, with 63 bytes: two sectors for the one requested": (
        lambda it: (
            about("63", from_memory(it, 64 * MB)) and about("32", from_l2(it, 64 * MB))
        )
    ),
    "A chain of 256 KB is served by both caches": lambda it: (
        0.2 * 32 < from_l2(it, 256 * KB) < 0.8 * 32
    ),
    "at 40 MB, memory delivers half as many bytes as at 64 MB": lambda it: (
        0.45 < from_memory(it, 40 * MB) / from_memory(it, 64 * MB) < 0.55
    ),
    "L2 has 60 MB, but chains begin to miss it earlier": lambda it: (
        60 * MB == it.gpu.L2_CACHE_SIZE
        and from_memory(it, 40 * MB) > 8
        and from_memory(it, 16 * MB) < 1
    ),
    "must take about 185 ns, not 145, if a step to memory takes 349": lambda it: (
        about("185", ns_of_the_rest(it)) and about("32", from_l2(it, 40 * MB))
    ),
    "L2 (96% of the rate at 16 MB)": lambda it: about(
        "96%", it.rates["L2"] / it.reads[16 * MB].gb_per_s
    ),
    "L1 delivers more here than in the walk, even at 256 KB, since a multiprocessor "
    "reads only a part of the array: at most 64 KB of the 256": lambda it: (
        read_by_a_multiprocessor(it, 256 * KB) == 64 * KB
        and share(it, 256 * KB, "L2") < 0.01
        and from_l2(it, 64 * KB) < 0.01 * 32 < 0.2 * 32 < from_l2(it, 256 * KB)
    ),
    "31,000 GB/s from L1, 8,600 from L2": lambda it: (
        round(it.rates["L1"], -3) == 31000 and round(it.rates["L2"], -2) == 8600
    ),
    "4,600 from memory": lambda it: round(it.rates["memory"], -2) == 4600,
    "whose data sheet says 4,800": lambda it: (
        it.rates["memory"] < 4800 == gpu_named(it.reads[GB].gpu).peak_gb_per_s
    ),
    "Where one colour fills nearly all of a bar, the rate is that level's": lambda it: (
        share(it, 16 * KB, "L2") < 0.01
        and share(it, 16 * MB, "L2") > 0.95
        and share(it, 16 * MB, "memory") < 0.01
        and share(it, GB, "memory") > 0.98
    ),
    "At 64 MB, two levels deliver together": lambda it: (
        0.2 < share(it, 64 * MB, "memory") < 0.8 and it.reads[64 * MB].gb_per_s > 4800
    ),
    "Shared memory delivers as much as L1": lambda it: close(
        it.from_tile.gb_per_s, it.rates["L1"]
    ),
    "the data path of both is more than 94% busy": lambda it: all(
        m.counters["l1_data_percent"] > 94 for m in (it.from_tile, it.reads[16 * KB])
    ),
    "at least 349 ns × 4,600 GB/s = 1.6 MB": lambda it: about(
        "1.6", ns(it, 64 * MB) * it.rates["memory"] / 1e6
    ),
    "6 bytes for each of the 270,336 threads": lambda it: (
        about("6", ns(it, 64 * MB) * it.rates["memory"] / 270336)
        and it.totals.size == 270336
    ),
    "Each further cell adds 5.5 to 5.6 ns to a step": lambda it: all(
        5.5 <= round(further_cell_ns(it, few, 2 * few), 1) <= 5.6
        for few in it.DISTINCT[:-1]
    ),
    "shared memory is fastest, 14.7 ns a step; constant memory takes 17.3 ns, and L1 "
    "20.6": lambda it: (
        about("14.7", step_ns(it, "shared", 1))
        and about("17.3", step_ns(it, "constant", 1))
        and about("20.6", step_ns(it, "global", 1))
    ),
    "32 cells side by side take as long as one": lambda it: all(
        close(step_ns(it, place, 32), step_ns(it, place, 1))
        for place in ("shared", "global")
    ),
    "in global memory (here: L1)": lambda it: close(
        step_ns(it, "global", 1), ns(it, 16 * KB), 0.1
    ),
    "take 28 registers, and a multiprocessor holds 64 warps of either": lambda it: (
        [(28, 64)] * 2 == [(made.registers, made.occupancy.warps) for made in die(it)]
    ),
    "has 32 bytes of local memory a thread, with loads and stores for it, and "
    "`count_by_name` has none": lambda it: (
        [(32, True, True), (0, False, False)]
        == [(made.stack, *uses_local(made)) for made in die(it)]
    ),
    "has 116 instructions more, 95 of them in the line that compares": lambda it: (
        116 == len(it.by_name.instructions) - len(it.by_index.instructions)
        and 95
        == code_of(it.by_name, "ISETP").total() - code_of(it.by_index, "LDL").total()
    ),
    "although it executes 2.7 times as many instructions": lambda it: about(
        "2.7",
        it.named.counters["instructions"] / it.indexed.counters["instructions"],
    ),
    "`count_by_index` takes 7.3 times as long": lambda it: about(
        "7.3", it.indexed.median_us / it.named.median_us
    ),
    "32 lanes with one index touch 4 sectors": lambda it: (
        4 == loop_sectors(it.counted[it.count_by_name])
    ),
    "with random faces, 21, by `emulate` and by the GPU's counters": lambda it: (
        about("21", loop_sectors(it.counted[it.count_by_index]))
        and about("21", measured_sectors(it.indexed))
    ),
    "L1 delivers the loads": lambda it: (
        it.indexed.counters["l2_read_sectors"]
        < 0.01 * it.indexed.counters["local_load_sectors"]
    ),
    "every store goes on to L2": lambda it: close(
        it.indexed.counters["l2_write_sectors"],
        it.indexed.counters["local_store_sectors"]
        + it.indexed.counters["global_store_sectors"],
        0.001,
    ),
    "No unit that we counted is full; the busiest is L2, with 29%": lambda it: (
        about("29", it.indexed.counters["l2_percent"])
        and 30 > max(it.indexed.counters[f"{unit}_percent"] for unit in UNITS)
    ),
    "99% of the waiting is for local memory or for room in the queue": lambda it: about(
        "99%",
        it.indexed.waits[WAITS_FOR_MEMORY] + it.indexed.waits[WAITS_FOR_ROOM],
    ),
    "has 65,536 for at most 2,048 threads: 32 each": lambda it: (
        (65536, 2048, 32)
        == (
            it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
            it.gpu.MAX_THREADS_PER_MULTIPROCESSOR,
            it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR
            // it.gpu.MAX_THREADS_PER_MULTIPROCESSOR,
        )
    ),
    "compiler takes 40 registers, and a multiprocessor holds one block": lambda it: (
        (40, 32, 0) == taken(it)[0]
    ),
    "With `max_registers=32` it holds two, but now values are spilled": lambda it: (
        (32, 64) == taken(it)[1][:2] and taken(it)[1][2] > 0
    ),
    "the kernel that spills takes 6.9 times as long": lambda it: about(
        "6.9", limited(it, 0).median_us / free(it, 0).median_us
    ),
    "for 1.5 times as many instructions": lambda it: about(
        "1.5",
        limited(it, 0).counters["instructions"] / free(it, 0).counters["instructions"],
    ),
    "its warps wait for local memory": lambda it: (
        limited(it, 0).waits[WAITS_FOR_MEMORY] > 0.8
        and WAITS_FOR_MEMORY not in free(it, 0).waits
        and limited(it, 0).counters["local_load_sectors"] > 0
        and limited(it, 0).counters["global_load_sectors"]
        == free(it, 0).counters["global_load_sectors"]
    ),
    "A second block on each multiprocessor does not make up for it": lambda it: (
        limited(it, 1).median_us > 6 * free(it, 1).median_us
        and limited(it, 1).counters["occupancy_percent"]
        > 1.5 * free(it, 1).counters["occupancy_percent"]
    ),
    "which nobody wrote": lambda it: uninitialised(it.swap_wrong, it),
    "L1 and global: 20 and 349 ns": lambda it: (
        about("20", ns(it, 16 * KB)) and about("349", ns(it, 64 * MB))
    ),
    "the compiler compares each face thrown with all four": lambda it: (
        code_of(four_faces(), "SHF")["ISETP"] == 4 * code_of(four_faces(), "SHF")["SHF"]
    ),
    "so it writes the weights into the instructions": lambda it: (
        "c[0x3]" not in solution(it)[0] and ", -3\n" in solution(it)[0]
    ),
    "With an index that is known only at run time, it would load them from constant "
    "memory": lambda it: "LDC" in solution(it)[1] and "c[0x3]" in solution(it)[1],
    "there is no local memory left": lambda it: (
        0 == four_faces().stack and not any(uses_local(four_faces()))
    ),
}
