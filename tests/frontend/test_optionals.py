"""Values that may be None: what a device function returns, arguments, and variables."""

from collections import namedtuple

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate
from tests.frontend.by_python import by_python_and_kernel, function_of
from tests.quick import some
from tests.specimens.kernels import BUILT_IN, message
from thirty_two_lanes.emulator import KernelError

Pair = namedtuple("Pair", "u v")
NAMES = {"Pair": Pair, "WEIGHTS": np.array([0.25, 0.5])}
DEVICE = """\
@cuda.jit(device=True)
def number(x):
    if x > 3:
        return 2 * x

@cuda.jit(device=True)
def integer(x):
    if x > 5:
        return None
    if x > 3:
        return 1
    return 2.5

@cuda.jit(device=True)
def passed_on(x):
    return number(x + 1)

@cuda.jit(device=True)
def both(x):
    if x > 3:
        return x, 2
    return None

@cuda.jit(device=True)
def pair(x):
    return Pair(x, 2) if x > 3 else None

@cuda.jit(device=True)
def beside(x):
    if x > 3:
        return x, 1
    return None, 2

@cuda.jit(device=True)
def row(m, i):
    if i % 3:
        return m
    return None

@cuda.jit(device=True)
def position(m, x):
    found = None
    for k in range(m.shape[0]):
        if m[k, 1] == x:
            found = k
    return found

@cuda.jit(device=True)
def truth(x):
    if x > 3:
        return True
    if x > 2:
        return False

@cuda.jit(device=True)
def first_or(array, other):
    return other if array is None else array[0] + 0.5

"""


def returned(function, then):
    """Lines that use what a device function returns."""
    return f"r = {function}\nif r is not None:\n    {then}\nelse:\n    out[i] = -1"


def by_condition(given, then):
    """Lines that use a variable which is None in the first threads."""
    return (
        f"x = None\nif i > 3:\n    x = {given}\n"
        f"if x is None:\n    out[i] = -1\nelse:\n    {then}"
    )


@pytest.mark.parametrize(
    "lines",
    some([
        returned("number(a[i])", "out[i] = r + 1"),
        returned("integer(a[i])", "out[i] = -r"),
        returned("passed_on(a[i])", "out[i] = r ** 2 + max(r, 7.0) - abs(r)"),
        returned("both(a[i])", "p, q = r\n    out[i] = p + q"),
        returned("pair(a[i])", "out[i] = r.u * r.v"),
        returned("row(m, i)", "out[i] = r[i, 1] + r.shape[0] + len(r)"),
        returned("row(m[i], i)", "for x in r:\n        out[i] += x"),
        returned("row(m[i], i)", "r[1] = 5\n    out[i] = m[i, 1] + r[1:][0]"),
        returned("row(m, i)", "x, y, z = r[i]\n    out[i] = x + 2 * y + 3 * z"),
        returned("position(m, 3 * (i - 2) + 1)", "out[i] = r"),
        returned("truth(a[i])", "out[i] = 1 if r else 2"),
        "r, s = beside(a[i])\nout[i] = s if r is None else r + s",
        "t = (number(a[i]), 3)\nout[i] = t[1] if t[0] is None else t[0]",
        "r = number(a[i])\nif r is not None and r > 8:\n    out[i] = 1",
        "r = number(9)\nwhile r is not None:\n    out[i] += 1\n    r = number(r / 4)",
        "out[i] = first_or(row(m[i], i), -1.0) + first_or(None, 2.0)",
        by_condition("a[i]", "out[i] = x"),
        by_condition("a[i]", "x += 1\n    out[i] = x"),
        by_condition("m[i]", "out[i] = x[1]"),
        by_condition("(a[i], (i, 2))", "p, (q, r) = x\n    out[i] = p + q * r"),
        "x = a[i]\nif i > 3:\n    x = None\nout[i] = 2 if x is None else x",
        "x = a[i] if i > 3 else None\nout[i] = 2 if x is None else x",
        "x = None\nfor k in range(i):\n    if k % 3 == 1:\n        x = a[k]\n"
        "out[i] = 2 if x is None else x",
    ], every=2),
)
def test_what_may_be_none_has_a_value_where_it_is_not(lines):
    """As Python says, thread by thread."""
    expected, actual = by_python_and_kernel(lines, NAMES, DEVICE)
    assert expected == actual


