"""Counts hazards without a list of them: by how many accesses follow each one.

Within a cell and its time between barriers, the accesses of a place that follow one of
another place are a stretch of a sorted column. Those of a scope are the stretch within
the grid, the block or the warp, less that within the next smaller one.
"""

import numpy as np

from thirty_two_lanes.emulator.judges.races.case import (
    CONFLICTS,
    HazardCase,
    Hazards,
    only_value,
)
from thirty_two_lanes.emulator.judges.races.merged import apart, numbered


def counted(accesses) -> list:
    """The hazards of each scope, less those of the next."""
    interval = ("cell", "epoch", "block", "interval")
    found = []
    for scope, those, keys, more in (
        (2, accesses.over_intervals(), ("cell", "epoch"), "block"),
        (1, accesses, interval, "warp"),
        (0, accesses, (*interval, "warp"), "thread"),
    ):
        level = Level(those, scope, keys, more)
        for earlier, later, kind in level.conflicting_places():
            found += level.hazards(earlier, later, kind)
    return found


class Level:
    """Accesses in outer groups, within which all are unordered, and in inner ones,
    which belong to the next level.
    """

    def __init__(self, accesses, scope, keys, more):
        self.accesses, self.scope = accesses, scope
        outer = [getattr(accesses, key) for key in keys]
        self.outer = numbered(*outer)
        self.inner = numbered(*outer, getattr(accesses, more))
        self.sooner, self.later = numbered(
            accesses.soonest, accesses.thread, also=accesses.latest
        )
        self.span = int(max(self.sooner.max(), self.later.max())) + 1
        order = np.argsort(accesses.place, kind="stable")
        places, at = np.unique(accesses.place[order], return_index=True)
        self.at = dict(zip(places.tolist(), np.split(order, at[1:]), strict=True))
        self.following = {
            place: (
                Following(self, rows, self.outer),
                Following(self, rows, self.inner),
            )
            for place, rows in self.at.items()
        }

    def conflicting_places(self):
        """Pairs of places that conflict in some outer group, and the kind."""
        kinds = self.accesses.kind
        for earlier, a in self.at.items():
            for later, b in self.at.items():
                kind = int(CONFLICTS[kinds[a[0]], kinds[b[0]]])
                if kind and self.following[later][0].met[self.outer[a]].any():
                    yield earlier, later, kind

    def hazards(self, earlier, later, kind):
        """The hazards of two places, apart by whether all store the same value."""
        a, b = self.at[earlier], self.at[later]
        outer, inner = self.following[later]
        following = outer.count(a) - inner.count(a)
        same_value = self.accesses.same_value[a] & (kind == 3)
        for same in (False, True):
            here = np.flatnonzero((following > 0) & (same_value == same))
            if len(here):
                case = HazardCase(earlier, later, kind, self.scope, same)
                yield self._summed(case, a[here], b, following[here])

    def _summed(self, case, a, b, following):
        """The sum over cells; of the groups of a block, the largest is a cell's."""
        them = self.accesses
        owners = (them.warp, them.block, np.zeros_like(them.block))[self.scope]
        place, group = numbered(them.cell[a], owners[a]), numbered(self.outer[a])
        by_group = np.bincount(group, following * them.weight[a])
        place_of = np.zeros(len(by_group), np.int64)
        place_of[group] = place
        largest = np.zeros(int(place.max()) + 1)
        np.maximum.at(largest, place_of, by_group)
        exact = bool(np.bincount(place_of).max() == 1)
        one = a[np.lexsort((them.thread[a], them.cell[a]))[0]]
        other = self._example(one, b)
        threads = them.thread[one], them.thread[other]
        never = bool(apart(them.chosen(one), them.chosen(other)))
        count, cell = int(largest.sum()), int(them.cell[one])
        value = only_value(them.value[a])
        threads = tuple(map(int, threads))
        return Hazards(case, count, exact, cell, threads, value, never)

    def _example(self, one, b):
        """The first later access that makes a hazard with the access `one`."""
        fits = (self.outer[b] == self.outer[one]) & (self.inner[b] != self.inner[one])
        fits &= self.later[b] > self.sooner[one]
        return b[np.argmax(fits)]


class Following:
    """The accesses of a place, sorted by group and time."""

    def __init__(self, level, rows, group):
        self.level, self.group = level, group
        self.met = np.bincount(group[rows], minlength=int(group.max()) + 1)
        self.end = np.cumsum(self.met)
        self.times = np.sort(group[rows] * level.span + level.later[rows])

    def count(self, a):
        """How many are in the group of each access of `a`, and later."""
        group = self.group[a]
        first = group * self.level.span + self.level.sooner[a]
        return self.end[group] - np.searchsorted(self.times, first, side="right")
