"""Marks as other programs read them."""

import json
import os
import re
from xml.etree import ElementTree

import pytest

from helpers.grading.__main__ import main
from helpers.grading.exports.formats import FORMATS, Export, ExportError
from helpers.grading.store import MARKS, TOTALS, MarksStore, reserved
from helpers.grading.submissions import find, left_out
from tests.paths import ROOT

KEPT = {"report": "", "line": None, "hints": ["Look."], "answer": ""}
ROWS = [
    {"exercise": "a", "points": 2, "max_points": 2, "reason": "", "sentence": "Right."},
    {"exercise": "b", "points": 1.5, "max_points": 3, "reason": "wrong"},
    {"exercise": "c", "points": None, "max_points": 4, "reason": "for a person"},
    {"exercise": "d", "points": None, "max_points": 1, "reason": "not graded"},
]

FILES = ("junit", "junit.xml"), ("gradescope", "gradescope/ann/one/results.json")


GRADEBOOK = (  # of Canvas, with a custom column; Moodle's has other columns
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,One (7),Final Score\n"
    "    Points Possible,,,,,,10,(read only)\n"
    '"Lee, Ann",12,,ann,CS,,,\n"Bee, Bob",13,,b&b,CS,,3,\n'
)


def export(store, form):
    """Write marks in a form."""
    path = store.folder.parent / f"{store.folder.name}.csv"
    path.write_text(GRADEBOOK)
    return FORMATS[form](store, gradebook=path, columns=["One (7)"])


@pytest.fixture
def store(tmp_path):
    """The marks of two people, one with a text that no XML may hold."""
    rows = [{"sentence": "It <is> \x00\ud800 \x1b[0m & so."} | KEPT | it for it in ROWS]
    new = MarksStore(tmp_path)
    for student in ("ann", "b&b"):
        new.keep(student, "one", "key", {"exercises": rows, "cells": [], "ended": ""})
    return new


def from_junit(path) -> dict:
    """Of what is not all right."""
    suite = ElementTree.parse(path).getroot().find("testsuite[@name='one.ann']")
    said = {it.get("name"): it[0].get("message") for it in suite if len(it)}
    points = {name: re.match(r"[\d.]+(?= of )", text) for name, text in said.items()}
    return {name: float(it[0]) if it else None for name, it in points.items()}


def from_gradescope(path) -> dict:
    found = json.loads((path / "ann" / "one" / "results.json").read_text("utf-8"))
    return {it["name"]: it.get("score") for it in found["tests"]}


def from_nbgrader(path) -> dict:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{path}") as book:
        found = book.find_submission("one", "ann").notebooks[0].grades
        return {it.name: it.auto_score for it in found}


READERS = {  # what each form says that ann earned, as others read it
    "junit": from_junit,
    "gradescope": from_gradescope,
    "nbgrader": from_nbgrader,
}
READ_ELSEWHERE = {"canvas", "moodle", "alike", "sheet"}  # each in a file of its own


@pytest.mark.parametrize("form", [it for it in FORMATS if it not in READ_ELSEWHERE])
def test_each_export_is_read_back(store, form):
    """What it says of points are the marks."""
    if form == "nbgrader":
        pytest.importorskip("nbgrader")
    assert form in READERS, (
        f"FORMATS in formats.py has {form!r}: add to READERS here a "
        "function that reads it, as another program would"
    )

    FORMATS[form](store)
    found = READERS[form](store.folder / FORMATS[form].destination)

    marks = {row["exercise"]: row["points"] for row in ROWS}
    assert found and found == {it: marks[it] for it in found}


def test_junit_has_a_suite_for_each_submission(store):
    """A failure where points are missing; what nobody marked is skipped."""
    FORMATS["junit"](store)
    root = ElementTree.parse(store.folder / "junit.xml").getroot()
    assert ["one.ann", "one.b&b"] == [it.get("name") for it in root]
    assert ("4", "1", "2") == tuple(
        root[0].get(name) for name in ("tests", "failures", "skipped")
    )
    failure = root[0].find("testcase[@name='b']/failure")
    assert failure.get("message").startswith("1.5 of 3 points (wrong). It <is> ")
    assert [] == list(root[0].find("testcase[@name='a']"))
    skipped = root[0].find("testcase[@name='c']/skipped")
    assert skipped.get("message").startswith("for a person. It <is> ")


