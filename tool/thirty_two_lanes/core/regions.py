"""Cells of an array, by their addresses, as a reader writes them: `tile[1:33, 0]`."""

import math
from typing import NamedTuple

import numpy as np

MOST = 4
MOST_CELLS = 1 << 24  # of an array, to name some


class ArrayPlace(NamedTuple):
    """Where an array is: the address of its first element, its shape and strides."""

    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, allocation):
        """That of an allocation."""
        return cls(allocation.first, allocation.shape, allocation.strides)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return math.prod(self.shape)

    def marked(self, addresses):
        """The elements at some addresses, as a mask; None where these are others."""
        if not 0 < self.size <= MOST_CELLS or min(self.strides, default=0) <= 0:
            return None
        mask, rest = np.zeros(self.shape, bool), addresses - self.first
        indices = [None] * len(self.shape)
        for axis in np.argsort(self.strides)[::-1]:
            indices[axis], rest = np.divmod(rest, self.strides[axis])
        if rest.any() or any(
            ((it < 0) | (it >= n)).any()
            for it, n in zip(indices, self.shape, strict=True)
        ):
            return None
        mask[tuple(indices)] = True
        return mask


def regions_of(mask, most=MOST) -> list:
    """The boxes that the marked cells make, by the order of the cells that begin them:
    a list of slices each, as long along the last axes as it goes; None behind `most`.
    """
    left, found = mask.copy(), []
    while left.any():
        if len(found) == most:
            return [*found, None]
        begin = np.unravel_index(left.argmax(), left.shape)
        box = [slice(int(at), int(at) + 1) for at in begin]
        for axis in reversed(range(left.ndim)):
            first = box[axis].start
            box[axis] = slice(first, None)
            along = tuple(it for it in range(left.ndim) if it != axis)
            marked = left[tuple(box)].all(axis=along)
            length = len(marked) if marked.all() else int(marked.argmin())
            box[axis] = slice(first, first + length)
        left[tuple(box)] = False
        found.append(box)
    return found


def regions_in_words(name, mask) -> str:
    """Those of an array in words: "`a[0]` and `a[65]`"."""
    told = [it and f"`{name}[{_written(it, mask.shape)}]`" for it in regions_of(mask)]
    if None in told:
        return f"{', '.join(told[:-1])}, …"
    *others, last = told
    return f"{', '.join(others)} and {last}" if others else last


def _written(box, shape) -> str:
    return ", ".join(map(_side, box, shape))


def _side(part, size) -> str:
    if part.stop - part.start == 1:
        return str(part.start)
    return ":" if part == slice(0, size) else f"{part.start}:{part.stop}"
