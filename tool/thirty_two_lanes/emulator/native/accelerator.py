"""When the warps of a launch go on as machine code: where blocks are few and steps are
many, so that NumPy's functions would mostly be called.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.native.ahead import Ahead
from thirty_two_lanes.emulator.native.tape import Tape
from thirty_two_lanes.emulator.native.telling import Teller

WIDEST = 64  # blocks of a batch, beyond which NumPy is as fast
MOST_TOLD_OF = 16  # blocks of a launch that judges are told of
MAKING = 1000, 10  # steps, and steps for each instruction
ENTERING = 40  # steps for each warp
JUDGED = 4  # times as long a step takes NumPy where judges are told


class Accelerator:
    """Lets the warps of a launch be machine code from when it pays: after as many steps
    as making it takes, or the warps' memory, where it is made. Steps count from the
    first launch of the program. Where judges are told, it is other code.

    `listeners` are what the launch is to emit to.
    """

    def __init__(self, launch, listeners):
        program, self.launch = launch.program, launch
        self.teller = Teller(listeners) if listeners else None
        self.listeners = self.teller.listeners if listeners else {}
        self.kept = program.compiled.setdefault("told" if listeners else "plain", {})
        size = sum(map(len, program.ir.blocks))
        making = MAKING[0] + MAKING[1] * size - self.kept.get("steps", 0)
        making = 0 if "tape" in self.kept else making
        patience = max(making, ENTERING * launch.geometry.warps)
        self.patience = patience // JUDGED if listeners else patience

    def ahead_of(self, warp) -> Ahead:
        """What runs a warp's basic blocks."""
        if "tape" not in self.kept:
            self.kept["tape"] = Tape(warp.batch.launch.program, self.teller is not None)
        ahead = Ahead(self.kept["tape"], warp, self.teller)
        if self.teller:
            self.teller.connect(ahead)
        return ahead

    def finish(self):
        """Remember the steps; tell what has not been told."""
        self.kept["steps"] = self.kept.get("steps", 0) + self.launch.steps
        if self.teller:
            self.teller.tell_counts()


def accelerator_of(launch, listeners):
    """The accelerator of a launch, or None; of launches with listeners, those of few
    blocks whose judges take many requests at once, in which order does not matter.
    """
    blocks = launch.geometry.blocks
    if min(launch.batch_blocks, blocks) > WIDEST:
        return None
    if listeners and (
        not listeners.get("requests")
        or blocks > min(MOST_TOLD_OF, launch.batch_blocks)
        or has_fence(launch.program)
    ):
        return None
    return Accelerator(launch, listeners)


def has_fence(program) -> bool:
    """Does the order of requests matter to the judges?"""
    calls = (i for block in program.ir.blocks for i in block if isinstance(i, ir.Call))
    return any(i.function.startswith("cuda.threadfence") for i in calls)
