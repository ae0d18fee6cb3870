"""Is an index inside its array? Numba's rule, and an error where a GPU is silent."""

import numpy as np

from thirty_two_lanes.core.advice.indices.bounds import Outside
from thirty_two_lanes.core.advice.indices.small import OWN
from thirty_two_lanes.core.errors import KernelError, KernelIndexError
from thirty_two_lanes.core.events import NegativeIndex, Overflow
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.language.operators import convert


def checked(index, size, active, warp, reference, axis):
    """The index with negative ones wrapped, of shape (lanes, blocks); None when one is
    outside the axis.

    Numba adds the size to a negative signed index, once, and takes an unsigned one as
    it is; negative ones are emitted. Lanes that take no part get index 0.
    """
    if index.ndim == 0 and size.ndim == 0:
        if index < 0:
            element = np.asarray(int(index) + int(size))
            _emit_negative(warp, reference, axis, index, element, active)
        return _checked_number(int(index), int(size), index.dtype.kind == "i")
    unsigned = (
        index.view(f"u{index.dtype.itemsize}") if index.dtype.kind == "i" else index
    )
    if size.ndim:
        inside = (index >= 0).all() & (unsigned < size.astype(np.uint64)).all()
    else:  # a negative index of few bits may be less than the size, too
        inside = int(unsigned.max()) < min(int(size), np.iinfo(index.dtype).max + 1)
    if inside:
        return _wide(index)
    if active is not None:
        index = np.where(active, index, index.dtype.type(0))
    if index.dtype.kind == "i":
        negative = index < 0
        if negative.any():
            element = np.where(negative, index + size, index)
            _emit_negative(warp, reference, axis, index, element, active)
            index = element
    inside = (index >= 0) & (index < size)
    if active is not None:
        inside = inside | ~active
    return _wide(index) if inside.all() else None


def _emit_negative(warp, reference, axis, index, element, active):
    """Emit the negative indices of active threads."""
    if listeners := warp.listeners["negative_index"]:
        what = (reference, axis), (index, element)
        _emit_first(warp, listeners, NegativeIndex, *what, index < 0, active)


def _emit_first(warp, listeners, kind, what, values, condition, active):
    """Emit in how many active threads a condition holds, and the first one's values."""
    holds = condition if active is None else condition & active
    lanes, blocks = np.nonzero(np.broadcast_to(holds, (WARP_SIZE, warp.blocks)))
    if len(lanes):
        lane, block = int(lanes[0]), int(blocks[0])
        first = (_at(value, lane, block) for value in values)
        thread = warp.thread_at(lane), warp.block_at(block)
        event = kind(*what, len(lanes), *first, *thread)
        for listener in listeners:
            listener(event)


def convert_checked(warp, site, value, dtype, active):
    """An integer in a narrower type; emits an Overflow where that changes it."""
    result = convert(value, dtype)
    listeners = warp.listeners["overflow"]
    if listeners and (result != value).any():
        what = (site, dtype), (value, result)
        _emit_first(warp, listeners, Overflow, *what, result != value, active)
    return result


def _wide(index):
    """The index as addresses are computed: NumPy has no common integer with uint64."""
    return index.astype(np.int64) if index.dtype == np.uint64 else index


def _checked_number(index, size, signed):
    if index < 0 and signed:
        index += size
    return np.int64(index) if 0 <= index < size else None


def out_of_bounds(warp, reference, array, indices, axis, active):
    """An IndexError that names line, array, index, shape and thread."""
    lane, block = _first_outside(indices[axis], array.shape[axis], active)
    shape = tuple(_at(size, lane, block) for size in array.shape)
    index = tuple(_at(i, lane, block) for i in indices)
    written = ", ".join(map(str, index)) if len(index) > 1 else str(index[0])
    verb = {"load": "reads", "store": "writes", "atomic": "updates"}[reference.kind]
    thread, block_id = warp.thread_at(lane), warp.block_at(block)
    site, name = reference.site, reference.array
    size = shape[axis]
    most = f"the last index is {size - 1}" if size else "there is no index"
    below = _below_zero(index[axis], indices[axis].dtype)
    facts = site, name, reference.kind, axis, index[axis], shape, below
    launched = (tuple(map(int, dim)) for dim in (warp.block_dim, warp.grid_dim))
    outside = Outside(*facts, *launched, array.space)
    remedy = _remedy(outside)
    error = KernelIndexError(
        f"line {site.line} {verb} {name}[{written}], but `{name}` has shape "
        f"{shape}: along axis {axis} {most}\n"
        f"    {site.text}\n"
        f"  {site.place}, thread {thread} of block {block_id}\n"
        f"  Remedy: {remedy}"
    )
    error.at, error.outside = (block, warp.number, lane), outside
    return error


def check_bytes(warp, reference, array, offset, active):
    """Refuse elements beyond the bytes of an array that a kernel reads as another type
    than was passed, and misaligned ones.
    """
    cells, size = array.cells, array.dtype.itemsize
    first = np.atleast_2d(offset) * cells.step
    beyond = (first < 0) | (first + size > cells.memory.size)
    misaligned = (cells.address + first) % array.dtype.alignment != 0
    if active is not None:
        beyond, misaligned = beyond & active, misaligned & active
    if not (beyond.any() or misaligned.any()):
        return
    wrong = misaligned if misaligned.any() else beyond
    block, lane = map(int, np.argwhere(wrong.T)[0])
    byte = _at(first, lane, block)
    site, kind = reference.site, KernelIndexError
    what = f"which has {cells.memory.size:,} bytes"
    if misaligned.any():  # a GPU's error; elements beyond the memory need be none
        kind, what = KernelError, "which on a GPU is a misaligned address"
    error = kind(
        f"line {site.line} accesses {array.dtype} at byte {byte:,} of the memory of "
        f"`{reference.array}`, {what}: by the kernel's signature its elements are "
        f"{array.dtype}, and this launch passes others\n    {site.text}\n"
        f"  {site.place}, thread {warp.thread_at(lane)} of block "
        f"{warp.block_at(block)}\n"
        f"  Remedy: pass an array of {array.dtype}, or change the signature"
    )
    error.at = block, warp.number, lane
    raise error


def _below_zero(index, dtype):
    """How far below zero an unsigned index went before it wrapped around; 0 if it is
    not more than half of the values of its type.
    """
    bits = 64 if index >= 2**63 else 32
    return 2**bits - index if dtype.kind == "u" and index >= 2 ** (bits - 1) else 0


def _remedy(outside):
    index, below, size, name = (
        outside.index,
        outside.below,
        outside.size,
        outside.array,
    )
    if size == 0 and outside.space == "shared":
        return (
            f"`{name}` is dynamic shared memory, and this launch gives it none: its "
            "bytes are the fourth value in the brackets, `[blocks, threads, 0, bytes]`"
        )
    if size == 0:
        return (
            f"`{name}` has no elements along this axis: give it some before the launch"
        )
    if below > 0:
        return (
            f"this index is -{below} as an unsigned number, which wraps around below "
            f"zero: where you subtract, ask first, `if i >= {below}:`"
        )
    if index < 0:
        return (
            "a negative index counts from the end; this one goes too far: guard it, "
            "`if i >= 0:`, where i is the index that this line uses"
        )
    if outside.space in OWN:
        return f"make `{name}` larger, or keep the index below its {size:,} cells"
    return (
        "let the threads beyond the end do nothing: "
        f"`if i < {outside.length}:`, where i is the index that this line uses"
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
    block, lane = np.argwhere(outside.T)[0] if outside.any() else (0, 0)
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
