"""Atomics in shared memory, whose lanes take turns at a word or a bank, to be counted
by a GPU and by the emulator.

A kernel takes a table of indices, one for each lane; lanes with a negative one take no
part.
"""

import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32

from tests.specimens.requests.patterns import Pattern

CELLS = 2048
LANES = np.arange(32)
TYPES = {
    "int32": int32,
    "uint32": uint32,
    "int64": int64,
    "float32": float32,
    "float64": float64,
}


def adds(dtype, amount):
    """Adds a constant, or with None the lane's own number."""
    own = amount is None

    @cuda.jit
    def kernel(index, out):
        cells = cuda.shared.array(CELLS, dtype)
        t = cuda.threadIdx.x
        for k in range(t, CELLS, cuda.blockDim.x):
            cells[k] = 0
        cuda.syncthreads()
        i = index[t]
        if i >= 0:
            if own:
                cuda.atomic.add(cells, i, dtype(t + 1))
            else:
                cuda.atomic.add(cells, i, dtype(amount))
        cuda.syncthreads()
        for k in range(t, CELLS, cuda.blockDim.x):
            out[k] = cells[k]

    return kernel


def draws(dtype, amount):
    """The same, and keeps what was there before."""

    @cuda.jit
    def kernel(index, out):
        cells = cuda.shared.array(CELLS, dtype)
        t = cuda.threadIdx.x
        for k in range(t, CELLS, cuda.blockDim.x):
            cells[k] = 0
        cuda.syncthreads()
        i = index[t]
        if i >= 0:
            out[t] = cuda.atomic.add(cells, i, dtype(amount))

    return kernel


def finds_the_largest(dtype, amount):
    """An atomic maximum of the lanes' own numbers."""

    @cuda.jit
    def kernel(index, out):
        cells = cuda.shared.array(CELLS, dtype)
        t = cuda.threadIdx.x
        for k in range(t, CELLS, cuda.blockDim.x):
            cells[k] = 0
        cuda.syncthreads()
        i = index[t]
        if i >= 0:
            cuda.atomic.max(cells, i, dtype(t + 1))
        cuda.syncthreads()
        for k in range(t, CELLS, cuda.blockDim.x):
            out[k] = cells[k]

    return kernel


def exchanges(dtype, amount):
    """An atomic exchange that keeps what was there before."""

    @cuda.jit
    def kernel(index, out):
        cells = cuda.shared.array(CELLS, dtype)
        t = cuda.threadIdx.x
        for k in range(t, CELLS, cuda.blockDim.x):
            cells[k] = 0
        cuda.syncthreads()
        i = index[t]
        if i >= 0:
            out[t] = cuda.atomic.exch(cells, i, dtype(t + 1))

    return kernel


def together(lanes, *cells):
    """So many lanes at each of some cells, those of a cell side by side."""
    index = np.full(32, -1)
    index[: lanes * len(cells)] = np.repeat(cells, lanes)
    return index


def in_turn(lanes, *cells):
    """So many lanes at each of some cells, by turns."""
    index = np.full(32, -1)
    index[: lanes * len(cells)] = np.tile(cells, lanes)
    return index


def random_cells(seed, high, idle=0.0):
    """Lanes anywhere among some cells, of which a part takes no part."""
    rng = np.random.default_rng([seed, high])
    index = rng.integers(0, high, 32)
    index[rng.random(32) < idle] = -1
    return index


WORDS = (  # where the lanes of an atomic go
    *(together(n, 5) for n in (1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32)),
    *(LANES, 32 * LANES, LANES // 2, LANES // 4, LANES % 16, LANES % 4),
    *(together(16, 5, 6), together(16, 5, 37), in_turn(16, 5, 6), in_turn(16, 5, 37)),
    *(together(8, 0, 1, 2, 3), together(8, 0, 32, 64, 96)),
    *(in_turn(8, 0, 32, 64, 96), together(4, *range(0, 256, 32))),
    *(in_turn(4, *range(0, 256, 32)), np.where(LANES < 20, 3, 35)),
    *(np.where(LANES < 8, 3, LANES), np.where(LANES < 8, 3, 32 * LANES + 3)),
    np.where(LANES < 8, 3, 32 * LANES + 4),
    *(random_cells(seed, high) for seed in (0, 1) for high in (8, 64, 256, 2048)),
    *(random_cells(seed, high, 0.4) for seed in (2, 3) for high in (8, 64, 2048)),
)
FULL = (adds, "int32", 1), (adds, "int32", 2), (adds, "int32", None)
SHORT = (
    *((draws, "int32", 1), (draws, "int32", 2), (adds, "uint32", 1)),
    *((finds_the_largest, "int32", None), (exchanges, "int32", None)),
    *((adds, "int64", 1), (adds, "float32", 1), (adds, "float64", 1)),
)


def turns():
    """All atomics, in an order that does not change."""
    for make, name, amount in (*FULL, *SHORT):
        kernel, dtype = make(TYPES[name], amount), np.dtype(name)
        chosen = WORDS if (make, name, amount) in FULL else WORDS[::3]
        told = "own" if amount is None else amount
        for number, index in enumerate(chosen):
            arguments = index.astype(np.int32), np.zeros(CELLS, dtype)
            yield Pattern(
                *(kernel, (1, 32), arguments, "clean", "shared"),
                name=f"turns_{make.__name__}_{name}_{told}_{number}",
                access="atomic",
                width=dtype.itemsize,
            )
