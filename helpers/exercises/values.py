"""What is wrong with the values of an outcome: how they differ from what is expected,
and what in the kernel may be why.
"""

import ast
from functools import partial

import numpy as np

from helpers.checking.check import check
from helpers.checking.excerpt import excerpt
from helpers.checking.summands import lacking
from helpers.checking.tolerance import tolerance_for
from helpers.exercises.arguments import POISON, Out, plain, shaken
from helpers.exercises.sources import tree_of
from helpers.exercises.trials import FAR, LARGER
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.hardware import WARP_SIZE

ENOUGH = 3  # results that lack the same
A_FEW = 4  # units in the last place, times the root of the longest axis
SHAKEN = 4  # draws of the inputs' last bits
OWN = 16  # times the errors of the exercise's own answers


def differs(outcome) -> str:
    """How an outcome's values differ from the expected ones; "" if they do not.

    What was never written is said first.
    """
    for name, expected in outcome.trial.expected.items():
        cells = outcome.outputs[name]
        try:
            check(cells, expected, rtol=rtol_of(outcome, name))
        except AssertionError as error:
            argument = outcome.trial.arguments[name]
            if unwritten := unwritten_cells(cells, argument):
                return f"in `{name}`, {unwritten}."
            first, *clues = str(error).splitlines()
            is_written = isinstance(argument, Out) or stored_alone(outcome, name)
            clues = clues_of(clues, is_written)
            return " ".join([f"in `{name}`, {first}.", *clues, *nearly(outcome, name)])
    return ""


def nearly(outcome, name):
    """A sentence on numbers that are off by what rounding could explain."""
    if outcome.trial.rtol(name) == 0 and agreed(outcome, name, None).all():
        yield "They are moved here, and not computed: all their bits must be the same."


def agreed(outcome, name, *rtol):
    """Which of an output's cells are right?"""
    cells, expected = outcome.outputs[name], np.asarray(outcome.trial.expected[name])
    rtol = rtol or (rtol_of(outcome, name),)
    return tolerance_for(cells, expected, *rtol, None).agree(cells, expected)


def rtol_of(outcome, name):
    """What `check` allows for an output, or what the answers' own rounding does."""
    return outcome.allowed.get(name, outcome.trial.rtol(name))


def hold_to_own_rounding(case, outcome):
    """Where an exercise says what is allowed, allow so many times what rounding does to
    the exercise's own answers, if that is less; and what it may do to a few terms, or
    to a sum of them in another order: so many times what the inputs' last bits do. It
    is asked only of who is farther off.
    """
    task, trial = case.task, outcome.trial
    for name, expected in trial.expected.items() if task.rtol is not None else ():
        cells = outcome.outputs[name]
        numbers, size = np.finfo(cells.dtype), np.abs(expected)
        if ((size > 0) & (size < numbers.tiny)).any():  # whose last bit is a large part
            continue
        longest = max(max(np.shape(it), default=1) for it in outcome.held.values())
        least = A_FEW * numbers.eps * np.sqrt(longest)
        if error_of(outcome, name) > least:
            own = max(error_of(it, name) for it in case.answered(outcome))
            others = (trial.expected_of(partial(shaken, seed=n)) for n in range(SHAKEN))
            bits = max(error_between(cells, it[name], expected) for it in others)
            least *= max(1, bits / numbers.eps)
            outcome.allowed[name] = min(task.rtol, max(OWN * own, float(least)))


def allow_long_sums(case, outcome):
    """Beyond the sizes that are listed, allow so many times the error of the exercise's
    own answers where that is more than `check` allows.
    """
    if outcome.trial.kind not in (LARGER, FAR):
        return
    for name, expected in outcome.trial.expected.items():
        if outcome.trial.rtol(name) is None and not agreed(outcome, name).all():
            cells = outcome.outputs[name]
            usual = getattr(tolerance_for(cells, expected, None, None), "rtol", np.inf)
            own = max(error_of(it, name) for it in case.answered(outcome))
            if own > usual:
                outcome.allowed[name] = OWN * own


