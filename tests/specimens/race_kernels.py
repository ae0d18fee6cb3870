"""Kernels that race in shared memory or do not, with the truth by construction.

Each family has every one of its barriers as a switch; without one that is needed, it
races. What a barrier is needed for stands in the family's docstring.
"""

from numba import cuda, float32, int32

from tests.specimens.labelled import MINOR, RACE, Case, clean_if, family, ramp, zeros

NO, YES = False, True
FULL = 0xFFFFFFFF


@family(barrier=(0, 1, 2), threads=(32, 64))
def mirror(barrier, threads):
    """Each thread reads its mirror image's cell: `syncwarp` is enough in one warp."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        if barrier == 1:
            cuda.syncwarp()
        if barrier == 2:
            cuda.syncthreads()
        out[cuda.grid(1)] = cells[cuda.blockDim.x - 1 - t]

    enough = barrier == 2 or (barrier == 1 and threads == 32)
    verdict = clean_if(enough, MINOR if threads == 32 else RACE)
    return Case(kernel, (2, threads), (ramp(64), zeros(128)), verdict)


@family(first=(NO, YES), second=(NO, YES), turns=(1, 2))
def tiled_product(first, second, turns):
    """The second barrier keeps a tile from the next turn; one turn needs none."""

    @cuda.jit
    def kernel(a, b, out):
        a_tile = cuda.shared.array((8, 8), float32)
        b_tile = cuda.shared.array((8, 8), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for turn in range(turns):
            a_tile[y, x] = a[y, 8 * turn + x]
            b_tile[y, x] = b[8 * turn + y, x]
            if first:
                cuda.syncthreads()
            for k in range(8):
                total += a_tile[y, k] * b_tile[k, x]
            if second:
                cuda.syncthreads()
        out[y, x] = total

    arguments = (
        ramp(128, "f4").reshape(8, 16),
        ramp(128, "f4").reshape(16, 8),
        zeros(8, 8, dtype="f4"),
    )
    verdict = clean_if(first and (second or turns == 1))
    return Case(kernel, (1, (8, 8)), arguments, verdict)


@family(barrier=(NO, YES))
def transpose(barrier):
    """Rows in, columns out: a warp reads what all warps wrote."""

    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array((16, 17), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x] = a[y, x]
        if barrier:
            cuda.syncthreads()
        out[y, x] = tile[x, y]

    arguments = ramp(256, "f4").reshape(16, 16), zeros(16, 16, dtype="f4")
    return Case(kernel, (1, (16, 16)), arguments, clean_if(barrier))


@family(load=(NO, YES), turn=(NO, YES), threads=(64, 128))
def tree(load, turn, threads):
    """Of 64 threads only the first warp adds, so turns are ordered within it alone."""

    @cuda.jit
    def kernel(a, out):
        part = cuda.shared.array(128, int32)
        t = cuda.threadIdx.x
        part[t] = a[t]
        if load:
            cuda.syncthreads()
        half = cuda.blockDim.x // 2
        while half > 0:
            if t < half:
                part[t] += part[t + half]
            if turn:
                cuda.syncthreads()
            half //= 2
        if t == 0:
            out[cuda.blockIdx.x] = part[0]

    small = MINOR if load and threads == 64 else RACE
    arguments = ramp(128), zeros(2)
    return Case(kernel, (2, threads), arguments, clean_if(load and turn, small))


@family(before=(NO, YES), after=(NO, YES))
def warp_tail(before, after):
    """The last warp adds in step: all load, then all store, `syncwarp` between."""

    @cuda.jit
    def kernel(a, out):
        part = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        part[t], part[t + 32] = a[t], a[t + 32]
        cuda.syncwarp()
        half = 32
        while half > 0:
            value = part[t + half]
            if before:
                cuda.syncwarp()
            part[t] += value
            if after:
                cuda.syncwarp()
            half //= 2
        out[t] = part[0]

    verdict = clean_if(before and after, MINOR)
    return Case(kernel, (1, 32), (ramp(64), zeros(32)), verdict)


@family(order=(0, 1, 2, 3))
def votes(order):
    """Shuffles and votes exchange values and order no memory; `syncwarp` does."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(32, int32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        other = 0
        if order == 1:
            other = cuda.shfl_xor_sync(FULL, a[t], 1)
        if order == 2:
            other = cuda.ballot_sync(FULL, a[t] > 3)
        if order == 3:
            cuda.syncwarp()
        out[t] = cells[t ^ 1] + other

    verdict = clean_if(order == 3, MINOR)
    return Case(kernel, (1, 32), (ramp(32), zeros(32)), verdict)


