"""Threads that miss a barrier at which others of their block meet.

They have left, or wait as whole warps at another barrier: CUDA forbids both, and a GPU
goes on. Counted once, however often the others meet there. compute-sanitizer's
synccheck reports warps at two barriers, and threads that left in some cases
(docs/AGREEMENT.md). What a GPU cannot go on with is an error of the machine's.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, counted
from thirty_two_lanes.emulator.judges.judge import JudgeOfThreads, Kind, Registration
from thirty_two_lanes.emulator.judges.printing import Listed


class Missing(NamedTuple):
    """A barrier, and threads that were elsewhere when the others met at it."""

    site: Site
    elsewhere: Site  # where they left, or the other barrier
    left: bool
    threads: int
    blocks: int
    thread: str  # the first of them
    block: str
    advice: Advice | None = None  # what the source shows, where it is at hand

    @property
    def line(self) -> int:
        """The number of the barrier's line."""
        return self.site.line

    @property
    def how(self) -> str:
        """How they miss it, in words."""
        where, words = f"line {self.elsewhere.line}", self.elsewhere.text.split()
        if not self.left:
            return f"waiting at the barrier of {where}"
        if "raise" in words:
            return f"ended by the exception of {where}"
        if "return" in words:
            return f"returned at {where}"
        return f"came past {where} to the kernel's end"

    @property
    def remedy(self) -> str:
        """What lets all threads come to it."""
        if self.advice:
            return self.advice.sentence
        return "Let all threads reach it: guard the work, not the barrier"

    @property
    def finding(self) -> Finding:
        """What a report says of it."""
        threads, blocks = counted(self.threads, "thread"), counted(self.blocks, "block")
        gpu = (
            "A barrier does not wait for threads that have ended; those that skip it "
            "and go on may leave the others waiting forever"
            if self.left
            else "A GPU takes the two for one barrier, which CUDA does not promise"
        )
        return Finding(
            "wrong",
            self.site,
            "barriers",
            f"barrier missed by {threads}, {self.how}",
            f"{threads} of {blocks} missed this barrier ({self.how}); the first is "
            f"thread {self.thread} of block {self.block}. {gpu}. {self.remedy}.",
            self.threads,
            self.elsewhere,
            remedy=self.remedy,
        )

    def __repr__(self):
        threads = "thread" if self.threads == 1 else "threads"
        return wrapped(
            f"line {self.line}: barrier missed by {self.threads:,} {threads} in "
            f"{self.blocks:,} of the blocks ({self.how}); the first is thread "
            f"{self.thread} of block {self.block}\n"
            f"    {self.site.text}\n    {self.elsewhere.text}"
        )


class MissedBarriers(Listed):
    """All pairs of a barrier and a place where threads were instead."""

    none = "no missed barrier"


class Barriers(JudgeOfThreads):
    """Listens for threads that miss a barrier."""

    topic = "missed_barrier"

    def _add(self, event):
        """Add those who are missing, by block."""
        key = event.site, event.elsewhere, event.left
        by_block = self.found.setdefault(key, {})
        for column in np.flatnonzero(event.threads.any(axis=0)).tolist():
            block = event.first_block + column
            by_block[block] = by_block.get(block, False) | event.threads[:, column]

    def table(self) -> MissedBarriers:
        """All of them, by line."""
        found = []
        for key, by_block in self.found.items():
            threads = sum(map(np.count_nonzero, by_block.values()))
            block = min(by_block)
            places = self.places(by_block[block].argmax(), block)
            found.append(Missing(*key, threads, len(by_block), *places))
        return MissedBarriers(sorted(found, key=lambda it: (it.site, it.elsewhere)))


JUDGE = Registration(
    "barriers",
    Barriers,
    findings=lambda run: (it.finding for it in run.barriers),
    kinds=(Kind("barriers", 30, ("missed barrier", "missed barriers"), fault=True),),
)
