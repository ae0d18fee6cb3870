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
from thirty_two_lanes.emulator.judges.gathering import digests
from thirty_two_lanes.emulator.judges.races.clocks import LANES, active_rows, split
from thirty_two_lanes.emulator.judges.races.merged import in_order, numbered, reduced

NOTHING = [np.zeros(0, np.int64)] * 6  # no rows for `unordered_cells`
SEVERAL = 8  # threads
MOST_WAITING = 256  # accesses, while they may turn out to be harmless


class Interval:
    """What the warps of a batch did in shared memory since their last barrier.

    `accesses` are, by warp, those that are the same in every block, and None for each
    sync of the whole warp; `varying` are others, which may have to go into a shadow.
    """

    def __init__(self, blocks):
        self.blocks = blocks
        self.accesses = {}
        self.varying = []
        self.varied = {}  # how many did, by warp
        self.kinds = 0

    @property
    def harmless(self):
        """Only loads, or only atomics."""
        return not HARMFUL[self.kinds]

    def turn_of(self, warp):
        """What comes before the next varying access of a warp, which is counted."""
        self.varied[warp] = self.varied.get(warp, 0) + 1
        return self.varied[warp], len(self.accesses.get(warp, ()))

    def signature(self):
        """A key that is equal for intervals in which the same happened."""
        return tuple(
            (warp, *(id(access and access.cache) for access in accesses))
            for warp, accesses in sorted(self.accesses.items())
        )

    def rows(self, granularity):
        """Columns of what was done, for `unordered_cells`."""
        rows = []
        for warp, accesses in self.accesses.items():
            actor = warp << 32
            for access in accesses:
                if access is None:
                    actor += 1
                    continue
                one = access._replace(blocks=1)
                address, lane = active_rows(one, LANES)
                cell, lane = split(address, access.dtype.itemsize, granularity, lane)
                thread, same = warp * WARP_SIZE + lane, np.ones_like(cell)
                kind = same * ACCESS_BITS[access.reference.race_kind]
                rows.append((cell, 0 * same, actor * same, thread, thread, kind))
        return [np.concatenate(part) for part in zip(*rows, strict=True)]


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


class AlikeBlocks:
    """Which blocks did the same in shared memory, so that one represents the others: a
    number of each block for all that it did.
    """

    def __init__(self):
        self.did = np.zeros(0, np.uint64)
        self.all_did = {}  # by the first of a batch, and how many: what all of them did
        self.intervals = {}  # so far, by first block

    def start(self, blocks):
        self.did = np.zeros(blocks, np.uint64)

    def end(self, first, interval):
        """Add what is the same in all blocks of a batch, at the end of an interval."""
        number = hash((self.intervals.get(first, 0), interval.signature()))
        self.intervals[first] = self.intervals.get(first, 0) + 1
        key = first, interval.blocks
        self.all_did[key] = self.all_did.get(key, 0) + number

    def add(self, access, interval):
        """Add an access that varies, in an interval of its batch."""
        warp, first, blocks = access.who
        turn = interval.turn_of(warp)
        when = warp, turn, self.intervals.get(first, 0), id(access.reference)
        number = np.array([hash(when)])
        addresses = access.addresses.astype(np.int64)
        if access.active is not None:
            addresses = np.where(access.active, addresses, -1)
        shape = WARP_SIZE, addresses.shape[-1]
        number = digests(np.broadcast_to(addresses, shape), (number,))
        self.did[first : first + blocks] += number

    def gathered(self, access):
        """Add requests that were gathered."""
        who = access.who
        rows = (who.warp, who.interval, who.syncs, who.whole_syncs)
        addresses = access.addresses
        if access.active is not None:
            addresses = np.where(access.active, addresses, -1)
        number = digests(addresses, rows)
        number *= (2 * who.all_iterations + access.times).astype(np.uint64)
        number *= np.uint64(2 * hash(access.reference) + 1 & 2**64 - 1)
        np.add.at(self.did, who.block, number)

    def represented(self):
        """By block: the first that did the same, and how many did."""
        for (first, blocks), number in self.all_did.items():
            self.did[first : first + blocks] += np.uint64(number & 2**64 - 1)
        self.all_did = {}
        _, first, which, count = np.unique(
            self.did, return_index=True, return_inverse=True, return_counts=True
        )
        return first[which], count[which]


