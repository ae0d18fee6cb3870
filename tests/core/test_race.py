"""When nothing orders two accesses of a cell."""

import numpy as np
import pytest

from thirty_two_lanes.core.race import LEVELS, Accessor, level_of, unordered


@pytest.mark.parametrize(
    "one, other, synced, expected",
    [
        ((5, 0, 2), (5, 0, 2), False, False),  # one thread
        ((5, 0, 2), (6, 0, 2), False, True),
        ((5, 0, 2), (6, 0, 2), True, False),  # a `syncwarp` between them
        ((5, 0, 2), (37, 0, 2), True, True),  # of one warp only
        ((5, 0, 1), (37, 0, 2), False, False),  # a barrier between them
        ((5, 0, 1), (69, 1, 2), False, True),  # of one block only
    ],
)
def test_barriers_order_a_block_and_syncs_a_warp(one, other, synced, expected):
    """Thread, block and barriers so far of each, 64 threads to a block."""
    assert expected == unordered(Accessor(*one), Accessor(*other), synced)
    assert expected == unordered(Accessor(*other), Accessor(*one), synced)


def test_the_level_is_the_smallest_group_of_both_threads():
    """Columns of threads, 64 to a block."""
    one = Accessor(np.array([0, 0, 0]), np.array([0, 0, 0]))
    other = Accessor(np.array([31, 32, 64]), np.array([0, 0, 1]))

    assert ["warp", "block", "grid"] == [LEVELS[n] for n in level_of(one, other)]
