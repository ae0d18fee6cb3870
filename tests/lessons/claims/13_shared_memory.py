"""What the lesson says of its measurements, and when it is true."""

from collections import Counter

import numpy as np
import pytest
from numba import cuda, float32

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.lessons.counted import near
from thirty_two_lanes.assembly.compiler import missing


def each(m, counter):
    """What a warp of a launch over 64 million elements did."""
    return 32 * m.counters[counter] / 2**26


def busy(m):
    """The cycles for which a warp keeps the data path busy."""
    return each(m, "lsu_wavefronts")


def alike(measurements, *counters):
    """Do the counters of these launches agree?"""
    return all(len({m.counters[it] for m in measurements}) == 1 for it in counters)


def loss(no_tile, a_tile):
    """The microseconds that a tile costs."""
    return a_tile.median_us - no_tile.median_us


def told(words, *measurements):
    """Are these the microseconds of the launches?"""
    return [int(it) for it in words.split()] == [
        round(m.median_us) for m in measurements
    ]


def names(kernel, *arguments):
    """A kernel's machine instructions in order, without their options."""
    code = assemble(kernel)[16, 256](*arguments).instructions
    return [one.opcode.partition(".")[0] for one in code]


def of_signs(it):
    """The instructions that unsigned indices save."""
    kernels = it.add_window_tiled, it.add_window_unsigned
    signed, unsigned = (len(names(kernel, it.out, it.a)) for kernel in kernels)
    return signed - unsigned


def differ_in_the_tile(it):
    """Is the machine code of the padded kernels alike but for the tile's requests?"""
    padded = np.pad(it.a, it.RADIUS)
    plain, tiled = (
        Counter(names(kernel, it.out, padded))
        for kernel in (it.add_padded, it.add_padded_tiled)
    )
    return (
        (plain["LDG"], plain["LDS"], plain["STS"], plain["BAR"]) == (9, 0, 0, 0)
        and (tiled["LDG"], tiled["LDS"], tiled["STS"], tiled["BAR"]) == (2, 9, 2, 1)
        and (plain["FADD"], plain["STG"]) == (tiled["FADD"], tiled["STG"]) == (9, 1)
    )


