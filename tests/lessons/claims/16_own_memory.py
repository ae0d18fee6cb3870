"""What the lesson says of its measurements, and when it is true.

Each cause has its control. That sectors of local memory cost: one kernel, whose lanes
throw the same face or faces of their own. That spills cost: one kernel, compiled with a
limit and without, one block on each multiprocessor either way. That a further cell
costs, or a larger table: one kernel, on more cells or with another table. Whether loads
or stores are the narrow part has no control, and the lesson says so.
"""

from functools import cache

import numpy as np
from numba import cuda, uint32

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.lessons.counted import executed, near

WAITS_FOR_MEMORY = "global or local memory"
WAITS_FOR_ROOM = "room in the queue to global memory"


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


def loop_sectors(run):
    """Sectors a request of local memory, in the line that counts a throw."""
    lines = run.local_memory.by_line.values()
    busiest = max(lines, key=lambda counts: counts.requests)
    return busiest.sectors / busiest.requests


def measured_sectors(m):
    """The same by the GPU's counter: each warp loads once at each of 4,096 throws."""
    warps = m.blocks * 1024 // 32
    return m.counters["local_load_sectors"] / (4096 * warps)


def uses_local(made):
    """Does a kernel load from local memory, and store to it?"""
    return [any(name.startswith(op) for name in made.opcodes) for op in ("LDL", "STL")]


def taken(it):
    """Registers, warps and bytes spilled of the free and of the limited kernel."""
    return [
        (made.registers, made.occupancy.warps, made.spill_stores)
        for made, *_ in it.thrown.values()
    ]


def free(it, blocks):
    """The measurement of the free kernel with one block each (1) or two (2)."""
    return it.thrown["as the compiler likes"][blocks]


def limited(it, blocks):
    """The same of the kernel that is limited to 32 registers."""
    return it.thrown["32 at most"][blocks]


def waits_for_memory(m):
    """The share of the waiting that is for memory, or for room in the queue to it."""
    return m.waits.get(WAITS_FOR_MEMORY, 0) + m.waits.get(WAITS_FOR_ROOM, 0)


def walk_us(it, place, cells):
    """The time of a walk."""
    return it.walks[place][it.DISTINCT.index(cells)].median_us


def step_ns(it, place, cells):
    """The time of a step of a walk."""
    return 1000 * walk_us(it, place, cells) / it.STEPS


def further_cell_ns(it, fewer, more):
    """What each further cell adds to a step in constant memory."""
    slow, fast = (step_ns(it, "constant memory", cells) for cells in (more, fewer))
    return (slow - fast) / (more - fewer)


def uninitialised(kernel, it):
    """Does this kernel read all its 32 cells from where nobody wrote?"""
    (found,) = emulate(kernel)[1, 32](it.swapped, it.a).uninitialised
    return "reads 32 cells of local `held`" in str(found)


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


