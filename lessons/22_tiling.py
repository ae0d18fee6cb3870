# %% [markdown]
# # Use a number again while it is near
#
# *35 minutes*
#
# **What you'll do:** multiply two 4 × 4 matrices in 2 × 2 tiles, first by hand, then in a kernel. Then count and measure at 1024 × 1024 what the tiles save, and where.
#
# **What you'll learn:**
#
# - follow a tile through both matrices: which thread loads which element, and which products are in each sum after each step
# - compute from the size of a tile how often each element is loaded
# - say which bytes an arithmetic intensity counts, and read a roofline with it
#
# **What you'll need:** tiles in [shared memory](13_shared_memory.ipynb) and the [barriers](15_barriers_and_races.ipynb) of a loop.

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, expect, explore,
                     measure, plot_grid_2d, plot_reuse, plot_roofline,
                     plot_row_times_column, plot_tile_cycle,
                     plot_tile_walk, table)

device

# %% [markdown]
# ## Row times column
#
# The element of a product at row 0 and column 0 takes row 0 of the first matrix and column 0 of the second:

# %%
plot_row_times_column(row=0, col=0)

# %% [markdown]
# Four pairs, four products, one sum.
# In general, `c[row, col]` is the sum of `a[row, k] * b[k, col]` over all `k`.
# **Each thread makes one element of the product.**
#
# An element is [row, column], as in NumPy.
# A thread is (x, y), as in CUDA: x counts along a row, y down a column.
# So thread (x, y) of the first block makes `c[y, x]`.

# %%
@cuda.jit
def multiply(c, a, b):
    """Each thread makes one element of the product."""
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


a = np.arange(16, dtype=np.float32).reshape(4, 4)
b = np.arange(16, 32, dtype=np.float32).reshape(4, 4)
c = np.zeros((4, 4), np.float32)

naive = emulate(multiply)[(2, 2), (2, 2)](c, a, b)
check(c, a @ b)

# %%
plot_grid_2d((2, 2), (2, 2), (4, 4))

# %% [markdown]
# Four blocks of 2 × 2 threads, and one thread for each element of `c`.
#
# **Predict.** How often is each element of `a` loaded?
#
# <details><summary>Answer</summary>
#
# Four times: row 0 of `c` has four elements, each has a thread of its own, and each of these threads needs all of row 0 of `a`.
#
# </details>

# %%
plot_reuse(naive.reuse["a"].loads, "a")

# %% [markdown]
# In an n × n product each element is loaded n times: 1,024 times at 1024 × 1024.
# How many of these loads can the threads of a block save each other, and does the product become faster by as much?

# %% [markdown]
# ## A block shares rows and columns
#
# Look at the block at the top left.
# Its threads (0, 0) and (1, 0) make `c[0, 0]` and `c[0, 1]`: both need row 0 of `a`.
# Its threads (0, 0) and (0, 1) make `c[0, 0]` and `c[1, 0]`: both need column 0 of `b`.
#
# So the block loads a tile of `a` and a tile of `b` into shared memory, one element of each per thread, and all four threads use both tiles.
# Then the tiles move on: the tile of `a` to the right, the tile of `b` down.

# %%
plot_tile_walk(step=0, n=4, tile=2)

# %% [markdown]
# A blue cell names the thread (x, y) that loads it; an orange cell names the `k` whose products are in its sum after the step.
# From these eight numbers each thread computes two products, those with `k` of 0 and 1.
# The tiles hold nothing more for this block, so they move on.

# %%
plot_tile_walk(step=1, n=4, tile=2)

# %% [markdown]
# Now each sum has all four products.
# Each thread loaded 2 elements of each matrix instead of 4.
# The sum is the same as before, in two steps:

# %%
first = a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0]
second = a[0, 2] * b[2, 0] + a[0, 3] * b[3, 0]

check(first + second, (a @ b)[0, 0])
plot_row_times_column(row=0, col=0, tile=2)

# %% [markdown]
# The same four products as before, added in two steps of two.
# Now follow one of four blocks through an 8 × 8 product: move the sliders.

# %%
def walk(step=0, block_x=1, block_y=0, tile=2):
    """A step of a block through the matrices of an 8 × 8 product."""
    last = 8 // tile - 1
    return plot_tile_walk(min(step, last), 8, tile, (block_x, block_y))


explore(walk, step=(0, 3), block_x=[0, 1], block_y=[0, 1], tile=[2, 4])

# %% [markdown]
# Tiles of 2 take four steps, tiles of 4 take two. A block stays in its rows of A and in its columns of B.
#
# ## The walk as a kernel
#
# **Step by step, load a tile of each matrix, wait, add, wait.**

