"""What outlives a batch of blocks: where arrays lie, and how much was written."""

import numpy as np

from .device_memory import allocation_at, note_array_written
from .events import Root
from .memory import Array, bind, contiguous


class Memory:
    """What outlives a batch: addresses, constants, and how much was written."""

    def __init__(self, program, root_listeners=()):
        self.program = program
        self.root_listeners = root_listeners
        self.changes = 0
        self.printed = 0
        self.next_address = self.next_local = 0
        self.local_addresses = {}
        self.roots = {}
        self.arrays = {}
        self.patterns = {}

    def argument(self, value, name):
        """A launch argument as kernels see it: arrays bound, numbers as they are."""
        if isinstance(value, tuple):
            return tuple(self.argument(item, name) for item in value)
        if not isinstance(value, np.ndarray):
            return value
        written = name in self.program.written
        return bind(value, name, self.address_of(value, name, written))

    def address_of(self, array, name, written) -> int:
        """Where an array's first element lies: its base is aligned as cudaMalloc aligns
        (256 bytes), and a view keeps its distance from it.
        """
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        low, high = np.lib.array_utils.byte_bounds(root)
        if low not in self.roots:
            self.roots[low] = self.next_address
            self.next_address += -(-max(root.nbytes, 1) // 256) * 256 + 256
        address = self.roots[low] + array.__array_interface__["data"][0] - low
        memory = allocation_at(low) if self.root_listeners else None
        for listener in self.root_listeners:
            listener(
                Root(
                    name,
                    self.roots[low],
                    high - low,
                    array.dtype,
                    written,
                    address,
                    array.shape,
                    array.strides,
                    memory is not None,
                    memory and memory.unwritten,
                )
            )
        return address

    def captured(self, array, name, space) -> Array:
        """An array that the kernel takes from the names around it."""
        key = id(array)
        if key not in self.arrays:
            address = self.address_of(array, name, space == "global")
            if not self.root_listeners:
                note_array_written(array)
            self.arrays[key] = bind(array, name, address, space)
        return self.arrays[key]

    def local_array(self, request, blocks):
        """A frame's local array, one for each thread, holding what no one wrote."""
        count = int(np.prod(request.shape))
        cells = unwritten((count * 32, blocks), request.dtype)
        if request not in self.local_addresses:
            self.local_addresses[request] = self.next_local
            self.next_local += -(-cells.shape[0] * request.dtype.itemsize // 512) * 512
        return contiguous(
            cells,
            request.shape,
            request.dtype,
            "local",
            request.name,
            self.local_addresses[request],
            self.patterns.setdefault(request, {}),
        )


def unwritten(shape, dtype):
    """Cells that nobody wrote: not a number, or a number that stands out."""
    cells = np.empty(shape, dtype)
    cells.fill(np.nan if dtype.kind in "fc" else np.array(0xCD, np.uint8).astype(dtype))
    return cells
