"""What is wrong with a call of `cuda.shared.array` or `cuda.local.array`."""

import ast

import numpy as np

from thirty_two_lanes.frontend.refusals.nodes import named_value

_SHAPE = (
    "the shape of a shared or local array must be a number known when the kernel is "
    "compiled: a literal, or a global or closure variable on its own. "
)
_ELEMENTS = {  # a type of Python's, and those of Numba
    "float": "`float32` or `float64`",
    "int": "`int32` or `int64`",
    "bool": "`boolean`",
    "complex": "`complex64` or `complex128`",
}


def wrong_array(name, call, function):
    """What is wrong with this call, in a sentence; or None."""
    shape, dtype = _arguments(call)
    if dtype is None:
        return f"a shared or local array needs a type: `cuda.{name}(8, float32)`"
    return _wrong_type(name, call, shape, dtype, function) or _wrong_shape(
        name, shape, function
    )


def _arguments(call):
    """The shape and the type, as they are written; None for what is missing."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = dict(zip(("shape", "dtype"), call.args, strict=False)) | named
    return given.get("shape"), given.get("dtype")


def _wrong_type(name, call, shape, dtype, function):
    written = ast.unparse(dtype)
    value = _value(dtype, function)
    if isinstance(value, type) and value.__module__ == "builtins":
        instead = _ELEMENTS.get(value.__name__, "a number's type, such as `float32`")
        return (
            f"`{written}` is not a type of an array's elements in a kernel: write "
            f"{instead} (`from numba import …`)"
        )
    if isinstance(value, str) and not _is_dtype(value):
        return f"there is no type {written} of an array's elements: write `float32`"
    if isinstance(value, (int, tuple)) and len(call.args) > 2:
        axes = ", ".join(map(ast.unparse, call.args[:-1]))
        return (
            "the sizes of a shared or local array are one tuple: "
            f"`cuda.{name}(({axes}), {ast.unparse(call.args[-1])})`"
        )
    if isinstance(value, (int, tuple)):
        return (
            "a shared or local array takes its shape first, and then its type: "
            f"`cuda.{name}({written}, {ast.unparse(shape)})`"
        )
    if value is np.object_:
        return (
            "an array of a kernel cannot hold Python objects: write `float32` or "
            "another number's type"
        )
    return None


def _wrong_shape(name, shape, function):
    if shape is None:
        return f"a shared or local array needs a shape: `cuda.{name}(8, float32)`"
    axes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    known = [_value(axis, function) for axis in axes]
    for axis, value in zip(axes, known, strict=True):
        if isinstance(value, float):
            return (
                f"the shape of a shared or local array has whole numbers, and "
                f"`{ast.unparse(axis)}` is a float: `//` divides whole numbers"
            )
        is_dynamic = name == "shared.array" and len(axes) == 1 and value == 0
        if isinstance(value, int) and value < 1 and not is_dynamic:
            return (
                "a shared or local array has at least 1 element along each axis, and "
                f"this one has {value}"
            )
    local = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    names = [
        node.id
        for node in ast.walk(shape)
        if isinstance(node, ast.Name) and node.id in local
    ]
    if names:
        return (
            f"{_SHAPE}`{names[0]}` is not known until the launch: write `TILE = 32` "
            "above the kernel, and `TILE` here"
        )
    return None


def _is_dtype(text) -> bool:
    try:
        return np.dtype(text).kind in "biufcV"
    except TypeError:
        return False


def _value(node, function):
    """What an expression of literals and globals is worth; None if not known."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(_value(item, function) for item in node.elts)
    if isinstance(node, ast.Attribute) or isinstance(node, ast.Name):
        return named_value(node, function)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, function)
        return -value if isinstance(value, (int, float)) else None
    if isinstance(node, ast.BinOp):
        sides = _value(node.left, function), _value(node.right, function)
        if isinstance(node.op, ast.Div) and None not in sides:
            return 0.5  # whatever its value, a float
        return 0.5 if any(isinstance(side, float) for side in sides) else None
    return None
