"""What is the same for all kernels may be done once, and changes no verdict."""

import pytest

from helpers.exercises import judging
from helpers.exercises.trials import Trial
from tests.exercises.judged_cases import CASES
from tests.exercises.specimen import PairSums

TASK = PairSums()
SOME = "nothing", "no barrier", "constants", "two barriers", "idle turns"


@pytest.fixture
def prepared(monkeypatch):
    """The specimen, prepared for the numbers of one seed."""
    monkeypatch.setattr(judging, "_prepared", {})
    judging.prepare(TASK, "seed")


def test_a_prepared_exercise_has_the_same_verdicts(monkeypatch, prepared):
    """Whatever was judged before on the same trials."""
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
