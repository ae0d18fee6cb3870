"""What the lesson says of its measurements, and when it is true."""

import numpy as np

from helpers.measuring.counters import REASONS
from tests.lessons.claims import about

MULTIPROCESSORS, PLACES = 132, 4  # of an H200, and blocks of 512 threads on each


def counted(it, name, counter):
    return it.times[name].counters[counter]


def us(it, name):
    return it.times[name].median_us


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - us(it, name) / us(it, of)


def data_cycles(it, name):
    """The cycles in which the data path of a multiprocessor is busy."""
    return counted(it, name, "l1_data_percent") / 100 * counted(it, name, "cycles")


def warps(it):
    """The warps of a launch with a thread for each number."""
    return it.N / 32


def requests(it, name):
    """A warp's shared requests in the machine code."""
    kinds = it.trees[name].kinds
    return kinds["shared loads"] + kinds["shared stores"]


def conflicts(it, name):
    """A warp's bank conflicts, emulated."""
    return it.tree[name].bank_conflicts.conflicts / (it.small.size / 32)


def emulated(it, name, what):
    return getattr(it.tree[name].bank_conflicts, what)


def ratio(it, what, name, of):
    return emulated(it, name, what) / emulated(it, of, what)


def place_us(it, name, each):
    """How often a place of a multiprocessor takes a new block."""
    return us(it, name) * MULTIPROCESSORS * PLACES / (it.N / each)


def latency_ns(it, width, loads):
    """How long a load takes, if all threads always have theirs in flight."""
    flying = MULTIPROCESSORS * 2048 * 4 * width * loads
    return flying / it.flights[width, loads].gb_per_s


def instructions(it, width, loads):
    return it.flights[width, loads].counters["instructions"]


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


