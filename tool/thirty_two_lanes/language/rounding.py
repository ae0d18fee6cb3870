"""Arithmetic that rounds once: fused multiply-add, and the rounding modes rn, rd, ru
and rz of a GPU's instructions.

Each mode starts from the nearest number and looks at the sign of what was lost.
Not modelled: what is lost among the subnormal numbers of a float64.
"""

import numpy as np

MODES = ("rn", "rd", "ru", "rz")


def fma(a, b, c):
    """`a * b + c`, rounded once."""
    plain = a * b + c
    if plain.dtype != np.float64:
        return _narrow_fma(a, b, c, plain.dtype)
    high, low = _product(a, b)
    middle, rest = _sum(c, low)
    top, below = _sum(high, middle)
    exact = top + _odd_sum(below, rest)
    return np.where(np.isfinite(exact) & (exact != 0), exact, plain)[()]


def _narrow_fma(a, b, c, dtype):
    """The same of a narrower type, whose products float64 holds."""
    product, term = np.multiply(a, b, dtype=np.float64), np.float64(c)
    total = product + term
    result = total.astype(dtype)
    digits = np.finfo(np.float64).nmant - np.finfo(dtype).nmant
    rest = total.view(np.int64) & ((1 << digits) - 1)
    twice = (rest == 1 << digits - 1) | (np.abs(result) < np.finfo(dtype).tiny)
    if np.any(twice):  # a total that was rounded lies halfway between two results
        return _odd_sum(product, term).astype(dtype)[()]
    return result


def _sum(a, b):
    """A sum, and what its rounding lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a, b):
    """A product of float64, and what its rounding lost."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    lost = a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )
    return product, lost


def _halves(a):
    """A float64 as two numbers of half its digits."""
    scaled = a * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _odd_sum(a, b):
    """A sum rounded to odd, so that it can be rounded again."""
    total, lost = _sum(a, b)
    total, lost = np.broadcast_arrays(np.asarray(total, np.float64), lost)
    even = np.array(total, order="C").view(np.int64) & 1 == 0
    inexact = even & (lost != 0) & np.isfinite(lost)
    toward = np.nextafter(total, np.copysign(np.inf, lost))
    return np.where(inexact, toward, total)


def rounded(mode, result, lost):
    """A result to the nearest made one of another mode; `lost` has the sign of what is
    missing.
    """
    if mode == "rn":
        return result
    infinity = result.dtype.type(np.inf)
    down = {"rd": lost < 0, "ru": False, "rz": (lost < 0) & (result > 0)}[mode]
    up = {"ru": lost > 0, "rd": False, "rz": (lost > 0) & (result < 0)}[mode]
    result = np.where(down, np.nextafter(result, -infinity), result)
    return np.where(up, np.nextafter(result, infinity), result)[()]


def _lost(result, exact, *operands):
    """What an operation lost; all beyond the largest number, where it overflowed."""
    over = np.isinf(result)
    for operand in operands:
        over = over & np.isfinite(operand)
    return np.where(over, -result, exact)


def add(mode):
    return lambda a, b: _rounded_sum(mode, a, b)


def sub(mode):
    return lambda a, b: _rounded_sum(mode, a, -b)


def _rounded_sum(mode, a, b):
    total, lost = _sum(a, b)
    return rounded(mode, total, _lost(total, lost, a, b))


def mul(mode):
    def function(a, b):
        product = a * b
        return rounded(mode, product, _lost(product, fma(a, b, -product), a, b))

    return function


def div(mode):
    def function(a, b):
        quotient = a / b
        rest = fma(-quotient, b, a) * np.sign(b)
        return rounded(mode, quotient, np.where(b == 0, 0, _lost(quotient, rest, a, b)))

    return function


def rcp(mode):
    return lambda a: div(mode)(a.dtype.type(1), a)


def sqrt(mode):
    def function(a):
        root = np.sqrt(a)
        return rounded(mode, root, fma(-root, root, a))

    return function


def to_float(mode, dtype):
    """A number as a float of another type."""

    def function(value):
        result = value.astype(dtype)
        if value.dtype.kind == "f":
            lost = _lost(result, value - result.astype(value.dtype), value)
        else:
            back = result.astype(np.longdouble)
            lost = np.asarray(value).astype(np.longdouble) - back
        return rounded(mode, result, lost)

    return function


TO_WHOLE = {"rn": np.rint, "rd": np.floor, "ru": np.ceil, "rz": np.trunc}


def saturating(value, dtype):
    """A float as an integer: toward zero, clipped to what the type holds.

    PTX ISA, "cvt": a NaN becomes 0, or the highest bit alone where either side has 64
    bits.
    """
    limits = np.iinfo(dtype)
    wide = value if value.dtype.itemsize > 2 else value.astype(np.float32)
    inside = (wide > limits.min) & (wide < limits.max)
    if np.all(inside):
        return value.astype(dtype)
    nan = 0
    if max(value.dtype.itemsize, dtype.itemsize) == 8:
        nan = limits.min if dtype.kind == "i" else (limits.max + 1) // 2
    result = np.where(inside, wide, 0).astype(dtype)
    result = np.where(wide >= limits.max, dtype.type(limits.max), result)
    result = np.where(wide <= limits.min, dtype.type(limits.min), result)
    return np.where(np.isnan(wide), dtype.type(nan), result)[()]
