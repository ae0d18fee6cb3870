"""What the lesson says of its races, outcomes and times, and when it is true."""

import warnings

import numpy as np

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.on_gpu import hangs
from tests.on_gpu.race_outcomes import recorded
from tests.paths import ROOT
from tests.specimens.race_variants import (
    barriers_around,
    make_letter,
    make_own,
    make_rotate_by_a_constant,
    make_total_of_blocks,
    make_two_tiles,
    parted,
    rotate_some,
    rotate_some_early,
)
from thirty_two_lanes.core.errors import BarrierError, LaunchError

GPU = recorded()
LAUNCHES = GPU["launches"]
WRONG = GPU["wrong"]
BY_THE_BLOCK = GPU["relays by the block"]
SEEDS = range(12)


def kinds(races):
    """The kinds of the races that a run reports."""
    return [race.kind for race in races]


def emulated(kernel, a, threads=None):
    """A launch of one block, and what it gave."""
    out = np.zeros(len(a), np.float32)
    return emulate(kernel)[1, threads or len(a)](out, a), out


def wrong_cells(it, threads):
    """How many values `rotate_wrong` gets wrong in the emulator."""
    _, out = emulated(it.rotate_wrong, it.a[:threads])
    return int((out != it.rotate_spec(it.a[:threads])).sum())


def relayed(it, before, after):
    """The kinds of races of a relay, and how many of its sums are wrong."""
    run = emulate(it.make_relay(before, after))[1, 1024](it.sums, it.long)
    return kinds(run.races), int((it.sums != it.relay_spec).sum())


def two_tiles(it, barrier):
    """The kinds of races of a relay with two tiles."""
    run = emulate(make_two_tiles(barrier))[1, 1024](it.sums, it.long)
    return kinds(run.races)


def relay_remedy(it):
    """What the report of a relay without its second barrier asks for."""
    run = emulate(it.make_relay(True, False))[1, 1024](it.sums, it.long)
    return run.races[0].remedy


def guarded(it):
    """Do all threads reach the barrier if the work is guarded, with a right answer?"""
    run, out = emulated(rotate_some, it.a[:40], 64)
    return not run.barriers and np.array_equal(out, it.rotate_spec(it.a[:40]))


def missing(kernel, it):
    """Is it reported that threads miss a barrier of this kernel?"""
    return bool(emulated(kernel, it.a[:40], 64)[0].barriers)


