"""Infinities, NaN, signed zeros and the largest numbers: all have an answer."""

import inspect
import math
import sys
import warnings
from itertools import product

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import kernel_of
from thirty_two_lanes.language.operators import FUNCTIONS

INF, NAN = math.inf, math.nan
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, -171.5, INF, -INF, NAN, 5e-324, 1e308, -1e308)


def arity(name):
    """How many numbers a function of `math` or `cmath` takes."""
    if name in ("math.hypot", "math.log"):  # Python does not say it of these
        return 2 if name == "math.hypot" else 1
    root, _, last = name.partition(".")
    return len(inspect.signature(getattr(sys.modules[root], last)).parameters)


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if name.startswith("math.")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_function_of_real_numbers_answers_at_every_limit(name, dtype):
    """Without an error of Python's or a warning of NumPy's."""
    with np.errstate(all="ignore"):
        numbers = np.array(REAL).astype(dtype)
    given = np.array(list(product(numbers, repeat=arity(name)))).T
    if name == "math.ldexp":
        exponents = np.clip(np.nan_to_num(given[1]), -(2**31), 2**31 - 128)
        given = [given[0], exponents.astype(np.int32)]

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        FUNCTIONS[name](*given)
        for values in zip(*given, strict=True):
            FUNCTIONS[name](*values)


@pytest.mark.parametrize(
    "expression, answer",
    [
        ("math.gamma(X)", [INF, -INF, NAN, NAN, INF, 0.9513507698668732]),
        ("math.lgamma(X)", [INF, INF, INF, INF, INF, -0.04987244125983972]),
    ],
)
def test_the_gamma_function_at_its_limits(expression, answer):
    """As C's tgamma and lgamma: at ±0, -inf, -1, and the largest number."""
    x = np.array([0.0, -0.0, -INF, -1.0, 1e308, 1.1])
    out = np.zeros(6)

    emulate(kernel_of(expression, "x"))[1, 6](x, out)

    np.testing.assert_allclose(out, answer, rtol=1e-13)


def test_a_constant_is_converted_as_a_gpu_does_without_a_warning():
    """What a reader writes out is not NumPy's to warn of."""

    @cuda.jit
    def kernel(out):
        out[0] = float32(1e300)
        out[1] = float32(-1e300) * 2
        out[2] = int32(1e300)
        out[3] = np.float16(1e10)
        out[4] = np.complex64(1e300).real
        out[5] = NAN

    out = np.zeros(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):  # a NaN among the globals has not changed, either
            kernel[1, 1](out)

    assert [INF, -INF, 2**31 - 1, INF, INF] == out[:5].tolist()


Z = 2 - 3j
SMALL = np.complex64(1 + 2j)


@pytest.mark.parametrize("name", ["conjugate()", "real", "imag"])
@pytest.mark.parametrize("value", ["(2-3j)", "Z", "SMALL", "(2.5)", "(3)", "X", "Y"])
def test_numbers_have_the_attributes_of_pythons(name, value):
    """Literals, globals and elements, complex or not."""
    x, y = np.array([1 - 1j]), np.array([2.5])
    expression = f"({value}.{name})"
    lines = "def kernel(x, y, out):", "X, Y = x[0], y[0]", f"out[0] = {expression}"
    around = {"Z": Z, "SMALL": SMALL, "X": x[0], "Y": y[0]}
    exec("\n    ".join(lines), around)
    out = np.zeros(1, complex)

    emulate(cuda.jit(around["kernel"]))[1, 1](x, y, out)

    assert eval(expression, {"Z": Z, "SMALL": SMALL, "X": x[0], "Y": y[0]}) == out[0]
