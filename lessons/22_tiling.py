# %% [markdown]
# # Use a number again while it is near
#
# *85 minutes*
#
# **What you'll do:** multiply two small matrices in tiles, first by hand, then in a kernel. Then find out for large ones what the tiles save, and what they do not.
#
# **What you'll learn:**
#
# - follow a tile through both matrices: which thread loads which element, and which products are in each sum after each step
# - compute from the size of a tile how often each element is loaded
# - compute operations for each byte, say which bytes you mean, and read a roofline
# - tell what a tile takes from L1's data path, and what it gives back to it
#
# **What you'll need:** tiles and the data path, as in [Use a tile where it pays](13_shared_memory.ipynb), [banks](14_bank_conflicts.ipynb), and the [barriers](15_barriers_and_races.ipynb) of a loop.

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (check, compare, device, emulate, exercise, expect,
                     explore, measure, plot_grid_2d, plot_reuse,
                     plot_roofline, plot_row_times_column, plot_tile_cycle,
                     plot_tile_walk)

device

# %% [markdown]
# ## Row times column
#
# The element `[0, 0]` of a product takes the first row of the first matrix and the first column of the second:

# %%
plot_row_times_column(row=0, col=0)

# %% [markdown]
# Four pairs, four products, one sum.
# In general, `c[row, col]` is the sum of `a[row, k] * b[k, col]` over all `k`.
# Let each thread make one element.
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
# Four blocks of four threads, and one thread for each element of `c`.
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
# In an n × n product each element is loaded n times.
# How many of these loads can a block save? And does the time follow?

# %% [markdown]
# ## A block shares rows and columns
#
# Look at the block at the top left.
# Its threads `(0, 0)` and `(1, 0)` make `c[0, 0]` and `c[0, 1]`: both need the first row of `a`.
# Its threads `(0, 0)` and `(0, 1)` make `c[0, 0]` and `c[1, 0]`: both need the first column of `b`.
#
# So let the block load a tile of `a` and a tile of `b` into shared memory, one element of each per thread. Then all four threads use both tiles.

# %%
plot_tile_walk(step=0, n=4, tile=2)

# %% [markdown]
# A blue cell names the thread (x, y) that loads it; an orange cell names the `k` whose products are in its sum after the step.
# From these eight numbers each thread computes two products, those of the first two `k`.
# The tiles hold nothing more for this block, so they move on: the tile of `a` to the right, the tile of `b` down.

# %%
plot_tile_walk(step=1, n=4, tile=2)

# %% [markdown]
# Now each sum has all its products, and each thread loaded half as many elements as before.
# The sum is the same, in two steps:

# %%
first = a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0]
second = a[0, 2] * b[2, 0] + a[0, 3] * b[3, 0]

check(first + second, (a @ b)[0, 0])
plot_row_times_column(row=0, col=0, tile=2)

# %% [markdown]
# The same four products, two in each step.
# Now follow one of the first blocks through an 8 × 8 product: move the sliders.

# %%
def walk(step=0, block_x=1, block_y=0, tile=2):
    """A step of a block through the matrices of an 8 × 8 product."""
    last = 8 // tile - 1
    return plot_tile_walk(min(step, last), 8, tile, (block_x, block_y))


explore(walk, step=(0, 3), block_x=[0, 1], block_y=[0, 1], tile=[2, 4])

# %% [markdown]
# Small tiles take four steps, tiles of twice the side take two. A block stays in its rows of A and in its columns of B.
#
# ## The walk as a kernel
#
# In each step a block loads a tile of each matrix, waits, adds up products, and waits again before it loads the next.
# `at` says how far the tiles have moved, and `k` counts within a tile. (All sides are multiples of the tile's here; [the next page](23_matrix_product.ipynb) drops that.)

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
# A tile of twice the side needs four times as many threads in a block and halves the loads.
#
# ## Does the time follow?
#
# With the largest tiles, each element is loaded a thirty-second as often.
#
# To see what that gains, nothing else may change. So the kernel without a tile walks in the same steps, and its loops are the same. (Both use unsigned indices, `uint32`, as in [Share a tile without queueing](14_bank_conflicts.ipynb), and `while` for the long walk: what a `range` costs, [a later page](36_what_a_loop_costs.ipynb) measures.)

