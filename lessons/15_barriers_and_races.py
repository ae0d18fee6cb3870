# %% [markdown]
# # Wait for one another
#
# *50 minutes*
#
# **What you'll do:** take a kernel that gives the right answer and is wrong all the same, find the two lines to blame, and fix every kind of race: in a warp, in a block, in the whole grid.
#
# **What you'll learn:**
#
# - say which accesses a barrier orders, and which ones nothing orders
# - read the report of a race: its kind, both lines, both threads, the fix
# - choose between a barrier, `syncwarp`, an atomic, a fence and a barrier of the whole grid
#
# **What you'll need:** a tile in shared memory and its barrier, as in [Use a tile where it pays](13_shared_memory.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import (check, device, emulate, exercise, expect, explore,
                     measure, plot_intervals, plot_times, watch)

device

# %% [markdown]
# ## Right for 32, wrong for 64?
#
# Thread 0 of a block needs element 1, thread 1 needs element 2, and the last thread needs element 0.
# **Each thread stores its element in a tile and loads its neighbour's.**

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
# With 32 threads all values are right; with 64, the same two lines get one of them wrong.
# So is the kernel right for 32 threads?
# If the answer cannot tell, what can?
#
# ## Who comes first?
#
# A thread sees its own lines run in order.
# *Between* threads there is no order unless you ask for one: each warp runs when the hardware lets it.
# Here is what each of 6 threads does.
# Read each row from left to right; between the rows nothing says which comes first.

# %%
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
# Hatched cells are stored by one thread and loaded by another, with nothing to say which comes first.
# That is a **race**, and each such pair of accesses is a **hazard**: thread 0 may load cell 1 before thread 1 stores to it.
#
# `cuda.syncthreads()` is a **barrier**.
# A thread that reaches it waits until all threads of its block have reached it.
# Whatever any of them stored before the barrier, all of them see after it.

# %%
plot_intervals([store_own(6), load_next(6)])

# %% [markdown]
# The barrier cuts the kernel into **barrier intervals**.
# Two accesses to one cell by different threads are ordered if a barrier lies between them.
# Within one interval they are not, and if at least one of them is a store, they race.
#
# ## Read after write
#
# `emulate` does not ask whether the answer was right.
# It looks for pairs of accesses that nothing orders.

# %%
run_64.races, run_32.races, run_32.races.minor

