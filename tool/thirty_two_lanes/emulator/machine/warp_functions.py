"""What the functions of `numba.cuda` that see threads and lanes do, by name.

A function takes the warp (one warp of each block), the active lanes (None: all), the
source line if it waits for lanes, and operands of shape (lanes or 1, blocks or 1), and
returns such a value.
"""

import numpy as np

from thirty_two_lanes.core.events import Fence, Shuffle, StrayLanes, Sync
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.language.warp_intrinsics import LANES, SHUFFLES, lane_read

LANES_BELOW = ((np.uint64(1) << LANES.astype(np.uint64)) - 1).astype(np.uint32)


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


def _shuffle(name):
    """A shuffle: a lane that does not execute it with the reader gives 0, as on an
    H200.
    """

    def shuffle(warp, active, site, mask, value, operand):
        lane = lane_read(name, operand)  # (32, 1 or blocks)
        emit_strays(warp, active, site, mask, lane)
        for listener in warp.listeners["shuffle"]:
            listener(Shuffle(site, lane, active, warp.who))
        taken = _taken(warp, value, lane)
        if active is None:
            return taken
        here = _bits(active) >> lane & 1 != 0
        return taken if here.all() else np.where(here, taken, value.dtype.type(0))

    return shuffle


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
    left = left & ~outside & ~absent
    past = left & _came_past(warp, lane) if left.any() else left
    kinds = {
        "absent": absent,
        "outside": outside & ~absent,
        "left": left & ~past,
        "past": past,
    }
    for kind, strays in kinds.items():
        if (strays & readers).any():
            for listener in listeners:
                listener(StrayLanes(site, kind, strays & readers, lane, warp.who))


def _came_past(warp, lane):
    """Which of these lanes have gone on to the kernel's end, with no `return`?"""
    if warp.left_at is None:
        return False
    code = warp.batch.launch.program.code
    ends = [pc for pc in np.unique(warp.left_at).tolist() if pc >= 0]
    past = [pc for pc in ends if not _leaves(code[pc].ending.site)]
    here = np.isin(warp.left_at, past)
    return np.take_along_axis(here, np.broadcast_to(lane, here.shape), axis=0)


def _leaves(site) -> bool:
    """Does a line end whoever comes to it?"""
    return not {"return", "raise"}.isdisjoint(site.text.split())


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

    return fence


def _dimension(name, axis):
    return lambda warp, active: getattr(warp, name)[axis]


FUNCTIONS = {  # a row of `language.warp_intrinsics.INTRINSICS` each
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
    **{name: _shuffle(name) for name in SHUFFLES},
    "cuda.grid": _grid,
    "cuda.gridsize": _gridsize,
    "cuda.laneid": lambda warp, active: LANES,
    "cuda.warpsize": lambda warp, active: np.int32(WARP_SIZE),
    "cuda.syncwarp": _syncwarp,
    "cuda.match_any_sync": _match_any,
    "cuda.match_all_sync": _match_all,
    "cuda.lanemask_lt": lambda warp, active: LANES_BELOW,
    "cuda.nanosleep": lambda warp, active, *operands: None,
    "cuda.threadfence": _fence("grid"),
    "cuda.threadfence_block": _fence("block"),
    "cuda.threadfence_system": _fence("grid"),
    "cuda.ballot_sync": _ballot,
    "cuda.any_sync": _any,
    "cuda.all_sync": _all,
    "cuda.eq_sync": _eq,
    "cuda.activemask": _activemask,
}
