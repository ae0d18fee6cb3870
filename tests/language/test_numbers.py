"""Arithmetic in the emulator: Numba's types, a GPU's conversions."""

import math

import numpy as np
import pytest
from numba import cuda, float32, uint32

from helpers import emulate
from tests.specimens.kernels import BUILT_IN, by_thread, numbers

RNG = np.random.default_rng(7)


def test_whole_numbers_divide_as_python_does():
    """`//` and `%` of negative numbers round down, as Python's do."""

    @cuda.jit
    def kernel(a, b, out):
        t = cuda.grid(1)
        out[t] = 1000 * (a[t] // b[t]) + a[t] % b[t]

    a, b = (
        np.tile(x, 8)[:64]
        for x in ([7, -7, 7, -7, 0, 8, -8, 1], [3, 3, -3, -3, 5, -4, 4, -9])
    )

    expected = [
        1000 * (int(x) // int(y)) + int(x) % int(y) for x, y in zip(a, b, strict=True)
    ]

    assert (
        expected == by_thread(kernel, a.astype(np.int32), b.astype(np.int32)).tolist()
    )


def test_float32_times_a_python_number_is_float64():
    """Numba's types, not NumPy's: only float32 with float32 stays float32."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.grid(1)
        out[t, 0] = a[t] * 2.5
        out[t, 1] = a[t] * float32(2.5)
        total = 0.0
        for _ in range(3):
            total += a[t]
        out[t, 2] = total
        out[t, 3] = a[t] ** 2

    a = np.linspace(0.1, 0.9, 32, dtype=np.float32)
    out = np.zeros((32, 4))

    emulate(kernel)[1, 32](a, out)

    wide = a.astype(np.float64)
    assert (wide * 2.5).tolist() == out[:, 0].tolist()
    assert (a * np.float32(2.5)).astype(np.float64).tolist() == out[:, 1].tolist()
    assert (wide + wide + wide).tolist() == out[:, 2].tolist()
    assert (a * a).astype(np.float64).tolist() == out[:, 3].tolist()


def test_uint32_widens_unless_it_is_cast_back():
    """`uint32(0) - uint32(1)` is 2**64 - 1; in a uint32 it is 2**32 - 1."""

    @cuda.jit
    def kernel(out):
        t = cuda.grid(1)
        zero, one = uint32(t), uint32(t + 1)
        out[t, 0] = zero - one
        out[t, 1] = uint32(zero - one)
        out[t, 2] = uint32(one << uint32(31)) >> uint32(3)
        hashed = uint32(t * 2654435761) ^ uint32(t << 7)
        out[t, 3] = hashed

    out = np.zeros((32, 4), np.uint64)

    emulate(kernel)[1, 32](out)

    t = [int(t) for t in range(32)]
    assert [2**64 - 1] * 32 == out[:, 0].tolist()
    assert [2**32 - 1] * 32 == out[:, 1].tolist()
    assert [((i + 1) << 31) % 2**32 >> 3 for i in t] == out[:, 2].tolist()
    assert [(i * 2654435761 % 2**32) ^ (i << 7) for i in t] == out[:, 3].tolist()


def test_rounding_goes_to_even_and_casts_toward_zero():
    """`round` and `int` as Python has them."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.grid(1)
        out[t, 0] = round(a[t])
        out[t, 1] = int(a[t])

    a = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.49, -7.9] * 4)
    out = np.zeros((32, 2))

    emulate(kernel)[1, 32](a, out)

    assert [[round(x), int(x)] for x in a.tolist()] == out.tolist()


