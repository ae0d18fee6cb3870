# %% [markdown]
# # Turn a matrix nearly as fast as a copy
#
# *30 minutes*
#
# **What you'll do:** climb from a transpose that wastes most of what memory moves to one that comes within a few hundredths of a plain copy, and say at each step which number it was that fell.
#
# **What you'll learn:**
#
# - bring a tile by rows and take it by columns, whatever the matrix's size
# - remove one cost at a time: sectors, bank conflicts, instructions, waiting
# - find the bug that the right answer hides
#
# **What you'll need:** [coalescing](12_coalescing.ipynb), [shared memory](13_shared_memory.ipynb), [banks](14_bank_conflicts.ipynb) and [barriers](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (baseline, check, device, emulate, exercise, expect, load4,
                     measure, plot_sectors, plot_tile_banks, plot_times,
                     store4, table)

device

# %% [markdown]
# ## How hard can it be?
#
# A transpose computes nothing.
# It reads each element once and writes it once, to the place with row and column swapped.
# So do a copy's threads, except for the swap.
# **Each thread moves one element across the diagonal.**

# %%
@cuda.jit
def transpose_naive(dst, src):
    """Each thread moves one element across the diagonal."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


random = np.random.default_rng(0)
small = random.random((128, 192), dtype=np.float32)


def count(kernel, tile=32, threads=(32, 32), down=False):
    """Emulate a transpose of 128 × 192 elements and check it."""
    out = np.full(small.shape[::-1], np.nan, np.float32)
    blocks = 192 // tile, 128 // tile
    run = emulate(kernel)[blocks[::-1] if down else blocks, threads](
        out, small)
    check(out, small.T)
    return run


naive = count(transpose_naive)

# %% [markdown]
# Can a transpose be as fast as a copy of the same bytes?
#
# **Predict.** How many sectors does one request of this kernel's loads touch, and one of its stores?
#
# <details><summary>Answer</summary>
#
# Lanes side by side load side by side: 4 sectors.
# Their stores stand one below the other, a whole row of `dst` apart: 32.
#
# </details>

# %%
naive

# %%
plot_sectors([4 * 128 * lane for lane in range(8)], kind="store")

# %% [markdown]
# The first 8 lanes of a store: each brings 4 bytes, and moves a sector of 32.
# Swap `row` and `col`, and the stores are fine and the loads are not.
# One side must run down a column, as long as each thread keeps to its element.

# %% [markdown]
# ## Through a tile
#
# A thread need not store the element that it loaded.
# **Bring a tile by rows, wait, take it by columns.**
# Each row of the tile is loaded from a row, and each *column* of the tile is stored to a row.

# %%
TILE = 32


def make_tiled(width):
    """A transpose through tiles whose rows are `width` elements apart."""
    @cuda.jit
    def transpose_tiled(dst, src):
        """Bring a tile by rows, wait, take it by columns."""
        tile = cuda.shared.array((TILE, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
        tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y]
    return transpose_tiled


tiled = count(make_tiled(32))
tiled

# %% [markdown]
# Both sides have 4 sectors now.
# A block's place is swapped as well: the tile from `(top, left)` goes to `(left, top)`.
# But a column has only moved, into the tile, and there it costs something else.

# %%
def bank(width):
    """The bank of each element of a tile with rows of `width` elements."""
    rows, columns = np.mgrid[0:TILE, 0:width]
    return (rows * width + columns) % 32


plot_tile_banks(bank(32), [(lane, 5) for lane in range(32)])

# %% [markdown]
# 32 elements, one bank, 32 wavefronts: every lane waits for every other.
#
# ## Padded, or shuffled
#
# One more column, that nobody uses, moves each row on by a bank.

# %%
padded = count(make_tiled(33))
padded.assert_no_bank_conflicts()

plot_tile_banks(bank(33), [(lane, 5) for lane in range(32)], padding=1)

# %% [markdown]
# **A swizzle** does it without the extra column: row `y` keeps column `x` at `x ^ y`.

# %%
@cuda.jit
def transpose_swizzled(dst, src):
    """Bring a tile by rows, shuffle each row, take it by columns."""
    tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    tile[y, x ^ y] = src[top + y, left + x]
    cuda.syncthreads()
    dst[left + y, top + x] = tile[x, y ^ x]


swizzled = count(transpose_swizzled)
swizzled.assert_no_bank_conflicts()

# %% [markdown]
# Every access is ideal: no sector and no wavefront is left to save.
# Yet a count of waste says nothing about *waiting*.
# Each thread asks for 4 bytes, then waits for them, then for the barrier.
# While it waits, it asks for nothing.

# %% [markdown]
# ## More for each thread
#
# Let a block of 32 × 8 threads do the tile.
# **Each thread brings 4 elements of a column, and takes 4.**

# %%
EACH = 4
STEP = TILE // EACH


@cuda.jit
def transpose_four(dst, src):
    """Each thread brings 4 elements of a column, and takes 4."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    for k in range(0, TILE, STEP):
        tile[y + k, x] = src[top + y + k, left + x]
    cuda.syncthreads()
    for k in range(0, TILE, STEP):
        dst[left + y + k, top + x] = tile[x, y + k]


