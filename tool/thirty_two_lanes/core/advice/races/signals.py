"""What to do about a race of lines that a signal is to order: a flag for which another
block waits, or the count by which the last block knows that it is.
"""

import ast

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.layout import named
from thirty_two_lanes.core.advice.patterns import target_of, waits_for
from thirty_two_lanes.core.advice.races.locking import (
    FENCE,
    exchanges,
    is_fence,
    releases,
    spins,
)
from thirty_two_lanes.core.advice.varying import array_of, calls_in, names_in


def flag(race, layout, lines, statements) -> Advice | None:
    """Advice on a loop that waits for another block's plain store."""
    waiting = [it for it in statements if waits_for(it, race.array)]
    if not waiting or race.scope == "warp":
        return None
    store = next((it for it in statements if it is not waiting[0]), waiting[0])
    plain, write = "store and load order", f"`{FENCE}` and `cuda.atomic.exch` on"
    if any("atomic" in names_in(it.func) for it in calls_in(store)):
        plain, write = "load orders", f"`{FENCE}` before"
    return Advice(
        f"`{race.array}` is a flag for which line {waiting[0].lineno} waits, and a "
        f"plain {plain} nothing else: behind what it announces, write {write} line "
        f"{store.lineno}, and ask for it with `cuda.atomic.cas` and `{FENCE}` behind "
        "the loop, or use `store_release` and `load_acquire`, which are imported from "
        "`thirty_two_lanes`. Where all blocks may wait at once, end the launch instead "
        "and begin another"
    )


def announced(race, layout, lines, statements) -> Advice | None:
    """Advice on lines of which one is before a flag is set, and the other behind the
    loop that waits for it.
    """
    if race.scope != "grid":
        return None
    before, behind = min(lines), max(lines)
    if race.first_kind == "load" or race.second_kind == "load":
        kinds = race.first_kind, race.second_kind
        before, behind = lines[kinds.index("load") ^ 1], lines[kinds.index("load")]
    waiting = [it for it in spins(layout) if it.end_lineno < behind]
    simple = (it for it in layout.paths if isinstance(it, ast.Expr))
    fenced = {it.lineno for it in simple if is_fence(layout, it)}
    for loop in sorted(waiting, key=lambda it: -it.end_lineno):
        for array in {array_of(it) for it in ast.walk(loop.test)} - {None, race.array}:
            ends = [*releases(layout, array), *exchanges(layout, array)]
            line = next((it.lineno for it in ends if before < it.lineno), None)
            missing = line and {
                f"before line {line} sets it": range(before, line),
                f"behind {named(loop)}": range(loop.end_lineno, behind),
            }
            places = [it for it in missing or () if fenced.isdisjoint(missing[it])]
            if places:
                return Advice(
                    f"The flag `{array}`, for which {named(loop)} waits, is to order "
                    f"these lines, too: by atomics on `{array}`, with `{FENCE}` "
                    f"{' and '.join(places)}"
                )
    return None


def counted(race, layout, lines, statements) -> Advice | None:
    """Advice on what the last block loads of others, as an atomic count tells it."""
    if race.scope != "grid" or race.kind == "WAW" or target_of(statements[0]) is None:
        return None
    store, load = statements
    for guard in layout.around(load, ast.If):
        count = _count_of(layout, guard)
        if count is None or count.lineno <= store.lineno or guard.lineno > load.lineno:
            continue
        level = layout.paths[count][-1]
        before = [it for it in level.body[: level.index] if it.lineno > store.lineno]
        missing = {
            f"before line {count.lineno}": (count, before),
            f"as the first line of {named(guard)}": (guard.body[0], guard.body),
        }
        advice = _fenced(layout, missing)
        if advice:
            return advice
    return None


def _fenced(layout, places):
    """Advice on the places where no fence is yet: in words, a statement and those among
    which one would be.
    """
    places = {
        place: statement
        for place, (statement, those) in places.items()
        if not any(is_fence(layout, it) for it in those)
    }
    edit = None
    for statement in reversed(places.values()):
        edit = layout.edit("before", statement, FENCE, also=edit)
    return edit and Advice(
        "The atomic that counts the blocks orders nothing else: write "
        f"`{FENCE}` {' and '.join(places)}, so that what each block stored before it "
        "counted is there for the last one",
        edit,
    )


def _count_of(layout, guard):
    """The statement of the atomic addition that an `if` asks for: its own, or the one
    that sets the variable.
    """
    if _adds(guard.test):
        return guard
    for name in (it.id for it in ast.walk(guard.test) if isinstance(it, ast.Name)):
        set_by = layout.that_set(name)
        if len(set_by) == 1 and isinstance(set_by[0], ast.Assign):
            if _adds(set_by[0].value):
                return set_by[0]
    return None


def _adds(node):
    return any(
        names_in(it.func)[-2:] in (["atomic", "add"], ["atomic", "inc"])
        for it in calls_in(node)
    )
