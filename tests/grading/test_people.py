"""The list of a class, and a deadline: who is missing, who is nobody, who was late."""

import csv
import os
from datetime import datetime, timedelta, timezone

import pytest

from helpers.grading.__main__ import main
from helpers.grading.people import ClassList, duration, lateness, read_class
from helpers.grading.submissions import find
from helpers.grading.tables import TableError
from tests.grading.handing_in import PREDICTED, course, grade, hand_in, notebook

LISTS = {  # as they come from a registry, from Canvas' gradebook, Moodle's worksheet
    "plain": "id,name\n12,Ann Lee\n007,Bob Ray\n",
    "with semicolons": '\ufeffName;ID\n"Ann Lee";12\r\nBob Ray; 007 \r\n',
    "canvas": (
        "Student,ID,SIS User ID,SIS Login ID,Section,One (99)\n"
        ",,,,,Manual Posting\n    Points Possible,,,,,4\n"
        '"Lee, Ann",12,a1,ann,CS,\n"Ray, Bob",007,b2,bob,CS,3\n'
    ),
    "moodle": (
        'Identifier,"Full name","Email address",Status,Grade\n'
        '"Participant 12","Ann Lee",a@b.edu,"Submitted for grading - ",\n'
        '"Participant 007","Bob Ray",b@b.edu,"No submission",\n'
    ),
}


@pytest.mark.parametrize("form", LISTS)
def test_a_list_of_the_class_is_read(tmp_path, form):
    """Each person once, whoever wrote the table."""
    path = tmp_path / "class.csv"
    path.write_text(LISTS[form], "utf-8")
    found = read_class(path)
    assert ["12", "007"] == [it.id for it in found.people]
    assert {"Ann", "Lee"} == {*found.people[0].name.replace(",", "").split()}


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "class.csv is empty"),
        ("number,name\n1,Ann\n", "line 1: a list of the class has a column `id`"),
        ("id,name\n1,Ann\n2,Bob\n1,Cem\n", "the id 1 is there more than once"),
        ("name,id\nAnn,1\nBob\n", "line 3: there is no `id` in it"),
        ("id,name\n1,Ann\n2\n", "line 3: there is no `name` in it"),
        ('id,name\n1,"Ann\n', "class.csv is no table in UTF-8"),
        (b"id,name\n1,J\xfcrg\n", "class.csv is no table in UTF-8"),
    ],
)
def test_a_list_that_is_none_is_named(tmp_path, text, told):
    """With the file, and the line where there is one."""
    path = tmp_path / "class.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TableError, match=told):
        read_class(path)


@pytest.mark.parametrize(
    "student, id",
    [
        *(
            ("12", "12"),
            ("leeann_12", "12"),
            ("Ann Lee_12_assignsubmission_file", "12"),
        ),
        *(("Ann Lee_12_assignsubmission_file_", "12"), ("ann lee", "12")),
        *(("007", "007"), ("A1", "a1"), ("7", None), ("leeann_007_x", None)),
        ("Ann_12_assignsubmission_file_99_assignsubmission_file", None),
        ("Ann_99_assignsubmission_file_12_assignsubmission_file", "12"),
        *(("Kim Ito", None), ("ann", None), ("", None)),
    ],
)
def test_a_folder_is_of_the_person_that_its_name_says(student, id):
    """By id, as Canvas and Moodle write it, or by a name that nobody else has."""
    rows = ("12", "Ann Lee"), ("007", "Bob"), ("a1", ""), ("8", "Kim Ito")
    person = ClassList([*rows, ("9", "kim ito")]).person(student)
    assert id == (person and person.id)


