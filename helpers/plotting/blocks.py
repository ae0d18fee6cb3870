"""What the threads of a block do with shared memory: who brings, and who takes."""

from helpers.plotting.grids import ROW_INCHES, refuse_too_many, width_for
from thirty_two_lanes.core import style
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures.picture import (
    Picture,
    bare,
    canvas,
    cell,
    label,
)


def plot_exchange(stores, loads, barrier=True, ax=None):
    """The cell of a shared array that each thread stores to, and the one it loads.

    `stores` and `loads` hold a cell for each thread, or None; `barrier` is drawn
    between them.
    """
    cells = 1 + max(it for it in [*stores, *loads] if it is not None)
    across = max(len(stores), len(loads), cells)
    refuse_too_many(across)
    with canvas(ax, 0.2 + 6.6 * ROW_INCHES, width_for(across)) as ax:
        for row, (who, colour) in enumerate(zip((stores, loads), COLOURS, strict=True)):
            draw_threads(ax, who, 4.4 * row, 2.2, colour)
        for place in range(cells):
            cell(ax, place, 2.2, str(place), style.PLAIN, share=0.15)
        if barrier:
            ends = {"color": style.INK, "linewidth": 1.2, "linestyle": (0, (4, 3))}
            ax.plot([0, across], [3.8, 3.8], **ends)
            label(ax, across, 3.8, "barrier", (4, 0), ha="left", fontsize=style.SMALL)
        finish(ax, across, 5.4, {0: "stores", 2.2: "cell", 4.4: "loads"})
    return Picture(ax.figure, exchange_of(stores, loads, barrier))


COLOURS = style.STORE, style.LOAD


def draw_threads(ax, cells, top, at, colour):
    """Draw a row of threads, each with a line to its cell."""
    near = (top + 1, at) if top < at else (top, at + 1)
    for thread, it in enumerate(cells):
        cell(ax, thread, top, str(thread), colour if it is not None else style.IDLE)
        if it is not None:
            ends = [thread + 0.5, it + 0.5], near
            ax.plot(*ends, color=colour, linewidth=1.1, zorder=0)


def exchange_of(stores, loads, barrier):
    """Who stores and loads where, in words."""
    steps = []
    for what, cells in (("Stores", stores), ("loads", loads)):
        pairs = [f"{t} → {it}" for t, it in enumerate(cells) if it is not None]
        steps.append(f"{what}, thread → cell: {', '.join(pairs)}")
    return f"{steps[0]}; {'then a barrier; ' * barrier}{steps[1]}."


def plot_halo(blocks, threads, radius, ax=None):
    """The elements that each block of a stencil loads: its own, and a halo around them.

    Below the elements is the tile of each block; the number in a cell is the thread
    that brings it, where cell `k` is brought by thread `k % threads`.
    """
    n = blocks * threads
    across = n + 2 * radius
    refuse_too_many(across)
    with canvas(ax, 0.4 + (2.2 + 1.3 * blocks) * ROW_INCHES, width_for(across)) as ax:
        for place in range(across):
            inside = radius <= place < n + radius
            text, colour = (place - radius, style.PLAIN) if inside else ("", style.IDLE)
            dark = inside and (place - radius) // threads % 2 == 0
            cell(ax, place, 0, str(text), colour, share=0.45 if dark else 0.15)
        for block in range(blocks):
            draw_tile(ax, block, threads, radius)
        rows = {1.6 + 1.3 * block: f"tile of block {block}" for block in range(blocks)}
        finish(ax, across, 1.6 + 1.3 * blocks, {0: "element"} | rows)
        note = "number: the thread that brings it; blue, at both ends: the halo"
        label(ax, 0, 1, note, (0, -8), ha="left", fontsize=style.SMALL)
    shared = 2 * radius * (blocks - 1)
    return Picture(
        ax.figure,
        f"{counted(blocks, 'block')} of {counted(threads, 'thread')}: each brings its "
        f"own {threads} elements and a halo of {radius} on each side into its tile; "
        f"{counted(shared, 'element')} are in two tiles.",
    )