def loads(kernel, it):
    """How often each element is loaded."""
    run = emulate(kernel)[it.N // it.THREADS, it.THREADS](it.out, it.a)
    return run.reuse["a"].loads


@cuda.jit
def sized_by_argument(out, cells):
    tile = cuda.shared.array(cells, float32)
    tile[cuda.threadIdx.x] = out[cuda.threadIdx.x]


def late_shape_is_refused(it):
    """Is an argument no shape?"""
    with pytest.raises(TypeError, match="must be a number known when"):
        emulate(sized_by_argument)[1, 32](it.out, 32)
    return True


def unwritten_cells(it):
    """How many cells of the tile without the end of its halo are read unwritten."""
    run = emulate(it.add_window_wrong)[it.N // it.THREADS, it.THREADS](it.out, it.a)
    return run.uninitialised[0].count


def sectors(it, kernel):
    """The sectors of a transpose's loads and of its stores, by the request."""
    run = emulate(kernel)[(2, 2), (32, 32)](it.turned, it.small)
    rows = (run.coalescing.by_kind[kind] for kind in ("load", "store"))
    return [row.sectors / row.requests for row in rows]


def wins(m, other):
    """The share of another launch's time that a launch takes."""
    return m.median_us / other.median_us


CLAIMS = {
    "The lanes of a warp load from one row: 4 sectors. But they store into one column: "
    "32 sectors": lambda it: sectors(it, it.transpose) == [4, 32],
    "the lanes store into a row. Then they load from a column": lambda it: (
        sectors(it, it.transpose_down) == [32, 4]
    ),
    "Its shape must be known when the kernel is compiled": late_shape_is_refused,
    "Four sectors for each request, the fewest possible": lambda it: (
        sectors(it, it.make_transpose(32)) == [4, 4]
    ),
    # transposes: each row differs from another one in what is named
    "with 33 columns it takes a third of the time of the first kernel": lambda it: near(
        wins(it.turns["a tile, 33 wide"], it.turns["stores down"]), 1 / 3, 0.05
    ),
    "and is not far from the copy": lambda it: (
        1 < wins(it.turns["a tile, 33 wide"], it.turns["a copy"]) < 1.15
    ),
    "L1 passes stores on as they come, so each sends 32 sectors to L2": lambda it: (
        about("32", each(it.turns["stores down"], "l2_write_sectors"))
    ),
    "it asks L2 for each sector once": lambda it: (
        about("32", each(it.turns["loads down"], "global_load_sectors"))
        and about("4", each(it.turns["loads down"], "l2_read_sectors"))
        and about("4", each(it.turns["loads down"], "l2_write_sectors"))
    ),
    "This kernel takes less than half of the time": lambda it: (
        wins(it.turns["loads down"], it.turns["stores down"]) < 0.5
        and alike([it.turns["stores down"], it.turns["loads down"]], "instructions")
        and near(busy(it.turns["stores down"]), busy(it.turns["loads down"]))
    ),
    "So a warp keeps the data path busy for 36 cycles, and in the copy for less than "
    "5": lambda it: (
        about("36", busy(it.turns["loads down"])) and 4 < busy(it.turns["a copy"]) < 5
    ),
    "A column of this tile is at one place, too": lambda it: (
        len({32 * row % 32 for row in range(32)}) == 1
        and abs(busy(it.turns["a tile, 32 wide"]) - busy(it.turns["loads down"])) < 1.5
        and all(
            about("4", each(it.turns["a tile, 32 wide"], f"global_{kind}_sectors"))
            for kind in ("load", "store")
        )
    ),
    "the kernel is even slower than without it": lambda it: (
        wins(it.turns["a tile, 32 wide"], it.turns["loads down"]) > 1.1
    ),
    "Now the numbers of a column come together": lambda it: (
        len({33 * row % 32 for row in range(32)}) == 32
    ),
    "one for each request to a tile, and some 31 for each column": lambda it: (
        about("2", busy(it.turns["a tile, 33 wide"]) - busy(it.turns["a copy"]))
        and all(
            30.5 < busy(it.turns[one]) - busy(it.turns[other]) < 32.5
            for one, other in (
                ("stores down", "a copy"),
                ("loads down", "a copy"),
                ("a tile, 32 wide", "a tile, 33 wide"),
            )
        )
    ),
    # control of the places: one matrix has rows that are one number longer
    "Loads down gains, and is then as fast as the tile": lambda it: (
        wins(it.longer["loads down"], it.turns["loads down"]) < 0.85
        and near(wins(it.longer["loads down"], it.longer["a tile, 33 wide"]), 1)
    ),
    "Stores down gains nothing": lambda it: (
        1 <= wins(it.longer["stores down"], it.turns["stores down"]) < 1.03
    ),
    "Thread 100 loads elements 96 to 104, thread 103 loads 99 to 107. Six": (
        lambda it: it.RADIUS == 4 and len({*range(96, 105)} & {*range(99, 108)}) == 6
    ),
    "Nine times, apart from the ends of the array": lambda it: (
        set(loads(it.add_window, it)[4:-4]) == {9}
        and max(loads(it.add_window, it)[[0, 1, 2, 3, -4, -3, -2, -1]]) < 9
    ),
    "Once, by the block that it belongs to. The four elements on either side of an "
    "edge are also in the halo of the next block: twice": lambda it: (
        set(loads(it.add_window_tiled, it)[4:252]) == {1}
        and set(loads(it.add_window_tiled, it)[252:260]) == {2}
    ),
    "32 lanes fill 32 cells, then 8 lanes the last 8": lambda it: (
        [*range(32), *range(8)]
        == [it.film.cells("tile", cell)[0][3] for cell in range(40)]
    ),
    # the tile: its kernel differs from the one without in the tile and instructions
    "The tile makes the kernel slower, by two thirds": lambda it: near(
        loss(it.direct, it.tiled) / it.direct.median_us, 2 / 3, 0.05
    ),
    "Only what lies above the floor, a quarter of the time without a tile": lambda it: (
        near(loss(it.floor, it.direct) / it.direct.median_us, 1 / 4, 0.05)
    ),
    "with a tile and without it, a warp fetches as many sectors from L2": lambda it: (
        all(about("4.25", each(m, "l2_read_sectors")) for m in (it.direct, it.tiled))
    ),
    "L1 already served eight loads of nine": lambda it: (
        each(it.direct, "global_load_sectors") - each(it.direct, "l2_read_sectors")
        > 8 * 4
    ),
    "A warp issues twice as many instructions": lambda it: about(
        "2.0", each(it.tiled, "instructions") / each(it.direct, "instructions")
    ),
    "They take four fifths of the issue slots": lambda it: about(
        "0.8", it.tiled.counters["issue_percent"] / 100
    ),
    "that alone is longer than the whole kernel without a tile": lambda it: (
        it.tiled.counters["issue_percent"] / 100 * it.tiled.median_us
        > it.direct.median_us
    ),
    # control of the instructions: the same pair without them
    "Then no index needs a test, with a tile or without one": lambda it: (
        missing() or differ_in_the_tile(it)
    ),
    "with 35 of them fewer, the same tile takes a sixth less time": lambda it: (
        (missing() or of_signs(it) == 35)
        and near(1 - wins(it.unsigned, it.tiled), 1 / 6, 0.05)
    ),
    "In the padded pair the tile adds only 11, and 5% to the time in place of two "
    "thirds": lambda it: (
        each(it.padded_tiled, "instructions") - each(it.padded, "instructions") == 11
        and about("0.05", loss(it.padded, it.padded_tiled) / it.padded.median_us)
    ),
    "L1 serves the one kernel as well as the tile serves the other": lambda it: (
        0 < loss(it.padded, it.padded_tiled)
        and all(
            about("4.12", each(m, "l2_read_sectors"))
            for m in (it.padded, it.padded_tiled)
        )
    ),
    "has saved what no tile could": lambda it: (
        loss(it.padded, it.direct) > 0 > loss(it.padded_tiled, it.padded)
    ),
    "288 | 965 | 324": lambda it: told(
        "288 965 324",
        *(it.turns[k] for k in ("a copy", "stores down", "a tile, 33 wide")),
    ),
    "288 | 410 | 324": lambda it: told(
        "288 410 324",
        *(it.turns[k] for k in ("a copy", "loads down", "a tile, 33 wide")),
    ),
    "292 | 327 | 327": lambda it: told(
        "292 327 327",
        *(it.longer[k] for k in ("a copy", "loads down", "a tile, 33 wide")),
    ),
    "202 | 268 | 442": lambda it: told("202 268 442", it.floor, it.direct, it.tiled),
    "202 | 232 | 243": lambda it: told(
        "202 232 243", it.floor, it.padded, it.padded_tiled
    ),
    "The last four cells of each of the 16 tiles": lambda it: (
        unwritten_cells(it) == 4 * 16 == 4 * it.N // it.THREADS
    ),
    "a tile of 33 columns is faster than one of 32": lambda it: (
        wins(it.turns["a tile, 33 wide"], it.turns["a tile, 32 wide"]) < 0.8
    ),
}
