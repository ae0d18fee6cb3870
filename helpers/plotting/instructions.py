"""What machine instructions are for: a bar for each kernel, a part for each group."""

from helpers.plotting.bars import key_above, name_rows
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
    ("the rest", style.IDLE, "....", ()),
)
NARROW = 1 / 40  # of the longest bar: a part that has no room for its number


def plot_instructions(kinds, ax=None):
    """The instructions of each kernel by what they are for.

    `kinds` is {name: {kind: how many}}, as in `Assembly.kinds`.
    """
    rows = {name: grouped(counts) for name, counts in kinds.items()}
    longest = max(sum(row.values()) for row in rows.values())
    with canvas(ax, 1.15 + 0.42 * len(rows)) as ax:
        for position, row in enumerate(rows.values()):
            draw_row(ax, position, row, NARROW * longest)
        ax.set(xlim=(0, 1.08 * longest), xlabel="machine instructions")
        name_rows(ax, rows, xaxis=None)
        draw_key(ax)
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
    found["the rest"] = sum(counts.values()) - sum(found.values())
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


def draw_key(ax):
    """Say above the bars which part is which."""
    from matplotlib.patches import Patch

    parts = [
        Patch(label=name, **filled(colour, hatch)) for name, colour, hatch, _ in GROUPS
    ]
    key_above(ax, len(parts), handles=parts, columnspacing=1.2, handlelength=1.6)


def filled(colour, hatch):
    """How a part looks: pale in its colour, and hatched."""
    return {"facecolor": style.tint(colour, 0.3), "edgecolor": colour, "hatch": hatch}
