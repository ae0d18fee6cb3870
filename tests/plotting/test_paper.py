"""All that a figure says is on its paper, in the SVG and in the PNG beside it."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from helpers import plotting
from tests.plotting.figures import pictures
from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import CSS_PIXELS_PER_INCH

ROUNDING = 0.5  # of a pixel


@pytest.mark.parametrize("name", plotting.__all__)
def test_no_text_is_cut_off_where_the_layout_was_made_for_the_svg(name):
    """Letters that are moved to whole pixels would be wider in the PNG."""
    for picture in pictures(name):
        assert [] == beyond(picture.figure)


def beyond(figure):
    """The texts that are not wholly on the paper of a figure that was laid out."""
    figure.set_layout_engine("none")
    figure.dpi = CSS_PIXELS_PER_INCH
    with style.look():
        drawing = FigureCanvasAgg(figure)
        drawing.draw()
        renderer = drawing.get_renderer()
        unseen = {tick for ax in figure.axes for tick in out_of_view(ax)}
        return [
            text.get_text()
            for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and text not in unseen
            if not on(figure.bbox, text.get_window_extent(renderer))
        ]


def out_of_view(ax):
    """The labels of ticks beyond an axis' ends, which are not drawn."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def on(paper, box):
    """Is a box on the paper?"""
    return (
        box.x0 >= paper.x0 - ROUNDING
        and box.y0 >= paper.y0 - ROUNDING
        and box.x1 <= paper.x1 + ROUNDING
        and box.y1 <= paper.y1 + ROUNDING
    )
