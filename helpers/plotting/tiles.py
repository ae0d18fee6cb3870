"""The bank of each element of a tile in shared memory, and what a warp touches."""

from collections import Counter

import numpy as np

from helpers.core import style
from helpers.plotting.picture import Picture, bare, canvas, cell, counted, inside, label

MARGIN_INCHES = 0.5
COL_INCHES = 0.225
ROW_INCHES = 0.165


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
