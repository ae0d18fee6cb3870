"""What each thread of a block does between barriers: races, and the steps of a scan and
of a sort.
"""

from helpers.plotting.boxes import (
    DASHES,
    ROW_INCHES,
    board,
    fill_row,
    join,
    refuse_too_many,
)
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, cell, note

BOX_INCHES = 0.62
GAP = 0.5  # between two intervals, in boxes
SHADES = 0.06, 0.45  # of groups of keys by turns


def plot_intervals(intervals, shown=None, ax=None):
    """The accesses of each thread, interval by interval, with barriers between them.

    An interval holds, thread by thread, a list of ("load", cell) and ("store", cell).
    A cell that two threads touch in one interval, one of them with a store, is in a
    race, and the accesses of one such cell are framed. Of the intervals only the first
    `shown` are filled in.
    """
    shown = len(intervals) if shown is None else shown
    threads = max(map(len, intervals))
    widths = [max(1, *map(len, interval)) for interval in intervals]
    across = sum(widths) + GAP * (len(widths) - 1)
    rows = {thread: thread for thread in range(threads)}
    size = 0.75 + ROW_INCHES * threads, across, threads, rows
    with board(ax, *size, 1.2 + BOX_INCHES * max(across, 4)) as ax:
        left = 0
        for turn, (interval, width) in enumerate(zip(intervals, widths, strict=True)):
            if turn:
                draw_barrier(ax, left - GAP / 2, threads)
            note(ax, left + width / 2, threads, f"interval {turn}", (0, -10))
            if turn < shown:
                draw_interval(ax, left, interval)
            left += width + GAP
        ax.set_ylabel("thread")
    described = [words_of(turn, it) for turn, it in enumerate(intervals[:shown])]
    alt = f"{counted(threads, 'thread')}: {'; then a barrier; '.join(described)}."
    return Picture(ax.figure, alt)


def draw_barrier(ax, left, threads):
    """Draw the line that all threads of the block wait at."""
    ax.plot([left, left], [0, threads], **DASHES)
    note(ax, left, 0, "barrier", (0, 7))


def draw_interval(ax, left, interval):
    """Draw a box for each access of each thread, in the thread's own order; hatched
    where it is in a race, and framed if that is about the interval's example.
    """
    racing, example = racing_cells(interval), example_of(interval)
    for thread, accesses in enumerate(interval):
        for turn, (kind, position) in enumerate(accesses):
            plain = style.KINDS[kind]
            colour = style.CONFLICT if position in racing else plain
            look = {"ground": plain, "fontsize": style.SMALL}
            cell(ax, left + turn, thread, f"{kind} {position}", colour, **look)
            if position == example:
                frame(ax, left + turn, thread)


def frame(ax, left, top):
    """Draw a heavy line around a box."""
    from matplotlib.patches import Rectangle

    look = {"fill": False, "edgecolor": style.INK, "linewidth": 2, "zorder": 3}
    ax.add_patch(Rectangle((left, top), 1, 1, in_layout=False, **look))


def threads_of(interval, position):
    """The threads that touch a cell."""
    touched = ({cell for _, cell in accesses} for accesses in interval)
    return [thread for thread, cells in enumerate(touched) if position in cells]


def example_of(interval):
    """Of the cells in a race, the first whose threads are the nearest; or None."""

    def apart(position):
        threads = threads_of(interval, position)
        return threads[-1] - threads[0], position

    return min(racing_cells(interval), key=apart, default=None)


def racing_cells(interval):
    """The cells that two threads touch, one of them with a store."""
    touched, stored = {}, set()
    for thread, accesses in enumerate(interval):
        for kind, position in accesses:
            touched.setdefault(position, set()).add(thread)
            if kind == "store":
                stored.add(position)
    return {it for it in stored if len(touched[it]) > 1}


def words_of(turn, interval):
    """What an interval holds, in words."""
    kinds = [kind for accesses in interval for kind, _ in accesses]
    parts = [
        counted(kinds.count(kind), kind) for kind in ("store", "load") if kind in kinds
    ]
    racing, verdict = len(racing_cells(interval)), "no race"
    if racing:
        example = example_of(interval)
        threads = " and ".join(map(str, threads_of(interval, example)))
        verdict = f"{counted(racing, 'cell')} in a race, such as {example} of threads "
        verdict += threads
    return f"interval {turn}: {' and '.join(parts) or 'nothing'}, {verdict}"


