# %% [markdown]
# # Write your first kernel
#
# *25 minutes*
#
# **What you'll do:** add one to 100,000 numbers, once with a loop and once with 100,000 threads, and read what the tools say when it goes wrong.
#
# **What you'll learn:**
#
# - write a kernel, and launch it on enough blocks of threads for any number of elements
# - move arrays to the GPU and back, and say when a launch has finished
# - recognise a missing guard, a grid that is too short and a launch that cannot be
#
# **What you'll need:** Python with NumPy; no GPU, and nothing known about one.

# %%
import numpy as np
from numba import cuda

from helpers import (check, device, emulate, exercise, expect, measure,
                     plot_grid, plot_grid_2d, plot_grid_stride, plot_times)

device

# %% [markdown]
# ## What is left of a loop?
#
# That line says where kernels run in this notebook: on this machine's GPU if there is one, and else in an emulator, which runs the same kernels and counts what a GPU would have done.
#
# Here is a loop that adds one to each of 100,000 numbers.
# It goes from one number to the next, though no number has to wait for another.
# If all of them could be had at once, what would be left of the loop?

# %%
N = 100_000
a = np.random.default_rng(0).random(N, dtype=np.float32)


def add_one_spec(a):
    """What every version must return."""
    return a + np.float32(1)


# %%
def add_one_loop(out, a):
    """Go from one element to the next and add one to each."""
    for i in range(a.size):
        out[i] = a[i] + np.float32(1)


out = np.empty_like(a)
add_one_loop(out, a)
check(out, add_one_spec(a))

# %% [markdown]
# ## One thread for each element
#
# **Each thread adds one to its own element.**
# What is left of the loop is its body, and each thread must find out which `i` is its own.
#
# A function that many threads run is a **kernel**; `@cuda.jit` makes one.
# `cuda.threadIdx.x` is the number of the thread that runs it: 0 in the first thread, 1 in the second.

# %%
@cuda.jit
def add_one_in_a_block(out, a):
    """Each thread adds one to its own element."""
    i = cuda.threadIdx.x
    out[i] = a[i] + np.float32(1)


# %% [markdown]
# Eight numbers are enough to try it on: start with the smallest size that can go wrong.
# A **launch** names the number of blocks and of threads in square brackets, before the arguments.

# %%
few = np.arange(8, dtype=np.float32)
few_out = np.zeros_like(few)

add_one_in_a_block[1, 8](few_out, few)
few_out

# %% [markdown]
# A kernel returns nothing: it writes into an array that it was given.
# And there is no loop.
# Eight threads ran the body once each, in no order that you may rely on.

# %% [markdown]
# ## Threads come in blocks
#
# Can we ask for 100,000 threads as well?
# Threads come in **blocks**, and a block holds 1,024 threads at most.
# `expect` says that an error is wanted here: it shows the error and goes on.

# %%
with expect(ValueError):
    emulate(add_one_in_a_block)[1, N](out, a)

# %% [markdown]
# `emulate` ran the kernel in the emulator, GPU or not.
# That is the right place for what is wrong on purpose: on a GPU, an error inside a kernel can end the whole session.
#
# So there must be many blocks, and all of them together are the **grid**.
# A thread knows its block's number, `cuda.blockIdx.x`, and the size of a block, `cuda.blockDim.x`.
# From these it finds its place in the grid:

# %%
@cuda.jit
def who_am_i(block, thread, place):
    """Each thread writes down who it is."""
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    block[i] = cuda.blockIdx.x
    thread[i] = cuda.threadIdx.x
    place[i] = i


block, thread, place = np.zeros((3, 12), np.int32)
who_am_i[3, 4](block, thread, place)
np.array([block, thread, place])

# %% [markdown]
# Three blocks of four threads: the first row is the block, the second the thread in its block, the third its place in the grid.
# This sum is needed so often that it has a name, `cuda.grid(1)`.

# %% [markdown]
# ## How many blocks?
#
# Enough for every element, so `N / threads`, rounded up.
# Rounding up with whole numbers is the **ceiling division** `(N + threads - 1) // threads`; `N // threads + 1` would be one block too many whenever the division leaves no remainder.

# %%
threads = 256
blocks  = (N + threads - 1) // threads

blocks, blocks * threads - N

# %% [markdown]
# There are 391 blocks, and 96 threads more than elements.
# On a smaller scale, with blocks of 8 threads and 29 elements, it looks like this:

# %%
plot_grid(blocks=4, threads=8, n=29)

# %% [markdown]
# The upper row shows the threads, each with its number in its block; the lower row the elements that they take.
# The last three threads find no element.

# %% [markdown]
# **Predict.** What do those threads do, if nobody tells them otherwise?
#
# <details><summary>Answer</summary>
#
# They read and write beyond the end of the arrays.
# A GPU does not look: it reads whatever lies there, and overwrites it.
# The emulator looks.
#
# </details>

# %%
@cuda.jit
def add_one_unguarded(out, a):
    """Each thread of the grid adds one to its own element."""
    i = cuda.grid(1)
    out[i] = a[i] + np.float32(1)


with expect(IndexError):
    emulate(add_one_unguarded)[blocks, threads](out, a)

