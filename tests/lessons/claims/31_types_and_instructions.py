"""What lesson 31 says of types, instructions and times, and when it is true.

Each reason has its control: four kernels that differ in the sign or the width of an
index, one that does nothing, one that loads and stores nothing, one with half of the
arithmetic, divisions beside the same loop without one, and decades that differ in
nothing but how many there are.
"""

import numpy as np
from numba import cuda, uint32
from numba.cuda import libdevice

from helpers import assemble
from tests.lessons.claims import about
from thirty_two_lanes.assembly.compiler import missing

ADDRESSES = "integers and addresses"
NO_COMPILER = bool(missing())


def us(it, name):
    """The time of one of the page's kernels."""
    return it.times[name].median_us


def ratio(it, name, other):
    """How many times as long does a kernel take?"""
    return us(it, name) / us(it, other)


def alike(it, *names):
    """Do kernels take the same time, within a fiftieth?"""
    times = [us(it, name) for name in names]
    return max(times) < 1.02 * min(times)


def executed(it, m):
    """The instructions that each warp executes."""
    return m.counters["instructions"] / (it.N / 32)


def issuing(m):
    """The share of the issue slots that are used."""
    return m.counters["issue_percent"] / 100


def last_line(it):
    """The opcodes of the last line of `saxpy`."""
    return it.made.by_line[max(line for line in it.made.by_line if line)]


def five_lines(it):
    """The numbers of the five lines."""
    return sorted(filter(None, it.careless.by_line))[-5:]


def in_float64(it, line):
    """Does this line compute in float64?"""
    return any(name.startswith("D") for name in it.careless.by_line[line])


def marked(it):
    """The topics of the findings of each of the five lines."""
    return [
        {each.topic for each in it.careless.findings if each.site.line == line}
        for line in five_lines(it)
    ]


def signs(it):
    """The instructions that look at the sign, of each type of index: LOP3 and SEL."""
    return {name: (m.opcodes["LOP3"], m.opcodes["SEL"]) for name, m in it.typed.items()}


def with_a_long_size(it):
    """The instructions with a `uint32` index and an `int64` size."""
    made = assemble(it.make_saxpy(uint32))[4, 256](it.a, it.x, it.y, np.int64(1000))
    return len(made.instructions)


def beyond(it, name):
    """The microseconds that 64 divisions add to the loop without one."""
    return it.often[name].median_us - it.often["a product, uint32"].median_us


def made_often(it):
    """What each step of the division experiment becomes."""
    return {
        name: assemble(it.make_often(T, step))[4, 256](
            np.zeros(1000, dtype), dtype(1000), dtype(1000)
        )
        for name, (T, dtype, step) in it.STEPS.items()
    }


def multiplied(it, name):
    """The products of a step's kernel: `IMAD`, without those that only add."""
    lines = [str(each).split() for each in made_often(it)[name].instructions]
    return sum(words[0] == "IMAD" for words in lines)


def saved(it, name):
    """The microseconds that a kernel saves from `save_narrow`."""
    return us(it, "save_narrow") - it.less[name].median_us


def further(it):
    """The cycles of a further operation, in float64 and in float32."""
    return [
        it.further(m, it.times[first])
        for m, first in zip(it.longer, ("save", "save_narrow"), strict=True)
    ]


@cuda.jit
def not_fused(out, a, y):
    """Compute a² + y, rounded twice."""
    square = libdevice.fmul_rn(a, a)
    out[0] = square + y


@cuda.jit
def save_some(out, balance, months):
    """Grow a balance for some months."""
    i = cuda.grid(1)
    if i < balance.size:
        value = balance[i]
        for _ in range(months):
            value = value * np.float32(1.004) + np.float32(100)
        out[i] = value


def opcodes_of(kernel, *arguments):
    """How many instructions of each kind the compiler makes of a kernel."""
    return assemble(kernel)[4, 256](*arguments).opcodes


