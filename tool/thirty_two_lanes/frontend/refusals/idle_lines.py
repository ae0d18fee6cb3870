"""Lines of a kernel that Numba compiles and that do nothing, or not what they say."""

import ast
import inspect

from thirty_two_lanes.frontend.refusals.syntax import NO_FUNCTION, named_value, nodes_of


def idle_lines(function):
    """The lines that look as if they did something, each with a sentence: of a
    function, and of the device functions that it calls.
    """
    waiting, seen = [function], []
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.append(here)
        for node in nodes_of(here):
            if isinstance(node, ast.Expr) and _idle(node.value, here):
                yield here, node.lineno, _idle(node.value, here)
            if _fraction_of(node):
                yield here, node.lineno, _fraction_of(node)
            callee = getattr(named_value(node, here), "py_func", None)
            waiting += [callee] if inspect.isfunction(callee) else []


def _fraction_of(node):
    """What a `range(…)` of a float drops, in a sentence, or None."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if not called or node.func.id != "range":
        return None
    for given in node.args:
        divided = isinstance(given, ast.BinOp) and isinstance(given.op, ast.Div)
        if divided or isinstance(getattr(given, "value", None), float):
            return (
                f"`range` counts in whole numbers, and Numba drops the fraction of "
                f"`{ast.unparse(given)}`: `//` divides whole numbers"
            )
    return None


def _idle(node, function):
    """Why an expression that is a statement does nothing; None where it does."""
    text = ast.unparse(node)
    if isinstance(node, ast.Compare):
        return f"`{text}` compares and drops the answer: `=` gives a variable its value"
    value = named_value(node, function)
    full = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    is_axes = full.rpartition(".")[2] in NO_FUNCTION
    of_grid = isinstance(node, ast.Attribute) and node.attr == "sync"
    if of_grid or callable(value) and not is_axes:
        return f"`{text}` does nothing without its parentheses: write `{text}()`"
    return None
