# %% [markdown]
# # Send a result from block to block
#
# *65 minutes*
#
# **What you'll do:** let thousands of blocks make one number together, send a result to a block that still finds the old one, and put it right.
#
# **What you'll learn:**
#
# - update a cell that all blocks share, and let few of them meet there
# - publish a result, then signal it, with a fence on either side
# - choose between an atomic, a second launch, the last block, and a barrier of the grid
#
# **What you'll need:** L1 and L2, as in [Know where a number lives](11_memory_hierarchy.ipynb), sectors, as in [Fetch no more than you use](12_coalescing.ipynb), shared memory, as in [Use a tile where it pays](13_shared_memory.ipynb), and races and barriers, as in [Wait for one another](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import (baseline, check, compare, device, emulate, exercise,
                     explore, measure, plot_fences, table)

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
# The emulator counts 8 threads. An H200 counted 1, in each of 1,000 launches. Any count from 1 to 4,096 is possible, since the line is three steps: load, add, store. Another thread may come between:
#
# | step | one thread | another thread | the cell |
# |---|---|---|---|
# | 1 | loads 0 | | 0 |
# | 2 | | loads 0 | 0 |
# | 3 | stores 1 | | 1 |
# | 4 | | stores 1 | 1 |
#
# Two additions, and the cell holds 1: a **lost update**.
#
# A barrier would not help: it waits for its own block alone, and even there all additions are one line, in one interval.

# %% [markdown]
# ## One step that nobody can divide
#
# Which thread comes first does not matter here, only that no other comes between its load and its store.
#
# An **atomic** loads, changes and stores a cell in one step. `cuda.atomic.add(out, 0, 1)` adds 1 to `out[0]`.
# There are others, such as `max`, whose cell must begin with a value that is small enough, and `exch`, which only puts a new value in. Each returns the cell's value from before.
#
# Atomics do not race with one another: each order of them is allowed, and each gives the same count.

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
# ## What makes it slow?
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
# The atomics take 6.5 times as long as the race. The compiler has joined those of each warp to one, and still there are 524,288, one every 0.74 ns.
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
# Hardly longer than no work.
# So the time goes to where the blocks meet, and not to the atomics.
#
# Then is it the *cell*? Let the blocks share eight cells, each with an eighth of the atomics, and change how far these are apart.
#
# **Predict.** How much do eight cells side by side save?

# %%
def make_count_in_eight(apart):
    """A kernel with eight cells, the next one so many cells further on."""
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
# So atomics do not wait for a cell, but for a place in L2 that is larger than a sector. (How large, these launches do not settle.)
#
# ## Meet less often
#
# But one count was wanted.
# So let the threads of a block first count together in shared memory. Then one thread adds the block's count to the one cell.
# To give each block a copy of its own, and to add up the copies at the end, is called **privatization**.
#
# The block waits twice: the cell in shared memory must hold 0 before anybody adds, and the whole count before thread 0 loads it.
# With `apart`, each block adds in a cell of its own again, to see what meeting costs.

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
# Meeting took nearly all of 387 µs; now it costs 8.
# At 0.74 ns each, 65,536 atomics need some 48 µs, but at the same time the blocks need 43 to start and end, so little of it shows.
#
# The rule: add up within the block, and send one atomic for each block.
#
# ## Who is last?
#
# Atomics come in any order. What if the order matters, as in a sum of floats that must be the same each time?
# Then each block stores its part in a cell of its own, and one block adds up the parts, from the first to the last, when all are there.
# Which block, and when?
#
# Not block 0, waiting for the others. Blocks start in any order, and some start only when others have ended.
# A block that waits keeps its place, and the one that it waits for may never get one.
#
# So nobody waits: whoever comes *last* does it, when all others have stored.

# %% [markdown]
# How does a block know that it is the last? By what an atomic returns.
# Each block stores its part and then draws a **ticket**: `cuda.atomic.add(finished, 0, 1)` returns 0 to the first, 1 to the second, and so on.
#
# | | block 2 | block 0 | block 1 | `finished` |
# |---|---|---|---|---|
# | 1 | stores its part | | | 0 |
# | 2 | draws 0 | stores its part | | 1 |
# | 3 | | draws 1 | stores its part | 2 |
# | 4 | | | draws 2, the highest of three | 3 |
# | 5 | | | adds up all parts | 3 |
#
# In `total`, each of eight blocks is one thread. It adds a number to its part (`+=`, not `=`: it will matter), and the last of `cuda.gridDim.x` blocks adds up the parts. (`before` and `after` are for later.)

