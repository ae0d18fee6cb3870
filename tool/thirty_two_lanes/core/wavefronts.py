"""In how many wavefronts shared memory serves a request: one rule for all who count.

The emulator's judge counts with it, and `plot_banks` draws by it. It is the rule of an
H200's own counter (docs/AGREEMENT.md): a warp's request of up to 4 bytes a lane is one
group, of 8 bytes two half warps, of 16 bytes four quarter warps. A *load* of 8 or 16
bytes takes half as many groups when every active lane asks for the address of its
neighbour `lane ^ 1`, or every one for that of `lane ^ 2`. In each group, the most
different words in one bank is the number of wavefronts. In an *atomic*, lanes of one
word take turns, too: there it is the most lanes in one bank; but not in an *increment*,
which adds 1 to numbers of 4 bytes and gives nothing back (ATOMS.POPC.INC).
Not modelled: an atomic on floats or 8 bytes is a loop of compare-and-swaps, of which
each turn takes two wavefronts, and half warps wait for each other; here one a turn.
"""

import numpy as np

from thirty_two_lanes.core.hardware import NUM_BANKS, WARP_SIZE, WORD_BYTES

FEW_ROWS = 32  # rows of words among which marks are faster than sorting


def request_wavefronts(addresses, active, itemsize, kind):
    """Wavefronts and ideal wavefronts of requests, from (32, requests) addresses."""
    wavefronts = np.zeros(addresses.shape[1], np.int64)
    ideal = np.zeros(addresses.shape[1], np.int64)
    for lanes, chosen in served_together(addresses, active, itemsize, kind):
        if chosen.all():
            chosen = slice(None)
        most = _most_lanes_in_a_bank if kind == "atomic" else _most_words_in_a_bank
        count = most(addresses[lanes, chosen], active[lanes, chosen], itemsize)
        wavefronts[chosen] += count
        ideal[chosen] += count > 0
    return wavefronts, ideal


def served_together(addresses, active, itemsize, kind):
    """Slices of lanes that are served together, each with its requests."""
    every = np.ones(addresses.shape[1], bool)
    if itemsize <= WORD_BYTES:
        yield slice(0, WARP_SIZE), every
        return
    size = WARP_SIZE * WORD_BYTES // itemsize
    paired = _pairs_agree(addresses, active) if kind == "load" else ~every
    for chosen, width in ((paired, 2 * size), (~paired, size)):
        if chosen.any():
            for first in range(0, WARP_SIZE, width):
                yield slice(first, first + width), chosen


def _pairs_agree(addresses, active):
    """Does each active lane share its address with lane ^ 1, or each with lane ^ 2?"""
    agree = np.zeros(addresses.shape[1], bool)
    for bits in (1, 2):
        neighbour = np.arange(WARP_SIZE) ^ bits
        same = (addresses == addresses[neighbour]) | ~active | ~active[neighbour]
        agree |= same.all(axis=0)
    return agree


def _most_lanes_in_a_bank(addresses, active, itemsize):
    """The most lanes that one bank must serve, by request."""
    requests = addresses.shape[1]
    places = addresses // WORD_BYTES % NUM_BANKS * requests + np.arange(requests)
    counts = np.bincount(places[active], minlength=NUM_BANKS * requests)
    return counts.reshape(NUM_BANKS, requests).max(axis=0)


def _most_words_in_a_bank(addresses, active, itemsize):
    """The most different words that one bank must serve, by request."""
    parts = max(1, itemsize // WORD_BYTES)
    words = addresses // WORD_BYTES
    first = words.min(initial=0) // NUM_BANKS * NUM_BANKS
    rows = (words.max(initial=0) + parts - first) // NUM_BANKS + 1
    words = words - first
    if parts > 1:
        words = np.concatenate([words + extra for extra in range(parts)])
        active = np.concatenate([active] * parts)
    return (_marked if rows <= FEW_ROWS else _ordered)(words, active, int(rows))


def _marked(words, active, rows):
    """The same, by a mark for each word."""
    requests = words.shape[1]
    marks = np.zeros((rows * NUM_BANKS + 1, requests), np.uint8)
    if not active.all():
        words = np.where(active, words, rows * NUM_BANKS)
    marks.ravel()[words * requests + np.arange(requests)] = 1
    by_bank = marks[:-1].reshape(rows, NUM_BANKS, requests)
    return by_bank.sum(axis=0, dtype=np.uint8).max(axis=0).astype(np.int64)


def _ordered(words, active, rows):
    """The same, by sorting: each word in front of its equals."""
    banks = np.where(active, words % NUM_BANKS * rows + words // NUM_BANKS, -1).T
    small = rows * NUM_BANKS < 1 << 15
    order = np.sort(banks.astype(np.int16 if small else np.int64), axis=1)
    new = np.ones(order.shape, bool)
    new[:, 1:] = order[:, 1:] != order[:, :-1]
    new &= order >= 0
    request = np.broadcast_to(np.arange(len(order))[:, None], order.shape)[new]
    counts = np.bincount(
        order[new] // rows + NUM_BANKS * request, minlength=NUM_BANKS * len(order)
    )
    return counts.reshape(-1, NUM_BANKS).max(axis=1)


def lanes_by_wavefront(addresses, active, itemsize, kind):
    """The lanes of one request that each wavefront serves, (32,) each, in order."""
    groups = wavefronts_of_groups(addresses, active, itemsize, kind)
    return [lanes for group in groups for lanes in group]


def wavefronts_of_groups(addresses, active, itemsize, kind):
    """The same by group of lanes that are served together: the first wavefront of each
    group is the ideal, and each other one a conflict.

    A lane goes with the wavefront that brings the last of its words; those whose words
    have come before, with the same one.
    """
    addresses, active = addresses[:, None], active[:, None]
    groups = []
    for lanes, chosen in served_together(addresses, active, itemsize, kind):
        there = np.zeros(WARP_SIZE, bool)
        there[lanes] = active[lanes, 0] & chosen[0]
        if there.any():
            place = _wavefront_of_each(addresses[:, 0], there, itemsize, kind)
            groups.append([there & (place == n) for n in range(place.max() + 1)])
    return groups


def _wavefront_of_each(addresses, active, itemsize, kind):
    """The wavefront that serves each active lane; -1 for the others."""
    queues = {}  # bank: what it has been asked for, in order
    place = np.full(WARP_SIZE, -1)
    for lane in np.flatnonzero(active).tolist():
        word = int(addresses[lane]) // WORD_BYTES
        for one in range(word, word + max(1, itemsize // WORD_BYTES)):
            queue = queues.setdefault(one % NUM_BANKS, {})
            turn = lane if kind == "atomic" else one
            place[lane] = max(place[lane], queue.setdefault(turn, len(queue)))
    return place
