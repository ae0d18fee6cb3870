"""Budgets: what a right answer may cost, in the units of the reports.

Each is a row of `BUDGETS`: what it limits, in words, and how it is held. Names that are
not there are limits of `assemble`, such as `instructions` or `float64`, and hold where
NVIDIA's compiler is installed.
"""

import re
from collections.abc import Callable
from functools import partial
from math import ceil, floor
from typing import NamedTuple

from helpers.exercises.faults import at_size, line_in
from helpers.exercises.reasons import (
    Summand,
    added,
    allowed,
    beyond,
    in_all,
    on_lines,
)
from helpers.exercises.sources import lines_changed
from helpers.exercises.totals import (
    LOOKED_UP,
    TOTALS,
    atomics,
    described_totals,
    excess_of_share,
    excess_of_stores,
    excess_of_total,
    first_of_its_size,
    loads_of,
    requests,
    sizes_of,
    times_where_idle,
    totals_of,
)
from helpers.exercises.trials import EVEN, LARGER, RAGGED, SMALLER
from helpers.exercises.values import is_right_there
from helpers.exercises.verdict import Refusal
from thirty_two_lanes.assembly import assemble
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.emulator.program import static_bytes


def keeps_its_budget(case):
    """Does a case keep its budgets, in the order of the exercise, and then the totals?
    How many lines changed is asked after what they achieve.

    Each is held at every even size, lest an answer be good at one alone, and at a
    ragged one, at one between these and at larger ones, lest whole blocks alone or the
    listed sizes alone be good. A sentence names the size where that is not the first.
    """
    for name, hold in limits_of(case.task):
        for outcome in sizes_of(case):
            sentence = hold(case, outcome)
            if sentence and is_held(case, outcome, hold):
                if outcome is not case.outcomes[0]:
                    sentence = f"{at_size(outcome)} {sentence}"
                line = line_in(sentence)
                raise Refusal(f"over_budget:{name}", sentence, line=line)


def is_held(case, outcome, hold) -> bool:
    """Does a limit hold in an outcome? At a size that comes again, with other values,
    it is that of the first time, if all of the exercise's own answers keep it there.
    """
    if outcome is first_of_its_size(case, outcome):
        return True
    own = is_right_there(case, outcome) and case.answered(outcome)
    return bool(own) and not any(hold(case, it) for it in own)


def limits_of(task):
    """Each limit's name, and what holds a run to it, in the order of asking."""

    def held(name):
        return name, partial(excess, name=name, limit=task.budget[name])

    yield from (held(name) for name in task.budget if name != "lines")

    def total(name):
        return name, partial(excess_of_total, total=TOTALS[name])

    always, beside = totals_of(task)
    if "lines" in task.budget:  # for which, as for these, a fix earns a part
        yield from (*map(total, beside), held("lines"), *map(total, always))
        beside, always = (), ()
    broad = [name for name in (*always, *beside) if TOTALS[name].named]
    yield from (total(it) for it in (*always, *beside) if it not in broad)
    yield "share", excess_of_share
    yield "share_of_stores", excess_of_stores
    yield from map(total, broad)


def excess(case, outcome, name, limit) -> str:
    """How a run is over a limit; "" if it is not."""
    first = outcome is case.outcomes[0]
    row = BUDGETS.get(name)
    if row is None:
        return assembled(case, name, limit) if first else ""
    if outcome.trial.kind not in row.where:
        return ""
    if row.count and not first:
        limit = scaled(case, outcome, row.count, limit)
    return row.hold(case, outcome, limit)


def scaled(case, outcome, count, limit):
    """A limit of the first size at another, where the answer needs more, or less; where
    blocks are not full, so many times as much. The room beyond what the answer needs
    does not shrink: it may be for what is needed at each size.
    """
    if isinstance(limit, dict):
        each = limit.items()
        return {it: scaled(case, outcome, count(it), most) for it, most in each}
    there, here = (case.most(it, count) for it in (case.outcomes[0], outcome))
    here *= times_where_idle(case, outcome)
    found = limit * here / there if here > there > 0 else limit - there + here
    found = ceil(10_000 * found) / 10_000
    return int(found) if found == int(found) else found


