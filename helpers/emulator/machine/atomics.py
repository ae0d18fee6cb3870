"""Atomic updates: each lane's, one after the other, in the order of the lanes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from helpers.emulator.machine.access import emit, find_pattern, offsets


class Update(NamedTuple):
    """What an atomic leaves in a cell: `new(old, *values)`, lane by lane.

    `accumulate` is a ufunc that does it for all lanes at once, where the old
    values are not needed.
    """

    new: Callable
    accumulate: np.ufunc | None = None


def greater(old, value):
    """The greater number; a NaN is not greater."""
    return np.where(old < value, value, old)


def smaller(old, value):
    """The smaller number; a NaN is not smaller."""
    return np.where(old > value, value, old)


def incremented(old, limit):
    """One more, and 0 after the limit."""
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def decremented(old, limit):
    """One less, and the limit after 0."""
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


ATOMICS = {  # by the operator of an `ir.Atomic`
    "add": Update(np.add, np.add),
    "sub": Update(np.subtract, np.subtract),
    "max": Update(greater, np.maximum),
    "min": Update(smaller, np.minimum),
    "nanmax": Update(np.fmax, np.fmax),
    "nanmin": Update(np.fmin, np.fmin),
    "and": Update(np.bitwise_and, np.bitwise_and),
    "or": Update(np.bitwise_or, np.bitwise_or),
    "xor": Update(np.bitwise_xor, np.bitwise_xor),
    "exch": Update(lambda old, value: value),
    "inc": Update(incremented),
    "dec": Update(decremented),
    "cas": Update(lambda old, expected, value: np.where(old == expected, value, old)),
}


def atomic(warp, reference, operator, array, indices, values, active, wanted):
    """Update `array[indices]` in each active lane; the old values, when they are
    wanted.
    """
    if array.cells is None:
        return _atomic_choice(
            warp, reference, operator, array, indices, values, active, wanted
        )
    offset = offsets(warp, reference, array, indices, active)
    pattern = None
    if array.cells.rows is not None:
        pattern = find_pattern(warp, reference, array, indices, active)
    emit(warp, reference, array, offset, active, pattern)
    cells = array.cells.flat
    everyone = np.ones((32, warp.blocks), bool)
    taking_part = everyone if active is None else everyone & active
    flat = np.broadcast_to(array.cells.at(offset), everyone.shape)[taking_part]
    lanes = [np.broadcast_to(value, everyone.shape)[taking_part] for value in values]
    accumulate = ATOMICS[operator].accumulate
    if accumulate and not wanted:
        if operator in ("max", "min"):  # a NaN is never greater, nor less
            flat, lanes = flat[lanes[0] == lanes[0]], [lanes[0][lanes[0] == lanes[0]]]
        accumulate.at(cells, flat, lanes[0])
        warp.memory.changes += 1
        return None
    old = np.zeros(everyone.shape, array.dtype)
    old[taking_part] = _one_by_one(warp, cells, flat, lanes, ATOMICS[operator].new)
    return old


def _atomic_choice(warp, reference, operator, array, *operands):
    """An update of each array of a choice, in the threads that have it."""
    indices, values, active, wanted = operands
    result = array.dtype.type(0)
    for part, threads in array.here(active):
        old = atomic(warp, reference, operator, part, indices, values, threads, wanted)
        result = np.where(threads, old, result) if wanted else None
    return result


def _one_by_one(warp, cells, flat, lanes, update):
    """The old value that each lane sees; lanes of one cell go one after the other."""
    order = np.argsort(flat, kind="stable")
    sorted_cells = flat[order]
    first = (
        np.r_[True, sorted_cells[1:] != sorted_cells[:-1]]
        if len(flat)
        else np.zeros(0, bool)
    )
    start = np.flatnonzero(first)
    place = np.arange(len(flat)) - np.repeat(start, np.diff(np.r_[start, len(flat)]))
    old = np.empty(len(flat), cells.dtype)
    by_place = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[by_place], np.arange(place.max(initial=-1) + 2))
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        now = order[by_place[begin:end]]
        before = cells[flat[now]]
        after = update(before, *(value[now] for value in lanes)).astype(cells.dtype)
        if not np.array_equal(before, after):
            warp.memory.changes += 1
        old[now] = before
        cells[flat[now]] = after
    return old
