# %% [markdown]
# # Transpose a matrix nearly as fast as a copy
#
# *100 minutes*
#
# **What you'll do:** turn a matrix, in the end nearly as fast as the driver copies it, then one of any size, then one in place, and find out by controls what costs the time.
#
# **What you'll learn:**
#
# - give a copy a shape in which memory is busy, before anything is turned
# - move a tile by rows in and by rows out, in rounds, for a matrix of any size
# - tell with controls what a scattered store, a queue at a bank, a barrier and an index cost
# - find the mistakes that a right answer hides
#
# **What you'll need:** [coalescing](12_coalescing.ipynb), [tiles](13_shared_memory.ipynb), [banks](14_bank_conflicts.ipynb), [a thread's own arrays](16_own_memory.ipynb) and [bytes in flight](18_how_much_shared_memory.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (check, compare, device, emulate, exercise, expect,
                     explore, load4, measure, plot_rounds, plot_tile_banks,
                     plot_tile_move, plot_tile_order, plot_times, store4)

device

# %% [markdown]
# ## How fast is a copy?
#
# A transpose computes nothing. It loads each element once and stores it once, and so does a copy.
# So a copy is the floor, and NVIDIA's driver has a good one.
# But *your* kernel has other blocks: what they can do, a copy by them shows.
#
# A block of 32 × 32 threads has a thread for each element of a square.
# A block of 32 × 8 has a quarter of them, and comes in four *rounds*, eight rows further down each time:

# %%
plot_rounds(tile=8, high=2)

# %% [markdown]
# (Drawn smaller than it is: here a warp, a row of threads, has eight lanes.)
#
# A thread with four elements may take them *in turn*: load one, store it, load the next.
# Or it loads all four, and then stores them. For that it needs a place to keep them, `held`, an array of its own that fits into registers.

# %%
TILE = 32       # the side of a square


def make_copy(high, each):
    """Blocks of 32 × `high` threads; each thread has `each` elements."""
    @cuda.jit
    def copy_at_once(dst, src):
        """Load all elements of the thread, then store them."""
        held = cuda.local.array(each, float32)
        col = TILE * cuda.blockIdx.x + cuda.threadIdx.x
        row = high * each * cuda.blockIdx.y + cuda.threadIdx.y
        for k in range(each):
            held[k] = src[row + high * k, col]
        for k in range(each):
            dst[row + high * k, col] = held[k]
    return copy_at_once


@cuda.jit
def copy_in_turn(dst, src):
    """Load an element and store it, four times."""
    col = TILE * cuda.blockIdx.x + cuda.threadIdx.x
    row = TILE * cuda.blockIdx.y + cuda.threadIdx.y
    for k in range(0, TILE, 8):
        dst[row + k, col] = src[row + k, col]


# %%
# Checks copies and transposes of a small matrix in the emulator.
random = np.random.default_rng(0)
small = random.random((128, 192), dtype=np.float32)


def count(kernel, threads=(32, 8), tile=(32, 32), spec=small.T,
          turn_grid=False):
    """Emulate a launch by tiles of rows × columns, and check its answer."""
    out = np.full(spec.shape, np.nan, np.float32)
    blocks = small.shape[1] // tile[1], small.shape[0] // tile[0]
    run = emulate(kernel)[blocks[::-1] if turn_grid else blocks, threads](
        out, small)
    check(out, spec)
    return run


for high, each in (32, 1), (8, 1), (8, 4), (32, 4):
    count(make_copy(high, each), (32, high), (high * each, 32), small)
count(copy_in_turn, spec=small)

# %% [markdown]
# **Predict.** The matrix has 12,288 × 12,288 elements, ten times what L2 holds.
# Five copies move its bytes. Which of these would save a tenth of the time or more: smaller blocks, four elements a thread, all four loads at once?

# %% tags=["timing", "hide-input"]
# Measures five copies of a large matrix.
N = 12288
src = np.zeros((N, N), np.float32)
dst = np.zeros((N, N), np.float32)


