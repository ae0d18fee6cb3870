"""Runs a warp as machine code, up to its next barrier, in the machine's own order.

The machine's loop is compiled too (`driver`). What is not, such as a sine, a view or a
barrier, is done here, with the machine's own functions; and so is each piece that meets
an index out of bounds, which has changed nothing, so that the machine says what is
wrong.
"""

import ctypes
import math
from contextlib import contextmanager
from functools import partial

import numpy as np

from thirty_two_lanes.emulator.machine.batch import PATIENCE, WATCH
from thirty_two_lanes.emulator.native import driver
from thirty_two_lanes.emulator.native.compiled import Compiled
from thirty_two_lanes.emulator.native.state import State
from thirty_two_lanes.emulator.native.telling import Teller, has_fence
from thirty_two_lanes.emulator.program import WARP_SYNC

WIDEST = 64  # blocks of a batch, beyond which NumPy is as fast
COMPILING = 1000, 20  # steps, and steps for each instruction
ENTERING = 40  # steps for each warp; a fourth of them where NumPy tells judges, too
POSTPONED, WAITING = -1, -2  # begin with other threads, if there are any
IN_VAIN = -3
TRIED, WORTHWHILE = 1000, 0.2  # pieces left to NumPy, and their share, at most
LOOK_UP = 1 << 22  # steps of single threads between two looks for a Ctrl-C


