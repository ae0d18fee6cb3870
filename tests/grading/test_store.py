"""Marks on disk: whole or not at all, whatever happens to the grader."""

import csv
import io
import json
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.exercises.catalogue import exercise
from helpers.grading.__main__ import main
from helpers.grading.exports.formats import FORMATS
from helpers.grading.manifest import Manifest, item_of
from helpers.grading.report import missing
from helpers.grading.store import MarksError, MarksStore, key_of
from helpers.grading.tables import cell, line_of
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG
from tests.grading.handing_in import PREDICTED, course, grade, hand_in, written

ROW = {"exercise": "mirror", "points": 1, "max_points": 2, "reason": "wrong"}
LOST = ROW | {"points": None, "reason": "not graded"}
ITEMS = [item_of(exercise("mirror"))]


def test_a_key_changes_with_all_that_decides():
    """The submission, what is asked of it, the seed, the secret and the grader."""
    right = key_of(b"x", ITEMS, 1, "s", "g")
    others = [
        key_of(b"y", ITEMS, 1, "s", "g"),
        key_of(b"x", ITEMS * 2, 1, "s", "g"),
        key_of(b"x", [item_of(exercise("mirror"), 9)], 1, "s", "g"),
        key_of(b"x", ITEMS, 2, "s", "g"),
        key_of(b"x", ITEMS, 1, "t", "g"),
        key_of(b"x", ITEMS, 1, "s", "h"),
    ]
    assert right == key_of(b"x", ITEMS, 1, "s", "g")
    assert 7 == len({right, *others})


def test_what_is_half_or_no_mark_is_not_known(tmp_path):
    """It is marked again."""
    store = MarksStore(tmp_path)
    store.keep("ann", "one", "key", {"exercises": [ROW]})
    assert store.has("ann", "one", "key")
    assert not store.has("ann", "one", "other")
    for text in ("", "{", "[]", "3", '{"key": 3}'):
        store.path("ann", "one").write_text(text)
        assert not store.has("ann", "one", "key")
    store.keep("ann", "one", "key", {"exercises": [ROW, LOST]})
    assert not store.has("ann", "one", "key")


def test_what_timed_out_twice_is_not_tried_a_third_time(tmp_path):
    """What is not graded for another reason is, as often as anybody likes."""
    store = MarksStore(tmp_path)
    late, other = ({"exercises": [LOST], "timeouts": it} for it in (1, 0))
    lost = LOST | {"sentence": "Its machine was busy."}
    for result, again in ((other, True), (other, True), (late, True), (late, False)):
        store.keep("ann", "one", "key", result | {"exercises": [lost]})
        assert again != store.has("ann", "one", "key")
    assert not store.has("ann", "one", "another version")
    told = "Its machine was busy. It was tried 2 times and is not tried again"
    assert missing(store.results()[0]).startswith(told)
    store.keep("ann", "one", "another version", late)
    assert not store.has("ann", "one", "another version")


def test_a_file_that_has_no_marks_is_named(tmp_path):
    """With the remedy; a folder by such a name is no file."""
    store = MarksStore(tmp_path)
    store.keep("ann", "one", "key", {"exercises": [ROW]})
    (tmp_path / "bob" / "one.json").mkdir(parents=True)
    assert ["ann"] == [it["student"] for it in store.results()]
    path = store.path("cem", "one")
    path.parent.mkdir()
    for text in ("", "{", "[]", "3", '{"key": 3}', "[" * 100_000, "\udc80"):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(MarksError, match="cem/one.json has no marks: remove it"):
            store.results()
    assert 2 == main(["report", str(tmp_path)])


def test_a_cell_of_the_table_is_no_formula():
    """Spreadsheets run what begins with an equals sign."""
    assert ["'=1+1", "'@x", "'-1", "", 3, -3, "ann", "a-b; c = d"] == [
        cell(it) for it in ("=1+1", "@x", "-1", None, 3, -3, "ann", "a-b; c = d")
    ]


