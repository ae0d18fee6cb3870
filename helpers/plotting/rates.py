"""What a GPU reaches, beside what the emulator counted: bytes per second, and how long
memory takes to answer.
"""

import math

from .. import style
from .charts import NAN, draw_counts, known, listed
from .picture import Picture, canvas, label


def plot_traffic(
    steps, sectors, gb_per_s=None, copy_gb_per_s=None, xlabel="stride", ax=None
):
    """Sectors a request, counted by the emulator; below, the GB/s that a GPU reached.

    `gb_per_s` may be left out, or hold NaN where nothing was measured; a line shows
    `copy_gb_per_s`, what a copy of the same bytes reaches.
    """
    rates, limit = known(gb_per_s), known([copy_gb_per_s])
    with canvas(ax, 4.4 if rates else 2.9) as ax:
        draw_counts(ax, sectors, [])
        ax.set(ylabel="sectors a request")
        lowest = draw_rates_below(ax, rates, limit) if rates else ax
        lowest.set_xticks(range(len(steps)), steps)
        lowest.set_xlabel(xlabel)
    at = f"{{}} at {xlabel.partition(',')[0]} {{}}"
    counts = listed(sectors, steps, "{:g}", at)
    parts = [f"Sectors a request, counted by the emulator: {counts}"]
    if rates:
        parts.append(f"the GPU's rate: {listed(rates, steps, '{:,.0f} GB/s', at)}")
    parts += [f"a copy reaches {rate:,.0f} GB/s" for rate in limit if rates]
    return Picture(ax.figure, "; ".join(parts) + ".")


def draw_rates_below(ax, rates, limit):
    """Draw the rates as bars on axes of their own, below what they share."""
    upper, lower = ax.get_subplotspec().subgridspec(2, 1, height_ratios=[5, 4])
    ax.set_subplotspec(upper)
    below = ax.figure.add_subplot(lower, sharex=ax)
    ax.tick_params(labelbottom=False)
    highest = max(it for it in [*rates, *limit] if not math.isnan(it))
    fill = style.tint(style.MEASURED, 0.35)
    below.bar(range(len(rates)), rates, 0.5, color=fill, edgecolor=style.MEASURED)
    for place, rate in enumerate(rates):
        if not math.isnan(rate):
            va, rise = ("top", -4) if rate > highest / 6 else ("bottom", 3)
            note = {"va": va, "fontsize": style.SMALL}
            label(below, place, rate, f"{rate:,.0f}", (0, rise), **note)
    for rate in limit:
        below.axhline(rate, color=style.INK, linewidth=1.2, linestyle=(0, (4, 3)))
        text = f"a copy, {rate:,.0f}"
        note = {"ha": "right", "va": "bottom", "fontsize": style.SMALL}
        label(below, len(rates) - 0.45, rate, text, (0, 3), **note)
    below.set(ylabel="GB/s", ylim=(0, 1.3 * highest))
    return below


def plot_latency(sizes, times_ns=None, marks=None, ax=None):
    """The time of one load by the bytes that the walk covers; `marks` names sizes.

    `times_ns` may be left out, or hold NaN where nothing was measured; `marks` is
    {name: bytes}, drawn as lines where a store of that size ends.
    """
    times = known(times_ns) or [NAN] * len(sizes)
    measured = [it for it in times if not math.isnan(it)]
    with canvas(ax, 2.9) as ax:
        ax.set_xscale("log", base=2)
        ax.set_xticks(sizes, [size_text(size) for size in sizes])
        ax.set(xlabel="bytes walked through", ylabel="time of a load, ns")
        top = 1.35 * max(measured, default=1)
        ax.set_ylim(0, top)
        draw_walk(ax, sizes, times, bool(measured))
        for name, size in (marks or {}).items():
            ax.axvline(size, color=style.INK, linewidth=1.0, linestyle=(0, (4, 3)))
            note = {"ha": "right", "va": "top", "fontsize": style.SMALL}
            label(ax, size, top, name, (-4, 0), **note)
    names = [size_text(size) for size in sizes]
    told = listed(times, names, "{:,.0f} ns", "{} within {}")
    marked = [f"{name} ends at {size_text(it)}" for name, it in (marks or {}).items()]
    alt = "; ".join([f"The time of one load: {told}", *marked])
    return Picture(ax.figure, f"{alt}.")


def draw_walk(ax, sizes, times, measured):
    """Draw the times with their numbers, or say that there are none."""
    if not measured:
        label(ax, 0.5, 0.5, "not measured", xycoords="axes fraction")
        ax.set_yticks([])
    dots = {"marker": "D", "markersize": 5, "color": style.MEASURED}
    ax.plot(sizes, times, linewidth=1.2, **dots)
    for size, time in zip(sizes, times, strict=True):
        if not math.isnan(time):
            label(ax, size, time, f"{time:,.0f}", (0, 9), fontsize=style.SMALL)


def size_text(size):
    """A size in bytes as people say it."""
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size:g} B"
