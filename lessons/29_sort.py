# %% [markdown]
# # Sort a quarter of a billion keys
#
# *165 minutes*
#
# **What you'll do:** climb from a network that sorts one block's keys to a radix sort that moves each key four times, beside the sort of NVIDIA's library.
#
# **What you'll learn:**
#
# - sort without comparing: find each key's place by counting
# - keep an order while thousands of threads move keys (a *stable* scatter)
# - join a warp's votes, a block's scan and a look-back across blocks into one kernel
#
# **What you'll need:** [warps and votes](02_warps.ipynb), [barriers and races](15_barriers_and_races.ipynb), [the scan](26_scan.ipynb) with its look-back, and [the histogram](27_histogram.ipynb).

# %%
import numpy as np
from numba import cuda, int32, uint32

from helpers import (allow_dynamic_shared, baseline, check, compare, device,
                     emulate, exercise, load4, load_acquire, measure,
                     plot_orders, store_release, table)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

# %% [markdown]
# ## Which keys can be compared at the same time?
#
# We sort **keys** of 32 bits, `uint32`, the smallest first. Sort 256 of them in one block, in shared memory.
#
# Neighbours that are in the wrong order change places. Pairs that have no key in common can be compared at the same time: those that begin at even places, then those that begin at odd ones. This is **odd–even transposition**.
#
# **Predict.** How many rounds until all keys are in order, whatever the order was?
#
# <details><summary>Answer</summary>
#
# As many as keys. A key that has to go from one end to the other moves by one place in each round.
#
# </details>

# %%
SIZE, ALL = 256, 0xFFFFFFFF    # keys of a tile, all lanes of a warp
random = np.random.default_rng(29)


@cuda.jit
def order(tile, left, right):
    """Exchange two keys of a tile if the left one is the larger."""
    if tile[right] < tile[left]:
        tile[left], tile[right] = tile[right], tile[left]


@cuda.jit
def sort_odd_even(out, src):
    """Compare neighbours in 256 rounds: even places, then odd ones."""
    tile = cuda.shared.array(SIZE, uint32)
    load_tile(tile, src)
    for turn in range(SIZE):
        left = uint32(2 * cuda.threadIdx.x + turn % 2)
        if left < SIZE - 1:
            order(tile, left, uint32(left + 1))
        cuda.syncthreads()
    store_tile(out, tile)

