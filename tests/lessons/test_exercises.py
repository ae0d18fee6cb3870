"""The exercises of the course: in three variants, answers earn all points, wrong ones
are refused for the reason that is stated, and what is given first is told what to do.
"""

import pytest

from helpers.exercises.budgets import BUDGETS
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Explain, Fix, Predict, SpeedUp, Write
from helpers.exercises.judging import LOOKS, Case, is_no_stub
from helpers.exercises.reasons import REASONS
from helpers.exercises.verdict import Refusal
from tests.quick import slow
from thirty_two_lanes.assembly.compiler import missing

SEEDS = (None, 1, 2)
FEWEST_WRONG = 6
PART = 12  # of the wrong answers, since each takes a sixth of a second
EVERYTHING_ELSE = [look for look in LOOKS if look is not is_no_stub]


def variants(of_kind, in_turn=False):
    """The name and seed of each exercise's variants, those that are the same once.

    One exercise in three is quick, in its first variant. `in_turn` takes another third,
    and adds which answers to judge: one in `PART`, and in slow tests all.
    """
    found = {}
    for name, kind in exercises().items():
        for seed in SEEDS if issubclass(kind, of_kind) else ():
            chosen = repr(exercise(name, seed).chosen)
            found.setdefault(name, {}).setdefault(chosen, seed)
    if not in_turn:
        rows = []
        for turn, (name, seeds) in enumerate(found.items()):
            first, *others = ((name, seed) for seed in seeds.values())
            rows += [slow(first) if turn % 3 else first, *map(slow, others)]
        return pytest.mark.parametrize("name, seed", rows)
    rows = []
    for turn, (name, seeds) in enumerate(found.items()):
        for seed in seeds.values():
            rows.append(slow((name, seed, slice(None))))
        if turn % 3 == 1:
            rows.append((name, next(iter(seeds.values())), slice(0, None, PART)))
    return pytest.mark.parametrize("name, seed, some", rows)


@variants(Write)
def test_an_answer_earns_all_points_and_what_is_given_is_no_error(name, seed):
    """The one is right, and the other is told what to do."""
    task = exercise(name, seed)

    answer = task.judge(task.kernel(task.answer_text), 1)
    given = task.judge(task.kernel(task.given_text), 1)

    assert (answer.points, answer.reason) == (task.points, None), answer.text
    assert (given.points, given.reason) == (0, "no_answer"), given.text


@variants(Write, in_turn=True)
def test_a_wrong_answer_is_refused_for_its_reason(name, seed, some):
    """Some in the first variant, and each in all of them where there is time."""
    task = exercise(name, seed)
    texts = [*task.wrong_texts().items()][some]
    told = {
        what: (reason, task.judge(task.kernel(text), 1))
        for what, (reason, text) in texts
        if not (missing() and compiler_says(reason))
    }
    other = {
        what: (wanted, verdict.text)
        for what, (wanted, verdict) in told.items()
        if verdict.reason != wanted
    }
    assert other == {}


@variants(SpeedUp)
def test_what_is_given_to_speed_up_is_right_and_over_its_budget(name, seed):
    """Nothing but the budget is wrong with it."""
    task = exercise(name, seed)
    reason = reason_for_what_is_given(task)

    if reason or not missing():  # else only the compiler sees it
        assert str(reason).startswith("over_budget:")


@variants(Fix)
def test_what_is_given_to_fix_runs_and_has_a_fault(name, seed):
    """One that a learner can find: it compiles, and earns less than all points."""
    task = exercise(name, seed)
    reason = reason_for_what_is_given(task)

    if reason or not missing():
        assert reason not in (None, "refused", "no_answer")


def reason_for_what_is_given(task):
    """The reason for which it loses points, apart from that nobody has changed it."""
    case = Case(task, task.kernel(task.given_text), 1)
    try:
        for look in EVERYTHING_ELSE:
            look(case)
    except Refusal as refusal:
        return refusal.reason
    return None


def compiler_says(reason):
    """Is it a budget that only NVIDIA's compiler can hold an answer to?"""
    word, _, name = reason.partition(":")
    return word == "over_budget" and name not in {*BUDGETS, "work"}


@variants(Predict)
def test_a_prediction_is_judged_by_what_happens(name, seed):
    """The truth earns all points, each wrong prediction fewer, and none is no error."""
    task = exercise(name, seed)
    truth = task.truth()

    assert task.judge(truth).points == task.points
    assert task.judge(None).reason == "no_answer"
    for what, wrong in task.wrong.items():
        verdict = task.judge(wrong(task))
        assert (verdict.reason, what) == ("wrong", what)
        assert verdict.points < task.points


@pytest.mark.parametrize("name", exercises())
def test_a_description_is_complete(name):
    """Six wrong kernels, three wrong predictions, points of the rubric that add up,
    reasons that exist.
    """
    task = exercise(name)
    if isinstance(task, Explain):
        assert sum(task.rubric.values()) == task.points
        return
    fewest = 3 if isinstance(task, Predict) else FEWEST_WRONG
    assert len(task.wrong) >= fewest
    assert repr(task).count("\n") >= 1
    if isinstance(task, Write):
        reasons = {told[0].partition(":")[0] for told in task.wrong.values()}
        assert reasons <= REASONS.keys()
        assert len(task.even) and len(task.ragged)


@pytest.mark.parametrize("name", exercises())
def test_a_choice_hides_nothing_of_its_exercise(name):
    """One called `kind` would be told to readers as the kind of exercise."""
    kind = exercises()[name]
    assert [] == [it for it in kind.choices if hasattr(kind, it)]
