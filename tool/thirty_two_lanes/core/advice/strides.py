"""What lets neighbouring lanes ask for neighbouring elements, where an index that
differs between them is not the last one.
"""

import ast
from functools import lru_cache

from thirty_two_lanes.core.advice.advise import Layouts
from thirty_two_lanes.core.advice.bounds import Wrapping, slices_of
from thirty_two_lanes.core.advice.swapped import number_of


@lru_cache(maxsize=64)
def _layouts(function):
    return Layouts(function)


def index_to_move(function, site):
    """The index of x that is to be the last one, and the element as it is then, as
    text; None where the source at a row's site shows no such thing.
    """
    layout = function and _layouts(function).of(site)
    statement = layout and layout.at(site.line)
    if statement is None:
        return None
    found = {
        _moved(layout, site.array, axes)
        for axes in slices_of(statement, Wrapping(site, site.array, site.kind, 0))
    }
    return found.pop() if len(found) == 1 else None


def _moved(layout, array, axes):
    along = [getattr(number_of(layout, it), "axis", None) for it in axes]
    if along.count(0) != 1 or along[-1] in (0, None):
        return None
    at, moved = along.index(0), list(axes)
    moved[at], moved[-1] = moved[-1], moved[at]
    return ast.unparse(axes[at]), f"{array}[{', '.join(map(ast.unparse, moved))}]"
