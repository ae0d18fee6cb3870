"""Asynchronous copies that are under way: what they bring is not there before it is
waited for, and nobody may touch its cells until then.

Copies belong to groups of each thread, which arrive in order (PTX ISA,
"cp.async.wait_group"); until then their cells hold what unwritten ones do. Not
modelled: a GPU may read the source, and write the cells, at any time in between.
"""

from dataclasses import dataclass

import numpy as np

from thirty_two_lanes.core.events import EarlyAccess
from thirty_two_lanes.core.hardware import WARP_SIZE, WORD_BYTES
from thirty_two_lanes.core.source import Reference


@dataclass
class CopyInFlight:
    """A copy by each lane: to which cells, and the neighbours that it brings.

    `group` is the number of each lane's group; `lanes` are those whose copy has not
    arrived, both (lanes, blocks). `reference` is that of its arrival.
    """

    reference: Reference
    array: object
    first: object
    values: tuple
    group: np.ndarray
    lanes: np.ndarray


class Copies:
    """The copies of a batch that are under way, and the words that they will write."""

    def __init__(self):
        self.by_warp = {}  # number: its copies, the eldest first
        self.committed = {}  # number: the groups of each thread, (lanes, blocks)
        self.words = {}  # id of a memory: for each word 0, or the number of a thread
        self.origins = []  # a reference and a warp, whose lanes have 32 numbers

    def begin(self, warp, reference, array, first, values, lanes):
        """A copy of some lanes begins."""
        group = self.groups(warp).copy()
        copy = CopyInFlight(reference, array, first, values, group, lanes)
        self.by_warp.setdefault(warp.number, []).append(copy)
        origin = reference, warp.number
        if origin not in self.origins:
            self.origins.append(origin)
        first = 1 + WARP_SIZE * self.origins.index(origin)
        self._mark(copy, lanes, first + np.nonzero(lanes)[0])

    def commit(self, warp, lanes):
        """A group of each of these lanes ends."""
        self.committed[warp.number] = self.groups(warp) + lanes

    def due(self, warp, pending, lanes):
        """The copies that arrive when these lanes wait for all groups but the last
        `pending`, each with its lanes.
        """
        due = self.groups(warp) - pending
        for copy in self.by_warp.get(warp.number, ()):
            here = copy.lanes & lanes & (copy.group < due)
            if here.any():
                yield copy, here

    def arrive(self, copy, lanes):
        """A copy has arrived in some lanes."""
        copy.lanes = copy.lanes & ~lanes
        self._mark(copy, lanes, 0)

    def forget(self, warp):
        """Forget copies that have arrived."""
        left = [copy for copy in self.by_warp.get(warp.number, ()) if copy.lanes.any()]
        self.by_warp[warp.number] = left
        if not any(self.by_warp.values()):
            self.words.clear()

    def groups(self, warp):
        """The groups that each thread has committed."""
        none = np.zeros((WARP_SIZE, warp.blocks), np.int64)
        return self.committed.get(warp.number, none)

    def origin(self, number):
        """The reference of a copy, and the thread that began it, from a number."""
        origin, lane = divmod(number - 1, WARP_SIZE)
        reference, warp = self.origins[origin]
        return reference, warp * WARP_SIZE + lane

    def _mark(self, copy, lanes, numbers):
        """Mark the words of some lanes' copies."""
        cells = copy.array.cells
        if id(cells.memory) not in self.words:
            count = -(-cells.memory.size // WORD_BYTES)
            self.words[id(cells.memory)] = np.zeros(count, np.int32)
        for k in range(len(copy.values)):
            words = _words(cells, copy.first + k, lanes)
            self.words[id(cells.memory)][words[lanes]] = numbers


def taking_part(warp, active):
    """The active lanes, (lanes, blocks)."""
    lanes = np.ones((WARP_SIZE, warp.blocks), bool)
    return lanes if active is None else lanes & active


def emit_early(warp, reference, array, offset, active, count=1):
    """Emit an access to cells, or to `count` neighbours each, to which copies are
    under way.
    """
    cells, copies = array.cells, warp.batch.copies
    marks = copies.words.get(id(cells.memory))
    if marks is None or not warp.listeners["early"]:
        return
    lanes = taking_part(warp, active)
    for k in range(count):
        words = np.where(lanes, _words(cells, offset + k, lanes), 0)
        found = np.where(lanes, marks[words], 0)
        addresses = np.broadcast_to(cells.bytes_at(offset + k), lanes.shape)
        for number in np.unique(found[found > 0]).tolist():
            copy, thread = copies.origin(number)
            what = reference, copy, thread, addresses, found == number, warp.who
            for listener in warp.listeners["early"]:
                listener(EarlyAccess(*what))


def _words(cells, offset, lanes):
    """Where cells lie in their memory, in words, (lanes, blocks)."""
    at = cells.start + cells.at(offset) * cells.step
    return np.broadcast_to(at // WORD_BYTES, lanes.shape)
