"""Kernels with and without faults, whose answers are right when they are tested."""

from numba import cuda, float32


@cuda.jit
def scaled(values, factor):
    """Each element times a factor."""
    i = cuda.grid(1)
    if i < values.size:
        values[i] = values[i] * factor


@cuda.jit
def find_any(values, wanted, found):
    """The place of some element that is wanted: any of them."""
    i = cuda.grid(1)
    if i < values.size and values[i] == wanted:
        found[0] = i


@cuda.jit
def sums(values, out):
    """The sum of each block, in a tile that the last block does not fill."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < values.size:
        tile[t] = values[i]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(64):
            total += tile[k]
        out[cuda.blockIdx.x] = total


@cuda.jit
def beyond(values):
    """One element for each thread, and no guard."""
    values[cuda.grid(1)] = 1


@cuda.jit
def early_return(values):
    """Some threads leave before the barrier."""
    i = cuda.threadIdx.x
    if i >= values.size:
        return
    values[i] += float32(1)
    cuda.syncthreads()
