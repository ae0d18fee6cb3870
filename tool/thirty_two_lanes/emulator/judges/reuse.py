"""Reuse: how often each element of an argument is loaded, and what moves for that.

`bytes_asked` and `bytes_moved` are those of run.coalescing, by argument.
`bytes_distinct` are the different bytes that loads ask for, the least that could move:
what misses in an infinite cache. `bytes_stored` is the same of stores and
atomic updates. Not modelled: caches, which make some loads of a byte free.
"""

from bisect import bisect
from functools import cached_property

import numpy as np

from thirty_two_lanes.core.errors import NoRowError, short_traceback, wrapped
from thirty_two_lanes.emulator.judges.coalescing import Coalescing, SectorCounts
from thirty_two_lanes.emulator.judges.judge import Registration
from thirty_two_lanes.emulator.judges.requests import (
    FEW,
    PENDING,
    all_places,
    lanes_of,
    requests_of,
)

BYTES = Coalescing.columns.index("bytes")
MOVED = Coalescing.columns.index("bytes_moved")


class Tally:
    """How often each element between two addresses was asked for, counted in bulk."""

    def __init__(self, allocation):
        self.unit = allocation.dtype.itemsize
        self.origin = (
            allocation.start + (allocation.first - allocation.start) % self.unit
        )
        self.size = -(-allocation.size // self.unit) + 1
        self.shapes = {}  # by field and shape of the lanes: a Shape

    def add(self, access):
        """Count an access."""
        groups, rest = requests_of(access)
        for group in groups:
            self._add(access, group.key, group.lanes, group.firsts, group.times)
        if rest is not None:
            addresses, times = rest.addresses, rest.times
            if np.ndim(times):
                times = np.broadcast_to(times, rest.active.shape)[rest.active]
            elif rest.active.all():
                return self._add_each(access, addresses.ravel("K"), times)
            addresses = addresses[rest.active]
            if len(addresses):
                self._add_each(access, addresses, times)

    def _add(self, access, key, lanes, firsts, times):
        size = access.dtype.itemsize
        field = (int(firsts[0]) - self.origin) % self.unit, size
        known = (field, key) in self.shapes or len(self.shapes) < FEW
        if not known or size < self.unit and self._varies(firsts, lanes):
            addresses = (firsts[:, None] + lanes).ravel()
            if np.ndim(times):
                times = np.repeat(times, len(lanes))
            return self._add_each(access, addresses, times)
        self._shape(field, key, lanes).add(self, firsts, times)

    def _varies(self, firsts, lanes):
        """Do lanes ask for several parts of elements?"""
        apart = ((firsts - firsts[0]) % self.unit).any()
        return apart or (lanes % self.unit).any()

    def _add_each(self, access, addresses, times):
        """Count each address for itself, those of each part of elements together."""
        one = np.zeros(1, np.int64)
        if self._are_whole_apart(addresses):
            place = int(addresses[0] - self.origin) % self.unit
            shape = self._shape((place, access.dtype.itemsize), one.tobytes(), one)
            return shape.add(self, addresses, times)
        inside = (addresses - self.origin) % self.unit
        for place in np.flatnonzero(np.bincount(inside)).tolist():
            here = inside == place
            shape = self._shape((place, access.dtype.itemsize), one.tobytes(), one)
            shape.add(self, addresses[here], times[here] if np.ndim(times) else times)

    def _are_whole_apart(self, addresses) -> bool:
        """Are they whole elements from each other, of a size that bits can tell?"""
        differing = np.bitwise_or.reduce(addresses - addresses[0])
        return not (self.unit & self.unit - 1 or differing & self.unit - 1)

    def _shape(self, field, key, lanes):
        if (field, key) not in self.shapes:
            self.shapes[field, key] = RequestShape(lanes // self.unit)
        return self.shapes[field, key]

    def place_of(self, addresses):
        """The elements at some addresses."""
        return (addresses - self.origin) // self.unit

    def counts(self) -> dict:
        """How often each element was asked for, by field: (its place, its bytes)."""
        fields = {}
        for (field, _), shape in self.shapes.items():
            shape.count(self)
            total = fields.setdefault(field, np.zeros(self.size, np.int64))
            total += shape.spread()
        return fields


class RequestShape:
    """Requests of one shape: where they begin, and the offsets of their lanes."""

    def __init__(self, lanes):
        self.lanes = lanes
        self.pending, self.waiting, self.starts = [], 0, None

    def add(self, tally, firsts, times):
        """Count requests, together with others."""
        self.pending.append((firsts, times))
        self.waiting += len(firsts)
        if self.waiting > PENDING:
            self.count(tally)

    def count(self, tally):
        """Count the requests that wait."""
        if self.starts is None:
            self.starts = np.zeros(tally.size, np.int64)
        self.starts += all_places(self.pending, tally.place_of, tally.size)
        self.pending, self.waiting = [], 0

    def spread(self):
        """How often each element was asked for, from where requests begin."""
        each, counts = np.unique(self.lanes, return_counts=True)
        width = len(each)
        if each[-1] == width - 1 and (counts == counts[0]).all():
            sums = np.cumsum(self.starts)
            sums[width:] -= sums[:-width].copy()
            return sums * counts[0]
        total = np.zeros_like(self.starts)
        for lane, times in zip(each.tolist(), counts.tolist(), strict=True):
            total[lane:] += times * self.starts[: len(total) - lane]
        return total


class Traffic:
    """An argument's traffic; what needs each element is counted when asked for."""

    def __init__(self, allocation):
        self.allocation, self.name = allocation, allocation.name
        self.sectors = SectorCounts()
        self.lanes_stored = self.lanes_updated = 0  # updates are among the stores
        self.loaded, self.stored = Tally(allocation), Tally(allocation)

    def add(self, access):
        """Add an access."""
        self.sectors.add(access)
        if access.reference.kind == "load":
            return self.loaded.add(access)
        self.stored.add(access)
        lanes = lanes_of(access)
        self.lanes_stored += lanes
        self.lanes_updated += lanes if access.reference.kind == "atomic" else 0

    @property
    def bytes_asked(self) -> int:
        """The bytes of all lanes that asked."""
        return int(self.sectors.counts()[BYTES])

    @property
    def bytes_moved(self) -> int:
        """The bytes of all sectors that they asked for."""
        return int(self.sectors.counts()[MOVED])

    @cached_property
    def loads(self) -> np.ndarray:
        """How often each element was loaded, in the argument's shape."""
        return self._by_element(self.loaded)

    @cached_property
    def stores(self) -> np.ndarray:
        """How often each element was stored to or updated, in the argument's shape."""
        return self._by_element(self.stored)

    def _by_element(self, tally):
        total = np.zeros(tally.size, np.int64)
        for (_, size), counts in tally.counts().items():
            for later in range(max(1, size // tally.unit)):  # `load4` loads four
                total[later:] += counts[: tally.size - later]
        first = (self.allocation.first - tally.origin) // tally.unit
        strides = [s // tally.unit * total.itemsize for s in self.allocation.strides]
        seen = np.lib.stride_tricks.as_strided(
            total[first:], self.allocation.shape, strides, writeable=False
        )
        return seen.copy()

    @cached_property
    def bytes_distinct(self) -> int:
        """The different bytes that were loaded."""
        return _distinct(self.loaded)

    @cached_property
    def bytes_stored(self) -> int:
        """The different bytes that were stored to or updated."""
        return _distinct(self.stored)

    @property
    def reuse(self) -> float:
        """How often an element was loaded on average, over those that were."""
        touched = np.count_nonzero(self.loads)
        return int(self.loads.sum()) / touched if touched else 0.0

    def __repr__(self):
        return wrapped(
            f"`{self.name}`: {self.bytes_asked:,} bytes requested, "
            f"{self.bytes_moved:,} moved; {self.bytes_distinct:,} distinct bytes "
            f"loaded, {self.bytes_stored:,} stored"
        )


def _distinct(tally) -> int:
    return sum(
        int(np.count_nonzero(counts)) * size
        for (_, size), counts in tally.counts().items()
    )


class ByArray(dict):
    """The traffic of each argument, by its name."""

    @short_traceback
    def __missing__(self, name):
        known = ", ".join(f"`{it}`" for it in self) or "none"
        raise NoRowError(f"the launch has no array `{name}`; there are {known}")

    def __getattr__(self, name):
        """A sum over the arguments, as of `bytes_moved`."""
        if name in ("bytes_asked", "bytes_moved", "bytes_distinct", "bytes_stored"):
            return sum(getattr(row, name) for row in self.values())
        raise AttributeError(name)

    def __repr__(self):
        return "\n".join(map(repr, self.values())) or "no array"


class Reuse:
    """Traffic of each argument in global memory, and the lines that store to it."""

    def __init__(self):
        self.starts, self.arguments = [], {}
        self.stores = {}  # by Traffic: the sites of its stores

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {"allocation": self.allocation, "global": self.observe}

    def allocation(self, allocation):
        """Note an argument, and where its memory is."""
        if allocation.space != "global":
            return
        if allocation.start not in self.arguments:
            self.starts.insert(bisect(self.starts, allocation.start), allocation.start)
        names = self.arguments.setdefault(allocation.start, {})
        names.setdefault(allocation.name, Traffic(allocation))

    def observe(self, access):
        """Add one access of each block."""
        if not access.reference.is_request:
            return
        groups, rest = requests_of(access)
        if groups:
            address = groups[0].firsts[0]
        elif rest is not None and rest.active.any():
            address = rest.addresses[rest.active][0]
        else:
            return
        start = self.starts[bisect(self.starts, address) - 1]
        names = self.arguments[start]
        traffic = names.get(access.reference.array) or next(iter(names.values()))
        traffic.add(access)
        if access.reference.kind == "store":
            self.stores.setdefault(traffic, set()).add(access.reference.site)

    def table(self) -> ByArray:
        """Each argument's Traffic by its name."""
        return ByArray(
            (name, traffic)
            for names in self.arguments.values()
            for name, traffic in names.items()
        )


JUDGE = Registration(
    "reuse",
    Reuse,
    record=("bytes_asked", "bytes_moved", "bytes_distinct", "bytes_stored", "reuse"),
)
