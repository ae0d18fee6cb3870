# %% [markdown]
# # Share a tile without queueing
#
# *40 minutes*
#
# **What you'll do:** find out why one number, the distance between neighbouring lanes, decides whether shared memory serves a warp in one step or in 32, and remove the queue.
#
# **What you'll learn:**
#
# - predict the bank of any element, and from it the conflicts of any request
# - count conflicts line by line with the emulator, and compare the counts with a GPU's own
# - remove conflicts with a column of padding or with a swizzle
# - tell from a GPU's counters what their removal is worth
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb), a warp's requests, as in [Fetch no more than you use](12_coalescing.ipynb), and shared arrays and barriers, as in [Use a tile where it pays](13_shared_memory.ipynb).

# %%
from math import gcd

import numpy as np
from numba import cuda, float32, float64, int64, uint16, uint32, uint64

from helpers import (check, device, emulate, exercise, explore, measure,
                     plot_banks, plot_conflicts, plot_exposed,
                     plot_tile_banks, table, watch)

device

# %% [markdown]
# ## Which stride is slow?
#
# Let a warp's lanes load numbers from shared memory that lie 1 apart, then 2, then 3, up to 33.
# This distance is the **stride**.
# Which stride is the slowest?
# The longest is a fair guess, and it is wrong.
# With one stride a load takes 32 steps, with the next longer one a single step.
# Which are they, and why?
#
# ## Words and banks
#
# Shared memory has 32 **banks**.
# Consecutive **words** of 4 bytes lie in consecutive banks, and after bank 31 comes bank 0, so elements 0, 32 and 64 of a `float32` array share bank 0.
#
# A request is served in one or more steps, called **wavefronts**.
# In each, a bank delivers *one* word.
# If 32 lanes ask 32 banks, one wavefront is enough:

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
# Each box is a word, and the number in it is the lane that asks for this word.
# Every bank is asked for one word: one wavefront.
#
# **Predict.** What does the picture look like for stride 2?
#
# <details><summary>Answer</summary>
#
# Only the even banks are asked, and each of them for two different words.
# The request takes a second wavefront.
#
# </details>

# %%
plot_banks(strided(2))

# %% [markdown]
# Boxes on top of one another are different words of one bank.
# The bank delivers one of them in each wavefront, so the tallest stack is the number of wavefronts.
# Two words in the fullest bank are a 2-way conflict.
# The wavefronts beyond the fewest possible are counted as **bank conflicts**: here 1.
#
# ## Strides, counted
#
# **Hop through shared memory, the lanes `stride` words apart.**
# It is a walk, as in [Know where a number lives](11_memory_hierarchy.ipynb): each load needs the result of the one before, so the compiler can leave none out.
# The compiler unrolls the inner loop, and the outer one counts in 32 bits.
# A plain `for` over all hops would spend more instructions on counting than on loading.

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
# The report quotes each line that costs more than it must.
# The load in the loop makes 1,024 requests, 32 for each of 32 warps, and each of them has one conflict.
#
# **Predict.** Which of the strides 1, 2, 3, 4, 8, 13, 16, 32 and 33 are free of conflicts, and which is the worst?
#
# <details><summary>Answer</summary>
#
# 1, 3, 13 and 33 are free: an odd stride visits all 32 banks before it returns to the first.
# Stride 32 is the worst: all 32 lanes ask the same bank.
#
# </details>

# %%
STRIDES = 1, 2, 3, 4, 8, 13, 16, 32, 33


def conflicts_per_load(stride):
    """Bank conflicts of each load request of `hop`."""
    run = emulate(hop)[1, CELLS](out, stride, 1)
    check(out, hop_spec(stride, 1))
    loads = run.bank_conflicts.by_kind["load"]
    return loads.conflicts / loads.requests


emulated = {stride: conflicts_per_load(stride) for stride in STRIDES}
emulated

# %% [markdown]
# A stride of 32 costs 31 conflicts a load, and a stride of 33 costs none.
# The length of the stride does not matter, only its greatest common divisor with 32.
# With elements of 4 bytes, `gcd(stride, 32)` lanes meet in a bank, and a load has `gcd(stride, 32) - 1` conflicts.
#
# ## Does a GPU agree?
#
# A GPU counts its bank conflicts, too.
# `measure` times a kernel on the GPU, or shows what an H200 needed for this very launch, with the hardware's own counters.
# Two blocks of 1,024 threads fill a multiprocessor with warps, so the grid has two blocks for each.

