# %% [markdown]
# # Fetch no more than you use
#
# *50 minutes*
#
# **What you'll do:** let a kernel take sixteen million numbers, first side by side and then with gaps, find out what the gaps cost, and find the same waste in structs and matrices.
#
# **What you'll learn:**
#
# - predict how many sectors a request touches, from the addresses of its lanes
# - say which bytes are wasted, and which a neighbour needs
# - lay out data and threads so that neighbouring lanes load neighbouring numbers
#
# **What you'll need:** blocks with two axes, as in [Write your first kernel](01_first_kernel.ipynb), warps and shuffles, as in [Keep a warp together](02_warps.ipynb), and caches and bytes in flight, as in [Know where a number lives](11_memory_hierarchy.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, compare, device, emulate, exercise, explore, load4,
                     measure, plot_levels, plot_requests, plot_sectors,
                     plot_times)

device

# %% [markdown]
# ## Does it matter which numbers?
#
# Each thread of this kernel takes one number of an array.
# The **stride** is the distance, in elements, to the next thread's number: with `stride=8`, the threads take every eighth. The offset moves all threads on.

# %%
@cuda.jit
def take(out, numbers, offset, stride):
    """Each thread takes one number, `stride` numbers after its neighbour's."""
    i = cuda.grid(1)
    out[i] = numbers[offset + stride * i]


few = np.arange(2**13, dtype=np.float32)
few_out = np.zeros(1024, np.float32)

take[4, 256](few_out, few, 0, 8)
check(few_out, few[::8])

# %% [markdown]
# **Predict.** Sixteen million threads take a number each, once with stride 1 and once with stride 8.
# Both launches execute the same instructions, and load and store as many numbers.
# Does the second one take longer, and how many times as long?

# %% tags=["timing", "hide-input"]
# Measures the kernel with some offsets and strides.
MANY = 2**24
GRID = MANY // 256, 256
OFFSETS, STRIDES = (1, 8, 31), (1, 2, 4, 8, 12, 16, 32)
part = np.zeros(MANY, np.float32)
spread = np.zeros(max(STRIDES) * MANY + 32, np.float32)


def taken(offset=0, stride=1):
    """The measurement of one launch, of an array as long as it needs."""
    return measure(take, bytes=8 * MANY)[GRID](
        part, spread[:stride * MANY + 32], offset, stride)


by_stride = {stride: taken(stride=stride) for stride in STRIDES}
by_offset = {offset: taken(offset) for offset in OFFSETS}
plot_times(["stride 1", "stride 8"],
           [by_stride[stride].median_us for stride in (1, 8)])

# %% [markdown]
# It takes more than two and a half times as long, for not one number more.
# What does it do more of?
#
# ## Sectors and lines
#
# A thread does not load alone.
# The 32 **lanes** of a warp execute a load together, and what they ask for is one **request**.
#
# Nor does a cache fetch single bytes, but whole **sectors**: 32 bytes that begin at a multiple of 32.
# Four sectors that begin at a multiple of 128 are a **line**.
# So what counts is which sectors a request *touches*: each in which some lane asks for a byte. It is needed once, however many lanes ask for it, and whole, however few bytes they use.

# %%
def lanes_at(offset=0, stride=1, itemsize=4):
    """The byte addresses of 32 lanes that lie `stride` elements apart."""
    return [itemsize * (offset + stride * lane) for lane in range(32)]


plot_sectors(lanes_at())

# %% [markdown]
# This is a request with stride 1: each strong box is what the lane with that number loads.
# The request touches four sectors and uses all their bytes.
# A request that touches no more sectors than its bytes fill is **coalesced**.
#
# **Predict.** How many sectors does a request touch at stride 2? At stride 8, and at stride 32? And at stride 1 with offset 1?
#
# <details><summary>Answer</summary>
#
# Stride 2: 8, each half used.
# Strides 8 and 32: 32, one for each lane. That is the most for elements of 4 bytes.
# Offset 1: 5 sectors, because the last lane reaches into the fifth.
#
# </details>

