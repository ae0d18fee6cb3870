"""The zoo's third part: what is forbidden, and what is silent. `zoo.py` says how to
read it.
"""

import numpy as np
from numba import cuda, int32

from tests.specimens.labelled import Unwritten, ramp, zeros
from tests.specimens.zoo import specimen

FULL = 0xFFFFFFFF

# ---------------------------------------------------------- 8. barriers that are missed


@specimen(1, 64, zeros(64), found=("barriers", "missed by 24 threads"))
def barrier_after_a_return(out):
    """A GPU does not wait for threads that left; the language forbids it."""
    t = cuda.threadIdx.x
    if t >= 40:
        return
    cuda.syncthreads()
    out[t] = 1


@specimen(
    *(1, 32, zeros(32)),
    found=("barriers", "missed by 16 threads"),
    tool="synccheck",
)
def barrier_in_a_branch(out):
    """The other half of the warp has ended when it comes to it."""
    t = cuda.threadIdx.x
    if t % 2:
        cuda.syncthreads()
    out[t] = 1


@specimen(1, 64, zeros(64), found=("barriers", "missed by 48 threads"))
def barrier_in_an_uneven_loop(out):
    """Each lane comes as often as its own loop turns."""
    t = cuda.threadIdx.x
    for _ in range(t % 4):
        cuda.syncthreads()
    out[t] = 1


@specimen(
    *(1, 64, zeros(64)),
    found=("barriers", "missed by 32 threads"),
    tool="synccheck",
)
def two_barriers(out):
    """Two warps at two barriers: a GPU takes them for one."""
    t = cuda.threadIdx.x
    if t < 32:
        cuda.syncthreads()
        out[t] = 1
    else:
        cuda.syncthreads()
        out[t] = 2


@specimen(
    *(1, 32, zeros(32)),
    error=("BarrierError", "wait at the barrier of line"),
    hangs="lanes of one warp wait at two barriers",
)
def two_barriers_in_a_warp(out):
    """Half of a warp waits at each, for ever."""
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
        out[t] = 1
    else:
        cuda.syncthreads()
        out[t] = 2


@specimen(
    *(2, 32, zeros(64)),
    error=("BarrierError", "not all blocks of the grid reach the grid barrier"),
    hangs="one block waits for the grid, and the other has left",
)
def grid_barrier_in_a_branch(out):
    """All blocks must come, or the first waits for ever."""
    if cuda.blockIdx.x == 0:
        cuda.cg.this_grid().sync()
    out[cuda.grid(1)] = 1


@specimen(
    *(1, 32, zeros(32)),
    error=("BarrierError", "names lanes that never execute it"),
    hangs="16 lanes wait for 16 others, which wait for the block",
)
def mask_names_too_many(out):
    """16 lanes wait for all 32, and the others elsewhere."""
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncwarp(FULL)
    cuda.syncthreads()
    out[t] = 1


@specimen(1, 32, zeros(32), alone=True)
def mask_names_those_who_left(out):
    """Lanes that returned are not waited for."""
    t = cuda.threadIdx.x
    if t >= 16:
        return
    cuda.syncwarp(FULL)
    out[t] = 1


@specimen(
    *(1, 32, zeros(32)),
    found=("lanes", "lanes 16 to 31 call it"),
    tool="synccheck",
    alone=True,
)
def mask_names_too_few(out):
    """All lanes come, and the mask names half of them."""
    cuda.syncwarp(0xFFFF)
    out[cuda.threadIdx.x] = 1


# ---------------------------------------------------------- 9. read before written


@specimen(1, 32, zeros(32))
def shared_unwritten(out):
    """Half of the cells hold what an earlier block left."""
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 16:
        cells[t] = t
    cuda.syncwarp()
    out[t] = cells[t]  # uninitialised 16


@specimen(1, 32, zeros(32))
def local_unwritten(out):
    """A sum that begins with whatever is there."""
    sums = cuda.local.array(4, int32)
    t = cuda.threadIdx.x
    sums[t % 4] = t
    out[t] = sums[(t + 1) % 4]  # uninitialised 32


@specimen(1, 32, Unwritten(32), zeros(32), tool="initcheck")
def output_unwritten(a, out):
    """`device_array` promises room, and no zeros."""
    t = cuda.threadIdx.x
    out[t] = a[t]  # uninitialised 32


# ---------------------------------------------------------- 10. outside an array


@specimen(
    *(2, 64, ramp(100), zeros(100)),
    error=("KernelIndexError", "out[100]"),
    tool="memcheck",
    alone=True,
)
def past_the_end(a, out):
    """No guard: 28 threads go on behind the arrays."""
    i = cuda.grid(1)
    out[i] = 1


@specimen(
    *(1, 64, zeros(64)),
    error=("KernelIndexError", "cells[48]"),
    tool="memcheck",
    alone=True,
)
def past_the_end_of_shared(out):
    """A shared array of 48 cells, for 64 threads."""
    cells = cuda.shared.array(48, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    cuda.syncthreads()
    out[t] = cells[63 - t]


@specimen(1, 64, zeros(64), error=("KernelIndexError", "first[32]"))
def into_the_next_array(out):
    """memcheck sees the block's whole memory, and not where one array ends."""
    first = cuda.shared.array(32, int32)
    second = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    second[t % 32] = 0
    cuda.syncthreads()
    first[t] = t
    cuda.syncthreads()
    out[t] = first[t] + second[t % 32]


@specimen(
    *(1, 32, zeros(32)),
    error=("KernelIndexError", "out[-40]"),
    tool="memcheck",
    alone=True,
)
def far_below_zero(out):
    """A negative index counts from the end once, and not twice."""
    out[cuda.threadIdx.x - 40] = 1


@specimen(
    *(1, 32, zeros(32)),
    error=("KernelIndexError", "out[18446744073709551615]"),
    tool="memcheck",
    alone=True,
)
def unsigned_below_zero(out):
    """An unsigned index has no negative values: zero minus one is far away."""
    out[np.uint64(cuda.threadIdx.x) - np.uint64(1)] = 1


# ---------------------------------------------------------- 11. silent mistakes


@specimen(1, 32, ramp(32), zeros(32))
def wraps_round(a, out):
    """Thread 0 reads the last element: legal, and seldom meant."""
    t = cuda.threadIdx.x
    out[t] = a[t - 1]  # warning wrap


@specimen(1, 32, zeros(32, dtype="i1"))
def does_not_fit(out):
    """200 becomes -56 in eight bits."""
    t = cuda.threadIdx.x
    out[t] = 200 + t  # warning overflow


@specimen(1, 32, zeros(32, dtype="f4"))
def float64_among_float32(out):
    """`0.5` is a float64, and so is what it is multiplied with."""
    t = cuda.threadIdx.x
    out[t] = out[t] * 0.5  # warning float64


@specimen(1, 32, zeros(100))
def grid_too_short(out):
    """One block of 32 threads for 100 elements."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1  # warning grid
