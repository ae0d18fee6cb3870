"""What a launch does with its arguments: copies there and back, as a GPU's would be.

A host array is its own device memory for the time of a launch. It is copied only where
that makes a difference: two arguments that share memory get one each, and the last one
copied back wins, as on the hardware.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import devicearray

from thirty_two_lanes.core.device_memory import (
    ALIGNMENT,
    Pointer,
    host_view,
    is_here,
    note_array_written,
)
from thirty_two_lanes.core.errors import LaunchError, warn

MOST_WORK = 10_000  # that NumPy may have with a question; strides of launches take few


@contextmanager
def staged_arguments(kernel, arguments):
    """Launch arguments as NumPy arrays and numbers; what the launch wrote goes back."""
    finish = []  # functions of Numba's extensions to call afterwards
    staged = [_staged(a) for a in _extended(kernel, arguments, finish)]
    alone = list(_leaves(staged))
    _fetch([argument for argument in alone if argument.is_away])
    shared = _separate(alone)
    yield [_value(argument) for argument in staged]
    for argument in alone:
        if isinstance(argument.target, np.ndarray):
            argument.target[...] = argument.value
        elif argument.target is not None:
            argument.target.copy_to_device(argument.value)
    for function in finish:
        function()
    _warn_of_lost(kernel, staged, shared)


@dataclass(eq=False)
class StagedArgument:
    """What a kernel gets for an argument, and the array that it is copied back to."""

    value: object
    target: object = None
    is_host: bool = False  # an array of the host, that a GPU would copy
    is_away: bool = False  # a GPU's array, still to be copied from there
    memory: object = None  # new device memory, which knows what was written of it


def _extended(kernel, arguments, finish):
    """The arguments after Numba's extensions (`@cuda.jit(extensions=…)`)."""
    for argument in arguments:
        for extension in reversed(kernel.targetoptions.get("extensions") or ()):
            _, argument = extension.prepare_args(
                _typeof(kernel, argument), argument, stream=0, retr=finish
            )
        yield argument


def _typeof(kernel, argument):
    try:
        return kernel.typeof_pyval(argument)
    except Exception:  # a value that only the extension knows
        return None


def _leaves(staged):
    """The staged arguments of a tree, whose inner nodes are tuples."""
    for argument in staged:
        if isinstance(argument, tuple):
            yield from _leaves(argument)
        else:
            yield argument


def _value(staged):
    if isinstance(staged, tuple):
        return _like(staged, map(_value, staged))
    return staged.value


def _like(before, items):
    """A tuple of the same class, named or not."""
    return getattr(type(before), "_make", tuple)(items)


def _staged(argument):
    """A staged argument; a tuple of them for a tuple."""
    if isinstance(argument, tuple):
        return _like(argument, map(_staged, argument))
    hint = type(argument) if isinstance(argument, _HINTS) else None
    if hint is not None:
        argument = argument.value
    if not isinstance(argument, np.ndarray) and cuda.is_cuda_array(argument):
        return _of_device(argument)
    if not isinstance(argument, np.ndarray):
        return StagedArgument(argument)
    if hasattr(argument, "gpu_data"):  # host and device share it
        return StagedArgument(np.asarray(argument))
    argument = _untold(argument)
    if hint is cuda.In:
        return StagedArgument(argument.copy("K"), is_host=True)
    if hint is cuda.Out:
        memory = Pointer.allocate(max(argument.nbytes, 1))
        value = _in_memory(memory, argument)
        return StagedArgument(value, argument, is_host=True, memory=memory)
    return StagedArgument(argument, is_host=True)


def _of_device(argument) -> StagedArgument:
    """An emulated device array as it is; a copy of one on a GPU."""
    if not isinstance(argument, devicearray.DeviceNDArrayBase):
        argument = cuda.as_cuda_array(argument)
    if is_here(argument) or not argument.size:
        return StagedArgument(host_view(argument))
    return StagedArgument(None, argument, is_away=True)


