"""Reads of what was never written: shared and local cells, and new device arrays.

compute-sanitizer's initcheck (2025.3.1) sees global memory alone. A cell counts once in
each block (of local memory, in each thread). A host array counts as written, whatever
is in it, but not in `cuda.Out`. Not modelled: an atomic update writes its cell, so only
the first is reported; which lane's bytes are which in a local array that is filled in
part and then seen as elements of another size.
"""

from bisect import bisect
from math import gcd
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, counted, raised
from thirty_two_lanes.emulator.judges.first_writes import Owned, Reads, too_early
from thirty_two_lanes.emulator.judges.judge import Kind, Registration
from thirty_two_lanes.emulator.judges.races.clocks import active_rows
from thirty_two_lanes.emulator.judges.requests import requests_of

FIRST_CELLS = 1 << 12  # of a block's memory, to begin with


WRITE_FIRST = {
    "shared": "store to each cell first, and wait at a barrier before this line",
    "local": "give each cell a value before this line",
    "global": "`cuda.device_array` holds whatever was there before: store to each "
    "element first",
}


class Uninitialised(NamedTuple):
    """A line that read cells before anyone wrote them."""

    site: Site
    array: str
    space: str
    count: int

    @property
    def line(self) -> int:
        """The number of the line."""
        return self.site.line

    @property
    def finding(self) -> Finding:
        """What a report says of it."""
        cells = counted(self.count, "cell")
        what = f"reads {cells} of {self.space} `{self.array}` that nobody wrote"
        advice = f"{raised(what)}: {WRITE_FIRST.get(self.space, 'write it first')}."
        topic = "shared memory" if self.space == "shared" else "memory hierarchy"
        return Finding("wrong", self.site, topic, what, advice, self.count)

    def __repr__(self):
        cells = "cell" if self.count == 1 else "cells"
        return wrapped(
            f"line {self.line} reads {self.count:,} {cells} of {self.space} "
            f"`{self.array}` that nobody wrote\n    {self.site.text}"
        )


class Written:
    """Which bytes of the blocks of a batch are written, `unit` of them together."""

    def __init__(self, blocks):
        self.unit, self.blocks = 0, blocks
        self.everywhere = np.zeros(FIRST_CELLS, bool)  # in all blocks
        self.somewhere = None  # in each block, where not in all: (cells, blocks)
        self.complete = set()  # caches of recurring accesses to cells all written

    def follow(self, size):
        """Follow elements of this size in bytes, too."""
        unit = gcd(self.unit, size)
        if self.unit and unit < self.unit:
            times = self.unit // unit
            self.everywhere = np.repeat(self.everywhere, times)
            if self.somewhere is not None:
                self.somewhere = np.repeat(self.somewhere, times, axis=0)
        self.unit = unit

    def grow_to(self, last):
        """Make room up to a cell."""
        while last >= len(self.everywhere):
            more = np.zeros_like(self.everywhere)
            self.everywhere = np.concatenate([self.everywhere, more])

    def in_blocks(self):
        """Which cells are written in which block, where it is not in all."""
        known, count = self.somewhere, len(self.everywhere)
        if known is None or len(known) < count:
            self.somewhere = np.zeros((count, self.blocks), bool)
            if known is not None:
                self.somewhere[: len(known)] = known
        return self.somewhere

    def unwritten(self, cells, parts, block):
        """Is any part of each element unwritten? `cells` are the first parts."""
        missing, marks = False, self.in_blocks()
        for part in range(parts):
            seen = self.everywhere[cells + part] | marks[cells + part, block]
            missing = missing | ~seen
        return missing


def _of_active(access):
    """The addresses of a pattern's active lanes."""
    addresses = np.broadcast_to(access.addresses, (WARP_SIZE, 1))[:, 0]
    if access.active is not None:
        addresses = addresses[np.broadcast_to(access.active[:, 0], WARP_SIZE)]
    return addresses


