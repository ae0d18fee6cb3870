"""Functions in kernels, each against Python's own, NumPy's, or exact fractions."""

import cmath
import math

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.quick import slow
from tests.specimens.kernels import BUILT_IN, by_expression, by_thread, kernel_of

RNG = np.random.default_rng(3)


def within(ulps, expected, actual):
    """Are these so near, in units of the last place of what was expected?"""
    expected = np.asarray(expected, actual.dtype)
    near = np.abs(expected - actual) <= ulps * np.spacing(np.abs(expected))
    return bool(np.all(near | (expected == actual) | np.isnan(expected)))


MATH = (  # and of which of three inputs
    *("acos Y", "asin Y", "atan X", "asinh X", "atanh Y", "cos X", "sin X", "tan X"),
    *("cosh X", "sinh X", "tanh X", "erf X", "erfc X", "exp X", "exp2 X", "expm1 X"),
    *("fabs X", "gamma X", "lgamma X", "log X", "log2 X", "log10 X", "log1p X"),
    *("sqrt X", "ceil X", "floor X", "trunc X", "degrees X", "radians X", "acosh Z"),
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_function_of_math_is_pythons_within_its_last_bits(dtype):
    """Of float32 it is a float32; of whole numbers a float64."""
    whole = dtype is np.int32
    lacking = {"exp2"} | ({"degrees", "radians"} if whole else set())
    calls = [it.split() for it in MATH if hasattr(math, it.split()[0])]
    calls = [it for it in calls if not BUILT_IN or it[0] not in lacking]
    x = (1 + np.arange(32) % 3 if whole else np.linspace(0.05, 3.1, 32)).astype(dtype)
    inside = np.linspace(0.05, 0.9, 32).astype(dtype)  # where a function is defined
    inputs = {"X": x, "Y": inside, "Z": 1 + x}

    found = by_expression([f"math.{f}({of})" for f, of in calls], *inputs.values())

    kind = np.float32 if dtype is np.float32 else np.float64
    assert found.astype(kind).tolist() == found.tolist()
    for (name, of), actual in zip(calls, found.astype(kind), strict=True):
        expected = [getattr(math, name)(value) for value in inputs[of].tolist()]
        assert within(8, expected, actual), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_function_of_two_numbers_is_numpys_or_pythons(dtype):
    """Of float32 it is a float32."""
    names = ["atan2", "copysign", "fmod", "hypot", "pow", "remainder", "nextafter"]
    names = names[:-1] if BUILT_IN else names
    x, y = RNG.uniform(0.1, 5, (2, 32)).astype(dtype)

    found = by_expression([f"math.{name}(X, Y)" for name in names], x, y)

    assert found.astype(dtype).tolist() == found.tolist()
    for name, actual in zip(names, found.astype(dtype), strict=True):
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        expected = [getattr(math, name)(*pair) for pair in pairs]
        if name == "nextafter":
            expected = np.nextafter(x, y).astype(np.float64)
        assert within(4, expected, actual), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_that_give_two_numbers(dtype):
    """`frexp`, `modf` and, put together again, `ldexp`."""
    x = RNG.uniform(-50, 50, 32).astype(dtype)

    exponents, fractions, again = by_expression(
        [
            "math.frexp(X)[1]",
            "math.modf(X)[0]",
            "math.ldexp(math.frexp(X)[0], math.frexp(X)[1])",
        ],
        x,
    )

    assert [math.frexp(v)[1] for v in x.tolist()] == exponents.tolist()
    assert [math.modf(v)[0] for v in x.tolist()] == fractions.tolist()
    assert x.tolist() == again.tolist()


def test_gamma_has_poles_as_cuda_has_them():
    """No error of Python's: infinity, or not a number."""
    x = np.array([0.0, -1.0, 200.0, 0.5] * 8)

    gamma, lgamma, rest = by_expression(
        ["math.gamma(X)", "math.lgamma(X)", "math.remainder(1.0, X)"], x
    )

    np.testing.assert_array_equal(
        gamma[:4], [math.inf, math.nan, math.inf, math.gamma(0.5)]
    )
    assert [math.inf, math.inf] == lgamma[:2].tolist()
    assert math.isnan(rest[0])


CMATH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log"),
    *("log10", "sin", "sinh", "sqrt", "tan", "tanh"),
)


@pytest.mark.parametrize("dtype", [np.complex64, slow(np.complex128)])
def test_a_function_of_cmath_is_pythons(dtype):
    """Both parts, of both sizes of complex numbers."""
    z = (RNG.uniform(-2, 2, 32) + 1j * RNG.uniform(-2, 2, 32)).astype(dtype)

    found = by_expression([f"cmath.{name}(X)" for name in CMATH], z, dtype=dtype)

    expected = [[getattr(cmath, name)(v) for v in z.tolist()] for name in CMATH]
    limit = 2e-6 if dtype is np.complex64 else 1e-14
    np.testing.assert_allclose(found, expected, rtol=limit, atol=limit)


