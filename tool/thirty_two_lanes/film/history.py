"""The history of one variable, or of one cell, as a table."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from thirty_two_lanes.core.errors import ArgumentError, shown
from thirty_two_lanes.core.pages.tables import Table
from thirty_two_lanes.core.words import ranges
from thirty_two_lanes.film.replay import WARP, given, in_lane, touched

DOES = {"load": "loads", "store": "stores", "atomic": "updates", "copy": "copies"}


@dataclass(frozen=True, repr=False)
class History(Table):
    """What happened, a row each; steps count from 1, as the player counts them."""

    def texts(self):
        """Rows that differ only in the thread are one: threads 0–31."""
        rows = self.rows
        if "thread" in self.columns:
            rows = grouped(rows, self.columns.index("thread"))
        return [[_text(value) for value in row] for row in rows]

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, number):
        return self.rows[number]


def grouped(rows, column) -> list:
    """Neighbours that are alike but for one number, with all their numbers as text."""
    alike = groupby(rows, lambda row: (row[:column], row[column + 1 :]))
    return [
        (*before, ranges([row[column] for row in group]), *behind)
        for (before, behind), group in alike
    ]


def _text(value):
    if value is None:
        return "unwritten"
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def values_of(record, variable, thread) -> History:
    """The values of a variable in a thread: step, line and value."""
    if variable not in record["variables"]:
        known = ", ".join(f"`{name}`" for name in record["variables"]) or "none"
        raise ArgumentError(
            f"this film has no variable {shown(variable)}; it has {known}"
        )
    warp, lane = divmod(_number(thread, record["block"], "thread", "block"), WARP)
    rows = [
        (number, step["l"], in_lane(step["v"][variable], lane))
        for number, step in enumerate(record["steps"], 1)
        if step["w"] == warp and step["m"] >> lane & 1 and variable in step.get("v", ())
    ]
    return History(("step", "line", variable), tuple(rows))


def cells_of(record, array, index) -> History:
    """The accesses of a cell: step, barriers so far, line, thread, deed and value."""
    at = array_number(record, array)
    cell = cell_number(record["arrays"][at], index)
    rows, barriers = [], 0
    value = given(record["arrays"][at]["initial"]).get(cell)
    for number, step in enumerate(record["steps"], 1):
        for access, lane in _accesses(record, step, at, cell):
            value = in_lane(access.get("x", value), lane)  # a load finds what was left
            thread, does = step["w"] * WARP + lane, DOES[access["k"]]
            rows.append((number, barriers, step["l"], thread, does, value))
        barriers += step.get("e") == "pass"
    columns = ("step", "barriers before", "line", "thread", "does", "value")
    return History(columns, tuple(rows))


def _accesses(record, step, at, cell):
    """The accesses of a cell in a step, each with its lane."""
    for access in step.get("a") or ():
        if access["r"] == at:
            for lane, touches in touched(record, access):
                if touches == cell:
                    yield access, lane


def array_number(record, array) -> int:
    """The place of an array among those of a film."""
    names = [it["name"] for it in record["arrays"]]
    if array not in names:
        known = ", ".join(f"`{name}`" for name in names) or "none"
        raise ArgumentError(f"this film has no array {shown(array)}; it has {known}")
    return names.index(array)


def cell_number(array, index) -> int:
    """The flat number of a cell from its indices."""
    shape = array["shape"]
    index = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if not all(isinstance(i, (int, np.integer)) for i in index) or not (
        len(index) == len(shape)
        and all(-n <= i < n for i, n in zip(index, shape, strict=True))
    ):
        sizes = " × ".join(map(str, shape))
        raise ArgumentError(
            f"`{array['name']}` has {sizes} cells: give an index for each axis, "
            f"not {', '.join(map(str, index)) or 'none'}"
        )
    index = [int(i) % n for i, n in zip(index, shape, strict=True)]
    return int(np.ravel_multi_index(index, shape))


def _number(given, sizes, what, whole) -> int:
    """The number of a thread, or a block, that is given as such or as (x, y, z)."""
    parts = given if isinstance(given, tuple) else (given,)
    limits = sizes if isinstance(given, tuple) else (int(np.prod(sizes)),)
    fits = 0 < len(parts) <= len(limits) and all(
        isinstance(part, (int, np.integer)) and 0 <= part < limit
        for part, limit in zip(parts, limits, strict=False)
    )
    if not fits:
        count, last = int(np.prod(sizes)), tuple(int(n) - 1 for n in sizes)
        raise ArgumentError(
            f"there is no {what} {shown(given)}: the {whole} has {count:,}, from 0 to "
            f"{count - 1:,}, or from (0, 0, 0) to {last}"
        )
    return int(np.ravel_multi_index(parts, limits[: len(parts)], order="F"))


def block_number(block, grid) -> int:
    """A block's number in its grid, from that or its place."""
    return _number(block, [int(n) for n in grid], "block", "grid")
