"""Where a barrier is missing between the two lines of a race.

The order in which a run met two accesses does not say it: the barriers that are there
do. Where one stands on the way from one line down to the other, the way around their
loop has none, whichever access came first.
"""

import ast
from dataclasses import replace

from thirty_two_lanes.core.advice.edit import Advice, Wait, spot_of
from thirty_two_lanes.core.advice.layout import (
    LOOPS,
    branches_change,
    last_line,
    named,
)
from thirty_two_lanes.core.advice.patterns import elements, target_of
from thirty_two_lanes.core.advice.thread_numbers import first_lanes

BARRIER = "cuda.syncthreads()"


class Waiting:
    """Finds the place of a barrier that would order two lines."""

    def __init__(self, race, layout, lines, statements, warp):
        self.race, self.layout, self.warp = race, layout, warp
        self.lines, self.statements = lines, statements
        self.call = "cuda.syncwarp()" if warp else BARRIER
        self.wait = None  # at the place that was looked at last

    def advice(self) -> Advice | None:
        """The first place that is not ordered yet, as the run met the accesses."""
        one, other = self.statements
        if one is other:
            places = self._within(one)
        else:
            downwards = self.lines[0] <= self.lines[1] and not self.turns()
            places = [self._down, self._around][:: 1 if downwards else -1]
        for place in places:
            advice = place()
            if advice:
                return replace(advice, wait=self.wait)
        return None

    def turns(self) -> bool:
        """Are the two accesses of different turns of the loop around both?"""
        one, other = (self.layout.around(it, LOOPS) for it in self.statements)
        return self.race.apart and bool(one) and one[:1] == other[:1]

    def _within(self, statement):
        """Of one statement: what it stores, it loads in the loop's next turn."""
        if self.race.kind == "WAW":
            return [self._around] if self.turns() else []
        if self.race.kind == "RAW" or self.turns():
            return [self._around, lambda: self._load_first(statement)]
        return [lambda: self._load_first(statement)]

    def _down(self):
        """Between the upper line and the lower one."""
        upper, lower = self._sorted()
        layout, depth = self.layout, self.layout.meet(upper, lower)
        a, b = layout.paths[upper][depth], layout.paths[lower][depth]
        if a.statement is b.statement:
            return self._inside(a.statement, upper, lower)
        if layout.between(upper, lower, self.warp):
            return None
        call, out_of = self._call(layout.paths[lower], depth)
        left = named(a.statement, self._line_in(upper))
        right = named(b.statement, self._line_in(lower))
        place = f"between {left} and {right}"
        edit = None
        if out_of is not None:
            edit = layout.edit("before", b.statement, call, out_of=out_of)
        return self._put(place, edit, layout.paths[lower], depth)

    def _sorted(self):
        return sorted(self.statements, key=spot_of)

    def _inside(self, outer, upper, lower):
        """An `if` of which one line is the test, or each has a branch."""
        path = self.layout.paths[lower]
        if not isinstance(outer, ast.If):
            return None
        if upper is outer:
            if self.layout.comes_by(path, len(self.layout.paths[outer]) - 1, self.warp):
                return None
            return self._load_first(outer)
        return self._branches(outer)

    def _branches(self, guard):
        """The two branches of an `if`, one of which has to come first."""
        layout = self.layout
        path = layout.paths[guard]
        code, out_of = self._call(path, len(path) - 1)
        earlier = self.statements[0]
        first = int(any(earlier in ast.walk(it) for it in guard.orelse))
        can = out_of == () and not branches_change(guard)
        order = "branch of its `else`" if first else "first branch"
        return Advice(
            f"Make two `if`s of the branches of line {guard.lineno}, the {order} "
            f"first, and put `{code}` between them",
            layout.edit("apart", guard, code, first=first) if can else None,
        )

    def _around(self):
        """At the end of a loop around both lines."""
        layout = self.layout
        upper, lower = self._sorted()
        for loop in layout.loops(upper, lower):
            if layout.around_loop(lower, upper, loop, self.warp):
                continue
            path = layout.paths[loop]
            inner = layout.paths[loop.body[-1]]
            call, out_of = self._call(inner, len(inner) - 1)
            if out_of == ():
                edit = layout.edit("last", loop, call)
                return self._put(self._next_turn(loop), edit, path, len(path) - 1)
        return None

    def _next_turn(self, loop):
        """The place at the end of a loop, in words."""
        one, other = (self._line_in(it) for it in self.statements)
        if one < other:
            one, other = other, one
        own = all(self.layout.paths[it][-1].owner is loop for it in self.statements)
        if own:
            if one == other:
                return (
                    f"behind line {one}, at the end of the loop of line {loop.lineno}"
                )
            return f"between line {one} and line {other} of the loop's next iteration"
        return (
            f"at the end of the loop of line {loop.lineno}, behind line "
            f"{_end(loop)} and before line {other} of the next iteration"
        )

    def _load_first(self, statement):
        """Between what a statement loads and what it stores."""
        layout, path = self.layout, self.layout.paths[statement]
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.If):
            return None
        call, out_of = self._call(path, len(path) - 1)
        if isinstance(statement, ast.If) and self._is_elif(statement):
            out_of = None
        edit = None
        if out_of is not None and not self._indexed_by_itself(statement):
            edit = layout.edit("within", statement, call, out_of=out_of)
        what = "Load into a variable first"
        last = "store"
        if isinstance(statement, ast.If):
            what = f"Put what line {statement.lineno} asks into a variable first"
            last = "ask for that variable"
        sentence = f"{what}, then `{call}`, then {last}"
        return Advice(sentence + self._outside(out_of, path, len(path) - 1), edit)

    def _is_elif(self, statement):
        owner = self.layout.paths[statement][-1].owner
        return isinstance(owner, ast.If) and statement in owner.orelse

    def _indexed_by_itself(self, statement):
        target = target_of(statement)
        return target is not None and elements(target.slice, self.race.array)

    def _put(self, place, edit, path, depth):
        call, out_of = edit.code if edit else self.call, edit.out_of if edit else None
        more = self._outside(out_of, path, depth)
        if edit is not None and self.race.kind == "WAW" and not self.turns():
            return Advice(
                "Let one thread write the cell, give each thread its own, or use "
                f"`cuda.atomic`; where one line is to follow the other, put "
                f"`{call}` {place}{more}",
                edit,
            )
        return Advice(f"Put `{call}` {place}{more}", edit)

    def _outside(self, out_of, path, depth):
        """What has to change for all threads to come to a barrier, in words."""
        self.wait = self.wait._replace(where=self._changes(out_of, path, depth))
        return self.wait.where

    def _changes(self, out_of, path, depth):
        who = "lanes of the warp" if self.warp else "threads"
        all_of = f"for all {who} have to come to it"
        if out_of is None:
            return f", where all {who} come to it: guard the work, not the barrier"
        if not out_of:
            return self.wait.where
        lines = [it.line for it in out_of]
        first = self.layout.at(lines[0])
        if any(isinstance(it, ast.Return) for it in first.body):
            return (
                f", and guard the work before and behind it in place of the `return` "
                f"below line {lines[0]}, {all_of}"
            )
        which = " and ".join(f"line {it}" for it in lines)
        return f", and end the `if` of {which} before it and begin it again, {all_of}"

    def _call(self, path, depth):
        """The call for a body, and the `if`s that must end before it: none where the
        first lanes of a warp alone come there, and the call can name them.
        """
        layout, self.wait = self.layout, Wait(self.call, "")
        out_of = layout.out_of(path, depth, self.warp)
        owners = [it.owner for it in path[1 : depth + 1]]
        apart = [it for it in owners if layout.divides(it, warp=True)]
        if out_of == () or not self.warp or len(apart) != 1:
            return self.call, out_of
        (guard,) = apart
        count = first_lanes(layout, guard)
        other = path[owners.index(guard) + 1].statement in getattr(guard, "orelse", ())
        wide = "," in self.race.first_thread  # a row of threads may end within a warp
        if count is None or other or wide or layout.returns(path, depth, warp=True):
            return self.call, out_of
        call = f"cuda.syncwarp({2**count - 1:#x})"
        where = f", where {named(guard)} lets the first {count} lanes come by alone"
        self.wait = Wait(call, where)
        return call, ()

    def _line_in(self, statement):
        """The race's line in a statement."""
        which = 0 if statement is self.statements[0] else 1
        return self.lines[which]


def _end(loop):
    """The last line of a loop."""
    inside = ast.walk(loop.body[-1])
    return max(last_line(it) for it in inside if isinstance(it, ast.stmt))
