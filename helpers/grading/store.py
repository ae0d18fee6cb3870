"""Marks on disk: a file for each submission, written at once or not at all.

A file names what it was made of, so that a grader that was killed goes on where it was,
and one that changed begins anew.
"""

import csv
import hashlib
import json
import os
import secrets
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from helpers.exercises.reasons import BY_HAND, NOT_GRADED, Reason
from helpers.grading.exports.explanations import MARKED, give_points, mark_by_sheets
from helpers.grading.exports.formats import FORMATS
from helpers.grading.exports.gradebooks import points_of
from helpers.grading.manifest import parse
from helpers.grading.people import ClassList, number_of
from helpers.grading.sandbox.isolation import NAMES
from helpers.grading.sandbox.limits import MOST_TIMEOUTS
from helpers.grading.tables import (
    COLUMNS,
    HAND_COLUMNS,
    OF_A_ROW,
    TableError,
    as_json,
    cell,
    table_of,
)
from helpers.grading.words import named, printable, some
from helpers.grading.worker import is_here

MARKS, TOTALS, BY_HAND_TABLE = "marks.csv", "totals.csv", "by_hand.csv"
SEEN = {"noticed": [], "class": [], "due": "", "late": {}}


class MarksError(Exception):
    """Marks that cannot be read or written; the message says what to do."""


def key_of(data, items, seed, secret, digest) -> str:
    """A digest of a submission and of what is asked of it."""
    rows = [asdict(it) for it in items]
    asked = json.dumps([rows, seed, secret, digest], sort_keys=True)
    return hashlib.sha256(asked.encode() + b"\0" + data).hexdigest()


class MarksStore:
    """The folder of marks."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, student, assignment, suffix=".json") -> Path:
        return self.folder / student / (assignment + suffix)

    def has(self, student, assignment, key, isolated=False) -> bool:
        """Was this very submission marked before, and all of it, or often enough; with
        no module lacking that is here now; and isolated, if that is asked for?
        """
        known = self.known(student, assignment, key)
        if not known or isolated and known.get("isolation") == NAMES["process"]:
            return False
        if any(map(is_here, known.get("lacks", ()))):
            return False
        reasons = [row["reason"] for row in known["exercises"]]
        return NOT_GRADED not in reasons or known.get("timeouts", 0) >= MOST_TIMEOUTS

    def known(self, student, assignment, key) -> dict:
        """What was kept of this very submission, if anything was."""
        try:
            known = read_result(self.path(student, assignment))
        except MarksError:
            return {}
        return known if known.get("key") == key else {}

    def keep(self, student, assignment, key, result):
        """Write a submission's marks, and how often it had no time."""
        whole = {"student": student, "assignment": assignment, "key": key, **result}
        if whole.get("timeouts"):
            whole["timeouts"] += self.known(student, assignment, key).get("timeouts", 0)
        self.write(self.path(student, assignment), as_json(whole))

    def write(self, path, text):
        """Write a file whole: a reader never sees the half of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f".{secrets.token_hex(8)}.half")
        half.write_bytes(text.encode("utf-8", "backslashreplace"))  # half a character
        os.replace(half, path)

    @contextmanager
    def alone(self):
        """Nobody else writes to this folder meanwhile; raises MarksError."""
        from fcntl import LOCK_EX, LOCK_NB, flock  # Windows has none

        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / ".lock", "ab") as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise MarksError(
                    f"another `grade` is writing to {self.folder}: wait for its end"
                ) from None
            for half in self.folder.glob("**/.*.half"):  # of one that was killed
                half.unlink(missing_ok=True)
            yield

    def results(self) -> list[dict]:
        """All marks, in the order of students and assignments, with those that persons
        gave: in `by_hand.csv` by name, and in the sheets that came back. Raises
        MarksError.
        """
        return self.read()[0]

    def read(self) -> tuple:
        """The results, and the places in sheets that are of no text here."""
        found = [read_result(path) for path in self.marks()]
        mark_by_hand(self.folder / BY_HAND_TABLE, found)
        try:
            return found, mark_by_sheets(self, found)
        except TableError as error:
            raise MarksError(str(error)) from None

    def marks(self) -> list[Path]:
        """The files of marks: what an export wrote is none."""
        paths = sorted(self.folder.glob("*/*.json"))
        others = reserved()
        return [it for it in paths if it.is_file() and it.parent.name not in others]

    def keep_release(self, manifest, name):
        """Keep by what release marks are made, but for its points; raises MarksError
        where others were made by another one: points by hand would go on to answers
        of another variant.
        """
        path = self.folder / ".release.json"  # no student is called so
        if path.exists() and self.marks():
            before = parse(path)
            if before.handed_out() != manifest.handed_out():
                raise MarksError(
                    f"{self.folder} has the marks of another release, of {before}; "
                    f"{name} is of {manifest}. Nobody is graded: choose another folder "
                    "for its marks, or remove this one"
                )
        self.write(path, manifest.as_json())

    def seed(self):
        """The seed of the release that marks are made by."""
        path = self.folder / ".release.json"
        return parse(path).seed if path.exists() else None

    def sheet_key(self, secret="") -> bytes:
        """What the numbers of sheets follow from: kept when it is first asked, of a
        secret or drawn.
        """
        path = self.folder / ".sheets"  # no student is called so
        if not path.exists():
            of = f"sheets {secret}" if secret else secrets.token_hex(16)
            self.write(path, hashlib.sha256(of.encode()).hexdigest() + "\n")
            path.chmod(0o600)
        return path.read_bytes()

    def keep_seen(self, **new):
        """Keep what `grade` saw beside marks, as some of `SEEN`."""
        self.write(self.folder / ".seen.json", as_json(self.seen() | new))

    def seen(self) -> dict:
        """What `grade` saw beside marks: what it noticed, in lines; the list of the
        class and when work was due; who was late, by student and assignment.
        """
        path = self.folder / ".seen.json"  # no student is called so
        return SEEN | (json.loads(path.read_bytes()) if path.exists() else {})

    def require_made_by(self, manifest, name):
        """Is there any mark, and is each made by this release? Raises MarksError."""
        self.require_any()
        other = [
            named(result)
            for result in self.results()
            if result.get("release") != manifest.digest(result["assignment"])
        ]
        if other:
            raise MarksError(
                f"{self.folder} has marks that were not made by {name}, of "
                f"{some(other, most=5)}: "
                "give the release that they were made by, grade again, or remove them"
            )

    def require_any(self):
        """Is anything marked here? Raises MarksError."""
        if not self.results():
            raise MarksError(
                f"nothing is marked yet in {self.folder}: `grade` writes its marks"
            )

    def write_marks(self):
        """Write `marks.csv`, a row for each exercise of each submission, and
        `totals.csv`, a row for each student.
        """
        results = self.results()
        self.write(self.folder / MARKS, table_of([COLUMNS, *rows_of(results)]))
        self.write(self.folder / TOTALS, table_of(totals_of(results, self.seen())))


def reserved() -> set:
    """The names in the folder of marks that are no student's."""
    exported = {it.destination for it in FORMATS.values()}
    return {MARKS, TOTALS, BY_HAND_TABLE, MARKED} | exported


