"""Kernels that differ in one thing from those of the lessons on barriers and blocks,
for a cause that they name: it is gone, and so is the wrong answer, or it comes.
"""

from numba import cuda, float32, int32, uint32

WAIT_NS = uint32(2000)  # longer than a warp needs for the rest


def make_rotate_by_a_constant(threads):
    """The lesson's `rotate_wrong`, with a number where it has `a.size`."""

    @cuda.jit
    def rotate_by_a_constant(out, a):
        tile = cuda.shared.array(1024, float32)
        thread = cuda.threadIdx.x
        tile[thread] = a[thread]
        out[thread] = tile[(thread + 1) % threads]

    return rotate_by_a_constant


@cuda.jit
def rotate_by_a_constant_late(out, a):
    """The same for 64 threads, which wait before they load."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.nanosleep(WAIT_NS)
    out[thread] = tile[(thread + 1) % 64]


@cuda.jit
def rotate_late(out, a):
    """The lesson's `rotate_wrong`, whose warp 1 waits before it stores."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    if thread // 32 == 1:
        cuda.nanosleep(WAIT_NS)
    tile[thread] = a[thread]
    out[thread] = tile[(thread + 1) % a.size]


@cuda.jit
def relay_late(out, a):
    """The lesson's `relay` without its second barrier, whose last warp waits before
    each load.
    """
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    total = float32(0)
    for first in range(0, a.size, 1024):
        tile[thread] = a[first + thread]
        cuda.syncthreads()
        if thread // 32 == 31:
            cuda.nanosleep(WAIT_NS)
        total += tile[(thread + 1) % 1024]
    out[thread] = total


def make_relay_by_the_block(before, after):
    """The lesson's `relay`, with the block's size where it has a number."""

    @cuda.jit
    def relay_by_the_block(out, a):
        tile = cuda.shared.array(1024, float32)
        thread = cuda.threadIdx.x
        total = float32(0)
        for first in range(0, a.size, cuda.blockDim.x):
            tile[thread] = a[first + thread]
            if before:
                cuda.syncthreads()
            total += tile[(thread + 1) % cuda.blockDim.x]
            if after:
                cuda.syncthreads()
        out[thread] = total

    return relay_by_the_block


def make_total(before, after):
    """The lesson's `total`, with or without each of its two fences."""

    @cuda.jit
    def total(out, parts, finished, a):
        block = cuda.blockIdx.x
        parts[block] += a[block]
        if before:
            cuda.threadfence()
        ticket = cuda.atomic.add(finished, 0, 1)
        if after:
            cuda.threadfence()
        if ticket == cuda.gridDim.x - 1:
            whole = float32(0)
            for i in range(parts.size):
                whole += parts[i]
            out[0] = whole

    return total


@cuda.jit
def total_of_stores(out, parts, finished, a):
    """The lesson's `total` without fences, where no block loads its part first."""
    block = cuda.blockIdx.x
    parts[block] = a[block]
    ticket = cuda.atomic.add(finished, 0, 1)
    if ticket == cuda.gridDim.x - 1:
        whole = float32(0)
        for i in range(parts.size):
            whole += parts[i]
        out[0] = whole


@cuda.jit
def total_of_sectors(out, parts, finished, a):
    """The lesson's `total` without fences, with each part in a sector of its own."""
    block = cuda.blockIdx.x
    parts[8 * block] += a[block]
    ticket = cuda.atomic.add(finished, 0, 1)
    if ticket == cuda.gridDim.x - 1:
        whole = float32(0)
        for i in range(0, parts.size, 8):
            whole += parts[i]
        out[0] = whole


@cuda.jit
def letter_unseen(out, box, flag):
    """The lesson's `letter` without the second fence; block 1 has not looked before."""
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) < 1:
            pass
        box[0] = 42
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)
    else:
        cuda.atomic.add(flag, 0, 1)
        while cuda.atomic.add(flag, 0, 0) < 2:
            pass
        out[0] = box[0]


@cuda.jit
def line_up(places, tickets):
    """Each block writes its number where its ticket says."""
    if cuda.threadIdx.x == 0:
        places[cuda.atomic.add(tickets, 0, 1)] = cuda.blockIdx.x


@cuda.jit
def add_up(out, a):
    """Each thread adds its number, by an atomic."""
    cuda.atomic.add(out, 0, a[cuda.grid(1)])


@cuda.jit
def barriers_around(out, a):
    """Eight warps store in the same cells, with a barrier before and after."""
    tile = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    cuda.syncthreads()
    tile[thread % 32] = a[thread]
    cuda.syncthreads()
    out[thread] = tile[thread % 32]


