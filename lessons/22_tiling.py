# %% [markdown]
# # Use a number again while it is near
#
# *30 minutes*
#
# **What you'll do:** multiply two 4 × 4 matrices in 2 × 2 tiles, first by hand, then by a kernel, and find out what the tiles save and how fast a kernel can be at all.
#
# **What you'll learn:**
#
# - follow a tile through both matrices: which thread loads what, and which partial sums exist
# - say how often each element is loaded, from the size of the tile alone
# - read a roofline: whether memory or arithmetic holds a kernel back
#
# **What you'll need:** tiles in [shared memory](13_shared_memory.ipynb) and both [barriers](15_barriers_and_races.ipynb) of a loop.

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, expect, explore,
                     plot_grid_2d, plot_intervals, plot_reuse, plot_roofline,
                     plot_tile_walk, table)

device

# %% [markdown]
# ## One number, many readers
#
# The product of two matrices has at row `i`, column `j` the sum of `a[i, k] * b[k, j]` over all `k`.
# **Each thread makes one element of the product.**

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
# Four blocks of 2 × 2 threads, and an element of `c` for each thread.
# A block makes a tile of `c`.
#
# **Predict.** How often is each element of `a` loaded?
#
# <details><summary>Answer</summary>
#
# `a[i, k]` is wanted for every element in row `i` of `c`.
# There are four of them, each with a thread of its own: four times.
#
# </details>

# %%
plot_reuse(naive.reuse["a"].loads, "a")

# %% [markdown]
# In an n × n product each element is loaded n times, 1,024 times if the matrices are 1024 × 1024.
# The threads that load it do not know of one another.
# How many of these loads can be spared, and how much faster can the product be for it?

# %% [markdown]
# ## Both threads of a row want it
#
# Take the block at the top left.
# Its threads (0, 0) and (0, 1) make the first two elements of row 0; both want all of row 0 of `a`.
# Its threads (0, 0) and (1, 0) both want all of column 0 of `b`.
#
# So let the block fetch a tile of `a` and a tile of `b` together, an element a thread, and let all four use them.
# Then let the tiles walk on: that of `a` to the right, that of `b` downwards.

# %%
plot_tile_walk(step=0, n=4, tile=2)

# %% [markdown]
# In a blue cell is the thread that loads it, as row and column in the block.
# From these eight numbers each thread has two products of its sum, those with `k` of 0 and 1.
# They are all that the two tiles can give; so the block moves on.

# %%
plot_tile_walk(step=1, n=4, tile=2)

# %% [markdown]
# Now the sums have all four products, and the block is done.
# Each thread loaded 2 elements of each matrix in place of 4.
#
# By hand, for the element at row 0, column 0:

# %%
first = a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0]
second = a[0, 2] * b[2, 0] + a[0, 3] * b[3, 0]

float(first), float(first + second), float((a @ b)[0, 0])

# %% [markdown]
# And the same for whole tiles: a product of tiles is added to the block's tile of `c`, step by step.

# %%
steps = [a[:2, 2 * t:2 * t + 2] @ b[2 * t:2 * t + 2, :2] for t in range(2)]

check(sum(steps), (a @ b)[:2, :2])

# %% [markdown]
# Walk through it with other blocks, and with other tiles of an 8 × 8 product.

# %%
def walk(step=0, row=0, col=1, tile=2):
    """A step of a block through the matrices of an 8 × 8 product."""
    last = 8 // tile - 1
    block = min(row, last), min(col, last)
    return plot_tile_walk(min(step, last), 8, tile, block)


explore(walk, step=(0, 3), row=(0, 3), col=(0, 3), tile=[2, 4])

# %% [markdown]
# ## The walk as a kernel
#
# **Step by step, bring a tile of each matrix, wait, add its products, wait.**

# %%
def make_tiled(size, before=True, after=True):
    """A product in tiles, with or without each of its two barriers."""
    @cuda.jit
    def multiply_tiled(c, a, b):
        """Step by step, bring a tile of each, wait, add products, wait."""
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
# The loop over `at` is the walk; the loop over `k` adds what a step can give.
# The numbers of `k` in the figure are `at + k` here.

# %%
plot_reuse(tiled.reuse["a"].loads, "a")

# %% [markdown]
# Twice in place of four times: an element is loaded once for each *block* in its row, no longer for each thread.

# %% [markdown]
# ## From n to n / tile
#
# **Predict.** How often is each element loaded in a 64 × 64 product, with tiles of 8, 16 and 32?
#
# <details><summary>Answer</summary>
#
# A row of `c` has 64 elements, so 64 / 8 = 8 blocks, then 4, then 2.
#
# </details>

# %%
N = 64
random = np.random.default_rng(0)
large_a, large_b = random.random((2, N, N), dtype=np.float32)
large_c = np.zeros((N, N), np.float32)


