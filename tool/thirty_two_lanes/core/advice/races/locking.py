"""Locks: what takes one, what releases it, and the fences that both need.

An atomic by itself orders nothing else: what a lock guards is ordered by a fence behind
the one that takes it, and by a fence before the one that releases it.
"""

import ast
import math
from dataclasses import replace
from typing import NamedTuple

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.layout import named
from thirty_two_lanes.core.advice.patterns import elements, target_of
from thirty_two_lanes.core.advice.varying import (
    array_of,
    arrays_changed,
    calls_in,
    names_in,
    names_set,
)

FENCE = "cuda.threadfence()"
SWAPS = {"cas", "compare_and_swap"}
JUMPS = ast.Break, ast.Continue, ast.Return


class Lock(NamedTuple):
    """A lock: its array, the statement that takes it, and where its holder begins:
    "behind" or "before" a statement, None where the source does not show it.
    """

    array: str
    taken: ast.AST
    where: str
    at: ast.AST | None

    def held(self, layout) -> list:
        """What its holder does, in the body where it begins."""
        if self.at is None:
            return []
        _, body, index = layout.paths[self.at][-1]
        return body[index + (self.where == "behind") :]

    def first_use(self, layout) -> int | float:
        """The first line of what it guards, if there is one."""
        used = (it.lineno for it in self.held(layout) if has_elements(it))
        return next(used, math.inf)

    def is_fenced(self, layout, line=math.inf) -> bool:
        """Is there a fence between the one that takes it and a line that it guards?"""
        held = self.held(layout)
        return any(is_fence(layout, it) and it.lineno < line for it in held)

    @property
    def place(self) -> str:
        """Where its holder begins, in words."""
        if self.where == "before":
            return f"first in {named(self.taken)}"
        return f"right behind {named(self.taken)}"


def advice_on(race, layout, lines, others=()) -> Advice | None:
    """Advice on a race for a lock that a plain store releases, or for what a lock
    guards; `others` are the layouts of the functions that may take and release it.
    """
    for lock in locks(layout):
        array, first = lock.array, lock.taken.lineno
        stores, ends = releases(layout, array), exchanges(layout, array)
        last = max((it.lineno for it in (*stores, *ends)), default=first)
        guarded = [first <= line <= last for line in lines]
        if race.array != array and not any(guarded):
            continue
        behind = [it for it in stores if it.lineno >= max(lines)]
        if race.array == array and stores or all(guarded) and behind:
            line = lock.first_use(layout) if race.array == array else min(lines)
            return _stored(layout, lock, stores, lines, line)
        if all(guarded):
            advice = _unfenced(layout, lock, ends, lines)
            if advice:
                return advice
        elif race.array != array:
            return _guarded_by(race, lock)
    return _by_calls(layout, lines, others)


def _stored(layout, lock, stores, lines, first):
    """Advice on a lock that a plain store releases; the first line that it guards."""
    behind = [it for it in stores if it.lineno >= max(lines)]
    named_ones = [it for it in stores if it.lineno in lines]
    store = [*named_ones, *behind, *stores][0]
    target = ast.unparse(target_of(store) or store)
    code = _exchange(store)
    return _fenced(
        layout,
        lock,
        first,
        f"`{lock.array}` is a lock, and a plain store of line {store.lineno} releases "
        "it: other threads may take it before they see what was stored. Write "
        f"`{FENCE}`, and then `{code}`, in place of `{target} = ...`",
        layout.edit("instead", store, f"{FENCE}\n{code}"),
    )


def _unfenced(layout, lock, ends, lines):
    """Advice on a lock that atomics take and release, without a fence on each side."""
    bare = [it for it in ends if not comes_fenced(layout, it)]
    if bare:
        line = bare[0].lineno
        return _fenced(
            layout,
            lock,
            min(lines),
            f"`{lock.array}` is a lock, and nothing orders what it guards before line "
            f"{line} releases it: write `{FENCE}` before that line",
            layout.edit("before", bare[0], FENCE),
        )
    if lock.is_fenced(layout, min(lines)):
        return None
    return Advice(taken_unfenced(lock), lock.at and _behind(layout, lock))


