"""`//` and `%` of floats, against exact fractions and what an H200 gave."""

import math
from fractions import Fraction

import numpy as np
import pytest

from thirty_two_lanes.language.division import floor_divide, modulo

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
INF, NAN = math.inf, math.nan
TYPES = (np.float32, np.float64)


def rest(x, y, dtype):
    """`frem` by fractions: the quotient is rounded, then made whole; the rest once."""
    with np.errstate(all="ignore"):
        quotient = math.floor(Fraction(float(dtype(abs(x)) / dtype(abs(y)))))
    exact = Fraction(float(abs(x))) - quotient * Fraction(float(abs(y)))
    nearest = nearest_float(exact, dtype)
    return -nearest if x < 0 else nearest


def nearest_float(exact, dtype):
    """The float of a type that is nearest to a fraction."""
    guess = dtype(float(exact))
    around = [guess, *(np.nextafter(guess, dtype(s * INF)) for s in (-1, 1))]
    even = {id(f): int(np.abs(f).view(f"u{f.itemsize}")) & 1 for f in around}
    return min(around, key=lambda f: (abs(Fraction(float(f)) - exact), even[id(f)]))


def pairs(dtype):
    """Numbers whose quotients are small, near whole, large, and far too large."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal(600) * 10.0 ** rng.integers(-3, 12, 600)
    y = rng.standard_normal(600) * 10.0 ** rng.integers(-3, 4, 600)
    whole = dtype(y[:200]) * rng.integers(1, 2**20, 200).astype(dtype)
    x[:200] = np.nextafter(whole, dtype(0))
    return x.astype(dtype), y.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_remainder_is_what_is_left_of_a_rounded_quotient(dtype):
    """The rest of `frem`, then the divisor added where the signs differ."""
    x, y = pairs(dtype)

    found = modulo(x, y)

    for a, b, c in zip(x, y, found, strict=True):
        left = rest(a, b, dtype)
        expected = left + b if left and (b < 0) != (left < 0) else left
        assert (a, b, float(expected)) == (a, b, float(c))


@pytest.mark.parametrize("dtype", TYPES)
def test_a_whole_quotient_is_of_what_the_remainder_leaves(dtype):
    """And whole, with one less where the signs differ."""
    x, y = pairs(dtype)

    found = floor_divide(x, y)

    for a, b, c in zip(x, y, found, strict=True):
        left = rest(a, b, dtype)
        quotient = dtype((a - left) / b)
        quotient -= dtype(bool(left) and (b < 0) != (left < 0))
        whole = np.floor(quotient)
        expected = whole + dtype(quotient - whole > 0.5)
        assert (a, b, float(expected)) == (a, b, float(c))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "x, y, whole, left",
    [
        (5.0, INF, NAN, NAN),
        (-5.0, INF, NAN, NAN),
        (0.0, INF, NAN, NAN),
        (INF, 5.0, NAN, NAN),
        (NAN, 5.0, NAN, NAN),
        (5.0, NAN, NAN, NAN),
        (5.0, 0.0, INF, NAN),
        (-5.0, 0.0, -INF, NAN),
        (5.0, -0.0, -INF, NAN),
        (0.0, 0.0, NAN, NAN),
        (-0.0, 3.0, -0.0, 0.0),
        (0.0, -3.0, -0.0, -0.0),
        (6.0, -3.0, -2.0, -0.0),
        (-7.0, 2.0, -4.0, 1.0),
    ],
)
def test_special_numbers_divide_as_on_a_gpu(dtype, x, y, whole, left):
    """Seen on an H200: infinities give NaN; a zero has the divisor's sign."""
    found = floor_divide(dtype(x), dtype(y)), modulo(dtype(x), dtype(y))

    for expected, actual in zip((whole, left), found, strict=True):
        np.testing.assert_array_equal(actual, dtype(expected))
        assert np.signbit(expected) == np.signbit(actual) or np.isnan(expected)


def test_a_large_float32_leaves_a_remainder_of_the_wrong_sign():
    """Seen on an H200: 2147483647 is 2147483648, a third of it is rounded up."""
    assert -61 == modulo(np.float32(2147483647), np.float32(3))


def test_the_least_integer_divided_by_minus_one_is_zero():
    """Numba's code gives 0 where the quotient has no place; other lanes divide."""
    least = np.iinfo(np.int64).min
    a, b = np.array([least, least, -6, 7]), np.array([-1, 1, -1, -2])

    assert [0, least, 6, -4] == floor_divide(a, b).tolist()
    assert [0, 0, 0, -1] == modulo(a, b).tolist()
    assert 0 == floor_divide(np.int64(least), np.int64(-1))
