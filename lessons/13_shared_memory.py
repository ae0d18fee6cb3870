# %% [markdown]
# # Use a tile where it pays
#
# *65 minutes*
#
# **What you'll do:** let the threads of a block hand numbers to one another through a memory that they share, see this make one kernel three times as fast and another one slower, and find out why: a tile saves little that a cache saves already.
#
# **What you'll learn:**
#
# - put a tile into shared memory, and say who sees it, how long it lasts, and what the barrier is for
# - turn rows into columns through a tile, and load a tile with its halo
# - tell from the addresses alone whether threads use the same numbers, and whether lanes queue
# - say what L1 does without a tile, and judge one by a floor and a control
#
# **What you'll need:** [kernels, blocks and threads](01_first_kernel.ipynb), [caches](11_memory_hierarchy.ipynb), and [sectors and lines](12_coalescing.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (check, compare, device, emulate, exercise, explore,
                     measure, plot_exchange, plot_halo, plot_places,
                     plot_tile_move)

device

# %% [markdown]
# ## Rows in, columns out
#
# A *transpose* turns the rows of a matrix into columns.
# The simplest kernel gives each thread one element to load, and to store at its new place. (The sizes here are multiples of the block's, so no transpose needs a guard.)
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
# Swap both sides, and they store into a row. Then they load from a column:

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
# - *Who sees it?* In Numba, the threads of the block and no others.
# - *How large may it be?* 48 KB for a block, and more [if it asks](18_how_much_shared_memory.ipynb).
# - *How long does it last?* As long as the block runs.
# - *What is in it at first?* Nothing to rely on.

# %% [markdown]
# Begin with one row: each block reverses its elements. Each thread leaves one there, and takes another thread's. Two lines are new.
#
# - `cuda.shared.array(THREADS, float32)` makes one array for the block, not one for each thread. Its shape must be known when the kernel is compiled: a number, or a name from outside the kernel.
# - `cuda.syncthreads()` is the **barrier**: no thread of the block passes it before all have reached it. So none takes a number before it is there. (To fill the same tile again takes [another barrier](15_barriers_and_races.ipynb).)
#
# The piece of data that a block holds there is its **tile**.

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
# Orange: stores. Blue: loads after the barrier.
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
# Half of the cells were read before anything was in them. (*RAW*, read after write: a load that should come after a store, and that nothing makes wait.)
# That is so in the emulator's order of warps. A GPU has its own, and reports nothing: the result may even be right by luck, as in [Wait for one another](15_barriers_and_races.ipynb).
#
# ## Turn it in a tile
#
# A transpose does the same with two axes: a block takes 32 × 32 elements of `src`, turns them in its tile, and stores them in the turned place of `dst`.
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
# The tile's rows are `width` cells long, which the function around the kernel fills in: 32 for now.

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
# Has the tile paid? For that you must know how fast any transpose can be.
# Each version reads every number and writes it, and so does a copy by the same blocks.
# Its time is a **floor**: no version with this launch can be expected to take less.

# %%
@cuda.jit
def copy_matrix(dst, src):
    """Each thread copies one element."""
    col, row = cuda.grid(2)
    dst[row, col] = src[row, col]


# %% [markdown]
# **Predict.** Which is slower, to store down a column or to load down one? How near does the tile come to the copy? And does it matter if its rows have a 33rd number, which nobody uses?

# %% tags=["timing", "hide-input"]
# Measures all of them, for a matrix of 8,192 × 8,192.
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
        by="kernel")

# %% [markdown]
# *Stores down* is by far the slowest: L1 passes every store on as it comes, and so 32 sectors of each warp go to L2.
# *Loads down* takes less than half of the time, with no tile at all, because L1 keeps each sector until the other warps of the block want the rest of it. So it fetches no more from L2 than the copy does.
#
# But a tile of 32 columns is slower than *loads down*. With a 33rd column it is not far from the copy.
# In sectors these four kernels are all alike. What else does a request cost?

