"""What was requested of a GPU and how fast it was: by level of memory, by offset and
stride, by the number of threads.
"""

import math

from helpers.core import style
from helpers.plotting.charts import NAN, draw_counts, known, listed
from helpers.plotting.picture import Picture, canvas, label

LEVELS = {  # whose bytes a bar stands for, and how dark it is
    "L1": ("requested from L1", 0.15),
    "L2": ("requested from L2", 0.35),
    "memory": ("requested from memory", 0.75),
}
LOOKS = (  # of series that share axes: none is told from another by colour alone
    {"marker": "D", "linestyle": "-", "markerfacecolor": style.MEASURED},
    {"marker": "o", "linestyle": "--", "markerfacecolor": style.PAPER},
    {"marker": "s", "linestyle": ":", "markerfacecolor": style.MEASURED},
)


def plot_levels(traffic, ax=None):
    """The bytes requested from each level of memory, launch by launch.

    `traffic` is {name: what `measure` gives as `traffic`};
    {} where nothing was counted.
    """
    unit, divisor = unit_of([max(it.values(), default=0) for it in traffic.values()])
    with canvas(ax, 0.6 + 0.75 * len(traffic)) as ax:
        longest = 0
        for row, asked in enumerate(traffic.values()):
            for place, (level, (text, share)) in enumerate(LEVELS.items()):
                value = asked.get(level, NAN) / divisor
                longest = max(longest, 0 if math.isnan(value) else value)
                draw_level(ax, row + 0.26 * (place - 1), value, text, unit, share)
        ax.set(xlim=(0, 1.48 * longest or 1), ylim=(len(traffic) - 0.5, -0.5))
        ax.set_xlabel(f"{unit}, loads and stores")
        ax.set_yticks(range(len(traffic)), traffic)
        ax.tick_params(axis="y", length=0, labelsize=9)
    texts = [levels_text(asked, unit, divisor) for asked in traffic.values()]
    parts = [f"{name}: {text}" for name, text in zip(traffic, texts, strict=True)]
    return Picture(ax.figure, f"Bytes by level. {'; '.join(parts)}.")


def unit_of(sizes):
    """The unit in which the largest of these numbers of bytes is read best."""
    return ("GB", 1e9) if max(sizes, default=0) >= 2e9 else ("MB", 1e6)


def draw_level(ax, place, value, text, unit, share):
    """Draw one level's bar, with its name and its bytes."""
    beside = {"ha": "left", "fontsize": style.SMALL}
    if math.isnan(value):
        label(ax, 0, place, f"{text}: not counted", (6, 0), **beside)
        return
    fill = style.tint(style.MEASURED, share)
    ax.barh(place, value, 0.24, color=fill, edgecolor=style.MEASURED)
    label(ax, value, place, f"{text}: {amount(value)} {unit}", (6, 0), **beside)


