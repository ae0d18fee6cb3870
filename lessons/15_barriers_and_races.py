# %% [markdown]
# # Wait for one another
#
# *55 minutes*
#
# **What you'll do:** find the two lines to blame in a kernel that gives the right answer and is wrong all the same, and fix every kind of race within a block.
#
# **What you'll learn:**
#
# - say which accesses a barrier orders, and which nothing orders
# - read the report of a race
# - place the barriers of a line, a loop, a branch and a warp
#
# **What you'll need:** a tile in shared memory and its barrier, as in [Use a tile where it pays](13_shared_memory.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, compare, device, emulate, exercise, expect,
                     explore, measure, plot_intervals)

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
# In the emulator, all values are right with 32 threads. With 64, the same two lines get one wrong: thread 63 loads from cell 0 what the tile holds before anybody stores there, here a NaN.
# Is the kernel right for 32 threads?
# If the answer cannot tell, what can?
#
# ## Who comes first?
#
# When thread 63 loads cell 0, has thread 0 already stored its element there?
#
# A thread executes its own lines in order.
# But nothing orders the lines of *different* threads: each warp runs when the hardware lets it.
# So thread 63 may be done with both lines before thread 0, in the other warp, has begun. That is what happened: the emulator ran warp 1 first. (Had warp 0 come first, thread 31 would have met the same fate: its neighbour is in warp 1.)
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
# Look at the two boxes in a frame: thread 1 stores to cell 1, thread 0 loads it, and nothing says which comes first.
# That is a **race**, and each such pair of accesses is a **hazard**. Here all boxes are hatched, since each has a partner in another row.
#
# `cuda.syncthreads()` is a **barrier**: a thread that reaches it waits until all threads of its block have, and then sees whatever any of them stored before, in shared or in global memory. (Of other blocks it knows nothing.)

# %% tags=["hide-input"]
# Draws the same with a barrier between the two lines.
plot_intervals([store_own(6), load_next(6)])

# %% [markdown]
# The barrier cuts the kernel into two **barrier intervals**.
# Each cell is now stored in the first and loaded in the second.
#
# This is the whole page in one rule: **two threads of a block that touch one cell in one interval race, unless both only load it.**
# A barrier between the two accesses settles which comes first.
# (More comes below: lanes of one warp have a barrier of their own, and *atomics* on one cell do not race with one another.)
#
# ## Read after write
#
# The rule needs no wrong answer. So `emulate` can look for such pairs, and say which lines they are of:

# %%
run_64.races

# %% [markdown]
# The load must come after the store: read after write, or **RAW**.
# Then follow the two lines, one pair of threads as an example, and the remedy.
#
# Two hazards are between warps: thread 31 loads what warp 1 stores, and thread 63 what warp 0 stores.
# Lanes of one warp race with one another, too. `races.minor` lists those pairs: with 64 threads the other 62, with 32 threads all 32.

# %%
run_32.races.minor

# %% [markdown]
# *Minor* says only that the threads are of one warp, or store equal values. It does not say that a race is harmless.
# The emulator runs lanes side by side, as a GPU usually does, and so the answer was right; CUDA does not promise it.
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


run = emulate(rotate_in_place_wrong)[1, 64](out[:64], a[:64])
with expect(AssertionError):
    check(out[:64], rotate_spec(a[:64]))
run.races

# %% [markdown]
# Neighbours race, within that one line. (Again two pairs are of different warps.)
# The line is a load *and* a store, in one interval:

# %% tags=["hide-input"]
# Draws the kernel's three intervals for 6 threads.
plot_intervals([store_own(6), together(load_next(6), store_own(6)),
                [[("load", thread)] for thread in range(6)]])

# %% [markdown]
# Thread 0 loads cell 1, and thread 1 stores to it.
# This time it is the *store* that must wait, until the old element has been loaded: write after read, or **WAR**.
#
# So the barrier belongs between the line's two halves.
# Each thread keeps what it has loaded in a variable while it waits.

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
# **Predict.** The barrier before the last line is gone. Why is there no race?
#
# <details><summary>Answer</summary>
#
# There each thread loads the cell that it has stored itself. A thread executes its own lines in order.
#
# </details>
#
# ## Write after write
#
# Now eight warps share a tile of 32 cells, and each stores its elements there.
# Whose are left?
#
# A seed chooses the order in which the emulator runs the warps. So try twelve:

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
# The warp that stores last wins, and these twelve seeds have six different winners.
# In 1,000 launches on an H200 there were four; in more than nine of ten, it was warp 0 or warp 1.
#
# Either of two stores may come last: write after write, or **WAW**.
# A barrier between two *lines* that store would help. But here all stores are one line, in one interval, and a barrier before or after it changes nothing.

# %% [markdown]
# So the kernel must say who stores: each thread to a cell of its own, or, with `if thread < 32` before the line, one warp for all.
# What if all should have a part in a cell, as in a sum, `count[0] += 1`? No barrier helps here either. That takes an *atomic*: see [Let blocks meet in L2](19_from_block_to_block.ipynb). (Before a thread then loads the sum, all wait at a barrier, as ever.)

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
wrong = np.flatnonzero(sums != relay_spec)  # the threads whose sum is wrong
wrong, run.races

