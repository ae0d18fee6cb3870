"""A slow second opinion on the sectors of a request."""

import math


def brute_sectors(addresses, active, itemsize):
    """The rule byte by byte, in a set."""
    taken = {
        byte // 32
        for lane in range(32)
        if active[lane]
        for byte in range(addresses[lane], addresses[lane] + itemsize)
    }
    return len(taken), min(len(taken), math.ceil(sum(active) * itemsize / 32))
