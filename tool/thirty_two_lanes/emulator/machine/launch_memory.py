"""Where arrays lie in global, shared and local memory, what outlives a batch of blocks,
and how much was written.
"""

import math

import numpy as np

from thirty_two_lanes.core.device_memory import (
    allocation_at,
    extent_of,
    note_array_written,
)
from thirty_two_lanes.core.events import Allocation
from thirty_two_lanes.emulator.machine.arrays import Array, Overlay, bind, contiguous
from thirty_two_lanes.emulator.machine.cells import (
    block_by_block,
    interleaved,
    unwritten,
)

ALIGNMENT = 256  # bytes, as cudaMalloc aligns
SHARED_ALIGNMENT = 16  # bytes, of each shared array at least
LOCAL_ALIGNMENT = 512  # bytes: a whole request of 16 bytes a lane


class Memory:
    """The memory of one launch. `restorable`: its former contents can be restored."""

    def __init__(self, program, restorable=False, quiet=False):
        self.program = program
        self.allocation_listeners = ()  # until the launch runs
        self.bound = []  # an Allocation of each array that is an argument
        self.changes = 0
        self.printed = 0  # lines
        self.raised = None  # what a thread raised first, the thread, and its block
        self.quiet = quiet
        self.restorable = restorable
        self.before = []  # memory that is read and written, and what it held
        self.next_address = self.next_local = 0
        self.local_addresses = {}
        self.allocations = {}
        self.records = []  # each argument that is one, its copy, and what it held
        self.arrays = {}
        self.patterns = {}
        self.written_arguments = []  # their bytes

    def bind_arguments(self, arguments) -> list:
        """A launch's arguments as kernels see them: arrays bound, numbers as they are.

        A restorable memory keeps what those hold that the kernel both reads and writes.
        """
        bound = {name: self._argument(value, name) for name, value in arguments.items()}
        for name in self.program.written:
            self.written_arguments += memory_of(bound[name])
        if self.restorable:
            self._remember(bound)
        return list(bound.values())

    def _argument(self, value, name, spelt=None):
        """An argument, or an item of one, such as `t[1]`, as the kernel sees it."""
        spelt = spelt or name
        if isinstance(value, tuple):
            items = ((item, name, f"{spelt}[{n}]") for n, item in enumerate(value))
            return tuple(self._argument(*item) for item in items)
        if isinstance(value, np.void):
            self.records.append((value, _copied(value), _copied(value)))
            value = self.records[-1][1]
        if not isinstance(value, (np.ndarray, Overlay)):
            return value
        passed = value.array if isinstance(value, Overlay) else value
        allocation = self.allocation(passed, spelt, name in self.program.written)
        array = bind(value, spelt, allocation.first)
        self.bound.append(allocation._replace(cells=array.cells))
        return array

    def write_back_records(self):
        """Write back what was stored in records that are arguments."""
        for record, array, _ in self.records:
            _fill(record, array)

    def _remember(self, bound):
        memory = [(n, m) for n, value in bound.items() for m in memory_of(value)]
        read = [m for name, m in memory if name in self.program.read]
        for name, one in memory:
            shared = any(np.may_share_memory(one, other) for other in read)
            if shared and name in self.program.written:
                self._keep(one)

    def _keep(self, memory):
        self.before.append((memory, memory.copy()))

    def restore(self):
        """Give written arrays what they held before the launch."""
        for memory, before in self.before:
            memory[...] = before
        for record, _, before in self.records:
            _fill(record, before)

    def release(self):
        """Release what arrays held before."""
        self.before.clear()

    def allocation(self, array, name, written) -> Allocation:
        """Where an array of global memory lies: memory is aligned as cudaMalloc aligns
        (256 bytes). A part of a device array keeps its distance from that; one of the
        host's is copied to memory of its own.
        """
        low, high = extent_of(array)
        device = allocation_at(low)
        if (low, high) not in self.allocations:  # one may be empty
            self.allocations[low, high] = self.next_address
            self.next_address += _up(max(high - low, 1), ALIGNMENT) + ALIGNMENT
        start = self.allocations[low, high]
        first = start + array.__array_interface__["data"][0] - low
        return Allocation(
            *(name, "global", start, high - low, written, first),
            *(array.shape, array.strides, array.dtype),
            device=device is not None,
            unwritten=device and device.unwritten,
            kept_at=low,
        )

    def emit_arguments(self, listeners):
        """Emit the arrays that are arguments, to the listeners of later ones, too."""
        self.allocation_listeners = listeners
        for allocation in self.bound:
            self._emit(allocation)

    def written(self, batch=None, warps=()):
        """The bytes of what the launch may write: global memory, and a batch's shared
        memory, and the local memory of some of its warps.
        """
        yield from self.written_arguments
        arrays = [a for a in self.arrays.values() if a.space == "global"]
        arrays += batch.shared.values() if batch is not None else ()
        arrays += [array for warp in warps for array in warp.local.values()]
        for array in arrays:
            yield array.cells.memory

    def _emit(self, event):
        for listener in self.allocation_listeners:
            listener(event)

    def captured(self, array, name, space) -> Array:
        """An array that the kernel captures."""
        key = id(array)
        if key not in self.arrays:
            allocation = self.allocation(array, name, space == "global")
            captured = bind(array, name, allocation.first, space)
            self._emit(allocation._replace(cells=captured.cells))
            if not self.allocation_listeners:
                note_array_written(array)
            self.arrays[key] = captured
            if space == "global" and self.restorable:
                self._keep(captured.cells.memory)
        return self.arrays[key]

    def local_array(self, request, blocks):
        """A warp's local array, one for each thread, unwritten."""
        if request not in self.local_addresses:
            self.local_addresses[request] = self.next_local
            size = math.prod(request.shape) * request.dtype.itemsize * 32
            self.next_local += _up(size, LOCAL_ALIGNMENT)
        address = self.local_addresses[request]
        patterns = self.patterns.setdefault(request, {})
        return local_array(request, blocks, self.program, patterns, address)


