# %% [markdown]
# # Multiply matrices as fast as cuBLAS
#
# *130 minutes*
#
# **What you'll do:** climb from a tiled product with a sixth of cuBLAS's speed to one that is as fast as cuBLAS, one idea at a time.
#
# **What you'll learn:**
#
# - predict from two counts how fast a kernel can be
# - keep many sums in a thread's registers, and place lanes so that wide loads have no conflicts
# - copy the next tiles while these are used
#
# **What you'll need:** [banks](14_bank_conflicts.ipynb), [registers and local arrays](16_own_memory.ipynb), [the transpose](21_transpose.ipynb) and [the tiled product](23_matrix_product.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, baseline, check, commit_copies, compare,
                     copy4_async, device, emulate, exercise, load4, measure,
                     plot_banks, plot_pipeline, plot_register_tile,
                     plot_rungs, plot_zooms, store4, table, wait_copies)

device

# %% [markdown]
# ## How fast could a product be?
#
# A product is made of multiplications, each with an addition. One instruction, `FFMA`, does both in all lanes of a warp.
#
# A multiprocessor has four schedulers, and each can issue an instruction in every cycle: four *issue slots*. At the peak of the data sheet, for float32 without tensor cores, there is an `FFMA` in each slot. Four things keep a kernel from it:
#
# - *Instructions:* all that are no `FFMA` need slots, too.
# - *Wavefronts:* shared memory serves one in a cycle, which has four slots.
# - *Empty slots:* no warp was ready to issue.
# - *Idle multiprocessors:* at the end, some have no block any more. *Slots used* leaves them out.

# %% [markdown]
# The first two are counted, and say what a kernel can reach at most. With two instructions for each `FFMA`, half of the peak. With a wavefront for each, a quarter: each takes a whole cycle, in which four could have been issued.
#
# So each rung of this climb must lower one of these. Its table has the wavefronts and instructions that a GPU counted for one `FFMA`; the share of the peak that these allow, and that was reached; the slots used; the time.
#
# (Folded cells prepare it, and check each rung.)

# %% tags=["timing", "hide-input"]
# Prepares the climb: the size, what is counted, and the factors.
N = 4096
STEPS = N**3 / 32     # each an FFMA of a warp
PEAK = 670            # a hundredth of an H200's peak, in GFLOP/s
SHARED = ("shared_load_wavefronts", "shared_store_wavefronts",
          "copy_wavefronts")
RUNGS, CONTROLS = {}, {}
random = np.random.default_rng(0)


def matrices(m, k, n):
    """Room for a product, full of NaN, and its two factors."""
    a = random.random((m, k), dtype=np.float32) - float32(0.5)
    b = random.random((k, n), dtype=np.float32) - float32(0.5)
    return np.full((m, n), np.nan, np.float32), a, b


big, profiled, emulated = matrices(N, N, N), {}, {}
library, turning = baseline(f"cuBLAS {N}"), baseline(f"turning A {N}")

# %% tags=["hide-input"]
# Prepares the climb: a rung's launch, and a block of it in the emulator.
def of(name):
    """A rung or a control: its kernel, and what its launch needs."""
    return (RUNGS | CONTROLS)[name]


