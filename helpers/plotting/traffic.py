"""What was requested of a GPU, by level of memory."""

import math

from helpers.plotting.bars import (
    LEVELS,
    NAN,
    bar,
    beside,
    name_rows,
)
from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import Picture, canvas


def plot_levels(traffic, ax=None):
    """The bytes requested from each level of memory, launch by launch.

    `traffic` is {name: what `measure` gives as `traffic`};
    {} where nothing was counted.
    """
    unit, divisor = unit_of([max(it.values(), default=0) for it in traffic.values()])
    with canvas(ax, 0.6 + 0.75 * len(traffic)) as ax:
        longest = 0
        for row, asked in enumerate(traffic.values()):
            for position, (level, share) in enumerate(LEVELS.items()):
                value = asked.get(level, NAN) / divisor
                longest = max(longest, 0 if math.isnan(value) else value)
                text = f"requested from {level}"
                draw_level(ax, row + 0.26 * (position - 1), value, text, unit, share)
        ax.set(xlim=(0, 1.48 * longest or 1), xlabel=f"{unit}, loads and stores")
        name_rows(ax, traffic, -0.5, 0.5)
    texts = [levels_text(asked, unit, divisor) for asked in traffic.values()]
    parts = [f"{name}: {text}" for name, text in zip(traffic, texts, strict=True)]
    return Picture(ax.figure, f"Bytes by level. {'; '.join(parts)}.")


def unit_of(sizes):
    """The unit in which the largest of these numbers of bytes is read best."""
    return ("GB", 1e9) if max(sizes, default=0) >= 2e9 else ("MB", 1e6)


def draw_level(ax, position, value, text, unit, share):
    """Draw one level's bar, with its name and its bytes."""
    if math.isnan(value):
        beside(ax, 0, position, f"{text}: not counted", fontsize=style.SMALL)
        return
    ax.barh(position, value, 0.24, **bar(share))
    text = f"{text}: {amount(value)} {unit}"
    beside(ax, value, position, text, fontsize=style.SMALL)


def amount(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def levels_text(asked, unit, divisor):
    """What was requested from each level, in words."""
    if not asked:
        return "not counted"
    pairs = ((level, asked[level] / divisor) for level in LEVELS)
    return ", ".join(f"requested from {it} {amount(n)} {unit}" for it, n in pairs)