# %% [markdown]
# The line, the array, the index, the thread and its block: one of the 96 threads too many.
# What they need is a **guard**.
#
# **Each thread of the grid that has an element adds one to it.**

# %%
@cuda.jit
def add_one(out, a):
    """Each thread of the grid that has an element adds one to it."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + np.float32(1)


out = np.full_like(a, np.nan)
add_one[blocks, threads](out, a)
check(out, add_one_spec(a))

# %% [markdown]
# Many programs write the guard as an early exit, `if i >= out.size: return`.
# It does the same here.
# In a kernel where threads wait for each other, a thread that has returned is missing: [Wait for one another](15_barriers_and_races.ipynb) shows how `emulate` reports that.
#
# Filling `out` with NaN beforehand is a habit worth having: an element that no thread wrote cannot be right by accident.
# See what it finds when the grid is one block short, as after `N // threads`:

# %%
out = np.full_like(a, np.nan)
add_one[N // threads, threads](out, a)

with expect(AssertionError):
    check(out, add_one_spec(a))

# %% [markdown]
# No error, and the end of the array is missing.
# The first index that differs, 99,840, is a multiple of 512 and so of our 256, and that points to the grid.

# %% [markdown]
# ## What the memory saw
#
# `emulate` returns a report of the run.
# It quotes each line that touches an array and says what the memory had to do for it.

# %%
run = emulate(add_one)[blocks, threads](out, a)
run

# %% [markdown]
# Threads run in groups of 32, called **warps**, and a warp loads for all of its threads in one **request**.
# So 100,000 loads are 3,125 requests.
# Memory moves in pieces of 32 bytes, **sectors**, and 32 numbers of 4 bytes that lie side by side fill four of them.
# Fewer is not possible: each request takes 4 sectors, and 4 is the ideal.

# %% [markdown]
# ## There and back
#
# A GPU has memory of its own.
# So far Numba copied each array there before the launch and back after it, both arrays, each time.
# For more than one launch you do this yourself: the machine with Python is the **host**, the GPU is the **device**.

# %%
d_a = cuda.to_device(a)
d_out = cuda.device_array_like(d_a)

add_one[blocks, threads](d_out, d_a)
add_one[blocks, threads](d_out, d_out)

check(d_out.copy_to_host(), add_one_spec(add_one_spec(a)))

# %% [markdown]
# `to_device` copies there, `device_array_like` only reserves memory, `copy_to_host` copies back.
# The second launch took the result of the first where it was.
#
# With device arrays a launch returns at once, before the kernel has ended, and the next line of Python runs beside it.
# (With NumPy arrays Numba waits for the end, to copy back; the emulator always waits.)
# Launches run one after the other, and `copy_to_host` waits for all of them, so the result above is complete.
# Where nothing is copied but you must know that the kernel has ended, `cuda.synchronize()` waits.

# %%
cuda.synchronize()
del d_a, d_out

# %% [markdown]
# Device memory is given back when nothing refers to the array any more, though not at that moment: Numba collects a few arrays and frees them together.

# %% [markdown]
# ## More elements than threads
#
# A grid need not have a thread for each element.
# **Each thread starts at its own place and goes on by a whole grid.**
# `cuda.gridsize(1)` is the number of threads in the grid.

# %%
@cuda.jit
def add_one_striding(out, a):
    """Each thread starts at its own place and goes on by a whole grid."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + np.float32(1)


out = np.full_like(a, np.nan)
add_one_striding[32, 128](out, a)
check(out, add_one_spec(a))

# %% [markdown]
# This is a **grid-stride loop**.
# It is right for any grid and needs no guard, since `range` ends where the array does.

# %%
plot_grid_stride(blocks=2, threads=8, n=29)

# %% [markdown]
# The same 29 elements with two blocks of 8 threads: below each thread are the elements that it takes, one in each round, a grid of 16 apart.

# %% [markdown]
# ## Grids with two axes
#
# For a matrix, blocks and grids can have two axes.
# Neighbouring threads of a warp differ in `x`, so `x` goes to the *column*: then they take neighbours in memory.

