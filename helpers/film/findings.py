"""What the report finds, in the steps in which it happens.

The words are the report's, about the whole launch; the steps are the watched block's,
so a finding that only other blocks make has none. Of a race they are the first pair of
accesses that nothing orders.
"""

import re

import numpy as np

from helpers.core.errors import coordinates
from helpers.core.hardware import WARP_SIZE
from helpers.core.wavefronts import lanes_by_wavefront, served_together
from helpers.emulator.report import findings as report


def findings_of(recorder, run, error, grid) -> list[dict]:
    """All findings of a film, the worst first."""
    if run is None:
        return [_error(recorder, error, grid)]
    found = [
        *(_race(recorder, race) for race in run.races),
        *(_missed(recorder, it) for it in run.barriers),
        *(_stray(recorder, it) for it in run.lanes),
        *(_uninitialised(recorder, it) for it in run.uninitialised),
        *_mistakes(recorder, run),
        *_conflicts(recorder, run),
        *_costs(recorder, run),
    ]
    return found


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


def _accesses(recorder, site, kind=None, array=None):
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
    places = ((s.file, s.line, s.called_from) for s in (one, other))
    return len(set(places)) == 1


# races


def _race(recorder, race):
    finding = report.race(race)
    pair = first_pair(recorder, race)
    if pair is None:
        return _made("race", finding, _one_side(recorder, race))
    earlier, later, array, cells = pair
    number = recorder.arrays.number(array)
    return _made("race", finding, (earlier, later), [(number, cell) for cell in cells])


def first_pair(recorder, race):
    """The first two accesses of a film that race: their steps, array and cells."""
    if race.scope == "grid":
        return None
    seen = {}  # side, interval, array, cell: the first step there, and its threads
    sides = (race.first, race.first_kind), (race.second, race.second_kind)
    alike = is_at(race.first, race.second) and race.first_kind == race.second_kind
    ends = [
        (*access, side)
        for side, place in enumerate(sides[: 1 if alike else 2])
        for access in _accesses(recorder, *place)
    ]
    ends.sort(key=lambda it: it[0])
    for number, step, access, side in ends:
        cells = _threads_of(step, access)
        met = {}
        for cell, thread in cells:
            key = step.interval, id(access.array), cell
            for other, who in seen.get((1 - side, *key), ()):
                if _unordered(race.scope, who, thread, recorder.steps, other, number):
                    met.setdefault(other, []).append(cell)
            for one in (0, 1) if alike else (side,):
                seen.setdefault((one, *key), []).append((number, thread))
        if met:
            return min(met), number, access.array, sorted(set(met[min(met)]))
    return None


def _unordered(scope, one, other, steps, earlier, later) -> bool:
    """Are two threads, at these steps of one interval, a pair of the race's scope?"""
    if scope == "copy":
        return True
    same_warp = one // WARP_SIZE == other // WARP_SIZE
    if scope == "warp":
        return same_warp and one != other and steps[earlier].syncs == steps[later].syncs
    return not same_warp


def _threads_of(step, access):
    """Each cell of an access with the thread that asks for it."""
    lanes = np.flatnonzero(access.lanes)
    threads = lanes + WARP_SIZE * step.warp
    return list(zip(access.cells[lanes].tolist(), threads.tolist(), strict=True))


def _one_side(recorder, race):
    """The first step that has a part in a race with another block."""
    sides = (race.first, race.first_kind), (race.second, race.second_kind)
    found = [number for s in sides for number, *_ in _accesses(recorder, *s)]
    return found[:1] if race.scope == "grid" else ()


# what else may be wrong


def _missed(recorder, found):
    steps = [n for n, site in recorder.missed if is_at(site, found.site)]
    return _made("barrier", report.missing(found), steps)


def _stray(recorder, found):
    steps = [n for n, site in recorder.stray if is_at(site, found.site)]
    return _made("lanes", report.stray(found), steps)


def _uninitialised(recorder, found):
    steps, cells = [], []
    for number, _, access in _accesses(recorder, found.site, array=found.array):
        if access.missing:
            place = recorder.arrays.number(access.array)
            cells = cells or [(place, cell) for cell in access.missing]
            steps.append(number)
    return _made("uninitialised", report.uninitialised(found), steps, cells)


def _mistakes(recorder, run):
    """What is silently wrong, in the first step of its line."""
    for warning in run.warnings:
        if warning.kind in report.MISTAKES:
            steps = _steps_at(recorder, warning.site)
            yield _made(warning.kind, report.mistake(warning), steps[:1])


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
            there = _accesses(recorder, site, site.kind, site.array)
            steps = [number for number, _, access in there if conflicts_of(access)]
            yield _made("conflict", report.conflict(site, row), steps)


def conflicts_of(access) -> int:
    """The wavefronts of a request to shared memory beyond the ideal."""
    if not access.counts or access.array.space != "shared":
        return 0
    event = access.event
    asked = event.dtype.itemsize, event.reference.served_as
    asked = access.addresses, access.lanes, *asked
    addresses, lanes = (part[:, None] for part in asked[:2])
    groups = served_together(addresses, lanes, *asked[2:])
    ideal = sum(bool(lanes[part, chosen].any()) for part, chosen in groups)
    return len(lanes_by_wavefront(*asked)) - ideal


def _costs(recorder, run):
    """Scattered requests and idle lanes, in each step of their line."""
    for finding in report.findings_of(run):
        if finding.topic == "coalescing" and finding.level == "costly":
            site = finding.site
            there = _accesses(recorder, site, site.kind, site.array)
            yield _made("sectors", finding, [number for number, *_ in there])
        elif finding.topic == "divergence" and finding.advice:
            yield _made("divergence", finding, _steps_at(recorder, finding.site))


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
