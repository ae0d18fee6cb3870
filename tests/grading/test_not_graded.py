"""Not graded is who met a fault of the machine or the judge: nobody for the asking."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.grading import grading, worker
from helpers.grading.report import report
from helpers.grading.sandbox import nursery as nurseries
from helpers.grading.sandbox.children import LOST
from helpers.grading.sandbox.limits import Limits
from helpers.grading.store import MarksStore
from helpers.grading.submissions import Submission
from helpers.grading.worker import excuse_of, unjudged
from tests.grading.asking import each, marks, points
from tests.grading.attacks import CHECK, EXCUSES, HEAD, RIGHT

ITEM = {"exercise": "mirror", "answer": "mirror", "points": 2}
TORCH = "ModuleNotFoundError: No module named 'torch'"


@pytest.mark.slow
@each(EXCUSES, 4)
def test_no_submission_is_excused_for_the_asking(code):
    """Whatever it raises, prints, sends or takes: what is missing has 0 points."""
    assert [0] == points(marks(HEAD, code))


# ---------------------------------------------------------------- modules


def test_a_module_that_is_not_here_is_named():
    """What is missing then has 0 points, and the rest is judged."""
    lacks = "import no_such.module\nactive_share = 3"
    found = marks(HEAD, RIGHT, CHECK, lacks, asked=("mirror", "active_share"))
    right, other = found["exercises"]
    assert (2, "") == (right["points"], right["reason"])
    assert (0, "stopped") == (other["points"], other["reason"])
    told = "There is no `active_share` in the notebook. It imports `no_such`: not here."
    assert told == other["sentence"]
    assert ["no_such"] == found["lacks"]


@pytest.mark.parametrize(
    "text, error, lacks",
    [
        ("import torch", TORCH, ["torch"]),
        ("if 1:\n    from torch.nn import Linear", TORCH + "; x", ["torch"]),
        ("import math, torch as t", TORCH, ["torch"]),
        ("raise ModuleNotFoundError(...)", TORCH, []),
        ("# install torch", TORCH, []),
        ("import torchvision", TORCH, []),
        ("import json", "ModuleNotFoundError: No module named 'json'", []),
        ("import torch", "ModuleNotFoundError: No module named 'rm -rf'", []),
        ("import torch", "ImportError: No module named 'torch'", []),
    ],
)
def test_a_module_is_lacking_only_where_it_is_imported_and_not_here(
    monkeypatch, text, error, lacks
):
    """What an error says is its writer's word."""
    monkeypatch.setattr(worker, "is_here", lambda name: name != "torch")
    assert lacks == worker.lacking(("", text), [{"cell": 2, "error": error}])


def test_who_imports_what_is_here_now_is_marked_anew(tmp_path, monkeypatch):
    """After its installation; until then it is marked."""
    store = MarksStore(tmp_path)
    row = worker.row_of(ITEM, 0, "stopped", "")
    result = {"exercises": [row], "lacks": ["no_such_module"], "cells": []}
    store.keep("ann", "one", "key", result)
    assert store.has("ann", "one", "key")
    said = "imported, not here, and 0 points for what is missing then (notebooks)"
    assert f"{said}: `no_such_module` (1)" in report(store)
    monkeypatch.setitem(worker.sys.modules, "no_such_module", None)
    assert not store.has("ann", "one", "key")


# ---------------------------------------------------------------- who was ended


@pytest.mark.parametrize(
    "how, status, was_short, ended",
    [
        ("CLD_KILLED", 9, True, "was killed"),
        ("CLD_KILLED", 9, False, "ended early"),
        ("CLD_KILLED", 24, False, "computed for too long"),
        ("CLD_DUMPED", 11, True, "ended early"),
        ("CLD_EXITED", 9, True, "ended early"),
    ],
)
def test_who_is_killed_was_killed_by_the_system_only_if_it_says_so(
    how, status, was_short, ended
):
    """It counts the processes that it ends where memory is short."""
    found = SimpleNamespace(si_code=getattr(nurseries.os, how), si_status=status)
    assert ended == nurseries.way_of(found, was_short)


def test_who_kills_itself_keeps_what_was_handed_over():
    """And what is missing has 0 points."""
    kill = "import os; os.kill(os.getpid(), 9)"
    rows = marks(HEAD, RIGHT, CHECK, kill, asked=("mirror", "active_share"))
    assert [2, 0] == points(rows)


