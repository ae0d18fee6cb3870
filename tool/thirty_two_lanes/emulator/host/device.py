"""The device and its context where there is no GPU: an H200's limits, under a name that
says it is emulated.

Not modelled: device memory that runs out; several devices; contexts that end.
"""

from contextlib import contextmanager

from numba.cuda.cudadrv import driver

from thirty_two_lanes.core import hardware
from thirty_two_lanes.core.device_memory import (
    HostPointer,
    Pointer,
    bytes_in_use,
    pin,
)
from thirty_two_lanes.core.errors import LaunchError, UnsupportedError
from thirty_two_lanes.emulator.host.attributes import MEMORY_BYTES, attribute
from thirty_two_lanes.emulator.host.hearing import tell, wake
from thirty_two_lanes.emulator.host.streams import Event, Stream


class EmulatedDevice:
    """A device, with what Numba and its users need of one."""

    id = 0
    name = "Emulator (limits of an NVIDIA H200)"
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = hardware.H200.compute_capability
    supports_float16 = supports_bfloat16 = supports_fp8 = True

    def __init__(self, context):
        self.primary_context = context

    def __getattr__(self, name):
        return attribute(name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __repr__(self):
        return f"<CUDA device {self.id} '{self.name}'>"

    def __str__(self):
        return self.name

    def get_primary_context(self):
        return self.primary_context

    def get_device_identity(self):
        return {f"pci_{part}_id": 0 for part in ("domain", "bus", "device")}

    def release_primary_context(self):
        pass

    def reset(self):
        pass


class Context:
    """What Numba needs of a CUDA context."""

    emulated = True
    create_stream, create_event = Stream, Event

    def __init__(self):
        self.device = EmulatedDevice(self)
        self.handle = 1
        self.devnum = 0  # of the context that is active
        self.context_handle = self.handle
        self.deallocations = driver._PendingDeallocs()  # memory is freed at once

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __repr__(self):
        return f"<CUDA context of {self.device.name}>"

    def for_device(self, number=None):
        """This context, for the one device that there is."""
        if number:
            raise LaunchError(f"there is no device {number}: the emulator is device 0")
        return self

    def memalloc(self, bytesize):
        return _told(Pointer.allocate(bytesize))

    def memhostalloc(self, bytesize, mapped=False, portable=False, wc=False):
        wake()
        return _told(HostPointer.allocate(bytesize))

    def memallocmanaged(self, bytesize, attach_global=True):
        return self.memhostalloc(bytesize)

    def mempin(self, owner, pointer, size, mapped=False):
        pinned = Pointer.at(driver.host_pointer(owner), size)
        pinned.host = owner  # keeps it alive
        pin(pinned)
        wake()
        return pinned

    def get_ipc_handle(self, memory):
        raise UnsupportedError(
            "the emulator cannot share device memory with another process: copy the "
            "array to the host and send that"
        )

    open_ipc_handle = get_ipc_handle

    def synchronize(self):
        tell("ended")

    def reset(self):
        pass

    prepare_for_use = push = pop = reset

    def can_access_peer(self, peer):
        return False

    def get_default_stream(self):
        return Stream(0)

    def get_legacy_default_stream(self):
        return Stream(1)

    def get_per_thread_default_stream(self):
        return Stream(2)

    def create_external_stream(self, ptr):
        return Stream(ptr, external=True)

    @contextmanager
    def defer_cleanup(self):
        yield

    def get_memory_info(self):
        """An H200's memory, less what is allocated."""
        return driver.MemoryInfo(MEMORY_BYTES - bytes_in_use(), MEMORY_BYTES)


def _told(memory):
    """New memory, where another array may have been."""
    if memory.size:
        tell("allocated", memory.device_pointer_value, memory.size)
    return memory
