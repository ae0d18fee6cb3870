"""Where a walk over sizes writes its numbers."""

import pytest

from helpers import plotting


@pytest.mark.parametrize(
    ("number", "side", "below"),
    [("20", "right", False), ("90", "left", True), ("150", "center", False)],
)
def test_a_number_keeps_off_the_curve_and_off_where_a_level_ends(number, side, below):
    """20 rises to 90, just right of a level's end; 150 is the last."""
    sizes = [2**14, 2**18, 2**22]
    picture = plotting.plot_latency(sizes, [20, 90, 150], {"L1": 2**18 - 2**14})

    (text,) = [it for it in picture.figure.axes[0].texts if it.get_text() == number]

    assert (side, below) == (text.get_horizontalalignment(), text.xyann[1] < 0)
