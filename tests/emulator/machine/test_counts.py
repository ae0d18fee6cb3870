"""What threads ask for together: which requests, on which lines, how often."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import add, transpose_with
from thirty_two_lanes.emulator.machine import launch_memory, machine


def test_a_partial_warp_counts_its_threads_only():
    """40 threads are a warp of 32 and one of 8, which touches one sector."""
    a, b, out = (np.zeros(40, np.float32) for _ in "abo")

    run = emulate(add)[1, 40](a, b, out)

    assert (6, 3 * 5, 3 * 5) == (
        run.coalescing.requests,
        run.coalescing.sectors,
        run.coalescing.ideal_sectors,
    )


def test_a_diverged_access_counts_its_active_lanes_only():
    """In each branch half the lanes take part, with a stride of two words."""

    @cuda.jit
    def parted(out):
        cells = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        if t % 2 == 0:
            out[t] = cells[t]
        else:
            out[t] = cells[t + 32]

    run = emulate(parted)[1, 32](np.zeros(32, np.float32))

    assert (2, 2, 0) == (
        run.bank_conflicts.requests,
        run.bank_conflicts.wavefronts,
        run.bank_conflicts.conflicts,
    )
    assert (2, 8, 4) == (
        run.coalescing.requests,
        run.coalescing.sectors,
        run.coalescing.ideal_sectors,
    )


def test_a_branch_that_no_lane_takes_is_no_request():
    """A warp whose lanes are all off does not ask."""

    @cuda.jit
    def first_warp(out):
        t = cuda.threadIdx.x
        if t < 32:
            out[t] = 1

    assert 1 == emulate(first_warp)[1, 256](np.zeros(256)).coalescing.requests


def test_a_store_after_loops_with_different_trip_counts_is_one_request_a_warp():
    """The threads of a warp meet behind the loop, however long each stayed."""

    @cuda.jit
    def uneven(out):
        t = cuda.grid(1)
        total = 0
        for k in range(t % 4):
            total += k
        out[t] = total

    out = np.zeros(96, np.int64)

    run = emulate(uneven)[1, 96](out)

    assert 3 == run.coalescing.requests
    assert [0, 0, 1, 3] * 24 == out.tolist()


@pytest.mark.parametrize(
    "loop",
    ["for i in range(6):\n        k = i", "k = -1\n    while k < 5:\n        k += 1"],
)
def test_threads_meet_before_the_next_turn_of_a_loop(loop):
    """After `continue` a thread waits for the others: six turns, six requests."""
    source = f"""
def turns(out):
    t = cuda.grid(1)
    {loop}
        if (t + k) % 2:
            continue
        out[t] = k
"""
    namespace = {"cuda": cuda}
    exec(source, namespace)

    run = emulate(cuda.jit(namespace["turns"]))[1, 32](np.zeros(32, np.int64))

    assert 6 == run.coalescing.requests


def test_a_device_functions_lines_carry_the_line_of_the_call():
    """One line called from two places is two rows; asked by number they add up."""

    @cuda.jit(device=True)
    def touch(out, i):
        out[i] = 1

    @cuda.jit
    def twice(out):
        t = cuda.grid(1)
        touch(out, t)
        touch(out, 2 * t)

    table = emulate(twice)[1, 32](np.zeros(64, np.float32)).coalescing.by_line

    first, second = sorted(table, key=lambda site: site.called_from)
    assert 1 == second.called_from - first.called_from
    assert (4, 8) == (table[first].sectors, table[second].sectors)
    assert 12 == table[first.line].sectors == table.get(first.line).sectors
    assert table.get(1) is None


def test_two_arrays_on_one_line_are_told_apart():
    """A line that loads two arrays and stores one has three rows."""
    run = emulate(add)[1, 32](*(np.zeros(32, np.float32) for _ in "abo"))

    assert [("load", "a"), ("load", "b"), ("store", "out")] == [
        (site.kind, site.array) for site in run.coalescing.by_line
    ]


def test_shared_atomics_are_judged_as_atomics():
    """Kinds are load, store and atomic."""

    @cuda.jit
    def count(out):
        cells = cuda.shared.array(32, int32)
        cuda.atomic.add(cells, cuda.threadIdx.x * 0, 1)

    (row,) = emulate(count)[1, 32](np.zeros(1)).bank_conflicts.by_line.values()

    assert ("atomic", 1) == (row.kind, row.wavefronts)


@cuda.jit
def by_block(a, out):
    """Accesses that depend on the block, and some that do not."""
    cells = cuda.shared.array(64, float32)
    t, block = cuda.threadIdx.x, cuda.blockIdx.x
    cells[t * 2] = a[t * block % a.size]
    cells[t * 2 + 1] = t
    cuda.syncthreads()
    for k in range(block % 3):
        out[block, t] += cells[(t * block) % 64] + cells[k]
    if t < block:
        out[block, t] += cells[2 * t]


def counted(batch_blocks, monkeypatch):
    """Results and counts of 11 blocks in batches."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", batch_blocks)
    a, out = np.arange(500, dtype=np.float32), np.zeros((11, 32), np.float32)
    run = emulate(by_block)[11, 32](a, out)
    tables = [
        [(site.line, site.kind, vars(row)) for site, row in table.by_line.items()]
        for table in (run.coalescing, run.bank_conflicts)
    ]
    return out.tolist(), tables


