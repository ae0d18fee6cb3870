# %% [markdown]
# # Filter a grid at the speed of a copy

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, load4, measure, store4, table)

device


# %%
def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


SHARE, SIX = np.float32(0.125), np.float32(6)


@part
def spread(here, west, east, north, south, below, above):
    """A cell after one step, from its value and its six neighbours'."""
    around = west + east + north + south + below + above
    return here + SHARE * (around - SIX * here)


@part
def inside(cells, z, y, x):
    """Is a cell inside, with a neighbour on each of its six sides?"""
    depth, height, width = cells.shape
    return (0 < z and uint32(z + 1) < depth and 0 < y
            and uint32(y + 1) < height and 0 < x and uint32(x + 1) < width)


# %%
@cuda.jit
def step_plain(out, src):
    """Each thread loads one cell and its six neighbours."""
    x, y, z = cuda.grid(3)
    depth, height, width = src.shape
    if (0 < z < depth - 1 and 0 < y < height - 1 and 0 < x < width - 1):
        out[z, y, x] = spread(src[z, y, x], src[z, y, x - 1], src[z, y, x + 1],
                              src[z, y - 1, x], src[z, y + 1, x],
                              src[z - 1, y, x], src[z + 1, y, x])


# %%
@cuda.jit
def step_narrow(out, src):
    """Each thread loads one cell and its six neighbours, by uint32 indices."""
    x, y, z = cuda.grid(3)
    x, y, z = uint32(x), uint32(y), uint32(z)
    if inside(src, z, y, x):
        out[z, y, x] = spread(
            src[z, y, x], src[z, y, uint32(x - 1)], src[z, y, uint32(x + 1)],
            src[z, uint32(y - 1), x], src[z, uint32(y + 1), x],
            src[uint32(z - 1), y, x], src[uint32(z + 1), y, x])