def test_gradescope_has_a_test_for_each_exercise(store):
    """What a person is to mark has no score, so that it is not 0."""
    FORMATS["gradescope"](store)
    path = store.folder / "gradescope" / "ann" / "one" / "results.json"
    tests = json.loads(path.read_text("utf-8"))["tests"]
    assert [2, 1.5, None, None] == [it.get("score") for it in tests]
    assert [2, 3, None, None] == [it.get("max_score") for it in tests]
    assert tests[2]["output"].startswith("for a person. ")
    assert 2 == len(store.results())


def test_nbgraders_gradebook_is_its_own(store):
    """Written and read by nbgrader, and written anew each time."""
    pytest.importorskip("nbgrader")
    from nbgrader.api import Gradebook

    for _ in range(2):
        FORMATS["nbgrader"](store)
    with Gradebook(f"sqlite:///{store.folder / 'gradebook.db'}") as book:
        found = book.find_submission("one", "b&b")
        assert (3.5, 10, True) == (
            *(found.score, found.max_score),
            found.needs_manual_grade,
        )
        grade = book.find_grade("b", "one", "one", "ann")
        assert (1.5, 3, False) == (
            *(grade.auto_score, grade.max_score),
            grade.needs_manual_grade,
        )


@pytest.mark.parametrize("form, file", FILES)
def test_a_persons_words_are_exported(store, form, file):
    """Also where they gave all points; files of the grader mean nothing."""
    row = ROWS[0] | {"reason": "by hand", "sentence": "Good (<mirror, handed in 1>)."}
    result = {"exercises": [row | KEPT], "cells": [], "ended": ""}
    store.keep("ann", "one", "key", result)
    FORMATS[form](store)
    assert "Good (mirror)." in (store.folder / file).read_text("utf-8")


@pytest.fixture
def book(store):
    """Opens the gradebook that was written last."""
    pytest.importorskip("nbgrader")
    from nbgrader.api import Gradebook

    return lambda: Gradebook(f"sqlite:///{store.folder / 'gradebook.db'}")


def test_nbgraders_own_warnings_are_not_shown(store, recwarn):
    """Nobody who exports can act on them."""
    pytest.importorskip("nbgrader")
    for _ in range(2):
        FORMATS["nbgrader"](store)
    assert [] == [str(it.message) for it in recwarn]


def test_marks_that_a_person_gave_in_the_gradebook_stay(store, book):
    """Those of nbgrader's formgrader; the points of a machine beside it are new."""
    FORMATS["nbgrader"](store)
    with book() as old:
        for name, score in (("c", 3.5), ("b", 2)):
            grade = old.find_grade(name, "one", "one", "ann")
            grade.manual_score, grade.needs_manual_grade = score, False
        grade.extra_credit = 0.5
        old.db.commit()
    for _ in range(2):
        FORMATS["nbgrader"](store)
    with book() as new:
        grades = [new.find_grade(it, "one", "one", "ann") for it in "bcd"]
        assert [2.5, 3.5, 0] == [it.score for it in grades]
        assert [1.5, None, None] == [it.auto_score for it in grades]
        assert [False, False, True] == [it.needs_manual_grade for it in grades]
        assert new.find_grade("c", "one", "one", "b&b").manual_score is None


def test_points_by_hand_are_manual_scores(store, book):
    """What the marks say counts before what the gradebook said."""
    row = {"exercise": "c", "max_points": 4, "points": 1, "reason": "by hand"}
    rows = [row | KEPT | {"sentence": "Vague."}]
    result = {"exercises": rows, "cells": [], "ended": ""}
    store.keep("ann", "two", "key", result)
    FORMATS["nbgrader"](store)
    with book() as old:
        grade = old.find_grade("c", "two", "two", "ann")
        assert (1, None, False) == (
            *(grade.manual_score, grade.auto_score),
            grade.needs_manual_grade,
        )
        grade.manual_score = 4
        old.db.commit()
    FORMATS["nbgrader"](store)
    with book() as new:
        assert 1 == new.find_grade("c", "two", "two", "ann").manual_score


