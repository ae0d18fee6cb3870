"""The statements of a function: which one a line is of, what is around it, which
barriers stand between two of them, and where one may stand.
"""

import ast
from functools import cached_property
from typing import NamedTuple

from thirty_two_lanes.core.advice.edit import Edit, spot_of
from thirty_two_lanes.core.advice.varying import (
    Varying,
    arrays_changed,
    calls_in,
    names_in,
    names_set,
)

LOOPS = ast.For, ast.While
BODIES = "body", "orelse"


class Nested(NamedTuple):
    """A statement's place in a body, and whose body that is."""

    owner: ast.AST
    body: list
    index: int

    @property
    def statement(self):
        """What stands there."""
        return self.body[self.index]


class Layout:
    """A function's statements. In the run that is advised on, `missed` are the lines of
    barriers that threads missed, `split` of branches that split a warp, `ran` all that
    ran, None where that is not known.
    """

    def __init__(self, definition, is_kernel=True, missed=(), split=(), ran=None):
        self.definition, self.is_kernel = definition, is_kernel
        self.missed, self.split, self.ran = missed, split, ran
        self.paths = {}
        self._walk(definition, ())

    @cached_property
    def varying(self):
        """What differs between the threads of a block."""
        return Varying(self.definition, self.is_kernel)

    def _walk(self, owner, path):
        for name in BODIES:
            body = getattr(owner, name, None) or []
            for index, statement in enumerate(body):
                here = *path, Nested(owner, body, index)
                self.paths[statement] = here
                self._walk(statement, here)

    def __contains__(self, line) -> bool:
        return self.definition.lineno <= line <= self.definition.end_lineno

    def at(self, line):
        """The innermost statement that has a line, if only in its header."""
        found = [it for it in self.paths if it.lineno <= line <= last_line(it)]
        return max(found, key=lambda it: len(self.paths[it]), default=None)

    def has_run(self, statement) -> bool:
        """Did anybody come to a statement?"""
        lines = range(statement.lineno, last_line(statement) + 1)
        return self.ran is None or any(it in self.ran for it in lines)

    def around(self, statement, kinds):
        """The statements of some kinds around one, and itself; the innermost first."""
        path = self.paths[statement]
        return [it.statement for it in path[::-1] if isinstance(it.statement, kinds)]

    def that_set(self, name):
        """The statements that set a variable."""
        return [it for it in self.paths if name in names_set(_own(it))]

    # ---------------------------------------------------- barriers that are there

    def waits(self, statement, warp=False) -> bool:
        """Does whoever runs a statement meet a barrier in it, or a `syncwarp`?"""
        if isinstance(statement, ast.If):
            both = statement.body, statement.orelse
            return all(any(self.waits(it, warp) for it in body) for body in both)
        if isinstance(statement, LOOPS):
            return any(self.waits(it, warp) for it in statement.body)
        return any(is_barrier(call, warp) for call in calls_in(statement))

    def leaves_by(self, path, depth, warp):
        """Is there a barrier behind a statement, in the bodies below a depth?"""
        return any(self._any(it.body[it.index + 1 :], warp) for it in path[depth + 1 :])

    def comes_by(self, path, depth, warp):
        """Is there one before it?"""
        return any(self._any(it.body[: it.index], warp) for it in path[depth + 1 :])

    def between(self, one, other, warp):
        """Is there a barrier on the way from one statement down to a later one?"""
        a, b, depth = self.paths[one], self.paths[other], self.meet(one, other)
        apart = a[depth].body[a[depth].index + 1 : b[depth].index]
        below = self.leaves_by(a, depth, warp) or self.comes_by(b, depth, warp)
        return below or self._any(apart, warp)

    def around_loop(self, one, other, loop, warp):
        """Is there one on the way from a statement to another in the next turn?"""
        a, b, depth = self.paths[one], self.paths[other], len(self.paths[loop]) - 1
        return self.leaves_by(a, depth, warp) or self.comes_by(b, depth, warp)

    def _any(self, statements, warp):
        return any(self.waits(it, warp) for it in statements)

    # ---------------------------------------------------- where one may stand

    def meet(self, one, other) -> int:
        """The depth of the innermost body that holds both statements."""
        both = zip(self.paths[one], self.paths[other], strict=False)
        same = [a.body is b.body for a, b in both]
        return same.index(False) - 1 if False in same else len(same) - 1

    def loops(self, one, other) -> list:
        """The loops around both statements, the innermost first."""
        common = self.around(other, LOOPS)
        return [it for it in self.around(one, LOOPS) if it in common]

    def whole(self, path, depth, warp=False) -> bool:
        """Do all threads of the block, or all lanes of a warp, come to a body?"""
        if depth == 0 and not self.returns(path, depth, warp):
            return True
        if self._has_barrier(path[depth].body, warp):
            return True
        ways = [it.owner for it in path[1 : depth + 1]]
        if any(self.divides(it, warp) for it in ways):
            return False
        return not self.returns(path, depth, warp)

    def divides(self, statement, warp=False) -> bool:
        """May the threads go different ways at a statement?"""
        if not self.varying.decides(statement):
            return False
        return not warp or statement.lineno in self.split

    def returns(self, path, depth, warp=False) -> list:
        """The `if`s before a place at which some threads return."""
        before = [it for level in path[: depth + 1] for it in level.body[: level.index]]
        return [
            it
            for it in before
            if isinstance(it, ast.If) and self.divides(it, warp)
            if any(isinstance(end, ast.Return) for end in ast.walk(it))
        ]

    def _has_barrier(self, body, warp):
        """Has a body a barrier of its own that nobody missed?"""
        simple = [it for it in body if not hasattr(it, "body")]
        return any(
            self.waits(it, warp) and it.lineno not in self.missed for it in simple
        )

    def out_of(self, path, depth, warp=False):
        """The `if`s that must end before a barrier at a place and begin again behind
        it, for all threads to come to it; None where that is not possible.
        """
        reached = [n for n in range(depth + 1) if self.whole(path, n, warp)]
        owners = [it.owner for it in path[1 : depth + 1]]
        if reached:
            return self._ended(owners[reached[-1] :])
        guards = self.returns(path, depth, warp)
        if len(guards) != 1 or not self._only_returns(guards[0], path):
            return None
        apart = [n for n, it in enumerate(owners) if self.divides(it, warp)]
        ended = self._ended(owners[apart[0] :] if apart else [])
        return None if ended is None else (spot_of(guards[0]), *ended)

    def _ended(self, owners):
        """The places of statements, if all are `if`s that can be ended and begun."""
        can = (
            isinstance(it, ast.If) and not it.orelse and not changes_its_test(it)
            for it in owners
        )
        return tuple(map(spot_of, owners)) if all(can) else None

    def _only_returns(self, guard, path):
        """Is this a guard that returns, of the function's own body?"""
        returns = len(guard.body) == 1 and isinstance(guard.body[0], ast.Return)
        own = any(it is guard for it in path[0].body)
        return self.is_kernel and own and returns and not guard.orelse

    def edit(self, where, statement, code, **more) -> Edit:
        """An edit at a statement of this function."""
        return Edit(self.definition.name, where, spot_of(statement), code, **more)


