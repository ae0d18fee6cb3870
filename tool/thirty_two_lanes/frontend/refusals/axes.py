"""What a line takes for one number and is several: a row of an array, or its shape."""

import ast
import re

from thirty_two_lanes.frontend.refusals.nodes import nodes_of

_MAKERS = ("shared.array", "local.array")
_OF_ROWS = re.compile(
    r"_array_allocate|numpy_take|>>> setitem\([^\n]*, array\([^\n]*|"
    r"Cannot unify [^\n]*array\(|"
    r">>> (?!setitem|getitem|print)\w+\([^\n]*array\("
)


def several_as_one(function, line, types, message):
    """What a refused line takes for one number, a sentence and the line; or None."""
    here = [node for node in nodes_of(function) if node.lineno == line]
    parents = [it for it in here if isinstance(it, ast.Subscript | ast.Attribute)]
    inner = {id(it.value) for it in parents}
    outer = [it for it in here if id(it) not in inner]
    found = None
    if _OF_ROWS.search(message):
        found = _row(outer, _axes(function, types))
    if not found and "UniTuple(" in message:
        found = _shape(outer)
    return found and (found, line)


def _axes(function, types) -> dict:
    """The number of axes of the arguments, and of arrays that the kernel makes."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    axes = {n: getattr(t, "ndim", 0) for n, t in zip(names, types, strict=False)}
    for node in nodes_of(function):
        made = getattr(node, "value", None)
        if not isinstance(node, ast.Assign) or not isinstance(made, ast.Call):
            continue
        if ast.unparse(made.func).endswith(_MAKERS) and made.args:
            shape = made.args[0]
            axes[ast.unparse(node.targets[0])] = len(getattr(shape, "elts", [0]))
    return axes


def _row(nodes, axes):
    """The first value that has fewer indices than its array has axes."""
    for node in nodes:
        name, given = _indexed(node)
        if 0 < given < axes.get(name, 0):
            return (
                f"`{name}` has {axes[name]} axes, so `{ast.unparse(node)}` is many "
                f"elements, not one: write {axes[name]} indices, as in "
                f"`{name}[{', '.join('ijklmn'[: axes[name]])}]`"
            )
    return None


def _indexed(node):
    """The array that a value is taken from, and how many indices it has."""
    given = 0
    while isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        parts = getattr(node.slice, "elts", [node.slice])
        if any(isinstance(part, ast.Slice) for part in parts):
            return None, 0
        given, node = given + len(parts), node.value
    return getattr(node, "id", None), given


def _shape(nodes):
    """A shape that is used whole."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            text = ast.unparse(node)
            return (
                f"`{text}` is a tuple, one number for each axis: write `{text}[0]`, or "
                f"`{ast.unparse(node.value)}.size` for the number of all elements"
            )
    return None
