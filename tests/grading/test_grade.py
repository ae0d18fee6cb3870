"""The way from a folder of submissions to marks, and what stops it."""

import json
import subprocess
import sys

import psutil
import pytest

from helpers.exercises import budgets
from helpers.grading import grading, references, worker
from helpers.grading.__main__ import main, parser
from helpers.grading.grading import secret_of
from helpers.grading.manifest import load
from helpers.grading.sandbox import isolation
from helpers.grading.store import MarksStore
from helpers.grading.submissions import find
from tests.grading import asking
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG
from tests.grading.handing_in import (
    PEOPLE,
    PREDICTED,
    WITHOUT_ISOLATION,
    course,
    grade,
    hand_in,
    marks,
    notebook,
    row,
    written,
)


def test_a_folder_of_submissions_gets_its_marks(tmp_path, capsys):
    """Right, wrong, half done and empty; and nobody is marked twice."""
    course(tmp_path)
    assert 0 == grade(tmp_path)
    assert {name: points for name, (_, points) in PEOPLE.items()} == marks(tmp_path)
    first = written(tmp_path)
    capsys.readouterr()
    assert 0 == grade(tmp_path)
    assert "0 of them to be marked" in capsys.readouterr().err
    assert first == written(tmp_path)
    hand_in(tmp_path, "dee", notebook([HEAD, RIGHT]))
    (tmp_path / "submitted" / "bob" / "one.ipynb").unlink()
    grade(tmp_path)
    told = capsys.readouterr().err
    assert "3 submissions, 1 of them to be marked" in told
    assert "kept from before, not handed in now: bob (one)\n" in told
    assert [2, 0] == marks(tmp_path)["dee"]
    assert "bob" in marks(tmp_path)


@pytest.mark.slow
def test_the_same_folder_and_secret_give_the_same_bytes(tmp_path):
    """With other workers, too."""
    course(tmp_path)
    grade(tmp_path)
    grade(tmp_path, "--workers", "2", out="again")
    assert written(tmp_path) == written(tmp_path, "again")


def test_nbgraders_folders_are_found_as_well(tmp_path):
    """`submitted/<student>/<assignment>/<assignment>.ipynb`; flat ones first."""
    path = tmp_path / "eve" / "one" / "one.ipynb"
    path.parent.mkdir(parents=True)
    path.touch()
    assert [path] == [it.path for it in find(tmp_path, ["one", "two"])]
    (tmp_path / "eve" / "one.ipynb").touch()
    assert [tmp_path / "eve" / "one.ipynb"] == [
        it.path for it in find(tmp_path, ["one"])
    ]


def test_a_folder_without_submissions_is_an_error(tmp_path, capsys):
    """As one level too deep; what was found is named."""
    course(tmp_path, {})
    hand_in(tmp_path, "eve", "{}", "On (1)")
    for number in range(6):
        hand_in(tmp_path, f"section/s{number}", "{}")
    assert 2 == grade(tmp_path)
    told = capsys.readouterr().err
    assert "`eve` is not marked: expected `one.ipynb`, found `On (1).ipynb`" in told
    assert "`section` is not marked: expected `one.ipynb`, found `s0/one.ipynb`" in told
    assert "…; are these of several students?" in told
    assert "submitted has no submissions: a folder for each student" in told
    (tmp_path / "submitted").rename(tmp_path / "handed_in")
    assert 2 == grade(tmp_path)
    told = capsys.readouterr().err
    assert f"nobody is graded: {tmp_path}/submitted is not there" in told
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("out", ["submitted", "submitted/marks", "."])
def test_a_file_that_is_handed_in_is_never_read_as_marks(tmp_path, capsys, out):
    """As where they are written beside it: the folders are not one in the other."""
    course(tmp_path, {"eve": ([], [])})
    forged = {"student": "ann", "assignment": "one", "exercises": []}
    (tmp_path / "submitted" / "eve" / "ann.json").write_text(json.dumps(forged))
    assert 2 == grade(tmp_path, out=out)
    assert "could be read as marks: give the marks a folder" in capsys.readouterr().err
    assert not [*tmp_path.rglob("*.csv")]


def test_a_secret_is_drawn_once_and_kept(tmp_path):
    """Inputs differ from course to course, and not from run to run."""
    store = MarksStore(tmp_path)
    first = secret_of(store, "")
    assert 32 == len(first)
    assert first == secret_of(store, "")
    assert "mine" == secret_of(store, "mine")
    assert 0o600 == (tmp_path / ".secret").stat().st_mode & 0o777


