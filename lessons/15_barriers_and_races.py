# %% [markdown]
# # Wait for one another
#
# *30 minutes*
#
# **What you'll do:** take a kernel that gives the right answer and is wrong all the same, find out which two lines are to blame, and put right whatever threads do to each other's cells.
#
# **What you'll learn:**
#
# - say which accesses a barrier orders, and which ones nothing orders
# - read a report of a race: its kind, both lines, both threads, the remedy
# - choose between a barrier, `syncwarp`, an atomic, a fence and a barrier of the whole grid
#
# **What you'll need:** a tile in shared memory and its barrier, as in [Load once, use often](13_shared_memory.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, expect, explore,
                     plot_intervals)

device

# %% [markdown]
# ## Right for 32, wrong for 64?
#
# The threads of a block pass their elements round in a circle: everyone takes what the next one brought.
# **Each thread brings an element and takes its neighbour's.**

# %%
def rotate_spec(a):
    """What every version must return."""
    return np.roll(a, -1)


@cuda.jit
def rotate_wrong(out, a):
    """Each thread brings an element and takes its neighbour's."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    out[thread] = tile[(thread + 1) % cuda.blockDim.x]


# %%
a = np.arange(64, dtype=np.float32)
out = np.zeros(64, np.float32)

run_32 = emulate(rotate_wrong)[1, 32](out[:32], a[:32])
check(out[:32], rotate_spec(a[:32]))

# %%
run_64 = emulate(rotate_wrong)[1, 64](out, a)

with expect(AssertionError):
    check(out, rotate_spec(a))

# %% [markdown]
# With 32 threads the answer is right.
# With 64, the same two lines get one number wrong.
# Is it right for 32, then? And if the answer cannot tell, what can?

# %% [markdown]
# ## Who comes first?
#
# Within a thread, one line comes after the other.
# *Between* threads, nothing comes after anything, unless you say so.
# Warps run in whatever order suits the GPU, and it is another one tomorrow.
#
# So let us write down what each thread does, and no order between them: here for 6 threads.

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
# Hatched is a cell that one thread stores to and another one loads, and nothing says which comes first.
# That is a **race**, and each such pair of threads is a **hazard**.
# Thread 0 may load cell 1 before thread 1 has stored to it.
#
# `cuda.syncthreads()` is a **barrier**: no thread of the block goes on before all of them have come to it, and what they stored until then is there for all.

# %%
plot_intervals([store_own(6), load_next(6)])

# %% [markdown]
# It cuts the kernel into **barrier intervals**.
# Two accesses of one cell by different threads are in order if a barrier stands between them.
# In the same interval they are not, and if one of them is a store, they race.

# %% [markdown]
# ## Read after write
#
# `emulate` does not ask whether the answer was right.
# It looks for pairs that nothing orders, whatever order it ran them in.

# %%
run_64.races

# %% [markdown]
# That is the report: a load that should come after a store, "read after write" or **RAW**; both lines, a thread for each, and what is missing.
# The two hazards are the places where one warp takes what the other brought.
#
# And with 32 threads?

# %%
run_32.races, run_32.races.minor

# %% [markdown]
# There is only one warp, and a race all the same, filed under `minor`.
# The lanes of a warp mostly go side by side, so the answer was right this time; nobody has promised it.
# A race that gives the right answer is still a race.
#
# One line fixes it.
# **Each thread brings an element, waits, and takes its neighbour's.**

# %%
@cuda.jit
def rotate(out, a):
    """Each thread brings an element, waits, and takes its neighbour's."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncthreads()
    out[thread] = tile[(thread + 1) % cuda.blockDim.x]


run = emulate(rotate)[1, 64](out, a)
check(out, rotate_spec(a))

# %%
run.races

# %% [markdown]
# ## Write after read
#
# **Rotate the tile in place.**

