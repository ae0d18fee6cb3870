"""The functions of `numba.cuda` that see threads and lanes: one row each.

A function takes the warp (one warp of each block), the active lanes (None: all), the
source line if it waits for lanes, and operands of shape (lanes or 1, blocks or 1), and
returns such a value. Only the names of atomics and barriers are here:
`machine/accesses/atomics.py` has the table of what each atomic stores, and
`machine/barriers.py` lets threads wait.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.events import Fence, Shuffle, StrayLanes, Sync
from thirty_two_lanes.core.hardware import WARP_SIZE

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


# lanes that execute together: those that come with the same mask


def mask_bits(mask):
    """A mask as 32 bits without a sign."""
    return np.asarray(mask).astype(np.int64) & 0xFFFFFFFF


def _lanes_of(mask):
    """The lanes that a mask names, (lanes, blocks or 1)."""
    return mask_bits(mask) >> LANES & 1 != 0


def _bits(lanes):
    """Lanes, of shape (lanes, blocks or 1), as 32 bits each."""
    lanes = np.broadcast_to(lanes, (WARP_SIZE, *(np.shape(lanes)[1:] or (1,))))
    return (lanes.astype(np.int64) << LANES).sum(axis=0, keepdims=True)


def _together(active, mask, lanes=True):
    """Those of these lanes, as bits, that execute with each lane."""
    here = lanes if active is None else active & lanes
    if np.ndim(mask) == 0 or np.shape(mask)[0] == 1:
        return _bits(here)
    mask = mask_bits(mask)
    found = np.zeros(np.broadcast_shapes(mask.shape, np.shape(here)), np.int64)
    for one in np.unique(mask):
        found = np.where(mask == one, _bits(here & (mask == one)), found)
    return found


def waiting_lanes(warp, active, mask):
    """The active lanes whose mask names others that have not come yet, (lanes or 1,
    blocks or 1); None where all can go on. One that has returned is not waited for.
    """
    if active is None:
        return None
    there = active if warp.live is None else active | ~warp.live
    waiting = mask_bits(mask) & ~_bits(there) != 0
    waiting = waiting & active
    return waiting if waiting.any() else None


def meeting_lanes(warp, arrived, mask):
    """The lanes of those that arrived whose whole mask is there and names the same
    lanes, or has returned, (lanes, blocks); it does not matter at which places.
    """
    there = _together(arrived, mask) | (0 if warp.live is None else _bits(~warp.live))
    return arrived & (mask_bits(mask) & ~there == 0)


def unnamed_callers(active, mask):
    """The active lanes that their own mask does not name, (lanes, blocks), or None."""
    if np.ndim(mask) == 0 and mask_bits(mask) == 0xFFFFFFFF:
        return None
    unnamed = ~_lanes_of(mask) & (True if active is None else active)
    return unnamed if unnamed.any() else None


def _shuffle(source_lane):
    """A shuffle whose lanes read from `source_lane(lanes, operand)`; five bits of it
    count. A lane that does not execute it with the reader gives 0, as on an H200.
    """

    def shuffle(warp, active, site, mask, value, operand):
        lane = source_lane(LANES, operand.astype(np.int64) & 31)  # (32, 1 or blocks)
        lane = np.where((lane < 0) | (lane >= WARP_SIZE), LANES, lane)
        emit_strays(warp, active, site, mask, lane)
        for listener in warp.listeners["shuffle"]:
            listener(Shuffle(site, lane, active, warp.who))
        taken = _taken(warp, value, lane)
        if active is None:
            return taken
        here = _bits(active) >> lane & 1 != 0
        return taken if here.all() else np.where(here, taken, value.dtype.type(0))

    return Intrinsic(shuffle, syncs_warp=True)


def _taken(warp, value, lane):
    """The value of another lane."""
    if np.ndim(value) == 0 or value.shape[0] == 1:
        return value
    if lane.shape[1] == 1:
        return value[lane[:, 0]]
    whole = np.broadcast_to(value, (WARP_SIZE, warp.blocks))
    return np.take_along_axis(whole, lane, axis=0)


def emit_strays(warp, active, site, mask, lane):
    """Emit the lanes that are read and not in the mask, or have returned, or are not
    there at all.
    """
    listeners = warp.listeners["stray_lanes"]
    full = np.ndim(mask) == 0 and mask_bits(mask) == 0xFFFFFFFF
    if not listeners or active is None and full:
        return
    there = -1 if active is None else _bits(active)
    exist = -1 if warp.exist is None else _bits(warp.exist)
    readers = True if active is None else active
    absent = exist >> lane & 1 == 0
    outside = mask_bits(mask) >> lane & 1 == 0
    left = there >> lane & 1 == 0
    kinds = {
        "absent": absent,
        "outside": outside & ~absent,
        "left": left & ~outside & ~absent,
    }
    for kind, strays in kinds.items():
        if (strays & readers).any():
            for listener in listeners:
                listener(StrayLanes(site, kind, strays & readers, lane, warp.who))


def _holding(active, mask, predicate):
    """The lanes, as bits, that execute with each lane and whose predicate holds."""
    return _together(active, mask, np.asarray(predicate != 0))


def _ballot(warp, active, site, mask, predicate):
    return _holding(active, mask, predicate).astype(np.uint32).view(np.int32)


def _any(warp, active, site, mask, predicate):
    return _holding(active, mask, predicate) != 0


def _all(warp, active, site, mask, predicate):
    return _holding(active, mask, np.asarray(predicate == 0)) == 0


def _eq(warp, active, site, mask, predicate):
    operands = warp, active, site, mask, predicate
    return _all(*operands) | ~_any(*operands)


def _activemask(warp, active):
    return _together(active, np.int32(-1)).astype(np.uint32)


def _match_any(warp, active, site, mask, value):
    """The lanes that execute together and hold the same bits, as bits."""
    if value.dtype.kind == "f":
        value = value.view(f"i{value.dtype.itemsize}")
    value = np.broadcast_to(value, (WARP_SIZE, max(np.shape(value)[-1:], default=1)))
    same = value[:, None] == value[None]  # (lane, other, blocks)
    bits = (same.astype(np.int64) << LANES.astype(np.int64)[None]).sum(axis=1)
    return (bits & _together(active, mask)).astype(np.uint32).view(np.int32)


def _match_all(warp, active, site, mask, value):
    """The lanes that execute together, where all hold one value, or 0; and do they?"""
    matching = mask_bits(_match_any(warp, active, site, mask, value))
    agree = matching == _together(active, mask)
    return np.where(agree, matching, 0).astype(np.uint32).view(np.int32), agree


def _nothing(warp, active, *operands):
    return None


def _syncwarp(warp, active, site, mask=-1):
    """Emit the lanes that met: those of each mask that are here."""
    masks = mask_bits(mask)
    for one in np.unique(masks) if warp.listeners["sync"] else ():
        lanes = _lanes_of(one) & (masks == one) & (True if active is None else active)
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