# %% [markdown]
# It does.
# After its load, a fast warp goes on to store the next tile, while a slow one still loads from this one: a WAR that reaches into the loop's next iteration.
#
# Wrong are sums of threads 31, 63 and so on, each the last of its warp, whose neighbour is in the next warp.
# There are 32 such pairs, and the report counts each pair once. Why are only 27 sums wrong? Five warps were lucky: in each round they loaded before the next warp stored.
# So the report has what *may* go wrong, and the answer what did, in this order of the warps.

# %% [markdown]
# The picture has two rounds in their intervals.
# Switch one barrier off at a time. Which two accesses of a cell fall into one interval, and which of them must come first?

# %% tags=["hide-input"]
# Draws two rounds of `relay` for 6 threads.
def draw_relay(before=True, after=False):
    """Two rounds, with or without each of the two barriers."""
    fill, use = store_own(6), load_next(6)
    cuts = {(True, True): [fill, use, fill, use],
            (True, False): [fill, together(use, fill), use],
            (False, True): [together(fill, use)] * 2,
            (False, False): [together(fill, use, fill, use)]}
    return plot_intervals(cuts[before, after])


explore(draw_relay, before=[True, False], after=[True, False])

# %% [markdown]
# The first barrier makes loads wait for the stores of their own round: without it, a RAW.
# The second makes the stores of the next round wait for the loads of this one: without it, a WAR.
# With neither, each load races with its neighbour's stores of all rounds, earlier and later ones.
#
# ## Why not one after each line?
#
# More barriers than these two would be right as well. What would they cost?
# Here are some more at the end of each round, where all threads have just met.

# %%
def make_safe_relay(more):
    """`relay` with some barriers more in a round than it needs."""
    @cuda.jit
    def safe_relay(out, a):
        """Tile by tile, each thread adds up what its neighbour stored."""
        tile = cuda.shared.array(1024, float32)
        thread = cuda.threadIdx.x
        total = float32(0)
        for first in range(0, a.size, 1024):
            tile[thread] = a[first + thread]
            cuda.syncthreads()
            total += tile[(thread + 1) % 1024]
            cuda.syncthreads()
            for _ in range(more):
                cuda.syncthreads()
        out[thread] = total
    return safe_relay


# %% tags=["timing", "hide-input"]
# Checks three kernels, and times 1,024 rounds of one block.
ROUNDS, safe = 1024, {}
longer = np.ones(1024 * ROUNDS, np.float32)
for more in (0, 1, 8):
    emulate(make_safe_relay(more))[1, 1024](sums, long)
    check(sums, relay_spec)
    safe[more] = measure(make_safe_relay(more))[1, 1024](sums, longer)
compare(safe, {"ns a round": lambda m: 1000 * m.median_us / ROUNDS},
        by="more barriers in a round")

# %% [markdown]
# Each of them makes a round of this block longer, though there is nothing left to wait for.
# So put a barrier where the rule asks for one, and nowhere else.
#
# ## Right by luck
#
# Does a GPU get these kernels wrong, too?
# An H200 ran each of them 1,000 times, with other numbers than in the launch before.
#
# | kernel | what differs | wrong, of 1,000 |
# |---|---|---|
# | `rotate_wrong`, 64 threads | as above | 0 |
# | | `% 64` in place of `% a.size` | 506 |
# | | warp 1 waits some µs before it stores | 952 |
# | `rotate_in_place_wrong` | 64 threads, as above | 0 |
# | | 1,024 threads | 511 |
# | `relay` without its second barrier | 32 tiles, for more chances | 0 |
# | | 32 tiles, and `cuda.blockDim.x` in place of 1024 in the loop | 717 |
# | | 32 tiles, and the last warp waits some µs before it loads | 1,000 |
#
# Look at the three zeros: never wrong, and a race all the same.
# Below each stands the same kind of race, and only a detail differs.
# Two of these details are a wait (`cuda.nanosleep`). It touches no cell, and only makes a warp late; so those two kernels were right by timing, and nothing promises a timing.
# The other details look harmless.
# So a thousand right answers prove nothing. The rule does.

# %% [markdown]
# <details><summary>For the curious: what does a number for a size change?</summary>
#
# `% a.size` is a division, and more than thirty instructions of it stand between the store and the load; with a number in its place, none.
# If all threads wait some µs between the two lines, the answer is right again in all 1,000.
# In `relay` it is the other way round: wrong is the variable in place of the number, and what that changes is not known. So neither is the safe one.
# Counts such as 506 are those of one day, and no property of the kernel.
#
# </details>
#
# ## A barrier in a branch
#
# What if a block has more threads than elements?
# (`assert_barriers` asks whether each barrier was reached by all threads of the block.)
# Here the work is in a branch, and the barrier with it. Of 64 threads, 40 come to it. What happens to them?

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
# Here, nothing: the other 24 have ended, and since Volta (2017) a barrier does not wait for those. (On an H200, too, all of 1,000 launches came to their end, with right answers.)
# But CUDA allows a barrier in a branch only if all threads of the block take the branch, or none does. A thread that skips the barrier and goes on has not ended, and then those at the barrier may wait forever.

