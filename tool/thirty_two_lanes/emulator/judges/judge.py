"""What judges share: what each tells of itself, and how those of single requests
listen, add up by reference, and give a table.

A judge's own file has its Registration, which is all that others need to know of it; a
Run, its report, its dictionary, its assertions and the kinds of a command line are made
of the list of them, `JUDGES` in `judges/__init__.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.errors import NoRowError, coordinates, short_traceback
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.judges.gatherer import Gatherer
from thirty_two_lanes.emulator.judges.printing import as_table, in_words


def listeners_of(judges) -> dict:
    """The listeners of each topic, with a gatherer between machine and judges."""
    return Gatherer(judges).listeners()


class Kind(NamedTuple):
    """A kind of findings that a command line names; `rank` is its place among all.

    One that is a fault fails a program; `nouns` are for one finding and for several.
    Of what its judge found, `has` says whether it is of this kind; None: all is.
    """

    name: str
    rank: int
    nouns: tuple[str, str] | None = None
    fault: bool = False
    has: Callable | None = None


class Cost(NamedTuple):
    """Two columns of a source page: how many requests a line makes, and what each takes
    beside the ideal. `if_beyond`: only where some line is beyond its ideal.
    """

    requests: str
    taken: str
    ideal: str
    if_beyond: bool = False


class JudgeOfThreads:
    """Listens to one topic, for threads that it names by their places in the launch."""

    topic = ""

    def __init__(self):
        self.start, self.found = None, {}

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {"launch": self._start, self.topic: self._add}

    def _start(self, start):
        self.start = start

    def _add(self, event):
        raise NotImplementedError

    def places(self, thread, block) -> tuple[str, str]:
        """Where a thread is in its block, and the block in the grid."""
        sizes = self.start.block_dim, self.start.grid_dim
        return coordinates(thread, sizes[0]), coordinates(block, sizes[1])


@dataclass(frozen=True)
class Registration:
    """A judge by the name of its field of a Run.

    `make` gets the judges that it `needs`, and `findings` a Run. `record` are the names
    of what a dictionary says of one thing that was found; all that it has if empty.
    """

    name: str
    make: Callable
    needs: tuple[str, ...] = ()
    findings: Callable = lambda run: ()
    kinds: tuple[Kind, ...] = ()
    record: tuple[str, ...] = ()
    cost: Cost | None = None

    def of_kinds(self, table, kinds):
        """Its table as if it had listened for some kinds of findings alone."""
        wanted = [kind.has for kind in self.kinds if kind.name in kinds]
        if not self.kinds or None in wanted:
            return table
        if not isinstance(table, tuple):
            return self.make().table()
        those = partial(filter, lambda it: any(has(it) for has in wanted))
        made = type(table)(those(table))
        if hasattr(table, "minor"):
            made.minor = type(table)(those(table.minor))
        return made


class Counts(SimpleNamespace):
    """One line's counts, and `.kind`: load, store or atomic; or their sums, and
    `.by_line`.
    """

    def __repr__(self):
        rows = getattr(self, "by_line", None)
        return in_words(self) if rows is None else as_table(rows, self)


class ByLine(dict):
    """A table by Site. Asked by a line number it gives the sum of that line's rows."""

    @short_traceback
    def __missing__(self, key):
        line = getattr(key, "line", key)
        rows = [row for site, row in self.items() if site.line == line]
        if not rows:
            raise NoRowError(
                f"line {line} has no such access; lines that have one: "
                f"{', '.join(map(str, sorted({s.line for s in self})))}"
            )
        return summed(rows)

    def __contains__(self, key):
        return super().__contains__(key) or any(site.line == key for site in self)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __repr__(self):
        return as_table(self)


def summed(rows) -> Counts:
    """The sum of some rows; their kinds side by side."""
    words = [name for name in ("kind", "array") if hasattr(rows[0], name)]
    names = [name for name in vars(rows[0]) if name not in words]
    total = {name: sum(getattr(row, name) for row in rows) for name in names}
    texts = {w: ", ".join(dict.fromkeys(getattr(r, w) for r in rows)) for w in words}
    return type(rows[0])(**total, **texts)


