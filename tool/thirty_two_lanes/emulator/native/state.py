"""A warp as compiled code sees it: numbers, arrays and masks at addresses.

A number lies in a buffer of all lanes and blocks, which is also what the warp's slot
holds, so that NumPy's functions and compiled ones take turns.
"""

import ctypes

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.arrays import Array
from thirty_two_lanes.emulator.machine.warp_functions import FUNCTIONS
from thirty_two_lanes.emulator.native.layout import AT

SPACES = ("global", "shared", "local", "const")  # of requests that are told


class State:
    """The buffers of a warp, and the words that say where they are."""

    def __init__(self, compiled, warp):
        self.compiled, self.warp = compiled, warp
        self.slots, self.layout = compiled.slots, compiled.layout
        self.shape = (WARP_SIZE, warp.blocks)
        self.threads = WARP_SIZE * warp.blocks
        self.words = -(-self.threads // 64)
        everyone = np.packbits(
            np.arange(self.words * 64) < self.threads, bitorder="little"
        )
        self.full, self.everyone = everyone.tobytes(), everyone.view(np.uint64)
        self.context = np.zeros(self.layout.size, np.int64)
        self.quick = (ctypes.c_int64 * len(AT)).from_buffer(self.context)
        self.kept = [self.context]  # what is known to compiled code by its address
        self.arrays = {}  # by name: the array, and what describes it
        self._make_masks()
        self._make_buffers()
        self._make_looks()
        warp.values += [None] * (len(self.slots) - len(warp.values))
        for target, source in compiled.aliases:
            if warp.values[source] is None:
                warp.values[source] = warp.values[target]
        self.defined = [(name, at) for (name,), at in self.layout.of("defined").items()]
        self.take_over(self.slots)

    def _make_masks(self):
        pcs = len(self.compiled.program.code)
        self.masks, self.left = np.zeros((2, pcs, self.words), np.uint64)
        by_pc = np.zeros((4, pcs), np.int64)
        self.present, self.postponed, self.arriving, first = by_pc
        self.active, self.then, self.live = np.zeros((3, self.words), np.uint64)
        rows = np.array(list(self.compiled.rows()), np.int64)
        first[list(self.compiled.first)] = list(self.compiled.first.values())
        self.counts = np.zeros((3, pcs), np.int64)
        for name, counts in zip(("lanes", "steps", "splits"), self.counts, strict=True):
            self.set(name, self.keep(counts))
        names = ("active", "then", "live", "masks", "left")
        for name in (*names, "present", "postponed", "arriving"):
            self.set(name, self.keep(getattr(self, name)))
        self.set("words", self.words)
        self.set("blocks", self.warp.blocks)
        self.set("pcs", pcs)
        self.set("first", self.keep(first))
        self.set("pieces", self.keep(rows))
        self.soil()

    def _make_buffers(self):
        """A row of memory for each slot's number, for what pieces keep, and for the
        warp's geometry.
        """
        layout, types = self.layout, self.compiled.program.ir.types
        stages, geometry = layout.of("stage"), layout.of("geometry")
        count = len(self.slots) + len(stages) + len(geometry)
        self.memory = np.zeros((count, self.threads), np.int64)
        self.at = self.keep(self.memory) + 8 * self.threads * np.arange(count)
        self.own = {
            name: self._seen_as(types[name], slot)
            for name, slot in self.slots.items()
            if name in self.compiled.numbers
        }
        for (name,), place in layout.of("slot").items():
            self.context[place] = self.at[self.slots[name]]
        for row, place in enumerate(stages.values(), len(self.slots)):
            self.context[place] = self.at[row]
        first = len(self.slots) + len(stages)
        for row, (key, place) in enumerate(geometry.items(), first):
            function, operands, axis, dtype = key
            value = FUNCTIONS[function](self.warp, None, *operands)
            value = value[axis] if isinstance(value, tuple) else value
            self._seen_as(dtype, row)[...] = value
            self.context[place] = self.at[row]

    def _seen_as(self, dtype, row):
        """A row of memory as a number for each thread, at the start of its word."""
        return self._numbers(self.memory[row], dtype)

    def _numbers(self, row, dtype):
        return row.view(dtype).reshape(self.threads, -1)[:, 0].reshape(self.shape)

    def _make_looks(self):
        """For each loop, its variables; and what they, and the threads, were before."""
        count, variables = len(self.slots), np.zeros(len(self.present), np.int64)
        self.last, self.kept_state = (
            np.zeros((count * self.threads + self.words), np.int64) for _ in range(2)
        )
        for pc, slots in self.compiled.watched.items():
            variables[pc] = self.keep(np.array([len(slots), *slots], np.int64))
        self.set("variables", self.keep(variables))
        self.set("memory", self.keep(self.memory))
        for name, where in (("last", self.last), ("kept", self.kept_state)):
            self.set(name, self.keep(where))
        self.forget_looks()

    def forget_looks(self):
        """Begin to watch a loop anew."""
        self.set("looks", 0)
        self.set("kept_here", 0)
        for name in ("looked_at", "kept_at"):
            self.set(name, -1)

    def keep_state(self, pc):
        """Keep the variables of a loop, to know them when they come back."""
        self.kept_state[: self.words] = self.active.view(np.int64)
        self.kept_state[self.words :] = self.memory[: len(self.slots)].ravel()
        self.set("kept_at", pc)
        self.set("kept_here", 0)

    def kept_mask(self):
        """The threads of the state that was kept."""
        return self.mask(self.kept_state[: self.words].view(np.uint64))

    def kept_values(self, slots, now):
        """The variables that were kept, in the types of what they are now."""
        rows = self.kept_state[self.words :].reshape(-1, self.threads)
        numbers = {self.slots[name]: own.dtype for name, own in self.own.items()}
        return [
            self._numbers(rows[slot], numbers[slot]).copy()
            if slot in numbers
            else value
            for slot, value in zip(slots, now, strict=True)
        ]

    def soil(self):
        """Note that memory was written."""
        self.set("dirty", 1)
        self.set("kept_dirty", 1)

    def keep(self, array) -> int:
        """The address of an array that lives as long as this."""
        self.kept.append(array)
        return array.__array_interface__["data"][0]

    def get(self, name) -> int:
        return self.quick[AT[name]]

    def set(self, name, value):
        self.quick[AT[name]] = value

    # slots

    def take_over(self, names):
        """Take what NumPy's functions left in these slots."""
        values, slots, own = self.warp.values, self.slots, self.own
        found = [(name, values[slots[name]]) for name in names]
        changed = [(n, v) for n, v in found if v is not own.get(n)]
        if len(changed) > 1:  # one may be a part of what another one replaces
            changed = [(n, v.copy() if is_part(v) else v) for n, v in changed]
        for name, value in changed:
            if name in self.own:
                self._take_number(name, value)
            elif value is not self.arrays.get(name, (None,))[0]:
                self._take_object(name, value)

    def _take_number(self, name, value):
        if value is not None:
            np.copyto(self.own[name], value, casting="equiv")
        if value is not None or name not in self.compiled.unsure:
            self.warp.values[self.slots[name]] = self.own[name]
        self._define(name, value is not None)

    def _define(self, name, known):
        place = self.layout.places.get(("defined", name))
        if place is not None:
            self.context[place] = known

    def hand_over(self):
        """Let NumPy's functions find the numbers that compiled code has written."""
        for name, place in self.defined:
            known = self.context[place]
            self.warp.values[self.slots[name]] = self.own[name] if known else None

    def _take_object(self, name, value):
        """Take an array, or a tuple: compiled code knows arrays, each by some words."""
        if name in self.arrays:  # which compiled code cannot compare
            self.set("blind", 1)
            if self.get("kept_here"):
                self.set("kept_at", -1)
        place = self.layout.places.get(("array", name))
        self.arrays[name] = value, None
        if place is None:
            return
        self.context[place] = 0
        if isinstance(value, Array) and self._can_access(name, value):
            parts = [self._spread(part) for part in self._describe(value)]
            words = [1]
            for part in parts:
                words += part.__array_interface__["data"][0], int(part.size > 1)
            self.context[place : place + len(words)] = words
            self.arrays[name] = value, parts

    def _can_access(self, name, array) -> bool:
        """Can compiled code access this array, and tell that it does?"""
        place = self.layout.places.get(("told", name))
        if not is_within(array):
            return False
        if place is not None and is_tellable(array):
            self.context[place : place + 2] = told_of(array)
        return place is None or is_tellable(array)

    def _describe(self, array):
        """The address of an array's first element, and each axis's size and stride."""
        cells = array.cells
        address = cells.flat.__array_interface__["data"][0]
        place = 0 if cells.place is None else cells.place
        yield address + (array.base * cells.scale + place) * cells.step
        for size, stride in zip(array.shape, array.strides, strict=True):
            yield size
            yield stride * (cells.scale * cells.step)

    def _spread(self, value):
        """A number, or one of each thread, as words."""
        if np.ndim(value):
            value = np.broadcast_to(value, self.shape)
        return np.ascontiguousarray(value, np.int64)

    # masks

    def mask(self, words):
        """The threads of a mask as the machine has them: None for all."""
        data = words.tobytes()
        if data == self.full:
            return None
        bits = np.frombuffer(data, np.uint8)
        bits = np.unpackbits(bits, count=self.threads, bitorder="little")
        return bits.view(bool).reshape(self.shape)

    def write_mask(self, words, threads):
        """Write the machine's threads as a mask."""
        if threads is None:
            words[:] = self.everyone
            return
        bits = np.broadcast_to(threads, self.shape).ravel()
        bits = np.packbits(bits, bitorder="little")
        words.view(np.uint8)[: len(bits)] = bits


def is_part(value) -> bool:
    """Is this a view of another array, which may be a buffer of ours?"""
    return isinstance(value, np.ndarray) and value.base is not None


def is_within(array) -> bool:
    """Does each index below a size lead to a cell of this array's memory? Compiled code
    asks no more, whatever a fault in a view has made of sizes and strides.
    """
    cells, right, empty = array.cells, True, False
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


def is_tellable(array) -> bool:
    """Do addresses of this array's memory differ from those that are told by one
    distance, and does a request ask for whole elements?
    """
    cells, lane = array.cells, np.arange(WARP_SIZE)[:, None]
    scale, place = (WARP_SIZE, lane) if cells.space == "local" else (1, 0)
    own = 0 if cells.place is None else cells.place
    same = cells.scale == scale and np.all(own == place)
    return bool(same) and not cells.packed


def told_of(array) -> tuple:
    """That distance, and the number of the array's space."""
    cells = array.cells
    distance = cells.flat.__array_interface__["data"][0] - cells.address
    return distance, SPACES.index(array.space)
