"""Listens to a launch with notes, and keeps what one block does, step by step.

A step is a line, executed by a group of lanes of one warp. The machine runs a warp of
many blocks at once; a column of its arrays is that of the watched block. What a store
leaves in memory is looked up at the next event, when it is there.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from thirty_two_lanes.core.events import Access
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.program import BARRIER, RETURN, WARP_SYNC
from thirty_two_lanes.film.arrays import BlockArrays, FilmArray, plain


class FilmComplete(Exception):
    """The film is complete: what else the launch does is not in it."""


@dataclass(eq=False)
class FilmAccess:
    """A request of a step: lanes, and the cell and the address of each."""

    array: FilmArray
    event: Access
    kind: str
    lanes: np.ndarray
    cells: np.ndarray
    addresses: np.ndarray
    counts: bool = True  # is it the request itself, or one of its neighbours?
    missing: tuple = ()  # cells that it reads, and nobody has written
    values: list | None = None  # that it leaves, by lane


@dataclass(eq=False)
class ExecutedLine:
    """A line, executed by lanes of one warp; `interval` counts the block's barriers."""

    warp: int
    function: object
    file: str
    line: int
    lanes: np.ndarray
    interval: int
    syncs: int  # of its warp, so far
    notes: set = field(default_factory=set)
    accesses: list = field(default_factory=list)
    values: dict = field(default_factory=dict)  # variable: its value by lane
    shuffles: list = field(default_factory=list)  # of each, the lane that a lane reads
    ends: str = ""  # "barrier", "leave", "wait" or "split"
    opens: bool = False  # does the block's barrier open after it?

    @property
    def here(self):
        """Where it is in the source."""
        return self.function, self.file, self.line


