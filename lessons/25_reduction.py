# %% [markdown]
# # Add up an array as fast as it can be read
#
# *55 minutes*
#
# **What you'll do:** climb from a sum that takes more than five times as long as reading the array to one that takes 1% longer, predict each step by a count, and find out why two counts were wrong.
#
# **What you'll learn:**
#
# - add up a block's numbers without idle lanes, bank conflicts or warps that only wait
# - keep enough bytes in flight, and let the last block finish the sum in the same launch
# - bound the rounding error of a sum before you compute it
#
# **What you'll need:** shuffles, as in [warps](02_warps.ipynb), [bank conflicts](14_bank_conflicts.ipynb), [barriers](15_barriers_and_races.ipynb), and the last block with its fences, as in [Leave the rest to the last block](20_the_last_block.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     load4, measure, plot_times, plot_tree, table, watch)

device

# %% [markdown]
# ## One number from many
#
# A **reduction** makes one number of many, by an operation that may take them in any order: a sum, a product, a maximum.
# It has to load each number once, so it cannot be faster than reading the array.
# How near to that can it get?
#
# A sum may begin with any two numbers, so the threads of a block can add many pairs at once.
# A block of 512 threads loads 512 numbers into shared memory.
# **Add to every second number its neighbour, then to every fourth, every eighth.**
#
# Indices in the loops are `uint32`, which need no check for a negative sign.

# %%
THREADS = 512
STEPS = 1, 2, 4, 8


@cuda.jit
def sum_interleaved(out, src):
    """Add to every 2nd number its neighbour, then to every 4th, every 8th."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    step = uint32(1)
    while step < THREADS:
        if thread % uint32(2 * step) == 0:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(2 * step)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


plot_tree([{t: (t, t + step) for t in range(0, 16, 2 * step)}
           for step in STEPS], 16)

# %% [markdown]
# Each row shows the array after a step, here with 16 numbers; the lines come from the two numbers that were added.
# After four steps cell 0 holds the sum of 16 numbers, after nine steps the sum of 512.
#
# In the first step every second thread adds, in the second every fourth. So most lanes are idle, and yet all 16 warps take part until `step` is 32.
#
# **Add the same pairs, by the first threads of the block.**
# Then all lanes of a warp add or none does, until fewer than 32 threads add.

# %%
@cuda.jit
def sum_strided(out, src):
    """Add the same pairs, by the first threads of the block."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    step = uint32(1)
    while step < THREADS:
        cell = uint32(2 * step * thread)
        if cell < THREADS:
            numbers[cell] += numbers[uint32(cell + step)]
        cuda.syncthreads()
        step = uint32(2 * step)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


