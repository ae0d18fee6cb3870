"""`cmath` and `**` of complex numbers, with the NaNs and zeros that an H200 gives."""

import cmath
import math

import numpy as np
import pytest
from numba import njit

from tests.quick import beside
from thirty_two_lanes.language.operators import FUNCTIONS, NAMESPACE

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
INF, NAN = math.inf, math.nan
LARGEST = np.finfo(np.float64).max
NAMES = (
    *("exp", "sqrt", "cosh", "sinh", "tanh", "cos", "sin", "tan"),
    *("acos", "acosh", "asinh", "atanh", "asin", "atan"),
)
ON_CPU = {
    name: njit(eval(f"lambda z: {name}(z)", {name: getattr(cmath, name)}))
    for name in NAMES
}


def is_same(expected, found):
    """The same parts, with the signs of their zeros."""
    for a, b in ((expected.real, found.real), (expected.imag, found.imag)):
        np.testing.assert_allclose(b, a, rtol=1e-12)
        assert np.all(np.isnan(a) | (np.signbit(a) == np.signbit(b)))
    return True


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_a_function_of_complex_numbers_is_pythons(name, dtype):
    """Of numbers in all four quarters, and of single parts."""
    parts = (0.3, -0.7, 1.5, -2.25, 0.0)
    values = [complex(x, y) for x in parts for y in parts if x or y]

    found = FUNCTIONS[f"cmath.{name}"](np.array(values, dtype))

    near = 1e-13 if dtype is np.complex128 else 2e-6
    expected = [getattr(cmath, name)(dtype(v)) for v in values]
    np.testing.assert_allclose(found, expected, rtol=10 * near, atol=near)
    assert dtype == found.dtype


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("exp", complex(LARGEST, 0.0), complex(INF, NAN)),
        ("exp", complex(INF, 0.0), complex(INF, 0.0)),
        ("exp", complex(-INF, NAN), 0j),
        ("exp", complex(NAN, -0.0), complex(NAN, -0.0)),
        ("sqrt", complex(-INF, 1.0), complex(0.0, INF)),
        ("sqrt", complex(NAN, INF), complex(INF, INF)),
        ("sqrt", complex(0.0, -0.0), complex(0.0, -0.0)),
        (
            "sqrt",
            complex(0.0, LARGEST),
            complex(9.480751908109176e153, 4.740375954054588e153),
        ),
        ("cosh", complex(0.0, INF), complex(NAN, NAN)),
        ("sinh", complex(0.0, NAN), complex(NAN, NAN)),
        ("tanh", complex(0.0, INF), complex(NAN, NAN)),
        ("tanh", complex(-INF, INF), complex(-1.0, 0.0)),
        ("cos", complex(0.0, LARGEST), complex(INF, NAN)),
        ("sin", complex(0.0, LARGEST), complex(NAN, INF)),
        ("tan", complex(INF, 0.0), complex(NAN, NAN)),
        ("acos", complex(0.0, NAN), complex(NAN, NAN)),
        ("asinh", complex(NAN, 0.0), complex(NAN, NAN)),
        ("atan", complex(0.0, NAN), complex(math.pi / 2, NAN)),
        ("atanh", complex(NAN, 0.0), complex(NAN, math.pi / 2)),
    ],
)
def test_a_function_of_special_numbers_is_numbas(name, value, expected):
    """Seen on an H200; Python's own differs, and NumPy's too."""
    assert is_same(expected, FUNCTIONS[f"cmath.{name}"](np.complex128(value)))


@pytest.mark.parametrize("name", beside(["sqrt", "tanh", "atan", "acos"], NAMES))
def test_a_function_of_special_parts_is_numbas_on_a_cpu(name):
    """Zeros of both signs, numbers without end, the largest ones and NaN, in pairs."""
    parts = (0.0, -0.0, 0.3, 1.0, -2.25, LARGEST, -LARGEST, LARGEST / 8, INF, -INF, NAN)
    values = [complex(x, y) for x in parts for y in parts]

    found = FUNCTIONS[f"cmath.{name}"](np.array(values))

    assert is_same(np.array([ON_CPU[name](it) for it in values]), found)


def test_the_root_of_an_imaginary_number_has_numbas_bits():
    """Its two parts are computed apart, and may differ in the last bit."""
    parts = [complex(0.0, it) for it in (0.3, -0.7, 1.5, 2.25, 3.3, -5.1, 7.7, 0.1)]

    found = FUNCTIONS["cmath.sqrt"](np.array(parts))

    assert [ON_CPU["sqrt"](it) for it in parts] == found.tolist()


@pytest.mark.parametrize(
    "radius, angle, expected",
    [
        (1.0, INF, complex(NAN, NAN)),
        (0.0, NAN, 0j),
        (INF, NAN, complex(INF, NAN)),
        (INF, 0.0, complex(INF, 0.0)),
        (2.0, 0.0, complex(2.0, 0.0)),
    ],
)
def test_a_distance_and_an_angle_without_end_make_a_number(radius, angle, expected):
    """`cmath.rect`: NaN, but for no distance."""
    found = FUNCTIONS["cmath.rect"](np.float64(radius), np.float64(angle))

    assert is_same(expected, found)


@pytest.mark.parametrize(
    "base, exponent, expected",
    [
        (3 + 4j, 2, -7 + 24j),
        (0j, 0, 1),
        (0j, 2, 0),
        (1j, 1j, 0),
        (1j, 1 + 1j, 1j * cmath.exp(-math.pi / 2)),
        (-2 + 0.5j, 0.5 - 1j, (-2 + 0.5j) ** (0.5 - 1j)),
    ],
)
def test_a_power_of_complex_numbers_is_pythons(base, exponent, expected):
    """By length and angle; no real parts give 0, as Numba has it."""
    power = NAMESPACE["power"]

    found = power(np.complex128(base), np.complex128(exponent))

    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_numpys_division_by_a_complex_zero_keeps_its_signs(dtype):
    """Each part by the zero of that part, as on an H200; others as in Python."""
    a, b = dtype([1 + 1j, 1 - 2.5j, 3 + 4j]), dtype([complex(0, -0.0), -0.0, 1 + 2j])

    found = FUNCTIONS["np.divide"](a, b)

    assert is_same(complex(INF, -INF), found[0])
    assert is_same(complex(-INF, -INF), found[1])
    np.testing.assert_allclose(found[2], (3 + 4j) / (1 + 2j), rtol=1e-6)
