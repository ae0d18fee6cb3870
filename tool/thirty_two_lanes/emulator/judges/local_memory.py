"""Local memory, if arrays lie there: the sectors that accesses to them touch.

Most local arrays become registers and cost nothing; one that is too large, or indexed
by what the compiler cannot know, lies in memory, where the lanes' 4-byte words lie side
by side: a word of all 32 lanes is four sectors,
memory_l2_theoretical_sectors_local. Not modelled: which arrays stay in registers.
"""

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.sectors import accesses_of, local_sectors
from thirty_two_lanes.emulator.judges.coalescing import COLUMNS, sector_counts
from thirty_two_lanes.emulator.judges.judge import Cost, Judge, Kind, Registration


class LocalMemory(Judge):
    """Requests to local arrays and the sectors that they would touch in memory."""

    spaces = ("local",)
    columns = COLUMNS

    def count(self, addresses, active, access):
        whole = access.dtype.itemsize
        own = addresses // (WARP_SIZE * whole) * whole  # in each thread's own bytes
        return sector_counts(local_sectors, own, active, *accesses_of(access.dtype))


JUDGE = Registration(
    "local_memory",
    LocalMemory,
    kinds=(Kind("sectors", 80),),
    cost=Cost(
        "local requests, if it spills", "sectors", "ideal_sectors", if_beyond=True
    ),
)
