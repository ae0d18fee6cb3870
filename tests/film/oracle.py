"""What each thread of a plain random kernel does, line by line, when it runs alone.

The kernel's own text gets a note in front of each statement, at each look at a loop's
head, and behind each assignment; `njit` compiles it, and each thread runs by itself.
"""

import ast

import numpy as np
from numba import njit

from tests.specimens.random_kernels.launches import as_njit, compiled
from tests.specimens.random_kernels.program import PLAIN_LAUNCH

MOST = 20_000  # notes of a thread
THREADS = PLAIN_LAUNCH[1]


class Notes(ast.NodeTransformer):
    """Writes notes into a function: a line alone, or with a variable's number."""

    def __init__(self):
        self.names, self.heads = [], []

    def note(self, line, name=None):
        """A statement that notes."""
        number = -1
        if name is not None:
            if name not in self.names:
                self.names.append(name)
            number = self.names.index(name)
        value = 0 if name is None else f"np.float64({name})"
        return ast.parse(f"noted = put(trace, noted, {line}, {number}, {value})").body

    def body(self, statements):
        """Statements, each with its notes."""
        return [it for one in statements for it in self.noted(one)]

    def noted(self, one):
        """A statement with its notes around it."""
        before, after = self.note(one.lineno), []
        if isinstance(one, (ast.For, ast.While)):
            self.heads.append(one.lineno)
            turn = getattr(one, "target", None)
            first = self.note(one.lineno, turn.id) if turn else []
            one.body = [*first, *self.body(one.body), *self.note(one.lineno)]
            self.heads.pop()
            one.orelse = self.body(one.orelse)
        elif isinstance(one, ast.If):
            one.body, one.orelse = self.body(one.body), self.body(one.orelse)
        elif isinstance(one, ast.Continue):
            before = [*before, *self.note(self.heads[-1])]
        elif isinstance(one, (ast.Assign, ast.AugAssign)):
            target = one.targets[0] if isinstance(one, ast.Assign) else one.target
            if isinstance(target, ast.Name):
                after = self.note(one.lineno, target.id)
        return [*before, one, *after]


@njit
def put(trace, noted, line, name, value):
    """Note a line, and what a variable has got."""
    if noted < len(trace):
        trace[noted, 0] = line
        trace[noted, 1] = name
        trace[noted, 2] = value
    return noted + 1


def thread_text(made):
    """The text of one thread with notes, and the names of its variables."""
    tree = ast.parse(made.text)
    function, notes = tree.body[0], Notes()
    own = {"t": "t", "lane": "lane"}  # `cuda.grid(1)` and `cuda.laneid` are arguments
    for statement in function.body[:2]:
        statement.value = ast.Name(own.pop(statement.targets[0].id), ast.Load())
    function.body = [*ast.parse("noted = 0").body, *notes.body(function.body)]
    function.name = "thread"
    arguments = function.args.args
    function.args.args = [*map(ast.arg, ("t", "lane")), *arguments]
    function.args.args.append(ast.arg("trace"))
    text = ast.unparse(ast.fix_missing_locations(tree))
    return text, notes.names


def traces(made, block):
    """For each thread of a block its lines in order, each with what it assigned."""
    text, names = thread_text(made)
    function = compiled(text, "thread", as_njit, made.seed)
    function.py_func.__globals__["put"] = put
    outputs, found = made.arrays(), []
    for t in range(PLAIN_LAUNCH[0] * THREADS):
        trace = np.zeros((MOST, 3))
        lane = np.int32(t % THREADS % 32)
        function(np.int32(t), lane, made.n, *outputs, trace)
        if t // THREADS == block:
            found.append(lines_of(trace, names))
    return found


def lines_of(trace, names):
    """A trace as a list of lines, each with its variables' values."""
    lines = []
    for line, name, value in trace[trace[:, 0] > 0].tolist():
        if not lines or lines[-1][0] != line:
            lines.append((int(line), {}))
        if name >= 0:
            lines[-1][1][names[int(name)]] = value
    return lines