@pytest.mark.slow
def test_what_it_began_is_ended(tmp_path, monkeypatch):
    """No warm process outlives the command."""
    monkeypatch.setattr(worker, "_idle", {})
    monkeypatch.setattr(worker, "_begun", [])
    monkeypatch.setattr("helpers.grading.grading.end_nurseries", worker.end_nurseries)
    course(tmp_path, {}, asked=["mirror"])
    before = set(psutil.Process().children())
    hand_in(tmp_path, "ann", notebook([HEAD, RIGHT]))
    assert 0 == grade(tmp_path)
    assert before == set(psutil.Process().children())
    assert {"ann": [2]} == marks(tmp_path)


def test_progress_is_told_now_and_then_and_at_the_end(monkeypatch):
    """With the time that is left, and not a line for each submission."""
    clock = iter([0, 1, 2, 6, 7, 8])
    monkeypatch.setattr(grading.time, "monotonic", lambda: next(clock))
    told = []
    progress = grading.GradingProgress(5, told.append)
    for _ in range(5):
        progress.one_more()
    first = "3 of 5 marked in 6 s, about 4 s left"
    assert [first, "5 of 5 marked in 8 s"] == told


@pytest.mark.parametrize("count, told", [(19, 0), (20, 1)])
def test_a_guess_at_the_cost_needs_some_submissions(tmp_path, monkeypatch, count, told):
    """A few of them vary too much, and are not worth that judges prepare."""
    answers = ["active_share = {16: .5, 48: .75, 96: 1.0}"]
    people = {f"s{number}": (answers, []) for number in range(count)}
    course(tmp_path, people, asked=["active_share"])
    jobs, said = [], []
    monkeypatch.setattr(
        grading, "mark_all", lambda *those: jobs.extend(those[2]) or 1.23 * count
    )
    manifest = load(tmp_path / "release")
    line = ["grade", "x", "--release", "x", "--out", "x", *WITHOUT_ISOLATION]
    options = parser().parse_args(line)
    options.workers = 1
    folders = tmp_path / "submitted", manifest, tmp_path / "marks"
    grading.grade_folder(*folders, options, said.append)
    guess = "1,000 such submissions take about 0.3 hours of one core"
    assert told == said.count(guess)
    assert [told > 0] * count == [work.prepared for _, _, work in jobs]


# ---------------------------------------------------------------- what stops it


def test_references_that_lose_a_point_stop_everything(tmp_path, monkeypatch, capsys):
    """With exit status 2, and no marks."""
    course(tmp_path, asked=["mirror"])
    monkeypatch.setattr(references, "cell_of", lambda task: WRONG)
    assert 2 == grade(tmp_path)
    told = capsys.readouterr().err
    assert "nobody is graded: the course's own answers to one lose points" in told
    assert "mirror: 0.0 of 2 points" in told
    assert not (tmp_path / "marks" / "marks.csv").exists()


def test_a_missing_package_stops_everything_and_is_named(tmp_path, monkeypatch, capsys):
    """nbgrader would have given everybody zero."""
    course(tmp_path)
    head = references.IMPORTS + "import no_such_package\n"
    monkeypatch.setattr(references, "IMPORTS", head)
    assert 2 == grade(tmp_path)
    assert "ModuleNotFoundError: No module named 'no_such_package'" in (
        capsys.readouterr().err
    )


def test_a_package_that_the_sandbox_lacks_stops_everything(
    tmp_path, monkeypatch, capsys
):
    """The warm process says which."""
    course(tmp_path)
    monkeypatch.setattr(worker, "_idle", {})
    program = [sys.executable, "-c", "import numba_of_another_name"]
    monkeypatch.setattr(isolation, "command", lambda *_: program)
    assert 2 == grade(tmp_path)
    assert "No module named 'numba_of_another_name'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, told",
    [
        (None, "is not there"),
        ("", "is no manifest"),
        ("[]", "is no manifest"),
        ('{"seed": null, "assignments": {"one": [{"exercise": 3}]}}', "is no manifest"),
    ],
)
def test_a_manifest_that_is_none_stops_everything(tmp_path, text, told, capsys):
    """It says which file."""
    course(tmp_path)
    path = tmp_path / "release" / "manifest.json"
    path.unlink() if text is None else path.write_text(text)
    assert 2 == grade(tmp_path)
    assert told in capsys.readouterr().err


