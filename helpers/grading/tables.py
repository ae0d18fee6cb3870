"""Marks as texts that other programs read: lines of tables, and JSON. And tables that
persons and other programs wrote.
"""

import csv
import io
import json
import math
import re
from dataclasses import dataclass

from helpers.grading.words import shown

OF_A_ROW = "exercise", "points", "max_points", "reason"
COLUMNS = "student", "assignment", *OF_A_ROW
HAND_COLUMNS = "student", "assignment", "exercise", "points", "comment"
# a formula's first character, where a spreadsheet may begin a cell: it may split a text
# at more than commas, and read quotes as its own
FORMULA = re.compile(r"""(^|[;\t\r\n])(?=(?:[^\S\t\r\n]|["'])*[=+\-@＝＋－＠])""")
# those of a terminal, and those that turn a text around
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class TableError(Exception):
    """A table that cannot be read; the message names the file and what is wrong."""


@dataclass(frozen=True)
class ForeignTable:
    """A table of texts: its lines, numbered as a spreadsheet does, and what stands
    between cells.
    """

    lines: tuple
    delimiter: str


def read_table(path) -> ForeignTable:
    """A table in UTF-8 whose cells are parted by commas, or by semicolons or tabs where
    its first line has more of those; empty lines are left out. Raises TableError.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            delimiter = max(",;\t", key=first.count)
            file.seek(0)
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            lines = [(row, it) for row, it in enumerate(reader, start=1) if any(it)]
    except (OSError, ValueError, csv.Error) as error:
        raise TableError(f"{path} is no table in UTF-8: {error}") from None
    if not lines:
        raise TableError(f"{path} is empty")
    return ForeignTable(tuple(lines), delimiter)


def table_of(rows) -> str:
    """A table of these rows."""
    return "".join(map(line_of, rows))


def line_of(values) -> str:
    """A line of a table; cells with any end of a line are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(map(cell, values))
    return text.getvalue().removesuffix("\r\n") + "\n"


def cell(value):
    """A cell of a table: nothing where there are no points, no formula wherever it is
    split, and nothing that a terminal obeys.
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return FORMULA.sub(r"\1'", without_controls(value))
    return value


def without_controls(text) -> str:
    """A text in which what a terminal obeys, or turns a text around, only shows."""
    return CONTROLS.sub(lambda it: shown(it[0]), text)


def as_json(value) -> str:
    """JSON that a terminal may show, and that is read as the same value."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return CONTROLS.sub(lambda it: f"\\u{ord(it[0]):04x}", text)


def number(text) -> float | None:
    """A number that a person wrote, with a point or a comma; None where it is none."""
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        return None
    return found if math.isfinite(found) else None
