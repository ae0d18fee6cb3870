"""What must not cost points, and what must not cost time: numbers that are drawn, good
answers of another shape, long loops, tables, what is the same for all kernels.
"""

import pytest

from helpers.exercises import judging
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.trials import Trial
from helpers.exercises.verdict import Refusal
from tests.changed import of_exercises
from tests.exercises.judged_cases import CASES
from tests.exercises.kinds import KERNELS
from tests.exercises.specimen import PairSums

SHAPES = [
    (name, what) for name in KERNELS for what in exercises()[name].others
]


@pytest.mark.parametrize("name, what", of_exercises(SHAPES))
def test_a_good_answer_of_another_shape_earns_all_points(name, what, monkeypatch):
    """And would lose some, were it not listed: else it would not have to be."""
    task = exercise(name)
    _, *others = task.answer_texts
    kernel = task.kernel(others[[*task.others].index(what)])

    assert None is task.judge(kernel, 1).reason
    monkeypatch.setattr(type(task), "others", {})
    assert task.judge(kernel, 1).reason.budget


@pytest.mark.parametrize("always", [False, True])
def test_what_is_over_budget_with_some_numbers_alone_costs_nothing(always, monkeypatch):
    asked = []

    def look(case):
        asked.append(case.seed)
        if always or len(asked) == 1:
            raise Refusal("over_budget:loads", "Too many.")

    monkeypatch.setattr(judging, "LOOKS", (look,))
    task = PairSums()

    verdict = task.judge(task.kernel(task.answer_text), 1)

    assert (2, 2 if always else 4) == (len({*asked}), verdict.points)


def test_a_check_ends_when_its_launches_take_too_long(monkeypatch):
    """Before a launch, which is named."""
    monkeypatch.setattr(judging, "SECONDS", -1)
    task = PairSums()

    verdict = task.judge(task.kernel(task.answer_text), 1)

    assert ("timeout", 0) == (verdict.reason, verdict.points)
    assert "before the launch with size 256" in " ".join(verdict.sentence.split())


@pytest.mark.parametrize("items, refused", [(256, False), (257, True)])
def test_a_large_tuple_is_refused_before_it_is_compiled(items, refused, monkeypatch):
    """Typing one of some thousand numbers takes minutes."""
    task = PairSums()
    monkeypatch.setattr(judging.JudgedKernel, "program", property(lambda case: 1 / 0))
    table = f"TABLE = {tuple(range(items))}\n\n\n{task.answer_text}"
    text = table.replace("t, i = cuda", "zero = TABLE[0]\n    t, i = cuda")
    case = judging.JudgedKernel(task, task.kernel(text), 1)

    if not refused:
        return judging.holds_no_table(case)
    with pytest.raises(Refusal, match=f"a tuple of {items} numbers"):
        judging.holds_no_table(case)


# ---------------------------------------------------------------- done once

TASK = PairSums()
SOME = "nothing", "no barrier", "constants", "two barriers", "idle turns"


@pytest.mark.slow
def test_a_prepared_exercise_has_the_same_verdicts(monkeypatch, prepared):
    """Whatever was judged before on the same trials."""
    prepared(TASK, "seed")
    kernels = [TASK.kernel(text_of(*CASES[name][1])) for name in SOME]
    found = [judging.judge(TASK, it, "seed") for it in kernels * 2]
    assert len({it.reason for it in found}) == len(SOME)

    monkeypatch.setattr(judging, "_prepared", {})
    assert [judging.judge(TASK, it, "seed") for it in kernels] * 2 == found


def text_of(*changes) -> str:
    """The answer with pairs of old and new."""
    text = TASK.answer_text
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        text = text.replace(old, new, 1)
    return text


def test_the_answer_is_launched_once_for_all(monkeypatch, prepared):
    """On these numbers: on others it is launched again."""
    prepared(TASK, "seed")
    mine = TASK.kernel(text_of() + "    # in other words")
    launched, run = set(), Trial.run

    def noted(trial, kernel):
        launched.add(kernel)
        return run(trial, kernel)

    monkeypatch.setattr(Trial, "run", noted)
    assert 4 == judging.judge(TASK, mine, "seed").points
    assert {mine} == launched
    assert 4 == judging.judge(TASK, mine, "another").points
    assert {mine, TASK.kernel(TASK.answer_text)} == launched