# %% [markdown]
# The load must come after the store: read after write, or **RAW**.
# A report names both lines, a thread for each, and what is missing between them.
#
# With 64 threads, two hazards are between warps: thread 31 loads what warp 1 stores, and thread 63 what warp 0 stores.
# (The NaN is the emulator's mark for shared memory that nobody has stored to.)
# With 32 threads there is only one warp.
# Its lanes race with one another, which `races.minor` lists.
# Lanes on the same path usually run side by side, and here the answer was right; CUDA does not promise it.
# A race that gives the right answer is still a race.
#
# One line fixes it.
# **Each thread stores its element, waits, and loads its neighbour's.**

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
# **Each thread puts its neighbour's element in its own cell of the tile.**
#
# **Predict.** The kernel below has a barrier before the line that does this, and one after it. Which threads race?
#
# <details><summary>Answer</summary>
#
# Neighbours, within one line.
# Thread 1 stores to cell 1, and thread 0 loads it: thread 0 must load cell 1 before thread 1 overwrites it.
# This time it is the *store* that must wait.
#
# </details>
#
# `watch` runs the same launch and shows one block step by step.
# Play it, and watch cell 0: who loads it, before or after thread 0 stores to it?

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
# The line is a load *and* a store, and the barrier belongs between the two.
# **Each thread loads its neighbour's cell, waits, and stores to its own.**

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
# The barrier before the last line of `rotate_in_place_wrong` has been removed: each thread loads the cell that it stored itself, and a thread's own accesses are in order.
#
# ## Write after write
#
# **Each of eight warps stores its elements in the same 32 cells.**

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
# The warp that stores last wins.
# A seed chooses the order in which the emulator runs the warps, and these twelve seeds have six different winners.
#
# Two stores, either of which may come last: write after write, or **WAW**.
# A barrier before or after the line does not help, since the stores of all eight warps are that one line.
# Decide what you want: a cell for each thread, one warp that stores, or a rule for the winner.
#
# A rule needs an **atomic**, which loads, changes and stores a cell in one indivisible step.
# **Each warp offers its elements, and each cell keeps the largest.**

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
# ## Right by luck
#
# These kernels ran 1,000 times each on an H200, with other numbers than in the launch before and another kernel's values in shared memory. Launches with a wrong answer:
#
# | kernel | 64 threads | 1,024 threads |
# |---|---|---|
# | `rotate_wrong` | 0 | 0 |
# | `rotate_wrong` with a number for `a.size` | 369 | 1,000 |
# | `rotate_in_place_wrong` | 0 | 521 |
#
# The first two have the same race.
# But `% a.size` is a division between the store and the load, while the remainder by a number is computed before both, and the load directly follows the store.
#
# `last_wins`, always on the same numbers, left the elements of warp 1 in 558 launches, and of warp 0 in 442.
#
# Without its barrier a kernel *may* be wrong.
# A detail decides it, here how a remainder is computed.
#
# ## Both barriers of a loop
#
# **Tile by tile, each thread adds up what its neighbour stored.**

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
# The first barrier is easy to understand: store, wait, load.
# Without it the report is a RAW, as for `rotate_wrong`.
#
# The second comes where nobody seems to wait for anything.
# Without it, as here, a fast warp may store the next tile while a slow one still loads from this one: a WAR, and in the emulator 27 of the 1,024 sums are wrong.
#
# On an H200, without the first barrier the sums were wrong in each of 1,000 launches.
# Without the second they were right in each, also with 32 tiles.
# But with `cuda.blockDim.x` in place of both 1024s of the loop, 866 of 1,000 launches with 32 tiles gave wrong sums.

# %%
def draw_relay(before=True, after=False, intervals=4):
    """Two rounds of `relay` for 6 threads, up to an interval."""
    fill, use = store_own(6), load_next(6)
    cuts = {(True, True): [fill, use, fill, use],
            (True, False): [fill, together(use, fill), use],
            (False, True): [together(fill, use)] * 2,
            (False, False): [together(fill, use, fill, use)]}
    return plot_intervals(cuts[before, after], shown=intervals)


explore(draw_relay, before=[True, False], after=[True, False],
        intervals=(1, 4))

# %% [markdown]
# Two rounds without the second barrier: the loads of the first round share an interval with the stores of the second, and every cell is in a race.
# Step through the intervals, and switch each barrier on and off.
#
# ## A barrier in a branch
#
# A barrier is for *all* threads of the block.
# **Threads that have an element store it, wait, and load the next one.**

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
# The answer is right, and again that proves nothing: CUDA allows a barrier in a branch only if all threads of the block take the branch.
# Since Volta (2017) a barrier does not wait for threads that have ended, and here the missing ones have: on an H200 all of 1,000 launches gave the right answer.
# A thread that skips the barrier and *goes on* has not ended, and the others may wait forever.
#
# `emulate` lists in `run.barriers` who was missing; a plain launch in the emulator warns.
#
# Guard the work, not the barrier: put `if thread < a.size:` around the store, and again around the load.
# An early exit, `if thread >= a.size: return`, is reported, too.
#
# ## Within a warp
#
# Code whose lanes exchange values only within a warp is *warp-synchronous*.
# **Each even lane stores its element; the next, an odd one, loads it.**

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
# An H200 gave wrong values in each of 1,000 launches.
# Lanes that diverge may run in either order.
# Here the compiler has put the load first: in `assemble(hand_over_wrong)[1, 256](halves, a)` the shared load (`LDS`) has a lower address than the shared store (`STS`).
#
# `cuda.syncwarp()` is a barrier for the lanes of one warp, and waits for no other warp.
# **Even lanes store, all lanes of the warp wait, and odd lanes load.**

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
# Before Volta, the lanes of a warp shared one program counter, and old code leaves `syncwarp` out.
# Since then each thread has its own.
#
# ## Between blocks
#
# **Each thread counts itself.** There are 4,096 of them, in 16 blocks.

