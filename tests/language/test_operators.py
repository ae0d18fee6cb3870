"""Each row of the operators, as generated code computes it, against Python."""

import math

import numpy as np
import pytest

from thirty_two_lanes.language.operators import (
    NAMESPACE,
    PYTHON_OPERATORS,
    choose,
    convert,
    source,
)

I8, I16, I32, I64 = np.int8, np.int16, np.int32, np.int64
U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
F16, F32, F64 = np.float16, np.float32, np.float64


def computed(name, *values):
    """What the source of an operator gives for NumPy's numbers."""
    names = [f"x{place}" for place in range(len(values))]
    with np.errstate(all="ignore"):
        return eval(
            source(name, names), dict(zip(names, values, strict=True)) | NAMESPACE
        )


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("add", (7, 2), 9),
        ("sub", (7, 2), 5),
        ("mul", (7, 2), 14),
        ("truediv", (7.0, 2.0), 3.5),
        ("floordiv", (-7, 2), -4),
        ("static pow", (F64(3), I64(-2)), 1 / 9),
        ("static pow", (F64(-0.5), I64(-3)), -8.0),
        ("static pow", (F32(-0.5), I64(3)), -0.125),
        ("static pow", (F64(0), I64(-1)), math.inf),
        ("static pow", (I64(-1), I64(-3)), -1),
        ("static pow", (I64(7), I64(-1)), 0),
        ("static pow", (I64(1), I64(-1)), 1),
        ("static pow", (I64(-3), I64(3)), -27),
        ("mod", (-7, 4), 1),
        ("pow", (3, 4), 81),
        ("math.pow", (3.0, 4.0), 81),
        ("lshift", (3, 4), 48),
        ("rshift", (-48, 4), -3),
        ("and", (12, 10), 8),
        ("or", (12, 10), 14),
        ("xor", (12, 10), 6),
        ("neg", (3,), -3),
        ("pos", (-3,), -3),
        ("invert", (3,), -4),
        ("abs", (-3,), 3),
        ("round", (2.5,), 2),
        ("min", (2.0, np.nan), 2),
        ("max", (2.0, np.nan), 2),
        ("fmin", (np.nan, 2.0), 2),
        ("fmax", (np.nan, 2.0), 2),
        ("min", (2.0, 3.0), 2),
        ("max", (2.0, 3.0), 3),
        ("real", (3 + 4j,), 3),
        ("imag", (3 + 4j,), 4),
        ("cuda.selp", (np.True_, 5, 6), 5),
        ("cuda.selp", (np.False_, 5, 6), 6),
        ("cuda.fma", (3.0, 4.0, 5.0), 17),
        ("cuda.popc", (255,), 8),
    ],
)
def test_an_operator_computes_what_it_is_called(name, values, expected):
    """Division toward the lesser, shifts with the sign, a NaN that is left out."""
    assert expected == computed(name, *(np.asarray(v)[()] for v in values))


@pytest.mark.parametrize(
    "name, expected",
    [
        ("lt", [True, False, False]),
        ("le", [True, True, False]),
        ("gt", [False, False, True]),
        ("ge", [False, True, True]),
        ("eq", [False, True, False]),
        ("ne", [True, False, True]),
    ],
)
def test_a_comparison_compares(name, expected):
    """With less, the same and more."""
    assert expected == [bool(computed(name, I32(x), I32(2))) for x in (1, 2, 3)]
    assert expected[0] == PYTHON_FUNCTIONS[name](1, 2)


PYTHON_FUNCTIONS = {name: function for function, name in PYTHON_OPERATORS.items()}


@pytest.mark.parametrize("name", PYTHON_FUNCTIONS)
def test_an_operator_of_python_is_the_row_of_its_name(name):
    """On 13 and 3, as Python computes it."""
    assert PYTHON_FUNCTIONS[name](13, 3) == computed(name, I64(13), I64(3))
    assert name in PYTHON_FUNCTIONS[name].__name__.rstrip("_")


def test_not_and_view_are_of_bits_and_of_truth():
    """A view has the type of its second operand."""
    assert [True, False] == [bool(computed("not", np.bool_(b))) for b in (0, 1)]
    assert 0x3F800000 == computed("view", F32(1), U32(0))


@pytest.mark.parametrize(
    "base, exponent, expected",
    [
        (I32(3), I32(5), 243),
        (I32(-2), I32(3), -8),
        (I32(7), I32(0), 1),
        (I32(2), I32(31), -(2**31)),
        (I32(1), I32(-3), 1),
        (I32(-1), I32(-3), -1),
        (I32(-1), I32(-2), 1),
        (I32(5), I32(-1), 0),
        (I32(0), I32(-1), -(2**31)),
        (I64(0), I32(-2), -(2**63)),
        (F64(2), I32(-2), 0.25),
        (F32(3), I32(5), 243),
        (F64(2), F64(0.5), 2**0.5),
    ],
)
def test_a_power_multiplies_in_the_bases_type(base, exponent, expected):
    """A whole exponent below 0 gives what Numba gives: 0, but for 1, -1 and 0."""
    found = computed("pow", base, exponent)

    assert (base.dtype, expected) == (found.dtype, found)


