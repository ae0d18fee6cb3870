"""What the lesson says of rounds, edges, plans and times, and when it is true.

Each cause has its control. That rounds and their rest cost time: one tile for all
beside the best tile, whole. That cutting pays: the best tile, whole, beside the plan of
the model. That measuring pays: the plan of the model beside the fastest of sixteen.
"""

from statistics import median

import numpy as np

from helpers import emulate
from helpers.plotting.grids import schedule
from tests.lessons.claims import about

BEST, MODEL = "any shape", "the model's plan"
LOWEST = {"512 × 512 × 512", "16384 × 4096 × 64"}


def tiles_of(it, rows, cols, tile="128 × 128"):
    """How many tiles cover so many rows and columns."""
    high, wide, _ = it.sides(tile)
    return it.up(rows, high) * it.up(cols, wide)


def rounds(lengths, cores):
    """How long blocks take on some multiprocessors, one at a time."""
    rows = schedule(lengths, cores, 1)
    return max(start + lengths[block] for _, start, block in rows)


def cut(it):
    """How long the cut tiles of the picture take, in whole tiles."""
    return rounds(it.lengths, 4) / 4


def for_the_same(it, tile):
    """How long a tile's steps take, among others, for an element of c."""
    rows, cols, _ = it.sides(tile)
    return it.STEP_US[tile][0] / (rows * cols)


