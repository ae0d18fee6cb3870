"""What the lesson says of its counts and times, and when it is true.

Each gain has its control: steps in a loop, signed and unsigned, beside steps written
out; copies that are waited for at once, and a barrier more, beside two halves; a
barrier more beside longer tiles; both orders of the products for four sizes.
"""

from itertools import pairwise
from math import prod

from numba import uint32

from helpers import assemble, baseline
from tests.lessons.claims import about


def saved(it, name, of):
    """The part of another's time that a rung or a control saves, both with the turning
    of a or both without.
    """
    assert it.of(name)[4] == it.of(of)[4]
    return 1 - alone(it, name) / alone(it, of)


def alone(it, name):
    """A rung's time without that of turning a."""
    return it.time(name) - (it.turning.median_us if it.of(name)[4] else 0)


def share(it, name):
    """A rung's share of cuBLAS's speed, with the turning of a."""
    return it.library.median_us / it.time(name)


def reached(it, name):
    """The share of the peak that a rung reached, in %."""
    return it.COLUMNS["reached, %"](name)


def instructions(it, name):
    return it.each(name, "instructions")


def wavefronts(it, name):
    return it.each(name, *it.SHARED)


def code(it, name):
    """A rung's machine code."""
    return assemble(it.of(name)[0])[it.launch(name)](*it.big)


def in_a_chain(it, name):
    """Does each FFMA of a rung add to what the one before it made?"""
    code_of = code(it, name).instructions
    fused = [one.operands.split(", ") for one in code_of if one.base == "FFMA"]
    beside = pairwise(fused)
    return all(last[0] == it[-1].removesuffix(".reuse") for last, it in beside)


def at_8192(name):
    """What something takes for matrices of twice the size."""
    return baseline(f"{name} 8192").median_us


def held(it, name):
    """The blocks that a multiprocessor holds of a rung."""
    return code(it, name).occupancy.blocks


def orders(it, what, size):
    """What both orders of the products have at a size."""
    return [what(f"{size}, {order}") for order in it.ORDERS]


def gained(it, what, size):
    """What the snake adds to something at a size."""
    before, after = orders(it, what, size)
    return after - before


def per_step(it, name):
    """The loads from shared memory that a GPU counted for a thread's step."""
    sums = 8 if name == "column of sums" else 64
    return round(sums * it.each(name, "shared_load_requests"), 2)


def by_wavefronts(it, name):
    """Do a rung's wavefronts allow less of the peak than its instructions?"""
    return 25 / wavefronts(it, name) < 100 / instructions(it, name)


def stalls(it, size):
    """By which share the snake changes the dispatch stalls of a size."""
    before, after = orders(it, it.stalled, size)
    return after / before - 1


def fused(it, kernel, high=128, wide=128, threads=256):
    """The FFMA in the machine code of a kernel for so many rows and columns."""
    found = assemble(kernel)[(1, 1), threads](*it.matrices(high, 32, wide))
    return found.opcodes["FFMA"]


def unsigned_loop(it, step):
    """Eight steps in a loop whose k is unsigned."""

    @it.part
    def steps(sums, near_a, near_b):
        for k in range(8):
            step(sums, near_a, near_b, uint32(k))

    return steps


def opcodes(it, steps):
    """The machine code of a column of sums with such steps, counted."""
    launch = it.launch("tiled")[0], 512
    return assemble(it.make_columns(steps))[launch](*it.big).opcodes


def wide_in_a_loop(it):
    """The kernel of parts, with such a loop instead of steps written out."""
    loop = {"written_out": lambda step, times: unsigned_loop(it, step)}
    names = it.make_wide.__globals__ | loop
    make = type(it.make_wide)(it.make_wide.__code__, names)
    return make((it.load_rows, it.load_rows), it.place_warps, it.STEP, it.STORE)


def banks(it, columns):
    """The wavefronts of a warp's load by fours from these cells on."""
    return wavefronts_of(it, columns, 16)


def wavefronts_of(it, cells, size):
    """The wavefronts of a warp's load of so many bytes from these cells on."""
    return it.plot_banks([4 * cell for cell in cells], size).alt


def by_shares(it, name):
    """What the four shares of a rung make, in %."""
    return 100 * prod(share(name) / 100 for share in list(it.SHARES.values())[1:5])


