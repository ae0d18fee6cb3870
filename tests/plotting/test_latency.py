"""Where a walk over sizes writes its numbers, and what latency allows."""

import math

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


def test_littles_law_bounds_the_rate():
    """At 349 ns and 4,600 GB/s, 1.6 MB must be in flight (lesson 11); at half of that,
    half the rate is allowed.
    """
    picture = plotting.plot_in_flight(
        {"few": (0.8027e6, None), "many": (4e6, 4000)}, 349, 4600, "memory"
    )

    ax = picture.figure.axes[0]
    law, knee = ax.lines[:2]
    ring = next(it for it in ax.lines if it.get_marker() == "o")
    diamond = next(it for it in ax.lines if it.get_marker() == "D")
    assert 1.6 == round(knee.get_xdata()[0], 1) == round(law.get_xdata()[1], 1)
    assert pytest.approx([0.8027, 2300]) == [*ring.get_xdata(), *ring.get_ydata()]
    assert [4, 4000] == [*diamond.get_xdata(), *diamond.get_ydata()]
    assert (
        "Bytes in flight and rates. A load takes 349 ns: memory, 4,600 GB/s, needs "
        "1.6 MB in flight; few: 0.8 MB, not measured; many: 4 MB, 4,000 GB/s."
    ) == picture.alt


@pytest.mark.parametrize("known", [(349, math.nan), (math.nan, 4600)])
def test_a_law_of_which_nothing_was_measured_is_no_figure(known):
    """Such as of a walk that a learner has changed."""
    picture = plotting.plot_in_flight({"few": (1e6, None)}, *known, "memory")

    assert "Bytes in flight and rates: not measured." == picture.alt
