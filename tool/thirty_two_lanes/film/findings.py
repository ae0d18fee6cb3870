"""What the report finds, in the steps in which it happens.

The words are the report's, about the whole launch, unless they say "here"; the steps
are the watched block's, so a finding that only other blocks make has none. Of a race
they are the first pair of accesses that nothing orders.
"""

import re

from thirty_two_lanes.core.errors import coordinates
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.sectors import accesses_of, request_sectors
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.emulator.judges.banks import conflict
from thirty_two_lanes.emulator.judges.mistakes import MISTAKES
from thirty_two_lanes.emulator.report import findings as report
from thirty_two_lanes.film.races import (
    accesses_at,
    first_pair,
    grouped,
    is_at,
    name_of_cell,
    sides_of,
    threads_of,
    words_of,
)
from thirty_two_lanes.film.record import groups_of


def findings_of(recorder, run, error, grid) -> list[dict]:
    """All findings of a film, the worst first; an error that ended it is the first."""
    stopped = [_error(recorder, error, grid)] if error is not None else []
    return [
        *stopped,
        *(_race(recorder, group) for group in grouped(_races(run))),
        *(_missed(recorder, it) for it in run.barriers),
        *(_stray(recorder, it) for it in run.lanes),
        *(_uninitialised(recorder, it) for it in run.uninitialised),
        *(_unset(recorder, it) for it in run.unset),
        *_mistakes(recorder, run),
        *_conflicts(recorder, run),
        *_costs(recorder, run),
    ]


def _made(kind, finding, steps, cells=()):
    """A finding of the report as the record holds it."""
    return {
        "kind": kind,
        "level": finding.level,
        "title": finding.what,
        "text": finding.advice,
        "line": finding.site.line,
        "steps": sorted(set(steps)),
        "cells": [list(cell) for cell in cells],
    }


# what may be wrong


def _races(run):
    """Those of the report, and other updates, which lanes of one warp lose."""
    known = {(race.first, race.array) for race in run.races}
    lost = (race for race in run.races.minor if race.update and not race.same_value)
    return [*run.races, *(it for it in lost if (it.first, it.array) not in known)]


def _race(recorder, races):
    pair = first_pair(recorder, races)
    title, text = words_of(races, pair)
    found = races[0].finding._replace(what=title, advice=text)
    if pair is None:
        return _made("race", found, *_one_side(recorder, races[0]))
    number = recorder.arrays.number(pair.array)
    return _made("race", found, pair.steps, [(number, cell) for cell in pair.cells])


def _one_side(recorder, race):
    """The first step that touches the cell of a race between blocks, and the cell."""
    if race.scope != "grid":
        return (), ()
    found = [it for side in sides_of(race) for it in accesses_at(recorder, *side)]
    for number, step, access in sorted(found, key=lambda it: it[0]):
        for cell, _ in threads_of(step, access):
            if name_of_cell(access.array, cell) == race.cell:
                return (number,), [(recorder.arrays.number(access.array), cell)]
    return sorted(number for number, *_ in found)[:1], ()


def _missed(recorder, found):
    steps = [
        _opening(recorder, n) for n, at in recorder.missed if is_at(at, found.site)
    ]
    made, blocks = found.finding, counted(found.blocks, "block")
    what = (
        made.what.replace(",", f" of {blocks},", 1) if found.blocks > 1 else made.what
    )
    return _made("barrier", made._replace(what=what), steps)


def _opening(recorder, number):
    """The step in which a barrier opens: the next one, if the others left in this."""
    behind = recorder.steps[number + 1 : number + 2]
    return number + 1 if behind and not behind[0].lanes.any() else number


def _stray(recorder, found):
    steps = [n for n, site in recorder.stray if is_at(site, found.site)]
    return _made("lanes", found.finding, steps)


