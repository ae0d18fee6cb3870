# %% [markdown]
# # Multiply matrices of any size
#
# *75 minutes*
#
# **What you'll do:** give a tiled product edges, so that it multiplies matrices of any size, find out what the edges cost, and hold it beside NVIDIA's library.
#
# **What you'll learn:**
#
# - fill a tile that hangs over an edge, so that every thread comes to every barrier
# - foresee at which sizes a product becomes slower
# - load a matrix that is stored transposed
#
# **What you'll need:** the walk of a tile, as in [Use a number again while it is near](22_tiling.ipynb), [sectors](12_coalescing.ipynb), [barriers](15_barriers_and_races.ipynb), and [how many blocks a multiprocessor holds](18_how_much_shared_memory.ipynb).

# %%
import numpy as np
from numba import cuda, float32, njit

from helpers import (baseline, check, compare, device, emulate, exercise,
                     expect, explore, measure, plot_ragged_walk, plot_speeds,
                     plot_waves)

device

# %% [markdown]
# ## A size that does not fit
#
# This is the tiled product that you know:

# %%
def make_whole(size):
    """A product in tiles of `size` × `size`, of sides that are multiples."""
    @cuda.jit
    def multiply_whole(c, a, b):
        """Step by step, load whole tiles, wait, add, wait."""
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for at in range(0, a.shape[1], size):
            tile_a[y, x] = a[row, at + x]
            tile_b[y, x] = b[at + y, col]
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
        c[row, col] = total
    return multiply_whole


# %% tags=["hide-input"]
# Makes the matrices, and emulates and checks a product.
random = np.random.default_rng(0)


def matrices(m, k, n):
    """Room for a product, full of NaN, and its two factors."""
    a = random.random((m, k), dtype=np.float32)
    b = random.random((k, n), dtype=np.float32)
    return np.full((m, n), np.nan, np.float32), a, b


