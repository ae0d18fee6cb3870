# %% [markdown]
# # Fetch no more than you use
#
# *45 minutes*
#
# **What you'll do:** find out which of two kernels requests eight times as many bytes as it uses, watch it win all the same, and find out when it loses.
#
# **What you'll learn:**
#
# - predict how many sectors a request touches, from the addresses of its lanes
# - tell three counts apart: the bytes requested from L1, from L2 and from memory
# - lay out data and threads so that neighbouring lanes load neighbouring numbers, and say when a cache makes up for it
#
# **What you'll need:** threads and blocks, as in [Write your first kernel](01_first_kernel.ipynb), and the caches, as in [Know where a number lives](11_memory_hierarchy.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, explore, load4, measure,
                     plot_levels, plot_sectors, plot_series, plot_sweeps,
                     store4, table)

device

# %% [markdown]
# ## Which sum is wasteful?
#
# Two kernels add up the same matrix.
# **Each thread adds up one row.**
# **Each thread adds up one column.**
#
# Both load each number once.
# A thread of `sum_rows` walks along a row, number by number, the order that suits a CPU's caches; a thread of `sum_columns` jumps a whole row at each step.
# One of the two requests eight times as many bytes as the other.
# Which one, and is it slower?

# %%
@cuda.jit
def sum_rows(out, matrix):
    """Each thread adds up one row."""
    row = cuda.grid(1)
    total = float32(0)
    for col in range(matrix.shape[1]):
        total += matrix[row, col]
    out[row] = total


@cuda.jit
def sum_columns(out, matrix):
    """Each thread adds up one column."""
    col = cuda.grid(1)
    total = float32(0)
    for row in range(matrix.shape[0]):
        total += matrix[row, col]
    out[col] = total


# %%
SIDE = 256
matrix = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32)
sums = np.zeros(SIDE, np.float32)

sum_rows[4, 64](sums, matrix)
check(sums, matrix.sum(axis=1))
sum_columns[4, 64](sums, matrix)
check(sums, matrix.sum(axis=0))

# %% [markdown]
# ## Sectors and lines
#
# The 32 **lanes** of a warp execute a load together, and what they ask for is one **request**.
#
# Caches deliver whole **sectors**: 32 bytes that begin at a multiple of 32.
# Four sectors that begin at a multiple of 128 are a **line**.
# A request touches each sector that holds at least one byte that a lane asks for.
# However many lanes ask for bytes of a sector, the request gets it once.
# So whatever a lane asks for, the bytes *requested* are counted in whole sectors.
#
# Let the lanes of a warp load neighbouring numbers of 4 bytes:

# %%
def lanes_at(offset=0, stride=1, itemsize=4):
    """The byte addresses of 32 lanes that lie `stride` elements apart."""
    return [itemsize * (offset + stride * lane) for lane in range(32)]


plot_sectors(lanes_at())

# %% [markdown]
# Each row of the figure is a line, and each strong box is what the lane with that number loads.
# The request touches 4 sectors and uses each of their 128 bytes.
# A request that touches no more sectors than its bytes fill is **coalesced**.
#
# **Predict.** How many sectors does the request touch if each lane loads the next element instead of its own? If the lanes lie two elements apart? And 32 apart?
#
# <details><summary>Answer</summary>
#
# One element on: 5 sectors, because the last lane reaches into the fifth.
# Two apart: 8, each half used.
# 32 apart: 32, one for each lane. That is the most for elements of 4 bytes.
#
# </details>

# %%
def draw_request(offset=1, stride=1):
    """The request of a warp whose lanes lie `stride` elements apart."""
    return plot_sectors(lanes_at(offset, stride))


explore(draw_request, offset=[0, 1], stride=(0, 9))

# %% [markdown]
# Faint bytes come along although no lane asks for them: here one element in front, and seven behind.
# Move the sliders, and find the first stride that touches 32 sectors.
# (It is 8, where the lanes are 32 bytes apart. From there on, elements of 4 bytes leave 28 of each sector's 32 bytes unused.)
# Stride 0 is the other extreme: all lanes load the same number, and one sector is enough.
#
# ## Count: rows and columns
#
# In `sum_rows`, neighbouring lanes have neighbouring rows.
# At each step of the loop, the 32 lanes of a warp load numbers that lie a whole row apart.

