"""Each function of `cuda.fp16`, on numbers: what IEEE 754 and CUDA's header say."""

import math

import numpy as np
import pytest

from thirty_two_lanes.language.operators import FUNCTIONS

NAN, INF = math.nan, math.inf
HALF = np.float16


def fp16(name, *values, dtype=HALF):
    """What a row gives for numbers."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[f"cuda.fp16.{name}"](*(dtype(v) for v in values))


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("hadd", (1.5, 0.25), 1.75),
        ("__hadd", (2048, 1), 2048),  # to even
        ("__hadd_rn", (2048, 3), 2052),
        ("hsub", (1.5, 0.25), 1.25),
        ("__hsub_rn", (1, 3), -2),
        ("hmul", (1.5, 3), 4.5),
        ("__hmul_rn", (300, 300), INF),
        ("hdiv", (3, 4), 0.75),
        ("__hadd_sat", (0.25, 0.5), 0.75),
        ("__hadd_sat", (0.75, 0.5), 1),
        ("__hsub_sat", (0.75, 0.5), 0.25),
        ("__hsub_sat", (0.5, 0.75), 0),
        ("__hmul_sat", (0.5, 0.5), 0.25),
        ("__hmul_sat", (2, 3), 1),
        ("__hadd_sat", (NAN, 1), 0),
        ("hfma", (3, 5, 7), 22),
        ("__hfma_sat", (0.5, 0.5, 0.25), 0.5),
        ("__hfma_sat", (2, 3, 1), 1),
        ("__hfma_relu", (2, 3, 1), 7),
        ("__hfma_relu", (-2, 3, 1), 0),
        ("hneg", (2,), -2),
        ("habs", (-2,), 2),
        ("hmax", (NAN, 1), 1),
        ("hmin", (2, NAN), 2),
        ("hmax", (1, 2), 2),
        ("hmin", (1, 2), 1),
        ("__hmax_nan", (NAN, 1), NAN),
        ("__hmin_nan", (NAN, 1), NAN),
        ("__hmax_nan", (1, 2), 2),
        ("__hmin_nan", (1, 2), 1),
        ("hrcp", (4,), 0.25),
        ("hrsqrt", (16,), 0.25),
        ("hexp10", (2,), 100),
        ("htanh_approx", (INF,), 1),
        ("htanh", (-INF,), -1),
        ("hsin", (0,), 0),
        ("hcos", (0,), 1),
        ("hexp", (0,), 1),
        ("hexp2", (5,), 32),
        ("hlog", (1,), 0),
        ("hlog2", (8,), 3),
        ("hlog10", (1000,), 3),
        ("hsqrt", (9,), 3),
        ("hfloor", (-2.5,), -3),
        ("hceil", (-2.5,), -2),
        ("hrint", (2.5,), 2),
        ("htrunc", (-2.5,), -2),
    ],
)
def test_a_function_of_float16_gives_a_float16(name, values, expected):
    """`_sat` clips to 0 … 1 and `_relu` below at 0; a NaN becomes 0 or is left out."""
    found = fp16(name, *values)

    assert np.dtype(HALF) == found.dtype
    np.testing.assert_array_equal(HALF(expected), found)


@pytest.mark.parametrize(
    "name, less, same, greater, unordered",
    [
        ("heq", False, True, False, False),
        ("hne", True, False, True, False),
        ("hlt", True, False, False, False),
        ("hle", True, True, False, False),
        ("hgt", False, False, True, False),
        ("hge", False, True, True, False),
        ("__hequ", False, True, False, True),
        ("__hneu", True, False, True, True),
        ("__hltu", True, False, False, True),
        ("__hleu", True, True, False, True),
        ("__hgtu", False, False, True, True),
        ("__hgeu", False, True, True, True),
    ],
)
def test_a_comparison_of_float16_says_what_a_nan_is(
    name, less, same, greater, unordered
):
    """False, also for `hne`, and true with a `u`, wherever the NaN stands."""
    pairs = (1, 2), (2, 2), (2, 1), (NAN, 1), (1, NAN)
    expected = [less, same, greater, unordered, unordered]

    assert expected == [bool(fp16(name, *pair)) for pair in pairs]


def test_a_float16_is_not_a_number_or_without_end():
    """And the other numbers are neither."""
    values = NAN, INF, -INF, 65504

    assert [True, False, False, False] == [bool(fp16("hisnan", v)) for v in values]
    assert [False, True, True, False] == [bool(fp16("hisinf", v)) for v in values]


@pytest.mark.parametrize(
    "mode, up, down",
    [("rn", 3, -3), ("rd", 2, -3), ("ru", 3, -2), ("rz", 2, -2)],
)
@pytest.mark.parametrize(
    "name, dtype",
    [("short", "i2"), ("ushort", "u2"), ("int", "i4"), ("uint", "u4"), ("ll", "i8")]
    + [("ull", "u8")],
)
def test_a_float16_becomes_a_whole_number(name, dtype, mode, up, down):
    """Of the mode's side; clipped at the type's ends, which only 16 bits reach."""
    limits = np.iinfo(dtype)
    convert = f"__half2{name}_{mode}"
    found = [fp16(convert, v) for v in (2.75, -2.75, 65504, -65504)]

    assert {np.dtype(dtype)} == {value.dtype for value in found}
    assert [
        up,
        max(down, limits.min),
        min(65504, limits.max),
        max(-65504, limits.min),
    ] == [int(value) for value in found]


@pytest.mark.parametrize(
    "name, found",
    [("char", [2, -2, 127, -128]), ("uchar", [2, 0, 255, 0])],
)
def test_a_float16_becomes_a_byte_toward_zero(name, found):
    """Clipped at a byte's ends."""
    values = 2.75, -2.75, 300, -300

    assert found == [int(fp16(f"__half2{name}_rz", v)) for v in values]


