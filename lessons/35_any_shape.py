# %% [markdown]
# # Multiply matrices of any shape
#
# *110 minutes*
#
# **What you'll do:** make the product that is as fast as cuBLAS for large squares fast for every other shape, too: thin, flat, deep and odd.
#
# **What you'll learn:**
#
# - count how many rounds a GPU needs for its tiles, and cut sums so that the last one is full
# - choose among plans by a model, and then by measuring
# - let tiles hang over an edge, and pay nothing for it
#
# **What you'll need:** [the ladder to cuBLAS](24_up_the_ladder_to_cublas.ipynb), and [the last block](20_the_last_block.ipynb) for sums in two kernels.

# %%
import numpy as np
from numba import cuda, float32, int64, uint32

from helpers import (baseline, check, commit_copies, copy4_or_zero_async,
                     copy_or_zero_async, device, emulate,
                     exercise, load4, plot_grid_2d, plot_schedule,
                     plot_tile_banks, store4, table, wait_copies)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

# %% [markdown]
# ## Where does a good kernel lose?
#
# A kernel that copies its tiles in the background, and keeps many sums in each thread's registers, is nearly as fast as cuBLAS where the matrices are large and square. Now give it other shapes.
#
# An `m × k × n` product multiplies a matrix of m rows and k columns by one with k rows and n columns. Here are four:
#
# | m × k × n | what it is |
# |---|---|
# | 4096 × 4096 × 4096 | a large square |
# | 3001 × 3001 × 3001 | a square, and odd |
# | 1000 × 10000 × 1000 | smaller, and deep |
# | 64 × 16384 × 64 | thin, and very deep |
#
# One kernel made all four, that of this page, with tiles of 128 × 128 elements of `c`. It is held to cuBLAS's time.
#
# **Predict.** In which of the four does it lose most, and how much?

# %% tags=["timing", "hide-input"]
# Holds one tile for all shapes to cuBLAS.
def share(kind, shape):
    """A kind of plan's speed, in % of cuBLAS's."""
    theirs = baseline(f"cuBLAS {shape}").median_us
    return 100 * theirs / baseline(f"{kind} {shape}").median_us


def shares(shapes, *kinds):
    """A row for each shape, a column for each kind of plan."""
    rows = [(it, *(share(kind, it) for kind in kinds)) for it in shapes]
    return table(["m × k × n", *(f"{it}, % of cuBLAS" for it in kinds)], rows)


FOUR = ("4096 × 4096 × 4096", "3001 × 3001 × 3001", "1000 × 10000 × 1000",
        "64 × 16384 × 64")
shares(FOUR, "one tile")

# %% [markdown]
# The last one has a thousandth of the first one's multiplications, and the kernel needs more than a hundred times as long as cuBLAS. What has changed?
#
# Four ideas follow, one by one: count *rounds*, *cut* sums, *choose* a plan, let tiles *hang over* the edge. What only carries them out is folded.

# %% [markdown]
# ## Rounds of tiles
#
# Each block makes one tile of `c`, and goes through all of k for it. So count blocks: how many tiles does `c` have, and how many multiprocessors are there for them?
#
# 64 × 64 elements are one tile, a quarter full. One multiprocessor of 132 works.
# 1000 × 1000 elements are 64 tiles: half of the GPU idles.
# A little more than a GPU can hold is hardly better. Here are ten equal tiles on four multiprocessors:

# %%
plot_schedule({tile: 4 for tile in range(10)}, multiprocessors=4, places=1)

# %% [markdown]
# Each row is a multiprocessor, and time runs to the right. All tiles take equally long, so they come in **rounds** (*waves*, [in the tiled product](23_matrix_product.ipynb)). The third has two tiles, and takes as long as a full one: ten tiles take the time of twelve. This is *wave quantisation*. So the GPU can be used at most to the share
#
# tiles / (rounds × multiprocessors), where rounds = ⌈tiles / multiprocessors⌉,
#
# for blocks that come one at a time.

