# %% [markdown]
# # Write your first kernel
#
# *40 minutes*
#
# **What you'll do:** add one to 100,000 numbers, first with a loop and then with 100,000 threads, time both with the copies included, and read what the tools say when something is wrong.
#
# **What you'll learn:**
#
# - write a kernel, and launch it on enough blocks of threads for any number of elements
# - say what a multiprocessor does with blocks, and what you may not assume about their order
# - move arrays to the GPU and back, and say when a launch has finished and what the trip costs
# - recognise a missing guard, a grid that is too short and a launch that the GPU refuses
#
# **What you'll need:** Python with NumPy. You need no GPU, and no knowledge of one.

# %%
import numpy as np
from numba import cuda

from helpers import (baseline, check, device, emulate, exercise, expect,
                     measure, plot_grid, plot_grid_2d, plot_grid_stride,
                     plot_schedule, plot_stages, table)

device

# %% [markdown]
# ## What is left of a loop?
#
# The line above says where kernels run in this notebook: on this machine's GPU, or in an emulator if there is none.
# The emulator runs the same kernels and counts what their source asks for.
# Times of kernels always come from a GPU: from yours, or recorded on an NVIDIA H200, a GPU for data centres.
#
# Here is a loop that adds one to each of 100,000 numbers.
# It goes from one number to the next, although no number depends on another.
# If all 100,000 additions happened at once, what would be left of the loop?

# %%
N = 100_000
a = np.random.default_rng(0).random(N, dtype=np.float32)


def add_one_spec(a):
    """What every version must return."""
    return a + np.float32(1)


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
# A **thread** executes a function from its first line to its last, and a GPU runs thousands of threads at the same time.
# **Each thread adds one to its own element.**
# Only the loop's body is left, and each thread must find out which `i` is its own.
#
# A function that many threads run is a **kernel**; `@cuda.jit` makes one.
# `cuda.threadIdx.x` is the number of the thread that runs it: 0 in the first thread, 1 in the second.
# A **launch** starts the kernel. Square brackets before the arguments give the number of blocks, which are explained below, and of threads in each: here one block of eight.
# Start with the smallest size that can go wrong; eight numbers will do.

# %%
@cuda.jit
def add_one_in_a_block(out, a):
    """Each thread adds one to its own element."""
    i = cuda.threadIdx.x
    out[i] = a[i] + np.float32(1)


few = np.arange(8, dtype=np.float32)
few_out = np.zeros_like(few)
add_one_in_a_block[1, 8](few_out, few)
few_out

# %% [markdown]
# A kernel returns nothing: it writes into an array that it was given.
# Eight threads executed the body once each, in no order that you may rely on.
#
# ## Threads come in blocks
#
# Can the same launch have 100,000 threads?
# `expect` says that an error should come: it shows the error, and the notebook continues.
# `emulate` runs a kernel in the emulator, even where there is a GPU, so make your deliberate mistakes there.

# %%
with expect(ValueError):
    emulate(add_one_in_a_block)[1, N](out, a)

# %% [markdown]
# ## What runs the blocks
#
# Threads come in **blocks** of limited size, and all blocks of a launch together are the **grid**.
#
# A GPU consists of **multiprocessors**.
# Each is a processor of its own, with its own arithmetic units and its own fast memory.
# The GPU hands each block of a launch to one multiprocessor that has room for it.
# The block stays there until its last thread has ended; then its room goes to a block that still waits.
#
# `cuda.get_current_device()` returns the properties of your GPU; the emulator returns an H200's.

# %%
gpu = cuda.get_current_device()
table(["property", "value"],
      [["threads in a block, at most", gpu.MAX_THREADS_PER_BLOCK],
       ["multiprocessors", gpu.MULTIPROCESSOR_COUNT],
       ["threads on one of them at a time, at most",
        gpu.MAX_THREADS_PER_MULTIPROCESSOR],
       ["blocks on one of them at a time, at most",
        gpu.MAX_BLOCKS_PER_MULTIPROCESSOR]])

# %%
# block: how long it takes, in the order in which they are handed out
lengths = {0: 4, 1: 3, 2: 5, 5: 4, 3: 4, 4: 6, 7: 5, 6: 3, 9: 4, 8: 4, 10: 5,
           11: 3}
plot_schedule(lengths, multiprocessors=3, places=2)

# %% [markdown]
# Twelve blocks on a small GPU: three multiprocessors with room for two blocks each.
# Time runs to the right. When a block ends, a waiting block takes its place, and not always the one with the next number: here block 7 starts before block 6.

