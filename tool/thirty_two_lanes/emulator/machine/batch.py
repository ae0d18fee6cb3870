"""Blocks that run together: which warp runs next, and loops that make no progress.

Between two barriers the warps of a block may run in any order; the machine takes one
that a seed chooses, neither ascending nor descending, so that a missing barrier shows
and shows again. A loop is endless if it comes back to a state in which it was before,
and all others wait or do so, too; a long one just runs. Not modelled: time.
"""

import math

import numpy as np

from thirty_two_lanes.core.errors import KernelIndexError, NoProgressError, NoValueError
from thirty_two_lanes.core.events import Allocation, BranchSplit, in_turn
from thirty_two_lanes.emulator.machine.accesses.async_copies import Copies
from thirty_two_lanes.emulator.machine.barriers import (
    emit_unnamed,
    meet_elsewhere,
    missing_lanes_error,
    release,
)
from thirty_two_lanes.emulator.machine.launch_memory import shared_array
from thirty_two_lanes.emulator.machine.warp_functions import waiting_lanes
from thirty_two_lanes.emulator.machine.warps import CycleDetector, Warp, digest
from thirty_two_lanes.emulator.program import BARRIER, BRANCH, JUMP, RETURN, WARP_SYNC

WATCH = 16  # back edges between two looks whether a loop goes in cycles
WAITING = "waiting"  # for lanes, and not behind the basic block
PATIENCE = 20_000  # back edges in a row before others go first in any case
IDLE_ROUNDS = 3  # rounds in cycles before another batch of blocks runs


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
        self.in_turn = in_turn(launch.seed, np.arange(first, last))  # at atomics
        self.shared, self.dynamic = {}, None
        self.copies = Copies()
        self.waits_for_grid = False
        self.descending = False  # of two warps, did the second run first last time?
        self.cycle, self.repeats = CycleDetector(), 0  # of barriers that come back
        self.last_digest = None  # of memory, after a round of spinning
        program = launch.program
        self.has_barriers = any(block.kind == BARRIER for block in program.code)
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
            listener(Allocation(array.name, *where, array.dtype, cells=cells))

    def run(self, rng) -> bool:
        """Run until all blocks are done (True), or none can go on for now (False)."""
        idle_rounds = 0
        while True:
            before = self.memory.changes
            spinning = False
            order = iter(self.adverse_order(rng))
            for warp in order:
                try:
                    spinning |= self._run_warp(warp)
                except KernelIndexError as error:
                    raise self._first_of(error, order) from None
            if not spinning and all(warp.finished for warp in self.warps):
                return True
            if self.has_barriers and release(self):
                idle_rounds = 0
                if self._barriers_repeat():
                    return False
            elif not spinning:
                self.waits_for_grid = True
                return False
            else:
                idle = self._only_spins() and self._is_as(before)
                idle_rounds = idle_rounds + 1 if idle else 0
                if idle_rounds > IDLE_ROUNDS:
                    return False

    def _first_of(self, error, warps):
        """The error of the first thread of all, as a reader looks for it, when other
        warps have had their turn.
        """
        stops = [(error, self.launch.stopped_at)]
        for warp in warps:
            try:
                self._run_warp(warp)
            except KernelIndexError as another:
                stops.append((another, self.launch.stopped_at))
            except Exception:  # in a launch that has failed already
                pass
        first, self.launch.stopped_at = min(stops, key=lambda stop: stop[0].at)
        return first

    def _only_spins(self) -> bool:
        return all(warp.spinning for warp in self.warps if warp.groups)

    def _is_as(self, changes) -> bool:
        """Is memory as it was before, though it may have been written?"""
        if self.memory.changes == changes:
            return True
        last = self.last_digest
        self.last_digest = digest(self.memory.written(self, self.warps))
        return last == self.last_digest

    def _barriers_repeat(self) -> bool:
        """Has all been as at an earlier barrier, some times by now?"""
        if self.cycle.comes_back(self.state(), self.memory.written(self, self.warps)):
            self.repeats = (self.repeats + 1) % (IDLE_ROUNDS + 1)
            return self.repeats == 0
        return False

    def state(self):
        """Where all threads are, and what they need, piece by piece."""
        for warp in self.warps:
            yield from warp.state(self.launch.program.code)

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
        warp.began, warp.spinning = warp.turns, True
        while warp.groups:
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
        try:
            return self._run_blocks(warp, pc, active, *self._elsewhere(warp))
        finally:
            warp.tell_steps()

    def _run_blocks(self, warp, pc, active, others, nearest) -> int | None:
        code, has_run = self.launch.program.code, False
        basic_block, iterations = code[pc], 0  # of the loops of these threads
        try:
            while True:
                if ahead := warp.ahead or self.launch.ahead_of(warp):
                    before, went = active, ahead.run(pc, active, nearest, iterations)
                    pc, active, has_run, value, iterations = went
                    if pc is None:
                        return None
                    if active is not before:
                        others, nearest = self._elsewhere(warp)
                basic_block = code[pc]
                if not has_run:
                    warp.note_step(pc, active)
                    value = basic_block.run(warp, active, others)
                following = self._following(warp, pc, active, value)
                if following is None or following is WAITING:
                    return None if following is None else pc
                if following <= pc:
                    iterations += 1
                    if self._spins(warp, following, active, iterations):
                        warp.add(following, active)
                        return following
                if following >= nearest:
                    warp.add(following, active)
                    return None
                pc = following
        except BaseException as error:
            self._note_error(error, warp, basic_block)
            raise

    def _following(self, warp, pc, active, value):
        """Where threads go on behind a basic block, whose end gives a value; None where
        they part, wait or end, and WAITING where they wait for lanes.
        """
        basic_block = self.launch.program.code[pc]
        if (kind := basic_block.kind) == JUMP:
            return basic_block.then
        if kind == BRANCH:
            if value.ndim:
                value = split(warp, basic_block, value, active)
                if value is None:
                    return None
            return basic_block.then if value else basic_block.otherwise
        if kind == WARP_SYNC:
            waits = self._wait_for_lanes(warp, pc, active, value)
            return WAITING if waits else basic_block.then
        if kind == RETURN:
            return warp.leave(pc, active)
        return warp.wait(basic_block.then, active, value)

    def _elsewhere(self, warp):
        """The slots that other threads of a warp still read, as bits; and the lowest pc
        of those that run.
        """
        code, needed = self.launch.program.code, 0
        for pc in (*warp.groups, *warp.waiting):
            needed |= code[pc].needs
        return needed, min(warp.groups, default=len(code))

    def _spins(self, warp, header, active, iterations) -> bool:
        """Should others run first, after these iterations of the loop at a header?"""
        warp.iterations += 1
        warp.turns += 1
        if iterations % WATCH < 2:
            warp.note_loop(header)
            self.launch.still_running.look(self.launch, warp.loop)
            if warp.turns > self.launch.max_iterations:
                raise too_long_error(warp.loop, self.launch.max_iterations)
            needs = self.launch.program.code[header].needs
            if warp.is_in_a_cycle(header, needs, active):
                return True
        if warp.turns - warp.began < PATIENCE:
            return False
        self.launch.still_running.look(self.launch, warp.loop)
        warp.began, warp.spinning = warp.turns, False
        return True

    def _wait_for_lanes(self, warp, pc, active, mask) -> bool:
        """Let lanes wait for others of their mask; False if all can go on."""
        block = self.launch.program.code[pc]
        waiting = waiting_lanes(warp, active, mask)
        if waiting is not None and block.ending.function == "cuda.syncwarp":
            waiting = meet_elsewhere(self, warp, pc, waiting, mask)
        if waiting is None:
            emit_unnamed(warp, block.site, active, mask)
            return False
        going = active & ~waiting
        if going.any():
            emit_unnamed(warp, block.site, going, mask)
            warp.add(block.then, going)
        warp.wait_for_lanes(pc, waiting)
        return True

    def _note_error(self, error, warp, basic_block):
        """Remember where a launch stopped; raise a NoValueError if that is the reason.

        Python and NumPy raise these two when they compute with a slot never written.
        """
        self.launch.stopped_at = basic_block.site_in(error.__traceback__) or warp.loop
        if isinstance(error, (TypeError, AttributeError)):
            here, inputs = self.launch.stopped_at, basic_block.inputs
            missing = [name for name in inputs if is_missing(warp.values[name.slot])]
            if missing:
                first = min(
                    missing, key=lambda name: (name.site != here, name.site is None)
                )
                self.launch.stopped_at = first.site or here
                raise NoValueError(first.name) from error

    def no_progress(self):
        """The error of a batch whose threads wait for something that none will do."""
        if error := missing_lanes_error(self):
            return error
        loops = (warp.loop for warp in self.warps if warp.groups)
        sites = {loop.line: loop for loop in loops if loop is not None}
        lines = " and ".join(map(str, sorted(sites)))
        quoted = "".join(
            f"    {site.text}\n  {site.place}\n" for site in sites.values()
        )
        return NoProgressError(
            f"no progress: threads repeat the loop at line {lines} with the same "
            "values, and nothing that it reads will change; on a GPU this hangs\n"
            f"{quoted}  Remedy: change in the loop what ends it. One that waits for "
            "another thread must wait for one that still runs, not for one that has "
            "returned or waits at a barrier"
        ).placed(next(iter(sites.values()), None))


def too_long_error(site, limit):
    """The error of a loop that runs longer than the user allows."""
    return NoProgressError(
        f"the loops of a warp have run more than {limit:,} iterations, the last at "
        f"line {site.line}: does it ever end?\n    {site.text}\n  {site.place}\n"
        "  Remedy: if it does, allow more, by `emulate(kernel, turns=…)` or the "
        "environment variable EMULATOR_TURNS; without them there is no limit"
    ).placed(site)


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
