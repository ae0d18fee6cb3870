"""The exercises of the course: with each value of each choice, answers earn all points,
wrong ones are refused for the reason that is stated, and what is given first is told
what to do.

`make test` judges all of an exercise that a commit changes, and of others a sample.
"""

import pytest

from helpers.exercises.budgets import BUDGETS
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Fix, Predict, SpeedUp, Write
from helpers.exercises.judging import LOOKS, JudgedKernel, is_no_stub
from helpers.exercises.reasons import Reason
from helpers.exercises.verdict import Refusal
from tests.changed import changed_exercises
from tests.exercises.kinds import names_of
from tests.lessons.variants import variants_of
from tests.quick import exhaustive, slow, turn_of
from thirty_two_lanes.assembly.compiler import missing

EVERY = 16  # of the exercises that no commit changes, one in so many is quick
EVERYTHING_ELSE = [look for look in LOOKS if look is not is_no_stub]


def variants(of_kind, turn=None):
    """The name and seed of each variant of a kind of exercises.

    All of an exercise that a commit changes are quick; of the others the first one,
    where the name comes at this turn: a new exercise moves no other one's.
    """
    rows = []
    for name in names_of(of_kind):
        is_quick = turn is None or turn_of(name, EVERY) == turn
        for seed in variants_of(name):
            quick = name in changed_exercises() or is_quick and seed is None
            rows.append((name, seed) if quick else slow((name, seed)))
    return pytest.mark.parametrize("name, seed", rows)


def wrong_ones(of_kind, turn):
    """The same, each with one of its wrong answers, which the name decides. Of the
    others `make test-all` tries half, each in one variant.
    """
    rows = []
    for name in names_of(of_kind):
        wrong, seeds = [*exercises()[name].wrong], variants_of(name)
        chosen = wrong[turn_of(name, len(wrong))] if wrong else None
        is_quick = turn_of(name, EVERY) == turn
        for what in wrong:
            drawn = turn_of(f"{name} {what}", 2 * len(seeds))
            for number, seed in enumerate(seeds):
                quick = is_quick and seed is None and what == chosen
                row = name, seed, what
                if not quick and name not in changed_exercises():
                    row = slow(row) if number == drawn else exhaustive(row)
                rows.append(row)
    return pytest.mark.parametrize("name, seed, what", rows)


@variants(Write, turn=0)
def test_an_answer_earns_all_points(name, seed):
    """Those of the course are right, and within their budgets."""
    task = exercise(name, seed)

    verdict = task.judge(task.kernel(task.answer_text), 1)

    assert (verdict.points, verdict.reason) == (task.points, None), verdict.text


@variants(Write)
def test_what_is_given_is_no_error(name, seed):
    """Who has written nothing yet is told what to do."""
    task = exercise(name, seed)

    verdict = task.judge(task.kernel(task.given_text), 1)

    assert (verdict.points, verdict.reason) == (0, "no_answer"), verdict.text


@wrong_ones(Write, turn=1)
def test_a_wrong_answer_is_refused_for_its_reason(name, seed, what):
    """The one that is stated beside it."""
    task = exercise(name, seed)
    reason, text = task.wrong_texts()[what]
    if missing() and compiler_says(Reason(reason)):
        pytest.skip("NVIDIA's compiler is not here")

    verdict = task.judge(task.kernel(text), 1)

    assert verdict.reason == reason, verdict.text
    assert 3 == len(verdict.hints), f"`hints` of {name} or hints.toml lack {reason!r}"


@variants(SpeedUp, turn=2)
def test_what_is_given_to_speed_up_is_right_and_over_its_budget(name, seed):
    """Nothing but the budget is wrong with it."""
    task = exercise(name, seed)
    reason = reason_for_what_is_given(task)

    if reason or not missing():  # else only the compiler sees it
        assert str(reason).startswith("over_budget:")


@variants(Fix, turn=2)
def test_what_is_given_to_fix_runs_and_has_a_fault(name, seed):
    """One that a learner can find: it compiles, and earns less than all points."""
    task = exercise(name, seed)
    reason = reason_for_what_is_given(task)

    if reason or not missing():
        assert reason not in (None, "refused", "no_answer")


def reason_for_what_is_given(task):
    """The reason for which it loses points, apart from that nobody has changed it."""
    case = JudgedKernel(task, task.kernel(task.given_text), 1)
    try:
        for look in EVERYTHING_ELSE:
            look(case)
    except Refusal as refusal:
        return refusal.reason
    return None


def compiler_says(reason):
    """Is it a budget that only NVIDIA's compiler can hold an answer to?"""
    return reason.budget not in {"", *BUDGETS, "work"}


@variants(Predict, turn=3)
def test_a_prediction_is_judged_by_what_happens(name, seed):
    """The truth earns all points, each wrong prediction fewer, and none is no error."""
    task = exercise(name, seed)
    truth = task.truth()
    names = truth if isinstance(truth, dict) else [""]

    assert isinstance(task.why, str) or set(names) == {*task.why}
    assert not task.tolerance or f"{task.tolerance} more or less" in task.task
    assert task.why, f"{name} does not say why a prediction is wrong"
    assert task.judge(truth).points == task.points
    assert task.judge(None).reason == "no_answer"
    for what, wrong in task.wrong.items():
        verdict = task.judge(wrong(task))
        assert (verdict.reason, what) == ("wrong", what)
        assert verdict.points < task.points
        assert 3 == len(verdict.hints)