def amount(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def levels_text(asked, unit, divisor):
    """What was requested from each level, in words."""
    if not asked:
        return "not counted"
    pairs = ((text, asked[level] / divisor) for level, (text, _) in LEVELS.items())
    return ", ".join(f"{text} {amount(value)} {unit}" for text, value in pairs)


# ---------------------------------------------------------------- offsets and strides


def plot_sweeps(sweeps, copy_gb_per_s=None, ax=None):
    """Sectors per request, and below them GB/s, of several sweeps on the same scales.

    `sweeps` is {what changes: (its steps, sectors, useful GB/s, GB/s of memory)}; the
    rates are None or hold NaN where nothing was measured.
    """
    limit = known([copy_gb_per_s])
    rates = {what: [known(it) for it in sweep[2:]] for what, sweep in sweeps.items()}
    every = [it for pair in rates.values() for it in sum(pair, limit)]
    highest = max((it for it in every if not math.isnan(it)), default=1)
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
            draw_copy(lower, limit)
        for rate in limit:
            label_copy(columns[0][1], rate, len(next(iter(sweeps.values()))[0]))
        columns[0][0].set_ylabel("sectors per load request")
        columns[0][1].set_ylabel("GB/s")
    texts = [sweep_text(what, *it, rates[what]) for what, it in in_short(sweeps)]
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
    fill = style.tint(style.MEASURED, 0.35)
    ax.bar(range(count), useful, 0.72, color=fill, edgecolor=style.MEASURED)
    for place, rate in enumerate(useful):
        if not math.isnan(rate):
            note = {"va": "bottom", "fontsize": style.TINY}
            label(ax, place, 0, f"{rate:,.0f}", (0, 3), **note)
    label(ax, 0, 1, "▮ useful", color=style.MEASURED, **above)
    if moved:
        dots = {"marker": "D", "markersize": 5, "color": style.MEASURED}
        ax.plot(range(count), moved, linewidth=0.8, **dots)
        label(ax, 0.26, 1, "◆ moved by memory", color=style.MEASURED, **above)


def draw_copy(ax, limit):
    """Draw the line that a copy reaches."""
    for rate in limit:
        ax.axhline(rate, color=style.INK, linewidth=1.2, linestyle=(0, (4, 3)))


def label_copy(ax, rate, count):
    """Name the line, in one of the columns."""
    note = {"ha": "right", "va": "bottom", "fontsize": style.SMALL}
    label(ax, count - 0.45, rate, f"the driver's copy, {rate:,.0f}", (0, 3), **note)


def in_short(sweeps):
    return ((what, (steps, sectors)) for what, (steps, sectors, *_) in sweeps.items())


def sweep_text(what, steps, sectors, rates):
    """One sweep in words."""
    name = what.partition(",")[0]
    useful, moved = rates
    parts = [f"{name}: {listed(sectors, steps, '{:g}', '{} at {}')} sectors"]
    for kind, values in (("useful", useful), ("moved by memory", moved)):
        if values:
            parts.append(f"{kind} {listed(values, steps, '{:,.0f}', '{} at {}')} GB/s")
    return ", ".join(parts)


# ---------------------------------------------------------------- numbers of threads


def plot_by_threads(
    threads, times_us, limit_us=None, limit_label="the limit", ax=None
):
    """Times by the number of threads, a line for each of `times_us`, {name: times}.

    Where nothing was measured a list is None or holds NaN.
    """
    series = {name: known(it) or [NAN] * len(threads) for name, it in times_us.items()}
    with canvas(ax, 3.4) as ax:
        ax.set_xscale("log", base=2)
        ax.set_xticks(threads, [f"{it:,}" for it in threads])
        ax.minorticks_off()
        for (name, times), look in zip(series.items(), LOOKS, strict=False):
            ax.plot(threads, times, color=style.MEASURED, label=name, **look)
        measured = [it for it in sum(series.values(), []) if not math.isnan(it)]
        top = 1.15 * max(measured, default=1)
        for place, count in enumerate(threads):
            times = [times[place] for times in series.values()]
            number_points(ax, count, times, crowded=0.08 * top)
        ax.set(ylim=(0, top), ylabel="time, µs")
        ax.set(xlabel="threads, each with its share of the same numbers")
        for time in known([limit_us]):
            draw_floor(ax, threads, time, limit_label)
        if measured:
            ax.legend(frameon=False, fontsize=9)
        else:
            label(ax, 0.5, 0.5, "not measured", xycoords="axes fraction")
    at = "{} with {:,} threads"
    found = {name: measured_of(times, threads) for name, times in series.items()}
    parts = [f"{k}: {listed(*it, '{:,.0f} µs', at)}" for k, it in found.items()]
    parts += [f"{limit_label}: {it:,.0f} µs" for it in known([limit_us])]
    return Picture(ax.figure, f"Times. {'; '.join(parts)}.")


def measured_of(times, threads):
    """The times that were measured, all if none was, with their numbers of threads."""
    pairs = list(zip(times, threads, strict=True))
    found = [(time, count) for time, count in pairs if not math.isnan(time)]
    return zip(*(found or pairs), strict=True)


def number_points(ax, count, times, crowded):
    """Write the times at one number of threads above their marks.

    If the least two are crowded, the least is below and the other on the right, where
    no line that falls comes by.
    """
    measured = sorted(time for time in times if not math.isnan(time))
    close = len(measured) > 1 and measured[1] - measured[0] < crowded
    places = [((0, -11), "center"), ((4, 10), "left")] if close else []
    places += [((0, 10), "center")] * len(measured)
    for time, (offset, side) in zip(measured, places, strict=False):
        label(ax, count, time, f"{time:,.0f}", offset, ha=side, fontsize=style.SMALL)


def draw_floor(ax, threads, time, text):
    """Draw the line below which no point can be."""
    ax.axhline(time, color=style.INK, linewidth=1.2, linestyle=(0, (4, 3)))
    note = {"ha": "left", "va": "top", "fontsize": style.SMALL}
    label(ax, threads[0], time, f"{text}, {time:,.0f} µs", (0, -3), **note)
