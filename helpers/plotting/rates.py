"""What a GPU reaches: bytes and operations per second, and how long memory takes."""

import math

from helpers.plotting.bars import (
    FEW,
    LEVELS,
    NAN,
    bar,
    beside,
    key_above,
    known,
    limit_line,
    listed,
    name_rows,
    paired,
    present,
)
from helpers.plotting.boxes import DASHES
from helpers.plotting.charts import axes_below
from helpers.plotting.products import draw_kernel
from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import Picture, canvas, inside, label, note

HALF_BAR = 1.58  # a bar reaches from size / this to size * this
LEAST = 0.005  # a share that is worth a word
ROOM = 0.2  # the least share whose bar has room for its name


def plot_latency(sizes, times_ns=None, marks=None, ax=None):
    """The time of one load by the bytes that the walk covers; `marks` names sizes.

    `times_ns` may be left out, or hold NaN where nothing was measured; `marks` is
    {name: bytes}, drawn as lines where a level of that size ends.
    """
    times = known(times_ns) or [NAN] * len(sizes)
    with canvas(ax, 2.9) as ax:
        ax.set(xlabel="bytes walked through", ylabel="time of a load, ns")
        draw_by_size(ax, sizes, times, marks or {})
    values = values_by_size(sizes, times, "{:,.0f} ns", marks or {})
    return Picture(ax.figure, f"The time of one load: {'; '.join(values)}.")


def plot_bandwidth(sizes, gb_per_s=None, marks=None, limits=None, asked=None, ax=None):
    """The GB/s of reading a set of cells again and again, by the bytes in that set.

    `marks` is {name: bytes}, as for `plot_latency`; `limits` is {name: GB/s}, drawn as
    lines across. `asked` is, for each size, what each level was asked for, as `traffic`
    of a measurement: bars below show which of them delivered. Where nothing was
    measured there is NaN.
    """
    rates = known(gb_per_s) or [NAN] * len(sizes)
    limits = {k: v for k, v in (limits or {}).items() if known([v])}
    asked = asked if any(asked or ()) else []
    with canvas(ax, 4.2 if asked else 2.9) as ax:
        ax.set(xlabel="bytes read again and again", ylabel="GB/s")
        draw_by_size(ax, sizes, rates, marks or {}, limits, asked)
    values = [*values_by_size(sizes, rates, "{:,.0f} GB/s", marks or {})]
    values += [f"{name} reaches {rate:,.0f} GB/s" for name, rate in limits.items()]
    values += levels_in_words(map(size_text, sizes), asked)
    return Picture(ax.figure, f"The rate of reading: {'; '.join(values)}.")


def draw_by_size(ax, sizes, values, marks, limits=None, asked=()):
    """Draw a walk over sizes, with lines where levels end and at what limits it; below
    it, if they were asked, which levels delivered.
    """
    limits = limits or {}
    measured = present([*values, *limits.values()])
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [size_text(size) for size in sizes])
    top = 1.35 * max(measured, default=1)
    ax.set(xlim=(sizes[0] / 1.6, sizes[-1] * 1.6), ylim=(0, top))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    crowded = [(rate - 0.12 * top, rate) for rate in limits.values()]
    draw_walk(ax, sizes, values, bool(measured), crowded, marks.values())
    dashes = DASHES | {"linewidth": 1.0}
    for name, size in marks.items():
        ax.axvline(size, **dashes)
        note(ax, size, top, name, (-4, 0), va="top", ha="right")
    for name, rate in limits.items():
        ax.axhline(rate, **dashes)
        text = f"{name}, {rate:,.0f}"
        note(ax, sizes[-1], rate, text, (0, 3), va="bottom", ha="right")
    if asked:
        draw_levels_below(ax, sizes, asked)


def values_by_size(sizes, values, number, marks):
    """Each value with its size, and where the levels end, in words."""
    yield listed(values, map(size_text, sizes), number, "{} within {}")
    yield from (f"{name} ends at {size_text(it)}" for name, it in marks.items())


def delivered(asked):
    """The share of the loaded bytes that each level delivered itself, nearest first.

    `asked` is what each level was asked for, {"L1": bytes, "L2": ..., "memory": ...}:
    what a level does not have, it asks the next one for. {} where nobody counted.
    """
    if not asked:
        return [NAN] * len(LEVELS)
    counts = [asked[level] for level in LEVELS]
    passed_on = [*counts[1:], 0]
    return [(a - b) / counts[0] for a, b in zip(counts, passed_on, strict=True)]


def draw_levels_below(ax, sizes, asked):
    """Draw a bar of shares for each size on axes of their own, below what they share;
    return these axes.
    """
    below = axes_below(ax)
    below.set_xlabel(ax.get_xlabel())
    ax.set_xlabel("")
    for size, counts in zip(sizes, asked, strict=True):
        draw_shares(below, size, delivered(counts))
    below.set(ylabel="delivered by", ylim=(0, 1))
    below.yaxis.set_major_formatter("{x:.0%}")
    return below


