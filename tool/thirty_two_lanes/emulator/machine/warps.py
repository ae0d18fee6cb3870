"""A warp of every block of a batch: its variables, and where its threads are."""

from hashlib import blake2b

import numpy as np

from thirty_two_lanes.core.errors import coordinates
from thirty_two_lanes.core.events import Step, Steps, Warps
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.arrays import Array, Choice

FIRST_DIGEST = 64  # looks before the first digest of memory
BYTES_EACH_LOOK = 1 << 14  # that may be digested, on average
LOOKS_EACH_STATE = 64  # what gathering the state of all threads costs


class Warp:
    """One warp of each block of a batch: its coordinates, variables and pcs.

    `exist` and `live` hold the threads that there are, and those of them that have not
    returned; None is every lane. `groups` maps a pc to the threads that will run there
    next, and `waiting` a pc to those that wait for a barrier in front of it, with their
    predicate. `postponed` are pcs whose threads let the warp's other threads run first;
    at some, `arriving`, they wait for lanes of their mask.
    A warp is `spinning` if its threads go in cycles: only others can end their loops.
    """

    def __init__(self, number, geometry, batch, slots):
        self.number, self.batch, self.geometry = number, batch, geometry
        self.block_dim, self.grid_dim = geometry.block_dim, geometry.grid_dim
        self.thread, self.exist = geometry.threads_of(number)
        self.block, self.blocks = batch.block, batch.blocks
        self.listeners, self.memory = batch.listeners, batch.memory
        self.who = Warps(number, batch.first, batch.blocks)
        self.iterations = 0  # of loops, since it last waited for its block
        self.turns = self.began = 0  # iterations of all, and when its turn began
        self.values = [None] * slots
        self.live = self.exist
        self.complete = True  # has no thread returned yet?
        self.left_at = None  # the pc at which each thread returned, (lanes, blocks)
        self.groups = {0: self.exist}
        self.waiting = {}
        self.postponed, self.arriving = set(), set()
        self.loop = None  # the site of the loop that it spins in
        self.spinning = False
        self.cycle = CycleDetector()
        self.last_count = (None, None)
        self.steps, self.stepping = {}, None  # by pc, not told yet; their threads
        self.masks = {}  # a cache of judges: the lanes that were active last
        self.local = {}
        self.ahead = None  # what runs its basic blocks ahead of NumPy's functions

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
        if pc in self.arriving:
            self._retry({pc})

    def _retry(self, arriving):
        """Look again whether lanes that wait for others can go on."""
        self.postponed -= arriving
        self.arriving -= arriving

    def wait(self, pc, active, predicate):
        """Let these threads wait in front of `pc`."""
        if pc in self.waiting:
            others, theirs = self.waiting[pc]
            if predicate is not None:
                predicate = np.where(active, predicate, theirs)
            active = either(others, active)
        self.waiting[pc] = (active, predicate)

    def wait_for_lanes(self, pc, active):
        """Let these threads wait at `pc` for the lanes of their mask."""
        self.add(pc, active)
        self.arriving.add(pc)

    def leave(self, pc, active):
        """End these threads, at the pc of their `return`."""
        self.complete = False
        if not self.groups and not self.waiting:
            self.live = np.zeros((1, 1), bool)
        else:
            self.live = ~active if self.live is None else self.live & ~active
        self.note_left(pc, active)
        self._retry(self.arriving.copy())

    def note_left(self, pc, active):
        """Remember where threads returned, for barriers and shuffles that miss them."""
        if self.batch.has_barriers or self.listeners["stray_lanes"]:
            if self.left_at is None:
                self.left_at = np.full((WARP_SIZE, self.blocks), -1, np.int32)
            self.left_at[whole(active, self.left_at.shape)] = pc

    def note_step(self, pc, active):
        """These threads begin a basic block: tell of each, or of many together."""
        for listener in self.listeners["step"]:
            listener(Step(pc, active, self.who))
        if self.listeners["steps"]:
            if active is not self.stepping:
                self.tell_steps()
                self.stepping = active
            self.steps[pc] = self.steps.get(pc, 0) + 1

    def tell_steps(self):
        """Tell of the steps that were counted."""
        if not self.steps:
            return
        lanes, warps, those = self.counted(self.stepping)
        for pc, times in self.steps.items():
            of_blocks = None if those is None else times * those
            for listener in self.listeners["steps"]:
                told = Steps(pc, self.who, times * lanes, times * warps, of_blocks)
                listener(told)
        self.steps = {}

    def counted(self, active):
        """How many lanes are active, and of how many warps; and of which, by block,
        None for all.
        """
        if active is None:
            return WARP_SIZE * self.blocks, self.blocks, None
        if active is not self.last_count[0]:
            lanes, blocks = active.shape
            each = (WARP_SIZE // lanes) * (self.blocks // blocks)
            those = active.any(axis=0)
            warps = int(np.count_nonzero(those))
            lanes = int(np.count_nonzero(active)) * each
            those = None if warps == blocks else those
            self.last_count = active, (lanes, warps * self.blocks // blocks, those)
        return self.last_count[1]

    def is_in_a_cycle(self, pc, needs, active) -> bool:
        """Is all as it was before at this pc: the variables, and what is in memory?"""
        values = [v for slot, v in enumerate(self.values) if needs >> slot & 1]
        written, state = self.memory.written(self.batch, [self]), (pc, values, active)
        if self.ahead:
            return self.ahead.closes(state, written)
        return self.cycle.closes(state, self.memory.changes, written)

    def note_ahead(self, turns, changes, header):
        """Count what ran ahead: iterations, all stores by now, the last loop."""
        self.turns += turns
        self.iterations += turns
        self.memory.changes = changes
        if header >= 0:
            self.note_loop(header)

    def note_loop(self, header):
        """Remember the loop that was looked at last."""
        code = self.batch.launch.program.code
        self.loop = code[header].site or code[code[header].then].site

    def state(self, code):
        """Where its threads are, and what they still need, piece by piece."""
        for pc, active in sorted(self.groups.items()):
            yield pc, active
            yield from self._needed(code[pc].needs, active)
        for pc, (active, predicate) in sorted(self.waiting.items()):
            yield -pc, active
            yield masked(predicate, active)
            yield from self._needed(code[pc].needs, active)

    def _needed(self, needs, active):
        for slot, value in enumerate(self.values):
            if needs >> slot & 1:
                yield masked(value, active)

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


def either(first, second):
    """The threads of two groups."""
    return None if first is None or second is None else first | second


class CycleDetector:
    """Notices that threads come back to a state in which they were before.

    One state is kept, and another one after 1, 2, 4, 8, … looks (Brent's algorithm), so
    that a cycle of any length is found. What was written is compared by a digest, as
    often as a share of the time allows.
    """

    def __init__(self):
        self.looks = self.states = self.digested = 0
        self.last = self.kept = None

    def closes(self, state, changes, written) -> bool:
        """Look at a state, of pc, variables and active lanes: was it there before?"""
        self.looks += 1
        written = list(written)  # for two digests
        last, self.last = self.last, (state, changes)
        if last is not None and last[1] == changes and same_state(last[0], state):
            return True
        kept = self.kept
        if kept is not None and same_state(kept[0], state):
            if kept[1] == changes:
                return True
            if kept[2] is not None and kept[2] == self._digest(written):
                return True
        if self.looks & (self.looks - 1) == 0:
            self.kept = state, changes, self._digest(written)
        return False

    def comes_back(self, state, written) -> bool:
        """Look at all pieces of a state: were they there before?"""
        self.looks += 1
        now = self._digest(written, state)
        if now is None:
            return False
        self.states += 1
        if now == self.kept:
            return True
        if self.states & (self.states - 1) == 0:
            self.kept = now
        return False

    def _digest(self, written, state=()):
        """A digest of arrays and numbers; None if it would take too long by now."""
        if self.looks < FIRST_DIGEST or self.digested > self.looks * BYTES_EACH_LOOK:
            return None
        written = list(written)
        size = self.digested + sum(piece.nbytes for piece in written)
        if size > self.looks * BYTES_EACH_LOOK:
            return None
        state = list(state)
        size += BYTES_EACH_LOOK * bool(state) * LOOKS_EACH_STATE
        self.digested = size + sum(getattr(piece, "nbytes", 8) for piece in state)
        return digest([*written, *state])


def digest(pieces) -> bytes:
    """A digest of arrays, numbers and tuples of them."""
    total = blake2b(digest_size=16)
    for piece in pieces:
        if isinstance(piece, tuple):
            total.update(digest(piece))
        elif isinstance(piece, (np.ndarray, np.generic)):
            total.update(repr((piece.shape, piece.dtype.str)).encode())
            total.update(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
        else:
            total.update(repr(piece).encode())
    return total.digest()


def same_state(first, second) -> bool:
    """Are two states the same: pc, variables and active lanes?"""
    (pc, values, active), (other_pc, others, other_active) = first, second
    if pc != other_pc or not same(active, other_active):
        return False
    for value, other in zip(values, others, strict=True):
        if value is not other and not same(value, other, active):
            return False
    return True


def same(first, second, active=None) -> bool:
    """Are two values of a variable the same, bit by bit, in the active lanes?"""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.generic):
        return first.tobytes() == second.tobytes()
    first, second = masked(first, active), masked(second, active)
    if isinstance(first, tuple):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(same(*pair) for pair in pairs)
    if isinstance(first, np.ndarray):
        alike = first.shape == second.shape and first.dtype == second.dtype
        return alike and first.tobytes() == second.tobytes()
    return first == second


def masked(value, active):
    """A value with zeros in the lanes that are not active; arrays as what they are."""
    if isinstance(value, tuple):
        return tuple(masked(item, active) for item in value)
    if isinstance(value, Array):
        parts = masked((value.base, *value.shape, *value.strides), active)
        return id(value.cells), *parts
    if isinstance(value, Choice):
        return masked(tuple(value.parts), active)
    if value is None or active is None or not hasattr(value, "dtype"):
        return value
    return np.where(active, value, value.dtype.type(0))


def whole(active, shape):
    """The active threads of all, as an array of this shape."""
    return np.broadcast_to(True if active is None else active, shape)


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
