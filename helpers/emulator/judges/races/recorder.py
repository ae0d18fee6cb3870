"""Records each access to the cells that could be in a race, in a second run.

The rows are columns of equal length: cell, thread, place (a number for line, kind and
array), time (loop iterations since the last barrier, then place in the program),
interval, epoch (barriers of the grid), warp_syncs (of its warp), acquired and fences
(see release_acquire.py), value, weight (blocks that did the same).
"""

from dataclasses import dataclass, field

import numpy as np

from helpers.emulator.judges.races.clocks import active_rows, split

TURN = 1 << 20  # references of a program, at most
BLOCKS = 1 << 32  # of a grid, at most: each has cells of its own in shared memory

COLUMNS = (
    *("cell", "thread", "place", "time", "interval", "epoch"),
    *("warp_syncs", "acquired", "fences", "value", "weight"),
)


@dataclass(eq=False)
class Recorder:
    """Listens to the second run; `rows` is what it recorded."""

    clocks: object
    happens_before: object
    shared_suspects: object
    global_suspects: object
    places: list = field(default_factory=list)  # (site, kind, array, space)
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.place_numbers, self.program_order = {}, {}
        marked = sorted(self.shared_suspects.suspect_bytes)
        granularity = max(1, self.shared_suspects.granularity)
        self.is_suspect = np.zeros(
            (marked[-1] if marked else 0) // granularity + 2, bool
        )
        self.is_suspect[np.array(marked, np.int64) // granularity] = True
        same = self.shared_suspects.equivalent_blocks
        self.representatives = same.representatives() if marked else {}

    def listeners(self):
        return {
            "launch": self.start,
            "shared": self.access_shared,
            "global": self.access_global,
            "sync": self.synchronise,
            "fence": self.happens_before.fence,
        }

    def start(self, start):
        self.clocks.start(start)
        self.program_order = {id(r): n for n, r in enumerate(start.references)}

    def synchronise(self, sync):
        self.clocks.synchronise(sync)
        self.happens_before.synchronise(sync)

    def access_shared(self, access):
        """Record an access to shared memory, of the blocks that represent others."""
        self._update(access)
        who = access.who
        blocks = [b for b in self.representatives if who.first_block <= b < _end(who)]
        if not blocks:
            return
        columns = np.array(blocks) - who.first_block
        weight = np.array([[self.representatives[b] for b in blocks]])
        chosen = access._replace(
            cells=_columns(access.cells, columns, access.blocks),
            cache={},
            recurs=False,
            active=_columns(access.active, columns, access.blocks),
            value=self._value_of_all(access, blocks),
            blocks=len(blocks),
        )
        granularity = self.shared_suspects.granularity
        thread = self.clocks.thread(who)[:, columns]
        interval = _columns(self.clocks.interval(who), columns, access.blocks)
        cells, *rows = self._rows(chosen, granularity, 0, thread, interval, weight)
        suspect = self.is_suspect[np.minimum(cells, len(self.is_suspect) - 1)]
        cells = cells * BLOCKS + rows[0] // self.clocks.width
        self._keep(chosen, suspect, cells, *rows)

    def access_global(self, access):
        """Record an access to global memory."""
        self._update(access)
        shadow = self.global_suspects.shadow_at(access.first_address)
        if shadow is None or not shadow.suspects.any():
            return
        thread = self.clocks.thread(access.who)
        interval = self.clocks.interval(access.who)
        rows = self._rows(access, shadow.granularity, shadow.start, thread, interval, 1)
        cells, *rows = rows
        suspect = shadow.suspects[cells]
        self._keep(access, suspect, cells + shadow.start, *rows)

    def _value_of_all(self, access, blocks):
        """Numbers for what all the blocks that each block represents store."""
        value = access.value
        if value is None or np.ndim(value) == 0 or value.shape[1] == 1:
            return value
        bits = _as_bits(value)
        first = access.who.first_block
        same = self.shared_suspects.equivalent_blocks
        members = [same.members[block] - first for block in blocks]
        weights = same.WEIGHTS[0, 0] ** np.arange(access.blocks, dtype=np.uint64)
        return np.stack([(bits[:, m] * weights[m]).sum(axis=1) for m in members], 1)

    def _update(self, access):
        if access.reference.kind == "atomic":
            self.happens_before.atomic(access)

    def _rows(self, access, granularity, start, *columns):
        """Cell, thread, interval, weight and value of each active lane."""
        value = access.value
        if value is None:  # unknown, so take each thread's to be different
            value = columns[0] if access.reference.kind == "store" else 0
        address, *columns = active_rows(access, *columns, value)
        return split(address - start, access.dtype.itemsize, granularity, *columns)

    def _keep(self, access, suspect, cell, thread, interval, weight, value):
        count = int(suspect.sum())
        if not count:
            return
        thread = thread[suspect]
        time = access.iterations * TURN + self.program_order[id(access.reference)]
        columns = (
            *(cell[suspect], thread, self._place(access), time),
            *(_at(interval, suspect), self.clocks.epoch),
            self.clocks.warp_syncs(access.who),
            self.happens_before.acquired_by(thread),
            self.happens_before.fences_of(thread),
            *(_as_bits(_at(value, suspect)), _at(weight, suspect)),
        )
        self.parts.append([np.broadcast_to(c, count) for c in columns])

    def _place(self, access):
        reference = access.reference
        place = (reference.site, reference.kind, reference.array, access.space)
        if place not in self.place_numbers:
            self.place_numbers[place] = len(self.places)
            self.places.append(place)
        return self.place_numbers[place]

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


def _at(values, where):
    return values[where] if np.ndim(values) else values


def _as_bits(values):
    """Values as whole numbers, equal where the values are."""
    values = np.ascontiguousarray(values)
    if values.itemsize <= 8:
        return values.view(f"u{values.itemsize}").astype(np.uint64)
    words = values.view(np.uint64).reshape(*values.shape, -1)
    return words[..., 0] * np.uint64(31) + words[..., 1]
