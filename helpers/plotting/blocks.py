"""What the threads of a block do with shared memory: who brings, and who takes."""

from itertools import product

from helpers.plotting.boxes import (
    DASHES,
    ROW_INCHES,
    board,
    fill_row,
    join,
    refuse_too_many,
    width_for,
)
from helpers.plotting.timelines import ARROW
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, cell, note


def plot_exchange(stores, loads, barrier=True, ax=None):
    """The cell of a shared array that each thread stores to, and the one it loads.

    `stores` and `loads` hold a cell for each thread, or None; `barrier` is drawn
    between them.
    """
    cells = 1 + max(it for it in [*stores, *loads] if it is not None)
    across = max(len(stores), len(loads), cells)
    refuse_too_many(across)
    rows = {0: "stores", 2.2: "cell", 4.4: "loads"}
    with board(ax, 0.2 + 6.6 * ROW_INCHES, across, 5.4, rows) as ax:
        draw_threads(ax, stores, 0, (1, 2.2), style.STORE)
        draw_threads(ax, loads, 4.4, (4.4, 3.2), style.LOAD)
        fill_row(ax, 2.2, [(position, style.PLAIN, 0.15) for position in range(cells)])
        if barrier:
            ax.plot([0, across], [3.8, 3.8], **DASHES)
            note(ax, across, 3.8, "barrier", (4, 0), ha="left")
    return Picture(ax.figure, exchange_of(stores, loads, barrier))


def draw_threads(ax, cells, top, rows, colour):
    """Draw a row of threads, each with a line to its cell."""
    for thread, touched in enumerate(cells):
        busy = touched is not None
        cell(ax, thread, top, str(thread), colour if busy else style.IDLE)
        if busy:
            join(ax, (thread, touched), rows, colour)


def exchange_of(stores, loads, barrier):
    """Who stores and loads where, in words."""
    steps = []
    for what, cells in (("Stores", stores), ("loads", loads)):
        pairs = [f"{t} → {it}" for t, it in enumerate(cells) if it is not None]
        steps.append(f"{what}, thread → cell: {', '.join(pairs)}")
    return f"{steps[0]}; {'then a barrier; ' * barrier}{steps[1]}."


def plot_meeting(places, ax=None):
    """Blocks on multiprocessors, each with an L1, and below them L2, which all share:
    the place to which each block's atomics go.
    """
    across, down = max(4 * len(places), *(it + 1 for it in places)), 4.6
    refuse_too_many(across)
    rows = {0: "block", 1: "its L1", 3.6: "L2"}
    with board(ax, 0.2 + 5 * ROW_INCHES, across, down, rows, style.WIDTH_INCHES) as ax:
        for place in range(across):
            colour, share = look_of(places.count(place))
            cell(ax, place, 3.6, "", colour, share=share)
        for block, place in enumerate(places):
            left, (colour, _) = 4 * block + 0.5, look_of(places.count(place))
            cell(ax, left, 0, str(block), style.PLAIN, width=3)
            cell(ax, left, 1, "", style.PLAIN, width=3, share=0.08)
            arrow = ARROW | {"color": colour}
            ax.annotate("", (place + 0.5, 3.6), (left + 1.5, 0.8), arrowprops=arrow)
    return Picture(ax.figure, meeting_of(places))


def look_of(blocks):
    """The colour of a place that so many blocks change, and its share."""
    if blocks == 0:
        return style.PLAIN, 0
    return (style.CONFLICT, 0.3) if blocks > 1 else (style.STORE, 0.45)


def meeting_of(places):
    """Who meets in L2, in words."""
    told = [f"block {block} in place {place}" for block, place in enumerate(places)]
    apart = len(set(places))
    met = "each in its own" if apart == len(places) else f"in {counted(apart, 'place')}"
    return (
        f"Past their own L1s, {counted(len(places), 'block')} change L2, {met}: "
        f"{', '.join(told)}."
    )


