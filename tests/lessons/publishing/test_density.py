"""A page breathes: `lessons.publishing.density` and its limits."""

import pytest

from lessons.publishing.convert import lessons_of
from lessons.publishing.density import LIMITS, Density, density
from tests.paths import ROOT


@pytest.mark.parametrize("lesson", lessons_of(ROOT), ids=lambda it: it.stem)
def test_a_lesson_is_within_the_limits_of_a_page(lesson):
    """Few numbers in its prose, little code that measures, one idea at a time."""
    assert [] == density(lesson).over(LIMITS)


def test_asides_and_folded_cells_do_not_count(tmp_path):
    """A table, a folded answer, and a cell that only measures are no burden."""
    lesson = tmp_path / "01_add.py"
    lesson.write_text(
        "# %% [markdown]\n# # Add 1\n#\n# Two words and 12 of 3 kinds.\n# **Each "
        "thread adds one.**\n#\n# | 4 | 5 |\n#\n# <details>6 7 8</details>\n\n"
        '# %% tags=["hide-input"]\n# Measures it.\nm = measure(add)[1, 1](a)\n\n'
        "# %%\n@cuda.jit\ndef add(a):\n    a[0] += 1\n\n\ntable(['a'], [[1]])\n"
    )
    found = density(lesson)

    assert (
        Density(numbers=100 * 2 / 9, measuring=25, echoes=1, words=9, cells=1) == found
    )
