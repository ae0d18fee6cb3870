"""Functions of Python and NumPy that kernels call, on every lane: one row each.

A row is a function of NumPy values that already have the types that Numba inferred;
what it returns has the type that Numba says. Not modelled: the last bits of libdevice.
"""

import math

import numpy as np

from thirty_two_lanes.language import comparison, complex_functions
from thirty_two_lanes.language.complex_numbers import make_complex, ufunc_divide
from thirty_two_lanes.language.powers import power, real_power
from thirty_two_lanes.language.rounding import saturating

UFUNCS = (
    "sin cos tan arcsin arccos arctan arctan2 hypot "
    "sinh cosh tanh arcsinh arccosh arctanh "
    "deg2rad radians rad2deg degrees "
    "greater greater_equal less less_equal not_equal equal "
    "logical_and logical_or logical_xor logical_not "
    "maximum minimum fmax fmin isnan conjugate divide "
    "bitwise_and bitwise_or bitwise_xor invert "
    "left_shift right_shift log log2 log10 "
).split()  # those that Numba has for a GPU


def scalar_function(function, *values):
    """A function of Python's math that NumPy lacks, on every lane."""
    result = np.vectorize(function, otypes=[np.float64])(*values)
    return result.astype(values[0].dtype)[()]


def _gamma(x):
    if x <= 0 and (x == -math.inf or x == math.floor(x)):
        return math.copysign(math.inf, x) if x == 0 else math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


def _log_gamma(x):
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def _remainder(x, y):
    if math.isinf(x) or y == 0:
        return math.nan
    return math.remainder(x, y)


def of_math(function):
    """A function of Python's math, as a row."""
    return lambda *values: scalar_function(function, *values)


gamma, log_gamma = of_math(_gamma), of_math(_log_gamma)
remainder = of_math(_remainder)


def float_power(base, exponent):
    """`math.pow`; a whole exponent is not rounded."""
    if exponent.dtype.kind == "f":
        return real_power(base, exponent)
    wide = real_power(base.astype(np.float64), exponent.astype(np.float64))
    return wide.astype(base.dtype)[()]


def degrees(value):
    """Radians as degrees, by one product."""
    return value * value.dtype.type(180 / math.pi)


def radians(value):
    """Degrees as radians, by one product."""
    return value * value.dtype.type(math.pi / 180)


def ldexp(value, exponent):
    """`value * 2**exponent`."""
    exponent = np.clip(exponent, -5000, 5000).astype(np.int32)  # C overflows beyond
    return np.ldexp(value, exponent).astype(value.dtype)[()]


def frexp(value):
    """A fraction from a half to one, and an exponent."""
    fraction, exponent = np.frexp(value)
    return fraction, exponent.astype(np.int32)


def round_to(value, digits):
    """`round(value, digits)`, as Numba's own code computes it: through an int64."""
    left, size = digits >= 0, np.abs(digits)
    large = left & (size > 22)
    first = power(np.float64(10), np.where(large, size - 22, size)[()])
    second = np.where(large, 1e22, 1.0)
    scaled = np.where(left, value * first * second, value / first)
    whole = _nearest(scaled)
    half = np.abs(scaled - whole) == 0.5
    whole = np.where(half, 2 * _nearest(scaled / 2), whole)
    result = np.where(left, whole / second / first, whole * first)
    kept = ~np.isfinite(value) | (left & np.isinf(scaled))
    return np.where(kept, value, result).astype(value.dtype)[()]


def _nearest(value):
    """The nearest int64, as a float64."""
    return saturating(np.rint(value), np.dtype(np.int64)).astype(np.float64)


def polar(value):
    """The absolute value and the angle of a complex number."""
    return np.abs(value), np.angle(value)


def logarithm(value, base=None):
    """The logarithm of a complex number, to a base."""
    return np.log(value) if base is None else np.log(value) / np.log(base)