def draw_shares(ax, size, shares):
    """Draw one bar, the nearest level at the bottom, or say that nobody counted."""
    if math.isnan(shares[0]):
        label(ax, size, 0.5, "?")
        return
    left, right = size / HALF_BAR, size * HALF_BAR
    bottom = 0
    for (name, tint), share in zip(LEVELS.items(), shares, strict=True):
        look = bar(tint) | {"align": "edge", "linewidth": 0.8}
        ax.bar(left, share, right - left, bottom, **look)
        if share >= ROOM:
            inside(ax, size, bottom + share / 2, name, fontsize=style.SMALL)
        bottom += share


def levels_in_words(sizes, asked):
    """For each size, a text, what the levels delivered."""
    for size, counts in zip(sizes, asked, strict=bool(asked)):
        pairs = zip(LEVELS, delivered(counts), strict=True)
        pairs = [(name, share) for name, share in pairs if share >= LEAST]
        parts = [f"{name} delivers {share:.0%}" for name, share in pairs]
        yield f"within {size}, {', '.join(parts) or 'not counted'}"


def draw_walk(ax, sizes, values, measured, crowded, marks):
    """Draw the values, numbered above where that is free, or say that none are."""
    if not measured:
        label(ax, 0.5, 0.5, "not measured", xycoords="axes fraction")
        ax.set_yticks([])
    dots = {"marker": "D", "markersize": 5, "color": style.MEASURED}
    ax.plot(sizes, values, linewidth=1.2, **dots)
    around = zip(sizes, values, [NAN, *values[:-1]], [*values[1:], NAN], strict=True)
    for size, value, before, after in around:
        if not math.isnan(value):
            rise = -10 if any(low < value < high for low, high in crowded) else 9
            late = any(mark < size < 1.3 * mark for mark in marks)
            offset, side = number_place(value, before, after, rise, late)
            note(ax, size, value, f"{value:,.0f}", offset, ha=side)


def number_place(value, before, after, rise, late):
    """Where a value's number is free of the curve, and of a mark if that is just left
    of it: its offset in points, and its side.
    """
    if value < 0.9 * before or late:
        return (7, -9 if after > value else 6), "left"
    return ((5, rise), "right") if after > 1.1 * value else ((0, rise), "center")


def plot_in_flight(points, latency_ns, limit, limit_label="the limit", ax=None):
    """The GB/s of several kernels by the bytes that they have in flight: {name: (bytes,
    GB/s)}, below what Little's law allows.

    A load takes `latency_ns` at least, so the rate is at most the bytes in flight over
    that, and at most the `limit`. What was not measured, None or NaN, stands as a ring
    on that line.
    """
    points = {k: (n / 1e6, (known([it]) or [NAN])[0]) for k, (n, it) in points.items()}
    slope = 1e6 / latency_ns  # GB/s for each MB in flight
    knee = limit / slope
    low = min([n for n, _ in points.values()] + [knee / 2]) / 2
    high = 4 * max([n for n, _ in points.values()] + [knee])
    with canvas(ax, 3.3) as ax:
        ax.set(xlabel="MB in flight, in all", ylabel="GB/s")
        if math.isnan(knee):
            return Picture(ax.figure, "Bytes in flight and rates: not measured.")
        ax.set(xlim=(low, high))
        draw_law(ax, [low, knee, high], limit, f"{limit_label}, {limit:,.0f} GB/s")
        text, middle = f"bytes in flight / {latency_ns:,.0f} ns", math.sqrt(low * knee)
        note(ax, middle, slope * middle, text, (-6, 6), ha="right", va="bottom")
        for name, (flying, rate) in points.items():
            roof = min(limit, slope * flying)
            left = flying < knee < 1.6 * flying and rate < roof / 2  # off the dashes
            draw_kernel(ax, name, flying, rate, roof, left)
        rates = present(rate for _, rate in points.values())
        ax.set_ylim(min([slope * low, *rates]) / 1.5, 2.2 * limit)
    facts = [f"{name}: {flight_text(*it)}" for name, it in points.items()]
    return Picture(
        ax.figure,
        f"Bytes in flight and rates. A load takes {latency_ns:,.0f} ns: "
        f"{limit_label}, {limit:,.0f} GB/s, needs {knee:.2g} MB in flight; "
        f"{'; '.join(facts)}.",
    )


