"""Runs a grid, batch by batch, up to its own barriers and over them.

Not modelled: time; blocks that run beside one another while neither waits.
"""

from collections import deque

import numpy as np

from helpers.core.events import TOPICS, LaunchBegin
from helpers.emulator.machine.barriers import release_grid
from helpers.emulator.machine.batch import Batch
from helpers.emulator.machine.launch_memory import Memory, shared_addresses
from helpers.emulator.machine.warps import Geometry

BATCH_THREADS = 1 << 20  # threads of one batch, at most
BATCH_BLOCKS = 1024  # blocks of one batch, at most
MAX_ITERATIONS = 300_000  # back edges in a row, with nothing written, before we give up


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
        max_iterations=MAX_ITERATIONS,
        strict=True,
        again=False,
        quiet=False,
    ):
        self.program, self.shared_bytes = program, shared_bytes
        self.max_iterations = max_iterations
        self.strict, self.warned = strict, False  # about threads that miss a barrier
        self.geometry = Geometry(grid_dim, block_dim)
        self.listeners = {topic: () for topic in TOPICS} | (listeners or {})
        for listener in self.listeners["launch"]:
            given = dict(zip(names, arguments, strict=True))
            shape = (grid_dim, block_dim)
            listener(
                LaunchBegin(*shape, program.references, program.code, program, given)
            )
        self.memory = Memory(program, self.listeners["allocation"], again, quiet)
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
                    listener(batch.warps[0].who)
                continue
            if batch.waits_for_grid:
                self.at_barrier.append(batch)
                continue
            self.queue.append(batch)
            stuck = stuck + 1 if changes == self.memory.changes else 1
            changes = self.memory.changes
            if stuck > len(self.queue):
                raise batch.no_progress()
