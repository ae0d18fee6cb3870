# %% [markdown]
# # Know where a number lives
#
# *45 minutes*
#
# **What you'll do:** run one loop over two arrays, see each step take more than fifteen times as long in the larger one, and measure the memories of a GPU to find out why.
#
# **What you'll learn:**
#
# - name the memories of a GPU, who sees each of them, and how large each is
# - measure a latency and a bandwidth, and check with counters which memory answered
# - read in the machine code whether an array is in registers or in local memory
# - choose between registers, local, shared, constant and global memory
#
# **What you'll need:** kernels, blocks, threads and multiprocessors, as in [Write your first kernel](01_first_kernel.ipynb), and warps, as in [Keep a warp together](02_warps.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, check, device, emulate, exercise, load4,
                     measure, plot_bandwidth, plot_hierarchy, plot_latency,
                     plot_times, table)

device

# %% [markdown]
# ## Why is one chain slower?
#
# In a chain, each cell holds the index of the next cell, and the last one leads back to the first.
# **One thread walks from cell to cell.**
# It cannot start a load before the previous one has returned.
#
# Memory is divided into **lines** of 128 bytes.
# The chains here have one cell in each line, so each step needs another line.
# First, 300 steps through 64 cells, in the emulator:

# %%
@cuda.jit
def walk(out, following, steps):
    """One thread walks from cell to cell."""
    cell = uint32(0)
    for _ in range(steps):
        cell = following[cell]
    out[0] = cell


