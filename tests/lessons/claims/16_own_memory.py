"""What the lesson says of its measurements, and when it is true.

Each cause has its control. That sectors of local memory cost more than lines: one
kernel, with the dice of a warp dealt to its lanes in other ways, so that either differs
alone. That spills cost: one kernel, compiled with a limit and without, one block on
each multiprocessor either way. That a further cell costs, or a larger circle: one
kernel, from more cells or in another circle. Whether loads or stores hold the warps up
has no control, and the lesson does not say.
"""

from functools import cache

import numpy as np
from numba import cuda, float32, uint32

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.lessons.counted import executed, near
from thirty_two_lanes.core.occupancy import occupancy_of

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
    busiest = max(run.local_memory.by_line.values(), key=lambda it: it.requests)
    return busiest.sectors / busiest.requests


def alike(it):
    """A launch in which all threads throw the same faces."""
    return emulate(it.count_by_index)[2, 128](it.counts, 0, 64)


def measured_sectors(m):
    """The same by the GPU's counter: each warp loads once at each of 4,096 throws."""
    return m.counters["local_load_sectors"] / (4096 * m.blocks * 1024 // 32)


def dealt(it, deal):
    """The measurement of a deal of dice, by its shift and mask."""
    return next(it.dealt[name][0] for name, known in it.DEALS.items() if known == deal)


def deal_us(it, deal):
    """How long it took."""
    return dealt(it, deal).median_us


def sectors(it, deal):
    """The sectors that a warp touches at a throw, by the GPU's counter."""
    return measured_sectors(dealt(it, deal))


def lines(it, deal):
    """The lines that it touches: the faces among its lanes, by the dice themselves."""
    shift, mask = deal
    lane, warp = np.arange(32), 32 * np.arange(8)[:, None]
    seeds = (it.APART * (warp + (lane >> shift & mask)) % 2**32).astype(np.uint32)
    found = 0
    for _ in range(4096):
        seeds = seeds * np.uint32(1664525) + np.uint32(1013904223)
        found += sum(len(set(row)) for row in (seeds >> 29).tolist())
    return found / 4096 / len(seeds)


def first_throw(apart):
    """Sectors and lines of the first throw of the first warp."""
    seeds = [apart * lane * 1664525 + 1013904223 for lane in range(32)]
    faces = [seed % 2**32 >> 29 for seed in seeds]
    return len({(it, i // 8) for i, it in enumerate(faces)}), len(set(faces))


def unknown_indices(made):
    """Of the lines that touch local memory, has each an index that is not known?"""
    what = "is not known at compile time"
    return [what in it.what for it in made.findings if it.topic == "spills"]


def smaller(it):
    """What a multiprocessor holds of the free kernel in blocks of 512."""
    return assemble(it.thrower())[1, 512](it.found, 1).occupancy


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


def swapped(it):
    """Is the swap right, and without a race, with one array for the block?"""

    @cuda.jit
    def swap(out, a):
        held = cuda.shared.array(32, float32)
        thread = cuda.threadIdx.x
        held[thread] = a[thread]
        cuda.syncthreads()
        out[thread] = held[thread ^ 1]

    out = np.zeros(32, np.float32)
    run = emulate(swap)[1, 32](out, it.a)
    races = len(run.races) + len(run.races.minor)
    return 0 == races and np.array_equal(out, it.a[np.arange(32) ^ 1])


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
    "it executes 3.2 times as many instructions": lambda it: about(
        "3.2", executed(it.named[1]) / executed(it.indexed[1])
    ),
    "`count_by_index` takes more than six times as long": lambda it: (
        6 < it.indexed[1].median_us / it.named[1].median_us < 7
    ),
    "A multiprocessor has 65,536 of them, as many bytes as L1 and shared memory have "
    "together": lambda it: (
        (65536, 256 * 1024)
        == (
            it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
            4 * it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
        )
    ),
    "Each thread takes as many bytes of it as eight counts need": lambda it: (
        it.FACES * 4 == it.by_index.stack
    ),
    "In the other two lines each index is known, and still they touch local memory": (
        lambda it: [False, True, False] == unknown_indices(it.by_index)
    ),
    "a count is loaded from local memory (`LDL`), and stored back (`STL`)": lambda it: (
        all(uses_local(it.by_index)) and not any(uses_local(it.by_name))
    ),
    "There are five of each, since the compiler repeats the body": lambda it: (
        [5, 5] == [code_of(it.by_index, "LDL")[op] for op in ("LDL", "STL")]
    ),
    "`count_by_name` takes none: its counts are in registers": lambda it: (
        "`mine` is in registers" in str(it.by_name) and 0 == it.by_name.stack
    ),
    "It takes no more of these than the first kernel, so a multiprocessor holds as "
    "many warps of either": lambda it: all(
        (it.by_index.registers, 64) == (made.registers, made.occupancy.warps)
        for made in (it.by_index, it.by_name)
    ),
    "Together they touch 26 sectors of eight lines": lambda it: (
        (26, 8) == first_throw(it.APART)
    ),
    "With one face for all, it is one line, four sectors": lambda it: (
        4 == round(sectors(it, (0, 0)), 1) == loop_sectors(alike(it))
        and 1 == lines(it, (0, 0))
    ),
    "only the lines become more, and the launch takes a third longer": lambda it: (
        near(sectors(it, (0, 0)), sectors(it, (3, 3)), 0.001)
        and about("3.4", lines(it, (3, 3)) / lines(it, (0, 0)))
        and 1.3 < deal_us(it, (3, 3)) / deal_us(it, (0, 0)) < 1.37
    ),
    "only the sectors become more, by the same factor of 3.4, and it takes 3.2 times "
    "as long": lambda it: (
        near(lines(it, (3, 3)), lines(it, (0, 3)), 0.001)
        and about("3.4", sectors(it, (0, 3)) / sectors(it, (3, 3)))
        and about("3.2", deal_us(it, (0, 3)) / deal_us(it, (3, 3)))
    ),
    "`count_dealt` is `count_by_index`, but for the seed": lambda it: all(
        near(executed(dealt(it, deal)), executed(it.indexed[1]), 0.001)
        for deal in it.DEALS.values()
    ),
    "the last column has those of 4,096 throws": lambda it: all(
        near(sectors(it, deal), of_the_dice, 0.003)
        for deal, (_, of_the_dice, _) in zip(
            it.DEALS.values(), it.dealt.values(), strict=True
        )
    ),
    "all lanes of a warp are in different banks, whatever they throw": lambda it: (
        0 == it.shared[0].bank_conflicts.conflicts
        and 0 == it.shared[1].counters["shared_load_conflicts"]
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
        for m in (it.indexed[1], *(row[0] for row in it.dealt.values()))
    ),
    "with nearly three times as many instructions as shared memory, the kernel does "
    "hardly anything but issue them": lambda it: (
        0 == waits_for_memory(it.named[1])
        and it.named[1].counters["issue_percent"] > 90
        and 2.8 < executed(it.named[1]) / executed(it.shared[1]) < 3
    ),
    "It executes hardly more instructions than local memory, and "
    "sends no count to L2 but the last ones": lambda it: (
        it.shared[1].median_us < min(m.median_us for _, m in (it.named, it.indexed))
        and near(executed(it.shared[1]), executed(it.indexed[1]), 0.1)
        and 0 == it.shared[1].counters["local_store_sectors"]
        and it.shared[1].counters["l2_write_sectors"]
        == it.shared[1].counters["global_store_sectors"]
    ),
    "eight counts for 1,024 threads are 32 KB": lambda it: (
        32 * 1024 == it.FACES * 1024 * 4
    ),
    "as it can, 2,048, its 65,536 registers are 32 for each": lambda it: (
        2048 == it.gpu.MAX_THREADS_PER_MULTIPROCESSOR
        and 65536 == it.gpu.MAX_REGISTERS_PER_MULTIPROCESSOR == 32 * 2048
    ),
    "A kernel that takes more lets fewer threads in": lambda it: (
        [8, 6] == [occupancy_of((9, 0), 256, n, 0).blocks for n in (32, 33)]
    ),
    "The compiler takes 40 registers for it, so a multiprocessor holds one block": (
        lambda it: (40, 32, 0) == taken(it)[0]
    ),
    "Where two of 1,024 do not fit, three of 512 do": lambda it: (
        3 == smaller(it).blocks and 48 == smaller(it).warps
    ),
    "But 32 registers do not hold the dice": lambda it: (
        (32, 64) == taken(it)[1][:2] and taken(it)[1][2] > 0
    ),
    "With 38 the compiler still finds room for all, and with 36 it begins to spill": (
        lambda it: (0, 0) == (it.limits[40].spill_stores, it.limits[38].spill_stores)
        and it.limits[36].spill_stores > 0
    ),
    "But only 32 let the second block in, and then 16 values have their room in local "
    "memory": lambda it: (
        [32, 32, 32, 64] == [made.occupancy.warps for made in it.limits.values()]
        and 4 * 16 == it.limits[32].stack
    ),
    "The kernel that spills takes six to seven times as long, for 1.5 times as many "
    "instructions": lambda it: (
        about("7", limited(it, 1).median_us / free(it, 1).median_us)
        and limited(it, 1).counters["cycles"] > 6 * free(it, 1).counters["cycles"]
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
    "runs them together, and gains little or nothing: 1.8 times as long by the clock, "
    "twice by cycles": lambda it: (
        about("1.8", limited(it, 2).median_us / limited(it, 1).median_us)
        and about(
            "2.0",
            limited(it, 2).counters["cycles"] / limited(it, 1).counters["cycles"],
        )
        and limited(it, 2).counters["occupancy_percent"] > 80
    ),
    "a step to one cell takes 17 ns, and each further cell adds 5.6": lambda it: (
        about("17", step_ns(it, "constant memory", 1))
        and all(
            about("5.6", further_cell_ns(it, few, more))
            for few, more in ((1, 8), (8, 16), (16, 32))
        )
    ),
    "with 32 cells a walk in constant memory takes nine times as long": lambda it: (
        about("9", walk_us(it, "constant memory", 32) / walk_us(it, "L1", 32))
    ),
    "L1 delivers 32 cells that lie side by side as fast as one": lambda it: near(
        step_ns(it, "L1", 32), step_ns(it, "L1", 1)
    ),
    "With all lanes in one cell, constant memory is a little faster than L1": (
        lambda it: 0.8 < step_ns(it, "constant memory", 1) / step_ns(it, "L1", 1) < 0.9
    ),
    "In one of 4 KB a step takes three times as long, and in one of 60 KB hardly "
    "longer than that. So a first cache holds 1 KB and hardly more than 4, and what "
    "answers behind it at least 60": lambda it: (
        about("3.0", it.tables[4].median_us / walk_us(it, "constant memory", 1))
        and near(it.tables[60].median_us, it.tables[4].median_us, 0.03)
        and 64 * 1024 == it.gpu.TOTAL_CONSTANT_MEMORY
    ),
    "reads another, which nobody wrote": lambda it: uninitialised(it.swap_wrong, it),
    "With `cuda.shared.array`, one array for the block, the kernel is right": swapped,
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
    "it already uses 88% of its issue slots": lambda it: about(
        "88", free(it, 1).counters["issue_percent"]
    ),
}
