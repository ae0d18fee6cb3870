"""The races of a film: which accesses meet, in which order, and what would order them.

Races of the same two lines are one fault: the launch's report tells a WAR from a WAW,
and a film shows one pair of accesses, either of which may come first.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.race import LEVELS, Accessor, level_of, unordered

ORDERS = {
    "copy": "no `wait_copies`",
    "warp": "no `syncwarp`",
    "block": "no barrier",
    "grid": "nothing",
}
NOUNS = {"atomic": "update", "acquire": "load", "release": "store"}
BARRIER = "Put `cuda.syncthreads()` "


class End(NamedTuple):
    """One access of a pair: its step, line and kind, and the first cell's thread."""

    step: int
    line: int
    kind: str
    thread: int


class Pair(NamedTuple):
    """The first two accesses that nothing orders, as they come in this film."""

    earlier: End
    later: End
    array: object
    cells: list

    @property
    def steps(self):
        """The numbers of their steps."""
        return self.earlier.step, self.later.step


# where an access is


def accesses_at(recorder, site, kind=None, array=None):
    """The accesses of a line, each with its step's number."""
    for number, step in enumerate(recorder.steps):
        for access in step.accesses:
            reference = access.event.reference
            if not is_at(reference.site, site):
                continue
            if kind in (None, reference.kind, reference.race_kind):
                if array in (None, reference.array):
                    yield number, step, access


def is_at(one, other) -> bool:
    """Are two sites the same line, called from the same one?"""
    return _line_of(one) == _line_of(other)


def _line_of(site):
    return site.file, site.line, site.called_from


def threads_of(step, access):
    """Each cell of an access with the thread that asks for it."""
    lanes = np.flatnonzero(access.lanes)
    threads = lanes + WARP_SIZE * step.warp
    return list(zip(access.cells[lanes].tolist(), threads.tolist(), strict=True))


def name_of_cell(array, cell) -> str:
    """A cell as the kernel names it."""
    index = ", ".join(str(int(it)) for it in np.unravel_index(cell, array.shape))
    return f"{array.name}[{index}]"


# which accesses meet


def grouped(races) -> list:
    """The races of each two lines and an array, in the report's order."""
    groups = {}
    for race in races:
        lines = frozenset({_line_of(race.first), _line_of(race.second)})
        groups.setdefault((lines, race.array, race.scope), []).append(race)
    return list(groups.values())


def first_pair(recorder, races) -> Pair | None:
    """Of all pairs of a fault, that which is complete first."""
    found = [pair for race in races if (pair := _first_pair(recorder, race))]
    return min(found, key=lambda pair: pair.steps[::-1], default=None)


def _first_pair(recorder, race):
    """The first two accesses of a film that race."""
    if race.scope == "grid":
        return None
    seen = {}  # side, interval, array, cell: the first step there, and its threads
    for number, step, access, side, alike in _ends(recorder, race):
        met = {}
        for cell, thread in threads_of(step, access):
            key = step.interval, id(access.array), cell
            for other, who in seen.get((1 - side, *key), ()):
                if _unordered(race.scope, who, thread, recorder.steps, other, number):
                    met.setdefault(other, []).append((cell, who, thread))
            for one in (0, 1) if alike else (side,):
                seen.setdefault((one, *key), []).append((number, thread))
        if met:
            return _pair(race, side, min(met), number, access.array, met[min(met)])
    return None


def sides_of(race):
    """The line and the kind of either access."""
    return (race.first, race.first_kind), (race.second, race.second_kind)


def _ends(recorder, race):
    """The accesses of both sides of a race, in order, each with its side."""
    sides = sides_of(race)
    alike = is_at(race.first, race.second) and race.first_kind == race.second_kind
    ends = [
        (*access, side, alike)
        for side, end in enumerate(sides[: 1 if alike else 2])
        for access in accesses_at(recorder, *end)
    ]
    return sorted(ends, key=lambda it: it[0])


