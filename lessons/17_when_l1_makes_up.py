# %% [markdown]
# # Know when a cache makes up for it
#
# *60 minutes*
#
# **What you'll do:** compare two kernels that add up the same matrix, of which one requests eight times as many bytes as it uses, and ask three things: who needs the rest, how soon, and what does L1 itself take for it?
#
# **What you'll learn:**
#
# - say when the rest of a sector is still in L1, and when it is gone
# - count in which steps the lanes of a warp need new sectors
# - tell what a request takes of L1's own time, and how lanes should stand in a matrix
#
# **What you'll need:** the memories and caches, as in [Know where a number lives](11_memory_hierarchy.ipynb), sectors, as in [Fetch no more than you use](12_coalescing.ipynb), L1's data path, as in [Use a tile where it pays](13_shared_memory.ipynb), and banks, as in [Share a tile without queueing](14_bank_conflicts.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (assemble, check, compare, device, emulate, exercise,
                     measure, plot_levels, plot_new_sectors, plot_requests,
                     plot_series)

device

# %% [markdown]
# ## Which sum is wasteful?
#
# Two kernels add up the same matrix.
# In `sum_rows`, each thread takes a row and walks along it, number by number, the order that suits a CPU's caches.
# In `sum_columns`, each thread takes a column, and so it jumps a whole row at each step.

# %%
@cuda.jit
def sum_rows(out, matrix):
    """Each thread adds up one row."""
    row = cuda.grid(1)
    total = float32(0)
    for col in range(matrix.shape[1]):
        total += matrix[row, col]
    out[row] = total


@cuda.jit
def sum_columns(out, matrix):
    """Each thread adds up one column."""
    col = cuda.grid(1)
    total = float32(0)
    for row in range(matrix.shape[0]):
        total += matrix[row, col]
    out[col] = total


# %%
SIDE = 256
matrix = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32)
sums = np.zeros(SIDE, np.float32)

by_row = emulate(sum_rows)[4, 64](sums, matrix)
check(sums, matrix.sum(axis=1))
by_column = emulate(sum_columns)[4, 64](sums, matrix)
check(sums, matrix.sum(axis=0))

# %% [markdown]
# **Predict.** Both load each number once. How many sectors does a warp's load touch in each?

# %%
compare({"sum_columns": by_column, "sum_rows": by_row}, "sectors per load")

# %% [markdown]
# Stop both kernels in the same step of their loops, and look where the lanes of one warp are.
# In `sum_columns` they stand side by side, in one line.
# In `sum_rows` they stand one below the other, a whole row apart, each in a sector of its own:

# %% tags=["hide-input"]
# Draws one step of each kernel.
def lanes_at(stride):
    """The byte addresses of 32 lanes that lie `stride` numbers apart."""
    return [4 * stride * lane for lane in range(32)]


plot_requests({"sum_columns, one step": lanes_at(1),
               "sum_rows, one step": lanes_at(SIDE)})

# %% [markdown]
# So `sum_rows` is the wasteful one: it requests eight times as many bytes as it uses.
#
# ## Does the waste cost time?
#
# **Predict.** Now the matrix has 16,384 rows of as many numbers, and each kernel has a thread for each sum. Which kernel takes longer, and how many times as long?
#
# (These are few threads: the GPU is nearly empty, for it could hold sixteen times as many. For now we ask who waits; later it gets more.)

# %% tags=["timing", "hide-input"]
# Measures both kernels on a large matrix.
TALL = 16_384
large = np.zeros((TALL, TALL), np.float32)
totals = np.zeros(TALL, np.float32)

