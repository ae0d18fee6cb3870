"""What the lesson says of its measurements, and when it is true.

A reason has its control, the launch that differs in that one thing only:

    reason                              launch and control
    nobody needs the rest of a sector   strides 1, 2, 4 and 8
    the blocks have to start            stride 1, and a grid that does nothing
    the next request needs the rest     offsets 0 and 1
    L2 fetches pieces of 64 bytes       strides 12 and 16
    memory delivers whole particles     structs, one field and all fields
    the place of the lanes              x to the column and to the row, same blocks
    stores down a column                stores along a row, with either loads
    loads down a column                 loads along a row, with stores along
    a thread's four in a row            its four a block apart, same grid
"""

import numpy as np
from numba import cuda

from helpers import measure
from tests.lessons.claims import about
from tests.lessons.counted import (
    adds_of_loads,
    executed,
    faster,
    fetched,
    from_l2,
    in_flight,
    near,
    requests_on_to_l2,
    sectors,
)


def touched(it, *place):
    """The sectors that hold the addresses of a warp's lanes."""
    return len({address // 32 for address in it.lanes_at(*place)})


def lines(it, stride):
    """The lines that hold the addresses of a warp's lanes."""
    return len({address // 128 for address in it.lanes_at(stride=stride)})


def load_sectors(it, offset=0, stride=1):
    return sectors(it.take, 4, 256, it.few_out, it.few, offset, stride)


def busy(m):
    """The share of cycles, in percent, in which memory moves bytes."""
    return m.counters["memory_percent"]


def from_l2_per_block(m, warps=8):
    """The sectors that L1 loads from L2 for each block."""
    return m.counters["l2_read_sectors"] / m.warps * warps


def to_l2(m):
    """The bytes that L1 stored to L2."""
    return 32 * m.counters["l2_write_sectors"]


def starting(it):
    """The lesson's grid, if its threads do nothing: a launch of the first lesson."""
    return measure(do_nothing)[it.GRID](it.part, it.spread[: it.MANY])


@cuda.jit
def do_nothing(out, a):
    """Each thread ends at once."""
    return


def anywhere(first, apart):
    """The sectors of one particle's four numbers: its first, and how far the others."""
    return len({4 * (first + int(one)) // 32 for one in apart})


def loads(it, dtype):
    """The loads of a mass, in machine code."""
    code = adds_of_loads(it.take_mass, it.few_out, np.zeros(1024, dtype))
    return code.count("LDG")


def faults(it, start):
    """Does a load of 16 bytes fault, from a view that begins late?"""
    late = cuda.to_device(it.matrix.ravel())[start:]
    try:
        it.sum_rows_by_fours[1, 64](it.sums, late, 128)
    except Exception as error:
        return "misaligned address" in str(error)
    return False


ROW, APART = "in a row", "a block apart"

CLAIMS = {
    # sectors
    "The request touches four sectors and uses all their bytes": (
        lambda it: touched(it) == 4 == 32 * 4 / 32
    ),
    "Stride 2: 8, each half used": lambda it: touched(it, 0, 2) == 8,
    "Strides 8 and 32: 32, one for each lane": (
        lambda it: touched(it, 0, 8) == touched(it, 0, 32) == 32
    ),
    "Offset 1: 5 sectors": lambda it: touched(it, 1) == 5,
    "From stride 8 on, each lane has a sector of its own": (
        lambda it: next(n for n in range(33) if touched(it, 0, n) == 32) == 8
    ),
    "all lanes load the same number, and one sector is enough": (
        lambda it: touched(it, 0, 0) == 1
    ),
    # strides
    "It takes more than two and a half times as long": (
        lambda it: 2.5 < faster(it.by_stride[1], it.by_stride[8]) < 2.7
    ),
    "Both launches execute the same instructions": (
        lambda it: near(
            it.by_stride[8].counters["instructions"],
            it.by_stride[1].counters["instructions"],
            0.001,
        )
    ),
    "At stride 8 all three levels move the same bytes: the stores, and a whole": (
        lambda it: (
            load_sectors(it, stride=8) == 32
            and near(from_l2(it.by_stride[8]), 32 * it.MANY)
            and near(fetched(it.by_stride[8]), 32 * it.MANY)
            and near(it.by_stride[8].traffic["L2"], it.by_stride[8].traffic["L1"])
            and all(
                near(from_l2(m), max(4 * n, 4) * it.MANY)
                for n, m in it.by_stride.items()
                if n < 8
            )
        )
    ),
    "At stride 1, memory has less: some stores were still in L2": (
        lambda it: (
            near(fetched(it.by_stride[1]), 4 * it.MANY)
            and it.by_stride[1].counters["memory_write_bytes"] < 0.8 * 4 * it.MANY
            and near(to_l2(it.by_stride[1]), 4 * it.MANY)
        )
    ),
    "Yet the time grows less than the bytes do": (
        lambda it: (
            faster(it.by_stride[1], it.by_stride[8])
            < 0.65
            * it.by_stride[8].traffic["memory"]
            / it.by_stride[1].traffic["memory"]
        )
    ),
    "memory is busy half of the time, and could deliver these bytes in 28 µs": (
        lambda it: (
            45 < busy(it.by_stride[1]) < 55
            and about(
                "28",
                it.by_stride[8].median_us
                * it.by_stride[1].traffic["memory"]
                / it.by_stride[8].traffic["memory"],
            )
        )
    ),
    "which takes 43 even if they do nothing": lambda it: (
        it.GRID == (65_536, 256) and about("43", starting(it).median_us)
    ),
    "At strides 4 and 8 it is nearly always busy": (
        lambda it: all(busy(it.by_stride[n]) > 80 for n in (4, 8))
    ),
    # offsets
    "offset 1 takes as long as offset 8, which touches four": lambda it: (
        near(it.by_offset[1].median_us, it.by_offset[8].median_us)
        and [load_sectors(it, n) for n in (0, 1, 8, 31)] == [4, 5, 4, 5]
    ),
    "4.12 sectors a warp are 33 for a block of eight warps, in place of 32": (
        lambda it: (
            near(from_l2_per_block(it.by_stride[1]), 32, 0.001)
            and near(from_l2_per_block(it.by_offset[1]), 33, 0.001)
        )
    ),
    # beyond a sector
    "L1 and L2 are asked for no more, and yet the time nearly doubles": (
        lambda it: (
            all(
                near(it.by_stride[16].traffic[level], it.by_stride[8].traffic[level])
                for level in ("L1", "L2")
            )
            and 1.8 < faster(it.by_stride[8], it.by_stride[16]) < 2
            and near(fetched(it.by_stride[16]), 2 * fetched(it.by_stride[8]))
        )
    ),
    "fetches pieces of 64 bytes, two sectors, and now one of the two goes unused": (
        lambda it: (
            all(near(fetched(it.by_stride[n]), 64 * it.MANY) for n in (16, 32))
            and near(fetched(it.by_stride[12]), 48 * it.MANY)
        )
    ),
    "touch each piece of 64: memory delivers 0.805 GB, all that lies between": (
        lambda it: about("805", fetched(it.by_stride[12]) / 1e6)
    ),
    "On such a view `load4` faults: its address is no multiple of 16": (
        lambda it: faults(it, 1) and not faults(it, 4)
    ),
    # layouts
    "The masses lie 16 bytes apart: that is stride 4, and 16 sectors": (
        lambda it: (
            it.structs.itemsize == 16
            and loads(it, it.structs.dtype) == 1
            and loads(it, np.dtype(it.fields)) == 4
            and sectors(it.take_mass, 4, 256, it.few_out, it.structs[:1024]) == 16
        )
    ),
    "the mass alone takes as long as all four fields, because memory delivers whole": (
        lambda it: (
            near(
                it.layouts["mass", "structs"].median_us,
                it.layouts["all four", "structs"].median_us,
                0.02,
            )
            and all(
                near(fetched(it.layouts[what, "structs"]), it.structs.nbytes)
                for what in ("mass", "all four")
            )
        )
    ),
    "memory delivers a quarter, and the kernel takes less than two thirds": (
        lambda it: (
            near(fetched(it.layouts["mass", "arrays"]), it.structs.nbytes / 4)
            and faster(it.layouts["mass", "structs"], it.layouts["mass", "arrays"])
            < 2 / 3
        )
    ),
    "For all four fields, both layouts take the same time": (
        lambda it: near(
            it.layouts["all four", "arrays"].median_us,
            it.layouts["all four", "structs"].median_us,
            0.02,
        )
    ),
    "the thread itself, whose four loads touch it one soon after the other. L1": (
        lambda it: (
            adds_of_loads(it.add_fields, it.few_out, it.structs[:1024])
            == 4 * ["LDG"] + 3 * ["FADD"]
            and near(requests_on_to_l2(it.layouts["all four", "structs"]), 1 / 4)
        )
    ),
    "a struct is better: its 16 bytes are in one sector, and those from four arrays": (
        lambda it: (
            [anywhere(4 * n, range(4)) for n in range(99)] == 99 * [1]
            and [anywhere(n, it.MANY * np.arange(4)) for n in range(99)] == 99 * [4]
        )
    ),
    # matrices
    "share one line, and those of `copy_down` need a sector each, and use an eighth": (
        lambda it: (
            lines(it, 1) == 1
            and touched(it, 0, it.SIDE) == 32
            and [
                sectors(kernel, (8, 8), (32, 32), it.copied, it.matrix)
                for kernel in (it.copy_along, it.copy_down)
            ]
            == [4, 32]
        )
    ),
    "the copy takes more than three and a half times as long": (
        lambda it: 3.5 < faster(*(m for m, _ in it.copies.values())) < 3.8
    ),
    "L1 asks L2 for each sector once": (
        lambda it: near(from_l2(it.copies[it.copy_down][0]), it.src.nbytes, 0.05)
    ),
    "L1 passes on what each request stores, 32 sectors at a time": (
        lambda it: near(to_l2(it.copies[it.copy_down][0]), 8 * it.dst.nbytes, 0.05)
    ),
    # four elements a thread
    "a request touches 16 sectors": lambda it: touched(it, 0, 4) == 16,
    "With the stores down a column, a kernel takes as long as `copy_down`, or nearly, "
    "whatever its loads do": lambda it: (
        near(
            it.sides["along", "down"].median_us, it.sides["down", "down"].median_us, 0.1
        )
        and all(
            near(to_l2(it.sides[side, "down"]), 8 * it.dst.nbytes, 0.05)
            for side in ("along", "down")
        )
    ),
    "With the loads down a column it takes half as long again as `copy_along`": (
        lambda it: (
            1.4 < faster(it.sides["along", "along"], it.sides["down", "along"]) < 1.6
            and all(near(from_l2(m), it.src.nbytes, 0.05) for m in it.sides.values())
        )
    ),
    "L1 asks L2 for hardly more. In the stores it does not: nearly four times as many "
    "sectors arrive in L2, and the launch takes 1.9 or 2.4 times as long, by what its "
    "loads do": lambda it: (
        all(
            3.8 < to_l2(it.fours[load, "in a row"]) / to_l2(it.fours[load, APART]) <= 4
            for load in it.names
        )
        and near(
            from_l2(it.fours["in a row", APART]), from_l2(it.fours[APART, APART]), 0.05
        )
        and about("1.9", faster(it.fours[APART, APART], it.fours[APART, "in a row"]))
        and about("2.4", faster(it.fours[ROW, APART], it.fours[ROW, ROW]))
    ),
    "With the loads alone in a row, it is even the fastest of the four": lambda it: (
        ("in a row", "a block apart") == min(
            it.fours, key=lambda it_: it.fours[it_].median_us
        )
    ),
    # rows
    "It takes a sixth less time, and keeps memory busy nearly all of it": (
        lambda it: (
            near(faster(it.by_ones, it.by_fours), 5 / 6, 0.02)
            and sectors(it.sum_rows_by_warps, 4, 64, it.sums, it.matrix) == 4
            and busy(it.by_fours) > 90
        )
    ),
    "it has fewer instructions for each number": (
        lambda it: (
            in_flight(it.by_fours) > 1.5 * in_flight(it.by_ones)
            and executed(it.by_fours) < 0.6 * executed(it.by_ones)
        )
    ),
    # what changed
    "5 | the next warp, from L1 | 1.00, offset 8 |": (
        lambda it: about("1.00", faster(it.by_offset[8], it.by_offset[1]))
    ),
    "32 | nobody | 2.6, stride 1 |": (
        lambda it: about("2.6", faster(it.by_stride[1], it.by_stride[8]))
    ),
    "16 | nobody | 1.6, from an array |": (
        lambda it: about(
            "1.6", faster(it.layouts["mass", "arrays"], it.layouts["mass", "structs"])
        )
    ),
    "other warps, from L1 | 1.5, `copy_along` |": lambda it: about(
        "1.5", faster(it.sides["along", "along"], it.sides["down", "along"])
    ),
    "other warps; L1 collects next to nothing | 3.4, `copy_along` |": lambda it: about(
        "3.4", faster(it.sides["along", "along"], it.sides["along", "down"])
    ),
    "16 | there is no rest | 0.8, by ones |": (
        lambda it: about("0.8", faster(it.by_ones, it.by_fours))
    ),
    "`sum_rows_by_fours` | 16 |": (
        lambda it: (
            sectors(it.sum_rows_by_fours, 4, 64, it.sums, it.matrix.ravel(), it.SIDE)
            == 16
        )
    ),
    "in a row | 16 | the thread; L1 collects next to nothing | 1.9": (
        lambda it: (
            sectors(it.copy_in_turn, 1, 256, it.few_out, it.few, *(2 * [it.IN_A_ROW]))
            == 16
        )
    ),
    "and each has its own": (
        lambda it: (touched(it, 0, 2, 8), touched(it, 0, 32, 1)) == (16, 32)
    ),
}
