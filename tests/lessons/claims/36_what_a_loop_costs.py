"""What lesson 36 says of its times, counts and instructions, and when it is true."""

from numba import int32, int64, uint32, uint64

from helpers import assemble, baseline
from tests.lessons.claims import about
from thirty_two_lanes.assembly.report import source_lines

TURN = 144  # the instructions between the two labels of the loop, counted by hand


def ratio(one, two):
    """How many times as long as the second the first takes."""
    return one.median_us / two.median_us


def alike(one, two):
    return abs(ratio(one, two) - 1) < 0.02


def per_step(it, measured):
    return it.step(measured)[2]


def assembled(it, kernel, *more, shared_bytes=0):
    """What the compiler made of a product of 1024 × 1024."""
    return assemble(kernel)[*it.LAUNCH, 0, shared_bytes](*it.big, *more)


def on_line(assembly, text):
    """The instructions of the first source line that begins so."""
    lines = source_lines(assembly.function).items()
    return assembly.by_line[
        next(n for n, it in lines if it.strip().startswith(text))
    ]


def asks(it, kernel, *more):
    """The instructions by which an assembly masks what an index may lack."""
    return assembled(it, kernel, *more).opcodes["LOP3"]


def turn(assembly):
    """The loads and products of a turn of the loop, in their order."""
    names = [it.base for it in assembly.instructions if it.base in ("LDG", "FFMA")]
    return names[: [n for n, it in enumerate(names) if it == "FFMA"][3] + 1]


def loads_before(assembly, product):
    """How many loads of a turn come before one of its products."""
    names = turn(assembly)
    at = [n for n, it in enumerate(names) if it == "FFMA"][product - 1]
    return names[:at].count("LDG")


def gaps(it):
    """How much longer than C++ each kernel takes, as a share."""
    for T, bits in ((int64, ", 64-bit"), (uint32, "")):
        ours = it.in_while[T], it.in_tiles[T, True]
        for mine, theirs in zip(ours, ("naive", "tiled"), strict=True):
            yield ratio(mine, baseline(f"CUDA C++ {theirs}{bits} 1024")) - 1


def added(it):
    """The instructions that `range` adds to each step, and the question for a sign."""
    for one, other in (
        (it.in_range[uint64], it.in_while[uint64]),
        (it.from_start, it.in_while[int64]),
    ):
        yield per_step(it, one) - per_step(it, other)


def added_beside(it):
    """What each adds to each step where the other one is there."""
    both = per_step(it, it.in_range[int64])
    return [both - per_step(it, one) for one in (it.in_range[uint64], it.from_start)]


def chosen(it, assembly):
    """The choices at the end of a turn."""
    return sum(line.startswith("USEL") for line in it.after_loads(assembly))


def for_each_product(assembly):
    return round(len(assembly.instructions) / assembly.opcodes["FFMA"])


def in_turn(assembly):
    """The instructions for each product between the two jumps with most products."""
    turns = [[]]
    for it in assembly.instructions:
        turns[-1].append(it.base)
        if it.base == "BRA":
            turns.append([])
    longest = max(turns, key=lambda names: names.count("FFMA"))
    return len(longest) / longest.count("FFMA")


def taken_away(it):
    """The loads, and all that is neither load nor product, that the tile takes away."""
    for bare, tile in ([*four(it)][0::2], [*four(it)][1::2]):
        before, after = it.step(bare), it.step(tile)
        loads = before[1] - after[1]
        yield loads, before[2] - after[2] - loads


def waits_most(measured):
    return next(iter(measured.waits))


def four(it):
    """The times without and with a tile, of unknown and of known length."""
    return it.four.values()


