"""Calls of Python's builtins; loops.py has `enumerate`, `zip` and what is iterated."""

from functools import partial

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower import loops
from thirty_two_lanes.frontend.lower.arrays import array_number
from thirty_two_lanes.frontend.lower.builder import (
    FALSE,
    NONE,
    ONE,
    ZERO,
    index_constant,
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
    builder.packed[target] = _ends(builder.operands(arguments), ZERO, ONE)


def make_slice(builder, target, arguments, signature):
    """`slice(…)`."""
    operands = [None if o == NONE else o for o in builder.operands(arguments)]
    builder.known[target] = ir.Slice(*_ends(operands, None, None))


def _ends(given, start, step) -> tuple:
    """Start, stop and step, of one value to three that a call is given."""
    if len(given) == 1:
        return start, *given, step
    return tuple(given) if len(given) == 3 else (*given, step)


def length(builder, target, arguments, signature):
    """`len(value)`."""
    text = builder.known.get(arguments[0].name)
    if isinstance(text, str):
        builder.known[target] = len(text)
        return
    if builder.kind(arguments[0]) == "RangeType":
        start, stop, step = builder.range_of(arguments[0])
        steps = builder.index("floordiv", builder.index("sub", start, stop), step)
        count = builder.index("max", builder.index("sub", ZERO, steps), ZERO)
        return builder.bind(target, count)
    if arguments[0].name in builder.arrays.flats:
        array = builder.arrays.flats[arguments[0].name]
        return builder.bind(target, array_number(builder, array, "size"))
    operand = builder.operand(arguments[0])
    dtype = builder.type_of(operand)
    if isinstance(dtype, tuple):
        builder.bind(target, index_constant(len(dtype)))
    else:
        builder.bind(target, array_number(builder, operand, "shape0"))


def number(builder, target, arguments, signature):
    """`int(value)`, `float(value)` or `bool(value)`."""
    text = builder.known.get(arguments[0].name) if arguments else None
    dtype = builder.our_type(target)
    if isinstance(text, str):
        builder.known[target] = bool(text) if dtype.kind == "b" else float(text)
        return
    given = builder.our_type(arguments[0]) if arguments else None
    if isinstance(given, tuple) and not isinstance(given, ir.Optional):
        return builder.bind(target, ir.Const(np.bool_(len(given))))
    operand = builder.operand(arguments[0])
    convert_to(builder, target, FALSE if operand == NONE else operand, dtype)


def absolute(builder, target, arguments, signature):
    """`abs(value)`."""
    source, result = our_type(signature.args[0]), our_type(signature.return_type)
    dtypes = (source if source.kind == "c" else result,)
    builder.operate(target, "abs", builder.operands(arguments), dtypes, result)


def rounded(builder, target, arguments, signature):
    """`round(value)`, or to some digits."""
    operands, source = builder.operands(arguments), our_type(signature.args[0])
    if len(operands) > 1:
        return call_operator(builder, target, "round to", operands, signature)
    builder.operate(target, "round", operands, (source,), source)


def power(builder, target, arguments, signature):
    """`pow(base, exponent)`."""
    operands, dtypes = builder.operands(arguments), [*map(our_type, signature.args)]
    end_threads(builder, "pow", operands, dtypes)
    builder.operate(target, "pow", operands, dtypes, our_type(signature.return_type))


def extreme(name, builder, target, arguments, signature):
    """`min(…)` or `max(…)`, of numbers and tuples of them."""
    if builder.kind(arguments[0]) == "RangeType":
        builder.refuse(f"`{name}` takes numbers here, not a range: use its ends")
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
        pair = builder.casts((result, operand), (dtype, dtype))
        result = builder.computed(name, pair, dtype, name)
    builder.bind(target, builder.cast(result, our_type(signature.return_type)))


def quotient_and_rest(builder, target, arguments, signature):
    """`divmod(a, b)`."""
    dtypes = our_type(signature.return_type)
    operands = builder.casts(builder.operands(arguments), dtypes)
    names = zip(("floordiv", "mod"), dtypes, strict=True)
    parts = [builder.computed(name, operands, dtype, name) for name, dtype in names]
    make_tuple(builder, target, parts)


def complex_number(builder, target, arguments, signature):
    """A complex number of another, of its parts, or of its real part."""
    result = our_type(signature.return_type)
    if len(arguments) == 1:
        return convert_to(builder, target, builder.operand(arguments[0]), result)
    part = np.dtype(f"f{result.itemsize // 2}")
    builder.operate(
        target, "complex", builder.operands(arguments), (part, part), result
    )


# a builtin: (builder, target, arguments, signature) -> None
BUILTINS = {
    int: number,
    float: number,
    bool: number,
    complex: complex_number,
    abs: absolute,
    round: rounded,
    pow: power,
    divmod: quotient_and_rest,
    min: partial(extreme, "min"),
    max: partial(extreme, "max"),
    len: length,
    range: make_range,
    slice: make_slice,
    iter: loops.begin_iterator,
    next: loops.next_item,
    enumerate: loops.begin_enumerate,
    zip: loops.begin_zip,
    np.nditer: loops.begin_nditer,
    np.ndenumerate: loops.begin_ndenumerate,
    np.ndindex: loops.begin_ndindex,
}