# %% tags=["timing", "hide-input"]
# Counts the rounds of the four, one tile at a time.
def up(number, whole):
    """A number of things, in wholes: the last may be in part."""
    return -(-number // whole)


def rounds_of(shape):
    """A shape's tiles, their rounds, the share allowed, that of cuBLAS."""
    m, _, n = map(int, shape.split(" × "))
    tiles = up(m, 128) * up(n, 128)
    rounds = up(tiles, CORES)
    return (shape, tiles, rounds, 100 * tiles / (rounds * CORES),
            share("one tile", shape))


CORES = cuda.get_current_device().MULTIPROCESSOR_COUNT
table(["m × k × n", "tiles", "rounds", "of the GPU at most, %",
       "reached, % of cuBLAS"], [rounds_of(it) for it in FOUR])

# %% [markdown]
# Rounds are not all. Idle halves alone would leave the third product 48%, and it reaches 31. A lonely block, whose waits nobody fills, explains most of the rest: such a step takes half as long again, as we shall see.
#
# <details><summary>For the curious: and the odd square, and the last?</summary>
#
# In the odd square, four rounds and a lonely fifth leave 79% of the GPU. And n is no multiple of 4, so that `b` has to be copied first, as we shall see.
#
# The last product reaches more than its share: cuBLAS, to which it is held, reaches about a ninth of the peak there.
#
# </details>
#
# ## Smaller tiles?
#
# With a quarter of the tile there are four times as many, and the last round weighs less.
# But a tile's elements of `a` and `b` are loaded once for all of its sums: at each k a tile of r rows and c columns needs r + c numbers for r · c multiplications. And a thread with fewer sums loads more for each.
# So very small tiles should be slower where there are many; half a tile we must measure.

# %% [markdown]
# ## Cut the sums
#
# Or cut k. The last of the four products has one tile, but its sums have 16,384 steps. One block need not make all steps of a sum: let each of many blocks add up a **piece** of k, and store its part of the sums. Then a second kernel adds up the parts. That is called **split-k**.
#
# It costs: parts are stored and loaded again, and there is a second launch. So cut only the tiles that do not fill a round, or all, if they fill none. Ten tiles on four multiprocessors: eight whole ones, and the last two in two pieces each.

# %%
lengths = {tile: 4 for tile in range(8)} | {8: 2, 9: 2, 10: 2, 11: 2}
plot_schedule(lengths, multiprocessors=4, places=1)

# %% [markdown]
# Blocks 8 and 9 are the two halves of a tile, and 10 and 11 those of the last. The twelve blocks take two and a half rounds, which is all that there is to do.
#
# <details><summary>For the curious: stream-k</summary>
#
# **Stream-k** goes further: it deals out all steps of all tiles evenly, in as many shares as there are multiprocessors, wherever tiles begin.
#
# </details>

# %% [markdown]
# ## Which plan?
#
# A **plan** is a tile, how many of them `c` has, how many are whole, and the parts and the length of the others. There are seven tiles, and for large products ten or more ways to cut each. Which is the fastest?

# %% tags=["hide-input"]
# Lists the tiles.
TILES = {   # sums down, across; warps down, across; blocks asked for; rooms
    "128 × 128": (8, 16, 2, 2, 2, 2),
    "128 × 64": (8, 8, 2, 2, 3, 3),
    "64 × 128": (8, 8, 1, 4, 3, 2),
    "64 × 128, 3 rooms": (8, 8, 1, 4, 3, 3),
    "64 × 64": (8, 8, 1, 2, 6, 3),
    "32 × 64": (4, 8, 1, 2, 8, 3),
    "32 × 32": (4, 8, 1, 1, 16, 4),
}


def sides(tile):
    """A tile's rows and columns, and its threads."""
    high, wide, down, across = TILES[tile][:4]
    return 8 * high * down, 4 * wide * across, 32 * down * across

# %% [markdown]
# The picture of rounds is a model that a program can compute. It needs two times of each tile, both of a step, 16 of k:
#
# - `alone`: how long a lonely block takes.
# - `among`: with as many on a multiprocessor as are asked for, they fill each other's waits. This is the multiprocessor's time for a step of one of them.
#
# So where a multiprocessor has `last` blocks, a step of all takes `last * among`, but never less than `alone`.
#
# Both were fitted to the times of some thousand launches of such kernels on an H200.
#
# <details><summary>For the curious: do 16 blocks of the smallest fit?</summary>
#
# No: the model shares by 16, though the room for its tiles lets at most 12 fit. So its fitted times stand for both.
#
# </details>

# %%
STEP_US = {   # among as many as asked for, alone
    "128 × 128": (1.37, 2.11),
    "128 × 64": (0.71, 0.93),
    "64 × 128": (0.68, 0.87),
    "64 × 128, 3 rooms": (0.68, 0.87),
    "64 × 64": (0.38, 0.84),
    "32 × 64": (0.255, 0.42),
    "32 × 32": (0.151, 0.42),
}


def rounds_us(tile, blocks, steps):
    """How long blocks of so many steps take the GPU, round by round."""
    (among, alone), fit = STEP_US[tile], TILES[tile][4]
    full, last = divmod(up(blocks, CORES), fit)
    return steps * (full * max(fit * among, alone)
                    + (max(last * among, alone) if last else 0))

# %% tags=["hide-input"]
# How long each tile takes, among others, for as much work as the largest.
table(["tile", "µs for a step of 128 × 128 elements"],
      [(it, STEP_US[it][0] * 128**2 / (sides(it)[0] * sides(it)[1]))
       for it in TILES])

# %% [markdown]
# So tiles of 64 × 128 are as good as the largest, and the smallest take three quarters longer for the same work: they are for products that have few tiles.
#
# A plan takes the rounds of its whole tiles, those of its pieces, and the adding. (6.5 µs stand for a launch, 2 for each further one, the rest for each number of a part, and of `b` where it is copied, see below.)

# %%
def model_us(plan, k, n):
    """How long a plan should take: whole tiles, pieces, and adding them."""
    tile, tiles, whole, parts, length = plan
    took = 6.5 + rounds_us(tile, whole, up(k, 16))
    if n % 4:
        took += 2 + 2.2e-6 * k * n
    if whole == tiles:
        return took
    pieces, (rows, cols, _) = (tiles - whole) * parts, sides(tile)
    took += rounds_us(tile, pieces, length // 16)
    return took + 2 + 3e-6 * pieces * rows * cols

# %% [markdown]
# Now list plans (folded): for each tile whole ones, and the model's six best cuts of those that do not fill a round, or of all.
#
# **Predict.** Which tile, and about how many pieces of it, for 64 × 16384 × 64?
#
# <details><summary>Answer</summary>
#
# Tiles of 32 × 64: two, in 128 pieces each, so 256 blocks for 132 multiprocessors. A block of this tile keeps a multiprocessor for 0.42 µs alone, and two of them for 0.51: two at a time waste little. Half as many pieces, of twice the length, are lonely. Twice as many are no faster, and there is more to add. A larger tile with as many blocks has more to add.
#
# </details>

# %% tags=["hide-input"]
# Cuts each tile in many ways, and sorts the plans by the model.
def cuts_of(tile, m, k, n):
    """Plans that cut the last tiles, or all, in as many parts as may pay."""
    rows, cols, _ = sides(tile)
    tiles, deep, fit = up(m, rows) * up(n, cols), up(k, 16), TILES[tile][4]
    rest, found = tiles % CORES, set()
    for left in {rest, tiles % (CORES * fit), min(tiles, rest + CORES)} - {0}:
        for parts in range(2, deep + 1):
            if left * parts > 4 * CORES * fit:
                break
            length = 16 * up(deep, parts)
            found.add((tile, tiles, tiles - left, up(k, length), length))
    return (tile, tiles, tiles, 1, 16 * deep), found


def plans_for(m, k, n):
    """Plans for a product, those that the model likes best first."""
    def order(plan):
        return model_us(plan, k, n), plan
    found = []
    for tile in TILES:
        whole, cut = cuts_of(tile, m, k, n)
        found += [whole, *sorted(cut, key=order)[:6]]
    return sorted(found, key=order)

# %% tags=["timing", "hide-input"]
# What the model likes best for the four, and for one where it fails.
def planned(shape):
    """The model's plan for a shape, its rounds, both times, the share."""
    m, k, n = map(int, shape.split(" × "))
    plan = plans_for(m, k, n)[0]
    tile, tiles, whole, parts, length = plan
    pieces = (tiles - whole) * parts
    return (shape, tile, whole, pieces,
            f"{up(whole, CORES)} + {up(pieces, CORES)}", model_us(plan, k, n),
            baseline(f"the model's plan {shape}").median_us,
            share("one tile", shape), share("the model's plan", shape))


table(["m × k × n", "tile", "whole", "pieces", "rounds", "model, µs",
       "measured, µs", "one tile, % of cuBLAS", "this plan, % of cuBLAS"],
      [planned(it) for it in (*FOUR, "100 × 1000 × 10000")])

# %% [markdown]
# The rounds of pieces, behind the +, are short ones. By these plans the four products of the first table reach cuBLAS, or nearly: the last one takes a hundredth of its time with one tile. For the four, the model is off by an eighth at most.
#
# For the fifth it is far off: measured, the plan takes over half as long again as the model says. The model knows nothing of caches, a matrix's shape in memory, or clocks; which it is, we did not find. So measure its favourites. First, the kernel.

# %% [markdown]
# ## Over the edge
#
# The rows and columns of `c` need be no multiples of a tile's. Here are small tiles over a matrix of 7 × 10:

# %%
plot_grid_2d(blocks=(3, 2), threads=(4, 4), shape=(7, 10))

# %% [markdown]
# The tiles at the right and below hang over the edge, and what is there is not ours to read.
#
# Beyond k, zeros would do: they add nothing to any sum. (In both tiles, as 0 times NaN would be NaN.) So we want tiles that are filled up with zeros, but no `if` around the copies and no second loop for the last step.
#
# The copy can do that itself. `copy_or_zero_async(to, i, source, j, inside)` begins to copy one number of 4 bytes from global memory to shared. Where `inside` is false, it reads nothing, and brings a zero: **zero fill**. All lanes take part, and no branch is needed.

# %%
@cuda.jit
def copy_end(dst, src):
    """Copy numbers in the background, and zeros beyond the end."""
    tile = cuda.shared.array(32, float32)
    x = uint32(cuda.threadIdx.x)
    copy_or_zero_async(tile, x, src, x, x < src.size)
    commit_copies()
    wait_copies(0)
    dst[x] = tile[x]


copied = np.full(32, np.nan, np.float32)
run = emulate(copy_end)[1, 32](copied, np.arange(1, 21, dtype=np.float32))
copied, run.coalescing.by_kind["load"].sectors

# %% [markdown]
# All zeros beyond the end; and the GPU is asked for three sectors, those of the 20 numbers. `copy4_or_zero_async` does the same for four neighbours.
#
# And beyond the last row of `a` or the last column of `b`? There it does not matter what comes, since the sums of those rows and columns never get into `c`. So a thread beyond that edge copies the last row or column once more: its address is valid, and the condition has to look at k only.

# %% [markdown]
# ## A block's copies
#
# On [the ladder](24_up_the_ladder_to_cublas.ipynb) `a` was turned beforehand, so that both tiles could be copied by rows. Can that launch be spared?
# Copies of single numbers can turn it on the way. This is a warp's first copy of `a`:
#
# | lanes | in `a` | in the tile |
# |---|---|---|
# | 0 to 7 | row 0, k = 0 to 7 | column 0, rows 0 to 7 |
# | 8 to 15 | row 1, the same k | column 1 |
# | 16 to 23 | row 2 | column 2 |
# | 24 to 31 | row 3 | column 3 |
#
# In shared memory, where a row holds one k of 32 rows of `a`, they lie so:

# %%
TURNED = 36 * np.arange(16)[:, None] + np.arange(36)
plot_tile_banks(TURNED % 32, [(lane % 8, lane // 8) for lane in range(32)],
                kind="store", padding=4)

# %% [markdown]
# With four numbers of padding in each row, each has a bank of its own.
#
# `b` need not be turned, and four of its numbers can be copied at once, if its rows begin at multiples of 16 bytes. They do if n is a multiple of 4. If not, `b` is first copied into longer rows:

# %%
@cuda.jit
def pad_rows(padded, b, k, n):
    """Copy b into rows of the next multiple of 4."""
    row = cuda.blockDim.y * cuda.blockIdx.x + cuda.threadIdx.y
    col = cuda.blockDim.x * cuda.blockIdx.y + cuda.threadIdx.x
    pitch = (n + 3) // 4 * 4
    if row < k and col < pitch:
        padded[row * pitch + col] = b[row * n + min(col, n - 1)]

# %% [markdown]
# Each thread notes once where the numbers lie that it copies, from the beginning of its tile on, as numbers of 32 bits. That is where the edge is dealt with: `min` stays on the last row or column.

# %%
def make_places(tile):
    """Where the numbers lie that a thread copies, from its tile's first on."""
    _, cols, threads = sides(tile)

    @part
    def find_places(of_a, of_b, m, k, pitch, top, left):
        """Note them; at an edge, stay on the last row or column."""
        thread = uint32(cuda.threadIdx.x)
        for p in range(of_a.shape[0]):
            row = uint32(thread // 8 + threads // 8 * p)
            row = uint32(min(uint32(top + row), uint32(m - 1)) - top)
            of_a[p] = uint32(row * k + thread % 8)
        for p in range(of_b.shape[0]):
            place = uint32(4 * (thread + threads * p))
            col = uint32(left + place % cols)
            col = uint32(min(col, uint32(pitch - 4)) - left)
            of_b[p] = uint32(place // cols * pitch + col)
    return find_places

# %% [markdown]
# In each step, the tile's beginning moves on by 16 along k, and the noted places stay. So an address is an addition, and the condition a comparison with where k stops: `at + k < stop`.
#
# <details><summary>For the curious: the folded code</summary>
#
# `copy_one` begins copy `q` of a thread's: the first ones are of `a`, the others of `b`. `to` is the cell of the table above: row k, column `row`, in rows of `pitch`; each next copy is 8 rows or `below` columns further.
#
# Eight neighbours along k are a sector of `a` if k is a multiple of 8; else half of them or more lie in two.
#
# </details>

# %% tags=["hide-input"]
# Begins a thread's copies of a step's tiles, one by one.
def make_copy(tile):
    """How a thread begins its copies of a step's tiles, one by one."""
    rows, cols, threads = sides(tile)
    below, pitch = threads // 8, rows + 4
    of_a = 2 * rows // below

    @part
    def copy_one(tiles, room, a, b, places, at, stop, q):
        """Begin copy q: of a, with its rows as columns, or of b."""
        thread = uint32(cuda.threadIdx.x)
        if q < of_a:
            p, e = q // 2, 8 * (q % 2)
            row, k = uint32(thread // 8), uint32(thread % 8)
            to = uint32(room + pitch * k + row) + pitch * e + below * p
            copy_or_zero_async(tiles, to, a, places[0][p] + e,
                               uint32(at + k + e) < stop)
        else:
            p = q - of_a
            to = uint32(room + 4 * thread) + 4 * threads * p
            k = uint32(4 * (thread + threads * p)) // cols
            copy4_or_zero_async(tiles, to + 16 * pitch, b, places[1][p],
                                uint32(at + k) < stop)
    return copy_one, of_a + 16 * cols // (4 * threads)

# %% tags=["hide-input"]
# Counts the numbers of a step's tiles.
def step_size(tile):
    """How many numbers the tiles of a and b take for a step."""
    rows, cols, _ = sides(tile)
    return 16 * (rows + 4 + cols)

# %% [markdown]
# The loop around it is the ladder's: wait for a step's tiles, add up its products, while the copies of the next one are under way. It is folded. New are:
#
# - In a step, each of the first eight k adds its products, and begins an eighth of the copies.
# - There is no `if` for the last step: the copies begun in it lie beyond `stop`, so they bring zeros.

# %% [markdown]
# <details><summary>For the curious: why between the sums, and room for more steps?</summary>
#
# A warp goes on in order: if it began all copies first, its sums would have to wait until the last one is begun. No kernel here does that, so what it gains is not measured. The steps are written out, this time by halves, so that the compiler knows which copies belong to which.
#
# Most tiles have room for three or four steps, so that copies begin earlier: a block with few neighbours should need them. Tiles of 64 × 128 come with room for two and for three.
#
# </details>

# %% tags=["hide-input"]
# Clears a thread's sums, and adds the products of one k, as on the ladder.
@part
def clear(sums):
    """Set a thread's sums to zero."""
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = 0


@part
def add_step(sums, tiles, y, x, pitch, width, k):
    """Load a thread's numbers by fours, add all their products."""
    a, b = cuda.local.array(8, float32), cuda.local.array(16, float32)
    for j in range(0, sums.shape[1], 4):
        place = 16 * pitch + width * k + 16 * (j // 4) + x
        b[j], b[j + 1], b[j + 2], b[j + 3] = load4(tiles, place)
    for i in range(0, sums.shape[0], 4):
        place = pitch * k + 32 * (i // 4) + y
        a[i], a[i + 1], a[i + 2], a[i + 3] = load4(tiles, place)
    for j in range(sums.shape[1]):
        for i in range(sums.shape[0]):
            row = sums.shape[0] - 1 - i if j % 2 else i
            sums[row, j] += a[row] * b[j]

# %% tags=["hide-input"]
# Writes 16 steps out, with the copies between them.
def make_steps(tile, times=16):
    """`times` steps, written out, and the copies between them."""
    rows, cols, _ = sides(tile)
    pitch, (copy_one, copies) = rows + 4, make_copy(tile)

    @part
    def add_and_copy(sums, near, copying, k):
        """Add the products of one k, begin an eighth of the copies."""
        tiles, y, x = near
        add_step(sums, tiles, y, x, pitch, cols, k)
        if k < 8:
            for q in range(copies * k // 8, copies * (k + 1) // 8):
                copy_one(tiles, *copying, q)
    if times == 1:
        return add_and_copy
    half, n = make_steps(tile, times // 2), times // 2

    @part
    def add_steps(sums, near, copying, k):
        """The first half of the steps, then the second."""
        half(sums, near, copying, k)
        half(sums, near, copying, k + n)
    return add_steps

# %% tags=["hide-input"]
# Goes through a piece of k, step by step.
def make_add_up(tile):
    """How a block adds up its piece of a tile's sums, step by step."""
    both, rooms = step_size(tile), TILES[tile][5]
    (copy_one, copies), steps = make_copy(tile), make_steps(tile)
    ahead, pending, size = rooms - 1, rooms - 2, rooms * both
    @part
    def add_up(sums, tiles, y, x, a, b, places, pitch, at, stop):
        """Copy the tiles of the next steps while adding up these."""
        then, now, room = at, uint32(0), uint32(both * ahead)
        for s in range(ahead):
            for q in range(copies):
                copy_one(tiles, uint32(both * s), a, b, places, then, stop, q)
            commit_copies()
            a, b, then = a[16:], b[uint32(16 * pitch):], uint32(then + 16)
        while at < stop:
            wait_copies(pending)
            cuda.syncthreads()
            steps(sums, (tiles, uint32(now + y), uint32(now + x)),
                  (room, a, b, places, then, stop), 0)
            commit_copies()
            at, room = uint32(at + 16), now
            a, b, then = a[16:], b[uint32(16 * pitch):], uint32(then + 16)
            now = uint32(now + both) if now + both < size else uint32(0)
    return add_up

# %% [markdown]
# ## Store what is inside
#
# A thread's sums are stored by fours, if they are inside. Where n is no multiple of 4, each warp brings its sums into rows, in shared memory, and stores these.

# %%
def make_store(tile):
    """How a thread stores its sums, by fours."""
    high, wide = TILES[tile][:2]

    @part
    def store_sums(c, sums, y, x, rows, cols, n):
        """Store those that are inside; a row of c has n numbers."""
        for i in range(high):
            row = uint32(y + 32 * (i // 4) + i % 4)
            for j in range(0, wide, 4):
                col = uint32(x + 16 * (j // 4))
                if row < rows and col < cols:
                    store4(c, uint32(row * n + col),
                           (sums[i, j], sums[i, j + 1],
                            sums[i, j + 2], sums[i, j + 3]))
    return store_sums

# %% tags=["hide-input"]
# Stores sums where n is no multiple of 4: a warp's rows, one by one.
def make_store_rows(tile):
    """How a warp stores its threads' sums, half a row of each at a time."""
    (high, wide, _, across), halves = TILES[tile][:4], TILES[tile][1] // 8

    @part
    def store_row(c, sums, room, rows, cols, n, q):
        """Bring eight sums of each lane into rows of 32, and store these."""
        thread = uint32(cuda.threadIdx.x)
        warp, lane = uint32(thread // 32), uint32(thread % 32)
        i, h = q // halves, q % halves
        near = uint32(384 * warp + 48 * (lane // 4) + 4 * (lane % 4))
        for g in range(2):
            j = 8 * h + 4 * g
            store4(room, near + 16 * g, (sums[i, j], sums[i, j + 1],
                                         sums[i, j + 2], sums[i, j + 3]))
        cuda.syncwarp()
        top = uint32(8 * high * (warp // across) + 32 * (i // 4) + i % 4)
        col = uint32(4 * wide * (warp % across) + 32 * h + lane)
        for r in range(8):
            row = uint32(top + 4 * r)
            if row < rows and col < cols:
                c[uint32(row * n + col)] = room[384 * warp + 48 * r + lane]
        cuda.syncwarp()
    return written_out(store_row, high * halves)

# %% tags=["hide-input"]
# Writes out such rows one after another, as the steps are.
def written_out(store_row, times):
    """`times` rows, one after another."""
    if times == 1:
        return store_row
    half, count = written_out(store_row, times // 2), times // 2

    @part
    def store_some(c, sums, room, rows, cols, n, q):
        """The first half of the rows, then the second."""
        half(c, sums, room, rows, cols, n, q)
        half(c, sums, room, rows, cols, n, q + count)
    return store_some

# %% tags=["hide-input"]
# Chooses between both ways to store.
def make_store_inside(tile, fours):
    """How a block stores a whole tile: what is inside c."""
    store, store_rows = make_store(tile), make_store_rows(tile)

    @part
    def store_inside(c, sums, tiles, y, x, rows, cols, n):
        """By fours, or by rows where these are at no multiple of 4."""
        if fours:
            store(c, sums, y, x, rows, cols, n)
        else:
            wait_copies(0)
            cuda.syncthreads()
            store_rows(c, sums, tiles, rows, cols, n, 0)
    return store_inside

# %% [markdown]
# ## Whole tiles, then pieces
#
# A launch has `whole` blocks that make a whole tile, and then those that make pieces: `parts` for each tile that is left, of `length` steps of k each.

# %%
@part
def work_of(whole, parts, length, rows, cols, k, n):
    """A block's corner of c, where its k begin and stop, and its piece."""
    tile, at, stop = uint32(cuda.blockIdx.x), uint32(0), k
    piece = uint32(tile - whole)
    if tile >= whole:
        tile = uint32(whole + piece // parts)
        at = uint32(piece % parts * length)
        stop = min(k, uint32(at + length))
    breadth = uint32((n + cols - 1) // cols)
    top, left = rows * (tile // breadth), cols * (tile % breadth)
    return uint32(top), uint32(left), at, stop, piece

# %% tags=["hide-input"]
# Says where a thread's sums begin in its tile.
@part
def place_of(high, wide, across):
    """Where a thread's sums begin in its tile."""
    thread = uint32(cuda.threadIdx.x)
    warp, lane = uint32(thread // 32), uint32(thread % 32)
    return (uint32(8 * high * (warp // across) + 4 * (lane // 4)),
            uint32(4 * wide * (warp % across) + 4 * (lane % 4)))

# %% tags=["hide-input"]
# Makes a block's sums: notes places, then adds up.
def make_sum(tile):
    """How a block makes its sums: it notes places, then adds up."""
    rows, cols, threads = sides(tile)
    some_a, some_b = 8 * rows // threads, 4 * cols // threads
    find_places, add_up = make_places(tile), make_add_up(tile)

    @part
    def make_sums(sums, tiles, y, x, a, b, m, k, pitch, top, left, at, stop):
        """Begin with a and b at the piece's first numbers."""
        of_a = cuda.local.array(some_a, uint32)
        of_b = cuda.local.array(some_b, uint32)
        clear(sums)
        find_places(of_a, of_b, m, k, pitch, top, left)
        add_up(sums, tiles, y, x, a[int64(top) * k + at:],
               b[int64(at) * pitch + left:], (of_a, of_b), pitch, at, stop)
    return make_sums

# %% [markdown]
# A whole tile goes to `c`, a part of one to `work`.

# %%
def make_product(tile, fours):
    """A product by a tile, where n is a multiple of 4 or not."""
    (rows, cols, threads), make_sums = sides(tile), make_sum(tile)
    high, wide, _, across, fit, rooms = TILES[tile]
    size, store = rooms * step_size(tile), make_store(tile)
    store_inside = make_store_inside(tile, fours)

    @cuda.jit(launch_bounds=(threads, fit))
    def multiply_pieces(c, work, a, b, m, k, n, whole, parts, length):
        """Add up a tile's products, or a piece of them; store the sums."""
        tiles = cuda.shared.array(size, float32)
        sums = cuda.local.array((high, wide), float32)
        m, k, n = uint32(m), uint32(k), uint32(n)
        top, left, at, stop, piece = work_of(
            uint32(whole), uint32(parts), uint32(length), rows, cols, k, n)
        y, x = place_of(high, wide, across)
        pitch = uint32((n + 3) // 4 * 4)
        make_sums(sums, tiles, y, x, a, b, m, k, pitch, top, left, at, stop)
        if cuda.blockIdx.x < whole:
            store_inside(c[int64(top) * n + left:], sums, tiles, y, x,
                         uint32(m - top), uint32(n - left), n)
        else:
            store(work[int64(piece) * (rows * cols):], sums, y, x,
                  uint32(rows), uint32(cols), uint32(cols))
    return multiply_pieces

# %% [markdown]
# The second kernel adds up the parts: each lane four neighbours, and up to eight warps share the parts among them. (A tile's last block could do it, without a second launch; we have not measured that.)

# %%
@cuda.jit
def add_parts(c, work, m, n, whole, parts, rows, cols):
    """Add up the parts of 128 neighbours of a tile, and store the sums."""
    sums = cuda.shared.array((8, 128), float32)
    lane, group = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    groups, z = uint32(cuda.blockDim.y), uint32(cuda.threadIdx.z)
    rows, cols, area = uint32(rows), uint32(cols), uint32(rows * cols)
    at = uint32(128 * (cuda.blockDim.z * cuda.blockIdx.x + z))
    place, tile = uint32(at % area), uint32(at // area)
    near = work[int64(tile) * parts * area + uint32(place + 4 * lane):]
    r = s = t = u = float32(0)
    for p in range(group, uint32(parts), groups):
        one = load4(near, int64(p) * area)
        r, s, t, u = r + one[0], s + one[1], t + one[2], u + one[3]
    store4(sums, (uint32(groups * z + group), uint32(4 * lane)), (r, s, t, u))
    cuda.syncthreads()
    wide, tile = uint32(n + cols - 1) // cols, uint32(tile + whole)
    for e in range(32 * group + lane, 128, 32 * groups):
        total = float32(0)
        for g in range(groups):
            total += sums[uint32(groups * z + g), e]
        row = rows * (tile // wide) + uint32(place + e) // cols
        col = cols * (tile % wide) + uint32(place + e) % cols
        if row < m and col < n:
            c[int64(row) * n + col] = total

# %% [markdown]
# <details><summary>For the curious: how many blocks add parts?</summary>
#
# A warp's lanes have a strip of 128 neighbours. Where there are many parts, two, four or eight warps, the `groups`, share a strip's. A block has eight warps, so `strips * groups // 8` blocks.
#
# </details>

# %%
KERNELS = {}


def launch(plan, c, room, a, b, m, k, n):
    """Multiply by a plan, with the rows of each array one after another."""
    tile, tiles, whole, parts, length = plan
    (rows, cols, threads), fours = sides(tile), n % 4 == 0
    work, padded = room
    if not fours:
        pad_rows[(up(k, 8), up(n, 32)), (32, 8)](padded, b, k, n)
        b = padded
    if (tile, fours) not in KERNELS:
        KERNELS[tile, fours] = make_product(tile, fours)
    blocks = whole + (tiles - whole) * parts
    KERNELS[tile, fours][blocks, threads](
        c, work, a, b, m, k, n, whole, parts, length)
    if whole < tiles:
        groups = 1 if parts < 4 else 2 if parts < 8 else 4 if parts < 16 else 8
        strips = (tiles - whole) * rows * cols // 128
        add_parts[strips * groups // 8, (32, groups, 8 // groups)](
            c, work, m, n, whole, parts, rows, cols)

# %% [markdown]
# ## Let the GPU decide
#
# The model drops nearly all plans. Let the GPU decide among the first sixteen: launch each nine times, take the lowest median, remember it for this shape: **autotuning**.

# %%
@cuda.jit
def sweep(room):
    """Write to more than L2 holds, for a quarter of a millisecond."""
    for turn in range(8):
        for i in range(cuda.grid(1), room.size, cuda.gridsize(1)):
            room[i] = turn

# %% tags=["hide-input"]
# Times a plan: the median of nine launches, each after a sweep.
def measured_us(plan, room, arrays, sizes):
    """The median of nine launches, each with cold caches."""
    c, a, b = arrays
    launch(plan, c, room, a, b, *sizes)     # compiles it
    more, times = cuda.device_array(2**25, np.float32), []
    for _ in range(9):
        begin, end = cuda.event(), cuda.event()
        sweep[1024, 512](more)      # while it runs, the launches queue
        begin.record()
        launch(plan, c, room, a, b, *sizes)
        end.record()
        end.synchronize()
        times.append(1000 * cuda.event_elapsed_time(begin, end))
    return np.median(times)

# %% tags=["hide-input"]
# Makes room for the parts of a plan.
def room_for(plan, k, n):
    """Room for the parts of a plan, and for b with longer rows."""
    tile, tiles, whole, parts, _ = plan
    rows, cols, _ = sides(tile)
    of_parts = (tiles - whole) * parts * rows * cols
    of_b = k * 4 * up(n, 4) if n % 4 else 0
    return [cuda.device_array(max(1, it), np.float32)
            for it in (of_parts, of_b)]

# %%
ONE_TILE, TRIES, PLANS = "128 × 128", 16, {}


def chosen(plans, arrays, sizes):
    """The fastest of some plans, and its room; without a GPU, the first."""
    if not device.has_gpu:
        return plans[0], room_for(plans[0], *sizes[1:])
    times = {it: measured_us(it, room_for(it, *sizes[1:]), arrays, sizes)
             for it in plans}
    plan = min(times, key=times.get)
    return plan, room_for(plan, *sizes[1:])

# %%
def multiply(c, a, b):
    """Multiply matrices of any shape; the first time, choose a plan."""
    sizes = *a.shape, b.shape[1]
    if c.size == 0:
        return
    c, a, b = c.ravel(), a.ravel(), b.ravel()
    if sizes not in PLANS:
        PLANS[sizes] = chosen(plans_for(*sizes)[:TRIES], (c, a, b), sizes)
    plan, room = PLANS[sizes]
    launch(plan, c, room, a, b, *sizes)

# %% [markdown]
# Is it right? Where there is no GPU, the emulator takes the model's first plan.
#
# <details><summary>For the curious: how far may a sum be off?</summary>
#
# Each of the k steps of a sum rounds by at most u = 2⁻²⁴ of what is there, whatever the order. So an error is at most k · u / (1 - k · u) times the sum of the products without signs, in one piece or in many. That is `bound`, and the check asks for it.
#
# </details>

# %%
random = np.random.default_rng(0)


def matrices(m, k, n):
    """Room for a product, full of NaN, and its two factors."""
    a = random.random((m, k), dtype=np.float32) - float32(0.5)
    b = random.random((k, n), dtype=np.float32) - float32(0.5)
    return np.full((m, n), np.nan, np.float32), a, b


def bound(k):
    """How far a sum of k products may be from the exact one, by rounding."""
    return k * 2.0**-24 / (1 - k * 2.0**-24)


for sizes in ((1, 1, 1), (70, 13, 30), (33, 500, 65), (20, 40, 64)):
    c, a, b = matrices(*sizes)
    on_gpu = [cuda.to_device(it) for it in (c, a, b)]
    multiply(*on_gpu)
    c, a, b = on_gpu[0].copy_to_host(), a.astype(float), b.astype(float)
    check(c, a @ b)
    assert (abs(c - a @ b) <= bound(sizes[1]) * (abs(a) @ abs(b))).all()

{sizes: plan for sizes, (plan, _) in PLANS.items()}

# %% [markdown]
# ## Thirty shapes
#
# Four kinds of plans, each held to cuBLAS by turns with cold caches:

# %% tags=["timing", "hide-input"]
# Holds four kinds of plans to cuBLAS, for thirty shapes.
CUBES = (64, 128, 256, 512, 768, 1000, 1024, 1536, 2000, 2048, 3001, 4096,
         8192)
OTHERS = """4097 × 4100 × 4099, 5000 × 3000 × 7000, 1000 × 10000 × 1000,
16384 × 4096 × 64, 64 × 4096 × 16384, 4096 × 128 × 4096, 16384 × 64 × 16384,
16384 × 1024 × 256, 777 × 5000 × 123, 100 × 1000 × 10000, 2500 × 1500 × 500,
256 × 16384 × 256, 64 × 16384 × 64, 128 × 16384 × 128, 4567 × 333 × 9001,
5000 × 100 × 5000, 1023 × 1025 × 1027"""
SHAPES = [f"{n} × {n} × {n}" for n in CUBES]
SHAPES += OTHERS.replace("\n", " ").split(", ")
KINDS = "one tile", "whole tiles", "the model's plan", "any shape"
shares(SHAPES, *KINDS)

# %% [markdown]
# All thirty reach about nine tenths of cuBLAS's speed or more, and the median is 103%. *Whole tiles* is the fastest of seven plans, *any shape* of sixteen; the model alone picks the third column's plan.
#
# *One tile* loses where tiles are few or just begin another round. The best of seven whole tiles mends thin products; a deep one with one tile stays near a twentieth. Pieces mend these: 128 × 16384 × 128 goes from 6% to more than 99%.
#
# <details><summary>For the curious: smaller tiles, where there are many</summary>
#
# They pay even where there are thousands: for 5000 × 3000 × 7000 the best whole one gains 9%. The model expects 7%.
#
# </details>

# %% [markdown]
# Is the model enough? For 19 shapes, measuring changes less than 3%. For two of the others it gains 60 and 66%: for the fifth of the table above, and for 1023 × 1025 × 1027, where the model cuts the last eight tiles into 22 pieces each. For 8192 it loses 3%, though the model's plan is among the sixteen: nine launches may choose wrong.
#
# The two lowest, at 90%, are 512 × 512 × 512 and 16384 × 4096 × 64. What they lack, we did not find.

# %% [markdown]
# ## What could go wrong
#
# Let the pieces add to `c` themselves, and save the second kernel and the room for parts?

# %%
@cuda.jit
def add_pieces_wrong(c, a, b, length):
    """Each block adds its piece of a product of two vectors to c."""
    total = float32(0)
    at = length * cuda.blockIdx.x
    for k in range(at, at + length):
        total += a[k] * b[k]
    c[0] += total


run = emulate(add_pieces_wrong)[4, 1](
    np.zeros(1, np.float32), np.ones(64, np.float32),
    np.ones(64, np.float32), 16)
run.races

# %% [markdown]
# Two blocks load the same old sum. An atomic would add correctly, but in another order each time, so that a product's last bits would differ from launch to launch. (So may a plan that is measured anew: keep it if you need the same bits.) And `c` would first have to be cleared.
#
# ## On your own
#
# ★ How many rounds do 1,100 tiles take on 132 multiprocessors, one at a time, and which share of the GPU is used?
#
# <details><summary>Answer</summary>
#
# ⌈1100 / 132⌉ = 9 rounds, with places for 1,188 tiles: 93%.
#
# </details>
#
# ★★ `rows_of_any_length`: a kernel adds up rows that lie one after another, and copies them in tiles of 64 numbers, with zeros beyond a row's end. Its sums are wrong. Fix it.

# %%
task = exercise("rows_of_any_length")
task

# %%
from helpers import commit_copies, copy_or_zero_async, wait_copies


@cuda.jit
def rows_of_any_length(dst, src, length):
    """Add up a row, 64 numbers at a time, with zeros beyond its end."""
    tile = cuda.shared.array(64, float32)
    x, first = cuda.threadIdx.x, length * cuda.blockIdx.x
    total = float32(0)
    for at in range(0, length, 64):
        inside = at < length
        copy_or_zero_async(tile, x, src, first + at + x, inside)
        commit_copies()
        wait_copies(0)
        cuda.syncthreads()
        if x == 0:
            for k in range(64):
                total += tile[k]
        cuda.syncthreads()
    if x == 0:
        dst[cuda.blockIdx.x] = total


task.check(rows_of_any_length)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# from helpers import commit_copies, copy_or_zero_async, wait_copies
#
#
# @cuda.jit
# def rows_of_any_length(dst, src, length):
#     """Add up a row, 64 numbers at a time, with zeros beyond its end."""
#     tile = cuda.shared.array(64, float32)
#     x, first = cuda.threadIdx.x, length * cuda.blockIdx.x
#     total = float32(0)
#     for at in range(0, length, 64):
#         inside = at + x < length
#         copy_or_zero_async(tile, x, src, first + at + x, inside)
#         commit_copies()
#         wait_copies(0)
#         cuda.syncthreads()
#         if x == 0:
#             for k in range(64):
#                 total += tile[k]
#         cuda.syncthreads()
#     if x == 0:
#         dst[cuda.blockIdx.x] = total
# ```
#
# Right after a row's end, the next row begins.
#
# </details>
#
# ★★★ `exercise("sums_in_pieces")`: cut the sums of long rows into pieces, some of which may be empty. Where does each piece begin and end?
#
# <details><summary>Answer</summary>
#
# Round up twice: the row's tiles, then the tiles of a piece. A piece ends where its length ends, or where the row does.
#
# </details>
#
# The [assignment](assignments/35_any_shape.ipynb) has 3 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Call the library: it has more kernels than these seven, and its choice costs you nothing. Where yours must do something else, take along zero fill, pieces, and a plan for each shape.
#
# Choosing costs, too: sixteen plans are launched ten times each, and their kernels are compiled, which takes seconds. For a shape that comes once, take the model's plan.
#
# Arrays must begin at a multiple of 16 bytes, as a fresh array on the GPU does; a slice of one perhaps does not.
#
# ## Further reading
#
# - [Stream-K: work-centric parallel decomposition for dense matrix-matrix multiplication on the GPU](https://arxiv.org/abs/2301.03598): deals out steps rather than tiles.
# - [CUTLASS: efficient GEMM in CUDA](https://docs.nvidia.com/cutlass/media/docs/cpp/efficient_gemm.html): tiles, split-k and their names in NVIDIA's own library.
# - [Matrix multiplication background](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/): wave quantisation, measured.
#
# *Next:* [Find out what a loop costs](36_what_a_loop_costs.ipynb): the steps of this page were written out by hand; what would a loop have cost?
