"""What a figure cannot show is refused, in a sentence, and not left out."""

import pytest

from helpers import plotting
from thirty_two_lanes.core.errors import ArgumentError

TIMES = {name: [3, 2] for name in "abcd"}
RATES = {"mine": {name: 9 for name in "abcde"}}
REFUSED = {
    "a fourth line": (
        lambda: plotting.plot_series([1, 2], TIMES, "n"),
        "4 series, and one figure tells 3 apart at most: draw them in two figures",
    ),
    "a fifth input": (
        lambda: plotting.plot_rates(RATES),
        "5 inputs, and one figure tells 4 apart at most: draw them in two figures",
    ),
    "a bound without wavefronts": (
        lambda: plotting.plot_exposed([2, 4], [3, 5, 9], [1, 2]),
        "at_most has 3 numbers for 2 of wavefronts: give one for each, None where "
        "none was measured",
    ),
    "the window of a thread that no block has": (
        lambda: plotting.plot_halo(2, 10, 4, window=10),
        "a block of 10 threads has no thread 10: choose a `window` below 10",
    ),
    "elements of two warps": (
        lambda: plotting.plot_tile_banks([range(32)] * 2, [(0, 1)] * 33),
        "33 elements for the 32 lanes of a warp: draw one warp at a time",
    ),
}


@pytest.mark.parametrize("draw, sentence", REFUSED.values(), ids=REFUSED)
def test_data_that_a_figure_would_drop_is_refused(draw, sentence):
    """It would be named for those who cannot see, and not be drawn."""
    with pytest.raises(ArgumentError) as refused:
        draw()

    assert sentence == str(refused.value)