@pytest.mark.skipif(BUILT_IN, reason="Numba's built-in target has no min and max")
def test_min_and_max_of_two_floats_prefer_a_number_to_a_nan():
    """As the GPU's own instructions; of more, and of mixed types, as in Python."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.grid(1)
        out[t, 0] = min(a[t], 1.0)
        out[t, 1] = max(a[t], 1.0, 1.5)
        out[t, 2] = max(min(t, 20), 10)

    a = np.array([0.5, np.nan, 2.5, -np.inf] * 8)
    out = np.zeros((32, 3))

    emulate(kernel)[1, 32](a, out)

    assert [0.5, 1, 1, -np.inf] * 8 == out[:, 0].tolist()
    np.testing.assert_array_equal(out[:, 1], [1.5, np.nan, 2.5, 1.5] * 8)
    assert [max(min(t, 20), 10) for t in range(32)] == out[:, 2].tolist()


def test_small_integers_grow_before_they_are_multiplied():
    """What a function of an int8 or uint8 gives is as wide as Numba says."""

    @cuda.jit
    def kernel(a, b, out):
        t = cuda.grid(1)
        out[t, 0] = (-a[t]) ** 2 * 1000
        out[t, 1] = abs(a[t]) * 1000
        out[t, 2] = cuda.popc(b[t]) * 1000
        out[t, 3] = ~b[t]

    a = np.array([100, -100, 3, -1] * 8, np.int8)
    b = np.array([255, 7, 1, 0] * 8, np.uint8)
    out = np.zeros((32, 4), np.int64)

    emulate(kernel)[1, 32](a, b, out)

    x = a.tolist()
    assert [1000 * i**2 for i in x] == out[:, 0].tolist()
    assert [1000 * abs(i) for i in x] == out[:, 1].tolist()
    assert [1000 * i.bit_count() for i in b.tolist()] == out[:, 2].tolist()
    assert [255 - i for i in b.tolist()] == out[:, 3].tolist()


def test_whole_powers_multiply():
    """A negative power of an integer is 0, but for 1 and -1; of a float the inverse."""

    @cuda.jit
    def kernel(a, e, out):
        t = cuda.grid(1)
        out[t, 0] = a[t] ** e[t]
        out[t, 1] = (a[t] / 2) ** e[t]

    a, e = np.repeat([3, -1, 1, -4], 8), np.tile(np.arange(-3, 5), 4)
    out = np.zeros((32, 2))

    emulate(kernel)[1, 32](a, e, out)

    pairs = list(zip(a.tolist(), e.tolist(), strict=True))
    assert [int(x**y) for x, y in pairs] == out[:, 0].tolist()
    assert [(x / 2) ** y for x, y in pairs] == out[:, 1].tolist()


def test_floats_become_integers_as_the_gpu_makes_them():
    """They saturate at 16, 32 or 64 bits, then are cut: a uint8 of 300 is 44."""

    @cuda.jit
    def kernel(a, small, signed, unsigned):
        t = cuda.grid(1)
        small[t] = a[t]
        signed[t] = a[t]
        unsigned[t] = a[t]

    a = np.array([300.0, -1.0, 3e9, -3e9, 1e20, 7.9, np.nan, -7.9] * 4)
    small, signed, unsigned = (np.zeros(32, d) for d in (np.uint8, np.int32, np.uint32))

    emulate(kernel)[1, 32](a, small, signed, unsigned)

    assert [44, 0, 255, 0, 255, 7] == small[:6].tolist()
    assert [300, -1, 2**31 - 1, -(2**31), 2**31 - 1, 7, -(2**31), -7] == signed[
        :8
    ].tolist()
    assert [300, 0, 3 * 10**9, 0, 2**32 - 1, 7, 2**31, 0] == unsigned[:8].tolist()


@pytest.mark.parametrize(
    "name",
    [
        "int8",
        "uint8",
        "int16",
        "uint64",
        "float16",
        "float64",
        "bool",
        "complex64",
        "complex128",
    ],
)
def test_arrays_of_every_kind_of_number_are_copied_unchanged(name):
    """Loads and stores keep each element's bits, globally and in shared memory."""
    a = (
        RNG.integers(0, 2, 64).astype(name)
        if name == "bool"
        else numbers(64).astype(name)
    )

    @cuda.jit
    def copy(a, out):
        cells = cuda.shared.array(64, a.dtype)
        t = cuda.grid(1)
        cells[t] = a[t]
        cuda.syncthreads()
        out[t] = cells[63 - t]

    assert a[::-1].tolist() == by_thread(copy, a, dtype=a.dtype).tolist()


