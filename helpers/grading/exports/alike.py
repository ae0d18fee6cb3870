"""Kernels that are alike: what is left of them without names, comments and layout.

The normal form of an answer is its syntax tree with the learner's own names numbered as
they appear. Those that are equal are a group. How much that says depends on two numbers
beside it: the share of all answers to the exercise that have this form, and the lines
that were not given.

Not modelled: another order of lines, or the same idea in other words.
"""

import ast
import builtins
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import helpers
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from helpers.exercises.sources import NAMES
from helpers.grading.tables import table_of
from helpers.grading.words import some

KNOWN = {*dir(builtins), *NAMES.split(), "cuda", "np", "numpy", "math", "numba"}
KNOWN |= {*helpers.__all__}
COMMON = 1 / 3  # of a class: a form that so many have says nothing
FEW = 5  # lines of one's own: fewer are alike by chance
COLUMNS = "assignment", "exercise", "group", "students", "share", "own_lines", "reason"


@dataclass(frozen=True)
class AlikeGroup:
    """Answers to one exercise that have one form: `share` of all answers to it, and the
    lines in it that were not given.
    """

    assignment: str
    exercise: str
    students: tuple
    share: float
    own: int
    reason: str

    @property
    def tells(self) -> bool:
        """Is it a reason to look? Else many would write so."""
        return self.share < COMMON and self.own >= FEW

    def __str__(self):
        why = f", {self.reason}" if self.reason else ""
        count = f"{len(self.students)} answers ({self.share:.1%})"
        who = some(self.students)
        return f"{self.exercise}, {count}, {self.own} own lines{why}: {who}"


def alike(results, seed=None) -> list[AlikeGroup]:
    """The groups of at least two, first those that say most."""
    answers = {}
    for result in results:
        for row in result["exercises"]:
            if is_kernel(row["exercise"]) and (form := form_of(row.get("answer", ""))):
                key = result["assignment"], row["exercise"]
                answers.setdefault(key, {}).setdefault(form, []).append(
                    (result["student"], row["reason"])
                )
    groups = [
        AlikeGroup(
            *key,
            tuple(student for student, _ in several),
            len(several) / sum(map(len, forms.values())),
            own_lines(form, given_lines(key[1], seed)),
            Counter(reason for _, reason in several).most_common(1)[0][0],
        )
        for key, forms in answers.items()
        for form, several in forms.items()
        if len(several) > 1
    ]
    return sorted(groups, key=lambda it: (not it.tells, -it.own, it.share, it.students))


def write_alike(store, path):
    """Write a row for each answer that is in a group."""
    rows = []
    for number, group in enumerate(alike(store.results(), store.seed()), start=1):
        about = group.assignment, group.exercise, number, len(group.students)
        about += round(group.share, 4), group.own, group.reason
        rows += [[*about, student] for student in group.students]
    store.write(path, table_of([(*COLUMNS, "student"), *rows]))


def is_kernel(name) -> bool:
    """Is an exercise, if there still is one of this name, answered by a kernel?"""
    return issubclass(exercises().get(name, object), Write)


@cache
def given_lines(name, seed) -> Counter:
    """The lines that a learner begins with, each in a form of its own."""
    return lines_of(form_of(exercise(name, seed).given_text))


def own_lines(form, given) -> int:
    """How many lines of a form were not given."""
    return (lines_of(form) - given).total()


def lines_of(form) -> Counter:
    """Its lines, in each of which names are numbered anew: so a line that was given is
    known wherever it stands.
    """
    return Counter(map(numbered, form.splitlines()))


def form_of(text) -> str:
    """The normal form of a text with functions; "" where it is no Python, or cannot be
    written again.
    """
    try:
        tree = ast.parse(text)
        Renaming(tree).visit(tree)
        return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # ValueError: Python writes no number of 5,000 digits


class Renaming(ast.NodeVisitor):
    """Numbers the names of a tree as they appear, and takes out what says nothing."""

    def __init__(self, tree):
        nodes = [*ast.walk(tree)]
        bound = {it.id for it in nodes if isinstance(it, ast.Name) and is_stored(it)}
        bound |= {it.arg for it in nodes if isinstance(it, ast.arg)}
        self.names, self.known = {}, KNOWN - bound

    def new(self, name):
        number = len(self.names)
        known = name in self.known
        return name if known else self.names.setdefault(name, f"name_{number}")

    def visit_Name(self, node):
        node.id = self.new(node.id)

    def visit_arg(self, node):
        node.arg, node.annotation = self.new(node.arg), None

    def visit_FunctionDef(self, node):
        node.decorator_list, node.returns = [], None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        node.name = self.new(node.name)
        self.generic_visit(node)


def is_stored(name) -> bool:
    return isinstance(name.ctx, ast.Store)


def numbered(line) -> str:
    """A line of a form, its names numbered anew."""
    names = dict.fromkeys(re.findall(r"\bname_\d+", line))
    places = {name: str(place) for place, name in enumerate(names)}
    return re.sub(r"\bname_\d+", lambda it: f"name_{places[it[0]]}", line)