# %%
def draw_request(offset=0, stride=8):
    """The request of a warp whose lanes lie `stride` elements apart."""
    return plot_sectors(lanes_at(offset, stride))


explore(draw_request, offset=[0, 1], stride=(0, 9))

# %% [markdown]
# From stride 8 on, each lane has a sector of its own, and 28 of its 32 bytes are faint.
# (At stride 0 all lanes load the same number, and one sector is enough.)
#
# So the rule of this page is: **let neighbouring lanes load and store neighbouring numbers.**
# What follows says what it costs to break it, and when it costs nothing.
#
# The emulator counts it for the real kernel: look at the sectors of its load.

# %%
emulate(take)[4, 256](few_out, few, 0, 8)

# %% [markdown]
# (Shared memory, which the report names, comes on the next page.)
#
# ## Who needs the rest of a sector?
#
# The GPU counts sectors, too: those that requests touch, those that L1 asks of L2, and those that L2 asks of memory. The figure shows them as bytes, loads and stores together.
#
# **Predict.** At stride 8 the loads touch eight times as many sectors as at stride 1. How many of these come from a cache, so that memory need not deliver them?

# %% tags=["timing", "hide-input"]
# Draws what was requested from each level.
shown = {f"stride {stride}": by_stride[stride] for stride in (1, 2, 4, 8)}
plot_levels({f"{name}, {m.median_us:,.0f} µs": m.traffic
             for name, m in shown.items()})

# %% [markdown]
# None come from a cache.
# At stride 8 all three levels move the same bytes: the stores, and a whole sector for each number loaded. (At stride 1, memory has less: some stores were still in L2.)
# A cache helps only if somebody asks for what it holds, and nobody does.
#
# How much of this is memory's, and how busy that keeps it, stands here. (The last three strides are for a fold further down.)

# %% tags=["hide-input"]
# Tabulates the same launches, and longer strides.
compare(by_stride, "GB loaded from L2", "GB read from memory",
        "GB through memory", "memory busy, %", "µs", by="stride")

# %% [markdown]
# Yet the time grows less than the bytes do. At stride 1 memory is busy half of the time, and could deliver these bytes in 28 µs, at the rate of stride 8; but 65,536 blocks have to [start](01_first_kernel.ipynb), which takes 43 even if they do nothing. Whether that is why is not shown. At strides 4 and 8 it is nearly always busy.
#
# **Predict.** With offset 1, each load touches five sectors instead of four. Must L2 deliver a quarter more?

# %% tags=["timing", "hide-input"]
# Compares the offsets.
compare({offset: (m, emulate(take)[4, 256](few_out, few, offset, 1))
         for offset, m in ({0: by_stride[1]} | by_offset).items()},
        "sectors per load", "sectors from L2 per warp", by="offset")

# %% [markdown]
# No. 4.12 sectors a warp are 33 for a block of eight warps, in place of 32.
#
# The fifth sector is the first one of the next warp's request. So somebody does need the rest, and L1 fetches it for both. Only the last warp's neighbour is elsewhere, in another block.
#
# So do not count the sectors of one request alone.
# **Ask who needs the rest of each sector.** If nobody does, memory has delivered it for nothing.

# %% [markdown]
# <details><summary>For the curious: beyond a sector</summary>
#
# On the clock of this launch the fifth sector costs nothing: offset 1 takes as long as offset 8, which touches four.
#
# From stride 8 to 16, L1 and L2 are asked for no more, and yet the time nearly doubles: memory delivers twice the bytes.
# The L2 of this GPU fetches pieces of 64 bytes, two sectors, and now one of the two goes unused.
# At stride 12 the lanes are 48 bytes apart and touch each piece of 64: memory delivers 0.805 GB, all that lies between.
#
# A view `a[1:]` of a device array has offset 1. On such a view `load4` faults: its address is no multiple of 16.
#
# </details>
#
# ## A stride in disguise: structs
#
# Strides rarely look like strides.
# A particle has three coordinates and a mass. You may keep a record for each particle, an **array of structs**, or an array for each field, a **struct of arrays**.
# Now a kernel needs the masses alone.
#
# **Predict.** How many sectors does its request touch in the array of structs?