def clock(kernel, threads=(32, 8), tile=(32, 32), turn_grid=False):
    """Measure a launch on N × N elements by tiles of rows × columns."""
    blocks = N // tile[1], N // tile[0]
    return measure(kernel, bytes=2 * src.nbytes)[
        blocks[::-1] if turn_grid else blocks, threads](dst, src)


copies = {
    ("32 × 32", "1"): clock(make_copy(32, 1), (32, 32)),
    ("32 × 8", "1"): clock(make_copy(8, 1), tile=(8, 32)),
    ("32 × 8", "4, in turn"): clock(copy_in_turn),
    ("32 × 8", "4, at once"): clock(make_copy(8, 4)),
    ("32 × 32", "4, at once"): clock(make_copy(32, 4), (32, 32), (128, 32))}
compare(copies, "µs", "% of a copy", "memory busy, %",
        "instructions per warp", by=("threads", "elements a thread"))

# %% [markdown]
# Among the first four rows, one thing changes from row to row, and each time a fifth of the time or more is gone.
#
# - *Smaller blocks*, with as many threads in all. Why, these columns do not say.
# - *Four elements each*, in turn: a quarter of the blocks and threads. The field calls this **thread coarsening**.
# - *All four at once*: the same threads and as many instructions. Only the order differs, and so how much is [in flight](18_how_much_shared_memory.ipynb). The compiler keeps the order: for all it knows, `dst` is `src`, and a store changes what is loaded next.

# %% [markdown]
# So the small block copies nearly as fast as the driver, and the first one took more than twice as long. A transpose in blocks of 32 × 32, with one element a thread, is to be compared with that first copy.
#
# ## Turn it, without a tile
#
# The same blocks can turn the matrix if each thread swaps row and column on one side.
# Then a warp goes along a row on one side and down a column on the other. A kernel that stores along rows counts its blocks along `dst`, so its grid is turned.

# %%
@cuda.jit
def transpose_naive(dst, src):
    """Load from rows, and store into columns."""
    held = cuda.local.array(4, float32)
    col = TILE * cuda.blockIdx.x + cuda.threadIdx.x
    row = TILE * cuda.blockIdx.y + cuda.threadIdx.y
    for k in range(4):
        held[k] = src[row + 8 * k, col]
    for k in range(4):
        dst[col, row + 8 * k] = held[k]


@cuda.jit
def transpose_rows(dst, src):
    """Load from columns, and store into rows."""
    held = cuda.local.array(4, float32)
    col = TILE * cuda.blockIdx.x + cuda.threadIdx.x
    row = TILE * cuda.blockIdx.y + cuda.threadIdx.y
    for k in range(4):
        held[k] = src[col, row + 8 * k]
    for k in range(4):
        dst[row + 8 * k, col] = held[k]


# %%
naive = count(transpose_naive)
rows = count(transpose_rows, turn_grid=True)
naive

# %% [markdown]
# **Predict.** Which of the two is slower, and how many sectors does each send to L2?

# %% tags=["timing", "hide-input"]
# Measures both, beside the copy by the same blocks.
times = {"naive": clock(transpose_naive),
         "by rows": clock(transpose_rows, turn_grid=True)}
the_copy = copies["32 × 8", "4, at once"]
compare({"a copy": the_copy} | times, "µs", "sectors from L2 per warp",
        "sectors to L2 per warp", "data path busy, %", "waits most for")

# %% [markdown]
# *naive* sends eight times as many sectors to L2 as the copy does, and takes more than seven times as long: L1 passes on [every store as it comes](12_coalescing.ipynb). Its warps wait in queues; which part of the way is full, no column says.
#
# *By rows* sends no more than the copy, and still takes twice as long as it.
# Here the data path is busy all the time. Rows of 12,288 numbers are whole lines, so the lanes of a column are at [one place of their lines](13_shared_memory.ipynb), and queue.
#
# ## Move a tile
#
# Neither can have rows on both sides, as each thread stores what it has loaded.
# So let a thread store what *another* thread of the block has loaded, and hand it over in shared memory.

