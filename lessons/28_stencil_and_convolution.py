# %% [markdown]
# # Compute each cell from its neighbours
#
# *75 minutes*
#
# **What you'll do:** let heat spread through a cube, a step in hardly more time than a copy of the cube takes.
#
# **What you'll learn:**
#
# - find out what sets a kernel's pace, by what is busy
# - walk along one axis, with the neighbours along that axis in registers
# - weigh a tile against what it costs to fill
#
# **What you'll need:** halos, as in [Use a tile where it pays](13_shared_memory.ipynb), and `load4` and `store4` of [the transpose](21_transpose.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, baseline, check, compare, device, emulate,
                     exercise, expect, load4, measure, plot_layer_walk,
                     plot_neighbours, plot_sides, plot_times, store4)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

# %% [markdown]
# ## Seven cells for one
#
# Each cell of a cube has a temperature. In a step of time it moves a little towards the temperatures of its six neighbours, and cells on the surface keep theirs.
# A rule that makes each cell from its old value and those of its neighbours is a **stencil**. This one takes seven cells (a *seven-point stencil*):

# %%
plot_neighbours({
    (0, 0, 0): "here", (0, 0, -1): "west", (0, 0, 1): "east",
    (0, -1, 0): "north", (0, 1, 0): "south",
    (-1, 0, 0): "below", (1, 0, 0): "above"})

# %% [markdown]
# How fast can a step be? Memory must deliver each cell once, and take it back once. The nine operations of a cell need far less time than that.
# So no launch of one step is faster than a copy of the cube, and a copy is what we measure all steps by.

# %%
SHARE, SIX = np.float32(0.125), np.float32(6)


@part
def spread(here, west, east, north, south, below, above):
    """A cell after one step, of its value and its six neighbours'."""
    around = west + east + north + south + below + above
    return here + SHARE * (around - SIX * here)

# %% tags=["hide-input"]
# Says what all cells are after one step, in float64.
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
# ## Load all seven
#
# First the plain way: each thread makes a cell, and loads all seven.
# A cell is [z, y, x], and x runs along a row. So a warp has 32 cells of a row, and coalesced loads.
#
# (`inside` asks whether a cell has all its neighbours. Indices have the type uint32, as in [the transpose](21_transpose.ipynb), which saves instructions.)

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

# %% [markdown]
# <details><summary>For the curious: other borders</summary>
#
# What holds at the surface is a *boundary condition*. Ours is *fixed*: no thread stores there. If the surface is *insulated*, a missing neighbour counts as the cell itself. If it is *periodic*, the neighbour of the last cell is the first, `(x + 1) % width`. Each asks more of each thread. So one often gives the array a layer of cells more on each side, a *margin*, and lets a small kernel fill it before each step: then no cell asks.
#
# </details>

# %% [markdown]
# Each *rung* is a kernel, the threads of a block, and the cells that a block covers along x, y and z (here as many):

# %%
PLAIN = step_plain, (32, 8, 4), (32, 8, 4)

# %% tags=["hide-input"]
# Emulates rungs on a small cube, and checks them there.
random = np.random.default_rng(0)
cube = random.random((18, 34, 128), dtype=np.float32)


