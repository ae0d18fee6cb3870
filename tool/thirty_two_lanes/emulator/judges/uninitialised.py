"""Reads of what was never written: shared and local cells, and new device arrays.

compute-sanitizer's initcheck (2025.3.1) sees global memory alone. A cell counts once in
each block (of local memory, in each thread). A host array counts as written, whatever
is in it, but not in `cuda.Out`. Not modelled: an atomic update writes its cell, so only
the first is reported; which lane's bytes are which in a local array that is filled in
part and then seen as elements of another size.
"""

import math
from bisect import bisect
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.advice.edit import Edit
from thirty_two_lanes.core.errors import coordinates, wrapped
from thirty_two_lanes.core.events import Warps
from thirty_two_lanes.core.regions import ArrayPlace, regions_in_words
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, counted, raised
from thirty_two_lanes.emulator.judges.judge import Kind, Registration
from thirty_two_lanes.emulator.judges.printing import Listed
from thirty_two_lanes.emulator.judges.races.clocks import active_rows, split

NONE = np.zeros(0, np.int64)
OWNER = (1 << 32) - 1  # of a cell's number, its block
WRITE_FIRST = {
    "shared": "store to each cell first, and wait at a barrier before this line",
    "local": "give each cell a value before this line",
    "global": "what `cuda.device_array` or `cuda.Out` gives holds garbage; begin with "
    "zeros, `cuda.to_device(np.zeros(...))`, or store to each element first",
}


class Uninitialised(NamedTuple):
    """A line that read cells before anyone wrote them."""

    site: Site
    array: str
    space: str
    count: int
    edit: Edit | None = None  # one that gives them a value, where the source shows it
    cells: str = ""  # those of the first block, in words
    short: str = ""  # that a block has fewer threads than the array has cells, in words

    @property
    def line(self) -> int:
        """The number of the line."""
        return self.site.line

    @property
    def finding(self) -> Finding:
        """What a report says of it."""
        cells = counted(self.count, "cell")
        what = f"reads {cells} of {self.space} `{self.array}` that nobody wrote"
        remedy = self._remedy
        topic = "shared memory" if self.space == "shared" else "memory hierarchy"
        return Finding(
            "wrong",
            self.site,
            topic,
            what,
            f"{raised(what)}: {remedy}.",
            self.count,
            remedy=raised(remedy),
        )

    def __repr__(self):
        cells = "cell" if self.count == 1 else "cells"
        return wrapped(
            f"line {self.line} reads {self.count:,} {cells} of {self.space} "
            f"`{self.array}` that nobody wrote{f'; {self.cells}' * bool(self.cells)}"
            f"\n    {self.site.text}"
        )

    @property
    def _remedy(self):
        remedy = WRITE_FIRST.get(self.space, "write it first")
        if self.cells:
            remedy += f". {raised(self.cells)}"
        if self.short:
            remedy += (
                f". {self.short}: let the threads at the rim load these cells as well, "
                "or all threads go on in a loop"
            )
        return remedy


class UninitialisedReads(Listed):
    """All lines that read what nobody wrote, by array."""

    none = "no uninitialised read"