# %%
BLOCKS = 2 * cuda.get_current_device().MULTIPROCESSOR_COUNT
result = np.zeros(BLOCKS * CELLS, np.uint32)


def counted(measurement):
    """Conflicts of each load request, by the hardware's counters."""
    count = measurement.counters
    if not count:
        return np.nan
    return count["shared_load_conflicts"] / count["shared_load_requests"]


def busy(measurement):
    return measurement.counters.get("l1_data_percent", np.nan)


on_gpu = {stride: measure(hop)[BLOCKS, CELLS](result, stride, 100)
          for stride in STRIDES}
for stride in 1, 32:
    print(on_gpu[stride])
    print(f"    L1/shared data path busy, %: {busy(on_gpu[stride])}")
plot_conflicts(STRIDES, emulated=list(emulated.values()),
               measured=[counted(on_gpu[s]) for s in STRIDES],
               times_us=[on_gpu[s].median_us for s in STRIDES])

# %% [markdown]
# Above are the conflicts of each load: every diamond, the GPU's count, lies in its ring, the emulator's.
# Below is the time of the launch, and it follows the count.
# Stride 2 takes 1.96 times as long as stride 1, and stride 32 takes 30.7 times as long.
# Strides 3, 13 and 33 are as fast as stride 1.
#
# A multiprocessor serves one wavefront in a cycle, and `hop` asks it for little else.
# The compiler turns a round into 32 loads, 32 address computations and 3 more instructions.
# The data path, which is L1's too, is busy in 97.5% of the cycles with stride 1, and in 99.9% with stride 32.
# The reports agree: warps wait for shared memory (or the unit for sines, which `hop` does not use).

# %% [markdown]
# ## When lanes ask for the same word
#
# In one wavefront a bank delivers one *word*, but it delivers it to every lane that asks.
# One word for all lanes is a **broadcast**; several words, of which some go to several lanes, are a **multicast**.
# Neither is a conflict.
# Here five lanes ask for each of six words, and two lanes for a seventh:

