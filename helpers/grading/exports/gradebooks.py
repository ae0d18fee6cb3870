"""Points in the tables of learning platforms: what Canvas or Moodle exported, with
points filled in, is what it imports.

By their sources, read in 2026. Canvas' `gradebook_importer.rb` takes what identifies
people up to the column `Section`, then assignments by the number behind their title; a
cell that is empty removes the points that are there. Moodle's `importgradeslib.php`
knows people by the number in the first column, leaves out grades above the maximum, and
those that changed there since the export by `Last modified (grade)`.
"""

import csv
import io
import re
from collections import Counter

from helpers.grading.people import NAMES, ClassList, bare, number_of
from helpers.grading.tables import TableError, number, read_table
from helpers.grading.words import many, printable, some, words_of


class ExportError(Exception):
    """Marks that cannot be written so; the message says what to do."""


def canvas(store, path, gradebook=None, columns=()):
    """Write a gradebook of Canvas with the columns of people and those with points."""
    book = Gradebook("canvas", gradebook)
    if not {"ID", "Section"} <= {*book.head}:
        raise ExportError(
            f"{gradebook} is no gradebook of Canvas, which has the columns ID and "
            "Section: take the file of Grades, Export"
        )
    last = book.head.index("Section") + 1
    titles = {n: re.sub(r" \(\d+\)$", "", book.head[n]) for n in book.columns[last:]}
    filled = book.choose(store, titles, columns)
    for line in book.lines:
        if "Points Possible" in line[0]:
            yield from book.other_maxima(store, filled, lambda n, it=line: it[n])
    yield from book.fill(store, filled, book.head.index("ID"), range(last - 1))
    store.write(path, book.text([*book.columns[:last], *sorted(filled)]))


def moodle(store, path, gradebook=None, columns=()):
    """Write a grading worksheet of Moodle with its grades; all else in it stays."""
    book = Gradebook("moodle", gradebook)
    titles = dict(enumerate(book.head))
    if not columns and "Grade" not in book.head:
        raise ExportError(
            f"{gradebook} has no column `Grade`: if Moodle wrote it in another "
            "language, say `--column` with its title"
        )
    filled = book.choose(store, titles, columns or ["Grade"])
    (grade,) = filled if len(filled) == 1 else (None,)
    if grade is None:
        raise ExportError("Moodle has one column of points: give one `--column`")
    largest = [n for n, it in titles.items() if it.casefold() == "maximum grade"]
    if largest and book.lines:
        top = book.lines[0][largest[0]]
        yield from book.other_maxima(store, filled, lambda _: top)
    yield from book.fill(store, filled, 0, range(grade))
    store.write(path, book.text(book.columns))