# %%
@cuda.jit
def load_tile(tile, src):
    """Load a block's keys, with the largest beyond the end, and wait."""
    first = uint32(SIZE * cuda.blockIdx.x)
    for i in range(cuda.threadIdx.x, SIZE, SIZE // 2):
        at = uint32(first + i)
        tile[i] = src[at] if at < src.size else uint32(ALL)
    cuda.syncthreads()


@cuda.jit
def store_tile(out, tile):
    """Store a block's keys, up to the end."""
    first = uint32(SIZE * cuda.blockIdx.x)
    for i in range(cuda.threadIdx.x, SIZE, SIZE // 2):
        at = uint32(first + i)
        if at < out.size:
            out[at] = tile[i]

# %% [markdown]
# Which pairs are compared does not depend on the keys. Such a list of comparisons is a **sorting network**.
#
# ## Can keys take longer steps?
#
# Suppose two runs, side by side, are each in order. Compare the first key of the left run with the *last* of the right one, the second with the last but one, and so on. Afterwards no key of the left half is larger than one of the right half. Within a half the keys rise and then fall, or fall and then rise: it is *bitonic*. Compared at half the distance, first with first, then at a quarter, and so on, they come in order.
#
# Runs of one key become runs of two, then four, then eight: **bitonic sort**.

# %% tags=["hide-input"]
# Draws how eight keys move.
def bitonic(keys):
    """The keys after each step of a bitonic sort."""
    orders, size = [list(keys)], 2
    while size <= len(keys):
        step = size // 2
        while step:
            it = orders[-1].copy()
            for left in range(len(it)):
                if left & step == 0:
                    right = left ^ (size - 1 if 2 * step == size else step)
                    it[left], it[right] = sorted((it[left], it[right]))
            orders.append(it)
            step //= 2
        size *= 2
    return orders


plot_orders(bitonic([6, 2, 8, 3, 1, 7, 5, 4]))

# %% [markdown]
# Each line is a key on its way. Runs of two are ready after the first step, runs of four after the third.
#
# <details><summary>For the curious: why does a half come in order?</summary>
#
# Each step leaves two halves, each bitonic again, and no key of one is larger than any of the other: so on down to one key.
#
# </details>

# %%
@cuda.jit
def sort_bitonic(out, src):
    """Merge runs of 1, 2, 4 keys and so on, pair by pair of runs."""
    tile = cuda.shared.array(SIZE, uint32)
    thread = uint32(cuda.threadIdx.x)
    load_tile(tile, src)
    size = uint32(2)
    while size <= SIZE:
        step = uint32(size // 2)
        while step > 0:
            left = uint32(2 * thread - thread % step)
            right = uint32(left + step)
            if 2 * step == size:        # the first step of a merge: mirrored
                right = uint32(left ^ uint32(size - 1))
            order(tile, left, right)
            cuda.syncthreads()
            step = uint32(step // 2)
        size = uint32(2 * size)
    store_tile(out, tile)

# %% tags=["hide-input"]
# Checks both on two ragged tiles, and counts what they do.
few_keys = random.integers(0, 2**32, 400, np.uint32)


def count_network(kernel):
    """Emulate a network on two tiles and check it."""
    out = np.zeros_like(few_keys)
    run = emulate(kernel)[2, SIZE // 2](out, few_keys)
    check(out, np.concatenate([np.sort(few_keys[:SIZE]),
                               np.sort(few_keys[SIZE:])]))
    return run


networks = {"odd–even": count_network(sort_odd_even),
            "bitonic": count_network(sort_bitonic)}
compare(networks, {"rounds": lambda it: it.waits.block - 1,
                   "shared requests": lambda it:
                   it.bank_conflicts.requests / 2}, by="of a tile")

# %% tags=["timing", "hide-input"]
# Prepares 2^26 keys, each of 256 numbers 16 times in 4,096 keys.
N = 2**26
few = random.permutation(np.repeat(np.arange(256, dtype=np.uint32), 16))
many, dst = np.resize(few, N), np.zeros(N, np.uint32)


def clock(kernel, blocks, threads, *arrays, room=0, moved=2):
    """Measure a kernel that moves `moved` times the bytes of the keys."""
    if room:
        allow_dynamic_shared(kernel, room)
    return measure(kernel, bytes=moved * many.nbytes)[
        blocks, threads, 0, room](*arrays)

# %% tags=["timing", "hide-input"]
# Measures both networks on 2^26 keys, tile by tile.
in_tiles = {name: clock(kernel, N // SIZE, SIZE // 2, dst, many)
            for name, kernel in (("odd–even", sort_odd_even),
                                 ("bitonic", sort_bitonic))}
compare(in_tiles, "µs", "data path busy, %", "waits most for", by="all tiles")

# %% [markdown]
# A seventh of the rounds, and a seventh of the time. For n keys it is n rounds against log n · (log n + 1) / 2 (of base 2). But a quarter of a billion keys would take 406 rounds, and half of them reach beyond a tile, through global memory.
#
# ## Can we sort without comparing?
#
# The place of a key is the number of keys that come before it. In a histogram that number can be *counted*, if there are few different keys. A key of 32 bits is four **digits** of 8 bits, and a digit has 256 values.
#
# Sort by one digit, then by the next: a **radix sort**. Where does one begin? Here are keys of two decimal digits:

# %% tags=["hide-input"]
# Draws two passes.
numbers = [31, 12, 22, 11, 32, 21, 13, 23]
plot_orders([numbers, sorted(numbers, key=lambda it: it % 10),
             sorted(numbers)],
            ["keys", "by the last digit", "by the first digit"],
            [None, lambda it: it % 10, lambda it: it // 10])

# %% [markdown]
# One begins at the *last* digit. In the second pass 21, 22 and 23 have the same first digit, and stay in the order in which the first pass left them. A sort that leaves equal keys in their order is **stable**.
#
# **Predict.** Would the first digit first, then the last, sort them, too?
#
# <details><summary>Answer</summary>
#
# No: the last pass decides, so the keys would be in order of their last digits. (It works if each group of the first digit is then sorted by itself; but these groups are of any size.)
#
# </details>
#
# So a key's new place is the sum of two counts: the keys with a *smaller* digit, and the keys *before it with the same digit*. The first is a histogram and [its scan](26_scan.ipynb). The second is new.
#
# ## Who in my warp has my digit?
#
# A warp has 32 keys, one in each lane. Take one bit of the digit: `ballot_sync` gives each lane a mask of the lanes in which it is 1. The lanes that agree with this one are that mask, or its opposite. Those that agree in all eight bits have its digit: its **peers**.
#
# | lane | digit | agree in bit 1 | agree in bit 0 | peers |
# |---:|---|---|---|---|
# | 0 | 10 | 0, 2, 3 | 0, 1, 3 | 0, 3 |
# | 1 | 00 | 1 | 0, 1, 3 | 1 |
# | 2 | 11 | 0, 2, 3 | 2 | 2 |
# | 3 | 10 | 0, 2, 3 | 0, 1, 3 | 0, 3 |
#
# Peers in lanes below come before. `popc` counts them: for lane 3 it is one.

# %%
DIGITS = 256        # of 8 bits


@part
def digit_of(key, shift):
    """Eight bits of a key, from bit `shift` on."""
    return uint32(key >> shift) & uint32(255)


@part
def peers_of(digit):
    """The lanes that have the same digit as this one, a bit for each."""
    peers = uint32(ALL)
    for k in range(8):
        sign = int32(uint32(digit << uint32(31 - k)))   # bit k on top
        ones = uint32(cuda.ballot_sync(ALL, sign < 0))
        mine = uint32(sign >> 31)           # 32 times this lane's bit
        peers = uint32(peers & ~uint32(ones ^ mine))
    return peers

# %% [markdown]
# `mine` has this lane's bit in all of its bits. So `ones ^ mine` has the lanes that *differ*, and the others stay. (`match_any_sync` gives the peers in one call; [the histogram](27_histogram.ipynb) found it slow where many values differ.)
#
# ## From a warp to a block
#
# A warp has more than 32 keys: it takes 32 after 32, and counts on. For that it has a row of 256 counters in shared memory. A key's **rank** is its digit's counter plus the peers below; then the last of the peers stores the new count. Nobody else adds to this row, so no atomic is needed. But lanes load what another lane has stored: `syncwarp` orders them.

# %%
def make_ranking(items, digit_of=digit_of):
    """How a warp ranks its keys, `items` of each lane."""
    @part
    def rank_key(state, j):
        """How many keys of the warp come before key j, with its digit?"""
        keys, ranks, counters, row, shift, below, above = state
        digit = digit_of(keys[j], shift)
        peers, at = peers_of(digit), uint32(row + digit)
        before = uint32(cuda.popc(uint32(peers & below)))
        ranks[j] = uint32(counters[at] + before)
        cuda.syncwarp()
        if uint32(peers & above) == 0:      # the last one counts for all
            counters[at] = uint32(ranks[j] + uint32(1))
        cuda.syncwarp()
    rank_each = written_out(rank_key, items)

    @part
    def rank_keys(keys, ranks, counters, shift):
        """Rank each key of a warp among those with its digit."""
        lane, warp = lane_and_warp()
        row, (below, above) = uint32(DIGITS * warp), masks_of(lane)
        clear_row(counters, row, lane)
        rank_each((keys, ranks, counters, row, shift, below, above), 0)
    return rank_keys

# %% [markdown]
# A lane's keys and ranks are to stay in registers, as the sums [of the ladder to cuBLAS](24_up_the_ladder_to_cublas.ipynb) do. For that their indices must be known to the compiler, so the steps are written out.

# %%
def written_out(step, times):
    """A step for 0, for 1 and so on, one after another, without a loop."""
    if times == 1:
        return step
    n = (times + 1) // 2
    first, second = written_out(step, n), written_out(step, times - n)

    @part
    def steps(state, j):
        """The first half of the steps, then the second."""
        first(state, j)
        second(state, j + n)
    return steps

# %% tags=["hide-input"]
# Says who a thread is, and clears a warp's counters.
@part
def lane_and_warp():
    """This thread's lane, and its warp in the block."""
    thread = uint32(cuda.threadIdx.x)
    return uint32(thread & uint32(31)), uint32(thread >> uint32(5))


@part
def masks_of(lane):
    """The lanes below this one, and those above, a bit for each."""
    own = uint32(uint32(1) << lane)
    below = uint32(own - uint32(1))
    return below, uint32(~uint32(below | own))


@part
def clear_row(counters, row, lane):
    """Set a warp's own 256 counters to 0."""
    for k in range(0, DIGITS, 32):
        counters[uint32(row + lane) + k] = 0
    cuda.syncwarp()

# %% tags=["hide-input"]
# Loads a warp's keys, 32 after 32.
@part
def same(bits):
    """The bits of a key as they are."""
    return bits


def make_loading(items, enter=same):
    """How a warp loads its keys of a tile, 32 after 32."""
    @part
    def load_key(state, j):
        """Load a lane's key j; beyond the end, the largest there is."""
        # in each pass that one comes last, and it is never stored
        keys, near, left = state
        keys[j] = enter(near[32 * j]) if left > 32 * j else uint32(ALL)
    # not its own neighbours: round j ranks what comes before round j + 1
    load_each = written_out(load_key, items)

    @part
    def load_keys(keys, src, first):
        """Load a lane's keys, the first of which is at `first`."""
        left = int32(uint32(src.size) - first)      # fewer than 2**31 keys
        load_each((keys, src[first:], left), 0)
    return load_keys

# %% tags=["hide-input"]
# Where a tile's keys begin, and how many there are.
@part
def keys_of(tile, size, src):
    """How many keys does a tile have?"""
    return min(uint32(size), uint32(uint32(src.size) - uint32(size) * tile))


@part
def first_of(tile, items):
    """Where this lane's keys begin in a tile."""
    lane, warp = lane_and_warp()
    warps = uint32(uint32(tile) * uint32(cuda.blockDim.x >> 5) + warp)
    return uint32(uint32(32 * items) * warps + lane)

# %% [markdown]
# Then the rows of all warps are joined. Thread d, below 256, has the column of digit d: it adds up the warps' counts. A scan of the 256 sums says where each digit begins in the sorted tile. Then thread d goes down its column once more, and each count becomes the place where that warp's keys begin.
#
# Of three warps and three digits:

# %% tags=["hide-input"]
# Counts, and where they begin.
counts = np.array([[3, 1, 0], [1, 0, 2], [2, 2, 1]])    # a row for each warp
begins = (counts.sum(axis=0).cumsum() - counts.sum(axis=0)
          + counts.cumsum(axis=0) - counts)
table(["warp", "digit 0", "digit 1", "digit 2",
       "begin 0", "begin 1", "begin 2"],
      [(warp, *counts[warp], *begins[warp]) for warp in range(3)])

# %%
def make_joining(warps):
    """How a block joins the ranks of its warps."""
    @part
    def join_warps(counters, sums):
        """Where each warp's keys of a digit begin in the sorted tile."""
        thread, total = uint32(cuda.threadIdx.x), uint32(0)
        if thread < DIGITS:
            for k in range(warps):
                total = uint32(total + counters[uint32(thread) + DIGITS * k])
        begin = scan_digits(total, sums)
        if thread < DIGITS:
            next_one = begin
            for k in range(warps):
                count = counters[uint32(thread) + DIGITS * k]
                counters[uint32(thread) + DIGITS * k] = next_one
                next_one = uint32(next_one + count)
        return total, begin
    return join_warps

# %% tags=["hide-input"]
# Makes the parts that all sorts of a tile have.
def parts_of(warps, items, digit_of=digit_of, enter=same):
    """How 8 warps or more load, rank and join keys; a block's counters."""
    return (make_loading(items, enter), make_ranking(items, digit_of),
            make_joining(warps), DIGITS * warps)

# %% tags=["hide-input"]
# Scans a warp's values, and 256 totals.
@part
def scan_warp(total, lane):
    """The sum of a warp's values up to this lane's."""
    for k in range(5):
        before = uint32(cuda.shfl_up_sync(ALL, int32(total), 1 << k))
        if lane >= uint32(1 << k):
            total = uint32(total + before)
    return total


@part
def scan_digits(total, sums):
    """The sum of the totals of all smaller digits: thread d has that of d."""
    (lane, warp), scan = lane_and_warp(), total
    if warp < 8:
        scan = scan_warp(total, lane)
        if lane == 31:
            sums[warp] = scan
    cuda.syncthreads()
    if warp < 8:
        for k in range(8):
            if uint32(k) < warp:
                scan = uint32(scan + sums[k])
    return uint32(scan - total)

# %% [markdown]
# **Predict.** Warp 1's second key with digit 2 has rank 1. What is its place in the sorted tile?
#
# <details><summary>Answer</summary>
#
# Its row says that warp 1's keys of digit 2 begin at place 9. So it is place 10.
#
# </details>
#
# ## Three launches a digit
#
# Across blocks it is the same once more, with a table in global memory: a row for each digit, a column for each tile.
#
# 1. Each block counts the digits of its tile, as in the histogram.
# 2. A block for each digit scans its row: the keys of this digit in all tiles before. It keeps the row's sum.
# 3. Each block ranks its tile's keys, and stores each one in its place: the keys with a smaller digit, plus those of its digit in tiles before, plus those in its tile.

# %%
def make_counting(items):
    """The first of the three launches, with `items` keys for each thread."""
    @cuda.jit
    def count_tiles(table, src, shift):
        """Count a tile's digits, in the block's own bins."""
        bins = cuda.shared.array(DIGITS, uint32)
        thread, shift = uint32(cuda.threadIdx.x), uint32(shift)
        if thread < DIGITS:
            bins[thread] = 0
        cuda.syncthreads()
        tile, threads = uint32(cuda.blockIdx.x), uint32(cuda.blockDim.x)
        for j in range(items):
            at = uint32(uint32(tile * items + j) * threads + thread)
            if at < src.size:
                cuda.atomic.add(bins, digit_of(src[at], shift), uint32(1))
        cuda.syncthreads()
        if thread < DIGITS:
            table[thread, tile] = bins[thread]
    return count_tiles

# %%
@cuda.jit(launch_bounds=1024)
def scan_rows(table, totals):
    """Each block scans a digit's row in place, and keeps its sum."""
    sums = cuda.shared.array(32, uint32)
    (lane, warp), row = lane_and_warp(), uint32(cuda.blockIdx.x)
    carry, tiles = uint32(0), uint32(table.shape[1])
    for first in range(0, tiles, 1024):
        at = uint32(first + cuda.threadIdx.x)
        count = table[row, at] if at < tiles else uint32(0)
        scan = scan_warp(count, lane)
        if lane == 31:
            sums[warp] = scan
        cuda.syncthreads()
        before = uint32(carry + scan - count)
        for k in range(32):
            before = uint32(before + (sums[k] if k < warp else uint32(0)))
            carry = uint32(carry + sums[k])
        cuda.syncthreads()
        if at < tiles:
            table[row, at] = before
    if cuda.threadIdx.x == 0:
        totals[row] = carry

# %% [markdown]
# In the third launch, `offsets` holds for each digit what is to be added to a place in the sorted tile.

# %%
def make_scattering(warps, items, in_runs):
    load_keys, rank_keys, join_warps, cells = parts_of(warps, items)
    store_keys = (make_in_runs if in_runs else make_direct)(warps, items)
    @cuda.jit(launch_bounds=32 * warps)
    def scatter_tiles(out, src, table, totals, shift):
        """Rank a tile's keys, and store each where it belongs."""
        keys, ranks = (cuda.local.array(items, uint32),
                       cuda.local.array(items, uint32))
        counters = cuda.shared.array(cells, uint32)
        offsets = cuda.shared.array(DIGITS, uint32)
        sums = cuda.shared.array((2, 8), uint32)
        thread, tile = uint32(cuda.threadIdx.x), uint32(cuda.blockIdx.x)
        shift = uint32(shift)
        load_keys(keys, src, first_of(tile, items))
        rank_keys(keys, ranks, counters, shift)
        cuda.syncthreads()
        _, begin = join_warps(counters, sums[0])
        total = totals[thread] if thread < DIGITS else uint32(0)
        start = scan_digits(total, sums[1])
        if thread < DIGITS:
            offsets[thread] = uint32(start + table[thread, tile] - begin)
        cuda.syncthreads()
        count = keys_of(tile, 32 * warps * items, src)
        store_keys(out, keys, ranks, counters, offsets, count, shift)
    return scatter_tiles

# %%
def make_direct(warps, items):
    """How a block stores its keys as its lanes have them."""
    @part
    def store_key(state, j):
        """Store a lane's key j where it belongs, if it is one."""
        keys, ranks, counters, row, out, offsets, count, shift = state
        digit = digit_of(keys[j], shift)
        place = uint32(ranks[j] + counters[uint32(row + digit)])
        if place < count:
            out[uint32(offsets[digit] + place)] = keys[j]
    store_each = written_out(store_key, items)

    @part
    def store_keys(out, keys, ranks, counters, offsets, count, shift):
        """Store each key where it belongs."""
        row = uint32(DIGITS * lane_and_warp()[1])
        store_each((keys, ranks, counters, row, out, offsets, count, shift), 0)
    return store_keys

# %% [markdown]
# Four digits are twelve launches, and each digit goes through the keys three times: two loads and a store.
#
# ## Where do a warp's stores go?
#
# The keys of a warp have up to 32 digits, and each digit goes elsewhere.
#
# **Predict.** How many sectors does a warp's store touch? And if the tile were sorted by this digit before it is stored?

# %%
def make_putting(items, digit_of=digit_of):
    """How a block sorts its tile in shared memory."""
    @part
    def put_key(state, j):
        """Store a lane's key j in its place in the sorted tile."""
        keys, ranks, counters, row, tile, shift = state
        at = uint32(row + digit_of(keys[j], shift))
        # from here on its place in the tile
        ranks[j] = uint32(ranks[j] + counters[at])
        tile[ranks[j]] = keys[j]
    put_each = written_out(put_key, items)

    @part
    def put_keys(tile, keys, ranks, counters, shift):
        """Store each key in its place; a rank becomes a place."""
        row = uint32(DIGITS * lane_and_warp()[1])
        put_each((keys, ranks, counters, row, tile, shift), 0)
    return put_keys

# %% [markdown]
# Once a key is stored, its register keeps the place, for a value that is to follow.

# %%
def make_storing(threads, items, digit_of=digit_of, leave=same):
    """How a block stores a sorted tile, with its lanes side by side."""
    @part
    def store_key(state, j):
        """Store the key in the thread's place j where it belongs."""
        keys, tile, out, offsets, count, shift = state
        place = uint32(cuda.threadIdx.x + threads * j)
        if place < count:
            key = tile[place]
            keys[j] = uint32(offsets[digit_of(key, shift)] + place)
            out[keys[j]] = leave(key)
    return written_out(store_key, items)

# %%
def make_in_runs(warps, items):
    """How a block sorts its keys in shared memory, then stores them."""
    put_keys, store = make_putting(items), make_storing(32 * warps, items)
    size = 32 * warps * items

    @part
    def store_keys(out, keys, ranks, counters, offsets, count, shift):
        """Sort the tile in shared memory, then store it in runs."""
        tile = cuda.shared.array(size, uint32)
        put_keys(tile, keys, ranks, counters, shift)
        cuda.syncthreads()
        store((keys, tile, out, offsets, count, shift), 0)
    return store_keys

# %% tags=["hide-input"]
# Sorts by three launches a digit, emulated, and checks it.
def tiles_of(keys, size=512):
    """The tiles of a size that some keys are, one at least."""
    return max(1, -(-keys.size // size))


def in_three(count, scatter, keys):
    """Emulate three launches a digit; return the sorted keys and all runs."""
    tiles, runs = tiles_of(keys), []
    for shift in range(0, 32, 8):
        rows, sums = (np.zeros((DIGITS, tiles), np.uint32),
                      np.zeros(DIGITS, np.uint32))
        out = np.zeros_like(keys)
        runs += [emulate(count)[tiles, 256](rows, keys, shift),
                 emulate(scan_rows)[DIGITS, 1024](rows, sums),
                 emulate(scatter)[tiles, 256](out, keys, rows, sums, shift)]
        keys = out
    return keys, runs

# %% tags=["hide-input"]
# Checks both ways to store.
some = random.integers(0, 2**32, 1300, np.uint32)
stores = {}
for name, in_runs in {"as they come": False, "in runs": True}.items():
    ordered, stores[name] = in_three(make_counting(2),
                                     make_scattering(8, 2, in_runs), some)
    check(ordered, np.sort(some))

# %% tags=["timing", "hide-input"]
# Measures the three launches, with both ways to store.
of_tiles = np.tile(16 * np.arange(N // 4096, dtype=np.uint32), (DIGITS, 1))
of_all = np.full(DIGITS, N // DIGITS, np.uint32)
launches = {
    "count": clock(make_counting(8), N // 4096, 512, of_tiles, many, 0,
                   moved=1),
    "scan": clock(scan_rows, DIGITS, 1024, of_tiles, of_all, moved=0)}
launches |= {name: clock(make_scattering(16, 8, in_runs), N // 4096, 512, dst,
                         many, of_tiles, of_all, 0)
             for name, in_runs in (("scatter", False), ("in runs", True))}

# %% tags=["timing", "hide-input"]
# Compares the two ways to store, and the other two launches.
compare(launches, "µs", {"sectors of a store": lambda it: (
    it.counters.get("global_store_sectors", np.nan)
    / it.counters.get("global_store_requests", np.nan))},
        "memory busy, %", "waits most for", by="one digit")

# %% [markdown]
# As they come, nearly each key asks for a sector of its own. In runs, a store asks for as few sectors as its bytes need, and the launch takes a third of the time. The two kernels differ in nothing else: the way through shared memory pays.
#
# (Each tile of these keys has each digit 16 times, so that runs begin at multiples of 64 bytes. With other keys they begin anywhere, and ask for some more.)
#
# ## One launch a digit
#
# What does the first launch find out? The counts of each tile, which the third one makes again as it ranks. They have to be known to all tiles behind, and for this there is the [look-back](26_scan.ipynb): a block takes the next tile, publishes what it has, and looks at the tiles before until one has its prefix.
#
# Here a tile publishes 256 sums, one for each digit, and 256 threads look back side by side, each for its own digit. A word has two bits of status and a count of 30.

# %%
SUM, PREFIX, COUNT = 2**30, 2**31, 2**30 - 1    # two bits say what it is


@part
def publish(words, tile, digit, status, count):
    """Store a count and what it is as one word."""
    store_release(words, uint32(DIGITS * tile + digit),
                  uint32(uint32(status) | count))


@part
def look_back(words, tile, digit):
    """How many keys with this digit are in all tiles before?"""
    found = uint32(0)
    while tile > 0:
        at = uint32(DIGITS * uint32(tile - 1) + digit)
        word = uint32(load_acquire(words, at))
        if word >= SUM:
            found = uint32(found + (word & uint32(COUNT)))
            tile = uint32(tile - 1) if word < PREFIX else uint32(0)
    return found

# %%
@part
def next_tile(taken):
    """The first tile that no block has taken, for all threads of a block."""
    tile = cuda.shared.array(1, uint32)
    if cuda.threadIdx.x == 0:
        tile[0] = cuda.atomic.add(taken, 0, uint32(1))
    cuda.syncthreads()
    return tile[0]

# %% [markdown]
# Only the keys with a smaller digit are missing, those of the whole array. Their number stays when keys change places. So one launch, at the beginning, counts all four digits of each key, and a scan makes `starts` of them. The pass itself then loads each key once and stores it once. This is the idea of **Onesweep**. (`shift_of`, `enter` and `leave` are for later: known digits, and floats.)

# %%
def make_sorting(warps, items, digit_of=digit_of, enter=same):
    """How a block sorts its tile, and finds where its digits go."""
    load_keys, rank_keys, join_warps, _ = parts_of(warps, items, digit_of,
                                                   enter)
    put_keys = make_putting(items, digit_of)
    @part
    def sort_tile(keys, ranks, room, offsets, src, words, tile, starts, shift):
        """Sort a tile in shared memory, and look back."""
        sums = cuda.shared.array(8, uint32)
        counters, sorted_keys = room[:DIGITS * warps], room[DIGITS * warps:]
        digit = uint32(cuda.threadIdx.x)
        load_keys(keys, src, first_of(tile, items))
        rank_keys(keys, ranks, counters, shift)
        cuda.syncthreads()
        total, begin = join_warps(counters, sums)
        if digit < DIGITS:
            publish(words, tile, digit, SUM, total)
        cuda.syncthreads()
        put_keys(sorted_keys, keys, ranks, counters, shift)
        if digit < DIGITS:
            before = look_back(words, tile, digit)
            publish(words, tile, digit, PREFIX, uint32(before + total))
            offsets[digit] = uint32(starts[digit] + before - begin)
        cuda.syncthreads()
    return sort_tile

# %%
@part
def as_given(shift):
    """The shift of a launch."""
    return uint32(shift)


def known(shift):
    """A shift that the compiler knows."""
    @part
    def shift_of(given):
        """The same for each launch."""
        return uint32(shift)
    return shift_of

# %%
def make_pass(warps, items, resident, shift_of=as_given, digit_of=digit_of,
              enter=same, leave=same):
    """A launch that sorts by a digit, in blocks of 8 warps or more."""
    sort_tile = make_sorting(warps, items, digit_of, enter)
    store = make_storing(32 * warps, items, digit_of, leave)

    @cuda.jit(launch_bounds=(32 * warps, resident))
    def sort_pass(out, src, words, taken, starts, shift):
        """Take the next tile, sort it, look back, and store it in runs."""
        room = cuda.shared.array(0, uint32)     # dynamic
        offsets = cuda.shared.array(DIGITS, uint32)
        keys, ranks = (cuda.local.array(items, uint32),
                       cuda.local.array(items, uint32))
        tile, shift = next_tile(taken), shift_of(shift)
        sort_tile(keys, ranks, room, offsets, src, words, tile, starts, shift)
        count = keys_of(tile, 32 * warps * items, src)
        store((keys, room[DIGITS * warps:], out, offsets, count, shift), 0)
    return sort_pass


def room_of(warps, items):
    """The bytes of counters and a tile."""
    return 4 * (DIGITS * warps + 32 * warps * items)

# %% tags=["hide-input"]
# Counts the digits of a key, in a copy of the bins.
def make_adding(copies, digit_of):
    """How a thread counts the digits of a key, in a copy of the bins."""
    @part
    def add_digits(own, key, copy):
        """Add 1 for each digit of a key."""
        for k in range(4):
            bin = uint32(DIGITS * k + digit_of(key, uint32(8 * k)))
            cuda.atomic.add(own, uint32(copies * bin + copy), uint32(1))
    return add_digits

# %%
def make_counts(copies, digit_of=digit_of, enter=same):
    """A kernel that counts all four digits of each key, in copies of bins."""
    add_digits = make_adding(copies, digit_of)
    @cuda.jit
    def count_digits(bins, src):
        """Count the digits in the block's own bins, then add these up."""
        own = cuda.shared.array(0, uint32)      # dynamic, copies * 4 KB
        i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
        copy = uint32(cuda.threadIdx.x % uint32(copies))
        clear(own, 4 * DIGITS * copies)
        while i < src.size // 4 * 4:
            four = load4(src, i)
            for k in range(4):
                add_digits(own, enter(four[k]), copy)
            i = uint32(i + stride)
        i = uint32(src.size // 4 * 4 + cuda.grid(1))
        if i < src.size:
            add_digits(own, enter(src[i]), copy)
        cuda.syncthreads()
        add_copies(bins, own, copies)
    return count_digits

# %% tags=["hide-input"]
# Clears bins, and adds up their copies.
@part
def clear(own, cells):
    """Set the block's cells to 0, and wait."""
    for cell in range(cuda.threadIdx.x, cells, cuda.blockDim.x):
        own[uint32(cell)] = 0
    cuda.syncthreads()


@part
def add_copies(bins, own, copies):
    """Add the copies of each bin up, and to the bins of all blocks."""
    for bin in range(cuda.threadIdx.x, 4 * DIGITS, cuda.blockDim.x):
        total = uint32(0)
        for turn in range(copies):
            copy = uint32(bin + turn) % uint32(copies)
            total = uint32(total + own[uint32(copies * bin + copy)])
        cuda.atomic.add(bins, (uint32(bin // DIGITS), uint32(bin % DIGITS)),
                        total)

# %%
@cuda.jit
def scan_bins(bins):
    """How many keys have a smaller digit? A block for each row of bins."""
    sums = cuda.shared.array(8, uint32)
    row, digit = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x)
    bins[row, digit] = scan_digits(bins[row, digit], sums)

# %% tags=["hide-input"]
# Sorts in one launch a digit, emulated, and checks it at many sizes.
def in_passes(kernels, keys, count):
    """Emulate a count of all digits and four passes; return the keys."""
    tiles, bins = tiles_of(keys), np.zeros((4, DIGITS), np.uint32)
    room = room_of(8, 2)
    emulate(count)[2, 256, 0, 4096](bins, keys)
    emulate(scan_bins)[4, DIGITS](bins)
    for k, kernel in enumerate(kernels):
        out = np.zeros_like(keys)
        run = emulate(kernel)[tiles, 256, 0, room](
            out, keys, np.zeros(tiles * DIGITS, np.uint32),
            np.zeros(1, np.uint32), bins[k], 8 * k)
        run.assert_no_races()
        keys = out
    return keys


sort_pass, count_once = make_pass(8, 2, 1), make_counts(1)
for n in (0, 1, 511, 1300):
    check(in_passes([sort_pass] * 4, some[:n], count_once), np.sort(some[:n]))

# %% [markdown]
# Right at each of these sizes, and without a race.
#
# ## More keys for each thread
#
# A tile publishes 256 words whether it has many keys or few, and each warp has as many counters to clear. And the more keys a tile has, the longer are its runs: sixteen keys in a tile of 4,096, if digits are random.
#
# **Predict.** With 22 keys a thread in place of 8, what is the limit?
#
# <details><summary>Answer</summary>
#
# Registers. Each key needs two, for itself and for its rank, and two blocks of 512 threads leave 64 for each thread.
#
# </details>
#
# If a pass's digit is *known* to the compiler, each bit is at a fixed place. So there is a kernel for each digit, made by the same function. And in the first launch, the lanes of a warp meet in banks, for each of four digits. [A copy for each lane](27_histogram.ipynb) ends that: 128 KB.

# %% tags=["timing", "hide-input"]
# Measures the passes, in blocks of 16 warps.
starts = of_all * np.arange(DIGITS, dtype=np.uint32)


def clock_pass(items, *how):
    """Measure a pass of blocks of 16 warps."""
    tiles, room = -(-N // (512 * items)), room_of(16, items)
    return clock(make_pass(16, items, 2, *how), tiles, 512, dst, many,
                 np.zeros(tiles * DIGITS, np.uint32), np.zeros(1, np.uint32),
                 starts, 0, room=room)


passed = {"one pass": clock_pass(8), "more keys": clock_pass(22),
          "known digits": clock_pass(22, known(0))}

# %% tags=["timing", "hide-input"]
# Compares the passes.
def of_keys(name, of=32):
    """A counter's number for each key, or each 32 keys."""
    return lambda it: of * it.counters.get(name, np.nan) / N


compare(passed, "µs", {"instructions for 32 keys": of_keys("instructions")},
        "memory busy, %", "issue slots used, %", "waits most for",
        by="one digit")

# %% [markdown]
# One pass moves each key twice, three launches three times; it takes no less time, and its warps wait most at barriers. With 22 keys a thread it takes two fifths less. With known digits a tenth of the instructions is gone, and a tenth of the time.
#
# <details><summary>For the curious: copies that do not pay</summary>
#
# The next cell counts the digits of keys of which three digits are always 0. Here one copy of the bins is faster, though its data path has half as much again to do. But its launch has nearly twice as many warps at a time, and over a quarter fewer instructions; which of these pays, we did not test. On random keys, copies shorten the sort by 2%.
#
# </details>

# %% tags=["timing", "hide-input"]
# Compares one copy of the bins with one for each lane.
counted = {copies: clock(make_counts(copies), blocks, 1024,
                         np.zeros((4, DIGITS), np.uint32), many,
                         room=4096 * copies, moved=1)
           for copies, blocks in ((1, 528), (32, 132))}
compare(counted, "µs", "data path busy, %", "issue slots used, %", by="copies")

# %% [markdown]
# ## What changed

# %% tags=["timing", "hide-input"]
# Shows the rungs by turns with CUB's sort, for 2^28 keys.
CHANGES = {"three launches": "counts, scan, scatter",
           "in runs": "sorted in shared memory",
           "one pass": "look-back for 256 digits",
           "more keys": "22 a thread, not 8",
           "known digits": "a kernel for each digit",
           "own bins": "32 copies to count in"}


def time_of(name):
    """The recorded time of a sort, in ms."""
    return baseline(f"sort, {name}").median_us / 1e3


table(["rung", "what changed", "ms", "% of CUB's rate"],
      [(name, change, time_of(name), 100 * time_of("CUB") / time_of(name))
       for name, change in CHANGES.items()])

# %% [markdown]
# To store in runs more than halves the time. One pass takes 8% longer; with more keys for each thread, two fifths less than that. Known digits bring us to CUB's rate, and bins for each lane 3% beyond it.
#
# <details><summary>For the curious: what limits them</summary>
#
# Besides its look-back, *one pass* differs from *in runs* in its warps: two of its blocks fit on a multiprocessor, not three. Which of the two costs what fewer moves save, we did not test.
#
# Nine moves of 2²⁸ keys take 2.3 ms at a copy's rate. CUB's sort and ours take 2.7 times as long, so memory's rate limits neither. Our last pass uses 55% of its issue slots, and waits most at barriers.
#
# </details>

# %% [markdown]
# ## Values that come along
#
# Most keys have something that belongs to them: a row, an index. A value takes its key's way. So a lane notes where each key went, first within the tile, then in the array, and sends the value after it. This is where stability is seen: with the values 0, 1, 2 and so on, equal keys keep theirs in order.

# %%
def make_pair_pass(warps, items, resident):
    """A launch that sorts keys by a digit, and takes values along."""
    threads, sort_tile = 32 * warps, make_sorting(warps, items)
    store, put_value, store_value = make_storing(threads, items), *(
        written_out(it, items)
        for it in (put_value_one, make_store_value(threads)))
    @cuda.jit(launch_bounds=(threads, resident))
    def sort_pairs(out, src, to, values, words, taken, starts, shift):
        """Sort a tile's keys, then bring its values to the same places."""
        room = cuda.shared.array(0, uint32)     # dynamic
        offsets = cuda.shared.array(DIGITS, uint32)
        keys, ranks = (cuda.local.array(items, uint32),
                       cuda.local.array(items, uint32))
        tile, shift = next_tile(taken), uint32(shift)
        sort_tile(keys, ranks, room, offsets, src, words, tile, starts, shift)
        count, sorted_ones = (keys_of(tile, threads * items, src),
                              room[DIGITS * warps:])
        store((keys, sorted_ones, out, offsets, count, shift), 0)
        cuda.syncthreads()
        first = first_of(tile, items)
        left = int32(uint32(values.size) - first)
        put_value((ranks, values[first:], left, sorted_ones), 0)
        cuda.syncthreads()
        store_value((keys, sorted_ones, to, count), 0)
    return sort_pairs

# %% tags=["hide-input"]
# Moves a value the way its key went.
@part
def put_value_one(state, j):
    """Load a lane's value j, and store it in its key's place in the tile."""
    places, near, left, tile = state
    if left > 32 * j:
        tile[places[j]] = near[32 * j]


def make_store_value(threads):
    """How a value is stored where its key went."""
    @part
    def store_value(state, j):
        """Store the value in the thread's place j where its key is."""
        targets, tile, to, count = state
        place = uint32(cuda.threadIdx.x + threads * j)
        if place < count:
            to[targets[j]] = tile[place]
    return store_value

# %% [markdown]
# ## Floats as keys
#
# The bits of positive floats are in order as if they were integers. Negative ones have the highest bit set, and their order is turned around. So flip all bits of a negative float, and the highest bit of the others; after the last pass, flip them back.
#
# **Predict.** Where does NaN go, and which comes first, −0 or 0?
#
# <details><summary>Answer</summary>
#
# NaN goes behind infinity, or before −infinity if its highest bit is set: it sorts by its bits. By their bits −0 comes before 0, though the two are equal. A stable sort must leave them in their order, as CUB does. So −0 has the digits of 0, and keeps its bits.
#
# </details>

# %%
TOP = 2**31


@part
def to_order(bits):
    """Bits of a float32, changed so that their order is that of numbers."""
    return uint32(bits ^ uint32(uint32(int32(bits) >> 31) | uint32(TOP)))


@part
def from_order(bits):
    """The bits of a float32 again."""
    return uint32(bits ^ uint32(uint32(~(int32(bits) >> 31)) | uint32(TOP)))


@part
def float_digit_of(bits, shift):
    """A digit of a float's bits in order; -0 has those of 0."""
    if bits == uint32(TOP - 1):
        bits = uint32(TOP)
    return uint32(bits >> shift) & uint32(255)

# %% tags=["hide-input"]
# Sorts keys with values, and checks that equal keys keep their order.
def sort_pairs(keys):
    """Emulate a sort of keys with the values 0, 1 and so on."""
    tiles, bins = tiles_of(keys), np.zeros((4, DIGITS), np.uint32)
    emulate(count_once)[2, 256, 0, 4096](bins, keys)
    emulate(scan_bins)[4, DIGITS](bins)
    values, pass_on = np.arange(keys.size, dtype=np.uint32), make_pair_pass(
        8, 2, 1)
    for k in range(4):
        out, to = np.zeros_like(keys), np.zeros_like(values)
        emulate(pass_on)[tiles, 256, 0, room_of(8, 2)](
            out, keys, to, values, np.zeros(tiles * DIGITS, np.uint32),
            np.zeros(1, np.uint32), bins[k], 8 * k)
        keys, values = out, to
    return values


alike = some & np.uint32(0x0F0F000F)
check(sort_pairs(alike), np.argsort(alike, kind="stable"))

# %% tags=["hide-input"]
# Sorts floats of any bits, and zeros of both signs among them.
bits = some[:700].copy()
bits[::5], bits[3::7] = 0, 2**31
middle = make_pass(8, 2, 1, digit_of=float_digit_of)
ends = (make_pass(8, 2, 1, digit_of=float_digit_of, enter=to_order),
        make_pass(8, 2, 1, digit_of=float_digit_of, leave=from_order))
flipped = np.where(bits < 2**31, bits ^ np.uint32(2**31), ~bits)
flipped[flipped == 2**31 - 1] = 2**31
check(in_passes([ends[0], middle, middle, ends[1]], bits,
                make_counts(1, float_digit_of, to_order)),
      bits[np.argsort(flipped, kind="stable")])

# %% [markdown]
# ## Does it matter which keys?
#
# All keys equal: each tile has one digit, and so one run. Sorted keys: each tile has few high digits. Keys with all but four bits 0: every digit is 0 or 1, and each lane has many peers.
#
# **Predict.** Which of them is slower than random keys?

# %% tags=["timing", "hide-input"]
# Shows CUB's rate and ours, in billions of keys a second.
KINDS = {"random": "", "sorted": " sorted", "all equal": " all equal",
         "few bits": " few bits"}


def keys_a_second(name):
    """Billions of the 2^28 keys that are sorted in a second."""
    return 2**28 / baseline(f"sort, {name}").median_us / 1e3


table(["keys", "CUB's, billions a second", "ours", "% of CUB's rate"],
      [(kind, theirs, ours, 100 * ours / theirs)
       for kind, theirs, ours in [
           *((kind, keys_a_second(f"CUB{of}"), keys_a_second(f"own bins{of}"))
             for kind, of in KINDS.items()),
           ("24 bits, with values", keys_a_second("CUB with values"),
            keys_a_second("pairs with values")),
           ("float32, an eighth zeros", keys_a_second("CUB float32"),
            keys_a_second("floats float32"))]])

# %% [markdown]
# None of them. Sorted keys take us as long as random ones, and the others less. With sorted keys and with few bits we are as fast as CUB. If all keys are equal, ours take 8% less time than random ones, but CUB's take 30% less.
#
# With values we reach 74% of CUB's rate, and for floats 80%. Neither has known digits, which for plain keys were worth a tenth. What else they lack, we did not find.
#
# With 2²⁴ keys we reach 93% of CUB's rate, with 2²⁰ only 37%. These are 94 tiles, for 132 multiprocessors; whether that is all, we did not test.
#
# ## What could go wrong
#
# First, the ranks of a warp without `syncwarp`:

# %%
@cuda.jit
def rank_hastily_wrong(ranks, digits):
    """Rank a warp's digits, 32 after 32, and never wait."""
    counters = cuda.shared.array(DIGITS, uint32)
    lane = lane_and_warp()[0]
    below, above = masks_of(lane)
    clear_row(counters, uint32(0), lane)
    for at in range(lane, digits.size, 32):
        digit = uint32(digits[at])
        peers = peers_of(digit)
        before = uint32(cuda.popc(uint32(peers & below)))
        ranks[at] = uint32(counters[digit] + before)
        if uint32(peers & above) == 0:
            counters[digit] = uint32(ranks[at] + uint32(1))


hasty = emulate(rank_hastily_wrong)[1, 32](
    np.zeros(64, np.uint32), some[:64] & np.uint32(7))
hasty.races

# %% [markdown]
# A lane may store the new count before another one has loaded the old, and the next round may load before it is stored. A ballot makes lanes meet, but it does not order what they load and store.
#
# Second, why all these ranks? An atomic gives each key a free place of its digit, too:

# %%
@cuda.jit
def scatter_by_atomics_wrong(out, src, starts, shift):
    """Each key takes the next free place of its digit."""
    for i in range(cuda.grid(1), src.size, cuda.gridsize(1)):
        digit = digit_of(src[i], uint32(shift))
        out[cuda.atomic.add(starts, digit, uint32(1))] = src[i]


keys = some[:512]
for shift in range(0, 32, 8):
    digits = np.bincount(keys >> shift & 255, minlength=DIGITS)
    begin, out = (digits.cumsum() - digits).astype(np.uint32), 0 * keys
    unstable = emulate(scatter_by_atomics_wrong)[2, 128](out, keys, begin,
                                                         shift)
    keys = out
int(sum(keys != np.sort(some[:512]))), unstable.races

# %% [markdown]
# No race is reported, and the keys are not sorted. Each pass is right by itself: its digits are in order. But keys of one digit come in the order in which threads happen to get there, and the work of the passes before is lost.
#
# ## On your own
#
# ★ Keys of 64 bits: how many passes with digits of 8 bits, and how many times is each key loaded and stored?
#
# <details><summary>Answer</summary>
#
# Eight passes, each of which loads and stores it once; and once more it is loaded to count its digits. A key is also twice as many bytes, so the sort moves nearly four times as many.
#
# </details>
#
# ★ Digits of 11 bits would need three passes, not four. What speaks against it?
#
# <details><summary>Answer</summary>
#
# 2,048 counters for each warp are 8 KB, 128 KB for sixteen warps; each tile publishes 2,048 words; and runs are an eighth as long.
#
# </details>
#
# ★★ `exercise("ranks_by_ballot")`: the rank of a digit among the lanes below, without shared memory. Of four bits, how many ballots does it take?
#
# <details><summary>Answer</summary>
#
# Four: one for each bit, whatever the digits are.
#
# </details>
#
# ★★ `stable_partition`: bring the even elements of each block before the odd ones, and keep the order within both.

# %%
task = exercise("stable_partition")
task

# %%
ALL = 0xFFFFFFFF


@cuda.jit
def stable_partition(out, a):
    """Count those that are odd before each element, by votes."""
    # your code, about 19 lines


task.check(stable_partition)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# ALL = 0xFFFFFFFF
#
#
# @cuda.jit
# def stable_partition(out, a):
#     """Count those that are odd before each element, by votes."""
#     counts = cuda.shared.array(8, int32)
#     i, thread = cuda.grid(1), cuda.threadIdx.x
#     lane, warp = thread % 32, thread // 32
#     value = a[min(i, a.size - 1)]
#     late = i < a.size and value & 1 == 1
#     votes = uint32(cuda.ballot_sync(ALL, late))
#     if lane == 0:
#         counts[warp] = cuda.popc(votes)
#     cuda.syncthreads()
#     before, total = cuda.popc(uint32(votes & cuda.lanemask_lt())), 0
#     for k in range(8):
#         if k < warp:
#             before += counts[k]
#         total += counts[k]
#     first = 256 * cuda.blockIdx.x
#     if late:
#         out[min(first + 256, a.size) - total + before] = value
#     elif i < a.size:
#         out[first + thread - before] = value
# ```
#
# It is a radix sort's pass over a digit of one bit.
#
# </details>

# %% [markdown]
# The [assignment](assignments/29_sort.ipynb) has 3 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Call CUB's `DeviceRadixSort` or CuPy's `sort`. Sort by fewer bits if the others are equal: eight bits less are a pass less. Large records are not moved four times: sort keys with indices, then gather once.
#
# `words` and `taken` must be zero before each pass. A word counts up to 2³⁰ − 1 keys of a digit; for more keys it has to be of 64 bits.
#
# Between the passes the keys are in two arrays by turns, so a sort needs room for as many keys again.
#
# ## Further reading
#
# - [Onesweep: a faster least significant digit radix sort for GPUs](https://arxiv.org/abs/2206.01784) (Adinets, Merrill): one pass a digit, as CUB does it.
# - [Sorting networks and their applications](https://dl.acm.org/doi/10.1145/1468075.1468121) (Batcher): bitonic sort in 1968.
# - [CUB's `DeviceRadixSort`](https://nvidia.github.io/cccl/unstable/cub/api/structcub_1_1DeviceRadixSort.html): the library's sorts.
#
# *Next:* [Read what a line becomes](31_types_and_instructions.ipynb): the shifts and masks of this page are instructions; what else does the compiler make of a line?
