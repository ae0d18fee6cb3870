"""Functions in kernels, each against Python's own, NumPy's, or exact fractions."""

import cmath
import math

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.specimens.kernels import BUILT_IN, NAMESPACE, by_thread, kernel_of

RNG = np.random.default_rng(3)


def within(ulps, expected, actual):
    """Are these so near, in units of the last place of what was expected?"""
    expected = np.asarray(expected, actual.dtype)
    near = np.abs(expected - actual) <= ulps * np.spacing(np.abs(expected))
    return bool(np.all(near | (expected == actual) | np.isnan(expected)))


INSIDE = {"acos": 0.9, "asin": 0.9, "atanh": 0.9}  # where a function is defined
MATH = (
    *("acos", "asin", "atan", "asinh", "atanh", "cos", "sin", "tan", "cosh", "sinh"),
    *("tanh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "gamma", "lgamma", "log"),
    *("log2", "log10", "log1p", "sqrt", "ceil", "floor", "trunc", "degrees"),
    *("radians", "acosh"),
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("name", MATH)
def test_a_function_of_math_is_pythons_within_its_last_bits(name, dtype):
    """Of float32 it is a float32; of whole numbers a float64."""
    whole = BUILT_IN and dtype is np.int32 and name in ("degrees", "radians")
    if not hasattr(math, name) or whole or (BUILT_IN and name == "exp2"):
        pytest.skip("neither this Python nor this Numba has it")
    x = np.linspace(0.05, INSIDE.get(name, 3.1), 32)
    x = 1 + x if name == "acosh" else x
    x = (1 + np.arange(32) % 3 if dtype is np.int32 else x).astype(dtype)
    if dtype is np.int32 and name in INSIDE:
        x[:] = 0

    actual = by_thread(kernel_of(f"math.{name}(X)", "x"), x, threads=32)

    expected = [getattr(math, name)(value) for value in x.tolist()]
    kind = np.float32 if dtype is np.float32 else np.float64
    assert actual.astype(kind).tolist() == actual.tolist()
    assert within(8, expected, actual.astype(kind))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name", ["atan2", "copysign", "fmod", "hypot", "pow", "remainder", "nextafter"]
)
def test_a_function_of_two_numbers_is_numpys_or_pythons(name, dtype):
    """Of float32 it is a float32."""
    if BUILT_IN and name == "nextafter":
        pytest.skip("Numba's built-in target does not have it")
    x, y = RNG.uniform(0.1, 5, (2, 32)).astype(dtype)

    actual = by_thread(kernel_of(f"math.{name}(X, Y)"), x, y, threads=32)

    expected = [
        getattr(math, name)(*p) for p in zip(x.tolist(), y.tolist(), strict=True)
    ]
    if name == "nextafter":
        expected = np.nextafter(x, y).astype(np.float64)
    assert actual.astype(dtype).tolist() == actual.tolist()
    assert within(4, expected, actual.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_that_give_two_numbers(dtype):
    """`frexp`, `modf` and, put together again, `ldexp`."""
    x = RNG.uniform(-50, 50, 32).astype(dtype)

    exponents = by_thread(kernel_of("math.frexp(X)[1]", "x"), x, threads=32)
    fractions = by_thread(kernel_of("math.modf(X)[0]", "x"), x, threads=32)
    body = "math.ldexp(math.frexp(X)[0], math.frexp(X)[1])"
    again = by_thread(kernel_of(body, "x"), x, threads=32)

    assert [math.frexp(v)[1] for v in x.tolist()] == exponents.tolist()
    assert [math.modf(v)[0] for v in x.tolist()] == fractions.tolist()
    assert x.tolist() == again.tolist()


def test_gamma_has_poles_as_cuda_has_them():
    """No error of Python's: infinity, or not a number."""
    x = np.array([0.0, -1.0, 200.0, 0.5] * 8)

    gamma = by_thread(kernel_of("math.gamma(X)", "x"), x, threads=32)
    lgamma = by_thread(kernel_of("math.lgamma(X)", "x"), x, threads=32)
    rest = by_thread(kernel_of("math.remainder(1.0, X)", "x"), x, threads=32)

    np.testing.assert_array_equal(
        gamma[:4], [math.inf, math.nan, math.inf, math.gamma(0.5)]
    )
    assert [math.inf, math.inf] == lgamma[:2].tolist()
    assert math.isnan(rest[0])


CMATH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log"),
    *("log10", "sin", "sinh", "sqrt", "tan", "tanh"),
)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", CMATH)
def test_a_function_of_cmath_is_pythons(name, dtype):
    """Both parts, of both sizes of complex numbers."""
    z = (RNG.uniform(-2, 2, 32) + 1j * RNG.uniform(-2, 2, 32)).astype(dtype)

    actual = by_thread(kernel_of(f"cmath.{name}(Z)", "z"), z, dtype=dtype, threads=32)

    expected = [getattr(cmath, name)(value) for value in z.tolist()]
    limit = 2e-6 if dtype is np.complex64 else 1e-14
    np.testing.assert_allclose(actual, expected, rtol=limit, atol=limit)


@pytest.mark.parametrize(
    "expression, python",
    [
        ("cmath.phase(Z)", cmath.phase),
        ("cmath.polar(Z)[0]", abs),
        ("cmath.rect(Z.real, Z.imag).real", lambda z: z.real * math.cos(z.imag)),
        ("Z.conjugate().imag", lambda z: -z.imag),
        ("(Z ** 2).real", lambda z: (z * z).real),
        ("(Z ** (1 + 1j)).imag", lambda z: (z ** (1 + 1j)).imag),
        ("(Z / (2 - 1j)).imag", lambda z: (z / (2 - 1j)).imag),
        ("abs(complex(Z.imag, 2))", lambda z: abs(complex(z.imag, 2))),
        ("cmath.isfinite(Z) + 2 * cmath.isnan(Z)", lambda z: 1),
    ],
)
def test_operators_and_parts_of_complex_numbers(expression, python):
    """Powers, quotients, `conjugate` and `complex` itself."""
    z = RNG.uniform(1, 2, 32) + 1j * RNG.uniform(1, 2, 32)

    actual = by_thread(kernel_of(expression, "z"), z, threads=32)

    np.testing.assert_allclose(actual, [python(v) for v in z.tolist()], rtol=1e-13)


@pytest.mark.parametrize(
    "expression, python",
    [
        ("divmod(X, Y)[0] * 100 + divmod(X, Y)[1]", lambda x, y: x // y * 100 + x % y),
        ("round(X / 7, 2)", lambda x, y: round(x / 7, 2)),
        ("round(X * 7.0, -1)", lambda x, y: round(x * 7.0, -1)),
        ("pow(Y, 3)", lambda x, y: y**3),
        ("float(X).real + X.imag", lambda x, y: x),
        ("abs(X) ** 0.5", lambda x, y: abs(x) ** 0.5),
        pytest.param(
            "np.iinfo(np.int16).max + X",
            lambda x, y: 32767 + x,
            marks=pytest.mark.skipif(BUILT_IN, reason="the package's own"),
        ),
        (
            "float('inf') if X > 0 else len('abc')",
            lambda x, y: math.inf if x > 0 else 3,
        ),
    ],
)
def test_builtins_give_what_python_gives(expression, python):
    """Of whole numbers, negative ones too."""
    x, y = RNG.integers(-50, 50, 32), RNG.integers(1, 9, 32)

    actual = by_thread(kernel_of(expression), x, y, threads=32)

    assert [python(*p) for p in zip(x.tolist(), y.tolist(), strict=True)] == (
        actual.tolist()
    )


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

    for name, python in (
        ("popc", lambda v: v.bit_count()),
        ("clz", lambda v: width - v.bit_length()),
        ("ffs", lambda v: (v & -v).bit_length()),
        ("brev", lambda v: int(f"{v:0{width}b}"[::-1], 2)),
    ):
        if name == "brev" and np.dtype(dtype).kind == "i":
            continue
        kernel = kernel_of(f"cuda.{name}(X)", "x")
        actual = by_thread(kernel, x, dtype=np.uint64, threads=32)
        assert [python(v) for v in x.tolist()] == actual.tolist(), name


# ufuncs


@pytest.mark.parametrize(
    "call",
    [
        "np.sin(X, out)",
        "np.arctan2(X, x, out)",
        "np.maximum(x, X, out)",
        "np.log(x, out)",
    ],
)
def test_a_ufunc_writes_to_an_array_that_it_is_given(call):
    """Of numbers and of arrays, broadcast as NumPy does."""
    x = RNG.uniform(0.5, 2, (3, 1, 4))
    kernel = f"def kernel(x, out):\n    X = x[1, 0, 2]\n    {call}\n"
    namespace = dict(NAMESPACE)
    exec(kernel, namespace)
    out, expected = np.zeros((2, 3, 5, 4)), np.zeros((2, 3, 5, 4))

    emulate(cuda.jit(namespace["kernel"]))[1, 1](x, out)

    namespace["kernel"](x, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-15)
