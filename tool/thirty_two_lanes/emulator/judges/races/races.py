"""Races in shared and global memory: accesses of one cell by different threads, one of
them a write, that nothing orders.

Barriers order the threads of their block, `syncwarp` the lanes of its mask, grid
barriers all, and a write, a fence and an atomic are ordered before what follows another
thread's later atomic on the same cell. Votes and shuffles order nothing. An atomic and
a plain access race. Found whatever order ran, for the accesses that the run made:
compute-sanitizer's racecheck sees shared memory alone, and neither atomics against
plain accesses nor what the compiler hid. A first run finds the cells that could be in a
race; if there are any, a second run records the accesses to those, or what the first
one kept of them is recorded, where that is little.
"""

import math
from dataclasses import replace

import numpy as np

from thirty_two_lanes.core.errors import coordinates
from thirty_two_lanes.core.race import Race, Races
from thirty_two_lanes.core.warp_races import NOUNS, is_within_warp, within_warps
from thirty_two_lanes.emulator.judges.judge import Kind, Registration
from thirty_two_lanes.emulator.judges.races.case import KINDS, SCOPES
from thirty_two_lanes.emulator.judges.races.clocks import Clocks
from thirty_two_lanes.emulator.judges.races.early import EarlyAccesses
from thirty_two_lanes.emulator.judges.races.global_suspects import GlobalSuspects
from thirty_two_lanes.emulator.judges.races.hazards import find_hazards
from thirty_two_lanes.emulator.judges.races.recorder import BLOCKS, RaceRecorder
from thirty_two_lanes.emulator.judges.races.release_acquire import HappensBefore
from thirty_two_lanes.emulator.judges.races.shared_suspects import SharedSuspects

MOST_KEPT = 1 << 15  # different requests that are kept for a recorder
TURNED = {"RAW": "WAR", "WAR": "RAW"}