def make_chain(size):
    """A chain in `size` bytes: one cell in each 128, in shuffled order."""
    order = 32 * np.random.default_rng(0).permutation(size // 128)
    following = np.zeros(size // 4, np.uint32)
    following[order] = np.roll(order, -1)
    return following


end, short = np.zeros(1, np.uint32), make_chain(64 * 128)
run = emulate(walk)[1, 1](end, short, 300)
cell = 0
for _ in range(300):
    cell = short[cell]
check(end[0], cell)
run.coalescing.requests, run.coalescing.sectors

# %% [markdown]
# Each step, and the store at the end, is one request for one **sector**, a quarter of a line.
# The emulator counts the same for every chain: it counts requests, and does not model what answers them.
#
# Now a GPU walks 524,288 steps through 16 KB, and as many through 64 MB, where they are one round:

# %% tags=["timing"]
KB, MB, GB = 2**10, 2**20, 2**30
SIZES = [16 * KB, 64 * KB, 256 * KB, MB, 4 * MB, 16 * MB, 40 * MB, 64 * MB]
chains = {size: make_chain(size) for size in SIZES}

near, far = (measure(walk)[1, 1](end, chains[size], 2**19)
             for size in (16 * KB, 64 * MB))
plot_times(["16 KB", "64 MB"], [near.median_us, far.median_us])

# %% [markdown]
# Both walks run the same instructions equally often, and one takes 17 times as long.
# What is different about the larger chain?
#
# ## Where a number can live
#
# Sizes differ from GPU to GPU, so ask the device; where there is none, the emulator answers as an H200.

# %%
gpu = cuda.get_current_device()
memory = cuda.current_context().get_memory_info().total

registers, shared, constant = (
    4 * gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
    gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, gpu.TOTAL_CONSTANT_MEMORY)

plot_hierarchy(gpu.MULTIPROCESSOR_COUNT, registers, shared, constant,
               gpu.L2_CACHE_SIZE, memory)

# %% [markdown]
# Each row below the threads is a memory, the nearest at the top; on the right is who sees it.
# A thread computes with **registers**, which no other thread sees.
# **Shared memory** lies in the multiprocessor, the part of the chip that runs a block; the threads of the block exchange numbers through it.
# **Global memory** holds the arrays that you pass to a kernel; it lies beside the chip.
# On the way there, a load asks two **caches**, which keep what was used recently: **L1** in each multiprocessor, then **L2**, which all share.
#
# Think of a theatre with many stages.
# An actor's hands are registers, the props table beside a stage is shared memory, the storeroom downstairs is L2, and the warehouse across town is global memory.

# %% [markdown]
# ## How far: latency
#
# The time from a load to its number is the load's **latency**.
# A walk measures it: a step is one load and the one instruction that computes its address, and each step waits for the one before.
#
# In the first round, every line comes from memory.
# So measure a walk of whole rounds and one of twice as many, and subtract: what is left are steps to cells that were visited before.
#
# **Predict.** The chains grow from 16 KB to 64 MB. Where does a step become slower?
#
# <details><summary>Answer</summary>
#
# Where a chain no longer fits in L1, and where it no longer fits in L2.
#
# </details>

# %% tags=["timing"]
COUNTED = "l2_read_sectors", "memory_read_bytes"


def warm_steps(size):
    """The time of a step to a cell seen before, and the bytes it reads."""
    steps = max(size // 128, 2**16)         # whole rounds
    once, twice = (measure(walk)[1, 1](end, chains[size], count)
                   for count in (steps, 2 * steps))
    ns = 1000 * (twice.median_us - once.median_us) / steps
    first, both = ([m.counters.get(it, np.nan) for it in COUNTED]
                   for m in (once, twice))
    return [ns, *np.subtract(both, first) * (32, 1) / steps]    # in bytes


warm = {size: warm_steps(size) for size in SIZES}
ends_at = {"shared memory": shared, "L2": gpu.L2_CACHE_SIZE}

plot_latency(SIZES, [ns for ns, *_ in warm.values()], ends_at)

# %% [markdown]
# There are three levels, with slopes between them: 20 ns up to 64 KB, 145 ns from 1 MB to 16 MB, and 349 ns at 64 MB.
# The dashed lines are sizes that the device told us.
# No attribute gives the size of L1; the first line is that of shared memory, which lies in the same fast memory.
#
# Which level answered?
# A step requests 32 bytes from L1.
# The GPU's counters say how many of them L1 requested from L2, and how many bytes were then read from memory:

# %% tags=["timing"]
table(["chain, KB", "ns per step", "bytes requested from L2",
       "bytes read from memory"],
      [[size // KB, ns, *np.abs(np.round(read))]
       for size, (ns, *read) in warm.items()])

# %% [markdown]
# In 16 KB and 64 KB, L1 answers each step; from 1 MB to 16 MB, L2 does.
# In 64 MB, memory does, with 63 bytes: two sectors for the one requested.
# A chain of 256 KB is served by both caches.
#
# L2 has 60 MB, but chains begin to miss it earlier: at 40 MB, memory delivers half as many bytes as at 64 MB, so about half of the steps reach it.
# The other half come from L2, yet must take about 185 ns, not 145, if a step to memory takes 349.
# NVIDIA describes the L2 of the A100 as two partitions; [each caches for the multiprocessors next to it](https://developer.nvidia.com/blog/nvidia-ampere-architecture-in-depth/).
# A longer path between them would explain the 185 ns, but no counter here shows it.

# %% [markdown]
# ## How much: bandwidth
#
# A lorry from the warehouse arrives late, but it brings a pallet, and many lorries are on the road at once.
# The bytes that a memory delivers in a second are its **bandwidth**.
# To see it, all threads of the GPU must load.
# **All threads read the array together, again and again.**
#
# `load4` loads four neighbours with one instruction.
# A thread adds up all that it loads, so that the compiler cannot drop a load.

# %%
@cuda.jit
def read(out, a, rounds):
    """All threads read the array together, again and again."""
    at = uint32(4 * cuda.grid(1))
    step, last = uint32(4 * cuda.gridsize(1)), uint32(a.size - 1)
    total = float32(0)
    for _ in range(rounds):
        for _ in range(4):
            x, y, z, w = load4(a, at & last)    # sizes are powers of two:
            total += x + y + z + w              # `&` goes back to the start
            at = uint32(at + step)
    out[cuda.grid(1)] = total


# %% [markdown]
# The same for shared memory, where a block's array is often called a *tile*: **Each block reads its own tile, again and again.**
# `cuda.shared.array` is one array for the block; at `cuda.syncthreads()`, a barrier, its threads wait until all of them have filled their cells.
#
# First a check: in 16 rounds, 128 threads read 8,192 cells four times.
# Then two blocks of 1,024 threads for each multiprocessor, which are all that it can hold; each thread loads 64 bytes in each of 256 rounds.

# %%
TILE = 8192     # cells, 32 KB


@cuda.jit
def read_tile(out, a, rounds):
    """Each block reads its own tile, again and again."""
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


a, sums = np.arange(TILE, dtype=np.float32) % 7, np.zeros(128, np.float32)
for kernel in read, read_tile:
    emulate(kernel)[1, 128](sums, a, 16)
    check(sums.sum(), 4 * a.sum())

# %% tags=["timing"]
ROUNDS, launch = 256, (2 * gpu.MULTIPROCESSOR_COUNT, 1024)
totals = np.zeros(launch[0] * launch[1], np.float32)
READ = [2**k for k in range(12, 32, 2)]     # bytes: 4 KB to 1 GB


def reading(kernel, size):
    """The measurement of reading `size` bytes again and again."""
    a = np.zeros(size // 4, np.float32)
    loaded = 64 * ROUNDS * totals.size
    return measure(kernel, bytes=loaded)[launch](totals, a, ROUNDS)


reads = {size: reading(read, size) for size in READ}
from_tile = reading(read_tile, 4 * TILE)

plot_bandwidth(READ, [m.gb_per_s for m in reads.values()],
               {"L2": gpu.L2_CACHE_SIZE},
               {"shared memory": from_tile.gb_per_s},
               [m.traffic for m in reads.values()])

# %% [markdown]
# The curve is what the threads load; the bars show, by the counters, which level delivered it.
# Where one colour fills nearly all of a bar, the rate is that level's: 31,000 GB/s from L1, 8,600 from L2 (96% of the rate at 16 MB), 4,600 from memory, whose data sheet says 4,800.
# At 64 MB, two levels deliver together.
# L1 delivers more here than in the walk, even at 256 KB, since a multiprocessor reads only a part of the array: at most 64 KB of the 256.
# Shared memory delivers as much as L1: the data path of both is more than 94% busy.

# %% [markdown]
# While a load from memory takes 349 ns, at least 349 ns × 4,600 GB/s = 1.6 MB must be in flight: 6 bytes for each of the 270,336 threads.
# This is what many threads are for: a GPU does not shorten a load; it keeps many in flight.
#
# ## Constant memory
#
# Up to 64 KB of numbers that no kernel writes can lie in **constant memory**: `cuda.const.array_like` puts a host array there when the kernel is compiled.
# It has a cache of its own, made for one case: all lanes ask for the same cell, and one read serves them all, a **broadcast**.
# **The lanes of a warp walk in constant memory, from `distinct` cells.**

# %%
CELLS = 256
CIRCLE = np.roll(np.arange(CELLS, dtype=np.uint32), -1)


@cuda.jit
def walk_constant(out, distinct, steps):
    """The lanes of a warp walk in constant memory, from `distinct` cells."""
    following = cuda.const.array_like(CIRCLE)
    lane = cuda.threadIdx.x
    cell = uint32(lane % distinct)
    for _ in range(steps // 8):
        for _ in range(8):          # the compiler repeats this
            cell = following[cell]
    out[lane] = cell


# %% [markdown]
# For comparison, **the lanes walk in global memory**, and **the lanes walk in shared memory**.
#
# **Predict.** All lanes in one cell is the baseline. How much longer does a step take when the lanes are in 2, 4, … 32 different cells?
#
# <details><summary>Answer</summary>
#
# The constant cache delivers one cell at a time, so each further cell adds to the step. L1 and shared memory deliver 32 cells at once if they lie side by side.
#
# </details>

# %%
@cuda.jit
def walk_global(out, following, distinct, steps):
    """The lanes walk in global memory."""
    lane = cuda.threadIdx.x
    cell = uint32(lane % distinct)
    for _ in range(steps // 8):
        for _ in range(8):
            cell = following[cell]
    out[lane] = cell


@cuda.jit
def walk_shared(out, following, distinct, steps):
    """The lanes walk in shared memory."""
    tile, lane = cuda.shared.array(CELLS, uint32), cuda.threadIdx.x
    for i in range(lane, CELLS, cuda.blockDim.x):
        tile[i] = following[i]
    cuda.syncthreads()
    cell = uint32(lane % distinct)
    for _ in range(steps // 8):
        for _ in range(8):
            cell = tile[cell]
    out[lane] = cell


# %% tags=["timing"]
STEPS, DISTINCT = 2**16, (1, 2, 4, 8, 16, 32)
lanes, walks = np.zeros(32, np.uint32), {}

for place, kernel, source, counts in (
        ("constant", walk_constant, (), DISTINCT),
        ("shared", walk_shared, (CIRCLE,), (1, 32)),
        ("global", walk_global, (CIRCLE,), (1, 32))):
    emulate(kernel)[1, 32](lanes, *source, 4, 1000)
    check(lanes, (np.arange(32) % 4 + 1000) % CELLS)
    for count in counts:
        m = measure(kernel)[1, 32](lanes, *source, count, STEPS)
        walks[place, count] = m.median_us

plot_times([f"{place}, {count} cell{'s' * (count > 1)}"
            for place, count in walks], walks.values())

# %% [markdown]
# Each bar is 65,536 steps.
# Each further cell adds 5.5 to 5.6 ns to a step: the cache delivers one cell at a time.
# In shared and in global memory (here: L1), 32 cells side by side take as long as one.
# For one cell, shared memory is fastest, 14.7 ns a step; constant memory takes 17.3 ns, and L1 20.6.
#
# So constant memory is faster than L1 for one cell, and unlike shared memory it needs no copying and no barrier.
# Use it for numbers that all lanes need at the same moment, such as weights.
# A table in which lanes look up different cells belongs in shared or global memory.

# %% [markdown]
# ## What a local array becomes
#
# `cuda.local.array` gives each thread an array of its own.
# Registers have names and no addresses, so an array can be in registers if the compiler knows, for each access, *which* cell is meant.
# Otherwise it goes, as a rule, to **local memory**.
# It is called local because only one thread sees it; it is a part of global memory, behind the same caches, where cell k of a lane lies beside cell k of the next lane.
#
# **Each thread throws a die and counts at the face's index.**

# %%
FACES = 8


@cuda.jit
def count_by_index(counts, seeds, throws):
    """Each thread throws a die and counts at the face's index."""
    mine = cuda.local.array(FACES, uint32)
    for face in range(FACES):
        mine[face] = 0
    seed = seeds[cuda.grid(1)]
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)  # the die
        mine[seed >> 29] += 1                       # its highest 3 bits
    for face in range(FACES):
        counts[face, cuda.grid(1)] = mine[face]


# %% [markdown]
# The compiler cannot know which face will be thrown.
# **Each thread throws a die and compares it with every face**: now each index comes from a loop of fixed length, and the compiler **unrolls** it: it repeats the body once for each face.
#
# `assemble` shows what the compiler makes of a kernel, and `beside` compares it with another.

# %%
@cuda.jit
def count_by_name(counts, seeds, throws):
    """Each thread throws a die and compares it with every face."""
    mine = cuda.local.array(FACES, uint32)
    for face in range(FACES):
        mine[face] = 0
    seed = seeds[cuda.grid(1)]
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)
        for face in range(FACES):
            mine[face] += seed >> 29 == face
    for face in range(FACES):
        counts[face, cuda.grid(1)] = mine[face]


# %%
def count_spec(seeds, throws):
    """How often each thread throws each face."""
    faces = []
    for _ in range(throws):
        seeds = np.uint32(1664525) * seeds + np.uint32(1013904223)
        faces.append(seeds >> 29)
    return [np.equal(faces, face).sum(axis=0) for face in range(FACES)]


seeds = np.random.default_rng(2).integers(
    2**32, size=totals.size, dtype=np.uint32)
counts, few = np.zeros((FACES, 256), np.uint32), seeds[:256]
counted = {}
for kernel in count_by_index, count_by_name:
    counted[kernel] = emulate(kernel)[2, 128](counts, few, 64)
    check(counts, count_spec(few, 64))

by_index, by_name = (assemble(kernel)[2, 128](counts, few, 64)
                     for kernel in counted)
by_index.beside(by_name)

# %% [markdown]
# Both take 28 registers, and a multiprocessor holds 64 warps of either.
# What differs is where the eight counts are: `count_by_index` has 32 bytes of local memory a thread, with loads and stores for it, and `count_by_name` has none.
# In return, `count_by_name` has 116 instructions more, 95 of them in the line that compares.
# (This counts each instruction once, however often it is executed.)
#
# **Predict.** Which one is faster?

# %% tags=["timing"]
wide = np.zeros((FACES, totals.size), np.uint32)
indexed, named = (measure(kernel)[launch](wide, seeds, 4096)
                  for kernel in counted)

plot_times([m.kernel for m in (indexed, named)],
           [m.median_us for m in (indexed, named)])

# %% [markdown]
# `count_by_name` is faster, although it executes 2.7 times as many instructions: `count_by_index` takes 7.3 times as long.
#
# With an index, each throw loads from local memory and stores to it.
# 32 lanes with one index touch 4 sectors; with random faces, 21, by `emulate` and by the GPU's counters.
# L1 delivers the loads, but every store goes on to L2.
# 99% of the waiting is for local memory or for room in the queue to it.
# No unit that we counted is full; the busiest is L2, with 29%.
#
# ## What spills
#
# Registers can run out.
# A multiprocessor has 65,536 for at most 2,048 threads: 32 each.
# **Each thread throws 32 dice at a time and adds up their faces.**
# Each index is known, so all dice can be in registers.

# %%
DICE = 32


def thrower(**options):
    """The kernel below, compiled with these options."""
    @cuda.jit(**options)
    def throw(totals, seeds, throws):
        """Each thread throws 32 dice at a time and adds up their faces."""
        dice, thread = cuda.local.array(DICE, uint32), cuda.grid(1)
        for die in range(DICE):
            dice[die] = uint32(seeds[thread] + die)
        total = uint32(0)
        for _ in range(throws):
            for die in range(DICE):
                dice[die] = uint32(1664525 * dice[die] + 1013904223)
                total = uint32(total + (dice[die] >> 29))
        totals[thread] = total

    return throw


# %% tags=["timing"]
single = gpu.MULTIPROCESSOR_COUNT, 1024     # one block for each multiprocessor
found, thrown = np.zeros(totals.size, np.uint32), {}

for kernel in thrower(), thrower(max_registers=32):
    made = assemble(kernel)[launch](found, seeds, 1024)
    thrown[made] = [measure(kernel)[grid](found, seeds, 1024)
                    for grid in (single, launch)]

table(["registers", "bytes spilled", "warps held per multiprocessor",
       "µs, 1 block per multiprocessor", "µs, 2 blocks per multiprocessor"],
      [[made.registers, made.spill_stores, made.occupancy.warps,
        *(m.median_us for m in times)]
       for made, times in thrown.items()])

# %% [markdown]
# Without a limit, the compiler takes 40 registers, and a multiprocessor holds one block of 1,024 threads.
# With `max_registers=32` it holds two, but now values are **spilled**: stored in local memory, and loaded back when they are needed.
#
# With one block on each of the 132 multiprocessors, the kernel that spills takes 6.9 times as long, for 1.5 times as many instructions: its warps wait for local memory.
# A second block on each multiprocessor does not make up for it.
# Before you limit registers, ask `assemble` what will be spilled.
#
# ## What could go wrong
#
# A local array belongs to one thread.
# In this kernel, **each thread takes its neighbour's number**, or so it should:

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
# There are 32 arrays, one for each thread.
# Each thread writes one cell of its own array and reads another one, which nobody wrote; a GPU returns whatever is there.
# The barrier does not help: no thread can write into another thread's array.
# With one array for the block it works:

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
# Sizes are the device's, times are from the experiments above; *each* means in each multiprocessor.
#
# Texture memory has its row, too, though Numba does not have it.
# It is global memory that is read through the units for graphics, with two properties of its own: a cache that keeps together what is near in two dimensions, and hardware that interpolates between cells and handles indices beyond the border.

# %% tags=["timing"]
rates = {level: m.traffic.get(level, np.nan) / m.median_us / 1000
         for level, m in (("L1", reads[16 * KB]), ("L2", reads[16 * MB]),
                          ("memory", reads[GB]))}
ns = {it: 1000 * walks[it, 1] / STEPS for it in ("shared", "constant")}
each = [f"{size // KB} KB each" for size in (registers, shared)]
table(
    ["memory", "who sees it", "size", "latency, ns", "GB/s", "good for",
     "costs"],
    [["registers", "a thread", each[0], "", "", "a thread's own numbers",
      "fewer warps at a time"],
     ["local", "a thread", "part of global memory", "", "",
      "arrays indexed by data", "latency; stores go to L2"],
     ["shared", "a block", each[1], ns["shared"], from_tile.gb_per_s,
      "exchange, reuse in a block", "copying, barriers"],
     ["constant", "all threads, read-only", f"{constant // KB} KB",
      ns["constant"], "", "one number for all lanes", "one cell at a time"],
     ["texture", "all threads, read-only", "part of global memory", "", "",
      "2-D neighbours, filters, borders", "not in Numba"],
     ["L1", "a multiprocessor", "what shared leaves", warm[16 * KB][0],
      rates["L1"], "what was just used", "may drop it again"],
     ["L2", "all", f"{gpu.L2_CACHE_SIZE // MB} MB", warm[16 * MB][0],
      rates["L2"], "what others used", "may drop it again"],
     ["global", "all, and the host", f"{memory / GB:.0f} GB",
      warm[64 * MB][0], rates["memory"], "everything else",
      "the longest latency"]])

# %% [markdown]
# What is empty was not measured: a register needs no load that could be timed.
# The two chains of the beginning are two rows of this table, L1 and global: 20 and 349 ns.
#
# ## On your own
#
# ★ Give the dice of `count_by_index` four faces: `FACES = 4` and `seed >> 30`. Where are its counts now? Ask `assemble`.
#
# <details><summary>Answer</summary>
#
# In registers: there is no local memory left. With four cells, the compiler compares each face thrown with all four, as `count_by_name` does. It decides, so look.
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
# `value` and `x` are in registers.
# The compiler knows the weights and each `k`, so it writes the weights into the instructions: ask `assemble`.
# With an index that is known only at run time, it would load them from constant memory.
# The argument `weights` is no longer used.
#
# </details>
#
# ★★★ `exercise("column_window")`: each thread goes down a column, adds up every three neighbours and loads each of them once.
#
# The [assignment](assignments/11_memory_hierarchy.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# A block gets 48 KB of shared memory without asking; `gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN` is the most that it can opt in to.
# How much of the fast memory in a multiprocessor is L1, and how much shared memory, is called the carve-out: the driver chooses it, unless the kernel says `shared_memory_carveout`.
#
# A thread has at most 255 registers, whatever you allow; beyond them the compiler spills.
# On a GPU, `kernel.get_local_mem_per_thread()` gives the bytes of local memory, arrays and spills together.
#
# A walk measures a load that has the memory to itself, not a load among thousands.
#
# Read-only data need no texture memory, since L1 caches all of global memory.
# For its filters and borders, use CUDA C++ or CuPy.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, device memory accesses](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#device-memory-accesses): each memory, from the source.
# - [Numba: memory management](https://numba.readthedocs.io/en/stable/cuda/memory.html): local, shared and constant arrays.
#
# Each step of the first walk asked for a sector of 32 bytes and used four of them.
#
# *Next:* [Fetch no more than you use](12_coalescing.ipynb): two kernels load the same numbers once each, and one asks for eight times as many bytes; is it slower?
