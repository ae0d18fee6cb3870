"""Figures of a ladder: what their sentences say, and what is drawn where."""

import numpy as np

from helpers import plotting


def test_a_register_tile_says_whose_sums_it_shows():
    """The rows and columns of a thread, and what it loads for them."""
    drawn = plotting.plot_register_tile([0, 1, 8, 9], [4], (32, 16))

    assert drawn.alt == (
        "A block computes 32 × 16 elements of c. A thread has 4 sums of them: rows 0 "
        "to 1, 8 to 9; columns 4. At each step it loads 4 numbers of a and 1 of b."
    )


def test_neighbouring_rows_of_any_number_are_named_by_their_ends():
    """Three and more, and one alone, in any order."""
    drawn = plotting.plot_register_tile([8, 3, 2, 0, 1], [5, 4, 6], (32, 16))

    assert "rows 0 to 3, 8; columns 4 to 6." in drawn.alt


def test_a_register_tile_has_a_box_for_each_run_and_crossing():
    """Two runs of rows, one of columns: two boxes for a, one for b, and two for c."""
    (ax,) = plotting.plot_register_tile([0, 1, 8, 9], [4], (32, 16)).axes

    boxes = [it.get_bbox().bounds for it in ax.patches]
    assert len(boxes) == 5
    assert {(4, 0, 1, 2), (4, 8, 1, 2)} <= {tuple(map(int, it)) for it in boxes}


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
