"""Everything that a figure draws can be told from what lies behind it.

The ratios are those of WCAG 2.2: 4.5 for text (criterion 1.4.3), 3 for a mark (1.4.11).
A figure is opaque white on a light page and on a dark one, so that its own colours
decide on both.

Not modelled: lines that cross boxes, and how thin a line is.
"""

from itertools import chain

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_rgba

from helpers import plotting
from helpers.core import html, style

LANES = range(32)
HALF = [lane < 16 for lane in LANES]
SIZES = 2**18, 2**16, 2**12, 3 * 2**20, 5 * 2**30
ASKED = {"L1": 100, "L2": 60, "memory": 30}
SWEEP = {"stride": ([1, 2], [4, 8], [900, 500], [900, 1000])}
KINDS = ("float32", "float64", "global loads", "integers and addresses", "calls")
RACE = [[("store", 0)], [("load", 0)]], [[("store", 0)], [("load", 1)]]
FIGURES = {
    "plot_bandwidth": lambda: plotting.plot_bandwidth(
        [2**14, 2**21], [900, 800], {"L1 ends": 2**18}, {"a copy": 700}, [ASKED] * 2
    ),
    "plot_banks": lambda: [
        plotting.plot_banks([0, 128, 4, 132], kind=kind) for kind in style.KINDS
    ]
    + [plotting.plot_banks([0, 4, 8], kind=kind) for kind in style.KINDS],
    "plot_conflicts": lambda: plotting.plot_conflicts([1, 2], [0, 1], [0, 1], [5, 6]),
    "plot_exchange": lambda: plotting.plot_exchange([0, 1], [1, None]),
    "plot_exposed": lambda: plotting.plot_exposed(
        [1, 2], {"one": [0, 9], "other": [0, 5]}, 10
    ),
    "plot_grid": lambda: [plotting.plot_grid(2, 4, n) for n in (7, 9)],
    "plot_grid_2d": lambda: plotting.plot_grid_2d((2, 1), (4, 3), (5, 7)),
    "plot_grid_stride": lambda: plotting.plot_grid_stride(2, 4, 11),
    "plot_halo": lambda: plotting.plot_halo(2, 4, 1),
    "plot_strip_walk": lambda: plotting.plot_strip_walk(5, 3, 2),
    "plot_hierarchy": lambda: plotting.plot_hierarchy(8, *SIZES),
    "plot_instructions": lambda: plotting.plot_instructions(
        {"a kernel": dict.fromkeys(KINDS, 9)}
    ),
    "plot_intervals": lambda: plotting.plot_intervals(RACE),
    "plot_issues": lambda: plotting.plot_issues([(0, "a", HALF), (1, "b", HALF)]),
    "plot_lanes": lambda: plotting.plot_lanes({"a line": HALF}),
    "plot_latency": lambda: plotting.plot_latency([512, 4096], [9, 8], {"L1": 1024}),
    "plot_levels": lambda: plotting.plot_levels({"rows": ASKED}),
    "plot_look_back": lambda: plotting.plot_look_back(["prefix", "sum", "", "sum"], 2),
    "plot_rates": lambda: plotting.plot_rates(
        {"a": {"p": 1, "q": 20}, "b": {"p": 300, "q": 300}}, 4000
    ),
    "plot_register_tile": lambda: plotting.plot_register_tile(
        [0, 1, 8, 9], [0, 1], (32, 16), (range(16), range(8))
    ),
    "plot_reuse": lambda: [
        plotting.plot_reuse(np.arange(size).reshape(1, -1)) for size in (4, 40)
    ],
    "plot_roofline": lambda: plotting.plot_roofline({"a": (2, 100), "b": (3, None)}),
    "plot_row_times_column": lambda: plotting.plot_row_times_column(tile=2),
    "plot_scan": lambda: plotting.plot_scan(4, [[(0, 1), (2, 3)], [(1, 3)]]),
    "plot_rungs": lambda: plotting.plot_rungs(["a", "b"], [90, 12], [70, None], 77),
    "plot_schedule": lambda: plotting.plot_schedule({0: 2, 1: 3, 2: 1}, 2),
    "plot_sectors": lambda: [
        plotting.plot_sectors([0, 4, 128], kind=kind) for kind in style.KINDS
    ],
    "plot_series": lambda: plotting.plot_series(
        [1, 9], {"a": [3, 4], "b": [5, 4], "c": [1, 1]}, "lines", 1
    ),
    "plot_speeds": lambda: plotting.plot_speeds(["a", "b"], [10, 500], 1000),
    "plot_stages": lambda: plotting.plot_stages({"way": {"there": 9, "back": 9}}),
    "plot_sweeps": lambda: plotting.plot_sweeps(SWEEP, 1100),
    "plot_tile_banks": lambda: [
        plotting.plot_tile_banks([range(4)] * 2, cells, kind, 1)
        for cells in ([(0, 2), (1, 2)], [(0, 0), (0, 2)])
        for kind in style.KINDS
    ],
    "plot_tile_cycle": plotting.plot_tile_cycle,
    "plot_tile_walk": plotting.plot_tile_walk,
    "plot_times": lambda: plotting.plot_times(["a"], [3], [(2, 4)], 1),
    "plot_tree": lambda: plotting.plot_tree([{0: (0, 1), 1: (2, 3)}, {0: (0, 2)}], 4),
    "plot_warps": lambda: [plotting.plot_warps(it) for it in (33, (4, 4))],
}
LEAST = {"text": 4.5, "mark": 3}


