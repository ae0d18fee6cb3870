"""Counts and times: what the emulator counted beside what a GPU counted and took."""

import math

from helpers.plotting.bars import (
    FEW,
    NAN,
    bar,
    beside,
    known,
    limit_line,
    listed,
    name_rows,
    paired,
    present,
)
from helpers.plotting.boxes import DASHES, SHARES
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.pictures import Picture, canvas, inside, label, note

WIDE = 0.14  # of the axis: a step as wide as its name


def plot_conflicts(strides, emulated, measured=None, times_us=None, ax=None):
    """Conflicts a request by stride, by the emulator and a GPU; the GPU's time below.

    `measured` and `times_us` may be left out, or hold NaN where nothing was measured.
    """
    measured, times = known(measured), known(times_us)
    with canvas(ax, 4.4 if times else 2.9) as ax:
        draw_counts(ax, emulated, measured)
        lowest = draw_times_below(ax, times) if times else ax
        lowest.set_xticks(range(len(strides)), strides)
        lowest.set_xlabel("stride, in words")
    at = "{} at stride {}"
    counts = listed(emulated, strides, "{:g}", at)
    parts = [f"Conflicts a request, counted by the emulator: {counts}"]
    if measured:
        gaps = [abs(a - b) for a, b in zip(emulated, measured, strict=True)]
        widest = max(present(gaps))
        gap = f"differ from these by at most {widest:.2g}" if widest else "are the same"
        parts.append(f"the GPU's counts {gap}")
    if times:
        parts.append(f"the GPU's time: {listed(times, strides, '{:,.1f} µs', at)}")
    return Picture(ax.figure, "; ".join(parts) + ".")


def draw_counts(ax, emulated, measured):
    """Draw the emulator's counts as rings, and the GPU's as diamonds inside them."""
    xs = range(len(emulated))
    ring = {"marker": "o", "s": 110, "facecolor": "none", "linewidth": 1.8}
    ax.scatter(xs, emulated, edgecolor=style.EMULATED, zorder=3, **ring)
    if measured:
        ax.scatter(xs, measured, marker="D", s=18, color=style.MEASURED, zorder=4)
    for x, count in enumerate(emulated):
        note(ax, x, count, f"{count:g}", (0, 13))
    top = max(*emulated, 1)
    ax.set(ylabel="conflicts a request", ylim=(-0.07 * top, 1.2 * top))
    ax.set_xlim(-0.6, len(emulated) - 0.4)
    above = {"offset": (0, 6), "ha": "left", "xycoords": "axes fraction"}
    label(ax, 0, 1, "○ counted by the emulator", color=style.EMULATED, **above)
    if measured:
        label(ax, 0.27, 1, "◆ counted by the GPU", color=style.MEASURED, **above)


def draw_times_below(ax, times):
    """Draw the times as bars on axes of their own, which share the strides."""
    below = axes_below(ax)
    below.bar(range(len(times)), times, 0.5, **bar())
    for position, time in enumerate(times):
        if not math.isnan(time):
            note(below, position, time, f"{time:,.1f}", (0, 6))
    below.set(ylabel="time, µs", ylim=(0, 1.28 * max(present(times))))
    below.yaxis.set_major_formatter(FEW)
    return below


def axes_below(ax):
    """Further axes in the lower part of these, which share what is across."""
    upper, lower = ax.get_subplotspec().subgridspec(2, 1, height_ratios=[5, 3])
    ax.set_subplotspec(upper)
    below = ax.figure.add_subplot(lower, sharex=ax)
    ax.tick_params(labelbottom=False)
    return below


LOOKS = (  # of series that share axes: none is told from another by colour alone
    {"marker": "D", "linestyle": "-", "markerfacecolor": style.MEASURED},
    {"marker": "o", "linestyle": "--", "markerfacecolor": style.PAPER},
    {"marker": "s", "linestyle": ":", "markerfacecolor": style.MEASURED},
)


