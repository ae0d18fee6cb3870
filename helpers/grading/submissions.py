"""Submitted notebooks: where they are, and their cells, read with distrust.

A folder for each student, in it `<assignment>.ipynb` or, as nbgrader has it,
`<assignment>/<assignment>.ipynb`. Links are not followed, and only files are opened.
"""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from helpers.grading.sandbox.limits import MOST_CELLS, NOTEBOOK_BYTES

SUFFIX = ".ipynb"


class Unreadable(Exception):
    """Why a submission cannot be marked, for the one who grades."""


@dataclass(frozen=True, order=True)
class Submission:
    """One student's notebook of an assignment."""

    student: str
    assignment: str
    path: Path


def find(folder, assignments) -> list[Submission]:
    """The submissions in a folder, in the order of the students' names."""
    return sorted(
        Submission(student.name, name, path)
        for student in os.scandir(folder)
        if student.is_dir(follow_symlinks=False) and not student.name.startswith(".")
        for name in assignments
        if (path := place(Path(student.path), name))
    )


def without(folder, found) -> list[str]:
    """The names in a folder of which nothing is marked, hidden ones left out."""
    students = {it.student for it in found}
    names = sorted(it.name for it in os.scandir(folder))
    return [it for it in names if it not in students and not it.startswith(".")]


def place(folder, name):
    """The path of a student's notebook; None where there is none."""
    flat, nested = folder / (name + SUFFIX), folder / name / (name + SUFFIX)
    return next((it for it in (flat, nested) if os.path.lexists(it)), None)


def read(path) -> bytes:
    """The bytes of a submitted file; raises Unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(f"it cannot be opened: {error.strerror}") from None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        os.close(descriptor)
        raise Unreadable("it is no file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(NOTEBOOK_BYTES + 1)
    if len(data) > NOTEBOOK_BYTES:
        size = f"{about.st_size:,} bytes; {NOTEBOOK_BYTES:,} are the most"
        raise Unreadable(f"it has {size}: hand it in without its outputs")
    return data


def cells_of(data) -> list[str]:
    """The texts of a notebook's code cells; raises Unreadable."""
    try:
        cells = json.loads(data)["cells"]
        found = [text_of(it) for it in cells if it["cell_type"] == "code"]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise Unreadable("it is no notebook") from None
    if len(found) > MOST_CELLS:
        raise Unreadable(f"it has {len(found):,} cells; {MOST_CELLS:,} are the most")
    return found


def text_of(cell) -> str:
    """A cell's text: one, or a list of lines."""
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    text.encode()  # ValueError where it has half a character
    return text
