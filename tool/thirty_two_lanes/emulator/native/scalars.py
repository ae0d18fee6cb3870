"""Operators and casts of the IR as LLVM instructions on one thread's numbers.

Each gives the bits of its row in `language/operators.py`. What has no row here, or
meets numbers for which NumPy's answer is a rule of its own (a division by zero, the
maximum of a NaN), is left to that row: `piece.unless` ends the compiled piece, and the
machine runs it with NumPy.
"""

import numpy as np
from llvmlite import ir as llvm

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.native.ufuncs import loop_of
from thirty_two_lanes.emulator.native.words import I1, intrinsic

FLOATS = {2: None, 4: llvm.FloatType(), 8: llvm.DoubleType()}
SIGNED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def number_type(dtype):
    """The LLVM type of a number, or None where it has none here."""
    if not isinstance(dtype, np.dtype):
        return None
    if dtype.kind == "b":
        return I1
    if dtype.kind in "iu":
        return llvm.IntType(dtype.itemsize * 8)
    return FLOATS[dtype.itemsize] if dtype.kind == "f" and dtype.itemsize < 9 else None


def constant(value) -> llvm.Constant:
    """A NumPy number as a constant."""
    made = number_type(value.dtype)
    return llvm.Constant(made, float(value) if value.dtype.kind == "f" else int(value))


def convert(builder, value, source, target):
    """A number in another type, as `operators.convert` gives it."""
    made = number_type(target)
    if source == target:
        return value
    if target.kind == "b":
        return is_not_zero(builder, value)
    if source.kind == "f":
        if target.kind == "f":
            wider = target.itemsize > source.itemsize
            return (builder.fpext if wider else builder.fptrunc)(value, made)
        return _saturated(builder, value, source, target)
    if target.kind == "f":
        signed = source.kind == "i"
        return (builder.sitofp if signed else builder.uitofp)(value, made)
    if made.width <= value.type.width:
        return value if made.width == value.type.width else builder.trunc(value, made)
    return (builder.sext if source.kind == "i" else builder.zext)(value, made)


def is_not_zero(builder, value):
    zero = llvm.Constant(value.type, 0)
    if isinstance(value.type, llvm.IntType):
        return builder.icmp_unsigned("!=", value, zero)
    return builder.fcmp_unordered("!=", value, zero)


def _saturated(builder, value, source, target):
    """A float as an integer, clipped; at 16 bits where fewer are wanted."""
    signed, bits = target.kind == "i", max(target.itemsize, 2) * 8
    wide = llvm.IntType(bits)
    name = "fptosi" if signed else "fptoui"
    result = intrinsic(builder, f"{name}.sat", wide, value)
    if max(source.itemsize * 8, bits) == 64:  # a NaN is the highest bit, not 0
        nan = builder.fcmp_unordered("uno", value, value)
        highest = llvm.Constant(wide, 1 << (bits - 1))
        result = builder.select(nan, highest, result)
    made = number_type(target)
    return builder.trunc(result, made) if made.width < bits else result


# operators: `(piece, values, dtype) -> value`, for operands of one type


def _method(name):
    return lambda piece, values, dtype: getattr(piece.builder, name)(*values)


def _compare(symbol):
    def compare(piece, values, dtype):
        builder = piece.builder
        if dtype.kind == "f":
            ordered = symbol != "!="
            kind = builder.fcmp_ordered if ordered else builder.fcmp_unordered
            return kind(symbol, *values)
        signed = builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned
        return signed(symbol, *values)

    return compare


def _nonzero_divisor(piece, divisor, dtype):
    """Leave division by 0 to NumPy, and by -1, which may overflow."""
    builder = piece.builder
    if dtype.kind == "i":
        shifted = builder.add(divisor, llvm.Constant(divisor.type, 1))
        ordinary = builder.icmp_unsigned(">", shifted, llvm.Constant(shifted.type, 1))
    else:
        ordinary = is_not_zero(builder, divisor)
    piece.unless(ordinary)


