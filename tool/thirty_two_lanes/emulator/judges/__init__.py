"""The judges of a launch: each listens to the machine's events, and gives a table.

A judge that needs what another found gets that judge when it is created, and reads it
when the launch is over. So the order in which judges listen does not matter; that of
JUDGES is the order of a Run's dictionary, and of findings that are as bad.
"""

from thirty_two_lanes.emulator.judges import (
    banks,
    barriers,
    coalescing,
    divergence,
    lanes,
    local_memory,
    mistakes,
    reuse,
    streams,
    uninitialised,
    unset,
    waits,
)
from thirty_two_lanes.emulator.judges.races import races

JUDGES = (
    coalescing.JUDGE,
    banks.JUDGE,
    local_memory.JUDGE,
    divergence.JUDGE,
    divergence.OPERATIONS,
    reuse.JUDGE,
    waits.JUDGE,
    divergence.BALANCE,
    barriers.JUDGE,
    lanes.JUDGE,
    uninitialised.JUDGE,
    unset.JUDGE,
    mistakes.JUDGE,
    races.JUDGE,
)
OF_PROGRAMS = (streams.JUDGE,)  # which listen to the host, from launch to launch


def new_judges(strict=False) -> dict:
    """The judges of one launch, by the names that their tables have on a Run; where
    `strict`, races are those of the PTX model.
    """
    made = {}
    for judge in JUDGES:
        made[judge.name] = judge.make(*(made[name] for name in judge.needs))
    made["races"].strict = strict
    return made
