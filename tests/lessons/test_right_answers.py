"""Right answers that are spelt otherwise than the course's own earn all points, with
whatever numbers the judge draws: three of each exercise.
"""

from importlib import import_module
from itertools import product
from pkgutil import iter_modules

import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise
from helpers.exercises.variants import chosen_in, filled
from tests.exercises.kinds import KERNELS
from tests.lessons import right
from tests.quick import drawn, slow

MODULES = [
    import_module(f"{right.__name__}.{module.name}")
    for module in iter_modules(right.__path__)
]
TABLES = {name: texts for module in MODULES for name, texts in module.ANSWERS.items()}
VARIANTS = None, 1, 2
SEEDS = range(1, 8)
EVERY = 20  # one in so many is drawn, beside the first of each exercise
FIRST = VARIANTS[0], SEEDS[0]
CASES = [
    slow((name, *numbers)) if numbers == FIRST else drawn((name, *numbers), EVERY)
    for name in TABLES
    for numbers in product(VARIANTS, SEEDS)
]


@pytest.mark.parametrize("name, variant, seed", CASES)
def test_right_answers_of_other_shapes_earn_all_points(name, variant, seed, prepared):
    """In three variants, each with seven seeds of the judge."""
    task = prepared(exercise(name, variant), seed)
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
    edits = (chosen_in(text, task) for pair in given for text in pair)
    return sources.edited(task.answer_text, *edits)


def test_each_exercise_has_three_or_more():
    assert 3 <= min(map(len, TABLES.values()))
    assert {*KERNELS} == TABLES.keys()
