"""The grader's digest changes with all that can change a mark, and nothing else."""

import platform
import sys
from pathlib import Path

import pytest

from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Predict
from helpers.exercises.packing import packed
from helpers.grading import digest
from helpers.grading.digest import PACKAGES, files, grader_digest
from helpers.grading.sandbox import judging
from tests.paths import ROOT

DECIDE = (
    "helpers.checking.tolerance",
    "helpers.exercises.reasons",
    "helpers.grading.notebooks",
    "helpers.grading.worker",
    "helpers.exercises.rebuilding",
    "thirty_two_lanes.assembly.instructions",
    "thirty_two_lanes.core.race",
    "thirty_two_lanes.emulator.host.dispatch",
    "thirty_two_lanes.emulator.machine.warps",
    "thirty_two_lanes.intrinsics.wide_access",
    "lessons.exercises.25_reduction",
)
SHOW = (
    "helpers/grading/__main__.py",
    "helpers/grading/exports/formats.py",
    "helpers/grading/feedback.py",
    "helpers/grading/report.py",
    "helpers/grading/store.py",
    "helpers/measuring/timing.py",
    "helpers/plotting/charts.py",
    "lessons/record.py",
    "tool/thirty_two_lanes/film/sheet.py",
    "tool/thirty_two_lanes/pictures/svg.py",
    "tool/thirty_two_lanes/scripts/report.py",
)


@pytest.fixture(scope="module")
def known():
    """The files that the digest is of, by module."""
    return files()


@pytest.mark.parametrize("name", DECIDE)
def test_a_comma_in_what_decides_is_another_grader(name, known, tmp_path, monkeypatch):
    """Judges, the emulator, the way from a notebook to an answer, and exercises."""
    monkeypatch.setattr(digest, "files", lambda: known)
    before = grader_digest()
    assert before == grader_digest()
    changed = tmp_path / "changed.py"
    changed.write_bytes(known[name].read_bytes() + b",")
    monkeypatch.setattr(digest, "files", lambda: known | {name: changed})
    assert before != grader_digest()


@pytest.mark.parametrize("path", SHOW)
def test_a_comma_in_what_only_shows_changes_no_mark(path, known):
    """Nobody is marked anew for a figure, a film or a page."""
    assert (ROOT / path).is_file()
    assert ROOT / path not in known.values()


def test_tables_that_decide_are_of_the_digest():
    """Hints are in marks, and sizes of GPUs in what judges say."""
    names = "exercises/hints.toml", "thirty_two_lanes/core/gpus.toml"
    found = [it.as_posix() for it in digest.tables().values()]
    assert all(any(it.endswith(name) for it in found) for name in names)


@pytest.mark.parametrize("changed", ["Python", *PACKAGES])
def test_other_versions_are_another_grader(changed, monkeypatch):
    """Numba compiles, NumPy computes, NVIDIA's compiler counts instructions."""
    monkeypatch.setattr(digest, "files", lambda: {})
    monkeypatch.setattr(digest, "version", lambda package: "1")
    before = grader_digest()
    other = {"Python": "1"}.get(changed, platform.python_version())
    monkeypatch.setattr(platform, "python_version", lambda: other)
    monkeypatch.setattr(digest, "version", lambda it: "2" if it == changed else "1")
    assert before != grader_digest()


@pytest.mark.parametrize("name", ["sectors", "calendar", "several_each"])
def test_each_function_that_judges_is_in_a_file_of_the_digest(name, known):
    """As Python itself tells while an answer is rebuilt and judged."""
    task, called = exercise(name), set()
    predicts = isinstance(task, Predict)
    answer = packed(task.truth() if predicts else task.kernel(task.answer_text))
    request = {"exercise": name, "seed": None, "inputs": "s", "answer": answer}
    sent, ours = [], (str(ROOT / "helpers"), str(ROOT / "tool"))
    sys.setprofile(lambda frame, *_: called.add(frame.f_code.co_filename))
    try:
        judging.work(request, sent.append, None)
    finally:
        sys.setprofile(None)
    assert (task.points, "done") == (sent[0]["points"], sent[1])
    called = {Path(it) for it in called if it.startswith(ours)}
    assert len(called) > 10
    assert set() == called - {*known.values()}


def test_what_the_exercises_of_a_course_import_decides_as_well(tmp_path, monkeypatch):
    """Of its own package; what nobody imports does not."""
    package = tmp_path / "other_course"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tasks.py").write_text("from other_course import beside\n")
    (package / "beside.py").write_text("from .within import FOUND\n")
    (package / "within.py").write_text("FOUND = 3\n")
    (package / "figures.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "other_course", raising=False)
    import other_course  # noqa: F401

    kind = type("Other", (exercises()["mirror"],), {"__module__": "other_course.tasks"})
    monkeypatch.setattr(digest, "exercises", lambda: {"other": kind})
    monkeypatch.setattr(digest, "ROOTS", ())  # what they reach is asked above
    found = files.__wrapped__().values()
    found = {it.name for it in found if it.is_relative_to(package)}
    assert {"__init__.py", "tasks.py", "beside.py", "within.py"} == found
