"""What the lesson says of its measurements, and when it is true.

A reason has its control, the launch that differs in that one thing only:

    reason                              launch and control
    nobody needs the rest of a sector   strides 1, 2, 4 and 8
    the next request needs the rest     offsets 0 and 1
    L2 fetches pieces of 64 bytes       strides 12 and 16
    memory delivers whole particles     structs, one field and all fields
    the place of the lanes              x to the column and to the row; shares of a row
    neighbours, in loads or in stores   each of the two alone
"""

from numba import cuda

from tests.lessons.claims import about
from tests.lessons.counted import (
    adds_of_loads,
    faster,
    fetched,
    from_l2,
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


def to_l2(m):
    """The bytes that L1 stored to L2."""
    return 32 * m.counters["l2_write_sectors"]


def faults(it, start):
    """Does a load of 16 bytes fault, from a view that begins late?"""
    late = cuda.to_device(it.matrix.ravel())[start:]
    try:
        it.sum_rows_by_fours[1, 64](it.sums, late, 128)
    except Exception as error:
        return "misaligned address" in str(error)
    return False


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
}
