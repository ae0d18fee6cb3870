"""What to do about a race, as the source around its two lines shows it: for locks,
updates, flags and cells that all store to, a sentence of their own; else a barrier.
"""

import ast
from dataclasses import replace

from thirty_two_lanes.core.advice.edit import Advice, spot_of
from thirty_two_lanes.core.advice.layout import named
from thirty_two_lanes.core.advice.patterns import (
    alike,
    as_atomic,
    as_smallest,
    asks_and_stores,
    counted_and_read,
    elements,
    sets_by_extreme,
    sets_first,
    steps_of_reduction,
    taken_and_added,
    target_of,
)
from thirty_two_lanes.core.advice.races import locking, signals, steps, swaps
from thirty_two_lanes.core.advice.races.locking import FENCE
from thirty_two_lanes.core.advice.races.waiting import BARRIER, Waiting
from thirty_two_lanes.core.advice.varying import array_of

INDIVISIBLE = {"atomic", "acquire", "release"}
ATOMIC = (
    "several threads load and store this cell, and a barrier would still lose updates"
)


class Facts:
    """What the other races of a launch say about one."""

    def __init__(self, races):
        self.between_warps = {_pair(it) for it in races if it.scope == "block"}
        self.between_blocks = {_pair(it) for it in races if it.scope == "grid"}
        self.updates = {_pair(it) for it in races if it.kind == "WAW" and not it.apart}

    def widen(self, races):
        """Let these wait for the whole block, as others do at their places."""
        self.between_warps |= {_pair(it) for it in races}

    def is_wide(self, race) -> bool:
        """Do the same lines race between warps of a block, too?"""
        return _pair(race) in self.between_warps

    def is_widest(self, race) -> bool:
        """Do the same lines race between blocks, too?"""
        return _pair(race) in self.between_blocks

    def is_update(self, race) -> bool:
        """Do threads store to one cell in one turn of all loops?"""
        return _pair(race) in self.updates


def _pair(race):
    return frozenset({race.first, race.second}), race.array


def advice_on(race, layout, lines, facts, others=()) -> Advice | None:
    """What to do about a race of two lines of one function; None where the lines alone
    say all. `others` are the layouts of the functions that it may call.
    """
    if race.scope == "copy" or race.second_cell:
        return None
    statements = tuple(map(layout.at, lines))
    if None in statements:
        return None
    warp = race.scope == "warp" and not facts.is_wide(race)
    waiting = Waiting(race, layout, lines, statements, warp)
    advice = locking.advice_on(race, layout, lines, others) or steps.advice_on(
        race, layout, lines, statements
    )
    if advice:
        return replace(advice, bars=True)
    if not waiting.turns() or facts.is_update(race) or race.scope == "grid":
        looks = _given_back, _place, _smallest, swaps.advice_on, _update
        signals_of = signals.flag, signals.announced, signals.counted
        for look in (*looks, *signals_of, _no_barrier, _same_cell):
            advice = look(race, layout, lines, statements)
            if advice:
                return advice
    return _by_order(race, layout, lines, facts, waiting)


def _by_order(race, layout, lines, facts, waiting):
    """What orders the two lines: a barrier, a launch, the host."""
    statements = waiting.statements
    mixed = {race.first_kind, race.second_kind} & INDIVISIBLE
    if sets_first(race, layout, statements):
        return _set_first(race, layout, facts, waiting)
    if facts.is_widest(race) and not mixed and not waiting.turns():
        advice = _in_place(race, statements)
        if advice:
            return advice
    if race.scope == "grid" and not mixed:
        return _on_host(layout, statements)
    if race.scope == "grid" or mixed & {"acquire", "release"}:
        return None
    barred = _no_barrier(race, layout, lines, statements)
    if barred:
        return barred
    if layout.missed:
        return _barrier_first(layout)
    advice = waiting.advice()
    if advice is None and race.kind != "WAW" and statements[0] is not statements[1]:
        return _passed_by(lines)
    if advice and mixed:
        return _atomic_or(race, advice)
    if advice and race.scope == "warp" and steps_of_reduction(statements, race.array):
        return _of_a_warp(advice)
    return advice


# ---------------------------------------------------- what no barrier mends


def _no_barrier(race, layout, lines, _):
    """Two lines between which threads wait for others in a loop."""
    if race.scope == "grid":
        return None
    advice = locking.no_barrier(race, layout, lines)
    return advice and replace(advice, bars=True)


def _barrier_first(layout):
    """Advice on a race where threads miss barriers, which then order nothing."""
    return Advice(
        f"Let all threads come to the barrier of line {min(layout.missed)} first: a "
        "barrier that some miss orders nothing"
    )


