# %%
import numpy as np
from numba import cuda, float32, int32, uint32

from helpers import check, emulate, load4

# %%
THREADS = 256
WARPS = THREADS // 32
ALL = 0xFFFFFFFF


@cuda.jit
def sum_interleaved(out, src):
    """Add to every 2nd number its neighbour, then to every 4th, every 8th."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    step = uint32(1)
    while step < THREADS:
        if thread % uint32(2 * step) == 0:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(2 * step)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


@cuda.jit
def sum_strided(out, src):
    """Add the same pairs, by the first threads of the block."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    step = uint32(1)
    while step < THREADS:
        cell = uint32(2 * step * thread)
        if cell < THREADS:
            numbers[cell] += numbers[uint32(cell + step)]
        cuda.syncthreads()
        step = uint32(2 * step)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


@cuda.jit
def sum_halves(out, src):
    """Add the second half of the numbers to the first, again and again."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(THREADS * cuda.blockIdx.x + thread)
    numbers[thread] = src[i] if i < src.size else float32(0)
    cuda.syncthreads()
    step = uint32(THREADS // 2)
    while step > 0:
        if thread < step:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(step // 2)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


@cuda.jit
def sum_pairs(out, src):
    """Add two numbers while loading them, then halves as before."""
    numbers = cuda.shared.array(THREADS, float32)
    thread = uint32(cuda.threadIdx.x)
    i = uint32(2 * THREADS * cuda.blockIdx.x + thread)
    j = uint32(i + THREADS)
    total = src[i] if i < src.size else float32(0)
    numbers[thread] = total + (src[j] if j < src.size else float32(0))
    cuda.syncthreads()
    step = uint32(THREADS // 2)
    while step > 0:
        if thread < step:
            numbers[thread] += numbers[uint32(thread + step)]
        cuda.syncthreads()
        step = uint32(step // 2)
    if thread == 0:
        out[cuda.blockIdx.x] = numbers[thread]


# %%
@cuda.jit(device=True)
def sum_of_warp(total):
    """Add up the numbers of a warp, for its lane 0."""
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, step)
    return total


@cuda.jit(device=True)
def sum_of_block(total):
    """Add up the numbers of a block, for its thread 0."""
    sums = cuda.shared.array(WARPS, float32)
    thread = uint32(cuda.threadIdx.x)
    total = sum_of_warp(total)
    if thread % 32 == 0:
        sums[thread // 32] = total
    cuda.syncthreads()
    if thread < 32:
        total = sum_of_warp(sums[thread] if thread < WARPS else float32(0))
    return total


@cuda.jit
def sum_shuffled(out, src):
    """Add two numbers while loading them, then by shuffles."""
    thread = uint32(cuda.threadIdx.x)
    i = uint32(2 * THREADS * cuda.blockIdx.x + thread)
    j = uint32(i + THREADS)
    total = src[i] if i < src.size else float32(0)
    total += src[j] if j < src.size else float32(0)
    total = sum_of_block(total)
    if thread == 0:
        out[cuda.blockIdx.x] = total


# %%
LOADS = 4                       # a thread's loads before it waits
TILE = 4 * LOADS * THREADS      # numbers that a block loads at a time


@cuda.jit(device=True)
def sum_of_thread(src):
    """Add up every tile of the grid's, four numbers a load; then the rest."""
    n, thread = uint32(src.size), uint32(cuda.threadIdx.x)
    step = uint32(TILE * cuda.gridDim.x)
    i = uint32(TILE * cuda.blockIdx.x + 4 * thread)
    whole = uint32(n - n % TILE)
    total = float32(0)
    while i < whole:
        for k in range(LOADS):
            a, b, c, d = load4(src, uint32(i + 4 * THREADS * k))
            total += (a + b) + (c + d)
        i = uint32(i + step)
    i = uint32(whole + THREADS * cuda.blockIdx.x + thread)
    while i < n:
        total += src[i]
        i = uint32(i + THREADS * cuda.gridDim.x)
    return total


@cuda.jit
def sum_wide(out, src):
    """Add up many numbers a thread, by wide loads, then by shuffles."""
    total = sum_of_block(sum_of_thread(src))
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


@cuda.jit
def sum_at_once(out, parts, finished, src):
    """Let each block add up its tiles, and the last one all parts."""
    last = cuda.shared.array(1, int32)
    thread, block = uint32(cuda.threadIdx.x), uint32(cuda.blockIdx.x)
    blocks = uint32(cuda.gridDim.x)
    total = sum_of_block(sum_of_thread(src))
    if thread == 0:
        parts[block] = total
        cuda.threadfence()
        ticket = cuda.atomic.inc(finished, 0, uint32(blocks - 1))
        cuda.threadfence()
        last[0] = ticket == blocks - 1
    cuda.syncthreads()
    if last[0]:
        total = float32(0)
        while thread < blocks:
            total += parts[thread]
            thread = uint32(thread + THREADS)
        total = sum_of_block(total)
        if cuda.threadIdx.x == 0:
            out[0] = total


# %%
def total(kernel, src, each):
    """Emulate launches until one number is left; return it and the runs."""
    runs = []
    while not runs or src.size > 1:
        out = np.full(max(1, -(-src.size // each)), np.nan, np.float32)
        runs.append(emulate(kernel)[out.size, THREADS](out, src))
        src = out
    return src[0], runs


random = np.random.default_rng(0)
for n in 0, 1, 255, 5000:
    a = random.random(n, dtype=np.float32)
    for kernel, each in ((sum_interleaved, 256), (sum_strided, 256),
                         (sum_halves, 256), (sum_pairs, 512),
                         (sum_shuffled, 512)):
        got, runs = total(kernel, a, each)
        print(n, kernel.__name__, got, a.sum(dtype=np.float64), len(runs))
        assert not runs[0].races
    out, parts = np.full(1, np.nan, np.float32), np.full(5, np.nan, np.float32)
    run = emulate(sum_wide)[5, THREADS](parts, a)
    print(parts.sum())
    parts[:] = np.nan
    finished = np.zeros(1, np.uint32)
    run = emulate(sum_at_once)[5, THREADS](out, parts, finished, a)
    print(out, finished, run.races)
