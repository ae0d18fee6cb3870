# %% [markdown]
# # Scan an array in one pass
#
# *60 minutes*
#
# **What you'll do:** add up everything before each element of an array: in a block, then across blocks, at last in one launch that moves as few bytes as a copy.
#
# **What you'll learn:**
#
# - turn a loop in which each step needs the one before into a few parallel steps
# - count additions, barriers, wavefronts and bytes, and tell which of them the clock sees
# - pass a value from block to block within one launch, without a race
#
# **What you'll need:** [warps and shuffles](02_warps.ipynb), [banks](14_bank_conflicts.ipynb), [barriers and races](15_barriers_and_races.ipynb), and atomics and fences, as in [Leave the rest to the last block](20_the_last_block.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, uint32, uint64

from helpers import (allow_dynamic_shared, assemble, baseline, check, device,
                     emulate, exercise, load4, load_acquire, measure,
                     plot_look_back, plot_scan, plot_series, plot_tile_banks,
                     plot_times, store4, store_release, table, watch)

device

# %% [markdown]
# ## How can many threads make a running sum?
#
# A **scan** replaces each element by the sum of all elements up to it; in NumPy it is `cumsum`.
# In a loop, every step needs the step before. How can many threads share that work?
# And a scan moves what a copy moves: each element is loaded once and stored once. How near does it come to a copy?
#
# We begin with tiles of 1,024 elements, each scanned by itself by one block.
#
# Let every element add its left neighbour: each now holds a sum of two.
# Then let it add what is two to the left: a sum of four. Then four to the left, eight and so on.
# This is the scan of Hillis and Steele.

# %%
SIZE, ALL = 1024, 0xFFFFFFFF    # elements of a tile, all lanes of a warp
random = np.random.default_rng(26)
small = random.integers(-9, 10, 4 * SIZE).astype(np.float32)


def count(kernel, threads=SIZE):
    """Emulate a scan of four tiles and check it."""
    out = np.full(small.size, np.nan, np.float32)
    run = emulate(kernel)[4, threads](out, small)
    check(out, small.reshape(4, SIZE).cumsum(axis=1).ravel())
    return run


plot_scan(16, [[(i - step, i) for i in range(step, 16)]
               for step in (1, 2, 4, 8)])

# %% [markdown]
# A cell names the elements that its sum covers. A line goes from a sum to the one it is added to.
# Cells in the stronger shade are ready: their sums begin at element 0.
#
# **Add the sum that ends 1 before, then 2 before, 4, 8 and so on.**
# A thread keeps its sum in a register, and shows it to the others in shared memory.

# %%
@cuda.jit
def element(src, at):
    """An element, or 0 beyond the end."""
    return src[at] if at < src.size else float32(0)


@cuda.jit
def scan_doubling(out, src):
    """Add the sum that ends 1 before, then 2 before, 4, 8 and so on."""
    tile = cuda.shared.array(SIZE, float32)
    i, at = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    total = element(src, at)
    step = uint32(1)
    while step < SIZE:
        tile[i] = total
        cuda.syncthreads()
        if i >= step:
            total += tile[uint32(i - step)]
        cuda.syncthreads()
        step = uint32(2 * step)
    if at < src.size:
        out[at] = total


doubled = count(scan_doubling)

# %% [markdown]
# Why two barriers in each step?
# Without the second, a fast thread may store its next sum before a slow one has loaded this one.
# It is the same without a register, when each step changes the tile *in place*, in one line.
# `watch` shows a block of 64 threads, step by step: six sweeps over the tile, with a barrier before each.
# Which cell does warp 1 load too late in the first sweep?

# %%
@cuda.jit
def scan_in_place_wrong(out, src):
    """Add to each cell the one 1 before, then 2 before, 4, 8 and so on."""
    tile = cuda.shared.array(SIZE, float32)
    i, at = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    tile[i] = element(src, at)
    step = uint32(1)
    while step < SIZE:
        cuda.syncthreads()
        if i >= step:
            tile[i] += tile[uint32(i - step)]
        step = uint32(2 * step)
    if at < src.size:
        out[at] = tile[i]


out = np.zeros(small.size, np.float32)
print(emulate(scan_in_place_wrong)[4, SIZE](out, small).races)

SIZE = 64       # a kernel keeps the globals that it was compiled with
two_warps = cuda.jit(scan_in_place_wrong.py_func)
film = watch(two_warps)[1, SIZE](np.zeros(SIZE, np.float32), small[:SIZE])
SIZE = 1024
film

