"""What a thread knows of others by release and acquire: a write, a fence, an atomic on
a cell; an atomic on that cell by another thread, and a read.

A release is a fence of one thread; it stands for all that the thread did before, for
what its block did before its last barrier, and for all that the thread knew. An atomic
on a cell takes up what earlier atomics on it left there, and leaves there what its own
thread released. Barriers pass on what the threads of a block know (PTX ISA, "Memory
consistency model", release and acquire patterns; our atomics acquire without a fence,
as the hardware's do). Not modelled: an atomic that fails to exchange counts as one that
does.
"""

import numpy as np

from helpers.core.hardware import WARP_SIZE

MOST_RELEASES = 50_000  # of a launch; what is released later is not followed


class Chains:
    """Sets of releases, each a whole number whose bits are releases."""

    def __init__(self, clocks):
        self.clocks = clocks
        self.releases = []  # thread, interval, fences before it, meetings, everywhere?
        self.sets = [0]  # what a thread may know, by number
        self.numbers = {0: 0}
        self.knows = {}  # thread: number of a set
        self.released = {}  # thread: set that its next atomic leaves behind
        self.left = {}  # a cell, by space, block and address: what atomics left there
        self.fences = {}  # thread: fences so far

    def fence(self, fence):
        """Threads release what they did."""
        meetings = self.clocks.meetings(fence.who)
        for thread, interval in self._lanes(fence):
            if len(self.releases) >= MOST_RELEASES:
                return
            count = self.fences.get(thread, 0)
            bit = 1 << len(self.releases)
            everywhere = fence.scope == "grid"
            self.releases.append((thread, interval, count, meetings, everywhere))
            self.fences[thread] = count + 1
            self.released[thread] = bit | self.sets[self.knows.get(thread, 0)]

    def atomic(self, access):
        """Threads take up and leave releases at the cells that they update."""
        if not self.releases:
            return
        for thread, _, address in self._lanes(access, access.addresses):
            block = thread // self.clocks.width if access.space == "shared" else None
            cell = (access.space, block, address)
            left = self.left.get(cell, 0)
            if left:
                self._learn(thread, left)
            if thread in self.released:
                known = self.sets[self.knows.get(thread, 0)]
                self.left[cell] = left | self.released[thread] | known

    def meet(self, sync):
        """Threads that meet tell each other what they know and released."""
        if not self.releases or sync.scope == "grid":
            return
        width, (warp, first, blocks) = self.clocks.width, sync.who
        part = width
        if sync.scope == "warp":
            part = WARP_SIZE
            here = np.broadcast_to(sync.lanes.any(axis=0), blocks)
        else:
            here = True if sync.blocks is None else sync.blocks[0]
        parts = (np.flatnonzero(np.broadcast_to(here, blocks)) + first) * width // part
        if sync.scope == "warp":
            parts += warp
        talking = {thread // part for thread in (*self.knows, *self.released)}
        for number in talking.intersection(parts.tolist()):
            self._tell_all(range(number * part, (number + 1) * part))

    def _tell_all(self, threads):
        known = released = 0
        for thread in threads:
            known |= self.sets[self.knows.get(thread, 0)]
            released |= self.released.get(thread, 0)
        for thread in threads:
            self._learn(thread, known)
            self.released[thread] = released

    def number_known(self, threads):
        """The number of the set that each thread knows."""
        return _looked_up(self.knows, threads)

    def fences_of(self, threads):
        """How often each thread has released."""
        return _looked_up(self.fences, threads)

    def cover(self, thread, interval, fences, meetings) -> tuple[int, int]:
        """The releases that stand for what a thread did there: everywhere, and in its
        block.
        """
        columns = np.array(self.releases).T
        who, when, before, met, everywhere = columns
        block, warp = thread // self.clocks.width, thread // WARP_SIZE
        covered = (who == thread) & (before >= fences)
        covered |= (who // self.clocks.width == block) & (when > interval)
        covered |= (who // WARP_SIZE == warp) & (when == interval) & (met > meetings)
        return _bits(covered & (everywhere != 0)), _bits(covered)

    def _learn(self, thread, new):
        before = self.sets[self.knows.get(thread, 0)]
        if new | before != before:
            whole = new | before
            if whole not in self.numbers:
                self.numbers[whole] = len(self.sets)
                self.sets.append(whole)
            self.knows[thread] = self.numbers[whole]

    def _lanes(self, event, *columns):
        """Thread, interval and more of each active lane, in order, as numbers."""
        threads = self.clocks.thread(event.who)
        shape = threads.shape
        interval = self.clocks.interval(event.who)
        active = np.True_ if event.active is None else event.active
        rows = np.broadcast_to(active, shape)
        columns = (threads, interval, *columns)
        columns = (np.broadcast_to(column, shape)[rows].tolist() for column in columns)
        return zip(*columns, strict=True)


def _bits(chosen) -> int:
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def _looked_up(table, threads):
    if not table:
        return np.zeros(len(threads), np.int64)
    found, where = np.unique(threads, return_inverse=True)
    return np.array([table.get(t, 0) for t in found.tolist()], np.int64)[where]
