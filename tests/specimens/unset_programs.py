"""Random kernels that read variables which some threads have not set, and what Python
itself says of each read, in one thread after the other.

A read is a load's index, a store's value, a condition or a loop's count: what nothing
can leave out. A copy, `a = b`, is none, and what it copies stays as unset as it was.
"""

import ast
import linecache
from collections import defaultdict
from random import Random

import numpy as np
from numba import cuda

LAUNCH = BLOCKS, THREADS = 3, 40
WHOLE, REAL, TURNS = ("a", "b", "c"), ("f", "g"), ("k", "m")
PAIRS, VIEWS = ("p", "q"), ("r", "s")
NAMES = (*WHOLE, *REAL, *TURNS, *PAIRS, *VIEWS)
HEAD = """\
def kernel(x, whole, real):
    t = cuda.grid(1)
"""
ASKED = """\
try:
    {0} = {1}
except NameError:
    {0} = None
    del {0}
"""


def text_of(seed) -> str:
    """The kernel of a seed, as source. All variables get a value in some threads first:
    Numba refuses one that none can have.
    """
    writer = _Writer(Random(f"unset {seed}"))
    for name in NAMES:
        writer.begin(name)
    for _ in range(writer.random.randint(3, 7)):
        writer.statement("    ", 0)
    for name in NAMES:
        writer.line("    ", f"if {writer.condition()}:")
        writer.line("        ", writer.store(name))
    return HEAD + "\n".join(writer.lines) + "\n"


class _Writer:
    """Writes statements, each of which Numba and Python take."""

    def __init__(self, random):
        self.random, self.lines, self.counts = random, [], 0

    def line(self, indent, text):
        self.lines.append(indent + text)

    def begin(self, name):
        """Give a variable a value, in some threads."""
        if name in TURNS:
            self.line("    ", f"for {name} in range(t & {self.random.randint(1, 3)}):")
            return self.line("        ", "whole[t * 4] += 1")
        below = self.random.choice((30, 64, 100, 1000))
        some = "t % 8 == 0" if name in VIEWS else f"t < {below}"  # each warp has one
        kinds = {REAL: "x[t & 7] * 0.5", PAIRS: "(t & 7, 3)", VIEWS: "x[:]"}
        plain = next((it for names, it in kinds.items() if name in names), "x[t & 7]")
        self.line("    ", f"if {some}:")
        return self.line("        ", f"{name} = {plain}")

    def value_of(self, name) -> str:
        """A value of a variable's type; all views have the same elements."""
        if name in PAIRS:
            return self.random.choice((f"({self.value()}, 3)", "(t & 7, x[t & 3])"))
        if name in VIEWS:
            return self.random.choice(("x", "x[:]"))
        if name in REAL:
            return f"x[t & 3]{self.random.choice((' * 0.5', ' + 0.25', ''))}"
        return self.value()

    def statement(self, indent, loops):
        """One statement, and those within it."""
        room = len(self.lines) < 60 and len(indent) < 24
        kinds = [self.assign] * 4 + [self.keep] * 3 + [self.copy]
        kinds += room * [self.choose, self.choose, self.count, self.repeat]
        kinds += [self.leave] * bool(loops) + [self.end] * (len(indent) > 8)
        self.random.choice(kinds)(indent, loops)

    def body(self, indent, loops):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent + "    ", loops)

    def value(self) -> str:
        """A whole number, from 0 to 7; one of them reads a variable."""
        read = self.read(self.random.choice((*WHOLE, *TURNS, *PAIRS, *VIEWS)))
        return self.random.choice(("t & 7", "3", "x[t & 7]", f"x[{read} & 7]"))

    def condition(self) -> str:
        read, below = self.read(self.random.choice(NAMES)), self.random.randint(1, 6)
        few = f"x[(t + {below}) & 7] > {below}", f"t & {below}", f"t < {below * 17}"
        return self.random.choice((*few, *few, f"{read} > {below}"))

    def read(self, name) -> str:
        """A number of a variable."""
        index = "[t & 7]" * (name in VIEWS)
        return name + (self.random.choice(("[0]", "[1]")) if name in PAIRS else index)

    def store(self, name) -> str:
        array = "real" if name in REAL else "whole"
        return f"{array}[t * 4 + {self.random.randint(0, 3)}] += {self.read(name)}"

    # statements

    def assign(self, indent, _):
        name = self.random.choice((*WHOLE, *WHOLE, *REAL, *PAIRS, *VIEWS))
        self.line(indent, f"{name} = {self.value_of(name)}")

    def keep(self, indent, _):
        self.line(indent, self.store(self.random.choice(NAMES)))

    def copy(self, indent, _):
        """Within a type: what copies another one converts it, too."""
        one, other = self.random.sample(
            self.random.choice((WHOLE, REAL, PAIRS, VIEWS)), 2
        )
        self.line(indent, f"{one} = {other}")

    def choose(self, indent, loops):
        self.line(indent, f"if {self.condition()}:")
        self.body(indent, loops)
        if self.random.random() < 0.3:
            self.line(indent, f"elif {self.condition()}:")
            self.body(indent, loops)
        if self.random.random() < 0.4:
            self.line(indent, "else:")
            self.body(indent, loops)

    def count(self, indent, loops):
        turns = self.random.choice(("t & 3", "2", self.value()))
        self.line(indent, f"for {self.random.choice(TURNS)} in range({turns}):")
        self.body(indent, loops + 1)
        if self.random.random() < 0.2:
            self.line(indent, "else:")
            self.body(indent, loops)

    def repeat(self, indent, loops):
        name, self.counts = f"n{self.counts}", self.counts + 1
        also = self.random.choice(("", f" and {self.condition()}"))
        self.line(indent, f"{name} = 0")
        self.line(indent, f"while {name} < (t & 3){also}:")
        self.line(indent, f"    {name} += 1")
        self.body(indent, loops + 1)

    def leave(self, indent, _):
        self.line(indent, f"if {self.condition()}:")
        self.line(indent, "    " + self.random.choice(("break", "continue")))

    def end(self, indent, _):
        self.line(indent, f"if t % 16 == {self.random.randint(0, 15)}:")
        self.line(indent, "    return")