# %%
def make_in_steps(size):
    """A product in steps of some products, without a tile."""
    @cuda.jit
    def multiply_in_steps(c, a, b):
        """Step by step, add the products of a row and a column."""
        col, row = cuda.grid(2)
        col, row = uint32(col), uint32(row)
        total, at = float32(0), uint32(0)
        while at < a.shape[1]:
            for k in range(size):
                k = uint32(k)
                total += a[row, at + k] * b[at + k, col]
            at = uint32(at + size)
        c[row, col] = total
    return multiply_in_steps


# %%
def make_in_tiles(size):
    """The same with a tile of each matrix."""
    @cuda.jit
    def multiply_in_tiles(c, a, b):
        """Step by step, load a tile of each matrix, wait, add, wait."""
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        col, row = cuda.grid(2)
        col, row = uint32(col), uint32(row)
        total, at = float32(0), uint32(0)
        while at < a.shape[1]:
            tile_a[y, x] = a[row, at + x]
            tile_b[y, x] = b[at + y, col]
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
            at = uint32(at + size)
        c[row, col] = total
    return multiply_in_tiles


# %%
for size in 8, 16, 32:
    count(make_in_steps(size), size)
    count(make_in_tiles(size), size)

# %% tags=["timing", "hide-input"]
# Measures both at 1024 × 1024, in blocks of three sizes.
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
at_first = clock(multiply, 32)
steps = {size: clock(make_in_steps(size), size) for size in sizes}
tiles = {size: clock(make_in_tiles(size), size) for size in sizes}
pairs = {(f"{size} × {size}", name): m for size in sizes
         for name, m in (("no tile", steps[size]), ("tile", tiles[size]))}
compare(pairs, "µs", {"instructions per warp and k":
        lambda m: m.counters.get("instructions", np.nan) / (SIDE**3 / 32)},
        by=("block", "kernel"))

# %% [markdown]
# The largest tile removes all but one of 32 loads, and only a quarter of the time.
# The smaller tiles remove fewer, and gain more. So the time does not follow the loads.
#
# (A warp also needs fewer instructions with a tile. What these gain by themselves, this pair does not show.)
#
# And `multiply`, the first kernel? It takes 1,604 µs in the same blocks: 4.7 times as long as the product in steps, which loads as much. Against it, the tile would be 6.2 times as fast. But most of that is the loop's, its length's and the index's, and not the tile's: *a comparison is only as good as the worse of its kernels.*

# %% [markdown]
# Which loads were those?
# A load asks L1; what L1 lacks comes from L2, and what L2 lacks from memory.
# The GPU counts what is requested from each level:

# %% tags=["timing", "hide-input"]
# Compares what was asked of each level.
compare(pairs, "GB through L1", "GB loaded from L2", "GB read from memory",
        by=("block", "kernel"))

# %% [markdown]
# Each product takes two numbers, 8.6 GB in all. Without a tile L1 is asked for less, in blocks of any size, as lanes share sectors: in the largest all lanes of a warp load the same element of `a`, so that is one sector.
# With a tile these blocks ask for a twentieth of that.
#
# But L2 is asked for as much as before at 8 × 8, a seventh less at 16, a quarter less at 32. Memory is asked for both matrices once, in every row. L1 had kept what the neighbours need, and L2 has room for both matrices several times.
# So the tile saves requests to L1, few to L2, no memory traffic. (A product that does not fit in L2 is not measured here.)
#
# ## Operations for each byte
#
# How many operations does a kernel do for each byte that it asks for? That is its **arithmetic intensity**: say of which level.
#
# *Of L1, without a tile:* for each `k`, a warp of the largest blocks does 64 operations, half of them products and half sums. It asks for five sectors, 160 bytes. That is 0.4 operations a byte.
#
# *Of L1, with a tile* of side s: in a step, a block loads `2 * s**2` numbers of four bytes, and does `s**3` products and as many sums. That is `s / 4` operations a byte.
#
# *Of memory:* the whole product does `2 * 1024**3` operations on 8.4 MB that it reads (`c` stays in L2), whatever the tile. That is 256 a byte.

