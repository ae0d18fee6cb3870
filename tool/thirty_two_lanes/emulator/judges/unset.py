"""Reads of variables that have no value: only an `if` sets them, or a loop that had no
turn.

On a GPU what is read is undefined: the compiler takes whatever is convenient, and may
leave out the `if`. In Python it is an UnboundLocalError, which Numba does not see. A
thread counts once at each line. Not modelled: arrays, tuples, and what may be None.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, counted, raised
from thirty_two_lanes.emulator.judges.judge import JudgeOfThreads, Kind, Registration
from thirty_two_lanes.emulator.judges.printing import Listed

NONE = np.zeros(0, np.int64)


class UnsetVariable(NamedTuple):
    """A line that reads a variable which some threads have not set."""

    site: Site
    variable: str | None
    threads: int
    blocks: int
    thread: str  # the first of them
    block: str

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
            f"{raised(self.text)}, in {counted(self.blocks, 'block')}; the first is "
            f"thread {self.thread} of block {self.block}. On a GPU the value is "
            "undefined. Give it one before the `if` or the loop."
        )
        topic = "guards"
        return Finding("wrong", self.site, topic, self.text, advice, self.threads)

    def __repr__(self):
        return wrapped(
            f"line {self.line} {self.text}, in {counted(self.blocks, 'block')}; the "
            f"first is thread {self.thread} of block {self.block}\n    {self.site.text}"
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
            found.append(UnsetVariable(site, *facts))
        return UnsetVariables(found)


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
