"""What ends in the middle: the grader at one submission."""

from helpers.grading import grading, worker
from tests.grading.attacks import HEAD
from tests.grading.handing_in import PEOPLE, course, grade, marks, row


def test_a_submission_at_which_the_grader_fails_stops_no_other(
    tmp_path, monkeypatch, capsys
):
    """It is not graded, and the next call tries it again."""
    bad = [HEAD, "# bad"]
    people = {"ann": PEOPLE["ann"], "bad": (bad, None), "bob": PEOPLE["bob"]}
    course(tmp_path, people)
    real = worker.grade

    def failing(work):
        if work.cells == tuple(bad):
            raise TypeError("of all that there is")
        return real(work)

    monkeypatch.setattr(grading, "grade", failing)
    assert 0 == grade(tmp_path)
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
