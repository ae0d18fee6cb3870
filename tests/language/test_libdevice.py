"""Rows of `cuda.libdevice`, each on numbers: what CUDA's documentation says of it."""

import math
import struct

import numpy as np
import pytest

from thirty_two_lanes.language.operators import FUNCTIONS

NAN, INF = math.nan, math.inf
I32, I64, F32, F64 = np.int32, np.int64, np.float32, np.float64
LEAST, MOST = -(2**31), 2**31 - 1


def row(name, *values):
    """What a row gives for NumPy's numbers."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[f"cuda.libdevice.{name}"](*values)


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("mulhi", (LEAST, LEAST), 2**30),
        ("mulhi", (-1, 1), -1),
        ("mulhi", (65536, 65536), 1),
        ("mulhi", (0x12345678, 0x7654321), 0x12345678 * 0x7654321 >> 32),
        ("mulhi", (-0x12345678, 0x7654321), -0x12345678 * 0x7654321 >> 32),
        ("umulhi", (-1, -1), -2),
        ("mul24", (0x7FFFFF, 2), 0xFFFFFE),
        ("mul24", (0xFFFFFF, 5), -5),
        ("mul24", (7, 0x1000003), 21),
        ("umul24", (0xFFFFFF, 2), 0x1FFFFFE),
        ("hadd", (3, 4), 3),
        ("hadd", (-3, 0), -2),
        ("rhadd", (3, 4), 4),
        ("rhadd", (MOST, MOST), MOST),
        ("uhadd", (-1, -1), -1),
        ("urhadd", (-1, 0), LEAST),
        ("sad", (10, 3, 5), 12),
        ("sad", (-10, 3, -5), 8),
        ("usad", (-1, 0, 0), -1),
        ("min", (-1, 1), -1),
        ("max", (-1, 1), 1),
        ("umin", (-1, 1), 1),
        ("umax", (-1, 1), -1),
        ("abs", (-7,), 7),
        ("byte_perm", (0x33221100, 0x77665544, 0x3210), 0x33221100),
        ("byte_perm", (0x33221100, 0x77665544, 0x0347), 0x00334477),
        ("byte_perm", (-1, 0, 0x8888), -1),
        ("brev", (1,), LEAST),
        ("clz", (0,), 32),
        ("clz", (1,), 31),
        ("clz", (-1,), 0),
        ("popc", (-1,), 32),
        ("popc", (0x10101,), 3),
        ("ffs", (0,), 0),
        ("ffs", (LEAST,), 32),
        ("ffs", (12,), 3),
    ],
)
def test_a_function_of_32_bits_is_exact(name, values, expected):
    """Halves of products, means without overflow, bytes and bits; `u` has no sign."""
    found = row(name, *map(I32, values))

    assert (np.dtype(I32), expected) == (found.dtype, found)


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("mul64hi", (-(2**63), -(2**63)), 2**62),
        ("mul64hi", (2**40 + 5, 2**50 + 9), (2**40 + 5) * (2**50 + 9) >> 64),
        ("mul64hi", (-(2**40) - 5, 2**50 + 9), (-(2**40) - 5) * (2**50 + 9) >> 64),
        ("mul64hi", (2**32 - 1, 2**32 - 1), 0),
        ("umul64hi", (-1, 2), 1),
        ("umul64hi", (-1, -1), -2),
        ("llmin", (-1, 1), -1),
        ("llmax", (-1, 1), 1),
        ("ullmin", (-1, 1), 1),
        ("ullmax", (-1, 1), -1),
        ("llabs", (-7,), 7),
        ("brevll", (1,), -(2**63)),
    ],
)
def test_a_function_of_64_bits_is_exact(name, values, expected):
    """The same for long long."""
    found = row(name, *map(I64, values))

    assert (np.dtype(I64), expected) == (found.dtype, found)


@pytest.mark.parametrize("name, value, expected", [("clzll", 1, 63), ("ffsll", 12, 3)])
def test_bits_of_64_are_counted_in_an_int32(name, value, expected):
    """And `popcll`."""
    assert expected == row(name, I64(value))
    assert (np.dtype(I32), 64) == (row("popcll", I64(-1)).dtype, row("popcll", I64(-1)))


@pytest.mark.parametrize("dtype, end", [(F64, ""), (F32, "f")])
@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("round", 2.5, 3),
        ("round", -2.5, -3),
        ("round", 0.49, 0),
        ("round", -0.75, -1),
        ("rint", 2.5, 2),
        ("nearbyint", -1.5, -2),
        ("rsqrt", 4, 0.5),
        ("rcbrt", 27, 1 / 3),
        ("exp10", 3, 1000),
        ("exp2", 3, 8),
        ("sinpi", 0, 0),
        ("sinpi", 0.5, 1),
        ("sinpi", 1, 0),
        ("sinpi", 1.5, -1),
        ("sinpi", 2.5, 1),
        ("sinpi", -0.5, -1),
        ("sinpi", 1 / 6, 0.5),
        ("sinpi", INF, NAN),
        ("cospi", 0, 1),
        ("cospi", 0.5, 0),
        ("cospi", 1, -1),
        ("cospi", 1.5, 0),
        ("cospi", 2, 1),
        ("cospi", 1 / 3, 0.5),
        ("normcdf", 0, 0.5),
        ("normcdf", 1.959963984540054, 0.975),
        ("logb", 10, 3),
        ("logb", 0.25, -2),
        ("logb", 0, -INF),
        ("logb", -INF, INF),
        ("logb", NAN, NAN),
        ("tgamma", 5, 24),
        ("tgamma", -2, NAN),
        ("tgamma", 0, INF),
        ("tgamma", -0.0, -INF),
        ("tgamma", 400, INF),
        ("lgamma", 3, math.log(2)),
        ("lgamma", -1, INF),
        ("lgamma", -INF, INF),
        ("erf", 0.5, math.erf(0.5)),
        ("erfc", 0.5, math.erfc(0.5)),
        ("cbrt", 27, 3),
        ("fabs", -2, 2),
        ("acos", 1, 0),
        ("asin", 1, math.pi / 2),
        ("atan", 1, math.pi / 4),
        ("acosh", 2, math.acosh(2)),
        ("asinh", 2, math.asinh(2)),
        ("atanh", 0.5, math.atanh(0.5)),
    ],
)
def test_a_function_of_a_float_keeps_its_type(name, value, expected, dtype, end):
    """Within its last bits; a name with an `f` is of float32."""
    found = row(name + end, dtype(value))

    assert np.dtype(dtype) == found.dtype
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=1e-7)


def test_sine_and_cosine_of_half_turns_are_exact():
    """Of pi times 0, a half, 1 and so on, to where a float64 has no halves."""
    for turns in (0, 4, 1000, 2**40, -6):
        for n, (sine, cosine) in enumerate([(0, 1), (1, 0), (0, -1), (-1, 0)]):
            value = F64(turns + n / 2)
            assert (sine, cosine) == (row("sinpi", value), row("cospi", value))


@pytest.mark.parametrize("dtype, end", [(F64, ""), (F32, "f")])
@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("fdim", (5, 3), 2),
        ("fdim", (3, 5), 0),
        ("fdim", (NAN, 5), NAN),
        ("fdim", (5, NAN), NAN),
        ("atan2", (1, -1), 3 * math.pi / 4),
        ("pow", (2, 10), 1024),
        ("fmod", (-7, 3), -1),
        ("remainder", (7, 4), -1),
        ("remainder", (INF, 4), NAN),
        ("remainder", (7, 0), NAN),
        ("hypot", (3, 4), 5),
        ("copysign", (3, -0.0), -3),
        ("fmax", (NAN, 1), 1),
        ("fmin", (1, NAN), 1),
        ("fma", (2, 3, 4), 10),
    ],
)
def test_a_function_of_two_floats_keeps_their_type(name, values, expected, dtype, end):
    """And one of three."""
    found = row(name + end, *map(dtype, values))

    assert np.dtype(dtype) == found.dtype
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype, end", [(F64, ""), (F32, "f")])
def test_a_function_may_give_two_numbers(dtype, end):
    """Sine and cosine, a fraction with an exponent or with a whole number."""

    def pair(name, value):
        return [float(part) for part in row(name + end, dtype(value))]

    assert [0.625, 4] == pair("frexp", 10)
    assert [0.25, 2] == pair("modf", 2.25)
    assert [0, 1] == pair("sincos", 0)
    assert [1, 0] == pytest.approx(pair("sincospi", 0.5), abs=1e-12)
    assert 40 == row("ldexp" + end, dtype(5), I32(3))
    assert 40 == row("scalbn" + end, dtype(5), I32(3))
    assert 0.125 == row("powi" + end[:1], dtype(2), I32(-3))


@pytest.mark.parametrize(
    "value, expected", [(10, 3), (0.25, -2), (0, LEAST), (NAN, LEAST), (INF, MOST)]
)
def test_an_exponent_is_whole(value, expected):
    """`ilogb`: of 0 and of what is no number the least int."""
    found = row("ilogb", F64(value)), row("ilogbf", F32(value))

    assert (expected, expected) == found
    assert {np.dtype(I32)} == {it.dtype for it in found}


@pytest.mark.parametrize(
    "mode, expected",
    [("rn", [2, 4, -2, 3]), ("rd", [2, 3, -3, 2]), ("ru", [3, 4, -2, 3])]
    + [("rz", [2, 3, -2, 2])],
)
@pytest.mark.parametrize("target, dtype", [("int", I32), ("ll", I64)])
@pytest.mark.parametrize("source, kind", [("float", F32), ("double", F64)])
def test_a_float_becomes_whole_of_the_modes_side(
    source, kind, target, dtype, mode, expected
):
    """To the nearest is to even."""
    convert = f"{source}2{target}_{mode}"
    found = [row(convert, kind(v)) for v in (2.5, 3.5, -2.5, 2.75)]

    assert (expected, {np.dtype(dtype)}) == (found, {v.dtype for v in found})


@pytest.mark.parametrize(
    "source, target, least, most, nan",
    [
        ("float", "int", LEAST, MOST, 0),
        ("float", "uint", 0, -1, 0),
        ("double", "int", LEAST, MOST, LEAST),
        ("double", "uint", 0, -1, LEAST),
        ("float", "ll", -(2**63), 2**63 - 1, -(2**63)),
        ("double", "ull", 0, -1, -(2**63)),
    ],
)
def test_a_float_that_no_integer_holds_is_clipped(source, target, least, most, nan):
    """A NaN is the highest bit alone where either side has 64; `u` has no sign."""
    kind = F32 if source == "float" else F64
    found = [row(f"{source}2{target}_rz", kind(v)) for v in (-1e30, 1e30, NAN)]

    assert [least, most, nan] == found


def test_a_whole_number_becomes_a_float_of_the_modes_side():
    """2**24 + 1 lies between two float32, 2**53 + 1 between two float64."""

    def each(kind, value):
        return [int(row(f"{kind}_{mode}", value)) - int(value) for mode in MODES]

    MODES = "rn", "rd", "ru", "rz"
    assert [-1, -1, 1, -1] == each("int2float", I32(2**24 + 1))
    assert [1, -1, 1, 1] == each("int2float", I32(-(2**24) - 1))
    assert [-1, -1, 1, -1] == each("ll2double", I64(2**53 + 1))
    assert [0, 0, 0, 0] == each("int2double", I32(MOST))
    assert [2.0**32, 2.0**32 - 256] == [
        row("uint2float_rn", I32(-1)),
        row("uint2float_rz", I32(-1)),
    ]
    assert 2.0**64 == row("ull2double_rn", I64(-1))


def test_a_float64_becomes_a_float32_of_the_modes_side():
    """What lies halfway goes to even, and what is too large stays the largest."""
    value, most = F64(1 + 2.0**-24), np.finfo(F32).max
    one, more = F32(1), np.nextafter(F32(1), F32(2))

    def each(value):
        return [row(f"double2float_{m}", F64(value)) for m in ("rn", "rd", "ru", "rz")]

    assert [one, one, more, one] == each(value)
    assert [-one, -more, -one, -one] == each(-value)
    assert [INF, most, INF, most] == each(1e300)
    assert [-INF, -INF, -most, -most] == each(-1e300)
    assert [INF] * 4 == each(INF)


def test_floats_lend_their_bits():
    """As `struct` packs them."""
    (bits,) = struct.unpack("<q", struct.pack("<d", -1.7))
    value = F64(-1.7)

    assert bits == row("double_as_longlong", value)
    assert value == row("longlong_as_double", I64(bits))
    assert bits >> 32 == row("double2hiint", value)
    assert bits & 0xFFFFFFFF == int(row("double2loint", value)) & 0xFFFFFFFF
    assert value == row("hiloint2double", I32(bits >> 32), row("double2loint", value))
    assert 0x3F800000 == row("float_as_int", F32(1))
    assert 1 == row("int_as_float", I32(0x3F800000))
    assert 0x3C00 == row("float2half_rn", F32(1))
    assert 1 == row("half2float", np.int16(0x3C00))


@pytest.mark.parametrize(
    "name, yes, no",
    [
        ("isnand", NAN, INF),
        ("isnanf", NAN, 1),
        ("isinfd", -INF, NAN),
        ("isinff", INF, 1),
        ("isfinited", 1, NAN),
        ("finitef", 1, INF),
        ("signbitd", -0.0, 0.0),
        ("signbitf", -1, 1),
    ],
)
def test_a_question_is_answered_with_an_int32(name, yes, no):
    """0 or 1; a name that ends in `d` is of float64."""
    kind = F64 if name.endswith("d") else F32

    assert [1, 0] == [row(name, kind(value)) for value in (yes, no)]
    assert np.dtype(I32) == row(name, kind(yes)).dtype


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("fast_fdividef", (3, 4), 0.75),
        ("fast_exp10f", (2,), 100),
        ("fast_powf", (2, 5), 32),
        ("fast_sinf", (1,), math.sin(1)),
        ("fast_cosf", (1,), math.cos(1)),
        ("fast_tanf", (1,), math.tan(1)),
        ("fast_expf", (1,), math.e),
        ("fast_logf", (math.e,), 1),
        ("fast_log2f", (8,), 3),
        ("fast_log10f", (100,), 2),
        ("frsqrt_rn", (16,), 0.25),
        ("saturatef", (0.5,), 0.5),
        ("saturatef", (1.5,), 1),
        ("saturatef", (-0.5,), 0),
        ("saturatef", (NAN,), 0),
    ],
)
def test_a_quick_function_is_of_float32(name, values, expected):
    """The emulator computes it like the exact one."""
    found = row(name, *map(F32, values))

    assert np.dtype(F32) == found.dtype
    assert expected == pytest.approx(float(found), rel=1e-6)
