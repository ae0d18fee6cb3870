"""Tiles: the bank of each element in shared memory and what a warp touches, which
elements of a product are a thread's, and tiles that hang over an edge.
"""

import numpy as np

from helpers.plotting.banks import by_lane, refuse_several_warps
from helpers.plotting.boxes import shade
from thirty_two_lanes.core import style
from thirty_two_lanes.core.hardware import NUM_BANKS, WORD_BYTES
from thirty_two_lanes.core.wavefronts import lanes_by_wavefront
from thirty_two_lanes.core.words import counted, ranges, runs
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, inside, label, note

MARGIN_INCHES = 0.5
COL_INCHES = 0.225
ROW_INCHES = 0.165
STRIP, GAP = 14, 6  # how tiles of a and b are drawn, in elements of c


def plot_tile_banks(banks, touched=(), kind="load", padding=0, ax=None):
    """A tile, with the bank of each element, and those that one request touches.

    `banks` is (rows, cols); `touched` lists (row, col), an element of 4 bytes for each
    lane; the last `padding` columns hold no data.
    """
    banks = np.asarray(banks)
    rows, cols = banks.shape
    refuse_several_warps(touched, "elements")
    touched = list(dict.fromkeys((int(row), int(col)) for row, col in touched))
    asked = [int(banks[it]) for it in touched]
    most = wavefronts(asked, kind)
    request = request_text(kind, len(touched), len(set(asked)), most)
    width = max(4, MARGIN_INCHES + COL_INCHES * cols)
    with canvas(ax, 2 * MARGIN_INCHES + ROW_INCHES * rows, width) as ax:
        draw_tile(ax, banks, padding, touched)
        colour = style.CONFLICT if most > 1 else style.KINDS[kind]
        for row, col in touched:
            look = {"rim": style.halo(), "fontsize": style.SMALL}
            cell(ax, col, row, str(banks[row, col]), colour, **look)
        label(ax, 0, 0, request, (0, 4), ha="left", va="bottom")
        text = "a number is a bank"
        note(ax, cols, 0, text, (0, 4), ha="right", va="bottom")
    tile = f"A tile of {counted(rows, 'row')} and {counted(cols, 'column')}"
    padded = f", {padding} of them padding" if padding else ""
    asked = f": {request}" if touched else ""
    return Picture(ax.figure, f"{tile}{padded}, with the bank of each element{asked}.")


def wavefronts(banks, kind):
    """How many a request for different words in these banks takes."""
    words = [bank + NUM_BANKS * row for row, bank in enumerate(banks)]
    asked = by_lane(WORD_BYTES * word for word in words)
    return len(lanes_by_wavefront(*asked, WORD_BYTES, kind))


def request_text(kind, elements, banks, most):
    """What the request asks for, and what it costs."""
    if not elements:
        return ""
    cost = f"{most}-way conflict" if most > 1 else "no conflict"
    asked = f"a {kind} of {counted(elements, 'element')}"
    return f"{asked} in {counted(banks, 'bank')}, {cost}"


def draw_tile(ax, banks, padding, touched):
    """Draw each element, darker for higher banks, and number those not touched."""
    rows, cols = banks.shape
    darkest = style.tint(style.PLAIN, 0.5)
    shade(ax, banks, darkest, edgecolor=style.PAPER, linewidth=0.4)
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
    mine = [ranges(sorted(numbers), " to ") for numbers in (rows, cols)]
    return Picture(
        ax.figure,
        f"A block computes {high} × {wide} elements of c. A thread has {sums} of "
        f"them: rows {mine[0]}; columns {mine[1]}. At each step it loads "
        f"{len(rows)} numbers of a and {len(cols)} of b.",
    )


