"""Records each access to the cells that could be in a race, in a second run.

The rows are columns of equal length: cell, thread, place (a number for line, kind and
array), interval, epoch (barriers of the grid), warp_syncs (of its warp), acquired and
fences (see release_acquire.py), the soonest and the latest time (loop iterations since
the last barrier, then place in the program), bits of all turns (those iterations), the
least and the most value. Where they become many, those are merged that differ in the
last five alone.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.emulator.judges.gathering import WEIGHTS, as_bits, turn_bits
from thirty_two_lanes.emulator.judges.races.case import TURN, Places
from thirty_two_lanes.emulator.judges.races.clocks import LANES, active_rows, split
from thirty_two_lanes.emulator.judges.races.merged import COLUMNS, merged

BLOCKS = 1 << 32  # of a grid, at most: each has cells of its own in shared memory
MANY = 1 << 19  # rows that are worth merging


class Recorded(NamedTuple):
    """What is recorded of an access: numbers, or arrays that broadcast against (lanes,
    blocks).
    """

    thread: np.ndarray
    interval: object
    soonest: object
    latest: object
    turns: object
    least: object
    most: object


@dataclass(eq=False)
class RaceRecorder:
    """Listens to the second run; `rows` is what it recorded."""

    clocks: object
    happens_before: object
    shared_suspects: object
    global_suspects: object
    places: Places = field(default_factory=Places)
    parts: list = field(default_factory=list)
    stored: dict = field(default_factory=dict)  # place: the type of the values, or None

    def __post_init__(self):
        self.program_order = {}
        self.count = 0  # of rows that wait to be merged
        marked = sorted(self.shared_suspects.suspect_bytes)
        granularity = max(1, self.shared_suspects.granularity)
        self.is_suspect = np.zeros(
            (marked[-1] if marked else 0) // granularity + 2, bool
        )
        self.is_suspect[np.array(marked, np.int64) // granularity] = True
        self.represented_by, _ = self.shared_suspects.alike.represented()

    def listeners(self):
        return {
            "launch": self.start,
            "shared": self.access_shared,
            "global": self.access_global,
            "gathered": self.gathered,
            "values": None,
            "sync": self.synchronise,
            "fence": self.happens_before.fence,
        }

    def start(self, start):
        self.clocks.start(start)
        self.program_order = {id(r): n for n, r in enumerate(start.references)}

    def replay(self, start, seen):
        """Hear again what was gathered in the first run, and the syncs."""
        self.start(start)
        for event in seen:
            if isinstance(event, list):
                self.gathered(event)
            else:
                self.synchronise(event)

    def synchronise(self, sync):
        self.clocks.synchronise(sync)
        self.happens_before.synchronise(sync)

    def access_shared(self, access):
        """Record an access to shared memory, of the blocks that represent others."""
        self._update(access)
        who = access.who
        represented_by = self.represented_by[who.block]
        columns = np.flatnonzero(represented_by == who.block)
        if not len(columns):
            return
        value = self._value_of_all(access, who.block[columns], represented_by)
        chosen = access._replace(
            cells=_columns(access.cells, columns, access.blocks),
            cache={},
            recurs=False,
            active=_columns(access.active, columns, access.blocks),
            blocks=len(columns),
        )
        thread = self.clocks.thread(who)[:, columns]
        interval = _columns(self.clocks.interval(who), columns, access.blocks)
        self._shared(chosen, self._recorded(access, thread, interval, value))

    def access_global(self, access):
        """Record an access to global memory."""
        self._update(access)
        who = access.who
        more = self.clocks.thread(who), self.clocks.interval(who), access.value
        self._global(access, self._recorded(access, *more))

    def gathered(self, accesses):
        """Record many accesses of few blocks, each of which represents itself."""
        record = {"shared": self._shared, "global": self._global}
        for access in accesses:
            if access.space not in record:
                continue
            self._update(access)
            who = access.who
            more = self.clocks.thread(who), self.clocks.interval(who), None
            recorded = self._recorded(access, *more)._replace(
                soonest=self._time(access, who.iterations[None, :]),
                latest=self._time(access, who.last_iterations[None, :]),
                turns=who.turns[None, :],
            )
            if who.least is not None:
                recorded = recorded._replace(least=who.least, most=who.most)
            record[access.space](access, recorded)

    def _recorded(self, access, thread, interval, value) -> Recorded:
        if value is None:  # unknown, so take each thread's to be different
            value = thread if access.reference.race_kind == "store" else 0
        value = as_bits(np.atleast_2d(value)).view(np.int64)
        time = self._time(access, access.iterations)
        turns = turn_bits(access.iterations)
        return Recorded(thread, interval, time, time, turns, value, value)

    def _time(self, access, iterations):
        return iterations * TURN + self.program_order[id(access.reference)]

    def _value_of_all(self, access, blocks, represented_by):
        """What all the blocks store that each block represents; numbers for it, if they
        differ.
        """
        value = access.value
        if value is None or np.ndim(value) == 0 or value.shape[1] == 1:
            return value
        taken = 1 if access.active is None else access.active
        bits = as_bits(value) * np.asarray(taken, np.uint64)
        members = [np.flatnonzero(represented_by == block) for block in blocks]
        alike = ((bits[:, m] == bits[:, m[:1]]).all() for m in members)
        if all(alike):
            return np.stack([bits[:, m[0]] for m in members], 1)
        self.stored[self._place(access)] = None
        weights = WEIGHTS[0, 0] ** np.arange(access.blocks, dtype=np.uint64)
        return np.stack([(bits[:, m] * weights[m]).sum(axis=1) for m in members], 1)

    def _update(self, access):
        """Note what an access acquires and releases."""
        known = {
            "acquire": self.happens_before.acquire,
            "release": self.happens_before.release,
        }
        if access.reference.order in known:
            known[access.reference.order](access)
        elif access.reference.kind == "atomic":
            self.happens_before.atomic(access)

    def _shared(self, access, recorded):
        """Record the suspect cells of an access, each block's for itself."""
        cell, lane, block = _cells(access, self.shared_suspects.granularity)
        suspect = self.is_suspect[np.minimum(cell, len(self.is_suspect) - 1)]
        cell, *place = (row[suspect] for row in (cell, lane, block))
        owner = _at(recorded.thread, *place) // self.clocks.width
        self._keep(access, recorded, cell * BLOCKS + owner, *place)

    def _global(self, access, recorded):
        """Record the suspect cells of an access."""
        shadow = self.global_suspects.shadow_at(access.first_address)
        if shadow is None or not shadow.suspects.any():
            return
        cell, lane, block = _cells(access, shadow.granularity, shadow.start)
        suspect = shadow.suspects[cell]
        cell, *place = (row[suspect] for row in (cell, lane, block))
        self._keep(access, recorded, cell + shadow.start, *place)

    def _keep(self, access, recorded, cell, lane, block):
        count = len(cell)
        if not count:
            return
        recorded = Recorded(*(_at(part, lane, block) for part in recorded))
        thread = recorded.thread
        place = self._place(access)
        dtype = access.dtype if access.dtype.itemsize <= 8 else None
        if self.stored.setdefault(place, dtype) != dtype:
            self.stored[place] = None
        rows = {
            "cell": cell,
            "epoch": self.clocks.epoch,
            "place": place,
            "warp_syncs": _at(self.clocks.warp_syncs(access.who), lane, block),
            "acquired": self.happens_before.acquired_by(thread),
            "fences": self.happens_before.fences_of(thread),
            **recorded._asdict(),
        }
        columns = (rows[name] for name in COLUMNS)
        self.parts.append([c if np.ndim(c) else np.full(count, c) for c in columns])
        self.count += count
        if self.count > MANY:
            self.parts, self.count = [list(merged(self.rows).values())], 0

    def _place(self, access) -> int:
        """The number of what accesses which array, and where."""
        reference = access.reference
        return self.places.number(reference, reference.race_kind, access.space)

    @property
    def rows(self):
        """All rows, as a dictionary of columns."""
        if not self.parts:
            return {name: np.zeros(0, np.int64) for name in COLUMNS}
        columns = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return {
            name: column.astype(np.int64, copy=False)
            for name, column in zip(COLUMNS, columns, strict=True)
        }


def _cells(access, granularity, start=0):
    """Each cell that an active lane accesses, its lane and its block."""
    address, *place = active_rows(access, LANES, np.arange(access.blocks))
    return split(address - start, access.dtype.itemsize, granularity, *place)


def _columns(values, columns, blocks):
    """Some blocks of a value that is a number, or has one or all of the blocks."""
    if values is None or np.ndim(values) == 0:
        return values
    return np.broadcast_to(values, (values.shape[0], blocks))[:, columns]


def _at(values, lane, block):
    """A value that broadcasts against (lanes, blocks), at some of both."""
    if np.ndim(values) == 0:
        return values
    rows, columns = values.shape
    return values[lane if rows > 1 else 0, block if columns > 1 else 0]
