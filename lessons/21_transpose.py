# %% [markdown]
# # Transpose a matrix nearly as fast as a copy
#
# *45 minutes*
#
# **What you'll do:** climb from a transpose that takes 7.5 times as long as the driver's copy to one that is nearly as fast, rung by rung, and say what the kernel waited for before and after.
#
# **What you'll learn:**
#
# - load a tile by rows and store it by columns, for a matrix of any size
# - tell from counters what limits a kernel: bank conflicts, instructions, or too few bytes in flight
# - find the mistakes that a right answer hides
#
# **What you'll need:** [coalescing](12_coalescing.ipynb), [shared memory](13_shared_memory.ipynb), [banks](14_bank_conflicts.ipynb) and [barriers](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, int64, uint32, uint64

from helpers import (assemble, check, device, emulate, exercise, expect,
                     load4, measure, plot_tile_banks, plot_times, store4,
                     table, watch)

device

# %% [markdown]
# ## Can it be as fast as a copy?
#
# A transpose computes nothing.
# It reads each element once and writes it once, with row and column swapped.
# A copy does the same without the swap.
# So how near to a copy can a transpose get?
#
# Elements are `[row, col]`, as in NumPy; `x` and `y` are a thread's place, and `x` runs along a row.
# The naive kernel: **Each thread moves one element across the diagonal.**

