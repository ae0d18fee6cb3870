"""The figure of what a repair of bank conflicts saves, and could save at most."""

import math

import pytest

from helpers import plotting

WAVEFRONTS = [2, 4, 8]


def test_the_dashed_line_is_what_could_be_saved():
    """The other one is what was."""
    ax = plotting.plot_exposed(WAVEFRONTS, [3, 9, 18], [1, 4, 9]).axes[0]

    most, saved = ax.lines
    assert [3, 9, 18] == list(most.get_ydata())
    assert [1, 4, 9] == list(saved.get_ydata())
    assert WAVEFRONTS == list(most.get_xdata()) == list(saved.get_xdata())
    assert ("o", "D") == (most.get_marker(), saved.get_marker())
    assert "--" != saved.get_linestyle() != most.get_linestyle()


def test_each_point_has_its_number():
    """In whole percent."""
    ax = plotting.plot_exposed(WAVEFRONTS, [3.4, 9, 18], [1.4, 4, 9]).axes[0]

    assert ["3", "1", "9", "4", "18", "9"] == [it.get_text() for it in ax.texts[:6]]


def test_the_sentence_says_what_was_saved_of_what_could_be():
    """For each number of wavefronts."""
    picture = plotting.plot_exposed(WAVEFRONTS, [3, 9, 18], [1, 4, None])

    assert (
        "Of the time, by the wavefronts of a load: at 2, at most 3%, 1% saved; "
        "at 4, at most 9%, 4% saved; at 8, at most 18%, unknown saved." == picture.alt
    )


@pytest.mark.parametrize("numbers", [[math.nan] * 3, []])
def test_what_was_not_measured_is_not_drawn(numbers):
    """Without a GPU's counters there is the frame."""
    picture = plotting.plot_exposed(WAVEFRONTS, numbers, numbers)

    assert picture.alt.endswith("at 8, at most unknown, unknown saved.")
    assert picture.png()