CLAIMS = {
    "a tiled product with a sixth of cuBLAS's speed": lambda it: (
        1 / 6.5 < share(it, "tiled") < 1 / 5.5
    ),
    "to one that is as fast as cuBLAS": lambda it: share(it, "snake") > 1,
    "a wavefront each, two in all": lambda it: (
        2 < it.emulated["tiled"] < 2.1  # with those of the stores
    ),
    "at the end, some have no block any more. *Slots used* leaves "
    "them out": lambda it: (
        all(95.5 < it.busy(name) < 98 for name in ("two halves", "more sums", "snake"))
        and it.busy("tiled") > 99  # which has 128 times as many blocks
    ),
    "Wavefronts are the limit: 15.9%, of which the kernel reaches four fifths": (
        lambda it: by_wavefronts(it, "tiled")
        and about("15.9", it.at_most("tiled"))
        and 0.78 < reached(it, "tiled") / it.at_most("tiled") < 0.82
    ),
    "The compiler lets one load bring four neighbours of `tile_a`, in two wavefronts: "
    "1 + 2/4, and 2/32 for stores": lambda it: (
        abs(wavefronts(it, "tiled") - (1 + 2 / 4 + 2 / 32)) < 0.02
        and banks(it, [0] * 32).endswith("1 + 1 = 2 wavefronts.")
        and code(it, "tiled").opcodes["LDS.128"] == 8
        and code(it, "tiled").opcodes["LDS"] == 32
    ),
    "On the next two rungs, too, all loads of `a` bring four": lambda it: (
        [per_step(it, name) for name in list(it.RUNGS)[1:3]] == [8 // 4 + 1, 8 // 4 + 8]
    ),
    "ten loads are left of 16. By fours, four would do": lambda it: (
        [per_step(it, name) for name in ("square of sums", "by fours")] == [10, 4]
    ),
    "eight `FFMA` need nine loads, not sixteen": lambda it: (
        9 / 8 < it.emulated["column of sums"] < 9 / 8 + 0.05
    ),
    "The column of sums takes half the time of the tiled product": lambda it: (
        0.48 < alone(it, "column of sums") / alone(it, "tiled") < 0.53
    ),
    # the control: the same steps in a loop
    "In a loop whose k is signed, the same idea loses: ten instructions for each "
    "`FFMA`, since every index is asked [whether it is negative]": (
        lambda it: alone(it, "column in a loop") > 1.5 * alone(it, "tiled")
        and about("10", instructions(it, "column in a loop"))
        and code(it, "column in a loop").opcodes["SEL"] > 20
        and code(it, "column of sums").opcodes["SEL"] < 2
        # the same loop, unsigned
        and opcodes(it, unsigned_loop(it, it.add_column))
        == opcodes(it, it.written_out(it.add_column, 8))
    ),
    "With `uint32(k)` the compiler writes that loop out itself, but not one around "
    "`load4`, two rungs on": lambda it: (
        fused(it, it.make_columns(unsigned_loop(it, it.add_column)), 64, 64, 512) == 64
        and fused(it, wide_in_a_loop(it)) == 64
        and fused(it, it.RUNGS["warp tiles"][0]) == 8 * 64
    ),
    "Eight numbers of `a` and eight of `b`, 16 loads": lambda it: (
        16 / 64 < it.emulated["square of sums"] < 16 / 64 + 0.05
    ),
    "promises that there are no more, and asks that two such blocks fit on a "
    "multiprocessor. That leaves 128 registers for a thread, half of them for sums": (
        lambda it: 65_536 // (2 * 256) == 128 == 2 * 8 * 8
        and it.RUNGS["square of sums"][0].targetoptions["launch_bounds"] == (256, 2)
        and held(it, "square of sums") == 2
    ),
    "Wavefronts fall to a third, and the time by nearly half": lambda it: (
        0.29
        < wavefronts(it, "square of sums") / wavefronts(it, "column of sums")
        < 0.35
        and 0.42 < saved(it, "square of sums", "column of sums") < 0.5
    ),
    # had its rows been side by side: 64 cells apart
    "So are its rows: a warp's lanes need two at once, and these lie in two banks": (
        lambda it: wavefronts_of(it, [8 * (lane // 16) for lane in range(32)], 4)
        .endswith("; 1 wavefront.")
        and wavefronts_of(it, [64 * (lane // 16) for lane in range(32)], 4)
        .endswith("; 2 wavefronts.")
    ),
    "Of the two counts, instructions are now the limit; but two fifths of the slots "
    "are empty, too": lambda it: (
        not by_wavefronts(it, "square of sums")
        and 38 < 100 - it.slots("square of sums") < 42
        and by_wavefronts(it, "column of sums")
    ),
    "Instructions fall by an eighth, and the time nearly as much": lambda it: (
        0.115
        < 1 - instructions(it, "by fours") / instructions(it, "square of sums")
        < 0.135
        and 0.1 < saved(it, "by fours", "square of sums") < 0.125
    ),
    "But there are more wavefronts, and these are the limit now": lambda it: (
        wavefronts(it, "by fours") > 1.5 * wavefronts(it, "square of sums")
        and by_wavefronts(it, "by fours")
    ),
    "in each quarter lanes meet in pairs": lambda it: (
        banks(it, [8 * (lane % 16) for lane in range(32)])
        .endswith("2 + 2 + 2 + 2 = 8 wavefronts.")
    ),
    # the control: the same parts but for the places
    "There are as many instructions, but fewer wavefronts, and the time falls by a "
    "seventh": lambda it: (
        abs(instructions(it, "warp tiles") / instructions(it, "by fours") - 1) < 0.005
        and wavefronts(it, "warp tiles") < 0.65 * wavefronts(it, "by fours")
        and it.each("warp tiles", "shared_load_conflicts")
        < 0.01 * it.each("by fours", "shared_load_conflicts")
        and 0.135 < saved(it, "warp tiles", "by fours") < 0.155
    ),
    "The picture's load takes four wavefronts, a quarter warp in each": lambda it: (
        banks(it, [4 * (lane % 4) for lane in range(32)])
        .endswith("1 + 1 + 1 + 1 = 4 wavefronts.")
    ),
    "A load of `a` takes two: there they are neighbours, and then [two quarters go "
    "together]": lambda it: (
        banks(it, [4 * (lane // 4) for lane in range(32)])
        .endswith("1 + 1 = 2 wavefronts.")
    ),
    "With two loads of each, that is 12 for a step's 64 `FFMA`": lambda it: (
        about("12.0", 64 * it.each("A turned", "shared_load_wavefronts"))
        and about("12.0", 64 * it.each("warp tiles", "shared_load_wavefronts"))
    ),
    "Counts now allow nine tenths of the peak, but a third of the slots is empty": (
        lambda it: 88 < it.at_most("warp tiles") < 92
        and 30 < 100 - it.slots("warp tiles") < 35
    ),
    "The time rises by 2%. Turning takes about half of it; why the kernel is slower": (
        lambda it: about("2", 100 * (it.time("A turned") / it.time("warp tiles") - 1))
        and 0.4
        < it.turning.median_us / (it.time("A turned") - it.time("warp tiles"))
        < 0.65
        and alone(it, "A turned") > alone(it, "warp tiles")
    ),
    # two blocks beside each other, and slots that are empty all the same
    "Another block beside it fills some of the gaps, not all": lambda it: (
        held(it, "A turned") == 2 and it.slots("A turned") < 70
    ),
    "Two kernels in folded cells change them one by one": lambda it: all(
        it.wavefronts(name, 32) > 0  # which checks the product, and its races
        for name in list(it.CONTROLS)[:4]
    ),
    # each from the one before it by one change
    "Copies that are waited for at once save 4%; the overlap, in another loop, 7%, "
    "although it adds 4% of instructions; the barrier that is gone, 1%": lambda it: (
        about("4%", saved(it, "copied, one half", "A turned"))
        and about("7%", saved(it, "two halves, two barriers", "copied, one half"))
        and about(
            "4%",
            instructions(it, "two halves, two barriers")
            / instructions(it, "copied, one half")
            - 1,
        )
        and about("1%", saved(it, "two halves", "two halves, two barriers"))
    ),
    "It needs so many registers (251) that a multiprocessor holds one block instead of "
    "two": lambda it: (
        code(it, "more sums").registers == 251
        and held(it, "more sums") == 1 and held(it, "two halves") == 2
    ),
    "The two halves take all of the 48 KB that it gets without asking": lambda it: (
        2 * 16 * (256 + 128) * 4 == 48 * 1024
    ),
    "*More sums* saves 5%; instructions are 4% fewer": lambda it: (
        about("5%", saved(it, "more sums", "two halves"))
        and about(
            "4%", 1 - instructions(it, "more sums") / instructions(it, "two halves")
        )
    ),
    "*Longer tiles* saves another 6%": lambda it: (
        about("6%", saved(it, "longer tiles", "more sums"))
    ),
    # the control: longer tiles with a barrier more
    "with a barrier in the middle of each tile, is no slower. Instructions are 2% "
    "fewer": lambda it: (
        alone(it, "longer, as many barriers") < 1.002 * alone(it, "longer tiles")
        and about(
            "2%", 1 - instructions(it, "longer tiles") / instructions(it, "more sums")
        )
    ),
    # the four pairs differ in the order of the products, and in nothing else
    "the snake keeps more numbers. In how many does it save time?": lambda it: all(
        before < after
        for before, after in (orders(it, it.kept, size) for size in it.SIZES)
    ),
    "In two. With few sums it adds most to what is kept, and *loses* time": lambda it: (
        [gained(it, it.time, size) < 0 for size in it.SIZES]
        == [False, False, True, True]
        and min(gained(it, it.kept, size) for size in it.SIZES[:2])
        > max(gained(it, it.kept, size) for size in it.SIZES[2:])
    ),
    "by a third where time is saved, and hardly or not elsewhere": lambda it: (
        all(abs(stalls(it, size)) < 0.1 for size in it.SIZES[:2])
        and all(-0.4 < stalls(it, size) < -0.3 for size in it.SIZES[2:])
    ),
    "*Reached* is the product of the four shares before it": lambda it: (
        all(abs(by_shares(it, name) - reached(it, name)) < 0.6 for name in it.RUNGS)
    ),
    "The snake is six times as fast as the tiled product, with an eighth of its "
    "warps": lambda it: (
        about("6", it.time("tiled") / it.time("snake"))
        and about("8", it.SHARES["warps, %"]("tiled") / it.SHARES["warps, %"]("snake"))
    ),
    "The clock stayed at its peak": lambda it: all(
        1965 < rung.counters["cycles"] / rung.median_us < 1995
        for rung in it.profiled.values()
    ),
    "A tiled warp mostly waits for shared memory and barriers": lambda it: (
        sum((stalled := it.profiled["tiled"].counters["stalls"]).values())
        < 2 * (stalled["mio_throttle"] + stalled["barrier"])
    ),
    "A thread of the snake has 128 sums": lambda it: not in_a_chain(it, "snake"),
    "with one step back, at *by fours*": lambda it: (
        [
            it.at_most(after) < it.at_most(before)
            for before, after in zip(
                list(it.RUNGS)[:4], list(it.RUNGS)[1:5], strict=True
            )
        ]
        == [False, False, True, False]
    ),
    "L2 works at 7% of its peak, memory at 3%": lambda it: (
        about("7", it.profiled["snake"].counters["l2_percent"])
        and about("3", it.profiled["snake"].counters["memory_percent"])
    ),
    "what counts allow rises from a sixth of the peak to nine tenths": lambda it: (
        1 / 7 < it.at_most("tiled") / 100 < 1 / 5.5
        and 88 < it.at_most("warp tiles") < 92
    ),
    "From there on it stays near that, and most rungs fill empty slots": (
        lambda it: (
            all(86 < it.at_most(name) < 92 for name in list(it.RUNGS)[4:])
            and it.slots("snake") - it.slots("warp tiles") > 15
        )
    ),
    "The same rungs in CUDA C++ are from 5% faster to 3% slower": lambda it: (
        [
            round(100 * (baseline(f"CUDA C++ {twin} {it.N}").median_us
                         / alone(it, name) - 1))
            for name, twin in it.TWINS.items()
        ]
        == [-5, 3, 3]
    ),
    "At twice the size turning weighs half as much, and the whole reaches 102% of "
    "cuBLAS": lambda it: (
        about("102%", at_8192("cuBLAS") / (at_8192("snake") + at_8192("turning A")))
        and 0.4
        < at_8192("turning A") / at_8192("snake") / (it.turning.median_us
                                                     / alone(it, "snake"))
        < 0.6
    ),
    "A multiprocessor holds one of our 512 blocks, so 132 multiprocessors take four "
    "rounds, where 3.88 would do": lambda it: (
        it.launch("snake")[0][0] * it.launch("snake")[0][1] == 512
        and about("3.88", 512 / 132)
        and held(it, "snake") == 1
    ),
}