def test_powers_are_of_each_lane():
    """Each with an exponent of its own, some of them negative."""
    bases, exponents = np.array([2.0, 3.0, 4.0, 5.0]), np.array([3, 0, -1, 1])

    assert [8, 1, 0.25, 5] == computed("pow", bases, exponents).tolist()


@pytest.mark.parametrize(
    "step, stop, expected",
    [(1, 2, [True, True, False, False]), (-1, 1, [False, False, True, True])],
)
def test_a_range_goes_on_until_its_stop(step, stop, expected):
    """Upwards below it, downwards above it; for a step of the lane, too."""
    values = np.arange(4)
    steps = np.full(4, step)

    assert expected == computed("in range", values, I64(stop), I64(step)).tolist()
    assert expected == computed("in range", values, I64(stop), steps).tolist()
    assert [True, False, False, True] == computed(
        "in range", np.array([0, 2, 2, 3]), I64(2), np.array([1, 1, -1, -1])
    ).tolist()


def test_an_item_of_a_tuple_is_chosen_by_each_lane():
    """From either end; a tuple of tuples gives a tuple."""
    index = np.array([0, 1, 2, -1, -2, -3])

    assert [5, 6, 7, 7, 6, 5] == computed(
        "choose", index, I64(5), I64(6), I64(7)
    ).tolist()
    pair = NAMESPACE["choose"](index[:2], ((I64(1), I64(2)), (I64(3), I64(4))))
    assert [[1, 3], [2, 4]] == [part.tolist() for part in pair]
    assert 6 == NAMESPACE["choose"](I64(1), (I64(5), I64(6)))


SATURATED = [  # PTX ISA, cvt: clipped; a NaN is 0, or the highest bit of 64
    (I32, [-(2**31), 2**31 - 1, 0, -2, 2]),
    (I64, [-(2**63), 2**63 - 1, -(2**63), -2, 2]),
    (U32, [0, 2**32 - 1, 0, 0, 2]),
    (U64, [0, 2**64 - 1, 2**63, 0, 2]),
    (I16, [-(2**15), 2**15 - 1, 0, -2, 2]),
    (U16, [0, 2**16 - 1, 0, 0, 2]),
    (I8, [0, -1, 0, -2, 2]),  # of 16 bits the low 8
    (U8, [0, 255, 0, 0, 2]),
]


@pytest.mark.parametrize("dtype, expected", SATURATED)
def test_a_float32_becomes_an_integer_as_ptx_says(dtype, expected):
    """Toward zero; together and one by one."""
    values = np.array([-1e30, 1e30, np.nan, -2.75, 2.75], F32)
    with np.errstate(all="ignore"):
        found = convert(values, np.dtype(dtype))

        assert expected == found.tolist()
        assert expected == [convert(v, np.dtype(dtype)).tolist() for v in values]
    assert np.dtype(dtype) == found.dtype


def test_a_nan_of_64_bits_becomes_the_highest_bit_of_any_type():
    """Where either side has 64 bits."""
    found = [convert(F64(np.nan), np.dtype(t)) for t in (I32, U32, I16, I64)]

    assert [-(2**31), 2**31, -(2**15), -(2**63)] == found


@pytest.mark.parametrize("dtype", [I32, U32, I64, U64])
def test_numbers_at_the_ends_of_a_type_stay_at_its_ends(dtype):
    """The greatest float below, and the first beyond it."""
    limits = np.iinfo(dtype)
    top, bottom = F64(limits.max + 1), F64(limits.min)
    below = np.nextafter(top, F64(0))
    with np.errstate(all="ignore"):
        found = [int(convert(v, np.dtype(dtype))) for v in (top, below, bottom)]

    assert [limits.max, int(below), limits.min] == found


def test_other_conversions_are_numpys():
    """Between integers the low bits, to floats the nearest; its own type is kept."""
    value = np.array([300, -1])

    assert [44, 255] == convert(value, np.dtype(U8)).tolist()
    assert [300.0, -1.0] == convert(value, np.dtype(F32)).tolist()
    assert value is convert(value, value.dtype)
    assert [1, 0] == convert(np.array([True, False]), np.dtype(I32)).tolist()
    assert 2.5 == convert(F64(2.5), np.dtype(F16))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_lanes_choose_an_item_as_python_does(count):
    """From either end, and of tuples within a tuple each part."""
    items = [(I64(10 * k), I64(10 * k + 1)) for k in range(count)]
    indices = range(-count, count)

    both = choose(np.array(indices), items)
    one = choose(np.array(indices), [first for first, _ in items])

    lanes = np.broadcast_to(np.transpose(both), (len(indices), 2))
    np.testing.assert_array_equal([items[k] for k in indices], lanes)
    np.testing.assert_array_equal(both[0], one)