# %%
@cuda.jit
def rotate_in_place_wrong(out, a):
    """Rotate the tile in place."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncthreads()
    tile[thread] = tile[(thread + 1) % 64]
    cuda.syncthreads()
    out[thread] = tile[thread]


# %% [markdown]
# **Predict.** There is a barrier before the line and one after it. Which two threads race?
#
# <details><summary>Answer</summary>
#
# Each with its neighbour, in one line.
# Thread 1 stores to cell 1, and thread 0 loads it: thread 0 must load cell 1 before thread 1 overwrites it.
# This time it is the *store* that must wait.
#
# </details>

# %%
run = emulate(rotate_in_place_wrong)[1, 64](out, a)
with expect(AssertionError):
    check(out, rotate_spec(a))

# %%
run.races

# %% [markdown]
# "Write after read", **WAR**: a store that should come after a load.
# One line of Python is a load and a store, and the barrier belongs between them:

# %%
@cuda.jit
def rotate_in_place(out, a):
    """Rotate the tile in place: all load, then all store."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncthreads()
    taken = tile[(thread + 1) % 64]
    cuda.syncthreads()
    tile[thread] = taken
    out[thread] = tile[thread]


run = emulate(rotate_in_place)[1, 64](out, a)
check(out, rotate_spec(a))
run.races

# %% [markdown]
# The last barrier is gone: each thread takes its own cell at the end, and a thread is always in order with itself.

# %% [markdown]
# ## Write after write
#
# **Two threads leave their elements in one cell.**

# %%
@cuda.jit
def last_wins(out, a):
    """Two threads leave their elements in one cell."""
    tile = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    tile[thread % 32] = a[thread]
    cuda.syncthreads()
    out[thread] = tile[thread % 32]


def winner(seed):
    """What is left in cell 0 if warps run in the order of a seed."""
    emulate(last_wins, seed=seed)[1, 64](out, a)
    return int(out[0])


[winner(seed) for seed in range(8)]

# %% [markdown]
# Thread 0 brought 0 and thread 32 brought 32, and who is last wins.
# A seed is one order of the warps; a GPU has an order of its own.

# %%
emulate(last_wins)[1, 64](out, a).races

# %% [markdown]
# "Write after write", **WAW**.
# No barrier helps here: the two do the same line at the same time, and what you want has to be decided first.
# Give each thread a cell of its own, let one of them store, or let an atomic decide, as below.

# %% [markdown]
# ## Both barriers of a loop
#
# Most tiles are filled more than once.
# **Add up, tile after tile, what the next thread brought.**
# Each barrier can be left out, to see what it was for.

# %%
def make_relay(before, after):
    """A kernel with or without each of its two barriers."""
    @cuda.jit
    def relay(out, a):
        """Add up, tile after tile, what the next thread brought."""
        tile = cuda.shared.array(64, float32)
        thread = cuda.threadIdx.x
        total = float32(0)
        for first in range(0, a.size, 64):
            tile[thread] = a[first + thread]
            if before:
                cuda.syncthreads()
            total += tile[(thread + 1) % 64]
            if after:
                cuda.syncthreads()
        out[thread] = total
    return relay


long = np.arange(256, dtype=np.float32)
emulate(make_relay(before=True, after=True))[1, 64](out, long).races

# %%
emulate(make_relay(before=False, after=True))[1, 64](out, long).races

# %%
emulate(make_relay(before=True, after=False))[1, 64](out, long).races

# %% [markdown]
# The first barrier is easy to see: fill, wait, use.
# The second stands where a reader sees nothing to wait for.
# It keeps a fast warp from filling the tile anew while a slow one still uses the old one.

# %%
def draw_relay(before=True, after=False, intervals=4):
    """Two rounds of `relay` for 6 threads, as far as some interval."""
    fill, use = store_own(6), load_next(6)
    cuts = {(True, True): [fill, use, fill, use],
            (True, False): [fill, together(use, fill), use],
            (False, True): [together(fill, use)] * 2,
            (False, False): [together(fill, use, fill, use)]}
    return plot_intervals(cuts[before, after], shown=intervals)


explore(draw_relay, before=[True, False], after=[True, False],
        intervals=(1, 4))

