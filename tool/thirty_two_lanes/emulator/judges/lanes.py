"""Shuffles, votes and `syncwarp` with lanes that they must leave alone.

A shuffle may read lanes that its mask names and that execute it; each lane that calls
must be named by its own mask. Anything else is undefined: an H200 reads 0 from a lane
that is not there. A vote ignores lanes that have left, so it may name them. Not
modelled: lanes that execute the line together by chance.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, raised
from thirty_two_lanes.emulator.judges.judge import JudgeOfThreads, Kind, Registration
from thirty_two_lanes.emulator.judges.printing import Listed

LEAVE_ALONE = {
    "outside": "Name in the mask all lanes that execute this line and are read",
    "left": "Let no lane return before this line, and guard what follows",
    "past": "Move this line out of the `if` or the loop, so that all lanes of the warp "
    "come to it, and guard what follows",
    "absent": "Launch whole warps of 32 threads, or read only lanes that exist",
    "unnamed": "Name in the mask exactly the lanes that execute this line, "
    "`0xFFFFFFFF` for all 32",
}


class Stray(NamedTuple):
    """A line with lanes that are read and must not be, or call and must not.

    `kind` says that they are "outside" the reader's mask, have "left", came "past" the
    line, are "absent" from the block, or call "unnamed" by their mask; `count` is of
    the callers.
    """

    site: Site
    kind: str
    lanes: tuple[int, ...]
    count: int
    thread: str  # the first that calls
    block: str

    @property
    def line(self) -> int:
        """The number of the line."""
        return self.site.line

    @property
    def text(self) -> str:
        """What these lanes are, in words."""
        lanes, several = words_of(self.lanes), len(self.lanes) > 1
        has, skip = ("have", "skip") if several else ("has", "skips")
        unnamed = f"{lanes} calls it, and its own mask does not name it"
        if several:
            unnamed = f"{lanes} call it, and their own mask does not name them"
        return {
            "outside": f"reads {lanes}, which its mask does not name",
            "left": f"reads {lanes}, which {has} ended",
            "past": f"reads {lanes}, which {skip} this line",
            "absent": f"reads {lanes}, which the block does not have",
            "unnamed": unnamed,
        }[self.kind]

    @property
    def finding(self) -> Finding:
        """What a report says of it."""
        remedy = LEAVE_ALONE[self.kind]
        return Finding(
            "wrong",
            self.site,
            "warps",
            f"{self.text}: undefined",
            f"{raised(self.text)}, first in thread {self.thread} of block "
            f"{self.block}: undefined on a GPU. {remedy}.",
            self.count,
            remedy=remedy,
        )

    def __repr__(self):
        return wrapped(
            f"line {self.line}: {self.text}; first in thread {self.thread} of block "
            f"{self.block}\n    {self.site.text}"
        )


def words_of(lanes) -> str:
    """Lanes in words: `lane 5`, `lanes 16 to 31`, `lanes 1, 3 and 5`."""
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if lanes[-1] - lanes[0] == len(lanes) - 1:
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return f"lanes {', '.join(map(str, lanes[:-1]))} and {lanes[-1]}"


class StrayLines(Listed):
    """All lines with lanes that a warp function must leave alone."""

    none = "no shuffle or vote of missing lanes"


class AbsentLanes(JudgeOfThreads):
    """Listens for lanes that a warp function must leave alone."""

    topic = "stray_lanes"

    def _add(self, event):
        warp, first_block, blocks = event.who
        shape = WARP_SIZE, blocks
        callers = np.broadcast_to(event.callers, shape)
        lanes = set(np.broadcast_to(event.lanes, shape)[callers].tolist())
        block, lane = np.argwhere(callers.T)[0].tolist()
        first = first_block + block, warp * WARP_SIZE + lane
        known = self.found.get((event.site, event.kind), (set(), 0, first))
        count = known[1] + int(np.count_nonzero(callers))
        key = event.site, event.kind
        self.found[key] = known[0] | lanes, count, min(known[2], first)

    def table(self) -> StrayLines:
        """All lines with such lanes."""
        found = []
        for (site, kind), (lanes, count, (block, thread)) in self.found.items():
            places = self.places(thread, block)
            found.append(Stray(site, kind, tuple(sorted(lanes)), count, *places))
        return StrayLines(sorted(found, key=lambda it: (it.site, it.kind)))


JUDGE = Registration(
    "lanes",
    AbsentLanes,
    findings=lambda run: (it.finding for it in run.lanes),
    kinds=(
        Kind(
            "lanes",
            40,
            (
                "shuffle or vote of missing lanes",
                "shuffles or votes of missing lanes",
            ),
            fault=True,
        ),
    ),
)
