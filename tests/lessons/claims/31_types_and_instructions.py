"""What the lesson says of its measurements, and when it is true."""

import numpy as np
from numba import cuda

from helpers.measuring.counters import REASONS
from tests.lessons.claims import about

ADDRESSES = "integers and addresses"


def ratio(it, name, other):
    """How many times as long does a kernel take?"""
    return it.times[name].median_us / it.times[other].median_us


def alike(it, name, other):
    """Do two kernels take the same time, within a fiftieth?"""
    return abs(ratio(it, name, other) - 1) < 0.02


def executed(it, name):
    """The instructions that each warp executes."""
    return it.times[name].counters["instructions"] / (it.N / 32)


def waits(it, name, reason=REASONS["long_scoreboard"]):
    return it.times[name].waits.get(reason, 0)


def outside_routines(made):
    return sum(not each.routine for each in made.instructions)


def last_line(it):
    """The opcodes of the last line of `saxpy`."""
    return it.made.by_line[max(line for line in it.made.by_line if line)]


def in_float64(it, place):
    """Does this of the five lines compute in float64?"""
    line = sorted(line for line in it.careless.by_line if line)[place - 5]
    return any(name.startswith("D") for name in it.careless.by_line[line])


def decade(it, number, first):
    """What each decade after the first takes, in microseconds."""
    return (it.longer[number].median_us - it.times[first].median_us) / 9


def integers(it):
    """The instructions for indices of each saxpy, by the types of index and size."""
    return {name: made.kinds[ADDRESSES] for name, made in it.typed.items()}


def units_share(it, name, cycles):
    """The share of a kernel's cycles that each warp's cycles of a scheduler make."""
    schedulers = 4 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    return cycles * it.N / 32 / schedulers / it.times[name].counters["cycles"]


