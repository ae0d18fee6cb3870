"""Races with asynchronous copies: an access to cells before a copy to them has arrived,
by whichever thread; compute-sanitizer's racecheck reports the same for `cp.async`.

Accesses of other threads between the same barriers as the copy's beginning, or as its
arrival, are races like those with a store, and found as such.
"""

import numpy as np

from thirty_two_lanes.emulator.judges.races.case import (
    KINDS,
    SCOPES,
    HazardCase,
    Hazards,
    Places,
)

BLOCKS = 1 << 32  # of a grid, at most: each has cells of its own in shared memory


class EarlyAccesses:
    """Counts triples of a cell, the copying and the accessing thread, by lines."""

    def __init__(self):
        self.places = Places()
        self.seen = {}  # earlier and later place: rows of block, address, two threads

    def access(self, early):
        """Note an access to cells to which a copy is under way."""
        lane, block = np.nonzero(early.lanes)
        thread = early.who.warp * early.lanes.shape[0] + lane
        rows = np.stack(
            [
                early.who.first_block + block,
                np.asarray(early.addresses)[lane, block],
                np.full(len(lane), early.thread),
                thread,
            ]
        )
        ends = early.copy, early.reference
        numbers = tuple(self.places.number(it, it.kind, "shared") for it in ends)
        self.seen.setdefault(numbers, set()).update(map(tuple, rows.T.tolist()))

    def hazards(self, clocks, granularity):
        """What was found, line by line."""
        kinds = [kind for _, kind, _, _ in self.places]
        for (earlier, later), seen in self.seen.items():
            block, address, copier, thread = min(seen)
            kind = KINDS.index("RAW" if kinds[later] == "load" else "WAW")
            yield Hazards(
                HazardCase(earlier, later, kind, SCOPES.index("copy"), False),
                count=len(seen),
                exact=True,
                cell=address // max(1, granularity) * BLOCKS + block,
                threads=tuple(block * clocks.width + it for it in (copier, thread)),
            )
