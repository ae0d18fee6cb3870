"""Calls of Python's builtins; loops.py has `enumerate`, `zip` and what is iterated."""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower.arrays import array_number
from thirty_two_lanes.frontend.lower.builder import ONE, ZERO
from thirty_two_lanes.frontend.lower.loops import (
    begin_enumerate,
    begin_iterator,
    begin_ndenumerate,
    begin_ndindex,
    begin_nditer,
    begin_zip,
    next_item,
)
from thirty_two_lanes.frontend.lower.operators import (
    call_operator,
    convert_to,
    end_threads,
)
from thirty_two_lanes.frontend.lower.tuples import make_tuple
from thirty_two_lanes.frontend.types import our_type

CUDA_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}


def make_range(builder, target, arguments, signature):
    """`range(…)`: three operands."""
    operands = [builder.operand(a) for a in arguments]
    start, stop, step = {
        1: (ZERO, *operands, ONE),
        2: (*operands, ONE),
        3: tuple(operands),
    }[len(operands)]
    builder.tuples.packed[target] = (start, stop, step)


def make_slice(builder, target, arguments, signature):
    """`slice(…)`."""
    operands = [builder.operand(a) for a in arguments]
    operands = [
        None if _is_none(builder, a) else o
        for a, o in zip(arguments, operands, strict=True)
    ]
    start, stop, step = {
        1: (None, *operands, None),
        2: (*operands, None),
        3: tuple(operands),
    }[len(operands)]
    builder.known[target] = ir.Slice(start, stop, step)


def _is_none(builder, variable):
    """Is this variable always None?"""
    return type(builder.numba_type(variable)).__name__ in ("NoneType", "Omitted")


def length(builder, target, arguments, signature):
    """`len(value)`."""
    text = builder.known.get(arguments[0].name)
    if isinstance(text, str):
        return builder.know(target, len(text))
    operand = builder.operand(arguments[0])
    dtype = builder.type_of(operand)
    if isinstance(dtype, tuple):
        builder.bind(target, ir.Const(np.int64(len(dtype))))
    else:
        builder.bind(target, array_number(builder, operand, "shape0"))


def truth_value(builder, target, arguments, signature):
    """`bool(value)`."""
    convert_to(builder, target, builder.operand(arguments[0]), np.dtype(np.bool_))


def number(builder, target, arguments, signature):
    """`int(value)` or `float(value)`."""
    text = builder.known.get(arguments[0].name) if arguments else None
    if isinstance(text, str):
        return builder.know(target, float(text))
    convert_to(builder, target, builder.operand(arguments[0]), builder.our_type(target))


def absolute(builder, target, arguments, signature):
    """`abs(value)`."""
    source, result = our_type(signature.args[0]), our_type(signature.return_type)
    builder.operate(
        target,
        "abs",
        [builder.operand(arguments[0])],
        (source if source.kind == "c" else result,),
        result,
    )


def rounded(builder, target, arguments, signature):
    """`round(value)`, or to some digits."""
    if len(arguments) > 1:
        operands = [builder.operand(a) for a in arguments]
        return call_operator(builder, target, "round to", operands, signature)
    source = our_type(signature.args[0])
    builder.operate(target, "round", [builder.operand(arguments[0])], (source,), source)


def power(builder, target, arguments, signature):
    """`pow(base, exponent)`."""
    operands = [builder.operand(a) for a in arguments]
    dtypes = [our_type(t) for t in signature.args]
    end_threads(builder, "pow", operands, dtypes)
    builder.operate(target, "pow", operands, dtypes, our_type(signature.return_type))


def smallest(builder, target, arguments, signature):
    """`min(…)`, of numbers and tuples of them."""
    _fold(builder, "min", target, arguments, signature)


def largest(builder, target, arguments, signature):
    """`max(…)`."""
    _fold(builder, "max", target, arguments, signature)


def _fold(builder, name, target, arguments, signature):
    """One operator between all operands."""
    operands = [item for a in arguments for item in builder.items(a)]
    dtypes = [builder.type_of(operand) for operand in operands]
    if isinstance(dtypes[0], ir.ArrayType):
        builder.refuse(
            f"`{name}` takes numbers here, not a whole array: loop over its elements"
        )
    if len(arguments) == 2 and set(dtypes) <= CUDA_FLOATS:
        name = f"f{name}"
    result, dtype = operands[0], dtypes[0]
    for operand, other in zip(operands[1:], dtypes[1:], strict=True):
        dtype = np.promote_types(dtype, other)
        partial = builder.new_name(dtype, name)
        cast = (builder.cast(result, dtype), builder.cast(operand, dtype))
        builder.emit(ir.Operation(partial, name, cast, builder.site()))
        result = partial
    builder.bind(target, builder.cast(result, our_type(signature.return_type)))


def quotient_and_rest(builder, target, arguments, signature):
    """`divmod(a, b)`."""
    dtypes = our_type(signature.return_type)
    operands = tuple(
        builder.cast(builder.operand(a), d)
        for a, d in zip(arguments, dtypes, strict=True)
    )
    parts = []
    for name, dtype in zip(("floordiv", "mod"), dtypes, strict=True):
        parts.append(builder.new_name(dtype, name))
        builder.emit(ir.Operation(parts[-1], name, operands, builder.site()))
    make_tuple(builder, target, parts)


def complex_number(builder, target, arguments, signature):
    """A complex number of another, of its parts, or of its real part."""
    result = our_type(signature.return_type)
    if len(arguments) == 1:
        return convert_to(builder, target, builder.operand(arguments[0]), result)
    part = np.dtype(f"f{result.itemsize // 2}")
    operands = [builder.operand(a) for a in arguments]
    builder.operate(target, "complex", operands, (part, part), result)


# a builtin: (builder, target, arguments, signature) -> None
BUILTINS = {
    int: number,
    float: number,
    bool: truth_value,
    complex: complex_number,
    abs: absolute,
    round: rounded,
    pow: power,
    divmod: quotient_and_rest,
    min: smallest,
    max: largest,
    len: length,
    range: make_range,
    slice: make_slice,
    iter: begin_iterator,
    next: next_item,
    enumerate: begin_enumerate,
    zip: begin_zip,
    np.nditer: begin_nditer,
    np.ndenumerate: begin_ndenumerate,
    np.ndindex: begin_ndindex,
}
