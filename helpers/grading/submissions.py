"""Submitted notebooks: where they are, and their cells, read with distrust.

A folder for each student, in it `<assignment>.ipynb` or, as nbgrader has it,
`<assignment>/<assignment>.ipynb`. Links are not followed, and only files are opened.
"""

import errno
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from helpers.grading.sandbox.limits import MOST_CELLS, NOTEBOOK_BYTES
from helpers.grading.words import printable

SUFFIX = ".ipynb"
RESERVED = {  # names in the folder of marks, where each student has a folder, too
    *("marks.csv", "by_hand.csv", "junit.xml", "gradebook.db", "gradescope"),
}
MOST_NAMED = 5


class Unreadable(Exception):
    """Why a submission cannot be marked, for the one who grades."""


class NoSubmissions(Exception):
    """A folder in which there is nothing to mark."""


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
        if student.is_dir(follow_symlinks=False)
        and not student.name.startswith(".")
        and student.name not in RESERVED
        for name in assignments
        if (path := place(Path(student.path), name))
    )


def left_out(folder, assignments, found):
    """A line for each entry of which nothing is marked, and for each student with
    notebooks that nobody asked for; hidden entries are left out.
    """
    students = {it.student for it in found}
    flat = [name + SUFFIX for name in assignments]
    expected = {*flat, *(f"{name}/{name}{SUFFIX}" for name in assignments)}
    for entry in sorted(os.scandir(folder), key=lambda it: it.name):
        if entry.name.startswith("."):
            continue
        name = f"`{printable(entry.name)}`"
        if entry.is_symlink():
            yield f"{name} is not marked: it is a link, and links are not followed"
        elif not entry.is_dir():
            yield f"{name} is not marked: it is no student's folder"
        elif entry.name in RESERVED:
            yield f"{name} is not marked: marks have such a file; rename the folder"
        else:
            others = [it for it in names_in(entry.path) if it not in expected]
            if entry.name not in students:
                told = f"expected {listed(flat)}, found {listed(others)}"
                yield f"{name} is not marked: {told}"
            elif more := [it for it in others if it.lower().endswith(SUFFIX)]:
                yield f"{name} has what no assignment is called: {listed(more)}"


def names_in(folder) -> list[str]:
    """What a student's folder has, and its folders: `a.ipynb`, `b/c.ipynb`, `d/`."""
    names = []
    for entry in visible(folder):
        inner = visible(entry.path) if entry.is_dir(follow_symlinks=False) else ()
        names += [f"{entry.name}/{it.name}" for it in inner] or [entry.name]
    return names


def visible(folder) -> list:
    """A folder's entries but for hidden ones; none where it cannot be read."""
    try:
        entries = sorted(os.scandir(folder), key=lambda it: it.name)
    except OSError:
        return []
    return [it for it in entries if not it.name.startswith(".")]


def listed(names) -> str:
    """The first few names."""
    if not names:
        return "nothing"
    first = [f"`{printable(it)}`" for it in names[:MOST_NAMED]]
    return ", ".join(first + ["…"] * (len(names) > MOST_NAMED))


def place(folder, name):
    """The path of a student's notebook; None where there is none."""
    flat, nested = folder / (name + SUFFIX), folder / name / (name + SUFFIX)
    return next((it for it in (flat, nested) if os.path.lexists(it)), None)


def read(folder, path) -> bytes:
    """The bytes of a file that was submitted in a folder; raises Unreadable."""
    try:
        descriptor = open_within(folder, path)
    except OSError as error:
        linked = error.errno in (errno.ELOOP, errno.ENOTDIR)
        told = "a link leads to it" if linked else error.strerror
        raise Unreadable(f"it cannot be opened: {told}") from None
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


def open_within(folder, path) -> int:
    """Open a file part by part: no link within the folder is followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    *parts, name = path.relative_to(folder).parts
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, flags, dir_fd=here)
    finally:
        os.close(here)


def cells_of(data) -> list[str]:
    """The texts of a notebook's code cells; raises Unreadable."""
    try:
        cells = json.loads(data, parse_int=float)["cells"]  # of any number of digits
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
