"""Where things lie: a tile that changes its place, the parts of parts of a product, and
copies of an array in the banks.
"""

from typing import NamedTuple

import numpy as np

from helpers.plotting.boxes import DASHES, ROW_INCHES, SHARES, board, refuse_too_many
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.words import counted, ranges, runs
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, label, note

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


# ---------------------------------------------------------------- parts of parts

PANEL = 0.8  # of the height of the last panel, the other panels'
BETWEEN = 0.2
EDGE = {"color": style.INK, "linewidth": 0.8}


def plot_zooms(owners, chosen=None, ax=None):
    """Whose elements of c are whose, zoom by zoom, as {"block": matrix, "warp": ...}.

    Each matrix has the shape of c and says which block, warp or lane computes an
    element. Each panel is a part of the one before: that of `chosen`, {"warp": 3}, or
    else of number 0. The last one has the sums of one owner, with the rows and columns
    that they belong to.
    """
    zooms, rows, cols = zooms_of(owners, chosen or {})
    with canvas(ax, 2.5) as ax:
        left, whose, said = 0, "c", []
        for zoom, after in zip(zooms, [*[PANEL] * (len(zooms) - 1), 1], strict=True):
            said.append(zoom_text(zoom, whose))
            left = draw_zoom(ax, left, zoom, said[-1], after)
            whose = f"{zoom.name} {zoom.number}"
        said.append(
            f"{whose}: {rows.size} × {cols.size} sums,\n"
            f"of {rows.size} rows of a and {cols.size} columns of b"
        )
        draw_sums(ax, left, rows.tolist(), cols.tolist())
        note(ax, left, 1, said[-1], (0, -4), ha="left", va="top")
        bare(ax)
        ax.set(xlim=(-0.02, left + 1.02), ylim=(1.16, -0.02), aspect="equal")
    mine = [ranges(it.tolist(), " to ") for it in (rows, cols)]
    alt = f"{'; '.join(said)}: rows {mine[0]}; columns {mine[1]}."
    return Picture(ax.figure, alt.replace("\n", " "))


class Zoom(NamedTuple):
    """A part of c by who owns its elements; the rows and columns of one owner."""

    name: str
    number: int
    owner: np.ndarray
    rows: np.ndarray
    cols: np.ndarray


def zooms_of(owners, chosen):
    """Each zoom, and the rows and columns of c in the last one."""
    rows, cols = map(np.arange, np.shape(next(iter(owners.values()))))
    zooms = []
    for name, matrix in owners.items():
        owner = np.asarray(matrix)[np.ix_(rows, cols)]
        mine = owner == chosen.get(name, 0)
        down, across = (np.flatnonzero(mine.any(axis)) for axis in (1, 0))
        if not down.size or not mine[np.ix_(down, across)].all():
            raise ArgumentError(
                f"what {name} {chosen.get(name, 0)} computes here is not some rows by "
                "some columns: choose another one"
            )
        zooms.append(Zoom(name, chosen.get(name, 0), owner, down, across))
        rows, cols = rows[down], cols[across]
    return zooms, rows, cols


def draw_zoom(ax, left, zoom, text, after):
    """Draw a part with its owners' borders and one owner's elements; return where the
    next panel begins, of the height `after`, to which lines lead.
    """
    high, wide = zoom.owner.shape
    scale, top = PANEL / high, (1 - PANEL) / 2
    width = wide * scale
    for x, n in spans(zoom.cols):
        for y, m in spans(zoom.rows):
            at = left + x * scale, top + y * scale
            cell(ax, *at, "", style.STORE, n * scale, m * scale, share=0.6)
    changes = [np.diff(zoom.owner, axis=axis).any(1 - axis) for axis in (0, 1)]
    down, across = (scale * (1 + np.flatnonzero(it)) for it in changes)
    thin = {"color": style.IDLE, "linewidth": 0.6, "zorder": 0}
    ax.hlines(top + down, left, left + width, **thin)
    ax.vlines(left + across, top, top + PANEL, **thin)
    box = [left, left + width, left + width, left, left]
    ax.plot(box, [top, top, top + PANEL, top + PANEL, top], **EDGE)
    start, end = left + scale * (zoom.cols[-1] + 1), left + width + BETWEEN
    corners = (1 - after) / 2, (1 + after) / 2
    for y, corner in zip((zoom.rows[0], zoom.rows[-1] + 1), corners, strict=True):
        ax.plot([start, end], [top + scale * y, corner], **DASHES)
    note(ax, left, top + PANEL, text, (0, -4), ha="left", va="top")
    return end


