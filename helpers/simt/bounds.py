"""Is an index inside its array? Computed as Numba does, told where a GPU is silent."""

import numpy as np

from .errors import KernelIndexError


def checked(index, size, active):
    """The index with negative ones wrapped, of shape (lanes, blocks); None when one is
    outside.

    Numba adds the size to a negative signed index, once, and takes an unsigned one as
    it is. Lanes that take no part get index 0.
    """
    if index.ndim == 0 and size.ndim == 0:
        return _checked_number(int(index), int(size), index.dtype.kind == "i")
    unsigned = (
        index.view(f"u{index.dtype.itemsize}") if index.dtype.kind == "i" else index
    )
    if (unsigned < size.astype(np.uint64) if size.ndim else unsigned < int(size)).all():
        return _wide(index)
    if active is not None:
        index = np.where(active, index, index.dtype.type(0))
    if index.dtype.kind == "i":
        index = np.where(index < 0, index + size, index)
    inside = (index >= 0) & (index < size)
    if active is not None:
        inside = inside | ~active
    return _wide(index) if inside.all() else None


def _wide(index):
    """The index as addresses are computed: NumPy has no common integer with uint64."""
    return index.astype(np.int64) if index.dtype == np.uint64 else index


def _checked_number(index, size, signed):
    if index < 0 and signed:
        index += size
    return np.int64(index) if 0 <= index < size else None


def out_of_bounds(frame, reference, array, indices, axis, active):
    """An IndexError that names line, array, index, shape and thread."""
    lane, block = _first_outside(indices[axis], array.shape[axis], active)
    shape = tuple(_at(size, lane, block) for size in array.shape)
    index = tuple(_at(i, lane, block) for i in indices)
    told = ", ".join(map(str, index)) if len(index) > 1 else str(index[0])
    verb = {"load": "reads", "store": "writes", "atomic": "updates"}[reference.kind]
    thread, place = frame.thread_at(lane), frame.block_at(block)
    site, name = reference.site, reference.array
    return KernelIndexError(
        f"line {site.line} {verb} {name}[{told}], but `{name}` has shape "
        f"{shape}: along axis {axis} the last index is {shape[axis] - 1}\n"
        f"    {site.text}\n"
        f"  {site.place}, thread {thread} of block {place}\n"
        f"  Remedy: {_remedy(index[axis], shape[axis], name, axis, len(shape))}"
    )


def _remedy(index, size, name, axis, ndim):
    if size == 0:
        return f"`{name}` is empty there: give it its elements before the launch"
    if index < 0:
        return (
            "an index below zero counts from the end; this one goes too far: guard it"
        )
    length = f"{name}.size" if ndim == 1 else f"{name}.shape[{axis}]"
    return (
        f"let the threads beyond the end do nothing: `if i < {length}:`, with the "
        "index that "
        "this line uses for i"
    )


def _first_outside(index, size, active):
    """Lane and block of the first thread whose index is outside."""
    signed = index.astype(np.int64) if index.dtype.kind == "i" else index
    outside = np.atleast_2d(
        (signed < -size) | (signed >= size)
        if index.dtype.kind == "i"
        else signed >= size
    )
    if active is not None:
        outside = outside & active
    lane, block = np.argwhere(outside)[0] if outside.any() else (0, 0)
    if outside.shape[0] == 1 and active is not None and active.shape[0] > 1:
        lane = int(np.argmax(active[:, min(block, active.shape[1] - 1)]))
    if outside.shape[1] == 1 and active is not None and active.shape[1] > 1:
        block = int(np.argmax(active[min(lane, active.shape[0] - 1)]))
    return int(lane), int(block)


def _at(value, lane, block):
    """One thread's value."""
    if isinstance(value, slice) or value is Ellipsis:
        return ":" if isinstance(value, slice) else "..."
    if value.ndim == 0:
        return int(value)
    return int(value[min(lane, value.shape[0] - 1), min(block, value.shape[1] - 1)])
