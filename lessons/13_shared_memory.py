# %% [markdown]
# # Use a tile where it pays
#
# *45 minutes*
#
# **What you'll do:** give the threads of a block a memory in common, turn nine loads of a number into one, and find out from the clock when that makes a kernel faster and when slower.
#
# **What you'll learn:**
#
# - tell from the addresses alone whether threads use the same numbers
# - load a tile with its halo into shared memory, wait, and work from there
# - predict whether a tile pays: what does L1 do already, and what does the tile cost?
# - allocate shared memory: fixed or sized at the launch, for several types, below 48 KB and above
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb), caches, as in [Know where a number lives](11_memory_hierarchy.ipynb), and sectors, as in [Fetch no more than you use](12_coalescing.ipynb).

# %%
import numpy as np
from numba import cuda, float32, float64, uint32

from helpers import (allow_dynamic_shared, check, device, emulate, exercise,
                     expect, measure, plot_exchange, plot_halo, plot_sectors,
                     plot_series, plot_times, table, watch)

device

# %% [markdown]
# ## Nine loads for one number?
#
# A moving sum adds to each number its four neighbours on the left and its four on the right.
# **Each thread adds up its element and 4 on each side.**

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
# The emulator has counted how often each element is loaded: nine times, apart from the ends of the array.
#
# You can tell that without running anything.
# Write down which elements a thread loads, for two different threads.
# If an element is in both lists, there is **reuse**: thread 100 loads elements 96 to 104, thread 103 loads 99 to 107, and six of them are the same.
# For a plain copy, `out[i] = a[i]`, the lists of two threads never meet.
#
# The nine threads that load a number are neighbours, and nearly always in one block.
# If one of them fetched the number and the others could look at it, what would be left of the nine loads?

# %% [markdown]
# ## A memory in common
#
# **Shared memory** is a small memory in each multiprocessor.
# Every block that runs there gets a part of it, which all threads of that block can read and write, and no other block can.
#
# In the theatre of [Know where a number lives](11_memory_hierarchy.ipynb), registers are the actors' hands, global memory is the warehouse across town, and shared memory is the props table beside a stage: what one actor of a scene puts there, any other can pick up.
#
# The simplest use is to exchange elements.
# **Each block reverses its elements, through a tile.**

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
# The figure shows a block of 16 threads, from top to bottom: each thread stores to its own cell (orange) and, after the barrier, loads another thread's (blue).
#
# `cuda.shared.array(THREADS, float32)` is one array for each block.
# Its shape must be known when the kernel is compiled: a number, or a global variable.
# It lives as long as its block; what is in it at the start is not defined.
#
# `cuda.syncthreads()` is the **barrier**: no thread of the block passes it before all have reached it.
# Without it, a thread could load a cell before another has stored to it.
#
# ## A tile and its halo
#
# For its 256 moving sums, a block needs 256 elements and four more on each side, its **halo**.
# Together they are the block's **tile**.

# %%
plot_halo(blocks=2, threads=10, radius=4)

# %% [markdown]
# Two blocks of 10 threads, each with a tile of 18 cells, so threads 0 to 7 load two cells each.
# Dotted cells lie outside the array and become 0.
#
# **Predict.** How often is an element loaded now? And one at the edge of a block?
#
# <details><summary>Answer</summary>
#
# Once, by the block that it belongs to.
# The four elements on either side of an edge are also in the halo of the next block: twice.
#
# </details>
#
# **Load a tile with its halo, wait, and add up windows of it.**
#
# `watch` shows block 1 of a smaller launch, 32 threads a block, step by step: which lanes fill the last cells?

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

# %%
THREADS, TILE = 32, 32 + 2 * RADIUS     # a copy is compiled with these
one_warp = cuda.jit(add_window_tiled.py_func)
film = watch(one_warp, block=1)[4, THREADS](out[:128], a[:128])
THREADS, TILE = 256, 256 + 2 * RADIUS
film

# %% [markdown]
# Once, and twice around the edge of a block, say the counts above the film.
# In the film 32 lanes fill 32 cells, then 8 lanes the last 8; after the barrier each thread's window moves over the tile.
# The sum still makes nine loads, but they are loads of `tile`, which stay inside the multiprocessor.
#
# ## Is it faster?
#
# Here are 67 million elements on a GPU: the time, what its counters say of each warp, and the share of the issue slots that were used.
# (An issue slot is a cycle in which a scheduler could issue an instruction.)

# %% tags=["timing"]
MANY = 2**26
src, dst = np.zeros((2, MANY), np.float32)
launch = MANY // THREADS, THREADS
COUNTERS = "global_load_requests", "l2_read_sectors", "instructions"