def over(shape, covers):
    """Blocks that cover a shape; a block covers so much along x, y and z."""
    return tuple(max(1, -(-n // many)) for n, many in zip(
        shape[::-1], covers, strict=True))


def step(rung, src, flat=False):
    """Emulate a step, check it, and return the run."""
    kernel, threads, covers = rung
    out = src.copy()        # both have the same surface
    out[1:-1, 1:-1, 1:-1] = np.nan
    arrays = [it.ravel() if flat else it for it in (out, src)]
    run = emulate(kernel)[over(src.shape, covers), threads](*arrays)
    check(out, stepped(src) if min(src.shape) > 2 else src)
    return run

# %% tags=["hide-input", "timing"]
# Measures rungs on a large cube.
SHAPE = 512, 512, 512
big = np.zeros((2, *SHAPE), np.float32)
rungs = {it: (baseline(f"step, {it}"),) for it in (
    "copy", "plain in C++", "walk in C++", "layer in C++", "known in C++")}


def climb(name, rung, flat=False):
    """Keep a rung's time beside others', its counters, and its run."""
    kernel, threads, covers = rung
    arrays = big.reshape(2, -1) if flat else big
    m = measure(kernel)[over(SHAPE, covers), threads](*arrays)
    rungs[name] = baseline(f"step, {name}"), m, step(rung, cube, flat)

# %% tags=["hide-input"]
# Says what the tables compare.
def for_32(counter):
    """A column: a count of the large cube, for 32 of its cells."""
    def count(row):
        if row[1:]:
            return 32 * row[1].counters.get(counter, np.nan) / np.prod(SHAPE)
    return count


def us_to_issue(row):
    """For how much of its time a rung uses the issue slots, in µs."""
    if row[1:]:
        return row[0].median_us * row[1].counters["issue_percent"] / 100


COUNTS = {"loads for 32 cells": for_32("global_load_requests"),
          "instructions for 32 cells": for_32("instructions")}
BUSY = "issue slots used, %", "data path busy, %", "memory busy, %"
ISSUE = {"µs to issue": us_to_issue}


def side_by_side(*names):
    """Some rungs' counts, what they keep busy, and their times."""
    return compare({it: rungs[it] for it in names}, COUNTS, *BUSY, ISSUE, "µs")

# %% [markdown]
# **Predict.** How many requests does a warp make for its 32 cells? And must memory deliver a cell seven times?
#
# <details><summary>Answer</summary>
#
# Seven loads and a store.
# Seven threads load each cell, but caches can serve six of them: memory must deliver it once.
#
# </details>
#
# The times are those of a cube of 512 × 512 × 512 cells with cold caches, all rungs by turns with the driver's copy.

# %% tags=["hide-input", "timing"]
# Measures the plain step beside a copy.
climb("plain", PLAIN)
side_by_side("copy", "plain", "plain in C++")

# %% [markdown]
# Three times as long as the copy. What holds it up is not memory, busy for less than a third of the time, nor L1's data path. Busiest are the issue slots: in two of three cycles, a scheduler issues an instruction.
# A warp executes more than a hundred for its 32 cells. Seven load, one stores, and seven compute the step. Most of the others compute *where* the cells are. To issue them all takes 480 µs, nearly two copies' time, even if no warp ever waits.
#
# (The twin in C++ takes a fifth less time; but it computes one index, and adds distances to that, as do the twins of later rungs.)

# %% [markdown]
# ## Bring each cell once for the block
#
# Threads of a block need the same cells. So let the block bring each into shared memory once: its own cells, and those around them (the *halo*).
# Who brings these? Each thread brings its own cell, and a thread at a side of the block also the one beyond it:

# %%
plot_sides(4, 8)

# %% [markdown]
# That is one layer of a small block. Corners are missing: no cell of this stencil needs a neighbour across two sides.
#
# `side` says in which direction a thread has a side to look after; places begin with 1. (Unsigned numbers have no -1: here that is the largest, and as sums wrap around, to add it takes 1 away.)
# A block's cell [y, x] lies at `tile[y + 1, x + 1]`, so that those beyond have room. (`share` is for one shape of block: 32 × 8 threads in a layer.)

# %%
@part
def side(place, last):
    """-1 in the first place, 1 in the last, 0 in all others."""
    return uint32(place == last) - uint32(place == 1)


@part
def share(tile, src, cell, z, y, x):
    """Put a cell into a layer's tile; from a side, the one beyond, too."""
    i, j = uint32(cuda.threadIdx.x + 1), uint32(cuda.threadIdx.y + 1)
    tile[j, i] = cell
    if inside(src, z, y, x):
        to = side(i, 32)
        if to != 0:
            tile[j, uint32(i + to)] = src[z, y, uint32(x + to)]
        to = side(j, 8)
        if to != 0:
            tile[uint32(j + to), i] = src[z, uint32(y + to), x]

# %% [markdown]
# And `spread_in` takes the four neighbours in the layer from a tile:

# %%
@part
def spread_in(tile, here, below, above):
    """A cell after one step, with the neighbours of its layer in a tile."""
    i, j = uint32(cuda.threadIdx.x + 1), uint32(cuda.threadIdx.y + 1)
    return spread(here, tile[j, uint32(i - 1)], tile[j, uint32(i + 1)],
                  tile[uint32(j - 1), i], tile[uint32(j + 1), i],
                  below, above)

# %% [markdown]
# A block of 32 × 8 × 4 threads has such a tile for each of its four layers, and one layer more below and above. `share` looks after the sides of a layer; for these two layers, the kernel does so itself.
#
# **Predict.** How many loads does a warp make for its 32 cells now? If loads set the pace: how long does the step take?
#
# <details><summary>Answer</summary>
#
# One for its own cells, and one for the two beyond its ends. Two of eight warps also bring a row, and two of four layers another: 2.75 instead of 7.
# At that pace the step would take two fifths of the time, a seventh longer than a copy.
#
# </details>

# %%
@cuda.jit
def step_tiled(out, src):
    """Bring the block's cells and those around, wait, take all from there."""
    tile = cuda.shared.array((6, 10, 34), float32)
    x, y, z = cuda.grid(3)
    x, y, z = uint32(x), uint32(y), uint32(z)
    i, j = uint32(cuda.threadIdx.x + 1), uint32(cuda.threadIdx.y + 1)
    k = uint32(cuda.threadIdx.z + 1)
    if z < src.shape[0] and y < src.shape[1] and x < src.shape[2]:
        share(tile[k], src, src[z, y, x], z, y, x)
    if inside(src, z, y, x):
        to = side(k, 4)
        if to != 0:
            tile[uint32(k + to), j, i] = src[uint32(z + to), y, x]
    cuda.syncthreads()
    if inside(src, z, y, x):
        out[z, y, x] = spread_in(
            tile[k], tile[k, j, i],
            tile[uint32(k - 1), j, i], tile[uint32(k + 1), j, i])


TILED = step_tiled, (32, 8, 4), (32, 8, 4)

# %% tags=["hide-input", "timing"]
# Measures the tile beside the plain step.
climb("tiled", TILED)
side_by_side("plain", "tiled")

# %% [markdown]
# The loads are down to two fifths, and the step takes half as long *again*.
#
# It was not the number of loads that held the step up: caches had served six of seven, and the data path was hardly busy. But the tile adds half as many instructions again: a load from a tile is one, as is a load from L1, and to fill the tile comes on top. To issue them takes 61% of 1,170 µs: 716 µs. That alone is nearly the plain step's whole time. For the rest, no warp is ready; a quarter of all warps' waiting is for the barrier.
#
# Now watch the instructions.
#
# ## Walk up, and keep the column
#
# Two of the seven cells lie in other layers, below and above. A thread that makes the next cell of its column, one layer up, needs two of its three column cells again: what was *above* is now *here*, and what was *here* is now *below*.
# So let a thread walk up through some layers, and keep these cells in registers:

# %%
plot_layer_walk(near="L1")

# %% [markdown]
# You see a row of four threads from the side. At each layer a thread loads one cell of its column, the one above. The other neighbours, in the frame, still come from L1.
#
# (To give a thread several cells is **thread coarsening**; to keep cells between them in registers is *register tiling*.)
#
# **Predict.** A thread walks through 4 layers. How many loads does a cell take?
#
# <details><summary>Answer</summary>
#
# Four in its layer. And of its column six for four cells, since the walk begins with two: 5.5 in all instead of 7.
#
# </details>

# %%
def make_walk(LAYERS):
    @cuda.jit
    def step_walk(out, src):
        """Walk up: three cells in registers, the other neighbours from L1."""
        x, y = cuda.grid(2)
        x, y, z = uint32(x), uint32(y), uint32(cuda.blockIdx.z * LAYERS + 1)
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


LAYERS = 4
WALK = make_walk(LAYERS), (32, 8), (32, 8, LAYERS)

# %% tags=["hide-input", "timing"]
# Measures the walk, and the plain step in blocks of the same size.
PLAIN_256 = step_plain, (32, 8), (32, 8, 1)
climb("plain, 256 threads", PLAIN_256)
climb("walk", WALK)
side_by_side("plain", "plain, 256 threads", "walk", "walk in C++")

# %% [markdown]
# Two things changed here. Blocks shrank, too, from 1,024 threads to 256: that alone saves the plain step a fifth of its time.
#
# Compare blocks of one size: the walk takes four fifths of the plain step's time. It has fewer loads, and a third fewer instructions. Most of these are saved because a thread asks once for four cells where it is, and whether that is inside. Now three quarters of its warps' waiting is for loads.
#
# <details><summary>For the curious: what do smaller blocks change?</summary>
#
# The plain step executes the same instructions, and uses more of the slots. Why large blocks use fewer, we do not know. It is not for want of warps: they fill 74% and 77% of the room.
#
# </details>
#
# ## A tile of one layer
#
# The walk leaves four loads a cell, all in one layer. Does a tile pay for these? It is small now, as the column is in registers: the picture stays as it was, but the frame is shared memory.
# That is how stencils are usually done on GPUs (*2.5D blocking*).
#
# At each layer, a thread puts the cell that it has in a register into the tile; those at a side bring one more; all wait; each takes its four neighbours. They wait once more before the tile is filled anew. (With two tiles by turns, once is enough: `TILES` is 1 or 2.)
#
# Threads without a cell must come to the barriers, too: `there` says who has one.

# %%
def make_layer(LAYERS, TILES):
    @cuda.jit
    def step_layer(out, src):
        """Walk up: three cells in registers, the layer at hand in a tile."""
        tiles = cuda.shared.array((TILES, 10, 34), float32)
        x, y = cuda.grid(2)
        x, y, z = uint32(x), uint32(y), uint32(cuda.blockIdx.z * LAYERS + 1)
        end = uint32(min(z + LAYERS + 1, src.shape[0]))
        there = z + 1 < end and y < src.shape[1] and x < src.shape[2]
        below = cell = above = float32(0)
        if there:
            below, cell = src[uint32(z - 1), y, x], src[z, y, x]
        while z + 1 < end:
            tile = tiles[z % TILES]
            share(tile, src, cell, z, y, x)
            if there:
                above = src[uint32(z + 1), y, x]
            cuda.syncthreads()
            if inside(src, z, y, x):
                out[z, y, x] = spread_in(tile, cell, below, above)
            if TILES == 1:
                cuda.syncthreads()
            below, cell, z = cell, above, uint32(z + 1)
    return step_layer

# %%
LAYER = make_layer(LAYERS, 1), (32, 8), (32, 8, LAYERS)

# %% tags=["hide-input", "timing"]
# Measures the tile of a layer beside the walk, which differs in nothing else.
climb("layer", LAYER)
side_by_side("walk", "layer", "layer in C++")

# %% [markdown]
# A third longer than the walk, from which it differs in nothing but the tile; in C++, too, it is slower.
# Again loads are halved, while there are nearly twice as many instructions. A store and four loads of the tile take the place of four loads. Most of the rest asks who brings a cell beyond, and computes where it lies.

# %% [markdown]
# <details><summary>For the curious: is it the barriers, the short walk, the cells beyond?</summary>
#
# Not they alone. To issue the instructions of *layer* takes 81% of its 684 µs, so 554 µs without any wait: longer than the whole walk. (Two tiles by turns have one barrier less in each layer, and are no faster.) Walks through 16 layers are faster with a tile and without, and with a tile they still take a third longer.
#
# And the cells beyond? Counted as written, not as executed: without these cells, the machine code would be longer than the walk's by 12 instructions, not by 81.
#
# </details>

# %% tags=["hide-input", "timing"]
# Measures three variants: two tiles by turns, and walks through 16 layers.
TWO_LAYERS = make_layer(LAYERS, 2), (32, 8), (32, 8, LAYERS)
WALK_16 = make_walk(16), (32, 8), (32, 8, 16)
LAYER_16 = make_layer(16, 1), (32, 8), (32, 8, 16)
climb("layer, two tiles", TWO_LAYERS)
climb("walk, 16 layers", WALK_16)
climb("layer, 16 layers", LAYER_16)
side_by_side("walk", "layer", "layer, two tiles", "walk, 16 layers",
             "layer, 16 layers")

# %% [markdown]
# A tile should pay where it takes the place of loads that L1 serves badly: those that are not coalesced, or whose cells L1 has lost before they are needed again. Here neighbours are needed at about the same time, and L1 has them. How do we know?
#
# ## Who serves the neighbours?
#
# Count how often a cell is asked for at each level. A sector that L1 has is not asked of L2, and one that L2 has is not asked of memory:

# %% tags=["hide-input", "timing"]
# Says how often each level is asked for a cell of the large cube.
def for_a_cell(counter, size):
    """A column: bytes that were asked for, by the size of the cube."""
    def times(row):
        return size * row[1].counters[counter] / big[0].nbytes
    return times


compare({it: rungs[it] for it in ("plain, 256 threads", "plain", "tiled",
                                  "walk", "layer", "walk, 16 layers")},
        {"times asked of L1": for_a_cell("global_load_sectors", 32),
         "of L2": for_a_cell("l2_read_sectors", 32),
         "of memory": for_a_cell("memory_read_bytes", 1)}, "µs")

# %% [markdown]
# Memory is asked about once, by all. *Plain* asks L1 for seven cells and the walk for six, and both ask L2 for two: L1 serves the rest, as well as a tile does. (Nor does L2 decide: in small blocks *plain* asks it for more, and is faster.)
#
# What L2 is asked for is the block's cells and its halo, in sectors of eight cells. *Plain* in blocks of 256 makes one layer: eight rows of four sectors, 32. Its halo has two rows, two whole layers and 16 sectors at the ends: 8 + 64 + 16. That is 120 for 32, or 3.75 a cell. A walk through four layers shares the two layers: 288 for 128, or 2.25. Through 16 it is 1.88.

# %% [markdown]
# So small blocks pay more: cells grow with the volume, the halo with the surface. And a cell beyond an end of a row costs a whole sector: make blocks long in x.

# %% [markdown]
# ## Four cells at a time
#
# So leave the layer to L1, and ask it less often. A thread that makes four cells side by side takes all by fours, with one instruction for each: `load4`, `store4`. It needs only two more cells of its own row, one at each end.
#
# The `first` and the `last` cell of a row lie on the surface: there is no neighbour to load, and `but_for` puts the old cell in the place of the new one. (The width of the cube must be a multiple of 4.)

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

# %%
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


FOURS = step_fours, (32, 8), (128, 8, LAYERS)

# %% tags=["hide-input", "timing"]
# Measures it beside the walk of one cell.
climb("fours", FOURS)
side_by_side("copy", "walk", "fours")

# %% [markdown]
# A quarter of the requests would predict a quarter of the time. But a copy already takes half of the walk's time, and *fours* takes only 9% more than a copy: now it is memory that is busy.
#
# ## Distances that the compiler knows
#
# A load of `src[z, y, x]` computes an address from three indices, and each of the seven does.
# But all seven lie at fixed distances from one of them: a row on, a layer on. If the size of a layer is known when the kernel is compiled, these distances are numbers, and a load instruction can hold a number to add to its address: one address serves all.
#
# For this the arrays are flat: `i` is the index of the cell *below*, the cell itself is a layer on, and the one above two layers on. `end` is `i` after the walk: `LAYERS` layers on, or as many as are left inside, `depth - 2 - z`.

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

# %%
def known(cells):
    """The last rung, for layers of the size of these."""
    return make_known(LAYERS, *cells.shape[1:]), (32, 8), (128, 8, LAYERS)

# %% tags=["hide-input", "assembly"]
# Shows the loads of both kernels, as the compiler makes them.
for name, rung, arrays in (("fours", FOURS, big),
                           ("known", known(big[0]), big.reshape(2, -1))):
    kernel, threads, covers = rung
    made = assemble(kernel)[over(SHAPE, covers), threads](*arrays)
    print(name, *[it for it in made.instructions if it.base == "LDG"],
          sep="\n  ")

# %% [markdown]
# In brackets is where a load finds its address. In `fours` each has registers of its own. In `known` all have the same two, `R2.64`, and a distance: 0x100000 bytes are a layer, 0x800 a row.

# %% tags=["hide-input", "timing"]
# Measures it on the large cube; the kernel of the small one is another.
kernel, threads, covers = known(big[0])
m = measure(kernel)[over(SHAPE, covers), threads](*big.reshape(2, -1))
rungs["known"] = (baseline("step, known"), m,
                  step(known(cube), cube, flat=True))
side_by_side("copy", "fours", "known", "known in C++")

# %% tags=["hide-input"]
# Tries all rungs on special values, and on cubes that are small, flat or odd.
adverse = random.random((17, 10, 132), dtype=np.float32)
adverse[3, 4, 5:9], adverse[12, :, 77] = (np.nan, np.inf, -np.inf, -0.0), -0.0
narrow = PLAIN, PLAIN_256, TILED, WALK, LAYER, TWO_LAYERS, WALK_16, LAYER_16
for cells in adverse, adverse[:3, :3, :4].copy():
    last = known(cells)
    for src in cells, cells[:2].copy(), cells[:0].copy():
        for rung in *narrow, FOURS:
            step(rung, src)
        step(last, src, flat=True)
for rung in narrow:
    step(rung, adverse[:, :, :67].copy())

# %% [markdown]
# A third of the instructions is gone, but only 5% of the time. The step takes 4% longer than the copy.
#
# (It also needs fewer registers, 32 instead of 40, so a multiprocessor holds more warps.)

# %% [markdown]
# ## What set the pace
#
# The rungs with blocks of 256 threads once more. *µs to issue* is the part of its time in which a rung uses the issue slots. The last column is the share of all waiting that is for loads:

# %% tags=["hide-input", "timing"]
# Shows this for the rungs whose blocks have 256 threads.
compare({it: rungs[it] for it in ("plain, 256 threads", "layer", "walk",
                                  "fours", "known")},
        {"instructions for 32 cells": COUNTS["instructions for 32 cells"]},
        ISSUE, "µs", "memory busy, %",
        {"waiting for loads, %": lambda row: 100 * row[1].waits.get(
            "global or local memory", np.nan)})

# %% tags=["hide-input", "timing"]
# Draws the time of each rung, beside the copy's.
names = ["tiled", "plain", "layer", "plain, 256 threads", "walk", "fours",
         "known", "known in C++"]
plot_times(names, [rungs[it][0].median_us for it in names],
           limit_us=rungs["copy"][0].median_us,
           limit_label="the driver's copy")

# %% [markdown]
# Of *plain* in these blocks, *layer* and the walk, the one with more instructions takes more time. But not in proportion, as the walk waits most for loads. To issue the instructions of *layer* alone takes longer than the whole walk: so the tile loses, though it has the fewest loads of the three.
# In *fours* and *known*, memory is the limit. The slots are mostly empty.
#
# The rule: find out what is busy, and save that. A count that falls saves time only if somebody was waiting for what it counts.

# %% [markdown]
# ## What could go wrong
#
# Could a step store its cells where it loads them?

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
# A block stores a cell while another may still need the old one, and `syncthreads` does not wait for other blocks. So the step needs a second array, and for the next launch the two change places (*double buffering*, as with the two tiles).
#
# ## On your own
#
# ★ For four layers, a warp of `fours` makes six requests for its column and four in each layer: 22. How many are there for four layers if it walks through 16? Guess, then set `LAYERS` to 16, run its cell and that of `fours` again, and look at `step(FOURS, cube)`. Then set `LAYERS` back to 4.
#
# <details><summary>Answer</summary>
#
# Its column takes 18 requests for 16 layers, so 4.5 for four, instead of 6; with 16 more that is 20.5. The report counts 3,136 requests instead of 3,328: of both, 512 are stores, so 2,624 loads instead of 2,816.
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
# ★★ `exercise("row_by_row")`, in the assignment: a tile that a block fills again in each turn, and one line is missing.
#
# ★★★ `exercise("two_steps")`: two steps of a stencil with three neighbours on each side, in one launch. How much wider than a block is the tile of the elements, and how much wider that of the first step?
#
# <details><summary>Answer</summary>
#
# A step takes three neighbours on each side: six elements more for the first step's results, and twelve for the elements.
#
# </details>
#
# The [assignment](assignments/28_stencil_and_convolution.ipynb) has 4 exercises, these three among them.

# %% [markdown]
# ## In practice
#
# Write the plain kernel first, and ask how far it is from a copy. Then take what costs nothing: a walk, loads of 16 bytes, sizes that the compiler knows. (It has to compile the kernel for each size.)
#
# For *known*, a sweep of 48 variants (`python -m lessons.sweep stencil`) chose walks of 4 layers and blocks of 32 × 8 threads (several others are within 1%); 16 layers take 4 to 7% longer. (The walk of single cells gained 7% by them.)

# %% [markdown]
# ## Further reading
#
# - [Finite difference methods in CUDA C++](https://developer.nvidia.com/blog/finite-difference-methods-cuda-cc-part-1/): tiles and derivatives along three axes.
# - [3D finite difference computation on GPUs using CUDA](https://dl.acm.org/doi/10.1145/1513895.1513905) (Micikevicius): the tile of a layer, and the column in registers, with 25 cells for one.
#
# *Next:* [Sort a quarter of a billion keys](29_sort.ipynb): what if each element must first find its place?
