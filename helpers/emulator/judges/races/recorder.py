"""Writes down each access of the cells that could be in a race, in a second run.

The rows are columns of equal length: cell, thread, place (a number for line, kind and
array), time (turns of loops since the last barrier, then place in the program),
interval, epoch (barriers of the grid), meetings (of its warp), known and fences (see
chains.py), value, weight (blocks that did the same).
"""

from dataclasses import dataclass, field

import numpy as np

from helpers.emulator.judges.races.clocks import active_rows, split
from helpers.emulator.judges.races.shared_suspects import Alike

TURN = 1 << 20  # references of a program, at most
BLOCKS = 1 << 32  # of a grid, at most: each has cells of its own in shared memory

COLUMNS = (
    *("cell", "thread", "place", "time", "interval", "epoch"),
    *("meetings", "known", "fences", "value", "weight"),
)


@dataclass(eq=False)
class Witness:
    """Listens to the second run; `rows` is what it saw."""

    clocks: object
    chains: object
    suspects: object  # of shared memory
    shadows: object  # of global memory
    places: list = field(default_factory=list)  # (site, kind, array, space)
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.numbers, self.order = {}, {}
        marked = sorted(self.suspects.bytes)
        grain = max(1, self.suspects.grain)
        self.marked = np.zeros((marked[-1] if marked else 0) // grain + 2, bool)
        self.marked[np.array(marked, np.int64) // grain] = True
        self.standing = self.suspects.alike.representatives() if marked else {}

    def hears(self):
        return {
            "launch": self.start,
            "shared": self.shared,
            "global": self.everywhere,
            "sync": self.meet,
            "fence": self.chains.fence,
        }

    def start(self, start):
        self.clocks.start(start)
        self.order = {id(r): n for n, r in enumerate(start.references)}

    def meet(self, sync):
        self.clocks.meet(sync)
        self.chains.meet(sync)

    def shared(self, access):
        """An access to shared memory, of the blocks that stand for others."""
        self._update(access)
        who = access.who
        blocks = [b for b in self.standing if who.first_block <= b < _end(who)]
        if not blocks:
            return
        columns = np.array(blocks) - who.first_block
        weight = np.array([[self.standing[b] for b in blocks]])
        chosen = access._replace(
            cells=_columns(access.cells, columns, access.blocks),
            cache={},
            recurs=False,
            active=_columns(access.active, columns, access.blocks),
            value=self._value_of_all(access, blocks),
            blocks=len(blocks),
        )
        grain = self.suspects.grain
        thread = self.clocks.thread(who)[:, columns]
        interval = _columns(self.clocks.interval(who), columns, access.blocks)
        cells, *rows = self._rows(chosen, grain, 0, thread, interval, weight)
        here = self.marked[np.minimum(cells, len(self.marked) - 1)]
        cells = cells * BLOCKS + rows[0] // self.clocks.width
        self._keep(chosen, here, cells, *rows)

    def everywhere(self, access):
        """An access to global memory."""
        self._update(access)
        shadow = self.shadows.shadow_at(access.first_address)
        if shadow is None or not shadow.suspects.any():
            return
        thread = self.clocks.thread(access.who)
        interval = self.clocks.interval(access.who)
        rows = self._rows(access, shadow.grain, shadow.start, thread, interval, 1)
        cells, *rows = rows
        here = shadow.suspects[cells]
        self._keep(access, here, cells + shadow.start, *rows)

    def _value_of_all(self, access, blocks):
        """A number for what the blocks store that each of some blocks stands for."""
        value = access.value
        if value is None or np.ndim(value) == 0 or value.shape[1] == 1:
            return value
        bits = _as_bits(value)
        first = access.who.first_block
        members = [self.suspects.alike.members[block] - first for block in blocks]
        weights = Alike.WEIGHTS[0, 0] ** np.arange(access.blocks, dtype=np.uint64)
        return np.stack([(bits[:, m] * weights[m]).sum(axis=1) for m in members], 1)

    def _update(self, access):
        if access.reference.kind == "atomic":
            self.chains.atomic(access)

    def _rows(self, access, grain, start, *columns):
        """Cell, thread, interval, weight and value of each active lane."""
        value = access.value
        if value is None:  # not told, so each thread's may be another
            value = columns[0] if access.reference.kind == "store" else 0
        address, *columns = active_rows(access, *columns, value)
        return split(address - start, access.dtype.itemsize, grain, *columns)

    def _keep(self, access, here, cell, thread, interval, weight, value):
        count = int(here.sum())
        if not count:
            return
        thread = thread[here]
        time = access.iterations * TURN + self.order[id(access.reference)]
        columns = (
            *(cell[here], thread, self._place(access), time),
            *(_at(interval, here), self.clocks.epoch),
            self.clocks.meetings(access.who),
            *(self.chains.number_known(thread), self.chains.fences_of(thread)),
            *(_as_bits(_at(value, here)), _at(weight, here)),
        )
        self.parts.append([np.broadcast_to(c, count) for c in columns])

    def _place(self, access):
        reference = access.reference
        place = (reference.site, reference.kind, reference.array, access.space)
        if place not in self.numbers:
            self.numbers[place] = len(self.places)
            self.places.append(place)
        return self.numbers[place]

    @property
    def rows(self):
        """All rows, as a dictionary of columns."""
        if not self.parts:
            return {name: np.zeros(0, np.int64) for name in COLUMNS}
        columns = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return {n: c.astype(np.int64) for n, c in zip(COLUMNS, columns, strict=True)}


def _end(who):
    return who.first_block + who.blocks


def _columns(values, columns, blocks):
    """Some blocks of a value that is a number, or has one or all of the blocks."""
    if values is None or np.ndim(values) == 0:
        return values
    return np.broadcast_to(values, (values.shape[0], blocks))[:, columns]


def _at(values, here):
    return values[here] if np.ndim(values) else values


def _as_bits(values):
    """Values as numbers of which equal ones are equal."""
    values = np.ascontiguousarray(values)
    if values.itemsize <= 8:
        return values.view(f"u{values.itemsize}").astype(np.uint64)
    halves = values.view(np.uint64).reshape(*values.shape, -1)
    return halves[..., 0] * np.uint64(31) + halves[..., 1]