def counted(m):
    """A kernel's time, and what its counters say of each warp."""
    each = [32 * m.counters.get(name, np.nan) / MANY for name in COUNTERS]
    return [m.kernel, m.median_us, *each, m.counters.get("issue_percent")]


direct, tiled = (measure(kernel, bytes=8 * MANY)[launch](dst, src)
                 for kernel in (add_window, add_window_tiled))

COLUMNS = ["kernel", "µs", "global loads per warp", "sectors from L2 per warp",
           "instructions per warp", "issue slots used, %"]
table(COLUMNS, map(counted, (direct, tiled)))

# %% [markdown]
# The tile does what it should: a warp makes 1.1 global loads instead of 9.
# But the kernel is slower: 441 µs instead of 267.
#
# Behind L1 the tile saves nothing.
# With it and without it, a warp fetches 4.25 sectors from L2, little more than the 4 that 32 numbers fill: L1 served the other eight loads.
# And the tile costs instructions: 178 a warp instead of 90, which take 82% of the issue slots.
#
# Are the instructions the reason? Remove them: give indices 32 bits, [as you will learn](31_types_and_instructions.ipynb), both with and without a tile, and fill the tile without a loop.
#
# - **Each thread adds up its window, with indices of 32 bits.**
# - **Load a tile in two steps, wait, and add up, with indices of 32 bits.**

# %%
@cuda.jit
def add_window_32(out, a):
    """Each thread adds up its window, with indices of 32 bits."""
    i = uint32(cuda.grid(1))
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        # unsigned: 0 - 4 becomes 4,294,967,292, so one test guards both ends
        at = uint32(i + uint32(k) - uint32(RADIUS))
        if at < a.size:
            total += a[at]
    if i < out.size:
        out[i] = total


# %%
@cuda.jit
def add_window_tiled_32(out, a):
    """Load a tile in two steps, wait, and add up, with indices of 32 bits."""
    tile = cuda.shared.array(TILE, float32)
    thread, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    at = uint32(i - uint32(RADIUS))
    tile[thread] = a[at] if at < a.size else float32(0)
    if thread < 2 * RADIUS:
        at, cell = uint32(at + uint32(THREADS)), uint32(thread + THREADS)
        tile[cell] = a[at] if at < a.size else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += tile[uint32(thread + uint32(k))]
    if i < out.size:
        out[i] = total


