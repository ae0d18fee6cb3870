"""The same memory seen with another shape, step or type, against NumPy."""

import numpy as np
import pytest
from numba import cuda, float32, float64, int8, int16, int32, int64

from helpers import emulate
from thirty_two_lanes.emulator import KernelError

DATA = np.arange(96, dtype=np.int32).reshape(8, 12) * 70_001


def stored(kernel, *arguments, shape=(1,), dtype=np.int64, threads=1):
    out = np.zeros(shape, dtype)
    emulate(kernel)[1, threads](*arguments, out)
    return out.tolist()


@cuda.jit
def as_int16(a, out):
    seen = a.view(int16)
    for row in range(seen.shape[0]):
        for col in range(seen.shape[1]):
            out[row, col] = seen[row, col]


@cuda.jit
def as_int64(a, out):
    seen = a.view(int64)
    for row in range(seen.shape[0]):
        for col in range(seen.shape[1]):
            out[row, col] = seen[row, col]


@cuda.jit
def as_float(a, out):
    seen = a.view(float32)
    for row in range(seen.shape[0]):
        for col in range(seen.shape[1]):
            out[row, col] = seen[row, col]


ROWS = {"all": DATA, "some": DATA[::3], "part": DATA[1:, :4], "turned": DATA[::-1, :6]}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("kernel, dtype", [(as_int16, np.int16), (as_int64, np.int64)])
def test_rows_are_seen_as_elements_of_another_size(kernel, dtype, name):
    """Of half and of twice the size, wherever the rows lie."""
    expected = np.ascontiguousarray(ROWS[name]).view(dtype)

    assert expected.tolist() == stored(kernel, ROWS[name], shape=expected.shape)


def test_elements_of_the_same_size_may_have_gaps():
    """Every other column, as floats."""
    a = np.linspace(0, 1, 24, dtype=np.float32).reshape(4, 6).view(np.int32)[:, ::2]

    expected = a.copy().view(np.float32)
    assert expected.tolist() == stored(as_float, a, shape=(4, 3), dtype=np.float32)


