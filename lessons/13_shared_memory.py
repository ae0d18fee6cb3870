# %% [markdown]
# # Use a tile where it pays
#
# *55 minutes*
#
# **What you'll do:** let the threads of a block hand numbers to one another through a memory that they share, see this make one kernel three times as fast and another one slower, and find out why.
#
# **What you'll learn:**
#
# - put a tile into shared memory, and say who sees it, how long it lasts, and what the barrier is for
# - turn rows into columns through a tile, and load a tile with its halo
# - tell from the addresses alone whether threads use the same numbers
# - judge a tile by a floor and a control, and say beforehand what L1 does already
#
# **What you'll need:** [kernels, blocks and threads](01_first_kernel.ipynb), [caches](11_memory_hierarchy.ipynb), and [sectors and lines](12_coalescing.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (check, compare, device, emulate, exercise, explore,
                     measure, plot_exchange, plot_halo, plot_sectors,
                     plot_tile_move)

device

# %% [markdown]
# ## Rows in, columns out
#
# A *transpose* turns the rows of a matrix into columns.
# The simplest kernel gives each thread one element: the thread loads it, and stores it at its new place.
#
# **Predict.** How many sectors does a warp's load touch, and how many its store?

# %%
@cuda.jit
def transpose(dst, src):
    """Each thread moves one element, from a row into a column."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


small = np.random.default_rng(0).random((64, 64), dtype=np.float32)
turned = np.zeros_like(small)

run = emulate(transpose)[(2, 2), (32, 32)](turned, small)
check(turned, small.T)
run

# %% [markdown]
# The lanes of a warp load from one row: 4 sectors. But they store into one column: 32 sectors, one for each lane.
#
# Swap both sides, and the lanes store into a row. Then they load from a column:

# %%
@cuda.jit
def transpose_down(dst, src):
    """Each thread moves one element, from a column into a row."""
    col, row = cuda.grid(2)
    dst[row, col] = src[col, row]


run = emulate(transpose_down)[(2, 2), (32, 32)](turned, small)
check(turned, small.T)
run

# %% [markdown]
# Can the lanes be side by side on *both* sides?
# Not if each thread stores the number that it has loaded: what is side by side in a row of `src` lies in a column of `dst`.
# So it must store what *another* thread has loaded, and they need a place to hand it over.
#
# ## A memory in common
#
# **Shared memory** is such a place: a small memory in each multiprocessor.
# Every block that runs there gets a part of it.
#
# - *Who sees it?* The threads of the block, and no others.
# - *How long does it last?* As long as the block runs.
# - *What is in it at first?* Nothing that you can rely on. Nobody clears it.

# %% [markdown]
# Begin with one row: each block reverses its elements. Each thread leaves one there, and takes another thread's. Two lines are new.
#
# - `cuda.shared.array(THREADS, float32)` makes one array for the block, not one for each thread. Its shape must be known when the kernel is compiled: a number, or a name from outside the kernel.
# - `cuda.syncthreads()` is the **barrier**: no thread of the block passes it before all have reached it. So none takes a number before it is there.
#
# A piece of the data that a block holds in shared memory is its **tile**.

# %%
N, THREADS = 4096, 256


@cuda.jit
def reverse_block(out, a):
    """Each block reverses its elements, through a tile."""
    tile = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[thread] = a[i]
    cuda.syncthreads()
    out[i] = tile[THREADS - 1 - thread]


a, out = small.ravel(), np.zeros(N, np.float32)
emulate(reverse_block)[N // THREADS, THREADS](out, a)
check(out, a.reshape(-1, THREADS)[:, ::-1].ravel())

plot_exchange(stores=range(8), loads=range(7, -1, -1))

# %% [markdown]
# Each of 8 threads stores to its own cell (orange) and, after the barrier, loads another thread's (blue).
#
# What if the barrier is missing?

# %%
@cuda.jit
def reverse_too_soon(out, a):
    """Each block reverses its elements, and nobody waits."""
    tile = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[thread] = a[i]
    out[i] = tile[THREADS - 1 - thread]


emulate(reverse_too_soon)[N // THREADS, THREADS](out, a)

# %% [markdown]
# Half of the cells were read before anything was in them.
# That is so in the emulator's order of warps. A GPU has one of its own, and reports nothing: such a cell may hold what an earlier block left there, and the result may be right by luck, as in [Wait for one another](15_barriers_and_races.ipynb).
#
# ## Turn it in a tile
#
# A transpose does the same with two axes.
# A block takes 32 × 32 elements of `src`, turns them in its tile, and stores them in the turned place of `dst`.
# In the picture the block has 4 × 4 threads, and a warp has 4.

# %%
plot_tile_move(row=1)

# %% [markdown]
# The warp of row 1 loads a row of `src` and stores it as a row of the tile (orange).
# After the barrier it loads a *column* of the tile (blue), numbers of four warps, and stores them as a row of `dst`.
# So in global memory it meets rows only.
#
# In code, thread (x, y) fills cell `[y, x]` of the tile and takes cell `[x, y]`.
# The square begins at `src[top, left]`, and its turned place at `dst[left, top]`: in the picture at `src[4, 8]` and `dst[8, 4]`.
# The rows of the tile are `width` cells long, a number that the function around the kernel fills in: 32 for now.

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


run = emulate(make_transpose(32))[(2, 2), (32, 32)](turned, small)
check(turned, small.T)
run.coalescing.sectors / run.coalescing.requests

# %% [markdown]
# Four sectors for each request, the fewest possible.
#
# ## What did it save?
#
# To judge a time you need a **floor**: a time that no version with the same launch can be expected to beat. (Another launch can, in [Transpose a matrix nearly as fast as a copy](21_transpose.ipynb).)
# Each version reads every number and writes it, and so does a copy by the same blocks:

# %%
@cuda.jit
def copy_matrix(dst, src):
    """Each thread copies one element."""
    col, row = cuda.grid(2)
    dst[row, col] = src[row, col]


# %% [markdown]
# Sectors are not the only price of a request.
# Its numbers come through L1's **data path**, in a cycle up to 32 of them from different *places*.
# A line has 32 places, of four bytes each. Numbers at one place of their lines come one after the other.
#
# Our matrix has 8,192 × 8,192 numbers. Where are the lanes of a column? Here are the first eight (a row of the picture is a line):

# %%
def column(apart=8192):
    """Eight lanes in a column, by the distance between two rows."""
    return plot_sectors([4 * apart * lane for lane in range(8)])


explore(column, apart=[8192, 8200, 8193])

# %% [markdown]
# Each lane has a line of its own, and all are at the same place.
#
# **Predict.** Which is slower, to store down a column or to load down one? And how near does the tile come to the copy?

# %% tags=["timing", "hide-input"]
# Measures all transposes for a matrix of 8,192 × 8,192.
SIDE = 8192
KERNELS = {"a copy": copy_matrix, "stores down": transpose,
           "loads down": transpose_down, "a tile, 32 wide": make_transpose(32),
           "a tile, 33 wide": make_transpose(33)}


def turning(kernel, src_width=SIDE, dst_width=SIDE):
    """The measurement of a transpose, of matrices this wide."""
    dst, src = (np.zeros((SIDE, width), np.float32)
                for width in (dst_width, src_width))
    return measure(kernel, bytes=8 * SIDE**2)[(256, 256), (32, 32)](dst, src)


turns = {name: turning(kernel) for name, kernel in KERNELS.items()}
compare(turns, "µs", "sectors from L2 per warp", "sectors to L2 per warp",
        "data path cycles per warp", by="kernel")

# %% [markdown]
# The tile wins: with 33 columns it takes a third of the time of the first kernel, and is not far from the copy. Why? Row by row:
#
# *Stores down.* L1 passes stores on as they come, so each sends 32 sectors to L2.
#
# *Loads down.* Here L1 makes up for the waste: it asks L2 for each sector once, and keeps it until the other warps of the block want the rest. This kernel takes less than half of the time.
# But it is far from the copy: its lanes queue at one place, and keep the data path busy for 36 cycles. In the copy a warp needs less than 5.

# %% [markdown]
# *A tile, 32 wide.* Shared memory is a part of the same fast memory, and has the same places. A column of this tile is at one place, too: the tile has moved the queue, but not removed it.
# The kernel is even slower than without it. (Why, we did not measure.)
#
# *A tile, 33 wide.* One more column, which nobody uses, and each row begins one place further on. Now the numbers of a column come together.

# %% [markdown]
# If it is the places, longer rows of the matrix must do as much, with no tile at all. Move the slider up there: with 8,200 numbers in a row, the 32 lanes use four places, eight lanes each; with 8,193, each lane has its own.
#
# **Predict.** Lengthen the rows where a kernel goes down a column: those of `src` for *loads down*, of `dst` for *stores down*. Which of the two gains? (For comparison the tile and the copy get a longer `src`.)

# %% tags=["timing", "hide-input"]
# Measures the same kernels where one matrix has longer rows.
SIDES = {"loads down": "src_width", "stores down": "dst_width",
         "a tile, 33 wide": "src_width", "a copy": "src_width"}
longer = {(name, width): turning(KERNELS[name], **{side: width})
          for name, side in SIDES.items() for width in (SIDE, 8200, 8193)}

compare({(name, f"{width:,}"): m for (name, width), m in longer.items()},
        "µs", "data path cycles per warp", by=("kernel", "numbers in a row"))

# %% [markdown]
# *Loads down* gains the more, the fewer lanes share a place, and is in the end as fast as the tile. Without the queue, a tile has nothing left to gain.
#
# *Stores down* has a shorter queue now, too, and gains nothing: it sends on as many sectors. To save those, turn the kernel round (*loads down*), or take a tile.
#
# <details><summary>For the curious: is it only the power of two?</summary>
#
# No: 8,200 is none, and its lanes still queue. But even with 8,193, a warp that goes down a column keeps the data path busy for longer than one of the copy. What for, the counter does not say.
#
# </details>

# %% [markdown]
# ## Nine loads for one number?
#
# In a transpose every number is loaded once, and a tile has paid.
# How much will it pay where each number is loaded *nine* times?
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

# %% [markdown]
# This is a test that needs no GPU: write down what two threads load. If an element is on both lists, there is **reuse**.
# In a transpose no two lists meet. Here those of neighbours do, so each element should be loaded nine times. `run.reuse` counts that:

# %%
RADIUS = 4


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


sums = np.convolve(a, np.ones(2 * RADIUS + 1, np.float32), "same")
run = emulate(add_window)[N // THREADS, THREADS](out, a)
check(out, sums)
run.reuse["a"].loads[:16]

# %% [markdown]
# Nine times, apart from the ends of the array.
# The nine are neighbours, nearly always of one block. If that brings each number into a tile, eight loads of nine are saved.
#
# ## A tile and its halo
#
# The first thread of a block also wants four elements on its left, and the last one four on its right.
# These eight are the **halo**, and have their cells in the tile, too.
# So the tile has more cells than the block has threads. Who loads the last ones?

# %%
plot_halo(blocks=2, threads=10, radius=4, window=3)

# %% [markdown]
# *Who loads?* The thread whose number is in the cell.
# When each has filled a cell, the first ones go on. In code that is a loop from `thread` to the end of the tile, in steps of the block's size.
# Dotted cells lie outside the array and become 0, which changes no sum.
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


run = emulate(add_window_tiled)[N // THREADS, THREADS](out, a)
check(out, sums)
run.reuse["a"].loads[THREADS - 8:THREADS + 8]

# %% [markdown]
# ## Is it faster?
#
# The tile has turned nine loads from global memory into one.
#
# **Predict.** How much of the time is left, for 67 million elements?
#
# The floor is again a copy by the same blocks. (Its `uint32` saves instructions, as below.)

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

compare({"a copy": floor, "no tile": direct, "a tile": tiled},
        "µs", "sectors from L2 per warp", "instructions per warp",
        "issue slots used, %", by="kernel")

# %% [markdown]
# The tile makes the kernel slower, by two thirds.
#
# *What could it save?* Only what lies above the floor, a quarter of the time without a tile.
# And behind L1 it saves nothing: with a tile and without it, a warp fetches as many sectors from L2. L1 already served eight loads of nine, without being asked.
#
# *What did it cost?* A warp issues twice as many instructions, although a thread asks once or twice whether a cell is in the array, and no longer nine times.
# They take four fifths of the **issue slots**, the cycles in which a scheduler could issue one. Four fifths of 442 µs are more than the 268 of the whole kernel without a tile.

# %% [markdown]
# So there are two suspects: the tile, and the instructions that came with it.
# To part them you need a **control**, a launch that differs in one thing only.
#
# This pair differs in the tile, and hardly in instructions.
# Its array was made with four zeros before it and four behind it: it is *padded*. Then no index needs a test, and two plain lines fill the tile.
# And `i` is a `uint32`. With a signed index Numba adds instructions for the case that it is negative, since `a[-1]` is the last element; here none can be.

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


# %% tags=["timing", "hide-input"]
# Checks both kernels, and measures them beside the first pair.
wide = np.pad(src, RADIUS)
controls = []
for kernel in add_padded, add_padded_tiled:
    out[:] = np.nan
    emulate(kernel)[N // THREADS, THREADS](out, np.pad(a, RADIUS))
    check(out, sums)
    controls.append(measure(kernel, bytes=8 * MANY)[launch](dst, wide))

padded, padded_tiled = controls
compare({("", "a copy"): floor, ("as it is", "no tile"): direct,
         ("as it is", "a tile"): tiled,
         ("padded", "no tile"): padded, ("padded", "a tile"): padded_tiled},
        "µs", "instructions per warp", by=("array", "kernel"))

# %% [markdown]
# Here the tile adds only 11 instructions, and 5% to the time in place of two thirds. So the tile itself costs little, and of the two suspects the instructions are left.
#
# But it gains nothing, either: L1 serves the one kernel as well as the tile serves the other.
#
# ## When a tile pays
#
# Of the two tiles, the one without any reuse has won, where the rows stayed as they were.
# **What a cache does by itself, a tile cannot save once more.** L1 keeps what neighbours load, so reuse among neighbours is saved already. But L1 does not change the order: lanes that store down a column send on every sector, and lanes at one place queue.

# %% [markdown]
# So before you write a tile, ask what L1 does already. A tile can pay where
#
# - lanes cannot be side by side both when they load and when they store, and you cannot lengthen the rows that they would go down to load
# - threads of different warps exchange what they have *computed*, which no cache has fetched, as in [Add up an array as fast as it can be read](25_reduction.ipynb)
# - lanes look up places all over a table, again and again, as in [Leave room for enough warps](18_how_much_shared_memory.ipynb)
#
# Whether reuse alone can pay, where a number is used much more often, [Use a number again while it is near](22_tiling.ipynb) asks.

# %% [markdown]
# ## What changed
#
# | version | what the tile changes | floor, µs | without a tile, µs | with it, µs |
# |---|---|---:|---:|---:|
# | `transpose` | stores along rows | 282 | 965 | 324 |
# | `transpose_down` | no queue in L1 | 282 | 410 | 324 |
# | … with longer rows | nothing | 292 | 327 | 327 |
# | `add_window` | one load for nine, and twice the instructions | 202 | 268 | 442 |
# | `add_padded` | one load for nine | 202 | 232 | 243 |
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

# %% [markdown]
# ★★ `pool`: each element becomes the largest of itself and the three before it. Load each element about once.
#
# A 0 changes no sum, but it would win among negative numbers. What changes no maximum?

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

# %% [markdown]
# ★ `exercise("reverse")`, in the assignment: one line of its kernel is wrong. Which block's place does a block write to?
#
# ★★★ `exercise("life")`: one step of the game of life, in tiles, in a world that goes on at the opposite edge (`% rows`, `% cols`). Fill a tile with one loop of step 16 along each axis. Allow half an hour more.
#
# The [assignment](assignments/13_shared_memory.ipynb) has 5 exercises, these among them.

# %% [markdown]
# ## Further reading
#
# - [Numba: shared memory and thread synchronization](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array`.
# - [Using shared memory in CUDA C/C++](https://developer.nvidia.com/blog/using-shared-memory-cuda-cc/): the reversal of a block, static and dynamic.
#
# *Next:* [Share a tile without queueing](14_bank_conflicts.ipynb): a tile of 33 columns is faster than one of 32. What is wrong with 32?
