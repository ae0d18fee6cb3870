"""How a race reads: lines, threads, cells, and what would order them."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate
from tests.specimens.kernels import add, line_of, reverse_without_barrier


def test_a_race_reads_as_both_lines_and_what_orders_them():
    """What a notebook shows: the kind, the scope, who did what where, the remedy."""
    a, out = np.ones(64, np.int64), np.zeros(64, np.int64)

    run = emulate(reverse_without_barrier)[1, 64](a, out)

    store = line_of(reverse_without_barrier, "cells[t] =")
    load = line_of(reverse_without_barrier, "= cells[")
    lines = repr(run.races).splitlines()
    assert "RAW race on shared `cells`: 64 hazards between warps of a block" == lines[0]
    assert f"  line {store}  cells[t] =" in lines[1]
    assert lines[1].endswith("    thread 0 stores to cells[0]")
    assert lines[2].endswith("    thread 63 loads cells[0]")
    between = f"between line {store} and line {load}"
    assert f"  Put `cuda.syncthreads()` {between}" == lines[3]
    shown = repr(run).splitlines()  # of which two hold the sentence
    assert [f"  {line}" for line in lines] == shown[2:6]


def test_a_run_without_a_race_says_so():
    """Both sequences have a sentence where they hold nothing."""
    a, out = np.ones(64, np.float32), np.zeros(64, np.float32)

    run = emulate(add)[1, 64](a, a, out)

    assert ("no race", "no race") == (repr(run.races), repr(run.races.minor))


def test_a_barrier_is_asked_for_between_the_kernels_own_lines():
    """Of a device function's line, the line of its call counts."""

    @cuda.jit(device=True)
    def left(tile, t):
        return tile[t - 1]

    @cuda.jit
    def shift(out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        tile[t] = t
        out[t] = left(tile, t)

    (race,) = emulate(shift)[1, 64](np.zeros(64, np.int32)).races

    store, call = line_of(shift, "tile[t] = t"), line_of(shift, "left(tile")
    between = f"between line {store} and line {call}"
    assert f"Put `cuda.syncthreads()` {between}" == race.remedy


def test_a_statement_of_several_lines_is_no_loop():
    """A barrier cannot come within it, whichever of its lines loads."""

    @cuda.jit
    def swap(out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        tile[
            t
        ] = (
            tile[63 - t])  # fmt: skip
        out[t] = tile[t]

    (race,) = emulate(swap)[1, 64](np.zeros(64, np.int32)).races

    assert ("WAR", True) == (race.kind, race.first.line > race.second.line)
    assert (
        "Load into a variable first, then `cuda.syncthreads()`, then store"
        == race.remedy
    )


def test_a_statement_of_several_lines_cannot_be_cut_into_two_launches():
    """Threads of two blocks race within it."""

    @cuda.jit
    def swap(cells):
        i = cuda.grid(1)
        cells[
            i
        ] = (
            cells[63 - i])  # fmt: skip

    (race,) = emulate(swap)[2, 32](np.zeros(64, np.int32)).races

    assert race.first.line > race.second.line
    assert race.remedy.startswith(
        "Threads store to `cells` while others still load its old values: store to "
        "another array"
    )


def test_a_store_races_with_the_load_of_the_loops_next_iteration():
    """Then the barrier comes at the end of the loop."""

    @cuda.jit
    def turned(out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        for _ in range(4):
            other = tile[63 - t]
            cuda.syncthreads()
            tile[t] = other
        out[t] = other

    (race,) = emulate(turned)[1, 64](np.zeros(64, np.int32)).races

    load, store = line_of(turned, "other = tile"), line_of(turned, "= other")
    between = f"between line {store} and line {load} of the loop's next iteration"
    assert f"Put `cuda.syncthreads()` {between}" == race.remedy


def test_a_load_behind_a_loop_of_other_threads_comes_after_it():
    """Others had left the loop, or never came to it, when it stored; the load is of no
    iteration.
    """

    @cuda.jit
    def cleared(out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        if t == 0:
            for i in range(64):
                tile[i] = 0
        out[t] = tile[t]

    (race,) = emulate(cleared)[1, 64](np.zeros(64, np.int32)).races

    store, load = line_of(cleared, "tile[i] = 0"), line_of(cleared, "out[t] =")
    assert ("RAW", 32, True) == (race.kind, race.hazards, race.exact)
    assert ("thread 0", "thread 32") == (race.first_thread, race.second_thread)
    between = f"between the `if` of line {store - 2} and line {load}"
    assert f"Put `cuda.syncthreads()` {between}" == race.remedy


def test_two_loops_of_different_lengths_are_one_race():
    """The first store of a thread comes before the others' loads, and its last behind
    some of them: both belong to one pair of lines.
    """

    @cuda.jit
    def climbs_and_falls(out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        for i in range(t):
            tile[t] = i
        for _ in range(64 - t):
            out[t] = tile[63 - t]

    (race,) = emulate(climbs_and_falls)[1, 64](np.zeros(64, np.int32)).races

    assert ("RAW", False) == (race.kind, race.exact)
    assert 63 == race.hazards  # all but thread 0 store, and each cell has one reader


def test_a_barrier_is_asked_for_within_a_device_function():
    """Where one call of it has both lines."""

    @cuda.jit(device=True)
    def turn(tile, t):
        tile[t] = t
        return tile[63 - t]

    @cuda.jit
    def reverse(out):
        tile = cuda.shared.array(64, int32)
        out[cuda.threadIdx.x] = turn(tile, cuda.threadIdx.x)

    (race,) = emulate(reverse)[1, 64](np.zeros(64, np.int32)).races

    store, load = line_of(turn, "tile[t] = t"), line_of(turn, "return tile")
    between = f"between line {store} and line {load}"
    assert f"Put `cuda.syncthreads()` {between}" == race.remedy


@pytest.mark.parametrize(("nested", "cell"), [(False, "t[1][0]"), (True, "t[1][1][0]")])
def test_a_cell_of_an_array_in_a_tuple_has_the_place_in_the_tuple(nested, cell):
    """`t[0]` would be another array."""

    @cuda.jit
    def flat(t):
        t[1][0] = cuda.threadIdx.x

    @cuda.jit
    def deep(t):
        t[1][1][0] = cuda.threadIdx.x

    pair = np.zeros(4), np.zeros(4)
    kernel, given = (deep, (np.zeros(4), pair)) if nested else (flat, pair)
    run = emulate(kernel)[1, 64](given)
    said = [f"thread {thread} stores to {cell}" for thread in (0, 32)]
    assert said == [access for _, access in run.races[0].accesses]


def test_no_barrier_is_asked_for_between_an_atomic_and_a_load_of_another_block():
    """Within a block one would do."""

    @cuda.jit
    def done(count, out):
        out[cuda.grid(1)] = count[0]
        cuda.atomic.add(count, 0, 1)

    def remedies(blocks, threads):
        run = emulate(done)[blocks, threads](np.zeros(1), np.zeros(blocks * threads))
        return [race.remedy.partition("atomic, or ")[2] for race in run.races]

    (remedy,) = remedies(1, 64)
    assert remedy.startswith("put `cuda.syncthreads()` between line ")
    assert ["make two launches, one for each"] == remedies(2, 1)


def test_a_long_remedy_goes_on_in_the_next_line():
    """A page would cut it in the middle of a word."""

    @cuda.jit
    def pile(out):
        out[0] += 1

    (race,) = emulate(pile)[2, 1](np.zeros(1)).races

    lines = repr(race).splitlines()[3:]
    assert race.remedy == " ".join(line.removeprefix("  ") for line in lines)
    assert [True, True] == [line.startswith("  ") for line in lines]
    assert max(map(len, lines)) <= 84


def summed(apart):
    """A kernel that adds up a tile of 128 numbers, and what it gives."""

    @cuda.jit
    def plain(out):
        tile = cuda.shared.array(128, int32)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        step = 64
        while step:
            if t < step:
                tile[t] += tile[t + step]
            step //= 2
        out[t] = tile[0]

    @cuda.jit
    def ordered(out):
        tile = cuda.shared.array(128, int32)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        step, more = 64, int32(0)
        while step:
            if t < step:
                more = tile[t] + tile[t + step]
            cuda.syncthreads()
            if t < step:
                tile[t] = more
            cuda.syncthreads()
            step //= 2
        out[t] = tile[0]

    return emulate(ordered if apart else plain)[1, 128](np.zeros(128, np.int32))


def test_the_remedy_of_a_statement_in_a_loop_leaves_no_race():
    """Its store and its load are of two turns: one barrier between them is not all."""
    races = summed(apart=False).races
    race = next(it for it in races if it.first.line == it.second.line)

    assert "RAW" == race.kind
    assert race.remedy.startswith("Put `cuda.syncthreads()` at the end of the loop of ")
    assert not summed(apart=True).races


def test_arrays_that_overlap_are_to_be_parted_before_any_barrier():
    """A barrier would end the race, and not the loss of what was stored before."""

    @cuda.jit
    def two_tables(out):
        times = cuda.shared.array(0, int32)
        names = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        times[t] = t
        names[63 - t] = -t
        cuda.syncthreads()
        out[t] = times[t]

    race = emulate(two_tables)[1, 64, 0, 256](np.zeros(64, np.int32)).races[0]

    assert race.remedy.startswith(
        "`times` and `names` overlap: take slices that do not."
    )
