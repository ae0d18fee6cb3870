"""A small table of what was counted and measured, as text and on a page."""

import math
from dataclasses import dataclass
from numbers import Real

from thirty_two_lanes.core.errors import ArgumentError, short_traceback, shown


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
        rows = ([it.replace("|", r"\|") for it in line] for line in lines)
        made = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return made.replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}")

    def wordy(self):
        """Which columns hold a word; numbers are compared best from the right."""
        return [
            not self.rows or any(is_word(row[column]) for row in self.rows)
            for column in range(len(self.columns))
        ]

    def texts(self):
        return [[text(value) for value in row] for row in self.rows]


@short_traceback
def table(columns, rows):
    """A table; NaN and None are shown as "not measured"."""
    try:
        made = Table(tuple(map(str, columns)), tuple(map(tuple, rows)))
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


def is_word(value) -> bool:
    """Is it shown as a word? True and False are."""
    number = value is None or isinstance(value, Real)
    return isinstance(value, bool) or not number


def text(value):
    """A value of the table in a few characters; a word as Python shows it."""
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return "not measured"
    if is_word(value):
        return str(value)
    whole = abs(value) >= 100 or value == int(value)
    return f"{value:,.0f}" if whole else f"{value:.3g}"