class Unwritten:
    """Marks of shared or local memory that nobody wrote: `unit` bytes together, for
    each owner, (cells, owners). Owners are the blocks of a batch; or where blocks are
    few each block, of local memory each of its warps, as `owners` numbers them.
    """

    def __init__(self, owners=0):
        self.unit = 0
        self.marks = np.ones((0, owners), bool)
        self.owners, self.count = {}, owners
        self.complete = set()  # caches of recurring accesses to cells all written

    def forget(self, first_block, last_block):
        """Forget blocks that are done."""
        gone = [key for key in self.owners if first_block <= key[0] < last_block]
        for key in gone:
            self.marks[:, self.owners.pop(key)] = True
        if not self.owners:
            self.marks, self.count = np.ones((0, 0), bool), 0

    def is_done(self, access) -> bool:
        """Does a recurring access need no closer look? A store is noted."""
        if id(access.cache) in self.complete:
            return True
        size = access.dtype.itemsize
        self._follow(size)
        (address,) = active_rows(access._replace(blocks=1))
        (cells,) = split(address, size, self.unit)
        self._grow_to(cells.max(initial=0) + 1, self.count)
        if access.reference.kind == "store":
            self.marks[cells] = False
        elif self.marks[cells].any():
            return False
        self.complete.add(id(access.cache))
        return True

    def has_none_near(self, access) -> bool:
        """Is all written between the lowest and the highest cell that lanes name?"""
        addresses, size = access.addresses, access.dtype.itemsize
        self._follow(size)
        low, high = addresses.min() // self.unit, (addresses.max() + size) // self.unit
        inside = 0 <= low and high <= len(self.marks)  # inactive lanes may name any
        return inside and not self.marks[low:high].any()

    def early_reads(self, accesses):
        """For each access the addresses that it reads too early, and their columns."""
        self._follow(*(access.dtype.itemsize for access in accesses))
        rows = [self._rows_of(access) for access in accesses]
        cells = max(int(cell.max(initial=0)) for cell, *_ in rows) + 1
        self._grow_to(cells, self.count)
        width = self.marks.shape[1]
        events = [
            (access, cell * width + owner, *more)
            for access, (cell, owner, *more) in zip(accesses, rows, strict=True)
        ]
        return too_early(events, self.marks.reshape(-1))

    def _rows_of(self, access):
        """Cell, owner, time, address and column of the access, of each active lane."""
        time, column = _times_and_columns(access)
        owner = column if isinstance(access.who, Warps) else self._owners_of(access)
        address, owner, time, column = active_rows(access, owner, time, column)
        size = access.dtype.itemsize
        return split(address, size, self.unit, owner, time, address, column)

    def _owners_of(self, access):
        """The owner of each column."""
        who = access.who
        keys = who.block << 32 | (who.warp if access.space == "local" else 0)
        known, which = np.unique(keys, return_inverse=True)
        owners = [divmod(key, 1 << 32) for key in known.tolist()]
        for owner in owners:
            if owner not in self.owners:
                self.owners[owner], self.count = self.count, self.count + 1
        return np.array([self.owners[owner] for owner in owners])[which.reshape(1, -1)]

    def _follow(self, *sizes):
        """Follow elements of these sizes in bytes, too."""
        unit = math.gcd(self.unit, *sizes)
        if self.unit and unit < self.unit:
            self.marks = np.repeat(self.marks, self.unit // unit, axis=0)
        self.unit = unit

    def _grow_to(self, cells, owners):
        """Make room, and some more for what may follow."""
        known = self.marks.shape
        if cells > known[0] or owners > known[1]:
            cells = max(known[0], cells if cells <= known[0] else 2 * cells)
            more = (0, cells - known[0]), (0, owners - known[1])
            self.marks = np.pad(self.marks, more, constant_values=True)


def too_early(events, unwritten) -> list:
    """For each access the addresses and columns of its reads of cells that nothing
    wrote before; the marks `unwritten` are then brought up to date.

    `events` are accesses, each with columns of cells, time, address and column.
    """
    reads, writes = [], []
    for access, cells, *rows in events:
        if access.reference.kind != "store" and not access.reference.only_stores:
            missing = unwritten[cells]
            if missing.any():
                reads.append((access, *(row[missing] for row in (cells, *rows))))
        if access.reference.kind != "load":
            writes.append((cells, rows[0]))
    wanted = np.unique(np.concatenate([NONE, *(read[1] for read in reads)]))
    first = np.full(len(wanted), np.iinfo(np.int64).max)  # when each is written
    for cells, time in writes if reads else ():
        at = np.minimum(np.searchsorted(wanted, cells), len(wanted) - 1)
        known = wanted[at] == cells
        np.minimum.at(first, at[known], time[known])
    for cells, _ in writes:
        unwritten[cells] = False
    found = []
    for access, cells, time, address, column in reads:
        early = first[np.searchsorted(wanted, cells)] >= time
        if early.any():
            found.append((access, address[early], column[early]))
    return found


class Initialisation:
    """Follows what is written, and finds reads of what is not."""

    def __init__(self):
        self.few = {"shared": Unwritten(), "local": Unwritten()}  # where blocks are few
        self.batches = {}  # by first block, and by warp for local memory: Unwritten
        self.starts, self.arrays = [], {}  # device arrays: marks of unwritten bytes
        self.found = {}  # by line, array and space: the cells, as numbers
        self.start, self.places = None, {}  # where arrays are, by name and space

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {
            "launch": self.begin,
            "allocation": self.allocation,
            "global": lambda access: self.in_global([access]),
            "shared": self.in_block,
            "local": self.in_block,
            "gathered": self.gathered,
            "end": self.end,
        }

    def begin(self, start):
        """Note the shape of the launch."""
        self.start = start

    def allocation(self, allocation):
        """Note a device array that is unwritten, at least in part; and where it is."""
        key = allocation.name, allocation.space
        if key not in self.places:
            self.places[key] = ArrayPlace.of(allocation)
        start = allocation.start
        if allocation.unwritten is not None and start not in self.arrays:
            self.starts.insert(bisect(self.starts, start), start)
            self.arrays[start] = allocation.unwritten

    def end(self, who):
        """Forget the memory of blocks that are done."""
        for key in [key for key in self.batches if key[0] == who.first_block]:
            del self.batches[key]
        for unwritten in self.few.values():
            unwritten.forget(who.first_block, who.first_block + who.blocks)

    def gathered(self, accesses):
        """Follow many accesses of few blocks."""
        for space, unwritten in self.few.items():
            inside = [access for access in accesses if access.space == space]
            if inside:
                self._add(unwritten.early_reads(inside))
        self.in_global([access for access in accesses if access.space == "global"])

    def in_block(self, access):
        """Follow an access to the memory of many blocks, or of their threads."""
        who = access.who
        key = who.first_block, who.warp if access.space == "local" else -1
        unwritten = self.batches.get(key)
        if unwritten is None:
            unwritten = self.batches[key] = Unwritten(access.blocks)
        known = unwritten.is_done if access.recurs else unwritten.has_none_near
        if not known(access):
            self._add(unwritten.early_reads([access]))

    def in_global(self, accesses):
        """Follow accesses to global memory, where some of it is not written."""
        by_array = {}
        for access in accesses if self.starts else ():
            address, time, column = active_rows(access, *_times_and_columns(access))
            at = bisect(self.starts, address[0]) - 1 if len(address) else -1
            start = self.starts[at]
            places, size = address - start, access.dtype.itemsize
            if at < 0 or places[0] >= len(self.arrays[start]):
                continue
            if self.arrays[start][places.min() : places.max() + size].any():
                rows = split(places, size, 1, time, address, column)
                by_array.setdefault(start, []).append((access, *rows))
        for start, events in by_array.items():
            self._add(too_early(events, self.arrays[start]))

    def _add(self, found):
        """Remember cells that were read, one number for each cell and its owner."""
        for access, addresses, columns in found:
            site, array = access.reference.site, access.reference.array
            numbers = addresses.astype(np.int64)
            if access.space != "global":
                warp = access.who.warp if access.space == "local" else 0
                warp = np.broadcast_to(warp, access.blocks)[columns]
                numbers = (numbers << 5 | warp) << 32 | access.who.block[columns]
            key = site, array, access.space
            self.found[key] = np.union1d(self.found.get(key, NONE), numbers)

    def table(self) -> UninitialisedReads:
        """What was read before it was written, line by line."""
        found = [
            Uninitialised(*key, len(it), **self._in_words(*key[1:], it))
            for key, it in self.found.items()
        ]
        found.sort(key=lambda u: (u.site.file, u.line, u.array))
        return UninitialisedReads(found)

    def _in_words(self, array, space, numbers) -> dict:
        """Which cells of the first block these are, and whether threads are too few."""
        place, where, short = self.places.get((array, space)), "", ""
        if place is None:
            return {}
        if space == "shared":
            block = int((numbers & OWNER).min())
            numbers = numbers[numbers & OWNER == block] >> 37
            where = f"in block {coordinates(block, self.start.grid_dim)} "
            threads = int(np.prod(self.start.block_dim))
            if 0 < len(numbers) <= place.size - threads:
                short = (
                    f"The block has {counted(threads, 'thread')} and `{array}` "
                    f"{place.size:,} cells"
                )
        mask = place.marked(numbers)
        if mask is None:
            return {}
        is_one = np.count_nonzero(mask) == 1
        cells = f"{where}{'this is' if is_one else 'these are'} "
        return {"cells": cells + regions_in_words(array, mask), "short": short}


def _times_and_columns(access):
    """When each of the requests was made, and its number, (1, requests) each."""
    columns = np.arange(access.blocks)[None, :]
    return np.broadcast_to(access.who.order, columns.shape), columns


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
