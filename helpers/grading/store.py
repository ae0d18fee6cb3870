"""Marks on disk: a file for each submission, written at once or not at all.

A file names what it was made of, so that a grader that was killed goes on where it was,
and one that changed begins anew.
"""

import csv
import hashlib
import io
import json
import os
from dataclasses import asdict
from pathlib import Path

import numba
import numpy as np

import helpers
from helpers.exercises.catalogue import exercises

COLUMNS = "student", "assignment", "exercise", "points", "max_points", "reason"


def grader_digest() -> str:
    """A digest of all that decides: `helpers`, the exercises, Numba and NumPy."""
    found = hashlib.sha256()
    package = Path(helpers.__file__).parent
    files = {it for it in package.rglob("*.py")}
    files |= {Path(module_file(kind)) for kind in exercises().values()}
    for file in sorted(files):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    found.update(f"{numba.__version__} {np.__version__}".encode())
    return found.hexdigest()


def module_file(kind) -> str:
    import sys

    return sys.modules[kind.__module__].__file__


def key_of(data, items, seed, secret, digest) -> str:
    """A digest of a submission and of what is asked of it."""
    rows = [asdict(it) for it in items]
    asked = json.dumps([rows, seed, secret, digest], sort_keys=True)
    return hashlib.sha256(asked.encode() + b"\0" + data).hexdigest()


class Store:
    """The folder of marks."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, student, assignment, suffix=".json") -> Path:
        return self.folder / student / (assignment + suffix)

    def has(self, student, assignment, key) -> bool:
        """Was this very submission marked before?"""
        try:
            known = json.loads(self.path(student, assignment).read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(known, dict) and known.get("key") == key

    def keep(self, student, assignment, key, result):
        """Write a submission's marks."""
        whole = {"student": student, "assignment": assignment, "key": key, **result}
        self.write(self.path(student, assignment), as_json(whole))

    def write(self, path, text):
        """Write a file whole: a reader never sees the half of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f".{path.name}.half")
        half.write_bytes(text.encode("utf-8", "backslashreplace"))  # half a character
        os.replace(half, path)

    def results(self) -> list[dict]:
        """All marks, in the order of students and assignments."""
        paths = sorted(self.folder.glob("*/*.json"))
        return [json.loads(it.read_text("utf-8")) for it in paths]

    def write_marks(self):
        """Write `marks.csv`: a row for each exercise of each submission."""
        text = io.StringIO()
        rows = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        rows.writeheader()
        for result in self.results():
            for row in result["exercises"]:
                given = {**row, "student": result["student"]}
                given["assignment"] = result["assignment"]
                rows.writerow({name: cell(given[name]) for name in COLUMNS})
        self.write(self.folder / "marks.csv", text.getvalue())


def cell(value):
    """A cell of a table: nothing where there are no points, and no formula."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")):
        return "'" + value
    return value


def as_json(value) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
