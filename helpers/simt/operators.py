"""What each operator of the IR computes, lane by lane: one table, and the conversions
of a GPU.

An entry is Python source with a place for each operand; operands already have the types
that Numba inferred, so that NumPy computes in those types. Two terms of a product and a
sum are not fused into one rounding. Not modelled: the compiler's contraction (FMA) and
the last bit of libdevice.
"""

import math
import operator

import numpy as np

PYTHON_OPERATORS = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
    operator.and_: "and",
    operator.or_: "or",
    operator.xor: "xor",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.eq: "eq",
    operator.ne: "ne",
}

OPERATORS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "truediv": "{} / {}",
    "floordiv": "{} // {}",
    "mod": "{} % {}",
    "pow": "power({}, {})",
    "lshift": "np.left_shift({}, {})",
    "rshift": "np.right_shift({}, {})",
    "and": "{} & {}",
    "or": "{} | {}",
    "xor": "{} ^ {}",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "ge": "{} >= {}",
    "eq": "{} == {}",
    "ne": "{} != {}",
    "neg": "-{}",
    "pos": "+{}",
    "invert": "~{}",
    "not": "np.logical_not({})",
    "abs": "np.abs({})",
    "round": "np.rint({})",
    "min": "np.fmin({}, {})",
    "max": "np.fmax({}, {})",
    "real": "np.real({})",
    "imag": "np.imag({})",
    "in range": "in_range({}, {}, {})",
    "choose": "choose({}, {})",
    "cuda.fma": "{} * {} + {}",
    "cuda.selp": "np.where({}, {}, {})[()]",
    "cuda.popc": "set_bits({})",
    "cuda.cbrt": "np.cbrt({})",
    "cuda.clz": "leading_zeros({})",
    "cuda.ffs": "first_set({})",
    "cuda.brev": "reverse_bits({})",
    "math.pow": "power({}, {})",
    "math.atan2": "np.arctan2({}, {})",
    "math.isnan": "np.isnan({})",
    "math.isinf": "np.isinf({})",
    "math.isfinite": "np.isfinite({})",
    "math.fabs": "np.abs({})",
    "math.fmod": "np.fmod({}, {})",
    "math.hypot": "np.hypot({}, {})",
    "math.copysign": "np.copysign({}, {})",
    "math.ceil": "np.ceil({})",
    "math.floor": "np.floor({})",
    "math.trunc": "np.trunc({})",
    "math.degrees": "np.degrees({})",
    "math.radians": "np.radians({})",
    "math.acos": "np.arccos({})",
    "math.asin": "np.arcsin({})",
    "math.atan": "np.arctan({})",
    "math.acosh": "np.arccosh({})",
    "math.asinh": "np.arcsinh({})",
    "math.atanh": "np.arctanh({})",
    "math.erf": "scalar_function(math.erf, {})",
    "math.erfc": "scalar_function(math.erfc, {})",
    "math.gamma": "scalar_function(math.gamma, {})",
    "math.lgamma": "scalar_function(math.lgamma, {})",
    **{
        f"math.{name}": f"np.{name}({{}})"
        for name in (
            "sqrt",
            "exp",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
        )
    },
}


def source(name: str, operands: list[str]) -> str:
    """The Python expression of an operator on operands that are expressions."""
    if name == "choose":
        return f"choose({operands[0]}, ({', '.join(operands[1:])},))"
    return OPERATORS[name].format(*operands)


def convert(value, dtype):
    """A value in another type as the GPU converts: floats to integers truncate and
    saturate.
    """
    if value.dtype == dtype:
        return value
    if dtype.kind in "iu" and value.dtype.kind == "f":
        return _saturate(value, dtype)
    return value.astype(dtype)


