"""The arrays of a film: which cell an address is, what was in it, and what is now.

A cell is its flat index in C order, whatever the array's strides. Not modelled: two
arrays over the same bytes, each of which would see what is stored by the other's name.
"""

from dataclasses import dataclass, field

import numpy as np

from thirty_two_lanes.core.hardware import LINE_BYTES

WHOLE = 1024  # cells of an array that are all kept, touched or not


@dataclass
class FilmArray:
    """An array that the watched block touches.

    `initial` has what was in each cell that was touched, before that, None if nobody
    had written it; `now` what is in it. `place` is the watched block's in the memory.
    """

    name: str
    space: str
    dtype: np.dtype
    shape: tuple
    first: int
    strides: tuple
    memory: object
    place: int
    unwritten: np.ndarray | None = None  # marks of cells, in C order
    initial: dict = field(default_factory=dict)
    now: dict = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of its cells."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def is_contiguous(self) -> bool:
        """Do its cells lie side by side, in C order?"""
        steps = (self.dtype.itemsize * self._step(n) for n in range(len(self.shape)))
        layout = zip(self.shape, self.strides, steps, strict=True)
        return all(size < 2 or stride == step for size, stride, step in layout)

    @property
    def offset(self) -> int:
        """The byte at which it begins: of a block's shared memory, or past a line."""
        return int(self.first) % LINE_BYTES if self.space != "shared" else self.first

    def cells_at(self, addresses) -> np.ndarray:
        """The cells that addresses are in, -1 where they are in none."""
        ends = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        rest = np.asarray(addresses) - (self.first + sum(e for e in ends if e < 0))
        cells = np.zeros(rest.shape, np.int64)
        for axis in sorted(range(len(ends)), key=lambda axis: -abs(self.strides[axis])):
            size, stride = self.shape[axis], self.strides[axis]
            if not stride:
                continue
            index, rest = np.divmod(rest, abs(stride))
            cells = np.where((cells < 0) | (index < 0) | (index >= size), -1, cells)
            index = size - 1 - index if stride < 0 else index
            cells = np.where(cells < 0, -1, cells + index * self._step(axis))
        between = (rest < 0) | (rest >= self.dtype.itemsize)  # two of its elements
        return np.where(between, -1, cells)

    def look(self, cells) -> np.ndarray:
        """What is in cells."""
        indices = np.unravel_index(np.asarray(cells), self.shape)
        parts = (i * s for i, s in zip(indices, self.strides, strict=True))
        addresses = self.first + sum(parts, np.zeros(np.shape(cells), np.int64))
        memory = self.memory
        offset = (addresses - memory.address) // memory.step
        place = 0 if memory.place is None else memory.place[0, self.place]
        return memory.flat[offset * memory.scale + place]

    def meet(self, cells):
        """Note what is in cells that nobody has met; of few, in all of them."""
        few = self.space != "shared" and self.size <= WHOLE
        cells = np.arange(self.size) if few else cells
        new = [cell for cell in dict.fromkeys(cells.tolist()) if cell not in self.now]
        if new:
            found = dict(zip(new, plain(self.look(new)), strict=True))
            if self.space == "shared":
                found = dict.fromkeys(new)
            elif self.unwritten is not None:
                found = {c: None if self.unwritten[c] else v for c, v in found.items()}
            self.initial |= found
            self.now |= found

    def _step(self, axis) -> int:
        return int(np.prod(self.shape[axis + 1 :], dtype=np.int64))


class BlockArrays:
    """The arrays that a launch has told of, and those of them that are the block's."""

    def __init__(self):
        self.known = []
        self.touched = []

    def add(self, allocation, place):
        """Remember an array; records are none that a film can show. One without axes
        has one of one cell.
        """
        if allocation.dtype.names is None and allocation.cells is not None:
            self.known.append(
                FilmArray(
                    allocation.name,
                    allocation.space,
                    allocation.dtype,
                    tuple(map(int, allocation.shape)) or (1,),
                    allocation.first,
                    allocation.strides or (allocation.dtype.itemsize,),
                    allocation.cells,
                    place,
                    _unwritten_cells(allocation),
                )
            )

    def find(self, access, addresses) -> FilmArray | None:
        """The array that a request is for, of several the one of this name."""
        space = "global" if access.space == "const" else access.space
        found = [
            array
            for array in self.known
            if array.space == space and (array.cells_at(addresses) >= 0).all()
        ]
        found.sort(key=lambda array: array.name != access.reference.array)
        if not found:
            return None
        if not any(found[0] is array for array in self.touched):
            self.touched.append(found[0])
        return found[0]

    def number(self, array) -> int:
        """The place of an array among those that were touched."""
        return next(n for n, it in enumerate(self.touched) if it is array)


def plain(values) -> list:
    """NumPy's numbers as Python's, the shortest that become the same again."""
    values = np.asarray(values)
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        return [float(str(value)) for value in values.ravel()]
    if values.dtype.kind == "c":
        return [str(value) for value in values.ravel()]
    return values.ravel().tolist()


def _unwritten_cells(allocation):
    """Marks of an array's cells that were never written, in C order, or None."""
    if allocation.unwritten is None:
        return None
    marks = np.array(allocation.unwritten)
    first = allocation.first - allocation.start
    seen = np.lib.stride_tricks.as_strided(
        marks[first:], allocation.shape, allocation.strides
    )
    return seen.ravel().copy()
