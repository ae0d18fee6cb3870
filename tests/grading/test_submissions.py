"""What is handed in as a notebook and is none: not graded, which is not 0."""

import json
import os

import pytest

from helpers.grading import submissions
from helpers.grading.__main__ import main
from helpers.grading.notebooks import Unreadable, cells_of, read
from helpers.grading.sandbox.limits import NOTEBOOK_BYTES
from helpers.grading.submissions import NoSubmissions, find
from tests.grading.handing_in import (
    PREDICTED,
    course,
    grade,
    hand_in,
    marks,
    notebook,
    row,
)


def test_what_is_no_notebook_is_not_graded_and_stops_nobody(tmp_path):
    """A link, a pipe, a folder, half a file: each with its reason, and no points."""
    course(tmp_path, asked=["active_share"])
    hand_in(tmp_path, "ann", notebook(["active_share = {16: .5, 48: .75, 96: 1.0}"]))
    secret = tmp_path / "secret.ipynb"
    secret.write_text(notebook(["active_share = {16: .5, 48: .75, 96: 1.0}"]))
    for student, place in (
        ("link", lambda path: path.symlink_to(secret)),
        ("pipe", os.mkfifo),
        ("folder", os.mkdir),
        ("half", lambda path: path.write_text('{"cells": [')),
        ("nothing", lambda path: path.write_text("")),
    ):
        path = hand_in(tmp_path, student, "")
        path.unlink()
        place(path)
    (tmp_path / "submitted" / "linked").symlink_to(tmp_path / "submitted" / "ann")

    assert 1 == grade(tmp_path)
    points = marks(tmp_path)
    assert {"ann": [2], **dict.fromkeys(("folder", "half", "link"), [None])} == {
        name: points[name] for name in ("ann", "folder", "half", "link")
    }
    assert [[None], [None]] == [points["nothing"], points["pipe"]]
    assert "linked" not in points
    assert "not graded" == row(tmp_path, "link")["reason"]
    assert "it is no file" in row(tmp_path, "pipe")["sentence"]


def test_a_notebook_of_200_mb_is_not_read(tmp_path):
    """Only as far as it may be long."""
    path = tmp_path / "large.ipynb"
    with open(path, "wb") as file:
        file.truncate(200 * 10**6)
    with pytest.raises(Unreadable, match="200,000,000 bytes"):
        read(tmp_path, path)


def test_a_notebook_of_the_largest_size_is_read(tmp_path):
    """To the byte."""
    path = tmp_path / "large.ipynb"
    path.write_bytes(bytes(NOTEBOOK_BYTES))
    assert NOTEBOOK_BYTES == len(read(tmp_path, path))


def test_more_code_than_anybody_writes_is_not_graded():
    """The message says how much it is; outputs do not count."""
    cells = [{"cell_type": "code", "source": "x" * 2**10, "outputs": "y" * 2**10}]
    assert 512 == len(cells_of(json.dumps({"cells": cells * 2**9})))
    told = "its code has 525,312 characters; 524,288 are the most"
    with pytest.raises(Unreadable, match=told):
        cells_of(json.dumps({"cells": cells * (2**9 + 1)}))


NO_NOTEBOOKS = (
    *(b"", b"[]", b"null", b"3", b'"cells"', b"{}", b'{"cells": 3}', b"\xff\xfe"),
    *(b'{"cells": [3]}', b'{"cells": [{}]}', b'{"cells": [{"cell_type": "code"}]}'),
    b'{"cells": [{"cell_type": "code", "source": 3}]}',
    b'{"cells": [{"cell_type": "code", "source": [3]}]}',
    b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}',
    b"[" * 100_000,
    b'{"cells": ' + b"[" * 100_000,
    json.dumps({"cells": [{"cell_type": "code", "source": ""}] * 1001}).encode(),
)


@pytest.mark.parametrize("data", NO_NOTEBOOKS, ids=lambda data: repr(data[:40]))
def test_bytes_that_are_no_notebook_are_refused(data):
    """Without an error that nobody foresaw."""
    with pytest.raises(Unreadable):
        cells_of(data)


