"""Views: the same memory with other axes, another part of it, or other elements."""

import functools
import math
import operator

import numpy as np

from thirty_two_lanes.core.errors import KernelError
from thirty_two_lanes.emulator.machine.arrays import c_strides, is_one
from thirty_two_lanes.emulator.machine.bounds import checked, out_of_bounds

FAR = 2**62


def by_choice(function):
    """A function of an array, taken of each array of a choice."""

    @functools.wraps(function)
    def chosen(warp, array, *arguments):
        if array.cells is not None:
            return function(warp, array, *arguments)
        *others, active = arguments
        return array.each(
            active, lambda part, threads: function(warp, part, *others, threads)
        )

    return chosen


@by_choice
def view(warp, array, reference, indices, active):
    """`array[indices]` where slices leave axes, or None makes new ones."""
    base, shape, strides, axis = array.base, [], [], 0
    for index in _of_each_axis(indices, len(array.shape)):
        if index is None:
            shape.append(np.int64(1))
            strides.append(np.int64(0))
            continue
        size, stride = array.shape[axis], array.strides[axis]
        if isinstance(index, slice):
            start, count, step = _slice(index, size, reference)
            base = base + start * stride
            shape.append(count)
            strides.append(stride * step)
        else:
            inside = checked(index, size, active, warp, reference, axis)
            if inside is None:
                written = [part for part in indices if part is not None]
                raise out_of_bounds(warp, reference, array, written, axis, active)
            base = base + inside * stride
        axis += 1
    return array.part(base, tuple(shape), tuple(strides))


def _of_each_axis(indices, ndim):
    """The parts of an index, with whole slices where nothing is written."""
    missing = ndim - sum(part is not None and part is not Ellipsis for part in indices)
    whole = (slice(None),) * missing
    where = next((n for n, part in enumerate(indices) if part is Ellipsis), None)
    if where is None:
        return indices + whole
    return indices[:where] + whole + indices[where + 1 :]


def _slice(part, size, reference):
    """Start, count and step of a slice; arrays where they differ between threads."""
    parts = (part.start, part.stop, part.step)
    if part.step is not None and np.any(part.step == 0):
        site = reference.site
        raise KernelError(
            f"line {site.line} takes a slice of `{reference.array}` whose step is 0\n"
            f"    {site.text}\n  {site.place}"
        )
    if all(np.ndim(p) == 0 for p in (*parts, size) if p is not None):
        ends = slice(*(None if p is None else int(p) for p in parts))
        start, stop, step = ends.indices(int(size))
        return np.int64(start), np.int64(len(range(start, stop, step))), np.int64(step)
    step = np.int64(1) if part.step is None else _wide(part.step)
    step = np.clip(step, -FAR, FAR)  # beyond all sizes, and no sum wraps around
    down = step < 0
    first, last = np.where(down, -1, 0), np.where(down, size - 1, size)
    start = np.where(down, last, first)
    if part.start is not None:
        start = _end(part.start, size, first, last)
    stop = np.where(down, first, last)
    if part.stop is not None:
        stop = _end(part.stop, size, first, last)
    count = (stop - start + step - np.where(down, -1, 1)) // step
    return start, np.maximum(count, 0), step


def _wide(number):
    return number.astype(np.int64)


def _end(number, size, first, last):
    """An end of a slice, counted from the beginning and held within the array."""
    number = _wide(number)
    number = np.where(number < 0, number + size, number)
    return np.clip(number, first, last)


@by_choice
def attribute(warp, array, name, active):
    """The part of an array that an `Attribute` names, as a number or a view."""
    if name.startswith("shape"):
        return array.shape[int(name[5:])]
    if name.startswith("strides"):
        return array.strides[int(name[7:])] * np.int64(array.cells.step)
    if name == "T":
        return array.part(array.base, array.shape[::-1], array.strides[::-1])
    if name == "address":
        return array.cells.bytes_at(array.base)
    if name in ("size", "nbytes"):
        each = array.dtype.itemsize if name == "nbytes" else 1
        return functools.reduce(operator.mul, array.shape, np.int64(each))
    return np.int64({"ndim": len(array.shape), "itemsize": array.dtype.itemsize}[name])


@by_choice
def field(warp, array, dtype, offset, inner, packed, active):
    """A field of each element: `inner` are the axes of the field's own."""
    step = array.cells.step
    if inner:
        step = math.gcd(step, dtype.itemsize)
    cells = array.cells.viewed_as(dtype, offset, step, packed)
    ratio = np.int64(array.cells.step // step)
    inner = tuple(map(np.int64, inner))
    strides = tuple(stride * ratio for stride in array.strides)
    strides += c_strides(inner, np.int64(dtype.itemsize // step))
    return array.part(array.base * ratio, array.shape + inner, strides, cells)


@by_choice
def reinterpret(warp, array, dtype, site, active):
    """`array.view(dtype)`: the same bytes as elements of another type."""
    before, after = array.dtype.itemsize, dtype.itemsize
    cells, shape, strides = array.cells, array.shape, array.strides
    if before == after:
        seen = cells.viewed_as(dtype, 0, cells.step)
        return array.part(array.base, shape, strides, seen)
    if not strides or not is_one(strides[-1] * cells.step // before):
        raise KernelError(
            f"line {site.line} views `{array.name}` as elements of another size, but "
            f"it has no contiguous last axis\n    {site.text}\n  {site.place}"
        )
    length = shape[-1] * before
    if np.any(length % after):
        raise KernelError(
            f"line {site.line} views the {int(np.max(length))} bytes of a row of "
            f"`{array.name}` as elements of {after} bytes, which does not divide them\n"
            f"    {site.text}\n  {site.place}"
        )
    step = math.gcd(cells.step, after)
    ratio = np.int64(cells.step // step)
    return array.part(
        array.base * ratio,
        (*shape[:-1], length // after),
        (*(s * ratio for s in strides[:-1]), np.int64(after // step)),
        cells.viewed_as(dtype, 0, step),
    )


@by_choice
def reshape(warp, array, shape, site, active):
    """A contiguous array with other axes; -1 stands for what is left."""
    size, unknown = _product(array.shape), sum(n < 0 for n in shape)
    known = _product(np.where(n < 0, 1, n) for n in shape)
    left = size // np.where(known == 0, 1, known)
    shape = [np.where(n < 0, left, n) for n in shape]
    fits = (unknown <= 1) & (_product(shape) == size)
    if not np.all(fits if active is None else fits | ~active):
        old = "×".join(str(int(np.max(n))) for n in array.shape)
        raise KernelError(
            f"line {site.line} reshapes `{array.name}`, whose shape is {old}, to a "
            "shape with another number of elements\n"
            f"    {site.text}\n  {site.place}\n"
            f"  Remedy: let the sizes multiply to {np.max(size)}; one of them may be "
            "-1, which stands for what is left"
        )
    if not np.all(fits):  # threads that take no part may have any sizes
        shape = [np.where(fits, n, 0) for n in shape]
    shape = tuple(n.astype(np.int64)[()] for n in shape)
    innermost = np.int64(array.dtype.itemsize // array.cells.step)
    return array.part(array.base, shape, c_strides(shape, innermost))


def _product(sizes):
    """How many elements that is, exactly: NumPy's integers wrap around."""
    exact = (np.asarray(n).astype(object) for n in sizes)
    return np.asarray(functools.reduce(operator.mul, exact, 1), object)
