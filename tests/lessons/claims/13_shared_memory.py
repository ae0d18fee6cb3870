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


@cuda.jit
def add_padded_signed(out, padded):
    i = cuda.grid(1)
    total = float32(0)
    for k in range(9):
        total += padded[i + k]
    out[i] = total


def signs_cost(it):
    """Are there fewer instructions where the index is unsigned, and none but loads,
    additions and the address?
    """
    padded = np.pad(it.a, it.RADIUS)
    signed, unsigned = (
        Counter(names(kernel, it.out, padded))
        for kernel in (add_padded_signed, it.add_padded)
    )
    return signed.total() > unsigned.total() and unsigned["ISETP"] == 0


def most_are_indices(it):
    """Are most of the instructions that the tile adds neither its loads and stores nor
    sums nor jumps?
    """
    tiled, direct = (
        Counter(names(kernel, it.out, it.a))
        for kernel in (it.add_window_tiled, it.add_window)
    )
    integers = "IADD3", "IMAD", "ISETP", "LEA", "LOP3", "SEL", "SHF"
    more = sum(tiled[it] - direct[it] for it in integers)
    return more > 0.6 * (tiled.total() - direct.total())


def hardly_more_requests(it):
    """Of the instructions that a warp executes more with the tile, are few requests?"""
    kinds = "global_load", "global_store", "shared_load", "shared_store"
    names = [f"{kind}_requests" for kind in kinds]
    with_tile, without = (
        sum(each(m, name) for name in names) for m in (it.tiled, it.direct)
    )
    more = each(it.tiled, "instructions") - each(it.direct, "instructions")
    return with_tile - without < 0.1 * more


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


