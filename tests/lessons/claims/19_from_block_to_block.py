"""What the lesson says of its atomics, fences and times, and when it is true.

Each cause has its control. That meeting takes the time: as many atomics on other cells,
and as few. That it is not the cell: eight cells, which differ in how far they are apart
and in nothing else. That a sector's old copy is loaded: a reader who has not looked
before.
"""

import numpy as np
from numba import cuda

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.on_gpu.race_outcomes import recorded
from tests.paths import ROOT
from thirty_two_lanes.core.hardware import H200
from thirty_two_lanes.core.occupancy import resident_blocks

GPU = recorded()
LAUNCHES = GPU["launches"]
WRONG = GPU["wrong"]
BOTH = False, True


def kinds(races):
    """The kinds of the races that a run reports."""
    return [race.kind for race in races]


def opcodes(kernel, *arguments):
    """The opcodes of a kernel's instructions, in their order."""
    instructions = assemble(kernel)[1, 256](*arguments).instructions
    return [each.opcode.partition(".")[0] for each in instructions]


def fences(it, after):
    """How often a letter waits for its stores, and empties L1."""
    cells = (np.zeros(n, np.int32) for n in (1, 2, 1))
    code = assemble(it.make_letter(after))[2, 1](*cells).instructions
    found = [each.opcode for each in code]
    return [found.count(name) for name in ("MEMBAR.SC.GPU", "CCTL.IVALL")]


def letter(it, after, strict=False):
    """What block 1 reads in the emulator, and the races."""
    read, box, flag = (np.zeros(size, np.int32) for size in (1, 2, 1))
    run = emulate(it.make_letter(after), strict=strict)[2, 1](read, box, flag)
    return int(read[0]), kinds(run.races)


def global_loads(it):
    """How many loads a letter has in its machine code."""
    cells = (np.zeros(n, np.int32) for n in (1, 2, 1))
    code = assemble(it.make_letter(False))[2, 1](*cells).instructions
    return [each.opcode for each in code if each.opcode.startswith("LDG")]


def block_atomics(it, threads):
    """The atomics on global memory of 4,096 threads that count by blocks."""
    run = emulate(it.count_by_blocks)[4096 // threads, threads](np.zeros(1, np.int32))
    return run.coalescing.by_kind["atomic"].requests


def counted(it):
    """What the emulator counts without an atomic."""
    count = np.zeros(1, np.int32)
    emulate(it.count_wrong)[16, 256](count)
    return int(count[0])


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


def as_many(it, *kernels):
    """Do kernels send as many atomics to global memory?"""
    runs = [emulate(each)[16, 256](np.zeros(2**15, np.int32)) for each in kernels]
    return len({run.coalescing.by_kind["atomic"].requests for run in runs}) == 1


def asked_first(it):
    """The kinds of races of an atomic after a plain load of its cell."""

    @cuda.jit
    def kernel(out):
        if out[0] < cuda.blockIdx.x:
            cuda.atomic.max(out, 0, cuda.blockIdx.x)

    return kinds(emulate(kernel)[4, 1](np.zeros(1, np.int32)).races)


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
    "the compiler has joined those of each warp to one, which leaves half a million": (
        lambda it: (
            atomics(it, it.count_atomically)[0] == [1, 1]
            and it.one_cell.counters["instructions"]
            == 524_288 * atomics(it, it.count_atomically)[1]
        )
    ),
    "The emulator lets the eight warps of a block come one after another, and all "
    "blocks at the same time": lambda it: counted(it) == 256 // 32,
    "With a plain load or store of the cell, they do": lambda it: asked_first(it) == [
        "WAR"
    ],
    # the controls: atomics that do not meet, and one cell without atomics
    "Slow are atomics that *meet*": lambda it: (
        us(it.own_cells) < us(it.race) < 0.2 * us(it.one_cell)
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
    "a place that is larger than a sector": lambda it: (
        us(it.in_eight[8]) > 1.5 * us(it.in_eight[32])
    ),
    "some thousand blocks run at a time, whose cells are 4 KiB, and these are probably "
    "several places": lambda it: (
        resident_blocks(H200, 256, 0) == 1056
        and us(it.in_eight[32]) < 0.6 * us(it.in_eight[1])  # two places 128 bytes apart
        and us(it.own_cells) < us(it.in_eight[4096])
    ),
    "Meeting took 343 of 387 µs; now it costs 8": lambda it: (
        about("387", us(it.one_cell))
        and about("343", us(it.one_cell) - us(it.own_cells))
        and about("8", us(it.by_blocks) - us(it.by_blocks_apart))
        and as_many(it, *map(it.make_count_by_blocks, (False, True)))
    ),
    "There is an eighth of the atomics, which need some 48 µs in their queue, but at "
    "the same time the blocks need 43 to start and end": lambda it: (
        about("48", us(it.one_cell) * 65_536 / 524_288)
        and about("43", us(it.no_work))
        and us(it.by_blocks) < 0.7 * (48 + 43)
    ),
    # ------------------------------------------------ the letter
    "In the emulator, 42. On an H200 the old number, 0, in each of 1,000 launches": (
        lambda it: letter(it, False) == (42, []) and wrong_in_all("letter False")
    ),
    "The reader had loaded only `box[1]`": lambda it: len(global_loads(it)) == 2,
    "L1s are not coherent": lambda it: (  # the control loads nothing before
        wrong_in_all("letter False") and wrong_in_none("letter unseen")
    ),
    "| looks at `box[1]` first, has no fence | 1,000 |": lambda it: wrong_in_all(
        "letter False"
    ),
    "| looks first, has the fence | 0 |": lambda it: wrong_in_none("letter True"),
    "| does not look first, has no fence | 0 |": lambda it: wrong_in_none(
        "letter unseen"
    ),
    "The emulator has no caches, so there the letter always arrives. But with "
    "`strict=True` it asks for the second fence": lambda it: (
        letter(it, False) == letter(it, True) == (42, [])
        and letter(it, False, strict=True) == (42, ["RAW"])
        and letter(it, True, strict=True) == (42, [])
    ),
    "`MEMBAR.SC.GPU`, which waits, and `CCTL.IVALL`": lambda it: (
        [fences(it, after) for after in BOTH] == [[1, 1], [2, 2]]
    ),
    "16,384: one for each block, and there are a quarter as many": lambda it: (
        block_atomics(it, 256) == 4 * block_atomics(it, 1024) == 16
        and 16_384 == 65_536 * 256 // 1024
    ),
    "racecheck` looks at shared memory only": lambda it: (
        "| racecheck looks at shared memory only | 37 |"
        in (ROOT / "docs" / "AGREEMENT.md").read_text("utf-8")
    ),
}
