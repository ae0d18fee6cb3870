# %% [markdown]
# # Write your first kernel
#
# *50 minutes*
#
# **What you'll do:** add one to 100,000 numbers, first with a loop and then with 100,000 threads, find out which way is faster for 16 million, and read what tools say of mistakes.
#
# **What you'll learn:**
#
# - write a kernel, and launch it on enough blocks of threads for any number of elements
# - say what a multiprocessor does with blocks, and what you may not assume about their order
# - move arrays to the GPU and back, and say when a launch has finished and what the trip costs
# - recognise a missing guard, a grid that is too short and a block that is too large
#
# **What you'll need:** Python with NumPy. You need no GPU, and no knowledge of one.

# %%
import numpy as np
from numba import cuda

from helpers import (baseline, check, compare, device, emulate, exercise,
                     expect, measure, plot_chains, plot_grid, plot_grid_2d,
                     plot_grid_stride, plot_schedule, plot_stages, table)

device

# %% [markdown]
# ## What is left of a loop?
#
# Here is a loop that adds one to each of 100,000 numbers.
# No number depends on another. If all additions happened at once, what would be left of the loop?

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
# `check` compares an array with what you expect, and says where they differ.
#
# ## What is a GPU built for?
#
# A core of a CPU is built to finish one chain of instructions soon.
# But this loop does not need its first sum early; it needs all sums soon.
# A GPU is built for *many* chains, each of which may be slow.
#
# It has thousands of arithmetic units. But a chain must wait for its numbers to come from memory, which takes [hundreds of cycles](11_memory_hierarchy.ipynb).
# What could its unit do meanwhile?

# %%
plot_chains(steps=3, work=1, wait=3, chains=(1, 4))

# %% [markdown]
# In this model a chain waits three times as long as it works.
# One chain leaves its unit idle most of the time. With four, each chain still waits, but the unit always finds one that is ready.
#
# Real waits are longer, so a GPU needs far more chains than units. An H200 has room for 270,336 at a time.
# Each of them is a **thread**.

# %% [markdown]
# ## One thread for each element
#
# So give each element a thread of its own.
# Then the loop is gone, and only its body is left: `out[i] = a[i] + 1`.
# But all threads execute the same body, so each must find out which `i` is its own.
# It asks for its number, `cuda.threadIdx.x`: 0 in the first thread, 1 in the second.
#
# A function that many threads run is a **kernel**, and `@cuda.jit` makes one.
# A **launch** starts it: `kernel[1, 8](...)` runs it in one block of eight threads, on the GPU or, where there is none, in an emulator.
# (`np.float32(1)` keeps the sum in 32 bits.)

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
# Each thread executed the body once.
# A kernel returns nothing: it writes into an array that it was given.
#
# **Your turn.** Make this kernel double each number: change its last line, and run the cell until both rows agree.

# %%
@cuda.jit
def double(out, a):
    """Each thread doubles its own element."""
    i = cuda.threadIdx.x
    out[i] = 0  # your line instead


double[1, 8](few_out, few)
np.array([few_out, few + few])

# %% [markdown]
# <details><summary>Solution</summary>
#
# `out[i] = a[i] + a[i]`, and both rows are 0, 2, 4 and so on up to 14.
#
# </details>
#
# ## Threads come in blocks
#
# Can the same launch have 100,000 threads?
# `emulate` runs a kernel in the emulator even where there is a GPU. It checks each access and counts what the kernel does, so it is the place for deliberate mistakes.
# `expect` says that an error should come: it shows the error, and the notebook goes on.

# %%
with expect(ValueError):
    emulate(add_one_in_a_block)[1, N](out, a)

# %% [markdown]
# Why is there a limit?
# Because a **block** (CUDA also says *thread block* or **CTA**) is never split: its threads may share a fast memory and wait for one another.
# So all of it must fit into one place, a **multiprocessor** (NVIDIA says *streaming multiprocessor*, **SM**); CUDA allows it 1,024 threads.
#
# A GPU consists of many multiprocessors. Each has arithmetic units, a fast memory, and room for a limited number of threads.
# `cuda.get_current_device()` returns the properties of your GPU; the emulator returns an H200's.

# %%
gpu = cuda.get_current_device()
table(["property", "value"],
      [["threads in a block, at most", gpu.MAX_THREADS_PER_BLOCK],
       ["multiprocessors", gpu.MULTIPROCESSOR_COUNT],
       ["threads on one of them at a time, at most",
        gpu.MAX_THREADS_PER_MULTIPROCESSOR]])

# %% [markdown]
# 132 multiprocessors with room for 2,048 threads each: these are the 270,336.
#
# All blocks of a launch together are the **grid**.
# The GPU hands each block to a multiprocessor that has room for it, and there it stays until its last thread has ended.
# In which order do they start?

