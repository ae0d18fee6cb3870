# %% [markdown]
# # Wait for one another
#
# *60 minutes*
#
# **What you'll do:** find the two lines to blame in a kernel that gives the right answer and is wrong all the same, and fix every kind of race: in a warp, a block, the whole grid.
#
# **What you'll learn:**
#
# - say which accesses a barrier orders, and which nothing orders
# - read the report of a race
# - choose between barriers, `syncwarp`, atomics, fences and a barrier of the grid
#
# **What you'll need:** a tile in shared memory and its barrier, as in [Use a tile where it pays](13_shared_memory.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import (check, device, emulate, exercise, expect, explore,
                     measure, plot_fences, plot_intervals, plot_times, watch)

device

# %% [markdown]
# ## Right for 32, wrong for 64?
#
# Each thread of a block needs the element after its own: thread 0 needs element 1, and the last thread needs element 0.
# With a tile in shared memory that takes two lines: each thread stores its own element, and then loads its neighbour's.

# %%
def rotate_spec(a):
    """What every version must return."""
    return np.roll(a, -1)


@cuda.jit
def rotate_wrong(out, a):
    """Each thread stores its element in a tile and loads its neighbour's."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    out[thread] = tile[(thread + 1) % a.size]


a = np.arange(256, dtype=np.float32)
out = np.zeros(256, np.float32)
run_32 = emulate(rotate_wrong)[1, 32](out[:32], a[:32])
check(out[:32], rotate_spec(a[:32]))

run_64 = emulate(rotate_wrong)[1, 64](out[:64], a[:64])
with expect(AssertionError):
    check(out[:64], rotate_spec(a[:64]))

# %% [markdown]
# In the emulator, all values are right with 32 threads; with 64, the same two lines get one wrong.
# Is the kernel right for 32 threads?
# If the answer cannot tell, what can?
#
# ## Who comes first?
#
# When thread 31 loads cell 32, has thread 32 already stored its element there?
#
# A thread executes its own lines in order.
# But nothing orders the lines of *different* threads: each warp runs when the hardware lets it.
# So thread 31 may be done with both before thread 32, in the next warp, has begun.
#
# Let 6 threads stand for all. Each row is a thread, from left to right; between the rows, nothing says what comes first.

# %% tags=["hide-input"]
# Says what each of 6 threads does with the tile, and draws it.
def store_own(threads):
    """Each thread stores to its own cell."""
    return [[("store", thread)] for thread in range(threads)]


def load_next(threads):
    """Each thread loads the next one's cell."""
    return [[("load", (thread + 1) % threads)] for thread in range(threads)]


def together(*parts):
    """What each thread does, one after the other, with no barrier between."""
    return [sum(accesses, []) for accesses in zip(*parts, strict=True)]


plot_intervals([together(store_own(6), load_next(6))])

# %% [markdown]
# A hatched cell is stored by one thread and loaded by another, and nothing says which comes first.
# That is a **race**, and each such pair of accesses is a **hazard**.
#
# `cuda.syncthreads()` is a **barrier**: a thread that reaches it waits until all threads of its block have, and then sees whatever any of them stored before.

# %%
plot_intervals([store_own(6), load_next(6)])

# %% [markdown]
# The barrier cuts the kernel into two **barrier intervals**.
# Each cell is now stored in the first and loaded in the second.
#
# The rule: two accesses to one cell by different threads are ordered if a barrier lies between them.
# Within one interval they are not, and if at least one of them is a store, they race. (Atomics, below, do not race with one another.)
#
# ## Read after write
#
# This rule needs no wrong answer, so `emulate` looks for such pairs.

# %%
run_64.races, run_32.races, run_32.races.minor

# %% [markdown]
# The load must come after the store: read after write, or **RAW**.
#
# With 64 threads, two hazards are between warps: thread 31 loads what warp 1 stores, and thread 63 what warp 0 stores.
# With 32 threads there is only one warp, but its lanes race with one another, which `races.minor` lists.
# The emulator runs them side by side, as a GPU usually does, and so the answer was right; CUDA does not promise it.
# A race that gives the right answer is still a race.
#
# One line fixes it: a barrier between the two.

