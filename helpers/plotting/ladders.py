"""Figures of a ladder of kernels: which part of a product is a thread's, and what each
rung could reach and did.
"""

import math

from helpers.core import style
from helpers.plotting.charts import NAN, known
from helpers.plotting.picture import Picture, bare, canvas, counted, label

STRIP = 14  # how wide the tiles of a and b are drawn, in elements of c
GAP = 6


def plot_register_tile(rows, cols, block, warp=((), ()), ax=None):
    """The rows and columns of c that one thread of a block adds up, and what it loads.

    `block` is (rows, columns) of c; `warp` has the rows and the columns of its warp.
    """
    high, wide = block
    inches = 5.4 / (wide + STRIP + GAP)
    with canvas(ax, 0.3 + 0.75 * inches * (high + STRIP + GAP)) as ax:
        for left, top, right, bottom in (
            (0, 0, wide, high),
            (-GAP - STRIP, 0, -GAP, high),
            (0, -GAP - STRIP, wide, -GAP),
        ):
            across, down = [left, right, right, left, left], [top, top, bottom, bottom]
            ax.plot(across, [*down, top], color=style.INK, linewidth=0.8)
        fill(ax, *warp, wide, high, (style.PLAIN,) * 3, 0.08)
        fill(ax, rows, cols, wide, high, (style.LOAD, style.LOAD, style.STORE), 1)
        draw_names(ax, block)
        bare(ax)
        edge = -GAP - STRIP - 1
        ax.set(xlim=(edge, wide + 1), ylim=(high + 1, edge), aspect="equal")
    sums = counted(len(rows) * len(cols), "sum")
    return Picture(
        ax.figure,
        f"A block computes {high} × {wide} elements of c. A thread has {sums} of "
        f"them: rows {said(rows)}; columns {said(cols)}. At each step it loads "
        f"{len(rows)} numbers of a and {len(cols)} of b.",
    )


def fill(ax, rows, cols, wide, high, colours, share):
    """Fill rows in the tile of a, columns in that of b, and where they cross."""
    from matplotlib.patches import Rectangle

    across, down = runs(cols), runs(rows)
    boxes = [(colours[0], -GAP - STRIP, y, STRIP, n) for y, n in down]
    boxes += [(colours[1], x, -GAP - STRIP, n, STRIP) for x, n in across]
    boxes += [(colours[2], x, y, n, m) for x, n in across for y, m in down]
    for colour, x, y, width, height in boxes:
        box = Rectangle((x, y), width, height, linewidth=0.8, edgecolor=colour)
        box.set(facecolor=style.tint(colour, share))
        ax.add_patch(box)


def runs(numbers):
    """Neighbouring numbers together, as (the first, how many)."""
    found = []
    for number in sorted(numbers):
        if found and number == sum(found[-1]):
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((number, 1))
    return found


def said(numbers):
    """Runs of numbers, in words."""
    ends = ((at, at + n - 1) for at, n in runs(numbers))
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in ends)


def draw_names(ax, block):
    """Name the three parts."""
    high, wide = block
    corner = {"ha": "left", "va": "top", "fontsize": style.SMALL}
    label(ax, 0, high, f"c: {high} × {wide} elements of a block", (4, 12), **corner)
    label(ax, wide, -GAP - STRIP, "tile of b", (-4, -6), **corner | {"ha": "right"})
    label(ax, -GAP - STRIP, high, "tile of a", (0, 12), **corner)


def plot_rungs(names, most, reached, limit=None, limit_label="the library", ax=None):
    """What each rung of a ladder could reach by its counts, and what it did, in %.

    What was not measured is None or NaN; `limit` is drawn as a line.
    """
    most, reached = (known(it) or [NAN] * len(names) for it in (most, reached))
    with canvas(ax, 0.95 + 0.34 * len(names)) as ax:
        for place, (could, did) in enumerate(zip(most, reached, strict=True)):
            draw_rung(ax, place, could, did)
        for at in known([limit]):
            ax.axvline(at, color=style.INK, linewidth=1.2, linestyle=(0, (4, 3)))
            note = {"fontsize": style.SMALL, "va": "bottom"}
            label(ax, at, -0.6, f"{limit_label}, {at:.0f}%", (0, 2), **note)
        ax.set(xlim=(0, 104), xlabel="% of the peak")
        ax.set(ylim=(len(names) - 0.4, -0.6))
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(axis="y", length=0, labelsize=9)
        above = {"offset": (0, 20), "xycoords": "axes fraction", "ha": "left"}
        label(ax, 0, 1, "○ at most, by its counts", color=style.EMULATED, **above)
        label(ax, 0.3, 1, "◆ measured", color=style.MEASURED, **above)
    told = [
        f"{name}: at most {percent(could)}, {percent(did)} measured"
        for name, could, did in zip(names, most, reached, strict=True)
    ]
    told += [f"{limit_label}: {percent(at)}" for at in known([limit])]
    return Picture(ax.figure, f"Shares of the peak. {'; '.join(told)}.")


def draw_rung(ax, place, could, did):
    """Draw a ring where a rung could be, and a diamond where it is."""
    ends = [it for it in (could, did) if not math.isnan(it)]
    if len(ends) == 2:
        ax.plot(ends, [place] * 2, color=style.IDLE, linewidth=1)
    ring = {"s": 60, "facecolor": "none", "linewidth": 1.6}
    if not math.isnan(could):
        ax.scatter(could, place, edgecolor=style.EMULATED, zorder=3, **ring)
    if not math.isnan(did):
        ax.scatter(did, place, marker="D", s=30, color=style.MEASURED, zorder=4)
        label(ax, did, place, f"{did:.0f}", (-14, 0), fontsize=style.SMALL)


def percent(value):
    return "unknown" if math.isnan(value) else f"{value:.0f}%"
