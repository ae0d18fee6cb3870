"""Which cells of global memory could be in a race: each array has shadow memory that
holds the last writer and the last readers of each cell.

A first pass, like shared_suspects.py: it misses none and may include too many. A
barrier orders the threads of its block, a grid barrier all; fences, atomics and
`syncwarp` are left to hazards.py. Arrays that the kernel cannot write have no shadow.
"""

from bisect import bisect_right
from math import gcd

import numpy as np

from thirty_two_lanes.core.race import ACCESS_BITS
from thirty_two_lanes.emulator.judges.races.clocks import active_rows, split
from thirty_two_lanes.emulator.judges.races.single_owner import CellOwners, windows_of

NOBODY = -1  # any smaller number is several threads: of one block, or of several
ATOMIC = ACCESS_BITS["atomic"]
SEVERAL_BLOCKS = np.iinfo(np.int64).min


class GlobalShadow:
    """An array's cells: last writer, readers since, and their times; who updated any.

    Threads are numbered through the grid, `width` to a block; times count the barriers
    of their block. While each cell is one thread's own, `owners` is enough.
    """

    def __init__(self, allocation, granularity, clocks, has_barriers):
        self.start, self.size = allocation.start, allocation.size
        self.granularity, self.has_barriers = granularity, has_barriers
        self.width, self.threads = clocks.width, clocks.threads_in_grid
        self.suspects = np.zeros(self.cells, bool)
        self.owners = None
        self.reset()

    def release(self):
        """Release the owners of cells, which are not needed any more."""
        self.owners = None

    @property
    def cells(self):
        return -(-self.size // self.granularity)

    def reset(self):
        """Start again, after a barrier of the grid."""
        self.release()
        self.owners = CellOwners(
            self.cells, self.width, self.threads, self.has_barriers
        )
        self.writer = self.written_at = self.reader = self.read_at = None
        self.atomic = None

    def share(self):
        """From now on cells may have several threads."""
        if self.owners is None:
            return
        self.writer, self.reader = self.owners.writer_and_reader(NOBODY)
        since = self.owners.since
        self.written_at = np.zeros(self.cells, np.int32) if since is None else since
        self.read_at = self.written_at.copy()
        self.release()

    def refine(self, granularity):
        """Look at smaller cells."""
        self.share()
        times, self.granularity = self.granularity // granularity, granularity
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, np.repeat(value, times)[: self.cells])

    def load(self, cell, thread, time):
        """Threads read cells."""
        bad = self._by_another(self.writer, self.written_at, cell, thread, time)
        if self.atomic is not None:
            bad |= self.atomic[cell]
        self._add(self.reader, self.read_at, cell, thread, time)
        self.suspects[cell[bad]] = True

    def store(self, cell, thread, time):
        """Threads write cells."""
        bad = self._after_others(cell, thread, time)
        if self.atomic is not None:
            bad |= self.atomic[cell]
        self.writer[cell] = thread
        self.written_at[cell] = time
        bad |= self.writer[cell] != thread
        self.suspects[cell[bad]] = True

    def update(self, cell, thread, time):
        """Threads update cells atomically."""
        bad = self._after_others(cell, thread, time)
        if self.atomic is None:
            self.atomic = np.zeros(self.cells, bool)
        self.atomic[cell] = True
        self.suspects[cell[bad]] = True

    def _after_others(self, cell, thread, time):
        bad = self._by_another(self.writer, self.written_at, cell, thread, time)
        bad |= self._by_another(self.reader, self.read_at, cell, thread, time)
        return bad

    def _by_another(self, who, when, cell, thread, time):
        """Was each cell touched by another thread, with no barrier since?"""
        last = who[cell]
        bad = (last != thread) & (last != NOBODY)
        if bad.any():
            bad &= (self._block(last) != self._block(thread)) | (when[cell] >= time)
        return bad

    def _add(self, who, when, cell, thread, time):
        """Add threads to those that touched cells."""
        last, now = who[cell], thread
        alone = (last == NOBODY) | (last == thread)
        if not alone.all():
            block = self._block(last)
            joined = np.where(block == self._block(thread), block, SEVERAL_BLOCKS)
            # an earlier interval's readers are ordered before all that follows
            later = (block == self._block(thread)) & (when[cell] < time)
            now = np.where(alone | later, thread, joined)
        who[cell] = now
        when[cell] = time
        lost = who[cell] != now
        if lost.any():
            self._add_lost(who, cell[lost], self._block(now[lost]))

    def _add_lost(self, who, cell, block):
        """Add those of one request that found others of it at their cells."""
        joined = np.where(self._block(who[cell]) == block, block, SEVERAL_BLOCKS)
        who[cell] = joined
        who[cell[joined == SEVERAL_BLOCKS]] = SEVERAL_BLOCKS

    def _block(self, who):
        """Several threads of the block of one, or of what stands for several."""
        return np.where(who < 0, who, -2 - who // self.width)


class GlobalSuspects:
    """The cells of global memory that could be in a race, by array."""

    def __init__(self, clocks):
        self.clocks = clocks
        self.has_barriers = False  # are there barriers of blocks?
        self.shadows = {}  # first byte: GlobalShadow, or None where it is not written
        self.starts = []

    def start(self, start):
        self.has_barriers = any(
            hasattr(basic_block.ending, "predicate") for basic_block in start.code
        )

    def allocation(self, allocation):
        """Give an array that the kernel can write a shadow, one for all its names."""
        if allocation.space != "global":
            return
        shadow = self.shadows.get(allocation.start)
        if allocation.written and shadow is None:
            granularity = granularity_of(allocation.dtype)
            more = granularity, self.clocks, self.has_barriers
            shadow = GlobalShadow(allocation, *more)
        self.shadows[allocation.start] = shadow
        self.starts = sorted(self.shadows)

    def shadow_at(self, address):
        """The shadow of the array that an address is in, or None."""
        return self.shadows[self.starts[bisect_right(self.starts, address) - 1]]

    def gathered(self, accesses):
        """Check many accesses of few blocks; where cells have several threads, an
        interval between barriers at a time.
        """
        followed = [
            access
            for access in accesses
            if access.space == "global" and self.shadow_at(access.first_address)
        ]
        others = [access for access in followed if not self._alone(access)]
        for access in in_turn(others):
            self.access(access)

    def _alone(self, access) -> bool:
        """Record an access where each cell is one thread's; False if one is not."""
        shadow = self.shadow_at(access.first_address)
        size, kind = access.dtype.itemsize, access.reference.race_kind
        if (
            shadow.owners is None
            or ACCESS_BITS[kind] == ATOMIC
            or size % shadow.granularity
        ):
            return False
        who = self.clocks.thread(access.who), self.clocks.interval(access.who)
        address, *who = active_rows(access, *who)
        rows = split(address - shadow.start, size, shadow.granularity, *who)
        return shadow.owners.cells(kind, *rows)

    def access(self, access):
        """Check an access of each block of a batch."""
        shadow = self.shadow_at(access.first_address)
        if shadow is None:
            return
        size, kind = access.dtype.itemsize, access.reference.race_kind
        if size % shadow.granularity:
            shadow.refine(gcd(size, shadow.granularity))
        time = self.clocks.interval(access.who)
        alone = shadow.owners is not None and ACCESS_BITS[kind] != ATOMIC
        windows = (
            windows_of(access, shadow.granularity, shadow.start) if alone else None
        )
        if windows and shadow.owners.windows(kind, windows, access.who, time):
            return
        address, *who = active_rows(access, self.clocks.thread(access.who), time)
        cell, *who = split(address - shadow.start, size, shadow.granularity, *who)
        if alone and not windows and shadow.owners.cells(kind, cell, *who):
            return
        shadow.share()
        record = {1: shadow.load, 2: shadow.store, ATOMIC: shadow.update}
        record[ACCESS_BITS[kind]](cell, *who)

    def synchronise(self, sync):
        """Reset all shadows at a barrier of the grid, which orders all threads."""
        if sync.scope == "grid":
            for shadow in filter(None, self.shadows.values()):
                shadow.reset()


def in_turn(accesses):
    """The accesses, those after fewer barriers first."""
    last = max((int(a.who.interval.max()) for a in accesses), default=0)
    least = min((int(a.who.interval.min()) for a in accesses), default=0)
    if last == least:
        yield from accesses
        return
    for interval in range(least, last + 1):
        for access in accesses:
            columns = np.flatnonzero(access.who.interval == interval)
            if len(columns):
                yield some_of(access, columns)


def some_of(access, columns):
    """Some of the requests that were gathered."""
    who = (part if part is None else part[..., columns] for part in access.who)
    return access._replace(
        cells=access.cells[:, columns],
        active=None if access.active is None else access.active[:, columns],
        blocks=len(columns),
        cache={},
        who=type(access.who)(*who),
        times=access.times[columns],
    )


def granularity_of(dtype) -> int:
    """The bytes of the smallest cell that accesses of such elements can differ by."""
    if dtype.names is None:
        return dtype.itemsize
    parts = [part for fields in dtype.fields.values() for part in _sizes(*fields[:2])]
    return gcd(dtype.itemsize, *parts)


def _sizes(dtype, offset):
    base = dtype.subdtype[0] if dtype.subdtype else dtype
    return offset, granularity_of(base)
