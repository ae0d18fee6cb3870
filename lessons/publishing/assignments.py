"""The exercises of a lesson as notebooks of one form: an assignment, with what is given
in the places of the answers, and its solution. nbgrader's marks are on the cells.

`task` is an exercise in the variant of a seed, whatever its kind.
"""

import ast
import json
from copy import deepcopy
from functools import cache, lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from textwrap import fill

from nbformat import v4

from helpers.exercises.catalogue import in_module
from helpers.exercises.exercise import Explain, Write
from helpers.exercises.page import STARS, as_markdown
from helpers.exercises.sources import NAMES
from lessons.publishing.contents import promise
from lessons.publishing.convert import METADATA, lessons_of

ASSIGNMENTS, SOLUTIONS = "assignments", "solutions"
WIDTH = 79
INTRO = """\
# {name}: {title}

{count} for the lesson [{title}](../{stem}.ipynb), {stars}, {points} points in all.
Work through them in order.

{how}"""
HOW_TO_ANSWER = """\
Answer in the cell below each task, run that cell, and then the one with `check`: it says \
what your answer earns, and what is wrong with it.
`spec` says in NumPy what a kernel must compute.
Below a refused answer there are usually three hints.

<details><summary>How answers are judged, and what points are for</summary>

- `check` launches a kernel in the emulator, on new numbers, at sizes that fill the last \
block and at sizes that do not. It compares a prediction with what happens; a person marks \
an explanation.
- A right kernel over its budget earns half of its points, or none where the budget is all \
that the given kernel lacked. A prediction of several values earns half of its points for \
its share that is right.
- The *usual limits* beside each budget keep the work near that of the course's answer, in \
sum and for each block and warp, and the numbers that a kernel brings along few. \
`task.usual_limits()` prints them.
- Open one hint at a time, or let `task.hint()` print them. The last one leads to the \
course's answer, if the solutions lie beside this notebook.

</details>"""
HOW_TO_READ = """\
There is one answer to each here; any other that `check` gives all points is as good."""


def with_exercises(root, lessons) -> list:
    """Those of the lessons that have exercises, in their order."""
    return [it for it in lessons if exercise_files(root, it)]


def exercise_files(root, lesson) -> list:
    """Where the exercises of a lesson stand: the file of its name, then the others of
    its number.
    """
    found = Path(root, "lessons", "exercises").glob(f"{lesson.stem[:2]}_*.py")
    return sorted(found, key=lambda it: (it.name != lesson.name, it.name))


def assignment_path(root, lesson, kind, seed=None) -> Path:
    """The place of an assignment or a solution; variants are kept out of git."""
    where = f"notebooks/{kind}" if seed is None else f"work/{kind}-{seed}"
    return Path(root, where, f"{lesson.stem}.ipynb")


def published(names=(), seed=None, points=()):
    """Each assignment's notebook and exercises, by its name: for `helpers.grading`.

    `names` are names or numbers of lessons, all where there is none, each alone or with
    some of its exercises, as `12:sectors,mirror`; `points` are other points than an
    exercise's own, by its name.
    """
    root, asked = Path(__file__).resolve().parents[2], dict(map(some_of, names))
    for lesson in with_exercises(root, lessons_of(root)):
        some = asked.get(lesson.stem, asked.get(lesson.stem[:2], None if asked else []))
        if some is None:
            continue
        tasks = tasks_of(root, lesson, seed)
        if set(some) <= {it.name for it in tasks}:
            tasks = [it for it in tasks if not some or it.name in some]
            for task in tasks:
                task.points = dict(points).get(task.name, task.points)
            yield lesson.stem, notebook_of(lesson, tasks), tasks


def some_of(name):
    """A lesson, and which of its exercises: none for all of them."""
    lesson, _, exercises = name.partition(":")
    return lesson, exercises.split(",") if exercises else []


def assignment(root, lesson, seed=None, solved=False):
    """The notebook of a lesson's exercises, not yet run; solved, if that is asked."""
    return notebook_of(lesson, tasks_of(root, lesson, seed), solved)


def tasks_of(root, lesson, seed=None) -> list:
    """The exercises of a lesson, in the order of their notebook."""
    files = exercise_files(root, lesson)
    return [kind(seed) for file in files for kind in kinds_of(file)]


def notebook_of(lesson, tasks, solved=False):
    """The notebook of some exercises of a lesson."""
    cells = [intro(lesson, tasks, solved), imports(tasks)]
    for task in tasks:
        cells += [statement(task), answer(task, solved), check(task)]
        if solved and isinstance(task, Explain):
            cells.append(rubric(task))
    return v4.new_notebook(cells=cells, metadata=deepcopy(METADATA))


