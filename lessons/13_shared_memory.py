# %% [markdown]
# # Load once, use often
#
# *30 minutes*
#
# **What you'll do:** give the threads of a block a memory in common, so that nine loads of a number become one, and find out when that is worth it.
#
# **What you'll learn:**
#
# - tell from the addresses alone whether threads use a number more than once, and count it
# - bring a tile with its halo into shared memory, wait for one another, and work from there
# - allocate shared memory, statically and at the launch, and know how much there is
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb), and sectors, as in [Fetch no more than you use](12_coalescing.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, expect, measure,
                     plot_exchange, plot_halo, plot_times)

device

# %% [markdown]
# ## Nine loads for one number?
#
# A moving sum adds to each number its four neighbours on the left and its four on the right.
# **Each thread adds up its element and 4 on each side.**

# %%
RADIUS  = 4
THREADS = 256
N       = 4096


def window_spec(a):
    """What every version must return."""
    return np.convolve(a, np.ones(2 * RADIUS + 1, np.float32), "same")


@cuda.jit
def add_window(out, a):
    """Each thread adds up its element and 4 on each side."""
    i = cuda.grid(1)
    total = float32(0)
    for k in range(i - RADIUS, i + RADIUS + 1):
        if 0 <= k < a.size:
            total += a[k]
    if i < out.size:
        out[i] = total


# %%
a = np.random.default_rng(0).random(N, dtype=np.float32)
out = np.full_like(a, np.nan)

