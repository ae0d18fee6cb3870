# %% [markdown]
# # Share a tile without queueing
#
# *70 minutes*
#
# **What you'll do:** find out why one number, the distance between neighbouring lanes, decides whether shared memory serves a warp in one step or in 32, and remove the queue.
#
# **What you'll learn:**
#
# - predict the bank of any element, and from it the conflicts of any request
# - count conflicts line by line, and compare the counts with a GPU's own
# - remove conflicts with a column of padding or with a swizzle
# - estimate from a GPU's counters what their removal can save
#
# **What you'll need:** [kernels, blocks and threads](01_first_kernel.ipynb), [walks](11_memory_hierarchy.ipynb), [requests](12_coalescing.ipynb), and [shared arrays, barriers and the data path](13_shared_memory.ipynb).

# %%
from math import gcd

import numpy as np
from numba import cuda, float32, float64, uint16, uint32, uint64

from helpers import (check, compare, device, emulate, exercise, explore,
                     measure, plot_banks, plot_conflicts, plot_exposed,
                     plot_tile_banks, table, watch)

device

# %% [markdown]
# ## Which stride is slow?
#
# The lanes of a warp load numbers from a tile, each lane some numbers further on than the lane before it.
# This distance is the **stride**.
#
# A longer stride is not always a slower one.
# Guess before you read on: which of the strides `1, 2, 3, 8, 13, 16, 32, 33` are slow, and which is the slowest?
#
# ## Words and banks
#
# Shared memory is divided into 32 **banks**, which keep **words** of 4 bytes.
# The words are dealt to the banks as cards are dealt to players: one to each in turn, and then from the first again.
# So words that lie side by side are in different banks.

# %% [markdown]
# A bank can hand out or take only *one* word at a time.
# So a request is served in steps, called **wavefronts**: in each, every bank serves one of the words that are wanted from it.
# If the lanes want words from different banks, one wavefront is enough.
# But if two lanes want different words of the same bank, one of them has to queue for the next.
#
# Only lanes of the same request can meet in this way.

# %%
NUM_BANKS  = 32
WORD_BYTES = 4


def bank(byte_address):
    """The bank that a byte of shared memory lies in."""
    word = byte_address // WORD_BYTES
    return word % NUM_BANKS


def strided(stride, itemsize=4):
    """The byte addresses of 32 lanes, `stride` elements apart."""
    return [lane * stride * itemsize for lane in range(32)]


plot_banks(strided(1))

# %% [markdown]
# Each column is a bank.
# Each box is a word, numbered by the lane that asks for it.
# Every bank is asked for one word, so the request takes one wavefront.
#
# **Predict.** What does the picture look like for stride 2?
#
# <details><summary>Answer</summary>
#
# Lane 16 wants word 32, which is in bank 0 again, where lane 0 wants word 0.
# So only the even banks are asked, and each of them for two different words.
#
# </details>

# %%
plot_banks(strided(2))

# %% [markdown]
# Boxes on top of one another are different words of one bank, and it takes a wavefront for each.
# So the tallest stack is the number of wavefronts.
# A stack of two is called a *2-way conflict*.
#
# The wavefronts beyond the fewest possible are counted as **bank conflicts**.
# This request has one.
#
# Below is stride 32. Move the slider: how tall is the tallest stack for each stride, and what do strides without one have in common?

# %%
def draw_stride(stride=32):
    """The request of a warp whose lanes lie `stride` words apart."""
    return plot_banks(strided(stride))


explore(draw_stride, stride=[1, 2, 3, 8, 13, 16, 32, 33])

# %% [markdown]
# The odd strides have no stack: they visit every bank before they come back to the first.
#
# Two lanes meet in a bank if their words are a multiple of 32 apart, and the words of lanes that are `d` apart are `d * stride` apart.
# With stride 8 that is a multiple of 32 for lanes that are four apart.
# With an odd stride, `d` itself would have to be a multiple of 32. But lanes are at most 31 apart, so no two of them meet.

# %% [markdown]
# So length does not matter. What matters is how often two divides the stride: each factor of two doubles the queue, up to 32 lanes.
# For strides from 1 on, `gcd(stride, 32)` lanes, the greatest common divisor, meet in a bank. The load takes as many wavefronts: one that it needs anyway, and the others are its conflicts.
#
# ## Strides, counted
#
# To count this in a kernel, let the threads walk through shared memory, as in [Know where a number lives](11_memory_hierarchy.ipynb): each cell holds the index of the next one.
# The lanes start some words apart, and keep this distance.
#
# Each load needs the result of the one before, so the loads follow one another.

