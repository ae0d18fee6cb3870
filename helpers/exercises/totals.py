"""Totals: of what an answer may need so many times as much as the course's own.

Instructions are held always. Sectors and wavefronts are held beside a budget for each
request: many cheap requests would keep that one. Loads of outputs are held beside one
for inputs, as an output might be a tile; atomic operations and fences beside one for
barriers, as a barrier can be made of them. And always the instructions of the busiest
block and warp, lest one of them do the work of all.
"""

from collections.abc import Callable
from math import ceil, prod
from typing import NamedTuple

from helpers.exercises.trials import EVEN, LARGER, RAGGED
from thirty_two_lanes.core.hardware import WARP_SIZE

SPARE = 16  # instructions of a warp, for another way to an index
LOOKED_UP = 16  # items of tuples, such as neighbours' offsets
TIMES_RAGGED = 2  # times the answer's, where blocks may be half full
SPREADS = {"block": 1.5, "warp": 3}  # times the answer's share, of the busiest


class Total(NamedTuple):
    """What is counted in an outcome, its name, and a sentence about too many."""

    name: str
    count: Callable
    sentence: str
    spare: int = 0  # for each warp


def all_instructions(outcome):
    return outcome.run.divergence.instructions


def loads_of(outcome, name):
    """How often elements of an argument are loaded; an atomic operation loads, too."""
    traffic = outcome.run.reuse[outcome.names[name]]
    return int(traffic.loads.sum()) + traffic.lanes_updated


def atomics_and_fences(outcome):
    run = outcome.run
    tables = run.coalescing.by_line, run.bank_conflicts.by_line
    rows = (row for table in tables for row in table.values())
    atomics = sum(row.active_lanes for row in rows if row.kind == "atomic")
    return atomics + run.waits.fences


INSTRUCTIONS = Total(
    "instructions",
    all_instructions,
    "Its warps execute {:,} instructions of the emulator",
    SPARE,
)
TOTALS = {  # by the budget that they are held beside
    "sectors": Total(
        "sectors",
        lambda outcome: outcome.run.coalescing.sectors,
        "Its requests touch {:,} sectors of global memory",
    ),
    "conflicts": Total(
        "wavefronts",
        lambda outcome: outcome.run.bank_conflicts.wavefronts,
        "Its requests take {:,} wavefronts of shared memory",
    ),
    "loads": Total(
        "loads of outputs",
        lambda outcome: sum(loads_of(outcome, name) for name in outcome.outputs),
        "Its threads load {:,} elements of outputs",
    ),
    "barriers": Total(
        "atomic operations with fences",
        atomics_and_fences,
        "Its threads make {:,} atomic operations and fences",
    ),
}


def totals_of(task) -> dict:
    """The totals that are held beside budgets of a task, by the budget's name."""
    return {name: TOTALS[name] for name in TOTALS if name in task.budget}


# ---------------------------------------------------------------- how they are held


def times_of(task, kind) -> float:
    """How many times the answer's totals an answer does not reach, at such a size."""
    return task.work if kind == EVEN else max(task.work, TIMES_RAGGED)


def excess_of_total(case, outcome, total) -> str:
    """How a run reaches so many times the answer's own total; "" if it does not.

    Twice as much in one half of what it does would be 1.5 times.
    """
    mine, best = total.count(outcome), total.count(case.answered(outcome))
    warps = outcome.run.blocks * warps_of_block(outcome)
    times = times_of(case.task, outcome.trial.kind)
    limit = max(ceil(times * best) - 1, 0) + total.spare * warps
    if mine <= limit:
        return ""
    return f"{total.sentence.format(mine)}, and {allowed(limit)}; {best:,} are enough."


def excess_of_share(case, outcome) -> str:
    """How one block or warp does too much of the work of all; "" if none does.

    Its share is held, and its own instructions: what others do for nothing would make
    its share small.
    """
    best = case.answered(outcome)
    more = max(all_instructions(outcome) / all_instructions(best), 1)
    times = times_of(case.task, outcome.trial.kind)
    for who, spread in SPREADS.items():
        mine, enough = (
            getattr(it.run.balance, f"busiest_{who}") for it in (outcome, best)
        )
        warps = warps_of_block(outcome) if who == "block" else 1
        most = min(spread * more, max(spread, times))
        limit = ceil(most * enough) - 1 + SPARE * warps
        if mine > limit:
            return (
                f"One {who} executes {mine:,} of all {all_instructions(outcome):,} "
                f"instructions of the emulator, and {allowed(limit)}; {enough:,} are "
                f"enough. Share the work among all {who}s."
            )
    return ""


def warps_of_block(outcome) -> int:
    return -(-outcome.run.threads_per_block // WARP_SIZE)


def allowed(limit) -> str:
    """How many are allowed, in words."""
    number = int(limit) if limit == int(limit) else limit
    return f"{number:,} {'is' if limit == 1 else 'are'} allowed"


def sizes_of(case) -> list:
    """The first run of each even size, that of the largest ragged one (in smaller ones
    most threads have no element, and may as well compute something for nothing), and
    those of the sizes beyond: what is slow there alone is slow.
    """
    even, of_kind = {}, {EVEN: [], RAGGED: [], LARGER: []}
    for outcome in case.outcomes:
        of_kind[outcome.trial.kind].append(outcome)
    for outcome in of_kind[EVEN]:
        even.setdefault(outcome.trial.size, outcome)
    ragged = sorted(of_kind[RAGGED], key=lambda it: prod(it.trial.size))
    return [*even.values(), *ragged[-1:], *of_kind[LARGER]]
