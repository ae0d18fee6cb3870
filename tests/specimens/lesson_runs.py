"""What each lesson leaves: its notebook runs once in a test run, in a real kernel that
sees no GPU, and answers there what all tests ask of it.

The runs are kept in the folder that LESSON_RUNS names; tests/conftest.py makes one for
all workers, which also says whether all is asked, drawn and solved: in `make test-all`.
"""

import os
import pickle
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nbformat.v4 import new_code_cell

from lessons.publishing.doors import with_doors
from lessons.publishing.errors import LessonError
from lessons.publishing.execute import complete, execute
from lessons.publishing.outputs import faults
from lessons.publishing.solutions import solutions
from tests.paths import ROOT

FOLDER = "LESSON_RUNS"
WHOLE = "LESSON_RUNS_WHOLE"  # set where all is asked, drawn and solved
STARTUP = "import tests.specimens.lesson_answers as it; it.begin(); del it"
ASKING = """\
import tests.specimens.lesson_answers as it
it.answer({lesson!r}, {file!r}, globals())"""


@dataclass(frozen=True)
class LessonRun:
    """A notebook that ran, with its folded solutions, or the `error` that ended it."""

    error: str = ""
    notebook: object = None
    faults: list = field(default_factory=list)
    answers: dict = field(default_factory=dict)
    failures: dict = field(default_factory=dict)

    def answer(self, question):
        """What the lesson answered, unless the question failed there."""
        assert question in self.answers, self.failures.get(question, self.error)
        return self.answers[question]


@cache
def run_of(lesson) -> LessonRun:
    """The one run of a lesson."""
    if FOLDER not in os.environ:
        return fresh_run_of(lesson)
    file = Path(os.environ[FOLDER], f"{lesson.stem}.pickle")
    if not file.exists():
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(pickle.dumps(fresh_run_of(lesson)))
        draft.replace(file)
    return pickle.loads(file.read_bytes())


def fresh_run_of(lesson):
    """Run a lesson's cells, then what asks it, and then its solutions where asked."""
    notebook = with_doors(ROOT, lesson)
    count = len(notebook.cells)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "answers.pickle")
        asking = ASKING.format(lesson=str(lesson), file=str(file))
        folded = solutions(lesson) if os.environ.get(WHOLE) else ()
        for source in (asking, *folded):
            notebook.cells.append(new_code_cell(source=source))
        try:
            complete(execute(notebook, ROOT, startup=STARTUP))
        except LessonError as error:
            return LessonRun(error=str(error))
        answers, failures = pickle.loads(file.read_bytes())
    found = faults(notebook, ROOT)
    notebook.cells = notebook.cells[:count]
    return LessonRun("", notebook, found, answers, failures)
