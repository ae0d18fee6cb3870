# %% [markdown]
# # Send a result from block to block
#
# *45 minutes*
#
# **What you'll do:** let thousands of blocks make one number together, send a result to a block that still finds the old one, and put it right.
#
# **What you'll learn:**
#
# - update a cell that all blocks share, and let few of them meet there
# - publish a result, then signal it, with a fence on either side
# - choose between the last block, a barrier of the grid, and a second launch
#
# **What you'll need:** L1 and L2, as in [Know where a number lives](11_memory_hierarchy.ipynb), sectors, as in [Fetch no more than you use](12_coalescing.ipynb), shared memory, as in [Use a tile where it pays](13_shared_memory.ipynb), and races and barriers, as in [Wait for one another](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import (check, compare, device, emulate, exercise, explore,
                     measure, plot_fences)

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
# The emulator counts 8 threads. An H200 counted 1, in each of 1,000 launches. (The program is `tests.on_gpu.race_outcomes`, for all of this page's 1,000 launches.)
#
# The line is three steps: load, add, store. Another thread may come between:
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
# Would a barrier help? `syncthreads` waits for the threads of its own block, and for no other block.
# Even within a block it would not help: all these additions are one line, in one interval.

# %% [markdown]
# ## One step that nobody can divide
#
# Which thread comes first does not matter here. What matters is that no other comes between its load and its store.
#
# An **atomic** is an update that nothing can come between: it loads, changes and stores a cell in one step. `cuda.atomic.add(out, 0, 1)` adds 1 to `out[0]`.
# There are others, such as `max`, `min` and `exch`, which only puts a new value in. Each returns the cell's value from before.
#
# Atomics do not race with one another: each order of them is allowed, and each gives the same count.

# %%
@cuda.jit
def count_atomically(out):
    """Each thread counts itself with an atomic."""
    cuda.atomic.add(out, 0, 1)


counts = np.zeros(16, np.int32)
run = emulate(count_atomically)[16, 256](counts)
check(counts[0], 4096)
run.races

# %% [markdown]
# A sum of floats is a little different each time, since rounding depends on the order: on an H200 the same 65,536 floats gave 107 different sums in 1,000 launches.
#
# ## What makes it slow?
#
# Now 65,536 blocks count. The first row is a kernel that does nothing: so long it takes to start and end the blocks.

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
# The atomics take 6.5 times as long as the race.
# Are atomics slow? Or is it slow that all blocks meet at one cell?
#
# To find out, change one thing: let each block have a cell of its own. There are as many atomics as before.
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

# %%
def make_count_in_eight(apart):
    """A kernel with eight cells, the next one so many cells further on."""
    @cuda.jit
    def count_in_eight(out):
        """Each thread counts itself in one of eight cells."""
        cuda.atomic.add(out, cuda.blockIdx.x % 8 * apart, 1)
    return count_in_eight


# %% tags=["timing", "hide-input"]
# Measures eight cells at four distances, between one cell and one for each block.
in_eight = {apart: measure(make_count_in_eight(apart))[BLOCKS, 256](counts)
            for apart in (1, 8, 32, 4096)}
compare({"one cell": one_cell,
         "eight cells in one sector": in_eight[1],
         "eight cells, a sector each": in_eight[8],
         "eight cells, 128 bytes each": in_eight[32],
         "eight cells, 16 KiB each": in_eight[4096],
         "a cell for each block": own_cells}, "µs")

# %% [markdown]
# Hardly longer than no work.
# So the time goes to the one cell, where all blocks meet, and not to the atomics.
#
# <details><summary>For the curious: how many atomics are there?</summary>
#
# Not one for each thread. The compiler already joins those of a warp: the machine code counts the warp's lanes (`POPC`) and adds once (`REDG`).
# So 524,288 additions meet at one cell, one every 0.74 ns.
#
# </details>
#
# ## Meet less often
#
# But one count was wanted, and not 65,536.
# So let the threads of a block first count together in shared memory, which only they can reach. Then one thread adds the block's count to the one cell.
# To give each block a copy of its own, and to add up the copies at the end, is called **privatization**.
#
# The block waits twice: the cell in shared memory must hold 0 before anybody adds, and the whole count before thread 0 loads it.
# With `apart`, each block adds in a cell of its own again, to see what the one cell costs.

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
compare({("nobody", "–"): no_work,
         ("each warp", "one cell"): one_cell,
         ("each warp", "a cell for each block"): own_cells,
         ("each block", "one cell"): by_blocks,
         ("each block", "a cell for each block"): by_blocks_apart},
        "µs", by=("who adds to global memory", "where"))