# %%
@cuda.jit
def step_tiled(out, src):
    """Load the block's cells and a halo, wait, then take all from the tile."""
    tile = cuda.shared.array((6, 10, 34), float32)
    left = uint32(cuda.blockIdx.x * cuda.blockDim.x)
    top = uint32(cuda.blockIdx.y * cuda.blockDim.y)
    first = uint32(cuda.blockIdx.z * cuda.blockDim.z)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    cell = uint32(32 * (8 * z + y) + x)
    depth, height, width = src.shape
    while cell < 6 * 10 * 34:       # the halo begins one cell before `left`
        c = uint32(cell % 34)
        b = uint32(cell // 34 % 10)
        a = uint32(cell // 340)
        k, j, i = uint32(first + a), uint32(top + b), uint32(left + c)
        if k < depth and j < height and i < width:
            tile[a, b, c] = src[k, j, i]
        cell = uint32(cell + 1024)
    cuda.syncthreads()
    x, y, z = uint32(x + 1), uint32(y + 1), uint32(z + 1)
    k, j, i = uint32(first + z), uint32(top + y), uint32(left + x)
    if inside(src, k, j, i):
        out[k, j, i] = spread(
            tile[z, y, x], tile[z, y, uint32(x - 1)], tile[z, y, uint32(x + 1)],
            tile[z, uint32(y - 1), x], tile[z, uint32(y + 1), x],
            tile[uint32(z - 1), y, x], tile[uint32(z + 1), y, x])


# %%
def make_layers(LAYERS):
    """A step that walks up through some layers, with a tile for each."""
    @cuda.jit
    def step_layers(out, src):
        """Walk up: a layer in the tile, the cells below and above in registers."""
        tile = cuda.shared.array((10, 34), float32)
        x, y = uint32(cuda.threadIdx.x + 1), uint32(cuda.threadIdx.y + 1)
        i = uint32(cuda.blockIdx.x * 32 + x)
        j = uint32(cuda.blockIdx.y * 8 + y)
        z = uint32(cuda.blockIdx.z * LAYERS + 1)
        depth, height, width = src.shape
        end = uint32(min(z + LAYERS, depth - 1))
        here = i < width and j < height
        mine = uint32(i + 1) < width and uint32(j + 1) < height
        below, cell, above = float32(0), float32(0), float32(0)
        if here:
            below, cell = src[uint32(z - 1), j, i], src[z, j, i]
        while z < end:
            if here:
                above = src[uint32(z + 1), j, i]
                tile[y, x] = cell
                if x == 1:
                    tile[y, 0] = src[z, j, uint32(i - 1)]
                if y == 1:
                    tile[0, x] = src[z, uint32(j - 1), i]
            if mine:
                if x == 32:
                    tile[y, 33] = src[z, j, uint32(i + 1)]
                if y == 8:
                    tile[9, x] = src[z, uint32(j + 1), i]
            cuda.syncthreads()
            if mine:
                out[z, j, i] = spread(
                    cell, tile[y, uint32(x - 1)], tile[y, uint32(x + 1)],
                    tile[uint32(y - 1), x], tile[uint32(y + 1), x], below, above)
            cuda.syncthreads()
            below, cell = cell, above
            z = uint32(z + 1)
    return step_layers


# %%
def make_walk(LAYERS):
    """A step that walks up through some layers, without a tile."""
    @cuda.jit
    def step_walk(out, src):
        """Walk up: three layers' cells in registers, neighbours from L1."""
        x, y = uint32(cuda.grid(2)[0] + 1), uint32(cuda.grid(2)[1] + 1)
        z = uint32(cuda.blockIdx.z * LAYERS + 1)
        depth, height, width = src.shape
        end = uint32(min(z + LAYERS, depth - 1))
        if uint32(y + 1) < height and uint32(x + 1) < width and z < end:
            below, here = src[uint32(z - 1), y, x], src[z, y, x]
            while z < end:
                above = src[uint32(z + 1), y, x]
                out[z, y, x] = spread(
                    here, src[z, y, uint32(x - 1)], src[z, y, uint32(x + 1)],
                    src[z, uint32(y - 1), x], src[z, uint32(y + 1), x],
                    below, above)
                below, here = here, above
                z = uint32(z + 1)
    return step_walk


# %%
def make_fours(LAYERS):
    """A step that walks up through some layers, four cells wide."""
    @cuda.jit
    def step_fours(out, src):
        """Walk up, four cells wide: load, spread and store them at once."""
        x = uint32(4 * cuda.grid(2)[0])
        y = uint32(cuda.grid(2)[1] + 1)
        z = uint32(cuda.blockIdx.z * LAYERS + 1)
        depth, height, width = src.shape
        end = uint32(min(z + LAYERS, depth - 1))
        if uint32(y + 1) < height and x < width and z < end:
            first, last = x == 0, uint32(x + 4) >= width
            below, here = load4(src, (uint32(z - 1), y, x)), load4(src, (z, y, x))
            while z < end:
                above = load4(src, (uint32(z + 1), y, x))
                north = load4(src, (z, uint32(y - 1), x))
                south = load4(src, (z, uint32(y + 1), x))
                west = here[0] if first else src[z, y, uint32(x - 1)]
                east = here[3] if last else src[z, y, uint32(x + 4)]
                a, b, c, d = spread4(here, west, east, north, south, below, above)
                a = here[0] if first else a     # the surface stays as it is
                d = here[3] if last else d
                store4(out, (z, y, x), (a, b, c, d))
                below, here = here, above
                z = uint32(z + 1)
    return step_fours


@part
def spread4(here, west, east, north, south, below, above):
    """Four cells in a row after one step."""
    h0, h1, h2, h3 = here
    return (spread(h0, west, h1, north[0], south[0], below[0], above[0]),
            spread(h1, h0, h2, north[1], south[1], below[1], above[1]),
            spread(h2, h1, h3, north[2], south[2], below[2], above[2]),
            spread(h3, h2, east, north[3], south[3], below[3], above[3]))


# %% filters
LAYERS, ROWS, ACROSS, FUSED_ROWS = 64, 256, 128, 64
SIDE = 11
LAST = SIDE - 1
WEIGHTS = np.random.default_rng(0).normal(size=(SIDE, SIDE)).astype(np.float32)


@cuda.jit
def filter_plain(out, src, weights):
    """Each thread adds up the products of 121 pixels and weights."""
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for i in range(SIDE):
            for j in range(SIDE):
                total += weights[i, j] * src[uint32(row + i), uint32(col + j)]
        out[row, col] = total


# %%
@cuda.jit
def filter_constant(out, src):
    """The same, with the weights in constant memory."""
    weights = cuda.const.array_like(WEIGHTS)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for i in range(SIDE):
            for j in range(SIDE):
                total += weights[i, j] * src[uint32(row + i), uint32(col + j)]
        out[row, col] = total


# %%
@cuda.jit
def filter_tiled(out, src):
    """Load the block's pixels and a halo, wait, take all from the tile."""
    weights = cuda.const.array_like(WEIGHTS)
    tile = cuda.shared.array((18, 42), float32)     # 8 + 10, 32 + 10
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    top, left = uint32(row - y), uint32(col - x)
    b = y
    while b < 8 + LAST:
        a = x
        while a < 32 + LAST:
            if uint32(top + b) < src.shape[0] and uint32(left + a) < src.shape[1]:
                tile[b, a] = src[uint32(top + b), uint32(left + a)]
            a = uint32(a + 32)
        b = uint32(b + 8)
    cuda.syncthreads()
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for i in range(SIDE):
            for j in range(SIDE):
                total += weights[i, j] * tile[uint32(y + i), uint32(x + j)]
        out[row, col] = total


# %%
@part
def load_sixteen(near, src, row, col):
    """Load sixteen pixels of a row."""
    for j in range(0, 16, 4):
        near[j], near[j + 1], near[j + 2], near[j + 3] = load4(
            src, (row, col + j))


@cuda.jit
def filter_fours(out, src):
    """Each thread makes four pixels side by side."""
    weights = cuda.const.array_like(WEIGHTS)
    near = cuda.local.array(16, float32)
    sums = cuda.local.array(4, float32)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    if row < out.shape[0] and col < out.shape[1]:
        for e in range(4):
            sums[e] = 0
        for i in range(SIDE):
            load_sixteen(near, src, uint32(row + i), col)
            for j in range(SIDE):
                for e in range(4):
                    sums[e] += weights[i, j] * near[e + j]
        store4(out, (row, col), (sums[0], sums[1], sums[2], sums[3]))


# %%
@part
def add_to(sums, weights, near, first, end):
    """Add a row of pixels to some rows of sums, which move down by one."""
    for i in range(first, end):
        for e in range(4):
            sums[i, e] = sums[i + 1, e]
        for j in range(SIDE):
            for e in range(4):
                sums[i, e] += weights[LAST - i, j] * near[e + j]


@part
def add_row(sums, weights, near):
    """Add a row of pixels to the eleven rows of sums that need it."""
    add_to(sums, weights, near, 0, 4)
    add_to(sums, weights, near, 4, 8)
    add_to(sums, weights, near, 8, 11)


def make_walking(ROWS):
    """A filter whose threads walk down strips of some rows, four pixels wide."""
    @cuda.jit
    def filter_walking(out, src):
        """Walk down a strip; each row of pixels goes to eleven rows of sums."""
        weights = cuda.const.array_like(WEIGHTS)
        sums = cuda.local.array((12, 4), float32)
        near = cuda.local.array(16, float32)
        col, start = cuda.grid(2)
        row, col = uint32(ROWS * start), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        if col < out.shape[1]:
            for i in range(SIDE + 1):
                for e in range(4):
                    sums[i, e] = 0
            while row < end:
                load_sixteen(near, src, row, col)
                add_row(sums, weights, near)
                if row >= first:
                    store4(out, (uint32(row - LAST), col),
                           (sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]))
                row = uint32(row + 1)
    return filter_walking


# %% separable
BELL = np.hanning(SIDE + 2)[1:-1].astype(np.float32) / np.float32(6)


@cuda.jit
def filter_rows(out, src):
    """Each thread makes four pixels from sixteen of one row."""
    bell = cuda.const.array_like(BELL)
    near = cuda.local.array(16, float32)
    sums = cuda.local.array(4, float32)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    if row < out.shape[0] and col < out.shape[1]:
        load_sixteen(near, src, row, col)
        weigh(sums, bell, near)
        store4(out, (row, col), (sums[0], sums[1], sums[2], sums[3]))


@part
def weigh(sums, bell, near):
    """Four sums of eleven weighted pixels of a row."""
    for e in range(4):
        total = float32(0)
        for j in range(SIDE):
            total += bell[j] * near[e + j]
        sums[e] = total


@cuda.jit
def filter_columns(out, src):
    """Each thread makes four pixels from eleven rows of four."""
    bell = cuda.const.array_like(BELL)
    sums = cuda.local.array(4, float32)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    if row < out.shape[0] and col < out.shape[1]:
        for e in range(4):
            sums[e] = 0
        for i in range(SIDE):
            four = load4(src, (uint32(row + i), col))
            sums[0] += bell[i] * four[0]
            sums[1] += bell[i] * four[1]
            sums[2] += bell[i] * four[2]
            sums[3] += bell[i] * four[3]
        store4(out, (row, col), (sums[0], sums[1], sums[2], sums[3]))


# %%
def make_fused(ROWS):
    """Both filters at once, in strips of some rows, four pixels wide."""
    @cuda.jit
    def filter_fused(out, src):
        """Walk down a strip; weigh a row, add it to eleven rows of sums."""
        bell = cuda.const.array_like(BELL)
        sums = cuda.local.array((12, 4), float32)
        near = cuda.local.array(16, float32)
        four = cuda.local.array(4, float32)
        col, start = cuda.grid(2)
        row, col = uint32(ROWS * start), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        if col < out.shape[1]:
            for i in range(SIDE + 1):
                for e in range(4):
                    sums[i, e] = 0
            while row < end:
                load_sixteen(near, src, row, col)
                weigh(four, bell, near)
                for i in range(SIDE):
                    for e in range(4):
                        sums[i, e] = sums[i + 1, e] + bell[LAST - i] * four[e]
                if row >= first:
                    store4(out, (uint32(row - LAST), col),
                           (sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]))
                row = uint32(row + 1)
    return filter_fused
