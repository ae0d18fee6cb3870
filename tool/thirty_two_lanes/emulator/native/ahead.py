"""Runs a warp's basic blocks ahead of the machine, as machine code.

A number lies in memory of all lanes and blocks, which is also what the warp's slot
holds, so that NumPy's functions and the rows of the tape take turns. Rows go on from
block to block, the lowest pc first, while the machine has nothing to say: where threads
wait or end, or come to a loop's end at which it looks for cycles, it goes on.
"""

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.arrays import Array
from thirty_two_lanes.emulator.machine.batch import PATIENCE
from thirty_two_lanes.emulator.machine.cells import LANES
from thirty_two_lanes.emulator.machine.warp_functions import FUNCTIONS
from thirty_two_lanes.emulator.native.kernel import (
    APART,
    AT,
    COUNTS,
    FULL,
    LOGGED,
    RAN,
)
from thirty_two_lanes.emulator.native.tape import KINDS, SPACES
from thirty_two_lanes.emulator.native.tracing import Value

BYTES = 8  # of a row's numbers for one thread, at most


class Ahead:
    """A warp whose basic blocks are machine code; `teller` tells judges, or is None."""

    def __init__(self, tape, warp, teller=None):
        self.tape, self.warp, self.teller = tape, warp, teller
        self.shape = WARP_SIZE, warp.blocks
        self.threads = WARP_SIZE * warp.blocks
        self.fixed = len(tape.fixed_rows)
        rows = self.fixed + tape.temporaries
        self.memory = np.zeros((rows, self.threads), np.int64)
        self.rows = {
            key: self._numbers(number, dtype)
            for key, (number, dtype) in tape.fixed_rows.items()
        }
        self.active = self.rows["active",]
        self.active_of = self  # the machine's threads that `active` has now
        self._relocate()
        self._make_context()
        self.own, self.defined, self.parts = {}, {}, {}  # by variable
        for (kind, *key), row in self.rows.items():
            if kind == "slot":
                self.own[key[0]] = row
            elif kind == "defined":
                self.defined[key[0]] = row
            elif kind == "array":
                self.parts.setdefault(key[0], []).append((*key[1:], row))
            elif kind != "active":
                row[...] = FILLED[kind](self, *key)
        self.objects = {}  # by variable: the array or tuple that rows know
        self.stale = set(tape.slots)  # what NumPy may have written since
        self.results = {pc: self._result(value) for pc, value in tape.results.items()}

    def _numbers(self, number, dtype):
        """A row of memory as a number of a type for each thread."""
        row = self.memory[number].view(dtype)
        return row[: self.threads].reshape(self.shape)

    def row_of(self, kind, number) -> int:
        """The number of a row in memory."""
        return number if kind == "fixed" else self.fixed + number

    def _relocate(self):
        """The tape with the addresses of this warp's memory."""
        row = BYTES * self.threads
        start = self.memory.ctypes.data
        self.code = self.tape.words.copy()
        first = {
            "threads": (0, self.threads),
            "fixed": (row, start),
            "temporary": (row, start + self.fixed * row),
            "block": (BYTES, self.code.ctypes.data),
        }
        for kind, (step, base) in first.items():
            here = self.tape.kinds == KINDS.index(kind)
            self.code[here] = self.code[here] * step + base
        begins = self.code.ctypes.data
        self.begins = {k: begins + BYTES * at for k, at in self.tape.begins.items()}

    def _make_context(self):
        self.context = np.zeros(len(AT), np.int64)
        self.words = memoryview(self.context)
        self.address = self.context.ctypes.data
        stores = self.tape.most_stores * self.threads
        self.log = np.zeros((stores + 1, LOGGED), np.int64)
        pcs = len(self.tape.program.code)
        self.counts = np.zeros((pcs, COUNTS), np.int64)
        self.steps = np.zeros((pcs, self.warp.blocks), np.int64)
        self.bits = np.zeros(self.warp.blocks, np.int64)  # those of each block
        self.masks = np.zeros((pcs, *self.shape), np.bool_)  # of groups, by pc
        self.present = np.zeros(pcs, np.int64)
        self.starts = np.array([self.begins[pc] for pc in range(pcs)], np.int64)
        looks = [self.begins.get(("look", pc), 0) for pc in range(pcs)]
        self.headers = np.array(looks, np.int64)
        self.cycle = self.kept = None  # whose looks the context knows
        self.set(
            threads=self.threads,
            blocks=self.warp.blocks,
            active=self.active.ctypes.data,
            log=self.log.ctypes.data,
            counts=self.counts.ctypes.data,
            steps=self.steps.ctypes.data,
            bits=self.bits.ctypes.data,
            masks=self.masks.ctypes.data,
            present=self.present.ctypes.data,
            begins=self.starts.ctypes.data,
            take=self.begins["take"],
            looks=self.headers.ctypes.data,
            blind=1,
            warp=self.warp.number,
            most=1,
        )

    def set(self, **words):
        for name, value in words.items():
            self.words[AT[name]] = value

    def get(self, name) -> int:
        return self.words[AT[name]]

    def _result(self, value):
        """What the machine gets of a basic block's end."""
        if not isinstance(value, Value):
            return value
        return self._numbers(self.row_of(*value.word), value.dtype)

    @classmethod
    def unchanged(cls, value):
        """A value that rows will not change: a part of an array may be theirs."""
        if isinstance(value, tuple):
            return tuple(map(cls.unchanged, value))
        is_part = isinstance(value, np.ndarray) and value.base is not None
        return value.copy() if is_part else value

    # what the machine's functions leave

    def run(self, pc, active, nearest, iterations):
        """Run basic blocks from a pc on: where it stopped and with which threads,
        whether that basic block has run, what its end gives, and the iterations of
        loops by then. The pc is None where the machine has others to run first.
        """
        if pc not in self.results:
            self.stale.update(self.tape.written[pc])
            return pc, active, False, None, iterations
        self._take(pc, active)
        self._enter(nearest, iterations)
        words, begin = self.words, self.begins[pc]
        while True:
            self.tape.run(begin, self.address)
            pc, why = words[AT["pc"]], words[AT["why"]]
            if why != FULL:
                break
            self.teller.tell()
            begin = self.begins[pc]
        self._leave()
        active = self._show_groups(active, why)
        if why == RAN:
            value = self.unchanged(self.results[pc])
            return pc, active, True, value, words[AT["iterations"]]
        if why == APART:
            return None, None, False, None, 0
        self.stale.update(self.tape.written[pc])
        return pc, active, False, None, words[AT["iterations"]]

    def _enter(self, nearest, iterations):
        """Let rows know what the machine knows."""
        warp, words = self.warp, self.words
        if self.teller:
            self.teller.ask(self)
        words[AT["nearest"]] = words[AT["outer"]] = nearest
        words[AT["alone"]] = not (warp.groups or warp.waiting or self.tape.tells)
        words[AT["iterations"]] = iterations
        words[AT["patience"]] = PATIENCE - (warp.turns - warp.began)
        words[AT["turns"]] = words[AT["taken"]] = 0
        words[AT["changes"]] = warp.memory.changes
        words[AT["iterated"]] = warp.iterations
        words[AT["limit"]] = min(warp.batch.launch.max_iterations - warp.turns, 1 << 60)
        if warp.cycle is not self.cycle:
            self.cycle = warp.cycle
            words[AT["blind"]] = 1
        words[AT["looked"]], words[AT["looked_at"]] = self.cycle.looks, -1

    def closes(self, state, written) -> bool:
        """Let the machine look at a loop, and know what was seen since it did."""
        pc, values, active = state
        self._take(pc, active)
        words, cycle = self.words, self.warp.cycle
        blind = words[AT["blind"]] or cycle is not self.cycle
        words[AT["blind"]], words[AT["print"]] = 1, 0
        self.tape.run(self.begins["look", pc], self.address)
        seen, changes = words[AT["print"]], self.warp.memory.changes
        state = pc, list(map(self.unchanged, values)), active
        if not blind:
            same = seen == words[AT["last"]]
            cycle.last = (state, words[AT["changed"]]) if same else None
        kept = cycle.kept
        closes = cycle.closes(state, changes, written)
        words[AT["last"]], words[AT["changed"]] = seen, changes
        if cycle.kept is not kept:
            self.kept, words[AT["kept"]] = cycle.kept, seen
        words[AT["blind"]] = seen == 0 or self.kept is not cycle.kept
        self.cycle = cycle
        return closes

    def _show_groups(self, active, why):
        """Let the machine have the groups that split off; gives the one that runs."""
        if not self.get("taken"):
            return active
        warp = self.warp
        for pc in np.flatnonzero(self.present).tolist():
            warp.add(pc, self.masks[pc].copy())
            self.masks[pc] = False
        self.present[:] = 0
        if why == APART:
            self.active_of = self
            return None
        alone = not (warp.groups or warp.waiting)
        self.active_of = warp.live if alone else self.active.copy()
        return self.active_of

    def _take(self, pc, active):
        """Take the threads that run, and what NumPy's functions have written."""
        if active is not self.active_of:
            np.copyto(self.active, True if active is None else active)
            whole = active is None or active is self.warp.live
            self.active_of = active
            self.set(whole=whole and not self.tape.tells)
            if self.teller:
                self.set(lanes=int(np.count_nonzero(self.active)))
                bits = np.packbits(self.active, axis=0, bitorder="little")
                self.bits[:] = np.ascontiguousarray(bits.T).view("<u4")[:, 0]
        result = self.tape.program.results.get(pc)
        if result is not None:
            self.stale |= {n for n, s in self.tape.slots.items() if s == result}
        if self.stale:
            self._take_values()

    def _take_values(self):
        values, slots = self.warp.values, self.tape.slots
        changed = [
            (name, values[slots[name]])
            for name in self.stale
            if values[slots[name]] is not self.own.get(name)
        ]
        if len(changed) > 1:  # one may be a part of what another one replaces
            changed = [(name, self.unchanged(value)) for name, value in changed]
        for name, value in changed:
            if name in self.own:
                if value is not None:
                    np.copyto(self.own[name], value, casting="equiv")
                if value is not None or name not in self.tape.unsure:
                    values[slots[name]] = self.own[name]
                if name in self.defined:
                    self.defined[name][...] = value is not None
            elif value is not self.objects.get(name):
                value = values[slots[name]] = self.unchanged(value)
                self.objects[name] = value
                self.set(blind=1)
                if name in self.parts:
                    self._take_array(name, value)
        self.stale.clear()

    def _take_array(self, name, array):
        """Take an array as the numbers that rows ask for."""
        known = isinstance(array, Array) and is_within(array)
        known = known and (not self.teller or self.teller.can_tell(name, array))
        for what, axis, row in self.parts[name]:
            if what == "known":
                row[...] = known
            elif known:
                row[...] = DESCRIBED[what](array, axis)

    def _leave(self):
        """Let the machine know what rows know; its functions find what they wrote."""
        warp, words = self.warp, self.words
        self.cycle.looks = words[AT["looked"]]
        warp.note_ahead(*(words[AT[n]] for n in ("turns", "changes", "looked_at")))
        values, slots = self.warp.values, self.tape.slots
        for name, known in self.defined.items():
            values[slots[name]] = self.own[name] if known.any() else None
        for target, source in self.tape.names.items():
            values[slots[target]] = values[slots[source]]