def _saturate(value, dtype):
    """A float as an integer: toward zero, clipped to what 16, 32 or 64 bits hold.

    PTX ISA, "cvt": a NaN becomes 0, or the highest bit alone where either side has 64
    bits.
    """
    wide = np.dtype(f"{dtype.kind}{max(dtype.itemsize, 2)}")
    limits = np.iinfo(wide)
    if np.all((value > limits.min) & (value < limits.max)):
        return value.astype(wide).astype(dtype)
    nan = 0
    if max(value.dtype.itemsize, wide.itemsize) == 8:
        nan = limits.min if dtype.kind == "i" else (limits.max + 1) // 2
    inside = np.where((value > limits.min) & (value < limits.max), value, 0).astype(
        wide
    )
    clipped = np.where(value >= limits.max, wide.type(limits.max), inside)
    clipped = np.where(value <= limits.min, wide.type(limits.min), clipped)
    return np.where(np.isnan(value), wide.type(nan), clipped).astype(dtype)[()]


def power(base, exponent):
    """`base ** exponent`: a whole exponent multiplies in the base's type, as Numba's
    code does.
    """
    if exponent.dtype.kind not in "iu":
        return np.power(base, exponent)
    result, square, left = base.dtype.type(1), base, np.abs(exponent)
    while np.any(left):
        result = np.where(left & 1, result * square, result)
        square, left = square * square, left >> 1
    return np.where(exponent < 0, _inverse(result, base), result)[()]


def _inverse(result, base):
    """`1 / result`; among integers what Numba gives: 0, but for 1, -1 and 0."""
    if base.dtype.kind not in "iu":
        return 1 / result
    least = np.iinfo(base.dtype).min
    return np.where(
        base == 0, base.dtype.type(least), np.where(np.abs(result) == 1, result, 0)
    )


def in_range(value, stop, step):
    """Does a range go on with `value`?"""
    if isinstance(step, np.generic):
        return value < stop if step > 0 else value > stop
    return np.where(step > 0, value < stop, value > stop)


def choose(index, items):
    """The item of a tuple at an index that the lanes computed."""
    result = items[0]
    for place, item in enumerate(items[1:], 1):
        result = np.where(
            (index == place) | (index == place - len(items)), item, result
        )
    return result[()]


def scalar_function(function, value):
    """A function of Python's math that NumPy lacks, on every lane."""
    result = np.vectorize(function, otypes=[np.float64])(value)
    return result.astype(value.dtype)[()]


def set_bits(value):
    """How many bits are set, the sign's too."""
    bits = value.view(f"u{value.dtype.itemsize}")  # NumPy counts those of abs(value)
    return np.bitwise_count(bits).astype(value.dtype)


def leading_zeros(value):
    """The zero bits above the highest set bit."""
    width = value.dtype.itemsize * 8
    zeros = np.full(np.shape(value), width, value.dtype)
    for bit in range(width):
        zeros = np.where(
            value >> value.dtype.type(bit) & value.dtype.type(1), width - 1 - bit, zeros
        ).astype(value.dtype)
    return zeros[()]


def first_set(value):
    """One more than the place of the lowest set bit, 0 for 0."""
    width = value.dtype.itemsize * 8
    place = np.zeros(np.shape(value), np.uint32)
    for bit in reversed(range(width)):
        place = np.where(
            value >> value.dtype.type(bit) & value.dtype.type(1),
            np.uint32(bit + 1),
            place,
        )
    return place[()]


def reverse_bits(value):
    """The bits in the opposite order."""
    one = value.dtype.type(1)
    result = np.zeros(np.shape(value), value.dtype)
    for bit in range(value.dtype.itemsize * 8):
        result = (result << one) | ((value >> value.dtype.type(bit)) & one)
    return result[()]


NAMESPACE = {
    "np": np,
    "math": math,
    "power": power,
    "in_range": in_range,
    "choose": choose,
    "scalar_function": scalar_function,
    "set_bits": set_bits,
    "leading_zeros": leading_zeros,
    "first_set": first_set,
    "reverse_bits": reverse_bits,
    "convert": convert,
}
