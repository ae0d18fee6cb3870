"""The judges of a launch: each listens to the machine's events, and gives a table.

A judge that needs what another found gets that judge when it is created, and reads it
when the launch is over. So the order in which judges listen does not matter.
"""

from thirty_two_lanes.emulator.judges.banks import BankConflicts
from thirty_two_lanes.emulator.judges.barriers import Barriers
from thirty_two_lanes.emulator.judges.coalescing import Coalescing
from thirty_two_lanes.emulator.judges.divergence import Balance, Divergence, Operations
from thirty_two_lanes.emulator.judges.lanes import Lanes
from thirty_two_lanes.emulator.judges.local_memory import LocalMemory
from thirty_two_lanes.emulator.judges.mistakes import Mistakes
from thirty_two_lanes.emulator.judges.reuse import Reuse
from thirty_two_lanes.emulator.judges.uninitialised import Initialisation
from thirty_two_lanes.emulator.judges.waits import Waits


def new_judges() -> dict:
    """The judges of one launch, by the names that their tables have on a Run."""
    reuse = Reuse()
    return {
        "coalescing": Coalescing(),
        "bank_conflicts": BankConflicts(),
        "local_memory": LocalMemory(),
        "divergence": Divergence(),
        "operations": Operations(),
        "balance": Balance(),
        "reuse": reuse,
        "waits": Waits(),
        "barriers": Barriers(),
        "lanes": Lanes(),
        "uninitialised": Initialisation(),
        "warnings": Mistakes(reuse),
    }
