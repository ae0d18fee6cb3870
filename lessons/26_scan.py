# %% [markdown]
# # Scan an array in one pass
#
# *150 minutes*
#
# **What you'll do:** add up everything before each element of an array: in a block, then across blocks, at last in one launch that moves as few bytes as a copy.
#
# **What you'll learn:**
#
# - turn a loop in which each step needs the one before into a few parallel steps
# - tell work from steps, and both from what the data path passes
# - pass a value from block to block within one launch, without a race
#
# **What you'll need:** [warps and shuffles](02_warps.ipynb), [banks](14_bank_conflicts.ipynb), [barriers and races](15_barriers_and_races.ipynb), atomics and fences, as in [Leave the rest to the last block](20_the_last_block.ipynb), and what the data path passes, as in [Add up an array](25_reduction.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, uint32, uint64

from helpers import (allow_dynamic_shared, assemble, baseline, check, compare,
                     device, emulate, exercise, load4, load_acquire, measure,
                     plot_fours, plot_look_back, plot_look_backs, plot_rates,
                     plot_scan, plot_series, plot_tile_banks, plot_times,
                     store4, store_release, table, watch)

device

# %% [markdown]
# ## How can many threads make a running sum?
#
# A **scan** (a *prefix sum*) replaces each element by the sum of all elements up to it; in NumPy it is `cumsum`.
# In a loop, every step needs the step before.
# And a scan moves what a copy moves: each element is loaded once and stored once. How near does it come to a copy?
#
# We begin with tiles of 1,024 elements, each scanned by one block.
#
# Let every element add its left neighbour: each now holds a sum of two.
# Then let it add what is two to the left: a sum of four. Then four, eight and so on.

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
# A cell names the elements that its sum covers; in the stronger shade it is ready.
#
# So 16 elements take four steps, and 1,024 ten. This is the scan of Hillis and Steele; an adder built so is called **Kogge–Stone**.
#
# **Predict.** The steps add in another order than a loop. Which of these could be scanned so, too: a maximum, a difference, a product of matrices, "the last that is not 0"?

# %% tags=["hide-input"]
# Scans with six operations, by doubling and by a loop.
def by_doubling(join, a):
    """Join each element with what ends 1 before, then 2 before and so on."""
    for step in (1, 2, 4, 8):
        a = [join(a[i - step], it) if i >= step else it
             for i, it in enumerate(a)]
    return a


def by_loop(join, a):
    """Join all elements up to each one, from left to right."""
    sums = a[:1]
    for it in a[1:]:
        sums.append(join(sums[-1], it))
    return sums


few_numbers = [3, 1, 0, 2, 4, 1, 1, 0, 2, 2, 5, 0, 1, 1, 1, 3]
matrices = [np.array([[1, it], [it, 0]]) for it in few_numbers]
flagged = [(it == 0, it) for it in few_numbers]         # begin anew here?

# %% tags=["hide-input"]
# Tabulates which of them come out as in a loop.
def laws(join, its):
    """Is it associative, commutative, and by doubling as in a loop?"""
    same = np.array_equal
    return (all(same(join(join(a, b), c), join(a, join(b, c)))
                for a in its for b in its for c in its),
            all(same(join(a, b), join(b, a)) for a in its for b in its),
            same(by_doubling(join, its), by_loop(join, its)))


joined = {name: laws(*it) for name, it in {
    "a + b": (lambda a, b: a + b, few_numbers),
    "the larger one": (max, few_numbers),
    "a · b, matrices": (lambda a, b: a @ b, matrices),
    "b, or a if b is 0": (lambda a, b: b or a, few_numbers),
    "a + b, anew from each 0": (lambda a, b: (
        a[0] or b[0], b[1] if b[0] else a[1] + b[1]), flagged),
    "a − b": (lambda a, b: a - b, few_numbers)}.items()}
table(["a and b give", "associative", "commutative", "scan as in a loop"],
      [(name, *("yes" if it else "no" for it in found))
       for name, found in joined.items()])

# %% [markdown]
# Each step joins two neighbouring pieces, the left one on the left. So brackets move, and must not matter: the operation must be *associative*, which a difference is not. The order stays, so it need not be *commutative*.
#
# <details><summary>For the curious: sums that begin anew</summary>
#
# A scan of many rows at once, each with its own sum, is a scan of pairs: does a row begin here, and the sum since then. `(f, a)` and `(g, b)` give `(f or g, b if g else a + b)`, which is associative.
#
# </details>

