"""Rounding once, down, up or toward zero; CUDA's own library; float16."""

import cmath
import math
import operator
from fractions import Fraction

import numpy as np
import pytest
from numba import cuda, types
from numba.cuda import libdevice, libdevicefuncs

from tests.specimens.kernels import BUILT_IN, by_thread, kernel_of, message
from thirty_two_lanes.emulator import KernelError
from thirty_two_lanes.frontend.types import our_type
from thirty_two_lanes.language.operators import FUNCTIONS

RNG = np.random.default_rng(3)
NAMESPACE = {
    "math": math,
    "cmath": cmath,
    "np": np,
    "cuda": cuda,
    "libdevice": libdevice,
}


def exactly(function, *values):
    return function(*(Fraction(float(v)) for v in values))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype):
    """No float is nearer to the exact value; a product and a sum are often off."""
    a, b = RNG.standard_normal((2, 4096)).astype(dtype)
    c = (-a * b * (1 + RNG.integers(-3, 4, 4096) * np.finfo(dtype).eps)).astype(dtype)

    actual = by_thread(kernel_of("cuda.fma(X, Y, Z)", "xyz"), a, b, c, dtype=dtype)
    whole = FUNCTIONS["cuda.fma"](a, b, c)

    assert actual.tolist() == whole[:64].tolist() and actual.dtype == dtype
    for x, y, z, result in zip(a, b, c, whole, strict=True):
        exact = exactly(lambda x, y, z: x * y + z, x, y, z)
        around = [np.nextafter(result, dtype(s * np.inf)) for s in (-1, 1)]
        error = abs(Fraction(float(result)) - exact)
        assert all(error <= abs(Fraction(float(n)) - exact) for n in around)
    assert (whole != a * b + c).any()


@pytest.mark.parametrize("letter, dtype", [("f", np.float32), ("d", np.float64)])
@pytest.mark.parametrize(
    "name, function",
    [
        ("add", operator.add),
        ("mul", operator.mul),
        ("div", operator.truediv),
        ("rcp", lambda a, b: 1 / a),
    ],
)
def test_directed_rounding_encloses_the_exact_value(letter, dtype, name, function):
    """`_rd` is the greatest float below it, `_ru` the least above, `_rz` the nearer to
    zero.
    """
    a, b = (RNG.standard_normal((2, 500)) * [[1], [1e3]]).astype(dtype)
    operands = (a,) if name == "rcp" else (a, b)

    down, up, zero = (
        FUNCTIONS[f"cuda.libdevice.{letter}{name}_{mode}"](*operands)
        for mode in ("rd", "ru", "rz")
    )

    for x, y, low, high, cut in zip(a, b, down, up, zero, strict=True):
        exact = exactly(function, x, y)
        assert Fraction(float(low)) <= exact <= Fraction(float(high))
        assert high in (low, np.nextafter(low, dtype(np.inf)))
        assert cut == (low if exact > 0 else high)


