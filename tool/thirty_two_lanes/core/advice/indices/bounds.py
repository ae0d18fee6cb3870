"""What to do about an index outside its array, or one that wraps: the guard that is
missing, or the one that is wrong by one, or two indices to swap.
"""

import ast
from typing import NamedTuple

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.indices import crossed, overrun, small
from thirty_two_lanes.core.advice.indices.ends import clamped, indices_of, lower, upper
from thirty_two_lanes.core.advice.patterns import elements
from thirty_two_lanes.core.advice.varying import array_of, calls_in, names_in

STRICT = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}  # a guard that lets the work run
LOOSE = {ast.Gt: ast.GtE, ast.Lt: ast.LtE}  # one that returns
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Wrapping(NamedTuple):
    """An index that is negative and counts from the end of its axis."""

    site: object
    array: str
    kind: str
    axis: int


class Outside(NamedTuple):
    """An index outside its array: the site and the array's name, "load", "store" or
    "atomic", the axis, the index and the array's shape; how far it is below zero as an
    unsigned number; the launch's threads in a block, and blocks, along each axis; the
    array's memory.
    """

    site: object
    array: str
    kind: str
    axis: int
    index: int
    shape: tuple[int, ...]
    below: int = 0
    block_dim: tuple[int, ...] = (1, 1, 1)
    grid_dim: tuple[int, ...] = (1, 1, 1)
    space: str = "global"

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The size of the axis."""
        return self.shape[self.axis]

    @property
    def length(self) -> str:
        """The size in the kernel's words."""
        return self.length_of(self.axis)

    @property
    def is_beyond(self) -> bool:
        """Is the index too large, and not below zero?"""
        return self.index >= self.size and not self.below

    def length_of(self, axis) -> str:
        """The size of an axis in the kernel's words."""
        return f"{self.array}" + (".size" if self.ndim == 1 else f".shape[{axis}]")


def advice_on(layout, outside) -> Advice | None:
    """What keeps an index inside; None where the source shows no more than it."""
    statement = layout.at(outside.site.line)
    if statement is None or outside.size == 0:
        return None
    slices = _whole_slices(statement, outside)
    found = {ast.unparse(it[outside.axis]): it[outside.axis] for it in slices}
    if not found or any(isinstance(it, ast.Slice) for it in found.values()):
        return None
    advice = crossed.on_indices(layout, slices, outside)
    if advice:
        return advice
    if len(found) == 1 and outside.index == outside.size:
        advice = _off_by_one(layout, statement, *found.values())
        if advice:
            return advice
    if outside.is_beyond:
        advice = (
            overrun.asked_too_late(layout, statement, found, outside)
            or small.advice_on(layout, slices, outside)
            or overrun.moved(layout, statement, found, outside)
            or crossed.on_beyond(layout, statement, slices, outside)
        )
        if advice:
            return advice
    tests = _inside(layout, slices, outside)
    if tests is None:
        return None
    test = _not_asked(layout, statement, tests)
    guard = f"guard this line, `if {test}:`"
    own = not any(overrun.is_moved(layout, it) for it in found.values())
    if own and outside.is_beyond:
        ends = "ends" if ">= 0" in test else "end"
        guard = f"let the threads beyond the {ends} do nothing: `if {test}:`"
    guard += clamped(layout, indices_of(slices), outside)
    if outside.index < 0:
        guard = f"a negative index counts from the end; this one goes too far: {guard}"
    return Advice(guard, _guarded(layout, statement, test))


def _asked(layout, statement):
    """The conditions of the `if`s and loops around a statement."""
    for it in layout.around(statement, ast.If | ast.While):
        if it is not statement:
            both = isinstance(it.test, ast.BoolOp) and isinstance(it.test.op, ast.And)
            yield from it.test.values if both else [it.test]


def on_wrap(layout, wrapping) -> Advice | None:
    """What keeps an index from being negative, where it counts from the end."""
    statement = layout.at(wrapping.site.line)
    slices = slices_of(statement, wrapping) if statement else []
    axes = max(map(len, slices), default=0)
    slices = [it for it in slices if len(it) == axes > wrapping.axis]
    if not slices:
        return None
    test = _not_asked(layout, statement, _not_negative(slices, wrapping.axis))
    return Advice(f"if that is not intended, guard this line, `if {test}:`")


def on_short_grid(layout, outside) -> Advice | None:
    """What to do where a grid ends before its array: swap two indices, or what a guard
    compares them with, if those are why; None where it is too small.
    """
    statement = layout.at(outside.site.line)
    slices = _whole_slices(statement, outside) if statement else []
    return crossed.on_indices(layout, slices, outside) or crossed.on_short(
        layout, statement, slices, outside
    )


def _not_asked(layout, statement, tests) -> str:
    """Conditions as one, without those that are asked already."""
    known = [ast.unparse(it) for it in _asked(layout, statement)]
    return " and ".join([it for it in tests if it not in known] or tests)


