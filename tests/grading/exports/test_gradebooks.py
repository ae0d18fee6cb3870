"""What Canvas and Moodle import: read here by the rules of their own importers."""

import csv
import io
import re

import pytest

from helpers.grading.__main__ import main
from helpers.grading.store import MarksStore

CANVAS = (  # as GradebookExporter writes it: a custom column, a muted row, totals
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Notes,"
    "12 Coalescing (991),15 Barriers: races! (992),Current Score,Final Grade\r\n"
    ",,,,,,Manual Posting,,,\r\n"
    "    Points Possible,,,,,,5.00,4.00,(read only),(read only)\r\n"
    '"Lee, Ann",1001,x9,alee,CS 1,"a ""note""",,1.00,50,C\r\n'
    '"Ray, Bob",1002,1001,bray,"CS 1, and CS 2",,2.00,,,\r\n'
    '"=Cem, -",1003,x7,ckaya,CS 1,,N/A,3.50,,\r\n'
    '"Dee, D",1004,x6,1002,CS 1,,4.00,0.50,,\r\n'
    '"Student, Test",1005,,,CS 1,,,,,\r\n'
)
MOODLE = (  # as assign_grading_table does for "offline"
    'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade",'
    '"Grade can be changed","Last modified (submission)","Last modified (grade)",'
    '"Feedback comments"\n'
    '"Participant 1001","Ann Lee",x9,a@b.edu,"Submitted for grading - ",,9.00,Yes,'
    '"Monday, 1 March 2027, 5:00 PM",-,"<p>Well, ""done""</p>\nand so on"\n'
    '"Participant 1002","Bob Ray",x8,b@b.edu,"Submitted for grading - Graded - ",2.00,'
    '9.00,Yes,"Monday, 1 March 2027, 5:00 PM","Tuesday, 2 March 2027, 5:00 PM",\n'
    '"Participant 1003","Cem",x7,c@b.edu,"No submission - ",,9.00,Yes,-,-,\n'
)


def row(points, most=5):
    return {"exercise": "a", "points": points, "max_points": most, "reason": ""}


@pytest.fixture
def marked(tmp_path):
    """Makes a folder of marks: points by student and assignment."""

    def make(students, name="marks"):
        store = MarksStore(tmp_path / name)
        for student, given in students.items():
            for assignment, points in given.items():
                most = {"12_coalescing": 5}.get(assignment, 4)
                rows = {"exercises": [row(points, most)]}
                store.keep(student, assignment, "", rows)
        return store

    return make


def export(store, form, text, *options):
    """The exit status of an export, and what it wrote."""
    path = store.folder.parent / "exported.csv"
    path.write_bytes(text.encode())
    line = ["export", str(store.folder), form, "--gradebook", str(path), *options]
    status = main(line)
    made = store.folder / f"{form}.csv"
    return status, made.read_bytes().decode() if made.exists() else ""


def into_canvas(text):
    """What gradebook_importer.rb takes: points by person and by number of assignment,
    and the points that an assignment can have.
    """
    separator = ";" if text.partition("\n")[0].count(";") > 2 else ","
    head, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    assert len(head) > 3 and "Student" in head[0] and "ID" in head[1]
    sis = "SIS User ID" in head[2]
    people = 5 if sis else 4
    assert head[people - 1] == "Section"  # what its `header?` asks for
    grades, possible = {}, {}
    for line in lines:
        for name, cell in zip(head[people:], line[people:], strict=True):
            number = re.fullmatch(r".* \((\d+)\)", name)[1]
            if "Points Possible" in line[0]:
                possible[number] = float(cell)
            elif any(re.fullmatch(r"\s*|Manual Posting.*", it) is None for it in line):
                grades.setdefault(line[1], {})[number] = cell
    return grades, possible


def into_moodle(text, maximum=9):
    """What process_import_grades takes: grades by the number of a participant."""
    lines = csv.DictReader(io.StringIO(text, newline=""))
    found = {}
    for line in lines:
        assert line["Last modified (grade)"]
        grade = line["Grade"] and float(line["Grade"])
        if grade != "" and 0 <= grade <= maximum:
            found[line["Identifier"][len("Participant ") :]] = grade
    return found


MARKED = {
    "leeann_1001": {"12_coalescing": 4.5, "15_barriers_races": 0},
    "rayb_1002": {"12_coalescing": None, "15_barriers_races": 2.25},
    "ckaya": {"12_coalescing": 1 / 3},
}


