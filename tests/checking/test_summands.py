"""Which part of an input a result lacks."""

import numpy as np
import pytest

from helpers.checking.summands import lacking

ROW = np.random.default_rng(seed=1).normal(size=100)
TABLE = np.random.default_rng(seed=2).normal(size=(6, 9))
PAIRS = ROW + np.append(ROW[1:], 0)
WITH_BEFORE = ROW + np.insert(ROW[:-1], 0, 0)


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
            ROW,
            [ROW[32:].sum()],
            [ROW.sum()],
            "It lacks the first block's elements of `a`",
        ),
        (
            ROW[:96],
            [ROW[:64].sum()],
            [ROW[:96].sum()],
            "It lacks the last block's elements of `a`",
        ),
        (ROW[:2], [ROW[1]], [ROW[:2].sum()], "It lacks the first element of `a`"),
        (
            TABLE,
            TABLE[:, 1:].sum(1),
            TABLE.sum(1),
            "Each value lacks the first column of `a`",
        ),
        (
            TABLE,
            TABLE[:-1].sum(0),
            TABLE.sum(0),
            "Each value lacks the last row of `a`",
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
        (ROW[:1], [0.0], ROW[:1], "Each value lacks `a[i]`"),
        (ROW, ROW, WITH_BEFORE, "Each value lacks `a[i - 1]`"),
    ],
)
def test_what_a_sum_lacks_is_named(a, got, expected, told):
    """Blocks of 32 threads; nothing where one value more is wrong."""
    got, expected = np.asarray(got), np.asarray(expected)

    assert [told] == lacking(got, expected, {"a": a}, 32)
    assert [] == lacking(got + 1, expected, {"a": a}, 32)


def test_whole_numbers_can_be_all_that_a_sum_of_floats_lacks():
    """And floats never what a sum of whole numbers lacks."""
    whole, floats = np.arange(3, 9), np.arange(3.0, 9.0)

    told = ["It lacks the last element of `a`"]
    assert told == lacking(floats[:1] * 25 / 3, floats[:1] * 11, {"a": whole}, 32)
    assert [] == lacking(whole[:1], whole[:1] + 8, {"a": floats}, 32)


def test_a_last_block_may_have_one_element():
    """Then it is both; blocks of 32 threads, and 97 elements."""
    told = [
        "It lacks the last element of `a`",
        "It lacks the last block's elements of `a`",
    ]

    got, expected = ROW[:96].sum(keepdims=True), ROW[:97].sum(keepdims=True)
    assert told == lacking(got, expected, {"a": ROW[:97]}, 32)


@pytest.mark.parametrize(
    "got, expected, a",
    [
        (np.zeros(0), np.zeros(0), np.zeros(0)),
        (np.zeros(3), np.full(3, ROW[0]), ROW),
        (np.zeros((2, 3)), np.ones((2, 3)), np.ones((2, 3))),
        (np.zeros(1), np.ones(1), np.ones((1, 1, 1))),
        (np.zeros(1), np.ones(1), np.array(1.0)),
    ],
)
def test_of_other_shapes_nothing_is_claimed(got, expected, a):
    """Nothing of no value; one element of many is no part of several sums."""
    assert [] == lacking(got, expected, {"a": a}, 32)