def grid(c, side):
    """Blocks that cover a matrix with threads of `side` × `side`."""
    return -(-c.shape[1] // side), -(-c.shape[0] // side)   # rounded up


def product(kernel, c, a, b, side):
    """Emulate a product and check it."""
    c[:] = np.nan
    run = emulate(kernel)[grid(c, side), (side, side)](c, a, b)
    check(c, a @ b)
    return run


# %% [markdown]
# `matrices` makes two factors and room for their product. `product` emulates a kernel with as many blocks as cover the product, of `side` × `side` threads, and checks the result.
#
# Tiles of 32 fit into 64 × 96 by 96 × 32. But not into these ragged matrices, of which no side is a multiple of 32:

# %%
product(make_whole(32), *matrices(64, 96, 32), 32)

c, a, b = matrices(228, 240, 112)
with expect(IndexError):
    product(make_whole(32), c, a, b, 32)

# %% [markdown]
# ## What hangs over the edge?
#
# An m × k matrix times a k × n matrix is an m × n matrix.
# So far all three sides were multiples of the tile.
# Now let A be 5 × 7 and B 7 × 6, and the tiles 4 × 4.
# We round the number of blocks up, so that two rows of two blocks cover the 5 × 6 elements of C.
#
# **Predict.** Block (1, 1), at the bottom right, has 16 threads. In its second step, how many of them find an element of A to load, how many one of B, and how many have one of C to make?
#
# <details><summary>Answer</summary>
#
# Three, six and two: see below.
#
# </details>

# %%
plot_ragged_walk(step=1, shape=(5, 7, 6), tile=4, block=(1, 1))

# %% [markdown]
# The cells with a 0 lie outside the matrices.
#
# Each matrix ends elsewhere, so three different groups of threads have work.
# Look at thread (2, 0): it has no element of C to make, since C has no column 6.
# But it has an element of A to load, which the threads to its left need.
# And thread (0, 1) has nothing to make either, and loads for others an element of B.
#
# So *load* and *make* are two different questions, and each matrix has to be asked on its own.
# Move the sliders: which blocks and steps need no question at all?

# %%
def walk(step=0, block_x=1, block_y=0):
    """A step of a block through a 5 × 7 and a 7 × 6 matrix."""
    return plot_ragged_walk(step, (5, 7, 6), 4, (block_x, block_y))


explore(walk, step=[0, 1], block_x=[0, 1], block_y=[0, 1])

# %% [markdown]
# <details><summary>Answer</summary>
#
# Only the first step of block (0, 0). All others hang over some edge.
#
# </details>

# %% [markdown]
# ## One guard, where there is no tile
#
# Begin with the kernel without a tile. Here one question is enough.
# If `row` and `col` lie in C, the thread walks along a row of A and down a column of B, and these exist as far as they go.

# %%
@cuda.jit
def multiply(c, a, b):
    """Each thread adds up the products of a row and a column."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


# %%
product(multiply, c, a, b, 16)

# %% [markdown]
# ## The same guard around a tile
#
# Does the tiled kernel need the same guard? The error above advised it: a thread without an element of C does nothing, and returns.

# %%
@cuda.jit
def multiply_early_wrong(c, a, b):
    """Threads outside return; the others load tiles, wait, add, wait."""
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total = float32(0)
    for at in range(0, a.shape[1], 16):
        tile_a[y, x] = a[row, at + x]
        tile_b[y, x] = b[at + y, col]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, col] = total


early = emulate(multiply_early_wrong)[grid(c, 16), (16, 16)](c, a, b)
with expect(AssertionError):
    early.assert_barriers()
np.unique(np.argwhere(~np.isclose(c, a @ b))[:, 0])   # its wrong rows

# %% [markdown]
# Two things are amiss.
#
# Threads that have returned miss every barrier. The emulator does not wait for them, and neither does any GPU since Volta (2017); older ones did not promise it.
#
# And even though nobody waits in vain, the last four rows are wrong.
# They are all that is left of C for the last row of blocks. Of the 16 rows of threads there, twelve are gone, and with them twelve rows of the tile of B, which nobody has loaded.

# %% [markdown]
# Would a guard around the *barrier* help, `if inside: cuda.syncthreads()`? It is the same mistake in other words: some threads of the block do not come.
# So the rule for every tile: nobody leaves before the last barrier. A guard stands around a load or a store, and around a barrier only if all threads of the block answer it alike.

# %% [markdown]
# ## Zeros beyond the edge
#
# All threads stay. What does a thread put in the tile if its element does not exist?
#
# A zero. A product with zero adds nothing, so the sums come out right, and the inner loop may run over the whole tile without asking anything.
#
# That makes three conditions, one for each matrix: `in_a` for the load from A, `in_b` for the load from B, and one around the store to C, where a zero cannot help.

# %%
def make_tiled(size):
    """A product in tiles of `size` × `size`, of any matrices."""
    @cuda.jit
    def multiply_tiled(c, a, b):
        """Step by step, load tiles filled up with zeros, wait, add, wait."""
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for at in range(0, a.shape[1], size):
            in_a = row < a.shape[0] and at + x < a.shape[1]
            in_b = at + y < b.shape[0] and col < b.shape[1]
            tile_a[y, x] = a[row, at + x] if in_a else float32(0)
            tile_b[y, x] = b[at + y, col] if in_b else float32(0)
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total
    return multiply_tiled


# %%
tilings = {size: make_tiled(size) for size in (8, 16, 32)}
for m, k, n in (1, 1, 1), (33, 1, 65), (5, 70, 40):
    product(tilings[16], *matrices(m, k, n), 16)

tiled = product(tilings[32], c, a, b, 32)
tiled

# %% [markdown]
# Any size works, down to a single element. (`tilings` keeps a kernel for each size of tile, so that each is compiled once.)
#
# **Predict.** Some of these zeros could be any other number, and the product would still be right. Which?
#
# <details><summary>Answer</summary>
#
# Those in rows below A and in columns to the right of B: they enter only into sums that nobody stores.
# Those beyond k, to the right of A and below B, matter, for they enter into sums that count.
#
# </details>
#
# <details><summary>For the curious: would one zero of the two be enough?</summary>
#
# For finite numbers, yes: beyond k a zero of A meets a zero of B, and each alone makes the product zero. But if only A is filled up, the tile of B still holds something there, such as the last row once more, of a kernel that loads `b[min(at + y, k - 1), col]`. Zero times infinity, or times NaN, is NaN, so an infinity in that row would make NaN of sums that should be infinite.
#
# </details>

# %% [markdown]
# ## What do the conditions cost?
#
# The kernel at the top has none. So measure both where all sides are multiples of the tile, at 1024 × 1024: nothing differs but the conditions.

# %% tags=["timing", "hide-input"]
# Measures tiles without conditions and with them.
def clock(kernel, size, them):
    """Measure a product in blocks of a size."""
    (m, n), k = them[0].shape, them[1].shape[1]
    return measure(kernel, flops=2 * m * k * n)[
        grid(them[0], size), (size, size)](*them)


def per_step(it):
    """The instructions of a warp for each step along k, by a counter."""
    return it.counters.get("instructions", np.nan) / (1024**3 / 32)


wholes = {size: make_whole(size) for size in (16, 32)}
big = matrices(1024, 1024, 1024)
by_tile = {size: clock(tilings[size], size, big) for size in tilings}
whole = {size: clock(wholes[size], size, big) for size in wholes}
compare({("tile 8", "with"): by_tile[8],
         ("tile 16", "without"): whole[16], ("tile 16", "with"): by_tile[16],
         ("tile 32", "without"): whole[32], ("tile 32", "with"): by_tile[32]},
        {"instructions for 32 products": per_step}, "issue slots used, %",
        "µs", by=("kernel", "conditions"))

# %% [markdown]
# A few percent of the time, though a sixth more instructions, or even a quarter: free issue slots would explain it. A warp asks once for each tile, and then adds up a whole tile's products without a question.
#
# ## One column more
#
# The other cost lies in what is *not* there. With 1,025 columns, the last blocks have a single column of C to make, and multiply zeros for the other 31. They take as long as any block.
#
# An H200 has 132 multiprocessors, which share the blocks. In the figure only B's columns grow in number; each mark is a product that was measured. Up to a dashed line, the blocks can be shared out so that nobody has more than its label says.
#
# **Predict.** Where will the time rise: at every column, at every 32nd, or at the lines?

# %% tags=["timing", "hide-input"]
# Measures 1024 × 1024 by 1024 × n in tiles of 32.
COLUMNS = (960, 992, 993, 1008, 1024, 1025, 1040, 1056, 1057, 1072, 1088,
           1120, 1184, 1248, 1312, 1313, 1344)
SHARERS = 132    # multiprocessors of an H200
by_columns = {n: clock(tilings[32], 32, matrices(1024, 1024, n))
              for n in COLUMNS}
plot_waves(COLUMNS, [it.median_us for it in by_columns.values()],
           ends={f"{each} blocks each": SHARERS * each // 32 * 32
                 for each in (8, 9, 10)})

# %% [markdown]
# At the lines. Up to the first one the time hardly changes, though three columns of blocks are added on the way: nobody has more than eight blocks. One column beyond it, some multiprocessors get a ninth block, and all others wait for them: a tenth more time for a thousandth more work.
#
# Two things are rounded up, and only the second showed: before the line, a new column of tiles cost nothing. Work comes in whole tiles: **tile quantisation**. And tiles come in **waves**, one for each multiprocessor, of which the last may be nearly empty and takes as long as a full one: **wave quantisation**.

# %% [markdown]
# <details><summary>For the curious: two blocks at a time</summary>
#
# A multiprocessor holds two of these blocks at a time. So should the steps not be twice as wide? They would be, if two blocks took as long as one. But the ninth block costs as much as the tenth: two that run together take about twice as long as one alone.
#
# </details>

# %% [markdown]
# ## Which tile?
#
# A larger tile loads each number less often. But it hangs further over the edges, and there are fewer blocks to share. Can you count beforehand which one wins?
#
# Count in *tile steps*, a tile step being one turn of the loop over `at`. The multiprocessor with most work has `ceil(blocks / 132)` blocks, and each of these makes `ceil(k / tile)` steps.
# What a step takes, with a tile of each size, you know from the product of 1024 × 1024, whose times are 443, 292 and 282 µs for tiles of 8, 16 and 32.
#
# So predict two products with ragged sides, a wide one and a small one.

# %% tags=["timing", "hide-input"]
# Counts tile steps, predicts with them, and measures.
def tile_steps(size, them):
    """The turns of the loop on the multiprocessor with most blocks."""
    (across, down), k = grid(them[0], size), them[1].shape[1]
    return -(-across * down // SHARERS) * -(-k // size)


def predicted(size, them):
    """The time by what a tile step takes at 1024 × 1024."""
    each = by_tile[size].median_us / tile_steps(size, big)
    return tile_steps(size, them) * each


small, wide = matrices(228, 240, 112), matrices(228, 240, 2800)
in_small = {size: clock(tilings[size], size, small) for size in tilings}
in_wide = {size: clock(tilings[size], size, wide) for size in tilings}
ragged = (("228 × 240 by 240 × 2800", wide, in_wide),
          ("228 × 240 by 240 × 112", small, in_small))
rows = {(name, size, tile_steps(size, them), predicted(size, them)):
        timed[size] for name, them, timed in ragged for size in tilings}
compare(rows, "µs", "occupancy, %",
        by=("product", "tile", "tile steps", "predicted, µs"))

# %% [markdown]
# In the wide product the count foresees the order, and the times to within an eighth: now 16 wins, as a tile of 32 makes more zeros and leaves its last wave emptier.
#
# In the small one 16 wins, too (8 and 32 are too close to tell), but the predicted times are two to eight times too short. A step's time was measured where each multiprocessor had many blocks. Here it has at most one, or four small ones, and at most half of the warps for which it has room (its *occupancy*). Why a step takes longer then, this table does not show. Fewer warps can go on while others wait; but a start that takes as long for any product would fit as well.

# %% [markdown]
# The rule: count tiles and waves where there are many blocks; where there are few, measure.

# %% [markdown]
# ## A matrix that is stored transposed
#
# Often a factor comes transposed: you need `a.T @ b`, and `a` is stored as k × m.
# In NumPy, `a.T` is the same memory with the axes swapped, and Numba compiles the kernel for such an array, too.
# So the same kernel multiplies it, without a changed line. But how does it load?

# %%
def turned(matrix):
    """The same matrix, stored by columns, as a transpose is."""
    return np.ascontiguousarray(matrix.T).T


product(tilings[32], c, a, turned(b), 32)
product(tilings[32], c, turned(a), b, 32)

# %% [markdown]
# The product is right. But the lanes of a warp ask for neighbours in a *row*, which now lie far apart, each in a sector of its own.
#
# The cure is that of [the transpose](21_transpose.ipynb): let neighbouring lanes load neighbouring addresses, whichever index those are, and let the tile turn it.
# The kernel below takes `a` as it is stored, k × m. A stored row holds one `k` for many rows of the product; neighbouring lanes load neighbours of it. So `tile_a[y, x]` now holds `k = at + y` for row `top + x`, and the inner loop reads `tile_a[k, y]`.
# (A stored row ends in the middle of a sector. So every second one begins inside a sector, and the report below counts some more than the ideal.)

# %%
def make_turned(size):
    """A product `a.T @ b` in tiles, of `a` as it is stored."""
    @cuda.jit
    def multiply_turned(c, a, b):
        """Load both tiles along stored rows, wait, add, wait."""
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        top = size * cuda.blockIdx.y
        total = float32(0)
        for at in range(0, a.shape[0], size):
            in_a = at + y < a.shape[0] and top + x < a.shape[1]
            in_b = at + y < b.shape[0] and col < b.shape[1]
            tile_a[y, x] = a[at + y, top + x] if in_a else float32(0)
            tile_b[y, x] = b[at + y, col] if in_b else float32(0)
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[k, y] * tile_b[k, x]
            cuda.syncthreads()
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total
    return multiply_turned


# %%
multiply_turned = make_turned(32)
stored = np.ascontiguousarray(a.T)
c[:] = np.nan
run = emulate(multiply_turned)[grid(c, 32), (32, 32)](c, stored, b)
check(c, a @ b)
run

# %% tags=["timing", "hide-input"]
# Measures the four products at 1024 × 1024.
square = matrices(64, 64, 64)
c_big, a_big, b_big = big
c_few, a_few, b_few = square
orders = {
    "a @ b": (by_tile[32], product(tilings[32], *square, 32)),
    "a.T @ b": (clock(tilings[32], 32, (c_big, turned(a_big), b_big)),
                product(tilings[32], c_few, turned(a_few), b_few, 32)),
    "a @ b.T": (clock(tilings[32], 32, (c_big, a_big, turned(b_big))),
                product(tilings[32], c_few, a_few, turned(b_few), 32)),
    "a.T @ b, loaded along rows": (
        clock(multiply_turned, 32,
              (c_big, np.ascontiguousarray(a_big.T), b_big)),
        emulate(multiply_turned)[(2, 2), (32, 32)](
            c_few, np.ascontiguousarray(a_few.T), b_few))}


def sectors(row):
    """The sectors of a load from global memory, of the emulated product."""
    loads = row[1].coalescing.by_kind["load"]
    return loads.sectors / loads.requests


compare(orders, {"sectors per load, at 64 × 64": sectors},
        "data path cycles per warp", "µs", by="product")

# %% [markdown]
# The first three rows are one source, compiled for each order of a factor in memory: a transposed one takes more than a third longer.
# Loading along stored rows brings the sectors down to those of a plain product, and half of the lost time back.
#
# And the other half? What still differs is the inner loop. In a row of `tile_a`, the compiler loads four neighbours at once, for four values of `k`. Down a column it cannot, so each product takes two loads from shared memory, and the data path has almost a third more to do than in the plain product. No launch here changes that alone. One on [the page before](22_tiling.ipynb) does: there unmerged loads take away four fifths of what the tile gains.

# %% [markdown]
# ## Beside a library
#
# NVIDIA's library is cuBLAS. From Python you reach it through CuPy:
#
# ```python
# import cupy
# by_cublas = cupy.matmul(cupy.asarray(a), cupy.asarray(b))
# ```
#
# `cupy.asarray` takes an array of Numba's that is on the GPU as it is, without a copy. (Of one of NumPy's it makes a copy: with `out=cupy.asarray(c)`, such a `c` would never see the product.)
# How far is our tile from it?

# %% tags=["hide-input"]
# Defines the same product for one core of a CPU, in two orders.
@njit
def multiply_on_cpu(c, a, b):
    """For each row and each column, add up the products."""
    for row in range(c.shape[0]):
        for col in range(c.shape[1]):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, col]
            c[row, col] = total


@njit
def multiply_by_rows(c, a, b):
    """For each row, add up multiples of the rows of b."""
    c[:] = 0
    for row in range(c.shape[0]):
        for k in range(a.shape[1]):
            for col in range(c.shape[1]):
                c[row, col] += a[row, k] * b[k, col]


for on_cpu in multiply_on_cpu, multiply_by_rows:
    on_cpu(c, a, b)
    check(c, a @ b)

# %% tags=["timing", "hide-input"]
# Measures the naive kernel, and shows it between a CPU and cuBLAS.
plain, library = clock(multiply, 32, big), baseline("cuBLAS 1024")
speeds = {"one core of a CPU": baseline("CPU 1024, rows only"),
          "no tile": plain, "tile 32": by_tile[32], "cuBLAS": library}
plot_speeds(list(speeds), [it.gflop_per_s for it in speeds.values()],
            peak=plain.gflop_per_s / plain.share_of_peak)

# %% [markdown]
# The axis is logarithmic: each label is ten times the one before it.
# cuBLAS is 4.4 times as fast as the tile, at half of the GPU's float32 peak.
# (And the tile 5.7 times as fast as no tile. Much of that is not the tile's: without it, each step counts a `range` and asks whether an index is negative, and [another page](36_what_a_loop_costs.ipynb) finds what that costs.)

# %% [markdown]
# <details><summary>For the curious: a hundred times as fast as a CPU?</summary>
#
# The loops for the CPU are compiled, and run on one core of a server (all that was recorded of it is "Intel Xeon"). This is the better of two orders, which walks along rows only. The usual order, element by element, takes 29 times as long, and 4.4 times if `b` is stored by columns. So the kernel without a tile is 97 times as fast as this core, or 2,800 times: ask which loop, on how many cores, a speedup is measured against.
#
# </details>
#
# And at sizes that do not fit?
#
# **Predict.** Give each side of the large product one more row or column. What time does your count of tile steps foresee for the largest tile?
#
# <details><summary>Answer</summary>
#
# At 1024 × 1024 there are 32 × 32 blocks, at most eight for a multiprocessor, of 32 steps each. Now there are 33 × 33, nine for some, of 33 steps: 297 tile steps instead of 256, or 327 µs.
#
# </details>

# %% tags=["timing", "hide-input"]
# Compares the products at ragged sizes.
one_more = matrices(1025, 1025, 1025)
tile_one_more = clock(tilings[32], 32, one_more)
library_small = baseline("cuBLAS 228 × 240 × 112")
library_one_more = baseline("cuBLAS 1025 × 1025 × 1025")
compare({("1024 × 1024 by 1024 × 1024", 32): (by_tile[32], library),
         ("1025 × 1025 by 1025 × 1025", 32): (tile_one_more, library_one_more),
         ("228 × 240 by 240 × 112", 16): (in_small[16], library_small)},
        {"ours, µs": lambda row: row[0].median_us,
         "cuBLAS, µs": lambda row: row[1].median_us},
        by=("product", "our tile"))

# %% [markdown]
# The count was right to within a fiftieth. One row and column more cost cuBLAS something, too, though less than us.
# The small product is another story: there our tile, now of 16, takes one and a half times as long, and not four. Part of both times may be the start.
#
# ## On your own
#
# ★ How often does `make_tiled(32)` load an element of `a`, and how often one of `b`, at 228 × 240 by 240 × 112? Guess, then ask `tiled.reuse`.
#
# <details><summary>Answer</summary>
#
# Once for each block that needs it. The product has 112 columns, 4 blocks wide, so 4 times for `a`; it has 228 rows, 8 blocks high, so 8 times for `b`.
#
# </details>
#
# ★★ `times_transposed`: make `c = a @ b.T`, with tiles, coalesced loads and no bank conflicts; `b` is stored n × k. In the step at `at`, thread (x, y) loads `b[32 * cuda.blockIdx.x + y, at + x]`: its row of `b` is one of the block's *columns*.

# %%
task = exercise("times_transposed")
task

# %%
@cuda.jit
def times_transposed(c, a, b):
    """Each thread adds up the products of two rows."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[col, k]
        c[row, col] = total


task.check(times_transposed)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def times_transposed(c, a, b):
#     """Load a tile of each by rows, wait, add products, wait."""
#     tile_a = cuda.shared.array((32, 32), float32)
#     tile_b = cuda.shared.array((32, 33), float32)
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     col, row = cuda.grid(2)
#     row_b = 32 * cuda.blockIdx.x + y
#     total = float32(0)
#     for at in range(0, a.shape[1], 32):
#         in_a = row < a.shape[0] and at + x < a.shape[1]
#         in_b = row_b < b.shape[0] and at + x < b.shape[1]
#         tile_a[y, x] = a[row, at + x] if in_a else float32(0)
#         tile_b[y, x] = b[row_b, at + x] if in_b else float32(0)
#         cuda.syncthreads()
#         for k in range(32):
#             total += tile_a[y, k] * tile_b[x, k]
#         cuda.syncthreads()
#     if row < c.shape[0] and col < c.shape[1]:
#         c[row, col] = total
# ```
#
# The tile of `b` is filled by rows and read by columns, so it is padded.
#
# </details>

# %% [markdown]
# ★★★ `exercise("attention")`: two products, and between them a softmax, for any number of queries and up to 256 keys.
#
# The [assignment](assignments/23_matrix_product.ipynb) has 6 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Call a library for a product: cuBLAS, through CuPy or PyTorch. Write your own to learn, or when the kernel must do more than the product.
#
# A library is told of transposes, too: BLAS's `gemm` takes a letter for each factor, `N` or `T`, and for each matrix the distance between its columns, by which BLAS stores it (*leading dimension*), so that nothing is copied.
#
# Where there are few blocks and a long `k`, several blocks can share each sum: [Multiply matrices of any shape](35_any_shape.ipynb) does it.
#
# Sums in another order round differently: compare with a tolerance, as `check` does.
#
# The times are of the kernel alone, without launch and copies: `measure` reads the GPU's clock.

# %% [markdown]
# ## Further reading
#
# - [Matrix multiplication background](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html), by NVIDIA: tile and wave quantisation, in pictures.
# - [Numba: matrix multiplication](https://numba.readthedocs.io/en/stable/cuda/examples.html#matrix-multiplication): the naive and the tiled kernel.
#
# *Next:* [Multiply matrices as fast as cuBLAS](24_up_the_ladder_to_cublas.ipynb): the library is more than four times as fast as our tile; what is left to do?
