"""Folders of submissions for tests, and the grader's own command line."""

import json

from helpers.exercises.catalogue import exercise
from helpers.grading.__main__ import main
from helpers.grading.manifest import Manifest, item_of
from helpers.grading.sandbox import isolation
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG

TRUTH = exercise("active_share").truth()
PREDICTED = f"active_share = {TRUTH!r}"
ASKED = "mirror", "active_share"
PEOPLE = {  # what each hands in, and the points that it earns
    "ann": ([HEAD, RIGHT, CHECK, PREDICTED], [2, 2]),
    "bob": ([HEAD, WRONG, CHECK, PREDICTED], [0, 2]),
    "cem": ([HEAD, RIGHT, "raise SystemExit"], [2, 0]),
    "dee": ([HEAD, CHECK], [0, 0]),
}


def notebook(cells) -> str:
    """A notebook with these cells, as Jupyter writes it."""
    rows = [{"cell_type": "code", "source": text.splitlines(True)} for text in cells]
    return json.dumps({"cells": rows, "nbformat": 4, "nbformat_minor": 5})


def hand_in(folder, student, text, assignment="one"):
    """Put a notebook where the grader looks for it."""
    path = folder / "submitted" / student / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


# the submissions of these tests do no harm
WITHOUT_ISOLATION = ["--not-isolated"] * (isolation.level_of() == "process")


def course(folder, people=PEOPLE, asked=ASKED):
    """A release with one assignment, and what people handed in."""
    items = [item_of(exercise(name)) for name in asked]
    (folder / "release").mkdir()
    manifest = Manifest(None, {"one": items})
    (folder / "release" / "manifest.json").write_text(manifest.as_json(), "utf-8")
    (folder / "submitted").mkdir()
    for student, (cells, _) in people.items():
        hand_in(folder, student, notebook(cells))
    return manifest


def grade(folder, *options, out="marks") -> int:
    """The exit status of the grader in a folder made by `course`."""
    given = ["grade", folder / "submitted", "--release", folder / "release"]
    given += ["--out", folder / out, "--secret", "s", "--workers", "1", *options]
    given += [] if "--isolated" in options else WITHOUT_ISOLATION
    return main([str(it) for it in given])


def marks(folder, out="marks") -> dict:
    """The points in marks.csv, by student."""
    found = {}
    for line in (folder / out / "marks.csv").read_text("utf-8").splitlines()[1:]:
        student, _, _, points, _, _ = line.split(",")
        found.setdefault(student, []).append(float(points) if points else None)
    return found


def written(folder, out="marks") -> dict:
    """The bytes of all that was written, by path."""
    root = folder / out
    files = [it for it in sorted(root.rglob("*")) if it.is_file()]
    return {str(it.relative_to(root)): it.read_bytes() for it in files}


def row(folder, student, place=0, out="marks") -> dict:
    """What was kept of one exercise of a submission."""
    path = folder / out / student / "one.json"
    return json.loads(path.read_text("utf-8"))["exercises"][place]
