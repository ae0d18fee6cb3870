"""Device memory where there is no GPU: the host's, aligned as cudaMalloc aligns."""

import ctypes
import weakref

import numpy as np

ALIGNMENT = 256  # bytes: CUDA programming guide, "Device memory accesses"


_allocations = weakref.WeakValueDictionary()  # by address, while a pointer holds it


class Allocation:
    """What was written of some device memory."""

    def __init__(self, start, size):
        self.start, self.size = start, size
        self._unwritten = True  # all of it, None of it, or marks of bytes
        _allocations[start] = self

    @property
    def unwritten(self) -> np.ndarray | None:
        """Marks of the bytes that nobody wrote; None when there are none."""
        if self._unwritten is True:
            self._unwritten = np.ones(self.size, bool)
        elif self._unwritten is not None and not self._unwritten.any():
            self._unwritten = None
        return self._unwritten

    def write(self, first, size):
        """Note that bytes are written."""
        if first <= 0 and first + size >= self.size:
            self._unwritten = None
        elif self._unwritten is not None:
            self.unwritten[max(first, 0) : first + size] = False


def allocation_at(address) -> Allocation | None:
    """The device memory that begins at an address of the host."""
    return _allocations.get(address)


def note_written(address, size):
    """Note that bytes at an address were written, if they are device memory."""
    for start, allocation in list(_allocations.items()):
        if start <= address < start + allocation.size:
            allocation.write(address - start, size)


def note_array_written(array):
    """Note that an array's bytes were written, if they are device memory."""
    if isinstance(array, tuple):
        for item in array:
            note_array_written(item)
    elif isinstance(array, np.ndarray) and array.size and len(_allocations):
        low, high = np.lib.array_utils.byte_bounds(array)
        note_written(low, high - low)


class Pointer:
    """Device memory: bytes of the host, aligned as cudaMalloc aligns."""

    __cuda_memory__ = True

    def __init__(self, memory, start, size, allocation=None):
        self.allocation = allocation
        self.memory, self.start, self.size = memory, start, size
        self._cuda_memsize_ = size
        self.owner = self

    @classmethod
    def allocate(cls, size):
        """New memory that nobody wrote."""
        buffer = (ctypes.c_uint8 * (size + ALIGNMENT))()
        start = -ctypes.addressof(buffer) % ALIGNMENT
        memory = np.frombuffer(buffer, np.uint8, size, start)
        memory.fill(0xCD)
        return cls(memory, 0, size, Allocation(memory.ctypes.data, size))

    @property
    def device_pointer_value(self):
        return self.memory.ctypes.data + self.start

    device_pointer = handle = device_pointer_value

    @property
    def device_ctypes_pointer(self):
        return ctypes.c_void_p(self.device_pointer_value)

    def view(self, start, stop=None):
        return Pointer(
            self.memory,
            self.start + start,
            (self.size if stop is None else stop) - start,
            self.allocation,
        )

    def own(self):
        return self

    def memset(self, byte, count=None, stream=0):
        count = self.size if count is None else count
        self.memory[self.start : self.start + count] = byte
        note_written(self.device_pointer_value, count)


def host_view(array) -> np.ndarray:
    """A device array's elements as a NumPy array over the same memory."""
    if not array.size:
        return np.empty(array.shape, array.dtype)
    pointer = array.gpu_data
    return np.ndarray(
        array.shape, array.dtype, pointer.memory, pointer.start, array.strides
    )
