"""Counts hazards: pairs of accesses of one cell, by two threads, that nothing orders.

Of two accesses the earlier has fewer barriers of its block before it, or as many and
fewer loop iterations since, or as many and an earlier place in the program, or else the
lower thread number. A hazard is a cell, the earlier thread and the later one, counted
once for each pair of lines, however often it recurs. Pairs are listed where that can be
done, and else counted by sorting; that is as exact where no two intervals of a block
differ in what they do to a cell, and a lower bound where they do.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from helpers.core.hardware import WARP_SIZE

MOST_PAIRS = 4_000_000  # to list
INTERVAL = 1 << 44  # more than any time within an interval between barriers
SCOPES = ("warp", "block", "grid")
KINDS = ("", "RAW", "WAR", "WAW")
# rows: what the earlier access is, load, store or atomic; columns: the later one
CONFLICTS = np.array([[0, 2, 2], [1, 3, 3], [1, 3, 0]])
ACCESS = {"load": 0, "store": 1, "atomic": 2}


@dataclass(frozen=True)
class Hazards:
    """The hazards of one kind and scope between two places; the first of them."""

    earlier: int
    later: int
    kind: str
    scope: str
    same_value: bool
    count: int
    exact: bool
    cell: int
    threads: tuple[int, int]


class Case(NamedTuple):
    """What hazards are counted by, as numbers or as columns of them; `kind` and `scope`
    are places in KINDS and SCOPES.
    """

    earlier: int
    later: int
    kind: int
    scope: int
    same_value: bool


def find_hazards(rows, places, clocks, happens_before) -> list[Hazards]:
    """The hazards in a recorder's rows, where nothing orders them."""
    kind = np.array([ACCESS[kind] for _, kind, _, _ in places], np.int64)
    shared = np.array([space == "shared" for *_, space in places], bool)
    found = []
    for part in (shared, ~shared):
        chosen = part[rows["place"]]
        accesses = Accesses({n: c[chosen] for n, c in rows.items()}, clocks.width, kind)
        if part is shared:
            accesses = accesses.without_repetition()
        accesses = accesses.in_conflict()
        if not len(accesses):
            continue
        size = accesses.group_sizes()
        few = (size * size).sum() <= MOST_PAIRS
        if clocks.sync_masks or happens_before.releases or few:
            found += listed(accesses, clocks, happens_before)
        else:
            found += counted(accesses)
    return found


class Accesses:
    """A recorder's rows, merged where only time and value differ."""

    KEYS = ("cell", "epoch", "interval", "thread", "place", "warp_syncs", "acquired")
    KEYS += ("fences", "weight")

    def __init__(self, rows, width, kinds):
        rows = dict(rows)
        when = rows["interval"] * INTERVAL + rows.pop("time")
        value = rows.pop("value")
        order, start = _sorted(*(rows[name] for name in self.KEYS))
        for name in self.KEYS:
            setattr(self, name, rows[name][order][start])
        self.soonest = _reduced(np.minimum, when[order], start)
        self.latest = _reduced(np.maximum, when[order], start)
        self.least = _reduced(np.minimum, value[order], start)
        self.most = _reduced(np.maximum, value[order], start)
        self.kind = kinds[self.place] if len(kinds) else self.place
        self.block, self.warp = self.thread // width, self.thread // WARP_SIZE
        self.same_value = self._same_value()

    def _same_value(self):
        """Do all stores to each access's cell store the same value?"""
        cell = _numbered(self.cell)
        stores, none = self.kind == 1, np.iinfo(np.int64)
        low = np.full(int(cell.max(initial=-1)) + 1, none.max)
        high = np.full(len(low), none.min)
        np.minimum.at(low, cell[stores], self.least[stores])
        np.maximum.at(high, cell[stores], self.most[stores])
        high[cell[self.kind == 2]] = none.max
        return (low == high)[cell]

    def __len__(self):
        return len(self.cell)

    def chosen(self, which):
        """Some of the accesses."""
        other = object.__new__(Accesses)
        for name, column in vars(self).items():
            setattr(other, name, column[which])
        return other

    @property
    def group(self):
        """A number for each cell and time between barriers of the grid."""
        return _numbered(self.cell, self.epoch)

    def group_sizes(self):
        return np.bincount(self.group)

    def without_repetition(self):
        """Without intervals of a block that do to a cell what an earlier one did."""
        group = _numbered(self.cell, self.epoch, self.interval)
        parts = (self.thread, self.place, self.warp_syncs, self.acquired, self.fences)
        parts = (*parts, self.soonest % INTERVAL, self.latest % INTERVAL)
        digest = np.zeros(len(self), np.uint64)
        for n, part in enumerate(parts):
            digest += part.astype(np.uint64) * np.uint64(2 * n + 3)
            digest *= np.uint64(0x9E3779B97F4A7C15)
            digest ^= digest >> np.uint64(29)
        whole = np.zeros(int(group.max(initial=-1)) + 1, np.uint64)
        np.add.at(whole, group, digest)
        order, start = _sorted(self.cell, whole[group].view(np.int64), group)
        first = np.r_[True, self.cell[order][start][1:] != self.cell[order][start][:-1]]
        sums = whole[group][order][start]
        first[1:] |= sums[1:] != sums[:-1]
        kept = np.zeros(len(whole), bool)
        kept[group[order][start][first[: len(start)]]] = True
        return self.chosen(kept[group])

    def over_intervals(self):
        """A thread's accesses at one place merged, whatever barriers are between."""
        order, start = _sorted(self.cell, self.epoch, self.thread, self.place)
        other = self.chosen(order[start])
        other.soonest = _reduced(np.minimum, self.soonest[order], start)
        other.latest = _reduced(np.maximum, self.latest[order], start)
        return other

    def in_conflict(self):
        """Only cells that two threads touch, one of them writing."""
        group = self.group
        bits = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
        np.bitwise_or.at(bits, group, 1 << self.kind)
        low, high = np.full(len(bits), np.iinfo(np.int64).max), np.zeros_like(bits)
        np.minimum.at(low, group, self.thread)
        np.maximum.at(high, group, self.thread)
        harmful = (low != high) & ((bits & 2 != 0) | (bits == 5))
        return self.chosen(harmful[group])