# %%
def make_tiled(size, before=True, after=True):
    """A product in tiles, with or without each of its two barriers."""
    @cuda.jit
    def multiply_tiled(c, a, b):
        """Step by step, load a tile of each matrix, wait, add, wait."""
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for at in range(0, a.shape[1], size):
            tile_a[y, x] = a[row, at + x]
            tile_b[y, x] = b[at + y, col]
            if before:
                cuda.syncthreads()
            for k in range(size):
                total += tile_a[y, k] * tile_b[k, x]
            if after:
                cuda.syncthreads()
        c[row, col] = total
    return multiply_tiled


# %%
c[:] = 0
tiled = emulate(make_tiled(2))[(2, 2), (2, 2)](c, a, b)
check(c, a @ b)
tiled.assert_no_races(minor=True)

# %% [markdown]
# The loop over `at` moves the tiles; the loop over `k` adds the products of one step.
# The `k` in the figures above is `at + k` here.
#
# This is what the warps of a larger block do meanwhile:

# %%
plot_tile_cycle(steps=2, warps=4)

# %% [markdown]
# Time runs to the right; the lengths are made up, the order is not.
# At the first barrier of a step each warp waits until the tiles are complete.
# At the second it waits until no warp needs them any more.
# A multiprocessor that holds several blocks can run another one while this one waits.
#
# ## From n to n / tile
#
# **Predict.** How often is each element loaded in a 64 × 64 product, with tiles of 8, 16 and 32?
#
# <details><summary>Answer</summary>
#
# Once for each block that needs it, no longer once for each thread.
# A row of `c` has 64 elements, which is 64 / 8 = 8 blocks, then 4, then 2.
#
# </details>

# %%
N = 64
random = np.random.default_rng(0)
small_a, small_b = random.random((2, N, N), dtype=np.float32)
small_c = np.zeros((N, N), np.float32)