def error_of(outcome, name) -> float:
    """The largest relative error of an output."""
    cells, expected = outcome.outputs[name], np.asarray(outcome.trial.expected[name])
    return error_between(cells, cells, expected)


def error_between(like, found, expected) -> float:
    """The largest relative difference of two results of an output like this one."""
    return tolerance_for(like, expected, 0, None).largest_error(found, expected)


def stored_alone(outcome, name) -> bool:
    """Is an output one number, to which the kernel stores?"""
    stored = outcome.run.reuse[outcome.names[name]].lanes_stored
    return outcome.outputs[name].size == 1 and stored > 0


def begins_wrong(outcome) -> bool:
    """Is the first of several values wrong? Then no tail is at fault."""
    return any(
        outcome.outputs[name].size > 1 and not np.ravel(agreed(outcome, name))[0]
        for name in outcome.trial.expected
    )


def clues_of(clues, is_written):
    """What `check` suggests, but not of the launch and the tolerance, which are the
    exercise's; nor that nobody wrote what is known to be written.
    """
    for clue in clues:
        if "grid" not in clue and "guard" not in clue:
            clue = clue.partition("; if it is rounding")[0]
            if is_written:
                clue = clue.replace(": never written?", "")
                clue = clue.replace("never written, or ", "")
            yield clue if clue.endswith("?") else f"{clue}."


def unwritten_cells(cells, argument) -> str:
    """How many cells of an output nobody wrote, and the first; "" if there is none."""
    if not isinstance(argument, Out):
        return ""
    size = cells.dtype.itemsize
    as_bytes = np.ascontiguousarray(cells).view(np.uint8).reshape(-1, size)
    empty = (as_bytes == POISON).all(axis=1)
    if size == 1 or not empty.any():
        return ""
    first = np.unravel_index(int(empty.argmax()), cells.shape)
    index = ", ".join(str(int(it)) for it in first)
    return (
        f"{empty.sum():,} of {empty.size:,} values were never written, the first at "
        f"[{index}]"
    )


def is_right_there(case, outcome) -> bool:
    """Is the exercise's own answer right in a trial? In all but those whose values are
    hardly ever drawn nobody asks.
    """
    own = case.answered(outcome)[0] if outcome.trial.special else None
    return own is None or own.error is None and not differs(own)


def do_agree(cells, others) -> bool:
    """Are they the same numbers, but for what `check` allows floats?"""
    return tolerance_for(cells, others, None, None).agree(cells, others).all()


def first_other(cells, others) -> str:
    """The first of them that is another number, and its place."""
    agree = tolerance_for(cells, others, None, None).agree(cells, others)
    first = np.unravel_index(int(np.argmin(agree)), cells.shape)
    return f"{cells[first]} at [{', '.join(map(str, map(int, first)))}]"