def beside(case, outcome, count):
    """What counts in the answer where blocks are not full, and is allowed there."""
    return 0 if outcome.trial.kind == EVEN else case.most(outcome, count)


def described(task):
    """Each limit that the task is about, in words, and that there are others."""
    for name, limit in task.budget.items():
        machine = f"{MACHINE.get(name, name)}: at most {{}}"
        words = BUDGETS[name].words if name in BUDGETS else machine
        if isinstance(limit, dict):
            limit = ", ".join(f"{n:g} for `{array}`" for array, n in limit.items())
        elif limit != "ideal":
            limit = f"{limit:,}"
        ideal = words.replace("at most {}", "as few as its bytes need")
        yield ideal if limit == "ideal" else words.format(limit)
    yield "and the usual limits, which `task.usual_limits()` prints"


def usual(task):
    """The limits that hold whatever a task is about, in words and numbers, for which
    its answer runs.
    """
    yield from described_totals(task)
    arrays = task.captured or "none"
    yield f"numbers of the kernel's own: {arrays} in arrays, {LOOKED_UP} in tuples"


def unheld(task) -> list:
    """The limits that cannot be held here, where NVIDIA's compiler is missing."""
    asked = getattr(task, "budget", {})
    known = {*BUDGETS, "float64"}  # of which the emulator warns
    return [name for name in asked if name not in known] if missing() else []


# ---------------------------------------------------------------- how each is held


def complaint(ask, *arguments, **named) -> str:
    """What an assertion says when it fails, its first sentence; "" when it holds.

    The others name the remedy, and that is the learner's to find.
    """
    try:
        ask(*arguments, **named)
    except AssertionError as error:
        text = re.split(r"\. (?=[A-Z])", str(error))[0].rstrip(".")
        return f"{text[:1].upper()}{text[1:]}."
    return ""


def sectors(case, outcome, limit):
    """Where blocks are not full, no more beyond the limit than in the course's own
    answer, and one for each request: what it asks for may begin anywhere.
    """
    most = {} if limit == "ideal" else {"at_most": limit}
    count = partial(sectors_beyond, **most)
    spare = beside(case, outcome, lambda it: count(it) + added(requests(it)))
    return complaint(outcome.run.assert_coalesced, **most) * (count(outcome) > spare)


def sectors_beyond(outcome, at_most=0):
    """How many sectors lines touch beyond the ideal, or beyond so many a request."""
    rows = outcome.run.coalescing.by_line.values()
    return sum(
        max(it.sectors - max(it.ideal_sectors, at_most * it.requests), 0) for it in rows
    )


def conflicts_of(outcome):
    return outcome.run.bank_conflicts.conflicts


def conflicts(case, outcome, limit):
    run = outcome.run
    found, limit = conflicts_of(outcome), limit + beside(case, outcome, conflicts_of)
    if found <= limit:
        return ""
    where = complaint(run.assert_no_bank_conflicts)
    return f"{found:,} bank conflicts, and {allowed(limit)}. {where}"


def mean_loads(array):
    """How often an outcome loads an element of an array, on average."""
    return lambda outcome: loads_of(outcome, array) / outcome.held[array].size


def loads(case, outcome, limits):
    for array, limit in limits.items():
        mean = mean_loads(array)(outcome)
        if mean > limit:
            called, rows = outcome.names[array], outcome.run.coalescing.by_line.items()
            lines = (
                f" (line {site.line})"
                for site, row in rows
                if row.array == called and row.kind != "store"
            )
            line = next(lines, "")  # a kernel may give the array another name
            return (
                f"An element of `{called}` is loaded {mean:.4g} times on "
                f"average{line}, and {allowed(limit)}."
            )
    return ""


idle_lanes = on_lines("divergence", lambda row: row.present_lanes - row.active_lanes)