def banks_of_copies(it):
    """In how many banks a warp's 32 copies of a lie, for each tile."""
    lanes = np.arange(32)
    return {
        len({*((it.sides(tile)[0] + 4) * (lanes % 8) + lanes // 8) % 32})
        for tile in it.TILES
    }


def copied_sectors(it):
    """The sectors that 20 of 32 lanes ask for."""
    src = np.arange(1, 21, dtype=np.float32)
    run = emulate(it.copy_end)[1, 32](np.empty(32, np.float32), src)
    return run.coalescing.by_kind["load"].sectors


def races_of_pieces(it):
    """The scopes of the races of pieces that add to c themselves."""
    arrays = np.zeros(1, np.float32), *np.ones((2, 64), np.float32)
    return {one.scope for one in emulate(it.add_pieces_wrong)[4, 1](*arrays, 16).races}


def worst(it, kind):
    """The lowest share of cuBLAS's speed of a kind of plan."""
    return min(it.share(kind, shape) for shape in it.SHAPES)


def few(it):
    """The shapes with fewer tiles of 128 × 128 than multiprocessors."""
    sides = {each: [*map(int, each.split(" × "))] for each in it.SHAPES}
    return [each for each, (m, _, n) in sides.items() if tiles_of(it, m, n) < 132]


def gain(it, shape):
    """How much faster the fastest of sixteen plans is than the model's."""
    return it.share(BEST, shape) / it.share(MODEL, shape)


def model(it, shape):
    """The plan that the model likes best for a shape, and its time."""
    sizes = tuple(map(int, shape.split(" × ")))
    plan = it.plans_for(*sizes)[0]
    return plan, it.model_us(plan, *sizes[1:])


def missed(it, shape):
    """The measured time of the model's plan, by the model's."""
    return it.baseline(f"{MODEL} {shape}").median_us / model(it, shape)[1]


def us(it, shape):
    """The time of cuBLAS."""
    return it.baseline(f"cuBLAS {shape}").median_us


def lonely(it, tile):
    """A step's time alone, by that among others."""
    return it.STEP_US[tile][1] / it.STEP_US[tile][0]


def left_by_the_last(it, tiles, tile):
    """The share that is left of a GPU by tiles that come two at a time, if the last
    ones are alone.
    """
    among, alone = it.STEP_US[tile]
    full = tiles // 132 // 2 * 2
    return tiles / 132 * among / (full * among + alone)


def gained_by_whole(it, shape):
    """How much faster the best tile is than the largest, in %."""
    return 100 * (it.share("whole tiles", shape) / it.share("one tile", shape) - 1)


def expected_of_whole(it, shape):
    """How much faster the model's best tile is than the largest, in %."""
    m, k, n = map(int, shape.split(" × "))
    whole = [one for one in it.plans_for(m, k, n) if one[1] == one[2]]
    took = {one[0]: it.model_us(one, k, n) for one in whole}
    return 100 * (took[it.ONE_TILE] / min(took.values()) - 1)


def middle(it, kind):
    """The median share of cuBLAS's speed of a kind of plan."""
    return median(it.share(kind, shape) for shape in it.SHAPES)


CLAIMS = {
    "64 × 64 elements are one tile, a quarter full": lambda it: (
        tiles_of(it, 64, 64) == 1 and 64 * 64 * 4 == 128 * 128
    ),
    "1000 × 1000 elements are 64 tiles: half of the GPU idles": lambda it: (
        tiles_of(it, 1000, 1000) == 64 and 0.48 < 64 / 132 < 0.5
    ),
    "ten tiles take the time of twelve": lambda it: (
        rounds(dict.fromkeys(range(10), 4), 4) == rounds(dict.fromkeys(range(12), 4), 4)
    ),
    "The twelve blocks take two and a half rounds, which is all that there is to do": (
        lambda it: len(it.lengths) == 12 and cut(it) == 2.5 == 10 / 4
    ),
    "The last of the four products has one tile, but its sums have 16,384 steps": (
        lambda it: tiles_of(it, 64, 64) == 1
    ),
    "All zeros beyond the end; and the GPU is asked for three sectors": lambda it: (
        (it.copied[:20] == np.arange(1, 21)).all()
        and not it.copied[20:].any()
        and copied_sectors(it) == 3
    ),
    "With four numbers of padding in each row, each has a bank of its own": (
        lambda it: banks_of_copies(it) == {32}
    ),
    "There are seven tiles, and for large products ten or more ways to cut each": (
        lambda it: (
            len(it.TILES) == 7
            and min(len(it.cuts_of(tile, 1000, 10000, 1000)[1]) for tile in it.TILES)
            > 9
        )
    ),
    "tiles of 64 × 128 are as good as the largest, and the smallest take three "
    "quarters longer for the same work": lambda it: (
        abs(for_the_same(it, "64 × 128") / for_the_same(it, "128 × 128") - 1) < 0.05
        and about("1.76", for_the_same(it, "32 × 32") / for_the_same(it, "128 × 128"))
    ),
    "⌈1100 / 132⌉ = 9 rounds, with places for 1,188 tiles: 93%": lambda it: (
        it.up(1100, 132) == 9 and 9 * 132 == 1188 and round(100 * 1100 / 1188) == 93
    ),
    "Two blocks load the same old sum": lambda it: races_of_pieces(it) == {"grid"},
    "The last one has a thousandth of the first one's multiplications, and the kernel "
    "needs more than a hundred times as long as cuBLAS": lambda it: (
        about("0.001", 64 * 16384 * 64 / 4096**3)
        and it.FOUR[0] == "4096 × 4096 × 4096"
        and it.FOUR[3] == "64 × 16384 × 64"
        and it.share("one tile", it.FOUR[3]) < 1
    ),
    "All thirty reach about nine tenths of cuBLAS's speed or more, and the median is "
    "103%": lambda it: (
        len(it.SHAPES) == 30
        and worst(it, BEST) > 89.5
        and about("103", middle(it, BEST))
    ),
    "One tile loses where tiles are few or just begin another round": (
        lambda it: max(it.share("one tile", each) for each in few(it)) < 60
        and about("1.09", tiles_of(it, 1536, 1536) / 132)
        and it.share("one tile", "1536 × 1536 × 1536") < 71
    ),
    "128 × 16384 × 128 goes from 6% to more than 99%": lambda it: (
        about("6", it.share("whole tiles", "128 × 16384 × 128"))
        and it.share(BEST, "128 × 16384 × 128") > 99
    ),
    "For 19 shapes, measuring changes less than 3%": lambda it: (
        sum(0.97 < gain(it, shape) < 1.03 for shape in it.SHAPES) == 19
    ),
    "For two of the others it gains 60 and 66%: for the fifth of the table above, and "
    "for 1023 × 1025 × 1027": lambda it: (
        about("60%", gain(it, "100 × 1000 × 10000") - 1)
        and about("66%", gain(it, "1023 × 1025 × 1027") - 1)
        and sum(gain(it, each) > 1.5 for each in it.SHAPES) == 2
    ),
    "where the model cuts the last eight tiles into 22 pieces each": lambda it: (
        model(it, "1023 × 1025 × 1027")[0] == ("64 × 64", 272, 264, 22, 48)
    ),
    "Idle halves alone would leave the third product 48%, and it reaches 31": (
        lambda it: (
            about("48", it.rounds_of(it.FOUR[2])[3])
            and about("31", it.share("one tile", it.FOUR[2]))
        )
    ),
    "A lonely block, whose waits nobody fills, explains most of the rest: "
    "such a step takes half as long again": lambda it: (
        about("1.5", lonely(it, "128 × 128"))
        and about("31", it.rounds_of(it.FOUR[2])[3] / lonely(it, "128 × 128"))
    ),
    "In the odd square, four rounds and a lonely fifth leave 79% of the GPU": (
        lambda it: it.rounds_of(it.FOUR[1])[1:3] == (576, 5)
        and about("4.36", 576 / 132)
        and about("79", 100 * left_by_the_last(it, 576, "128 × 128"))
    ),
    "though the room for its tiles lets at most 12 fit": lambda it: (
        228 * 1024 // (4 * it.TILES["32 × 32"][5] * it.step_size("32 × 32") + 1024)
        == 12
    ),
    "Tiles of 32 × 64: two, in 128 pieces each, so 256 blocks": lambda it: (
        model(it, it.FOUR[3])[0] == ("32 × 64", 2, 0, 128, 128)
    ),
    "0.42 µs alone, and two of them for 0.51": lambda it: (
        it.STEP_US["32 × 64"][1] == 0.42 and 2 * it.STEP_US["32 × 64"][0] == 0.51
    ),
    "Half as many pieces, of twice the length, are lonely. Twice as many are no "
    "faster, and there is more to add. "
    "A larger tile with as many blocks has more to add": lambda it: (
        it.rounds_us("32 × 64", 128, 16) > it.rounds_us("32 × 64", 256, 8)
        and it.rounds_us("32 × 64", 512, 4) >= it.rounds_us("32 × 64", 256, 8)
        and it.model_us(("32 × 64", 2, 0, 256, 64), 16384, 64)
        > it.model_us(("32 × 64", 2, 0, 128, 128), 16384, 64)
        and it.model_us(("64 × 64", 1, 0, 256, 64), 16384, 64)
        > it.model_us(("32 × 64", 2, 0, 128, 128), 16384, 64)
    ),
    "the last one takes a hundredth of its time with one tile": lambda it: (
        0.007 < it.share("one tile", it.FOUR[3]) / it.share(MODEL, it.FOUR[3]) < 0.0105
    ),
    "By these plans the four products of the first table reach cuBLAS, or nearly": (
        lambda it: min(it.share(MODEL, each) for each in it.FOUR) > 98
    ),
    "For the four, the model is off by an eighth at most": lambda it: (
        max(abs(missed(it, each) - 1) for each in it.FOUR) < 0.13
    ),
    "measured, the plan takes over half as long again as the model says": (
        lambda it: 1.5 < missed(it, "100 × 1000 × 10000") < 1.6
    ),
    "a deep one with one tile stays near a twentieth": lambda it: all(
        3.5 < it.share("whole tiles", f"{n} × 16384 × {n}") < 6
        and tiles_of(it, n, n) == 1
        for n in (64, 128)
    ),
    "for 5000 × 3000 × 7000 the best whole one gains 9%. "
    "The model expects 7%": (
        lambda it: (
            about("9", gained_by_whole(it, "5000 × 3000 × 7000"))
            and about("7", expected_of_whole(it, "5000 × 3000 × 7000"))
        )
    ),
    "For 8192 it loses 3%, though the model's plan is among the sixteen": lambda it: (
        about("0.97", gain(it, "8192 × 8192 × 8192"))
    ),
    "cuBLAS, to which it is held, reaches about a ninth of the peak there": lambda it: (
        about("0.11", 2 * 64 * 64 * 16384 / us(it, it.FOUR[3]) / 67e6)
    ),
    "The two lowest, at 90%, are 512 × 512 × 512 and 16384 × 4096 × 64": lambda it: (
        all(about("90", it.share(BEST, each)) for each in LOWEST)
        and {each for each in it.SHAPES if it.share(BEST, each) < 92} == LOWEST
    ),
}
