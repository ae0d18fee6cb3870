"""Runs a grid, batch by batch: who runs next, barriers, limits, and launches that make
no progress.

Between two barriers the warps of a block may run in any order; the machine takes one
that a seed chooses, never the ascending one, so that a missing barrier shows and shows
again. Not modelled: time; blocks that run beside one another while neither waits.
"""

from collections import deque

import numpy as np

from .barriers import lanes_missed, release, release_grid
from .errors import NoProgressError, UnsupportedError
from .frames import Frame, Geometry
from .intrinsics import gathered
from .memory import Array, bind, contiguous
from .translate import BRANCH, GATHER, JUMP, RETURN

BATCH_THREADS = 1 << 20  # threads of one batch, at most
BATCH_BLOCKS = 1024  # blocks of one batch, at most
WATCH = 16  # back edges between two looks whether a loop goes in circles
PATIENCE = 20_000  # back edges in a row before others go first in any case
IDLE_ROUNDS = 3  # rounds of spinning before another batch of blocks must help
TURNS = 300_000  # back edges in a row, with nothing written, before we give up


class Memory:
    """What outlives a batch: addresses, constants, and how much was written."""

    def __init__(self, program):
        self.program = program
        self.changes = 0
        self.printed = 0
        self.next_address = 0
        self.roots = {}
        self.arrays = {}
        self.patterns = {}

    def argument(self, value, name):
        """A launch argument as kernels see it: arrays bound, numbers as they are."""
        if isinstance(value, tuple):
            return tuple(self.argument(item, name) for item in value)
        return (
            bind(value, name, self.address_of(value))
            if isinstance(value, np.ndarray)
            else value
        )

    def address_of(self, array) -> int:
        """Where an array's first element lies: its base is aligned as cudaMalloc aligns
        (256 bytes), and a view keeps its distance from it.
        """
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        low = np.lib.array_utils.byte_bounds(root)[0]
        if low not in self.roots:
            self.roots[low] = self.next_address
            self.next_address += -(-max(root.nbytes, 1) // 256) * 256 + 256
        return self.roots[low] + array.__array_interface__["data"][0] - low

    def captured(self, array, name, space) -> Array:
        """An array that the kernel takes from the names around it."""
        key = id(array)
        if key not in self.arrays:
            self.arrays[key] = bind(array, name, self.address_of(array), space)
        return self.arrays[key]

    def local_array(self, request, blocks):
        """A frame's local array, one for each thread, holding what no one wrote."""
        count = int(np.prod(request.shape))
        cells = unwritten((count * 32, blocks), request.dtype)
        return contiguous(
            cells,
            request.shape,
            request.dtype,
            "local",
            request.name,
            0,
            self.patterns.setdefault(request, {}),
        )


def unwritten(shape, dtype):
    """Cells that nobody wrote: not a number, or a number that stands out."""
    cells = np.empty(shape, dtype)
    cells.fill(np.nan if dtype.kind in "fc" else np.array(0xCD, np.uint8).astype(dtype))
    return cells


class Batch:
    """Blocks that run together: their frames, and their shared memory."""

    def __init__(self, launch, first, last):
        self.launch, self.listeners, self.memory = (
            launch,
            launch.listeners,
            launch.memory,
        )
        self.geometry = launch.geometry
        self.blocks = last - first
        self.block = launch.geometry.blocks_of(first, last)
        self.shared = {}
        self.waits_for_grid = False
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
            dynamic = request.shape == (0,)
            shape = request.shape
            if dynamic:
                shape = (self.launch.shared_bytes // request.dtype.itemsize,)
            cells = self._cells(request, int(np.prod(shape)), dynamic)
            self.shared[request] = contiguous(
                cells,
                shape,
                request.dtype,
                "shared",
                request.name,
                self.launch.shared_offset(request, cells.shape[0]),
                self.memory.patterns.setdefault(request, {}),
            )
        return self.shared[request]

    def _cells(self, request, count, dynamic):
        if not dynamic:
            return unwritten((count, self.blocks), request.dtype)
        for other, array in self.shared.items():
            if other.shape == (0,):
                if other.dtype.itemsize != request.dtype.itemsize:
                    raise UnsupportedError(
                        "dynamic shared memory used with elements of two "
                        "sizes is not emulated yet"
                    )
                return array.cells.view(request.dtype)
        return unwritten((count, self.blocks), request.dtype)

    def run(self, rng) -> bool:
        """Run until all blocks are done (True), or none can go on for now (False)."""
        idle_rounds = 0
        while True:
            before = self.memory.changes
            spinning = False
            for index in adverse_order(len(self.frames), rng):
                spinning |= self._run_frame(self.frames[index])
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
        groups = frame.groups
        others = 0
        for place in (*groups, *frame.waiting):
            others |= pieces[place].needs
        nearest = min(groups, default=len(pieces))
        turns = 0
        while True:
            piece = pieces[position]
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
                if not gathered(frame, active, value):
                    frame.add(position, active)
                    frame.circling, frame.loop = True, piece.site
                    frame.gathers = True
                    return position
                frame.gathers = False
                following = piece.then
            else:
                frame.wait(piece.then, active, value)
                return None
            if following <= position:
                turns += 1
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
    frame.add(piece.then, then)
    frame.add(piece.otherwise, otherwise)
    return None


def adverse_order(count, rng):
    """An order of the warps other than the ascending one, where there is another."""
    order = rng.permutation(count)
    return order[::-1] if (order[:-1] < order[1:]).all() else order


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
    ):
        self.program, self.shared_bytes, self.turns = program, shared_bytes, turns
        self.strict, self.warned = strict, False  # about threads that miss a barrier
        self.geometry = Geometry(grid_dim, block_dim)
        self.memory = Memory(program)
        self.arguments = [
            self.memory.argument(v, n) for v, n in zip(arguments, names, strict=True)
        ]
        self.listeners = {space: () for space in ("global", "shared", "local", "const")}
        self.listeners.update(listeners or {})
        self.rng = np.random.default_rng(seed)
        self.queue = deque()
        self.at_barrier = []  # batches that wait for the grid
        self.finished = 0  # batches that are done
        warps = self.geometry.warps
        self.batch_blocks = max(1, min(BATCH_BLOCKS, BATCH_THREADS // (warps * 32)))
        self._shared = {}

    def shared_offset(self, request, cells) -> int:
        """Where a block's allocation begins in its shared memory, in bytes."""
        if request.shape == (0,):
            return 0
        if request not in self._shared:
            used = sum(size for _, size in self._shared.values())
            self._shared[request] = (
                used,
                -(-cells * request.dtype.itemsize // 16) * 16,
            )
        return self._shared[request][0]

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
                continue
            if batch.waits_for_grid:
                self.at_barrier.append(batch)
                continue
            self.queue.append(batch)
            stuck = stuck + 1 if changes == self.memory.changes else 1
            changes = self.memory.changes
            if stuck > len(self.queue):
                raise batch.no_progress()