CLAIMS = {
    "on an H200 one of them takes one and a half times as long as the other": (
        lambda it: 1.4 < ratio(it, "save", "save_narrow") < 1.6
    ),
    # a line and its instructions
    "It is the only one of the 36 that computes what you asked for": lambda it: (
        len(it.made.instructions) == 36
        and it.made.opcodes["FFMA"] == it.made.kinds["float32"] == 1
    ),
    "twenty others compute addresses or fetch the kernel's arguments": lambda it: (
        last_line(it).total() == 20 + 4 + 2
        and last_line(it)["EXIT"] + last_line(it)["BRA"] == 2
        and last_line(it)["LDG"] + last_line(it)["STG"] + last_line(it)["FFMA"] == 4
    ),
    "Half of them compute the index, compare it with the size, and find": lambda it: (
        it.made.kinds[ADDRESSES] == 18
    ),
    "The guard's `ISETP` sets a *predicate*, a bit for each lane, and `@P0 EXIT` ends "
    "the lanes whose bit is set": lambda it: (
        [str(one) for one in it.made.instructions].index("@P0 EXIT")
        > [one.base for one in it.made.instructions].index("ISETP")
    ),
    "is a product that no compiler fuses": lambda it: (
        NO_COMPILER
        or [opcodes_of(not_fused, it.out, it.near, it.near)[one]
            for one in ("FFMA", "FMUL", "FADD")]
        == [0, 1, 1]
    ),
    "The loop is gone: the compiler knows how often it runs, and wrote it out. "
    "Were `MONTHS` an argument, it would stay": lambda it: (
        it.narrow_made.opcodes["FFMA"] == 120
        and (NO_COMPILER
             or 0 < opcodes_of(save_some, it.later, it.start, 120)["FFMA"] < 10)
    ),
    "one `FFMA` serves both lines": lambda it: (
        it.found["FFMA"] == 1 and it.found["FMUL"] == it.found["FADD"] == 0
    ),
    "so its second result is 0": lambda it: it.out.tolist() == [2**-24, 0],
    # the sign and the width, one at a time
    "the sign costs 10 instructions at 64 bits, and 14 at 32": lambda it: (
        it.long["int64"] - it.long["uint64"] == 10
        and it.long["int32"] - it.long["uint32"] == 14
    ),
    "the width costs 2 if the index is signed, and 6 if it is not": lambda it: (
        it.long["int64"] - it.long["int32"] == 2
        and it.long["uint64"] - it.long["uint32"] == 6
    ),
    "it may still be negative, so its sign is still looked at": lambda it: (
        signs(it)
        == {"int64": (4, 0), "int32": (0, 4), "uint64": (0, 0), "uint32": (0, 0)}
    ),
    "Loads, stores and arithmetic are the same in all four; what is left for addresses "
    "falls from 18 to 4": lambda it: (
        all(
            it.made.kinds[kind] == other.kinds[kind]
            for other in it.typed.values()
            for kind in ("global loads", "global stores", "float32")
        )
        and it.typed["int64"].kinds[ADDRESSES] == 18
        and it.typed["uint32"].kinds[ADDRESSES] == 4
    ),
    "comparing with it takes 64 bits": lambda it: (
        NO_COMPILER or with_a_long_size(it) == it.long["uint32"] + 5
    ),
    # divisions
    "the quotient and the remainder each have a **routine**": lambda it: (
        it.divided["split"].kinds["calls"] == 2
    ),
    "sees that its upper half is empty, and divides without a call": lambda it: (
        it.divided["split_32"].kinds["calls"] == 0
        and it.divided["split_32"].opcodes["MUFU"] == 2
    ),
    "a product with a precomputed factor and a shift replace the division": lambda it: (
        it.divided["split_known"].opcodes["MUFU"] == 0
        and len(it.divided["split_known"].instructions) == 20
    ),
    "lies 17 GB beyond the array's start": lambda it: about("17", 4e-9 * (2**32 - 1)),
    # types
    "float64, float64, int64, uint64, float32 and float64. Only": lambda it: (
        [it.inferred[name] for name in it.in_numpy]
        == ["float64", "float64", "int64", "uint64", "float32", "float64"]
    ),
    "NumPy differs in four of the six": lambda it: (
        4 == sum(it.inferred[k] != v.dtype.name for k, v in it.in_numpy.items())
    ),
    "200 + 100 is 300 in Numba, and 44 in NumPy": lambda it: (
        it.wide[2] == 300 and (it.image + np.uint8(100))[2] == 44 == it.bright[2]
    ),
    # float64
    "converts its balance to float64, does 120 fused multiply-adds in float64": (
        lambda it: it.wide_made.opcodes["DFMA"] == it.wide_made.kinds["float64"] == 120
        and it.wide_made.kinds["conversions"] == 2
    ),
    "An H200 does half as many float64 operations in a cycle": lambda it: (
        cuda.get_current_device().SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO == 2
    ),
    "an account that was empty ends with 15,363": lambda it: about(
        "15,363", it.grown(np.zeros(1))[0]
    ),
    "In the second, the third and the fifth": lambda it: (
        [False, True, True, False, True]
        == [in_float64(it, line) for line in five_lines(it)]
    ),
    "the third line, whose number the second has converted, has none": lambda it: (
        [set(), {"float64"}, set(), {"calls"}, {"calls"}]
        == [topics - {"indices"} for topics in marked(it)]
    ),
    "has no float64 left. The third bar is the same source with `fastmath=True`, which "
    "also removes both routines": lambda it: (
        it.careful.kinds["float64"] == it.careful.kinds["conversions"] == 0
        and (it.careful.kinds["calls"], it.fast.kinds["calls"]) == (2, 0)
    ),
    # times; the kernels of a pair load and store the same
    "*saxpy* takes as long with half of its instructions. It is not short of issue "
    "slots. Its memory is busy for two thirds of the time": lambda it: (
        about("0.66", it.times["saxpy"].counters["memory_percent"] / 100)
        and issuing(it.times["saxpy"]) < 0.4
        and alike(it, "saxpy", "saxpy, uint32")
        and 0.5
        < executed(it, it.times["saxpy, uint32"]) / executed(it, it.times["saxpy"])
        < 0.6
    ),
    "*split* executes twice *split_32*'s instructions, fills 84% of its slots, and "
    "takes 1.7 times as long": lambda it: (
        about("2.0", np.divide(*(
            executed(it, it.times[name]) for name in ("split", "split_32")
        )))
        and about("84%", issuing(it.times["split"]))
        and about("1.7", ratio(it, "split", "split_32"))
    ),
    "*split_known* executes a third of *split_32*'s, and saves nothing: both take as "
    "long as no work": lambda it: (
        alike(it, "split_32", "split_known", "no work")
        and about("3", np.divide(*(
            executed(it, it.times[name]) for name in ("split_32", "split_known")
        )))
    ),
    "*five_ways* executes four times as many instructions as *five_ways_narrow*: they "
    "fill most of its issue slots, and it takes a third longer": lambda it: (
        about("4", np.divide(*(
            executed(it, it.times[name]) for name in ("five_ways", "five_ways_narrow")
        )))
        and issuing(it.times["five_ways"]) > 0.8
        and 1.3 < ratio(it, "five_ways", "five_ways_narrow") < 1.4
    ),
    "the slow one, executes hardly more than *save_narrow*. Its slots are 56% used, "
    "and its memory 17%": lambda it: (
        abs(executed(it, it.times["save"]) - executed(it, it.times["save_narrow"])) <= 3
        and about("56%", issuing(it.times["save"]))
        and abs(it.times["save"].counters["memory_percent"] - 17) <= 0.5
    ),
    "for 84% of the time (`120 · 2 · 993 warps per scheduler / 282,365 "
    "cycles`)": lambda it: (
        about("84", 100 * 2 * it.wide_made.kinds["float64"] * it.N / 32 / it.SCHEDULERS
              / it.times["save"].counters["cycles"])
    ),
    "The narrow one leaves most slots empty. So `fastmath`, which takes a third of its "
    "instructions away, saves no time": lambda it: (
        issuing(it.times["five_ways_narrow"]) < 0.3
        and about("0.67", np.divide(*(
            executed(it, it.times[name])
            for name in ("five_ways_fast", "five_ways_narrow")
        )))
        and alike(it, "five_ways_fast", "five_ways_narrow")
    ),
    "A third of its warps' waiting is for memory": lambda it: (
        0.3 < it.times["save_narrow"].waits["global or local memory"] < 0.37
    ),
    # the controls: without any memory, and with half of the arithmetic
    "Without memory traffic it takes 22 µs less. Half of the arithmetic gone saves "
    "more, 29 µs": lambda it: (
        about("22", saved(it, "no_memory")) and about("29", saved(it, "half_as_long"))
    ),
    "`save_narrow` uses most of them": lambda it: (
        issuing(it.times["save_narrow"]) > 0.8
    ),
    # the divisions, beyond the loop that has none
    "The other `^`, before the product, keeps the compiler from making each product a "
    "subtraction": lambda it: (
        NO_COMPILER or multiplied(it, "a product, uint32") >= 64
    ),
    "divisions of `uint32` take 883 µs, and those by a number that the compiler knows "
    "107": lambda it: (
        about("883", beyond(it, "two uint32"))
        and about("107", beyond(it, "by 1,000, uint32"))
    ),
    "Two `int32` take half as long again as two `uint32`": lambda it: (
        about("1.5", beyond(it, "two int32") / beyond(it, "two uint32"))
    ),
    "Only of two `uint32` does the compiler know that 32 bits suffice": lambda it: (
        NO_COMPILER
        or {"two int32": 8, "two int64": 8, "two uint64": 16, "two uint32": 0}.items()
        <= {name: m.kinds["calls"] for name, m in made_often(it).items()}.items()
    ),
    "is for larger numbers; only the last row runs it, and takes three times as long "
    "as the one above": lambda it: (
        max(it.N, 1000 + 64) < 2**31
        and about(
            "3.1",
            beyond(it, "two int64, one large") / beyond(it, "two int64"),
        )
    ),
    "only one and a half times the time": lambda it: (
        1.45 < ratio(it, "save", "save_narrow") < 1.55
    ),
    # decades differ in nothing else
    "a `DFMA` takes two cycles and an `FFMA` one, within a few percent": lambda it: (
        np.allclose(further(it), [2, 1], rtol=0.07)
    ),
    "(1.07 an operation are issued)": lambda it: about(
        "1.07", (executed(it, it.longer[1]) - executed(it, it.times["save_narrow"]))
        / (9 * it.MONTHS)
    ),
    "The schedulers issue in every second cycle in float64, and in nearly each in "
    "`float32`": lambda it: (
        abs(issuing(it.longer[0]) - 0.5) < 0.04
        and issuing(it.longer[1]) > 0.97
    ),
    "over ten decades the factor is 1.89": lambda it: about(
        "1.89", it.longer[0].median_us / it.longer[1].median_us
    ),
    "would take 157 µs (`96.0 + (1,121 − 573) / 9`); it takes 143": lambda it: (
        about("157", us(it, "save_narrow") + sum(
            sign * (m.median_us - us(it, name)) / 9
            for sign, m, name in zip(
                (1, -1), it.longer, ("save", "save_narrow"), strict=True
            )
        ))
        and about("143", us(it, "save"))
    ),
    # exercises
    "36 in the line and 170 in its routine": lambda it: (
        36 == it.careless.by_line[five_lines(it)[-1]].total()
    ),
}
