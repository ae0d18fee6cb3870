"""Loops over what is not a range: tuples, arrays, `enumerate` and `zip`."""

import numpy as np
import pytest
from numba import cuda, float64

from helpers import emulate
from tests.frontend.by_python import by_python_and_kernel


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


@cuda.jit
def pairs_of_a_longer_array(out, longer, shorter):
    """Each thread adds up the pairs; the last elements of `longer` have none."""
    total = 0.0
    for a, b in zip(longer, shorter):  # noqa: B905
        total += a * b
    out[cuda.grid(1)] = total


@cuda.jit
def every_zip(out, longer, shorter, rows):
    """What `zip` drops, and what it leaves for later."""
    for (n, a), b in zip(enumerate(longer), shorter):  # noqa: B905
        out[0] += n * a + b
    for n, (a, b) in enumerate(zip(longer, shorter)):  # noqa: B905
        out[1] += n * a + b
    for (a, b), c in zip(zip(longer, longer), shorter):  # noqa: B905
        out[2] += a * b + c
    for (i, a), row in zip(np.ndenumerate(longer), rows):  # noqa: B905
        out[3] += i[0] * a + row[1]
    left = iter(shorter)
    for row, b in zip(rows, left):  # noqa: B905
        out[4] += row[0] * b
    out[5] = next(left)
    left = iter(longer)
    for a, b in zip(left, shorter):  # noqa: B905
        out[6] += a * b
    out[7] = next(left)


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


def test_what_zip_drops_is_not_read():
    """The compiler loads an element where all arrays have one: so nobody read what was
    not written, and eight loads are four pairs.
    """
    longer, out = cuda.device_array(7, np.float32), np.zeros(1)
    longer[:4] = np.arange(1, 5, dtype=np.float32)

    run = emulate(pairs_of_a_longer_array)[1, 1](out, longer, np.ones(4, np.float32))

    assert () == run.uninitialised
    assert 2 * 4 == run.coalescing.by_kind["load"].requests
    assert 10 == out[0]


def test_what_zip_pairs_is_read():
    """An element that nobody wrote, and that has a partner, is reported."""
    longer, out = cuda.device_array(7, np.float32), np.zeros(1)
    longer[:3] = np.ones(3, np.float32)

    run = emulate(pairs_of_a_longer_array)[1, 1](out, longer, np.ones(4, np.float32))

    assert [("longer", 1)] == [(it.array, it.count) for it in run.uninitialised]


def test_zip_moves_on_as_in_python():
    """An iterator behind one that has ended stays where it is; one before it has lost
    an element.
    """
    longer, shorter = np.arange(1.0, 8), np.arange(3.0, 8)
    rows, out, expected = np.arange(6.0).reshape(3, 2), np.zeros(8), np.zeros(8)

    emulate(every_zip)[1, 1](out, longer, shorter, rows)
    every_zip.py_func(expected, longer, shorter, rows)

    np.testing.assert_array_equal(expected, out)


TOTAL = """\
@cuda.jit(device=True)
def total(numbers):
    s = 0
    for number in numbers:
        s += number
    return s

"""


@pytest.mark.parametrize(
    "lines",
    [
        "r = range(i, 2, -3)\nout[i] = r.start + 100 * r.stop + 1000 * r.step",
        "out[i] = range(i).start + 10 * range(i, 7).stop + 100 * range(i, 7).step",
        "out[i] = total(range(i)) + 1000 * total(range(i, 0, -3))",
        "k, x = next(enumerate(a, 3))\nout[i] = 100 * k + x",
        "out[i] = len(m.flat) + 1000 * len(a.flat)",
    ],
)
def test_what_is_iterated_is_asked_and_passed_as_in_python(lines):
    """The ends of a range, the length of `.flat`; a device function loops over it."""
    expected, actual = by_python_and_kernel(lines, {}, TOTAL)
    assert expected == actual