def fill(ax, rows, cols, wide, high, colours, share):
    """Fill rows in the tile of a, columns in that of b, and where they cross."""
    from matplotlib.patches import Rectangle

    across, down = (
        [(first, last - first + 1) for first, last in runs(sorted(numbers))]
        for numbers in (cols, rows)
    )
    boxes = [(colours[0], -GAP - STRIP, y, STRIP, n) for y, n in down]
    boxes += [(colours[1], x, -GAP - STRIP, n, STRIP) for x, n in across]
    boxes += [(colours[2], x, y, n, m) for x, n in across for y, m in down]
    for colour, x, y, width, height in boxes:
        box = Rectangle((x, y), width, height, linewidth=0.8, edgecolor=colour)
        box.set(facecolor=style.tint(colour, share))
        ax.add_patch(box)


def draw_names(ax, block):
    """Name the three parts."""
    high, wide = block
    text = f"c: {high} × {wide} elements of a block"
    note(ax, 0, high, text, (4, 12), ha="left", va="top")
    note(ax, wide, -GAP - STRIP, "tile of b", (-4, -6), ha="right", va="top")
    middle = -GAP - STRIP / 2
    note(ax, middle, high, "tile of a", (0, 4), rotation=90, va="bottom")


# ---------------------------------------------------------------- over an edge


def plot_ragged_walk(step=0, shape=(5, 7, 6), tile=4, block=(0, 0), ax=None):
    """One step of a block's tiles through an m × k matrix A, a k × n matrix B and C,
    where tiles may hang over the edges; `shape` is (m, k, n), and the block (x, y).

    An element that exists names the thread (x, y) that loads or makes it; a cell beyond
    an edge holds a zero in the tiles of A and B, and nothing in C.
    """
    m, k, n = shape
    col, row, at = tile * block[0], tile * block[1], tile * step
    drawn = (
        ("A", (m, k), (row, at), style.LOAD),
        ("B", (k, n), (at, col), style.LOAD),
        ("C", (m, n), (row, col), style.STORE),
    )
    down, across = (tile * -(-max(it) // tile) for it in ((m, k), (k, n)))
    whole = 3 * across + 2
    with canvas(ax, 0.45 + style.WIDTH_INCHES * (down + 0.2) / (whole + 0.2)) as ax:
        for number, (name, size, corner, colour) in enumerate(drawn):
            left = number * (across + 1)
            draw_ragged(ax, left, size, corner, tile, colour)
            rows, cols = size
            title = f"{name}, {rows} × {cols}"
            label(ax, left, 0, title, (0, 4), ha="left", va="bottom")
        bare(ax)
        ax.set(xlim=(-0.1, whole + 0.1), ylim=(down + 0.1, -0.1), aspect="equal")
    counts = [len(existing(size, corner, tile)) for _, size, corner, _ in drawn]
    return Picture(ax.figure, ragged_sentence(step, shape, tile, block, counts))


def existing(size, corner, tile):
    """The cells of a tile, (row, column) within it, that lie inside a matrix."""
    (rows, cols), (top, left) = size, corner
    inside_it = np.ndindex(tile, tile)
    return [(y, x) for y, x in inside_it if top + y < rows and left + x < cols]


def draw_ragged(ax, left, size, corner, tile, colour):
    """Draw a matrix's rims, and the cells of the tile at its corner."""
    rows, cols = size
    thin = {"color": style.IDLE, "linewidth": 0.4}
    ax.vlines([left + col for col in range(cols + 1)], 0, rows, **thin)
    ax.hlines(range(rows + 1), left, left + cols, **thin)
    there = set(existing(size, corner, tile))
    for y, x in np.ndindex(tile, tile):
        place = left + corner[1] + x, corner[0] + y
        if (y, x) in there:
            cell(ax, *place, f"{x},{y}", colour)
        else:
            empty = "" if colour == style.STORE else "0"
            cell(ax, *place, empty, style.IDLE)


def ragged_sentence(step, shape, tile, block, counts):
    """What a step at the edge shows, in words."""
    m, k, n = shape
    of_a, of_b, of_c = counts
    threads = tile * tile
    return (
        f"Step {step} of {counted(-(-k // tile), 'step')} through A, {m} × {k}, and B, "
        f"{k} × {n}, in tiles of {tile} × {tile}: of the {threads} threads of block "
        f"{tuple(block)}, {of_a} load an element of A and {of_b} one of B, and the "
        f"others put zeros into the tiles; {of_c} make an element of C."
    )