def _called(ahead, function, operands, axis):
    value = FUNCTIONS[function](ahead.warp, None, *operands)
    return value[axis] if isinstance(value, tuple) else value


FILLED = {  # rows that are the same from the start
    "number": lambda ahead, dtype, shape, data: np.frombuffer(data, dtype).reshape(
        shape
    ),
    "call": _called,
    "block": lambda ahead: np.arange(ahead.warp.blocks),
    "blocks": lambda ahead: ahead.warp.blocks,
    "address of": lambda ahead, *word: ahead.memory[ahead.row_of(*word)].ctypes.data,
}


# arrays, as rows know them


def _address(array, axis):
    """The address of its first element."""
    cells = array.cells
    place = 0 if cells.place is None else cells.place
    return cells.flat.ctypes.data + (array.base * cells.scale + place) * cells.step


DESCRIBED = {
    "address": _address,
    "size": lambda array, axis: array.shape[axis],
    "stride": lambda array, axis: (
        array.strides[axis] * (array.cells.scale * array.cells.step)
    ),
    "space": lambda array, axis: SPACES.index(array.space),
    # what judges are told is an address as if there were one block
    "own": lambda array, axis: (
        array.cells.flat.ctypes.data + told_as(array.cells)[1] * array.cells.step
    ),
    "first": lambda array, axis: array.cells.address,
    "apart": lambda array, axis: told_as(array.cells)[0],
}


def told_as(cells):
    """How many times as far apart cells are as those that judges are told of, and
    where those of each block begin.
    """
    of_lanes, lane = (WARP_SIZE, LANES) if cells.space == "local" else (1, 0)
    apart = cells.scale // of_lanes
    return apart, (0 if cells.place is None else cells.place) - apart * lane


def is_within(array) -> bool:
    """Does each index below a size lead to a cell of this array's memory? Rows ask no
    more, whatever a fault in a view has made of sizes and strides.
    """
    cells, empty = array.cells, False
    right = not cells.overlaid
    low = high = _exact(array.base)
    for size, stride in zip(array.shape, array.strides, strict=True):
        size, stride = _exact(size), _exact(stride)
        right, empty = right & (size >= 0), empty | (size == 0)
        reach = (size - 1) * stride
        low = low + (reach - abs(reach)) // 2
        high = high + (reach + abs(reach)) // 2
    place = 0 if cells.place is None else int(np.max(cells.place))
    inside = (low >= 0) & (high * cells.scale + place < cells.flat.size)
    return bool(np.all(right & (empty | inside)))


def _exact(number):
    """A number, or one of each thread, of which no product wraps around."""
    return number.astype(object) if isinstance(number, np.ndarray) else int(number)
