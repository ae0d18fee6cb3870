"""Asynchronous copies: what they bring, when it is there, and the races they have."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import (
    assemble,
    commit_copies,
    copy4_async,
    emulate,
    load4,
    wait_copies,
)
from tests.specimens.kernels import message
from thirty_two_lanes.emulator import KernelError

THREADS = 64
WIDTH = 4 * THREADS


@cuda.jit
def two_tiles(out, a):
    """The next tile is under way while this one is added up; one barrier a tile."""
    tile = cuda.shared.array((2, WIDTH), float32)
    t, total = cuda.threadIdx.x, float32(0)
    steps = a.size // (4 * THREADS)
    copy4_async(tile, (0, 4 * t), a, 4 * t)
    commit_copies()
    for step in range(steps):
        wait_copies(0)
        cuda.syncthreads()
        if step + 1 < steps:
            start = 4 * THREADS * (step + 1)
            copy4_async(tile, ((step + 1) % 2, 4 * t), a, start + 4 * t)
            commit_copies()
        for k in range(4):
            total += tile[step % 2, 4 * ((t + 1) % THREADS) + k]
    out[cuda.blockIdx.x, t] = total


def one_copy(between):
    """A kernel that copies a tile and reads it as its neighbour's; what is between."""
    first, second = between

    @cuda.jit
    def copied(out, a):
        tile = cuda.shared.array(WIDTH, float32)
        t = cuda.threadIdx.x
        copy4_async(tile, 4 * t, a, 4 * t)
        commit_copies()
        if first == "barrier":
            cuda.syncthreads()
        elif first == "wait":
            wait_copies(0)
        if second == "barrier":
            cuda.syncthreads()
        elif second == "wait":
            wait_copies(0)
        out[t] = tile[4 * ((t + 1) % THREADS)]

    return copied


@cuda.jit
def own_cells(out, a):
    """Each thread reads what it copied itself: no barrier is needed."""
    tile = cuda.shared.array(WIDTH, float32)
    t = cuda.threadIdx.x
    copy4_async(tile, 4 * t, a, 4 * t)
    commit_copies()
    wait_copies(0)
    out[t] = tile[4 * t + 3]


@cuda.jit
def groups(out, a, pending):
    """Three groups of one copy each, of which the last may be under way."""
    tile = cuda.shared.array((3, WIDTH), float32)
    t = cuda.threadIdx.x
    for group in range(3):
        copy4_async(tile, (group, 4 * t), a, 4 * (THREADS * group + t))
        commit_copies()
    wait_copies(1)
    for group in range(3 - pending):
        out[group, t] = tile[group, 4 * t]


@cuda.jit
def uncommitted(out, a):
    tile = cuda.shared.array(WIDTH, float32)
    t = cuda.threadIdx.x
    copy4_async(tile, 4 * t, a, 4 * t)
    wait_copies(0)
    out[t] = tile[4 * t]


@cuda.jit
def half_of_them(out, a):
    """Odd lanes copy, even lanes store; wide loads read both."""
    tile = cuda.shared.array(WIDTH, float32)
    t = cuda.threadIdx.x
    if t % 2:
        copy4_async(tile, 4 * t, a, 4 * t)
        commit_copies()
        wait_copies(0)
    else:
        for k in range(4):
            tile[4 * t + k] = a[4 * t + k]
    cuda.syncthreads()
    x, y, z, w = load4(tile, 4 * (THREADS - 1 - t))
    out[t] = x + y + z + w


@cuda.jit
def overwritten_too_soon(out, a):
    """The copy of the next step begins while others may still read this one's tile."""
    tile = cuda.shared.array(WIDTH, float32)
    t, total = cuda.threadIdx.x, float32(0)
    for step in range(2):
        copy4_async(tile, 4 * t, a, 4 * (THREADS * step + t))
        commit_copies()
        wait_copies(0)
        cuda.syncthreads()
        total += tile[4 * ((t + 1) % THREADS)]
    out[t] = total


@cuda.jit
def waits_behind_the_barrier(out, a):
    """Begun before a barrier, waited for behind it, read with no other in between."""
    tile = cuda.shared.array(WIDTH, float32)
    t = cuda.threadIdx.x
    copy4_async(tile, 4 * t, a, 4 * t)
    commit_copies()
    cuda.syncthreads()
    wait_copies(0)
    out[t] = tile[4 * THREADS - 1 - 4 * t]


@cuda.jit
def to_global(out, a):
    copy4_async(out, 4 * cuda.threadIdx.x, a, 4 * cuda.threadIdx.x)


@cuda.jit
def counted_at_run_time(out, a, pending):
    wait_copies(pending)
    out[0] = a[0]


@cuda.jit
def of_two_types(out, a):
    tile = cuda.shared.array(4, int32)
    copy4_async(tile, 0, a, 0)
    out[0] = tile[0]


def numbers(count):
    """Random numbers, which are not the same twice."""
    return np.random.default_rng().random(count, dtype=np.float32)


@pytest.mark.parametrize("blocks", [1, 3, 40])
def test_copies_under_way_leave_the_tile_that_is_read_alone(blocks):
    """A buffer for each, one barrier a tile: no race, and NumPy's sums."""
    a = numbers(4 * THREADS * 5)
    out = np.empty((blocks, THREADS), np.float32)

    run = emulate(two_tiles)[blocks, THREADS](out, a)

    tiles = np.roll(a.reshape(5, THREADS, 4), -1, axis=1)
    expected = np.zeros(THREADS, np.float32)
    for value in tiles.transpose(0, 2, 1).reshape(-1, THREADS):
        expected += value
    np.testing.assert_array_equal(np.tile(expected, (blocks, 1)), out)
    assert not run.races and not run.races.minor
    assert not run.uninitialised


