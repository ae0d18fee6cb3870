"""Cells of one thread each, and windows of neighbours that are checked at a time."""

import numpy as np
import pytest

from thirty_two_lanes.core.events import Access, Warps
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.judges.races.single_owner import CellOwners, windows_of

LANES = np.arange(32)
LINE = Reference(Site("cell", 1, "a[i]"), "load", "a")


def owners_of(cells=64, barriers=True):
    return CellOwners(cells, 64, 256, barriers)


def one(kind, cell, thread, owners, time=0):
    """An access of one thread to one cell."""
    return owners.cells(kind, np.array([cell]), np.array([thread]), time)


@pytest.mark.parametrize("first", ["load", "store"])
@pytest.mark.parametrize("then", ["load", "store"])
def test_a_cell_has_one_owner(first, then):
    """Who touched it first may go on, and nobody else may touch it."""
    owners = owners_of()

    assert one(first, 5, 7, owners) and one(then, 5, 7, owners)
    assert not one(then, 5, 8, owners)
    assert not one(then, 5, 6, owners)
    assert one(then, 6, 8, owners)


@pytest.mark.parametrize(
    "kinds, written",
    [
        (["load"], False),
        (["store"], True),
        (["load", "store"], True),
        (["store", "load"], True),
        (["load", "load"], False),
    ],
)
def test_an_owner_wrote_or_only_read(kinds, written):
    """Thread 7 of cell 5; nobody is -1 elsewhere. Thread 0 is somebody."""
    owners = owners_of(8)
    for kind in kinds:
        assert one(kind, 5, 7, owners)
        assert one(kind, 2, 0, owners)

    writer, reader = owners.writer_and_reader(-1)

    here, there = (writer, reader) if written else (reader, writer)
    assert [-1, -1, 0, -1, -1, 7, -1, -1] == here.tolist()
    assert [-1] * 8 == there.tolist()


def test_two_lanes_that_touch_one_cell_have_it_both():
    """So no one owns it."""
    owners = owners_of()

    assert not owners.cells("store", np.array([3, 3]), np.array([1, 2]), 0)


def test_the_time_of_the_last_access_is_kept_where_there_are_barriers():
    """By cell, and by window with a time for each block."""
    owners = owners_of(80)
    one("store", 33, 7, owners, 1)
    one("load", 33, 7, owners, 3)
    windows, who = (np.array([[0], [40]]), 32), Warps(1, 0, 2)
    assert owners.windows("store", windows, who, np.array([[4, 6]]))

    since = [4] * 32 + [0, 3] + [0] * 6 + [6] * 32 + [0] * 8
    assert since == owners.since.tolist()
    assert owners.windows("load", windows, who, 9)
    assert [9] * 32 == owners.since[40:72].tolist()
    assert owners_of(barriers=False).since is None


@pytest.mark.parametrize("second", [32, 40])
@pytest.mark.parametrize("barriers", [True, False])
def test_windows_are_owned_like_their_cells(second, barriers):
    """The second warp of two blocks of 64: its threads may return, others may not,
    wherever the windows begin.
    """
    owners = owners_of(75, barriers)
    windows, who = (np.array([[0], [second]]), 32), Warps(1, 0, 2)

    assert owners.windows("load", windows, who, 0)
    assert owners.windows("store", windows, who, 5)
    assert not owners.windows("load", windows, Warps(0, 0, 2), 5)
    between, rest = [-1] * (second - 32), [-1] * (43 - second)
    assert [*range(32, 64), *between, *range(96, 128), *rest] == (
        owners.writer_and_reader(-1)[0].tolist()
    )
    assert not one("load", second + 3, 98, owners)
    assert one("load", second + 3, 99, owners)
    assert not owners.windows("load", windows, Warps(0, 0, 2), 5)
    if barriers:
        assert owners.since[second] == 5


def test_windows_of_another_length_have_the_owners_of_their_cells():
    """Two of 16 after one of 32, of the same threads and of others."""
    owners, halves = owners_of(64), (np.array([[32, 48]]), 16)
    assert owners.windows("store", (np.array([[32]]), 32), Warps(1, 0, 1), 0)

    assert owners.windows("load", halves, Warps(1, 0, 1), 0)
    assert not owners.windows("load", halves, Warps(0, 0, 1), 0)
    assert [-1] * 32 + [*range(32, 64)] == owners.writer_and_reader(-1)[0].tolist()


def access(cells, blocks, active=None, dtype=np.int32):
    """A load of cells by a warp of each block."""
    dtype = np.dtype(dtype)
    where = {"step": dtype.itemsize, "base": 4096}
    cells = np.asarray(cells)
    return Access(LINE, "global", dtype, cells, active, blocks, {}, **where)


def by_block(*firsts):
    """32 neighbours, where each block begins."""
    return np.array(firsts)[None, :] + LANES[:, None]


@pytest.mark.parametrize(
    "cells, blocks, firsts, length",
    [
        (by_block(0, 32, 64), 3, [[0], [32], [64]], 32),
        (by_block(96, 32), 2, [[96], [32]], 32),
        (by_block(5), 1, [[5]], 32),
        ((LANES // 8 * 100 + LANES % 8)[:, None], 1, [[0, 100, 200, 300]], 8),
        ((LANES // 4 * 5 + LANES % 4)[:, None], 1, [[*range(0, 40, 5)]], 4),
        (
            (LANES // 16 * 64 + LANES % 16)[:, None] + np.array([[0, 16]]),
            2,
            [[0, 64], [16, 80]],
            16,
        ),
    ],
)
def test_neighbours_are_seen_as_windows(cells, blocks, firsts, length):
    """The longest that fit, from 4 cells; those of blocks may be interleaved."""
    found = windows_of(access(cells, blocks), 4, 4096)

    assert found is not None
    assert (firsts, length) == (found[0].tolist(), found[1])


@pytest.mark.parametrize(
    "cells, blocks",
    [
        (by_block(0, 31), 2),  # the blocks meet in a cell
        (by_block(7, 7), 2),
        (LANES[:, None] * 2, 1),  # no neighbours
        ((LANES // 2 * 3 + LANES % 2)[:, None], 1),  # two neighbours are too few
        ((LANES % 16)[:, None], 1),  # lanes meet
        ((LANES // 16 * 64 + LANES % 16)[:, None] + np.array([[0, 64]]), 2),
        ((LANES // 16 * 64 + LANES % 16)[:, None] + np.array([[0, 15]]), 2),
        (LANES[::-1, None], 1),
        (np.int64(3), 1),
    ],
)
def test_lanes_that_lie_otherwise_or_meet_are_no_windows(cells, blocks):
    """Cells are then looked at one by one."""
    assert windows_of(access(cells, blocks), 4, 4096) is None


def test_only_whole_warps_and_whole_cells_are_windows():
    """No lane is inactive, and an element is a cell."""
    some = LANES[:, None] < 20

    assert windows_of(access(by_block(0), 1, some), 4, 4096) is None
    assert windows_of(access(by_block(0), 1), 2, 4096) is None
    assert windows_of(access(by_block(0), 1), 4, 4096) is not None
