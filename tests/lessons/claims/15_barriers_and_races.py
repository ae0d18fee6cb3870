"""What the lesson says of its races and their outcomes, and when it is true."""

import numpy as np

from helpers import assemble, emulate
from tests.on_gpu.race_outcomes import recorded
from tests.paths import ROOT
from tests.specimens.race_variants import (
    barriers_around,
    count_all,
    equal_rounds,
    make_in_place,
    make_relay_by_the_block,
    make_rotate_by_a_constant,
    make_two_stores,
    make_two_tiles,
    relay_late,
    rotate_by_a_constant_late,
    rotate_by_warps,
    rotate_late,
    rotate_some_early,
    unequal_rounds,
)

GPU = recorded()
LAUNCHES = GPU["launches"]
WRONG = GPU["wrong"]
BY_THE_BLOCK = GPU["relays by the block"]
SEEDS = range(12)
BOTH = False, True


def kinds(races):
    """The kinds of the races that a run reports."""
    return [race.kind for race in races]


def emulated(kernel, a, threads=None):
    """A launch of one block, and what it gave."""
    out = np.zeros(len(a), np.float32)
    return emulate(kernel)[1, threads or len(a)](out, a), out


def wrong_cells(it, threads):
    """The values that `rotate_wrong` gets wrong in the emulator, by their place."""
    _, out = emulated(it.rotate_wrong, it.a[:threads])
    (places,) = np.nonzero(out != it.rotate_spec(it.a[:threads]))
    return {int(place): float(out[place]) for place in places}


def in_place(it):
    """What is reported of `rotate_in_place_wrong`, for 64 threads."""
    run, _ = emulated(it.rotate_in_place_wrong, it.a[:64])
    return [(race.kind, race.hazards) for race in run.races], minor(run)


def minor(run):
    """The kinds of a run's minor races, and how many hazards they have."""
    return [(race.kind, race.hazards) for race in run.races.minor]


def relayed(it, before, after):
    """The kinds of races of a relay, and how many of its sums are wrong."""
    run = emulate(it.make_relay(before, after))[1, 1024](it.sums, it.long)
    return kinds(run.races), int((it.sums != it.relay_spec).sum())


def two_tiles(it, barrier):
    """The kinds of races of a relay with two tiles."""
    run = emulate(make_two_tiles(barrier))[1, 1024](it.sums, it.long)
    return kinds(run.races)


def relay_by_the_block(it):
    """What a relay by the block's size does without its second barrier."""
    return emulate(make_relay_by_the_block(True, False))[1, 1024](it.sums, it.long)


def relay_hazards(it, tiles):
    """The hazards of a relay of so many tiles without its second barrier."""
    a = it.long[: 1024 * tiles]
    (race,) = emulate(it.make_relay(True, False))[1, 1024](it.sums, a).races
    return race.hazards


def relayed_in(it, seed):
    """How many of its sums are wrong in an order of the warps, and its hazards."""
    kernel = emulate(it.make_relay(True, False), seed=seed)
    (race,) = kernel[1, 1024](it.sums, it.long).races
    return int((it.sums != it.relay_spec).sum()), race.hazards


def in_place_with(it, barriers):
    """The kinds of races of `rotate_in_place` with some of four barriers."""
    kernel = make_in_place([place in barriers for place in range(4)])
    run, _ = emulated(kernel, it.a[:64])
    return kinds(run.races)


def relay_remedy(it):
    """What the report of a relay without its second barrier asks for."""
    run = emulate(it.make_relay(True, False))[1, 1024](it.sums, it.long)
    return run.races[0].remedy


def guarded(it):
    """Do all threads reach the barrier if the work is guarded, with a right answer?"""
    run, out = emulated(it.rotate_some, it.a[:40], 64)
    return not run.barriers and np.array_equal(out, it.rotate_spec(it.a[:40]))


def uneven(it, length):
    """Do threads miss the barrier of a loop over an array of this length?"""
    a = it.long[:length]
    return bool(emulated(unequal_rounds, a, 256)[0].barriers)


def missing(kernel, it):
    """Is it reported that threads miss a barrier of this kernel?"""
    return bool(emulated(kernel, it.a[:40], 64)[0].barriers)


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


def same_race(it, threads):
    """Has `rotate_wrong` the same race with a number for `a.size`, or with a wait?"""
    by_a_constant = make_rotate_by_a_constant(threads)
    kernels = it.rotate_wrong, by_a_constant, rotate_late, rotate_by_a_constant_late
    runs = [emulated(kernel, it.long[:threads])[0] for kernel in kernels]
    one, *others = ([(race.kind, race.hazards) for race in run.races] for run in runs)
    return one != [] and all(other == one for other in others)


