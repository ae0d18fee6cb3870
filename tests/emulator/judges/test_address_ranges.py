"""Banks and sectors of requests that lie anywhere: near 0, far from it, far apart."""

import numpy as np
import pytest

from tests.emulator.judges.bank_oracle import (
    brute_sectors,
    brute_wavefronts,
    random_request,
)
from thirty_two_lanes.core.sectors import request_sectors
from thirty_two_lanes.core.wavefronts import request_wavefronts
from thirty_two_lanes.emulator.judges.banks import request_sharing

LANES = np.arange(32)


def together(requests):
    """Requests as judges take them: (32, requests)."""
    return (np.stack(part, axis=1) for part in zip(*requests, strict=True))


def judged(function, requests, *rest):
    """What a judge counts of each request."""
    found = function(*together(requests), *rest)
    return list(zip(*(count.tolist() for count in found), strict=True))


@pytest.mark.parametrize("start", [0, 64, 128, 4096, 40_000])
@pytest.mark.parametrize("itemsize", [1, 4, 8, 16])
def test_banks_are_the_same_wherever_a_request_lies(itemsize, start):
    """Each request alone, and a few together."""
    rng = np.random.default_rng(itemsize + start)
    requests = [random_request(rng, itemsize) for _ in range(24)]
    requests = [(addresses + start, active) for addresses, active in requests]

    for kind in ("load", "store"):
        expected = [brute_wavefronts(*r, itemsize, kind) for r in requests]
        alone = [judged(request_wavefronts, [r], itemsize, kind)[0] for r in requests]
        assert expected == alone
        assert expected == judged(request_wavefronts, requests, itemsize, kind)


@pytest.mark.parametrize("rows", [31, 32, 33, 40, 300, 1023, 1024, 1600])
def test_banks_are_told_apart_over_any_number_of_rows(rows):
    """A row is 128 bytes; 48 KiB have 384, and 227 KiB 1,816."""
    rng = np.random.default_rng(rows)
    requests = [
        (rng.integers(0, rows, 32) * 128 + 4 * rng.integers(0, 3, 32), LANES < lanes)
        for lanes in (32, 31, 1)
    ]
    requests[0][0][:2] = 0, rows * 128 - 4

    for some in (requests, requests[:1]):
        expected = [brute_wavefronts(*r, 4, "load") for r in some]
        assert expected == judged(request_wavefronts, some, 4, "load")


def test_a_request_of_no_lanes_takes_nothing():
    """As when a whole warp skips a branch, beside one that takes it."""
    requests = [(LANES * 4, LANES < 0), (LANES * 4, LANES < 32)]

    assert [(0, 0), (1, 1)] == judged(request_wavefronts, requests, 4, "load")
    assert [(0, 0), (4, 4)] == judged(request_sectors, requests, 4)
    assert [(False, False)] * 2 == judged(request_sharing, requests, 4)


@pytest.mark.parametrize("distance", [2**15, 2**16, 2**17, 2**31, 2**32, 2**33])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_sectors_far_apart_are_different(distance, more):
    """So many sectors apart, some lanes inactive, in any order."""
    sectors = np.where(
        LANES % 3 == 1, distance + more, np.where(LANES % 3, 0, distance)
    )
    requests = [(sectors * 32, LANES % 5 != 4), (sectors[::-1] * 32, LANES < 32)]
    requests.append((sectors * 32, sectors > 0))

    expected = [brute_sectors(*r, 4) for r in requests]
    assert expected == judged(request_sectors, requests, 4)
    assert [expected[0]] == judged(request_sectors, requests[:1], 4)


@pytest.mark.parametrize("last", [2**15 - 1, 2**16 - 2, 2**16 - 1, 2**16, 2**31 - 1])
def test_a_lane_that_takes_no_part_touches_no_sector(last):
    """The only one near 0, while the others lie far from it."""
    active = LANES % 4 == 1
    request = np.where(active, last, 0) * 32, active

    assert [(1, 1)] == judged(request_sectors, [request], 4)


def test_few_sectors_not_far_from_0_are_counted_one_request_at_a_time():
    """Some lanes inactive, in no order."""
    rng = np.random.default_rng(11)
    for first in (0, 1, 2, 5, 40):
        for _ in range(20):
            sectors = rng.integers(first, first + 12, 32)
            request = sectors * 32, rng.random(32) < 0.6
            assert [brute_sectors(*request, 4)] == judged(request_sectors, [request], 4)


@pytest.mark.parametrize("start", [0, 4, 28, 2**40])
def test_sectors_in_order_and_out_of_it_are_as_many(start):
    """All lanes active: rising, falling, the same."""
    for order in (LANES, LANES[::-1], LANES * 0, LANES // 2, LANES ^ 5):
        request = order * 12 + start, LANES < 32
        assert [brute_sectors(*request, 1)] == judged(request_sectors, [request], 1)


@pytest.mark.parametrize(
    "words, active, broadcast, multicast",
    [
        (LANES * 0, 32, True, False),
        (LANES * 0 + 9, 2, True, False),
        (LANES * 0, 1, False, False),
        (LANES, 32, False, False),
        (LANES // 2, 32, False, True),
        (LANES % 31, 32, False, True),
        (LANES % 31, 31, False, False),
        (LANES // 31, 32, False, True),
    ],
)
@pytest.mark.parametrize("itemsize", [4, 8])
def test_lanes_share_words(words, active, broadcast, multicast, itemsize):
    """All one word, which is a broadcast, or some of several, a multicast."""
    request = words * itemsize, LANES < active

    assert [(broadcast, multicast)] == judged(request_sharing, [request], itemsize)


def test_bytes_of_one_word_are_shared():
    """A word has four bytes, and no fewer."""
    request = LANES // 8, LANES < 32

    assert [(True, False)] == judged(request_sharing, [request], 1)
