"""What machine instructions are for, in all or for each step of a loop: a bar for each
kernel, a part for each group.
"""

import math

from helpers.plotting.bars import NAN, beside, key_above, known, name_rows
from thirty_two_lanes.core import style
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, canvas, label, note

MOVES = [
    f"{space} {kind}"
    for space in ("global", "shared", "local", "generic")
    for kind in ("loads", "stores")
]
GROUPS = (  # name, colour, hatch, and the kinds of `Assembly.kinds` that it holds
    (
        "arithmetic",
        style.PLAIN,
        "",
        ("float32", "float16", "special functions", "matrix units"),
    ),
    ("float64 and conversions", style.CONFLICT, "///", ("float64", "conversions")),
    ("loads and stores", style.LOAD, "\\\\\\", (*MOVES, "atomics", "shuffles")),
    ("integers and addresses", style.STORE, "---", ("integers and addresses",)),
    ("moves", style.PLAIN, "xxx", ("moves",)),
    ("arguments", style.LOAD, "|||", ("constant loads",)),
    ("control and the rest", style.IDLE, "....", ()),
)
REST = GROUPS[-1][0]
KEY_COLUMNS = 4
NARROW = 1 / 40  # of the longest bar: a part that has no room for its number


def plot_instructions(kinds, ax=None):
    """The instructions of each kernel by what they are for.

    `kinds` is {name: {kind: how many}}, as in `Assembly.kinds`.
    """
    rows = {name: grouped(counts) for name, counts in kinds.items()}
    longest = max(sum(row.values()) for row in rows.values())
    with canvas(ax, 1.35 + 0.42 * len(rows)) as ax:
        for position, row in enumerate(rows.values()):
            draw_row(ax, position, row, NARROW * longest)
        ax.set(xlim=(0, 1.08 * longest), xlabel="machine instructions")
        name_rows(ax, rows, xaxis=None)
        used = [it for it in GROUPS if any(row[it[0]] for row in rows.values())]
        draw_key(ax, used)
    facts = (
        f"{name}: {counted(sum(row.values()), 'instruction')}, "
        + ", ".join(f"{n:,} {group}" for group, n in row.items() if n)
        for name, row in rows.items()
    )
    return Picture(ax.figure, "; ".join(facts) + ".")


def grouped(counts):
    """How many instructions there are of each group."""
    found = {
        name: sum(counts.get(kind, 0) for kind in kinds) for name, *_, kinds in GROUPS
    }
    found[REST] = sum(counts.values()) - sum(found.values())
    return found


def draw_row(ax, position, row, narrow):
    """Draw the parts of one bar, each with its number where there is room."""
    left = 0
    for name, colour, hatch, _ in GROUPS:
        number = row[name]
        ax.barh(position, number, 0.62, left, **filled(colour, hatch))
        if number > narrow:
            note(ax, left + number / 2, position, f"{number:,}")
        left += number
    label(ax, left, position, f"{left:,}", (5, 0), ha="left", fontweight="bold")


def draw_key(ax, groups):
    """Say above the bars which part is which."""
    from matplotlib.patches import Patch

    parts = [
        Patch(label=name, **filled(colour, hatch)) for name, colour, hatch, *_ in groups
    ]
    columns = min(len(parts), KEY_COLUMNS)
    key_above(ax, columns, handles=parts, columnspacing=1.2, handlelength=1.6)


def filled(colour, hatch):
    """How a part looks: pale in its colour, and hatched."""
    return {"facecolor": style.tint(colour, 0.3), "edgecolor": colour, "hatch": hatch}


# ---------------------------------------------------------------- of each step

PARTS = (  # of a step: name, colour, hatch
    ("product", style.PLAIN, ""),
    ("loads", style.LOAD, "\\\\\\"),
    ("all else", style.STORE, "---"),
)


def plot_steps(steps, ax=None):
    """The instructions of a loop for each of its steps, {name: (the products, the
    loads, all)}; None or NaN where nothing was counted.
    """
    rows = {name: parts_of(*counts) for name, counts in steps.items()}
    sums = {name: sum(row) for name, row in rows.items()}
    longest = max((it for it in sums.values() if not math.isnan(it)), default=1)
    with canvas(ax, 1.05 + 0.36 * len(rows)) as ax:
        for position, row in enumerate(rows.values()):
            draw_step(ax, position, row)
        ax.set(xlim=(0, 1.1 * longest), xlabel="instructions for each step")
        name_rows(ax, rows)
        draw_key(ax, PARTS)
    facts = (f"{name}: {step_text(row)}" for name, row in rows.items())
    return Picture(ax.figure, f"Instructions for each step. {'; '.join(facts)}.")


def parts_of(products, loads, whole):
    """The three parts of a step's instructions."""
    products, loads, whole = known([products, loads, whole]) or [NAN] * 3
    return products, loads, whole - products - loads


def draw_step(ax, position, row):
    """Draw the parts of one step, and their sum, or say that nobody counted."""
    if math.isnan(sum(row)):
        beside(ax, 0, position, "not counted")
        return
    left = 0
    for (_, colour, hatch), number in zip(PARTS, row, strict=True):
        ax.barh(position, number, 0.62, left, **filled(colour, hatch))
        left += number
    label(ax, left, position, f"{left:.1f}", (5, 0), ha="left", fontweight="bold")


def step_text(row):
    """A step's instructions in words."""
    if math.isnan(sum(row)):
        return "not counted"
    parts = (f"{it:.1f} {name}" for (name, *_), it in zip(PARTS, row, strict=True))
    return f"{sum(row):.1f}, of which {', '.join(parts)}"