def test_a_manifest_with_another_kind_or_points_stops_everything(tmp_path, capsys):
    """What is asked for is what the course asks for."""
    course(tmp_path)
    path = tmp_path / "release" / "manifest.json"
    right = path.read_text()
    for part, wrong in (("kind", "explain"), ("answer", "x"), ("points", -1)):
        data = json.loads(right)
        data["assignments"]["one"][0][part] = wrong
        path.write_text(json.dumps(data))
        assert 2 == grade(tmp_path)
        assert "mirror" in capsys.readouterr().err


def test_an_exercise_that_has_other_words_now_stops_everything(tmp_path, capsys):
    """Nobody loses points for what was asked differently when they answered."""
    course(tmp_path)
    path = tmp_path / "release" / "manifest.json"
    data = json.loads(path.read_text())
    data["assignments"]["one"][0]["asked"] = "0" * 16
    path.write_text(json.dumps(data))
    assert 2 == grade(tmp_path)
    assert "`mirror` was handed out in other words" in capsys.readouterr().err


def test_a_budget_that_cannot_be_held_stops_everything(tmp_path, monkeypatch, capsys):
    """Without NVIDIA's compiler nobody knows how many instructions there are."""
    course(tmp_path, asked=["mirror", "calendar"])
    monkeypatch.setattr(budgets, "missing", lambda: "the compiler")
    assert 2 == grade(tmp_path)
    told = capsys.readouterr().err
    assert "need NVIDIA's compiler, which is missing here: `calendar` (instr" in told


def test_an_exercise_that_nobody_knows_stops_everything(tmp_path, capsys):
    """As where the course is not installed."""
    course(tmp_path)
    path = tmp_path / "release" / "manifest.json"
    path.write_text(path.read_text().replace('"mirror"', '"mirrors"'))
    assert 2 == grade(tmp_path)
    assert "no exercise 'mirrors'" in capsys.readouterr().err


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_where_nothing_is_graded_a_sentence_says_so(
    tmp_path, monkeypatch, capsys, system
):
    """Windows lacks what locks a folder of marks, too."""
    course(tmp_path)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert 2 == grade(tmp_path)
    told = capsys.readouterr().err
    assert "nobody is graded: submissions are run on Linux alone" in told


@pytest.mark.parametrize("number", ["-1", "two"])
def test_a_number_of_workers_is_one(capsys, number):
    """A sentence of the command line, and its status."""
    line = ["grade", "folder", "--release", "folder", "--out", "folder"]
    with pytest.raises(SystemExit, match="2"):
        main([*line, f"--workers={number}"])
    assert f"{number} is not a whole number, 0 or more" in capsys.readouterr().err


def test_the_command_line_is_a_command(tmp_path):
    """`python -m helpers.grading`, with its own exit status."""
    line = [sys.executable, "-m", "helpers.grading", "grade", str(tmp_path)]
    line += ["--release", str(tmp_path), "--out", str(tmp_path / "marks")]
    line += WITHOUT_ISOLATION
    done = subprocess.run(line, capture_output=True, text=True)
    assert 2 == done.returncode
    assert "`release` writes it" in done.stderr


# ---------------------------------------------------------------- points and cells


def test_points_of_a_manifest_scale_those_of_the_exercise(tmp_path):
    """The course's own, not what a notebook says."""
    course(tmp_path, {"ann": PEOPLE["ann"]})
    path = tmp_path / "release" / "manifest.json"
    data = json.loads(path.read_text())
    data["assignments"]["one"][0]["points"] = 5
    path.write_text(json.dumps(data))
    grade(tmp_path)
    assert {"ann": [5, 2]} == marks(tmp_path)


