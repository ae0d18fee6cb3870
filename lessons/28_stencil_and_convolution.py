# %% [markdown]
# # Compute each cell from its neighbours
#
# *45 minutes*
#
# **What you'll do:** take a step of heat through a cube in less than 5% more time than a copy takes, and filter an image with 121 weights at 83% of what the arithmetic units allow.
#
# **What you'll learn:**
#
# - tell by two counts whether memory or arithmetic sets the limit
# - walk along one axis, with the neighbours along that axis in registers
# - put weights into the instructions themselves, and do two filters in one pass
#
# **What you'll need:** halos, as in [Use a tile where it pays](13_shared_memory.ipynb), and `load4` and `store4` of [the transpose](21_transpose.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, load4, measure, plot_reuse, plot_strip_walk,
                     plot_times, store4, table)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

# %% [markdown]
# ## Heat in a cube
#
# Each cell of a cube has a temperature. In a step of time, it moves towards that of its six neighbours.
# Cells on the surface keep theirs.
# A rule that computes a cell from its neighbours is a **stencil**; this one needs seven cells.
#
# A step must load each cell once and store it once: 8 bytes.
# Its nine operations take far less time. A copy moves the same bytes, so it is our limit.
#
# A cell is [z, y, x], and x runs along a row. All indices have the type uint32, as in [the matrix product](23_matrix_product.ipynb).
# **Each thread loads a cell and its six neighbours.**

# %%
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
        new = spread(
            src[z, y, x], src[z, y, uint32(x - 1)], src[z, y, uint32(x + 1)],
            src[z, uint32(y - 1), x], src[z, uint32(y + 1), x],
            src[uint32(z - 1), y, x], src[uint32(z + 1), y, x])
        out[z, y, x] = new

# %%
random = np.random.default_rng(0)
cube = random.random((18, 34, 128), dtype=np.float32)
INNER = 16 * 32 * 126       # cells inside of our small cube


