"""Marks one submission: its cells run in one child, each answer is judged in another.

It depends on the task alone, so that any process of any machine may do it, and twice.
"""

import atexit
import hashlib
import json
import re
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from textwrap import shorten

from helpers.exercises.reasons import (
    NO_ANSWER,
    NOT_GRADED,
    PERSON,
    REFUSED,
    STOPPED,
    TIMEOUT,
    Reason,
)
from helpers.grading.sandbox.children import LOST, Nursery, require_isolation
from helpers.grading.sandbox.isolation import NAMES
from helpers.grading.sandbox.limits import (
    KILLED,
    LATE,
    MOST_MESSAGES,
    TOO_MUCH_MEMORY,
    WORKED_LONG,
    Limits,
)

IMPORTED = r"^[ \t]*(?:import\b.*|from[ \t]+)\b{}\b"
LACK = re.compile(r"ModuleNotFoundError: No module named '(\w{1,40})\b")
BUSY = 0.5  # of the time of a process: one that computes less waits for its turn
MOST_ERRORS = 100  # cells that feedback tells of
BEGINNING = 60  # of a cell
DEEPEST = 100  # levels of what is handed over


@dataclass(frozen=True)
class Submitted:
    """A submission's cells, and what is asked of it: plain data, for any process."""

    cells: tuple
    items: tuple  # rows of a manifest, as dictionaries
    seed: object
    secret: str
    container: str = ""
    limits: dict = field(default_factory=lambda: asdict(Limits()))
    isolated: bool = True  # or not at all
    prepared: bool = False  # is the judge to do once what is the same for all answers?

    @property
    def preparation(self) -> dict:
        """What the judge is told at its start, if it is told anything."""
        if not self.prepared:
            return {}
        names = [item["exercise"] for item in self.items]
        return {"seed": self.seed, "inputs": {it: self.inputs(it) for it in names}}

    def inputs(self, exercise) -> str:
        """What the inputs of an exercise follow from, and the secret does not."""
        return hashlib.sha256(f"{self.secret} {exercise}".encode()).hexdigest()


_idle, _begun = {}, []  # nurseries that nobody uses, by what they are; and all


@contextmanager
def nursery(kind, container, preparation=None):
    """A warm process for one submission: one that was begun before, if any is idle; it
    begins anew where it is to be prepared, and was not for this.
    """
    idle = _idle.setdefault((kind, container), [])
    try:
        borrowed = idle.pop()
    except IndexError:
        borrowed = Nursery(kind, container)
        _begun.append(borrowed)
    if preparation:
        borrowed.prepare(preparation)
    try:
        yield borrowed
    except BaseException:
        borrowed.end()  # its answer may still come: the next one would read it
        raise
    finally:
        idle.append(borrowed)


def end_idle(kind):
    """End the warm processes of a kind that nobody uses: who comes next has another."""
    for (its, _), idle in [*_idle.items()]:
        while idle and its == kind:
            idle.pop().end()


@atexit.register
def end_nurseries():
    """End all warm processes."""
    while _begun:
        _begun.pop().end()
    _idle.clear()


def grade(work: Submitted) -> dict:
    """The marks of a submission: a row for each exercise, and how its cells ended."""
    names = [item["answer"] for item in work.items]
    request = {"cells": list(work.cells), "answers": names}
    limits = Limits(**work.limits)
    with nursery("collect", work.container) as collect:
        if work.isolated:
            require_isolation(collect.level)
        ran = collect.ask(request, limits)
    answers, errors = handed_over(ran["messages"], names)
    cells = [it | {"begins": beginning(work.cells, it["cell"])} for it in errors]
    lacks = lacking(work.cells, errors) if len(answers) < len(names) else []
    excuse = excuse_of(ran, limits)
    ended = ran["ended"] if ran["ended"] != "done" else ""
    rows, asked, each = [], [(ran, limits)], limits.of_each(len(names))
    with nursery("judge", work.container, work.preparation) as judge:
        for item in work.items:
            if (answer := answers.get(item["answer"])) is None:
                why = excuse, ended, lacks
                rows.append(missing_row(item, work.cells, errors, *why))
                continue
            row, found = marked(item, answer, work, judge, each)
            rows.append(row)
            asked.append((found, each))
    lost = NOT_GRADED in [row["reason"] for row in rows]
    timeouts = int(lost and any(timed_out(*it) for it in asked))
    whole = {"exercises": rows, "cells": cells, "ended": ended, "timeouts": timeouts}
    whole |= {"isolation": NAMES[collect.level], "lacks": lacks}
    return whole | {"cpu_seconds": sum(found["cpu_seconds"] for found, _ in asked)}


def timed_out(answer, limits) -> bool:
    """Did a child take so long that it was stopped, perhaps, or did its process?"""
    long = answer["seconds"] >= min(limits.cell_wall_s, limits.wall_s)
    return long or answer["ended"] == LOST["ended"]


def excuse_of(ran, limits) -> str:
    """Why an answer that a notebook did not hand over is not 0, if it was the machine:
    no submission may have that for the asking.
    """
    if ran["ended"] in (LOST["ended"], KILLED):
        return f"Its notebook {ran['ended']}: a person must look."
    half = BUSY * ran["seconds"]
    if timed_out(ran, limits) and ran["cpu_seconds"] < half <= ran["waited_seconds"]:
        return "This machine was too busy to run its notebook in time."
    return ""