# %%
@cuda.jit
def add_one_2d(out, a):
    """Each thread adds one to the element at its column x and row y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = a[row, col] + np.float32(1)


ROWS, COLS = 250, 400
matrix = a.reshape(ROWS, COLS)
matrix_out = np.full_like(matrix, np.nan)
grid = (COLS + 31) // 32, (ROWS + 7) // 8

run = emulate(add_one_2d)[grid, (32, 8)](matrix_out, matrix)
check(matrix_out, add_one_spec(matrix))

# %% [markdown]
# Sizes are given as (x, y), and each axis has its own ceiling division and its own part of the guard.

# %%
plot_grid_2d(blocks=(2, 2), threads=(4, 3), shape=(5, 7))

# %% [markdown]
# Each box is an element of a 5 × 7 matrix with the `x` and `y` of its thread in the block; the tint is the block, and dotted boxes are threads without an element.
# What if `x` went to the row instead?

# %%
@cuda.jit
def add_one_2d_swapped(out, a):
    """Each thread adds one to the element at its row x and column y."""
    row, col = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = a[row, col] + np.float32(1)


matrix_out = np.full_like(matrix, np.nan)
swapped_grid = (ROWS + 31) // 32, (COLS + 7) // 8

swapped = emulate(add_one_2d_swapped)[swapped_grid, (32, 8)](
    matrix_out, matrix)
check(matrix_out, add_one_spec(matrix))

# %%
run.coalescing.sectors, swapped.coalescing.sectors

# %%
swapped

# %% [markdown]
# The answer is right both times.
# But now the threads of a warp lie a whole row apart, each in a sector of its own, and the memory moves eight times as much.
# (The last column says 7.81 because it compares request by request, and a few warps at the lower edge are not full.)

# %% [markdown]
# ## How fast is it?
#
# `measure` runs a kernel many times on the GPU and gives the median.
# Without a GPU it shows what was recorded for this very kernel, and says where.
# With 16 million numbers there is enough to do:

# %%
MANY = 2**24
big = np.random.default_rng(1).random(MANY, dtype=np.float32)
big_out = np.zeros_like(big)
sizes = 32, 64, 128, 256, 512, 1024

times = [measure(add_one, bytes=2 * big.nbytes)[MANY // t, t](big_out, big)
         for t in sizes]
times[3]

# %%
plot_times([f"{t} threads a block" for t in sizes],
           [m.median_us for m in times],
           spread_us=[(m.lower_us, m.upper_us) for m in times])

# %% [markdown]
# Bars are medians, and whiskers hold half of the launches.
# From 32 to 128 threads, twice as many threads a block take half the time: there is so little to do in a block that starting blocks is most of the work.
# From 256 on the memory is, and 256 is a good first choice.
# The percentage above compares with a plain copy of a large array, the fastest way to move bytes on that GPU.

# %% [markdown]
# ## What an error looks like
#
# You have met most of them: a block that is too large is refused at the launch, and the emulator sees an index out of range.
# A GPU may not notice; or it reports an error at the next synchronisation, and then nothing runs until Python is restarted.
# A slip of the pen is found when the kernel is compiled, at its first launch:

# %%
@cuda.jit
def add_one_misspelt(out, a):
    """Each thread of the grid that has an element adds one to it."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = b[i] + np.float32(1)


with expect(TypeError):
    emulate(add_one_misspelt)[blocks, threads](out, a)

# %% [markdown]
# ## What changed
#
# | version | idea | threads | what can go wrong |
# |---|---|---|---|
# | loop | one element after the other | 1 | nothing, slowly |
# | one block | a thread for each element | up to 1,024 | more elements than that |
# | grid and guard | blocks enough for all, `if i < n` | rounded up to whole blocks | no guard; a block short |
# | grid-stride | a thread takes several | any number | forgetting the stride |
# | two axes | x to the column, y to the row | rounded up on each axis | swapped axes: right, and slow |

# %% [markdown]
# ## On your own
#
# ★ Launch `add_one` on the 100,000 elements with 1,000 threads a block. How many blocks do you need, and how many threads have nothing to do? Guess, then try it.
#
# ★ `affine`: multiply each element by a number and add another one, for any number of elements.

# %%
task = exercise("affine")
task

# %%
@cuda.jit
def affine(out, x, factor, offset):
    """Each thread that has an element scales and shifts it."""
    # your code, about 3 lines


task.check(affine)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def affine(out, x, factor, offset):
#     """Each thread that has an element scales and shifts it."""
#     i = cuda.grid(1)
#     if i < out.size:
#         out[i] = factor * x[i] + offset
# ```
#
# The guard keeps the spare threads of the last block inside the array.
# Numbers are arguments like arrays, and the same for all threads.
#
# </details>

# %% [markdown]
# ★★★ `exercise("every_second")`: add a number to every *second* element. How few sectors can a kernel touch, and is that the ideal that the report names?
#
# The [assignment](assignments/01_first_kernel.ipynb) has 8 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Numba compiles a kernel at its first launch, for the types of that launch.
# Never time the first one.
#
# `np.float32(1)` is written out because Numba, like Python, takes `1.0` for a double: `a[i] + 1.0`, and `a[i] + 1` too, would add in 64 bits, which most GPUs do far more slowly.
#
# A negative index counts from the end, in Numba as in NumPy, so `out[i - 1]` in thread 0 writes the last element without complaint.
#
# The limits of your GPU are attributes of `cuda.get_current_device()`.
# Whole warps fill a block best, so its size is a multiple of 32.

# %% [markdown]
# ## Further reading
#
# - [Numba: writing CUDA kernels](https://numba.readthedocs.io/en/stable/cuda/kernels.html): launching, positions and grids, in Numba's own words.
# - [An even easier introduction to CUDA](https://developer.nvidia.com/blog/even-easier-introduction-cuda/): the same first steps in C++.
# - [Grid-stride loops](https://developer.nvidia.com/blog/cuda-pro-tip-write-flexible-kernels-grid-stride-loops/): why they are worth their line.
#
# *Next:* [Keep a warp together](02_warps.ipynb): two kernels do the same work, and one needs twice as many instructions; what is so special about 32 threads?