def over(shape, *sides):
    """Blocks that cover a shape; a block covers so many along x, y, z."""
    return tuple(max(1, -(-n // side)) for n, side in zip(
        shape[::-1], sides, strict=True))


def step(rung, src, flat=False):
    """Emulate a step, check it, and return the run."""
    kernel, threads, *sides = rung
    out = src.copy()        # both have the same surface
    out[1:-1, 1:-1, 1:-1] = np.nan
    arrays = [it.ravel() if flat else it for it in (out, src)]
    run = emulate(kernel)[over(src.shape, *sides), threads](*arrays)
    check(out, stepped(src) if min(src.shape) > 2 else src)
    return run


PLAIN = step_plain, (32, 8, 4), 32, 8, 4
in_plain = step(PLAIN, cube)

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
#
# The times are recorded on a cube of 512 × 512 × 512 cells with cold caches, all rungs by turns with the driver's copy.

# %% tags=["timing"]
KINDS = "loads", "stores", "shared loads", "shared stores"
counted, limit_us = {}, {"step": baseline("step, copy").median_us}


def count(name, run, elements):
    """Keep a rung's requests for 32 elements, by kind and together."""
    rows = run.coalescing.by_kind, run.bank_conflicts.by_kind
    found = [32 * by[it].requests / elements if it in by else 0
             for by in rows for it in ("load", "store")]
    counted[name] = dict(zip(KINDS, found, strict=True), requests=sum(found))


def compare(ladder, *names):
    """The rungs' requests for 32 elements, times, and shares of the limit."""
    us = {it: baseline(f"{ladder}, {it}").median_us for it in names}
    return table(["rung", *KINDS, "time, µs", "% of the limit"],
                 [(name, *(counted.get(f"{ladder}, {name}", {}).get(it, "")
                           for it in KINDS), it, 100 * limit_us[ladder] / it)
                  for name, it in us.items()])


count("step, plain", in_plain, INNER)
compare("step", "copy", "plain", "plain in C++")

# %% [markdown]
# The plain step takes 2.9 times as long as the copy, and in C++ still 2.4 times.
# Which count has to fall?
#
# ## A tile with a halo
#
# A block needs 34 × 10 × 6 cells for its 32 × 8 × 4: its own and a **halo** around them.
# That is 2 loads of a cell instead of 7.
#
# **Predict.** How long should the step take, if loads set the pace?
#
# <details><summary>Answer</summary>
#
# 2/7 of the plain step's time. A copy takes longer, so: as long as a copy.
#
# </details>
#
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

# %% tags=["timing"]
TILED = step_tiled, (32, 8, 4), 32, 8, 4
in_tiled = step(TILED, cube)
count("step, tiled", in_tiled, INNER)
print(compare("step", "plain", "tiled"))
plot_reuse(in_tiled.reuse["src"].loads[2], "layer 2 of src")

# %% [markdown]
# Where four halos meet, a cell is loaded four times.
#
# The tile needs a third of the loads (29% in the large cube), and the step takes 1.5 times as *long*.
# L1 had served 70% of their bytes. Now there are as many shared loads, and a tile to fill: 190 instructions for 32 cells instead of 118.
#
# ## Registers along the third axis
#
# So leave neighbours in a layer to L1. A thread that walks along z can keep cells in registers: each is first above, then here, then below.
# **Walk up: three cells in registers, the other neighbours from L1.**
#
# **Predict.** A thread walks through 4 layers. How many loads does a cell take?
#
# <details><summary>Answer</summary>
#
# Four in its layer, and 6/4 for its column: 5.5 instead of 7.
#
# </details>

# %% tags=["timing"]
LAYERS = 4


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


WALK = step_walk, (32, 8), 32, 8, LAYERS
count("step, walk", step(WALK, cube), INNER)
compare("step", "plain", "plain, 256 threads", "walk", "walk in C++")

# %% [markdown]
# The step takes 61% of the plain one's time, and two things changed. Blocks shrank, too, from 1,024 threads to 256: that alone takes the plain step to 81%.
# In blocks of one size, the walk takes 75% of the plain step's time. The loads promised 5.5/7, which is 79%; the instructions fell further, from 118 to 76.
# Its warps wait for loads most, and each 32 cells still take 5.6 loads.
#
# ## Four cells at a time
#
# A thread that takes four neighbours in a row needs only two more cells of that row, one at each end.
# It loads all else by fours.
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


@part
def but_for(four, new, first, last):
    """Four new cells, but for those on the surface."""
    a, b, c, d = new
    return four[0] if first else a, b, c, four[3] if last else d

# %% tags=["timing"]
@cuda.jit
def step_fours(out, src):
    """Walk up, four cells wide: load, spread and store four at once."""
    x, y = cuda.grid(2)
    x, y = uint32(4 * x), uint32(y + 1)
    z, (depth, height, width) = uint32(cuda.blockIdx.z * LAYERS + 1), src.shape
    end = uint32(min(z + LAYERS, depth - 1))
    if x < width and y + 1 < height and z + 1 < depth:
        first, last = x == 0, uint32(x + 4) >= width
        below, four = load4(src, (uint32(z - 1), y, x)), load4(src, (z, y, x))
        while z < end:
            above = load4(src, (uint32(z + 1), y, x))
            north = load4(src, (z, uint32(y - 1), x))
            south = load4(src, (z, uint32(y + 1), x))
            west = four[0] if first else src[z, y, uint32(x - 1)]
            east = four[3] if last else src[z, y, uint32(x + 4)]
            new = spread_four(four, west, east, north, south, below, above)
            store4(out, (z, y, x), but_for(four, new, first, last))
            below, four, z = four, above, uint32(z + 1)


FOURS = step_fours, (32, 8), 128, 8, LAYERS
count("step, fours", step(FOURS, cube), INNER)
compare("step", "walk", "fours")

# %% [markdown]
# A quarter of the requests, but 61% of the time: below 56% the step would be faster than a copy. Memory is 80% busy, instead of 49%.
#
# ## A layer of known size
#
# Each load computes its address from three indices. If the height and width of a layer are known when the kernel is compiled, all cells lie a known distance from one of them, and a load holds that distance as a number.
# The arrays are flat here: the cell below has index `i`.
# **Walk up, four cells wide, by distances that the compiler knows.**

# %%
def make_known(LAYERS, HEIGHT, WIDTH):
    LAYER = HEIGHT * WIDTH

    @cuda.jit
    def step_known(out, src):
        """Walk up, four cells wide, by distances that the compiler knows."""
        x, y = cuda.grid(2)
        x, y = uint32(4 * x), uint32(y + 1)
        z = uint32(LAYERS * cuda.blockIdx.z)
        i, depth = uint32(LAYER * z + WIDTH * y + x), uint32(src.size // LAYER)
        if x < WIDTH and y + 1 < HEIGHT and z + 2 < depth:
            end = uint32(i + LAYER * min(LAYERS, depth - 2 - z))
            first, last = x == 0, x == WIDTH - 4
            below, four = load4(src, i), load4(src, i + LAYER)
            while i < end:
                above = load4(src, i + 2 * LAYER)
                north = load4(src, i + (LAYER - WIDTH))
                south = load4(src, i + (LAYER + WIDTH))
                west = four[0] if first else src[i + (LAYER - 1)]
                east = four[3] if last else src[i + (LAYER + 4)]
                new = spread_four(four, west, east, north, south, below, above)
                store4(out, i + LAYER, but_for(four, new, first, last))
                below, four, i = four, above, uint32(i + LAYER)
    return step_known

# %% tags=["timing"]
def known(cells):
    """The last rung, for layers of the size of these."""
    return make_known(LAYERS, *cells.shape[1:]), (32, 8), 128, 8, LAYERS


count("step, known", step(known(cube), cube, flat=True), INNER)
adverse = random.random((17, 10, 132), dtype=np.float32)
adverse[3, 4, 5:9], adverse[12, :, 77] = (np.nan, np.inf, -np.inf, -0.0), -0.0
for cells in adverse, adverse[:3, :3, :4].copy():
    last = known(cells)
    for src in cells, cells[:2].copy(), cells[:0].copy():
        for rung in PLAIN, TILED, WALK, FOURS:
            step(rung, src)
        step(last, src, flat=True)
for rung in PLAIN, TILED, WALK:
    step(rung, adverse[:, :, :67].copy())
compare("step", "fours", "known", "known in C++")

# %% [markdown]
# Instructions fall from 25.6 for 32 cells to 16.6. Registers fall from 40 to 32, so a multiprocessor holds more warps: 86% of its room instead of 66%.
# The step takes 4% longer than a copy, and in C++ 6% longer.
#
# All rungs follow, with what Nsight Compute counts. *measured* is the share of an earlier rung's time. *predicted* is the larger of two shares: what is left of the count that falls, and what the limit takes (here, a copy).
# *instructions* are those of a warp for 32 cells; *L1* and *memory* say how busy L1's data path and memory are.

# %%
HEAD = ("rung", "falls", "predicted", "measured", "registers",
        "instructions", "L1, %", "memory, %", "µs", "limit, %")
measured = {}


def climb(ladder, name, rung, shape, arrays, since="", falls=""):
    """What was predicted, measured and counted of a rung."""
    (kernel, threads), blocks = rung[:2], over(shape, *rung[2:])
    key, was = f"{ladder}, {name}", f"{ladder}, {since}"
    m = measured[key] = measure(kernel)[blocks, threads](*arrays)
    executed = 32 * m.counters.get("instructions", np.nan) / np.prod(shape)
    counted[key]["instructions"] = executed
    us, limit, gain = baseline(key).median_us, limit_us[ladder], ("", "")
    if since:
        left = counted[key].get(falls, 0) / counted[was].get(falls, 1)
        before = baseline(was).median_us
        gain = max(left, limit / before), us / before
    registers = assemble(kernel)[blocks, threads](*arrays).registers
    busy = (m.counters.get(f"{it}_percent", np.nan)
            for it in ("l1_data", "memory"))
    return (name, falls, *gain, registers, executed, *busy,
            us, 100 * limit / us)

# %% tags=["timing"]
SHAPE = 512, 512, 512
big = np.zeros((2, *SHAPE), np.float32)
print(table(HEAD, [
    climb("step", "plain", PLAIN, SHAPE, big),
    climb("step", "tiled", TILED, SHAPE, big, "plain", "loads"),
    climb("step", "walk", WALK, SHAPE, big, "plain", "loads"),
    climb("step", "fours", FOURS, SHAPE, big, "walk", "requests"),
    climb("step", "known", known(big[0]), SHAPE, big.reshape(2, -1), "fours",
          "instructions")]))
names = ["plain", "tiled", "walk", "fours", "known", "known in C++"]
plot_times(names, [baseline(f"step, {it}").median_us for it in names],
           limit_us=limit_us["step"], limit_label="the driver's copy")

# %% [markdown]
# The order of the times is that of the instructions, not that of the loads. The first three rungs take about 6 µs for each instruction in the table; the plain one in smaller blocks, 5.1.
# (For Nsight Compute, each ran alone and on zeros; this changes times by less than 2%.)
#
# ## A filter of 121 weights
#
# A **convolution** replaces each pixel by a weighted sum of its neighbours.
# Our filter has 11 × 11 random weights, so none can be shared or skipped.
#
# The image has a margin of zeros, so rungs need no conditions: pixel [row, col] is the sum of `weights[i, j] * src[row + i, col + j]`.
#
# A multiprocessor has four schedulers, and each issues one instruction for 32 lanes per cycle. How long do 121 `FFMA` for each of 8192 × 8192 pixels take?

# %%
SIDE, LAST, PIXELS = 11, 10, 8192**2
WEIGHTS = np.random.default_rng(0).random((SIDE, SIDE), np.float32) / SIDE**2
gpu = cuda.get_current_device()


def least_us(instructions):
    """The µs in which so many instructions of a warp can be issued."""
    return 1000 * instructions / (
        4 * gpu.MULTIPROCESSOR_COUNT * gpu.CLOCK_RATE)


limit_us["filter"] = least_us(121 * PIXELS / 32)
limit_us["separable"] = baseline("separable, copy").median_us
table(["least time", "µs"],
      [("121 FFMA a pixel", limit_us["filter"]),
       ("a copy of the image", limit_us["separable"])])

# %%
def filtered(src, shape, weights):
    """The sums of an image with its margin, in float64."""
    (rows, cols), src = shape, src.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return sum(float(weights[i, j]) * src[i:i + rows, j:j + cols]
                   for i, j in np.ndindex(weights.shape))


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
F_PLAIN = filter_plain, (32, 8), 32, 8, (WEIGHTS,)
count("filter, plain", convolve(F_PLAIN, image), image.size)

# %% [markdown]
# Arithmetic takes nearly twice as long as a copy: here it sets the limit, and every instruction that is no `FFMA` comes on top.
# In the plain filter, each product takes two loads, one of its weight and one of its pixel.
#
# ## Weights in constant memory
#
# Weights that are known when the kernel is compiled need not come from global memory.
# **The same, with the weights in constant memory.**

# %% tags=["assembly"]
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


F_CONSTANT = filter_constant, (32, 8), 32, 8, ()
count("filter, constant", convolve(F_CONSTANT, image), image.size)
photo, filtered_photo = (np.zeros((8192 + more, 8192 + wide), np.float32)
                         for more, wide in ((LAST, 12), (0, 0)))
made = assemble(filter_constant)[(256, 1024), (32, 8)](filtered_photo, photo)
print(*[it for it in made.instructions if "c[0x3]" in str(it)
        or it.base == "FFMA"][:4], sep="\n")
compare("filter", "plain", "constant", "constant in C++")

# %% [markdown]
# Half of the loads are gone, and 44% of the time.
# `ULDC.64` brings two weights from constant memory (`c[0x3]`) for the whole warp, into *uniform* registers, from which an `FFMA` can take them.
#
# ## Four pixels at a time
#
# Four pixels side by side need 14 pixels of a row: four loads of 16 bytes instead of 44.
# **For each row of weights, load a row of pixels and add to four sums.**

# %%
@part
def load_row(near, src, row, col):
    """Load as many pixels of a row as `near` has room for."""
    for j in range(0, len(near), 4):
        near[j], near[j + 1], near[j + 2], near[j + 3] = load4(
            src, (row, col + j))


@part
def store_row(out, row, col, sums):
    """Store the first row of sums: four pixels."""
    store4(out, (row, col), (sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]))


@part
def clear(sums):
    """Set all sums to zero."""
    for i in range(sums.shape[0]):
        for e in range(4):
            sums[i, e] = 0

# %% tags=["timing"]
def make_wide(WEIGHTS):
    rows, cols = WEIGHTS.shape
    room = -(-(cols + 3) // 4) * 4
    @cuda.jit
    def filter_wide(out, src):
        """For each row of weights, load a row and add to four sums."""
        weights = cuda.const.array_like(WEIGHTS)
        near = cuda.local.array(room, float32)
        sums = cuda.local.array((1, 4), float32)
        col, row = cuda.grid(2)
        row, col = uint32(row), uint32(4 * col)
        clear(sums)
        if row < out.shape[0] and col < out.shape[1]:
            for i in range(rows):
                load_row(near, src, row + i, col)
                for j in range(cols):
                    for e in range(4):
                        sums[0, e] += weights[i, j] * near[e + j]
            store_row(out, row, col, sums)
    return filter_wide


F_FOURS = make_wide(WEIGHTS), (32, 8), 128, 8, ()
count("filter, fours", convolve(F_FOURS, image), image.size)
compare("filter", "constant", "fours")

# %% [markdown]
# Eleven requests instead of 121, and about a third of the time.
# But each is four times as wide: L1's data path is 94% busy, and the schedulers 88%.
#
# ## Walk down
#
# Each row of pixels is still loaded eleven times, for eleven rows of output.
# Let one thread walk down a strip, with eleven rows of four sums under way.
# **Load a row, add it to eleven rows of sums, store a complete one.**
#
# **Predict.** How many requests for loads do 32 pixels take in strips of 16 rows, and in strips of 250?
#
# <details><summary>Answer</summary>
#
# A row takes one request. But 16 rows of output need 26 rows of pixels: 26/16 = 1.625 requests. 250 rows need 260: 1.04. The number of `FFMA` grows by the same factor.
#
# </details>

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


@part
def store_complete(out, row, col, sums, first, end):
    """Store the first row of sums, once all its rows of pixels are in it."""
    if first <= row and row < end:
        store_row(out, uint32(row - LAST), col, sums)

# %% tags=["timing"]
def make_walking(ROWS, add, WEIGHTS):
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
        clear(sums)         # those of row 11 stay zero
        while col < out.shape[1] and row < end:
            load_row(near, src, row, col)
            add(sums, weights, near)
            store_complete(out, row, col, sums, first, end)
            row = uint32(row + 1)
    return filter_walking


short_walking = make_walking(16, add_row, WEIGHTS), (32, 1), 128, 16, ()
count("filter, walking", convolve(short_walking, image), image.size)
print(compare("filter", "fours", "walking"))
plot_strip_walk(20)

# %% [markdown]
# The number in a sum says how many rows of products are in it once row 20 is added.
#
# Strips of 250 rows, which were timed, need one request where there were eleven. But the time falls by only 14%.
# (They make two blocks of 8 warps on each multiprocessor: four warps for each of its schedulers.)
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
        clear(sums)
        if col < out.shape[1] and row < end:
            load_row(even, src, row, col)
            while row < end:
                after = uint32(row + 1)
                load_row(odd, src, min(after, uint32(end - 1)), col)
                add(sums, weights, even)
                store_complete(out, row, col, sums, first, end)
                row = uint32(row + 2)
                load_row(even, src, min(row, uint32(end - 1)), col)
                add(sums, weights, odd)
                store_complete(out, after, col, sums, first, end)
    return filter_ahead

# %% tags=["timing"]
short_ahead = make_ahead(16, add_row, WEIGHTS), (32, 1), 128, 16, ()
count("filter, ahead", convolve(short_ahead, image), image.size)
adverse = random.random((17, 130), dtype=np.float32)
adverse[4, 5:8], adverse[12] = (np.nan, np.inf, -0.0), -0.0
for rung in F_PLAIN, F_CONSTANT, F_FOURS, short_walking, short_ahead:
    for some in adverse[2:15, :37], adverse[:1, :1], adverse[:, :0]:
        convolve(rung, some)

STRIP, ACROSS = 250, 256
STRIPS = (ACROSS, 1), 4 * ACROSS, STRIP
WALKING = make_walking(STRIP, add_row, WEIGHTS), *STRIPS
AHEAD = make_ahead(STRIP, add_row, WEIGHTS), *STRIPS
each = filtered_photo.shape, (filtered_photo, photo)
print(table(HEAD, [
    climb("filter", "plain", F_PLAIN[:-1], each[0], (*each[1], WEIGHTS)),
    climb("filter", "constant", F_CONSTANT[:-1], *each, "plain", "loads"),
    climb("filter", "fours", F_FOURS[:-1], *each, "constant", "requests"),
    climb("filter", "walking", WALKING, *each, "fours", "requests"),
    climb("filter", "ahead", AHEAD, *each, "walking", "waits")]))
names = ["plain", "constant", "fours", "walking", "ahead", "ahead in C++"]
plot_times(names, [baseline(f"filter, {it}").median_us for it in names],
           limit_us=limit_us["filter"], limit_label="121 FFMA a pixel")

# %% [markdown]
# The 121 `FFMA` allow *walking* 55% of the time of *fours*. It takes 86%: its warps wait for loads for 44% of their time. With a row loaded ahead, they wait for 11%.
#
# The last rung's weights are numbers within its `FFMA`.
# It issues 132 instructions for 32 pixels instead of 121: the strips' first ten rows cost 4%, all else 5%.
# Issuing them takes 265 of its 292 µs: 91%.
#
# ## Two filters in one pass
#
# Some filters are **separable**: each weight is a product of one for its row and one for its column.
# Then 11 weights across and 11 down do the same as 121, in two launches. The kernel that walks can do both at once.
# **Weigh a row, then add that to eleven rows of sums.**

# %% tags=["timing"]
BELL = np.hanning(SIDE + 2)[1:-1].astype(np.float32) / np.float32(6)


@part
def add_weighed(sums, bell, near):
    """Weigh a row, then add that to eleven rows of sums."""
    four = cuda.local.array(4, float32)
    for e in range(4):
        four[e] = 0
        for j in range(SIDE):
            four[e] += bell[j] * near[e + j]
    for i in range(SIDE):
        for e in range(4):
            sums[i, e] = sums[i + 1, e] + bell[LAST - i] * four[e]


for weights in BELL[None], BELL[:, None]:
    convolve((make_wide(weights), (32, 8), 128, 8, ()), image, weights)
fused = make_walking(16, add_weighed, BELL), (32, 1), 128, 16, ()
count("separable, walking", convolve(fused, image, np.outer(BELL, BELL)),
      image.size)
FUSED = make_walking(144, add_weighed, BELL), (128, 1), 512, 144
compare("separable", "copy", "two launches", "walking")

# %% [markdown]
# One pass takes 68% of the time of two launches, which store an image between them and load it again. It reaches 67% of the copy's rate, and takes two thirds of the time of 121 weights.
#
# ## What could go wrong
#
# Why two arrays? Could a step store its cells where it loads them?

# %%
@cuda.jit
def step_in_place_wrong(cells):
    """Load a cell and its six neighbours, and store the new cell."""
    x, y, z = cuda.grid(3)
    x, y, z = uint32(x), uint32(y), uint32(z)
    if inside(cells, z, y, x):
        new = spread(
            cells[z, y, x],
            cells[z, y, uint32(x - 1)], cells[z, y, uint32(x + 1)],
            cells[z, uint32(y - 1), x], cells[z, uint32(y + 1), x],
            cells[uint32(z - 1), y, x], cells[uint32(z + 1), y, x])
        cells[z, y, x] = new


few = cube[:6, :10, :64].copy()
run = emulate(step_in_place_wrong)[(2, 8, 4), (32, 1, 1)](few)
with expect(AssertionError):
    run.assert_no_races()

# %% [markdown]
# A block stores a cell while another may still need the old one, and `syncthreads` does not wait for other blocks. So the step needs a second array.
#
# ## On your own
#
# ★ How many requests for loads does the step `fours` make for 32 cells if it walks up through 16 layers instead of 4? Guess, then set `LAYERS` to 16, and run its cell and that of `fours` again.
#
# <details><summary>Answer</summary>
#
# For its own column, a warp makes 18/16 requests for 128 cells instead of 6/4; all else stays. For 32 cells that is 1.3 instead of 1.4. (The times stay those of 4 layers.)
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
# ROWS = 16
#
#
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
# A sweep of 48 variants (`python -m lessons.sweep stencil`) chose walks of 4 layers and blocks of 32 × 8 threads: 16 layers take 7% longer. Strips of 250 rows make 8 × 33 blocks, two for each of 132 multiprocessors. Another size or GPU wants other numbers.
#
# Weights and sizes that the compiler knows made each kernel faster here, but it has to be compiled for each of them.

# %% [markdown]
# ## Further reading
#
# - [Finite difference methods in CUDA C++](https://developer.nvidia.com/blog/finite-difference-methods-cuda-cc-part-1/): tiles and derivatives along three axes.
# - [Image convolution with CUDA](https://developer.download.nvidia.com/compute/DevZone/C/html_x64/6_Advanced/convolutionSeparable/doc/convolutionSeparable.pdf): separable filters with tiles.
#
# *Next:* [Read what a line becomes](31_types_and_instructions.ipynb): the compiler put our weights into its instructions; what else does it make of a line?
