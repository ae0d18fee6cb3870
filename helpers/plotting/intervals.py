"""What each thread of a block does between barriers, and which cells are in a race."""

from helpers.core import style
from helpers.plotting.picture import Picture, bare, canvas, cell, counted, label

ROW_INCHES = 0.27
BOX_INCHES = 0.62
GAP = 0.5  # between two intervals, in boxes


def plot_intervals(intervals, shown=None, ax=None):
    """The accesses of each thread, interval by interval, with barriers between them.

    An interval holds, thread by thread, a list of ("load", cell) and ("store", cell).
    A cell that two threads touch in one interval, one of them with a store, is in a
    race. Of the intervals only the first `shown` are filled in.
    """
    shown = len(intervals) if shown is None else shown
    threads = max(map(len, intervals))
    widths = [max(1, *map(len, interval)) for interval in intervals]
    across = sum(widths) + GAP * (len(widths) - 1)
    size = 0.75 + ROW_INCHES * threads, 1.2 + BOX_INCHES * max(across, 4)
    with canvas(ax, *size) as ax:
        left = 0
        for turn, (interval, width) in enumerate(zip(intervals, widths, strict=True)):
            if turn:
                draw_barrier(ax, left - GAP / 2, threads)
            name = f"interval {turn}"
            middle = left + width / 2
            label(ax, middle, threads, name, (0, -10), fontsize=style.SMALL)
            if turn < shown:
                draw_interval(ax, left, interval)
            left += width + GAP
        bare(ax)
        ax.set(xlim=(-0.1, across + 0.1), ylim=(threads + 0.1, -0.1))
        ax.set_yticks([row + 0.5 for row in range(threads)], range(threads))
        ax.set_ylabel("thread")
    described = [words_of(turn, it) for turn, it in enumerate(intervals[:shown])]
    alt = f"{counted(threads, 'thread')}: {'; then a barrier; '.join(described)}."
    return Picture(ax.figure, alt)


def draw_barrier(ax, left, threads):
    """Draw the line that all threads of the block wait at."""
    ends = {"color": style.INK, "linewidth": 1.2, "linestyle": (0, (4, 3))}
    ax.plot([left, left], [0, threads], **ends)
    label(ax, left, 0, "barrier", (0, 7), fontsize=style.SMALL)


def draw_interval(ax, left, interval):
    """Draw a box for each access of each thread, in the thread's own order."""
    racing = racing_cells(interval)
    for thread, accesses in enumerate(interval):
        for turn, (kind, place) in enumerate(accesses):
            colour = style.CONFLICT if place in racing else style.KINDS[kind]
            text = f"{kind} {place}"
            cell(ax, left + turn, thread, text, colour, fontsize=style.SMALL)


def racing_cells(interval):
    """The cells that two threads touch, one of them with a store."""
    touched, stored = {}, set()
    for thread, accesses in enumerate(interval):
        for kind, place in accesses:
            touched.setdefault(place, set()).add(thread)
            if kind == "store":
                stored.add(place)
    return {it for it in stored if len(touched[it]) > 1}


def words_of(turn, interval):
    """What an interval holds, in words."""
    kinds = [kind for accesses in interval for kind, _ in accesses]
    parts = [
        counted(kinds.count(kind), kind) for kind in ("store", "load") if kind in kinds
    ]
    racing = len(racing_cells(interval))
    verdict = f"{counted(racing, 'cell')} in a race" if racing else "no race"
    return f"interval {turn}: {' and '.join(parts) or 'nothing'}, {verdict}"
