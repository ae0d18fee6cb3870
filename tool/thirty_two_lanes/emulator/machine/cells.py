"""Memory as cells of one type, and where the lanes of a warp find theirs.

Cells may be viewed as elements of another type: fields, `.view`, dynamic shared
memory. Shared and local cells that are only ever numbers of one size lie interleaved,
as (cells, blocks), so that an index which does not depend on the block is a row; others
lie block by block, so that a cell of any size and distance is a strided one.
"""

import math
from functools import partial

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE

LANES = np.arange(WARP_SIZE)[:, None]


class Cells:
    """Cells of one type, `step` bytes apart, that may overlap.

    A lane's cell is `flat[place + offset * scale]`; `place`, of shape (lanes or 1,
    blocks), is None where all threads share the cells, and `rows` is None where a row
    does not hold a cell of each block.
    """

    __slots__ = (
        "memory start flat gather rows dtype step "
        "scale place space address seen packed overlaid "
    ).split()

    def __init__(self, memory, start, count, dtype, step, space, address):
        self.memory, self.start, self.dtype, self.step = memory, start, dtype, step
        self.space, self.address = space, address  # of the cell with offset 0, in bytes
        self.flat = np.ndarray((count,), dtype, memory, start, (step,))
        self.gather = self.flat.__getitem__
        flags = self.flat.flags
        if flags.c_contiguous and flags.aligned:  # it would copy other arrays whole
            self.gather = partial(self.flat.take, mode="wrap")  # bounds are checked
        self.rows = self.place = None
        self.scale, self.packed = 1, False
        self.overlaid = False  # elements may lie beyond these bytes, or misaligned
        self.seen = {}

    def at(self, offset):
        """Where in `flat` the lanes find their cells."""
        return offset if self.place is None else offset * self.scale + self.place

    def place_of(self, offset):
        """Where cells lie in a request: local memory interleaves the lanes."""
        if self.space == "local":
            return offset * WARP_SIZE + LANES
        one = self.place is not None and not np.ndim(offset)  # a cell of each block
        return np.reshape(offset, (1, 1)) if one else offset

    def bytes_at(self, offset):
        """The addresses of a request."""
        return self.address + self.place_of(offset) * self.step

    def viewed_as(self, dtype, offset, step, packed=False):
        """The same bytes as other elements, from a byte on; `step` divides ours.

        Packed ones may begin at any byte, and are read and written byte by byte.
        """
        key = dtype, offset, step, packed
        if key not in self.seen:
            self.seen[key] = self._viewed_as(dtype, offset, step)
            self.seen[key].packed = packed
        return self.seen[key]

    def _viewed_as(self, dtype, offset, step):
        start, ratio = self.start + offset, self.step // step
        count = max(0, (self.memory.size - start - dtype.itemsize) // step + 1)
        if dtype.itemsize > self.memory.size - start:
            start, count = 0, 0
        address = self.address + offset
        seen = Cells(self.memory, start, count, dtype, step, self.space, address)
        seen.scale, seen.overlaid = self.scale, self.overlaid
        if self.place is not None:
            seen.place = self.place * ratio
        if self.rows is not None:
            seen.rows = seen.flat[: self.rows.size].reshape(self.rows.shape)
        return seen


def unwritten(count, dtype):
    """Unwritten cells: not a number, or a number that stands out."""
    if dtype.names:
        cells = np.zeros(count, dtype)
        for name in dtype.names:
            part = cells[name]
            part[...] = unwritten(part.size, part.dtype).reshape(part.shape)
        return cells
    cells = np.empty(count, dtype)
    cells.fill(np.nan if dtype.kind in "fc" else np.array(0xCD, np.uint8).astype(dtype))
    return cells


def interleaved(count, dtype, space, address, blocks) -> Cells:
    """Shared or local cells, those of all blocks side by side."""
    owners = blocks * (WARP_SIZE if space == "local" else 1)
    memory = unwritten(count * owners, dtype).view(np.uint8)
    cells = Cells(memory, 0, count * owners, dtype, dtype.itemsize, space, address)
    cells.rows = cells.flat.reshape(-1, blocks)
    cells.scale, cells.place = owners, np.arange(blocks)[None, :]
    if space == "local":
        cells.place = LANES * blocks + np.arange(blocks)
    return cells


def block_by_block(count, dtype, space, address, blocks) -> Cells:
    """Shared or local cells that can be viewed as elements of another size."""
    owners = blocks * (WARP_SIZE if space == "local" else 1)
    memory = unwritten(count * owners, dtype).view(np.uint8)
    cells = Cells(memory, 0, count * owners, dtype, dtype.itemsize, space, address)
    cells.place = np.arange(blocks)[None, :] * count
    if space == "local":
        cells.place = cells.place * WARP_SIZE + LANES * count
    return cells


def of_host(array, space, address) -> tuple[Cells, int]:
    """A host array's cells, the lowest address first, and the cell of its first
    element.
    """
    strides = array.strides if array.size else ()
    step = math.gcd(array.dtype.itemsize, *strides)
    if not array.size:
        memory = np.empty(0, np.uint8)
        return Cells(memory, 0, 0, array.dtype, step or 1, space, address), 0
    extents = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True)]
    below = -sum(extent for extent in extents if extent < 0)
    length = below + sum(e for e in extents if e > 0) + array.dtype.itemsize
    lowest = tuple(
        0 if s >= 0 else n - 1 for s, n in zip(strides, array.shape, strict=True)
    )
    first = array[(*lowest, np.newaxis)].view(np.uint8)
    memory = np.lib.stride_tricks.as_strided(first, (length,), (1,))
    count = (length - array.dtype.itemsize) // step + 1
    cells = Cells(memory, 0, count, array.dtype, step, space, address - below)
    return cells, below // step
