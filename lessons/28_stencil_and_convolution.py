# %% [markdown]
# # Compute each cell from its neighbours
#
# *45 minutes*
#
# **What you'll do:** take a step of heat through a cube, and filter an image with 121 weights, each rung closer to what the machine allows.
#
# **What you'll learn:**
#
# - tell by two counts whether memory or arithmetic sets the limit
# - walk along one axis, with the neighbours along that axis in registers
# - put weights into the instructions themselves, and do two filters in one pass
#
# **What you'll need:** halos, as in [Share data within a block](13_shared_memory.ipynb), and `load4` and `store4` of [the transpose](21_transpose.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, load4, measure, plot_reuse, plot_strip_walk,
                     plot_times, store4, table)

device

# %% [markdown]
# ## Heat in a cube
#
# Each cell of a cube has a temperature. In a step of time, it moves towards that of its six neighbours.
# Cells on the surface keep theirs.
# A rule that makes a cell of its neighbours is a **stencil**; this one needs seven cells.
#
# A step must load each cell once and store it once: 8 bytes.
# Its nine operations take far less time. A copy moves the same bytes, so it is our limit.
#
# `@part` makes a device function that the compiler copies into its kernel.

# %%
def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


SHARE, SIX = np.float32(0.125), np.float32(6)


@part
def spread(here, west, east, north, south, below, above):
    """A cell after one step, of its value and its six neighbours'."""
    around = west + east + north + south + below + above
    return here + SHARE * (around - SIX * here)


def stepped(src):
    """All cells after one step, in float64."""
    old, inner = src.astype(np.float64), (slice(1, -1),) * 3
    new = old.copy()
    with np.errstate(invalid="ignore"):     # infinities may meet
        for axis in range(3):
            for by in -1, 1:
                new[inner] += SHARE * (np.roll(old, by, axis) - old)[inner]
    return new

# %% [markdown]
# A cell is [z, y, x], and x runs along a row. All indices have the type uint32, as in [the matrix product](23_matrix_product.ipynb).
# **Each thread loads a cell and its six neighbours.**

# %%
@part
def inside(cells, z, y, x):
    """Is a cell inside, with a neighbour on each of its six sides?"""
    depth, height, width = cells.shape
    return (0 < z and z + 1 < depth and 0 < y and y + 1 < height
            and 0 < x and x + 1 < width)


@cuda.jit
def step_plain(out, src):
    """Each thread loads a cell and its six neighbours."""
    x, y, z = cuda.grid(3)
    x, y, z = uint32(x), uint32(y), uint32(z)
    if inside(src, z, y, x):
        out[z, y, x] = spread(
            src[z, y, x], src[z, y, uint32(x - 1)], src[z, y, uint32(x + 1)],
            src[z, uint32(y - 1), x], src[z, uint32(y + 1), x],
            src[uint32(z - 1), y, x], src[uint32(z + 1), y, x])

# %%
random = np.random.default_rng(0)