CLAIMS = {
    "more than five times as long as reading the array to one that takes 1% longer": (
        lambda it: about("5", 1 / of_reading(it, "interleaved"))
        and 1 / of_reading(it, "interleaved") > 5
        and about("1%", 1 / of_reading(it, "at once") - 1)
    ),
    "find out why two counts were wrong": lambda it: (
        saved(it, "halves", "interleaved") < 0.05
        and saved(it, "shuffled", "pairs") < 0.25
    ),
    "all 16 warps take part until `step` is 32": lambda it: it.THREADS == 16 * 32,
    "so it takes 4 wavefronts. In the third step it is 8": lambda it: all(
        max(np.bincount([2 * step * lane % 32 for lane in range(32)])) == ways
        for step, ways in ((2, 4), (4, 8))
    ),
    "*strided* makes a quarter of the requests": lambda it: (
        0.24 < ratio(it, "requests", "strided", "interleaved") < 0.26
    ),
    "but they take as many wavefronts as before": lambda it: (
        ratio(it, "wavefronts", "strided", "interleaved") == 1
    ),
    "*halves* has as few requests and no conflicts": lambda it: (
        emulated(it, "halves", "requests") == emulated(it, "strided", "requests")
        and emulated(it, "halves", "conflicts") == 0
    ),
    "so it needs a quarter of the wavefronts": lambda it: (
        0.24 < ratio(it, "wavefronts", "halves", "strided") < 0.26
    ),
    "which adds up 2²⁸ numbers, 1.07 GB": lambda it: (
        it.N == 2**28 and about("1.07", it.big.nbytes / 1e9)
    ),
    "The later ones have 1/511 of its work": lambda it: about(
        "511", it.N / sum(it.N / 512**k for k in (1, 2, 3))
    ),
    "*strided* takes 22% longer than *interleaved*": lambda it: about(
        "22%", us(it, "strided") / us(it, "interleaved") - 1
    ),
    "*halves* is only 2% faster": lambda it: about(
        "2%", saved(it, "halves", "interleaved")
    ),
    "is 79 to 90% busy, more than anything else here": lambda it: all(
        78.5 < counted(it, name, "l1_data_percent") < 90.5
        and counted(it, name, "l1_data_percent")
        > max(counted(it, name, f"{it_}_percent") for it_ in ("issue", "memory", "l2"))
        for name in ("interleaved", "strided", "halves")
    ),
    "it is busy for as many cycles in *halves* as in *interleaved*": lambda it: (
        abs(data_cycles(it, "halves") / data_cycles(it, "interleaved") - 1) < 0.01
    ),
    "the only one stands behind the last `EXIT`": lambda it: all(
        code.opcodes["BRA"] == 1 for code in it.trees.values()
    ),
    "a warp of *halves* issues 29 requests. The emulator and the H200's counter "
    "count the 4.8 in which a lane takes part": lambda it: (
        requests(it, "sum_halves") == 29
        and about("4.8", emulated(it, "halves", "requests") / (it.small.size / 32))
    ),
    "They are 243 million": lambda it: about("243", 29e-6 * warps(it)),
    "it was busy for 265 million cycles": lambda it: about(
        "265", 1e-6 * MULTIPROCESSORS * data_cycles(it, "halves")
    ),
    "*strided* issues 28, with 14 conflicts: 1.45 times 29": lambda it: (
        requests(it, "sum_strided") == 28
        and about("14", conflicts(it, "strided"))
        and about("1.45", (28 + conflicts(it, "strided")) / 29)
    ),
    "The data path was busy 1.40 times as long": lambda it: about(
        "1.40", data_cycles(it, "strided") / data_cycles(it, "halves")
    ),
    "A block issued 16 · 29 requests": lambda it: requests(it, "sum_halves") == 29,
    "Together they make 224 instead of 464, or 48%": lambda it: (
        (1 + 4 * 3) * 15 + 29 == 224
        and 16 * 29 == 464
        and requests_after_four_steps(it) == 13
        and about("48%", 224 / 464)
    ),
    "The data path is busy for only 54% of the cycles that it was": lambda it: about(
        "54%", data_cycles(it, "one warp") / data_cycles(it, "halves")
    ),
    "there are also 5 barriers instead of 10": lambda it: (
        (it.tree["one warp"].waits.block, it.tree["halves"].waits.block) == (5, 10)
    ),
    "And yet the kernel takes only 16% less time": lambda it: about(
        "16%", saved(it, "one warp", "halves")
    ),
    "No part is even 52% busy now": lambda it: all(
        counted(it, "one warp", f"{part}_percent") < 52
        for part in ("issue", "l1_data", "l2", "memory")
    ),
    "each place takes a new block every 1.1 µs": lambda it: about(
        "1.1", place_us(it, "one warp", 512)
    ),
    "*pairs* takes 54% of the time of *one warp*": lambda it: about(
        "54%", us(it, "pairs") / us(it, "one warp")
    ),
    "*shuffled* needs 78% fewer wavefronts than *pairs*": lambda it: about(
        "78%", 1 - ratio(it, "wavefronts", "shuffled", "pairs")
    ),
    "one barrier instead of five, but saves only 15% of the time": lambda it: (
        (it.tree["shuffled"].waits.block, it.tree["pairs"].waits.block) == (1, 5)
        and about("15%", saved(it, "shuffled", "pairs"))
    ),
    "but for global memory: 55% of their waiting": lambda it: (
        about("55%", it.times["shuffled"].waits[REASONS["long_scoreboard"]])
        and next(iter(it.times["shuffled"].waits)) == REASONS["long_scoreboard"]
    ),
    "A place now takes a new block every 1.0 µs": lambda it: about(
        "1.0", place_us(it, "shuffled", 1024)
    ),
    "A quarter of the requests are left": lambda it: (
        it.requests[1] == 4 * it.requests[4]
    ),
    "16 bytes a thread take 257 µs as four loads and 256 as one": lambda it: (
        about("257", it.flights[1, 4].median_us)
        and about("256", it.flights[4, 1].median_us)
    ),
    "With 4 bytes a thread, up to 1.08 MB are in flight, and 2,551 GB/s": lambda it: (
        about("1.08", MULTIPROCESSORS * 2048 * 4 / 1e6)
        and about("2551", it.flights[1, 1].gb_per_s)
    ),
    "a load takes up to 424 ns": lambda it: about("424", latency_ns(it, 1, 1)),
    "8 bytes a thread would be enough for all that memory can give": lambda it: (
        2 * it.flights[1, 1].gb_per_s > 4800  # of the data sheet
    ),
    "They get 3,597 GB/s, with memory 79% busy: a load takes up to 601 ns": lambda it: (
        about("3597", it.flights[1, 2].gb_per_s)
        and about("79", it.flights[1, 2].counters["memory_percent"])
        and about("601", latency_ns(it, 1, 2))
    ),
    "From 16 bytes on memory is more than 89% busy": lambda it: all(
        run.counters["memory_percent"] > 89
        for (width, loads), run in it.flights.items()
        if width * loads >= 4
    ),
    "wide loads halve the instructions": lambda it: all(
        0.4 < instructions(it, 4, loads) / instructions(it, 1, 4 * loads) < 0.55
        for loads in (1, 2)
    ),
    "with four numbers in flight, takes 5% longer than only reading": lambda it: (
        about("5%", us(it, "many") / it.reading.median_us - 1)
    ),
    "*wide* takes 4% less than that, with four times the bytes": lambda it: (
        about("4%", saved(it, "wide", "many"))
    ),
    "a block ends after 1,024 numbers. Now it adds up 508,400": lambda it: (
        about("5084", it.N / it.BLOCKS / 100) and 1024 == 2 * it.THREADS
    ),
    "There are 528 blocks instead of 262,144, so there is 1/496": lambda it: (
        it.BLOCKS == 528 and it.N // 1024 == 262_144 and about("496", 262_144 / 528)
    ),
    "A kernel that only reads them takes 246 µs": lambda it: about(
        "246", it.reading.median_us
    ),
    "of four loads a thread": lambda it: (
        it.LOADS == 4 and 2**20 == 8 * 16 * (4 * it.LOADS * it.THREADS)
    ),
    "Together these are 54": lambda it: (
        it.additions_of_many(2**20, 16, 4) == 54 == 2 + 32 + 1 + 9 + 1 + 9
    ),
    "*wide* leaves 528 parts": lambda it: it.BLOCKS == 528,
    "takes about as long: 260 µs, and those took 257": lambda it: (
        about("260", it.grids[1].median_us)
        and about("257", it.flights[1, 4].median_us)
    ),
    "Eight blocks gain nothing over four": lambda it: (
        it.grids[8].median_us > it.grids[4].median_us
    ),
    "The last rung takes 1% longer than that, and 1% less than CUB": lambda it: (
        about("1%", 1 / of_reading(it, "at once") - 1)
        and about("1%", 1 - 1 / of_library(it, "at once"))
    ),
    "nine a launch in a tree of 512": lambda it: it.additions_by_tree(512, 512) == 9,
    "Every error is within its bound, and most are far below": lambda it: (
        sum(10 * error(it, data, k)[0] < error(it, data, k)[1]
            for data in it.data for k in range(3)) > 5
    ),
    "a million times 0.1 gives 1% too much": lambda it: about(
        "1%", np.cumsum(it.data["all 0.1"])[-1] / (0.1 * 2**20) - 1
    ),
    "In halves equal numbers only double, and doubling does not round": lambda it: (
        error(it, "all 0.1", 1)[0] == 0
    ),
    "*halves* has 36 additions and a bound of 2.1 in a million": lambda it: (
        it.additions_by_tree(it.N, 512) == 36 and about("2.1", 1e6 * it.bound(36))
    ),
    "*at once* 275 and 16 in a million": lambda it: (
        it.additions_of_many(it.N, 528, 4) == 275 and about("16", 1e6 * it.bound(275))
    ),
    "One by one there is no bound: k·u is 16": lambda it: it.N * 2.0**-24 == 16,
    "In float32, 2²⁴ + 1 is 2²⁴": lambda it: (
        np.float32(2**24) + np.float32(1) == np.float32(2**24)
    ),
    "−3e38 add up to NaN in `sum_interleaved`, and to 0 in `sum_halves`": lambda it: (
        np.isnan(overflowing(it, it.sum_interleaved))
        and overflowing(it, it.sum_halves) == 0
    ),
    "Down to a step of 32, each reads what other warps stored before": lambda it: (
        it.hasty.races
    ),
    "In the film there are seven barriers": lambda it: (
        7 == sum(step.get("e") == "pass" for step in it.film.record()["steps"])
    ),
    "Warp 1 stores its numbers, then adds nothing": lambda it: (
        [(cell, "stores") for cell in range(32, 64)]
        == [
            (cell, row[4])
            for cell in range(64)
            for row in it.film.cells("numbers", cell)
            if row[3] >= 32
        ]
    ),
    "and waits at each of them": lambda it: (
        7
        == sum(
            step["w"] == 1 and step.get("e") in ("barrier", "pass")
            for step in it.film.record()["steps"]
        )
    ),
}