def plot_scan(elements, steps, ax=None):
    """What the cells of a scan hold, step by step, and which cell is added to which.

    A step lists (source, target) pairs: the sum in the source is added to the sum in
    the target, which must begin where the source's ends. `0–3` is the sum of elements 0
    to 3; sums that begin at element 0 are ready.
    """
    refuse_too_many(elements)
    rows = {0: "elements"} | {2 * it: f"step {it}" for it in range(1, len(steps) + 1)}
    size = 0.3 + 2 * ROW_INCHES * (len(steps) + 1), elements, 2 * len(steps) + 1
    with board(ax, *size, rows) as ax:
        held = [(at, at) for at in range(elements)]
        draw_sums(ax, held, 0)
        for turn, step in enumerate(steps):
            held = added(held, step)
            draw_sums(ax, held, 2 * (turn + 1), {target for _, target in step})
            for source, target in step:
                rows = 2 * turn + 1, 2 * turn + 2
                join(ax, (source, target), rows, style.STORE)
    return Picture(ax.figure, scan_of(held, steps))


def added(held, step):
    """The first and last element of each cell's sum after a step."""
    after = list(held)
    for source, target in step:
        if held[source][1] + 1 != held[target][0]:
            text = f"cell {source} does not end where cell {target} begins"
            raise ArgumentError(text)
        after[target] = held[source][0], held[target][1]
    return after


def draw_sums(ax, held, top, changed=()):
    """Draw a row of cells with what each holds."""
    boxes = (
        (
            last if first == last else f"{first}–{last}",
            style.STORE if at in changed else style.PLAIN,
            0.45 if first == 0 else 0.12,
        )
        for at, (first, last) in enumerate(held)
    )
    fill_row(ax, top, boxes)


def scan_of(held, steps):
    """How many sums each step adds, and how many are ready, in words."""
    counts = ", ".join(str(len(step)) for step in steps)
    ready = sum(first == 0 for first, _ in held)
    return (
        f"A scan of {counted(len(held), 'element')} in {counted(len(steps), 'step')}, "
        f"with {counts} additions; then {ready} cells hold the sum of all elements up "
        "to theirs."
    )


# ---------------------------------------------------------------- keys that move


def plot_orders(orders, names=None, groups=None, ax=None):
    """Keys in rows, one row for each step, with a line from each place to the next.

    `orders` has the keys, no two of them equal, in the order after each step. `names`
    are the rows', and `groups`, for each row, what a key is grouped by, such as a
    digit: groups by turns are light and dark.
    """
    keys = sorted(orders[0])
    if len(set(keys)) < len(keys) or any(sorted(it) != keys for it in orders):
        raise ArgumentError("each row has the same keys, no two of them equal")
    refuse_too_many(len(keys))
    names = names or [f"step {turn}" for turn in range(len(orders))]
    rows = {2 * turn: name for turn, name in enumerate(names)}
    size = 0.3 + 2 * ROW_INCHES * len(orders), len(keys), 2 * len(orders) - 1
    with board(ax, *size, rows) as ax:
        for turn, order in enumerate(orders):
            shares = shares_of(order, groups[turn] if groups else None)
            boxes = zip(order, [style.STORE] * len(order), shares, strict=True)
            fill_row(ax, 2 * turn, boxes)
            for place, key in enumerate(order if turn else ()):
                before = orders[turn - 1].index(key)
                join(ax, (before, place), (2 * turn - 1, 2 * turn), style.STORE)
    return Picture(ax.figure, said_of(orders, names))


def shares_of(order, group):
    """Light and dark by turns, where the group changes; all light without groups."""
    found, dark = [], False
    for place, key in enumerate(order):
        if group and place:
            dark ^= group(key) != group(order[place - 1])
        found.append(SHADES[dark])
    return found


def said_of(orders, names):
    """The keys of each row, in words."""
    rows = "; ".join(
        f"{name}: {', '.join(map(str, order))}"
        for name, order in zip(names, orders, strict=True)
    )
    return f"The order of {counted(len(orders[0]), 'key')}: {rows}."