def test_the_code_of_a_notebook_is_its_cells():
    """Texts and raw cells are left out; lines are joined."""
    cells = [
        {"cell_type": "code", "source": ["a\n", "b"]},
        {"cell_type": "markdown", "source": "c"},
        {"cell_type": "raw", "source": 3},
        {"cell_type": "code", "source": "d"},
    ]
    data = json.dumps({"cells": cells, "by others": 1})

    assert ["a\nb", "d"] == cells_of(data)
    assert ["a\nb", "d"] == cells_of(data.replace("1", "9" * 5000))


def test_hidden_folders_and_files_are_no_students(tmp_path):
    """Those of version control and of LMS exports."""
    for name in (".git", "ann"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.ipynb").touch()
    for name in ("readme.txt", ".hidden_1_2_one.ipynb"):
        (tmp_path / name).touch()
    assert ["ann"] == [it.student for it in find(tmp_path, ["one"])]
    found = find(tmp_path, ["one"])
    assert ["`readme.txt` is not marked: put it into a folder for its student"] == [
        *submissions.left_out(tmp_path, ["one"], found)
    ]


def test_a_link_in_a_path_is_not_followed(tmp_path):
    """A folder that is a link would give another student's answers."""
    for assignment in ("one", "one/one"):
        hand_in(tmp_path, "ann", notebook([]), assignment)
    folder = tmp_path / "submitted"
    assert read(folder, folder / "ann" / "one" / "one.ipynb")
    (folder / "mallory").mkdir()
    for target in ("../ann", "../ann/one", str(folder / "ann")):
        link = folder / "mallory" / "one"
        link.symlink_to(target)
        (found,) = [it for it in find(folder, ["one"]) if it.student == "mallory"]
        with pytest.raises(Unreadable, match="a link leads to it"):
            read(folder, found.path)
        link.unlink()
    (folder / "linked").symlink_to("ann")
    with pytest.raises(Unreadable, match="a link leads to it"):
        read(folder, folder / "linked" / "one.ipynb")


def test_a_folder_called_as_a_file_of_the_marks_stops_nobody(tmp_path, capsys):
    """Marks of a student are in a folder of the student's name."""
    names = ["by_hand.csv", "gradebook.db", "gradescope", "junit.xml", "marks.csv"]
    names += ["marked", "to_mark", "totals.csv"]
    course(tmp_path, {it: ([], []) for it in names}, asked=["active_share"])
    hand_in(tmp_path, "ann", notebook(["active_share = {16: .5, 48: .75, 96: 1.0}"]))
    assert 0 == grade(tmp_path)
    assert {"ann": [2]} == marks(tmp_path)
    told = capsys.readouterr().err
    for name in names:
        assert f"`{name}` is not marked: marks have such a file; rename" in told


def test_what_is_not_marked_is_told_with_what_was_expected(tmp_path):
    """Other names, other files, nothing; and a name does nothing to a terminal."""
    for student, name in (
        ("ann", "one.ipynb"),
        ("ann", "notes.txt"),
        ("bob", "on.ipynb"),
        ("cem", "phone.ipynb"),
        ("dan", "one or two.ipynb"),
        ("dee\x1b[2J\n", "one.pdf"),
        ("eve", ".hidden/one.ipynb"),
    ):
        path = tmp_path / student / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    names = "one", "two"
    expected = "is not marked: expected `one.ipynb`, `two.ipynb`, found"
    assert [
        "`ann` has more, which is not marked: `notes.txt`",
        f"`bob` {expected} `on.ipynb` (is it `one.ipynb`?)",
        f"`cem` {expected} `phone.ipynb` (is it `one.ipynb`?)",
        f"`dan` {expected} `one or two.ipynb`",
        f"`dee\\x1b[2J\\n` {expected} `one.pdf`",
        f"`eve` {expected} nothing",
    ] == [*submissions.left_out(tmp_path, names, find(tmp_path, names))]


COPIES = (  # of browsers, JupyterLab, Colab, Canvas, Windows, macOS, nbgrader, people
    *("one (1).ipynb", "one(2).ipynb", "one-Copy1.ipynb", "Copy of one.ipynb"),
    *("one-3.ipynb", "one - Copy (2).ipynb", "one copy 2.ipynb", "one/one.ipynb"),
    *("One.ipynb", "ONE.IPYNB", "one_lee.ipynb", "Lee, Ann - one.ipynb"),
    *("ps1/my work/one.ipynb", "one/one (1).ipynb", "two/one.ipynb"),
)


@pytest.mark.parametrize("file", COPIES)
def test_a_copys_name_is_understood(tmp_path, file):
    """A browser writes ` (1)` where the notebook was downloaded before."""
    path = tmp_path / "ann" / file
    path.parent.mkdir(parents=True)
    path.touch()
    (found,) = find(tmp_path, ["one", "two"])
    assert ("ann", "one", path) == (found.student, found.assignment, found.path)
    assert [] == [*submissions.left_out(tmp_path, ["one", "two"], [found])]


@pytest.mark.parametrize("file", ["one-1.ipynb", "one-1 (2).ipynb", "one 1_lee.ipynb"])
def test_a_copys_name_may_be_another_assignments(tmp_path, file):
    """It is that one's alone."""
    hand_in(tmp_path, "ann", "", file.removesuffix(".ipynb"))
    for others in (["one"], ["1"], ["one", "1"]):
        found = find(tmp_path / "submitted", [*others, "one-1"])
        assert ["one-1"] == [it.assignment for it in found]
    hand_in(tmp_path, "ann", "", file.removesuffix(".ipynb").replace("1", "two"))
    found = find(tmp_path / "submitted", ["two", "one-two"])
    assert ["one-two"] == [it.assignment for it in found]


def test_of_several_notebooks_the_newest_counts(tmp_path):
    """By the file's time; of one time, by the number of the copy; and all are named."""
    for at, name in ((30, "one.ipynb"), (50, "b/one_lee.ipynb"), (40, "one (7).ipynb")):
        path = tmp_path / "ann" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (at, at))
    for name in ("one (2).ipynb", "one (10).ipynb", "one.ipynb", "two.ipynb"):
        path = tmp_path / "bob" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (50, 50))
    names = ["one", "two"]
    found = find(tmp_path, names)
    assert ["b/one_lee.ipynb", "one (10).ipynb", "two.ipynb"] == [
        str(it.path.relative_to(tmp_path / it.student)) for it in found
    ]
    assert [
        "`ann` has 3 notebooks of `one`: `b/one_lee.ipynb` counts, the newest; "
        "not `one (7).ipynb`, `one.ipynb`",
        "`bob` has 3 notebooks of `one`: `one (10).ipynb` counts, the newest; "
        "not `one (2).ipynb`, `one.ipynb`",
    ] == [*submissions.left_out(tmp_path, names, found)]