# %% [markdown]
# Without the second barrier the loads of one round stand in one interval with the stores of the next.
# In a notebook in use you can step through the intervals, and take away the other one.

# %% [markdown]
# ## What could go wrong
#
# A barrier is for *all* threads of the block.
# If some of them never reach it, CUDA promises nothing: the others may wait for ever, or go on without them.
# Where an H200 goes on, `emulate` goes on too, and says who was missing.

# %%
@cuda.jit
def rotate_some_wrong(out, a):
    """Each thread that has an element rotates, and waits in a branch."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread < a.size:
        tile[thread] = a[thread]
        cuda.syncthreads()
        out[thread] = tile[(thread + 1) % a.size]


run = emulate(rotate_some_wrong)[1, 64](out[:40], a[:40])
with expect(AssertionError):
    run.assert_barriers()

# %% [markdown]
# So guard the work and not the barrier: `if`, store; barrier, for everyone; `if`, load.
# An early exit, `if thread >= a.size: return`, is the same mistake: those threads miss every barrier that follows.

# %% [markdown]
# ## Within a warp
#
# If all threads that talk sit in one warp, a barrier of the block is more than it takes.
# `cuda.syncwarp()` orders the lanes of a warp, and nobody else.

# %%
@cuda.jit
def rotate_by_warps(out, a):
    """The lanes of each warp pass their elements round."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncwarp()
    first = thread - thread % 32
    out[thread] = tile[first + (thread + 1) % 32]


run = emulate(rotate_by_warps)[1, 64](out, a)
check(out, np.roll(a.reshape(2, 32), -1, axis=1).ravel())

# %%
run.races, run.races.minor

# %% [markdown]
# Old code leaves `syncwarp` out and trusts the lanes to march in step.
# They did once.
# Since Volta each thread has its own place in the code, and the step is only a habit.

# %% [markdown]
# ## Between blocks
#
# **Each thread counts itself.** There are 4,096 of them.

# %%
@cuda.jit
def count_wrong(out):
    """Each thread counts itself."""
    out[0] += 1


count = np.zeros(1, np.int32)
run = emulate(count_wrong)[16, 256](count)
count

# %% [markdown]
# That line loads, adds and stores.
# A thread that loads before another one's store has arrived adds to an old number, and the other's addition is lost: a **lost update**.

# %%
run.races[0]

# %% [markdown]
# `syncthreads` waits for the threads of its own block only, so no barrier can fix this.
# An **atomic** loads, adds and stores in one indivisible step:

# %%
@cuda.jit
def count_atomically(out):
    """Each thread counts itself, by an atomic."""
    cuda.atomic.add(out, 0, 1)


count[:] = 0
run = emulate(count_atomically)[16, 256](count)
check(count, 4096)

# %%
run.races

# %% [markdown]
# Atomics on one cell wait for one another, so the answer is whole; in what order they came, nobody knows.
# For sums of floats that changes the last digits from run to run.

# %% [markdown]
# ## Publish, then signal
#
# Sometimes one block must know that the others are done.
# **Each block stores its part; the last one to finish adds up the parts.**
# An atomic counts who has finished.
# But that a thread *stored* before it counted does not mean that others *see* it in that order: this is what a **fence** is for.

# %%
def make_total(fence):
    """A kernel that publishes parts, with a fence or without."""
    @cuda.jit
    def total(out, parts, finished, a):
        """Each block stores its part; the last one adds up the parts."""
        block = cuda.blockIdx.x
        part = float32(0)
        for i in range(64 * block, 64 * block + 64):
            part += a[i]
        parts[block] = part
        if fence:
            cuda.threadfence()
        if cuda.atomic.add(finished, 0, 1) == cuda.gridDim.x - 1:
            whole = float32(0)
            for i in range(parts.size):
                whole += parts[i]
            out[0] = whole
    return total


# %%
def run_total(fence):
    """Run it with four blocks of one thread each, and check it."""
    parts, whole = np.zeros(4, np.float32), np.zeros(1, np.float32)
    finished = np.zeros(1, np.int32)
    run = emulate(make_total(fence))[4, 1](whole, parts, finished, long)
    check(whole, long.sum())
    return run.races


