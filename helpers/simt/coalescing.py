"""Coalescing: how many 32-byte sectors each request to global memory touches.

`sectors` are the different aligned 32-byte pieces that the active lanes' bytes lie in;
`ideal` is as many as those bytes would fill, or fewer when lanes share them:
min(sectors, ceil(bytes / 32)). Settled on an H200 in 36 of 36 patterns,
l1tex__t_sectors_pipe_lsu_mem_global_op_ld and _st. A complex number is two accesses,
real and imaginary part, as the compiler makes them. Not modelled: caches, so a sector
counts whether it hits or misses.
"""

import numpy as np

from ..hardware import SECTOR_BYTES
from .judges import Judge


def request_sectors(addresses, active, itemsize):
    """Sectors and ideal sectors of requests, from (32, requests) addresses."""
    lanes = active.sum(axis=0)
    sectors = _different(addresses // SECTOR_BYTES, active)
    ideal = np.minimum(sectors, -(-lanes * itemsize // SECTOR_BYTES))
    return sectors, ideal


def _different(numbers, active):
    """How many different numbers the active lanes hold, by request; often in order."""
    if active.all():
        steps = numbers[1:] - numbers[:-1]
        if (steps >= 0).all():
            return 1 + np.count_nonzero(steps, axis=0)
    inactive = numbers.max(initial=0) + 1
    ordered = np.sort(np.where(active, numbers, inactive), axis=0)
    new = ordered[1:] != ordered[:-1]
    return active.any(axis=0) + np.count_nonzero(
        new & (ordered[1:] != inactive), axis=0
    )


class Coalescing(Judge):
    """Requests to global memory and the sectors that they touch."""

    spaces = ("global",)
    columns = ("requests", "sectors", "ideal_sectors")

    def count(self, addresses, active, access):
        size, parts = access.dtype.itemsize, (0,)
        if access.dtype.kind == "c":
            size, parts = size // 2, (0, size // 2)
        total = 0
        for part in parts:
            sectors, ideal = request_sectors(addresses + part, active, size)
            total = total + np.stack(
                [active.any(axis=0).astype(np.int64), sectors, ideal]
            )
        return total