# %%
@cuda.jit
def take_mass(out, particles):
    """Each thread takes the mass of one particle."""
    i = cuda.grid(1)
    out[i] = particles[i].mass


fields = [(name, np.float32) for name in ("x", "y", "z", "mass")]
# without `align=True`, Numba would load a number byte by byte
structs = np.zeros(1024, np.dtype(fields, align=True))
structs["mass"] = few[:1024]

take_mass[4, 256](few_out, structs)
check(few_out, structs["mass"])

# %%
plot_requests({"mass, structs": [16 * lane + 12 for lane in range(32)],
               "mass, arrays": lanes_at()})

# %% [markdown]
# The masses lie 16 bytes apart: that is stride 4, and 16 sectors.
# And what if a kernel needs all four fields?

# %%
@cuda.jit
def add_fields(out, particles):
    """Each thread adds up all four numbers of one particle."""
    i = cuda.grid(1)
    one = particles[i]
    out[i] = one.x + one.y + one.z + one.mass


@cuda.jit
def add_fields_apart(out, x, y, z, mass):
    """Each thread adds up all four numbers of one particle."""
    i = cuda.grid(1)
    out[i] = x[i] + y[i] + z[i] + mass[i]


# %% tags=["timing", "hide-input"]
# Measures one field and all fields, in both layouts.
structs = np.zeros(MANY, structs.dtype)
x, y, z, mass = (np.zeros(MANY, np.float32) for _ in fields)
layouts = {
    ("mass", "structs"): measure(take_mass)[GRID](part, structs),
    ("mass", "arrays"): by_stride[1],
    ("all four", "structs"): measure(add_fields)[GRID](part, structs),
    ("all four", "arrays"): measure(add_fields_apart)[GRID](
        part, x, y, z, mass)}

compare(layouts, "sectors from L2 per warp",
        {"MB read from memory":
         lambda m: m.counters.get("memory_read_bytes", np.nan) / 1e6},
        "µs", by=("needed", "layout"))

# %% [markdown]
# From structs, the mass alone takes as long as all four fields, because memory delivers whole particles either way.
# From an array of masses, which is `take` with stride 1, memory delivers a quarter, and the kernel takes less than two thirds of the time.
#
# For all four fields, both layouts take the same time.
# Here somebody needs the rest of a sector: the thread itself, whose four loads touch it one soon after the other. L1 requests it once.

# %% [markdown]
# So arrays of fields lose nothing when all are needed, and win when one is: keep apart what is not used together.
#
# This holds where neighbouring lanes take neighbouring particles. If each lane takes a particle from anywhere, a struct is better: its 16 bytes are in one sector, and those from four arrays are in four.

# %% [markdown]
# ## Side by side, or a row apart
#
# In a matrix the numbers of a row lie side by side, and those of a column a whole row apart.
# Here are two copies by the same blocks, of 32 × 32 threads.
# The lanes of a warp differ in `x`. One copy takes it as the column, the other as the row:

# %%
@cuda.jit
def copy_along(dst, src):
    """Each thread copies one element, with x as its column."""
    col, row = cuda.grid(2)
    dst[row, col] = src[row, col]


@cuda.jit
def copy_down(dst, src):
    """Each thread copies one element, with x as its row."""
    col = 32 * cuda.blockIdx.x + cuda.threadIdx.y
    row = 32 * cuda.blockIdx.y + cuda.threadIdx.x
    dst[row, col] = src[row, col]


SIDE = 256
matrix = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32)
copied = np.zeros_like(matrix)

