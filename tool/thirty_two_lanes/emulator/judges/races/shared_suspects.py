"""Which cells of shared memory could be in a race: a quick first pass, which misses
none and may include too many.

A suspect cell has two accesses by different threads with no barrier between, of which
one is a store, or one an atomic and the other is not. Where a launch has such cells,
hazards.py looks at them alone, and counts. A barrier interval is the unit: accesses
that are the same in every block are checked once for all intervals that do the same,
others go into shadow memory of (cells, blocks). Votes, shuffles and fences order
nothing here.
"""

from math import gcd

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.race import ACCESS_BITS, HARMFUL
from thirty_two_lanes.emulator.judges.gathering import WEIGHTS
from thirty_two_lanes.emulator.judges.races.clocks import LANES, active_rows, split
from thirty_two_lanes.emulator.judges.races.gathered_suspects import GatheredSuspects

SEVERAL = 8  # threads
MOST_WAITING = 256  # accesses, while they may turn out to be harmless


class Interval:
    """What the warps of a batch did in shared memory since their last barrier.

    `accesses` are, by warp, those that are the same in every block, and None for each
    sync of the whole warp; `varying` are others, which may have to go into a shadow.
    """

    def __init__(self):
        self.accesses = {}
        self.varying = []
        self.kinds = 0

    @property
    def harmless(self):
        """Only loads, or only atomics."""
        return not HARMFUL[self.kinds]

    def signature(self):
        """A key that is equal for intervals in which the same happened."""
        return tuple(
            (warp, *(id(access and access.cache) for access in accesses))
            for warp, accesses in sorted(self.accesses.items())
        )

    def rows(self, granularity):
        """Cell, thread, kind and time (syncs of its warp so far) of each access."""
        rows = []
        for warp, accesses in self.accesses.items():
            time = 0
            for access in accesses:
                if access is None:
                    time += 1
                    continue
                one = access._replace(blocks=1)
                size = access.dtype.itemsize
                address, lane = active_rows(one, LANES)
                cell, lane = split(address, size, granularity, lane)
                kind = ACCESS_BITS[access.reference.race_kind]
                same = (np.full(len(cell), value) for value in (kind, time))
                rows.append((cell, warp * WARP_SIZE + lane, *same))
        return [np.concatenate(part) for part in zip(*rows, strict=True)]

    def suspects(self, granularity):
        """The cells that two threads touched without order."""
        cell, thread, kind, time = self.rows(granularity)
        warp = thread // WARP_SIZE
        between = _unordered(cell, warp, kind)
        within = _unordered((cell * WARP_SIZE + warp) * 4096 + time, thread, kind)
        return np.unique(cell[between | within])


def _unordered(place, who, kind):
    """Which rows are at a place that two threads touch, one of them writing?"""
    order = np.argsort(place, kind="stable")
    place, who, kind = place[order], who[order], kind[order]
    start = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
    several = np.minimum.reduceat(who, start) != np.maximum.reduceat(who, start)
    found = several & HARMFUL[np.bitwise_or.reduceat(kind, start)]
    result = np.empty(len(place), bool)
    result[order] = np.repeat(found, np.diff(np.r_[start, len(place)]))
    return result


class SharedShadow:
    """Who touched each cell of each block since the last barrier, and how."""

    def __init__(self, blocks):
        self.granularity = 0  # bytes of a cell; not known yet
        self.thread = np.zeros((0, blocks), np.int16)
        self.kinds = np.zeros((0, blocks), np.uint8)  # with SEVERAL

    def add(self, access):
        """Add an access of each block."""
        blocks = self.kinds.shape[1]
        address, lane, block = active_rows(access, LANES, np.arange(blocks))
        size = access.dtype.itemsize
        self._refine(gcd(self.granularity, size))
        cell, lane, block = split(address, size, self.granularity, lane, block)
        self._grow_to(cell.max(initial=0) + 1)
        place = cell * blocks + block
        thread = (access.who.warp * WARP_SIZE + lane).astype(np.int16)
        threads, kinds = self.thread.reshape(-1), self.kinds.reshape(-1)
        before, last = kinds[place], threads[place]
        threads[place] = thread
        other = (before > 0) & (last != thread) | (threads[place] != thread)
        kinds[place] = before | ACCESS_BITS[access.reference.race_kind]
        kinds[place[other]] |= SEVERAL

    def suspects(self):
        """The cells that two threads touched without order, in any block."""
        several = self.kinds >= SEVERAL
        found = several & HARMFUL[self.kinds & 7]
        return np.flatnonzero(found.any(axis=1))

    def _refine(self, granularity):
        if self.granularity and granularity < self.granularity:
            times = self.granularity // granularity
            self.thread = np.repeat(self.thread, times, axis=0)
            self.kinds = np.repeat(self.kinds, times, axis=0)
        self.granularity = granularity

    def _grow_to(self, cells):
        more = int(cells) - len(self.kinds)
        if more > 0:
            self.thread = np.pad(self.thread, ((0, more), (0, 0)))
            self.kinds = np.pad(self.kinds, ((0, more), (0, 0)))


