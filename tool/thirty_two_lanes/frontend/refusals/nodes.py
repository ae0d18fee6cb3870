"""The source of a function as syntax, and what names in it stand for."""

import ast
import builtins
from contextlib import suppress

from thirty_two_lanes.core.source import definition_of

# what a kernel reads and cannot call, by its name below `cuda`
NO_FUNCTION = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize"),
    *(f"{name}.{axis}" for name in ("threadIdx", "blockIdx") for axis in "xyz"),
    *(f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in "xyz"),
)


def nodes_of(function):
    """The nodes of a function's source, with the line numbers of its file."""
    definition = definition_of(function)
    return [
        node
        for statement in (definition.body if definition else ())
        for node in ast.walk(statement)
        if hasattr(node, "lineno")
    ]


def named_value(node, function):
    """What a name, or an attribute of one, stands for outside a function, or None."""
    if isinstance(node, ast.Attribute):
        return getattr(named_value(node.value, function), node.attr, None)
    if not isinstance(node, ast.Name) or node.id in function.__code__.co_varnames:
        return None
    free = function.__code__.co_freevars
    if node.id in free:
        with suppress(ValueError):  # nothing is in it yet
            return function.__closure__[free.index(node.id)].cell_contents
        return None
    return function.__globals__.get(node.id, vars(builtins).get(node.id))