def kinds_of(file) -> list:
    """The classes of the exercises that a file describes, in its order."""
    return kinds_in(file, file.read_text("utf-8"))


@lru_cache  # its kernels stay compiled for the next notebook
def kinds_in(file, text) -> list:
    """The same, as long as the file has this text."""
    spec = spec_from_file_location(f"exercises_{file.stem}", file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return in_module(module)


# ---------------------------------------------------------------- the cells


def intro(lesson, tasks, solved):
    """What the notebook is, and how `check` works."""
    count = f"{len(tasks)} exercise{'s' * (len(tasks) != 1)}"
    stars = sorted({STARS * task.stars for task in tasks})
    text = INTRO.format(
        name="Solutions" if solved else "Exercises",
        title=promise(lesson).title,
        stem=lesson.stem,
        count=count,
        stars=" to ".join([stars[0], *stars[1:][-1:]]),
        points=sum(task.points for task in tasks),
        how=HOW_TO_READ if solved else HOW_TO_ANSWER,
    )
    return v4.new_markdown_cell(source=text, metadata={}, id="intro")


def imports(tasks):
    """What the given kernels, and the answers, need."""
    kernels = [it for it in tasks if isinstance(it, Write)]
    needed = {word for it in kernels for word in words(it.given_text, it.answer_text)}
    numba = ", ".join(["cuda", *(word for word in NAMES.split() if word in needed)])
    lines = [
        *(["import math", ""] if "math" in needed else []),
        "import numpy as np",
        f"from numba import {numba}",
        "",
        "from helpers import emulate, exercise",
    ]
    return v4.new_code_cell(source="\n".join(lines), metadata={}, id="imports")


def words(*texts):
    """The names in texts of Python."""
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name):
                yield node.id


def statement(task):
    """What to do."""
    text = as_markdown(task, level=2)
    return v4.new_markdown_cell(
        source=text,
        metadata=marks(task.name, "markdown", locked=True),
        id=task.name,
    )


def answer(task, solved):
    """Where the answer goes: what is given, or the answer. A person marks words."""
    name = f"{task.name}-answer"
    points = {"points": task.points} if isinstance(task, Explain) else {}
    return v4.new_code_cell(
        source=text_of_answer(task, solved),
        metadata=marks(name, "code", solution=True, **points),
        id=name,
    )


def check(task):
    """Where the answer is judged."""
    name = f"{task.name}-check"
    seed = "" if task.seed is None else f", seed={python(task.seed)}"
    points = {} if isinstance(task, Explain) else {"points": task.points}
    return v4.new_code_cell(
        source=f'task = exercise("{task.name}"{seed})\ntask.check({answered(task)})',
        metadata=marks(name, "code", locked=True, **points),
        id=name,
    )


def rubric(task):
    """What an explanation must say, and what that earns."""
    rows = [f"- {points}: {what}" for what, points in task.rubric.items()]
    text = "\n".join(["**Points**", "", *rows])
    return v4.new_markdown_cell(source=text, metadata={}, id=f"{task.name}-rubric")


def marks(name, cell_type, locked=False, solution=False, **points):
    """nbgrader's metadata of a cell: graded, if it has points."""
    return {
        "nbgrader": {
            "schema_version": 3,
            "grade_id": name,
            "cell_type": cell_type,
            "grade": bool(points),
            "locked": locked,
            "solution": solution,
            "task": False,
            **points,
        }
    }


# ---------------------------------------------------------------- the answers


def answered(task) -> str:
    """The name of what an answer cell defines."""
    return task.kernel_name if isinstance(task, Write) else task.name


def text_of_answer(task, solved) -> str:
    """The text of an answer cell."""
    if isinstance(task, Write):
        return task.answer_text if solved else task.given_text
    if isinstance(task, Explain):
        words = fill(task.model, WIDTH) if solved else ""
        return f'{task.name} = """\n{words}\n"""'
    return f"{task.name} = {prediction(truth_of(type(task), task.seed), solved)}"


@cache  # an assignment asks for its names, and its solution for its values
def truth_of(kind, seed):
    """What a prediction has to say."""
    return kind(seed).truth()


def prediction(truth, solved) -> str:
    """A prediction as Python: one value, or several by name, each in its line."""
    if not isinstance(truth, dict):
        return python(truth) if solved else "..."
    values = {name: python(it) if solved else "..." for name, it in truth.items()}
    rows = (f"    {python(name)}: {it},\n" for name, it in values.items())
    return "{\n" + "".join(rows) + "}"


def python(value) -> str:
    """A number or a word as a learner would write it, whether or not NumPy made it."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    whole = isinstance(value, float) and value.is_integer()
    return repr(int(value) if whole else value)
