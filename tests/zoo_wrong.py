"""The second half of the zoo: what goes wrong. `zoo.py` says how to read it."""

import numpy as np
from labelled import Unwritten, ramp, zeros
from numba import cuda, int32
from zoo import specimen

FULL = 0xFFFFFFFF

# ---------------------------------------------------------- 5. races within a warp


@specimen(1, 32, ramp(32), zeros(32), races=[("RAW", "shared", "warp", 32)])
def raw_in_a_warp(a, out):
    """Lanes need not be in step: without `syncwarp` a lane may read too early."""
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cells[t] = a[t]
    out[t] = cells[31 - t]


@specimen(1, 32, ramp(32), zeros(32))
def raw_in_a_warp_mended(a, out):
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cells[t] = a[t]
    cuda.syncwarp()
    out[t] = cells[31 - t]


@specimen(1, 32, ramp(32), zeros(32), races=[("WAR", "shared", "warp", 32)])
def war_in_a_warp(a, out):
    """A lane may store what its mirror image has not loaded yet."""
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cells[t] = a[t]
    cuda.syncwarp()
    x = cells[31 - t]
    cells[t] = x
    out[t] = cells[t]


@specimen(1, 32, zeros(32), races=[("WAW", "shared", "warp", 16)])
def waw_in_a_warp(out):
    """Two lanes store to each cell, and one of them wins."""
    cells = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    cells[t // 2] = t
    cuda.syncwarp()
    out[t] = cells[t // 2]


@specimen(1, 32, zeros(32), races=[("RAW", "shared", "warp", 32)])
def syncwarp_misplaced(out):
    """Before the store it orders nothing."""
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cuda.syncwarp()
    cells[t] = t
    out[t] = cells[31 - t]


@specimen(1, 64, zeros(64), races=[("RAW", "shared", "block", 64)])
def syncwarp_for_two_warps(out):
    """It orders the lanes of one warp, and not two warps."""
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    cuda.syncwarp()
    out[t] = cells[63 - t]


# ---------------------------------------------------------- 6. races within a block


@specimen(1, 64, zeros(64), races=[("RAW", "shared", "block", 64)])
def raw_in_a_block(out):
    """Stored by one warp, loaded by the other, and no barrier between."""
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    out[t] = cells[63 - t]


@specimen(1, 64, zeros(64))
def raw_in_a_block_mended(out):
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    cuda.syncthreads()
    out[t] = cells[63 - t]


@specimen(1, 64, zeros(64), races=[("WAR", "shared", "block", 64)])
def war_in_a_block(out):
    """Turned round in place: load all, then a barrier, then store."""
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    cuda.syncthreads()
    x = cells[63 - t]
    cells[t] = x
    out[t] = cells[t]


@specimen(1, 64, zeros(64), races=[("WAW", "shared", "block", 64)])
def waw_in_a_block(out):
    """Two lines store to a cell, from two warps."""
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    cells[63 - t] = -t
    cuda.syncthreads()
    out[t] = cells[t]


@specimen(1, 32, zeros(32), races=[("WAW", "shared", "warp", 496, "alike")])
def all_write_the_same(out):
    """Whoever wins, the value is the same."""
    cells = cuda.shared.array(1, int32)
    cells[0] = 7
    cuda.syncwarp()
    out[cuda.threadIdx.x] = cells[0]


@specimen(
    *(1, 64, zeros(64)),
    races=[("RAW", "shared", "block", 32)],
    unseen="racecheck does not hold an atomic against a plain access",
)
def atomic_against_plain(out):
    """Atomics are ordered among themselves, and not with a plain load."""
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        cells[t] = 0
    cuda.syncthreads()
    if t < 32:
        cuda.atomic.add(cells, t, 1)
    else:
        out[t] = cells[t - 32]


# ---------------------------------------------------------- 7. races of the grid


@specimen(2, 64, zeros(128), zeros(128), races=[("RAW", "global", "grid", 128)])
def raw_in_the_grid(box, out):
    """No barrier of a block orders blocks."""
    i = cuda.grid(1)
    box[i] = i
    cuda.syncthreads()
    out[i] = box[127 - i]


@specimen(2, 64, ramp(128), races=[("WAR", "global", "grid", 128)])
def war_in_the_grid(a):
    """Turned round in place, from block to block."""
    i = cuda.grid(1)
    x = a[127 - i]
    a[i] = x


@specimen(2, 64, zeros(64), races=[("WAW", "global", "grid", 64)])
def waw_in_the_grid(out):
    """Every block stores to the same cells."""
    out[cuda.threadIdx.x] = cuda.blockIdx.x


@specimen(
    *(2, 32, zeros(1)),
    races=[
        *(("WAR", "global", "grid", 2048), ("WAR", "global", "warp", 1984)),
        ("WAW", "global", "grid", 1024, "alike"),
        ("WAW", "global", "warp", 992, "alike"),
    ],
)
def lost_update(out):
    """`+=` is a load and a store: 64 threads, any two of them; here all store 1."""
    out[0] += 1


@specimen(2, 32, zeros(1))
def lost_update_mended(out):
    cuda.atomic.add(out, 0, 1)


@specimen(2, 32, zeros(2), zeros(1), zeros(1), races=[("RAW", "global", "grid", 1)])
def ticket_without_a_fence(parts, ticket, out):
    """The last block reads what the other wrote, perhaps not yet to be seen."""
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = 7
        if cuda.atomic.add(ticket, 0, 1) == 1:
            out[0] = parts[0] + parts[1]


@specimen(2, 32, zeros(2), zeros(1), zeros(1))
def ticket_with_a_fence(parts, ticket, out):
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = 7
        cuda.threadfence()
        if cuda.atomic.add(ticket, 0, 1) == 1:
            out[0] = parts[0] + parts[1]


# ---------------------------------------------------------- 8. barriers that are missed


@specimen(1, 64, zeros(64), error=("BarrierError", "threads 40 to 63 never come to it"))
def barrier_after_a_return(out):
    """A GPU does not wait for threads that left; the language forbids it."""
    t = cuda.threadIdx.x
    if t >= 40:
        return
    cuda.syncthreads()
    out[t] = 1


@specimen(1, 32, zeros(32), error=("BarrierError", "reached by 16 of the 32 threads"))
def barrier_in_a_branch(out):
    """The other half of the warp has ended when it comes to it."""
    t = cuda.threadIdx.x
    if t % 2:
        cuda.syncthreads()
    out[t] = 1


@specimen(1, 64, zeros(64), error=("BarrierError", "of the 64 threads"))
def barrier_in_an_uneven_loop(out):
    """Each lane comes as often as its own loop turns."""
    t = cuda.threadIdx.x
    for _ in range(t % 4):
        cuda.syncthreads()
    out[t] = 1


@specimen(
    *(1, 64, zeros(64)),
    error=("BarrierError", "wait at the barrier of line"),
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
    error=("BarrierError", "not reached by all threads of the grid"),
    hangs="one block waits for the grid, and the other has left",
)
def grid_barrier_in_a_branch(out):
    """All blocks must come, or the first waits for ever."""
    if cuda.blockIdx.x == 0:
        cuda.cg.this_grid().sync()
    out[cuda.grid(1)] = 1


@specimen(
    *(1, 32, zeros(32)),
    error=("BarrierError", "names lanes that never come"),
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
    error=("BarrierError", "does not name lane"),
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