def listed(accesses, clocks, happens_before) -> list[Hazards]:
    """Hazards pair by pair."""
    first, second, exact = _pairs(accesses.group)
    a, b = accesses.chosen(first), accesses.chosen(second)
    kind = CONFLICTS[a.kind, b.kind]
    sooner = (a.soonest < b.latest) | (a.soonest == b.latest) & (a.thread < b.thread)
    passed = (a.block == b.block) & (a.interval != b.interval)
    unordered = (kind > 0) & sooner & (a.thread != b.thread) & ~passed
    a, b, kind = a.chosen(unordered), b.chosen(unordered), kind[unordered]
    ordered = _synced(a, b, clocks) | _acquired(a, b, happens_before)
    unordered = ~(ordered | _acquired(b, a, happens_before))
    a, b, kind = a.chosen(unordered), b.chosen(unordered), kind[unordered]
    scope = np.where(a.block != b.block, 2, a.warp != b.warp)
    case = Case(a.place, b.place, kind, scope, (kind == 3) & a.same_value)
    number = _numbers(case)
    order, start = _sorted(number, a.cell, a.thread, b.thread)
    first = order[start]
    number, weight = number[first], a.weight[first]
    found = []
    for this, at in zip(*np.unique(number, return_index=True), strict=True):
        n = first[at]
        one = Case(*(column[n] for column in case))
        count = weight[number == this].sum()
        found.append(_hazards(one, count, exact, a.cell[n], a.thread[n], b.thread[n]))
    return found


def _numbers(case):
    """A number for each row of the columns of a case, in their order."""
    places = int(max(case.earlier.max(initial=0), case.later.max(initial=0))) + 1
    sizes = places, places, len(KINDS), len(SCOPES), 2
    return np.ravel_multi_index([c.astype(np.int64) for c in case], sizes)


def _pairs(group):
    """Both places of all pairs within a group; are they all?"""
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    exact = (size * size).sum() <= MOST_PAIRS
    if not exact:  # as many of each group as there is room for
        most = max(2, int((MOST_PAIRS / len(size)) ** 0.5))
        start = np.cumsum(size) - size
        rank = np.arange(len(group)) - np.repeat(start, size)
        order, size = order[rank < most], np.minimum(size, most)
    start = np.cumsum(size) - size
    times = np.repeat(size, size)
    first = np.repeat(np.arange(len(order)), times)
    within = np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times)
    second = np.repeat(np.repeat(start, size), times) + within
    return order[first], order[second], bool(exact)


def _synced(a, b, clocks):
    """Did the two lanes wait for each other, as lanes of one warp, in between?"""
    synced = np.zeros(len(a), bool)
    asked = (a.warp == b.warp) & (a.warp_syncs != b.warp_syncs)
    for n in np.flatnonzero(asked).tolist():
        lanes = (int(a.thread[n] % WARP_SIZE), int(b.thread[n] % WARP_SIZE))
        synced[n] = clocks.synced(
            int(a.thread[n]), lanes, int(a.warp_syncs[n]), int(b.warp_syncs[n])
        )
    return synced


def _acquired(a, b, happens_before):
    """Had b's thread acquired a release that covers the access a?"""
    ordered = np.zeros(len(a), bool)
    asked = np.flatnonzero(b.acquired > 0)
    covers = {}
    for n in asked.tolist():
        what = tuple(
            int(column[n]) for column in (a.thread, a.interval, a.fences, a.warp_syncs)
        )
        if what not in covers:
            covers[what] = happens_before.covering(*what)
        cover = covers[what][int(a.block[n] == b.block[n])]
        ordered[n] = bool(cover & happens_before.sets[int(b.acquired[n])])
    return ordered