OF_COMPLEX = {
    "cmath.phase(Z)": cmath.phase,
    "cmath.polar(Z)[0]": abs,
    "cmath.rect(Z.real, Z.imag).real": lambda z: z.real * math.cos(z.imag),
    "Z.conjugate().imag": lambda z: -z.imag,
    "(Z ** 2).real": lambda z: (z * z).real,
    "(Z ** (1 + 1j)).imag": lambda z: (z ** (1 + 1j)).imag,
    "(Z / (2 - 1j)).imag": lambda z: (z / (2 - 1j)).imag,
    "abs(complex(Z.imag, 2))": lambda z: abs(complex(z.imag, 2)),
    "cmath.isfinite(Z) + 2 * cmath.isnan(Z)": lambda z: 1,
}


def test_operators_and_parts_of_complex_numbers():
    """Powers, quotients, `conjugate` and `complex` itself."""
    z = RNG.uniform(1, 2, 32) + 1j * RNG.uniform(1, 2, 32)

    found = by_expression(OF_COMPLEX, z, names="z")

    expected = [[python(v) for v in z.tolist()] for python in OF_COMPLEX.values()]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


BUILTINS = {
    "divmod(X, Y)[0] * 100 + divmod(X, Y)[1]": lambda x, y: x // y * 100 + x % y,
    "round(X / 7, 2)": lambda x, y: round(x / 7, 2),
    "round(X * 7.0, -1)": lambda x, y: round(x * 7.0, -1),
    "pow(Y, 3)": lambda x, y: y**3,
    "float(X).real + X.imag": lambda x, y: x,
    "abs(X) ** 0.5": lambda x, y: abs(x) ** 0.5,
    "float('inf') if X > 0 else len('abc')": lambda x, y: math.inf if x > 0 else 3,
}
if not BUILT_IN:  # the package's own
    BUILTINS["np.iinfo(np.int16).max + X"] = lambda x, y: 32767 + x


def test_builtins_give_what_python_gives():
    """Of whole numbers, negative ones too."""
    x, y = RNG.integers(-50, 50, 32), RNG.integers(1, 9, 32)

    found = dict(zip(BUILTINS, by_expression(BUILTINS, x, y).tolist(), strict=True))

    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    assert {e: [f(*pair) for pair in pairs] for e, f in BUILTINS.items()} == found


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
def test_bits_of_any_width():
    """`int.bit_count`, and a number's bits seen as another type."""
    x = RNG.integers(0, 127, 32).astype(np.int8)

    count = by_thread(kernel_of("X.bit_count()", "x"), x, threads=32)
    seen = by_thread(
        kernel_of("np.float32(X).view(np.int32)", "x"), x, dtype=np.int32, threads=32
    )

    assert [v.bit_count() for v in x.tolist()] == count.tolist()
    assert x.astype(np.float32).view(np.int32).tolist() == seen.tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_integer_intrinsics_of_each_width(dtype):
    """popc, clz and ffs of 32 and 64 bits; brev of unsigned ones."""
    width = np.dtype(dtype).itemsize * 8
    x = RNG.integers(0, 2 ** (width - 1) - 1, 32).astype(dtype)
    x[:2] = 0, 1

    functions = {
        "popc": lambda v: v.bit_count(),
        "clz": lambda v: width - v.bit_length(),
        "ffs": lambda v: (v & -v).bit_length(),
    }
    if np.dtype(dtype).kind == "u":
        functions["brev"] = lambda v: int(f"{v:0{width}b}"[::-1], 2)
    found = by_expression([f"cuda.{name}(X)" for name in functions], x, dtype=np.uint64)
    expected = [[python(v) for v in x.tolist()] for python in functions.values()]
    assert expected == found.tolist()


# ufuncs


def writes_to_arrays(x, out):
    X = x[1, 0, 2]
    np.sin(X, out[0])
    np.arctan2(X, x, out[1])
    np.maximum(x, X, out[2])
    np.log(x, out[3])


def test_a_ufunc_writes_to_an_array_that_it_is_given():
    """Of numbers and of arrays, broadcast as NumPy does."""
    x = RNG.uniform(0.5, 2, (3, 1, 4))
    out, expected = np.zeros((2, 4, 2, 3, 5, 4))

    emulate(cuda.jit(writes_to_arrays))[1, 1](x, out)

    writes_to_arrays(x, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-15)
