# %% [markdown]
# # Leave room for enough warps
#
# *55 minutes*
#
# **What you'll do:** give the blocks of a copy shared memory that they never touch, see the copy take nearly six times as long, find out what was taken from it, and then give as much to a kernel that looks things up, and see it win.
#
# **What you'll learn:**
#
# - size shared memory at the launch, above 48 KB too, for one array or several
# - compute how many blocks, and so how many warps, a multiprocessor holds at a time
# - say how many warps are enough, by what they wait for and what each has in flight
#
# **What you'll need:** bytes in flight, as in [Know where a number lives](11_memory_hierarchy.ipynb), lines, as in [Fetch no more than you use](12_coalescing.ipynb), tiles and their barriers, as in [Use a tile where it pays](13_shared_memory.ipynb) and [Wait for one another](15_barriers_and_races.ipynb), and [banks](14_bank_conflicts.ipynb).

# %%
import numpy as np
from numba import cuda, float64, int16, uint32

from helpers import (allow_dynamic_shared, check, compare, device, emulate,
                     exercise, expect, load4, measure, plot_in_flight,
                     plot_room, plot_series, plot_times, store4, table)

device

# %% [markdown]
# ## What does an unused tile cost?
#
# So far each tile had a shape that the compiler knew. That is *static* shared memory.
# But a block can also be given its shared memory at the launch, as **dynamic shared memory**: the fourth number in the brackets says how many *bytes* each block gets. (The third names a queue of launches; 0 is the usual one.)
#
# Here is a plain copy, which has no use for any.

# %%
THREADS, N, KB = 256, 4096, 1024
gpu = cuda.get_current_device()
most = gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN    # bytes of a block: 227 KB


@cuda.jit
def copy(out, a):
    """Each thread copies one element."""
    i = uint32(cuda.grid(1))
    out[i] = a[i]