run_total(fence=False)

# %%
run_total(fence=True)

# %% [markdown]
# Both gave the right sum here, and only one of them is right.
# `cuda.threadfence()` makes no one wait.
# It says: what I stored before is seen by all before what I store after.

# %% [markdown]
# ## All blocks wait
#
# If every block must wait for all others, the simplest barrier is the end of the kernel: a second launch sees all that the first one stored.
# Within one kernel there is `cuda.cg.this_grid().sync()`.
# **Each block stores its part, the whole grid waits, and one thread adds up the parts.**

# %%
@cuda.jit
def total_after_all(out, parts, a):
    """Each block stores its part, all wait, one thread adds up the parts."""
    block = cuda.blockIdx.x
    part = float32(0)
    for i in range(64 * block, 64 * block + 64):
        part += a[i]
    parts[block] = part
    cuda.cg.this_grid().sync()
    if block == 0:
        whole = float32(0)
        for i in range(parts.size):
            whole += parts[i]
        out[0] = whole


parts, whole = np.zeros(4, np.float32), np.zeros(1, np.float32)
run = emulate(total_after_all)[4, 1](whole, parts, long)
check(whole, long.sum())

# %% [markdown]
# For that all blocks of the grid must be on the GPU at the same time, and so the grid cannot be larger than what fits.

# %% [markdown]
# ## What changed
#
# | what races | example | what orders it |
# |---|---|---|
# | a load after a store, in a block: RAW | `rotate_wrong` | `syncthreads` between the two |
# | a store after a load, in a block: WAR | `rotate_in_place_wrong`, the second barrier of `relay` | `syncthreads` between the two |
# | two stores: WAW | `last_wins` | a cell each, one thread, or an atomic |
# | lanes of one warp | `rotate_by_warps` | `syncwarp` |
# | an update by many | `count_wrong` | an atomic |
# | news for another block | `total` | a fence, then an atomic |
# | everything so far | `total_after_all` | a second launch, or a barrier of the grid |

# %% [markdown]
# ## On your own
#
# ★ Which barriers does `relay` need if each thread uses only the cell that it filled itself? Guess, then ask `make_relay`'s report.
#
# ★★ `largest`: the kernel finds the largest element of each block, and is right in most orders of the warps. Fix it with one line.

# %%
task = exercise("largest")
task

# %%
@cuda.jit
def largest(out, a):
    """Halve the block again and again; keep the largest of two cells."""
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
#     """Halve the block again and again; keep the largest of two cells."""
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
# The barrier is at the head of the loop, outside the `if`, so all threads reach it, even those with nothing left to do.
# At the end thread 0 reads a cell that it stored itself.
#
# </details>

# %% [markdown]
# ★★★ `exercise("relay")`: `relay` with two tiles that take turns, and one barrier a round. Which hazard would come back with none?
#
# The [assignment](assignments/15_barriers_and_races.ipynb) has 11 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# On a GPU, `compute-sanitizer --tool racecheck` finds races in shared memory, for the order that ran.
# It does not look at global memory, nor at an atomic against a plain access.
#
# The emulator looks for pairs that nothing orders, so its answer does not depend on luck.
# It sees only what this launch did: another size or other data may reach another line.
#
# A barrier that some threads miss is undefined in CUDA.
# Where an H200 goes on, the emulator goes on too and reports who was missing, as above; what hangs on an H200, such as lanes of one warp that wait at two barriers, the emulator stops with an error.
#
# A barrier costs the wait for the slowest warp of the block, so leave out those that nobody needs: but ask the report, not the answer.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, synchronization functions](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#synchronization-functions): what each barrier promises.
# - [Using CUDA warp-level primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/): why lanes no longer march in step.
# - [Compute Sanitizer, racecheck](https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html#racecheck-tool): the words RAW, WAR, WAW and hazard.
#
# *Next:* [Turn a matrix nearly as fast as a copy](21_transpose.ipynb): a transpose must run down a column on one side; can it be as fast as a copy all the same?