def test_truth_values_are_stored_and_tested():
    """`and`, `or`, `not` and comparisons of bool arrays."""

    @cuda.jit
    def kernel(p, q, out):
        t = cuda.grid(1)
        out[t] = (p[t] and not q[t]) or (t == 5)

    p, q = (RNG.integers(0, 2, 64).astype(bool) for _ in "pq")

    expected = (p & ~q) | (np.arange(64) == 5)

    assert expected.tolist() == by_thread(kernel, p, q, dtype=np.bool_).tolist()


def test_complex_numbers_multiply():
    """Products, parts and the absolute value of complex numbers."""

    @cuda.jit
    def kernel(a, b, out):
        t = cuda.grid(1)
        product = a[t] * b[t]
        out[t, 0] = product.real
        out[t, 1] = product.imag
        out[t, 2] = abs(b[t])

    a, b = (numbers(32, dtype=np.float64) + 1j * numbers(32) for _ in "ab")
    out = np.zeros((32, 3))

    emulate(kernel)[1, 32](a, b, out)

    assert [[(x * y).real, (x * y).imag] for x, y in zip(a, b, strict=True)] == out[
        :, :2
    ].tolist()
    assert np.abs(b).tolist() == pytest.approx(out[:, 2].tolist(), rel=1e-15)


def test_functions_of_math():
    """Each function of the table, on float64, within the last bits."""
    names = "sqrt exp log sin cos tanh floor ceil erf lgamma log2 expm1 atan fabs gamma"
    x = np.linspace(0.1, 4, 32)
    for name in names.split():
        function = getattr(math, name)
        expected = [function(value) for value in x.tolist()]
        assert expected == pytest.approx(
            by_thread(_of_math(function), x, threads=32), rel=1e-13
        )


def _of_math(function):
    @cuda.jit
    def kernel(a, out):
        t = cuda.grid(1)
        out[t] = function(a[t])

    return kernel


def test_integer_intrinsics():
    """Set bits, leading zeros, the lowest set bit, the bits in opposite order."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.popc(a[t])
        out[t, 1] = cuda.clz(a[t])
        out[t, 2] = cuda.ffs(a[t])
        out[t, 3] = cuda.brev(a[t])

    a = RNG.integers(0, 2**32, 32, dtype=np.uint32)
    a[0] = 0
    out = np.zeros((32, 4), np.uint32)

    emulate(kernel)[1, 32](a, out)

    expected = [
        [
            x.bit_count(),
            32 - x.bit_length(),
            (x & -x).bit_length(),
            int(f"{x:032b}"[::-1], 2),
        ]
        for x in a.tolist()
    ]
    assert expected == out.tolist()


def test_an_index_of_64_unsigned_bits_finds_its_element():
    """uint32 plus uint32 is uint64, which NumPy adds to int64 as floats."""

    @cuda.jit
    def reverse(out, values):
        i = np.uint32(cuda.grid(1))
        out[i] = values[np.uint32(out.size) - np.uint32(1) - i]

    values, out = np.arange(64.0), np.zeros(64)
    emulate(reverse)[2, 32](out, values)

    np.testing.assert_array_equal(values[::-1], out)


def test_a_device_function_takes_a_function_a_size_and_a_type():
    """What is known when the kernel is compiled stays known within."""

    @cuda.jit(device=True)
    def through_shared(value, count, dtype, update):
        tile = cuda.shared.array(count, dtype)
        tile[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        update(tile, 0, value)
        cuda.syncthreads()
        return tile[0]

    @cuda.jit
    def add_up(out):
        i = cuda.grid(1)
        out[i] = through_shared(i, 32, np.int64, cuda.atomic.add)

    out = np.zeros(32, np.int64)
    emulate(add_up)[1, 32](out)

    np.testing.assert_array_equal(np.full(32, 1 + 31 * 16), out)
