"""`cuda.libdevice`: what NumPy computes of it, one row each; the rest is refused.

A name that ends in `f` is of float32, one with `_rd`, `_ru` or `_rz` rounds down, up or
toward zero. Not modelled: the last bits of CUDA's own approximations, `fast_` ones most
of all; Bessel functions, the inverses of erf and normcdf, and `erfcx` are not here.
"""

import math

import numpy as np

from thirty_two_lanes.language import comparison, rounding
from thirty_two_lanes.language import math_functions as functions
from thirty_two_lanes.language.rounding import MODES, TO_WHOLE, saturating

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
I32, I64, U32, U64 = (np.dtype(t) for t in ("i4", "i8", "u4", "u8"))


def _flag(function):
    """A predicate whose result is an int32."""
    return lambda *values: np.asarray(function(*values)).astype(I32)[()]


def _whole(mode, dtype):
    return lambda a: saturating(TO_WHOLE[mode](a), dtype)


def _away_from_zero(a):
    """The nearest whole number; of two, the one farther from zero."""
    whole = np.trunc(a)
    step = (np.abs(a - whole) >= 0.5).astype(a.dtype)
    return np.copysign(np.abs(whole) + step, a)


def _unsigned(function):
    """A function of unsigned numbers, whose bits Numba keeps in signed ones."""

    def of_bits(*values):
        bits = [v.view(f"u{v.itemsize}") if v.dtype.kind == "i" else v for v in values]
        result = function(*bits)
        signed = result.dtype.kind == "u"
        return result.view(f"i{result.itemsize}") if signed else result

    return of_bits