class SharedSuspects:
    """The bytes of shared memory, in any block, that could be in a race."""

    def __init__(self):
        self.alike = AlikeBlocks()
        self.intervals = {}  # first block of a batch: Interval
        self.shadows = {}  # first block of a batch: SharedShadow
        self.checked = set()  # signatures of intervals that were looked at
        self.granularity = 0  # bytes of a cell; not known yet
        self.suspect_bytes = set()
        self.open = NOTHING  # rows of few blocks since their last barrier

    def gathered(self, accesses):
        """Add many accesses of few blocks."""
        accesses = [access for access in accesses if access.space == "shared"]
        if not accesses:
            return
        self._refine(gcd(*(access.dtype.itemsize for access in accesses)))
        for access in accesses:
            self.alike.gathered(access)
        parts = [self.open, *(_rows_of(it, self.granularity) for it in accesses)]
        rows = [np.concatenate(part) for part in zip(*parts, strict=True)]
        cells, rows = unordered_cells(rows)
        self._add_suspects(cells, self.granularity)
        block, which = np.unique(rows[1] >> 32, return_inverse=True)
        last = np.zeros(len(block), np.int64)
        np.maximum.at(last, which, rows[1])
        self.open = [row[rows[1] == last[which]] for row in rows]

    def access(self, access):
        """Add an access of each block of a batch."""
        first = access.who.first_block
        interval = self.intervals.get(first)
        if interval is None:
            interval = self.intervals[first] = Interval(access.blocks)
        interval.kinds |= ACCESS_BITS[access.reference.race_kind]
        if not access.recurs:
            self.alike.add(access, interval)
            interval.varying.append(access)
            if len(interval.varying) > MOST_WAITING:
                self._add_to_shadow(first, interval)
        else:
            interval.accesses.setdefault(access.who.warp, []).append(access)
        self._refine(access.dtype.itemsize)

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
        self.open = NOTHING
        for first in list(self.intervals):
            self._check(first)

    def _check(self, first):
        interval = self.intervals.pop(first, None)
        if interval is None:
            return
        self.alike.end(first, interval)
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
            cells, _ = unordered_cells(interval.rows(self.granularity))
            self._add_suspects(cells, self.granularity)

    def _add_to_shadow(self, first, interval):
        """Put the accesses that wait into a shadow, to see whether they may race."""
        for access in interval.varying:
            if first not in self.shadows:
                self.shadows[first] = SharedShadow(access.blocks)
            self.shadows[first].add(access)
        interval.varying = []

    def _refine(self, size):
        """Look at cells that elements of a size are whole numbers of."""
        before = self.granularity
        if before == size:
            return
        self.granularity = gcd(before, size)
        times = before // self.granularity
        if times > 1:
            cell, *rows = self.open
            self.open = split(cell * times, times, 1, *rows)

    def _add_suspects(self, cells, granularity):
        self.suspect_bytes.update(
            (cells[:, None] * granularity + np.arange(granularity)).ravel().tolist()
        )


def _rows_of(access, granularity):
    """Columns of the lanes of requests that were gathered, for `unordered_cells`."""
    who, size = access.who, access.dtype.itemsize
    interval = (who.block << 32 | who.interval)[None, :]
    actor = (who.warp << 32 | who.whole_syncs)[None, :]
    thread = who.warp * WARP_SIZE + LANES
    address, *rows = active_rows(access, interval, actor, thread)
    cell, interval, actor, thread = split(address, size, granularity, *rows)
    kind = np.full(len(cell), ACCESS_BITS[access.reference.race_kind])
    return cell, interval, actor, thread, thread, kind


def unordered_cells(rows):
    """The cells that two threads touched without order; and the rows, those of one
    actor at a cell as one.

    Columns are the cell, the interval between barriers, the actor (a warp, and how
    often all of it has waited for each other), lowest and highest thread, and kinds.
    """
    cell, interval, actor, low, high, kinds = rows
    order, start = in_order(numbered(interval), cell, numbered(actor))
    first = order[start]
    cell, interval, actor = cell[first], interval[first], actor[first]
    low = reduced(np.minimum, low[order], start)
    high = reduced(np.maximum, high[order], start)
    kinds = reduced(np.bitwise_or, kinds[order], start)
    within = (low != high) & HARMFUL[kinds]
    new = (cell[1:] != cell[:-1]) | (interval[1:] != interval[:-1])
    place = np.flatnonzero(np.append(True, new)[: len(cell)])
    warp = low // WARP_SIZE
    several = reduced(np.minimum, warp, place) != reduced(np.maximum, warp, place)
    several &= HARMFUL[reduced(np.bitwise_or, kinds, place)]
    found = np.unique(np.concatenate([cell[within], cell[place][several]]))
    return found, (cell, interval, actor, low, high, kinds)