def wrong_in_all(*names):
    """Was each of these wrong in each launch?"""
    return all(WRONG[name] == LAUNCHES for name in names)


def wrong_in_none(*names):
    """Was none of these wrong in any launch?"""
    return all(WRONG[name] == 0 for name in names)


CLAIMS = {
    "all values are right with 32 threads. With 64, the same two lines get one wrong: "
    "thread 63 loads from cell 0 what the tile holds before anybody stores there, here "
    "a NaN": lambda it: (
        wrong_cells(it, 32) == {}
        and [*wrong_cells(it, 64)] == [63]
        and np.isnan(wrong_cells(it, 64)[63])
    ),
    # a warp that comes second finds what the first one stored
    "the emulator ran warp 1 first": lambda it: np.isnan(wrong_cells(it, 64)[63]),
    "Two hazards are between warps: thread 31 loads what warp 1 stores, and thread 63 "
    "what warp 0 stores": lambda it: (
        [(race.kind, race.hazards, race.scope) for race in it.run_64.races]
        == [("RAW", 2, "block")]
    ),
    "with 64 threads the other 62, with 32 threads all 32": lambda it: (
        [minor(run) for run in (it.run_32, it.run_64)] == [[("RAW", 32)], [("RAW", 62)]]
        and not it.run_32.races
    ),
    "these twelve seeds have six different winners": lambda it: (
        len({it.winner(it.last_wins, seed) for seed in SEEDS}) == 6
    ),
    "In 1,000 launches on an H200 there were four; in more than nine of ten, it was "
    "warp 0 or warp 1": lambda it: (
        len(GPU["winners"]) == 4
        and GPU["winners"]["0"] + GPU["winners"]["1"] > 900
        and sum(GPU["winners"].values()) == LAUNCHES == 1000
    ),
    "A barrier between two lines that store would help": lambda it: (
        [kinds(emulated(make_two_stores(barrier), it.a)[0].races) for barrier in BOTH]
        == [["WAW"], []]
    ),
    "Again two pairs are of different warps": (
        lambda it: ([("WAR", 2)], [("WAR", 62)]) == in_place(it)
    ),
    "a barrier before or after it changes nothing": lambda it: (
        kinds(emulated(barriers_around, it.a)[0].races) == ["WAW"]
    ),
    "two stores by one line: WAW, of equal values, too": lambda it: (
        not emulated(it.last_wins, 0 * it.a)[0].races
        and minor(emulated(it.last_wins, 0 * it.a)[0]) == [("WAW", 896)]
    ),
    # ------------------------------------------------ of 1,000 launches; the control
    # has the barrier, and the rest as it is
    "An H200 ran each of them 1,000 times": lambda it: (
        (GPU["gpu"], GPU["date"], LAUNCHES) == ("NVIDIA H200", "2026-11-28", 1000)
        and wrong_in_none("rotate 64", "rotate 1024", "relay 32 True True")
    ),
    "| `rotate_wrong`, 64 threads | as above | 0 |": lambda it: (
        wrong_in_none("rotate_wrong 64")
    ),
    "| `% 64` in place of `% a.size` | 506 |": lambda it: (
        WRONG["rotate_by_a_constant 64"] == 506
    ),
    "| warp 1 waits some µs before it stores | 952 |": lambda it: (
        WRONG["rotate_late"] == 952
    ),
    "| `rotate_in_place_wrong` | 64 threads, as above | 0 |": lambda it: wrong_in_none(
        "rotate_in_place_wrong 64"
    ),
    "| 1,024 threads | 511 |": lambda it: WRONG["rotate_in_place_wrong 1024"] == 511,
    "| `relay` without its second barrier | 32 tiles, for more chances | 0 |": (
        lambda it: wrong_in_none("relay 32 True False")
    ),
    "| 32 tiles, and `cuda.blockDim.x` in place of 1024 in the loop | 717 |": (
        lambda it: (717, 1000)
        == (BY_THE_BLOCK["wrong"]["32 True False"], BY_THE_BLOCK["launches"])
    ),
    "| 32 tiles, and the last warp waits some µs before it loads | 1,000 |": (
        lambda it: wrong_in_all("relay_late")
    ),
    "Below each stands the same kind of race, and only a detail differs": lambda it: (
        same_race(it, 64)
        and kinds(emulated(it.rotate_in_place_wrong, it.a[:64])[0].races)
        == kinds(emulated(it.rotate_in_place_wrong, it.long[:1024])[0].races)
        == relayed(it, True, False)[0]
        == kinds(relay_by_the_block(it).races)
        == kinds(emulate(relay_late)[1, 1024](it.sums, it.long).races)
    ),
    "`% a.size` is a division, and more than thirty instructions of it stand between "
    "the store and the load; with a number in its place, none": lambda it: (
        division(it) > 30 and constant(it, 64) == 0
    ),
    # the control: the same wrong kernel, which waits
    "Counts such as 506 are those of one day": lambda it: (
        WRONG["rotate_by_a_constant 64"] == 506
    ),
    "If all threads wait some µs between the two lines, the answer is right again in "
    "all 1,000": lambda it: (
        wrong_in_none("rotate_by_a_constant_late")
        and WRONG["rotate_by_a_constant 64"] > 0
    ),
    "a WAR that reaches into the loop's next iteration": lambda it: (
        relayed(it, True, False) == (["WAR"], 27)
        and relayed(it, True, True) == ([], 0)
        and "the loop's next iteration" in relay_remedy(it)
    ),
    "Wrong are sums of threads 31, 63 and so on, each the last of its warp": (
        lambda it: [31] == [*{int(thread) % 32 for thread in it.wrong}]
    ),
    "There are 32 such pairs, and the report counts each pair once. Why are only 27 "
    "sums wrong? Five warps were lucky": lambda it: (
        (27, 32) == (len(it.wrong), relay_hazards(it, 4)) and 32 == relay_hazards(it, 2)
    ),
    "So the report has what may go wrong, and the answer what did, in this order of "
    "the warps": lambda it: (
        {(26, 32), (27, 32)} < {relayed_in(it, seed) for seed in range(4)}
    ),
    "With neither, each load races with its neighbour's stores of all rounds": (
        lambda it: {"RAW", "WAR"} == {*relayed(it, False, False)[0]}
    ),
    # the control: nothing but the number of barriers differs
    "Each of them makes a round of this block longer, though there is nothing left to "
    "wait for": (
        lambda it: it.safe[0].median_us < it.safe[1].median_us < it.safe[8].median_us
    ),
    "More barriers than these two would be right as well": lambda it: (
        not emulate(it.make_safe_relay(1))[1, 1024](it.sums, it.long).races
    ),
    "as in a sum, `count[0] += 1`? No barrier helps here either": lambda it: (
        {"WAR", "WAW"} <= {*kinds(emulate(count_all)[1, 256](it.out).races)}
    ),
    "without it, a RAW": lambda it: relayed(it, False, True)[0] == ["RAW"],
    "without it, a WAR": lambda it: relayed(it, True, False)[0] == ["WAR"],
    # ------------------------------------------------ branches and warps
    "all of 1,000 launches came to their end, with right answers": lambda it: (
        wrong_in_none("rotate_some_wrong")
    ),
    "So guard the work, and never the barrier": guarded,
    "After an early exit, `if thread >= a.size: return`, those threads miss the "
    "barrier, too": lambda it: (
        missing(rotate_some_early, it) and missing(it.rotate_some_wrong, it)
    ),
    "a loop may make one round fewer for some threads than for others": lambda it: (
        [uneven(it, length) for length in (1000, 1024)] == [True, False]
        and not emulated(equal_rounds, it.long[:1000], 256)[0].barriers
    ),
    "the shared load (`LDS`) stands before the shared store (`STS`)": lambda it: (
        between(opcodes(it.hand_over_wrong, it.halves, it.a), "LDS", "STS") > 0
        and between(opcodes(it.hand_over, it.halves, it.a), "STS", "LDS") > 0
    ),
    "an H200 gave wrong values in each of 1,000 launches": lambda it: (
        wrong_in_all("hand_over_wrong") and wrong_in_none("hand_over")
    ),
    "For one warp, yes. For two, no": lambda it: (
        [kinds(emulated(rotate_by_warps, it.a[:n])[0].races) for n in (32, 64)]
        == [[], ["RAW"]]
        and not emulated(rotate_by_warps, it.a[:32])[0].races.minor
    ),
    # ------------------------------------------------ the rest
    # of four barriers, the kinds of races without the third and the fourth, and so on
    "The last two. After the third line each thread loads only the cell that it has "
    "just stored, and after the fourth nobody touches the tile": lambda it: (
        [in_place_with(it, kept) for kept in ((0, 1), (0,), (1,))]
        == [[], ["WAR"], ["RAW"]]
    ),
    "RAW, since each thread loads what its neighbour stored in the same round, and "
    "WAR: two rounds later the tile is stored again": lambda it: (
        [two_tiles(it, barrier) for barrier in (False, True)] == [["RAW", "WAR"], []]
    ),
    "Of 112 kernels with a race in this course's tests it reports 67": lambda it: (
        "| race | 112 | 67 |" in (ROOT / "docs" / "AGREEMENT.md").read_text("utf-8")
    ),
}
