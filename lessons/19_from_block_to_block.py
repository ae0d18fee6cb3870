# %% [markdown]
# # Let blocks meet in L2
#
# *55 minutes*
#
# **What you'll do:** let thousands of blocks count together, find out where they queue, and let one block tell another a number that it does not see.
#
# **What you'll learn:**
#
# - change a cell that all blocks share, with an atomic
# - let few of them meet there
# - see what another block has stored, though L1s do not agree
#
# **What you'll need:** L1 and L2, as in [Know where a number lives](11_memory_hierarchy.ipynb), sectors, as in [Fetch no more than you use](12_coalescing.ipynb), shared memory, as in [Use a tile where it pays](13_shared_memory.ipynb), and races and barriers, as in [Wait for one another](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import (check, compare, device, emulate, exercise, measure,
                     plot_letter, plot_meeting)

device

# %% [markdown]
# ## How many threads are there?
#
# The 4,096 threads of 16 blocks count themselves: each adds 1 to the same cell.
#
# **Predict.** What is the count?

# %%
@cuda.jit
def count_wrong(out):
    """Each thread counts itself."""
    out[0] += 1


count = np.zeros(1, np.int32)
run = emulate(count_wrong)[16, 256](count)
count, run.races[0]

# %% [markdown]
# The emulator counts 8 threads. An H200 counted 1, in each of 1,000 launches. How can that be? The line is three steps: load, add, store. Another thread may come between:
#
# | step | one thread | another thread | the cell |
# |---|---|---|---|
# | 1 | loads 0 | | 0 |
# | 2 | | loads 0 | 0 |
# | 3 | stores 1 | | 1 |
# | 4 | | stores 1 | 1 |
#
# Two additions, and the cell holds 1: a **lost update**. A 1 at the end says that the thread that stored last had loaded the 0 of the start. (The emulator lets the eight warps of a block come one after another, and all blocks at the same time: one update of each warp is left.)
#
# A barrier would not help. It waits for its own block alone; and between load and store it would let all load first, and lose as many.

# %% [markdown]
# ## One step that nobody can divide
#
# Which thread comes first does not matter here, only that no other comes between its load and its store.
#
# An **atomic** loads, changes and stores a cell in one step. `cuda.atomic.add(out, 0, 1)` adds 1 to `out[0]`.
# There are others: `max`, whose cell must begin with a value that is small enough; `exch`, which only puts a new value in; `cas`, which does so if it finds a given old one. Each returns the cell's value from before.
# Atomics do not race with one another: each order of them is allowed, and each gives the same count. With a plain load or store of the cell, they do.

# %% [markdown]
# Where is that step done? Each multiprocessor has an L1 of its own, in which no other one looks. The first that all share is L2. So that is where it is done, past the L1s: **blocks meet in L2**.

# %%
plot_meeting([5] * 4)

# %% [markdown]
# Four blocks change the same cell, and an arrow is an atomic. Here is the count:

# %%
@cuda.jit
def count_atomically(out):
    """Each thread counts itself with an atomic."""
    cuda.atomic.add(out, 0, 1)


count = np.zeros(1, np.int32)
run = emulate(count_atomically)[16, 256](count)
check(count[0], 4096)
run.races

# %% [markdown]
# A sum of floats may come out a little different each time, since rounding depends on the order: on an H200 the same 65,536 floats gave 103 different sums in 1,000 launches.
#
# ## What does it cost?
#
# Now 65,536 blocks of 256 threads count. The first row is a kernel that does nothing: it shows what starting and ending the blocks takes.

# %%
@cuda.jit
def end_at_once(out):
    """Each thread ends at once."""


# %% tags=["timing", "hide-input"]
# Measures the kernel without work, the race, and the atomics.
BLOCKS = 2**16
counts = np.zeros(BLOCKS, np.int32)
no_work, race, one_cell = (
    measure(kernel)[BLOCKS, 256](counts)
    for kernel in (end_at_once, count_wrong, count_atomically))
compare({"no work": no_work, "a race": race, "atomics on one cell": one_cell},
        "µs")

