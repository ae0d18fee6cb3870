"""What the lesson says of its measurements, and when it is true.

Each cause has its control. That the data path set the pace: what it passes, counted
with the machine code, and by Nsight Compute. That two loads at once matter, or half
as many blocks: as many blocks, whose loads come in turn. That it is the bytes in
flight: as many of them by threads, by loads and by their width.

In one file: a lesson's claims are found by its name.
"""

import numpy as np
from numba import cuda

from helpers import emulate
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from thirty_two_lanes.core.hardware import H200

THREADS_HELD = H200.multiprocessors * 2048
AGREED = 0.05  # between what is counted and what is measured
WRAPS = np.array([2**30] * 3 + [-(2**30)] * 3 + [7], np.int32)
SAME = "2.2", "4.3", "8.7"  # MB in flight that several grids have


def twice(it, waits):
    """A run of two sums of a block, one after the other, with a barrier or without."""
    sum_of_block = it.sum_of_block

    @cuda.jit
    def two_sums(out):
        """Add up the block's numbers, wait or not, and add up others."""
        total = sum_of_block(out[cuda.threadIdx.x])
        if waits:
            cuda.syncthreads()
        out[cuda.threadIdx.x] = sum_of_block(total)

    return emulate(two_sums)[1, it.THREADS](np.ones(it.THREADS, np.float32))


def counted(it, name, counter):
    return it.times[name].counters[counter]


def us(it, name):
    return it.times[name].median_us


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - us(it, name) / us(it, of)


def passed(it, name):
    """What the data path passes for 32 numbers, by Nsight Compute."""
    return counted(it, name, "lsu_wavefronts") / (it.N / 32)


def busy(it, name):
    """The cycles for which the data path is busy for 32 numbers."""
    cycles = counted(it, name, "l1_data_percent") / 100 * counted(it, name, "cycles")
    return H200.multiprocessors * cycles / (it.N / 32)


def agree(it, names):
    """Is what is counted what the data path passed, and how long it was busy?"""
    return all(
        abs(it.paths[name]["wavefronts"] / of(it, name) - 1) < AGREED
        for name in names
        for of in (passed, busy)
    )


def requests(it, name):
    """A warp's shared requests in the machine code."""
    kinds = it.codes[name].kinds
    return kinds["shared loads"] + kinds["shared stores"]


def last_step(it, name):
    """What a kernel does before most of its threads end."""
    code = [str(one) for one in it.codes[name].instructions]
    return " ".join(code[: code.index("@P0 EXIT")][-5:])


def issued_by_block(it, name):
    """A block's shared requests, without conflicts: 16 loads and a store are not."""
    path = it.paths[name]
    return 16 * (path["requests"] + path["without_lane"]) - 17


def longest_wait(it, name):
    return next(iter(it.times[name].waits))


def rounded_up(numbers):
    """The part of a loop's additions that round up."""
    sums = np.cumsum(numbers).astype(np.float64)
    return np.mean(sums[1:] > sums[:-1] + numbers[1:])


def emulated(it, name, what):
    return getattr(it.tree[name].bank_conflicts, what)


def ratio(it, what, name, of):
    return emulated(it, name, what) / emulated(it, of, what)


def busiest(it, name):
    """The most of what can be busy, in percent."""
    parts = "issue", "l1_data", "l2", "memory"
    return max(counted(it, name, f"{part}_percent") for part in parts)


def of_library(it, name):
    return it.library.median_us / it.whole[name].median_us


def of_reading(it, name):
    return it.reading.median_us / it.whole[name].median_us


def overflowing(it, kernel):
    """What a kernel makes of numbers whose partial sums overflow."""
    src = np.array([3e38, 3e38, -3e38, -3e38], np.float32)
    with np.errstate(all="ignore"):
        return it.launches(kernel, src, it.THREADS)[0]


def error(it, data, sum):
    """A sum's error and its bound."""
    row = list(it.errors(it.data[data]))[sum]
    return row[1], row[2]


