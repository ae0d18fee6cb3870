"""What the lesson says of its atomics, fences and times, and when it is true.

Each cause has its control. That meeting takes the time: as many atomics on other cells,
and as few. That it is not the cell: eight cells, which differ in how far they are apart
and in nothing else. That a sector's old copy is loaded: parts that nobody loads before,
parts with a sector each, and a reader who has not looked before.
"""

import numpy as np

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.on_gpu.race_outcomes import recorded
from tests.paths import ROOT
from tests.specimens.race_variants import (
    make_letter,
    make_sum_by_last,
    make_total_of_blocks,
    total_of_sectors,
)
from thirty_two_lanes.core.errors import LaunchError

GPU = recorded()
LAUNCHES = GPU["launches"]
WRONG = GPU["wrong"]
BOTH = (False, False), (True, False), (False, True), (True, True)


def kinds(races):
    """The kinds of the races that a run reports."""
    return [race.kind for race in races]


def opcodes(kernel, *arguments):
    """The opcodes of a kernel's instructions, in their order."""
    instructions = assemble(kernel)[1, 256](*arguments).instructions
    return [each.opcode.partition(".")[0] for each in instructions]


def totalled(it, before, after, strict=False):
    """The kinds of races of the last block's total, and whether it is right."""
    whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
    kernel, finished = it.make_total(before, after), np.zeros(1, np.int32)
    run = emulate(kernel, strict=strict)[8, 1](whole, parts, finished, it.a)
    return kinds(run.races), bool(whole[0] == it.a[:8].sum())


def in_sectors(it):
    """The kinds of races of the total whose parts have a sector each, and likewise."""
    whole, parts = np.zeros(1, np.float32), np.zeros(64, np.float32)
    launch = emulate(total_of_sectors)[8, 1]
    run = launch(whole, parts, np.zeros(1, np.int32), it.a)
    return kinds(run.races), bool(whole[0] == it.a[:8].sum())


def fences(it, before, after):
    """How often the last block's total waits for its stores, and empties L1."""
    arrays = np.zeros(1, np.float32), np.zeros(8, np.float32), np.zeros(1, np.int32)
    kernel = it.make_total(before, after)
    code = assemble(kernel)[8, 1](*arrays, it.a).instructions
    found = [each.opcode for each in code]
    return [found.count(name) for name in ("MEMBAR.SC.GPU", "CCTL.IVALL")]


def letter(after):
    """What block 1 reads in the emulator, and the races."""
    read, box, flag = (np.zeros(size, np.int32) for size in (1, 2, 1))
    run = emulate(make_letter(after))[2, 1](read, box, flag)
    return int(read[0]), kinds(run.races)


def counted(it):
    """What the emulator counts without an atomic."""
    count = np.zeros(1, np.int32)
    emulate(it.count_wrong)[16, 256](count)
    return int(count[0])


def of_many_threads(barrier):
    """The kinds of races between blocks of a total of 4 blocks of 64 threads, in which
    thread 0 does it all, after a barrier or without.
    """
    whole, parts, finished = (np.zeros(n, np.float32) for n in (1, 256, 1))
    launch = emulate(make_total_of_blocks(barrier), strict=True)[4, 64]
    run = launch(whole, parts, finished.astype(np.int32), np.ones(256, np.float32))
    return [race.kind for race in run.races if race.scope == "grid"]


def launched_twice(it, reset):
    """The two sums of two launches with the same arrays, of which the second has other
    numbers, and the kinds of races of the first.
    """
    whole, parts, finished = (np.zeros(n, np.int32) for n in (1, 16, 1))
    launch = emulate(make_sum_by_last(it.sum_by_block, reset), strict=True)[16, 256]
    run, sums = launch(whole, parts, finished, it.numbers), [int(whole[0])]
    launch(whole, parts, finished, it.numbers + 1)
    return [*sums, int(whole[0])], kinds(run.races)


def right_sums(it):
    """Both right sums of these launches."""
    return [int((it.numbers + more).sum()) for more in (0, 1)]


def fitting(it):
    """How many blocks of 256 threads may wait for the whole grid."""
    it.sum_after_all[16, 256](it.whole, it.parts, it.numbers)
    (compiled,) = it.sum_after_all.overloads.values()
    return compiled.max_cooperative_grid_blocks(256)


def too_many(it):
    """Is a cooperative grid refused that is one block larger than what fits?"""
    launch = emulate(it.sum_after_all)[fitting(it) + 1, 256]
    try:
        launch(it.whole, np.zeros(fitting(it) + 1, np.int32), it.numbers)
    except LaunchError:
        return True
    return False


