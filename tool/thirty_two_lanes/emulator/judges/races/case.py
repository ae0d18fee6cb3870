"""What hazards are counted by, and what is told of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.race import LEVELS

KINDS = ("", "RAW", "WAR", "WAW")
# rows: what the earlier access is, load, store or atomic; columns: the later one
CONFLICTS = np.array([[0, 2, 2], [1, 3, 3], [1, 3, 0]])


@dataclass(frozen=True)
class Hazards:
    """The hazards of one kind and scope between two places; the first of them."""

    earlier: int
    later: int
    kind: str
    scope: str
    same_value: bool
    count: int
    exact: bool
    cell: int
    threads: tuple[int, int]

    def case(self):
        """By what the hazards are counted, to sort by."""
        kind, scope = KINDS.index(self.kind), LEVELS.index(self.scope)
        return HazardCase(self.earlier, self.later, kind, scope, self.same_value)


class HazardCase(NamedTuple):
    """What hazards are counted by, as numbers or as columns of them; `kind` and `scope`
    are places in KINDS and LEVELS.
    """

    earlier: int
    later: int
    kind: int
    scope: int
    same_value: bool


def hazards_of(case, count, exact, cell, thread, other) -> Hazards:
    return Hazards(
        earlier=int(case.earlier),
        later=int(case.later),
        kind=KINDS[case.kind],
        scope=LEVELS[case.scope],
        same_value=bool(case.same_value),
        count=int(count),
        exact=exact,
        cell=int(cell),
        threads=(int(thread), int(other)),
    )
