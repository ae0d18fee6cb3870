"""Coalescing: how many 32-byte sectors each request to global memory touches.

`sectors` are the different aligned 32-byte pieces that hold the active lanes' bytes;
`ideal` is as many as those bytes would fill, or fewer when lanes share them:
min(sectors, ceil(bytes / 32)). Settled on an H200 in 36 of 36 patterns,
l1tex__t_sectors_pipe_lsu_mem_global_op_ld and _st. A complex number is two accesses,
real and imaginary part, as the compiler makes them. `active_lanes` is the instruction's
thread_inst_executed. Not modelled: caches, so a sector counts whether it hits or
misses.
"""

from functools import lru_cache

import numpy as np

from thirty_two_lanes.core.hardware import SECTOR_BYTES, WARP_SIZE
from thirty_two_lanes.emulator.judges.judge import Judge
from thirty_two_lanes.emulator.judges.requests import how_often, requests_of


def request_sectors(addresses, active, itemsize):
    """Sectors and ideal sectors of requests, from (32, requests) addresses."""
    lanes = lanes_of(active)
    sectors = different(addresses // SECTOR_BYTES, active)
    ideal = np.minimum(sectors, -(-lanes * itemsize // SECTOR_BYTES))
    return sectors, ideal


def lanes_of(active):
    """How many lanes are active, by request; few enough for a byte."""
    sums = np.add.reduce(active.view(np.uint8), axis=0, dtype=np.uint8)
    return sums.astype(np.int64)


def different(numbers, active):
    """How many different numbers the active lanes hold, by request; often in order."""
    whole = active.all()
    if whole:
        steps = numbers[1:] - numbers[:-1]
        if (steps >= 0).all():
            return 1 + np.count_nonzero(steps, axis=0)
    low = numbers.min(initial=0)
    inactive = numbers.max(initial=0) + 1 - low
    small = np.uint16 if inactive < 1 << 16 else np.int32
    numbers = (numbers - low).astype(small if inactive < 1 << 31 else np.int64)
    if not whole:
        numbers[~active] = inactive
    ordered = np.ascontiguousarray(numbers.T)  # a row is sorted where it lies together
    ordered.sort(axis=1)
    new = ordered[:, 1:] != ordered[:, :-1]
    new &= ordered[:, 1:] != inactive
    return (whole or active.any(axis=0)) + np.count_nonzero(new, axis=1)


def parts_of(dtype):
    """The bytes of one access to an element, and how many accesses it takes."""
    return (dtype.itemsize // 2, 2) if dtype.kind == "c" else (dtype.itemsize, 1)


@lru_cache(maxsize=4096)
def _by_alignment(lanes, itemsize, parts):
    """Counts of a request with these lane offsets, by its first byte in a sector."""
    lanes = np.frombuffer(lanes, np.int64)
    addresses = np.zeros((WARP_SIZE, SECTOR_BYTES), np.int64)
    addresses[: len(lanes)] = lanes[:, None] + np.arange(SECTOR_BYTES)
    active = np.zeros(addresses.shape, bool)
    active[: len(lanes)] = True
    return _counts(addresses, active, itemsize, parts).T.copy()


def _counts(addresses, active, itemsize, parts):
    """The columns of a table, of (32, requests)."""
    total, lanes = 0, lanes_of(active)
    for part in range(parts):
        sectors, ideal = request_sectors(addresses + part * itemsize, active, itemsize)
        moved = sectors * SECTOR_BYTES
        total = total + np.stack(
            [lanes > 0, sectors, ideal, lanes, lanes * itemsize, moved]
        )
    return total


def sectors_of(access) -> np.ndarray:
    """The columns of `Coalescing` of an access, added up; found once for all judges."""
    found = None if access.recurs else access.cache.get("sectors")
    if found is None:
        found = _sectors_of(access)
        access.cache["sectors"] = found
    return found


def _sectors_of(access):
    size, parts = parts_of(access.dtype)
    groups, rest = requests_of(access)
    total = 0
    for group in groups:
        table = _by_alignment(group.key, size, parts)
        if len(group.firsts) == 1:
            counts = table[group.firsts[0] & SECTOR_BYTES - 1]
            total = total + counts * group.requests
        else:
            places = group.firsts & SECTOR_BYTES - 1
            begin = how_often(places, SECTOR_BYTES, group.times)
            total = total + begin @ table
    if rest is not None:
        counts = _counts(rest.addresses, rest.active, size, parts)
        times = np.broadcast_to(rest.times, counts.shape[1])
        total = total + counts @ times
    return total


class Coalescing(Judge):
    """Requests to global memory and the sectors that they touch."""

    spaces = ("global",)
    columns = (
        *("requests", "sectors", "ideal_sectors"),
        *("active_lanes", "bytes", "bytes_moved"),
    )

    def observe(self, access):
        """Add one access of each block."""
        self.add(access.reference, sectors_of(access))