# %%
@cuda.jit
def transpose_naive(dst, src):
    """Each thread moves one element across the diagonal."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


random = np.random.default_rng(0)
small = random.random((128, 192), dtype=np.float32)


def count(kernel, blocks=(6, 4), threads=(32, 32)):
    """Emulate a transpose of 128 × 192 elements and check it."""
    out = np.full(small.shape[::-1], np.nan, np.float32)
    run = emulate(kernel)[blocks, threads](out, small)
    check(out, small.T)
    return run


naive = count(transpose_naive)

# %% [markdown]
# **Predict.** How many sectors does one request of this kernel's loads touch, and how many one of its stores?
#
# <details><summary>Answer</summary>
#
# 32 adjacent lanes load 32 adjacent elements, 128 bytes: 4 sectors.
# They store to 32 different rows of `dst`: 32 sectors.
#
# </details>

# %%
naive

# %% [markdown]
# The 4 bytes of each lane go to a different sector of 32 bytes.
# Swap `row` and `col` on both sides, and the stores are coalesced, but the loads are not.
# **Each thread moves one element, and a warp fills a row.**
#
# (In [shared memory](13_shared_memory.ipynb), these two kernels were `transpose` and `transpose_down`.)
# For comparison, here is also a *plain copy*, written in the same way.

# %%
@cuda.jit
def transpose_rows(dst, src):
    """Each thread moves one element, and a warp fills a row."""
    col, row = cuda.grid(2)
    dst[row, col] = src[col, row]


@cuda.jit
def copy_plain(dst, src):
    """Each thread copies one element."""
    col, row = cuda.grid(2)
    dst[row, col] = src[row, col]


rows = count(transpose_rows, blocks=(4, 6))
rows

# %% [markdown]
# As long as a warp fills a row on one side, and each thread stores what it loaded, the other side is a column.
#
# ## Through a tile
#
# Let a thread store an element that *another* thread loaded.
# **Load a tile by rows, wait, store its columns as rows.**
#
# `index` is the type of the indices, for now `int64`, as in Numba without a cast.

# %%
TILE = 32


def make_tiled(width, index=int64):
    """A transpose through tiles whose rows are `width` elements apart."""
    @cuda.jit
    def transpose_tiled(dst, src):
        """Load a tile by rows, wait, store its columns as rows."""
        tile = cuda.shared.array((TILE, width), float32)
        x, y = index(cuda.threadIdx.x), index(cuda.threadIdx.y)
        left = index(TILE * cuda.blockIdx.x)
        top = index(TILE * cuda.blockIdx.y)
        tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y]
    return transpose_tiled


tiled = count(make_tiled(32))
tiled

# %% [markdown]
# Loads and stores now take 4 sectors each.
# The tile whose first element is `src[top, left]` goes to `dst[left, top]`.
# Now the tile is read by columns instead, and that has a cost of its own.

# %%
def bank(width):
    """The bank of each element of a tile with rows of `width` elements."""
    rows, cols = np.mgrid[0:TILE, 0:width]
    return (rows * width + cols) % 32


plot_tile_banks(bank(32), [(lane, 5) for lane in range(32)])

# %% [markdown]
# The outlined cells are what one warp reads at once: a column of 32 elements.
# All of them are in one bank, so the read takes 32 wavefronts.
#
# ## Pad the rows, or swizzle them
#
# One unused column at the end of each row shifts the next row by one bank.

# %%
padded = count(make_tiled(33))
padded.assert_no_bank_conflicts()

plot_tile_banks(bank(33), [(lane, 5) for lane in range(32)], padding=1)

# %% [markdown]
# The same column now lies in 32 banks.
#
# **A swizzle** does that without the extra column: row `y` of the tile keeps element `x` in column `x ^ y`.
# **Load a tile by rows, swizzle each row, store columns as rows.**
#
# `watch` shows one block step by step. Which cells does warp 0 read after the barrier, and in which banks?

# %%
def make_swizzled(index=int64):
    """A transpose through tiles with swizzled rows."""
    @cuda.jit
    def transpose_swizzled(dst, src):
        """Load a tile by rows, swizzle each row, store columns as rows."""
        tile = cuda.shared.array((TILE, TILE), float32)
        x, y = index(cuda.threadIdx.x), index(cuda.threadIdx.y)
        left = index(TILE * cuda.blockIdx.x)
        top = index(TILE * cuda.blockIdx.y)
        tile[y, x ^ y] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y ^ x]
    return transpose_swizzled


swizzled = count(make_swizzled())
swizzled.assert_no_bank_conflicts()
film = watch(make_swizzled())[1, (32, 32)](
    np.zeros((32, 32), np.float32), small[:32, :32].copy())
film

# %% [markdown]
# In the film warp 0 walks down the diagonal of the tile, and each of its 32 lanes asks a bank of its own.
# Each request now takes as few sectors and wavefronts as it can.
#
# ## What the clock says
#
# A matrix of 12,288 × 12,288 elements is 604 MB, about ten times what an H200's L2 holds.

# %% tags=["timing"]
N = 12288
src = np.zeros((N, N), np.float32)
dst = np.zeros((N, N), np.float32)


def clock(kernel, tile=(32, 32), threads=(32, 32), down=False):
    """Measure a transpose of N × N elements by tiles of rows × columns."""
    blocks = N // tile[1], N // tile[0]
    return measure(kernel, bytes=2 * src.nbytes)[
        blocks[::-1] if down else blocks, threads](dst, src)


times = {"naive": clock(transpose_naive), "by rows": clock(transpose_rows),
         "tile": clock(make_tiled(32)), "padded": clock(make_tiled(33)),
         "swizzled": clock(make_swizzled()), "plain copy": clock(copy_plain)}

# %% tags=["timing"]
def busy(names):
    """Each rung's time, how busy parts of the GPU are, its longest wait."""
    units = "issue_percent", "l1_data_percent", "memory_percent"
    return table(["rung", "time, µs", "million instructions",
                  "issue slots used, %", "L1/shared data path busy, %",
                  "memory busy, %", "warps wait most for"],
        [(name, times[name].median_us,
          times[name].counters.get("instructions", np.nan) / 1e6,
          *(times[name].counters.get(unit) for unit in units),
          next(iter(times[name].waits), "")) for name in names])


def requested(names):
    """The GB that each level of memory was asked for, and conflicts."""
    cores = cuda.get_current_device().MULTIPROCESSOR_COUNT
    return table(["rung", *(f"from {it}, GB" for it in ("L1", "L2", "memory")),
                  "cycles with a bank conflict, %"],
        [(name, *(it / 1e9 for it in (*m.traffic.values(), *3 * [np.nan])[:3]),
          100 * m.counters.get("shared_load_conflicts", np.nan) / cores
          / m.counters.get("cycles", np.nan))
         for name, m in ((name, times[name]) for name in names)])


print(requested(times))
busy(times)

# %% [markdown]
# - *naive* waits for its last stores: a warp that has finished stays until they have left. L1 passes all their sectors on to L2, 5.4 GB with the loads instead of 1.2. These counters do not tell what holds the stores up.
# - *by rows* is 2.4 times as fast. L1 is asked for as many bytes, but loads each sector from L2 only once and keeps it for the block's other warps.
# - *tile* has no single large wait. Each conflict keeps the data path of L1 and shared memory busy for one more cycle, 47% of all cycles. Padding saves 39% of the time: part of that was hidden.
# - *padded* waits at the barrier and for memory, and keeps none of these parts busy for even half of the time.

