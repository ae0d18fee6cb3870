"""What figures of boxes share: axes on which rows count downwards, rows of boxes, and
lines between them.
"""

from contextlib import contextmanager

from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.pictures import bare, canvas, cell

MOST = 40  # boxes in a row that can still be read
ROW_INCHES = 0.27
SHARES = 0.45, 0.15  # neighbours take turns in dark and light
DASHES = {"color": style.INK, "linewidth": 1.2, "linestyle": (0, (4, 3))}


@contextmanager
def board(ax, height, across, down, rows=None, width=None, margin=0.1):
    """Lend axes for so many boxes, with the names of some rows, {top: name}."""
    with canvas(ax, height, width or width_for(across)) as ax:
        bare(ax)
        ax.set(xlim=(-margin, across + margin), ylim=(down + 0.1, -0.1))
        if rows:
            ax.set_yticks([row + 0.5 for row in rows], rows.values())
        yield ax


def refuse_too_many(boxes):
    """Raise where the boxes would be too small to read."""
    if boxes > MOST:
        text = f"{boxes} boxes in a row, at most {MOST} fit: draw a smaller grid"
        raise ArgumentError(text)


def width_for(boxes):
    return min(style.WIDTH_INCHES, 1 + 0.36 * boxes)


def fill_row(ax, top, boxes, left=0):
    """Draw boxes side by side, each given as (text, colour, share)."""
    for position, (text, colour, share) in enumerate(boxes, left):
        cell(ax, position, top, str(text), colour, share=share)


def join(ax, cells, rows, colour, linewidth=1.1):
    """Draw a line from the middle of one cell to that of another."""
    ends = [it + 0.5 for it in cells]
    ax.plot(ends, rows, color=colour, linewidth=linewidth, zorder=0)


def in_monospace(ax, names):
    """Name the rows in letters of a program."""
    ax.set_yticks([row + 0.5 for row in range(len(names))], names)
    for text in ax.get_yticklabels():
        text.set_family("monospace")


def shade(ax, values, darkest, **options):
    """Draw a box for each number of a matrix, the darker the higher."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("shades", [style.PAPER, darkest])
    rows, cols = values.shape
    ax.pcolormesh(range(cols + 1), range(rows + 1), values, cmap=shades, **options)
