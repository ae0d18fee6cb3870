"""Operators and conversions, and NumPy's ufuncs: of numbers, or element by element
into an array that is given.
"""

import operator

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.known_values import are_texts
from thirty_two_lanes.frontend.lower.arrays import array_number
from thirty_two_lanes.frontend.lower.builder import INDEX, ONE, is_always_none
from thirty_two_lanes.frontend.lower.inlining import inline_library
from thirty_two_lanes.frontend.lower.loops import each_cell
from thirty_two_lanes.frontend.lower.optionals import is_none
from thirty_two_lanes.frontend.lower.tuples import (
    TUPLE_OPERATORS,
    are_equal,
    tuple_operator,
)
from thirty_two_lanes.frontend.target import target as target_of_numba
from thirty_two_lanes.frontend.types import loop_of, our_type
from thirty_two_lanes.language.operators import PYTHON_OPERATORS, convert
from thirty_two_lanes.language.powers import LARGEST_LOOP

BY_ZERO = "division by zero"
COMPLEX = {"mul": "complex mul", "truediv": "complex div"}

UNARY = {
    operator.neg: "neg",
    operator.pos: "pos",
    operator.invert: "invert",
    operator.not_: "not",
}


def binop(builder, target, value):
    """`a + b` and the like."""
    _binary(builder, target, value, value.fn)


def inplace_binop(builder, target, value):
    """`a += b` and the like."""
    _binary(builder, target, value, value.immutable_fn)


def _binary(builder, target, value, function):
    """An operator on two operands, in the types that Numba chose."""
    name = PYTHON_OPERATORS.get(function)
    texts = [builder.known.get(each.name) for each in (value.lhs, value.rhs)]
    if all(map(are_texts, texts)) and our_type(builder.numba_type(target)) is not None:
        return builder.bind(target, ir.Const(np.bool_(function(*texts))))
    if function is operator.contains:
        return _is_in(builder, target, value)
    signature = builder.typed.calls[value]
    dtypes = tuple(our_type(t) for t in signature.args)
    if function in (operator.is_, operator.is_not):
        negated = function is operator.is_not
        if signature.args[0] != signature.args[1] or _may_be_none(dtypes[0]):
            return _is_none(builder, target, value, negated)
        if isinstance(dtypes[0], ir.ArrayType):
            return _is_array(builder, target, value, negated)
        function = operator.eq if function is operator.is_ else operator.ne
        name = PYTHON_OPERATORS[function]
    if function in (operator.eq, operator.ne) and any(
        map(is_always_none, signature.args)
    ):
        return _equals_none(builder, target, value, function)
    if isinstance(dtypes[0], tuple) and function in TUPLE_OPERATORS:
        return tuple_operator(builder, target, value, function)
    if name is None or not all(isinstance(d, np.dtype) for d in dtypes):
        builder.refuse(
            f"the emulator does not support `{function.__name__}` of these types yet"
        )
    result = our_type(signature.return_type)
    if "".join(sorted(d.kind for d in dtypes)) == "iu" and result.kind in "iu":
        # a literal's type may not be the operator's
        dtypes = (result, dtypes[1] if name == "pow" else result)
    operands = (builder.operand(value.lhs), builder.operand(value.rhs))
    if result.kind == "c" or dtypes[0].kind == "c":
        name = COMPLEX.get(name, name)
    if name == "pow" and _is_static(value, dtypes):
        name = "static pow"
    end_threads(builder, name, operands, dtypes)
    builder.operate(target, name, operands, dtypes, result)


def _may_be_none(dtype) -> bool:
    """Is this the type of None, or of what may be None?"""
    return dtype is None or isinstance(dtype, ir.Optional)


def _is_none(builder, target, value, negated):
    """`a is b`, or `is not`, where it is a question of None."""
    types = builder.typed.calls[value].args
    same = is_none(builder, value.lhs, value.rhs, types)
    if not negated:
        return builder.bind(target, same)
    if isinstance(same, ir.Const):
        return builder.bind(target, ir.Const(~same.value))
    builder.bind(target, builder.truth("not", same))


def _is_array(builder, target, value, negated):
    """`a is b` of two arrays: the same cells in the same order."""
    compare = _not_same if negated else _same
    signature = builder.typed.calls[value]
    inline_library(builder, target, compare, signature, [value.lhs, value.rhs])


def _equals_none(builder, target, value, function):
    """`a == None`, or `!=`, as the target has it: numba-cuda's says that what may be
    None never equals it.
    """
    signature = builder.typed.calls[value]
    compare = target_of_numba.none_equality(function is operator.eq)(*signature.args)
    inline_library(builder, target, compare, signature, [value.lhs, value.rhs])


def _is_static(value, dtypes) -> bool:
    """Is this a power whose whole exponent Numba knows, so that it only multiplies?"""
    exponent = getattr(value, "static_rhs", None)
    return (
        isinstance(exponent, int)
        and dtypes[1].kind in "iu"
        and abs(exponent) <= LARGEST_LOOP
    )