# %% [markdown]
# ## Where the rest goes
#
# The plain copy takes 11% less time than the padded transpose.
# So the padded tile has removed most of the cost of *transposing*. But the plain copy itself takes 2.2 times as long as the driver's.
#
# Are there too many instructions?
# Numba's indices are signed and may count from the end, so each access checks the sign.
# With an unsigned type this check disappears:

# %% tags=["timing"]
times["padded, unsigned"] = clock(make_tiled(33, uint32))
times["swizzled, unsigned"] = clock(make_swizzled(uint32))


def made(kernel):
    """How many machine instructions a transpose has."""
    return len(assemble(kernel)[(6, 4), (32, 32)](out, small).instructions)


out = np.zeros(small.shape[::-1], np.float32)
print(table(["instructions of the kernel", "padded", "swizzled"],
            [(f"{T}", made(make_tiled(33, T)), made(make_swizzled(T)))
             for T in (int64, int32, uint64, uint32)]))
busy(["padded", "swizzled", "padded, unsigned", "swizzled, unsigned"])

# %% [markdown]
# The sign counts, not the width: the padded kernel has 78 instructions with `int64` and 86 with `int32`, but 42 with `uint64` and 46 with `uint32`.
# With `uint32` a warp executes 42% fewer, which saves 9% of the time.
#
# With signed indices the swizzle is 4% faster than the padding; with unsigned ones both take the same time.
# So that difference came from computing the indices, not from the banks.
#
# ## More bytes in flight
#
# Or do the threads wait too long?
# A thread asks for 4 bytes and waits for them, then at the barrier.
# Let one wait serve four elements.
# **Load several elements of a column, wait, store as many.**
# Its loads do not depend on one another, so all of them can be in flight at once.

# %%
def make_several(rows, step, index=uint32):
    """Through tiles of `rows` × 32, by blocks of 32 × `step` threads."""
    @cuda.jit
    def transpose_several(dst, src):
        """Load several elements of a column, wait, store as many."""
        tile = cuda.shared.array((rows, 33), float32)
        x, y = index(cuda.threadIdx.x), index(cuda.threadIdx.y)
        left = index(TILE * cuda.blockIdx.x)
        top = index(rows * cuda.blockIdx.y)
        for row in range(0, rows, step):
            row = index(row)
            tile[y + row, x] = src[top + y + row, left + x]
        cuda.syncthreads()
        for row in range(0, rows, TILE):
            for col in range(0, TILE, step):
                row, col = index(row), index(col)
                dst[left + y + col, top + x + row] = tile[x + row, y + col]
    return transpose_several


count(make_several(128, 32), blocks=(6, 1)).assert_no_bank_conflicts()
count(make_several(32, 8), threads=(32, 8)).assert_no_bank_conflicts()

# %% [markdown]
# One of the two loops of the store runs only once: with a high tile the one over `col`, with a small block the one over `row`.
# The compiler puts a thread's four loads before its first store to the tile.
#
# For four elements per thread, either a block of 1,024 threads takes a tile four times as high, or a block of 256 threads keeps the old tile.
# First the high tile: with signed indices, so that fewer instructions cannot be the reason, and with unsigned ones. Then the smaller block.

# %% tags=["timing"]
times["4 each, signed"] = clock(make_several(128, 32, int64), (128, 32))
times["4 each"] = clock(make_several(128, 32), (128, 32))
times["256 threads"] = clock(make_several(32, 8), threads=(32, 8))


def barrier_cycles(m):
    """How many cycles a warp of 4 elements per thread waits at its barrier."""
    waiting = m.counters.get("stalls", {}).get("barrier", np.nan)
    return waiting * m.counters.get("instructions", np.nan) / (N * N / 128)


print(table(["rung", "a warp waits at its barrier, cycles", "warps held, %"],
            [(name, barrier_cycles(times[name]),
              times[name].counters.get("occupancy_percent"))
             for name in ("4 each", "256 threads")]))
busy(["padded, unsigned", "4 each, signed", "4 each", "256 threads"])

