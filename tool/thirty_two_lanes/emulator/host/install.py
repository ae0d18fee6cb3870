"""What `numba.cuda` offers the host, answered without a GPU: launches, arrays, streams,
events.

`import thirty_two_lanes` calls `install()` where there is no GPU. It changes methods
and the driver's own functions, never names of `numba.cuda` but `is_available`, so that
`from numba.cuda import to_device` works even before that import. Device memory is host
memory aligned as cudaMalloc aligns; a device array is Numba's own class over it.
"""

from numba import cuda
from numba.cuda import dispatcher as numba_dispatcher
from numba.cuda.cudadrv import devicearray, devices, driver, runtime

from thirty_two_lanes.core.device_memory import host_view, note_array_written
from thirty_two_lanes.emulator.host import dispatch
from thirty_two_lanes.emulator.host import driver as answers
from thirty_two_lanes.emulator.host.attributes import CUDA
from thirty_two_lanes.emulator.host.device import Context
from thirty_two_lanes.emulator.host.hearing import tell
from thirty_two_lanes.emulator.host.outside import explain_calls


def install():
    """Stand in for the missing GPU."""
    context = Context()
    _answer_for_the_driver(context)
    cuda.is_available = lambda: True
    runtime.Runtime.get_version = lambda self: CUDA
    dispatcher = numba_dispatcher.CUDADispatcher
    dispatcher.configure = dispatch.configure
    dispatcher.__getitem__ = dispatch.brackets
    dispatcher.__call__ = dispatch.call_without_brackets
    dispatcher.compile = dispatch.compile_kernel
    dispatcher.recompile = dispatch.recompile
    dispatcher.forall = dispatch.for_all
    numba_dispatcher.ForAll.__call__ = dispatch.run_for_all
    numba_dispatcher.get_current_device = lambda: context.device
    devicearray.DeviceNDArray._do_setitem = _set_item
    explain_calls()


def _answer_for_the_driver(context):
    devices._runtime.get_or_create_context = context.for_device
    devices._runtime.ensure_context = lambda: context
    devices._runtime.reset = context.reset
    devices._DeviceList.lst = (context.device,)
    driver.driver.initialization_error = None
    driver.driver.get_active_context = lambda: context
    driver.driver.get_device = lambda number=0: context.for_device(number).device
    driver.driver.get_device_count = lambda: 1
    driver.Device.__new__ = lambda kind, devnum: context.for_device(devnum).device
    for name, function in answers.functions().items():
        setattr(driver.driver, name, function)
    driver.Driver.__getattr__ = answers.refuse


def _set_item(array, key, value, stream=0):
    """`array[key] = value` from the host; Numba would launch a kernel of its own."""
    value = host_view(value) if isinstance(value, devicearray.DeviceNDArray) else value
    part = host_view(array)[(*key, ...) if type(key) is tuple else (key, ...)]
    host_view(array)[key] = value
    note_array_written(part)
    stream = array._default_stream(stream)
    tell("assigned", part, value, stream, stream=stream)
