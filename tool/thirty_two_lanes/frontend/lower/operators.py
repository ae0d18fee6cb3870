"""Operators and conversions, and NumPy's ufuncs: of numbers, or element by element
into an array that is given.
"""

import operator
from contextlib import contextmanager

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.known_values import are_texts
from thirty_two_lanes.frontend.lower.arrays import array_number, load
from thirty_two_lanes.frontend.lower.builder import INDEX, ONE, ZERO, is_always_none
from thirty_two_lanes.frontend.lower.inlining import inline_library
from thirty_two_lanes.frontend.lower.iterators import advance
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


def binary(builder, target, value):
    """`a + b` or `a += b` and the like, in the types that Numba chose."""
    function = value.fn if value.op == "binop" else value.immutable_fn
    texts = [builder.known.get(each.name) for each in (value.lhs, value.rhs)]
    if all(map(are_texts, texts)) and our_type(builder.numba_type(target)) is not None:
        return builder.bind(target, ir.Const(np.bool_(function(*texts))))
    if function is operator.contains:
        return _is_in(builder, target, value)
    signature = builder.typed.calls[value]
    dtypes = tuple(our_type(t) for t in signature.args)
    if function in (operator.is_, operator.is_not):
        same_types = signature.args[0] == signature.args[1]
        if not same_types or dtypes[0] is None or isinstance(dtypes[0], ir.Optional):
            return _is_none(builder, target, value, function is operator.is_not)
        if isinstance(dtypes[0], ir.ArrayType):
            compare = _same if function is operator.is_ else _not_same
            return _call_library(builder, target, value, compare)
        function = operator.eq if function is operator.is_ else operator.ne
    with_none = any(map(is_always_none, signature.args))
    if function in (operator.eq, operator.ne) and with_none:
        # numba-cuda's `==` says that what may be None never equals it
        compare = target_of_numba.none_equality(function is operator.eq)
        return _call_library(builder, target, value, compare(*signature.args))
    if isinstance(dtypes[0], tuple) and function in TUPLE_OPERATORS:
        return tuple_operator(builder, target, value, function)
    name = PYTHON_OPERATORS.get(function)
    if name is None or not all(isinstance(d, np.dtype) for d in dtypes):
        builder.refuse(
            f"the emulator does not support `{function.__name__}` of these types yet"
        )
    _of_numbers(builder, target, value, name, dtypes)


def _of_numbers(builder, target, value, name, dtypes):
    """An operator on two numbers of these types."""
    result = our_type(builder.typed.calls[value].return_type)
    if "".join(sorted(d.kind for d in dtypes)) == "iu" and result.kind in "iu":
        # a literal's type may not be the operator's
        dtypes = (result, dtypes[1] if name == "pow" else result)
    operands = (builder.operand(value.lhs), builder.operand(value.rhs))
    if result.kind == "c" or dtypes[0].kind == "c":
        name = COMPLEX.get(name, name)
    exponent = getattr(value, "static_rhs", None)
    if name == "pow" and dtypes[1].kind in "iu" and isinstance(exponent, int):
        # Numba only multiplies where it knows the exponent
        name = "static pow" if abs(exponent) <= LARGEST_LOOP else "pow"
    end_threads(builder, name, operands, dtypes)
    builder.operate(target, name, operands, dtypes, result)


def _is_none(builder, target, value, negated):
    """`a is b`, or `is not`, where it is a question of None."""
    types = builder.typed.calls[value].args
    same = is_none(builder, value.lhs, value.rhs, types)
    if not negated:
        return builder.bind(target, same)
    if isinstance(same, ir.Const):
        return builder.bind(target, ir.Const(~same.value))
    builder.bind(target, builder.truth("not", same))


def _call_library(builder, target, value, function):
    """An operator that is a function in Python, of its two operands."""
    signature = builder.typed.calls[value]
    inline_library(builder, target, function, signature, [value.lhs, value.rhs])


def end_threads(builder, name, operands, dtypes):
    """End the threads for which an operator raises an exception."""
    operand, dtype = operands[1], dtypes[1]
    if name == "complex div":
        _end_where(builder, operand, dtype, 0, ZeroDivisionError, f"complex {BY_ZERO}")
    elif name in ("truediv", "floordiv", "mod"):
        options = builder.body.options
        if options.get("debug") and not (options.get("fastmath") and dtype == "f4"):
            _end_where(builder, operand, dtype, 0, ZeroDivisionError, BY_ZERO)
    elif name == "pow" and dtype.kind == "i" and not isinstance(operand, ir.Const):
        least = np.iinfo(dtype).min  # its opposite is itself
        _end_where(builder, operand, dtype, least, OverflowError, None)


