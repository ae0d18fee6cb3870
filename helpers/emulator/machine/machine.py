"""Runs a grid, batch by batch: who runs next, barriers, limits, and launches that make
no progress.

Between two barriers the warps of a block may run in any order; the machine takes one
that a seed chooses, neither ascending nor descending, so that a missing barrier shows
and shows again. Not modelled: time; blocks that run beside one another while neither
waits.
"""

import math
from collections import deque

import numpy as np

from helpers.core.errors import NoProgressError
from helpers.core.events import TOPICS, Parting, Root, Start, Step
from helpers.emulator.codegen.translate import BRANCH, GATHER, JUMP, RETURN
from helpers.emulator.machine.allocation import shared_addresses, shared_array
from helpers.emulator.machine.barriers import (
    lanes_missed,
    mask_without_caller,
    release,
    release_grid,
)
from helpers.emulator.machine.launch_memory import Memory
from helpers.emulator.machine.warps import Frame, Geometry
from helpers.language.warp_intrinsics import gathered, outside_of_mask

BATCH_THREADS = 1 << 20  # threads of one batch, at most
BATCH_BLOCKS = 1024  # blocks of one batch, at most
WATCH = 16  # back edges between two looks whether a loop goes in circles
PATIENCE = 20_000  # back edges in a row before others go first in any case
IDLE_ROUNDS = 3  # rounds of spinning before another batch of blocks must help
TURNS = 300_000  # back edges in a row, with nothing written, before we give up


class Batch:
    """Blocks that run together: their frames, and their shared memory."""

    def __init__(self, launch, first, last):
        self.launch, self.listeners, self.memory = (
            launch,
            launch.listeners,
            launch.memory,
        )
        self.geometry = launch.geometry
        self.first, self.blocks = first, last - first
        self.block = launch.geometry.blocks_of(first, last)
        self.shared, self.dynamic = {}, None
        self.waits_for_grid = False
        self.descending = False  # did two warps run so last?
        program = launch.program
        self.frames = [
            Frame(warp, launch.geometry, self, program.slots)
            for warp in range(launch.geometry.warps)
        ]
        for frame in self.frames:
            for slot, value in zip(program.arguments, launch.arguments, strict=True):
                frame.values[slot] = value

    def shared_array(self, request):
        """A block's shared array; all dynamic ones begin at the same byte."""
        if request not in self.shared:
            patterns = self.memory.patterns.setdefault(request, {})
            self.shared[request] = shared_array(request, self, patterns)
            self._tell_of(self.shared[request])
        return self.shared[request]

    def _tell_of(self, array):
        """Tell of a shared array."""
        cells, shape = array.cells, tuple(map(int, array.shape))
        size = math.prod(shape) * cells.step
        strides = tuple(int(stride) * cells.step for stride in array.strides)
        where = ("shared", cells.address, size, True, cells.address, shape, strides)
        for listener in self.listeners["root"]:
            listener(Root(array.name, *where, array.dtype))

    def run(self, rng) -> bool:
        """Run until all blocks are done (True), or none can go on for now (False)."""
        idle_rounds = 0
        while True:
            before = self.memory.changes
            spinning = False
            for frame in self.adverse_order(rng):
                spinning |= self._run_frame(frame)
            if spinning:
                waits = all(frame.circling for frame in self.frames if frame.groups)
                idle_rounds = (
                    idle_rounds + 1 if waits and self.memory.changes == before else 0
                )
                if idle_rounds > IDLE_ROUNDS:
                    return False
                continue
            if all(frame.finished for frame in self.frames):
                return True
            if not release(self):
                self.waits_for_grid = True
                return False

    def adverse_order(self, rng):
        """The warps in an order that is neither ascending nor descending; two take
        turns to be first, since a race needs the one order or the other to show.
        """
        count = len(self.frames)
        if count == 2:
            self.descending = not self.descending
            return self.frames[::-1] if self.descending else self.frames
        order = rng.permutation(count)
        while count > 2 and (np.diff(order) == order[1] - order[0]).all():
            order = rng.permutation(count)
        return [self.frames[index] for index in order]

    def _run_frame(self, frame) -> bool:
        """Run one warp until it waits or ends; True when it only turned in circles."""
        while frame.groups:
            position, active = frame.take()
            spun_at = self._run_group(frame, position, active)
            if spun_at is not None:
                frame.postponed.add(spun_at)
                if frame.postponed.issuperset(frame.groups):
                    frame.postponed.clear()
                    return True
        frame.postponed.clear()
        return False

    def _run_group(self, frame, position, active) -> int | None:
        """Run threads until they part, meet others or wait; where they spin, if so."""
        pieces = self.launch.program.pieces
        groups, steps = frame.groups, frame.listeners["step"]
        others = 0
        for place in (*groups, *frame.waiting):
            others |= pieces[place].needs
        nearest = min(groups, default=len(pieces))
        turns = 0
        while True:
            piece = pieces[position]
            for listener in steps:
                listener(Step(position, active, frame.who, *frame.counted(active)))
            value = piece.run(frame, active, others)
            kind = piece.kind
            if kind == JUMP:
                following = piece.then
            elif kind == BRANCH:
                if value.ndim:
                    value = split(frame, piece, value, active)
                    if value is None:
                        return None
                following = piece.then if value else piece.otherwise
            elif kind == RETURN:
                frame.leave(active)
                return None
            elif kind == GATHER:
                if not self._gathers(frame, piece, active, value):
                    frame.add(position, active)
                    return position
                following = piece.then
            else:
                frame.wait(piece.then, active, value)
                return None
            if following <= position:
                turns += 1
                frame.turn += 1
                circling = turns % WATCH < 2 and frame.in_circles(
                    following, pieces[following].needs
                )
                if circling or turns >= PATIENCE:
                    frame.add(following, active)
                    self._note_turns(frame, pieces[following], turns, circling)
                    return following
            if following >= nearest:
                frame.add(following, active)
                return None
            position = following

    def _gathers(self, frame, piece, active, mask) -> bool:
        """Have the lanes of a mask come? Where not, the warp waits for them."""
        if self.launch.strict:
            outside = outside_of_mask(frame, active, mask)
            if outside:
                raise mask_without_caller(frame, piece.site, *outside)
        frame.gathers = not gathered(frame, active, mask)
        if frame.gathers:
            frame.circling, frame.loop = True, piece.site
        return not frame.gathers

    def _note_turns(self, frame, piece, turns, circling):
        """Remember how long this warp has gone round while nothing was written."""
        frame.circling = circling
        if frame.seen_changes != self.memory.changes:
            frame.turns, frame.seen_changes = 0, self.memory.changes
        frame.turns += turns
        frame.loop = piece.site or self.launch.program.pieces[piece.then].site
        if frame.turns > self.launch.turns:
            raise NoProgressError(
                f"the loop at line {frame.loop.line} went round {frame.turns:,} times "
                "and nothing was written meanwhile: does it ever end?\n"
                f"    {frame.loop.text}\n  {frame.loop.place}"
            )

    def no_progress(self):
        """The error of a batch whose threads wait for what none of them will do."""
        waiting = [f.loop for f in self.frames if f.groups and f.gathers]
        if waiting:
            return lanes_missed(waiting[0])
        sites = {f.loop.line: f.loop for f in self.frames if f.groups}
        lines = " and ".join(map(str, sorted(sites)))
        quoted = "".join(
            f"    {site.text}\n  {site.place}\n" for site in sites.values()
        )
        return NoProgressError(
            f"no progress: threads go round the loop at line {lines} with the same "
            "values, and nothing that it reads will change; on a GPU this hangs\n"
            f"{quoted}  Remedy: let what the loop waits for be done by a thread that "
            "still runs, and not by one that has returned or waits at a barrier"
        )


