"""The first look for races names no cell of an orderly kernel: it runs only once."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import (
    add,
    grid_stride,
    matrix_product,
    reduce_in_shared,
    reverse,
    reverse_without_barrier,
    stencil,
    transpose_with,
)
from thirty_two_lanes.emulator import emulation


@pytest.fixture
def looks(monkeypatch):
    """Of each launch, which memory can be restored: the first look, and the second."""
    found, run = [], emulation.run
    monkeypatch.setattr(
        emulation, "run", lambda *given: found.append(given) or run(*given)
    )
    return found


def f32(*shape):
    return np.ones(shape, np.float32)


@cuda.jit
def in_turns(out):
    """Barriers hand a cell from one warp to the other, and back."""
    cell = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    for turn in range(4):
        if t == 32 * (turn % 2):
            cell[0] = turn
            out[cuda.blockIdx.x] = turn
        cuda.syncthreads()


@cuda.jit
def parts(out):
    """Elements of several sizes, each of one thread."""
    t = cuda.grid(1)
    bytes_of = out.view(np.int8)
    bytes_of[8 * t] = 1
    bytes_of[8 * t + 7] = 1
    bytes_of[8 * t] += 1


@cuda.jit
def counted(out):
    """Atomics are ordered with atomics."""
    total = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, 1)
    cuda.atomic.add(out, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 40:
        cuda.atomic.add(out, 1, total[0])


@cuda.jit
def rows_of_blocks(a, out):
    """Each thread has a cell in each row; others only read."""
    t = cuda.grid(1)
    for row in range(out.shape[0]):
        out[row, t] = a[0] + a[t]
        out[row, t] += 1


@cuda.jit
def handed_on(out):
    """Barriers hand each element from thread to thread of its block."""
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.x
    for turn in range(3):
        out[first + (t + 31 * turn) % cuda.blockDim.x] += t
        cuda.syncthreads()
    out[first + t] = out[first + t] + 1


@cuda.jit
def read_by_all(a, out):
    """All load what one thread stored, behind a barrier; then it is stored again."""
    t = cuda.threadIdx.x
    if t == 40:
        out[cuda.blockIdx.x, 0] = a[t]
    cuda.syncthreads()
    out[cuda.blockIdx.x, 1 + t] = out[cuda.blockIdx.x, 0]
    cuda.syncthreads()
    if t == 3:
        out[cuda.blockIdx.x, 0] = 1


ORDERLY = {
    "add": (add, (3, 64), (f32(192), f32(192), f32(150))),
    "grid stride": (grid_stride, (2, 64), (f32(1000), f32(1000))),
    "reduction": (reduce_in_shared, (3, 256), (f32(700), f32(3))),
    "stencil": (stencil, (2, 128), (f32(256), f32(256))),
    "reverse": (reverse, (2, 256), (np.arange(512), np.arange(512))),
    "transpose": (transpose_with(33), ((2, 2), (32, 32)), (f32(64, 64), f32(64, 64))),
    "product": (
        matrix_product,
        ((2, 2), (16, 16)),
        (f32(32, 32),) * 2 + (f32(32, 32),),
    ),
    "turns": (in_turns, (3, 64), (np.zeros(3, np.int32),)),
    "parts": (parts, (2, 64), (np.zeros(128, np.int64),)),
    "atomics": (counted, (2, 64), (f32(2),)),
    "handed on": (handed_on, (2, 64), (f32(128),)),
    "read by all": (read_by_all, (2, 64), (f32(64), f32(2, 65))),
    "rows": (rows_of_blocks, (2, 64), (f32(128), f32(3, 128))),
}


@pytest.mark.parametrize("name", ORDERLY)
def test_an_orderly_kernel_runs_once(name, looks):
    """No cell could be in a race, so nobody looks again."""
    kernel, launch, arguments = ORDERLY[name]

    assert not emulate(kernel)[launch](*arguments).races
    assert 1 == len(looks)


@pytest.mark.parametrize("blocks, runs", [(1, 1), (16, 1), (17, 2)])
def test_a_kernel_that_could_race_runs_twice_where_much_is_asked(blocks, runs, looks):
    """What few blocks asked is kept, and counted without a second look."""
    a, out = np.arange(64 * blocks), np.arange(64 * blocks)

    assert emulate(reverse_without_barrier)[blocks, 64](a, out).races
    assert runs == len(looks)


@pytest.mark.parametrize("blocks", [1, 20])
@pytest.mark.parametrize("synced", [False, True])
def test_lanes_of_a_warp_race_in_shared_memory_of_few_blocks_and_of_many(
    blocks, synced
):
    """Each cell is loaded by the mirror image of the lane that stored it."""

    @cuda.jit
    def mirrored(out, synced):
        cells = cuda.shared.array(32, int32)
        t = cuda.threadIdx.x
        cells[t] = t
        if synced:
            cuda.syncwarp()
        out[cuda.grid(1)] = cells[31 - t]

    run = emulate(mirrored)[blocks, 32](np.zeros(32 * blocks), synced)

    expected = [] if synced else [("RAW", "warp", 32 * blocks)]
    assert expected == [(r.kind, r.scope, r.hazards) for r in run.races.minor]


@pytest.mark.parametrize("blocks", [1, 3, 20])
def test_a_flag_of_each_block_is_raised_with_the_same_value(blocks):
    """64 threads store 1 to a cell in shared memory: minor races, in any block."""

    @cuda.jit
    def raised(out):
        flag = cuda.shared.array(1, int32)
        flag[0] = 1
        cuda.syncthreads()
        out[cuda.grid(1)] = flag[0]

    run = emulate(raised)[blocks, 64](np.zeros(64 * blocks))

    assert [] == list(run.races)
    assert {("block", 1024 * blocks), ("warp", 992 * blocks)} == {
        (race.scope, race.hazards) for race in run.races.minor
    }


@pytest.mark.parametrize("seed", range(4))
def test_readers_of_two_blocks_in_one_request_are_all_remembered(seed):
    """Block 0 has read the cell before; then a thread of each block does, at
    once, whichever is the last; block 0 updates it.
    """

    @cuda.jit
    def read_by_both(cells, out):
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        if t == 1 - b:
            out[b] = cells[b]
        if t == 3 - b:
            out[2 + b] = cells[0]
        cuda.syncthreads()
        if b == 0:
            cuda.atomic.add(cells, 0, 1)

    run = emulate(read_by_both, seed=seed)[2, 32](np.zeros(2, int), np.zeros(4, int))

    assert [("WAR", "grid")] == [(race.kind, race.scope) for race in run.races]
