"""Local memory, if arrays lie there: the sectors that accesses to them touch.

Most local arrays become registers and cost nothing; one that is too large, or indexed
by what the compiler cannot know, lies in memory, where the lanes' 4-byte words lie side
by side: a word of all 32 lanes is four sectors,
memory_l2_theoretical_sectors_local. Not modelled: which arrays stay in registers.
"""

import numpy as np

from thirty_two_lanes.core.hardware import (
    LINE_BYTES,
    SECTOR_BYTES,
    WARP_SIZE,
    WORD_BYTES,
)
from thirty_two_lanes.emulator.judges.coalescing import different, lanes_of, parts_of
from thirty_two_lanes.emulator.judges.judge import Judge

LANES = np.arange(WARP_SIZE)[:, None]


class LocalMemory(Judge):
    """Requests to local arrays and the sectors that they would touch in memory."""

    spaces = ("local",)
    columns = (
        *("requests", "sectors", "ideal_sectors"),
        *("active_lanes", "bytes", "bytes_moved"),
    )

    def count(self, addresses, active, access):
        whole = access.dtype.itemsize
        own = addresses // (WARP_SIZE * whole) * whole  # in each thread's own bytes
        size, parts = parts_of(access.dtype)
        lanes, total = lanes_of(active), 0
        for part in range(parts):
            sectors = self._sectors(own + part * size, active, size)
            ideal = np.minimum(sectors, -(-lanes * size // SECTOR_BYTES))
            moved = sectors * SECTOR_BYTES
            counts = [lanes > 0, sectors, ideal, lanes, lanes * size, moved]
            total = total + np.stack(counts)
        return total

    @staticmethod
    def _sectors(own, active, size):
        words = max(1, size // WORD_BYTES)
        sectors = [
            ((own // WORD_BYTES + word) * LINE_BYTES + LANES * WORD_BYTES)
            // SECTOR_BYTES
            for word in range(words)
        ]
        if words == 1:
            return different(sectors[0], active)
        return different(np.concatenate(sectors), np.concatenate([active] * words))