def eighths(it, apart):
    """The counts of eight cells, so far apart, and whether nothing else is counted."""
    count = np.zeros(8 * apart, np.int32)
    emulate(it.make_count_in_eight(apart))[16, 256](count)
    return count[::apart].tolist(), int(count.sum()) == 4096


def atomics(it, kernel):
    """The instructions with which a kernel adds to its array, and how many a warp
    executes in all, but for the branch that follows its end.
    """
    codes = opcodes(kernel, it.counts)
    return [codes.count(name) for name in ("POPC", "REDG")], codes.index("EXIT") + 1


def waiting(it):
    """The times of the ways in which one block comes after all others."""
    names = "a second launch", "the last block", "a barrier of the grid"
    return [us(it.ways[name]) for name in names]


def looped(it, kernel):
    """The opcodes of a sum's loop, from the first load to the branch after four."""
    codes = opcodes(kernel, it.whole, it.numbers)
    loads = [at for at, name in enumerate(codes) if name == "LDG"]
    return codes[loads[0] : codes.index("BRA", loads[3])]


def as_many(it, *kernels):
    """Do kernels send as many atomics to global memory?"""
    runs = [emulate(each)[16, 256](np.zeros(2**15, np.int32)) for each in kernels]
    return len({run.coalescing.by_kind["atomic"].requests for run in runs}) == 1


def in_eight(it):
    """The kernels with eight cells, by how far these are apart."""
    return {apart: it.make_count_in_eight(apart) for apart in it.in_eight}


def us(m):
    """A measured time."""
    return m.median_us


def wrong_in_all(*names):
    """Was each of these wrong in each launch?"""
    return all(WRONG[name] == LAUNCHES for name in names)


def wrong_in_none(*names):
    """Was none of these wrong in any launch?"""
    return all(WRONG[name] == 0 for name in names)


