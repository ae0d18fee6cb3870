"""Addresses of indices, loads and stores; emits each request to the listeners.

An index of shared or local memory that does not depend on the block is a row, checked
and judged once for all blocks. A local array's cells are interleaved by lane, as the
hardware keeps them. Not modelled: caches; the order in which lanes of one store reach
one cell (the highest lane wins).
"""

import numpy as np

from thirty_two_lanes.core.events import Access
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.accesses.async_copies import emit_early
from thirty_two_lanes.emulator.machine.arrays import ZERO, Array, Choice
from thirty_two_lanes.emulator.machine.bounds import check_bytes, checked, out_of_bounds
from thirty_two_lanes.emulator.machine.cells import LANES

BYTE = np.dtype(np.uint8)


# where an index leads


def offsets(warp, reference, array, indices, active):
    """The cell of each lane, of shape (lanes or 1, blocks or 1) or a number; bounds are
    checked.
    """
    offset, ours = array.base, False
    for axis, (index, factor) in enumerate(zip(indices, array.factors, strict=True)):
        index = checked(index, array.shape[axis], active, warp, reference, axis)
        if index is None:
            raise out_of_bounds(warp, reference, array, indices, axis, active)
        index = index if factor is None else index * factor
        if offset is ZERO and index.dtype == ZERO.dtype:
            offset, ours = index, factor is not None
        elif ours and _fits(index, offset):
            offset += index  # in memory that the cache holds
        else:
            offset, ours = offset + index, True
    if array.cells.overlaid:
        check_bytes(warp, reference, array, offset, active)
    if active is not None and isinstance(array.base, np.ndarray):
        return np.where(active, offset, 0)  # inactive lanes may have any offset
    return offset


def _fits(index, offset) -> bool:
    """Has the sum of both the shape and the type of the second?"""
    return index.dtype == offset.dtype and all(
        n in (1, m) for n, m in zip(index.shape, offset.shape, strict=False)
    )


class Pattern:
    """A block-invariant access: its rows, its addresses, and what judges keep of it."""

    __slots__ = ("rows", "addresses", "cache")

    def __init__(self, rows, addresses):
        self.rows, self.addresses, self.cache = rows, addresses, {}


def find_pattern(warp, reference, array, indices, active):
    """The pattern of a block-invariant access to shared or local memory, or None."""
    if array.patterns is None:
        return None
    key = [id(reference)]
    for index in indices:
        if index.ndim == 0:
            key.append(index.item())
        elif index.shape[1] == 1:
            key.append(index.tobytes())
        else:
            return None
    if active is not None:
        if active.shape[1] != 1:
            return None
        key.append(active.tobytes())
    key = tuple(key)
    pattern = array.patterns.get(key)
    if pattern is None:
        if warp.listeners["negative_index"] and _wraps(warp, reference, indices):
            return None  # each negative index is emitted
        offset = offsets(warp, reference, array, indices, active)
        if np.ndim(offset) and offset.shape[1] != 1:
            return None
        pattern = array.patterns[key] = _pattern(array, offset)
    return pattern


def _wraps(warp, reference, indices) -> bool:
    """Is an index negative, where the source has no negative number?"""
    meant = warp.batch.launch.program.from_the_end
    return any(
        (index < 0).any() and (reference, axis) not in meant
        for axis, index in enumerate(indices)
    )


def _pattern(array, offset):
    addresses = np.asarray(array.cells.bytes_at(offset)).reshape(-1, 1)
    rows = offset * WARP_SIZE + LANES if array.space == "local" else offset
    if np.size(rows) == 1:
        return Pattern(int(np.reshape(rows, ())), addresses)
    return Pattern(rows[:, 0].copy(), addresses)  # an index may change in place


# loads and stores


def load(warp, reference, array, indices, active):
    """`array[indices]` in each lane."""
    cells = array.cells
    if cells is None:
        return array.each(
            active, lambda part, threads: load(warp, reference, part, indices, threads)
        )
    copying = warp.batch.copies.words
    if cells.rows is not None and not copying:
        pattern = find_pattern(warp, reference, array, indices, active)
        if pattern is not None:
            emit(warp, reference, array, None, active, pattern)
            rows = pattern.rows
            if type(rows) is int:
                return cells.rows[rows : rows + 1].copy()
            return cells.rows.take(rows, axis=0)
    offset = offsets(warp, reference, array, indices, active)
    emit(warp, reference, array, offset, active)
    if copying:
        emit_early(warp, reference, array, offset, active)
    return cells.gather(cells.at(offset))


