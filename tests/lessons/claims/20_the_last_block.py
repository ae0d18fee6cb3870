"""What the lesson says of the last block, its fences and times, and when it is true.

Each cause has its control. That a sector's old copy is loaded: parts that nobody loads
before, and parts with a sector each.
"""

import numpy as np
from numba import cuda

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.on_gpu.race_outcomes import recorded
from tests.specimens.race_variants import (
    make_sum_by_last,
    make_total,
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
    kernel, finished = make_total(before, after), np.zeros(1, np.int32)
    run = emulate(kernel, strict=strict)[8, 1](whole, parts, finished, it.a)
    return kinds(run.races), bool(whole[0] == it.a[:8].sum())


def as_in_the_lesson(it):
    """Are the totals of 1,000 launches with no fence and both those of the lesson?"""
    whole, parts, finished = np.zeros((3, 8), np.float32)
    arrays = whole, parts, finished.astype(np.int32)
    codes = [
        opcodes(kernel, *arrays, it.a)
        for kernel in (
            *(it.total_wrong, make_total(False, False)),
            *(it.total, make_total(True, True)),
        )
    ]
    return codes[0] == codes[1] != codes[2] == codes[3]


def in_any_order(it):
    """The sums of twenty orders in which blocks add by an atomic."""
    found = set()
    for seed in range(20):
        whole = np.zeros(1, np.float32)
        emulate(it.add_in_any_order, seed=seed)[8, 1](whole, it.tenths)
        found.add(whole.item())
    return found


def twice_in_a_row(it, barrier):
    """The kinds of races of two sums by the block, with a barrier or without."""
    add = it.sum_by_block

    @cuda.jit
    def twice(out, a):
        first = add(a, cuda.threadIdx.x, 64)
        if barrier:
            cuda.syncthreads()
        second = add(a, cuda.threadIdx.x, 64)
        if cuda.threadIdx.x == 0:
            out[0] = first + second

    return kinds(emulate(twice)[1, 64](np.zeros(1, np.int32), it.numbers).races)


def in_sectors(it):
    """The kinds of races of the total whose parts have a sector each, and likewise."""
    whole, parts = np.zeros(1, np.float32), np.zeros(64, np.float32)
    launch = emulate(total_of_sectors)[8, 1]
    run = launch(whole, parts, np.zeros(1, np.int32), it.a)
    return kinds(run.races), bool(whole[0] == it.a[:8].sum())


def fences(it, before, after):
    """How often the last block's total waits for its stores, and empties L1."""
    arrays = np.zeros(1, np.float32), np.zeros(8, np.float32), np.zeros(1, np.int32)
    kernel = make_total(before, after)
    code = assemble(kernel)[8, 1](*arrays, it.a).instructions
    found = [each.opcode for each in code]
    return [found.count(name) for name in ("MEMBAR.SC.GPU", "CCTL.IVALL")]


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


def held(it, kernel, *arguments):
    """How many blocks of 256 threads an H200 holds of a kernel."""
    occupancy = assemble(kernel)[16, 256](*arguments).occupancy
    return 132 * occupancy.blocks, occupancy.limited_by


def fitting(it):
    """How many blocks of 256 threads may wait for the whole grid, by threads alone."""
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


def waiting(it):
    """The times of the ways in which one block comes after all others."""
    names = "a second launch", "the last block", "a barrier of the grid"
    return [us(it.ways[name]) for name in names]


def looped(it, kernel):
    """The opcodes of a sum's loop, from the first load to the branch after four."""
    codes = opcodes(kernel, it.whole, it.numbers)
    loads = [at for at, name in enumerate(codes) if name == "LDG"]
    return codes[loads[0] : codes.index("BRA", loads[3])]


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
    "Two sums of the same numbers": lambda it: len(in_any_order(it)) == 2,
    "No race, and one sum, whichever block is the last": lambda it: (
        len(it.sums) == 1 and it.sums < in_any_order(it)
    ),
    "16 blocks lined up 1,000 times: never in the order of their numbers, and block 0 "
    "came first in a fifth of the launches": lambda it: (
        (LAUNCHES, GPU["orders"]["blocks"]) == (1000, 16)
        and GPU["orders"]["ascending"] == 0
        and about("0.2", round(GPU["orders"]["first"]["0"] / LAUNCHES, 1))
        and GPU["gpu"] == "NVIDIA H200"
    ),
    "The total is right, and there is a race": lambda it: (
        totalled(it, False, False) == in_sectors(it) == (["RAW"], True)
    ),
    "It gave a wrong total in each of 1,000 launches": lambda it: (
        wrong_in_all("total False False") and as_in_the_lesson(it)
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
    "`strict=True` makes the emulator ask for both": lambda it: (
        totalled(it, True, False) == ([], True)
        and totalled(it, True, False, strict=True) == (["RAW"], True)
    ),
    "Between two calls there must be a barrier": lambda it: (
        [twice_in_a_row(it, barrier) for barrier in (False, True)] == [["WAR"], []]
    ),
    "where *all* threads store parts, a barrier comes before step 1": lambda it: (
        [of_many_threads(barrier) for barrier in (False, True)] == [["RAW"], []]
    ),
    "the last block sets `finished` back to 0: by an atomic": lambda it: (
        launched_twice(it, 2) == (right_sums(it), [])
        and launched_twice(it, 1) == (right_sums(it), ["WAW"])
    ),
    "The first sum. `finished` goes on from the number of blocks": lambda it: (
        launched_twice(it, 0) == (2 * right_sums(it)[:1], [])
    ),
    # ------------------------------------------------ the whole grid
    "The atomics are quickest, and quicker even than the parts alone": lambda it: (
        us(it.ways["an atomic of each block"]) < us(it.ways["parts alone"])
        and us(it.ways["parts alone"]) < min(waiting(it))
    ),
    "The compiler makes another loop of the same lines in each kernel": lambda it: (
        looped(it, it.sum_by_atomics) != looped(it, it.sum_parts)
    ),
    "The three others take within 2 µs of each other, and at most 4 more than the "
    "parts alone": lambda it: (
        max(waiting(it)) - min(waiting(it)) < 2
        and 0 < max(waiting(it)) - us(it.ways["parts alone"]) < 4
    ),
    "all blocks are on the GPU at the same time, or the launch is refused": too_many,
    "On the 132 multiprocessors of an H200 that makes 660 blocks": lambda it: (
        held(it, it.shares, it.out, it.parts, it.numbers) == (660, ("registers",))
        and held(it, it.sum_after_all, it.whole, it.parts, it.numbers)[0] >= 528
    ),
    "by threads alone, 1,056 would fit": lambda it: fitting(it) == 1056,
}
