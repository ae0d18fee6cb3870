"""What a statement of Numba's typed IR may assign: VALUES, and EXPRESSIONS, of which
operators, calls and loops are in files of their own.
"""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.dotted_names import dotted_name
from thirty_two_lanes.frontend.known_values import is_enum_class
from thirty_two_lanes.frontend.lower import arrays, loops, operators, tuples
from thirty_two_lanes.frontend.lower.calls import call, call_intrinsic
from thirty_two_lanes.frontend.lower.captured import capture
from thirty_two_lanes.language.warp_intrinsics import GRID_SYNC, INTRINSICS

# values


def global_value(builder, target, value):
    """A name from around the kernel: an array, or a Python object."""
    capture(builder, target, value.name, value.value)


def constant(builder, target, value):
    """A literal."""
    capture(builder, target, "a literal", value.value)


def variable(builder, target, value):
    """Another variable: the same object, or a copy."""
    source, dtype = value.name, builder.our_type(target)
    if isinstance(dtype, ir.Optional):
        return builder.bind(target, builder.operand(source))
    if source in builder.known:
        builder.known[target] = builder.known[source]
    elif source in builder.packed:
        tuples.repack(builder, target, builder.packed[source])
    elif source in builder.iterators:
        builder.iterators[target] = builder.iterators[source]
    elif dtype is not None:
        builder.assign(builder.declare(target, dtype), builder.operand(source))


def argument(builder, target, value):
    """An argument of the kernel, or of an inlined function."""
    if value.name in builder.packed:
        builder.packed[target] = builder.packed[value.name]
        return
    if value.name in builder.given:
        return capture(builder, target, value.name, builder.given[value.name])
    operand = builder.arguments[value.name]
    if builder.caller is None:
        builder.body.types[value.name] = builder.our_type(target)
        return
    ours = builder.declare(target, builder.type_of(operand))
    builder.assign(ours, operand)
    builder.arrays.spelt[ours] = builder.arrays.given.get(value.name, value.name)
    frozen = builder.body.frozen
    whole = builder.caller.builder.arrays.base(operand)
    if whole in frozen:
        frozen[ours] = frozen[whole]


def cast(builder, target, value):
    """A variable in another type."""
    variable(builder, target, value.value)


def phi(builder, target, value):
    """A variable that the edges into this block copy to."""
    builder.declared(target)


# items


def getitem(builder, target, value):
    """`value[index]`, with an index that is computed."""
    if value.value.name in builder.arrays.flats:
        return arrays.flat_item(builder, target, value.value, value.index)
    if isinstance(builder.our_type(value.value), ir.ArrayType):
        return arrays.array_item(builder, target, value.value, value.index)
    tuples.tuple_item_by_lane(builder, target, value)


def static_getitem(builder, target, value):
    """`value[index]`, with an index that is written out."""
    array = builder.our_type(value.value)
    known = builder.known.get(value.value.name)
    of_functions = isinstance(known, tuple) and builder.our_type(target) is None
    if is_enum_class(known) or of_functions:
        builder.known[target] = known[value.index]
        return
    if isinstance(value.index, str) and isinstance(array, ir.ArrayType):
        return arrays.record_field(builder, target, value.value, value.index)
    if builder.kind(value.value) == "Record":
        name = array.dtype.names[value.index]
        return arrays.record_field(builder, target, value.value, name)
    if isinstance(array, ir.ArrayType):
        index = value.index_var if value.index_var is not None else value.index
        return arrays.array_item(builder, target, value.value, index)
    if value.value.name in builder.arrays.flats:
        return arrays.flat_item(builder, target, value.value, value.index)
    if isinstance(array, tuple) and isinstance(value.index, (int, slice)):
        return tuples.tuple_item(builder, target, value)
    builder.refuse("the emulator does not support this kind of item yet")


# attributes


def attribute(builder, target, value):
    """`value.name`."""
    source = value.value.name
    if isinstance(builder.known.get(source), str | ir.Slice):
        builder.refuse(f"`.{value.attr}` of texts and slices is not emulated")
    if builder.kind(source) == "RangeType":
        place = ("start", "stop", "step").index(value.attr)
        return builder.bind(target, builder.range_of(source)[place])
    if builder.kind(source) == "GridGroup":
        builder.known[target] = GRID_SYNC
        return
    if builder.kind(source) == "Dim3" and source in builder.known:
        name = f"{dotted_name(builder.known[source])}.{value.attr}"
        return call_intrinsic(builder, target, name, ())
    if source in builder.known and not isinstance(
        builder.known[source], (int, float, complex, np.generic, tuple)
    ):
        known = getattr(builder.known[source], value.attr)
        name = dotted_name(known)
        if name in INTRINSICS and INTRINSICS[name].value:
            return call_intrinsic(builder, target, name, ())
        spelt = f"{builder.spelt.get(source, source)}.{value.attr}"
        return capture(builder, target, spelt, known)
    _attribute_of_value(builder, target, value)


def _attribute_of_value(builder, target, value):
    """An attribute of what is known only when the kernel runs."""
    dtype = builder.our_type(value.value)
    if builder.kind(target) == "BoundFunction":
        builder.methods[target] = (value.value, value.attr)
    elif isinstance(dtype, ir.ArrayType):
        arrays.array_attribute(builder, target, value.value, value.attr, dtype)
    elif isinstance(dtype, tuple):
        tuples.tuple_attribute(builder, target, value)
    elif value.value.name in builder.arrays.addresses and value.attr == "data":
        array = builder.arrays.addresses[value.value.name]
        builder.bind(target, arrays.array_number(builder, array, "address"))
    elif isinstance(dtype, np.dtype) and value.attr in ("real", "imag"):
        operands = (builder.operand(value.value),)
        result = builder.our_type(target)
        builder.operate(target, value.attr, operands, (dtype,), result)
    elif isinstance(dtype, np.dtype) and value.attr == "value":  # of an Enum
        builder.bind(target, builder.operand(value.value))
    else:
        builder.refuse(f"the emulator does not support `.{value.attr}` of values yet")


# a kind of value: (builder, target, value) -> None
VALUES = {
    "Global": global_value,
    "FreeVar": global_value,
    "Const": constant,
    "Var": variable,
    "Arg": argument,
}

# what an expression does: (builder, target, expression) -> None
EXPRESSIONS = {
    "binop": operators.binary,
    "inplace_binop": operators.binary,
    "unary": operators.unary,
    "call": call,
    "getattr": attribute,
    "getitem": getitem,
    "static_getitem": static_getitem,
    "typed_getitem": tuples.typed_getitem,
    "build_tuple": tuples.build_tuple,
    "exhaust_iter": loops.unpack,
    "getiter": loops.getiter,
    "iternext": loops.iternext,
    "pair_first": loops.pair_first,
    "pair_second": loops.pair_second,
    "cast": cast,
    "phi": phi,
}