def left_shift(value, count):
    """`value << count`: 32 bits of the count matter, and a large one gives 0."""
    return np.left_shift(value, _shift_count(count))


def right_shift(value, count):
    """`value >> count`: 32 bits of the count matter, and a large one gives the sign."""
    return np.right_shift(value, _shift_count(count))


def _shift_count(count):
    """A count that NumPy takes as a GPU takes this one."""
    if np.all(_as_unsigned(count) < 64):
        return count
    return count & count.dtype.type(0xFFFFFFFF)


def _as_unsigned(value):
    """The same bits without a sign: NumPy counts those of abs(value)."""
    return value.view(f"u{value.dtype.itemsize}") if value.dtype.kind == "i" else value


def set_bits(value):
    """How many bits are set."""
    return np.bitwise_count(_as_unsigned(value)).astype(value.dtype)


def bits_of_magnitude(value):
    """`int.bit_count`: how many bits of the absolute value are set."""
    return np.bitwise_count(value).astype(np.uint64)


def leading_zeros(value):
    """The zero bits above the highest set bit."""
    width = value.dtype.itemsize * 8
    filled = _as_unsigned(value)  # from the highest set bit down
    for step in (1, 2, 4, 8, 16, 32):
        if step < width:
            filled = filled | filled >> filled.dtype.type(step)
    return (width - np.bitwise_count(filled)).astype(value.dtype)


def first_set(value):
    """One more than the place of the lowest set bit, 0 for 0."""
    bits = _as_unsigned(value)
    below = np.bitwise_count(~bits & (bits - bits.dtype.type(1)))
    return np.where(bits, below + np.uint32(1), np.uint32(0))[()]


def reverse_bits(value):
    """The bits in the opposite order."""
    one = value.dtype.type(1)
    result = np.zeros(np.shape(value), value.dtype)
    for bit in range(value.dtype.itemsize * 8):
        result = (result << one) | ((value >> value.dtype.type(bit)) & one)
    return result[()]


MATH = {
    "atan2": np.arctan2,
    "fabs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "erf": of_math(math.erf),
    "erfc": of_math(math.erfc),
    "gamma": gamma,
    "lgamma": log_gamma,
    "remainder": remainder,
    "degrees": degrees,
    "radians": radians,
    "pow": float_power,
    "frexp": frexp,
    "ldexp": ldexp,
    "modf": np.modf,
    **{
        name: getattr(np, name)
        for name in (
            "isnan isinf isfinite fmod hypot copysign nextafter "
            "ceil floor trunc sqrt exp exp2 "
            "expm1 log log2 log10 log1p sin cos tan sinh "
            "cosh tanh "
        ).split()
    },
}

_CMATH = {
    "phase": np.angle,
    "polar": polar,
    "log": logarithm,
    **{name: getattr(np, name) for name in ("log10", "isnan", "isinf", "isfinite")},
}

_EXTREMES = (np.maximum, np.minimum, np.fmax, np.fmin)

FUNCTIONS = {
    **{f"math.{name}": function for name, function in MATH.items()},
    **{f"cmath.{name}": function for name, function in _CMATH.items()},
    **complex_functions.FUNCTIONS,
    **{f"np.{name}": getattr(np, name) for name in UFUNCS},
    "np.divide": ufunc_divide,
    "np.left_shift": left_shift,
    "np.right_shift": right_shift,
    **dict.fromkeys(("np.degrees", "np.rad2deg"), degrees),
    **dict.fromkeys(("np.radians", "np.deg2rad"), radians),
    **{f"np.{ufunc.__name__}": comparison.first(ufunc) for ufunc in _EXTREMES},
    "complex": make_complex,
    "round to": round_to,
    ".conjugate": np.conjugate,
    ".bit_count": bits_of_magnitude,
    "cuda.popc": set_bits,
    "cuda.cbrt": np.cbrt,
    "cuda.clz": leading_zeros,
    "cuda.ffs": first_set,
    "cuda.brev": reverse_bits,
}