# %%
plot_banks([4 * (lane // 5) for lane in range(32)])

# %% [markdown]
# Several lanes in one box are served together.
# With elements of up to 4 bytes, only different words in one bank have to queue.
#
# ## Narrower and wider elements
#
# **Hop with `together` lanes at each cell, the cells `stride` apart.**
# The stride counts elements.
# Numba must know the type of a shared array when it compiles a kernel, so a function makes one kernel for each type.
# The exclusive or, `^`, with `value >> 32`, which is 0 here, makes the compiler load all 8 bytes of a `uint64`; otherwise it loads only the lower 4.

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


# %%
READERS = {dtype: make_hop(dtype) for dtype in (uint16, uint32, uint64)}
sized = {}
ends, many = np.zeros(256, np.uint32), np.zeros(4 * BLOCKS * 256, np.uint32)


def row_of(dtype, stride, together):
    """What one load costs: wavefronts, conflicts, and the launch's time."""
    kernel, size = READERS[dtype], dtype.bitwidth // 8
    run = emulate(kernel)[1, 256](ends, stride, together, 1)
    check(ends, (np.arange(256) % 32 // together * stride + 32) % 256)
    loads = run.bank_conflicts.by_kind["load"]
    timed = measure(kernel)[4 * BLOCKS, 256](many, stride, together, 100)
    sized[size, stride, together] = loads, timed
    return (size, stride, together, loads.wavefronts / loads.requests,
            loads.conflicts / loads.requests, timed.median_us, busy(timed))


table(["bytes per element", "stride", "lanes on a cell", "wavefronts per load",
       "conflicts per load", "µs", "L1/shared data path busy, %"],
      [row_of(*it) for it in [
          (uint16, 1, 1), (uint32, 1, 1), (uint64, 1, 1),
          (uint16, 2, 1), (uint32, 2, 1),
          (uint32, 1, 5), (uint64, 1, 5), (uint64, 1, 2)]])

# %% [markdown]
# Elements of 2 bytes take as long as those of 4: two neighbours share a word, which is a multicast.
# Elements of 8 bytes take twice as long, without a conflict.
# A warp asks for 256 bytes, and 32 banks deliver 128 in a wavefront, so the request goes by *half warps*.
# (Elements of 16 bytes go by quarter warps: at least four wavefronts if all lanes differ, and never fewer than two. Of 1 byte, four share a word.)
#
# The last row is an exception.
# Both half warps of a *load* go together if every lane asks for the same element as its neighbour `lane ^ 1`, or every lane for the same as `lane ^ 2`.
# Pairs do. Groups of five do not, although they ask for fewer bytes.

# %%
plot_banks([8 * (lane // 2) for lane in range(32)],
           itemsize=float64.bitwidth // 8)

# %% [markdown]
# A box is two words wide now, and 16 of them fill the banks.
# With half the wavefronts, the launch takes 36% less time: the data path is busy in 78% of the cycles, no longer in 99%.
# Stores never go together in this way.
# The rule for pairs is not in NVIDIA's guide. The course's tests compare all of it with an H200's counters; this table shows its first part.
#
# Now choose for yourself.
# The lanes are `stride + padding` elements apart.
# Look for settings in which nothing is stacked, for each size of element.
# With 8 and 16 bytes, each half or quarter warp has a row of its own:

# %%
def draw_request(stride=8, itemsize=4, padding=0):
    """The request of a warp whose lanes are `stride + padding` apart."""
    return plot_banks(strided(stride + padding, itemsize), itemsize)


explore(draw_request,
        stride=[1, 8, 32], itemsize=[4, 8, 16], padding=[0, 1])

# %% [markdown]
# ## A tile, by rows and by columns
#
# A **tile** is a small piece of a matrix in shared memory.
# **Write a tile by rows, read it by columns.**
# This transposes the tile.
# A thread is (x, y), an element is (row, column).
# A layout says at which word of the tile an element lies, and `make_turn` compiles it into the kernel, as a function that a kernel may call (`device=True` says so).
# In the usual one, *row-major*, the rows of 32 words follow one another.
#
# `watch` shows the block step by step: compare the banks while warps store, and after the barrier, while they load.

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
run = emulate(make_turn(row_major))[1, (32, 32)](turned)
film = watch(make_turn(row_major))[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
film

# %%
rows, columns = np.mgrid[0:32, 0:32]
COLUMN = [(lane, 5) for lane in range(32)]

plot_tile_banks(bank(4 * row_major(rows, columns)), COLUMN)

# %% [markdown]
# In the film a store takes one wavefront, and a load 32, at one bank.
# In the figure, each box is an element, with its bank; the coloured ones are what one warp reads.
# In a block of 32 × 32 threads, a warp has one y and all 32 values of x.
# It writes along row y, into 32 banks.
# It reads down column y, with a stride of 32 words: one bank.
#
# ## Three other layouts
#
# - *Column-major*: the columns follow one another.
# - **Padding**: each row is 33 words long, and nobody uses the last one. Each row begins one bank further on.
# - A **swizzle**: row r keeps its element of column c at place `r ^ c`, the exclusive or. This shuffles each row in an order of its own.

# %%
def column_major(row, column):
    return 32 * column + row


def padded(row, column):
    return 33 * row + column


def swizzled(row, column):
    return 32 * row + (row ^ column)


def turn_conflicts(layout, words):
    """Conflicts of a store and of a load, and the tile's bytes."""
    run = emulate(make_turn(layout, words))[1, (32, 32)](turned)
    check(turned, np.arange(1024).reshape(32, 32).T)
    sides = (run.bank_conflicts.by_kind[kind] for kind in ("store", "load"))
    return [it.conflicts / it.requests for it in sides] + [4 * words]


turns = {layout.__name__: turn_conflicts(layout, words)
         for layout, words in [(row_major, 1024), (column_major, 1024),
                               (padded, 32 * 33), (swizzled, 1024)]}
table(["layout", "conflicts of a store", "of a load", "bytes"],
      [(name, *counts) for name, counts in turns.items()])

# %% [markdown]
# Column-major only moves the conflicts from the load to the store.
# Padding and swizzle remove them on both sides; padding costs 128 bytes, the swizzle none.
# The next two figures show the same elements as the one above: column 5, first padded, then swizzled.

# %%
rows_33, columns_33 = np.mgrid[0:32, 0:33]

plot_tile_banks(bank(4 * padded(rows_33, columns_33)), COLUMN, padding=1)

# %% [markdown]
# Padded: each row begins one bank further on than the row above it.

# %%
plot_tile_banks(bank(4 * swizzled(rows, columns)), COLUMN)

# %% [markdown]
# Swizzled: along a column c, `r ^ c` is another place in each row r.
# In both figures, every bank occurs once in each row and once in each column.
#
# ## The block's shape
#
# Consecutive threads of a block are consecutive in x, then in y.
# In a block of 16 × 32 threads (x × y), a warp is therefore 16 threads of one y and 16 of the next.
# **Write and read a tile by rows, in a block of any width.**

# %%
def make_fill(width):
    """A kernel whose tile has rows of `width` words, 32 of them in use."""
    @cuda.jit
    def fill(out):
        """Write and read a tile by rows, in a block of any width."""
        tile = cuda.shared.array((32, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        for column in range(x, 32, cuda.blockDim.x):
            tile[y, column] = 32 * y + column
        cuda.syncthreads()
        for column in range(x, 32, cuda.blockDim.x):
            out[y, column] = tile[y, column]
    return fill


def fill_conflicts(across, width):
    """Conflicts of a load, in a block `across` threads wide."""
    run = emulate(make_fill(width))[1, (across, 32)](turned)
    check(turned, np.arange(1024).reshape(32, 32))
    loads = run.bank_conflicts.by_kind["load"]
    return loads.conflicts / loads.requests


{f"{across} threads, {width} words": fill_conflicts(across, width)
 for across, width in [(32, 32), (16, 32), (8, 32), (16, 33), (16, 48)]}

# %%
plot_tile_banks(bank(4 * row_major(*np.mgrid[0:8, 0:32])),
                [(4 + lane // 16, lane % 16) for lane in range(32)])

# %% [markdown]
# The figure shows eight rows of the tile.
# A warp of the 16 × 32 block reads half of row 4 and half of row 5, which lie 32 words apart: the same 16 banks twice.
# So a walk along rows has conflicts, too: 1 a load in a block 16 wide, 3 in one 8 wide.
# A padding of one word does not help, since 15 of the 16 banks still meet. Rows of 48 words do help: the next row begins 16 banks further on.
#
# ## What could go wrong
#
# `cuda.shared.array((32, 33), float32)` is the padded layout: the last number of the shape is the length of a row.
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
# The answer is right, so a test of answers passes.
# The count says that nothing was gained: 32 wavefronts a load, as before.
#
# ## What is it worth?
#
# `hop` waits almost only for shared memory.
# A transpose also waits for global memory and for a barrier.
# **Transpose through a tile: rows in, columns out.**
#
# The length of a row decides how many wavefronts a load takes: from 1 with 33 words to 32 with 32.
# The type of the indices decides how many instructions a warp issues: 77 with Numba's own 64 bits (71 if rows have 32 words), and 37 with 32 bits.

# %%
def make_transpose(width, index):
    """A kernel for whole tiles whose rows are `width` words long."""
    @cuda.jit
    def transpose(dst, src):
        """Transpose through a tile: rows in, columns out."""
        tile = cuda.shared.array((32, width), float32)
        x, y = index(cuda.threadIdx.x), index(cuda.threadIdx.y)
        left = index(32 * cuda.blockIdx.x)
        top = index(32 * cuda.blockIdx.y)
        tile[y, x] = src[index(top + y), index(left + x)]
        cuda.syncthreads()
        dst[index(left + y), index(top + x)] = tile[x, y]
    return transpose


small = np.random.default_rng(1).random((64, 96), dtype=np.float32)
small_out = np.zeros((96, 64), np.float32)
run = emulate(make_transpose(33, int64))[(3, 2), (32, 32)](small_out, small)
check(small_out, small.T)

# %%
N = 4096
src = np.random.default_rng(2).random((N, N), dtype=np.float32)
dst = np.zeros_like(src)
# the wavefronts of a column's load, for each width
WIDTHS = {width: gcd(width, 32) for width in (33, 34, 36, 40, 48, 32)}


def transposed(width, index):
    """The time and the counters of a transpose."""
    kernel = make_transpose(width, index)
    bytes = src.nbytes + dst.nbytes
    return measure(kernel, bytes=bytes)[(N // 32, N // 32), (32, 32)](dst, src)


def first_wait(measurement):
    return next(iter(measurement.waits), "not measured")


wide, narrow = ({width: transposed(width, index) for width in WIDTHS}
                for index in (int64, uint32))
table(["words per row", "wavefronts per load", "µs, 64-bit indices",
       "warps wait most for", "µs, 32-bit indices", "warps wait most for"],
      [(width, WIDTHS[width], wide[width].median_us, first_wait(wide[width]),
        narrow[width].median_us, first_wait(narrow[width]))
       for width in WIDTHS])

# %%
def more_cycles(timed):
    """The cycles beyond those of a transpose without conflicts."""
    cycles = [it.counters.get("cycles", np.nan) for it in timed.values()]
    return [it - cycles[0] for it in cycles]


loads = src.size / 32 / cuda.get_current_device().MULTIPROCESSOR_COUNT
print(f"{loads:,.0f} loads per multiprocessor, without conflicts in "
      f"{wide[33].counters.get('cycles', np.nan):,} cycles")
for width in 33, 32:
    print(f"instructions per warp, rows of {width} words:", *(
        32 * timed[width].counters.get("instructions", np.nan) / src.size
        for timed in (wide, narrow)))
plot_exposed(list(WIDTHS.values()), {"64-bit indices": more_cycles(wide),
                                     "32-bit indices": more_cycles(narrow)},
             requests=loads)

# %% [markdown]
# The figure shows the cycles that conflicts add; on the dashed line each further wavefront costs a cycle.
# Cycles are counted in one launch each, so 2% mean nothing: some points lie below 0.
#
# With 64-bit indices, 2 and 4 wavefronts a load cost less than 1%: the first few hide, while warps wait for a barrier and for global memory.
# From 16 to 32 wavefronts each costs its cycle, and of the cycles of all 31 further wavefronts, 83% appear in the time.
# Then the kernel takes 1.6 times as long.
# Not 32 times: without conflicts, these loads fill 2.5% of the cycles.
#
# With 32-bit indices, half the instructions, less is hidden: 4 wavefronts cost 3.6% of the time, and 93% of all appear.

# %% [markdown]
# What warps wait for most does not tell what conflicts cost: with rows of 48 words it is global memory, and yet without conflicts the kernels take 19% and 24% less time.
#
# To see the most that you can save, divide the further wavefronts of a multiprocessor by its cycles.
# With 64-bit indices and rows of 48 words, 60 of 196 thousand are 30%.
# No kernel here saves more than its share.
#
# ## What changed
#
# | layout | idea | wavefronts of a row's store | of a column's load | bytes |
# |---|---|---|---|---|
# | row-major | the rows follow one another | 1 | 32 | 4,096 |
# | column-major | the columns follow one another | 32 | 1 | 4,096 |
# | padded | rows of 33 words: each begins one bank further on | 1 | 1 | 4,224 |
# | swizzled | place `r ^ c`: each row has an order of its own | 1 | 1 | 4,096 |
# | padded with a row | padding on the wrong axis | 1 | 32 | 4,224 |
#
# ## On your own
#
# ★★ `exercise("swizzle")`, in the assignment: each lane goes along a row, so the lanes touch a column. Remove the conflicts.
#
# <details><summary>Answer</summary>
#
# Element `k` of row `r` lies at place `k ^ r`.
#
# </details>
#
# ★ `turn_float64`: transpose tiles of `float64` without a conflict, with at most one column of padding. Which widths work?

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
#
# ★★★ `exercise("half_block")`: a block of 16 × 16 threads transposes a 16 × 16 tile. Rows of 16 words have no conflicts when they are stored, rows of 18 none when they are loaded, rows of 17 some each time. Why? What removes all?
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
# Conflicts arise within one request of one warp. Requests of different warps never conflict with one another.
#
# The first CUDA GPUs, of compute capability 1.x, had 16 banks and served half a warp at a time; older texts count by that rule.
#
# A compiler may merge loads: four neighbouring `float32` of one thread can become a single load of 16 bytes.
# It may also load less than the source says, as it would in `make_hop`.
# The emulator counts what the source says, and a GPU counts what the compiler made of it.
#
# Nsight Compute's counter is `l1tex__data_bank_conflicts_pipe_lsu_mem_shared`.
# It also counts requests that waited for other traffic: in the transposes, up to 0.2 conflicts a request more than the emulator.
# Nsight's source page uses another ideal for elements of 8 and 16 bytes; this lesson uses the counter's.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, shared memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#shared-memory): the rule of words and banks, from its source.
# - [An efficient matrix transpose](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): the padded tile, with its speed on older GPUs.
# - [Numba: memory management](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array` and its arguments.
#
# *Next:* [Wait for one another](15_barriers_and_races.ipynb): a kernel gives the right answer and is wrong all the same; which two of its lines are to blame?