def _by_calls(layout, lines, others):
    """Advice on what is between calls of functions that take a lock and release it."""
    first, last = layout.at(min(lines)), layout.at(max(lines))
    ends = [
        (it, end)
        for it in others
        for end in _ends(it)
        if any(call.lineno > last.lineno for call in _calls(layout, it))
    ]
    for other in others:
        taken = [it for it in locks(other) if it.at and not it.is_fenced(other)]
        if not taken or not ends or not _comes_by(layout, first, other):
            continue
        function, end = ends[0]
        if comes_fenced(function, end):
            return Advice(taken_unfenced(taken[0]), _behind(other, taken[0]))
        more = f", and before line {end.lineno}, which releases it"
        return Advice(f"{taken_unfenced(taken[0])}{more}")
    return None


def _calls(layout, other):
    """The statements that call a function."""
    name = other.definition.name
    return [
        it
        for it in layout.paths
        if not hasattr(it, "body") and layout.has_run(it)
        if any(names_in(call.func)[-1:] == [name] for call in calls_in(it))
    ]


def _ends(layout):
    """The statements of a function that release a lock by an exchange."""
    return [
        it
        for it in layout.paths
        if layout.has_run(it)
        if isinstance(it, ast.Expr)
        and any(names_in(call.func)[-2:] == ["atomic", "exch"] for call in calls_in(it))
    ]


def _comes_by(layout, statement, other):
    """Is a function called before a statement, in a body around it, and no fence
    behind that?
    """
    for level in layout.paths[statement]:
        before = level.body[: level.index]
        called = [n for n, it in enumerate(before) if it in _calls(layout, other)]
        if called and not any(is_fence(layout, it) for it in before[called[-1] :]):
            return True
    return False


def no_barrier(race, layout, lines) -> Advice | None:
    """Advice on two lines between which no barrier may stand: there is a loop in which
    threads wait for others, or a lock that they wait for is held.
    """
    first, last = min(lines), max(lines)
    for lock in locks(layout):
        ends = [*releases(layout, lock.array), *exchanges(layout, lock.array)]
        if any(lock.taken.lineno < first and last < it.lineno for it in ends):
            return Advice(
                f"Others wait in {named(lock.taken)} for what holds the lock "
                f"`{lock.array}`, and would never come to a barrier here: let threads "
                f"that share a cell of `{race.array}` take the same lock, or use "
                "`cuda.atomic`"
            )
    for loop in spins(layout):
        if first <= loop.end_lineno and loop.lineno <= last:
            return Advice(
                f"Threads wait for one another in {named(loop)}, and one that waits "
                "there would never come to a barrier that the other has to pass: let "
                "what that loop waits for order the lines, by an atomic with "
                f"`{FENCE}` before it, and `{FENCE}` behind the loop"
            )
    return None


def taken_unfenced(lock) -> str:
    """What is wrong with a lock that is taken with no fence behind, in words."""
    return (
        f"`{lock.array}` is a lock, and the atomic of {named(lock.taken)} that takes "
        "it orders nothing behind it: what it guards may be loaded before, as it was. "
        f"Write `{FENCE}` {lock.place}"
    )


def _fenced(layout, lock, line, sentence, edit):
    """Advice on a release, and on the fence behind the taking if that is missing."""
    if lock.is_fenced(layout, line):
        return Advice(sentence, edit)
    sentence = f"{sentence}, and `{FENCE}` {lock.place}, which takes it"
    edit = lock.at and replace(edit, also=_behind(layout, lock))
    return Advice(sentence, edit)


def _behind(layout, lock):
    return layout.edit(lock.where, lock.at, FENCE)


def _exchange(store):
    target = target_of(store)
    index = ast.unparse(target.slice)
    index = f"({index})" if isinstance(target.slice, ast.Tuple) else index
    array, value = ast.unparse(target.value), ast.unparse(store.value)
    return f"cuda.atomic.exch({array}, {index}, {value})"


def _guarded_by(race, lock):
    """Advice on a race for what a lock should guard, that atomics release."""
    return Advice(
        f"The lock `{lock.array}` of line {lock.taken.lineno} has to guard both: make "
        f"each access of `{race.array}` behind {named(lock.taken)}, with `{FENCE}` "
        "before the first of them and after the last, before the `cuda.atomic.exch` "
        f"that releases `{lock.array}`"
    )


