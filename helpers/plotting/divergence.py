"""Which lanes of a warp are active on which line."""

import numpy as np

from .. import style
from ..hardware import WARP_SIZE
from .picture import Picture, bare, canvas, cell, counted, label

MOST = 40  # lines
ROW_INCHES = 0.24


def plot_divergence(active, lines, ax=None):
    """Lanes across, instructions or source lines down: who takes part in what.

    `active` is (lines, 32), true where a lane is active; `lines` names each row, in the
    order in which the warp goes through them.
    """
    active = np.asarray(active, bool)
    refuse_what_is_no_warp(active, lines)
    counts = active.sum(axis=1)
    with canvas(ax, 0.75 + ROW_INCHES * len(active)) as ax:
        for row, lanes in enumerate(active):
            draw_row(ax, row, lanes)
            text = f"{counts[row]} of {WARP_SIZE}"
            options = {"ha": "left", "fontsize": style.SMALL}
            label(ax, WARP_SIZE, row + 0.5, text, (6, 0), **options)
        finish(ax, lines)
    return Picture(ax.figure, sentence(counts, lines))


def refuse_what_is_no_warp(active, lines):
    """Raise where a row is no warp, or has no name."""
    if active.ndim != 2 or active.shape[1] != WARP_SIZE:
        raise ValueError(
            f"each row needs the {WARP_SIZE} lanes of a warp, and the shape is "
            f"{active.shape}: draw one warp at a time"
        )
    if len(active) != len(lines):
        raise ValueError(f"{len(active)} rows need as many names, not {len(lines)}")
    if not 0 < len(active) <= MOST:
        raise ValueError(f"{len(active)} rows, 1 to {MOST} fit: draw a part of them")


def draw_row(ax, row, lanes):
    """Draw active lanes as numbered boxes on a strip of idle ones."""
    cell(ax, 0, row + 0.08, "", style.IDLE, WARP_SIZE, 0.84)
    for lane in np.flatnonzero(lanes):
        cell(ax, lane, row + 0.08, str(lane), style.LOAD, 1, 0.84)


def finish(ax, lines):
    """Name the rows, number the lanes, and say what dots mean."""
    bare(ax)
    ax.set(xlim=(-0.1, WARP_SIZE + 3.4), ylim=(len(lines) + 0.1, -0.1))
    ax.set_yticks([row + 0.5 for row in range(len(lines))], lines)
    ax.tick_params(axis="y", labelfontfamily="monospace")
    ax.set_xticks(
        [lane + 0.5 for lane in range(0, WARP_SIZE, 4)], range(0, WARP_SIZE, 4)
    )
    ax.set_xlabel("lane")
    note = {"ha": "right", "va": "bottom", "fontsize": style.SMALL}
    label(ax, WARP_SIZE, 0, "dotted: the lane waits", (0, 4), **note)


def sentence(counts, lines):
    """How many lanes are active, and where fewest."""
    share = counts.sum() / (WARP_SIZE * len(counts))
    told = f"One warp, {counted(len(counts), 'line')}: {share:.0%} of the lanes active"
    if counts.min() == WARP_SIZE:
        return f"{told}."
    worst = int(counts.argmin())
    few = f"{counts[worst]} of {WARP_SIZE}"
    return f"{told}; fewest, {few}, on “{str(lines[worst]).strip()}”."
