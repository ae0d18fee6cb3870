"""The functions of `numba.cuda` that see threads and lanes: one row each.

A function takes the warp (one warp of each block), the active lanes (None: all), and
operands of shape (lanes or 1, blocks or 1), and returns such a value. Only the names of
atomics and barriers are here: `machine/atomics.py` has the table of what each atomic
stores, and `machine/barriers.py` lets threads wait.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from helpers.core.events import Fence, Sync
from helpers.core.hardware import WARP_SIZE

LANES = np.arange(WARP_SIZE, dtype=np.int32)[:, None]  # (32, 1)
LANES_BELOW = ((np.uint64(1) << LANES.astype(np.uint64)) - 1).astype(np.uint32)


class Intrinsic(NamedTuple):
    """A row of the table."""

    function: Callable
    value: bool = False  # is it read, and not called?
    cast: bool = True  # are operands cast to the types that Numba inferred?
    syncs_warp: bool = False  # does it wait for the lanes of a mask, its first operand?
    pure: bool = True  # can it be left out when its result is not read?


def _grid(warp, active, ndim):
    return _per_axis(
        ndim,
        lambda axis: (
            np.int64(warp.thread[axis])
            + np.int64(warp.block[axis]) * np.int64(warp.block_dim[axis])
        ),
    )


def _gridsize(warp, active, ndim):
    return _per_axis(
        ndim,
        lambda axis: np.int64(warp.grid_dim[axis]) * np.int64(warp.block_dim[axis]),
    )


def _per_axis(ndim, function):
    values = tuple(function(axis) for axis in range(int(ndim)))
    return values[0] if len(values) == 1 else values


def _shuffle(source_lane):
    """A shuffle whose lanes read from `source_lane(lanes, operand)`; five bits of it
    count.
    """

    def shuffle(warp, active, mask, value, operand):
        lane = source_lane(
            LANES, operand.astype(np.int64) & 31
        )  # (32, 1) or (32, blocks)
        lane = np.where((lane < 0) | (lane >= WARP_SIZE), LANES, lane)
        if np.ndim(value) == 0 or value.shape[0] == 1:
            return value
        if lane.shape[1] == 1:
            return value[lane[:, 0]]
        return np.take_along_axis(
            np.broadcast_to(value, (WARP_SIZE, warp.blocks)), lane, axis=0
        )

    return Intrinsic(shuffle, syncs_warp=True)


def _voters(warp, active, predicate):
    """The lanes of an active thread whose predicate holds, of shape (lanes, blocks)."""
    holds = np.asarray(predicate != 0)
    active = np.True_ if active is None else active
    return np.broadcast_to(
        holds & active,
        (
            WARP_SIZE,
            np.broadcast(holds, active).shape[-1]
            if np.ndim(holds) or np.ndim(active)
            else 1,
        ),
    )


def _mask_lanes(mask):
    """The lanes that a 32-bit mask names, as (lanes, blocks or 1)."""
    return (np.asarray(mask).astype(np.int64) >> LANES.astype(np.int64)) & 1 != 0


def _ballot(warp, active, mask, predicate):
    votes = _voters(warp, active, predicate) & _mask_lanes(mask)
    bits = (votes.astype(np.uint64) << LANES.astype(np.uint64)).sum(
        axis=0, keepdims=True
    )
    return bits.astype(np.uint32).view(np.int32)


def _any(warp, active, mask, predicate):
    return (_voters(warp, active, predicate) & _mask_lanes(mask)).any(
        axis=0, keepdims=True
    )


def _all(warp, active, mask, predicate):
    return ~_any(warp, active, mask, np.asarray(predicate == 0))


def _eq(warp, active, mask, predicate):
    return _all(warp, active, mask, predicate) | ~_any(warp, active, mask, predicate)


def _activemask(warp, active):
    everyone = np.True_ if active is None else active
    return _ballot(warp, everyone, np.int32(-1), np.True_).view(np.uint32)


def _match_any(warp, active, mask, value):
    """The lanes of the mask that hold the same bits, as bits."""
    if value.dtype.kind == "f":
        value = value.view(f"i{value.dtype.itemsize}")
    taking_part = _voters(warp, active, np.True_) & _mask_lanes(mask)
    value = np.broadcast_to(value, (WARP_SIZE, max(np.shape(value)[-1:], default=1)))
    same = (value[:, None] == value[None]) & taking_part[None]  # (lane, other, blocks)
    bits = same.astype(np.uint64) << LANES.astype(np.uint64)[None]
    return bits.sum(axis=1).astype(np.uint32).view(np.int32)


def _match_all(warp, active, mask, value):
    """The mask, where all its lanes hold the same value, or 0; and do they?"""
    matching = _match_any(warp, active, mask, value).view(np.uint32)
    everyone = _match_any(warp, active, mask, np.int32(0)).view(np.uint32)
    agree = matching == everyone
    return np.where(agree, matching, np.uint32(0)).view(np.int32), agree


def have_arrived(warp, active, mask) -> bool:
    """Have all lanes of the mask arrived that have not returned?"""
    if active is None:
        return True
    missing = _mask_lanes(mask) & ~active
    return not (missing if warp.live is None else missing & warp.live).any()


def outside_of_mask(warp, active, mask):
    """Lane and block of a thread that comes with a mask not naming it, or None."""
    if np.ndim(mask) == 0 and int(mask) & 0xFFFFFFFF == 0xFFFFFFFF:
        return None
    outside = ~_mask_lanes(mask) & (True if active is None else active)
    if not outside.any():
        return None
    lane, block = np.argwhere(outside)[0]
    return int(lane), int(block)


def _nothing(warp, active, *operands):
    return None


def _syncwarp(warp, active, mask=-1):
    """Emit the lanes that met: those of the mask that are here."""
    if warp.listeners["sync"]:
        lanes = _mask_lanes(mask) & (True if active is None else active)
        for listener in warp.listeners["sync"]:
            listener(Sync("warp", warp.who, lanes=lanes))


def _fence(scope):
    def fence(warp, active):
        for listener in warp.listeners["fence"]:
            listener(Fence(scope, active, warp.who))

    return Intrinsic(fence, pure=False)


def _dimension(name, axis):
    return Intrinsic(lambda warp, active: getattr(warp, name)[axis], value=True)


INTRINSICS = {
    **{
        f"cuda.{stub}.{letter}": _dimension(name, axis)
        for stub, name in (
            ("threadIdx", "thread"),
            ("blockIdx", "block"),
            ("blockDim", "block_dim"),
            ("gridDim", "grid_dim"),
        )
        for axis, letter in enumerate("xyz")
    },
    "cuda.grid": Intrinsic(_grid),
    "cuda.gridsize": Intrinsic(_gridsize),
    "cuda.laneid": Intrinsic(lambda warp, active: LANES, value=True),
    "cuda.warpsize": Intrinsic(lambda warp, active: np.int32(WARP_SIZE), value=True),
    "cuda.syncwarp": Intrinsic(_syncwarp, cast=False, syncs_warp=True, pure=False),
    "cuda.match_any_sync": Intrinsic(_match_any, syncs_warp=True),
    "cuda.match_all_sync": Intrinsic(_match_all, syncs_warp=True),
    "cuda.lanemask_lt": Intrinsic(lambda warp, active: LANES_BELOW),
    "cuda.nanosleep": Intrinsic(_nothing),
    "cuda.threadfence": _fence("grid"),
    "cuda.threadfence_block": _fence("block"),
    "cuda.threadfence_system": _fence("grid"),
    "cuda.shfl_sync": _shuffle(lambda lane, source: source + 0 * lane),
    "cuda.shfl_up_sync": _shuffle(lambda lane, delta: lane - delta),
    "cuda.shfl_down_sync": _shuffle(lambda lane, delta: lane + delta),
    "cuda.shfl_xor_sync": _shuffle(lambda lane, bits: lane ^ bits),
    "cuda.ballot_sync": Intrinsic(_ballot, syncs_warp=True),
    "cuda.any_sync": Intrinsic(_any, syncs_warp=True),
    "cuda.all_sync": Intrinsic(_all, syncs_warp=True),
    "cuda.eq_sync": Intrinsic(_eq, syncs_warp=True),
    "cuda.activemask": Intrinsic(_activemask),
}

BARRIERS = {
    "cuda.syncthreads": None,
    "cuda.syncthreads_count": "count",
    "cuda.syncthreads_and": "and",
    "cuda.syncthreads_or": "or",
}

ATOMICS = {
    f"cuda.atomic.{name}": name.rstrip("_")
    for name in (
        "add",
        "sub",
        "max",
        "min",
        "nanmax",
        "nanmin",
        "and_",
        "or_",
        "xor",
        "exch",
        "inc",
        "dec",
        "cas",
    )
}
ATOMICS["cuda.atomic.compare_and_swap"] = "cas"

CACHE_HINTS = {
    **{f"cuda.{name}": "load" for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")},
    **{f"cuda.{name}": "store" for name in ("stcg", "stcs", "stwb", "stwt")},
}

GRID_SYNC = "cuda.cg.this_grid().sync"  # a method of what `this_grid` returns
