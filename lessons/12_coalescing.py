# %% [markdown]
# # Fetch no more than you use
#
# *30 minutes*
#
# **What you'll do:** find out why one of two kernels that read the same numbers asks for eight times as many sectors, fix it, and copy and add up at the full speed of the memory.
#
# **What you'll learn:**
#
# - predict how many sectors a request touches, from the places of its lanes
# - count them line by line, and compare the count with a GPU's bytes per second
# - lay out data and threads so that neighbours load neighbours, and say when it does not matter
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, explore, load4, measure,
                     plot_sectors, plot_times, plot_traffic, store4)

device

# %% [markdown]
# ## Which sum is wasteful?
#
# Here is a matrix, and two kernels that add it up.
# **Each thread adds up one row.**
# **Each thread adds up one column.**
# Both load each number once, and both are right.

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

# %%
sum_columns[4, 64](sums, matrix)
check(sums, matrix.sum(axis=0))

# %% [markdown]
# To run along a row in memory, as `sum_rows` does, is what a CPU likes best.
# Yet one of the two makes the GPU's memory move eight times as many bytes as the other.
# Which one, and why?

# %% [markdown]
# ## Sectors and lines
#
# A warp is 32 threads that run together; its **lanes** are numbered 0 to 31.
# What they ask of memory by one instruction is one **request**.
#
# **Global memory** is where a kernel's arguments lie.
# It moves in pieces of 32 bytes that begin at a multiple of 32: **sectors**.
# Four of them that begin at a multiple of 128 are a **line**, the unit of the caches.
# A request moves each sector that holds at least one byte that a lane asks for, once, and always the whole of it.
#
# Let the lanes of a warp load neighbouring numbers of 4 bytes:

# %%
def lanes_at(offset=0, stride=1, itemsize=4):
    """The byte addresses of 32 lanes that lie `stride` elements apart."""
    return [itemsize * (offset + stride * lane) for lane in range(32)]


plot_sectors(lanes_at())

# %% [markdown]
# A row of the picture is a line of memory, and a box is what the lane with that number loads.
# All that moves is used: 4 sectors, 128 bytes.
# Such a request is **coalesced**.

# %% [markdown]
# **Predict.** How many sectors are they if everyone moves on by one element? If the lanes lie two elements apart? And 32 apart?
#
# <details><summary>Answer</summary>
#
# One element on: 5 sectors, since the last lane reaches into the next one.
# Two apart: 8, each of them half used.
# 32 apart: 32, one for each lane. It cannot get worse.
#
# </details>

# %%
plot_sectors(lanes_at(offset=1))

# %% [markdown]
# Pale is what moves though nobody asked for it: here one element at the front and seven at the end.

# %%
plot_sectors(lanes_at(stride=2))

# %% [markdown]
# With stride 2 it is half of everything.
# Choose for yourself: find the first stride with 32 sectors, and see what larger and smaller elements do.

# %%
def draw_request(offset=0, stride=32, itemsize=4):
    """The request of a warp whose lanes lie `stride` elements apart."""
    return plot_sectors(lanes_at(offset, stride, itemsize), itemsize)


explore(draw_request,
        offset=(0, 32), stride=(0, 32), itemsize=[1, 2, 4, 8, 16])

# %% [markdown]
# From stride 8 on each lane has a sector to itself, and seven eighths of what moves is thrown away.
# Stride 0 is the other end: all lanes want one number, and one sector is enough.

# %% [markdown]
# ## Rows and columns, counted
#
# In `sum_rows` neighbouring threads have neighbouring rows.
# At each moment the 32 lanes of a warp stand one below the other, a whole row apart.

# %%
emulate(sum_rows)[4, 64](sums, matrix)

# %%
emulate(sum_columns)[4, 64](sums, matrix)

# %% [markdown]
# 32 sectors a request against 4: it is `sum_rows` that wastes.
# What *one* thread does, one moment after the other, does not matter here.
# What matters is what the *lanes* of a warp do at the same moment: neighbours in `x` must stand side by side in memory.

# %% [markdown]
# ## Offsets and strides
#
# To see what waste costs, take the simplest work there is.
# **Each thread copies one element.**

# %%
@cuda.jit
def copy(dst, src, offset, stride):
    """Each thread copies one element."""
    i = cuda.grid(1)
    dst[i] = src[offset + stride * i]


few = np.arange(2**16, dtype=np.float32)
few_out = np.zeros(1024, np.float32)


