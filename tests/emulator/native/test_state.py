"""Which arrays compiled code is given."""

import numpy as np
import pytest

from thirty_two_lanes.emulator.machine.arrays import bind
from thirty_two_lanes.emulator.machine.cells import interleaved
from thirty_two_lanes.emulator.native.ahead import is_within

DATA = np.zeros((8, 12), np.int32)
LANES = np.arange(32, dtype=np.int64)[:, None]


def seen(base, shape, strides):
    """The data seen so, counted in elements."""
    whole = bind(DATA, "a", 0)
    numbers = (tuple(map(np.int64, it)) for it in (shape, strides))
    return whole.part(np.int64(base), *numbers)


@pytest.mark.parametrize(
    "base, shape, strides, inside",
    [
        (0, (8, 12), (12, 1), True),
        (95, (8, 12), (-12, -1), True),
        (95, (1,), (2**62,), True),
        (96, (0, 5), (12, 1), True),
        (1, (8, 12), (12, 1), False),
        (94, (8, 12), (-12, -1), False),
        (-1, (1,), (1,), False),
        (0, (2**62 + 24, 4), (4, 1), False),
        (0, (3, 5), (2**62, 1), False),
        (0, (-2, -48), (-48, 1), False),
        (0, (-(2**63), 0), (1, 1), False),
    ],
)
def test_each_index_leads_into_the_memory(base, shape, strides, inside):
    """Of sizes and strides as large as they may be."""
    assert inside == is_within(seen(base, shape, strides))


def test_each_thread_has_its_own_ends():
    """A part that begins later may be shorter."""
    whole = bind(DATA, "a", 0)
    for size, inside in ((96 - LANES, True), (97 - LANES, False)):
        assert inside == is_within(whole.part(LANES, (size,), (np.int64(1),)))


def test_the_blocks_lie_side_by_side():
    """The last cell of the last block is the last one of all."""
    cells = interleaved(4, np.dtype(np.float32), "shared", 0, blocks=3)
    whole = bind(DATA, "a", 0)
    for size, inside in ((4, True), (5, False)):
        sizes = (np.int64(size),), (np.int64(1),)
        assert inside == is_within(whole.part(np.int64(0), *sizes, cells))
