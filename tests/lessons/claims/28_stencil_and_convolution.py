"""What the lesson says of its steps, and when it is true.

Each cause has its control. The walk is held to the plain step in blocks of its size;
the tile of a layer to the walk, which differs only in where a layer's neighbours come
from, here and in C++; its barriers to two tiles by turns, which have one less; the
cells beyond to a tile without them.
"""

from types import FunctionType

import numpy as np
from numba import cuda, uint32

from helpers import assemble
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from tests.lessons.counted import near, recorded, requests_on_to_l2
from thirty_two_lanes.core.hardware import H200

LEVELS = "plain, 256 threads", "plain", "walk", "walk, 16 layers"
ONE_SIZE = "plain, 256 threads", "walk", "layer", "fours", "known"
TILE_OR_NOT = "layer", "walk"
LOADS, BARRIER = REASONS["long_scoreboard"], REASONS["barrier"]
WARPS = 16 * 32 * 126 / 32  # as many as the small cube's cells inside need


def us(it, name):
    """The time of a rung by turns with the others, in µs."""
    return it.rungs[name][0].median_us


def ratio(it, name, other):
    """How many times as long as another one a rung takes."""
    return us(it, name) / us(it, other)


def counters(it, name):
    return it.rungs[name][1].counters


def executed(it, name):
    """The instructions of warps for 32 cells of the large cube."""
    return 32 * counters(it, name)["instructions"] / np.prod(it.SHAPE)


def loads(it, name):
    """The requests for loads of 32 cells of the large cube."""
    return 32 * counters(it, name)["global_load_requests"] / np.prod(it.SHAPE)


def busy(it, name, what):
    return counters(it, name)[f"{what}_percent"]


def emulated(it, name, kind, judge="coalescing"):
    """The requests of a kind that the small cube needs, for 32 cells inside."""
    rows = getattr(it.rungs[name][2], judge).by_kind
    return rows[kind].requests / WARPS


def issuing(it, name):
    """The time in which a rung's instructions are issued back to back, in µs."""
    slots = 4 * H200.multiprocessors * 1980  # of a µs
    return counters(it, name)["instructions"] / slots


def waiting(it, name, reason=LOADS):
    """The share of a rung's waiting that is for a reason."""
    return it.rungs[name][1].waits[reason]


def own_only(tile, src, cell, z, y, x):
    """What a thread puts into a layer's tile, but for the cells beyond."""
    i, j = uint32(cuda.threadIdx.x + 1), uint32(cuda.threadIdx.y + 1)
    tile[j, i] = cell


def without_beyond(it):
    """The code of the tile of a layer, if nobody brings the cells beyond."""
    names = {**it.make_layer.__globals__, "share": it.part(own_only)}
    kernel = FunctionType(it.make_layer.__code__, names)(it.LAYERS, 1)
    return code(it, (kernel, *it.LAYER[1:]))


def longer(made, other):
    """By how many instructions a code is longer than another."""
    return len(made.instructions) - len(other.instructions)


def code(it, rung, flat=False):
    """What the compiler makes of a rung for the large cube."""
    kernel, threads, covers = rung
    arrays = it.big.reshape(2, -1) if flat else it.big
    return assemble(kernel)[it.over(it.SHAPE, covers), threads](*arrays)


def count(made, *bases):
    """How many instructions are of some kinds."""
    return [sum(one.base == base for one in made.instructions) for base in bases]


def both(it):
    """The code of the last two rungs."""
    return code(it, it.FOURS), code(it, it.known(it.big[0]), flat=True)


def addresses(made):
    """The registers and the distances of a kernel's loads."""
    found = [str(one) for one in made.instructions if one.base == "LDG"]
    inside = [one.partition("][")[2].rstrip("]") for one in found]
    return [text.partition("+")[::2] for text in inside]


def asked(it, name, counter, size=32):
    """How often a level is asked for a cell of the large cube."""
    return size * counters(it, name)[counter] / it.big[0].nbytes


def box(x, y, z):
    """The sectors of a block's cells with their halo, and without."""
    own = x // 8 * y * z
    return own + x // 8 * (2 * z + 2 * y) + 2 * y * z, own


def sweep():
    """The times of the step's variants, in µs."""
    rows = recorded("sweep_stencil")["variants"]
    return {row["variant"]: row["median_us"] for row in rows}