@pytest.mark.parametrize("batch_blocks", [1, 2, 4, 10])
def test_a_grid_counts_the_same_in_batches_of_any_size(batch_blocks, monkeypatch):
    """Blocks run together or one after the other: the same results and counts."""
    together = counted(1000, monkeypatch)

    assert together == counted(batch_blocks, monkeypatch)


@cuda.jit
def with_much_memory(out):
    """8 KB of local memory a thread, and 4 KB of shared memory a block."""
    mine = cuda.local.array(2048, float32)
    ours = cuda.shared.array(1024, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for k in range(4):
        mine[(t + k * 601) % 2048] = i + k
    ours[t] = mine[t]
    cuda.syncthreads()
    out[i] = ours[(t + 1) % 64] + mine[(t + 601) % 2048]


def test_blocks_with_much_memory_run_a_few_at_a_time(monkeypatch):
    """All 64 blocks, as many as 4 MB hold, or one where none fits: the same report."""
    runs, held, allocate = [], [], launch_memory.local_array

    def noted(request, blocks, *more):
        held.append(blocks)
        return allocate(request, blocks, *more)

    monkeypatch.setattr(launch_memory, "local_array", noted)
    for size in (machine.BATCH_BYTES, 4 << 20, 1):
        monkeypatch.setattr(machine, "BATCH_BYTES", size)
        out = np.zeros(64 * 64, np.float32)
        runs.append(emulate(with_much_memory)[64, 64](out).to_dict())
        i = np.arange(64 * 64)
        wanted = i // 64 * 64 + (i % 64 + 1) % 64 + i + 1
        assert wanted.tolist() == out.tolist()
        held.append(0)

    assert runs[0] == runs[1] == runs[2]
    sizes = " ".join(map(str, held)).split(" 0")
    most = (4 << 20) // (64 * 2048 * 4 + 1024 * 4)
    assert ["64 64", f" {most} {most}" * 9 + " 1 1", " 1 1" * 64, ""] == sizes


def test_counts_grow_with_the_grid():
    """Every block counts, those of a second batch too."""
    a, out = np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
    kernel = transpose_with(32)
    one = emulate(kernel)[1, (32, 32)](a, out).bank_conflicts.conflicts

    many = emulate(kernel)[(1, 1030), (32, 32)](
        np.zeros((32 * 1030, 32), np.float32), np.zeros((32, 32 * 1030), np.float32)
    )

    assert 31 * 32 == one
    assert 1030 * one == many.bank_conflicts.conflicts


def test_a_view_keeps_its_distance_from_a_sector():
    """A device array's `a[1:]` begins 4 bytes into a sector; the host's is copied."""
    a, b, out = (np.zeros(65, np.float32) for _ in "abo")
    on_device = cuda.to_device(a)

    run = emulate(add)[1, 32](on_device[1:33], b[:32], out[8:40])
    copied = emulate(add)[1, 32](a[1:33], b[:32], out[8:40])

    assert [5, 4, 4] == [row.sectors for row in run.coalescing.by_line.values()]
    assert [4, 4, 4] == [row.sectors for row in copied.coalescing.by_line.values()]