def plot_series(
    steps,
    times_us,
    xlabel,
    limit_us=None,
    limit_label="the limit",
    scale="linear",
    ax=None,
):
    """The times of up to three kernels as one number grows: {name: its times}.

    Where nothing was measured a list is None or holds NaN. With `scale="log"` each
    doubling of the number is as wide.
    """
    series = {name: known(it) or [NAN] * len(steps) for name, it in times_us.items()}
    measured = present(sum(series.values(), []))
    top = 1.2 * max(measured, default=1)
    with canvas(ax, 3.2) as ax:
        draw_steps_below(ax, steps, scale)
        for (name, times), look in paired("series", LOOKS, series.items()):
            line = {"markersize": 5, "linewidth": 1.2, "label": name}
            ax.plot(steps, times, color=style.MEASURED, **line, **look)
        for position, step in enumerate(steps):
            times = [times[position] for times in series.values()]
            number_points(ax, step, times, crowded=0.08 * top)
        ax.set(ylim=(0, top), ylabel="time, µs", xlabel=xlabel)
        ax.yaxis.set_major_formatter(FEW)
        for time in known([limit_us]):
            draw_floor(ax, steps, time, limit_label)
        if measured:
            ax.legend(frameon=False, fontsize=9)
        else:
            label(ax, 0.5, 0.5, "not measured", xycoords="axes fraction")
    found = {name: measured_of(times, steps) for name, times in series.items()}
    at = "{} at {:,}"
    parts = [f"{k}: {listed(*it, '{:,.1f} µs', at)}" for k, it in found.items()]
    parts += [f"{limit_label}: {it:,.1f} µs" for it in known([limit_us])]
    what = xlabel.partition(",")[0]
    return Picture(ax.figure, f"Times by {what}. {'; '.join(parts)}.")


def draw_steps_below(ax, steps, scale):
    """Number the steps below, with room for a number at either end."""
    if scale == "log":
        ax.set_xscale("log", base=2)
    else:
        width = 0.06 * (max(steps) - min(steps))
        ax.set_xlim(min(steps) - width, max(steps) + width)
    ax.set_xticks(steps, [f"{it:,}" for it in steps])
    ax.minorticks_off()


def measured_of(times, steps):
    """The times that were measured, all if none was, each with its step."""
    pairs = list(zip(times, steps, strict=True))
    found = [(time, step) for time, step in pairs if not math.isnan(time)]
    return zip(*(found or pairs), strict=True)


def number_points(ax, step, times, crowded):
    """Write the times at one step above their marks.

    If the least two are crowded, the least is below and the other on the right, where
    no line that falls comes by.
    """
    measured = sorted(present(times))
    close = len(measured) > 1 and measured[1] - measured[0] < crowded
    places = [((0, -11), "center"), ((4, 10), "left")] if close else []
    places += [((0, 10), "center")] * len(measured)
    for time, (offset, side) in zip(measured, places, strict=False):
        note(ax, step, time, f"{time:,.0f}", offset, ha=side)


def draw_floor(ax, steps, time, text):
    """Draw the line below which no point can be."""
    ax.axhline(time, **DASHES)
    text = f"{text}, {time:,.0f} µs"
    note(ax, steps[0], time, text, (0, -3), ha="left", va="top")


def plot_times(
    labels, times_us, spread_us=None, limit_us=None, limit_label="the limit", ax=None
):
    """Median times as bars, whiskers from `spread_us` as (low, high), and a limit."""
    times = known(times_us) or [NAN] * len(labels)
    spread = [known(it) for it in spread_us] if spread_us is not None else []
    limit = known([limit_us])
    longest = max(present([*times, *limit, *sum(spread, [])]), default=1)
    with canvas(ax, 0.8 + 0.36 * len(labels)) as ax:
        for position, time in enumerate(times):
            draw_time(ax, position, time, spread[position] if spread else [])
        for time in limit:
            text = f"{limit_label}, {time:,.1f} µs"
            limit_line(ax, time, -0.9, text, (0, 2), va="bottom")
        ax.set(xlim=(0, 1.15 * longest), xlabel="time, µs")
        name_rows(ax, labels, -0.9 if limit else -0.6)
    values = listed(times, labels, "{:,.1f} µs", "{} for {}", between="; ")
    parts = [f"Median times: {values}"]
    parts += [f"{limit_label}: {time:,.1f} µs" for time in limit]
    return Picture(ax.figure, "; ".join(parts) + ".")