for kernel in copy_along, copy_down:
    kernel[(SIDE // 32, SIDE // 32), (32, 32)](copied, matrix)
    check(copied, matrix)

# %% [markdown]
# (This page's sizes fit their blocks, so its kernels have no guard.)

# %%
plot_requests({"copy_along": lanes_at(), "copy_down": lanes_at(stride=SIDE)})

# %% [markdown]
# Keep this picture: the lanes of `copy_along` share one line, and those of `copy_down` need a sector each, and use an eighth of it.
# What counts is not where *one* thread goes, but where the 32 *lanes* are at the same moment.

# %% tags=["timing", "hide-input"]
# Counts both on the small matrix, and measures them on a large one.
LARGE = 8192
src, dst = np.zeros((2, LARGE, LARGE), np.float32)
copies = {kernel: (
    measure(kernel)[(LARGE // 32, LARGE // 32), (32, 32)](dst, src),
    emulate(kernel)[(SIDE // 32, SIDE // 32), (32, 32)](copied, matrix))
    for kernel in (copy_along, copy_down)}

compare({"x to the column": copies[copy_along],
         "x to the row": copies[copy_down]},
        "sectors per request", "sectors from L2 per warp",
        "sectors to L2 per warp", "µs", by="copy")

# %% [markdown]
# With x to the row, the copy takes more than three and a half times as long.
#
# The *block* needs the same sectors in both.
# A sector holds eight columns, and each warp of the block has a column of its own, so this time somebody does need the rest.
# In the loads that helps: L1 asks L2 for each sector once.
# In the stores it does not: L1 passes on what each request stores, 32 sectors at a time. (Memory reads no more for that: 268 MB in both copies.)
#
# **Is it the stores that are slow?** Go down a column on one side alone. Such a kernel is no copy but a *transpose*, which swaps rows and columns; it moves as many numbers, by the same blocks:

# %%
@cuda.jit
def store_down(dst, src):
    """Each thread moves one element, from a row into a column."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


@cuda.jit
def load_down(dst, src):
    """Each thread moves one element, from a column into a row."""
    col, row = cuda.grid(2)
    dst[row, col] = src[col, row]


for kernel in store_down, load_down:
    kernel[(SIDE // 32, SIDE // 32), (32, 32)](copied, matrix)
    check(copied, matrix.T)

# %% tags=["timing", "hide-input"]
# Compares all four, on the large matrix.
SIDES = {("along", "along"): copy_along, ("down", "along"): load_down,
         ("along", "down"): store_down, ("down", "down"): copy_down}
sides = {side: measure(kernel)[(LARGE // 32, LARGE // 32), (32, 32)](dst, src)
         for side, kernel in SIDES.items()}

compare(sides, "sectors from L2 per warp", "sectors to L2 per warp", "µs",
        by=("loads", "stores"))

# %% [markdown]
# Yes. With the stores down a column, a kernel takes as long as `copy_down`, or nearly, whatever its loads do. With the loads down a column it takes half as long again as `copy_along`.
#
# So if one side must be scattered, let it be the loads, and let the rest of their sectors be needed soon. [Know when a cache makes up for it](17_when_l1_makes_up.ipynb) says how soon.

# %% [markdown]
# ## Four numbers a thread
#
# Let each thread copy four elements.
# On a CPU you would give it four *in a row*. On a GPU its next element could also lie a whole block further on.
#
# A pair of numbers says which, as the comments show:

# %%
EACH = 4
IN_A_ROW    = 4, 1      # thread t takes 4t, 4t + 1, 4t + 2, 4t + 3
BLOCK_APART = 1, 256    # thread t takes t, t + 256, t + 512, t + 768


@cuda.jit
def copy_in_turn(dst, src, store, load):
    """Each thread copies 4 elements, one after the other."""
    block, t = EACH * cuda.blockDim.x * cuda.blockIdx.x, cuda.threadIdx.x
    for k in range(EACH):
        value = src[block + load[0] * t + load[1] * k]
        dst[block + store[0] * t + store[1] * k] = value


for places in IN_A_ROW, BLOCK_APART:
    copy_in_turn[1, 256](few_out, few, places, places)
    check(few_out, few[:1024])

# %% [markdown]
# **Predict.** Which of the two is coalesced? Look at the lanes of one warp at `k = 0`:

# %%
plot_requests({"IN_A_ROW, k = 0": lanes_at(stride=4),
               "BLOCK_APART, k = 0": lanes_at()})

# %% [markdown]
# `BLOCK_APART`, the one that looks scattered.
# With four in a row for each thread, the lanes are four elements apart, and a request touches 16 sectors. But the threads themselves need the rest of them, in the next three steps.
#
# **Predict.** Does a cache make up for these sectors, in the loads and in the stores?

# %% tags=["timing", "hide-input"]
# Measures both places, in the loads and in the stores.
COPIED = 2**26
names = {"a block apart": BLOCK_APART, "in a row": IN_A_ROW}
fours = {(load, store): measure(copy_in_turn)[COPIED // 1024, 256](
    dst.ravel(), src.ravel(), names[store], names[load])
    for store in names for load in names}

compare(fours, "sectors from L2 per warp", "sectors to L2 per warp", "µs",
        by=("a thread's loads", "its stores"))

# %% [markdown]
# In the loads it does: L1 asks L2 for hardly more. In the stores it does not: nearly four times as many sectors arrive in L2, and the launch takes 1.9 or 2.4 times as long, by what its loads do. (Where the two differ, numbers change places: that is no copy.) With the loads alone in a row, it is even the fastest of the four; why, these counters do not say.

# %% [markdown]
# ## Four neighbours at once
#
# A thread can have neighbours *and* leave its lanes side by side, if it loads the neighbours at once.
# `load4`, from the page before, loads 16 bytes, the most on this GPU. (`store4` stores as many.)
# A warp's request then fills 16 sectors, uses all of them, and is coalesced.
#
# Try it in sums of rows, with a warp for each row, whose lanes add up their sums by [shuffles](02_warps.ipynb).
# First a lane takes every 32nd number:

# %%
@cuda.jit
def sum_rows_by_warps(out, matrix):
    """Each warp adds up one row, each lane every 32nd number of it."""
    row = cuda.grid(1) // 32
    total = float32(0)
    for col in range(cuda.laneid, matrix.shape[1], 32):
        total += matrix[row, col]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
    if cuda.laneid == 0:
        out[row] = total


sums = np.zeros(SIDE, np.float32)
sum_rows_by_warps[SIDE // 2, 64](sums, matrix)
check(sums, matrix.sum(axis=1))

# %% [markdown]
# And then every 32nd four (`load4` needs rows whose length is a multiple of 4):

# %%
@cuda.jit
def sum_rows_by_fours(out, numbers, cols):
    """Each warp adds up one row, four neighbours a lane."""
    row = cuda.grid(1) // 32
    total = float32(0)
    for col in range(4 * cuda.laneid, cols, 128):
        a, b, c, d = load4(numbers, row * cols + col)
        total += a + b + c + d
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
    if cuda.laneid == 0:
        out[row] = total


sum_rows_by_fours[SIDE // 2, 64](sums, matrix.ravel(), SIDE)
check(sums, matrix.sum(axis=1))

# %% [markdown]
# **Predict.** Both are coalesced. Does the second one gain?

# %% tags=["timing", "hide-input"]
# Compares row sums by as many threads.
TALL = 16_384
large = np.zeros((TALL, TALL), np.float32)
totals, grid = np.zeros(TALL, np.float32), (TALL // 2, 64)
by_ones = measure(sum_rows_by_warps, bytes=large.nbytes)[grid](totals, large)
by_fours = measure(sum_rows_by_fours, bytes=large.nbytes)[grid](
    totals, large.ravel(), TALL)

compare({"every 32nd number": by_ones, "every 32nd four": by_fours},
        "µs", "GB/s", "memory busy, %", by="a lane's share")

# %% [markdown]
# It takes a sixth less time, and keeps memory busy nearly all of it: it may have more bytes in flight, and it has fewer instructions for each number; which of them it is, this does not say.
#
# So a lane may have four neighbours, if it takes them in one load.

# %% [markdown]
# ## What changed
#
# | launch | sectors per request | who needs the rest | times as long as |
# |---|---:|---|---|
# | `take`, offset 1 | 5 | the next warp, from L1 | 1.00, offset 8 |
# | `take`, stride 8 | 32 | nobody | 2.6, stride 1 |
# | `take_mass`, structs | 16 | nobody | 1.6, from an array |
# | `load_down` | 32 | other warps, from L1 | 1.5, `copy_along` |
# | `store_down` | 32 | other warps; L1 collects next to nothing | 3.4, `copy_along` |
# | `copy_in_turn`, in a row | 16 | the thread; L1 collects next to nothing | 1.9, a block apart |
# | `sum_rows_by_fours` | 16 | there is no rest | 0.8, by ones |

# %% [markdown]
# ## On your own
#
# ★ How many sectors does a request of `float64` with stride 2 touch? And one of `int8` with stride 32? Guess, then ask `plot_sectors(lanes_at(0, 2, 8), 8)` and `plot_sectors(lanes_at(0, 32, 1), 1)`.
#
# <details><summary>Answer</summary>
#
# 16 and 32: the lanes of the first are 16 bytes apart, so two share a sector; those of the second are 32 bytes apart, and each has its own.
#
# </details>
#
# ★ `mirror`: mirror a matrix, left for right, with at most 4 sectors per request.

# %%
task = exercise("mirror")
task

# %%
@cuda.jit
def mirror(out, a):
    """Each thread moves one element."""
    rows, cols = a.shape
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.y * 4 + cuda.threadIdx.x // 8
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.x % 8
    if row < rows and col < cols:
        out[row, cols - 1 - col] = a[row, col]


task.check(mirror)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def mirror(out, a):
#     """Each thread moves one element."""
#     rows, cols = a.shape
#     col, row = cuda.grid(2)
#     if row < rows and col < cols:
#         out[row, cols - 1 - col] = a[row, col]
# ```
#
# `x` goes to the column, so the lanes of a warp are side by side in a row.
# The stores run backwards, and touch 4 sectors all the same: it matters which sectors are touched, not in which order.
#
# </details>

# %% [markdown]
# ★ Pixels are bytes, red, green and blue in turn, and each thread takes the red of one. How many sectors does a request touch, of how many lines? Who needs the rest, if a later kernel takes green? And if this one takes all three?
#
# <details><summary>Answer</summary>
#
# 32 lanes, 3 bytes apart, span 94 bytes: 3 sectors, in 1 line or, as each warp begins 96 bytes on, in 2. For red alone, two thirds are for nobody: the later kernel comes when the image has left the caches, unless it is small. If each thread takes all three, its next two loads need them, and find them in L1.
#
# </details>
#
# ★★ `exercise("take_apart")`: take an array of structs apart into four arrays, so that no request touches more sectors than its bytes fill.
#
# The [assignment](assignments/12_coalescing.ipynb) has 7 exercises, these among them.

# %% [markdown]
# ## In practice
#
# In Nsight Compute, what loads move at the three levels is `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` and `lts__t_sectors_srcunit_tex_op_read.sum`, in sectors, and `dram__bytes_read.sum`, in bytes.
#
# Whole arrays begin at a multiple of 256 bytes; the rows of a matrix begin at a multiple of 32 only if their length allows it.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Best Practices Guide, coalesced access](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#coalesced-access-to-global-memory): the same experiments with offsets and strides, in C++.
# - [How to access global memory efficiently](https://developer.nvidia.com/blog/how-access-global-memory-efficiently-cuda-c-kernels/): the classic explanation.
#
# *Next:* [Use a tile where it pays](13_shared_memory.ipynb): a transpose has its lanes in a column on one side; can they be side by side on both?
