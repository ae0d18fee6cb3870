"""Which part of an input a result lacks."""

import numpy as np
import pytest

from helpers.checking.summands import lacking

ROW = np.random.default_rng(seed=1).normal(size=100)
TABLE = np.random.default_rng(seed=2).normal(size=(6, 9))
PAIRS = ROW + np.append(ROW[1:], 0)


@pytest.mark.parametrize(
    "a, got, expected, told",
    [
        (ROW, [ROW[:-1].sum()], [ROW.sum()], "It lacks the last element of `a`"),
        (ROW, [ROW[1:].sum()], [ROW.sum()], "It lacks the first element of `a`"),
        (
            ROW,
            [ROW[:96].sum()],
            [ROW.sum()],
            "It lacks the last block's elements of `a`",
        ),
        (
            TABLE,
            TABLE[:, :-1].sum(1),
            TABLE.sum(1),
            "Each value lacks the last column of `a`",
        ),
        (
            TABLE,
            TABLE[1:].sum(0),
            TABLE.sum(0),
            "Each value lacks the first row of `a`",
        ),
        (ROW, ROW, PAIRS, "Each value lacks `a[i + 1]`"),
        (ROW, PAIRS - ROW, PAIRS, "Each value lacks `a[i]`"),
    ],
)
def test_what_a_sum_lacks_is_named(a, got, expected, told):
    """Blocks of 32 threads; nothing where one value more is wrong."""
    got, expected = np.asarray(got), np.asarray(expected)

    assert [told] == lacking(got, expected, {"a": a}, 32)
    assert [] == lacking(got + 1, expected, {"a": a}, 32)
