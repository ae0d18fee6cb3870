"""Storing a whole array into another is refused with the loop to write instead."""

import re

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.frontend.by_python import function_of
from tests.specimens.kernels import message
from thirty_two_lanes.emulator import KernelError


def kernel_of(line):
    """A kernel of one line, on `x` of shape (3, 4) and `y` of (2, 3, 4)."""
    return cuda.jit(function_of(f"def kernel(x, y, i, t):\n    {line}\n", {}))


def arguments():
    return np.zeros((3, 4)), np.arange(24.0).reshape(2, 3, 4), 1, 2


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("x[:, t] = y[i, :, t]", "for k in range(x.shape[0]): x[k, t] = y[i, k, t]"),
        ("x[t, :] = y[i, t, :]", "for k in range(x.shape[1]): x[t, k] = y[i, t, k]"),
        ("x[t, :] = y[i, t]", "for k in range(x.shape[1]): x[t, k] = y[i, t, k]"),
        ("k = i; x[:, k] = y[i, :, k]", "for j in range(x.shape[0]): x[j, k] = y[i, j"),
    ],
)
def test_the_remedy_does_what_numpy_does(line, remedy):
    """The line that the message gives runs, and leaves the same."""
    said = message(KernelError, kernel_of(line), 1, 1, *arguments())
    loop = re.search(r"copy element by element, `(.*?)` \(", said)[1]
    assert loop.startswith(remedy)

    expected, actual = arguments(), arguments()
    kernel_of(line).py_func(*expected)
    emulate(kernel_of(f"{line.split('x[')[0]}\n    {loop}"))[1, 1](*actual)
    np.testing.assert_array_equal(expected[0], actual[0])


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("x[0] = y[1, 0]", "for k in range(n): x[0, k] = y[1, 0, k]"),
        ("x[1:3, 0] = y[0, 0:2, 1]", "for k in range(n): x[k] = y[k]"),
        ("x[...] = y[0]", "for k in range(n): x[k] = y[k]"),
        ("x[0], x[1] = x[1], x[0]", "for k in range(n): x[k] = y[k]"),
        ("x[0] += y[0, 0]", "write it for one element, `c[i] = a[i] + b[i]`"),
    ],
)
def test_where_the_length_is_not_written_the_remedy_is_an_example(line, remedy):
    """Parts of arrays, several at once, and operators between them."""
    assert remedy in message(KernelError, kernel_of(line), 1, 1, *arguments())
