"""NaN, infinities, zeros of both signs and limits, as an H200 computes with them."""

import math
import re

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.specimens.kernels import BUILT_IN, by_expression
from thirty_two_lanes.language.operators import FUNCTIONS

INF, NAN = math.inf, math.nan
HALF = np.float16
LEAST = np.iinfo(np.int64).min


def each(texts, *inputs, dtype):
    """What a GPU's threads give for expressions of x and y, each its own numbers: a
    row for each expression, in one kernel.
    """
    texts = [re.sub(r"\b[xy]\b", lambda found: found[0].upper(), it) for it in texts]
    return by_expression(texts, *inputs, dtype=dtype)


def is_same(expected, actual):
    """The same numbers, with the same signs of zeros."""
    expected, actual = np.asarray(expected, np.float64), np.asarray(actual, np.float64)
    np.testing.assert_array_equal(actual, expected)
    known = ~np.isnan(expected)
    assert np.signbit(expected)[known].tolist() == np.signbit(actual)[known].tolist()
    return True


AS_WHOLE = {
    "int8": [2, 1, 127, -2, 0, -4, 127, -128, 127, 0],
    "uint8": [2, 1, 128, 0, 0, 0, 255, 0, 255, 0],
    "int16": [2, 1, 128, -2, 0, -4, 32767, -32768, 32767, 0],
    "uint16": [2, 1, 128, 0, 0, 0, 65504, 0, 65535, 0],
    "int32": [2, 1, 128, -2, 0, -4, 65504, -65504, 2**31 - 1, 0],
    "uint32": [2, 1, 128, 0, 0, 0, 65504, 0, 2**32 - 1, 0],
    "int64": [2, 1, 128, -2, 0, -4, 65504, -65504, 2**63 - 1, LEAST],
    "uint64": [2, 1, 128, 0, 0, 0, 65504, 0, 2**64 - 1, 2**63],
}


@pytest.mark.skipif(BUILT_IN, reason="numba's own target has no such casts")
def test_a_float16_becomes_the_nearest_whole_number():
    """Of two the even one, within what the type holds: `cvt.rni`."""
    values = HALF([1.5, 0.75, 127.5, -2.5, -0.5, -3.5, 65504, -65504, INF, NAN])
    texts = [f"np.{name}(x)" for name in AS_WHOLE]

    found = each(texts, values, dtype=np.int64)  # whose bits are those of a uint64

    rows = {n: row.astype(n).tolist() for n, row in zip(AS_WHOLE, found, strict=True)}
    assert AS_WHOLE == rows
    kept = [rows[n] for n in AS_WHOLE if n != "uint64"]
    assert kept == found[:-1].tolist()


