"""What a statement is for, as its source shows: an update, a first or smallest value, a
flag that is waited for, a step of a reduction.
"""

import ast

from thirty_two_lanes.core.advice.edit import spot_of
from thirty_two_lanes.core.advice.varying import array_of, names_in

ADDED = {ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_"}
ADDED |= {ast.BitXor: "xor"}
SMALLEST = {ast.Lt: "min", ast.LtE: "min", ast.Gt: "max", ast.GtE: "max"}
TURNED = {"min": "max", "max": "min"}


def elements(node, array, kind=ast.Load) -> list:
    """The elements of an array that a node loads, or stores to."""
    return [
        it
        for it in ast.walk(node)
        if isinstance(it, ast.Subscript)
        and isinstance(it.ctx, kind)
        and array_of(it) == array
    ]


def alike(one, other) -> bool:
    """Are two expressions the same, one loaded and one stored?"""
    return ast.unparse(one) == ast.unparse(other)


def called(function, element, *values) -> str:
    """A call of an atomic function on an element: `cuda.atomic.add(a, 0, x)`."""
    index = ast.unparse(element.slice)
    if isinstance(element.slice, ast.Tuple):
        index = f"({index.strip('()')})"
    given = ", ".join([ast.unparse(element.value), index, *values])
    return f"cuda.atomic.{function}({given})"


def target_of(statement):
    """The element that a statement stores to, None if it does anything else."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        target = getattr(statement, "target", None)
    return target if isinstance(target, ast.Subscript) else None


def as_atomic(statement) -> str | None:
    """The atomic call that does the same as an update in one statement."""
    target = target_of(statement)
    if target is None or not isinstance(target.value, ast.Name):
        return None
    if isinstance(statement, ast.AugAssign):
        name = ADDED.get(type(statement.op))
        return name and called(name, target, ast.unparse(statement.value))
    if not isinstance(statement, ast.Assign):
        return None
    value = statement.value
    if isinstance(value, ast.BinOp) and type(value.op) in ADDED:
        name = ADDED[type(value.op)]
        if alike(value.left, target):
            return called(name, target, ast.unparse(value.right))
        if alike(value.right, target) and name != "sub":
            return called(name, target, ast.unparse(value.left))
    if isinstance(value, ast.Call) and names_in(value.func)[-1:] in (["min"], ["max"]):
        others = [it for it in value.args if not alike(it, target)]
        if len(value.args) == 2 and len(others) == 1:
            return called(names_in(value.func)[-1], target, ast.unparse(others[0]))
    return None


def asks_and_stores(layout, line, other, array):
    """The `if` whose test loads an element of an array that its body stores to, if
    these are the two lines: how the first or the smallest of several values is kept.
    """
    statement = layout.at(max(line, other))
    for guard in layout.around(statement, ast.If) if statement else ():
        head = range(guard.lineno, guard.test.end_lineno + 1)
        asked = elements(guard.test, array)
        stored = [it for part in guard.body for it in elements(part, array, ast.Store)]
        here = {line, other} & {*head}
        inside = all(it in head or it <= guard.end_lineno for it in (line, other))
        same = any(alike(one, it) for one in asked for it in stored)
        same = same and len({ast.unparse(it) for it in asked}) == 1
        if (
            (here or line == other)
            and inside
            and same
            and guard.lineno <= min(line, other)
        ):
            return guard
    return None


def as_smallest(guard, array) -> str | None:
    """The atomic call that keeps the smallest or the largest value as an `if` does."""
    test, body = guard.test, guard.body
    if len(body) != 1 or guard.orelse or not isinstance(test, ast.Compare):
        return None
    target = target_of(body[0])
    if target is None or not isinstance(body[0], ast.Assign) or len(test.ops) != 1:
        return None
    name = SMALLEST.get(type(test.ops[0]))
    left, right = test.left, test.comparators[0]
    if alike(left, target):
        left, right, name = right, left, TURNED.get(name)
    if name is None or not alike(right, target) or not alike(left, body[0].value):
        return None
    return called(name, target, ast.unparse(left))


def taken_and_added(layout, statement, array):
    """Of two statements that load a cell into a variable and store what it makes, both,
    and the atomic call that does the same and gives the old value; None for any others.
    """
    path = layout.paths[statement]
    body, index = path[-1].body, path[-1].index
    for first in range(max(0, index - 1), index + 1):
        pair = body[first : first + 2]
        code = _added(*pair, array) if len(pair) == 2 else None
        if code:
            return (*pair, code)
    return None


def _added(load, store, array):
    target = target_of(store)
    simple = isinstance(load, ast.Assign) and isinstance(load.targets[0], ast.Name)
    if not simple or target is None or not isinstance(store, ast.Assign):
        return None
    name, value = load.targets[0].id, store.value
    if array_of(target) != array or ast.unparse(load.value) != ast.unparse(target):
        return None
    if not isinstance(value, ast.BinOp) or type(value.op) not in ADDED:
        return None
    if ast.unparse(value.left) != name:
        return None
    call = called(ADDED[type(value.op)], target, ast.unparse(value.right))
    return f"{name} = {call}"


def counted_and_read(layout, read, array):
    """Of a statement that sets a variable by the cell to which an atomic before it in
    the same body adds: the atomic's statement, this one, the code that does both, and
    what goes then; None for any others. With no array, of any.
    """
    if not isinstance(read, ast.Assign) or not isinstance(read.targets[0], ast.Name):
        return None
    level = layout.paths[read][-1]
    for count in level.body[level.index - 1 :: -1] if level.index else ():
        call = count.value if isinstance(count, ast.Expr) else None
        names = names_in(call.func) if isinstance(call, ast.Call) else []
        if layout.waits(count) or hasattr(count, "body"):
            return None
        if names[-2:] != ["atomic", "add"] or array not in (
            None,
            array_of(call.args[0]),
        ):
            continue
        code = _given_back(read, call)
        if code:
            return count, read, code, (spot_of(read),)
    return None


def _given_back(read, call):
    """A statement that takes a cell's value as the atomic on it gives it back."""
    array, index, added = map(ast.unparse, call.args)
    cell, name = f"{array}[{index.strip('()')}]", read.targets[0].id
    value = ast.unparse(read.value)
    if value == f"{cell} - {added}":
        return f"{name} = {ast.unparse(call)}"
    if value == cell:
        return f"{name} = {ast.unparse(call)} + {added}"
    return None


def sets_by_extreme(layout, test):
    """For the names that a condition asks, the atomic minimum or maximum that one is
    set by, as text; None for others.
    """
    for name in (it.id for it in ast.walk(test) if isinstance(it, ast.Name)):
        for it in layout.that_set(name):
            call = getattr(it, "value", None)
            names = names_in(call.func) if isinstance(call, ast.Call) else []
            if "atomic" in names and names[-1] in ("max", "min"):
                yield ".".join(names)


def sets_first(race, layout, statements) -> bool:
    """Does one of two statements store a number, and a later one update it, as sums
    and maxima do, with no loop around both?
    """
    one, other = sorted(statements, key=spot_of)
    if {race.first_kind, race.second_kind} != {"store", "atomic"}:
        return False
    if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Constant):
        return False
    updates = [
        names_in(it.func)[-1]
        for it in ast.walk(other)
        if isinstance(it, ast.Call)
        and "atomic" in names_in(it.func)
        and array_of(it.args[0]) == race.array
    ]
    plain = not hasattr(other, "body") and not layout.loops(one, other)
    return plain and bool(updates) and not {*updates} & {"cas", "exch"}


def waits_for(statement, array) -> bool:
    """Does a loop ask for an element of an array until it changes?"""
    return isinstance(statement, ast.While) and bool(elements(statement.test, array))


def steps_of_reduction(statements, array) -> bool:
    """Do statements all add an element of an array to another one?"""
    return all(_is_step(it, array) for it in statements if it is not None)


def _is_step(statement, array):
    target, loaded = target_of(statement), elements(statement, array)
    if target is None or array_of(target) != array or not loaded:
        return False
    changed = isinstance(statement, ast.AugAssign)
    return changed or any(alike(it, target) for it in loaded)