# %% [markdown]
# The atomics take 6.5 times as long as the race, though the compiler has joined those of each warp to one, which leaves half a million.
# Are atomics slow? Or is it slow that all blocks meet in one place?
#
# To find out, let each block have a cell of its own. There are as many atomics as before.
#
# **Predict.** How long does it take?

# %%
@cuda.jit
def count_apart(out):
    """Each thread counts itself in a cell of its block."""
    cuda.atomic.add(out, cuda.blockIdx.x, 1)


# %% tags=["timing", "hide-input"]
# Checks it on a few blocks, and measures it on all.
few = np.zeros(16, np.int32)
emulate(count_apart)[16, 256](few)
check(few, np.full(16, 256))
own_cells = measure(count_apart)[BLOCKS, 256](counts)
compare({"no work": no_work, "atomics on one cell": one_cell,
         "atomics on a cell for each block": own_cells}, "µs")

# %% [markdown]
# Hardly longer than no work. So an atomic alone is not slow. (The race tells nothing of what an atomic costs: its loads find the cell in L1.) Slow are atomics that *meet*, for they queue:

# %%
plot_meeting([1, 4, 8, 13])

# %% [markdown]
# With a place for each block, few meet.
#
# Then is it the *cell*? Let the blocks share eight cells, each with an eighth of the atomics, and change how far these are apart.
#
# **Predict.** How much do eight cells side by side save?

# %%
def make_count_in_eight(apart):
    """A kernel with eight cells, one at each multiple of `apart`."""
    @cuda.jit
    def count_in_eight(out):
        """Each thread counts itself in one of eight cells."""
        cuda.atomic.add(out, cuda.blockIdx.x % 8 * apart, 1)
    return count_in_eight


# %% tags=["timing", "hide-input"]
# Measures eight cells at four distances, beside one cell.
in_eight = {apart: measure(make_count_in_eight(apart))[BLOCKS, 256](counts)
            for apart in (1, 8, 32, 4096)}
compare({"one": one_cell, "eight, side by side": in_eight[1],
         "eight, 32 bytes apart": in_eight[8],
         "eight, 128 bytes apart": in_eight[32],
         "eight, 16 KiB apart": in_eight[4096]}, "µs", by="cells")

# %% [markdown]
# Side by side they save nothing, a sector for each next to nothing, 128 bytes about half, and 16 KiB nearly all.
# So atomics do not queue for a cell, but for a place that is larger than a sector.
#
# And the cells of all blocks, which cost nothing, did they not stand side by side? They did; but some thousand blocks run at a time, whose cells are 4 KiB, and these are probably several places.
#
# ## Meet less often
#
# But one count was wanted.
# So let the threads of a block first count together in shared memory. Then one thread adds the block's count to the one cell.
# To give each block a copy of its own, and to add up the copies at the end, is called **privatization**.
#
# The block waits twice: the cell in shared memory must hold 0 before anybody adds, and the whole count before thread 0 loads it.
# With `apart`, each block adds in a cell of its own again, to see what meeting still costs.

