# %% [markdown]
# # Leave the rest to the last block
#
# *50 minutes*
#
# **What you'll do:** make a whole sum of the parts of many blocks in one launch, see it come out right in the emulator and wrong on an H200, put it right, and compare it with three other ways.
#
# **What you'll learn:**
#
# - find out which block is the last, with no block waiting
# - publish a result, then signal it, with a fence on either side
# - choose between an atomic, a second launch, the last block, and a barrier of the grid
#
# **What you'll need:** sectors, as in [Fetch no more than you use](12_coalescing.ipynb), races and barriers, as in [Wait for one another](15_barriers_and_races.ipynb), and atomics, old copies and fences, as in [Let blocks meet in L2](19_from_block_to_block.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     explore, plot_fences, table)

device

# %% [markdown]
# ## The same sum each time
#
# Each of eight blocks has a number, and the launch must end with the sum. The obvious way is an atomic of each block. A `seed` chooses in which order the emulator lets blocks add:

# %%
@cuda.jit
def add_in_any_order(out, a):
    """Each block adds its number."""
    cuda.atomic.add(out, 0, a[cuda.blockIdx.x])


tenths, sums = np.arange(1, 9, dtype=np.float32) / 10, set()
for seed in range(20):
    whole = np.zeros(1, np.float32)
    emulate(add_in_any_order, seed=seed)[8, 1](whole, tenths)
    sums.add(whole.item())
sums

# %% [markdown]
# Two sums of the same numbers, since floats round, and the rounding depends on the order. A program that is run twice should not differ.
#
# So let each block store its part in a cell of its own, and one block add up the parts, from the first to the last.
#
# **Predict.** Which block can do that, and when?

# %% [markdown]
# Not block 0, waiting for the others: a block that waits keeps its place, and CUDA does not promise the others one meanwhile.
#
# Nor the one with the highest number, since blocks come in any order. On an H200, 16 blocks lined up 1,000 times: never in the order of their numbers, and block 0 came first in a fifth of the launches.
#
# So nobody waits, and no number is chosen: the one that comes *last* does it, when all others have stored.
#
# ## Draw a ticket
#
# How does a block know that it is the last? By what an atomic returns.
# Each block stores its part and then draws a **ticket**: `cuda.atomic.add(finished, 0, 1)` returns 0 to the first, 1 to the second, and so on.

# %% [markdown]
# | | block 2 | block 0 | block 1 | `finished` |
# |---|---|---|---|---|
# | 1 | stores its part | | | 0 |
# | 2 | draws 0 | stores its part | | 1 |
# | 3 | | draws 1 | stores its part | 2 |
# | 4 | | | draws 2, the highest of three | 3 |
# | 5 | | | adds up all parts | 3 |
#
# In `total_wrong`, each of eight blocks is one thread. It adds its number to its part, as if many launches added to the same parts; so it loads its part before it stores it. The block that draws the highest ticket, `cuda.gridDim.x - 1`, adds up the parts.

# %%
@cuda.jit
def total_wrong(out, parts, finished, a):
    """Each block adds to its part; the last one adds up the parts."""
    block = cuda.blockIdx.x
    parts[block] += a[block]
    ticket = cuda.atomic.add(finished, 0, 1)
    if ticket == cuda.gridDim.x - 1:
        whole = float32(0)
        for i in range(parts.size):
            whole += parts[i]
        out[0] = whole


# %%
a = np.arange(8, dtype=np.float32)
whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
finished = np.zeros(1, np.int32)
run = emulate(total_wrong)[8, 1](whole, parts, finished, a)
check(whole, a.sum())
run.races