def _inside(layout, slices, outside):
    """The conditions under which all indices are inside, at the ends where they may not
    be, of all axes along which threads differ: where one has no guard, another hardly
    has. None where the source does not show them.
    """
    if outside.below:
        return _above_what_is_taken(slices, outside)
    negative, tests = outside.index < 0, []
    here = _not_negative(slices, outside.axis) if negative else []
    for group in indices_of(slices):
        first = group[0]
        if negative and first.axis == outside.axis:
            tests += [it for it in lower([group], of_all=True) if it in here]
        elif first.axis == outside.axis or layout.varying(first.node):
            tests += [*lower([group]), *upper([group], outside.length_of)]
    return tests


def _not_negative(slices, axis):
    """The conditions under which no index is negative, as one of an axis was."""
    groups = indices_of(slices)
    here = [it for it in groups if it[0].axis == axis]
    return lower(groups) if lower(here) else lower(here, of_all=True)


def _above_what_is_taken(slices, outside):
    """The conditions for the differences of unsigned numbers, if they are such."""
    found = [axes[outside.axis] for axes in slices]
    if not all(isinstance(getattr(it, "op", None), ast.Sub) for it in found):
        return None
    tests = (f"{ast.unparse(it.left)} >= {ast.unparse(it.right)}" for it in found)
    return list(dict.fromkeys(tests))


def _whole_slices(statement, outside):
    """Those that name an element, with an index for each axis."""
    return [it for it in slices_of(statement, outside) if len(it) == outside.ndim]


def slices_of(statement, outside):
    """The indices by which a statement names the array's elements, by axis."""
    parts = _own_parts(statement)
    kind = ast.Store if outside.kind == "store" else ast.Load
    if outside.kind == "atomic":
        calls = [it for part in parts for it in calls_in(part)]
        given = [it.args for it in calls if "atomic" in names_in(it.func)]
        slices = [it[1] for it in given if array_of(it[0]) == outside.array]
    else:
        found = [it for part in parts for it in elements(part, outside.array, kind)]
        if isinstance(statement, ast.AugAssign) and outside.kind == "load":
            found += elements(statement.target, outside.array, ast.Store)
        slices = [it.slice for it in found if isinstance(it.value, ast.Name)]
    return [it.elts if isinstance(it, ast.Tuple) else [it] for it in slices]


def _own_parts(statement):
    """A statement without the statements in it."""
    if not hasattr(statement, "body"):
        return [statement]
    heads = (getattr(statement, name, None) for name in ("test", "iter"))
    return [it for it in heads if it is not None]


def _off_by_one(layout, statement, index):
    """A guard that lets the index through that is just beyond the end."""
    path = layout.paths[statement]
    kinds = ast.If | ast.While
    for guard in layout.around(statement, kinds):
        changed = (
            _changed(guard.test, index, STRICT) if guard is not statement else None
        )
        if changed and any(it.statement is guard for it in path[:-1]):
            return _strict(layout, guard, *changed)
    before = [it for level in path for it in level.body[: level.index]]
    for guard in before:
        if isinstance(guard, ast.If) and isinstance(guard.body[-1], ast.Return):
            changed = _changed(guard.test, index, LOOSE)
            if changed:
                return _strict(layout, guard, *changed)
    return None


def _changed(test, index, table):
    """A test with another comparison of this index, and both signs."""
    text = ast.unparse(test)
    for part in ast.walk(test):
        if not isinstance(part, ast.Compare) or len(part.ops) != 1:
            continue
        sides = part.left, part.comparators[0]
        texts = [ast.unparse(it) for it in sides]
        if ast.unparse(index) not in texts:
            continue
        op = type(part.ops[0])
        turned = texts[1] == ast.unparse(index)
        loose = {ast.LtE, ast.Gt} if not turned else {ast.GtE, ast.Lt}
        if op in table and op in loose:
            new = f"{texts[0]} {SIGNS[table[op]]} {texts[1]}"
            return text.replace(ast.unparse(part), new), SIGNS[op], SIGNS[table[op]]
    return None


def _strict(layout, guard, test, sign, strict):
    return Advice(
        f"the guard of line {guard.lineno} is wrong by one: write `{strict}` in place "
        f"of `{sign}`, for the last index is one less than the size",
        layout.edit("test", guard, test),
    )


def _guarded(layout, statement, test):
    """The edit that puts a condition around a statement, or before its own."""
    if isinstance(statement, ast.If | ast.While):
        return layout.edit(
            "test", statement, f"{test} and ({ast.unparse(statement.test)})"
        )
    if hasattr(statement, "body") or layout.waits(statement):
        return None
    text = ast.unparse(statement)
    named_only = isinstance(statement, ast.Assign) and all(
        isinstance(it, ast.Name) for it in statement.targets
    )
    if named_only:
        targets = " = ".join(it.id for it in statement.targets)
        code = f"{targets} = {ast.unparse(statement.value)} if {test} else 0"
    else:
        code = f"if {test}:\n    {text}"
    return layout.edit("instead", statement, code)
