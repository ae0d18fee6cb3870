"""Methods of arrays and of numbers.

What Numba writes in Python itself, such as `a.mean()`, is inlined like a device
function.
"""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower import arrays
from thirty_two_lanes.frontend.lower.arrays import declare_view
from thirty_two_lanes.frontend.lower.builder import INDEX, ONE
from thirty_two_lanes.frontend.lower.inlining import inline_library, written_in_python
from thirty_two_lanes.frontend.lower.operators import call_operator
from thirty_two_lanes.language.operators import FUNCTIONS

_ONE = "item(): can only convert an array of size 1 to a Python scalar"


def call_method(builder, target, method, arguments, signature):
    """`array.name(*arguments)`."""
    variable, name = builder.methods[method]
    dtype = builder.our_type(variable)
    if name in METHODS and isinstance(dtype, ir.ArrayType):
        return METHODS[name](builder, target, variable, arguments)
    number = builder.operand(variable) if isinstance(dtype, np.dtype) else None
    if number is not None and name == "view":  # its bits as another type
        result = builder.our_type(target)
        pair = (number, ir.Const(result.type(0)))
        ours = builder.declare(target, result)
        return builder.emit(ir.Operation(ours, "view", pair, builder.site()))
    if number is not None and f".{name}" in FUNCTIONS:
        return call_operator(builder, target, f".{name}", [number], signature)
    if name == "item":
        return builder.bind(target, builder.operand(variable))
    bound = builder.numba_type(method)
    function = written_in_python(bound, name, signature, (bound.this,))
    if function is None:
        builder.refuse(f"the emulator does not support `.{name}()` yet: write it out")
    this = signature.replace(args=(bound.this, *signature.args))
    inline_library(builder, target, function, this, [variable, *arguments])


def transposed(builder, target, variable, arguments):
    """`array.transpose()`."""
    arrays.transpose(builder, target, builder.operand(variable))


def item(builder, target, variable, arguments):
    """`array.item()`; an array of more elements ends the thread, or of none."""
    axes = builder.our_type(variable).ndim
    if axes:
        size = arrays.array_number(builder, builder.operand(variable), "size")
        builder.end_threads_where(builder.truth("ne", size, ONE), ValueError, _ONE)
    arrays.array_item(builder, target, variable, (0,) * axes)


def fill(builder, target, variable, arguments):
    """`array.fill(value)`."""
    all_cells = (ir.Slice(None, None, None),) * builder.our_type(variable).ndim
    array, value = builder.operand(variable), builder.operand(arguments[0])
    arrays.store(builder, array, all_cells, value)


def reshape(builder, target, variable, arguments):
    """`array.reshape(shape)`."""
    operand = builder.operand(variable)
    if builder.numba_type(variable).layout != "C":
        builder.refuse(
            "Numba reshapes an array in Fortran order in another way than NumPy: "
            "reshape it before the launch"
        )
    sizes = [size for argument in arguments for size in builder.items(argument)]
    shape = tuple(builder.cast(size, INDEX) for size in sizes)
    name = declare_view(builder, target, operand)
    builder.emit(ir.Reshape(name, operand, shape, builder.site()))


def view(builder, target, variable, arguments):
    """`array.view(dtype)`."""
    operand, dtype = builder.operand(variable), builder.our_type(target).dtype
    name = declare_view(builder, target, operand)
    if dtype.itemsize == builder.type_of(operand).dtype.itemsize:
        return builder.emit(ir.Field(name, operand, dtype, 0, ()))
    builder.emit(ir.Reinterpret(name, operand, dtype, builder.site()))


# a method of arrays: (builder, target, variable, arguments) -> None
METHODS = {
    "transpose": transposed,
    "item": item,
    "fill": fill,
    "reshape": reshape,
    "view": view,
}
