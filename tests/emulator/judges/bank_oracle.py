"""A slow second opinion on the wavefronts of a request, and requests to ask about."""

import numpy as np

LANES = np.arange(32)


def brute_wavefronts(addresses, active, itemsize, kind):
    """The rule lane by lane, in sets."""
    groups = [range(32)]
    if itemsize > 4:
        size = 128 // itemsize
        groups = [range(first, first + size) for first in range(0, 32, size)]
        agree = any(
            all(
                not active[lane ^ bits] or addresses[lane ^ bits] == addresses[lane]
                for lane in range(32)
                if active[lane]
            )
            for bits in (1, 2)
        )
        if kind == "load" and agree:
            groups = [
                range(first, first + 2 * size) for first in range(0, 32, 2 * size)
            ]
    total = ideal = 0
    for group in groups:
        banks = {}
        for lane in group:
            for byte in (
                range(addresses[lane], addresses[lane] + itemsize)
                if active[lane]
                else ()
            ):
                asker = lane if kind == "atomic" else byte // 4
                banks.setdefault(byte // 4 % 32, set()).add(asker)
        total += max(map(len, banks.values()), default=0)
        ideal += bool(banks)
    return total, ideal


def random_request(rng, itemsize):
    """Addresses and active lanes: some orderly, some not."""
    spread = rng.choice([1, 2, 4, 32, 500])
    items = [
        lambda: rng.integers(0, spread, 32),
        lambda: LANES // rng.integers(1, 5),
        lambda: (LANES ^ rng.integers(0, 32)) * rng.integers(0, 40),
        lambda: np.repeat(rng.integers(0, 200, 16), 2),
        lambda: (LANES & ~2) * rng.integers(1, 9),
    ][rng.integers(5)]()
    active = rng.random(32) < rng.choice([0.05, 0.5, 1.1])
    active[rng.integers(32)] = True
    return np.asarray(items, np.int64) * itemsize + 16 * rng.integers(0, 64), active


def brute_sectors(addresses, active, itemsize):
    """The rule byte by byte, in a set."""
    taken = {
        byte // 32
        for lane in range(32)
        if active[lane]
        for byte in range(addresses[lane], addresses[lane] + itemsize)
    }
    return len(taken), min(len(taken), -(-sum(active) * itemsize // 32))