@pytest.mark.parametrize("before", ["", "x", "x;y", 'x"'])
@pytest.mark.parametrize("split", [";", "\t", "\n", "\r\n"])
@pytest.mark.parametrize("formula", ["=1", ' "=1', "+1", "-1", "@x", "＝1"])
def test_no_part_of_a_cell_is_a_formula(before, split, formula):
    """A spreadsheet may split a text there, and take quotes for its own."""
    line = line_of([before + split + formula, "x"])
    parts = [it.strip(' "') for it in re.split("[;\t\r\n]", line)]
    assert [] == [it for it in parts if it[:1] in {*"=+-@＝"}]
    (row,) = csv.reader(io.StringIO(line, newline=""))
    assert before + split + formula == row[0].replace("'", "", 1)


def test_a_cell_of_the_table_does_nothing_to_a_terminal():
    """Whoever prints it sees the numbers of such characters."""
    found = [cell(it) for it in ("a\x1b[31mb", "\x9b2J", "ä\u3000安", "\x7f\u202e")]
    assert [r"a\x1b[31mb", r"\x9b2J", "ä\u3000安", r"\x7f\u202e"] == found


def test_no_file_of_marks_does_anything_to_a_terminal(tmp_path):
    """Nor turns a text around where a page shows it; it is read as it was said."""
    said, store = "\x1b[31m \x9b2J \x7f\u202e\u2066\n", MarksStore(tmp_path)
    row = ROW | {"sentence": said, "report": said, "hints": []}
    store.keep("ann", "one", "", {"exercises": [row], "cells": [{"error": said}]})
    for name in ("junit", "gradescope"):
        FORMATS[name](store)
    assert said == store.results()[0]["exercises"][0]["sentence"]
    texts = [it.read_text("utf-8") for it in tmp_path.rglob("*.*") if it.is_file()]
    assert 3 == len(texts)
    assert all({*"\x1b\x9b\x7f\u202e\u2066"}.isdisjoint(it) for it in texts)


def test_equal_points_are_written_alike():
    """Whether a judge gave them or nobody had to."""
    assert "ann,0,0,2.5,\n" == line_of(["ann", 0, 0.0, 2.5, None])


def test_names_of_students_may_hold_anything(tmp_path):
    """Commas, quotes, blanks and other scripts."""
    store = MarksStore(tmp_path)
    people = "a,b", 'a "b"', "ännä 安", "=cmd", "a\rb", "a\nb"
    for name in people:
        store.keep(name, "one", "", {"exercises": [ROW]})
    store.write_marks()
    text = (tmp_path / "marks.csv").read_text("utf-8")
    assert '"a,b",one,mirror,1,2,wrong' in text
    assert '"a ""b""",one,' in text
    assert "'=cmd,one," in text
    with open(tmp_path / "marks.csv", encoding="utf-8", newline="") as file:
        read = {row["student"].removeprefix("'") for row in csv.DictReader(file)}
    assert {*people} == read


def test_a_student_has_one_row_of_totals(tmp_path):
    """With the number of a learning platform; empty while some points are missing."""
    store = MarksStore(tmp_path)
    moodle = "Ann Lee_4711_assignsubmission_file"
    half = ROW | {"points": 0.3333}
    for student, name, rows in (
        (moodle, "one", [ROW, half]),
        (moodle, "two", [half, half, half]),
        ("boblee_123", "two", [ROW, LOST]),
        ("cem", "one", [ROW | {"points": 2.0}]),
    ):
        store.keep(student, name, "", {"exercises": rows})
    store.write_marks()
    told = "student,id,name,late,one,two,isolation\n"
    told += f"{moodle},4711,,,1.3333,0.9999,\nboblee_123,123,,,,,\ncem,,,,2,,\n"
    assert told == (tmp_path / "totals.csv").read_text("utf-8")


def test_many_may_write_one_file_at_once(tmp_path):
    """Each of them whole, and nothing is left."""
    store = MarksStore(tmp_path)
    texts = [f"{i}" * 50_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: store.write(tmp_path / "x", text), texts * 25))
    assert (tmp_path / "x").read_text() in texts
    assert ["x"] == [it.name for it in tmp_path.iterdir()]


