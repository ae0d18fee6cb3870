"""Device memory where there is no GPU: the host's, aligned as cudaMalloc aligns."""

import ctypes
import weakref

import numpy as np
from numba import mviewbuf

ALIGNMENT = 256  # bytes: CUDA programming guide, "Device memory accesses"
UNWRITTEN = 0xCD  # in each byte that nobody wrote

_allocated = weakref.WeakValueDictionary()  # address: the bytes there


class Pointer:
    """Device memory: bytes of the host, aligned as cudaMalloc aligns."""

    __cuda_memory__ = True

    def __init__(self, memory, start, size):
        self.memory, self.start, self.size = memory, start, size
        self._cuda_memsize_ = size

    @property
    def owner(self):
        return self

    @classmethod
    def allocate(cls, size):
        """New memory that nobody wrote."""
        buffer = (ctypes.c_uint8 * (size + ALIGNMENT))()
        start = -ctypes.addressof(buffer) % ALIGNMENT
        memory = np.frombuffer(buffer, np.uint8, size, start)
        memory.fill(UNWRITTEN)
        _allocated[memory.ctypes.data] = memory
        return cls(memory, 0, size)

    @classmethod
    def at(cls, address, size):
        """Memory that is there already: a device array's, or the host's."""
        for first, memory in _allocated.items():
            if first <= address and address + size <= first + memory.size:
                return cls(memory, address - first, size)
        return cls(_bytes_at(address, size), 0, size)

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
        )

    def own(self):
        return self

    def free(self):
        pass

    def memset(self, byte, count=None, stream=0):
        count = self.size if count is None else count
        self.memory[self.start : self.start + count] = byte


class HostPointer(Pointer, mviewbuf.MemAlloc):
    """Memory of host and device together: NumPy arrays lie in it."""

    def __init__(self, memory, start, size):
        super().__init__(memory, start, size)
        self._buflen_, self._bufptr_ = size, self.device_pointer_value


def _bytes_at(address, size):
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8)


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


def copy(target, source, size, *stream):
    """Copy bytes from one address to another."""
    ctypes.memmove(int(target), int(source), size)


def fill(target, byte, size, *stream):
    """Set bytes from an address on."""
    ctypes.memset(int(target), byte, size)
