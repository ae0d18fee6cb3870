"""Which cells could be in a race: a quick first look, which misses none and names some
too many.

Two accesses of a cell by different threads, one of them a store, or an atomic and a
plain one, and no barrier between. Where a launch has such cells, hazards.py looks at
them alone, and counts. Shared memory is looked at by barrier interval: accesses that
are the same in every block once for all intervals that do the same, others in a shadow
of (cells, blocks). Votes, shuffles and fences order nothing here.
"""

from math import gcd

import numpy as np

from helpers.core.hardware import WARP_SIZE
from helpers.emulator.judges.races.clocks import active_rows, split

LANES = np.arange(WARP_SIZE)[:, None]
KINDS = {"load": 1, "store": 2, "atomic": 4}
SEVERAL = 8  # threads
WAITING = 256  # accesses, while they may turn out to be harmless
HARMFUL = np.array([bits & 2 > 0 or bits & 5 == 5 for bits in range(8)])


class Interval:
    """What the warps of a batch did in shared memory since their last barrier.

    `accesses` are those that are the same in every block, None where a warp met;
    `varying` are others, which a shadow may have to see.
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
        """The same for intervals in which the same happened."""
        return tuple(
            (warp, *(id(access and access.cache) for access in accesses))
            for warp, accesses in sorted(self.accesses.items())
        )

    def rows(self, grain):
        """Cell, thread, kind and time (in meetings of its warp) of each access."""
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
                cell, lane = split(address, size, grain, lane)
                kind = KINDS[access.reference.kind]
                same = (np.full(len(cell), value) for value in (kind, time))
                rows.append((cell, warp * WARP_SIZE + lane, *same))
        return [np.concatenate(part) for part in zip(*rows, strict=True)]

    def suspects(self, grain):
        """The cells that two threads touched without order."""
        cell, thread, kind, time = self.rows(grain)
        warp = thread // WARP_SIZE
        between = _unordered(cell, warp, kind)
        within = _unordered((cell * WARP_SIZE + warp) * 4096 + time, thread, kind)
        return np.unique(cell[between | within])


def _unordered(place, who, kind):
    """Is each row at a place that two share, one of them writing?"""
    order = np.argsort(place, kind="stable")
    place, who, kind = place[order], who[order], kind[order]
    start = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
    several = np.minimum.reduceat(who, start) != np.maximum.reduceat(who, start)
    found = several & HARMFUL[np.bitwise_or.reduceat(kind, start)]
    result = np.empty(len(place), bool)
    result[order] = np.repeat(found, np.diff(np.r_[start, len(place)]))
    return result


class Shadow:
    """Who touched each cell of each block since the last barrier, and how."""

    def __init__(self, blocks):
        self.grain = 0  # bytes of a cell; not known yet
        self.thread = np.zeros((0, blocks), np.int16)
        self.kinds = np.zeros((0, blocks), np.uint8)  # with SEVERAL

    def see(self, access):
        """Add an access of each block."""
        blocks = self.kinds.shape[1]
        address, lane, block = active_rows(access, LANES, np.arange(blocks))
        size = access.dtype.itemsize
        self._refine(gcd(self.grain, size))
        cell, lane, block = split(address, size, self.grain, lane, block)
        self._reach(cell.max(initial=0) + 1)
        place = cell * blocks + block
        thread = (access.who.warp * WARP_SIZE + lane).astype(np.int16)
        threads, kinds = self.thread.reshape(-1), self.kinds.reshape(-1)
        before, last = kinds[place], threads[place]
        threads[place] = thread
        other = (before > 0) & (last != thread) | (threads[place] != thread)
        kinds[place] = before | KINDS[access.reference.kind]
        kinds[place[other]] |= SEVERAL

    def suspects(self):
        """The cells that two threads touched without order, in any block."""
        several = self.kinds >= SEVERAL
        found = several & HARMFUL[self.kinds & 7]
        return np.flatnonzero(found.any(axis=1))

    def _refine(self, grain):
        if self.grain and grain < self.grain:
            times = self.grain // grain
            self.thread = np.repeat(self.thread, times, axis=0)
            self.kinds = np.repeat(self.kinds, times, axis=0)
        self.grain = grain

    def _reach(self, cells):
        more = int(cells) - len(self.kinds)
        if more > 0:
            self.thread = np.pad(self.thread, ((0, more), (0, 0)))
            self.kinds = np.pad(self.kinds, ((0, more), (0, 0)))


class Alike:
    """Which blocks did the same in shared memory: one of them stands for the others."""

    WEIGHTS = np.random.default_rng(32).integers(1, 2**63, (WARP_SIZE, 1), np.uint64)

    def __init__(self):
        self.same = {}  # first block: {warp: what it did in every block}
        self.differing = {}  # first block: {warp: what it did, by block}
        self.blocks = {}
        self.members = {}  # a block that stands for others: those of its batch

    def see(self, access):
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
        by_warp[warp] += (addresses * self.WEIGHTS).sum(axis=0)
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
        self.alike = Alike()
        self.intervals = {}  # first block of a batch: Interval
        self.shadows = {}  # first block of a batch: Shadow
        self.known = set()  # signatures of intervals that were looked at
        self.grain = 0  # bytes of a cell; not known yet
        self.bytes = set()

    def access(self, access):
        """Add an access of each block of a batch."""
        self.alike.see(access)
        first = access.who.first_block
        interval = self.intervals.get(first)
        if interval is None:
            interval = self.intervals[first] = Interval()
        interval.kinds |= KINDS[access.reference.kind]
        if not access.recurs:
            interval.varying.append(access)
            if len(interval.varying) > WAITING:
                self._see(first, interval)
        else:
            interval.accesses.setdefault(access.who.warp, []).append(access)
        self.grain = gcd(self.grain, access.dtype.itemsize)

    def meet(self, sync):
        """End an interval where all blocks of a batch meet; note where a warp does."""
        if sync.scope == "grid":
            return self.finish()
        first, warp = sync.who.first_block, sync.who.warp
        if sync.scope == "block":
            if sync.blocks is None or sync.blocks.all():
                self._look(first)
        elif first in self.intervals and sync.lanes.all():
            self.intervals[first].accesses.setdefault(warp, []).append(None)

    def finish(self):
        """End all intervals."""
        for first in list(self.intervals):
            self._look(first)

    def _look(self, first):
        interval = self.intervals.pop(first, None)
        if interval is None:
            return
        if interval.varying and not interval.harmless:
            self._see(first, interval)
        shadow = self.shadows.pop(first, None)
        if interval.harmless:
            return
        if shadow is not None:
            for access in filter(None, sum(interval.accesses.values(), [])):
                shadow.see(access)
            self._found(shadow.suspects(), shadow.grain)
            return
        signature = interval.signature()
        if signature not in self.known:
            self.known.add(signature)
            self._found(interval.suspects(self.grain), self.grain)

    def _see(self, first, interval):
        """Let a shadow see what waits; only then is it known whether that may race."""
        for access in interval.varying:
            if first not in self.shadows:
                self.shadows[first] = Shadow(access.blocks)
            self.shadows[first].see(access)
        interval.varying = []

    def _found(self, cells, grain):
        self.bytes.update((cells[:, None] * grain + np.arange(grain)).ravel().tolist())