# %%
def make_total(before, after):
    """A kernel with or without each of its two fences."""
    @cuda.jit
    def total(out, parts, finished, a):
        """Each block adds to its part; the last one adds up the parts."""
        block = cuda.blockIdx.x
        parts[block] += a[block]
        if before:
            cuda.threadfence()
        ticket = cuda.atomic.add(finished, 0, 1)
        if after:
            cuda.threadfence()
        if ticket == cuda.gridDim.x - 1:
            whole = float32(0)
            for i in range(parts.size):
                whole += parts[i]
            out[0] = whole
    return total


# %%
a = np.arange(8, dtype=np.float32)
whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
finished, total = np.zeros(1, np.int32), make_total(before=False, after=False)
run = emulate(total)[8, 1](whole, parts, finished, a)
check(whole, a.sum())
run.races

# %% [markdown]
# The total is right, and there is a race. And on an H200?
# It gave a wrong total in each of 1,000 launches.
#
# How can that be? The last block comes after all others, and each of these had executed its store before it drew its ticket.
#
# ## Where is the old part?
#
# That a store has been *executed* does not say where the new value is, or who sees it. Two things can go wrong.
#
# The *store* may still be on its way. It goes through L1 to L2, and that takes time. The ticket, drawn after it, may be counted first.
#
# Or the *load* finds an old copy. Each multiprocessor has an L1 of its own, and nobody tells one L1 what went through another. A copy that it has made before stays as it is: L1s are not **coherent**.

# %% [markdown]
# But when did the last block copy the others' parts? It had loaded only its own, for the `+=`.
# L1 copies whole sectors, and here all eight parts share one. With its own part, the block has fetched the seven others, too.

# %%
plot_fences(first=False, second=False)

# %% [markdown]
# Time runs to the right, and arrows show what is sent where; the blocks are on two multiprocessors.
# A box *count* is a ticket being drawn. By its ticket block 1 learns that block 0 has drawn one before; then it asks its own L1 for the part, and gets the old one, which its `+=` had fetched.
#
# Here both went wrong. Which of them on the H200? Change one thing at a time, always without a fence:
#
# | `total` without fences | wrong totals in 1,000 launches |
# |---|---|
# | as above | 1,000 |
# | with `=` for `+=`, so that no block loads its part | 0 |
# | with each part in a sector of its own | 0 |
#
# So it was the old copies: without them, all totals are right.
# No ticket was seen to overtake a part; but CUDA allows that, too.
#
# ## Publish, then signal
#
# The order is: store, fence, signal; and on the other side: signal, fence, load.
#
# A **fence** (NVIDIA: *memory fence*), `cuda.threadfence()`, orders what its thread does before it and after it, and waits for no other thread.
# Each call does two things:
#
# - *Publish, then signal.* What the thread has stored before is seen before what it does next. For this, an H200 waits until the part is in L2.
# - *See the signal, then look.* What the thread loads next is no older than the signal that it has seen. For this, an H200 empties the multiprocessor's L1.
#
# The block that tells needs the first, the block that listens the second. Take either away, and see what CUDA allows the load to find:

# %%
explore(plot_fences, first=[True, False], second=[True, False])

# %% [markdown]
# In `total` each block may be either, so it has a fence on both sides of the ticket. (`strict=True` makes the emulator ask for the second one, too.)
#
# **Predict.** CUDA allows an old part if either is missing. Without which of the two is the total wrong on an H200?

# %%
total = make_total(before=True, after=True)
whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
finished = np.zeros(1, np.int32)
run = emulate(total, strict=True)[8, 1](whole, parts, finished, a)
check(whole, a.sum())
run.races

# %% [markdown]
# | `total` | wrong totals in 1,000 launches |
# |---|---|
# | with no fence | 1,000 |
# | with the first fence alone | 0 |
# | with the second fence alone | 0 |
# | with both | 0 |
#
# It is wrong only if both are missing. Probably one is enough here since either one empties the last block's L1 after its `+=` and before it loads the parts.
# That is luck again: CUDA asks for both, so write both.

# %% [markdown]
# <details><summary>For the curious: where the first fence is not enough</summary>
#
# In a test on an H200, block 1 loads a number, waits until an atomic shows that block 0 has stored the next one and fenced, and then loads that one, from the same sector.
# Without a fence of its own it got the old number in each of 1,000 launches; with it, in none; and in none either, if it has not looked before, even without that fence.
#
# `assemble` shows the fence's two things as two instructions: `MEMBAR.SC.GPU`, which waits, and `CCTL.IVALL`, which makes all lines of L1 invalid.
#
# </details>
#
# ## A block of many threads
#
# First, the threads of a block add up their numbers, as they have counted before:

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
# (Floats would need a fixed order here, too, as in the halving of `dot`, at the end.)
# Then thread 0 stores the part and draws the ticket for all of them:
#
# - If others have stored, too, a barrier comes first: what it has shown to thread 0, thread 0's fence publishes as well.
# - How do the others learn that theirs is the last block? Thread 0 stores the answer in a shared cell; after a barrier, all load it, and see what thread 0 sees.
# - For the next launch, the last block sets `finished` back to 0, by an atomic.

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
# What if every block needs the parts of all the others?
# The simplest barrier for the whole grid is the end of the kernel: a second launch sees all that the first one stored.
# `sum_parts` makes the parts, and launched again, as one block, the whole of these.
#
# Within a kernel there is `cuda.cg.this_grid().sync()`, a barrier of the grid, with the fences in it.

