"""Which cases of a table run when."""

from tests import quick
from tests.quick import some, turn_of


def marks_of(cases) -> list:
    """The names of the marks of each case."""
    return [[mark.name for mark in getattr(case, "marks", ())] for case in cases]


def test_a_turn_depends_on_the_case_and_the_sample_alone(monkeypatch):
    """About as many come at each of them."""
    cases = [("exercise", number) for number in range(4000)]
    turns = [turn_of(case, 4) for case in cases]
    assert turns == [turn_of(case, 4) for case in cases]
    assert all(900 < turns.count(turn) < 1100 for turn in range(4))

    monkeypatch.setattr(quick, "SAMPLE", "2")
    others = [turn_of(case, 4) for case in cases]
    same = [turn == other for turn, other in zip(turns, others, strict=True)]
    assert 900 < sum(same) < 1100


def test_a_case_is_quick_or_drawn_or_one_of_all():
    """What is quick is in `make test-all`, too, and the rest in `make exhaustive`."""
    found = marks_of(some(range(4000), every=8, slow_every=2))

    levels = [], ["slow"], ["slow", "exhaustive"]
    quick_ones, slow_ones, others = map(found.count, levels)
    assert 400 < quick_ones < 600
    assert 1800 < quick_ones + slow_ones < 2200
    assert 4000 == quick_ones + slow_ones + others
    assert [["slow"]] * 3 == marks_of(some("abc", every=None))