# %% [markdown]
# Compare each kernel with its twin, which differs in the cell alone.
# With an atomic for each warp, meeting at one cell costs 343 µs; with one for each block, 8 µs.
# So the blocks can make one count together in less time than the race.
#
# The rule: add up within the block, and send one atomic for each block.
#
# <details><summary>For the curious: what is left of the one cell?</summary>
#
# At 0.74 ns each, 65,536 additions take 48 µs, and the launch takes 52. So with as many blocks there is little to gain. Fewer blocks, whose threads loop over more elements, send fewer atomics.
#
# </details>
#
# ## Who is last?
#
# An atomic adds a number to a cell. What if the blocks' results must be put together in another way?
# Say each block has stored its part in a cell of its own, and one block shall make the whole of them when all are there.
# Which one, and when?
#
# Not block 0, waiting for the others. Blocks start in any order, and some start only when others have ended.
# A block that waits keeps its place, and the one that it waits for may never get one.
#
# So nobody waits. Whoever comes *last* does it: by then, all others are done.

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
# In `total`, each block adds a number to its part, as it would with a piece of a longer sum, and the last one adds up the parts. (`before` and `after` are for later.)

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
# A box *count* is a ticket being drawn. By its ticket block 1 learns that block 0 has drawn one before; then it asks its own L1 for the part, and gets the old one.
#
# Which of the two went wrong on the H200? Change one thing at a time, always without a fence:
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
# A **fence** (NVIDIA: *memory fence*), `cuda.threadfence()`, orders a thread's own accesses, and waits for no other thread.
# There is one for each of the two things that can go wrong:
#
# - *Publish, then signal.* What a thread stored before its fence is seen before what it stores after. For this, an H200 waits until the part is in L2.
# - *See the signal, then look.* What a thread loads after its fence is no older than what it loaded before. For this, an H200 empties the multiprocessor's L1.
#
# The block that tells needs the first, the block that listens the second. Take either away, and see what the load may find:

# %%
explore(plot_fences, first=[True, False], second=[True, False])

# %% [markdown]
# So the order is: store, fence, signal; and on the other side: signal, fence, load.
# In `total` each block may be either, so it has a fence on both sides of the ticket.
#
# **Predict.** Without which of the two is the total wrong on an H200?

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
# (The emulator takes an atomic for a second fence, unless you ask with `strict=True`, as the exercises do.)
#
# A fence is no barrier, and a barrier no fence between blocks. If a block has many threads, a barrier comes first, so that all its threads have stored, and then thread 0 does the rest for them: fence, ticket, fence.

# %% [markdown]
# <details><summary>For the curious: where the first fence is not enough</summary>
#
# In a test on an H200, block 1 loads a number, waits until an atomic shows that block 0 has stored the next one and fenced, and then loads that one, from the same sector.
# Without a fence of its own it got the old number in each of 1,000 launches; with it, in none.
#
# `assemble` shows the fence's two things as two instructions: `MEMBAR.SC.GPU`, which waits, and `CCTL.IVALL`, which makes all lines of L1 invalid.
#
# </details>
#
# ## A block of many threads
#
# TODO

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


# %% [markdown]
# ## All blocks wait
#
# TODO

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


# %% tags=["hide-input"]
# The other ways.
@cuda.jit
def sum_parts(parts, a):
    """Each block stores its part."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = part


@cuda.jit
def sum_by_atomics(out, a):
    """Each block adds its part to the sum."""
    part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, part)


numbers = np.arange(5000, dtype=np.int32)
for kernel, rooms in ((sum_by_last, (16, 1)), (sum_after_all, (16,)), (sum_by_atomics, ())):
    whole = np.zeros(1, np.int32)
    run = emulate(kernel, strict=True)[16, 256](whole, *(np.zeros(n, np.int32) for n in rooms), numbers)
    check(whole, numbers.sum())
    print(run.races)

# %% [markdown]
# ## What changed
#
# | what blocks have to do | with | and not with |
# |---|---|---|
# | update one cell together | an atomic, one for each block | `out[0] += ...`: a lost update |
# | make a whole of all parts | the last block: store, fence, ticket, fence, load | block 0 that waits: others may never start |
# | tell another block of a result | a fence between result and signal, another between signal and load | an atomic alone: it says nothing of other cells |
# | all need all | a second launch, or a barrier of the grid | `syncthreads`: it waits for its own block |

# %% [markdown]
# ## On your own
#
# ★ In `count_by_blocks`, which of these lines may be a plain `+=`, without a race: the count in shared memory, the addition to `out`, both, or neither?
#
# <details><summary>Answer</summary>
#
# Neither. In the first, the threads of a block would lose each other's updates, in the second, the blocks.
#
# </details>
#
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
#
# ★★★ `exercise("last_block")`, in the assignment: the last block of many threads, with both fences. Allow half an hour more.
#
# The [assignment](assignments/19_from_block_to_block.ipynb) has 6 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# `compute-sanitizer --tool racecheck` looks at shared memory only, so it finds none of this page's races between blocks; the emulator does.
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