# %%
@cuda.jit
def sum_parts(parts, a):
    """Each block stores its part."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = part


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
emulate(sum_parts)[16, 256](parts, numbers)
emulate(sum_parts)[1, 256](whole, parts)
check(whole, [numbers.sum()])

run = emulate(sum_after_all)[16, 256](whole, parts, numbers)
check(whole, [numbers.sum()])
run.races

# %% [markdown]
# Now block 0 does wait. What if another block never gets a place?
# That cannot happen: Numba makes this a **cooperative launch**, in which all blocks are on the GPU at the same time, or the launch is refused.
# So the grid is small, on an H200 at most 1,056 blocks of 256 threads, and a grid-stride loop goes through the elements.
#
# ## What changed
#
# Which way to choose? The table has the sum of 2²⁴ numbers by 528 blocks, all ways by turns: `sum_parts`, which leaves the parts, the three ways above, and an atomic of each block.

# %%
@cuda.jit
def sum_by_atomics(out, a):
    """Each block adds its part to the sum."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, part)


whole[0] = 0
emulate(sum_by_atomics)[16, 256](whole, numbers)
check(whole, [numbers.sum()])

# %% tags=["hide-input"]
# Tabulates the recorded times, and what each way is for.
USES = {
    "parts alone": "",
    "an atomic of each block": "one cell, in any order",
    "a second launch": "parts in order; all need all",
    "the last block": "parts in order, in one launch",
    "a barrier of the grid": "all need all, in one launch of a small grid",
}
ways = {way: baseline(f"whole sum, {way}") for way in USES}
table(["way to the whole", "µs", "for"],
      [(way, ways[way].median_us, use) for way, use in USES.items()])

# %% [markdown]
# A second launch, the last block and a barrier of the grid take within 2 µs of each other, and at most 4 more than the parts alone. So choose by what each can do.
# (Why the atomics take less than even the parts alone, we do not know: the order of the instructions in the loop differs, too.)

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
# ★★ `dot` makes the dot product of two arrays that have more elements than the grid has threads. The budget has one atomic for each block.

# %%
task = exercise("dot")
task

# %%
@cuda.jit
def dot(out, a, b):
    """Add up the products of `a` and `b`."""
    # your code, about 14 lines


task.check(dot)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def dot(out, a, b):
#     """Add up the products of `a` and `b`."""
#     tile = cuda.shared.array(128, float32)
#     thread = cuda.threadIdx.x
#     total = float32(0)
#     for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
#         total += a[i] * b[i]
#     tile[thread] = total
#     half = 64
#     while half > 0:
#         cuda.syncthreads()
#         if thread < half:
#             tile[thread] += tile[thread + half]
#         half //= 2
#     if thread == 0:
#         cuda.atomic.add(out, 0, tile[0])
# ```
#
# The block is halved again and again, as in `largest` of [Wait for one another](15_barriers_and_races.ipynb), and thread 0 adds for them all.
#
# </details>

# %% [markdown]
# ★★★ `exercise("last_block")`, in the assignment: the last block of many threads, with both fences. Allow half an hour more.
#
# The [assignment](assignments/19_from_block_to_block.ipynb) has 6 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# `compute-sanitizer --tool racecheck` looks at shared memory only, so it finds none of this page's races between blocks. The emulator does, and with `strict=True` a missing second fence, too; the exercises ask for that.
#
# `python -m tests.on_gpu.race_outcomes` repeats this page's 1,000 launches on a GPU, and `python -m lessons.baselines meetings` the last table.
#
# A store can have the first fence in it, and a load the second: CUDA calls them *release* and *acquire*. With them, blocks pass their sums on in [Scan an array in one pass](26_scan.ipynb).

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, memory fence functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#memory-fence-functions): what a fence promises, and the last-block pattern.
# - [`cuda::atomic_thread_fence`](https://nvidia.github.io/cccl/libcudacxx/extended_api/synchronization_primitives/atomic/atomic_thread_fence.html): a message between blocks, with both fences.
# - [Cooperative groups](https://developer.nvidia.com/blog/cooperative-groups/): barriers for a warp, a block and a grid.
#
# *Next:* [Transpose a matrix nearly as fast as a copy](21_transpose.ipynb): a transpose must run down a column on one side; can it be as fast as a copy all the same?