run = emulate(add_window)[N // THREADS, THREADS](out, a)
check(out, window_spec(a))

# %% [markdown]
# The emulator notes how often each element was loaded:

# %%
run.reuse["a"].loads[:16]

# %% [markdown]
# Nine times, all but the first four, and each time from global memory, where all other blocks want something, too.
# The nine threads that load a number sit side by side, in one block.
# If one of them fetched it and all could look, what would be left of the nine loads?

# %% [markdown]
# ## A test for reuse
#
# You need no machine to see it.
# Write down what address a thread loads, and put two different threads in.
# Is there a pair for which they are equal? Then there is **reuse**.

# %%
def addresses(thread):
    """The elements that a thread of `add_window` loads."""
    return {thread + k for k in range(-RADIUS, RADIUS + 1)}


addresses(100) & addresses(103)

# %% [markdown]
# Threads 100 and 103 have six elements in common.
# For a plain copy, `a[i]`, the answer is empty for each pair: no reuse.

# %% [markdown]
# ## A memory in common
#
# **Shared memory** lies in the multiprocessor that runs the block.
# It is small, close and fast, and every thread of the block can read what any other has written there.
#
# Here is the smallest use of it, and it is not reuse but talk: each thread has a number for another one.
# **The threads of a block hand their elements over, first to last.**

# %%
@cuda.jit
def reverse_block(out, a):
    """The threads of a block hand their elements over, first to last."""
    tile = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[thread] = a[i]
    cuda.syncthreads()
    out[i] = tile[THREADS - 1 - thread]


run = emulate(reverse_block)[N // THREADS, THREADS](out, a)
check(out, a.reshape(-1, THREADS)[:, ::-1].ravel())

# %% [markdown]
# Three lines are new.
# `cuda.shared.array(THREADS, float32)` is one array for the whole block; another block has another one.
# A thread puts its element into its own cell and takes the element from another thread's cell.
# Between the two stands `cuda.syncthreads()`, the **barrier**: no thread goes on before all threads of the block have come to it.
# Without it a thread could look into a cell that nobody has filled yet.

# %%
plot_exchange(stores=range(16), loads=range(15, -1, -1))

# %% [markdown]
# Orange is stored, blue is loaded, for a block of 16 threads.
# All lines above the barrier are over before one below it begins.

# %% [markdown]
# ## A tile and its halo
#
# Back to the moving sum.
# A block of 256 threads makes 256 sums, and needs 256 elements and four more on each side, its **halo**.
# Together they are the block's **tile**.

# %%
plot_halo(blocks=2, threads=10, radius=4)

# %% [markdown]
# Two blocks of 10 threads: only the elements in the halos are in two tiles.
# There are more cells than threads, so some threads bring two; dotted cells lie outside the array and become 0.
#
# **Predict.** How often will an element be loaded now? And the one at the edge of a block?
#
# <details><summary>Answer</summary>
#
# Once, by the block that it belongs to.
# The four elements on either side of an edge are in the halo of the other block as well, so twice.
#
# </details>
#
# **Bring a tile and its halo, wait, and add up windows of it.**

# %%
TILE = THREADS + 2 * RADIUS


@cuda.jit
def add_window_tiled(out, a):
    """Bring a tile and its halo, wait, and add up windows of it."""
    tile = cuda.shared.array(TILE, float32)
    thread = cuda.threadIdx.x
    first = cuda.blockIdx.x * THREADS - RADIUS
    for cell in range(thread, TILE, THREADS):
        i = first + cell
        tile[cell] = a[i] if 0 <= i < a.size else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += tile[thread + k]
    if cuda.grid(1) < out.size:
        out[cuda.grid(1)] = total


out[:] = np.nan
tiled = emulate(add_window_tiled)[N // THREADS, THREADS](out, a)
check(out, window_spec(a))

# %%
tiled.reuse["a"].loads[THREADS - 8:THREADS + 8]

# %%
tiled

# %% [markdown]
# Once, and twice around the edge between two blocks.
# The nine loads are still there, but they are loads of `tile`, and those stay inside the multiprocessor.

# %% [markdown]
# ## Is it faster?

# %% tags=["timing"]
MANY = 2**26
src = np.zeros(MANY, np.float32)
dst = np.zeros(MANY, np.float32)

direct, through_tile = (
    measure(kernel, bytes=2 * src.nbytes)[MANY // THREADS, THREADS](dst, src)
    for kernel in (add_window, add_window_tiled))
direct

# %% tags=["timing"]
through_tile

# %% tags=["timing"]
plot_times(["nine loads each", "through a tile"],
           [direct.median_us, through_tile.median_us],
           limit_us=2 * src.nbytes / direct.copy_gb_per_s / 1e3,
           limit_label="a copy")

# %% [markdown]
# It is not nine times faster: the nine loads were never nine journeys to global memory, since a cache sits on the way and sees the same reuse.
# A tile is a cache that you fill yourself: it takes fewer instructions for each use, and keeps what you chose, for as long as you need it.

# %% [markdown]
# ## When it pays
#
# Shared memory is worth its lines for three reasons:
#
# - several threads of a block use the same values, as above
# - threads of a block have something to tell one another, as in `reverse_block`
# - lanes cannot stand side by side in global memory both when they load and when they store
#
# The third needs no reuse at all.
# **Each thread moves one element across the diagonal.**

# %%
@cuda.jit
def transpose(dst, src):
    """Each thread moves one element across the diagonal."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


square = a.reshape(64, 64)
turned = np.zeros_like(square)
run = emulate(transpose)[(2, 2), (32, 32)](turned, square)
check(turned, square.T)
run

# %% [markdown]
# The lanes load along a row, and so they store down a column: 32 sectors.
# Swapping `row` and `col` would only move the trouble to the load.
# **Bring a tile by rows, wait, and take it by columns.**

# %%
@cuda.jit
def transpose_tiled(dst, src):
    """Bring a tile by rows, wait, and take it by columns."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    tile[y, x] = src[top + y, left + x]
    cuda.syncthreads()
    dst[left + y, top + x] = tile[x, y]


turned[:] = 0
run = emulate(transpose_tiled)[(2, 2), (32, 32)](turned, square)
check(turned, square.T)
run

# %% [markdown]
# Now the lanes stand side by side in both arrays, 4 sectors each.
# The column has moved into the tile, where no sectors are counted.
# (One number in this report is large all the same; the next lesson is for that one.)

# %% [markdown]
# ## When it does not
#
# **Copy through a tile that nobody else looks into.**

# %%
@cuda.jit
def copy_through_tile(out, a):
    """Copy through a tile that nobody else looks into."""
    tile = cuda.shared.array(THREADS, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = a[i]
    cuda.syncthreads()
    out[i] = tile[cuda.threadIdx.x]


run = emulate(copy_through_tile)[N // THREADS, THREADS](out, a)
check(out, a)
run.reuse["a"]

# %% [markdown]
# Each byte was asked for once, so there is nothing to save, and the accesses are coalesced without it.
# Two instructions and a barrier more, for nothing.

# %% [markdown]
# ## How much there is
#
# Without opting in, a block gets this many bytes:

# %%
cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK

# %% [markdown]
# That is room for 12,288 numbers of 4 bytes, and no more:

# %%
@cuda.jit
def too_large(out):
    """Ask for one number more than there is room for."""
    tile = cuda.shared.array(12_289, float32)
    tile[cuda.threadIdx.x] = 1


with expect(ValueError):
    emulate(too_large)[1, 32](out)

# %% [markdown]
# How much a multiprocessor has, and how much of it one block can get by asking, depends on the GPU.
# What one block takes, another cannot have: with large tiles fewer blocks run at the same time.
#
# The shape of a shared array must be known when the kernel is compiled: a number, or a global name for one.
# An argument is too late:

# %%
@cuda.jit
def sized_too_late(out, n):
    """Ask for as many cells as the caller says."""
    tile = cuda.shared.array(n, float32)
    tile[cuda.threadIdx.x] = 1


with expect(TypeError):
    emulate(sized_too_late)[1, 32](out, 32)

# %% [markdown]
# ## Sized at the launch
#
# If only the launch knows the size, the shape is 0, and the launch names the bytes, in fourth place after the stream.
# This is **dynamic shared memory**.
# A block has one piece of it: several arrays must be cut from it.
# **Split a block's elements into the even and the odd ones.**

# %%
@cuda.jit
def split(evens, odds, a):
    """Split a block's elements into the even and the odd ones."""
    both = cuda.shared.array(0, float32)
    half = cuda.blockDim.x // 2
    even, odd = both[:half], both[half:]
    thread = cuda.threadIdx.x
    if thread % 2 == 0:
        even[thread // 2] = a[cuda.grid(1)]
    else:
        odd[thread // 2] = a[cuda.grid(1)]
    cuda.syncthreads()
    if thread < half:
        i = cuda.blockIdx.x * half + thread
        evens[i] = even[thread]
        odds[i] = odd[thread]


evens, odds = np.zeros((2, N // 2), np.float32)
split[N // 128, 128, 0, 128 * a.itemsize](evens, odds, a)
check(evens, a[0::2])

# %%
check(odds, a[1::2])

# %% [markdown]
# ## What could go wrong
#
# Two arrays of shape 0 look like two arrays, and are one: both begin at the first byte.

# %%
@cuda.jit
def split_wrong(evens, odds, a):
    """Split a block's elements, with two arrays that are one."""
    even = cuda.shared.array(0, float32)
    odd = cuda.shared.array(0, float32)
    thread = cuda.threadIdx.x
    if thread % 2 == 0:
        even[thread // 2] = a[cuda.grid(1)]
    cuda.syncthreads()
    if thread % 2 == 1:
        odd[thread // 2] = a[cuda.grid(1)]
    cuda.syncthreads()
    if thread < cuda.blockDim.x // 2:
        i = cuda.blockIdx.x * (cuda.blockDim.x // 2) + thread
        evens[i] = even[thread]
        odds[i] = odd[thread]


emulate(split_wrong)[N // 128, 128, 0, 128 * a.itemsize](evens, odds, a)
with expect(AssertionError):
    check(evens, a[0::2])

# %% [markdown]
# The odd elements have overwritten the even ones.
# Numba cannot see it, and neither does a GPU: only the answer is wrong.
#
# The other classic is to read what nobody wrote.
# A shared array lives as long as its block and is not cleared: at its start it holds whatever an earlier block left.
# So forget the halo on the right:

# %%
@cuda.jit
def add_window_wrong(out, a):
    """Add up windows of a tile that lacks the end of its halo."""
    tile = cuda.shared.array(TILE, float32)
    thread = cuda.threadIdx.x
    i = cuda.grid(1)
    if thread < RADIUS:
        tile[thread] = a[i - RADIUS] if i >= RADIUS else float32(0)
    tile[thread + RADIUS] = a[i]
    cuda.syncthreads()
    total = float32(0)
    for k in range(2 * RADIUS + 1):
        total += tile[thread + k]
    out[i] = total


run = emulate(add_window_wrong)[N // THREADS, THREADS](out, a)
run.uninitialised

# %% [markdown]
# The report names the line, and how many cells were read before anyone wrote them: the last four of each of the 16 tiles.

# %% [markdown]
# ## What changed
#
# | version | idea | loads of an element | what it is for |
# |---|---|---|---|
# | `add_window` | each thread loads its whole window | 9 | |
# | `add_window_tiled` | a tile and its halo, loaded once | 1, near an edge 2 | reuse |
# | `reverse_block` | each thread takes what another brought | 1 | talk |
# | `transpose_tiled` | rows in, columns out | 1 | coalescing |
# | `copy_through_tile` | a tile for nothing | 1 | nothing |

# %% [markdown]
# ## On your own
#
# ★ In which of these do several threads use the same element: `out[i] = a[i] + b[i]`; `out[i] = a[i] * b[0]`; `out[row] += m[row, col] * x[col]`, with a thread for each row? Write down what two threads load.
#
# ★★ `pool`: each element becomes the largest of itself and the three before it. Load each element about once.

# %%
task = exercise("pool")
task

# %%
THREADS = 256
REACH = 3
WIDTH = THREADS + REACH


@cuda.jit
def pool(out, a):
    """Each thread finds the largest of its element and those before it."""
    i = cuda.grid(1)
    if i < a.size:
        found = a[i]
        for k in range(max(i - REACH, 0), i):
            found = max(found, a[k])
        out[i] = found


task.check(pool)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# THREADS = 256
# REACH = 3
# WIDTH = THREADS + REACH
#
#
# @cuda.jit
# def pool(out, a):
#     """Each thread finds the largest of its element and those before it."""
#     tile = cuda.shared.array(WIDTH, float32)
#     thread = cuda.threadIdx.x
#     first = cuda.blockIdx.x * THREADS - REACH
#     for cell in range(thread, WIDTH, THREADS):
#         if first + cell < a.size:
#             tile[cell] = a[max(first + cell, 0)]
#     cuda.syncthreads()
#     i = cuda.grid(1)
#     if i < a.size:
#         found = tile[thread]
#         for k in range(1, REACH + 1):
#             found = max(found, tile[thread + k])
#         out[i] = found
# ```
#
# The tile has three cells more than the block has threads, for the last elements of the block before.
# In the first block they repeat the first element, which changes no maximum.
#
# </details>

# %% [markdown]
# ★ `exercise("reverse")`: reverse a whole array with the tile of `reverse_block`. Which block's place does a block write to?
#
# ★★★ `exercise("life")`: one step of the game of life, in tiles, in a world that goes on at the opposite edge.
#
# The [assignment](assignments/13_shared_memory.ipynb) has 6 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# Shared memory and the L1 cache are one memory in each multiprocessor, which the driver divides by what the kernels ask for.
#
# Without opting in, a block gets 48 KB, static or dynamic.
# Only dynamic shared memory can be larger: call `allow_dynamic_shared(kernel, 96 * 1024)`, of `helpers`, once before the launch; then the kernel may be launched with up to 96 KB.
#
# The emulator starts each block with cells that nobody wrote, and says when one is read; a GPU says nothing, and often there is a 0.
#
# Several threads that use one value need not share memory: a warp can hand values round by shuffles, and a value that *all* threads use at once fits constant memory.
#
# Make a tile no larger than it pays: with more shared memory a block, fewer blocks run beside it, and less work is on its way while one waits.

# %% [markdown]
# ## Further reading
#
# - [Numba: shared memory and thread synchronization](https://numba.readthedocs.io/en/stable/cuda/memory.html#shared-memory-and-thread-synchronization): `cuda.shared.array`, static and dynamic.
# - [Using shared memory in CUDA C/C++](https://developer.nvidia.com/blog/using-shared-memory-cuda-cc/): reversing a block, as it was first told.
#
# *Next:* [Share a tile without queueing](14_bank_conflicts.ipynb): why does a tile that is read by columns take 32 turns for each request, and the same tile with one more column a single one?
