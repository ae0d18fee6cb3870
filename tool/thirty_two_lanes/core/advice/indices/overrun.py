"""What to do about an index beyond the end that a loop moves there, and about a
condition that asks for the element before it asks for the index.
"""

import ast
from copy import deepcopy

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.layout import LOOPS, named
from thirty_two_lanes.core.advice.patterns import elements
from thirty_two_lanes.core.advice.varying import names_in, names_set

BELOW = {ast.Lt: 0, ast.Gt: 1}  # the side of the index where it is asked to be below


def asked_too_late(layout, statement, indices, outside) -> Advice | None:
    """Advice on the indices of a condition that asks for the element first."""
    late = (_asked_too_late(layout, statement, it, outside) for it in indices.values())
    return next(filter(None, late), None)


def _asked_too_late(layout, statement, index, outside) -> Advice | None:
    """Advice on `a[i] > 0 and i < n`, whose operands are to be swapped."""
    test = getattr(statement, "test", None)
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    loading = [n for n, it in enumerate(test.values) if elements(it, outside.array)]
    guards = [n for n, it in enumerate(test.values) if _is_below(it, index)]
    if not loading or not guards or guards[0] < loading[0]:
        return None
    values = list(test.values)
    values.insert(loading[0], values.pop(guards[0]))
    code = " and ".join(map(_operand, values))
    word = "while" if isinstance(statement, ast.While) else "if"
    guard = test.values[guards[0]]
    bound = _bound(guard)
    known = _is_length(layout, bound, outside)
    more = "" if known else f"; `{ast.unparse(bound)}` is `{outside.length}` or less"
    return Advice(
        f"the line asks for an element of `{outside.array}` before it asks whether "
        f"`{ast.unparse(guard)}`: swap the two, `{word} {code}:`{more}",
        layout.edit("test", statement, code) if known else None,
    )


def _operand(node):
    text = ast.unparse(node)
    loose = isinstance(node, ast.BoolOp | ast.IfExp | ast.NamedExpr)
    return f"({text})" if loose else text


def _is_below(test, index):
    """Does a condition ask an index to be below something?"""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    side = BELOW.get(type(test.ops[0]))
    sides = test.left, test.comparators[0]
    return side is not None and ast.unparse(sides[side]) == ast.unparse(index)


def _bound(guard):
    """What a condition asks an index to be below."""
    return (guard.comparators[0], guard.left)[BELOW[type(guard.ops[0])]]


def _is_length(layout, node, outside):
    """Is this the array's length along the axis, or a name that is set to it alone?"""
    lengths = {f"{outside.array}.shape[{outside.axis}]"}
    if outside.axis == 0:
        lengths.add(f"len({outside.array})")
    if outside.ndim == 1:
        lengths.add(f"{outside.array}.size")
    if isinstance(node, ast.Name):
        set_by = layout.that_set(node.id)
        if len(set_by) != 1 or not isinstance(set_by[0], ast.Assign):
            return False
        return ast.unparse(set_by[0].value) in lengths
    return ast.unparse(node) in lengths


def moved(layout, statement, indices, outside) -> Advice | None:
    """Advice on indices of which a loop around them moves the one that is too large."""
    loops = {text: _loop_of(layout, statement, it) for text, it in indices.items()}
    if None in loops.values():
        return None
    last = [text for text, it in loops.items() if _stop(it) not in loops]
    if len({loops[it] for it in last}) != 1:
        return None
    index, loop = indices[last[0]], loops[last[0]]
    below = " and ".join(f"`{it}`" for it in last)
    have = "has" if len(last) == 1 else "have"
    told = f"{named(loop)} goes too far, and {below} {have} to stay below "
    told += f"`{outside.length}`"
    if len(last) > 1:
        return Advice(f"{told}: let it end before that")
    if isinstance(loop, ast.For):
        return _of_range(layout, loop, index, outside, told)
    return _of_while(layout, statement, loop, f"{last[0]} < {outside.length}", told)


def _loop_of(layout, statement, index):
    """The innermost loop that moves an index, where threads do not differ in the rest
    of it.
    """
    names = {it.id for it in ast.walk(index) if isinstance(it, ast.Name)}
    for loop in layout.around(statement, LOOPS):
        moved = names & _moved_by(loop, statement)
        if moved:
            others = [it for it in ast.walk(index) if isinstance(it, ast.Name)]
            rest = [it for it in others if it.id not in moved]
            return None if any(map(layout.varying, rest)) else loop
    return None


def _moved_by(loop, statement):
    """The variables that a loop moves from turn to turn."""
    if isinstance(loop, ast.For):
        own = isinstance(loop.target, ast.Name) and loop is not statement
        return {loop.target.id} if own else set()
    return {name for it in ast.walk(loop) for name in _stepped(it)}


def _stepped(statement):
    """The variables that a statement moves from where they are."""
    if isinstance(statement, ast.AugAssign):
        return names_set(statement.target)
    if isinstance(statement, ast.Assign):
        used = {it.id for it in ast.walk(statement.value) if isinstance(it, ast.Name)}
        return names_set(statement) & used
    return set()


def is_moved(layout, index) -> bool:
    """Does a statement move an index from what the thread had first?"""
    names = {it.id for it in ast.walk(index) if isinstance(it, ast.Name)}
    return any(names & _stepped(it) for it in layout.paths)


def _stop(loop):
    """Where a `for` over a `range` ends, as text; None for any other."""
    call = getattr(loop, "iter", None)
    if not isinstance(call, ast.Call) or names_in(call.func) != ["range"]:
        return None
    down = len(call.args) == 3 and isinstance(call.args[2], ast.UnaryOp)
    return None if down or call.keywords else ast.unparse(call.args[:2][-1])


def _of_range(layout, loop, index, outside, told):
    """Advice on a `for`: where its `range` has to end."""
    end = _end_of(index, loop, outside.length)
    if _stop(loop) is None or end is None:
        return Advice(f"{told}: let it end before that")
    call = deepcopy(loop.iter)
    call.args[len(call.args[:2]) - 1] = end
    code = ast.unparse(call)
    head = f"for {loop.target.id} in {code}:"
    return Advice(f"{told}: write `{head}`", layout.edit("iter", loop, code))


def _end_of(index, loop, length):
    """Where a loop's variable has to end for an index to stay below a length."""
    end, name = ast.parse(length, mode="eval").body, loop.target.id
    if isinstance(index, ast.Name):
        return end
    if not isinstance(index, ast.BinOp):
        return None
    sides = index.left, index.right
    own = [isinstance(it, ast.Name) and it.id == name for it in sides]
    if sum(own) != 1 or not isinstance(sides[own.index(False)], ast.Constant):
        return None
    if isinstance(index.op, ast.Add):
        return ast.BinOp(end, ast.Sub(), sides[own.index(False)])
    if isinstance(index.op, ast.Sub) and own[0]:
        return ast.BinOp(end, ast.Add(), index.right)
    return None


def _of_while(layout, statement, loop, test, told):
    """Advice on a `while`: what its condition has to ask as well."""
    code = f"{test} and ({ast.unparse(loop.test)})"
    if ast.unparse(loop.test) == "True":
        code = test
    if statement is not loop and _moves_before(layout, statement, loop):
        return Advice(f"{told}: end it, or ask `{test}`, before this line")
    return Advice(f"{told}: write `while {code}:`", layout.edit("test", loop, code))


def _moves_before(layout, statement, loop):
    """Does a loop move its variables before a statement of its body?"""
    depth = len(layout.paths[loop])
    _, body, index = layout.paths[statement][depth]
    return any(_stepped(part) for it in body[:index] for part in ast.walk(it))
