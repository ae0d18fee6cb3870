"""What to do about an index outside its array: the guard that is missing, or the one
that is wrong by one.
"""

import ast
from typing import NamedTuple

from thirty_two_lanes.core.advice import overrun
from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.patterns import elements
from thirty_two_lanes.core.advice.varying import array_of, calls_in, names_in

STRICT = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}  # a guard that lets the work run
LOOSE = {ast.Gt: ast.GtE, ast.Lt: ast.LtE}  # one that returns
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Outside(NamedTuple):
    """An index outside its array: the site and the array's name, "load", "store" or
    "atomic", the axis, how many there are, the index and the axis's size; how far it
    is below zero as an unsigned number.
    """

    site: object
    array: str
    kind: str
    axis: int
    ndim: int
    index: int
    size: int
    below: int = 0

    @property
    def length(self) -> str:
        """The size in the kernel's words."""
        if self.ndim == 1:
            return f"{self.array}.size"
        return f"{self.array}.shape[{self.axis}]"


def advice_on(layout, outside) -> Advice | None:
    """What keeps an index inside; None where the source shows no more than it."""
    statement = layout.at(outside.site.line)
    if statement is None or outside.size == 0:
        return None
    slices = _slices(statement, outside)
    found = {ast.unparse(it[outside.axis]): it[outside.axis] for it in slices}
    if not found or any(isinstance(it, ast.Slice) for it in found.values()):
        return None
    if len(found) == 1 and outside.index == outside.size:
        advice = _off_by_one(layout, statement, *found.values())
        if advice:
            return advice
    if outside.index >= outside.size and not outside.below:
        advice = overrun.advice_on(layout, statement, found, outside)
        if advice:
            return advice
    tests = [it for it in map(_inside, [outside] * len(found), found.values()) if it]
    if len(tests) != len(found):
        return None
    if outside.index >= outside.size and not outside.below:
        tests = _on_all_axes(layout, slices, outside)
    known = [ast.unparse(it) for it in _asked(layout, statement)]
    test = " and ".join([it for it in tests if it not in known] or tests)
    guard = f"guard this line, `if {test}:`"
    own = not any(overrun.is_moved(layout, it) for it in found.values())
    if own and outside.index >= outside.size and not outside.below:
        guard = f"let the threads beyond the end do nothing: `if {test}:`"
    if outside.index < 0:
        guard = f"a negative index counts from the end; this one goes too far: {guard}"
    return Advice(guard, _guarded(layout, statement, test))


def _asked(layout, statement):
    """The conditions of the `if`s and loops around a statement."""
    for it in layout.around(statement, ast.If | ast.While):
        if it is not statement:
            both = isinstance(it.test, ast.BoolOp) and isinstance(it.test.op, ast.And)
            yield from it.test.values if both else [it.test]


def _inside(outside, index):
    """The condition under which an index is inside, at the end where it is not."""
    if outside.below:
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub):
            return f"{ast.unparse(index.left)} >= {ast.unparse(index.right)}"
        return None
    if outside.index < 0:
        return f"{_in_brackets(index)} >= 0"
    return f"{_in_brackets(index)} < {outside.length}"


def _on_all_axes(layout, slices, outside):
    """The conditions for the ends of all axes along which threads differ: where one has
    no guard, another hardly has.
    """
    tests = []
    for axes in slices:
        for axis, index in enumerate(axes):
            wanted = axis == outside.axis or layout.varying(index)
            if wanted and not isinstance(index, ast.Slice):
                tests.append(_inside(outside._replace(axis=axis), index))
    return list(dict.fromkeys(tests))


def _in_brackets(index):
    text = ast.unparse(index)
    loose = isinstance(index, ast.IfExp | ast.BoolOp | ast.Compare)
    return f"({text})" if loose else text


def _slices(statement, outside):
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
    by_axis = [it.elts if isinstance(it, ast.Tuple) else [it] for it in slices]
    return [axes for axes in by_axis if len(axes) == outside.ndim]


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