def draw_time(ax, position, time, spread):
    """Draw one bar with its whisker and its value, or say that there is none."""
    if math.isnan(time):
        beside(ax, 0, position, "not measured")
        return
    ax.barh(position, time, 0.62, **bar())
    if spread:
        ends = {"marker": "|", "markersize": 7, "linewidth": 1.5, "color": style.INK}
        ax.plot(spread, [position, position], **ends)
    beside(ax, max([time, *spread]), position, f"{time:,.1f} µs")


def plot_stages(works, ax=None):
    """Times as bars made of steps, {name of the work: {step: µs}}, on one scale.

    A step whose time is NaN was not measured, and is left out of its bar.
    """
    known = {
        name: {step: us for step, us in steps.items() if not math.isnan(us)}
        for name, steps in works.items()
    }
    longest = max((sum(steps.values()) for steps in known.values()), default=0) or 1
    with canvas(ax, 0.75 + 0.62 * len(works)) as ax:
        for position, steps in enumerate(known.values()):
            draw_steps(ax, position, steps, longest)
        ax.set(xlim=(0, 1.16 * longest), xlabel="time, µs")
        name_rows(ax, known, -0.75, 0.5, "{x:,.0f}")
    parts = [said(name, steps, known[name]) for name, steps in works.items()]
    return Picture(ax.figure, f"Median times: {'; '.join(parts)}.")


def draw_steps(ax, position, steps, longest):
    """Draw one bar, its steps by name, and its sum at the end."""
    start = 0
    if not steps:
        beside(ax, 0, position, "not measured")
        return
    for turn, (step, us) in enumerate(steps.items()):
        ax.barh(position, us, 0.5, left=start, **bar(SHARES[turn % 2]))
        draw_name(ax, position, start, us, step, longest)
        start += us
    beside(ax, start, position, f"{start:,.0f} µs")


def draw_name(ax, position, start, us, step, longest):
    """Write a step's name into its part of the bar, or above one that is too narrow."""
    middle = start + us / 2
    if us > WIDE * longest:
        inside(ax, middle, position, step, style.halo(), fontsize=style.SMALL)
        return
    arrow = {"arrowstyle": "-", "color": style.INK, "linewidth": 0.8}
    above = {"ha": "center", "va": "bottom", "fontsize": style.SMALL}
    text = f"{step}, {us:,.0f} µs"
    ends = (middle, position - 0.25), (middle, position - 0.4)
    ax.annotate(text, *ends, arrowprops=arrow, path_effects=style.halo(), **above)


def said(name, steps, known):
    """A bar in words."""
    if not known:
        return f"{name} not measured"
    parts = [f"{step} {us:,.0f} µs" for step, us in known.items()]
    total = f"{sum(known.values()):,.0f} µs"
    return f"{name} {total}" + (f" ({', '.join(parts)})" if len(steps) > 1 else "")