@family(reach=(1, 16))
def half_mask(reach):
    """`syncwarp(0xFFFF)` orders the lower half of a warp, and not the two halves."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(32, int32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        if t < 16:
            cuda.syncwarp(0xFFFF)
            out[t] = cells[t ^ reach]

    return Case(kernel, (1, 32), (ramp(32), zeros(32)), clean_if(reach < 16, MINOR))


@family(partials=(NO, YES), sent=(NO, YES), again=(NO, YES))
def two_levels(partials, sent, again):
    """Warps' sums, the block's sum to all, and the same cells for a second round."""

    @cuda.jit
    def kernel(a, out):
        sums = cuda.shared.array(4, int32)
        t = cuda.threadIdx.x
        value = a[t]
        for turn in range(2):
            if t % 32 == 0:
                sums[t // 32] = value + turn
            if partials:
                cuda.syncthreads()
            if t == 0:
                sums[0] = sums[0] + sums[1] + sums[2] + sums[3]
            if sent:
                cuda.syncthreads()
            value = sums[0]
            if again:
                cuda.syncthreads()
        out[t] = value

    verdict = clean_if(partials and sent and again)
    return Case(kernel, (1, 128), (ramp(128), zeros(128)), verdict)


@family(load=(NO, YES), between=(NO, YES), after=(NO, YES))
def scan_in_place(load, between, after):
    """Hillis and Steele in one array: read, barrier, write, barrier."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        if load:
            cuda.syncthreads()
        distance = 1
        while distance < 64:
            value = 0
            if t >= distance:
                value = cells[t - distance]
            if between:
                cuda.syncthreads()
            cells[t] += value
            if after:
                cuda.syncthreads()
            distance *= 2
        out[t] = cells[t]

    verdict = clean_if(load and between and after)
    return Case(kernel, (1, 64), (ramp(64), zeros(64)), verdict)


@family(load=(NO, YES), turn=(NO, YES))
def scan_in_two_buffers(load, turn):
    """Hillis and Steele from one buffer to the other: one barrier a turn."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array((2, 64), int32)
        t = cuda.threadIdx.x
        cells[0, t] = a[t]
        if load:
            cuda.syncthreads()
        source, distance = 0, 1
        while distance < 64:
            value = cells[source, t]
            if t >= distance:
                value += cells[source, t - distance]
            source = 1 - source
            cells[source, t] = value
            if turn:
                cuda.syncthreads()
            distance *= 2
        out[t] = cells[source, t]

    verdict = clean_if(load and turn)
    return Case(kernel, (1, 64), (ramp(64), zeros(64)), verdict)


@family(up=(NO, YES), down=(NO, YES), final=(NO, YES))
def blelloch(up, down, final):
    """Up the tree and down again, a barrier at the head of each turn."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(128, int32)
        t = cuda.threadIdx.x
        cells[2 * t], cells[2 * t + 1] = a[2 * t], a[2 * t + 1]
        step, nodes = 1, 64
        while nodes > 0:
            if up:
                cuda.syncthreads()
            if t < nodes:
                cells[step * (2 * t + 2) - 1] += cells[step * (2 * t + 1) - 1]
            step, nodes = step * 2, nodes // 2
        if t == 0:
            cells[127] = 0
        nodes = 1
        while nodes < 128:
            step //= 2
            if down:
                cuda.syncthreads()
            if t < nodes:
                left, right = step * (2 * t + 1) - 1, step * (2 * t + 2) - 1
                value = cells[left]
                cells[left] = cells[right]
                cells[right] += value
            nodes *= 2
        if final:
            cuda.syncthreads()
        out[t], out[t + 64] = cells[t], cells[t + 64]

    verdict = clean_if(up and down and final)
    return Case(kernel, (1, 64), (ramp(128), zeros(128)), verdict)