# %% [markdown]
# What is that good for? A GPU has two limits: a peak of operations in a second, and a bandwidth, bytes in a second.
# With few operations for each byte, the bytes come too slowly, and the most that a kernel can reach is its intensity times the bandwidth: it is **memory-bound**.
# With many, the most is the peak: it is **compute-bound**, if nothing else holds it back sooner.
#
# Drawn over the intensity, the lower of the two is the **roofline**, a slope and a flat roof:

# %% tags=["timing", "hide-input"]
# Draws the roofline, and both kernels in blocks of 32 × 32.
def asked(it, counter, scale=32):
    """The bytes that loads asked of a level."""
    return scale * it.counters.get(counter, np.nan)


points = {}
for name, it in ("no tile", steps[32]), ("tile 32", tiles[32]):
    of_l1 = FLOPS / asked(it, "global_load_sectors")
    of_memory = FLOPS / asked(it, "memory_read_bytes", 1)
    points[f"{name}, if nothing were cached"] = of_l1, None
    points[name] = of_memory, it.gflop_per_s
plot_roofline(points)

# %% [markdown]
# A diamond is a kernel as it was measured, over its operations for each byte that memory really read.
# Both lie right of the corner, where the roof is flat. So memory's bandwidth does not hold them back; it is hardly busy.
#
# A ring is where a kernel's roof would be if each byte that it asks of L1 came from memory.
# The kernel without a tile is more than three times as fast as its ring allows: that is what its caches do.
#
# So before you compare two intensities, ask which bytes they count.
#
# ## What the tile asks of L1 instead
#
# If not memory, what is busy? The data path, through which L1 *and* shared memory deliver.
# A tile relieves it less than it seems: each product still takes two numbers, and shared memory delivers them by the same path.
#
# Then how can the largest tile be faster? Its machine code shows it: a thread makes 32 products from 40 loads, not 64. It goes along a row of `tile_a`, and the compiler merges four neighbours into one load.
#
# To see what that is worth, lay the tile of `a` on its side. Then a thread's next number is in the next row, and nothing can be merged. (One more word in each row keeps its stores free of [conflicts](14_bank_conflicts.ipynb).)

# %%
SIDE_TILE, SIDE_WIDTH = 32, 33


@cuda.jit
def multiply_turned(c, a, b):
    """The same in tiles of 32, that of `a` by columns: nothing is merged."""
    tile_a = cuda.shared.array((SIDE_TILE, SIDE_WIDTH), float32)
    tile_b = cuda.shared.array((SIDE_TILE, SIDE_TILE), float32)
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    col, row = cuda.grid(2)
    col, row = uint32(col), uint32(row)
    total, at = float32(0), uint32(0)
    while at < a.shape[1]:
        tile_a[x, y] = a[row, at + x]
        tile_b[y, x] = b[at + y, col]
        cuda.syncthreads()
        for k in range(SIDE_TILE):
            total += tile_a[k, y] * tile_b[k, x]
        cuda.syncthreads()
        at = uint32(at + SIDE_TILE)
    c[row, col] = total


count(multiply_turned, 32).assert_no_bank_conflicts()

# %% [markdown]
# **Predict.** Which gives the path more to do: this tile, or no tile?

# %% tags=["timing", "hide-input"]
# Compares all with the tile that lies on its side.
turned = clock(multiply_turned, 32)
held_back = pairs | {("32 × 32", "tile, not merged"): turned}


