"""How an exercise prints: what to do, arguments, launch, budget and specification.

A notebook gets Markdown, a terminal the same as text; both are made of `parts`.
"""

import ast
import re
from textwrap import dedent, fill, indent
from typing import NamedTuple

import numpy as np

from helpers.exercises.arguments import InOut, Out, whole_size
from helpers.exercises.budgets import described
from helpers.exercises.variants import generator, shown_function
from thirty_two_lanes.core.errors import wrapped

STARS = "★"
WIDTH = 88


class Section(NamedTuple):
    """What an exercise says beside its task: lines of Markdown, or of Python."""

    name: str
    lines: list
    python: bool = False


def as_text(task) -> str:
    """All of it, for a terminal."""
    head = f"{title(task)} ({kind_and_points(task)})"
    beside = map(text_of, parts(task))
    return "\n\n".join([head, paragraphs(task.task), *beside])


def as_markdown(task, level=4) -> str:
    """The same for a notebook, below a heading of a level."""
    head = f"{'#' * level} {title(task)}"
    about = f"*{kind_and_points(task).capitalize()}*"
    beside = list(parts(task))
    rows = "\n".join(row_of(part) for part in beside if not part.python)
    code = [fenced("\n".join(part.lines)) for part in beside if part.python]
    blocks = [head, about, *map(markdown_block, blocks_of(task.task)), rows, *code]
    return "\n\n".join(filter(None, blocks))


def title(task) -> str:
    """Its name and stars."""
    return f"{task.name} {STARS * task.stars}"


def kind_and_points(task) -> str:
    """Its kind and what it earns."""
    return f"{task.kind}, {task.points} point{'s' * (task.points != 1)}"


def text_of(part) -> str:
    """A part for a terminal."""
    lines = indent("\n".join(part.lines), "    ")
    return f"{part.name}:\n{lines if part.python else wrapped(lines)}"


def row_of(part) -> str:
    """A part as an item of a list in a notebook."""
    return f"- **{part.name}:** " + "; ".join(part.lines)


# ---------------------------------------------------------------- the task's words


def paragraphs(text) -> str:
    """A task's text with lines of one width; code keeps its own."""
    return "\n\n".join(
        it if is_code(it) else "\n".join(map(wrapped_line, lines_of(it)))
        for it in blocks_of(text)
    )


def wrapped_line(line) -> str:
    """A paragraph or an item of a list."""
    margin = "  " * line.startswith("- ")
    return fill(line, WIDTH, subsequent_indent=margin, break_on_hyphens=False)


def markdown_block(block) -> str:
    """A paragraph, a list, or code, which is marked as Python to be coloured."""
    if is_code(block):
        return fenced(dedent(block))
    return "\n".join(lines_of(block))


def lines_of(block) -> list:
    """A paragraph in one line, so that no line begins by chance as a list does; or the
    items of a list.
    """
    return [" ".join(it.split()) for it in re.split(r"\n(?=- )", block)]


def blocks_of(text) -> list:
    """Paragraphs, and code, which has blank lines of its own."""
    found = []
    for block in re.split(r"\n\s*\n", text):
        if found and is_code(block) and is_code(found[-1]):
            found[-1] += f"\n\n{block}"
        else:
            found.append(block)
    return found


def is_code(block) -> bool:
    """Are its lines indented, as code is in Markdown?"""
    return all(line.startswith("    ") for line in block.splitlines() if line.strip())


def fenced(code) -> str:
    """Code as Markdown."""
    return f"```python\n{code}\n```"


# ---------------------------------------------------------------- what stands beside it


def parts(task):
    """What a kind of exercise says beside its task, in the order of reading."""
    if hasattr(task, "spec"):
        yield Section("Arguments", list(arguments_of(task)))
        yield Section("Launch", list(launches_of(task)))
    if hasattr(task, "budget"):
        yield Section("Budget", list(described(task)))
    if getattr(task, "options", ()):
        yield Section("One of", [", ".join(f'`"{it}"`' for it in task.options)])
    if hasattr(task, "spec"):
        specification = shown_function(task, "spec").splitlines()
        yield Section("Specification", specification, python=True)


def arguments_of(task):
    """Each argument of the kernel, as the first size has it."""
    given = task.inputs(generator(task.name, "page"), *sizes(task))
    for name, value in given.items():
        yield f"`{name}`: {argument(value)}"


def argument(value) -> str:
    """A value in words: its type, its shape, and what the kernel does with it."""
    if isinstance(value, Out):
        return f"{array(np.empty(value.shape, value.dtype))}, to be filled"
    if isinstance(value, InOut):
        return f"{array(value.array)}, to be changed"
    if isinstance(value, np.ndarray):
        return array(value)
    kind = value.dtype if isinstance(value, np.generic) else type(value).__name__
    return f"a number, {kind}"


def array(values) -> str:
    """An array in words."""
    shape = " × ".join(f"{it:,}" for it in values.shape)
    if values.ndim == 1:
        shape += f" element{'s' * (values.size != 1)}"
    kind = "records" if values.dtype.names else values.dtype
    strides = "" if values.flags.c_contiguous else ", not row by row in memory"
    return f"{kind}, {shape}{strides}"


def launches_of(task):
    """How the kernel is launched: with the first size, and with others."""
    size = sizes(task)
    shown = ", ".join(map(str, task.launch(*size)))
    function = ast.parse(shown_function(task, "launch")).body[0]
    names = [it.arg for it in function.args.args]
    if used(function).isdisjoint(names):
        yield f"`[{shown}]` with each size"
    else:
        values = ", ".join(map(str, size))
        yield f"`[{shown}]` with `{', '.join(names)} = {values}`"
        yield rule_of(function)
    if task.any_block:
        yield "one launch has blocks of another shape"


def rule_of(function) -> str:
    """What a function of the sizes puts into the brackets."""
    *steps, last = (it for it in function.body if not is_docstring(it))
    brackets = ", ".join(map(ast.unparse, getattr(last.value, "elts", [last.value])))
    where = ", ".join(f"`{ast.unparse(it)}`" for it in steps)
    return f"`[{brackets}]` with other sizes" + (f", where {where}" if steps else "")


def used(function) -> set:
    """The names that a function reads."""
    names = (it for it in ast.walk(function) if isinstance(it, ast.Name))
    return {it.id for it in names if isinstance(it.ctx, ast.Load)}


def is_docstring(statement) -> bool:
    """Is a statement a text that stands by itself?"""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant)


def sizes(task) -> tuple:
    """The first size, whose launch is held to the budget."""
    return whole_size(task.even[0])