plot_tree([{t: (2 * step * t, 2 * step * t + step) for t in range(8 // step)}
           for step in STEPS], 16)

# %% [markdown]
# The tree is the same, but other threads add.
#
# **Predict.** In the second step the lanes of a warp load every fourth number. How many wavefronts does that take?
#
# <details><summary>Answer</summary>
#
# Numbers 4 apart lie in 8 of the 32 banks. The 32 lanes ask each of these for 4 words, so it takes 4 wavefronts. In the third step it is 8.
#
# </details>
#
# **Add the second half of the numbers to the first half, again and again.**
# Then neighbouring threads load neighbouring numbers.
#
# `watch` then shows a block of 64 threads, step by step.
# How many barriers does it take, and what does warp 1 do in between?

# %%
@cuda.jit
def sum_halves(out, src):
    """Add the second half of the numbers to the first, again and again."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    step = uint32(THREADS // 2)
    while step > 0:
        if thread < step:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(step // 2)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


plot_tree([{t: (t, t + step) for t in range(step)} for step in STEPS[::-1]],
          16)

# %% [markdown]
# Each step adds the farther half of the numbers to the nearer one. Now a film of it, with two warps:

# %%
THREADS = 64        # a kernel keeps the globals that it was compiled with
two_warps = cuda.jit(sum_halves.py_func)
film = watch(two_warps)[1, THREADS](np.zeros(1, np.float32),
                                    np.ones(THREADS, np.float32))
THREADS = 512
film

# %% [markdown]
# In the film there are seven barriers. Warp 1 stores its numbers, then adds nothing and waits at each of them.
# Threads that add are neighbours, and so are the numbers that each side loads.
#
# A block leaves one number.
# To add up those, launch the kernel again, until one number is left.
#
# **Predict.** Which of the three kernels makes the fewest requests for shared memory, and which needs the fewest wavefronts?

# %%
def launches(kernel, src, each):
    """Emulate launches until one number is left; return it and their runs."""
    runs = []
    while not runs or src.size > 1:
        out = np.full(max(1, -(-src.size // each)), np.nan, np.float32)
        runs.append(emulate(kernel)[out.size, THREADS](out, src))
        src = out
    return src[0], runs


random = np.random.default_rng(0)
small = random.random(2**20, dtype=np.float32)
exact, tree = small.sum(dtype=np.float64), {}
for name, kernel in (("interleaved", sum_interleaved),
                     ("strided", sum_strided), ("halves", sum_halves)):
    total, runs = launches(kernel, small, THREADS)
    check(total, exact)
    tree[name] = runs[0]

table(["kernel", "shared requests", "conflicts", "wavefronts"],
      [(name, it.bank_conflicts.requests, it.bank_conflicts.conflicts,
        it.bank_conflicts.wavefronts) for name, it in tree.items()])

# %% [markdown]
# *strided* makes a quarter of the requests, but they take as many wavefronts as before: where lanes were idle, they now wait for one another.
# *halves* has as few requests and no conflicts, so it needs a quarter of the wavefronts.
#
# If wavefronts set the pace, the first two kernels take the same time, and the third a quarter of it.
#
# ## What the clock says
#
# `measure` times the first launch, which adds up 2²⁸ numbers, 1.07 GB. The later ones have 1/511 of its work.

# %% tags=["timing"]
N, CORES = 2**28, cuda.get_current_device().MULTIPROCESSOR_COUNT
big, BLOCKS = np.zeros(N, np.float32), 4 * CORES


def clock(kernel, each=None):
    """Measure a first launch: with many blocks, or with BLOCKS of them."""
    parts = np.zeros(N // each if each else BLOCKS, np.float32)
    return measure(kernel, bytes=big.nbytes)[parts.size, THREADS](parts, big)


def busy(names):
    """Each kernel's time, and how busy parts of the GPU are."""
    units = "issue_percent", "l1_data_percent", "memory_percent"
    return table(["kernel", "time, µs", "issue slots used, %",
                  "L1/shared data path busy, %", "memory busy, %"],
        [(name, times[name].median_us,
          *map(times[name].counters.get, units)) for name in names])


times = {name: clock(kernel, THREADS) for name, kernel in (
    ("interleaved", sum_interleaved), ("strided", sum_strided),
    ("halves", sum_halves))}
busy(times)

# %% [markdown]
# Neither prediction holds. *strided* takes 22% longer than *interleaved*, and *halves* is only 2% faster.
#
# The data path between a multiprocessor and its L1 and shared memory is 79 to 90% busy, more than anything else here.
# It passes one wavefront in a cycle, and it is busy for as many cycles in *halves* as in *interleaved*.
# With what, if there are so few wavefronts?
# The machine code shows which requests there are:

# %% tags=["assembly"]
def made(kernel):
    """What the compiler makes of a kernel with a part for each block."""
    parts = np.zeros(small.size // THREADS, np.float32)
    return assemble(kernel)[parts.size, THREADS](parts, small)


trees = {it.__name__: made(it)
         for it in (sum_interleaved, sum_strided, sum_halves)}
table(["kernel", "shared loads", "shared stores", "branches", "barriers"],
      [(name, it.kinds["shared loads"], it.kinds["shared stores"],
        it.opcodes["BRA"], it.opcodes["BAR"]) for name, it in trees.items()])

# %% [markdown]
# The `if` of a step is no branch: the only one stands behind the last `EXIT`, where no warp arrives.
# The compiler has unrolled the loop and given each load and store a **predicate**, a condition that each lane fulfils or not.
# A warp issues them even if no lane fulfils it.
#
# So a warp of *halves* issues 29 requests. The emulator and the H200's counter count the 4.8 in which a lane takes part; the data path passes all. They are 243 million, and it was busy for 265 million cycles.
# *strided* issues 28, with 14 conflicts: 1.45 times 29. The data path was busy 1.40 times as long.
#
# A branch skips many at once.
# **Add halves while they fill warps; one warp adds up the last 32 numbers.**

# %% [markdown]
# **Predict.** A block issued 16 · 29 requests. How many are left, and how much of the time?
#
# <details><summary>Answer</summary>
#
# A warp stores its numbers once, and a step is two loads and a store. After four steps, 15 of the 16 warps are done: 13 requests each. The first makes five more steps and loads the sum: 29. Together they make 224 instead of 464, or 48%. If the data path set the pace, 48% of the time would be left, too.
#
# </details>

# %%
@cuda.jit(device=True)
def add_halves(numbers):
    """Add halves while they fill warps; one warp adds up the last 32 pairs."""
    thread, step = uint32(cuda.threadIdx.x), uint32(THREADS // 2)
    while step >= 32:
        if thread < step:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(step // 2)
    if thread < 32:
        while step > 0:
            if thread < step:
                numbers[thread] += numbers[uint32(thread + step)]
            cuda.syncwarp()
            step = uint32(step // 2)

# %% tags=["timing"]
@cuda.jit
def sum_by_one_warp(out, src):
    """Add halves, the last five times by one warp while the others leave."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    add_halves(numbers)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


total, runs = launches(sum_by_one_warp, small, THREADS)
check(total, exact)
tree["one warp"] = runs[0]
times["one warp"] = clock(sum_by_one_warp, THREADS)
busy(["halves", "one warp"])

# %% [markdown]
# The data path is busy for only 54% of the cycles that it was; the count said 48%. (Two things changed: there are also 5 barriers instead of 10.)
#
# And yet the kernel takes only 16% less time.
# No part is even 52% busy now: most of the time, warps wait for memory or for one another.
# Four blocks fit on a multiprocessor at a time, so the GPU has 528 places, and each place takes a new block every 1.1 µs.
#
# If a block takes that long whatever it adds up, use fewer blocks.
# **Add two numbers while loading them, then halves as before.**
#
# **Predict.** How long should that take?

# %%
@cuda.jit(device=True)
def load_pair(src):
    """Add two numbers that lie a block's threads apart."""
    i = uint32(2 * THREADS * cuda.blockIdx.x + cuda.threadIdx.x)
    j = uint32(i + THREADS)
    total = src[i] if i < src.size else float32(0)
    return total + (src[j] if j < src.size else float32(0))


@cuda.jit
def sum_pairs(out, src):
    """Add two numbers while loading them, then halves as before."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    numbers[thread] = load_pair(src)
    cuda.syncthreads()
    add_halves(numbers)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]

# %% [markdown]
# Half as many blocks should take half the time.
#
# ## Shuffles instead of shared memory
#
# Within a warp, a shuffle needs neither shared memory nor a barrier.
# **Add up each warp by shuffles, then the warps' sums by one more warp.**
# A block of 16 warps needs 16 cells of shared memory and one barrier.
# In the last warp, lanes 16 to 31 add zeros, which change nothing.

# %%
ALL = 0xFFFFFFFF
WARPS = THREADS // 32


@cuda.jit(device=True)
def sum_of_warp(total):
    """Add up the numbers of a warp, for its lane 0."""
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, step)
    return total


@cuda.jit(device=True)
def sum_of_block(total):
    """Add up the numbers of a block, for its thread 0."""
    sums = cuda.shared.array(WARPS, float32)
    thread = uint32(cuda.threadIdx.x)
    total = sum_of_warp(total)
    if thread % 32 == 0:
        sums[thread // 32] = total
    cuda.syncthreads()
    if thread < 32:
        total = sum_of_warp(sums[thread] if thread < WARPS else float32(0))
    return total

# %% tags=["timing"]
@cuda.jit
def sum_shuffled(out, src):
    """Add two numbers while loading them, then by shuffles."""
    total = sum_of_block(load_pair(src))
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


for name, kernel in ("pairs", sum_pairs), ("shuffled", sum_shuffled):
    total, runs = launches(kernel, small, 2 * THREADS)
    check(total, exact)
    tree[name], times[name] = runs[0], clock(kernel, 2 * THREADS)

print(table(["for 1,000 numbers", "wavefronts", "warps at a barrier"],
            [(name, 1000 * it.bank_conflicts.wavefronts / small.size,
              1000 * 16 * it.waits.block * it.blocks / small.size)
             for name, it in tree.items()]))
busy(["one warp", "pairs", "shuffled"])

# %% [markdown]
# *pairs* takes 54% of the time of *one warp*: nearly half, as predicted.
#
# *shuffled* needs 78% fewer wavefronts than *pairs* and one barrier instead of five, but saves only 15% of the time.
# Its warps do not wait for shared memory most, but for global memory: 55% of their waiting.
# A place now takes a new block every 1.0 µs.

# %% [markdown]
# ## Many numbers a thread
#
# So use as few blocks as fill the GPU: four for each multiprocessor.
# Each thread adds up its share of the array alone; then the block adds up its threads.
# A block takes a *tile* of the array, then the one that lies a whole grid further on.
# **Add up a thread's numbers of each tile of its block.**
#
# **Predict.** In *shuffled*, a block ends after 1,024 numbers. Now it adds up 508,400. What is left for the time?
#
# <details><summary>Answer</summary>
#
# There are 528 blocks instead of 262,144, so there is 1/496 of all shuffles between lanes, barriers and starts of blocks. What is left is loading the numbers. A kernel that only reads them takes 246 µs, as the end of this lesson shows.
#
# </details>

# %%
LOADS = 4       # a thread's loads that do not wait for one another


def make_sum_of_thread(load, width, loads):
    """A sum of a thread's share, which loads `width` numbers at a time."""
    tile = width * loads * THREADS      # numbers that a block loads at a time

    @cuda.jit(device=True)
    def sum_of_thread(src):
        """Add up a thread's numbers of each tile of its block."""
        thread, block = uint32(cuda.threadIdx.x), uint32(cuda.blockIdx.x)
        blocks, whole = uint32(cuda.gridDim.x), uint32(src.size // tile * tile)
        total, i = float32(0), uint32(tile * block + width * thread)
        while i < whole:
            for k in range(loads):
                total += load(src, uint32(i + width * THREADS * k))
            i = uint32(i + tile * blocks)
        i = uint32(whole + THREADS * block + thread)
        while i < src.size:     # the last numbers, less than a tile
            total += src[i]
            i = uint32(i + THREADS * blocks)
        return total
    return sum_of_thread

# %% [markdown]
# A thread's `loads` from a tile do not depend on one another, so all of them can be in flight at once.
# Neighbouring threads load neighbouring numbers, so they are coalesced.
# What is left at the end, less than a tile, is shared out one by one.
#
# `load` is a device function. The same kernel can load one number at a time, or four by `load4`.
# **Add up a thread's share of the array, then a block's by shuffles.**
#
# **Predict.** How many requests do the wide loads save, and how much time?

# %%
def make_sum(load, width, loads=LOADS):
    """A kernel in which a thread sums many numbers, `width` a load."""
    sum_of_thread = make_sum_of_thread(load, width, loads)

    @cuda.jit
    def sum_many(out, src):
        """Add up a thread's share of the array, then a block's by shuffles."""
        total = sum_of_block(sum_of_thread(src))
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total
    return sum_many


@cuda.jit(device=True)
def load_one(src, i):
    """One number, by one load."""
    return src[i]


@cuda.jit(device=True)
def load_four(src, i):
    """The sum of four neighbours, by one load of 16 bytes."""
    a, b, c, d = load4(src, i)
    return (a + b) + (c + d)

# %% tags=["timing"]
def count(kernel, blocks=16):
    """Emulate a sum of many parts and check it; give its load requests."""
    parts = np.full(blocks, np.nan, np.float32)
    run = emulate(kernel)[blocks, THREADS](parts, small)
    check(parts.sum(), exact)
    return run.coalescing.by_kind["load"].requests


WAYS = {1: load_one, 4: load_four}
many = {width: make_sum(load, width) for width, load in WAYS.items()}
requests = {width: count(kernel) for width, kernel in many.items()}
flights = {(width, loads): clock(make_sum(WAYS[width], width, loads))
           for width in WAYS for loads in (1, 2, 4, 8) if width * loads < 32}
times["many"], times["wide"] = flights[1, LOADS], flights[4, LOADS]

print(requests)
table(["numbers a load", "loads in flight", "bytes in flight, a thread",
       "time, µs", "GB/s", "million instructions"],
      [(width, loads, 4 * width * loads, it.median_us, it.gb_per_s,
        it.counters.get("instructions", np.nan) / 1e6)
       for (width, loads), it in flights.items()])

# %% [markdown]
# A quarter of the requests are left, and wide loads halve the instructions. But the time follows the *bytes in flight*: 16 bytes a thread take 257 µs as four loads and 256 as one.
# *many*, with four numbers in flight, takes 5% longer than only reading. *wide* takes 4% less than that, with four times the bytes.
#
# An H200 holds 132 · 2,048 threads. With 4 bytes a thread, up to 1.08 MB are in flight, and 2,551 GB/s arrive: a load takes up to 424 ns.
# At 424 ns, 8 bytes a thread would be enough for all that memory can give.
# They get 3,597 GB/s, with memory 79% busy: a load takes up to 601 ns.
# From 16 bytes on memory is more than 89% busy.

# %% [markdown]
# ## One launch
#
# *wide* leaves 528 parts, for a second launch to add up.
# The last block to finish could do that.
#
# Each block stores its part and draws a ticket from an atomic, between two fences, as [before](20_the_last_block.ipynb).
# The block with the highest ticket is the last, and it sees all parts.
# `cuda.atomic.inc` counts up to its last argument and then starts again from 0, so `finished` is ready for the next launch.
#
# Whichever block is last adds up the parts in the same order, so the sum is the same each time.
# With `cuda.atomic.add(out, 0, total)` in each block they could change, as blocks finish in another order.
#
# **Each block adds up its share, and the last one adds up the parts.**

# %%
@cuda.jit(device=True)
def comes_last(finished):
    """Have all other blocks of the grid drawn their tickets before?"""
    cuda.threadfence()
    ticket = cuda.atomic.inc(finished, 0, uint32(cuda.gridDim.x - 1))
    cuda.threadfence()
    return ticket == cuda.gridDim.x - 1

# %%
def make_sum_at_once(load, width):
    """The whole sum in one launch, `width` numbers a load."""
    sum_of_thread = make_sum_of_thread(load, width, LOADS)

    @cuda.jit
    def sum_at_once(out, parts, finished, src):
        """Each block adds up its share, and the last one adds up the parts."""
        last = cuda.shared.array(1, int32)
        thread, blocks = uint32(cuda.threadIdx.x), uint32(cuda.gridDim.x)
        total = sum_of_block(sum_of_thread(src))
        if thread == 0:
            parts[cuda.blockIdx.x] = total
            last[0] = comes_last(finished)
        cuda.syncthreads()
        if last[0]:
            total = float32(0)
            for k in range(LOADS):      # no more blocks than LOADS · THREADS
                i = uint32(thread + THREADS * k)
                total += parts[i] if i < blocks else float32(0)
            total = sum_of_block(total)
            if thread == 0:
                out[0] = total
    return sum_at_once

# %%
sum_at_once = make_sum_at_once(load_four, 4)


def at_once(src, blocks=16, turns=1):
    """Emulate a sum in one launch, `turns` times with one `finished`."""
    finished = np.zeros(1, np.uint32)
    for _ in range(turns):
        out, parts = np.full((2, blocks), np.nan, np.float32)
        run = emulate(sum_at_once)[blocks, THREADS](out, parts, finished, src)
        run.assert_no_races()
    return out[0], run


total, run = at_once(small, turns=2)
check(total, exact)
run

# %% tags=["timing"]
def clock_at_once(blocks):
    """Measure the whole sum of N numbers, in one launch."""
    out, parts = np.zeros((2, blocks), np.float32)
    return measure(sum_at_once, bytes=big.nbytes)[blocks, THREADS](
        out, parts, np.zeros(1, np.uint32), big)


grids = {k: clock_at_once(k * CORES) for k in (1, 2, 4, 8)}
times["at once"] = grids[4]
print(table(["blocks for each multiprocessor", "time, µs"],
            [(k, it.median_us) for k, it in grids.items()]))

whole = {name: baseline(f"sum, {name}") for name in times}
cpp = {name: baseline(f"CUDA C++ sum, {name}") for name in whole}
reading, library = baseline("only reading"), baseline("CUB, sum")
bars = [*whole.values(), library]
plot_times([*whole, "CUB"], [m.median_us for m in bars],
           spread_us=[(m.lower_us, m.upper_us) for m in bars],
           limit_us=reading.median_us, limit_label="only reading")

# %% [markdown]
# One block of 512 threads has as many bytes in flight as four with 16 bytes a thread, and takes about as long: 260 µs, and those took 257. Eight blocks gain nothing over four, which are all that fit at a time.
#
# The figure shows whole sums, with all their launches, by turns with the sum of NVIDIA's library CUB.
# The dashed line is a kernel in C++ that only reads: it loads as *wide* does, and joins the numbers' bits instead of adding.
# The last rung takes 1% longer than that, and 1% less than CUB.

# %% [markdown]
# ## How wrong can the sum be?
#
# A float32 has 24 bits, so an addition rounds its result by at most a part u = 2⁻²⁴ of it.
# A number that goes through k additions enters the sum with k such factors, each between 1 − u and 1 + u.
# So the error is at most k·u / (1 − k·u) of the sum of all sizes, unless something overflows.

# %% [markdown]
# What counts is not how many additions there are, but how many *one number* goes through: nine a launch in a tree of 512.
# By *at once* with 16 blocks, one of 2²⁰ numbers goes through at most
#
# - 2 in `load_four`, then 32 in its thread: a block has 8 tiles, of four loads a thread
# - 1 with what is left at the end, and 9 in the tree of the block
# - 1 in the last block, where a thread has one part at most, and 9 in its tree.
#
# Together these are 54.
#
# Three sums of 2²⁰ numbers: one by one as on a CPU, in halves, and by the last rung. Errors and bounds are relative to the sum of sizes; the true sum is that in float64.

# %%
def additions_by_tree(n, each):
    """The additions that a number goes through in launches of a tree."""
    additions = 0
    while n > 1:
        additions += int(np.log2(each))
        n = -(-n // each)
    return additions


def additions_of_many(n, blocks, width):
    """The additions that a number goes through where a thread adds many."""
    tile = width * LOADS * THREADS
    rounds = -(-n // (tile * blocks))
    alone = LOADS * rounds + width // 2 + -(-tile // (THREADS * blocks))
    in_block = int(np.log2(THREADS))
    return alone + in_block + -(-blocks // THREADS) + in_block


def bound(additions):
    """The largest error of a float32 sum, as a part of the sum of sizes."""
    return additions * 2.0**-24 / (1 - additions * 2.0**-24)

# %%
def errors(src):
    """Three sums: additions, error and bound, these relative to the sizes."""
    n, exact = src.size, src.sum(dtype=np.float64)
    for total, additions in (
            (np.cumsum(src)[-1], n - 1),
            (launches(sum_halves, src, THREADS)[0],
             additions_by_tree(n, THREADS)),
            (at_once(src)[0], additions_of_many(n, 16, 4))):
        error = abs(total - exact) / np.abs(src).sum(dtype=np.float64)
        assert error <= bound(additions)
        yield additions, error, bound(additions)


data = {"random": small, "all 0.1": np.full(2**20, 0.1, np.float32),
        "1/k": (1 / np.arange(1, 2**20 + 1)).astype(np.float32)}
table(["numbers", "sum", "additions", "error", "bound"],
      [(name, how, *it) for name, src in data.items() for how, it in
       zip(("one by one", "halves", "at once"), errors(src), strict=True)])

# %% [markdown]
# Every error is within its bound, and most are far below: roundings up and down cancel.
#
# They do not where all go one way. One by one, a million times 0.1 gives 1% too much.
# In halves equal numbers only double, and doubling does not round.
#
# For 2²⁸ numbers, *halves* has 36 additions and a bound of 2.1 in a million, *at once* 275 and 16 in a million. The whole sums in the figure were held to theirs.
# One by one there is no bound: k·u is 16. In float32, 2²⁴ + 1 is 2²⁴, so a sum of ones stops there.
#
# Now sizes and numbers that are easily forgotten:

# %%
nan, inf = np.nan, np.inf
odd = {"none": [], "one": [7], "ragged": random.random(9001),
       "equal": [0.1] * 4097, "NaN": [1, nan, 2], "infinite": [1, inf, 2],
       "both": [inf, 1, -inf], "negative zeros": [-0.0] * 600}
kernels = {sum_interleaved: 1, sum_strided: 1, sum_halves: 1,
           sum_by_one_warp: 1, sum_pairs: 2, sum_shuffled: 2,
           many[1]: 8, many[4]: 8}

for values in odd.values():
    src = np.array(values, np.float32)
    with np.errstate(invalid="ignore"):
        expected = src.sum(dtype=np.float64)
    for kernel, each in kernels.items():
        check(launches(kernel, src, each * THREADS)[0], expected)
    check(at_once(src)[0], expected)

# %% [markdown]
# All rungs agree with NumPy on all of them, but for a zero's sign.
# Where numbers are so large that a partial sum may overflow, the order decides: 3e38, 3e38, −3e38, −3e38 add up to NaN in `sum_interleaved`, and to 0 in `sum_halves`.
#
# ## What could go wrong
#
# Without the barriers:

# %%
@cuda.jit
def sum_hasty_wrong(out, src):
    """Add halves, and wait for nobody."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    numbers[thread] = src[uint32(THREADS * cuda.blockIdx.x + thread)]
    step = uint32(THREADS // 2)
    while step > 0:
        if thread < step:
            numbers[thread] += numbers[uint32(thread + step)]
        step = uint32(step // 2)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


hasty = emulate(sum_hasty_wrong)[4, THREADS](
    np.zeros(4, np.float32), small[:4 * THREADS])
hasty.races

# %% [markdown]
# Down to a step of 32, each reads what other warps stored before; that is what the report shows. The last five read what other lanes of the same warp stored, and need `syncwarp`.
#
# ## What changed

# %% tags=["timing"]
changes = ("", "the first threads add", "neighbours add", "one warp finishes",
           "two numbers a thread", "shuffles", "many numbers a thread",
           "four a load, more in flight", "the last block finishes")


def of_a_number(it):
    """The instructions that threads execute for each number."""
    return 32 * it.counters.get("instructions", np.nan) / N


last = assemble(sum_at_once)[16, THREADS](
    small[:1], small[:16], np.zeros(1, np.uint32), small)
code = [*map(made, kernels), last]
table(["rung", "what changed", "registers", "instructions of a number",
       "time, µs", "in C++, µs", "% of only reading", "% of CUB"],
      [(name, change, it.registers, of_a_number(times[name]), m.median_us,
        cpp[name].median_us if cpp[name].launches else "",
        *(100 * best.median_us / m.median_us for best in (reading, library)))
       for (name, m), change, it in
       zip(whole.items(), changes, code, strict=True)])

# %% [markdown]
# The limits were, in turn: the data path, short blocks that wait, bytes in flight, and memory itself.
# A count predicts the time if it counts what sets the pace. Requests that lanes make did not, since *halves* issued others; nor did wavefronts in *shuffled*.
#
# ## On your own
#
# ★ What changes in `sum_at_once` and what it calls if it is to find the largest number?
#
# <details><summary>Answer</summary>
#
# Additions become `max`, and `float32(0)` becomes `float32(-np.inf)`, which changes no maximum.
#
# </details>
#
# ★★ `row_argmax`: find the column in which each row of a matrix is largest: a warp for each row. If several are, the first one counts. Each number is loaded once, and there is no shared memory.

# %%
task = exercise("row_argmax")
task

# %%
ALL = 0xFFFFFFFF


@cuda.jit
def row_argmax(places, a):
    """Each lane finds its best of a row, then the lanes compare."""
    # your code, about 14 lines


task.check(row_argmax)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# ALL = 0xFFFFFFFF
#
#
# @cuda.jit
# def row_argmax(places, a):
#     """Each lane finds its best of a row, then the lanes compare."""
#     row, place = cuda.grid(1) // 32, min(cuda.laneid, a.shape[1] - 1)
#     if row < a.shape[0]:
#         value = a[row, place]
#         for col in range(cuda.laneid + 32, a.shape[1], 32):
#             other = a[row, col]
#             if other > value:
#                 value, place = other, col
#         for step in (16, 8, 4, 2, 1):
#             other = cuda.shfl_down_sync(ALL, value, step)
#             there = cuda.shfl_down_sync(ALL, place, step)
#             if other > value or other == value and there < place:
#                 value, place = other, there
#         if cuda.laneid == 0:
#             places[row] = place
# ```
#
# </details>
#
# ★★★ `exercise("wide_distance")`: add up the squared differences of two arrays, with a quarter of the requests.
#
# The [assignment](assignments/25_reduction.ipynb) has 4 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Call a library: `cupy.sum` uses CUB's. Write your own if the sum is a part of a larger kernel.
#
# These kernels need blocks of `THREADS` threads, somewhat fewer than 2³² numbers, for `load4` an array that begins at a multiple of 16 bytes, and in *at once* no more than 2,048 blocks.
#
# The last digits depend on the number of blocks. To get the same digits on every GPU, fix that number.
#
# Where the bound is too large, add up in float64.
#
# ## Further reading
#
# - [Optimizing parallel reduction in CUDA](https://developer.download.nvidia.com/assets/cuda/files/reduction.pdf): Mark Harris's seven rungs, on which most of these are modelled.
# - [CUB](https://nvidia.github.io/cccl/cub/): NVIDIA's library of such building blocks, in C++.
#
# *Next:* [Scan an array in one pass](26_scan.ipynb): one total is left here; what if you need the total up to each number?
