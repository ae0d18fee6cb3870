"""Kernels made of source text, as a cell of a notebook would make them, and how far two
of them are apart.
"""

import ast
import difflib
import inspect
import math
from functools import lru_cache
from itertools import count
from textwrap import indent

import numba
import numpy as np
from numba import cuda

from thirty_two_lanes.core.source import (
    contents,
    globals_of,
    lines_of,
    remember,
    source_of,
)

_number = count(1)
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
    about = len(code_lines("\n".join(lines[kernel.body[0].end_lineno :])))
    hole = f"# your code, about {about} line{'s' * (about > 1)}"
    return "\n".join([*lines[: kernel.body[0].end_lineno], indent(hole, "    ")])


def edited(text, *edits) -> str:
    """A text with each `old, new` of the edits replaced, where it occurs first."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        if old not in text:
            raise ValueError(f"there is no {old!r} in\n{text}")
        text = text.replace(old, new, 1)
    return text


def lines_changed(kernel, text) -> int | None:
    """How many lines of a kernel and of the functions that it calls differ from a
    text's, whose own functions are known by their names; None without their sources.
    """
    functions = [it.py_func for it in called_by(kernel)]
    sources = [source_of(it) for it in functions]
    if None in sources:
        return None
    given, name = functions_of(text), kernel_name(text)
    names = [name, *(it.__name__ for it in functions[1:])]
    return sum(
        different(given.get(name, []), code_lines("\n".join(source.lines)))
        for name, source in zip(names, sources, strict=True)
    )


def different(given, mine) -> int:
    """How many of some lines are others than those given."""
    matcher = difflib.SequenceMatcher(None, given, mine, autojunk=False)
    return sum(
        max(there - here, upto - begin)
        for kind, here, there, begin, upto in matcher.get_opcodes()
        if kind != "equal"
    )


def functions_of(text) -> dict:
    """The lines of each function that a text defines, by name."""
    functions = functions_in(ast.parse(text))
    return {it.name: code_lines(ast.unparse(it)) for it in functions}


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


def code_lines(text) -> list[str]:
    """A function's lines without comments, blank lines, decorators and docstring."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return [line.strip() for line in text.splitlines() if line.strip()]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    parts = functions_in(tree) or [tree]
    lines = [line for it in parts for line in ast.unparse(it).splitlines()]
    return [line for line in lines if line.strip() and not line.startswith("@")]