@pytest.mark.parametrize(
    "name", [n[15:] for n in FUNCTIONS if n.startswith("cuda.libdevice.")]
)
def test_a_row_of_libdevice_has_the_types_that_numba_gives_it(name):
    """Of one number, and of a number for each lane."""
    if f"__nv_{name}" not in libdevicefuncs.functions:
        pytest.skip("a twin that CUDA does not have")
    result, arguments = libdevicefuncs.functions[f"__nv_{name}"]
    given = [our_type(a.ty) for a in arguments if not a.is_ptr]
    results = [] if result == types.void else [our_type(result)]
    results += [our_type(a.ty) for a in arguments if a.is_ptr]

    for shape in ((), (32, 1)):
        values = [np.ones(shape, dtype)[()] for dtype in given]
        with np.errstate(all="ignore"):
            found = FUNCTIONS[f"cuda.libdevice.{name}"](*values)
        found = found if isinstance(found, tuple) else (found,)
        assert results == [value.dtype for value in found]


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("libdevice.mulhi(-2000000000, 2000000000)", (-2 * 10**9 * 2 * 10**9) >> 32),
        ("libdevice.umulhi(-2, 3)", (2**32 - 2) * 3 >> 32),
        ("libdevice.mul64hi(-(1 << 62), 12)", -3),
        ("libdevice.umul64hi(-1, -1)", -2),
        ("libdevice.hadd(2147483647, 2147483645)", 2147483646),
        ("libdevice.rhadd(4, 7)", 6),
        ("libdevice.uhadd(-2, 0)", 2**31 - 1),
        ("libdevice.sad(3, 10, 5)", 12),
        ("libdevice.mul24(0x1000003, 2)", 6),
        ("libdevice.byte_perm(0x33221100, 0x77665544, 0x7531)", 0x77553311),
        ("libdevice.float_as_int(1.0)", 0x3F800000),
        ("libdevice.saturatef(1.5) + libdevice.saturatef(-2.0)", 1),
        ("libdevice.fdim(5.0, 3.0) + libdevice.fdim(3.0, 5.0)", 2),
        ("libdevice.rsqrt(16.0) + libdevice.rcbrt(8.0)", 0.75),
        ("libdevice.sincos(0.0)[1]", 1),
        ("libdevice.sinpi(0.5) + libdevice.cospi(1.0)", 0),
        ("libdevice.llrint(2.5) * 10 + libdevice.llround(2.5)", 23),
        ("libdevice.double2int_ru(2.1) + libdevice.double2int_rd(-2.1)", 0),
        ("libdevice.double2int_rn(x[0] / x[0])", -(2**31)),  # a NaN
        ("libdevice.uint2float_rn(-1)", 2.0**32),
        ("libdevice.ilogb(10.0) + libdevice.logb(0.2)", 0),
        ("libdevice.clz(1) + libdevice.ffs(8) + libdevice.popc(-1)", 67),
        ("libdevice.hiloint2double(0x3FF00000, 0)", 1),
        ("libdevice.normcdf(0.0)", 0.5),
    ],
)
def test_a_function_of_libdevice_gives_what_cuda_documents(expression, expected):
    """Whole numbers, roundings and bits: exact."""
    kernel = kernel_of(expression, "x")

    assert expected == by_thread(kernel, np.zeros(32), threads=32)[0]


def test_what_numpy_cannot_compute_is_refused_by_name():
    """With the line."""
    kernel = kernel_of("libdevice.j0(X)", "x")

    assert "`j0`" in message(KernelError, kernel, 1, 32, np.zeros(32), np.zeros(32))


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
@pytest.mark.parametrize(
    "expression, numpy",
    [
        ("cuda.fp16.hadd(X, Y)", np.add),
        ("cuda.fp16.hmul(X, Y)", np.multiply),
        ("cuda.fp16.hdiv(X, Y)", np.divide),
        ("cuda.fp16.hmax(X, Y)", np.fmax),
        ("cuda.fp16.hneg(X)", lambda x, y: -x),
        ("cuda.fp16.hsqrt(cuda.fp16.habs(X))", lambda x, y: np.sqrt(np.abs(x))),
        ("cuda.fp16.hrint(Y)", lambda x, y: np.rint(y)),
        ("X * Y + X", lambda x, y: x * y + x),
        ("cuda.fp16.hlt(X, Y)", np.less),
        (
            "cuda.fp16.hfma(X, Y, X)",
            lambda x, y: (x.astype(float) * y + x).astype(np.float16),
        ),
    ],
)
def test_halves_round_as_halves(expression, numpy):
    """Each result is a float16, rounded once."""
    x, y = RNG.uniform(-3, 3, (2, 64)).astype(np.float16)

    actual = by_thread(kernel_of(expression), x, y)

    assert numpy(x, y).astype(float).tolist() == actual.tolist()
