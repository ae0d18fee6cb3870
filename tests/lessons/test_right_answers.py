"""Right answers that are spelt otherwise than the course's own earn all points, with
whatever numbers the judge draws: three of each exercise that the tables have so far.
"""

import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from helpers.exercises.variants import chosen_in, filled
from tests.lessons.right import blocks, elements, registers, tiles
from tests.quick import some

pytestmark = pytest.mark.slow

TABLES = elements.ANSWERS | registers.ANSWERS | blocks.ANSWERS | tiles.ANSWERS
CASES = [(name, shape) for name, answers in TABLES.items() for shape in answers]
VARIANTS = None, 1, 2
SEEDS = range(20)
WITHOUT = """
    attention calendar channels_last column_sums distance_matrix fahrenheit
    four_by_four four_rows in_place layer_norm letters no_float64 product
    remainders row_by_row running_totals scan_fours sixteen_at_once spread
    symmetric times_transposed two_rows two_steps upside_down walk_down weighted
    wide_distance wide_tile wide_turn
"""


@pytest.mark.parametrize("name, shape", some(CASES, every=8))
def test_a_right_answer_of_another_shape_earns_all_points(name, shape):
    """In the variant of the lessons."""
    task = exercise(name)
    verdict = task.judge(task.kernel(text_of(task, shape)), 1)

    assert (task.points, None) == (verdict.points, verdict.reason), verdict.text


@pytest.mark.slow
@pytest.mark.parametrize("name, shape", CASES)
def test_it_does_with_all_numbers(name, shape):
    """In three variants, with twenty seeds of the judge together."""
    for seed in SEEDS:
        task = exercise(name, VARIANTS[seed % 3])
        verdict = task.judge(task.kernel(text_of(task, shape)), seed)
        assert (task.points, None) == (verdict.points, verdict.reason), verdict.text


def text_of(task, shape):
    """A whole text, or pairs of old and new in the answer."""
    given = TABLES[task.name][shape]
    if isinstance(given, str):
        setup = filled(task.setup, task)
        return f"{setup}\n\n\n{filled(given, task)}".lstrip()
    edits = (chosen_in(it, task) for pair in given for it in pair)
    return sources.edited(task.answer_text, *edits)


def test_each_exercise_has_three_or_is_named():
    """Those of later lessons have none so far."""
    kernels = {name for name, kind in exercises().items() if issubclass(kind, Write)}

    assert {3} == {len(answers) for answers in TABLES.values()}
    assert TABLES.keys() <= kernels
    assert {*WITHOUT.split()} == kernels - TABLES.keys()