# %% [markdown]
# ## Which place in the line?
#
# The numbers that warps load or store, in shared memory or through L1, come by one way, the **data path**.
# A line holds 32 of our numbers, so it has 32 *places* for them. (The field says *banks*, and the next page is about them.)
# By a simple rule, the data path serves in one cycle up to 32 numbers from any lines, as long as each is at another place. But different numbers at one place come one after the other.
#
# Here are the lanes of a column. Move the slider to other lengths of the rows, of a matrix or of a tile:

# %%
def column(row_length=8192):
    """The lanes of a column, in rows of this length."""
    return plot_places([4 * row_length * lane for lane in range(32)])


explore(column, row_length=[8192, 8200, 8193, 32, 33])

# %% [markdown]
# Rows of 8,192 numbers are whole lines, so all lanes are at one place, and queue for 32 cycles.
# A tile with rows of 32 has only moved this queue into shared memory.
# With a 33rd column each row begins one place further on, and the queue is gone.
#
# If so, longer rows of the *matrix* must do as much, with no tile at all. (The numbers beyond 8,192 are only there to move the rows apart.)
#
# **Predict.** Lengthen the rows where a kernel goes down a column: those of `src` for *loads down*, of `dst` for *stores down*. Which of the two gains?
#
# (*Cycles by places* are those of a warp's requests by the rule, *data path cycles* those that the GPU counted.)

# %% tags=["timing", "hide-input"]
# Measures them where one matrix has longer rows: of a tile or a copy, `src`.
SIDES = {"loads down": "src_width", "stores down": "dst_width",
         "a tile, 33 wide": "src_width", "a copy": "src_width"}
longer = {(name, width): turning(KERNELS[name], **{side: width})
          for name, side in SIDES.items() for width in (SIDE, 8200, 8193)}


def by_places(kernel, width):
    """The cycles of a warp's requests, if only places counted."""
    requests = 4 if "tile" in kernel else 2
    apart = 32 if "32" in kernel else width
    queues = "down" in kernel or "32" in kernel
    return requests - queues + queues * np.gcd(apart, 32)


every = {("a tile, 32 wide", SIDE): turns["a tile, 32 wide"]} | longer
rows = {(name, f"{width:,}"): (m, by_places(name, width))
        for (name, width), m in every.items()}
compare(rows, {"cycles by places": lambda row: row[1]},
        "data path cycles per warp", "data path busy, %", "µs",
        by=("kernel", "numbers in a row"))

# %% [markdown]
# *Loads down* gains the more, the fewer lanes share a place, and is in the end as fast as the tile of 33. So all that the tile saved here was the queue.
#
# *Stores down* has a shorter queue now, too, and gains nothing: it sends on as many sectors. To save those, turn the kernel round (*loads down*), or take a tile.

# %% [markdown]
# <details><summary>For the curious: what the rule does not explain</summary>
#
# The data path takes two to four cycles more than the rule says. But where the lanes of a column in the matrix have several places, it takes some ten more, and the counter does not say what for.
#
# And the tile of 32 has as long a queue as *loads down*, but the data path is idle for more of the time. Its warps also store to the tile and wait at a barrier. But those of the tile of 33 do so, too, and lose little; whether queue and barrier together do it, no launch here tells.
#
# </details>

# %% [markdown]
# ## Nine loads for one number?
#
# In a transpose every number is loaded once, and a tile has paid.
# And where each number is loaded *nine* times?
#
# A moving sum adds to each number four neighbours on either side.
# Which elements does thread 100 load, and which does thread 103?
#
# <details><summary>Answer</summary>
#
# Thread 100 loads elements 96 to 104, thread 103 loads 99 to 107.
# Six of them are the same.
#
# </details>

# %% [markdown]
# That is a test that needs no GPU: write down what two threads load. If an element is on both lists, there is **reuse**.
# In a transpose no two lists meet. Here each element should be loaded nine times, which `run.reuse` counts:

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
# Nine times, apart from the ends of the array. If a block brings each number into a tile, eight loads of nine are saved.
#
# ## A tile and its halo
#
# The first thread of a block also wants four elements on its left, and the last one four on its right.
# These eight are the **halo**. With them the tile has more cells than the block has threads. Who loads the last ones?

# %%
plot_halo(blocks=2, threads=10, radius=4, window=3)

