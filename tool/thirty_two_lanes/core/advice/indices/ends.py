"""The conditions under which indices are inside an array: of neighbours along one axis,
`a[i - 1]` and `a[i + 1]`, each end needs the one that is furthest out.
"""

import ast
from typing import NamedTuple


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
