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
    "times by threads": (
        lambda: plotting.plot_by_threads(
            [1024, 4096], {"rows": [80, 20.4], "columns": [NAN, 30]}, 10, "a copy"
        ),
        "Times. rows: 80 µs with 1,024 threads, 20 µs with 4,096 threads; "
        "columns: 30 µs with 4,096 threads; a copy: 10 µs.",
    ),
    "times that nobody measured": (
        lambda: plotting.plot_by_threads([64, 128], {"rows": None}, NAN),
        "Times. rows: not measured with 64 threads, not measured with 128 threads.",
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


def test_lines_differ_by_more_than_colour():
    """Each line has a marker and a dash of its own, and says its name."""
    times = {"rows": [3, 2], "columns": [2, 1], "warps": [1, NAN]}
    lines = plotting.plot_by_threads([32, 64], times).axes[0].lines

    assert list(times) == [line.get_label() for line in lines]
    assert 3 == len({line.get_marker() for line in lines})
    assert 3 == len({line.get_linestyle() for line in lines})


def test_points_stand_at_their_times():
    """Each point has its number of threads and its time."""
    line = plotting.plot_by_threads([32, 64], {"rows": [3, 2]}, 1.5).axes[0].lines[0]

    assert [(32, 3), (64, 2)] == list(zip(*line.get_data(), strict=True))


def test_a_crowded_label_is_beside_its_mark():
    """No line that falls to the upper one of two close marks strikes its number."""
    times = {"rows": [90, 50], "columns": [60, 52]}
    texts = plotting.plot_by_threads([32, 64], times).axes[0].texts
    at = {text.get_text(): text.xyann for text in texts}

    assert at["52"][0] > 0 == at["50"][0]
    assert at["50"][1] < 0 < at["52"][1]