class FilmRecorder:
    """The steps of one block, at most so many of them."""

    def __init__(self, function, threads, block, most, variables):
        self.function, self.block, self.most = function, block, most
        self.threads, self.variables = threads, variables
        self.steps, self.arrays = [], BlockArrays()
        self.functions = {}  # by file name and line: the function whose line it is
        self.now = {}  # warp: its step, while that goes on
        self.here = None  # a warp, its lanes and the basic block that runs now
        self.column = None  # of the block among those that run together
        self.waiting = {}  # warp: a step whose lanes come to where lanes wait
        self.unseen = []  # accesses whose values are not there yet
        self.interval, self.syncs = 0, Counter()
        self.complete = self.truncated = False
        self.missed, self.stray = [], []  # numbers of steps, each with a site
        self.unset = []  # those in which a variable is read that has no value

    def listeners(self) -> dict:
        """The listener of each topic."""
        inside = {
            "note": self.note,
            "split": self.split,
            "stray_lanes": self.go_astray,
            "unset_read": self.read_unset,
            "shuffle": self.shuffle,
            **dict.fromkeys(("global", "shared", "const"), self.access),
        }
        listeners = {
            "launch": self.begin,
            "allocation": self.allocate,
            "step": self.begin_block,
            "sync": self.sync,
            "missed_barrier": self.miss,
            "end": self.end,
            **{topic: partial(self.go_on, one) for topic, one in inside.items()},
        }
        return {topic: (listener,) for topic, listener in listeners.items()}

    # what a launch tells

    def begin(self, launch):
        """The launch begins."""
        self.code = launch.code

    def allocate(self, allocation):
        """An array is there."""
        if allocation.space == "global":
            self.arrays.add(allocation, 0)
        elif self.column is not None:
            self.arrays.add(allocation, self.column)

    def begin_block(self, event):
        """A basic block begins."""
        self.settle()
        self.column = self._column_of(event.who)
        if self.column is None:
            return
        lanes = self._lanes(event.active, event.who)
        if not lanes.any():
            return
        warp, step = event.who.warp, self.now.get(event.who.warp)
        self._wait_or_go(warp, lanes, event.basic_block)
        last = self.steps[-1] if self.steps else None
        if step is not None and (step is not last or (step.lanes != lanes).any()):
            self.now[warp] = None
        self.here = warp, lanes, event.basic_block

    def go_on(self, listener, event):
        """Something happens in a basic block, which may be the watched block's."""
        self.look()
        if self.here is not None:
            listener(event)

    def note(self, event):
        """A line begins, or a variable has a value."""
        note = event.note
        if note.variable is None:
            self._begin_line(note)
            return
        name = name_of(note, self.function)
        if name in self.variables:
            step = self._step(note.function, note.site)
            step.values[name] = self._watched(event.value, event.who).copy()

    def access(self, event):
        """A request of memory, before it is served."""
        lanes = self._lanes(event.active, event.who)
        addresses = self._watched(event.addresses, event.who).astype(np.int64)
        array = self.arrays.find(event, addresses[lanes]) if lanes.any() else None
        if array is None:
            return
        step = self._step(None, event.reference.site)
        for more in range(max(1, event.dtype.itemsize // array.dtype.itemsize)):
            self._keep(step, array, event, lanes, addresses, more)

    def split(self, event):
        """A branch sends lanes both ways."""
        sides = [self._lanes(it, event.who) for it in (event.then, event.otherwise)]
        if all(side.any() for side in sides):
            self._step(None, event.site).ends = "split"

    def sync(self, event):
        """Threads have met."""
        self.settle()
        if event.scope != "grid":
            column = self._column_of(event.who)
            if column is None:
                return
            if event.scope == "warp":
                self.syncs[event.who.warp] += 1
                return
            if event.blocks is not None and not event.blocks[0, column]:
                return
        self.interval += 1
        if not self.steps:
            return
        last = self.steps[-1]
        if last.ends != "barrier":  # the others have left
            at = (event.site.file, event.site.line) if event.site else last.here[1:]
            function = self.functions.get(at, last.function)
            nobody = np.zeros(WARP_SIZE, bool)
            self._add(ExecutedLine(last.warp, function, *at, nobody, last.interval, 0))
        self.steps[-1].opens = True

    def miss(self, event):
        """Threads were not at the barrier where the others of their block met."""
        self.settle()
        column = self.block - event.first_block
        inside = 0 <= column < event.threads.shape[1]
        if inside and event.threads[:, column].any() and self.steps:
            self.missed.append((len(self.steps) - 1, event.site))

    def go_astray(self, event):
        """A warp function read lanes that it should not have read."""
        if self._lanes(event.callers, event.who).any():
            self._step(None, event.site)
            self.stray.append((len(self.steps) - 1, event.site))

    def read_unset(self, event):
        """A variable was read that has no value."""
        if self._lanes(event.lanes, event.who).any():
            self._step(None, event.site)
            self.unset.append((len(self.steps) - 1, event.site, event.variable))

    def shuffle(self, event):
        """Lanes take values of other lanes."""
        lanes = self._watched(event.lanes, event.who).copy()
        self._step(None, event.site).shuffles.append(lanes)

    def end(self, who):
        """Blocks are done."""
        self.settle()
        if self._column_of(who) is not None:
            self.complete = True
            raise FilmComplete

    # what it makes of that

    def look(self):
        """Look what the last accesses have left in memory."""
        for access in self.unseen:
            cells = access.cells[access.lanes]
            found = plain(access.array.look(cells))
            access.values = found
            access.array.now |= dict(zip(cells.tolist(), found, strict=True))
        self.unseen.clear()

    def settle(self):
        """The basic block that ran has ended: how?"""
        self.look()
        if self.here is None:
            return
        (warp, _, pc), block = self.here, self.code[self.here[2]]
        if block.kind in (BARRIER, RETURN, WARP_SYNC):
            site = getattr(block.ending, "site", None) or block.site
            step = self.now.get(warp) or self._step(None, site)
            if block.kind == WARP_SYNC:
                self.waiting[warp] = step, pc
            else:
                step.ends = "barrier" if block.kind == BARRIER else "leave"
        self.here = None

    def _wait_or_go(self, warp, lanes, pc):
        """Do the lanes that came to where lanes wait for others go on at once?"""
        step, there = self.waiting.pop(warp, (None, None))
        if step is not None and (pc == there or (step.lanes != lanes).any()):
            step.ends = "wait"

    def _begin_line(self, note):
        """A line begins, unless it goes on in another basic block."""
        warp, lanes, _ = self.here
        self.functions.setdefault((note.site.file, note.site.line), note.function)
        step = self.now.get(warp)
        last = next((s for s in reversed(self.steps) if s.warp == warp), None)
        here = note.function, note.site.file, note.site.line
        if step is not None and not step.ends and here == step.here:
            if note not in step.notes:
                step.notes.add(note)
                return
        elif _goes_on(last, here, lanes):
            self.now[warp] = None  # what follows may be nothing
            last.notes.add(note)
            return
        self._open(*here).notes.add(note)

    def _step(self, function, site) -> ExecutedLine:
        """The step that goes on, or a new one of this line."""
        step = self.now.get(self.here[0])
        if step is None or step.ends in ("barrier", "wait"):
            here = site.file, site.line
            known = self.functions.get(here)
            step = self._open(function or known or self.function, *here)
        return step

    def _open(self, function, file, line) -> ExecutedLine:
        """A new step."""
        warp, lanes, _ = self.here
        met = self.interval, self.syncs[warp]
        step = ExecutedLine(warp, function, file, line, lanes, *met)
        self._add(step)
        self.now[warp] = step
        return step

    def _add(self, step):
        """Add a step, if there is room for it."""
        if len(self.steps) >= self.most:
            self.truncated = True
            raise FilmComplete
        self.steps.append(step)

    def _keep(self, step, array, event, lanes, addresses, more):
        """Keep an access to a cell of each lane, or to the one `more` cells on."""
        cells = array.cells_at(addresses + more * array.dtype.itemsize)
        lanes = lanes & (cells >= 0)
        if not lanes.any():
            return
        kind = event.reference.kind
        array.meet(cells[lanes])
        found = dict.fromkeys(cells[lanes].tolist())
        access = FilmAccess(array, event, kind, lanes, cells, addresses, not more)
        step.accesses.append(access)
        if kind != "store":
            access.missing = tuple(c for c in found if array.now[c] is None)
        if event.reference.order == "arrival":
            access.kind, access.counts = "copy", False
            self._begun_at(event.reference.site)
        if kind != "load" or self._changed(array, cells[lanes]):
            self.unseen.append(access)

    def _begun_at(self, site):
        """What looked like stores of a line began the copies that arrive now."""
        for access in (a for step in self.steps for a in step.accesses):
            if access.event.reference.site == site and access.kind == "store":
                access.kind, access.values = "copy", None

    def _changed(self, array, cells) -> bool:
        """Has another block stored to cells, since this one met them?"""
        if array.space == "shared":
            return False
        found = zip(cells.tolist(), plain(array.look(cells)), strict=True)
        return any(array.now[c] not in (None, v) and v == v for c, v in found)

    # the watched block's part of what many blocks do

    def _column_of(self, who):
        column = self.block - who.first_block
        return column if 0 <= column < who.blocks else None

    def _watched(self, values, who) -> np.ndarray:
        """The watched block's values by lane."""
        values = np.atleast_2d(np.asarray(values))
        column = self._column_of(who) if values.shape[1] > 1 else 0
        return np.broadcast_to(values[:, column], WARP_SIZE)

    def _lanes(self, active, who) -> np.ndarray:
        """The watched block's active lanes."""
        exist = np.arange(WARP_SIZE) < self.threads - who.warp * WARP_SIZE
        return exist if active is None else exist & self._watched(active, who)


def name_of(note, kernel) -> str:
    """A variable's name; that of a device function's is behind the function's."""
    inside = note.function is kernel
    return note.variable if inside else f"{note.function.__name__}.{note.variable}"


def _goes_on(last, here, lanes) -> bool:
    """Is this the rest of a line, behind the barrier at which its lanes waited?"""
    return (
        last is not None
        and last.ends == "barrier"
        and here == last.here
        and (last.lanes == lanes).all()
    )
