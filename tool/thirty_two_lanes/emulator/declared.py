"""The arguments of a launch as the types that its kernel was compiled for: Numba passes
an array's own first byte, shape and strides, whatever its elements are, and numbers as
C converts them.

Not modelled: `.itemsize`, `.nbytes` and `.strides` of an array whose elements are of
another type, which a GPU takes from the argument.
"""

import ctypes
import math

import numpy as np

from thirty_two_lanes.core.device_memory import bytes_at, extent_of
from thirty_two_lanes.core.errors import KernelError, shown
from thirty_two_lanes.core.ir import ArrayType
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.emulator.machine.arrays import Overlay
from thirty_two_lanes.frontend.types import our_type


def as_declared(names, arguments, declared, written) -> tuple[list, tuple[str, ...]]:
    """Arguments as the machine takes them, and sentences about those that the kernel
    reads as something else than was passed; `written` are the names of those that it
    stores to.
    """
    unlike = [
        f"`{name}` is read-only, and the kernel stores to it all the same"
        for name, argument in zip(names, arguments, strict=True)
        if name in written and not _is_writeable(argument)
    ]
    with np.errstate(all="ignore"):  # numbers are converted as on a GPU
        values = [
            _value(argument, kind, name, unlike)
            for name, argument, kind in zip(names, arguments, declared, strict=True)
        ]
    return values, tuple(unlike)


def _value(argument, declared, name, unlike):
    """One argument, or an item of one, such as `t[1]`."""
    if type(declared).__name__.endswith("EnumMember"):
        return _value(argument.value, declared.dtype, name, unlike)
    ours = our_type(declared)
    if isinstance(ours, tuple):
        items = _items(argument, len(ours), name)
        return tuple(
            _value(item, kind, f"{name}[{n}]", unlike)
            for n, (item, kind) in enumerate(zip(items, declared, strict=True))
        )
    if isinstance(ours, ArrayType):
        return _array(argument, ours, declared, name, unlike)
    if not isinstance(ours, np.dtype):
        return argument
    try:
        value = _number(argument, declared, ours)
    except (TypeError, AttributeError, OverflowError) as error:
        raise KernelError(
            f"argument `{name}` is declared {declared}, and Numba cannot pass "
            f"{shown(argument)} as that: change the signature, or convert the argument"
        ) from error
    passed = bool(argument) if ours.kind == "b" else argument
    if ours.kind in "iub" and value != passed:
        unlike.append(f"`{name}` is declared {declared}: {argument} becomes {value}")
    return value


def _is_writeable(argument) -> bool:
    return not isinstance(argument, np.ndarray) or argument.flags.writeable


# ---------------------------------------------------------------- numbers


def _number(number, declared, dtype):
    """A number in the type that Numba's launch makes of it, by the same calls."""
    if dtype.kind in "iu":
        return dtype.type(getattr(ctypes, f"c_{dtype}")(number).value)
    if dtype.kind == "c":
        part = _PARTS[dtype.itemsize]
        return dtype.type(complex(part(number.real).value, part(number.imag).value))
    if dtype.kind == "f" and dtype.itemsize > 2:
        return dtype.type(_PARTS[2 * dtype.itemsize](number).value)
    if dtype.kind == "b":  # the first of its bytes, of however many it has
        return np.bool_(_passed_as_it_is(number).tobytes()[0])
    return np.asarray(number).astype(dtype)[()]


def _passed_as_it_is(number):
    """A number of the host's own type: of an int or a float 8 bytes."""
    value = np.asarray(number)
    if value.dtype.kind not in "biufc":
        raise TypeError("no number, or one that does not fit")
    return value


_PARTS = {8: ctypes.c_float, 16: ctypes.c_double}  # by the bytes of a complex number


def _items(items, count, name):
    """The items of a tuple of as many as are declared."""
    if isinstance(items, tuple) and len(items) == count:
        return items
    raise KernelError(
        f"argument `{name}` is declared a tuple of {count}, and Numba cannot pass "
        f"{shown(items)} as that: change the signature, or the argument"
    )


# ---------------------------------------------------------------- arrays


def _array(array, ours, declared, name, unlike):
    """An array's bytes as elements of the declared type, in the declared order."""
    if isinstance(array, np.void):
        return array
    if not isinstance(array, np.ndarray) or array.ndim != ours.ndim:
        raise KernelError(_of_other_axes(array, declared, name))
    dtype, strides = ours.dtype, array.strides
    if declared.layout != "A":
        strides = _contiguous(array.shape, dtype.itemsize, declared.layout)
    alike = all(
        n < 2 or one == two
        for n, one, two in zip(array.shape, strides, array.strides, strict=True)
    )
    if dtype == array.dtype and alike:
        stored = not array.flags.writeable and declared.mutable
        return _overlaid(array, dtype, strides) if stored else array
    what, passed = _read_as(dtype, array.dtype), f"elements of {array.dtype}"
    if not alike:
        what = f"its bytes are read as {dtype} from the first on, one after the other"
        steps = ", ".join(map(str, array.strides))
        passed += f" that are {steps} bytes apart"
    unlike.append(f"`{name}` is declared {_spelt(declared)} and gets {passed}: {what}")
    return _overlaid(array, dtype, strides)


def _contiguous(shape, itemsize, order) -> tuple:
    """The strides of an array without gaps."""
    sizes = shape if order == "F" else shape[::-1]
    strides = tuple(itemsize * math.prod(sizes[:axis]) for axis in range(len(sizes)))
    return strides if order == "F" else strides[::-1]


def _overlaid(array, dtype, strides):
    """The same bytes with other elements, at other strides; an Overlay where some of
    them are beyond the bytes, or misaligned.
    """
    if not array.size:
        return np.empty(array.shape, dtype)
    low, high = extent_of(array)
    memory, first = bytes_at(low, high - low, array), _address(array) - low
    seen = Overlay(array, memory, first, dtype, strides)
    if first % dtype.alignment or any(step % dtype.alignment for step in strides):
        return seen
    try:
        return np.ndarray(array.shape, dtype, memory, first, strides)
    except (TypeError, ValueError):  # some elements are beyond the bytes
        return seen


def _address(array) -> int:
    return array.__array_interface__["data"][0]


def _read_as(dtype, passed) -> str:
    """What is read of each element, where the array's own strides lead to it."""
    if dtype.itemsize > passed.itemsize:
        return f"{dtype.itemsize} bytes are read where each element begins"
    if dtype.itemsize == passed.itemsize:
        return f"the bytes of each element are read as {dtype}"
    which = "low" if passed.kind in "iu" else "first"
    return f"the {which} {dtype.itemsize} bytes of each element are read"


def _spelt(declared) -> str:
    """An array type as a signature writes it: `int32[:, ::1]`."""
    axes = [":"] * declared.ndim
    if declared.layout != "A":
        axes[0 if declared.layout == "F" else -1] = "::1"
    return f"{declared.dtype}[{', '.join(axes)}]"


def _of_other_axes(argument, declared, name) -> str:
    """Why an argument cannot be read as a declared array."""
    what = f"{shown(argument)}, which is no array"
    if isinstance(argument, np.ndarray):
        what = f"an array with {counted(argument.ndim, 'axis', 'axes')}"
    return (
        f"argument `{name}` is declared {_spelt(declared)} and gets {what}: a GPU reads"
        " its sizes, its strides and the arguments behind it from wrong places, which "
        "is not emulated. Pass an array with "
        f"{counted(declared.ndim, 'axis', 'axes')}, or change the signature"
    )
