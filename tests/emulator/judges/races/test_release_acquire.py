"""Happens-before by fences and atomics: who has acquired which release."""

from types import SimpleNamespace

import numpy as np
import pytest

from thirty_two_lanes.core.events import Access, Fence, Sync, Warps
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.judges.races.clocks import Clocks
from thirty_two_lanes.emulator.judges.races.release_acquire import HappensBefore

ADD = Reference(Site("file.py", 1, "cuda.atomic.add(flag, 0, 1)"), "atomic", "flag")
SWAP = Reference(
    Site("file.py", 4, "cuda.atomic.cas(lock, 0, 0, 1)"), "atomic", "lock", swaps=True
)
PUT = Reference(
    Site("file.py", 2, "store_release(flag, 0, 1)"), "store", "flag", order="release"
)
GET = Reference(
    Site("file.py", 3, "load_acquire(flag, 0)"), "load", "flag", order="acquire"
)
BOTH = Warps(0, 0, 2)  # the one warp of each of two blocks


def only(*lanes, block=0):
    """These lanes of one block, of the shape (32, 2)."""
    chosen = np.zeros((32, 2), bool)
    chosen[list(lanes), block] = True
    return chosen


def access(reference, active, cell=256):
    """An access of these lanes to one cell."""
    at, int32 = np.array([[cell]]), np.dtype(np.int32)
    return Access(reference, "global", int32, at, active, 2, {}, False, BOTH)


def started():
    """Clocks of two blocks of a warp each."""
    clocks = Clocks()
    clocks.start(SimpleNamespace(grid_dim=(2, 1, 1), block_dim=(32, 1, 1), seed=0))
    return clocks


@pytest.mark.parametrize("publisher", [0, 10, 15, 16, 20, 31])
def test_a_partial_syncwarp_shares_releases_among_its_lanes_alone(publisher):
    """A lane outside of the mask cannot publish what the others released."""
    order = HappensBefore(started())

    order.fence(Fence("grid", only(0), BOTH))
    order.synchronise(Sync("warp", BOTH, lanes=only(*range(16))))
    order.atomic(access(ADD, only(publisher)))
    order.atomic(access(ADD, only(0, block=1)))

    assert (publisher < 16) == bool(order.acquired_by(np.array([32]))[0])


@pytest.mark.parametrize("overwritten", [True, False])
def test_a_flag_that_is_overwritten_orders_nothing_more(overwritten):
    """Lane 3's release is taken from the flag, unless lane 4 stored to it after."""
    order = HappensBefore(started())
    for lane in (3, 4) if overwritten else (4, 3):
        order.fence(Fence("grid", only(lane), BOTH))
        order.release(access(PUT, only(lane)))

    order.acquire(access(GET, only(0, block=1)))

    taken = order.sets[order.acquired_by(np.array([32]))[0]]
    (_, of_lane_3), (_, of_lane_4) = (order.covering(n, 0, 0, 0) for n in (3, 4))
    assert (not overwritten, overwritten) == (
        bool(taken & of_lane_3),
        bool(taken & of_lane_4),
    )


@pytest.mark.parametrize(
    "since, until, expected",
    [(0, 1, False), (0, 2, True), (1, 2, True), (0, 0, False), (2, 2, False)],
)
def test_only_syncs_between_two_accesses_order_their_lanes(since, until, expected):
    """The first is of other lanes, the second of both, and what comes next is late."""
    clocks = started()
    for lanes in (only(0, 1), only(0, 5), only(0, 5)):
        clocks.synchronise(Sync("warp", BOTH, lanes=lanes))

    assert expected == clocks.synced(0, (0, 5), since, until)


@pytest.mark.parametrize(
    "fenced, strict, atomic, ordered",
    [
        (None, False, ADD, True),  # as on a GPU
        (None, True, ADD, False),
        ("grid", True, ADD, True),
        ("block", True, ADD, False),  # the release is another block's
        (None, False, SWAP, False),
        ("grid", False, SWAP, True),
    ],
)
def test_an_atomic_acquires_with_a_fence_where_that_is_strict_or_it_swaps(
    fenced, strict, atomic, ordered
):
    """PTX ISA, "Memory consistency model": a read, and then a fence of the thread that
    reaches the one that released.
    """
    order = HappensBefore(started(), strict)
    order.fence(Fence("grid", only(0), BOTH))
    order.atomic(access(ADD, only(0)))

    order.atomic(access(atomic, only(0, block=1)))
    if fenced:
        order.fence(Fence(fenced, only(0, block=1), BOTH))

    assert ordered == bool(order.acquired_by(np.array([32]))[0])


