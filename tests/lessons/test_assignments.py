"""Assignments and solutions: what is in them, what a check of them finds, and that both
run from top to bottom.
"""

import re
import shutil
from functools import cache
from pathlib import Path

import nbformat
import pytest

from helpers.exercises.exercise import Explain, Write
from lessons.build import (
    ROOT,
    assignment_problems,
    built,
    main,
    notebook_problems,
    solution_page,
    strays,
)
from lessons.publishing.assignments import (
    answered,
    assignment,
    assignment_path,
    exercise_files,
    kinds_of,
    text_of_answer,
    with_exercises,
)
from lessons.publishing.convert import convert, lessons_of
from lessons.publishing.execute import complete, execute

LESSONS = with_exercises(ROOT, lessons_of(ROOT))
STEM = "12_coalescing"
KINDS = "assignments", "solutions"
KEYS = {*"schema_version grade_id cell_type grade locked solution task".split()}
STARRED = re.compile(r'^(★+) `(?:exercise\(")?(\w+)(?:"\))?`:', re.MULTILINE)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda it: it.stem)


def tasks_of(lesson):
    """The exercises of a lesson, in the order of their notebook."""
    files = exercise_files(ROOT, lesson)
    return [kind() for file in files for kind in kinds_of(file)]


def cells_of(notebook):
    """The cells by their ids, which are their names in nbgrader, too."""
    return {cell.id: cell for cell in notebook.cells}


@cache
def made(lesson, solved=False):
    """An assignment that tests only read."""
    return assignment(ROOT, lesson, solved=solved)


@each_lesson
def test_an_assignment_gives_no_answer_away(lesson):
    """Nothing but what is given stands in its cells, and nothing has been run."""
    notebook = made(lesson)
    shown = "\n".join(cell.source for cell in notebook.cells)

    for task in tasks_of(lesson):
        given = cells_of(notebook)[f"{task.name}-answer"].source
        if isinstance(task, Write):
            assert task.given_text == given
            assert task.answer_text not in shown
        elif isinstance(task, Explain):
            assert f'{task.name} = """\n\n"""' == given
            assert not any(point in shown for point in task.rubric)
        else:
            assert "..." in given
            assert not re.search(r": (?!\.\.\.)", given)
    assert not any(cell.get("outputs") for cell in notebook.cells)


@each_lesson
def test_a_lesson_names_exercises_that_its_assignment_has(lesson):
    """What it gives and folds is the exercise's own; it says how many there are."""
    tasks = {task.name: task for task in tasks_of(lesson)}
    text = "\n\n".join(cell.source for cell in convert(lesson).cells)
    name = re.search(r'^task = exercise\("(\w+)"\)$', text, re.MULTILINE)[1]
    task = tasks[name]

    given, answer = (text_of_answer(task, solved).rstrip() for solved in (False, True))
    assert f"{given}\n\n\ntask.check({answered(task)})" in text
    assert f"```python\n{answer}\n```" in text
    assert set(re.findall(r'exercise\("(\w+)"\)', text)) <= tasks.keys()
    for stars, named in STARRED.findall(text):
        assert len(stars) == tasks[named].stars, named
    assert f"(assignments/{lesson.stem}.ipynb) has {len(tasks)} exercises" in text


@each_lesson
def test_nbgrader_knows_each_cell_and_all_points(lesson):
    """Statements and checks are locked, answers are not; points add up."""
    tasks = tasks_of(lesson)
    cells = cells_of(made(lesson, solved=True))
    marked = {
        name: cell.metadata.nbgrader
        for name, cell in cells.items()
        if "nbgrader" in cell.metadata
    }

    assert 3 * len(tasks) == len(marked)
    assert sum(it.points for it in tasks) == sum(
        it["points"] for it in marked.values() if it["grade"]
    )
    for name, it in marked.items():
        assert KEYS == it.keys() - {"points"}
        assert it["grade"] == ("points" in it)
        assert (name, cells[name].cell_type) == (it["grade_id"], it["cell_type"])
        assert it["locked"] != it["solution"] == name.endswith("-answer")


@each_lesson
def test_an_assignment_has_the_cells_of_its_solution(lesson):
    """What a course releases and what it is graded by differ in answers alone."""
    given, solved = (made(lesson, solved=it) for it in (False, True))
    given, solved = cells_of(given), cells_of(solved)

    assert given.keys() == {it for it in solved if not it.endswith("-rubric")}
    differ = {it for it in given if given[it].source != solved[it].source}
    assert {f"{it.name}-answer" for it in tasks_of(lesson)} | {"intro"} == differ


@each_lesson
def test_links_lead_to_notebooks(lesson):
    """From notebooks/assignments/, and from work/assignments-2027/ as well."""
    for solved in (False, True):
        intro = made(lesson, solved=solved).cells[0].source

        assert [lesson.stem] == re.findall(r"\]\(\.\./(\w+)\.ipynb\)", intro)