# %%
def draw_move(row=1):
    """How the row of a tile moves that a warp has in one of its rounds."""
    return plot_tile_move(row=row)


explore(draw_move, row=(0, 3))

# %% [markdown]
# The tile begins at `src[top, left]`, and its turned place at `dst[left, top]`.
# *Rows in:* a warp loads a row of it and leaves it in a row of the tile (orange).
# *Rows out:* after the barrier it takes a column of the tile (blue), which is a row of `dst`.
#
# In code, thread (x, y) fills `tile[y, x]` from `src[top + y, left + x]`. After the barrier it takes `tile[x, y]`, to `dst[left + y, top + x]`.
# In a block of 32 × 8 threads, `y` goes on by 8 in each round, on both sides.

# %%
def make_tiled(width):
    """A transpose through tiles whose rows are `width` elements long."""
    @cuda.jit
    def transpose_tiled(dst, src):
        """Rows into a tile, wait, columns of it out as rows."""
        tile = cuda.shared.array((TILE, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
        for k in range(0, TILE, 8):
            tile[y + k, x] = src[top + y + k, left + x]
        cuda.syncthreads()
        for k in range(0, TILE, 8):
            dst[left + y + k, top + x] = tile[x, y + k]
    return transpose_tiled


tiled = count(make_tiled(32))
tiled

# %% [markdown]
# Loads and stores now touch four sectors each.
# But the report finds a queue: a column of a tile with rows of 32 lies in [one bank](14_bank_conflicts.ipynb).
# A 33rd column of padding ends it.
#
# **Predict.** How fast are both tiles beside *by rows*, which has none?

# %%
padded = count(make_tiled(33))
padded.assert_no_bank_conflicts()

# %% tags=["timing", "hide-input"]
# Measures both tiles.
times |= {"tile": clock(make_tiled(32)), "padded": clock(make_tiled(33))}
compare(times, "µs", "sectors to L2 per warp", "data path busy, %",
        "instructions per warp", by="transpose")

# %% [markdown]
# The first tile *loses*: it is slower than *by rows*, though each of its requests is coalesced.
# It has moved the queue from L1 into shared memory, and the path is busy for nine tenths of the time.
#
# The 33rd column halves the time, with a few instructions more.
# So the tile pays only with both: rows on both sides, and no queue between them.
#
# ## What does turning still cost?
#
# The padded tile is slower than the copy. It does three things that the copy does not: it stores and loads in shared memory, waits at a barrier, and turns.
# To part them, make a copy that goes *through the tile*, and turns nothing.

# %%
@cuda.jit
def copy_tiled(dst, src):
    """Rows into a tile, wait, rows of it out again."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    for k in range(0, TILE, 8):
        tile[y + k, x] = src[top + y + k, left + x]
    cuda.syncthreads()
    for k in range(0, TILE, 8):
        dst[top + y + k, left + x] = tile[y + k, x]


count(copy_tiled, spec=small)

# %% [markdown]
# And the tile of [the page on tiles](13_shared_memory.ipynb), by blocks of 32 × 32:

# %%
@cuda.jit
def transpose_whole(dst, src):
    """The padded tile by blocks of 32 × 32 threads, an element each."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    tile[y, x] = src[top + y, left + x]
    cuda.syncthreads()
    dst[left + y, top + x] = tile[x, y]


count(transpose_whole, (32, 32))

# %% tags=["timing", "hide-input"]
# Compares the copies with the transpose, in two shapes of a block.
through, whole = clock(copy_tiled), clock(transpose_whole, (32, 32))
compare({("32 × 8, 4 each", "a copy"): the_copy,
         ("32 × 8, 4 each", "a copy through the tile"): through,
         ("32 × 8, 4 each", "padded"): times["padded"],
         ("32 × 32, 1 each", "a copy"): copies["32 × 32", "1"],
         ("32 × 32, 1 each", "padded"): whole},
        "µs", "% of a copy", "instructions per warp", "waits most for",
        by=("threads and elements", "kernel"))

# %% [markdown]
# The way through the tile, with its barrier, costs a copy 6%. Turning costs 12% more; the order of the tiles, below, is a part of what turning costs.
#
# How much each block and thread takes matters more. Either way, the transpose takes less than a fifth longer than the copy by the same blocks. But both take twice as long with one element a thread in 32 × 32 as with four in 32 × 8.
# So measure the copy first: it says which part of your time a better transpose can save.
#
# <details><summary>For the curious: the shape alone</summary>
#
# At four each, the copy in 32 × 32 is 14% slower than that in 32 × 8; at one each, 28%.
#
# </details>
#
# ## Fewer instructions
#
# Numba's indices are signed, and `a[-1]` is the last element. So every access asks whether its index is negative.
# An unsigned index cannot be, and the question disappears. (`k` is made unsigned, too, as a sum with a signed number is signed.)

# %%
def make_unsigned(side, high, width):
    """Tiles of `side` × `side`, by blocks of `side` × `high` threads."""
    @cuda.jit
    def transpose_unsigned(dst, src):
        """Rows into a tile, wait, columns of it out as rows."""
        tile = cuda.shared.array((side, width), float32)
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        left = uint32(side * cuda.blockIdx.x)
        top = uint32(side * cuda.blockIdx.y)
        for k in range(0, side, high):
            k = uint32(k)
            tile[y + k, x] = src[top + y + k, left + x]
        cuda.syncthreads()
        for k in range(0, side, high):
            k = uint32(k)
            dst[left + y + k, top + x] = tile[x, y + k]
    return transpose_unsigned


unsigned = make_unsigned(32, 8, 33)
count(unsigned).assert_no_bank_conflicts()

# %% [markdown]
# `load4(src, (row, col))` loads four neighbours of a row in one request, and `store4` stores four.
# With these, a block of 8 × 32 threads takes the tile in one round, and each thread still has 16 bytes in flight.

# %%
@cuda.jit
def transpose_wide(dst, src):
    """Load four neighbours of a row at once, store four of a column."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left = uint32(TILE * cuda.blockIdx.x)
    top = uint32(TILE * cuda.blockIdx.y)
    (tile[y, x], tile[y, x + 1], tile[y, x + 2],
     tile[y, x + 3]) = load4(src, (top + y, left + x))
    cuda.syncthreads()
    store4(dst, (left + y, top + x),
           (tile[x, y], tile[x + 1, y], tile[x + 2, y], tile[x + 3, y]))


count(transpose_wide, (8, 32)).assert_no_bank_conflicts()

# %% tags=["hide-input"]
# Draws the banks of the tile, and where the lanes of a warp are in them.
rows_33, cols_33 = np.mgrid[0:32, 0:33]
column = [(4 * (lane % 8), lane // 8) for lane in range(32)]
plot_tile_banks((33 * rows_33 + cols_33) % 32, column, padding=1)

# %% [markdown]
# A warp is 8 lanes wide and 4 high here. A lane takes the cells `[x, y]` to `[x + 3, y]` of the tile, one after the other; `x` grows by 4 from lane to lane.
# Outlined are the first ones of all lanes, in eight rows and four columns: 32 banks, and so no conflict.

# %% tags=["timing", "hide-input"]
# Measures both.
times |= {"unsigned": clock(unsigned),
          "16 bytes": clock(transpose_wide, (8, 32))}
compare({name: times[name] for name in ("padded", "unsigned", "16 bytes")},
        "µs", "instructions per warp", "issue slots used, %",
        "memory busy, %", "waits most for", by="transpose")

# %% [markdown]
# Without the questions, a warp executes little more than a third of the instructions, and the transpose takes 5% less time.
# With 16 bytes a load there are fewer still, and the time stays: issuing was no longer in the way, as three quarters of the issue slots were empty.
#
# ## A larger tile
#
# Four loads at once, not in turn, saved the copy a quarter of its time: more bytes were in flight. Is there more to gain?
# A tile of 64 × 64 has four times as many elements. With as many threads, each loads 64 bytes before it waits.
# `(row, col)` is a cell of the tile. For the loads, x goes along its rows; for the stores, x goes down its columns.

# %%
def make_large(down):
    """Tiles of 64 × 64, by blocks of 8 × 32 threads."""
    @cuda.jit
    def transpose_large(dst, src):
        """Rows of four squares into a tile, wait, columns of them out."""
        tile = cuda.shared.array((64, 65), float32)
        x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        left = uint32(64 * cuda.blockIdx.x)
        top = uint32(64 * cuda.blockIdx.y)
        left, top = (top, left) if down else (left, top)
        for k in range(0, 64, TILE):
            for m in range(0, 64, TILE):
                row, col = uint32(y + k), uint32(x + m)
                (tile[row, col], tile[row, col + 1], tile[row, col + 2],
                 tile[row, col + 3]) = load4(src, (top + row, left + col))
        cuda.syncthreads()
        for k in range(0, 64, TILE):
            for m in range(0, 64, TILE):
                row, col = uint32(x + k), uint32(y + m)
                store4(dst, (left + col, top + row),
                       (tile[row, col], tile[row + 1, col],
                        tile[row + 2, col], tile[row + 3, col]))
    return transpose_large


# %%
for down in False, True:
    large = count(make_large(down), (8, 32), (64, 64), turn_grid=down)
    large.assert_no_bank_conflicts()

# %% tags=["timing", "hide-input"]
# Measures tiles of 64 × 64, with 4 bytes a load and with 16.
narrow = make_unsigned(64, 4, 65)
count(narrow, (64, 4), (64, 64)).assert_no_bank_conflicts()
sixteen = clock(narrow, (64, 4), (64, 64))
times |= {"64 × 64": clock(make_large(False), (8, 32), (64, 64))}
compare({("32 × 32", 4, 4): times["unsigned"],
         ("32 × 32", 4, 16): times["16 bytes"],
         ("64 × 64", 16, 4): sixteen, ("64 × 64", 16, 16): times["64 × 64"]},
        "µs", "% of a copy", "instructions per warp", "memory busy, %",
        "occupancy, %",
        by=("tile", "elements a thread", "bytes a load"))

# %% [markdown]
# A tile of 64 × 64 saves 7 to 8%, and it does so with loads of 4 bytes as with those of 16.
# So what helped is not how wide a load is.
#
# The larger tile changes several things: more in flight for each thread, rows twice as long, and a quarter of the blocks and barriers. Which of them it is, this does not tell. Not occupancy: eight such blocks, with their tiles, fit on a multiprocessor.
#
# ## Which tile is next?
#
# Blocks start roughly in the order of their numbers, row by row of the grid. So the thousand or so that run at one time have tiles side by side in *one* of the two matrices:

# %%
def draw_order(down=False):
    """The tiles of the blocks that run at one time, in both matrices."""
    return plot_tile_order(down=down)


explore(draw_order, down=[False, True])

# %% [markdown]
# Along the rows of `src` they load side by side, and store far apart. With `down` they go down its columns: now they store side by side.
#
# **Predict.** Which side minds? Two copies help to tell: one goes along rows on both sides, the other on neither.

# %%
def make_large_copy(down):
    """A copy by the blocks of `make_large`, through the same tile."""
    @cuda.jit
    def copy_large(dst, src):
        """Rows of four squares into a tile, wait, rows of them out."""
        tile = cuda.shared.array((64, 65), float32)
        x, y = uint32(4 * cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        left = uint32(64 * cuda.blockIdx.x)
        top = uint32(64 * cuda.blockIdx.y)
        left, top = (top, left) if down else (left, top)
        for k in range(0, 64, TILE):
            for m in range(0, 64, TILE):
                row, col = uint32(y + k), uint32(x + m)
                (tile[row, col], tile[row, col + 1], tile[row, col + 2],
                 tile[row, col + 3]) = load4(src, (top + row, left + col))
        cuda.syncthreads()
        for k in range(0, 64, TILE):
            for m in range(0, 64, TILE):
                row, col = uint32(y + k), uint32(x + m)
                store4(dst, (top + row, left + col),
                       (tile[row, col], tile[row, col + 1],
                        tile[row, col + 2], tile[row, col + 3]))
    return copy_large


# %% tags=["timing", "hide-input"]
# Checks and measures both orders of the copy and of the transpose.
sides = {}
for down in False, True:
    kernel = make_large_copy(down)
    count(kernel, (8, 32), (64, 64), small, down).assert_no_bank_conflicts()
    sides["no" if down else "yes", "no" if down else "yes"] = clock(
        kernel, (8, 32), (64, 64), down)
times["down"] = clock(make_large(True), (8, 32), (64, 64), turn_grid=True)
sides |= {("yes", "no"): times["64 × 64"], ("no", "yes"): times["down"]}
compare(sides, "µs", "% of a copy", "memory busy, %",
        by=("loads side by side", "stores side by side"))

# %% [markdown]
# Go by the second column. With the stores side by side the kernel takes less than 300 µs, and with the stores far apart more than 310, whatever the loads do. For the loads it hardly matters.
# So it is the stores that mind, and `down` gains 4%. Why memory minds them more than loads, these counters do not say.
#
# Beside the copy with both sides side by side, turning still costs 6% with the stores far apart, and 2% with `down`.

# %% tags=["timing", "hide-input"]
# Draws all rungs beside the driver's copy.
ladder = [*times]
rungs = [times[name] for name in ladder]

plot_times(ladder, [m.median_us for m in rungs],
           spread_us=[(m.lower_us, m.upper_us) for m in rungs],
           limit_us=2 * src.nbytes / rungs[-1].copy_gb_per_s / 1e3,
           limit_label="the driver's copy")

# %% [markdown]
# The last rung takes 2% longer than the driver's copy, the dashed line.
#
# ## Any size
#
# So far the tiles fit.
# With other sizes some hang over the edge of `src`, and in their turned place over the edge of `dst`.
# So each side needs a guard of its own: a load asks whether it is inside `src`, a store whether it is inside `dst`.

# %%
@cuda.jit
def transpose_any(dst, src):
    """Load what there is of a tile, wait, store what there is."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(TILE * cuda.blockIdx.x), uint32(TILE * cuda.blockIdx.y)
    for k in range(0, TILE, 8):
        k = uint32(k)
        if top + y + k < src.shape[0] and left + x < src.shape[1]:
            tile[y + k, x] = src[top + y + k, left + x]
    cuda.syncthreads()
    for k in range(0, TILE, 8):
        k = uint32(k)
        if left + y + k < dst.shape[0] and top + x < dst.shape[1]:
            dst[left + y + k, top + x] = tile[x, y + k]


# %%
def turn(kernel, src):
    """Emulate a transpose in enough blocks, and check it."""
    dst = np.full(src.shape[::-1], np.nan, np.float32)
    grid = [-(-side // TILE) for side in src.shape[::-1]]   # rounded up
    run = emulate(kernel)[tuple(grid), (TILE, 8)](dst, src)
    check(dst, src.T)
    return run


for shape in (1, 1), (33, 1), (128, 192), (70, 45):
    ragged = turn(transpose_any, random.random(shape, dtype=np.float32))

# %% tags=["timing", "hide-input"]
# Measures it on the matrix, and on one with sides that are one less.
odd_src, odd_dst = np.zeros((2, N - 1, N - 1), np.float32)
odd = measure(transpose_any, bytes=2 * odd_src.nbytes)[
    (N // TILE, N // TILE), (32, 8)](odd_dst, odd_src)
guarded = clock(transpose_any)
compare({("no", f"{N:,}"): times["unsigned"],
         ("yes", f"{N:,}"): guarded, ("yes", f"{N - 1:,}"): odd},
        "µs", "% of a copy", "instructions per warp",
        "sectors to L2 per warp", by=("guards", "side"))

# %% [markdown]
# The barrier stays outside both guards, as every thread must reach it.
# The guards cost 4% where the tiles fit.
#
# But a matrix with one row and one column less takes 1.5 times as long (a copy of that size is not measured). Most of its rows begin within a sector, so requests touch more of them, and a fifth more go to L2. That alone does not explain the time; what else does, is not shown.
# So if you may, make the rows whole lines long, a multiple of 32 numbers. (Libraries let them be longer than their matrix: they call it a *pitch*, or a *leading dimension*.)
#
# ## What could go wrong
#
# This kernel uses one guard for both sides. Its author has tried it where the tiles fit.

# %%
@cuda.jit
def transpose_guarded_wrong(dst, src):
    """Load and store what there is of a tile in `src`."""
    tile = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    for k in range(0, TILE, 8):
        if top + y + k < src.shape[0] and left + x < src.shape[1]:
            tile[y + k, x] = src[top + y + k, left + x]
    cuda.syncthreads()
    for k in range(0, TILE, 8):
        if top + y + k < src.shape[0] and left + x < src.shape[1]:
            dst[left + y + k, top + x] = tile[x, y + k]


half = random.random((64, 64), dtype=np.float32)
turn(transpose_guarded_wrong, half)

with expect(IndexError):
    turn(transpose_guarded_wrong, random.random((70, 45), dtype=np.float32))

# %% [markdown]
# And this one does not transpose at all, but the first test passes, because its matrix is its own transpose:

# %%
@cuda.jit
def transpose_not_wrong(dst, src):
    """Each thread copies four elements, and nothing is turned."""
    col = TILE * cuda.blockIdx.x + cuda.threadIdx.x
    row = TILE * cuda.blockIdx.y + cuda.threadIdx.y
    for k in range(0, TILE, 8):
        if row + k < src.shape[0] and col < src.shape[1]:
            dst[row + k, col] = src[row + k, col]


turn(transpose_not_wrong, half + half.T)

with expect(AssertionError):
    turn(transpose_not_wrong, half)

# %% [markdown]
# Test with random numbers, and with sides of different length that are no multiples of the tile's.
#
# ## In place
#
# **Predict.** Each block loads its whole tile before it stores. So may `dst` be `src`?

# %%
square = random.random((128, 128), dtype=np.float32)
both = cuda.to_device(square)
print(emulate(make_tiled(33))[(4, 4), (32, 8)](both, both).races)

# %% [markdown]
# No: a block stores where *another* block loads, and no barrier orders the two. (In the emulator's order the answer is even right.)
#
# So two tiles that change places belong to one block: it loads both, waits, and stores both. The blocks on the other side of the diagonal leave, each as a whole, so nobody is missing at the barrier.

# %%
@cuda.jit
def transpose_in_place(a):
    """Load two tiles that change places, wait, store both turned."""
    one = cuda.shared.array((TILE, 33), float32)
    two = cuda.shared.array((TILE, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    if left > top:
        return
    for k in range(0, TILE, 8):
        one[y + k, x] = a[top + y + k, left + x]
        two[y + k, x] = a[left + y + k, top + x]
    cuda.syncthreads()
    for k in range(0, TILE, 8):
        a[left + y + k, top + x] = one[x, y + k]
        a[top + y + k, left + x] = two[x, y + k]


both = square.copy()
swapped = emulate(transpose_in_place)[(4, 4), (32, 8)](both)
check(both, square.T)
swapped.assert_no_races()

# %% [markdown]
# That saves the second matrix, not its traffic, and takes two tiles of a block's shared memory. (Its time is not measured.) Only a square has such pairs: else cells move in longer cycles.
#
# ## What changed

# %% tags=["timing", "hide-input"]
# Tabulates the ladder: what changed at each rung, and what it took.
changes = ("stores down a column", "loads down a column instead",
           "rows on both sides, through a tile", "a column of padding",
           "unsigned indices", "16 bytes a load and a store",
           "a tile of 64 × 64", "stores side by side")
compare({(name, change): m
         for name, change, m in zip(ladder, changes, rungs, strict=True)},
        "µs", "% of a copy", "waits most for", by=("rung", "what changed"))

# %% [markdown]
# Two steps remove what the emulator counts: sectors first, then conflicts. From *padded* on, sectors and conflicts are ideal. What is left to save are instructions, requests and waiting, and only the GPU tells whether it pays.
#
# But one gain stands in no row: smaller blocks with four elements a thread, which the copy chose before anything was turned.
#
# ## On your own
#
# ★ A block of 32 × 16 threads takes a tile of 32 × 32. How many rounds are that, which rows has thread (5, 3) in them, and which cells of the tile does it take after the barrier?
#
# <details><summary>Answer</summary>
#
# Two rounds: rows 3 and 19.
# After the barrier it takes `tile[5, 3]` and `tile[5, 19]`.
#
# </details>
#
# ★ How many blocks of 256 threads fit on a multiprocessor with a tile of 32 × 33, and with one of 128 × 129? ([The rule](18_how_much_shared_memory.ipynb), registers aside.)
#
# <details><summary>Answer</summary>
#
# The small tile takes 4.1 KB, 5.1 with the system's: here the threads decide, eight blocks. The large one takes 64.5 KB (more than 48 are asked for at the launch), 65.5 with the system's, so three of them fit into 228 KB: 24 warps of 64. But each thread then has 64 elements to load. Which is faster, measure.
#
# </details>
#
# ★ `exercise("rungs")` and `exercise("transpose")`, in the assignment: predict sectors and conflicts, then write the transpose of any size, by blocks of 32 × 32 threads and so without rounds.
#
# ★★ `rotate`: turn a matrix of any size by a quarter, clockwise, as `np.rot90(src, -1)` does, as well coalesced as a copy and without a bank conflict.

# %%
task = exercise("rotate")
task

# %%
TILE = 32
WIDTH = TILE + 1


@cuda.jit
def rotate(dst, src):
    """Turn a matrix by a quarter, clockwise."""
    # your code, about 9 lines


task.check(rotate)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# TILE = 32
# WIDTH = TILE + 1
#
#
# @cuda.jit
# def rotate(dst, src):
#     """Turn a matrix by a quarter, clockwise."""
#     tile = cuda.shared.array((TILE, WIDTH), float32)
#     rows, cols = src.shape
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
#     if top + y < rows and left + x < cols:
#         tile[y, x] = src[top + y, left + x]
#     cuda.syncthreads()
#     if left + y < cols and top + x < rows:
#         dst[left + y, rows - 1 - top - x] = tile[x, y]
# ```
#
# A warp reads a column of the tile and stores it as a row, from right to left.
# Backwards, it touches as many sectors and as many banks as forwards.
#
# </details>
#
# ★★★ `exercise("wide_turn")`: transpose with four elements in each load and store, where the sides are any multiples of four.
#
# The [assignment](assignments/21_transpose.ipynb) has 7 exercises, these among them.

# %% [markdown]
# ## In practice
#
# The driver's copy is the limit only while the matrix is larger than the caches.
#
# | what if | then |
# |---|---|
# | there are but 3 columns? | 29 of the 32 in each tile hang over the edge. Take another shape, such as 3 × 128, as in `exercise("channels_last")`. |
# | elements have 8 bytes? | A column of padding does it, too: a warp's column then takes two wavefronts, the fewest for 256 bytes. |
# | `src` is NumPy's view `a.T`? | The view moves nothing: along its rows a warp goes down a column of `a`, and touches 32 sectors. |
# | loads are of 16 bytes, as in `make_large`? | Arrays must begin at multiples of 16 bytes, as whole ones do; guarded, sides are multiples of four. |
#
# The order in which blocks start is the GPU's own affair: use it for speed, as `down` does, never for the result.
#
# The best transpose is often none: a kernel that loads through a tile can take a matrix in either layout, and libraries have a flag for it.
#
# ## Further reading
#
# - [An efficient matrix transpose in CUDA C/C++](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): the first rungs, with both copies as controls, as NVIDIA explained them in 2013.
#
# *Next:* [Use a number again while it is near](22_tiling.ipynb): here each element is used once; what does a tile save where each is used a thousand times?
