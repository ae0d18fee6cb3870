"""Happens-before by release and acquire: a write, a fence and an atomic on a cell by
one thread; then an atomic on that cell and a read by another.

A release is a fence of one thread. It covers all that the thread did before, what its
block did before its last barrier, and all releases that the thread had acquired. A
store that releases leaves them at its cell, and a load that acquires takes them. An
atomic on a cell acquires the releases that earlier atomics left there, and leaves those
of its own thread. A barrier shares the acquired releases among the threads of a block
(PTX ISA, "Memory consistency model", release and acquire patterns). By that model an
atomic acquires with a fence of its thread after it, and what a store releases is not
released by what its thread stores later; so it is here where `strict`. There the fence
may be another thread's, behind a barrier, if a fence has released: both are
`fence.sc`, which have one order, and that of the atomics decides it. Elsewhere an
atomic acquires by itself, as CUDA's own samples expect, whose loads pass L1 by; but a
compare-and-swap or an exchange, which takes a lock, needs the fence everywhere. Not
modelled: an atomic that fails to exchange counts as one that does.
"""

import numpy as np

from thirty_two_lanes.core.events import in_turn
from thirty_two_lanes.core.hardware import WARP_SIZE

MOST_RELEASES = 50_000  # of a launch; what is released later is not followed