@pytest.mark.parametrize(
    ("between", "scopes"),
    [
        (("wait", "barrier"), set()),
        (("barrier", "wait"), {"warp", "block"}),
        (("wait", ""), {"warp", "block"}),
        (("barrier", ""), {"copy"}),
        (("", ""), {"copy", "warp", "block"}),
    ],
)
def test_a_tile_is_read_behind_the_wait_and_a_barrier(between, scopes):
    """Either alone is a race, and so are both in the wrong order: another thread's
    copy has arrived for that thread alone.
    """
    a, out = numbers(4 * THREADS), np.empty(THREADS, np.float32)

    run = emulate(one_copy(between))[1, THREADS](out, a)

    found = {race.scope for race in (*run.races, *run.races.minor)}
    assert found - {"copy"} == scopes - {"copy"}
    assert ("copy" in scopes) <= ("copy" in found)
    if not scopes:
        np.testing.assert_array_equal(np.roll(a[::4], -1), out)


def test_what_is_read_too_early_is_not_what_was_copied():
    """The cells hold what unwritten ones do, so that the mistake shows."""
    out = np.zeros(THREADS, np.float32)

    run = emulate(one_copy(("barrier", "")))[2, THREADS](out, numbers(4 * THREADS))

    (race,) = run.races
    assert np.isnan(out).all()
    assert (race.kind, race.scope, race.hazards) == ("RAW", "copy", 2 * THREADS)
    assert race.cell == "tile[0]" and race.second_thread == "thread 63 of block 0"
    assert race.first_thread == "thread 0 of block 0"
    assert "wait_copies" in race.remedy and "copy4_async" in race.first.text


def test_a_thread_may_read_its_own_cells_once_it_has_waited():
    a, out = numbers(4 * THREADS), np.empty(THREADS, np.float32)

    run = emulate(own_cells)[1, THREADS](out, a)

    np.testing.assert_array_equal(a[3::4], out)
    assert not run.races and not run.races.minor


def test_groups_arrive_in_their_order():
    """`wait_copies(1)` lets the last group be under way, and no other."""
    a = numbers(12 * THREADS)
    out = np.zeros((3, THREADS), np.float32)

    good = emulate(groups)[1, THREADS](out, a, 1)
    bad = emulate(groups)[1, THREADS](out.copy(), a, 0)

    np.testing.assert_array_equal(a.reshape(3, THREADS, 4)[:2, :, 0], out[:2])
    assert not good.races
    assert [(r.scope, r.hazards) for r in bad.races] == [("copy", THREADS)]


def test_a_copy_that_is_in_no_group_is_not_waited_for():
    out = np.zeros(THREADS, np.float32)

    run = emulate(uncommitted)[1, THREADS](out, numbers(4 * THREADS))

    assert [race.scope for race in run.races] == ["copy"]
    assert np.isnan(out).all()


def test_lanes_that_do_not_copy_wait_for_nothing():
    a, out = numbers(4 * THREADS), np.empty(THREADS, np.float32)

    run = emulate(half_of_them)[1, THREADS](out, a)

    x, y, z, w = a.reshape(-1, 4)[::-1].T
    np.testing.assert_array_equal(x + y + z + w, out)
    assert not run.races and not run.races.minor


def test_a_copy_races_with_reads_since_the_last_barrier():
    """It may write as soon as it begins."""
    out = np.zeros(THREADS, np.float32)

    run = emulate(overwritten_too_soon)[1, THREADS](out, numbers(8 * THREADS))

    found = {(r.kind, r.scope) for r in (*run.races, *run.races.minor)}
    assert ("WAR", "block") in found


def test_a_copy_that_arrives_behind_the_barrier_races_with_what_follows_it():
    """Nothing orders its arrival in one thread before another thread's read."""
    out = np.zeros(THREADS, np.float32)

    run = emulate(waits_behind_the_barrier)[1, THREADS](out, numbers(4 * THREADS))

    assert ("RAW", "block") in {(race.kind, race.scope) for race in run.races}


def test_a_copy_is_one_request_to_each_memory():
    """Four elements a lane: 16 sectors of global memory, four wavefronts of shared."""
    a, out = numbers(4 * 32), np.empty(32, np.float32)

    run = emulate(own_cells)[1, 32](out, a)

    line = next(s.line for s in run.coalescing.by_line if "copy4_async" in s.text)
    loads, stores = run.coalescing.by_line[line], run.bank_conflicts.by_line[line]
    assert (loads.kind, loads.requests, loads.sectors) == ("load", 1, 16)
    assert (stores.kind, stores.requests, stores.wavefronts) == ("store", 1, 4)


@pytest.mark.parametrize(
    ("error", "kernel", "words"),
    [
        (KernelError, to_global, "goes from global to shared memory"),
        (TypeError, of_two_types, "elements of one type, not float32 to int32"),
    ],
)
def test_a_copy_that_the_hardware_does_not_have_is_refused(error, kernel, words):
    text = message(error, kernel, 1, 32, np.zeros(128, np.float32), numbers(128))

    assert words in text


def test_the_groups_to_wait_for_are_a_number_in_the_source():
    text = message(
        TypeError, counted_at_run_time, 1, 1, np.zeros(1, np.float32), numbers(4), 1
    )

    assert "`wait_copies` takes a number such as 0 or 1" in text


def test_a_copy_becomes_one_instruction():
    """With no register between, and none for the wait."""
    code = assemble(own_cells)[1, THREADS](np.zeros(THREADS, np.float32), numbers(256))

    assert code.opcodes["LDGSTS.128"] == 1
    assert code.opcodes["LDGDEPBAR"] == 1 and not code.opcodes["LDG"]
