"""Wide loads, stores and asynchronous copies: neighbours of one axis in one request of
up to 16 bytes.
"""

import numpy as np

from thirty_two_lanes.core.errors import KernelError
from thirty_two_lanes.emulator.machine.accesses.access import emit, offsets
from thirty_two_lanes.emulator.machine.accesses.async_copies import (
    emit_early,
    taking_part,
)
from thirty_two_lanes.emulator.machine.arrays import is_one
from thirty_two_lanes.emulator.machine.bounds import out_of_bounds
from thirty_two_lanes.emulator.machine.cells import unwritten


def load_wide(warp, reference, array, indices, count, active):
    """`count` neighbours from `array[indices]` on, a value of each lane for each."""
    cells = array.cells
    offset = _first_cell(warp, reference, array, indices, count, active)
    return tuple(cells.gather(cells.at(offset + k)) for k in range(count))


def store_wide(warp, reference, array, indices, values, active):
    """Store neighbours from `array[indices]` on."""
    offset = _first_cell(warp, reference, array, indices, len(values), active)
    _write(warp, array, offset, values, taking_part(warp, active))


def copy_wide(warp, reference, arrival, array, indices, values, active):
    """Begin to copy values to neighbours from `array[indices]` on."""
    if array.space != "shared":
        raise KernelError(
            f"line {reference.site.line} copies to `{reference.array}` of "
            f"{array.space} memory\n    {reference.site.text}\n"
            f"  {reference.site.place}\n  Remedy: an asynchronous copy goes from "
            "global to shared memory; elsewhere, load and store"
        )
    first = _first_cell(warp, reference, array, indices, len(values), active)
    lanes = taking_part(warp, active)
    nothing = tuple(unwritten(1, array.dtype)) * len(values)
    _write(warp, array, first, nothing, lanes)
    warp.batch.copies.begin(warp, arrival, array, first, values, lanes)


def commit_copies(warp, active):
    """End a group of copies of each thread."""
    warp.batch.copies.commit(warp, taking_part(warp, active))


def wait_copies(warp, pending, active):
    """Let each thread's copies arrive, but for its last `pending` groups."""
    copies = warp.batch.copies
    for copy, lanes in copies.due(warp, pending, taking_part(warp, active)):
        _write(warp, copy.array, copy.first, copy.values, lanes)
        size = len(copy.values) * copy.array.dtype.itemsize
        what = copy.reference, copy.array, copy.first, lanes
        emit(warp, *what, dtype=np.dtype((np.void, size)))
        copies.arrive(copy, lanes)
    copies.forget(warp)


def _write(warp, array, offset, values, lanes):
    """Write neighbours, in some lanes."""
    warp.memory.changes += 1
    cells = array.cells
    for k, value in enumerate(values):
        at = np.broadcast_to(cells.at(offset + k), lanes.shape)[lanes]
        cells.flat[at] = np.broadcast_to(value, lanes.shape)[lanes]


def _first_cell(warp, reference, array, indices, count, active):
    """The first cell of each lane's neighbours, in bounds and aligned; emits the
    request.
    """
    first = offsets(warp, reference, array, indices, active)
    _check_end(warp, reference, array, indices, count, active)
    if active is not None:  # inactive lanes may have any offset
        lane, block = np.argwhere(active)[0]
        someone = np.broadcast_to(first, np.broadcast_shapes(np.shape(first), (1, 1)))
        rows, columns = someone.shape
        first = np.where(
            active, first, someone[min(lane, rows - 1), min(block, columns - 1)]
        )
    size = count * array.dtype.itemsize
    addresses = array.cells.bytes_at(first)
    _check(warp, reference, array, addresses, size, count)
    if warp.batch.copies.words:
        emit_early(warp, reference, array, first, active, count)
    emit(warp, reference, array, first, active, dtype=np.dtype((np.void, size)))
    return first


def _check_end(warp, reference, array, indices, count, active):
    """An error where the last neighbour is beyond the end of the last axis."""
    *others, index = indices
    size, start = array.shape[-1], index.astype(np.int64)
    start = np.where(start < 0, start + size, start)
    beyond = start + (count - 1) >= size
    if np.any(beyond if active is None else beyond & active):
        ends = (*others, start + (count - 1))
        raise out_of_bounds(warp, reference, array, ends, len(others), active)


def _check(warp, reference, array, addresses, size, count):
    """An error where a request does not begin at a multiple of its size."""
    site = reference.site
    innermost, what = array.strides[-1], "last axis is not contiguous"
    if array.cells.overlaid:
        what = f"elements are not {array.dtype}, as the signature declares"
    elif is_one(innermost * array.cells.step // array.dtype.itemsize):
        what = ""
    if what:
        raise KernelError(
            f"line {site.line} accesses {count} neighbours of `{reference.array}`, "
            f"whose {what}\n    {site.text}\n  {site.place}\n"
            "  Remedy: access them one at a time, or pass a contiguous copy"
        )
    odd = np.atleast_2d(addresses) % size != 0
    if odd.any():
        lane, block = np.argwhere(odd)[0]
        address = int(np.atleast_2d(addresses)[lane, block])
        raise KernelError(
            f"line {site.line} accesses {size} bytes of `{reference.array}` at once, "
            f"{address % size} bytes past a multiple of {size}: on a GPU this is a "
            "misaligned address\n"
            f"    {site.text}\n  {site.place}, thread {warp.thread_at(int(lane))} of "
            f"block {warp.block_at(int(block))}\n"
            f"  Remedy: use an index that is a multiple of {count}, in an array that "
            f"starts at a multiple of {size} bytes"
        )