# %% [markdown]
# Branches come in other forms. After an early exit, `if thread >= a.size: return`, those threads miss the barrier, too.
# And a loop may make one round fewer for some threads than for others:
#
# ```python
# for i in range(thread, n, 256):       # wrong with a barrier in it,
#     ...                               # unless 256 divides n
#
# for first in range(0, n, 256):        # right: the same rounds for all
#     i = first + thread                # and `if i < n` before the work
# ```
#
# So guard the work, and never the barrier:

# %%
@cuda.jit
def rotate_some(out, a):
    """Store where there is an element, wait, and load where there is one."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread < a.size:
        tile[thread] = a[thread]
    cuda.syncthreads()
    if thread < a.size:
        out[thread] = tile[(thread + 1) % a.size]


run = emulate(rotate_some)[1, 64](out[:40], a[:40])
check(out[:40], rotate_spec(a[:40]))
run.assert_barriers()
run.races

# %% [markdown]
# ## Within a warp
#
# Do the lanes of a warp, which run together, need a barrier among themselves?
# Below, each even lane stores its element, and the next lane, an odd one, loads it.

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
run.races.minor

# %% [markdown]
# All values are right, and `races.minor` lists a race: the emulator ran the `if` before the `else`.
# But lanes that diverge may run in either order: an H200 gave wrong values in each of 1,000 launches.
#
# `cuda.syncwarp()` is a barrier for the lanes of one warp, and waits for no other warp.
# All lanes must come to it, also those with no work, so the branch is cut in two: even lanes store, all lanes wait, odd lanes load.

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
# **Predict.** In `rotate`, is `syncwarp` enough? It has one warp for 32 threads, and two for 64.
#
# <details><summary>Answer</summary>
#
# For one warp, yes. For two, no: thread 31 loads what a lane of the other warp stores.
#
# </details>
#
# <details><summary>For the curious: the order that the H200 took</summary>
#
# In the machine code of `hand_over_wrong`, the shared load (`LDS`) stands before the shared store (`STS`).
# Code that relies on lanes going in step is called *warp-synchronous*. Since Volta each thread has a program counter of its own, and CUDA does not promise it.
#
# </details>
#
# ## What changed
#
# | what races | example | what orders it |
# |---|---|---|
# | a load that must come after a store: RAW | `rotate_wrong`, the first barrier of `relay` | `syncthreads` between the two |
# | a store that must come after a load: WAR | `rotate_in_place_wrong`, the second barrier of `relay` | `syncthreads` between the two |
# | two stores by two lines: WAW | one thread sets a cell to 0, another stores there later | `syncthreads` between the two |
# | two stores by one line: WAW, of equal values, too | `last_wins` | no barrier; let one thread store, or each to its own cell |
# | lanes of one warp | `hand_over_wrong` | `syncwarp` between the two |
#
# To find them, cut the kernel at its barriers and ask of each cell: who stores it in this interval, and who else touches it?
# In a loop, the last interval goes on in the first one of the next round.

# %% [markdown]
# ## On your own
#
# ★ Somebody plays safe, and puts a barrier after each of the four lines of `rotate_in_place` that touch the tile. Which of the four can go? Decide by the rule, then take them out and ask for the report.
#
# <details><summary>Answer</summary>
#
# The last two. After the third line each thread loads only the cell that it has just stored, and after the fourth nobody touches the tile.
#
# </details>

# %% [markdown]
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

# %% [markdown]
# ★★★ `exercise("relay")`, in the assignment, lets two tiles take turns, so that one barrier a round is enough. With no barrier at all, which hazards are there?
#
# <details><summary>Answer</summary>
#
# RAW, since each thread loads what its neighbour stored in the same round, and WAR: two rounds later the tile is stored again, by a fast warp while a slow one may still load.
# One barrier a round prevents both: between that load and that store lies the barrier of the round between them.
#
# </details>

# %% [markdown]
# The [assignment](assignments/15_barriers_and_races.ipynb) has 8 exercises, `largest` and `relay` among them.

# %% [markdown]
# ## In practice
#
# `compute-sanitizer --tool racecheck` looks at shared memory only, and passes over stores of equal values, and over an atomic beside a plain access.
# Of 112 kernels with a race in this course's tests it reports 67; most of the others race in global memory. The rule is the same there, and `emulate` looks there, too.
#
# The emulator needs no luck, but it sees only this launch: another size or other data may reach another line.
#
# `python -m tests.on_gpu.race_outcomes` repeats this page's 1,000 launches on a GPU.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, synchronization functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#synchronization-functions): what a barrier promises.
# - [Using CUDA warp-level primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/): why lanes no longer stay side by side.
# - [Compute Sanitizer, racecheck](https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html#racecheck-tool): RAW, WAR, WAW and hazards.
#
# *Next:* [Keep a thread's numbers close](16_own_memory.ipynb): two kernels count the same dice, one by index and one by comparing with each face. Which is faster, and where are its counts?