CLAIMS = {
    "The emulator counts 8 threads. An H200 counted 1, in each of 1,000 launches": (
        lambda it: (
            GPU["counted"] == {"1": LAUNCHES}
            and counted(it) == 8
            and GPU["gpu"] == "NVIDIA H200"
            and LAUNCHES == 1000
        )
    ),
    "the same 65,536 floats gave 103 different sums in 1,000 launches": lambda it: (
        GPU["different sums"] == 103
    ),
    "The atomics take 6.5 times as long as the race": lambda it: about(
        "6.5", us(it.one_cell) / us(it.race)
    ),
    # the control: as many atomics, which the same instructions send, on other cells
    "There are as many atomics as before": lambda it: (
        as_many(it, it.count_apart, it.count_atomically)
        and atomics(it, it.count_apart)[0] == atomics(it, it.count_atomically)[0]
    ),
    "Hardly longer than no work": lambda it: us(it.own_cells) < 1.04 * us(it.no_work),
    "The compiler has joined those of each warp to one, and still there are 524,288, "
    "one every 0.74 ns": lambda it: (
        atomics(it, it.count_atomically)[0] == [1, 1]
        and it.one_cell.counters["instructions"]
        == 524_288 * atomics(it, it.count_atomically)[1]
        and about("0.74", 1000 * us(it.one_cell) / 524_288)
    ),
    "eight cells, each with an eighth of the atomics": lambda it: all(
        eighths(it, apart) == ([512] * 8, True) for apart in it.in_eight
    ),
    # the control: as many atomics by as many instructions, at another distance
    "Side by side they save nothing, a sector for each next to nothing, 128 bytes "
    "about half, and 16 KiB nearly all": lambda it: (
        us(it.in_eight[1]) > 0.98 * us(it.one_cell)
        and 0.93 * us(it.one_cell) < us(it.in_eight[8]) < 0.98 * us(it.one_cell)
        and 0.5 < us(it.in_eight[32]) / us(it.one_cell) < 0.55
        and us(it.in_eight[4096]) < us(it.own_cells) + 0.1 * us(it.one_cell)
        and as_many(it, it.count_atomically, *in_eight(it).values())
        and len({it.in_eight[n].counters["instructions"] for n in (8, 32, 4096)}) == 1
    ),
    "a place in L2 that is larger than a sector": lambda it: (
        us(it.in_eight[8]) > 1.5 * us(it.in_eight[32])
    ),
    "Meeting took nearly all of 387 µs; now it costs 8": lambda it: (
        about("387", us(it.one_cell))
        and us(it.one_cell) - us(it.own_cells) > 0.85 * us(it.one_cell)
        and about("8", us(it.by_blocks) - us(it.by_blocks_apart))
        and as_many(it, *map(it.make_count_by_blocks, (False, True)))
    ),
    "At 0.74 ns each, 65,536 atomics need some 48 µs, but at the same time the blocks "
    "need 43 to start and end": lambda it: (
        about("48", us(it.one_cell) * 65_536 / 524_288)
        and about("43", us(it.no_work))
        and us(it.by_blocks) < 0.7 * (48 + 43)
    ),
    # ------------------------------------------------ fences
    "The total is right, and there is a race": lambda it: (
        totalled(it, False, False) == in_sectors(it) == (["RAW"], True)
    ),
    "It gave a wrong total in each of 1,000 launches": lambda it: wrong_in_all(
        "total False False"
    ),
    "L1s are not coherent": lambda it: (  # the control loads nothing before
        wrong_in_all("letter False") and wrong_in_none("letter unseen")
    ),
    "| as above | 1,000 |": lambda it: wrong_in_all("total False False"),
    "| with `=` for `+=`, so that no block loads its part | 0 |": lambda it: (
        wrong_in_none("total of stores")
    ),
    "| with each part in a sector of its own | 0 |": lambda it: wrong_in_none(
        "total of sectors"
    ),
    "| with no fence | 1,000 |": lambda it: wrong_in_all("total False False"),
    "| with the first fence alone | 0 |": lambda it: wrong_in_none("total True False"),
    "| with the second fence alone | 0 |": lambda it: wrong_in_none("total False True"),
    "| with both | 0 |": lambda it: wrong_in_none("total True True"),
    "either one empties the last block's L1 after its `+=` and before it loads the "
    "parts": lambda it: [fences(it, *which)[1] for which in BOTH] == [0, 1, 1, 2],
    "CUDA asks for both, so write both": lambda it: (
        [totalled(it, *which, strict=True)[0] for which in BOTH]
        == [["RAW"], ["RAW"], ["RAW"], []]
    ),
    "`strict=True` makes the emulator ask for the second one, too": lambda it: (
        totalled(it, True, False) == ([], True)
        and totalled(it, True, False, strict=True) == (["RAW"], True)
        and letter(False) == letter(True) == (42, [])
    ),
    "If others have stored, too, a barrier comes first": lambda it: (
        [of_many_threads(barrier) for barrier in (False, True)] == [["RAW"], []]
    ),
    "the last block sets `finished` back to 0, by an atomic": lambda it: (
        launched_twice(it, 2) == (right_sums(it), [])
        and launched_twice(it, 1) == (right_sums(it), ["WAW"])
    ),
    "The first sum. `finished` goes on from the number of blocks": lambda it: (
        launched_twice(it, 0) == (2 * right_sums(it)[:1], [])
    ),
    "Without a fence of its own it got the old number in each of 1,000 launches; with "
    "it, in none; and in none either, if it has not looked before": lambda it: (
        wrong_in_all("letter False") and wrong_in_none("letter True", "letter unseen")
    ),
    "`MEMBAR.SC.GPU`, which waits, and `CCTL.IVALL`": lambda it: (
        [fences(it, *which) for which in BOTH] == [[0, 0], [1, 1], [1, 1], [2, 2]]
    ),
    # ------------------------------------------------ the whole grid, and the rest
    "A second launch, the last block and a barrier of the grid take within 2 µs of "
    "each other, and at most 4 more than the parts alone": lambda it: (
        max(waiting(it)) - min(waiting(it)) < 2
        and 0 < max(waiting(it)) - us(it.ways["parts alone"]) < 4
    ),
    "Why the atomics take less than even the parts alone, we do not know: the order of "
    "the instructions in the loop differs, too": lambda it: (
        us(it.ways["an atomic of each block"]) < us(it.ways["parts alone"])
        and looped(it, it.sum_by_atomics) != looped(it, it.sum_parts)
    ),
    "all blocks are on the GPU at the same time, or the launch is refused": too_many,
    "on an H200 at most 1,056 blocks of 256 threads": lambda it: fitting(it) == 1056,
    "racecheck` looks at shared memory only": lambda it: (
        "| racecheck looks at shared memory only | 37 |"
        in (ROOT / "docs" / "AGREEMENT.md").read_text("utf-8")
    ),
}
