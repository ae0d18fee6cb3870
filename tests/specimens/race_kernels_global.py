"""Kernels that race in global memory or do not, with the truth by construction: fences,
atomics, locks, flags and the barrier of the grid.

compute-sanitizer's racecheck sees none of the races in global memory.
"""

from numba import cuda, float32, int32

from tests.specimens.labelled import (
    CLEAN,
    MINOR,
    RACE,
    Case,
    clean_if,
    family,
    ramp,
    zeros,
)

NO, YES = False, True
OUTSIDE = "racecheck looks at shared memory only"


def in_global(kernel, launch, arguments, verdict):
    """A case whose races are in global memory."""
    unseen = "" if verdict == CLEAN else OUTSIDE
    return Case(kernel, launch, arguments, verdict, "global", unseen)


# ------------------------------------------------------------ global memory


@family(atomic=(NO, YES))
def histogram_in_global(atomic):
    """Counting with `+=` loses counts."""

    @cuda.jit
    def kernel(a, out):
        which = a[cuda.grid(1)] % 16
        if atomic:
            cuda.atomic.add(out, which, 1)
        else:
            out[which] += 1

    return in_global(kernel, (2, 64), (ramp(128), zeros(16)), clean_if(atomic))


@family(shift=(0, 1, 64), barrier=(NO, YES))
def mailbox(shift, barrier):
    """A barrier orders a block; what lies in another block's cells it does not."""

    @cuda.jit
    def kernel(box, out):
        i = cuda.grid(1)
        box[i] = i
        if barrier:
            cuda.syncthreads()
        out[i] = box[(i + shift) % box.size]

    arguments = zeros(128), zeros(128)
    return in_global(kernel, (2, 64), arguments, clean_if(shift == 0))


@family(barrier=(NO, YES))
def mailbox_of_a_block(barrier):
    """One block alone is ordered by its barrier, in global memory too."""

    @cuda.jit
    def kernel(box, out):
        t = cuda.threadIdx.x
        box[t] = t
        if barrier:
            cuda.syncthreads()
        out[t] = box[63 - t]

    arguments = zeros(64), zeros(64)
    return in_global(kernel, (1, 64), arguments, clean_if(barrier))


@family(apart=(NO, YES))
def smoothing(apart):
    """In place, a thread reads what its neighbour writes."""

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        right = a[i + 1] if i + 1 < a.size else 0
        if apart:
            out[i] = a[i] + right
        else:
            a[i] = a[i] + right

    return in_global(kernel, (2, 64), (ramp(128), zeros(128)), clean_if(apart))


@family(half=(NO, YES))
def transpose_in_place(half):
    """Each pair is exchanged by one thread, or by both at once."""

    @cuda.jit
    def kernel(a):
        row, col = cuda.grid(2)
        if row < col or not half:
            a[row, col], a[col, row] = a[col, row], a[row, col]

    arguments = (ramp(256).reshape(16, 16),)
    return in_global(kernel, ((2, 2), (8, 8)), arguments, clean_if(half))


@family(overlap=(NO, YES), alike=(NO, YES))
def chunks(overlap, alike):
    """Blocks copy chunks; where chunks overlap, both write, perhaps the same."""

    @cuda.jit
    def kernel(a, out):
        i = cuda.blockIdx.x * (60 if overlap else 64) + cuda.threadIdx.x
        out[i] = a[i] + (0 if alike else cuda.blockIdx.x)

    verdict = clean_if(not overlap, MINOR if alike else RACE)
    return in_global(kernel, (2, 64), (ramp(128), zeros(128)), verdict)


@family(atomic=(NO, YES))
def push(atomic):
    """Each vertex adds to its neighbours: atomically, or not."""

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        for step in range(1, 4):
            other = (i * step) % out.size
            if atomic:
                cuda.atomic.add(out, other, a[i])
            else:
                out[other] += a[i]

    return in_global(kernel, (2, 64), (ramp(128), zeros(100)), clean_if(atomic))


@family(atomic=(NO, YES))
def append(atomic):
    """A place in a list: taken by an atomic it is one's own."""

    @cuda.jit
    def kernel(count, out):
        i = cuda.grid(1)
        if i % 3 == 0:
            if atomic:
                place = cuda.atomic.add(count, 0, 1)
            else:
                place = count[0]
                count[0] = place + 1
            out[place] = i

    return in_global(kernel, (2, 64), (zeros(1), zeros(128)), clean_if(atomic))


@family(atomic=(NO, YES))
def best(atomic):
    """The greatest value's place: a plain store beside the atomic is a race."""

    @cuda.jit
    def kernel(a, top, where):
        i = cuda.grid(1)
        before = cuda.atomic.max(top, 0, a[i])
        if before < a[i]:
            if atomic:
                cuda.atomic.max(where, 0, i)
            else:
                where[0] = i

    arguments = ramp(128), zeros(1), zeros(1)
    return in_global(kernel, (2, 64), arguments, clean_if(atomic))


