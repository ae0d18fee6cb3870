"""How many lines changed is the same for `check`, for marks and in feedback."""

from helpers.exercises.catalogue import exercise
from helpers.grading.feedback import sentence
from tests.grading.asking import marks
from tests.grading.attacks import HEAD

TASK = exercise("several_each")
STORE = "out[i] = factor * a[i]"
KERNELS = {  # what is changed in the answer, which changes two lines; and the reason
    "layout and comments": ("out[i] = (  # here\n                factor\n"
                            "                * a[i]\n            )", ""),
    "statements behind a semicolon": (
        f"{STORE}; k = k + 0; k = k + 0; k = k + 0",
        "over_budget:lines",
    ),
    "a block behind its colon": (
        "out[i] = factor * a[i] + 0\n        if i < 0: k = k + 0; k = k + 0",
        "over_budget:lines",
    ),
}  # fmt: skip


def test_lines_are_counted_alike_wherever_a_kernel_is_judged(prepared):
    """The same verdict on a kernel of a cell and on the one that was handed over."""
    prepared(TASK, "s several_each")
    for what, (change, reason) in KERNELS.items():
        text = TASK.answer_text.replace(STORE, change)
        verdict = TASK.judge(TASK.kernel(text), "s several_each")
        assert reason == (verdict.reason or ""), what

        (row,) = marks(HEAD, text, asked=["several_each"], secret="s")["exercises"]
        assert (verdict.points, reason) == (row["points"], row["reason"]), what
        assert verdict.sentence == row["sentence"]
        assert verdict.sentence in sentence(row, TASK, [])