class RaceJudge:
    """Listens to a first run, and says whether a second one is needed."""

    strict = False  # does an atomic acquire with a fence alone?

    def __init__(self):
        self.clocks = Clocks()
        self.shared_suspects = SharedSuspects()
        self.global_suspects = GlobalSuspects(self.clocks)
        self.allocations = []
        self.block_dim = self.grid_dim = None
        self.early = EarlyAccesses()
        self.began = None
        self.seen = []  # what a recorder needs of it, None where it must listen itself
        self.recorder = None  # of the accesses to cells that could be in a race
        self.columns = 0  # of gathered accesses that were seen

    def listeners(self):
        return {
            "launch": self.start,
            "allocation": self.allocation,
            "shared": self.access,
            "global": self.access,
            "gathered": self.gathered,
            "values": None,
            "sync": self.synchronise,
            "fence_passed": self.forget,
            "early": self.early.access,
        }

    def start(self, start):
        self.began = start
        self.block_dim, self.grid_dim = start.block_dim, start.grid_dim
        self.clocks.start(start)
        self.global_suspects.start(start)
        self.shared_suspects.alike.start(math.prod(map(int, start.grid_dim)))

    def allocation(self, allocation):
        self.allocations.append(allocation)
        self.global_suspects.allocation(allocation)

    def access(self, access):
        """Look at an access of many blocks; too much to keep."""
        self.seen = None
        if access.space == "shared":
            self.shared_suspects.access(access)
        else:
            self.global_suspects.access(access)

    def forget(self, fence):
        """Forget what was seen: its order has a meaning, and it has none any more."""
        self.seen = None

    def gathered(self, accesses):
        """Look at accesses of few blocks, and keep them, for there may be a race."""
        self.columns += sum(len(access.times) for access in accesses)
        if self.columns > MOST_KEPT:
            self.seen = None
        if self.seen is not None:
            self.seen.append(accesses)
        self.global_suspects.gathered(accesses)
        self.shared_suspects.gathered(accesses)

    def synchronise(self, sync):
        if sync.scope != "block" and self.seen is not None:
            self.seen.append(sync)
        self.shared_suspects.synchronise(sync)
        self.global_suspects.synchronise(sync)
        self.clocks.synchronise(sync)

    def second_look(self):
        """What must listen to a second run; None if there is no need of one. What was
        needed while the launch ran is released.
        """
        self.shared_suspects.finish()
        shadows = [*filter(None, self.global_suspects.shadows.values())]
        suspect = any(shadow.suspects.any() for shadow in shadows)
        for shadow in shadows:
            shadow.release()
        if not suspect and not self.shared_suspects.suspect_bytes:
            return None
        clocks = Clocks()
        suspects = self.shared_suspects, self.global_suspects
        happens_before = HappensBefore(clocks, self.strict)
        self.recorder = RaceRecorder(clocks, happens_before, *suspects)
        if self.seen is None:
            return self.recorder
        self.recorder.replay(self.began, self.seen)
        return None

    def table(self) -> Races:
        """The races among the accesses that a recorder saw."""
        recorder = self.recorder
        found = self.early.hazards(self.clocks, self.shared_suspects.granularity)
        places = [*self.early.places]
        races = [self._race(hazards, places) for hazards in found]
        if recorder is not None:
            places = [*recorder.places]
            found = find_hazards(
                recorder.rows,
                places,
                recorder.clocks,
                recorder.happens_before,
                self.shared_suspects.alike.represented(),
            )
            races += [self._race(hazards, places) for hazards in found]
        races = together(races)
        updated = {of_one_line(r) for r in races if r.kind == "WAW"} - {None}
        races = [
            replace(r, update=r.kind != "WAW" and of_one_line(r) in updated)
            for r in races
        ]
        wider = {of_lines(r) for r in races if r.scope in ("block", "grid")}
        lanes = {r for r in races if is_within_warp(r) and of_lines(r) in wider}
        races = [replace(r, implied=r in lanes) for r in races]
        races.sort(key=lambda r: (-r.hazards, r.first.line, r.second.line, r.kind))
        minor = [r for r in races if r.scope == "warp" or r.same_value]
        result = Races(r for r in races if r not in minor)
        result.minor = Races(minor)
        return result

    def _race(self, hazards, places) -> Race:
        case, kind, threads = hazards.case, KINDS[hazards.case.kind], hazards.threads
        earlier, later = places[case.earlier], places[case.later]
        next_turn = min(self._order(*earlier)) > max(self._order(*later))
        turned = next_turn and SCOPES[case.scope] != "copy"
        if turned and not self._in_one_loop(earlier[0], later[0]):
            # some threads were in a loop that others had left or never came to
            earlier, later, threads = later, earlier, threads[::-1]
            kind, next_turn = TURNED.get(kind, kind), False
        first, first_kind, array, space = earlier
        second, second_kind, other_array, _ = later
        cell, second_cell = (
            self._cell(hazards.cell, name, space) for name in (array, other_array)
        )
        scope = SCOPES[case.scope]
        threads = [self._thread(number, scope) for number in threads]
        return Race(
            kind=kind,
            space=space,
            scope=scope,
            array=array,
            first=first,
            second=second,
            hazards=hazards.count,
            cell=cell,
            first_thread=threads[0],
            second_thread=threads[1],
            first_kind=first_kind,
            second_kind=second_kind,
            same_value=bool(case.same_value),
            value=self._value(hazards),
            exact=hazards.exact,
            second_cell=second_cell if second_cell != cell else "",
            next_turn=next_turn,
            apart=hazards.apart,
        )

    def _value(self, hazards) -> str:
        """What all its stores put, if they put one value."""
        case = hazards.case
        if not case.same_value:
            return ""
        stored = self.recorder.stored
        return value_of(hazards.value, {stored[case.earlier], stored[case.later]})

    def _order(self, site, kind, array, space):
        """Where in the program a place's accesses are."""
        place = site, kind, array
        return [
            n
            for n, it in enumerate(self.began.references)
            if (it.site, it.race_kind, it.array) == place
        ]

    def _in_one_loop(self, *sites):
        """Is there a loop that holds all these sites?"""
        code = self.began.code
        at = [{pc for pc, it in enumerate(code) if site in it.sites} for site in sites]
        loops = [
            range(begin, end + 1)
            for end, block in enumerate(code)
            for begin in (block.then, block.otherwise)
            if 0 <= begin <= end
        ]
        return any(all(pcs & {*loop} for pcs in at) for loop in loops)

    def _thread(self, number, scope):
        block, thread = divmod(number, self.clocks.width)
        where = f"thread {coordinates(thread, self.block_dim)}"
        if scope == "grid" or int(np.prod(self.grid_dim)) > 1:
            where += f" of block {coordinates(block, self.grid_dim)}"
        return where

    def _cell(self, cell, array, space):
        """`tile[3, 4]`: the cell by the array's own indices."""
        if space == "shared":
            address = cell // BLOCKS * self.shared_suspects.granularity
        else:
            shadow = self.global_suspects.shadow_at(cell)
            address = shadow.start + (cell - shadow.start) * shadow.granularity
        fitting = [
            r for r in self.allocations if r.space == space and _contains(r, address)
        ]
        fitting.sort(key=lambda allocation: allocation.name != array)
        if not fitting:
            return array
        allocation = fitting[0]
        index = index_at(
            address - allocation.first, allocation.shape, allocation.strides
        )
        return f"{allocation.name}[{', '.join(map(str, index))}]"