# %%
@cuda.jit
def rotate(out, a):
    """Each thread stores its element, waits, and loads its neighbour's."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncthreads()
    out[thread] = tile[(thread + 1) % a.size]


run = emulate(rotate)[1, 64](out[:64], a[:64])
check(out[:64], rotate_spec(a[:64]))
run.races, run.races.minor

# %% [markdown]
# ## Write after read
#
# In the next kernel, each thread puts its neighbour's element into its own cell of the tile.
# There is a barrier before that line and one after it.
#
# **Predict.** Which threads race?
#
# <details><summary>Answer</summary>
#
# Neighbours, within that one line.
# Thread 1 stores to cell 1, and thread 0 loads it: thread 0 must load cell 1 before thread 1 overwrites it.
# This time it is the *store* that must wait.
#
# </details>
#
# `watch` shows one block step by step.
# Play it, and follow cell 0: is it loaded before thread 0 stores to it?

# %%
@cuda.jit
def rotate_in_place_wrong(out, a):
    """Each thread puts its neighbour's element in its own cell of the tile."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncthreads()
    tile[thread] = tile[(thread + 1) % a.size]
    cuda.syncthreads()
    out[thread] = tile[thread]


film = watch(rotate_in_place_wrong)[1, 64](out[:64], a[:64])
run = emulate(rotate_in_place_wrong)[1, 64](out[:64], a[:64])
with expect(AssertionError):
    check(out[:64], rotate_spec(a[:64]))
film

# %% [markdown]
# In the film warp 0 stores to cell 0 at step 9, and thread 63 loads it at step 11: too late.
# The store must come after the load: write after read, or **WAR**.
#
# The line is a load *and* a store, and the barrier belongs between the two.
# So each thread keeps what it has loaded in a variable while it waits.