def lacking(cells, errors) -> list:
    """The modules for whose lack a cell ended that imports them, and that are lacking
    indeed: what an error says is its writer's word.
    """
    found = {}
    for error in errors:
        if said := LACK.match(error["error"]):
            imports = re.compile(IMPORTED.format(said[1]), re.MULTILINE)
            if imports.search(text_of(cells, error["cell"])) and not is_here(said[1]):
                found[said[1]] = True
    return [*found]


def is_here(module) -> bool:
    """Can a module be imported, by its name without dots?"""
    return module in sys.modules or find_spec(module) is not None


def handed_over(messages, names):
    """The answers by name and the first error of each cell, as far as they are well
    formed, of as many messages as an honest process writes.
    """
    answers, errors = {}, {}
    for line in messages[:MOST_MESSAGES]:
        try:
            message = json.loads(line)
            cell, error, new = (message[k] for k in ("cell", "error", "answers"))
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        if isinstance(new, dict):
            shallow = {k: v for k, v in new.items() if k in names and is_shallow(v)}
            answers |= shallow
        if type(cell) is int and isinstance(error, str) and error:
            errors.setdefault(cell, {"cell": cell, "error": error[:300]})
    return answers, [*errors.values()][:MOST_ERRORS]


def beginning(cells, number) -> str:
    """How a cell begins, to find it by: some programs number cells otherwise."""
    text = text_of(cells, number)
    start = found.start() if (found := re.search(r"\S", text)) else 0
    lines = text[start : start + 4 * BEGINNING].split("\n")
    first = [it.strip() for it in lines if it.strip()][:2]
    return shorten(" ".join(first), BEGINNING, placeholder=" …")


def text_of(cells, number) -> str:
    """The text of a cell; "" if there is none of this number."""
    return cells[number - 1] if 0 < number <= len(cells) else ""


def is_shallow(value, levels=DEEPEST) -> bool:
    """Is it nested so little that any program can read it?"""
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list)):
        return True
    return levels > 0 and all(is_shallow(it, levels - 1) for it in inner)


def missing_row(item, cells, errors, excuse, ended, lacks):
    """The row of an answer that is not there, or that a limit kept from being there."""
    if excuse:
        return row_of(item, None, NOT_GRADED, excuse)
    lack = f"There is no `{item['answer']}` in the notebook"
    if ended:
        return row_of(item, 0, STOPPED, f"{lack}, which {ended}.")
    its_name = re.compile(rf"\b{re.escape(item['answer'])}\b")
    for error in errors:
        stopped = error["error"].startswith("it was stopped")
        if stopped and its_name.search(text_of(cells, error["cell"])):
            why = error["error"].replace("it", f"code cell {error['cell']}", 1)
            return row_of(item, 0, STOPPED, f"{lack}: {why}.")
    if lacks:
        names = ", ".join(f"`{it}`" for it in lacks)
        return row_of(item, 0, STOPPED, f"{lack}. It imports {names}: not here.")
    return row_of(item, 0, NO_ANSWER, f"{lack}.")


def marked(item, answer, work, judge, limits):
    """The row of an exercise, and what the judge's child answered."""
    request = {
        "exercise": item["exercise"],
        "seed": work.seed,
        "inputs": work.inputs(item["exercise"]),
        "answer": answer,
    }
    found = judge.ask(request, limits)
    if found["ended"] != "done":
        return unjudged(item, found, limits), found
    verdict = json.loads(found["messages"][0])
    if "failed" in verdict:
        why = f"The judge failed at it ({verdict['failed']}): a person must look."
        return row_of(item, None, NOT_GRADED, why), found
    return judged(item, verdict), found


def unjudged(item, found, limits):
    """The row of an answer whose judge did not end well."""
    ended, worked = found["ended"], found["cpu_seconds"] >= BUSY * limits.wall_s
    if ended == WORKED_LONG or ended == LATE and worked:
        return row_of(item, 0, TIMEOUT, "Its launches did not end in time.")
    if ended == TOO_MUCH_MEMORY:  # of its own: nothing else is in its process
        return row_of(item, 0, REFUSED, "To compile or launch it took too much memory.")
    why = f"The judge {ended}: a person must look."
    if ended == LATE:
        why = "This machine was too busy to judge it in time."
    return row_of(item, None, NOT_GRADED, why)


def judged(item, verdict):
    """The row of a verdict, whose points are scaled to those of the course."""
    points, reason = verdict["points"], verdict["reason"]
    if points is None:
        row = row_of(item, None, PERSON, verdict["sentence"])
    else:
        scaled = round(points / verdict["of"] * item["points"], 4)
        row = row_of(item, scaled, Reason(reason or ""), verdict["sentence"])
    more = "report", "line", "hints", "answer", "note"
    return row | {k: verdict[k] for k in more}


def row_of(item, points, reason, sentence):
    return {
        "exercise": item["exercise"],
        "points": points,
        "max_points": item["points"],
        "reason": reason,
        "sentence": sentence,
        "report": "",
        "line": None,
        "hints": [],
        "answer": "",
        "note": "",
    }
