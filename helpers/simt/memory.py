"""Arrays as kernels see them: spaces, addresses, bounds, loads and stores; tells
listeners of each.

Global and constant cells are one line of memory. Shared and local cells are kept as
(cells, blocks), so that an index which does not depend on the block is a row, checked
and judged once for all blocks. A local array's cells are interleaved by lane, as the
hardware keeps them. Not modelled: caches; the order in which lanes of one store reach
one cell (the highest lane wins).
"""

import numpy as np

from ..hardware import WARP_SIZE
from .bounds import checked, out_of_bounds
from .errors import UnsupportedError
from .events import Access


class Array:
    """An array, or a view of one: its cells, and where in them an index leads."""

    __slots__ = (
        "cells",
        "base",
        "shape",
        "strides",
        "dtype",
        "space",
        "name",
        "address",
        "patterns",
        "by_block",
        "step",
    )

    def __init__(
        self, cells, base, shape, strides, dtype, space, name, address, patterns
    ):
        self.cells, self.shape = cells, shape
        # in elements, and wide as addresses
        self.base = base if isinstance(base, np.ndarray) else np.int64(base)
        self.strides = tuple(np.int64(stride) for stride in strides)
        self.dtype, self.space, self.name, self.address = dtype, space, name, address
        self.patterns = patterns  # what judges know of rows that recur
        self.by_block = space in ("shared", "local")
        self.step = dtype.itemsize  # bytes from a cell to the next

    def part(self, base, shape, strides):
        """The same cells seen with another base, shape and strides."""
        patterns = self.patterns
        if self.by_block and np.ndim(base) == 0:
            key = ("part", int(base), *map(str, shape), *strides)
            patterns = patterns.setdefault(key, {})
        return Array(
            self.cells,
            base,
            shape,
            strides,
            self.dtype,
            self.space,
            self.name,
            self.address,
            patterns,
        )


def field(array, name) -> Array:
    """A field of the records of an array, seen as an array of its own."""
    if array.by_block:
        raise UnsupportedError(
            f"records in shared or local memory (`{array.name}`) are not emulated yet: "
            "use an array for each field"
        )
    dtype, offset = array.dtype.fields[name][:2]
    seen = Array(
        array.cells[name],
        array.base,
        array.shape,
        array.strides,
        dtype,
        array.space,
        array.name,
        array.address + offset,
        {},
    )
    seen.step = array.step
    return seen


class Pattern:
    """A block-invariant access: its rows, its addresses, and what judges found."""

    __slots__ = ("rows", "addresses", "facts")

    def __init__(self, rows, addresses):
        self.rows, self.addresses, self.facts = rows, addresses, {}