def store(warp, reference, array, indices, value, active):
    """`array[indices] = value` in each active lane; where lanes collide, the highest
    wins.
    """
    if value is None:  # NumPy would store NaN
        raise TypeError("a variable without a value is stored")
    warp.memory.changes += 1
    cells = array.cells
    if cells is None:
        for part, threads in array.here(active):
            store(warp, reference, part, indices, value, threads)
        return
    copying = warp.batch.copies.words
    if cells.rows is not None and not copying:
        pattern = find_pattern(warp, reference, array, indices, active)
        if pattern is not None:
            emit(warp, reference, array, None, active, pattern, value)
            return _store_rows(cells.rows, pattern.rows, value, active)
    offset = offsets(warp, reference, array, indices, active)
    emit(warp, reference, array, offset, active, None, value)
    if copying:
        emit_early(warp, reference, array, offset, active)
    _scatter(cells.flat, cells.at(offset), value, active)


def _store_rows(cells, rows, value, active):
    if active is not None:
        lanes = np.flatnonzero(active[:, 0]) if len(active) > 1 else slice(None)
        value = value[lanes] if np.ndim(value) and len(value) > 1 else value
        rows = rows if type(rows) is int else rows[lanes]
    if type(rows) is int:
        cells[rows] = value[-1] if np.ndim(value) else value
    else:
        cells[rows] = value


def _scatter(cells, offset, value, active):
    if active is None and np.shape(offset) == np.shape(value):
        cells[offset] = value
        return
    parts = np.broadcast_arrays(offset, value, True if active is None else active)
    offset, value, active = parts
    if offset.ndim == 0:
        cells[offset] = value
    else:
        cells[offset[active]] = value[active]


def emit(warp, reference, array, offset, active, pattern=None, value=None, dtype=None):
    """Emit one request to the listeners; its cells are the pattern's if it has one.

    A whole record is emitted byte by byte, as the compiler moves it, and so is a field
    of records that are not aligned: it may begin at any byte.
    """
    listeners = warp.listeners[array.space]
    if not listeners:
        return
    by_bytes = array.dtype.names is not None or array.cells.packed
    if by_bytes and dtype is None:
        return _emit_bytes(warp, reference, array, offset, active)
    if pattern is None:
        cells, cache = array.cells, {"masks": warp.masks}
        at, step, base = cells.place_of(offset), cells.step, cells.address
    else:
        at, step, base, cache = pattern.addresses, 1, 0, pattern.cache
    access = Access(
        reference,
        array.space,
        dtype or array.dtype,
        cells=at,
        active=active,
        blocks=warp.blocks,
        cache=cache,
        recurs=pattern is not None,
        who=warp.who,
        iterations=warp.iterations,
        value=value,
        step=step,
        base=base,
    )
    for listener in listeners:
        listener(access)


def _emit_bytes(warp, reference, array, offset, active):
    cells = array.cells
    for byte in range(array.dtype.itemsize):
        one = cells.viewed_as(BYTE, byte, cells.step)
        part = Array(one, array.base, array.shape, array.strides, array.name, None)
        emit(warp, reference, part, offset, active)


# values where some lanes are active


def merge(active, new, old):
    """`new` in the active lanes, `old` in the others."""
    if old is None or new is old:
        return new
    if new is None:  # a loop over an array that ended: there is no element
        return old
    if isinstance(new, tuple):
        return tuple(merge(active, n, o) for n, o in zip(new, old, strict=True))
    if isinstance(new, (Array, Choice)):
        return _merge_arrays(active, new, old)
    if new.ndim == 0 and old.ndim == 0 and new.tobytes() == old.tobytes():
        return new
    return np.where(active, new, old)


def _merge_arrays(active, new, old):
    """One array where both have the same cells, and otherwise a choice."""
    if new.cells is not None and new.cells is old.cells:
        if new.base is old.base and new.shape is old.shape:
            return new
        parts = (new.base, *new.shape, *new.strides)
        others = (old.base, *old.shape, *old.strides)
        merged = [merge(active, n, o) for n, o in zip(parts, others, strict=True)]
        axes = len(new.shape)
        return new.part(
            merged[0], tuple(merged[1 : 1 + axes]), tuple(merged[1 + axes :])
        )
    parts = [(array, threads & active) for array, threads in _parts(new)]
    parts += [(array, threads & ~active) for array, threads in _parts(old)]
    return Choice([(array, threads) for array, threads in parts if threads.any()])


def choose_array(active, index, arrays):
    """The array of a tuple at an index that the lanes computed."""
    index = np.where(index < 0, index + len(arrays), index)
    result = None
    for which, array in enumerate(arrays):
        here = index == which
        taking_part = here if active is None else here & active
        if taking_part.any():
            result = array if result is None else merge(here, array, result)
    return arrays[-1] if result is None else result


def _parts(array):
    return array.parts if array.cells is None else [(array, np.True_)]
