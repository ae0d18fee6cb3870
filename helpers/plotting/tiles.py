"""Tiles: the bank of each element in shared memory and what a warp touches, and which
elements of a product are a thread's.
"""

from collections import Counter

import numpy as np

from thirty_two_lanes.core import style
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures.picture import (
    Picture,
    bare,
    canvas,
    cell,
    inside,
    label,
)

MARGIN_INCHES = 0.5
COL_INCHES = 0.225
ROW_INCHES = 0.165
STRIP, GAP = 14, 6  # how tiles of a and b are drawn, in elements of c


def plot_tile_banks(banks, touched=(), kind="load", padding=0, ax=None):
    """A tile, with the bank of each element, and those that one request touches.

    `banks` is (rows, cols); `touched` lists (row, col), a different element of 4 bytes
    for each lane; the last `padding` columns hold no data.
    """
    banks = np.asarray(banks)
    rows, cols = banks.shape
    touched = [(int(row), int(col)) for row, col in touched]
    by_bank = Counter(int(banks[it]) for it in touched)
    most = max(by_bank.values(), default=0)
    request = request_text(kind, len(touched), len(by_bank), most)
    width = max(4, MARGIN_INCHES + COL_INCHES * cols)
    with canvas(ax, 2 * MARGIN_INCHES + ROW_INCHES * rows, width) as ax:
        draw_tile(ax, banks, padding, touched)
        colour = style.CONFLICT if most > 1 else style.KINDS[kind]
        for row, col in touched:
            text = str(banks[row, col])
            note = {"rim": style.halo(), "fontsize": style.SMALL}
            cell(ax, col, row, text, colour, **note)
        label(ax, 0, 0, request, (0, 4), ha="left", va="bottom")
        note = {"ha": "right", "va": "bottom", "fontsize": style.SMALL}
        label(ax, cols, 0, "a number is a bank", (0, 4), **note)
    tile = f"A tile of {counted(rows, 'row')} and {counted(cols, 'column')}"
    padded = f", {padding} of them padding" if padding else ""
    asked = f": {request}" if touched else ""
    return Picture(ax.figure, f"{tile}{padded}, with the bank of each element{asked}.")


def request_text(kind, elements, banks, most):
    """What the request asks for, and what it costs."""
    if not elements:
        return ""
    cost = f"{most}-way conflict" if most > 1 else "no conflict"
    asked = f"a {kind} of {counted(elements, 'element')}"
    return f"{asked} in {counted(banks, 'bank')}, {cost}"


def draw_tile(ax, banks, padding, touched):
    """Draw each element, darker for higher banks, and number those not touched."""
    from matplotlib.colors import LinearSegmentedColormap

    rows, cols = banks.shape
    ends = [style.PAPER, style.tint(style.PLAIN, 0.5)]
    shades = LinearSegmentedColormap.from_list("banks", ends)
    edges = np.arange(cols + 1), np.arange(rows + 1)
    ax.pcolormesh(*edges, banks, cmap=shades, edgecolor=style.PAPER, linewidth=0.4)
    for row, col in set(np.ndindex(rows, cols - padding)) - set(touched):
        inside(ax, col + 0.5, row + 0.5, str(banks[row, col]), fontsize=style.SMALL)
    if padding:
        cell(ax, cols - padding, 0, "", style.IDLE, padding, rows, rim=style.halo())
    bare(ax)
    ax.set(xlim=(-0.1, cols + 0.1), ylim=(rows + 0.1, -0.1))
    ax.set(xlabel="column", ylabel="row")
    ax.set_xticks(np.arange(0, cols, 4) + 0.5, range(0, cols, 4))
    ax.set_yticks(np.arange(0, rows, 4) + 0.5, range(0, rows, 4))


# ---------------------------------------------------------------- a thread's sums


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
    turned = {"rotation": 90, "va": "bottom", "fontsize": style.SMALL}
    label(ax, -GAP - STRIP / 2, high, "tile of a", (0, 4), **turned)
