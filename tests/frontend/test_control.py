"""Control flow in the emulator: loops, branches, device functions, closures."""

import math

import numpy as np
from numba import cuda

from tests.specimens.kernels import by_thread


def test_device_functions_return_numbers_and_tuples():
    """They take values, arrays and each other's results, and return early."""

    @cuda.jit(device=True)
    def clipped(value, low, high):
        if value < low:
            return low
        if value > high:
            return high
        return value

    @cuda.jit(device=True)
    def both(array, i):
        return clipped(array[i], 10, 20), array[i] // 2

    @cuda.jit
    def kernel(a, out):
        t = cuda.grid(1)
        first, second = both(a, t)
        out[t] = 100 * first + second

    expected = [100 * min(max(t, 10), 20) + t // 2 for t in range(64)]

    assert expected == by_thread(kernel, np.arange(64)).tolist()


def test_a_factory_makes_kernels_with_constants_and_functions_of_their_own():
    """Closures are frozen into each kernel."""

    def scaled(factor, function):
        @cuda.jit
        def kernel(a, out):
            t = cuda.grid(1)
            out[t] = function(a[t]) * factor

        return kernel

    @cuda.jit(device=True)
    def square(x):
        return x * x

    @cuda.jit(device=True)
    def successor(x):
        return x + 1

    a = np.arange(64)
    assert (3 * a * a).tolist() == by_thread(scaled(3, square), a).tolist()
    assert (5 * (a + 1)).tolist() == by_thread(scaled(5, successor), a).tolist()


def test_while_else_break_and_continue():
    """The first divisor of each number; -1 from the `else` of an unbroken loop."""

    @cuda.jit
    def first_divisor(out):
        n = cuda.grid(1)
        d = 1
        while d * d <= n:
            d += 1
            if d % 2 == 0 and d > 2:
                continue
            if n % d == 0:
                break
        else:
            d = -1
        out[n] = d

    def expected(n):
        d = 1
        while d * d <= n:
            d += 1
            if not (d % 2 == 0 and d > 2) and n % d == 0:
                return d
        return -1

    assert [expected(n) for n in range(64)] == by_thread(first_divisor).tolist()


def test_nested_loops_with_different_trip_counts_and_an_early_return():
    """Thread t sums over a triangle of t % 5 rows; every seventh returns before."""

    @cuda.jit
    def triangle(out):
        t = cuda.grid(1)
        if t % 7 == 6:
            return
        total = 0
        for i in range(t % 5):
            for j in range(i, -1, -1):
                if j == 2:
                    break
                total += 10 * i + j
        out[t] = total

    def expected(t):
        total = 0
        for i in range(t % 5):
            for j in range(i, -1, -1):
                if j == 2:
                    break
                total += 10 * i + j
        return 0 if t % 7 == 6 else total

    assert [expected(t) for t in range(64)] == by_thread(triangle).tolist()


def test_short_circuits_do_not_evaluate_the_rest():
    """Neither `i < n and a[i] > 0` nor a ternary's other side reads beyond the end."""

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size and a[i] > 3:
            out[i] = 1
        if i >= a.size or a[i] < 2:
            out[i] += 10
        out[i] += 100 * a[i] if i < a.size else 7

    a = np.arange(6)

    out = by_thread(kernel, a, threads=32)

    expected = [
        (1 if i > 3 else 0) + (10 if i < 2 else 0) + 100 * i for i in range(6)
    ] + [17] * 26
    assert expected == out.tolist()


def test_a_variable_may_be_zero_in_some_threads_and_minus_zero_in_others():
    """Equal numbers, and not the same bits."""

    @cuda.jit
    def signs(out):
        t = cuda.threadIdx.x
        zero = 0.0 if t % 2 else -0.0
        out[t] = math.copysign(1.0, zero)

    assert [-1, 1, -1, 1] == by_thread(signs, threads=4).tolist()