def plot_halo(blocks, threads, radius, window=None, ax=None):
    """The elements that each block of a stencil loads: its own, and a halo around them.

    Below the elements is the tile of each block; the number in a cell is the thread
    that brings it, where cell `k` is brought by thread `k % threads`. `window` is a
    thread of the last block, whose cells get a bracket.
    """
    n = blocks * threads
    across = n + 2 * radius
    refuse_too_many(across)
    rows = {1.6 + 1.3 * block: f"tile of block {block}" for block in range(blocks)}
    down = 1.6 + 1.3 * blocks + (window is not None)
    size = 0.4 + (0.6 + down) * ROW_INCHES, across, down
    with board(ax, *size, {0: "element"} | rows) as ax:
        for spot in range(across):
            inside = radius <= spot < n + radius
            text, colour = (spot - radius, style.PLAIN) if inside else ("", style.IDLE)
            dark = inside and (spot - radius) // threads % 2 == 0
            cell(ax, spot, 0, str(text), colour, share=0.45 if dark else 0.15)
        for block in range(blocks):
            draw_tile(ax, block, threads, radius)
        if window is not None:
            draw_window(ax, blocks - 1, threads, radius, window)
        text = "number: the thread that brings it; blue, at both ends: the halo"
        note(ax, 0, 1, text, (0, -8), ha="left")
    said = halo_of(blocks, threads, radius)
    if window is not None:
        said += f" {window_of(blocks - 1, radius, window)}."
    return Picture(ax.figure, said)


def halo_of(blocks, threads, radius):
    """What each block brings, in words."""
    shared = 2 * radius * (blocks - 1)
    return (
        f"{counted(blocks, 'block')} of {counted(threads, 'thread')}: each brings its "
        f"own {threads} elements and a halo of {radius} on each side into its tile; "
        f"{counted(shared, 'element')} are in two tiles."
    )


def window_of(block, radius, thread):
    """The cells that a thread uses, in words."""
    last = thread + 2 * radius
    return f"Thread {thread} of block {block} uses cells {thread} to {last} of its tile"


def draw_window(ax, block, threads, radius, thread):
    """Put a bracket below the cells that a thread of the last block uses."""
    if not 0 <= thread < threads:
        text = f"a block of {threads} threads has no thread {thread}"
        raise ArgumentError(f"{text}: choose a `window` below {threads}")
    top, left = 2.6 + 1.3 * block, block * threads + thread
    begin, end = left + 0.1, left + 2 * radius + 0.9
    heights = [top + 0.15, top + 0.4, top + 0.4, top + 0.15]
    ax.plot([begin, begin, end, end], heights, color=style.INK, linewidth=1.2)
    middle = (begin + end) / 2, top + 0.4
    note(ax, *middle, window_of(block, radius, thread), (0, -8), ha="center")


def draw_tile(ax, block, threads, radius):
    """Draw the cells of a block's tile under the elements that they hold."""
    width = threads + 2 * radius
    for position in range(width):
        own = radius <= position < width - radius
        colour = style.PLAIN if own else style.LOAD
        share = (0.45, 0.15)[block % 2] if own else 0.5
        left = block * threads + position
        cell(ax, left, 1.6 + 1.3 * block, str(position % threads), colour, share=share)


def plot_tree(steps, cells, ax=None):
    """How the threads of a block add up the cells of a shared array, step by step.

    A step holds, for each thread that adds, {thread: (cell, the cell it adds to that)}.
    The number in a box is the thread that stores there.
    """
    refuse_too_many(cells)
    down = 1 + TREE_ROWS * len(steps)
    rows = {TREE_ROWS * turn: f"step {turn}" for turn in range(1, len(steps) + 1)}
    size = 0.2 + (down + 1.2) * ROW_INCHES, cells, down
    with board(ax, *size, {0: "loaded"} | rows) as ax:
        fill_row(ax, 0, [(position, style.STORE, 0.25) for position in range(cells)])
        for turn, step in enumerate(steps, start=1):
            draw_sums(ax, step, TREE_ROWS * turn, cells)
        text = "number: the thread that stores to the cell"
        note(ax, 0, down, text, (0, -9), ha="left")
    return Picture(ax.figure, tree_of(steps, cells))


