"""What the lesson says of its counts and times, and when it is true."""

import json

import numpy as np

from helpers import assemble, baseline
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from tests.lessons.counted import recorded
from tests.paths import RECORDED

KINDS = "uniform", "skewed", "constant", "adverse"


def time(rung, kind="uniform"):
    """The recorded time of a rung on a kind of data, in µs."""
    return baseline(f"histogram {rung}, {kind}").median_us


def rate(rung, kind="uniform"):
    return baseline(f"histogram {rung}, {kind}").gb_per_s


def moved(kind):
    """The rates in global memory, by the baselines and by the ladder's runs: with the
    bins at a multiple of 1,024 bytes, and 512 bytes on.
    """
    climbed = recorded("ladders")["ladders"]["histogram"]["titles"][kind]["rungs"]
    rungs = "global", "global, 512 bytes on"
    medians = [climbed[f"histogram {rung}, {kind}"]["us"][1] for rung in rungs]
    return [tuple(rate(rung, kind) for rung in rungs), tuple(1 / us for us in medians)]


def faster(one, two, kind="uniform"):
    """How many times as fast is a rung as another?"""
    return rate(one, kind) / rate(two, kind)


def near(one, two, least=0.98):
    """Are two numbers the same but for some percent?"""
    return least < one / two < 1 / least


def explained(it, kind):
    """The part of a time that the wavefronts of the additions explain."""
    return it.least_us(it.in_wide[kind]) / time("16 bytes", kind)


def beyond(it):
    """What adverse data takes beyond the time of its wavefronts, by copies."""
    times = zip(it.COPIES, it.times_of("adverse"), strict=True)
    return [us - it.least_us(it.in_copies[copies]["adverse"]) for copies, us in times]


def waves(it, runs, kind):
    return it.wavefronts(runs[kind])


def counted(it, rung, counter):
    return it.measured[rung].counters[counter]


def atomics(it, kernel):
    """The machine's atomics on shared memory, of a kernel for words."""
    values = np.zeros(64, np.uint8)
    bins = np.zeros(it.BINS, np.uint32)
    code = assemble(kernel)[2, 256](bins, *it.split(values)).instructions
    return {one.opcode for one in code if one.opcode.startswith("ATOMS")}


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


def wavefronts_of(run):
    """Those of all atomics on shared memory, emulated."""
    return run.bank_conflicts.by_kind["atomic"].wavefronts


