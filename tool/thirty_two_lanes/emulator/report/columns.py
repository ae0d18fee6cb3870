"""The columns of a source page: each line's memory accesses, and its active lanes.

Only columns with something to report are shown. A line at its ideal shows one sum; any
other line shows each access apart.
"""

from typing import NamedTuple

from thirty_two_lanes.core.words import figure, level_of
from thirty_two_lanes.emulator.judges import JUDGES


class Column(NamedTuple):
    """A column's name, and by place its marks: a text and how bad that is, each."""

    name: str
    cells: dict
    sites: tuple


def place_of(site) -> tuple:
    """Where a row of the page belongs: file, line, and line of the call."""
    return site.file, site.line, site.called_from


def columns_of(run, found) -> list[Column]:
    """The columns that have something to report."""
    columns = []
    for judge in JUDGES:
        table = getattr(run, judge.name)
        if judge.cost and table.requests and _worth_showing(table, judge.cost):
            columns += _of_memory(table, judge.cost)
    if run.data_path is not None and run.source is not None:
        columns.append(_of_data_path(run.data_path, run.source.file))
    if any(row.active_of_present < 1 for row in run.divergence.by_line.values()):
        columns.append(_of_lanes(run.divergence, found))
    return columns


def _worth_showing(table, cost) -> bool:
    """Do its columns say anything that a learner may want to change?"""
    beyond = getattr(table, cost.taken) > getattr(table, cost.ideal)
    return beyond or not cost.if_beyond


def _of_memory(table, cost):
    """How many requests there are, and what each of them costs."""
    rows = {}
    for site, row in table.by_line.items():
        taken, ideal = getattr(row, cost.taken), getattr(row, cost.ideal)
        counts = row.requests, taken, ideal, row.array
        rows.setdefault(place_of(site), []).append(counts)
    sums = {at: [(f"{sum(r[0] for r in it):,}", "")] for at, it in rows.items()}
    each = {at: list(_marks(it)) for at, it in rows.items()}
    sites = tuple(table.by_line)
    return (
        Column(cost.requests, sums, sites),
        Column(f"{cost.taken} each", each, sites),
    )


def _marks(rows):
    """One mark for all accesses of a line at its ideal, or one for each."""
    rows = [row for row in rows if row[0]]
    if not any(level_of(taken, ideal) for _, taken, ideal, _ in rows):
        requests = sum(row[0] for row in rows) or 1
        yield figure(sum(row[1] for row in rows) / requests), ""
        return
    for requests, taken, ideal, array in rows:
        level = level_of(taken, ideal)
        name = f"{array} " if len(rows) > 1 else ""
        best = f" (ideal {figure(ideal / requests)})" if level else ""
        yield f"{name}{figure(taken / requests)}{best}", level


def _of_data_path(table, file):
    """The LSU wavefronts of each of the kernel's lines."""
    rows = table.by_line.items()
    cells = {(file, line, None): [(f"{row.wavefronts:,}", "")] for line, row in rows}
    return Column("LSU wavefronts", cells, ())


def _of_lanes(divergence, found):
    """The share of each line's lanes that were active, of those that the warps have."""
    levels = {place_of(it.site): it.level for it in found if it.topic == "divergence"}
    cells = {}
    for site, row in divergence.by_line.items():
        at = place_of(site)
        cells[at] = [(_share(row.active_of_present), levels.get(at, ""))]
    return Column("active lanes", cells, tuple(divergence.by_line))


def _share(share):
    """A share in per cent, of which 100 % means all."""
    return "100%" if share == 1 else f"{min(100 * share, 99.9):.3g}%"