def requests(m):
    """The loads of shared memory by a warp for each `k`."""
    loads = m.counters.get("shared_load_requests", np.nan)
    return loads / (SIDE**3 / 32)


compare(held_back, "µs", {"shared loads per warp and k": requests},
        "data path busy, %", "data path cycles per warp", "waits most for",
        by=("block", "kernel"))

# %% [markdown]
# This tile, by 7%. And four fifths of the gain are gone.
# So most of the gain was the compiler's, which found wide loads. (This tile is still 5% faster than no tile; the path does not explain why.)
#
# In the smaller blocks the path itself is the limit: without a tile it is busy nearly all the time. There a tile takes more than a third of its work away, and gains more. What holds back the largest without a tile, the table does not show.

# %% [markdown]
# **Predict.** How many cycles does the path need for each `k` without a tile, by [the rule of the tiles](13_shared_memory.ipynb)? (In one cycle up to 32 numbers, each at another place of its line; different numbers at one place come one after the other.) The rows of `a` are whole lines, and a warp of the smallest blocks is in four of them.
#
# <details><summary>Answer</summary>
#
# The lanes of a column of `a` are at one place of their lines, and queue: four, two or one of them. With one cycle for `b`, that is 5, 3 and 2 for each `k`, and for all 1,024 of them 5,120, 3,072 and 2,048. The table has hardly more.
#
# </details>

# %% [markdown]
# With the largest tile, the count leaves about two cycles for a wide load of four `k` (neither the rule of the tiles nor that of the banks says so). So `a` costs half a cycle for each `k`, and `b` one: 1,536 for all. The rest is for filling the tiles.
#
# So a tile saves the path two things: the queue in `a`, which is longer in smaller blocks, and half a cycle for each `k` by merged loads. Filling the tiles takes some of that back: at 8 × 8, half of the path's cycles go there. In the largest blocks there is no queue, and only the merged loads are left.

# %% [markdown]
# ## A roof for each level
#
# Every level has a roof: operations for each byte or wavefront, times how many pass a second.
# The data path of a multiprocessor passes one wavefront in a cycle. L2 gave [8,600 GB/s](11_memory_hierarchy.ipynb), and memory gives 4,800 at most.
#
# **Predict.** Which is the lowest of these roofs?

# %% tags=["timing", "hide-input"]
# Tabulates the roofs of three levels beside what was reached.
gpu = cuda.get_current_device()
CYCLES = gpu.MULTIPROCESSOR_COUNT * gpu.CLOCK_RATE / 1e6     # 10⁹ a second


def operations(m, counter):
    """The operations for each unit of a counter."""
    return FLOPS / m.counters.get(counter, np.nan)


compare(held_back, {
    "operations a path cycle": lambda m: operations(m, "lsu_wavefronts"),
    "the path's roof, GFLOP/s":
        lambda m: operations(m, "lsu_wavefronts") * CYCLES,
    "L2's": lambda m: operations(m, "l2_read_sectors") / 32 * 8600,
    "memory's": lambda m: operations(m, "memory_read_bytes") * 4800,
    "reached": lambda m: m.gflop_per_s}, by=("block", "kernel"))

# %% [markdown]
# The path's, in each row, and the kernels reach three quarters of it or more. L2's and memory's are far above.
# So more of their bandwidth would not help here, but more operations for each cycle of the path.
#
# A thread gets them if it uses a loaded number several times: it makes several elements, and keeps the number in a register. For r × r elements it loads 2r numbers and makes r² products, r times as many for each number as with one element. The next pages go there.

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
# This kernel multiplies a row of `a` by a row of `b`.

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
# | version | who loads an element | global loads of an element | operations per byte asked of L1 | loads of a thread for 32 products |
# |---|---|---|---|---|
# | no tile | each thread that needs it | n | 0.4 to 0.5 | 64 |
# | tiles of s × s | each block that needs it | n / s | s / 4 | 40 of shared memory, of which 8 are wide |
# | the least possible | one thread, once | 1 | n / 4 | |

