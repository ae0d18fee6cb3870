"""Where things lie: a tile that changes its place, copies of an array, and the parts of
parts of a product.
"""

import numpy as np

from helpers.plotting.boxes import ROW_INCHES, board, refuse_too_many
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.pictures import Picture, cell, label, note

GAP = 3  # boxes, between two matrices
ARROW = {"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.4}


def plot_tile_move(top=4, left=8, tile=4, shape=(8, 12), row=0, shared=True, ax=None):
    """A tile of a transpose, which moves from src[top, left] to dst[left, top].

    `shape` is that of src. An element has its number wherever it is; strong is what the
    warp of a `row` loads and stores, through a tile in shared memory or without one.
    """
    rows, cols = shape
    refuse_tile_outside(top, left, tile, shape)
    middle = cols + GAP, (top + left) / 2
    start = cols + GAP + (tile + GAP) * shared
    across, down = start + rows, max(rows, cols) + 1.2
    refuse_too_many(across)
    line, turned_line = line_of(tile, row), line_of(tile, row, turned=True)
    with board(ax, 0.5 + ROW_INCHES * down, across, down, margin=0.5) as ax:
        draw_matrix(ax, "src", shape, 0)
        draw_matrix(ax, "dst", (cols, rows), start)
        draw_tile(ax, left, top, f"src[{top}, {left}]", tile, {style.LOAD: line})
        ends = [(left + tile, top + row + 0.5)]
        if shared:
            marked = {style.STORE: line, style.LOAD: turned_line}
            draw_tile(ax, *middle, "shared memory", tile, marked)
            ends += [(middle[0], middle[1] + row + 0.5)]
            ends += [(middle[0] + tile, middle[1] + tile / 2)]
        marked = {style.STORE: line if shared else turned_line}
        name = f"dst[{left}, {top}]"
        draw_tile(ax, start + top, left, name, tile, marked, turned=True)
        ends += [(start + top, left + (row + 0.5 if shared else tile / 2))]
        for begin, end in zip(ends[::2], ends[1::2], strict=True):
            ax.annotate("", end, begin, arrowprops=ARROW)
        text = (
            f"strong: what the warp of row {row} loads and stores, from left to right"
        )
        note(ax, 0, down, text, ha="left", va="bottom")
    return Picture(ax.figure, move_of(top, left, tile, row, shared))


def refuse_tile_outside(top, left, tile, shape):
    """Raise where the tile is not in the matrix."""
    if top < 0 or left < 0 or top + tile > shape[0] or left + tile > shape[1]:
        raise ArgumentError(
            f"a tile of {tile} × {tile} at [{top}, {left}] is not within a matrix of "
            f"{shape[0]} × {shape[1]}: choose a smaller `top`, `left` or `tile`"
        )


def draw_matrix(ax, name, shape, start):
    """Draw the elements of a matrix, with its name and shape above."""
    rows, cols = shape
    thin = {"color": style.IDLE, "linewidth": 0.5, "zorder": 0}
    ax.vlines([start + x for x in range(cols + 1)], 0, rows, **thin)
    ax.hlines(range(rows + 1), start, start + cols, **thin)
    text = f"{name}, {rows} × {cols}"
    label(ax, start, 0, text, (0, 5), ha="left", va="bottom", fontweight="bold")


def line_of(tile, number, turned=False):
    """The elements of a row of a tile, or of a column, as (row, column)."""
    return [(k, number) if turned else (number, k) for k in range(tile)]


def draw_tile(ax, left, top, name, tile, marked, turned=False):
    """Draw the elements of a tile, some of them strong, {colour: [(row, column)]}."""
    colours = {at: colour for colour, line in marked.items() for at in line}
    for y, x in np.ndindex(tile, tile):
        text = str(x * tile + y if turned else y * tile + x)
        colour = colours.get((y, x), style.PLAIN)
        share = 0.5 if (y, x) in colours else 0.15
        cell(ax, left + x, top + y, text, colour, share=share)
    note(ax, left, top, name, (0, 4), ha="left", va="bottom")


def move_of(top, left, tile, row, shared):
    """Where the tile and a warp's part of it go, in words."""
    a, b, end = top + row, left + row, tile - 1
    stored = f"dst[{left}, {a}] to dst[{left + end}, {a}]"
    if shared:
        through = f"row {row} and then column {row} of a tile in shared memory"
        stored = f"{through}, and stores dst[{b}, {top}] to dst[{b}, {top + end}]"
    return (
        f"A tile of {tile} × {tile} elements moves from src[{top}, {left}] to "
        f"dst[{left}, {top}]. The warp of row {row} loads src[{a}, {left}] to "
        f"src[{a}, {left + end}], {'uses' if shared else 'and stores'} {stored}."
    )
