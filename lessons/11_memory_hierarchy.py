# %% [markdown]
# # Know where a number lives
#
# *30 minutes*
#
# **What you'll do:** find out why the same loop takes more than fifteen times as long for each step when its numbers lie further away, and measure every memory of a GPU.
#
# **What you'll learn:**
#
# - name the places where a number can live, who sees it there, and how much room there is
# - measure how long a load takes, and how many bytes a second a memory gives
# - choose between a register, a local array, constant and global memory, and say what each costs
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb), and warps, as in [Keep a warp together](02_warps.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (check, device, emulate, exercise, load4, measure,
                     plot_bandwidth, plot_hierarchy, plot_latency, plot_times,
                     table)

device

# %% [markdown]
# ## Why is one ring slower?
#
# In a ring of cells each cell holds the index of the next one, and the last leads back to the first.
# **One thread walks from cell to cell, as each one says.**
# It cannot know where to go before the load that it waits for has ended.

# %%
@cuda.jit
def walk(out, following, steps):
    """One thread walks from cell to cell, as each one says."""
    cell = uint32(0)
    for _ in range(steps):
        cell = following[cell]
    out[0] = cell


def make_ring(size):
    """A ring in `size` bytes: one cell in each 128, in shuffled order."""
    order = 32 * np.random.default_rng(0).permutation(size // 128)
    following = np.zeros(size // 4, np.uint32)
    following[order] = np.roll(order, -1)
    return following


# %% [markdown]
# Memory is cached in **lines** of 128 bytes; with one cell in each, every step needs a new line.
# Here is a ring of 64 cells, and a walk of 300 steps.

# %%
def walk_spec(following, steps):
    """Where the walk ends."""
    cell = 0
    for _ in range(steps):
        cell = following[cell]
    return cell


end, few = np.zeros(1, np.uint32), make_ring(64 * 128)

run = emulate(walk)[1, 1](end, few, 300)
check(end, walk_spec(few, 300))
run.coalescing.requests, run.coalescing.sectors

# %% [markdown]
# Each step, and the store at the end, is one request to memory, and each moves one **sector**, a quarter of a line.
# The emulator counts the same for a ring of any size.
# Now the same number of steps on a GPU, around rings of 16 KB and of 256 MB:

# %% tags=["timing"]
SIZES = [2**k for k in range(12, 30, 2)]    # bytes: 4 KB to 256 MB
STEPS = 2**18
rings = {size: make_ring(size) for size in SIZES}

measure(walk)[1, 1](end, rings[2**14], STEPS)

# %% tags=["timing"]
measure(walk)[1, 1](end, rings[2**28], STEPS)

# %% [markdown]
# The same instructions, as many loads, and not at all the same time.
# What is different about the larger ring?

# %% [markdown]
# ## Where a number can live
#
# How much room there is depends on the GPU, so do not learn it by heart: ask.

# %%
gpu = cuda.get_current_device()
memory = cuda.current_context().get_memory_info().total

registers, shared, constant = (
    4 * gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
    gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, gpu.TOTAL_CONSTANT_MEMORY)

plot_hierarchy(gpu.MULTIPROCESSOR_COUNT, registers, shared, constant,
               gpu.L2_CACHE_SIZE, memory)

# %% [markdown]
# Where there is no GPU the emulator answers as an H200 would.
#
# The variables of a kernel live in **registers**, and only their thread sees them.
# **Shared memory** belongs to a block, whose threads can hand one another numbers in it.
# **Global memory** holds the arrays that you pass; it lies beside the chip, and all threads and the host see it.
# On the way there a load looks into two **caches**, which keep copies of lines that were used lately: **L1** in the multiprocessor, then **L2**, which all of them share.

# %% [markdown]
# Think of a theatre with a stage for each multiprocessor.
# What an actor holds is in a register; the props table in the wings is shared memory, for the cast of one scene; the storeroom downstairs is L2, for all stages; and the warehouse across town is global memory.

# %% [markdown]
# ## How far: latency
#
# The time from a load to its number is the load's **latency**.
# A walk measures it, since each step waits for the one before.
# The first time around a ring its lines come from far away, and a launch takes time, too.
# So walk once and walk twice as far: what the second takes longer are steps alone.
#
# **Predict.** The rings grow from 4 KB to 256 MB. Where will a step become slower?
#
# <details><summary>Answer</summary>
#
# Twice: where a ring no longer fits L1, and where it no longer fits L2. In between it changes little.
#
# </details>

# %% tags=["timing"]
def ns_per_step(kernel, *arguments, threads=1):
    """The time of a step: what twice as many steps take longer."""
    once, twice = (measure(kernel)[1, threads](*arguments, steps)
                   for steps in (STEPS, 2 * STEPS))
    return 1000 * (twice.median_us - once.median_us) / STEPS


stores = {"shared memory": shared, "L2": gpu.L2_CACHE_SIZE}
latency = {size: ns_per_step(walk, end, ring) for size, ring in rings.items()}

plot_latency(SIZES, latency.values(), stores)

# %% [markdown]
# There is the answer: a ring that fits L1 is served from L1, one that fits L2 from L2, and the largest has to ask global memory at every step.
# Each store is larger than the one before it, further away and slower.
#
# No attribute tells how large L1 is.
# It lies in one store with shared memory, and has what shared memory leaves; the first line is the most that shared memory can take.

# %% [markdown]
# ## How much: bandwidth
#
# A lorry from the warehouse is late, but it brings a pallet, and many are on the road at once.
# How many bytes a second a memory gives is its **bandwidth**.
# To see it, keep all threads of the GPU loading.
# **Each block goes round the same cells, from a place of its own.**
# `load4` loads four neighbours at once, and the compiler writes the inner loop out; a thread adds up all it loads, so that no load can be skipped.

# %%
@cuda.jit
def read(out, a, rounds):
    """Each block goes round the same cells, from a place of its own."""
    apart = a.size // cuda.gridDim.x // 32 * 32
    at = uint32(apart * cuda.blockIdx.x + 4 * cuda.threadIdx.x)
    step, last = uint32(4 * cuda.blockDim.x), uint32(a.size - 1)
    total = float32(0)
    for _ in range(rounds):
        for _ in range(4):
            x, y, z, w = load4(a, at & last)    # sizes are powers of two:
            total += x + y + z + w              # `&` goes back to the start
            at = uint32(at + step)
    out[cuda.grid(1)] = total


# %% [markdown]
# And for shared memory: **Each block goes round its own tile.**
# `cuda.shared.array` is one array for the block, and at `cuda.syncthreads()` its threads wait until all have filled their cells.

# %%
TILE = 8192     # cells, 32 KB


@cuda.jit
def read_tile(out, a, rounds):
    """Each block goes round its own tile."""
    tile = cuda.shared.array(TILE, float32)
    for cell in range(cuda.threadIdx.x, TILE, cuda.blockDim.x):
        tile[cell] = a[cell]
    cuda.syncthreads()
    at, step = uint32(4 * cuda.threadIdx.x), uint32(4 * cuda.blockDim.x)
    total = float32(0)
    for _ in range(rounds):
        for _ in range(4):
            x, y, z, w = load4(tile, at & uint32(TILE - 1))
            total += x + y + z + w
            at = uint32(at + step)
    out[cuda.grid(1)] = total


# %% [markdown]
# In 16 rounds 128 threads, each with four loads of four, go four times around 8,192 cells, so each block must find four times the sum.

# %%
a = np.random.default_rng(1).random(TILE, dtype=np.float32)
sums = np.zeros(2 * 128, np.float32)

for kernel in read, read_tile:
    emulate(kernel)[2, 128](sums, a, 16)
    check(sums.reshape(2, 128).sum(axis=1), 4 * a.sum())

# %% [markdown]
# Now two blocks of 1,024 threads for each multiprocessor, and each thread loads 64 bytes in each of 256 rounds:

# %% tags=["timing"]
ROUNDS = 256
launch = 2 * gpu.MULTIPROCESSOR_COUNT, 1024
totals = np.zeros(launch[0] * launch[1], np.float32)


def rate(kernel, size):
    """GB/s of reading a set of `size` bytes, again and again."""
    a = np.zeros(size // 4, np.float32)
    moved = 64 * ROUNDS * totals.size
    return measure(kernel, bytes=moved)[launch](totals, a, ROUNDS).gb_per_s


rates = {size: rate(read, size) for size in SIZES}
shared_rate = rate(read_tile, 4 * TILE)

plot_bandwidth(SIZES, rates.values(), stores, {"shared memory": shared_rate})

# %% [markdown]
# The steps are where they were.
# What is near is not only sooner there, there is also more of it each second.
# Bandwidth falls less than latency grows, though: far memory works on many requests at once.
#
# How many? Bytes a second, times the seconds of a load, are the bytes that must be on their way at each moment; divided by the threads of the launch, they are what each has to ask for before it waits:

# %% tags=["timing"]
PLACES = {"L1": 2**14, "L2": 2**22, "global": 2**28}

table(["from", "latency, ns", "GB/s", "KB on their way", "bytes a thread"],
      [[name, latency[size], rates[size], latency[size] * rates[size] / 2**10,
        latency[size] * rates[size] / totals.size]
       for name, size in PLACES.items()])

# %% [markdown]
# This is what all those threads are for.
# A GPU does not make a load shorter: while one warp waits, others ask, and if enough is on its way the latency hides behind the work of others.

# %% [markdown]
# ## Constant memory
#
# Up to 64 KB of numbers that no kernel changes can lie in **constant memory**: `cuda.const.array_like` puts a host array there when the kernel is compiled.
# It has a cache of its own, made for one case: all lanes want the same number, and it goes to all of them at once, a **broadcast**.
# **The lanes of a warp walk in constant memory, from so many cells.**

# %%
CELLS = 256
CIRCLE = np.roll(np.arange(CELLS, dtype=np.uint32), -1)


@cuda.jit
def walk_constant(out, distinct, steps):
    """The lanes of a warp walk in constant memory, from so many cells."""
    following = cuda.const.array_like(CIRCLE)
    lane = cuda.threadIdx.x
    cell = uint32(lane % distinct)
    for _ in range(steps):
        cell = following[cell]
    out[lane] = cell


lanes = np.zeros(32, np.uint32)
run = emulate(walk_constant)[1, 32](lanes, 4, 1000)
check(lanes, (np.arange(32) % 4 + 1000) % CELLS)
run

# %% [markdown]
# The report names one request, the store.
# The emulator reads constant memory right and does not count it, so it cannot tell what different cells cost.
#
# **Predict.** With 1 cell for all lanes a step takes as long as it takes. With 2, 4, … 32 different cells?
#
# <details><summary>Answer</summary>
#
# The cache gives one cell at a time, so the lanes queue: with 32 different cells the walk takes many times as long as with one.
#
# </details>

# %% tags=["timing"]
DISTINCT = 1, 2, 4, 8, 16, 32
queue = [ns_per_step(walk_constant, lanes, distinct, threads=32)
         for distinct in DISTINCT]

plot_times(["one cell", *(f"{count} cells" for count in DISTINCT[1:])],
           [STEPS * ns / 1000 for ns in queue])

# %% [markdown]
# The bars are 262,144 steps each.
# Weights that all threads use at the same moment are at home here; a table in which each lane looks up something else is better off in global or shared memory.

# %% [markdown]
# ## What a local array becomes
#
# `cuda.local.array` gives each thread an array of its own.
# Where does it live? Registers have names and no addresses, so the compiler can keep a cell in a register only if it knows *which* cell an index means.
# **Each thread throws a die of four faces and counts, the face as the index.**

# %%
@cuda.jit
def count_by_index(counts, seeds, throws):
    """Each thread throws a die and counts, the face as the index."""
    mine = cuda.local.array(4, uint32)
    for face in range(4):
        mine[face] = 0
    seed = seeds[cuda.grid(1)]
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)  # the die
        mine[seed >> 30] += 1
    for face in range(4):
        counts[face, cuda.grid(1)] = mine[face]


# %% [markdown]
# **The same, with each face compared.**

# %%
@cuda.jit
def count_by_name(counts, seeds, throws):
    """Each thread throws a die and counts, each face compared."""
    mine = cuda.local.array(4, uint32)
    for face in range(4):
        mine[face] = 0
    seed = seeds[cuda.grid(1)]
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)
        for face in range(4):
            mine[face] += seed >> 30 == face
    for face in range(4):
        counts[face, cuda.grid(1)] = mine[face]


# %%
def count_spec(seeds, throws):
    """How often each thread throws each face."""
    faces = []
    for _ in range(throws):
        seeds = np.uint32(1664525) * seeds + np.uint32(1013904223)
        faces.append(seeds >> 30)
    return [np.equal(faces, face).sum(axis=0) for face in range(4)]


seeds = np.random.default_rng(2).integers(2**32, size=256, dtype=np.uint32)
counts, spilled = np.zeros((4, 256), np.uint32), []

for kernel in count_by_index, count_by_name:
    local = emulate(kernel)[2, 128](counts, seeds, 64).local_memory
    check(counts, count_spec(seeds, 64))
    spilled.append([kernel.__name__, local.requests,
                    local.sectors / local.requests])

table(["kernel", "local requests, if it spills", "sectors each"], spilled)

# %% [markdown]
# The emulator does not know what the compiler makes of an array, so it counts *as if* both lay in memory, or **spilled**.
# In `count_by_name` every index comes from a short loop of fixed length: the compiler writes the loop out, the cells become registers, and none of these requests is left.
#
# In `count_by_index` the face is known only when it is thrown.
# Its array lies in **local memory**, which is local only in who sees it: it is a piece of global memory, behind the same caches.
# The lanes' cells of one index lie side by side there, 4 sectors; lanes that want different cells touch more.

# %% tags=["timing"]
wide = np.zeros((4, totals.size), np.uint32)
die = np.arange(totals.size, dtype=np.uint32)
times = [measure(kernel)[launch](wide, die, 4096)
         for kernel in (count_by_index, count_by_name)]

plot_times([m.kernel for m in times], [m.median_us for m in times],
           spread_us=[(m.lower_us, m.upper_us) for m in times])

# %% [markdown]
# Four comparisons for each throw, and they are the cheaper way: a count in a register needs no trip to a cache and back.

# %% [markdown]
# ## What could go wrong
#
# Local means: nobody else sees it.
# Here threads put numbers into a local array for their neighbours. **Each thread takes its neighbour's number.**

# %%
@cuda.jit
def swap_wrong(out, a):
    """Each thread takes its neighbour's number."""
    held = cuda.local.array(32, float32)
    thread = cuda.threadIdx.x
    held[thread] = a[thread]
    cuda.syncthreads()
    out[thread] = held[thread ^ 1]


swapped = np.zeros(32, np.float32)
run = emulate(swap_wrong)[1, 32](swapped, a)
run.uninitialised

# %% [markdown]
# There are 32 arrays, one for each thread, and in each one the neighbour's cell was never written.
# No barrier helps, since nothing is on its way.
# A GPU gives whatever was there.
# With one array for the block the neighbours meet:

# %%
@cuda.jit
def swap(out, a):
    """Each thread takes its neighbour's number."""
    held = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    held[thread] = a[thread]
    cuda.syncthreads()
    out[thread] = held[thread ^ 1]


run = emulate(swap)[1, 32](swapped, a)
check(swapped, a[:32].reshape(16, 2)[:, ::-1].ravel())
run.uninitialised

# %% [markdown]
# ## The memories, side by side
#
# One walk is missing, for the latency of shared memory: **One thread walks through shared memory.**

# %%
@cuda.jit
def walk_shared(out, following, steps):
    """One thread walks through shared memory."""
    ring = cuda.shared.array(CELLS, uint32)
    for cell in range(CELLS):
        ring[cell] = following[cell]
    cell = uint32(0)
    for _ in range(steps):
        cell = ring[cell]
    out[0] = cell


emulate(walk_shared)[1, 1](end, CIRCLE, 300)
check(end, 300 % CELLS)

# %% tags=["timing"]
kb, mb, gb = 2**10, 2**20, 2**30
near, middle, far = PLACES.values()
from_shared = ns_per_step(walk_shared, end, CIRCLE)

table(
    ["memory", "who sees it", "size", "latency, ns", "GB/s", "for", "price"],
    [["registers", "a thread", f"{registers // kb} KB each", "", "",
      "what a thread works on", "fewer threads at once"],
     ["local", "a thread", "in global memory", "as L1", "as L1",
      "arrays indexed by data", "a load, a store each"],
     ["shared", "a block", f"{shared // kb} KB each", from_shared,
      shared_rate, "what a block uses again", "barriers"],
     ["constant", "all", f"{constant // kb} KB", queue[0], "",
      "one number for all lanes", "different ones queue"],
     ["L1", "its multiprocessor", "what shared leaves", latency[near],
      rates[near], "what was used just now", "no promise to stay"],
     ["L2", "all", f"{gpu.L2_CACHE_SIZE // mb} MB", latency[middle],
      rates[middle], "what others used", "no promise to stay"],
     ["global", "all, the host", f"{memory / gb:.1f} GB", latency[far],
      rates[far], "everything else", "the longest way"]])

# %% [markdown]
# *Each*: in each multiprocessor.
# What is empty was not asked here; a register needs no load that could be timed.
#
# The two rings of the beginning are two rows of this table, L1 and global.
# The loop was the same, and so was the number of loads; what differs is the way that each of them goes.

# %% [markdown]
# ## On your own
#
# ★ In a ring of 256 MB, let each cell lead to the next one in memory. How long does a step take now, by your figures?
#
# <details><summary>Answer</summary>
#
# A sector of 32 bytes holds 8 cells, so one step in 8 goes to global memory, and 7 find their sector in L1: `(global + 7 * L1) / 8`.
# It may be less: L2 can fetch more than it is asked for.
#
# </details>
#
# ★★ `cubic`: evaluate a polynomial at many points, and load each point once and nothing else. Where do the weights belong?

# %%
task = exercise("cubic")
task

# %%
WEIGHTS = np.array([2, -3, 5, 7], np.float32)


@cuda.jit
def cubic(out, points, weights):
    """Each thread evaluates a cubic at one point."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = weights[0]
        for k in range(1, 4):
            out[i] = out[i] * points[i] + weights[k]


task.check(cubic)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# WEIGHTS = np.array([2, -3, 5, 7], np.float32)
#
#
# @cuda.jit
# def cubic(out, points, weights):
#     """Each thread evaluates a cubic at one point."""
#     constant = cuda.const.array_like(WEIGHTS)
#     i = cuda.grid(1)
#     if i < out.size:
#         x, value = points[i], constant[0]
#         for k in range(1, 4):
#             value = value * x + constant[k]
#         out[i] = value
# ```
#
# `value` and `x` are registers.
# All lanes want the same `constant[k]`, which suits constant memory; the argument `weights` is no longer used.
#
# </details>

# %% [markdown]
# ★★★ `exercise("column_window")`: each thread goes down a column, adds up every three neighbours and loads each of them once.
#
# The [assignment](assignments/11_memory_hierarchy.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# A block has 48 KB of shared memory without asking, more by opting in; `MAX_SHARED_MEMORY_PER_BLOCK_OPTIN` says how much.
# The split between shared memory and L1 is the carve-out; the driver chooses it unless you do.
#
# A thread has 255 registers at most; what it wants beyond them spills to local memory, too.
# On a GPU `kernel.get_local_mem_per_thread()` tells how many bytes do.
#
# In large arrays a load may also wait until its address is translated, by a table with a cache of its own, the TLB; that is part of the figure above.
# And an L2 of several parts answers sooner from the near one.
#
# The latency of a walk is not what a load costs among thousands: those overlap, and then bandwidth decides.
#
# Texture memory is not in Numba. It was a cached way to read-only data, which L1 does now; what textures add is interpolation.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, device memory accesses](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#device-memory-accesses): each memory, from the source.
# - [Numba: memory management](https://numba.readthedocs.io/en/stable/cuda/memory.html): local, shared and constant arrays.
#
# A sector brings 32 bytes, and a step of the first walk used four of them.
#
# *Next:* [Fetch no more than you use](12_coalescing.ipynb): two kernels load the same numbers once each, so why does one of them make memory move eight times as many bytes?
