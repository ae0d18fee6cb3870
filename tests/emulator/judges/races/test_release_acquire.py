"""Happens-before by fences and atomics: who has acquired which release."""

from types import SimpleNamespace

import numpy as np
import pytest

from thirty_two_lanes.core.events import Access, Fence, Sync, Warps
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.judges.races.clocks import Clocks
from thirty_two_lanes.emulator.judges.races.release_acquire import HappensBefore

ADD = Reference(Site("file.py", 1, "cuda.atomic.add(flag, 0, 1)"), "atomic", "flag")
BOTH = Warps(0, 0, 2)  # the one warp of each of two blocks


def only(*lanes, block=0):
    """These lanes of one block, of the shape (32, 2)."""
    chosen = np.zeros((32, 2), bool)
    chosen[list(lanes), block] = True
    return chosen


def atomic(active):
    """An atomic of these lanes on one cell."""
    cell, int32 = np.array([[256]]), np.dtype(np.int32)
    return Access(ADD, "global", int32, cell, active, 2, {}, False, BOTH)


@pytest.mark.parametrize("publisher", [0, 10, 15, 16, 20, 31])
def test_a_partial_syncwarp_shares_releases_among_its_lanes_alone(publisher):
    """A lane outside of the mask cannot publish what the others released."""
    clocks = Clocks()
    clocks.start(SimpleNamespace(grid_dim=(2, 1, 1), block_dim=(32, 1, 1), seed=0))
    order = HappensBefore(clocks)

    order.fence(Fence("grid", only(0), BOTH))
    order.synchronise(Sync("warp", BOTH, lanes=only(*range(16))))
    order.atomic(atomic(only(publisher)))
    order.atomic(atomic(only(0, block=1)))

    assert (publisher < 16) == bool(order.acquired_by(np.array([32]))[0])