CLAIMS = {
    "the one win that executes more than three times as many instructions": lambda it: (
        it.named[1].median_us < it.indexed[1].median_us
        and 3 < executed(it.named[1]) / executed(it.indexed[1]) < 3.5
    ),
    "it executes 3.2 times as many instructions": lambda it: about(
        "3.2", executed(it.named[1]) / executed(it.indexed[1])
    ),
    "`count_by_index` takes 6.5 times as long": lambda it: about(
        "6.5", it.indexed[1].median_us / it.named[1].median_us
    ),
    "A multiprocessor has 65,536 of them, 256 KB": lambda it: (
        (65536, 256 * 1024)
        == (
            it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
            4 * it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
        )
    ),
    "`count_by_index` takes 32 bytes of local memory in each thread": lambda it: (
        (32, 0) == (it.by_index.stack, it.by_name.stack)
    ),
    "At each throw one of them is loaded from there (`LDL`) and stored back (`STL`)": (
        lambda it: (
            all(uses_local(it.by_index))
            and not any(uses_local(it.by_name))
            and 1 == len({code_of(it.by_index, "LDL")[op] for op in ("LDL", "STL")})
        )
    ),
    "And it needs no more registers than the other, so a multiprocessor holds as many "
    "warps of either": lambda it: all(
        (it.by_index.registers, 64) == (made.registers, made.occupancy.warps)
        for made in (it.by_index, it.by_name)
    ),
    "With the same face, the lanes share one line, four sectors": lambda it: (
        4 == loop_sectors(it.alike[0]) == round(measured_sectors(it.alike[1]), 1)
    ),
    "about 22 on average, by `emulate` and by the GPU's counters": lambda it: (
        about("22", loop_sectors(it.indexed[0]))
        and about("22", measured_sectors(it.indexed[1]))
    ),
    "all lanes of a warp are in different banks, whatever they throw": lambda it: (
        0 == it.shared[0].bank_conflicts.conflicts
        and 0 == it.shared[1].counters["shared_load_conflicts"]
    ),
    "One kernel executes the same instructions twice, and takes 7.5 times as long when "
    "lanes throw faces of their own": lambda it: (
        near(executed(it.alike[1]), executed(it.indexed[1]), 0.001)
        and about("7.5", it.indexed[1].median_us / it.alike[1].median_us)
    ),
    "L1 delivers them": lambda it: (
        it.indexed[1].counters["l2_read_sectors"]
        < 0.01 * it.indexed[1].counters["local_load_sectors"]
    ),
    "L1 passes every store on to L2, sector by sector": lambda it: all(
        near(
            m.counters["l2_write_sectors"],
            m.counters["local_store_sectors"] + m.counters["global_store_sectors"],
            0.002,
        )
        for m in (it.indexed[1], it.alike[1])
    ),
    "With registers nobody waits for memory, either, but the kernel is busy issuing: "
    "it executes nearly three times as many instructions as with shared": lambda it: (
        0 == waits_for_memory(it.named[1])
        and it.named[1].counters["issue_percent"] > 90
        and 2.8 < executed(it.named[1]) / executed(it.shared[1]) < 3
    ),
    "shared memory wins: it executes hardly more instructions than local memory, and "
    "sends no count to L2 but the last ones": lambda it: (
        it.shared[1].median_us
        < min(m.median_us for _, m in (it.named, it.alike, it.indexed))
        and near(executed(it.shared[1]), executed(it.indexed[1]), 0.1)
        and 0 == it.shared[1].counters["local_store_sectors"]
        and it.shared[1].counters["l2_write_sectors"]
        == it.shared[1].counters["global_store_sectors"]
    ),
    "eight counts for 1,024 threads take 32 KB": lambda it: (
        32 * 1024 == it.FACES * 1024 * 4
    ),
    "has 65,536 for at most 2,048 threads, so only 32 are left for each": lambda it: (
        (2048, 32)
        == (
            it.gpu.MAX_THREADS_PER_MULTIPROCESSOR,
            it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR
            // it.gpu.MAX_THREADS_PER_MULTIPROCESSOR,
        )
    ),
    "The compiler takes 40 registers for it, so a multiprocessor holds one block": (
        lambda it: (40, 32, 0) == taken(it)[0]
    ),
    "Now two blocks fit": lambda it: (
        (32, 64) == taken(it)[1][:2] and taken(it)[1][2] > 0
    ),
    "The kernel that spills takes 6.8 times as long, for 1.5 times as many "
    "instructions": lambda it: (
        about("6.8", limited(it, 1).median_us / free(it, 1).median_us)
        and about("1.5", executed(limited(it, 1)) / executed(free(it, 1)))
        and near(
            limited(it, 1).counters["occupancy_percent"],
            free(it, 1).counters["occupancy_percent"],
            0.1,
        )
    ),
    "Its warps wait for local memory, and those of the other never do": lambda it: (
        limited(it, 1).waits[WAITS_FOR_MEMORY] > 0.8
        and 0 == waits_for_memory(free(it, 1))
        and limited(it, 1).counters["local_load_sectors"] > 0
        and limited(it, 1).counters["global_load_sectors"]
        == free(it, 1).counters["global_load_sectors"]
    ),
    "runs them one after another, and takes twice as long": lambda it: (
        about("2.0", free(it, 2).median_us / free(it, 1).median_us)
        and free(it, 2).counters["occupancy_percent"] < 50
    ),
    "runs them together, and still takes 1.8 times as long": lambda it: (
        about("1.8", limited(it, 2).median_us / limited(it, 1).median_us)
        and limited(it, 2).counters["occupancy_percent"] > 80
    ),
    "each further cell adds 5.6 ns to a step": lambda it: all(
        about("5.6", further_cell_ns(it, few, more))
        for few, more in ((1, 8), (8, 16), (16, 32))
    ),
    "with 32 cells a walk takes nine times as long as in L1": lambda it: about(
        "9", walk_us(it, "constant memory", 32) / walk_us(it, "L1", 32)
    ),
    "32 cells side by side take as long as one": lambda it: near(
        step_ns(it, "L1", 32), step_ns(it, "L1", 1)
    ),
    "With all lanes in one cell, constant memory is a little faster than L1": (
        lambda it: 0.8 < step_ns(it, "constant memory", 1) / step_ns(it, "L1", 1) < 0.9
    ),
    "In a table of 4 KB a step already takes three times as long as in one of 1 KB, "
    "and in one of 60 KB hardly longer": lambda it: (
        about("3.0", it.tables[4].median_us / it.tables[1].median_us)
        and near(it.tables[60].median_us, it.tables[4].median_us, 0.03)
    ),
    "228 KB in each multiprocessor": lambda it: (
        228 * 1024 == it.gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    ),
    "64 KB, the nearest cache less than 4 KB": lambda it: (
        64 * 1024 == it.gpu.TOTAL_CONSTANT_MEMORY
    ),
    "reads another, which nobody wrote": lambda it: uninitialised(it.swap_wrong, it),
    "the compiler compares each face thrown with all four": lambda it: (
        code_of(four_faces(), "SHF")["ISETP"] == 4 * code_of(four_faces(), "SHF")["SHF"]
    ),
    "there is no local memory left": lambda it: (
        0 == four_faces().stack and not any(uses_local(four_faces()))
    ),
    "so it writes the weights into the instructions": lambda it: (
        "c[0x3]" not in solution(it)[0] and ", -3\n" in solution(it)[0]
    ),
    "With an index that is known only at run time, it would load them from constant "
    "memory": lambda it: "LDC" in solution(it)[1] and "c[0x3]" in solution(it)[1],
    "it already issues an instruction in 88% of the cycles": lambda it: about(
        "88", free(it, 1).counters["issue_percent"]
    ),
}