TREE_ROWS = 1.9  # from one step to the next


def draw_sums(ax, step, top, cells):
    """Draw the cells after a step, with lines from the two that were added."""
    stored = {into: (thread, other) for thread, (into, other) in step.items()}
    for position in range(cells):
        if position not in stored:
            cell(ax, position, top, "", style.IDLE, share=0.1)
            continue
        thread, other = stored[position]
        cell(ax, position, top, str(thread), style.STORE)
        for source in (position, other):
            join(ax, (source, position), (top - TREE_ROWS + 1, top), style.LOAD)


def tree_of(steps, cells):
    """Who adds what to what, in words."""
    sums = [
        ", ".join(f"thread {t} adds cell {b} to {a}" for t, (a, b) in step.items())
        for step in steps
    ]
    numbered = [f"step {turn}: {it}" for turn, it in enumerate(sums, start=1)]
    return f"{counted(cells, 'cell')}; {'; '.join(numbered)}."


def plot_strip_walk(row, side=11, made=4, ax=None):
    """The rows of sums to which a thread adds a row of pixels, walking down a strip.

    Each of `side` rows of `made` sums has in it as many rows of products as its number
    says, once this row is added; the first is complete.
    """
    needed = made + side - 1
    first = row - side + 1
    rows = {0: f"row {row} of pixels"}
    rows |= {1.6 + i: f"sums of row {first + i}" for i in range(side)}
    size = 0.5 + (side + 1.6) * ROW_INCHES, needed, side + 1.6, rows
    with board(ax, *size, width_for(needed + 4)) as ax:
        fill_row(ax, 0, [("", style.LOAD, 0.25)] * needed)
        for i in range(side):
            colour = style.STORE if i == 0 else style.PLAIN
            fill_row(ax, 1.6 + i, [(side - i, colour, 0.25)] * made)
        note(ax, made, 2.1, "complete: stored", (6, 0), ha="left")
    return Picture(
        ax.figure,
        f"{counted(needed, 'pixel')} of row {row} go into {side} rows of {made} sums: "
        f"those of row {first}, which are complete, to those of row {row}, which have "
        f"one row of products.",
    )


def plot_layer_walk(
    layers=(1, 2, 3), depth=6, threads=4, radius=1, near="the tile", ax=None
):
    """What a row of threads keeps while it walks along z, at each of some layers.

    The number in a cell is how far it is above the layer at hand, where a thread has it
    in a register. Framed is what `near` memory gives of that layer, with a halo at both
    ends.
    """
    wide = threads + 2 * radius
    across = (wide + BESIDE) * len(layers) - BESIDE
    refuse_too_many(across)
    refuse_walk_outside(layers, depth, radius)
    rows = {depth - 1 - layer: f"layer {layer}" for layer in range(depth)}
    size = 0.75 + ROW_INCHES * depth, across, depth, rows
    with board(ax, *size, width_for(across + 3)) as ax:
        for turn, layer in enumerate(layers):
            left = turn * (wide + BESIDE)
            note(ax, left + wide / 2, 0, f"at layer {layer}", (0, 5), va="bottom")
            draw_layers(ax, left, depth, wide)
            top = depth - 1 - layer
            draw_kept(ax, left, top, threads, radius)
        text = f"+{radius}: loaded now; other numbers: in registers; framed: {near}"
        note(ax, 0, depth, text, (0, -5), ha="left", va="top")
    return Picture(
        ax.figure,
        f"At layers {', '.join(map(str, layers))}, each of {threads} threads loads the "
        f"cell {radius} above, and has the {2 * radius} below that in registers. The "
        f"neighbours in the layer come from {near}, with a halo of {radius} at each "
        "end.",
    )


BESIDE = 2  # boxes, between the pictures of two layers


def refuse_walk_outside(layers, depth, radius):
    """Raise where a layer has no neighbours on both sides."""
    for layer in layers:
        if not radius <= layer < depth - radius:
            raise ArgumentError(
                f"layer {layer} has no {radius} on each side among {depth}: choose one "
                f"of {radius} to {depth - radius - 1}"
            )


