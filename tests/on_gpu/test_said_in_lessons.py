"""What lessons quote of a GPU and no recording holds: the errors of `fastmath`, and the
order in which blocks start.
"""

import math

import numpy as np
import pytest
from numba import cuda, float32

from helpers import device

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.has_gpu, reason="there is no GPU here"),
]

COUNT = 2**22
FUNCTIONS = {
    "quotient": (lambda a, b: a / b, np.divide),
    "reciprocal": (lambda a, b: float32(1) / a, lambda a, b: 1 / a),
    "root": (lambda a, b: math.sqrt(a), lambda a, b: np.sqrt(a)),
    "sine": (lambda a, b: math.sin(a), lambda a, b: np.sin(a)),
}


def results(name, fast, a, b):
    """A function of two arrays, computed on the GPU."""
    function = cuda.jit(device=True, fastmath=fast)(FUNCTIONS[name][0])

    @cuda.jit(fastmath=fast)
    def kernel(out, a, b):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(a[i], b[i])

    out = cuda.device_array(a.size, np.float32)
    kernel[-(-a.size // 256), 256](out, cuda.to_device(a), cuda.to_device(b))
    return out.copy_to_host()


def largest_error(name, fast, a, b, in_units):
    """The largest error, in units of the last place or as it is."""
    exact = FUNCTIONS[name][1](a.astype(np.float64), b.astype(np.float64))
    unit = np.spacing(np.abs(exact).astype(np.float32)) if in_units else 1
    return (np.abs(results(name, fast, a, b) - exact) / unit).max()


def spread(low, high):
    """Random numbers whose logarithms are evenly spread."""
    exponents = np.random.default_rng(0).uniform(low, high, (2, COUNT))
    return np.exp2(exponents).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "said"), [("quotient", 2.05), ("reciprocal", 0.97), ("root", 0.94)]
)
def test_a_fast_quotient_and_root_err_by_a_unit_or_two(name, said):
    """And the exact ones by half a unit."""
    numbers = spread(-60, 60)

    assert largest_error(name, False, *numbers, True) <= 0.5
    assert 0.9 * said < largest_error(name, True, *numbers, True) < 1.01 * said


@pytest.mark.parametrize(("upper", "said"), [(100, 1.0e-5), (10_000, 1.2e-3)])
def test_a_fast_sine_is_the_worse_the_farther_from_zero(upper, said):
    """The exact one is as good everywhere."""
    a = np.random.default_rng(0).uniform(0, upper, COUNT).astype(np.float32)

    assert largest_error("sine", False, a, a, False) < 1e-7
    assert 0.9 * said < largest_error("sine", True, a, a, False) < 1.1 * said


def test_a_fast_quotient_by_a_very_large_number_is_zero():
    """The estimated reciprocal is; and so is the root of a very small number."""
    large, small = np.array([[2.0**127], [1e-40]], np.float32)

    assert 1 == results("quotient", False, large, large)[0]
    assert 0 == results("quotient", True, large, large)[0]
    assert 0 < results("root", False, small, small)[0] < 1e-19
    assert 0 == results("root", True, small, small)[0]


def test_a_product_and_a_sum_are_rounded_once():
    """The compiler fuses them, as `cuda.fma` does."""

    @cuda.jit
    def fused_and_not(out, a, y):
        out[0] = cuda.fma(a, a, y)
        square = a * a
        out[1] = square + y

    near = np.float32(1 + 2**-12)
    out = np.zeros(2, np.float32)
    fused_and_not[1, 1](out, near, -(near * near))

    assert [2**-24, 2**-24] == out.tolist()


def test_blocks_start_roughly_in_the_order_of_their_index():
    """CUDA promises none; on an H200 they were 549 places off, of 36,864."""

    @cuda.jit
    def draw(tickets, counter):
        if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
            ticket = cuda.atomic.add(counter, 0, 1)
            tickets[cuda.blockIdx.y, cuda.blockIdx.x] = ticket

    tickets = np.zeros((192, 192), np.int32)
    draw[(192, 192), (8, 32)](tickets, np.zeros(1, np.int32))
    off = np.abs(tickets.ravel() - np.arange(tickets.size))

    assert 0 < off.mean() < 2000