def together(races) -> list[Race]:
    """One race of those with the same accesses: what is in a loop of only some threads
    is counted as before the other line in some iterations, and as behind it in others.
    """
    found = {}
    for race in races:
        case = race.kind, race.scope, race.first, race.second, race.array
        case += race.first_kind, race.second_kind, race.same_value, race.next_turn
        known = found.setdefault(case, race)
        if known is not race:
            most = max(known.hazards, race.hazards)
            apart = known.apart and race.apart
            found[case] = replace(known, hazards=most, exact=False, apart=apart)
    return [*found.values()]


def of_one_line(race):
    """The array and the line of a race of a line with itself; else None."""
    same = race.first.line == race.second.line
    return (race.space, race.array, race.first.line) if same else None


def of_lines(race):
    """What a race within a warp has in common with one between warps, whose remedy is
    its own, too.
    """
    lines = race.first, race.second
    return race.kind, race.space, race.array, *lines, race.same_value, race.next_turn


def _contains(allocation, address):
    return allocation.start <= address < allocation.start + allocation.size


def index_at(offset, shape, strides) -> tuple[int, ...]:
    """The index of the element that a byte belongs to."""
    order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    index = [0] * len(shape)
    for axis in order:
        if strides[axis] > 0 and shape[axis] > 1:
            index[axis], offset = divmod(offset, strides[axis])
        elif strides[axis] < 0:
            index[axis] = -(offset // -strides[axis])
            offset += -strides[axis] * index[axis]
    return tuple(int(part) for part in index)


def findings(run):
    """The races; those within a warp, together; and those of equal stores."""
    yield from (it.finding for it in run.races)
    yield from (it.finding for it in within_warps(run.races.minor))
    yield from (it.finding for it in run.races.minor if it.same_value)


def value_of(bits, dtypes) -> str:
    """What is stored, in words; "" where that is not known."""
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if bits is None or dtype is None:
        return ""
    return str(np.int64(bits).astype(f"u{dtype.itemsize}").view(dtype))


JUDGE = Registration(
    "races",
    RaceJudge,
    findings=findings,
    kinds=(
        Kind(
            "races",
            0,
            ("race", "races"),
            fault=True,
            has=lambda it: not it.same_value and it.scope != "warp",
        ),
        Kind(
            "warp",
            5,
            NOUNS,
            fault=True,
            has=is_within_warp,
        ),
        Kind(
            "same-value",
            55,
            ("race of equal stores", "races of equal stores"),
            has=lambda it: it.same_value,
        ),
    ),
    record=(
        "kind",
        "space",
        "scope",
        "array",
        "first",
        "second",
        "hazards",
        "cell",
        "first_thread",
        "second_thread",
        "remedy",
        "first_kind",
        "second_kind",
        "same_value",
        "value",
        "exact",
    ),
)