# %% [markdown]
# In the film warp 0 adds to cell 31 in the first sweep, and thread 32 then loads the new sum.
# Write after read: in the step of distance 16, thread 32 must load cell 16 before thread 16 adds to it, and nothing orders the two.
#
# ## Fewer additions: two sweeps
#
# **Predict.** How many additions does a tile of 1,024 take, and how many would a loop take?
#
# <details><summary>Answer</summary>
#
# The step of distance d adds 1,024 − d times; all ten steps together 10 · 1,024 − 1,023 = 9,217 times. The loop adds 1,023 times.
#
# </details>
#
# Most of these sums are never needed.
# Add up pairs, pairs of pairs and so on, up to the whole tile. Then, on the way down, fill in what is between.

# %%
@cuda.jit
def lane_and_warp():
    """This thread's lane, and its warp in the block."""
    i = uint32(cuda.threadIdx.x)
    return uint32(i & uint32(31)), uint32(i >> uint32(5))


@cuda.jit
def add_left(tile, right, step):
    """Add to a tile's element the one `step` before it, if there is one."""
    if right < SIZE:
        left = uint32(right - step)
        tile[right >> uint32(5), right & uint32(31)] += (
            tile[left >> uint32(5), left & uint32(31)])


up = [[(right - step, right) for right in range(2 * step - 1, 16, 2 * step)]
      for step in (1, 2, 4, 8)]
down = [[(right - step, right) for right in range(3 * step - 1, 16, 2 * step)]
        for step in (4, 2, 1)]

plot_scan(16, up + down)

# %% [markdown]
# Steps 1 to 4 go up, steps 5 to 7 down.
# In each step, no thread stores to a cell that another one loads. So one barrier a step is enough, and the scan is in place.
#
# **Add up pairs, pairs of pairs and so on, then fill in between.**
# The tile has 32 rows of 32 elements, and `width` says how many cells a row has; 32 for now.

# %%
def make_sweeping(width):
    @cuda.jit
    def scan_sweeping(out, src):
        """Add up pairs, pairs of pairs and so on, then fill in between."""
        tile = cuda.shared.array((32, width), float32)
        lane, warp = lane_and_warp()
        i = uint32(cuda.threadIdx.x)
        first = uint32(SIZE * cuda.blockIdx.x + i)
        for row in range(0, 32, 16):
            at = uint32(first + 32 * row)
            tile[uint32(warp + row), lane] = element(src, at)
        step = uint32(1)
        while step < SIZE:
            cuda.syncthreads()
            add_left(tile, uint32(2 * step * uint32(i + 1) - 1), step)
            step = uint32(2 * step)
        while step > 1:
            step = uint32(step >> uint32(1))
            cuda.syncthreads()
            add_left(tile, uint32(2 * step * uint32(i + 1) + step - 1), step)
        cuda.syncthreads()
        for row in range(0, 32, 16):
            if uint32(first + 32 * row) < src.size:
                out[uint32(first + 32 * row)] = tile[uint32(warp + row), lane]
    return scan_sweeping

# %%
def counts(runs):
    """What the emulator counts of each scan, for one tile."""
    return table(["for one tile", "additions", "barriers",
                  "requests of shared memory", "their wavefronts"],
        [(name, it.operations.float32 / 4, it.waits.block,
          it.bank_conflicts.requests / 4, it.bank_conflicts.wavefronts / 4)
         for name, it in runs.items()])


