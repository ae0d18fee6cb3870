"""Budgets: what a right answer may cost, in the units of the reports.

Each is a row of `BUDGETS`: what it limits, in words, and how it is held. Names that are
not there are limits of `assemble`, such as `instructions` or `float64`, and hold where
NVIDIA's compiler is installed.
"""

import re
from typing import NamedTuple

from helpers.assembly import assemble
from helpers.assembly.compiler import missing
from helpers.core.hardware import WARP_SIZE
from helpers.emulator.program import static_bytes
from helpers.exercises.sources import lines_changed

SPARE = 16  # instructions of a warp, for another way to an index


class Excess(NamedTuple):
    """A budget that an answer does not keep: which, by how much, on which line."""

    name: str
    sentence: str
    line: int | None = None


def excesses(case):
    """The budgets that a case does not keep, in the order of the exercise; how many
    lines changed is asked after what they achieve.
    """
    task = case.task
    for name in sorted(task.budget, key="lines".__eq__):
        limit = task.budget[name]
        row = BUDGETS.get(name)
        told = row.hold(case, limit) if row else assembled(case, name, limit)
        if told:
            line = re.search(r"line (\d+)", told)
            yield Excess(name, told, int(line[1]) if line else None)
    if told := work(case, task.work):
        yield Excess("work", told)


def described(task):
    """Each limit in words."""
    for name, limit in task.budget.items():
        words = BUDGETS[name].words if name in BUDGETS else f"{name}: at most {{}}"
        if isinstance(limit, dict):
            limit = ", ".join(f"{n:g} for `{array}`" for array, n in limit.items())
        ideal = words.replace("at most {}", "no more than its bytes fill")
        yield ideal if limit == "ideal" else words.format(limit)


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


def allowed(limit) -> str:
    """How many are allowed, in words."""
    return f"{limit:,} {'is' if limit == 1 else 'are'} allowed"


def run_of(case):
    """The run that is held to the budget."""
    return case.outcomes[0].run


def sectors(case, limit):
    run = run_of(case)
    if limit == "ideal":
        return complaint(run.assert_coalesced)
    return complaint(run.assert_coalesced, at_most=limit)


def conflicts(case, limit):
    run = run_of(case)
    total = run.bank_conflicts.conflicts
    if total <= limit:
        return ""
    told = complaint(run.assert_no_bank_conflicts)
    return f"{total:,} bank conflicts, and {allowed(limit)}. {told}"


def requests(case, limit):
    table = run_of(case).coalescing
    if table.requests <= limit:
        return ""
    site, row = max(table.by_line.items(), key=lambda it: it[1].requests)
    return (
        f"{table.requests:,} requests to global memory, and {allowed(limit)}; "
        f"{row.requests:,} of them on line {site.line}, `{site.text}`."
    )


def shared_requests(case, limit):
    rows = run_of(case).bank_conflicts.by_line
    total = sum(row.requests for row in rows.values())
    if total <= limit:
        return ""
    site, row = max(rows.items(), key=lambda it: it[1].requests)
    return (
        f"{total:,} requests to shared memory, and {allowed(limit)}; "
        f"{row.requests:,} of them by `{row.array}` on line {site.line}, `{site.text}`."
    )


def loads(case, limits):
    run = run_of(case)
    for array, limit in limits.items():
        array = case.names[array]
        rows = [it for it in run.coalescing.by_line.items() if it[1].array == array]
        found = run.reuse[array].loads
        updates = sum(row.active_lanes for _, row in rows if row.kind == "atomic")
        mean = (found.sum() + updates) / found.size  # an atomic operation loads, too
        if mean > limit:
            lines = (
                f" (line {site.line})" for site, row in rows if row.kind != "store"
            )
            line = next(lines, "")  # a kernel may give the array another name
            return (
                f"An element of `{array}` is loaded {mean:.4g} times on average{line}, "
                f"and {allowed(limit)}."
            )
    return ""


def barriers(case, limit):
    most = run_of(case).waits.block
    return (
        f"A block waits at {most:,} barriers, and {allowed(limit)}."
        if most > limit
        else ""
    )