# %%
def make_count_by_blocks(apart):
    """A kernel whose blocks add in one cell, or in a cell for each block."""
    @cuda.jit
    def count_by_blocks(out):
        """The threads of a block count together; thread 0 adds for them."""
        here = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 0:
            here[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(here, 0, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, cuda.blockIdx.x if apart else 0, here[0])
    return count_by_blocks


count_by_blocks = make_count_by_blocks(apart=False)
count = np.zeros(1, np.int32)
run = emulate(count_by_blocks)[16, 256](count)
check(count[0], 4096)
run.races

# %% tags=["timing", "hide-input"]
# Measures the kernel, and the same with a cell for each block.
by_blocks, by_blocks_apart = (
    measure(make_count_by_blocks(apart))[BLOCKS, 256](counts)
    for apart in (False, True))
compare({"one cell": by_blocks, "a cell for each block": by_blocks_apart},
        "µs", by="an atomic for each block")

# %% [markdown]
# Meeting took 343 of 387 µs; now it costs 8.
# There is an eighth of the atomics, which need some 48 µs in their queue, but at the same time the blocks need 43 to start and end, so little of it shows.
#
# The rule: add up within the block, and send one atomic for each block.
#
# ## Does the message arrive?
#
# An atomic changes one cell. Often there is more to tell: a block stores something in *another* cell, and then says so with an atomic. Does a block that sees the atomic see the other cell, too?
#
# Two blocks of one thread try it, a writer and a reader. `box` holds two zeros, `flag` one:
#
# | | block 0, the writer | block 1, the reader | `flag` |
# |---|---|---|---|
# | 1 | waits for a 1 | loads `box[1]` | 0 |
# | 2 | | adds 1 to the flag | 1 |
# | 3 | stores 42 in `box[0]` | waits for a 2 | 1 |
# | 4 | adds 1 to the flag | | 2 |
# | 5 | | loads `box[0]` | 2 |

# %% [markdown]
# Why does a block that waits not load the flag? It might find a copy in its own L1, again and again. So it adds 0, by an atomic, which is done in L2.
#
# The writer's **fence**, `cuda.threadfence()` (NVIDIA: *memory fence*), waits until the letter is in L2. Only then the writer adds to the flag. (With `after`, the reader has a fence, too: that is for later.)
#
# The reader adds `1 + beside`, which is 1: so its atomic must wait for the load, and it has surely looked.
#
# **Predict.** What does the reader load at the end?

# %%
def make_letter(after):
    """A letter from block to block, with or without the reader's fence."""
    @cuda.jit
    def letter(out, box, flag):
        """Block 1 looks in the box, block 0 fills it, block 1 looks again."""
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) < 1:
                pass
            box[0] = 42
            cuda.threadfence()
            cuda.atomic.add(flag, 0, 1)
        else:
            beside = box[1]
            cuda.atomic.add(flag, 0, 1 + beside)  # waits for the load
            while cuda.atomic.add(flag, 0, 0) < 2:
                pass
            if after:
                cuda.threadfence()
            out[0] = box[0]
    return letter


# %%
out, box, flag = (np.zeros(cells, np.int32) for cells in (1, 2, 1))
emulate(make_letter(after=False))[2, 1](out, box, flag)
out

# %% [markdown]
# In the emulator, 42. On an H200 the old number, 0, in each of 1,000 launches.
# But the letter was in L2 before the flag was set!
#
# (Blocks that wait for one another need room at the same time. On an H200 with nothing else to do, two have it. Of thousands, those that wait would keep the room that the others need.)
#
# ## L1s do not agree
#
# The letter is in L2, but that is not where the reader looks first. Its load asks its own L1.
#
# Each L1 keeps copies, and nobody tells one L1 what went through another: L1s are not **coherent**.
# But had the reader's L1 a copy of `box[0]`? The reader had loaded only `box[1]`. L1 copies whole sectors, and the two share one.

# %%
plot_letter(fence=False)

# %% [markdown]
# Time runs to the right, from when the reader has looked, and arrows show what is sent where; the blocks are on two multiprocessors.
# What the reader *asks* goes to L2 and comes back with the new flag. What it *loads* goes no further than its L1, to the old copy.
#
# ## See the signal, then look
#
# A fence orders what its thread does before it and after it, and waits for no other thread.
# The writer's has done one thing; each can do two:
#
# - *For the one who tells:* what the thread has stored before is seen before what it does next. For this, an H200 waits until it is in L2.
# - *For the one who listens:* what the thread loads next is no older than the signal that it has seen. For this, an H200 empties the multiprocessor's L1.

# %% [markdown]
# The writer has its fence. The reader needs one, too, between the flag and the load: `after=True`.

# %%
plot_letter(fence=True)

# %% [markdown]
# The old copy is gone, and the load goes on to L2. On an H200:
#
# | the reader | old numbers in 1,000 launches |
# |---|---|
# | looks at `box[1]` first, has no fence | 1,000 |
# | looks first, has the fence | 0 |
# | does not look first, has no fence | 0 |
#
# The last row shows that it was the copy: without it, nothing old is found, even without the fence. That is luck: another thread of the multiprocessor may have fetched the sector before. CUDA promises the new number only with both fences.
#
# The emulator has no caches, so there the letter always arrives. But with `strict=True` it asks for the second fence, and calls it a race without:

# %%
arrays = [np.zeros(cells, np.int32) for cells in (1, 2, 1)]
run = emulate(make_letter(after=False), strict=True)[2, 1](*arrays)
run.races

# %%
arrays = [np.zeros(cells, np.int32) for cells in (1, 2, 1)]
run = emulate(make_letter(after=True), strict=True)[2, 1](*arrays)
run.races

# %% [markdown]
# So blocks meet in L2. Who changes a cell there queues there: let few meet.
# And who looks elsewhere may see what was: store, fence, signal on one side; signal, fence, load on the other.
#
# <details><summary>For the curious: what a fence becomes</summary>
#
# `assemble` shows the fence's two things as two instructions: `MEMBAR.SC.GPU`, which waits, and `CCTL.IVALL`, which makes all lines of L1 invalid.
#
# </details>
#
# ## On your own
#
# ★ 65,536 blocks of 256 threads count by `count_by_blocks`. With blocks of 1,024 threads, and as many threads in all, how many atomics go to L2?
#
# <details><summary>Answer</summary>
#
# 16,384: one for each block, and there are a quarter as many. The others are in shared memory.
#
# </details>

# %% [markdown]
# ★ `highest`: each block halves its elements until the largest is left, as `largest` does in [Wait for one another](15_barriers_and_races.ipynb). Then the blocks meet, and some results get lost.

# %%
task = exercise("highest")
task

# %%
@cuda.jit
def highest(out, a):
    """Each block finds its largest element; thread 0 takes it to `out`."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[min(cuda.grid(1), a.size - 1)]
    half = 32
    while half > 0:
        cuda.syncthreads()
        if thread < half and tile[thread + half] > tile[thread]:
            tile[thread] = tile[thread + half]
        half //= 2
    if thread == 0:
        if tile[0] > out[0]:
            out[0] = tile[0]


task.check(highest)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def highest(out, a):
#     """Each block finds its largest element; thread 0 takes it to `out`."""
#     tile = cuda.shared.array(64, float32)
#     thread = cuda.threadIdx.x
#     tile[thread] = a[min(cuda.grid(1), a.size - 1)]
#     half = 32
#     while half > 0:
#         cuda.syncthreads()
#         if thread < half and tile[thread + half] > tile[thread]:
#             tile[thread] = tile[thread + half]
#         half //= 2
#     if thread == 0:
#         cuda.atomic.max(out, 0, tile[0])
# ```
#
# Between the load of `out[0]` and the store, another block may store a larger element. With `max` nothing comes between. (To ask `tile[0] > out[0]` first would still be a race: it is a plain load.)
#
# </details>

# %% [markdown]
# ★ `exercise("message")`, in the assignment: a letter of many numbers, whose two fences are both at the wrong place.
#
# ★★ `exercise("dot")`, there, too: a dot product with one atomic for each block. Each thread adds another number, and in a *shared* cell, too, atomics queue: `emulate` counts that as bank conflicts, and the budget has none. So let the block halve, as in `highest`.
#
# The [assignment](assignments/19_from_block_to_block.ipynb) has 5 exercises, these three among them.

# %% [markdown]
# ## In practice
#
# `compute-sanitizer --tool racecheck` looks at shared memory only, so it finds none of this page's races between blocks. The emulator does, and with `strict=True` a missing second fence, too; the exercises ask for that.
#
# `python -m tests.on_gpu.race_outcomes` repeats this page's 1,000 launches on a GPU.
#
# A store can have the first fence in it, and a load the second: CUDA calls them *release* and *acquire*. With them, blocks pass their sums on in [Scan an array in one pass](26_scan.ipynb).

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, atomic functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#atomic-functions): all of them, and for which types.
# - [Numba, atomic operations](https://numba.readthedocs.io/en/stable/cuda/intrinsics.html): those that kernels in Python have.
# - [`cuda::atomic_thread_fence`](https://nvidia.github.io/cccl/libcudacxx/extended_api/synchronization_primitives/atomic/atomic_thread_fence.html): a message between blocks, with both fences.
#
# *Next:* [Leave the rest to the last block](20_the_last_block.ipynb): each of many blocks has a part of a sum; which one adds them up, and when?
