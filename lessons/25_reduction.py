# %% [markdown]
# # Add up an array as fast as it can be read
#
# *55 minutes*
#
# **What you'll do:** climb from a sum that takes five times as long as reading the array to one that takes hardly longer, predict each step by a count, and find out why two counts were wrong.
#
# **What you'll learn:**
#
# - add up a block's numbers without idle lanes, bank conflicts or warps that only wait
# - keep enough bytes in flight, and let the last block finish the sum in the same launch
# - bound the rounding error of a sum before you compute it
#
# **What you'll need:** shuffles, as in [warps](02_warps.ipynb), [bank conflicts](14_bank_conflicts.ipynb), and fences, as in [barriers and races](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, load4, measure, plot_grid_stride, plot_times,
                     plot_tree, table)

device

# %% [markdown]
# ## One number from many
#
# A **reduction** makes one number of many with an operation that may take them in any order: a sum, a product, a maximum.
# It reads each number once, so it cannot be faster than reading the array.
# How near to that can it get?
#
# Any two numbers may be added first, so a block can add many pairs at once.
# A block of 512 threads loads 512 numbers into shared memory.
# **Add to every second number its neighbour, then to every fourth, every eighth.**
#
# Indices are `uint32` throughout, so that none of them is checked for its sign.

# %%
THREADS = 512


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

# %%
STEPS = 1, 2, 4, 8

plot_tree([{t: (t, t + step) for t in range(0, 16, 2 * step)}
           for step in STEPS], 16)

# %% [markdown]
# Each row shows the array after a step, here with 16 numbers; lines come from the two numbers that were added.
# After four steps cell 0 holds the sum of 16 numbers, after nine steps the sum of 512.
#
# A block leaves one number.
# To add up those, launch the kernel again, until one number is left.

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
exact = small.sum(dtype=np.float64)
total, runs = launches(sum_interleaved, small, THREADS)
check(total, exact)
tree = {"interleaved": runs[0]}
tree["interleaved"]

# %% [markdown]
# Only every second thread adds in the first step, every fourth in the second: most lanes are idle, and yet all 16 warps take part until the steps are 32 apart.
#
# **Add the same pairs, by the first threads of the block.**
# Then whole warps have nothing to do, and the others are full.

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

