"""Blocks that run together: which warp runs next, and loops that make no progress.

Between two barriers the warps of a block may run in any order; the machine takes one
that a seed chooses, neither ascending nor descending, so that a missing barrier shows
and shows again. Not modelled: time.
"""

import math

import numpy as np

from helpers.core.errors import NoProgressError, NoValueError
from helpers.core.events import Allocation, BranchSplit, Step
from helpers.emulator.machine.barriers import (
    missing_lanes_error,
    release,
    unnamed_caller_error,
)
from helpers.emulator.machine.launch_memory import shared_array
from helpers.emulator.machine.warps import Warp
from helpers.emulator.program import BRANCH, JUMP, RETURN, WARP_SYNC
from helpers.language.warp_intrinsics import have_arrived, outside_of_mask

WATCH = 16  # back edges between two looks whether a loop spins
PATIENCE = 20_000  # back edges in a row before others go first in any case
IDLE_ROUNDS = 3  # rounds of spinning before another batch of blocks runs


class Batch:
    """Blocks that run together: their warps, and their shared memory."""

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
        self.descending = False  # of two warps, did the second run first last time?
        program = launch.program
        self.warps = [
            Warp(number, launch.geometry, self, program.slots)
            for number in range(launch.geometry.warps)
        ]
        for warp in self.warps:
            for slot, value in zip(program.arguments, launch.arguments, strict=True):
                warp.values[slot] = value

    def shared_array(self, request):
        """A block's shared array; all dynamic ones begin at the same byte."""
        if request not in self.shared:
            patterns = self.memory.patterns.setdefault(request, {})
            self.shared[request] = shared_array(request, self, patterns)
            self._emit_allocation(self.shared[request])
        return self.shared[request]

    def _emit_allocation(self, array):
        """Emit a shared array."""
        cells, shape = array.cells, tuple(map(int, array.shape))
        size = math.prod(shape) * cells.step
        strides = tuple(int(stride) * cells.step for stride in array.strides)
        where = ("shared", cells.address, size, True, cells.address, shape, strides)
        for listener in self.listeners["allocation"]:
            listener(Allocation(array.name, *where, array.dtype))

    def run(self, rng) -> bool:
        """Run until all blocks are done (True), or none can go on for now (False)."""
        idle_rounds = 0
        while True:
            before = self.memory.changes
            spinning = False
            for warp in self.adverse_order(rng):
                spinning |= self._run_warp(warp)
            if spinning:
                waits = all(warp.spinning for warp in self.warps if warp.groups)
                idle_rounds = (
                    idle_rounds + 1 if waits and self.memory.changes == before else 0
                )
                if idle_rounds > IDLE_ROUNDS:
                    return False
                continue
            if all(warp.finished for warp in self.warps):
                return True
            if not release(self):
                self.waits_for_grid = True
                return False

    def adverse_order(self, rng):
        """The warps in an order that is neither ascending nor descending; two take
        turns to be first, since a race needs the one order or the other to show.
        """
        count = len(self.warps)
        if count == 2:
            self.descending = not self.descending
            return self.warps[::-1] if self.descending else self.warps
        order = rng.permutation(count)
        while count > 2 and (np.diff(order) == order[1] - order[0]).all():
            order = rng.permutation(count)
        return [self.warps[index] for index in order]

    def _run_warp(self, warp) -> bool:
        """Run one warp until it waits or ends; True when all its threads only spin."""
        while warp.groups:
            if self.launch.is_hot():
                return self.launch.run_compiled(self, warp)
            pc, active = warp.take()
            spun_at = self._run_group(warp, pc, active)
            if spun_at is not None:
                warp.postponed.add(spun_at)
                if warp.postponed.issuperset(warp.groups):
                    warp.postponed.clear()
                    return True
        warp.postponed.clear()
        return False

    def _run_group(self, warp, pc, active) -> int | None:
        """Run threads until they split, meet others or wait; the pc where they spin."""
        others = self._needed_elsewhere(warp)
        nearest = min(warp.groups, default=len(self.launch.program.code))
        return self._run_blocks(warp, pc, active, others, nearest)

    def _run_blocks(self, warp, pc, active, others, nearest) -> int | None:
        code, steps = self.launch.program.code, warp.listeners["step"]
        basic_block, iterations = code[pc], 0
        try:
            while True:
                basic_block = code[pc]
                for listener in steps:
                    listener(Step(pc, active, warp.who, *warp.counted(active)))
                value = basic_block.run(warp, active, others)
                if (kind := basic_block.kind) == JUMP:
                    following = basic_block.then
                elif kind == BRANCH:
                    if value.ndim:
                        value = split(warp, basic_block, value, active)
                        if value is None:
                            return None
                    following = basic_block.then if value else basic_block.otherwise
                elif kind == RETURN:
                    return warp.leave(active)
                elif kind == WARP_SYNC:
                    if not self._lanes_arrive(warp, basic_block, active, value):
                        warp.add(pc, active)
                        return pc
                    following = basic_block.then
                else:
                    return warp.wait(basic_block.then, active, value)
                if following <= pc:
                    iterations += 1
                    if self._spins(warp, following, iterations):
                        warp.add(following, active)
                        return following
                    if self.launch.is_hot():
                        nearest, warp.resumes = 0, (following, iterations)
                if following >= nearest:
                    warp.add(following, active)
                    return None
                pc = following
        except BaseException as error:
            self._note_error(error, warp, basic_block)
            raise

    def _needed_elsewhere(self, warp) -> int:
        """The slots that threads at other places of the program still read, as bits."""
        needed = 0
        for pc in (*warp.groups, *warp.waiting):
            needed |= self.launch.program.code[pc].needs
        return needed

    def _spins(self, warp, header, iterations) -> bool:
        """Should others run first, after these iterations of the loop at a header?"""
        warp.iterations += 1
        block = self.launch.program.code[header]
        spinning = iterations % WATCH < 2 and warp.state_recurs(header, block.needs)
        if spinning or iterations >= PATIENCE:
            self._note_iterations(warp, block, iterations, spinning)
            return True
        return False

    def _lanes_arrive(self, warp, basic_block, active, mask) -> bool:
        """Have the lanes of a mask arrived? If not, the warp waits for them."""
        if self.launch.strict:
            outside = outside_of_mask(warp, active, mask)
            if outside:
                raise unnamed_caller_error(warp, basic_block.site, *outside)
        warp.waits_for_lanes = not have_arrived(warp, active, mask)
        if warp.waits_for_lanes:
            warp.spinning, warp.loop = True, basic_block.site
        return not warp.waits_for_lanes

    def _note_iterations(self, warp, basic_block, iterations, spinning):
        """Count the iterations that this warp has done while nothing was written."""
        warp.spinning = spinning
        if warp.seen_changes != self.memory.changes:
            warp.idle_iterations, warp.seen_changes = 0, self.memory.changes
        warp.idle_iterations += iterations
        warp.loop = basic_block.site or self.launch.program.code[basic_block.then].site
        if warp.idle_iterations > self.launch.max_iterations:
            raise NoProgressError(
                f"the loop at line {warp.loop.line} has run "
                f"{warp.idle_iterations:,} iterations in which nothing was written: "
                "does it ever end?\n"
                f"    {warp.loop.text}\n  {warp.loop.place}"
            )

    def _note_error(self, error, warp, basic_block):
        """Remember where a launch stopped; raise a NoValueError if that is the reason.

        Python and NumPy raise these two when they compute with a slot never written.
        """
        self.launch.stopped_at = basic_block.site
        if isinstance(error, (TypeError, AttributeError)):
            if any(is_missing(warp.values[slot]) for slot in basic_block.inputs):
                raise NoValueError from error

    def no_progress(self):
        """The error of a batch whose threads wait for something that none will do."""
        waiting = [w.loop for w in self.warps if w.groups and w.waits_for_lanes]
        if waiting:
            return missing_lanes_error(waiting[0])
        sites = {w.loop.line: w.loop for w in self.warps if w.groups}
        lines = " and ".join(map(str, sorted(sites)))
        quoted = "".join(
            f"    {site.text}\n  {site.place}\n" for site in sites.values()
        )
        return NoProgressError(
            f"no progress: threads repeat the loop at line {lines} with the same "
            "values, and nothing that it reads will change; on a GPU this hangs\n"
            f"{quoted}  Remedy: the loop must wait for a thread that still runs, not "
            "for one that has returned or waits at a barrier"
        )


def is_missing(value) -> bool:
    """Is this a slot that was never written, or a tuple with an item that was not?"""
    return value is None or isinstance(value, tuple) and any(map(is_missing, value))


def split(warp, basic_block, condition, active):
    """Send threads down both sides of a branch; True or False if all take one."""
    then = condition if active is None else condition & active
    if not then.any():
        return False
    otherwise = ~condition if active is None else active & ~condition
    if not otherwise.any():
        return True
    for listener in warp.listeners["split"]:
        listener(BranchSplit(basic_block.ending.site, then, otherwise, warp.who))
    warp.add(basic_block.then, then)
    warp.add(basic_block.otherwise, otherwise)
    return None
