"""Figures of traffic: the numbers in their sentences, and what is drawn of them."""

import math

import pytest

from helpers import plotting

NAN = math.nan
ASKED = {"L1": 8.6e9, "L2": 1.1e9, "memory": 1.2e9}
SWEEPS = {
    "offset, in elements": ([0, 1], [4, 5], [3600, 3500], [3600, 3550]),
    "stride, in elements": ([1, 2, 8], [4, 8, 32], [3600, NAN, 900], [3600, NAN, 4100]),
}
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
    "sweeps": (
        lambda: plotting.plot_sweeps(SWEEPS, 4150),
        "Sectors per load request and rates. "
        "offset: 4 at 0, 5 at 1 sectors, useful 3,600 at 0, 3,500 at 1 GB/s, "
        "moved by memory 3,600 at 0, 3,550 at 1 GB/s; "
        "stride: 4 at 1, 8 at 2, 32 at 8 sectors, "
        "useful 3,600 at 1, not measured at 2, 900 at 8 GB/s, "
        "moved by memory 3,600 at 1, not measured at 2, 4,100 at 8 GB/s; "
        "the driver's copy reaches 4,150 GB/s.",
    ),
    "sweeps that nobody measured": (
        lambda: plotting.plot_sweeps({"stride": ([1, 2], [4, 8], None, [NAN, NAN])}),
        "Sectors per load request and rates. stride: 4 at 1, 8 at 2 sectors.",
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


def test_sweeps_share_their_scales():
    """What is as high in two sweeps is the same number."""
    uppers_and_lowers = plotting.plot_sweeps(SWEEPS, 4150).axes

    limits = [ax.get_ylim() for ax in uppers_and_lowers]
    assert len(limits) == 4 and limits[0] == limits[2] and limits[1] == limits[3]


def test_a_bar_is_the_useful_rate_and_a_diamond_what_memory_moved():
    """At each step the bar and the diamond stand for their own numbers."""
    lower = plotting.plot_sweeps(SWEEPS, 4150).axes[1]

    assert [3600, 3500] == [bar.get_height() for bar in lower.patches]
    assert [3600, 3550] == list(lower.lines[0].get_ydata())
