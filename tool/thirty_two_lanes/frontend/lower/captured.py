"""What a kernel takes from outside: globals, closure variables, modules' attributes."""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.device_memory import Pointer, host_view
from thirty_two_lanes.frontend.known_values import constant_value
from thirty_two_lanes.frontend.lower.tuples import pack


def capture(builder, target, spelt, value):
    """What a name outside the kernel holds, or a module's attribute: an array, or a
    Python object.
    """
    dtype = builder.our_type(target)
    if isinstance(value, bytes):
        value = np.frombuffer(value, np.uint8)
    if isinstance(dtype, ir.ArrayType):
        return _captured_array(builder, target, spelt, value, dtype)
    if isinstance(dtype, tuple) and _has_arrays(dtype):
        return _captured_tuple(builder, target, spelt, value, dtype)
    builder.spelt[target] = spelt
    builder.known[target] = value


def _has_arrays(dtypes) -> bool:
    """Is there an array in a tuple, or in one of its tuples?"""
    return any(
        _has_arrays(d) if isinstance(d, tuple) else isinstance(d, ir.ArrayType)
        for d in dtypes
    )


def _captured_array(builder, target, spelt, array, dtype):
    """A host array is frozen when the kernel is compiled; a device array is not."""
    if isinstance(getattr(array, "gpu_data", None), Pointer):
        space, array = "global", host_view(array)
    elif isinstance(array, np.ndarray):
        space, array = "const", array.copy(order="K")
        array.flags.writeable = False
    else:
        builder.refuse(
            "a captured device array is not emulated where there is a GPU: "
            "make it an argument"
        )
    name = builder.declare(target, dtype)
    builder.arrays.spelt[name] = spelt
    if space == "const":
        builder.body.frozen[name] = spelt
    builder.emit(ir.Captured(name, array, spelt, space, builder.site()))


def _captured_tuple(builder, target, spelt, values, dtypes):
    """A tuple from outside the kernel, with arrays in it."""
    items = []
    for number, (value, dtype) in enumerate(zip(values, dtypes, strict=True)):
        item = f"{target}.{number}"
        if _has_arrays((dtype,)):
            is_array = isinstance(dtype, ir.ArrayType)
            capture_item = _captured_array if is_array else _captured_tuple
            capture_item(builder, item, spelt, value, dtype)
            items.append(builder.name(item))
        else:
            items.append(constant_value(value, dtype))
    pack(builder, target, tuple(items))
