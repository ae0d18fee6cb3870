# %% [markdown]
# # Fetch no more than you use
#
# *50 minutes*
#
# **What you'll do:** find out which of two kernels requests eight times as many bytes as it uses, watch it win all the same, and find out when it loses.
#
# **What you'll learn:**
#
# - predict how many sectors a request touches, from the addresses of its lanes
# - say when a cache makes up for a wasteful request, and when it cannot
# - lay out data and threads so that neighbouring lanes load neighbouring numbers
#
# **What you'll need:** threads and blocks, as in [Write your first kernel](01_first_kernel.ipynb), and the caches, as in [Know where a number lives](11_memory_hierarchy.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, compare, device, emulate, exercise, explore, load4,
                     measure, plot_levels, plot_requests, plot_sectors,
                     plot_series)

device

# %% [markdown]
# ## Which sum is wasteful?
#
# Two kernels add up the same matrix.
# In `sum_rows`, each thread takes a row and walks along it, number by number, the order that suits a CPU's caches.
# In `sum_columns`, each thread takes a column, and so it jumps a whole row at each step.
#
# Both load each number once.
# Yet one of them requests eight times as many bytes as the other.
# Which one, and is it slower?
# Guess before you read on.

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
# A thread does not load alone.
# The 32 **lanes** of a warp execute a load together, and what they ask for is one **request**.
#
# Nor does a cache deliver single bytes.
# It delivers whole **sectors**: 32 bytes that begin at a multiple of 32.
# Four sectors that begin at a multiple of 128 are a **line**.
# So a request gets each sector in which some lane asks for a byte: once, however many lanes ask for it, and whole, however few bytes they need.
# The bytes *requested* are therefore always those of whole sectors.
#
# Let the lanes load neighbouring numbers of four bytes:

# %%
def lanes_at(offset=0, stride=1, itemsize=4):
    """The byte addresses of 32 lanes that lie `stride` elements apart."""
    return [itemsize * (offset + stride * lane) for lane in range(32)]


plot_sectors(lanes_at())

# %% [markdown]
# Each strong box is what the lane with that number loads.
# The request touches four sectors and uses all their bytes.
# A request that touches no more sectors than its bytes fill is **coalesced**.
#
# The distance between neighbouring lanes, in elements, is the **stride**.
#
# **Predict.** How many sectors does the request touch if each lane loads the next element instead of its own? At stride 2? And at stride 32?
#
# <details><summary>Answer</summary>
#
# One element on: 5 sectors, because the last lane reaches into the fifth.
# Stride 2: 8, each half used.
# Stride 32: 32, one for each lane. That is the most for elements of 4 bytes.
#
# </details>

# %%
def draw_request(offset=1, stride=1):
    """The request of a warp whose lanes lie `stride` elements apart."""
    return plot_sectors(lanes_at(offset, stride))


explore(draw_request, offset=[0, 1], stride=(0, 9))

# %% [markdown]
# Faint bytes come along although no lane asks for them.
# Move the sliders, and find the first stride at which each lane has a sector of its own.
#
# <details><summary>Answer</summary>
#
# It is 8, where the lanes are 32 bytes apart. From there on, elements of 4 bytes leave 28 of each sector's 32 bytes unused. At stride 0, all lanes load the same number, and one sector is enough.
#
# </details>

# %% [markdown]
# ## Side by side, or a row apart
#
# Stop both kernels in the same step of their loops, and look where the lanes of one warp are.
# In `sum_columns`, neighbouring lanes have neighbouring columns, so they stand side by side in a row of the matrix.
# In `sum_rows` they have neighbouring rows, so they stand one below the other, a whole row apart.

# %%
plot_requests({"sum_columns, one step": lanes_at(),
               "sum_rows, one step": lanes_at(stride=SIDE)})

# %% [markdown]
# Keep this picture.
# Both warps ask for the same number of bytes.
# But the lanes of `sum_columns` share one line, and those of `sum_rows` need a sector each, and use an eighth of it.
# The emulator counts it from the addresses of the real kernel:

# %%
emulate(sum_rows)[4, 64](sums, matrix)

# %%
emulate(sum_columns)[4, 64](sums, matrix)