def _passed_by(lines):
    """Advice where barriers stand on all ways that the source shows."""
    return Advice(
        f"No one place orders lines {min(lines)} and {max(lines)}: a barrier stands "
        "between them, or they are of a loop's condition, and some threads come from "
        "one to the other without it. Let all threads meet it in each turn"
    )


def _given_back(race, layout, lines, statements):
    """A cell that is read behind the atomic that counts it; or a cell at such a count,
    which several threads take for theirs.
    """
    reading, array = {*statements}, race.array
    if {race.first_kind, race.second_kind} == {"store"}:
        index = getattr(target_of(statements[0]), "slice", None)
        set_by = layout.that_set(getattr(index, "id", ""))
        if len(set_by) != 1 or statements[0] is not statements[1]:
            return None
        reading, array = {*set_by}, None
    for count, read, code, without in filter(
        None, (counted_and_read(layout, it, array) for it in reading)
    ):
        both = f"lines {count.lineno} and {read.lineno}"
        return Advice(
            f"Others count on before line {read.lineno} reads the cell: use what the "
            f"atomic gives back, the value before. Write `{code}` in place of {both}",
            layout.edit("instead", count, code, without=without),
        )
    return None


def _place(race, layout, lines, statements):
    """A plain store under an `if` that asks for what an atomic maximum gave back."""
    one, other = statements
    if one is not other or target_of(one) is None:
        return None
    for guard in layout.around(one, ast.If):
        found = next(filter(None, sets_by_extreme(layout, guard.test)), None)
        if found:
            then = (
                "in a second launch" if race.space == "global" else "behind a barrier"
            )
            return Advice(
                "The value and its place are two steps, and a thread whose value is "
                "no longer the best may store its place last: put both into one "
                f"integer of 64 bits, the value above the place, for `{found}`; or "
                f"find the value first and, {then}, its place"
            )
    return None


def _smallest(race, layout, lines, _):
    """A value that is stored if it is smaller, or if it is the first."""
    guard = asks_and_stores(layout, *lines, race.array)
    if guard is None:
        return None
    code = as_smallest(guard, race.array)
    sentence = (
        f"What line {guard.lineno} asks and what it then stores are two steps, between "
        "which others store, and a barrier would not join them: "
    )
    if code:
        return Advice(
            f"{sentence}write `{code}` in place of the `if`",
            layout.edit("instead", guard, code),
        )
    then = "in a second launch" if race.scope == "grid" else "behind a barrier"
    return Advice(
        f"{sentence}for the first of several, use `cuda.atomic.cas`; for the smallest "
        "or largest, `cuda.atomic.min` or `max`; for its place, too, put both into one "
        f"integer, or find the value first and, {then}, its place"
    )


def _update(race, layout, lines, statements):
    """One statement in which threads load and store the same cell."""
    one, other = statements
    both = taken_and_added(layout, one, race.array)
    if both and {one, other} <= {*both[:2]}:
        load, store, code = both
        return Advice(
            f"Use `cuda.atomic`: {ATOMIC}. Write `{code}` in place of lines "
            f"{load.lineno} and {store.lineno}",
            layout.edit("instead", load, code, without=(spot_of(store),)),
        )
    if one is not other:
        code = layout.is_kernel and as_atomic(one)
        asked = code and _count_and_ask(layout, one, code)
        return asked if asked and asked.edit.also.at == spot_of(other) else None
    if not (race.update or race.kind == "WAW"):
        return None
    code = as_atomic(one)
    if code:
        advice = _count_and_ask(layout, one, code)
        if advice:
            return advice
        return Advice(
            f"Use `cuda.atomic`: {ATOMIC}. Write `{code}` on line {one.lineno}",
            layout.edit("instead", one, code),
        )
    if not race.update:
        return None
    return Advice(
        f"{ATOMIC[0].upper()}{ATOMIC[1:]}, and no `cuda.atomic` does all of line "
        f"{one.lineno} at once: let one thread go through the values, or reduce them "
        "in shared memory first"
    )