def _high(a, b, bits):
    """The upper half of a product."""
    half = a.dtype.type(bits // 2)
    mask = a.dtype.type((1 << bits // 2) - 1)
    a_high, b_high, a_low, b_low = a >> half, b >> half, a & mask, b & mask
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    low = (a_low.astype(unsigned) * b_low.astype(unsigned)) >> unsigned.type(bits // 2)
    middle = a_high * b_low + low.astype(a.dtype)
    return (
        a_high * b_high
        + (middle >> half)
        + ((a_low * b_high + (middle & mask)) >> half)
    )


def _mul24(a, b):
    """The product of the low 24 bits."""
    eight = a.dtype.type(8)
    return ((a << eight) >> eight) * ((b << eight) >> eight)


def _mean(a, b, more=0):
    """`(a + b + more) >> 1`, without overflow."""
    wide = a.astype(I64) + b.astype(I64) + more
    return (wide >> 1).astype(a.dtype)


def _distance(a, b, c):
    """`|a - b| + c`."""
    distance = np.abs(a.astype(I64) - b.astype(I64))
    return (distance + c.astype(I64)).astype(a.dtype)


def _byte_perm(a, b, selector):
    """Four of the eight bytes of two numbers."""
    both = (b.astype(U32).astype(U64) << U64.type(32)) | a.astype(U32).astype(U64)
    chosen = U64.type(0)
    for nibble in range(4):
        at = (selector.astype(U64) >> U64.type(4 * nibble)) & U64.type(7)
        byte = (both >> (at * U64.type(8))) & U64.type(255)
        chosen = chosen | (byte << U64.type(8 * nibble))
    return chosen.astype(I32)


def _positive_difference(a, b):
    difference = np.fmax(a - b, a.dtype.type(0))
    return np.where(np.isnan(a) | np.isnan(b), a + b, difference)[()]


def _saturate(a):
    clipped = np.clip(a, a.dtype.type(0), a.dtype.type(1)) + a.dtype.type(0)
    return np.where(np.isnan(a), a.dtype.type(0), clipped)[()]


def _of_pi(function):
    """A function of pi times a number, exact at halves."""

    def times_pi(a):
        turn = np.fmod(a, a.dtype.type(2)).astype(np.float64)
        quarter = np.rint(turn * 2)
        rest = (turn - quarter / 2) * np.pi
        sine, cosine = np.sin(rest), np.cos(rest)
        step = (np.where(np.isfinite(quarter), quarter, 0).astype(I64) + function) % 4
        result = np.choose(step, [sine, cosine, -sine, -cosine])
        return np.where(np.isfinite(a), result, np.nan).astype(a.dtype)[()]

    return times_pi


_sinpi, _cospi = _of_pi(0), _of_pi(1)


def _normal(a):
    """The share of a normal distribution below a number."""
    return functions.scalar_function(lambda x: math.erfc(-x / math.sqrt(2)) / 2, a)


def _exponent(a):
    """The exponent of a float, as `ilogb` has it."""
    exponent = np.frexp(a)[1].astype(I64) - 1
    exponent = np.where(np.isinf(a), np.iinfo(I32).max, exponent)
    special = (a == 0) | np.isnan(a)
    return np.where(special, np.iinfo(I32).min, exponent).astype(I32)[()]


def _logb(a):
    exponent = np.where(a == 0, -np.inf, (np.frexp(a)[1] - 1).astype(np.float64))
    return np.where(np.isfinite(a), exponent, np.abs(a)).astype(a.dtype)[()]


def _bits(function):
    """A function of bits, whose result is an int32."""
    return lambda a: function(a.view(f"u{a.dtype.itemsize}")).astype(I32)


def _words(high, low):
    pair = (high.astype(U32).astype(U64) << U64.type(32)) | low.astype(U32).astype(U64)
    return pair.view(np.float64)


_FLOATS = {  # each has a twin of float32 whose name ends in f
    "exp10": lambda a: np.power(a.dtype.type(10), a),
    "fdim": _positive_difference,
    "fma": rounding.fma,
    "fmax": comparison.fmax,
    "fmin": comparison.fmin,
    "ilogb": _exponent,
    "llrint": _whole("rn", I64),
    "llround": lambda a: saturating(_away_from_zero(a), I64),
    "logb": _logb,
    "nearbyint": np.rint,
    "normcdf": _normal,
    "rcbrt": lambda a: a.dtype.type(1) / np.cbrt(a),
    "round": _away_from_zero,
    "rsqrt": lambda a: a.dtype.type(1) / np.sqrt(a),
    "scalbn": functions.ldexp,
    "sincos": lambda a: (np.sin(a), np.cos(a)),
    "sincospi": lambda a: (_sinpi(a), _cospi(a)),
    "sinpi": _sinpi,
    "cospi": _cospi,
    "tgamma": functions.gamma,
    "cbrt": np.cbrt,
    "rint": np.rint,
    **{
        name: functions.MATH[name]
        for name in (
            "acos acosh asin asinh atan atanh atan2 ceil copysign cos cosh erf erfc "
            "exp exp2 expm1 fabs floor fmod frexp hypot ldexp lgamma log log10 log1p "
            "log2 modf nextafter pow remainder sin sinh sqrt tan tanh trunc "
        ).split()
    },
}

_SOURCES = {
    **dict.fromkeys(("double", "int", "ll"), lambda function: function),
    **dict.fromkeys(("uint", "ull"), _unsigned),
}

_DIRECTED = {
    **{
        f"{letter}{name}_{mode}": getattr(rounding, name)(mode)
        for letter in "fd"
        for name in ("add", "sub", "mul", "div", "rcp", "sqrt")
        for mode in MODES
        if (letter, name) != ("d", "sub")
    },
    **{
        f"{source}2{target}_{mode}": kind(rounding.to_float(mode, dtype))
        for source, kind in _SOURCES.items()
        for target, dtype in (("float", F32), ("double", F64))
        for mode in MODES
        if source != target
    },
    **{
        f"{source}2{target}_{mode}": _unsigned(_whole(mode, dtype))
        for source in ("float", "double")
        for target, dtype in (("int", I32), ("uint", U32), ("ll", I64), ("ull", U64))
        for mode in MODES
    },
}

_OTHERS = {
    "fma_rn": rounding.fma,
    "fmaf_rn": rounding.fma,
    "fast_fdividef": lambda a, b: a / b,
    "fast_exp10f": lambda a: np.power(a.dtype.type(10), a),
    "fast_powf": functions.float_power,
    "fast_sincosf": lambda a: (np.sin(a), np.cos(a)),
    **{
        f"fast_{name}f": getattr(np, name)
        for name in ("sin", "cos", "tan", "exp", "log", "log2", "log10")
    },
    "frsqrt_rn": lambda a: (1 / np.sqrt(a.astype(np.float64))).astype(a.dtype),
    "saturatef": _saturate,
    "powi": functions.float_power,
    "powif": functions.float_power,
    "abs": np.abs,
    "llabs": np.abs,
    **dict.fromkeys(("min", "llmin"), np.minimum),
    **dict.fromkeys(("max", "llmax"), np.maximum),
    **dict.fromkeys(("umin", "ullmin"), _unsigned(np.minimum)),
    **dict.fromkeys(("umax", "ullmax"), _unsigned(np.maximum)),
    "mulhi": lambda a, b: _high(a, b, 32),
    "umulhi": _unsigned(lambda a, b: _high(a, b, 32)),
    "mul64hi": lambda a, b: _high(a, b, 64),
    "umul64hi": _unsigned(lambda a, b: _high(a, b, 64)),
    "mul24": _mul24,
    "umul24": _unsigned(_mul24),
    "hadd": _mean,
    "uhadd": _unsigned(_mean),
    "rhadd": lambda a, b: _mean(a, b, 1),
    "urhadd": _unsigned(lambda a, b: _mean(a, b, 1)),
    "sad": _distance,
    "usad": _unsigned(_distance),
    "byte_perm": _byte_perm,
    "brev": functions.reverse_bits,
    "brevll": functions.reverse_bits,
    **dict.fromkeys(("clz", "clzll"), _bits(functions.leading_zeros)),
    **dict.fromkeys(("popc", "popcll"), _bits(functions.set_bits)),
    **dict.fromkeys(("ffs", "ffsll"), _bits(functions.first_set)),
    "float_as_int": lambda a: a.view(I32),
    "int_as_float": lambda a: a.view(np.float32),
    "double_as_longlong": lambda a: a.view(I64),
    "longlong_as_double": lambda a: a.view(np.float64),
    "double2hiint": lambda a: (a.view(I64) >> 32).astype(I32),
    "double2loint": lambda a: a.view(I64).astype(I32),
    "hiloint2double": _words,
    "float2half_rn": lambda a: a.astype(np.float16).view(np.int16),
    "half2float": lambda a: a.view(np.float16).astype(np.float32),
    "finitef": _flag(np.isfinite),
    "isfinited": _flag(np.isfinite),
    **{
        f"{name}{end}": _flag(getattr(np, name))
        for name in ("isnan", "isinf", "signbit")
        for end in "df"
    },
}

FUNCTIONS = {
    f"cuda.libdevice.{name}": function
    for name, function in {
        **_FLOATS,
        **{f"{name}f": function for name, function in _FLOATS.items()},
        **_DIRECTED,
        **_OTHERS,
    }.items()
}