def count(kernel, size):
    """Emulate a product of 64 × 64 in blocks of a size, and check it."""
    blocks = (N // size, N // size)
    run = emulate(kernel)[blocks, (size, size)](small_c, small_a, small_b)
    check(small_c, small_a @ small_b)
    return run


runs = {"no tile": count(multiply, 32)}
runs |= {f"tile {size}": count(make_tiled(size), size) for size in (8, 16, 32)}
{name: int(run.reuse["a"].loads.max()) for name, run in runs.items()}

# %% [markdown]
# A tile of twice the side needs four times as many threads and halves the loads.
#
# ## The clock
#
# Now clock a 1024 × 1024 product in blocks of 8 × 8, 16 × 16 and 32 × 32, without and with a tile.
#
# The comparison needs a good loop on both sides, but `for k in range(...)` costs the kernel without a tile two thirds of its time, and a tiled one nothing, as [the next lesson](23_matrix_product.ipynb) measures.
# So here is a version with a `while` loop, and with the same loads and products.
# **Each thread makes one element, in a `while` loop.**

# %%
@cuda.jit
def multiply_while(c, a, b):
    """Each thread makes one element, in a `while` loop."""
    col, row = cuda.grid(2)
    k, total = 0, float32(0)
    while k < a.shape[1]:
        total += a[row, k] * b[k, col]
        k += 1
    c[row, col] = total


count(multiply_while, 32)

# %% tags=["timing"]
SIDE = 1024
FLOPS = 2 * SIDE**3
wide_a, wide_b = random.random((2, SIDE, SIDE), dtype=np.float32)
wide_c = np.zeros((SIDE, SIDE), np.float32)


def clock(kernel, size):
    """Measure a product of 1024 × 1024 in blocks of a size."""
    blocks = (SIDE // size, SIDE // size)
    return measure(kernel, flops=FLOPS)[blocks, (size, size)](
        wide_c, wide_a, wide_b)


sizes = 8, 16, 32
with_range = clock(multiply, 32)
without = {size: clock(multiply_while, size) for size in sizes}
tiles = {size: clock(make_tiled(size), size) for size in sizes}

table(["block", "no tile, µs", "tile, µs", "times as fast"],
      [(name, one.median_us, two.median_us, one.median_us / two.median_us)
       for name, one, two in (
           *((f"{s} × {s}", without[s], tiles[s]) for s in sizes),
           ("32 × 32, range", with_range, tiles[32]))])

# %% [markdown]
# The tile of 32 × 32 removes 31 of 32 loads, and makes the kernel 1.9 times as fast.
# (Against `range` it would be 5.9 times as fast, but most of that is not the tile's.)
# Fewer loads are not all that changed: the compiler knows the indices of the tile's inner loop, and a warp needs 3.7 instructions for 32 products instead of 7.8. The next lesson compares both with better loops.
#
# Which loads were those?
# A load asks L1; what L1 lacks comes from L2, and what L2 lacks from memory.
# The GPU counts what is requested from each level:

# %% tags=["timing"]
def loaded(it):
    """The MB that loads requested from L1, from L2 and from memory."""
    counts = it.counters.get
    return (counts("global_load_sectors", np.nan) * 32 / 1e6,
            counts("l2_read_sectors", np.nan) * 32 / 1e6,
            counts("memory_read_bytes", np.nan) / 1e6)


table(["block", "kernel", "requested from L1, MB", "from L2, MB",
       "from memory, MB"],
      [(f"{s} × {s}", name, *loaded(them[s])) for s in sizes
       for name, them in (("no tile", without), ("tile", tiles))])

# %% [markdown]
# The threads of the kernel without a tile load 8,590 MB: two numbers of 4 bytes for each product.
# In blocks of 32 × 32 they request 5,369 MB from L1: the lanes of a warp load one element of `a` together, and this broadcast is a single sector.
# The tile of 32 leaves a twentieth of that.
#
# But L2 is asked for about as much with a tile as without: L1 answers 96% of those 5,369 MB itself.
# And memory reads 8.4 MB each time: both matrices, once.
#
# So here the tile saves no memory traffic; it saves requests to L1.
# Loads from shared memory take their place, and use L1's data path as well.

# %% [markdown]
# ## Operations for each byte
#
# The operations that a kernel does for each byte are its **arithmetic intensity**: always say at which level.
# For each `k`, a warp does 64 operations: 32 products and 32 sums. Without a tile it asks L1 for 5 sectors to do so, which is 0.4 operations per byte. Per byte of memory's 8.4 MB it is 256.
#
# A GPU has a peak of operations per second, given in GFLOP/s, billions of them, and memory a limit of bytes per second.
# A kernel can reach at most the lower of the peak and its intensity times the bandwidth.
# Drawn for all intensities, that is the **roofline**:

# %% tags=["timing"]
def intensity(it):
    """Operations per byte requested from L1, and per byte from memory."""
    l1, _, memory = loaded(it)
    return FLOPS / 1e6 / l1, FLOPS / 1e6 / memory


points = {}
for name, it in ("no tile", without[32]), ("tile 32", tiles[32]):
    of_l1, of_memory = intensity(it)
    points[f"{name}, if nothing were cached"] = of_l1, None
    points[name] = of_memory, it.gflop_per_s
plot_roofline(points)

# %% [markdown]
# A diamond is a measured kernel, at the bytes that memory really read.
# Both lie far to the right of the corner, which is at 14 operations per byte. So memory's *bandwidth* does not hold them back: it is less than 1% busy. They may still wait for single loads to arrive.
# A ring is the limit if each byte requested from L1 came from memory.
# The kernel without a tile reaches 4,256 GFLOP/s, more than twice the 1,920 of its ring: it could not, without caches.
#
# What does hold the two back?

# %% tags=["timing"]
def busy(it):
    """Counters of a kernel, and what its warps wait for most."""
    counts = {name: it.counters.get(name, np.nan) for name in (
        "l1_data_percent", "cycles", "memory_percent", "instructions")}
    stalls = {name: count for name, count in it.counters.get(
        "stalls", {}).items() if name not in ("selected", "not_selected")}
    waits = [name for name in it.waits if name != "a turn to issue"]
    path, cycles, memory, instructions = counts.values()
    return (path, path / 100 * cycles / 1000, memory,
            instructions / (SIDE**3 / 32), 100 * stalls.get(
                "long_scoreboard", np.nan) / sum(stalls.values(), 1e-9),
            waits[0] if waits else "")


table(["block", "kernel", "L1/shared data path busy, %",
       "the same, thousand cycles", "memory busy, %",
       "instructions for 32 products", "waits for loads, %",
       "warps wait most for"],
      [(f"{s} × {s}", name, *busy(them[s])) for s in sizes
       for name, them in (("no tile", without), ("tile", tiles))])

# %% [markdown]
# (A wait for its turn is left out: such a warp could issue, but another one does.)
# Without a tile, at least 83% of the waits are for loads.
# In blocks of 8 × 8 these keep L1's data path 92% busy. In blocks of 32 × 32 they keep it only 51% busy, so neither the path nor memory is at its limit: the warps wait for single loads to arrive.
#
# With a tile the path has 40% less to do at 8 × 8, and only 18% less at 32 × 32.
# With a tile of 32, a sixth of the waits are for loads, and half for room in the queue to shared memory, from which each product still takes both of its numbers.

# %% [markdown]
# ## What could go wrong
#
# Leave out one barrier, then the other, and read the reports.

# %%
for barriers in {"before": False}, {"after": False}:
    racy = emulate(make_tiled(8, **barriers))[(2, 2), (8, 8)]
    print(racy(small_c, small_a, small_b).races[0])

# %% [markdown]
# Without the first, a thread may use numbers that are not there yet.
# Without the second, a fast warp may load the next tile while a slow one still uses this one.
#
# The other classic mistake does not show in the result if you test with the wrong matrix.
# **Each thread multiplies a row of a by a row of b.**

# %%
@cuda.jit
def multiply_swapped_wrong(c, a, b):
    """Each thread multiplies a row of a by a row of b."""
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[col, k]
    c[row, col] = total


swapped = emulate(multiply_swapped_wrong)[(4, 4), (16, 16)]
symmetric = small_b + small_b.T
swapped(small_c, small_a, symmetric)
check(small_c, small_a @ symmetric)

swapped(small_c, small_a, small_b)
with expect(AssertionError):
    check(small_c, small_a @ small_b)

# %% [markdown]
# In a symmetric `b`, each row equals the column of the same number.
# Identity matrices and matrices of ones are symmetric, and popular in tests.
#
# ## What changed
#
# | version | who loads an element | loads of an element | operations per byte requested from L1 |
# |---|---|---|---|
# | `multiply` | each thread that needs it | n | 0.4 to 0.5 |
# | `make_tiled(s)` | each block that needs it | n / s | s / 4 |
# | the least possible | one thread, once | 1 | n / 4 |

# %% [markdown]
# ## On your own
#
# ★ Block (1, 1) walks through a 6 × 6 product with tiles of 3. Which elements does its thread (2, 0) load, and which products are in its sum after each step? Check it with `plot_tile_walk(step, 6, 3, (1, 1))`.
#
# <details><summary>Answer</summary>
#
# It makes `c[3, 5]`. Step 0: it loads `a[3, 2]` and `b[0, 5]`; then its sum has the products of `k` = 0 to 2. Step 1: `a[3, 5]` and `b[3, 5]`; then it has all six.
#
# </details>
#
# ★★★ `wide_tile`: make the tiles longer along `k`, and a block waits less often.
#
# ★★★ `exercise("two_rows")`: each thread makes two elements of `c`. How often is each element of `b` loaded then?
#
# <details><summary>Answer</summary>
#
# Half as often: a block serves twice as many rows of `c`.
#
# </details>

# %%
task = exercise("wide_tile")
task

# %%
TILE, WIDE = 8, 16


@cuda.jit
def wide_tile(c, a, b):
    """Each thread makes one element of the product."""
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


task.check(wide_tile)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# TILE, WIDE = 8, 16
#
#
# @cuda.jit
# def wide_tile(c, a, b):
#     """Each thread makes one element of the product."""
#     tile_a = cuda.shared.array((TILE, WIDE), float32)
#     tile_b = cuda.shared.array((WIDE, TILE), float32)
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     col, row = cuda.grid(2)
#     total = float32(0)
#     for at in range(0, a.shape[1], WIDE):
#         for part in range(0, WIDE, TILE):
#             tile_a[y, part + x] = a[row, at + part + x]
#             tile_b[part + y, x] = b[at + part + y, col]
#         cuda.syncthreads()
#         for k in range(WIDE):
#             total += tile_a[y, k] * tile_b[k, x]
#         cuda.syncthreads()
#     c[row, col] = total
# ```
#
# Each element is loaded as often as with tiles of 8 × 8, and a block waits at half as many barriers.
#
# </details>
#
# The [assignment](assignments/22_tiling.ipynb) has 6 exercises.

# %% [markdown]
# ## In practice
#
# The roof is drawn from the data sheet; the driver's copy reaches 86% of its sloping part.
#
# Profilers draw a roofline for each level. Ask which bytes an intensity counts before you compare two.
#
# A block has at most 1,024 threads, so a tile with one element for each thread ends at 32 × 32. To reuse numbers further, a thread must make several elements, and keep their numbers in registers.
#
# A tile can do more than relieve L1: in a [transpose](21_transpose.ipynb) it makes scattered requests coalesced.

# %% [markdown]
# ## Further reading
#
# - [Roofline: an insightful visual performance model](https://doi.org/10.1145/1498765.1498785), by Williams, Waterman and Patterson: where the picture comes from.
#
# *Next:* [Multiply matrices of any size](23_matrix_product.ipynb): how fast is a tiled product of any size beside a library's, and what is wrong with `range`?
