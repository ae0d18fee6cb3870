# %% [markdown]
# # Know where a number lives
#
# *50 minutes*
#
# **What you'll do:** run one loop over two arrays, see what a step takes in each, find out which memory answers, and compute how many loads must be on their way to keep that memory busy.
#
# **What you'll learn:**
#
# - name the memories of a GPU, and say who sees each of them
# - measure a latency and a bandwidth, and check with counters which memory answered
# - compute by Little's law how many bytes must be in flight, and how many threads that takes
#
# **What you'll need:** kernels, blocks, threads and multiprocessors, as in [Write your first kernel](01_first_kernel.ipynb), and warps, as in [Keep a warp together](02_warps.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (check, compare, device, emulate, exercise, load4,
                     measure, plot_bandwidth, plot_hierarchy, plot_in_flight,
                     plot_latency)

device

# %% [markdown]
# ## Does a step always take as long?
#
# Think of a treasure hunt: each place tells you only where the next one is.
# In memory that is a **chain**.
# Each cell holds the index of the next cell, and the last one leads back to the first.
# One thread walks along it, from cell 0. It cannot ask for the next cell before the last answer is there, so it has one load on its way at any time, and its steps measure how long a load takes.

# %% [markdown]
# Memory is divided into **lines** of 128 bytes, so a line has room for 32 cells of four bytes.
# Our chains use one cell of each line, in shuffled order, so every step needs another line, anywhere in the array.
# (`uint32` keeps a cell's number as short as it is in the array.)

# %%
KB, MB, GB = 2**10, 2**20, 2**30


