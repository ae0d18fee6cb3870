"""Each notebook, run from top to bottom by a real kernel that sees no GPU."""

import os

import nbformat
import pytest

from lessons.build import ROOT, notebook_problems, problems_beside_lessons
from lessons.publishing.convert import lessons_of, notebook_path
from tests.specimens.lesson_runs import WHOLE, run_of

LESSONS = lessons_of(ROOT)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda it: it.stem)


@each_lesson
def test_a_notebook_runs_with_no_gpu_and_is_what_a_build_writes(lesson, fonts):
    """Each cell ends without a warning and gives the committed texts again."""
    run = run_of(lesson)

    assert ("", []) == (run.error, run.faults)
    assert [] == notebook_problems(ROOT, notebook_path(ROOT, lesson), run.notebook)


@pytest.mark.slow  # they are the answers that the tests of exercises judge
@each_lesson
def test_a_folded_solution_passes_where_its_stub_is_refused(lesson, fonts):
    """In the notebook itself, with the names that its cells have left."""
    assert os.environ[WHOLE]
    assert "" == run_of(lesson).error


def test_the_rest_of_a_build_is_in_step():
    """The README's table, the glossary, and no notebook without a lesson:
    `python -m lessons.build` writes them.
    """
    assert [] == problems_beside_lessons(ROOT, LESSONS, check=True)


@each_lesson
def test_a_figure_has_a_text_alternative_and_a_caption(lesson):
    """Who cannot see a figure reads what it shows; who can reads how to look at it."""
    cells = nbformat.read(notebook_path(ROOT, lesson), as_version=4).cells

    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        for figure in figures(cell):
            assert figure.metadata.get("image/png", {}).get("alt"), cell.source
            assert "text/plain" in figure.data, cell.source
            assert following and following.cell_type == "markdown", cell.source


def figures(cell):
    """The outputs of a cell that are images."""
    outputs = cell.get("outputs", [])
    return [each for each in outputs if "image/" in str(each.get("data", {}).keys())]