def rows_of(results):
    """A row for each exercise."""
    for result in results:
        for row in result["exercises"]:
            names = result["student"], result["assignment"]
            yield *names, *(row[it] for it in OF_A_ROW)


def totals_of(results, seen):
    """A row for each student, and for each of the class who handed in nothing: what the
    list of the class says, or the number that a learning platform put behind the name;
    what was late; the points of each assignment, nothing while some of them are not
    given; and what isolated the submissions.
    """
    people, late = ClassList(seen["class"]), seen["late"]
    names = sorted({it["assignment"] for it in results})
    totals, levels = points_of(results), {}
    for result in results:
        levels.setdefault(result["student"], set()).add(result.get("isolation", ""))
    yield "student", "id", "name", "late", *names, "isolation"
    for student, points in totals.items():
        person = people.person(student)
        who = (person.id, person.name) if person else (number_of(student), "")
        lateness = "; ".join(f"{k}: {v}" for k, v in late.get(student, {}).items())
        how = "; ".join(sorted(levels[student] - {""}))
        yield student, *who, lateness, *map(points.get, names), how
    for person in people.absent(totals):
        yield "", person.id, person.name, "", *(None for _ in names), ""


def read_result(path) -> dict:
    """What was kept of a submission; raises MarksError."""
    try:
        found = json.loads(path.read_bytes())
        whole = isinstance(found["student"] + found["assignment"], str)
        for row in found["exercises"]:
            whole = whole and row.keys() >= {*OF_A_ROW}
            row["reason"] = Reason(row["reason"])
    except OSError as error:
        where = printable(str(path))
        raise MarksError(f"{where} cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        where = printable(str(path))
        raise MarksError(f"{where} has no marks: remove it, and grade again")
    return found


def mark_by_hand(path, results):
    """Give rows the points that a person wrote down, whatever a machine gave."""
    rows = {}
    for result in results:
        for row in result["exercises"]:
            names = result["student"], result["assignment"], row["exercise"]
            rows[names] = row
            rows.setdefault(tuple(map(cell, names)), row)  # copied from marks.csv
    for number, given in lines_by_hand(path):
        try:
            give(rows, given)
        except ValueError as error:
            raise MarksError(f"{path}, line {number}: {error}") from None


def give(rows, given):
    """Give a row the points of a line; ValueError says what is wrong with it."""
    student, assignment, exercise, text, comment = given
    row = rows.get((student, assignment, exercise))
    if row is None:
        raise ValueError(f"no `{exercise}` of `{student}` in `{assignment}` is marked")
    if row["reason"] == BY_HAND:
        raise ValueError(f"`{exercise}` of `{student}` has a line above this one")
    give_points(row, text, comment)


def lines_by_hand(path):
    """The lines of a table of marks by hand, with their numbers; none without it."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            found = [(reader.line_num, it) for it in reader if any(it)]
    except FileNotFoundError:
        return
    except (OSError, ValueError, csv.Error) as error:
        raise MarksError(f"{path} is no table in UTF-8: {error}") from None
    columns = tuple(found[0][1]) if found else ()
    if columns != HAND_COLUMNS:
        expected = ",".join(HAND_COLUMNS)
        raise MarksError(f"{path}, line 1: the columns must be {expected}")
    for number, line in found[1:]:
        if len(line) != len(columns):
            raise MarksError(
                f"{path}, line {number}: it has {len(line)} columns, not "
                f"{len(columns)}: quote a comma in a text"
            )
        yield number, line
