"""What the benchmark runs: ten kernels, their own loops for a CPU, and their inputs.

The loops are a kernel's: blocks, then barrier intervals, then threads, as an emulator
that compiled would run them; `njit`, one core. Imports nothing of ours, since Numba's
simulator runs the same kernels in a process of its own. In one file: a kernel is read
beside its loops, and the table of cases beside both.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import cuda, float32, int32, njit

TILE = 16
BINS = 256
THREADS = 256


@dataclass(frozen=True)
class Case:
    """A kernel, `launch(size)` and `arguments(size)`, and the loops that do the same.

    `work` counts a size's innermost steps, to scale a time from `small` to `size`;
    `small` is what the simulator gets, None where it is not asked.
    """

    name: str
    kernel: object
    loops: Callable
    launch: Callable
    arguments: Callable
    work: Callable
    size: int
    small: int | None
    times: int = 1  # launches


def numbers(*shape):
    return np.random.default_rng(1).random(shape, np.float32)


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@njit
def add_loops(blocks, threads, a, b, out):
    for block in range(blocks):
        for t in range(threads):
            i = block * threads + t
            if i < out.size:
                out[i] = a[i] + b[i]


@cuda.jit
def saxpy(factor, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = factor * x[i] + y[i]


@njit
def saxpy_loops(blocks, threads, factor, x, y):
    for block in range(blocks):
        for t in range(threads):
            for i in range(block * threads + t, x.size, blocks * threads):
                y[i] = factor * x[i] + y[i]


@cuda.jit
def mandelbrot(out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        re = float32(3) * float32(col) / float32(out.shape[1]) - float32(2)
        im = float32(2) * float32(row) / float32(out.shape[0]) - float32(1)
        x, y, n = float32(0), float32(0), 0
        while n < 50 and x * x + y * y < float32(4):
            x, y = x * x - y * y + re, float32(2) * x * y + im
            n += 1
        out[row, col] = n


@njit
def mandelbrot_loops(blocks, threads, out):
    for block in range(blocks[0] * blocks[1]):
        for t in range(threads[0] * threads[1]):
            col = block % blocks[0] * threads[0] + t % threads[0]
            row = block // blocks[0] * threads[1] + t // threads[0]
            if row < out.shape[0] and col < out.shape[1]:
                re = float32(3) * float32(col) / float32(out.shape[1]) - float32(2)
                im = float32(2) * float32(row) / float32(out.shape[0]) - float32(1)
                x, y, n = float32(0), float32(0), 0
                while n < 50 and x * x + y * y < float32(4):
                    x, y = x * x - y * y + re, float32(2) * x * y + im
                    n += 1
                out[row, col] = n


@cuda.jit
def naive(a, b, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        out[row, col] = total


@njit
def naive_loops(blocks, threads, a, b, out):
    for block in range(blocks[0] * blocks[1]):
        for t in range(threads[0] * threads[1]):
            col = block % blocks[0] * threads[0] + t % threads[0]
            row = block // blocks[0] * threads[1] + t // threads[0]
            if row < out.shape[0] and col < out.shape[1]:
                total = float32(0)
                for k in range(a.shape[1]):
                    total += a[row, k] * b[k, col]
                out[row, col] = total


def tiled_with(tile):
    """The tiled product, of any sizes."""

    @cuda.jit
    def tiled(a, b, out):
        a_tile = cuda.shared.array((tile, tile), float32)
        b_tile = cuda.shared.array((tile, tile), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for k in range(0, a.shape[1], tile):
            inside = row < a.shape[0] and k + tx < a.shape[1]
            a_tile[ty, tx] = a[row, k + tx] if inside else 0
            inside = k + ty < b.shape[0] and col < b.shape[1]
            b_tile[ty, tx] = b[k + ty, col] if inside else 0
            cuda.syncthreads()
            for i in range(tile):
                total += a_tile[ty, i] * b_tile[i, tx]
            cuda.syncthreads()
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = total

    return tiled


@njit
def tiled_loops(blocks, threads, a, b, out):
    a_tile = np.empty((TILE, TILE), np.float32)
    b_tile = np.empty((TILE, TILE), np.float32)
    totals = np.empty((TILE, TILE), np.float32)
    for block in range(blocks[0] * blocks[1]):
        left, top = block % blocks[0] * TILE, block // blocks[0] * TILE
        totals[:] = 0
        for k in range(0, a.shape[1], TILE):
            for ty in range(TILE):
                for tx in range(TILE):
                    row, col = top + ty, left + tx
                    a_tile[ty, tx] = b_tile[ty, tx] = 0
                    if row < a.shape[0] and k + tx < a.shape[1]:
                        a_tile[ty, tx] = a[row, k + tx]
                    if k + ty < b.shape[0] and col < b.shape[1]:
                        b_tile[ty, tx] = b[k + ty, col]
            for ty in range(TILE):
                for tx in range(TILE):
                    total = totals[ty, tx]
                    for i in range(TILE):
                        total += a_tile[ty, i] * b_tile[i, tx]
                    totals[ty, tx] = total
        for ty in range(TILE):
            for tx in range(TILE):
                if top + ty < out.shape[0] and left + tx < out.shape[1]:
                    out[top + ty, left + tx] = totals[ty, tx]


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    if top + y < a.shape[0] and left + x < a.shape[1]:
        tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if left + y < out.shape[0] and top + x < out.shape[1]:
        out[left + y, top + x] = tile[x, y]


@njit
def transpose_loops(blocks, threads, a, out):
    tile = np.empty((32, 33), np.float32)
    for block in range(blocks[0] * blocks[1]):
        left, top = block % blocks[0] * 32, block // blocks[0] * 32
        for y in range(32):
            for x in range(32):
                if top + y < a.shape[0] and left + x < a.shape[1]:
                    tile[y, x] = a[top + y, left + x]
        for y in range(32):
            for x in range(32):
                if left + y < out.shape[0] and top + x < out.shape[1]:
                    out[left + y, top + x] = tile[x, y]


@cuda.jit
def reduction(a, out):
    i = cuda.grid(1)
    value = a[i] if i < a.size else float32(0)
    distance = 16
    while distance > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
        distance //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@njit
def reduction_loops(blocks, threads, a, out):
    lanes = np.empty(32, np.float32)
    for block in range(blocks):
        for warp in range(threads // 32):
            first = block * threads + warp * 32
            for lane in range(32):
                i = first + lane
                lanes[lane] = a[i] if i < a.size else float32(0)
            distance = 16
            while distance > 0:
                for lane in range(32):
                    other = lane + distance
                    lanes[lane] += lanes[other if other < 32 else lane]
                distance //= 2
            out[0] += lanes[0]


@cuda.jit
def scan(a, out):
    cells = cuda.shared.array(THREADS, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    distance = 1
    while distance < THREADS:
        before = cells[t - distance] if t >= distance else float32(0)
        cuda.syncthreads()
        cells[t] += before
        cuda.syncthreads()
        distance *= 2
    if i < out.size:
        out[i] = cells[t]


@njit
def scan_loops(blocks, threads, a, out):
    cells = np.empty(THREADS, np.float32)
    before = np.empty(THREADS, np.float32)
    for block in range(blocks):
        for t in range(threads):
            i = block * threads + t
            cells[t] = a[i] if i < a.size else 0
        distance = 1
        while distance < THREADS:
            for t in range(threads):
                before[t] = cells[t - distance] if t >= distance else float32(0)
            for t in range(threads):
                cells[t] += before[t]
            distance *= 2
        for t in range(threads):
            if block * threads + t < out.size:
                out[block * threads + t] = cells[t]


@cuda.jit
def histogram(a, out):
    bins = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, a[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, bins[t])


@njit
def histogram_loops(blocks, threads, a, out):
    bins = np.empty(BINS, np.int32)
    for block in range(blocks):
        bins[:] = 0
        for t in range(threads):
            for i in range(block * threads + t, a.size, blocks * threads):
                bins[a[i]] += 1
        for t in range(threads):
            out[t] += bins[t]


@cuda.jit
def stencil(a, out):
    col, row = cuda.grid(2)
    if 0 < row < a.shape[0] - 1 and 0 < col < a.shape[1] - 1:
        around = a[row - 1, col] + a[row + 1, col] + a[row, col - 1] + a[row, col + 1]
        out[row, col] = around - float32(4) * a[row, col]


@njit
def stencil_loops(blocks, threads, a, out):
    for block in range(blocks[0] * blocks[1]):
        for t in range(threads[0] * threads[1]):
            col = block % blocks[0] * threads[0] + t % threads[0]
            row = block // blocks[0] * threads[1] + t // threads[0]
            if 0 < row < a.shape[0] - 1 and 0 < col < a.shape[1] - 1:
                around = a[row - 1, col] + a[row + 1, col]
                around = around + a[row, col - 1] + a[row, col + 1]
                out[row, col] = around - float32(4) * a[row, col]


def line(n):
    return -(-n // THREADS), THREADS


def square(side):
    def launch(n):
        return (-(-n // side),) * 2, (side, side)

    return launch


def few(n):
    return min(256, -(-n // THREADS)), THREADS


def bins_of(n):
    values = np.random.default_rng(2).integers(0, BINS, n)
    return values.astype(np.int32), np.zeros(BINS, np.int32)


M = 1 << 20

CASES = [
    Case(
        name="add, 1 M",
        kernel=add,
        loops=add_loops,
        launch=line,
        arguments=lambda n: (numbers(n), numbers(n), np.zeros(n, np.float32)),
        work=lambda n: n,
        size=M,
        small=2048,
    ),
    Case(
        name="SAXPY, grid stride, 4 M",
        kernel=saxpy,
        loops=saxpy_loops,
        launch=few,
        arguments=lambda n: (np.float32(2), numbers(n), numbers(n)),
        work=lambda n: n,
        size=4 * M,
        small=2048,
    ),
    Case(
        name="Mandelbrot, 1024 × 1024, 50 turns",
        kernel=mandelbrot,
        loops=mandelbrot_loops,
        launch=square(16),
        arguments=lambda n: (np.zeros((n, n), np.int32),),
        work=lambda n: n * n,
        size=1024,
        small=32,
    ),
    Case(
        name="naive product, 256",
        kernel=naive,
        loops=naive_loops,
        launch=square(16),
        arguments=lambda n: (
            numbers(n, n),
            numbers(n, n),
            np.zeros((n, n), np.float32),
        ),
        work=lambda n: n**3,
        size=256,
        small=64,
    ),
    Case(
        name="tiled product, 512, tile 16",
        kernel=tiled_with(TILE),
        loops=tiled_loops,
        launch=square(TILE),
        arguments=lambda n: (
            numbers(n, n),
            numbers(n, n),
            np.zeros((n, n), np.float32),
        ),
        work=lambda n: n**3,
        size=512,
        small=64,
    ),
    Case(
        name="transpose, 1024, padded tile",
        kernel=transpose,
        loops=transpose_loops,
        launch=square(32),
        arguments=lambda n: (numbers(n, n), np.zeros((n, n), np.float32)),
        work=lambda n: n * n,
        size=1024,
        small=32,
    ),
    Case(
        name="reduction by shuffles, 1 M",
        kernel=reduction,
        loops=reduction_loops,
        launch=line,
        arguments=lambda n: (numbers(n), np.zeros(1, np.float32)),
        work=lambda n: n,
        size=M,
        small=None,
    ),
    Case(
        name="scan of blocks, 1 M",
        kernel=scan,
        loops=scan_loops,
        launch=line,
        arguments=lambda n: (numbers(n), np.zeros(n, np.float32)),
        work=lambda n: n,
        size=M,
        small=512,
    ),
    Case(
        name="histogram, shared atomics, 1 M",
        kernel=histogram,
        loops=histogram_loops,
        launch=few,
        arguments=bins_of,
        work=lambda n: n,
        size=M,
        small=2048,
    ),
    Case(
        name="stencil, 1024 × 1024",
        kernel=stencil,
        loops=stencil_loops,
        launch=square(16),
        arguments=lambda n: (numbers(n, n), np.zeros((n, n), np.float32)),
        work=lambda n: n * n,
        size=1024,
        small=32,
    ),
]
