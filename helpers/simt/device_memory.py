"""Device memory where there is no GPU: the host's, aligned as cudaMalloc aligns."""

import ctypes

import numpy as np

ALIGNMENT = 256  # bytes: CUDA programming guide, "Device memory accesses"


class Pointer:
    """Device memory: bytes of the host, aligned as cudaMalloc aligns."""

    __cuda_memory__ = True

    def __init__(self, memory, start, size):
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
        return cls(memory, 0, size)

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
        )

    def own(self):
        return self

    def memset(self, byte, count=None, stream=0):
        count = self.size if count is None else count
        self.memory[self.start : self.start + count] = byte


def host_view(array) -> np.ndarray:
    """A device array's elements as a NumPy array over the same memory."""
    if not array.size:
        return np.empty(array.shape, array.dtype)
    pointer = array.gpu_data
    return np.ndarray(
        array.shape, array.dtype, pointer.memory, pointer.start, array.strides
    )