four = count(transpose_four, threads=(32, STEP))
four.assert_no_bank_conflicts()

# %% [markdown]
# The loads of a thread do not wait for one another, so four of them are on their way at once.
# To have still more on its way, let each load be wider.
# `load4(src, (row, col))` takes four neighbours of a row in one request of 16 bytes, and `store4` stores four; the place must be a multiple of four elements.
#
# With it a tile can be 64 × 64.
# **Put four neighbours of a row into the tile; take four of a column.**

# %%
@cuda.jit(device=True)
def put(tile, row, col, values):
    """Put four neighbours of a row into the tile."""
    tile[row, col] = values[0]
    tile[row, col + 1] = values[1]
    tile[row, col + 2] = values[2]
    tile[row, col + 3] = values[3]


@cuda.jit(device=True)
def take(tile, row, col):
    """Take four neighbours of a column out of the tile."""
    return (tile[row, col], tile[row + 1, col],
            tile[row + 2, col], tile[row + 3, col])


# %% [markdown]
# A thread brings one such group from each half of the tile's row, before it needs the first.
# **Load two groups of four, put them, wait, store two groups.**

# %%
@cuda.jit
def transpose_wide(dst, src):
    """Load two groups of four, put them, wait, store two groups."""
    tile = cuda.shared.array((64, 65), float32)
    x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(64 * cuda.blockIdx.x), uint32(64 * cuda.blockIdx.y)
    first = load4(src, (top + y, left + x))
    second = load4(src, (top + y, left + x + 32))
    put(tile, y, x, first)
    put(tile, y, x + 32, second)
    cuda.syncthreads()
    store4(dst, (left + y, top + x), take(tile, x, y))
    store4(dst, (left + y, top + x + 32), take(tile, x + 32, y))


wide = count(transpose_wide, tile=64, threads=(8, 64))
wide.assert_no_bank_conflicts()
wide

# %% [markdown]
# A request brings 512 bytes in 16 sectors, and not one of them in vain.
# The block is 8 × 64 threads, so a warp is 8 lanes wide and 4 high: that is what keeps the tile's banks apart.