def active(case, outcome, limit):
    """The share, and no more idle lanes than it leaves the course's own answer: busy
    lanes that do nothing of use would keep the share.
    """
    if outcome.trial.kind == EVEN:
        if sentence := complaint(outcome.run.assert_no_divergence, at_least=limit):
            return sentence
    lanes = case.most(outcome, lambda it: it.run.divergence.present_lanes)
    most = floor((1 - limit) * lanes)
    most += beside(case, outcome, lambda it: added(idle_lanes(it)))
    idle = "{:,} lanes are idle, counted at each instruction"
    return beyond(idle_lanes(outcome), most, idle)


def shared_bytes(case, outcome, limit):
    launch = outcome.trial.launch
    dynamic = launch[3] if len(launch) > 3 else 0
    found = [Summand(static_bytes(case.program, "shared") + dynamic)]
    return beyond(found, limit, "{:,} bytes of shared memory")


def lines(case, outcome, limit):
    changed = lines_changed(case.kernel, case.task.given_text)
    if changed <= limit:
        return ""
    enough = "1 line is" if limit == 1 else f"{limit} lines are"
    return f"{changed} lines changed, and {enough} enough."


def assembled(case, name, limit):
    if missing():
        return float64(case.outcomes[0]) if name == "float64" else ""
    trial = case.listed[0]
    made = assemble(case.kernel)[trial.launch](*trial.held().values())
    return complaint(made.assert_at_most, **{name: limit})


def float64(outcome):
    """What the emulator warns of, where no compiler says what becomes of it."""
    found = [it for it in outcome.run.warnings if it.kind == "float64"]
    return f"Line {found[0].line}: {found[0].text}." if found else ""


# ---------------------------------------------------------------- the table


class Budget(NamedTuple):
    """A limit's words, and the function that says how a run exceeds it; what counts in
    an outcome, where the limit is that of the first size; at which sizes it is held.
    """

    words: str
    hold: Callable
    count: Callable | None = None
    where: tuple = (EVEN, RAGGED, SMALLER, LARGER)


def counted(words, parts, sentence, **more):
    """The budget of a number that adds up; the sentence is about too many."""
    return Budget(
        f"{words}: at most {{}}",
        lambda case, outcome, limit: beyond(parts(outcome), limit, sentence, **more),
        lambda outcome: added(parts(outcome)),
    )


BUDGETS = {
    "sectors": Budget("sectors per request to global memory: at most {}", sectors),
    "conflicts": Budget("bank conflicts: at most {}", conflicts),
    "requests": counted(
        "requests to global memory",
        requests,
        "{:,} requests to global memory",
    ),
    "shared_requests": counted(
        "requests to shared memory",
        on_lines("bank_conflicts", lambda row: row.requests, array=True),
        "{:,} requests to shared memory",
    ),
    "loads": Budget("loads of an element, on average: at most {}", loads, mean_loads),
    "barriers": counted(
        "barriers that a block waits at",
        # those of the whole grid, too: each block waits at them
        in_all(lambda outcome: outcome.run.waits.block + outcome.run.waits.grid),
        "A block waits at {:,} barriers",
    ),
    "warp_instructions": counted(
        "instructions of all warps, as the emulator counts them",
        on_lines("divergence", lambda row: row.instructions),
        "Its warps execute {:,} instructions of the emulator",
    ),
    "active": Budget(
        "active share: at least {}, and idle lanes are counted, too, so that busy work "
        "does not help",
        active,
        where=(EVEN, LARGER),  # one warp of two ways is much of a small launch
    ),
    "operations": counted(
        "arithmetic operations",
        on_lines("operations", lambda row: row.float32 + row.float64 + row.integer),
        "{:,} arithmetic operations",
        most="most of them",
    ),
    "atomics": counted(
        "atomic operations on global memory",
        atomics,
        "{:,} atomic operations on global memory",
    ),
    "shared_bytes": Budget(
        "bytes of shared memory per block: at most {}", shared_bytes, where=(EVEN,)
    ),
    "lines": Budget("lines changed: at most {}", lines, where=(EVEN,)),
}
MACHINE = {  # limits of `assemble`, in words
    "float64": "float64 instructions",
    "calls": "calls of a routine",
    "instructions": "machine instructions",
    "moves": "machine instructions that copy a register",
}
