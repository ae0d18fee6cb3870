"""Kernels that race in shared memory or do not, with the truth by construction: those
with atomics, flags, views of one memory, narrow cells, and uneven ways to a barrier.
"""

import numpy as np
from numba import cuda, int32

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
ATOMICS = "racecheck does not hold an atomic against a plain access"
ALIKE = "racecheck does not report writes of the same value"


@family(zeroed=(NO, YES), counted=(NO, YES))
def histogram(zeroed, counted):
    """Zero, count with atomics, give away: a barrier between each two."""

    @cuda.jit
    def kernel(a, out):
        bins = cuda.shared.array(16, int32)
        t = cuda.threadIdx.x
        if t < 16:
            bins[t] = 0
        if zeroed:
            cuda.syncthreads()
        cuda.atomic.add(bins, a[cuda.grid(1)] % 16, 1)
        if counted:
            cuda.syncthreads()
        if t < 16:
            cuda.atomic.add(out, t, bins[t])

    verdict = clean_if(zeroed and counted)
    unseen = "" if verdict == CLEAN else ATOMICS
    arguments = ramp(128), zeros(16)
    return Case(kernel, (2, 64), arguments, verdict, "shared", unseen)


@family(barrier=(NO, YES), atomic=(NO, YES))
def counter(barrier, atomic):
    """A shared counter: atomics agree with atomics, and with nothing else."""

    @cuda.jit
    def kernel(out):
        total = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t == 0:
            total[0] = 0
        cuda.syncthreads()
        if atomic:
            cuda.atomic.add(total, 0, t)
        else:
            total[0] += t
        if barrier:
            cuda.syncthreads()
        out[t] = total[0]

    verdict = clean_if(barrier and atomic)
    unseen = ATOMICS if atomic and not barrier else ""
    return Case(kernel, (1, 64), (zeros(64),), verdict, "shared", unseen)


@family(writers=(1, 64), alike=(NO, YES), barrier=(NO, YES))
def flag(writers, alike, barrier):
    """One thread may raise a flag; many may raise the same one, which is minor."""

    @cuda.jit
    def kernel(out):
        flags = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t < writers:
            flags[0] = 7 if alike else t
        if barrier:
            cuda.syncthreads()
        out[t] = flags[0]

    verdict, unseen = RACE, ""
    if barrier:
        verdict = CLEAN if writers == 1 else MINOR if alike else RACE
        unseen = ALIKE if verdict == MINOR else ""
    return Case(kernel, (1, 64), (zeros(64),), verdict, "shared", unseen)


@family(start=(0, 16, 64))
def slices(start):
    """Dynamic shared memory: two views of it race where they overlap."""

    @cuda.jit
    def kernel(a, out):
        left = cuda.shared.array(0, int32)[:64]
        right = cuda.shared.array(0, int32)[start : start + 64]
        t = cuda.threadIdx.x
        left[t] = a[t]
        right[63 - t] = -a[t]
        cuda.syncthreads()
        out[t] = left[t] + right[t]

    arguments = ramp(64), zeros(64)
    return Case(kernel, (1, 64, 0, 4 * 128), arguments, clean_if(start == 64))


@family(item=(1, 2, 4, 8))
def neighbours(item):
    """Threads that write neighbours in one word do not race, however narrow."""
    dtype = np.dtype(f"i{item}")

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(64, dtype)
        t = cuda.threadIdx.x
        cells[(t * 37) % 64] = a[t]
        cuda.syncthreads()
        out[t] = cells[t]

    arguments = ramp(64, dtype), zeros(64, dtype=dtype)
    return Case(kernel, (1, 64), arguments, CLEAN)


@family(barrier=(NO, YES))
def uneven_turns(barrier):
    """A barrier in a loop whose trip count differs from block to block is in order."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(64, int32)
        t, total = cuda.threadIdx.x, 0
        for turn in range(cuda.blockIdx.x + 1):
            cells[t] = a[t] + turn
            cuda.syncthreads()
            total += cells[63 - t]
            if barrier:
                cuda.syncthreads()
        out[cuda.grid(1)] = total

    return Case(kernel, (3, 64), (ramp(64), zeros(192)), clean_if(barrier))


@family(barrier=(NO, YES))
def leaving(barrier):
    """Threads that return after the last barrier leave nothing in disorder."""

    @cuda.jit
    def kernel(a, out, n):
        cells = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        if barrier:
            cuda.syncthreads()
        if t >= n:
            return
        out[t] = cells[n - 1 - t]

    return Case(kernel, (1, 64), (ramp(64), zeros(64), 50), clean_if(barrier))
