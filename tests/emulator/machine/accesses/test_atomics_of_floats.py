"""Atomic updates with NaN, zeros of both signs and subnormal numbers, as on an H200."""

import math

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate

NAN = math.nan
TINY = 1e-45  # the least float32, a subnormal one


def kernel_of(call):
    """A kernel of which each thread updates its own cell of `a` by `b`; all of 32."""
    namespace = {"cuda": cuda, "float32": float32}
    exec(
        "@cuda.jit\n"
        "def kernel(a, b, old):\n"
        "    i = cuda.grid(1)\n"
        "    s = cuda.shared.array(32, float32)\n"
        "    s[i] = a[i]\n"
        f"    {call}\n",
        namespace,
    )
    return namespace["kernel"]


def left_by(call, cells, values, dtype=np.float32):
    """What the cells hold after an update, and the kernel's `old`."""
    a, b, old = (np.resize(dtype(v), 32) for v in (cells, values, [0]))
    emulate(kernel_of(call))[1, 32](a, b, old)
    return a, old


@pytest.mark.parametrize("wanted", ["", "old[i] = "])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, left",
    [
        ("max", [0.0, -0.0, NAN, 2, 1, -0.0]),
        ("min", [0.0, -0.0, NAN, 2, 0, -1]),
        ("nanmax", [0.0, -0.0, 2, 2, 1, -0.0]),
        ("nanmin", [0.0, -0.0, 2, 2, 0, -1]),
    ],
)
def test_a_cell_keeps_its_zero_and_its_nan(name, left, dtype, wanted):
    """A NaN is neither greater nor less; to `nan…`, any number is better than it."""
    cells, values = [0.0, -0.0, NAN, 2, 1, -1], [-0.0, 0.0, 2, NAN, 0, -0.0]

    found, _ = left_by(f"{wanted}cuda.atomic.{name}(a, i, b[i])", cells, values, dtype)

    np.testing.assert_array_equal(found, np.resize(left, 32))
    known = ~np.isnan(found)
    assert (np.signbit(np.resize(left, 32)) == np.signbit(found))[known].all()


@pytest.mark.parametrize("wanted", ["", "old[i] = "])
def test_a_sum_of_float32_in_global_memory_flushes_subnormal_numbers(wanted):
    """Operands and results become zeros of their sign; the old value is as it was."""
    cells = [TINY, 0.0, -TINY, 1.25e-38, 1e-38, 1.0]
    values = [0.0, TINY, -TINY, -1.2e-38, 1e-38, 1.0]

    found, old = left_by(f"{wanted}cuda.atomic.add(a, i, b[i])", cells, values)

    assert np.resize(np.float32([0, 0, -0.0, 0, 0, 2]), 32).tolist() == found.tolist()
    assert np.signbit(found[2]) and not np.signbit(found[:2]).any()
    if wanted:
        assert np.resize(np.float32(cells), 32).tolist() == old.tolist()


@pytest.mark.parametrize(
    "call, dtype",
    [
        ("cuda.atomic.add(s, i, b[i]); a[i] = s[i]", np.float32),
        ("cuda.atomic.sub(a, i, -b[i])", np.float32),
        ("cuda.atomic.add(a, i, b[i])", np.float64),
    ],
)
def test_other_sums_keep_subnormal_numbers(call, dtype):
    """In shared memory, of a subtraction, of float64."""
    least = np.finfo(dtype).smallest_subnormal
    cells, values = dtype([least, 0]), dtype([0, 2 * least])

    found, _ = left_by(call, cells, values, dtype)

    assert np.resize(cells + values, 32).tolist() == found.tolist()


@cuda.jit
def all_add(a, b):
    cuda.atomic.add(a, 0, b[cuda.grid(1)])


def test_each_sum_of_many_flushes():
    """A subnormal sum on the way is a zero for the lanes that follow."""
    a, b = np.zeros(1, np.float32), np.zeros(32, np.float32)
    b[:3] = 1.25e-38, -1.2e-38, 2e-38

    emulate(all_add)[1, 32](a, b)

    assert np.float32(2e-38) == a[0]
