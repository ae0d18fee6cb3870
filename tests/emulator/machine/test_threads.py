"""What threads do together: barriers, shared memory, atomics, shuffles, votes."""

import numpy as np
import pytest
from numba import cuda, int32, uint32

from helpers import emulate
from tests.specimens.kernels import reverse

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("seed", range(4))
def test_a_barrier_orders_the_warps_of_a_block(seed):
    """What one warp stores before a barrier, another loads after it."""
    a, out = np.arange(512), np.zeros(512, np.int64)

    emulate(reverse, seed=seed)[2, 256](a, out)

    assert [*range(255, -1, -1), *range(511, 255, -1)] == out.tolist()


def test_dynamic_shared_memory_is_as_long_as_the_launch_says():
    """The fourth item of the launch is the size in bytes."""

    @cuda.jit
    def rotate(out):
        cells = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        cells[t] = t
        cuda.syncthreads()
        out[t] = 100 * cells.size + cells[(t + 1) % cells.size]

    out = np.zeros(48, np.int64)

    emulate(rotate)[1, 48, 0, 48 * 4](out)

    assert [4800 + (t + 1) % 48 for t in range(48)] == out.tolist()


def test_two_dynamic_arrays_are_the_same_memory():
    """All dynamic arrays begin at the same byte; slices make them disjoint."""

    @cuda.jit
    def both(out):
        first = cuda.shared.array(0, int32)
        again = cuda.shared.array(0, int32)
        upper = again[32:]
        t = cuda.threadIdx.x
        first[t] = t
        upper[t] = 2 * t
        cuda.syncthreads()
        out[t] = again[t] + first[32 + t]

    out = np.zeros(32, np.int64)

    emulate(both)[1, 32, 0, 64 * 4](out)

    assert [3 * t for t in range(32)] == out.tolist()


@pytest.mark.parametrize(
    "operation, expected",
    [
        ("add", lambda old, v: old + v.sum()),
        ("sub", lambda old, v: old - v.sum()),
        ("max", lambda old, v: max(old, v.max())),
        ("min", lambda old, v: min(old, v.min())),
        ("and_", lambda old, v: np.bitwise_and.reduce([old, *v])),
        ("or_", lambda old, v: np.bitwise_or.reduce([old, *v])),
        ("xor", lambda old, v: np.bitwise_xor.reduce([old, *v])),
    ],
)
@pytest.mark.parametrize("kept", [False, True])
def test_atomics_lose_no_update(operation, expected, kept):
    """Each thread's update counts, global or shared, old value wanted or not."""
    kernel = _updating(f"{'old[t] = ' if kept else ''}cuda.atomic.{operation}")
    values = RNG.integers(1, 1000, 128).astype(np.int32)
    out, old = np.full(3, 60, np.int32), np.zeros(128, np.int32)

    emulate(kernel)[2, 64](values, out, old)

    assert expected(np.int32(60), values) == out[0]
    assert [expected(np.int32(60), half) for half in (values[:64], values[64:])] == out[
        1:
    ].tolist()


def _updating(update):
    """A kernel that updates a shared cell of each block, and a global one."""
    source = f"""
def kernel(values, out, old):
    cell = cuda.shared.array(1, int32)
    t = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        cell[0] = 60
    cuda.syncthreads()
    {update}(cell, 0, values[t])
    {update}(out, 0, values[t])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[1 + cuda.blockIdx.x] = cell[0]
"""
    namespace = {"cuda": cuda, "int32": int32}
    exec(source, namespace)
    return cuda.jit(namespace["kernel"])


def test_an_atomic_returns_what_was_there_before():
    """The old values of 100 additions of one are 0 to 99, each once."""

    @cuda.jit
    def ticket(counter, out):
        t = cuda.grid(1)
        out[t] = cuda.atomic.add(counter, 0, 1)

    counter, out = np.zeros(1, np.int64), np.zeros(100, np.int64)

    emulate(ticket)[4, 25](counter, out)

    assert list(range(100)) == sorted(out.tolist())
    assert [100] == counter.tolist()


def test_exchange_compare_and_count():
    """`cas` changes once; `inc` and `dec` turn round at their limits."""

    @cuda.jit
    def kernel(cells, out):
        t = cuda.threadIdx.x
        out[t] = cuda.atomic.cas(cells, 0, 0, uint32(t + 1))
        cuda.atomic.inc(cells, 1, 9)
        cuda.atomic.dec(cells, 2, 9)

    cells, out = np.array([0, 0, 4], np.uint32), np.zeros(64, np.uint32)

    emulate(kernel)[1, 64](cells, out)

    assert 1 == (out == 0).sum()
    assert set(out.tolist()) == {0, int(cells[0])}
    assert [64 % 10, (4 - 64) % 10] == cells[1:].tolist()


def test_shuffles_move_values_between_lanes():
    """Past the edge a lane keeps its own value; a lane number counts modulo 32."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[0, t] = cuda.shfl_sync(-1, t, t + 3)
        out[1, t] = cuda.shfl_up_sync(-1, t, 5)
        out[2, t] = cuda.shfl_down_sync(-1, t, 5)
        out[3, t] = cuda.shfl_xor_sync(-1, t, 12)
        out[4, t] = cuda.shfl_sync(-1, 2 * t, -1)

    out = np.zeros((5, 32), np.int32)

    emulate(kernel)[1, 32](out)

    t = np.arange(32)
    expected = [
        (t + 3) % 32,
        np.where(t < 5, t, t - 5),
        np.where(t > 26, t, t + 5),
        t ^ 12,
        t * 0 + 62,
    ]
    assert [row.tolist() for row in expected] == out.tolist()


def test_votes_ask_the_active_lanes():
    """A ballot is signed, in a branch it holds only the lanes of the branch."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[0, t] = cuda.ballot_sync(-1, t >= 16)
        out[1, t] = cuda.any_sync(-1, t == 40)
        out[2, t] = cuda.all_sync(-1, t < 64)
        if t % 2:
            out[3, t] = cuda.ballot_sync(cuda.activemask(), 1)

    out = np.zeros((4, 64), np.int64)

    emulate(kernel)[1, 64](out)

    assert [-(2**16)] * 32 + [-1] * 32 == out[0].tolist()
    assert [0] * 32 + [1] * 32 == out[1].tolist()
    assert [1] * 64 == out[2].tolist()
    assert [0, -0x55555556] * 32 == out[3].tolist()


def test_barriers_count_and_combine():
    """`syncthreads_count`, `_and` and `_or` tell all what all of them brought."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.syncthreads_count(1 if t % 3 == 0 else 0)
        out[t, 1] = cuda.syncthreads_and(1 if t < 95 else 0)
        out[t, 2] = cuda.syncthreads_or(1 if t == 95 else 0)

    out = np.full((96, 3), -1)

    emulate(kernel)[1, 96](out)

    assert [[32, 0, 1]] * 96 == out.tolist()