# the kernel, and each of its threads


def kernel_of(text, seed):
    """The kernel, with lines that a report can quote."""
    file = f"<unset {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"cuda": cuda}
    exec(compile(text, file, "exec"), namespace)
    return cuda.jit(namespace["kernel"])


def arrays() -> tuple:
    """What it reads, and what it adds to."""
    cells = BLOCKS * THREADS * 4
    return np.arange(8)[::-1].copy(), np.zeros(cells, np.int64), np.zeros(cells)


class _Asking(ast.NodeTransformer):
    """Lets a thread ask for each variable that it reads."""

    def visit_Name(self, node):
        if node.id not in NAMES or not isinstance(node.ctx, ast.Load):
            return node
        asked = f"asked('{node.id}', {node.lineno}, lambda: {node.id})"
        return ast.parse(asked, mode="eval").body

    def visit_Assign(self, node):
        target, value = node.targets[0], node.value
        if isinstance(value, ast.Name) and value.id in NAMES:
            return ast.parse(ASKED.format(target.id, value.id)).body
        return self.generic_visit(node)


def told_by_python(text, *given):
    """The threads that read a variable without a value, by line: Python runs each of
    them, goes on with 0 or any of the equal views, and changes the arrays.
    """
    tree = ast.fix_missing_locations(_Asking().visit(ast.parse(text)))
    found, thread = defaultdict(set), 0

    def asked(name, line, read):
        try:
            return read()
        except NameError:
            found[line].add(thread)
            return (0, 0) if name in PAIRS else given[0] if name in VIEWS else 0

    class Grid:
        """What a thread asks `cuda` for."""

        @staticmethod
        def grid(_):
            return thread

    namespace = {"cuda": Grid, "asked": asked}
    exec(compile(tree, "<thread>", "exec"), namespace)
    for thread in range(BLOCKS * THREADS):  # noqa: B007
        namespace["kernel"](*given)
    return dict(found)
