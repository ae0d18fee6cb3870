"""Figures of where things lie, held to what NumPy makes of the same."""

import numpy as np
import pytest

from helpers import plotting
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError


def written(ax, left, top, rows, cols):
    """The texts of the boxes whose corners are in an area, as a matrix of numbers."""
    found = np.full((rows, cols), -1)
    for text in ax.texts:
        x, y = (it - 0.5 for it in text.get_position())
        if left <= x < left + cols and top <= y < top + rows:
            if text.get_text().isdigit():
                found[int(y - top), int(x - left)] = int(text.get_text())
    return found


@pytest.mark.parametrize("shared", [True, False])
def test_a_tile_is_where_numpys_transpose_has_it(shared):
    """src is 4 × 6, so dst is 6 × 4, at the right."""
    src = np.full((4, 6), -1)
    src[2:4, 4:6] = [[0, 1], [2, 3]]

    ax = plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared).axes[0]

    start = 6 + 3 + 5 * shared
    assert src.tolist() == written(ax, 0, 0, 4, 6).tolist()
    assert src.T.tolist() == written(ax, start, 0, 6, 4).tolist()


@pytest.mark.parametrize(
    "shared, stored", [(True, {(5, 2), (5, 3)}), (False, {(4, 3), (5, 3)})]
)
def test_a_warp_stores_side_by_side_only_through_shared_memory(shared, stored):
    """Without it, what it loads side by side becomes a column."""
    ax = plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared).axes[0]

    strong = style.tint(style.STORE, 0.5)
    boxes = [it for it in ax.patches if style.STORE == hexadecimal(it.get_edgecolor())]
    start = 6 + 3 + 5 * shared
    in_dst = {(it.get_y(), it.get_x() - start) for it in boxes if it.get_x() >= start}
    assert stored == in_dst
    assert {strong} == {hexadecimal(it.get_facecolor()) for it in boxes}


def hexadecimal(colour):
    from matplotlib.colors import to_hex

    return to_hex(colour).upper()


SENTENCES = {
    "a tile through shared memory": (
        lambda: plotting.plot_tile_move(2, 4, 2, (4, 6), 1),
        "A tile of 2 × 2 elements moves from src[2, 4] to dst[4, 2]. The warp of row 1 "
        "loads src[3, 4] to src[3, 5], uses row 1 and then column 1 of a tile in "
        "shared memory, and stores dst[5, 2] to dst[5, 3].",
    ),
    "a tile that goes straight": (
        lambda: plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared=False),
        "A tile of 2 × 2 elements moves from src[2, 4] to dst[4, 2]. The warp of row 1 "
        "loads src[3, 4] to src[3, 5], and stores dst[4, 3] to dst[5, 3].",
    ),
}


@pytest.mark.parametrize(("plot", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_picture_of_a_layout_says_what_it_shows(plot, sentence):
    """The text alternative carries the picture's numbers."""
    assert sentence == plot().alt


REFUSED = {
    "a tile that leaves the matrix": (
        lambda: plotting.plot_tile_move(6, 0, 4),
        "a tile of 4 × 4 at [6, 0] is not within a matrix of 8 × 12: choose a smaller "
        "`top`, `left` or `tile`",
    ),
}


@pytest.mark.parametrize(("draw", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_layout_that_cannot_be_is_refused(draw, sentence):
    """The error says what to give instead."""
    with pytest.raises(ArgumentError) as refused:
        draw()

    assert sentence == str(refused.value)
