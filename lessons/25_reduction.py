# %% [markdown]
# # Add up an array as fast as it can be read
#
# *50 minutes*
#
# **What you'll do:** climb from a sum that takes five times as long as reading the array to one that takes no longer, rung by rung, and bound the rounding error of each.
#
# **What you'll learn:**
#
# - add up the numbers of a block in a tree, without idle lanes and without bank conflicts
# - let the last block finish the sum, in one launch and with the same result each time
# - say how far a float32 sum can be from the true one, before it is computed
#
# **What you'll need:** [warps and shuffles](02_warps.ipynb), [banks](14_bank_conflicts.ipynb), and fences as in [barriers and races](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, load4, measure, plot_times, plot_tree, table)

device

# %% [markdown]
# ## One number from many
#
# The sum of an array reads each number once and writes one number.
# So it cannot take less time than reading the array.
# How near to that can it get?
#
# A reduction makes one number of many by an operation whose order does not matter: a sum, a product, a maximum.
# All that this lesson says of sums holds for the others, except for the rounding.
#
# A block of 256 threads loads 256 numbers into shared memory.
# **Add to every second number its neighbour, then to every fourth, every eighth.**

# %%
THREADS = 256


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
           for step in (1, 2, 4, 8)], 16)

# %% [markdown]
# Each row is the array after one step, here of 16 numbers; a box with a number is a cell to which that thread adds the cell at the end of the second line.
# After four steps cell 0 holds the sum of 16 numbers, after eight steps that of 256.
#
# Each block leaves one number. Launch the kernel again with those, until one is left.

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
total, runs = launches(sum_interleaved, small, THREADS)
check(total, small.sum(dtype=np.float64))
interleaved = runs[0]
interleaved

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
           for step in (1, 2, 4, 8)], 16)

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


plot_tree([{t: (t, t + step) for t in range(step)} for step in (8, 4, 2, 1)],
          16)

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
    step = uint32(THREADS // 2)
    while step > 0:
        if thread < step:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(step // 2)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


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


# %%
LOADS = 4       # a thread's loads that do not wait for one another


def make_sum_of_thread(load, width, loads):
    """A sum of a thread's share, which loads `width` numbers at a time."""
    tile = width * loads * THREADS      # numbers that a block loads at a time

    @cuda.jit(device=True)
    def sum_of_thread(src):
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


# %%
def make_sum_at_once():
    """A sum in one launch; a function, so that its parts have their names."""
    sum_of_thread = make_sum_of_thread(load_four, 4, LOADS)

    @cuda.jit
    def sum_at_once(out, parts, finished, src):
        """Each block adds up its tiles; the last one adds up the parts."""
        last = cuda.shared.array(1, int32)
        thread, blocks = uint32(cuda.threadIdx.x), uint32(cuda.gridDim.x)
        total = sum_of_block(sum_of_thread(src))
        if thread == 0:
            parts[cuda.blockIdx.x] = total
            cuda.threadfence()
            ticket = cuda.atomic.inc(finished, 0, uint32(blocks - 1))
            cuda.threadfence()
            last[0] = ticket == blocks - 1
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


sum_at_once = make_sum_at_once()

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
    return alone + 8 + -(-blocks // THREADS) + 8


def bound(additions):
    """The largest error of a float32 sum, as a part of the sum of sizes."""
    return additions * 2.0**-24 / (1 - additions * 2.0**-24)


# %% tags=["timing"]
N = 2**28
big, one = np.zeros(N, np.float32), np.zeros(1, np.float32)
BLOCKS = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT


def clock(kernel, each=None, blocks=BLOCKS):
    """Measure the first launch of a sum of N numbers."""
    blocks = N // each if each else blocks
    parts = np.zeros(blocks, np.float32)
    return measure(kernel, bytes=big.nbytes)[blocks, THREADS](parts, big)


def clock_at_once(blocks=BLOCKS):
    """Measure a whole sum of N numbers, by the last rung."""
    parts, finished = np.zeros(blocks, np.float32), np.zeros(1, np.uint32)
    return measure(sum_at_once, bytes=big.nbytes)[blocks, THREADS](
        one, parts, finished, big)


times = {"interleaved": clock(sum_interleaved, THREADS),
         "strided": clock(sum_strided, THREADS),
         "halves": clock(sum_halves, THREADS),
         "pairs": clock(sum_pairs, 2 * THREADS),
         "shuffled": clock(sum_shuffled, 2 * THREADS)}

# %% tags=["timing"]
each = {(width, loads): clock(make_sum(load, width, loads))
        for width, load in ((1, load_one), (4, load_four))
        for loads in (1, 2, 4, 8)}
times["many"], times["wide"] = each[1, LOADS], each[4, LOADS]
per_core = {k: clock_at_once(k * BLOCKS // 8) for k in (1, 2, 4, 8, 16)}
times["at once"] = per_core[8]

if __name__ == "__main__":
    for t in [*times.values(), *each.values(), *per_core.values()]: print(t)
