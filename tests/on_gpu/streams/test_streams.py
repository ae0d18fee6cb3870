"""On a machine with a GPU: a race of streams shows, and what is ordered never does."""

import pytest

from helpers import device
from tests.on_gpu.streams.cases import AFTER, BEFORE, CASES, Arrays, later, taken
from tests.on_gpu.streams.cases import N as SIZE

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.has_gpu, reason="there is no GPU here"),
]
MILLISECONDS = 300


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """A kernel's first launch loads it, which waits for all streams."""
    it = Arrays()
    for array in (it.x, it.mapped, it.pageable, it.pinned):
        later[1, SIZE](array, BEFORE, 0)
    taken[1, SIZE](it.x, it.out)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_race_of_streams_shows_and_order_holds(case):
    """The kernel takes long enough for the host to look before it stores."""
    found = case.program(Arrays(), MILLISECONDS)

    assert (BEFORE if case.races else AFTER) == found