# %%
@cuda.jit
def count_wrong(out):
    """Each thread counts itself."""
    out[0] += 1


count = np.zeros(1, np.int32)
run = emulate(count_wrong)[16, 256](count)
count, run.races[0]

# %% [markdown]
# The line loads, adds and stores, and other threads may come between:
#
# | step | one thread | another thread | the cell |
# |---|---|---|---|
# | 1 | loads 0 | | 0 |
# | 2 | | loads 0 | 0 |
# | 3 | stores 1 | | 1 |
# | 4 | | stores 1 | 1 |
#
# Two additions, and the cell holds 1: a **lost update**.
# The emulator counts 8 of the 4,096 threads, and an H200 counted 1 in each of 1,000 launches.
#
# `syncthreads` waits for the threads of its own block only, so it cannot order threads of different blocks.
# An atomic needs no order: whichever comes first, no addition is lost.
# **Each thread counts itself with an atomic.**
# Or, with fewer atomics on that cell:
# **The threads of a block count together; thread 0 adds for them all.**

# %%
@cuda.jit
def count_atomically(out):
    """Each thread counts itself with an atomic."""
    cuda.atomic.add(out, 0, 1)


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


for kernel in count_atomically, count_by_blocks:
    count[:] = 0
    run = emulate(kernel)[16, 256](count)
    check(count, 4096)
run.races

# %%
@cuda.jit
def end_at_once(out):
    """Each thread ends at once."""


count[:] = 0
kernels = count_wrong, count_atomically, count_by_blocks, end_at_once
few, many = ([measure(kernel)[blocks, 256](count) for kernel in kernels]
             for blocks in (16, 2**16))

plot_times(["race", "atomic", "blocks first", "an empty kernel"],
           [m.median_us for m in many],
           spread_us=[(m.lower_us, m.upper_us) for m in many])

# %% [markdown]
# Bars are medians for 65,536 blocks of 256 threads; with 16 blocks all four take 3.5 to 3.9 µs.
#
# The atomic takes 6.5 times as long as the race, though the compiler already makes one atomic of each warp's 32 (it counts lanes, `POPC`, and adds once, `REDG`).
# That leaves 524,288 on one cell, one every 0.74 ns. 68% of the waiting is for a warp's last stores, here these atomics: the warp stays until they have left the multiprocessor.
#
# With blocks first, 65,536 are left, an eighth, and only 6% of the waiting is for last stores.
# This kernel is 7.5 times as fast as the atomic: right, and faster than the race.
# Most of its 52 µs is the start of blocks: empty ones take 43.

# %% [markdown]
# Atomics come in any order, so the last digits of a float sum change: in 1,000 launches on an H200 the same 65,536 floats gave 103 different sums.
#
# ## Publish, then signal
#
# Blocks run in any order.
# Each can draw a ticket from an atomic, which returns the cell's value from before: in 1,000 launches on an H200, 16 blocks never drew theirs in order.
# The block that draws the highest is the last one: all others have computed their part, but does it see what they stored?
#
# A **fence**, `cuda.threadfence()`, waits for no other thread.
# A thread that sees what another stored after its fence, and then fences itself, also sees what the other stored before it.
#
# **Each block adds to its part; the last one adds up the parts.**

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
# The total is right, and there is a race. What the report advises would remove it; so does the first fence.
#
# With neither fence, as here, an H200 gave a wrong total in each of 1,000 launches: `parts[block] +=` loads a sector of 8 parts into its multiprocessor's L1, where the last block finds the old copy.
# (With `=` there is no old copy, and all totals were right.)
# A fence also empties L1 (the instruction `CCTL.IVALL`): what is loaded after it is no old copy.
#
# | side | before the fence | after the fence |
# |---|---|---|
# | each block: publish | stores its part | the atomic on `finished` |
# | last block: look | the atomic on `finished` | loads the parts |
#
# On an H200 either alone was enough, in 1,000 launches each.
# CUDA's memory model asks for both.

