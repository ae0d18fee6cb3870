"""What ends in the middle: the grader at one submission, or all of it by Ctrl-C."""

import time

import psutil

from helpers.grading import grading, worker
from tests.grading.attacks import CHECK, HEAD
from tests.grading.handing_in import PEOPLE, course, grade, marks, row


def test_a_submission_at_which_the_grader_fails_stops_no_other(
    tmp_path, monkeypatch, capsys
):
    """It is not graded, and the next call tries it again."""
    bad = [HEAD, CHECK, "# bad"]
    people = {"ann": PEOPLE["ann"], "bad": (bad, None), "bob": PEOPLE["bob"]}
    course(tmp_path, people)
    real = worker.grade

    def failing(work):
        if work.cells == tuple(bad):
            raise TypeError("of all that there is")
        return real(work)

    monkeypatch.setattr(grading, "grade", failing)
    assert 1 == grade(tmp_path)  # somebody must look
    assert {"ann": [2, 2], "bad": [None] * 2, "bob": [0, 2]} == marks(tmp_path)
    told = "The grader failed at it (TypeError): a person must look."
    assert ("not graded", told) == tuple(
        row(tmp_path, "bad")[it] for it in ("reason", "sentence")
    )
    said = "bad (one) is not graded: TypeError: of all that there is"
    assert said in capsys.readouterr().err
    monkeypatch.setattr(grading, "grade", real)
    assert 0 == grade(tmp_path)
    assert [0, 0] == marks(tmp_path)["bad"]


def test_ctrl_c_ends_what_is_running(tmp_path, monkeypatch):
    """No cell and no kernel runs on, and nothing begins."""
    monkeypatch.setattr(worker, "_idle", {})
    monkeypatch.setattr(worker, "_begun", [])
    monkeypatch.setattr(grading, "end_nurseries", worker.end_nurseries)
    people = {name: ([CHECK, "import time; time.sleep(60)"], None) for name in "abc"}
    course(tmp_path, people, asked=["mirror"])

    def interrupted(running, **_):
        time.sleep(2)
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "wait", interrupted)
    before, began = set(psutil.Process().children()), time.monotonic()
    assert 130 == grade(tmp_path)
    while set(psutil.Process().children()) - before:
        assert time.monotonic() - began < 40
        time.sleep(0.1)
