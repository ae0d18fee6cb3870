"""What was requested of a GPU and how fast it was: by level of memory, by offset and
stride.
"""

import math

from helpers.plotting.bars import (
    LEVELS,
    NAN,
    bar,
    beside,
    known,
    listed,
    name_rows,
    present,
)
from helpers.plotting.boxes import DASHES
from helpers.plotting.charts import draw_counts
from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import Picture, canvas, label, note


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


# ---------------------------------------------------------------- offsets and strides


def plot_sweeps(sweeps, copy_gb_per_s=None, ax=None):
    """Sectors per request, and below them GB/s, of several sweeps on the same scales.

    `sweeps` is {what changes: (its steps, sectors, useful GB/s, GB/s of memory)}; the
    rates are None or hold NaN where nothing was measured.
    """
    limit = known([copy_gb_per_s])
    rates = {what: [known(it) for it in sweep[2:]] for what, sweep in sweeps.items()}
    every = [it for pair in rates.values() for it in sum(pair, limit)]
    highest = max(present(every), default=1)
    most = max(max(sectors) for _, sectors, *_ in sweeps.values())
    with canvas(ax, 4.8) as ax:
        columns = columns_of(ax, [len(steps) for steps, *_ in sweeps.values()])
        for (upper, lower), (what, (steps, sectors, *_)) in zip(
            columns, sweeps.items(), strict=True
        ):
            draw_counts(upper, sectors, [])
            upper.set(ylabel="", ylim=(0, 1.2 * most))
            draw_rates(lower, *rates[what], len(steps))
            lower.set(ylim=(0, 1.25 * highest), xlabel=what)
            lower.set_xticks(range(len(steps)), steps)
            lower.yaxis.set_major_formatter("{x:,.0f}")
            for rate in limit:
                lower.axhline(rate, **DASHES)
        for rate in limit:
            at, text = len(next(iter(sweeps.values()))[0]) - 0.45, "the driver's copy"
            where = {"ha": "right", "va": "bottom"}
            note(columns[0][1], at, rate, f"{text}, {rate:,.0f}", (0, 3), **where)
        columns[0][0].set_ylabel("sectors per load request")
        columns[0][1].set_ylabel("GB/s")
    texts = [sweep_text(it, *sweep[:2], rates[it]) for it, sweep in sweeps.items()]
    texts += [f"the driver's copy reaches {rate:,.0f} GB/s" for rate in limit]
    text = f"Sectors per load request and rates. {'; '.join(texts)}."
    return Picture(ax.figure, text)


def columns_of(ax, sizes):
    """Two axes for each sweep, one above the other; `ax` becomes the first."""
    ratios = {"height_ratios": [4, 5], "width_ratios": sizes}
    grid = ax.get_subplotspec().subgridspec(2, len(sizes), **ratios)
    ax.set_subplotspec(grid[0, 0])
    columns = []
    for column in range(len(sizes)):
        upper = ax if column == 0 else ax.figure.add_subplot(grid[0, column], sharey=ax)
        lower = ax.figure.add_subplot(grid[1, column], sharex=upper)
        upper.tick_params(labelbottom=False, labelleft=column == 0)
        lower.tick_params(labelleft=column == 0)
        columns.append((upper, lower))
    return columns


def draw_rates(ax, useful, moved, count):
    """Draw the useful rates as bars, and what memory moved as diamonds above them."""
    above = {"offset": (0, 5), "ha": "left", "xycoords": "axes fraction"}
    if not useful:
        label(ax, 0.5, 0.5, "not measured", xycoords="axes fraction")
        return
    ax.bar(range(count), useful, 0.72, **bar())
    for position, rate in enumerate(useful):
        if not math.isnan(rate):
            note(ax, position, 0, f"{rate:,.0f}", (0, 3), va="bottom")
    label(ax, 0, 1, "▮ useful", color=style.MEASURED, **above)
    if moved:
        dots = {"marker": "D", "markersize": 5, "color": style.MEASURED}
        ax.plot(range(count), moved, linewidth=0.8, **dots)
        label(ax, 0.26, 1, "◆ moved by memory", color=style.MEASURED, **above)


def sweep_text(what, steps, sectors, rates):
    """One sweep in words."""
    name = what.partition(",")[0]
    useful, moved = rates
    parts = [f"{name}: {listed(sectors, steps, '{:g}', '{} at {}')} sectors"]
    for kind, values in (("useful", useful), ("moved by memory", moved)):
        if values:
            parts.append(f"{kind} {listed(values, steps, '{:,.0f}', '{} at {}')} GB/s")
    return ", ".join(parts)
