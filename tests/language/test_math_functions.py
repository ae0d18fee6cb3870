"""Rows of `math`, `cmath` and of bits, each on numbers: what Python itself gives."""

import cmath
import math

import numpy as np
import pytest

from thirty_two_lanes.language.operators import FUNCTIONS

NAN, INF = math.nan, math.inf
BITS = (0, 1, 2, 12, 255, 2**31, 2**32 - 1, 0xF0F0F0F0)


def row(name, *values):
    """What a row gives for NumPy's numbers."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[name](*values)


@pytest.mark.parametrize(
    "value, digits",
    [(2.671, 2), (1234.5678, 0), (1234.5678, 2), (1234.5678, -2), (-1250.0, -2)]
    + [(0.1 + 0.2, 5), (7e-20, 21), (1.5, 18), (3e25, -24), (2e40, -25), (1e300, 307)]
    + [(1.23456789e-15, 23), (4.5e-24, 25), (NAN, 2), (INF, 2), (1e308, 22)],
)
def test_a_number_is_rounded_to_digits_as_the_formula_says(value, digits):
    """Scaled by powers of ten in two steps, as Numba's own code does it."""
    found = row("round to", np.float64(value), np.int64(digits))

    np.testing.assert_allclose(found, round(value, digits), rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
def test_bits_are_counted_as_they_lie(dtype):
    """Set ones, zeros above, the lowest one, and in the opposite order."""
    width = np.dtype(dtype).itemsize * 8
    values = np.array(BITS, np.uint64).astype(dtype)
    whole = [int(v) % 2**width for v in values.tolist()]

    assert [v.bit_count() for v in whole] == row("cuda.popc", values).tolist()
    assert [width - v.bit_length() for v in whole] == row("cuda.clz", values).tolist()
    assert [(v & -v).bit_length() for v in whole] == row("cuda.ffs", values).tolist()
    assert [int(f"{v:0{width}b}"[::-1], 2) for v in whole] == [
        int(v) % 2**width for v in row("cuda.brev", values).tolist()
    ]
    assert [v.bit_count() for v in values.tolist()] == (
        row(".bit_count", values).tolist()
    )


@pytest.mark.parametrize(
    "name, values",
    [
        ("atan2", (1.0, -2.0)),
        ("fabs", (-2.5,)),
        ("acos", (0.3,)),
        ("asin", (0.3,)),
        ("atan", (0.3,)),
        ("acosh", (1.3,)),
        ("asinh", (1.3,)),
        ("atanh", (0.3,)),
        ("erf", (0.3,)),
        ("erfc", (0.3,)),
        ("gamma", (4.5,)),
        ("lgamma", (4.5,)),
        ("gamma", (-1.5,)),
        ("remainder", (7.0, 4.0)),
        ("frexp", (10.0,)),
        ("modf", (2.25,)),
        ("fmod", (-7.0, 3.0)),
        ("hypot", (3.0, 4.0)),
        ("copysign", (3.0, -0.0)),
        ("nextafter", (1.0, 2.0)),
        ("ceil", (-1.5,)),
        ("floor", (-1.5,)),
        ("trunc", (-1.5,)),
        ("degrees", (1.5,)),
        ("radians", (90.0,)),
        ("exp2", (1.5,)),
        ("expm1", (1e-9,)),
        ("log1p", (1e-9,)),
        ("log2", (10.0,)),
        ("log10", (10.0,)),
        ("isnan", (NAN,)),
        ("isinf", (NAN,)),
        ("isfinite", (INF,)),
    ],
)
def test_a_function_of_math_gives_what_python_gives(name, values):
    """Within the last bits."""
    found = row(f"math.{name}", *map(np.float64, values))

    assert getattr(math, name)(*values) == pytest.approx(found, rel=1e-15)


def test_a_whole_gamma_below_zero_is_no_number():
    """Python refuses what CUDA gives a NaN or no end; beyond 171 there is no end."""
    gamma = [float(row("math.gamma", np.float64(v))) for v in (-3, 0.0, -0.0, 172, 1)]

    np.testing.assert_array_equal([NAN, INF, -INF, INF, 1], gamma)
    lgamma = [float(row("math.lgamma", np.float64(v))) for v in (-3, 0, INF, 1)]
    assert [INF, INF, INF, 0] == lgamma
    pairs = (INF, 1), (1, 0), (1, INF)
    rest = [float(row("math.remainder", *map(np.float64, pair))) for pair in pairs]
    np.testing.assert_array_equal([NAN, NAN, 1], rest)
    assert 20 == row("math.ldexp", np.float64(5), np.int64(2))


COMPLEX = 0.5 + 0.25j


@pytest.mark.parametrize(
    "name",
    ["phase", "polar", "log", "exp", "acos", "asin", "atan", "acosh", "asinh", "atanh"]
    + ["log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"],
)
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_a_function_of_cmath_gives_what_python_gives(name, dtype):
    """Of single precision, too."""
    found = row(f"cmath.{name}", dtype(COMPLEX))
    rel = 1e-14 if dtype is np.complex128 else 1e-6

    assert getattr(cmath, name)(COMPLEX) == pytest.approx(found, rel=rel)


def test_a_logarithm_may_have_a_base():
    """Any complex number."""
    found = row("cmath.log", np.complex128(8j), np.complex128(2))

    assert cmath.log(8j, 2) == pytest.approx(found)


@pytest.mark.parametrize(
    "radius, angle, expected",
    [
        (2.0, math.pi / 6, (math.sqrt(3), 1)),
        (2.0, 0.0, (2, 0)),
        (INF, 0.0, (INF, 0)),
        (INF, math.pi / 4, (INF, INF)),
        (INF, -math.pi / 4, (INF, -INF)),
        (0.0, NAN, (0, 0)),
        (0.0, INF, (0, 0)),
        (2.0, NAN, (NAN, NAN)),
        (1.0, INF, (NAN, NAN)),
        (0.0, 1.0, (0, 0)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_number_of_polar_coordinates_has_no_nan_where_it_need_not(
    radius, angle, expected, dtype
):
    """A radius without end along an axis, and one of nothing anywhere."""
    found = row("cmath.rect", dtype(radius), dtype(angle))

    assert np.result_type(dtype, 1j) == found.dtype
    np.testing.assert_allclose([found.real, found.imag], expected, rtol=1e-6)


@pytest.mark.parametrize(
    "value, expected",
    [
        (complex(-INF, NAN), 0),
        (complex(-INF, INF), 0),
        (complex(-INF, 1), 0),
        (0j, 1),
    ],
)
def test_e_to_a_power_of_less_than_all_is_nothing(value, expected):
    """Wherever its angle is."""
    found = row("cmath.exp", np.complex128(value))

    np.testing.assert_array_equal(expected, found)


def test_questions_of_complex_numbers_look_at_both_parts():
    """One is enough."""
    values = [complex(1, NAN), complex(INF, 1), 1j]

    for name, expected in (
        ("isnan", [True, False, False]),
        ("isinf", [False, True, False]),
        ("isfinite", [False, False, True]),
    ):
        found = [bool(row(f"cmath.{name}", np.complex128(v))) for v in values]
        assert expected == found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_complex_number_is_made_of_its_parts(dtype):
    """Of twice their size, for each lane."""
    found = row("complex", np.full((2, 1), 3, dtype), np.full((1, 2), 4, dtype))

    assert [[3 + 4j] * 2] * 2 == found.tolist()
    assert 2 * np.dtype(dtype).itemsize == found.dtype.itemsize
    assert 3 - 4j == row(".conjugate", found)[0, 0]
