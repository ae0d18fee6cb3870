"""Sides: where the numbers of inputs are whose order alone matters.

The last numbers of a type come first; where a specification computes with them, and
they are too large for that, distances are as large as there is room for.
"""

from dataclasses import replace
from math import sqrt

import numpy as np

from helpers.exercises.arguments import InOut, Out

BELOW, ABOVE, TOGETHER = "far below 0", "far above 0", "close together"
SIDES = "", BELOW, ABOVE, TOGETHER  # in turn: budgets are held at the first sizes
ROOMY = 4  # times beyond the largest floats: they may be added, and so may squares


def stretched(trial, side):
    """A trial with the inputs whose order alone matters on a side: next to each other,
    as the last numbers of their type; or distances between them are so many times as
    large, up to the largest of their type; or up to its root, where the specification
    squares them.
    """
    arrays = {name: trial.arguments[name] for name in trial.task.ordered}
    if not side or not arrays:
        return trial
    if side == BELOW and "u" in {it.dtype.kind for it in arrays.values()}:
        return trial
    for moved in moved_to(side, arrays):
        found = replace(trial, arguments=trial.arguments | moved, side=side)
        if moved is not arrays and is_finite(found):
            return found
    return trial


def moved_to(side, arrays):
    """Arrays whose numbers are on a side, the farthest first."""
    if len({it.dtype.kind for it in arrays.values()}) == 1:
        yield from ranked(arrays, side)
    if side != TOGETHER:
        top = min(map(largest_of, arrays.values()))
        yield filling(arrays, side, top)
        yield filling(arrays, side, sqrt(top) / ROOMY)


def is_finite(trial) -> bool:
    """Are its floats finite, and those that are expected, too?"""
    given = trial.arguments.values()
    given = [it for it in given if not isinstance(it, (Out, InOut))]
    try:
        with np.errstate(over="raise"):
            values = map(np.asarray, [*given, *trial.expected.values()])
    except FloatingPointError:
        return False
    return all(np.isfinite(it).all() for it in values if it.dtype.kind == "f")


def filling(arrays, side, top) -> dict:
    """Arrays whose numbers are so large, on a side; as they are if they are larger."""
    wide = np.float64 if "f" in {it.dtype.kind for it in arrays.values()} else np.int64
    least = np.floor(min(it.min() for it in arrays.values())).astype(wide)
    most = np.ceil(max(it.max() for it in arrays.values())).astype(wide)
    zero = most + 1 if side == BELOW else least - 1
    times = int(top / (float(most) - float(least) + 2)).bit_length() - 1
    if times < 0:
        return arrays
    return {
        name: ((it.astype(wide) - zero) * wide(2) ** times).astype(it.dtype)
        for name, it in arrays.items()
    }


def ranked(arrays, side):
    """Arrays whose numbers are next to each other, each at its rank: the last ones of
    their type on a side; or, close together, floats from 1 on, and whole ones up to the
    largest but one. Nothing where there are not enough.
    """
    together = np.unique(np.concatenate([it.ravel() for it in arrays.values()]))
    types, last = [it.dtype for it in arrays.values()], len(together) - 1
    if types[0].kind == "f":
        top = min(float(np.finfo(it).max) for it in types)
        near = 1.0 if side == TOGETHER else 0.75 * top  # spaced as the top is
        step = max(float(np.spacing(it.type(near))) for it in types)
        first = 1.0 if side == TOGETHER else top - last * step
    else:
        top, step = min(int(np.iinfo(it).max) for it in types), 1
        first = top - last - (side == TOGETHER)
    if last >= top:
        return
    first = -top if side == BELOW else first
    ranks = {name: np.searchsorted(together, it) for name, it in arrays.items()}
    yield {k: (first + it * step).astype(arrays[k].dtype) for k, it in ranks.items()}


def largest_of(array) -> float:
    """How large the numbers of an array are stretched to."""
    if array.dtype.kind == "f":
        return float(np.finfo(array.dtype).max) / ROOMY
    return np.iinfo(array.dtype).max
