"""`x[:, t] = y[i, :, t]`: an array stored into another, and what to write instead."""

import ast
import copy

_REMEDY = (
    "a kernel cannot store a whole array into another: copy element by element, "
    "`for {index} in range({length}): {line}`"
)
_EXAMPLE = _REMEDY.format(index="k", length="n", line="x[k] = y[k]")
_WHOLE = ast.Slice()
_MAKERS = ast.Compare, ast.BoolOp, ast.List  # also within an index


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
    axis = next((n for n, part in enumerate(_parts(target)) if _is_whole(part)), None)
    length = "n" if axis is None else f"{ast.unparse(target.value)}.shape[{axis}]"
    return _REMEDY.format(index=index, length=length, line=f"{one} = {other}")


def _may_be_array(value) -> bool:
    """Can this be an array, or a tuple of them, that no operator or list makes?"""
    if any(isinstance(part, _MAKERS) for part in ast.walk(value)):
        return False
    if isinstance(value, ast.Tuple):
        return all(map(_may_be_array, value.elts))
    return isinstance(value, ast.Subscript | ast.Name | ast.Attribute)


def _parts(node) -> list:
    """The parts of an index."""
    index = node.slice
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _is_whole(part) -> bool:
    """Is this `:`, a whole axis?"""
    return ast.dump(part) == ast.dump(_WHOLE)


def _element(node, index) -> str | None:
    """Element `index` of a part of an array; None for several axes or a range."""
    if not isinstance(node, ast.Subscript):
        return None if isinstance(node, ast.Tuple) else f"{ast.unparse(node)}[{index}]"
    parts = _parts(node)
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    if len(slices) > 1 or any(not _is_whole(part) for part in slices):
        return None
    if any(isinstance(part, ast.Constant) and not _is_number(part) for part in parts):
        return None
    changed = copy.copy(node)
    place = ast.Name(index)
    indices = [place if part in slices else part for part in parts]
    indices += [] if slices else [place]
    changed.slice = ast.Tuple(indices, ast.Load()) if len(indices) > 1 else indices[0]
    return ast.unparse(changed)


def _is_number(part) -> bool:
    """Is a constant in an index a number, and not `...` or None?"""
    return isinstance(part.value, int)
