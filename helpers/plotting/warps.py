"""Which threads of a block are a warp, and which of its lanes take part in a line, or
in an instruction that is issued for one of several warps.
"""

from helpers.plotting.boxes import (
    ROW_INCHES,
    SHARES,
    board,
    fill_row,
    in_monospace,
    refuse_too_many,
)
from thirty_two_lanes.core import style
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, cell, note

BETWEEN = 3  # columns, between two warps


def plot_warps(threads, ax=None):
    """The threads of a block, numbered by lane; `threads` is a number or (x, y).

    A block of one axis is drawn warp by warp, one of two axes as it is addressed.
    """
    flat = isinstance(threads, int)
    width, height = (WARP_SIZE, -(-threads // WARP_SIZE)) if flat else threads
    refuse_too_many(max(width, height))
    count = threads if flat else width * height
    warps = -(-count // WARP_SIZE)
    size = 0.75 + ROW_INCHES * height, width, height
    with board(ax, *size, width=1.6 + 0.2 * width) as ax:
        for thread in range(count):
            row, col = divmod(thread, width)
            warp, lane = divmod(thread, WARP_SIZE)
            cell(ax, col, row, str(lane), style.PLAIN, share=SHARES[warp % 2])
        for warp in range(warps):
            row = warp * WARP_SIZE // width
            note(ax, width, row + 0.5, f"warp {warp}", (6, 0), ha="left")
        if not flat:
            ax.set_xticks([x + 0.5 for x in range(width)], range(width))
            ax.set_yticks([y + 0.5 for y in range(height)], range(height))
            ax.tick_params(labelsize=style.SMALL)
            ax.set(xlabel="x", ylabel="y")
    block = counted(count, "thread") if flat else f"{width} × {height} threads (x × y)"
    return Picture(ax.figure, f"A block of {block}: {fill_of(count, warps)}.")


def fill_of(count, warps):
    """How full the warps of a block are, in words."""
    last = count - (warps - 1) * WARP_SIZE
    if last == WARP_SIZE:
        return f"{counted(warps, 'warp')}, all full"
    return f"{counted(warps, 'warp')}, the last with {counted(last, 'lane')} of 32"


def plot_lanes(lines, ax=None):
    """The lanes of a warp that take part in each line: {text: 32 truth values}."""
    size = 0.75 + ROW_INCHES * len(lines), WARP_SIZE, len(lines)
    with board(ax, *size, width=2.6 + 0.185 * WARP_SIZE) as ax:
        for row, active in enumerate(lines.values()):
            fill_row(ax, row, lanes_of(active, range(WARP_SIZE)))
        in_monospace(ax, lines)
        text = "numbered: takes part; dotted: waits"
        note(ax, WARP_SIZE, 0, text, (0, 6), ha="right")
    busy = {it.strip(): sum(map(bool, active)) for it, active in lines.items()}
    shares = [f"`{it}` {lanes}" for it, lanes in busy.items()]
    share = sum(busy.values()) / (WARP_SIZE * len(lines))
    sentence = f"Lanes of 32 that take part: {', '.join(shares)}"
    return Picture(ax.figure, f"{sentence}; {share:.0%} of all.")


def lanes_of(active, texts):
    """The boxes of a warp's lanes, with a text where one takes part."""
    for here, text in zip(active, texts, strict=True):
        yield (text, style.PLAIN, 0.45) if here else ("", style.IDLE, 0.15)


def plot_issues(issued, ax=None):
    """Instructions that warps issue in turn, each as (warp, text, 32 truth values): a
    lane takes part where its value is true.
    """
    warps = sorted({warp for warp, _, _ in issued})
    step = WARP_SIZE + BETWEEN
    across = len(warps) * step - BETWEEN
    size = 0.6 + ROW_INCHES * len(issued), across, len(issued)
    with board(ax, *size, width=2.3 + 0.085 * across, margin=0.2) as ax:
        for row, (warp, _, active) in enumerate(issued):
            boxes = lanes_of(active, [""] * WARP_SIZE)
            fill_row(ax, row, boxes, warps.index(warp) * step)
        for column, warp in enumerate(warps):
            note(ax, column * step + WARP_SIZE / 2, 0, f"warp {warp}", (0, 8))
        in_monospace(ax, [text for _, text, _ in issued])
        ax.set_ylabel("← time")
    rows = (
        f"warp {warp} `{text.strip()}` for {sum(map(bool, active))} lanes"
        for warp, text, active in issued
    )
    return Picture(ax.figure, f"Issued one after the other: {', '.join(rows)}.")