def zoom_text(zoom, whose):
    """Whose part it is, its size, and how many own it."""
    high, wide = zoom.owner.shape
    owners = counted(np.unique(zoom.owner).size, zoom.name)
    return f"{whose}, {high} × {wide}:\n{owners}"


def spans(numbers):
    """Numbers that follow one another together, as (first, how many)."""
    return [(first, last - first + 1) for first, last in runs(numbers.tolist())]


def draw_sums(ax, left, rows, cols):
    """Draw a box for each sum, beside the row of a and below the column of b that it
    belongs to.
    """
    side = 1 / (1 + max(len(rows), len(cols)))
    size = {"width": side, "height": side}
    for k, row in enumerate(rows, start=1):
        cell(ax, left, k * side, str(row), style.LOAD, **size)
    for k, col in enumerate(cols, start=1):
        cell(ax, left + k * side, 0, str(col), style.LOAD, **size)
    for row, col in np.ndindex(len(rows), len(cols)):
        at = left + (col + 1) * side, (row + 1) * side
        cell(ax, *at, "", style.STORE, **size, share=0.6)


# ---------------------------------------------------------------- copies in the banks


def plot_copies(layouts, banks=8, values=None, ax=None):
    """Where the bins of several copies lie in the banks, as {name: (cells, copies)}.

    `cells` is a matrix: the cell of each copy's bins, a row for each copy; `copies` has
    the copy that each thread counts in. A box has its bin's number; copies are dark and
    light in turn, as are their threads. With `values`, one for each thread, the bins to
    which one request adds are strong, and hatched where they queue at a bank.
    """
    wide = max([banks, *(len(copies) for _, copies in layouts.values())])
    across = (wide + APART) * len(layouts) - APART
    refuse_too_many(across)
    heads = ("thread",) if values is None else ("thread", "its value")
    top = len(heads) + BELOW
    down = top + 1 + max(int(np.max(cells)) // banks for cells, _ in layouts.values())
    said = []
    rows = {**dict(enumerate(heads)), top: "bins"}
    with board(ax, 0.75 + ROW_INCHES * down, across, down, rows) as ax:
        for turn, (name, (cells, copies)) in enumerate(layouts.items()):
            cells, left = np.atleast_2d(cells), turn * (wide + APART)
            asked = touched(cells, copies, values)
            label(ax, left, 0, name, (0, 4), ha="left", va="bottom", fontweight="bold")
            draw_threads(ax, left, copies, values)
            draw_copies(ax, left, top, cells, asked, banks)
            text = counted(banks, "bank")
            if asked:
                text = counted(longest_queue(asked, banks), "wavefront")
            note(ax, left + banks / 2, down, text, (0, -4), va="top")
            said.append(f"{name}: {copies_text(cells, copies, banks, asked)}")
    return Picture(ax.figure, "; ".join(said) + ".")


BELOW = 0.6  # rows, between the threads and their bins
APART = 1.8  # boxes, between two layouts


def touched(cells, copies, values):
    """The cells that a request adds to, if each thread has a value."""
    if values is None:
        return set()
    return {int(cells[pair]) for pair in zip(copies, values, strict=True)}


def longest_queue(asked, banks):
    """The most cells of a request that lie in one bank."""
    return int(np.bincount([cell % banks for cell in asked]).max())


def draw_threads(ax, left, copies, values):
    """Draw the threads in their copies' shades, and the value of each."""
    for thread, copy in enumerate(copies):
        look = {"share": SHARES[copy % 2]}
        cell(ax, left + thread, 0, str(thread), style.PLAIN, **look)
        if values is not None:
            cell(ax, left + thread, 1, str(values[thread]), style.PLAIN, **look)


def draw_copies(ax, left, top, cells, asked, banks):
    """Draw the cells by bank, in their copies' shades; those asked for are strong."""
    there = {int(at): pair for pair, at in np.ndenumerate(cells)}
    queues = np.bincount([it % banks for it in asked], minlength=banks)
    for at in range((max(there) // banks + 1) * banks):
        row, bank = divmod(at, banks)
        if at in asked:
            colour = style.CONFLICT if queues[bank] > 1 else style.LOAD
            look = colour, 1, 1, 0.5
        elif at in there:
            plain = style.PLAIN if asked else style.STORE
            look = plain, 1, 1, SHARES[there[at][0] % 2]
        else:
            look = style.IDLE, 1, 1, 0.1
        text = str(there[at][1]) if at in there else ""
        cell(ax, left + bank, top + row, text, *look)


def copies_text(cells, copies, banks, asked):
    """How many copies there are, who shares one, and where a bin's copies lie."""
    sharing = max(np.bincount(copies))
    homes = np.unique(cells[:, 0] % banks).size
    waves = asked and counted(longest_queue(asked, banks), "wavefront")
    return (
        f"{counted(len(cells), 'copy', 'copies')}, "
        f"up to {counted(int(sharing), 'thread')} in each; the copies of bin 0 lie in "
        f"{counted(homes, 'bank')}"
        + (f", and the request takes {waves}" if asked else "")
    )


# ---------------------------------------------------------------- arrays over bytes

PIECE = 0.17  # inches, that a byte is wide
SHORT = 4  # bytes; a smaller element has no room for its number


def plot_slices(arrays, size, ax=None):
    """The slices of some arrays that begin at the first of the same `size` bytes, as
    {name: (bytes of an element, first element, end)}.

    Each array has a row; its slice is strong, and hatched where another one has the
    same bytes.
    """
    taken = {
        name: range(item * first, item * end)
        for name, (item, first, end) in arrays.items()
    }
    refuse_slices_outside(taken, size)
    width = min(style.WIDTH_INCHES, 1.2 + PIECE * size)
    down = 1.3 * len(arrays) - 0.3
    with board(ax, 0.5 + 0.36 * down, size, down, width=width) as ax:
        for row, (name, (item, _, _)) in enumerate(arrays.items()):
            others = [it for other, it in taken.items() if other != name]
            draw_elements(ax, 1.3 * row, item, taken[name], others, size)
        places = [1.3 * row + 0.5 for row in range(len(arrays))]
        ax.set_yticks(places, [f"{k}, {it[0]} bytes each" for k, it in arrays.items()])
        ax.set_xticks(range(0, size + 1, 8))
        ax.set_xlabel("byte of the block's dynamic shared memory")
    said = "; ".join(slice_text(name, *it) for name, it in arrays.items())
    return Picture(ax.figure, f"{said}. {shared_text([*taken.values()])}.")


def refuse_slices_outside(taken, size):
    """Raise where a slice goes on behind the last byte."""
    for name, mine in taken.items():
        if mine.stop > size:
            raise ArgumentError(
                f"the slice of {name} ends at byte {mine.stop} of {size}: draw more "
                "bytes, or a shorter slice"
            )


def draw_elements(ax, top, item, mine, others, size):
    """Draw each element that has room, and its number: strong in the array's slice."""
    for element in range(size // item):
        at = range(item * element, item * (element + 1))
        colour, share = style.IDLE, 0.1
        if at[0] in mine:
            both = any(byte in other for other in others for byte in at)
            colour, share = (style.CONFLICT if both else style.STORE), 0.4
        text = str(element) if item >= SHORT else ""
        cell(ax, at[0], top, text, colour, item, share=share)


def slice_text(name, item, first, end):
    """Which elements and bytes a slice has, in words."""
    elements = f"elements {first} to {end - 1} of {item} bytes"
    return f"{name}: {elements}, bytes {item * first} to {item * end - 1}"


def shared_text(taken):
    """Which bytes belong to more than one slice, in words."""
    every = [byte for it in taken for byte in it]
    both = sorted({byte for byte in every if every.count(byte) > 1})
    if not both:
        return "No byte belongs to two of them"
    return f"Bytes {ranges(both, ' to ')} belong to two of them"
