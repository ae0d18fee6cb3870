"""Which number of a thread an index is: along which axis, in its block or the grid."""

import ast
from typing import NamedTuple

from thirty_two_lanes.core.advice.varying import names_in
from thirty_two_lanes.core.hardware import WARP_SIZE

AXES = "xyz"


class ThreadNumber(NamedTuple):
    """A thread's own number along an axis, in its block or in the whole grid."""

    axis: int
    in_grid: bool

    def extent(self, outside) -> int:
        """How many there are in the launch."""
        threads = outside.block_dim[self.axis]
        return threads * outside.grid_dim[self.axis] if self.in_grid else threads


FIRST_AXIS = ThreadNumber(0, False)


def number_of(layout, node) -> ThreadNumber | None:
    """The thread's number that an index is, or is a fixed distance from."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        if isinstance(node.right, ast.Constant):
            return number_of(layout, node.left)
    parts = _parts(layout, node)
    if parts is None or len({axis for _, axis in parts}) != 1:
        return None
    kinds, ((_, axis), *_) = {kind for kind, _ in parts}, parts
    known = {"grid": True, "threadIdx": False, "blockIdx threadIdx": True}
    in_grid = known.get(" ".join(sorted(kinds)))
    return None if in_grid is None else ThreadNumber(axis, in_grid)


def first_lanes(layout, guard) -> int | None:
    """How many lanes of a warp an `if` lets through that asks for `threadIdx.x < 16`;
    None where it asks for anything else.
    """
    test = getattr(guard, "test", None)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    (sign,), (bound,) = test.ops, test.comparators
    count = bound.value if isinstance(bound, ast.Constant) else None
    if not isinstance(sign, ast.Lt) or not isinstance(count, int):
        return None
    left = test.left
    own = not isinstance(left, ast.BinOp) and number_of(layout, left) == FIRST_AXIS
    return count if own and 0 < count < WARP_SIZE else None


def _parts(layout, node, seen=()):
    """What of the launch an expression is a sum of: ("threadIdx", axis) and so on; None
    where it is something else. Of a product, only what differs between blocks.
    """
    if isinstance(node, ast.Name):
        made = None if node.id in seen else definition_of_name(layout, node.id)
        return None if made is None else _parts(layout, made, (*seen, node.id))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _of_grid(node.value, node.slice.value)
    if isinstance(node, ast.Call):
        return _of_grid(node, 0) if _axes_of_grid(node) == 1 else None
    if isinstance(node, ast.Attribute):
        *_, kind, axis = ["", *names_in(node)]
        known = kind in ("threadIdx", "blockIdx") and axis in AXES
        return {(kind, AXES.index(axis))} if known else None
    if not isinstance(node, ast.BinOp):
        return None
    parts = [_parts(layout, it, seen) for it in (node.left, node.right)]
    if isinstance(node.op, ast.Mult):
        of_block = [
            it for it in parts if it and {kind for kind, _ in it} == {"blockIdx"}
        ]
        return of_block[0] if len(of_block) == 1 else None
    if isinstance(node.op, ast.Add) and None not in parts:
        return parts[0] | parts[1]
    return None


def _axes_of_grid(call) -> int:
    """The number of axes that a call of `cuda.grid` asks for, 0 for any other call."""
    is_it = names_in(call.func)[-1:] == ["grid"] and len(call.args) == 1
    count = call.args[0] if is_it else None
    return count.value if isinstance(count, ast.Constant) else 0


def _of_grid(node, axis):
    is_it = isinstance(node, ast.Call) and isinstance(axis, int)
    return {("grid", axis)} if is_it and 0 <= axis < _axes_of_grid(node) else None


def definition_of_name(layout, name):
    """The expression that a variable is set to, if one statement alone sets it."""
    set_by = layout.that_set(name)
    if len(set_by) != 1 or not isinstance(set_by[0], ast.Assign):
        return None
    (target, *more), value = set_by[0].targets, set_by[0].value
    if isinstance(target, ast.Name):
        return None if more else value
    names = [getattr(it, "id", None) for it in getattr(target, "elts", ())]
    if name not in names:
        return None
    if isinstance(value, ast.Tuple):
        return value.elts[names.index(name)]
    return ast.Subscript(value, ast.Constant(names.index(name)), ast.Load())