def warned(it):
    """What a plain launch in the emulator warns of, and whether it goes on."""
    out = np.zeros(40, np.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        it.rotate_some_wrong[1, 64](out, it.a[:40])
    right = np.array_equal(out, it.rotate_spec(it.a[:40]))
    return right and ["threads 40 to 63 never" in str(each.message) for each in caught]


def raises(error, launch, *arguments):
    """Does this launch stop with this error?"""
    try:
        launch(*arguments)
    except error:
        return True
    return False


def opcodes(kernel, *arguments):
    """The opcodes of a kernel's instructions, in their order."""
    instructions = assemble(kernel)[1, 256](*arguments).instructions
    return [each.opcode.partition(".")[0] for each in instructions]


def between(codes, first, second):
    """How many instructions come between two."""
    return codes.index(second) - codes.index(first) - 1


def division(it):
    """The instructions between the store and the load of `rotate_wrong`, without the
    routine of a division, which small numbers do not need.
    """
    codes = opcodes(it.rotate_wrong, it.out[:64], it.a[:64])
    return between(codes, "STS", "LDS")


def constant(it, threads):
    """The instructions between the two, with a number in place of `a.size`."""
    codes = opcodes(make_rotate_by_a_constant(threads), it.out[:64], it.a[:64])
    return between(codes, "STS", "LDS")


def totalled(it, before, after, strict=False):
    """The kinds of races of the last block's total, and whether it is right."""
    whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
    kernel, finished = it.make_total(before, after), np.zeros(1, np.int32)
    run = emulate(kernel, strict=strict)[8, 1](whole, parts, finished, it.a)
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


def last_block(barrier):
    """The kinds of races of a total of 4 blocks of 64 threads, between blocks."""
    whole, parts, finished = (np.zeros(n, np.float32) for n in (1, 256, 1))
    launch = emulate(make_total_of_blocks(barrier))[4, 64]
    run = launch(whole, parts, finished.astype(np.int32), np.ones(256, np.float32))
    return [race.kind for race in run.races if race.scope == "grid"]


def fitting(it):
    """How many blocks of 256 threads may wait for the whole grid."""
    (compiled,) = it.total_after_all.overloads.values()
    return compiled.max_cooperative_grid_blocks(256)


def too_many(it):
    """Is a cooperative grid refused that is one block larger than what fits?"""
    launch = emulate(it.total_after_all)[fitting(it) + 1, 256]
    arrays = np.zeros(1, np.float32), np.zeros(8, np.float32), it.a
    return raises(LaunchError, launch, *arrays)


def same_race(it, threads):
    """Has `rotate_wrong` the same race with a number for `a.size`?"""
    kernels = it.rotate_wrong, make_rotate_by_a_constant(threads)
    runs = [emulated(kernel, it.long[:threads])[0] for kernel in kernels]
    one, other = ([(race.kind, race.hazards) for race in run.races] for run in runs)
    return one == other != []


def atomics(it, kernel):
    """The instructions with which a kernel adds to its array, and how many a warp
    executes in all, but for the branch that follows its end.
    """
    codes = opcodes(kernel, it.counts)
    return [codes.count(name) for name in ("POPC", "REDG")], codes.index("EXIT") + 1


def time(it, name):
    """What was measured of a kernel that counts, in µs."""
    return it.many[name].median_us


def wrong_in_all(*names):
    """Was each of these wrong in each launch?"""
    return all(WRONG[name] == LAUNCHES for name in names)


def wrong_in_none(*names):
    """Was none of these wrong in any launch?"""
    return all(WRONG[name] == 0 for name in names)


CLAIMS = {
    "all values are right with 32 threads; with 64, the same two lines get one "
    "wrong": lambda it: [wrong_cells(it, n) for n in (32, 64)] == [0, 1],
    "two hazards are between warps: thread 31 loads what warp 1 stores, and thread 63 "
    "what warp 0 stores": lambda it: (
        [(race.kind, race.hazards, race.scope) for race in it.run_64.races]
        == [("RAW", 2, "block")]
    ),
    "its lanes race with one another, which `races.minor` lists": lambda it: (
        not it.run_32.races
        and [race.scope for race in it.run_32.races.minor] == ["warp"]
    ),
    "warp 0 stores to cell 0 at step 9, and thread 63 loads it at step 11": lambda it: (
        [(9, 0, "stores"), (11, 63, "loads")]
        == [(row[0], *row[3:5]) for row in it.film.cells("tile", 0)][1:3]
    ),
    "these twelve seeds have six different winners": lambda it: (
        len({it.winner(it.last_wins, seed) for seed in SEEDS}) == 6
        and {it.winner(it.largest_wins, seed) for seed in SEEDS} == {7}
    ),
    "A barrier before or after the line does not help": lambda it: (
        kinds(emulated(barriers_around, it.a)[0].races) == ["WAW"]
    ),
    # ------------------------------------------------ of 1,000 launches; the control
    # has the barrier, and the rest as it is
    "An H200 ran each of them 1,000 times": lambda it: (
        (GPU["gpu"], GPU["date"], LAUNCHES) == ("NVIDIA H200", "2026-11-22", 1000)
        and wrong_in_none("rotate 64", "rotate 1024", "relay 32 True True")
    ),
    "| `rotate_wrong` | 64 or 1,024 | 0 |": lambda it: wrong_in_none(
        "rotate_wrong 64", "rotate_wrong 1024"
    ),
    "| `rotate_wrong` with a number for `a.size` | 64 | 369 |": lambda it: (
        WRONG["rotate_by_a_constant 64"] == 369
    ),
    "| `rotate_wrong` with a number for `a.size` | 1,024 | 1,000 |": lambda it: (
        wrong_in_all("rotate_by_a_constant 1024")
    ),
    "| `rotate_in_place_wrong` | 64 | 0 |": lambda it: wrong_in_none(
        "rotate_in_place_wrong 64"
    ),
    "| `rotate_in_place_wrong` | 1,024 | 521 |": lambda it: (
        WRONG["rotate_in_place_wrong 1024"] == 521
    ),
    "| `relay`, 32 tiles, without its first barrier | 1,024 | 1,000 |": lambda it: (
        wrong_in_all("relay 32 False True")
    ),
    "| `relay`, 32 tiles, without its second barrier | 1,024 | 0 |": lambda it: (
        wrong_in_none("relay 32 True False")
    ),
    "| the same with `cuda.blockDim.x` for both 1024s | 1,024 | 866 |": lambda it: (
        BY_THE_BLOCK["wrong"]["32 True False"] == 866
        and BY_THE_BLOCK["launches"] == 1000
    ),
    "The first two kernels have the same race": lambda it: (
        same_race(it, 64) and same_race(it, 1024)
    ),
    "`% a.size` is a division between the store and the load. With a number in its "
    "place, no instruction is left between the two": lambda it: (
        division(it) > 30 and constant(it, 64) == constant(it, 1024) == 0
    ),
    "Without the first barrier the report is a RAW, as for `rotate_wrong`": (
        lambda it: relayed(it, False, True)[0] == kinds(it.run_64.races) == ["RAW"]
    ),
    "Without the second, as here, the report is a WAR that reaches into the loop's "
    "next iteration: a fast warp may store the next tile while a slow one still loads "
    "from this one": lambda it: (
        relayed(it, True, False) == (["WAR"], 27)
        and relayed(it, True, True) == ([], 0)
        and "the loop's next iteration" in relay_remedy(it)
    ),
    # ------------------------------------------------ branches and warps
    "on an H200 all of 1,000 launches gave the right answer": lambda it: wrong_in_none(
        "rotate_some_wrong"
    ),
    "So guard the work, not the barrier": guarded,
    "An early exit, `if thread >= a.size: return`, is reported, too": lambda it: (
        missing(rotate_some_early, it) and missing(it.rotate_some_wrong, it)
    ),
    "the shared load (`LDS`) comes before the shared store (`STS`)": lambda it: (
        between(opcodes(it.hand_over_wrong, it.halves, it.a), "LDS", "STS") > 0
        and between(opcodes(it.hand_over, it.halves, it.a), "STS", "LDS") > 0
    ),
    "an H200 gave wrong values in each of 1,000 launches": lambda it: (
        wrong_in_all("hand_over_wrong") and wrong_in_none("hand_over")
    ),
    # ------------------------------------------------ between blocks
    "The emulator counts 8 threads, and an H200 counted 1 in each of 1,000 launches": (
        lambda it: GPU["counted"] == {"1": LAUNCHES} and counted(it) == 8
    ),
    "the machine code counts the warp's lanes (`POPC`) and adds once (`REDG`)": (
        lambda it: atomics(it, it.count_atomically)[0] == [1, 1]
    ),
    "The atomics on one cell take 6.5 times as long as the race": lambda it: about(
        "6.5", time(it, "atomics on one cell") / time(it, "a race")
    ),
    # the control: as many atomics, which the same instructions send, on other cells
    "with a cell for each block, as many atomics take hardly longer than no work": (
        lambda it: (
            atomics(it, it.count_apart)[0] == atomics(it, it.count_atomically)[0]
            and time(it, "atomics on a cell for each block")
            < 1.04 * time(it, "no work")
        )
    ),
    "It is faster than the race, and takes little more than starting the blocks": (
        lambda it: (
            it.many["each block first, then one atomic"].upper_us
            < it.many["a race"].lower_us
            and time(it, "no work")
            > 0.8 * time(it, "each block first, then one atomic")
        )
    ),
    "So 524,288 additions meet at one cell, one every 0.74 ns": lambda it: (
        it.many["atomics on one cell"].counters["instructions"]
        == 524_288 * atomics(it, it.count_atomically)[1]
        and about("0.74", 1000 * time(it, "atomics on one cell") / 524_288)
    ),
    "the same 65,536 floats gave 103 different sums in 1,000 launches": lambda it: (
        GPU["different sums"] == 103
    ),
    # ------------------------------------------------ fences
    "L1s are not coherent": lambda it: (  # the control loads nothing before
        wrong_in_all("letter False") and wrong_in_none("letter unseen")
    ),
    "Take either fence away, and the load may find the old part": lambda it: (
        [totalled(it, a, b, strict=True)[0] for a in (0, 1) for b in (0, 1)]
        == [["RAW"], ["RAW"], ["RAW"], []]
    ),
    "The total is right, and there is a race": lambda it: (
        totalled(it, False, False) == (["RAW"], True)
    ),
    "| with no fence | 1,000 |": lambda it: wrong_in_all("total False False"),
    "| with the first fence | 0 |": lambda it: wrong_in_none("total True False"),
    "| with the second fence | 0 |": lambda it: wrong_in_none("total False True"),
    "| with both | 0 |": lambda it: wrong_in_none("total True True"),
    "| with no fence, and `=` for `+=` | 0 |": lambda it: wrong_in_none(
        "total of stores"
    ),
    "in the last block either one empties L1 after its `+=` and before it loads the "
    "parts": (
        lambda it: (
            [fences(it, a, b)[1] for a, b in ((0, 0), (0, 1), (1, 0), (1, 1))]
            == [0, 1, 1, 2]
        )
    ),
    "`MEMBAR.SC.GPU`, which waits, and `CCTL.IVALL`": lambda it: (
        [fences(it, a, b) for a, b in ((0, 0), (1, 1))] == [[0, 0], [2, 2]]
    ),
    "The emulator takes an atomic for a second fence": lambda it: (
        totalled(it, True, False) == ([], True)
        and letter(False) == letter(True) == (42, [])
    ),
    "Without a fence of its own it got the old number in each of 1,000 launches; with "
    "it, in none": lambda it: (
        wrong_in_all("letter False") and wrong_in_none("letter True", "letter unseen")
    ),
    # ------------------------------------------------ the whole grid, and the rest
    "all blocks are on the GPU at the same time, or the launch is refused": too_many,
    "For 256 threads it is 1,056 on an H200": lambda it: fitting(it) == 1056,
    "so all four kernels have no race": lambda it: (
        not any(
            emulate(make_own(before, after))[1, 1024](it.sums, it.long).races
            for before in (True, False)
            for after in (True, False)
        )
    ),
    "RAW, since each thread loads what its neighbour stored in the same round, and "
    "WAR, since a fast warp may be two rounds ahead": lambda it: (
        [two_tiles(it, barrier) for barrier in (False, True)] == [["RAW", "WAR"], []]
    ),
    "Of 112 kernels with a race in this course's tests it reports 67": lambda it: (
        "| race | 112 | 67 |" in (ROOT / "docs" / "AGREEMENT.md").read_text("utf-8")
    ),
    "an H200 went on, and the emulator stops with an error": lambda it: (
        raises(BarrierError, emulate(parted)[1, 32], np.zeros(1))
        and hangs.recorded()["two_barriers_in_a_warp"] == "by itself"
        and hangs.recorded()["grid_barrier_in_a_branch"] == "not"
    ),
}
