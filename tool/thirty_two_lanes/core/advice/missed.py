"""What to do about a barrier that some threads miss."""

import ast

from thirty_two_lanes.core.advice.edit import Advice, spot_of
from thirty_two_lanes.core.advice.layout import (
    LOOPS,
    branches_change,
    is_barrier,
    named,
)
from thirty_two_lanes.core.advice.varying import calls_in


def advice_on(layout, line) -> Advice | None:
    """What lets all threads come to the barrier of a line."""
    barrier = layout.at(line)
    if barrier is None or not any(map(is_barrier, calls_in(barrier))):
        return None
    path = layout.paths[barrier]
    for depth in range(len(path) - 1, 0, -1):
        owner = path[depth].owner
        if layout.divides(owner):
            return _out_of(layout, barrier, path, depth)
    guards = layout.returns(path, len(path) - 1)
    return _after_return(layout, guards) if guards else None


def _out_of(layout, barrier, path, depth):
    """Out of an `if`, or of a loop that turns more often for some threads."""
    owner = path[depth].owner
    where = named(owner)
    if isinstance(owner, LOOPS):
        return Advice(
            f"Let {where} turn equally often for all threads, and guard the work in "
            "it: the barrier is in a loop that some leave earlier"
        )
    code = ast.unparse(barrier)
    if owner.orelse and path[depth].statement is barrier:
        return _of_branches(layout, owner, barrier)
    out_of = layout.out_of(path, len(path) - 1)
    edit = None
    if out_of:
        edit = layout.edit("instead", barrier, code, out_of=out_of)
    return Advice(
        f"Move the barrier out of {where}: end the `if` before it, and begin it again "
        "behind it where work follows",
        edit,
    )


def _of_branches(layout, owner, barrier):
    """One barrier for both branches of an `if`, in place of one in each or in one."""
    found = [
        [it for it in body if not hasattr(it, "body") and layout.waits(it)]
        for body in (owner.body, owner.orelse)
    ]
    edit = None
    if max(map(len, found)) == 1 and not branches_change(owner):
        those = tuple(spot_of(it) for part in found for it in part)
        edit = layout.edit("halves", owner, ast.unparse(barrier), without=those)
    lines = " and ".join(f"line {it.lineno}" for part in found for it in part)
    bodies = zip(found, (owner.body, owner.orelse), strict=True)
    ends = [(body[0] in part, body[-1] in part) for part, body in bodies if part]
    where = f"between two halves of {named(owner)}"
    for side, word in ((0, "before"), (1, "behind")):
        if all(end[side] for end in ends) and (side == 0 or len(ends) > 1):
            where = f"{word} {named(owner)}"
    return Advice(f"Put one barrier for all {where}, in place of {lines}", edit)


def _after_return(layout, guards):
    """Behind a `return` of some threads."""
    guard = guards[0]
    only = len(guard.body) == 1 and isinstance(guard.body[0], ast.Return)
    own = any(it is guard for it in layout.definition.body) and not guard.orelse
    edit = None
    if only and own and len(guards) == 1:
        edit = layout.edit("guard", guard, f"not ({ast.unparse(guard.test)})")
    return Advice(
        f"Let no thread return at the `if` of line {guard.lineno}: in place of the "
        "`return`, guard each load and store that follows, by the ends of its own "
        "array, and no barrier or shuffle",
        edit,
    )
