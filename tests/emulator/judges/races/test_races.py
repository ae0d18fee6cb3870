"""Races: counted by hand, against vector clocks for every thread, and by both ways of
counting.
"""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.emulator.judges.races.race_oracle import (
    CELLS,
    random_kernel,
    reported,
    traced,
)
from tests.quick import some
from tests.specimens.kernels import (
    add,
    grid_stride,
    line_of,
    numbers,
    reduce_by_shuffles,
    reduce_in_shared,
    reverse_without_barrier,
    stencil,
    tiled,
    transpose_with,
)
from thirty_two_lanes.emulator.judges.races import hazards, races


@cuda.jit
def count(out):
    out[0] += 1


@cuda.jit
def last_block(a, partial, counter, out, fence):
    """The block that comes last adds up what all blocks left."""
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        partial[cuda.blockIdx.x] = a[cuda.grid(1)]
        if fence:
            cuda.threadfence()
        last[0] = cuda.atomic.add(counter, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t < cuda.gridDim.x:
        cuda.atomic.add(out, 0, partial[t])


def summaries(run):
    """Kind, scope, hazards and the lines' texts of the races of a run."""
    return [
        (r.kind, r.scope, r.hazards, r.first.text, r.second.text) for r in run.races
    ]


@pytest.mark.parametrize("seed", some(range(48), every=6))
def test_random_kernels_have_the_races_that_vector_clocks_find(seed):
    """Shared and global memory, barriers, fences, atomics, loops and branches."""
    kernel, source = random_kernel(np.random.default_rng(seed))
    blocks, threads = [(2, 48), (1, 64), (3, 32), (2, 33)][seed % 4]
    g, out = np.zeros(CELLS, np.int32), np.zeros(96, np.int64)

    expected = traced(kernel, blocks, threads, g.copy(), out).hazards()

    assert expected == reported(emulate(kernel)[blocks, threads](g, out)), source


@pytest.mark.parametrize("seed", some(range(24), every=3))
def test_hazards_are_counted_as_they_are_listed(seed, monkeypatch):
    """Without a list of pairs the figure is the same, or a least one that says so."""
    kernel, source = random_kernel(np.random.default_rng(100 + seed))
    g, out = np.zeros(CELLS, np.int32), np.zeros(96, np.int64)
    listed = reported(emulate(kernel)[2, 48](g.copy(), out))
    monkeypatch.setattr(hazards, "MOST_PAIRS", 0)
    run = emulate(kernel)[2, 48](g.copy(), out)
    counted = reported(run)

    if "syncwarp" in source or "threadfence" in source:
        assert set(counted) <= set(listed), source
    elif all(race.exact for race in (*run.races, *run.races.minor)):
        assert listed == counted, source
    else:
        assert all(0 < counted[key] <= listed[key] for key in listed), source


@pytest.mark.parametrize("crowd", [0, 3, 10**6])
def test_it_has_no_importance_which_cells_are_counted(crowd, monkeypatch):
    """One cell of 96 threads and 96 of two each: a line's hazards are added up."""

    @cuda.jit
    def both(out):
        t = cuda.grid(1)
        out[t + 1] = out[t]
        out[0] = t

    monkeypatch.setattr(hazards, "CROWD", crowd)

    run = emulate(both)[1, 96](np.zeros(97, np.int32))

    found = [r for r in (*run.races, *run.races.minor) if r.kind == "WAW"]
    assert all(race.exact for race in found)
    assert [("block", 96 * 64 // 2), ("warp", 3 * 32 * 31 // 2)] == sorted(
        (race.scope, race.hazards) for race in found
    )
    assert {("block", "thread 0", "thread 32"), ("warp", "thread 0", "thread 1")} == {
        (race.scope, race.first_thread, race.second_thread) for race in found
    }
    # a cell is loaded by the thread of its number, and stored by the one before;
    # of cell 0, thread 0 loads, and the others store later
    between = [r for r in (*run.races, *run.races.minor) if r.kind != "WAW"]
    assert 95 + 95 == sum(race.hazards for race in between)


def test_a_lost_update_is_a_race_of_every_pair_of_threads():
    """4,096 threads in 16 blocks; hazards by hand."""
    run = emulate(count)[16, 256](np.zeros(1, np.int32))

    line = "out[0] += 1"
    between, within = 4096 * 3840, 16 * 256 * 224
    assert [
        ("WAR", "grid", between, line, line),
        ("WAW", "grid", between // 2, line, line),
        ("WAR", "block", within, line, line),
        ("WAW", "block", within // 2, line, line),
    ] == summaries(run)
    assert {("WAR", 128 * 32 * 31), ("WAW", 128 * 16 * 31)} == {
        (race.kind, race.hazards) for race in run.races.minor
    }


def test_a_missing_barrier_is_told_with_lines_threads_cell_and_remedy():
    """Each cell is stored by one thread and loaded by its mirror image."""
    run = emulate(reverse_without_barrier)[2, 256](np.arange(512), np.zeros(512, int))

    (race,) = run.races
    store = line_of(reverse_without_barrier, "cells[t] = a[i]")
    assert ("RAW", "shared", "block", 512, store, store + 1) == (
        *(race.kind, race.space, race.scope, race.hazards),
        *(race.first.line, race.second.line),
    )
    assert ("cells[0]", "thread 0 of block 0", "thread 255 of block 0") == (
        race.cell,
        race.first_thread,
        race.second_thread,
    )
    assert f"Put `cuda.syncthreads()` between line {store} and line {store + 1}" == (
        race.remedy
    )


@pytest.mark.slow
@pytest.mark.parametrize("first, second, kind", [(0, 1, "RAW"), (1, 0, "WAR")])
def test_a_tiled_product_without_a_barrier_races_from_warp_to_warp(first, second, kind):
    """Each cell of b's tile is read by 14 threads of other warps; a's row is a warp's
    own.
    """
    a, out = numbers(64, 64), np.zeros((64, 64), np.float32)

    run = emulate(tiled(16, first, second))[(4, 4), (16, 16)](a, a, out)

    assert [(kind, "b_tile", 16 * 256 * 14)] == [
        (r.kind, r.array, r.hazards) for r in run.races
    ]
    assert {("a_tile", 16 * 256 * 15), ("b_tile", 16 * 256)} == {
        (r.array, r.hazards) for r in run.races.minor
    }


@pytest.mark.parametrize(
    "kernel, launch, arguments",
    [
        (add, (8, 128), [numbers(1000)] * 2 + [np.zeros(1000, np.float32)]),
        (grid_stride, (2, 64), [numbers(1000), np.zeros(1000, np.float32)]),
        (tiled(8, 1, 1), ((4, 4), (8, 8)), [numbers(32, 32)] * 2 + [numbers(32, 32)]),
        (transpose_with(33), ((2, 2), (32, 32)), [numbers(50, 60), numbers(60, 50)]),
        (reduce_in_shared, (4, 256), [numbers(1000), numbers(4)]),
        (reduce_by_shuffles, (4, 256), [numbers(1000), numbers(1)]),
        (stencil, (8, 128), [numbers(1000), numbers(1000)]),
    ],
)
def test_correct_kernels_have_no_race(kernel, launch, arguments):
    """No false alarm, not even a minor one."""
    run = emulate(kernel)[launch](*[a.copy() for a in arguments])

    assert ((), ()) == (tuple(run.races), run.races.minor)


@pytest.mark.parametrize("fence", [True, False])
def test_a_last_block_is_ordered_by_its_fence(fence):
    """A write, a fence, an atomic; an atomic, a read: without the fence, a race."""
    partial, counter = np.zeros(8, np.float32), np.zeros(1, np.int32)
    out = np.zeros(1, np.float32)

    run = emulate(last_block)[8, 32](numbers(256), partial, counter, out, fence)

    expected = [] if fence else [("RAW", "grid", "partial[0]")]
    assert expected == [(r.kind, r.scope, r.cell) for r in run.races]


@pytest.mark.parametrize("blocks", [2, 5])
def test_no_block_is_the_last_by_its_number(blocks):
    """Each is in a race with two seeds that follow each other, though it draws a
    ticket: it is not the last one to draw.
    """

    @cuda.jit
    def elected(chosen, parts, counter, out):
        parts[cuda.blockIdx.x] = 1
        cuda.threadfence()
        ticket = cuda.atomic.add(counter, 0, 1)
        if cuda.blockIdx.x == chosen and ticket >= 0:
            for i in range(parts.size):
                out[0] += parts[i]

    def races(seed, chosen):
        arrays = (np.zeros(n, np.int32) for n in (blocks, 1, 1))
        return len(emulate(elected, seed=seed)[blocks, 1](chosen, *arrays).races)

    found = [[races(seed, chosen) for seed in (0, 1)] for chosen in range(blocks)]

    assert all(map(any, found))
    assert [1, 1] == [pair.count(0) for pair in zip(*found, strict=True)]


@pytest.mark.parametrize("fence", [True, False])
def test_a_lock_orders_what_it_guards_if_a_fence_is_behind_what_takes_it(fence):
    """Each holder sees what the one before did. A compare-and-swap orders nothing
    else: PTX ISA, "Memory consistency model", acquire patterns.
    """

    @cuda.jit
    def locked(lock, total):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            if fence:
                cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)

    total = np.zeros(1, np.int64)

    run = emulate(locked)[6, 32](np.zeros(1, np.int32), total)

    assert ([6], fence) == (total.tolist(), not run.races)


def test_a_race_in_shared_memory_is_found_across_many_other_requests():
    """More than are kept until they are looked at, and no barrier between."""

    @cuda.jit
    def kernel(a, out):
        cells = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        cells[t] = x = t
        for _ in range(9_000):
            x += a[t]
        out[t] = x + cells[63 - t]

    run = emulate(kernel)[1, 64](np.zeros(64, np.int32), np.zeros(64))

    assert [("shared", 64)] == [(race.space, race.hazards) for race in run.races]


@pytest.mark.parametrize("other", [0, 1])
def test_values_that_differ_in_one_block_are_no_minor_race(other):
    """The blocks do the same to their cells, and one stands for both."""

    @cuda.jit
    def kernel(out):
        cell = cuda.shared.array(1, int32)
        cell[0] = cuda.threadIdx.x * (cuda.blockIdx.x == other)
        cuda.syncthreads()
        out[cuda.grid(1)] = cell[0]

    run = emulate(kernel)[2, 32](np.zeros(64))

    assert [False] == [race.same_value for race in [*run.races, *run.races.minor]]


def test_a_barrier_orders_threads_of_its_block_only():
    """Global memory as a mailbox: within a block it needs a barrier, between blocks
    nothing helps.
    """

    @cuda.jit
    def mailbox(box, out, shift):
        i = cuda.grid(1)
        box[i] = i
        cuda.syncthreads()
        out[i] = box[(i + shift) % box.size]

    def kinds(shift):
        box, out = np.zeros(128, np.int32), np.zeros(128, np.int32)
        return [
            (r.kind, r.scope) for r in emulate(mailbox)[2, 64](box, out, shift).races
        ]

    assert [("RAW", "grid")] == kinds(64)
    assert [("RAW", "grid")] == kinds(1)
    assert [] == kinds(0)


def test_what_was_printed_and_stored_is_not_doubled_by_the_second_look(
    capsys, monkeypatch
):
    """A racy launch runs twice and leaves what one run leaves."""
    monkeypatch.setattr(races, "MOST_KEPT", 0)

    @cuda.jit
    def racy(out):
        if cuda.grid(1) == 0:
            print("once")
        out[0] += 1

    out = np.full(1, 5, np.int32)

    run = emulate(racy)[1, 64](out)

    assert (["once"], 7, True) == (
        capsys.readouterr().out.split(),
        int(out[0]),
        bool(run.races),
    )


def test_fields_of_a_record_are_cells_of_their_own():
    """Two threads that write different fields do not race."""
    records = np.zeros(1, np.dtype([("x", np.float32), ("y", np.float64)], align=True))

    @cuda.jit
    def fields(a, same):
        if cuda.threadIdx.x == 0:
            a[0].x = 1
        if cuda.threadIdx.x == 40:
            if same:
                a[0].x = 2
            else:
                a[0].y = 2

    assert [] == summaries(emulate(fields)[1, 64](records, False))
    assert 1 == len(emulate(fields)[1, 64](records, True).races)


def test_the_largest_races_are_counted_and_not_listed():
    """65,536 threads, one cell: 4 * 10^9 pairs, more than 32 bits or a list hold."""
    run = emulate(count)[64, 1024](np.zeros(1, np.int32))

    threads = 64 * 1024
    assert threads * (threads - 1024) == run.races[0].hazards


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.float32])
def test_hazards_count_elements_of_any_width(dtype):
    """One cell is one element."""

    @cuda.jit
    def shifted(a, out):
        t = cuda.threadIdx.x
        a[t] = t
        out[t] = a[(t + 32) % 64]

    run = emulate(shifted)[1, 64](np.zeros(64, dtype), np.zeros(64, float32.name))

    assert [("RAW", "block", 64)] == [(r.kind, r.scope, r.hazards) for r in run.races]
