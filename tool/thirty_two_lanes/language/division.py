"""`//` and `%` as Numba's code and NVIDIA's compiler compute them.

A float's remainder is what `frem` becomes: a quotient that is rounded before it is made
whole, so that a large one gives a remainder that is too large, or of the other sign,
and a division by infinity gives NaN.
"""

import numpy as np

from thirty_two_lanes.language.rounding import fma

_SHORT = 2.0**25
_UPPER_DIGITS = np.int64(-1 << 27)


def floor_divide(a, b):
    """`a // b`."""
    if a.dtype.kind == "f":
        return _real_quotient(a, b)
    quotient = a // b
    if a.dtype.kind == "i":
        least = np.iinfo(quotient.dtype).min
        if np.any(quotient == least):  # least // -1 is 0
            quotient = np.where((quotient == least) & (b == -1), 0, quotient)[()]
    return quotient


def modulo(a, b):
    """`a % b`."""
    if a.dtype.kind != "f":
        return a % b
    rest = _rest(a, b)
    result = rest + b * ((b < 0) != (rest < 0))
    zero = rest == 0
    if np.any(zero):
        result = np.where(zero, np.copysign(a.dtype.type(0), b), result)
    return result[()]


def _rest(a, b):
    """`frem`: `|a| - floor(|a| / |b|) * |b|`, rounded once, with the sign of `a`."""
    size, by = np.abs(a), np.abs(b)
    quotient = np.floor(size / by)
    if a.dtype == np.float64:
        rest = _rest_of_float64(size, by, quotient)
    else:  # the product is exact in float64, and so is the difference
        product = np.multiply(quotient, by, dtype=np.float64)
        rest = (size - product).astype(a.dtype)
    return rest * np.copysign(a.dtype.type(1), a)


def _rest_of_float64(size, by, quotient):
    """`size - quotient * by`, rounded once; with halves of the divisor's digits all
    steps are exact while the quotient is short.
    """
    high = (by.view(np.int64) & _UPPER_DIGITS).view(np.float64)
    rest = (size - quotient * high) - quotient * (by - high)
    long = quotient >= _SHORT
    if not np.any(long):
        return rest
    rest = np.array(rest)
    parts = (np.broadcast_to(part, rest.shape)[long] for part in (size, by, quotient))
    rest[long] = _long_rest(*parts)
    return rest


def _long_rest(size, by, quotient):
    """The same by digits and exponents apart, so that nothing overflows."""
    without_end = size - quotient * by
    (size, high), (by, low), (digits, up) = map(np.frexp, (size, by, quotient))
    rest = fma(-digits, by, np.ldexp(size, high - low - up))
    return np.where(np.isinf(quotient), without_end, np.ldexp(rest, low + up))


def _real_quotient(a, b):
    """`(a - a % b) / b`, made whole; a zero has the sign of `a / b`."""
    rest = _rest(a, b)
    quotient = (a - rest) / b
    below = (rest != 0) & ((b < 0) != (rest < 0))
    quotient = quotient - below.astype(a.dtype)
    whole = np.floor(quotient)
    whole = whole + (quotient - whole > 0.5).astype(a.dtype)
    usual = (quotient != 0) & (b != 0)
    if np.all(usual):
        return whole
    zero = np.where(b == 0, a / b, quotient * quotient * a / b)
    return np.where(usual, whole, zero)[()]