def _end_where(builder, operand, dtype, number, exception, text):
    """End the threads in which an operand is a number."""
    operand = builder.cast(operand, dtype)
    same = builder.truth("eq", operand, ir.Const(dtype.type(number)))
    builder.end_threads_where(same, exception, text)


def _is_in(builder, target, value):
    """`number in tuple`, in a range or in an array."""
    if isinstance(builder.our_type(value.lhs), ir.ArrayType):
        return _call_library(builder, target, value, _contains)
    if builder.kind(value.lhs) == "RangeType":
        return builder.bind(target, _is_in_range(builder, value.lhs, value.rhs))
    found = ir.Const(np.False_)
    sought = builder.operand(value.rhs)
    for item in builder.items(value.lhs):
        same = are_equal(builder, sought, item)
        found = builder.truth("or", found, same)
    builder.bind(target, found)


def _is_in_range(builder, numbers, variable) -> str:
    """Is a number between the ends of a range, and whole steps from its start?"""
    start, stop, step = builder.range_of(numbers)
    sought, whole = builder.operand(variable), ir.Const(np.True_)
    dtype = builder.type_of(sought)
    if dtype.kind == "f":
        rest = builder.computed("mod", (sought, ir.Const(dtype.type(1))), dtype, "rest")
        whole = builder.truth("eq", rest, ir.Const(dtype.type(0)))
    if dtype.kind in "fb":
        sought = builder.cast(sought, INDEX, explicit=True)
    before = builder.truth("in range", sought, start, step)
    inside = builder.truth("in range", sought, stop, step)
    steps = builder.index("sub", builder.cast(sought, INDEX, explicit=True), start)
    met = builder.truth("eq", builder.index("mod", steps, step), ZERO)
    for more in (inside, builder.truth("not", before), whole):
        met = builder.truth("and", met, more)
    return met


def unary(builder, target, value):
    """`-a` and the like."""
    name, known = UNARY.get(value.fn), builder.known.get(value.value.name)
    if are_texts(known):
        return builder.bind(target, ir.Const(np.bool_(value.fn(known))))
    signature = builder.typed.calls[value]
    source, result = our_type(signature.args[0]), our_type(signature.return_type)
    if not isinstance(source, np.dtype):
        builder.refuse(f"`{name}` of such a value is not emulated: use numbers")
    if source.kind == "b" and name in ("neg", "pos"):
        source = result
    computed = result if name == "not" else source
    builder.operate(target, name, [builder.operand(value.value)], [source], computed)


def call_operator(builder, target, name, operands, signature):
    """An operator of the tables, on operands of the types in its signature."""
    result = our_type(signature.return_type)
    dtypes = [our_type(t) for t in (signature.args or [None])]
    of_floats = name.startswith("math.") and getattr(result, "kind", "") == "f"
    if of_floats and name not in ("math.pow", "math.ldexp"):  # of a float and an int
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
    if len(operands) == ufunc.nin:  # of numbers, or arrays without axes
        operands = [_at(builder, operand, ()) for operand in operands]
        return builder.operate(target, name, operands, dtypes, result)
    *inputs, out = operands
    with _each_cell(builder, out) as indices:
        items = tuple(
            builder.cast(_at(builder, operand, indices), dtype)
            for operand, dtype in zip(inputs, dtypes, strict=True)
        )
        value = builder.computed(name, items, result, "value")
        value = builder.cast(value, builder.type_of(out).dtype)
        builder.emit(ir.Store(out, indices, value, builder.reference("store", out)))
    builder.bind(target, out)


@contextmanager
def _each_cell(builder, array):
    """Loops over the axes of an array, around what is emitted within; its indices."""
    indices, loops = [], []
    for axis in range(builder.type_of(array).ndim):
        indices.append(builder.new_name(INDEX, "cell"))
        builder.emit(ir.Copy((indices[-1],), (ZERO,)))
        again = builder.body.new_block()
        builder.continue_in(again)
        length = array_number(builder, array, f"shape{axis}")
        loops.append((again, builder.branch(builder.truth("lt", indices[-1], length))))
    yield tuple(indices)
    for index, (again, after) in zip(reversed(indices), reversed(loops), strict=True):
        advance(builder, index, ONE)
        builder.continue_in(again)
        builder.block = after


def _at(builder, operand, indices):
    """An input at a cell: an axis of length 1 is broadcast."""
    dtype = builder.type_of(operand)
    if not isinstance(dtype, ir.ArrayType):
        return operand
    inside = []
    for axis, index in enumerate(indices[len(indices) - dtype.ndim :]):
        length = array_number(builder, operand, f"shape{axis}")
        last = builder.index("sub", length, ONE)
        inside.append(builder.index("min", index, last))
    value = builder.new_name(dtype.dtype, "value")
    load(builder, value, operand, tuple(inside))
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
