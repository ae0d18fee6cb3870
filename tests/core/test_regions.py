"""Cells of an array in words."""

import numpy as np
import pytest

from thirty_two_lanes.core.regions import regions_in_words, regions_of


@pytest.mark.parametrize(
    "shape, cells, words",
    [
        (66, [0, 65], "`a[0]` and `a[65]`"),
        (66, slice(None), "`a[:]`"),
        (66, slice(3, 9), "`a[3:9]`"),
        (9, [1, 3, 5, 7], "`a[1]`, `a[3]`, `a[5]` and `a[7]`"),
        (99, range(0, 99, 2), "`a[0]`, `a[2]`, `a[4]`, `a[6]`, …"),
        ((4, 5), (slice(1, 4), slice(2, 4)), "`a[1:4, 2:4]`"),
        ((4, 5), (slice(None), 0), "`a[:, 0]`"),
        ((3, 4, 5), (2, slice(None), 4), "`a[2, :, 4]`"),
    ],
)
def test_cells_in_words(shape, cells, words):
    """Single ones, and boxes."""
    mask = np.zeros(shape, bool)
    mask[list(cells) if isinstance(cells, range) else cells] = True

    assert words == regions_in_words("a", mask)


def test_the_rim_of_a_tile_has_four_sides():
    """Without the corners, which a stencil of four neighbours does not read."""
    mask = np.ones((34, 34), bool)
    mask[1:-1, 1:-1] = mask[[0, 0, -1, -1], [0, -1, 0, -1]] = False

    assert "`a[0, 1:33]`, `a[1:33, 0]`, `a[1:33, 33]` and `a[33, 1:33]`" == (
        regions_in_words("a", mask)
    )


@pytest.mark.parametrize("seed", range(20))
def test_boxes_hold_each_marked_cell_once(seed):
    """Of random masks."""
    rng = np.random.default_rng(seed)
    mask = rng.random(rng.integers(1, 7, rng.integers(1, 4))) < 0.6
    found = np.zeros(mask.shape, int)
    for box in regions_of(mask, most=mask.size):
        found[tuple(box)] += 1

    assert (found == mask).all()