def plot_exposed(wavefronts, at_most, saved, ax=None):
    """What a repair of bank conflicts could save at most, by the counts, and what it
    did save, in % of the time, for each number of `wavefronts` before it.

    What was not measured is None or NaN, or a list that is empty.
    """
    bounds, found = (known(it) or [NAN] * len(wavefronts) for it in (at_most, saved))
    for name, percents in {"at_most": bounds, "saved": found}.items():
        if len(percents) != len(wavefronts):
            raise ArgumentError(
                f"{name} has {len(percents)} numbers for {len(wavefronts)} of "
                "wavefronts: give one for each, None where none was measured"
            )
    with canvas(ax, 3.3) as ax:
        draw_steps_below(ax, wavefronts, "log")
        ax.plot(wavefronts, bounds, **DASHES, marker="o", markerfacecolor=style.PAPER)
        line = {"color": style.MEASURED, "linewidth": 1, "marker": "D", "zorder": 3}
        ax.plot(wavefronts, found, **line)
        for at, bound, percent in zip(wavefronts, bounds, found, strict=True):
            for y, offset, va in ((bound, 6, "bottom"), (percent, -6, "top")):
                if not math.isnan(y):
                    label(ax, at, y, f"{y:.0f}", (0, offset), va=va)
        top = 1.25 * max(present([*bounds, *found]), default=1)
        ax.set(ylim=(-0.14 * top, top), ylabel="% of the time")
        ax.set(xlabel="wavefronts of a load, before the repair")
        above = {"offset": (6, -6), "xycoords": "axes fraction", "ha": "left"}
        label(ax, 0, 1, "○ saved at most, by the counts", va="top", **above)
        label(ax, 0, 0.9, "◆ saved", va="top", color=style.MEASURED, **above)
    return Picture(ax.figure, exposed_text(wavefronts, bounds, found))


def exposed_text(wavefronts, bounds, found):
    """What could be saved and what was, in words."""
    parts = [
        f"at {each}, at most {percent(bound)}, {percent(it)} saved"
        for each, bound, it in zip(wavefronts, bounds, found, strict=True)
    ]
    return f"Of the time, by the wavefronts of a load: {'; '.join(parts)}."


def plot_rungs(names, most, reached, limit=None, limit_label="the library", ax=None):
    """What each rung of a ladder could reach by its counts, and what it did, in %.

    What was not measured is None or NaN; `limit` is drawn as a line.
    """
    most, reached = (known(it) or [NAN] * len(names) for it in (most, reached))
    with canvas(ax, 0.95 + 0.34 * len(names)) as ax:
        for position, (could, did) in enumerate(zip(most, reached, strict=True)):
            draw_rung(ax, position, could, did)
        for at in known([limit]):
            text = f"{limit_label}, {at:.0f}%"
            limit_line(ax, at, -0.6, text, (0, 2), va="bottom")
        ax.set(xlim=(0, 104), xlabel="% of the peak")
        name_rows(ax, names, xaxis=None)
        above = {"offset": (0, 20), "xycoords": "axes fraction", "ha": "left"}
        label(ax, 0, 1, "○ at most, by its counts", color=style.EMULATED, **above)
        label(ax, 0.3, 1, "◆ measured", color=style.MEASURED, **above)
    parts = [
        f"{name}: at most {percent(could)}, {percent(did)} measured"
        for name, could, did in zip(names, most, reached, strict=True)
    ]
    parts += [f"{limit_label}: {percent(at)}" for at in known([limit])]
    return Picture(ax.figure, f"Shares of the peak. {'; '.join(parts)}.")


def draw_rung(ax, position, could, did):
    """Draw a ring where a rung could be, and a diamond where it is."""
    ends = present([could, did])
    if len(ends) == 2:
        ax.plot(ends, [position] * 2, color=style.IDLE, linewidth=1)
    ring = {"s": 60, "facecolor": style.PAPER, "linewidth": 1.6}
    if not math.isnan(could):
        ax.scatter(could, position, edgecolor=style.EMULATED, zorder=3, **ring)
    if not math.isnan(did):
        ax.scatter(did, position, marker="D", s=30, color=style.MEASURED, zorder=4)
        note(ax, did, position, f"{did:.0f}", (0, 9))


def percent(value):
    return "unknown" if math.isnan(value) else f"{value:.0f}%"
