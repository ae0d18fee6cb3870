# %% [markdown]
# # Multiply matrices of any size
#
# *55 minutes*
#
# **What you'll do:** go from three loops on a CPU to a tiled kernel for matrices of any size, compare each step with NVIDIA's library, and find out, one change at a time, what made it faster.
#
# **What you'll learn:**
#
# - fill ragged edges with zeros, so that every thread reaches every barrier
# - choose a tile by counts, occupancy and the clock
# - separate the effects of two changes, and find the instructions that a loop wastes
#
# **What you'll need:** the walk of a tile and its counts, as in [Use a number again while it is near](22_tiling.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, int64, njit, uint32, uint64

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, measure, plot_speeds, table)

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
    """Room for a product, full of NaN, and its two factors."""
    a = random.random((m, k), dtype=np.float32)
    b = random.random((k, n), dtype=np.float32)
    return np.full((m, n), np.nan, np.float32), a, b


c, a, b = matrices(228, 240, 112)
multiply_on_cpu(c, a, b)
check(c, a @ b)

# %% [markdown]
# This is our ragged size: neither 228 nor 240 nor 112 is a multiple of 32.
# Most times are for 1024 × 1024.
#
# The inner loop walks along a row of `a`, but down a column of `b`, where neighbours are a whole row apart.
# The same three loops in another order walk along rows only.
# **For each row, add up multiples of the rows of b.**

# %%
@njit
def multiply_by_rows(c, a, b):
    """For each row, add up multiples of the rows of b."""
    c[:] = 0
    for row in range(c.shape[0]):
        for k in range(a.shape[1]):
            for col in range(c.shape[1]):
                c[row, col] += a[row, k] * b[k, col]


multiply_by_rows(c, a, b)
check(c, a @ b)

# %%
cpu = {name: baseline(f"CPU 1024{name}")
       for name in ("", ", b by columns", ", rows only")}
table(["one core, 1024 × 1024", "time, ms", "GFLOP/s"],
      [(name[2:] or "row, col, k", it.median_us / 1000, it.gflop_per_s)
       for name, it in cpu.items()])

