"""Kernels that load and store four neighbours at once."""

from numba import cuda, float32

from helpers import load4, store4


@cuda.jit
def doubled(a, out):
    """Four neighbours by each thread."""
    i = 4 * cuda.grid(1)
    if i < a.size:
        x, y, z, w = load4(a, i)
        store4(out, i, (2 * x, 2 * y, 2 * z, 2 * w))


@cuda.jit
def through_shared(a, out):
    """Rows of 128 in the opposite order of their fours."""
    tile = cuda.shared.array((8, 128), float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    store4(tile, (-1, 4 * t), load4(a, (row, 4 * t)))
    cuda.syncthreads()
    store4(out, (row, 4 * (31 - t)), load4(tile, (7, 4 * t)))