@pytest.mark.slow
def test_a_thread_s_own_array_is_seen_as_bytes_and_back():
    """Shared, dynamic shared and local arrays are bytes, too."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        own = cuda.local.array(2, int64)
        shared = cuda.shared.array(64, int32)
        dynamic = cuda.shared.array(0, float64)
        own[0], own[1] = t, -1
        shared[t] = t * 65537
        dynamic[t] = t / 2
        cuda.syncthreads()
        halves = shared.view(int16)
        out[t, 0] = own.view(int32)[0] + own.view(int8)[8]
        out[t, 1] = halves[2 * t] + halves[2 * t + 1]
        out[t, 2] = cuda.shared.array(0, int64)[t]
        whole = shared.view(int64)[t // 2]
        out[t, 3] = whole >> 32 if t % 2 else whole & 0xFFFFFFFF

    out = np.zeros((40, 4), np.int64)
    emulate(kernel)[1, 40, 0, 40 * 8](out)

    bits = (np.arange(40) / 2).view(np.int64)
    expected = [[t - 1, 2 * t, int(bits[t]), t * 65537] for t in range(40)]
    assert expected == out.tolist()


@pytest.mark.parametrize(
    "shape", [(4, 24), (96, 1), (2, 3, 16), (-1, 8), (12, -1), (1, 96)]
)
def test_a_contiguous_array_takes_another_shape(shape):
    """One axis may be what is left."""
    first, second = shape[:2]
    expected = DATA.reshape(shape).reshape(-1, DATA.reshape(shape).shape[-1])

    if len(shape) == 3:

        @cuda.jit
        def kernel(a, out):
            b = a.reshape(2, 3, 16)
            for row in range(6):
                for col in range(16):
                    out[row, col] = b[row // 3, row % 3, col]
    else:

        @cuda.jit
        def kernel(a, out):
            b = a.reshape(first, second)
            for row in range(b.shape[0]):
                for col in range(b.shape[1]):
                    out[row, col] = b[row, col]

    assert expected.tolist() == stored(kernel, DATA, shape=expected.shape)


MANY = 2**62  # four times as many are 0 in 64 bits


@pytest.mark.parametrize(
    "shape",
    [(MANY + 24, 4), (4, MANY + 24), (-2, -48), (-1, -1), (0, -1), (2**63 - 1, -1)],
)
def test_a_shape_with_another_number_of_elements_is_refused(shape):
    """However large its sizes are: else an index would lead beyond the array."""

    @cuda.jit
    def kernel(a, rows, cols, out):
        b = a.reshape((rows, cols))
        out[0] = b[0, 0]

    with pytest.raises(KernelError) as error:
        stored(kernel, DATA, *shape)
    assert "`a`, whose shape is 8×12, to a shape with another" in str(error.value)
    assert "the sizes multiply to 96" in str(error.value)


def test_each_thread_reshapes_by_its_own_sizes():
    """Those of threads that take no part mean nothing."""

    @cuda.jit
    def kernel(a, rows, out):
        t = cuda.threadIdx.x
        if t < 4:
            b = a.reshape((rows[t], -1))
            out[t] = b.shape[1]

    rows = np.array([1, 2, 4, 8, MANY, -3, 0, 5])
    expected = [96, 48, 24, 12, 0, 0, 0, 0]
    assert expected == stored(kernel, DATA, rows, shape=(8,), threads=8)


@cuda.jit
def sliced(a, start, stop, step, out):
    seen = a[start:stop:step]
    out[0, 0] = seen.shape[0]
    for row in range(seen.shape[0]):
        out[row + 1, 0] = seen[row, 3]
        out[row + 1, 1] = seen[row, -1]


@pytest.mark.parametrize(
    "ends",
    [(2, 7, 1), (-5, -1, 1), (7, 1, -2), (0, 8, 3), (-50, 50, 1), (6, 3, 1)]
    + [(50, -50, -3), (3, -1, 1), (7, -9, -1), (8, 9, 1), (5, 6, 4)],
)
def test_a_slice_is_numpys(ends):
    """Ends that lie outside are clipped; a step may go back."""
    chosen = DATA[slice(*ends)]
    expected = np.zeros((9, 2), np.int64)
    expected[0, 0] = len(chosen)
    expected[1 : 1 + len(chosen)] = chosen[:, [3, -1]]

    assert expected.tolist() == stored(sliced, DATA, *ends, shape=(9, 2))


@pytest.mark.parametrize("step", [2**63 - 1, -(2**63), 2**62 + 5, 9, -9])
def test_a_step_beyond_the_end_takes_one_element(step):
    """Also where it differs between threads."""

    @cuda.jit
    def kernel(a, steps, out):
        t = cuda.threadIdx.x
        seen = a[:: steps[t], 0]
        out[t, 0] = seen.shape[0]
        out[t, 1] = seen[0]

    row = 0 if step > 0 else 7
    expected = [[1, DATA[row, 0]], [8, DATA[0, 0]]]
    steps = np.array([step, 1])
    assert expected == stored(kernel, DATA, steps, shape=(2, 2), threads=2)


@cuda.jit(device=True)
def note(seen, row):
    row[0], row[1], row[2] = seen.shape[0], seen[0], seen[-1]


def test_a_slice_may_leave_ends_out():
    """They are the array's own, on the side where the step begins."""

    @cuda.jit
    def kernel(a, out):
        note(a[::-1], out[0])
        note(a[3::-1], out[1])
        note(a[::3], out[2])
        note(a[5:], out[3])
        note(a[:2], out[4])

    expected = [[8, 7, 0], [4, 3, 0], [3, 0, 6], [3, 5, 7], [2, 0, 1]]
    assert expected == stored(kernel, np.arange(8), shape=(5, 3))


def test_a_transpose_swaps_the_axes():
    """Of an array that has gaps, too."""

    @cuda.jit
    def kernel(a, out):
        b = a.T
        for row in range(b.shape[0]):
            for col in range(b.shape[1]):
                out[row, col] = b[row, col]

    for a in (DATA, DATA[::2, 1::3]):
        assert a.T.tolist() == stored(kernel, a, shape=a.T.shape)