# %% [markdown]
# So `sum_rows` is the wasteful one.
# What counts is not where *one* thread goes next, but where the 32 *lanes* are at the same moment.
#
# ## The wasteful kernel wins
#
# Now the time.
# The matrix has 16,384 rows of as many numbers, and each kernel runs a thread for each sum.
# The bars are the bytes that the lanes request from L1, L1 from L2, and L2 from memory.

# %% tags=["timing", "hide-input"]
# Measures both kernels on a large matrix.
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
# The uppermost bars are what we counted: `sum_rows` requests eight times as many bytes as `sum_columns`.
# But from L2, L1 requests the matrix once in either kernel: the waste never leaves L1.
# So `sum_rows` need not be slower.
# Why is it faster?

# %% [markdown]
# ## Who waits less?
#
# Follow one warp of each kernel for eight steps.
#
# | step | `sum_columns` | `sum_rows` |
# |---|---|---|
# | 0 | one line, from memory | 32 sectors, from memory |
# | 1 | another line, from memory | the same 32 sectors, from L1 |
# | 2 | another line, from memory | the same 32 sectors, from L1 |
# | … | another line, from memory | the same 32 sectors, from L1 |
# | 7 | another line, from memory | the same 32 sectors, from L1 |
# | 8 | another line, from memory | the next 32 sectors, from memory |
#
# The lanes of `sum_columns` use up their line at once, and the next step needs another one.
# The lanes of `sum_rows` use an eighth of their sectors, but the rest is not lost: it is what the next seven steps ask for, and then L1 still has it.
# So `sum_rows` goes beyond L1 in one step of eight, and `sum_columns` in every step.
#
# If that is the reason, `sum_rows` must lose once L1 no longer helps.
# So change nothing but the order: let each thread go over its row in jumps of eight numbers, and come back for the numbers between.

# %%
@cuda.jit
def sum_rows_in_jumps(out, matrix, jump):
    """Each thread adds up one row, in rounds of every `jump`-th number."""
    row = cuda.grid(1)
    total = float32(0)
    for first in range(jump):
        for col in range(first, matrix.shape[1], jump):
            total += matrix[row, col]
    out[row] = total


sum_rows_in_jumps[4, 64](sums, matrix, 8)
check(sums, matrix.sum(axis=1))

# %% [markdown]
# With `jump=1` this is `sum_rows`.
# With `jump=8` each step needs another sector, and a thread comes back to a sector a whole round later.
#
# **Predict.** How many times does L1 request the matrix from L2 if the jump is 8? And if it is 2?

# %% tags=["timing", "hide-input"]
# Measures the same kernel with several jumps.
jumps = {jump: measure(sum_rows_in_jumps, bytes=large.nbytes)[TALL // 64, 64](
    totals, large, jump) for jump in (1, 2, 4, 8)}

plot_levels({f"jumps of {jump}, {m.median_us:,.0f} µs": m.traffic
             for jump, m in jumps.items()})

# %% [markdown]
# Eight times, and twice: L1 has dropped each sector before the thread comes back.
# Now the waste goes all the way down to memory, and at 8 the kernel takes more than twice as long as at 1.
# (The compiler takes four steps together, so from 2 on the thread waits for memory every time, as `sum_columns` does.)
#
# So a cache makes up for a wasteful request if the rest of each sector is asked for *soon*.

# %% [markdown]
# <details><summary>For the curious: why not eight times as fast?</summary>
#
# The compiler unrolls both loops: first four loads, then four additions. (Ask `assemble`.) So each thread has four loads in flight, and waits once for all four.
#
# `sum_columns` then waits 4,096 times for memory. In 2,036 µs, that is 497 ns each time, more than the 349 ns of a thread that has the memory to itself, in [Know where a number lives](11_memory_hierarchy.ipynb).
#
# In `sum_rows`, two fours share a sector: the first waits for memory, the second for L1. So it waits for memory half as often, and not an eighth as often. And its waits for L1 are not short, as you will see.
#
# </details>

