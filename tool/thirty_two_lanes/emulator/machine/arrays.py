"""Arrays as kernels see them: cells of memory with a base, a shape and strides.

A variable that holds one array in some threads and another in others is a `Choice`.
`access` loads from them and stores to them, `views` makes views of them.
"""

import math
from dataclasses import dataclass

import numpy as np

from thirty_two_lanes.emulator.machine.cells import Cells, of_host

ZERO = np.int64(0)


class Array:
    """An array, or a view of one: its cells, and where in them an index leads.

    Base and strides count cells; like the shape they may differ between threads.
    """

    __slots__ = "cells base shape strides factors dtype space name patterns".split()

    def __init__(self, cells, base, shape, strides, name, patterns):
        self.cells, self.shape, self.name = cells, shape, name
        # wide as addresses
        self.base = base if isinstance(base, np.ndarray) else np.int64(base) or ZERO
        self.strides = strides
        self.factors = tuple(None if is_one(stride) else stride for stride in strides)
        self.dtype, self.space = cells.dtype, cells.space
        self.patterns = (
            patterns  # of accesses that recur, by their indices; None: none do
        )

    def here(self, active):
        """The array with the threads that are active, as a choice has several."""
        return [(self, active)]

    def part(self, base, shape, strides, cells=None):
        """The same memory seen with another base, shape, strides and cells."""
        cells = cells or self.cells
        patterns = None
        if cells.rows is not None and self.patterns is not None:
            parts = [np.asarray(part) for part in (base, *shape, *strides)]
            if all(part.ndim == 0 or part.shape[1] == 1 for part in parts):
                seen = (cells.dtype, cells.step, cells.address, len(shape))
                key = (*seen, *(p.tobytes() for p in parts))
                patterns = self.patterns.setdefault(key, {})
        return Array(cells, base, shape, strides, self.name, patterns)


def is_one(stride) -> bool:
    """Is this stride one cell, in all threads?"""
    return np.ndim(stride) == 0 and stride == 1


class Choice:
    """A variable that is one array in some threads and another in others."""

    def __init__(self, parts):
        self.parts = parts  # arrays, each with the threads that have it
        self.cells = None
        first = parts[0][0]
        self.dtype, self.name = first.dtype, first.name

    def here(self, active):
        """Each array, with those of its threads that are active."""
        for array, threads in self.parts:
            taking_part = threads if active is None else threads & active
            if taking_part.any():
                yield array, taking_part

    def each(self, active, function):
        """What `function(array, threads)` gives for each of those, as one value."""
        results = [(function(*part), part[1]) for part in self.here(active)]
        value = results[0][0]
        if isinstance(value, (Array, Choice)):
            return Choice(results)
        for other, threads in results[1:]:
            value = None if other is None else np.where(threads, other, value)
        return value


def contiguous(cells, shape, name, patterns=None) -> Array:
    """An array in C order over its cells."""
    shape = tuple(np.int64(size) for size in shape)
    strides = c_strides(shape, np.int64(1))
    return Array(cells, 0, shape, strides, name, {} if patterns is None else patterns)


def c_strides(shape, innermost) -> tuple:
    """The strides of an array in C order."""
    strides = [innermost]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides[: len(shape)])


def bind(array, name: str, address: int, space="global") -> Array:
    """A host array as a kernel's global array, whose first element is at `address`."""
    if isinstance(array, Overlay):
        return array.bind(name, address)
    cells, base = of_host(array, space, address)
    shape = tuple(np.int64(count) for count in array.shape)
    strides = tuple(np.int64(stride // cells.step) for stride in array.strides)
    return Array(cells, base, shape, strides, name, {})


@dataclass(frozen=True, eq=False)
class Overlay:
    """A host array whose bytes a kernel reads as elements of another type: some of them
    may lie beyond its memory, or at addresses where no such element can be.
    """

    array: np.ndarray  # as it was passed
    memory: np.ndarray  # the bytes that may be read, those of its allocation
    first: int  # which of them is the array's first
    dtype: np.dtype
    strides: tuple[int, ...]

    def bind(self, name, address) -> Array:
        """It as a kernel's global array, whose first element is at `address`."""
        size = self.dtype.itemsize
        step = math.gcd(size, self.first, *self.strides, *self.array.strides)
        count = max(0, (self.memory.size - size) // step + 1)
        start = address - self.first
        cells = Cells(self.memory, 0, count, self.dtype, step, "global", start)
        cells.overlaid = True
        shape = tuple(np.int64(count) for count in self.array.shape)
        strides = tuple(np.int64(stride // step) for stride in self.strides)
        return Array(cells, self.first // step, shape, strides, name, {})