def test_canvas_takes_the_points_of_those_who_have_some(marked, capsys):
    """Cells of who handed in nothing, or waits, are as they were: an empty one would
    remove points. Nobody is taken for another whose SIS ID or login is that number.
    """
    status, text = export(marked(MARKED), "canvas", CANVAS)
    assert 0 == status
    grades, possible = into_canvas(text)
    assert {"991": 5, "992": 4} == possible
    assert {
        "1001": {"991": "4.5", "992": "0"},
        "1002": {"991": "2.00", "992": "2.25"},
        "1003": {"991": "0.3333", "992": "3.50"},
        "1004": {"991": "4.00", "992": "0.50"},
        "1005": {"991": "", "992": ""},
    } == grades
    told = capsys.readouterr().err
    assert "not all points are given, their cells stay: rayb_1002\n" in told


def test_canvas_own_texts_stay_as_they_are(marked):
    """Also where a spreadsheet would take one for a formula."""
    _, text = export(marked(MARKED), "canvas", CANVAS)
    before = [*csv.reader(io.StringIO(CANVAS.removeprefix("\ufeff"), newline=""))]
    after = [*csv.reader(io.StringIO(text, newline=""))]
    assert [it[:5] for it in before] == [it[:5] for it in after]
    assert {7} == {len(it) for it in after}


def test_canvas_with_semicolons_and_without_sis_ids(marked):
    """As it exports where a comma is in numbers."""
    book = (
        "Student;ID;SIS Login ID;Section;12 coalescing (991)\n"
        "    Points Possible;;;;5,00\nLee, Ann;1001;alee;CS;4,25\n"
    )
    status, text = export(marked({"lee_1001": {"12_coalescing": 4.5}}), "canvas", book)
    assert 0 == status
    rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=";")]
    assert ["Lee, Ann", "1001", "alee", "CS", "4.5"] == rows[2]


def test_several_assignments_may_be_one_column(marked, capsys):
    """They are added; what somebody did not hand in of them is 0."""
    store = marked(MARKED)
    status, text = export(store, "canvas", CANVAS, "--column", "12 Coalescing")
    assert 0 == status
    grades, _ = into_canvas(text)
    assert {"1001": "4.5", "1002": "2.00", "1003": "0.3333"} == {
        name: grades[name]["991"] for name in ("1001", "1002", "1003")
    }
    told = "12_coalescing, 15_barriers_races has 9 points, `12 Coalescing (991)` 5.00"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, told",
    [
        ([], "no column of {} is called `15_barriers`: say which one, as --column"),
        (["--column", "Ps 1"], "no column of {} is called `Ps 1`"),
        (["--column", "15_barriers=Notes (3)"], "is called `Notes (3)`"),
    ],
)
def test_a_column_that_is_not_there_is_named(marked, options, told, capsys):
    """With those that are, and nothing is written."""
    store = marked({"x_1001": {"15_barriers": 1}})
    status, text = export(store, "canvas", CANVAS, *options)
    assert (2, "") == (status, text)
    said = capsys.readouterr().err
    assert told.format(store.folder.parent / "exported.csv") in said
    assert "there are `Notes`, `12 Coalescing`, `15 Barriers: races!`" in said


def test_a_column_that_is_there_twice_is_meant_by_its_number(marked, capsys):
    """Canvas allows two assignments of one title."""
    book = CANVAS.replace("15 Barriers: races!", "12 coalescing")
    store = marked({"lee_1001": {"12_coalescing": 4.5}})
    assert (2, "") == export(store, "canvas", book)
    assert "more than one column of" in capsys.readouterr().err
    column = "12_coalescing=12 coalescing (992)"
    _, text = export(store, "canvas", book, "--column", column)
    assert {"992": "4.5"} == into_canvas(text)[0]["1001"]


def test_who_is_not_in_a_gradebook_is_named(marked, capsys):
    """And whoever the list of the class knows by another id is found."""
    store = marked({it: {"12_coalescing": 1} for it in ("eve", "77", "x_1002", "1002")})
    store.keep_seen(**{"class": [["77", "ckaya"]]})
    assert 2 == export(store, "canvas", CANVAS)[0]
    told = capsys.readouterr().err
    assert "1002, x_1002 are one person in" in told
    store = marked({it: {"12_coalescing": 1} for it in ("eve", "77")}, "others")
    store.keep_seen(**{"class": [["77", "ckaya"]]})
    status, text = export(store, "canvas", CANVAS)
    assert 0 == status
    assert "1" == into_canvas(text)[0]["1003"]["991"]
    assert "`eve` is not in " in capsys.readouterr().err