def test_a_folder_of_any_depth_is_looked_at(tmp_path):
    """As far as anybody would go; and no further, where nobody would."""
    for student, depth in (("ann", 6), ("bob", 400)):
        here = os.open(tmp_path, os.O_RDONLY)
        for part in (student, *["d"] * depth):
            os.mkdir(part, dir_fd=here)
            here, before = os.open(part, os.O_RDONLY, dir_fd=here), here
            os.close(before)
        os.close(os.open("one.ipynb", os.O_CREAT, dir_fd=here))
        os.close(here)
    found = find(tmp_path, ["one"])
    assert ["ann"] == [it.student for it in found]
    (told,) = submissions.left_out(tmp_path, ["one"], found)
    assert told.startswith("`bob` is not marked: expected `one.ipynb`, found `d/d/")


def test_an_export_of_canvas_is_understood(tmp_path):
    """All in one folder, with the student's name and number before the file's name.

    Of two, the newest has the larger number of a file: their times are of the export.
    """
    for at, name in (
        *((0, "annlee_12_456_one.ipynb"), (0, "annlee_34_457_one-1.ipynb")),
        *((0, "bobray_LATE_56_458_one.ipynb"), (0, "bobray_56_459_homework.pdf")),
        *((0, "cemkaya_78_1000_one-1.ipynb"), (9, "cemkaya_78_999_one-2.ipynb")),
    ):
        (tmp_path / name).write_text(notebook([]))
        os.utime(tmp_path / name, (at, at))
    (tmp_path / "dee_9_462_one.ipynb").symlink_to("annlee_12_456_one.ipynb")
    found = find(tmp_path, ["one"])
    assert [
        ("annlee_12", "annlee_12_456_one.ipynb", False),
        ("annlee_34", "annlee_34_457_one-1.ipynb", False),
        ("bobray_56", "bobray_LATE_56_458_one.ipynb", True),
        ("cemkaya_78", "cemkaya_78_1000_one-1.ipynb", False),
    ] == [(it.student, it.path.name, it.late) for it in found]
    assert read(tmp_path, found[2].path)
    assert [
        "`cemkaya_78` has 2 notebooks of `one`: `cemkaya_78_1000_one-1.ipynb` counts, "
        "the newest; not `cemkaya_78_999_one-2.ipynb`",
        "`bobray_56_459_homework.pdf` is not marked: expected `one.ipynb`, found "
        "`homework.pdf`",
        "`dee_9_462_one.ipynb` is not marked: it is a link, and links are not followed",
    ] == [*submissions.left_out(tmp_path, ["one"], found)]


