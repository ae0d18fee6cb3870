"""A race: what the rule is, for the judges and the film; its facts, as the race judge
finds them and reports show them; and the one wording of them that every report uses.

Two accesses of one cell race if one of them writes and nothing orders them: barriers
order the threads of their block, and a `syncwarp` the lanes that wait at it.
"""

from dataclasses import dataclass
from textwrap import fill
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.source import WIDEST_LINE, Site
from thirty_two_lanes.core.words import Finding, lowered

LEVELS = ("warp", "block", "grid")  # the smallest group that holds both threads
# a bit for each kind of access, where they are counted; and which sets of bits harm a
# cell of two threads: 8 is a load that acquires, where accesses are listed one by one
ACCESS_BITS = {"load": 1, "store": 2, "atomic": 4, "acquire": 4, "release": 4}
HARMFUL = np.array([bits & 2 > 0 or bits & 5 == 5 for bits in range(16)])

SCOPES = {
    "copy": "before a copy has arrived",
    "warp": "within a warp",
    "block": "between warps of a block",
    "grid": "between blocks",
}
VERBS = {
    "load": "loads",
    "store": "stores to",
    "atomic": "updates",
    "acquire": "acquires",
    "release": "releases",
}
INDIVISIBLE = {"atomic", "acquire", "release"}
WIDTH = 84  # what a narrow page holds in a line


class Accessor(NamedTuple):
    """Who accesses a cell, and after how many barriers of the block: numbers or columns
    of them. A warp's 32 threads have numbers that follow each other.
    """

    thread: object
    block: object = 0
    interval: object = 0


def unordered(one, other, synced=False):
    """Does nothing order two accesses of a cell? `synced` says that both lanes have
    waited at a `syncwarp` between them; fences are not asked.
    """
    apart = one.thread != other.thread
    together = (one.block != other.block) | (one.interval == other.interval)
    waited = (level_of(one, other) == 0) & synced
    return apart & together & ~waited


def level_of(one, other):
    """The smallest group that holds both threads: a place in LEVELS."""
    same_warp = one.thread // WARP_SIZE == other.thread // WARP_SIZE
    return np.where(one.block != other.block, 2, np.where(same_warp, 0, 1))


