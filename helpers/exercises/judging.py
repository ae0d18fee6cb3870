"""The judge of kernels. It looks in this order, and stops at the first that speaks:

is there an answer, does it compile, does it bring no numbers along, and name the lanes
that it waits for; at sizes of whole blocks, barriers, races, bounds and what nobody
wrote, before any value is compared; then values, on new numbers, and whether they
depend on the inputs; the same at sizes of every other kind, and at larger ones; the
budget.
"""

import time
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from io import StringIO

import numpy as np

from helpers.exercises.bounds.brought import brings_nothing_along, holds_no_table
from helpers.exercises.bounds.numbers import own_numbers
from helpers.exercises.bounds.untried import untried
from helpers.exercises.budgets import keeps_its_budget, unheld
from helpers.exercises.faults import (
    at_size,
    chance_masks,
    first_sentence,
    line_in,
    negative_indices,
    refuse_chance_masks,
    refuse_faults,
)
from helpers.exercises.packing import packed
from helpers.exercises.rebuilding import Malformed, answer_of
from helpers.exercises.sizes import few_blocks
from helpers.exercises.sources import lines_changed
from helpers.exercises.totals import first_of_its_size
from helpers.exercises.trials import (
    EVEN,
    FAR,
    LARGER,
    RAGGED,
    SMALLER,
    drawn_trials,
    far_trials,
    listed_trials,
)
from helpers.exercises.values import (
    allow_long_sums,
    begins_wrong,
    causes,
    differs,
    do_agree,
    equal,
    first_other,
    hold_to_own_rounding,
    in_numbers,
    is_right_there,
    past_whole_ones,
)
from helpers.exercises.verdict import Refusal, Verdict
from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.emulator.launch import compile_kernel
from thirty_two_lanes.frontend.argument_types import argument_types
from thirty_two_lanes.frontend.kernels import argument_names, require_kernel

SECONDS = 20  # of a processor, for all launches of a check
PRINTS = "`check` does not show what the kernel prints: launch it yourself to see it."


def judge(task, kernel, seed=None) -> Verdict:
    """The verdict on a kernel; the seed makes the numbers, new ones each time without.

    An error that is not the kernel's, such as one of the exercise's own, is raised.
    """
    known = _prepared.get(whose(task, seed), {})
    case = JudgedKernel(task, kernel, seed, **known)
    with redirect_stdout(StringIO()) as printed:
        verdict = looked_at(case)
    if not printed.getvalue():
        return verdict
    if verdict.report:
        return replace(verdict, report=f"{verdict.report}\n{PRINTS}")
    return replace(verdict, sentence=f"{verdict.sentence} {PRINTS}")


_prepared = {}  # what cases may begin with, by what they are judged on


def prepare(task, seed):
    """Do once what is the same for all kernels that are judged on the numbers of this
    seed: make the trials, and see what the exercise's own answer does in them.
    """
    case = JudgedKernel(task, task.kernel(task.answer_text), seed)
    looked_at(case)
    _prepared[whose(task, seed)] = {"listed": case.listed, "best": case.best}


def whose(task, seed):
    return task.name, task.seed, seed


def looked_at(case) -> Verdict:
    """The verdict of the first look that speaks. A budget must be exceeded with other
    numbers, too: what is drawn must not cost points.
    """
    task, refusal = case.task, first_refusal(case)
    if refusal and refusal.reason.budget:
        refusal = refusal if first_refusal(case.with_other_numbers()) else None
    if refusal:
        return refused(task, refusal, in_another_order(case))
    note = untried(case.numbers, case.outcomes)
    told = f"{praise(case)} {note}".rstrip()
    return Verdict(task.name, task.points, task.points, told, note=note)


def first_refusal(case) -> Refusal | None:
    """What the first look says that speaks."""
    try:
        for look in LOOKS:
            look(case)
    except Refusal as refusal:
        return refusal
    return None


def in_another_order(case) -> str:
    """A sentence on arguments that have the launch's names, and not its order."""
    mine = getattr(getattr(case.kernel, "py_func", None), "__code__", None)
    wanted = tuple(case.listed[0].arguments)
    names = mine.co_varnames[: mine.co_argcount] if mine else wanted
    if names == wanted or {*names} != {*wanted}:
        return ""
    return f" The launch passes {', '.join(wanted)}, in this order."


