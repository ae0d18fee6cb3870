"""What hazards are counted by, and what is found of them."""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.race import LEVELS

KINDS = ("", "RAW", "WAR", "WAW")
SCOPES = (*LEVELS, "copy")
# rows: what the earlier access is, load, store, atomic or a load that acquires, which
# no atomic and no other load harms; columns: the later one
CONFLICTS = np.array([[0, 2, 2, 0], [1, 3, 3, 1], [1, 3, 0, 0], [0, 2, 0, 0]])


TURN = 1 << 20  # references of a program, at most: a turn of a loop in an access's time


class HazardCase(NamedTuple):
    """What hazards are counted by, as numbers or as columns of them; `kind` and `scope`
    are places in KINDS and SCOPES, `earlier` and `later` in a recorder's places.
    """

    earlier: int
    later: int
    kind: int
    scope: int
    same_value: bool


class Hazards(NamedTuple):
    """The hazards of one case: how many, and cell and threads of the first; the bits of
    the value that all of them store, None where there are several; whether no two of
    the accesses that were looked at are of one turn of a loop.
    """

    case: HazardCase
    count: int
    exact: bool
    cell: int
    threads: tuple[int, int]
    value: int | None = None
    apart: bool = False


def only_value(values) -> int | None:
    """The one value of all, if there is one."""
    return int(values[0]) if (values == values[0]).all() else None


class Places(dict):
    """Numbers of what accesses an array: a site, its kind, the array, and its space."""

    def number(self, reference, kind, space) -> int:
        place = reference.site, kind, reference.array, space
        return self.setdefault(place, len(self))
