"""A small table of what was counted and measured, as text and on a page."""

import math
from dataclasses import dataclass

from helpers.core.errors import ArgumentError, short_traceback, shown


@dataclass(frozen=True)
class Table:
    """Names of columns, and rows of numbers and words."""

    columns: tuple
    rows: tuple

    def __repr__(self):
        lines = [self.columns, *self.texts()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(map(str.ljust, line, widths)).rstrip() for line in lines
        )

    def _repr_markdown_(self):
        """On a page, where a size such as 16 × 16 stays on one line."""
        rules = ["---" if it else "---:" for it in self.wordy()]
        lines = [self.columns, rules, *self.texts()]
        made = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return made.replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}")

    def wordy(self):
        """Which columns hold a word; numbers are compared best from the right."""
        return [
            not self.rows or any(isinstance(row[place], str) for row in self.rows)
            for place in range(len(self.columns))
        ]

    def texts(self):
        return [[text(value) for value in row] for row in self.rows]


@short_traceback
def table(columns, rows):
    """A table; NaN and None are shown as "not measured"."""
    try:
        made = Table(tuple(columns), tuple(map(tuple, rows)))
    except TypeError:
        raise ArgumentError(
            "`table` takes the names of the columns, and then a list of rows, each "
            "with a value for each column"
        ) from None
    for row in made.rows:
        if len(row) != len(made.columns):
            raise ArgumentError(
                f"this table has {len(made.columns)} columns, but a row of it has "
                f"{len(row)} values: {shown(row)}"
            )
    return made


def text(value):
    """A value of the table in a few characters."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "not measured"
    if isinstance(value, str):
        return value
    whole = abs(value) >= 100 or value == int(value)
    return f"{value:,.0f}" if whole else f"{value:.3g}"