# %% [markdown]
# ## Then why not always by rows?
#
# So far both kernels spend their time waiting, for they have few threads: 6% of those that the GPU can hold.
# More threads have more loads in flight.
# So cut each row, or each column, into strips, and give each strip to a thread of its own.
#
# Now several threads add to one sum, and `cuda.atomic.add` makes each addition one indivisible step.

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


for kernel, axis in (sum_rows_in_strips, 1), (sum_columns_in_strips, 0):
    sums[:] = 0
    kernel[(4, 8), 64](sums, matrix, 32)
    check(sums, matrix.sum(axis=axis))

# %% tags=["timing", "hide-input"]
# Measures both kernels with strips of several lengths, and rows farther apart.
STRIPS = 16_384, 8192, 2048, 512, 32
APART = TALL, TALL + 1, TALL + 8, TALL + 32
threads = [large.size // strip for strip in STRIPS]


def over_strips(kernel, matrix):
    """The times of a kernel for each length of a strip."""
    return [measure(kernel, bytes=large.nbytes)[(TALL // 64, TALL // n), 64](
        totals, matrix, n) for n in STRIPS]


by_distance = {}
for apart in APART:
    spread = np.zeros((TALL, apart), np.float32)
    by_distance[apart] = [over_strips(kernel, spread) for kernel in (
        sum_rows_in_strips, sum_columns_in_strips)]
row_strips, column_strips = by_distance[TALL]

plot_series(
    threads, {"a strip of a row": [m.median_us for m in row_strips],
              "a strip of a column": [m.median_us for m in column_strips]},
    xlabel="threads, each with its share of the same numbers", scale="log")

# %% [markdown]
# Each point adds up the same numbers.
# At first, twice the threads nearly halve the time of column sums, since twice as many loads are in flight.
# Row sums gain once, and then no more; in the end, column sums are three times as fast.
#
# What stops the row sums?

# %% tags=["timing", "hide-input"]
# Shows what L1 does in some of these launches.
compare({(f"strips of a {what}", threads[k]): strips[k]
         for what, strips in (("row", row_strips), ("column", column_strips))
         for k in range(3)},
        "µs", "data path busy, %", "cycles per request",
        by=("sums", "threads"))

# %% [markdown]
# L1 does.
# All that a warp gets from L1 comes through one **data path**.
# A request of row sums keeps it busy for 32 cycles, a request of column sums for one.
# So with 32,768 threads the path is full, and more threads only queue for it.
#
# ## One place in every line
#
# Why 32 cycles?
# You may suspect the lines, for each lane is in another one.
# But look *where* in its line each lane is:

# %%
def draw_rows(apart=16_384):
    """One step of a warp's row sums, by the distance between two rows."""
    return plot_sectors(lanes_at(stride=apart))


explore(draw_rows, apart=[16_384, 16_385, 16_392, 16_416])

# %% [markdown]
# Rows of 16,384 numbers are a whole number of lines long, so all lanes are at the same place of their lines.
# L1 keeps its lines in 32 parts (banks): the first has the first four bytes of every line, the next has the next four, and each delivers four bytes in a cycle.
# So numbers at different places of their lines come together, but numbers at the same place come one after the other.
#
# Is it the lines, then, or the places?
# Move the rows apart by a few numbers that nobody adds up: the lanes keep their 32 lines, but not their places.
#
# **Predict.** Move the slider to the other distances. Which of them take fewer cycles?

# %% tags=["timing", "hide-input"]
# Compares sums by 131,072 threads, of rows at several distances.
LONG = STRIPS.index(2048)
compare({f"{apart:,}": (by_rows[LONG], by_columns[LONG])
         for apart, (by_rows, by_columns) in by_distance.items()},
        "cycles per request", "µs",
        {"µs, sums of columns": lambda row: row[1].median_us},
        by="numbers from row to row")

# %% [markdown]
# Places decide most of it.
# At 16,385 no two lanes share one: a request keeps the path busy for a quarter of the time, and the sums take half as long.
# At 16,416, again a whole number of lines, all is as before.
# Column sums do not care, since their lanes are side by side.

# %% [markdown]
# ## L1 by itself
#
# Let each lane read eight numbers of its row again and again, so that nothing comes from L2, and change only the distance of the lanes.
#
# **Predict.** Lanes 33, 40 and 32 numbers apart are all in 32 lines. How many cycles does each request take?

# %%
@cuda.jit
def sum_again(out, matrix, rounds):
    """Each lane adds up eight numbers of its row, again and again."""
    row = cuda.laneid
    total = float32(0)
    for k in range(rounds):
        total += matrix[row, k & 7]     # 0 to 7, again and again
    out[cuda.grid(1)] = total


sum_again[4, 64](sums, matrix, 16)
check(sums[:32], 2 * matrix[:32, :8].sum(axis=1))

# %% tags=["timing", "hide-input"]
# Measures requests that L1 alone answers, by the distance of their lanes.
DISTANCES = 9, 33, 8, 40, 32
BUSY = 264, 1024
found = np.zeros(BUSY[0] * BUSY[1], np.float32)
again = {apart: measure(sum_again)[BUSY](
    found, np.zeros((32, apart), np.float32), 4096) for apart in DISTANCES}


def between(m):
    """Cycles from one request of a multiprocessor to its next."""
    requests = m.counters.get("global_load_requests", np.nan) / 132  # on each
    return m.counters.get("cycles", np.nan) / requests


def spread_over(apart):
    """The lines of 32 lanes, and the places that they have in these."""
    places = [it // 4 for it in lanes_at(stride=apart)]
    return len({it // 32 for it in places}), len({it % 32 for it in places})


compare({(apart, *spread_over(apart)): m for apart, m in again.items()},
        "cycles per request", {"cycles to the next request": between}, "µs",
        by=("numbers from lane to lane", "lines", "places"))

# %% [markdown]
# As many as there are lanes at one place: that is how long the data path is busy.

# %% [markdown]
# <details><summary>For the curious: do lines cost nothing, then?</summary>
#
# From 9 to 33 only the lines change, and from 8 to 40. The data path is as busy as before, but the next request comes after nine cycles instead of five, and after ten instead of eight. So lines cost time before the data path. There, L1's *tag stage* finds them, four in a cycle and so 32 in eight, as [NVIDIA's forum](https://forums.developer.nvidia.com/t/pascal-l1-cache/49571/14) says of an older GPU.
#
# The five cycles at 9 are not L1's alone: the kernel's other instructions use 78% of the issue slots.
#
# At 33 the path is busy for one cycle, and in the sums, at 16,385, for eight. Whether sectors that arrive from L2 make the difference, these counters do not say.
#
# </details>

# %% [markdown]
# ## A warp waits for its slowest lane
#
# Are rows 16,385 apart always better, then?
# Here are the same distances with few threads, one for each row:

# %% tags=["timing", "hide-input"]
# Compares sums by 16,384 threads, of rows at several distances.
compare({"columns": column_strips[0]} | {
            f"rows, {apart:,} apart": by_rows[0]
            for apart, (by_rows, _) in by_distance.items()},
        "µs", "GB loaded from L2", by="sums of")

# %% [markdown]
# At 16,385 row sums are as slow as column sums, although L1 requests no more from L2 than at the other distances.
# Look at the picture once more: there, the lanes are at different places of their *sectors*, too.
# So in each step four of the 32 lanes go on to a new sector.
# The warp waits for these four, and it does not help that L1 has the numbers of the others.
#
# At the other distances every row begins with a sector.
# So all lanes need a new one in the same step, and in the next seven steps none does.
# That is how the wasteful kernel won.

# %% [markdown]
# ## Row sums, side by side
#
# Can row sums have their lanes side by side?
# Yes, if a whole warp shares a row.
# Then each lane adds up every 32nd number, and at the end the lanes add up their sums by shuffles, as in [Keep a warp together](02_warps.ipynb).

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


sum_rows_by_warps[SIDE // 2, 64](sums, matrix)
check(sums, matrix.sum(axis=1))

# %% [markdown]
# A lane need not stop at four bytes: `load4` loads four neighbours at once, 16 bytes, which is the most.
# Then a warp's request fills 16 sectors, and is still coalesced.

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

# %% tags=["timing", "hide-input"]
# Compares row sums with as many threads, by how the lanes stand.
grid = TALL // 2, 64
by_warps = {apart: measure(sum_rows_by_warps, bytes=large.nbytes)[grid](
    totals, np.zeros((TALL, apart), np.float32)) for apart in (TALL, TALL + 1)}
by_fours = measure(sum_rows_by_fours, bytes=large.nbytes)[grid](
    totals, large.ravel(), TALL)

SHORT = STRIPS.index(512)
compare({("a strip a lane", TALL): row_strips[SHORT],
         ("a strip a lane", TALL + 8): by_distance[TALL + 8][0][SHORT],
         ("side by side", TALL): by_warps[TALL],
         ("side by side", TALL + 1): by_warps[TALL + 1],
         ("side by side, 16 bytes a lane", TALL): by_fours},
        "µs", "GB/s", "memory busy, %", by=("lanes", "row to row"))

# %% [markdown]
# With as many threads, lanes side by side are 3.5 times as fast as strips, and still 1.8 times as fast as strips at the best distance, and for them the distance hardly matters.
# With 16 bytes a lane, memory is busy nearly all the time.
#
# So **let neighbouring lanes load neighbouring numbers**, even where a cache would make up for it.

# %% [markdown]
# ## Offsets and strides
#
# A thread that adds up a row comes back for the rest of each sector.
# A thread that copies does not.
# In `copy_four` each thread loads four elements, a block apart, before it stores the first.
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

copy_four[1, 256](few_out, few, 1, 8)
check(few_out, few[1::8][:1024])

# %% tags=["timing", "hide-input"]
# Measures the copy with some offsets and strides.
PART = 2**24
part, wide = np.zeros(PART, np.float32), np.zeros(32 * PART + 32, np.float32)
SHIFTS = {(offset, 1) for offset in (0, 1, 8, 16, 31, 32)}
STRIDES = 1, 2, 4, 8, 12, 16, 24, 32

copies = {(offset, stride): measure(copy_four, bytes=8 * PART)[
    PART // 1024, 256](part, wide[:stride * PART + 32], offset, stride)
    for offset, stride in sorted(SHIFTS | {(0, each) for each in STRIDES})}

shown = {"as it is": (0, 1), "offset 1": (1, 1),
         "stride 2": (0, 2), "stride 8": (0, 8), "stride 16": (0, 16)}
plot_levels({f"{name}, {copies[at].median_us:,.0f} µs": copies[at].traffic
             for name, at in shown.items()})

# %% [markdown]
# An offset of one element adds a fifth sector to each load request, but it is the first sector of the next request, and L1 still has it.
# No offset costs more than 3%.
#
# With a stride, nobody comes back for the rest of a sector, so no cache can make up for it.
# At stride 8, each element costs a sector on every level, and the copy takes almost four times as long.
#
# From stride 8 to 16, L1 and L2 are asked for no more, and yet the time nearly doubles.
# Memory delivers twice the bytes, because the L2 of this GPU fetches pieces of 64 bytes, two sectors, and now one of the two goes unused.

# %% [markdown]
# <details><summary>For the curious: between and beyond</summary>
#
# At stride 12 the lanes are 48 bytes apart and touch each piece of 64: memory delivers 805 MB, all that lies between. (CUDA takes a hint about the pieces: `cudaLimitMaxL2FetchGranularity`.)
#
# At 24 and 32 no more bytes move than at 16, and the time still rises, by 17% at 32. These counters do not say why.
#
# At stride 1, memory takes only 44 MB of the 67 MB of stores before the kernel ends; the rest is still in L2. So memory moves 2,959 GB/s, 71% of the rate of the driver's copy, and 4,104 at stride 8.
#
# A view `a[1:]` of a device array has offset 1. On such a view `load4` faults: its address is no multiple of 16.
#
# </details>

# %% [markdown]
# ## Arrays of structs, structs of arrays
#
# Strides rarely look like strides.
# A particle has three coordinates and a mass, and you may keep a record for each particle, an **array of structs**, or an array for each field, a **struct of arrays**.
# Now a kernel needs the masses alone.
#
# **Predict.** How many sectors does its request touch in the array of structs?

# %%
@cuda.jit
def take_mass(out, particles):
    """Each thread takes the mass of one particle."""
    i = cuda.grid(1)
    out[i] = particles[i].mass


@cuda.jit
def copy(dst, src):
    """Each thread copies one element."""
    i = cuda.grid(1)
    dst[i] = src[i]


fields = [(name, np.float32) for name in ("x", "y", "z", "mass")]
structs = np.zeros(1024, np.dtype(fields, align=True))
structs["mass"] = few[:1024]

run = emulate(take_mass)[4, 256](few_out, structs)
check(few_out, structs["mass"])
run

# %% [markdown]
# The masses lie 16 bytes apart: stride 4, and 16 sectors.
# What if a kernel needs all four fields?

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
# From structs, the mass alone takes as long as all four fields, because memory delivers whole particles either way.
# From an array of masses, L1 requests two fifths of the bytes, and the kernel takes less than two thirds of the time.
#
# For all four fields, both layouts take the same time.
# The four loads of a thread touch the same sectors, one soon after the other, so L1 requests each sector once.
#
# So keep together what is used together.

# %% [markdown]
# ## What could go wrong
#
# Let each thread copy four elements.
# On a CPU you would give it four *neighbours*.
#
# In this kernel, with `across=4, step=1`, thread `t` takes elements `4*t` to `4*t + 3`.
# With `across=1, step=256` it takes `t`, `t + 256`, `t + 512` and `t + 768`.
#
# **Predict.** Which of the two is coalesced?

# %%
@cuda.jit
def copy_in_turn(dst, src, across, step):
    """Each thread copies 4 elements, one after the other."""
    block = EACH * cuda.blockDim.x * cuda.blockIdx.x
    for k in range(EACH):
        i = block + across * cuda.threadIdx.x + k * step
        dst[i] = src[i]


emulate(copy_in_turn)[1, 256](few_out, few, 4, 1)

# %% tags=["timing", "hide-input"]
# Measures both orders on a large array.
MANY = 2**26
src, dst = large.ravel(), np.zeros(4 * MANY, np.float32)
fours = {
    place: measure(copy_in_turn, bytes=8 * MANY)[MANY // 1024, 256](
        dst[:MANY], src[:MANY], across, step)
    for place, across, step in (
        ("a block apart", 1, 256), ("neighbours", 4, 1))}

plot_levels({f"{name}, {m.median_us:.0f} µs": m.traffic
             for name, m in fours.items()})

# %% [markdown]
# Neighbours touch four times as many sectors, in loads and in stores, and their copy takes 1.9 times as long.
# L1 makes up for the loads: it requests hardly more from L2.
# But it passes the stores on, and nearly four times as many sectors reach L2. (What these cost, we did not measure.)
#
# A thread's neighbours belong to the neighbouring *lanes*; its own next element lies a block further on.

# %% [markdown]
# ## What changed
#
# | version | idea | sectors per load | ideal |
# |---|---|---|---|
# | `sum_columns` | a thread for each column: lanes side by side | 4 | 4 |
# | `sum_rows` | a thread for each row: lanes a row apart; L1 makes up for it | 32 | 4 |
# | `sum_rows_in_jumps`, 8 | the same, but L1 cannot | 32 | 4 |
# | `sum_rows_by_warps` | a warp for each row: lanes side by side | 4 | 4 |
# | `sum_rows_by_fours` | the same, with four neighbours a lane | 16 | 16 |
# | `copy_four`, stride 8 | no other request needs the rest of a sector | 32 | 4 |
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
# In Nsight Compute, the three counts are `l1tex__t_sectors_pipe_lsu_mem_global_op_ld`, `lts__t_sectors_srcunit_tex_op_read` and `dram__bytes_read`.
#
# Whole arrays begin at a multiple of 256 bytes; the rows of a matrix begin at a multiple of 32 only if their length allows it.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Best Practices Guide, coalesced access](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#coalesced-access-to-global-memory): the same experiments with offsets and strides, in C++.
# - [How to access global memory efficiently](https://developer.nvidia.com/blog/how-access-global-memory-efficiently-cuda-c-kernels/): the classic explanation.
#
# *Next:* [Use a tile where it pays](13_shared_memory.ipynb): where nine threads need the same number, why load it nine times?
