# %% [markdown]
# # Share a tile without queueing
#
# *25 minutes*
#
# **What you'll do:** find out why one number in a kernel, the distance between two lanes, decides whether 32 of them are served at once or one after the other, and take the queue away.
#
# **What you'll learn:**
#
# - predict the bank of any element, and from it the conflicts of any request
# - count conflicts line by line with the emulator, and compare the count with a GPU's own counters
# - remove them, with a column of padding or with a swizzle, and say when it pays
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb).

# %%
import numpy as np
from numba import complex128, cuda, float32, float64, int8, int16, uint32

from helpers import (check, device, emulate, exercise, explore, measure,
                     plot_banks, plot_conflicts, plot_tile_banks, plot_times)

device

# %% [markdown]
# ## Which stride is slow?
#
# A block of threads has a small memory of its own, its **shared memory**.
# A warp is 32 threads that run together; its **lanes**, numbered 0 to 31, can load 32 numbers from it in one go.
# Let neighbouring lanes load numbers that lie 1 apart, then 2 apart, then 3, and so on to 33: that is the **stride**.
# Most people would bet that a longer stride costs more.
# Yet one of these strides takes 32 turns for each load, and the next, longer by 1, takes a single turn.
# Which are they, and why?

# %% [markdown]
# ## Words and banks
#
# Shared memory is cut into 32 **banks**, each 4 bytes wide.
# Four bytes are a **word**; consecutive words lie in consecutive banks, and after the last bank comes the first again.
# So the place of a byte decides its bank, and nothing else does:

# %%
NUM_BANKS  = 32
WORD_BYTES = 4


def bank(byte_address):
    """The bank that a byte of shared memory lies in."""
    word = byte_address // WORD_BYTES
    return word % NUM_BANKS


[bank(4 * element) for element in (0, 1, 31, 32, 33, 64)]

# %% [markdown]
# Elements 0, 32 and 64 of a `float32` array share bank 0.
# In one go each bank gives *one* word.
# What a warp asks for at once is a **request**, and one go is a **wavefront**: if 32 lanes ask 32 banks, one wavefront is enough.
# Here is the request of a warp whose lanes lie 1 element apart.

# %%
def strided(stride, itemsize=4):
    """The byte addresses of 32 lanes, `stride` elements apart."""
    return [lane * stride * itemsize for lane in range(32)]


plot_banks(strided(1))

# %% [markdown]
# Each column is a bank, and the number in a box is the lane that wants this word.
# One word is wanted of each bank: one wavefront, no conflict.

# %% [markdown]
# **Predict.** How does the picture look for stride 2?
#
# <details><summary>Answer</summary>
#
# Only the even banks are asked, and each for two different words.
# Half of the lanes must wait for a second wavefront: a 2-way bank conflict.
#
# </details>

# %%
plot_banks(strided(2))

# %% [markdown]
# Boxes that stand on one another are different words in one bank, and a bank gives them one after the other.
# The height of the tallest column is the number of wavefronts.

# %% [markdown]
# ## Strides, counted
#
# **Hop through shared memory, the lanes `stride` words apart.**
# The array `following` names, in each cell, the next cell to load.
# No hop can start before the one before it has ended, so no compiler can skip a load, and the kernel does little else.

# %%
CELLS  = 1024       # words of shared memory
HOPS   = 256        # loads by each thread


@cuda.jit
def hop(out, stride):
    """Hop through shared memory, the lanes `stride` words apart."""
    following = cuda.shared.array(CELLS, uint32)
    thread = cuda.threadIdx.x
    following[thread] = (thread + 1) % CELLS
    cuda.syncthreads()
    cell = uint32(thread % 32 * stride % CELLS)
    for _ in range(HOPS):
        cell = following[cell]
    out[cuda.grid(1)] = cell


# %% [markdown]
# `cuda.shared.array` gives the block an array that its 1,024 threads share, and `cuda.syncthreads()` lets none of them go on before all have filled in their cell.
# After 256 hops from cell `lane * stride`, a thread must stand 256 cells further on.

# %%
def hop_spec(stride):
    """Where the threads of a block end."""
    lane = np.arange(CELLS) % 32
    return (lane * stride + HOPS) % CELLS


out = np.zeros(CELLS, np.uint32)
run = emulate(hop)[1, CELLS](out, 2)
check(out, hop_spec(2))

# %%
run

