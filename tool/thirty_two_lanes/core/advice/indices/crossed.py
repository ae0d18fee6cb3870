"""What to do about two axes that are taken for each other: by the indices of an array,
`a[x, y]` where x goes along its columns, as the launch's extents say; or by the guard,
`if x < a.shape[0] and y < a.shape[1]` around `a[y, x]`.
"""

import ast
from copy import deepcopy

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.indices.ends import indices_of, upper
from thirty_two_lanes.core.advice.thread_numbers import definition_of_name, number_of


def on_indices(layout, slices, outside) -> Advice | None:
    """Advice to swap the failing axis and another one, where the launch has threads
    for the array in that order and not in the one that is written.
    """
    for axes in slices if outside.ndim > 1 else ():
        numbers = [number_of(layout, it) for it in axes]
        for other in range(len(axes)):
            if _are_swapped(numbers, outside.axis, other, outside):
                return _swap(axes, numbers, *sorted((outside.axis, other)), outside)
    return None


def _are_swapped(numbers, axis, other, outside):
    """Do the threads along two axes fit the other one each, and not their own?"""
    one, two = numbers[axis], numbers[other]
    if one is None or two is None or one.axis == two.axis:
        return False
    threads = one.extent(outside), two.extent(outside)
    sizes = outside.shape[axis], outside.shape[other]
    fits, fits_swapped = (
        all(t >= s for t, s in zip(threads, those, strict=True))
        for those in (sizes, sizes[::-1])
    )
    return fits_swapped and not fits


def _swap(axes, numbers, one, other, outside):
    swapped = list(axes)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    texts = [ast.unparse(it) for it in swapped]
    first, second = texts[other], texts[one]
    ends = [numbers[it].extent(outside) for it in (one, other)]
    guard = " and ".join(upper(indices_of([swapped]), outside.length_of))
    return Advice(
        f"two indices are swapped: `{first}` has {ends[0]:,} values and `{second}` "
        f"{ends[1]:,}, and `{outside.array}` has shape {outside.shape}. Swap `{first}` "
        f"and `{second}` in all lines that use them so, "
        f"`{outside.array}[{', '.join(texts)}]`, and guard them by `if {guard}:`"
    )


def on_beyond(layout, statement, slices, outside) -> Advice | None:
    """Advice on an index that a guard lets too far, as it asks for another axis."""
    for axes in slices if outside.ndim > 1 else ():
        if not _alike(statement, axes):
            continue
        for guard, sides in _guards(layout, statement, axes):
            for other in _crossed(layout, guard, sides, outside.axis):
                return _swap_sizes(layout, guard, sides, outside, other)
    return None


def on_short(layout, statement, slices, outside) -> Advice | None:
    """Advice where the grid has threads for all elements and a guard stops some."""
    for axes in slices if outside.ndim > 1 else ():
        numbers = [number_of(layout, it) for it in axes]
        both = zip(numbers, outside.shape, strict=True)
        if not all(it and it.extent(outside) >= size for it, size in both):
            continue
        left = f"the last {outside.size - outside.index:,} elements of "
        left += f"`{outside.array}` along axis {outside.axis} are never stored to"
        for guard, sides in _guards(layout, statement, axes):
            for other in sides:
                stops = outside.shape[other] == outside.index and outside.axis in sides
                if other != outside.axis and stops:
                    return _swap_sizes(layout, guard, sides, outside, other, left)
        return Advice(
            "Let the guard compare each index with the size of its own axis",
            fact=f"{left}, and the grid has threads for them",
        )
    return None


def _alike(statement, axes):
    """Has each element of several axes in a statement the same indices?"""
    found = [it.slice for it in ast.walk(statement) if isinstance(it, ast.Subscript)]
    texts = [ast.unparse(it) for it in axes]
    return all(
        [ast.unparse(n) for n in it.elts][: len(texts)] == texts[: len(it.elts)]
        for it in found
        if isinstance(it, ast.Tuple)
    )


def _guards(layout, statement, axes):
    """The `if`s around a statement, and those before it that return; of each, by axis,
    the place of the comparison that keeps the axis' index below something.
    """
    path = layout.paths[statement]
    before = [it for level in path for it in level.body[: level.index]]
    returns = [
        it
        for it in before
        if isinstance(it, ast.If) and isinstance(it.body[-1], ast.Return)
    ]
    texts = [ast.unparse(it) for it in axes]
    around = [it for it in layout.around(statement, ast.If) if it is not statement]
    for guard in [*around, *returns]:
        kind = ast.GtE if guard in returns else ast.Lt
        parts = [*ast.walk(guard.test)]
        sides = {
            texts.index(ast.unparse(it.left)): n
            for n, it in enumerate(parts)
            if isinstance(it, ast.Compare) and isinstance(it.ops[-1], kind)
            if len(it.ops) == 1 and ast.unparse(it.left) in texts
        }
        if len(sides) > 1:
            yield guard, sides


def _crossed(layout, guard, sides, axis):
    """The axes whose index and this one's are compared with each other's size."""
    parts = [*ast.walk(guard.test)]
    asked = {n: _axis_of(layout, parts[it].comparators[0]) for n, it in sides.items()}
    return [it for it in asked if it != axis == asked[it] and asked.get(axis) == it]


def _axis_of(layout, bound):
    """The axis whose length a guard compares with, None where it is not known."""
    if isinstance(bound, ast.Name):
        bound = definition_of_name(layout, bound.id)
    is_it = isinstance(bound, ast.Subscript) and isinstance(bound.slice, ast.Constant)
    return bound.slice.value if is_it and _is_shape(bound.value) else None


def _is_shape(node):
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _swap_sizes(layout, guard, sides, outside, other, left=""):
    """Swap what two indices are compared with."""
    test = deepcopy(guard.test)
    parts = [*ast.walk(test)]
    one, two = parts[sides[outside.axis]], parts[sides[other]]
    fact = f"the guard of line {guard.lineno} compares `{ast.unparse(one.left)}` with "
    fact += f"`{ast.unparse(one.comparators[0])}`, but `{ast.unparse(one.left)}` "
    fact += f"indexes axis {outside.axis} of `{outside.array}`"
    one.comparators, two.comparators = two.comparators, one.comparators
    code = ast.unparse(test)
    edit = layout.edit("test", guard, code)
    if left:
        return Advice(f"write `if {code}:`", edit, fact=f"{fact}, and {left}")
    return Advice(f"{fact}: write `if {code}:` in its place", edit)