def too_soon(it):
    """The share of cells that are read unwritten without the barrier."""
    run = emulate(it.reverse_too_soon)[it.N // it.THREADS, it.THREADS](it.out, it.a)
    return run.uninitialised[0].count / it.N


def queue(m):
    """The wavefronts of a request of loads from a tile."""
    counts = m.counters["shared_load_wavefronts"], m.counters["shared_load_requests"]
    return counts[0] / counts[1]


def at(it, kernel, width):
    """The launch whose one matrix has rows of this length."""
    return it.longer[kernel, width]


def several(kernel, width):
    """Does a warp go down a column of a matrix that has several places?"""
    return "down" in kernel and width % 32 != 0


def beyond(it, kernel, width):
    """The cycles of a warp that the rule of places does not explain."""
    tile, apart = "tile" in kernel, 32 if kernel.endswith("32 wide") else width
    others = 3 if tile else 1
    column = [apart * lane for lane in range(32)]
    if "down" not in kernel and apart != 32:
        column = range(32)
    longest = max(Counter(number % 32 for number in column).values())
    assert it.by_places(kernel, width) == others + longest
    return busy(it.every[kernel, width]) - others - longest


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
    "they store into a row. Then they load from a column": lambda it: (
        sectors(it, it.transpose_down) == [32, 4]
    ),
    "Its shape must be known when the kernel is compiled": late_shape_is_refused,
    "Half of the cells were read before anything was in them": lambda it: (
        too_soon(it) == 0.5
    ),
    "Four sectors for each request, the fewest possible": lambda it: (
        sectors(it, it.make_transpose(32)) == [4, 4]
    ),
    # transposes: each row differs from another one in what is named
    "is by far the slowest: L1 passes every store on as it comes, and so 32 sectors of "
    "each warp go to L2": lambda it: (
        min(wins(it.turns["stores down"], m) for m in it.turns.values()) == 1
        and about("32", each(it.turns["stores down"], "l2_write_sectors"))
    ),
    "takes less than half of the time, with no tile at all": lambda it: (
        wins(it.turns["loads down"], it.turns["stores down"]) < 0.5
        and alike([it.turns["stores down"], it.turns["loads down"]], "instructions")
        and near(busy(it.turns["stores down"]), busy(it.turns["loads down"]))
    ),
    "So it fetches no more from L2 than the copy does": lambda it: (
        about("32", each(it.turns["loads down"], "global_load_sectors"))
        and about("4", each(it.turns["loads down"], "l2_read_sectors"))
        and about("4", each(it.turns["loads down"], "l2_write_sectors"))
    ),
    "a tile of 32 columns is slower than loads down": lambda it: (
        wins(it.turns["a tile, 32 wide"], it.turns["loads down"]) > 1.1
    ),
    "With a 33rd column it is not far from the copy": lambda it: (
        1 < wins(it.turns["a tile, 33 wide"], it.turns["a copy"]) < 1.15
    ),
    "In sectors these four kernels are all alike": lambda it: all(
        about("4", each(m, f"l2_{kind}_sectors"))
        for name, m in it.turns.items()
        for kind in ("read", "write")
        if name != "stores down"
    ),
    # places: the rule, and what is counted
    "all lanes are at one place, and queue for 32 cycles": lambda it: (
        len({8192 * lane % 32 for lane in range(32)}) == 1
        and 32 <= busy(it.turns["loads down"]) < 37
        and busy(it.turns["a copy"]) < 5
    ),
    "A tile with rows of 32 has only moved this queue into shared memory": lambda it: (
        31 < queue(it.turns["a tile, 32 wide"]) < 33
        and abs(busy(it.turns["a tile, 32 wide"]) - busy(it.turns["loads down"])) < 1.5
    ),
    "each row begins one place further on, and the queue is gone": lambda it: (
        queue(it.turns["a tile, 33 wide"]) < 1.05
    ),
    # control of the places: one matrix has rows that are some numbers longer
    "Loads down gains the more, the fewer lanes share a place, and is in the end as "
    "fast as the tile of 33": lambda it: (
        set(Counter(8200 * lane % 32 for lane in range(32)).values()) == {8}
        and len({8193 * lane % 32 for lane in range(32)}) == 32
        and 1
        > wins(at(it, "loads down", 8200), at(it, "loads down", 8192))
        > wins(at(it, "loads down", 8193), at(it, "loads down", 8192)) + 0.03
        and near(wins(at(it, "loads down", 8193), at(it, "a tile, 33 wide", 8193)), 1)
    ),
    "Stores down has a shorter queue now, too, and gains nothing: it sends on as many "
    "sectors": lambda it: all(
        busy(at(it, "stores down", width)) < busy(at(it, "stores down", 8192)) / 2
        and 1 <= wins(at(it, "stores down", width), at(it, "stores down", 8192)) < 1.03
        and about("32", each(at(it, "stores down", width), "l2_write_sectors"))
        for width in (8200, 8193)
    ),
    "The data path takes two to four cycles more than the rule says": lambda it: all(
        2 <= beyond(it, *row) < 4 for row in it.every if not several(*row)
    ),
    "where the lanes of a column in the matrix have several places, it takes some ten "
    "more": lambda it: all(
        8.5 < beyond(it, *row) < 11.5 for row in it.every if several(*row)
    ),
    "the tile of 32 has as long a queue as loads down, but the data path is idle for "
    "more of the time": lambda it: (
        it.turns["a tile, 32 wide"].counters["l1_data_percent"] + 10
        < it.turns["loads down"].counters["l1_data_percent"]
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
    "Most of the new ones compute indices": lambda it: (
        hardly_more_requests(it) and (missing() or most_are_indices(it))
    ),
    "They take four fifths of the issue slots": lambda it: about(
        "0.8", it.tiled.counters["issue_percent"] / 100
    ),
    "Four fifths of 442 µs are more than 268": lambda it: (
        it.tiled.counters["issue_percent"] / 100 * it.tiled.median_us
        > it.direct.median_us
    ),
    # control of the instructions: the same pair without them
    "Then no index needs a test": lambda it: missing() or differ_in_the_tile(it),
    "With a signed index Numba adds instructions for the case that it is negative": (
        lambda it: missing() or signs_cost(it)
    ),
    "Here the tile adds only 11 instructions, and 5% to the time in place of two "
    "thirds": lambda it: (
        each(it.padded_tiled, "instructions") - each(it.padded, "instructions") == 11
        and about("0.05", loss(it.padded, it.padded_tiled) / it.padded.median_us)
    ),
    "L1 serves the other kernel as well": lambda it: (
        0 < loss(it.padded, it.padded_tiled)
        and all(
            about("4.12", each(m, "l2_read_sectors"))
            for m in (it.padded, it.padded_tiled)
        )
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
        *(at(it, k, 8193) for k in ("a copy", "loads down", "a tile, 33 wide")),
    ),
    "202 | 268 | 442": lambda it: told("202 268 442", it.floor, it.direct, it.tiled),
    "202 | 232 | 243": lambda it: told(
        "202 232 243", it.floor, it.padded, it.padded_tiled
    ),
    "a tile of 33 columns is faster than one of 32": lambda it: (
        wins(it.turns["a tile, 33 wide"], it.turns["a tile, 32 wide"]) < 0.8
    ),
}
