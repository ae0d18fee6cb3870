"""What is handed out: notebooks, and the manifest that they are marked by."""

import json
import shutil

import pytest

from helpers.grading.__main__ import main
from tests.grading.handing_in import grade, hand_in, written


def test_a_release_is_what_is_graded(tmp_path, capsys):
    """Its notebooks, handed in untouched, earn nothing and break nothing."""
    out = tmp_path / "release"
    given = ["release", "12:mirror,sectors", "--out", str(out), "--seed", "7"]
    assert 0 == main(given)
    text = (out / "12_coalescing.ipynb").read_text("utf-8")
    hand_in(tmp_path, "ann", text, "12_coalescing")
    assert 0 == grade(tmp_path)
    path = tmp_path / "marks" / "ann" / "12_coalescing.json"
    rows = json.loads(path.read_text("utf-8"))["exercises"]
    assert {0} == {it["points"] for it in rows}
    assert {"no_answer"} == {it["reason"] for it in rows}


TWO = "12:mirror,sectors", "13:reuse"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of two assignments."""
    out = tmp_path_factory.mktemp("made") / "ps1"
    assert 0 == main(["release", *TWO, "--out", str(out), "--seed", "7"])
    return out


@pytest.fixture
def released(tmp_path, made):
    """The bytes of a copy of it."""
    shutil.copytree(made, tmp_path / "ps1")
    return written(tmp_path, "ps1")


@pytest.mark.parametrize(
    "given",
    [
        TWO,
        [TWO[0], "--seed", "7"],
        [*TWO, "--seed", "8"],
        [TWO[0], "--points", "mirror=5"],
    ],
    ids=" ".join,
)
def test_a_release_is_not_overwritten_by_another(tmp_path, released, given, capsys):
    """Its notebooks may be with the students already."""
    capsys.readouterr()
    assert 2 == main(["release", *given, "--out", str(tmp_path / "ps1")])
    told = capsys.readouterr().err
    assert "choose another folder, or remove it" in told
    assert "nobody is graded" not in told
    assert released == written(tmp_path, "ps1")


def test_each_name_of_a_release_is_an_assignment(tmp_path, capsys):
    """Nobody hands out one of two, and finds out from the students."""
    out = tmp_path / "ps1"
    assert 2 == main(["release", "12", "mine", "99", "--out", str(out)])
    assert "there is no assignment mine, 99\n" == capsys.readouterr().err
    assert not out.exists()


def test_a_release_may_have_some_exercises_of_a_lesson(tmp_path, capsys):
    """In the lesson's order; one that is not there stops all."""
    out = tmp_path / "ps1"
    given = ["release", *TWO, "--points", "mirror=5"]
    assert 2 == main(["release", "12:mirror,sector", "13", "--out", str(out)])
    assert "there is no assignment 12:mirror,sector\n" == capsys.readouterr().err
    assert 0 == main([*given, "--out", str(out)])
    told = "12_coalescing: 2 exercises, 7 points\n  sectors 2, mirror 5\n"
    assert capsys.readouterr().err.startswith(told)
    asked = json.loads((out / "manifest.json").read_text("utf-8"))["assignments"]
    assert ["12_coalescing", "13_shared_memory"] == [*asked]
    assert ["sectors", "mirror"] == [it["exercise"] for it in asked["12_coalescing"]]
    cells = json.loads((out / "12_coalescing.ipynb").read_text("utf-8"))["cells"]
    assert 2 + 2 * 3 == len(cells)
    text = "".join(cells[0]["source"])
    assert "2 exercises for the lesson" in text
    assert "7 points in all" in text


def test_a_release_may_be_given_other_points(tmp_path, released):
    """Its notebooks and its manifest are written together."""
    given = ["release", *TWO, "--out", str(tmp_path / "ps1"), "--seed", "7"]
    assert 0 == main([*given, "--points", "mirror=5"])
    assert released.keys() == written(tmp_path, "ps1").keys()
    assert released != written(tmp_path, "ps1")


@pytest.mark.parametrize(
    "given", ["mirrors=5", "mirror=-1", "mirror=nan", "mirror=inf"]
)
def test_points_are_checked_before_anything_is_written(tmp_path, given, capsys):
    """Half a release would be handed out."""
    out = tmp_path / "ps1"
    assert 2 == main(["release", TWO[0], "--out", str(out), "--points", given])
    assert capsys.readouterr().err.startswith("--points: ")
    assert not out.exists()