def refused(task, refusal, also="") -> Verdict:
    """The verdict of a refusal: part of the points for a right answer over budget."""
    budget = refusal.reason.budget
    return Verdict(
        task.name,
        task.points * task.share(budget) if budget else 0,
        task.points,
        refusal.sentence + also * (not budget),
        refusal.reason,
        refusal.report,
        refusal.line,
        task.hints_for(refusal.hints),
    )


@dataclass
class JudgedKernel:
    """A kernel before its judge; what was found so far is kept."""

    task: object
    kernel: object
    seed: object = None
    outcomes: list = field(default_factory=list)  # what it did in the trials so far
    best: dict = field(default_factory=dict)  # what the answers did, by launch
    listed: list = None  # the trials of the sizes that are listed
    begun: float = field(default_factory=time.process_time)

    def __post_init__(self):
        if self.seed is None:
            self.seed = np.random.SeedSequence().entropy
        self.listed = self.listed or listed_trials(self.task, self.seed)

    @cached_property
    def drawn(self):
        """The trials of other sizes."""
        return drawn_trials(self.task, self.seed)

    @cached_property
    def numbers(self):
        """The kernel's own numbers."""
        threads = self.listed[0].launch[1]
        return own_numbers(self.program.ir, few_blocks(self.task), threads)

    @property
    def far(self):
        """Those of sizes beyond what the kernel's own numbers may count."""
        return far_trials(self.task, self.seed, self.numbers, self.outcomes)

    def with_other_numbers(self):
        """The same kernel before numbers that are drawn anew."""
        seed = f"{self.seed}, again"
        return JudgedKernel(self.task, self.kernel, seed, begun=self.begun)

    def requires_time(self, trial):
        """Raise a Refusal before a trial if those so far took too long."""
        if time.process_time() - self.begun > SECONDS:
            raise Refusal(
                "timeout",
                f"The check ends before the launch with size {trial.words}: those "
                f"before took more than {SECONDS} seconds together. A kernel that "
                "shares its work takes less than one.",
            )

    def answered(self, outcome) -> list:
        """What the exercise's own answers do in the trial of an outcome."""
        trial = outcome.trial
        launch = trial.size, trial.kind, trial.order  # several may have one size
        if launch not in self.best:
            kernels = map(self.task.kernel, self.task.answer_texts)
            self.best[launch] = [trial.run(it) for it in kernels]
        return self.best[launch]

    def most(self, outcome, count):
        """The most that counts in one of the exercise's own answers, in the first trial
        of that size: what an answer costs there, it may cost with other values.
        """
        return max(map(count, self.answered(first_of_its_size(self, outcome))))

    @cached_property
    def program(self):
        """The kernel as the emulator knows it, for the types of the first trial."""
        values = list(self.listed[0].held().values())
        types = argument_types(self.kernel, values)
        return compile_kernel(self.kernel, types, merged=True)


def explained(ask):
    """What a function gives; a refusal of the kernel or the launch as a Refusal."""
    try:
        return ask()
    except ExplainedError as error:
        sentence, _, below = str(error).partition("\n")  # the kernel's line, and more
        sentence = first_sentence(sentence)
        raise Refusal("refused", sentence, below, line_in(sentence)) from error


# ---------------------------------------------------------------- is there an answer


def is_a_kernel(case):
    """Is it a kernel of the exercise's arguments that compiles?"""
    task = case.task
    if case.kernel is None or case.kernel is Ellipsis:
        raise nothing_yet(task)
    explained(lambda: require_kernel(case.kernel, "check"))
    try:
        answer_of(packed(case.kernel))
    except Malformed as error:
        raise Refusal("refused", first_sentence(error)) from None
    mine = explained(lambda: argument_names(case.kernel))
    wanted = tuple(case.listed[0].arguments)
    if len(mine) != len(wanted):
        raise Refusal(
            "refused",
            f"The kernel takes {len(mine)} arguments, and the launch passes "
            f"{len(wanted)}: {', '.join(wanted)}.",
        )


def is_no_stub(case):
    """Did anybody change what was given?"""
    task = case.task
    changed = lines_changed(case.kernel, task.given_text)
    if changed == 0:
        raise nothing_yet(task)
    program = explained(lambda: case.program)
    if not program.written | program.read:
        raise nothing_yet(task)


def nothing_yet(task):
    verb = {"write": "Write the kernel's lines", "fix": "Find the line at fault"}
    what = verb.get(task.kind, "Change the kernel")
    return Refusal("no_answer", f"{what}, and check again.")


# ---------------------------------------------------------------- what is wrong