def _uninitialised(recorder, found):
    """Reads of what nobody wrote; the counts are this block's, and then all blocks'."""
    steps, cells, first = [], {}, None
    for number, step, access in accesses_at(recorder, found.site, array=found.array):
        if access.missing:
            array = recorder.arrays.number(access.array)
            cells |= dict.fromkeys((array, cell) for cell in access.missing)
            steps.append(number)
            first = first or _reader(number, step, access)
    made = found.finding
    if not steps:
        return _made("uninitialised", made, ())
    here = found._replace(count=len(cells)).finding
    advice = f"{first}{made.advice[made.advice.index(': ') :]}"
    if found.count > len(cells):
        whole = counted(found.count, "cell")
        advice += f" All blocks of the launch together: {whole}."
    made = here._replace(advice=advice)
    return _made("uninitialised", made, steps, cells)


def _reader(number, step, access) -> str:
    """The first thread that reads what nobody wrote, and its cell."""
    threads = threads_of(step, access)
    cell, thread = next(it for it in threads if it[0] in access.missing)
    name = name_of_cell(access.array, cell)
    return f"Thread {thread} reads `{name}` first, in step {number + 1}"


def _unset(recorder, found):
    steps = [
        number
        for number, site, variable in recorder.unset
        if is_at(site, found.site) and variable == found.variable
    ]
    return _made("unset", found.finding, steps)


def _mistakes(recorder, run):
    """What is silently wrong, in the first step of its line."""
    for warning in run.warnings:
        if warning.kind in MISTAKES:
            steps = _steps_at(recorder, warning.site)
            yield _made(warning.kind, warning.finding, steps[:1])


def _steps_at(recorder, site):
    return [
        number
        for number, step in enumerate(recorder.steps)
        if (step.file, step.line) == (site.file, site.line)
    ]


# what costs


def _conflicts(recorder, run):
    """Bank conflicts, in each step that has one."""
    for site, row in run.bank_conflicts.by_line.items():
        if row.conflicts:
            there = accesses_at(recorder, site, site.kind, site.array)
            steps = [number for number, _, access in there if conflicts_of(access)]
            yield _made("conflict", conflict(site, row, run.strides), steps)


def conflicts_of(access) -> int:
    """The wavefronts of a request to shared memory beyond the ideal."""
    if not access.counts or access.array.space != "shared":
        return 0
    return sum(len(wavefronts) - 1 for wavefronts in groups_of(access))


def _costs(recorder, run):
    """Scattered requests and idle lanes, in the steps of their line that have some."""
    for finding in report.findings_of(run):
        if finding.topic == "coalescing" and finding.level == "costly":
            site = finding.site
            there = accesses_at(recorder, site, site.kind, site.array)
            steps = [number for number, _, access in there if scatters(access)]
            yield _made("sectors", finding, steps)
        elif finding.topic == "divergence" and finding.advice:
            there = _steps_at(recorder, finding.site)
            idle = [number for number in there if idles(recorder, number)]
            # a step tells its own lanes; the launch's share is in the text
            made = finding._replace(what="part of the warp waits")
            yield _made("divergence", made, idle)


def scatters(access) -> bool:
    """Does a request to global memory touch more sectors than its bytes would fill?"""
    asked = access.addresses[:, None], access.lanes[:, None]
    touched, ideal = request_sectors(*asked, *accesses_of(access.event.dtype))
    return bool(access.counts and touched > ideal)


def idles(recorder, number) -> bool:
    """Do threads of the warp take no part in a step?"""
    step = recorder.steps[number]
    return step.lanes.sum() < min(WARP_SIZE, recorder.threads - step.warp * WARP_SIZE)


# what ended the launch


def _error(recorder, error, grid):
    """The error that ended the launch, in the last step if it is of this block."""
    text = str(error)
    last = len(recorder.steps) - 1
    return {
        "kind": "error",
        "level": "wrong",
        "title": text.splitlines()[0] if text else type(error).__name__,
        "text": text,
        "line": recorder.steps[-1].line if recorder.steps else 0,
        "steps": [last] if last >= 0 and is_of_block(recorder, text, grid) else [],
        "cells": [],
    }


def is_of_block(recorder, text, grid) -> bool:
    """Is an error about this block, or about none in particular?"""
    if recorder.complete or recorder.truncated:
        return False
    place = re.escape(coordinates(recorder.block, grid))
    return not re.search(r"\bblock [(\d]", text) or bool(
        re.search(rf"\bblock {place}(?!\d)", text)
    )
