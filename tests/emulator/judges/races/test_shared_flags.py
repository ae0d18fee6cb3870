"""What a flag in shared memory orders: releases, fences and barriers of a block."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate


@cuda.jit
def handed_over(out, released, acquired):
    """Thread 0 hands a cell to thread 32 by a flag of its block."""
    cell = cuda.shared.array(1, int32)
    flag = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t == 0:
        cell[0] = 7
        if released:
            cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)
    if t == 32:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        if acquired:
            cuda.threadfence_block()
        out[cuda.blockIdx.x] = cell[0]


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_flag_in_shared_memory_hands_a_cell_over(blocks):
    """Behind a fence; without one nothing is ordered."""
    out = np.zeros(blocks, np.int32)

    assert () == emulate(handed_over)[blocks, 64](out, True, True).races
    assert [7] * blocks == out.tolist()
    (race,) = emulate(handed_over)[blocks, 64](out, False, True).races
    assert ("RAW", "block", blocks, "cell[0]") == (
        race.kind,
        race.scope,
        race.hazards,
        race.cell,
    )


@cuda.jit
def by_one_of_a_warp(out, syncs, barrier):
    """Lane 1 writes, lane 0 of its warp says so: who orders the two?"""
    cell = cuda.shared.array(2, int32)
    flag = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t == 1:
        cell[0] = 7
    if t == 70:
        cell[1] = 9
    if barrier:
        cuda.syncthreads()
    if t < 32:
        if syncs:
            cuda.syncwarp()
    if t == 0:
        cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)
    if t == 32:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence_block()
        out[0] = cell[0]
        out[1] = cell[1]


@pytest.mark.parametrize(
    "syncs, barrier, cells",
    [
        (False, False, ["cell[0]", "cell[1]"]),
        (True, False, ["cell[1]"]),
        (False, True, []),
        (True, True, []),
    ],
)
def test_a_flag_covers_what_its_thread_has_seen(syncs, barrier, cells):
    """Its warp's writes before `syncwarp`, and those of all before a barrier."""
    run = emulate(by_one_of_a_warp)[1, 96](np.zeros(2, np.int32), syncs, barrier)

    assert cells == sorted(race.cell for race in run.races)


@cuda.jit
def warps_take_turns(out, synced):
    """Lanes exchange cells of their own warp, in each block."""
    cells = cuda.shared.array(96, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    if synced:
        cuda.syncwarp()
    out[cuda.grid(1)] = cells[t ^ 1]


@pytest.mark.parametrize("blocks, threads", [(1, 64), (3, 96), (2, 40)])
def test_syncwarp_orders_the_lanes_of_each_warp(blocks, threads):
    """In every warp of every block; without it each lane races with its neighbour."""
    out = np.zeros(blocks * threads, np.int32)

    clean = emulate(warps_take_turns)[blocks, threads](out, True).races
    assert ((), ()) == (clean, clean.minor)
    minor = emulate(warps_take_turns)[blocks, threads](out, False).races.minor
    assert {"warp"} == {race.scope for race in minor}
    assert blocks * threads == sum(race.hazards for race in minor)


@cuda.jit
def through_a_view(out):
    tile = cuda.shared.array(16, int32)
    part = tile[4:]
    part[cuda.threadIdx.x % 2] = cuda.threadIdx.x
    out[cuda.threadIdx.x] = 1


def test_a_cell_is_named_by_its_own_array():
    """Not by one of global memory with the same addresses, nor by a view."""
    (race,) = emulate(through_a_view)[1, 64](np.zeros(64)).races

    assert ("WAW", "shared", "tile[4]") == (race.kind, race.space, race.cell)