def test_two_graders_do_not_write_to_one_folder(tmp_path, capsys):
    """The second says so; what a killed one left is removed."""
    course(tmp_path)
    store = MarksStore(tmp_path / "marks")
    with store.alone():
        half = tmp_path / "marks" / ".0123.half"
        half.touch()
        assert 2 == grade(tmp_path)
        assert half.exists()
    assert "another `grade` is writing to" in capsys.readouterr().err
    with store.alone():
        assert not half.exists()


HEADING = "student,assignment,exercise,points,comment\n"
OPEN = ROW | {"exercise": "why", "points": None, "reason": "for a person"}


@pytest.fixture
def waiting(tmp_path):
    """Marks with rows that a person is to mark."""
    store = MarksStore(tmp_path)
    for name in ("ann", "bob", "=cmd"):
        store.keep(name, "one", "key", {"exercises": [ROW, OPEN]})
    return store


def test_a_person_gives_the_points_that_no_machine_gave(waiting, capsys):
    """In a table beside the marks, which are not changed."""
    lines = 'ann,one,why,1.5,"Half, as said."\n\n\'=cmd,one,why,0,\n'
    path = waiting.folder / "by_hand.csv"
    path.write_text("\ufeff" + HEADING + lines, "utf-8")
    before = waiting.path("ann", "one").read_bytes()
    by_name = {it["student"]: it["exercises"] for it in waiting.results()}
    assert (1.5, "by hand", "Half, as said.") == (
        *(by_name["ann"][1][it] for it in ("points", "reason", "sentence")),
    )
    assert (0, None) == (by_name["=cmd"][1]["points"], by_name["bob"][1]["points"])
    assert before == waiting.path("ann", "one").read_bytes()
    waiting.write_marks()
    text = (waiting.folder / "marks.csv").read_text("utf-8")
    assert "ann,one,why,1.5,2,by hand\n" in text
    assert "'=cmd,one,why,0,2,by hand\n" in text
    assert 0 == main(["report", str(waiting.folder)])
    assert "by hand 2" in capsys.readouterr().out


def test_a_person_corrects_the_points_of_a_machine(waiting, capsys):
    """After an appeal; what the machine found is no longer told, and stays beside."""
    told = {"report": "An index.", "line": 3, "hints": ["Look."]}
    waiting.keep("ann", "one", "key", {"exercises": [ROW | told, OPEN]})
    before = waiting.path("ann", "one").read_bytes()
    path = waiting.folder / "by_hand.csv"
    path.write_text(f"{HEADING}ann,one,mirror,2,The task was unclear.\n")
    (row, _), *_ = (
        it["exercises"] for it in waiting.results() if it["student"] == "ann"
    )
    assert (2, "by hand", "The task was unclear.", "", None, []) == tuple(
        row[it] for it in ("points", "reason", "sentence", "report", "line", "hints")
    )
    assert before == waiting.path("ann", "one").read_bytes()
    assert 0 == main(["report", str(waiting.folder)])
    assert "wrong 2, by hand 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line, told",
    [
        ("eve,one,why,1,", "no `why` of `eve` in `one` is marked"),
        ("ann,two,why,1,", "no `why` of `ann` in `two` is marked"),
        ("ann,one,how,1,", "no `how` of `ann` in `one` is marked"),
        ("bob,one,why,2,", "`why` of `bob` has a line above this one"),
        ("ann,one,why,3,", "points are from 0 to 2, not `3`"),
        ("ann,one,why,-1,", "points are from 0 to 2, not `-1`"),
        ("ann,one,why,nan,", "points are from 0 to 2, not `nan`"),
        ("ann,one,why,,", "points are from 0 to 2, not ``"),
        ("ann,one,why,1,a,b", "it has 6 columns, not 5"),
    ],
)
def test_a_line_by_hand_that_is_wrong_is_named(waiting, line, told, capsys):
    """With its number, by every command."""
    path = waiting.folder / "by_hand.csv"
    path.write_text(f"{HEADING}bob,one,why,1,\n{line}\n")
    for command in (["report"], ["export", "junit"]):
        assert 2 == main([command[0], str(waiting.folder), *command[1:]])
        assert f"{path}, line 3: {told}" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"student;points\n", b"\xff", b'"a'])
def test_a_table_by_hand_that_is_none_is_named(waiting, data):
    """As one with semicolons."""
    (waiting.folder / "by_hand.csv").write_bytes(data)
    with pytest.raises(MarksError, match="by_hand.csv"):
        waiting.results()


