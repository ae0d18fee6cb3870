"""On a machine with a GPU: the emulator against the GPU, kernel by kernel."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import allow_dynamic_shared, check, device, emulate, measure
from tests.specimens.kernels import doubled, reversing, through_shared
from thirty_two_lanes.core.occupancy import occupancy_of
from thirty_two_lanes.emulator import LaunchError

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.has_gpu, reason="there is no GPU here"),
]

TILE = 16


@cuda.jit
def product(c, a, b):
    """Add up a tile's products, tile after tile."""
    row_tile = cuda.shared.array((TILE, TILE), float32)
    col_tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        row_tile[y, x] = 0
        if row < a.shape[0] and tile * TILE + x < a.shape[1]:
            row_tile[y, x] = a[row, tile * TILE + x]
        col_tile[y, x] = 0
        if tile * TILE + y < b.shape[0] and col < b.shape[1]:
            col_tile[y, x] = b[tile * TILE + y, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += row_tile[y, k] * col_tile[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def block_sums(sums, values):
    """Add up a block's values in each warp, then over the warps."""
    partial = cuda.shared.array(32, int32)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    value = int32(0)
    if i < values.size:
        value = values[i]
    offset = 16
    while offset:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if thread % 32 == 0:
        partial[thread // 32] = value
    cuda.syncthreads()
    if thread == 0:
        for warp in range(1, cuda.blockDim.x // 32):
            value += partial[warp]
        sums[cuda.blockIdx.x] = value


@cuda.jit
def collatz(steps):
    """Count each number's steps to one: every lane has its own trip count."""
    i = cuda.grid(1)
    if i < steps.size:
        number, count = i + 1, 0
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            count += 1
        steps[i] = count


def test_a_product_is_the_same_on_the_gpu():
    """Rectangular, ragged, in shared memory: equal within float32's rounding."""
    rng = np.random.default_rng()
    a, b = rng.random((228, 240), np.float32), rng.random((240, 112), np.float32)
    here, there = np.full((2, 228, 112), np.nan, np.float32)

    emulate(product)[(7, 15), (TILE, TILE)](here, a, b)
    product[(7, 15), (TILE, TILE)](there, a, b)

    check(there, here)


def test_shuffled_sums_are_the_same_on_the_gpu():
    """Integers, through shuffles, a barrier and a partial block: equal."""
    values = np.random.default_rng().integers(-1000, 1000, 10_000, np.int32)
    here, there = np.zeros((2, 40), np.int32)

    emulate(block_sums)[40, 256](here, values)
    block_sums[40, 256](there, values)

    check(there, here)


def test_diverging_loops_end_alike_on_the_gpu():
    """Integer division, remainder and lanes that leave a loop one by one: equal."""
    here, there = np.zeros((2, 1000), np.int64)

    emulate(collatz)[4, 256](here)
    collatz[4, 256](there)

    check(there, here)


def test_a_measurement_leaves_the_arrays_as_they_were():
    """The kernel adds in place, and runs many times; its argument keeps its values."""
    values = cuda.to_device(np.zeros(1000, np.int64))

    measurement = measure(collatz)[4, 256](values)

    assert measurement.is_measured and not measurement.recorded
    check(values, np.zeros(1000, np.int64))


def test_wide_loads_are_the_same_on_the_gpu():
    """In global and in shared memory, against the emulator."""
    a = np.random.default_rng(1).random((30, 128), np.float32)
    here, there = np.zeros((2, *a.shape), np.float32)

    emulate(through_shared)[30, 32](a, here)
    through_shared[30, 32](a, there)
    np.testing.assert_array_equal(here, there)
    emulate(doubled)[30, 32](a.ravel(), here.ravel())
    doubled[30, 32](a.ravel(), there.ravel())
    np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("kilobytes", [49, 96, 227])
def test_a_kernel_that_opts_in_has_more_shared_memory(kilobytes, before):
    """Before or after the first launch, for later argument types too, and by `measure`;
    the GPU refuses the launch until then.
    """
    kernel, size = reversing(), kilobytes * 1024
    out = np.zeros(32, np.int32)
    if before:
        with pytest.raises(Exception, match="INVALID_VALUE"):
            kernel[1, 32, 0, size](out)
        with pytest.raises(LaunchError, match="allow_dynamic_shared"):
            measure(kernel)[1, 32, 0, size](out)
    allow_dynamic_shared(kernel, size)

    for dtype in (np.int32, np.float32, np.int64):
        out = np.zeros(32, dtype)
        kernel[1, 32, 0, size](out)
        np.testing.assert_array_equal(np.arange(32)[::-1], out)
    assert measure(kernel)[1, 32, 0, size](out).is_measured
    out[:] = 0
    kernel.forall(32, sharedmem=size)(out)
    np.testing.assert_array_equal(np.arange(32)[::-1], out)


def test_a_device_array_given_twice_is_one_array():
    """The emulator finds the race of a shift in place, and not that of a copy."""

    @cuda.jit
    def shift(out, a):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i + 1]

    there, other = (cuda.to_device(np.arange(129.0)) for _ in range(2))

    assert 0 == len(emulate(shift)[2, 64](there[:128], other).races)
    assert 2 == len(emulate(shift)[2, 64](there[:128], there).races)


@cuda.jit
def kept(out, a, steps):
    """Each thread keeps 48 numbers, as far as it may have registers."""
    values = cuda.local.array(48, float32)
    for n in range(48):
        values[n] = a[n]
    for _ in range(steps):
        for n in range(48):
            values[n] = values[n] * values[(n + 1) % 48] + a[0]
    total = float32(0)
    for n in range(48):
        total += values[n]
    out[cuda.grid(1)] = total


@pytest.mark.parametrize("registers", (24, 32, 40, 64, 72, 128))
def test_as_many_blocks_fit_as_the_driver_says(registers):
    """By registers, threads and dynamic shared memory, all at a time."""
    arrays = float32[::1], float32[::1], int32
    code = cuda.jit(kept.py_func, max_registers=registers).compile(arrays)
    function, context = code._codelibrary.get_cufunc(), cuda.current_context()
    capability = cuda.get_current_device().compute_capability
    for threads in (32, 96, 200, 256, 512, 768, 1024):
        for shared_bytes in (0, 1000, 8448, 45_600, 48 * 1024):
            found = context.get_active_blocks_per_multiprocessor(
                function, threads, shared_bytes
            )
            ours = occupancy_of(capability, threads, code.regs_per_thread, shared_bytes)

            assert int(found) == ours.blocks, (threads, code.regs_per_thread, ours)
