"""Coalescing: how many 32-byte sectors each request to global memory touches.

The rule is in `core/sectors.py`. `active_lanes` is the instruction's
thread_inst_executed. Not modelled: caches, so a sector counts whether it hits or
misses.
"""

from functools import lru_cache

import numpy as np

from thirty_two_lanes.core.hardware import LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from thirty_two_lanes.core.sectors import accesses_of, lanes_of, request_sectors
from thirty_two_lanes.core.words import Finding, counted_figure, figure, level_of
from thirty_two_lanes.emulator.judges.judge import Cost, Judge, Kind, Registration
from thirty_two_lanes.emulator.judges.requests import PENDING, all_places, requests_of

COLUMNS = (
    "requests",
    "sectors",
    "ideal_sectors",
    "active_lanes",
    "bytes",
    "bytes_moved",
)


def sector_counts(rule, addresses, active, itemsize, parts):
    """The columns of requests whose sectors a rule counts."""
    sectors, ideal = rule(addresses, active, itemsize, parts)
    lanes = parts * lanes_of(active)
    return np.stack(
        [
            parts * (lanes > 0),
            sectors,
            ideal,
            lanes,
            lanes * itemsize,
            sectors * SECTOR_BYTES,
        ]
    )


@lru_cache(maxsize=4096)
def _by_alignment(lanes, itemsize, parts):
    """Counts of a request with these lane offsets, by its first byte in a sector."""
    lanes = np.frombuffer(lanes, np.int64)
    addresses = np.zeros((WARP_SIZE, SECTOR_BYTES), np.int64)
    addresses[: len(lanes)] = lanes[:, None] + np.arange(SECTOR_BYTES)
    active = np.zeros(addresses.shape, bool)
    active[: len(lanes)] = True
    return sector_counts(request_sectors, addresses, active, itemsize, parts).T.copy()


class SectorCounts:
    """The columns of requests, added up. Of those of one shape, only where they begin
    counts: that waits until there is much of it.
    """

    def __init__(self):
        self.total = np.zeros(len(COLUMNS), np.int64)
        self.by_shape, self.waiting = {}, 0

    def add(self, access):
        """Add the requests of an access."""
        size, parts = accesses_of(access.dtype)
        groups, rest = requests_of(access)
        for group in groups:
            shape = group.key, size, parts
            self.by_shape.setdefault(shape, []).append((group.firsts, group.times))
            self.waiting += len(group.firsts)
        if rest is not None:
            self.total += _of_rest(access, rest, size, parts)
        if self.waiting > PENDING:
            self.counts()

    def counts(self) -> np.ndarray:
        """The columns by now."""
        for shape, waiting in self.by_shape.items():
            begin = all_places(waiting, _in_sector, SECTOR_BYTES)
            self.total += begin @ _by_alignment(*shape)
        self.by_shape, self.waiting = {}, 0
        return self.total


def _in_sector(addresses):
    return addresses & SECTOR_BYTES - 1


def _of_rest(access, rest, size, parts):
    """The columns of requests of no common shape; found once for all judges."""
    found = access.cache.get("sectors")
    if found is None:
        counts = sector_counts(
            request_sectors, rest.addresses, rest.active, size, parts
        )
        found = counts @ np.broadcast_to(rest.times, counts.shape[1])
        access.cache["sectors"] = found
    return found


class Coalescing(Judge):
    """Requests to global memory and the sectors that they touch."""

    spaces = ("global",)
    columns = COLUMNS

    def __init__(self):
        super().__init__()
        self.by_reference = {}

    def listeners(self):
        """Its listener; single accesses are sorted by shape, and counted together."""
        return {"global": self.observe}

    def observe(self, access):
        """Add one access of each block."""
        reference = access.reference
        if reference.is_request:
            if reference not in self.by_reference:
                self.by_reference[reference] = SectorCounts()
            self.by_reference[reference].add(access)

    def table(self):
        """The sums, by line and by kind, too."""
        self.totals = {it: sums.counts() for it, sums in self.by_reference.items()}
        return super().table()


def scattered(site, row, limit=None, moved=None) -> Finding:
    """A line whose requests to global memory touch more sectors than the ideal; its
    source may show what to move: an index, and the element as it is then.
    """
    taken, ideal = row.sectors / row.requests, row.ideal_sectors / row.requests
    best = f"ideally {figure(ideal)}"
    if limit not in (None, row.ideal_sectors):
        best = f"at most {figure(limit / row.requests)} allowed"
    apart = taken >= 0.9 * row.active_lanes / row.requests > 1
    why = "its lanes use only a part of the sectors that they touch"
    remedy = "Let a warp access 32 numbers that lie side by side"
    if apart:
        why = "neighbouring lanes are a sector or more apart"
        remedy = "Let neighbouring threads access neighbouring elements"
        if moved:
            remedy += f", with `{moved[0]}` as the last index on all lines, "
            remedy += f"`{moved[1]}`"
    remedy += ", or use a tile in shared memory"
    level = level_of(row.sectors, row.ideal_sectors)
    return Finding(
        level,
        site,
        "coalescing",
        f"{row.kind} of {row.array}: {taken:.3g} sectors per request, "
        f"ideal {ideal:.3g}",
        f"Each {row.kind} of `{row.array}` takes {counted_figure(taken, 'sector')} "
        f"({best}), because {why}. {remedy}.",
        (row.sectors - row.ideal_sectors) * SECTOR_BYTES / LINE_BYTES,
        remedy=remedy if level == "costly" else "",
    )


def findings(run):
    """The lines that could ask for fewer sectors."""
    for site, row in run.coalescing.by_line.items():
        if row.sectors > row.ideal_sectors:
            yield scattered(site, row, moved=run.strides.moved.get(site))


JUDGE = Registration(
    "coalescing",
    Coalescing,
    findings=findings,
    kinds=(Kind("sectors", 80),),
    cost=Cost("global requests", "sectors", "ideal_sectors"),
)