@pytest.mark.parametrize("name", plotting.__all__)
def test_a_figure_can_be_read_on_a_light_and_a_dark_page(name):
    """No text is below 4.5:1, and no mark below 3:1, against what they are on."""
    drawn = FIGURES[name]()

    assert {} == {
        what: round(ratio, 2)
        for picture in (drawn if isinstance(drawn, list) else [drawn])
        for what, kind, ratio in contrasts(picture)
        if ratio < LEAST[kind]
    }


@pytest.mark.parametrize("page", ["#FFFFFF", "#111111"], ids=["light", "dark"])
@pytest.mark.parametrize("edge", [style.CONFLICT, style.STORE])
def test_the_edge_of_a_line_of_a_report_stands_out(edge, page):
    """From the page, and from the line's own ground, which is a thin layer of it."""
    share = int(html.TINT, 16) / 255
    ground = share * np.array(to_rgba(edge)) + (1 - share) * np.array(to_rgba(page))

    assert contrast(edge, page) >= 3
    assert contrast(edge, ground) >= 3


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#FFFFFF", 21), ("#777777", "#FFFFFF", 4.48), ("#F00", "#F00", 1)],
)
def test_contrast_is_wcags(one, other, ratio):
    """Ratios that WCAG's own text and its checkers name."""
    assert ratio == round(contrast(one, other), 2)


def luminance(colour):
    """How light a colour is, by WCAG's definition."""
    channels = np.array(to_rgba(colour)[:3])
    curved = ((channels + 0.055) / 1.055) ** 2.4
    linear = np.where(channels <= 0.04045, channels / 12.92, curved)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one, other):
    """The ratio of two colours, the lighter over the darker."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def contrasts(picture):
    """Each text and mark of a figure, and its least ratio to what it may be on."""
    assert (1, 1, 1, 1) == picture.figure.get_facecolor()
    with style.look():  # gives everything its place and its colours
        FigureCanvasAgg(picture.figure).draw()
    for ax in picture.axes:
        for text in texts_of(ax):
            grounds = [style.PAPER, *behind(ax, text, ax.patches)]
            if box := text.get_bbox_patch():
                grounds = [box.get_facecolor()]
            ratio = least([text.get_color()], grounds)
            yield f"text {text.get_text()!r}", "text", ratio
        for what, colours, grounds in marks_of(ax):
            yield what, "mark", least(colours, grounds)


def least(colours, grounds):
    """The ratio of the best colour of a mark, on the worst ground."""
    seen = [it for it in colours if to_rgba(it)[3]]
    return min(max(contrast(it, ground) for it in seen) for ground in grounds)


def texts_of(ax):
    """Every text that is seen: notes, names of axes and ticks, and the legend."""
    ticks = chain(ax.get_xticklabels(), ax.get_yticklabels())
    key = ax.get_legend().get_texts() if ax.get_legend() else []
    texts = chain(ax.texts, ticks, key, [ax.xaxis.label, ax.yaxis.label])
    return [it for it in texts if it.get_visible() and it.get_text()]


def marks_of(ax):
    """Every bar, box, line and point: its colours, and what it may be on."""
    for turn, patch in enumerate(ax.patches):
        colours = patch.get_facecolor(), patch.get_edgecolor()
        rim = patch.get_path_effects() and [style.PAPER]
        grounds = rim or behind(ax, patch, ax.patches[:turn])
        yield f"{type(patch).__name__} {turn}", colours, grounds
    for turn, line in enumerate(ax.lines):
        colours = [line.get_color(), line.get_markeredgecolor()]
        yield f"line {turn}", colours, [style.PAPER]
    for group in ax.collections:
        if isinstance(group, PathCollection):
            colours = [*group.get_facecolor(), *group.get_edgecolor()]
            yield "points", colours, [style.PAPER]
        if isinstance(group, QuadMesh) and not ax.texts[1:]:
            yield "the most loads", group.get_facecolor()[-1:], [style.PAPER]


def behind(ax, artist, boxes):
    """The colours on which the middle of something may be: the box below it, or else
    all those of a mesh, or else white.
    """
    box = artist.get_window_extent()
    middle = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    for below in reversed(boxes):
        if below.get_window_extent().contains(*middle):
            return [below.get_facecolor()]
    meshes = [it for it in ax.collections if isinstance(it, QuadMesh)]
    if meshes and ax.bbox.contains(*middle):
        return [*chain.from_iterable(it.get_facecolor() for it in meshes)]
    return [style.PAPER]
