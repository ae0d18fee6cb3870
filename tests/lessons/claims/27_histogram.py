"""What the lesson says of its counts and times, and when it is true.

Each cause has its control. That meeting takes the time in global memory: as many
atomics on a row of bins for each block. That a block waits for its bytes: the same loop
without the counting. That the banks take the time: the same kernel in layouts that
differ in nothing else. That counting needs bytes in flight: the same loads without the
counting. That comparing takes the time of runs: the instructions of the loop.

In one file: a lesson's claims are found by its name.
"""

import json
from functools import partial
from itertools import product

import numpy as np

from helpers import baseline
from tests.lessons.claims import about
from tests.lessons.counted import in_a_run, issued
from tests.paths import RECORDED

KINDS = "uniform", "skewed", "constant", "adverse"
DIFFERENT = "uniform", "skewed", "adverse"
SHOWN = "uniform", "skewed"
MOST = 227 * 1024  # bytes of shared memory that a block can have
FLIGHTS = {"32 copies": 16, "two loads": 32, "four loads": 64}


def time(rung, kind="uniform"):
    """The recorded time of a rung for 2^30 bytes of a kind of data, in µs."""
    return 2**30 / 1000 / rate(rung, kind)


def rate(rung, kind="uniform"):
    return baseline(f"histogram {rung}, {kind}").gb_per_s


def limit(kind="uniform"):
    """The time of the fastest reader."""
    return time("only reading", kind)


def faster(one, two, kind="uniform"):
    """How many times as fast is a rung as another?"""
    return rate(one, kind) / rate(two, kind)


def near(one, two, least=0.98):
    """Are two numbers the same but for some percent?"""
    return least < one / two < 1 / least


def explained(it, kind):
    """The part of a time that the wavefronts of the additions explain."""
    return it.least_us(it.in_sixteen[kind]) / time("16 bytes", kind)


def waves(it, runs, kind):
    return it.wavefronts(runs[kind])


def all_waves(run):
    """The wavefronts of all atomics on shared memory, emulated."""
    return run.bank_conflicts.by_kind["atomic"].wavefronts


def requests(it, runs):
    """The requests of loads from the uniform data, and of atomics in shared memory."""
    run = runs["uniform"]
    rows = run.coalescing.by_line.values()
    loads = sum(
        row.requests
        for row in rows
        if row.kind == "load" and row.array in ("values", "words")
    )
    return loads, run.bank_conflicts.by_kind["atomic"].requests


def together(it, kind):
    """The wavefronts of counting in blocks: one by one, and with aggregation."""
    values = it.small[kind]
    kernels = it.count_in_blocks, it.aggregate_in_blocks
    return [all_waves(it.count(kernel, values)) for kernel in kernels]


def atomics(code):
    """The machine's atomics on shared memory."""
    found = (one.opcode for one in code.instructions)
    return {opcode for opcode in found if opcode.startswith("ATOMS")}


def on_gpu(kernel, code):
    """What Nsight Compute counted of an instruction in the lesson's emulated launches:
    requests, lanes and wavefronts.
    """
    counters = json.loads((RECORDED / "counters.json").read_text("utf-8"))["kernels"]
    return [
        (it["executed"], it["lanes"], it["wavefronts"])
        for name, entry in counters.items()
        if name.startswith(f"lesson_27_histogram_{kernel}_")
        for _, found, it in entry["instructions"]
        if found == code
    ]


def by_runs(it, values):
    """The emulator's counts of the lines that add runs in shared memory: the same."""
    run = it.count(it.count_runs, values, it.split(values))
    return [
        (row.requests, row.active_lanes, row.wavefronts)
        for row in run.bank_conflicts.by_line.values()
        if row.kind == "atomic"
    ]


def contention(it):
    """How many times as fast as many atomics are with a row for each block."""
    one, rows = it.meeting.values()
    return one.median_us / rows.median_us


def flying():
    """The µs of 2^30 bytes, one of each thread in flight for a lone load's latency."""
    return 2**30 / (264 * 1024) * 0.348


def as_counted(it, runs, rung, kind):
    """The share of a time for which the data paths are busy by the page's count."""
    return it.least_us(runs[kind]) / time(rung, kind)


def above_reading(it):
    """That share, wherever the count is well above the time of reading."""
    return [
        as_counted(it, runs, it.RUNG_OF[name], kind)
        for name, runs in it.in_layouts.items()
        for kind in KINDS
        if it.least_us(runs[kind]) > 1.5 * limit(kind)
    ]


def counted(it, rung, name):
    """What the GPU counted of a rung on uniform data."""
    return it.measured[rung].counters[name]