def count(kernel, size):
    """Emulate a product of 64 × 64 and check it."""
    blocks = (N // size, N // size)
    run = emulate(kernel)[blocks, (size, size)](large_c, large_a, large_b)
    check(large_c, large_a @ large_b)
    return run


runs = {"no tile": count(multiply, 16)}
runs |= {f"tile {size}": count(make_tiled(size), size) for size in (8, 16, 32)}
{name: int(run.reuse["a"].loads.max()) for name, run in runs.items()}

# %% [markdown]
# From n times to n / tile times, for `a` and for `b`.
# Four times as many threads work together in a tile of twice the side, and the loads are half.

# %% [markdown]
# ## Operations for each byte
#
# How much work is done for each byte that is asked of global memory?
# That number is the **arithmetic intensity** of a kernel.
# A step of the sum is two operations, a product and a sum.

# %%
def intensity(run):
    """Operations for each byte that the loads ask for."""
    asked = run.reuse["a"].bytes_asked + run.reuse["b"].bytes_asked
    return 2 * N**3 / asked


table(["kernel", "loads of an element", "operations a byte"],
      [(name, run.reuse["a"].loads.mean(), intensity(run))
       for name, run in runs.items()])

# %% [markdown]
# Without a tile: two loads of 4 bytes for two operations, 0.25.
# With a tile of 32 it is 32 times as many, 8.
#
# ## The roofline
#
# A GPU has a limit of operations a second, and a limit of bytes that it moves a second.
# A kernel that does few operations for each byte waits for bytes; one that does many waits for arithmetic.
# Whichever is less is its limit: intensity times bandwidth, or the peak.

# %%
plot_roofline({name: (intensity(run), None) for name, run in runs.items()})

# %% [markdown]
# That is the **roofline** of an H200.
# A ring is where a kernel would be if each of its loads went to memory; no tile here comes to the flat part.
# Doubling the side of the tile doubles the limit.
#
# Two things stand between a ring and the truth.
# Caches serve many of the loads, so a kernel may be *above* its ring.
# And what a kernel does besides, loads of the tile, indices, barriers, takes instructions: it may be far *below*.
# A roofline says what cannot be exceeded without a cache's help, not what will be reached.

# %% [markdown]
# How many operations for each byte could there be at most, if every element were loaded only once?

# %%
def best_intensity(n):
    """Operations a byte of an n × n product that loads each element once."""
    return 2 * n**3 / (2 * 4 * n**2)


{n: best_intensity(n) for n in (64, 1024, 4096)}

# %% [markdown]
# At 1024 × 1024 it is 256, far to the right of the bend.
# A product is limited by arithmetic, if it is done well.

# %% [markdown]
# ## What could go wrong
#
# Each of the two barriers left out, and what the report says.

# %%
count_racy = emulate(make_tiled(8, before=False))[(2, 2), (8, 8)]
count_racy(large_c, large_a, large_b).races[0]

# %%
count_racy = emulate(make_tiled(8, after=False))[(2, 2), (8, 8)]
count_racy(large_c, large_a, large_b).races[0]

# %% [markdown]
# Without the first, a thread adds up numbers that nobody brought yet.
# Without the second, a fast warp brings the next tile while a slow one still adds up this one: two steps of the walk share an interval.

# %%
bring = [[("store", thread)] for thread in range(4)]
use = [[("load", thread ^ 1)] for thread in range(4)]
both = [mine + next_ for mine, next_ in zip(use, bring, strict=True)]

plot_intervals([bring, both, use])

# %% [markdown]
# The other classic mistake leaves no trace in a result, if you are unlucky.
# **Take the tile of `b` by rows, as if it were that of `a`.**

# %%
@cuda.jit
def multiply_swapped_wrong(c, a, b):
    """Each thread adds up a row of a times a row of b."""
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[col, k]
    c[row, col] = total


symmetric = large_b + large_b.T
run = emulate(multiply_swapped_wrong)[(4, 4), (16, 16)](
    large_c, large_a, symmetric)
check(large_c, large_a @ symmetric)

# %%
emulate(multiply_swapped_wrong)[(4, 4), (16, 16)](large_c, large_a, large_b)

with expect(AssertionError):
    check(large_c, large_a @ large_b)

# %% [markdown]
# For a symmetric `b` rows are columns.
# Identity matrices and matrices of ones are symmetric, and are what people test with.

# %% [markdown]
# ## What changed
#
# | version | who loads an element | loads of an element | operations a byte |
# |---|---|---|---|
# | `multiply` | each thread that wants it | n | 1 / 4 |
# | `make_tiled(s)` | each block that wants it | n / s | s / 4 |
# | the least possible | someone, once | 1 | n / 4 |

# %% [markdown]
# ## On your own
#
# ★ Write down the walk of block (1, 1) in a 6 × 6 product with tiles of 3: which elements does thread (2, 0) load, and which products are in its sum after each step? Check it with `plot_tile_walk(step, 6, 3, (1, 1))`.
#
# ★★★ `wide_tile`: a tile need not be square. Make it longer along `k`, and a block waits less often.

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

# %% [markdown]
# ★★★ `exercise("two_rows")`: each thread makes two elements of `c`. How often is each element of `b` loaded then?
#
# The [assignment](assignments/22_tiling.ipynb) has 6 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# The roof is the data sheet's: no kernel reaches quite as much of either.
#
# Intensity is here counted by the bytes that loads ask for. Counted by the bytes that reach memory it is higher, by what caches hold, and a profiler can tell both.
#
# A tile of 32 × 32 threads is as large as a block can be. To go further up, a thread must make more than one element.

# %% [markdown]
# ## Further reading
#
# - [Roofline: an insightful visual performance model](https://doi.org/10.1145/1498765.1498785), by Williams, Waterman and Patterson: where the picture comes from.
#
# *Next:* [Multiply matrices of any size](23_matrix_product.ipynb): how much of this does a GPU give you, with ragged edges and against a library?
