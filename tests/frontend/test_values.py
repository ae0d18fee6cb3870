"""Small values: tuples, vectors, enumerations, None, defaults; and exceptions."""

import enum
import re
from collections import namedtuple

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate
from tests.specimens.kernels import BUILT_IN, by_thread, line_of, message, raising
from thirty_two_lanes.emulator import KernelError


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Place(enum.Enum):
    HOME = (1.5, 2.0)
    AWAY = (3.0, 4.0)


class Size(enum.IntEnum):
    SMALL = 3
    LARGE = 7


Pair = namedtuple("Pair", "u v")
HERE = Pair(1, 2.5)
NESTED = ((1, 2), (3, 4))
literal_unroll = getattr(cuda, "literal_unroll", None)


def by_python_and_kernel(expressions):
    """What expressions of `i` give, by thread: of Python, and of one kernel."""
    names, plain = dict(globals()), dict(globals())
    plain |= {name: value.py_func for name, value in device_functions().items()}
    stores = [f"    out[{n}, i] = {it}\n" for n, it in enumerate(expressions)]
    exec("def kernel(out):\n    i = cuda.grid(1)\n" + "".join(stores), names)
    out = np.zeros((len(expressions), 32))
    emulate(cuda.jit(names["kernel"]))[1, 32](out)
    expected = {
        it: [float(eval(it, plain | {"i": i})) for i in range(32)] for it in expressions
    }
    return expected, dict(zip(expressions, out.tolist(), strict=True))


def device_functions():
    """Those of this file, by name."""
    found = {n: v for n, v in globals().items() if hasattr(v, "py_func")}
    return {n: v for n, v in found.items() if v.targetoptions.get("device")}


EXPRESSIONS = [
    "(1, 2, i)[1:][1] + (1, 2, i)[::-1][0]",
    "((1, 2) + (i,))[2] + len((1, i))",
    "(1, i) == (1, 2)",
    "(1, i) != (1, 2)",
    "(1, i) < (1, 5)",
    "(1, i, 0) <= (1, 5)",
    "(2, i) > (1, i)",
    "((1, i), 2) == ((1, 3), 2)",
    "i in (1, 3, 5)",
    "i not in (1, 3, 5)",
    "(i, 2 * i, 3)[i % 3]",
    "((1, i), (2, 3))[i % 2][1]",
    "NESTED[1][0] + NESTED[i % 2][1]",
    "HERE.u + HERE.v + HERE[1]",
    "Pair(i, 2.0).u * Pair(i, 2.0).v",
    "Pair(v=i, u=2.5).u - Pair(2, v=i).v",
    "Colour.RED == Colour.GREEN",
    "Colour['RED'] is Colour.RED",
    "Place.HOME == Place.AWAY",
    "i + Size.LARGE",
    "Size.SMALL < Size.LARGE",
    "i is None",
    "i is not None",
]
if not BUILT_IN:  # the package's own
    EXPRESSIONS.append("max((i, 7, 3)) - min((i, 7, 3))")


def test_an_expression_of_small_values_is_pythons():
    """For each of 32 threads."""
    expected, actual = by_python_and_kernel(EXPRESSIONS)
    assert expected == actual


@cuda.jit(device=True)
def with_defaults(x, y=3, z=None):
    if z is None:
        return x + y
    return x * y + z


@cuda.jit(device=True)
def with_the_rest(x, *rest):
    return x + 10 * len(rest) + rest[-1]


@cuda.jit(device=True)
def swapped(pair):
    return Pair(pair.v, pair.u)


CALLS = [
    "with_defaults(i)",
    "with_defaults(i, 5)",
    "with_defaults(i, z=7)",
    "with_defaults(z=7, x=i)",
    "with_the_rest(i, 4, 5)",
    "with_the_rest(*(i, 4))",
    "swapped(Pair(i, 2.5)).u",
    "sum((1, i, 3)) + sum((1, 2.5))",
]


@pytest.mark.skipif(BUILT_IN, reason="Numba's built-in target takes no defaults")
def test_a_device_function_binds_its_arguments_as_python_does():
    """By place, by name, by default, and with `*`."""
    expected, actual = by_python_and_kernel(CALLS)
    assert expected == actual


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
def test_a_shuffle_binds_its_arguments_by_name():
    """In any order: each lane reads that of lane 5."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = cuda.shfl_sync(value=i, src_lane=5, mask=0xFFFFFFFF)

    assert [5] * 32 == by_thread(kernel, threads=32).tolist()


def test_named_tuples_enumerations_and_none_are_arguments():
    """A launch takes them, and kernels compare them."""

    @cuda.jit
    def kernel(pair, colour, place, nothing, out):
        i = cuda.grid(1)
        out[i, 0] = pair.u + pair.v
        out[i, 1] = colour is Colour.GREEN
        out[i, 2] = place == Place.AWAY
        out[i, 3] = 1 if nothing is None else 2

    out = np.zeros((32, 4))
    emulate(kernel)[1, 32](Pair(2, 0.5), Colour.GREEN, Place.AWAY, None, out)

    assert [[2.5, 1, 1, 1]] * 32 == out.tolist()


def test_vectors_are_made_of_numbers_and_vectors():
    """Each part in the vector's type, whichever way the lanes went."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        v = cuda.float4(0.1, i, 3, 4)
        if i % 2:
            v = cuda.float4(cuda.float2(v.y, v.x), cuda.float2(i, i))
        small = cuda.uchar4(i, 257, 2, 3)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = v.x, v.y, v.z, v.w
        out[i, 4] = small.y

    out = np.zeros((32, 5))
    emulate(kernel)[1, 32](out)

    tenth = float(np.float32(0.1))
    expected = [
        [i, tenth, i, i, 1] if i % 2 else [tenth, i, 3, 4, 1] for i in range(32)
    ]
    assert expected == out.tolist()