# %%
@cuda.jit
def rotate_in_place(out, a):
    """Each thread loads its neighbour's cell, waits, and stores to its own."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncthreads()
    taken = tile[(thread + 1) % a.size]
    cuda.syncthreads()
    tile[thread] = taken
    out[thread] = tile[thread]


run = emulate(rotate_in_place)[1, 64](out[:64], a[:64])
check(out[:64], rotate_spec(a[:64]))
run.races, run.races.minor

# %% [markdown]
# The last barrier is gone: there each thread loads the cell that it stored itself.
#
# ## Write after write
#
# Now eight warps share a tile of 32 cells, and each stores its elements there.
# Whose are left?

# %%
@cuda.jit
def last_wins(out, a):
    """Each of eight warps stores its elements in the same 32 cells."""
    tile = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    tile[thread % 32] = a[thread]
    cuda.syncthreads()
    out[thread] = tile[thread % 32]


def winner(kernel, seed):
    """The warp whose element is left in cell 0, in the order of a seed."""
    emulate(kernel, seed=seed)[1, 256](out, a)
    return int(out[0]) // 32


run = emulate(last_wins)[1, 256](out, a)
[winner(last_wins, seed) for seed in range(12)], run.races

# %% [markdown]
# The warp that stores last wins, but which one is last?
# A seed chooses the order in which the emulator runs the warps, and these twelve seeds have six different winners.
#
# Either of two stores may come last: write after write, or **WAW**.
# A barrier before or after the line does not help, since the stores of all eight warps are that one line.
# So only one warp may store, or you need a rule for the winner.
#
# A rule needs an **atomic**, which loads, changes and stores a cell in one indivisible step.
# Let the first warp fill the tile, and all warps offer their elements with `cuda.atomic.max`: each cell keeps the largest, whatever the order.

# %%
@cuda.jit
def largest_wins(out, a):
    """Each warp offers its elements, and each cell keeps the largest."""
    tile = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    if thread < 32:
        tile[thread] = a[thread]
    cuda.syncthreads()
    cuda.atomic.max(tile, thread % 32, a[thread])
    cuda.syncthreads()
    out[thread] = tile[thread % 32]


run = emulate(largest_wins)[1, 256](out, a)
[winner(largest_wins, seed) for seed in range(12)], run.races

# %% [markdown]
# ## Both barriers of a loop
#
# A tile is often filled again and again: store, wait, load, and on to the next part of the array.
# In `relay`, each thread adds up what its neighbour has stored, tile by tile.
#
# **Predict.** There is a barrier between the store and the load. Does the loop need a second one?

# %%
def make_relay(before, after):
    """A kernel with or without each of its two barriers."""
    @cuda.jit
    def relay(out, a):
        """Tile by tile, each thread adds up what its neighbour stored."""
        tile = cuda.shared.array(1024, float32)
        thread = cuda.threadIdx.x
        total = float32(0)
        for first in range(0, a.size, 1024):
            tile[thread] = a[first + thread]
            if before:
                cuda.syncthreads()
            total += tile[(thread + 1) % 1024]
            if after:
                cuda.syncthreads()
        out[thread] = total
    return relay


long = np.arange(4096, dtype=np.float32)
relay_spec = np.roll(long.reshape(4, 1024), -1, axis=1).sum(axis=0)
sums = np.zeros(1024, np.float32)
run = emulate(make_relay(before=True, after=False))[1, 1024](sums, long)
int((sums != relay_spec).sum()), run.races

# %% [markdown]
# Without the first barrier the report is a RAW, as for `rotate_wrong`.
#
# Without the second, as here, the report is a WAR that reaches into the loop's next iteration: a fast warp may store the next tile while a slow one still loads from this one.
#
# The picture has two rounds in their intervals.
# Step through them, and switch each barrier off: without the second, the loads of a round share an interval with the stores of the next.

# %% tags=["hide-input"]
# Draws two rounds of `relay` for 6 threads, up to an interval.
def draw_relay(before=True, after=False, intervals=4):
    """Two rounds, with or without each of the two barriers."""
    fill, use = store_own(6), load_next(6)
    cuts = {(True, True): [fill, use, fill, use],
            (True, False): [fill, together(use, fill), use],
            (False, True): [together(fill, use)] * 2,
            (False, False): [together(fill, use, fill, use)]}
    return plot_intervals(cuts[before, after], shown=intervals)


explore(draw_relay, before=[True, False], after=[True, False],
        intervals=(1, 4))

# %% [markdown]
# ## Right by luck
#
# Does a GPU get these kernels wrong, too?
# An H200 ran each of them 1,000 times, with other numbers than in the launch before. (The program is `tests.on_gpu.race_outcomes`, for all of this page's 1,000 launches.)
#
# | kernel | threads | launches with a wrong answer |
# |---|---|---|
# | `rotate_wrong` | 64 or 1,024 | 0 |
# | `rotate_wrong` with a number for `a.size` | 64 | 369 |
# | `rotate_wrong` with a number for `a.size` | 1,024 | 1,000 |
# | `rotate_in_place_wrong` | 64 | 0 |
# | `rotate_in_place_wrong` | 1,024 | 521 |
# | `relay`, 32 tiles, without its first barrier | 1,024 | 1,000 |
# | `relay`, 32 tiles, without its second barrier | 1,024 | 0 |
# | the same with `cuda.blockDim.x` for both 1024s | 1,024 | 866 |
#
# Look at the zeros: always right, and a race all the same.
# The first two kernels have the same race; a detail decides whether it shows, and the next compiler or GPU may decide otherwise.
#
# <details><summary>For the curious: which detail?</summary>
#
# `% a.size` is a division between the store and the load. With a number in its place, no instruction is left between the two.
#
# </details>

# %% [markdown]
# ## A barrier in a branch
#
# What if a block has more threads than elements?
# Here the work is in a branch, and the barrier with it. What happens to the 40 threads that come to it?

# %%
@cuda.jit
def rotate_some_wrong(out, a):
    """Threads that have an element store it, wait, and load the next one."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread < a.size:
        tile[thread] = a[thread]
        cuda.syncthreads()
        out[thread] = tile[(thread + 1) % a.size]


run = emulate(rotate_some_wrong)[1, 64](out[:40], a[:40])
check(out[:40], rotate_spec(a[:40]))
with expect(AssertionError):
    run.assert_barriers()

# %% [markdown]
# The answer is right, and again that proves nothing: a barrier is for *all* threads of the block.
# CUDA allows one in a branch only if all of them take the branch; else those at the barrier may wait forever.
#
# So guard the work, not the barrier: put `if thread < a.size:` around the store, and again around the load.
# An early exit, `if thread >= a.size: return`, is reported, too.
#
# <details><summary>For the curious: why was the answer right?</summary>
#
# Since Volta (2017) a barrier does not wait for threads that have ended, and here the missing ones have: on an H200 all of 1,000 launches gave the right answer.
# A thread that skips the barrier and goes on has not ended.
#
# </details>
#
# ## Within a warp
#
# Do the lanes of a warp, which run together, need a barrier among themselves?
# Below, each even lane stores its element, and the next lane, an odd one, loads it.
# Such code is called *warp-synchronous*.

