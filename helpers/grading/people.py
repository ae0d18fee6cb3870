"""Who is in the class, and who was late: what a list of the class and a deadline say of
those who handed in. Neither changes points.

A list is any table with a column of numbers or names of users, `id`, and one of names:
also a gradebook that Canvas exported, or a grading worksheet of Moodle.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from helpers.grading.tables import TableError, read_table
from helpers.grading.words import many, printable

IDS = "id", "identifier"  # Canvas', Moodle's
NAMES = "name", "student", "full name"
# of Canvas, of Moodle: the last one, as people may choose what stands before it
NUMBER = re.compile(r"_(\d+)(_assignsubmission_[^_]*_?)?$")
UNITS = {"minute": 60, "hour": 3600, "day": 86400}  # in seconds


@dataclass(frozen=True)
class Person:
    """Somebody who is in the class."""

    id: str
    name: str

    def __str__(self):
        return f"{self.name} ({self.id})" if self.name else self.id


class ClassList:
    """The people of a class; of none, where there is no list."""

    def __init__(self, rows=()):
        self.people = [Person(*row) for row in rows]
        names = Counter(it.name.casefold() for it in self.people)
        alone = [it for it in self.people if names[it.name.casefold()] == 1]
        self.known = {it.name.casefold(): it for it in alone if it.name}
        self.known |= {it.id.casefold(): it for it in self.people}

    @property
    def rows(self) -> list:
        """The list as plain data."""
        return [[it.id, it.name] for it in self.people]

    def person(self, student) -> Person | None:
        """Who a student's folder is of: it is called by the id, or holds it as Canvas
        and Moodle write it, or is called by a name that nobody else has.
        """
        keys = student.casefold(), number_of(student)
        return next((self.known[it] for it in keys if it in self.known), None)

    def label(self, student) -> str:
        """What a student is called: in the list, else as the folder is."""
        return str(self.person(student) or student)

    def absent(self, students) -> list[Person]:
        """Those of whom none of some students' folders is."""
        there = {self.person(it) for it in students}
        return [it for it in self.people if it not in there]

    def remarks(self, students):
        """A line for each folder that is nobody's, and for each person with several."""
        found = {}
        for student in students if self.people else ():
            found.setdefault(self.person(student), []).append(f"`{printable(student)}`")
        for student in found.pop(None, ()):
            yield f"{student} is not in the list of the class"
        for person, several in found.items():
            if len(several) > 1:
                whose = printable(str(person))
                yield f"{', '.join(several)} are one person in the list: {whose}"


def read_class(path) -> ClassList:
    """The list in a file; raises TableError."""
    (_, head), *lines = read_table(path).lines
    columns = [it.strip().casefold() for it in head]
    ids, names = ([it for it in known if it in columns] for known in (IDS, NAMES))
    if not ids:
        raise TableError(f"{path}, line 1: a list of the class has a column `id`")
    id = columns.index(ids[0])
    name = columns.index(names[0]) if names else id
    last = max(id, name)
    rows = []
    for number, line in lines:
        if len(line) <= last:
            raise TableError(f"{path}, line {number}: there is no `{head[last]}` in it")
        if key := bare(line[id]):
            rows.append((key, line[name].strip() if names else ""))
    if twice := [it for it, n in Counter(key for key, _ in rows).items() if n > 1]:
        raise TableError(f"{path}: the {head[id]} {twice[0]} is there more than once")
    return ClassList(rows)


def bare(id) -> str:
    """An id without Moodle's word before it: `Participant 4711`."""
    return re.sub(r"^\D* (?=\d+$)", "", id.strip())


def number_of(student) -> str:
    """The number that Canvas or Moodle put into a student's name; "" without one."""
    found = NUMBER.search(student)
    return found[1] if found else ""


def lateness(one, due) -> str:
    """How late a submission is, in words; "" if it is not. Canvas says so itself, and
    its files' times are of the export; `due` is the time in ISO's form, or "".
    """
    if one.number or not due:
        return "says Canvas" if one.late else ""
    seconds = one.time - datetime.fromisoformat(due).timestamp()
    return duration(seconds) if seconds > 0 else ""


def duration(seconds) -> str:
    """A time in words, rounded up."""
    noun = next((it for it in ("day", "hour") if seconds > 2 * UNITS[it]), "minute")
    return many(math.ceil(seconds / UNITS[noun]), noun)
