"""What is wrong with arrays in a line: how they are made, copied, or indexed; in a
sentence.
"""

import ast
import copy
import re

import numpy as np

from thirty_two_lanes.frontend.refusals.syntax import named_value, nodes_of

_ELEMENTS = {  # a type of Python's, and those of Numba
    "float": "`float32` or `float64`",
    "int": "`int32` or `int64`",
    "bool": "`boolean`",
    "complex": "`complex64` or `complex128`",
}
_REMEDY = (
    "a kernel cannot store a whole array into another: copy element by element, "
    "`for {index} in range({length}): {line}`"
)
_EXAMPLE = _REMEDY.format(index="k", length="n", line="x[k] = y[k]")
_CONDITIONS = ast.Compare, ast.BoolOp, ast.List  # also within an index
_MAKERS = ("shared.array", "local.array")
_OF_TUPLE = re.compile(r"Cannot cast (?:Uni|Named)?\w*Tuple")
_OF_ROWS = re.compile(
    r"_array_allocate|numpy_take|>>> setitem\([^\n]*, array\([^\n]*|"
    r"Cannot unify [^\n]*array\(|"
    r">>> (?!setitem|getitem|print)\w+\([^\n]*array\("
)


# an array that is made


def wrong_array(name, call, function):
    """What is wrong with this call, in a sentence; or None."""
    given = dict(zip(("shape", "dtype"), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    shape, dtype = given.get("shape"), given.get("dtype")
    if dtype is None:
        return f"a shared or local array needs a type: `cuda.{name}(8, float32)`"
    wrong_type = _wrong_type(name, call, shape, dtype, function)
    return wrong_type or _wrong_shape(name, shape, function)


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
    for axis in axes:
        value = _value(axis, function)
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
    for node in ast.walk(shape):
        if isinstance(node, ast.Name) and node.id in local:
            return (
                "the shape of a shared or local array must be a number known when the "
                "kernel is compiled: a literal, or a global or closure variable on its "
                f"own. `{node.id}` is not known until the launch: write `TILE = 32` "
                "above the kernel, and `TILE` here"
            )
    computed = (it for it in axes if isinstance(it, ast.BinOp))
    return next((_computed(it) for it in computed if _known(it, function)), None)


def _known(expression, function):
    """Does it compute a number from globals that are known when it is compiled?"""
    names = [it for it in ast.walk(expression) if isinstance(it, ast.Name)]
    return names and all(isinstance(_value(it, function), int) for it in names)


def _computed(expression):
    text = ast.unparse(expression)
    return (
        "the shape of a shared or local array must be a literal, or a global or "
        f"closure variable on its own: write `SIZE = {text}` above the kernel, and "
        "`SIZE` here"
    )


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
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, function)
        return -value if isinstance(value, (int, float)) else None
    if isinstance(node, ast.BinOp):
        sides = _value(node.left, function), _value(node.right, function)
        if isinstance(node.op, ast.Div) and None not in sides:
            return 0.5  # whatever its value, a float
        return 0.5 if any(isinstance(side, float) for side in sides) else None
    return named_value(node, function)


# an array that is stored whole


def array_copy(node) -> str | None:
    """What to write instead of an assignment of a whole array, or None for others."""
    if not isinstance(node, ast.Assign) or not _may_be_array(node.value):
        return None
    target = node.targets[0]
    if isinstance(target, ast.Tuple):
        stores = any(isinstance(each, ast.Subscript) for each in target.elts)
        return _EXAMPLE if stores else None
    if not isinstance(target, ast.Subscript):
        return None
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    index = next(name for name in "kjnpqrstuvw_" if name not in used)
    one, other = _element(target, index), _element(node.value, index)
    if not one or not other:
        return _EXAMPLE
    axes = [axis for axis, part in enumerate(_parts(target)) if _is_whole_axis(part)]
    length = f"{ast.unparse(target.value)}.shape[{axes[0]}]" if axes else "n"
    return _REMEDY.format(index=index, length=length, line=f"{one} = {other}")


def _may_be_array(value) -> bool:
    """Can this be an array, or a tuple of them, that no operator or list makes?"""
    if any(isinstance(part, _CONDITIONS) for part in ast.walk(value)):
        return False
    if isinstance(value, ast.Tuple):
        return all(map(_may_be_array, value.elts))
    return isinstance(value, ast.Subscript | ast.Name | ast.Attribute)


def _parts(node) -> list:
    """The parts of an index."""
    return getattr(node.slice, "elts", [node.slice])


def _is_whole_axis(part) -> bool:
    """Is this `:`, a whole axis?"""
    return ast.unparse(part) == ":"


def _element(node, index) -> str | None:
    """Element `index` of a part of an array; None for several axes or a range."""
    if not isinstance(node, ast.Subscript):
        return None if isinstance(node, ast.Tuple) else f"{ast.unparse(node)}[{index}]"
    parts = _parts(node)
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    if len(slices) > 1 or any(not _is_whole_axis(part) for part in slices):
        return None
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    if not all(isinstance(value, int) for value in constants):  # `...`, or None
        return None
    changed = copy.copy(node)
    element = ast.Name(index)
    indices = [element if part in slices else part for part in parts]
    indices += [] if slices else [element]
    changed.slice = ast.Tuple(indices, ast.Load()) if len(indices) > 1 else indices[0]
    return ast.unparse(changed)


# a row of an array, or its shape, taken for one number


def several_as_one(function, line, types, message):
    """The line, and what it takes for one number, in a sentence; or None."""
    here = [node for node in nodes_of(function) if node.lineno == line]
    parents = [node for node in here if isinstance(node, ast.Subscript | ast.Attribute)]
    inner = {id(node.value) for node in parents}
    outer = [node for node in here if id(node) not in inner]
    found = None
    if _OF_ROWS.search(message):
        found = _row(outer, _axes(function, types))
    if not found and "UniTuple(" in message:
        found = _shape(outer)
    if not found and _OF_TUPLE.search(message):
        found = _index_of_atomic(outer)
    return found and (line, found)


def _index_of_atomic(nodes):
    """The first atomic operation whose index is a tuple."""
    for node in (it for it in nodes if isinstance(it, ast.Call)):
        called = ast.unparse(node.func)
        of_tuple = any(isinstance(it, ast.Tuple) for it in node.args[1:2])
        if called.startswith("cuda.atomic.") and of_tuple:
            array, index = map(ast.unparse, node.args[:2])
            return (
                f"`{called}` takes a number as the index of an array of one axis: "
                f"`i`, as in `{called}({array}, i, …)`, and not `{index}`"
            )
    return None


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
        if any(isinstance(part, ast.Slice) for part in _parts(node)):
            return None, 0
        given, node = given + len(_parts(node)), node.value
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