def split(frame, piece, condition, active):
    """Part the threads of a branch; True or False when they all go one way."""
    then = condition if active is None else condition & active
    if not then.any():
        return False
    otherwise = ~condition if active is None else active & ~condition
    if not otherwise.any():
        return True
    for listener in frame.listeners["parting"]:
        listener(Parting(piece.ending.site, then, otherwise, frame.who))
    frame.add(piece.then, then)
    frame.add(piece.otherwise, otherwise)
    return None


class Launch:
    """One launch of a program: its geometry, arguments, memory and listeners."""

    def __init__(
        self,
        program,
        grid_dim,
        block_dim,
        arguments,
        names,
        *,
        shared_bytes=0,
        seed=0,
        listeners=None,
        turns=TURNS,
        strict=True,
        again=False,
        quiet=False,
    ):
        self.program, self.shared_bytes, self.turns = program, shared_bytes, turns
        self.strict, self.warned = strict, False  # about threads that miss a barrier
        self.geometry = Geometry(grid_dim, block_dim)
        self.listeners = {topic: () for topic in TOPICS} | (listeners or {})
        for listener in self.listeners["start"]:
            given = dict(zip(names, arguments, strict=True))
            shape = (grid_dim, block_dim)
            listener(Start(*shape, program.references, program.pieces, program, given))
        self.memory = Memory(program, self.listeners["root"], again, quiet)
        self.arguments = [
            self.memory.argument(v, n) for v, n in zip(arguments, names, strict=True)
        ]
        self.memory.remember(self.arguments, names)
        self.rng = np.random.default_rng(seed)
        self.queue = deque()
        self.at_barrier = []  # batches that wait for the grid
        self.finished = 0  # batches that are done
        self.shared_addresses = shared_addresses(program.allocations)
        warps = self.geometry.warps
        self.batch_blocks = max(1, min(BATCH_BLOCKS, BATCH_THREADS // (warps * 32)))

    def run(self):
        """Run the whole grid."""
        size = self.batch_blocks
        starts = range(0, self.geometry.blocks, size)
        self.queue.extend((s, min(s + size, self.geometry.blocks)) for s in starts)
        with np.errstate(all="ignore"):
            while self.queue:
                self._run_batches()
                if self.at_barrier:
                    release_grid(self.at_barrier, self.finished)
                    self.queue.extend(self.at_barrier)
                    self.at_barrier = []
        self.memory.give_back()

    def _run_batches(self):
        """Run until every batch is done or waits for the grid."""
        stuck, changes = 0, 0  # batches in a row that could not go on
        while self.queue:
            batch = self.queue.popleft()
            if isinstance(batch, tuple):
                batch, stuck = Batch(self, *batch), 0
            batch.waits_for_grid = False
            if batch.run(self.rng):
                stuck, self.finished = 0, self.finished + 1
                for listener in self.listeners["end"]:
                    listener(batch.frames[0].who)
                continue
            if batch.waits_for_grid:
                self.at_barrier.append(batch)
                continue
            self.queue.append(batch)
            stuck = stuck + 1 if changes == self.memory.changes else 1
            changes = self.memory.changes
            if stuck > len(self.queue):
                raise batch.no_progress()
