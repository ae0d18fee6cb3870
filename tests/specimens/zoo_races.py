"""The zoo's second part: races. `zoo.py` says how to read it."""

from numba import cuda, int32

from tests.specimens.labelled import ramp, zeros
from tests.specimens.zoo import specimen

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