columns, rows = (
    measure(kernel, bytes=large.nbytes)[TALL // 64, 64](totals, large)
    for kernel in (sum_columns, sum_rows))

plot_levels({f"{m.kernel}, {m.median_us:,.0f} µs": m.traffic
             for m in (columns, rows)})

# %% [markdown]
# The wasteful kernel wins: it takes about three quarters of the time.
#
# From L1, `sum_rows` requests eight times as many bytes as `sum_columns`, as we counted.
# But from L2, L1 requests the matrix once in either kernel: the waste never leaves L1.
# So `sum_rows` need not be slower. Why is it faster?

# %% [markdown]
# ## Who needs the rest, and how soon?
#
# Follow one warp of each kernel, step by step.
# Here a box is filled where a lane comes to another sector than in the step before:

# %% tags=["hide-input"]
# Draws in which steps the lanes of a warp come to new sectors.
def walk(apart, ahead):
    """The byte addresses of 32 lanes, so many numbers apart, in 16 steps."""
    return 4 * np.add.outer(apart * np.arange(32), ahead * np.arange(16))


plot_new_sectors({"sum_columns": walk(1, TALL), "sum_rows": walk(TALL, 1)})

# %% [markdown]
# The lanes of `sum_columns` use up each line at once. So each step needs another one, from beyond L1: from L2, or memory.
#
# The lanes of `sum_rows` use an eighth of a sector in each step. But the rest is not lost. Who needs it? The thread itself. How soon? In its next seven steps, and L1 still has it.
#
# How often must a warp wait, then? That depends on which loads it sends off together, so look at the machine code. `LDG` loads, and `FADD` adds:

# %%
code = assemble(sum_rows)[4, 64](sums, matrix)
[one.name for one in code.instructions if one.name in ("LDG", "FADD")]

# %% [markdown]
# The loop takes four steps together: four loads first, then four additions. (What is left over takes the last two.)
# So a thread sends off four loads, and the next four only when these have come. These are the heavy lines in the picture.
#
# `sum_columns` needs new lines in every four.
# In steps 0 to 3 of `sum_rows`, all four loads ask for the same 32 sectors, which L1 fetches once. In steps 4 to 7 L1 has them.
# So every second four of `sum_rows` needs nothing from beyond L1.
#
# (That saves a quarter of the time. Why not half, no launch here tells.)

# %% [markdown]
# ## A warp waits for its slowest lane
#
# If that is the reason, take it away: let each row be one number longer.
# Then the rows no longer begin at the same place of a sector.
# Here are two fours, steps 8 to 15, with rows of several lengths:

# %%
plot_new_sectors({f"rows of {cols:,}": walk(cols, 1)
                  for cols in (16_384, 16_385, 16_388, 16_392)}, since=8)

# %% [markdown]
# **Predict.** In which of these has the warp all it wants for one of the two fours? And in which does `sum_rows` still win?

# %% tags=["timing", "hide-input"]
# Measures row sums of matrices whose rows are a little longer.
longer = {TALL: rows} | {
    cols: measure(sum_rows, bytes=large.nbytes)[TALL // 64, 64](
        totals, np.zeros((TALL, cols), np.float32))
    for cols in (TALL + 1, TALL + 4, TALL + 8)}

compare({"columns": columns} | {
            f"rows of {cols:,}": m for cols, m in longer.items()},
        "µs", "GB loaded from L2", by="sums of")

# %% [markdown]
# With rows of 16,385, `sum_rows` is as slow as `sum_columns`, although L1 requests no more from L2.
# Now four of the 32 lanes go on to a new sector in each of the eight steps.
# The warp waits for these four, and it does not help that L1 has what the others want.

# %% [markdown]
# With 16,388, half of the lanes go on in one step, the others four steps later. These are two steps of eight, and yet `sum_rows` is slow: one of the two is in each four.
#
# With 16,392, a multiple of eight, each row begins where a sector does. All lanes need a new one in the same step, every second four has all it wants, and `sum_rows` wins.
#
# So L1 spares a warp a wait only if it has what *all* lanes want, in all loads that go off together.

# %% [markdown]
# ## How long does L1 keep it?
#
# Let each thread go over its row in jumps of eight numbers, so that each step needs another sector, and come back for the numbers between after a *window*:

# %%
@cuda.jit
def sum_rows_in_windows(out, matrix, window):
    """Each thread adds up one row, and each window of it in jumps of 8."""
    row = cuda.grid(1)
    total = float32(0)
    for start in range(0, matrix.shape[1], window):
        for first in range(start, start + 8):
            for col in range(first, start + window, 8):
                total += matrix[row, col]
    out[row] = total


sum_rows_in_windows[4, 64](sums, matrix, 32)
check(sums, matrix.sum(axis=1))

# %% [markdown]
# With `window=32`, a thread takes these numbers of its row:
#
# ```text
# 0  8  16  24    1  9  17  25    2  10  18  26    ...
# ```
#
# They lie in four sectors, and the fifth step is back in the first one.
# Longer windows have the same loads, in jumps of eight. What differs, but for a few instructions of the loops, is how late a thread is back, and so how much all threads touch in the meantime.
#
# **Predict.** All 16,384 threads run at the same time, in 256 blocks: at most two on each multiprocessor, so 128 threads, and its L1 has at most 256 KB. Up to which window does L1 still have a sector when its thread comes back?

# %% tags=["timing", "hide-input"]
# Measures the kernel with several windows.
WINDOWS = 128, 256, 512, 1024, 2048, TALL
windows = {window: measure(sum_rows_in_windows, bytes=large.nbytes)[
    TALL // 64, 64](totals, large, window) for window in WINDOWS}

plot_series(WINDOWS, {"jumps of 8": [m.median_us for m in windows.values()]},
            xlabel="numbers in a window", scale="log")

# %% [markdown]
# There is a cliff after 512 numbers. Which cache is too small there? Ask the counters on both sides of it:

# %% tags=["timing", "hide-input"]
# Shows what L1 asked L2 for, in the windows beside the cliff.
compare({(f"{window:,}", f"{128 * 4 * window // 2**10} KB",
          f"{TALL * 4 * window // 2**20} MB"): windows[window]
         for window in (128, 256, 512, 1024)},
        "GB loaded from L2", "GB read from memory", "µs",
        by=("window", "128 threads touch", "all threads touch"))

# %% [markdown]
# Up to 256 numbers in a window, what 128 threads touch fits in L1, and L1 loads about an eighth more than the matrix, or less.
#
# From 256 to 512, L1 becomes too small: many sectors are gone when their thread comes back, and L1 loads four times as much. That makes the sums less than a fifth slower, for L2 has what L1 lacks: what all threads touch fits in its 60 MB, and memory delivers hardly any sector twice.

# %% [markdown]
# From 512 to 1,024, L2 becomes too small, too. That is the cliff: L1 loads nearly every sector eight times, and so does L2. The waste goes all the way down to memory, and the sums take more than twice as long.
#
# So a cache makes up for a wasteful request if somebody asks for the rest of each sector *soon*: before more has come through than the cache can hold.

# %% [markdown]
# ## What does L1 itself take for it?
#
# Then why not always by rows?
# So far both kernels wait most of the time, and they have few threads: 6% of those that the GPU can hold.
# More threads have more loads in flight.
# So cut each row, or each column, into strips, and give each strip to a thread of its own.
# A block has 64 rows, or columns, along x, and one strip along y.

# %%
@cuda.jit
def sum_rows_in_strips(out, matrix, strip):
    """Each thread adds up a strip of a row."""
    row, part = cuda.grid(2)
    total = float32(0)
    for k in range(strip):
        total += matrix[row, part * strip + k]
    out[part, row] = total


@cuda.jit
def sum_columns_in_strips(out, matrix, strip):
    """Each thread adds up a strip of a column."""
    col, part = cuda.grid(2)
    total = float32(0)
    for k in range(strip):
        total += matrix[part * strip + k, col]
    out[part, col] = total


parts = np.zeros((8, SIDE), np.float32)
for kernel, axis in (sum_rows_in_strips, 1), (sum_columns_in_strips, 0):
    kernel[(4, 8), 64](parts, matrix, 32)
    check(parts.sum(axis=0), matrix.sum(axis=axis))

# %% [markdown]
# **Predict.** Which of the two gains more from more threads?

# %% tags=["timing", "hide-input"]
# Measures both kernels with strips of several lengths.
STRIPS = 16_384, 8192, 2048, 512
threads = [large.size // strip for strip in STRIPS]


def in_strips(kernel, matrix, strip):
    """The measurement of a kernel for strips of one length."""
    parts = np.zeros((TALL // strip, TALL), np.float32)
    return measure(kernel, bytes=large.nbytes)[
        (TALL // 64, TALL // strip), 64](parts, matrix, strip)


row_strips, column_strips = (
    [in_strips(kernel, large, strip) for strip in STRIPS]
    for kernel in (sum_rows_in_strips, sum_columns_in_strips))

plot_series(
    threads, {"a strip of a row": [m.median_us for m in row_strips],
              "a strip of a column": [m.median_us for m in column_strips]},
    xlabel="threads, each with its share of the same numbers", scale="log")

# %% [markdown]
# At first, twice the threads nearly halve the time of column sums, since twice as many loads are in flight.
# Row sums gain once, and then no more; in the end, column sums are three times as fast.
#
# What stops the row sums?

# %% tags=["timing", "hide-input"]
# Shows what L1 does in some of these launches.
compare({(f"strips of a {what}", threads[k]): strips[k]
         for what, strips in (("row", row_strips), ("column", column_strips))
         for k in range(3)},
        "µs", "data path busy, %", "cycles per request",
        by=("sums", "threads"))

# %% [markdown]
# The data path of L1 stops them, through which a warp gets all that it loads.
# A request of row sums keeps it busy for 32 cycles, a request of column sums for one.
# So with 32,768 threads the path is full, and more threads make the queue longer.
#
# A cache spares memory the waste, but every request still comes through L1.

# %% [markdown]
# ## Why 32 cycles?
#
# You know this queue from [Use a tile where it pays](13_shared_memory.ipynb).
# Rows of 16,384 numbers are a whole number of lines long, so all lanes are at the same place of their lines, in one [bank of L1](14_bank_conflicts.ipynb), which serves them one after the other.
# The remedy is the same, too: rows that lie further apart, with numbers between them that nobody adds up.

# %% [markdown]
# **Predict.** Rows lie 16,385 numbers apart, or 16,392, or 16,416. How many lanes share a bank in each?
#
# <details><summary>Answer</summary>
#
# A line has 32 places. At 16,385 each row begins one place further on, and no two lanes share a bank.
# At 16,392 it is eight places, so every fourth lane is back: eight lanes share a bank.
# 16,416 is a whole number of lines again: all 32 do.
#
# </details>

# %% tags=["timing", "hide-input"]
# Compares sums by 131,072 threads, of rows at several distances.
APART = TALL, TALL + 1, TALL + 8, TALL + 32
by_distance = {TALL: (row_strips[2], column_strips[2])}
for apart in APART[1:]:
    spread = np.zeros((TALL, apart), np.float32)
    by_distance[apart] = tuple(in_strips(kernel, spread, 2048) for kernel in (
        sum_rows_in_strips, sum_columns_in_strips))


def in_a_bank(apart):
    """How many lanes, so many numbers apart, meet in one bank."""
    return np.bincount(apart * np.arange(32) % 32).max()


compare({(f"{apart:,}", in_a_bank(apart)): pair
         for apart, pair in by_distance.items()},
        "cycles per request", "µs",
        {"µs, sums of columns": lambda row: row[1].median_us},
        by=("numbers from row to row", "lanes in a bank"))

# %% [markdown]
# Banks decide most of it.
# At 16,385 a request keeps the path busy for a quarter of the cycles, and the sums take less than half as long.
# At 16,416 all is as before. (It is not all banks: some 5 to 7 cycles stay where they would allow one, or eight.)
#
# Column sums take as long at every distance, since their lanes are side by side. And they still take less time than the best row sums of this table.
#
# But with few threads, which wait, rows of 16,385 were the slow ones: some lane needs a new sector in each four.
# 16,392 is good at both: the lanes need new sectors in the same step, and only eight share a bank.

# %% [markdown]
# <details><summary>For the curious: why not one cycle?</summary>
#
# By the banks alone, a request would take one cycle at 16,385, and eight at 16,392. It takes 8 and 13.
# That the lanes have 32 lines is not enough: in [Leave room for enough warps](18_how_much_shared_memory.ipynb), lanes 33 cells apart, in as many lines and banks, take one, where L1 has nearly everything already.
# That the sectors come from L2 is not enough, either: column sums get about as many for each request, in one cycle. What takes the other cycles, these counters do not say.
#
# </details>

# %% [markdown]
# ## How should rows be summed?
#
# Suppose that your numbers lie in rows, and that you want the sums of rows.
# Then do not turn the matrix, but the warp: give it one row, and let its lanes stand side by side along it.
# Each lane adds up every 32nd number, and [shuffles](02_warps.ipynb) add up the lanes.

# %%
@cuda.jit
def sum_rows_by_warps(out, matrix):
    """Each warp adds up one row."""
    row, lane = cuda.grid(1) // 32, cuda.laneid
    total = float32(0)
    for col in range(lane, matrix.shape[1], 32):
        total += matrix[row, col]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
    if lane == 0:
        out[row] = total


sums[:] = 0
by_warp = emulate(sum_rows_by_warps)[SIDE // 2, 64](sums, matrix)
check(sums, matrix.sum(axis=1))

# %%
compare({"sum_rows": by_row, "sum_rows_by_warps": by_warp},
        "sectors per load")

# %% [markdown]
# Where rows are whole lines, each request uses up one, as in `sum_columns`. However long they are, no two lanes share a bank.
# There are 32 times as many threads as in `sum_rows`, too, so the GPU is no longer empty.
#
# **Predict.** These are as many threads as in the last points of the figure above. Will it take as long as the strips of rows there, or as those of columns?

# %% tags=["timing", "hide-input"]
# Measures sums by as many threads, whose lanes stand across rows or along one.
along = measure(sum_rows_by_warps, bytes=large.nbytes)[
    TALL // 2, 64](totals, large)

compare({"strips of a row": row_strips[-1],
         "strips of a column": column_strips[-1],
         "a warp along each row": along},
        "µs", "data path busy, %", "cycles per request", by="sums")

# %% [markdown]
# Now sums of rows take no longer than sums of columns. Their requests keep the data path busy for one cycle each, so it is no longer what they wait for.

# %% [markdown]
# ## What changed
#
# | launch | what differs | what it shows |
# |---|---|---|
# | `sum_rows`, 16,384 threads | the next seven steps need the rest | L1 makes up for the waste, and the warp waits less |
# | … rows of 16,385 | in each step, some lane needs a new sector | the warp waits for its slowest lane |
# | `sum_rows_in_windows`, 1,024 | the thread comes back too late | neither L1 nor L2 makes up for it |
# | `sum_rows_in_strips`, 131,072 threads | more loads in flight | L1's data path is full |
# | … rows 16,385 apart | no two lanes in one bank | less than half the time |
# | `sum_columns_in_strips` | lanes side by side | there is nothing to make up for |
# | `sum_rows_by_warps` | lanes side by side along a row | the same, for rows |
#
# So **ask of a wasteful request: who needs the rest of its sectors, how soon, and what does L1 take for it?** If nobody needs it, as with one field of [an array of structs](12_coalescing.ipynb), no cache helps. If somebody does soon, a cache keeps the waste from memory. But every request takes L1's own time: where you have many threads, let neighbouring lanes load neighbouring numbers all the same.

# %% [markdown]
# ## On your own
#
# ★ `rows_apart`: count sectors, steps and banks for rows at another distance.

# %%
task = exercise("rows_apart")
task

# %%
rows_apart = {
    "sectors": ...,
    "new": ...,
    "steps": ...,
    "in one bank": ...,
}


task.check(rows_apart)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# rows_apart = {
#     "sectors": 32,
#     "new": 16,
#     "steps": 2,
#     "in one bank": 4,
# }
# ```
#
# 2,052 is 4 more than a multiple of 8, and of 32.
# So every second row begins in the middle of a sector: half of the lanes go on in one step, the others four steps later.
# Each row begins four places further on in its line, so every eighth lane is back at the same one.
#
# </details>

# %% [markdown]
# ★★ `exercise("column_ends")`: each thread goes down its column twice. When it comes back, is the column still in a cache? Do not depend on it.
#
# ★★★ `exercise("csr")`: multiply a sparse matrix by a vector, with a warp along each row. The lanes stand side by side in the matrix, and wherever the data says in the vector.
#
# The [assignment](assignments/17_when_l1_makes_up.ipynb) has 5 exercises, these among them.

# %% [markdown]
# ## In practice
#
# Nsight Compute shows the share of sectors that L1 had as *L1/TEX Hit Rate*. In `sum_rows` it should be about seven eighths, by the sectors. A high rate says that L1 makes up for much, and not that there is nothing to make up for: look at the sectors per request as well.

# %% [markdown]
# ## Further reading
#
# - [Nsight Compute's guide, memory tables](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#memory-tables): what is counted between a warp, L1, L2 and memory.
# - [Dissecting the NVIDIA Volta GPU architecture via microbenchmarking](https://arxiv.org/abs/1804.06826): the sizes and latencies of caches, found by loads alone.
#
# *Next:* [Leave room for enough warps](18_how_much_shared_memory.ipynb): a copy is given shared memory that it never touches; what does that cost?