def names_its_lanes(case):
    """Does it wait for lanes that it names, as all of the exercise's own answers do?"""
    kernels = map(case.task.kernel, case.task.answer_texts)
    own = (replace(case, kernel=it).program.ir for it in kernels)
    if chance_masks(case.program.ir) and not any(map(chance_masks, own)):
        refuse_chance_masks(case.program.ir)


def is_right(case, trials):
    """Is nothing wrong in some trials, and, then, are the values right?"""
    outcomes = []
    for trial in trials:
        case.requires_time(trial)
        outcome = explained(partial(trial.run, case.kernel))
        try:
            refuse_faults(outcome)
        except Refusal:
            if is_right_there(case, outcome):
                raise
        else:
            outcomes.append(outcome)
    case.outcomes += outcomes
    refuse_values(case, outcomes)


def is_right_at_listed(case, kind):
    """Is it at the sizes of a kind that the exercise lists?"""
    is_right(case, [it for it in case.listed if it.kind == kind])


def is_right_beyond(case):
    """Is it at sizes that nobody can read, and beyond what its own numbers count?"""
    is_right(case, case.drawn)
    is_right(case, case.far)


# ---------------------------------------------------------------- values

# the reasons
VALUES_DIFFER = {EVEN: "wrong", **dict.fromkeys((RAGGED, SMALLER), "tail")}
VALUES_DIFFER |= dict.fromkeys((LARGER, FAR), "larger")


def refuse_values(case, outcomes):
    """Raise a Refusal if values of some outcomes differ from what is expected: of the
    first, or of the first that shows whose tail is wrong.
    """
    for outcome in outcomes:
        hold_to_own_rounding(case, outcome)
        allow_long_sums(case, outcome)
    wrong = [it for it in outcomes if differs(it) and is_right_there(case, it)]
    if not wrong:
        refuse_leftovers(case, outcomes)
        return
    outcome = next((it for it in wrong if [*past_whole_ones(it)]), wrong[0])
    for refusal in negative_indices(outcome):
        raise refusal
    difference = differs(outcome)
    empty = "were never written" in difference
    if is_constant(case) and not empty:
        same = "The output is the same for other numbers in the inputs."
        raise Refusal("constant", same)
    reason = VALUES_DIFFER[outcome.trial.kind]
    difference += causes(case, outcome)
    hints = "wrong unwritten" * (empty and reason == "wrong")
    hints = hints or "tail throughout" * (reason == "tail" and begins_wrong(outcome))
    report = "" if empty else in_numbers(outcome)
    raise Refusal(reason, f"{at_size(outcome)} {difference}", report, hints=hints)


def refuse_leftovers(case, outcomes):
    """Raise a Refusal if a kernel leaves something else than all of the exercise's own
    answers in an array of which the specification says nothing.
    """
    for outcome in outcomes:
        for name in outcome.trial.left_open:
            got = outcome.held[name]
            own = [it.held[name] for it in case.answered(outcome)]
            if not any(do_agree(got, it) for it in own):
                first = first_other(got, own[0])
                left = f"in `{name}`, the kernel leaves what no right one does: {first}"
                reason = VALUES_DIFFER[outcome.trial.kind]
                raise Refusal(reason, f"{at_size(outcome)} {left}.")


def is_constant(case) -> bool:
    """Does a kernel that loads no input give the same for inputs for which something
    else is right?
    """
    first, *others = case.outcomes[:3]  # of one size, with other numbers
    if case.program.read:
        return False
    same = all(equal(first.outputs, it.outputs) for it in others)
    return same and not equal(first.trial.expected, others[0].trial.expected)


def praise(case) -> str:
    """What the points are for."""
    met = [it for it in case.outcomes if it.trial.kind != FAR]  # by any kernel
    lacking = unheld(case.task)
    kept = [it.replace("_", " ") for it in case.task.budget if it not in lacking]
    within = f", within its budget ({', '.join(kept)})" if kept else ""
    right = f"Right in {len(met)} launches of different sizes{within}."
    if not lacking:
        return right
    return f"{right} Not checked without NVIDIA's compiler: {', '.join(lacking)}."


LOOKS = (
    is_a_kernel,
    holds_no_table,
    is_no_stub,
    brings_nothing_along,
    names_its_lanes,
    partial(is_right_at_listed, kind=EVEN),
    partial(is_right_at_listed, kind=RAGGED),  # idle threads, blocks half full
    is_right_beyond,
    keeps_its_budget,
)
