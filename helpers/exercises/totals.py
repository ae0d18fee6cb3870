"""Totals: of what an answer may need so many times as much as the course's own.

Instructions are held always. Sectors and wavefronts are held beside a budget for each
request: many cheap requests would keep that one. Loads of outputs are held beside one
for inputs, as an output might be a tile; atomic operations and fences beside one for
barriers, as a barrier can be made of them. And always the shares of the busiest block
and warp, lest one of them do the work of all.
"""

from math import ceil, prod
from typing import NamedTuple

from helpers.core.hardware import WARP_SIZE
from helpers.exercises.faults import at_size
from helpers.exercises.trials import EVEN, RAGGED

SPARE = 16  # instructions of a warp, for another way to an index
LOOKED_UP = 16  # items of tuples, such as neighbours' offsets
TIMES_RAGGED = 2  # times the answer's, in blocks that are half full
SHARES = {"block": 1.5, "warp": 3}  # times the answer's, of the requests of all


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


def loads_of(outcome, name):
    """How often elements of an argument are loaded; an atomic operation loads, too."""
    traffic = outcome.run.reuse[outcome.names[name]]
    return int(traffic.loads.sum()) + traffic.lanes_updated


def all_output_loads(outcome):
    return sum(loads_of(outcome, name) for name in outcome.outputs)


def all_atomics_and_fences(outcome):
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
        "sectors", all_sectors, "Its requests touch {:,} sectors of global memory"
    ),
    "conflicts": Total(
        "wavefronts",
        all_wavefronts,
        "Its requests take {:,} wavefronts of shared memory",
    ),
    "loads": Total(
        "loads of outputs",
        all_output_loads,
        "Its threads load {:,} elements of outputs",
    ),
    "barriers": Total(
        "atomic operations with fences",
        all_atomics_and_fences,
        "Its threads make {:,} atomic operations and fences",
    ),
}


def totals_of(task) -> dict:
    """The totals that are held beside budgets of a task, by the budget's name."""
    return {name: TOTALS[name] for name in TOTALS if name in task.budget}


# ---------------------------------------------------------------- how they are held


def times_of(task, ragged) -> float:
    """How many times the answer's totals an answer does not reach."""
    return max(task.work, TIMES_RAGGED) if ragged else task.work


def excess_of_total(case, outcome, total) -> str:
    """How a run reaches so many times the answer's own total; "" if it does not.

    Twice as much in one half of what it does would be 1.5 times.
    """
    mine, best = total.count(outcome), total.count(answered(case, outcome))
    warps = outcome.run.blocks * -(-outcome.run.threads_per_block // WARP_SIZE)
    times = times_of(case.task, outcome.trial.kind == RAGGED)
    limit = max(ceil(times * best) - 1, 0) + total.spare * warps
    if mine <= limit:
        return ""
    told = f"{total.sentence.format(mine)}, and {allowed(limit)}; {best:,} are enough."
    return placed(case, outcome, told)


def excess_of_share(case, outcome) -> str:
    """How one block or warp does too much of the work of all; "" if none does.

    It is held where blocks are full: in others, whole warps have nothing to do.
    """
    if outcome.trial.kind == RAGGED:
        return ""
    for who, times in SHARES.items():
        most, all_mine = busiest(outcome.run, who)
        enough, all_best = busiest(answered(case, outcome).run, who)
        if most > enough and most * all_best >= times * enough * all_mine:
            told = (
                f"One {who} makes {most:,} of all {all_mine:,} requests to global "
                f"memory; {enough:,} of {all_best:,} are enough. Share the work among "
                f"all {who}s."
            )
            return placed(case, outcome, told)
    return ""


def busiest(run, who) -> tuple[int, int]:
    """The requests to global memory of the busiest block or warp, and those of all."""
    return getattr(run.balance, f"busiest_{who}"), run.coalescing.requests


def placed(case, outcome, told) -> str:
    """A sentence with the size that it is about, where that is not the first."""
    return told if outcome is case.outcomes[0] else f"{at_size(outcome)} {told}"


def allowed(limit) -> str:
    """How many are allowed, in words."""
    return f"{limit:,} {'is' if limit == 1 else 'are'} allowed"


def answered(case, outcome):
    """What the exercise's own answer does in the trial of an outcome."""
    trial = outcome.trial
    size = trial.size, trial.kind
    if size not in case.answered:
        kernel = case.task.kernel(case.task.answer_text)
        case.answered[size] = trial.run(kernel)
    return case.answered[size]


def sizes_of(case) -> list:
    """The first run of each even size, and that of the largest other one: in smaller
    ones most threads have no element, and may as well compute something for nothing.
    """
    found, ragged = {}, []
    for it in case.outcomes:
        if it.trial.kind == RAGGED:
            ragged.append(it)
        elif it.trial.kind == EVEN:
            found.setdefault(it.trial.size, it)
    largest = max(ragged, key=lambda it: prod(it.trial.size), default=None)
    return [*found.values(), *([largest] if ragged else [])]
