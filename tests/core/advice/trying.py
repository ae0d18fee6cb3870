"""Tries the advice of a launch: each edit is applied to the kernel, which runs again on
the same arguments; its finding must be gone, and no other have come.
"""

import warnings
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from helpers import emulate
from tests.core.advice.applying import Applied
from thirty_two_lanes.core.advice.advise import Layouts
from thirty_two_lanes.core.errors import ExplainedError, KernelIndexError

TURNS = 200_000


class Found(NamedTuple):
    """A finding, by what it is and its lines in the kernel as it was."""

    what: str
    array: str
    lines: tuple[int, ...]
    more: tuple = ()


@dataclass
class Tried:
    """What became of one finding: its advice, whether an edit was made and it is gone,
    and what came instead.
    """

    name: str
    found: Found
    sentence: str
    edit: object = None
    gone: bool = False
    others: list = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Is the finding gone and nothing else there?"""
        return self.gone and not self.others


def look(kernel, config, arguments, origin):
    """The findings of a launch, with their advice and edits."""
    run, error = None, None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            run = emulate(kernel, turns=TURNS)[config](*arguments)
        except ExplainedError as stopped:
            error, run = stopped, getattr(stopped, "run", None)
    found = {}
    if error is not None:
        known, edit = of_error(error, origin)
        found[known] = str(error), edit
    for race in (*run.races, *run.races.minor) if run else ():
        advice = race.advice
        found[of_race(race, origin)] = race.remedy, advice and advice.edit
    for it in run.barriers if run else ():
        key = Found("missed barrier", "", (origin(it.site),))
        found[key] = it.remedy, it.advice and it.advice.edit
    for it in run.uninitialised if run else ():
        key = Found("unwritten", it.array, (origin(it.site),))
        found[key] = it.finding.advice, it.edit
    return found


def of_error(error, origin):
    if not isinstance(error, KernelIndexError) or error.outside is None:
        sites = getattr(error, "sites", ())
        edit = getattr(error, "edit", None)
        return Found("error", type(error).__name__, tuple(map(origin, sites))), edit
    outside = error.outside
    side = "below" if outside.index < 0 or outside.below else "beyond"
    key = outside.kind, outside.axis, side
    return Found("bounds", outside.array, (origin(outside.site),), key), error.edit


def of_race(race, origin):
    lines = origin(race.first), origin(race.second)
    kinds = race.first_kind, race.second_kind
    return Found("race", race.array, lines, (race.kind, race.scope, *kinds))


def tried(name, kernel, config, fresh) -> list[Tried]:
    """Each finding of a launch, and what its edit makes of it; `fresh` gives the
    arguments of one launch.
    """
    layouts = Layouts(kernel.py_func)

    def origin(site):
        layout = layouts.of(site)
        statement = layout and layout.at(site.line)
        return statement.lineno if statement else site.line

    before = look(kernel, config, fresh(), origin)
    after = {None: {}}
    for _, edit in before.values():
        if edit not in after:
            applied = Applied(kernel, edit)
            after[edit] = look(applied.kernel, config, fresh(), applied.origin)
    return [
        Tried(name, found, sentence, edit, *compared(found, before, after[edit]))
        for found, (sentence, edit) in before.items()
    ]


def compared(found, before, after):
    """Is a finding gone, and which others came?"""
    known = {broadly(it) for it in before}
    stopped = any(it.what in ("bounds", "error") for it in before)
    others = [
        it
        for it in after
        if broadly(it) not in known
        and not (stopped and is_later(it, found))
        and not (it.what == "unwritten" and may_load_early(it, before))
    ]
    return found not in after, others


def broadly(found):
    """What a finding has in common with one of the same fault: an update that is an
    atomic now may race for its cell as its store did.
    """
    kinds = (it.replace("atomic", "store") for it in map(str, found.more))
    return found.what, found.array, found.lines, tuple(kinds)


def is_later(it, found):
    """May a finding be one that an error had hidden? It is not of the error's line."""
    return not set(it.lines) & set(found.lines) and it.what != "error"


def may_load_early(it, before):
    """Did a race say already that a line may load a cell before it is stored?"""
    return any(
        race.what == "race" and race.array == it.array and it.lines[0] in race.lines
        for race in before
    )
