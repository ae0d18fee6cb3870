"""What outlives a batch of blocks: where arrays lie, constants, and how much was
written.
"""

import math

import numpy as np

from helpers.core.device_memory import allocation_at, note_array_written
from helpers.core.events import Allocation
from helpers.emulator.machine.allocation import local_array
from helpers.emulator.machine.arrays import Array, bind

ALIGNMENT = 256  # bytes, as cudaMalloc aligns
LOCAL_ALIGNMENT = 512  # bytes: a whole request of 16 bytes a lane


class Memory:
    """The memory of one launch. `again`: it will be run once more, from the start."""

    def __init__(self, program, allocation_listeners=(), again=False, quiet=False):
        self.program = program
        self.allocation_listeners = allocation_listeners
        self.changes = 0
        self.printed = 0
        self.quiet = quiet
        self.again = again
        self.before = []  # memory that is read and written, and what it held
        self.next_address = self.next_local = 0
        self.local_addresses = {}
        self.allocations = {}
        self.records = []  # each argument that is one, its array, and what it held
        self.arrays = {}
        self.patterns = {}

    def argument(self, value, name):
        """A launch argument as kernels see it: arrays bound, numbers as they are."""
        if isinstance(value, tuple):
            return tuple(self.argument(item, name) for item in value)
        if isinstance(value, np.void):
            self.records.append((value, np.array(value), np.array(value)))
            value = self.records[-1][1]
        if not isinstance(value, np.ndarray):
            return value
        written = name in self.program.written
        return bind(value, name, self.address_of(value, name, written))

    def give_back(self):
        """Let the records that are arguments hold what was stored in them."""
        for record, array, _ in self.records:
            _fill(record, array)

    def remember(self, arrays, names):
        """Keep what arrays hold that the kernel both reads and writes."""
        if not self.again:
            return
        pairs = zip(names, arrays, strict=True)
        memory = [(n, m) for n, value in pairs for m in memory_of(value)]
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

    def let_go(self):
        """Let go of what arrays held before."""
        self.before.clear()

    def address_of(self, array, name, written) -> int:
        """Where an array's first element lies: memory is aligned as cudaMalloc aligns
        (256 bytes). A part of a device array keeps its distance from that; one of the
        host's is copied to memory of its own.
        """
        allocation = array
        while isinstance(allocation.base, np.ndarray):
            allocation = allocation.base
        low, high = np.lib.array_utils.byte_bounds(allocation)
        if allocation_at(low) is None:
            low, high = np.lib.array_utils.byte_bounds(array)
        if low not in self.allocations:
            self.allocations[low] = self.next_address
            self.next_address += _up(max(high - low, 1), ALIGNMENT) + ALIGNMENT
        start = self.allocations[low]
        first = start + array.__array_interface__["data"][0] - low
        if self.allocation_listeners:
            self._tell_of(
                Allocation(
                    name,
                    "global",
                    start,
                    high - low,
                    written,
                    first,
                    array.shape,
                    array.strides,
                    array.dtype,
                ),
                allocation_at(low),
            )
        return first

    def _tell_of(self, allocation, device):
        """Tell of an array, and of the device memory that it lies in, or None."""
        unwritten = device and device.unwritten
        for listener in self.allocation_listeners:
            listener(
                allocation._replace(device=device is not None, unwritten=unwritten)
            )

    def captured(self, array, name, space) -> Array:
        """An array that the kernel takes from the names around it."""
        key = id(array)
        if key not in self.arrays:
            address = self.address_of(array, name, space == "global")
            if not self.allocation_listeners:
                note_array_written(array)
            captured = bind(array, name, address, space)
            self.arrays[key] = captured
            if space == "global" and self.again:
                self._keep(captured.cells.memory)
        return self.arrays[key]

    def local_array(self, request, blocks):
        """A warp's local array, one for each thread, holding what no one wrote."""
        if request not in self.local_addresses:
            self.local_addresses[request] = self.next_local
            size = math.prod(request.shape) * request.dtype.itemsize * 32
            self.next_local += _up(size, LOCAL_ALIGNMENT)
        address = self.local_addresses[request]
        patterns = self.patterns.setdefault(request, {})
        return local_array(request, blocks, self.program, patterns, address)


def memory_of(value):
    """The bytes of an array, or of each array of a tuple."""
    if isinstance(value, tuple):
        for item in value:
            yield from memory_of(item)
    elif isinstance(value, Array):
        yield value.cells.memory


def _fill(record, values):
    for name in record.dtype.names:
        record[name] = values[name]


def _up(size, alignment):
    """The next multiple of an alignment."""
    return -(-size // alignment) * alignment
