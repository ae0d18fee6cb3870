"""Which lanes of a request each wavefront serves."""

import numpy as np
import pytest

from tests.emulator.judges.bank_oracle import brute_wavefronts, random_request
from thirty_two_lanes.core.wavefronts import lanes_by_wavefront, wavefronts_of_groups


@pytest.mark.parametrize("kind", ["load", "store", "atomic", "increment"])
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_each_active_lane_is_in_one_of_the_wavefronts_that_the_rule_counts(
    itemsize, kind
):
    """200 requests, each counted again in sets, lane by lane."""
    rng = np.random.default_rng(itemsize)
    for _ in range(200):
        addresses, active = random_request(rng, itemsize)

        waves = lanes_by_wavefront(addresses, active, itemsize, kind)

        assert brute_wavefronts(addresses, active, itemsize, kind)[0] == len(waves)
        np.testing.assert_array_equal(active.astype(int), np.sum(waves, axis=0))


def test_lanes_of_one_word_go_together():
    """Lanes 0 and 2 ask for word 0, lane 1 for word 32 of the same bank."""
    addresses = np.zeros(32, np.int64)
    addresses[1] = 128
    active = np.arange(32) < 3

    first, second = lanes_by_wavefront(addresses, active, 4, "load")

    assert [0, 2] == np.flatnonzero(first).tolist()
    assert [1] == np.flatnonzero(second).tolist()


def test_beyond_the_first_wavefront_of_a_group_all_are_conflicts():
    """float64 in lanes 0 to 7 and 16 to 23 side by side: two groups, no conflict; with
    lane 7 in lane 0's bank, one.
    """
    addresses, active = 8 * np.arange(32), np.arange(32) % 16 < 8
    apart = wavefronts_of_groups(addresses, active, 8, "store")
    addresses[7] = 1024

    assert [1, 1] == list(map(len, apart))
    groups = wavefronts_of_groups(addresses, active, 8, "store")
    assert [2, 1] == list(map(len, groups))