# %% tags=["hide-input"]
# Draws blocks that take so long, in the order in which they are handed out.
lengths = {0: 4, 1: 3, 2: 5, 5: 4, 3: 4, 4: 6, 7: 5, 6: 3, 9: 4, 8: 4, 10: 5,
           11: 3}
plot_schedule(lengths, multiprocessors=3, places=2)

# %% [markdown]
# Here are twelve blocks on a small GPU: three multiprocessors with room for two blocks each.
# When a block ends, a waiting block takes its place, and that need not be the next one by number: in this drawing, whose times are made up, block 7 starts before block 6.
#
# CUDA promises no order: build on none.
# No block may wait for one that may not have started yet: that one may be waiting for its room.
# The same grid runs on a small GPU and on a large one, which runs more blocks at a time.
#
# ## Which element is mine?
#
# With more than one block, the number of a thread in its block is not enough.
# A thread also knows its block's number, `cuda.blockIdx.x`, and the size of a block, `cuda.blockDim.x`.
# How does it compute its place in the whole grid?
# It counts the threads of all blocks before its own, and adds its number in its block.
#
# **Your turn.** Write that as the last line, and run the cell until the three blocks of four threads have the places 0 to 11, a row for each block.

# %%
@cuda.jit
def find_place(places):
    """Each thread writes down its place in the grid."""
    block, thread = cuda.blockIdx.x, cuda.threadIdx.x
    places[block, thread] = 0  # your line instead


places = np.zeros((3, 4), np.int32)
find_place[3, 4](places)
places

# %% [markdown]
# <details><summary>Solution</summary>
#
# `places[block, thread] = block * cuda.blockDim.x + thread`: block 2 has two blocks of four threads before it, so its threads are 8 to 11.
#
# </details>
#
# This sum has a name, `cuda.grid(1)`; the 1 is the number of axes.
#
# ## How many blocks?
#
# Enough for every element: `N / threads`, rounded up.
# The **ceiling division** `(N + threads - 1) // threads` does that in whole numbers.

# %%
threads = 256
blocks  = (N + threads - 1) // threads

blocks, blocks * threads - N

# %% [markdown]
# 391 full blocks, so there are 96 threads more than elements.
# The same with 29 elements, below the threads that take them:

# %%
plot_grid(blocks=4, threads=8, n=29)

# %% [markdown]
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
# What is missing is a **guard**, an `if` that lets a thread do something only if it has an element.

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
# **Your turn.** This kernel subtracts each element of `x` from the next one, so `out` has one element fewer than `x`.
# But its guard lets one thread too many in. Correct that line; `exercise` has a check that launches the kernel at several sizes.

# %%
@cuda.jit
def fix_guard(out, x):
    """Each thread that has an element combines it with the next one."""
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = x[i + 1] - x[i]


exercise("fix_guard").check(fix_guard)

# %% [markdown]
# <details><summary>Solution</summary>
#
# `if i < out.size:`, because the last index is `out.size - 1`.
#
# </details>
#
# Before `add_one`, `out` was full of NaN: what no thread writes stays NaN, and cannot pass for a result.
#
# **Predict.** If the grid is one block short, as after `N // threads`, what does the launch say, and what does `check`?