# %%
CELLS = 1024        # words of shared memory


@cuda.jit
def hop(out, stride, rounds):
    """Hop through shared memory, the lanes `stride` words apart."""
    following = cuda.shared.array(CELLS, uint32)
    thread = cuda.threadIdx.x
    following[thread] = (thread + 1) % CELLS
    cuda.syncthreads()
    cell = uint32(thread % 32 * stride % CELLS)
    left = uint32(rounds)
    while left > 0:
        for _ in range(32):
            cell = following[cell]
        left = uint32(left - 1)
    out[cuda.grid(1)] = cell


def hop_spec(stride, rounds):
    """Where the threads of a block end: 32 cells further on by each round."""
    lane = np.arange(CELLS) % 32
    return (lane * stride + 32 * rounds) % CELLS


# %%
out = np.zeros(CELLS, np.uint32)
run = emulate(hop)[1, CELLS](out, 2, 1)
check(out, hop_spec(2, 1))
run

# %% [markdown]
# The loop makes 1,024 of these requests, and each has one conflict. (The other 32 are stores.)
#
# <details><summary>For the curious: why two loops?</summary>
#
# The inner loop has a fixed length, so the compiler writes its body out once for each step. A plain `for` over all hops would spend more instructions on counting than on loading. `uint32` keeps the indices in 32 bits.
#
# </details>
#
# ## Does a GPU agree?
#
# Here are its counts of conflicts and the emulator's, and the GPU's time below them.

# %% tags=["timing", "hide-input"]
# Counts the conflicts of each load in the emulator and on the GPU.
STRIDES = 1, 2, 3, 4, 8, 13, 16, 32, 33
BLOCKS = 2 * cuda.get_current_device().MULTIPROCESSOR_COUNT
result = np.zeros(BLOCKS * CELLS, np.uint32)


def conflicts_per_load(stride):
    """Bank conflicts of each load of `hop`, by the emulator."""
    run = emulate(hop)[1, CELLS](out, stride, 1)
    loads = run.bank_conflicts.by_kind["load"]
    return loads.conflicts / loads.requests


def counted(m):
    """Bank conflicts of each load, by the GPU's counters."""
    conflicts = m.counters.get("shared_load_conflicts", np.nan)
    return conflicts / m.counters.get("shared_load_requests", np.nan)


emulated = {stride: conflicts_per_load(stride) for stride in STRIDES}
on_gpu = {stride: measure(hop)[BLOCKS, CELLS](result, stride, 100)
          for stride in STRIDES}
plot_conflicts(STRIDES, emulated=list(emulated.values()),
               measured=[counted(m) for m in on_gpu.values()],
               times_us=[m.median_us for m in on_gpu.values()])

# %% [markdown]
# Every diamond, the GPU's count, lies in its ring, the emulator's.
# And the time follows the count: stride 2 takes twice as long as stride 1, and stride 32 thirty times as long, but stride 33 as long as stride 1.
#
# But is nothing else different?
# *Cycles per request* are those for which a request keeps the data path busy, through which shared memory and L1 deliver.

# %% tags=["timing", "hide-input"]
# Compares what the GPU counted for some of the strides.
compare({stride: on_gpu[stride] for stride in (1, 2, 32, 33)},
        "instructions per warp", "cycles per request", "data path busy, %",
        by="stride")

# %% [markdown]
# The warps execute as many instructions at each stride. But a request of stride 2 keeps the data path busy for two cycles, and one of stride 32 for 32: a wavefront takes a cycle.
# In `hop` the path is busy nearly all the time, so twice the wavefronts take twice the time.
#
# You have met this queue [in L1](13_shared_memory.ipynb), whose *places* are banks, too: numbers at one place of their lines came one after the other.
#
# ## When lanes ask for the same word
#
# Lanes queue for *different* words of a bank.
# What if several want the same word?

