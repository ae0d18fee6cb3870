"""Loops over what is not a range: tuples, arrays, `enumerate` and `zip`."""

import numpy as np
from numba import cuda, float64

from helpers import emulate


@cuda.jit
def sum_by_shuffles(out, values):
    """Add up a warp's values, halving the distance."""
    total = values[cuda.grid(1)]
    for offset in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


@cuda.jit
def polynomial(out, coefficients):
    """Each thread adds up the terms of its own number."""
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for power, coefficient in enumerate(coefficients):
            total += coefficient * float64(i) ** power
        out[i] = total


@cuda.jit
def dot_of_prefixes(out, a, b):
    """Each thread goes as far as its number, by `break`."""
    i = cuda.grid(1)
    total = 0.0
    for k, (x, y) in enumerate(zip(a, b), 1):  # noqa: B905
        if k > i:
            break
        total += x * y
    out[i] = total


@cuda.jit
def nothing_to_add(out, empty):
    """A loop over an empty array has no turn."""
    total = 1.0
    for value in empty:
        total += value
    out[cuda.grid(1)] = total


def test_a_loop_over_a_tuple_takes_its_items_in_turn():
    """The distances of a reduction by shuffles."""
    values = np.random.default_rng(0).integers(0, 100, 96)
    out = np.zeros(3, np.int64)

    emulate(sum_by_shuffles)[3, 32](out, values)

    np.testing.assert_array_equal(values.reshape(3, 32).sum(axis=1), out)


def test_enumerate_counts_the_elements_of_an_array():
    """Each element is loaded once by each warp, and none beyond the end."""
    coefficients, out = np.array([3.0, -1.0, 0.5]), np.zeros(50)

    run = emulate(polynomial)[2, 32](out, coefficients)

    np.testing.assert_allclose(np.polyval(coefficients[::-1], np.arange(50)), out)
    assert 2 * 3 == run.coalescing.by_kind["load"].requests


def test_zip_within_enumerate_ends_by_break():
    """Lanes leave the loop one by one; the others go on."""
    a, b = np.random.default_rng(1).random((2, 20))
    out = np.zeros(64)

    emulate(dot_of_prefixes)[2, 32](out, a, b)

    expected = np.cumsum(a * b)
    np.testing.assert_allclose(expected[np.minimum(np.arange(1, 64), 20) - 1], out[1:])
    assert 0 == out[0]


def test_a_loop_over_an_empty_array_has_no_turn():
    """No element is loaded, and the value from before the loop stays."""
    out = np.zeros(32)

    emulate(nothing_to_add)[1, 32](out, np.zeros(0))

    np.testing.assert_array_equal(np.ones(32), out)