# %% [markdown]
# The total is right, and there is a race. And on an H200?
# It gave a wrong total in each of 1,000 launches.
#
# How can that be? The last block comes after all others, and each of these had executed its store before it drew its ticket.
#
# ## Which side went wrong?
#
# It is the letter of [Let blocks meet in L2](19_from_block_to_block.ipynb), from each block to the last one, and both sides lack their fence.
#
# - The *store* may still be on its way to L2. The ticket, drawn after it, may be counted first.
# - The *load* may find an old copy. Each block had loaded its own part, for the `+=`. All eight parts share one sector, so with its own part a block has fetched the seven others, too.
#
# Which of them was it on the H200? Change one thing at a time, always without a fence:
#
# | without fences | wrong totals in 1,000 launches |
# |---|---|
# | as above | 1,000 |
# | with `=` for `+=`, so that no block loads its part | 0 |
# | with each part in a sector of its own | 0 |

# %% [markdown]
# So it was the old copies: without them, all totals are right.
# No ticket was seen to overtake a part; but CUDA allows that, too.
#
# ## Publish, then signal
#
# So the order of a message is: store, fence, count; and on the other side: count, fence, load.
# The block that tells needs the first fence, the block that listens the second. Take either away, and see what CUDA allows the load to find:

# %%
explore(plot_fences, first=[True, False], second=[True, False])

# %% [markdown]
# A box *count* is a ticket being drawn. By its ticket block 1 learns that block 0 has drawn one before.
#
# In `total` each block may be either, so it has a fence on both sides of the ticket, and `strict=True` makes the emulator ask for both:

# %%
@cuda.jit
def total(out, parts, finished, a):
    """Each block adds to its part; the last one adds up the parts."""
    block = cuda.blockIdx.x
    parts[block] += a[block]
    cuda.threadfence()
    ticket = cuda.atomic.add(finished, 0, 1)
    cuda.threadfence()
    if ticket == cuda.gridDim.x - 1:
        whole = float32(0)
        for i in range(parts.size):
            whole += parts[i]
        out[0] = whole


# %%
sums = set()
for seed in range(20):
    whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
    finished = np.zeros(1, np.int32)
    run = emulate(total, strict=True, seed=seed)[8, 1](
        whole, parts, finished, tenths)
    sums.add(whole.item())
run.races, sums

# %% [markdown]
# No race, and one sum, whichever block is the last.
#
# **Predict.** CUDA allows an old part if either fence is missing. Without which of the two is the total wrong on an H200?

# %% [markdown]
# | `total` | wrong totals in 1,000 launches |
# |---|---|
# | with no fence | 1,000 |
# | with the first fence alone | 0 |
# | with the second fence alone | 0 |
# | with both | 0 |
#
# Neither! It is wrong only if both are missing. Probably one is enough here since either one empties the last block's L1 after its `+=` and before it loads the parts.
# That is luck again: CUDA asks for both, so write both.

# %% [markdown]
# ## A block of many threads
#
# First, the threads of a block add up their numbers, as they have counted in [Let blocks meet in L2](19_from_block_to_block.ipynb).
# From here on the numbers are `int32`, so that all ways to add them must agree to the last digit. For floats the threads of a block would add in a fixed order, too, by halving, as in the exercise at the end; nothing between blocks would change.

# %%
@cuda.jit(device=True)
def sum_by_block(a, first, step):
    """Add up every `step`-th element from each thread's first on."""
    here = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        here[0] = 0
    cuda.syncthreads()
    total = int32(0)
    for i in range(first, a.size, step):
        total += a[i]
    cuda.atomic.add(here, 0, total)
    cuda.syncthreads()
    return here[0]


# %% [markdown]
# (Between two calls there must be a barrier, lest thread 0 set the cell to 0 while others still load it.)
#
# Then the block goes on together:
#
# | | thread 0 | the others |
# |---|---|---|
# | 1 | stores the part, fences, draws, fences | |
# | 2 | stores in `last[0]` whether it drew the highest ticket | |
# | 3 | barrier | barrier |
# | 4 | loads `last[0]` | load `last[0]` |
# | 5 | if it is the last block: adds up parts | the same |
#
# What thread 0 may see after its fence, the others may see after the barrier of step 3. It works the other way round, too: where *all* threads store parts, a barrier comes before step 1, and thread 0's fence then publishes what they have stored.
#
# For the next launch, the last block sets `finished` back to 0: by an atomic, which is ordered with the tickets of the others. (Launches that run at the same time need arrays of their own.)

