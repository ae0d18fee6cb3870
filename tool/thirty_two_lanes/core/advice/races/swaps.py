"""What to do about a race of threads that swap cells, where both of a pair do."""

import ast
from typing import NamedTuple

from thirty_two_lanes.core.advice.edit import Advice, spot_of
from thirty_two_lanes.core.advice.patterns import target_of
from thirty_two_lanes.core.advice.thread_numbers import definition_of_name
from thirty_two_lanes.core.advice.varying import array_of


class Swap(NamedTuple):
    """The statements of a swap, and the two elements that it swaps."""

    statements: list
    one: ast.Subscript
    other: ast.Subscript


def advice_on(race, layout, _, statements) -> Advice | None:
    """Advice on accesses that are all of one swap: let one thread of the two do it."""
    swap = _swap_of(layout, statements[0], race.array)
    if swap is None or not {*statements} <= {*swap.statements}:
        return _of_several(race, statements)
    indices = _asks_for_one(layout, *map(_axes, (swap.one, swap.other)))
    if indices is None or _is_asked(layout, statements[0], indices):
        return _of_several(race, statements)
    test = " < ".join(indices)
    first, *rest = swap.statements
    code = "\n    ".join([f"if {test}:", *map(ast.unparse, swap.statements)])
    where = f"lines {first.lineno} to {rest[-1].lineno}" if rest else "the line"
    return Advice(
        "The two threads of a pair both swap its cells, and one undoes what the other "
        f"does, or halves of it: let one of them do it, `if {test}:` around {where}",
        layout.edit("instead", first, code, without=tuple(map(spot_of, rest))),
        bars=True,
    )


def _of_several(race, statements):
    """Several cells that one statement moves, in no way that its source shows."""
    one, other = statements
    moved = isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple)
    if one is not other or not moved or not (race.update or race.kind == "WAW"):
        return None
    return Advice(
        "Several threads move the same cells: let one of them do it, as with "
        "`if i < j:` where two swap what is at `i` and `j`"
    )


def _swap_of(layout, statement, array):
    """The swap that a statement is, or is one of the three of."""
    level = layout.paths[statement][-1]
    for first in range(max(0, level.index - 2), level.index + 1):
        for count in (1, 3):
            those = level.body[first : first + count]
            ends = (_of_one, _of_three)[count // 3](those)
            if ends and statement in those and {*map(array_of, ends)} == {array}:
                return Swap(those, *ends)
    return None


def _of_one(statements):
    """The elements of `a[i], a[j] = a[j], a[i]`."""
    (swap,) = statements
    if not isinstance(swap, ast.Assign) or not isinstance(swap.value, ast.Tuple):
        return None
    stored, loaded = swap.targets[0], swap.value.elts
    if not isinstance(stored, ast.Tuple) or not len(stored.elts) == len(loaded) == 2:
        return None
    are = [*map(ast.unparse, stored.elts)] == [*map(ast.unparse, loaded[::-1])]
    both = all(isinstance(it, ast.Subscript) for it in loaded)
    return stored.elts if are and both else None


def _of_three(statements):
    """The elements of `x = a[i]`, `a[i] = a[j]`, `a[j] = x`."""
    if len(statements) < 3 or not all(isinstance(it, ast.Assign) for it in statements):
        return None
    keep, store, back = statements
    one, other = target_of(store), target_of(back)
    if one is None or other is None:
        return None
    name = ast.unparse(keep.targets[0])
    moves = (keep.value, one), (store.value, other)
    same = all(ast.unparse(it) == ast.unparse(end) for it, end in moves)
    return (one, other) if same and ast.unparse(back.value) == name else None


def _axes(element):
    index = element.slice
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _asks_for_one(layout, one, other):
    """The indices of which one thread has the smaller one first, if each element's is
    made of the other's in the same way; else None.
    """
    if len(one) != len(other):
        return None
    pairs = [it for it in zip(one, other, strict=True) if len({*_texts(it)}) == 2]
    texts = [*map(_texts, pairs)]
    turned = len(pairs) == 2 and texts[0] == texts[1][::-1]
    if len(pairs) == 1 and _is_mirrored(layout, *pairs[0]) or turned:
        return texts[0]
    return None


def _is_asked(layout, statement, indices):
    """Does an `if` around a statement compare these already?"""
    return any(
        isinstance(it, ast.Compare)
        and {*indices} == {*_texts([it.left, *it.comparators])}
        for guard in layout.around(statement, ast.If)
        for it in ast.walk(guard.test)
    )


def _texts(nodes):
    return [*map(ast.unparse, nodes)]


def _is_mirrored(layout, one, other):
    """Is one index `n - i` or `i ^ n` of the other, so that it is so of it, too?"""
    return _is_made_of(layout, other, one) or _is_made_of(layout, one, other)


def _is_made_of(layout, node, index):
    if isinstance(node, ast.Name):
        node = definition_of_name(layout, node.id)
    if not isinstance(node, ast.BinOp):
        return False
    sides = [(node.right, node.left), (node.left, node.right)]
    which = {ast.Sub: sides[:1], ast.BitXor: sides}.get(type(node.op), ())
    return any(
        ast.unparse(it) == ast.unparse(index) and not layout.varying(rest)
        for it, rest in which
    )