class EquivalentBlocks:
    """Which blocks did the same in shared memory, so that one represents the others."""

    def __init__(self):
        self.same = {}  # first block: {warp: what it did in every block}
        self.differing = {}  # first block: {warp: what it did, by block}
        self.blocks = {}
        self.members = {}  # a representative: the blocks that it represents

    def add(self, access):
        """Add an access of each block of a batch."""
        warp, first, blocks = access.who
        self.blocks[first] = blocks
        if access.recurs:
            by_warp = self.same.setdefault(first, {})
            by_warp[warp] = hash((by_warp.get(warp), id(access.cache)))
            return
        addresses = np.asarray(access.addresses).astype(np.uint64)
        if access.active is not None:
            addresses = np.where(access.active, addresses, np.uint64(2**63))
        addresses = np.broadcast_to(addresses, (WARP_SIZE, addresses.shape[-1]))
        by_warp = self.differing.setdefault(first, {})
        if warp not in by_warp:
            by_warp[warp] = np.zeros(blocks, np.uint64)
        by_warp[warp] *= np.uint64(0x9E3779B97F4A7C15)
        by_warp[warp] += (addresses * WEIGHTS).sum(axis=0)
        by_warp[warp] += np.uint64(id(access.reference))

    def representatives(self) -> dict:
        """The first of the blocks that did the same, and how many they are."""
        found = {}
        for first, blocks in self.blocks.items():
            same = tuple(sorted(self.same.get(first, {}).items()))
            differing = self.differing.get(first, {})
            columns = np.zeros((len(differing) + 1, blocks), np.uint64)
            for row, warp in enumerate(sorted(differing)):
                columns[row] = differing[warp]
            _, at, which = np.unique(
                columns, axis=1, return_index=True, return_inverse=True
            )
            which = which.reshape(-1)
            for number, column in enumerate(at.tolist()):
                members = np.flatnonzero(which == number) + first
                key = (same, columns[:, column].tobytes())
                block, others = found.get(key, (first + column, 0))
                found[key] = (block, others + len(members))
                self.members.setdefault(block, members)
        return dict(found.values())


class SharedSuspects:
    """The bytes of shared memory, in any block, that could be in a race."""

    def __init__(self):
        self.equivalent_blocks = EquivalentBlocks()
        self.intervals = {}  # first block of a batch: Interval
        self.shadows = {}  # first block of a batch: SharedShadow
        self.checked = set()  # signatures of intervals that were looked at
        self.granularity = 0  # bytes of a cell; not known yet
        self.suspect_bytes = set()
        self.of_few_blocks = GatheredSuspects()

    def gathered(self, accesses):
        """Add many accesses of few blocks."""
        accesses = [access for access in accesses if access.space == "shared"]
        if accesses:
            sizes = (access.dtype.itemsize for access in accesses)
            self.granularity = gcd(self.granularity, *sizes)
            cells = self.of_few_blocks.add(accesses, self.granularity)
            self._add_suspects(cells, self.granularity)

    def access(self, access):
        """Add an access of each block of a batch."""
        self.equivalent_blocks.add(access)
        first = access.who.first_block
        interval = self.intervals.get(first)
        if interval is None:
            interval = self.intervals[first] = Interval()
        interval.kinds |= ACCESS_BITS[access.reference.race_kind]
        if not access.recurs:
            interval.varying.append(access)
            if len(interval.varying) > MOST_WAITING:
                self._add_to_shadow(first, interval)
        else:
            interval.accesses.setdefault(access.who.warp, []).append(access)
        self.granularity = gcd(self.granularity, access.dtype.itemsize)

    def synchronise(self, sync):
        """End the interval at a barrier of all blocks; note the sync of a warp."""
        if sync.scope == "grid":
            return self.finish()
        first, warp = sync.who.first_block, sync.who.warp
        if sync.scope == "block":
            if sync.blocks is None or sync.blocks.all():
                self._check(first)
        elif first in self.intervals and sync.lanes.all():
            self.intervals[first].accesses.setdefault(warp, []).append(None)

    def finish(self):
        """End all intervals."""
        self.of_few_blocks.finish()
        for first in list(self.intervals):
            self._check(first)

    def _check(self, first):
        interval = self.intervals.pop(first, None)
        if interval is None:
            return
        if interval.varying and not interval.harmless:
            self._add_to_shadow(first, interval)
        shadow = self.shadows.pop(first, None)
        if interval.harmless:
            return
        if shadow is not None:
            for access in filter(None, sum(interval.accesses.values(), [])):
                shadow.add(access)
            self._add_suspects(shadow.suspects(), shadow.granularity)
            return
        signature = interval.signature()
        if signature not in self.checked:
            self.checked.add(signature)
            self._add_suspects(interval.suspects(self.granularity), self.granularity)

    def _add_to_shadow(self, first, interval):
        """Put the accesses that wait into a shadow, to see whether they may race."""
        for access in interval.varying:
            if first not in self.shadows:
                self.shadows[first] = SharedShadow(access.blocks)
            self.shadows[first].add(access)
        interval.varying = []

    def _add_suspects(self, cells, granularity):
        self.suspect_bytes.update(
            (cells[:, None] * granularity + np.arange(granularity)).ravel().tolist()
        )
