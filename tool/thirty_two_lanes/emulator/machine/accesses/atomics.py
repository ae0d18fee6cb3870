"""Atomic updates: each lane's, one after the other, in the order of the lanes; blocks
that run together take turns, as the seed chooses.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.emulator.machine.accesses.access import (
    emit,
    find_pattern,
    offsets,
)


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


def greater_number(old, value):
    """The greater number, and any number after a NaN."""
    return np.where(np.isnan(value) | (old >= value), old, value)


def smaller_number(old, value):
    """The smaller number, and any number after a NaN."""
    return np.where(np.isnan(value) | (old <= value), old, value)


def flushed_sum(old, value):
    """A sum of float32 in global memory: subnormal numbers count as zeros."""
    return _flushed(_flushed(old) + _flushed(value))


def _flushed(number):
    """A number; a zero of its sign, if it is subnormal."""
    zero = np.copysign(number.dtype.type(0), number)
    return np.where(np.abs(number) < np.finfo(number.dtype).tiny, zero, number)


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
    "nanmax": Update(greater_number, np.fmax),
    "nanmin": Update(smaller_number, np.fmin),
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
        here = warp, reference, operator
        return array.each(
            active, lambda it, lanes: atomic(*here, it, indices, values, lanes, wanted)
        )
    offset = offsets(warp, reference, array, indices, active)
    pattern = None
    if array.cells.rows is not None:
        pattern = find_pattern(warp, reference, array, indices, active)
    emit(warp, reference, array, offset, active, pattern)
    cells = array.cells.flat
    shape = 32, warp.blocks
    here = np.broadcast_to(True if active is None else active, shape)
    if wanted or not ATOMICS[operator].accumulate:  # else only rounding tells the order
        here = _in_turn(warp, here)
    flat = np.broadcast_to(array.cells.at(offset), shape)[here]
    lanes = [np.broadcast_to(value, shape)[here] for value in values]
    new, accumulate = _update(operator, array, cells[flat], lanes[0])
    if accumulate and not wanted:
        if operator in ("max", "min"):  # a NaN is never greater, nor less
            flat, lanes = flat[lanes[0] == lanes[0]], [lanes[0][lanes[0] == lanes[0]]]
        accumulate.at(cells, flat, lanes[0])
        warp.memory.changes += 1
        return None
    old = np.zeros(shape, array.dtype)
    old[here] = _one_by_one(warp, cells, flat, lanes, new)
    return old


def _in_turn(warp, taking_part):
    """The lanes and the blocks of the threads that take part, one after the other."""
    if warp.blocks == 1:
        return taking_part
    order = warp.batch.in_turn
    lane, block = np.nonzero(taking_part[:, order])
    return lane, order[block]


def _update(operator, array, before, value) -> Update:
    """What an atomic does here: lane by lane where its sum for all would be another."""
    update = ATOMICS[operator]
    if array.dtype.kind != "f":
        return update
    if operator in ("max", "min", "nanmax", "nanmin"):
        by_lane = _has_negative_zero(before) or _has_negative_zero(value)
        return Update(update.new) if by_lane else update
    flushes = (operator, array.dtype, array.space) == ("add", np.float32, "global")
    if flushes and (_has_tiny(before) or _has_tiny(value)):
        return Update(flushed_sum)
    return update


def _has_negative_zero(numbers) -> bool:
    return bool(np.any((numbers == 0) & np.signbit(numbers)))


def _has_tiny(numbers) -> bool:
    """Are there numbers of float32 whose sums may be subnormal?"""
    return bool(np.any((numbers != 0) & (np.abs(numbers) < 2.0**-100)))


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
    turn = np.arange(len(flat)) - np.repeat(start, np.diff(np.r_[start, len(flat)]))
    old = np.empty(len(flat), cells.dtype)
    by_turn = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(turn[by_turn], np.arange(turn.max(initial=-1) + 2))
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        now = order[by_turn[begin:end]]
        before = cells[flat[now]]
        after = update(before, *(value[now] for value in lanes)).astype(cells.dtype)
        if not np.array_equal(before, after):
            warp.memory.changes += 1
        old[now] = before
        cells[flat[now]] = after
    return old
