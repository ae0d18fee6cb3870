"""The share of the busiest warp and block in the stores of an answer."""

from types import SimpleNamespace

import pytest

from helpers.exercises.totals import excess_of_stores


def storing(busiest, *others):
    """An outcome of warps that make so many requests to store, each in its block."""
    every = SimpleNamespace(kind="store", requests=busiest + sum(others))
    balance = SimpleNamespace(stores_of_block=busiest, stores_of_warp=busiest)
    table = SimpleNamespace(by_line={1: every})
    return SimpleNamespace(run=SimpleNamespace(balance=balance, coalescing=table))


@pytest.mark.parametrize(
    "mine, most",
    [((1,), ""), ((2, 2), ""), ((3, 1), "2 are"), ((9, 3), "8 are")],
)
def test_a_warp_may_store_as_often_as_one_of_the_answer(mine, most):
    """Of whose two blocks each stores twice; what is allowed can be kept."""
    case = SimpleNamespace(most=lambda outcome, count: count(storing(2, 2)))

    told = excess_of_stores(case, storing(*mine))

    assert (f"and {most} allowed." in told) == bool(most), told
    assert bool(told) == bool(most)