def _fetch(staged):
    """Copy a GPU's arrays to the host: those that share memory there share it here."""
    waiting = sorted(staged, key=lambda argument: _bounds(argument.target))
    while waiting:
        (start, end), together = _bounds(waiting[0].target), []
        while waiting and _bounds(waiting[0].target)[0] < end:
            together.append(waiting.pop(0))
            end = max(end, _bounds(together[-1].target)[1])
        _copy_from_gpu(together, start, end)


def _bounds(array):
    """The address of a device array's first byte, and of that behind its last."""
    at = array.__cuda_array_interface__["data"][0]
    reach = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low, high = (sum(f(0, n) for n in reach) for f in (min, max))
    return at + low, at + high + array.dtype.itemsize


def _copy_from_gpu(staged, start, end):
    """Put arrays between two addresses as far past an aligned one as they are there."""
    first = start - start % ALIGNMENT
    memory = Pointer.allocate(end - first)
    for argument in staged:
        array = argument.target
        at = array.__cuda_array_interface__["data"][0] - first
        place = memory.memory, at, array.strides
        argument.value = np.ndarray(array.shape, array.dtype, *place)
        argument.value[...] = array.copy_to_host()
        argument.memory = memory
        note_array_written(argument.value)


_HINTS = (cuda.In, cuda.Out, cuda.InOut)


def _in_memory(memory, array):
    """An array like another, in device memory, where it leaves no gaps."""
    strides = np.empty_like(array).strides
    return np.ndarray(array.shape, array.dtype, memory.memory, strides=strides)


def _separate(staged):
    """Give host arrays that share memory a copy each; those, with their old bytes."""
    hosts = [argument for argument in staged if argument.is_host]
    sharing = [
        argument
        for argument in hosts
        if any(
            _share(argument.value, other.value)
            for other in hosts
            if other is not argument
        )
    ]
    shared = [(argument, argument.value.tobytes()) for argument in sharing]
    for argument in sharing:
        original, argument.value = argument.value, argument.value.copy("K")
        argument.value.flags.writeable = original.flags.writeable
        argument.target = original if original.flags.writeable else None
    return shared


def _share(one, other) -> bool:
    """Have two arrays a byte in common? Two columns of a matrix have none."""
    if not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, MOST_WORK)
    except np.exceptions.TooHardError:
        return True


def _warn_of_lost(kernel, staged, shared):
    """Warn where the copy of one argument was overwritten by that of another."""
    written = [
        argument for argument, before in shared if argument.value.tobytes() != before
    ]
    if not written or written == [shared[-1][0]]:
        return
    names = kernel.py_func.__code__.co_varnames
    name = kernel.py_func.__name__
    shown = [
        f"`{names[n]}`"
        for n, argument in enumerate(staged)
        if any(leaf.target is not None for leaf in _leaves([argument]))
    ]
    warn(
        f"{' and '.join(shown)} of `{name}` share host memory: a GPU gets a copy of "
        "each, and the one that is copied back last wins. Pass a device array "
        "(`cuda.to_device`) to share it"
    )


def _untold(argument):
    """A host array as a plain one, where it tells of its accesses."""
    if hasattr(argument, "gpu_data"):
        return argument
    return getattr(argument, "untold", argument)


def contiguous_or_refused(kernel, arguments):
    """A LaunchError for host arrays that Numba cannot copy to a GPU."""
    names = kernel.py_func.__code__.co_varnames
    for name, argument in zip(names, arguments, strict=False):
        value = argument.value if isinstance(argument, _HINTS) else argument
        value = _untold(value)
        if type(value) is np.ndarray and not value.flags.forc:
            raise LaunchError(
                f"argument `{name}` is not contiguous (a slice with a step, or a "
                "column?), and Numba cannot copy it to a GPU as it is: pass "
                f"`np.ascontiguousarray({name})`, or slice a device array"
            )
