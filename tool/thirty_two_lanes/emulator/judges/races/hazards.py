"""Finds hazards: pairs of accesses of one cell, by two threads, that nothing orders.

Of two accesses the earlier has fewer barriers of its block before it, or as many and
fewer loop iterations since, or as many and an earlier place in the program, or else the
lower thread number. A hazard is a cell, the earlier thread and the later one, counted
once for each pair of lines, however often it recurs. Pairs of cells that few accesses
touch are listed, others are counted by sorting; that is as exact where no two intervals
of a block differ in what they do to a cell, and a lower bound where they do, so all are
listed then, if that can be done.
"""

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.race import LEVELS, level_of, unordered
from thirty_two_lanes.emulator.judges.races.case import (
    CONFLICTS,
    KINDS,
    HazardCase,
    Hazards,
    only_value,
)
from thirty_two_lanes.emulator.judges.races.counting import counted
from thirty_two_lanes.emulator.judges.races.merged import (
    ACCESS,
    Accesses,
    apart,
    in_order,
    reduced,
)

CROWD = 32  # accesses of a cell that are faster to count than to list
FEW_PAIRS = 1 << 18  # that are faster to list than to count
WORTH_KNOWING = 1 << 14  # accesses whose hazards are kept for the next launch
MOST_KNOWN = 8  # sets of accesses
MOST_PAIRS = 4_000_000  # to list
_KNOWN = {}  # the hazards of accesses, by the bytes of these


def find_hazards(rows, places, clocks, happens_before, alike) -> list[Hazards]:
    """The hazards in a recorder's rows, where nothing orders them; `alike` has, by
    block, the first that did the same in shared memory, and how many did.
    """
    kind = np.array([ACCESS[kind] for _, kind, _, _ in places], np.int64)
    shared = np.array([space == "shared" for *_, space in places], bool)
    found = []
    for part in (shared, ~shared):
        chosen = part[rows["place"]]
        if not chosen.any():
            continue
        here = rows if chosen.all() else {n: c[chosen] for n, c in rows.items()}
        accesses = Accesses.of(here, clocks.width, kind)
        if part is shared:
            accesses = accesses.represented(*alike).without_repetition()
        accesses = accesses.in_conflict()
        if len(accesses):
            those = _hazards_of(accesses, clocks, happens_before)
            found += sorted(those, key=lambda hazards: hazards.case)
    return found


def _hazards_of(accesses, clocks, happens_before):
    """The hazards of accesses; those of launches that do the same are known."""
    if clocks.sync_masks or happens_before.releases:
        return listed(accesses, clocks, happens_before)
    if len(accesses) > WORTH_KNOWING:
        return _listed_or_counted(accesses)
    key = CROWD, MOST_PAIRS, *(column.tobytes() for column in vars(accesses).values())
    if key not in _KNOWN:
        if len(_KNOWN) == MOST_KNOWN:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[key] = _listed_or_counted(accesses)
    return _KNOWN[key]


def _listed_or_counted(accesses):
    """The hazards as fast as they can be had exactly, or as many as can be had."""
    crowded = accesses.in_crowded_cells(min(CROWD, MOST_PAIRS))
    if accesses.chosen(~crowded).pairs() > FEW_PAIRS:
        crowded[:] = True
    found = counted(accesses.chosen(crowded)) if crowded.any() else []
    if not all(it.exact for it in found) and accesses.pairs() <= MOST_PAIRS:
        return listed(accesses)
    if not crowded.all():
        found += listed(accesses.chosen(~crowded))
    return [*_summed(found)]


def _summed(found):
    """Hazards of one case as one: the first of them, and how many all are."""
    by_case = {}
    for hazards in sorted(found, key=lambda it: (it.cell, *it.threads)):
        by_case.setdefault(hazards.case, []).append(hazards)
    for all_of_one in by_case.values():
        count = sum(it.count for it in all_of_one)
        exact = all(it.exact for it in all_of_one)
        first = all_of_one[0]
        value = first.value if len({it.value for it in all_of_one}) == 1 else None
        never = all(it.apart for it in all_of_one)
        yield first._replace(count=count, exact=exact, value=value, apart=never)


def listed(accesses, clocks=None, happens_before=None) -> list[Hazards]:
    """Hazards pair by pair, less those that syncs of warps and releases order."""
    first, second, exact = _pairs(accesses.group)
    first, second = _unordered(accesses, first, second)
    a, b = accesses.chosen(first), accesses.chosen(second)
    if clocks is not None:
        ordered = _synced(a, b, clocks) | _acquired(a, b, happens_before)
        unordered = ~(ordered | _acquired(b, a, happens_before))
        a, b = a.chosen(unordered), b.chosen(unordered)
    kind = CONFLICTS[a.kind, b.kind]
    same_value = (kind == 3) & a.same_value
    case = HazardCase(a.place, b.place, kind, level_of(a, b), same_value)
    number = _numbers(case)
    order, start = in_order(number, a.cell, a.thread, b.thread)
    first = order[start]
    number, weight, value = number[first], a.weight[first], a.value[first]
    never = reduced(np.logical_and, apart(a, b)[order], start)
    found = []
    for this, at in zip(*np.unique(number, return_index=True), strict=True):
        n = first[at]
        one = HazardCase(*(int(column[n]) for column in case))
        here = number == this
        facts = int(weight[here].sum()), exact, int(a.cell[n])
        threads = int(a.thread[n]), int(b.thread[n])
        more = only_value(value[here]), bool(never[here].all())
        found.append(Hazards(one, *facts, threads, *more))
    return found


def _unordered(accesses, first, second):
    """The pairs that conflict, of which the first is the sooner, with no barrier in
    between; a test at a time, since each leaves fewer.
    """
    tests = (
        lambda a, b: CONFLICTS[accesses.kind[a], accesses.kind[b]] > 0,
        lambda a, b: unordered(accesses.moment(a), accesses.moment(b)),
        lambda a, b: (
            (accesses.soonest[a] < accesses.latest[b])
            | (accesses.soonest[a] == accesses.latest[b])
            & (accesses.thread[a] < accesses.thread[b])
        ),
    )
    for test in tests:
        passed = test(first, second)
        first, second = first[passed], second[passed]
    return first, second


def _numbers(case):
    """A number for each row of the columns of a case, in their order."""
    places = int(max(case.earlier.max(initial=0), case.later.max(initial=0))) + 1
    sizes = places, places, len(KINDS), len(LEVELS), 2
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