for kernel in add_window_32, add_window_tiled_32:
    out[:] = np.nan
    emulate(kernel)[N // THREADS, THREADS](out, a)
    check(out, window_spec(a))

# %% tags=["timing"]
narrow = [measure(kernel, bytes=8 * MANY)[launch](dst, src)
          for kernel in (add_window_32, add_window_tiled_32)]

# a kernel keeps the globals that it was compiled with: compile copies
RADIUS, TILE = 16, THREADS + 2 * 16
wider = [measure(cuda.jit(kernel.py_func), bytes=8 * MANY)[launch](dst, src)
         for kernel in (add_window_32, add_window_tiled_32)]
RADIUS, TILE = 4, THREADS + 2 * 4

table(["radius", *COLUMNS],
      [[4, *counted(m)] for m in (direct, tiled, *narrow)]
      + [[16, *counted(m)] for m in wider])

# %% [markdown]
# The instructions were most of the reason: with 54 a warp instead of 178, the tiled kernel takes 278 µs.
# But the kernel without a tile takes 266, with 90 as before.
# The tile still loses: its warps also wait for the barrier, 24% of all their waiting.
#
# With 16 neighbours on each side, the tile wins: 408 µs against 689.
# L1 still serves the reuse: both fetch 4.5 sectors a warp from L2.
# What the tile saves now are instructions, 102 against 288, which took 85% of the issue slots: it tests each cell once for the array's ends, not at each of 33 uses.
# Nearly half of the 288 are for these tests; a padded array (not timed) would save them without a tile.

# %% [markdown]
# ## Where a cache is slow
#
# The lanes of `add_window` load neighbours, which lie in one or two lines of 128 bytes.
# What if each lane needs another line?
#
# Walk through a table, as in [Know where a number lives](11_memory_hierarchy.ipynb): each cell holds the index of the next one, and the threads start `apart` cells apart.
#
# - **Each thread takes 64 steps through a table, from a cell of its own.**
# - **The same, in a copy of the table that the block has loaded.**

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

plot_sectors([4 * 33 * lane for lane in range(32)])

# %% [markdown]
# Only the caller knows how large the table is.
# So the shape of the tile is 0, and the launch says how many *bytes* a block gets: fourth in the brackets; the third, 0, is the stream, which you do not need yet.
# This is **dynamic shared memory**; an array of a fixed shape is *static*.
#
# The figure shows one step of a warp whose lanes are 33 cells apart; a row is a line.
# Each lane is in another row, and in another column.
#
# The table has 16 KB, which L1 can hold.
# **Predict.** Lanes 1, 9, 17 and 33 cells apart start in 1, 9, 17 and 32 lines. Which of the two kernels takes longer for more lines?

# %% tags=["timing"]
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
# The kernel without a tile takes longer: 303 µs for 32 lines, and 53 for one.
# The instructions are the same, and L1 serves more than 99% of the sectors; requests for more lines take it longer.
# The tile takes 55 µs over each of these four distances: it is 5.5 times as fast for 32 lines, and no faster for one.
#
# All four distances are odd, and that is no accident.
# Lanes that are 32 cells apart also start in 32 lines:

# %% tags=["timing"]
table(["cells apart", "lines", "µs from L1", "µs from the tile"],
      [[apart, np.unique(apart * np.arange(32) // 32).size,
        cached[apart].median_us, shared[apart].median_us]
       for apart in (33, 32)])

# %% [markdown]
# Here both kernels are slow, with as many lines and the same instructions.
# What is different about 32, you will see next.
#
# ## Rows in, columns out
#
# A tile can also pay without any reuse.
# A transpose turns rows into columns, so a warp that loads from one line stores to 32, or the other way round.
#
# - **Each thread moves one element, from a row into a column.**
# - **Each thread moves one element, from a column into a row.**
# - **Load a tile by rows, wait, and read it by columns.**

# %%
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


# %% tags=["timing"]
small, square = a.reshape(64, 64), src.reshape(2**13, 2**13)
turned, turns = np.zeros_like(small), []

for kernel in (
        transpose, transpose_down, make_transpose(32), make_transpose(33)):
    emulate(kernel)[(2, 2), (32, 32)](turned, small)
    check(turned, small.T)
    turns.append(measure(kernel, bytes=8 * MANY)[(256, 256), (32, 32)](
        dst.reshape(square.shape), square))

HOW = "stores down", "loads down", "tile, 32 columns", "tile, 33 columns"
table(["transpose", "µs", "sectors from L2 per warp",
       "sectors to L2 per warp"],
      [[how, m.median_us, *(32 * m.counters.get(it, np.nan) / MANY
        for it in ("l2_read_sectors", "l2_write_sectors"))]
       for how, m in zip(HOW, turns, strict=True)])

# %% [markdown]
# Storing down a column is slowest, 973 µs: stores go on to L2, 32 sectors a warp.
# Loading down a column takes 411 µs: L1 keeps the lines for a block's other warps, and asks L2 for 4 sectors a warp.
# The tile loads and stores by rows, and takes 531 µs; with one more column, which nobody uses, 323.
#
# Before you write a tile, ask what L1 does already. A tile helps where
#
# - each cell is used so often that the instructions saved are worth the barrier: 33 times here, 9 times not
# - lanes look up words in many lines, and in different *banks* (next lesson)
# - lanes cannot be neighbours both when they load and when they store
# - threads exchange numbers
#
# ## How much there is
#
# Ask your GPU:

# %%
gpu = cuda.get_current_device()
most = gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

table(["shared memory of", "bytes"],
      [["a block, without asking", gpu.MAX_SHARED_MEMORY_PER_BLOCK],
       ["a block, at most", most],
       ["a multiprocessor", gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR]])

# %% [markdown]
# CUDA's guide limits static arrays to 48 KB, and so does the emulator.
# Dynamic shared memory may be larger, but the launch is refused unless the kernel has opted in.
# CUDA C++ does that with `cudaFuncSetAttribute`; Numba has no function for it, so `helpers` has one, `allow_dynamic_shared`.
# Here is a table of 128 KB, before and after:

# %%
larger = np.roll(np.arange(2**15, dtype=np.uint32), -1)

with expect(ValueError):
    emulate(follow_in_tile)[2, 1024, 0, larger.nbytes](few, larger, 33)

allow_dynamic_shared(follow_in_tile, larger.nbytes)
emulate(follow_in_tile)[2, 1024, 0, larger.nbytes](few, larger, 33)
check(few, (33 * np.arange(2048) % CELLS + STEPS) % larger.size)

# %% [markdown]
# On a GPU the first launch fails, too, with `CUDA_ERROR_INVALID_VALUE`, which names neither the limit nor the remedy.
#
# What one block takes, another cannot have.
# To see what that costs, launch a kernel with shared memory that it never touches.
# **Each thread copies one element.**

# %% tags=["timing"]
@cuda.jit
def copy(out, a):
    """Each thread copies one element."""
    i = cuda.grid(1)
    out[i] = a[i]


def blocks_at_once(size):
    """How many blocks of the launch below a multiprocessor holds."""
    taken = size + gpu.RESERVED_SHARED_MEMORY_PER_BLOCK
    return min(gpu.MAX_THREADS_PER_MULTIPROCESSOR // THREADS,
               gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // taken)


allow_dynamic_shared(copy, most)
ROOMS = 0, 32 * 1024, 48 * 1024, 96 * 1024, most
copies = [measure(copy, bytes=8 * MANY)[*launch, 0, size](dst, src)
          for size in ROOMS]

plot_times([f"{size // 1024} KB ({blocks_at_once(size)} at once)"
            for size in ROOMS], [m.median_us for m in copies])

# %% [markdown]
# The same instructions move the same bytes; only the fourth number in the brackets changes.
# A multiprocessor has room for eight of these blocks without shared memory, for four with 48 KB each and for one with 227 KB.
# With eight blocks at once, their warps take on average 71% of the places for warps, as blocks end and start; with one, 12%, and the copy takes 5.9 times as long.
#
# ## Several arrays, several types
#
# A block has *one* piece of dynamic shared memory.
# Every array of shape 0 begins at its first byte, so take slices that do not overlap.
# A slice counts in its own elements; with the widest type first, each begins at a multiple of its own size.
#
# **Each block reverses its elements of two columns.**

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
# A float64 takes 8 bytes, so the times end where element `2 * count` of the uint32 array begins.
#
# ## What could go wrong
#
# Forget the slices, and the two arrays are one.
# **Reverse two columns, in tiles that share their bytes.**

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
# The emulator reports a *race*: two threads write the same bytes, in no fixed order.
# (WAW is *write after write*, each such pair is a hazard, and a minor race is one within a warp.)
# Here thread 32 stores its mark into the same bytes as thread 16 its time.
#
# The other classic mistake is to read what nobody has written.
# To see it, leave out the last part of the halo.
# **Add up windows of a tile that lacks the end of its halo.**

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
# A GPU does not clear shared memory between blocks: it may hold what an earlier block left.
#
# ## What changed
#
# | version | idea | what the clock says |
# |---|---|---|
# | `add_window_tiled` | load once what nine threads use | 267 → 441 µs: L1 already did that |
# | `add_window_tiled_32` | … in fewer instructions | 266 → 278 µs |
# | … with a radius of 16 | … for 33 uses of each cell | 689 → 408 µs |
# | `follow_in_tile` | look up words in 32 lines | 303 → 55 µs |
# | `transpose_tiled`, 33 columns | rows in, columns out | 411 → 323 µs |
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
# ★ `exercise("reverse")`, in the assignment: its kernel is given there, and one line of it is wrong. Which block's place does a block write to?
#
# ★★★ `exercise("life")`: one step of the game of life, in tiles, in a world that goes on at the opposite edge. A thread fills several cells, with one loop of step 16 along each axis, and `% rows` and `% cols` at the edge. Allow half an hour more.
#
# The [assignment](assignments/13_shared_memory.ipynb) has 6 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Shared memory and L1 are one memory in each multiprocessor, which the driver divides by what kernels ask for.
# A larger tile leaves less room for L1.
#
# A kernel can have static arrays and dynamic ones; they do not overlap, and their bytes add up.
#
# From the A100 on, a kernel can copy from global to shared memory *asynchronously*, past the registers, and load the next tile while it works on this one. From the H100 on, blocks of a *cluster* can reach each other's shared memory. Numba has no function for either.
#
# The emulator says when a kernel reads a shared cell that nobody wrote; a GPU says nothing. On a GPU, newer versions of NVIDIA's `compute-sanitizer` do, with `--tool initcheck --initcheck-address-space shared`.
#
# Within a warp, threads can hand values on by a shuffle, and a value that *all* threads use at once suits constant memory.

# %% [markdown]
# ## Further reading
#
# - [Numba: shared memory and thread synchronization](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array`, static and dynamic.
# - [Using shared memory in CUDA C/C++](https://developer.nvidia.com/blog/using-shared-memory-cuda-cc/): static and dynamic, with the reversal of a block as the example.
#
# *Next:* [Share a tile without queueing](14_bank_conflicts.ipynb): lanes that are 32 cells apart are slow from L1 and from the tile, and a tile of 33 columns is faster than one of 32. What is wrong with 32?