# %% [markdown]
# A thread keeps its sum in a register. It stores it to shared memory, waits, adds what stands `step` before, and waits again.

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
# Why does it wait twice in each step?
# Try it with one barrier, and the sums in the tile; `watch` shows it with 64 threads.
#
# **Predict.** Warp 0 comes first. Which cell does warp 1 load too late?

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
# In the film warp 0 adds to cell 31 in the first doubling, and thread 32 then loads the new sum.
# Write after read: who needs the old sum must have loaded it before its owner stores the new one. The second barrier makes it so: load, barrier, store.
#
# <details><summary>For the curious: one barrier</summary>
#
# With two tiles, one to load from and one to store to, and the other way round in the next step, one barrier a step is enough: what a step stores, nobody loads before the barrier.
#
# </details>
#
# ## Fewer additions
#
# **Predict.** How many additions does a tile of 1,024 take, and how many would a loop take?
#
# <details><summary>Answer</summary>
#
# The step of distance d adds 1,024 − d times; all ten steps together 10 · 1,024 − 1,023 = 9,217 times. The loop adds 1,023 times.
#
# </details>
#
# Nine times the work of the loop: few steps, but not **work-efficient**.
# So add up pairs, then pairs of pairs, up to the whole tile. Then, on the way down, fill in what is between. An adder built so is called **Brent–Kung**.

# %%
up = [[(right - step, right) for right in range(2 * step - 1, 16, 2 * step)]
      for step in (1, 2, 4, 8)]
down = [[(right - step, right) for right in range(3 * step - 1, 16, 2 * step)]
        for step in (4, 2, 1)]

plot_scan(16, up + down)

# %% [markdown]
# In no step does a thread store to a cell that another one loads, so one barrier a step is enough.
#
# Half as many threads do it, each with two elements to load. In the step of distance d, thread i adds to element 2d(i + 1) − 1; on the way down, d further on. The tile has rows of 32 elements, and `width` says how many cells a row has.

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


