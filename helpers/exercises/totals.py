"""Totals: of what an answer may need so many times as much as the course's own.

They are held whatever the budget names, lest a kernel move from what it names to
something else: to requests of global memory where it names conflicts, to barriers of
the grid, to atomic operations or to float64. Some are held beside one budget alone:
wavefronts, as many cheap requests would keep that of conflicts; loads of outputs, as an
output might be a tile; atomic operations and fences, as a barrier can be made of them.
And always the instructions and stores of the busiest block and warp, lest one of them
do the work of all.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import ceil, prod
from typing import NamedTuple

from helpers.exercises.bounds.makers import operands_of
from helpers.exercises.bounds.numbers import variables_in
from helpers.exercises.reasons import (
    Summand,
    added,
    allowed,
    beyond,
    in_all,
    on_lines,
)
from helpers.exercises.trials import (
    EVEN,
    FAR,
    LARGER,
    RAGGED,
    SMALLER,
    listed_trials,
)
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.launch import compile_kernel
from thirty_two_lanes.frontend.argument_types import argument_types

SPARE = 16  # instructions of a warp, for another way to an index
LOOKED_UP = 16  # items of tuples, such as neighbours' offsets
FLOAT64 = 4 * WARP_SIZE  # operations of a warp, as to divide by a whole number
UNNAMED = 2  # times the answer's requests and sectors, where no budget names them
# times the answer's, where blocks may be half full; beyond the listed sizes most are
TIMES_RAGGED, TIMES_LARGER = 2, 1.1
SPREADS = {"block": 1.5, "warp": 3}  # times the answer's share, of the busiest
SPREADS_OF_STORES = {"block": 1.5, "warp": 2}


class Total(NamedTuple):
    """What is counted in an outcome, by parts, its words, and a sentence about too
    many; the limit is so many times the answer's own, and some beyond it for each warp.
    """

    words: str
    parts: Callable
    sentence: str
    times: float | None = None  # at most; None: less than the exercise's `work`
    spare: int = 0  # for each warp
    named: str = ""  # a budget without which at least UNNAMED times are allowed
    beside: str = ""  # a budget without which it is not held
    instead: str = ""  # a budget with which it is not held
    stores_too: bool = False  # do the answer's stores count as well?

    def count(self, outcome) -> int:
        return added(self.parts(outcome))

    def enough(self, outcome) -> int:
        """What counts in the course's own answer."""
        stores = stored(outcome) if self.stores_too else ()
        return self.count(outcome) + added(stores)


def all_instructions(outcome):
    return outcome.run.divergence.instructions


def loads_of(outcome, name):
    """How often elements of an argument are loaded; an atomic operation loads, too."""
    traffic = outcome.run.reuse[outcome.names[name]]
    return int(traffic.loads.sum()) + traffic.lanes_updated


def lanes_of(kind):
    """How many lanes make requests of a kind, in a row of a table."""
    return lambda row: row.active_lanes * (row.kind == kind)


def loads_of_outputs(outcome):
    for name in outcome.outputs:
        yield Summand(loads_of(outcome, name), f"of `{outcome.names[name]}`")


def atomics_and_fences(outcome):
    yield from atomics(outcome)
    yield from on_lines("bank_conflicts", lanes_of("atomic"))(outcome)
    yield Summand(outcome.run.waits.fences)


atomics = on_lines("coalescing", lanes_of("atomic"))
stored = on_lines("coalescing", lanes_of("store"))
sectors = on_lines("coalescing", lambda row: row.sectors)
requests = on_lines("coalescing", lambda row: row.requests)


def handovers(outcome):
    """The fences, and the atomic operations whose values are used: without a barrier, a
    thread learns by them what others did, if they did so already.
    """
    types = argument_types(outcome.kernel, [*outcome.held.values()])
    program = compile_kernel(outcome.kernel, types, merged=True)
    code = [it for block in program.ir.blocks for it in block]
    operands = (operand for it in code for operand in operands_of(it))
    read = set().union(*map(variables_in, operands))
    used = [it for it in code if isinstance(it, ir.Atomic) and it.target in read]
    used = {it.reference for it in used}
    rows = {replace(it.site, kind=it.kind, array=it.array) for it in used}  # of tables
    for table in (outcome.run.coalescing.by_line, outcome.run.bank_conflicts.by_line):
        for row in rows & table.keys():
            where = f"on line {row.line}, `{row.text}`"
            yield Summand(table[row].active_lanes, where)
    yield Summand(outcome.run.waits.fences)


