"""The contact sheet of a film: a few moments, each with its lanes and its tile."""

from collections import defaultdict
from textwrap import fill
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import Picture, bare, inside

COLUMNS = 3
CAPTION, CODE = 34, 34  # characters in a line
MOST_WARPS = 8  # that a panel shows
MOST_CELLS = 32  # of a side of a tile
LANE_INCHES = 0.14
STATES = {  # of a lane: colour, share of it, hatch, what it means
    "active": (style.INK, 0.85, "", "in this step"),
    "runs": (style.PLAIN, 0.45, "", "elsewhere"),
    "waits": (style.PLAIN, 0.12, "////", "waits"),
    "left": (style.IDLE, 0.05, "", "has left"),
}
FINDING = style.EMULATED  # purple, as in the player: apart from the orange of stores
EDGES = {"load": style.LOAD, "store": style.STORE, "atomic": style.STORE}


class Panel(NamedTuple):
    """A moment of a film: its caption, the line that runs, and what is there then.

    `lanes` has a row of names of STATES for each warp. `tile` is what an array holds,
    (rows, columns), NaN where nothing was written, or None; `name` says which array it
    is. `touched` has "load", "store" or "atomic" by (row, column), `wrong` the cells of
    a finding.
    """

    caption: str
    line: str
    lanes: list
    name: str = ""
    tile: np.ndarray | None = None
    touched: dict = {}
    wrong: frozenset = frozenset()


def plot_film(panels, alt):
    """The moments of a film side by side, and the sentence that says what they show."""
    from matplotlib.figure import Figure

    rows = [panels[at : at + COLUMNS] for at in range(0, len(panels), COLUMNS)]
    heights = [max(map(height_of, row)) for row in rows]
    with style.look():
        figure = Figure((style.WIDTH_INCHES, sum(heights) + 0.35))
        top = sum(heights) + 0.35
        for row, height in zip(rows, heights, strict=True):
            for column, panel in enumerate(row):
                draw_panel(figure, panel, column, top)
            top -= height
        draw_legend(figure, panels)
    return Picture(figure, alt)


def height_of(panel) -> float:
    """The inches that a panel needs."""
    text = 0.15 * (fill(panel.caption, CAPTION).count("\n") + 1) + 0.2
    lanes = LANE_INCHES * min(len(panel.lanes), MOST_WARPS) + 0.14
    return text + lanes + (tile_height(panel.tile) + 0.24) + 0.2


def tile_height(tile) -> float:
    """The inches of a tile, whose cells are squares unless it has one row."""
    if tile is None:
        return 0
    return max(0.14, tile.shape[0] * cell_inches(tile))


def cell_inches(tile) -> float:
    """The side of a cell on the page."""
    return min(0.14, 2.2 / max(tile.shape))


def draw_panel(figure, panel, column, top):
    """Draw a panel below `top`, in inches from the figure's lower edge."""
    left = 0.15 + column * (figure.get_size_inches()[0] - 0.1) / COLUMNS
    caption = fill(panel.caption, CAPTION)
    write(figure, left, top - 0.05, caption, weight="bold")
    top -= 0.15 * (caption.count("\n") + 1) + 0.1
    code = panel.line if len(panel.line) <= CODE else panel.line[: CODE - 1] + "…"
    write(figure, left, top, code, family="DejaVu Sans Mono", fontsize=style.SMALL)
    top -= 0.2
    lanes = panel.lanes[:MOST_WARPS]
    tall = LANE_INCHES * len(lanes)
    draw_lanes(axes(figure, left, top - tall, 2.24, tall), lanes)
    if panel.tile is not None:
        top -= tall + 0.06
        write(figure, left, top, panel.name, fontsize=style.SMALL)
        wide, tall = cell_inches(panel.tile), tile_height(panel.tile)
        wide *= panel.tile.shape[1]
        draw_tile(axes(figure, left, top - 0.17 - tall, wide, tall), panel)


def write(figure, left, top, text, **options):
    """Write below a place in inches."""
    width, height = figure.get_size_inches()
    figure.text(left / width, top / height, text, va="top", **options)


def axes(figure, left, bottom, width, height):
    """Axes at a place in inches."""
    across, down = figure.get_size_inches()
    box = left / across, bottom / down, width / across, height / down
    ax = figure.add_axes(box)
    bare(ax)
    return ax


