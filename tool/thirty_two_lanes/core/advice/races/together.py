"""One barrier for several races: a `syncwarp` is no advice where another race needs a
barrier of the block, and those that need one at one place have one sentence.
"""

from dataclasses import replace

from thirty_two_lanes.core.advice.races.waiting import BARRIER


def among_wider(races) -> list:
    """The races within a warp whose `syncwarp` would stand where another race needs a
    barrier of the block.
    """
    barred = {_place(it) for it in races if _code(it) == BARRIER}
    alone = (it for it in races if _code(it) not in (None, BARRIER))
    return [it for it in alone if _place(it) in barred]


def with_one_sentence(races) -> list:
    """The races with the advice of the one whose lines are closest to the place that
    several need, if it says a place that is right for all.
    """
    closest = {}
    for it in races:
        if _code(it) == BARRIER:
            closest.setdefault(_place(it), []).append(it)
    for place, those in closest.items():
        best = max(those, key=lambda it: (_ends(it)[0], -_ends(it)[1]))
        right = _ends(best)[1] == min(_ends(it)[1] for it in those)
        closest[place] = best if right and _are_plain(those) else None
    return [_as(it, closest.get(_place(it))) for it in races]


def _as(race, best):
    return race if best is None else replace(race, advice=best.advice)


def _are_plain(races) -> bool:
    """Is each advice only where to put the barrier?"""
    begins = (it.advice.sentence.startswith(f"Put `{BARRIER}`") for it in races)
    return all(begins) and len({it.advice.sentence for it in races}) > 1


def _code(race):
    """The barrier that a race's edit puts somewhere, None where it does not."""
    edit = race.advice and race.advice.edit
    return edit.code if edit and edit.where in ("before", "last") else None


def _place(race):
    edit = race.advice and race.advice.edit
    return edit and (edit.function, edit.where, edit.at, edit.out_of)


def _ends(race):
    """The lines between which the barrier has to stand, as it is met."""
    first, last = sorted((race.first.line, race.second.line))
    return (last, first) if race.advice.edit.where == "last" else (first, last)
