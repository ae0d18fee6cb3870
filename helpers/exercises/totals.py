"""Totals: of what an answer may need so many times as much as the course's own.

Instructions are held always. Sectors and wavefronts are held beside a budget for each
request: many cheap requests would keep that one.
"""

from typing import NamedTuple

SPARE = 16  # instructions of a warp, for another way to an index


class Total(NamedTuple):
    """What is counted in an outcome, its name, and a sentence about too many."""

    name: str
    count: object
    sentence: str
    spare: int = 0  # for each warp


def all_instructions(outcome):
    return outcome.run.divergence.instructions


def all_sectors(outcome):
    return outcome.run.coalescing.sectors


def all_wavefronts(outcome):
    return outcome.run.bank_conflicts.wavefronts


INSTRUCTIONS = Total(
    "instructions",
    all_instructions,
    "Its warps execute {:,} instructions of the emulator",
    SPARE,
)
TOTALS = {  # by the budget that they are held beside
    "sectors": Total(
        "sectors", all_sectors, "Its requests touch {:,} sectors of global memory"
    ),
    "conflicts": Total(
        "wavefronts",
        all_wavefronts,
        "Its requests take {:,} wavefronts of shared memory",
    ),
}


def totals_of(task) -> dict:
    """The totals that are held beside budgets of a task, by the budget's name."""
    return {name: TOTALS[name] for name in TOTALS if name in task.budget}
