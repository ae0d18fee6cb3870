"""Which cells of shared memory could be in a race, where blocks are few: all that they
did since the last look is sorted by cell and barrier interval.

What was done in the interval that a block is in is kept, a row for each cell, warp and
time between syncs of the whole warp, and looked at once more with what follows.
"""

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.race import ACCESS_BITS, HARMFUL
from thirty_two_lanes.emulator.judges.gathering import digests
from thirty_two_lanes.emulator.judges.races.clocks import LANES, active_rows, split

NONE = np.zeros(0, np.int64)


class GatheredSuspects:
    """Finds cells that two threads touched without order; and blocks that did the same,
    so that one represents the others.
    """

    def __init__(self):
        self.granularity = 0  # bytes of a cell; not known yet
        self.open = [NONE] * 6  # cell, interval, actor, lowest, highest thread, kinds
        self.did = {}  # by block: a number for all that it did in shared memory

    def add(self, accesses, granularity):
        """Add accesses; the cells that could be in a race."""
        self._refine(granularity)
        for access in accesses:
            self._note(access)
        parts = [self.open, *map(self._rows, accesses)]
        rows = [np.concatenate(part) for part in zip(*parts, strict=True)]
        cell, interval, actor, low, high, kinds = rows
        _, interval_number = np.unique(interval, return_inverse=True)
        actors, actor_number = np.unique(actor, return_inverse=True)
        place = interval_number * (int(cell.max()) + 1) + cell
        order = np.argsort(place * len(actors) + actor_number)
        key = (place * len(actors) + actor_number)[order]
        start = _starts(key)
        rows = [row[order][start] for row in (cell, interval, actor)]
        low = np.minimum.reduceat(low[order], start)
        high = np.maximum.reduceat(high[order], start)
        kinds = np.bitwise_or.reduceat(kinds[order], start)
        cell, interval, _ = rows
        within = (low != high) & HARMFUL[kinds]
        between = _starts(key[start] // len(actors))
        warp = low // WARP_SIZE
        several = np.minimum.reduceat(warp, between) != np.maximum.reduceat(
            warp, between
        )
        several &= HARMFUL[np.bitwise_or.reduceat(kinds, between)]
        self._keep_open(*rows, low, high, kinds)
        return np.unique(np.concatenate([cell[within], cell[between][several]]))

    def finish(self):
        """All blocks have met: nothing is open any more."""
        self.open = [NONE] * 6

    def _keep_open(self, *rows):
        """Keep the rows of the last interval of each block."""
        block = rows[1] >> 32
        numbers, which = np.unique(block, return_inverse=True)
        last = np.zeros(len(numbers), np.int64)
        np.maximum.at(last, which, rows[1])
        stays = rows[1] == last[which]
        self.open = [row[stays] for row in rows]

    def _rows(self, access):
        """Cell, interval, actor, thread (twice) and kind of each lane."""
        who, size = access.who, access.dtype.itemsize
        interval = (who.block << 32 | who.interval)[None, :]
        actor = (who.warp << 32 | who.whole_syncs)[None, :]
        thread = who.warp * WARP_SIZE + LANES
        rows = active_rows(access, interval, actor, thread)
        cell, interval, actor, thread = split(
            rows[0], size, self.granularity, *rows[1:]
        )
        kind = np.full(len(cell), ACCESS_BITS[access.reference.race_kind])
        return cell, interval, actor, thread, thread, kind

    def _note(self, access):
        """Note what each block does: equal for blocks that do the same."""
        who = access.who
        rows = (who.warp, who.interval, who.syncs, who.whole_syncs)
        addresses = access.addresses
        if access.active is not None:
            addresses = np.where(access.active, addresses, -1)
        number = digests(addresses, rows)
        number *= (2 * who.all_iterations + access.times).astype(np.uint64)
        number *= np.uint64(2 * hash(access.reference) + 1 & 2**64 - 1)
        blocks, which = np.unique(who.block, return_inverse=True)
        total = np.zeros(len(blocks), np.uint64)
        np.add.at(total, which, number)
        for block, did in zip(blocks.tolist(), total.tolist(), strict=True):
            self.did[block] = self.did.get(block, 0) + did & 2**64 - 1

    def represented(self) -> dict:
        """For each block the first that did the same, and how many did."""
        alike = {}
        for block in sorted(self.did):
            alike.setdefault(self.did[block], []).append(block)
        return {b: (same[0], len(same)) for same in alike.values() for b in same}

    def _refine(self, granularity):
        times = self.granularity // granularity if self.granularity else 1
        if times > 1:
            cell, *others = self.open
            cell = (cell[:, None] * times + np.arange(times)).reshape(-1)
            self.open = [cell, *(np.repeat(other, times) for other in others)]
        self.granularity = granularity


def _starts(key):
    """Where in sorted numbers others begin."""
    new = np.ones(len(key), bool)
    new[1:] = key[1:] != key[:-1]
    return np.flatnonzero(new)