# %%
@cuda.jit
def hand_over_wrong(out, a):
    """Each even lane stores its element; the next, an odd one, loads it."""
    tile = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    if thread % 2 == 0:
        tile[thread] = a[thread]
    else:
        out[thread // 2] = tile[thread - 1]


def hand_over_spec(a):
    """What both versions must return."""
    return a[::2]


halves = np.zeros(128, np.float32)
run = emulate(hand_over_wrong)[1, 256](halves, a)
check(halves, hand_over_spec(a))
run.races, run.races.minor

# %% [markdown]
# All values are right, and `races.minor` lists a race: the emulator ran the `if` before the `else`.
# But lanes that diverge may run in either order: an H200 gave wrong values in each of 1,000 launches.
#
# `cuda.syncwarp()` is a barrier for the lanes of one warp, and waits for no other warp.
# All lanes must come to it, so the branch is cut in two: even lanes store, all lanes wait, odd lanes load.
#
# <details><summary>For the curious: the order that the compiler chose</summary>
#
# In `assemble(hand_over_wrong)[1, 256](halves, a)` the shared load (`LDS`) comes before the shared store (`STS`).
# Before Volta, the lanes of a warp shared one program counter, and old code leaves `syncwarp` out. Since then each thread has its own.
#
# </details>

# %%
@cuda.jit
def hand_over(out, a):
    """Even lanes store, all lanes of the warp wait, and odd lanes load."""
    tile = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    if thread % 2 == 0:
        tile[thread] = a[thread]
    cuda.syncwarp()
    if thread % 2 == 1:
        out[thread // 2] = tile[thread - 1]


run = emulate(hand_over)[1, 256](halves, a)
check(halves, hand_over_spec(a))
run.races, run.races.minor

# %% [markdown]
# ## Between blocks
#
# The 4,096 threads of 16 blocks count themselves: each adds 1 to the same cell.
# What is the count?

# %%
@cuda.jit
def count_wrong(out):
    """Each thread counts itself."""
    out[0] += 1


count = np.zeros(1, np.int32)
run = emulate(count_wrong)[16, 256](count)
count, run.races[0]

# %% [markdown]
# The line loads, adds and stores, and another thread may come between:
#
# | step | one thread | another thread | the cell |
# |---|---|---|---|
# | 1 | loads 0 | | 0 |
# | 2 | | loads 0 | 0 |
# | 3 | stores 1 | | 1 |
# | 4 | | stores 1 | 1 |
#
# Two additions, and the cell holds 1: a **lost update**.
# The emulator counts 8 threads, and an H200 counted 1 in each of 1,000 launches.
#
# `syncthreads` does not help: it waits for the threads of its own block only.
# But the order of additions does not matter; each must be indivisible.
#
# Each kernel below has one. Its threads add to one cell; or to a cell of their block; or they count in shared memory, and thread 0 adds the block's count to the one cell.

# %%
@cuda.jit
def count_atomically(out):
    """Each thread counts itself with an atomic."""
    cuda.atomic.add(out, 0, 1)


@cuda.jit
def count_apart(out):
    """Each thread counts itself in a cell of its block."""
    cuda.atomic.add(out, cuda.blockIdx.x, 1)


@cuda.jit
def count_by_blocks(out):
    """The threads of a block count together; thread 0 adds for them all."""
    here = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        here[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(here, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, here[0])


# %%
@cuda.jit
def end_at_once(out):
    """Each thread ends at once."""


for kernel in count_atomically, count_apart, count_by_blocks:
    counts = np.zeros(16, np.int32)
    run = emulate(kernel)[16, 256](counts)
    check(counts.sum(), 4096)
run.races

# %% [markdown]
# **Predict.** Which of the three is the slowest, and is any as fast as the race?
# Here are 65,536 blocks; the first bar is a kernel that does nothing.

# %% tags=["timing", "hide-input"]
# Measures the race and the kernels with atomics, and one without work.
BLOCKS = 2**16
counts = np.zeros(BLOCKS, np.int32)
rows = {"no work": end_at_once, "a race": count_wrong,
        "atomics on one cell": count_atomically,
        "atomics on a cell for each block": count_apart,
        "each block first, then one atomic": count_by_blocks}
many = {name: measure(kernel)[BLOCKS, 256](counts)
        for name, kernel in rows.items()}
plot_times(list(many), [m.median_us for m in many.values()],
           spread_us=[(m.lower_us, m.upper_us) for m in many.values()])

# %% [markdown]
# The atomics on one cell take 6.5 times as long as the race.
# But with a cell for each block, as many atomics take hardly longer than no work.
# So the time goes to the one cell, where all blocks meet, and not to the atomics.
#
# The last kernel gives the sum as well, with one atomic a block on that cell.
# It is faster than the race, and takes little more than starting the blocks: see the first bar.
# So add up within the block, and send one atomic for each block.
#
# An atomic leaves the order open, so float sums differ in their last digits: the same 65,536 floats gave 103 different sums in 1,000 launches.

# %% [markdown]
# <details><summary>For the curious: how many atomics are there?</summary>
#
# Not one for each thread. The compiler already joins those of a warp: the machine code counts the warp's lanes (`POPC`) and adds once (`REDG`).
# So 524,288 additions meet at one cell, one every 0.74 ns.
#
# </details>
#
# ## Publish, then signal
#
# Blocks run in any order, but each can draw a ticket from an atomic, which returns the cell's value from before.
# The block that draws the highest is the last: all others have stored their parts.
# Can it add them up?
#
# It knows that the others have *executed* their stores, but where are the values?
# Each multiprocessor has an L1 of its own.
# A store goes through it to L2, and nobody tells the other L1s.
# So a copy that another L1 has made before stays old: L1s are not **coherent**.
# And a store takes time to get to L2, so the count that follows may be there first.

# %%
plot_fences(first=False, second=False)

# %% [markdown]
# Time runs to the right, and arrows show what is sent where.
# Block 1 learns that block 0 has counted, and still loads the old part.
#
# A **fence** (NVIDIA: *memory fence*), `cuda.threadfence()`, orders a thread's own accesses, and waits for no other thread.
# CUDA promises two things, and an H200 keeps them like this:
#
# - What the thread stored before is seen before what it stores after: it waits until the part is in L2.
# - What it loads after is no older than what it loaded before: it empties its multiprocessor's L1.
#
# One block needs the first, the other the second:

# %%
explore(plot_fences, first=[True, False], second=[True, False])

# %% [markdown]
# Take either fence away, and the load may find the old part.
#
# In `total`, each block adds to its part and draws a ticket; the last one adds up the parts. Here both fences are left out.

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


whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
finished, total = np.zeros(1, np.int32), make_total(before=False, after=False)
run = emulate(total)[8, 1](whole, parts, finished, a)
check(whole, a[:8].sum())
run.races

# %% [markdown]
# The total is right, and there is a race. And on an H200?
#
# | `total` | wrong totals in 1,000 launches |
# |---|---|
# | with no fence | 1,000 |
# | with the first fence | 0 |
# | with the second fence | 0 |
# | with both | 0 |
# | with no fence, and `=` for `+=` | 0 |
#
# The last row points to the cause.
# With `=`, no block loads its part, so no L1 makes a copy of the parts' sector.
# (No count was seen to overtake a part, but CUDA allows that.)
#
# Probably one fence is enough here, since in the last block either one empties L1 after its `+=` and before it loads the parts.
# That is luck again, so write both.
# The emulator takes an atomic for a second fence; `emulate(total, strict=True)` asks for both, and so do the exercises.

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
# ## All blocks wait
#
# The simplest barrier for the whole grid is the end of the kernel: a second launch sees all that the first one stored.
# Within a kernel there is `cuda.cg.this_grid().sync()`.
# With it, each block adds to its part, all wait, and block 0 adds up the parts.

# %%
@cuda.jit
def total_after_all(out, parts, a):
    """Each block adds to its part, all wait, one block adds up the parts."""
    block = cuda.blockIdx.x
    parts[block] += a[block]
    cuda.cg.this_grid().sync()
    if block == 0:
        whole = float32(0)
        for i in range(parts.size):
            whole += parts[i]
        out[0] = whole


whole, parts = np.zeros(1, np.float32), np.zeros(8, np.float32)
total_after_all[8, 1](whole, parts, a)
check(whole, a[:8].sum())

# %% [markdown]
# If a block could start only after another had ended, both would wait forever.
# So Numba makes this a **cooperative launch**: all blocks are on the GPU at the same time, or the launch is refused. A grid-stride loop then takes any number of elements.
#
# <details><summary>For the curious: how many blocks are that?</summary>
#
# `max_cooperative_grid_blocks` of a compiled kernel (one of `total_after_all.overloads`) says so. For 256 threads it is 1,056 on an H200: each of 132 multiprocessors holds 2,048 threads, if there are registers enough.
#
# </details>
#
# ## What changed
#
# | what races | example | the fix |
# |---|---|---|
# | a load after a store, in a block: RAW | `rotate_wrong`, the first barrier of `relay` | `syncthreads` between the two |
# | a store after a load, in a block: WAR | `rotate_in_place_wrong`, the second barrier of `relay` | `syncthreads` between the two |
# | two stores: WAW | `last_wins` | a cell for each thread, one warp, or an atomic |
# | lanes of one warp | `hand_over_wrong` | `syncwarp` |
# | an update by many | `count_wrong` | an atomic |
# | a part and the count that tells another block of it | `total` | a fence before the count, a fence after it |
# | all of one part of the kernel and all of the next | `total_after_all` | a second launch, or a barrier of the grid |

# %% [markdown]
# ## On your own
#
# ★ Which barriers does `relay` need if each thread loads only its own cell? Guess, then change `make_relay` and ask for the report.
#
# <details><summary>Answer</summary>
#
# None: no cell is touched by two threads, so all four kernels have no race.
#
# </details>
#
# ★★★ In `exercise("relay")` two tiles take turns, with one barrier a round. Which hazards would come back with none?
#
# <details><summary>Answer</summary>
#
# RAW, since each thread loads what its neighbour stored in the same round, and WAR, since a fast warp may be two rounds ahead.
# One barrier a round prevents both: a tile is stored again two rounds later, after the next round's barrier.
#
# </details>
#
# ★★ `largest` finds the largest element of each block, but only in some orders of the warps. Fix it with one line.

# %%
task = exercise("largest")
task

# %%
@cuda.jit
def largest(out, a):
    """Halve the block again and again; keep the larger of two cells."""
    tile = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[min(cuda.grid(1), a.size - 1)]
    half = 128
    while half > 0:
        if thread < half and tile[thread + half] > tile[thread]:
            tile[thread] = tile[thread + half]
        half //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]


task.check(largest)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def largest(out, a):
#     """Halve the block again and again; keep the larger of two cells."""
#     tile = cuda.shared.array(256, float32)
#     thread = cuda.threadIdx.x
#     tile[thread] = a[min(cuda.grid(1), a.size - 1)]
#     half = 128
#     while half > 0:
#         cuda.syncthreads()
#         if thread < half and tile[thread + half] > tile[thread]:
#             tile[thread] = tile[thread + half]
#         half //= 2
#     if thread == 0:
#         out[cuda.blockIdx.x] = tile[0]
# ```
#
# The barrier is outside the `if`, so all threads reach it, even those with nothing left to do.
# At the end thread 0 reads a cell that it stored itself.
#
# </details>
#
# The [assignment](assignments/15_barriers_and_races.ipynb) has 11 exercises, `largest` and `relay` among them.

# %% [markdown]
# ## In practice
#
# `compute-sanitizer --tool racecheck` looks at shared memory only, and passes over an atomic beside a plain access.
# Of 112 kernels with a race in this course's tests it reports 67; most of the others race in global memory.
#
# The emulator needs no luck, but it sees only this launch: another size or other data may reach another line.
#
# Where lanes of one warp wait at two different barriers, CUDA leaves open what happens: an H200 went on, and the emulator stops with an error.
#

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, synchronization functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#synchronization-functions) and [memory fence functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#memory-fence-functions): what each promises, and the last-block pattern.
# - [Using CUDA warp-level primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/): why lanes no longer stay side by side.
# - [`cuda::atomic_thread_fence`](https://nvidia.github.io/cccl/libcudacxx/extended_api/synchronization_primitives/atomic/atomic_thread_fence.html): a message between blocks, with both fences.
# - [Compute Sanitizer, racecheck](https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html#racecheck-tool): RAW, WAR, WAW and hazards.
#
# *Next:* [Keep a thread's numbers close](16_own_memory.ipynb): of two kernels that count the same dice, the one that executes more is seven times as fast; where are its counts?