@contextmanager
def accelerated(launch, told=False):
    """Let the warps of a launch be machine code from when it pays: after as many steps
    as making it takes, or the warps' buffers, where it is made. Steps count from the
    first launch of the program. Where judges are told, it is other code, of one block.
    """
    program = launch.program
    known = program.compiled.setdefault("told", {}) if told else program.compiled
    teller = Teller(launch) if told else None
    narrow = min(launch.batch_blocks, launch.geometry.blocks) <= WIDEST
    if told:
        narrow = narrow and launch.geometry.blocks == 1 and not has_fence(program)
    if narrow and "failed" not in known:
        entering = (ENTERING // 4 if told else ENTERING) * launch.geometry.warps
        launch.run_compiled = partial(run_warp, known=known, teller=teller)
        size, past = sum(map(len, program.ir.blocks)), known.get("steps", 0)
        compiling = 0 if "code" in known else COMPILING[0] + COMPILING[1] * size - past
        launch.patience = max(compiling, entering)
    yield
    if told:
        teller.tell_counts()
    known["steps"] = known.get("steps", 0) + launch.steps


def run_warp(batch, warp, *, known, teller=None) -> bool:
    """Run one warp until it waits or ends; True when all its threads only spin.

    NumPy goes on where LLVM does not do what it should, and `failed` says why.
    """
    if warp.compiled is None:
        try:
            if "code" not in known:
                tells = teller is not None
                known["code"] = Compiled(batch.launch.program, tells)
            warp.compiled = NativeWarp(known["code"], batch, warp, teller)
        except Exception as error:  # whatever it is, it is ours
            return _give_up(batch, warp, known, error)
    spins = warp.compiled.run()
    if spins is None:
        return _give_up(batch, warp, known, "NumPy has most of it to do")
    return spins


def _give_up(batch, warp, known, why) -> bool:
    """Leave a launch, and those after it, to NumPy."""
    known["failed"] = why
    batch.launch.patience = math.inf
    warp.resumes = None
    return batch._run_warp(warp)


class NativeWarp:
    """A warp whose pieces are machine code."""

    def __init__(self, compiled, batch, warp, teller=None):
        self.compiled, self.batch = compiled, batch
        self.warp, self.memory, self.teller = warp, batch.memory, teller
        self.state = State(self.compiled, warp)
        if teller:
            teller.begin(compiled)
            teller.connect(self.state)
        shape = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
        self.drive = shape(self.compiled.drive)
        self.handlers = {
            driver.INTERPRET: self._interpret,
            driver.WAITS: self._wait,
            driver.LOOK: self._look,
            driver.PAUSE: self._pause,
        }
        self.address = self.state.context.__array_interface__["data"][0]
        self.steps = max(1024, LOOK_UP // self.state.threads)
        self.seen_changes, self.live, self.circle = -1, None, None
        self.interpreted = self.pieces = 0

    def run(self) -> bool:
        """Run the warp until it waits or ends; True when all its threads only spin."""
        try:
            return self._run(self._enter())
        except BaseException as error:
            block = self.compiled.blocks[self.state.get("piece")]
            self.batch._note_error(error, self.warp, block)
            raise

    def _run(self, begin) -> bool | None:
        """The same; None where NumPy would be as fast."""
        state = self.state
        while True:
            state.set("budget", self.steps)
            why = self.drive(self.address, begin)
            self.memory.changes += state.get("stores")
            state.set("stores", 0)
            begin = driver.DONE if why == driver.DONE else self.handlers[why]()
            if why == driver.DONE or begin == WAITING and not state.present.any():
                return self._leave(spins=False)
            if begin == POSTPONED and self._all_postponed():
                return self._leave(spins=True)
            if begin == IN_VAIN:
                return self._leave(spins=None)
            begin = max(begin, driver.TAKE)

    # between the machine's state and ours

    def _enter(self) -> int:
        """Take the warp as the machine left it; gives where to begin."""
        state, warp = self.state, self.warp
        if self.compiled.results:
            state.take_over(self.compiled.results)
        if warp.live is not self.live or self.seen_changes < 0:
            state.write_mask(state.live, warp.live)
        self._take_groups()
        if self.seen_changes != self.memory.changes:
            state.soil()
        if warp.circle is not self.circle:
            self.circle = warp.circle
            state.forget_looks()
        self._set_turns()
        return driver.TAKE if warp.resumes is None else self._resume()

    def _resume(self) -> int:
        """Go on in the middle of a loop."""
        state = self.state
        (pc, iterations), self.warp.resumes = self.warp.resumes, None
        state.active[:] = state.masks[pc]
        state.present[pc] = 0
        others = np.flatnonzero(state.present)
        state.set("nearest", others[0] if len(others) else len(state.present))
        state.set("following", pc)
        state.set("iterations", iterations)
        return driver.GONE

    def _leave(self, spins) -> bool:
        """Leave the warp as the machine has it."""
        state, warp = self.state, self.warp
        self._show_groups()
        state.present[:] = state.postponed[:] = 0
        warp.postponed.clear()
        self._show_turns()
        state.hand_over()
        for target, source in self.compiled.aliases:
            warp.values[target] = warp.values[source]
        self.seen_changes = self.memory.changes
        return spins

    def _take_groups(self):
        """See where the machine has put threads."""
        state, warp = self.state, self.warp
        state.present[:] = 0
        for pc, threads in warp.groups.items():
            state.present[pc] = 1
            state.write_mask(state.masks[pc], threads)
        for pcs, ours in (
            (warp.postponed, state.postponed),
            (warp.arriving, state.arriving),
        ):
            ours[:] = 0
            if pcs:
                ours[list(pcs)] = 1

    def _show_groups(self):
        """Let the machine see where threads are, and who has returned."""
        state, warp = self.state, self.warp
        present = state.present.nonzero()[0].tolist()
        warp.groups = {pc: state.mask(state.masks[pc]) for pc in present}
        warp.postponed = set(state.postponed.nonzero()[0].tolist())
        warp.arriving = set(state.arriving.nonzero()[0].tolist())
        if state.get("returned"):
            state.set("returned", 0)
            for pc in state.left.any(axis=1).nonzero()[0].tolist():
                warp.note_left(pc, state.mask(state.left[pc]))
            state.left[:] = 0
            warp.complete, warp.live = False, state.mask(state.live)
        self.live = warp.live

    def _set_turns(self):
        """Count iterations from here."""
        state, warp = self.state, self.warp
        state.set("turns", 0)
        state.set("iterated", warp.iterations)
        state.set("patience", PATIENCE - (warp.turns - warp.began))
        state.set("limit", min(self.batch.launch.max_iterations - warp.turns, 1 << 60))

    def _show_turns(self):
        """Let the machine know the iterations, and which loop was looked at last."""
        state, warp = self.state, self.warp
        warp.turns += state.get("turns")
        warp.iterations += state.get("turns")
        state.set("turns", 0)
        if state.get("looked_at") >= 0:
            code = self.compiled.program.code
            block = code[state.get("looked_at")]
            warp.loop = block.site or code[block.then].site

    # what Python does

    def _pause(self) -> int:
        if self.teller:
            self.teller.tell()
        return driver.RUN

    def _interpret(self) -> int:
        """Run a piece by its NumPy function."""
        if self._is_in_vain():
            return IN_VAIN
        state, number = self.state, self.state.get("piece")
        block = self.compiled.blocks[number]
        active = state.mask(state.active)
        others = 0 if active is None else self._needed_elsewhere()
        before = self.memory.changes
        state.hand_over()
        if self.teller:  # NumPy's functions tell the iterations
            self._show_turns()
            self._set_turns()
        value = block.run(self.warp, active, others)
        state.take_over(self.compiled.written[number])
        if self.memory.changes != before:
            state.soil()
        if self.compiled.is_branch[number]:
            taken = value if active is None else value & active
            state.write_mask(state.then, taken)
        return driver.ENDED

    def _is_in_vain(self) -> bool:
        """Do NumPy's functions run too many pieces? Threads stay where they are."""
        state = self.state
        self.pieces += self.steps - state.get("budget")
        self.interpreted += 1
        if self.interpreted < TRIED or self.interpreted < self.pieces * WORTHWHILE:
            return False
        pc = self.compiled.pieces[state.get("piece")].pc
        if self.compiled.first[pc] != state.get("piece"):
            return False
        self._add(pc)
        self.state.counts[:2, pc] -= int(self.state.active[0]).bit_count(), 1  # again
        return True

    def _needed_elsewhere(self) -> int:
        needed, code = 0, self.compiled.program.code
        for pc in (*np.flatnonzero(self.state.present), *self.warp.waiting):
            needed |= code[pc].needs
        return needed

    def _wait(self) -> int:
        """Let threads wait for others of their block, or of their warp."""
        state = self.state
        piece = self.compiled.pieces[state.get("piece")]
        block, active = self.compiled.program.code[piece.pc], state.mask(state.active)
        state.hand_over()
        value = self.compiled.waited_for(piece, self.warp)
        if block.kind != WARP_SYNC:
            self.warp.wait(block.then, active, value)
            return WAITING
        self._show_groups()
        if not self.batch._wait_for_lanes(self.warp, piece.pc, active, value):
            self._take_groups()
            state.set("following", block.then)
            return driver.GO
        self.warp.postponed.add(piece.pc)
        self._take_groups()
        return POSTPONED

    def _look(self) -> int:
        """Ask the machine whether a loop goes in circles."""
        state, warp = self.state, self.warp
        header, active = state.get("following"), state.mask(state.active)
        state.hand_over()
        state.set("turns", state.get("turns") - 1)  # the machine counts this one
        self._show_turns()
        slots, ours = self.compiled.needed[header], warp.values
        warp.values = ours.copy()
        for slot in slots:
            warp.values[slot] = copied(ours[slot])
        self._show_looks(header, active, slots)
        kept = self.circle.kept
        spins = self.batch._spins(warp, header, active, state.get("iterations"))
        warp.values = ours
        state.set("blind", 0)
        if self.circle.kept is not kept:
            state.keep_state(header)
        self._set_turns()
        return self._postpone(header) if spins else driver.GONE

    def _show_looks(self, header, active, slots):
        """Let the machine know the loop's last state, and the one that was kept."""
        state, circle, changes = self.state, self.circle, self.memory.changes
        now = [self.warp.values[slot] for slot in slots]
        if not state.get("blind"):
            recurs = state.get("recurs") > 0
            circle.last = ((header, now, active), changes) if recurs else None
        if state.get("kept_here"):
            circle.kept = None
            if state.get("kept_at") == header:
                before = state.kept_values(slots, now)
                when = -1 if state.get("kept_dirty") else changes
                circle.kept = ((header, before, state.kept_mask()), when, None)
        looked = state.get("iterations") % WATCH < 2  # the machine counts this, too
        circle.looks = state.get("looks") - looked

    def _postpone(self, pc) -> int:
        """Let other threads of the warp go first."""
        self.state.arriving[pc] = 0
        self._add(pc)
        self.state.postponed[pc] = 1
        return POSTPONED

    def _add(self, pc):
        """Let threads go on at a pc, with those already there."""
        state = self.state
        if not state.present[pc]:
            state.masks[pc] = 0
        state.masks[pc] |= state.active
        state.present[pc] = 1

    def _all_postponed(self) -> bool:
        return bool((self.state.present <= self.state.postponed).all())


def copied(value):
    """A value that compiled code will not change."""
    return value.copy() if isinstance(value, np.ndarray) else value