# ------------------------------------------------------------ fences and waiting


@family(before=(NO, YES), fence=(NO, YES), after=(NO, YES))
def last_block(before, fence, after):
    """All threads write; a barrier, a fence and a ticket; the last block adds up."""

    @cuda.jit
    def kernel(a, parts, ticket, out):
        last = cuda.shared.array(1, int32)
        t, total = cuda.threadIdx.x, 0
        parts[cuda.grid(1)] = 2 * a[cuda.grid(1)]
        if before:
            cuda.syncthreads()
        if t == 0:
            if fence:
                cuda.threadfence()
            last[0] = cuda.atomic.add(ticket, 0, 1)
        if after:
            cuda.syncthreads()
        if last[0] == cuda.gridDim.x - 1:
            for block in range(cuda.gridDim.x):
                total += parts[block * cuda.blockDim.x + (t + 1) % 64]
            out[t] = total

    arguments = ramp(192), zeros(192), zeros(1), zeros(64)
    verdict = clean_if(before and fence and after)
    space = "shared" if before and fence else "global"
    unseen = OUTSIDE if verdict == RACE and after else ""
    return Case(kernel, (3, 64), arguments, verdict, space, unseen)


@family(fence=(NO, YES), atomic=(NO, YES))
def message(fence, atomic):
    """One block writes, fences and raises a flag; another waits for it and reads."""

    @cuda.jit
    def kernel(data, flags, out):
        if cuda.threadIdx.x > 0:
            return
        if cuda.blockIdx.x == 0:
            data[0] = 42
            if fence:
                cuda.threadfence()
            if atomic:
                cuda.atomic.exch(flags, 0, 1)
            else:
                flags[0] = 1
        else:
            while cuda.atomic.add(flags, 0, 0) == 0:
                pass
            out[0] = data[0]

    arguments = zeros(1), zeros(1), zeros(1)
    return in_global(kernel, (2, 32), arguments, clean_if(fence and atomic))


@family(fence=(NO, YES))
def look_back(fence):
    """A scan over blocks: each waits for the sum of those before it."""

    @cuda.jit
    def kernel(a, sums, ready):
        block = cuda.blockIdx.x
        if cuda.threadIdx.x == 0:
            before = 0
            if block > 0:
                while cuda.atomic.add(ready, block - 1, 0) == 0:
                    pass
                before = sums[block - 1]
            sums[block] = before + a[block]
            if fence:
                cuda.threadfence()
            cuda.atomic.exch(ready, block, 1)

    arguments = ramp(6), zeros(6), zeros(6)
    return in_global(kernel, (6, 32), arguments, clean_if(fence))


@family(taken=(NO, YES), fence=(NO, YES), atomic=(NO, YES))
def lock(taken, fence, atomic):
    """A lock, its fence, and an atomic that gives it back."""

    @cuda.jit
    def kernel(locks, total):
        if cuda.threadIdx.x == 0:
            if taken:
                while cuda.atomic.cas(locks, 0, 0, 1) != 0:
                    pass
                cuda.threadfence()
            total[0] += cuda.blockIdx.x
            if fence:
                cuda.threadfence()
            if atomic:
                cuda.atomic.exch(locks, 0, 0)
            else:
                locks[0] = 0

    verdict = clean_if(taken and fence and atomic)
    return in_global(kernel, (4, 32), (zeros(1), zeros(1)), verdict)


@family(barrier=(0, 1, 2))
def whole_grid(barrier):
    """What all blocks wrote can be read behind the grid's barrier."""

    @cuda.jit
    def kernel(box, out):
        i = cuda.grid(1)
        box[i] = i
        if barrier == 1:
            cuda.syncthreads()
        if barrier == 2:
            cuda.cg.this_grid().sync()
        out[i] = box[box.size - 1 - i]

    arguments = zeros(128), zeros(128)
    return in_global(kernel, (2, 64), arguments, clean_if(barrier == 2))


@family(write=(NO, YES), turn=(NO, YES))
def jacobi(write, turn):
    """Two arrays in turn need one barrier of the grid; one array needs two."""

    @cuda.jit
    def kernel(a, b):
        i, grid = cuda.grid(1), cuda.cg.this_grid()
        for _ in range(2):
            b[i] = a[i] + a[(i + 1) % a.size]
            if write:
                grid.sync()
            a[i] = b[i] - b[(i + 1) % b.size]
            if turn:
                grid.sync()

    arguments = ramp(128, "f4"), zeros(128, dtype=float32.name)
    return in_global(kernel, (2, 64), arguments, clean_if(write and turn))