swept = count(make_sweeping(32), SIZE // 2)
counts({"doubling": doubled, "sweeps": swept})

# %% [markdown]
# The sweeps need 2,036 additions instead of 9,217, and fewer than half of the requests, but these take twice as many wavefronts:
# in the step of distance d, neighbouring lanes work 2d words apart, so more and more of them meet in one bank.
#
# With rows of 33 cells, each row begins one bank further than the row above.

# %%
padded = count(make_sweeping(33), SIZE // 2)
print(counts({"doubling": doubled, "sweeps": swept, "padded": padded}))

row, col = np.mgrid[0:8, 0:33]
lefts = [divmod(8 * lane + 3, 32) for lane in range(32)]
plot_tile_banks((33 * row + col) % 32, lefts, padding=1)

# %% [markdown]
# The outlined cells are what a warp loads from the left in the step of distance 4: every eighth element, no two in one bank.
# Of the 915 bank conflicts of a tile, 52 are left.
#
# ## Without shared memory: shuffles
#
# The lanes of a warp can hand sums over in registers: `cuda.shfl_up_sync(ALL, total, d)` gives each lane the `total` of the lane d below.
# Five doublings scan a warp, with no barrier and no shared memory.
# **Scan each warp, scan the warps' sums, add those before a warp.**
# Every warp scans the warps' sums for itself, which saves a second barrier.

# %%
@cuda.jit
def scan_warp(total, lane):
    """The sum of the totals of this lane and of all lanes before it."""
    for k in range(5):
        before = cuda.shfl_up_sync(ALL, total, 1 << k)
        if lane >= 1 << k:
            total += before
    return total


@cuda.jit
def scan_sums(total, sums):
    """Of scanned warps, the sum of those before this warp, and of all."""
    lane, warp = lane_and_warp()
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    total = scan_warp(element(sums, lane), lane)
    before = cuda.shfl_sync(ALL, total, uint32(warp - 1))
    return before if warp > 0 else float32(0), cuda.shfl_sync(ALL, total, 31)


# %%
@cuda.jit
def scan_shuffling(out, src):
    """Scan each warp, scan the warps' sums, add those before a warp."""
    sums = cuda.shared.array(32, float32)
    lane, warp = lane_and_warp()
    at = uint32(cuda.grid(1))
    total = scan_warp(element(src, at), lane)
    before, end = scan_sums(total, sums)
    if at < out.size:
        out[at] = before + total


tile_runs = {"doubling": doubled, "sweeps": swept, "padded": padded,
             "shuffles": count(scan_shuffling)}
counts(tile_runs)

# %% [markdown]
# One barrier instead of 21, and 64 requests instead of 277. But there are 9,280 additions: each warp scans its own 32 elements, and then the sums of all warps.
#
# ## Four elements at a time
#
# A thread that takes four neighbours adds three times by itself, and then needs one scan of the warp for all four: a *four*, loaded by one request of 16 bytes.
# A thread may also have several fours, 128 elements apart; `values` holds them one after the other. All its indices are known once the loops are unrolled, so this local array lies in registers.

# %%
@cuda.jit
def load_fours(values, src, first):
    """Load a thread's fours, 128 elements apart, with 0 beyond the end."""
    for k in range(0, len(values), 4):
        at = uint32(first + 32 * k)
        if uint32(at + 4) <= src.size:
            (values[k], values[k + 1],
             values[k + 2], values[k + 3]) = load4(src, at)
        else:
            for j in range(4):
                values[k + j] = element(src, uint32(at + j))


@cuda.jit
def store_fours(out, first, values, before):
    """Store a thread's fours, with `before` added, up to the end."""
    for k in range(0, len(values), 4):
        at = uint32(first + 32 * k)
        if uint32(at + 4) <= out.size:
            store4(out, at, (before + values[k], before + values[k + 1],
                             before + values[k + 2], before + values[k + 3]))
        else:
            for j in range(4):
                if uint32(at + j) < out.size:
                    out[uint32(at + j)] = before + values[k + j]


# %%
@cuda.jit
def add_up(values):
    """Scan each of a thread's fours by itself, and return their sum."""
    total = float32(0)
    for k in range(0, len(values), 4):
        for j in range(k + 1, k + 4):
            values[j] += values[j - 1]
        total += values[k + 3]
    return total


@cuda.jit
def join(values, lane):
    """Add to each of a warp's fours the sum of all before it."""
    carry = float32(0)
    for k in range(0, len(values), 4):
        total = scan_warp(values[k + 3], lane)
        before = cuda.shfl_up_sync(ALL, total, 1)
        before = carry + before if lane > 0 else carry
        for j in range(k, k + 4):
            values[j] += before
        carry += cuda.shfl_sync(ALL, total, 31)


# %%
@cuda.jit
def first_of(tile, elements):
    """Where this thread's fours begin in a tile."""
    lane, warp = lane_and_warp()
    warps = uint32(tile * uint32(cuda.blockDim.x >> 5) + warp)
    return uint32(32 * elements * warps + 4 * lane)


@cuda.jit
def scan_fours(out, src):
    """Add up a four in each thread, then the warps' sums, join and store."""
    values = cuda.local.array(4, float32)
    sums = cuda.shared.array(8, float32)
    lane, warp = lane_and_warp()
    first = first_of(uint32(cuda.blockIdx.x), 4)
    load_fours(values, src, first)
    before, total = scan_sums(scan_warp(add_up(values), lane), sums)
    join(values, lane)
    store_fours(out, first, values, before)


tile_runs["fours"] = count(scan_fours, SIZE // 4)
counts(tile_runs)

# %% [markdown]
# The fours take a quarter of the requests and, for 1,024 elements, no more than 8 warps.
#
# ## What the clock says
#
# From here on the array has 2²⁸ elements: 1 GiB, of which L2 holds a small part.
# **Predict.** Which of the five scans is the slowest, and how near does the best one come to a copy?

# %% tags=["timing"]
N = 2**28
src, dst = np.zeros(N, np.float32), np.zeros(N, np.float32)


def clock(kernel, blocks, threads, *arrays, moved=2):
    """Measure a kernel that moves `moved` times the bytes of the array."""
    return measure(kernel, bytes=moved * src.nbytes)[blocks, threads](*arrays)


def clock_tiles(kernel, threads):
    """Measure a scan of tiles of 1,024 elements."""
    return clock(kernel, N // SIZE, threads, dst, src)


times = {"doubling": clock_tiles(scan_doubling, SIZE),
         "sweeps": clock_tiles(make_sweeping(32), SIZE // 2),
         "padded": clock_tiles(make_sweeping(33), SIZE // 2),
         "shuffles": clock_tiles(scan_shuffling, SIZE),
         "fours": clock_tiles(scan_fours, SIZE // 4)}


# %% tags=["timing"]
def busy(names):
    """Each rung's time and what it asks of a multiprocessor."""
    counted = [times[name].counters.get for name in names]
    return table(["rung", "time, µs", "% of the driver's copy's rate",
                  "instructions per 32 elements", "issue slots used, %",
                  "L1/shared data path busy, %", "warps wait most for"],
        [(name, times[name].median_us, 100 * times[name].share_of_copy,
          get("instructions", np.nan) / (N / 32), get("issue_percent"),
          get("l1_data_percent"), next(iter(times[name].waits), ""))
         for name, get in zip(names, counted, strict=True)])


busy(list(times))

# %% [markdown]
# - *sweeps* make a fifth of the additions but take 14% longer: bank conflicts keep the data path 92.5% busy.
# - *padded* takes 41% less time than that. Now 86% of the issue slots are used: two sweeps need 138 instructions for 32 elements, a doubling 104.
# - *shuffles* need 64 instructions and one barrier, and still wait for memory most: a thread has 4 bytes in flight.
# - *fours* have 16 bytes in flight and need 25 instructions. They reach 98% of the copy's rate.
#
# ## Across blocks: three launches
#
# What a tile lacks is the sum of all tiles before it.
# **Add up each tile; scan the sums; scan each tile from the sum of those before it.**
# These are three launches: all sums must be there before the first is used.

# %%
def make_ends(fours, threads):
    elements, warps = 4 * fours, threads // 32
    @cuda.jit(launch_bounds=threads)
    def sum_tiles(tile_sums, src):
        """Add up a tile."""
        values = cuda.local.array(elements, float32)
        sums = cuda.shared.array(warps, float32)
        tile, lane = uint32(cuda.blockIdx.x), lane_and_warp()[0]
        load_fours(values, src, first_of(tile, elements))
        end = scan_sums(scan_warp(add_up(values), lane), sums)[1]
        if cuda.threadIdx.x == 0:
            tile_sums[tile] = end

    @cuda.jit(launch_bounds=threads)
    def scan_from(out, src, tile_sums):
        """Scan a tile from the sum of all tiles before it."""
        values = cuda.local.array(elements, float32)
        sums = cuda.shared.array(warps, float32)
        tile, lane = uint32(cuda.blockIdx.x), lane_and_warp()[0]
        load_fours(values, src, first_of(tile, elements))
        before = scan_sums(scan_warp(add_up(values), lane), sums)[0]
        before += element(tile_sums, uint32(tile - 1))   # before tile 0: 0
        join(values, lane)
        store_fours(out, first_of(tile, elements), values, before)
    return sum_tiles, scan_from


# %%
@cuda.jit
def scan_in_turn(sums):
    """One block scans 4,096 sums after 4,096, in place, and carries on."""
    values = cuda.local.array(4, float32)
    of_warps = cuda.shared.array(32, float32)
    carry, tile, lane = float32(0), uint32(0), lane_and_warp()[0]
    while tile * 4096 < sums.size:
        first = first_of(tile, 4)
        load_fours(values, sums, first)
        before, end = scan_sums(scan_warp(add_up(values), lane), of_warps)
        join(values, lane)
        store_fours(sums, first, values, carry + before)
        carry += end
        tile = uint32(tile + 1)
        cuda.syncthreads()


def in_three(act, sum_tiles, scan_from, launch, out, src, sums):
    """Emulate or measure the three launches."""
    return (act(sum_tiles)[launch](sums, src),
            act(scan_in_turn)[1, SIZE](sums),
            act(scan_from)[launch](out, src, sums))

# %% [markdown]
# **Predict.** How many times the array do the three launches move? If only bytes count, how long do they take, when a copy of the array takes 0.5 ms?
#
# <details><summary>Answer</summary>
#
# The first loads it, the last loads and stores it: three times the array, 1.5 times what a copy moves. So at least 0.75 ms.
#
# </details>

# %% tags=["timing"]
TILE, THREADS = 2**14, 512      # elements of a tile: 8 fours a thread
ends, tiles = make_ends(8, THREADS), N // TILE

few = random.integers(-9, 10, 6 * TILE + 7).astype(np.float32)
out = np.full(few.size, np.nan, np.float32)
three = in_three(emulate, *ends, (7, THREADS), out, few,
                 np.zeros(7, np.float32))
check(out, few.astype(np.float64).cumsum())

launches = in_three(measure, *ends, (tiles, THREADS), dst, src,
                    np.zeros(tiles, np.float32))
moved = [32 * it.coalescing.sectors / few.nbytes for it in three]
copy_us = 2 * src.nbytes / times["fours"].copy_gb_per_s / 1e3

table(["launch", "times the array, counted", "predicted, µs", "time, µs"],
      [(name, by, by * copy_us / 2, it.median_us)
       for name, by, it in zip(("add up each tile", "scan the sums",
                                "scan each tile"), moved, launches,
                               strict=True)]
      + [("together", sum(moved), sum(moved) * copy_us / 2,
          sum(it.median_us for it in launches))])

# %% [markdown]
# Together the launches take as long as their bytes predict, within 1%.
#
# ## In one launch: look back
#
# Could a block get the sum before its tile within the same launch? Yes, if three things hold.
#
# - *A block that others wait for is running.* Blocks may start in any order, so a block takes the next free tile by an atomic addition. All tiles before it belong to blocks that have started.
# - *What is read is complete.* A tile publishes a status and a float32 in one word of 64 bits: first `SUM` with its own sum, later `PREFIX` with the sum of everything up to its end.
# - *Both sides are ordered.* `store_release` stores a word after all that its thread stored before; `load_acquire` loads it before all that its thread loads next.

# %%
WAIT, SUM, PREFIX = 0, 1, 2     # what a tile has published


@cuda.jit
def next_tile(taken):
    """The first tile that no block has taken, for all threads of a block."""
    tile = cuda.shared.array(1, uint32)
    if cuda.threadIdx.x == 0:
        tile[0] = cuda.atomic.add(taken, 0, uint32(1))
    cuda.syncthreads()
    return tile[0]


@cuda.jit
def publish(words, tile, lane, status, value):
    """Store a status and a float32 as one word, by lane 0."""
    word = (uint64(status) << uint64(32)) | uint64(value.view(uint32))
    if lane == 0:
        store_release(words, tile, word)


@cuda.jit
def read(word):
    """The status and the float32 of a word."""
    return uint32(word >> uint64(32)), uint32(word).view(float32)


# %% [markdown]
# (`view` takes the same 32 bits as a number of another type.)
#
# A tile looks at the one before it.
# If that has its prefix, this is all; if it has only its sum, add that and look one further; if it has nothing yet, look again.
# So no tile waits until the one before it has *finished*, only until it has published something.
# This is the **decoupled look-back** of Merrill and Garland.
#
# **Take the next tile, publish its sum, look back, publish, store.**
# All warps join their fours; then one warp looks back, and the others wait for it.
# (`launch_bounds=(threads, resident)` limits the registers, so that `resident` blocks of `threads` threads fit on a multiprocessor.)

# %%
@cuda.jit
def look_back_singly(words, tile, lane):
    """Add up the tiles before this one, asked for one by one."""
    before = float32(0)
    while tile > 0:
        status, value = read(load_acquire(words, uint32(tile - 1)))
        if status != WAIT:
            before += value
            tile = uint32(tile - 1) if status == SUM else uint32(0)
    return before


def scan(kernel, a, fours=2, threads=64):
    """Emulate a scan in one launch, and check it."""
    tiles = max(1, -(-a.size // (4 * fours * threads)))
    out = np.full(a.size, np.nan, np.float32)
    words, taken = np.zeros(tiles, np.uint64), np.zeros(1, np.uint32)
    run = emulate(kernel)[tiles, threads](out, a, words, taken)
    check(out, a.astype(np.float64).cumsum())
    return run


# %%
def make_once(look_back, fours, threads, resident):
    """A scan in one launch, with this many fours for each thread."""
    elements, warps = 4 * fours, threads // 32

    @cuda.jit(launch_bounds=(threads, resident))
    def scan_once(out, src, words, taken):
        """Take the next tile, publish its sum, look back, publish, store."""
        values = cuda.local.array(elements, float32)
        sums = cuda.shared.array(warps, float32)
        prefix = cuda.shared.array(1, float32)
        tile, (lane, warp) = next_tile(taken), lane_and_warp()
        first = first_of(tile, elements)
        load_fours(values, src, first)
        before, end = scan_sums(scan_warp(add_up(values), lane), sums)
        if warp == 0:
            publish(words, tile, lane, SUM, end)
        join(values, lane)
        if warp == 0:
            found = look_back(words, tile, lane)
            publish(words, tile, lane, PREFIX, found + end)
            if lane == 0:
                prefix[0] = found
        cuda.syncthreads()
        store_fours(out, first, values, prefix[0] + before)
    return scan_once

# %% [markdown]
# ## A warp looks back at 32 tiles
#
# Loading a word that another block has just stored takes a journey to L2, and each step of `look_back_singly` waits for one.
# A warp can make 32 of these journeys at once.
#
# Then all lanes need the sum of what they found. `cuda.shfl_xor_sync(ALL, value, d)` gives each lane the value of the lane whose number differs in the bit of d, and its own to that one. Both add, so after d = 1, 2, 4, 8, 16 each lane has the sum of all 32, with no lane to hand it out.

# %%
@cuda.jit
def add_lanes(value):
    """The sum of a warp's values, in each of its lanes."""
    for k in range(5):
        value += cuda.shfl_xor_sync(ALL, value, 1 << k)
    return value

# %% [markdown]
# **Ask for the words of 32 tiles; if all have something, add up the sums back to the nearest prefix; if there is none, go on with the 32 before.**
# (`cuda.ffs` finds the lowest bit that is set, and counts from 1: the nearest prefix is in lane `ffs` − 1.)

# %%
@cuda.jit
def look_back(words, tile, lane):
    """Add up the tiles before this one, asked for 32 at a time."""
    before = float32(0)
    at = int32(tile) - 1 - int32(lane)
    looking = True
    while looking:
        status, value = uint32(PREFIX), float32(0)      # before tile 0
        if at >= 0:
            status, value = read(load_acquire(words, uint32(at)))
        if cuda.all_sync(ALL, status != WAIT):
            prefixes = cuda.ballot_sync(ALL, status == PREFIX)
            looking = prefixes == 0
            needed = looking or int32(lane) < cuda.ffs(prefixes)
            before += add_lanes(value if needed else float32(0))
            at = int32(at - 32)
    return before


ragged = few[:10_007]
small_once = make_once(look_back, 2, 64, 1)
runs = [scan(it, ragged)
        for it in (make_once(look_back_singly, 2, 64, 1), small_once)]
plot_look_back(["prefix"] * 5 + ["sum"] * 9, lanes=8)

# %% [markdown]
# The warp of tile 14 looks back, here with 8 lanes instead of 32. It adds what is marked with a plus; the second look finds a prefix.
#
# ## More tiles in flight
#
# While a block looks back, its tile stays in registers, and the block asks memory for nothing.
# Other blocks must keep memory busy meanwhile.
# How much a multiprocessor holds of the array is a count: fours × 16 bytes × threads × blocks. It was 8 × 16 × 512 × 2 bytes, 128 KB, so far.
#
# Does more help? Take 12 fours in 256 threads, 48 KB a block. Dynamic shared memory, which the kernel does not use, keeps the number of blocks down:

# %% tags=["timing"]
def clock_once(look_back, fours, threads, resident, tile):
    """Measure a scan in one launch."""
    words = np.zeros(-(-N // tile), np.uint64)
    return clock(make_once(look_back, fours, threads, resident), words.size,
                 threads, dst, src, words, taken)


taken = np.zeros(1, np.uint32)
times["one by one"] = clock_once(look_back_singly, 8, 512, 2, 2**14)
times["32 at a time"] = clock_once(look_back, 8, 512, 2, 2**14)

kernel, words = make_once(look_back, 12, 256, 4), np.zeros(21846, np.uint64)
allow_dynamic_shared(kernel, 200 * 1024)
held = {blocks: measure(kernel, bytes=2 * src.nbytes)[
            words.size, 256, 0, 1024 * kb](dst, src, words, taken)
        for blocks, kb in {1: 200, 2: 100, 3: 70, 4: 0}.items()}
times["more in flight"] = held[4]
times["larger tiles"] = clock_once(look_back, 12, 512, 2, 24 * 1024)

print(busy(["one by one", "32 at a time", "more in flight", "larger tiles"]))
plot_series([48 * blocks for blocks in held],
            {"12 fours": [it.median_us for it in held.values()]},
            "KB of the array held by a multiprocessor", limit_us=copy_us,
            limit_label="the driver's copy")

# %% [markdown]
# One by one, one launch moves a third less than three and takes as long, within 2%. 32 tiles at a time take 8% less.
# Its other warps wait at the barrier for the one that looks back, and memory is 64% busy.
#
# The more a multiprocessor holds, the less time: 192 KB instead of 48 save 33%.
# Tiles twice as large, with as much held, save another 1%. Memory is 73% busy then, and moves as many bytes as for a copy.
#
# ## Special numbers, and rounding
#
# NaN and infinities must reach each sum behind them, and none before.
# `scan_warp` therefore skips a lane with `if`, instead of adding 0 times its value: 0 times NaN is NaN.
# And how far can rounding take a sum from the exact one?

# %%
special = ragged.copy()
special[[3000, 5000, 7000]] = np.inf, -np.inf, np.nan
with np.errstate(invalid="ignore"):
    for a in (special, special[3000:3001], special[:0],
              np.ones(700, np.float32), np.full(70, -0.0, np.float32)):
        scan(small_once, a)


def error(out, a):
    """The largest error of a scan, in 2⁻²⁴ of the sum of magnitudes."""
    exact, size = (it.astype(np.float64).cumsum() for it in (a, np.abs(a)))
    return np.max(np.abs(out - exact) / size) * 2**24


a = random.random(100_003, dtype=np.float32)
out, parts = np.zeros_like(a), -(-a.size // 512)
small_once[parts, 64](out, a, np.zeros(parts, np.uint64),
                      np.zeros(1, np.uint32))
errors = {"a loop": error(a.cumsum(), a), "one launch": error(out, a)}
table(["in 2⁻²⁴ of the sum of magnitudes", "error", "bound m"],
      [("a loop", errors["a loop"], a.size),
       ("one launch", errors["one launch"], 2 + 13 + 2 + 7 * parts)])

# %% [markdown]
# Each addition may be off by 2⁻²⁴ of its result.
# If an element takes part in at most m additions, a sum is off by about m · 2⁻²⁴ times the sum of all *magnitudes*, at most.
# In a loop, m is the number of elements.
# In `scan_once` with f fours it is f + 13 until a tile has its sum, 7 for each tile that looks back in turn, and 2 at the end.
# Both errors are far below their bounds, and the scan's is the smaller one: parallel sums are shorter chains.
#
# (A sum that begins with −0.0 is 0.0 here, since each prefix begins at 0.0; the two compare equal.)
#
# ## What changed

# %% tags=["assembly"]
kernels = {"doubling": scan_doubling, "sweeps": make_sweeping(32),
           "padded": make_sweeping(33), "shuffles": scan_shuffling,
           "fours": scan_fours,
           "one by one": make_once(look_back_singly, 8, 512, 2),
           "32 at a time": make_once(look_back, 8, 512, 2),
           "more in flight": make_once(look_back, 12, 256, 4),
           "larger tiles": make_once(look_back, 12, 512, 2)}
state = np.zeros(4, np.uint64), np.zeros(1, np.uint32)
registers = {
    name: assemble(it)[4, 256](
        small, small, *(() if name in tile_runs else state)).registers
    for name, it in kernels.items()}

# %% tags=["timing"]
changes = {"doubling": "log n steps", "sweeps": "fewer additions",
           "padded": "no conflicts", "shuffles": "one barrier",
           "fours": "a quarter of the requests", "three launches": "",
           "one by one": "2 instead of 3 times the array",
           "32 at a time": "fewer waits in turn",
           "more in flight": "192 KB held, not 128",
           "larger tiles": "half as many tiles"}
ladder = {name: baseline(f"scan, {name}").median_us
          for name in ("copy", *changes, "CUB")}
cpp = {name: baseline(f"scan, {name} in C++") for name in (
    "doubling", "shuffles", "larger tiles")}
print(table(["rung", "scans", "what changed", "registers", "time, µs",
             "% of the copy's rate", "% of CUB's rate", "in C++, µs"],
    [(name, "tiles" if name in tile_runs else "all", change,
      registers.get(name, ""), ladder[name],
      100 * ladder["copy"] / ladder[name], 100 * ladder["CUB"] / ladder[name],
      cpp[name].median_us if name in cpp else "")
     for name, change in changes.items()]))

plot_times([*changes, "CUB"], [ladder[name] for name in (*changes, "CUB")],
           limit_us=ladder["copy"], limit_label="the driver's copy")

# %% [markdown]
# The first five rungs scan tiles only; the others scan the whole array.
# These times were recorded by turns with CUB and the copy, and include setting `words` and `taken` to zero: they are within 3% of those above.
#
# ## On your own
#
# ★ In the step of distance 4, how many banks do the lanes of a warp load from if a row has 34 cells? Guess, then ask `count(make_sweeping(34), 512)`.
#
# <details><summary>Answer</summary>
#
# 16: two words in each, so a request takes 2 wavefronts.
# A tile has 257 bank conflicts then, instead of 52.
#
# </details>
#
# ★★ `running_maximum`: the largest element so far instead of the sum, in blocks of 256.

# %%
task = exercise("running_maximum")
task

# %%
ALL = 0xFFFFFFFF


@cuda.jit
def running_maximum(out, a):
    """Scan each warp, then those before it, by the maximum, not the sum."""
    # your code, about 15 lines


task.check(running_maximum)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# ALL = 0xFFFFFFFF
#
#
# @cuda.jit
# def running_maximum(out, a):
#     """Scan each warp, then those before it, by the maximum, not the sum."""
#     found = cuda.shared.array(8, float32)
#     i = cuda.grid(1)
#     lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
#     best = a[min(i, a.size - 1)]
#     for k in range(5):
#         before = cuda.shfl_up_sync(ALL, best, 1 << k)
#         if lane >= 1 << k:
#             best = max(best, before)
#     if lane == 31:
#         found[warp] = best
#     cuda.syncthreads()
#     for k in range(warp):
#         best = max(best, found[k])
#     if i < a.size:
#         out[i] = best
# ```
#
# No lane needs a smallest number to begin with: it leaves out what is not there.
#
# </details>
#
# ★★ `exercise("running_totals")`: a chain of blocks whose totals are right, though nothing orders them. Which two lines must acquire and release?
#
# The [assignment](assignments/26_scan.ipynb) has 4 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Call CuPy's `cumsum` or CUB's `DeviceScan`; write a scan when it is part of another kernel.
#
# `words` and `taken` must be zero before each launch. `measure` gives arrays their contents back.
#
# How far a tile looks back depends on which tiles are ready, so the last bits may differ from run to run. Three launches always give the same bits.
#
# Look-back needs blocks that go on running while others wait for them.
#
# For a scan without the element itself, do not subtract it at the end: ∞ − ∞ is NaN.
#
# ## Further reading
#
# - [Decoupled look-back](https://research.nvidia.com/publication/2016-03_single-pass-parallel-prefix-scan-decoupled-look-back), by its authors: CUB's scan.
# - [Parallel prefix sum](https://developer.nvidia.com/gpugems/gpugems3/part-vi-gpu-computing/chapter-39-parallel-prefix-sum-scan-cuda): doubling, sweeps and padding in 2007.
#
# *Next:* [Count a billion bytes in the time it takes to read them](27_histogram.ipynb): each sum here has a place of its own; what if thousands of threads add to the same 256 counters?