AS_MOODLE = "x_99_assignsubmission_file_one.ipynb"


@pytest.mark.parametrize(
    "names, students",
    [
        ([f"eve_12_345_{AS_MOODLE}"], ["eve_12"]),
        (["ann_99_344_one.ipynb", f"eve_12_345_{AS_MOODLE}"], ["ann_99", "eve_12"]),
        (
            [f"Eve_12_assignsubmission_file_{AS_MOODLE}", f"A_{AS_MOODLE}"],
            ["A_x_99_assignsubmission_file"],
        ),
        (
            [
                "Ann_12_assignsubmission_file_one.ipynb",
                "Ann_12_assignsubmission_file_99_assignsubmission_file_one.ipynb",
            ],
            ["Ann_12_assignsubmission_file"],
        ),
        (
            ["Eve_12_assignsubmission_file_ann_99_344_one.ipynb"],
            ["Eve_12_assignsubmission_file"],
        ),
    ],
)
def test_the_name_of_a_file_claims_nobodys_number(tmp_path, names, students):
    """Nor that of a person, such as `Ann_12_assignsubmission_file`, who is the 99th.

    Which platform named them, all files of a folder decide, and not one of them.
    """
    for name in names:
        (tmp_path / name).write_text(notebook([]))
    assert students == [it.student for it in find(tmp_path, ["one"])]


def test_files_of_two_platforms_are_refused_with_their_names(tmp_path):
    """One of them is not what it says."""
    names = "eve_12_345_one.ipynb", "Ann_99_assignsubmission_file_one.ipynb"
    for name in names:
        (tmp_path / name).write_text(notebook([]))
    with pytest.raises(NoSubmissions, match="Canvas .* Moodle") as refused:
        find(tmp_path, ["one"])
    assert all(f"`{name}`" in str(refused.value) for name in names)


def test_an_export_of_moodle_is_understood(tmp_path):
    """With folders and without; the student is called the same in both."""
    ann, bob = (f"{it}_assignsubmission_file" for it in ("Ann Lee_4711", "Bob_12"))
    (tmp_path / ann).mkdir()
    for name in (f"{ann}/one.ipynb", f"{bob}_one.ipynb", f"{bob}_my_homework.pdf"):
        (tmp_path / name).write_text(notebook([]))
    found = find(tmp_path, ["one"])
    assert [ann, bob] == [it.student for it in found]
    left = f"`{bob}_my_homework.pdf` is not marked: expected `one.ipynb`, found"
    assert [f"{left} `my_homework.pdf`"] == [
        *submissions.left_out(tmp_path, ["one"], found)
    ]


def test_the_report_names_who_is_missing(tmp_path, capsys):
    """Also what `grade` left out, which it said once, long ago."""
    course(tmp_path, {}, asked=["active_share"])
    path = tmp_path / "release" / "manifest.json"
    data = json.loads(path.read_text())
    data["assignments"]["two"] = data["assignments"]["one"]
    path.write_text(json.dumps(data))
    for student, name in (("ann", "one"), ("ann", "two"), ("bob", "two"), ("cem", "x")):
        hand_in(tmp_path, student, notebook([PREDICTED]), name)
    assert 0 == grade(tmp_path)
    capsys.readouterr()
    assert 0 == main(["report", str(tmp_path / "marks")])
    told = capsys.readouterr().out
    assert 1 == told.count("not handed in: bob\n")
    assert 1 == told.count("not handed in: ")
    assert told.endswith("expected `one.ipynb`, `two.ipynb`, found `x.ipynb`\n")
