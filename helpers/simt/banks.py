"""Bank conflicts of shared memory: how many wavefronts each request takes.

The rule is the hardware's own counter's, settled on an H200 in 262 of 262 patterns: a
warp's request of up to 4 bytes a lane is one group, of 8 bytes two half warps, of 16
bytes four quarter warps. A *load* of 8 or 16 bytes takes half as many groups when every
active lane asks for the address of its neighbour `lane ^ 1`, or every one for that of
`lane ^ 2`. In each group, the most different words in one bank is the number of
wavefronts. `conflicts = wavefronts - ideal`, with one ideal wavefront for each group
that has an active lane: l1tex__data_bank_conflicts_pipe_lsu_mem_shared. Nsight's source
page uses another ideal for 8 and 16 bytes. Not modelled: lost arbitration, a few units
in tens of thousands on hardware.
"""

import numpy as np

from ..hardware import NUM_BANKS, WARP_SIZE, WORD_BYTES
from .judges import Judge


def request_wavefronts(addresses, active, itemsize, kind):
    """Wavefronts and ideal wavefronts of requests, from (32, requests) addresses."""
    wavefronts = np.zeros(addresses.shape[1], np.int64)
    ideal = np.zeros(addresses.shape[1], np.int64)
    for lanes, chosen in _groups(addresses, active, itemsize, kind):
        words = _most_words_in_a_bank(
            addresses[lanes][:, chosen], active[lanes][:, chosen], itemsize
        )
        wavefronts[chosen] += words
        ideal[chosen] += words > 0
    return wavefronts, ideal


def _groups(addresses, active, itemsize, kind):
    """The lanes that go together, with the requests for which they do."""
    everyone = np.ones(addresses.shape[1], bool)
    if itemsize <= WORD_BYTES:
        yield slice(0, WARP_SIZE), everyone
        return
    size = WARP_SIZE * WORD_BYTES // itemsize
    paired = _pairs_agree(addresses, active) if kind == "load" else ~everyone
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


def _most_words_in_a_bank(addresses, active, itemsize):
    """The most different words that one bank must give, by request."""
    word = addresses // WORD_BYTES
    words = np.concatenate(
        [word + extra for extra in range(max(1, itemsize // WORD_BYTES))]
    )
    active = np.concatenate([active] * max(1, itemsize // WORD_BYTES))
    bank = np.where(active, words % NUM_BANKS, NUM_BANKS)
    order = np.sort(bank * (1 << 40) + np.where(active, words, 0), axis=0)
    first = np.ones(order.shape, bool)
    first[1:] = order[1:] != order[:-1]
    requests = np.broadcast_to(np.arange(order.shape[1]), order.shape)
    cell = (order >> 40) + (NUM_BANKS + 1) * requests
    counts = np.bincount(cell[first], minlength=(NUM_BANKS + 1) * order.shape[1])
    return counts.reshape(-1, NUM_BANKS + 1)[:, :NUM_BANKS].max(axis=1)


class BankConflicts(Judge):
    """Requests to shared memory and the wavefronts that they take."""

    spaces = ("shared",)
    columns = ("requests", "wavefronts", "ideal_wavefronts", "conflicts")

    def count(self, addresses, active, access):
        wavefronts, ideal = request_wavefronts(
            addresses, active, access.dtype.itemsize, access.reference.kind
        )
        return np.stack(
            [(ideal > 0).astype(np.int64), wavefronts, ideal, wavefronts - ideal]
        )