def draw_tile(ax, block, threads, radius):
    """Draw the cells of a block's tile under the elements that they hold."""
    width = threads + 2 * radius
    for place in range(width):
        own = radius <= place < width - radius
        colour = style.PLAIN if own else style.LOAD
        share = (0.45, 0.15)[block % 2] if own else 0.5
        left = block * threads + place
        cell(ax, left, 1.6 + 1.3 * block, str(place % threads), colour, share=share)


def plot_tree(steps, cells, ax=None):
    """How the threads of a block add up the cells of a shared array, step by step.

    A step holds, for each thread that adds, {thread: (cell, the cell it adds to that)}.
    The number in a box is the thread that stores there.
    """
    refuse_too_many(cells)
    down = 1 + TREE_ROWS * len(steps)
    with canvas(ax, 0.2 + (down + 1.2) * ROW_INCHES, width_for(cells)) as ax:
        for place in range(cells):
            cell(ax, place, 0, str(place), style.STORE)
        for turn, step in enumerate(steps, start=1):
            draw_sums(ax, step, TREE_ROWS * turn, cells)
        names = ["loaded"] + [f"step {turn}" for turn in range(1, len(steps) + 1)]
        finish(ax, cells, down, {TREE_ROWS * row: it for row, it in enumerate(names)})
        note = "number: the thread that stores to the cell"
        label(ax, 0, down, note, (0, -9), ha="left", fontsize=style.SMALL)
    return Picture(ax.figure, tree_of(steps, cells))


TREE_ROWS = 1.9  # from one step to the next


def draw_sums(ax, step, top, cells):
    """Draw the cells after a step, with lines from the two that were added."""
    stored = {into: (thread, other) for thread, (into, other) in step.items()}
    for place in range(cells):
        if place not in stored:
            cell(ax, place, top, "", style.IDLE, share=0.1)
            continue
        thread, other = stored[place]
        cell(ax, place, top, str(thread), style.STORE)
        for source in (place, other):
            ends = [source + 0.5, place + 0.5], (top - TREE_ROWS + 1, top)
            ax.plot(*ends, color=style.LOAD, linewidth=1.1, zorder=0)


def tree_of(steps, cells):
    """Who adds what to what, in words."""
    told = [
        ", ".join(f"thread {t} adds cell {b} to {a}" for t, (a, b) in step.items())
        for step in steps
    ]
    numbered = [f"step {turn}: {it}" for turn, it in enumerate(told, start=1)]
    return f"{counted(cells, 'cell')}; {'; '.join(numbered)}."


def finish(ax, across, down, rows):
    """Count rows downwards, with the names given to them."""
    bare(ax)
    ax.set(xlim=(-0.1, across + 0.1), ylim=(down + 0.1, -0.1))
    ax.set_yticks([row + 0.5 for row in rows], rows.values())


def plot_strip_walk(row, side=11, made=4, ax=None):
    """The rows of sums to which a thread adds a row of pixels, walking down a strip.

    Each of `side` rows of `made` sums has in it as many rows of products as its number
    says, once this row is added; the first is complete.
    """
    needed = made + side - 1
    with canvas(ax, 0.5 + (side + 1.6) * ROW_INCHES, width_for(needed + 4)) as ax:
        for col in range(needed):
            cell(ax, col, 0, "", style.LOAD)
        for i in range(side):
            colour = style.STORE if i == 0 else style.PLAIN
            for col in range(made):
                cell(ax, col, 1.6 + i, str(side - i), colour)
        beside = {"ha": "left", "fontsize": style.SMALL}
        label(ax, made, 2.1, "complete: stored", (6, 0), **beside)
        rows = {1.6 + i: f"sums of row {row - side + 1 + i}" for i in range(side)}
        finish(ax, needed, side + 1.6, {0: f"row {row} of pixels"} | rows)
    first = row - side + 1
    return Picture(
        ax.figure,
        f"{counted(needed, 'pixel')} of row {row} go into {side} rows of {made} sums: "
        f"those of row {first}, which are complete, to those of row {row}, which have "
        f"one row of products.",
    )