# %% [markdown]
# With `b` stored by columns, so that a column's neighbours are side by side, the same loops are 6.7 times as fast.
# The other order is another 4.4 times as fast.
# It adds to a whole row of sums in turn instead of to one, and the compiler makes vector instructions of that, for several sums at a time.
#
# ## A thread for each element
#
# The two outer loops become the grid.
# An element is [row, column] and a thread (x, y), as before.
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
    return -(-c.shape[1] // side), -(-c.shape[0] // side)   # rounded up


def product(kernel, c, a, b, side):
    """Emulate a product and check it."""
    c[:] = np.nan
    run = emulate(kernel)[grid(c, side), (side, side)](c, a, b)
    check(c, a @ b)
    return run


# %% [markdown]
# The guard stops the threads that hang over the edge.
# The lanes of a warp have one row and 32 columns: each step asks for one element of `a`, which goes to all lanes, and for 32 neighbours of `b`.
# No sector is wasted.
#
# **Predict.** How often is each element of `a` loaded in the ragged product, and how often each of `b`?
#
# <details><summary>Answer</summary>
#
# `a[row, k]` once by each thread of its row: 112 times.
# `b[k, col]` once by each thread of its column: 228 times.
#
# </details>

# %%
naive = product(multiply, c, a, b, 32)
{name: int(naive.reuse[name].loads.max()) for name in "ab"}

# %% [markdown]
# How much of that can a tile save at any size, how much faster is it, and how close does it come to a library?
#
# ## Tiles that hang over the edge
#
# Tiles at the edge are not full.
# A thread outside `a` or `b` stores a zero in its tile: a product with zero adds nothing, so the sums need no guard.
# No thread may return early, since all must reach both barriers.
# **Step by step, load tiles filled up with zeros, wait, add, wait.**

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
sizes = 8, 16, 32
tilings = {size: make_tiled(size) for size in sizes}
for m, k, n in (1, 1, 1), (33, 1, 65), (5, 70, 40):
    product(tilings[16], *matrices(m, k, n), 16)

tiled = product(tilings[32], c, a, b, 32)
tiled

# %% [markdown]
# Any size works, down to a single element.
# In C++ the side of the tile would be a template's parameter; here a function makes a kernel for each side.
# `tilings` keeps the three, so that each is compiled once.
#
# ## Which tile?
#
# A larger tile needs fewer loads, but its block has more threads that wait for one another.
# How many blocks fit on a multiprocessor at once depends on their threads, registers and shared memory; `assemble` asks the compiler and works it out.
# The share of a multiprocessor's warps that they fill is the launch's **occupancy**.

# %% tags=["assembly"]
N, flops = 1024, 2 * 1024**3
square = matrices(64, 64, 64)
big = matrices(N, N, N)


def held(kernel, size):
    """What a multiprocessor holds of a launch at 1024 × 1024."""
    it = assemble(kernel)[grid(big[0], size), (size, size)](*big)
    return it.registers, it.occupancy.blocks, 100 * it.occupancy.share


loads = {s: product(tilings[s], *square, s).reuse["a"].loads.mean()
         for s in sizes}
table(["tile", "loads of an element, 64 × 64", "registers per thread",
       "blocks per multiprocessor", "occupancy, %"],
      [(s, loads[s], *held(tilings[s], s)) for s in sizes])

# %% tags=["timing"]
def clock(kernel, size=32, shared_bytes=0):
    """Measure a product of 1024 × 1024 in blocks of a size."""
    return measure(kernel, flops=flops)[
        grid(big[0], size), (size, size), 0, shared_bytes](*big)


def cost(it):
    """What a kernel's steps take, and its largest wait but for a turn."""
    counts = it.counters.get
    steps = N**3 / 32   # of a warp, 32 products each
    waits = [name for name in it.waits if name != "a turn to issue"]
    return (counts("instructions", np.nan) / steps,
            counts("issue_percent", np.nan),
            counts("l1_data_percent", np.nan), waits[0] if waits else "")


COST = ["instructions per step", "issue slots used, %",
        "L1/shared data path busy, %", "warps wait most for"]
by_tile = {f"tile {s}": clock(tilings[s], s) for s in sizes}
table(["kernel", "time, µs", *COST],
      [(name, it.median_us, *cost(it)) for name, it in by_tile.items()])

# %% [markdown]
# Each tile fills the multiprocessor. With one register more per thread, the tile of 32 would fill half of it.
#
# A *step* in this table is 32 products, one for each lane of a warp.
# From 8 to 16 it takes 33% fewer instructions, the data path has 36% less to do, and the time falls by 34%.
# The path sets that pace: [the last lesson's](22_tiling.ipynb) tile of 8, without guards, takes as long with 8 instructions instead of 9.3, and as much work for the path.
# From 16 to 32 the path has 15% less to do, but the time falls by only 3%: at 76% busy, the path alone no longer sets the pace.
#
# ## From a CPU to a library
#
# How fast is each version?

# %% tags=["timing"]
plain, library = clock(multiply), baseline("cuBLAS 1024")
speeds = {"CPU, row, col, k": cpu[""], "CPU, rows only": cpu[", rows only"],
          "naive": plain, "tile 32": by_tile["tile 32"], "cuBLAS": library}
plot_speeds(list(speeds), [it.gflop_per_s for it in speeds.values()],
            peak=plain.gflop_per_s / plain.share_of_peak)

# %% [markdown]
# The axis is logarithmic: each label is ten times the one before it.
# The naive kernel is 2,800 times as fast as the first CPU loop, and 97 times as fast as the better one: ask which loop a speedup is measured against.
# From naive to tiled it is a factor of 5.7.
# cuBLAS, NVIDIA's library, is another 4.4 times as fast, at half of the float32 peak.
#
# The ragged product is small:

# %% tags=["timing"]
def clock_ragged(kernel, size=32):
    """Measure the ragged product."""
    return measure(kernel, flops=2 * 228 * 240 * 112)[
        grid(c, size), (size, size)](c, a, b)


ragged = {"naive": clock_ragged(multiply),
          "tile 32": clock_ragged(tilings[32]),
          "tile 16": clock_ragged(tilings[16], 16),
          "cuBLAS": baseline("cuBLAS 228 × 240 × 112")}
table(["228 × 240 by 240 × 112", "time, µs", "GFLOP/s"],
      [(name, it.median_us, it.gflop_per_s) for name, it in ragged.items()])

# %% [markdown]
# Tiles of 32 make 32 blocks for 132 multiprocessors, tiles of 16 make 105.
# Here the smaller tile wins, although it loads each element of `a` 7 times instead of 4, and each of `b` 15 times instead of 8.
#
# ## What a loop costs
#
# Is the naive kernel slow because of its loads?
# Ask what its warps wait for, and what the compiler made of it:

# %% tags=["assembly"]
print(plain)

launch = grid(big[0], 32), (32, 32)
with_range = assemble(multiply)[launch](*big)
with_range

# %% [markdown]
# The warps wait for arithmetic units and for their turn to issue, and hardly ever for a load.
# `FFMA` is the product and the sum that we want, `LDG` a load from global memory.
# Nine in ten of the others compute integers or copy registers: indices, mostly.
#
# In Python a negative index counts from the end. Numba checks each index for that, with selects (`SEL`).
# Our `k` is never negative, but the compiler does not see that through `range`.
# It does see it in a `while` loop that counts up from 0: two selects are left, before the loop.
# An unsigned index needs no check at all.
# To compare them, `make_while` takes the type of the indices.
# **Each thread adds up the products, in a `while` loop.**

# %% tags=["assembly"]
def make_while(T):
    """The naive kernel with a `while` loop, and indices of type T."""
    @cuda.jit
    def multiply_while(c, a, b):
        """Each thread adds up the products, in a `while` loop."""
        col, row = cuda.grid(2)
        col, row, inner = T(col), T(row), T(a.shape[1])
        if row < c.shape[0] and col < c.shape[1]:
            k, total = T(0), float32(0)
            while k < inner:
                total += a[row, k] * b[k, col]
                k = T(k + T(1))
            c[row, col] = total
    return multiply_while


in_while = {T: make_while(T) for T in (int64, uint64, int32, uint32)}
for T in int64, uint32:
    product(in_while[T], c, a, b, 32)
made = {"range": with_range} | {
    f"while, {T}": assemble(kernel)[launch](*big)
    for T, kernel in in_while.items()}
table(["loop", "FFMA", "LDG", "SEL"],
      [(name, *(it.opcodes[op] for op in ("FFMA", "LDG", "SEL")))
       for name, it in made.items()])

# %% jupyter={"source_hidden": true}
def make_tiled_while(T, size=32):
    """The tiled kernel with a `while` loop, and indices of type T."""
    @cuda.jit
    def multiply_tiled_while(c, a, b):
        """Load tiles filled up with zeros, wait, add, wait."""
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = T(cuda.threadIdx.x), T(cuda.threadIdx.y)
        col, row = cuda.grid(2)
        col, row, at, total = T(col), T(row), T(0), float32(0)
        while at < a.shape[1]:
            in_a = row < a.shape[0] and T(at + x) < a.shape[1]
            in_b = T(at + y) < b.shape[0] and col < b.shape[1]
            tile_a[y, x] = a[row, T(at + x)] if in_a else float32(0)
            tile_b[y, x] = b[T(at + y), col] if in_b else float32(0)
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[y, T(k)] * tile_b[T(k), x]
            cuda.syncthreads()
            at = T(at + T(size))
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total
    return multiply_tiled_while


# %% [markdown]
# ## One thing at a time
#
# The cell above, folded in a notebook, gives the tiled kernel the same two loops.
# Now there are three loops, each without and with a tile, and two of them in CUDA C++, which checks no index.
# From the first row to the second only the loop changes, from the second to the third only the type of the indices; along a row only the tile.

# %% tags=["timing"]
in_tiles = {T: make_tiled_while(T) for T in (int64, uint32)}
for kernel in in_tiles.values():
    product(kernel, c, a, b, 32)

loops = {"range": (plain, by_tile["tile 32"])}
loops |= {f"while, {T}": (clock(in_while[T]), clock(kernel))
          for T, kernel in in_tiles.items()}
cpp = {f"while, {T}": [baseline(f"CUDA C++ {name}{bits} 1024").median_us
                       for name in ("naive", "tiled")]
       for T, bits in ((int64, ", 64-bit"), (uint32, ""))}
table(["loop", "naive, µs", "tile 32, µs", "times as fast",
       "naive in C++, µs", "tile 32 in C++, µs"],
      [(name, one.median_us, two.median_us, one.median_us / two.median_us,
        *cpp.get(name, ("", ""))) for name, (one, two) in loops.items()])

# %% [markdown]
# In the first row, the tile seems to make the product 5.7 times as fast.
# But with `range` the naive kernel takes 3.1 times as long as with `while`, and the tiled one takes the same time with both.
# With equal loops the tile gains a factor of 1.8, with `uint32` indices 1.5. That is what the tile itself gains.
#
# Numba keeps up with C++ where both have the same loop: it takes from 15% less to 8% more time.
#
# So what does each version spend its time on?

# %% tags=["timing"]
def share(it, reason):
    """A reason's part of the waits, in %; those for a turn are left out."""
    waits = {name: count for name, count in it.counters.get(
        "stalls", {}).items() if name not in ("selected", "not_selected")}
    return 100 * waits.get(reason, 0) / sum(waits.values()) if waits else ""


table(["kernel", "waits for loads, %", "for their queue, %", *COST],
      [(f"{kind}, {name}", share(it, "long_scoreboard"),
        share(it, "lg_throttle"), *cost(it)) for name, both in loops.items()
       for kind, it in zip(("naive", "tile 32"), both, strict=True)])

# %% [markdown]
# A step needs two loads and an `FFMA`. With `range` the naive kernel issues 36 instructions for it, with `while` 8.1.
# Only with `while` does it wait most for loads.
# Most of the 5.7 comes from instructions: a tile's inner loop has known indices and needs 4.3 per step.
# With equal loops the tile also halves the instructions, from 8.1 to 4.0.
#
# With `uint32` (not with `int32` or `uint64`) the compiler also unrolls more: 29 `FFMA` instead of 5. Waits for loads fall from 81% to 43%; waits for their queue rise from 4% to 23%.
#
# The tiled kernels wait most for the queue to shared memory. With `uint32` the path has as much work as with `range`, and each step 21% fewer instructions: 267 µs instead of 282.

# %% [markdown]
# ## Size at the launch
#
# With dynamic shared memory, one kernel serves tiles of any size.
# That changes two things: how the tiles are allocated, and whether the compiler knows their size.
# So `make_dynamic` takes a size, or 0 for the size of the block.
# **Load tiles as wide as the block, wait, add, wait.**

# %%
@cuda.jit(device=True)
def add_products(total, tile_a, tile_b, x, y, side):
    """Add the products of one step to a sum."""
    k = uint32(0)
    while k < side:
        total += tile_a[uint32(side * y + k)] * tile_b[uint32(side * k + x)]
        k = uint32(k + uint32(1))
    return total


# %%
def make_dynamic(size):
    """A product in dynamic tiles of a size, or of the block's if it is 0."""
    @cuda.jit
    def multiply_dynamic(c, a, b):
        """Load tiles as wide as the block, wait, add, wait."""
        side = uint32(size) if size else uint32(cuda.blockDim.x)
        both = cuda.shared.array(0, float32)
        tile_a, tile_b = both[:side * side], both[side * side:]
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        col, row = cuda.grid(2)
        col, row, at, total = uint32(col), uint32(row), uint32(0), float32(0)
        while at < a.shape[1]:
            in_a = row < a.shape[0] and uint32(at + x) < a.shape[1]
            in_b = uint32(at + y) < b.shape[0] and col < b.shape[1]
            mine = uint32(side * y + x)
            tile_a[mine] = a[row, uint32(at + x)] if in_a else float32(0)
            tile_b[mine] = b[uint32(at + y), col] if in_b else float32(0)
            cuda.syncthreads()
            total = add_products(total, tile_a, tile_b, x, y, side)
            cuda.syncthreads()
            at = uint32(at + side)
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total
    return multiply_dynamic


# %% tags=["timing"]
SHARED = 2 * 4 * 32**2      # bytes of two tiles


def row_of(name, kernel, shared_bytes=0):
    """A kernel's time, and what the compiler made of its source."""
    it = assemble(kernel)[*launch, 0, shared_bytes](*big)
    timed = clock(kernel, 32, shared_bytes)
    loads = it.kinds["shared loads"] / it.opcodes["FFMA"]
    return name, timed.median_us, loads, *cost(timed)


dynamic = {size: make_dynamic(size) for size in (0, 32)}
for kernel in dynamic.values():
    c[:] = np.nan
    emulate(kernel)[grid(c, 32), (32, 32), 0, SHARED](c, a, b)
    check(c, a @ b)

table(["tile", "time, µs", "shared loads per FFMA", *COST],
      [row_of("static, 32", in_tiles[uint32]),
       row_of("dynamic, 32", dynamic[32], SHARED),
       row_of("dynamic, the block's", dynamic[0], SHARED)])

# %% [markdown]
# Dynamic shared memory costs nothing: the second row takes as long as the first.
# A size chosen at the launch costs half as much time again.
#
# A loop whose length is known is unrolled whole: its indices become constants, and one load takes four neighbours of `tile_a` at once (`LDS.128`), so 40 loads serve 32 products.
# With an unknown size 64 loads do this work, each computes its address, and a step takes 10 instructions instead of 3.4.
# Issue slots are 86% used: now the instructions set the pace.
# That is why `make_tiled` makes a kernel for each size.
#
# ## What could go wrong
#
# Here the guard is missing:

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
# Here the guard is in the wrong place: threads outside return early, and miss every barrier.

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


run = emulate(multiply_early_wrong)[grid(c, 16), (16, 16)](c, a, b)
with expect(AssertionError):
    run.assert_barriers()

# %% [markdown]
# The emulator's barrier, like a GPU's, does not wait for them, so the kernel runs to its end.
# But nobody loads the elements that they should have loaded, so the product is wrong.
#
# ## What changed

# %% tags=["timing"]
def rung(name, loads, it):
    """A version's loads of an element, its time and its share of cuBLAS."""
    return (name, loads, it.median_us, it.gflop_per_s,
            100 * library.median_us / it.median_us)


table(["version", "loads of an element", "time, µs", "GFLOP/s",
       "% of cuBLAS"],
      [rung("CPU, row, col, k", "", cpu[""]),
       rung("CPU, rows only", "", cpu[", rows only"]),
       rung("naive", N, plain),
       rung("naive, while, int64", N, loops["while, int64"][0]),
       rung("naive, while, uint32", N, loops["while, uint32"][0]),
       *(rung(name, N // int(name[5:]), it) for name, it in by_tile.items()),
       rung("tile 32, while, uint32", N // 32, loops["while, uint32"][1]),
       rung("cuBLAS", "", library)])

# %% [markdown]
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
# ★★ `times_transposed`: make `c = a @ b.T`, with tiles, coalesced loads and no bank conflicts. In the step at `at`, thread (x, y) loads `b[32 * cuda.blockIdx.x + y, at + x]`: its row of `b` is one of the block's *columns*.

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
# ★★★ `exercise("four_rows")`: each thread makes four elements of `c`, in one column. What happens to the loads from the tile of `b`?
#
# <details><summary>Answer</summary>
#
# One load serves four products, so a quarter of them is left.
#
# </details>
#
# The [assignment](assignments/23_matrix_product.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Call a library for a product: cuBLAS, through CuPy or PyTorch. Write your own to learn, or when the kernel must do more than the product.
#
# Write `range` first. When a profiler shows arithmetic where you expect loads, look at the loop.
#
# Sums in another order round differently: compare with a tolerance, as `check` does.
#
# C++ has cooperative groups, for parts of a block and for the whole grid. Of these, Numba has only the whole grid's.
#
# The times are of the kernel alone, without launch and copies: `measure` reads the GPU's clock.

# %% [markdown]
# ## Further reading
#
# - [Numba: matrix multiplication](https://numba.readthedocs.io/en/stable/cuda/examples.html#matrix-multiplication): the naive and the tiled kernel.
# - [How to optimize a CUDA matmul kernel for cuBLAS-like performance](https://siboehm.com/articles/22/CUDA-MMM): the rest of the way, in C++.
#
# *Next:* [Multiply matrices as fast as cuBLAS](24_up_the_ladder_to_cublas.ipynb): a library is 4.4 times as fast as our tile; what is left to do?
