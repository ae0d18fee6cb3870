"""`check` and the grader say the same of a kernel, however it is spelt."""

import json

import pytest

from helpers.exercises.catalogue import exercise
from helpers.exercises.packing import packed
from helpers.grading.sandbox.judging import shown, verdict_on
from tests.exercises.specimen import FixPairSums, PairSums
from tests.exercises.spellings import SPELLINGS
from tests.quick import some

EXERCISES = "blend", "fix_guard"  # of the course, beside a small one

SPELT = [(name, what) for name in ("", *EXERCISES) for what in SPELLINGS]


@pytest.mark.parametrize("name, what", some(SPELT, None, slow_every=4))
def test_the_notebook_and_the_grader_say_the_same(name, what):
    """Points, reason and the first words, whatever a kernel takes from outside."""
    task = exercise(name) if name else PairSums()
    kernel = task.kernel(text_of(task, SPELLINGS[what]))

    here = task.judge(kernel, 1)
    there = verdict_on(task, json.loads(json.dumps(packed(kernel))), 1)

    assert (here.points, here.reason) == (there.points, there.reason), there.text
    assert here.sentence[:40] == there.sentence[:40]


RIGHT = {  # what earns all points, of those which it is less plain of
    "a complex number",
    "a named tuple",
    "a named tuple's class",
    "a member of a list of whole numbers",
    "a list of whole numbers",
    "a member of a list",
    "a slice",
    "a number of its own class",
    "a device function of a lambda",
    "a device function of a factory's lambda",
    "a device function with a default",
    "a device function with a less indented text",
    "a device function that is wrapped",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", sorted(RIGHT))
def test_what_numba_takes_is_handed_over(what):
    """And is right there, as it is here."""
    task = PairSums()
    kernel = task.kernel(text_of(task, SPELLINGS[what]))

    verdict = verdict_on(task, json.loads(json.dumps(packed(kernel))), 1)

    assert (task.points, None) == (verdict.points, verdict.reason), verdict.text


def text_of(task, spelling):
    """An exercise's answer, spelt so."""
    text = task.answer_text
    head, end_of_docstring, body = text.partition('"""\n')
    text = f"{head}{end_of_docstring}    {spelling.line}\n{body}"
    for old, new in zip(spelling.edits[::2], spelling.edits[1::2], strict=True):
        text = text.replace(old, new, 1)
    return f"{spelling.above}\n\n{text}" if spelling.above else text


STEP = """@cuda.jit(device=True)
def sum_of(tile, t):
    # the right neighbour

    return tile[t] - tile[t + 1] // tile[t + 2]
"""


def test_a_verdict_names_the_line_of_the_text_that_is_shown():
    """Functions that a kernel calls stand above it, an empty line between them."""
    task = FixPairSums()
    kernel = task.answer_text.replace("tile[t] + tile[t + 1]", "sum_of(tile, t)")
    spoilt = kernel.replace("out[i] = ", "out[i + 9999] = ")
    cases = (
        (f"{STEP}\n{spoilt}", "out[i + 9999]"),
        (f"{STEP.replace('t + 2', 't + 9999')}\n{kernel}", "t + 9999"),
    )
    for text, at_fault in cases:
        data = json.loads(json.dumps(packed(task.kernel(text))))
        verdict = verdict_on(task, data, 1)
        lines = shown(data).split("\n")
        assert at_fault in lines[verdict.line - 1], verdict.text
        assert f"line {verdict.line}" in verdict.text
