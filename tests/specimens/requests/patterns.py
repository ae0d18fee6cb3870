"""Random access patterns of every width, to be counted by a GPU and by the emulator.

A kernel for each space, width and kind takes a table of indices, one for each lane;
lanes with a negative one take no part. The table comes from global memory, so its own
request is part of each count, in both worlds.
"""

import hashlib
from dataclasses import dataclass
from itertools import product

import numpy as np
from numba import cuda

from tests.specimens.labelled import Case

CELLS = 1024
DTYPES = {1: "i1", 2: "i2", 4: "i4", 8: "f8", 16: "c16"}
EACH = 26  # patterns of each space, width and kind


@dataclass(frozen=True)
class Pattern(Case):
    """A launch of one table."""

    access: str = "load"
    width: int = 4


def shared_load(dtype):
    @cuda.jit
    def kernel(index, out):
        cells = cuda.shared.array(CELLS, dtype)
        t = cuda.threadIdx.x
        for k in range(t, CELLS, cuda.blockDim.x):
            cells[k] = k
        cuda.syncthreads()
        i = index[t]
        if i >= 0:
            out[t] = cells[i]

    return kernel


def shared_store(dtype):
    @cuda.jit
    def kernel(index, out):
        cells = cuda.shared.array(CELLS, dtype)
        t = cuda.threadIdx.x
        i = index[t]
        if i >= 0:
            cells[i] = t
        cuda.syncthreads()
        out[t] = cells[t]

    return kernel


def global_load(dtype):
    @cuda.jit
    def kernel(index, out, a):
        t = cuda.threadIdx.x
        i = index[t]
        if i >= 0:
            out[t] = a[i]

    return kernel


def global_store(dtype):
    @cuda.jit
    def kernel(index, out):
        t = cuda.threadIdx.x
        i = index[t]
        if i >= 0:
            out[i] = t

    return kernel


MAKERS = {
    ("shared", "load"): shared_load,
    ("shared", "store"): shared_store,
    ("global", "load"): global_load,
    ("global", "store"): global_store,
}


def patterns(each=EACH):
    """All patterns, in an order that does not change."""
    kinds = product(MAKERS.items(), DTYPES.items())
    for n, (((space, access), make), (width, dtype)) in enumerate(kinds):
        kernel = make(np.dtype(dtype))
        for m in range(each):
            rng = np.random.default_rng([n, m])
            index, threads = table(rng, m)
            out = np.zeros(CELLS, dtype)
            arguments = (index, out)
            if (space, access) == ("global", "load"):
                arguments = (*arguments, out.copy())
            yield Pattern(
                *(kernel, (1, threads), arguments, "clean", space),
                name=f"{space}_{access}_{width}_{m}",
                access=access,
                width=width,
            )


def table(rng, number):
    """Where 32 lanes go, -1 for those that do not, and how many threads there are."""
    lanes = np.arange(32)
    chosen = SHAPES[number % len(SHAPES)](rng, lanes)
    index = ((chosen + rng.integers(0, 64)) % CELLS).astype(np.int32)
    threads = 32
    how = rng.integers(0, 5)
    if how == 1:
        index[rng.random(32) < rng.random()] = -1
    if how == 2:
        threads = int(rng.integers(1, 33))
    if how == 3:
        index[lanes % 2 == rng.integers(0, 2)] = -1
    if (index[:threads] < 0).all():
        index[0] = rng.integers(0, CELLS)
    return index, threads


def stride(rng, lanes):
    return lanes * rng.integers(1, 40)


def anywhere(rng, lanes):
    return rng.integers(0, CELLS, 32)


def few(rng, lanes):
    return rng.choice(rng.integers(0, CELLS, rng.integers(1, 9)), 32)


def shuffled(rng, lanes):
    return rng.permutation(32)


def pairs(rng, lanes):
    return rng.integers(0, CELLS, 32)[lanes & ~1]


def other_pairs(rng, lanes):
    return rng.integers(0, CELLS, 32)[lanes & ~2]


def near_pairs(rng, lanes):
    """Pairs, but for one lane."""
    found = rng.integers(0, 64, 32)[lanes & ~rng.integers(1, 3)]
    found[rng.integers(0, 32)] = rng.integers(0, 64)
    return found


def halves(rng, lanes):
    """Lanes of one half pair one way, those of the other the other way."""
    cells = rng.integers(0, 128, 32)
    return cells[np.where(lanes < 16, lanes & ~1, lanes & ~2)]


def close(rng, lanes):
    return rng.integers(0, 48, 32)


def broadcast(rng, lanes):
    return lanes * 0 + rng.integers(0, CELLS)


SHAPES = (
    *(stride, anywhere, few, shuffled, pairs, other_pairs, near_pairs, halves),
    *(close, broadcast),
)


def digest(cases):
    """Tells a recording of these tables from that of others."""
    told = hashlib.sha256()
    for case in cases:
        told.update(f"{case.name} {case.launch} {case.arguments[0].tolist()}".encode())
        told.update(case.digest.encode())
    return told.hexdigest()[:12]