def _pair(race, side, earlier, later, array, met):
    """The pair of two steps; `side` is that of the later one."""
    _, one, other = min(met)
    ends = [(site.line, kind) for site, kind in sides_of(race)]
    first, second = End(earlier, *ends[1 - side], one), End(later, *ends[side], other)
    return Pair(first, second, array, sorted({cell for cell, *_ in met}))


def _unordered(scope, one, other, steps, earlier, later) -> bool:
    """Are two threads, at these steps of one interval, a pair of the race's scope?"""
    if scope == "copy":
        return True
    ends = Accessor(one), Accessor(other)
    synced = steps[earlier].syncs != steps[later].syncs
    return LEVELS[level_of(*ends)] == scope and bool(unordered(*ends, synced))


# in words


def words_of(races, pair) -> tuple[str, str]:
    """What nothing orders, in a sentence; and what to do, and how often it is."""
    kinds = ", ".join(sorted({race.kind for race in races}))
    text = f"{_remedy(races)}. {_count(races)}"
    if pair is None:
        return f"{_lines(races[0])} ({kinds} race)", text
    if any(race.update for race in races):
        return f"{_update(pair)} ({kinds} race)", text
    return f"{_sentence(races[0].scope, pair)} ({kinds} race)", text


def _update(pair) -> str:
    """Threads that load a cell and store to it in one line."""
    threads = " and ".join(str(end.thread) for end in pair[:2])
    cell, line = name_of_cell(pair.array, pair.cells[0]), pair.earlier.line
    return (
        f"threads {threads} each load and store `{cell}` in line {line}, and nothing "
        "makes the two one step: an update can be lost"
    )


def _lines(race) -> str:
    """What is true of a race that is not in this film."""
    ends = [f"line {s.line}'s {_noun(k)}" for s, k in sides_of(race)]
    blocks = " in different blocks" if race.scope == "grid" else " in other blocks"
    return f"{ORDERS[race.scope]} orders {' and '.join(ends)} of `{race.cell}`{blocks}"


def _sentence(scope, pair) -> str:
    """The pair of this film, and which came first in it."""
    ends = sorted(pair[:2], key=lambda end: (end.line, end.kind))
    cell = name_of_cell(pair.array, pair.cells[0])
    first = f"{ORDERS[scope]} orders "
    if ends[0].line != ends[1].line:
        what = " and ".join(f"line {end.line}'s {_noun(end.kind)}" for end in ends)
        first += f"{what} of `{cell}`"
    else:
        kinds = " and ".join(dict.fromkeys(f"the {_noun(end.kind)}" for end in ends))
        threads = " and ".join(str(end.thread) for end in pair[:2])
        first += f"{kinds} of `{cell}` in line {ends[0].line}, by threads {threads}"
    return f"{first}: either may come first; {_winner(scope, pair)}"


def _winner(scope, pair) -> str:
    """Which of the two came first here."""
    one, other = pair[:2]
    if one.step == other.step or scope == "copy":
        return "the machine chose one order"
    if one.kind != other.kind:
        return f"here the {_noun(one.kind)} did"
    if one.line != other.line:
        return f"here line {one.line}'s did"
    return f"here thread {one.thread}'s did"


def _noun(kind) -> str:
    return NOUNS.get(kind, kind)


def _count(races) -> str:
    """How often it is, of all blocks."""
    least = "" if all(race.exact for race in races) else "at least "
    hazards = sum(race.hazards for race in races)
    same = races[0].alike if len({it.alike for it in races}) == 1 else ""
    noun = "hazard" if hazards == 1 else "hazards"
    return f"All blocks of the launch together: {least}{hazards:,} {noun}{same}."


def _remedy(races) -> str:
    """What orders all of them, in the report's words."""
    ranked = sorted(races, key=lambda race: (not race.update, race.kind == "WAW"))
    remedies = list(dict.fromkeys(race.remedy for race in ranked))
    first, *others = remedies
    more = [it for it in others if first.startswith(BARRIER) and it.startswith(BARRIER)]
    first += "".join(f", and {it.removeprefix(BARRIER)}" for it in more)
    return first
