"""Kernels that several tests launch, and what they are launched with."""

import cmath
import inspect
import math
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from numba import cuda, float32, int32
from numba.cuda import libdevice

from helpers import emulate, load4, store4
from tests.plain_words import internals_of

try:
    from numba.cuda.extending import intrinsic
except ImportError:
    from numba.core.extending import intrinsic

BUILT_IN = find_spec("numba_cuda") is None  # numba's own target, as on macOS
TILE = 16
PADDED = TILE + 1


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def unguarded(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def grid_stride(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = 2 * a[i]


@cuda.jit
def table(out):
    """Each cell its own row and column, by a grid of two axes."""
    row, col = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = 1000 * row + col


@cuda.jit
def matrix_product(a, b, out):
    """A product through tiles in shared memory, of any shapes."""
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        k = tile * TILE
        a_tile[ty, tx] = (
            a[row, k + tx] if row < a.shape[0] and k + tx < a.shape[1] else 0
        )
        b_tile[ty, tx] = (
            b[k + ty, col] if k + ty < b.shape[0] and col < b.shape[1] else 0
        )
        cuda.syncthreads()
        for i in range(TILE):
            total += a_tile[ty, i] * b_tile[i, tx]
        cuda.syncthreads()
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = total


def transpose_with(width):
    """A transpose through shared tiles whose rows are `width` long."""

    @cuda.jit
    def transpose(a, out):
        tile = cuda.shared.array((32, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.blockIdx.x * 32 + x, cuda.blockIdx.y * 32 + y
        if row < a.shape[0] and col < a.shape[1]:
            tile[y, x] = a[row, col]
        cuda.syncthreads()
        col, row = cuda.blockIdx.y * 32 + x, cuda.blockIdx.x * 32 + y
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = tile[x, y]

    return transpose


@cuda.jit
def reduce_in_shared(a, out):
    """The sum of each block's elements, by halves in shared memory."""
    part = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def reduce_by_shuffles(a, out):
    """The sum of all elements: shuffles within each warp, then atomics."""
    i = cuda.grid(1)
    value = a[i] if i < a.size else float32(0)
    distance = 16
    while distance > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
        distance //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@cuda.jit
def stencil(a, out):
    """The mean of each element and its neighbours, through a halo in shared memory."""
    cells = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t + 1] = a[i] if i < a.size else 0
    if t == 0:
        cells[0] = a[i - 1] if i > 0 else 0
    if t == cuda.blockDim.x - 1:
        cells[t + 2] = a[i + 1] if i + 1 < a.size else 0
    cuda.syncthreads()
    if i < a.size:
        out[i] = (cells[t] + cells[t + 1] + cells[t + 2]) / float32(3)


@cuda.jit
def reverse(a, out):
    """Each block's elements in the opposite order, through shared memory."""
    cells = cuda.shared.array(256, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t] = a[i]
    cuda.syncthreads()
    out[i] = cells[cuda.blockDim.x - 1 - t]


@cuda.jit
def reverse_without_barrier(a, out):
    cells = cuda.shared.array(256, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t] = a[i]
    out[i] = cells[cuda.blockDim.x - 1 - t]


def raising(**options):
    """A kernel that raises where an element is 7, and asserts that it is below 40."""

    @cuda.jit(**options)
    def kernel(a, out):
        i = cuda.grid(1)
        if a[i] == 7:
            raise ValueError("seven")
        assert a[i] < 40, "too many"
        out[i] = 1

    return kernel


def numbers(*shape, dtype=np.float32):
    """Random numbers between -8 and 8, in quarters so that sums are exact."""
    rng = np.random.default_rng(shape[0])
    return (rng.integers(-32, 33, shape) / 4).astype(dtype)


def by_thread(kernel, *inputs, dtype=np.float64, threads=64):
    """What a kernel `(…, out)` stores, one element for each thread of one block."""
    out = np.zeros(threads, dtype)
    emulate(kernel)[1, threads](*inputs, out)
    return out


def message(error, kernel, blocks, threads, *arguments):
    """What an error says when a kernel is emulated."""
    with pytest.raises(error) as told:
        emulate(kernel)[blocks, threads](*arguments)
    assert [] == internals_of(told.value)
    return str(told.value)


def line_of(kernel, text):
    """The number of the kernel's line that holds a text."""
    lines, first = inspect.getsourcelines(kernel.py_func)
    return first + next(n for n, line in enumerate(lines) if text in line)


NAMESPACE = {
    "math": math,
    "cmath": cmath,
    "np": np,
    "cuda": cuda,
    "libdevice": libdevice,
}


def kernel_of(expression, names="xy"):
    """A kernel that stores an expression of each thread's elements."""
    return _storing({"out[i]": expression}, names)


def by_expression(expressions, *inputs, names="xyz", dtype=np.float64):
    """What one kernel stores of each expression: a row, an element for each thread."""
    stores = {f"out[{row}, i]": text for row, text in enumerate(expressions)}
    out = np.zeros((len(stores), len(inputs[0])), dtype)
    emulate(_storing(stores, names[: len(inputs)]))[1, len(inputs[0])](*inputs, out)
    return out


def _storing(stores, names):
    lines = [
        f"def kernel({', '.join([*names, 'out'])}):",
        "    i = cuda.grid(1)",
        *(f"    {name.upper()} = {name}[i]" for name in names),
        *(f"    {place} = {expression}" for place, expression in stores.items()),
    ]
    namespace = dict(NAMESPACE)
    exec("\n".join(lines), namespace)
    return cuda.jit(namespace["kernel"])


@cache
def tiled(size, first, second):
    """The tiled product, with or without each of its two barriers."""

    @cuda.jit
    def product(a, b, out):
        a_tile = cuda.shared.array((size, size), float32)
        b_tile = cuda.shared.array((size, size), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for k in range(0, a.shape[1], size):
            a_tile[ty, tx] = a[row, k + tx]
            b_tile[ty, tx] = b[k + ty, col]
            if first:
                cuda.syncthreads()
            for i in range(size):
                total += a_tile[ty, i] * b_tile[i, tx]
            if second:
                cuda.syncthreads()
        out[row, col] = total

    return product


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


def number_intrinsic(name, result):
    """An intrinsic that a GPU would compile, here without the code for it."""

    def typing(typingctx, x, y):
        return result(
            x, y
        ), lambda context, builder, signature, arguments: context.get_constant_undef(
            signature.return_type
        )

    typing.__name__ = name
    return intrinsic(typing)


def reversing():
    """A new kernel, which has opted in to nothing."""

    @cuda.jit
    def reversed_in_shared(out):
        cells = cuda.shared.array(0, int32)
        i = cuda.grid(1)
        if i < out.size:
            cells[cells.size - 1 - i] = i
        cuda.syncthreads()
        if i < out.size:
            out[i] = cells[cells.size - out.size + i]

    return reversed_in_shared