@pytest.mark.parametrize(
    "released_by, lanes, ordered",
    [
        ("fence", range(32), True),
        ("fence", range(1, 32), False),  # the one that took the ticket did not wait
        ("store", range(32), False),  # no two fences, so they have no order
    ],
)
def test_a_fence_behind_a_barrier_acquires_where_strict(released_by, lanes, ordered):
    """Lane 0 of block 1 sees the flag, and its lane 5 has the fence. PTX ISA, "Memory
    consistency model": two `fence.sc` are in one order, which no causality contradicts.
    """
    order = HappensBefore(started(), strict=True)
    of_store = released_by == "store"
    order.fence(Fence("grid", only(0), BOTH, of_store))
    (order.release if of_store else order.atomic)(access(ADD, only(0)))

    order.atomic(access(ADD, only(0, block=1)))
    order.synchronise(Sync("warp", BOTH, lanes=only(*lanes, block=1)))
    before = order.acquired_by(np.array([37]))[0]
    order.fence(Fence("grid", only(5, block=1), BOTH))

    assert (0, ordered) == (before, bool(order.acquired_by(np.array([37]))[0]))


def test_a_fence_of_the_block_acquires_what_the_block_released_where_strict():
    order = HappensBefore(started(), strict=True)
    order.fence(Fence("block", only(0), BOTH))
    order.atomic(access(ADD, only(0)))
    order.atomic(access(ADD, only(5)))

    before = order.acquired_by(np.array([5]))[0]
    order.fence(Fence("block", only(5), BOTH))

    assert (0, True) == (before, bool(order.acquired_by(np.array([5]))[0]))


def test_a_later_release_passes_on_what_was_acquired_with_a_fence_where_strict():
    """Block 0's release by lane 0 of block 1 to its lane 1, through another atomic."""
    order = HappensBefore(started(), strict=True)
    order.fence(Fence("grid", only(0), BOTH))
    order.atomic(access(ADD, only(0)))
    order.atomic(access(ADD, only(0, block=1)))
    order.fence(Fence("grid", only(0, block=1), BOTH))
    order.release(access(PUT, only(0, block=1)))

    order.acquire(access(GET, only(1, block=1)))

    first = 1  # the set of the first release, as a bit
    assert order.sets[order.acquired_by(np.array([33]))[0]] & first


@pytest.mark.parametrize("scope", ["warp", "block"])
def test_a_barrier_is_no_fence_for_what_was_acquired(scope):
    """Block 0's lane 0 leaves its release at one cell and block 1's takes it; behind a
    barrier an atomic without a fence does not pass it on at another.
    """
    order = HappensBefore(started())
    order.fence(Fence("grid", only(0), BOTH))
    order.atomic(access(ADD, only(0)))
    order.atomic(access(ADD, only(0, block=1)))

    order.synchronise(Sync(scope, BOTH, lanes=only(*range(32), block=1)))
    order.atomic(access(ADD, only(0, block=1), cell=512))
    order.atomic(access(ADD, only(1), cell=512))

    assert 0 == order.acquired_by(np.array([1]))[0]


@pytest.mark.parametrize("strict", [False, True])
def test_what_a_store_releases_an_atomic_after_it_does_not_where_strict(strict):
    """PTX: a store that releases is a pattern of its own; here at another cell."""
    order = HappensBefore(started(), strict)
    order.fence(Fence("grid", only(0), BOTH, of_store=True))
    order.release(access(PUT, only(0)))
    order.atomic(access(ADD, only(0), cell=512))
    order.atomic(access(ADD, only(0, block=1), cell=512))
    order.fence(Fence("grid", only(0, block=1), BOTH))

    assert strict == (order.acquired_by(np.array([32]))[0] == 0)