def is_dynamic(request) -> bool:
    """Does the launch say how many bytes this is?"""
    return request.space == "shared" and request.shape == (0,)


def shared_addresses(allocations) -> dict:
    """Where each shared array of a block begins: dynamic ones behind the others."""
    addresses, used = {}, 0
    for request in allocations:
        if request.space == "shared" and not is_dynamic(request):
            alignment = max(SHARED_ALIGNMENT, request.alignment)
            addresses[request] = used = _up(used, alignment)
            used += math.prod(request.shape) * request.dtype.itemsize
    dynamic = [request for request in allocations if is_dynamic(request)]
    alignment = max([SHARED_ALIGNMENT, *(request.alignment for request in dynamic)])
    used = _up(used, alignment)
    return addresses | dict.fromkeys(dynamic, used)


def local_array(request, blocks, program, patterns, address):
    """A warp's local array, one for each thread, unwritten."""
    make = block_by_block if request in program.reinterpreted else interleaved
    cells = make(math.prod(request.shape), request.dtype, "local", address, blocks)
    return contiguous(cells, request.shape, request.name, patterns)


def shared_array(request, batch, patterns):
    """A block's shared array; all dynamic ones begin at the same byte."""
    launch = batch.launch
    address = launch.shared_addresses[request]
    if is_dynamic(request):
        size = request.dtype.itemsize
        cells = _dynamic_cells(request, batch, address)
        shape = (launch.shared_bytes // size,)
        cells = cells.viewed_as(request.dtype, 0, size)
        return contiguous(cells, shape, request.name, patterns)
    other = request in launch.program.reinterpreted
    make = block_by_block if other else interleaved
    count = math.prod(request.shape)
    cells = make(count, request.dtype, "shared", address, batch.blocks)
    return contiguous(cells, request.shape, request.name, patterns)


def _dynamic_cells(request, batch, address):
    """The cells of all dynamic arrays: of one size, or of a multiple of all sizes."""
    if batch.dynamic is not None:
        return batch.dynamic
    batch.dynamic = _new_dynamic_cells(request, batch, address)
    return batch.dynamic


def _new_dynamic_cells(request, batch, address):
    program, size = batch.launch.program, batch.launch.shared_bytes
    dynamic = [other for other in program.allocations if is_dynamic(other)]
    sizes = {other.dtype.itemsize for other in dynamic}
    whole = math.lcm(*sizes)
    if len(sizes) == 1 and not program.reinterpreted & {*dynamic}:
        count = size // whole
        return interleaved(count, request.dtype, "shared", address, batch.blocks)
    cells = block_by_block(
        -(-size // whole), np.dtype((np.void, whole)), "shared", address, batch.blocks
    )
    fresh = unwritten(cells.memory.size // request.dtype.itemsize, request.dtype)
    cells.memory[...] = fresh.view(np.uint8)
    return cells


def memory_of(value):
    """The bytes of an array, or of each array of a tuple."""
    if isinstance(value, tuple):
        for item in value:
            yield from memory_of(item)
    elif isinstance(value, Array):
        yield value.cells.memory


def _copied(record):
    """A copy of a record, as an array without axes; `np.array` shares its bytes."""
    array = np.empty((), record.dtype)
    array[()] = record
    return array


def _fill(record, values):
    for name in record.dtype.names if record.flags.writeable else ():
        record[name] = values[name]


def _up(size, alignment):
    """The next multiple of an alignment."""
    return -(-size // alignment) * alignment