def end_threads(builder, name, operands, dtypes):
    """End the threads for which an operator raises an exception."""
    operand, dtype = operands[1], dtypes[1]
    if name == "complex div":
        _end_where(builder, operand, dtype, 0, ZeroDivisionError, f"complex {BY_ZERO}")
    elif name in ("truediv", "floordiv", "mod") and _divides_strictly(builder, dtypes):
        _end_where(builder, operand, dtype, 0, ZeroDivisionError, BY_ZERO)
    elif name == "pow" and dtype.kind == "i" and not isinstance(operand, ir.Const):
        least = np.iinfo(dtype).min  # its opposite is itself
        _end_where(builder, operand, dtype, least, OverflowError, None)


def _end_where(builder, operand, dtype, number, exception, text):
    """End the threads in which an operand is a number."""
    same = builder.truth(
        "eq", builder.cast(operand, dtype), ir.Const(dtype.type(number))
    )
    builder.end_threads_where(same, exception, text)


def _divides_strictly(builder, dtypes) -> bool:
    """Does a division by zero end a thread?"""
    options = builder.body.options
    fast = options.get("fastmath") and dtypes[1] == np.float32
    return bool(options.get("debug")) and not fast


def _is_in(builder, target, value):
    """`number in tuple`, or in an array."""
    if isinstance(builder.our_type(value.lhs), ir.ArrayType):
        signature = builder.typed.calls[value]
        inline_library(builder, target, _contains, signature, [value.lhs, value.rhs])
        return
    found = ir.Const(np.False_)
    sought = builder.operand(value.rhs)
    for item in builder.items(value.lhs):
        same = are_equal(builder, sought, item)
        found = builder.truth("or", found, same)
    builder.bind(target, found)


def unary(builder, target, value):
    """`-a` and the like."""
    name = UNARY.get(value.fn)
    signature = builder.typed.calls[value]
    source, result = our_type(signature.args[0]), our_type(signature.return_type)
    if source.kind == "b" and name in ("neg", "pos"):
        source = result
    builder.operate(
        target,
        name,
        (builder.operand(value.value),),
        (source,),
        result if name == "not" else source,
    )


def call_operator(builder, target, name, operands, signature):
    """An operator of the tables, on operands of the types in its signature."""
    result = our_type(signature.return_type)
    dtypes = [our_type(t) for t in (signature.args or [None])]
    whole = name in ("math.pow", "math.ldexp")  # their second operands may be
    if name.startswith("math.") and getattr(result, "kind", "") == "f" and not whole:
        dtypes = [result if d.kind in "iub" else d for d in dtypes]
    builder.operate(target, name, operands, dtypes, result)


def convert_to(builder, target, operand, dtype):
    """An operand converted to a type, as the kernel asks."""
    name = builder.declare(target, dtype)
    if isinstance(operand, ir.Const):
        operand = ir.Const(convert(operand.value, dtype))
    builder.emit(ir.Copy((name,), (builder.cast(operand, dtype, dtype.kind != "i"),)))


# ufuncs


def call_ufunc(builder, target, ufunc, arguments):
    """`np.add(a, b)`; or a loop over the cells of `out`, in `np.add(a, b, out)`."""
    name = f"np.{ufunc.__name__}"
    dtypes, result = loop_of(ufunc, [builder.numba_type(a) for a in arguments])
    operands = builder.operands(arguments)
    if len(operands) == ufunc.nin:
        return builder.operate(target, name, operands, dtypes, result)
    *inputs, out = operands

    def store_cell(indices):
        _store_cell(builder, name, inputs, dtypes, result, out, indices)

    each_cell(builder, out, (), store_cell)
    builder.bind(target, out)


def _store_cell(builder, name, inputs, dtypes, result, out, indices):
    """Compute one cell."""
    operands = tuple(
        builder.cast(_at(builder, operand, indices), dtype)
        for operand, dtype in zip(inputs, dtypes, strict=True)
    )
    value = builder.new_name(result, "value")
    builder.emit(ir.Operation(value, name, operands, builder.site()))
    value = builder.cast(value, builder.type_of(out).dtype)
    builder.emit(ir.Store(out, indices, value, builder.reference("store", out)))


def _at(builder, operand, indices):
    """An input at a cell: an axis of length 1 is broadcast."""
    dtype = builder.type_of(operand)
    if not isinstance(dtype, ir.ArrayType):
        return operand
    places = []
    for axis, index in enumerate(indices[len(indices) - dtype.ndim :]):
        last = builder.new_name(INDEX, "last")
        length = array_number(builder, operand, f"shape{axis}")
        builder.emit(ir.Operation(last, "sub", (length, ONE), builder.site()))
        places.append(builder.new_name(INDEX, "place"))
        builder.emit(ir.Operation(places[-1], "min", (index, last), builder.site()))
    value = builder.new_name(dtype.dtype, "value")
    builder.emit(
        ir.Load(value, operand, tuple(places), builder.reference("load", operand))
    )
    return value


def _same(a, b):
    same = a.shape == b.shape and a.strides == b.strides
    return same and a.ctypes.data == b.ctypes.data


def _not_same(a, b):
    same = a.shape == b.shape and a.strides == b.strides
    return not (same and a.ctypes.data == b.ctypes.data)


def _contains(array, number):
    for item in np.nditer(array):
        if item.item() == number:
            return True
    return False