# %% [markdown]
# Why the second, too?
# In a test on an H200, block 1 loads a number, waits until an atomic shows that block 0 has stored the next one and fenced, and then loads that one, from the same sector.
# Without a second fence it got the old number in each of 1,000 launches; with it, in none.
#
# The emulator misses that: it treats every atomic as if it were the second fence, and never shows an old copy.
# `emulate(total, strict=True)` asks for the second fence, too, and so does the judge of the exercises.
# Write both fences.
#
# ## All blocks wait
#
# The simplest barrier for the whole grid is the end of the kernel: a second launch sees all that the first one stored.
# Within one kernel there is `cuda.cg.this_grid().sync()`.
# **Each block adds to its part, all wait, one block adds up the parts.**

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

compiled, = total_after_all.overloads.values()  # its one compiled version
{threads: compiled.max_cooperative_grid_blocks(threads)
 for threads in (1, 256, 1024)}

# %% [markdown]
# Numba makes this a **cooperative launch**: all blocks are on the GPU at the same time, or the launch is refused.
# So the grid can be no larger than what fits at once.
# `max_cooperative_grid_blocks` says how much that is: above, for blocks of 1, 256 and 1,024 threads.
# (On a GPU it counts registers, too; the emulator answers for an H200 by threads and shared memory.)
# A grid-stride loop then takes any number of elements.
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
# | a store and a signal for another block | `total` | a fence, an atomic, a fence |
# | all of one part of the kernel and all of the next | `total_after_all` | a second launch, or a barrier of the grid |

# %% [markdown]
# ## On your own
#
# ★ Which barriers does `relay` need if each thread loads only the cell that it stored itself? Guess, then change `make_relay` and ask for the report.
#
# <details><summary>Answer</summary>
#
# None: no cell is touched by two threads, so all four kernels have no race.
#
# </details>
#
# ★★★ `exercise("relay")`: two tiles take turns, with one barrier a round. Which hazards would come back with none?
#
# <details><summary>Answer</summary>
#
# RAW, since each thread loads what its neighbour stored in the same round, and WAR, since a fast warp may be two rounds ahead.
# One barrier a round prevents both: a tile is stored again two rounds later, after the next round's barrier.
#
# </details>
#
# ★★ `largest` finds the largest element of each block, and is right in some orders of the warps only. Fix it with one line.

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
# On a GPU, `compute-sanitizer --tool racecheck` finds races in shared memory.
# It does not look at global memory, nor at an atomic against a plain access.
# Of 112 kernels with a race in this course's tests, it reports 67.
#
# The emulator looks for pairs that nothing orders, so its answer does not depend on luck.
# It sees only what this launch did: another size or other data may reach another line.
#
# Where an H200 goes on past a missed barrier, the emulator goes on and reports it; where an H200 hangs, as with lanes of one warp at two different barriers, the emulator stops with an error.
#
# With more threads a block, `total` needs `syncthreads` before its first fence; then one thread fences and counts for the block.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, synchronization functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#synchronization-functions) and [memory fence functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#memory-fence-functions): what each barrier and fence promises, and the last-block pattern, with `volatile` in place of the second fence.
# - [Using CUDA warp-level primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/): why lanes no longer stay side by side.
# - [`cuda::atomic_thread_fence`](https://nvidia.github.io/cccl/libcudacxx/extended_api/synchronization_primitives/atomic/atomic_thread_fence.html): a message from one block to another, with both fences.
# - [Compute Sanitizer, racecheck](https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html#racecheck-tool): the words RAW, WAR, WAW and hazard.
#
# *Next:* [Transpose a matrix nearly as fast as a copy](21_transpose.ipynb): a transpose must run down a column on one side; can it be as fast as a copy all the same?