def requests_after_four_steps(it):
    """A warp's shared requests before the first branch, in *one warp*."""
    code = [one.base for one in it.made(it.sum_by_one_warp).instructions]
    before = code[: code.index("BRA")]
    return before.count("LDS") + before.count("STS")


def of_block(it, part):
    """What the data path passes for a block of *shuffled*."""
    return it.paths["shuffled"][part] * 1024 / 32


def times_at(it, megabytes):
    """The times of all grids with so many bytes in flight."""
    found = [
        m.median_us
        for how, m in it.flights.items()
        if about(megabytes, it.flying(*how) / 1e6)
    ]
    return sorted(found)


def instructions(it, how):
    return it.flights[how].counters["instructions"]


def requests_of(it, width):
    """The emulated loads of a sum of many parts."""
    parts = np.zeros(16, np.float32)
    run = emulate(it.many[width])[16, it.THREADS](parts, it.small)
    return run.coalescing.by_kind["load"].requests


def mb(it, how):
    """The MB that a grid has in flight."""
    blocks, loads, width = how
    return THREADS_HELD / 4 * blocks * loads * 4 * width / 1e6


CLAIMS = {
    "more than five times as long as reading the array to one that takes hardly "
    "longer": (
        lambda it: 5 < 1 / of_reading(it, "interleaved") < 6
        and 1 / of_reading(it, "at once") < 1.03
    ),
    "512 numbers take nine steps, and not 511": lambda it: 2**9 == it.THREADS == 512,
    "All 16, both times": lambda it: it.THREADS == 16 * 32,
    "so it takes 4 wavefronts. In the third step it is 8": lambda it: all(
        max(np.bincount([2 * step * lane % 32 for lane in range(32)])) == ways
        for step, ways in ((2, 4), (4, 8))
    ),
    "It adds nothing, and waits at each of the seven barriers": lambda it: (
        7
        == sum(step.get("e") == "pass" for step in it.film.record()["steps"])
        == sum(
            step["w"] == 1 and step.get("e") in ("barrier", "pass")
            for step in it.film.record()["steps"]
        )
        and [(cell, "stores") for cell in range(32, 64)]
        == [
            (cell, row[4])
            for cell in range(64)
            for row in it.film.cells("numbers", cell)
            if row[3] >= 32
        ]
    ),
    "*strided* makes a quarter of the requests, but for as many wavefronts": (
        lambda it: 0.24 < ratio(it, "requests", "strided", "interleaved") < 0.26
        and ratio(it, "wavefronts", "strided", "interleaved") == 1
    ),
    "*halves* has as few requests and no conflicts, so it needs a quarter of the "
    "wavefronts": lambda it: (
        emulated(it, "halves", "requests") == emulated(it, "strided", "requests")
        and emulated(it, "halves", "conflicts") == 0
        and 0.24 < ratio(it, "wavefronts", "halves", "strided") < 0.26
    ),
    "adds up 2²⁸ numbers, 1.07 GB; the later ones have hardly any work": lambda it: (
        it.N == 2**28
        and about("1.07", it.big.nbytes / 1e9)
        and it.N > 500 * sum(it.N / 512**k for k in (1, 2, 3))
    ),
    "*strided* takes a fifth more than *interleaved*, and *halves* hardly less": (
        lambda it: 0.15 < us(it, "strided") / us(it, "interleaved") - 1 < 0.25
        and 0 < saved(it, "halves", "interleaved") < 0.05
    ),
    "busier than anything else here; memory can deliver five times as much": (
        lambda it: all(
            counted(it, name, "l1_data_percent") == busiest(it, name)
            and it.reading.gb_per_s > 5 * it.times[name].gb_per_s
            for name in it.TREES
        )
    ),
    "it is busy for as many cycles in *halves* as in *interleaved*": lambda it: (
        abs(busy(it, "halves") / busy(it, "interleaved") - 1) < 0.01
    ),
    "There are 29 requests in *halves*; only the last can be skipped, by an early "
    "`EXIT`. The only branch stands behind the kernel's end": lambda it: (
        requests(it, "halves") == 29
        and issued_by_block(it, "halves") == 15 * 28 + 29
        and all(code.opcodes["BRA"] == 1 for code in it.codes.values())
        and all(
            [one.base for one in code.instructions].index("BRA")
            > [one.base for one in code.instructions].index("EXIT")
            for code in it.codes.values()
        )
    ),
    "In the last step, where thread 0 adds, it is `!P0`": lambda it: (
        last_step(it, "halves")
        == "@!P0 LDS R3, [R2] @!P0 LDS R4, [UR4+0x4] @!P0 FADD R3, R3, R4 "
        "@!P0 STS [R2], R3 BAR.SYNC.DEFER_BLOCKING 0x0"
    ),
    # the control: what lanes ask for is another number, and predicted another order
    "Counted and measured agree": lambda it: agree(it, it.TREES),
    "*halves* trades requests with lanes for others without, and *strided* has queues "
    "on top": (
        lambda it: it.paths["halves"]["without_lane"] > 23
        and it.paths["strided"]["without_lane"] > 23
        and it.paths["strided"]["requests"] > 3 * it.paths["halves"]["requests"]
    ),
    "The rest are barriers, two cycles for each of a block's, and a register that "
    "tells threads apart, one for each warp": lambda it: all(
        it.paths[name]["wavefronts"]
        == sum(count for what, count in it.paths[name].items() if what != "wavefronts")
        and (it.paths[name]["barriers"], it.paths[name]["registers"]) == (20 / 16, 1)
        and it.codes[name].opcodes["BAR"] == 10
        for name in it.TREES
    ),
    "two fifths more cycles than *halves*, as measured, and takes 25% longer": (
        lambda it: about("40%", busy(it, "strided") / busy(it, "halves") - 1)
        and about("25%", us(it, "strided") / us(it, "halves") - 1)
    ),
    "Together they make 224 instead of 449, or 50%": lambda it: (
        (1 + 4 * 3) * 15 + 29 == 224 == issued_by_block(it, "one warp")
        and issued_by_block(it, "halves") == 449 == 16 * 28 + 1
        and requests_after_four_steps(it) == 13
        and about("50%", 224 / 449)
    ),
    "The path has half as many cycles to pass, as counted, and is busy 52% of the "
    "time": lambda it: (
        agree(it, ["one warp"])
        and 0.45 < busy(it, "one warp") / busy(it, "halves") < 0.56
        and about("52", counted(it, "one warp", "l1_data_percent"))
    ),
    "Most for memory, though it could deliver four times as much": lambda it: (
        longest_wait(it, "one warp") == REASONS["long_scoreboard"]
        and it.reading.gb_per_s > 4 * it.times["one warp"].gb_per_s
    ),
    "And yet the kernel takes only a sixth less time": lambda it: about(
        "6", 1 / saved(it, "one warp", "halves")
    ),
    "no part is busy for much more than half of it": lambda it: (
        busiest(it, "one warp") < 55
    ),
    # the control: as many blocks that load as much, in turn
    "Half as many blocks, with half as many starts, trees and ends, take 29% less": (
        lambda it: about("29%", saved(it, "in turn", "one warp"))
    ),
    "two loads at once, without a barrier between them, take another 23% off": (
        lambda it: about("23%", saved(it, "pairs", "in turn"))
        and it.tree["pairs"].blocks == it.tree["in turn"].blocks
    ),
    "Shuffles: 5 for each of 16 warps, and 5 for the last one, 85": lambda it: (
        85 == of_block(it, "shuffles")
    ),
    "That is 134, or 4.2 for 32 numbers": lambda it: (
        134 == 85 + 17 + 32 == 85 + of_block(it, "requests") - 1  # the part's store
        and about("4.2", 134 / 32)
    ),
    "a register that tells threads apart make it 4.8": lambda it: about(
        "4.8", it.paths["shuffled"]["wavefronts"]
    ),
    "Counted by shared memory alone, *shuffled* would be almost free": lambda it: (
        ratio(it, "wavefronts", "shuffled", "pairs") < 0.25
    ),
    "it saves not quite half, and the hardware agrees": lambda it: (
        agree(it, ["pairs", "shuffled"])
        and 0.43 < 1 - passed(it, "shuffled") / passed(it, "pairs") < 0.5
    ),
    "It saves 15% of the time. The warps still wait mostly for memory, and yet memory, "
    "like every other part, is busy for less than half of it": lambda it: (
        about("15%", saved(it, "shuffled", "pairs"))
        and busiest(it, "shuffled") < 50
        and all(
            longest_wait(it, name) == REASONS["long_scoreboard"]
            for name in ("one warp", "in turn", "pairs", "shuffled")
        )
    ),
    "132 multiprocessors have 132 · 2,048 · 4 bytes in flight, 1.08 MB": lambda it: (
        about("1.08", THREADS_HELD * 4 / 1e6)
        and about("1.08", it.flying(4, 1, 1) / 1e6)
        and all(abs(mb(it, how) - it.flying(*how) / 1e6) < 1e-9 for how in it.flights)
    ),
    "Little's law for 380 ns a turn": lambda it: (
        about("380", 1e6 * mb(it, (1, 1, 1)) / it.flights[1, 1, 1].gb_per_s)
    ),
    "Twice as many threads, nearly twice the rate: up to 1 MB, the bytes in flight set "
    "the pace": lambda it: all(
        1.7 < it.flights[2 * n, 1, 1].gb_per_s / it.flights[n, 1, 1].gb_per_s <= 2
        for n in (1, 2)
    ),
    "2.16 MB at 3,672 GB/s are 590 ns": lambda it: (
        about("2.16", mb(it, (4, 2, 1)))
        and about("3,672", it.flights[4, 2, 1].gb_per_s)
        and about("59", 1e5 * mb(it, (4, 2, 1)) / it.flights[4, 2, 1].gb_per_s)
    ),
    "From 4 MB on memory gives 95% and more of what *only reading* gets": (
        lambda it: 0.95 * it.reading.gb_per_s
        < min(m.gb_per_s for how, m in it.flights.items() if mb(it, how) > 4)
    ),
    # the control: as many bytes in flight
    "The three rows of 4.3 MB take the same time, though wide loads make a quarter of "
    "the requests and half of the instructions: from 2 MB on bytes in flight count, "
    "and hardly how they got there": lambda it: (
        [len(times_at(it, megabytes)) for megabytes in SAME] == [2, 3, 2]
        and all(times_at(it, of)[-1] < 1.01 * times_at(it, of)[0] for of in SAME)
        and requests_of(it, 1) == 4 * requests_of(it, 4)
        and 0.4 < instructions(it, (4, 1, 4)) / instructions(it, (4, 4, 1)) < 0.55
    ),
    "With 1.08 MB, where each byte counts, many threads are the fastest and many loads "
    "the slowest, by a fifth": lambda it: (
        times_at(it, "1.08")
        == [it.flights[how].median_us for how in ((4, 1, 1), (1, 1, 4), (1, 4, 1))]
        and about("0.2", times_at(it, "1.08")[-1] / times_at(it, "1.08")[0] - 1)
    ),
    "The last rung takes less than 1% longer than only reading, and 1% less than CUB": (
        lambda it: 0 < 1 / of_reading(it, "at once") - 1 < 0.01
        and about("1%", 1 - 1 / of_library(it, "at once"))
    ),
    "9 in the tree of the block, 1 in the last block, and 9 in its tree: 54": (
        lambda it: it.additions_of_many(2**20, 16, 4) == 54 == 2 + 32 + 1 + 9 + 1 + 9
        and it.LOADS == 4
        and 2**20 == 8 * 16 * (4 * it.LOADS * it.THREADS)
    ),
    "The barrier after `last[0]`: warp 0 comes to it when it has read all "
    "sums": lambda it: [len(twice(it, waits).races) > 0 for waits in (True, False)]
    == [False, True],
    "takes up to `LOADS` parts: 2,048 blocks. Nobody needs more: 528 are as many as "
    "run at the same time": lambda it: (
        it.LOADS * it.THREADS == 2048 and THREADS_HELD // it.THREADS == 528
    ),
    "In cells of 32 bits they wrap around, and each order gives the same sum": (
        lambda it: {
            int(order.sum(dtype=np.int32))
            for order in (WRAPS, WRAPS[::-1], np.sort(WRAPS))
        }
        == {int(WRAPS.sum(dtype=np.int64))}
        and np.abs(np.cumsum(WRAPS, dtype=np.int64)).max() > 2**31
    ),
    "Fix the number of blocks, which decides what each adds, to get the same last "
    "digits": lambda it: (
        len({float(it.at_once(it.small[:70_000], blocks)[0]) for blocks in (4, 4)})
        == 1
        < len({float(it.at_once(it.small[:70_000], blocks)[0]) for blocks in (2, 4, 7)})
    ),
    "*wide* leaves 528 parts": lambda it: 528 == 4 * it.MULTIPROCESSORS,
    "in a tree of 512 it is nine": lambda it: it.additions_by_tree(512, 512) == 9,
    "Most errors are far below their bounds": lambda it: (
        sum(10 * error < bound
            for src in it.data.values() for _, error, bound in it.errors(src)) > 5
    ),
    "in the loop over 0.1, three of four go up, and it ends 1% too high": lambda it: (
        about("1%", np.cumsum(it.data["all 0.1"])[-1] / (0.1 * 2**20) - 1)
        and about("75%", rounded_up(it.data["all 0.1"]))
    ),
    "First the data path was busiest, but it alone did not set the pace. Then "
    "warps waited for memory that was not busy; at last it is, for 95%": lambda it: (
        counted(it, "halves", "l1_data_percent") == busiest(it, "halves")
        and counted(it, "shuffled", "memory_percent") < 50
        and about("95", counted(it, "at once", "memory_percent"))
    ),
    "recorded by turns on random numbers, take at most 2% longer": lambda it: all(
        -0.01 < m.median_us / us(it, name) - 1 < 0.021
        for name, m in it.whole.items()
    ),
    "Each kernel reads all of the 1.07 GB from memory": (
        lambda it: all(
            abs(counted(it, name, "memory_read_bytes") / it.big.nbytes - 1) < 0.001
            for name in it.times
        )
    ),
    "In halves, equal numbers only double, and doubling does not round": lambda it: (
        error(it, "all 0.1", 1)[0] == 0
    ),
    "*halves* has 36 additions then, a bound of 2.1 in a million, and *at once* 275, "
    "16 in a million": lambda it: (
        it.additions_by_tree(it.N, 512) == 36
        and about("2.1", 1e6 * it.bound(36))
        and it.additions_of_many(it.N, 528, 4) == 275
        and about("16", 1e6 * it.bound(275))
    ),
    "One by one there is no bound: k·u is 16. In float32, 2²⁴ + 1 is 2²⁴": lambda it: (
        it.N * 2.0**-24 == 16
        and np.float32(2**24) + np.float32(1) == np.float32(2**24)
    ),
    "−3e38 add up to NaN in `sum_interleaved`, and to 0 in `sum_halves`": lambda it: (
        np.isnan(overflowing(it, it.sum_interleaved))
        and overflowing(it, it.sum_halves) == 0
    ),
    "In the steps of 128, 64 and 32, each thread loads what another": lambda it: (
        it.hasty.races
    ),
}
