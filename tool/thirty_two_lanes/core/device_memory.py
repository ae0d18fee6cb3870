"""Device memory where there is no GPU: the host's, aligned as cudaMalloc aligns."""

import ctypes
import weakref

import numpy as np
from numba import mviewbuf

ALIGNMENT = 256  # bytes: CUDA programming guide, "Device memory accesses"
UNWRITTEN = 0xCD  # in each byte that was never written

_allocated = weakref.WeakValueDictionary()  # address: the bytes there


_allocations = weakref.WeakValueDictionary()  # by address, while a pointer holds it
_pinned = weakref.WeakSet()  # pointers to arrays of the host, for a while


class WrittenMemory:
    """What was written of some device memory."""

    def __init__(self, start, size):
        self.start, self.size = start, size
        self._unwritten = True  # all of it, None of it, or marks of bytes
        _allocations[start] = self

    @property
    def unwritten(self) -> np.ndarray | None:
        """Marks of the bytes that were never written; None when there are none."""
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


def allocation_at(address) -> WrittenMemory | None:
    """The device memory that begins at an address of the host."""
    return _allocations.get(address)


def pin(pointer):
    """Note that memory of the host is pinned, while its pointer lives."""
    _pinned.add(pointer)


def is_pinned(address) -> bool:
    """Is an address of the host in memory that CUDA made, or has pinned?"""
    here = [(start, it.size) for start, it in list(_allocations.items())]
    here += [(it.device_pointer_value, it.size) for it in list(_pinned)]
    return any(start <= address < start + size for start, size in here)


def note_written(address, size):
    """Note that bytes at an address were written, if they are device memory."""
    for start, allocation in list(_allocations.items()):
        if start <= address < start + allocation.size:
            allocation.write(address - start, size)


def extent_of(array) -> tuple[int, int]:
    """The address of the first byte that a GPU would have of an array, and of the one
    behind its last: of a device array all of its allocation, of a host array its own.
    """
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    low, high = np.lib.array_utils.byte_bounds(whole)
    if allocation_at(low) is None:
        low, high = np.lib.array_utils.byte_bounds(array)
    return low, high


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

    @property
    def owner(self):
        return self

    @classmethod
    def allocate(cls, size):
        """New, unwritten memory."""
        buffer = (ctypes.c_uint8 * (size + ALIGNMENT))()
        start = -ctypes.addressof(buffer) % ALIGNMENT
        memory = np.frombuffer(buffer, np.uint8, size, start)
        memory.fill(UNWRITTEN)
        _allocated[memory.ctypes.data] = memory
        return cls(memory, 0, size, WrittenMemory(memory.ctypes.data, size))

    @classmethod
    def at(cls, address, size):
        """Memory that exists already: a device array's, or the host's."""
        for first, memory in _allocated.items():
            if first <= address and address + size <= first + memory.size:
                return cls(memory, address - first, size, allocation_at(first))
        return cls(bytes_at(address, size), 0, size)

    @property
    def device_pointer_value(self):
        return int(self.memory.ctypes.data + self.start)

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

    def free(self):
        pass

    def memset(self, byte, count=None, stream=0):
        count = self.size if count is None else count
        self.memory[self.start : self.start + count] = byte
        note_written(self.device_pointer_value, count)


class HostPointer(Pointer, mviewbuf.MemAlloc):
    """Memory of host and device together: NumPy arrays lie in it."""

    def __init__(self, memory, start, size, allocation=None):
        super().__init__(memory, start, size, allocation)
        self._buflen_, self._bufptr_ = size, self.device_pointer_value


def bytes_at(address, size, owner=None) -> np.ndarray:
    """The bytes at an address of the host, which keep their owner alive."""
    buffer = (ctypes.c_uint8 * size).from_address(address)
    buffer.owner = owner
    return np.frombuffer(buffer, np.uint8)


def bytes_in_use() -> int:
    """The device memory that is allocated now."""
    return sum(memory.size for memory in _allocated.values())


def is_here(array) -> bool:
    """Is a device array's memory the emulator's, and not that of a GPU?"""
    pointer = array.gpu_data
    context = getattr(pointer, "context", None)
    return isinstance(pointer, Pointer) or getattr(context, "emulated", False)


def host_view(array) -> np.ndarray:
    """A device array's elements as a NumPy array over the same memory."""
    if not array.size:
        return np.empty(array.shape, array.dtype)
    pointer = array.gpu_data
    if not isinstance(pointer, Pointer):
        pointer = Pointer.at(pointer.device_ctypes_pointer.value, array.alloc_size)
    return np.ndarray(
        array.shape, array.dtype, pointer.memory, pointer.start, array.strides
    )


def copy(target, source, size):
    """Copy bytes from one address to another."""
    ctypes.memmove(int(target), int(source), size)
    note_written(int(target), size)


def fill(target, byte, size):
    """Set bytes from an address on."""
    ctypes.memset(int(target), byte, size)
    note_written(int(target), size)