# %% [markdown]
# Three rules follow:
#
# - Blocks run in any order, at the same time or one after another. CUDA promises no order, and an H200 keeps a rough one: 36,864 blocks started 549 places before or after their number, on average.
# - Blocks are independent: none may wait for another of its launch, which may not have started yet. (A special launch allows it: [Wait for one another](15_barriers_and_races.ipynb).)
# - The same grid runs on 3 multiprocessors and on 132, which run more blocks at a time.
#
# ## Which element is mine?
#
# A thread knows its number in its block, `cuda.threadIdx.x`, its block's number, `cuda.blockIdx.x`, and the size of a block, `cuda.blockDim.x`.
# From these it computes its place in the grid.
# **Each thread writes down who it is:**

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
# Kernels need this sum so often that it has a name, `cuda.grid(1)`.
#
# ## How many blocks?
#
# Enough for every element: `N / threads`, rounded up.
# The **ceiling division** `(N + threads - 1) // threads` rounds up in whole numbers.
# `N // threads + 1` would be one block too many whenever `threads` divides `N`.

# %%
threads = 256
blocks  = (N + threads - 1) // threads

blocks, blocks * threads - N

# %%
plot_grid(blocks=4, threads=8, n=29)

# %% [markdown]
# 391 blocks have 96 threads more than there are elements.
# The figure shows the same with 29 elements and blocks of 8 threads: above, the threads, each with its number in its block; below, the elements that they take.
# The last three threads find no element.
#
# **Predict.** What do those threads do if nothing stops them?
#
# <details><summary>Answer</summary>
#
# They read and write beyond the end of the arrays.
# A GPU does not compare an index with the array's size: it loads from the address, and stores to it.
# The emulator compares.
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
# The message gives the line, the array, the index, the thread and its block: it is one of the 96 threads without an element.
# What is missing is a **guard**, an `if` that keeps these threads from doing anything.
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
# Many programs write the guard as an early exit, `if i >= out.size: return`, which does the same here.
# In a kernel whose threads wait for each other, a thread that has returned is missing: [Wait for one another](15_barriers_and_races.ipynb) shows how `emulate` reports that.
#
# Fill `out` with NaN before the launch: an element that no thread wrote then cannot be right by accident.
# Here is what that finds when the grid is one block short, as after `N // threads`:

# %%
out = np.full_like(a, np.nan)
add_one[N // threads, threads](out, a)

with expect(AssertionError):
    check(out, add_one_spec(a))

# %% [markdown]
# The launch raises no error, and the end of the array is missing.
# The first index that differs, 99,840, is 390 × 256: what is missing is block 390, the last one. (99,840 is a multiple of 512, too, which is two of our blocks.)
#
# ## There and back
#
# A GPU has its own memory.
# With NumPy arrays, Numba copies all of them to the GPU before each launch, and back after it.
# For more than one launch, copy them yourself.
# The machine that runs Python is the **host**; the GPU is the **device**.

# %%
d_a = cuda.to_device(a)
d_out = cuda.device_array_like(d_a)

add_one[blocks, threads](d_out, d_a)
add_one[blocks, threads](d_out, d_out)
cuda.synchronize()

check(d_out.copy_to_host(), add_one_spec(add_one_spec(a)))

# %% [markdown]
# `to_device` copies to the device, `device_array_like` only reserves memory, and `copy_to_host` copies back.
# The second launch reads the first one's result on the device, without a copy.
#
# With device arrays a launch does not wait for the kernel to end: the next line runs meanwhile.
# (With NumPy arrays Numba waits, to copy back; the emulator always waits.)
# By default kernels run one after the other, and `copy_to_host` waits for them.
# `cuda.synchronize()` only waits.
#
# After `del d_a, d_out` Numba frees the memory, perhaps later, with that of other arrays.
#
# ## Is it faster?
#
# Here are the loop above, the same loop compiled for one CPU core with `numba.njit`, and the steps to the GPU and back, by the host's clock.
# (Recorded beside an H200: `python -m lessons.baselines journeys`.)

# %%
MANY = 2**24
steps = ("loop in Python", "loop compiled for the CPU", "copy there",
         "launch", "wait", "copy back")
took = {n: {step: baseline(f"add one to {n:,}: {step}").median_us
            for step in steps} for n in (N, MANY)}
table(["step, in µs", f"{N:,} numbers", f"{MANY:,} numbers"],
      [[step.replace("copy there", "reserve, and copy to the GPU"),
        took[N][step], took[MANY][step]] for step in steps])

# %%
many = took[MANY]
plot_stages({
    "compiled loop": {"loop": many["loop compiled for the CPU"]},
    "GPU": {"reserve, and copy to the GPU": many["copy there"],
            "launch and wait": many["launch"] + many["wait"],
            "copy back": many["copy back"]}})

# %% [markdown]
# The figure is for 16,777,216 numbers: launch and wait take 272 µs and the compiled loop 11,370, but reserving and copying take 13,082.
# With 100,000 the trip takes 45 times as long as the compiled loop.
# One addition is not worth the trip.
# (Compiling makes the loop about 6,200 times as fast with 100,000 numbers, and 615 times with 16,777,216.)
#
# A second addition needs no more copies: **leave arrays on the device.**
# With 16,777,216 the GPU is then ahead, even if its launch takes as long again.
# With 100,000 the first launch alone takes nine times as long as the loop.
#
# (Most of the 272 µs is the launch, the host's own work: the kernel takes 56. We did not find out why the larger launch takes twice as long.)

# %% [markdown]
# ## How many threads per block?
#
# `measure` times a kernel alone, on arrays on the device: the median of many launches.
# The grid has a thread for each of the 16,777,216 numbers.
# For comparison, here is a kernel that does nothing: **each thread ends at once.**

# %%
@cuda.jit
def do_nothing(out, a):
    """Each thread ends at once."""
    return


big = np.random.default_rng(1).random(MANY, dtype=np.float32)
big_out = np.zeros_like(big)
sizes = 32, 128, 256, 1024
adding = [measure(add_one, bytes=2 * big.nbytes)[MANY // t, t](big_out, big)
          for t in sizes]
nothing = [measure(do_nothing)[MANY // t, t](big_out, big) for t in sizes]

table(["threads per block", "blocks", "add_one, µs", "do_nothing, µs"],
      [[t, MANY // t, adding[place].median_us, nothing[place].median_us]
       for place, t in enumerate(sizes)])

# %% [markdown]
# With 32 and 128 threads per block, doing nothing takes as long as adding, within 3%: both wait for the GPU to start blocks, about 1,600 per microsecond.
# Few threads run meanwhile: by the H200's counters, blocks of 32 fill 9% of the room that the multiprocessors have for threads, and blocks of 256 fill 71%.
# (At each size these threads wait mostly for memory.)
# With 256 adding takes longer than starting the blocks, and with 1,024 longer still.
# So 256 is a good first choice.
#
# ## More elements than threads
#
# A grid need not have a thread for each element.
# **Each thread starts at its own element, and steps by the grid's size.**
# `cuda.gridsize(1)` is that size, the number of threads in the grid.

# %%
@cuda.jit
def add_one_striding(out, a):
    """Each thread starts at its own element, and steps by the grid's size."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + np.float32(1)


out = np.full_like(a, np.nan)
add_one_striding[32, 128](out, a)
check(out, add_one_spec(a))

room = gpu.MAX_THREADS_PER_MULTIPROCESSOR
full = {t: gpu.MULTIPROCESSOR_COUNT * min(
            room // t, gpu.MAX_BLOCKS_PER_MULTIPROCESSOR)
        for t in (32, 256, 1024)}
striding = {t: measure(add_one_striding, bytes=2 * big.nbytes)[n, t](
                big_out, big) for t, n in full.items()}
table(["threads per block", "blocks", "add_one_striding, µs"],
      [[t, full[t], m.median_us] for t, m in striding.items()])

# %%
plot_grid_stride(blocks=2, threads=8, n=29)

# %% [markdown]
# 29 elements, two blocks of 8 threads: below each thread are its elements, 16 apart, the size of the grid.
# This **grid-stride loop** fits any grid and needs no guard: `range` ends where the array does.
#
# The timed launches have as many blocks as fit at a time.
# With so few to start, blocks of 32 threads take 71 µs instead of 319; those of 256 and of 1,024 take 51 µs, less than before.
# (With 32 blocks of 32 threads, the most that fit, a multiprocessor is half full.)
#
# ## Grids with two axes
#
# For a matrix, a grid can have two axes, x and y.
# With x as the *column*, neighbouring threads access neighbouring elements.
# **Each thread adds one to the element at its column x and row y.**

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

straight = emulate(add_one_2d)[grid, (32, 8)](matrix_out, matrix)
check(matrix_out, add_one_spec(matrix))

# %%
plot_grid_2d(blocks=(2, 2), threads=(4, 3), shape=(5, 7))

# %% [markdown]
# Sizes are given as (x, y), and each axis has its own ceiling division and its own part of the guard.
# Each box is an element of a 5 × 7 matrix, with the x and y of its thread in the block. The tint is the block, and dotted boxes are threads without an element.
#
# What if x goes to the row instead?
# **Each thread adds one to the element at its row x and column y.**

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
swapped

# %% [markdown]
# The answer is right, but the report names two costs of line 6, a load and a store.
# Threads run in groups of 32, **warps**: the threads of a warp, its **lanes**, load together, in one **request**.
# Global memory is read and written in pieces of 32 bytes, **sectors**.
# With x on the column, 32 numbers of 4 bytes lie side by side in 4 sectors, the ideal.
# With x on the row they lie a row apart, each in its own sector.
# (31.2 on average: every eighth warp has only 26 rows. The ideal counts 4 for each request, 25,600 in all.)
#
# So the swapped kernel asks for 200,000 sectors, eight times the 25,000 of the other.
# [Fetch no more than you use](12_coalescing.ipynb) shows what that costs.

# %% [markdown]
# ## What an error looks like
#
# Each call to the GPU returns an error code. Numba checks it and raises an exception; a program in CUDA C++ has to check by itself.
# But a launch returns before its kernel has run, so a fault inside the kernel shows at a later call, one that waits.
# Recorded on an H200 with driver 580.159.04 and numba-cuda 0.30.4:
#
# ```text
# >>> add_one_unguarded[2**24, 256](d_out, d_a)
# >>> cuda.synchronize()
# CudaAPIError: [<CUresult.CUDA_ERROR_ILLEGAL_ADDRESS: 700>] Call to
# cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS
# >>> add_one[391, 256](out, a)
# CUDAError: CUDA_ERROR_ILLEGAL_ADDRESS: While executing a kernel, the
# device encountered a load or store instruction on an invalid memory
# address. This leaves the process in an inconsistent state and any
# further CUDA work will return the same error. To continue using CUDA,
# the process must be terminated and relaunched.
# ```

# %% [markdown]
# The second launch has no fault, but the **context**, all that the process has on the GPU, is lost. Only a new process helps.
# To find the launch at fault, call `cuda.synchronize()` after each.
#
# A fault without an error is worse: with 491 blocks instead of 391 the same kernel overwrote 25,600 elements of the next array, and no call raised anything.
#
# So *first the small case, then the profiler*:
#
# 1. the smallest size that can go wrong, with `emulate`, until `check` agrees;
# 2. sizes that are no multiple of the block;
# 3. the real size on a GPU, with `check`;
# 4. `measure`, and a profiler only if the time is too long.
#
# ## What changed
#
# | version | idea | threads | what can go wrong |
# |---|---|---|---|
# | loop | one element after the other | 1 | nothing, but it is slow |
# | one block | a thread for each element | up to 1,024 | more elements than that |
# | grid and guard | enough blocks, `if i < n` | rounded up to whole blocks | no guard; a block short |
# | grid-stride | a thread takes several | any number | forgetting the stride |
# | two axes | x to the column, y to the row | rounded up on each axis | swapped axes: right, and eight times the sectors |

# %% [markdown]
# ## On your own
#
# ★ Launch `add_one` on the 100,000 elements with 1,000 threads per block. How many blocks do you need, and how many threads have nothing to do? Guess, then try it.
#
# <details><summary>Answer</summary>
#
# 100 blocks, and every thread has an element.
# The last of the 32 warps in each block has only 8 threads, though: the next lesson shows why sizes are multiples of 32.
#
# </details>
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
#
# ★★★ `exercise("every_second")`, in the assignment: add a number to every *second* element. How few sectors can a kernel touch, and is that the ideal that the report names?
#
# <details><summary>Answer</summary>
#
# No fewer than all of them: each sector holds four elements that change. A request takes 8 sectors, twice the ideal, which counts only the bytes that the lanes ask for.
#
# ```python
# for i in range(2 * cuda.grid(1) + 1, a.size, 2 * cuda.gridsize(1)):
#     a[i] += step
# ```
#
# </details>
#
# The [assignment](assignments/01_first_kernel.ipynb) has 8 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Numba compiles a kernel at its first launch, for the types of that launch, and reports a misspelt name only then.
# Never time the first launch.
#
# `np.float32(1)` is written out because `1.0` is a float64 in Numba, and so are `a[i] + 1.0` and `a[i] + 1`.
# For this one addition the compiler sees that 32 bits give the same result, and uses them. It computes `2.0 * a[i] + 1.0` in 64 bits.
# [Read what a line becomes](31_types_and_instructions.ipynb) shows how to tell.
#
# A negative index counts from the end, in Numba as in NumPy, so `out[i - 1]` in thread 0 writes the last element without an error.
#
# Where only a GPU shows a fault, NVIDIA's `compute-sanitizer` names the thread and the address: `compute-sanitizer python program.py`.

# %% [markdown]
# ## Further reading
#
# - [Numba: writing CUDA kernels](https://numba.readthedocs.io/en/stable/cuda/kernels.html): launching, positions and grids, in Numba's own words.
# - [An even easier introduction to CUDA](https://developer.nvidia.com/blog/even-easier-introduction-cuda/): the same first steps in C++.
# - [Grid-stride loops](https://developer.nvidia.com/blog/cuda-pro-tip-write-flexible-kernels-grid-stride-loops/): when to use one.
#
# *Next:* [Keep a warp together](02_warps.ipynb): two kernels do the same work, and one needs twice as many instructions; what is so special about 32 threads?