# %% [markdown]
# With four elements per thread the time falls by 42%, although *more* instructions are executed.
# One wait now serves four elements, and memory is 65% busy instead of 38%.
# Unsigned indices then save another 6%, and smaller blocks 6% more: a warp waits 24% less at its barrier, and the multiprocessor stays fuller, 94% instead of 91%.
#
# ## Wide loads
#
# `load4(src, (row, col))` loads four neighbours of a row in one request, at an address that is a multiple of 16 bytes, and `store4` stores four.
# **Load four neighbours of a row at once, store four of a column.**
# A tile of 32 × 32 takes one load per thread, a tile of 64 × 64 four.

# %%
def make_wide(side, width, down=False):
    """Through tiles of `side` × `side`, by blocks of 8 × 32 threads."""
    @cuda.jit
    def transpose_wide(dst, src):
        """Load four neighbours of a row at once, store four of a column."""
        tile = cuda.shared.array((side, width), float32)
        x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        left = uint32(side * cuda.blockIdx.x)
        top = uint32(side * cuda.blockIdx.y)
        left, top = (top, left) if down else (left, top)
        for k in range(0, side, TILE):
            for m in range(0, side, TILE):
                row, col = uint32(y + k), uint32(x + m)
                (tile[row, col], tile[row, col + 1], tile[row, col + 2],
                 tile[row, col + 3]) = load4(src, (top + row, left + col))
        cuda.syncthreads()
        for k in range(0, side, TILE):
            for m in range(0, side, TILE):
                row, col = uint32(x + k), uint32(y + m)
                store4(dst, (left + col, top + row),
                       (tile[row, col], tile[row + 1, col],
                        tile[row + 2, col], tile[row + 3, col]))
    return transpose_wide