def draw_law(ax, steps, limit, text):
    """Draw the highest rates on logarithmic axes: from the first step up to the limit
    at the second, and level to the third.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FEW)
    low, knee, high = steps
    start = limit * low / knee
    ax.plot(steps, [start, limit, limit], color=style.INK, linewidth=1.4)
    note(ax, high, limit, text, (0, 3), ha="right", va="bottom")
    ax.plot([knee, knee], [1e-9, limit], **DASHES)
    text = f"{knee:.2g} MB hide\nthe latency"
    note(ax, knee, start, text, (-6, 0), ha="right", va="bottom")


def flight_text(flying, rate):
    """The MB in flight of one kernel, and its rate, in words."""
    reached = "not measured" if math.isnan(rate) else f"{rate:,.0f} GB/s"
    return f"{flying:.2g} MB, {reached}"


def plot_speeds(names, gflop_per_s, peak=None, ax=None):
    """The GFLOP/s of several programs, far apart, and the peak that none can pass.

    The axis is logarithmic: each step to the right is ten times as fast.
    """
    speeds = known(gflop_per_s) or [NAN] * len(names)
    measured = present([*speeds, *known([peak])])
    low = 10 ** math.floor(math.log10(min(measured, default=1)))
    high = (8 if known([peak]) else 30) * max(measured, default=1)
    with canvas(ax, 0.8 + 0.34 * len(names)) as ax:
        ax.set(xscale="log", xlim=(low, high), xlabel="GFLOP/s")
        for position, speed in enumerate(speeds):
            near = any(speed < it < 8 * speed for it in known([peak]))
            draw_speed(ax, position, speed, low, near)
        for speed in known([peak]):
            limit_line(ax, speed, -0.5, f"peak, {speed:,.0f}", (4, 0), ha="left")
        name_rows(ax, names, -0.9)
    pairs = zip(names, speeds, strict=True)
    texts = [f"{speed_text(speed)} for {name}" for name, speed in pairs]
    parts = [f"GFLOP/s: {'; '.join(texts)}"]
    parts += [f"the peak is {speed:,.0f}" for speed in known([peak])]
    return Picture(ax.figure, "; ".join(parts) + ".")


def draw_speed(ax, position, speed, low, near):
    """Draw one speed with its value, above it if the peak is near, or say that there is
    none.
    """
    if math.isnan(speed):
        beside(ax, low, position, speed_text(speed))
        return
    ax.plot([low, speed], [position] * 2, color=style.MEASURED, linewidth=1)
    ax.plot(speed, position, "D", markersize=6, color=style.MEASURED)
    offset, side = ((0, 10), "center") if near else ((8, 0), "left")
    beside(ax, speed, position, speed_text(speed), offset, ha=side)


def plot_rates(rates, limit=None, limit_label="the limit", ax=None):
    """The GB/s of several programs on up to four inputs: {program: {input: GB/s}}.

    The axis is logarithmic. `limit` is a rate that none can pass; where nothing was
    measured there is NaN.
    """
    inputs = list(dict.fromkeys(name for row in rates.values() for name in row))
    rows = {
        name: dict(zip(row, known(row.values()) or [NAN] * len(row), strict=True))
        for name, row in rates.items()
    }
    measured = [rate for row in rows.values() for rate in present(row.values())]
    looks = [look for _, look in paired("inputs", list(marks()), inputs)]
    with canvas(ax, 1.1 + 0.42 * len(rates)) as ax:
        ax.set(xscale="log", xlabel="GB/s")
        ax.set(xlim=(min(measured, default=1) / 3, 3 * max(measured, default=10)))
        for position, row in enumerate(rows.values()):
            draw_rates(ax, position, [row.get(name, NAN) for name in inputs], looks)
        draw_key(ax, inputs, looks)
        for rate in known([limit]):
            text = f"{limit_label}, {rate:,.0f}"
            limit_line(ax, rate, -0.45, text, (5, 0), ha="left")
        name_rows(ax, rates)
    parts = [f"{name}: {listed_rates(row)}" for name, row in rows.items()]
    parts += [f"{limit_label} is {rate:,.0f}" for rate in known([limit])]
    return Picture(ax.figure, f"GB/s: {'; '.join(parts)}.")


MARKS = {"o": style.MEASURED, "s": style.PAPER, "^": style.MEASURED, "D": style.PAPER}


def marks():
    """How each input is marked: shapes, filled and open in turn."""
    look = {"linestyle": "", "markersize": 5, "markeredgecolor": style.MEASURED}
    return [look | {"marker": it, "markerfacecolor": MARKS[it]} for it in MARKS]


def draw_rates(ax, position, values, looks):
    """Draw one program's rates, each input a little lower, and the ends' values."""
    if not present(values):
        beside(ax, ax.get_xlim()[0], position, "not measured")
        return
    low, high = min(present(values)), max(present(values))
    ax.plot([low, high], [position] * 2, color=style.MEASURED, linewidth=1)
    for turn, (value, look) in enumerate(zip(values, looks, strict=True)):
        ax.plot(value, position + 0.16 * (turn - (len(values) - 1) / 2), **look)
    beside(ax, low, position, speed_text(low), (-8, 0), ha="right")
    if speed_text(high) != speed_text(low):
        beside(ax, high, position, speed_text(high), (8, 0))


def draw_key(ax, inputs, looks):
    """Say above the rates which mark is which input."""
    for name, look in zip(inputs, looks, strict=True):
        ax.plot([], [], label=name, **look)
    key_above(ax, len(inputs))


def listed_rates(row):
    """The rates of one program in words."""
    return ", ".join(f"{speed_text(it)} for {name}" for name, it in row.items())


def speed_text(speed):
    """A speed with as many digits as matter."""
    if math.isnan(speed):
        return "not measured"
    return f"{speed:,.0f}" if speed >= 100 else f"{speed:.3g}"


def size_text(size):
    """A size in bytes as people say it."""
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if size >= unit:
            return f"{round(size / unit, 1):g} {name}"
    return f"{size:g} B"
