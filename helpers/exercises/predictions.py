"""The judges of what is no kernel: predictions, and answers in words."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from sys import float_info

import numpy as np

from helpers.exercises.reasons import NO_ANSWER, WRONG
from helpers.exercises.variants import filled
from helpers.exercises.verdict import Verdict
from thirty_two_lanes.core.errors import ArgumentError, shown

FEWEST_WORDS = 8
NEAR = 0.01  # of a float, where an exercise does not say how near a prediction must be
ROUNDED = 4 * float_info.epsilon  # 0.76 - 0.75 is more than 0.01


def judge(task, answer) -> Verdict:
    """The verdict on a prediction: the share of what is right of it, as points."""
    truth = task.truth()
    if empty(answer):
        sentence = "Predict, and check again."
        return Verdict(task.name, 0, task.points, sentence, NO_ANSWER)
    if not isinstance(truth, dict):
        truth, answer = {"": truth}, {"": answer}
    if not isinstance(answer, Mapping) or not answer.keys() <= truth.keys():
        raise ArgumentError(
            f"`{task.name}` asks for a dictionary with the keys "
            f"{', '.join(map(repr, truth))}, not {shown(answer)}"
        )
    right = [
        name
        for name in truth
        if not empty(answer.get(name)) and agrees(answer[name], truth[name], task)
    ]
    if len(right) == len(truth):
        return Verdict(task.name, task.points, task.points, "As predicted.")
    key = "wrong" if "wrong" in task.hints else "wrong prediction"
    missed = [name for name in truth if name not in right]
    differ = "differs" if len(missed) == 1 else "differ"
    why = [*no_numbers(answer, truth, missed), *why_of(task, missed)]
    which = f" ({', '.join(map(str, missed))})" if missed != [""] else ""
    many = f"{len(missed)} of {len(truth)} predictions" if which else "The prediction"
    return Verdict(
        task.name,
        task.points * len(right) / len(truth) * task.partial,
        task.points,
        " ".join([f"{many} {differ} from what happens{which}.", *why]),
        WRONG,
        hints=task.hints_for(key),
    )


def no_numbers(answer, truth, names):
    """A sentence on each prediction that is no number where one happens."""
    for name in names:
        told = plain_number(answer.get(name))
        is_number = isinstance(told, Number) and not isinstance(told, bool)
        wanted = isinstance(truth[name], Number) and not isinstance(truth[name], bool)
        if wanted and not is_number and not empty(told):
            yield f"{shown(told)} is no number."


def why_of(task, names):
    """Why the first of some predictions is another, as the exercise says."""
    if isinstance(task.why, str):
        return [filled(task.why, task)] * bool(task.why)
    first = next((it for it in names if it in task.why), None)
    return [] if first is None else [f"`{first}`: {filled(task.why[first], task)}"]


def empty(answer):
    """Has nobody predicted anything?"""
    if isinstance(answer, Mapping):
        return all(empty(it) for it in answer.values())
    if isinstance(answer, str):
        return not answer
    return answer is None or answer is Ellipsis


def agrees(answer, truth, task) -> bool:
    """Is a prediction right? Words must be one of the exercise's options."""
    if isinstance(truth, str):
        if not isinstance(answer, str) or answer not in task.options:
            known = ", ".join(map(repr, task.options))
            raise ArgumentError(
                f"`{task.name}` asks for one of {known}, not {shown(answer)}"
            )
        return answer == truth
    answer, truth = map(plain_number, (answer, truth))
    if isinstance(answer, bool) != isinstance(truth, bool):
        return False
    try:
        near = task.tolerance or NEAR * abs(truth) * isinstance(truth, float)
        rounded = ROUNDED * abs(truth) * bool(near)
        right = isinstance(answer, Number)
        return right and 0 <= abs(answer - truth) <= near + rounded
    except (TypeError, OverflowError):  # numbers that are no floats, as 10**400
        return False


def plain_number(value):
    """A number of NumPy's, which would wrap, as Python's; so is an array of no axis. A
    Decimal, which Python compares with no float, as a fraction.
    """
    if isinstance(value, Decimal) and value.is_finite():
        return Fraction(value)
    is_one = isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0
    return value.item() if is_one else value


def accepted(task, answer) -> Verdict:
    """The verdict on an answer in words: a person marks it, unless there is none."""
    if not isinstance(answer, str) or len(answer.split()) < FEWEST_WORDS:
        sentence = "Answer in two sentences, and check again."
        return Verdict(task.name, 0, task.points, sentence, NO_ANSWER)
    return Verdict(task.name, None, task.points, "Kept as you wrote it.")
