"""Waits: the barriers at which a block waited, and those of the grid.

`block` is the most of all blocks, since blocks may pass different numbers of them.
`fences` are those of all threads, a store that releases among them; nobody waits at
one, but a barrier of one's own needs them. Nsight Compute has no such counters; it
counts the instruction of each warp.
"""

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.emulator.judges.judge import Counts, Registration


class WaitCounts(Counts):
    """The barriers of a block and of the grid, and the fences."""

    def __repr__(self):
        return (
            f"{counted(self.block, 'barrier')} of a block, {self.grid:,} of the grid, "
            f"{counted(self.fences, 'fence')}"
        )


class Waits:
    """Counts barriers by the first block of a batch."""

    def __init__(self):
        self.grid, self.of_blocks, self.fences = 0, {}, 0

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {"sync": self.add, "fence_passed": self.fence}

    def add(self, sync):
        """Add a barrier of blocks or of the grid; lanes that wait are none."""
        if sync.scope == "grid":
            self.grid += 1
        elif sync.scope == "block":
            first = sync.who.first_block
            one = 1 if sync.blocks is None else sync.blocks.astype(np.int64)
            self.of_blocks[first] = self.of_blocks.get(first, 0) + one

    def fence(self, fence):
        """Add the fences of a warp's active lanes."""
        active = np.True_ if fence.active is None else fence.active
        shape = WARP_SIZE, fence.who.blocks
        self.fences += int(np.broadcast_to(active, shape).sum())

    def table(self) -> WaitCounts:
        """The barriers of a block, at most, and of the grid; and all fences."""
        most = max((int(np.max(it)) for it in self.of_blocks.values()), default=0)
        return WaitCounts(block=most, grid=self.grid, fences=self.fences)


JUDGE = Registration("waits", Waits)
