"""An exercise's tolerance is no room for another answer: what counts is what rounding
does to its own.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise
from helpers.exercises.trials import EVEN, FAR
from helpers.exercises.values import agreed, allow_long_sums
from tests.exercises.kinds import KERNELS

OFF = {  # by less than the exercise's tolerance
    "n_body": ("pull = mass", "pull = float32(1.00005) * mass"),
    "attention": ("whole += weights[key]", "whole += weights[key] * float32(1.0005)"),
    "softmax": ("/ total", "/ (total * float32(1.0005))"),
    "layer_norm": ("+ float32(0.5)", "+ float32(0.502)"),
}
WITH_TOLERANCE = [name for name in KERNELS if exercise(name).rtol is not None]


def test_each_exercise_with_a_tolerance_is_here():
    assert {*OFF} == {*WITH_TOLERANCE}


@pytest.mark.parametrize("name", OFF)
@pytest.mark.parametrize("seed", [1, 2])
def test_who_is_off_by_less_than_the_tolerance_is_refused(name, seed):
    task = exercise(name)
    text = sources.edited(task.answer_text, *OFF[name])

    assert task.judge(task.kernel(text), seed).reason in ("wrong", "tail")


@pytest.mark.parametrize("name", OFF)
def test_who_is_off_by_a_few_last_bits_is_not(name):
    task = exercise(name)
    old, new = OFF[name]
    new = new.replace("1.00005", "1.0000005").replace("1.0005", "1.0000005")
    new = new.replace("0.502", "0.50000006")
    text = sources.edited(task.answer_text, old, new)

    assert task.judge(task.kernel(text), 1).reason is None


def outcome(kind, value):
    """Of a sum that is to be 1,700.1 and one that is to be 7."""
    expected = {"y": np.array([1700.1, 7], np.float32)}
    trial = SimpleNamespace(
        kind=kind, expected=expected, arguments={"y": None}, rtol=lambda name: None
    )
    outputs = {"y": np.array([value, 7], np.float32)}
    return SimpleNamespace(trial=trial, outputs=outputs, allowed={})


@pytest.mark.parametrize(
    "kind, value, is_right",
    [(FAR, 1700.3, True), (FAR, 1712, False), (EVEN, 1700.3, False)],
)
def test_a_long_sum_may_be_off_as_the_answers_own_is(kind, value, is_right):
    """Its own, 1,700.0, is off by more than `check` allows; at listed sizes none is."""
    found = outcome(kind, value)
    case = SimpleNamespace(answered=lambda it: [outcome(kind, 1700.0)])

    allow_long_sums(case, found)

    assert is_right == agreed(found, "y").all()
