"""The sectors of a request, by number and by count."""

import numpy as np
import pytest

from thirty_two_lanes.core.sectors import (
    accesses_of,
    local_sectors,
    request_sectors,
    sectors_of,
)


@pytest.mark.parametrize(
    "addresses, itemsize, expected",
    [
        ([0], 4, [0]),
        ([31], 1, [0]),
        ([32, 0, 36], 4, [0, 1]),
        ([24], 16, [0, 1]),
        ([16], 80, [0, 1, 2]),
        ([], 4, []),
    ],
)
def test_sectors_are_the_aligned_32_bytes_that_hold_an_element(
    addresses, itemsize, expected
):
    """By hand: an element may begin in one and end in another."""
    assert expected == sectors_of(addresses, itemsize).tolist()


@pytest.mark.parametrize("itemsize", [1, 2, 3, 12, 16, 33, 64, 80])
def test_sectors_are_those_of_the_bytes_wherever_an_element_begins(itemsize):
    """Byte by byte, in the order of memory; alone and many together."""
    starts = np.random.default_rng(itemsize).permutation(130)
    for few in ([31], [0], starts[:1], starts[:2], starts[:9]):
        touched = {int(it + byte) // 32 for it in few for byte in range(itemsize)}

        assert sorted(touched) == sectors_of(few, itemsize).tolist()


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_a_request_counts_the_sectors_of_its_active_lanes(itemsize):
    """100 requests at once; each one's by number."""
    rng = np.random.default_rng(itemsize)
    addresses = rng.integers(0, 64, (32, 100)) * itemsize
    active = rng.random((32, 100)) < rng.random(100)

    sectors, _ = request_sectors(addresses, active, itemsize)

    each = zip(addresses.T, active.T, strict=True)
    assert sectors.tolist() == [len(sectors_of(a[on], itemsize)) for a, on in each]


def test_a_complex_number_is_two_accesses():
    """32 of 16 bytes: each part touches 16 sectors, and eight would hold it."""
    addresses = 16 * np.arange(32)[:, None]
    active = np.ones((32, 1), bool)

    parts = accesses_of(np.dtype(np.complex128))

    assert (8, 2) == parts
    assert [[32], [16]] == request_sectors(addresses, active, *parts).tolist()


@pytest.mark.parametrize("itemsize, words", [(1, 1), (4, 1), (8, 2), (16, 4)])
def test_a_word_of_32_lanes_of_local_memory_is_a_line(itemsize, words):
    """Four sectors for each word; a byte of each lane could lie in one."""
    own, active = np.full((32, 1), 16), np.ones((32, 1), bool)

    expected = [[4 * words], [max(1, itemsize)]]

    assert expected == local_sectors(own, active, itemsize).tolist()
