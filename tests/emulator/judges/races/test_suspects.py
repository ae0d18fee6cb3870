"""The first look at global memory: it suspects each cell that is in a race."""

from types import SimpleNamespace

import numpy as np
import pytest

from thirty_two_lanes.emulator.judges.races.global_suspects import GlobalShadow

WIDTH, BLOCKS, CELLS = 64, 3, 4  # threads of a block; blocks of the grid
THREADS = [n + WIDTH * block for block in range(BLOCKS) for n in (0, 1, 40)]
WRITES = {"store", "update"}


def harms(one, other):
    """Do two kinds of accesses harm each other, if nothing orders them?"""
    return "store" in (one, other) or {one, other} == {"load", "update"}


def raced(seen):
    """The cells that two threads touch with no barrier between, and harm."""
    return {
        cell
        for n, (cell, thread, time, kind) in enumerate(seen)
        for there, other, when, what in seen[:n]
        if cell == there and thread != other and harms(kind, what)
        if thread // WIDTH != other // WIDTH or time == when
    }


def requests(rng, count):
    """Requests of several threads at once, cells, threads and intervals of each; the
    intervals of a block only grow, and threads mostly keep to cells of their own.
    """
    now = np.zeros(BLOCKS, int)
    for _ in range(count):
        threads = rng.permutation(THREADS)[: rng.integers(1, 4)]
        own = threads % CELLS if rng.random() < 0.6 else threads // WIDTH
        cells = (
            own if rng.random() < 0.8 else np.full(len(threads), rng.integers(CELLS))
        )
        kind = rng.choice(["load"] * 3 + ["store", "update"])
        yield str(kind), cells, threads, now[threads // WIDTH]
        now += rng.random(BLOCKS) < 0.25


@pytest.mark.parametrize("seed", range(30))
def test_each_cell_in_a_race_is_suspected_and_no_cell_of_one_thread(seed):
    """Of random requests. What nothing writes is none, nor what one thread alone has,
    unless it both updates it and does more.
    """
    rng = np.random.default_rng(seed)
    for _ in range(60):
        hold(rng)


def hold(rng):
    """The same of one sequence of requests."""
    clocks = SimpleNamespace(width=WIDTH, threads_in_grid=WIDTH * BLOCKS)
    memory = SimpleNamespace(start=0, size=4 * CELLS)
    shadow, seen = GlobalShadow(memory, 4, clocks, True), []
    shadow.share()

    for kind, cells, threads, times in requests(rng, int(rng.integers(2, 7))):
        getattr(shadow, kind)(cells, threads, times)
        rows = zip(cells.tolist(), threads.tolist(), times.tolist(), strict=True)
        seen += [(*row, kind) for row in rows]

    found = {*np.flatnonzero(shadow.suspects).tolist()}
    assert raced(seen) <= found
    for cell in found:
        here = [row for row in seen if row[0] == cell]
        kinds = {row[3] for row in here}
        assert len({row[1] for row in here}) > 1 or kinds > {"update"}
        assert kinds & WRITES