@dataclass(frozen=True)
class Race:
    """Two lines that race for cells of an array.

    `kind` is RAW, WAR or WAW; `scope` is the smallest group that holds both threads:
    "warp", "block" or "grid"; or "copy", where an asynchronous copy that `first` began
    is under way, maybe the same thread's. `hazards` is the number of different triples
    (cell, earlier thread, later thread), a lower bound where `exact` is False. `cell`
    and the threads are the first such triple.
    `same_value` says that all stores of the launch put one value into each of its
    cells, which is `value` where it is known and the same in all cells.
    `update` says that threads load and store the same cell in one line; `second_cell`
    is what the second line calls the cell, if its array overlaps with the first one's;
    `next_turn`, that the second access is of a loop's next iteration; `apart`, that
    both never are of one iteration; `implied`, that the same lines race between warps,
    whose remedy orders these lanes, too; `advice`, what the kernel's source shows to be
    missing, where it is at hand.
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
    value: str = ""
    exact: bool = True
    update: bool = False
    second_cell: str = ""
    next_turn: bool = False
    apart: bool = False
    implied: bool = False
    advice: Advice | None = None

    @property
    def title(self) -> str:
        """The race as a phrase."""
        least = "" if self.exact else "at least "
        count = f"{self.hazards:,} hazard{'s' * (self.hazards != 1)}"
        return (
            f"{self.kind} race on {self.space} `{self.array}`: {least}{count} "
            f"{SCOPES[self.scope]}{self.alike}"
        )

    @property
    def alike(self) -> str:
        """What all stores have in common, in words."""
        if not self.same_value:
            return ""
        return f", all store {self.value}" if self.value else ", all store the same"

    @property
    def accesses(self) -> tuple:
        """Each access: its site, and which thread does what to which cell."""
        ends = (
            (self.first, self.first_kind, self.first_thread),
            (self.second, self.second_kind, self.second_thread),
        )
        cells = self.cell, self.cell
        if self.second_cell:
            cells = self.cell, f"{self.second_cell}, the same bytes as {self.cell}"
        both = zip(ends, cells, strict=True)
        return tuple((s, f"{who} {VERBS[k]} {cell}") for (s, k, who), cell in both)

    @property
    def remedy(self) -> str:
        """What would order the two lines."""
        if self.advice:
            return self.advice.sentence
        if self.second_cell:
            arrays = [it.partition("[")[0] for it in (self.cell, self.second_cell)]
            return (
                f"`{arrays[0]}` and `{arrays[1]}` overlap: take slices that do not. "
                "Only where one is to follow the other in the same bytes, "
                f"{lowered(self._order)}"
            )
        return self._order

    @property
    def _order(self):
        if self.scope == "copy":
            return (
                "Put `wait_copies` between the copy and this line, with its group "
                "committed before, and `cuda.syncthreads()` behind it where other "
                "threads copied the cell"
            )
        kinds = {self.first_kind, self.second_kind}
        if kinds & INDIVISIBLE and kinds - INDIVISIBLE:
            if kinds & {"acquire", "release"}:
                return self._signal()
            between = "put a barrier between them"
            if self.scope == "grid":
                between = "make two launches, one for each"
            return (
                "An atomic is ordered only with other atomics: make both accesses of "
                f"`{self.array}` atomic, or {between}"
            )
        if self.update:
            return (
                "Use `cuda.atomic`: several threads load and store this cell, and a "
                "barrier would still lose updates"
            )
        return self._launches() if self.scope == "grid" else self._barrier()

    @property
    def _lines(self):
        """The two lines, in the kernel itself where they are of two calls."""
        ends = self.first, self.second
        if self.first.called_from == self.second.called_from:
            return tuple(it.line for it in ends)
        return tuple(it.called_from or it.line for it in ends)

    @property
    def _one_statement(self):
        """Are both accesses of one statement, maybe of several lines?"""
        before, after = self._lines
        return before == after or before > after and not self.next_turn

    def _signal(self):
        """What orders a plain access with one that acquires or releases. No second
        launch: who acquires often waits for the other block in a loop.
        """
        lines = zip(self._lines, (self.first_kind, self.second_kind), strict=True)
        line, kind = next(it for it in lines if it[1] not in INDIVISIBLE)
        wanted = "load_acquire" if kind == "load" else "store_release"
        barrier = "" if self.scope == "grid" else ", or put a barrier between them"
        return (
            "`load_acquire` and `store_release` are ordered only with each other and "
            f"with atomics: use `{wanted}` on line {line}{barrier}"
        )

    def _launches(self):
        """What orders threads of different blocks."""
        before, after = self._lines
        if self._one_statement:
            return (
                "No barrier orders threads of different blocks: use `cuda.atomic`, or "
                "give each thread a cell of its own"
            )
        remedy = (
            "No barrier orders threads of different blocks: let each cell belong to "
            "one thread, use `cuda.atomic`, or make two launches, cut between "
            f"line {min(before, after)} and line {max(before, after)}"
        )
        if self.kind == "RAW":
            remedy += (
                "; or signal with an atomic that the cell is stored, with "
                "`cuda.threadfence()` before it, and after the one that sees the signal"
            )
        return remedy

    def _barrier(self):
        """Where a barrier would order the two lines, or what to do where none would."""
        barrier = "cuda.syncthreads()" if self.scope == "block" else "cuda.syncwarp()"
        if self.kind == "WAW":
            return (
                "Let one thread write the cell, give each thread its own, or use "
                "`cuda.atomic`"
            ) + (
                ""
                if self._one_statement
                else f"; `{barrier}` orders writes of different lines"
            )
        if self._one_statement:
            turns = f"; in a loop, one more `{barrier}` behind the store"
            return f"Load into a variable first, then `{barrier}`, then store" + (
                turns if self.kind == "RAW" else ""
            )
        before, after = self._lines
        of_next = "" if before < after else " of the loop's next iteration"
        return f"Put `{barrier}` between line {before} and line {after}{of_next}"

    @property
    def finding(self) -> Finding:
        """What a report says beside the first of its lines."""
        other = f"line {self.second.line}"
        if self.second.line == self.first.line:
            other = "the same line in another thread"
        return Finding(
            "slight" if self.same_value else "wrong",
            self.first,
            "races",
            self.title,
            f"Races for `{self.array}` with {other}: {lowered(self.remedy)}.",
            self.hazards,
            self.second,
            same=self.case,
            accesses=self.accesses,
            remedy=self.remedy,
        )

    @property
    def case(self) -> tuple:
        """What tells it from other races, and not from itself in another launch."""
        lines = self.first, self.second, self.first_kind, self.second_kind
        where = self.space, self.array, self.scope
        return self.kind, *where, *lines, self.same_value, self.next_turn

    @property
    def facts(self) -> str:
        """The race and its two accesses, in lines of which some may be long."""
        return facts(self.title, self.accesses)

    @property
    def text(self) -> str:
        """The facts, and the remedy below them."""
        return f"{self.facts}\n{below(self.remedy)}"

    def __repr__(self):
        return wrapped(self.text)


def facts(title, accesses) -> str:
    """What two accesses are together, and each beside its line."""
    number = max(len(site.label) for site, _ in accesses)
    texts = [len(site.text) for site, _ in accesses]
    text = max((it for it in texts if it <= WIDEST_LINE), default=0)
    lines = [
        beside(f"  {site.label:<{number}}  {site.text:<{text}}", access)
        for site, access in accesses
    ]
    return "\n".join([title, *lines])


def below(remedy) -> str:
    """A remedy in lines, further in than what it is for."""
    margin = {"initial_indent": "  ", "subsequent_indent": "  "}
    return fill(remedy, WIDTH, break_on_hyphens=False, **margin)


def beside(line, access) -> str:
    """A line with its access, which is below it where it does not fit."""
    row = f"{line}    {access}"
    if len(row) <= WIDTH:
        return row
    return f"{line.rstrip()}\n{' ' * 10}{access}"


class Races(tuple):
    """The races of a run, worst first; `minor` has those within a warp, and those
    where all write the same.
    """

    def __repr__(self):
        if self or not self.minor:
            return "\n".join(map(repr, self)) or "no race"
        titles = (f"{minor.title} (`races.minor`)" for minor in self.minor)
        return "\n".join(["no race between warps that changes a value, but", *titles])


Races.minor = Races()