def active(case, limit):
    return complaint(run_of(case).assert_no_divergence, at_least=limit)


def warp_instructions(case, limit):
    table = run_of(case).divergence
    if table.instructions <= limit:
        return ""
    site, row = max(table.by_line.items(), key=lambda it: it[1].instructions)
    return (
        f"Its warps execute {table.instructions:,} instructions of the emulator, and "
        f"{allowed(limit)}; {row.instructions:,} of them on line {site.line}, "
        f"`{site.text}`."
    )


def operations(case, limit):
    table = run_of(case).operations
    total = sum(getattr(table, it) for it in ("float32", "float64", "integer"))
    if total <= limit:
        return ""
    site = max(table.by_line, key=lambda it: sum(vars(table.by_line[it]).values()))
    return (
        f"{total:,} arithmetic operations, and {allowed(limit)}; most of them on "
        f"line {site.line}, `{site.text}`."
    )


def atomics(case, limit):
    rows = run_of(case).coalescing.by_line.values()
    total = sum(row.active_lanes for row in rows if row.kind == "atomic")
    return (
        f"{total:,} atomic operations on global memory, and {allowed(limit)}."
        if total > limit
        else ""
    )


def shared_bytes(case, limit):
    launch = case.trials[0].launch
    dynamic = launch[3] if len(launch) > 3 else 0
    total = static_bytes(case.program, "shared") + dynamic
    return (
        f"{total:,} bytes of shared memory, and {allowed(limit)}."
        if total > limit
        else ""
    )


def lines(case, limit):
    changed = lines_changed(case.kernel, case.task.given_text)
    if changed is None:
        return "Its lines cannot be counted, for its source is nowhere to be found."
    if changed <= limit:
        return ""
    enough = "1 line is" if limit == 1 else f"{limit} lines are"
    return f"{changed} lines changed, and {enough} enough."


def work(case, times):
    """More instructions than so many times the answer's own, and some for each warp?"""
    mine = run_of(case)
    answer = case.trials[0].run(case.task.kernel(case.task.answer_text))
    best = answer.run.divergence.instructions
    warps = mine.blocks * -(-mine.threads_per_block // WARP_SIZE)
    limit = int(times * best) + SPARE * warps
    if mine.divergence.instructions <= limit:
        return ""
    return (
        f"Its warps execute {mine.divergence.instructions:,} instructions of the "
        f"emulator, and {allowed(limit)}; {best:,} are enough."
    )


def assembled(case, name, limit):
    if missing():
        return float64(case) if name == "float64" else ""
    trial = case.trials[0]
    made = assemble(case.kernel)[trial.launch](*trial.held().values())
    return complaint(made.assert_at_most, **{name: limit})


def float64(case):
    """What the emulator warns of, where no compiler says what becomes of it."""
    found = [it for it in run_of(case).warnings if it.kind == "float64"]
    return f"Line {found[0].line}: {found[0].text}." if found else ""


class Budget(NamedTuple):
    """A limit's words, and the function that says how a case exceeds it."""

    words: str
    hold: object


BUDGETS = {
    "sectors": Budget("sectors a request to global memory: at most {}", sectors),
    "conflicts": Budget("bank conflicts: at most {}", conflicts),
    "requests": Budget("requests to global memory: at most {}", requests),
    "shared_requests": Budget("requests to shared memory: at most {}", shared_requests),
    "loads": Budget("loads of an element, on average: at most {}", loads),
    "barriers": Budget("barriers that a block waits at: at most {}", barriers),
    "warp_instructions": Budget(
        "instructions of all warps, as the emulator counts them: at most {}",
        warp_instructions,
    ),
    "active": Budget("active lanes: at least a share of {}", active),
    "operations": Budget("arithmetic operations: at most {}", operations),
    "atomics": Budget("atomic operations on global memory: at most {}", atomics),
    "shared_bytes": Budget("bytes of shared memory a block: at most {}", shared_bytes),
    "lines": Budget("lines changed: at most {}", lines),
}
