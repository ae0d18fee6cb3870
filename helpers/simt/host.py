"""What `numba.cuda` offers the host, answered without a GPU: launches, arrays, streams,
events.

`install()` is the one global effect of `import helpers`, and only where there is no
GPU. It changes methods and the driver's own functions, never names of `numba.cuda` but
`is_available`, so that `from numba.cuda import to_device` works whenever it was
written. Device memory is host memory aligned as cudaMalloc aligns; a device array is
Numba's own class over it.
"""

import ctypes
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
from numba import cuda
from numba.cuda import dispatcher as numba_dispatcher
from numba.cuda.cudadrv import devicearray, devices, driver

from .. import hardware
from . import launch
from .device_memory import Pointer, host_view, note_array_written, note_written
from .errors import briefly

ALIGNMENT = (
    256  # bytes, of what cudaMalloc returns: CUDA programming guide, "Device memory"
)


def install():
    """Answer for the GPU that is not there."""
    context = Context()
    devices._runtime.get_or_create_context = lambda number=None: context
    devices._runtime.ensure_context = _nothing_to_ensure
    devices._DeviceList.lst = (context.device,)
    driver.driver.initialization_error = None
    for name, function in _DRIVER.items():
        setattr(driver.driver, name, function)
    cuda.is_available = lambda: True
    dispatcher = numba_dispatcher.CUDADispatcher
    dispatcher.configure = _configure
    dispatcher.__getitem__ = _brackets
    dispatcher.compile = _compile
    numba_dispatcher.ForAll.__call__ = _run_for_all
    devicearray.DeviceNDArray._do_setitem = _set_item
    numba_dispatcher.get_current_device = lambda: context.device


@contextmanager
def _nothing_to_ensure():
    yield


@briefly
def _brackets(kernel, config):
    """What stands between a launch's brackets."""
    return kernel.configure(*launch.bracketed(config))


@briefly
def _configure(kernel, griddim, blockdim, stream=0, sharedmem=0):
    """A plain launch, `kernel[blocks, threads](*args)`."""
    config = launch.configuration(griddim, blockdim, stream, sharedmem)

    @briefly
    def start(*arguments):
        with borrowed(arguments) as values:
            launch.run(kernel, config, values, strict=False)

    start.is_launch = True
    return start


def _compile(kernel, signature):
    """An eager signature: refuse now what would be refused at the first launch."""
    types = tuple(numba_dispatcher.sigutils.normalize_signature(signature)[0])
    launch.program_of(kernel, types)
    kernel.overloads[types] = SimpleNamespace(
        entry_point=None,  # what Numba lets go of later
        max_cooperative_grid_blocks=_most_blocks_of_a_grid,
    )


def _most_blocks_of_a_grid(block_dim, dynamic_shared_bytes=0):
    """The blocks that an H200 holds at a time, by their threads alone."""
    threads = int(np.prod(block_dim))
    held = min(32, hardware.THREADS_PER_MULTIPROCESSOR // threads)
    return held * hardware.H200.multiprocessors


def _run_for_all(forall, *arguments):
    if forall.ntasks:
        threads = forall.thread_per_block or 256
        blocks = -(-forall.ntasks // threads)
        forall.dispatcher[blocks, threads, forall.stream, forall.sharedmem](*arguments)


def _set_item(array, key, value, stream=0):
    """`array[key] = value` from the host; Numba would launch a kernel of its own."""
    value = host_view(value) if isinstance(value, devicearray.DeviceNDArray) else value
    host_view(array)[key] = value
    note_array_written(
        host_view(array)[(*key, ...) if type(key) is tuple else (key, ...)]
    )


@contextmanager
def borrowed(arguments):
    """Launch arguments as NumPy arrays and numbers; what the launch wrote goes back."""
    values, back = [], []
    for argument in arguments:
        argument = (
            getattr(argument, "value", argument) if _is_hint(argument) else argument
        )
        if not hasattr(argument, "copy_to_host") or isinstance(argument, np.ndarray):
            values.append(argument)
        elif (
            isinstance(getattr(argument, "gpu_data", None), Pointer)
            or not argument.size
        ):
            values.append(host_view(argument))
        else:
            values.append(argument.copy_to_host())
            back.append((argument, values[-1]))
    yield values
    for device_array, copy in back:
        device_array.copy_to_device(copy)


def _is_hint(argument):
    return type(argument).__name__ in ("In", "Out", "InOut")


def _copy(target, source, size, *stream):
    ctypes.memmove(int(target), int(source), size)
    note_written(int(target), size)


def _set(target, byte, size, *stream):
    ctypes.memset(int(target), byte, size)
    note_written(int(target), size)


# the context, its device, streams and events


class EmulatedDevice(SimpleNamespace):
    """What Numba tells of a device: an H200's limits, under a name that does not
    pretend.
    """

    def __init__(self):
        gpu = hardware.H200
        limits = {
            f"MAX_{what}_DIM_{axis}": size
            for what, sizes in (
                ("BLOCK", hardware.MAX_BLOCK_DIM),
                ("GRID", hardware.MAX_GRID_DIM),
            )
            for axis, size in zip("XYZ", sizes, strict=True)
        }
        super().__init__(
            id=0,
            name="Emulator (limits of an NVIDIA H200)",
            supports_float16=True,
            compute_capability=gpu.compute_capability,
            MULTIPROCESSOR_COUNT=gpu.multiprocessors,
            WARP_SIZE=hardware.WARP_SIZE,
            MAX_THREADS_PER_BLOCK=hardware.MAX_THREADS_PER_BLOCK,
            MAX_SHARED_MEMORY_PER_BLOCK=hardware.STATIC_SHARED_BYTES,
            **limits,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __str__(self):
        return self.name


class Context:
    """What Numba asks of a CUDA context."""

    def __init__(self):
        self.device = EmulatedDevice()

    def memalloc(self, size):
        return Pointer.allocate(size)

    def memhostalloc(self, size, **options):
        return bytearray(size)

    def synchronize(self):
        pass

    def create_stream(self):
        return Stream()

    get_default_stream = get_legacy_default_stream = create_stream
    get_per_thread_default_stream = create_stream

    def create_event(self, timing=True):
        return Event()

    @contextmanager
    def defer_cleanup(self):
        yield

    def get_memory_info(self):
        raise NotImplementedError(
            "the emulator has no memory of its own to tell the size of"
        )


class Stream(driver.Stream):
    """A stream: here, everything has happened when the call returns."""

    def __init__(self):
        self.handle = 0

    def synchronize(self):
        pass

    @contextmanager
    def auto_synchronize(self):
        yield self


class Event(driver.Event):
    """An event: a moment of the host's clock, in nanoseconds, in its handle's place."""

    def __init__(self):
        self.handle = 0

    def record(self, stream=0):
        self.handle = time.perf_counter_ns()

    def query(self):
        return True

    def synchronize(self):
        pass

    def wait(self, stream=0):
        pass


def _elapsed(*arguments):
    """Milliseconds between two events; the built-in target wants them in its first
    argument.
    """
    *pointers, start, end = arguments
    for pointer in pointers:
        pointer._obj.value = (end - start) / 1e6
    return (end - start) / 1e6


_DRIVER = {
    "cuMemcpyHtoD": _copy,
    "cuMemcpyHtoDAsync": _copy,
    "cuMemcpyDtoH": _copy,
    "cuMemcpyDtoHAsync": _copy,
    "cuMemcpyDtoD": _copy,
    "cuMemcpyDtoDAsync": _copy,
    "cuMemsetD8": _set,
    "cuMemsetD8Async": _set,
    "cuEventElapsedTime": _elapsed,
}
