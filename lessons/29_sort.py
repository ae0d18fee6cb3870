# %% [markdown]
# # Sort a quarter of a billion keys
#
# *150 minutes*

# %%
import numpy as np
from numba import cuda, int32, uint32

from helpers import (allow_dynamic_shared, assemble, baseline, check, compare,
                     device, emulate, exercise, expect, load4, load_acquire,
                     measure, store_release, table, watch)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

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

# %% tags=["hide-input"]
# Loads and stores a tile, two keys a thread.
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

# %%
@part
def same(bits):
    """The bits of a key as they are."""
    return bits


def make_loading(items, enter=same):
    """How a warp loads its keys of a tile, 32 after 32."""
    @part
    def load_key(state, j):
        """Load a lane's key j; beyond the end, the largest there is."""
        keys, near, left = state
        keys[j] = enter(near[32 * j]) if left > 32 * j else uint32(ALL)
    load_each = written_out(load_key, items)

    @part
    def load_keys(keys, src, first):
        """Load a lane's keys, the first of which is at `first`."""
        left = int32(uint32(src.size) - first)
        load_each((keys, src[first:], left), 0)
    return load_keys


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

# %%
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

# %%
def make_putting(items, digit_of=digit_of):
    """How a block sorts its tile in shared memory."""
    @part
    def put_key(state, j):
        """Store a lane's key j in its place in the sorted tile."""
        keys, ranks, counters, row, tile, shift = state
        at = uint32(row + digit_of(keys[j], shift))
        ranks[j] = uint32(ranks[j] + counters[at])
        tile[ranks[j]] = keys[j]
    put_each = written_out(put_key, items)

    @part
    def put_keys(tile, keys, ranks, counters, shift):
        """Store each key in its place; a rank becomes a place."""
        row = uint32(DIGITS * lane_and_warp()[1])
        put_each((keys, ranks, counters, row, tile, shift), 0)
    return put_keys

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

# %%
def make_scattering(warps, items, in_runs):
    """The last of the three launches: key by key, or in runs."""
    load_keys, rank_keys = make_loading(items), make_ranking(items)
    join_warps, make_store = (make_joining(warps),
                              make_in_runs if in_runs else make_direct)
    store_keys, cells = make_store(warps, items), DIGITS * warps

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
def make_counts(copies, digit_of=digit_of, enter=same):
    """A kernel that counts all four digits of each key, in copies of bins."""
    @part
    def add_digits(own, key, copy):
        """Add 1 for each digit of a key."""
        for k in range(4):
            bin = uint32(DIGITS * k + digit_of(key, uint32(8 * k)))
            cuda.atomic.add(own, uint32(copies * bin + copy), uint32(1))

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


@cuda.jit
def scan_bins(bins):
    """How many keys have a smaller digit? A block for each row of bins."""
    sums = cuda.shared.array(8, uint32)
    row, digit = uint32(cuda.blockIdx.x), uint32(cuda.threadIdx.x)
    bins[row, digit] = scan_digits(bins[row, digit], sums)

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


@part
def next_tile(taken):
    """The first tile that no block has taken, for all threads of a block."""
    tile = cuda.shared.array(1, uint32)
    if cuda.threadIdx.x == 0:
        tile[0] = cuda.atomic.add(taken, 0, uint32(1))
    cuda.syncthreads()
    return tile[0]

# %%
def make_sorting(warps, items, digit_of=digit_of, enter=same):
    """How a block sorts its tile, and finds where its digits go."""
    load_keys, rank_keys = (make_loading(items, enter),
                            make_ranking(items, digit_of))
    join_warps, put_keys = make_joining(warps), make_putting(items, digit_of)

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


def make_pass(warps, items, resident, shift_of=as_given, digit_of=digit_of,
              enter=same, leave=same):
    """A launch that sorts by a digit, with `items` keys for each thread."""
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

# %% tags=["timing", "hide-input"]
# Prepares 2^26 keys, each of 256 digits 16 times in 4,096 keys.
N = 2**26
few = random.permutation(np.repeat(np.arange(DIGITS, dtype=np.uint32), 16))
many, dst = np.resize(few, N), np.zeros(N, np.uint32)
of_tiles = np.tile(16 * np.arange(N // 4096, dtype=np.uint32), (DIGITS, 1))
of_all = np.full(DIGITS, N // DIGITS, np.uint32)
starts = of_all * np.arange(DIGITS, dtype=np.uint32)


def clock(kernel, blocks, threads, *arrays, room=0, moved=2):
    """Measure a kernel that moves `moved` times the bytes of the keys."""
    if room:
        allow_dynamic_shared(kernel, room)
    return measure(kernel, bytes=moved * many.nbytes)[
        blocks, threads, 0, room](*arrays)


def clock_pass(items, *how):
    """Measure a pass of blocks of 16 warps."""
    tiles, room = -(-N // (512 * items)), room_of(16, items)
    return clock(make_pass(16, items, 2, *how), tiles, 512, dst, many,
                 np.zeros(tiles * DIGITS, np.uint32), np.zeros(1, np.uint32),
                 starts, 0, room=room)

# %% tags=["timing", "hide-input"]
# Measures what sorts tiles, the three launches and the passes.
in_tiles = {kernel.py_func.__name__: clock(kernel, N // SIZE, SIZE // 2, dst,
                                           many)
            for kernel in (sort_odd_even, sort_bitonic)}
launches = {
    "count": clock(make_counting(8), N // 4096, 512, of_tiles, many, 0,
                   moved=1),
    "scan": clock(scan_rows, DIGITS, 1024, of_tiles, of_all, moved=0)}
launches |= {name: clock(make_scattering(16, 8, in_runs), N // 4096, 512, dst,
                         many, of_tiles, of_all, 0)
             for name, in_runs in (("scatter", False), ("in runs", True))}
passed = {"one pass": clock_pass(8), "more keys": clock_pass(22),
          "known digits": clock_pass(22, known(0))}
counted = {copies: clock(make_counts(copies), blocks, 1024,
                         np.zeros((4, DIGITS), np.uint32), many,
                         room=4096 * copies, moved=1)
           for copies, blocks in ((1, 528), (32, 132))}
