"""Stores to parts of arrays: each element in turn, as the loop that Numba makes."""

import numpy as np

from thirty_two_lanes.core.errors import KernelError
from thirty_two_lanes.core.events import Repeat
from thirty_two_lanes.emulator.machine.accesses.access import load, store


def fill(warp, array, reference, value, active):
    """`array[...] = value`, or one item of a tuple for each element."""
    for part, threads in array.here(active):
        if isinstance(value, tuple):
            _fits(reference.site, part, len(value), threads)
        for k, (index, taking_part) in enumerate(elements(part, threads)):
            if k:
                _emit_repeat(warp, reference.site, taking_part)
            item = value[k] if isinstance(value, tuple) else value
            store(warp, reference, part, index, item, taking_part)


def move(warp, array, source, stored, loaded, active):
    """`array[...] = source`, a record for each element, or element by element."""
    for part, threads in array.here(active):
        for k, (index, taking_part) in enumerate(elements(part, threads)):
            if k:
                _emit_repeat(warp, stored.site, taking_part)
            source_index = index if _ndim(source) else ()
            value = load(warp, loaded, source, source_index, taking_part)
            store(warp, stored, part, index, value, taking_part)


def _emit_repeat(warp, site, active):
    for listener in warp.listeners["repeat"]:
        listener(Repeat(site, active, warp.who, *warp.counted(active)))


def elements(array, active):
    """The indices of an array in C order, with the threads that have each."""
    sizes = [n if active is None else np.where(active, n, 0) for n in array.shape]
    varies = any(np.ndim(size) for size in array.shape)
    for index in np.ndindex(*(int(np.max(size)) for size in sizes)):
        taking_part = active
        if varies:
            inside = np.True_
            for along, size in zip(index, array.shape, strict=True):
                inside = inside & (along < size)
            taking_part = inside if active is None else inside & active
        if taking_part is None or taking_part.any():
            yield tuple(map(np.int64, index)), taking_part


def _ndim(array):
    return len(array.shape if array.cells is not None else array.parts[0][0].shape)


def _fits(site, array, count, active):
    """A tuple has as many items as the part of an array that it goes to."""
    fits = array.shape[0] == count
    if not np.all(fits if active is None else fits | ~active):
        raise KernelError(
            f"line {site.line} stores {count} values to a part of `{array.name}` with "
            f"another number of elements\n    {site.text}\n  {site.place}"
        )