# %%
for side, down in (32, False), (64, False), (64, True):
    blocks = (128 // side, 192 // side) if down else (192 // side, 128 // side)
    run = count(make_wide(side, side + 1, down), blocks, (8, 32))
    run.assert_no_bank_conflicts()

column = [(4 * (lane % 8), lane // 8) for lane in range(32)]
plot_tile_banks(bank(33), column, padding=1)

# %% [markdown]
# The outlined cells are what a warp reads at once, the first of its four reads.
# A warp is 8 lanes wide and 4 high here, so it takes every fourth element of four columns: 32 lanes, 32 banks.
#
# ## Side by side in memory
#
# Finally, vary which tile a block takes.
# CUDA promises no order of blocks, but an H200 starts them roughly row by row of the grid: 192 × 192 blocks started 549 places off that order on average.
# So the blocks that run at one time load from a few rows of tiles, side by side, and store to rows of `dst` that lie far apart.
# With `down`, a row of the grid goes down a column of tiles, and the *stores* lie side by side.

# %% tags=["timing"]
times["16 bytes a load"] = clock(make_wide(32, 33), threads=(8, 32))
times["4 × 16 bytes"] = clock(make_wide(64, 65), (64, 64), (8, 32))
times["down"] = clock(make_wide(64, 65, True), (64, 64), (8, 32), down=True)

print(requested(["4 × 16 bytes", "down"]))
busy(["256 threads", "16 bytes a load", "4 × 16 bytes", "down"])

# %% [markdown]
# - *16 bytes a load* loads and stores four times as much at once, by blocks of another shape. It executes 29% fewer instructions in the same time: only 25% of the issue slots were used before.
# - *4 × 16 bytes* loads four times as much before it waits, by larger tiles and a quarter of the blocks. It saves 8%: memory is 81% busy, and 32% of the waiting is now for the queue to shared memory.
# - *down* saves 4% more. Memory moves as many bytes, 1.18 GB, in less time. No counter here tells why stores should lie side by side rather than loads.

# %% tags=["timing"]
ladder = ["naive", "tile", "padded", "padded, unsigned", "4 each",
          "256 threads", "16 bytes a load", "4 × 16 bytes", "down"]
rungs = [times[name] for name in ladder]

plot_times(ladder, [m.median_us for m in rungs],
           spread_us=[(m.lower_us, m.upper_us) for m in rungs],
           limit_us=2 * src.nbytes / rungs[-1].copy_gb_per_s / 1e3,
           limit_label="the driver's copy")

# %% [markdown]
# Each bar takes one step from the bar above it; the steps from *4 each* to *4 × 16 bytes* change more than one thing.
# The dashed line is the time in which the driver copies as many bytes; the last rung takes 2% longer.
#
# ## Any size
#
# So far the tiles fit exactly.
# With other sizes some tiles hang over the edge, and each side needs a guard of its own: a load asks whether it is inside `src`, a store whether it is inside `dst`.
# **Load what there is of a tile, wait, store what there is.**

# %%
@cuda.jit
def transpose_any(dst, src):
    """Load what there is of a tile, wait, store what there is."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    if top + y < src.shape[0] and left + x < src.shape[1]:
        tile[y, x] = src[top + y, left + x]
    cuda.syncthreads()
    if left + y < dst.shape[0] and top + x < dst.shape[1]:
        dst[left + y, top + x] = tile[x, y]


def turn(kernel, src):
    """Emulate a transpose in enough blocks, and check it."""
    dst = np.full(src.shape[::-1], np.nan, np.float32)
    grid = [-(-side // TILE) for side in src.shape[::-1]]   # rounded up
    run = emulate(kernel)[tuple(grid), (TILE, TILE)](dst, src)
    check(dst, src.T)
    return run


for shape in (1, 1), (33, 1), (128, 192), (70, 45):
    ragged = turn(transpose_any, random.random(shape, dtype=np.float32))
ragged

# %% [markdown]
# The barrier stays outside both guards: every thread must reach it.
# And a ragged matrix costs sectors that no guard saves, because most of its rows begin within a sector.
#
# ## What could go wrong
#
# Without the barrier, a warp may read a column before the other warps have written it.

# %%
@cuda.jit
def transpose_hasty_wrong(dst, src):
    """Load a tile by rows and store its columns at once."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    tile[y, x] = src[top + y, left + x]
    dst[left + y, top + x] = tile[x, y]


out = np.zeros((192, 128), np.float32)
emulate(transpose_hasty_wrong)[(6, 4), (32, 32)](out, small).races

# %% [markdown]
# Here the padding is declared but not used: the cells are there, but the rows still begin 32 elements apart.

# %%
@cuda.jit
def transpose_unpadded_wrong(dst, src):
    """Load a tile by rows into flat memory, and store its columns."""
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
# The answer is right; only the count tells.
#
# And this kernel does not transpose at all, but the first test passes, because its matrix is its own transpose:

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
# Test with random numbers, and with sides of different length that are no multiples of the tile's.
#
# ## What changed

# %% tags=["timing"]
changes = ("", "a tile in shared memory", "a column of padding",
           "unsigned indices", "a tile 4 times as high",
           "smaller blocks, the old tile", "wide loads and stores",
           "a tile of 64 × 64", "which tile a block takes")

table(["rung", "what changed", "time, µs", "% of the driver's copy's rate",
       "warps wait most for"],
      [(name, change, m.median_us, 100 * m.share_of_copy,
        next(iter(m.waits), ""))
       for name, change, m in zip(ladder, changes, rungs, strict=True)])

# %% [markdown]
# The first two changes remove what the emulator counts. After them every count is ideal, and the kernel still takes 2.5 times as long as the driver's copy.
# What helps most from there is to load more before each wait, which only the clock and the hardware's counters show.
#
# ## On your own
#
# ★ Does one column of padding still help in a tile of `float64`? Guess, then import `float64` from numba, change the type of the tile in `make_tiled`, and ask `emulate`.
#
# <details><summary>Answer</summary>
#
# Yes. Without it a column's load takes 32 wavefronts, with it 2, and fewer are impossible for 256 bytes.
#
# </details>
#
# ★★ `rotate`: turn a matrix of any size by a quarter, clockwise, as `np.rot90(src, -1)` does, as well coalesced as a copy and without a bank conflict.

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
#
# ★★★ `exercise("wide_turn")`: transpose with four elements in each load and store, where the sides are any multiples of four.
#
# The [assignment](assignments/21_transpose.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# The driver's copy is the limit only while the matrix is larger than the caches.
#
# `transpose_wide` needs sides that are multiples of its tile's, and arrays that begin at a multiple of 16 bytes, as whole arrays do. With the guards of `transpose_any`, sides may be any multiples of four.
#
# The order in which blocks start is the GPU's own affair: use it for speed, as `down` does, never for the result.
#
# The best transpose is often none: a kernel that loads through a tile can take a matrix in either layout, and libraries have a flag for it.
#
# ## Further reading
#
# - [An efficient matrix transpose in CUDA C/C++](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): the first rungs, as NVIDIA explained them in 2013.
#
# *Next:* [Use a number again while it is near](22_tiling.ipynb): here each element is used once; what does a tile save where each is used a thousand times?
