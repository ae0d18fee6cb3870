"""The index, a notebook from which each lesson, its exercises and their solutions are a
click away. `make lab` opens a copy that says what is done: .make/progress.py.
"""

from copy import deepcopy

from nbformat import v4

from lessons.publishing.assignments import ASSIGNMENTS, SOLUTIONS, exercise_files
from lessons.publishing.contents import promise
from lessons.publishing.convert import METADATA

NAME = "index.ipynb"
HEAD = "# The course"
FOOT = "[The words of the course](glossary.ipynb): each term in a sentence."
TABLE = """\
| lesson | what it is about | minutes | exercises | solutions |
|---|---|---:|---|---|"""


def index(root, parts):
    """The notebook of all lessons, part by part."""
    tables = [f"## {part.heading}\n\n{table(root, part)}" for part in parts]
    cells = [
        v4.new_markdown_cell(source=text, metadata={}, id=f"part-{number}")
        for number, text in enumerate([HEAD, *tables, FOOT])
    ]
    return v4.new_notebook(cells=cells, metadata=deepcopy(METADATA))


def table(root, part):
    """The lessons of a part."""
    rows = [row(root, it, part.words[it.stem]) for it in part.lessons]
    return "\n".join([TABLE, *rows])


def row(root, lesson, words):
    """A lesson with the words that people look for, and the way to its exercises."""
    promised, name = promise(lesson), f"{lesson.stem}.ipynb"
    beside = ["", ""]
    if exercise_files(root, lesson):
        beside = [
            f"[exercises]({ASSIGNMENTS}/{name})",
            f"[solutions]({SOLUTIONS}/{name})",
        ]
    cells = f"[{promised.title}]({name})", words, str(promised.minutes), *beside
    return f"| {' | '.join(cells)} |"