def launch(name, m=N, n=N):
    """The blocks and threads of a rung for m × n elements of c."""
    _, high, wide, threads, _ = of(name)
    return (-(-n // wide), -(-m // high)), threads   # rounded up


def wavefronts(name, k=16):
    """Emulate a block's product and check it: wavefronts for each FFMA."""
    kernel, high, wide, threads, turned = of(name)
    c, a, b = matrices(high, k, wide)
    run = emulate(kernel)[(1, 1), threads](
        c, np.ascontiguousarray(a.T) if turned else a, b)
    check(c, a @ b)
    run.assert_no_races()
    return run.bank_conflicts.wavefronts / (c.size * k / 32)

# %% tags=["timing", "hide-input"]
# Prepares the climb: what a rung's counts allow, and what it reaches.
def each(name, *counters):
    """How many of something the GPU counted for each FFMA."""
    counts = profiled[name].counters
    return sum(counts.get(it, np.nan) for it in counters) / STEPS


def at_most(name):
    """The share of the peak that the counts allow, in %."""
    return min(25 / each(name, *SHARED), 100 / each(name, "instructions"))


def slots(name):
    """The share of the issue slots that were used, in %."""
    return profiled[name].counters.get("issue_percent", np.nan)


def time(name):
    """The time by turns with cuBLAS, or else alone; with that of turning a."""
    by_turns = baseline(f"{name} {N}")
    it = by_turns if by_turns.launches else profiled[name]
    return it.median_us + (turning.median_us if of(name)[4] else 0)

# %% tags=["timing", "hide-input"]
# Prepares the climb: the table.
COLUMNS = {
    "wavefronts": lambda name: each(name, *SHARED),
    "instructions": lambda name: each(name, "instructions"),
    "at most, %": at_most,
    "reached, %": lambda name: 2 * N**3 / time(name) / 1000 / PEAK,
    "slots used, %": slots,
    "µs": time,
    "% of cuBLAS": lambda name: 100 * library.median_us / time(name)}


def climb(*names):
    """Emulate and measure rungs that are new; compare all."""
    for name in names:
        if name in RUNGS and name not in emulated:
            long = name in ("tiled", "longer tiles", "snake")
            emulated[name] = wavefronts(name, 32 if long else 16)
        if name not in profiled:
            profiled[name] = measure(of(name)[0])[launch(name)](*big)
    return compare({name: name for name in names}, COLUMNS, by="rung")

# %% [markdown]
# ## Where we stand
#
# We begin with the tiled product of [the lesson before](23_matrix_product.ipynb), with unsigned indices. All sizes are multiples of the tiles.
#
# **Predict.** How many wavefronts does it need for an `FFMA`, and which share of the peak can it reach at most?
#
# <details><summary>Answer</summary>
#
# Each `FFMA` needs an element of either tile. That of `tile_a` is the same for all lanes, those of `tile_b` are neighbours: a wavefront each, two in all. In two cycles there are slots for eight `FFMA`: an eighth of the peak, 12.5%.
#
# </details>

# %%
@cuda.jit
def multiply_tiled(c, a, b):
    """Load tiles of 32 × 32, wait, add, wait."""
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    row = uint32(32 * cuda.blockIdx.y + y)
    col = uint32(32 * cuda.blockIdx.x + x)
    at, total = uint32(0), float32(0)
    while at < b.shape[0]:
        tile_a[y, x] = a[row, uint32(at + x)]
        tile_b[y, x] = b[uint32(at + y), col]
        cuda.syncthreads()
        for k in range(32):
            total += tile_a[y, uint32(k)] * tile_b[uint32(k), x]
        cuda.syncthreads()
        at = uint32(at + 32)
    c[row, col] = total


# %% tags=["timing", "hide-input"]
# Measures the tiled product.
RUNGS = RUNGS | {"tiled": (multiply_tiled, 32, 32, (32, 32), False)}
climb("tiled")

# %% [markdown]
# Wavefronts are the limit: 15.9%, of which the kernel reaches four fifths.
#
# <details><summary>For the curious: why not two wavefronts?</summary>
#
# The compiler lets one load bring four neighbours of `tile_a`, in two wavefronts: 1 + 2/4, and 2/32 for stores. On the next two rungs, too, all loads of `a` bring four.
#
# </details>
#
# ## A column of sums
#
# Each `FFMA` loads two numbers. Which of them could it do without?
#
# Let a thread compute eight elements of a column of `c`. They need eight numbers of `a`, but the same one of `b`. So the thread loads that once into a register, and uses it eight times: eight `FFMA` need nine loads, not sixteen. (Fewer threads, of which each does more: **thread coarsening**.)

# %%
plot_register_tile(range(8), [0], (64, 64), (range(8), range(32)))

# %% [markdown]
# Left is the tile of `a`, above that of `b`, between them the block's elements of `c`. Blue is what thread 0 loads, orange its sums, faint what its warp has.

# %% [markdown]
# New in the code:
#
# - The sums are a local array. It lies in registers, as the compiler knows all indices.
# - `near_b = tile_b[x:]` copies nothing. A *slice* is the same cells, counted from another first one: in C, a pointer. A row of this tile has 64 cells, so `near_b[64 * k]` is the thread's number k rows further down. `near_a` begins at its first row of `a`, with eight cells for each: `near_a[8 * i + k]` is number k of row i.
# - `part` makes a function that the compiler copies into its kernel, so that an array handed to it can stay in registers.

# %%
def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


@part
def add_column(sums, near_a, near_b, k):
    """Load one number of b, and use it for eight sums."""
    of_b = near_b[64 * k]
    for i in range(8):
        sums[i] += near_a[8 * i + k] * of_b


@part
def corner(high, wide):
    """The first row and column of c that a block computes."""
    return uint32(high * cuda.blockIdx.y), uint32(wide * cuda.blockIdx.x)

# %% [markdown]
# Around this step of k stands the kernel, for blocks of 64 × 64 elements; `steps` is to do all eight of a tile.

# %%
def make_columns(steps):
    """A product with 8 × 1 sums for a thread."""
    @cuda.jit
    def multiply_columns(c, a, b):
        """Each thread adds up eight elements of a column of c."""
        tile_a = cuda.shared.array(512, float32)    # 64 rows of 8
        tile_b = cuda.shared.array(512, float32)    # 8 rows of 64
        sums = cuda.local.array(8, float32)
        for i in range(8):
            sums[i] = 0
        thread, at = uint32(cuda.threadIdx.x), uint32(0)
        x, y = uint32(thread % 64), uint32(thread // 64)
        top, left = corner(64, 64)
        near_a, near_b = tile_a[uint32(64 * y):], tile_b[x:]
        while at < b.shape[0]:
            row, k = uint32(thread // 8), uint32(thread % 8)
            tile_a[thread] = a[uint32(top + row), uint32(at + k)]
            tile_b[thread] = b[uint32(at + y), uint32(left + x)]
            cuda.syncthreads()
            steps(sums, near_a, near_b)
            cuda.syncthreads()
            at = uint32(at + 8)
        for i in range(8):
            c[uint32(top + 8 * y + i), uint32(left + x)] = sums[i]
    return multiply_columns

# %% [markdown]
# ## Steps written out
#
# What should `steps` be? A loop, one thinks. But if its k stays in a register, each step computes its addresses from that, counts, and jumps back. If k is known when the kernel is compiled, `64 * k` and `8 * i + k` are numbers inside the load instructions, and cost nothing. (The loop is *unrolled*; in C++, `#pragma unroll` asks for that.)
#
# `written_out(step, 3)` is step 0, step 1, step 2, without a loop: made of `written_out(step, 2)` and the last step, for which k is 2.

# %% tags=["hide-input"]
# Defines the control: the steps in a loop.
def in_a_loop(step, times):
    """Steps 0, 1, ... and times - 1, in a loop."""
    @part
    def steps(sums, near_a, near_b):
        """One step after another."""
        for k in range(times):
            step(sums, near_a, near_b, k)
    return steps


# %%
@part
def nothing(sums, near_a, near_b):
    """No step."""


def written_out(step, times):
    """Steps 0, 1, ... and times - 1, one after another, with no loop."""
    if times == 0:
        return nothing
    before = written_out(step, times - 1)

    @part
    def steps(sums, near_a, near_b):
        """All steps but the last, then the last."""
        before(sums, near_a, near_b)
        step(sums, near_a, near_b, times - 1)
    return steps


# %% tags=["timing", "hide-input"]
# Measures the column of sums, with a loop and without.
CONTROLS = CONTROLS | {"column in a loop": (
    make_columns(in_a_loop(add_column, 8)), 64, 64, 512, False)}
RUNGS = RUNGS | {"column of sums": (
    make_columns(written_out(add_column, 8)), 64, 64, 512, False)}
climb("tiled", "column in a loop", "column of sums")

# %% [markdown]
# The column of sums takes half the time of the tiled product.
#
# In a loop whose k is signed, the same idea loses: ten instructions for each `FFMA`, since every index is asked [whether it is negative](36_what_a_loop_costs.ipynb). With `uint32(k)` the compiler writes that loop out itself, but not one around `load4`, two rungs on; so we do.
#
# ## A square of sums
#
# **Predict.** Now give a thread a square of 8 × 8 sums. How many loads does a step need, and for how many `FFMA`?
#
# <details><summary>Answer</summary>
#
# Eight numbers of `a` and eight of `b`, 16 loads. Each is multiplied by each: 64 `FFMA`, and a quarter of a load for one.
#
# </details>
#
# Such a set of sums is a **register tile** (the method, *register tiling*). It spares loads from shared memory as a tile there spares those from global memory.

# %%
plot_register_tile(range(0, 128, 16), range(0, 128, 16), (128, 128))

# %% [markdown]
# Thread 0's columns are 16 apart, so that neighbouring lanes load neighbours. So are its rows: a warp's lanes need two at once, and these lie in two banks.

# %%
@part
def add_square(sums, near_a, near_b, k):
    """Load eight numbers of a and eight of b, add all their products."""
    own = cuda.local.array(8, float32)
    for i in range(8):
        own[i] = near_a[128 * i + k]
    for j in range(8):
        of_b = near_b[128 * k + 16 * j]
        for i in range(8):
            sums[i, j] += own[i] * of_b


@part
def clear(sums):
    """Set a thread's sums to zero."""
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = 0

# %% [markdown]
# A block has 256 threads. `launch_bounds=(256, 2)` promises that there are no more, and asks that two such blocks fit on a multiprocessor. That leaves 128 registers for a thread, half of them for sums.

# %%
@part
def load_tiles(tile_a, tile_b, a, b, at, top, left):
    """Load 128 rows of 8 of a, and 8 rows of 128 of b."""
    thread = uint32(cuda.threadIdx.x)
    for q in range(4):
        place = uint32(256 * q + thread)
        tile_a[place] = a[uint32(top + place // 8), uint32(at + place % 8)]
        tile_b[place] = b[uint32(at + place // 128),
                          uint32(left + place % 128)]


# %%
def make_squares(steps):
    """A product with 8 × 8 sums for a thread."""
    @cuda.jit(launch_bounds=(256, 2))
    def multiply_squares(c, a, b):
        """Each thread adds up 8 × 8 elements of c, 16 apart."""
        tile_a = cuda.shared.array(1024, float32)    # 128 rows of 8
        tile_b = cuda.shared.array(1024, float32)    # 8 rows of 128
        sums = cuda.local.array((8, 8), float32)
        clear(sums)
        thread, at = uint32(cuda.threadIdx.x), uint32(0)
        x, y = uint32(thread % 16), uint32(thread // 16)
        top, left = corner(128, 128)
        near_a, near_b = tile_a[uint32(8 * y):], tile_b[x:]
        while at < b.shape[0]:
            load_tiles(tile_a, tile_b, a, b, at, top, left)
            cuda.syncthreads()
            steps(sums, near_a, near_b)
            cuda.syncthreads()
            at = uint32(at + 8)
        for i in range(8):
            for j in range(8):
                c[uint32(top + y + 16 * i),
                  uint32(left + x + 16 * j)] = sums[i, j]
    return multiply_squares


# %% tags=["timing", "hide-input"]
# Measures the square of sums.
RUNGS = RUNGS | {"square of sums": (
    make_squares(written_out(add_square, 8)), 128, 128, 256, False)}
climb("column of sums", "square of sums")

# %% [markdown]
# Wavefronts fall to a third, and the time by nearly half. Of the two counts, instructions are now the limit; but two fifths of the slots are empty, too.
#
# ## Sixteen bytes at once
#
# Which instructions could go? A `load4` brings four neighbours. The compiler does that for `a` already, along k: ten loads are left of 16. By fours, four would do.
#
# A thread's columns of `b` are easily side by side. But its *rows* of `a`, at *one* k, are a row's length apart. So keep this tile turned; then they are neighbours:
#
# | tile of a | cells from the first on |
# |---|---|
# | as it was | row 0, k = 0 · row 0, k = 1 · … · row 1, k = 0 · … |
# | turned | row 0, k = 0 · row 1, k = 0 · row 2, k = 0 · … |

# %% [markdown]
# Now the four numbers that a thread loads of `a` go to four rows:

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

# %% tags=["hide-input"]
# Draws the sums of thread 0.
plot_register_tile(range(8), range(8), (128, 128))

# %% [markdown]
# A thread's eight rows are two groups of four, the second one `down` rows further on; its columns likewise, `across`. For now both are 4, and the groups touch.

# %%
@part
def load_fours(own, near, first, apart):
    """Load a thread's numbers, in groups of four that are `apart`."""
    for i in range(0, own.size, 4):
        own[i], own[i + 1], own[i + 2], own[i + 3] = load4(
            near, first + apart * (i // 4))


@part
def add_products(sums, own_a, own_b):
    """Add the product of each number of a and each of b."""
    for j in range(own_b.size):
        for i in range(own_a.size):
            sums[i, j] += own_a[i] * own_b[j]


# %%
def make_step(down, across):
    """A step with groups of rows `down` apart, of columns `across`."""
    @part
    def add_fours(sums, near_a, near_b, k):
        """Load eight numbers of each tile by fours, add their products."""
        own_a = cuda.local.array(8, float32)
        own_b = cuda.local.array(8, float32)
        load_fours(own_b, near_b, 128 * k, across)
        load_fours(own_a, near_a, 128 * k, down)
        add_products(sums, own_a, own_b)
    return add_fours


# %% [markdown]
# What is left is where a thread's sums begin, and how it stores them: by fours, too.

# %%
@part
def place_square():
    """Where a thread's sums begin: 16 × 16 squares of 8 × 8."""
    thread = uint32(cuda.threadIdx.x)
    return uint32(8 * (thread // 16)), uint32(8 * (thread % 16))


def make_store(down, across):
    """How a thread stores its sums, in such groups."""
    @part
    def store_fours(c, sums, row, col):
        """Store a thread's sums by fours."""
        for i in range(8):
            for j in range(0, sums.shape[1], 4):
                y = uint32(row + down * (i // 4) + i % 4)
                x = uint32(col + across * (j // 4))
                store4(c, (y, x), (sums[i, j], sums[i, j + 1],
                                   sums[i, j + 2], sums[i, j + 3]))
    return store_fours


# %%
def make_wide(loads, place, step, store):
    """A product with 8 × 8 sums for a thread, of these parts."""
    (load_a, load_b), steps = loads, written_out(step, 8)

    @cuda.jit(launch_bounds=(256, 2))
    def multiply_wide(c, a, b):
        """Step by step, load tiles by fours, wait, add, wait."""
        tile_a = cuda.shared.array(1024, float32)
        tile_b = cuda.shared.array(1024, float32)
        sums = cuda.local.array((8, 8), float32)
        clear(sums)
        (y, x), (top, left) = place(), corner(128, 128)
        near_a, near_b, at = tile_a[y:], tile_b[x:], uint32(0)
        while at < b.shape[0]:
            load_a(tile_a, a, at, top)
            load_b(tile_b, b, at, left)
            cuda.syncthreads()
            steps(sums, near_a, near_b)
            cuda.syncthreads()
            at = uint32(at + 8)
        store(c, sums, uint32(top + y), uint32(left + x))
    return multiply_wide


# %% tags=["timing", "hide-input"]
# Measures the loads by fours.
RUNGS = RUNGS | {"by fours": (
    make_wide((load_turning, load_rows), place_square, make_step(4, 4),
              make_store(4, 4)), 128, 128, 256, False)}
climb("square of sums", "by fours")

# %% [markdown]
# Instructions fall by an eighth, and the time nearly as much. But there are more wavefronts, and these are the limit now. Why?
#
# ## Warp tiles
#
# **Predict.** Sixteen neighbours begin to load in the tile of `b` at cells 0, 8, 16, 24, 32 and so on. Which of them meet in a bank, if [a quarter warp](14_bank_conflicts.ipynb) is served at a time?
#
# <details><summary>Answer</summary>
#
# Cells 0 and 32 are in one bank, so in each quarter lanes meet in pairs.
#
# </details>

# %%
plot_banks([4 * 8 * (lane % 16) for lane in range(32)], 16)

# %% [markdown]
# Half of the banks are idle, and at the others lanes queue: between the fours of neighbours are four cells that nobody wants yet, each thread's second group.
#
# So pull a thread's two groups apart, and put those of neighbouring lanes side by side. Let a warp's lanes stand in eight rows of four; then lanes of a row share their numbers of `a`, and lanes of a column those of `b`:

# %%
plot_banks([4 * 4 * (lane % 4) for lane in range(32)], 16)

# %% [markdown]
# No conflict. What a warp computes together is a **warp tile**, here between its block and its lanes:

# %%
rows, cols = np.mgrid[0:256, 0:256]
plot_zooms({"block": rows // 128 * 2 + cols // 128,
            "warp": rows % 128 // 64 * 4 + cols % 128 // 32,
            "lane": rows % 32 // 4 * 4 + cols % 16 // 4})

# %% [markdown]
# Orange is block 0, its warp 0, that one's lane 0, and at last its sums, beside the rows of `a` and columns of `b` that they need. Only places change:

# %%
@part
def place_warps():
    """Where a thread's sums begin: a warp's lanes in eight rows of four."""
    thread = uint32(cuda.threadIdx.x)
    warp, lane = uint32(thread // 32), uint32(thread % 32)
    return (uint32(64 * (warp // 4) + 4 * (lane // 4)),
            uint32(32 * (warp % 4) + 4 * (lane % 4)))


STEP, STORE = make_step(32, 16), make_store(32, 16)

# %% tags=["timing", "hide-input"]
# Measures the warp tiles.
RUNGS = RUNGS | {"warp tiles": (
    make_wide((load_turning, load_rows), place_warps, STEP, STORE),
    128, 128, 256, False)}
climb("by fours", "warp tiles")

# %% [markdown]
# There are as many instructions, but fewer wavefronts, and the time falls by a seventh.
#
# <details><summary>For the curious: the wavefronts of a step</summary>
#
# The picture's load takes four wavefronts, a quarter warp in each, though all quarters ask for the same: lanes that share a cell are four apart. A load of `a` takes two: there they are neighbours, and then [two quarters go together](14_bank_conflicts.ipynb). With two loads of each, that is 12 for a step's 64 `FFMA`.
#
# </details>

# %% [markdown]
# ## Turn a first
#
# Counts now allow nine tenths of the peak, but a third of the slots is empty. The next rung will fill some, by copies of 16 bytes, which cannot turn a tile: their four numbers stay side by side.
#
# So turn `a` before, once, with a kernel like that of [the transpose](21_transpose.ipynb). Then `load_rows` loads both tiles. From here on, each time has the turning in it.

# %% tags=["timing", "hide-input"]
# Measures the product with a turned before.
RUNGS = RUNGS | {"A turned": (
    make_wide((load_rows, load_rows), place_warps, STEP, STORE),
    128, 128, 256, True)}
climb("warp tiles", "A turned")

# %% [markdown]
# The time rises by 2%. Turning takes about half of it; why the kernel is slower, too, we do not know.
#
# ## Copies in the background
#
# While a block's tiles arrive, none of its threads adds; while they add, nothing arrives. (Another block beside it fills some of the gaps, not all.) How could both happen at the same time?
#
# So give a block two halves of room: the tiles in one are used while the next are copied into the other; then they swap. (**Double buffering**. To begin a step's loads a step early is a **software pipeline**.)

# %%
plot_pipeline(4, 2, 3)

# %% [markdown]
# Lengths are made up. With one half, copies and sums take turns, and a tile has two barriers (the picture's last, one); with two, only the first copy is waited for.
#
# `copy4_async(to, i, source, j)` begins to copy 16 bytes from global to shared memory, and the thread goes on at once (NVIDIA: **cp.async**). `commit_copies()` closes a group of them; `wait_copies(0)` waits for all groups of *this thread*.
#
# Then one barrier for a tile is enough. Behind it, each thread has waited for its own copies, so the tiles of this step are there; and each is done with those before, whose half is free.

# %% [markdown]
# <details><summary>For the curious: the number in `wait_copies`</summary>
#
# It says how many of this thread's groups, the youngest ones, may still be under way. Here no younger group has begun when a tile is waited for: 0. With three parts of room, of which two are being filled, it is 1: the older tile must be there, the younger may come. Then `commit_copies()` stands outside the `if`, so that a group is closed in each step, even an empty one at the end, so that the count stays right.
#
# </details>

# %%
@part
def copy_rows(tile, width, count, source, at, left):
    """Begin to copy `count` numbers, in rows of a width, by fours."""
    for first in range(0, count, 1024):    # 256 threads, by fours
        place = uint32(first + 4 * cuda.threadIdx.x)
        row, col = uint32(at + place // width), uint32(left + place % width)
        copy4_async(tile, place, source, (row, col))


# %% [markdown]
# Only the loop of `multiply_async` is new. The rest counts cells, as sizes will change: `high`, a block's rows; `cols`, a thread's columns; `steps`, those of a tile. (`16 // cols` blocks fit: two with 8 columns, one with 16.)

# %%
def make_halves(high, steps):
    """Two halves of room, each for tiles of `high` rows of a and 128 of b."""
    of_a, of_b = high * steps, 128 * steps

    @part
    def begin(tiles, half, a, b, at, top, left):
        """Begin to copy the tiles of a step, if there is one, into a half."""
        if at < b.shape[0]:
            mine = tiles[uint32((of_a + of_b) * half):]
            copy_rows(mine, high, of_a, a, at, top)
            copy_rows(mine[of_a:], 128, of_b, b, at, left)
            commit_copies()

    @part
    def near(tiles, half, y, x):
        """A thread's numbers of a and of b in a half, from the first on."""
        first = uint32((of_a + of_b) * half)
        return tiles[uint32(first + y):], tiles[uint32(first + of_a + x):]
    return begin, near


# %%
def make_async(place, step, cols=8, steps=8):
    """A product with 8 × `cols` sums for a thread, in tiles of `steps`."""
    high, size = 16 * cols, 2 * (16 * cols + 128) * steps
    begin, near = make_halves(high, steps)
    add = written_out(step, steps)

    @cuda.jit(launch_bounds=(256, 16 // cols))
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
            add(sums, near_a, near_b)
        STORE(c, sums, uint32(top + y), uint32(left + x))
    return multiply_async


# %% [markdown]
# Three things change at once: loads become copies, copies overlap with sums, a barrier is gone. Two kernels in folded cells change them one by one.

# %% tags=["hide-input"]
# Defines the controls: copies that are waited for at once, a barrier more.
@part
def copy_tile(tile, source, at, left):
    """Begin to copy a tile of 8 rows of 128."""
    copy_rows(tile, 128, 1024, source, at, left)


@part
def copy_and_wait(tile, source, at, left):
    """Copy the other tile, and wait for both."""
    copy_rows(tile, 128, 1024, source, at, left)
    commit_copies()
    wait_copies(0)


def stopping(step, last):
    """A step; after one of the steps, there is a barrier."""
    @part
    def step_and_stop(sums, near_a, near_b, k):
        """Add a step's products; after the last, wait for the block."""
        step(sums, near_a, near_b, k)
        if k == last:
            cuda.syncthreads()
    return step_and_stop

# %% tags=["timing", "hide-input"]
# Measures both controls, and two halves.
CONTROLS = CONTROLS | {
    "copied, one half": (
        make_wide((copy_tile, copy_and_wait), place_warps, STEP, STORE),
        128, 128, 256, True),
    "two halves, two barriers": (
        make_async(place_warps, stopping(STEP, 7)), 128, 128, 256, True)}
RUNGS = RUNGS | {
    "two halves": (make_async(place_warps, STEP), 128, 128, 256, True)}
climb("A turned", "copied, one half", "two halves, two barriers",
      "two halves")

# %% [markdown]
# Copies that are waited for at once save 4%; the overlap, in another loop, 7%, although it adds 4% of instructions; the barrier that is gone, 1%.
#
# ## More sums, longer tiles
#
# - *More sums:* a thread has 8 × 16. Where four loads served 64 `FFMA`, six serve twice as many. It needs so many registers (251) that a multiprocessor holds one block instead of two.
# - *Longer tiles:* with twice the steps, a block waits and begins copies half as often. The two halves take all of the 48 KB that it gets without asking.

# %%
def make_place(cols):
    """Where a thread's sums begin if it has `cols` columns of them."""
    wide = 32 // cols      # warps side by side

    @part
    def place():
        """A warp's lanes in eight rows of four, as before."""
        thread = uint32(cuda.threadIdx.x)
        warp, lane = uint32(thread // 32), uint32(thread % 32)
        return (uint32(64 * (warp // wide) + 4 * (lane // 4)),
                uint32(4 * cols * (warp % wide) + 4 * (lane % 4)))
    return place


def make_large_step(cols, add=add_products):
    """A step for 8 × `cols` sums; `add` adds its products."""
    @part
    def add_large(sums, near_a, near_b, k):
        """Load a thread's numbers of both tiles by fours, add."""
        own_a = cuda.local.array(8, float32)
        own_b = cuda.local.array(cols, float32)
        load_fours(own_b, near_b, 128 * k, 16)
        load_fours(own_a, near_a, 16 * cols * k, 32)
        add(sums, own_a, own_b)
    return add_large


# %% tags=["timing", "hide-input"]
# Measures more sums.
PLACE, LARGE = make_place(16), make_large_step(16)
RUNGS = RUNGS | {
    "more sums": (make_async(PLACE, LARGE, 16), 256, 128, 256, True)}
climb("two halves", "more sums")

# %% tags=["timing", "hide-input"]
# Measures longer tiles, and the same with as many barriers as before.
RUNGS = RUNGS | {
    "longer tiles": (make_async(PLACE, LARGE, 16, 16), 256, 128, 256, True)}
CONTROLS = CONTROLS | {"longer, as many barriers": (
    make_async(PLACE, stopping(LARGE, 7), 16, 16), 256, 128, 256, True)}
climb("more sums", "longer, as many barriers", "longer tiles")

# %% [markdown]
# *More sums* saves 5%; instructions are 4% fewer (much else changes, too).
#
# *Longer tiles* saves another 6%. Half as many barriers? The control, with a barrier in the middle of each tile, is no slower. Instructions are 2% fewer; what else fills the slots, we do not know.

# %% [markdown]
# ## Down one column, up the next
#
# An `FFMA` reads three registers. These lie in **register banks**, and may have to be waited for. But an `FFMA` can keep a number for the next one; the machine code marks it `.reuse`.
#
# So go down one column of sums and *up* the next, as a snake does: where it turns, the number of `a` stays the same. More is kept, so fewer `FFMA` wait. So we explained the largest kernel.

# %%
@part
def add_snake(sums, own_a, own_b):
    """Add the products down one column of sums, and up the next."""
    for j in range(own_b.size):
        for i in range(8):
            row = 7 - i if j % 2 else i
            sums[row, j] += own_a[row] * own_b[j]


# %% [markdown]
# **Predict.** In four kernels, with few sums or many, short tiles or long, the snake keeps more numbers. In how many does it save time?

# %% tags=["timing", "hide-input"]
# Measures both orders for each size, and asks the compiler what is kept.
ORDERS = {"by columns": add_products, "snake": add_snake}
CONTROLS = CONTROLS | {
    f"8 × {cols}, {steps} steps, {order}": (
        make_async(make_place(cols), make_large_step(cols, ORDERS[order]),
                   cols, steps), 16 * cols, 128, 256, True)
    for cols in (8, 16) for steps in (8, 16) for order in ORDERS}
RUNGS = RUNGS | {"snake": CONTROLS["8 × 16, 16 steps, snake"]}


def kept(name):
    """The share of FFMA that keep a number for the next, in %."""
    it = assemble(of(name)[0])[launch(name)](*big)
    fused = [one.operands for one in it.instructions if one.base == "FFMA"]
    return 100 * sum(".reuse" in one for one in fused) / len(fused)

# %% tags=["timing", "hide-input"]
# Shows what the order changes in each of four kernels.
SIZES = [f"8 × {cols}, {steps} steps"
         for cols in (8, 16) for steps in (8, 16)]


def stalled(name):
    """The dispatch stalls for each instruction that was issued."""
    stalls = profiled[name].counters.get("stalls", {})
    return stalls.get("dispatch_stall", np.nan)


def both_orders(size):
    """What both orders of a size keep, wait for and take."""
    names = [f"{size}, {order}" for order in ORDERS]
    for name in names:
        profiled[name] = measure(of(name)[0])[launch(name)](*big)
    return size, *(what(name) for what in (kept, stalled, time)
                   for name in names)


snakes = [both_orders(size) for size in SIZES]
table(["sums", "kept, %", "snake", "dispatch stalls", "snake",
       "µs", "snake"], snakes)

# %% [markdown]
# In two. With few sums it adds most to what is kept, and *loses* time. So this alone does not decide.
#
# A counter follows the outcome: *dispatch stalls*, in which an instruction is ready, but held back. They fall by a third where time is saved, and hardly or not elsewhere. What holds it back, NVIDIA does not say in full. A reason that fits one kernel must be tried on others.
#
# ## The whole climb

# %% tags=["timing", "hide-input"]
# Draws all rungs: what their counts allow, and what they reach.
climb("snake")
plot_rungs(list(RUNGS), [at_most(name) for name in RUNGS],
           [2 * N**3 / time(name) / 1000 / PEAK for name in RUNGS],
           library.gflop_per_s / PEAK, "cuBLAS")

# %% [markdown]
# A ring is what a rung's counts allow, a diamond what it reached. Up to the *warp tiles*, what counts allow rises from a sixth of the peak to nine tenths (with one step back, at *by fours*). From there on it stays near that, and most rungs fill empty slots.

# %% tags=["timing", "hide-input"]
# Shows of which shares each rung's share of the peak is made.
def busy(name):
    """The share of the time in which multiprocessors had a block, in %."""
    cycles = profiled[name].counters.get("cycles", np.nan)
    issued = each(name, "instructions") * STEPS / (4 * 132 * cycles)
    return 100 * issued / (slots(name) / 100)


def adding(name):
    """The share of the time that was not spent on turning a, in %."""
    return 100 - 100 * of(name)[4] * turning.median_us / time(name)


SHARES = {
    "warps, %": lambda name: profiled[name].counters.get(
        "occupancy_percent", np.nan),
    "FFMA of all, %": lambda name: 100 / each(name, "instructions"),
    "slots used, %": slots, "busy, %": busy, "not turning, %": adding,
    "reached, %": COLUMNS["reached, %"],
    "% of cuBLAS": COLUMNS["% of cuBLAS"]}
table(["rung", *SHARES],
      [(name, *(share(name) for share in SHARES.values())) for name in RUNGS]
      + [("cuBLAS", *5 * "–", library.gflop_per_s / PEAK, 100)])

# %% [markdown]
# *Reached* is the product of the four shares before it. (*Busy* is a multiprocessor that has a block. The clock stayed at its peak.)
#
# **Predict.** The snake is six times as fast as the tiled product, with an eighth of its warps. Why are so few enough?
#
# <details><summary>Answer</summary>
#
# A slot wants an instruction that is ready, from whichever warp. A tiled warp mostly waits for shared memory and barriers, so others must fill its slots. A thread of the snake has 128 sums, which need not wait for one another.
#
# </details>

# %% [markdown]
# | rung | what is new | the field says |
# |---|---|---|
# | column of sums | a number of b serves eight sums | thread coarsening |
# | square of sums | eight numbers of each serve 64 | register tiling |
# | by fours | one load brings four numbers | vectorized access |
# | warp tiles | neighbouring lanes load neighbours | warp tiling |
# | A turned | tiles lie as memory has them | |
# | two halves | copy the next tiles while these are used | double buffering, software pipeline |
# | more sums | 8 × 16 of them | register tiling |
# | longer tiles | 16 steps | |
# | snake | another order | register reuse |

# %% tags=["timing", "hide-input"]
# Compares three rungs with the same in CUDA C++.
TWINS = {"column of sums": "columns", "square of sums": "squares",
         "snake": "last"}
table(["rung", "Numba, µs", "CUDA C++, µs"],
      [(name, time(name) - (turning.median_us if of(name)[4] else 0),
        baseline(f"CUDA C++ {twin} {N}").median_us)
       for name, twin in TWINS.items()])

# %% [markdown]
# <details><summary>For the curious: C++, the last round, L2, and the last bit</summary>
#
# The same rungs in CUDA C++ are from 5% faster to 3% slower (all without the turning, the last with guards for any size).
#
# At twice the size turning weighs half as much, and the whole reaches 102% of cuBLAS.
#
# A multiprocessor holds one of our 512 blocks, so 132 multiprocessors take four rounds, where 3.88 would do: that costs up to 3%.
#
# Larger tiles would spare memory, which is not the limit: for the snake, L2 works at 7% of its peak, memory at 3%.
#
# The ladder only times a rung whose product equals cuBLAS's to the last bit.
#
# </details>

# %% [markdown]
# ## What could go wrong
#
# Copies go on by themselves, so a barrier does not wait for them. Here each thread has come, but what it copies may still be under way:

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
# ★ How many registers would a thread's 16 × 16 sums take, and how many has it at most?
#
# <details><summary>Answer</summary>
#
# 256 for the sums alone; a thread has at most 255. The compiler would have to spill some.
#
# </details>
#
# ★ `exercise("rows_of_a_thread")`, in the assignment: sums in registers that are stored in the wrong rows. And `exercise("limits")` asks which share of the peak another shape of sums would allow.
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
# ★★★ `exercise("in_place")`: in a block of 8 × 8 threads, each has 8 × 8 of 64 × 64 sums, side by side; loads have conflicts. Which rows and columns would have none?
#
# <details><summary>Answer</summary>
#
# Two groups of four of each, 32 apart, with neighbouring groups for neighbouring threads.
#
# </details>
#
# The [assignment](assignments/24_up_the_ladder_to_cublas.ipynb) has 5 exercises, these four among them.

# %% [markdown]
# ## In practice
#
# Call the library: cuBLAS has kernels for many shapes. Asked for TF32, it uses tensor cores, far faster and less exact. Ours wants whole tiles, and `a` turned; [the page on any shape](35_any_shape.ipynb) does without.
#
# Which order and tile is best depends on GPU and compiler: try `python -m lessons.sweep product`.

# %% [markdown]
# ## Further reading
#
# - [How to optimize a CUDA matmul kernel for cuBLAS-like performance](https://siboehm.com/articles/22/CUDA-MMM): many of these rungs, in C++.
# - [Dissecting the NVIDIA Volta GPU architecture via microbenchmarking](https://arxiv.org/abs/1804.06826): registers, their banks, and numbers that are kept.
#
# *Next:* [Add up an array as fast as it can be read](25_reduction.ipynb): a product uses each number often; what limits a kernel that needs each only once?
