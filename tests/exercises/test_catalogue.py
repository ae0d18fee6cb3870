"""Exercises are found by name, in the packages of all courses, and no two have one."""

import sys
from importlib.metadata import EntryPoint

import pytest

from helpers.exercises import catalogue
from thirty_two_lanes.core.errors import ArgumentError

TEXT = """
from helpers.exercises.exercise import Explain

class {}(Explain):
    "Say why."
    points, rubric, model = 1, {{"why": 1}}, "Since it is so, and nothing else is."
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Installs modules of exercises, by their names and their classes' names."""
    monkeypatch.syspath_prepend(tmp_path)
    catalogue.exercises.cache_clear()

    def installed(**modules):
        points = []
        for name, kind in modules.items():
            (tmp_path / f"{name}.py").write_text(TEXT.format(kind))
            points.append(EntryPoint(name, name, catalogue.GROUP))
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(catalogue, "entry_points", lambda group: points)

    yield installed
    catalogue.exercises.cache_clear()


def test_the_exercises_of_several_courses_are_found_by_name(course):
    """Each course is a module or a package of its own."""
    course(first_course="RowArgmax", second_course="RowSums")
    assert ["row_argmax", "row_sums"] == [*catalogue.exercises()]


def test_two_exercises_of_one_name_are_an_error_that_names_both_files(course):
    """Else the second would be asked for, and marked, in the place of the first."""
    course(first_course="RowArgmax", second_course="RowArgmax")
    with pytest.raises(ArgumentError) as caught:
        catalogue.exercise("row_argmax")
    assert str(caught.value) == (
        "two exercises are called `row_argmax`: `RowArgmax` of first_course.py and "
        "`RowArgmax` of second_course.py; give one of the classes another name"
    )