def test_a_name_of_several_lines_is_said_in_one():
    """The log of a workflow obeys what a line begins with."""

    def lost():
        raise OSError("no\n::error::room")

    said, one = [], Submission("x\n::error::y", "one", Path("one.ipynb"))
    work = SimpleNamespace(items=(ITEM,))
    grading.result_of(SimpleNamespace(result=lost), one, work, said.append)
    assert [r"x\n::error::y (one) is not graded: OSError: no\n::error::room"] == said


# ---------------------------------------------------------------- time


@pytest.mark.parametrize(
    "ended, seconds, timeouts",
    [
        ("done", 1, 0),
        ("done", 3, 0),
        ("done", 5, 1),
        ("ran out of time", 60, 1),
        ("lost its process", 0, 1),
        ("was killed", 3, 0),
    ],
)
def test_who_is_not_graded_after_long_has_timed_out(
    monkeypatch, ended, seconds, timeouts
):
    """And nobody else: what took long and has its marks is marked."""
    times = {"seconds": seconds, "cpu_seconds": 0.1, "waited_seconds": seconds}
    ran = LOST | {"ended": ended} | times
    answering(monkeypatch, lambda request, limits: ran)
    found = marks("pass")
    assert (timeouts, 0.1) == (found["timeouts"], found["cpu_seconds"])
    worked = ran | {"cpu_seconds": seconds, "ended": "done"}
    answering(monkeypatch, lambda request, limits: worked)
    assert 0 == marks("pass")["timeouts"]


def answering(monkeypatch, ask):
    """Let this answer in the place of both warm processes."""

    @contextmanager
    def nursery(*_):
        yield SimpleNamespace(ask=ask, level="bubblewrap")

    monkeypatch.setattr(worker, "nursery", nursery)


@pytest.mark.parametrize(
    "ended, seconds, computed, waited, excused",
    [
        ("ran out of time", 60, 5, 50, True),
        ("ran out of time", 60, 5, 1, False),  # it slept
        ("ran out of time", 60, 55, 4, False),
        ("ran out of time", 60, 110, 50, False),  # it waited for its own processes
        ("done", 45, 4, 40, True),  # one of its cells was stopped, perhaps
        ("done", 12, 1, 10, False),
        ("ended early", 30, 1, 29, False),
        ("computed for too long", 60, 60, 0, False),
        ("was killed", 3, 1, 0, True),
        ("lost its process", 0, 0, 0, True),
    ],
)
def test_only_who_was_kept_waiting_for_long_is_excused(
    ended, seconds, computed, waited, excused
):
    """Else it is what the notebook did, and what is missing earns 0."""
    ran = {"ended": ended, "seconds": seconds, "cpu_seconds": computed}
    assert excused == bool(excuse_of(ran | {"waited_seconds": waited}, Limits()))


@pytest.mark.parametrize("computed, reason", [(5, "not graded"), (55, "no_answer")])
def test_a_busy_machine_costs_nobody_points(monkeypatch, computed, reason):
    """What is missing after long waiting for a processor is for a person, and not 0."""
    times = {"seconds": 60, "cpu_seconds": computed, "waited_seconds": 60 - computed}
    answering(monkeypatch, lambda request, limits: LOST | {"ended": "done"} | times)
    (row,) = marks("pass")["exercises"]
    points = None if reason == "not graded" else 0
    assert (points, reason) == (row["points"], row["reason"])


@pytest.mark.parametrize(
    "ended, computed, reason",
    [
        ("computed for too long", 60, "timeout"),
        ("ran out of time", 55, "timeout"),
        ("ran out of time", 5, "not graded"),
        ("was killed", 5, "not graded"),
        ("used too much memory", 5, "refused"),
    ],
)
def test_a_kernel_is_refused_only_where_it_took_time_or_memory(ended, computed, reason):
    """Whatever else ends the judge is for a person."""
    found = {"ended": ended, "cpu_seconds": computed}
    row = unjudged({"exercise": "mirror", "points": 2}, found, Limits())
    assert reason == row["reason"]
    assert (None if reason == "not graded" else 0) == row["points"]