@pytest.mark.slow
@each_lesson
def test_a_solution_earns_all_points_and_is_what_a_build_writes(lesson):
    """Run anew, it shows the committed texts again."""
    page = solution_page(ROOT, lesson)

    notebook = complete(built(ROOT, page, Silent()))

    assert [] == notebook_problems(ROOT, page.place, notebook)
    cells = cells_of(notebook)
    for task in tasks_of(lesson):
        (output,) = cells[f"{task.name}-check"].outputs
        assert output.text.startswith(f"✓ {task.name}: {task.points:g} ")


class Silent:
    """A progress that nobody sees."""

    def show(self, page, state):
        pass


@pytest.mark.slow
@each_lesson
def test_an_assignment_runs_unsolved(lesson):
    """Each check says what to do, and none raises: "Run all" comes to the end."""
    notebook = assignment(ROOT, lesson)

    complete(execute(notebook, ROOT))

    cells = cells_of(notebook)
    for task in tasks_of(lesson):
        (output,) = cells[f"{task.name}-check"].outputs
        assert output.text.startswith(f"… {task.name}: 0 of ")


EXERCISES = '''
from helpers.exercises.exercise import Predict


class HowMany(Predict):
    """How many $things are there?"""

    choices = {"things": ("lanes", "threads")}

    def truth(self):
        return 32
'''


@pytest.fixture
def course(tmp_path):
    """A course of one lesson with one exercise, of which nothing is built."""
    root = tmp_path / "course"
    (root / "lessons/exercises").mkdir(parents=True)
    for package in ("lessons", "lessons/exercises"):  # where a kernel looks first
        (root / package / "__init__.py").touch()
    shutil.copy(ROOT / f"lessons/{STEM}.py", root / "lessons")
    (root / f"lessons/exercises/{STEM}.py").write_text(EXERCISES, "utf-8")
    return root


@pytest.mark.slow
def test_a_variant_goes_to_work_with_its_seed(course):
    """A second build writes the same bytes; the course's own notebooks stay away."""
    assert 0 == main(["--assignments", "--seed", "2027"], course)
    written = [course / f"work/{it}-2027/{STEM}.ipynb" for it in KINDS]
    before = [it.read_bytes() for it in written]

    assert 0 == main(["--assignments", "--seed", "2027"], course)

    assert before == [it.read_bytes() for it in written]
    assert not (course / "notebooks").exists()
    given, solved = (cells_of(nbformat.read(it, as_version=4)) for it in written)
    assert "how_many = ..." == given["how_many-answer"].source
    assert "how_many = 32" == solved["how_many-answer"].source
    check = 'task = exercise("how_many", seed=2027)\ntask.check(how_many)'
    assert [check] * 2 == [it["how_many-check"].source for it in (given, solved)]


@pytest.mark.slow
def test_a_check_compares_sources_and_when_asked_outputs(course, capsys):
    """What a solution shows is compared where assignments are asked for."""
    main(["--assignments"], course)
    given, solved = (course / f"notebooks/{it}/{STEM}.ipynb" for it in KINDS)
    replace(given, "How many lanes", "How few lanes")
    replace(solved, "2 of 2 points", "1 of 2 points")
    capsys.readouterr()

    assert 1 == main(["--assignments", "--check"], course)

    said = capsys.readouterr().err
    assert f"notebooks/assignments/{STEM}.ipynb, the text `## how_many ★`:" in said
    assert f"notebooks/solutions/{STEM}.ipynb, cell [3]:" in said
    quick = quick_check(course)
    assert [True, False] == ["/assignments/" in quick, "/solutions/" in quick]
    replace(solved, "how_many = 32", "how_many = 33")
    assert f"notebooks/solutions/{STEM}.ipynb, cell [2]:" in quick_check(course)


def quick_check(course) -> str:
    """What a check of everything says of assignments: it runs no solution."""
    return "\n".join(assignment_problems(course, lessons_of(course), check=True))


def replace(file, old, new):
    """Change a file by hand."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.slow
def test_an_assignment_without_a_lesson_is_removed(course):
    """And one without exercises."""
    main(["--assignments"], course)
    for kind in KINDS:
        here = assignment_path(course, Path(STEM), kind)
        shutil.copy(here, here.with_name("99_nothing.ipynb"))

    found = strays(course, lessons_of(course), check=True)
    strays(course, lessons_of(course), check=False)

    names = [f"notebooks/{it}/99_nothing.ipynb has no lesson" for it in KINDS]
    assert names == found
    assert 2 == len(list((course / "notebooks").rglob("*.ipynb")))


@pytest.mark.parametrize("words", [["--seed", "7"], ["--assignments", "--seed", "a/b"]])
def test_a_seed_is_for_assignments_and_a_part_of_a_name(course, words, capsys):
    """Anything else is refused in a sentence."""
    with pytest.raises(SystemExit):
        main(words, course)

    assert re.search(
        "goes with --assignments|a number or a word", capsys.readouterr().err
    )


def test_files_of_one_number_belong_to_one_lesson(tmp_path):
    """First the file of the lesson's own name, then the others by name."""
    folder = tmp_path / "lessons/exercises"
    folder.mkdir(parents=True)
    names = "02_warps.py", "02_a_start.py", "02_more.py"
    for name in (*names, "03_other.py"):
        (folder / name).touch()

    found = exercise_files(tmp_path, Path("02_warps.py"))

    assert [*names] == [it.name for it in found]
