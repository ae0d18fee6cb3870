"""Submitted notebooks: where they are, and whose.

A folder for each student, in it `<assignment>.ipynb` or, as nbgrader has it,
`<assignment>/<assignment>.ipynb`; or all in one folder, as Canvas exports them, and
Moodle where it is asked for no folders. Links are not followed.
"""

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from helpers.grading.store import reserved
from helpers.grading.words import printable

SUFFIX = ".ipynb"
MOST_NAMED = 5
COPY = r"(?: ?\(\d+\)|-\d+|-Copy\d+)\.ipynb"  # of browsers, Canvas, Jupyter
CANVAS = re.compile(r"([^_]+)(?:_LATE)?_(\d+)_\d+_(.+)", re.DOTALL)
MOODLE = re.compile(r"(.+_\d+_assignsubmission_file)_(.+)", re.DOTALL)


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
    found = {}
    for one in chain(in_folders(folder, assignments), exported(folder, assignments)):
        found.setdefault((one.student, one.assignment), one)
    return sorted(found.values())


def in_folders(folder, assignments):
    """Those in a folder for each student."""
    for student in visible(folder):
        if student.is_dir(follow_symlinks=False) and student.name not in reserved():
            for name in assignments:
                if path := notebook_in(Path(student.path), name, assignments):
                    yield Submission(student.name, name, path)


def exported(folder, assignments):
    """Those without folders; where a student has two of a name, none."""
    found = {}
    for entry in visible(folder):
        student, file = whose(entry.name)
        if student and entry.is_file(follow_symlinks=False):
            for name in assignments:
                if file == name + SUFFIX or is_copy(file, name, assignments):
                    found.setdefault((student, name), []).append(Path(entry.path))
    return [Submission(*key, it[0]) for key, it in found.items() if len(it) == 1]


def whose(name):
    """The student and the file's own name, in a name that Moodle gave or Canvas, as
    `annlee_123_456_one.ipynb`: two may be called so, and the first number is hers.
    """
    if parts := MOODLE.fullmatch(name):
        return parts[1], parts[2]
    if parts := CANVAS.fullmatch(name):
        return f"{parts[1]}_{parts[2]}", parts[3]
    return "", name


def notebook_in(folder, name, assignments):
    """The path of a student's notebook; None where there is none, or where nobody
    knows which of several copies is meant.
    """
    for path in (folder / (name + SUFFIX), folder / name / (name + SUFFIX)):
        if os.path.lexists(path):
            return path
    copies = [it.path for it in visible(folder) if is_copy(it.name, name, assignments)]
    return Path(copies[0]) if len(copies) == 1 else None


def is_copy(file, name, assignments) -> bool:
    """Is it what a browser calls a notebook that was there before: `name (1).ipynb`?"""
    other = file.removesuffix(SUFFIX) in assignments
    return not other and bool(re.fullmatch(re.escape(name) + COPY, file))


def left_out(folder, assignments, found):
    """A line for each entry of which nothing is marked, and for each student with more
    than what is marked; hidden entries are left out.
    """
    students, used = {it.student for it in found}, {str(it.path) for it in found}
    flat = [name + SUFFIX for name in assignments]
    for entry in visible(folder):
        if entry.path in used:
            continue
        name = f"`{printable(entry.name)}`"
        if entry.is_symlink():
            yield f"{name} is not marked: it is a link, and links are not followed"
        elif not entry.is_dir():
            yield f"{name} is not marked: put it into a folder for its student"
        elif entry.name in reserved():
            yield f"{name} is not marked: marks have such a file; rename the folder"
        else:
            paths = {it: os.path.join(entry.path, it) for it in names_in(entry.path)}
            others = [it for it, path in paths.items() if path not in used]
            if entry.name not in students:
                expected = f"expected {listed(flat)}, found {listed(others, flat)}"
                yield f"{name} is not marked: {expected}"
            elif others:
                yield f"{name} has more, which is not marked: {listed(others, flat)}"


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


def listed(names, known=()) -> str:
    """The first few names, each with the one that may be meant."""
    if not names:
        return "nothing"
    first = [f"`{printable(it)}`{meant(it, known)}" for it in names[:MOST_NAMED]]
    return ", ".join(first + ["…"] * (len(names) > MOST_NAMED))


def meant(name, known) -> str:
    """A notebook's name that is much like this one, as a question."""
    if not name.lower().endswith(SUFFIX):
        return ""
    by_stem = {it.lower().removesuffix(SUFFIX): it for it in known}
    file = re.sub(f"{COPY}$", SUFFIX, name.rpartition("/")[2].lower())
    near = get_close_matches(file.removesuffix(SUFFIX), by_stem, 1)
    return f" (is it `{by_stem[near[0]]}`?)" if near else ""