def _count_and_ask(layout, count, code):
    """A count that the next line asks for: what the atomic gives is one's own."""
    path = layout.paths[count]
    guard = next(iter(path[-1].body[path[-1].index + 1 :]), None)
    is_count = isinstance(count, ast.AugAssign) and isinstance(count.op, ast.Add)
    if not is_count or not isinstance(guard, ast.If) or layout.that_set("before"):
        return None
    cell, test = ast.unparse(count.target), ast.unparse(guard.test)
    if not any(ast.unparse(it) == cell for it in ast.walk(guard.test)):
        return None
    value = ast.unparse(ast.BinOp(ast.Name("before"), ast.Add(), count.value))
    asked = ast.unparse(ast.parse(test.replace(cell, f"({value})")))
    write, fence = f"Write `before = {code}` on line {count.lineno}", ""
    if not locking.comes_fenced(layout, count):
        fence = f"{FENCE}\n"
        write = f"Write `{FENCE}` before line {count.lineno}, `before = {code}` on it"
    return Advice(
        f"Use `cuda.atomic`: {ATOMIC}. {write}, then `{FENCE}`, and `if {asked}:` on "
        f"line {guard.lineno}: others have counted on by then",
        layout.edit(
            "instead",
            count,
            f"{fence}before = {code}\n{FENCE}",
            also=layout.edit("test", guard, asked),
        ),
    )


def _same_cell(race, layout, lines, statements):
    """A cell into which one statement of all threads stores."""
    one, other = statements
    target = target_of(one)
    if race.kind != "WAW" or one is not other or race.scope == "grid":
        return None
    if not layout.is_kernel or target is None or layout.varying(target.slice):
        return None
    first = "cuda.threadIdx.x + cuda.threadIdx.y + cuda.threadIdx.z == 0"
    if "," not in race.first_thread:
        first = "cuda.threadIdx.x == 0"
    code = f"if {first}:\n    {ast.unparse(one)}"
    path, wait = layout.paths[one], ""
    behind = path[-1].body[path[-1].index + 1 :][:1]
    if layout.whole(path, len(path) - 1) and not any(map(layout.waits, behind)):
        code, wait = f"{code}\n{BARRIER}", f" and `{BARRIER}` behind it"
    return Advice(
        f"Let one thread write the cell, `if {first}:` before line {one.lineno}{wait}; "
        "give each thread its own, or use `cuda.atomic`",
        layout.edit("instead", one, code),
    )


def _in_place(race, statements):
    """Neighbours that are loaded from the array to which their threads store, there or
    on a line before it, or another element that the same line loads.
    """
    store = next(filter(target_of, statements), None)
    target = store and target_of(store)
    if race.kind == "WAW" or target is None or array_of(target) != race.array:
        return None
    own = _variables(target.slice)
    before = [it for it in statements if it.lineno <= store.lineno]
    loads = [it for statement in before for it in elements(statement, race.array)]
    others = [it for it in loads if not alike(it, target)]
    near = any(own <= _variables(it.slice) for it in others)
    if not own or not near and (statements[0] is not statements[1] or not others):
        return None
    return Advice(
        f"Threads store to `{race.array}` while others still load its old values: "
        "store to another array, and let the two change places between launches"
    )


def _variables(expression):
    return {it.id for it in ast.walk(expression) if isinstance(it, ast.Name)}


def _on_host(layout, statements):
    """Two lines of one loop of all threads: each of its turns needs two launches."""
    loops = layout.loops(*statements)
    if statements[0] is statements[1] or not loops or not layout.is_kernel:
        return None
    if any(map(layout.varying.decides, loops)):
        return None
    upper, lower = sorted(it.lineno for it in statements)
    return Advice(
        f"No barrier orders threads of different blocks: take {named(loops[-1])} to "
        f"the host, with two launches in each of its steps, cut between line {upper} "
        f"and line {lower}"
    )


def _atomic_or(race, advice):
    """An atomic and a plain access, which a barrier orders as well."""
    barrier = f"{advice.sentence[0].lower()}{advice.sentence[1:]}"
    return replace(
        advice,
        sentence="An atomic is ordered only with other atomics: make both accesses of "
        f"`{race.array}` atomic, or {barrier}",
    )


def _set_first(race, layout, facts, waiting):
    """A number that one line stores, and to which a later one adds by an atomic."""
    store = min(waiting.statements, key=spot_of)
    if race.scope == "grid" or race.space == "global" and facts.is_widest(race):
        return Advice(
            "No barrier orders threads of different blocks, and an atomic store could "
            f"come after another block's update: store what line {store.lineno} does "
            "before this launch, on the host or in a launch of its own"
        )
    if layout.missed:
        return _barrier_first(layout)
    waiting.race = replace(race, kind="RAW")  # the order is known: no line is to go
    advice = waiting.advice()
    if advice is None:
        return None
    barrier = f"{advice.sentence[0].lower()}{advice.sentence[1:]}"
    return replace(
        advice,
        sentence="An atomic is ordered only with other atomics, and the first value "
        f"has to be there before them: {barrier}",
    )


def _of_a_warp(advice):
    """A step of a reduction: lanes do not run in step."""
    return replace(
        advice,
        sentence=f"Lanes of a warp need not run in step. {advice.sentence}; or reduce "
        "without memory, by `cuda.shfl_down_sync`",
    )
