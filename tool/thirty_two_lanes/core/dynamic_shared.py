"""Dynamic shared memory above 48 KB: a GPU refuses it to a kernel that does not opt in.

CUDA C++ opts in with `cudaFuncSetAttribute`; numba-cuda has no call for that, so
`allow_dynamic_shared` is one, for the GPU and for the emulator. The driver keeps the
attribute for each compiled version of a kernel, so it is set on those that there are
and on each that is compiled later.
"""

from weakref import WeakKeyDictionary

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import driver

from thirty_two_lanes.core.device import device
from thirty_two_lanes.core.errors import LaunchError, short_traceback
from thirty_two_lanes.core.hardware import STATIC_SHARED_BYTES

allowed = WeakKeyDictionary()  # kernel: the bytes that its launches may ask for


@short_traceback
def allow_dynamic_shared(kernel, bytes):
    """Let launches of a kernel have more than 48 KB of dynamic shared memory.

    `allow_dynamic_shared(kernel, 96 * 1024)`, once, before the first such launch: on a
    GPU and in the emulator, for all argument types. How much there is depends on the
    GPU: `cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`.
    """
    if not hasattr(kernel, "py_func") or kernel.targetoptions.get("device"):
        raise TypeError(
            "`allow_dynamic_shared` takes a kernel, a function with `@cuda.jit`, and a "
            f"number of bytes; this is {kernel!r}"
        )
    if not isinstance(bytes, (int, np.integer)) or bytes < 0:
        raise LaunchError(
            "the dynamic shared memory is a whole number of bytes, 0 or more, not "
            f"{bytes!r}"
        )
    _check_most(kernel.py_func.__name__, int(bytes), 0)
    first = kernel not in allowed
    allowed[kernel] = int(bytes)
    if first:
        _follow(kernel)
    if device.has_gpu:
        for compiled in kernel.overloads.values():
            _opt_in(kernel, compiled)


def check_dynamic_shared(kernel, dynamic, static=0):
    """Refuse a launch with more dynamic shared memory than its kernel may have; static
    is what the kernel declares.
    """
    name, most = kernel.py_func.__name__, STATIC_SHARED_BYTES - static
    if dynamic <= max(most, allowed.get(kernel, 0)):
        _check_most(name, dynamic, static)
        return
    limit = f"a block has {STATIC_SHARED_BYTES:,} unless its kernel asks for more"
    if static:
        limit += f", and `{name}` declares {static:,} of them"
    if kernel in allowed:
        limit = f"it was allowed {allowed[kernel]:,}"
    raise LaunchError(
        f"`{name}` is launched with {dynamic:,} bytes of dynamic shared memory, but "
        f"{limit}: call `allow_dynamic_shared({name}, {dynamic})` before the launch"
    )


def _check_most(name, dynamic, static):
    """Refuse more than a block of this GPU can have."""
    most = cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    if dynamic + static > most:
        declared = f", and declares {static:,} bytes itself" * (static > 0)
        raise LaunchError(
            f"`{name}` asks for {dynamic:,} bytes of dynamic shared memory{declared}: "
            f"a block has at most {most:,} on {_named()}. Use smaller tiles"
        )


def _named():
    """The GPU whose limits hold, in words."""
    return f"this GPU ({device.name})" if device.has_gpu else "an H200"


def _follow(kernel):
    """Opt in whatever is compiled or specialised of a kernel from now on."""
    compile_one, specialize = kernel.compile, kernel.specialize

    def compile_and_opt_in(signature):
        compiled = compile_one(signature)
        _opt_in(kernel, compiled)
        return compiled

    def specialize_and_allow(*arguments):
        special = specialize(*arguments)
        allow_dynamic_shared(special, allowed[kernel])
        return special

    kernel.specialize = specialize_and_allow
    if device.has_gpu:
        kernel.compile = compile_and_opt_in


def _opt_in(kernel, compiled):
    """Set the driver's attribute of one compiled version; never below its default."""
    static = compiled.shared_mem_per_block
    most = max(allowed[kernel], STATIC_SHARED_BYTES - static)
    _check_most(kernel.py_func.__name__, most, static)
    function = compiled._codelibrary.get_cufunc()
    name = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
    attribute = getattr(driver.binding.CUfunction_attribute, name)
    driver.driver.cuKernelSetAttribute(
        attribute, most, function.handle, function.device.id
    )
