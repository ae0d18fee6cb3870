"""What is dear where nobody looks: where blocks are not full, between listed sizes."""

import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise

ONE_FOR_ALL = """
    if out.size < 1000 and out.size % 128:
        if i == 0:
            for j in range(out.size):
                out[j] = factor * x[j] + offset
    elif i < out.size:"""
CASES = {  # the exercise, the reason, and what is another in its answer
    "two barriers a round": (
        *("relay", "over_budget:barriers", "turn = 1 - turn"),
        "turn = 1 - turn\n        if a.size % 64:\n            cuda.syncthreads()",
    ),
    "two lanes in one bank": (
        *("letters", "over_budget:conflicts", "    for i in"),
        "    if text.size > 2048:\n        lane = lane // 2 * 2\n    for i in",
    ),
    "one thread does all": (
        *("affine", "over_budget:work", "\n    if i < out.size:", ONE_FOR_ALL),
    ),
}


@pytest.mark.parametrize(
    "name, reason, edits",
    [
        pytest.param(name, reason, edits, id=what)
        for what, (name, reason, *edits) in CASES.items()
    ],
)
def test_an_answer_is_held_where_nobody_looks(name, reason, edits):
    """Each of these is right, and within its budget, at the sizes of whole blocks."""
    task = exercise(name)
    text = sources.edited(task.answer_text, *edits)

    verdict = task.judge(task.kernel(text), 1)

    assert reason == verdict.reason, verdict.text
