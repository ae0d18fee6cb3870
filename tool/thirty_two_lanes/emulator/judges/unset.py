"""Reads of variables that have no value: only an `if` sets them, or a loop that had no
turn.

On a GPU what is read is undefined: the compiler takes whatever is convenient, and may
leave out the `if`. In Python it is an UnboundLocalError, which Numba does not see. A
thread counts once at each line. A copy is no read, nor is what nothing needs. An array
that no thread of a warp has set ends the launch: there is nothing to go on with.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, counted, raised, ranges, runs
from thirty_two_lanes.emulator.judges.judge import JudgeOfThreads, Kind, Registration
from thirty_two_lanes.emulator.judges.printing import Listed

NONE = np.zeros(0, np.int64)
MOST_RANGES = 4


class UnsetVariable(NamedTuple):
    """A line that reads a variable which some threads have not set."""

    site: Site
    variable: str | None
    threads: int
    blocks: int
    thread: str  # the first of them
    block: str
    those: str = ""  # of that block, where it has one axis: "1–31"

    @property
    def line(self) -> int:
        """The number of the line."""
        return self.site.line

    @property
    def text(self) -> str:
        """What it does, in words."""
        name = f"`{self.variable}`" if self.variable else "a variable"
        have = "has" if self.threads == 1 else "have"
        return f"reads {name}, which {counted(self.threads, 'thread')} {have} not set"

    @property
    def finding(self) -> Finding:
        """What a report says of it."""
        advice = (
            f"{raised(self.text)}, {self._where}. On a GPU the value is undefined. "
            "Give it one before the `if` or the loop."
        )
        what = f"{self.text}: give it a value first"
        return Finding("wrong", self.site, "guards", what, advice, self.threads)

    @property
    def _where(self):
        """In how many blocks, and the threads of the first."""
        if self.blocks == 1 and self.those:
            return f"{self.those} of block {self.block}"
        first = self.those or f"the first is thread {self.thread}"
        return f"in {counted(self.blocks, 'block')}; {first} of block {self.block}"

    def __repr__(self):
        return wrapped(
            f"line {self.line} {self.text}, {self._where}\n    {self.site.text}"
        )


class UnsetVariables(Listed):
    """All lines that read a variable without a value, and which."""

    none = "no read of an unset variable"


class UnsetReads(JudgeOfThreads):
    """Listens for reads of variables that have no value."""

    topic = "unset_read"  # `found`: by site and variable, threads as numbers

    @property
    def width(self):
        return int(np.prod(self.start.block_dim))

    def _add(self, event):
        lane, column = np.nonzero(event.lanes)
        block, warp = event.who.first_block + column, event.who.warp
        threads = block.astype(np.int64) * self.width + warp * WARP_SIZE + lane
        key = event.site, event.variable or ""
        self.found[key] = np.union1d(self.found.get(key, NONE), threads)

    def table(self) -> UnsetVariables:
        """All lines with such a read, and its variable."""
        found = []
        for (site, variable), threads in sorted(self.found.items()):
            blocks = np.unique(threads // self.width)
            places = self.places(threads[0] % self.width, blocks[0])
            facts = variable or None, len(threads), len(blocks), *places
            those = threads[threads // self.width == blocks[0]] % self.width
            found.append(UnsetVariable(site, *facts, self._in_words(those)))
        return UnsetVariables(found)

    def _in_words(self, threads) -> str:
        """Threads of a block of one axis, "threads 1–31"; else, and where they are too
        scattered, nothing.
        """
        scattered = len(runs(threads.tolist())) > MOST_RANGES
        if scattered or max(self.start.block_dim[1:]) > 1:
            return ""
        noun = "thread" if len(threads) == 1 else "threads"
        return f"{noun} {ranges(threads.tolist())}"


JUDGE = Registration(
    "unset",
    UnsetReads,
    findings=lambda run: (it.finding for it in run.unset),
    kinds=(
        Kind(
            "unset",
            25,
            ("read of an unset variable", "reads of unset variables"),
            fault=True,
        ),
    ),
)
