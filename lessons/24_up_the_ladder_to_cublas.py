# %% [markdown]
# # Multiply matrices as fast as cuBLAS
#
# *60 minutes*
#
# **What you'll do:** climb from a tiled product with a sixth of cuBLAS's speed to one that is as fast as cuBLAS, one idea at a time.
#
# **What you'll learn:**
#
# - predict from two counts how fast a kernel can be
# - keep many sums in a thread's registers, and place threads so that wide loads have no conflicts
# - copy the next tiles while this one is used
#
# **What you'll need:** [the transpose](21_transpose.ipynb) and [the tiled product](23_matrix_product.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int64, uint32

from helpers import (assemble, baseline, check, commit_copies, copy4_async,
                     device, emulate, exercise, load4, measure,
                     plot_register_tile, plot_rungs, store4, table,
                     wait_copies)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

# %% [markdown]
# ## Two counts
#
# What could a product of N × N matrices reach?
# It takes N³ multiplications, each with an addition. An `FFMA` of a warp does 32 of them.
#
# A multiprocessor has four schedulers, and each can issue one instruction in a cycle.
# Its shared memory serves one wavefront in a cycle.
# So for each `FFMA` a kernel takes at least
#
# - a quarter of a cycle for each *instruction*, this one and all others, and
# - a cycle for each *wavefront*.
#
# A kernel with nothing but `FFMA` would take a quarter of a cycle for each: that is the peak of the data sheet.
# The larger of the two counts says which share of the peak a kernel can reach at most.

# %%
N = 4096
STEPS = N**3 / 32     # each an FFMA of a warp
PEAK = 670            # a hundredth of an H200's peak, in GFLOP/s
SHARED = ("shared_load_wavefronts", "shared_store_wavefronts",
          "copy_wavefronts")
random = np.random.default_rng(0)


def matrices(m, k, n):
    """Room for a product, full of NaN, and its two factors."""
    a = random.random((m, k), dtype=np.float32) - float32(0.5)
    b = random.random((k, n), dtype=np.float32) - float32(0.5)
    return np.full((m, n), np.nan, np.float32), a, b


def wavefronts(name, k=8):
    """Emulate a block's product and check it: wavefronts for each FFMA."""
    kernel, high, wide, threads, turned = RUNGS[name]
    c, a, b = matrices(high, k, wide)
    run = emulate(kernel)[(1, 1), threads](
        c, np.ascontiguousarray(a.T) if turned else a, b)
    check(c, a @ b)
    run.assert_no_races()
    return run.bank_conflicts.wavefronts / (c.size * k / 32)


# %% [markdown]
# ## Where we stand
#
# We begin with the tiled product of the last lesson. `T` is the type of its indices.
# Each `FFMA` needs an element of each tile, so there are two loads for it.
#
# Until we come to any size, all sizes are multiples of the tiles.
# **Load tiles of 32 × 32, wait, add, wait.**

# %%
def make_tiled(T):
    """The tiled product, with indices of type T."""
    @cuda.jit
    def multiply_tiled(c, a, b):
        """Load tiles of 32 × 32, wait, add, wait."""
        tile_a = cuda.shared.array((32, 32), float32)
        tile_b = cuda.shared.array((32, 32), float32)
        x, y = T(cuda.threadIdx.x), T(cuda.threadIdx.y)
        row, col = T(32 * cuda.blockIdx.y + y), T(32 * cuda.blockIdx.x + x)
        at, total = T(0), float32(0)
        while at < b.shape[0]:
            tile_a[y, x] = a[row, T(at + x)]
            tile_b[y, x] = b[T(at + y), col]
            cuda.syncthreads()
            for k in range(32):
                total += tile_a[y, T(k)] * tile_b[T(k), x]
            cuda.syncthreads()
            at = T(at + 32)
        c[row, col] = total
    return multiply_tiled


# %% [markdown]
# ## A column of sums
#
# Let a thread compute eight elements of a column of `c`.
# They share an element of `b`: the thread loads it once, keeps it in a register, and uses it eight times.
# So eight `FFMA` need nine loads instead of 16.
# The eight sums are a local array. Its indices are known once the loops are unrolled, so it lies in registers.
# **Each thread adds up eight elements of a column of c.**

