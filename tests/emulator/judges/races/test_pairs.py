"""Pairs of the rows of a group: all of them, or as many as there is room for."""

import numpy as np
import pytest

from thirty_two_lanes.emulator.judges.races import hazards


def pairs(*sizes):
    """The pairs of groups of such sizes, each as a set, and whether they are all."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    first, second, exact = hazards._pairs(group)
    return {*zip(first.tolist(), second.tolist(), strict=True)}, exact


@pytest.mark.parametrize("sizes", [(3,), (9, 1, 1, 1, 1), (1, 2, 3, 4), (5, 8, 3, 1)])
def test_few_pairs_are_all_made(sizes, monkeypatch):
    """Each row of a group with each."""
    monkeypatch.setattr(hazards, "MOST_PAIRS", 99)
    ends = np.cumsum(sizes).tolist()
    expected = {
        (a, b)
        for end, size in zip(ends, sizes, strict=True)
        for a in range(end - size, end)
        for b in range(end - size, end)
    }

    assert (expected, True) == pairs(*sizes)


def test_of_many_pairs_each_group_has_its_share(monkeypatch):
    """Of 10 rows as many as fit: 5 of each of the groups, and of a small one all."""
    monkeypatch.setattr(hazards, "MOST_PAIRS", 75)
    found, exact = pairs(10, 10, 2)

    shares = range(5), range(10, 15), range(20, 22)
    assert not exact
    assert {(a, b) for share in shares for a in share for b in share} == found


def test_two_rows_of_each_group_are_paired_in_any_case(monkeypatch):
    """Else there would be no hazard to show."""
    monkeypatch.setattr(hazards, "MOST_PAIRS", 1)

    assert ({(0, 0), (0, 1), (1, 0), (1, 1)}, False) == pairs(7)


def test_as_many_pairs_as_there_is_room_for_are_exact(monkeypatch):
    """And one more is not."""
    monkeypatch.setattr(hazards, "MOST_PAIRS", 25)
    assert pairs(5)[1] and pairs(3, 4)[1]
    assert not pairs(5, 1)[1]
