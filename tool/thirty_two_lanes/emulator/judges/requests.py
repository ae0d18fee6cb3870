"""The requests of one access, sorted by their shape: what makes judges fast.

Most often the lanes have the same offsets in every block, and only the first address
differs: a `Group`. So a judge looks at 32 numbers and at one for each block, not at 32
for each block. What is in no group are single requests, `Rest`.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE

FEW = 8  # masks of one access that are worth a group each
MANY = 512  # blocks, of which it pays to compare the first with the last
PENDING = 1 << 20  # requests that wait to be counted together


class Group(NamedTuple):
    """Requests whose active lanes have the same offsets from the lowest address."""

    lanes: np.ndarray  # bytes from the lowest address to each active lane's
    key: bytes  # the same, as a key of dictionaries
    firsts: np.ndarray  # the lowest address of each request
    times: object  # how often each was made: a number, or an array of them

    @property
    def requests(self) -> int:
        """How many requests these are."""
        if np.ndim(self.times):
            return int(self.times.sum())
        return len(self.firsts) * self.times


class Rest(NamedTuple):
    """Requests of no common shape: (lanes, requests) each."""

    addresses: np.ndarray
    active: np.ndarray
    times: object = 1  # how often each was made: 1, or an array of numbers


def how_often(places, size, times):
    """How often each of some places was asked for, by requests made so many times."""
    if np.ndim(times):
        return np.bincount(places, times, size).astype(np.int64)
    return times * np.bincount(places, minlength=size)


def all_places(waiting, place_of, size):
    """The same for requests that wait, as pairs of first addresses and times, whose
    places a function gives.
    """
    by_times, total = {}, np.zeros(size, np.int64)
    for firsts, times in waiting:
        varying = np.ndim(times) > 0
        by_times.setdefault(None if varying else times, []).append((firsts, times))
    for times, parts in by_times.items():
        firsts, each = zip(*parts, strict=True)
        times = np.concatenate(each) if times is None else times
        total += how_often(place_of(np.concatenate(firsts)), size, times)
    return total


def requests_of(access):
    """The groups of an access, and a Rest or None; found once for all judges."""
    found = access.cache.get("requests")
    if found is None:
        found = access.cache["requests"] = _sorted_by_shape(access)
    return found


def lanes_of(access) -> int:
    """How many lanes asked, in all requests of an access."""
    groups, rest = requests_of(access)
    count = sum(len(group.lanes) * group.requests for group in groups)
    if rest is not None:
        count += int((rest.active.sum(axis=0) * rest.times).sum())
    return count


def _sorted_by_shape(access):
    cells, active = np.atleast_2d(access.cells), access.active
    if len(cells) == 1:
        cells = np.broadcast_to(cells, (WARP_SIZE, cells.shape[1]))
    if active is None:
        mask = slice(None)
    elif active.shape[1] == 1:
        mask = np.broadcast_to(active[:, 0], WARP_SIZE)
        if not mask.any():
            return (), None
    else:
        return _by_mask(access, cells, active)
    times = _times(access, slice(None))
    if cells.shape[1] == 1 and access.times is None:
        times = access.blocks
    group = _group(access, cells, mask, times)
    return ((group,), None) if group else ((), _rest(access, cells, active, times))


def _group(access, cells, mask, times):
    """The active lanes of some blocks as a Group, None if their shapes differ."""
    if not _have_one_shape(cells):
        if isinstance(mask, slice):
            return None
        cells = cells[mask]  # inactive lanes may have any address
        if not _have_one_shape(cells):
            return None
        mask = slice(None)
    return _as_group(access, cells[:, 0] - cells[0, 0], cells[0], mask, times)


def _as_group(access, lanes, firsts, mask, times):
    """A Group of the lanes in a mask, from cells."""
    low, lanes, key = _shape(
        lanes[mask].astype(np.int64, copy=False).tobytes(), int(access.step)
    )
    return Group(lanes, key, firsts * access.step + (access.base + low), times)


@lru_cache(maxsize=4096)
def _shape(lanes, step):
    """How far below the first lane's the lowest address is, and lanes from there."""
    lanes = np.frombuffer(lanes, np.int64) * step
    low = int(lanes.min())
    return low, lanes - low, (lanes - low).tobytes()


def _have_one_shape(cells) -> bool:
    """Do the lanes of each block have the same distances as those of the first?"""
    blocks = cells.shape[1]
    if blocks == 1 or len(cells) == 1 or not cells.strides[0]:
        return True
    if blocks > MANY and (np.diff(cells[:, 0]) != np.diff(cells[:, -1])).any():
        return False
    steps = (cells[1:] - cells[:-1]).ravel()  # the same along a row of (lanes, blocks)
    changes = steps[1:] != steps[:-1]
    count = np.count_nonzero(changes)
    if not count or count >= len(cells):
        return not count
    return count == np.count_nonzero(changes[blocks - 1 :: blocks])


def _by_mask(access, cells, active):
    """Groups of the blocks whose active lanes are the same."""
    cells = np.broadcast_to(cells, (len(cells), active.shape[1]))
    lanes = cells[:, 0] - cells[0, 0] if _have_one_shape(cells) else None
    groups, others = [], []
    for columns, mask in _masks_of(access):
        group, times = None, _times(access, columns)
        if mask is not None and lanes is not None:
            group = _as_group(access, lanes, cells[0, columns], mask, times)
        elif mask is not None:
            group = _group(access, cells.take(columns, axis=1), mask, times)
        if group:
            groups.append(group)
        else:
            others.append(columns)
    if not others:
        return groups, None
    columns = np.concatenate(others)
    rest = cells[:, columns], active[:, columns], _times(access, columns)
    return groups, _rest(access, *rest)


def _times(access, columns):
    if access.times is None or (access.times == 1).all():
        return 1
    return access.times[columns]


def _masks_of(access):
    """The masks of an access, often those of the warp's access before."""
    seen = access.cache.get("masks", {})
    if seen.get("active") is not access.active:
        seen["active"], seen["parts"] = access.active, list(_masks(access.active))
    return seen["parts"]


def _masks(active):
    """Blocks with the same active lanes, and those; None for blocks of many masks."""
    full = active.all(axis=0)
    if full.any():
        yield np.flatnonzero(full), slice(None)
    if len(active) == 1 or full.all():
        return
    columns = np.flatnonzero(active.any(axis=0) & ~full)
    if not len(columns):
        return
    bits = np.packbits(active[:, columns], axis=0, bitorder="little")
    bits = np.ascontiguousarray(bits.T).view(np.uint32)[:, 0]
    masks, member = np.unique(bits, return_inverse=True)
    if len(masks) > FEW:
        yield columns, None
        return
    for number in range(len(masks)):
        chosen = columns[member == number]
        yield chosen, active[:, chosen[0]]


def _rest(access, cells, active, times):
    shape = (
        WARP_SIZE,
        access.blocks if active is None else max(active.shape[1], cells.shape[1]),
    )
    addresses = cells
    if access.step != 1 or access.base:
        addresses = cells * access.step + access.base
    return Rest(
        np.broadcast_to(addresses, shape),
        np.broadcast_to(True if active is None else active, shape),
        times,
    )