def _divide(piece, values, dtype):
    """The quotient, rounded down, and the remainder, of the divisor's sign."""
    left, right = values
    builder = piece.builder
    _nonzero_divisor(piece, right, dtype)
    if dtype.kind == "u":
        return builder.udiv(left, right), builder.urem(left, right)
    quotient, rest = builder.sdiv(left, right), builder.srem(left, right)
    zero = llvm.Constant(rest.type, 0)
    signs = builder.icmp_signed("<", builder.xor(rest, right), zero)
    down = builder.and_(signs, builder.icmp_signed("!=", rest, zero))
    one = builder.zext(down, rest.type)
    return (
        builder.sub(quotient, one),
        builder.select(down, builder.add(rest, right), rest),
    )


def _negative(piece, values, dtype):
    if dtype.kind == "f":
        return piece.builder.fneg(*values)
    return piece.builder.neg(*values)


def _absolute(piece, values, dtype):
    (value,) = values
    if dtype.kind == "f":
        return intrinsic(piece.builder, "fabs", value.type, value)
    if dtype.kind == "u":
        return value
    negative = piece.builder.icmp_signed("<", value, llvm.Constant(value.type, 0))
    return piece.builder.select(negative, piece.builder.neg(value), value)


def _extreme(symbol):
    """The lesser or the greater of two; equal floats and NaNs are left to NumPy."""

    def extreme(piece, values, dtype):
        left, right = values
        if dtype.kind == "f":
            apart = piece.builder.fcmp_ordered("!=", left, right)
            same = piece.builder.icmp_unsigned("==", *map(piece.bits, values))
            number = piece.builder.fcmp_ordered("==", left, left)
            same = piece.builder.and_(same, number)
            piece.unless(piece.builder.or_(apart, same))
        first = _compare(symbol)(piece, values, dtype)
        return piece.builder.select(first, left, right)

    return extreme


def _rounded(name):
    return lambda piece, values, dtype: intrinsic(
        piece.builder, name, values[0].type, *values
    )


def _is(symbol, limit):
    """Is a float's absolute value so, beside a limit? None: beside itself."""

    def test(piece, values, dtype):
        size = _absolute(piece, values, dtype)
        other = size if limit is None else llvm.Constant(size.type, limit)
        if symbol == "uno":
            return piece.builder.fcmp_unordered(symbol, size, other)
        return piece.builder.fcmp_ordered(symbol, size, other)

    return test


def _not(piece, values, dtype):
    return piece.builder.not_(is_not_zero(piece.builder, *values))


def _in_range(piece, values, dtype):
    value, stop, step = values
    up = _compare(">")(piece, (step, llvm.Constant(step.type, 0)), dtype)
    less, more = (_compare(s)(piece, (value, stop), dtype) for s in "<>")
    return piece.builder.select(up, less, more)


OPERATORS = {  # by operator: functions by the kinds of numbers that they take
    "add": {"iu": _method("add"), "f": _method("fadd")},
    "sub": {"iu": _method("sub"), "f": _method("fsub")},
    "mul": {"iu": _method("mul"), "f": _method("fmul")},
    "truediv": {"f": _method("fdiv")},
    "floordiv": {"iu": lambda *operands: _divide(*operands)[0]},
    "mod": {"iu": lambda *operands: _divide(*operands)[1]},
    "and": {"biu": _method("and_")},
    "or": {"biu": _method("or_")},
    "xor": {"biu": _method("xor")},
    **{name: {"biuf": _compare(symbol)} for name, symbol in SIGNED.items()},
    "neg": {"iuf": _negative},
    "pos": {"iuf": lambda piece, values, dtype: values[0]},
    "invert": {"biu": _method("not_")},
    "not": {"biuf": _not},
    "abs": {"iuf": _absolute},
    "math.fabs": {"f": _absolute},
    "min": {"iuf": _extreme("<")},
    "max": {"iuf": _extreme(">")},
    "round": {"f": _rounded("rint")},
    "math.floor": {"f": _rounded("floor")},
    "math.ceil": {"f": _rounded("ceil")},
    "math.trunc": {"f": _rounded("trunc")},
    "math.sqrt": {"f": _rounded("sqrt")},
    "math.copysign": {"f": _rounded("copysign")},
    "math.isnan": {"f": _is("uno", None)},
    "math.isinf": {"f": _is("==", float("inf"))},
    "math.isfinite": {"f": _is("<", float("inf"))},
    "in range": {"iu": _in_range},
}
TRUTHS = {*SIGNED, "not", "in range", "math.isnan", "math.isinf", "math.isfinite"}