def contiguous(cells, shape, dtype, space, name, address, patterns=None) -> Array:
    """An array in C order over its cells."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * int(size))
    shape = tuple(np.int64(size) for size in shape)
    return Array(
        cells,
        0,
        shape,
        tuple(strides[: len(shape)]),
        dtype,
        space,
        name,
        address,
        {} if patterns is None else patterns,
    )


def bind(array: np.ndarray, name: str, address: int, space="global") -> Array:
    """A host array as a kernel's global array, whose first byte is at `address`."""
    size = array.dtype.itemsize
    if any(stride % size for stride in array.strides):
        raise UnsupportedError(
            f"`{name}` steps by {array.strides} bytes, not by whole elements of {size} "
            "bytes "
            "(a field of records?): copy it into an array of its own first"
        )
    strides = tuple(stride // size for stride in array.strides)
    extents = [
        (count - 1) * stride for count, stride in zip(array.shape, strides, strict=True)
    ]
    below = -sum(extent for extent in extents if extent < 0) if array.size else 0
    length = (
        below + sum(extent for extent in extents if extent > 0) + 1 if array.size else 0
    )
    first = (
        array[
            tuple(
                0 if s >= 0 else c - 1
                for s, c in zip(strides, array.shape, strict=True)
            )
            + (np.newaxis,)
        ]
        if array.size
        else array.reshape(-1)
    )
    cells = np.lib.stride_tricks.as_strided(first, (length,), (size,))
    shape = tuple(np.int64(count) for count in array.shape)
    return Array(
        cells,
        below,
        shape,
        strides,
        array.dtype,
        space,
        name,
        address - below * size,
        {},
    )


# where an index leads


def offsets(frame, reference, array, indices, active):
    """The cell of each lane, of shape (lanes or 1, blocks or 1) or a number; bounds are
    checked.
    """
    offset = array.base
    for axis, (index, stride) in enumerate(zip(indices, array.strides, strict=True)):
        index = checked(index, array.shape[axis], active, frame, reference)
        if index is None:
            raise out_of_bounds(frame, reference, array, indices, axis, active)
        offset = offset + (index if stride == 1 else index * stride)
    return offset


def find_pattern(frame, reference, array, indices, active):
    """The pattern of a block-invariant access to shared or local memory, or None."""
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
    if array.space == "local":
        key.append("local")
    key = tuple(key)
    pattern = array.patterns.get(key)
    if pattern is None and np.ndim(array.base) == 0:
        if frame.listeners["wrap"] and any((i < 0).any() for i in indices):
            return None  # each wrap is told
        offset = offsets(frame, reference, array, indices, active)
        if np.ndim(offset) and offset.shape[1] != 1:
            return None
        pattern = array.patterns[key] = _pattern(array, offset)
    return pattern


def _pattern(array, offset):
    rows = by_lane(array, offset)
    addresses = array.address + np.asarray(rows).reshape(-1, 1) * array.step
    if np.size(rows) == 1:
        return Pattern(int(np.reshape(rows, ())), addresses)
    return Pattern(np.ascontiguousarray(rows[:, 0]), addresses)


def by_lane(array, offset):
    """The row of a cell: local memory interleaves the lanes."""
    if array.space != "local":
        return offset
    return offset * WARP_SIZE + np.arange(WARP_SIZE)[:, None]


# loads and stores


def load(frame, reference, array, indices, active):
    """`array[indices]` in each lane."""
    if array.by_block:
        pattern = find_pattern(frame, reference, array, indices, active)
        if pattern is not None:
            tell(frame, reference, array, None, active, pattern)
            rows = pattern.rows
            if type(rows) is int:
                return array.cells[rows : rows + 1].copy()
            return array.cells.take(rows, axis=0)
    offset = by_lane(array, offsets(frame, reference, array, indices, active))
    tell(frame, reference, array, offset, active)
    if not array.by_block:
        return array.cells[offset]
    return array.cells.ravel()[offset * frame.blocks + np.arange(frame.blocks)]


def store(frame, reference, array, indices, value, active):
    """`array[indices] = value` in each active lane; where lanes collide, the highest
    wins.
    """
    frame.memory.changes += 1
    if array.by_block:
        pattern = find_pattern(frame, reference, array, indices, active)
        if pattern is not None:
            tell(frame, reference, array, None, active, pattern, value)
            return _store_rows(array.cells, pattern.rows, value, active)
    offset = by_lane(array, offsets(frame, reference, array, indices, active))
    tell(frame, reference, array, offset, active, None, value)
    if array.by_block:
        _scatter(
            array.cells.ravel(),
            offset * frame.blocks + np.arange(frame.blocks),
            value,
            active,
        )
    else:
        _scatter(array.cells, offset, value, active)


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


def tell(frame, reference, array, cells, active, pattern=None, value=None):
    """Tell who listens to this space of one request; its cells are the pattern's, where
    there is one.
    """
    listeners = frame.listeners[array.space]
    if listeners:
        facts = where = pattern.facts if pattern else None
        if pattern is None:
            where = {"masks": frame.masks}
        access = Access(
            reference,
            array.space,
            array.dtype,
            cells if pattern is None else pattern.addresses,
            active,
            frame.blocks,
            facts,
            frame.who,
            frame.turn,
            value,
            where,
            array.step if pattern is None else 1,
            array.address if pattern is None else 0,
        )
        for listener in listeners:
            listener(access)


# views


def view(frame, reference, array, indices, active):
    """`array[indices]` where slices leave axes: the same cells, seen otherwise."""
    where = next((n for n, part in enumerate(indices) if part is Ellipsis), None)
    if where is not None:
        rest = len(array.shape) - len(indices) + 1
        indices = indices[:where] + (slice(None),) * rest + indices[where + 1 :]
    indices = indices + (slice(None),) * (len(array.shape) - len(indices))
    base, shape, strides = array.base, [], []
    for axis, (index, size, stride) in enumerate(
        zip(indices, array.shape, array.strides, strict=True)
    ):
        if isinstance(index, slice):
            start, count, step = _slice(index, int(size))
            base = base + start * stride
            shape.append(np.int64(count))
            strides.append(stride * step)
        else:
            index = checked(index, size, active, frame, reference)
            if index is None:
                raise out_of_bounds(frame, reference, array, indices, axis, active)
            base = base + index * stride
    return array.part(base, tuple(shape), tuple(strides))


def _slice(part, size):
    """Start, count and step of a slice, which must be the same for all threads."""
    if any(np.ndim(p) for p in (part.start, part.stop, part.step) if p is not None):
        raise UnsupportedError(
            "a slice whose ends differ between threads is not emulated yet: "
            "index the whole array instead"
        )
    start, stop, step = slice(
        *(None if p is None else int(p) for p in (part.start, part.stop, part.step))
    ).indices(size)
    return start, len(range(start, stop, step)), step


def attribute(array, name):
    """The part of an array that an `Attribute` names, as a number or a view."""
    if name.startswith("field "):
        return field(array, name[6:])
    if name.startswith("shape"):
        return array.shape[int(name[5:])]
    if name.startswith("strides"):
        return np.int64(array.strides[int(name[7:])] * array.step)
    if name == "size":
        return np.int64(np.prod([int(n) for n in array.shape]))
    if name == "T":
        return array.part(array.base, array.shape[::-1], array.strides[::-1])
    return np.int64({"ndim": len(array.shape), "itemsize": array.dtype.itemsize}[name])


# values where some lanes take part


def merge(active, new, old):
    """`new` in the active lanes, `old` in the others."""
    if old is None or new is old:
        return new
    if new is None:  # a loop over an array that ended: there is no element
        return old
    if isinstance(new, tuple):
        return tuple(merge(active, n, o) for n, o in zip(new, old, strict=True))
    if isinstance(new, Array):
        if isinstance(old, Array) and old.cells is new.cells and old.base is new.base:
            return new
        return _merge_arrays(active, new, old)
    if new.ndim == 0 and old.ndim == 0 and new == old:
        return new
    return np.where(active, new, old)


def _merge_arrays(active, new, old):
    if new.cells is old.cells and new.shape == old.shape and new.strides == old.strides:
        base = merge(active, np.asarray(new.base)[()], np.asarray(old.base)[()])
        return new.part(base, new.shape, new.strides)
    raise UnsupportedError(
        "a variable that is one array in some threads and another in others "
        "is not emulated yet: choose the element, not the array"
    )
