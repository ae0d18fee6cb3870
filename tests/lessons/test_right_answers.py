"""Right answers that are spelt otherwise than the course's own earn all points, with
whatever numbers the judge draws: three of each exercise.
"""

import pytest

from helpers.exercises import judging, sources
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from helpers.exercises.variants import chosen_in, filled
from tests.lessons.right import (
    blocks,
    counted,
    elements,
    found,
    ladder,
    multiplied,
    registers,
    tiles,
    turned,
)
from tests.quick import some

pytestmark = pytest.mark.slow

MODULES = (
    *(elements, registers, blocks, tiles),
    *(turned, multiplied, ladder, counted, found),
)
TABLES = {name: it for module in MODULES for name, it in module.ANSWERS.items()}
CASES = [(name, shape) for name, answers in TABLES.items() for shape in answers]
VARIANTS = None, 1, 2
SEEDS = range(20)


@pytest.mark.parametrize("name, shape", some(CASES, every=8))
def test_a_right_answer_of_another_shape_earns_all_points(name, shape):
    """In the variant of the lessons."""
    task = exercise(name)
    verdict = task.judge(task.kernel(text_of(task, shape)), 1)

    assert (task.points, None) == (verdict.points, verdict.reason), verdict.text


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_it_does_with_all_numbers(name, monkeypatch):
    """In three variants, with twenty seeds of the judge together."""
    for seed in SEEDS:
        task = exercise(name, VARIANTS[seed % 3])
        monkeypatch.setattr(judging, "_prepared", {})
        judging.prepare(task, seed)  # once for the three
        for shape in TABLES[name]:
            verdict = task.judge(task.kernel(text_of(task, shape)), seed)
            found = verdict.points, verdict.reason
            assert (task.points, None) == found, (shape, verdict.text)


def text_of(task, shape):
    """A whole text, or pairs of old and new in the answer."""
    given = TABLES[task.name][shape]
    if isinstance(given, str):
        setup = filled(task.setup, task)
        return f"{setup}\n\n\n{filled(given, task)}".lstrip()
    edits = (chosen_in(it, task) for pair in given for it in pair)
    return sources.edited(task.answer_text, *edits)


def test_each_exercise_has_three():
    kernels = {name for name, kind in exercises().items() if issubclass(kind, Write)}

    assert {3} == {len(answers) for answers in TABLES.values()}
    assert kernels == TABLES.keys()