# %%
out = np.full_like(a, np.nan)
add_one[N // threads, threads](out, a)

with expect(AssertionError):
    check(out, add_one_spec(a))

# %% [markdown]
# The launch raises no error.
# The first index that differs is 390 × 256, so what is missing is block 390, the last one.
#
# ## To the GPU and back
#
# A GPU has its own memory, and our kernels use nothing else.
# The machine that runs Python is the **host**; the GPU is the **device**.
# If you launch a kernel with NumPy arrays, Numba copies all of them to the device first, and back afterwards.
# For more than one launch, copy them yourself:
#
# - `to_device` reserves memory on the device, and copies an array there,
# - `device_array_like` only reserves it,
# - `copy_to_host` copies back.

# %%
d_a = cuda.to_device(a)
d_out = cuda.device_array_like(d_a)

add_one[blocks, threads](d_out, d_a)
add_one[blocks, threads](d_out, d_out)

check(d_out.copy_to_host(), add_one_spec(add_one_spec(a)))

# %% [markdown]
# The second launch reads the first one's result where it is, without a copy.
#
# With device arrays a launch does not wait for its kernel: Python goes on to the next line while the GPU works.
# Such kernels still run one after the other, and `copy_to_host` waits for them. To wait without a copy, call `cuda.synchronize()`.
#
# ## Is it faster?
#
# **Predict.** 16,777,216 numbers lie in a NumPy array, and so must the sums at the end. Which is faster: a loop on one core of the CPU, compiled by `numba.njit`, or the GPU? And which of the GPU's steps takes longest?
#
# (These times were recorded on an NVIDIA H200 and one core of an Intel Xeon.)

# %% tags=["hide-input"]
# Draws how long the loop and each step of the trip took, as recorded.
MANY = 2**24


def took(n, step):
    """The recorded time of a step, for `n` numbers."""
    return baseline(f"add one to {n:,}: {step}").median_us


def trip(n):
    """The steps of the GPU's way."""
    return {"reserve": took(n, "reserve"),
            "copy there": took(n, "copy there"),
            "launch and wait": took(n, "launch") + took(n, "wait"),
            "copy back": took(n, "copy back")}


loop = {"loop": took(MANY, "loop compiled for the CPU")}
plot_stages({"compiled loop": loop, "GPU": trip(MANY)})

# %% [markdown]
# Here the loop wins: of the GPU's steps, copying there takes longest, and copying there and back takes longer than the whole loop.
# But launching and waiting take less than a thirtieth of the loop's time, and a second addition needs no more copies.
# If a second loop and launch take as long, the GPU is ahead from then on.
# So **leave arrays on the device**, and bring them back when all the work is done.
#
# Most of "launch and wait" is the call, in which the CPU hands the launch over.
# In a trip with only 100,000 numbers, the call alone takes nine times as long as the whole compiled loop: the work must be worth it.

# %% [markdown]
# <details><summary>For the curious: pinned memory</summary>
#
# `cuda.pinned_array` makes an array in pinned memory, which the operating system never moves.
# Such memory the GPU can copy from and to by itself; other arrays go [through a copy of the driver's](https://developer.nvidia.com/blog/how-optimize-data-transfers-cuda-cc/).
# With pinned arrays copying takes a fifth of the time, and the GPU wins even with one addition.
# But to make the two takes more than four times as long as the loop, so it pays only for arrays that you use again and again.
#
# </details>
#
# ## How many threads per block?
#
# The GPU has to start each block, which takes time even if the block does nothing.
# So we time a kernel that does nothing, too.
# `measure` times a kernel alone, without the call, on arrays that are on the device, and takes the median of many launches.
#
# **Predict.** One thread for each of the 16,777,216 numbers, in blocks of 32, 128, 256 or 1,024: which is fastest?

# %%
@cuda.jit
def do_nothing(out, a):
    """Each thread ends at once."""
    return


# %% tags=["hide-input"]
# Measures both kernels with a thread for each number, in blocks of four sizes.
big = np.random.default_rng(1).random(MANY, dtype=np.float32)
big_out = np.zeros_like(big)
sizes = 32, 128, 256, 1024
adding = [measure(add_one)[MANY // t, t](big_out, big) for t in sizes]
nothing = [measure(do_nothing)[MANY // t, t](big_out, big) for t in sizes]

compare({t: pair for t, *pair in zip(sizes, nothing, adding, strict=True)},
        {"doing nothing, µs": lambda pair: np.round(pair[0].median_us),
         "adding one, µs": lambda pair: np.round(pair[1].median_us)},
        by="threads per block")

# %% [markdown]
# With small blocks, adding takes as long as doing nothing, within 3%: the GPU is busy starting blocks, about 1,600 in each microsecond (524,288 blocks of 32 threads in 319 µs).
# With 256 threads a block, the kernel's own work shows: adding takes longer than starting the blocks does.
# Of these four, 256 is the fastest, and a good first choice. (Why, these times do not say.)
#
# ## More elements than threads
#
# Can one grid fit every size? Then a thread may have to take several elements. Which?
# It begins with its own, and then steps by the number of threads in the grid, `cuda.gridsize(1)`, so that neighbouring threads still take neighbouring elements:

# %%
plot_grid_stride(blocks=2, threads=8, n=29)

# %% [markdown]
# Below each thread are its own elements, 16 apart.
# In the kernel, that is a `range` with a step:

# %%
@cuda.jit
def add_one_striding(out, a):
    """Each thread starts at its own element, and steps by the grid's size."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + np.float32(1)


strided = [np.full(n, np.nan, np.float32) for n in (29, 3_000, N)]
for part in strided:
    add_one_striding[32, 128](part, a[:part.size])

check(np.concatenate(strided),
      np.concatenate([add_one_spec(a[:part.size]) for part in strided]))

# %% [markdown]
# The same launch was right for 29, 3,000 and 100,000 numbers.
# This **grid-stride loop** needs no guard, either: `range` ends where the array does.
#
# Without the step, `range(cuda.grid(1), out.size)`, each thread would go on to the end. That gives the same sums here, but with `a[i] += 1` many threads would add to one element, a [race](15_barriers_and_races.ipynb).
#
# ## Grids with two axes
#
# A matrix has rows and columns. So that no thread must compute both from one number, a grid may have two axes, x and y.
# Sizes are given as (x, y), and `cuda.grid(2)` returns both numbers.
# Each axis has its own part of the guard and its own ceiling division, such as `(COLS + 31) // 32` for blocks 32 wide.
# Let x be the *column*, and y the row.

# %%
plot_grid_2d(blocks=(2, 2), threads=(4, 3), shape=(5, 7))

# %% [markdown]
# Each box is an element of a matrix, with the x and y of its thread in the block. The tint is the block, and dotted boxes are threads without an element.

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

# %% [markdown]
# What if x goes to the row instead?
# [32 threads](02_warps.ipynb), here a row of a block, load or store at once: a *request*. Memory is divided into *sectors* of 32 bytes, so 32 numbers side by side fill four.
#
# **Predict.** How many sectors does a request touch whose numbers lie one below the other?
#
# <details><summary>Answer</summary>
#
# One for each number, 32 in a full request: the rows of the matrix are far apart.
#
# </details>

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
compare({"x to the column": straight, "x to the row": swapped},
        "sectors per request")

# %% [markdown]
# The result is right. But with x to the column, a request touches four sectors, or two at the end of a row. With x to the row, the launch touches eight times as many.
# [Another page](12_coalescing.ipynb) shows what that costs. Until then: **x goes to the column**.

# %% [markdown]
# ## What an error looks like
#
# A launch may return before its kernel has run, so a fault in the kernel may show only at a later call, at the latest at one that waits.
# Here 2²⁴ *blocks* run far beyond the arrays, recorded on an H200 with driver 580.159.04 and numba-cuda 0.30.4:
#
# ```text
# >>> add_one_unguarded[2**24, 256](d_out, d_a)
# >>> cuda.synchronize()
# CudaAPIError: [<CUresult.CUDA_ERROR_ILLEGAL_ADDRESS: 700>] Call to
# cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS
# >>> add_one[391, 256](out, a)
# CUDAError: CUDA_ERROR_ILLEGAL_ADDRESS: While executing a kernel, the
# device encountered a load or store instruction on an invalid memory
# address. [...]
# ```

# %% [markdown]
# The second launch has no fault, but the **context**, all that the process has on the GPU, is lost: only a new process helps.
# To find the launch at fault, call `cuda.synchronize()` after each.
#
# A fault without an error is worse.
# Without a guard, a few blocks too many may write into the next array, which is the program's, too: no call raises anything.
#
# So `emulate` the smallest size that can go wrong, then sizes that are no multiple of the block; then `check` the real size on a GPU, and only then look at the clock.
#
# ## What changed
#
# A kernel is the body of a loop. The launch says how often it runs, and each thread finds out which `i` is its own.
#
# | version | idea | threads | what can go wrong |
# |---|---|---|---|
# | loop | one element after the other | 1 | nothing; compiled, it wins if each number is used once |
# | one block | a thread for each element | up to 1,024 | more elements than that |
# | grid and guard | enough blocks, `if i < n` | rounded up to whole blocks | no guard; a block short |
# | grid-stride | a thread takes several | any number | forgetting the stride |
# | two axes | x to the column, y to the row | rounded up on each axis | swapped axes: right, but eight times as many sectors |

# %% [markdown]
# ## On your own
#
# ★ Launch `add_one` on the 100,000 elements with 1,000 threads per block. How many blocks do you need, and how many threads have nothing to do?
#
# <details><summary>Answer</summary>
#
# 100 blocks, and every thread has an element.
# But 1,000 is no multiple of 32, and the next lesson shows why sizes should be.
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
# ★★★ `exercise("every_second")`, in the assignment: add a number to every *second* element. How few sectors can a kernel touch?
#
# <details><summary>Answer</summary>
#
# No fewer than all of them: each sector holds four elements that change.
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
# Numba compiles a kernel at its first launch, for the types of that launch. So never time the first launch, and expect a misspelt name to be reported only then.
#
# The types of constants count, too: `a[i] + 1.0` is a float64, and so is `a[i] + 1`. Cast them, as in `np.float32(1)`; [see what that saves](31_types_and_instructions.ipynb).
#
# A negative index counts from the end, so `out[i - 1]` in thread 0 writes the last element.
# Where only a GPU shows a fault, NVIDIA's `compute-sanitizer python program.py` names the thread and the address.

# %% [markdown]
# ## Further reading
#
# - [Numba: writing CUDA kernels](https://numba.readthedocs.io/en/stable/cuda/kernels.html): in Numba's own words.
# - [An even easier introduction to CUDA](https://developer.nvidia.com/blog/even-easier-introduction-cuda/): the same first steps in C++.
# - [Grid-stride loops](https://developer.nvidia.com/blog/cuda-pro-tip-write-flexible-kernels-grid-stride-loops/): when to use one.
#
# *Next:* [Keep a warp together](02_warps.ipynb): two kernels do the same work, and one needs twice as many instructions; why?
