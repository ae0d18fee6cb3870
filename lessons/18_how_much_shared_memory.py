# %% [markdown]
# # Leave room for enough warps
#
# *65 minutes*
#
# **What you'll do:** give the blocks of a copy shared memory that they never touch, see the copy take nearly six times as long, find out what was taken from it, and then take half of the warps from a kernel that looks things up, and see it lose nearly nothing.
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
from numba import cuda, float64, uint32

from helpers import (allow_dynamic_shared, check, compare, device, emulate,
                     exercise, expect, load4, measure, plot_in_flight,
                     plot_room, plot_series, plot_slices, plot_times,
                     store4, table)

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
# **Predict.** Give each block more and more of it, up to 227 KB, the most that a block can have. (More than 48 KB must be asked for; the folded cell does it, and further down so will you.) The copy executes the same instructions and moves the same bytes. Does it take as long?

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
# So the scarcer of the two decides, or the most blocks that there can be. (And registers, as in [Keep a thread's numbers close](16_own_memory.ipynb); here they are plenty. Of another kernel ask `assemble`: the first line of its answer says how many warps its registers leave.)
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
               gpu.MAX_THREADS_PER_MULTIPROCESSOR // (32 * -(-threads // 32)),
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
# Shared memory and L1 lie in one memory of 256 KB, so L1 has at most what the blocks do not take.
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
# They lie below it: the law says only what is possible. Right of the dashed line eight blocks still beat six; whether by their bytes, this does not show.
#
# So what the tile took may be **latency hiding**: while the one block that is left waits for memory, nobody is there to ask for more.
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

rows = {(8, 256, 1): copies[0], (4, 256, 1): copies[48 * KB],
        (1, 256, 1): copies[most], (1, 1024, 1): alone, (1, 256, 4): fours}