def equal(some, others) -> bool:
    """Are the same numbers in two groups of arrays? NaN is like nothing else."""
    pairs = zip(some.values(), others.values(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def in_numbers(outcome) -> str:
    """The inputs around the first wrong value, what is expected there, and got."""
    for name, expected in outcome.trial.expected.items():
        agree = agreed(outcome, name)
        got = outcome.outputs[name]
        if not agree.all() and np.shape(expected) == got.shape:
            first = np.unravel_index(int(np.argmin(agree)), agree.shape)
            index = tuple(map(int, first))
            return excerpt(
                numeric_inputs(outcome), name, np.asarray(expected), got, index
            )
    return ""


def numeric_inputs(outcome) -> dict:
    """The numbers and arrays of them that a trial gives, as the kernel gets them."""
    given = outcome.trial.arguments.items()
    arrays = {k: np.asarray(plain(v)) for k, v in given if not isinstance(v, Out)}
    return {k: it for k, it in arrays.items() if it.dtype.kind in "biuf" and it.size}


# ---------------------------------------------------------------- why they may differ


def causes(case, outcome) -> str:
    """What in the kernel, or about the place of the wrong values, may be why."""
    kernel = case.program.ir
    found = [*unstored(case, outcome), *past_whole_ones(outcome)]
    found += missing_summand(case.outcomes)
    found += [*lost_fractions(kernel), *rounded_down(kernel)]
    return "".join(f" {it}" for it in found)


def missing_summand(outcomes) -> list:
    """What all wrong results lack, where there are enough to exclude chance."""
    told = {}  # by output: for each outcome, what it may lack
    for outcome in outcomes:
        threads = outcome.run.threads_per_block
        for name, expected in outcome.trial.expected.items():
            got, expected = outcome.outputs[name], np.asarray(expected)
            whole = got.dtype.kind in "iuf" and got.shape == expected.shape
            if whole and not agreed(outcome, name).all():
                found = lacking(got, expected, numeric_inputs(outcome), threads)
                told.setdefault(name, []).append(found)
    for found in told.values():
        same = [it for it in found[0] if all(it in other for other in found)]
        if len(found) >= ENOUGH and same:
            return [f"{same[0]}."]
    return []


def unstored(case, outcome):
    """Which output no line stores to."""
    for name in outcome.trial.expected:
        called = outcome.names[name]
        if called in case.program.written:
            continue
        tree = ast.walk(tree_of(case.kernel.py_func))
        names = (it for it in tree if isinstance(it, ast.Name) and it.id == called)
        named = any(isinstance(it.ctx, ast.Store) for it in names)
        only = f"; `{called} = …` only names another value" * named
        yield f"No line stores to `{called}`{only}."


def past_whole_ones(outcome):
    """Are the first values right, up to the last whole grid, block or warp?"""
    run = outcome.run
    threads = run.threads_per_block
    units = {"grid": run.blocks * threads, "block": threads, "warp": WARP_SIZE}
    for name, expected in outcome.trial.expected.items():
        cells, expected = outcome.outputs[name], np.asarray(expected)
        if cells.ndim != 1 or expected.shape != cells.shape:
            continue
        if run.blocks * threads >= cells.size + threads:  # an element has many threads
            continue
        agree = agreed(outcome, name)
        first = 0 if agree.all() else int(agree.argmin())
        for unit, whole in units.items():
            if first and first == cells.size // whole * whole:
                yield (
                    f"All before index {first:,} are right: there ends the last whole "
                    f"{unit}, of {whole:,} threads."
                )
                break


def lost_fractions(kernel):
    """Which line stores floats as whole numbers, which the kernel does not ask for."""
    code = [it for block in kernel.blocks for it in block]
    casts = {it.target: it for it in code if isinstance(it, ir.Cast)}
    stored = [(it, it.value) for it in code if isinstance(it, ir.Store)]
    added = [(it, v) for it in code if isinstance(it, ir.Atomic) for v in it.values]
    for access, value in stored + added:
        cast = casts.get(value)
        of = cast and kernel.types.get(cast.operand)
        if not isinstance(of, np.dtype) or cast.explicit:
            continue
        if (of.kind, cast.dtype.kind) in (("f", "i"), ("f", "u")):
            line, array = access.reference.site.line, access.reference.array
            yield (
                f"Line {line} stores floats in `{array}`, whose elements are "
                f"{cast.dtype}: fractions are lost."
            )
            return


def rounded_down(kernel):
    """Which line makes a whole number of a quotient that a float takes."""
    code = [it for block in kernel.blocks for it in block]
    made = {it.target: it for it in code if isinstance(it, ir.Operation)}
    casts = {it.target: it.operand for it in code if isinstance(it, ir.Cast)}
    taken = [*casts.items(), *((it, it) for it in made)]
    for name, value in taken:
        division = made.get(value) if isinstance(value, str) else None
        is_float = getattr(kernel.types.get(name), "kind", "") == "f"
        if is_float and division is not None and division.operator == "floordiv":
            yield f"Line {division.site.line} divides by `//`, which rounds down."
            return
