"""`a, b = …`: of tuples, of rows of arrays, and of whatever else can be iterated."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.frontend.by_python import by_python_and_kernel

TABLE = np.arange(12.0).reshape(4, 3)
NAMES = {"TABLE": TABLE}


@pytest.mark.parametrize(
    "lines",
    [
        "p, q, r = m[i]\nout[i] = p + 2 * q + 3 * r",
        "[p, q, r] = m[:3, i % 3]\nout[i] = p + 2 * q + 3 * r",
        "p, q, r = m.T\nout[i] = p[i] + 2 * q[1] + 3 * r[2]",
        "(p, q, r), (s, t, u) = m[2:4]\nout[i] = p + 2 * q + s * t - u",
        "(p, q, r), s = m[i], 3\nout[i] = p + 2 * q + r + s",
        "s, (p, q, r), t = i, TABLE[i % 4], 7\nout[i] = p + 2 * q + r + s * t",
        "(p, q, r), = m[i : i + 1]\nout[i] = p + 2 * q + r",
        "out[i], q, m[i, 0] = m[i]\nout[i] += 2 * m[i, 0]",
        "t = cuda.local.array(2, np.int64)\nt[0] = t[1] = i\np, q = t\nout[i] = p + q",
        "p, q, r = m[i]\np, q, r = m[31 - i]\nout[i] = p + 2 * q + 3 * r",
        "p, q, r = m[0]\nif i > 3:\n    q, r, p = m[i]\nout[i] = p + 2 * q + 3 * r",
        "for p, q, r in m:\n    out[i] += p * q + r",
        "for j, (p, q, r) in enumerate(m):\n    out[i] += p * q + r * j",
        "for (p, q, r), s in zip(m, a):\n    out[i] += p * q + r * s",
        "p, q = range(i, i + 4, 2)\nout[i] = p + 10 * q",
        "(j, p), (k, q), (n, r) = enumerate(m[i])\nout[i] = p + q * k + r * n",
        "(p, q), (r, s) = zip((1, i), (3, 4))\nout[i] = p + 10 * q + 100 * r * s",
        "p, q, r = m[i : i + 1].flat\nout[i] = p + 2 * q + 3 * r",
        "p, q = np.ndindex(1, 2)\nout[i] = p[1] + 10 * q[1]",
    ],
)
def test_unpacking_gives_what_python_gives(lines):
    """Arrays by their rows or elements, and iterators by their items."""
    expected, actual = by_python_and_kernel(lines, NAMES)
    assert expected == actual


@cuda.jit
def add_rows(m, out):
    i = cuda.grid(1)
    a, b, c = m[i]
    out[i] = a + b + c


def test_unpacking_a_row_loads_each_element_once():
    """Three loads of a warp."""
    run = emulate(add_rows)[1, 32](np.ones((32, 3)), np.zeros(32))
    assert 3 == run.coalescing.by_kind["load"].requests


@pytest.mark.parametrize("columns", [2, 4])
def test_a_row_of_another_length_ends_the_thread(columns):
    """As on a GPU: Numba raises an error there, which only debug mode reports."""
    out = np.full(32, -1.0)
    emulate(add_rows)[1, 32](np.ones((32, columns)), out)
    np.testing.assert_array_equal(np.full(32, -1.0), out)


def test_in_debug_mode_a_row_of_another_length_is_an_error():
    """The same as Python's, by its class."""
    kernel = cuda.jit(debug=True, opt=False)(add_rows.py_func)
    with pytest.raises(ValueError, match="values to unpack"):
        emulate(kernel)[1, 32](np.ones((32, 4)), np.zeros(32))


@cuda.jit
def unpacks_where_rows_are_long(m, lengths, out):
    i = cuda.grid(1)
    a, b = m[i, : lengths[i]]
    out[i] = a + b


def test_only_the_threads_with_another_length_end():
    """The others go on."""
    lengths, out = np.tile([2, 3, 1, 2], 8), np.zeros(32)
    emulate(unpacks_where_rows_are_long)[1, 32](np.ones((32, 3)), lengths, out)
    np.testing.assert_array_equal(np.where(lengths == 2, 2.0, 0.0), out)
