"""The figure of what bank conflicts add to a kernel's time."""

import math

import pytest

from helpers import plotting

WAVEFRONTS = [1, 2, 4]


def test_the_dashed_line_is_a_cycle_for_each_wavefront_of_each_request():
    """500 requests with 3 more wavefronts are 1.5 thousand cycles."""
    ax = plotting.plot_exposed(WAVEFRONTS, {"mine": [0, 500, 1000]}, 500).axes[0]

    dashed, mine = ax.lines
    assert [0, 3] == list(dashed.get_xdata())
    assert [0, 1.5] == list(dashed.get_ydata())
    assert [0, 1, 3] == list(mine.get_xdata())
    assert [0, 0.5, 1.0] == list(mine.get_ydata())


def test_the_sentence_says_what_shows_of_what_there_is():
    """Of 500 more wavefronts all show, of 1,500 two thirds."""
    picture = plotting.plot_exposed(WAVEFRONTS, {"mine": [0, 500, 1000]}, 500)

    assert (
        "Further cycles, in thousands, against one for each further wavefront: "
        "mine: 0.5 against 0.5, 1.0 against 1.5." == picture.alt
    )


@pytest.mark.parametrize("cycles", [[math.nan] * 3, []])
def test_what_was_not_measured_is_not_drawn(cycles):
    """The line of what all conflicts would cost is there without a GPU."""
    picture = plotting.plot_exposed(WAVEFRONTS, {"mine": cycles}, 500)

    assert picture.alt.endswith("mine: not measured.")
    assert picture.png()


def test_two_kernels_differ_in_more_than_colour():
    """Their marks are a full diamond and an empty square."""
    both = {"one": [0, 1, 2], "two": [0, 2, 3]}
    ax = plotting.plot_exposed(WAVEFRONTS, both, 500).axes[0]

    one, two = ax.lines[1:]
    assert ("D", "s") == (one.get_marker(), two.get_marker())
    assert one.get_markerfacecolor() != two.get_markerfacecolor()
