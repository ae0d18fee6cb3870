"""The barrier intervals of a block: which warp touches a shared array when, and which
accesses nothing orders.
"""

from itertools import combinations
from typing import NamedTuple

from .. import style
from .picture import Picture, bare, canvas, cell, counted, label

KINDS = style.KINDS | {"atomic": style.PLAIN}
MOST_WARPS, MOST_IN_A_ROW = 16, 12
ROW_INCHES = 0.42
GAP = 0.25  # between a barrier and the accesses beside it, in accesses


class Mark(NamedTuple):
    """A warp's access, and where it is drawn."""

    warp: int
    interval: int
    kind: str
    cells: frozenset
    left: float


def plot_intervals(accesses, array="tile", ax=None):
    """Warps as rows, barrier intervals as columns, accesses to a shared array as boxes.

    `accesses` are rows of (warp, interval, kind, cells) in program order; cells are
    numbers. Two accesses of one interval by different warps are unordered; where they
    meet in a cell and one of them writes, they race.
    """
    marks, edges = laid_out(accesses)
    races = unordered(marks)
    racing = {mark for pair in races for mark in pair}
    warps = sorted({mark.warp for mark in marks})
    with canvas(ax, 0.75 + ROW_INCHES * len(warps)) as ax:
        draw_barriers(ax, edges, len(warps))
        for mark in marks:
            colour = style.CONFLICT if mark in racing else KINDS[mark.kind]
            text = f"{mark.kind} {cells_text(mark.cells)}"
            cell(ax, mark.left, warps.index(mark.warp) + 0.14, text, colour, 1, 0.72)
        for pair in races:
            draw_race(ax, *((m.left + 0.5, warps.index(m.warp)) for m in pair))
        bare(ax)
        ax.set(xlim=(-0.05, edges[-1] + 0.05), ylim=(len(warps) + 0.05, -0.05))
        names = [f"warp {warp}" for warp in warps]
        ax.set_yticks([row + 0.5 for row in range(len(warps))], names)
    return Picture(ax.figure, sentence(marks, races, len(edges) - 1, array))


def laid_out(accesses):
    """The accesses with their places, and the edges of the intervals."""
    rows = [
        (int(w), int(i), kind, frozenset(map(int, c))) for w, i, kind, c in accesses
    ]
    refuse_what_cannot_be_drawn(rows)
    edges, marks, turns = [0.0], [], {}
    for interval in range(max(row[1] for row in rows) + 1):
        for row in rows:
            if row[1] == interval:
                turn = turns.get(row[:2], 0)
                turns[row[:2]] = turn + 1
                marks.append(Mark(*row, edges[-1] + GAP + 1.1 * turn))
        most = max((n for key, n in turns.items() if key[1] == interval), default=1)
        edges.append(edges[-1] + 2 * GAP + 1.1 * most - 0.1)
    return marks, edges


def refuse_what_cannot_be_drawn(rows):
    """Raise where there is nothing to see, or too much."""
    if not rows:
        raise ValueError(
            "no access to draw: give rows of (warp, interval, kind, cells)"
        )
    for _, _, kind, _ in rows:
        if kind not in KINDS:
            raise ValueError(f"an access is one of {', '.join(KINDS)}, not {kind!r}")
    warps = len({row[0] for row in rows})
    if warps > MOST_WARPS or max(row[1] for row in rows) >= MOST_IN_A_ROW:
        raise ValueError(
            f"at most {MOST_WARPS} warps and {MOST_IN_A_ROW} intervals fit: draw fewer"
        )


def unordered(marks):
    """The pairs of accesses that race."""
    return [
        (one, other)
        for one, other in combinations(marks, 2)
        if one.interval == other.interval
        and one.warp != other.warp
        and one.cells & other.cells
        and {one.kind, other.kind} not in ({"load"}, {"atomic"})
    ]


def cells_text(cells):
    """The cells of an access, in short."""
    low, high = min(cells), max(cells)
    if len(cells) == 1:
        return f"[{low}]"
    run = high - low + 1 == len(cells)
    return f"[{low}–{high}]" if run else f"[{low}…{high}]"


def draw_barriers(ax, edges, rows):
    """Draw a line for each barrier, and name the intervals above."""
    for edge in edges[1:-1]:
        ax.plot([edge, edge], [-0.05, rows], color=style.INK, linewidth=2.5)
    note = {"fontsize": style.SMALL, "va": "bottom"}
    for number, (left, right) in enumerate(zip(edges, edges[1:], strict=False)):
        label(ax, (left + right) / 2, 0, f"interval {number}", (0, 4), **note)
    for edge in edges[1:-1]:
        label(ax, edge, rows, "barrier", (0, -4), fontsize=style.SMALL, va="top")


def draw_race(ax, one, other):
    """Draw a line between two accesses that nothing orders."""
    (left, upper), (right, lower) = sorted((one, other), key=lambda it: it[1])
    ends = [upper + 0.86, lower + 0.14]
    line = {"color": style.CONFLICT, "linewidth": 1.6, "linestyle": (0, (2, 1))}
    ax.plot([left, right], ends, marker="o", markersize=4, **line)


def sentence(marks, races, intervals, array):
    """Who does what, and what nothing orders."""
    warps = len({mark.warp for mark in marks})
    kinds = {kind: sum(m.kind == kind for m in marks) for kind in KINDS}
    done = ", ".join(counted(n, kind) for kind, n in kinds.items() if n)
    where = f"{counted(warps, 'warp')} and {counted(intervals, 'barrier interval')}"
    return f"{where}: {done} of {array}; {racing_text(races)}."


def racing_text(races):
    """Each race in words; a few, and the number of the rest."""
    if not races:
        return "barriers order all that meet in a cell"
    told = [
        f"the {one.kind} of warp {one.warp} and the {other.kind} of warp {other.warp} "
        f"in interval {one.interval}, cells {cells_text(one.cells & other.cells)}"
        for one, other in races
    ]
    more = f"; and {len(told) - 3} more" if len(told) > 3 else ""
    return f"nothing orders {'; '.join(told[:3])}{more}"