# %%
column = [(4 * (lane % 8), lane // 8) for lane in range(32)]

plot_tile_banks(bank(65)[:, :36], column)

# %% [markdown]
# The first element of each lane's column, in the left half of the tile: 32 lanes, 32 banks.
# `uint32` spares the kernel the question whether an index is negative; more of that with the matrix product.

# %% [markdown]
# ## Near in memory, near in time
#
# No request can take fewer sectors than these.
# But many are on their way at once, and memory is quickest when those lie side by side.
#
# Blocks start in the order of `blockIdx.x`: they load from the same rows of `src`, and store one below the other into `dst`, whole rows apart.
# Let `blockIdx.x` count downwards in `src`, and the stores lie side by side.
# And with blocks of 16 × 32 threads a warp takes 256 bytes from each of two rows, not 128 from each of four.
# **The same for two halves of a tile, blocks counted downwards.**

# %%
@cuda.jit
def transpose_down(dst, src):
    """The same for two halves of a tile, blocks counted downwards."""
    tile = cuda.shared.array((64, 65), float32)
    x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(64 * cuda.blockIdx.y), uint32(64 * cuda.blockIdx.x)
    upper = load4(src, (top + y, left + x))
    lower = load4(src, (top + y + 32, left + x))
    put(tile, y, x, upper)
    put(tile, y + 32, x, lower)
    cuda.syncthreads()
    store4(dst, (left + y, top + x), take(tile, x, y))
    store4(dst, (left + y + 32, top + x), take(tile, x, y + 32))


down = count(transpose_down, tile=64, threads=(16, 32), down=True)

table(["", "sectors", "bank conflicts", "shared requests"],
      [(name, run.coalescing.sectors, run.bank_conflicts.conflicts,
        run.bank_conflicts.requests)
       for name, run in (("wide", wide), ("down", down))])

# %% [markdown]
# As many sectors as before, and two-way bank conflicts: a row of 16 lanes is 64 elements long and goes round the banks twice.
# Was it a bad bargain? No count can weigh the one against the other; a clock can.

# %% [markdown]
# ## Is it as fast as a copy?
#
# A matrix of 12,288 × 12,288 elements is 576 MB, more than any cache holds.

# %% tags=["timing"]
N = 12288
src = np.zeros((N, N), np.float32)
dst = np.zeros((N, N), np.float32)
rungs = {
    "naive": (transpose_naive, naive, 32, (32, 32)),
    "tile": (make_tiled(32), tiled, 32, (32, 32)),
    "padded": (make_tiled(33), padded, 32, (32, 32)),
    "swizzled": (transpose_swizzled, swizzled, 32, (32, 32)),
    "4 a thread": (transpose_four, four, 32, (32, STEP)),
    "16 bytes a load": (transpose_wide, wide, 64, (8, 64)),
    "blocks down": (transpose_down, down, 64, (16, 32))}

times = {
    name: measure(kernel, bytes=2 * src.nbytes)[
        (N // tile, N // tile), threads](dst, src)
    for name, (kernel, _, tile, threads) in rungs.items()}
times["blocks down"]

# %% tags=["timing"]
last = times["blocks down"]

plot_times(times, [m.median_us for m in times.values()],
           spread_us=[(m.lower_us, m.upper_us) for m in times.values()],
           limit_us=2 * src.nbytes / last.copy_gb_per_s / 1e3,
           limit_label="a copy")

# %% [markdown]
# The dashed line, where a time is known, is what a copy of the same bytes takes.
# And beside the same kernels in CUDA C++, measured by turns in one run:

# %% tags=["timing"]
table(["recorded", "time, µs", "GB/s"],
      [(b.name, b.median_us, b.gb_per_s) for b in map(baseline, (
          "copy 12288", "Numba transpose down 12288",
          "CUDA C++ transpose down 12288", "Numba transpose padded 12288",
          "CUDA C++ transpose padded 12288"))])

# %% [markdown]
# ## Any size
#
# So far tiles fit exactly.
# For other sizes there are tiles that hang over the edge, and each side needs its own guard: the loads ask whether they are inside `src`, the stores whether they are inside `dst`.
# **Bring what there is of a tile, wait, take what there is.**

# %%
@cuda.jit
def transpose_any(dst, src):
    """Bring what there is of a tile, wait, take what there is."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    if top + y < src.shape[0] and left + x < src.shape[1]:
        tile[y, x] = src[top + y, left + x]
    cuda.syncthreads()
    if left + y < dst.shape[0] and top + x < dst.shape[1]:
        dst[left + y, top + x] = tile[x, y]


def turn(kernel, src):
    """Emulate a transpose of any size and check it."""
    dst = np.full(src.shape[::-1], np.nan, np.float32)
    grid = -(-src.shape[1] // TILE), -(-src.shape[0] // TILE)
    run = emulate(kernel)[grid, (TILE, TILE)](dst, src)
    check(dst, src.T)
    return run


for shape in (1, 1), (33, 1), (70, 45):
    turn(transpose_any, random.random(shape, dtype=np.float32))

# %% [markdown]
# ## What could go wrong
#
# The guard forgotten: the ragged tile reads beyond the matrix.

# %%
ragged = random.random((70, 45), dtype=np.float32)

with expect(IndexError):
    turn(make_tiled(33), ragged)

# %% [markdown]
# The barrier forgotten: a warp takes a column before the other warps have brought it.

# %%
@cuda.jit
def transpose_hasty_wrong(dst, src):
    """Bring a tile by rows and take it by columns at once."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    tile[y, x] = src[top + y, left + x]
    dst[left + y, top + x] = tile[x, y]


out = np.zeros((192, 128), np.float32)
emulate(transpose_hasty_wrong)[(6, 4), (32, 32)](out, small).races

# %% [markdown]
# The padding declared, and not used: the cells are there, but rows still begin 32 elements apart.

# %%
@cuda.jit
def transpose_unpadded_wrong(dst, src):
    """Bring a tile by rows into flat memory, and take it by columns."""
    tile = cuda.shared.array(32 * 33, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    tile[TILE * y + x] = src[top + y, left + x]
    cuda.syncthreads()
    dst[left + y, top + x] = tile[TILE * x + y]


unpadded = count(transpose_unpadded_wrong)
with expect(AssertionError):
    unpadded.assert_no_bank_conflicts()

# %% [markdown]
# The answer was right, and stays right; only the count tells.
#
# And a kernel that does not transpose at all, tried on a matrix that is its own transpose:

# %%
@cuda.jit
def transpose_not_wrong(dst, src):
    """Each thread copies one element, and nothing crosses the diagonal."""
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[row, col] = src[row, col]


half = random.random((64, 64), dtype=np.float32)
turn(transpose_not_wrong, half + half.T)

with expect(AssertionError):
    turn(transpose_not_wrong, half)

# %% [markdown]
# No result of a symmetric input can reveal it.
# Try random numbers, and sides of different length.

# %% [markdown]
# ## What changed

# %% tags=["timing"]
def rung(name, run):
    """A rung's counts, its time, and its share of a copy."""
    stores = run.coalescing.by_kind["store"]
    waste = stores.bytes_moved / stores.bytes
    time = times[name]
    return (name, waste, run.bank_conflicts.conflicts,
            time.median_us, 100 * time.share_of_copy)


table(["rung", "bytes moved for a byte stored", "bank conflicts, emulated",
       "time, µs", "% of a copy"],
      [rung(name, run) for name, (_, run, _, _) in rungs.items()])

# %% [markdown]
# The first three steps each remove a count; the next two remove none and keep more bytes on their way.
# The last even brings conflicts back: they cost a multiprocessor a few cycles, while all wait for memory, which likes what lies side by side.
# A count tells what to suspect; only a clock can show what mattered.

# %% [markdown]
# ## On your own
#
# ★ Does one column of padding still help in a tile of `float64`? Guess, then ask `emulate`.
#
# ★★ `rotate`: turn a matrix of any size by a quarter, clockwise, as `np.rot90(src, -1)` does, as well coalesced as a copy and with no bank conflict.

# %%
task = exercise("rotate")
task

# %%
TILE = 32
WIDTH = TILE + 1


@cuda.jit
def rotate(dst, src):
    """Turn a matrix by a quarter, clockwise."""
    # your code, about 9 lines


task.check(rotate)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# TILE = 32
# WIDTH = TILE + 1
#
#
# @cuda.jit
# def rotate(dst, src):
#     """Turn a matrix by a quarter, clockwise."""
#     tile = cuda.shared.array((TILE, WIDTH), float32)
#     rows, cols = src.shape
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
#     if top + y < rows and left + x < cols:
#         tile[y, x] = src[top + y, left + x]
#     cuda.syncthreads()
#     if left + y < cols and top + x < rows:
#         dst[left + y, rows - 1 - top - x] = tile[x, y]
# ```
#
# A warp reads a column of the tile and stores it as a row, from right to left.
# Backwards, it touches as many sectors and as many banks as forwards.
#
# </details>

# %% [markdown]
# ★★★ `exercise("wide_turn")`: transpose with four elements in each load and store, where the sides are any multiples of four.
#
# The [assignment](assignments/21_transpose.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# A copy within the GPU is the limit of a transpose only while the matrix is larger than the caches.
#
# `transpose_wide` and `transpose_down` want sides that are multiples of 64, and arrays that begin at a multiple of 16 bytes, as whole arrays do.
#
# The best transpose is often none: a kernel that loads through a tile can take a matrix in either layout, and libraries take a flag.

# %% [markdown]
# ## Further reading
#
# - [An efficient matrix transpose in CUDA C/C++](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): the first four rungs, as they were first told.
#
# Here each element was used once, and the tile paid all the same.
#
# *Next:* [Use a number again while it is near](22_tiling.ipynb): what does a tile pay where each element is used a thousand times?