@family(barrier=(NO, YES))
def halo(barrier):
    """Three neighbours through shared cells; warps meet at their edges."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(66, int32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        cells[t + 1] = a[i]
        if t == 0:
            cells[0] = a[i - 1] if i > 0 else 0
        if t == 63:
            cells[65] = a[i + 1] if i + 1 < a.size else 0
        if barrier:
            cuda.syncthreads()
        out[i] = cells[t] + cells[t + 1] + cells[t + 2]

    return Case(kernel, (2, 64), (ramp(128), zeros(128)), clean_if(barrier))


@family(full=(NO, YES), empty=(NO, YES), turns=(1, 3))
def hand_over(full, empty, turns):
    """One warp fills, the other empties; only a next turn needs the second barrier."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(32, int32)
        t, total = cuda.threadIdx.x, 0
        for turn in range(turns):
            if t < 32:
                cells[t] = a[t] + turn
            if full:
                cuda.syncthreads()
            if t >= 32:
                total += cells[t - 32]
            if empty:
                cuda.syncthreads()
        out[t] = total

    verdict = clean_if(full and (empty or turns == 1))
    return Case(kernel, (1, 64), (ramp(64), zeros(64)), verdict)


@family(buffers=(1, 2, 3), barrier=(NO, YES))
def buffered(buffers, barrier):
    """One barrier a turn is enough for two buffers, and not for one."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array((buffers, 64), int32)
        t, total = cuda.threadIdx.x, 0
        for turn in range(5):
            cells[turn % buffers, t] = a[t] * turn
            if barrier:
                cuda.syncthreads()
            total += cells[turn % buffers, 63 - t]
        out[t] = total

    verdict = clean_if(barrier and buffers > 1)
    return Case(kernel, (1, 64), (ramp(64), zeros(64)), verdict)


@family(ahead=(1, 2, 3), barrier=(NO, YES))
def ring(ahead, barrier):
    """Three slots: filled three turns ahead, a slot is filled while it is read."""

    @cuda.jit
    def kernel(a, out):
        slots = cuda.shared.array((3, 64), int32)
        t, total = cuda.threadIdx.x, 0
        for turn in range(ahead):
            slots[turn, t] = a[t] + turn
        cuda.syncthreads()
        for turn in range(6):
            slots[(turn + ahead) % 3, t] = a[t] * (turn + 2)
            total += slots[turn % 3, 63 - t]
            if barrier:
                cuda.syncthreads()
        out[t] = total

    return Case(
        *(kernel, (1, 64), (ramp(64), zeros(64))), clean_if(barrier and ahead < 3)
    )


@family(stage=(NO, YES), threads=(32, 64))
def bitonic(stage, threads):
    """Sorting by exchanges; in one warp `syncwarp` would do, and a barrier does."""

    @cuda.jit
    def kernel(a, out):
        keys = cuda.shared.array(64, int32)
        t, size = cuda.threadIdx.x, 2
        keys[t] = a[cuda.blockDim.x - 1 - t]
        cuda.syncthreads()
        while size <= cuda.blockDim.x:
            distance = size // 2
            while distance > 0:
                other = t ^ distance
                if other > t and (keys[t] > keys[other]) == (t & size == 0):
                    keys[t], keys[other] = keys[other], keys[t]
                if stage:
                    cuda.syncthreads()
                distance //= 2
            size *= 2
        out[t] = keys[t]

    verdict = clean_if(stage, MINOR if threads == 32 else RACE)
    return Case(kernel, (1, threads), (ramp(64), zeros(64)), verdict)
