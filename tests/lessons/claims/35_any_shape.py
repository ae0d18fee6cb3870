"""What the lesson says of rounds, edges, plans and times, and when it is true.

Each cause has its control. That rounds and their rest cost time: one tile for all
beside the best tile, whole. That cutting pays: the best tile, whole, beside the plan of
the model. That measuring pays: the plan of the model beside the fastest of twelve.
"""

from statistics import median

import numpy as np

from helpers import emulate
from helpers.plotting.grids import schedule
from tests.lessons.claims import about

BEST, MODEL = "any shape", "the model's plan"


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


def above(it, kind, percent):
    """How many of the shapes reach so much of cuBLAS's speed."""
    return sum(it.share(kind, shape) >= percent for shape in it.SHAPES)


def few(it):
    """The shapes with fewer tiles of 128 × 128 than multiprocessors."""
    sides = {each: [*map(int, each.split(" × "))] for each in it.SHAPES}
    return [each for each, (m, _, n) in sides.items() if tiles_of(it, m, n) < 132]


def odd(shape):
    """Is n, the last of a shape, odd?"""
    return int(shape.split(" × ")[2]) % 2 == 1


def gain(it, shape):
    """How much faster the fastest of twelve plans is than the model's."""
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


def by_one(it, tile):
    """A step's time with copies of single numbers, by that with fours."""
    return it.STEP_US[tile][2] / it.STEP_US[tile][0]


def left_by_one(it, tiles, tile):
    """The share that is left of a GPU by tiles that come two at a time, copied number
    by number, if the last ones are alone.
    """
    _, _, among, alone = it.STEP_US[tile]
    full = tiles // 132 // 2 * 2
    return tiles / 132 * it.STEP_US[tile][0] / (full * among + alone)


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
    "64 × 64 elements fit into one tile": lambda it: tiles_of(it, 64, 64) == 1,
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
    "There are six tiles, and for large products ten or more ways to cut each": (
        lambda it: (
            len(it.TILES) == 6
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
    "Twenty-six of the thirty reach nine tenths of cuBLAS's speed, "
    "and the median is 99%": (
        lambda it: (
            (above(it, BEST, 90), len(it.SHAPES)) == (26, 30)
            and about("99", middle(it, BEST))
        )
    ),
    "One tile loses where tiles are few or just begin another round, or n is odd": (
        lambda it: max(it.share("one tile", each) for each in few(it)) < 60
        and about("1.09", tiles_of(it, 1536, 1536) / 132)
        and it.share("one tile", "1536 × 1536 × 1536") < 70
        and max(it.share("one tile", each) for each in it.SHAPES if odd(each)) < 85
    ),
    "128 × 16384 × 128 goes from 6% to 99%": lambda it: (
        about("6", it.share("whole tiles", "128 × 16384 × 128"))
        and about("99", it.share(BEST, "128 × 16384 × 128"))
    ),
    "For 21 shapes, measuring changes less than 3%": lambda it: (
        sum(0.97 < gain(it, shape) < 1.03 for shape in it.SHAPES) == 21
    ),
    "For one of the others it gains two fifths": lambda it: (
        about("0.4", gain(it, "100 × 1000 × 10000") - 1)
        and gain(it, "100 × 1000 × 10000") == max(gain(it, each) for each in it.SHAPES)
    ),
    "The worst is 1023 × 1025 × 1027": lambda it: (
        it.share(BEST, "1023 × 1025 × 1027") == worst(it, BEST)
    ),
    "its last three columns need tiles of their own, 136 in all instead of 128": (
        lambda it: (
            tiles_of(it, 1023, 1027, "128 × 64") == 136
            and tiles_of(it, 1024, 1024, "128 × 64") == 128
            and tiles_of(it, 1023, 1024, "128 × 64") == 128
            and model(it, "1023 × 1025 × 1027")[0][0] == "128 × 64"
        )
    ),
    "The model says that they cost three tenths; we did not measure 1023 columns": (
        lambda it: about(
            "1.3",
            model(it, "1023 × 1025 × 1027")[1] / model(it, "1023 × 1025 × 1023")[1],
        )
    ),
    "Idle halves alone would leave the third product 48%, and it reaches 30": (
        lambda it: (
            about("48", it.rounds_of(it.FOUR[2])[3])
            and about("30", it.share("one tile", it.FOUR[2]))
        )
    ),
    "A lonely block, whose waits nobody fills, explains most of the rest: "
    "such a step takes half as long again": lambda it: (
        about("1.5", lonely(it, "128 × 128"))
        and about("31", it.rounds_of(it.FOUR[2])[3] / lonely(it, "128 × 128"))
    ),
    "A step then takes a sixth longer, "
    "and with four rounds and a lonely fifth it leaves 66%": lambda it: (
        about("1.2", by_one(it, "128 × 128"))
        and abs(by_one(it, "128 × 128") - 7 / 6) < 0.02
        and it.rounds_of(it.FOUR[1])[1:3] == (576, 5)
        and about("4.36", 576 / 132)
        and about("66%", left_by_one(it, 576, "128 × 128"))
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
        it.rounds_us("32 × 64", 128, 16, 64) > it.rounds_us("32 × 64", 256, 8, 64)
        and it.rounds_us("32 × 64", 512, 4, 64) >= it.rounds_us("32 × 64", 256, 8, 64)
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
        max(abs(missed(it, each) - 1) for each in it.FOUR) <= 0.126
    ),
    "measured, the plan takes half as long again as the model says": lambda it: about(
        "1.5", missed(it, "100 × 1000 × 10000")
    ),
    "a deep one that fits into one tile stays near a twentieth": lambda it: all(
        3.5 < it.share("whole tiles", f"{n} × 16384 × {n}") < 6
        and tiles_of(it, n, n) == 1
        for n in (64, 128)
    ),
    "for 8192 × 8192 × 8192 the best whole one gains 6%. "
    "The model expects 2% of them": (
        lambda it: (
            about("6", gained_by_whole(it, "8192 × 8192 × 8192"))
            and about("2", expected_of_whole(it, "8192 × 8192 × 8192"))
            and gained_by_whole(it, "5000 × 3000 × 7000") > 6
        )
    ),
    "For 8192 it loses 3%, though the model's plan is among the twelve": lambda it: (
        about("0.97", gain(it, "8192 × 8192 × 8192"))
    ),
    "For 512, a whole tile was faster": lambda it: (
        it.share(BEST, "512 × 512 × 512") < it.share("whole tiles", "512 × 512 × 512")
    ),
    "cuBLAS, to which it is held, reaches about a ninth of the peak there": lambda it: (
        about("0.11", 2 * 64 * 64 * 16384 / us(it, it.FOUR[3]) / 67e6)
    ),
    "Four shapes stay below nine tenths": lambda it: above(it, BEST, 90) == 26,
}
