"""Figures of traffic: the numbers in their sentences, and what is drawn of them."""

import math

import pytest

from helpers import plotting

NAN = math.nan
ASKED = {"L1": 8.6e9, "L2": 1.1e9, "memory": 1.2e9}
SENTENCES = {
    "levels": (
        lambda: plotting.plot_levels({"rows": ASKED, "columns": {}}),
        "Bytes by level. rows: requested from L1 8.60 GB, requested from L2 1.10 GB, "
        "requested from memory 1.20 GB; columns: not counted.",
    ),
    "levels in megabytes": (
        lambda: plotting.plot_levels({"copy": {"L1": 2.5e8, "L2": 3e6, "memory": 0}}),
        "Bytes by level. copy: requested from L1 250 MB, requested from L2 3.00 MB, "
        "requested from memory 0.00 MB.",
    ),
    "levels that nobody counted": (
        lambda: plotting.plot_levels({"rows": {}}),
        "Bytes by level. rows: not counted.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_a_figure_of_traffic_says_what_it_shows(case):
    """The text alternative holds the numbers that the picture was drawn from."""
    draw, sentence = SENTENCES[case]

    assert sentence == draw().alt


def test_a_bar_of_each_level_is_as_long_as_what_was_requested():
    """Three bars for each launch, in the order in which they are requested."""
    ax = plotting.plot_levels({"rows": ASKED}).axes[0]

    assert [8.6, 1.1, 1.2] == [bar.get_width() for bar in ax.patches]
