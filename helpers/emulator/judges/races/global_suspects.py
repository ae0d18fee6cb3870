"""Which cells of global memory could be in a race: each array's shadow knows who wrote
and who read a cell last.

A first look, like suspects.py: it misses none and names some too many. A barrier orders
the threads of its block, a grid barrier all; fences, atomics and meetings of part of a
warp are left to hazards.py. Arrays that the kernel cannot write have no shadow.
"""

from bisect import bisect_right
from math import gcd

import numpy as np

from helpers.emulator.judges.races.clocks import active_rows, split
from helpers.emulator.judges.races.single_owner import Owners, windows_of

NOBODY = -1  # any smaller number is a crowd: of one block, or of several
CROWD = np.iinfo(np.int64).min


class Shadow:
    """An array's cells: last writer, readers since, and their times; who updated any.

    Threads are numbered through the grid, `width` to a block; times count the barriers
    of their block. While each cell is one thread's own, `owners` is enough.
    """

    def __init__(self, allocation, grain, clocks, timed):
        self.start, self.size, self.grain = allocation.start, allocation.size, grain
        self.width, self.threads, self.timed = clocks.width, clocks.all, timed
        self.suspects = np.zeros(self.cells, bool)
        self.owners = None
        self.forget()

    def let_go(self):
        """Let go of the owners of cells, which nobody asks for any more."""
        self.owners = None

    @property
    def cells(self):
        return -(-self.size // self.grain)

    def forget(self):
        """Begin anew, after a barrier of the grid."""
        self.let_go()
        self.owners = Owners(self.cells, self.threads, self.timed)
        self.writer = self.written_at = self.reader = self.read_at = None
        self.atomic = None

    def share(self):
        """From now on cells may have several threads."""
        if self.owners is None:
            return
        since = self.owners.since
        self.writer, self.reader = self.owners.writer_and_reader(NOBODY)
        self.written_at = np.zeros(self.cells, np.int32) if since is None else since
        self.read_at = self.written_at.copy()
        self.let_go()

    def refine(self, grain):
        """Look at smaller cells."""
        self.share()
        times, self.grain = self.grain // grain, grain
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, np.repeat(value, times)[: self.cells])

    def load(self, cell, thread, time):
        """Threads read cells."""
        bad = self._by_another(self.writer, self.written_at, cell, thread, time)
        if self.atomic is not None:
            bad |= self.atomic[cell]
        self._join(self.reader, self.read_at, cell, thread, time)
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
        """Threads update cells, each at one go."""
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
            block = np.where(last < 0, -2 - last, last // self.width)
            bad &= (block != thread // self.width) | (when[cell] >= time)
        return bad

    def _join(self, who, when, cell, thread, time):
        """Add threads to those that touched cells."""
        last = who[cell]
        alone = (last == NOBODY) | (last == thread)
        if not alone.all():
            crowd = -2 - thread // self.width
            block = np.where(last < 0, last, -2 - last // self.width)
            joined = np.where(block == crowd, crowd, CROWD)
            # an earlier interval's readers are ordered before all that follows
            later = (block == crowd) & (when[cell] < time)
            who[cell] = np.where(alone | later, thread, joined)
        else:
            who[cell] = thread
        when[cell] = time
        now = who[cell]
        if not ((now == thread) | (now < NOBODY)).all():
            self._crowd(who, cell, thread, now)

    def _crowd(self, who, cell, thread, now):
        """Several threads of one request touch one cell."""
        crowd = -2 - thread // self.width
        lost = (now != thread) & (now > NOBODY)
        who[cell[lost]] = crowd[lost]
        now = who[cell]
        who[cell[(now <= -2) & (now != crowd)]] = CROWD


class GlobalSuspects:
    """The cells of global memory that could be in a race, by array."""

    def __init__(self, clocks):
        self.clocks = clocks
        self.timed = False  # are there barriers of blocks?
        self.allocations = {}  # first byte: Shadow, or None where it is not written
        self.starts = []

    def start(self, start):
        self.timed = any(
            hasattr(basic_block.ending, "predicate") for basic_block in start.code
        )

    def allocation(self, allocation):
        """An array comes into sight, perhaps again under another name."""
        if allocation.space != "global":
            return
        shadow = self.allocations.get(allocation.start)
        if allocation.written and shadow is None:
            grain = grain_of(allocation.dtype)
            shadow = Shadow(allocation, grain, self.clocks, self.timed)
        self.allocations[allocation.start] = shadow
        self.starts = sorted(self.allocations)

    def shadow_at(self, address):
        """The shadow of the array that an address is in, or None."""
        return self.allocations[self.starts[bisect_right(self.starts, address) - 1]]

    def access(self, access):
        """Look at an access of each block of a batch."""
        shadow = self.shadow_at(access.first_address)
        if shadow is None:
            return
        size, kind = access.dtype.itemsize, access.reference.kind
        if size % shadow.grain:
            shadow.refine(gcd(size, shadow.grain))
        who = self.clocks.thread(access.who), self.clocks.interval(access.who)
        alone = shadow.owners is not None and kind != "atomic"
        windows = windows_of(access, shadow.grain, shadow.start) if alone else None
        if windows and shadow.owners.windows(kind, windows, *who):
            return
        address, *who = active_rows(access, *who)
        cell, *who = split(address - shadow.start, size, shadow.grain, *who)
        if alone and not windows and shadow.owners.cells(kind, cell, *who):
            return
        shadow.share()
        look = {"load": shadow.load, "store": shadow.store, "atomic": shadow.update}
        look[kind](cell, *who)

    def meet(self, sync):
        """All threads met at a barrier of the grid, and what was before is past."""
        if sync.scope == "grid":
            for shadow in filter(None, self.allocations.values()):
                shadow.forget()


def grain_of(dtype) -> int:
    """The bytes of the smallest cell that accesses of such elements can differ by."""
    if dtype.names is None:
        return dtype.itemsize
    parts = [part for fields in dtype.fields.values() for part in _sizes(*fields[:2])]
    return gcd(dtype.itemsize, *parts)


def _sizes(dtype, offset):
    base = dtype.subdtype[0] if dtype.subdtype else dtype
    return offset, grain_of(base)