@pytest.mark.skipif(literal_unroll is None, reason="the package's own")
def test_a_loop_over_a_tuple_of_several_types():
    """`literal_unroll` gives each item its type."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        total = 0.0
        for item in literal_unroll((1, 2.5, i)):
            total += item / 2
        out[i] = total

    assert [1.75 + i / 2 for i in range(32)] == by_thread(kernel, threads=32).tolist()


# exceptions


def test_without_debug_an_exception_ends_its_thread_in_silence():
    """As on a GPU: measured in the PTX of both."""
    out = np.zeros(64)

    raising()[2, 32](np.arange(64), out)

    assert [float(i < 40 and i != 7) for i in range(64)] == out.tolist()


@pytest.mark.parametrize(
    "first, error, told",
    [
        (0, ValueError, r"line \d+, tid=\[0, 0, 7\] ctaid=\[0, 0, 0\]: seven"),
        (33, AssertionError, r"line \d+, tid=\[0, 0, 7\] ctaid=\[0, 0, 0\]: too many"),
    ],
)
def test_with_debug_the_launch_raises_what_a_thread_raised(first, error, told):
    """With function, file, line, thread and block, as Numba tells them."""
    kernel = raising(debug=True, opt=False)

    with pytest.raises(error, match=told) as raised:
        kernel[1, 32](first + np.arange(32), np.zeros(32))

    text = "raise ValueError" if error is ValueError else "assert a"
    line = re.search(r"line (\d+)", str(raised.value))[1]
    assert line_of(kernel, text) == int(line)
    assert "In function 'kernel', file kernels.py" in str(raised.value)


def test_with_debug_a_division_by_zero_ends_the_thread():
    """Without it gives infinity, and goes on."""

    def divide(a, out):
        i = cuda.grid(1)
        out[i, 0] = 1 / a[i]
        out[i, 1] = 1

    a, out = np.arange(32.0), np.zeros((32, 2))
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        cuda.jit(debug=True, opt=False)(divide)[1, 32](a, out)
    assert [0, 0] == out[0].tolist() and [1, 1] == out[1].tolist()

    cuda.jit(divide)[1, 32](a, out)
    assert [np.inf, 1] == out[0].tolist()


def test_an_index_outside_of_a_tuple_ends_the_thread():
    """On a GPU too, where a number of the tuple is not known when it is compiled."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = (1, 2, 3)[i]

    assert [1, 2, 3] + [0] * 29 == by_thread(kernel, threads=32).tolist()


# refusals


@cuda.jit(device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@pytest.mark.skipif(BUILT_IN, reason="refused by Numba in other words")
@pytest.mark.parametrize(
    "body, sentence",
    [
        ("out[i] = factorial(i)", "device functions that call themselves"),
        ("out[i] = float32(cuda.bf16.bfloat16(1.5))", "bfloat16 are not emulated"),
        ("out[i] = TIMES_TWO(1)", "`times_two` is not Python code"),
    ],
)
def test_what_is_not_emulated_is_told_with_its_line(body, sentence):
    """In a sentence of its own."""
    source = f"def kernel(out):\n    i = cuda.grid(1)\n    {body}\n"
    outside = cuda.declare_device("times_two", "int32(int32)")
    names = {
        **globals(),
        "TIMES_TWO": outside,
        "float32": float32,
    }
    exec(source, names)

    text = message(KernelError, cuda.jit(names["kernel"]), 1, 32, np.zeros(32))

    assert sentence in text and "line " in text


@cuda.jit(device=True)
def plus_if_given(x, y):
    if y is None:
        return x
    return x + y


@cuda.jit
def with_and_without_another(out, a):
    i = cuda.grid(1)
    out[i, 0] = plus_if_given(a[i], a[i])
    out[i, 1] = plus_if_given(a[i], None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.bool_])
def test_a_given_value_is_not_none(dtype):
    """Whatever its type: to NumPy, the type float64 equals None."""
    a, out = np.ones(4, dtype), np.zeros((4, 2))
    emulate(with_and_without_another)[1, 4](out, a)
    np.testing.assert_array_equal([[2, 1]] * 4, out)


@cuda.jit(device=True)
def change(x, function):
    if function is None:
        return x
    return function(x)


@cuda.jit(device=True)
def multiplied(x):
    kind = type(x)
    return kind(2.5) * x


@cuda.jit
def passes_a_function(out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1] = change(i, None), change(i, multiplied)
    out[i, 2] = multiplied(out[i, 0])


def test_a_function_is_not_none():
    """It is passed like a value, though it has none; a type is called like one."""
    out = np.zeros((4, 3))
    emulate(passes_a_function)[1, 4](out)
    i = np.arange(4)
    np.testing.assert_array_equal(np.stack([i, 2 * i, 2.5 * i], 1), out)


@cuda.jit(device=True)
def plus_one(x):
    return x + 1


FUNCTIONS = plus_one, multiplied


@cuda.jit
def calls_functions_of_tuples(out):
    i = cuda.grid(1)
    here = multiplied, plus_one
    out[i] = FUNCTIONS[0](i) + 10 * FUNCTIONS[1](i) + 100 * here[1](i)


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
def test_a_tuple_may_hold_functions():
    """Each is called by its place."""
    out, i = np.zeros(4), np.arange(4)
    emulate(calls_functions_of_tuples)[1, 4](out)
    np.testing.assert_array_equal(i + 1 + 20 * i + 100 * (i + 1), out)