TOTALS = {  # by the name of the reason
    "work": Total(
        "instructions",
        on_lines("divergence", lambda row: row.instructions),
        "Its warps execute {:,} instructions of the emulator",
        spare=SPARE,
    ),
    "all_sectors": Total(
        "sectors",
        sectors,
        "Its requests touch {:,} sectors of global memory",
        named="sectors",
    ),
    "all_requests": Total(
        "requests to global memory",
        requests,
        "Its warps make {:,} requests to global memory",
        named="requests",
        instead="requests",
    ),
    "wavefronts": Total(
        "wavefronts",
        on_lines("bank_conflicts", lambda row: row.wavefronts),
        "Its requests take {:,} wavefronts of shared memory",
        beside="conflicts",
    ),
    "loads_of_outputs": Total(
        "loads of outputs",
        loads_of_outputs,
        "Its threads load {:,} elements of outputs",
        beside="loads",
    ),
    "atomics_and_fences": Total(
        "atomic operations with fences",
        atomics_and_fences,
        "Its threads make {:,} atomic operations and fences",
        beside="barriers",
    ),
    "handovers": Total(
        "fences with atomic operations whose values are used",
        handovers,
        "Its threads make {:,} fences, or atomic operations whose values they use",
        instead="barriers",
    ),
    "all_atomics": Total(
        "atomic operations on global memory",
        atomics,
        "Its threads make {:,} atomic operations on global memory",
        times=1,
        instead="atomics",
        stores_too=True,
    ),
    "grid_barriers": Total(
        "barriers of the grid",
        in_all(lambda outcome: outcome.run.waits.grid),
        "All blocks wait for each other at {:,} barriers of the grid",
        times=1,
    ),
    "float64_operations": Total(
        "float64 operations",
        on_lines("operations", lambda row: row.float64),
        "Its threads make {:,} operations in float64",
        spare=FLOAT64,
        instead="float64",
    ),
}


def totals_of(task) -> tuple[list, list]:
    """The names of the totals that an answer to a task is held to: those of every task,
    and those that belong to a budget of its own.
    """
    held = {
        name: total
        for name, total in TOTALS.items()
        if total.beside in ("", *task.budget) and total.instead not in task.budget
    }
    beside = [k for k, it in held.items() if {it.beside, it.named} & {*task.budget}]
    return [name for name in held if name not in beside], beside


# ---------------------------------------------------------------- how they are held


def times_where_idle(case, outcome) -> float:
    """How many times the answer's totals an answer may need where blocks are not full:
    as many as there are threads for each element, times those at the first size. One
    that clamps indices, and guards no load, does as much as for whole blocks.
    """
    if outcome.trial.kind == EVEN:
        return 1
    here, first = (threads_each(it) for it in (outcome, case.outcomes[0]))
    least = TIMES_LARGER if outcome.trial.kind == LARGER else TIMES_RAGGED
    return max(least, here / first)


def threads_each(outcome) -> float:
    """How many threads there are for each unit of the size's product."""
    run = outcome.run
    return run.blocks * run.threads_per_block / prod(outcome.trial.size)


def limit_of(total, task, outcome, best, idle=1) -> int:
    """The most of a total that an outcome may have, where the course's own is `best`.

    Twice as much in one half of what it does would be 1.5 times.
    """
    if total.times is not None:
        return total.times * best
    unnamed = total.named and total.named not in task.budget
    times = max(task.work, UNNAMED if unnamed else 1, idle)
    warps = outcome.run.blocks * warps_of_block(outcome)
    return max(ceil(times * best) - 1, 0) + total.spare * warps


def excess_of_total(case, outcome, total) -> str:
    """How a run is beyond the limit of a total; "" if it is not."""
    best = case.most(outcome, total.enough)
    idle = times_where_idle(case, outcome)
    limit = limit_of(total, case.task, outcome, best, idle)
    return beyond(total.parts(outcome), limit, total.sentence, enough=best)


def excess_of_share(case, outcome) -> str:
    """How one block or warp does too much of the work of all; "" if none does.

    Its share is held, and its own instructions: what others do for nothing would make
    its share small.
    """
    more = max(all_instructions(outcome) / case.most(outcome, all_instructions), 1)
    times = max(case.task.work, times_where_idle(case, outcome))
    for who, spread in SPREADS.items():
        mine = instructions_of(outcome, who)
        enough = case.most(outcome, partial(instructions_of, who=who))
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


