"""Which threads of a block are a warp, and which of its lanes take part in a line, or
in an instruction that is issued for one of several warps.
"""

from helpers.plotting.grids import ROW_INCHES, refuse_too_many
from thirty_two_lanes.core import style
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures.picture import (
    Picture,
    bare,
    canvas,
    cell,
    label,
)

SHARES = 0.45, 0.15  # warps take turns in dark and light
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
    size = 0.75 + ROW_INCHES * height, 1.6 + 0.2 * width
    with canvas(ax, *size) as ax:
        for thread in range(warps * WARP_SIZE if flat else count):
            row, col = divmod(thread, width)
            warp, lane = divmod(thread, WARP_SIZE)
            here = thread < count
            colour = style.PLAIN if here else style.IDLE
            text = str(lane) if here else ""
            cell(ax, col, row, text, colour, share=SHARES[warp % 2])
        for warp in range(warps):
            row = warp * WARP_SIZE // width
            at = width, row + 0.5
            label(ax, *at, f"warp {warp}", (6, 0), ha="left", fontsize=style.SMALL)
        bare(ax)
        ax.set(xlim=(-0.1, width + 0.1), ylim=(height + 0.1, -0.1))
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
    size = 0.75 + ROW_INCHES * len(lines), 2.6 + 0.185 * WARP_SIZE
    with canvas(ax, *size) as ax:
        for row, active in enumerate(lines.values()):
            for lane, here in enumerate(active):
                colour = style.PLAIN if here else style.IDLE
                share = 0.45 if here else 0.15
                cell(ax, lane, row, str(lane) if here else "", colour, share=share)
        bare(ax)
        ax.set(xlim=(-0.1, WARP_SIZE + 0.1), ylim=(len(lines) + 0.1, -0.1))
        ax.set_yticks([row + 0.5 for row in range(len(lines))], lines)
        for text in ax.get_yticklabels():
            text.set_family("monospace")
        note = "numbered: takes part; dotted: waits"
        label(ax, WARP_SIZE, 0, note, (0, 6), ha="right", fontsize=style.SMALL)
    busy = {it.strip(): sum(map(bool, active)) for it, active in lines.items()}
    shares = [f"`{it}` {lanes}" for it, lanes in busy.items()]
    share = sum(busy.values()) / (WARP_SIZE * len(lines))
    sentence = f"Lanes of 32 that take part: {', '.join(shares)}"
    return Picture(ax.figure, f"{sentence}; {share:.0%} of all.")


def plot_issues(issued, ax=None):
    """Instructions that warps issue in turn, each as (warp, text, 32 truth values): a
    lane takes part where its value is true.
    """
    warps = sorted({warp for warp, _, _ in issued})
    step = WARP_SIZE + BETWEEN
    across = len(warps) * step - BETWEEN
    with canvas(ax, 0.6 + ROW_INCHES * len(issued), 2.3 + 0.085 * across) as ax:
        for row, (warp, _, active) in enumerate(issued):
            left = warps.index(warp) * step
            for lane, here in enumerate(active):
                colour = style.PLAIN if here else style.IDLE
                cell(ax, left + lane, row, "", colour, share=0.45 if here else 0.15)
        for column, warp in enumerate(warps):
            middle = column * step + WARP_SIZE / 2
            label(ax, middle, 0, f"warp {warp}", (0, 8), fontsize=style.SMALL)
        bare(ax)
        ax.set(xlim=(-0.2, across + 0.2), ylim=(len(issued) + 0.1, -0.1))
        texts = [text for _, text, _ in issued]
        ax.set_yticks([row + 0.5 for row in range(len(issued))], texts)
        for text in ax.get_yticklabels():
            text.set_family("monospace")
    rows = (
        f"warp {warp} `{text.strip()}` for {sum(map(bool, active))} lanes"
        for warp, text, active in issued
    )
    return Picture(ax.figure, f"Issued one after the other: {', '.join(rows)}.")