CHOSEN = {
    "max(x, y)": [NAN, -0.0, 0.0, 1, 0],
    "max(y, x)": [0, 0, 0, 1, 0],
    "min(x, y)": [NAN, -0.0, 0.0, 0, -1],
    "min(y, x)": [0, 0, 0, 0, -1],
    "max(x, 0.0)": [0, 0, 0, 1, 0],
    "min(x, -0.0)": [-0.0, -0.0, -0.0, -0.0, -1],
    "min(x, 0.0)": [0, -0.0, 0, 0, -1],
    "max(x, -0.0)": [-0.0, -0.0, 0, 1, -0.0],
    "max(x, y, -5)": [NAN, -0.0, 0.0, 1, 0],
    "min(0.5, x, y)": [0, -0.0, 0.0, 0, -1],
    "max((x, y))": [NAN, -0.0, 0.0, 1, 0],
    "np.maximum(x, 0.0)": [NAN, -0.0, 0.0, 1, 0],
    "np.minimum(x, 0.0)": [NAN, -0.0, 0.0, 0, -1],
    "np.fmax(x, 0.0)": [0, -0.0, 0.0, 1, 0],
    "np.fmin(x, 0.0)": [0, -0.0, 0.0, 0, -1],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_least_and_the_greatest_are_chosen_as_on_a_gpu(dtype):
    """Two floats by CUDA's instruction, all else by comparisons, in their order."""
    values = dtype([NAN, -0.0, 0.0, 1, -1] * 13)  # in vectors, and in what is left

    found = each(CHOSEN, values, np.zeros(65, np.int64), dtype=np.float64)

    assert is_same([row * 13 for row in CHOSEN.values()], found)


@pytest.mark.parametrize(
    "text, counts, expected",
    [
        (
            "5 << y",
            [64, -1, 2**32, 2**32 + 1, -(2**32), 63],
            [0, 0, 5, 10, 5, -(2**63)],
        ),
        ("-5 >> y", [64, -1, 2**32, 2**32 + 1, -(2**32), 1], [-1, -1, -5, -3, -5, -3]),
        ("np.left_shift(x, y)", [64, -1, 2**32 + 2, LEAST, 1, 0], [0, 0, 28, 7, 14, 7]),
        ("x >> np.int32(y)", [64, -1, 2**31 - 1, 0, 1, 2], [0, 0, 0, 7, 3, 1]),
    ],
)
def test_of_a_shifts_count_32_bits_matter(text, counts, expected):
    """A count of 64 and more leaves nothing, or the sign."""
    counts = np.array(counts, np.int64)

    found = each([text], np.full(6, 7), counts, dtype=np.int64)

    assert [expected] == found.tolist()


POWERS = [  # a base, an exponent, and what they give
    (2, 65536, 0),
    (2, 65537, 2**63 - 1),
    (-3, 65537, LEAST),
    (-3, 65538, 2**63 - 1),
    (3, 65536, pow(3, 65536, 2**64) - 2**64),
    (3, 63, 3**63 % 2**64 - 2**64),
    (-1, 2**53 + 1, 1),
    (1, 2**63 - 1, 1),
    (0, -(2**40), LEAST),
    (2, -(2**40), 0),
    (-1, -65537, -1),
]


def test_a_large_whole_exponent_saturates():
    """Up to 65,536 squares wrap; beyond, Numba's code calls `pow` of float64."""
    x, y, expected = np.array(POWERS, np.int64).T.copy()

    assert [expected.tolist()] == each(["x ** y"], x, y, dtype=np.int64).tolist()


def test_an_unsigned_exponent_is_never_negative():
    """2**64 - 1 is large, and not -1; the largest base is odd."""
    x, y = np.array([2, 0, -1]), np.full(3, 2**64 - 1, np.uint64)

    assert [[2**63 - 1, 0, 1]] == each(["x ** y"], x, y, dtype=np.int64).tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("text", ["x[i] ** y[i]", "pow(x[i], y[i])"])
def test_the_least_exponent_ends_the_thread(text, dtype):
    """Its opposite is itself: Numba's code raises, and a GPU goes on without a word."""
    namespace = {"cuda": cuda}
    exec(
        "@cuda.jit\n"
        "def kernel(x, y, out):\n"
        "    i = cuda.grid(1)\n"
        f"    out[i] = {text}\n"
        "    out[i] += 1\n",
        namespace,
    )
    out = np.full(3, -7, dtype)

    emulate(namespace["kernel"])[1, 3](dtype([2] * 3), np.array([3, LEAST, 1]), out)

    assert [9, -7, 3] == out.tolist()


@cuda.jit
def quotients(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] / b[i]
    out[i] += 1


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_a_complex_division_by_zero_ends_the_thread(dtype):
    """Whatever the signs of the zeros; a NaN divides."""
    a = dtype([4, 4, 4, 4j])
    b = dtype([complex(0.0, -0.0), 2, 2j, complex(-0.0, 0.0)])
    out = np.full(4, 77, dtype)

    emulate(quotients)[1, 4](a, b, out)

    assert [77, 3, 1 - 2j, 77] == out.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 31, 1000])
