"""A warp of every block of a batch: its variables, and where its threads are."""

import numpy as np

from helpers.core.coordinates import coordinates
from helpers.core.events import Warps
from helpers.core.hardware import WARP_SIZE


class Warp:
    """One warp of each block of a batch: its coordinates, variables and pcs.

    `live` holds the threads that exist and have not returned, None while that is every
    lane. `groups` maps a pc to the threads that will run there next, and `waiting` a
    pc to those that wait for a barrier in front of it, with their predicate.
    `postponed` are pcs whose threads spun, so that the warp's other threads run first.
    A warp is `spinning` if one more iteration of its loop found every
    variable as before and nothing written: only other threads can end it.
    """

    def __init__(self, number, geometry, batch, slots):
        self.number, self.batch, self.geometry = number, batch, geometry
        self.block_dim, self.grid_dim = geometry.block_dim, geometry.grid_dim
        self.thread, exist = geometry.threads_of(number)
        self.block, self.blocks = batch.block, batch.blocks
        self.listeners, self.memory = batch.listeners, batch.memory
        self.who = Warps(number, batch.first, batch.blocks)
        self.iterations = 0  # of loops, since it last waited for its block
        self.values = [None] * slots
        self.live = exist
        self.complete = True  # has no thread returned yet?
        self.groups = {0: exist}
        self.waiting = {}
        self.postponed = set()
        self.idle_iterations = self.seen_changes = 0  # while nothing is written
        self.loop = None  # the site of the loop that it spins in
        self.spinning = False
        self.waits_for_lanes = False  # does it wait for lanes of a mask?
        self.last_look = (None, None, None)
        self.last_count = (None, None)
        self.masks = {}  # a cache of judges: the lanes that were active last
        self.local = {}
        self.compiled = None  # its state in machine code
        self.resumes = None  # a pc, and the iterations that its threads have done

    def take(self):
        """The earliest pc with threads to run, and those threads."""
        candidates = [p for p in self.groups if p not in self.postponed] or list(
            self.groups
        )
        pc = min(candidates)
        active = self.groups.pop(pc)
        if not self.groups and not self.waiting:
            active = self.live
        return pc, active

    def add(self, pc, active):
        """Let these threads go on at `pc`, with those already there."""
        here = self.groups.get(pc, False)
        self.groups[pc] = active if here is False else either(here, active)

    def wait(self, pc, active, predicate):
        """Let these threads wait in front of `pc`."""
        if pc in self.waiting:
            others, theirs = self.waiting[pc]
            if predicate is not None:
                predicate = np.where(active, predicate, theirs)
            active = either(others, active)
        self.waiting[pc] = (active, predicate)

    def leave(self, active):
        """End these threads."""
        self.complete = False
        if not self.groups and not self.waiting:
            self.live = np.zeros((1, 1), bool)
        else:
            self.live = ~active if self.live is None else self.live & ~active

    def state_recurs(self, pc, needs) -> bool:
        """Are the variables at a pc as at the last look, with nothing written since?"""
        values = [value for slot, value in enumerate(self.values) if needs >> slot & 1]
        where, before, changes = self.last_look
        self.spinning = False
        self.waits_for_lanes = False  # does it wait for lanes of a mask?
        self.last_look = (pc, values, self.memory.changes)
        return (
            where == pc
            and changes == self.memory.changes
            and all(map(same, before, values))
        )

    def counted(self, active):
        """How many lanes are active, and of how many warps."""
        if active is None:
            return WARP_SIZE * self.blocks, self.blocks
        if active is not self.last_count[0]:
            lanes, blocks = active.shape
            each = (WARP_SIZE // lanes) * (self.blocks // blocks)
            warps = int(np.count_nonzero(active.any(axis=0)))
            count = int(np.count_nonzero(active)) * each, warps * self.blocks // blocks
            self.last_count = active, count
        return self.last_count[1]

    @property
    def finished(self):
        return not self.groups and not self.waiting

    def allocate(self, request):
        """The shared or local array that an `Allocate` asks for."""
        if request.space == "shared":
            return self.batch.shared_array(request)
        if request not in self.local:
            self.local[request] = self.memory.local_array(request, self.blocks)
        return self.local[request]

    def thread_at(self, lane) -> str:
        """A thread's place in its block, in words."""
        return coordinates(self.number * WARP_SIZE + lane, self.block_dim)

    def block_at(self, block) -> str:
        """A block's place in the grid, in words."""
        return coordinates(self.batch.first + block, self.grid_dim)


def same(first, second) -> bool:
    """Are two values of a variable the same?"""
    if first is second:
        return True
    return isinstance(second, (np.ndarray, np.generic)) and np.array_equal(
        first, second
    )


def either(first, second):
    """The threads of two groups."""
    return None if first is None or second is None else first | second


class Geometry:
    """The shape of a launch: who is where in the grid."""

    def __init__(self, grid_dim, block_dim):
        self.grid_dim = tuple(np.int32(n) for n in grid_dim)
        self.block_dim = tuple(np.int32(n) for n in block_dim)
        self.threads = int(np.prod(block_dim))
        self.blocks = int(np.prod(np.array(grid_dim, dtype=np.int64)))
        self.warps = -(-self.threads // WARP_SIZE)
        self._threads_of = {}

    def threads_of(self, number):
        """A warp's thread coordinates, (lanes, 1) or a number each, and who exists."""
        if number not in self._threads_of:
            first = number * WARP_SIZE
            linear = np.arange(first, first + WARP_SIZE, dtype=np.int32)
            exist = (linear < self.threads)[:, None]
            values = unravel(linear, self.block_dim)
            self._threads_of[number] = (
                tuple(uniform(v[:, None]) for v in values),
                None if exist.all() else exist,
            )
        return self._threads_of[number]

    def blocks_of(self, first, last):
        """The coordinates of blocks first to last - 1, (1, blocks) or a number each."""
        values = unravel(np.arange(first, last, dtype=np.int64), self.grid_dim)
        return tuple(uniform(v.astype(np.int32)[None, :]) for v in values)


def unravel(linear, sizes):
    """x, y and z of linear numbers; x varies fastest."""
    x, rest = linear % sizes[0], linear // sizes[0]
    return x, rest % sizes[1], rest // sizes[1]


def uniform(values):
    """A number, where all are the same."""
    return values.flat[0] if (values == values.flat[0]).all() else values