# %%
def make_sweeping(width):
    @cuda.jit
    def scan_sweeping(out, src):
        """Add up pairs, pairs of pairs and so on, then fill in between."""
        tile = cuda.shared.array((32, width), float32)
        i, (lane, warp) = uint32(cuda.threadIdx.x), lane_and_warp()
        first = uint32(SIZE * cuda.blockIdx.x + i)
        for row in range(0, 32, 16):
            at = uint32(first + 32 * row)
            tile[uint32(warp + row), lane] = element(src, at)
        step = uint32(1)
        while step < SIZE:
            cuda.syncthreads()
            add_left(tile, uint32(2 * step * uint32(i + 1) - 1), step)
            step = uint32(2 * step)
        step = uint32(SIZE // 4)
        while step > 0:
            cuda.syncthreads()
            add_left(tile, uint32(2 * step * uint32(i + 1) + step - 1), step)
            step = uint32(step // 2)
        cuda.syncthreads()
        for row in range(0, 32, 16):
            if uint32(first + 32 * row) < src.size:
                out[uint32(first + 32 * row)] = tile[uint32(warp + row), lane]
    return scan_sweeping

# %% [markdown]
# In the step of distance d, neighbouring lanes work 2d words apart, so more and more of them meet in one bank. Rows of 33 cells begin one bank further than the row above. The picture has the cells that a warp loads from the left in the step of distance 4: every eighth element, no two in one bank.

# %%
swept = count(make_sweeping(32), SIZE // 2)
padded = count(make_sweeping(33), SIZE // 2)

row, col = np.mgrid[0:8, 0:33]
lefts = [divmod(8 * lane + 3, 32) for lane in range(32)]
plot_tile_banks((33 * row + col) % 32, lefts, padding=1)

# %% [markdown]
# ## Without shared memory: shuffles
#
# `cuda.shfl_up_sync(ALL, total, d)` gives each lane the `total` of the lane d below. Five doublings scan a warp, without a barrier.
#
# Then the last lane of each warp, which has the warp's sum, stores it. After one barrier *every* warp loads all sums and scans them for itself. `scan_sums` returns what is before a warp, and the sum of all.

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


shuffled = count(scan_shuffling)

# %% [markdown]
# ## Four elements at a time
#
# A lane with four neighbours, a *four*, adds three times by itself. Then the warp scans the lanes' sums, once for four elements instead of four times. This is **thread coarsening**. And one request of 16 bytes loads a four.

# %%
plot_fours([3, 1, 0, 2, 4, 1, 1, 0, 2, 2, 5, 0, 1, 1, 1, 3])

# %% [markdown]
# Here is the kernel; its parts follow. `values` holds a thread's fours: a local array, in registers, as all indices are known once loops are unrolled.

# %%
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


@cuda.jit
def first_of(tile, elements):
    """Where this thread's fours begin in a tile."""
    lane, warp = lane_and_warp()
    warps = uint32(tile * uint32(cuda.blockDim.x >> 5) + warp)
    return uint32(32 * elements * warps + 4 * lane)

# %% [markdown]
# A thread may have several fours. A warp's second fours follow its first ones, 128 elements further on, so that lanes stay side by side.

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


# %% [markdown]
# `add_up` scans each four by itself and returns the thread's sum. The warp's sum is all that other warps need, so it is made first; only then `join` scans the lanes, four by four, and carries on from one to the next.

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


# %% [markdown]
# ## What does a tile cost?

# %% tags=["hide-input"]
# Tabulates what the emulator counts for one tile.
tile_runs = {"doubling": doubled, "sweeps": swept, "padded": padded,
             "shuffles": shuffled, "fours": count(scan_fours, SIZE // 4)}
compare(tile_runs,
        {"additions": lambda it: it.operations.float32 / 4,
         "barriers": lambda it: it.waits.block,
         "shared requests": lambda it: it.bank_conflicts.requests / 4,
         "their wavefronts": lambda it: it.bank_conflicts.wavefronts / 4},
        by="for one tile")

# %% [markdown]
# The sweeps make a fifth of the additions and fewer than half of the requests that lanes want. But warps also issue requests in which no lane takes part, and shuffles go through the data path, too.
#
# **Predict.** Order the five by what the data path passes, and by time.

# %% tags=["assembly", "timing", "hide-input"]
# Prepares to count what the data path passes, and to measure 2²⁸ elements.
N = 2**28
src, dst = np.zeros(N, np.float32), np.zeros(N, np.float32)
TILES = {"doubling": (scan_doubling, SIZE),
         "sweeps": (make_sweeping(32), SIZE // 2),
         "padded": (make_sweeping(33), SIZE // 2),
         "shuffles": (scan_shuffling, SIZE), "fours": (scan_fours, SIZE // 4)}


def path(kernel, threads):
    """What the data path passes for a tile, counted with the machine code."""
    code = assemble(kernel)[4, threads](small, small)
    run = emulate(kernel, assembly=code)[4, threads](0 * small, small)
    return {name: count / 4 for name, count in vars(run.data_path).items()
            if name != "by_line"}


def clock(kernel, blocks, threads, *arrays, moved=2):
    """Measure a kernel that moves `moved` times the bytes of the array."""
    return measure(kernel, bytes=moved * src.nbytes)[blocks, threads](*arrays)


# %% tags=["assembly", "timing", "hide-input"]
# Compares what the data path passes, counted and measured.
def path_busy(m):
    """The cycles in which the data path is busy, for a tile."""
    busy, cycles = (m.counters.get(name, np.nan)
                    for name in ("l1_data_percent", "cycles"))
    cores = cuda.get_current_device().MULTIPROCESSOR_COUNT
    return busy / 100 * cycles * cores / (N / SIZE)


def per_warp(m):
    """The instructions of warps for 32 elements."""
    return m.counters.get("instructions", np.nan) / (N / 32)


paths = {name: path(*it) for name, it in TILES.items()}
times = {name: clock(kernel, N // SIZE, threads, dst, src)
         for name, (kernel, threads) in TILES.items()}

compare({name: (paths[name], times[name]) for name in TILES},
        {"with lanes": lambda it: it[0]["requests"],
         "without a lane": lambda it: it[0]["without_lane"],
         "shuffles": lambda it: it[0]["shuffles"],
         "path cycles, counted": lambda it: it[0]["wavefronts"],
         "measured": lambda it: path_busy(it[1])}, by="for one tile")

# %% tags=["timing", "hide-input"]
# Compares the times, and what is busy.
compare(times, "µs", {"instructions per 32 elements": per_warp},
        "issue slots used, %", "data path busy, %", "memory busy, %",
        "waits most for", "% of a copy", by="tiles")

# %% [markdown]
# By the path: fours, shuffles, doubling, padded, sweeps; by time, *padded* comes before *doubling*.
# Counted and measured agree within a tenth. A tile of *sweeps* issues 976 requests for shared memory, and one of *doubling* 640. With the conflicts, the path passes two and a half times as much, is busy nearly always, and sets the pace.
# *padded* has 52 conflicts left of 915, and takes two fifths less time. Now the issue slots are as busy as the path: *padded* takes 29% more instructions than *doubling*.

# %% [markdown]
# <details><summary>For the curious: what we do not know</summary>
#
# *doubling* keeps neither slots nor path busy for half of the time: its warps wait most at barriers. (*padded* has as many, in smaller blocks.) We did not try whether *doubling* is slow for its barriers or for its large blocks. With the same loops, *sweeps* has 699 requests without a lane, and *padded* 514; we do not know why.
#
# </details>

# %% [markdown]
# *fours* take less than half the time of *shuffles*, 98% of a copy's rate. But three things have changed: instructions, requests, and bytes in flight, of which each thread has 16 and not 4.
#
# So let *fours* have fewer blocks at a time, with as little in flight. Dynamic shared memory, which the kernel does not use, keeps the others out.
#
# **Predict.** How long do they take then?

# %% tags=["timing", "hide-input"]
# Measures fours with two, four and all eight blocks on a multiprocessor.
allow_dynamic_shared(scan_fours, 100 * 1024)
resident = {blocks: measure(scan_fours, bytes=2 * src.nbytes)[
                N // SIZE, SIZE // 4, 0, 1024 * kb](dst, src)
            for blocks, kb in {2: 100, 4: 50, 8: 0}.items()}
compare({"shuffles": (8, times["shuffles"])}
        | {f"fours, {blocks} blocks": (4 * blocks, it)
           for blocks, it in resident.items()},
        {"KB in flight on each": lambda it: it[0]}, "µs", "GB/s")

# %% [markdown]
# With as much in flight, *fours* are a tenth faster than *shuffles*; the rest comes with more blocks: more [bytes in flight](25_reduction.ipynb) and more warps.
#
# ## Across blocks: three launches
#
# Tiles that are scanned apart all begin at 0. What each lacks is the sum of all tiles before it. So one launch adds up each tile, a second scans the sums, and a third scans each tile from the sum before it.

# %%
def make_ends(fours, threads):
    """The first and the last of the three launches."""
    elements, warps = 4 * fours, threads // 32

    @cuda.jit(launch_bounds=threads)
    def sum_tiles(tile_sums, src):
        """Add up a tile."""
        values = cuda.local.array(elements, float32)
        sums = cuda.shared.array(warps, float32)
        tile, (lane, warp) = uint32(cuda.blockIdx.x), lane_and_warp()
        load_fours(values, src, first_of(tile, elements))
        end = scan_sums(scan_warp(add_up(values), lane), sums)[1]
        if cuda.threadIdx.x == 0:
            tile_sums[tile] = end
    return sum_tiles, make_last(elements, warps, threads)


# %%
def make_last(elements, warps, threads):
    """The last of the three launches."""
    @cuda.jit(launch_bounds=threads)
    def scan_from(out, src, tile_sums):
        """Scan a tile from the sum of all tiles before it."""
        values = cuda.local.array(elements, float32)
        sums = cuda.shared.array(warps, float32)
        tile, (lane, warp) = uint32(cuda.blockIdx.x), lane_and_warp()
        load_fours(values, src, first_of(tile, elements))
        before = scan_sums(scan_warp(add_up(values), lane), sums)[0]
        if tile > 0:
            before += tile_sums[uint32(tile - 1)]
        join(values, lane)
        store_fours(out, first_of(tile, elements), values, before)
    return scan_from


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


# %% tags=["hide-input"]
# Emulates or measures the three launches.
def in_three(act, sum_tiles, scan_from, launch, out, src, sums):
    """Emulate or measure the three launches."""
    return (act(sum_tiles)[launch](sums, src),
            act(scan_in_turn)[1, SIZE](sums),
            act(scan_from)[launch](out, src, sums))

# %% [markdown]
# **Predict.** How many times the array do the three launches move? And a copy?
#
# <details><summary>Answer</summary>
#
# The first loads it, the last loads and stores it: three times the array. A copy moves it twice, so if only bytes count, they take 1.5 times as long.
#
# </details>

# %% tags=["timing", "hide-input"]
# Checks the three launches, and measures them.
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
# <details><summary>For the curious: is that what bytes predict?</summary>
#
# Together they take what their bytes predict, but by luck: reading alone is faster than half of a copy, and one block scans the sums for far longer than these few bytes need.
#
# </details>

# %% [markdown]
# ## In one launch: look back
#
# Could a block get the sum before its tile in the same launch? It would have to wait for another block. It may, if:
#
# - *The block that is waited for is running.* Blocks start in any order, so a block takes the next free tile by an atomic. All tiles before it belong to blocks that have started, and a block that runs goes on while others wait (**forward progress**).
# - *What is read is complete.* A tile publishes a status and a float32 in one word of 64 bits.
# - *Both sides are ordered*, if they pass more than this word, as in exercise `running_totals`: `store_release`, a store with [a fence](19_from_block_to_block.ipynb), comes after all that its thread stored, and `load_acquire` before all that it loads next.

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
# (`view` takes the same bits as another type.)
#
# If each tile waited for the one before to *finish*, that would be a chain. So a tile publishes twice. As soon as it has added itself up, it publishes its own sum; later its **prefix**, the sum up to its end.
#
# For a prefix, look at the tile before. If that has its prefix, this is all. If it has only its sum, add that and look one further. If it has nothing yet, look again.
# This is the **decoupled look-back** of Merrill and Garland.

# %%
plot_look_backs([(0, 4), (0.5, 4), (1, 6), (1.5, 3.5), (2, 4)])

# %% [markdown]
# Tile 3 waits for tile 2's sum, not for its prefix. Tile 4 looks at three, and waits for none.

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

# %% [markdown]
# One warp looks back, and the others wait for it at a barrier.
# (`launch_bounds=(threads, resident)` limits the registers, so that `resident` such blocks fit on a multiprocessor.)

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
# To load a word that another block has just stored is a journey to L2, and each step of `look_back_singly` waits for one. A warp can ask for 32 words at once.
#
# Then all lanes need the sum of what they found. With `shfl_xor_sync`, lanes swap in pairs: with the neighbour, then two lanes away, then four. After five swaps and additions each lane has the sum of all. (Half of them add in the other order, and each further look adds earlier tiles behind later ones. So this part takes a commutative operation only.)

# %% [markdown]
# If all 32 tiles have published something, the warp adds up back to the nearest prefix. If there is none, it adds all, and goes on before them.
#
# | call | gives each lane |
# |---|---|
# | `all_sync(ALL, yes)` | does it hold in all lanes? |
# | `ballot_sync(ALL, yes)` | a bit from each lane |
# | `ffs(bits)` | the lowest bit that is set, counted from 1: the nearest prefix is in lane `ffs` − 1 |

# %%
@cuda.jit
def add_lanes(value):
    """The sum of a warp's values, in each of its lanes."""
    for k in range(5):
        value += cuda.shfl_xor_sync(ALL, value, 1 << k)
    return value


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


plot_look_back(["prefix"] * 5 + ["sum"] * 9, lanes=8)

# %% [markdown]
# The warp of tile 14 looks back, here with 8 lanes. It adds what is marked with a plus; the second look finds a prefix.
#
# Both are right, without a race:

# %%
def scan(kernel, a, fours=2, threads=64):
    """Emulate a scan in one launch, and check it."""
    tiles = max(1, -(-a.size // (4 * fours * threads)))
    out = np.full(a.size, np.nan, np.float32)
    words, taken = np.zeros(tiles, np.uint64), np.zeros(1, np.uint32)
    run = emulate(kernel)[tiles, threads](out, a, words, taken)
    check(out, a.astype(np.float64).cumsum())
    return run


ragged = few[:10_007]
small_once = make_once(look_back, 2, 64, 1)
runs = [scan(it, ragged)
        for it in (make_once(look_back_singly, 2, 64, 1), small_once)]
runs[1]

# %% tags=["timing", "hide-input"]
# Measures both ways to look back.
taken = np.zeros(1, np.uint32)


def clock_once(look_back, fours, threads, resident, tile):
    """Measure a scan in one launch."""
    words = np.zeros(-(-N // tile), np.uint64)
    return clock(make_once(look_back, fours, threads, resident), words.size,
                 threads, dst, src, words, taken)


times["one by one"] = clock_once(look_back_singly, 8, 512, 2, 2**14)
times["32 at a time"] = clock_once(look_back, 8, 512, 2, 2**14)
compare({name: times[name] for name in ("one by one", "32 at a time")},
        "µs", "GB through memory", "memory busy, %", "% of a copy",
        "waits most for")

# %% [markdown]
# One launch, one by one, moves two thirds of the bytes of three launches in the same time. 32 tiles at a time take 8% less.
# The warps mostly wait at the barrier, for the one that looks back, and memory is busy for less than two thirds of the time.
#
# ## More tiles in flight
#
# A block that looks back keeps its tile in registers and asks memory for nothing; others must.
# Of the array, a multiprocessor holds 16 bytes for each four of each thread of each block. It was 128 KB so far.
#
# **Predict.** Does more help? Take 12 fours in 256 threads, 48 KB a block, and one to four blocks:

# %% tags=["timing", "hide-input"]
# Measures one to four blocks, kept down by dynamic shared memory.
kernel, words = make_once(look_back, 12, 256, 4), np.zeros(21846, np.uint64)
allow_dynamic_shared(kernel, 200 * 1024)
held = {blocks: measure(kernel, bytes=2 * src.nbytes)[
            words.size, 256, 0, 1024 * kb](dst, src, words, taken)
        for blocks, kb in {1: 200, 2: 100, 3: 70, 4: 0}.items()}
times["more in flight"] = held[4]
times["larger tiles"] = clock_once(look_back, 12, 512, 2, 24 * 1024)

plot_series([48 * blocks for blocks in held],
            {"12 fours": [it.median_us for it in held.values()]},
            "KB of the array held by a multiprocessor", limit_us=copy_us,
            limit_label="the driver's copy")

# %% [markdown]
# Four times as many blocks, which hold four times as much, save a third of the time. Tiles twice as large, with as much held, hardly save more.
#
# ## What is left above a copy?
#
# The last rung moves as many bytes as a copy and takes longer. For what? Take parts away from it, and keep its shape. (The middle two below sum wrongly.)
#
# | part | what it does |
# |---|---|
# | *copy* | loads the tile, and stores it |
# | *no look* | scans the tile and publishes it, but looks at no other |
# | *one look* | also adds what the tile before has in its word: a journey, but no waiting |
# | *look back* | all |

# %%
@cuda.jit
def look_nowhere(words, tile, lane):
    """0, as if nothing came before."""
    return float32(0)


@cuda.jit
def look_once(words, tile, lane):
    """What the word of the tile before has now, complete or not."""
    at = uint32(max(int32(tile) - 1, 0))
    return read(load_acquire(words, at))[1]


def make_copy(fours, threads, resident):
    """A copy in the shape of a scan in one launch."""
    elements = 4 * fours

    @cuda.jit(launch_bounds=(threads, resident))
    def copy_tiles(out, src, taken):
        """Take the next tile, load it and store it."""
        values = cuda.local.array(elements, float32)
        first = first_of(next_tile(taken), elements)
        load_fours(values, src, first)
        store_fours(out, first, values, float32(0))
    return copy_tiles


# %% tags=["timing", "hide-input"]
# Measures what is left when parts are taken away.
copied = clock(make_copy(12, 512, 2), words.size // 2, 512, dst, src, taken)
without = {look: clock_once(look, 12, 512, 2, 24 * 1024)
           for look in (look_nowhere, look_once)}
parts = {"copy": copied, "no look": without[look_nowhere],
         "one look": without[look_once], "look back": times["larger tiles"]}
compare(parts, "µs", "memory busy, %", "% of a copy", "waits most for",
        by="in the last rung's shape")

# %% [markdown]
# A copy in this shape is as fast as the driver's. Of what is left, scanning and publishing the tile is half, and one journey to L2 more than a third. All further looks and waits are a tenth.
#
# ## What changed

# %% tags=["assembly", "hide-input"]
# Counts the registers of each rung.
kernels = {name: kernel for name, (kernel, _) in TILES.items()} | {
    "one by one": make_once(look_back_singly, 8, 512, 2),
    "32 at a time": make_once(look_back, 8, 512, 2),
    "more in flight": make_once(look_back, 12, 256, 4),
    "larger tiles": make_once(look_back, 12, 512, 2)}
state = np.zeros(4, np.uint64), np.zeros(1, np.uint32)
registers = {
    name: assemble(it)[4, 256](
        small, small, *(() if name in tile_runs else state)).registers
    for name, it in kernels.items()}

# %% tags=["timing", "hide-input"]
# Tabulates the rungs that scan the whole array, by turns with CUB's scan.
changes = {"three launches": "",
           "one by one": "2 instead of 3 times the array",
           "32 at a time": "fewer waits in turn",
           "more in flight": "192 KB held, not 128",
           "larger tiles": "half as many tiles"}
tile_changes = {"doubling": "log n steps", "sweeps": "fewer additions",
                "padded": "few conflicts", "shuffles": "one barrier",
                "fours": "four elements a thread"}
ladder = {name: baseline(f"scan, {name}").median_us
          for name in ("copy", *tile_changes, *changes, "CUB")}
cpp = {name: baseline(f"scan, {name} in C++") for name in (
    "doubling", "shuffles", "larger tiles")}
table(["rung", "scans", "what changed", "registers", "time, µs",
       "% of the copy's rate", "% of CUB's rate", "in C++, µs"],
    [(name, "tiles" if name in tile_runs else "all", change,
      registers.get(name, ""), ladder[name],
      100 * ladder["copy"] / ladder[name],
      "" if name in tile_runs else 100 * ladder["CUB"] / ladder[name],
      cpp[name].median_us if name in cpp else "")
     for name, change in (tile_changes | changes).items()])

# %% tags=["timing", "hide-input"]
# Draws those that scan the whole array.
plot_times([*changes, "CUB"], [ladder[name] for name in (*changes, "CUB")],
           limit_us=ladder["copy"], limit_label="the driver's copy")

# %% [markdown]
# <details><summary>For the curious: these numbers</summary>
#
# *One by one* moves 2.12 GB. A copy moves 2.15 GB; what is missing may still be in L2. And more in flight is not the bytes alone: the 128 KB of *32 at a time* took as long as 96 KB in *more in flight*.
#
# The first five rungs scan tiles only, so they have no share of CUB's rate. These times, by turns with another copy, include setting `words` and `taken` to zero, and are of −1, 0 and 1; `measure` ran on zeros. In C++ *larger tiles* take 5% longer; we do not know why.
#
# </details>

# %% tags=["timing", "hide-input"]
# Draws the rates of a copy, CUB and the last rung over sizes.
LENGTHS = 2**12, 2**16, 2**20, 2**24


def rate(name, n):
    """What a scan of n elements moves in a second, in GB."""
    at = f"scan, {name}" + ("" if n == N else f" 2^{n.bit_length() - 1}")
    return 8 * n / baseline(at).median_us / 1e3


sizes = {shown: {f"2^{n.bit_length() - 1}": rate(name, n)
                 for n in (*LENGTHS[1:], N)}
         for shown, name in (("a copy", "copy"), ("CUB", "CUB"),
                             ("one launch", "larger tiles"))}
plot_rates(sizes)

# %% [markdown]
# At 2¹⁶ elements CUB's scan is faster than the last rung; from 2²⁰ on the last rung is the faster one, by 4% and more.

# %% [markdown]
# <details><summary>For the curious: special numbers</summary>
#
# NaN and infinities must reach each sum behind them, and none before. `scan_warp` therefore skips a lane with `if`, instead of adding 0 times its value: 0 times NaN is NaN. (A sum that begins with −0.0 is 0.0 here, since each prefix begins at 0.0; the two compare equal.)
#
# </details>
#
# <details><summary>For the curious: rounding</summary>
#
# A sum of float32 is associative but for its rounding. If an element takes part in at most m additions, a sum is off by about m · 2⁻²⁴ times the sum of all *magnitudes*, at most. In a loop, m is the number of elements. In `scan_once` with f fours it is f + 13 until a tile has its sum, 7 for each tile that looks back in turn, and 2 at the end. The cell below has both; each error is far below its bound, and the scan's is the smaller one.
#
# </details>

# %% tags=["hide-input"]
# Scans special numbers, and compares rounding errors with their bounds.
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
out, blocks = np.zeros_like(a), -(-a.size // 512)
emulate(small_once)[blocks, 64](out, a, np.zeros(blocks, np.uint64),
                                np.zeros(1, np.uint32))
errors = {"a loop": error(a.cumsum(), a), "one launch": error(out, a)}
table(["in 2⁻²⁴ of the sum of magnitudes", "error", "bound m"],
      [("a loop", errors["a loop"], a.size),
       ("one launch", errors["one launch"], 2 + 13 + 2 + 7 * blocks)])

# %% [markdown]
# ## What is a scan for?
#
# For places. Of the elements that one keeps, each goes behind all that are kept before it, and a scan of zeros and ones counts these. Here each block keeps what is positive:

# %%
@cuda.jit
def keep_positive(out, src):
    """Move a tile's positive elements to its front, in their order."""
    sums = cuda.shared.array(32, float32)
    tile, at = uint32(cuda.blockIdx.x), uint32(cuda.grid(1))
    value, lane = element(src, at), lane_and_warp()[0]
    total = scan_warp(float32(value > 0), lane)
    before = scan_sums(total, sums)[0]
    if value > 0:
        out[uint32(SIZE * tile + uint32(before + total) - 1)] = value


kept, tile = np.zeros_like(small), small[:SIZE]
run = emulate(keep_positive)[4, SIZE](kept, small)
check(kept[:np.sum(tile > 0)], tile[tile > 0])
run

# %% [markdown]
# An element's place is the number of those before it: an *exclusive* scan. All scans above are *inclusive*, each sum with its own element, so subtract 1.
#
# The counts are float32, which is exact up to 2²⁴: enough for a tile. For the places of a whole array scan `uint32`. (2²⁴ + 1 is 2²⁴ in float32, so two elements would get one place.)

# %% [markdown]
# **Predict.** How do you make any inclusive scan exclusive, across blocks, too?
#
# <details><summary>Answer</summary>
#
# Move it by a place. In a warp: `shfl_up_sync` by 1, and lane 0 takes what is before the warp (`join` does so with the fours of a warp). Across blocks: store each sum i but the last in `out[i + 1]`, even in another block's tile, and 0 in `out[0]`. The way back: add each element to its exclusive sum.
#
# To subtract each element instead fails for a maximum, and where ∞ − ∞ is NaN.
#
# </details>

# %% [markdown]
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
# No lane needs a smallest number to begin with: it leaves out what is not there. (Without the guard, this would still be right: a lane that has none below gets its own value back, and a maximum may take that twice. A sum may not.)
#
# </details>

# %% [markdown]
# ★★ How would you publish sums of 64 bits?
#
# <details><summary>Answer</summary>
#
# They do not fit into a word beside a status. So store the value first, then the status by `store_release`; who reads asks for the status by `load_acquire`, and then loads the value. A tile's sum and its prefix need a cell each: who has read that the sum is there must not load the prefix.
#
# </details>
#
# ★★ `exercise("running_totals")`: a chain of blocks whose totals are right, though nothing orders them. Which two lines must acquire and release?
#
# The [assignment](assignments/26_scan.ipynb) has 4 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Call CuPy's `cumsum` or CUB's `DeviceScan`; write a scan when it is part of another kernel. `words` and `taken` must be zero before each launch. An old word looks like a new one: a tile that looks before its neighbour has published adds a sum of the last launch's array. (The same array twice hides it, as does the emulator's order of blocks.) An old `taken` gives out tiles beyond the end.
#
# How far a tile looks back differs from run to run, and so may the last bits. Three launches always give the same.
#
# ## Further reading
#
# - [Decoupled look-back](https://research.nvidia.com/publication/2016-03_single-pass-parallel-prefix-scan-decoupled-look-back), by its authors: CUB's scan.
# - [Parallel prefix sum](https://developer.nvidia.com/gpugems/gpugems3/part-vi-gpu-computing/chapter-39-parallel-prefix-sum-scan-cuda): doubling, sweeps and padding in 2007.
#
# *Next:* [Count a billion bytes almost as fast as they can be read](27_histogram.ipynb): what if thousands of threads add to the same 256 counters?