def test_a_gradebook_that_cannot_be_read_stays(store):
    """It may have marks by hand."""
    pytest.importorskip("nbgrader")
    path = store.folder / "gradebook.db"
    path.write_text("no database")
    with pytest.raises(ExportError, match="Move it away"):
        FORMATS["nbgrader"](store)
    assert "no database" == path.read_text()


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_of_any_bytes_is_exported(store, form):
    """A folder's name need not be UTF-8."""
    if form == "nbgrader":
        pytest.importorskip("nbgrader")
    rows = store.results()[0]["exercises"]
    name = os.fsdecode(b"zo\xff")
    store.keep(name, "one", "key", {"exercises": rows, "cells": [], "ended": ""})
    export(store, form)
    if form == "junit":
        text = (store.folder / "junit.xml").read_text("utf-8")
        assert r'name="one.zo\udcff"' in text


def test_without_nbgrader_it_says_what_to_install(store, monkeypatch, capsys):
    """The gradebook alone needs it."""
    import sys

    monkeypatch.setitem(sys.modules, "nbgrader", None)
    monkeypatch.setitem(sys.modules, "nbgrader.api", None)
    with pytest.raises(ExportError, match=".venv/bin/python -m pip install nbgrader"):
        FORMATS["nbgrader"](store)
    assert 2 == main(["export", str(store.folder), "nbgrader"])
    assert "pip install nbgrader" in capsys.readouterr().err


def test_the_command_line_exports(store):
    """Several forms at a time."""
    assert 0 == main(["export", str(store.folder), "junit", "gradescope"])
    assert (store.folder / "junit.xml").exists()


def test_each_export_has_a_destination_of_its_own():
    """One name in the folder of marks, which neither another nor the grader has."""
    owners = {MARKS: "the grader", TOTALS: "the grader", "by_hand.csv": "a person"}
    for name, export in FORMATS.items():
        other = owners.setdefault(export.destination, name)
        assert other == name, f"{name} and {other} write {export.destination}"
        assert "/" not in export.destination, f"{name} writes into a folder of others"


def test_the_page_of_grading_names_each_export():
    """Whoever grades finds it there, or nowhere."""
    page = (ROOT / "docs" / "GRADING.md").read_text(encoding="utf-8")
    commands = " ".join(re.findall(r"grading export marks (.+)", page)).split()

    assert [] == [f"docs/GRADING.md: add {it}" for it in FORMATS if it not in commands]


def test_registering_an_export_is_all_that_it_needs(store, monkeypatch, tmp_path):
    """The command line offers it, no student is called so, and what it writes is no
    mark, whatever its name.
    """

    def both(store, path):
        for result in store.results():
            store.write(path / f"{result['student']}.json", "{}")

    monkeypatch.setitem(FORMATS, "twofold", Export("twofold", both))
    for _ in range(2):
        assert 0 == main(["export", str(store.folder), "twofold"])
    assert ["ann.json", "b&b.json"] == [
        path.name for path in sorted((store.folder / "twofold").iterdir())
    ]
    assert ["ann", "b&b"] == [it["student"] for it in store.results()]
    handed_in = tmp_path / "submitted"
    (handed_in / "twofold").mkdir(parents=True)
    (handed_in / "twofold" / "one.ipynb").touch()
    assert [] == find(handed_in, ["one"])
    told = "`twofold` is not marked: marks have such a file; rename the folder"
    assert [told] == [*left_out(handed_in, ["one"], [])]


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_writes_what_it_owns_and_nothing_else(store, form):
    """Marks, and what persons wrote, stay as they are."""
    if form == "nbgrader":
        pytest.importorskip("nbgrader")
    store.sheet_key()  # `grade` keeps it
    before = {it.name for it in store.folder.iterdir()}
    export(store, form)
    made = {it.name for it in store.folder.iterdir()} - before
    assert {FORMATS[form].destination} == made <= reserved()
