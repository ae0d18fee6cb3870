# %% [markdown]
# # Multiply matrices of any size
#
# *35 minutes*
#
# **What you'll do:** go from three loops on a CPU to a tiled kernel that takes matrices of any size, and hold each step against the library that most people call.
#
# **What you'll learn:**
#
# - fill ragged edges with zeros, so that every thread may pass every barrier
# - choose a tile by counts and by the clock, and make one kernel for each choice
# - say what a kernel's indices cost, and why counts alone do not tell its time
#
# **What you'll need:** the walk of a tile and the roofline, as in [Use a number again while it is near](22_tiling.ipynb).

# %%
import numpy as np
from numba import cuda, float32, njit, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, measure, plot_roofline, plot_times, table)

device

# %% [markdown]
# ## Three loops
#
# An m × k matrix times a k × n matrix is an m × n matrix.
# **For each row and each column, add up the products.**

# %%
@njit
def multiply_on_cpu(c, a, b):
    """For each row and each column, add up the products."""
    for row in range(c.shape[0]):
        for col in range(c.shape[1]):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, col]
            c[row, col] = total


random = np.random.default_rng(0)


def matrices(m, k, n):
    """Two factors, and room for their product, full of NaN."""
    a = random.random((m, k), dtype=np.float32)
    b = random.random((k, n), dtype=np.float32)
    return np.full((m, n), np.nan, np.float32), a, b


c, a, b = matrices(228, 240, 112)
multiply_on_cpu(c, a, b)
check(c, a @ b)

# %% [markdown]
# 228 × 240 by 240 × 112 is our ragged size: 228 and 112 are no multiples of 32, nor is 240.
# 1024 × 1024 is the size for the clock.

# %% [markdown]
# ## A thread for each element
#
# The two outer loops become the grid.
# **Each thread adds up the products of a row and a column.**

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