def least_of_words(it, kind):
    """The µs for which 2^30 values of 4 bytes keep the data paths busy, in one copy."""
    return it.least_us(it.in_sixteen[kind]) + 1000 * (3 / 4) * it.N / 32 / (
        it.gpu.MULTIPROCESSOR_COUNT * it.gpu.CLOCK_RATE
    )


def on_path(it, rung):
    """The wavefronts that the GPU counts for a request of an atomic: all but those that
    bring the bytes, and that clear the copies and add them up.
    """
    own = [counted(it, rung, f"shared_{does}_wavefronts") for does in ("load", "store")]
    return (counted(it, rung, "lsu_wavefronts") - it.N / 128 - sum(own)) / (it.N / 32)


def cycles_for_each(it, kind):
    """The cycles that aggregation takes for each different value of a warp."""
    cycles = time("aggregated", kind) / 1000 * it.gpu.CLOCK_RATE * 132
    return cycles / (it.N / 32) / it.different(it.small[kind])


def flight(rung, kind="skewed"):
    """The times of a kernel with some loads: reading and counting."""
    reads = time(f"reads {FLIGHTS[rung]} bytes", kind)
    return reads, time(rung, kind)


CLAIMS = {
    "a third of the values are 0": lambda it: (
        0.31 < np.mean(it.small["skewed"] == 0) < 0.36
    ),
    "eight values, all multiples of 32": lambda it: (
        len(np.unique(it.small["adverse"])) == 8
        and not np.any(it.small["adverse"] % 32)
    ),
    "The fastest reader of this course": lambda it: all(
        limit(kind) <= time(rung, kind)
        for kind in KINDS
        for rung in (*map("reads {} bytes".format, (16, 32, 64)), *FLIGHTS, "CUB")
    )
    and near(limit(), baseline("only reading").median_us),
    "On constant data: all threads want the same bin": lambda it: (
        rate("global", "constant") == min(rate("global", kind) for kind in KINDS)
    ),
    "A thousand times as long as reading on uniform data, and three thousand times on "
    "constant data": lambda it: (
        1000 < time("global") / limit() < 1200
        and 3000 < time("global", "constant") / limit("constant") < 3300
    ),
    "As many atomics, and forty times as fast. So on constant data, the meeting is "
    "what takes the time": lambda it: 39 < contention(it) < 42,
    "the same kernel counts uniform data twice as fast, and constant data no faster": (
        lambda it: (
            about("2.1", faster("global, 512 bytes on", "global"))
            and near(faster("global, 512 bytes on", "global", "constant"), 1)
        )
    ),
    "In C++, the same kernel is as slow as ours": lambda it: all(
        near(time("global", kind), time("global in C++", kind)) for kind in KINDS
    ),
    "so 67,584: one in sixteen thousand": lambda it: (
        it.BLOCKS * it.BINS == 67584 and about("16", 2**30 / 67584 / 1000)
    ),
    "On uniform data, that is nearly two hundred times as fast as before, and still "
    "takes six times as long as reading": lambda it: (
        180 < faster("block", "global") < 190
        and 6 < time("block") / limit() < 6.5
    ),
    "eight values, all in one bank. And on constant data all lanes want one word, for "
    "which one wavefront is enough": lambda it: (
        waves(it, it.in_blocks, "adverse") > 7
        and waves(it, it.in_blocks, "constant") == 1
    ),
    "So do the four kinds take different times? Look at the table: they do not": (
        lambda it: all(near(time("block", kind), time("block")) for kind in KINDS)
    ),
    "It takes as long. So the counting is free here": lambda it: all(
        near(time("reads bytes", kind), time("block", kind), 0.99) for kind in KINDS
    ),
    "The launch has 270,336 threads": lambda it: it.BLOCKS * it.THREADS == 270336,
    "the billion bytes need at least 1.38 ms. They take a tenth more": lambda it: (
        about("1.38", flying() / 1000) and 1.08 < time("block") / flying() < 1.11
    ),
    "A sixteenth of the loads. Each value is still one atomic": lambda it: (
        requests(it, it.in_blocks)[0] == 16 * requests(it, it.in_sixteen)[0] + 1
        and requests(it, it.in_blocks)[1] == requests(it, it.in_sixteen)[1]
    ),
    "A third of the time on uniform data. On constant data it is 5% slower than "
    "reading, and on adverse data four times as slow as on constant data": lambda it: (
        0.3 < time("16 bytes") / time("block") < 0.34
        and about("5%", time("16 bytes", "constant") / limit("constant") - 1)
        and about("4", time("16 bytes", "adverse") / time("16 bytes", "constant"))
    ),
    "Where the values differ, this count is more than nine tenths of the time. On "
    "constant data it is less than reading takes": lambda it: (
        all(0.9 < explained(it, kind) < 1 for kind in DIFFERENT)
        and it.least_us(it.in_sixteen["constant"]) < limit("constant")
    ),
    "On constant data one behind the other takes sixteen times as long as one copy. "
    "Padded, the data still matters by a factor of two. Side by side it does not "
    "matter at all: each kind takes 8 to 9% longer than reading": lambda it: (
        about("16", faster("16 bytes", "32 copies behind", "constant"))
        and about("2", time("32 copies padded") / time("32 copies padded", "adverse"))
        and all(
            0.075 < time("32 copies", kind) / limit(kind) - 1 < 0.09 for kind in KINDS
        )
    ),
    "our count is at least 93% of the recorded time": lambda it: (
        about("93%", min(above_reading(it))) and len(above_reading(it)) == 9
    ),
    "Two copies gain 5% on adverse data, and lose 10% on skewed data": lambda it: (
        about("5%", 1 - time("2 copies", "adverse") / time("16 bytes", "adverse"))
        and about("10%", time("2 copies", "skewed") / time("16 bytes", "skewed") - 1)
    ),
    "lanes with the same value had one word in common, and now have two": lambda it: (
        waves(it, it.in_copies[2], "skewed") > waves(it, it.in_sixteen, "skewed")
    ),
    "With 16 copies a request takes two wavefronts at most. On constant data it takes "
    "one, and the launch 262 µs, as with twice as many. The other kinds take less than "
    "290 µs by our count, and at least 324 by the clock": lambda it: (
        waves(it, it.in_copies[16], "constant") == 1
        and all(near(time(f"{c} copies", "constant"), 262, 0.995) for c in (16, 32))
        and all(
            1.9 < waves(it, it.in_copies[16], kind) <= 2
            and it.least_us(it.in_copies[16][kind]) < 290
            and 324 <= time("16 copies", kind) < 333
            and time("reads 16 bytes", kind) < 290
            for kind in DIFFERENT
        )
    ),
    "By our count, the data paths are now busy for two thirds of the time that reading "
    "takes; and still we are slower": lambda it: (
        0.64 < it.least_us(it.in_copies[32]["uniform"]) / limit() < 0.68
        and 0.075 < time("32 copies") / limit() - 1 < 0.09
    ),
    "With two loads, our counting gains up to 5%, and its twin in C++ loses 11%. With "
    "one load, the twin had been faster": lambda it: (
        all(
            0.04 < faster("two loads", "32 copies", kind) - 1 < 0.051
            and about("11%", faster("32 copies in C++", "two loads in C++", kind) - 1)
            for kind in SHOWN
        )
        and all(
            time("32 copies in C++", kind) < time("32 copies", kind) for kind in KINDS
        )
    ),
    "On skewed data, reading alone is faster than counting; on uniform data it is "
    "not": lambda it: all(
        flight(rung)[0] < 0.99 * flight(rung)[1]
        and near(*flight(rung, "uniform"), 0.99) for rung in FLIGHTS
    ),
    "Reading gains a little, too, though sixteen bytes a thread are nearly three times "
    "what Little's law asks for": lambda it: all(
        time(f"reads {size} bytes", kind) > time(f"reads {2 * size} bytes", kind)
        and 2.7 < 16 * it.BLOCKS * it.THREADS / it.N * limit(kind) / 0.348 < 3
        for kind, size in product(SHOWN, (16, 32))
    ),
    "on each kind of data, counting takes 3% longer than only reading": lambda it: all(
        about("3%", time("four loads", kind) / limit(kind) - 1) for kind in KINDS
    ),
    "31 more copies cost 0.3 µs. What the other 6 µs are, it does not say": (
        lambda it: about("0.3", it.empty[32].median_us - it.empty[1].median_us)
        and about("6", it.empty[1].median_us)
    ),
    "of three floors, memory, data path and issue slots, the last rungs are near the "
    "first only": lambda it: all(
        counted(it, rung, "memory_percent") > 92
        and counted(it, rung, "l1_data_percent") < 75
        and counted(it, rung, "issue_percent") < 78
        for rung in ("two loads", "four loads")
    ),
    "3.3 a request with one copy, and 1.07 with 32": lambda it: (
        about("3.3", on_path(it, "16 bytes"))
        and about("1.07", on_path(it, "32 copies"))
    ),
    "the data paths are busy for seven tenths of the time that reading": lambda it: (
        0.68 < (on_path(it, "32 copies") + 1 / 4) * 2**25 / 132 / 1980 / limit() < 0.72
    ),
    "the clock of the last rungs comes out 6 to 8% lower": lambda it: all(
        0.055 < 1 - counted(it, rung, "cycles") / time(rung) / 1980 < 0.085
        for rung in FLIGHTS
    ),
    "to issue five instructions a byte, the schedulers need at least 170 µs, a little "
    "more than the wavefronts of our count": lambda it: all(
        about("5", 32 * counted(it, rung, "instructions") / it.N)
        and 168 < issued(it.gpu, counted(it, rung, "instructions")) < 174
        and 155 < it.least_us(it.in_copies[32]["uniform"]) < 168
        for rung in FLIGHTS
    ),
    "constant data is counted thirty-one times as fast, uniform data 9% faster": (
        lambda it: (
            about("31", faster("aggregated globally", "global", "constant"))
            and about("9%", faster("aggregated globally", "global") - 1)
        )
    ),
    "In shared memory it is slower on each kind of data": lambda it: all(
        rate("aggregated", kind) < rate("block", kind) for kind in KINDS
    ),
    "requests take as many wavefronts with it as without": lambda it: all(
        len(set(together(it, kind))) == 1 for kind in KINDS
    ),
    "What it loses grows with the number of different values in a warp": lambda it: (
        sorted(KINDS, key=lambda kind: it.different(it.small[kind]))
        == sorted(KINDS, key=partial(time, "aggregated"))
    ),
    "about two cycles of a multiprocessor for each different value, unless the bytes "
    "take longer to come": lambda it: (
        all(about("2", cycles_for_each(it, kind)) for kind in DIFFERENT)
        and near(time("aggregated", "constant"), time("reads bytes", "constant"), 0.9)
    ),
    "Runs are slower, too": lambda it: all(
        rate("runs", kind) < rate("16 bytes", kind) for kind in KINDS
    ),
    "On adverse data, by our count, lanes wanting one word take turns": lambda it: (
        by_runs(it, it.small["adverse"])[0][1:] == (7182, 7182)
    ),
    "On constant data hardly anybody adds, and the comparing costs": lambda it: (
        [row[:2] for row in by_runs(it, it.small["constant"])[:2]] == [(16, 512)] * 2
        and time("runs", "constant") > 1.3 * time("16 bytes", "constant")
    ),
    "issuing nine instructions a byte in place of four takes 280 of the 346 µs": (
        lambda it: (
            about("9", in_a_run(it.by_runs) / 16)
            and about("4", 32 * counted(it, "16 bytes", "instructions") / it.N)
            and 275 < issued(it.gpu, in_a_run(it.by_runs) / 16 * it.N / 32) < 285
            and about("346", time("runs", "constant"))
        )
    ),
    "the compiler chooses `ATOMS.POPC.INC`, and for any other number `ATOMS.ADD`": (
        lambda it: (
            atomics(it.one_by_one) == {"ATOMS.POPC.INC.32"}
            and "ATOMS.ADD" in atomics(it.by_runs)
        )
    ),
    "the emulator counts 512 wavefronts": lambda it: (
        (16, 512, 512) in by_runs(it, it.small["constant"])
    ),
    "it counts 257, and so does an H200": lambda it: (
        (257, 8195, 257) in on_gpu("count_in_blocks", "ATOMS.POPC.INC.32")
        and all_waves(it.in_blocks["constant"]) == 257
    ),
    "The runs of adverse data take 3.4 times as long": lambda it: about(
        "3.4", faster("16 bytes", "runs", "adverse")
    ),
    "twice as fast as it on uniform data, four times as fast on adverse data, and a "
    "fifth faster on constant data": lambda it: (
        about("2", faster("four loads", "CUB"))
        and about("4", faster("four loads", "CUB", "adverse"))
        and 0.18 < faster("four loads", "CUB", "constant") - 1 < 0.23
    ),
    "one of 2,048 bins takes 8 KB, and a block can have": lambda it: (
        4 * 2048 == 8 * 1024
        and MOST == 227 * 1024 == it.gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    ),
    "not even one copy fits, of more than 58,112 bins?": lambda it: MOST == 4 * 58112,
    "The product may round up to one bin too many": lambda it: (
        int(np.nextafter(np.float32(0.3), np.float32(0)) * np.float32(7 / 0.3)) == 7
    ),
    "In floats, the order of the atomics then changes the last bits": lambda it: (
        np.float32(2**24) + np.float32(1) + np.float32(1)
        != np.float32(1) + np.float32(1) + np.float32(2**24)
    ),
    "to read them takes 967 µs or more": lambda it: about("967", 4 * limit()),
    "With one copy that is 532 µs on uniform data, 644 on skewed, 257 on constant: the "
    "reading sets the pace. Only adverse data needs longer, 1,137 µs": lambda it: all(
        about(said, least_of_words(it, kind))
        for kind, said in zip(KINDS, ("532", "644", "257", "1137"), strict=True)
    ),
    "They take 400 KB, so a block's shared memory holds half of them": lambda it: (
        4 * 50_000 < MOST < 4 * 100_000
    ),
    "thread 32's addition is lost": lambda it: it.run.races[0].hazards > 0,
}
