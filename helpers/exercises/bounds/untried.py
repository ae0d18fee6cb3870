"""What no launch of a check came to: bounds of a kernel beyond all sizes that there was
time for.
"""

from math import prod

import numpy as np

from helpers.exercises.bounds.numbers import BLOCKS, IN_A_BLOCK, OwnNumbers
from helpers.exercises.bounds.places import FRACTIONS, TURN


def untried(numbers: OwnNumbers, outcomes) -> str:
    """A sentence on the least bound that is beyond all outcomes of a kernel; or "".

    A comparison that turns again and again has done so in many of them.
    """
    beyond = []
    for bound in numbers.along:
        if not bound.again and not bound.place[0].startswith(IN_A_BLOCK):
            tried = max(largest(bound.place, it) for it in outcomes)
            if tried <= bound.above:
                beyond.append((bound.number, tried, bound))
    if not beyond:
        return ""
    _, tried, bound = min(beyond, key=lambda it: it[:2])
    turns = f"changes at about {bound.above:,}"
    if bound.exact:
        turns = f"compares with {bound.exact:,}"
    turns = bound.does or turns
    turns += ", of what it loads" * (bound.place[0] == "loaded")
    line = f"line {bound.site.line}" if bound.site else "a line"
    tried = "at all sizes" if bound.does == FRACTIONS else f"beyond {tried:,}"
    return f"Not tried {tried}: {line} {turns}."


def largest(place, outcome) -> int:
    """How large what tells a place was in an outcome, or could have been at most."""
    blocks, threads, *_ = outcome.trial.launch
    kind, *which = place
    mine = {called: name for name, called in outcome.names.items()}
    value = outcome.held.get(mine.get(which[0])) if which else None
    if place == TURN:
        return max(
            it for value in outcome.held.values() for it in (0, *np.shape(value))
        )
    if kind == "argument":
        return int(value)
    if kind == "loaded" and value is not None:
        return int(value.max(initial=0))
    if kind == "shape" and np.shape(value):
        return np.shape(value)[which[1]]
    if kind in BLOCKS:
        return axes_of(blocks)["xyz".index(kind[-1])]
    if kind in ("size", "shape") and value is not None:
        return np.size(value)
    if kind in ("cuda.grid", "cuda.gridsize"):
        along = [a * b for a, b in zip(*map(axes_of, (blocks, threads)), strict=True)]
        return along[which[0]] if which else prod(along)
    of_all = prod(np.ravel(blocks).tolist()) * prod(np.ravel(threads).tolist())
    return max(of_all, *map(np.size, outcome.held.values()))


def axes_of(numbers) -> list:
    """Blocks or threads along x, y and z."""
    return [*np.ravel(numbers).tolist(), 1, 1][:3]