CLAIMS = {
    "one of them takes half as long again on an H200": lambda it: (
        1.4 < ratio(it, "save", "save_narrow") < 1.6
    ),
    "It is the only one of the 36 that computes what you asked for; 18 compute": (
        lambda it: len(it.made.instructions) == 36
        and it.made.opcodes["FFMA"] == it.made.kinds["float32"] == 1
        and it.made.kinds[ADDRESSES] == 18
    ),
    "twenty others compute addresses or fetch the kernel's arguments": lambda it: (
        last_line(it).total() == 20 + 4 + 2
        and last_line(it)["EXIT"] + last_line(it)["BRA"] == 2
        and last_line(it)["LDG"] + last_line(it)["STG"] + last_line(it)["FFMA"] == 4
    ),
    "one `FFMA` serves both lines": lambda it: (
        it.found["FFMA"] == 1 and it.found["FMUL"] == it.found["FADD"] == 0
    ),
    "so its second result is 0": lambda it: it.out.tolist() == [2**-24, 0],
    "the instructions for indices and addresses fall from 18 to 4": lambda it: (
        (it.made.kinds[ADDRESSES], it.narrow.kinds[ADDRESSES]) == (18, 4)
    ),
    "Loads, stores and arithmetic are the same": lambda it: all(
        it.made.kinds[kind] == other.kinds[kind]
        for other in it.typed.values()
        for kind in ("global loads", "global stores", "float32")
    ),
    "an unsigned index saves 8 of the 18, with 64 bits as with 32": lambda it: (
        integers(it)["saxpy"] - integers(it)["uint64, uint64"]
        == integers(it)["int32, int32"] - integers(it)["saxpy_32"]
        == 8
    ),
    "The width costs 6, signed or not": lambda it: (
        integers(it)["saxpy"] - integers(it)["int32, int32"]
        == integers(it)["uint64, uint64"] - integers(it)["saxpy_32"]
        == 6
    ),
    "An `int32` index keeps 12": lambda it: integers(it)["int32, int32"] == 12,
    "A `uint32` one keeps 9 if its size is an `int64`": lambda it: (
        integers(it)["uint32, int64"] == 9
    ),
    "the quotient and the remainder each have a **routine**": lambda it: (
        it.divided["split"].kinds["calls"] == 2
    ),
    "With `uint32` the line divides without a call": lambda it: (
        it.divided["split_32"].kinds["calls"] == 0
        and it.divided["split_32"].opcodes["MUFU"] == 2
    ),
    "A width that the compiler knows costs least": lambda it: (
        it.divided["split_known"].opcodes["MUFU"] == 0
        and len(it.divided["split_known"].instructions) == 20
    ),
    "float64, float64, int64 and uint64. None of them has 32 bits": lambda it: (
        [it.inferred[name] for name in ("scaled", "product", "following", "double")]
        == ["float64", "float64", "int64", "uint64"]
    ),
    "NumPy lets a plain Python number take the type of its partner": lambda it: (
        it.in_numpy["scaled"].dtype == np.float32
        and it.in_numpy["following"].dtype == np.uint32
    ),
    "A `float32` and an `int64` make a float64 in both": lambda it: (
        it.in_numpy["product"].dtype == np.float64
        and it.inferred["product"] == "float64"
    ),
    "lies 17 GB beyond the array's start": lambda it: about("17", 4e-9 * (2**32 - 1)),
    "200 + 100 is 300 in Numba, and 44 in NumPy": lambda it: (
        it.wide[2] == 300 and (it.image + np.uint8(100))[2] == 44 == it.bright[2]
    ),
    "converts its balance to float64, does 120 fused multiply-adds in float64": (
        lambda it: it.wide_made.opcodes["DFMA"] == it.wide_made.kinds["float64"] == 120
        and it.wide_made.kinds["conversions"] == 2
    ),
    "An H200 does half as many float64 operations in a cycle": lambda it: (
        cuda.get_current_device().SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO == 2
    ),
    "In the second, the third and the fifth": lambda it: (
        [place for place in range(5) if in_float64(it, place)] == [1, 2, 4]
    ),
    "takes as long with about half of its instructions": lambda it: (
        alike(it, "saxpy", "saxpy_32")
        and 0.5 < executed(it, "saxpy_32") / executed(it, "saxpy") < 0.6
        and min(waits(it, "saxpy"), waits(it, "saxpy_32")) > 0.8
    ),
    "with 84% of the issue slots used; *split_32* takes 43, no more than": lambda it: (
        about("73", it.times["split"].median_us)
        and about("84", it.times["split"].counters["issue_percent"])
        and about("43", it.times["split_32"].median_us)
        and alike(it, "split_32", "split_known")
    ),
    "a warp executes 117 of the 298 instructions": lambda it: (
        about("117", executed(it, "split"))
        and len(it.divided["split"].instructions) == 298
        and executed(it, "split") < outside_routines(it.divided["split"])
    ),
    "*five_ways* takes a third longer than *five_ways_narrow*": lambda it: (
        1.3 < ratio(it, "five_ways", "five_ways_narrow") < 1.4
    ),
    "`fastmath` gains nothing here": lambda it: (
        alike(it, "five_ways_fast", "five_ways_narrow")
        and min(waits(it, f"five_ways_{it_}") for it_ in ("fast", "narrow")) > 0.8
    ),
    "has no float64 left. `fastmath` also removes both of its routines": lambda it: (
        it.careful.kinds["float64"] == it.careful.kinds["conversions"] == 0
        and (it.careful.kinds["calls"], it.fast.kinds["calls"]) == (2, 0)
    ),
    "only 1.48 times the time": lambda it: about(
        "1.48", ratio(it, "save", "save_narrow")
    ),
    "executes 153 instructions per warp": lambda it: about(
        "153", executed(it, "save_narrow")
    ),
    "240 / 153 is 1.57, not 2": lambda it: about(
        "1.57", 2 * 120 / executed(it, "save_narrow")
    ),
    "would take 82% to 85% of their measured cycles": lambda it: (
        about("85%", units_share(it, "save", 240))
        and about("82%", units_share(it, "save_narrow", 153))
    ),
    "It does: 1.89 for ten times the arithmetic": lambda it: about(
        "1.89", it.longer[0].median_us / it.longer[1].median_us
    ),
    "takes 125 µs in float64 and 64 µs in `float32`, a factor of 1.96": lambda it: (
        about("125", decade(it, 0, "save"))
        and about("64", decade(it, 1, "save_narrow"))
        and about("1.96", decade(it, 0, "save") / decade(it, 1, "save_narrow"))
    ),
}