# %% [markdown]
# The report quotes each line that touches memory, like a profiler.
# The line to look at is the load in the loop: 8,192 requests, 2 wavefronts each where 1 would do.
# The **bank conflicts** of a request are the wavefronts that it takes beyond the ideal, so here there is one for each.

# %% [markdown]
# **Predict.** Which of the strides 1, 2, 3, 4, 8, 13, 16, 32 and 33 are free, and which is the worst?
#
# <details><summary>Answer</summary>
#
# 1, 3, 13 and 33 are free: an odd stride visits all 32 banks before it comes back to the first.
# Stride 32 stays in one bank for all 32 lanes.
# In general `gcd(stride, 32)` lanes meet in a bank.
#
# </details>

# %%
STRIDES = 1, 2, 3, 4, 8, 13, 16, 32, 33


def conflicts_per_load(stride):
    """Bank conflicts of each load request of `hop`."""
    run = emulate(hop)[1, CELLS](out, stride)
    check(out, hop_spec(stride))
    loads = run.bank_conflicts.by_kind["load"]
    return loads.conflicts / loads.requests


{stride: conflicts_per_load(stride) for stride in STRIDES}

# %% [markdown]
# Stride 32 costs 31 conflicts, 32 wavefronts instead of 1; stride 33, one word more, costs none.
# What matters is not how far apart the lanes are but what the distance shares with 32: the conflicts are `gcd(stride, 32) - 1`.

# %% [markdown]
# ## Does a GPU agree?
#
# A GPU counts its bank conflicts too.
# `measure` runs a kernel on the GPU, or shows what was recorded of this very kernel on an H200, with the hardware's own counters beside the time.
# To keep all of a GPU busy the launch has 264 blocks, two for each multiprocessor of an H200.

# %%
BLOCKS = 264
result = np.zeros(BLOCKS * CELLS, np.uint32)

on_gpu = {stride: measure(hop)[BLOCKS, CELLS](result, stride)
          for stride in STRIDES}
on_gpu[1]

# %%
on_gpu[32]

# %%
def counted(measurement):
    """Conflicts of each load request, by the hardware's counters."""
    count = measurement.counters
    if not count:
        return float("nan")
    return count["shared_load_conflicts"] / count["shared_load_requests"]


plot_conflicts(STRIDES,
               emulated=[conflicts_per_load(s) for s in STRIDES],
               measured=[counted(on_gpu[s]) for s in STRIDES],
               times_us=[on_gpu[s].median_us for s in STRIDES])

# %% [markdown]
# Above, the conflicts of each request: rings are the emulator's count, diamonds the GPU's own counter, and each diamond lies in its ring.
# Below, the time of the launch.
# From stride 4 on it doubles with the number of wavefronts.
# All in all, 32 wavefronts instead of 1 make the launch ten times slower and not 32: with one or two, the queue is not what the kernel waits for, since each hop also has instructions of its own.

# %% [markdown]
# ## When lanes want the same word
#
# A bank gives one *word* in a go, but to as many lanes as want it: a **broadcast**.
# So 32 lanes on one word are one wavefront, and so are five lanes on each of six words and two on a seventh:

# %%
plot_banks([4 * (lane // 5) for lane in range(32)])

# %% [markdown]
# Several lanes in one box cost nothing.
# Only different words in one bank do.

# %% [markdown]
# ## Wider and narrower elements
#
# **Load consecutive elements of another size.**
# The type of a shared array must be known when the kernel is compiled, so a function makes a kernel for each type.

# %%
def make_reader(dtype):
    """A kernel that loads consecutive elements of a type."""
    @cuda.jit
    def read(out):
        """Load the lane's own element."""
        tile = cuda.shared.array(64, dtype)
        lane = cuda.threadIdx.x
        tile[lane] = lane
        cuda.syncthreads()
        out[lane] = tile[lane]
    return read


# %%
def read_wavefronts(dtype):
    """Wavefronts of one warp's load of consecutive elements, and conflicts."""
    out = np.zeros(32, str(dtype))
    run = emulate(make_reader(dtype))[1, 32](out)
    check(out, np.arange(32).astype(str(dtype)))
    loads = run.bank_conflicts.by_kind["load"]
    return loads.wavefronts, loads.conflicts


{dtype: read_wavefronts(dtype)
 for dtype in (int8, int16, float32, float64, complex128)}

# %% [markdown]
# Each pair is (wavefronts, conflicts).
# One and two bytes cost as much as four: neighbours share a word.
# Eight bytes go by half warps and sixteen by quarter warps, since 32 banks of 4 bytes give 128 bytes in a go; two or four wavefronts are then the ideal, and no conflict.
#
# Now choose for yourself: move the sliders, and look for the settings in which nothing is stacked.

# %%
def draw_request(stride=32, itemsize=4, padding=0):
    """The request of a warp that walks down a column of a padded tile."""
    return plot_banks(strided(stride + padding, itemsize), itemsize)


explore(draw_request,
        stride=(1, 33), itemsize=[1, 2, 4, 8, 16], padding=(0, 4))

# %% [markdown]
# The lanes are `stride + padding` elements apart, as when they walk down a column of a matrix of that width.
# With a stride of 32 all of them want the same bank; a padding of 1 spreads them over all 32.

# %% [markdown]
# ## A tile, by rows and by columns
#
# That walk is the commonest conflict of all.
# A **tile** is a small piece of a matrix, kept in shared memory.
# **Write a tile by rows, read it by columns.**
# The tile's width is left open, for a reason that comes soon.

# %%
def make_turn(width):
    """A kernel that turns a 32 × 32 tile; its rows are `width` long."""
    @cuda.jit
    def turn(out):
        """Write a tile by rows, read it by columns."""
        tile = cuda.shared.array((32, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x] = 32 * y + x
        cuda.syncthreads()
        out[y, x] = tile[x, y]
    return turn


turned = np.zeros((32, 32), np.float32)
run = emulate(make_turn(32))[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)

# %%
run

# %% [markdown]
# The result is right, and the load is as bad as can be: a warp has one `y` and 32 values of `x`, so its lanes read one column, and lie 32 words apart.
# The store goes along a row and is free.

# %%
rows, columns = np.mgrid[0:32, 0:32]
column = [(lane, 5) for lane in range(32)]

plot_tile_banks(bank(4 * (32 * rows + columns)), column)

# %% [markdown]
# Each box is an element of the tile, with its bank as tint and number; the outlined boxes are what one warp reads.
# The whole column lies in bank 5.

# %% [markdown]
# **One column more.**
# If the rows are 33 words long, with a last column that nobody uses, each row begins one bank further on.
# That is **padding**:

# %%
run = emulate(make_turn(33))[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
run

# %%
rows, columns = np.mgrid[0:32, 0:33]

plot_tile_banks(bank(4 * (33 * rows + columns)), column, padding=1)

# %% [markdown]
# With 33 words a row, the column runs through all the banks, and so does each row.

# %% [markdown]
# **A swizzle** does the same without the 128 bytes of padding.
# Row `y` keeps its element `x` in column `x ^ y`, the exclusive or, which shuffles each row in its own way.

# %%
@cuda.jit
def turn_swizzled(out):
    """Write a swizzled tile by rows, read it by columns."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x ^ y] = 32 * y + x
    cuda.syncthreads()
    out[y, x] = tile[x, y ^ x]


run = emulate(turn_swizzled)[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
run

# %%
rows, columns = np.mgrid[0:32, 0:32]

plot_tile_banks(bank(4 * (32 * rows + columns)),
                [(lane, lane ^ 5) for lane in range(32)])

# %% [markdown]
# The elements of the matrix's column 5, where the swizzle keeps them: again a different bank for each row.

# %% [markdown]
# ## What could go wrong
#
# Padding must make the rows longer, the last number of the shape.
# Here the tile got a row more instead; the answer is still right, and a test of answers would pass.

# %%
@cuda.jit
def turn_padded_wrong(out):
    """Write a tile by rows, read it by columns; padded with a row."""
    tile = cuda.shared.array((33, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = 32 * y + x
    cuda.syncthreads()
    out[y, x] = tile[x, y]


run = emulate(turn_padded_wrong)[1, (32, 32)](turned)
check(turned, np.arange(1024).reshape(32, 32).T)
run

# %% [markdown]
# The report still says 32 wavefronts, and marks the line.
# Count before you believe a fix.

# %% [markdown]
# ## When conflicts hide
#
# `hop` did nothing but load from shared memory, so the queue was all there was to see.
# Most kernels wait much longer for **global memory**, the GPU's large memory, where their arguments lie.
# **Transpose through a tile: rows in, columns out** is one of them.

# %%
def make_transpose(width):
    """A kernel that transposes whole 32 × 32 tiles of `width`-long rows."""
    @cuda.jit
    def transpose(dst, src):
        """Transpose through a tile: rows in, columns out."""
        tile = cuda.shared.array((32, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
        tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y]
    return transpose


small = np.random.default_rng(1).random((64, 96), dtype=np.float32)
small_out = np.zeros((96, 64), np.float32)
run = emulate(make_transpose(33))[(3, 2), (32, 32)](small_out, small)
check(small_out, small.T)

# %%
N = 4096
src = np.random.default_rng(2).random((N, N), dtype=np.float32)
dst = np.zeros_like(src)
grid, block = (N // 32, N // 32), (32, 32)

plain, padded = (
    measure(make_transpose(width), bytes=2 * src.nbytes)[grid, block](dst, src)
    for width in (32, 33))
plain

# %%
padded

# %%
plot_times(["rows of 32 words", "rows of 33 words"],
           [plain.median_us, padded.median_us],
           spread_us=[(m.lower_us, m.upper_us) for m in (plain, padded)])

# %% [markdown]
# Bars are medians and whiskers hold half of the launches.
# One line takes 32 times as many wavefronts, and the whole kernel is 1.6 times slower: while some warps queue at a bank, others wait for global memory, and the two waits overlap.
# How much is left depends on which one is longer.

# %% [markdown]
# ## What changed
#
# | version | idea | conflicts of a column's load | shared memory |
# |---|---|---|---|
# | rows of 32 words | the obvious layout | 31 | 4,096 bytes |
# | rows of 33 words | padding: each row begins a bank further on | 0 | 4,224 bytes |
# | column `x ^ y` | swizzle: each row is shuffled in its own way | 0 | 4,096 bytes |
# | a row more | padding on the wrong axis | 31 | 4,224 bytes |

# %% [markdown]
# ## On your own
#
# ★ Which strides are free for elements of 8 bytes? Guess the rule, then try it with `plot_banks`.
#
# ★ `turn_float64`: turn tiles of `float64` without a conflict, with one column of padding at most. Which widths are free, now that a request goes by half warps?

# %%
task = exercise("turn_float64")
task

# %%
@cuda.jit
def turn_float64(out, a):
    """Write a tile by rows, read it by columns."""
    # your code, about 8 lines


task.check(turn_float64)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def turn_float64(out, a):
#     """Write a tile by rows, read it by columns."""
#     tile = cuda.shared.array((32, 33), float64)
#     rows, cols = a.shape[1:]
#     x, y = cuda.threadIdx.x, cuda.threadIdx.y
#     if y < rows and x < cols:
#         tile[y, x] = a[cuda.blockIdx.x, y, x]
#     cuda.syncthreads()
#     if y < cols and x < rows:
#         out[cuda.blockIdx.x, y, x] = tile[x, y]
# ```
#
# A row of 33 elements is 66 words, so the elements of a column are 2 banks apart, and the 16 lanes of a half warp need each bank once.
# Every odd width does the same.
#
# </details>

# %% [markdown]
# ★★★ `exercise("half_block")`: a block of 16 × 16 threads turns a tile of 16 × 16, so a warp covers two rows. One padding frees the stores and another one the loads: what frees both?
#
# The [assignment](assignments/14_bank_conflicts.ipynb) has 6 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Conflicts are a matter of one request of one warp.
# Two warps never conflict with one another; they take turns in any case.
#
# A compiler may merge loads: four neighbouring `float32` of one thread can become a single load of 16 bytes.
# The emulator counts what the source says, and a GPU counts what the compiler made of it.
#
# Nsight Compute shows these numbers as `l1tex__data_bank_conflicts_pipe_lsu_mem_shared`.
# In a kernel that also moves global memory, the counter holds up to 0.2 conflicts a request more: requests that had to wait for other traffic count as well.
# Its source page uses another ideal for elements of 8 and 16 bytes; here the hardware counter's definition is used throughout.
#
# How much shared memory a block may have depends on the GPU: 48 KB without asking, more if you ask.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, shared memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#shared-memory): the rule of words and banks, from its source.
# - [An efficient matrix transpose](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): the padded tile, as it was first explained.
# - [Numba: memory management](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array` and its arguments.
#
# *Next:* [Wait for one another](15_barriers_and_races.ipynb): a kernel gives the right answer and is wrong all the same; which two of its lines are to blame?