def draw_layers(ax, left, depth, wide):
    """Draw the borders of the cells of all layers."""
    thin = {"color": style.IDLE, "linewidth": 0.5, "zorder": 0}
    ax.hlines(range(depth + 1), left, left + wide, **thin)
    ax.vlines([left + x for x in range(wide + 1)], 0, depth, **thin)


def draw_kept(ax, left, top, threads, radius):
    """Draw what each thread has in registers, and a frame around the layer at hand."""
    wide = threads + 2 * radius
    for above in range(-radius, radius + 1):
        text = f"{above:+d}".replace("-", "−") if above else "0"
        box = (style.LOAD, 0.5) if above == radius else (style.PLAIN, 0.3)
        fill_row(ax, top - above, [(text, *box)] * threads, left + radius)
    for x in (*range(radius), *range(wide - radius, wide)):
        cell(ax, left + x, top, "", style.LOAD, share=0.2)
    frame = [left, left + wide, left + wide, left, left]
    ax.plot(frame, [top, top, top + 1, top + 1, top], color=style.INK, linewidth=2)


def plot_neighbours(named, ax=None):
    """The cells that a stencil takes, layer by layer: {(z, y, x): name}."""
    radius = max(abs(it) for place in named for it in place)
    wide, layers = 2 * radius + 1, range(-radius, radius + 1)
    cells = wide * BOX
    across = (cells + 1.5) * wide - 1.5
    refuse_too_many(across)
    with board(ax, 0.5 + ROW_INCHES * wide, across, wide, width=across / 3.2) as ax:
        ax.set_yticks([])
        for turn, z in enumerate(layers):
            left = turn * (cells + 1.5)
            for y, x in product(layers, layers):
                colour, share = shown_as(named, (z, y, x))
                spot = left + BOX * (x + radius), y + radius
                text = named.get((z, y, x), "")
                cell(ax, *spot, text, colour, width=BOX, share=share)
            note(ax, left + cells / 2, 0, f"layer {place_of(z)}", (0, 5), va="bottom")
    told = [f"{name} in layer {place_of(z)}" for (z, _, _), name in named.items()]
    return Picture(ax.figure, f"A stencil of {len(named)} cells: {', '.join(told)}.")


BOX = 2.2  # the width of a cell that has a name in it


def shown_as(named, place):
    """The colour of a cell, and its share: its own, one that is taken, or none."""
    if not any(place):
        return style.STORE, 0.45
    return (style.LOAD, 0.5) if place in named else (style.PLAIN, 0)


def place_of(z):
    """A layer by its distance from the cell's own."""
    return f"z {'+' if z > 0 else '−'} {abs(z)}" if z else "z"


def plot_sides(rows, cols, ax=None):
    """A tile with one cell more on each side: the thread that brings each cell.

    Threads at a side bring the cell beyond it, too; nobody brings the corners.
    """
    across, down = cols + 2, rows + 2
    refuse_too_many(across)
    with board(
        ax, 0.4 + ROW_INCHES * down, across, down, width=width_for(across)
    ) as ax:
        ax.set_yticks([])
        for y, x in product(range(down), range(across)):
            row, col = min(max(y - 1, 0), rows - 1), min(max(x - 1, 0), cols - 1)
            beyond = (row != y - 1) + (col != x - 1)
            look = [(style.PLAIN, 0.35), (style.LOAD, 0.5), (style.PLAIN, 0)][beyond]
            text = "" if beyond == 2 else cols * row + col
            cell(ax, x, y, str(text), look[0], share=look[1])
        text = "number: the thread that brings it"
        note(ax, 0, down, text, (0, -6), ha="left", va="top")
    return Picture(
        ax.figure,
        f"A tile of {down} × {across} cells: each of {rows} × {cols} threads brings "
        f"its own, and those at a side the cell beyond, {2 * (rows + cols)} in all. "
        "Nobody brings the four corners.",
    )