def test_a_complex_product_is_the_same_in_every_layout(dtype, count):
    """Each part is two products and a sum, wherever its numbers lie."""
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((2, 4, count)) * 1e3).astype(dtype)
    x, y = (v[0] + 1j * v[1] for v in (a, b))

    (found,) = each(["x * y"], x, y, dtype=x.dtype)
    (apart,) = each(["x * y"], x[::-1], y[::-1], dtype=x.dtype)

    real = x.real * y.real - x.imag * y.imag
    imaginary = x.real * y.imag + x.imag * y.real
    assert real.tolist() == found.real.tolist() == apart.real[::-1].tolist()
    assert imaginary.tolist() == found.imag.tolist() == apart.imag[::-1].tolist()


@cuda.jit
def matches(x, some, every):
    lane = cuda.laneid
    some[lane] = cuda.match_any_sync(0xFFFFFFFF, x[lane])
    every[lane] = cuda.match_all_sync(0xFFFFFFFF, x[lane])[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matches_compare_bits(dtype):
    """A NaN is in its own mask, and -0 is not 0."""
    x = dtype([NAN, 0.0, -0.0, 1] * 8)
    some, every = np.zeros((2, 32), np.int64)

    emulate(matches)[1, 32](x, some, every)
    emulate(matches)[1, 32](np.full(32, NAN, dtype), np.zeros(32, np.int64), every)

    quarter = 0x11111111
    masks = [quarter << lane % 4 for lane in range(32)]
    assert masks == [int(mask) & 0xFFFFFFFF for mask in some]
    assert [-1] * 32 == every.tolist()


ROUNDED = [  # a number, its digits, and what is left
    (1.5, 31, 9.223372036854776e-13),
    (-2.5, 25, -9.223372036854776e-07),
    (1e300, 309, 1e300),
    (-0.25, 0, 0.0),
    (0.5, 0, 0.0),
    (2.5, 0, 2.0),
    (1e20, 0, 9.223372036854775807e18),
    (12345.0, -400, NAN),
]


def test_a_number_is_rounded_to_digits_by_way_of_an_int64():
    """Seen on an H200: what has no place in one is clipped, and no zero is negative."""
    values, digits, expected = np.array(ROUNDED).T.copy()

    found = each(["round(x, y)"], values, digits.astype(np.int64), dtype=np.float64)

    assert is_same([expected], found)


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("cuda.libdevice.round", (-0.25,), -0.0),
        ("cuda.libdevice.round", (-2.5,), -3.0),
        ("cuda.libdevice.fmin", (0.0, -0.0), -0.0),
        ("cuda.libdevice.fmax", (-0.0, 0.0), 0.0),
        ("cuda.libdevice.fma", (0.0, -1.0, -0.0), -0.0),
        ("cuda.libdevice.saturatef", (-0.0,), 0.0),
        ("cuda.libdevice.powi", (-1.0, np.int32(2**31 - 1)), -1.0),
        ("math.pow", (-0.0, 0.5), 0.0),
        ("math.pow", (-INF, 0.5), INF),
        ("math.pow", (np.float32(-1), np.int32(2**31 - 1)), -1.0),
        ("math.ldexp", (np.float32(1), np.int32(2**31 - 1)), INF),
        ("math.gamma", (-INF,), NAN),
        ("math.lgamma", (1e308,), INF),
        ("cuda.fp16.hadd_sat", (HALF(-0.0), HALF(-0.0)), 0.0),
        ("cuda.fp16.hfma_relu", (HALF(-1), HALF(0), HALF(-0.0)), 0.0),
        ("cuda.fp16.hmax", (HALF(-0.0), HALF(0.0)), 0.0),
        ("cuda.fp16.hmin_nan", (HALF(0.0), HALF(-0.0)), -0.0),
        ("cuda.fp16.hisinf", (HALF(-INF),), -1),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_gives_the_zero_and_the_infinity_of_a_gpu(name, values, expected):
    """Seen on an H200, of functions of libdevice, of float16 and of `math`."""
    operands = (np.float64(v) if isinstance(v, float) else v for v in values)

    assert is_same(expected, FUNCTIONS[name](*operands))