# %%
emulate(sum_rows)[4, 64](sums, matrix)

# %%
emulate(sum_columns)[4, 64](sums, matrix)

# %% [markdown]
# `sum_rows` is the wasteful one: its requests touch 32 sectors each, those of `sum_columns` 4.
# This count does not depend on where *one* thread goes next.
# It depends on where the 32 *lanes* are at the same moment, and neighbouring lanes should load neighbouring numbers.
#
# Now the time, for 16,384 rows of 16,384 numbers, 1.07 GB: each kernel runs 16,384 threads.

# %% tags=["timing"]
TALL = 16_384
large = np.zeros((TALL, TALL), np.float32)
totals = np.zeros(TALL, np.float32)

rows, columns = (
    measure(kernel, bytes=large.nbytes)[TALL // 64, 64](totals, large)
    for kernel in (sum_rows, sum_columns))

plot_levels({f"{m.kernel}, {m.median_us:,.0f} µs": m.traffic
             for m in (rows, columns)})

# %% [markdown]
# The wasteful kernel wins: it takes about three quarters of the time.
#
# The bars are the bytes that lanes request from L1, L1 from L2, and L2 from memory.
# The requests of `sum_rows` touch 8.59 GB of sectors, eight times as much as those of `sum_columns`.
# But L1 requests 1.07 GB from L2, the matrix once: each lane's next 4 bytes are in its sector, which L1 still has.
#
# Below L1, both kernels move the same bytes, at less than a fifth of the rate of the driver's copy: what CUDA itself reaches when it copies one array on the GPU to another.
# They have few warps, 6% of those that fit the GPU, and 86% and 89% of their waiting is for loads.
# In `sum_rows`, L1 answers seven of eight loads; in `sum_columns`, each one waits for memory.

# %% [markdown]
# ## The same sums by more threads
#
# How can more threads share these sums? Cut each row, or each column, into strips.
# **Each thread adds up a strip of a row.**
# **Each thread adds up a strip of a column.**
# Several threads add to the same sum, and `cuda.atomic.add` makes each addition to `out` one indivisible step.

# %%
@cuda.jit
def sum_rows_in_strips(out, matrix, strip):
    """Each thread adds up a strip of a row."""
    row, part = cuda.grid(2)
    total = float32(0)
    for k in range(strip):
        total += matrix[row, part * strip + k]
    cuda.atomic.add(out, row, total)


@cuda.jit
def sum_columns_in_strips(out, matrix, strip):
    """Each thread adds up a strip of a column."""
    col, part = cuda.grid(2)
    total = float32(0)
    for k in range(strip):
        total += matrix[part * strip + k, col]
    cuda.atomic.add(out, col, total)

# %% [markdown]
# Row sums can be coalesced, too, if the lanes of a warp share a row.
# **Each warp adds up one row, its lanes side by side.**
# A lane adds up every 32nd number of the row.
# Then the lanes add up their sums by shuffles, as in [Keep a warp together](02_warps.ipynb), until lane 0 has the sum of all.

# %%
@cuda.jit
def sum_rows_by_warps(out, matrix):
    """Each warp adds up one row, its lanes side by side."""
    row = cuda.grid(1) // 32
    total = float32(0)
    for col in range(cuda.laneid, matrix.shape[1], 32):
        total += matrix[row, col]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
    if cuda.laneid == 0:
        out[row] = total


run = emulate(sum_rows_by_warps)[SIDE // 2, 64](sums, matrix)
check(sums, matrix.sum(axis=1))
for kernel, axis in (sum_rows_in_strips, 1), (sum_columns_in_strips, 0):
    sums[:] = 0
    kernel[(4, 8), 64](sums, matrix, 32)
    check(sums, matrix.sum(axis=axis))
run

# %% tags=["timing"]
STRIPS = 16_384, 8192, 2048, 512, 32
threads = [large.size // strip for strip in STRIPS]


def over_strips(kernel):
    """The times of a kernel for each length of a strip."""
    return [measure(kernel, bytes=large.nbytes)[(TALL // 64, TALL // n), 64](
        totals, large, n) for n in STRIPS]


row_strips = over_strips(sum_rows_in_strips)
column_strips = over_strips(sum_columns_in_strips)
by_warps = measure(sum_rows_by_warps, bytes=large.nbytes)[TALL // 2, 64](
    totals, large)
warps_us = [by_warps.median_us if n == 512 else None for n in STRIPS]

plot_series(
    threads, {"a strip of a row": [m.median_us for m in row_strips],
              "a strip of a column": [m.median_us for m in column_strips],
              "a warp for each row": warps_us},
    xlabel="threads, each with its share of the same numbers", scale="log",
    limit_us=large.nbytes / rows.copy_gb_per_s / 1e3,
    limit_label="at the rate of the driver's copy")

# %% [markdown]
# Each point adds up the same numbers; along a line, only the length of the strips changes.
# With 16,384 threads a strip is a whole row or column; these kernels then take 3% and 5% longer than the first two, and execute 11% and 9% more instructions.
#
# Twice the threads almost halve the time of column sums at first: twice as many loads are in flight.
# Row sums gain less than 5% from more than 32,768 threads.
# In the end, column sums are three times as fast.
#
# What stops the row sums?

# %% tags=["timing"]
def line_of(m, count):
    """A launch: its time, the bytes requested, and how busy each level is."""
    moved = [m.traffic.get(it, np.nan) / 1e9 for it in ("L1", "L2", "memory")]
    busy = [m.counters.get(f"{it}_percent")
            for it in ("l1_data", "memory", "issue")]
    return m.kernel.removeprefix("sum_"), count, m.median_us, *moved, *busy


table(["sums", "threads", "µs", "GB requested from L1", "from L2",
       "from memory", "L1 data path busy, %", "memory busy, %",
       "issue slots used, %"],
      [*(line_of(strips[k], threads[k])
         for strips in (row_strips, column_strips) for k in (0, 2, -1)),
       line_of(by_warps, 32 * TALL)])

# %% [markdown]
# L1 does: from 32,768 threads on, its data path is 94% to 99% busy.
# Here a request for 32 lines keeps it busy for 32 cycles, a request for one line for one.
# From 131,072 threads on, L1 also drops sectors too early, and requests them again.
#
# At 131,072, memory delivers the same bytes to both sums, and row sums take 2.6 times as long.
# So let neighbouring lanes load neighbouring numbers even where caches spare memory the extra bytes.
# A warp for each row does: it is 3.5 times as fast as strips with as many threads.
#
# The fastest column sums reach 74% of the rate of the driver's copy.
# They use 70% of the issue slots, and wait less for loads than for issue slots and arithmetic units.

# %% [markdown]
# ## Offsets and strides
#
# A thread that adds up a row comes back for the rest of each sector.
# A thread that copies does not.
# **Each thread copies 4 elements, a block apart: first it loads all, then it stores all.**
#
# The `offset` shifts the loads, and the `stride` spreads them; the stores stay coalesced.

# %%
EACH = 4


@cuda.jit
def copy_four(dst, src, offset, stride):
    """Each thread copies 4 elements, a block apart."""
    values = cuda.local.array(EACH, float32)
    first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    for k in range(EACH):
        i = first + k * cuda.blockDim.x
        values[k] = src[offset + stride * i]
    for k in range(EACH):
        dst[first + k * cuda.blockDim.x] = values[k]


few = np.arange(2**16, dtype=np.float32)
few_out = np.zeros(1024, np.float32)


def load_sectors(offset=0, stride=1):
    """Sectors of each load request of `copy_four`."""
    run = emulate(copy_four)[1, 256](few_out, few, offset, stride)
    check(few_out, few[offset::stride][:1024])
    loads = run.coalescing.by_kind["load"]
    return loads.sectors / loads.requests


# %% tags=["timing"]
OFFSETS = 0, 1, 8, 16, 31, 32
STRIDES = 1, 2, 4, 8, 12, 16, 24, 32
PART = 2**24
part, wide = np.zeros(PART, np.float32), np.zeros(32 * PART + 32, np.float32)


def sweep(offsets, strides):
    """The time of `copy_four` for each offset or each stride."""
    return [measure(copy_four, bytes=8 * PART)[PART // 1024, 256](
        part, wide[:stride * PART + 32], offset, stride)
        for offset in offsets for stride in strides]


def moved(m):
    """What memory delivers, by its counter, and takes, in GB/s."""
    loaded = m.counters.get("memory_read_bytes", np.nan)
    return (loaded + part.nbytes) / m.median_us / 1e3


shifted, strided = sweep(OFFSETS, [1]), sweep([0], STRIDES)

# %% tags=["timing"]
plot_sweeps({
    "offset, in elements": (
        OFFSETS, [load_sectors(offset) for offset in OFFSETS],
        [m.gb_per_s for m in shifted], [moved(m) for m in shifted]),
    "stride, in elements": (
        STRIDES, [load_sectors(stride=stride) for stride in STRIDES],
        [m.gb_per_s for m in strided], [moved(m) for m in strided])},
    strided[0].copy_gb_per_s)

# %% [markdown]
# Offsets are on the left and strides on the right, on the same scales.
# A bar is the useful rate: the bytes that you want copied.
# A diamond also counts what memory delivers and no lane asks for.
#
# An offset adds one sector to each load request, unless it is a multiple of 8 elements.
# The rate falls by 2% at most: at offset 8, without an extra sector, as much as at 31.
# The fifth sector of one request is the first of the next, and L1 still has it: from L2 it requests one sector more per block, 0.8%.
#
# With a stride, no other request needs the rest of a sector.
# The bars fall, while memory moves 85% or more of what the driver's copy moves.

# %% tags=["timing"]
table(["stride", "sectors per load", "MB requested from L1", "from L2",
       "from memory", "µs"],
      [[stride, load_sectors(stride=stride),
        *(32e-6 * m.counters.get(name, np.nan)
          for name in ("global_load_sectors", "l2_read_sectors")),
        m.counters.get("memory_read_bytes", np.nan) / 1e6, m.median_us]
       for stride, m in zip(STRIDES, strided, strict=True)])

# %% [markdown]
# The table counts loads; the stores are 67 MB each time.
# From stride 1 to 8, loads and stores together grow from 134 to 604 MB, 4.5 times, and the time 3.9 times: at stride 1, memory moves 3,580 GB/s, and at stride 8, 4,168.
#
# From 8 to 16, L1 requests no more, and the copy still takes 1.8 times as long.
# Memory delivers twice the bytes: this GPU's L2 fetches pieces of 64 bytes, two sectors.
# At stride 12 the lanes are 48 bytes apart and touch each piece: 805 MB, all that lies between.
#
# At 24 and 32 no more bytes move than at 16, and the time still rises, by 16% at 32.
# These counters do not say why.

# %% [markdown]
# ## Wider elements
#
# **Predict.** Lanes side by side load 1, 2, 4, 8 and 16 bytes each. How many sectors is each request, and which copy takes longest?
#
# **Each thread copies one element.**
# **Each thread copies 4 neighbours in one request.**
# 16 bytes are the most that a thread of an H200 can load at once.
# Numba has no such load; this course's `load4` and `store4` move four neighbours of 4 bytes, at an address that is a multiple of 16.
#
# The last line counts a *view* of a device array: `[1:]` begins one element late, so its load requests have offset 1.
# (A NumPy view is copied to the device, and the copy is aligned.)
# On such a view `load4` faults: its address is no multiple of 16.

# %%
@cuda.jit
def copy(dst, src):
    """Each thread copies one element."""
    i = cuda.grid(1)
    dst[i] = src[i]


@cuda.jit
def copy_wide(dst, src):
    """Each thread copies 4 neighbours in one request."""
    i = 4 * cuda.grid(1)
    store4(dst, i, load4(src, i))


copy_wide[1, 256](few_out, few)
check(few_out, few[:1024])

emulate(copy)[4, 256](few_out, cuda.to_device(few)[1:])

# %% tags=["timing"]
TYPES = np.int8, np.int16, np.float32, np.float64
ones = np.ones(1024)
runs = [emulate(copy)[4, 256](ones.astype(t), ones.astype(t)) for t in TYPES]
runs.append(emulate(copy_wide)[1, 256](few_out, few))

MANY = 2**26
src, dst = large.ravel(), np.zeros(4 * MANY, np.float32)
widths = [
    measure(copy, bytes=2 * MANY * np.dtype(t).itemsize)[MANY // 256, 256](
        dst.view(t)[:MANY], src.view(t)[:MANY]) for t in TYPES]
widths.append(
    measure(copy_wide, bytes=2 * src.nbytes)[MANY // 256, 256](dst, src))

table(["bytes per thread", "sectors per request", "µs", "GB/s",
       "memory busy, %"],
      [[2**n, run.coalescing.sectors / run.coalescing.requests, m.median_us,
        m.gb_per_s, m.counters.get("memory_percent")]
       for n, (run, m) in enumerate(zip(runs, widths, strict=True))])

# %% [markdown]
# All requests are coalesced, and all rows of the table have the same number of threads and of requests.
# Yet 16 times the bytes take only 3 times as long.
#
# With 1 byte per thread, memory is 15% busy: the copy takes as long as the GPU needs to start its blocks.
# It starts 1,575 per microsecond, about as many as of blocks that do nothing, in [Write your first kernel](01_first_kernel.ipynb).
# With wider elements each block does more, and more bytes are in flight.
# With 16 bytes per thread, the rate is that of the driver's copy.

# %% [markdown]
# ## Arrays of structs, structs of arrays
#
# A particle has three coordinates and a mass.
# You may keep a record for each particle, an **array of structs**, or an array for each field, a **struct of arrays**.
#
# **Each thread takes the mass of one particle.**
# **Each thread adds up all four numbers of one particle.**

# %%
@cuda.jit
def take_mass(out, particles):
    """Each thread takes the mass of one particle."""
    i = cuda.grid(1)
    out[i] = particles[i].mass


@cuda.jit
def add_fields(out, particles):
    """Each thread adds up all four numbers of one particle."""
    i = cuda.grid(1)
    one = particles[i]
    out[i] = one.x + one.y + one.z + one.mass


fields = [(name, np.float32) for name in ("x", "y", "z", "mass")]
structs = np.zeros(1024, np.dtype(fields, align=True))
structs["mass"] = few[:1024]

run = emulate(take_mass)[4, 256](few_out, structs)
check(few_out, structs["mass"])
run

# %% tags=["timing"]
@cuda.jit
def add_fields_apart(out, x, y, z, mass):
    """Each thread adds up all four numbers of one particle."""
    i = cuda.grid(1)
    out[i] = x[i] + y[i] + z[i] + mass[i]


structs = np.zeros(PART, structs.dtype)
x, y, z, mass = (np.zeros(PART, np.float32) for _ in fields)
grid = PART // 256, 256
layouts = {
    "mass, structs": measure(take_mass, bytes=8 * PART)[grid](part, structs),
    "mass, arrays": measure(copy, bytes=8 * PART)[grid](part, mass),
    "all, structs": measure(add_fields, bytes=20 * PART)[grid](part, structs),
    "all, arrays": measure(add_fields_apart, bytes=20 * PART)[grid](
        part, x, y, z, mass)}

plot_levels({f"{name}, {m.median_us:.0f} µs": m.traffic
             for name, m in layouts.items()})

# %% [markdown]
# In the structs, the masses lie 16 bytes apart: stride 4, and 16 sectors per request.
# Memory delivers whole particles, so the mass alone takes as long as all four fields.
# Compared with an array of masses, structs request 2.5 times the bytes from L2 and take 1.6 times as long: the array keeps memory only half busy, as 4 bytes per thread did in the table above.
#
# For all four fields, the two layouts take the same time.
# The four loads of a warp touch the same sectors, and L1 requests them once from L2.
# The requests touch 3.4 times as many bytes, but L1's data path is only half busy: memory is the limit, and is 85% busy with either layout.

# %% [markdown]
# ## What could go wrong
#
# Four elements per thread: on a CPU you would give each thread four *neighbours*.
# **Each thread copies 4 elements, one after the other.**
# **Each thread loads 4 elements, then stores them.**
#
# The elements of one thread lie `step` apart; the first elements of neighbouring threads lie `across` apart.
# So 4 and 1 make neighbours, and 1 and 256 put a thread's elements a block apart.

# %%
@cuda.jit
def copy_in_turn(dst, src, across, step):
    """Each thread copies 4 elements, one after the other."""
    block = EACH * cuda.blockDim.x * cuda.blockIdx.x
    for k in range(EACH):
        i = block + across * cuda.threadIdx.x + k * step
        dst[i] = src[i]


@cuda.jit
def copy_at_once(dst, src, across, step):
    """Each thread loads 4 elements, then stores them."""
    values = cuda.local.array(EACH, float32)
    block = EACH * cuda.blockDim.x * cuda.blockIdx.x
    for k in range(EACH):
        values[k] = src[block + across * cuda.threadIdx.x + k * step]
    for k in range(EACH):
        dst[block + across * cuda.threadIdx.x + k * step] = values[k]


emulate(copy_in_turn)[1, 256](few_out, few, 4, 1)

# %% tags=["timing"]
fours = {
    f"{order}, {place}": measure(kernel, bytes=8 * MANY)[MANY // 1024, 256](
        dst[:MANY], src[:MANY], across, step)
    for order, kernel in (("in turn", copy_in_turn), ("at once", copy_at_once))
    for place, across, step in (
        ("a block apart", 1, 256), ("neighbours", 4, 1))}

plot_levels({f"{name}, {m.median_us:.0f} µs": m.traffic
             for name, m in fours.items()})

# %% [markdown]
# Neighbours touch four times as many sectors, in loads and in stores.
# Copied in turn, they take 1.8 times as long as elements a block apart, although memory moves the same bytes.
# L1 makes up for the loads, and requests 4% more from L2; but the stores that reach L2 are 1.04 GB instead of 0.27.
#
# Copied at once, the four loads of a thread are in flight together, and its stores follow closely.
# Then 0.33 GB of stores reach L2, and neighbours take only 2% longer.
#
# Elements a block apart need no such help: a thread's neighbours belong to the neighbouring *lanes*; its own next element lies a block further on.
# Loading first pays anyway: a block apart, the same sectors take 132 instead of 173 µs.
#
# ## What changed
#
# | version | idea | sectors per load | ideal |
# |---|---|---|---|
# | `sum_rows` | a thread for each row: lanes a row apart | 32 | 4 |
# | `sum_columns` | a thread for each column: lanes side by side | 4 | 4 |
# | `sum_rows_by_warps` | a warp for each row: lanes side by side | 4 | 4 |
# | `copy_four`, stride 8 | no other request needs the rest of a sector | 32 | 4 |
# | `copy_wide` | four neighbours in one request | 16 | 16 |
# | `take_mass` | one field of an array of structs | 16 | 4 |
# | `copy_in_turn`, neighbours | four neighbours, one after the other | 16 | 4 |

# %% [markdown]
# ## On your own
#
# ★ How many sectors does a request of `float64` with stride 2 touch? And one of `int8` with stride 32? Guess, then ask `plot_sectors`.
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
#
# ★★ `exercise("take_apart")`: take an array of structs apart into four arrays, so that no request touches more sectors than its bytes fill.
#
# The [assignment](assignments/12_coalescing.ipynb) has 8 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Nsight Compute has the three counts: `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` is what lanes request from L1, `lts__t_sectors_srcunit_tex_op_read` what L1 requests from L2, and `dram__bytes_read` what L2 requests from memory.
# The emulator counts the first, from your source; the others depend on the GPU's caches.
# What is still in L2 when a kernel ends has not been written to memory yet.
#
# The pieces that L2 fetches have a limit, `cudaLimitMaxL2FetchGranularity`, which CUDA takes as a hint.
#
# Memory need not deliver what L2 still has from the last launch.
# So `measure` fills L2 with other data before each launch.
#
# Whole arrays begin at a multiple of 256 bytes; the rows of a matrix begin at a multiple of 32 only if their length allows it.
#
# Where rows are read and columns are written, the lanes cannot be side by side in both.
# Shared memory then turns the data around.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Best Practices Guide, coalesced access](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#coalesced-access-to-global-memory): the same experiments with offsets and strides, in C++.
# - [How to access global memory efficiently](https://developer.nvidia.com/blog/how-access-global-memory-efficiently-cuda-c-kernels/): the classic explanation, with older GPUs.
# - [Nsight Compute, kernel profiling guide](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html): each counter of this lesson, and the tables of L1, L2 and device memory.
#
# *Next:* [Use a tile where it pays](13_shared_memory.ipynb): where nine threads need the same number, why load it nine times?
