"""Which bytes of shared and local memory are written, and what is read before.

Follows requests that were gathered: each is a column that says when it was made.
"""

from math import gcd
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.emulator.judges.races.clocks import active_rows, split


class Reads(NamedTuple):
    """Reads of places that were not written: columns."""

    place: np.ndarray
    time: np.ndarray
    address: np.ndarray
    column: np.ndarray  # of the access


class Owned:
    """The written bytes of each block's shared memory, or of each warp's local one."""

    def __init__(self):
        self.unit = 0  # bytes that are followed together
        self.rows, self.count = {}, 0  # the row of each block and warp
        self.written = np.zeros((0, 0), bool)

    def forget(self, first_block, last_block):
        """Forget blocks that are done."""
        gone = [key for key in self.rows if first_block <= key[0] < last_block]
        for key in gone:
            self.written[self.rows.pop(key)] = False
        if not self.rows:
            self.written, self.count = np.zeros((0, 0), bool), 0

    def unwritten_reads(self, accesses):
        """For each access the addresses that it reads too early, and their columns."""
        self._refine(gcd(self.unit, *(a.dtype.itemsize for a in accesses)))
        rows = [self._rows_of(access) for access in accesses]
        cells = max(int(cell.max(initial=0)) for cell, *_ in rows) + 1
        self._grow_to(self.count, cells)
        width, written = self.written.shape[1], self.written.reshape(-1)
        reads, places, times = [], [], []
        for access, (cell, owner, time, address, column) in zip(
            accesses, rows, strict=True
        ):
            place = owner * width + cell
            if access.reference.kind != "store":
                missing = ~written[place]
                here = place, time, address, column
                reads.append((access, Reads(*(it[missing] for it in here))))
            if access.reference.kind != "load":
                places.append(place)
                times.append(time + 1)
        found = [*too_early(reads, places, times)]
        for place in places:
            written[place] = True
        return found

    def _rows_of(self, access):
        who, of_warp = access.who, access.space == "local"
        keys = who.block << 32 | (who.warp if of_warp else 0)
        known, which = keys[:1], np.zeros(len(keys), np.int64)
        if (keys != known).any():
            known, which = np.unique(keys, return_inverse=True)
        owners = [divmod(key, 1 << 32) for key in known.tolist()]
        for owner in owners:
            if owner not in self.rows:
                self.rows[owner], self.count = self.count, self.count + 1
        owner = np.array([self.rows[owner] for owner in owners])[which.reshape(-1)]
        columns = (owner, 2 * who.order, np.arange(len(owner)))
        address, *columns = active_rows(access, *(c[None, :] for c in columns))
        size = access.dtype.itemsize
        cell, owner, time, column, address = split(
            address, size, self.unit, *columns, address
        )
        return cell, owner, time, address, column

    def _refine(self, unit):
        if self.unit and unit < self.unit:
            self.written = np.repeat(self.written, self.unit // unit, axis=1)
        self.unit = unit

    def _grow_to(self, rows, cells):
        more = rows - len(self.written), cells - self.written.shape[1]
        if max(more) > 0:
            self.written = np.pad(self.written, [(0, max(0, n)) for n in more])


def too_early(reads, places, times):
    """Of each access's reads of unwritten places the addresses and columns of those
    that nothing writes before; the writes' places and times.
    """
    reads = [(access, read) for access, read in reads if len(read.place)]
    if not reads:
        return
    wanted = np.unique(np.concatenate([read.place for _, read in reads]))
    first = np.full(len(wanted), np.iinfo(np.int64).max)
    for place, time in zip(places, times, strict=True):
        at = np.minimum(np.searchsorted(wanted, place), len(wanted) - 1)
        known = wanted[at] == place
        np.minimum.at(first, at[known], time[known])
    for access, read in reads:
        early = first[np.searchsorted(wanted, read.place)] > read.time
        if early.any():
            yield access, read.address[early], read.column[early]