def draw_lanes(ax, lanes):
    """A row of 32 boxes for each warp, by what its lanes do."""
    places = defaultdict(list)
    for row, states in enumerate(lanes):
        for lane, state in enumerate(states):
            places[state].append((lane + 0.08, row + 0.1))
    for state, corners in places.items():
        colour, share, hatch, _ = STATES[state]
        look = {"facecolor": style.tint(colour, share), "edgecolor": style.PLAIN}
        draw_boxes(ax, corners, (0.84, 0.8), linewidth=0.3, hatch=hatch, **look)
    ax.set(xlim=(0, 32), ylim=(len(lanes), 0))


def draw_tile(ax, panel):
    """The cells: darker for larger values, hatched where nothing was written."""
    rows, columns = panel.tile.shape
    values = shades(panel.tile)
    empty = np.isnan(values)
    grid = {"edgecolor": style.tint(style.PLAIN, 0.5), "linewidth": 0.2}
    colours = [style.tint(style.PLAIN, value) for value in values[~empty]]
    draw_boxes(ax, np.argwhere(~empty)[:, ::-1], (1, 1), facecolor=colours, **grid)
    blank = {"facecolor": style.PAPER, "hatch": "////"}
    draw_boxes(ax, np.argwhere(empty)[:, ::-1], (1, 1), **blank, **grid)
    for kind, colour in EDGES.items():
        cells = [cell for cell, what in panel.touched.items() if what == kind]
        edge = {"edgecolor": colour, "linewidth": 1.4, "facecolor": "none"}
        draw_boxes(ax, [(x + 0.1, y + 0.1) for y, x in cells], (0.8, 0.8), **edge)
    for row, column in panel.wrong:
        inside(ax, column + 0.5, row + 0.5, "✕", color=FINDING, weight="bold")
    ax.set(xlim=(0, columns), ylim=(rows, 0))


def draw_boxes(ax, corners, size, hatch=None, **look):
    """Boxes of one size, by their corners (x, y): many in the time that one takes."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not len(corners):
        return
    width, height = size
    outline = np.array([(0, 0), (width, 0), (width, height), (0, height)])
    shapes = np.asarray(corners)[:, None] + outline
    if hatch:  # it is drawn anew for each shape of a collection
        closed = np.concatenate([shapes, shapes[:, :1]], axis=1)
        paths = (Path(it, closed=True) for it in closed)
        whole = Path.make_compound_path(*paths)
        ax.add_patch(PathPatch(whole, hatch=hatch, **look))
    else:
        ax.add_collection(PolyCollection(shapes, **look), autolim=False)


def shades(tile) -> np.ndarray:
    """The share of colour of each cell, by its value among the others."""
    known = tile[np.isfinite(tile)]
    low, high = (known.min(), known.max()) if known.size else (0, 1)
    scaled = (tile - low) / (high - low) if high > low else tile * 0 + 0.3
    return np.where(np.isnan(tile), np.nan, 0.08 + 0.7 * np.clip(scaled, 0, 1))


def draw_legend(figure, panels):
    """What the boxes and edges mean, in one line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    seen = {state for panel in panels for row in panel.lanes for state in row}
    rim = {"edgecolor": style.PLAIN}
    handles = [
        Patch(facecolor=style.tint(*look), hatch=hatch, label=f"lane {words}", **rim)
        for name, (*look, hatch, words) in STATES.items()
        if name in seen
    ]
    kinds = {kind for panel in panels for kind in panel.touched.values()}
    handles += [
        Patch(fill=False, edgecolor=EDGES[kind], linewidth=1.4, label=kind)
        for kind in ("load", "store", "atomic")
        if kind in kinds
    ]
    if any(p.tile is not None and np.isnan(p.tile).any() for p in panels):
        blank = Patch(facecolor=style.PAPER, hatch="////", label="unwritten", **rim)
        handles.append(blank)
    if any(panel.wrong for panel in panels):
        mark = {"marker": "$✕$", "linestyle": "", "color": FINDING}
        handles.append(Line2D([], [], label="finding", **mark))
    figure.legend(
        handles=handles,
        ncols=len(handles),
        loc="lower left",
        frameon=False,
        fontsize=style.SMALL,
        handlelength=1.2,
        columnspacing=1.2,
    )
