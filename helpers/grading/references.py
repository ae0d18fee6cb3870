"""The course's own answers, handed in like anybody's: they are graded first, and where
they lose a point nobody is graded.
"""

from dataclasses import asdict, replace

from helpers.exercises.budgets import unheld
from helpers.exercises.catalogue import exercise
from helpers.exercises.exercise import Explain, Write
from helpers.exercises.reasons import PERSON
from helpers.exercises.sources import NAMES
from helpers.grading.worker import Submitted, end_idle, grade

IMPORTS = f"""\
import math
import numpy as np
from numba import cuda, {", ".join(NAMES.split())}
"""


class ReferenceError(Exception):
    """The course's own answers lose points here; the message says which."""


def require_right(manifest, secret, container="", isolated=True):
    """Grade the answers to all exercises of a course; raises ReferenceError.

    The process in which they ran serves nobody after them.
    """
    try:
        for name, items in manifest.assignments.items():
            require_held(name, [exercise(it.exercise, manifest.seed) for it in items])
            work = work_of(items, manifest.seed, secret, container)
            require_points(name, replace(work, isolated=isolated))
    finally:
        end_idle("collect")


def require_points(assignment, work):
    """Grade the answers to one assignment."""
    found = grade(work)
    lost = [row for row in found["exercises"] if not is_right(row)]
    if lost or found["cells"] or found["ended"]:
        raise ReferenceError(losses(assignment, lost, found))


def require_held(assignment, tasks):
    """Can each budget be held here? Else over it would be as good as within."""
    lacking = [f"`{it.name}` ({', '.join(unheld(it))})" for it in tasks if unheld(it)]
    if lacking:
        raise ReferenceError(
            f"budgets of {assignment} need NVIDIA's compiler, which is missing here: "
            f"{', '.join(lacking)}. `make setup` installs it, also without a GPU"
        )


def work_of(items, seed, secret, container="") -> Submitted:
    """The answers to some exercises as a submission."""
    cells = [IMPORTS, *(cell_of(exercise(it.exercise, seed)) for it in items)]
    rows = tuple(asdict(it) for it in items)
    return Submitted(tuple(cells), rows, seed, secret, container)


def cell_of(task) -> str:
    """The cell with the right answer."""
    if isinstance(task, Write):
        return task.answer_text
    truth = task.model if isinstance(task, Explain) else plain(task.truth())
    return f"{task.name} = {truth!r}"


def plain(truth):
    """A prediction without NumPy's types."""
    if isinstance(truth, dict):
        return {name: plain(it) for name, it in truth.items()}
    return truth.item() if hasattr(truth, "item") else truth


def is_right(row) -> bool:
    return row["points"] == row["max_points"] or row["reason"] == PERSON


def losses(assignment, lost, found) -> str:
    rows = [
        f"  {row['exercise']}: {row['points']} of {row['max_points']} points. "
        f"{row['sentence']}"
        for row in lost
    ]
    errors = [f"  cell {it['cell']}: {it['error']}" for it in found["cells"]]
    rows += [f"  they {found['ended']}"] if found["ended"] else []
    head = f"the course's own answers to {assignment} lose points, or do not run:"
    return "\n".join([head, *rows, *errors])
