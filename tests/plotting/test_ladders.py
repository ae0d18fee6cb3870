"""Figures of a ladder: what their sentences say, and what is drawn where."""

import numpy as np
import pytest

from helpers import plotting
from helpers.plotting.tiles import runs


def test_a_register_tile_says_whose_sums_it_shows():
    """The rows and columns of a thread, and what it loads for them."""
    drawn = plotting.plot_register_tile([0, 1, 8, 9], [4], (32, 16))

    assert drawn.alt == (
        "A block computes 32 × 16 elements of c. A thread has 4 sums of them: rows 0 "
        "to 1, 8 to 9; columns 4. At each step it loads 4 numbers of a and 1 of b."
    )


def test_a_register_tile_has_a_box_for_each_run_and_crossing():
    """Two runs of rows, one of columns: two boxes for a, one for b, and two for c."""
    (ax,) = plotting.plot_register_tile([0, 1, 8, 9], [4], (32, 16)).axes

    boxes = [it.get_bbox().bounds for it in ax.patches]
    assert len(boxes) == 5
    assert {(4, 0, 1, 2), (4, 8, 1, 2)} <= {tuple(map(int, it)) for it in boxes}


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], []), ([3], [(3, 1)]), ([5, 4, 1], [(1, 1), (4, 2)])],
)
def test_neighbours_are_one_run(numbers, expected):
    """In any order."""
    assert expected == runs(numbers)


def test_rungs_say_what_they_could_reach_and_did():
    """What was not measured is unknown."""
    drawn = plotting.plot_rungs(["a", "b"], [90.4, 12], [70, None], 77, "cuBLAS")

    assert drawn.alt == (
        "Shares of the peak. a: at most 90%, 70% measured; b: at most 12%, unknown "
        "measured; cuBLAS: 77%."
    )


def test_rungs_can_be_drawn_with_nothing_measured():
    """As where there is no recording."""
    drawn = plotting.plot_rungs(["a"], [np.nan], [np.nan])

    assert drawn.alt == "Shares of the peak. a: at most unknown, unknown measured."