CLAIMS = {
    "so a third of the values are 0": lambda it: (
        0.31 < np.mean(it.small["skewed"] == 0) < 0.36
    ),
    "holds only multiples of 32": lambda it: (
        not np.any(it.small["adverse"] % 32)
    ),
    "the library is 560 times as fast as our kernel": lambda it: (
        555 < rate("CUB") / rate("global") < 565
    ),
    "reading alone is twice as fast as the library": lambda it: about(
        "2", rate("read only") / rate("CUB")
    ),
    "In C++ the same kernel is as slow": lambda it: all(
        near(time("global", kind), time("global in C++", kind)) for kind in KINDS
    ),
    "It is slowest on constant data, where all threads add to one bin": lambda it: (
        rate("global", "constant") == min(rate("global", kind) for kind in KINDS)
    ),
    "counts uniform data twice as fast, and constant data no faster": lambda it: (
        all(about("2.1", is_ / was) for was, is_ in moved("uniform"))
        and all(near(*pair) for pair in moved("constant"))
    ),
    "Each block adds 256 bins: 67,584": lambda it: it.BLOCKS * it.BINS == 67584,
    "Adverse data keeps to eight bins of one bank": lambda it: (
        len(np.unique(it.small["adverse"])) == 8
        and set(it.small["adverse"] % 32) == {0}
    ),
    "With constant data all lanes want one word, and that takes one wavefront": (
        lambda it: waves(it, it.in_blocks, "constant") == 1
    ),
    "different times, up to eight times as long": lambda it: about(
        "8", max(it.wavefronts(run) for run in it.in_blocks.values())
    ),
    "But this kernel takes the same time for each of them": lambda it: all(
        near(time("block", kind), time("block")) for kind in KINDS
    ),
    "For memory: 94% of their waiting": lambda it: about(
        "94%", it.blocks.waits[REASONS["long_scoreboard"]]
    ),
    "memory is only 15% busy, and the path to shared memory 37%": lambda it: (
        about("15", it.blocks.counters["memory_percent"])
        and about("37", it.blocks.counters["l1_data_percent"])
    ),
    "a sixteenth of the loads": lambda it: (
        it.requests(it.in_blocks["uniform"])[0]
        == 16 * it.requests(it.in_wide["uniform"])[0] + 1
    ),
    "Each value is still one addition": lambda it: (
        it.requests(it.in_blocks["uniform"])[1] == it.requests(it.in_wide["uniform"])[1]
    ),
    "Uniform data takes a third of the time": lambda it: (
        0.3 < time("16 bytes") / time("block") < 0.36
    ),
    "faster than the library, by 1% to 6% where the values differ": lambda it: (
        about("1%", faster("16 bytes", "CUB", "adverse") - 1)
        and about("6%", faster("16 bytes", "CUB", "uniform") - 1)
        and 1.01 < faster("16 bytes", "CUB", "skewed") < 1.06
        and faster("16 bytes", "CUB", "constant") > 1
    ),
    "and has at most 1.98 billion cycles a second": lambda it: about(
        "1.98", it.gpu.CLOCK_RATE / 1e6
    ),
    "the additions alone explain 86% to 94% of the time": lambda it: (
        about("86%", min(explained(it, kind) for kind in KINDS if kind != "constant"))
        and about("94%", max(explained(it, kind) for kind in KINDS))
    ),
    "it is busy in 98% of the cycles for uniform data": lambda it: about(
        "98", counted(it, "16 bytes", "l1_data_percent")
    ),
    "It takes 3% longer than reading": lambda it: about(
        "3%", time("16 bytes", "constant") / time("read only", "constant") - 1
    ),
    "One behind the other is worse than one copy": lambda it: all(
        waves(it, it.in_layouts["one behind the other"], kind)
        > waves(it, it.in_wide, kind)
        and time("32 copies behind", kind) > time("16 bytes", kind)
        for kind in KINDS
    ),
    "constant data takes 4.17 ms instead of 0.26": lambda it: (
        about("4.17", time("32 copies behind", "constant") / 1000)
        and about("0.26", time("16 bytes", "constant") / 1000)
    ),
    "That helps lanes with equal values, but random values still meet": lambda it: (
        waves(it, it.in_layouts["padded by a cell"], "constant") == 1
        and waves(it, it.in_layouts["padded by a cell"], "uniform") > 3
    ),
    "Whatever the data is, no two lanes meet": lambda it: all(
        run.bank_conflicts.by_kind["atomic"].conflicts == 0
        for run in it.in_layouts["side by side"].values()
    ),
    "With up to 8 copies, adverse data takes 55 to 62 µs longer": lambda it: (
        all(55 < us < 62 for us in beyond(it)[:-2])
    ),
    "Two copies gain 5% on adverse data and lose on all others": lambda it: (
        about("5%", 1 - time("2 copies", "adverse") / time("16 bytes", "adverse"))
    )
    and all(
        time("2 copies", kind) > time("16 bytes", kind)
        for kind in KINDS
        if kind != "adverse"
    ),
    "skewed data takes 644 µs instead of 583": lambda it: all(
        about(said, time(rung, "skewed"))
        for said, rung in (("644", "2 copies"), ("583", "16 bytes"))
    ),
    "Lanes with equal values had one word in common, and now have two": lambda it: (
        waves(it, it.in_copies[2], "skewed") > waves(it, it.in_wide, "skewed")
    ),
    "16 copies leave two wavefronts at most, 32 leave one": lambda it: all(
        max(map(it.wavefronts, it.in_copies[copies].values())) <= most
        for copies, most in ((16, 2), (32, 1))
    ),
    "Then all kinds take the same time": lambda it: all(
        near(time("32 copies", kind), time("32 copies")) for kind in KINDS
    ),
    "now need 128 µs and reading 257, but our kernel takes 265": lambda it: (
        about("128", it.least_us(it.in_copies[32]["uniform"]))
        and about("257", time("read only"))
        and about("265", time("32 copies"))
    ),
    "counting takes as long as reading, within 2%, whatever the data is": lambda it: (
        all(near(time("two loads", kind), time("read only", kind)) for kind in KINDS)
    ),
    "In C++ the rung before takes 2% less than ours, with one load": lambda it: about(
        "2%", 1 - time("32 copies in C++") / time("32 copies")
    ),
    "with two loads, C++ takes 11% longer than ours": lambda it: (
        about("11%", time("two loads in C++") / time("two loads") - 1)
    ),
    "constant data is counted 31 times as fast, uniform data 9% faster": lambda it: (
        about("31", faster("aggregated globally", "global", "constant"))
        and about("9%", faster("aggregated globally", "global") - 1)
    ),
    "In shared memory it is slower on each kind of data, and so are runs": lambda it: (
        all(
            rate("aggregated", kind) < rate("block", kind)
            and rate("runs", kind) < rate("16 bytes", kind)
            for kind in KINDS
        )
    ),
    "`ATOMS.ADD` instead of `ATOMS.POPC.INC`": lambda it: (
        atomics(it, it.wide) == {"ATOMS.POPC.INC.32"}
        and "ATOMS.ADD" in atomics(it, it.count_runs)
    ),
    "the runs of adverse data take 3.4 times as long": lambda it: about(
        "3.4", faster("16 bytes", "runs", "adverse")
    ),
    "an H200 counts 512 wavefronts, and so does the emulator": lambda it: (
        (16, 512, 512) in on_gpu("count_runs", "ATOMS.ADD")
        and (16, 512, 512) in by_runs(it, it.small["constant"])
    ),
    "257 for the 257 requests of the first 8,195 constant values": lambda it: (
        (257, 8195, 257) in on_gpu("count_in_blocks", "ATOMS.POPC.INC.32")
        and wavefronts_of(it.in_blocks["constant"]) == 257
    ),
    "1.9 times as fast as the library on uniform data": lambda it: about(
        "1.9", faster("two loads", "CUB")
    ),
    "4.3 times as fast on adverse and 20% faster on constant data": lambda it: (
        about("4.3", faster("two loads", "CUB", "adverse"))
        and about("20%", faster("two loads", "CUB", "constant") - 1)
    ),
    "thread 32's addition is lost": lambda it: (
        it.run.races[0].hazards > 0
    ),
}
