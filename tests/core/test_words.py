"""How numbers are put in sentences."""

import pytest

from thirty_two_lanes.core.words import ranges, runs


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], []), ([3], [(3, 3)]), ([1, 4, 5, 6, 8], [(1, 1), (4, 6), (8, 8)])],
)
def test_neighbours_are_one_run(numbers, expected):
    """With its first and its last number."""
    assert expected == runs(numbers)


def test_a_run_is_named_by_its_ends():
    """A number alone by itself."""
    assert "0–31" == ranges(range(32))
    assert "1, 3 to 5" == ranges([1, 3, 4, 5], " to ")
