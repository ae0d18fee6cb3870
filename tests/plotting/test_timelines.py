"""Figures of what happens at the same time: nothing is used before it is there."""

from itertools import pairwise

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, plotting
from helpers.plotting.chains import turns
from helpers.plotting.timelines import look_backs, pipeline
from tests.lessons.claims import left_by
from tests.paths import ROOT
from thirty_two_lanes.core import style

BOTH = [(a, b) for a in (True, False) for b in (True, False)]


def last_block(before, after):
    """A kernel whose last block loads what the other one stored."""

    @cuda.jit
    def kernel(out, parts, finished):
        parts[cuda.blockIdx.x] = 1
        if before:
            cuda.threadfence()
        ticket = cuda.atomic.add(finished, 0, 1)
        if after:
            cuda.threadfence()
        if ticket == 1:
            out[0] = parts[0] + parts[1]

    return kernel


@pytest.mark.parametrize("first, second", BOTH)
def test_the_new_part_is_found_where_the_emulator_sees_no_race(first, second):
    """A strict look asks for both fences."""
    arrays = np.zeros(1, np.int32), np.zeros(2, np.int32), np.zeros(1, np.int32)
    run = emulate(last_block(first, second), strict=True)[2, 1](*arrays)

    picture = plotting.plot_fences(first, second)

    written = [it.get_text() for it in picture.axes[0].texts]
    found = "old" if run.races else "new"
    assert picture.alt.endswith(f"it finds the {found} one.")
    assert [f"load: {found}"] == [it for it in written if it.startswith("load")]
    assert first + second == sum(it.startswith("fence") for it in written)


@pytest.mark.slow
@pytest.mark.parametrize("fence", [True, False])
def test_the_letter_is_found_where_the_emulator_sees_no_race(fence):
    """Of the lesson's own kernel, which waits for the flag."""
    it = left_by(ROOT / "lessons" / "19_from_block_to_block.py")
    arrays = np.zeros(1, np.int32), np.zeros(2, np.int32), np.zeros(1, np.int32)
    run = emulate(it.make_letter(fence), strict=True)[2, 1](*arrays)

    picture = plotting.plot_letter(fence)

    found = "old" if run.races else "new"
    assert picture.alt.endswith(f"it finds the {found} one.")


@pytest.mark.parametrize("buffers", [1, 2, 3])
@pytest.mark.parametrize("copy, compute", [(3, 2), (2, 3), (1, 1)])
def test_a_tile_is_there_before_it_is_used_and_until_then(buffers, copy, compute):
    """No copy into a buffer begins before its last tile has been used, and a barrier
    lies between.
    """
    copies, sums, barriers = pipeline(6, copy, compute, buffers)

    for copied, used in zip(copies, sums, strict=True):
        assert any(copied[1] <= it <= used[0] for it in barriers)
    for used, copied in zip(sums, copies[buffers:], strict=False):
        assert any(used[1] <= it <= copied[0] for it in barriers)
    for work in copies, sums:
        assert all(before[1] <= after[0] for before, after in pairwise(work))


@pytest.mark.parametrize("buffers, end, barriers", [(1, 20, 7), (2, 14, 4), (3, 14, 4)])
def test_a_second_buffer_hides_the_shorter_work(buffers, end, barriers):
    """Of copies of 3 and arithmetic of 2, only the last arithmetic shows."""
    assert plotting.plot_pipeline(buffers=(buffers,)).alt == (
        f"4 tiles are copied and used: with {buffers} buffer{'s' * (buffers > 1)} "
        f"after {end}, with {barriers} barriers."
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_tile_looks_back_over_its_neighbours_to_a_prefix(seed):
    """One after the other, each when it has published something; the last look is the
    first that finds a prefix.
    """
    rng = np.random.default_rng(seed)
    tiles = [(int(a), int(b)) for a, b in rng.integers(1, 9, (9, 2))]

    plans = look_backs(tiles, 1)

    prefixes = [plan[-1][1] for plan in plans]
    for tile, plan in enumerate(plans):
        assert (tiles[tile][0], sum(tiles[tile])) == plan[0][:2]
        assert all(before[1] == after[0] for before, after in pairwise(plan))
        looks = [(it[0], int(it[2])) for it in plan if it[3] == style.LOAD]
        assert [tile - 1 - turn for turn in range(len(looks))] == [n for _, n in looks]
        assert all(at >= sum(tiles[other]) for at, other in looks)
        ready = [at >= prefixes[other] for at, other in looks]
        assert ready == [*[False] * (len(ready) - 1), True][: len(ready)]
    assert [] == [it for it in plans[0] if it[3] == style.LOAD]


def test_a_look_back_is_said_in_words():
    """Tile 2 waits for the sum of tile 1, and finds the prefix of tile 0."""
    assert plotting.plot_look_backs([(0, 4), (0, 5), (0, 3)]).alt == (
        "What tiles publish, and when: tile 0: its sum at 4, its prefix at 4; tile 1: "
        "its sum at 5, looks at 0, its prefix at 6; tile 2: its sum at 3, waits 2, "
        "looks at 1, 0, its prefix at 7."
    )


@pytest.mark.parametrize("chains", range(1, 7))
@pytest.mark.parametrize("work, wait", [(1, 3), (2, 3), (1, 0)])
def test_chains_share_one_unit_and_fill_its_time(chains, work, wait):
    """It works for one at a time, a chain waits between its steps, and the unit is idle
    only where too few chains are there.
    """
    plan = turns(3, work, wait, chains)

    assert all(a[1] + work <= b[1] for a, b in pairwise(plan))
    for chain in range(chains):
        own = [start for who, start in plan if who == chain]
        assert 3 == len(own)
        assert all(a + work + wait <= b for a, b in pairwise(own))
    full = chains * work >= work + wait
    assert full == (plan[-1][1] + work == 3 * chains * work)


def test_chains_are_said_in_words():
    """How long the unit works, and of how long."""
    assert plotting.plot_chains(2, 1, 2, (1, 3)).alt == (
        "One arithmetic unit works with 1 chain for 2 of 4 steps of time, with 3 "
        "chains for 6 of 6 steps of time."
    )
