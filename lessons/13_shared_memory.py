# %% [markdown]
# # Use a tile where it pays
#
# *60 minutes*
#
# **What you'll do:** let the threads of a block load a piece of the data together, a *tile*, into a memory that they share; then find out what it saves, what it costs, and where it pays.
#
# **What you'll learn:**
#
# - tell from the addresses alone whether threads use the same numbers
# - load a tile with its halo into shared memory, wait, and work from there
# - doubt a tile: put a floor below its time and a control beside it
# - allocate shared memory: fixed or sized at the launch, for several types, below 48 KB and above
#
# **What you'll need:** [kernels, blocks and threads](01_first_kernel.ipynb), [caches](11_memory_hierarchy.ipynb), and [sectors and lines](12_coalescing.ipynb).

# %%
import numpy as np
from numba import cuda, float32, float64, uint32

from helpers import (allow_dynamic_shared, check, compare, device, emulate,
                     exercise, expect, explore, measure, plot_exchange,
                     plot_halo, plot_sectors, plot_series, plot_tile_move,
                     plot_times, table, watch)

device

# %% [markdown]
# ## Nine loads for one number?
#
# A moving sum adds to each number its four neighbours on the left and its four on the right.
# Which elements does thread 100 load, and which does thread 103?
#
# <details><summary>Answer</summary>
#
# Thread 100 loads elements 96 to 104, thread 103 loads 99 to 107.
# Six of them are the same.
#
# </details>
#
# Where an element is on the lists of two threads, there is **reuse**.
# In a copy no two lists meet; here those of neighbours overlap, so each element should be loaded nine times.
# The emulator counts:

# %%
RADIUS  = 4
THREADS = 256
N       = 4096


def window_spec(a):
    """What every version must return."""
    return np.convolve(a, np.ones(2 * RADIUS + 1, np.float32), "same")


@cuda.jit
def add_window(out, a):
    """Each thread adds up its element and 4 on each side."""
    i = cuda.grid(1)
    total = float32(0)
    for k in range(i - RADIUS, i + RADIUS + 1):
        if 0 <= k < a.size:
            total += a[k]
    if i < out.size:
        out[i] = total


# %%
a = np.random.default_rng(0).random(N, dtype=np.float32)
out = np.full_like(a, np.nan)

