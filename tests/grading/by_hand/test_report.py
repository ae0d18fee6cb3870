"""The report of an instructor, on marks that are made by hand."""

from types import SimpleNamespace

import pytest

from helpers.grading import report as reports
from helpers.grading.report import BAR, NO_MORE, histogram, missing, report, total
from helpers.grading.store import SEEN
from helpers.grading.words import many, some, words_of


def row(exercise, points, most=2, reason="", sentence=""):
    facts = {"exercise": exercise, "points": points, "max_points": most}
    return facts | {"reason": reason, "sentence": sentence}


def result(student, *rows, assignment="one", **more):
    return {"student": student, "assignment": assignment, "exercises": [*rows], **more}


def reported(monkeypatch, results, strays=(), groups=(), **seen):
    """The report on some results."""
    monkeypatch.setattr(reports, "alike", lambda results, seed: groups)
    return report(
        SimpleNamespace(
            read=lambda: (results, strays), seen=lambda: SEEN | seen, seed=lambda: None
        )
    )


ANN = result("ann", row("a", 2), row("b", 1, 3, "wrong"), isolation="bubblewrap")
BOB = result("bob", row("a", 0, reason="race"), row("b", 3, 3), isolation="bubblewrap")
CEM = result("cem", row("a", 1), row("b", None, 3, "for a person"), lacks=["x", "y"])
DEE = result("dee", row("a", None, reason="not graded", sentence="Lost."), lacks=["x"])
DEE["exercises"].append(row("b", None, 3, "not graded", "Lost."))


def test_what_waits_for_a_person_counts_for_nobody(monkeypatch):
    """Of those that are marked, the points of the others; a row for each exercise."""
    text = reported(monkeypatch, [ANN, BOB, CEM, DEE])

    head = "one: 4 submissions, 5 points"
    waits = "not counted: b, 3 points, waits for a person in 1 answer"
    assert [head, waits, "mean 1.0, median 1 of 2 points"] == text.splitlines()[:3]
    assert "isolation: bubblewrap 2, not run 2" in text
    lines = [line.split() for line in text.splitlines()]
    marked = ["right", "2,", "race", "1,", "not", "graded", "1"]
    assert ["a", "1.00", "2", *marked] in lines
    assert any(line[:3] == ["b", "waits", "3"] for line in lines)
    assert "\nnot graded:\n  dee: Lost.\n" in text
    assert f"{reports.LACKING}: `x` (2), `y` (1)" in text


def test_without_a_person_all_points_count(monkeypatch):
    """Each word that was given is explained, and no other."""
    text = reported(monkeypatch, [ANN, BOB])

    assert "mean 3.0, median 3 of 5 points" in text and "not counted" not in text
    assert "  race: " in text and "  wrong: " in text and "  tail: " not in text
    for unsaid in ("not graded", "late", "not handed in", "imported", "and"):
        assert f"\n{unsaid}" not in text, unsaid
    assert "nothing is marked yet" == reported(monkeypatch, [])


def test_each_assignment_has_its_part_and_misses_its_own(monkeypatch):
    """In order; who handed in one of two is named at the other."""
    two = result("eve", row("c", 1, 1), assignment="two")
    people = [["1", "Ann"], ["2", "Fay"], ["eve", "Eve"]]
    late = {"ann": {"one": "3 hours"}, "eve": {"one": "1 day", "two": "2 days"}}

    parts = reported(monkeypatch, [two, ANN], **{"class": people, "late": late}).split(
        "two: "
    )

    assert "\nnot handed in: Eve (eve), Fay (2)\n" in parts[0]
    assert "not handed in: Ann (1), Fay (2)" in parts[1]
    assert parts[0].rstrip().endswith("late: Ann (1), 3 hours")
    assert parts[1].endswith("late: Eve (eve), 2 days")


@pytest.mark.parametrize("count, more", [(10, ""), (11, "and 1 group more"), (0, "")])
def test_ten_groups_of_answers_that_are_alike_are_named(monkeypatch, count, more):
    """Those that tell something, and how many there are beside."""
    groups = [SimpleNamespace(tells=n < count) for n in range(count + 3)]

    text = reported(monkeypatch, [ANN], groups=groups)

    assert min(count, 10) == text.count("namespace(tells=True)")
    assert (more or "group") in text.partition(reports.ALIKE)[2] or not more
    assert bool(more) == ("groups more" in text or "group more" in text)
    assert bool(count) == (reports.ALIKE in text) and "tells=False" not in text


def test_what_nobody_has_and_what_was_noticed_is_said(monkeypatch):
    """Six texts that a person marked, of which five are named."""
    text = reported(monkeypatch, [ANN], [*"abcdef"], noticed=["a file", "a folder"])

    assert "6 texts that somebody marked, and nobody has (now): a; b; c; d; e; " in text
    assert text.endswith("what the last `grade` noticed:\na file\na folder")


def test_a_histogram_has_tenths_of_all_points():
    """The largest bar is the widest; all points are in the last tenth."""
    lines = [*histogram([0, 0.39, 0.4, 2, 4, 4, 4], 4)]

    firsts = [float(line.split()[0]) for line in lines]
    assert [0, 0.4, 0.8, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6] == firsts
    counts = [int(it[-1]) if it[-1].isdigit() else 0 for it in map(str.split, lines)]
    assert [2, 1, 0, 0, 0, 1, 0, 0, 0, 3] == counts
    assert [16, 8, 8, BAR] == [it.count("█") for it in lines if "█" in it]


def test_the_points_of_who_was_not_graded_are_0_and_it_is_said_why():
    """And where it was tried often enough, that it is not tried again."""
    assert (3, 2, 0) == (total(ANN), total(ANN, {"b"}), total(DEE))
    assert ("", "Lost.") == (missing(CEM), missing(DEE))
    tried = [missing(DEE | {"timeouts": n}) for n in (1, 2)]
    assert ["Lost.", f"Lost. {NO_MORE}"] == tried


@pytest.mark.parametrize(
    "number, told",
    [
        (1, "1 it"),
        (0, "0 its"),
        (0.333, "0.33 its"),
        (1234, "1,234 its"),
    ],
)
def test_numbers_of_things_have_the_singular_for_one(number, told):
    """Two digits behind the point."""
    assert told == many(number, "it")


def test_forty_names_are_told_and_the_others_counted():
    """What a terminal obeys shows as what it is."""
    names = [f"n{number}" for number in range(41)]

    assert ", ".join(names[:40]) == some(names[:40])
    assert f"{', '.join(names[:40])}, and 1 more" == some(names)
    assert r"a\x1b" == some(["a\x1b"])
    assert "_ann_lee_3_" == words_of("Ann-Lee (3)")


def test_a_bound_that_no_launch_came_to_is_named():
    """With the student and the exercise; what has none is not there."""
    note = "Not tried beyond 9: line 5 compares with 10."
    rows = [{"exercise": "affine", "note": note}, {"exercise": "dot"}]

    _, _, line = reports.untried([{"student": "ann", "exercises": rows}])
    assert f"  ann, affine: {note}" == line
    assert [] == reports.untried([{"student": "bob", "exercises": [{"note": ""}]}])
