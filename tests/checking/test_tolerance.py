"""How close is enough, at the edges of what `check` promises."""

import numpy as np
import pytest

from helpers.checking.check import check
from thirty_two_lanes.core.errors import ArgumentError


def agrees(actual, expected, **tolerance):
    """Does `check` let it pass?"""
    try:
        check(actual, expected, **tolerance)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    "kind, allowed",
    [
        (np.float16, 1e-2),
        (np.float32, 1e-5),
        (np.float64, 1e-12),
        (np.longdouble, 1e-12),
        (np.complex64, 1e-5),
        (np.complex128, 1e-12),
    ],
)
def test_the_tolerance_is_that_of_the_type(kind, allowed):
    """A tenth less than is allowed, and half more."""
    size = 1.5  # a whole number is held to a quarter

    for part, wanted in ((0.9, True), (1.5, False), (-0.9, True), (-1.5, False)):
        value = (np.longdouble(size) * (1 + part * np.longdouble(allowed))).astype(kind)
        assert wanted == agrees([value], np.array([size], kind)), part


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_small_values_are_measured_by_the_typical_one(kind):
    """The median of those that are not 0: a sum that cancels leaves its rounding."""
    expected = np.array([0, 0, 0, 0, 1e-9, 1.5, 1e9], kind)
    error = 0.9 * {np.float32: 1e-5, np.float64: 1e-12}[kind]

    near, far = expected.copy(), expected.copy()
    near[0] += error * 1.5
    far[0] += error * 3

    assert agrees(near, expected) and not agrees(far, expected)


def test_where_only_zeros_are_expected_nothing_else_will_do():
    """There is no typical value."""
    assert not agrees(np.full(3, 1e-30), np.zeros(3))


def test_what_is_not_finite_is_no_typical_value():
    """Three infinities and one number: it is held to its own size."""
    expected = np.array([np.inf, np.inf, -np.inf, 1.5])

    assert not agrees(expected + [0, 0, 0, 1e-3], expected)


def test_complex_whole_numbers_are_held_to_their_size_alone():
    """The parts of a product that cancel are no counts."""
    size = np.array([1e6 + 0j], np.complex64)

    assert agrees(size + np.complex64(1), size)


@pytest.mark.parametrize(
    "tolerance, allowed",
    [
        ({"atol": 2}, 2),
        ({"atol": 0}, 0),
        ({"rtol": 0.25}, 25),
        ({"rtol": 0}, 0),
        ({"rtol": 0.25, "atol": 2}, 27),
    ],
)
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_tolerance_that_is_given_is_the_one_that_holds(kind, tolerance, allowed):
    """Of integers, too; of 100, as NumPy's `allclose` has it."""
    expected, tight = np.array([100], kind), {"rtol": 0, "atol": 0}

    for off in (allowed, allowed + 1, -allowed, -allowed - 1):
        same = np.allclose(expected + off, expected, **{**tight, **tolerance})
        assert same == agrees(expected + off, expected, **tolerance)
        assert same == (abs(off) <= allowed)


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("wrong", [-1e-9, "0.1", 1j, float("nan")])
def test_what_is_no_tolerance_is_refused(name, wrong):
    """A negative one would let nothing pass."""
    with pytest.raises(ArgumentError, match=f"`{name}` of `check` is a number"):
        check([1.0], [1.0], **{name: wrong})


@pytest.mark.parametrize(
    "actual, expected",
    [
        (["a"], [1]),
        ([None], [None]),
        ([1, None], [1, 2]),
        ([b"a"], ["a"]),
        (np.zeros(1, [("x", "f4")]), [0.0]),
    ],
)
def test_what_is_no_number_is_not_compared_with_one(actual, expected):
    """Both are shown."""
    with pytest.raises(ArgumentError, match="`check` compares numbers with numbers"):
        check(actual, expected)


def test_texts_and_records_are_compared_with_their_like():
    """They agree, or they do not."""
    assert agrees(["a", "b"], ["a", "b"]) and not agrees(["a", "b"], ["a", "c"])
    assert agrees([b"a"], [b"a"])


def test_a_list_whose_rows_differ_in_length_is_refused():
    """NumPy makes no array of it."""
    with pytest.raises(ArgumentError, match="rows of this list have different lengths"):
        check([[1, 2], [3]], [1, 2])
