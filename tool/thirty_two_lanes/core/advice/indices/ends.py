"""The conditions under which indices are inside an array: of neighbours along one axis,
`a[i - 1]` and `a[i + 1]`, each end needs the one that is furthest out.
"""

import ast
from typing import NamedTuple

from thirty_two_lanes.core.advice.thread_numbers import definition_of_name
from thirty_two_lanes.core.advice.varying import calls_in, names_in


class Index(NamedTuple):
    """An index of an axis: what it is counted from, and how far away it is; None where
    that is no number.
    """

    node: ast.expr
    axis: int
    base: str
    offset: int | None

    @property
    def text(self) -> str:
        """As a side of a comparison."""
        text = ast.unparse(self.node)
        loose = isinstance(self.node, ast.IfExp | ast.BoolOp | ast.Compare)
        return f"({text})" if loose else text

    @property
    def may_be_negative(self) -> bool:
        """Is something subtracted from what is no number itself?"""
        node = self.node
        is_difference = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        return is_difference and not isinstance(node.left, ast.Constant)


def indices_of(slices) -> list[list[Index]]:
    """All indices by which elements are named, those that are counted from the same
    together; in the order of their axes.
    """
    groups = {}
    for axis, indices in enumerate(zip(*slices, strict=True)):
        for node in indices:
            if not isinstance(node, ast.Slice):
                base, offset = _parted(node)
                group = groups.setdefault((axis, base, offset is None), {})
                group[ast.unparse(node)] = Index(node, axis, base, offset)
    return [list(it.values()) for it in groups.values()]


def _parted(node):
    """What an index is counted from, and its distance."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = node.left, node.right
        if isinstance(right, ast.Constant) and isinstance(right.value, int):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            return ast.unparse(left), sign * right.value
        if isinstance(node.op, ast.Add) and isinstance(left, ast.Constant):
            return ast.unparse(right), left.value
        return ast.unparse(node), None
    return ast.unparse(node), 0


def clamped(layout, groups, outside) -> str:
    """How a place that a value is given, as a bin of a histogram is, stays the last one
    where it is just behind it; "" for other indices.
    """
    of_axis = [it for group in groups for it in group if it.axis == outside.axis]
    if len(of_axis) != 1 or outside.index != outside.size:
        return ""
    node = of_axis[0].node
    value = definition_of_name(layout, node.id) if isinstance(node, ast.Name) else node
    if value is None or not any(names_in(it.func) == ["int"] for it in calls_in(value)):
        return ""
    last = f"min({ast.unparse(node)}, {outside.length} - 1)"
    return f", or let the last one have what is at the very end, `{last}`"


def lower(groups, of_all=False) -> list[str]:
    """What keeps indices from being negative: those of which something is taken."""
    lowest = (min(it, key=_offset) for it in groups)
    return [f"{it.text} >= 0" for it in lowest if of_all or it.may_be_negative]


def upper(groups, length) -> list[str]:
    """What keeps indices below the length of their axis."""
    highest = (max(it, key=_offset) for it in groups)
    return [f"{it.text} < {length(it.axis)}" for it in highest]


def _offset(index):
    return index.offset or 0