class Initialisation:
    """Follows what is written, and finds reads of what is not."""

    def __init__(self):
        self.owned = {"shared": Owned(), "local": Owned()}  # where blocks are few
        self.blocks = {}  # by batch, and by warp for local memory: Written
        self.starts, self.allocations = [], {}
        self.found = {}  # by line, array, space and warp: the cells, as numbers

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {
            "allocation": self.allocation,
            "global": self.in_global,
            "shared": self.in_block,
            "local": self.in_block,
            "gathered": self.gathered,
            "end": self.end,
        }

    def allocation(self, allocation):
        """Note a device array that is unwritten, at least in part."""
        if (
            allocation.unwritten is not None
            and allocation.start not in self.allocations
        ):
            self.starts.insert(bisect(self.starts, allocation.start), allocation.start)
            self.allocations[allocation.start] = allocation.unwritten

    def end(self, who):
        """Forget the memory of blocks that are done."""
        for key in [key for key in self.blocks if key[0] == who.first_block]:
            del self.blocks[key]
        for owned in self.owned.values():
            owned.forget(who.first_block, who.first_block + who.blocks)

    # few blocks, many requests

    def gathered(self, accesses):
        """Follow many accesses of few blocks."""
        for space, owned in self.owned.items():
            inside = [access for access in accesses if access.space == space]
            for access, addresses, column in (
                owned.unwritten_reads(inside) if inside else ()
            ):
                block, warp = access.who.block[column], access.who.warp[column]
                numbers = addresses << 32 | block
                if space == "shared":
                    self._add(access, -1, numbers)
                    continue
                for one in np.unique(warp).tolist():
                    self._add(access, one, numbers[warp == one])
        if self.starts:
            self._gathered_in_global([a for a in accesses if a.space == "global"])

    def _gathered_in_global(self, accesses):
        by_array = {}
        for access in accesses:
            place = bisect(self.starts, access.first_address) - 1
            start = self.starts[place]
            inside = 0 <= access.first_address - start < len(self.allocations[start])
            if place >= 0 and inside and self.allocations[start].any():
                by_array.setdefault(start, []).append(access)
        for start, some in by_array.items():
            unwritten, reads, places, times = self.allocations[start], [], [], []
            for access in some:
                order = 2 * access.who.order[None, :]
                address, time = active_rows(access, order)
                place, kind = address - start, access.reference.kind
                if kind != "store":
                    missing = unwritten[place]
                    read = (it[missing] for it in (place, time, address, address))
                    reads.append((access, Reads(*read)))
                for byte in range(access.dtype.itemsize if kind != "load" else 0):
                    places.append(place + byte)
                    times.append(time + 1)
            for access, addresses, _ in too_early(reads, places, times):
                self._add(access, -1, addresses)
            for place in places:
                unwritten[place] = False

    # shared and local memory

    def in_block(self, access):
        """Follow an access to the memory of blocks, or of their threads."""
        who = access.who
        key = who.first_block, who.warp if access.space == "local" else -1
        written = self.blocks.get(key)
        if written is None:
            written = self.blocks[key] = Written(access.blocks)
        if not access.recurs:
            return self._by_block(access, written)
        if id(access.cache) not in written.complete:
            self._same_in_all(access, written)

    def _same_in_all(self, access, written):
        """Follow an access to the same cells in every block."""
        kind, size = access.reference.kind, access.dtype.itemsize
        written.follow(size)
        unit, addresses, every = access.cache.get(Initialisation, (0, None, None))
        if unit != written.unit:
            unit, addresses = written.unit, _of_active(access)
            every = (addresses[:, None] // unit + np.arange(size // unit)).ravel()
            access.cache[Initialisation] = unit, addresses, every
        written.grow_to(int(every.max(initial=0)))
        if kind != "store" and not written.everywhere[every].all():
            block, cells = np.arange(access.blocks), addresses[:, None] // unit
            row, block = np.nonzero(written.unwritten(cells, size // unit, block))
            self._add_cells(access, addresses[row], block)
            if kind == "load":
                return
        if kind != "load":
            written.everywhere[every] = True
        written.complete.add(id(access.cache))

    def _by_block(self, access, written):
        """Follow an access to cells that differ from block to block."""
        shape, size = (WARP_SIZE, access.blocks), access.dtype.itemsize
        written.follow(size)
        unit, parts = written.unit, size // written.unit
        addresses = np.broadcast_to(access.addresses, shape)
        low, high = int(addresses.min()) // unit, int(addresses.max()) // unit + parts
        written.grow_to(high)
        if written.everywhere[low:high].all():
            return
        active = np.broadcast_to(
            True if access.active is None else access.active, shape
        )
        cells, block = addresses // unit, np.arange(access.blocks)
        if access.reference.kind != "store":
            missing = active & written.unwritten(cells, parts, block)
            lane, place = np.nonzero(missing)
            self._add_cells(access, addresses[lane, place], place)
        if access.reference.kind != "load":
            lane, place = np.nonzero(active)
            marks = written.in_blocks()
            for part in range(parts):
                marks[cells[lane, place] + part, place] = True

    def _add_cells(self, access, addresses, blocks):
        """Remember cells that were read, one number for each cell and block."""
        if len(addresses):
            who = access.who
            warp = who.warp if access.space == "local" else -1
            numbers = addresses.astype(np.int64) << 32 | who.first_block + blocks
            self._add(access, warp, numbers)

    def _add(self, access, warp, numbers):
        reference = access.reference
        key = reference.site, reference.array, access.space, warp
        known = self.found.get(key, np.zeros(0, np.int64))
        self.found[key] = np.unique(np.concatenate([known, numbers]))

    # global memory

    def in_global(self, access):
        """Follow an access to global memory, where some of it is not written."""
        if not self.starts:
            return
        groups, rest = requests_of(access)
        parts = [(g.firsts + g.lanes[:, None]).ravel() for g in groups]
        if rest is not None:
            parts.append(rest.addresses[rest.active])
        for addresses in parts:
            if len(addresses):
                self._in_allocation(access, addresses)

    def _in_allocation(self, access, addresses):
        place = bisect(self.starts, int(addresses[0])) - 1
        start = self.starts[place]
        unwritten = self.allocations[start]
        places = addresses - start
        if place < 0 or not 0 <= places[0] < len(unwritten):
            return
        kind, size = access.reference.kind, access.dtype.itemsize
        if not unwritten[places.min() : places.max() + size].any():
            return
        if kind != "store":
            missing = addresses[unwritten[places]]
            if len(missing):
                self._add(access, -1, missing)
        if kind != "load":
            for byte in range(size):
                unwritten[places + byte] = False

    def table(self) -> tuple[Uninitialised, ...]:
        """What was read before it was written, line by line."""
        rows = {}
        for (*key, _), numbers in self.found.items():
            rows[tuple(key)] = rows.get(tuple(key), 0) + len(numbers)
        found = [Uninitialised(*key, count) for key, count in rows.items()]
        return tuple(sorted(found, key=lambda u: (u.site.file, u.line, u.array)))


JUDGE = Registration(
    "uninitialised",
    Initialisation,
    findings=lambda run: (it.finding for it in run.uninitialised),
    kinds=(
        Kind(
            "uninitialised",
            20,
            ("uninitialised read", "uninitialised reads"),
            fault=True,
        ),
    ),
)