class Judge:
    """Adds up counts of requests by reference; a subclass says how one request counts.

    `count(addresses, active, access)` gets (32, requests) and gives (columns,
    requests). It may depend on nothing else, so that a pattern which recurs is judged
    once; of an access it asks the space, the type, the kind and how it is served.
    """

    spaces = ()
    columns = ()

    def __init__(self):
        self.totals = {}
        self.recurring = []  # [blocks, counts of one, reference] of each pattern

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return dict.fromkeys(self.spaces, self.observe) | {"gathered": self.gathered}

    def gathered(self, accesses):
        """Add many accesses of few blocks; those that count alike together."""
        alike = {}
        for access in accesses:
            reference = access.reference
            if access.space in self.spaces and reference.is_request:
                rule = access.space, access.dtype, reference.kind, reference.served_as
                alike.setdefault(rule, []).append(access)
        for those in alike.values():
            ends = np.cumsum([access.blocks for access in those])
            masks = [_spread(_active(it), (WARP_SIZE, it.blocks)) for it in those]
            addresses = np.concatenate([it.addresses for it in those], axis=1)
            counts = self.count(addresses, np.concatenate(masks, axis=1), those[0])
            counts = counts * np.concatenate([access.times for access in those])
            parts = np.split(counts, ends[:-1], axis=1)
            for access, columns in zip(those, parts, strict=True):
                self.add(access.reference, columns.sum(axis=1))

    def observe(self, access):
        """Add one access of each block."""
        if not access.reference.is_request:
            return
        if not access.recurs:
            counts, each_block = self._judge(access)
            self.add(access.reference, counts * access.blocks if each_block else counts)
            return
        known = access.cache.get(type(self))
        if known is None:
            known = access.cache[type(self)] = [0, *self._one(access)]
            self.recurring.append(known)
        known[0] += access.blocks

    def add(self, reference, counts):
        """Add counts, one of each column, to a reference's."""
        total = self.totals.get(reference)
        if total is None:
            total = self.totals[reference] = np.zeros(len(self.columns), np.int64)
        total += counts

    def _one(self, access):
        """The counts of a pattern in one block, and their reference."""
        return self._judge(access)[0], access.reference

    def _judge(self, access):
        """The counts of an access, and whether they are those of each of its blocks."""
        active = access.active
        width = max(
            np.shape(access.addresses)[-1] if np.ndim(access.addresses) else 1,
            active.shape[1] if active is not None else 1,
        )
        shape = (WARP_SIZE, width)
        addresses = _spread(access.addresses, shape)
        taking_part = _spread(_active(access), shape)
        counts = self.count(addresses, taking_part, access)
        return counts.sum(axis=1), width == 1

    def _add_recurring(self):
        for blocks, counts, reference in self.recurring:
            self.add(reference, counts * blocks)
        self.recurring.clear()

    def table(self) -> Counts:
        """The sums, with `.by_line` and, for load, store and atomic, `.by_kind`."""
        self._add_recurring()
        rows = {}
        for reference, total in self.totals.items():
            site = replace(reference.site, kind=reference.kind, array=reference.array)
            rows[site] = rows.get(site, 0) + total
        by_line = ByLine()
        for site in sorted(rows, key=lambda s: (s.file, s.line, s.kind, s.array)):
            counts = dict(zip(self.columns, map(int, rows[site]), strict=True))
            by_line[site] = Counts(**counts, kind=site.kind, array=site.array)
        sums = {
            c: sum(getattr(row, c) for row in by_line.values()) for c in self.columns
        }
        kinds = sorted({row.kind for row in by_line.values()})
        by_kind = {
            k: summed([r for r in by_line.values() if r.kind == k]) for k in kinds
        }
        return Counts(**sums, by_line=by_line, by_kind=by_kind)


def _active(access):
    return True if access.active is None else access.active


def _spread(values, shape):
    """Values of a shape; NumPy looks for microseconds at those that have it."""
    return values if np.shape(values) == shape else np.broadcast_to(values, shape)
