"""Submitted notebooks: where they are, and whose.

A folder for each student, with notebooks anywhere in it; or all in one folder, as
Canvas exports them, and Moodle where it is asked for no folders. Links are not
followed.
A notebook is of the assignment whose name is a part of its own, and of several by one
student the newest counts.
"""

import os
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from helpers.grading.store import reserved
from helpers.grading.words import many, printable, words_of

SUFFIX = ".ipynb"
MOST_NAMED = 5
MOST_COPIES = 5  # of a student's notebook: more are several students'
DEEPEST = 8  # folders within a student's
CANVAS = re.compile(r"([^_]+)(_LATE)?_(\d+)_(\d+)_(.+)", re.DOTALL)
# nobody's where the file's own name may be that of a person, or the other way round
MOODLE = re.compile(
    r"((?>.+?_\d+_assignsubmission_file))_((?!.*\d_assignsubmission_file_).+)",
    re.DOTALL,
)


class NoSubmissions(Exception):
    """A folder in which there is nothing to mark."""


@dataclass(frozen=True, order=True)
class Submission:
    """One student's notebook of an assignment: `number` is what Canvas counts files by,
    `late` whether it called this one so, and `others` are older ones that do not count.
    """

    student: str
    assignment: str
    path: Path
    number: int = 0
    late: bool = False
    others: tuple = ()

    @property
    def age(self):
        """What orders the notebooks of a student, the newest last: Canvas' number, the
        file's time, and the number of a copy.
        """
        copy = re.findall(r"\d+", self.path.stem.rpartition("_")[2])
        return self.number, self.time, int(copy[-1][:9]) if copy else 0, self.path.name

    @property
    def time(self) -> float:
        """When the file was last changed, in seconds; 0 where nobody knows."""
        try:
            return os.stat(self.path, follow_symlinks=False).st_mtime
        except OSError:
            return 0.0


def find(folder, assignments) -> list[Submission]:
    """The submissions in a folder, in the order of the students' names."""
    found = {}
    for one in chain(in_folders(folder, assignments), exported(folder, assignments)):
        found.setdefault((one.student, one.assignment), []).append(one)
    return sorted(newest(it) for it in found.values() if len(it) <= MOST_COPIES)


def newest(several) -> Submission:
    """The one that counts, with the paths of the others."""
    *others, last = sorted(several, key=lambda it: it.age)
    return replace(last, others=tuple(it.path for it in others))


def in_folders(folder, assignments):
    """Those in a folder for each student."""
    for student in visible(folder):
        if student.is_dir(follow_symlinks=False) and student.name not in reserved():
            for file in files_in(student.path):
                path = Path(student.path, file)
                if name := assignment_of(path, assignments):
                    yield Submission(student.name, name, path)


def exported(folder, assignments):
    """Those without folders."""
    files = [it for it in visible(folder) if it.is_file(follow_symlinks=False)]
    platform = platform_of([it.name for it in files])
    for entry in files:
        student, file, number, late = whose(entry.name, platform)
        if student and (name := assignment_of(Path(file), assignments)):
            yield Submission(student, name, Path(entry.path), number, late)


def platform_of(names):
    """The platform that named the files of a folder: all of them, or raises
    NoSubmissions. A student chooses the end of a name, which may look as of the other.
    """
    canvas, moodle = ({*filter(it.fullmatch, names)} for it in (CANVAS, MOODLE))
    if moodle <= canvas:
        return CANVAS
    if canvas <= moodle:
        return MOODLE
    one, other = (printable(min(it)) for it in (canvas - moodle, moodle - canvas))
    raise NoSubmissions(
        f"`{one}` is named as Canvas does, and `{other}` as Moodle does: whose they "
        "are is not certain. Give each a folder, and grade one after the other"
    )


def whose(name, platform=None):
    """The student, the file's own name, Canvas' number of it and whether it was late,
    in a name that Moodle gave or Canvas, as `annlee_LATE_123_456_one.ipynb`: two may be
    called so, and the first number is hers.
    """
    platform = platform or platform_of([name])
    if platform is MOODLE and (parts := MOODLE.fullmatch(name)):
        return *parts.groups(), 0, False
    if platform is CANVAS and (parts := CANVAS.fullmatch(name)):
        student, late, number, file, rest = parts.groups()
        return f"{student}_{number}", rest, int(file[:18]), bool(late)
    return "", name, 0, False


def assignment_of(path, assignments) -> str | None:
    """The assignment of a notebook, or of a link: its name, in any case, is a part of
    the file's, as in `Copy of one (1).ipynb`. None where there is no such, or several.
    """
    if path.suffix.lower() != SUFFIX and not path.is_symlink():
        return None
    words = words_of(path.name)
    found = [it for it in assignments if words_of(it) in words]
    longest = max(map(words_of, found), key=len, default="")
    if any(words_of(it) not in longest for it in found):
        return None
    return next((it for it in found if words_of(it) == longest), None)


def left_out(folder, assignments, found):
    """A line for each student with several notebooks of an assignment, for each entry
    of which nothing is marked, and for each student with more than what is marked;
    hidden entries are left out.
    """
    used = {str(path) for it in found for path in (it.path, *it.others)}
    yield from (doubled(it, folder) for it in found if it.others)
    students = {it.student for it in found}
    flat = [name + SUFFIX for name in assignments]
    for entry in visible(folder):
        if entry.path in used:
            continue
        name = f"`{printable(entry.name)}`"
        if entry.is_symlink():
            yield f"{name} is not marked: it is a link, and links are not followed"
        elif not entry.is_dir():
            student, file, *_ = whose(entry.name)
            what = "put it into a folder for its student"
            yield f"{name} is not marked: {expected([file], flat) if student else what}"
        elif entry.name in reserved():
            yield f"{name} is not marked: marks have such a file; rename the folder"
        else:
            files = files_in(entry.path)
            others = [it for it in files if os.path.join(entry.path, it) not in used]
            if entry.name not in students:
                yield f"{name} is not marked: {expected(others, flat)}"
            elif others:
                yield f"{name} has more, which is not marked: {listed(others, flat)}"


def expected(others, flat) -> str:
    """What should be in a student's folder, and what is."""
    notebooks = [it for it in others if it.lower().endswith(SUFFIX)]
    several = len(notebooks) > MOST_COPIES
    hint = "; are these of several students?" if several else ""
    return f"expected {listed(flat)}, found {listed(others, flat)}{hint}"


def doubled(one, folder) -> str:
    """Which of a student's notebooks counts, and which do not."""
    paths = [str(it.relative_to(folder)) for it in (one.path, *one.others[::-1])]
    names = [it.removeprefix(f"{one.student}/") for it in paths]
    what = f"{many(len(names), 'notebook')} of `{one.assignment}`"
    newest = f"`{printable(names[0])}` counts, the newest"
    return f"`{printable(one.student)}` has {what}: {newest}; not {listed(names[1:])}"


def files_in(folder, levels=DEEPEST):
    """The files in a student's folder, wherever: `a.ipynb`, `b/c.ipynb`; and what is
    as good as one: a link, an empty folder, a folder that is called as a notebook.
    """
    for entry in visible(folder):
        inner = []
        if entry.is_dir(follow_symlinks=False) and not entry.name.endswith(SUFFIX):
            inner = files_in(entry.path, levels - 1) if levels else []
        names = [f"{entry.name}/{it}" for it in inner]
        yield from names or [entry.name]


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
    near = get_close_matches(Path(name.lower()).stem, by_stem, 1)
    return f" (is it `{by_stem[near[0]]}`?)" if near else ""