def counted(accesses) -> list[Hazards]:
    """Hazards without a list of them: those of each scope less those of the next."""
    interval = ("cell", "epoch", "block", "interval")
    levels = {
        2: (accesses.over_intervals(), ("cell", "epoch"), ("block",)),
        1: (accesses, interval, ("warp",)),
        0: (accesses, (*interval, "warp"), ("thread",)),
    }
    found = []
    for scope, (those, keys, more) in levels.items():
        outer = _numbered(*(getattr(those, key) for key in keys))
        inner = _numbered(*(getattr(those, key) for key in (*keys, *more)))
        for pair in _conflicting_places(those):
            found += _difference(those, pair, scope, outer, inner)
    return found


def _conflicting_places(accesses):
    places, at = np.unique(accesses.place, return_index=True)
    kinds = accesses.kind[at]
    for earlier, kind in zip(places.tolist(), kinds.tolist(), strict=True):
        for later, other in zip(places.tolist(), kinds.tolist(), strict=True):
            if CONFLICTS[kind, other]:
                yield earlier, later, int(CONFLICTS[kind, other])


def _difference(accesses, pair, scope, outer, inner):
    """The hazards of a pair of places within outer groups and not within inner ones."""
    earlier, later, kind = pair
    a, b = (np.flatnonzero(accesses.place == place) for place in pair[:2])
    following = _after(accesses, a, b, outer) - _after(accesses, a, b, inner)
    same_value = accesses.same_value[a] & (kind == 3)
    found = []
    for same in (False, True):
        here = np.flatnonzero((following > 0) & (same_value == same))
        if not len(here):
            continue
        count, exact = _summed(accesses, a[here], following[here], scope, outer)
        one = a[here[0]]
        other = _example(accesses, one, b, outer, inner)
        case = Case(earlier, later, kind, scope, same)
        threads = accesses.thread[one], accesses.thread[other]
        found.append(_hazards(case, count, exact, accesses.cell[one], *threads))
    return found


def _summed(accesses, a, following, scope, group):
    """The sum over cells; of the groups of a block, the largest is a cell's."""
    whose = (accesses.warp, accesses.block, np.zeros_like(accesses.block))[scope]
    place = _numbered(accesses.cell[a], whose[a])
    group = _numbered(group[a])
    by_group = np.bincount(group, following * accesses.weight[a])
    place_of = np.zeros(len(by_group), np.int64)
    place_of[group] = place
    largest = np.zeros(int(place.max()) + 1)
    np.maximum.at(largest, place_of, by_group)
    return int(largest.sum()), bool(np.bincount(place_of).max() == 1)


def _after(accesses, a, b, group):
    """How many of b are in a's group and later."""
    rank = _numbered(accesses.soonest, accesses.thread, also=accesses.latest)
    sooner, later = rank
    span = int(max(sooner.max(), later.max())) + 1
    behind = np.sort(group[b] * span + later[b])
    end = np.searchsorted(behind, (group[a] + 1) * span)
    return end - np.searchsorted(behind, group[a] * span + sooner[a], side="right")


def _example(accesses, one, b, outer, inner):
    """A later access that makes a hazard with the access `one`."""
    sooner, latest = accesses.soonest[one], accesses.latest[b]
    later = (latest == sooner) & (accesses.thread[b] > accesses.thread[one])
    later |= latest > sooner
    fits = later & (outer[b] == outer[one]) & (inner[b] != inner[one])
    return b[np.argmax(fits)]


def _hazards(case, count, exact, cell, thread, other) -> Hazards:
    return Hazards(
        earlier=int(case.earlier),
        later=int(case.later),
        kind=KINDS[case.kind],
        scope=SCOPES[case.scope],
        same_value=bool(case.same_value),
        count=int(count),
        exact=exact,
        cell=int(cell),
        threads=(int(thread), int(other)),
    )


def _sorted(*columns):
    """The order of rows by columns, and where in it a new combination begins."""
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    return order, np.flatnonzero(new)


def _reduced(function, column, start):
    return function.reduceat(column, start) if len(start) else column


def _numbered(*columns, also=None):
    """A number for each combination of columns, in their order.

    With `also`, for the combinations with that in the first column's place, too.
    """
    if also is not None:
        both = [np.r_[columns[0], also], *(np.r_[c, c] for c in columns[1:])]
        numbers = _numbered(*both)
        return numbers[: len(also)], numbers[len(also) :]
    order, start = _sorted(*columns)
    numbers = np.empty(len(order), np.int64)
    counts = np.diff(np.r_[start, len(order)])
    numbers[order] = np.repeat(np.arange(len(start)), counts)
    return numbers