# ---------------------------------------------------- locks in the source


def locks(layout) -> list[Lock]:
    """The locks of a function: of each array the first statement that takes one, by a
    compare-and-swap in a loop or an `if`, or by an exchange that a loop asks for.
    """
    found = {}
    for statement in layout.paths:
        if layout.has_run(statement):
            for array in _taken_by(layout, statement):
                found.setdefault(array, _taken(layout, array, statement))
    return [*found.values()]


def _taken_by(layout, statement):
    """The arrays of which a statement may take a lock."""
    for call in calls_in(_own(statement)):
        names = names_in(call.func)
        if "atomic" not in names or not call.args:
            continue
        array = array_of(call.args[0])
        loops = layout.around(statement, ast.While)
        if names[-1] in SWAPS:
            released = releases(layout, array) or exchanges(layout, array)
            if loops or released and isinstance(statement, ast.If):
                yield array
        elif names[-1] == "exch" and isinstance(statement, ast.While):
            yield array


def _own(statement):
    """A statement without those in it."""
    if hasattr(statement, "body"):
        return getattr(statement, "test", ast.Module([], []))
    return statement


def _taken(layout, array, statement):
    loop = next(iter(layout.around(statement, ast.While)), None)
    if isinstance(statement, ast.While):
        return Lock(array, statement, "behind", statement)
    if isinstance(statement, ast.If):
        return _by_if(array, statement, loop)
    names = {it.id for it in ast.walk(statement) if isinstance(it, ast.Name)}
    asked = {it.id for it in ast.walk(loop.test) if isinstance(it, ast.Name)}
    at = loop if asked & names else None
    return Lock(array, loop, "behind", at)


def _by_if(array, guard, loop):
    """A lock that an `if` takes: its body holds it, or whoever does not leave here."""
    end, test = guard.body[-1], guard.test
    if isinstance(end, ast.Break) and loop is not None:
        return Lock(array, loop, "behind", loop)
    if isinstance(end, JUMPS):
        return Lock(array, guard, "behind", guard)
    equal = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
    return Lock(array, guard, "before", guard.body[0] if equal else None)


def spins(layout) -> list:
    """The loops that wait until others change what they ask for."""
    found = []
    for loop in layout.paths:
        if not isinstance(loop, ast.While) or not layout.has_run(loop):
            continue
        names = {it.id for it in ast.walk(loop.test) if isinstance(it, ast.Name)}
        moved = names_set(ast.Module(loop.body, []))
        changed = layout.varying.changed
        asked = {array_of(it) for it in ast.walk(loop.test)} & changed
        asks = [*elements_of(loop.test, changed), *_atomics(loop.test)]
        inside = arrays_changed(ast.Module(loop.body, []))
        if asks and not names & moved and not asked & inside:
            found.append(loop)
    return found


def elements_of(node, arrays) -> list:
    """The elements of some arrays that a node loads."""
    return [it for array in arrays for it in elements(node, array)]


def _atomics(node):
    return [it for it in calls_in(node) if "atomic" in names_in(it.func)]


def releases(layout, array) -> list:
    """The statements that store plainly to a lock."""
    return [
        it
        for it in layout.paths
        if not hasattr(it, "body") and layout.has_run(it)
        if elements(it, array, ast.Store)
    ]


def exchanges(layout, array) -> list:
    """The statements that release a lock by an atomic, outside of its loop's test."""
    return [
        it
        for it in layout.paths
        if isinstance(it, ast.Expr) and layout.has_run(it)
        for call in calls_in(it)
        if "atomic" in names_in(call.func) and array_of(call.args[0]) == array
    ]


def has_elements(statement) -> bool:
    """Does a statement load or store an element?"""
    return any(isinstance(it, ast.Subscript) for it in ast.walk(statement))


def comes_fenced(layout, statement) -> bool:
    """Is there a fence before a statement, in its body?"""
    path = layout.paths[statement]
    return any(is_fence(layout, it) for it in path[-1].body[: path[-1].index])


def is_fence(layout, statement) -> bool:
    """Does whoever comes to a statement execute a `threadfence` in it?"""
    return layout.has_run(statement) and any(
        names_in(call.func)[-1:] == ["threadfence"] for call in calls_in(statement)
    )