# %%
@cuda.jit
def multiply_columns(c, a, b):
    """Each thread adds up eight elements of a column of c."""
    tile_a = cuda.shared.array((64, 8), float32)
    tile_b = cuda.shared.array((8, 64), float32)
    sums = cuda.local.array(8, float32)
    for i in range(8):
        sums[i] = 0
    thread, at = uint32(cuda.threadIdx.x), uint32(0)
    x, y = uint32(thread % 64), uint32(thread // 64)
    top, left = uint32(64 * cuda.blockIdx.y), uint32(64 * cuda.blockIdx.x)
    while at < b.shape[0]:
        row, k = uint32(thread // 8), uint32(thread % 8)
        tile_a[row, k] = a[uint32(top + row), uint32(at + k)]
        tile_b[y, x] = b[uint32(at + y), uint32(left + x)]
        cuda.syncthreads()
        for k in range(8):
            of_b = tile_b[k, x]
            for i in range(8):
                sums[i] += tile_a[uint32(8 * y + i), k] * of_b
        cuda.syncthreads()
        at = uint32(at + 8)
    for i in range(8):
        c[uint32(top + 8 * y + i), uint32(left + x)] = sums[i]


# %% [markdown]
# ## A square of sums
#
# With 8 × 8 sums, eight elements of `a` and eight of `b` serve 64 `FFMA`: each element is used eight times.
# Such a set of sums is a **register tile**.
#
# `@part`, in the first cell, marks a device function that the compiler copies into its kernel, so that a local array passed to it can stay in registers.
# `launch_bounds=(256, 2)` promises blocks of at most 256 threads, two of which should fit on a multiprocessor: at most 128 registers a thread.
#
# A thread's rows and columns are 16 apart, so that the lanes of a warp load neighbours.
# **Each thread adds up 8 × 8 elements of c, 16 apart.**
#
# So how many wavefronts does an `FFMA` need with 1, 8 × 1 and 8 × 8 sums?

# %%
@part
def corner(high, wide):
    """The first row and column of c that a block computes."""
    return uint32(high * cuda.blockIdx.y), uint32(wide * cuda.blockIdx.x)


@part
def clear(sums):
    """Set a thread's sums to zero."""
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = 0


@part
def load_tiles(tile_a, tile_b, a, b, at, top, left):
    """Load 128 rows of 8 of a, and 8 rows of 128 of b."""
    thread = uint32(cuda.threadIdx.x)
    for q in range(4):
        row, k = uint32(32 * q + thread // 8), uint32(thread % 8)
        tile_a[row, k] = a[uint32(top + row), uint32(at + k)]
        k, col = uint32(2 * q + thread // 128), uint32(thread % 128)
        tile_b[k, col] = b[uint32(at + k), uint32(left + col)]


# %%
@cuda.jit(launch_bounds=(256, 2))
def multiply_squares(c, a, b):
    """Each thread adds up 8 × 8 elements of c, 16 apart."""
    tile_a = cuda.shared.array((128, 8), float32)
    tile_b = cuda.shared.array((8, 128), float32)
    sums, own = cuda.local.array((8, 8), float32), cuda.local.array(8, float32)
    clear(sums)
    thread, at = uint32(cuda.threadIdx.x), uint32(0)
    x, y = uint32(thread % 16), uint32(thread // 16)
    top, left = corner(128, 128)
    while at < b.shape[0]:
        load_tiles(tile_a, tile_b, a, b, at, top, left)
        cuda.syncthreads()
        for k in range(8):
            for i in range(8):
                own[i] = tile_a[uint32(y + 16 * i), k]
            for j in range(8):
                of_b = tile_b[k, uint32(x + 16 * j)]
                for i in range(8):
                    sums[i, j] += own[i] * of_b
        cuda.syncthreads()
        at = uint32(at + 8)
    for i in range(8):
        for j in range(8):
            c[uint32(top + y + 16 * i), uint32(left + x + 16 * j)] = sums[i, j]


# %%
RUNGS = {   # kernel, rows and columns of c for a block, threads, a turned?
    "64-bit indices": (make_tiled(int64), 32, 32, (32, 32), False),
    "32-bit indices": (make_tiled(uint32), 32, 32, (32, 32), False),
    "8 × 1 sums": (multiply_columns, 64, 64, 512, False),
    "8 × 8 sums": (multiply_squares, 128, 128, 256, False),
}
def launch(name, m=N, n=N):
    """The blocks and threads of a rung for m × n elements of c."""
    _, high, wide, threads, _ = RUNGS[name]
    return (-(-n // wide), -(-m // high)), threads   # rounded up


counted = {name: wavefronts(name, 32 if "indices" in name else 8)
           for name in RUNGS}
table(["rung", "wavefronts for each FFMA", "so at most, % of the peak"],
      [(name, it, min(100, 25 / it)) for name, it in counted.items()])

# %% tags=["timing"]
big, profiled, most = matrices(N, N, N), {}, {}
timed = {"cuBLAS": baseline(f"cuBLAS {N}")}


def each(name, *counters):
    """How many of something the GPU counted for each FFMA."""
    counts = profiled[name].counters
    return sum(counts.get(it, np.nan) for it in counters) / STEPS


def climb(names):
    """What rungs may reach by the GPU's own counts, and what they reach."""
    rows, library = [], timed["cuBLAS"].median_us
    for name in names:
        profiled[name] = measure(RUNGS[name][0])[launch(name)](*big)
        it = timed[name] = baseline(f"{name} {N}")
        asked, issued = each(name, *SHARED), each(name, "instructions")
        most[name] = min(25 / asked, 100 / issued)
        rows.append((name, asked, issued, most[name], it.gflop_per_s / PEAK,
                     it.median_us, 100 * library / it.median_us))
    return table(["rung", "wavefronts", "instructions", "at most, %",
                  "reached, %", "time, µs", "% of cuBLAS"], rows)


climb(RUNGS)

# %% [markdown]
# Wavefronts limit the tiled kernels. (1.57 and not 2.06: the compiler merges four loads of `tile_a`.) So 15% fewer instructions with *32-bit indices* save only 5% of the time.
# *8 × 1 sums* need 4.8 instructions, which take as long as their wavefronts; *8 × 8 sums* need 1.7, and hardly any wavefronts.
#
# ## Sixteen bytes at once
#
# For 64 `FFMA` a thread needs 16 loads, or four with `load4`, if its numbers are neighbours.
# So its sums become a square, and the tile of `a` lies on its side.
#
# A tile is now one long array; `near_a` and `near_b` begin at a thread's first number. Its groups of four are `apart`, by 4 in a square. (`snake` comes later.)
# **Load a thread's numbers by fours, add all their products.**

# %%
@part
def load_turning(tile, a, at, top):
    """Load 128 rows of 8 of a, by fours, and store them as columns."""
    place = uint32(4 * cuda.threadIdx.x)
    row, k = uint32(place // 8), uint32(place % 8)
    four = load4(a, (uint32(top + row), uint32(at + k)))
    for e in range(4):
        tile[uint32(128 * (k + e) + row)] = four[e]


@part
def load_rows(tile, b, at, left):
    """Load 8 rows of 128 of b, by fours."""
    place = uint32(4 * cuda.threadIdx.x)
    k, col = uint32(place // 128), uint32(place % 128)
    store4(tile, place, load4(b, (uint32(at + k), uint32(left + col))))


# %%
def make_add(high, apart, snake=False):
    """Step k: add eight numbers of a times all of a thread's numbers of b."""
    down, across = apart

    @part
    def add_step(sums, near_a, near_b, k):
        """Load a thread's numbers by fours, add all their products."""
        a = cuda.local.array(8, float32)
        b = cuda.local.array(16, float32)
        for j in range(0, sums.shape[1], 4):
            place = 128 * k + across * (j // 4)
            b[j], b[j + 1], b[j + 2], b[j + 3] = load4(near_b, place)
        for i in range(0, 8, 4):
            place = high * k + down * (i // 4)
            a[i], a[i + 1], a[i + 2], a[i + 3] = load4(near_a, place)
        for j in range(sums.shape[1]):
            for i in range(8):
                row = 7 - i if snake and j % 2 else i
                sums[row, j] += a[row] * b[j]
    return add_step


# %%
def make_store(apart):
    """How a thread stores its sums, in groups of four that are `apart`."""
    down, across = apart

    @part
    def store_sums(c, sums, row, col):
        """Store a thread's sums by fours."""
        for i in range(8):
            for j in range(0, sums.shape[1], 4):
                y = uint32(row + down * (i // 4) + i % 4)
                x = uint32(col + across * (j // 4))
                store4(c, (y, x), (sums[i, j], sums[i, j + 1],
                                   sums[i, j + 2], sums[i, j + 3]))
    return store_sums


@part
def place_square():
    """Where a thread's sums begin: 16 × 16 squares."""
    thread = uint32(cuda.threadIdx.x)
    return uint32(8 * (thread // 16)), uint32(8 * (thread % 16))


# %% [markdown]
# ## Written out
#
# The compiler unrolls the loops over a thread's sums, but not the loop over k around them: the machine code has 64 `FFMA`, those of one step.
# So for each k the kernel computes addresses again, and counts.
# `repeated` writes the steps out, one after the other, by putting two halves together.
# **Add the first half of the steps, then the second.**
#
# Then the kernel puts the parts together.
# **Step by step, load tiles by fours, wait, add, wait.**

# %%
def repeated(add, times):
    """`times` steps, written out one after another."""
    if times == 1:
        return add
    half, n = repeated(add, times // 2), times // 2

    @part
    def add_steps(sums, near_a, near_b, k):
        """Add the first half of the steps, then the second."""
        half(sums, near_a, near_b, k)
        half(sums, near_a, near_b, k + n)
    return add_steps


# %%
def make_wide(place, apart, times=1, load_a=load_turning):
    """A product in blocks of 128 × 128, with 8 × 8 sums for each thread."""
    add, store = repeated(make_add(128, apart), times), make_store(apart)

    @cuda.jit(launch_bounds=(256, 2))
    def multiply_wide(c, a, b):
        """Step by step, load tiles by fours, wait, add, wait."""
        tile_a = cuda.shared.array(1024, float32)
        tile_b = cuda.shared.array(1024, float32)
        sums = cuda.local.array((8, 8), float32)
        clear(sums)
        (y, x), (top, left) = place(), corner(128, 128)
        at = uint32(0)
        while at < b.shape[0]:
            load_a(tile_a, a, at, top)
            load_rows(tile_b, b, at, left)
            cuda.syncthreads()
            for k in range(0, 8, times):
                add(sums, tile_a[y:], tile_b[x:], k)
            cuda.syncthreads()
            at = uint32(at + 8)
        store(c, sums, uint32(top + y), uint32(left + x))
    return multiply_wide


# %% [markdown]
# ## Warp tiles
#
# **Predict.** Neighbouring threads of the squares load from the tile of `b` at 0, 8, 16, 24, 32 … What do the banks say?
#
# <details><summary>Answer</summary>
#
# Cells 0 and 32 are in one bank: of eight lanes, which go together, two meet in each bank. That doubles the wavefronts of this load.
#
# </details>
#
# So split each thread's eight columns into groups of four, and put groups of neighbouring lanes side by side.
# A warp's lanes stand in eight rows of four. Together they have 64 × 32 elements, a **warp tile**.
# Columns of a thread are then 16 apart and rows 32.

# %%
def make_place(cols):
    """Where a thread's sums begin if a warp has 64 rows of 4 · cols."""
    wide = 32 // cols      # warps side by side

    @part
    def place_warps():
        """Lanes in eight rows of four, warps in rows that are 128 wide."""
        thread = uint32(cuda.threadIdx.x)
        warp, lane = uint32(thread // 32), uint32(thread % 32)
        return (uint32(64 * (warp // wide) + 4 * (lane // 4)),
                uint32(4 * cols * (warp % wide) + 4 * (lane % 4)))
    return place_warps


SQUARES, WARPS = (place_square, (4, 4)), (make_place(8), (32, 16))
RUNGS = RUNGS | {
    "16 bytes": (make_wide(*SQUARES), 128, 128, 256, False),
    "written out": (make_wide(*SQUARES, 8), 128, 128, 256, False),
    "warp tiles": (make_wide(*WARPS, 8), 128, 128, 256, False),
}

# %%
def four(first, apart, count):
    """Numbers in groups of four; the groups begin `apart` apart."""
    return [first + apart * g + e for g in range(count // 4) for e in range(4)]


plot_register_tile(four(0, 32, 8), four(0, 16, 8), (128, 128),
                   (range(64), range(32)))

# %% [markdown]
# The tile of `a` stands on the left and that of `b` above; below them are the block's elements of `c`.
# Blue is what thread 0 loads for each k, orange are its sums; the faint parts are its warp's.
# Neighbouring lanes now load neighbouring numbers.

# %% tags=["timing"]
print({name: wavefronts(name) for name in ("16 bytes", "warp tiles")})
climb(["8 × 8 sums", "16 bytes", "written out", "warp tiles"])

# %% [markdown]
# The squares' conflicts cost wavefronts, but instructions fall, *written out* to 1.1. Now conflicts are the limit; *warp tiles* end them.
#
# ## Copies in the background
#
# If `a` was turned before, both tiles are loaded by rows: *A turned*. Then nothing changes its place on the way.
#
# `copy4_async(to, i, source, j)` begins to copy 16 bytes from global to shared memory, with no register. `commit_copies()` closes a group; `wait_copies(0)` waits for all of this thread's groups.
#
# So tiles can arrive in one half of a block's room while threads work on the other.
# One barrier per step is enough: behind it, all copies have arrived and all threads have left the other half.
# **Copy the next tiles while adding up the products of these.**

# %%
@part
def copy_rows(tile, width, steps, threads, source, at, left):
    """Begin to copy a tile of some rows of a width, by fours."""
    for first in range(0, steps * width, 4 * threads):
        place = uint32(first + 4 * cuda.threadIdx.x)
        row, col = uint32(at + place // width), uint32(left + place % width)
        copy4_async(tile, place, source, (row, col))


# %%
def make_halves(high, steps, threads):
    """Two halves of room, each for a tile of a and a tile of b."""
    of_a, both = high * steps, (high + 128) * steps

    @part
    def begin(tiles, half, a, b, at, top, left):
        """Begin to copy the tiles of a step, if there is one, into a half."""
        if at < b.shape[0]:
            mine = tiles[uint32(both * half):]
            copy_rows(mine, high, steps, threads, a, at, top)
            copy_rows(mine[of_a:], 128, steps, threads, b, at, left)
            commit_copies()

    @part
    def near(tiles, half, y, x):
        """A thread's numbers of a and of b in a half, from the first on."""
        first = uint32(both * half)
        return tiles[uint32(first + y):], tiles[uint32(first + of_a + x):]
    return begin, near


# %%
def make_async(cols, steps=8, snake=False, warps=8, make_store=make_store):
    """Blocks of `warps` warps, each with 64 × 4 · cols elements of c."""
    threads, high = 32 * warps, 2 * cols * warps
    (begin, near), place = make_halves(high, steps, threads), make_place(cols)
    add = repeated(make_add(high, (32, 16), snake), steps)
    store, size = make_store((32, 16)), 2 * steps * (high + 128)

    @cuda.jit(launch_bounds=(threads, 128 // (cols * warps)))
    def multiply_async(c, a, b):
        """Copy the next tiles while adding up the products of these."""
        tiles = cuda.shared.array(size, float32)
        sums = cuda.local.array((8, cols), float32)
        clear(sums)
        (y, x), (top, left) = place(), corner(high, 128)
        at, half = uint32(0), uint32(0)
        begin(tiles, half, a, b, at, top, left)
        while at < b.shape[0]:
            wait_copies(0)
            cuda.syncthreads()
            near_a, near_b = near(tiles, half, y, x)
            at, half = uint32(at + steps), uint32(1 - half)
            begin(tiles, half, a, b, at, top, left)
            add(sums, near_a, near_b, 0)
        store(c, sums, uint32(top + y), uint32(left + x))
    return multiply_async


# %% [markdown]
# ## More sums, another order, longer tiles
#
# The same kernel gives three more rungs:
#
# - *8 × 16 sums*: six loads serve 128 `FFMA`, where four served 64. Such a thread needs so many registers that a multiprocessor holds one block instead of two.
# - *snake*: the products go down one column of a thread's sums and up the next, so that each shares a number with the one before it.
# - *16 steps*: tiles of 16 steps instead of 8 halve the number of barriers. Two halves then take 49,152 bytes: all of the 48 KB that a block gets without asking.

# %% tags=["timing"]
RUNGS = RUNGS | {
    "A turned": (make_wide(*WARPS, 8, load_rows), 128, 128, 256, True),
    "two halves": (make_async(8), 128, 128, 256, True),
    "8 × 16 sums": (make_async(16), 256, 128, 256, True),
    "snake": (make_async(16, 8, True), 256, 128, 256, True),
    "16 steps": (make_async(16, 16, True), 256, 128, 256, True),
}
print({name: wavefronts(name, k) for name, k in (
    ("A turned", 8), ("two halves", 16), ("8 × 16 sums", 8))})
climb(["warp tiles", "A turned", "two halves", "8 × 16 sums", "snake",
       "16 steps"])

# %% [markdown]
# The GPU counts as many wavefronts as the emulator, within 2%.
#
# - *A turned* saves some wavefronts, and no time.
# - *two halves* saves 11% of the time.
# - *8 × 16 sums* saves 5%, *snake* another 4%, and *16 steps* 6%.
#
# The counts allowed 86 to 91% of the peak all the way. So what did these rungs save? Ask what a warp waits for at an instruction, in cycles, and which `FFMA` have the mark `.reuse`: a number is kept for the next one and not read from its register again.

# %% tags=["timing"]
def inside(name):
    """Registers, numbers kept for each FFMA, and cycles of waiting."""
    it = assemble(RUNGS[name][0])[launch(name)](*big)
    fused = [one.operands for one in it.instructions if one.base == "FFMA"]
    waits = profiled[name].counters.get("stalls", {})
    kept = 100 * sum(".reuse" in one for one in fused) / len(fused)
    none = 0 if waits else np.nan
    return it.registers, kept, *(waits.get(why, none) for why in (
        "barrier", "long_scoreboard", "short_scoreboard", "dispatch_stall"))


table(["rung", "registers", "FFMA that keep a number, %", "barrier",
       "global memory", "shared memory", "dispatch"],
      [(name, *inside(name)) for name in list(RUNGS)[3:]])

# %% tags=["timing"]
plot_rungs(list(RUNGS), [most[name] for name in RUNGS],
           [timed[name].gflop_per_s / PEAK for name in RUNGS],
           timed["cuBLAS"].gflop_per_s / PEAK, "cuBLAS")

# %% [markdown]
# A ring is what the counts allow, a diamond what was reached; the line is cuBLAS.
#
# From *A turned* to *two halves*, waiting for memory ends: 0.72 cycles at each instruction become 0.02.
# With the *snake* more `FFMA` keep a number, and waits of an instruction that is ready but held back (*dispatch*) fall from 0.28 cycles to 0.19, and with *16 steps* to 0.14.
# Our 512 blocks take 132 multiprocessors four rounds, where 3.88 would do: that alone costs 3%.

# %% [markdown]
# ## Any size
#
# As in the last lesson, zeros fill up the tiles, so the loop has no edge.
# The kernel that turns `a` writes them. If `b` does not fit, a second layer of its blocks, along the grid's third axis, z, copies `b` with zeros, too.
# Only the store asks what is inside.
# **Store those of a thread's sums that are inside c.**
#
# And all multiprocessors should be busy in the last round of blocks, too.
# If tiles of 256 × 128 leave more than a tenth of the places in their rounds empty, take tiles of 64 × 128: blocks of 4 warps, with 8 × 8 sums for a thread.

# %%
def make_inside(apart):
    """Like `make_store`, for sums of which some are outside."""
    down, across = apart

    @part
    def store_inside(c, sums, row, col):
        """Store those of a thread's sums that are inside c."""
        for i in range(8):
            y = uint32(row + down * (i // 4) + i % 4)
            for j in range(sums.shape[1]):
                x = uint32(col + across * (j // 4) + j % 4)
                if y < c.shape[0] and x < c.shape[1]:
                    c[y, x] = sums[i, j]
    return store_inside


ANY_SIZE = {256: make_async(16, 16, True, 8, make_inside),
            64: make_async(8, 16, True, 4, make_inside)}

# %%
@part
def load4_or_zero(a, row, col):
    """Four neighbours of a row, with zeros beyond the edge."""
    rows, cols = a.shape
    if row < rows and col < cols and cols % 4 == 0:
        return load4(a, (row, col))
    four = cuda.local.array(4, float32)
    for e in range(4):
        x = uint32(col + e)
        four[e] = a[row, x] if row < rows and x < cols else float32(0)
    return four[0], four[1], four[2], four[3]


@part
def fill_up(to, b):
    """Copy a tile by rows, with zeros beyond the edge."""
    for k in range(0, 64, 32):
        for m in range(0, 64, 32):
            row = uint32(64 * cuda.blockIdx.y + cuda.threadIdx.y + k)
            col = uint32(64 * cuda.blockIdx.x + 4 * cuda.threadIdx.x + m)
            if row < to.shape[0] and col < to.shape[1]:
                store4(to, (row, col), load4_or_zero(b, row, col))


# %%
@part
def turn(to, a):
    """Load a tile by rows, with zeros beyond the edge, store its columns."""
    tile = cuda.shared.array((64, 65), float32)
    x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    top, left = uint32(64 * cuda.blockIdx.x), uint32(64 * cuda.blockIdx.y)
    for k in range(0, 64, 32):
        for m in range(0, 64, 32):
            row, col = uint32(y + k), uint32(x + m)
            (tile[row, col], tile[row, col + 1], tile[row, col + 2],
             tile[row, col + 3]) = load4_or_zero(
                 a, uint32(top + row), uint32(left + col))
    cuda.syncthreads()
    for k in range(0, 64, 32):
        for m in range(0, 64, 32):
            row, col = uint32(x + k), uint32(y + m)
            to_row, to_col = uint32(left + col), uint32(top + row)
            if to_row < to.shape[0] and to_col < to.shape[1]:
                store4(to, (to_row, to_col),
                       (tile[row, col], tile[row + 1, col],
                        tile[row + 2, col], tile[row + 3, col]))


# %%
@cuda.jit
def prepare(a_turned, a, b_filled, b):
    """Turn a by the first layer of blocks, fill up b by the second."""
    if cuda.blockIdx.z == 0:
        turn(a_turned, a)
    else:
        fill_up(b_filled, b)


# %%
def filled(n, whole):
    """The next multiple of a number, and at least one."""
    return max(1, -(-n // whole)) * whole


def tile_height(m, n):
    """256, or 64 if tiles of 256 × 128 leave a tenth of their rounds empty."""
    cores = cuda.get_current_device().MULTIPROCESSOR_COUNT
    blocks = -(-m // 256) * -(-n // 128)
    return 256 if blocks >= 0.9 * filled(blocks, cores) else 64


def room_for(a, b, high=None):
    """The tiles' height, and room for a turned and b filled up with zeros."""
    (m, k), n = a.shape, b.shape[1]
    high, k = high or tile_height(m, n), filled(k, 16)
    return (high, cuda.device_array((k, filled(m, high)), np.float32),
            cuda.device_array((k, filled(n, 128)), np.float32))

# %%
def multiply(c, a, b, high, a_turned, b_filled):
    """Multiply matrices of any size, by two kernels."""
    if c.size == 0:
        return
    (k, m), n = a_turned.shape, b_filled.shape[1]
    fits = b.shape == b_filled.shape
    blocks = (m if fits else max(m, n)) // 64, -(-k // 64), 1 if fits else 2
    prepare[blocks, (8, 32)](a_turned, a, b_filled, b)
    threads = {256: 256, 64: 128}[high]
    ANY_SIZE[high][(n // 128, m // high), threads](
        c, a_turned, b if fits else b_filled)


# %%
for m, k, n, high in ((1, 1, 1, 64), (3, 0, 5, 256), (0, 3, 4, 64),
                      (70, 13, 30, 64), (70, 13, 30, 256)):
    c, a, b = matrices(m, k, n)
    multiply(c, a, b, *room_for(a, b, high))
    check(c, a @ b)

exact = a.astype(np.float64) @ b
bound = k * 2.0**-24 * (abs(a).astype(np.float64) @ abs(b))
print(f"error: at most {(abs(c - exact) / bound).max():.2f} of the bound")

c, a, b = matrices(5, 4, 3)
a[0, 0], a[1, 1], b[2, 2] = np.nan, np.inf, -np.inf
multiply(c, a, b, *room_for(a, b))
with np.errstate(invalid="ignore"):
    check(c, a @ b)

# %% tags=["timing"]
SIZES = ("4096", "8192", "4095 × 4095 × 4095", "4097 × 4100 × 4099",
         "5000 × 3000 × 7000", "3001 × 3001 × 3001", "1000 × 1000 × 1000")
TWINS = {"8 × 1 sums": "columns", "8 × 8 sums": "squares", "16 steps": "last"}
print(table(["rung", "Numba, µs", "CUDA C++ (the last with guards), µs"],
            [(name, timed[name].median_us,
              baseline(f"CUDA C++ {twin} {N}").median_us)
             for name, twin in TWINS.items()]))

ours = {size: baseline(f"any size {size}") for size in SIZES}
theirs = {size: baseline(f"cuBLAS {size}") for size in SIZES}
table(["m × k × n", "time, µs", "TFLOP/s", "cuBLAS, TFLOP/s", "% of cuBLAS"],
      [(size, it.median_us, it.gflop_per_s / 1000,
        theirs[size].gflop_per_s / 1000,
        100 * theirs[size].median_us / it.median_us)
       for size, it in ours.items()])

# %% [markdown]
# For *8 × 1 sums*, nvcc, NVIDIA's C++ compiler, unrolls the loop over k: 64 `FFMA` instead of 16.
#
# The times of any size include turning `a` and filling up `b`. All sizes reach at least 92% of cuBLAS, and most take less time.
# At 3001, 12 × 24 large tiles would take 132 multiprocessors three rounds, where 2.2 would do; at 1000 there would be 32 tiles. These two and 4097 × 4099 get small ones.
#
# Each of k steps rounds by at most 2⁻²⁴ of its sum, so an error is at most k · 2⁻²⁴ times the sum of the products without signs: the bound.
# At 4096 and 8192 results equal cuBLAS's to the last bit, or they would not be recorded.

# %% [markdown]
# ## What could go wrong
#
# A barrier does not wait for copies: here each thread has come, but what it copies may be under way.

# %%
@cuda.jit
def reverse_hasty_wrong(dst, src):
    """Begin to copy four numbers, wait for the others, store four others."""
    tile = cuda.shared.array(128, float32)
    place = uint32(4 * cuda.threadIdx.x)
    copy4_async(tile, place, src, place)
    commit_copies()
    cuda.syncthreads()
    store4(dst, place, load4(tile, uint32(124 - place)))


run = emulate(reverse_hasty_wrong)[1, 32](
    np.zeros(128, np.float32), np.arange(128, dtype=np.float32))
run.races

# %% [markdown]
# ## On your own
#
# ★ How many registers would the sums of 16 × 16 elements take, and how many has a thread at most?
#
# <details><summary>Answer</summary>
#
# 256 for the sums alone; a thread has at most 255. The compiler would have to spill some.
#
# </details>
#
# ★★ `column_sums`: a block copies the next row while it adds up this one. Sometimes a row is overwritten too early. Fix it.

# %%
task = exercise("column_sums")
task

# %%
from helpers import commit_copies, copy4_async, wait_copies


@cuda.jit
def column_sums(dst, src):
    """Copy the next row while adding up this one."""
    tiles = cuda.shared.array((2, 256), float32)
    sums = cuda.local.array(4, float32)
    sums[:] = 0
    x, at = cuda.threadIdx.x, 256 * cuda.blockIdx.x
    copy4_async(tiles, (0, 4 * x), src, (0, at + 4 * x))
    commit_copies()
    for row in range(1, src.shape[0] + 1):
        wait_copies(0)
        if row < src.shape[0]:
            copy4_async(tiles, (row % 2, 4 * x), src, (row, at + 4 * x))
            commit_copies()
        cuda.syncthreads()
        for j in range(4):
            sums[j] += tiles[(row - 1) % 2, x + 64 * j]
    for j in range(4):
        dst[at + x + 64 * j] = sums[j]


task.check(column_sums)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# from helpers import commit_copies, copy4_async, wait_copies
#
#
# @cuda.jit
# def column_sums(dst, src):
#     """Copy the next row while adding up this one."""
#     tiles = cuda.shared.array((2, 256), float32)
#     sums = cuda.local.array(4, float32)
#     sums[:] = 0
#     x, at = cuda.threadIdx.x, 256 * cuda.blockIdx.x
#     copy4_async(tiles, (0, 4 * x), src, (0, at + 4 * x))
#     commit_copies()
#     for row in range(1, src.shape[0] + 1):
#         wait_copies(0)
#         cuda.syncthreads()
#         if row < src.shape[0]:
#             copy4_async(tiles, (row % 2, 4 * x), src, (row, at + 4 * x))
#             commit_copies()
#         for j in range(4):
#             sums[j] += tiles[(row - 1) % 2, x + 64 * j]
#     for j in range(4):
#         dst[at + x + 64 * j] = sums[j]
# ```
#
# A row goes where the last but one was, so all threads must have added that up before its copy begins.
#
# </details>
#
# ★★★ `exercise("in_place")`: each thread has 8 × 8 sums, and its loads have bank conflicts. Which rows and columns would have none?
#
# <details><summary>Answer</summary>
#
# Two groups of four of each, 32 apart, with neighbouring groups for neighbouring threads.
#
# </details>
#
# The [assignment](assignments/24_up_the_ladder_to_cublas.ipynb) has 4 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Call the library. cuBLAS has kernels for many shapes, and chooses; ours has two tiles, and was measured at the sizes above.
# All of this is float32; the GPU's matrix units, for shorter types, are another subject.
#
# Which order and which tile is best depends on the GPU and on the compiler. `python -m lessons.sweep product` tries some.
#
# The times are of launches by turns with cuBLAS's, with cold caches and random numbers between -0.5 and 0.5.
#
# ## Further reading
#
# - [How to optimize a CUDA matmul kernel for cuBLAS-like performance](https://siboehm.com/articles/22/CUDA-MMM): many of these rungs, in C++.
# - [Dissecting the NVIDIA Volta GPU architecture via microbenchmarking](https://arxiv.org/abs/1804.06826): registers, their banks, and numbers that are kept.
#
# *Next:* [Add up an array as fast as it can be read](25_reduction.ipynb): a product uses each number often; what limits a kernel that needs each only once?
