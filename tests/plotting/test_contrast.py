"""Everything that a figure draws can be told from what lies behind it.

The ratios are those of WCAG 2.2: 4.5 for text (criterion 1.4.3), 3 for a mark (1.4.11).
A figure paints its own paper, white on a light page and nearly black on a dark one, so
that its own colours decide on both.

Not modelled: lines that cross boxes, and how thin a line is.
"""

from functools import lru_cache
from itertools import chain

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba

from helpers import plotting
from tests.plotting.figures import pictures
from thirty_two_lanes.core import style
from thirty_two_lanes.core.pages import html

LEAST = {"text": 4.5, "mark": 3}
PAGES = {
    "light": lambda colour: colour,
    "dark": lambda colour: style.dark(to_hex(colour).upper()),
}


@pytest.mark.parametrize("name", plotting.__all__)
def test_a_figure_can_be_read_on_a_light_and_a_dark_page(name):
    """No text is below 4.5:1, and no mark below 3:1, against what they are on."""
    assert {} == {
        (page, what): round(ratio, 2)
        for picture in pictures(name)
        for what, kind, colours, grounds in pairs(picture)
        for page, on in PAGES.items()
        if (ratio := least(colours, grounds, on)) < LEAST[kind]
    }


@pytest.mark.parametrize("share", [1, 0.5, 0.12])
@pytest.mark.parametrize("colour", style.DARK)
def test_the_dark_of_a_tint_is_a_tint_of_the_dark(colour, share):
    """Nothing but the colour itself tells which colour it came from."""
    found = style.dark(style.tint(colour, share))
    left = 1 if share == 1 else 0.6 * share
    grey = colour == style.INK and share < 1  # the tints of ink are those of idle

    near = style.mixed(style.DARK[colour], style.DARK_PAPER, left)
    apart = np.subtract(style.channels(near), style.channels(found))
    assert grey or np.abs(apart).max() <= 2


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


def pairs(picture):
    """Each text and mark of a figure: its colours, and those that it may be on."""
    assert (1, 1, 1, 1) == picture.figure.get_facecolor()
    with style.look():  # gives everything its place and its colours
        FigureCanvasAgg(picture.figure).draw()
    for ax in picture.axes:
        for text in texts_of(ax):
            grounds = [style.PAPER, *behind(ax, text, ax.patches)]
            if box := text.get_bbox_patch():
                grounds = [box.get_facecolor()]
            yield f"text {text.get_text()!r}", "text", [text.get_color()], grounds
        for what, colours, grounds in marks_of(ax):
            yield what, "mark", colours, grounds


def least(colours, grounds, on):
    """The ratio of the best colour of a mark, on the worst ground, on a page."""
    seen = [it for it in colours if to_rgba(it)[3]]
    return min(max(contrast(on(it), on(ground)) for it in seen) for ground in grounds)


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


@lru_cache(maxsize=10_000)
def extent(artist):
    """The pixels of what was drawn: each box is asked for by all that is above it."""
    return artist.get_window_extent()


def behind(ax, artist, boxes):
    """The colours on which the middle of something may be: the box below it, or else
    all those of a mesh, or else white.
    """
    box = extent(artist)
    middle = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    for below in reversed(boxes):
        if extent(below).contains(*middle):
            return [below.get_facecolor()]
    meshes = [it for it in ax.collections if isinstance(it, QuadMesh)]
    if meshes and ax.bbox.contains(*middle):
        return [*chain.from_iterable(it.get_facecolor() for it in meshes)]
    return [style.PAPER]