a = np.random.default_rng(0).random(N, dtype=np.float32)
out = np.zeros_like(a)
copy[N // THREADS, THREADS, 0, 32 * KB](out, a)
check(out, a)

# %% [markdown]
# **Predict.** Give each block more and more of it, up to 227 KB, the most that a block can have. (For more than 48 KB the folded cell asks, as you soon will.) The copy executes the same instructions and moves the same bytes. Does it take as long?

# %% tags=["timing", "hide-input"]
# Measures the copy with more and more shared memory for each block.
allow_dynamic_shared(copy, most)

MANY = 2**26
src, dst = np.zeros((2, MANY), np.float32)
ROOMS = 0, 32 * KB, 48 * KB, 96 * KB, most


def copying(threads, size):
    """The measurement of the copy in blocks with this much shared memory."""
    return measure(copy, bytes=8 * MANY)[
        MANY // threads, threads, *((0, size) if size else ())](dst, src)


copies = {size: copying(THREADS, size) for size in ROOMS}
plot_times([f"{size // KB} KB" for size in ROOMS],
           [m.median_us for m in copies.values()])

# %% [markdown]
# With the most shared memory it takes nearly six times as long, for memory that it never touches. Why?
#
# ## How many blocks fit?
#
# A multiprocessor holds several blocks at a time, so that some warps can go on while others wait. Each block takes its part of the shared memory for as long as it runs, whether it uses it or not.
# Ask your GPU how much there is:

# %% tags=["hide-input"]
# Asks the GPU for its limits.
table(["what there is", "number"],
      [["blocks of a multiprocessor, at most",
        gpu.MAX_BLOCKS_PER_MULTIPROCESSOR],
       ["threads of a multiprocessor", gpu.MAX_THREADS_PER_MULTIPROCESSOR],
       ["bytes of shared memory of a multiprocessor",
        gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR],
       ["… that the system keeps for each block",
        gpu.RESERVED_SHARED_MEMORY_PER_BLOCK],
       ["… of a block, at most", most]])

# %% [markdown]
# A further block is let in only if there is room for all of it: for its threads, and for its shared memory with the 1 KB that the system keeps for each block.
# So the scarcer of the two decides, or the most blocks that there can be. (And registers, as in [Keep a thread's numbers close](16_own_memory.ipynb); here they are plenty.)
#
# **Predict.** How many blocks of 256 threads fit if each takes 48 KB? And how many if it takes none?
#
# <details><summary>Answer</summary>
#
# With its 1 KB a block takes 49 of 228 KB: four fit, and 32 KB stay empty.
# With none, the threads decide: 2,048 are eight blocks of 256.
#
# </details>

# %%
def blocks_at_once(threads, size):
    """How many blocks a multiprocessor holds, if registers are plenty."""
    taken = size + gpu.RESERVED_SHARED_MEMORY_PER_BLOCK
    return min(gpu.MAX_BLOCKS_PER_MULTIPROCESSOR,
               gpu.MAX_THREADS_PER_MULTIPROCESSOR // threads,
               gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // taken)


blocks_at_once(256, 48 * KB), blocks_at_once(256, 0)

# %% tags=["hide-input"]
# Draws the blocks that a multiprocessor holds in each of the launches.
held = {size: blocks_at_once(THREADS, size) for size in ROOMS}

plot_room({f"{size // KB} KB": (size // KB + 1, THREADS // 32, held[size])
           for size in ROOMS},
          gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // KB)

# %% [markdown]
# Each box is a block, and what is dotted no block takes.
# Shared memory and L1 lie in one memory of 256 KB, so what blocks take, L1 does not have.
#
# The share of a multiprocessor's warps that a launch can fill is its **occupancy**.
# With the most shared memory, one block of 8 warps is left where there is room for 64: an eighth.
#
# ## What were the other blocks for?
#
# Each thread of the copy loads one number and waits for it: 4 bytes in flight.
# By Little's law the rate is at most what all threads have in flight, divided by the latency of a load, [some 350 ns from memory](11_memory_hierarchy.ipynb). Fewer blocks have less in flight.
# (The level line is half the rate at which NVIDIA's driver copies an array, since half of what a copy moves are loads.)

# %% tags=["timing", "hide-input"]
# Draws the rate of the loads over what the threads can have in flight.
LATENCY = 350       # ns, about, of a load that has the memory to itself
loads = {f"{held[size]} at once": (
    4 * THREADS * held[size] * gpu.MULTIPROCESSOR_COUNT, m.gb_per_s / 2)
    for size, m in copies.items()}
half = copies[0].copy_gb_per_s / 2      # half of what it moves are loads

plot_in_flight(loads, LATENCY, half, "the loads of the driver's copy")

# %% [markdown]
# The points go up beside the line of the law: with half the blocks the copy has little more than half the rate.
# They lie below it, for the law says only what is possible: between two blocks places stay empty, a thread does more than wait, and when more loads are on their way, each takes longer. So even right of the dashed line, more is better.
#
# So what the tile took was **latency hiding**. While one block waits for memory, nobody is there to ask for more.
#
# ## Blocks, warps, or bytes?
#
# Is it the *blocks* that were missing, their warps, or what these have in flight?
# Give the most shared memory to a block of 1,024 threads. One fits, as before, but it has four times as many warps.
# Or leave the block small, and let each thread load four numbers at once, by `load4` (`store4` stores them):

# %%
@cuda.jit
def copy_fours(out, a):
    """Each thread copies four elements, all in flight at a time."""
    i = uint32(4 * cuda.grid(1))
    store4(out, i, load4(a, i))


out[:] = 0
emulate(copy_fours)[N // THREADS // 4, THREADS](out, a)
check(out, a)

# %% [markdown]
# **Predict.** Does either take as long as the copy with one small block, or as that with four?

# %% tags=["timing", "hide-input"]
# Measures one block at a time, with more warps or with more in flight.
alone = copying(1024, most)
allow_dynamic_shared(copy_fours, most)
fours = measure(copy_fours, bytes=8 * MANY)[
    MANY // THREADS // 4, THREADS, 0, most](dst, src)

rows = {(4, 256, 1): copies[48 * KB], (1, 256, 1): copies[most],
        (1, 1024, 1): alone, (1, 256, 4): fours}
compare({key: (m, key[0] * key[1] // 32, 4 * key[0] * key[1] * key[2] // KB)
         for key, m in rows.items()},
        {"warps": lambda row: row[1], "KB in flight": lambda row: row[2]},
        "µs",
        by=("blocks at a time", "threads per block", "numbers per thread"))

# %% [markdown]
# Both take about a third of the time of one small block, with the same tile: nearly what four blocks take, which have as much in flight.
# So what the copy lacked was neither blocks nor warps, but bytes in flight. (Why both take somewhat longer than the four, we did not measure.)
#
# Two other suspects are out. L1 is as small in all three launches of one block. And `copy_fours` executes a quarter of the instructions, but the large block executes them all, and gains nearly as much.
#
# **A large tile wants a large block**, whose warps share it, or threads with more in flight.
#
# ## A table of 128 KB
#
# Is there a tile that is worth so much room?
# Take a table that all threads look up, again and again, at places far apart.
# Each cell says where to look next, as in a chain, and the lanes stand `apart` cells from one another. With 33, no two lanes meet in a line, and none in a bank.

# %%
@cuda.jit
def look_up(out, table, apart, rounds):
    """Each thread makes 32 look-ups a round, each from where the last led."""
    cell = uint32(apart * cuda.grid(1) % table.size)
    for _ in range(rounds):
        for _ in range(32):
            cell = table[cell]
    out[cuda.grid(1)] = cell


# %% [markdown]
# Here L1 serves the look-ups.
# In the next kernel each block first copies the whole table into its tile.
# Only the caller knows how large that is, so the shape of the array is 0, which means: as much as the launch gives.

# %%
@cuda.jit
def look_up_in_tile(out, table, apart, rounds):
    """The same, in a copy that the block has made."""
    tile = cuda.shared.array(0, uint32)
    for cell in range(cuda.threadIdx.x, table.size, cuda.blockDim.x):
        tile[cell] = table[cell]
    cuda.syncthreads()
    cell = uint32(apart * cuda.grid(1) % table.size)
    for _ in range(rounds):
        for _ in range(32):
            cell = tile[cell]
    out[cuda.grid(1)] = cell


# %% [markdown]
# A block gets more than 48 KB only if its kernel asks for it, and only as dynamic memory. `allow_dynamic_shared` asks, once, before the launch, for up to so many bytes.
# Here is the launch without it, and with it:

# %%
def make_table(size):
    """So many bytes of cells, each of which leads to the next one."""
    return np.roll(np.arange(size // 4, dtype=np.uint32), -1)


codes = make_table(128 * KB)
ends = np.zeros(2048, np.uint32)

with expect(ValueError):
    emulate(look_up_in_tile)[2, 1024, 0, codes.nbytes](ends, codes, 33, 2)

allow_dynamic_shared(look_up_in_tile, most)
emulate(look_up_in_tile)[2, 1024, 0, codes.nbytes](ends, codes, 33, 2)
check(ends, (33 * np.arange(2048) + 64) % codes.size)

emulate(look_up)[2, 1024](ends, codes, 33, 2)
check(ends, (33 * np.arange(2048) + 64) % codes.size)

# %% [markdown]
# <details><summary>For the curious: on a GPU, and in CUDA C++</summary>
#
# There the first launch fails, too, with `CUDA_ERROR_INVALID_VALUE`, which names neither the limit nor the remedy.
# CUDA C++ opts in with `cudaFuncSetAttribute`; Numba has no function for it, so `helpers` has one.
#
# </details>
#
# ## What does its room cost?
#
# Now as many threads as the GPU can hold make 8,192 look-ups each, in large blocks or in small ones. The time includes copying the table.
#
# **Predict.** The table grows, until one block fits where there were several. What happens to the time with a tile in large blocks, and with one in small blocks?

# %% tags=["timing", "hide-input"]
# Measures look-ups from L1, and from tiles in large and small blocks.
SIZES = [size * KB for size in (16, 64, 96, 128, 192, 224)]
WALKERS = gpu.MULTIPROCESSOR_COUNT * gpu.MAX_THREADS_PER_MULTIPROCESSOR
found = np.zeros(WALKERS, np.uint32)


def looking(kernel, threads, size, apart=33, room=0):
    """The measurement of all look-ups, by blocks of some threads."""
    given = (0, room or size) if kernel is look_up_in_tile else ()
    return measure(kernel)[WALKERS // threads, threads, *given](
        found, make_table(size), apart, 256)


ways = {"from L1": (look_up, 1024),
        "tile, 1,024 threads": (look_up_in_tile, 1024),
        "tile, 256 threads": (look_up_in_tile, 256)}
looked = {name: {size: looking(*way, size) for size in SIZES}
          for name, way in ways.items()}

plot_series([size // KB for size in SIZES],
            {name: [m.median_us for m in of.values()]
             for name, of in looked.items() if name != "from L1"},
            xlabel="KB of the table")

# %% [markdown]
# Large blocks lose hardly anything when only one of them fits.
# Small blocks lose with every block that is displaced, and are in the end nearly four times as slow.
#
# Is it the room that costs them their time, or the larger table? Give the *small* table the largest room:

# %% tags=["timing", "hide-input"]
# Measures look-ups of a small table in tiles of two sizes.
rooms = {(threads, room // KB): looking(look_up_in_tile, threads, SIZES[0],
                                        room=room)
         for threads in (1024, 256) for room in (SIZES[0], most)}

compare({(threads, room): (
            m, threads // 32 * blocks_at_once(threads, room * KB))
         for (threads, room), m in rooms.items()},
        {"warps": lambda row: row[1]}, "µs", "data path busy, %",
        by=("threads per block", "KB of the tile"))

# %% [markdown]
# For small blocks it is the room: it alone takes most of what they lose. Large blocks lose little, and less to the room than to the larger table.
#
# ## How many warps are enough?
#
# To lose half of the warps costs these look-ups 3%, and it cost the copy more than 70%. Why so little?
#
# Little's law holds for shared memory, too. Take the last of these launches, and the first.
#
# With 8 warps the data path is mostly idle. Each warp waits for its look-up, so the time says how long one takes. (Eight blocks take turns, so it is that of eight times 8,192 look-ups.)
# With 64 warps the path is busy all the time, so the time says how soon the look-up of one warp can follow that of another.

# %%
LOOKS, most_threads = 8192, gpu.MAX_THREADS_PER_MULTIPROCESSOR
few_warps, many_warps = rooms[256, most // KB], rooms[1024, 16]
turns, warps = most_threads // 256, most_threads // 32      # 8, 64

latency = 1000 * few_warps.median_us / (turns * LOOKS)
follows = 1000 * many_warps.median_us / (warps * LOOKS)
latency, follows, latency / follows     # ns, ns, warps

# %% [markdown]
# A look-up takes 15 ns, and the data path serves one in every half of a nanosecond. So 29 in flight keep it busy, and a block of 1,024 threads has one in each of its 32 warps.
#
# Now count the warps of the copy. At the level line, a multiprocessor gets the 128 bytes of a warp every 8 ns, and they take 350. So 43 warps must wait at a time, and more, since under load a load takes longer. The copy misses each warp that it loses.

# %% [markdown]
# **What a tile costs depends on what the warps wait for.** If they wait for memory with one number each, they need as many as fit, or more numbers each. If they wait for their tile, one large block can be enough.
#
# ## What does the tile gain?
#
# `look_up` takes no room from anybody: all 64 warps are there, and L1 has the whole table.
#
# **Predict.** Is it as fast as the tile in large blocks? The lanes are 33 cells apart, as before; then 9, where they share lines, but neither sectors nor banks; and then side by side.

# %% tags=["timing", "hide-input"]
# Measures the same look-ups with the lanes nearer to one another.
LARGE = {"L1": ways["from L1"], "a tile": ways["tile, 1,024 threads"]}
lined = {(apart, name): looking(*way, codes.nbytes, apart)
         for apart in (33, 9, 1) for name, way in LARGE.items()}

compare(lined, "µs", "data path busy, %", by=("cells apart", "128 KB, from"))

# %% [markdown]
# At 33 cells L1 takes eight times as long as the tile. (So it does for every table of the figure, large or small.)
#
# At 9 cells the lanes need as many sectors as before, but less than a third of the lines, and L1 takes little more than a third of the time. So it is mostly the lines that cost, and not the data path, which was mostly idle.
# A tile has no lines to find, and takes as long as ever.
#
# So this tile is worth its room, and the more so, the more lines a warp looks up at a time. Side by side, it still saves more than a quarter.

# %% [markdown]
# ## Several arrays, several types
#
# A block has *one* piece of dynamic shared memory, and every array of shape 0 begins at its first byte.
# So for two arrays take two slices that do not overlap.
# Each counts in its own elements: a `float64` takes 8 bytes, so behind `count` of them the `uint32` array goes on at its element `2 * count`.
# Put the widest type first: behind an odd number of `uint32`, no `float64` begins at a whole element.

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
# The emulator reports a race: thread 32 stores its mark into the same bytes as thread 16 its time.
# A barrier between the two stores would silence it, and half of the times would still be wrong.
#
# Or forget the fourth number. Then the array of shape 0 has no cells. What a GPU does then is not defined; the emulator says what is wrong:

# %%
with expect(IndexError):
    emulate(reverse_columns)[N // THREADS, THREADS](
        times, marks, all_times, all_marks)

# %% [markdown]
# ## What changed
#
# | launch | blocks at a time | warps | µs |
# |---|---:|---:|---:|
# | copy, no shared memory | 8 | 64 | 202 |
# | … 227 KB that it never touches | 1 | 8 | 1,175 |
# | … the same, in blocks of 1,024 threads | 1 | 32 | 412 |
# | … the same, four numbers a thread | 1 | 8 | 384 |
# | look-ups in 128 KB, from L1 | 2 | 64 | 2,333 |
# | … from a tile, blocks of 256 threads | 1 | 8 | 1,039 |
# | … from a tile, blocks of 1,024 threads | 1 | 32 | 287 |
#
# ## On your own
#
# ★ A block of 256 threads takes 60 KB. How many warps does a multiprocessor hold, and how many if blocks of 512 threads share as large a tile?
#
# <details><summary>Answer</summary>
#
# With its 1 KB a block takes 61 of 228 KB, so three fit in either case: 24 warps, or 48.
#
# </details>

# %% [markdown]
# ★★ `turn_rows`: two arrays share the dynamic memory of a block, and they overlap. One line is wrong.

# %%
task = exercise("turn_rows")
task

# %%
STEP = 3


@cuda.jit
def turn_rows(new_sums, new_marks, sums, marks):
    """Each block moves one row of both tables to the left."""
    size = cuda.blockDim.x
    wide = cuda.shared.array(0, float64)[:size]
    narrow = cuda.shared.array(0, int16)[size:]
    row, col = cuda.blockIdx.x, cuda.threadIdx.x
    wide[col] = sums[row, col]
    narrow[col] = marks[row, col]
    cuda.syncthreads()
    there = (col + STEP) % size
    new_sums[row, col] = wide[there]
    new_marks[row, col] = narrow[there]


task.check(turn_rows)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# STEP = 3
#
#
# @cuda.jit
# def turn_rows(new_sums, new_marks, sums, marks):
#     """Each block moves one row of both tables to the left."""
#     size = cuda.blockDim.x
#     wide = cuda.shared.array(0, float64)[:size]
#     narrow = cuda.shared.array(0, int16)[4 * size:]
#     row, col = cuda.blockIdx.x, cuda.threadIdx.x
#     wide[col] = sums[row, col]
#     narrow[col] = marks[row, col]
#     cuda.syncthreads()
#     there = (col + STEP) % size
#     new_sums[row, col] = wide[there]
#     new_marks[row, col] = narrow[there]
# ```
#
# The first array has `size` elements of 8 bytes, and a slice of the second counts in elements of 2 bytes.
#
# </details>

# %% [markdown]
# ★★ `exercise("sort_records")`, in the assignment: each block sorts keys, and their labels with them, in dynamic memory for exactly as many.
#
# The [assignment](assignments/18_how_much_shared_memory.ipynb) has 4 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Nsight Compute lists under *Occupancy* how many blocks each resource lets in: *Block Limit Shared Mem*, *Registers*, *Warps*. Its *Achieved Occupancy* is what was held on average: 70% in the copy that can fill all.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, compute capability 9.0](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capability-9-0): how much there is, and the 1 KB of each block.
# - [Numba: dynamic shared memory](https://numba.readthedocs.io/en/stable/cuda/memory.html#dynamic-shared-memory): one piece for all arrays.
# - [Using shared memory in CUDA C/C++](https://developer.nvidia.com/blog/using-shared-memory-cuda-cc/): the same launch in C++.
#
# *Next:* [Let blocks meet in L2](19_from_block_to_block.ipynb): 4,096 threads count themselves, and an H200 counts one; where are the others?