def row(operation: ir.Operation, dtypes, target):
    """What computes an operation on operands of these types, or None: NumPy does."""
    if not dtypes or any(number_type(dtype) is None for dtype in (*dtypes, target)):
        return None
    if operation.operator in MIXED:
        return MIXED[operation.operator](operation, dtypes, target)
    first = dtypes[0]
    if any(dtype != first for dtype in dtypes):
        return None
    if target != (np.dtype(bool) if operation.operator in TRUTHS else first):
        return None
    kinds = OPERATORS.get(operation.operator, {})
    found = next((row for kind, row in kinds.items() if first.kind in kind), None)
    return found or _numpys(operation.operator, dtypes)


def _numpys(name, dtypes):
    """A function of NumPy, number by number."""
    loop = loop_of(name, tuple(dtypes))
    return loop and (lambda piece, values, dtype: piece.call_loop(loop, values))


def _shift(operation, dtypes, target):
    """A shift in the common type, where the count is less than the bits."""
    left, count = dtypes
    wide = np.result_type(left, count)
    if left.kind not in "iu" or count.kind not in "iu" or wide != target:
        return None

    def shift(piece, values, dtype):
        b, (value, bits) = piece.builder, values
        width = llvm.Constant(bits.type, value.type.width)
        piece.unless(b.icmp_unsigned("<", bits, width))
        value = convert(b, value, left, wide)
        bits = convert(b, bits, count, wide)
        if operation.operator == "lshift":
            return b.shl(value, bits)
        return (b.ashr if wide.kind == "i" else b.lshr)(value, bits)

    return shift


def _select(operation, dtypes, target):
    condition, then, otherwise = dtypes
    if condition.kind != "b" or not then == otherwise == target:
        return None
    return lambda piece, values, dtype: piece.builder.select(*values)


def _choose(operation, dtypes, target):
    """An item of a tuple; indices count from its end, too."""
    index, *items = dtypes
    if index.kind not in "iu" or any(item != target for item in items):
        return None

    def choose(piece, values, dtype):
        index, result, *others = values
        b, count = piece.builder, len(values) - 1
        for place, item in enumerate(others, 1):
            either = (
                b.icmp_unsigned("==", index, llvm.Constant(index.type, number))
                for number in (place, place - count)
            )
            result = b.select(b.or_(*either), item, result)
        return result

    return choose


def _power(operation, dtypes, target):
    """A square or a cube; other powers are NumPy's."""
    exponent = operation.operands[1]
    known = exponent.value if isinstance(exponent, ir.Const) else None
    if dtypes[1].kind not in "iu" or known not in (2, 3) or dtypes[0] != target:
        return None
    if target.kind not in "iuf":
        return None

    def power(piece, values, dtype):
        multiply = piece.builder.fmul if target.kind == "f" else piece.builder.mul
        square = multiply(values[0], values[0])
        return square if known == 2 else multiply(values[0], square)

    return power


MIXED = {  # by operator: what gives a row for operands of several types
    "lshift": _shift,
    "rshift": _shift,
    "cuda.selp": _select,
    "choose": _choose,
    "pow": _power,
    "static pow": _power,
}
