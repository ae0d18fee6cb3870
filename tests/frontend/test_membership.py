"""`in`: is a number in a range, or in a tuple? As Python says, and Numba on the CPU."""

import warnings

import numpy as np
import pytest
from numba import cuda, njit

from helpers import emulate

THREADS = 64
NUMBERS = np.arange(-32, 32)


def ask(row, number, start, stop, step):
    """The answers of one number."""
    row[0] = number in range(stop)
    row[1] = number in range(start, stop)
    row[2] = number in range(start, stop, step)
    row[3] = number in range(stop, start, -3)
    row[4] = number not in range(start, stop, step)
    row[5] = number in (3, stop, -7)
    row[6] = len(range(start, stop, step))
    row[7] = number in range(5, 5)


FORMS = [
    (start, stop, step)
    for start, stop in ((-20, 20), (20, -20), (3, 4), (-1, -1), (0, 31))
    for step in (1, 7, -2, -100)
]


def by_kernel(kind):
    """The answers of a kernel, for each form, of numbers of a type."""
    asking = cuda.jit(device=True)(ask)

    @cuda.jit
    def kernel(out, sought, forms):
        i = cuda.grid(1)
        for k in range(forms.shape[0]):
            start, stop, step = forms[k, 0], forms[k, 1], forms[k, 2]
            asking(out[k, i], sought[i], start, stop, step)

    sought = NUMBERS.astype(kind)
    out = np.zeros((len(FORMS), THREADS, 8), np.int64)
    emulate(kernel)[2, THREADS // 2](out, sought, np.array(FORMS))
    for form, answers in zip(FORMS, out, strict=True):
        yield form, sought, answers


@pytest.mark.parametrize("kind", ["int64", "int8", "uint32", "float32", "bool"])
def test_a_number_is_in_a_range_where_python_says_so(kind):
    """With steps of both signs, ranges that are empty, and numbers with a fraction."""
    for form, sought, out in by_kernel(kind):
        expected = np.zeros_like(out)
        for row, number in zip(expected, sought.tolist(), strict=True):
            ask(row, number, *form)

        np.testing.assert_array_equal(expected, out, str(form))


def test_a_fraction_is_in_no_range():
    """A float counts where it is whole."""

    @cuda.jit
    def halves(out):
        i = cuda.grid(1)
        out[i] = (i / 2) in range(1, 30, 3)

    out = np.zeros(THREADS, np.bool_)
    emulate(halves)[1, THREADS](out)

    assert [k for k in range(THREADS) if k / 2 in range(1, 30, 3)] == [
        *np.flatnonzero(out)
    ]


@pytest.mark.slow
def test_numba_says_the_same_on_the_cpu():
    """Its own `in`, compiled for another target."""
    asked = njit(ask)
    for kind in ("int64", "uint32", "float64"):
        for form, sought, out in by_kernel(kind):
            expected = np.zeros_like(out)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for row, number in zip(expected, sought, strict=True):
                    asked(row, number, *form)

            np.testing.assert_array_equal(expected, out, f"{kind} {form}")