# %%
plot_banks([4 * (lane // 5) for lane in range(32)])

# %% [markdown]
# Here five lanes ask for each word, and two for the last one.
# A bank hands out one word in a wavefront, but hands it to every lane that wants it.
# So lanes in one box are served together.
#
# One word for all lanes, as with stride 0, is a **broadcast**; several words, of which some go to several lanes, are a **multicast**.
# Neither is a conflict.
# Nor do stores to one word queue. But which lane's number stays is open: a race, as [the next page](15_barriers_and_races.ipynb) shows.

# %% [markdown]
# ## Narrower and wider elements
#
# Banks know words, not elements.
# So for elements of another size, ask which words the lanes want.
#
# - *2 bytes:* two neighbours share a word (*1 byte:* four do). That is a multicast.
# - *8 bytes:* each lane wants two words, and the warp twice as many as there are banks. So the hardware serves half of the warp at a time: lanes 0 to 15 together, and the others together. As a rule, only lanes of the same half can meet. Two wavefronts are the fewest for 32 different elements, so they are no conflict.
# - *16 bytes:* quarter warps, in the same way.

# %%
def draw_request(stride=2, itemsize=float64.bitwidth // 8):
    """The request of a warp whose lanes are `stride` elements apart."""
    return plot_banks(strided(stride, itemsize), itemsize)


explore(draw_request, stride=[1, 2, 8, 9], itemsize=[2, 4, 8, 16])

# %% [markdown]
# Each half or quarter warp has a row of its own.
#
# **Predict.** How many conflicts has a load of 8 bytes a lane at stride 8? And at stride 9?
#
# <details><summary>Answer</summary>
#
# At stride 8 the elements are 16 words apart, so the lanes of a half warp begin in two banks, eight lanes in each. That is eight wavefronts for each half instead of one: 14 conflicts.
# At stride 9 each half warp asks every bank once: none.
#
# </details>

# %% [markdown]
# Does the time follow these counts, too?
# Here is the same walk for elements of any type; `together` neighbours stand at one cell and ask for the same word.
# (Look past `^ value >> 32`: it changes no cell, and makes the compiler load all of a `uint64`.)

# %%
def make_hop(dtype):
    """A kernel that hops through 256 elements of a type."""
    @cuda.jit
    def hop(out, stride, together, rounds):
        """Hop with `together` lanes at each cell, the cells `stride` apart."""
        following = cuda.shared.array(256, dtype)
        thread = cuda.threadIdx.x
        following[thread] = (thread + 1) % 256
        cuda.syncthreads()
        cell = uint32(thread % 32 // together * stride % 256)
        left = uint32(rounds)
        while left > 0:
            for _ in range(32):
                value = following[cell]
                cell = uint32(value ^ value >> 32)
            left = uint32(left - 1)
        out[cuda.grid(1)] = cell
    return hop


# %% tags=["timing", "hide-input"]
# Emulates and measures it for three types, strides and multicasts.
READERS = {dtype: make_hop(dtype) for dtype in (uint16, uint32, uint64)}
ends, many = np.zeros(256, np.uint32), np.zeros(4 * BLOCKS * 256, np.uint32)


def both(dtype, *how):
    """A launch of a kernel for a type: emulated, and measured."""
    kernel = READERS[dtype]
    return (emulate(kernel)[1, 256](ends, *how, 1),
            measure(kernel)[4 * BLOCKS, 256](many, *how, 100))


sized = {(dtype.bitwidth // 8, *how): both(dtype, *how) for dtype, *how in [
    (uint32, 1, 1), (uint32, 1, 5), (uint32, 2, 1), (uint16, 2, 1),
    (uint64, 1, 1)]}


def wavefronts(row):
    loads = row[0].bank_conflicts.by_kind["load"]
    return loads.wavefronts / loads.requests


compare(sized, {"wavefronts per load, emulated": wavefronts},
        "cycles per request", "data path busy, %", "µs",
        by=("bytes per element", "stride", "lanes on a cell"))

# %% [markdown]
# It does, as the path is always busy.
# A multicast costs nothing.
# At stride 2, elements of 2 bytes take half as long as those of 4, because their words are side by side.
# Elements of 8 bytes take as long at stride 1 as those of 4 bytes at stride 2: two wavefronts as well, but without a conflict.

# %% [markdown]
# ## A tile, by rows and by columns
#
# A *layout* says at which word of a **tile** an element lies.
# In the usual one, row-major, the rows follow one another: element (row, column) is word `32 * row + column`.
#
# **Predict.** A warp writes a row of such a tile, and later reads a column. In how many banks is the row, and in how many the column?
#
# <details><summary>Answer</summary>
#
# The elements of a row are one word apart: 32 banks.
# Those of a column are 32 words apart: one bank.
#
# </details>

# %% [markdown]
# Let a block of 32 × 32 threads transpose a tile: a warp, which has one y and all values of x, writes along row y and reads down column y.
# `make_turn` compiles a layout into the kernel, as a function that kernels may call (`device=True`).

# %%
def make_turn(layout, words=1024):
    """A kernel that transposes a tile whose elements lie as `layout` says."""
    word = cuda.jit(device=True)(layout)

    @cuda.jit
    def turn(out):
        """Write a tile by rows, read it by columns."""
        tile = cuda.shared.array(words, float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[word(y, x)] = 32 * y + x
        cuda.syncthreads()
        out[y, x] = tile[word(x, y)]
    return turn


def row_major(row, column):
    return 32 * row + column


turned = np.zeros((32, 32), np.float32)
film = watch(make_turn(row_major))[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
film

# %% [markdown]
# The film stands at a load: 32 lines run into one bank, which takes 32 wavefronts. Open *moments* and choose the first, a store: its lines run into 32 banks, in one wavefront.
# Every column lies in one bank.
# We need a layout in which every row *and* every column has all banks.
#
# **Your turn.** You know one from [the tile of 33 columns](13_shared_memory.ipynb). Write it.

# %%
def mine(row, column):
    """The word of an element, in a tile of up to 2,048 words."""
    return 32 * row + column  # your layout instead


run = emulate(make_turn(mine, 2048))[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
run

# %% [markdown]
# <details><summary>Solution</summary>
#
# `return 33 * row + column`: the report finds no conflict any more.
#
# </details>
#
# ## Two layouts without conflicts
#
# Rows of 33 words are **padding**: each row has one more word, which nobody uses, and so begins one bank further on than the row above it.
# Down a column, the stride is odd. (The numbers are banks; one warp reads the coloured elements.)

# %%
def padded(row, column):
    return 33 * row + column


COLUMN = [(lane, 5) for lane in range(32)]
rows, columns = np.mgrid[0:32, 0:32]
rows_33, columns_33 = np.mgrid[0:32, 0:33]
plot_tile_banks(bank(4 * padded(rows_33, columns_33)), COLUMN, padding=1)

# %% [markdown]
# Padding costs memory.
# Can you do without, if you only shuffle the elements *within* each row?
# Then a column must find another place in each row.
# The *exclusive or* does that: `row ^ column` flips those bits of the column's number that are set in the row's.
# Here are the places in a tile of four rows and four columns:

# %%
(rows ^ columns)[:4, :4]

# %% [markdown]
# The first row keeps its order, the second swaps neighbours, the third swaps pairs, the last does both.
# Each number occurs once in every row, so no two elements take the same place.
# And it occurs once in every column, so a column never comes to a bank twice.
# This is a **swizzle**.
# Stores and loads must both use it.
# (With 32 rows it needs a multiple of 32 columns: with 24, `16 ^ 8` is 24, in the next row. A taller tile takes `row % 32 ^ column`.)

# %%
def swizzled(row, column):
    return 32 * row + (row ^ column)


plot_tile_banks(bank(4 * swizzled(rows, columns)), COLUMN)

# %% [markdown]
# The same column, swizzled: no bank occurs twice in any row or column.
#
# What do the layouts cost, in conflicts and in memory?

# %% tags=["hide-input"]
# Emulates the transpose of a tile in each layout, and checks its answer.
def turn_conflicts(layout, words):
    """Conflicts of a store and of a load, and the tile's bytes."""
    run = emulate(make_turn(layout, words))[1, (32, 32)](turned)
    check(turned, np.arange(1024).reshape(32, 32).T)
    sides = (run.bank_conflicts.by_kind[kind] for kind in ("store", "load"))
    return [it.conflicts / it.requests for it in sides] + [4 * words]


turns = {layout.__name__: turn_conflicts(layout, words)
         for layout, words in [(row_major, 1024), (padded, 32 * 33),
                               (swizzled, 1024)]}
table(["layout", "conflicts of a store", "of a load", "bytes"],
      [(name, *counts) for name, counts in turns.items()])

# %% [markdown]
# Padding and swizzle remove all conflicts; padding costs a word a row, and the swizzle no memory.

# %% [markdown]
# ## What could go wrong
#
# `cuda.shared.array((32, 33), float32)` is the padded layout, since the last number of a shape is the length of a row.
# Here it went to the first number.

# %%
@cuda.jit
def turn_padded_wrong(out):
    """Write a tile by rows, read it by columns; padded with a row."""
    tile = cuda.shared.array((33, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = 32 * y + x
    cuda.syncthreads()
    out[y, x] = tile[x, y]


run = emulate(turn_padded_wrong)[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
run

# %% [markdown]
# The answer is right. Only the count says that nothing was gained. (`run.assert_no_bank_conflicts()` tests it.)
#
# ## What is it worth?
#
# A load took 32 wavefronts, and now it takes one. Is the kernel 32 times as fast?
# If it did nothing else, like `hop`, nearly.
# But a transpose also loads from global memory, waits at a barrier and stores, and all that stays as it is.
# And while one warp queues at a bank, others may wait for global memory anyway; then the queue costs nothing.
#
# So let nothing differ but the wavefronts: one kernel, with rows of six lengths. (Its indices are unsigned, `uint32`: then the compiler makes as many instructions for each length.)

# %%
def make_transpose(width):
    """A kernel for whole tiles whose rows are `width` words long."""
    @cuda.jit
    def transpose(dst, src):
        """Transpose through a tile: rows in, columns out."""
        tile = cuda.shared.array((32, width), float32)
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        left = uint32(32 * cuda.blockIdx.x)
        top = uint32(32 * cuda.blockIdx.y)
        tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y]
    return transpose


small = np.random.default_rng(1).random((64, 96), dtype=np.float32)
small_out = np.zeros((96, 64), np.float32)
run = emulate(make_transpose(33))[(3, 2), (32, 32)](small_out, small)
check(small_out, small.T)

# %% tags=["timing", "hide-input"]
# Measures it for six lengths of a row.
N = 4096
src = np.random.default_rng(2).random((N, N), dtype=np.float32)
dst = np.zeros_like(src)
# the wavefronts of a column's load, for each length of a row
WIDTHS = {width: gcd(width, 32) for width in (33, 34, 36, 40, 48, 32)}

timed = {width: measure(make_transpose(width))[
    (N // 32, N // 32), (32, 32)](dst, src) for width in WIDTHS}

# %% tags=["timing", "hide-input"]
# Shows the cycles of each launch, and the conflicts of one multiprocessor.
def conflicts_each(m):
    """The conflicts of one multiprocessor, of loads and of stores."""
    conflicts = sum(m.counters.get(f"shared_{kind}_conflicts", np.nan)
                    for kind in ("load", "store"))
    return conflicts / cuda.get_current_device().MULTIPROCESSOR_COUNT


def cycles(m):
    """The cycles of a launch."""
    return m.counters.get("cycles", np.nan)


compare({(width, WIDTHS[width]): m for width, m in timed.items()},
        "instructions per warp", "µs",
        {"cycles, thousands": lambda m: cycles(m) / 1000,
         "conflicts, thousands": lambda m: conflicts_each(m) / 1000},
        by=("words per row", "wavefronts per load"))

# %% [markdown]
# The table has the cycles of the kernel, and the conflicts of one multiprocessor. (We divide those of the GPU by its multiprocessors, as if all had the same share.)
#
# Each conflict keeps the data path busy for one cycle. At worst a kernel with many warps waits for each of them, and for nothing else meanwhile. Then the conflicts are just the cycles that a repair saves.
# So divide the conflicts by the cycles: with rows of 32 that is 124 of 251 thousand, nearly half.
#
# **Predict.** For which lengths does a repair save nearly as much as that, and for which much less?

# %% tags=["timing", "hide-input"]
# Draws this share, and the share of the time that rows of 33 words save.
at_most = {WIDTHS[width]: 100 * conflicts_each(m) / cycles(m)
           for width, m in timed.items() if width != 33}
saved = {WIDTHS[width]: 100 * (1 - timed[33].median_us / m.median_us)
         for width, m in timed.items() if width != 33}
plot_exposed([*at_most], [*at_most.values()], [*saved.values()])

# %% [markdown]
# No point of what is saved lies above the bound.
# Where the queue is short, most of it is hidden, and with two wavefronts a repair is hardly worth its line. With 32 it saves most of what it can.
#
# So count before you repair: a kernel's own conflicts and cycles say how much there is to gain at most.
# (Here there are many warps: two blocks of 32 on each multiprocessor.)
#
# ## What changed
#
# | layout | idea | wavefronts of a row's store | of a column's load | bytes |
# |---|---|---|---|---|
# | row-major | the rows follow one another | 1 | 32 | 4,096 |
# | padded | rows of 33 words: each begins one bank further on | 1 | 1 | 4,224 |
# | swizzled | place `r ^ c`: each row has an order of its own | 1 | 1 | 4,096 |
# | padded with a row | padding on the wrong axis | 1 | 32 | 4,224 |
#
# ## On your own
#
# ★ Each lane counts in a column of its own, `counts[bin, lane]`, and its bins are whatever the data says. How many conflicts can there be, if rows have 32 words of 4 bytes? And in `counts[lane, bin]`, with 256 bins?
#
# <details><summary>Answer</summary>
#
# None: the bank is the lane's own number, whatever the bin.
# The other way round the bank is `bin % 32`, the same for all lanes at worst: 31.
#
# </details>

# %% [markdown]
# ★ `turn_float64`: transpose tiles of `float64` without a conflict, with at most one column of padding. A matrix may be smaller than the block: guard the load by its rows and columns, and the store by those of the turned one.

# %%
task = exercise("turn_float64")
task

# %%
@cuda.jit
def turn_float64(out, a):
    """Write a tile by rows, read it by columns."""
    # your code, about 8 lines


task.check(turn_float64)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def turn_float64(out, a):
#     """Write a tile by rows, read it by columns."""
#     tile = cuda.shared.array((32, 33), float64)
#     rows, cols = a.shape[1:]
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     if y < rows and x < cols:
#         tile[y, x] = a[cuda.blockIdx.x, y, x]
#     cuda.syncthreads()
#     if y < cols and x < rows:
#         out[cuda.blockIdx.x, y, x] = tile[x, y]
# ```
#
# A row of 33 elements is 66 words, so the elements of a column are 2 banks apart, and the 16 lanes of a half warp ask for every bank once.
# Every odd width does the same, and so does the swizzle.
#
# </details>

# %% [markdown]
# ★★ `exercise("swizzle")`, in the assignment: each lane goes along a row, so the lanes touch a column. Remove the conflicts.
#
# <details><summary>Answer</summary>
#
# Element `k` of row `r` lies at place `k ^ r`.
#
# </details>
#
# ★★★ `exercise("half_block")`: a block of 16 × 16 threads transposes a tile of its own size, so a warp covers two rows. One width frees the stores, and another the loads. Why? What frees both?
#
# <details><summary>Answer</summary>
#
# A store covers two rows: 32 words in sequence, if rows have 16.
# A load covers two columns: with 18, one on even banks and one on odd ones.
# With 17, two lanes meet either way.
# The swizzle `x ^ y` in rows of 16 removes both.
#
# </details>
#
# The [assignment](assignments/14_bank_conflicts.ipynb) has 6 exercises, these three among them.

# %% [markdown]
# ## In practice
#
# A compiler may merge loads: four neighbouring `float32` of one thread can become a single load of 16 bytes. The emulator counts what the source says.
#
# NVIDIA's profiler, Nsight Compute, calls conflicts `l1tex__data_bank_conflicts_pipe_lsu_mem_shared`.

# %% [markdown]
# <details><summary>For the curious: when halves go together</summary>
#
# Both half warps of a *load* of 8 bytes go together if lanes 0 and 1, 2 and 3, and so on ask for the same element, or if 0 and 2, 1 and 3, 4 and 6, and so on do. Groups of five do not, although they ask for fewer bytes. Quarter warps pair up in the same way. The halves and quarters of a *store* never go together.
#
# NVIDIA's guide does not say so; the course's tests compare the rule with an H200's counters.
#
# </details>

# %% [markdown]
# <details><summary>For the curious: other counts</summary>
#
# Nsight Compute's counter of conflicts has more than the rule counts: in these transposes, up to 0.2 a request. We take it for waiting on other traffic.
#
# The first CUDA GPUs had 16 banks and served half a warp at a time; older texts count by that rule.
#
# </details>

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, shared memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#shared-memory): the rule, from its source.
# - [An efficient matrix transpose](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): the padded tile, on older GPUs.
#
# *Next:* [Wait for one another](15_barriers_and_races.ipynb): a kernel gives the right answer and is wrong all the same; which two lines are to blame?