CLAIMS = {
    "The tile makes the product 5.7 times as fast": lambda it: (
        about("5.7", ratio(it.plain, it.tiled))
    ),
    "a factor of 3.1 comes from a loop without any tile": lambda it: (
        about("3.1", ratio(it.plain, it.in_while[int64]))
    ),
    "A third of the time, by a loop that has nothing to do with tiles.": lambda it: (
        about("3.1", ratio(it.plain, it.in_while[int64]))
    ),
    "Between `while` and the tile, less than a factor of two is left": lambda it: (
        about("1.8", ratio(it.in_while[int64], it.tiled))
    ),
    "A GPU counted 36 for each warp.": lambda it: about("36", per_step(it, it.plain)),
    "Two lines share most of them, about half and half": lambda it: (
        (len(it.with_range.instructions), it.with_range.opcodes["FFMA"]) == (293, 5)
        and on_line(it.with_range, "for k").total() == 122
        and on_line(it.with_range, "total +=").total() == 127
    ),
    "and the 36 are a quarter of its instructions": lambda it: (
        about("36", per_step(it, it.plain))
        and TURN / 4 == 36
        and len(it.with_range.instructions) > 2 * TURN
    ),
    "`USEL` chooses what to take off and what to go on from": lambda it: (
        chosen(it, it.with_range) == 4 and chosen(it, it.with_while) == 0
    ),
    "two addresses are moved on, a counter goes up and is asked": lambda it: (
        (len(it.after_loads(it.with_range)), len(it.after_loads(it.with_while)))
        == (18, 10)
    ),
    "with products of 64 bits": lambda it: (
        on_line(it.with_range, "total +=")["IMAD"] > 20
    ),
    "a `while` loop removes the first, and a type without a sign the second": (
        lambda it: asks(it, it.make_range(uint64)) < 4 < asks(it, it.multiply)
    ),
    "a compiler that sees this knows that `k` is never negative": lambda it: (
        asks(it, it.make_while(int64)) + 8 < asks(it, it.multiply_from, 0)
    ),
    "Alone, each adds more than five times what you asked for.": lambda it: (
        min(added(it)) > 5 * 3 and max(added(it)) < 1.1 * min(added(it))
    ),
    "each adds only eleven or twelve, not even four times": lambda it: (
        about("11", min(added_beside(it))) and 11.5 < max(added_beside(it)) < 4 * 3
    ),
    "But it has ten instructions for each product, not 43": lambda it: (
        [for_each_product(made) for made in it.from_given.values()] == [43, 10]
        and it.from_given["uint64"].opcodes["LOP3"] < 4
    ),
    "in the turn alone fewer than six, not 25": lambda it: (
        24 < in_turn(it.from_given["int64"]) < 25
        and in_turn(it.from_given["uint64"]) < 6
    ),
    "`range` takes 1.6 times as long as `while`, with `uint32` 2.3 times": lambda it: (
        about("1.6", ratio(it.in_range[uint64], it.in_while[uint64]))
        and about("2.3", ratio(it.in_range[uint32], it.in_while[uint32]))
    ),
    "that asks for the sign takes 2.4 times as long": lambda it: (
        about("2.4", ratio(it.from_start, it.in_while[int64]))
    ),
    "the product needs three times what it needs with neither": lambda it: (
        about("3", ratio(it.in_range[int64], it.in_while[int64]))
    ),
    "`int32` keeps the question in a `while` loop, too": lambda it: (
        assembled(it, it.make_while(int32)).opcodes["SEL"] > 20
        and assembled(it, it.make_while(uint32)).opcodes["SEL"] == 0
        and ratio(it.in_while[int32], it.in_while[uint32]) > 2
    ),
    "in a `while` loop, and a third more time": lambda it: (
        about("1.3", ratio(it.in_while[uint64], it.in_while[int64]))
        or about("1.4", ratio(it.in_while[uint64], it.in_while[int64]))
    ),
    "Two of its eight loads leave only after the third product": lambda it: (
        loads_before(assembled(it, it.make_while(int64)), 3) == 8
        and loads_before(assembled(it, it.make_while(uint64)), 3) == 6
    ),
    "the compiler writes the body out sixteen times, not four": lambda it: (
        assembled(it, it.make_while(uint32)).opcodes["FFMA"] == 16 + 8 + 4 + 1
        and assembled(it, it.make_while(uint64)).opcodes["FFMA"] == 4 + 1
    ),
    "A tenth fewer instructions than with `int64` take more than a fifth less": (
        lambda it: about("1", per_step(it, it.in_while[int64]) - 7.3)
        and about("7.3", per_step(it, it.in_while[uint32]))
        and 0.2 < 1 - ratio(it.in_while[uint32], it.in_while[int64]) < 0.25
    ),
    "The known length takes away two instructions of each step": lambda it: all(
        about("2", per_step(it, unknown) - per_step(it, known))
        for unknown, known in ([*four(it)][:2], [*four(it)][2:])
    ),
    "a third of the loads are gone, and most of the others go to shared memory; of the "
    "other instructions even more are gone": (
        lambda it: all(
            about("0.3", loads / 2) and rest > loads for loads, rest in taken_away(it)
        )
    ),
    "The tile makes the product 1.3 to 1.4 times as fast": lambda it: (
        about("1.4", ratio(*[*four(it)][0::2]))
        and about("1.3", ratio(*[*four(it)][1::2]))
    ),
    "saves a seventh of the time without a tile, and a twelfth with one": lambda it: (
        about("7", 1 / (1 - 1 / ratio(*[*four(it)][:2])))
        and about("12", 1 / (1 - 1 / ratio(*[*four(it)][2:])))
    ),
    "Together it is a factor of 1.5.": lambda it: (
        about("1.5", ratio(*[*four(it)][0::3]))
    ),
    "from `range` to `while` with `uint32`, was worth four": lambda it: (
        about("4", ratio(it.plain, it.in_while[uint32]))
    ),
    "with a known side, the time is the same": lambda it: (
        alike(it.dynamic[32], it.in_tiles[uint32, True])
    ),
    "a third longer than with an unknown length alone": lambda it: (
        about("1.3", ratio(it.dynamic[0], it.in_tiles[uint32, False]))
    ),
    "no load takes four neighbours at once": lambda it: (
        assembled(it, it.make_dynamic(0), shared_bytes=it.SHARED).opcodes["LDS.128"]
        == 0
        < assembled(it, it.make_tiled(uint32, False)).opcodes["LDS.128"]
    ),
    "No difference. When the numbers are doubled, the instructions of `range`": (
        lambda it: alike(*it.doubles.values())
        and it.doubles["range"].counters["instructions"]
        > it.doubles["while"].counters["instructions"]
    ),
    "the kernel waits for memory, and leaves two thirds of its issue slots empty": (
        lambda it: about("0.33", it.doubles["range"].counters["issue_percent"] / 100)
        and all("memory" in waits_most(each) for each in it.doubles.values())
    ),
    "with 64 bits `range` takes as long as `while`": lambda it: (
        alike(it.tiled, it.in_tiles[int64, True])
    ),
    "in strips of 32 with `int64`, and the product takes longer than with `range`": (
        lambda it: ratio(it.strips[int64], it.plain) > 1.05
    ),
    "With `uint32` the strips gain.": lambda it: (
        ratio(it.in_while[uint32], it.strips[uint32]) > 1.1
    ),
    "the strips with `int64` were written out only eight times": lambda it: (
        assembled(it, it.make_strips(int64)).opcodes["FFMA"] == 8
        and assembled(it, it.make_strips(uint32)).opcodes["FFMA"] == 32
    ),
    "the compiler asks again whether the sum `at + k` is negative": lambda it: (
        asks(it, it.make_strips(int64)) >= 40 and asks(it, it.make_strips(uint32)) == 0
    ),
    "With `uint64`, says `assemble`, the same strips ask nothing.": lambda it: (
        asks(it, it.make_strips(uint64)) == 0
    ),
    "steps 2 and 3 gained, though the kernel already waited most": lambda it: all(
        "memory" in waits_most(before) and ratio(before, after) > 1.1
        for before, after in (
            (it.in_while[int64], it.in_while[uint32]),
            (it.in_while[uint32], it.strips[uint32]),
        )
    ),
    "With 64 bits C++ is 4 to 8% ahead.": lambda it: (
        [round(100 * gap) for gap in gaps(it)][:2] == [4, 8]
    ),
    "There Numba takes from 15% less to 5% more time.": lambda it: (
        [round(100 * gap) for gap in gaps(it)][2:] == [-15, 5]
    ),
}