def grid(c, side):
    """Blocks that cover a matrix with threads of `side` × `side`."""
    return -(-c.shape[1] // side), -(-c.shape[0] // side)


# %%
def product(kernel, c, a, b, side):
    """Emulate a product and check it."""
    c[:] = np.nan
    run = emulate(kernel)[grid(c, side), (side, side)](c, a, b)
    check(c, a @ b)
    return run


naive = product(multiply, c, a, b, 32)
naive

# %% [markdown]
# The guard keeps the threads that hang over the edge away.
# Lanes side by side have one row and 32 columns: they load one element of `a`, for all of them at once, and 32 neighbours of `b`.
# The requests are good; there are only far too many.

# %% [markdown]
# **Predict.** How often is each element of `a` loaded, and each of `b`?
#
# <details><summary>Answer</summary>
#
# `a[row, k]` by each thread of its row, 112 of them.
# `b[k, col]` by each thread of its column: 228.
#
# </details>

# %%
[int(naive.reuse[name].loads.max()) for name in "ab"]

# %% [markdown]
# ## Tiles that hang over the edge
#
# How much of that can a tile save, and how near does it come to a library?
#
# Tiles at the edge are not full.
# A thread outside `a` puts a zero into the tile; a product with zero adds nothing, so the sums need no guard.
# And no thread may return early: all must reach both barriers.
# **Step by step, bring tiles filled up with zeros, wait, add, wait.**

# %%
def make_tiled(size):
    """A product in tiles of `size` × `size`, of any matrices."""
    @cuda.jit
    def multiply_tiled(c, a, b):
        """Step by step, bring tiles filled up with zeros, wait, add, wait."""
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
tiled = product(make_tiled(32), c, a, b, 32)
tiled

# %% [markdown]
# In C++ the size would be a template's parameter; here a function makes a kernel for each size.
# The size is known when the kernel is compiled, so that its inner loop can be unrolled.
#
# `in_a` and `in_b` ask for the edges of `a` and `b`; the last `if` asks for those of `c`.
# Any size goes, down to a single element:

# %%
for m, k, n in (1, 1, 1), (33, 1, 65), (5, 70, 40):
    product(make_tiled(16), *matrices(m, k, n), 16)

# %% [markdown]
# ## Which tile?
#
# The larger the tile, the fewer loads.
# But loads are not all.
# How many blocks fit a multiprocessor at once, if it holds 2,048 threads, 32 blocks and 228 KB of shared memory?
# For 64 × 64 by 64 × 64:

# %%
square = matrices(64, 64, 64)
sizes = 8, 16, 32
by_size = {size: product(make_tiled(size), *square, size) for size in sizes}


def blocks_at_once(size):
    """Blocks of a tile size that fit an H200's multiprocessor."""
    shared = 2 * 4 * size**2 + 1024        # 1 KB of each block is CUDA's
    return min(2048 // size**2, 32, 228 * 1024 // shared)


table(["tile", "loads of an element", "blocks at once", "threads at once"],
      [(s, by_size[s].reuse["a"].loads.mean(), blocks_at_once(s),
        s * s * blocks_at_once(s)) for s in sizes])

# %% [markdown]
# The share of its threads that a multiprocessor holds is its **occupancy**: all are full here, unless a kernel's registers allow fewer.
# What differs is how many wait at one barrier: in the largest block 1,024, and only one other block to go on meanwhile.

# %% tags=["timing"]
N = 1024
big_c, big_a, big_b = matrices(N, N, N)
flops = 2 * N**3

by_tile = [
    measure(make_tiled(size), flops=flops)[
        grid(big_c, size), (size, size)](big_c, big_a, big_b)
    for size in sizes]
plot_times([f"tile {size}" for size in sizes],
           [m.median_us for m in by_tile])

# %% [markdown]
# From 8 to 16 the loads halve and a third of the time goes; from 16 to 32 they halve again, and little is gained.
#
# ## Size at the launch
#
# The same tiles can be cut from dynamic shared memory, and the size comes with the launch.
# **Bring tiles as wide as the block, wait, add, wait.**

# %%
@cuda.jit
def multiply_dynamic(c, a, b):
    """Bring tiles as wide as the block, wait, add, wait."""
    size = cuda.blockDim.x
    both = cuda.shared.array(0, float32)
    tile_a, tile_b = both[:size * size], both[size * size:]
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for at in range(0, a.shape[1], size):
        in_a = row < a.shape[0] and at + x < a.shape[1]
        in_b = at + y < b.shape[0] and col < b.shape[1]
        tile_a[size * y + x] = a[row, at + x] if in_a else float32(0)
        tile_b[size * y + x] = b[at + y, col] if in_b else float32(0)
        cuda.syncthreads()
        for k in range(size):
            total += tile_a[size * y + k] * tile_b[size * k + x]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


c[:] = np.nan
emulate(multiply_dynamic)[grid(c, 16), (16, 16), 0, 2 * 4 * 16**2](c, a, b)
check(c, a @ b)

# %% [markdown]
# One kernel for all sizes; but the compiler no longer knows how often the inner loop runs.

# %% [markdown]
# ## Against a library
#
# cuBLAS is NVIDIA's library for products.
# It is asked for float32 throughout, without TF32, which would be faster and keep fewer digits.
# What it takes was recorded on an H200, in one run with a CPU's three loops.

# %% tags=["timing"]
ours = [
    measure(kernel, flops=flops)[grid(big_c, 32), (32, 32)](
        big_c, big_a, big_b)
    for kernel in (multiply, make_tiled(32))]
others = [baseline("CPU 1024"), baseline("cuBLAS 1024")]
steps = [others[0], *ours, others[1]]

table(["1024 × 1024", "time, µs", "GFLOP/s"],
      zip(["CPU, one core", "naive", "tile 32", "cuBLAS"],
          [m.median_us for m in steps], [m.gflop_per_s for m in steps],
          strict=True))

# %% tags=["timing"]
plot_times(["naive", "tile 32", "cuBLAS"],
           [m.median_us for m in steps[1:]])

# %% [markdown]
# And the ragged product, which is so small that most of the GPU has nothing to do:

# %% tags=["timing"]
ragged = [measure(kernel, flops=2 * 228 * 240 * 112)[grid(c, 32), (32, 32)](
    c, a, b) for kernel in (multiply, make_tiled(32))]
ragged.append(baseline("cuBLAS 228 × 240 × 112"))

table(["228 × 240 by 240 × 112", "time, µs", "GFLOP/s"],
      zip(["naive", "tile 32", "cuBLAS"], [m.median_us for m in ragged],
          [m.gflop_per_s for m in ragged], strict=True))

# %% [markdown]
# The tile divides the loads by 32, and yet a kernel is not 32 times as fast for it.
# The loads that it spares were served by caches, mostly; and those that it makes from the tile are as many as before.
# A tile is a step on the way, not the end of it.

# %% tags=["timing"]
plot_roofline({
    "naive": (0.25, ours[0].gflop_per_s),
    "tile 32": (8, ours[1].gflop_per_s),
    "cuBLAS": (N / 4, others[1].gflop_per_s)})

# %% [markdown]
# Each kernel under the roof, by the bytes that its loads ask for; cuBLAS stands where each element would be loaded once.
# A point above the roof has been helped by a cache.

# %% [markdown]
# ## What an index costs
#
# The loads are counted; what else does the naive kernel do?
# `assemble` compiles a kernel with NVIDIA's own compiler, which needs no GPU, and shows what became of each line: the types that Numba inferred, and the machine instructions.

# %% tags=["assembly"]
launch = grid(big_c, 32), (32, 32)
plain = assemble(multiply)[launch](big_c, big_a, big_b)
plain

# %% [markdown]
# `FFMA` is the multiplication and the addition in one, and `LDG` a load from global memory.
# The inner loop is there several times, since the compiler unrolls it; open its line to see.
# For each `FFMA` there are two loads, and most of what is left works out where they are.
#
# Numba's indices have 64 bits, since a size is an `int64` and so is the sum of two `int32`.
# A GPU has 32-bit registers, so that a 64-bit sum or product takes several instructions; and a signed index is asked whether it is negative.

# %% [markdown]
# Indices of type `uint32` spare it that.
# They need a cast after each operation, since `uint32` plus `uint32` is `uint64` in Numba.
# The next two cells are folded in a notebook; open them if you like.
# They hold the naive kernel and the tiled one with 32-bit indices, for flat matrices and sizes of type `np.uint32`.

# %% jupyter={"source_hidden": true}
@cuda.jit(max_registers=32)
def multiply_32(c, a, b, m, inner, n):
    """Each thread makes one element; each index has 32 bits."""
    col, row = cuda.grid(2)
    col, row = uint32(col), uint32(row)
    if row < m and col < n:
        total = float32(0)
        at_a, at_b = uint32(row * inner), col
        end = uint32(at_a + inner)
        while at_a < end:
            total += a[at_a] * b[at_b]
            at_a = uint32(at_a + uint32(1))
            at_b = uint32(at_b + n)
        c[uint32(uint32(row * n) + col)] = total


# %% jupyter={"source_hidden": true}
@cuda.jit
def multiply_tiled_32(c, a, b, m, inner, n):
    """Tiles of 32 × 32; each index has 32 bits."""
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    col = uint32(uint32(32) * uint32(cuda.blockIdx.x) + x)
    row = uint32(uint32(32) * uint32(cuda.blockIdx.y) + y)
    at, total = uint32(0), float32(0)
    while at < inner:
        k_a, k_b = uint32(at + x), uint32(at + y)
        tile_a[y, x] = tile_b[y, x] = float32(0)
        if row < m and k_a < inner:
            tile_a[y, x] = a[uint32(uint32(row * inner) + k_a)]
        if k_b < inner and col < n:
            tile_b[y, x] = b[uint32(uint32(k_b * n) + col)]
        cuda.syncthreads()
        for k in range(32):
            total += tile_a[y, uint32(k)] * tile_b[uint32(k), x]
        cuda.syncthreads()
        at = uint32(at + uint32(32))
    if row < m and col < n:
        c[uint32(uint32(row * n) + col)] = total


# %%
def flat(c, a, b):
    """The matrices without their shape, and their sizes as `uint32`."""
    sizes = a.shape[0], a.shape[1], b.shape[1]
    return c.ravel(), a.ravel(), b.ravel(), *map(np.uint32, sizes)


for kernel in multiply_32, multiply_tiled_32:
    c[:] = np.nan
    run = emulate(kernel)[grid(c, 32), (32, 32)](*flat(c, a, b))
    check(c, a @ b)

# %% tags=["assembly"]
narrow = assemble(multiply_32)[launch](*flat(big_c, big_a, big_b))
plain.beside(narrow)

# %% [markdown]
# The compiler has unrolled the twin's loop further, so that it has more instructions in all.
# For each `FFMA`, which is one turn of the loop:

# %% tags=["assembly"]
table(["for each FFMA", "multiply", "multiply_32"],
      [(kind, *(it.kinds[kind] / it.opcodes["FFMA"] for it in (plain, narrow)))
       for kind in ("global loads", "integers and addresses", "moves")])

# %% [markdown]
# The loads are the same, and most of the work around them is gone.
#
# `max_registers=32` is there for a reason.
# Left to itself, the compiler gives the twin two registers more:

# %% tags=["assembly"]
free = assemble(cuda.jit(multiply_32.py_func))[launch](
    *flat(big_c, big_a, big_b))

table(["", "registers a thread", "blocks at once", "occupancy, %"],
      [(name, it.registers, it.occupancy.blocks, 100 * it.occupancy.share)
       for name, it in (("as it comes", free), ("at most 32", narrow))])

# %% [markdown]
# A multiprocessor has 65,536 registers: 64 for each of 1,024 threads, so two blocks of them fit if a thread takes 32, and one if it takes more.
# With one block, half as many warps are there to hide a load's latency.
#
# Now at 4096 × 4096, where each kernel has enough to do:

# %% tags=["timing"]
wide = matrices(4096, 4096, 4096)
launch = (128, 128), (32, 32)
kernels = {"naive": (multiply, multiply_32),
           "tiled": (make_tiled(32), multiply_tiled_32)}


def rates(name):
    """GFLOP/s of a kernel: plain, with 32-bit indices, and in C++."""
    work = {"flops": 2 * 4096**3}
    plain, narrow = kernels[name]
    return (name, measure(plain, **work)[launch](*wide).gflop_per_s,
            measure(narrow, **work)[launch](*flat(*wide)).gflop_per_s,
            baseline(f"CUDA C++ {name} 4096").gflop_per_s)


table(["GFLOP/s at 4096", "plain Numba", "32-bit indices", "CUDA C++"],
      [rates("naive"), rates("tiled")])

# %% [markdown]
# With 32-bit indices Numba's kernels keep up with C++.
# The plain kernel is the one to write, to read and to teach; its twin is for the day when the clock says that indices matter.
# In the tiled kernel they matter less: its inner loop works on a tile whose size is known.

# %% [markdown]
# ## What could go wrong
#
# The edge forgotten:

# %%
@cuda.jit
def multiply_unguarded_wrong(c, a, b):
    """Each thread adds up products, also beyond the edge."""
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


with expect(IndexError):
    product(multiply_unguarded_wrong, c, a, b, 32)

# %% [markdown]
# The guard in the wrong place: threads outside return early, and miss every barrier.

# %%
@cuda.jit
def multiply_early_wrong(c, a, b):
    """Threads outside go home; the others bring tiles, wait, add, wait."""
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


run = emulate(multiply_early_wrong)[grid(c, 16), (16, 16)](c, a, b)
with expect(AssertionError):
    run.assert_barriers()

# %% [markdown]
# On an H200 the others go on, and so does the emulator; but nobody loads the elements of the tiles that the absent threads should have brought.

# %% [markdown]
# ## What changed
#
# The ladder, with the count that each rung lowers, its time at 1024 × 1024, and its share of what the library reaches:

# %% tags=["timing"]
def rung(name, loads, time):
    """A rung's loads of an element, its time and its share of cuBLAS."""
    share = 100 * others[1].median_us / time.median_us
    return name, loads, time.median_us, share


narrow_times = [
    measure(kernel, flops=flops)[grid(big_c, 32), (32, 32)](
        *flat(big_c, big_a, big_b))
    for kernel in (multiply_32, multiply_tiled_32)]

table(["version", "loads of an element", "time, µs", "% of cuBLAS"],
      [rung("CPU, one core", "", others[0]),
       rung("naive", N, ours[0]),
       rung("naive, 32-bit indices", N, narrow_times[0]),
       *(rung(f"tile {size}", N // size, time)
         for size, time in zip(sizes, by_tile, strict=True)),
       rung("tile 32, 32-bit indices", N // 32, narrow_times[1]),
       rung("cuBLAS", "", others[1])])

# %% [markdown]
# ## On your own
#
# ★ How often does `make_tiled(32)` load an element of `a`, and how often one of `b`, at 228 × 240 by 240 × 112? Guess, then ask `tiled.reuse`.
#
# ★★ `times_transposed`: make `c = a @ b.T`, with tiles, coalesced loads and no bank conflicts.

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
#     """Bring a tile of each by rows, wait, add products, wait."""
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
# ★★★ `exercise("four_rows")`: each thread makes four elements of `c`, in one column. What happens to the loads from the tile of `b`?
#
# The [assignment](assignments/23_matrix_product.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Call a library for a product: cuBLAS, through CuPy or PyTorch. Write one to learn, or to do more in it than a product.
#
# Sums in another order round otherwise: compare with a tolerance, as `check` does.
#
# C++ has cooperative groups for parts of a block; Numba has the barrier of a whole grid only.
#
# Times at 1024 × 1024 are tens of microseconds to a few thousand: the launch is not in them, as `measure` has the clock on the GPU.

# %% [markdown]
# ## Further reading
#
# - [Numba: matrix multiplication](https://numba.readthedocs.io/en/stable/cuda/examples.html#matrix-multiplication): the naive and the tiled kernel.
# - [How to optimize a CUDA matmul kernel for cuBLAS-like performance](https://siboehm.com/articles/22/CUDA-MMM): the rest of the way, in C++.
#
# *Next:* [Read what a line becomes](31_types_and_instructions.ipynb): indices made the naive kernel slow; what else becomes of a line that nobody meant to write?