def load_sectors(offset=0, stride=1):
    """Sectors of each load request of `copy`."""
    run = emulate(copy)[4, 256](few_out, few, offset, stride)
    check(few_out, few[offset::stride][:1024])
    loads = run.coalescing.by_kind["load"]
    return loads.sectors / loads.requests


OFFSETS = 0, 1, 2, 4, 8, 16, 31, 32
STRIDES = 1, 2, 3, 4, 6, 8, 16, 32

{offset: load_sectors(offset) for offset in OFFSETS}

# %%
{stride: load_sectors(stride=stride) for stride in STRIDES}

# %% [markdown]
# An offset costs one sector at most, and none if it is a multiple of 8 elements.
# A stride `s` costs `4 * s` sectors, up to 32.
#
# How fast is it, then?
# 256 MB are copied from one array to another, with no offset and no stride.

# %% tags=["timing"]
MANY = 2**26
src = np.zeros(MANY + 32, np.float32)
dst = np.zeros(MANY, np.float32)

measure(copy, bytes=2 * dst.nbytes)[MANY // 256, 256](dst, src, 0, 1)

# %% [markdown]
# ## Enough on its way
#
# Each request takes 4 sectors, no more than it must, and still this is well below what a copy reaches.
# Memory answers late, and a thread that waits for its one element asks for nothing else.
# So let it ask for more before it waits.
# **Each thread copies 4 elements, a block apart: first it loads all, then it stores all.**

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


run = emulate(copy_four)[1, 256](few_out, few, 0, 1)
check(few_out, few[:1024])
run

# %% [markdown]
# `cuda.local.array` gives each thread four cells of its own; the compiler unrolls both loops and keeps the cells in registers.
# The sectors are what they were.

# %% tags=["timing"]
aligned = measure(copy_four, bytes=2 * dst.nbytes)[MANY // 1024, 256](
    dst, src, 0, 1)
aligned

# %% [markdown]
# That is as fast as bytes can be moved.
# Now the same copy from an offset, and with a stride.
# Bytes are counted as you would: those that you asked for.

# %% tags=["timing"]
shifted = [
    measure(copy_four, bytes=2 * dst.nbytes)[MANY // 1024, 256](dst, src, k, 1)
    for k in OFFSETS]

plot_traffic(OFFSETS, [load_sectors(k) for k in OFFSETS],
             [m.gb_per_s for m in shifted], aligned.copy_gb_per_s,
             xlabel="offset, in elements")

# %% [markdown]
# The offset costs next to nothing, though a fifth sector was counted.
# Nothing contradicts the count: the fifth sector of one warp is the first sector of its neighbour, and a **cache**, a small fast memory on the way, still has it.
# The emulator counts what a request asks for; how much of that comes from a cache, a GPU decides.

# %% tags=["timing"]
PART = 2**24
wide = np.zeros(32 * PART, np.float32)
part = np.zeros(PART, np.float32)
strided = [
    measure(copy_four, bytes=2 * part.nbytes)[PART // 1024, 256](
        part, wide, 0, stride)
    for stride in STRIDES]

plot_traffic(STRIDES, [load_sectors(stride=s) for s in STRIDES],
             [m.gb_per_s for m in strided], aligned.copy_gb_per_s,
             xlabel="stride, in elements")

# %% [markdown]
# A stride costs what the count says: more sectors, fewer useful bytes a second.
# No neighbour wants what is thrown away, so no cache can help.
#
# From stride 8 on the count stays at 32, and the rate still falls: the memory behind the caches moves larger pieces than a sector, and the emulator does not model it.

# %% [markdown]
# ## A view that begins too late
#
# An offset need not stand in the kernel.
# A part of a device array, such as `d_few[1:]`, is a view: it begins where its first element lies.

# %%
d_few = cuda.to_device(few)

emulate(copy)[4, 256](few_out, d_few[1:], 0, 1)

# %% [markdown]
# Whole arrays begin at a multiple of 256 bytes; rows of a matrix begin at a multiple of 32 bytes only if their length allows it.

# %% [markdown]
# ## Sums at the speed of memory
#
# Back to the matrix.
# **Each warp adds up one row, its lanes side by side.**
# A lane adds every 32nd number, and the 32 sums are added at the end: `shfl_down_sync` hands a lane the value that another lane holds, `step` further on.

# %%
@cuda.jit
def sum_rows_by_warps(out, matrix):
    """Each warp adds up one row, its lanes side by side."""
    lane = cuda.laneid
    row = cuda.grid(1) // 32
    total = float32(0)
    for col in range(lane, matrix.shape[1], 32 * EACH):
        for k in range(EACH):
            total += matrix[row, col + 32 * k]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
    if lane == 0:
        out[row] = total


run = emulate(sum_rows_by_warps)[SIDE // 8, 256](sums, matrix)
check(sums, matrix.sum(axis=1))
run

# %% [markdown]
# The columns are coalesced, but a thread for each column is too few threads to keep a memory busy.
# **Each thread adds up its column in a strip of 32 rows.**
# The strips of a column are added up by `cuda.atomic.add`, which makes each addition one indivisible step.

# %%
STRIP = 32


@cuda.jit
def sum_columns_in_strips(out, matrix):
    """Each thread adds up its column in a strip of 32 rows."""
    col, strip = cuda.grid(2)
    total = float32(0)
    for row in range(STRIP):
        total += matrix[STRIP * strip + row, col]
    cuda.atomic.add(out, col, total)


sums[:] = 0
run = emulate(sum_columns_in_strips)[(2, SIDE // STRIP), 128](sums, matrix)
check(sums, matrix.sum(axis=0))
run

# %% tags=["timing"]
TALL = 16_384
large = np.zeros((TALL, TALL), np.float32)
totals = np.zeros(TALL, np.float32)
kernels = {
    sum_rows: (TALL // 64, 64), sum_rows_by_warps: (TALL // 8, 256),
    sum_columns: (TALL // 64, 64),
    sum_columns_in_strips: ((TALL // 128, TALL // STRIP), 128)}

times = [measure(kernel, bytes=large.nbytes)[launch](totals, large)
         for kernel, launch in kernels.items()]
plot_times([m.kernel for m in times], [m.median_us for m in times],
           spread_us=[(m.lower_us, m.upper_us) for m in times],
           limit_us=large.nbytes / aligned.copy_gb_per_s / 1e3,
           limit_label="at the rate of a copy")

# %% [markdown]
# 16,384 rows of as many numbers are 1 GB.
# Lanes side by side, and enough of them: then both sums take the time that memory needs to move the matrix once.
# `sum_rows` moves eight times as many sectors as `sum_rows_by_warps`, yet is not eight times slower: a sector that one step threw away is often still in a cache when the next step wants its neighbour.
# That is luck, not a plan.

# %% [markdown]
# ## Structs of arrays
#
# A particle has a place and a mass, and a record for each particle is the layout that comes to mind: an **array of structs**.
# **Each thread takes the mass of one particle.**

# %%
fields = [(name, np.float32) for name in ("x", "y", "z", "mass")]
particle = np.dtype(fields, align=True)
particles = np.zeros(1024, particle)
particles["mass"] = few[:1024]


@cuda.jit
def take_mass(out, particles):
    """Each thread takes the mass of one particle."""
    i = cuda.grid(1)
    out[i] = particles[i].mass


run = emulate(take_mass)[4, 256](few_out, particles)
check(few_out, particles["mass"])
run

# %% [markdown]
# A record is 16 bytes long, and so is the distance between the lanes: a stride of four elements.
# With an array for each field, a **struct of arrays**, the masses lie side by side, and `copy` showed what that takes: 4 sectors.
# If a kernel uses all fields at once, the sectors that the first load brought serve the others from a cache, and the layouts are close.

# %% [markdown]
# ## Wider elements
#
# **Predict.** Lanes side by side load elements of 1, 2, 4 and 8 bytes. How many sectors is each request?

# %%
def width_sectors(dtype):
    """Sectors of each request of `copy`, for elements of a type."""
    a, b = np.ones(256, dtype), np.zeros(256, dtype)
    counts = emulate(copy)[1, 256](b, a, 0, 1).coalescing
    check(b, a)
    return counts.sectors / counts.requests


{dtype: width_sectors(dtype)
 for dtype in ("int8", "int16", "float32", "float64")}

# %% [markdown]
# All are coalesced, but a request for bytes moves one sector, and one for `float64` moves eight.
# The wider the element, the more each request brings.
# The widest that a thread can load at once is 16 bytes: `load4` loads four neighbours of 4 bytes, from an index that is a multiple of four.
# **Each thread copies 4 neighbours, all of them at once.**

# %%
@cuda.jit
def copy_wide(dst, src):
    """Each thread copies 4 neighbours, all of them at once."""
    i = 4 * cuda.grid(1)
    store4(dst, i, load4(src, i))


run = emulate(copy_wide)[1, 256](few_out, few)
check(few_out, few[:1024])
run

# %% tags=["timing"]
BYTES = 2**28
times = []
for dtype in np.int8, np.int16, np.float32, np.float64:
    b, a = np.zeros(BYTES, np.int8).view(dtype), src[:MANY].view(dtype)
    launch = measure(copy, bytes=2 * BYTES)[b.size // 256, 256]
    times.append(launch(b, a, 0, 1))
times.append(
    measure(copy_wide, bytes=2 * BYTES)[MANY // 1024, 256](dst, src[:MANY]))

plot_times(["1 byte", "2 bytes", "4 bytes", "8 bytes", "16 bytes"],
           [m.median_us for m in times],
           limit_us=2 * BYTES / aligned.copy_gb_per_s / 1e3,
           limit_label="a copy")

# %% [markdown]
# Each bar copies the same 256 MB, one element a thread.
# Every request is coalesced, and the time still falls as elements grow wider: fewer requests, and more bytes on their way for each thread that waits.

# %% [markdown]
# ## What could go wrong
#
# Four elements a thread: on a CPU you would give each thread four *neighbours*, and so do many who write their second kernel.

# %%
@cuda.jit
def copy_four_wrong(dst, src):
    """Each thread copies 4 neighbours, one after the other."""
    i = 4 * cuda.grid(1)
    for k in range(4):
        dst[i + k] = src[i + k]


run = emulate(copy_four_wrong)[1, 256](few_out, few)
check(few_out, few[:1024])
run

# %% [markdown]
# Right, and four times as many sectors as it takes, in the load and in the store.
# A thread's neighbours belong to the neighbouring *lanes*; its own next element lies a block further on, as in `copy_four`.
# Or it takes all four neighbours in one request, as in `copy_wide`.

# %% [markdown]
# ## What changed
#
# | version | idea | sectors of a load | ideal |
# |---|---|---|---|
# | `sum_rows` | a thread for each row: lanes one below the other | 32 | 4 |
# | `sum_rows_by_warps` | a warp for each row: lanes side by side | 4 | 4 |
# | `sum_columns` | a thread for each column: side by side, but few | 4 | 4 |
# | `copy_four` | four elements a thread, a block apart | 4 | 4 |
# | `copy_wide` | four neighbours in one request | 16 | 16 |
# | `copy_four_wrong` | four neighbours, one after the other | 16 | 4 |
# | `take_mass` | one field of an array of structs | 16 | 4 |

# %% [markdown]
# ## On your own
#
# ★ How many sectors does a request of `float64` with stride 2 touch? And one of `int8` with stride 32? Guess, then ask `plot_sectors`.
#
# ★ `mirror`: mirror a matrix, left for right, with at most 4 sectors a request.

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
# The stores run backwards, which costs nothing: it matters which sectors are touched, not in which order.
#
# </details>

# %% [markdown]
# ★★ `exercise("take_apart")`: take an array of structs apart into four arrays, and touch no more sectors than the bytes fill.
#
# The [assignment](assignments/12_coalescing.ipynb) has 8 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Nsight Compute counts these sectors as `l1tex__t_sectors_pipe_lsu_mem_global_op_ld`, and `_op_st` for stores.
# A sector counts there whether a cache has it or not.
#
# A time tells more than a count, if it is long enough: caches of some tens of megabytes can hold a small example whole, and then even the worst stride looks cheap.
# `measure` empties them before each launch.
#
# Numba takes a negative index from the end, so an index that might be negative costs instructions, not sectors.
#
# Older books speak of *transactions* and *segments*, and of whole lines of 128 bytes; since Volta it is sectors.
#
# When the layout is given and the lanes cannot stand side by side, for instance where rows are read and columns are written, shared memory turns the data around.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Best Practices Guide, coalesced access](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#coalesced-access-to-global-memory): the same experiments with offsets and strides, in C++.
# - [How to access global memory efficiently](https://developer.nvidia.com/blog/how-access-global-memory-efficiently-cuda-c-kernels/): the classic explanation, with older GPUs.
#
# *Next:* [Load once, use often](13_shared_memory.ipynb): where nine threads need the same number, why load it nine times?
