"""What isolates submissions: nobody is graded without it, and marks say what it was."""

import re
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.grading import grading, worker
from helpers.grading.__main__ import main
from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.children import LOST, NurseryError
from helpers.grading.store import MarksStore
from tests.grading.attacks import CHECK
from tests.grading.handing_in import course, grade, hand_in, notebook


@pytest.mark.parametrize("option", [(), ("--isolated",)])
def test_without_isolation_nobody_is_graded(tmp_path, monkeypatch, capsys, option):
    """Whoever wants it nevertheless must say so: CI must not find out from its log."""
    course(tmp_path)
    monkeypatch.setattr(isolation, "has_bubblewrap", lambda: False)
    line = ["grade", tmp_path / "submitted", "--release", tmp_path / "release"]
    assert 2 == main([str(it) for it in (*line, "--out", tmp_path / "marks", *option)])
    told = capsys.readouterr().err
    assert "NOT ISOLATED" in told
    assert "nobody is graded: nothing isolates submissions here" in told
    assert "`--not-isolated` grades nevertheless" in told
    assert not (tmp_path / "marks").exists()


def test_marks_that_submissions_could_read_are_refused(tmp_path, monkeypatch, capsys):
    """As below `/usr`, which they see whole."""
    course(tmp_path)
    monkeypatch.setattr(isolation, "has_bubblewrap", lambda: True)
    monkeypatch.setattr(isolation, "SYSTEM", (str(tmp_path / "submitted"),))
    assert 2 == grade(tmp_path, "--isolated")
    told = f"submissions could read {tmp_path / 'submitted'}, since they see all of"
    assert f"nobody is graded: {told}" in capsys.readouterr().err


def test_a_machine_of_a_cluster_grades_nobody_without_isolation(monkeypatch):
    """What isolates is asked where submissions run, and no line of one runs before."""
    answers_at(monkeypatch, "process")
    work = worker.Submitted(("pass",), (), None, "s")
    with pytest.raises(NurseryError, match="nothing isolates submissions here"):
        worker.grade(work)
    assert "not isolated" == worker.grade(replace(work, isolated=False))["isolation"]


def answers_at(monkeypatch, level):
    """Let notebooks be empty, and be run at a level of isolation."""
    ran = LOST | {"ended": "done", "seconds": 0.1, "cpu_seconds": 0.1}
    monkeypatch.setattr(grading, "require_right", lambda *_: None)
    monkeypatch.setattr(isolation, "has_bubblewrap", lambda: level == "bubblewrap")

    @contextmanager
    def nursery(*_):
        yield SimpleNamespace(ask=lambda *_: ran, level=level)

    monkeypatch.setattr(worker, "nursery", nursery)


def test_marks_say_what_isolated_them_and_may_be_made_anew(
    tmp_path, monkeypatch, capsys
):
    """In each file, `report` and `totals.csv`; `--isolated` marks what was not."""
    course(tmp_path, {it: ([CHECK], []) for it in ("ann", "bob")}, asked=["mirror"])
    folder = tmp_path / "marks"

    def said(level, *options):
        answers_at(monkeypatch, level)
        assert 0 == grade(tmp_path, *options)
        assert 0 == main(["report", str(folder)])
        return [
            *(MarksStore(folder).results()[it]["isolation"] for it in (0, 1)),
            (folder / "totals.csv").read_text("utf-8").splitlines()[1],
            *re.findall("isolation: (.*)\n", capsys.readouterr().out),
        ]

    no, yes = "not isolated", "bubblewrap"
    assert [no, no, f"ann,,,,0,{no}", f"{no} 2"] == said("process", "--not-isolated")
    hand_in(tmp_path, "bob", notebook([CHECK, ""]))
    both = [no, yes, f"ann,,,,0,{no}", f"{no} 1, {yes} 1"]
    assert both == said("bubblewrap")
    assert [yes, yes, f"ann,,,,0,{yes}", f"{yes} 2"] == said("bubblewrap", "--isolated")


def test_why_bubblewrap_is_not_to_be_had_is_told(tmp_path, monkeypatch):
    """As in a container whose filter refuses namespaces; else it is to be installed."""
    lack = isolation.lack_of_bubblewrap.__wrapped__  # it is asked once
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install bubblewrap" == lack()
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho bwrap: no permission >&2\nexit 1\n")
    bwrap.chmod(0o755)
    start = "let bubblewrap start here (docs/GRADING.md; it says: "
    assert f"{start}bwrap: no permission)" == lack()
    bwrap.write_text("#!/bin/sh\n")
    assert "" == lack()
