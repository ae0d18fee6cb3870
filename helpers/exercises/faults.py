"""What is wrong with a launch whatever its values are, worst first: missed barriers,
races, indices, what nobody wrote, a loop without an end, inputs that are written. And
with a kernel, whatever its launch is: masks by chance.
"""

import re
from functools import partial

from helpers.exercises.bounds.makers import assignments
from helpers.exercises.sources import text_of
from helpers.exercises.verdict import Refusal
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import BarrierError, NoProgressError, wrapped
from thirty_two_lanes.core.race import INDIVISIBLE

# what makes one block store elsewhere than another
ASKS_FOR_ITS_BLOCK = re.compile(r"\b(blockIdx|grid|gridsize|atomic)\b")
THREADS = "threadIdx.x", "threadIdx.y", "threadIdx.z"


def refuse_faults(outcome):
    """Raise a Refusal for the first fault of a trial's outcome, if it has one."""
    if outcome.error is not None:
        raise refusal_of(outcome)
    for faults in FAULTS:
        for refusal in faults(outcome):
            raise refusal


def refusal_of(outcome) -> Refusal:
    """The refusal for an error that ended a launch."""
    report = str(outcome.error).partition("Remedy:")[0].rstrip()
    kinds = {
        IndexError: "bounds",
        BarrierError: "barrier",
        NoProgressError: "timeout",
    }
    found = (word for kind, word in kinds.items() if isinstance(outcome.error, kind))
    return Refusal(next(found, "wrong"), at_size(outcome), report, line_in(report))


def at_size(outcome) -> str:
    """The launch that a refusal is about."""
    blocks, threads, *_ = outcome.trial.launch
    return f"The launch [{blocks}, {threads}], size {outcome.trial.words}:"


def first_sentence(error) -> str:
    """An error's words as a sentence."""
    text = " ".join(str(error).split())
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1:] in '.!?' else '.'}"


def line_in(text) -> int | None:
    """The first line that a report names, which may quote any text of a kernel's."""
    found = re.search(r"[Ll]ine (\d{1,6})\b", text)
    return int(found[1]) if found else None


def missed_barriers(outcome):
    for missing in outcome.run.barriers:
        yield Refusal("barrier", at_size(outcome), repr(missing), missing.line)


def races(outcome):
    """Those within a warp and of equal stores, too, since no rule of CUDA gives them an
    order, and stores may be equal for these inputs alone; without the remedy.
    """
    for race in [*outcome.run.races, *outcome.run.races.minor]:
        told = " ".join([at_size(outcome), *one_store(outcome, race)])
        report = wrapped(race.facts)
        yield Refusal("race", told, report, race.first.line, hints_of_race(race))


def one_store(outcome, race):
    """In plain words, a race of one line that stores: who stores to which cell, and
    why, where the kernel does not ask for its block.
    """
    alone = race.first.line == race.second.line and not race.update
    if (
        race.kind != "WAW"
        or {race.first_kind, race.second_kind} != {"store"}
        or not alone
    ):
        return
    text, blocks = text_of(outcome.kernel), outcome.run.blocks
    if race.scope == "grid" and not ASKS_FOR_ITS_BLOCK.search(text):
        which = "both blocks" if blocks == 2 else f"blocks 0 to {blocks - 1:,} all"
        index = next((it for it in THREADS if it in text), "")
        why = f": `{index}` begins at 0 in each" * bool(index)
        yield f"{which} write `{race.cell}`{why}."
    else:
        yield f"{race.first_thread} and {race.second_thread} both write `{race.cell}`."


def hints_of_race(race) -> str:
    """The key of the hints that fit a race."""
    kinds = {race.first_kind, race.second_kind}
    one_line = race.first.line == race.second.line
    if one_line and (race.update or race.kind == "WAW" or kinds & INDIVISIBLE):
        return "race with itself"
    if race.scope == "grid":
        return "race between blocks"
    return "race in one line" if one_line else ""


def warnings(outcome, kind, reason, hints=""):
    """Those of a kind, for a reason."""
    for warning in outcome.run.warnings:
        if warning.kind == kind:
            text = f"line {warning.line}, `{warning.site.text}`: {warning.text}"
            size, report = at_size(outcome), wrapped(text)
            yield Refusal(reason, size, report, warning.line, hints)


def negative_indices(outcome):
    """Those that count from the end, as Numba says: a fault where values are wrong."""
    yield from warnings(outcome, "wrap", "bounds", "bounds negative")


def unwritten(outcome):
    """Also variables, and what a shuffle takes from a lane that gives nothing."""
    run = outcome.run
    for hints, reads in (
        ("", run.uninitialised),
        ("uninitialised variable", run.unset),
        ("uninitialised lanes", run.lanes),
    ):
        for read in reads:
            size, line = at_size(outcome), read.site.line
            yield Refusal("uninitialised", size, repr(read), line, hints)


def written_inputs(outcome):
    for name in outcome.trial.inputs:
        called = outcome.names[name]
        if outcome.run.reuse[called].lanes_stored:
            stores = outcome.run.coalescing.by_line.items()
            stores = [(s, row.array) for s, row in stores if row.kind != "load"]
            site = min(stores, key=lambda it: it[1] != called)[0]
            writes = f"Line {site.line}, `{site.text}`, writes to `{called}`"
            yield Refusal("writes_input", f"{writes}, an input.", line=site.line)


FAULTS = (
    missed_barriers,
    races,
    unwritten,
    partial(warnings, kind="exception", reason="wrong"),
    written_inputs,
)


# ---------------------------------------------------------------- masks


def chance_masks(kernel):
    """Where a kernel waits for the lanes that `activemask` names: no rule of CUDA says
    which these are, though here they are all that come there.
    """
    code = [it for block in kernel.blocks for it in block]
    by_chance, before = set(), None
    while before != len(by_chance):
        before = len(by_chance)
        made = assignments(code)
        by_chance |= {target for target, it in made if is_by_chance(it, by_chance)}
    waits = [it.sync for it in code if isinstance(it, ir.WaitForLanes)]
    return [sync.site for sync in waits if sync.mask in by_chance]


def is_by_chance(maker, by_chance) -> bool:
    """Does what makes a variable take it from `activemask`?"""
    if not isinstance(maker, (ir.Call, ir.Operation, ir.Cast)):
        return isinstance(maker, str) and maker in by_chance
    if isinstance(maker, ir.Call):
        return maker.function == "cuda.activemask"
    operands = (maker.operand,) if isinstance(maker, ir.Cast) else maker.operands
    return any(isinstance(it, str) and it in by_chance for it in operands)


def refuse_chance_masks(kernel):
    """Raise a Refusal for the first of them."""
    for site in chance_masks(kernel):
        raise Refusal(
            "barrier",
            f"Line {site.line}, `{site.text}`, waits for the lanes that `activemask` "
            "names, and no rule says which these are: they may be fewer than all that "
            "come there. Write the lanes that take part as a number, such as "
            "`0xFFFFFFFF` for all, or get them by `ballot_sync`.",
            line=site.line,
            hints="barrier by chance",
        )