def table(path):
    """A table as the csv module reads it."""
    with open(path, encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def test_who_is_missing_has_a_row_and_who_is_nobody_is_named(tmp_path, capsys):
    """In totals.csv, and in the report; the list stays for the next call."""
    course(tmp_path, {}, asked=["active_share"])
    for student in ("leeann_12", "eve", "bob ray", "007"):
        hand_in(tmp_path, student, notebook([PREDICTED]))
    people = tmp_path / "class.csv"
    people.write_text("id,name\n12,Ann Lee\n007,Bob Ray\n9,Cem\n8,Dee\n")
    assert 0 == grade(tmp_path, "--class", str(people))
    people.unlink()
    told = capsys.readouterr().err
    for _ in range(2):
        assert "`eve` is not in the list of the class" in told
        assert "`007`, `bob ray` are one person in the list: Bob Ray (007)" in told
        rows = table(tmp_path / "marks" / "totals.csv")
        assert ["007", "bob ray", "eve", "leeann_12", "", ""] == [
            row["student"] for row in rows
        ]
        assert ["Bob Ray", "Bob Ray", "", "Ann Lee", "Cem", "Dee"] == [
            row["name"] for row in rows
        ]
        assert ["9", ""] == [rows[4]["id"], rows[4]["one"]]
        assert 0 == main(["report", str(tmp_path / "marks")])
        shown = capsys.readouterr().out
        assert "not handed in: Cem (9), Dee (8)\n" in shown
        assert "`eve` is not in the list of the class" in shown
        assert 0 == grade(tmp_path)
        told = capsys.readouterr().err


def test_a_class_list_that_is_none_stops_it(tmp_path, capsys):
    """Before anybody is marked."""
    course(tmp_path, {}, asked=["active_share"])
    hand_in(tmp_path, "ann", notebook([PREDICTED]))
    assert 2 == grade(tmp_path, "--class", str(tmp_path / "none.csv"))
    assert "nobody is graded: " in (told := capsys.readouterr().err)
    assert "none.csv is no table" in told
    assert not (tmp_path / "marks").exists()


def test_who_is_late_is_said_and_loses_nothing(tmp_path, capsys):
    """By the time of the file; and another deadline says otherwise."""
    course(tmp_path, {}, asked=["active_share"])
    due = datetime(2027, 3, 1, 18, tzinfo=timezone(timedelta(hours=2)))
    for student, late in (("ann", -1), ("bob", 90 * 60), ("cem", 3 * 86400)):
        path = hand_in(tmp_path, student, notebook([PREDICTED]))
        os.utime(path, times=(due.timestamp() + late,) * 2)
    marks = tmp_path / "marks"
    late = {"ann": "", "bob": "one: 90 minutes", "cem": "one: 3 days"}
    for options in (["--due", "2027-03-01T18:00+02:00"], []):
        assert 0 == grade(tmp_path, *options)
        rows = table(marks / "totals.csv")
        assert late == {row["student"]: row["late"] for row in rows}
        assert ["2"] * 3 == [row["one"] for row in rows]
    capsys.readouterr()
    assert 0 == main(["report", str(marks)])
    assert "late: bob, 90 minutes; cem, 3 days\n" in capsys.readouterr().out
    assert 0 == grade(tmp_path, "--due", "2027-03-03 18:00+02:00")
    assert ["one: 24 hours"] == [
        it["late"] for it in table(marks / "totals.csv") if it["late"]
    ]


def test_canvas_says_who_is_late(tmp_path):
    """The times of its files are those of the export."""
    for name in ("annlee_LATE_1_2_one.ipynb", "bobray_3_4_one.ipynb"):
        (tmp_path / name).touch()
    due = "2001-01-01T00:00:00+00:00"
    assert ["says Canvas", ""] == [lateness(it, due) for it in find(tmp_path, ["one"])]


@pytest.mark.parametrize(
    "seconds, words",
    [
        *(
            (0.5, "1 minute"),
            (60, "1 minute"),
            (61, "2 minutes"),
            (7200, "120 minutes"),
        ),
        *((7201, "3 hours"), (2 * 86400, "48 hours"), (2 * 86400 + 1, "3 days")),
    ],
)
def test_how_late_is_rounded_up(seconds, words):
    """To a unit of which there is more than one."""
    assert words == duration(seconds)


def test_a_deadline_that_is_none_is_refused(tmp_path, capsys):
    """With the form that it has."""
    with pytest.raises(SystemExit):
        grade(tmp_path, "--due", "tomorrow")
    assert "tomorrow is not as 2027-03-01T18:00" in capsys.readouterr().err