@cuda.jit
def rotate_by_warps(out, a):
    """The lesson's `rotate`, with a barrier of the warp."""
    tile = cuda.shared.array(1024, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    cuda.syncwarp()
    out[thread] = tile[(thread + 1) % a.size]


@cuda.jit
def rotate_some_early(out, a):
    """Threads without an element leave before the barrier."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread >= a.size:
        return
    tile[thread] = a[thread]
    cuda.syncthreads()
    out[thread] = tile[(thread + 1) % a.size]


def make_two_stores(barrier):
    """Two lines that store to one cell, with or without a barrier between them."""

    @cuda.jit
    def two_stores(out, a):
        tile = cuda.shared.array(1, float32)
        thread = cuda.threadIdx.x
        if thread == 0:
            tile[0] = 0
        if barrier:
            cuda.syncthreads()
        if thread == 40:
            tile[0] = a[thread]
        cuda.syncthreads()
        out[thread] = tile[0]

    return two_stores


@cuda.jit
def unequal_rounds(out, a):
    """Each thread goes through the array in steps of the block, with a barrier."""
    for i in range(cuda.threadIdx.x, a.size, 256):
        out[i] = a[i]
        cuda.syncthreads()


@cuda.jit
def equal_rounds(out, a):
    """The same rounds for all threads."""
    for first in range(0, a.size, 256):
        i = first + cuda.threadIdx.x
        if i < a.size:
            out[i] = a[i]
        cuda.syncthreads()


@cuda.jit
def count_all(out):
    """All threads add to one cell, between two barriers."""
    count = cuda.shared.array(1, int32)
    thread = cuda.threadIdx.x
    if thread == 0:
        count[0] = 0
    cuda.syncthreads()
    count[0] += 1
    cuda.syncthreads()
    out[thread] = count[0]


def make_in_place(barriers):
    """The lesson's `rotate_in_place`, with these of a barrier after each line."""
    one, two, three, four = barriers

    @cuda.jit
    def in_place(out, a):
        tile = cuda.shared.array(1024, float32)
        thread = cuda.threadIdx.x
        tile[thread] = a[thread]
        if one:
            cuda.syncthreads()
        taken = tile[(thread + 1) % a.size]
        if two:
            cuda.syncthreads()
        tile[thread] = taken
        if three:
            cuda.syncthreads()
        out[thread] = tile[thread]
        if four:
            cuda.syncthreads()

    return in_place


def make_total_of_blocks(barrier):
    """The last-block total with many threads a block."""

    @cuda.jit
    def total(out, parts, finished, a):
        thread, i = cuda.threadIdx.x, cuda.grid(1)
        parts[i] = a[i]
        if barrier:
            cuda.syncthreads()
        if thread == 0:
            cuda.threadfence()
            ticket = cuda.atomic.add(finished, 0, 1)
            cuda.threadfence()
            if ticket == cuda.gridDim.x - 1:
                whole = float32(0)
                for i in range(parts.size):
                    whole += parts[i]
                out[0] = whole

    return total


def make_sum_by_last(sum_by_block, reset):
    """The lesson's `sum_by_last`, whose last block sets `finished` back by an atomic,
    by a plain store, or not at all.
    """

    @cuda.jit
    def sum_by_last(out, parts, finished, a):
        last = cuda.shared.array(1, int32)
        part = sum_by_block(a, cuda.grid(1), cuda.gridsize(1))
        if cuda.threadIdx.x == 0:
            parts[cuda.blockIdx.x] = part
            cuda.threadfence()
            ticket = cuda.atomic.add(finished, 0, 1)
            cuda.threadfence()
            last[0] = ticket == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0]:
            whole = sum_by_block(parts, cuda.threadIdx.x, cuda.blockDim.x)
            if cuda.threadIdx.x == 0:
                out[0] = whole
                if reset == 2:
                    cuda.atomic.exch(finished, 0, 0)
                elif reset == 1:
                    finished[0] = 0

    return sum_by_last


def make_two_tiles(barrier):
    """The lesson's `relay` with two tiles that take turns, and one barrier a round."""

    @cuda.jit
    def two_tiles(out, a):
        tiles = cuda.shared.array((2, 1024), float32)
        thread = cuda.threadIdx.x
        total = float32(0)
        for first in range(0, a.size, 1024):
            turn = first // 1024 % 2
            tiles[turn, thread] = a[first + thread]
            if barrier:
                cuda.syncthreads()
            total += tiles[turn, (thread + 1) % 1024]
        out[thread] = total

    return two_tiles