CLAIMS = {
    "The nine operations of a cell need far less time": lambda it: (
        9 * np.prod(it.SHAPE) / 32 / (4 * H200.multiprocessors * 1980)
        < 0.2 * us(it, "copy")
    ),
    "Seven loads and a store": lambda it: (
        7 <= emulated(it, "plain", "load") < 7.2
        and 1 <= emulated(it, "plain", "store") < 1.1
        and count(code(it, it.PLAIN), "LDG", "STG") == [7, 1]
    ),
    "Three times as long as the copy": lambda it: (
        2.85 < ratio(it, "plain", "copy") < 3.15
    ),
    "What holds it up is not memory, busy for less than a third of the time, nor L1's "
    "data path": lambda it: (
        busy(it, "plain", "memory") < 33 and busy(it, "plain", "l1_data") < 33
    ),
    "Busiest are the issue slots: in two of three cycles": lambda it: (
        60 < busy(it, "plain", "issue") < 70
        and busy(it, "plain", "issue")
        > 2 * max(busy(it, "plain", what) for what in ("memory", "l1_data", "l2"))
    ),
    "executes more than a hundred for its 32 cells. Seven load, one stores, and seven "
    "compute the step": lambda it: (
        100 < executed(it, "plain") < 130
        and count(code(it, it.PLAIN), "LDG", "STG", "FADD", "FFMA") == [7, 1, 5, 2]
    ),
    "Most of the others compute where the cells are": lambda it: (
        sum(count(code(it, it.PLAIN), "IMAD", "IADD3", "LEA", "VIADD"))
        > len(code(it, it.PLAIN).instructions) / 2
    ),
    "To issue them all takes 480 µs, nearly two copies' time": lambda it: (
        about("480", it.us_to_issue(it.rungs["plain"]))
        and 0.97 < issuing(it, "plain") / 480 < 1.03
        and 1.8 < 480 / us(it, "copy") < 2
    ),
    "The twin in C++ takes a fifth less time": lambda it: (
        0.77 < ratio(it, "plain in C++", "plain") < 0.84
    ),
    # ------------------------------------------------ the tile
    "2.75 instead of 7": lambda it: (
        2.7 < emulated(it, "tiled", "load") < 3.05 and 2.75 == 1 + 1 + 2 / 8 + 2 / 4
    ),
    "At that pace the step would take two fifths of the time, a seventh longer than a "
    "copy": lambda it: (
        about("0.4", 2.75 / 7) and 1.13 < 2.75 / 7 / ratio(it, "copy", "plain") < 1.16
    ),
    "The loads are down to two fifths, and the step takes half as long again": (
        lambda it: (
            0.38 < emulated(it, "tiled", "load") / emulated(it, "plain", "load") < 0.43
            and 1.45 < ratio(it, "tiled", "plain") < 1.6
        )
    ),
    "caches had served six of seven, and the data path was hardly busy": lambda it: (
        requests_on_to_l2(it.rungs["plain"][1]) < 0.35
        and counters(it, "plain")["memory_read_bytes"] < 1.05 * 4 * np.prod(it.SHAPE)
    ),
    "the tile adds half as many instructions again": lambda it: (
        1.4 < executed(it, "tiled") / executed(it, "plain") < 1.6
        and 7 <= emulated(it, "tiled", "load", "bank_conflicts") < 7.2
    ),
    "To issue them takes 61% of 1,170 µs: 716 µs. That alone is nearly the plain "
    "step's whole time": lambda it: (
        about("61", busy(it, "tiled", "issue"))
        and 1168 < us(it, "tiled") < 1172
        and about("716", it.us_to_issue(it.rungs["tiled"]))
        and 0.93 < 716 / us(it, "plain") < 0.97
    ),
    "a quarter of all warps' waiting is for the barrier": lambda it: (
        0.23 < waiting(it, "tiled", BARRIER) < 0.27
    ),
    # ------------------------------------------------ the walk
    "Four in its layer. And of its column six for four cells, since the walk begins "
    "with two: 5.5 in all instead of 7": lambda it: (
        5.5 <= emulated(it, "walk", "load") < 5.7 and 5.5 == 4 + 6 / 4
    ),
    "Blocks shrank, too, from 1,024 threads to 256: that alone saves the plain step a "
    "fifth of its time": lambda it: (
        0.78 < ratio(it, "plain, 256 threads", "plain") < 0.83
        and [np.prod(rung[1]) for rung in (it.PLAIN, it.PLAIN_256, it.WALK)]
        == [1024, 256, 256]
    ),
    "It is not for want of warps: they fill 74% and 77% of the room": lambda it: (
        about("74", busy(it, "plain", "occupancy"))
        and about("77", busy(it, "plain, 256 threads", "occupancy"))
    ),
    "Now three quarters of its warps' waiting is for loads": lambda it: (
        0.73 < waiting(it, "walk") < 0.78 and waiting(it, "plain, 256 threads") < 0.5
    ),
    "The plain step executes the same instructions, and uses more of the "
    "slots": lambda it: (
        0.99 < executed(it, "plain, 256 threads") / executed(it, "plain") < 1.01
        and busy(it, "plain, 256 threads", "issue") > 1.1 * busy(it, "plain", "issue")
    ),
    "the walk takes four fifths of the plain step's time. It has fewer loads, and a "
    "third fewer instructions": lambda it: (
        0.78 < ratio(it, "walk", "plain, 256 threads") < 0.84
        and 0.31 < 1 - executed(it, "walk") / executed(it, "plain") < 0.37
    ),
    # ------------------------------------------------ the tile of a layer
    "A third longer than the walk, from which it differs in nothing but the "
    "tile; in C++, too, it is slower": lambda it: (
        1.3 < ratio(it, "layer", "walk") < 1.4
        and 1.1 < ratio(it, "layer in C++", "walk in C++") < 1.25
        and it.LAYER[1:] == it.WALK[1:]
    ),
    "Again loads are halved, while there are nearly twice as many instructions. A "
    "store and four loads of the tile take the place of four loads": lambda it: (
        1.75 < executed(it, "layer") / executed(it, "walk") < 2
        and 0.48 < emulated(it, "layer", "load") / emulated(it, "walk", "load") < 0.53
        and busy(it, "walk", "l1_data") < 40
        and 4 <= emulated(it, "layer", "load", "bank_conflicts") < 4.1
    ),
    # the control: the same tile, and nobody brings the cells beyond
    "Counted as written, not as executed: without these cells, the machine code would "
    "be longer than the walk's by 12 instructions, not by 81": lambda it: (
        longer(code(it, it.LAYER), code(it, it.WALK)) == 81
        and longer(without_beyond(it), code(it, it.WALK)) == 12
    ),
    "To issue the instructions of layer takes 81% of its 684 µs, so 554 µs without any "
    "wait: longer than the whole walk": lambda it: (
        about("81", busy(it, "layer", "issue"))
        and about("684", us(it, "layer"))
        and about("554", it.us_to_issue(it.rungs["layer"]))
        and 1.05 * us(it, "walk") < issuing(it, "layer")
    ),
    "Two tiles by turns have one barrier less in each layer, and are no "
    "faster": lambda it: (
        us(it, "layer, two tiles") > us(it, "layer")
        and count(code(it, it.LAYER), "BAR") == [2]
        and count(code(it, it.TWO_LAYERS), "BAR") == [1]
    ),
    "are faster with a tile and without, and with a tile they still take a third "
    "longer": (
        lambda it: (
            us(it, "layer, 16 layers") < us(it, "layer")
            and us(it, "walk, 16 layers") < us(it, "walk")
            and 1.3 < ratio(it, "layer, 16 layers", "walk, 16 layers") < 1.4
        )
    ),
    "neighbours are needed at about the same time, and L1 has them": lambda it: (
        requests_on_to_l2(it.rungs["walk"][1]) < 0.4
    ),
    # ------------------------------------------------ who serves the neighbours
    "Memory is asked about once, by all": lambda it: all(
        0.97 < asked(it, name, "memory_read_bytes", 1) < 1.06
        for name in (*LEVELS, "layer", "tiled")
    ),
    "Plain asks L1 for seven cells and the walk for six, and both ask L2 for two: L1 "
    "serves the rest, as well as a tile does": lambda it: all(
        about(cells, asked(it, name, "global_load_sectors"))
        and 2.1 < asked(it, name, "l2_read_sectors") < 2.3
        and near(
            asked(it, name, "l2_read_sectors"), asked(it, tile, "l2_read_sectors")
        )
        for name, tile, cells in (("plain", "tiled", "7"), ("walk", "layer", "6"))
    ),
    "in small blocks plain asks it for more, and is faster": lambda it: (
        asked(it, "plain, 256 threads", "l2_read_sectors")
        > 1.5 * asked(it, "plain", "l2_read_sectors")
        and us(it, "plain, 256 threads") < us(it, "plain")
    ),
    "That is 120 for 32, or 3.75 a cell. A walk through four layers shares the two "
    "layers: 288 for 128, or 2.25. Through 16 it is 1.88": lambda it: (
        [box(32, 8, layers) for layers in (1, 4, 16)]
        == [(120, 32), (288, 128), (960, 512)]
        and (120 / 32, 288 / 128, 960 / 512) == (3.75, 2.25, 1.875)
        and all(
            near(asked(it, name, "l2_read_sectors"), of / own, 0.035)
            for name, (of, own) in zip(
                LEVELS, [box(32, 8, layers) for layers in (1, 4, 4, 16)], strict=True
            )
        )
    ),
    "a cell beyond an end of a row costs a whole sector: make blocks long in x": (
        lambda it: (
            box(8, 32, 4)[0] > 1.5 * box(32, 8, 4)[0]
            and box(8, 32, 4)[1] == box(32, 8, 4)[1]
        )
    ),
    # ------------------------------------------------ the last rungs
    "A quarter of the requests would predict a quarter of the time. But a copy already "
    "takes half of the walk's time, and fours takes only 9% more than a copy": (
        lambda it: (
            0.24 < loads(it, "fours") / loads(it, "walk") < 0.27
            and 0.49 < ratio(it, "copy", "walk") < 0.52
            and about("9%", ratio(it, "fours", "copy") - 1)
        )
    ),
    "now it is memory that is busy": lambda it: (
        busy(it, "fours", "memory") > 75
        and busy(it, "fours", "memory") > 1.5 * busy(it, "walk", "memory")
        and busy(it, "fours", "memory") > 1.5 * busy(it, "fours", "issue")
    ),
    "In `fours` each has registers of its own. In `known` all have the same two, "
    "`R2.64`, and a distance: 0x100000 bytes are a layer, 0x800 a row": lambda it: (
        len({register for register, _ in addresses(both(it)[0])}) >= 6
        and {register for register, _ in addresses(both(it)[1])} == {"R2.64"}
        and (0x100000, 0x800) == (4 * 512 * 512, 4 * 512)
    ),
    "A third of the instructions is gone, but only 5% of the time": lambda it: (
        0.63 < executed(it, "known") / executed(it, "fours") < 0.69
        and about("5%", 1 - ratio(it, "known", "fours"))
    ),
    "The step takes 4% longer than the copy": lambda it: about(
        "4%", ratio(it, "known", "copy") - 1
    ),
    "It also needs fewer registers, 32 instead of 40, so a multiprocessor holds more "
    "warps": lambda it: (
        [made.registers for made in both(it)] == [40, 32]
        and busy(it, "known", "occupancy") > 1.2 * busy(it, "fours", "occupancy")
    ),
    "so 2,624 loads instead of 2,816": lambda it: (
        it.rungs["fours"][2].coalescing.by_kind["load"].requests == 2816
        and (6 + 16, 18 + 64) == (2816 // 128, 2624 // 32)
    ),
    "µs to issue is the part of its time in which a rung uses the issue "
    "slots": lambda it: all(
        0.95 < issuing(it, name) / it.us_to_issue(it.rungs[name]) < 1.05
        for name in ONE_SIZE
    ),
    "the one with more instructions takes more time. But not in proportion, as the "
    "walk waits most for loads": lambda it: (
        waiting(it, "walk")
        > 1.5 * max(waiting(it, name) for name in ("layer", ONE_SIZE[0]))
        and executed(it, "layer") / executed(it, "walk") > 1.2 * ratio(it, *TILE_OR_NOT)
        and us(it, "layer") > us(it, "plain, 256 threads") > us(it, "walk")
        and executed(it, "layer")
        > executed(it, "plain, 256 threads")
        > executed(it, "walk")
    ),
    "though it has the fewest loads of the three": lambda it: (
        loads(it, "layer") < loads(it, "walk") < loads(it, "plain, 256 threads")
    ),
    "In fours and known, memory is the limit. The slots are mostly empty": lambda it: (
        all(
            busy(it, name, "memory") > 75 and busy(it, name, "issue") < 40
            for name in ("fours", "known")
        )
    ),
    "The walk of single cells gained 7% by them": lambda it: about(
        "7%", 1 - ratio(it, "walk, 16 layers", "walk")
    ),
    "a sweep of 48 variants": lambda it: len(sweep()) == 48,
    "chose walks of 4 layers and blocks of 32 × 8 threads (several others are within "
    "1%); 16 layers take 4 to 7% longer": (
        lambda it: (
            min(sweep(), key=sweep().get) == "4 layers, 32 × 8 threads"
            and sum(us < 1.01 * min(sweep().values()) for us in sweep().values()) >= 4
            and (it.LAYERS, it.FOURS[1]) == (4, (32, 8))
            and about(
                "7%", sweep()["16 layers, 32 × 8 threads"] / min(sweep().values()) - 1
            )
        )
    ),
}
