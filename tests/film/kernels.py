"""Kernels that tests make films of: a tile, its race, a tree, a loop, queues."""

import numpy as np
from numba import cuda, float32, float64, int32

from helpers import watch

TILE = 16


@cuda.jit
def tiled(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for t in range(a.shape[1] // TILE):
        left[ty, tx] = a[row, t * TILE + tx]
        right[ty, tx] = b[t * TILE + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    c[row, col] = acc


@cuda.jit
def tiled_race(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for t in range(a.shape[1] // TILE):
        left[ty, tx] = a[row, t * TILE + tx]
        right[ty, tx] = b[t * TILE + ty, col]  # store
        cuda.syncthreads()
        for k in range(TILE):
            acc += left[ty, k] * right[k, tx]  # load
    c[row, col] = acc


@cuda.jit
def tree(values, sums):
    total = values[cuda.grid(1)]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
        offset //= 2
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = total


@cuda.jit
def collatz(lengths):
    i = cuda.grid(1)
    if i >= lengths.size:
        return
    n = i + 1
    length = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        length += 1
    lengths[i] = length


@cuda.jit
def column(out):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    for row in range(32):
        tile[row, t] = row + t
    cuda.syncthreads()
    out[t] = tile[t, 0]


@cuda.jit
def unwritten(out):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if t < 31:
        tile[t] = t
    cuda.syncthreads()
    out[t] = tile[t]


@cuda.jit
def beyond(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def halves(out):
    tile = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    if t % 16 < 8:
        tile[t] = t
    out[t] = t


@cuda.jit
def one_half_queues(out):
    tile = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    tile[16 * t % 48 if t < 16 else t] = t
    out[t] = t


@cuda.jit
def dot(a, b, sums):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    part[t] = a[t] * b[t]
    cuda.syncwarp()
    distance = int32(16)
    while distance > 0:
        if t < distance:
            part[t] += part[t + distance]
        cuda.syncwarp()
        distance //= 2
    if t == 0:
        sums[0] = part[0]


@cuda.jit(device=True)
def grown(value, by):
    return value + by


@cuda.jit
def parting(values, counts):
    """Lanes part twice, wait for their warp, and leave; the last warp is short."""
    tile = cuda.shared.array(40, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value = values[i]
    if t % 32 < 12:
        value = grown(value, i)
        if t % 3 == 0:
            value *= 2
        cuda.syncwarp()
    else:
        value -= 1
        cuda.syncwarp()
    tile[t] = value
    cuda.syncwarp()
    value = tile[t ^ 1]
    if t >= 36:
        return
    cuda.atomic.add(counts, -1 - t % 2, value)
    values[i] = cuda.shfl_sync(0xFFFFFFFF, value, 3) if t < 32 else value


def matrices():
    """Two matrices of 64 × 64, and room for their product."""
    r = np.random.default_rng(1)
    a, b = (r.integers(0, 9, (64, 64)).astype(np.float32) for _ in range(2))
    return a, b, np.zeros((64, 64), np.float32)


def films():
    """A film of each kind that lessons show, by name."""
    ones = np.ones(32, np.float32)
    return {
        "tiled": lambda: watch(tiled)[(4, 4), (16, 16)](*matrices()),
        "race": lambda: watch(tiled_race)[(4, 4), (16, 16)](*matrices()),
        "tree": lambda: watch(tree)[4, 128](np.ones(512), np.zeros(4)),
        "loop": lambda: watch(collatz)[2, 64](np.zeros(100, np.int32)),
        "column": lambda: watch(column)[1, 32](ones.copy()),
        "dot": lambda: watch(dot)[1, 32](ones, ones, np.zeros(1, np.float32)),
        "unwritten": lambda: watch(unwritten)[1, 32](np.zeros(32, np.float32)),
        "beyond": lambda: watch(beyond)[2, 32](np.ones(40), np.zeros(64)),
        "queues": lambda: watch(one_half_queues)[1, 32](np.zeros(32)),
        "parting": lambda: watch(parting, block=1)[2, 40](
            np.arange(80.0)[::-1], np.ones(2)
        ),
    }


def line_of(kernel, text):
    """The number of the line of a kernel that holds a text."""
    code = kernel.py_func.__code__
    with open(code.co_filename, encoding="utf-8") as file:
        lines = file.read().splitlines()
    first = code.co_firstlineno
    return next(n for n in range(first, len(lines)) if text in lines[n - 1])


def finding(record, kind):
    """The only finding of a kind."""
    (found,) = [it for it in record["findings"] if it["kind"] == kind]
    return found
