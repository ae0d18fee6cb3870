"""What to do about a race of threads that go through an array in steps: where each
begins at its own number, only a step that is too small brings two to one cell.
"""

import ast
from copy import deepcopy
from typing import NamedTuple

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.layout import LOOPS, named
from thirty_two_lanes.core.advice.patterns import elements
from thirty_two_lanes.core.advice.thread_numbers import (
    AXES,
    ThreadNumber,
    definition_of_name,
    number_of,
)
from thirty_two_lanes.core.advice.varying import names_in


class Stepping(NamedTuple):
    """A loop, the thread's number where it begins, its step, and who steps."""

    loop: ast.AST
    number: ThreadNumber
    step: ast.expr
    statement: ast.AST


def advice_on(race, layout, _, statements) -> Advice | None:
    """Advice on a statement that races with itself, at an index that a loop steps."""
    one, other = statements
    found = [*elements(one, race.array), *elements(one, race.array, ast.Store)]
    indices = {it.slice.id if _is_plain(it) else None for it in found}
    if one is not other or len(indices) != 1 or None in indices:
        return None
    steps = _steps(layout, one, *indices)
    if steps is None or steps.number.in_grid is (race.space == "shared"):
        return None
    if _is_whole(layout, steps):
        return None
    axis = AXES[steps.number.axis]
    step, whose = f"cuda.blockDim.{axis}", "the block"
    if steps.number.in_grid:
        step, whose = f"cuda.gridDim.{axis} * {step}", "the grid"
        step = "cuda.gridsize(1)" if axis == "x" else step
    return Advice(
        f"The step of {named(steps.loop)} is smaller than the number of threads of "
        f"{whose}, so that several come to one cell: use `{step}` in place of "
        f"`{ast.unparse(steps.step)}`",
        _edit(layout, steps, step),
    )


def _is_plain(element):
    return isinstance(element.slice, ast.Name) and isinstance(element.value, ast.Name)


def _steps(layout, statement, name):
    """The loop that steps a variable from a thread's number."""
    for loop in layout.around(statement, LOOPS):
        if isinstance(loop, ast.For) and ast.unparse(loop.target) == name:
            call = loop.iter
            is_it = isinstance(call, ast.Call) and names_in(call.func) == ["range"]
            again = [it for it in layout.that_set(name) if it is not loop]
            if not is_it or len(call.args) != 3 or {*again} & {*ast.walk(loop)}:
                return None
            number = number_of(layout, call.args[0])
            return number and Stepping(loop, number, call.args[2], loop)
        if isinstance(loop, ast.While):
            return _of_while(layout, loop, name)
    return None


def _of_while(layout, loop, name):
    """The one `i += step` in the body of a `while`."""
    set_by = layout.that_set(name)
    if len(set_by) != 2 or set_by[1] not in loop.body:
        return None
    first, last = set_by
    adds = isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add)
    if not adds or not isinstance(first, ast.Assign):
        return None
    if ast.unparse(first.targets[0]) != name or first in loop.body:
        return None
    number = number_of(layout, first.value)
    return number and Stepping(loop, number, last.value, last)


def _is_whole(layout, steps):
    """Is the step the number of threads, along the axis of the first index?"""
    step, axis = steps.step, AXES[steps.number.axis]
    if isinstance(step, ast.Name):
        step = definition_of_name(layout, step.id)
    if step is None:
        return False
    if isinstance(step, ast.Subscript):
        step = step.value
    if isinstance(step, ast.Call):
        return names_in(step.func)[-1:] == ["gridsize"]
    parts = {
        ".".join(names_in(it)[-2:])
        for it in ast.walk(step)
        if isinstance(it, ast.Attribute)
    } - {"cuda.gridDim", "cuda.blockDim"}
    wanted = {f"blockDim.{axis}", *[f"gridDim.{axis}"] * steps.number.in_grid}
    product = isinstance(step, ast.BinOp) and isinstance(step.op, ast.Mult)
    return parts == wanted and (product or not steps.number.in_grid)


def _edit(layout, steps, step):
    if steps.statement is steps.loop:
        call = deepcopy(steps.loop.iter)
        call.args[2] = ast.parse(step, mode="eval").body
        return layout.edit("iter", steps.loop, ast.unparse(call))
    target = ast.unparse(steps.statement.target)
    return layout.edit("instead", steps.statement, f"{target} += {step}")
