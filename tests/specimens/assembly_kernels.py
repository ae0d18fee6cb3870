"""Kernels that show one thing each to `assemble`, and twins of them in CUDA C++."""

import math

import numpy as np
from numba import cuda, float32, uint32

NVCC = "nvcc"
TWINS = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
WEIGHTS = np.arange(1000, dtype=np.float32)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def saxpy_32(a, x, y, n):
    i = uint32(cuda.grid(1))
    if i < n:
        y[i] = a * x[i] + y[i]


@cuda.jit
def doubled(x):
    i = cuda.grid(1)
    x[i] = x[i] * 0.1


@cuda.jit
def strided(x):
    i = cuda.grid(1)
    x[i, 0] = 1


@cuda.jit
def divided(x, n):
    i = cuda.grid(1)
    x[i] = i // n


@cuda.jit
def rooted(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] ** 0.5


@cuda.jit
def looked_up(x, places):
    """A local array that is indexed by what nobody knows when compiling."""
    i = cuda.grid(1)
    own = cuda.local.array(8, float32)
    for k in range(8):
        own[k] = x[i + k]
    x[i] = own[places[i]]


@cuda.jit
def in_registers(x):
    """The same, indexed by numbers that are known."""
    i = cuda.grid(1)
    own = cuda.local.array(4, float32)
    for k in range(4):
        own[k] = x[i + k]
    x[i] = own[0] * own[3]


@cuda.jit(max_registers=24)
def spilled(x):
    i = cuda.grid(1)
    own = cuda.local.array(32, float32)
    for k in range(32):
        own[k] = x[i + 64 * k]
    cuda.syncthreads()
    for k in range(32):
        x[i + 64 * k] = own[k] * own[31 - k]


@cuda.jit
def weighed(x, places):
    weights = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    x[i] = x[i] * weights[places[i]]


@cuda.jit
def neighbours(x):
    """Four neighbours in shared memory, one after the other."""
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    total = float32(0)
    for k in range(4):
        total += tile[4 * (t % 64) + k]
    x[t] = total


@cuda.jit
def twice(x):
    i = cuda.grid(1)
    x[i] = x[i] + x[i] * x[i]


@cuda.jit(device=True)
def half(value):
    return value * np.float32(0.5)


@cuda.jit
def halved(x):
    i = cuda.grid(1)
    x[i] = half(x[i])


@cuda.jit
def whole_grid(x):
    grid = cuda.cg.this_grid()
    x[cuda.grid(1)] = 1
    grid.sync()
    x[cuda.grid(1)] += x[0]


@cuda.jit
def tiled(c, a, b):
    """A product in tiles of 16 × 16."""
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for at in range(0, a.shape[1], 16):
        tile_a[y, x] = a[row, at + x]
        tile_b[y, x] = b[at + y, col]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def viewed(x):
    """A store to shared memory by a view of a view."""
    tile = cuda.shared.array((8, 32), float32)
    t = cuda.threadIdx.x
    row = tile[t // 32]
    part = row[8:]
    part[t % 24] = x[t]
    cuda.syncthreads()
    x[t] = tile[t // 32, t % 32]


@cuda.jit
def routines(whole, single, double, n):
    """Arithmetic that is a routine, or asks one for its last digits."""
    i = cuda.grid(1)
    whole[i] = whole[i] % n
    single[i] = single[i] / single[i + 1]
    double[i] = double[i] / double[i + 1]
    single[i + 2] = math.sqrt(single[i + 2])
    double[i + 2] = 1 / double[i + 2]


@cuda.jit
def neighbours_of_all(x):
    """Shared memory beside a barrier of the grid, which brings code of its own."""
    tile = cuda.shared.array(256, float32)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = tile[255 - cuda.threadIdx.x]