def make_chain(size):
    """A chain in `size` bytes: one cell in each 128, in shuffled order."""
    order = 32 * np.random.default_rng(0).permutation(size // 128)
    following = np.zeros(size // 4, np.uint32)
    following[order] = np.roll(order, -1)   # each leads to the next in order
    return following


@cuda.jit
def walk(out, following, steps):
    """Each thread walks from the cell with its own number, cell by cell."""
    cell = uint32(cuda.grid(1))
    for _ in range(steps):
        cell = following[cell]
    out[cuda.grid(1)] = cell


# %%
end, short = np.zeros(1, np.uint32), make_chain(8 * KB)
run = emulate(walk)[1, 1](end, short, 300)

cell = 0
for _ in range(300):
    cell = short[cell]
check(end[0], cell)
run.coalescing.requests, run.coalescing.sectors     # 300 steps and a store

# %% [markdown]
# When a warp loads or stores, that is one **request**, however many lanes take part. Each step makes one, and it is for one **sector**, a quarter of a line.
# The emulator counts the same for every chain: it counts what a kernel asks for, and does not model who answers.
#
# **Predict.** Now one thread of a GPU makes 524,288 steps: through a chain of 16 KB, where these are thousands of rounds, and through one of 64 MB, where they are a single round. Does a step take as long in both?

# %% tags=["timing", "hide-input"]
# Times both walks.
SIZES = [16 * KB, 64 * KB, 256 * KB, MB, 4 * MB, 16 * MB, 40 * MB, 64 * MB]
chains = {size: make_chain(size) for size in SIZES}

near, far = (measure(walk)[1, 1](end, chains[size], 2**19)
             for size in (16 * KB, 64 * MB))
compare({"16 KB": near, "64 MB": far},
        {"ns a step": lambda m: 1000 * m.median_us / 2**19}, by="chain")

# %% [markdown]
# Both walks execute the same instructions equally often, and the one through the larger chain takes 16 times as long.
# The cells of both lie in the same memory. So what is different?
#
# ## Where a number can live

# %%
gpu = cuda.get_current_device()
plot_hierarchy(gpu.MULTIPROCESSOR_COUNT,
               4 * gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
               gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, gpu.L2_CACHE_SIZE,
               cuda.current_context().get_memory_info().total)

# %% [markdown]
# Near memories are at the top, and on the right stands who sees them. (Sizes differ, so the cell asks the device; where there is none, the emulator answers as an H200. KB, MB and GB are powers of two here; a GB/s is 10⁹ bytes.)
# Three of them you use by name:
#
# | memory | who sees it | how long it lasts | in Python |
# |---|---|---|---|
# | **registers** | one thread | as long as the thread | mostly a variable: `total = 0` |
# | **shared memory** | the threads of a block | as long as the block | `cuda.shared.array` |
# | **global memory** | all threads; the host, by copies | until the host frees it | an array that you pass |

# %% [markdown]
# Global memory is a warehouse across town: it holds everything, and it lies off the chip.
# But nobody drives to the warehouse for what was here a minute ago.
# On the way lie **caches**, which keep copies of what was used recently, without being asked.
# A load may meet two: **L1** in its multiprocessor, and **L2**, which all multiprocessors share.
# It looks in L1 first. If the sector is there, that is a **hit**. If not, L1 asks L2; and only if L2 lacks the sector, too, it asks memory.

# %% [markdown]
# <details><summary>For the curious: what a multiprocessor keeps for shared memory</summary>
#
# On an H200, L1 and shared memory are one fast memory of 256 KB in each multiprocessor, by [NVIDIA's guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capability-9-0). The part that is shared memory, 228 KB at most, is called the carve-out. The driver chooses it, and a kernel may wish for one (`shared_memory_carveout`); the rest is L1.
# Local and constant memory are pieces of global memory with ways of their own: [Keep a thread's numbers close](16_own_memory.ipynb).
#
# </details>

# %% [markdown]
# ## How far: latency
#
# The time from a load to its number is the load's **latency**.
# A walk measures it: a step waits for one load, and for the one instruction that computes its address.
#
# But `measure` empties the caches before each launch. So in the first round no cache has seen a line yet, and memory brings each.
# We time a walk of whole rounds and one of twice as many, and subtract. The first round is in both and drops out, as does the launch's start; steps to lines that were visited before are left.
#
# **Predict.** The chains grow from 16 KB to 64 MB. Where does a step become slower?
#
# <details><summary>Answer</summary>
#
# Where a chain no longer fits in L1, and where it no longer fits in L2.
#
# </details>

# %% tags=["timing", "hide-input"]
# Walks each chain, then twice as far, and draws what a further step takes.
def warm_walks(size):
    """How many steps whole rounds are, a walk of these, and one of twice."""
    steps = max(size // 128, 2**16)
    return steps, *(measure(walk)[1, 1](end, chains[size], count)
                    for count in (steps, 2 * steps))


def ns(walks):
    """The time of a step to a cell that was visited before."""
    steps, once, twice = walks
    return 1000 * (twice.median_us - once.median_us) / steps


warm = {size: warm_walks(size) for size in SIZES}
first_round = 2**15, *(measure(walk)[1, 1](end, chains[4 * MB], count)
                       for count in (0, 2**15))
plot_latency(SIZES, [ns(it) for it in warm.values()],
             {"L1 and shared memory": 256 * KB, "L2": gpu.L2_CACHE_SIZE})

# %% [markdown]
# There are two plateaus, and behind them a rise, which may not have ended at 64 MB.
# The dashed lines show how large the caches are; steps become slower before a chain is larger. (The first one is for L1 and shared memory together, which are one memory; L1 has only a part of it. A chain uses one sector of each line, a quarter of its size; it counts here as if a cache set whole lines aside, and whether it does is not shown.)
#
# Is it really the caches? The GPU counts how many bytes L1 requests from L2, and how many are read from memory. Here is a chain from each plateau, one from the rise, and the longest, by the step:

# %% tags=["timing", "hide-input"]
# Tabulates what a step takes and requests, for four chains.
def per_step(counter, size=1):
    """What a step of the second walk adds to a counter, in bytes."""
    def added(walks):
        steps, once, twice = walks
        first, both = (m.counters.get(counter, np.nan) for m in (once, twice))
        return abs(np.round(size * (both - first) / steps))
    return added


compare({"16 KB": warm[16 * KB], "4 MB": warm[4 * MB], "40 MB": warm[40 * MB],
         "64 MB": warm[64 * MB], "4 MB, first round": first_round},
        {"ns": ns, "bytes requested from L2": per_step("l2_read_sectors", 32),
         "bytes read from memory": per_step("memory_read_bytes")}, by="chain")

# %% [markdown]
# In the short chain, L2 is asked for nothing: L1 answers each step.
# In that of 4 MB, each step requests a sector of 32 bytes from L2, and memory stays quiet.
# In the long one, memory delivers, too, and more than was requested (the fold below says what).
#
# The last row is that of 4 MB again, but in its first round, when no cache has seen it: memory delivers, and a step takes as long as in the long chain.
# So it is not the length of a chain that makes a step slow, but the memory that answers.

# %% [markdown]
# A step takes 21 ns if L1 answers it, seven times as long if L2 does, and more than 16 times as long if memory does.
#
# The rule: a load that is alone is as slow as the nearest memory that has its sector.
# What you used a moment ago is near; whether it still is depends on how much you used since.

# %% [markdown]
# <details><summary>For the curious: one sector, two sectors, and an L2 that is full early</summary>
#
# In the first round memory delivers 64 bytes for each step, two sectors for one: L2 fetched the neighbour, too.
#
# L2 has 60 MB, but at 40 MB half as many bytes come from memory as at 64 MB, so half of the steps reach it. A step takes 269 ns there. Halves of 348 and 145 ns would make less. So if those to memory still take 348, those to L2 take longer, about 190 ns.
# In the A100's L2, [each of two partitions caches for the multiprocessors next to it](https://developer.nvidia.com/blog/nvidia-ampere-architecture-in-depth/). Copies in both would explain that L2 is full early, and a longer path that it is slower.
#
# </details>

# %% [markdown]
# ## How much: bandwidth
#
# While a warp waits for a load from memory, the clock, at nearly 2 GHz, ticks almost 700 times.
# And yet GPUs are known for fast memories. How do the two fit together?
# A lorry from the warehouse arrives late, but many lorries can be on the road at once.
# So ask the other question: how many bytes arrive in a second? That is the memory's **bandwidth**.
# To see it, let all threads of the GPU load, and let each send off several loads before it waits.

# %% [markdown]
# In the next kernel all threads read an array together, again and again.
# `load4(a, i)` loads `a[i]` to `a[i + 3]` with one instruction, 16 bytes.
# The index of a load does not depend on the load before, so a thread can send four of them off before the first has arrived: the four of the inner loop, which the compiler puts ahead of the additions.
# The thread adds up all that comes, so that the compiler cannot drop a load.
# (Sizes are powers of two, so `at & last` leads from the end back to the start.)

# %%
@cuda.jit
def read(out, a, rounds):
    """All threads read the array together, again and again."""
    at = uint32(4 * cuda.grid(1))
    step, last = uint32(4 * cuda.gridsize(1)), uint32(a.size - 1)
    total = float32(0)
    for _ in range(rounds):
        for _ in range(4):
            x, y, z, w = load4(a, at & last)
            total += x + y + z + w
            at = uint32(at + step)
    out[cuda.grid(1)] = total


a = np.arange(8192, dtype=np.float32) % 7
sums = np.zeros(128, np.float32)
emulate(read)[1, 128](sums, a, 16)
check(sums.sum(), 4 * a.sum())      # 16 rounds read each number four times

# %% [markdown]
# **Predict.** The array grows from 4 KB to 1 GB. A step of the walk took 16 times as long from memory as from L1. Now that many ask at once, does L1 deliver 16 times as much as memory?

# %% tags=["timing", "hide-input"]
# Reads arrays of ten sizes with all threads that the GPU can hold.
ROUNDS, launch = 256, (2 * gpu.MULTIPROCESSOR_COUNT, 1024)
totals = np.zeros(launch[0] * launch[1], np.float32)
READ = [2**k for k in range(12, 32, 2)]


def reading(size):
    """The measurement of reading `size` bytes again and again."""
    a = np.zeros(size // 4, np.float32)
    loaded = 64 * ROUNDS * totals.size
    return measure(read, bytes=loaded)[launch](totals, a, ROUNDS)


reads = {size: reading(size) for size in READ}
plot_bandwidth(READ, [m.gb_per_s for m in reads.values()],
               {"L2": gpu.L2_CACHE_SIZE},
               asked=[m.traffic for m in reads.values()])

# %% [markdown]
# The curve is what the threads load in a second. The bars below show, by the counters, which level delivered it.
# Read a level's rate where its colour fills the bar: about 31,000 GB/s from L1, and 4,600 from memory, close to the 4,800 of its data sheet.
# L2 fills no bar; at 16 MB nearly all bytes come from it, about 8,600 GB/s. (At 64 MB it delivers more than half here, and nothing to the walker; why is not shown.)
#
# (The size is the whole array's. Of a large one, a multiprocessor touches only a part, so L1 lasts longer here than for the one walker.)

# %% [markdown]
# So the answer is no. Memory is 16 times as far as L1, but L1 delivers only seven times as much.
#
# Latency and bandwidth are two properties: a wider road makes no lorry faster, but more of them arrive.

# %% [markdown]
# ## How many must be on their way?
#
# One walker has one load on its way, and gets a sector of 32 bytes in 348 ns: 0.09 GB/s.
# Two walkers that do not hinder each other get twice as much, and a thousand of them a thousand times.
# So the rate grows with what is on its way, or **in flight**, until the road is full:
#
# > bytes in flight = rate × latency
#
# This is **Little's law**. It holds for lorries and for memory.
#
# **Predict.** The GPU can hold 270,336 threads. Is memory busy if each of them waits for one `float32`, and neighbours for neighbouring ones? Take the latency of the longest chain, and the rate of the largest array.

# %%
latency, rate = ns(warm[64 * MB]), reads[GB].gb_per_s
threads = gpu.MULTIPROCESSOR_COUNT * gpu.MAX_THREADS_PER_MULTIPROCESSOR

needed = latency * rate             # ns × GB/s = bytes
f"{needed / 1e6:.2f} MB are needed, {4 * threads / 1e6:.2f} are in flight"

# %% [markdown]
# It is not, if a load takes as long as a step of the walk: four bytes for each thread are only two thirds of what memory needs.
#
# Does it come true? Let many threads walk, side by side: lanes of a warp share a line, so each thread has four bytes in flight. Each step leads to cells that nobody has visited, so that memory answers:

# %%
HOPS = 128
ring = np.arange(HOPS * threads, dtype=np.uint32)
ring += np.uint32(threads)      # each cell leads to the one that comes
ring[-threads:] -= np.uint32(ring.size)     # a whole GPU of threads later

# %% tags=["timing", "hide-input"]
# Walks with ever more threads, and draws them below what Little's law allows.
ends = np.zeros(threads, np.uint32)


def together(warps):
    """The measurement of a walk with so many warps a multiprocessor."""
    blocks = gpu.MULTIPROCESSOR_COUNT * -(-warps // 32)
    each = 32 * min(warps, 32)
    return measure(walk, bytes=4 * HOPS * blocks * each)[blocks, each](
        ends, ring, HOPS)


crowds = {warps: together(warps) for warps in (1, 8, 64)}
flying = {f"{warps} × 132 warps": (128 * warps * gpu.MULTIPROCESSOR_COUNT,
                                   m.gb_per_s) for warps, m in crowds.items()}
flying["read"] = 64 * threads, rate
plot_in_flight(flying, latency, rate, "memory")

# %% [markdown]
# Three diamonds are the walk: with a warp on each multiprocessor, with eight, with all 64. The line that rises is Little's law for a load of 348 ns, and the level line is the rate of `read` from memory.
#
# Yes, and more so: even a GPU full of walkers gets less than half of what memory can deliver. (Both axes are logarithmic.) With 64 times as many walkers, 64 times as many bytes arrive, and the launch takes only a quarter longer, so the diamonds rise beside the line. They stay below it: the line is for loads alone. The loads take no longer: by the counters (not shown), a warp waits as long for each with 64 warps a multiprocessor as with one, within 5%.

# %% [markdown]
# To fill the road, a thread must have more in flight: wider elements, or several loads before it waits.
# `read` does both. Its threads can have 64 bytes in flight each, and all together 17 MB, about ten times what is needed. The rate cannot grow beyond memory's, so by the law the time must: 17 MB at 4,626 GB/s are 3.7 µs on the way.
# By the counters (not shown), a warp of `read` waits 3.4 µs for its four loads, ten times as long as a step of the walk.
#
# So **have as many bytes in flight as rate × latency; what is beyond that only waits longer.**

# %% [markdown]
# This is what many threads are for. They shorten no load; but with enough loads in flight memory always works, and while some warps wait, others compute. That is called **latency hiding**.

# %% [markdown]
# ## What each level needs
#
# By Little's law each level needs its own amount in flight. If the GPU is full of threads, each thread's part is in the last column:

# %% tags=["hide-input"]
# Tabulates each level's size, its measurements, and their product.
LEVELS = {"L1": (16 * KB, 16 * KB), "L2": (4 * MB, 16 * MB),
          "memory": (64 * MB, GB)}
walked = {level: ns(warm[chain]) for level, (chain, _) in LEVELS.items()}
rates = {level: reads[size].traffic.get(level, np.nan)
         / reads[size].median_us / 1000
         for level, (_, size) in LEVELS.items()}
whose = {"L1": "a multiprocessor", "L2": "all", "memory": "all, and the host"}
total = cuda.current_context().get_memory_info().total
known = {"L1": "a part of 256 KB", "L2": f"{gpu.L2_CACHE_SIZE // MB} MB",
         "memory": f"{total / GB:.0f} GB"}

compare({level: level for level in LEVELS},
        {"whose": whose.get, "size": known.get,
         "latency, ns": walked.get, "bandwidth, GB/s": rates.get,
         "bytes a thread":
             lambda level: walked[level] * rates[level] / threads},
        by="level")

# %% [markdown]
# So by the law one `float32` for each thread is enough for L1, and for neither L2 nor memory.
# (The latency is that of one thread that has the GPU to itself. The rate is what this level alone delivered to all threads; so memory has a hundredth less here than above, where L2 delivered some, too.)
#
# | who asks | what decides |
# |---|---|
# | one thread, step by step | the latency of the nearest memory that has the sector |
# | many threads, or many loads of each | bytes in flight, up to the bandwidth |
# | anybody, twice | whether the sector is still in a cache |
#
# So ask two things: of one load, who answers it; of a whole kernel, how much it keeps in flight.

# %% [markdown]
# ## On your own
#
# ★ Another GPU has 80 multiprocessors, and its memory gives 2,000 GB/s after 500 ns. If each multiprocessor holds 2,048 threads, how many bytes must each have in flight? And what rate do 80 blocks of 128 threads reach at most, with one `float32` each?
#
# <details><summary>Answer</summary>
#
# 2,000 GB/s × 500 ns are 1,000,000 bytes; shared by 163,840 threads, 6.1 each.
# 10,240 threads have 40,960 bytes in flight, and get them in 500 ns: 82 GB/s at most.
#
# </details>
#
# ★ A kernel goes through an array twice. Which memory answers the second time, if the array has 20 MB, and if it has 500 MB? How would you change the second one?
#
# <details><summary>Answer</summary>
#
# L2 has kept the 20 MB; of 500 MB it has at most the end, and memory delivers again.
# Go through a piece that fits in L2, twice, and then through the next.
#
# </details>
#
# ★★ `two_chains`: a thread walks two ways, one after the other. Let it have two loads in flight.

# %%
task = exercise("two_chains")
task

# %%
@cuda.jit
def two_chains(out, chain, starts, steps):
    """Each thread walks along the chain from two cells."""
    i = cuda.grid(1)
    if i < out.size:
        one, other = starts[0, i], starts[1, i]
        for _ in range(steps):
            one = chain[one]
        for _ in range(steps):
            other = chain[other]
        out[i] = max(one, other)


task.check(two_chains)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def two_chains(out, chain, starts, steps):
#     """Each thread walks along the chain from two cells."""
#     i = cuda.grid(1)
#     if i < out.size:
#         one, other = starts[0, i], starts[1, i]
#         for _ in range(steps):
#             one = chain[one]
#             other = chain[other]
#         out[i] = max(one, other)
# ```
#
# The second load does not need the first, so it leaves before that has arrived, and a round waits once for both.
#
# </details>
#
# The [assignment](assignments/11_memory_hierarchy.ipynb) has 4 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Nsight Compute calls a warp's wait for a load from these levels *stall long scoreboard*; its section *Memory Workload Analysis* draws the levels with the bytes between them.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, device memory accesses](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#device-memory-accesses): each memory, from the source.
# - [Numba: memory management](https://numba.readthedocs.io/en/stable/cuda/memory.html): what there is in Python.
# - [Little's law](https://en.wikipedia.org/wiki/Little%27s_law): the same for queues of all kinds.
#
# *Next:* [Fetch no more than you use](12_coalescing.ipynb): each step of the walk asked for a sector of 32 bytes and used four of them; what does that cost when all threads do it?