# %%
@cuda.jit
def sum_by_last(out, parts, finished, a):
    """Each block stores its part; the last one adds up the parts."""
    last = cuda.shared.array(1, int32)
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = part
        cuda.threadfence()
        ticket = cuda.atomic.add(finished, 0, 1)
        cuda.threadfence()
        last[0] = ticket == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        whole = sum_by_block(parts, cuda.threadIdx.x, cuda.blockDim.x)
        if cuda.threadIdx.x == 0:
            out[0] = whole
            cuda.atomic.exch(finished, 0, 0)


# %%
numbers = np.arange(5000, dtype=np.int32)
whole, finished = np.zeros((2, 1), np.int32)
parts = np.zeros(16, np.int32)
for _ in range(2):
    run = emulate(sum_by_last, strict=True)[16, 256](
        whole, parts, finished, numbers)
    check(whole, [numbers.sum()])
run.races

# %% [markdown]
# ## All blocks wait
#
# In the last block, one block goes on, and the others have ended. What if *every* block needs the whole, for instance to divide its elements by it?
#
# The simplest barrier for the whole grid is the end of the kernel: a second launch sees all that the first one stored.
#
# Within a kernel there is `cuda.cg.this_grid().sync()`, a barrier of the grid, with the fences in it.

# %%
@cuda.jit
def shares(out, parts, a):
    """Each block stores its part; all wait; all divide by the whole."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = part
    cuda.cg.this_grid().sync()
    whole = sum_by_block(parts, cuda.threadIdx.x, cuda.blockDim.x)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] / whole


out = np.zeros(numbers.size, np.float32)
run = emulate(shares)[16, 256](out, parts, numbers)
check(out, numbers / numbers.sum())
run.races

# %% [markdown]
# Now all blocks wait for all. What if one of them never gets a place?
# That cannot happen: Numba makes this a **cooperative launch**, in which all blocks are on the GPU at the same time, or the launch is refused.
# So the grid must be small. How small depends on what a block takes, here by its registers:

# %%
assemble(shares)[16, 256](out, parts, numbers).occupancy

# %% [markdown]
# On the 132 multiprocessors of an H200 that makes 660 blocks. (`emulate` knows nothing of registers: by threads alone, 1,056 would fit.) So a grid-stride loop goes through the elements.
#
# ## Which way?
#
# The table has the sum of 2²⁴ numbers by 528 blocks, all ways by turns: the parts alone, and the whole by an atomic of each block, by a second launch of one block right after the first, by the last block, and by a barrier of the grid, after which block 0 adds up the parts.

# %%
@cuda.jit
def sum_by_atomics(out, a):
    """Each block adds its part to the sum."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, part)


@cuda.jit
def sum_parts(parts, a):
    """Each block stores its part; of the parts, one block makes the whole."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = part


# %%
@cuda.jit
def sum_after_all(out, parts, a):
    """Each block stores its part, all wait, one block adds up the parts."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = part
    cuda.cg.this_grid().sync()
    if cuda.blockIdx.x == 0:
        whole = sum_by_block(parts, cuda.threadIdx.x, cuda.blockDim.x)
        if cuda.threadIdx.x == 0:
            out[0] = whole


# %%
whole[0] = 0
emulate(sum_by_atomics)[16, 256](whole, numbers)
check(whole, [numbers.sum()])

emulate(sum_parts)[16, 256](parts, numbers)
emulate(sum_parts)[1, 256](whole, parts)
check(whole, [numbers.sum()])

emulate(sum_after_all)[16, 256](whole, parts, numbers)
check(whole, [numbers.sum()])