# %%
plot_tree([{t: (2 * step * t, 2 * step * t + step) for t in range(8 // step)}
           for step in STEPS], 16)

# %% [markdown]
# **Predict.** The tree is the same, and threads 0 to 7 add in the first step.
# But which banks do the lanes of a warp ask for in the second step, where they load every fourth number?
#
# <details><summary>Answer</summary>
#
# Numbers 4 apart lie in 8 of the 32 banks, so 32 lanes ask each for four words: 4 wavefronts.
# In the third step it is 8.
#
# </details>

# %%
total, runs = launches(sum_strided, small, THREADS)
check(total, exact)
tree["strided"] = runs[0]
tree["strided"]

# %% [markdown]
# There are a quarter of the requests, but they take as many wavefronts as before, 618,496: where lanes were idle, they now wait for one another.
#
# **Add the second half of the numbers to the first half, again and again.**
# Then neighbouring threads load neighbouring numbers.

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

# %%
plot_tree([{t: (t, t + step) for t in range(step)} for step in STEPS[::-1]],
          16)

# %% [markdown]
# Threads that add are neighbours, and so are the numbers that they load.
#
# **Predict.** How many bank conflicts does a warp have here, and how much faster should the kernel be?

# %%
total, runs = launches(sum_halves, small, THREADS)
check(total, exact)
tree["halves"] = runs[0]
table(["kernel", "shared requests", "conflicts", "wavefronts"],
      [(name, it.bank_conflicts.requests, it.bank_conflicts.conflicts,
        it.bank_conflicts.wavefronts) for name, it in tree.items()])

# %% [markdown]
# No conflicts are left, and only 26% of the wavefronts.
# If wavefronts set the pace, the first two kernels take the same time, and the third a quarter of it.
#
# ## What the clock says
#
# `measure` times the first launch, which adds up 2²⁸ numbers, 1.07 GB; those after it have 1/512 of the work.

# %% tags=["timing"]
N = 2**28
big, one = np.zeros(N, np.float32), np.zeros(1, np.float32)
BLOCKS = 4 * cuda.get_current_device().MULTIPROCESSOR_COUNT


def clock(kernel, each=None, blocks=BLOCKS):
    """Measure the first launch of a sum of N numbers."""
    blocks = N // each if each else blocks
    parts = np.zeros(blocks, np.float32)
    return measure(kernel, bytes=big.nbytes)[blocks, THREADS](parts, big)


def busy(names):
    """Each kernel's time, and how busy parts of the GPU are."""
    units = "issue_percent", "l1_data_percent", "memory_percent"
    return table(["kernel", "time, µs", "issue slots used, %",
                  "L1/shared data path busy, %", "memory busy, %"],
        [(name, times[name].median_us,
          *(times[name].counters.get(unit) for unit in units))
         for name in names])


times = {"interleaved": clock(sum_interleaved, THREADS),
         "strided": clock(sum_strided, THREADS),
         "halves": clock(sum_halves, THREADS)}
busy(times)

# %% [markdown]
# @@CLOCK1

# %% tags=["assembly"]
def made(kernel, blocks):
    """What the compiler makes of a kernel of many parts."""
    parts = np.zeros(blocks, np.float32)
    return assemble(kernel)[blocks, THREADS](parts, small)


code = {it.__name__: made(it, small.size // THREADS)
        for it in (sum_interleaved, sum_strided, sum_halves)}
table(["kernel", "shared loads", "shared stores", "branches", "barriers"],
      [(name, it.kinds["shared loads"], it.kinds["shared stores"],
        it.opcodes["BRA"], it.opcodes["BAR"]) for name, it in code.items()])

# %% [markdown]
# @@PREDICATES

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
# @@ONEWARP

# %%
@cuda.jit
def sum_pairs(out, src):
    """Add two numbers while loading them, then halves as before."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(2 * THREADS * cuda.blockIdx.x + thread)
    j = uint32(i + THREADS)
    total = src[i] if i < src.size else float32(0)
    numbers[thread] = total + (src[j] if j < src.size else float32(0))
    cuda.syncthreads()
    add_halves(numbers)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]

# %% [markdown]
# The tree adds 512 numbers, whatever they are. If each thread adds two numbers while it loads them, half as many blocks do the same tree.
#
# ## Shuffles instead of shared memory
#
# **Add up a warp by shuffles, then the warps' sums by one more warp.**
# A block of 16 warps needs 16 cells of shared memory and one barrier.
# A thread beyond the warps adds a zero, which changes nothing.

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

# %%
@cuda.jit
def sum_shuffled(out, src):
    """Add two numbers while loading them, then by shuffles."""
    thread = uint32(cuda.threadIdx.x)
    i = uint32(2 * THREADS * cuda.blockIdx.x + thread)
    j = uint32(i + THREADS)
    total = src[i] if i < src.size else float32(0)
    total += src[j] if j < src.size else float32(0)
    total = sum_of_block(total)
    if thread == 0:
        out[cuda.blockIdx.x] = total


for name, kernel in ("pairs", sum_pairs), ("shuffled", sum_shuffled):
    total, runs = launches(kernel, small, 2 * THREADS)
    check(total, exact)
    tree[name], times[name] = runs[0], clock(kernel, 2 * THREADS)

# %% tags=["timing"]
def counted(it):
    """A launch's shared requests, wavefronts and barriers, of 1,000 numbers."""
    banks, barriers = it.bank_conflicts, it.waits.block * it.blocks
    parts = banks.requests, banks.wavefronts, 16 * barriers
    return [1000 * part / small.size for part in parts]


print(table(["of 1,000 numbers", "shared requests", "wavefronts",
             "warps at a barrier"],
            [(name, *counted(it)) for name, it in tree.items()]))
busy(["one warp", "pairs", "shuffled"])

# %% [markdown]
# @@SHUFFLED

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
# @@MANYTEXT

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

# %%
@cuda.jit(device=True)
def load_four(src, i):
    """The sum of four neighbours, by one load of 16 bytes."""
    a, b, c, d = load4(src, i)
    return (a + b) + (c + d)


def count(kernel, blocks=16):
    """Emulate a sum of many parts, check it, and give the run."""
    parts = np.full(blocks, np.nan, np.float32)
    run = emulate(kernel)[blocks, THREADS](parts, small)
    check(parts.sum(), exact)
    return run


many, wide = count(make_sum(load_one, 1)), count(make_sum(load_four, 4))
many.coalescing.requests, wide.coalescing.requests

# %% tags=["timing"]
WAYS = {1: load_one, 4: load_four}
flights = {(width, loads): clock(make_sum(WAYS[width], width, loads))
           for width in WAYS for loads in (1, 2, 4, 8)}
times["many"], times["wide"] = flights[1, LOADS], flights[4, LOADS]

table(["numbers a load", "loads in flight", "bytes in flight, a thread",
       "time, µs", "GB/s", "million instructions"],
      [(width, loads, 4 * width * loads, it.median_us, it.gb_per_s,
        it.counters.get("instructions", np.nan) / 1e6)
       for (width, loads), it in flights.items()])

# %% [markdown]
# @@FLIGHT

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
            total, i = float32(0), thread
            while i < blocks:
                total += parts[i]
                i = uint32(i + THREADS)
            total = sum_of_block(total)
            if thread == 0:
                out[0] = total
    return sum_at_once

# %%
sum_at_once = make_sum_at_once(load_four, 4)


def at_once(src, blocks=16, launches=1):
    """Emulate the whole sum in one launch, again and again; give the last."""
    out, parts = np.full((2, blocks), np.nan, np.float32)
    finished = np.zeros(1, np.uint32)
    for _ in range(launches):
        out[0] = np.nan
        run = emulate(sum_at_once)[blocks, THREADS](out[:1], parts, finished,
                                                    src)
    return out[0], run


total, run = at_once(small, launches=2)
check(total, exact)
run.assert_no_races()
run

# %% [markdown]
# @@ATONCE

# %% tags=["timing"]
def clock_at_once(blocks=BLOCKS):
    """Measure the whole sum of N numbers, in one launch."""
    parts, finished = np.zeros(blocks, np.float32), np.zeros(1, np.uint32)
    return measure(sum_at_once, bytes=big.nbytes)[blocks, THREADS](
        one, parts, finished, big)


grids = {k: clock_at_once(k * BLOCKS // 4) for k in (1, 2, 4, 8)}
times["at once"] = grids[4]
table(["blocks for each multiprocessor", "time, µs", "memory busy, %"],
      [(k, it.median_us, it.counters.get("memory_percent"))
       for k, it in grids.items()])

# %% [markdown]
# @@GRIDS

# %% tags=["timing"]
ladder = list(times)
whole = [baseline(f"sum, {name}") for name in ladder]
reading, library = baseline("only reading"), baseline("CUB, sum")

plot_times([*ladder, "CUB"], [m.median_us for m in [*whole, library]],
           spread_us=[(m.lower_us, m.upper_us) for m in [*whole, library]],
           limit_us=reading.median_us, limit_label="only reading")

# %% [markdown]
# @@LADDER

# %% tags=["timing"]
cpp = [baseline(f"CUDA C++ sum, {name}")
       for name in ("interleaved", "pairs", "at once")]
ours = [baseline(f"sum, {name}") for name in ("interleaved", "pairs", "at once")]
table(["rung", "Numba, µs", "CUDA C++, µs"],
      [(n.name.removeprefix("sum, "), n.median_us, c.median_us)
       for n, c in zip(ours, cpp, strict=True)])

# %% [markdown]
# @@CPP

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

# %% [markdown]
# @@ROUNDING

# %%
def errors(src):
    """The error of three sums beside its bound, relative to sizes."""
    exact, sizes = src.sum(dtype=np.float64), np.abs(src).sum(dtype=np.float64)
    sums = (np.cumsum(src)[-1], src.size - 1), (
        launches(sum_halves, src, THREADS)[0],
        additions_by_tree(src.size, THREADS)), (
        at_once(src)[0], additions_of_many(src.size, 16, 4))
    for total, additions in sums:
        yield additions, abs(total - exact) / sizes, bound(additions)


data = {"random": small, "all 0.1": np.full(2**20, 0.1, np.float32),
        "1/k": (1 / np.arange(1, 2**20 + 1)).astype(np.float32)}
table(["numbers", "sum", "additions", "error", "bound"],
      [(name, how, *it) for name, src in data.items() for how, it in
       zip(("one by one", "halves", "at once"), errors(src), strict=True)])

# %% [markdown]
# @@DRIFT

# %%
nan, inf = np.nan, np.inf
odd = {"none": [], "one": [7], "ragged": random.random(70_001),
       "equal": [0.1] * 4097, "NaN": [1, nan, 2], "infinite": [1, inf, 2],
       "both": [inf, 1, -inf], "negative zeros": [-0.0] * 600}
kernels = {sum_interleaved: 1, sum_strided: 1, sum_halves: 1,
           sum_by_one_warp: 1, sum_pairs: 2, sum_shuffled: 2}

for name, values in odd.items():
    src = np.array(values, np.float32)
    with np.errstate(invalid="ignore"):
        expected = src.sum(dtype=np.float64)
    for kernel, each in kernels.items():
        check(launches(kernel, src, each * THREADS)[0], expected)
    check(at_once(src)[0], expected)

# %% [markdown]
# @@ODD

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


parts = np.zeros(4, np.float32)
emulate(sum_hasty_wrong)[parts.size, THREADS](parts, small[:2048]).races

# %% [markdown]
# Each step reads what other warps stored in the step before.
#
# Wide loads need an array that begins at a multiple of 16 bytes. A slice on the device may not:

# %%
on_device = cuda.to_device(small)
with expect(TypeError):
    emulate(sum_at_once)[16, THREADS](
        np.zeros(1, np.float32), np.zeros(16, np.float32),
        np.zeros(1, np.uint32), on_device[1:])

# %% [markdown]
# ## What changed

# %% tags=["timing"]
changes = ("", "the first threads add", "neighbours add", "one warp finishes",
           "two numbers a load", "shuffles", "many numbers a thread",
           "four numbers a load", "the last block finishes")


def of_a_number(it):
    """The instructions that threads execute for each number."""
    return 32 * it.counters.get("instructions", np.nan) / N


table(["rung", "what changed", "instructions of a number", "time, µs",
       "% of only reading", "% of CUB"],
      [(name, change, of_a_number(times[name]), m.median_us,
        100 * reading.median_us / m.median_us,
        100 * library.median_us / m.median_us)
       for name, change, m in zip(ladder, changes, whole, strict=True)])

# %% [markdown]
# @@CHANGED
