"""A race, as the race judge finds it and reports show it: its facts, and the one
wording of them that every report uses.
"""

from dataclasses import dataclass

from helpers.core.source import Site

SCOPES = {
    "warp": "within a warp",
    "block": "between warps of a block",
    "grid": "between blocks",
}
VERBS = {"load": "loads", "store": "stores to", "atomic": "updates"}


@dataclass(frozen=True)
class Race:
    """Two lines that race for cells of an array.

    `kind` is RAW, WAR or WAW; `scope` is the smallest group that holds both threads:
    "warp", "block" or "grid". `hazards` is the number of different triples (cell,
    earlier thread, later thread), a lower bound where `exact` is False. `cell` and
    the threads are the first such triple.
    """

    kind: str
    space: str
    scope: str
    array: str
    first: Site
    second: Site
    hazards: int
    cell: str
    first_thread: str
    second_thread: str
    first_kind: str
    second_kind: str
    same_value: bool = False
    exact: bool = True

    @property
    def title(self) -> str:
        """The race as a phrase."""
        least = "" if self.exact else "at least "
        count = f"{self.hazards:,} hazard{'s' * (self.hazards != 1)}"
        same = ", all with the same value" if self.same_value else ""
        return (
            f"{self.kind} race on {self.space} `{self.array}`: {least}{count} "
            f"{SCOPES[self.scope]}{same}"
        )

    @property
    def accesses(self) -> tuple:
        """Each access: its site, and which thread does what to which cell."""
        ends = (
            (self.first, self.first_kind, self.first_thread),
            (self.second, self.second_kind, self.second_thread),
        )
        return tuple((s, f"{thread} {VERBS[k]} {self.cell}") for s, k, thread in ends)

    @property
    def remedy(self) -> str:
        """What would order the two lines."""
        if {self.first_kind, self.second_kind} > {"atomic"}:
            between = "put a barrier between them"
            if self.scope == "grid":
                between = "split the kernel between the two"
            return (
                "An atomic is ordered only with other atomics: make both accesses of "
                f"`{self.array}` atomic, or {between}"
            )
        if self.scope == "grid":
            return (
                "No barrier orders threads of different blocks: let each cell belong to"
                " one thread, use `cuda.atomic`, or split the kernel between the two"
            )
        return self._barrier()

    def _barrier(self):
        """Where a barrier would order the two lines, or what to do where none would."""
        barrier = "cuda.syncthreads()" if self.scope == "block" else "cuda.syncwarp()"
        if self.kind == "WAW":
            return (
                f"Let one thread write the cell, give each thread its own, or use "
                f"`cuda.atomic`; `{barrier}` orders writes of different lines"
            )
        if self.first.line == self.second.line:
            return (
                f"Load into a variable first, then `{barrier}`, then store; or use "
                "`cuda.atomic`"
            )
        before, after = (s.called_from or s.line for s in (self.first, self.second))
        if before < after:
            return f"`{barrier}` between line {before} and line {after}"
        return (
            f"`{barrier}` between line {before} and line {after} of the loop's next "
            "iteration"
        )

    def __repr__(self):
        number = max(len(site.label) for site, _ in self.accesses)
        text = max(len(site.text) for site, _ in self.accesses)
        lines = [
            f"  {site.label:<{number}}  {site.text:<{text}}    {access}"
            for site, access in self.accesses
        ]
        return "\n".join([self.title, *lines, f"  {self.remedy}"])


class Races(tuple):
    """The races of a run, worst first; `minor` has those within a warp, and those
    where all write the same.
    """

    def __repr__(self):
        return "\n".join(map(repr, self)) or "no race"


Races.minor = Races()
