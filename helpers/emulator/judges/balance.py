"""Balance: how blocks and warps share the requests to global memory.

`busiest_block` and `busiest_warp` are the most that one of them makes. What stores to
many elements counts once. Nsight Compute has no such counter: it adds up those of a
multiprocessor.
"""

import numpy as np

from helpers.core import ir
from helpers.emulator.judges.judge import Counts


class Balance:
    """Counts how often each warp runs what may ask global memory, batch by batch."""

    def __init__(self, coalescing):
        self.coalescing, self.references = coalescing, ()
        self.runs = {}  # by first block: by warp and basic block

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {"launch": self.start, "step": self.step}

    def start(self, start):
        """Note what each basic block may ask."""
        code = start.program.ir.blocks if start.program else [()] * len(start.code)
        self.references = [
            [one for it in block for one in ir.references_of(it)] for block in code
        ]

    def step(self, step):
        """Add one run of a basic block."""
        who = step.who
        if not self.references[step.basic_block]:
            return
        if step.active is None or step.warps == who.blocks:
            times = step.warps // who.blocks
        else:
            times = step.active.any(axis=0).astype(np.int64)
        runs = self.runs.setdefault(who.first_block, {})
        place = who.warp, step.basic_block
        runs[place] = runs.get(place, 0) + times

    def table(self) -> Counts:
        """The requests of the busiest block and warp."""
        known = self.coalescing.totals
        asked = [sum(it in known for it in each) for each in self.references]
        blocks, warps = [0], [0]
        for runs in self.runs.values():
            of_warps = {}
            for (warp, basic_block), times in runs.items():
                of_warps[warp] = of_warps.get(warp, 0) + asked[basic_block] * times
            blocks.append(np.max(sum(of_warps.values())))
            warps += map(np.max, of_warps.values())
        return Counts(busiest_block=int(max(blocks)), busiest_warp=int(max(warps)))