compare({key: (m, key[0] * key[1] // 32, 4 * key[0] * key[1] * key[2] // KB)
         for key, m in rows.items()},
        {"warps": lambda row: row[1], "KB in flight": lambda row: row[2]},
        {"held on average, %":
         lambda row: row[0].counters.get("occupancy_percent")}, "µs",
        by=("blocks at a time", "threads per block", "numbers per thread"))

# %% [markdown]
# Both take about a third of the time of one small block, with the same tile: 18 and 10% more than four blocks take, which have as much in flight.
# So the copy need not have more blocks, nor even more warps. What it lacked may be bytes in flight, for both have four times as many.

# %% [markdown]
# Is it something else that both have in common? Two suspects are out. L1 is as small in all three launches of one block. And `copy_fours` executes a quarter of the instructions, but the large block executes them all, and gains nearly as much.
# A third stays: both *start* a quarter as many blocks, one after another, and [a start takes time](12_coalescing.ipynb). So start only as many as run at a time, with the tile as before, and let them stay until all is copied:

# %%
@cuda.jit
def copy_and_stay(out, a):
    """Copy elements in steps as long as the grid, one at a time."""
    for i in range(uint32(cuda.grid(1)), a.size, cuda.gridsize(1)):
        out[i] = a[i]


@cuda.jit
def copy_fours_and_stay(out, a):
    """Copy elements in such steps, four at a time."""
    for i in range(4 * cuda.grid(1), a.size, 4 * cuda.gridsize(1)):
        store4(out, uint32(i), load4(a, uint32(i)))


for kernel in copy_and_stay, copy_fours_and_stay:
    out[:] = 0
    emulate(kernel)[2, THREADS](out, a)
    check(out, a)

# %% tags=["timing", "hide-input"]
# Measures one block at a time, which stays, beside blocks that take turns.
def staying(kernel, threads):
    """The measurement of a copy by one block that stays on each."""
    allow_dynamic_shared(kernel, most)
    return measure(kernel, bytes=8 * MANY)[
        gpu.MULTIPROCESSOR_COUNT, threads, 0, most](dst, src)


stay = {(256, 1): staying(copy_and_stay, 256),
        (1024, 1): staying(copy_and_stay, 1024),
        (256, 4): staying(copy_fours_and_stay, 256)}
compare({key: (rows[1, *key], m) for key, m in stay.items()},
        {"in turn, µs": lambda row: row[0].median_us,
         "that stay, µs": lambda row: row[1].median_us},
        by=("threads per block", "numbers per thread"))

# %% [markdown]
# All three are faster than blocks in turn, by 28 to 40%: blocks' starts and ends were a part.
# And among those that stay, four times as many bytes in flight are about three times as fast, whether more warps have them or each thread more. So what the copy lacked was bytes in flight, above all.
#
# **A large tile wants a large block**, whose warps share it, or threads with more in flight.
#
# ## A table of 128 KB
#
# Is there a tile that is worth so much room?
# Take a table that all threads look up, again and again, at places far apart.
# Each cell says where to look next, as in a chain, and the lanes stand `apart` cells from one another. With 33, no two lanes meet in a line, and no two in a bank.

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
# A block gets more than 48 KB only if its kernel asks for it, and only as dynamic memory. `allow_dynamic_shared` asks once, before the launch, and says up to how many bytes.
# Here are a launch without it, one that forgets the fourth number, and then a right one:

# %%
def make_table(size):
    """Cells of `size` bytes, each of which leads to the next one."""
    return np.roll(np.arange(size // 4, dtype=np.uint32), -1)


codes = make_table(128 * KB)
ends = np.zeros(2048, np.uint32)

with expect(ValueError):
    emulate(look_up_in_tile)[2, 1024, 0, codes.nbytes](ends, codes, 33, 2)

allow_dynamic_shared(look_up_in_tile, most)
with expect(IndexError):
    emulate(look_up_in_tile)[2, 1024](ends, codes, 33, 2)

emulate(look_up_in_tile)[2, 1024, 0, codes.nbytes](ends, codes, 33, 2)
check(ends, (33 * np.arange(2048) + 64) % codes.size)

emulate(look_up)[2, 1024](ends, codes, 33, 2)
check(ends, (33 * np.arange(2048) + 64) % codes.size)

# %% [markdown]
# <details><summary>For the curious: on a GPU, and in CUDA C++</summary>
#
# There the first launch fails, too, with `CUDA_ERROR_INVALID_VALUE`, which names neither the limit nor the remedy. What the second one does is not defined.
# CUDA C++ opts in with `cudaFuncSetAttribute`; Numba has no function for it, so `helpers` has one.
#
# </details>
#
# ## What does the tile gain, and what does its room cost?
#
# Now as many threads as the GPU can hold make 8,192 look-ups each: from L1, from a tile in large blocks, and from one in small blocks. The time includes copying the table.
# `look_up` takes no room from anybody: all 64 warps are there, and L1 has the whole table.
#
# **Predict.** Is it as fast as the tile? And the table grows, until one block fits where there were several. Which tile loses by that, the one in large blocks or the one in small blocks?

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
             for name, of in looked.items()},
            xlabel="KB of the table")

# %% [markdown]
# The tile is worth its room: for every table, from L1 the look-ups take eight times as long as from a tile in large blocks.
# Why? Let the lanes stand nearer to one another: 9 cells apart, where they share lines, but neither sectors nor banks, and side by side.

# %% tags=["timing", "hide-input"]
# Measures the same look-ups with the lanes nearer to one another.
LARGE = {"L1": ways["from L1"], "a tile": ways["tile, 1,024 threads"]}
lined = {(apart, name): looking(*way, codes.nbytes, apart)
         for apart in (33, 9, 1) for name, way in LARGE.items()}

compare(lined, "µs", "data path busy, %", by=("cells apart", "128 KB, from"))

# %% [markdown]
# At 9 cells the lanes need as many sectors as at 33, but less than a third of the lines, and L1 takes little more than a third of the time. So it is mostly the lines that cost, and not the data path, which was mostly idle.
# A tile has no lines to find, and takes as long as ever.
#
# So a tile gains the more, the more lines a warp looks up at a time. Side by side, it still saves more than a quarter.

# %% [markdown]
# And its room? Back to the figure. Large blocks lose hardly anything when only one of them fits.
# Small blocks lose with every block that is displaced, and are in the end nearly four times as slow.
#
# Is it the room that costs them their time, or the larger table? Give the *small* table the largest room:

# %% tags=["timing", "hide-input"]
# Measures look-ups of a small table in tiles of two sizes.
rooms = {(threads, room // KB): looking(look_up_in_tile, threads, SIZES[0],
                                        room=room)
         for threads in (1024, 256) for room in (SIZES[0], most)}
few_warps, many_warps = rooms[256, most // KB], rooms[1024, 16]

compare({(threads, room): (
            m, threads // 32 * blocks_at_once(threads, room * KB))
         for (threads, room), m in rooms.items()},
        {"warps": lambda row: row[1]}, "µs", "data path busy, %",
        by=("threads per block", "KB of the tile"))

# %% [markdown]
# For small blocks it is the room: with the small table, too, they take more than three times as long. Large blocks lose little either way.
#
# ## How many warps are enough?
#
# To lose half of the warps costs these look-ups 3%, and it cost the copy 80%. Why so little?
#
# Little's law holds for shared memory, too. How many warps must wait at a time, so that something is always on its way?
#
# With one block of 8 warps at a time, the data path is mostly idle. A multiprocessor runs its eight blocks one after another, and each warp waits for each of its 8,192 look-ups. So the time, divided by 8 · 8,192, is the latency of one, or nearly.
# With 64 warps the path is busy all the time. So the time, divided by all their look-ups, says how soon one can follow another.

# %% [markdown]
# Now the same for the copy. A load takes 350 ns. At the rate of the driver's copy, each multiprocessor gets its share of the bytes, and so the 128 of a warp every so many nanoseconds:

# %%
LOOKS, turns, warps = 8192, 8, 64
latency = 1000 * few_warps.median_us / (turns * LOOKS)      # ns
follows = 1000 * many_warps.median_us / (warps * LOOKS)
arrives = 128 * gpu.MULTIPROCESSOR_COUNT / half     # bytes / (GB/s) are ns

# %% tags=["hide-input"]
# Shows how many warps of each keep something on its way.
table(["what warps wait for", "ns, each", "ns, to the next", "warps needed"],
      [["a look-up in the tile", latency, follows, latency / follows],
       ["a load of the copy", LATENCY, arrives, LATENCY / arrives]])

# %% [markdown]
# 29 look-ups keep the data path busy, and a block of 1,024 threads has one in each of its 32 warps: half of the warps are enough.
# Of the copy's loads, the law asks for 43 at least, and more, since under load each takes longer: half of the warps are fewer than that. (Even with all of them the copy has two thirds of the driver's rate; whether 64 are too few, this does not show.)

# %% [markdown]
# ## Two arrays in one piece
#
# One thing more, before you give a tile its room. A block has *one* piece of dynamic shared memory, and every array of shape 0 begins at its first byte.
# So for two arrays take two slices that do not overlap, each counted in its own elements. Here they are for a block of four threads:

# %%
plot_slices({"time": (8, 0, 4), "mark": (4, 8, 12)}, 48)

# %% [markdown]
# A `float64` takes 8 bytes, so behind `count` of them the `uint32` array goes on at its element `2 * count`.
# (The widest type comes first, so that each slice begins at a whole element. A static array beside them adds to what the block takes.)

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
# Forget the slices, and the arrays share their bytes. Numba compiles it, a GPU runs it without an error, and `emulate` reports a race:

# %%
plot_slices({"time": (8, 0, 4), "mark": (4, 0, 4)}, 48)

# %% [markdown]
# ## What changed
#
# | launch | blocks at a time | warps | µs |
# |---|---:|---:|---:|
# | copy, no shared memory | 8 | 64 | 202 |
# | … 227 KB that it never touches | 1 | 8 | 1,202 |
# | … the same, in blocks of 1,024 threads | 1 | 32 | 429 |
# | … the same, four numbers a thread | 1 | 8 | 400 |
# | look-ups in 128 KB, from L1 | 2 | 64 | 2,330 |
# | … from a tile, blocks of 256 threads | 1 | 8 | 1,037 |
# | … from a tile, blocks of 1,024 threads | 1 | 32 | 287 |
#
# **What a tile costs depends on what the warps wait for.** If they wait for memory with one number each, they need as many as fit, or more numbers each. If they wait for their tile, one large block can be enough.
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
# ★★ `block_for_tile`: choose the block for a tile, so that enough warps are there.

# %%
task = exercise("block_for_tile")
task

# %%
block_for_tile = {
    "blocks": ...,
    "threads": ...,
    "bytes": ...,
    "each": ...,
}


task.check(block_for_tile)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# block_for_tile = {
#     "blocks": 2,
#     "threads": 512,
#     "bytes": 102400,
#     "each": 4,
# }
# ```
#
# With its 1 KB a block takes 101 of 228 KB, so two fit. They have 32 warps if each has 16, that is 512 threads, and more threads take no more room.
# Two blocks of 128 threads are 8 warps: a quarter, so each thread must have four numbers in flight.
#
# </details>

# %% [markdown]
# ★★ `exercise("turn_rows")`, in the assignment: two arrays share the dynamic memory of a block, and they overlap. One line is wrong.
#
# ★★ `exercise("sort_records")`, in the assignment: each block sorts keys, and their labels with them, in dynamic memory for exactly as many.
#
# The [assignment](assignments/18_how_much_shared_memory.ipynb) has 5 exercises, these among them.

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