# %% tags=["hide-input"]
# Tabulates the recorded times, and what each way is for.
USES = {
    "parts alone": "",
    "an atomic of each block": "one cell that is 0 before, in any order",
    "a second launch": "all parts, for one block or for all",
    "the last block": "all parts for one block, in one launch",
    "a barrier of the grid": "all parts for all, in one launch that fits",
}
ways = {way: baseline(f"whole sum, {way}") for way in USES}
table(["way to the whole", "µs", "for"],
      [(way, ways[way].median_us, use) for way, use in USES.items()])

# %% [markdown]
# The atomics are quickest, and quicker even than the parts alone, which do less. So not the meeting makes that difference. The compiler makes another loop of the same lines in each kernel; whether the difference comes from that, nothing here shows. (Setting to 0 is not timed.)
# The three others take within 2 µs of each other, and at most 4 more than the parts alone.
#
# So choose by what each can do:
#
# - one cell in which any order will do: an atomic of each block;
# - all parts, for one block: a second launch, which needs no fence, or the last block, where this launch must end with the whole;
# - all parts, for all blocks: a second launch, or a barrier of the grid, where all blocks fit.

# %% [markdown]
# ## On your own
#
# ★ Take the last line out of `sum_by_last`, and launch it twice with the same arrays, the second time with other numbers. What is in `out` then? Guess, and try.
#
# <details><summary>Answer</summary>
#
# The first sum. `finished` goes on from the number of blocks, so no ticket of the second launch is the highest, and no block is the last.
#
# </details>

# %% [markdown]
# ★★ `last_block`: each block of 64 threads adds up its floats by halving, as `largest` in [Wait for one another](15_barriers_and_races.ipynb) finds the largest, and the last one adds up the parts. Thread 0 may do that alone.

# %%
task = exercise("last_block")
task

# %%
@cuda.jit
def last_block(out, parts, finished, a):
    """Each block makes its part; the last one to finish makes the whole."""
    # your code, about 20 lines


task.check(last_block)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def last_block(out, parts, finished, a):
#     """Each block makes its part; the last one to finish makes the whole."""
#     tile = cuda.shared.array(64, float32)
#     thread = cuda.threadIdx.x
#     i = cuda.grid(1)
#     tile[thread] = a[i] if i < a.size else float32(0)
#     half = 32
#     while half > 0:
#         cuda.syncthreads()
#         if thread < half:
#             tile[thread] = tile[thread] + tile[thread + half]
#         half //= 2
#     if thread == 0:
#         parts[cuda.blockIdx.x] = tile[0]
#         cuda.threadfence()
#         ticket = cuda.atomic.add(finished, 0, 1)
#         cuda.threadfence()
#         if ticket == cuda.gridDim.x - 1:
#             whole = float32(0)
#             for i in range(parts.size):
#                 whole = whole + parts[i]
#             out[0] = whole
# ```
#
# One thread stores, draws and loads, so no barrier is needed after the sum.
# If the last block also sets `finished` back to 0, by an atomic, that is as right.
#
# </details>

# %% [markdown]
# ★★★ `exercise("sums_of_all")`, in the assignment: all threads store parts, and all threads of the last block add them up.
#
# The [assignment](assignments/20_the_last_block.ipynb) has 4 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# `python -m tests.on_gpu.race_outcomes` repeats this page's 1,000 launches on a GPU, and `python -m lessons.baselines meetings` the last table.
#
# [Add up an array as fast as it can be read](25_reduction.ipynb) has the last block at its end.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, memory fence functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#memory-fence-functions): what a fence promises, and the last-block pattern.
# - [Cooperative groups](https://developer.nvidia.com/blog/cooperative-groups/): barriers for a warp, a block and a grid.
#
# *Next:* [Transpose a matrix nearly as fast as a copy](21_transpose.ipynb): a transpose must run down a column on one side; can it be as fast as a copy all the same?