CELLS = {
    "reordered": ([PREDICTED, HEAD, RIGHT, CHECK], [2, 2]),
    "the check first": ([HEAD, CHECK, RIGHT, PREDICTED], [2, 2]),
    "duplicated": ([HEAD, RIGHT, RIGHT, CHECK, CHECK, PREDICTED], [2, 2]),
    "the kernel renamed": ([HEAD, RIGHT.replace("mirror", "mirrors"), CHECK], [0, 0]),
    "the check deleted": ([HEAD, RIGHT, PREDICTED], [2, 2]),
    "the answer deleted": ([HEAD, CHECK, PREDICTED], [0, 2]),
    "the imports deleted": ([RIGHT, CHECK, PREDICTED], [0, 2]),
    "another exercise's name claimed": ([HEAD, RIGHT, "active_share = mirror"], [2, 0]),
    "the wrong answer last": ([HEAD, RIGHT, WRONG, PREDICTED], [0, 2]),
    "magics around a cell": (
        [HEAD, f"\n%%time\n%%capture out\n{RIGHT}", f"%%time\n{PREDICTED}"],
        [2, 2],
    ),
    "await": ([HEAD, f"import asyncio\nawait asyncio.sleep(0)\n{RIGHT}"], [2, 0]),
    "magics and shells": ([HEAD, "%timeit 1\n!ls", RIGHT, PREDICTED], [2, 2]),
}


@pytest.mark.slow
def test_cells_may_be_in_any_order_and_number(tmp_path):
    """What counts is what a name holds in the end."""
    people = {name: (cells, points) for name, (cells, points) in CELLS.items()}
    course(tmp_path, people)
    grade(tmp_path)
    assert {name: points for name, (_, points) in CELLS.items()} == marks(tmp_path)


SHIFTED = RIGHT.replace("cols - 1 - col", "cols - ONE - shift(col)")
SHIFT = "@cuda.jit(device=True)\ndef shift(n):\n    return n + ONE - 1"
FROZEN = {
    "given away after the check": (["ONE = 1", SHIFT, SHIFTED, CHECK, "ONE = 2"], 2),
    "given away, and nobody checked": (["ONE = 1", SHIFT, SHIFTED, "ONE = 2"], 2),
    "later than the kernel": ([SHIFTED, SHIFT, "ONE = 1", CHECK, "ONE = 3"], 2),
    "right before the check": (["ONE = 2", SHIFT, SHIFTED, "ONE = 1", CHECK], 2),
    "changed between two checks": (
        ["ONE = 1", SHIFT, SHIFTED, CHECK, "ONE = 2", CHECK],
        2,
    ),
    "right after the check": (["ONE = 2", SHIFT, SHIFTED, CHECK, "ONE = 1"], 0),
    "never": ([SHIFT, SHIFTED, CHECK], 0),
}


@pytest.mark.parametrize("cells, points", FROZEN.values(), ids=FROZEN)
def test_a_kernel_keeps_what_its_names_meant_when_it_was_first_checked(cells, points):
    """Numba freezes them; the next exercise may use a name such as THREADS again."""
    assert points == asking.marks(HEAD, *cells)["exercises"][0]["points"]


def test_the_lesson_under_its_assignments_name_is_not_graded(tmp_path, capsys):
    """It has one exercise of several; `grade` and `report` say so."""
    asked = "mirror", "active_share", "offset_or_stride"
    people = {
        "ann": ([HEAD, RIGHT, PREDICTED], []),
        "dan": ([HEAD, RIGHT, CHECK], []),
        "eve": ([HEAD], []),
    }
    course(tmp_path, people, asked)
    assert 1 == grade(tmp_path)
    told = capsys.readouterr().err
    lesson = "it may be the lesson, or another assignment"
    only = f"The notebook is not graded: only 1 of its 3 exercises is in it: {lesson}"
    none = f"The notebook is not graded: none of its exercises is in it: {lesson}"
    assert f"dan (one): {only}.\neve (one): {none}.\n" in told
    assert {"ann": [2, 2, 0], "dan": [None] * 3, "eve": [None] * 3} == marks(tmp_path)
    assert 0 == main(["report", str(tmp_path / "marks")])
    assert f"  dan: {only}.\n  eve: {none}." in capsys.readouterr().out


def test_points_that_a_notebook_raises_are_not_read(tmp_path):
    """nbgrader's marks in a cell are the notebook's own words."""
    course(tmp_path, {})
    text = json.loads(notebook([HEAD, WRONG, CHECK]))
    for cell in text["cells"]:
        cell["metadata"] = {"nbgrader": {"points": 100, "grade": True, "grade_id": "x"}}
    text["metadata"] = {"points": 100}
    hand_in(tmp_path, "eve", json.dumps(text))
    grade(tmp_path)
    assert {"eve": [0, 0]} == marks(tmp_path)
    assert 2 == row(tmp_path, "eve")["max_points"]
