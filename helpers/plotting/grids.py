"""Which thread of a grid takes which element, at once or in rounds, and who is left
over; which block which tile; where blocks run, and how long in waves.
"""

from heapq import heapify, heapreplace

from helpers.plotting.bars import NAN, known, listed, present
from helpers.plotting.boxes import (
    DASHES,
    ROW_INCHES,
    SHARES,
    board,
    refuse_too_many,
    width_for,
)
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.words import counted, ranges
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, label, note

GAP = 0.5  # rows, between two multiprocessors
BESIDE = 5  # boxes, between two squares: room for the rounds' names
STRONG = 0.7  # of the colour of a thread's own elements


def plot_grid(blocks, threads, n, ax=None):
    """The threads of a 1-D grid, block by block, above the `n` elements they take."""
    total = blocks * threads
    across = max(total, n)
    refuse_too_many(across)
    rows = {0: "thread", 2: "element"}
    with board(ax, 0.3 + 4 * ROW_INCHES, across, 3, rows) as ax:
        draw_threads(ax, blocks, threads, n)
        for spot in range(n):
            colour = style.PLAIN if spot < total else style.CONFLICT
            box(ax, spot, 2, spot, spot // threads, colour)
        for spot in range(min(n, total)):
            ax.plot([spot + 0.5] * 2, [1, 2], color=style.PLAIN, linewidth=0.8)
        if n != total:
            who, row = ("no element", 2.5) if n < total else ("no thread", 0.5)
            note(ax, (n + total) / 2, row, who)
    rest = leftover(max(total - n, 0), max(n - total, 0))
    return Picture(ax.figure, f"{grid_of(blocks, threads, n)}: {rest}.")


def plot_grid_stride(blocks, threads, n, ax=None):
    """The elements that each thread of a 1-D grid takes, round by round."""
    total = blocks * threads
    rounds = max(1, -(-n // total))
    refuse_too_many(max(total, rounds))
    rows = {0: "thread"} | {1.5 + it: f"round {it + 1}" for it in range(rounds)}
    size = 0.3 + (2.5 + rounds) * ROW_INCHES
    with board(ax, size, total, 1.5 + rounds, rows) as ax:
        draw_threads(ax, blocks, threads, n)
        for spot in range(rounds * total):
            turn, thread = divmod(spot, total)
            text, colour = (spot, style.PLAIN) if spot < n else ("", style.IDLE)
            box(ax, thread, 1.5 + turn, text, thread // threads, colour)
    what = f"{grid_of(blocks, threads, n)}, {counted(rounds, 'round')}"
    rest = leftover(rounds * total - n, 0)
    return Picture(ax.figure, f"{what}: in the last, {rest}.")


def plot_grid_2d(blocks, threads, shape, ax=None):
    """The thread for each element of a matrix: x goes to the column, y to the row.

    `blocks` and `threads` are (x, y) as in a launch; `shape` is (rows, cols).
    """
    rows, cols = shape
    width, height = blocks[0] * threads[0], blocks[1] * threads[1]
    across, down = max(width, cols), max(height, rows)
    refuse_too_many(max(across, down))
    names = {row: row for row in range(rows)}
    size = 0.9 + ROW_INCHES * down, across, down, names, 1.1 + 0.4 * across
    with board(ax, *size) as ax:
        draw_matrix(ax, threads, (height, width), shape)
        label_blocks(ax, blocks, threads)
        ax.set_xticks([col + 0.5 for col in range(cols)], range(cols))
        ax.set(xlabel="column", ylabel="row")
    both = min(rows, height) * min(cols, width)
    rest = leftover(width * height - both, rows * cols - both)
    matrix = f"{counted(rows, 'row')} and {counted(cols, 'column')}"
    grid = f"{blocks[0]} × {blocks[1]} blocks of {threads[0]} × {threads[1]} threads"
    return Picture(ax.figure, f"{grid} (x × y), {matrix}: {rest}.")


def draw_threads(ax, blocks, threads, n):
    """Draw the threads of each block, numbered as the block numbers them."""
    for block in range(blocks):
        middle = (block + 0.5) * threads
        note(ax, middle, 0, f"block {block}", (0, 8))
        for thread in range(threads):
            spot = block * threads + thread
            box(ax, spot, 0, thread, block, style.PLAIN if spot < n else style.IDLE)


def draw_matrix(ax, threads, covered, shape):
    """Draw a box for each thread, with its x and y, and each element without one."""
    for row in range(max(covered[0], shape[0])):
        for col in range(max(covered[1], shape[1])):
            block_x, x = divmod(col, threads[0])
            block_y, y = divmod(row, threads[1])
            has_thread = row < covered[0] and col < covered[1]
            has_element = row < shape[0] and col < shape[1]
            if has_thread:
                colour = style.PLAIN if has_element else style.IDLE
                box(ax, col, row, f"{x}, {y}", block_x + block_y, colour)
            elif has_element:
                box(ax, col, row, "", 0, style.CONFLICT)


def box(ax, left, top, text, block, colour):
    """Draw a thread or an element: blocks take turns in dark and light."""
    share = SHARES[block % 2] if colour == style.PLAIN else 0.25
    cell(ax, left, top, str(text), colour, share=share)


def label_blocks(ax, blocks, threads):
    """Name the blocks of a 2-D grid above their columns and right of their rows."""
    for block in range(blocks[0]):
        note(ax, (block + 0.5) * threads[0], 0, f"block x = {block}", (0, 8))
    for block in range(blocks[1]):
        at = blocks[0] * threads[0], (block + 0.5) * threads[1]
        note(ax, *at, f"block y = {block}", (6, 0), ha="left")


def grid_of(blocks, threads, n):
    """The sizes of a 1-D grid, in words."""
    grid = f"{counted(blocks, 'block')} of {counted(threads, 'thread')}"
    return f"{grid}, {counted(n, 'element')}"


def leftover(idle, missing):
    """Who is left over, in words."""
    threads = f"{counted(idle, 'thread')} without an element"
    elements = f"{counted(missing, 'element')} without a thread"
    parts = [threads] * (idle > 0) + [elements] * (missing > 0)
    return " and ".join(parts) or "each thread has its element"


def plot_schedule(lengths, multiprocessors, places=2, ax=None):
    """Blocks on multiprocessors over time, as {block: how long it takes}, in the order
    in which they are handed out; each multiprocessor has places for some at a time.
    """
    rows = schedule(lengths, multiprocessors, places)
    down = multiprocessors * (places + GAP)
    end = max(start + lengths[block] for _, start, block in rows)
    refuse_too_many(max(down, end))
    with canvas(ax, 0.55 + ROW_INCHES * down) as ax:
        for row, start, block in rows:
            owner = row // places
            top, share = row + GAP * owner, SHARES[owner % 2]
            text = f"block {block}"
            cell(ax, start, top, text, style.PLAIN, lengths[block], share=share)
        for owner in range(multiprocessors):
            at = owner * (places + GAP) + places / 2
            note(ax, 0, at, f"multiprocessor {owner}", (-6, 0), ha="right")
        bare(ax)
        ax.set(xlim=(-0.05, end + 0.05), ylim=(down - GAP + 0.1, -0.1))
        ax.set_xlabel("time →")
    return Picture(ax.figure, schedule_of(rows, len(lengths), multiprocessors, places))


def schedule(lengths, multiprocessors, places):
    """Each block's row, start and number: the first free place takes the next."""
    # all multiprocessors get a first block before any gets a second
    first = sorted(range(multiprocessors * places), key=lambda row: row % places)
    free = [(0, turn, row) for turn, row in enumerate(first)]
    heapify(free)
    rows = []
    for block, length in lengths.items():
        start, turn, row = free[0]
        rows.append((row, start, block))
        heapreplace(free, (start + length, turn, row))
    return rows


def schedule_of(rows, blocks, multiprocessors, places):
    """Which multiprocessor runs which blocks, in words."""
    parts = []
    for owner in range(multiprocessors):
        mine = [str(block) for row, _, block in rows if row // places == owner]
        parts.append(f"multiprocessor {owner} runs {', '.join(mine) or 'none'}")
    return (
        f"{counted(blocks, 'block')} on {counted(multiprocessors, 'multiprocessor')}, "
        f"at most {places} at a time on each: {'; '.join(parts)}."
    )


def plot_look_back(known, lanes, ax=None):
    """What the next tile of a scan finds when its warp looks back at all before it.

    `known` has "prefix", "sum" or "" for each of them; the warp asks for as many at
    once as it has `lanes`, until one of them has its prefix.
    """
    tiles = len(known)
    refuse_too_many(tiles + 1)
    windows = looks(known, lanes)
    nearest = max((at for at, it in enumerate(known) if it == "prefix"), default=0)
    rows = {0: "tile", 1: "has"}
    rows |= {2.2 + 1.5 * turn: f"look {turn + 1}" for turn in range(len(windows))}
    size = 0.35 + (1.6 + len(windows)) * 2 * ROW_INCHES
    down = 2.2 + 1.5 * len(windows)
    with board(ax, size, tiles + 1, down, rows, width_for(tiles)) as ax:
        for tile, what in enumerate([*known, "looks"]):
            colour, share, text = KNOWN[what]
            cell(ax, tile, 0, str(tile), colour, share=share)
            note(ax, tile + 0.5, 1.5, text)
        for turn, (first, last) in enumerate(windows):
            for tile in range(first, last):
                text = "+" if tile >= nearest else ""
                cell(ax, tile, 2.2 + 1.5 * turn, text, style.LOAD, share=0.15)
    return Picture(ax.figure, look_back_of(known, windows, nearest))


KNOWN = {  # colour, share of it, and what stands below a tile
    "prefix": (style.STORE, 0.45, "prefix"),
    "sum": (style.PLAIN, 0.3, "sum"),
    "": (style.IDLE, 0.15, "nothing"),
    "looks": (style.LOAD, 0.45, "looks"),
}


def looks(known, lanes):
    """The tiles that a warp asks for at a time, (first, end), nearest first."""
    found, end = [], len(known)
    while end > 0:
        first = max(0, end - lanes)
        found.append((first, end))
        if "prefix" in known[first:end]:
            break
        end = first
    return found


def look_back_of(known, windows, nearest):
    """What the warp reads and adds, in words."""
    asked = "; ".join(f"tiles {first} to {end - 1}" for first, end in windows)
    return (
        f"Tile {len(known)} looks at {asked}. It adds the prefix of tile {nearest} and "
        f"the sums of {counted(len(known) - 1 - nearest, 'tile')} after it."
    )


# ---------------------------------------------------------------- waves of blocks


def plot_waves(sizes, times_us=None, ends=None, xlabel="columns", ax=None):
    """The time by the size of a problem, which goes in steps.

    `ends` is {name: the largest size whose blocks fit}, drawn as lines.

    Where nothing was measured `times_us` is None or holds NaN.
    """
    times, ends = known(times_us) or [NAN] * len(sizes), ends or {}
    measured = present(times)
    top = 1.25 * max(measured, default=1)
    with canvas(ax, 3) as ax:
        dots = {"marker": "D", "markersize": 5, "color": style.MEASURED}
        ax.plot(sizes, times, linestyle="", **dots)
        for name, end in ends.items():
            ax.axvline(end + 0.5, **DASHES)
            text = f"{name}: {end:,} {xlabel}"
            note(ax, end, top, text, (-4, 0), ha="right", va="top")
        if not measured:
            label(ax, 0.5, 0.5, "not measured", xycoords="axes fraction")
        ax.set(ylim=(0, top), xlabel=xlabel, ylabel="time, µs")
        ax.xaxis.set_major_formatter("{x:,.0f}")
    parts = [listed(times, sizes, "{:,.1f} µs", "{} for {:,}")]
    parts += [f"{name}: up to {end:,}" for name, end in ends.items()]
    return Picture(ax.figure, f"Times by {xlabel}: {'; '.join(parts)}.")


# ---------------------------------------------------------------- in rounds, in order


def plot_rounds(tile=8, high=2, thread=(3, 1), ax=None):
    """A square of elements, taken by a block of as many threads, and by one of fewer.

    An element has the number of the row of threads, a warp, that takes it; strong are
    those of one `thread`, (x, y). The second block has `high` rows of threads.
    """
    refuse_uneven(tile, high, thread)
    across = 2 * tile + 2 * BESIDE
    refuse_too_many(across)
    with board(ax, 0.5 + ROW_INCHES * (tile + 1), across, tile, margin=0.3) as ax:
        for start, rows in (0, tile), (tile + BESIDE, high):
            draw_square(ax, start, tile, rows, thread)
        ax.set(ylim=(tile + 0.1, -1))
    mine = ranges(range(thread[1], tile, high))
    return Picture(
        ax.figure,
        f"A square of {tile} × {tile} elements. A block of {tile} × {tile} threads "
        f"takes all of it at once, each thread one element. A block of {tile} × {high} "
        f"threads takes it in {counted(tile // high, 'round')} of "
        f"{counted(high, 'row')}: its thread {thread} has those of column {thread[0]} "
        f"in rows {mine}.",
    )


def refuse_uneven(tile, high, thread):
    """Raise where rounds leave rows over, or where the block lacks the thread."""
    if high < 1 or tile % high:
        raise ArgumentError(
            f"{high} rows of threads do not fill a square of {tile} rows in whole "
            "rounds: give a `high` that divides `tile`"
        )
    if not (0 <= thread[0] < tile and 0 <= thread[1] < high):
        raise ArgumentError(
            f"a block of {tile} × {high} threads has no thread {thread}: give an x "
            f"below {tile} and a y below {high}"
        )


def draw_square(ax, start, tile, rows, thread):
    """Draw the elements, the number of the row of threads in each, and the rounds."""
    text = f"a block of {tile} × {rows} threads"
    label(ax, start, 0, text, (0, 5), ha="left", va="bottom", fontweight="bold")
    for row in range(tile):
        share = SHARES[row // rows % 2]
        for col in range(tile):
            own = (col, row % rows) == thread
            colour = style.LOAD if own else style.PLAIN
            text = str(row % rows)
            cell(ax, start + col, row, text, colour, share=STRONG if own else share)
    for number in range(tile // rows):
        middle = rows * (number + 0.5)
        text = f"round {number}"
        note(ax, start + tile, middle, text, (6, 0), ha="left")


def plot_tile_order(shape=(4, 6), running=8, down=False, ax=None):
    """The tiles of a transpose, in src and in dst, with the number of each one's block.

    `shape` counts the tiles of src. Strong are those of the first blocks, which are
    `running` at one time. Blocks are numbered along a row of tiles of src, or `down` a
    column.
    """
    rows, cols = shape
    across, high = cols + BESIDE + rows, max(rows, cols)
    refuse_too_many(across)
    order = {at: number for number, at in enumerate(tiles_of(rows, cols, down))}
    turned = {(col, row): number for (row, col), number in order.items()}
    with board(ax, 0.7 + ROW_INCHES * high, across, high, margin=0.3) as ax:
        draw_tiles(ax, 0, "src, by tiles", order, running, style.LOAD)
        draw_tiles(ax, cols + BESIDE, "dst, by tiles", turned, running, style.STORE)
        text = f"strong: the blocks 0 to {running - 1}, which run at one time"
        note(ax, 0, high + 0.3, text, ha="left", va="top")
        ax.set(ylim=(high + 1, -1))
    along, across = ("column", "row") if down else ("row", "column")
    return Picture(
        ax.figure,
        f"A matrix of {rows} × {cols} tiles. Blocks take them {along} by {along} of "
        f"src, so those that run at one time load from tiles of a {along} of src and "
        f"store to tiles of a {across} of dst: block 1 loads tile "
        f"{place_of(order, 1)} and stores tile {place_of(turned, 1)}.",
    )


def tiles_of(rows, cols, down):
    """The tiles of src as (row, column), in the order of their blocks."""
    if down:
        return [(row, col) for col in range(cols) for row in range(rows)]
    return [(row, col) for row in range(rows) for col in range(cols)]


def place_of(order, number):
    """The (row, column) of a block's tile."""
    return next(at for at, block in order.items() if block == number)


def draw_tiles(ax, start, name, order, running, colour):
    """Draw the tiles of a matrix with their blocks' numbers."""
    label(ax, start, 0, name, (0, 5), ha="left", va="bottom", fontweight="bold")
    for (row, col), number in order.items():
        now = number < running
        hue, share = (colour, 0.5) if now else (style.PLAIN, 0.15)
        cell(ax, start + col, row, str(number), hue, share=share)