def excess_of_stores(case, outcome) -> str:
    """How one block or warp stores too much of what all do; "" if none does.

    Without room beyond: in a small kernel that of the instructions would be a share.
    As many stores as one makes in the answer are not too many: all may make fewer.
    """
    for who, spread in SPREADS_OF_STORES.items():
        mine, every = stores_of(outcome, who), all_stores(outcome)
        share = case.most(outcome, partial(share_of_stores, who=who))
        enough = case.most(outcome, partial(stores_of, who=who))
        if mine > enough and mine >= spread * share * every > 0:
            limit = max(enough, ceil(spread * share * every) - 1)
            return (
                f"One {who} makes {mine:,} of all {every:,} requests that store, and "
                f"{allowed(limit)}. Share the stores among all {who}s."
            )
    return ""


def all_stores(outcome) -> int:
    """The requests to global memory that store."""
    rows = outcome.run.coalescing.by_line.values()
    return sum(row.requests for row in rows if row.kind in ("store", "atomic"))


def instructions_of(outcome, who) -> int:
    """The instructions of the busiest block or warp."""
    return getattr(outcome.run.balance, f"busiest_{who}")


def stores_of(outcome, who) -> int:
    """The requests that store of the block or warp that makes most of them."""
    return getattr(outcome.run.balance, f"stores_of_{who}")


def share_of_stores(outcome, who) -> float:
    """The share of it in those of all."""
    return stores_of(outcome, who) / max(all_stores(outcome), 1)


def warps_of_block(outcome) -> int:
    return -(-outcome.run.threads_per_block // WARP_SIZE)


def sizes_of(case) -> list:
    """Those of even sizes, that of the largest ragged one, that of the largest one
    between, if it has several blocks (in smaller ones most threads have no element, and
    may as well compute something for nothing), and those of larger sizes: what is slow
    there alone is slow.
    """
    of_kind = {it: [] for it in (EVEN, RAGGED, SMALLER, LARGER, FAR)}
    for outcome in case.outcomes:
        of_kind[outcome.trial.kind].append(outcome)
    for kind in (RAGGED, SMALLER):
        of_kind[kind].sort(key=lambda it: prod(it.trial.size))
    even = [it for it in of_kind[EVEN] if not it.trial.turned]
    between = [it for it in of_kind[SMALLER][-1:] if it.run.blocks > 1]
    return [*even, *of_kind[RAGGED][-1:], *between, *of_kind[LARGER]]


def first_of_its_size(case, outcome):
    """The first outcome of that size and kind, in which no value is special where there
    are several.
    """
    mine = outcome.trial
    for it in case.outcomes:
        if (it.trial.size, it.trial.kind) == (mine.size, mine.kind):
            return it
    return outcome


# ---------------------------------------------------------------- in words


def described_totals(task):
    """Each limit in words, and the most that is allowed as numbers."""
    held = [TOTALS[name] for names in totals_of(task) for name in names]
    groups = {}  # by how many times the answer's
    for total in held:
        groups.setdefault(most_of(task, total), []).append(total.words)
    for most, words in groups.items():
        spare = f", and {SPARE} instructions a warp" * ("instructions" in words)
        yield f"{joined(words)}: {most}{spare}"
    yield f"at the first size, about: {joined([*numbers_of(task, held)])}"
    if task.ragged:
        times = f"less than {max(task.work, TIMES_RAGGED):g} times these"
        yield (
            "at sizes that do not fill their blocks, up to the largest that is listed: "
            f"{times}, and {TIMES_RAGGED} times the other counts"
        )
    (block, warp), (storing, stores) = (
        it.values() for it in (SPREADS, SPREADS_OF_STORES)
    )
    yield (
        f"share of the busiest block and warp in the instructions: less than {block} "
        f"and {warp} times that in the course's answer; in the stores: {storing} and "
        f"{stores} times"
    )


def most_of(task, total) -> str:
    """How many times what the answer needs."""
    if total.times is not None:
        return "no more than the course's answer needs"
    unnamed = total.named and total.named not in task.budget
    times = max(task.work, UNNAMED if unnamed else 1)
    return f"less than {times:g} times those of the course's answer"


def numbers_of(task, totals):
    """The most of each total that is some times the answer's, in one trial."""
    trial, *_ = listed_trials(task, "page")
    runs = [trial.run(task.kernel(text)) for text in task.answer_texts]
    for total in totals:
        if total.times is None:
            limit = limit_of(total, task, runs[0], max(map(total.count, runs)))
            yield f"{limit:,} {total.words}" if limit else f"no {total.words}"


def joined(words) -> str:
    """Words with commas, and "and" before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
