"""Runs a grid batch by batch, and its grid barriers.

The blocks of a batch go on together. With an odd seed a few blocks that hand something
on, by atomics or fences, run one after the other, so that none of them finds by chance
that all have come. Not modelled: time; blocks that run at the same time while neither
waits.
"""

import math
from collections import deque

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.events import TOPICS, LaunchBegin, in_turn
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.barriers import release_grid
from thirty_two_lanes.emulator.machine.batch import Batch
from thirty_two_lanes.emulator.machine.launch_memory import Memory, shared_addresses
from thirty_two_lanes.emulator.machine.still_running import StillRunning
from thirty_two_lanes.emulator.machine.warps import CycleDetector, Geometry, digest
from thirty_two_lanes.emulator.program import static_bytes

BATCH_THREADS = 1 << 20  # threads of one batch, at most
BATCH_BLOCKS = 1024  # blocks of one batch, at most
FEW_BLOCKS = 16  # that may as well run one after the other
BATCH_BYTES = 1 << 28  # of their shared and local arrays, unless one block has more


class Launch:
    """One launch of a program: its geometry, arguments and memory; `run` runs it.

    `config` is the grid, the block, and the bytes of dynamic shared memory; `arguments`
    are values by name. A warp whose loops run more than `max_iterations` is an error.
    A launch that `warns` does so where threads miss a barrier; one that is `restorable`
    keeps what its arrays held; a `quiet` one prints nothing. `unlike` are sentences
    about arguments that its kernel reads as another type. After `patience` seconds it
    says that it still runs; never if that is 0.
    """

    def __init__(
        self,
        program,
        config,
        arguments,
        *,
        seed=0,
        max_iterations=math.inf,
        warns=False,
        restorable=False,
        quiet=False,
        unlike=(),
        patience=0,
    ):
        self.program, self.config, self.named = program, config, arguments
        self.unlike = unlike
        *shape, self.shared_bytes = config
        self.geometry = Geometry(*shape)
        self.max_iterations = max_iterations
        self.warns, self.warned = warns, False  # about threads that miss a barrier
        self.memory = Memory(program, restorable, quiet)
        self.arguments = self.memory.bind_arguments(arguments)
        self.listeners = dict.fromkeys(TOPICS, ())
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.queue = deque()
        self.at_barrier = []  # batches that wait for the grid
        self.finished = 0  # batches that are done
        self.cycle = CycleDetector()  # of grid barriers that come back
        self.stopped_at = None  # the site of the instruction that an error ended
        self.shared_addresses = shared_addresses(program.allocations)
        self.batch_blocks = self._blocks_at_a_time()
        self.steps, self.accelerator = 0, None
        self.still_running = StillRunning(patience)

    @property
    def blocks_done(self) -> int:
        """How many blocks have ended by now."""
        return min(self.geometry.blocks, self.finished * self.batch_blocks)

    def _blocks_at_a_time(self) -> int:
        """How many blocks make a batch: as many as the limits above allow, or one."""
        few = self.geometry.blocks <= FEW_BLOCKS
        if self.seed % 2 and few and tells_other_blocks(self.program):
            return 1
        lanes = self.geometry.warps * WARP_SIZE
        local = static_bytes(self.program, "local") * lanes
        size = local + static_bytes(self.program, "shared") + self.shared_bytes
        by_memory = BATCH_BYTES // max(1, size)
        return max(1, min(BATCH_BLOCKS, BATCH_THREADS // lanes, by_memory))

    def run(self, listeners, accelerator=None):
        """Run the whole grid; `listeners` are functions by topic.

        After as many steps as its `patience`, an accelerator may run basic blocks:
        `ahead_of(warp)` gives what does.
        """
        self.listeners |= listeners
        self.accelerator = accelerator
        self._emit_begin()
        size = self.batch_blocks
        starts = range(0, self.geometry.blocks, size)
        starts = in_turn(self.seed, starts).tolist() if size == 1 else starts
        self.queue.extend((s, min(s + size, self.geometry.blocks)) for s in starts)
        with np.errstate(all="ignore"):
            while self.queue:
                self._run_batches()
                if self.at_barrier:
                    release_grid(self.at_barrier, self.finished)
                    self._stop_where_it_repeats()
                    self.queue.extend(self.at_barrier)
                    self.at_barrier = []
        self.memory.write_back_records()

    def ahead_of(self, warp):
        """What runs a warp's basic blocks ahead of NumPy's functions, or None."""
        self.steps += 1
        if self.accelerator is None or self.steps <= self.accelerator.patience:
            return None
        warp.ahead = self.accelerator.ahead_of(warp)
        return warp.ahead

    def _stop_where_it_repeats(self):
        """Stop a loop of grid barriers that comes back to an earlier state."""
        batches = self.at_barrier
        state = (piece for batch in batches for piece in batch.state())
        written = (a for b in batches for a in self.memory.written(b, b.warps))
        if self.cycle.comes_back(state, written):
            raise batches[0].no_progress()

    def _emit_begin(self):
        """Emit the launch, and then the arrays that are its arguments."""
        program, shape = self.program, self.config[:2]
        for listener in self.listeners["launch"]:
            listener(
                LaunchBegin(
                    *(*shape, program.references, program.code),
                    *(program, self.named, self.seed, self.unlike),
                )
            )
        self.memory.emit_arguments(self.listeners["allocation"])

    def _run_batches(self):
        """Run until every batch is done or waits for the grid."""
        stuck, memory = 0, (0, b"")  # batches in a row that could not go on
        while self.queue:
            batch = self.queue.popleft()
            if isinstance(batch, tuple):
                batch, stuck = Batch(self, *batch), 0
            batch.waits_for_grid = False
            if batch.run(self.rng):
                stuck, self.finished = 0, self.finished + 1
                for listener in self.listeners["end"]:
                    listener(batch.warps[0].who)
                continue
            if batch.waits_for_grid:
                self.at_barrier.append(batch)
                continue
            self.queue.append(batch)
            before, memory = memory, self._memory_since(memory)
            stuck = stuck + 1 if before[1] == memory[1] else 1
            if stuck > len(self.queue):
                raise batch.no_progress()

    def _memory_since(self, before):
        """How often global memory was written, and a digest of what it holds."""
        if before[0] == self.memory.changes:
            return before
        return self.memory.changes, digest(self.memory.written())


def tells_other_blocks(program) -> bool:
    """May one block tell another what it did?"""
    return any(
        isinstance(i, (ir.Atomic, ir.Twin))
        or isinstance(i, ir.Call)
        and i.function.startswith("cuda.threadfence")
        for block in program.ir.blocks
        for i in block
    )
