"""Kernels made of source text, as a cell of a notebook would make them, and how far two
of them are apart.
"""

import ast
import difflib
import inspect
import math
from copy import deepcopy
from functools import lru_cache
from itertools import count
from textwrap import indent

import numba
import numpy as np
from numba import cuda

from thirty_two_lanes.core.source import (
    contents,
    definition_of,
    globals_of,
    is_compiled_from,
    lines_of,
    remember,
)

_number = count(1)
BESIDE = "\1"  # marks a statement that stands beside a colon
NAMES = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"


@lru_cache(maxsize=32)
def kernel_of(text, name):
    """The kernel of this name that a text defines; its lines can be quoted."""
    file = f"<{name} {next(_number)}>"
    remember(text, file)
    namespace = {"np": np, "math": math, "cuda": cuda}
    namespace |= {word: getattr(numba, word) for word in NAMES.split()}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def kernel_name(text) -> str:
    """The name of the last function that a text defines: the kernel."""
    return functions_in(ast.parse(text))[-1].name


def functions_in(tree) -> list:
    """The definitions in a text's tree."""
    return [it for it in tree.body if isinstance(it, ast.FunctionDef)]


def stub_of(text) -> str:
    """A text without the body of its kernel: what a learner begins with."""
    tree = ast.parse(text)
    kernel = functions_in(tree)[-1]
    lines = [it.rstrip("\n") for it in lines_of(text)]
    about = sum(bool(it.strip()) for it in lines[kernel.body[0].end_lineno :])
    hole = f"# your code, about {about} line{'s' * (about > 1)}"
    return "\n".join([*lines[: kernel.body[0].end_lineno], indent(hole, "    ")])


def edited(text, *edits) -> str:
    """A text with each `old, new` of the edits replaced, where it occurs first."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        if old not in text:
            raise ValueError(f"there is no {old!r} in\n{text}")
        text = text.replace(old, new, 1)
    return text


def lines_changed(kernel, text) -> int:
    """How many lines of a kernel and of the functions that it calls differ from a
    text's, whose own functions are known by their names.

    Counted are lines of the tree that is compiled, wherever the text breaks them.
    """
    functions = [it.py_func for it in called_by(kernel)]
    trees = [tree_of(it) for it in functions]
    given, name = functions_of(text), kernel_name(text)
    names = [name, *(it.__name__ for it in functions[1:])]
    return sum(
        different(given.get(name, []), code_lines(tree))
        for name, tree in zip(names, trees, strict=True)
    )


def tree_of(function) -> ast.FunctionDef | None:
    """The definition that a function was compiled from; None where nobody can read it,
    here or where it is handed in.
    """
    found = definition_of(function)
    return found if found and is_compiled_from(function, found) else None


def text_of(kernel) -> str:
    """The text of a kernel and of the functions that it calls, as it was compiled."""
    trees = [tree_of(it.py_func) for it in called_by(kernel)]
    return "\n".join(map(ast.unparse, trees))


def different(given, mine) -> int:
    """How many of some lines are others than those given, wherever those stand."""
    texts = ([it.replace(BESIDE, "") for it in lines] for lines in (given, mine))
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    return sum(
        max(standing(given[here:there]), standing(mine[begin:upto]))
        for kind, here, there, begin, upto in matcher.get_opcodes()
        if kind != "equal"
    )


def standing(lines) -> int:
    """How many lines some are, of which a statement may stand beside the one before."""
    return sum(BESIDE not in it for it in lines[1:]) + bool(lines)


def functions_of(text) -> dict:
    """The lines of each function that a text defines, by name."""
    return {it.name: code_lines(it) for it in functions_in(ast.parse(text))}


def called_by(kernel) -> list:
    """A kernel and the functions of `@cuda.jit` that it reaches, each once."""
    found = [kernel]
    for dispatcher in found:  # it grows
        for value in outside(dispatcher.py_func):
            is_new = all(value is not it for it in found)
            if is_new and inspect.isfunction(getattr(value, "py_func", None)):
                found.append(value)
    return found


def outside(function):
    """The values that a function and those within it take from outside."""
    names = set(globals_of(function.__code__))
    yield from (v for k, v in function.__globals__.items() if k in names)
    yield from map(contents, function.__closure__ or ())


def tuples_of(kernel) -> list:
    """The tuples that a kernel and the functions that it calls may take a number from:
    those from outside, and those that are written out.
    """
    functions = [it.py_func for it in called_by(kernel)]
    values = [v for it in functions for v in (*outside(it), *constants_in(it.__code__))]
    return [it for it in values if isinstance(it, tuple)]


def constants_in(code) -> list:
    """The constants of a code object, and of those within it."""
    within = [it for it in code.co_consts if inspect.iscode(it)]
    return [*code.co_consts, *(v for it in within for v in constants_in(it))]


def code_lines(function) -> list[str]:
    """The lines of a function's tree, without its decorators and docstrings; `x; y` are
    two, and so are those of `if x: y`, the second of which is marked.
    """
    function = deepcopy(function)
    function.decorator_list = []
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        if is_in_one_line(node):
            node.body[0] = ast.Expr(ast.Name(BESIDE + ast.unparse(node.body[0])))
    return ast.unparse(function).splitlines()


def is_in_one_line(node) -> bool:
    """Is it an `if` or a loop with one statement beside its colon?"""
    if not isinstance(node, (ast.If, ast.For, ast.While)) or len(node.body) > 1:
        return False
    only = node.body[0]
    return not hasattr(only, "body") and only.lineno == node.lineno
