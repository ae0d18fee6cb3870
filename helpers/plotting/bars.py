"""What figures of rows share: a row for each name, bars, limits, and what was measured
at all.
"""

import math

from helpers.plotting.boxes import DASHES
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.pictures import label, note

NAN = float("nan")
LEVELS = {"L1": 0.15, "L2": 0.35, "memory": 0.6}  # the farther, the darker a bar
FEW = "{x:,.10g}"  # how an axis writes its numbers: no more digits than they have


def known(values):
    """The values, with NaN for None; nothing at all if no value is a number."""
    values = () if values is None else values
    values = [NAN if it is None else float(it) for it in values]
    return [] if all(map(math.isnan, values)) else values


def present(values):
    """The values that are numbers."""
    return [it for it in values if not math.isnan(it)]


def listed(values, names, number, phrase, between=", "):
    """Each value with its name, in words."""
    texts = ["not measured" if math.isnan(it) else number.format(it) for it in values]
    pairs = zip(texts, names, strict=True)
    return between.join(phrase.format(*pair) for pair in pairs)


def paired(what, looks, names):
    """Each thing with a look of its own, if there are looks for all."""
    if len(names) > len(looks):
        raise ArgumentError(
            f"{len(names)} {what}, and one figure tells {len(looks)} apart at most: "
            "draw them in two figures"
        )
    return zip(names, looks, strict=False)


def name_rows(ax, names, top=-0.6, below=0.4, xaxis=FEW):
    """Name the rows from top to bottom, and let the axis write its numbers so."""
    ax.set(ylim=(len(names) - below, top))
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize=9)
    if xaxis:
        ax.xaxis.set_major_formatter(xaxis)


def bar(share=0.35):
    """How a bar of what was measured looks."""
    fill = style.tint(style.MEASURED, share)
    return {"color": fill, "edgecolor": style.MEASURED}


def limit_line(ax, value, row, text, offset, **options):
    """Draw the line that no row can pass, with its name at a row."""
    ax.axvline(value, **DASHES)
    note(ax, value, row, text, offset, **options)


def beside(ax, x, row, text, offset=(6, 0), **options):
    """Write to the right of a row's mark, or of the start of its row."""
    label(ax, x, row, text, offset, **{"ha": "left", "fontsize": 9} | options)


def key_above(ax, columns, **options):
    """Say in a row above the axes which mark is which."""
    options |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(ncols=columns, frameon=False, fontsize=style.SMALL, **options)