# %% [markdown]
# ## On your own
#
# ★ Block `(1, 1)` walks through a 6 × 6 product with tiles of 3. Which elements does its thread `(2, 0)` load, and which products are in its sum after each step? Check it with `plot_tile_walk(step, 6, 3, (1, 1))`.
#
# <details><summary>Answer</summary>
#
# It makes `c[3, 5]`. Step 0: it loads `a[3, 2]` and `b[0, 5]`; then its sum has the products of `k` = 0 to 2. Step 1: `a[3, 5]` and `b[3, 5]`; then it has all six.
#
# </details>
#
# ★ `y[i] = 2 * x[i] + y[i]` in float32, on large arrays: how fast at most, by its intensity? Would twice the peak help?
#
# <details><summary>Answer</summary>
#
# Two operations on 12 bytes, two loads and a store: a sixth. Times 4,800 GB/s that is 800 GFLOP/s, far left of the corner, so the peak does not matter.
# Fewer bytes for each operation help: `float16` has half as many; and if the kernel also does what another one would do to `y` later, that one's load and store are spared (*kernel fusion*).
#
# </details>

# %% [markdown]
# ★★ `distance_matrix`: not products of rows and columns, but distances between points. Which points does a block need, and who loads them?

# %%
task = exercise("distance_matrix")
task

# %%
TILE = 16


@cuda.jit
def distance_matrix(out, p, q):
    """Each thread makes one distance."""
    # your code, about 13 lines


task.check(distance_matrix)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# TILE = 16
#
#
# @cuda.jit
# def distance_matrix(out, p, q):
#     """Each thread makes one distance."""
#     tile_p = cuda.shared.array((2, TILE), float32)
#     tile_q = cuda.shared.array((2, TILE), float32)
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     col, row = cuda.grid(2)
#     first = TILE * cuda.blockIdx.y + x
#     if y < 2 and first < p.shape[1]:
#         tile_p[y, x] = p[y, first]
#     if y < 2 and col < q.shape[1]:
#         tile_q[y, x] = q[y, col]
#     cuda.syncthreads()
#     if row < out.shape[0] and col < out.shape[1]:
#         dx, dy = tile_p[0, y] - tile_q[0, x], tile_p[1, y] - tile_q[1, x]
#         out[row, col] = dx * dx + dy * dy
# ```
#
# A block of 16 × 16 threads needs 16 points of each. Two rows of its threads load them: `x` counts the points, also those of `p`, so that neighbours load neighbours.
#
# </details>
#
# ★★★ `exercise("wide_tile")`, in the assignment: tiles that are longer along `k`, so that a block waits less often, and in which no lanes queue.
#
# ★★★ `exercise("two_rows")`, there, too: each thread makes two elements of `c`. How often is each element of `b` loaded then?
#
# <details><summary>Answer</summary>
#
# Half as often: a block serves twice as many rows of `c`.
#
# </details>
#
# The [assignment](assignments/22_tiling.ipynb) has 6 exercises, these three among them.

# %% [markdown]
# ## In practice
#
# The roof is drawn from the data sheet; the driver's copy reaches 86% of its sloping part. The flat part counts a product with its sum, which are one instruction (*fused multiply-add*), as two operations: a kernel that only adds has half of it.
#
# A block has at most 1,024 threads, so a tile with one element for each thread can be no larger than those here.
#
# A tile can do more than relieve L1: in a [transpose](21_transpose.ipynb) it makes scattered requests coalesced.

# %% [markdown]
# ## Further reading
#
# - [Roofline: an insightful visual performance model](https://doi.org/10.1145/1498765.1498785), by Williams, Waterman and Patterson: where the picture comes from.
#
# *Next:* [Multiply matrices of any size](23_matrix_product.ipynb): how fast is a tiled product of any size beside a library's, and what do its edges cost?
