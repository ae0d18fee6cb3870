"""Times by a number that grows: each kernel's line, its numbers and their sentence."""

import math

import pytest

from helpers import plotting

NAN = math.nan
SENTENCES = {
    "two kernels": (
        lambda: plotting.plot_series(
            [1, 9], {"L1": [53.06, 90], "tile": [62.3, NAN]}, "lines"
        ),
        "Times by lines. L1: 53.1 µs at 1, 90.0 µs at 9; tile: 62.3 µs at 1.",
    ),
    "a limit": (
        lambda: plotting.plot_series(
            [1024, 4096],
            {"rows": [80, 20.4], "columns": [NAN, 30]},
            "threads, each with its share",
            limit_us=10,
            limit_label="a copy",
            scale="log",
        ),
        "Times by threads. rows: 80.0 µs at 1,024, 20.4 µs at 4,096; "
        "columns: 30.0 µs at 4,096; a copy: 10.0 µs.",
    ),
    "kernels that nobody measured": (
        lambda: plotting.plot_series([1, 9], {"L1": None, "tile": [NAN] * 2}, "n", NAN),
        "Times by n. L1: not measured at 1, not measured at 9; "
        "tile: not measured at 1, not measured at 9.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_a_figure_of_times_says_what_it_shows(case):
    """The text alternative holds the numbers that the picture was drawn from."""
    draw, sentence = SENTENCES[case]

    assert sentence == draw().alt


def test_lines_differ_by_more_than_colour():
    """Each line has a marker and a dash of its own, and says its name."""
    times = {"rows": [3, 2], "columns": [2, 1], "warps": [1, NAN]}
    ax = plotting.plot_series([32, 64], times, "threads").axes[0]

    assert list(times) == [it.get_text() for it in ax.get_legend().get_texts()]
    assert 3 == len({line.get_marker() for line in ax.lines})
    assert 3 == len({line.get_linestyle() for line in ax.lines})


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_points_stand_at_their_times(scale):
    """Each point has its step and its time, on an axis of the scale asked for."""
    times = {"rows": [3, 2]}
    ax = plotting.plot_series([32, 64], times, "threads", 1.5, scale=scale).axes[0]

    assert [(32, 3), (64, 2)] == list(zip(*ax.lines[0].get_data(), strict=True))
    assert scale == ax.get_xscale()


def test_a_crowded_label_is_beside_its_mark():
    """No line that falls to the upper one of two close marks strikes its number."""
    times = {"rows": [90, 50], "columns": [60, 52]}
    texts = plotting.plot_series([32, 64], times, "threads").axes[0].texts
    at = {text.get_text(): text.xyann for text in texts}

    assert at["52"][0] > 0 == at["50"][0]
    assert at["50"][1] < 0 < at["52"][1]