DEFAULTS = """\
@cuda.jit(device=True)
def sum_of(x, y=None, z=None):
    if y is None:
        y = 100
    if z is not None:
        y = y * z
    return x + y

@cuda.jit(device=True)
def sum_through(x, y=None):
    return sum_of(x, y) + sum_of(x, z=y)

@cuda.jit(device=True)
def weighted(x, weights=WEIGHTS, both=(WEIGHTS, 3)):
    return x * weights[1] + both[0][0] * both[1]

"""


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
@pytest.mark.parametrize(
    "lines",
    [
        "out[i] = sum_of(a[i]) + sum_of(a[i], 2.0) + sum_of(a[i], y=3)",
        "out[i] = sum_of(a[i], None, 2) + sum_of(z=a[i], x=3.0) + sum_of(1, i, i)",
        "out[i] = sum_through(a[i]) + sum_through(a[i], 3.0)",
        "out[i] = weighted(a[i]) + weighted(2, m[i]) + weighted(3, both=(a, i))",
    ],
)
def test_an_argument_that_is_left_out_may_be_none(lines):
    """The default, or None itself, passed on too."""
    expected, actual = by_python_and_kernel(lines, NAMES, DEFAULTS)
    assert expected == actual


@cuda.jit
def adds_where_there_is_one(a, out):
    i = cuda.grid(1)
    place = None
    if a[i] > 3:
        place = i % 2
    if place is not None:
        cuda.atomic.add(out, (place, 0), a[i])
        out[place + 0, 1] = place in (1, 2) and place not in (2, 3)


def test_a_place_that_may_be_none_is_an_index_of_atomics():
    """Numba takes it in a tuple there, and in a store once it is a number."""
    a, out = np.arange(8.0), np.zeros((2, 2))
    emulate(adds_where_there_is_one)[1, 8](a, out)
    np.testing.assert_array_equal([[4 + 6, 0], [5 + 7, 1]], out)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("out[0] = a[r]", "write `x + 0` for a number"),
        ("out[r, 0] = 1", "write `x + 0` for a number"),
        ("out[0] = int32(r)", "write `x + 0` for a number"),
        ("if r:\n        out[0] = 1", "write `x + 0` for a number"),
        ("t = None if a[1] else (1, 2)\n    out[0] = t[0]", "(`a, b = x`)"),
        ("b = None\n    for v in a:\n        b = v + b", "still None: begin with a"),
    ],
)
def test_where_numba_takes_no_none_the_message_says_what_to_write(line, sentence):
    """Numba's own messages speak of other things."""
    source = f"def kernel(out, a):\n    r = None if a[0] else 1\n    {line}\n"
    kernel = cuda.jit(function_of(source, {"int32": int32}))
    assert sentence in message(KernelError, kernel, 1, 1, np.zeros(4), np.ones(4))


@cuda.jit(device=True)
def large(x):
    if x > 3:
        return x


@cuda.jit
def needs_a_value(a, out):
    i = cuda.grid(1)
    out[i, 0] = 1
    r = large(a[i])
    out[i, 1] = r + 1
    out[i, 2] = 1


def test_a_thread_that_uses_none_as_a_number_ends():
    """As on a GPU, where Numba's code raises an error that debug mode alone reports."""
    a, out = np.array([1.0, 4, 2, 5]), np.zeros((4, 3))
    emulate(needs_a_value)[1, 4](a, out)
    np.testing.assert_array_equal([[1, 0, 0], [1, 5, 1], [1, 0, 0], [1, 6, 1]], out)


def test_in_debug_mode_none_as_a_number_is_an_error():
    """The same as Python's, by its class."""
    kernel = cuda.jit(debug=True, opt=False)(needs_a_value.py_func)
    with pytest.raises(TypeError, match="expected float64, got None"):
        emulate(kernel)[1, 4](np.array([1.0, 4, 2, 5]), np.zeros((4, 3)))


@cuda.jit
def compares(a, out):
    i = cuda.grid(1)
    r, s = large(a[i]), large(a[i])
    out[i, 0] = r is s
    out[i, 1] = r is not s
    out[i, 2] = r == None  # noqa: E711
    out[i, 3] = r != None  # noqa: E711
    out[i, 4] = r == s


def test_what_may_be_none_is_never_the_same_as_another_such():
    """Numba has no identity of two; numba-cuda's `== None` is never true of them."""
    a, out = np.array([1.0, 4]), np.zeros((2, 5))
    emulate(compares)[1, 2](a, out)
    none = [0, 1, 1, 0, 0] if BUILT_IN else [0, 1, 0, 1, 0]
    np.testing.assert_array_equal([none, [0, 1, 0, 1, 1]], out)


@cuda.jit
def reads_twice(a, out):
    i = cuda.grid(1)
    r = large(a[i])
    if r is not None:
        out[i] = r * r + r


def test_none_costs_no_accesses():
    """One load and one store, by each lane that has a value."""
    run = emulate(reads_twice)[1, 32](np.full(32, 4.0), np.zeros(32))
    kinds = run.coalescing.by_kind
    assert (1, 1) == (kinds["load"].requests, kinds["store"].requests)
