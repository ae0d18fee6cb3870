"""What lets neighbouring lanes ask for neighbouring elements, where an index that
differs between them is not the last one.
"""

import ast
from functools import lru_cache

from thirty_two_lanes.core.advice.advise import Layouts
from thirty_two_lanes.core.advice.indices.bounds import Wrapping, slices_of
from thirty_two_lanes.core.advice.thread_numbers import number_of


@lru_cache(maxsize=64)
def _layouts(function):
    return Layouts(function)


class Strides:
    """What the source says of a run's sites, also where the function is gone: `moved`
    has for each an index and an element, `one_axis` those of arrays that have no rows,
    `rows` those where x goes along a row and another number of a thread says which.
    """

    def __init__(self, function, sites):
        self.moved = {site: _index_to_move(function, site) for site in sites}
        self.one_axis = {site for site in sites if _has_one_axis(function, site)}
        self.rows = {site for site in sites if _is_of_rows(function, site)}


def _index_to_move(function, site):
    """The index of x that is to be the last one, and the element as it is then, as
    text; None where the source at a row's site shows no such thing, or the function has
    arrays in either order, as a transpose does.
    """
    layout, slices = _at(function, site)
    if not slices or _has_x_last(layout):
        return None
    found = {_moved(layout, site.array, axes) for axes in slices}
    return found.pop() if len(found) == 1 else None


def _has_one_axis(function, site) -> bool:
    """Has a row's array one index, where the source at its site shows it?"""
    _, slices = _at(function, site)
    return bool(slices) and all(len(axes) == 1 for axes in slices)


def _is_of_rows(function, site) -> bool:
    """Is x a row's last index, and do y or z alone say of which row a lane is?"""
    layout, slices = _at(function, site)
    return bool(slices) and all(_goes_by_rows(layout, axes) for axes in slices)


def _goes_by_rows(layout, axes):
    *others, last = axes
    varying = [it for it in others if not _is_one_for_all(layout, it)]
    which = [_axis_of(layout, it) for it in varying]
    return bool(which) and _axis_of(layout, last) == 0 and not {*which} & {0, None}


def _is_one_for_all(layout, node) -> bool:
    """Have all lanes that come by together the same number? So they have of a loop that
    begins and ends alike for all.
    """
    names = {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
    of_loops = {it for it in names if _counts_alike(layout, it)}
    return not layout.varying(node) or bool(of_loops) and names == of_loops


def _counts_alike(layout, name):
    set_by = layout.that_set(name)
    alike = (isinstance(it, ast.For) and not layout.varying(it.iter) for it in set_by)
    return bool(set_by) and all(alike)


def _axis_of(layout, node):
    """The axis of the threads along which an index goes one by one, if it does."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        if _is_one_for_all(layout, node.right):
            return _axis_of(layout, node.left)
        if isinstance(node.op, ast.Add) and _is_one_for_all(layout, node.left):
            return _axis_of(layout, node.right)
    return getattr(number_of(layout, node), "axis", None)


def _at(function, site):
    """The layout that has a row's site, and the indices of its array there."""
    layout = function and _layouts(function).of(site)
    statement = layout and layout.at(site.line)
    asked = Wrapping(site, site.array, site.kind, 0)
    return layout, statement and slices_of(statement, asked)


def _has_x_last(layout) -> bool:
    """Is x the last of several indices somewhere?"""
    slices = (it.slice for it in ast.walk(layout.definition) if _has_axes(it))
    return any(_along(layout, it.elts)[-1] == 0 for it in slices)


def _has_axes(node) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)


def _along(layout, axes):
    """The axis of the threads along which each index goes, None of others."""
    return [getattr(number_of(layout, it), "axis", None) for it in axes]


def _moved(layout, array, axes):
    along = _along(layout, axes)
    if along.count(0) != 1 or along[-1] in (0, None):
        return None
    at, moved = along.index(0), list(axes)
    moved[at], moved[-1] = moved[-1], moved[at]
    return ast.unparse(axes[at]), f"{array}[{', '.join(map(ast.unparse, moved))}]"