def over(shape, *sides):
    """Blocks that cover a shape; a block covers so many along x, y, z."""
    return tuple(max(1, -(-n // side)) for n, side in zip(
        shape[::-1], sides, strict=True))


def step(rung, src):
    """Emulate a step, check it, and return the run."""
    kernel, threads, *sides = rung
    out = src.copy()        # both have the same surface
    out[1:-1, 1:-1, 1:-1] = np.nan
    run = emulate(kernel)[over(src.shape, *sides), threads](out, src)
    check(out, stepped(src) if min(src.shape) > 2 else src)
    return run


cube = random.random((18, 34, 128), dtype=np.float32)
plain = step_plain, (32, 8, 4), 32, 8, 4
in_plain = step(plain, cube)

# %% [markdown]
# Blocks have 32 × 8 × 4 threads, so a warp has 32 cells of a row.
#
# **Predict.** How many requests to global memory does a warp make for 32 cells?
#
# <details><summary>Answer</summary>
#
# Seven loads and a store. (The table says a little more: at the edges, warps have fewer than 32 cells.)
# Each cell is loaded by seven threads, so caches can serve six loads of seven.
#
# </details>

# %%
def per_32(run, kind, cells):
    """The requests of a kind for 32 cells."""
    rows = run.coalescing.by_kind, run.bank_conflicts.by_kind
    return [32 * by[kind].requests / cells if kind in by else 0 for by in rows]


INNER = 16 * 32 * 126       # cells inside of our small cube


def counted(name, run, cells=INNER):
    """A rung's requests: loads and stores, to global and to shared memory."""
    (load, shared_load), (store, shared_store) = (
        per_32(run, kind, cells) for kind in ("load", "store"))
    return name, load, store, shared_load, shared_store


COUNTS = "requests for 32 cells", "loads", "stores", "shared loads", "stores"
table(COUNTS, [counted("plain", in_plain)])

# %% [markdown]
# The times of this lesson are recorded with cold caches, all rungs of a ladder by turns. Of the cube, which has 512 × 512 × 512 cells, the copy is the driver's.

# %% tags=["timing"]
def recorded(ladder, *rungs):
    """The recorded times of some rungs."""
    return {it: baseline(f"{ladder}, {it}") for it in rungs}


def against(ladder, *rungs):
    """Times, and the share of the copy's rate."""
    found = recorded(ladder, "copy", *rungs)
    copy = found["copy"].median_us
    return table(["rung", "time, µs", "GB/s", "% of the copy"],
                 [(name, it.median_us, it.gb_per_s,
                   100 * copy / it.median_us) for name, it in found.items()])


against("step", "plain", "plain in C++")

# %% [markdown]
# The plain step takes 2.9 times as long as the copy, and in C++ still 2.4 times.
# Which count has to fall?
#
# ## A tile with a halo
#
# A block needs 34 × 10 × 6 cells for its 32 × 8 × 4: its own and a **halo** around them.
# **Load the block's cells and their halo, wait, then take all seven from the tile.**

# %%
@cuda.jit
def step_tiled(out, src):
    """Load the block's cells and a halo, wait, then take all from the tile."""
    tile = cuda.shared.array((6, 10, 34), float32)
    left, top = uint32(32 * cuda.blockIdx.x), uint32(8 * cuda.blockIdx.y)
    first = uint32(4 * cuda.blockIdx.z)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    cell = uint32(32 * (8 * z + y) + x)
    while cell < 34 * 10 * 6:
        c, b = uint32(cell % 34), uint32(cell // 34 % 10)
        a = uint32(cell // 340)
        k, j, i = uint32(first + a), uint32(top + b), uint32(left + c)
        if k < src.shape[0] and j < src.shape[1] and i < src.shape[2]:
            tile[a, b, c] = src[k, j, i]
        cell = uint32(cell + 1024)
    cuda.syncthreads()
    x, y, z = uint32(x + 1), uint32(y + 1), uint32(z + 1)
    k, j, i = uint32(first + z), uint32(top + y), uint32(left + x)
    if inside(src, k, j, i):
        out[k, j, i] = spread(
            tile[z, y, x],
            tile[z, y, uint32(x - 1)], tile[z, y, uint32(x + 1)],
            tile[z, uint32(y - 1), x], tile[z, uint32(y + 1), x],
            tile[uint32(z - 1), y, x], tile[uint32(z + 1), y, x])

# %%
tiled = step_tiled, (32, 8, 4), 32, 8, 4
in_tiled = step(tiled, cube)
print(table(COUNTS, [counted("plain", in_plain), counted("tiled", in_tiled)]))
print(against("step", "plain", "tiled"))
plot_reuse(in_tiled.reuse["src"].loads[2], "layer 2 of src")

# %% [markdown]
# In layer 2, cells in one tile only are loaded once, those where four halos meet four times.
#
# The tile needs a third of the global loads, and makes the step 1.5 times *slower*.
# L1 had served most of those loads. Now there are as many shared loads instead, and work to fill the tile: Nsight Compute counts 190 instructions of a warp for 32 cells instead of 118.
#
# ## Registers along the third axis
#
# In the tile, each cell above and below is one that its own thread could keep, if it walked along z.
# Then a block needs a tile of one layer only.
# **Walk up: this layer in a tile, the cells around it in registers.**

# %%
@part
def share_layer(tile, src, z, y, x, cell):
    """Store a layer's cell in the tile; at its edge, load the halo, too."""
    row, col = uint32(cuda.threadIdx.y + 1), uint32(cuda.threadIdx.x + 1)
    tile[row, col] = cell
    if col == 1:
        tile[row, 0] = src[z, y, uint32(x - 1)]
    if row == 1:
        tile[0, col] = src[z, uint32(y - 1), x]
    if col == 32 and x + 1 < src.shape[2]:
        tile[row, 33] = src[z, y, uint32(x + 1)]
    if row == 8 and y + 1 < src.shape[1]:
        tile[9, col] = src[z, uint32(y + 1), x]


@part
def spread_in(tile, cell, below, above):
    """A thread's cell after a step, of the tile and of two other layers."""
    y, x = uint32(cuda.threadIdx.y + 1), uint32(cuda.threadIdx.x + 1)
    return spread(cell, tile[y, uint32(x - 1)], tile[y, uint32(x + 1)],
                  tile[uint32(y - 1), x], tile[uint32(y + 1), x], below, above)

# %%
def make_layers(LAYERS):
    """A step whose blocks walk up through some layers, with a tile of one."""
    @cuda.jit
    def step_layers(out, src):
        """Walk up: this layer in a tile, the cells around it in registers."""
        tile = cuda.shared.array((10, 34), float32)
        x, y = cuda.grid(2)
        x, y = uint32(x + 1), uint32(y + 1)     # of the first cell inside
        z = uint32(cuda.blockIdx.z * LAYERS + 1)
        end = uint32(min(z + LAYERS + 1, src.shape[0]))
        there = z + 1 < end and y < src.shape[1] and x < src.shape[2]
        below = src[uint32(z - 1), y, x] if there else float32(0)
        cell = src[z, y, x] if there else float32(0)
        while z + 1 < end:
            above = src[uint32(z + 1), y, x] if there else float32(0)
            if there:
                share_layer(tile, src, z, y, x, cell)
            cuda.syncthreads()
            if inside(src, z, y, x):
                out[z, y, x] = spread_in(tile, cell, below, above)
            cuda.syncthreads()
            below, cell, z = cell, above, uint32(z + 1)
    return step_layers

# %% [markdown]
# A step at each of 16 layers, from z to z + 15, needs 18 of them.
#
# **Predict.** How many loads does a warp make for 32 cells, apart from the halo of a row?
#
# <details><summary>Answer</summary>
#
# 18/16 of a load for its own column. Of eight warps, two load a row of the halo.
# The lanes at the ends load one more cell each: two requests.
#
# </details>

# %%
FEW = 16        # layers, in our small cube
layers = make_layers(FEW), (32, 8), 32, 8, FEW
in_layers = step(layers, cube)
print(table(COUNTS, [counted("tiled", in_tiled),
                     counted("layers", in_layers)]))
against("step", "tiled", "layers", "layers in C++")

# %% [markdown]
# The walk needs 117 instructions for 32 cells instead of 190, and takes 56% of the time.
# Its warps wait most for the barriers, two in each layer.
#
# ## Without the tile
#
# What if we let L1 serve the four neighbours in the layer, and keep the registers?
# Then there is no barrier and no halo.
# **Walk up: three cells in registers, the other neighbours from L1.**

# %%
def make_walk(LAYERS):
    """A step whose threads walk up through some layers."""
    @cuda.jit
    def step_walk(out, src):
        """Walk up: three cells in registers, the other neighbours from L1."""
        x, y = cuda.grid(2)
        x, y = uint32(x + 1), uint32(y + 1)
        z = uint32(cuda.blockIdx.z * LAYERS + 1)
        end = uint32(min(z + LAYERS + 1, src.shape[0]))
        if inside(src, z, y, x):
            below, cell = src[uint32(z - 1), y, x], src[z, y, x]
            while z + 1 < end:
                above = src[uint32(z + 1), y, x]
                out[z, y, x] = spread(
                    cell, src[z, y, uint32(x - 1)], src[z, y, uint32(x + 1)],
                    src[z, uint32(y - 1), x], src[z, uint32(y + 1), x],
                    below, above)
                below, cell, z = cell, above, uint32(z + 1)
    return step_walk


walk = make_walk(FEW), (32, 8), 32, 8, FEW
in_walk = step(walk, cube)
against("step", "layers", "walk")

# %% [markdown]
# Without the tile, 59 instructions are left, half of the 117. The step takes 77% of the time, less than the walk with a tile in C++.
# Now the warps wait for loads, and each 32 cells take 5.2 requests.
#
# ## Four cells at a time
#
# A thread that takes four neighbours in a row needs only two more cells of that row, one at each end.
# All else it loads by fours.
# The width of the cube must be a multiple of 4.
# **Walk up, four cells wide: load, spread and store four at once.**

# %%
@part
def spread_four(four, west, east, north, south, below, above):
    """Four cells in a row after one step."""
    a, b, c, d = four
    return (spread(a, west, b, north[0], south[0], below[0], above[0]),
            spread(b, a, c, north[1], south[1], below[1], above[1]),
            spread(c, b, d, north[2], south[2], below[2], above[2]),
            spread(d, c, east, north[3], south[3], below[3], above[3]))

# %%
def make_fours(LAYERS):
    @cuda.jit
    def step_fours(out, src):
        """Walk up, four cells wide: load, spread and store four at once."""
        x, y = cuda.grid(2)
        x, y = uint32(4 * x), uint32(y + 1)
        z = uint32(cuda.blockIdx.z * LAYERS + 1)
        end = uint32(min(z + LAYERS, src.shape[0] - 1))
        if (x < src.shape[2] and y + 1 < src.shape[1]
                and z + 1 < src.shape[0]):
            first, last = x == 0, uint32(x + 4) >= src.shape[2]
            below = load4(src, (uint32(z - 1), y, x))
            four = load4(src, (z, y, x))
            while z < end:
                above = load4(src, (uint32(z + 1), y, x))
                north = load4(src, (z, uint32(y - 1), x))
                south = load4(src, (z, uint32(y + 1), x))
                west = four[0] if first else src[z, y, uint32(x - 1)]
                east = four[3] if last else src[z, y, uint32(x + 4)]
                a, b, c, d = spread_four(
                    four, west, east, north, south, below, above)
                store4(out, (z, y, x), (four[0] if first else a, b, c,
                                        four[3] if last else d))
                below, four, z = four, above, uint32(z + 1)
    return step_fours

# %%
fours = make_fours(FEW), (32, 8), 128, 8, FEW
in_fours = step(fours, cube)
adverse = random.random((17, 10, 132), dtype=np.float32)
adverse[3, 4, 5:9], adverse[12, :, 77] = (np.nan, np.inf, -np.inf, -0.0), -0.0
for src in (adverse, adverse[:3, :3, :4].copy(), adverse[:2, :, :8].copy(),
            np.zeros((0, 4, 4), np.float32), np.ones((4, 5, 8), np.float32)):
    for rung in plain, tiled, layers, walk, fours:
        step(rung, src)
for rung in plain, tiled, layers, walk:
    step(rung, adverse[:, :, :67].copy())

print(table(COUNTS, [counted("walk", in_walk), counted("fours", in_fours)]))
against("step", "walk", "fours", "fours in C++")

# %% [markdown]
# A quarter of the requests, a third of the instructions, 57% of the time.
# The count of instructions promised more. But memory is 81% busy now, instead of 47%, and the step reaches 94% of the copy's rate.
#
# All rungs, with what Nsight Compute counts:

# %% tags=["timing"]
LAYERS, SHAPE, CELLS = 64, (512, 512, 512), 512**3
big = np.zeros((2, *SHAPE), np.float32)
rungs = {"plain": plain, "tiled": tiled,
         "layers": (make_layers(LAYERS), (32, 8), 32, 8, LAYERS),
         "walk": (make_walk(LAYERS), (32, 8), 32, 8, LAYERS),
         "fours": (make_fours(LAYERS), (64, 4), 256, 4, LAYERS)}


def clock(rung, shape, *arrays):
    """A rung's registers, and its measurement with counters."""
    kernel, threads, *sides = rung
    blocks = over(shape, *sides)
    registers = assemble(kernel)[blocks, threads](*arrays).registers
    return registers, measure(kernel)[blocks, threads](*arrays)


def row_of(name, ladder, registers, m, elements):
    """A rung's registers, instructions, busiest parts and time."""
    counts = [m.counters.get(it, np.nan) for it in ("instructions", *BUSY)]
    return (name, registers, 32 * counts[0] / elements, *counts[1:],
            baseline(f"{ladder}, {name}").median_us)

# %% tags=["timing"]
BUSY = "issue_percent", "l1_data_percent", "memory_percent"
HEAD = ("rung", "registers", "instructions for 32", "issue slots used, %",
        "L1 data path busy, %", "memory busy, %", "time, µs")
measured = {name: clock(rung, SHAPE, *big) for name, rung in rungs.items()}
print(table(HEAD, [row_of(name, "step", *it, CELLS)
                   for name, it in measured.items()]))
times = recorded("step", *measured, "fours in C++")
plot_times(list(times), [it.median_us for it in times.values()],
           [(it.lower_us, it.upper_us) for it in times.values()],
           baseline("step, copy").median_us, "the driver's copy")

# %% [markdown]
# From rung to rung, the order of the times is that of the instructions, not that of the loads.
# (`measure` ran each rung alone, on zeros; its times differ by less than 2% from these.)
#
# ## A filter of 121 weights
#
# A **convolution** makes each pixel the sum of its neighbours times weights.
# Our filter has 11 × 11 weights at random, so none can be shared or skipped. (Strictly, a convolution turns them by half a turn.)
#
# A scheduler issues one instruction for 32 lanes per cycle, and a multiprocessor has four of them. So how long does it take to issue the products and sums of 8192 × 8192 pixels, 121 `FFMA` for each, and nothing else?

# %%
gpu, PIXELS = cuda.get_current_device(), 8192**2


def least_us(instructions):
    """The µs in which so many instructions of a warp can be issued."""
    return 1000 * instructions / (
        4 * gpu.MULTIPROCESSOR_COUNT * gpu.CLOCK_RATE)


table(["least time", "µs"],
      [("121 FFMA a pixel", least_us(121 * PIXELS / 32)),
       ("a copy of the image", baseline("separable, copy").median_us)])

# %% [markdown]
# Arithmetic takes nearly twice as long as a copy: here it sets the limit, and every instruction that is no `FFMA` comes on top.
#
# To spare all rungs their conditions, the image has a margin of zeros: 5 pixels around it, and on the right as many more as four neighbours at the edge of the output need.
# Output pixel [row, col] is then the sum of `weights[i, j] * src[row + i, col + j]`.

# %%
SIDE, LAST = 11, 10
WEIGHTS = np.random.default_rng(0).random((SIDE, SIDE), np.float32) / SIDE**2


def filtered(src, shape, weights):
    """The sums of an image with its margin, in float64."""
    sums, (rows, cols) = np.zeros(shape), shape
    with np.errstate(invalid="ignore"):
        for (i, j), weight in np.ndenumerate(weights.astype(np.float64)):
            sums += weight * src[i:i + rows, j:j + cols]
    return sums


def convolve(rung, image, weights=WEIGHTS):
    """Emulate a filter of an image of any size, check it, return the run."""
    kernel, threads, *sides, more = rung
    rows, cols = image.shape[0], -(-image.shape[1] // 4) * 4
    right = 7 + cols - image.shape[1]
    src = np.pad(image, ((5, 5), (5, right)))
    out = np.full((rows, cols), np.nan, np.float32)
    run = emulate(kernel)[over(out.shape, *sides), threads](out, src, *more)
    check(out, filtered(src, out.shape, weights))
    return run

# %% [markdown]
# **Each thread adds up the products of 121 weights and pixels.**

# %%
@cuda.jit
def filter_plain(out, src, weights):
    """Each thread adds up the products of 121 weights and pixels."""
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for i in range(SIDE):
            for j in range(SIDE):
                total += weights[i, j] * src[row + i, col + j]
        out[row, col] = total


image = random.random((16, 128), dtype=np.float32)
f_plain = filter_plain, (32, 8), 32, 8, (WEIGHTS,)
in_f_plain = convolve(f_plain, image)

# %% [markdown]
# Each product takes two loads, one of its weight and one of its pixel.
#
# ## Weights in constant memory
#
# Weights that are known when the kernel is compiled need not come from global memory.
# **The same, with the weights in constant memory.**

# %%
@cuda.jit
def filter_constant(out, src):
    """Add up the products, with the weights in constant memory."""
    weights = cuda.const.array_like(WEIGHTS)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for i in range(SIDE):
            for j in range(SIDE):
                total += weights[i, j] * src[row + i, col + j]
        out[row, col] = total


f_constant = filter_constant, (32, 8), 32, 8, ()
in_f_constant = convolve(f_constant, image)

# %% tags=["assembly"]
photo, filtered_photo = (np.zeros((8192 + more, 8192 + wide), np.float32)
                         for more, wide in ((LAST, 12), (0, 0)))
made = assemble(filter_constant)[(256, 1024), (32, 8)](filtered_photo, photo)
print(*[it for it in made.instructions if "c[0x3]" in str(it)
        or it.base == "FFMA"][:4], sep="\n")
print(table(COUNTS, [counted("plain", in_f_plain, image.size),
                     counted("constant", in_f_constant, image.size)]))
recorded("filter", "plain", "constant", "constant in C++")

# %% [markdown]
# Half of the loads from global memory are gone, and 44% of the time.
# `ULDC.64` brings two weights from constant memory (`c[0x3]`) for the whole warp, into *uniform* registers. There, an `FFMA` can take them.
#
# ## Four pixels at a time
#
# Four pixels side by side need 14 pixels of a row: four loads of 16 bytes instead of 44.
# **For each of eleven rows, load sixteen pixels and add to four sums.**

# %%
@part
def load_sixteen(near, src, row, col):
    """Load sixteen pixels of a row."""
    for j in range(0, 16, 4):
        near[j], near[j + 1], near[j + 2], near[j + 3] = load4(
            src, (row, col + j))

# %%
@cuda.jit
def filter_fours(out, src):
    """For each of eleven rows, load sixteen pixels and add to four sums."""
    weights = cuda.const.array_like(WEIGHTS)
    near, sums = cuda.local.array(16, float32), cuda.local.array(4, float32)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    if row < out.shape[0] and col < out.shape[1]:
        for e in range(4):
            sums[e] = 0
        for i in range(SIDE):
            load_sixteen(near, src, row + i, col)
            for j in range(SIDE):
                for e in range(4):
                    sums[e] += weights[i, j] * near[e + j]
        store4(out, (row, col), (sums[0], sums[1], sums[2], sums[3]))


f_fours = filter_fours, (32, 8), 128, 8, ()
in_f_fours = convolve(f_fours, image)
print(table(COUNTS, [counted("constant", in_f_constant, image.size),
                     counted("fours", in_f_fours, image.size)]))
recorded("filter", "constant", "fours")

# %% [markdown]
# Eleven requests instead of 121, and about a third of the time.
# The requests are wider, so the work of the data path falls less than their number: it is 94% busy.
#
# ## Walk down
#
# Each row of pixels is still loaded eleven times, for eleven rows of output.
# Let one thread make all of these.
# It walks down a strip, with eleven rows of four sums under way, each of which lacks other rows of weights.
# **Load a row, add it to eleven rows of sums, store a complete one.**

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
    add_to(sums, weights, near, 0, 4)       # in parts: the compiler does not
    add_to(sums, weights, near, 4, 8)       # unroll a loop of 484 products
    add_to(sums, weights, near, 8, 11)

# %%
@part
def clear(sums):
    """Set all sums to zero; those of row 11 stay so."""
    for i in range(SIDE + 1):
        for e in range(4):
            sums[i, e] = 0


@part
def store_complete(out, sums, row, col, first, end):
    """Store the first row of sums, once all its rows of pixels are in it."""
    if first <= row and row < end:
        store4(out, (uint32(row - LAST), col),
               (sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]))

# %%
def make_walking(ROWS, add, WEIGHTS):
    """A filter whose threads walk down strips of some rows, four wide."""
    @cuda.jit
    def filter_walking(out, src):
        """Load a row, add it to eleven rows of sums, store a complete one."""
        weights = cuda.const.array_like(WEIGHTS)
        sums = cuda.local.array((12, 4), float32)
        near = cuda.local.array(16, float32)
        col, strip = cuda.grid(2)
        row, col = uint32(ROWS * strip), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        clear(sums)
        while col < out.shape[1] and row < end:
            load_sixteen(near, src, row, col)
            add(sums, weights, near)
            store_complete(out, sums, row, col, first, end)
            row = uint32(row + 1)
    return filter_walking

# %% [markdown]
# **Predict.** How many requests for loads do 32 pixels take in strips of 16 rows, and in strips of 250?
#
# <details><summary>Answer</summary>
#
# A row takes four requests for 128 pixels, so one for 32. But a strip of 16 rows needs 26 rows of pixels: 26/16 = 1.625 requests. 250 rows need 260: 1.04.
# The sums grow by the same factor, since the first ten rows of a strip go into sums that are never stored.
#
# </details>

# %%
f_walking = make_walking(FEW, add_row, WEIGHTS), (32, 1), 128, FEW, ()
in_f_walking = convolve(f_walking, image)
print(table(COUNTS, [counted("fours", in_f_fours, image.size),
                     counted("walking", in_f_walking, image.size)]))
print(recorded("filter", "fours", "walking"))
plot_strip_walk(20)

# %% [markdown]
# The number in a sum says how many rows of products are in it once row 20 is added.
#
# One request is left where there were eleven, and the data path is 13% busy. But the time falls by only 13%.
#
# ## A row ahead
#
# A warp loads a row and needs it at once, so all four of a scheduler's warps often wait for loads.
# **Load the next row before the sums of this one; two rows a turn, so that nothing has to be moved.** `ROWS` is even.

# %%
def make_ahead(ROWS, add, WEIGHTS):
    @cuda.jit
    def filter_ahead(out, src):
        """Load the next row, then add this one, and store; twice a turn."""
        weights = cuda.const.array_like(WEIGHTS)
        sums = cuda.local.array((12, 4), float32)
        even = cuda.local.array(16, float32)
        odd = cuda.local.array(16, float32)
        col, strip = cuda.grid(2)
        row, col = uint32(ROWS * strip), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        last = uint32(end - 1); clear(sums)     # noqa: E702
        if col < out.shape[1] and row < end:
            load_sixteen(even, src, row, col)
            while row < end:
                after = uint32(row + 1)
                load_sixteen(odd, src, min(after, last), col)
                add(sums, weights, even)
                store_complete(out, sums, row, col, first, end)
                row = uint32(row + 2)
                load_sixteen(even, src, min(row, last), col)
                add(sums, weights, odd)
                store_complete(out, sums, after, col, first, end)
    return filter_ahead

# %%
f_ahead = make_ahead(FEW, add_row, WEIGHTS), (32, 1), 128, FEW, ()
in_f_ahead = convolve(f_ahead, image)
adverse = random.random((17, 130), dtype=np.float32)
adverse[4, 5:8], adverse[12] = (np.nan, np.inf, -0.0), -0.0
for rung in f_plain, f_constant, f_fours, f_walking, f_ahead:
    for some in adverse[2:15, :37], adverse[:1, :1], adverse[:0]:
        convolve(rung, some)

# %% tags=["timing"]
STRIP, ACROSS = 250, 256
strips = (ACROSS, 1), 4 * ACROSS, STRIP
f_rungs = {"constant": f_constant[:-1], "fours": f_fours[:-1],
           "walking": (make_walking(STRIP, add_row, WEIGHTS), *strips),
           "ahead": (make_ahead(STRIP, add_row, WEIGHTS), *strips)}
f_measured = {name: clock(rung, filtered_photo.shape, filtered_photo, photo)
              for name, rung in f_rungs.items()}
table([*HEAD, "of which to issue, µs"],
      [(*row_of(name, "filter", *it, PIXELS),
        least_us(it[1].counters.get("instructions", np.nan)))
       for name, it in f_measured.items()])

# %% [markdown]
# The loop of the last rung holds its weights as numbers within the `FFMA`: `assemble` shows `FFMA R15, R24, 0.0047…, R15`. Nothing is left but products, loads, and a few instructions for each row.
#
# It issues 132 instructions for 32 pixels, 121 of which are wanted. The strips' first ten rows cost another 4%, all else 5%.
# To issue them takes 265 µs, so that is the limit of this kernel. It takes 293 µs: 90% of the limit.
# The walk without a row ahead issues as many, and takes a third more time.

# %% tags=["timing"]
f_times = recorded("filter", "plain", *f_rungs, "constant in C++")
plot_times(list(f_times), [it.median_us for it in f_times.values()],
           [(it.lower_us, it.upper_us) for it in f_times.values()],
           least_us(121 * PIXELS / 32), "121 FFMA a pixel")

# %% [markdown]
# ## Two filters in one pass
#
# Some filters are **separable**: each weight is a product of one for its row and one for its column.
# Then 11 weights across and 11 down do the same as 121.
# **Filter all rows; then, in a second launch, all columns.**

# %%
BELL = np.hanning(SIDE + 2)[1:-1].astype(np.float32) / np.float32(6)


@part
def weigh(four, bell, near):
    """Four sums of eleven weighted pixels of a row."""
    for e in range(4):
        total = float32(0)
        for j in range(SIDE):
            total += bell[j] * near[e + j]
        four[e] = total


@cuda.jit
def filter_rows(out, src):
    """Each thread makes four pixels of sixteen in a row."""
    bell = cuda.const.array_like(BELL)
    near, four = cuda.local.array(16, float32), cuda.local.array(4, float32)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    if row < out.shape[0] and col < out.shape[1]:
        load_sixteen(near, src, row, col)
        weigh(four, bell, near)
        store4(out, (row, col), (four[0], four[1], four[2], four[3]))

# %%
@cuda.jit
def filter_columns(out, src):
    """Each thread makes four pixels of eleven rows of four."""
    bell = cuda.const.array_like(BELL)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    a = b = c = d = float32(0)
    if row < out.shape[0] and col < out.shape[1]:
        for i in range(SIDE):
            four = load4(src, (row + i, col))
            a += bell[i] * four[0]
            b += bell[i] * four[1]
            c += bell[i] * four[2]
            d += bell[i] * four[3]
        store4(out, (row, col), (a, b, c, d))

# %% [markdown]
# The kernel that walks can do both at once: it weighs a row across, and adds the result to eleven rows of sums, each with one weight.
# **Weigh a row, then add that to eleven rows of sums.**

# %%
@part
def add_weighed(sums, bell, near):
    """Weigh a row, then add that to eleven rows of sums."""
    four = cuda.local.array(4, float32)
    weigh(four, bell, near)
    for i in range(SIDE):
        for e in range(4):
            sums[i, e] = sums[i + 1, e] + bell[LAST - i] * four[e]


f_fused = make_walking(FEW, add_weighed, BELL), (32, 1), 128, FEW, ()
in_f_fused = convolve(f_fused, image, np.outer(BELL, BELL))

# %% tags=["timing"]
FUSED_ROWS, FUSED_ACROSS = 144, 128
against("separable", "two launches", "walking")

# %% [markdown]
# One pass takes 68% of the time of two launches, which store an image between them and load it again. It reaches 67% of the copy's rate, and takes two thirds of the time of 121 weights.
#
# ## What could go wrong
#
# Is the second barrier of the walk with a tile needed?
# Here it is missing.

# %%
@cuda.jit
def step_layers_wrong(out, src):
    """Walk up with a tile, and wait once in each layer."""
    tile = cuda.shared.array((10, 34), float32)
    x, y = cuda.grid(2)
    x, y, z = uint32(x + 1), uint32(y + 1), uint32(1)
    there = y < src.shape[1] and x < src.shape[2]
    while z + 1 < src.shape[0]:
        if there:
            share_layer(tile, src, z, y, x, src[z, y, x])
        cuda.syncthreads()
        if inside(src, z, y, x):
            below, above = src[uint32(z - 1), y, x], src[uint32(z + 1), y, x]
            out[z, y, x] = spread_in(tile, src[z, y, x], below, above)
        z = uint32(z + 1)


run = emulate(step_layers_wrong)[(4, 5), (32, 8)](cube.copy(), cube)
with expect(AssertionError):
    run.assert_no_races()

# %% [markdown]
# A warp that is done with a layer stores the next one in the tile, while another still reads this one.

# %% [markdown]
# ## On your own
#
# ★ How many requests for loads does the step `fours` make for 32 cells if it walks up through 4 layers instead of 16? Guess, then emulate it.
#
# <details><summary>Answer</summary>
#
# Its own column takes 6/4 instead of 18/16 of a request for each four cells, all else stays: 1.42 instead of 1.3.
#
# </details>
#
# ★★ `walk_down`: add up five elements of a column. The kernel below is right, but loads each element five times.

# %%
task = exercise("walk_down")
task

# %%
ROWS = 16


@cuda.jit
def walk_down(out, src):
    """Each thread walks down some rows, and loads five elements in each."""
    col, strip = cuda.grid(2)
    if col < out.shape[1]:
        for row in range(ROWS * strip, min(ROWS * strip + ROWS, out.shape[0])):
            total = float32(0)
            for i in range(5):
                total += src[row + i, col]
            out[row, col] = total


task.check(walk_down)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def walk_down(out, src):
#     """Walk down some rows, with the last four elements in registers."""
#     col, strip = cuda.grid(2)
#     top = ROWS * strip
#     if top < out.shape[0] and col < out.shape[1]:
#         a, b = src[top, col], src[top + 1, col]
#         c, d = src[top + 2, col], src[top + 3, col]
#         for row in range(top, min(top + ROWS, out.shape[0])):
#             e = src[row + 4, col]
#             out[row, col] = a + b + c + d + e
#             a, b, c, d = b, c, d, e
# ```
#
# Each element is loaded once, but for the four rows between two strips.
#
# </details>

# %% [markdown]
# ★★★ `exercise("two_steps")`: two steps of a stencil in one launch. How much wider than a block is the tile of the elements, and how much wider that of the first step?
#
# <details><summary>Answer</summary>
#
# Each step takes one neighbour on each side: four elements more for two steps, and two more for the first step's results.
#
# </details>
#
# The [assignment](assignments/28_stencil_and_convolution.ipynb) has 4 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Write the plain kernel first, and ask how far it is from a copy, or from its `FFMA` alone. For a single filter of a photograph, `cupyx.scipy.ndimage` or OpenCV is enough.
#
# The strips of 250 rows and the walks of 64 layers were chosen by the clock, for these sizes and this GPU: 8 × 33 blocks are two for each of 132 multiprocessors. Another GPU wants other numbers.
#
# A filter that is much wider than 11 pixels is cheaper by a Fourier transform.
#
# The tensor cores of a GPU multiply small matrices faster than `FFMA`, in types of lower precision. Numba does not reach them.

# %% [markdown]
# ## Further reading
#
# - [Finite difference methods in CUDA C++](https://developer.nvidia.com/blog/finite-difference-methods-cuda-cc-part-1/): tiles and derivatives along three axes.
# - [Image convolution with CUDA](https://developer.download.nvidia.com/compute/DevZone/C/html_x64/6_Advanced/convolutionSeparable/doc/convolutionSeparable.pdf): separable filters with tiles.
#
# *Next:* [Read what a line becomes](31_types_and_instructions.ipynb): the compiler put our weights into its instructions; what else does it make of a line?
