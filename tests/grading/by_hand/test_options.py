"""What the grader's command line takes, and what it refuses."""

from datetime import datetime
from pathlib import Path

import pytest

from helpers.grading import __main__ as command
from helpers.grading.__main__ import main, moment, parser, points, seed

GRADE = ["grade", "s", "--release", "r", "--out", "o"]


@pytest.mark.parametrize(
    "line",
    [
        [],
        ["mark"],
        ["release"],
        ["grade", "--release", "r", "--out", "o"],
        ["grade", "s", "--release", "r"],
        ["grade", "s", "--out", "o"],
        ["feedback", "m"],
        ["feedback", "--release", "r"],
        ["report"],
        ["export", "m"],
        ["export", "m", "no such form"],
        [*GRADE, "--export", "no such form"],
        [*GRADE, "--isolated", "--not-isolated"],
        [*GRADE, "--workers", "1.5"],
        [*GRADE, "--due", "tomorrow"],
        ["release", "--out", "o", "--points", "mirror"],
        ["release", "--out", "o", "--points", "mirror=many"],
        ["export", "m", "canvas", "--among", "-1"],
    ],
    ids=" ".join,
)
def test_what_a_command_lacks_or_does_not_know_is_refused(line, capsys):
    """With its usage, before anything is read or written."""
    with pytest.raises(SystemExit, match="2"):
        main(line)
    assert capsys.readouterr().err.startswith("usage: python -m helpers.grading")


def test_grade_asks_for_nothing_that_is_not_said():
    """No seed, no scheduler, no container; all isolated, and on all cores."""
    found = vars(parser().parse_args(GRADE))

    assert command.grade_command is found.pop("command")
    said = {"submitted": Path("s"), "release": Path("r"), "out": Path("o")}
    unsaid = ("class_list", "due", "gradebook", "among")
    unsaid = dict.fromkeys(unsaid) | {"workers": 0, "export": [], "columns": []}
    unsaid |= dict.fromkeys(("secret", "scheduler", "container"), "")
    assert said | unsaid | {"isolated": False, "not_isolated": False} == found


def test_what_may_be_said_again_adds_up():
    """Forms, columns and points; each form of seed."""
    again = parser().parse_args(
        [*GRADE, "--export", "junit", "--export", "canvas", "alike"]
    )
    columns = parser().parse_args(
        ["export", "m", "canvas", "--column=a", "--column=b=c"]
    )
    given = [
        "release",
        "14",
        "12:mirror",
        "--out",
        "o",
        "--points=a=3",
        "--points=b=0.5",
    ]
    released = parser().parse_args([*given, "--seed", "2027"])

    assert ["junit", "canvas", "alike"] == again.export
    assert (["canvas"], ["a", "b=c"]) == (columns.formats, columns.columns)
    assert (["14", "12:mirror"], 2027) == (released.names, released.seed)
    assert [("a", 3), ("b", 0.5)] == released.points
    assert [2027, "2027a", "-1"] == [seed(it) for it in ("2027", "2027a", "-1")]
    whole = points("mirror=3.0")
    assert ("mirror", 3) == whole and int is type(whole[1])


def test_a_deadline_has_the_zone_of_this_machine_unless_it_says_another():
    """The same time, in ISO's form."""
    here = datetime.fromisoformat(moment("2027-03-01T18:00"))
    there = datetime.fromisoformat(moment("2027-03-01T18:00+02:00"))

    assert datetime(2027, 3, 1, 18).timestamp() == here.timestamp()
    assert datetime.fromisoformat("2027-03-01T16:00Z") == there
    assert None not in (here.tzinfo, there.tzinfo)


@pytest.mark.parametrize(
    "error, status, told",
    [
        (None, 0, ""),
        (KeyboardInterrupt(), 130, "interrupted: what was marked is kept"),
        (OSError("no \x1broom"), 2, "nobody is graded: no \\x1broom"),
        (command.TableError("no\ntable"), 2, "nobody is graded: no\ntable"),
        (command.MarksError("half a mark"), 2, "half a mark"),
    ],
)
def test_an_error_is_a_sentence_and_a_status(monkeypatch, capsys, error, status, told):
    """What a terminal would obey is shown; lines stay lines."""

    def ends(options):
        if error is not None:
            raise error
        return 0

    monkeypatch.setattr(command, "grade_command", ends)

    assert status == main(GRADE)
    assert capsys.readouterr().err.startswith(told)