class HappensBefore:
    """The releases that each thread has acquired; a set is an int, a bit a release."""

    def __init__(self, clocks, strict=False):
        self.clocks, self.strict = clocks, strict
        self.releases = []  # (thread, interval, fences, warp syncs, everywhere?)
        self.sets = [0]  # the sets, by number
        self.set_numbers = {0: 0}
        self.acquired = {}  # thread: number of a set
        self.seen = {}  # where strict, thread: set that a fence of it acquires
        self.of_block = {}  # block: set of its releases
        self.of_stores = 0  # set of the releases that are stores, and no fences
        self.released = {}  # thread: set that its next atomic leaves behind
        self.at_store = {}  # thread: set that its next store that releases leaves
        self.left_at = {}  # (space, block, address): the set that atomics left
        self.fences = {}  # thread: fences so far

    def fence(self, fence):
        """Active threads release what they did."""
        warp_syncs = self.clocks.warp_syncs(fence.who)
        for thread, interval in self._lanes(fence):
            if thread in self.seen and not fence.of_store:
                self._acquire_seen(thread, fence.scope)
            if len(self.releases) >= MOST_RELEASES:
                return
            count = self.fences.get(thread, 0)
            bit = 1 << len(self.releases)
            everywhere = fence.scope == "grid"
            block = thread // self.clocks.width
            self.of_block[block] = self.of_block.get(block, 0) | bit
            self.of_stores |= bit * fence.of_store
            self.releases.append((thread, interval, count, warp_syncs, everywhere))
            self.fences[thread] = count + 1
            self.at_store[thread] = bit | self.sets[self.acquired.get(thread, 0)]
            if not (fence.of_store and self.strict):
                self.released[thread] = self.at_store[thread]

    def atomic(self, access):
        """Active threads acquire and leave releases at the cells that they update, in
        the machine's order.
        """
        for thread, cell in self._cells(access, turns=True):
            left = self.left_at.get(cell, 0)
            if left and (self.strict or access.reference.swaps):
                self.seen[thread] = self.seen.get(thread, 0) | left
            elif left:
                self._acquire(thread, left)
            if thread in self.released:
                acquired = self.sets[self.acquired.get(thread, 0)]
                self.left_at[cell] = left | self.released[thread] | acquired

    def acquire(self, access):
        """Active threads acquire the releases at the cells that they load."""
        for thread, cell in self._cells(access):
            if cell in self.left_at:
                self._acquire(thread, self.left_at[cell])

    def release(self, access):
        """Active threads leave their releases at the cells that they store to, in the
        place of what was left there.
        """
        for thread, cell in self._cells(access):
            self.left_at[cell] = self.at_store.get(thread, 0)

    def _cells(self, access, turns=False):
        """Each active thread and its cell, once somebody has released something."""
        if not self.releases:
            return
        for thread, _, address in self._lanes(access, access.addresses, turns=turns):
            block = thread // self.clocks.width if access.space == "shared" else None
            yield thread, (access.space, block, address)

    def synchronise(self, sync):
        """Threads that wait for each other share their releases."""
        if not self.releases or sync.scope == "grid":
            return
        of_warp = sync.scope == "warp"
        width = WARP_SIZE if of_warp else self.clocks.width
        known = *self.acquired, *self.released, *self.seen
        affected = {thread // width for thread in known}
        groups = self._lanes_in(sync) if of_warp else self._threads_in(sync)
        for number, threads in groups:
            if number in affected:
                self._share_among(threads)

    def _lanes_in(self, sync):
        """The number in the grid of each warp that synchronises, and its threads."""
        warp, first, blocks = sync.who
        lanes = np.broadcast_to(sync.lanes, (WARP_SIZE, blocks))
        for block in np.flatnonzero(lanes.any(axis=0)).tolist():
            start = (first + block) * self.clocks.width + warp * WARP_SIZE
            here = np.flatnonzero(lanes[:, block])
            yield start // WARP_SIZE, (start + here).tolist()

    def _threads_in(self, sync):
        """The number of each block that synchronises, and its threads."""
        width, (_, first, blocks) = self.clocks.width, sync.who
        here = True if sync.blocks is None else sync.blocks[0]
        for block in np.flatnonzero(np.broadcast_to(here, blocks)).tolist():
            number = first + block
            yield number, range(number * width, (number + 1) * width)

    def _share_among(self, threads):
        known = released = seen = 0
        for thread in threads:
            known |= self.sets[self.acquired.get(thread, 0)]
            released |= self.released.get(thread, 0)
            seen |= self.seen.get(thread, 0) & ~self.of_stores
        for thread in threads:
            self._acquire(thread, known)
            if released:
                self.released[thread] = released
            if seen:
                self.seen[thread] = self.seen.get(thread, 0) | seen

    def acquired_by(self, threads):
        """The number of the set that each thread has acquired."""
        return _looked_up(self.acquired, threads)

    def fences_of(self, threads):
        """How many fences each thread has executed."""
        return _looked_up(self.fences, threads)

    def covering(self, thread, interval, fences, warp_syncs) -> tuple[int, int]:
        """The releases that cover an access of a thread: those for the whole grid, and
        those for its block.
        """
        columns = np.array(self.releases).T
        who, when, before, met, everywhere = columns
        block, warp = thread // self.clocks.width, thread // WARP_SIZE
        covered = (who == thread) & (before >= fences)
        covered |= (who // self.clocks.width == block) & (when > interval)
        covered |= (who // WARP_SIZE == warp) & (when == interval) & (met > warp_syncs)
        return _bits(covered & (everywhere != 0)), _bits(covered)

    def _acquire(self, thread, new):
        before = self.sets[self.acquired.get(thread, 0)]
        if new | before != before:
            whole = new | before
            if whole not in self.set_numbers:
                self.set_numbers[whole] = len(self.sets)
                self.sets.append(whole)
            self.acquired[thread] = self.set_numbers[whole]

    def _acquire_seen(self, thread, scope):
        """Acquire what atomics have seen, with a fence of a scope."""
        block = thread // self.clocks.width
        known = -1 if scope == "grid" else self.of_block.get(block, 0)
        self._acquire(thread, self.seen[thread] & known)
        self.seen[thread] &= ~known

    def _lanes(self, event, *columns, turns=False):
        """Thread, interval and more of each active lane, in order, as numbers; where
        blocks take turns, they are in theirs.
        """
        threads = self.clocks.thread(event.who)
        interval = self.clocks.interval(event.who)
        active = np.True_ if event.active is None else event.active
        blocks = threads[0] // self.clocks.width
        order = in_turn(self.clocks.seed, blocks) if turns else slice(None)
        rows, *columns = (
            np.broadcast_to(column, threads.shape)[:, order]
            for column in (active, threads, interval, *columns)
        )
        return zip(*(column[rows].tolist() for column in columns), strict=True)


def _bits(chosen) -> int:
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def _looked_up(table, threads):
    if not table:
        return np.zeros(len(threads), np.int64)
    found, where = np.unique(threads, return_inverse=True)
    return np.array([table.get(t, 0) for t in found.tolist()], np.int64)[where]