def test_a_name_that_two_have_is_nobodys(marked, capsys):
    """Of a folder that is called by a name, and not by an id."""
    book = CANVAS.replace("=Cem, -", "Lee, Ann")
    store = marked({it: {"12_coalescing": 1} for it in ("Lee, Ann", "ray, bob")})
    status, text = export(store, "canvas", book)
    assert 0 == status
    given = {key: it["991"] for key, it in into_canvas(text)[0].items()}
    assert ["", "1", "N/A"] == [given[it] for it in ("1001", "1002", "1003")]
    assert "`Lee, Ann` is not in " in capsys.readouterr().err


def test_a_login_counts_before_a_name_and_who_has_a_name_alone_is_told(marked, capsys):
    """Anybody may call themselves as another one's login."""
    book = CANVAS.replace('"Dee, D"', "alee")
    store = marked({it: {"12_coalescing": 3} for it in ("alee", "ray, bob")})
    status, text = export(store, "canvas", book)
    assert 0 == status
    given = {key: it["991"] for key, it in into_canvas(text)[0].items()}
    assert ["3", "3", "4.00"] == [given[it] for it in ("1001", "1002", "1004")]
    told = "found by a name alone, which people may choose: ray, bob (1002)\n"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("form", ["canvas", "moodle"])
@pytest.mark.parametrize(
    "text, told",
    [
        ("", "exported.csv is empty"),
        ("a,b\n1,2\n", "exported.csv "),
        (b"\xff", "is no table in UTF-8"),
    ],
)
def test_what_is_no_gradebook_is_named(marked, form, text, told, capsys):
    """And without any, what to give."""
    store = marked({"x_1": {"one": 1}})
    path = store.folder.parent / "exported.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    line = ["export", str(store.folder), form]
    assert 2 == main([*line, "--gradebook", str(path)])
    assert told in capsys.readouterr().err
    assert 2 == main(line)
    told = f"{form} needs the table that it exported: --gradebook FILE"
    assert told in capsys.readouterr().err


FOLDERS = {  # one Moodle assignment takes both notebooks
    "Ann Lee_1001_assignsubmission_file": MARKED["leeann_1001"],
    "Bob Ray_1002_assignsubmission_file_": MARKED["rayb_1002"],
}


def test_moodle_takes_the_grades_of_those_who_have_some(marked, capsys):
    """All else in its worksheet is as it was: by it Moodle sees what changed there."""
    status, text = export(marked(FOLDERS), "moodle", MOODLE)
    assert 0 == status
    assert {"1001": 4.5, "1002": 2} == into_moodle(text)
    before, after = (
        [*csv.reader(io.StringIO(it, newline=""))] for it in (MOODLE, text)
    )
    before[1][5] = "4.5"
    assert before == after
    assert "" == re.sub(
        r"(?m)^.* has the marks for .*\n|^not all.*\n", "", capsys.readouterr().err
    )


def test_a_maximum_that_moodle_does_not_have_is_said(marked, capsys):
    """It leaves out what is above its own."""
    status, text = export(marked(FOLDERS), "moodle", MOODLE.replace("9.00", "4.00"))
    assert 0 == status
    assert {"1002": 2} == into_moodle(text, maximum=4)
    told = "12_coalescing, 15_barriers_races has 9 points, `Grade` 4.00: let them be"
    assert told in capsys.readouterr().err


def test_moodle_in_another_language(marked, capsys):
    """Its importer knows the titles of the language that it shows."""
    german = MOODLE.replace("Participant", "Teilnehmer/in").replace("Grade,", "Note,")
    german = german.replace("Identifier", "ID")
    store = marked({"Ann Lee_1001_assignsubmission_file": {"one": 4}})
    assert 2 == export(store, "moodle", german)[0]
    assert "has no column `Grade`" in capsys.readouterr().err
    status, text = export(store, "moodle", german, "--column", "Note")
    assert 0 == status
    assert ["4"] == [
        it["Note"] for it in csv.DictReader(io.StringIO(text)) if it["Note"]
    ][:1]