class Gradebook:
    """A table of people that a platform exported, to be filled with points."""

    def __init__(self, platform, path):
        if not path:
            raise ExportError(
                f"{platform} needs the table that it exported: --gradebook FILE"
            )
        try:
            table = read_table(path)
        except TableError as error:
            raise ExportError(str(error)) from None
        self.path, self.delimiter = path, table.delimiter
        (_, self.head), *lines = table.lines
        self.columns = range(len(self.head))
        short = [""] * len(self.head)
        self.lines = [(it + short)[: len(self.head)] for _, it in lines]

    def choose(self, store, titles, columns) -> dict:
        """The assignments of each column that is filled; raises ExportError.

        `columns` are `ASSIGNMENT=TITLE`, or a title for all; without one, an
        assignment's column is called as it is. A title may be with or without number.
        """
        assignments = sorted({it["assignment"] for it in store.results()})
        said = {}
        for text in columns:
            name, _, title = text.partition("=")
            for assignment in [name] if name in assignments else assignments:
                said[assignment] = title if name in assignments else text
        found = {}
        for name in said if columns else assignments:
            words = words_of(said.get(name, name))
            known = [n for n, it in titles.items() if words == words_of(it)]
            known += [n for n in titles if words == words_of(self.head[n])]
            if len({*known}) != 1:
                which = "no column" if not known else "more than one column"
                raise ExportError(
                    f"{which} of {self.path} is called `{said.get(name, name)}`: say "
                    f"which one, as --column '{name}=TITLE'; there are "
                    f"{', '.join(f'`{it}`' for it in titles.values())}"
                )
            found.setdefault(known[0], []).append(name)
        return found

    def other_maxima(self, store, filled, there):
        """A line for each column whose maximum is not that of its assignments."""
        most = {}
        for result in store.results():
            rows = result["exercises"]
            most[result["assignment"]] = sum(row["max_points"] for row in rows)
        for n, names in filled.items():
            mine = sum(most[it] for it in names)
            if number(there(n)) != mine:
                whole = f"{', '.join(names)} has {many(mine, 'point')}"
                yield (
                    f"{whole}, `{printable(self.head[n])}` {printable(there(n))}: let "
                    "them be the same there, and export it again"
                )

    def fill(self, store, filled, ids, keys):
        """Write points into the cells of those who have all of theirs; a line for each
        who is not in the table, for those who were found by a name alone, and for those
        whose points are not all given.
        """
        people, owners, waiting = ClassList(store.seen()["class"]), {}, {}
        points, named = points_of(store.results()), []
        find = self.finder(people, ids, keys)
        for student in points:
            row, by_name = find(student)
            if row is None:
                yield f"`{printable(student)}` is not in {self.path}: left out"
                continue
            owners.setdefault(row, []).append(student)
            if by_name:
                named.append(f"{student} ({self.lines[row][ids]})")
        for row, students in owners.items():
            if len(students) > 1:
                raise ExportError(
                    f"{some(students)} are one person in {self.path}: remove the "
                    "submissions and the marks of all but one"
                )
            mine = points[students[0]]
            for n, names in filled.items():
                given = [mine[it] for it in names if it in mine]
                if None in given:
                    waiting[printable(students[0])] = True
                elif given:
                    self.lines[row][n] = f"{round(sum(given), 4):g}"
        if named:
            yield f"found by a name alone, which people may choose: {some(named)}"
        if waiting:
            yield f"not all points are given, their cells stay: {', '.join(waiting)}"

    def finder(self, people, ids, keys):
        """A function of a student that gives their row, or None, and whether a name
        alone says so.

        Canvas and Moodle put their own number into a student's name; else it is what
        one person alone has in the columns `keys`: an id or a login, or else a name.
        """
        names = [n for n in keys if self.head[n].strip().casefold() in NAMES]
        known = self.alone(ids, [n for n in keys if n not in names])
        called = self.alone(ids, names)
        own = {bare(line[ids]): row for row, line in enumerate(self.lines)}
        own.pop("", None)

        def row_of(student):
            person = people.person(student)
            texts = [student, *((person.id, person.name) if person else ())]
            rows = [own.get(number_of(student)), *(own.get(it) for it in texts)]
            rows += [known.get(it.casefold()) for it in texts]
            by_id = [row for row in rows if row is not None]
            by_name = [called[it] for it in map(str.casefold, texts) if it in called]
            return next(iter([*by_id, *by_name]), None), not by_id

        return row_of

    def alone(self, ids, keys) -> dict:
        """The rows of the texts that one person alone has in some columns."""
        texts = [
            (text, row)
            for row, line in enumerate(self.lines)
            if line[ids]
            for text in {line[n].strip().casefold() for n in keys} - {""}
        ]
        times = Counter(text for text, _ in texts)
        return {text: row for text, row in texts if times[text] == 1}

    def text(self, columns) -> str:
        """Some columns of the table, as it was written: nothing is made harmless for a
        spreadsheet, which is the platform's to do.
        """
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\r\n")
        writer.writerows([[it[n] for n in columns] for it in (self.head, *self.lines)])
        return text.getvalue()


def points_of(results) -> dict:
    """The points of each assignment, by student; None while some are not given."""
    found = {}
    for result in results:
        given = [row["points"] for row in result["exercises"]]
        whole = None if None in given else round(float(sum(given)), 4)
        found.setdefault(result["student"], {})[result["assignment"]] = whole
    return found