def changes_its_test(guard) -> bool:
    """Does an `if` change what it asks?"""
    inside = ast.Module(guard.body, [])
    asked = {it.id for it in ast.walk(guard.test) if isinstance(it, ast.Name)}
    return bool(asked & (names_set(inside) | arrays_changed(inside)))


def branches_change(guard) -> bool:
    """Does a branch of an `if` change what it asks?"""
    return changes_its_test(ast.If(guard.test, [*guard.body, *guard.orelse], []))


def is_barrier(call, warp=False) -> bool:
    """Is this call a barrier of the block or the grid, or of a warp's lanes?"""
    last = names_in(call.func)[-1:]
    if last == ["syncwarp"]:
        return warp and not call.args  # a mask may leave lanes out
    return last == ["sync"] or bool(last) and last[0].startswith("syncthreads")


def last_line(statement) -> int:
    """The last line of a statement, or of the header of one with a body."""
    if not hasattr(statement, "body"):
        return statement.end_lineno
    head = statement.iter if isinstance(statement, ast.For) else statement
    head = getattr(head, "test", head)
    return getattr(head, "end_lineno", statement.lineno)


def _own(statement):
    """A statement, or what one with a body sets itself."""
    if not hasattr(statement, "body"):
        return statement
    return getattr(statement, "target", ast.Module([], []))


def named(statement, line=None) -> str:
    """A statement in words: "line 7", "the loop of line 5"."""
    kinds = {ast.If: "the `if` of ", ast.For: "the loop of ", ast.While: "the loop of "}
    kind = kinds.get(type(statement), "")
    return f"{kind}line {statement.lineno if kind or line is None else line}"