MANY = {
    f"s{i:02}": ([HEAD, RIGHT if i % 2 else WRONG, CHECK, PREDICTED], [])
    for i in range(4)
}


def test_where_nothing_is_marked_it_says_so_and_writes_nothing(tmp_path, capsys):
    """A folder that was misspelled is not made."""
    course(tmp_path)
    folder = tmp_path / "nothere"
    for line in (
        ["report", str(folder)],
        ["export", str(folder), "junit"],
        ["feedback", str(folder), "--release", str(tmp_path / "release")],
    ):
        assert 2 == main(line)
        assert f"nothing is marked yet in {folder}" in capsys.readouterr().err
    assert not folder.exists()


def test_feedback_is_of_the_release_that_marks_were_made_by(tmp_path, capsys):
    """Tasks of another variant would be shown beside the answers."""
    manifest = course(tmp_path, {"ann": ([CHECK], [])})
    assert 0 == grade(tmp_path, "--export", "junit", "gradescope")
    marks = tmp_path / "marks"
    assert (marks / "junit.xml").exists() and (marks / "gradescope" / "ann").is_dir()
    line = ["feedback", str(marks), "--release", str(tmp_path / "release")]
    assert 0 == main(line)
    manifest = Manifest(None, {"one": manifest.assignments["one"][:1]})
    (tmp_path / "release" / "manifest.json").write_text(manifest.as_json())
    capsys.readouterr()
    assert 2 == main(line)
    assert "not made by" in (told := capsys.readouterr().err)
    assert "of ann (one): give the release" in told


def test_marks_of_another_release_are_not_marked_anew(tmp_path, capsys):
    """Points by hand would stay beside answers to other questions."""
    manifest = course(tmp_path, {"ann": ([HEAD, RIGHT, CHECK, PREDICTED], [])})
    assert 0 == grade(tmp_path)
    before, file = written(tmp_path), tmp_path / "release" / "manifest.json"
    capsys.readouterr()
    items = manifest.assignments["one"]
    of_2028 = [item_of(exercise(it.exercise, 2028)) for it in items]
    for other in (Manifest(2028, {"one": of_2028}), Manifest(None, {"two": items})):
        hand_in(tmp_path, "ann", "", "two")
        file.write_text(other.as_json())
        assert 2 == grade(tmp_path)
        assert f"another release, of {manifest}; " in (told := capsys.readouterr().err)
        assert f"release is of {other}. Nobody is graded" in told
        assert before == written(tmp_path)
    items = [item_of(exercise(it.exercise), 5) for it in items]
    file.write_text(Manifest(None, {"one": items}).as_json())
    broken = MarksStore(tmp_path / "marks").path("ann", "one")
    broken.write_text("{")  # it is marked anew
    assert 0 == grade(tmp_path)
    assert "1 of them to be marked" in capsys.readouterr().err


@pytest.mark.slow
def test_a_grader_that_is_killed_goes_on_to_the_same_bytes(tmp_path):
    """With SIGKILL, ten times, at moments that nobody chose."""
    course(tmp_path, MANY)
    line = [sys.executable, "-m", "helpers.grading", "grade"]
    line += [str(tmp_path / "submitted"), "--release", str(tmp_path / "release")]
    line += ["--out", str(tmp_path / "marks"), "--secret", "s", "--workers", "2"]
    rng = random.Random(10)
    for _ in range(10):
        process = subprocess.Popen(line, stderr=subprocess.DEVNULL)
        wait_for_marks(tmp_path / "marks", process, rng.randrange(4))
        time.sleep(rng.random() / 4)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (tmp_path / "marks").glob("*/*.json"):
            json.loads(path.read_text("utf-8"))  # never the half of one

    assert 0 == grade(tmp_path)
    grade(tmp_path, out="undisturbed")
    assert written(tmp_path, "undisturbed") == written(tmp_path)


def wait_for_marks(folder, process, count):
    """Wait until so many submissions are marked, or all are."""
    while process.poll() is None and len(list(folder.glob("*/*.json"))) < count:
        time.sleep(0.05)