@pytest.mark.parametrize(
    "mode, above, below",
    [
        ("rn", 2048, -2048),
        ("rd", 2048, -2050),
        ("ru", 2050, -2048),
        ("rz", 2048, -2048),
    ],
)
@pytest.mark.parametrize(
    "name, dtype",
    [("short", np.int16), ("int", np.int32), ("ll", np.int64), ("float", np.float32)],
)
def test_a_number_becomes_a_float16_of_the_modes_side(name, dtype, mode, above, below):
    """2,049 lies between two float16; to the nearest is to even."""
    convert = f"__{name}2half_{mode}"
    found = [fp16(convert, v, dtype=dtype) for v in (2049, -2049, 5)]

    assert [above, below, 5] == found
    assert {np.dtype(HALF)} == {value.dtype for value in found}


@pytest.mark.parametrize(
    "name, dtype", [("ushort", "u2"), ("uint", "u4"), ("ull", "u8")]
)
def test_a_number_without_a_sign_becomes_a_float16(name, dtype):
    """40,001 lies between 40,000 and 40,032."""
    kinds = [f"__{name}2half_{mode}" for mode in ("rn", "rd", "ru", "rz")]
    found = [fp16(kind, 40001, dtype=np.dtype(dtype).type) for kind in kinds]

    assert [40000, 40000, 40032, 40000] == found


def test_a_float64_becomes_a_float16_in_one_rounding():
    """Through float32, a little more than a half would be a tie, which goes to even."""
    value = 1 + 2.0**-11 + 2.0**-40

    assert 1 + 2.0**-10 == fp16("__double2half", value, dtype=np.float64)
    assert 1 == fp16("__float2half", 1 + 2.0**-11, dtype=np.float64)


def test_a_float16_lends_its_bits():
    """1.0 is 0x3C00, and -2.0 is 0xC000, a negative int16."""
    as_short = [fp16("__half_as_short", v) for v in (1, -2)]
    as_ushort = [fp16("__half_as_ushort", v) for v in (1, -2)]

    assert [np.int16(0x3C00), np.int16(0x4000 - 0x8000)] == as_short
    assert [np.uint16(0x3C00), np.uint16(0xC000)] == as_ushort
    assert -2 == fp16("__short_as_half", -0x4000, dtype=np.int16)
    assert -2 == fp16("__ushort_as_half", 0xC000, dtype=np.uint16)
    assert np.float32(0.5) == fp16("__half2float", 0.5)
    assert np.dtype(np.float32) == fp16("__half2float", 0.5).dtype