run = emulate(add_window)[N // THREADS, THREADS](out, a)
check(out, window_spec(a))
run.reuse["a"].loads[:16]

# %% [markdown]
# Nine times, apart from the ends of the array.
#
# The nine are neighbours, and nearly always in one block.
# So if one of them put the number where the others can see it, one load would be left of nine.
#
# ## A memory in common
#
# **Shared memory** is that place: a small memory in each multiprocessor.
# Every block that runs there gets a part of it, which its threads can read and write, and no other block can.
# In the theatre of [Know where a number lives](11_memory_hierarchy.ipynb) it is the props table beside a stage.
#
# The piece of the data that a block holds there is its **tile**.

# %% [markdown]
# The first tile is as large as its block, and the threads exchange elements in it: each stores one, waits, and loads another's.
#
# - `cuda.shared.array(THREADS, float32)` makes one array for each block. Its shape must be known when the kernel is compiled. It lives as long as its block, and what is in it at the start is not defined.
# - `cuda.syncthreads()` is the **barrier**: no thread of the block passes it before all have reached it. So no thread loads a cell before another has stored to it.

# %%
@cuda.jit
def reverse_block(out, a):
    """Each block reverses its elements, through a tile."""
    tile = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[thread] = a[i]
    cuda.syncthreads()
    out[i] = tile[THREADS - 1 - thread]


emulate(reverse_block)[N // THREADS, THREADS](out, a)
check(out, a.reshape(-1, THREADS)[:, ::-1].ravel())

plot_exchange(stores=range(16), loads=range(15, -1, -1))

# %% [markdown]
# Each of 16 threads stores to its own cell (orange) and, after the barrier, loads another thread's (blue).
#
# ## A tile and its halo
#
# The moving sums of a block need more than its own elements: its first thread also wants four on its left, its last one four on its right.
# These cells are the **halo**, and part of the tile.
# So it has more cells than the block has threads. Who loads the last ones?

# %%
plot_halo(blocks=2, threads=10, radius=4, window=3)

# %% [markdown]
# *Who loads?* The thread whose number is in the cell.
# When each has filled a cell, the first ones go on; in code, a loop from `thread` to the end of the tile, in steps of the block's size.
# Dotted cells lie outside the array and become 0.
#
# *Who uses?* The bracket marks what thread 3 adds up.
# Its own element is in the middle, in cell 7, because the halo comes first.
# So a thread's window begins at the cell `thread`.
#
# *When?* A window holds cells that other threads load, so the barrier stands between loading and adding up.

# %% [markdown]
# **Predict.** How often is an element loaded from global memory now? And one at the edge of a block?
#
# <details><summary>Answer</summary>
#
# Once, by the block that it belongs to.
# The four elements on either side of an edge are also in the halo of the next block: twice.
#
# </details>

# %%
TILE = THREADS + 2 * RADIUS


@cuda.jit
def add_window_tiled(out, a):
    """Load a tile with its halo, wait, and add up windows of it."""
    tile = cuda.shared.array(TILE, float32)
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x * THREADS - RADIUS
    for cell in range(thread, TILE, THREADS):
        i = first + cell
        tile[cell] = a[i] if 0 <= i < a.size else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += tile[thread + k]
    if cuda.grid(1) < out.size:
        out[cuda.grid(1)] = total


out[:] = np.nan
run = emulate(add_window_tiled)[N // THREADS, THREADS](out, a)
check(out, window_spec(a))
run.reuse["a"].loads[THREADS - 8:THREADS + 8]

# %% [markdown]
# Once, and twice around the edge of a block.
# The sum still makes nine loads, but from `tile`, inside the multiprocessor.
#
# Watch a block of 32 threads: 32 lanes fill 32 cells, then 8 lanes the last 8; after the barrier each thread's window moves over the tile.

# %% tags=["hide-input"]
# Compiles the kernel again for blocks of 32 threads, and films block 1.
THREADS, TILE = 32, 32 + 2 * RADIUS
one_warp = cuda.jit(add_window_tiled.py_func)
film = watch(one_warp, block=1)[4, THREADS](out[:128], a[:128])
THREADS, TILE = 256, 256 + 2 * RADIUS
film

# %% [markdown]
# ## Is it faster?
#
# The tile has turned nine loads from global memory into one.
# **Predict.** How much of the time is left: a ninth, half, or all of it?
#
# To judge the answer you need a **floor**, a time that no version with these blocks, and one element a thread, can beat.
# Each must read every number and write as many, so take a copy:
#
# <details><summary>For the curious: why <code>uint32</code>?</summary>
#
# With a signed index Numba adds instructions for the case that it is negative, since `a[-1]` is the last element.
# An unsigned index has none of them: the copy has 14 machine instructions with `uint32` and 29 without.
#
# </details>

# %%
@cuda.jit
def copy(out, a):
    """Each thread copies one element."""
    i = uint32(cuda.grid(1))
    out[i] = a[i]


# %% tags=["timing", "hide-input"]
# Measures the copy and both moving sums, for 67 million elements.
MANY = 2**26
src, dst = np.zeros((2, MANY), np.float32)
launch = MANY // THREADS, THREADS

floor, direct, tiled = (
    measure(kernel, bytes=8 * MANY)[launch](dst, src)
    for kernel in (copy, add_window, add_window_tiled))

compare({"a copy": floor, "add_window": direct, "add_window_tiled": tiled},
        "µs", "sectors from L2 per warp", "instructions per warp",
        "issue slots used, %", by="kernel")

# %% [markdown]
# The tile makes the kernel slower, by two thirds.
#
# *What could it save?* Only what lies above the floor, a quarter of the time without a tile.
# Behind L1 nothing: with and without it, a warp fetches as many sectors from L2, so L1 already served eight of nine loads.
#
# *What did it cost?* A warp issues twice as many instructions. They take four fifths of the **issue slots**, the cycles in which a scheduler could issue one: that alone is longer than the whole kernel without a tile.
#
# So there are two suspects, the tile itself and the instructions.
# To find the culprit you need a **control**, a launch that differs in one thing only.
#
# ## What a tile costs
#
# First the tile, where it saves nothing: in the copy.
# Add a barrier, then a tile:

# %%
@cuda.jit
def copy_and_wait(out, a):
    """Each thread loads one element, waits for its block, and stores it."""
    i = uint32(cuda.grid(1))
    value = a[i]
    cuda.syncthreads()
    out[i] = value


@cuda.jit
def copy_through_tile(out, a):
    """Each thread copies one element, through a tile."""
    tile = cuda.shared.array(THREADS, float32)
    thread, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    tile[thread] = a[i]
    cuda.syncthreads()
    out[i] = tile[thread]


# %% tags=["timing", "hide-input"]
# Checks both, and measures them beside the plain copy.
for kernel in copy_and_wait, copy_through_tile:
    emulate(kernel)[N // THREADS, THREADS](out, a)
    check(out, a)

waited, passed = (measure(kernel, bytes=8 * MANY)[launch](dst, src)
                  for kernel in (copy_and_wait, copy_through_tile))

compare({"a copy": floor, "… with a barrier": waited,
         "… through a tile": passed},
        "µs", "instructions per warp", by="kernel")

# %% [markdown]
# The barrier costs nothing here, and the tile a few percent: far less than the moving sum has lost.
#
# <details><summary>For the curious: what does it pay for?</summary>
#
# Each warp issues seven more instructions, and it waits at another moment.
# In the copy with a barrier, the load is still under way when a warp reaches the barrier; to store to the tile, a warp must have its number, and then the barrier waits for the slowest warp of the block.
# Which of the two takes how much of the time, we did not measure.
#
# </details>
#
# ## Without the instructions
#
# Now take the instructions away, with the tile and without it.
# Only a fifth of those of `add_window` load or add; most of the others work on indices.
# So put the zeros into the array itself, four on each side (the caller *pads* it), and no index needs a test.
# And fill the tile without a loop: every thread loads one cell, and the first eight another.
# These two kernels differ in the tile alone:

# %%
@cuda.jit
def add_padded(out, padded):
    """Each thread adds up its window of an array with a halo of its own."""
    i = uint32(cuda.grid(1))
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += padded[i + k]
    out[i] = total


@cuda.jit
def add_padded_tiled(out, padded):
    """Load a tile in two steps, wait, and add up windows of it."""
    tile = cuda.shared.array(TILE, float32)
    thread, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    tile[thread] = padded[i]
    if thread < 2 * RADIUS:
        tile[thread + THREADS] = padded[i + THREADS]
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += tile[thread + k]
    out[i] = total


# %%
for kernel in add_padded, add_padded_tiled:
    out[:] = np.nan
    emulate(kernel)[N // THREADS, THREADS](out, np.pad(a, RADIUS))
    check(out, window_spec(a))

# %% [markdown]
# The more often a number is used, the more a tile can save.
# So measure them for 16 neighbours on each side, too, which makes 33 loads.

# %% tags=["timing", "hide-input"]
# Measures the new pair, and all four kernels compiled for 16 neighbours.
def measured(kernel, array):
    again = cuda.jit(kernel.py_func)
    return measure(again, bytes=8 * MANY)[launch](dst, array)


RADIUS, TILE = 16, THREADS + 2 * 16
wide = np.pad(src, RADIUS)
tested_16 = measured(add_window, src), measured(add_window_tiled, src)
padded_16 = measured(add_padded, wide), measured(add_padded_tiled, wide)

RADIUS, TILE = 4, THREADS + 2 * 4
wide = np.pad(src, RADIUS)
padded_4 = measured(add_padded, wide), measured(add_padded_tiled, wide)

# %% tags=["timing", "hide-input"]
# Puts them side by side: how often a number is used, the array, and the tile.
MADE = {(9, "as before"): (direct, tiled), (9, "without tests"): padded_4,
        (33, "as before"): tested_16, (33, "without tests"): padded_16}

compare({("", "", "a copy"): floor}
        | {(*made, how): m for made, both in MADE.items()
           for how, m in zip(("no tile", "a tile"), both, strict=True)},
        "µs", "instructions per warp", "data path busy, %",
        by=("uses", "code", "kernel"))

# %% [markdown]
# *Was it the instructions?* Yes. For nine uses, the tile now costs as little as in the copy, and not two thirds of the time.
#
# *Does the tile save anything?* In the rows without tests, nothing for nine uses, and a tenth for 33.
# A tile does not save *requests*: a warp makes 33, to L1 or to the tile, and one **data path** brings the answers of both. In both it is busy for more than three quarters of the time.
#
# Removing instructions saved more than the tile did, without shared memory.
# To save requests, a thread must keep numbers in registers, for several sums, as in [Compute each cell from its neighbours](28_stencil_and_convolution.ipynb).

# %% [markdown]
# ## Where a cache is slow
#
# So far the lanes loaded neighbours, which lie in one or two lines of 128 bytes.
# What if each lane needs another line?
#
# Walk through a table whose cells hold the index of the next one, with the lanes some cells `apart`.
# Here is one step of a warp; a row is a line.

# %%
def one_step(apart=33):
    """The request of a warp whose lanes are some cells apart."""
    return plot_sectors([4 * apart * lane for lane in range(32)])


explore(one_step, apart=[1, 9, 17, 32, 33])

# %% [markdown]
# A line holds 32 cells. So with 33, the next lane is one row further down and one column further right: no two lanes share a line, and no two a column.
# Move the slider to 32: as many lines, but one column.
# Look at the lines first.

# %% [markdown]
# One kernel walks in global memory, and L1 serves it, since the table has 16 KB.
# The other walks in a tile that holds the whole table.
# Only the caller knows its size, so the shape of the tile is 0, and the launch says how many *bytes* a block gets: fourth in the brackets, after a 0 for the stream, which you do not need yet.
# This is **dynamic shared memory**; an array of a fixed shape is *static*.

# %%
CELLS, STEPS = 4096, 64


@cuda.jit
def follow(out, following, apart):
    """Each thread takes 64 steps through a table, from a cell of its own."""
    cell = uint32(apart * cuda.grid(1) % CELLS)
    for _ in range(STEPS):
        cell = following[cell]
    out[cuda.grid(1)] = cell


@cuda.jit
def follow_in_tile(out, following, apart):
    """The same, in a copy of the table that the block has loaded."""
    tile = cuda.shared.array(0, uint32)
    for cell in range(cuda.threadIdx.x, following.size, 1024):
        tile[cell] = following[cell]
    cuda.syncthreads()
    cell = uint32(apart * cuda.grid(1) % CELLS)
    for _ in range(STEPS):
        cell = tile[cell]
    out[cuda.grid(1)] = cell


# %%
following = np.roll(np.arange(CELLS, dtype=np.uint32), -1)
few = np.zeros(2048, np.uint32)
room = following.nbytes

for apart in 1, 33:
    emulate(follow)[2, 1024](few, following, apart)
    check(few, (apart * np.arange(2048) + STEPS) % CELLS)
    emulate(follow_in_tile)[2, 1024, 0, room](few, following, apart)
    check(few, (apart * np.arange(2048) + STEPS) % CELLS)

# %% [markdown]
# **Predict.** Lanes that are 1, 9, 17 and 33 cells apart start in 1, 9, 17 and 32 lines.
# Which of the two kernels takes longer for more lines?

# %% tags=["timing", "hide-input"]
# Measures both kernels for each distance, and draws them over the lines.
ends = np.zeros(2**22, np.uint32)
APART = 1, 9, 17, 33
lines = {apart: np.unique(apart * np.arange(32) // 32).size
         for apart in APART}

cached = {apart: measure(follow)[4096, 1024](ends, following, apart)
          for apart in (*APART, 32)}
shared = {apart: measure(follow_in_tile)[4096, 1024, 0, room](
              ends, following, apart) for apart in (*APART, 32)}

plot_series(list(lines.values()),
            {"from L1": [cached[apart].median_us for apart in APART],
             "from the tile": [shared[apart].median_us for apart in APART]},
            xlabel="lines that the first request touches")

# %% [markdown]
# From L1 the walk takes longer for more lines; from the tile it does not, and for 32 lines the tile is 5.5 times as fast.
#
# Are the lines the reason? From 9 cells apart on, each lane needs a sector of its own, and L1 serves nearly all of them. So only the lines differ.
# A cache must look up each line of a request; in a tile the index says where a cell is.
# (We counted lines, not look-ups.)
#
# And 32 cells apart, with as many lines as 33?

# %% tags=["timing", "hide-input"]
# Puts 32 cells apart beside 33.
compare({(place, apart): times[apart] for apart in (33, 32)
         for place, times in {"L1": cached, "the tile": shared}.items()},
        "µs", "instructions per warp", "cycles per request",
        by=("from", "cells apart"))

# %% [markdown]
# Now both kernels are slow, and equally so: a request keeps the data path busy for some 30 cycles instead of one.
# What is in one column comes one after the other.
# Shared memory is part of the same memory as L1. It has no lines, but it has the columns, which the next lesson is about.
#
# ## Rows in, columns out
#
# A tile can also pay without reuse.
# A transpose turns rows into columns, so a warp that loads from one line stores to 32, or the other way round.
# With a tile it does neither:

# %%
plot_tile_move(row=1)

# %% [markdown]
# The warp of row 1 loads a row and stores a row.
# In between it stores a row of the tile (orange) and, after the barrier, loads a column (blue).

# %%
@cuda.jit
def copy_matrix(dst, src):
    """Each thread copies one element."""
    col, row = cuda.grid(2)
    dst[row, col] = src[row, col]


@cuda.jit
def transpose(dst, src):
    """Each thread moves one element, from a row into a column."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


@cuda.jit
def transpose_down(dst, src):
    """Each thread moves one element, from a column into a row."""
    col, row = cuda.grid(2)
    dst[row, col] = src[col, row]


# %%
def make_transpose(width):
    @cuda.jit
    def transpose_tiled(dst, src):
        """Load a tile by rows, wait, and read it by columns."""
        tile = cuda.shared.array((32, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
        tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y]
    return transpose_tiled


# %% tags=["timing", "hide-input"]
# Checks each transpose, and measures it for a matrix of 8,192 × 8,192.
small, square = a.reshape(64, 64), src.reshape(2**13, 2**13)
turned, turns = np.zeros_like(small), {}
for name, kernel in {"a copy": copy_matrix, "stores down": transpose,
                     "loads down": transpose_down,
                     "tile, 32 columns": make_transpose(32),
                     "tile, 33 columns": make_transpose(33)}.items():
    emulate(kernel)[(2, 2), (32, 32)](turned, small)
    check(turned, small if kernel is copy_matrix else small.T)
    turns[name] = measure(kernel, bytes=8 * MANY)[(256, 256), (32, 32)](
        dst.reshape(square.shape), square)

compare(turns, "µs", "sectors from L2 per warp", "sectors to L2 per warp",
        "cycles per request", by="kernel")

# %% [markdown]
# To store down a column is slowest: each request sends 32 sectors on to L2.
# To load down one is better: L1 asks L2 for each sector once, and keeps it for the other warps of the block.
# But the rows of this matrix are a whole number of lines long, so the lanes of a request meet in one column of L1.
#
# In a tile of 32 columns they meet again, since the cells of a column are 32 apart, and the kernel is slower than without a tile.
# One more column, which nobody uses, makes them 33 apart, and this kernel is fastest.

# %% [markdown]
# <details><summary>For the curious: would longer rows do the same without a tile?</summary>
#
# Rows that are one number longer would part the lanes in L1, too.
# We did not measure it, so we do not know how much of the tile's gain it would leave.
#
# </details>

# %% [markdown]
# ## When a tile pays
#
# Before you write a tile, ask what L1 does already: it serves neighbours who use the same numbers.
# A tile pays where
#
# - the lanes need many lines, and few cells of one column
# - lanes cannot be neighbours both when they load and when they store
# - each number is used very often (33 times here, and not 9)
# - threads exchange what they have computed

# %% [markdown]
# ## How much there is
#
# Ask your GPU:

# %% tags=["hide-input"]
# Asks the GPU for three of its limits.
gpu = cuda.get_current_device()
most = gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

table(["shared memory of", "bytes"],
      [["a block, without asking", gpu.MAX_SHARED_MEMORY_PER_BLOCK],
       ["a block, at most", most],
       ["a multiprocessor", gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR]])

# %% [markdown]
# CUDA's guide limits static arrays to 48 KB, and so does the emulator.
# Dynamic ones may be larger if the kernel opts in, which `allow_dynamic_shared` does; else the launch is refused.
# Here is a table of 128 KB, before and after:

# %%
larger = np.roll(np.arange(2**15, dtype=np.uint32), -1)

with expect(ValueError):
    emulate(follow_in_tile)[2, 1024, 0, larger.nbytes](few, larger, 33)

allow_dynamic_shared(follow_in_tile, larger.nbytes)
emulate(follow_in_tile)[2, 1024, 0, larger.nbytes](few, larger, 33)
check(few, (33 * np.arange(2048) % CELLS + STEPS) % larger.size)

# %% [markdown]
# <details><summary>For the curious: on a GPU, and in CUDA C++</summary>
#
# There the first launch fails, too, with `CUDA_ERROR_INVALID_VALUE`, which names neither the limit nor the remedy.
# CUDA C++ opts in with `cudaFuncSetAttribute`; Numba has no function for it, so `helpers` has one.
#
# </details>
#
# What one block takes, another cannot have.
# What does that cost? Launch the copy with shared memory that it never touches:

# %% tags=["timing", "hide-input"]
# Measures the copy with more and more shared memory for each block.
def blocks_at_once(size):
    """How many blocks of the launch below a multiprocessor holds."""
    taken = size + gpu.RESERVED_SHARED_MEMORY_PER_BLOCK
    return min(gpu.MAX_THREADS_PER_MULTIPROCESSOR // THREADS,
               gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // taken)


allow_dynamic_shared(copy, most)
ROOMS = 0, 32 * 1024, 48 * 1024, 96 * 1024, most
copies = [floor, *(measure(copy, bytes=8 * MANY)[*launch, 0, size](dst, src)
                   for size in ROOMS[1:])]

plot_times([f"{size // 1024} KB ({blocks_at_once(size)} at once)"
            for size in ROOMS], [m.median_us for m in copies])

# %% [markdown]
# The same instructions move the same bytes, but with the most shared memory they take six times as long: a multiprocessor then holds one block instead of eight (its *occupancy* is lower), and so fewer loads are in flight.
#
# ## Several arrays, several types
#
# A block has *one* piece of dynamic shared memory, and every array of shape 0 begins at its first byte.
# So for two arrays take two slices that do not overlap.
# Each counts in its own elements: a float64 takes 8 bytes, so behind `count` of them the uint32 array goes on at its element `2 * count`.
# Put the widest type first; then each array begins at a multiple of its own size.

# %%
@cuda.jit
def reverse_columns(times, marks, all_times, all_marks):
    """Each block reverses its elements of two columns."""
    count = cuda.blockDim.x
    time = cuda.shared.array(0, float64)[:count]
    mark = cuda.shared.array(0, uint32)[2 * count:3 * count]
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    time[thread] = all_times[i]
    mark[thread] = all_marks[i]
    cuda.syncthreads()
    times[i] = time[count - 1 - thread]
    marks[i] = mark[count - 1 - thread]


all_times, all_marks = np.linspace(0, 1, N), np.arange(N, dtype=np.uint32)
times, marks = np.zeros_like(all_times), np.zeros_like(all_marks)
room = THREADS * (all_times.itemsize + all_marks.itemsize)

emulate(reverse_columns)[N // THREADS, THREADS, 0, room](
    times, marks, all_times, all_marks)
check(times, all_times.reshape(-1, THREADS)[:, ::-1].ravel())
check(marks, all_marks.reshape(-1, THREADS)[:, ::-1].ravel())

# %% [markdown]
# ## What could go wrong
#
# Forget the slices, and the two arrays are one:

# %%
@cuda.jit
def reverse_wrong(times, marks, all_times, all_marks):
    """Reverse two columns, in tiles that share their bytes."""
    count = cuda.blockDim.x
    time = cuda.shared.array(0, float64)
    mark = cuda.shared.array(0, uint32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    time[thread] = all_times[i]
    mark[thread] = all_marks[i]
    cuda.syncthreads()
    times[i] = time[count - 1 - thread]
    marks[i] = mark[count - 1 - thread]


emulate(reverse_wrong)[N // THREADS, THREADS, 0, room](
    times, marks, all_times, all_marks)

# %% [markdown]
# Numba compiles it, and a GPU runs it without an error.
# The emulator reports a *race*: two threads write the same bytes, in no fixed order (WAW, *write after write*).
# Here thread 32 stores its mark into the same bytes as thread 16 its time.
#
# Or read what nobody has written: this kernel forgets the last part of the halo.

# %%
@cuda.jit
def add_window_wrong(out, a):
    """Add up windows of a tile that lacks the end of its halo."""
    tile = cuda.shared.array(TILE, float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    if thread < RADIUS:
        tile[thread] = a[i - RADIUS] if i >= RADIUS else float32(0)
    tile[thread + RADIUS] = a[i]
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += tile[thread + k]
    out[i] = total


run = emulate(add_window_wrong)[N // THREADS, THREADS](out, a)
run.uninitialised

# %% [markdown]
# The last four cells of each of the 16 tiles were read unwritten.
# A GPU does not clear shared memory: it may hold what an earlier block left.
#
# ## What changed
#
# | version | what the tile changes | floor, µs | without a tile, µs | with it, µs |
# |---|---|---:|---:|---:|
# | `add_window` | one load for nine, and twice the instructions | 198 | 264 | 440 |
# | `add_padded` | one load for nine | 198 | 227 | 238 |
# | … with 16 neighbours | one load for 33 | 198 | 459 | 410 |
# | `follow`, 33 apart | no lines to look up | 53, of one line | 302 | 55 |
# | `transpose` | rows on both sides | 281 | 406 | 319 |
#
# ## On your own
#
# ★ In which of these do several threads load the same element: `out[i] = a[i] + b[i]`; `out[i] = a[i] * b[0]`; `out[row] += m[row, col] * x[col]`, with a thread for each row?
#
# <details><summary>Answer</summary>
#
# In the first, none: threads `i` and `j` load different elements of both.
# In the second, all threads load `b[0]`.
# In the third, all threads load each element of `x`, and only one thread each element of `m`.
#
# </details>
#
# ★★ `pool`: each element becomes the largest of itself and the three before it. Load each element about once.

# %%
task = exercise("pool")
task

# %%
THREADS = 256
REACH = 3
WIDTH = THREADS + REACH


@cuda.jit
def pool(out, a):
    """Each thread finds the largest of its element and those before it."""
    i = cuda.grid(1)
    if i < a.size:
        found = a[i]
        for k in range(max(i - REACH, 0), i):
            found = max(found, a[k])
        out[i] = found


task.check(pool)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# THREADS = 256
# REACH = 3
# WIDTH = THREADS + REACH
#
#
# @cuda.jit
# def pool(out, a):
#     """Each thread finds the largest of its element and those before it."""
#     tile = cuda.shared.array(WIDTH, float32)
#     thread = cuda.threadIdx.x
#     first = cuda.blockIdx.x * THREADS - REACH
#     for cell in range(thread, WIDTH, THREADS):
#         if first + cell < a.size:
#             tile[cell] = a[max(first + cell, 0)]
#     cuda.syncthreads()
#     i = cuda.grid(1)
#     if i < a.size:
#         found = tile[thread]
#         for k in range(1, REACH + 1):
#             found = max(found, tile[thread + k])
#         out[i] = found
# ```
#
# The tile has three cells more than the block has threads, for the last elements of the block before.
# In the first block they repeat the first element, which changes no maximum.
#
# </details>
#
# ★ `exercise("reverse")`, in the assignment: one line of its kernel is wrong. Which block's place does a block write to?
#
# ★★★ `exercise("life")`: one step of the game of life, in tiles, in a world that goes on at the opposite edge. A thread fills several cells, with one loop of step 16 along each axis, and `% rows` and `% cols` at the edge. Allow half an hour more.
#
# The [assignment](assignments/13_shared_memory.ipynb) has 6 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# From the A100 on, a kernel can load the next tile *asynchronously* while it works on this one; [Multiply matrices as fast as cuBLAS](24_up_the_ladder_to_cublas.ipynb) does.

# %% [markdown]
# ## Further reading
#
# - [Numba: shared memory and thread synchronization](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array`.
# - [Using shared memory in CUDA C/C++](https://developer.nvidia.com/blog/using-shared-memory-cuda-cc/): the reversal of a block, static and dynamic.
#
# *Next:* [Share a tile without queueing](14_bank_conflicts.ipynb): lanes that are 32 cells apart are slow, and a tile of 33 columns is faster than one of 32. What is wrong with 32?
