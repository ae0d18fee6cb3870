"""Balance: the instructions of the busiest block, and of the busiest warp.

Nsight Compute has no such counter: it adds up those of a multiprocessor.
"""

import numpy as np

from helpers.emulator.judges.judge import Counts


class Balance:
    """Instructions as `Divergence` counts them, by block and warp."""

    def __init__(self):
        self.instructions = []  # by basic block
        self.runs = {}  # by first block: by warp, of each block

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {"launch": self.start, "step": self.step, "repeat": self.repeat}

    def start(self, start):
        """Note how many instructions each basic block has."""
        self.instructions = [
            sum(work.instructions for work in block.work) for block in start.code
        ]

    def step(self, step):
        """Add one run of a basic block."""
        self.add(step, self.instructions[step.basic_block])

    def repeat(self, repeat):
        """Add an instruction that goes on to its next element."""
        self.add(repeat, 1)

    def add(self, event, instructions):
        """Add instructions of each warp that an event is about."""
        who = event.who
        if event.active is None or event.warps >= who.blocks:
            times = event.warps // who.blocks
        else:
            times = event.active.any(axis=0).astype(np.int64)
        runs = self.runs.setdefault(who.first_block, {})
        runs[who.warp] = runs.get(who.warp, 0) + instructions * times

    def table(self) -> Counts:
        """The instructions of the busiest block and warp."""
        blocks = [np.max(sum(runs.values())) for runs in self.runs.values()]
        warps = [np.max(it) for runs in self.runs.values() for it in runs.values()]
        most = (int(max(it, default=0)) for it in (blocks, warps))
        return Counts(**dict(zip(("busiest_block", "busiest_warp"), most, strict=True)))