# %% [markdown]
# *Who loads?* The thread whose number is in the cell.
# When each has filled a cell, the first ones go on: a loop from `thread` to the end of the tile, in steps of the block's size.
# Dotted cells lie outside the array and become 0, which changes no sum.
#
# *Who uses?* The bracket marks what thread 3 adds up.
# Its own element is in cell 7, since four cells of the halo come first, and the window begins four before that: at the cell `thread`.
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
# **Predict.** How much of the time is left, for 67 million elements?
#
# The floor is again a copy by the same blocks. (`uint32` keeps its index in 32 bits.)

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
# And behind L1 it saves nothing: with a tile and without it, a warp fetches as many sectors from L2. L1 already served eight loads of nine.
#
# *What did it cost?* A warp issues twice as many instructions. Most of the new ones compute indices, those of the loop and those of the tile. (The [machine code](16_own_memory.ipynb) shows it.)
# They take four fifths of the issue slots, the cycles in which a scheduler could issue one. Four fifths of 442 µs are more than 268: so issuing alone takes longer than the whole kernel did without a tile.

# %% [markdown]
# Was it the tile, or the instructions that came with it?
# To part them you need a **control**, a launch that differs in one thing only.
#
# This pair comes near: it differs in the tile, and in few instructions.
# Its array is *padded*, with four zeros before it and four behind it. Then no index needs a test, and no loop fills the tile.
# And `i` is a `uint32`. With a signed index Numba adds instructions for the case that it is negative, since `a[-1]` is the last element.

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
        "µs", "sectors from L2 per warp", "instructions per warp",
        by=("array", "kernel"))

# %% [markdown]
# Here the tile adds only 11 instructions, and 5% to the time in place of two thirds. So the tile itself costs little: most of the loss came with the other instructions.
#
# But it gains nothing, either: L1 serves the other kernel as well, and both fetch as many sectors from L2.
#
# ## When a tile pays
#
# The tile that saved eight loads of nine has lost, and the one that saved none has won, as long as the rows kept their length.
# **What a cache does by itself, a tile can hardly save once more.** L1 keeps what neighbours load, so their reuse is saved already. But L1 does not change the order: lanes that store down a column send on every sector, and lanes at one place queue.

# %% [markdown]
# So ask before you write a tile:
#
# - *Must lanes go down a column, to load or to store?* A tile changes the order. (For loads, longer rows may do as well.)
# - *Do threads of different warps exchange what they have computed?* No cache has fetched that, as in [Add up an array as fast as it can be read](25_reduction.ipynb).
# - *Do lanes look up places all over a table, again and again?* See [Leave room for enough warps](18_how_much_shared_memory.ipynb).
#
# If none of these, leave it to L1. Whether reuse alone can pay, where a number is used much more often, [Use a number again while it is near](22_tiling.ipynb) asks.

# %% [markdown]
# ## What changed
#
# | version | what the tile changes | floor, µs | without a tile, µs | with it, µs |
# |---|---|---:|---:|---:|
# | `transpose` | stores along rows | 288 | 965 | 324 |
# | `transpose_down` | no queue in L1 | 288 | 410 | 324 |
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
#
# ★ `exercise("reverse")`, in the assignment: one line of its kernel is wrong. Which block's place does a block write to?

# %% [markdown]
# ★★ `pool`: each element becomes the largest of itself and the three before it, and is loaded about once.
#
# It practises a halo; L1 could serve these loads as well. A 0 changes no sum, but it would win among negative numbers. What changes no maximum?

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
    # your code, about 13 lines


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
# ★★★ `exercise("life")`: one step of the game of life, in tiles, in a world that goes on at the opposite edge (`% rows`, `% cols`). Allow half an hour more.
#
# The [assignment](assignments/13_shared_memory.ipynb) has 5 exercises, these among them.

# %% [markdown]
# ## Further reading
#
# - [Numba: shared memory and thread synchronization](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array`.
# - [Using shared memory in CUDA C/C++](https://developer.nvidia.com/blog/using-shared-memory-cuda-cc/): the reversal of a block, static and dynamic.
#
# *Next:* [Share a tile without queueing](14_bank_conflicts.ipynb): a tile of 33 columns is faster than one of 32. What is wrong with 32?
