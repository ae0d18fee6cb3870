"""NVIDIA's driver, where there is no GPU: the functions that `numba.cuda` calls, and
the refusal of those that are not emulated.

What differs between the targets on the host's side is here: the package numba-cuda
gets a function's results from its call, and the target built into numba passes, as in
C, pointers to them as the first arguments. A third target's calling convention would
be one more branch of `functions`.
"""

from functools import partial

from numba.cuda.cudadrv import driver

from thirty_two_lanes.core.device_memory import Pointer, copy, fill
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.emulator.host.attributes import CUDA
from thirty_two_lanes.emulator.host.hearing import tell
from thirty_two_lanes.emulator.host.streams import elapsed

BY_POINTER = not getattr(driver, "USE_NV_BINDING", True)  # the package has no choice


def functions() -> dict:
    """The driver's functions, by name, as this target calls them."""
    if not BY_POINTER:
        return {**_DONE, **_GIVING}
    return {**_DONE, **{name: _by_pointer(f) for name, f in _GIVING.items()}}


def _by_pointer(function):
    """The function, with pointers to its results as its first arguments."""

    def call(*arguments):
        pointers = [it._obj for it in arguments if hasattr(it, "_obj")]
        found = function(*arguments[len(pointers) :])
        results = found if isinstance(found, tuple) else (found,)
        for pointer, result in zip(pointers, results, strict=True):
            pointer.value = result

    return call


def _nothing(*arguments):
    return 0


def _version():
    return 1000 * CUDA[0] + 10 * CUDA[1]


def _own_address(attribute, pointer):
    """A pointer's address on the device."""
    return getattr(pointer, "value", pointer)


def _address_range(address):
    """Where the memory of an address begins, and its size."""
    memory = Pointer.at(int(getattr(address, "value", address)), 1).memory
    return memory.ctypes.data, memory.size


def _copy(way, target, source, size, *stream):
    """A copy; the form that takes a stream is asynchronous."""
    copy(target, source, size)
    on = stream[0] if stream else 0
    call = way, int(target), int(source), size, on, bool(stream)
    tell("copied", *call, stream=on)


def _fill(target, byte, size, stream=0):
    fill(target, byte, size)
    tell("filled", int(target), size, stream, stream=stream)


_DONE = {
    **{
        f"cuMemcpy{way}{form}": partial(_copy, way)
        for way in ("HtoD", "DtoH", "DtoD")
        for form in ("", "Async")
    },
    "cuMemsetD8": _fill,
    "cuMemsetD8Async": _fill,
    "cuProfilerStart": _nothing,
    "cuProfilerStop": _nothing,
}
_GIVING = {
    "cuDriverGetVersion": _version,
    "cuEventElapsedTime": elapsed,
    "cuMemGetAddressRange": _address_range,
    "cuPointerGetAttribute": _own_address,
}


def refuse(asked, name):
    """Refuse a function of the driver that is not emulated."""
    if not name.startswith("cu"):
        raise AttributeError(name)
    raise UnsupportedError(
        f"the emulator does not implement `{name}` of NVIDIA's driver: this call "
        "needs a GPU"
    )
