"""Atomic updates: each lane's, one after the other, in the order of the lanes."""

import numpy as np

from helpers.emulator.machine.access import emit, find_pattern, offsets

_ACCUMULATE = {
    "add": np.add,
    "sub": np.subtract,
    "max": np.maximum,
    "min": np.minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}

_UPDATE = {
    **_ACCUMULATE,
    "max": lambda old, value: np.where(old < value, value, old),
    "min": lambda old, value: np.where(old > value, value, old),
    "exch": lambda old, value: value,
    "inc": lambda old, limit: np.where(
        old >= limit, old.dtype.type(0), old + old.dtype.type(1)
    ),
    "dec": lambda old, limit: np.where(
        (old == 0) | (old > limit), limit, old - old.dtype.type(1)
    ),
    "cas": lambda old, expected, value: np.where(old == expected, value, old),
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
    if operator in _ACCUMULATE and not wanted:
        if operator in ("max", "min"):  # a NaN is never greater, nor less
            flat, lanes = flat[lanes[0] == lanes[0]], [lanes[0][lanes[0] == lanes[0]]]
        _ACCUMULATE[operator].at(cells, flat, lanes[0])
        warp.memory.changes += 1
        return None
    old = np.zeros(everyone.shape, array.dtype)
    old[taking_part] = _in_turn(warp, cells, flat, lanes, _UPDATE[operator])
    return old


def _atomic_choice(warp, reference, operator, array, *operands):
    """An update of each array of a choice, in the threads that have it."""
    indices, values, active, wanted = operands
    result = array.dtype.type(0)
    for part, threads in array.here(active):
        old = atomic(warp, reference, operator, part, indices, values, threads, wanted)
        result = np.where(threads, old, result) if wanted else None
    return result


def _in_turn(warp, cells, flat, lanes, update):
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
