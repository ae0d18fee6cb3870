"""The names of `numba.cuda` that see threads and lanes, one row each: how operands are
taken, and what may be left out. What they do, `machine/warp_functions.py` has by name,
`machine/accesses/atomics.py` what each atomic stores, and `machine/barriers.py` lets
threads wait.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE

LANES = np.arange(WARP_SIZE, dtype=np.int32)[:, None]  # (32, 1)


class Intrinsic(NamedTuple):
    """A row of the table."""

    value: bool = False  # is it read, and not called?
    cast: bool = True  # are operands cast to the types that Numba inferred?
    syncs_warp: bool = False  # does it wait for the lanes of a mask, its first operand?
    pure: bool = True  # can it be left out when its result is not read?
    fixed: bool = False  # does a warp know it from the start?


SHUFFLES = {  # the lane that each lane reads, if it is one
    "cuda.shfl_sync": lambda lane, source: source + 0 * lane,
    "cuda.shfl_up_sync": lambda lane, delta: lane - delta,
    "cuda.shfl_down_sync": lambda lane, delta: lane + delta,
    "cuda.shfl_xor_sync": lambda lane, bits: lane ^ bits,
}


def lane_read(function, operand):
    """The lane that each lane reads; five bits of the operand count."""
    lane = SHUFFLES[function](LANES, operand.astype(np.int64) & 31)
    return np.where((lane < 0) | (lane >= WARP_SIZE), LANES, lane)


_OF_MASKS = (
    *SHUFFLES,
    "cuda.match_any_sync",
    "cuda.match_all_sync",
    "cuda.ballot_sync",
    "cuda.any_sync",
    "cuda.all_sync",
    "cuda.eq_sync",
)

INTRINSICS = {
    **{
        f"cuda.{name}.{letter}": Intrinsic(value=True, fixed=True)
        for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
        for letter in "xyz"
    },
    "cuda.grid": Intrinsic(fixed=True),
    "cuda.gridsize": Intrinsic(fixed=True),
    "cuda.laneid": Intrinsic(value=True, fixed=True),
    "cuda.warpsize": Intrinsic(value=True, fixed=True),
    "cuda.lanemask_lt": Intrinsic(fixed=True),
    "cuda.activemask": Intrinsic(),
    "cuda.nanosleep": Intrinsic(pure=False),
    "cuda.syncwarp": Intrinsic(cast=False, syncs_warp=True, pure=False),
    "cuda.threadfence": Intrinsic(pure=False),
    "cuda.threadfence_block": Intrinsic(pure=False),
    "cuda.threadfence_system": Intrinsic(pure=False),
    **dict.fromkeys(_OF_MASKS, Intrinsic(syncs_warp=True)),
}

BARRIERS = {
    "cuda.syncthreads": None,
    "cuda.syncthreads_count": "count",
    "cuda.syncthreads_and": "and",
    "cuda.syncthreads_or": "or",
}

ATOMICS = {
    f"cuda.atomic.{name}": name.rstrip("_")
    for name in ("add sub max min nanmax nanmin and_ or_ xor exch inc dec cas ").split()
}
ATOMICS["cuda.atomic.compare_and_swap"] = "cas"
SWAPS = "cas", "exch"  # those that take locks

CACHE_HINTS = {
    **{f"cuda.{name}": "load" for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")},
    **{f"cuda.{name}": "store" for name in ("stcg", "stcs", "stwb", "stwt")},
}

GRID_SYNC = "cuda.cg.this_grid().sync"  # a method of what `this_grid` returns
