"""`**` as Numba's code computes it: squares for a whole exponent, CUDA's `pow` for
others, and for whole ones that are large.
"""

import numpy as np

from thirty_two_lanes.language import complex_numbers
from thirty_two_lanes.language.rounding import saturating

LARGEST_LOOP = 0x10000  # Numba's: with larger exponents it calls `pow`


def power(base, exponent):
    """`base ** exponent`."""
    if base.dtype.kind == "c":
        return complex_numbers.power(base, exponent)
    if exponent.dtype.kind not in "iu":
        return real_power(base, exponent)
    size = np.abs(exponent)
    large = (size > LARGEST_LOOP) | (size < 0)
    if np.any(large):
        small = _squares(base, np.where(large, 0, size))
        result = np.where(large, _large_power(base, size), small)
    else:
        result = _squares(base, size)
    if base.dtype.kind == "f":
        return _or_inverse(result, exponent)
    whole = np.where((base == 1) | (~base == 0), result, 0)
    below = np.where(base == 0, _highest_bit(base.dtype), whole)
    return np.where(exponent < 0, below, result)[()]


def real_power(base, exponent):
    """`pow` of C; NumPy's takes a root where the exponent is 0.5 for all."""
    if np.ndim(exponent) == 0 and exponent == 0.5:
        infinity = base.dtype.type(np.inf)
        return np.where(base == -infinity, infinity, np.sqrt(base + 0))[()]
    return np.power(base, exponent)


def static_power(base, exponent):
    """The same of an exponent that Numba knows: it squares, and inverts the result."""
    result = _squares(base, np.abs(exponent))
    if base.dtype.kind == "f":
        return _or_inverse(result, exponent)
    whole = np.where(np.abs(result) == 1, result, 0)
    below = np.where(result == 0, _highest_bit(base.dtype), whole)
    return np.where(exponent < 0, below, result)[()]


def _squares(base, size):
    """A product of squares of the base, in its type."""
    result, square = base.dtype.type(1), base
    while np.any(size):
        result = np.where(size & 1, result * square, result)
        size = size >> 1
        square = square * square
    return result


def _large_power(base, size):
    """`pow` in float64; a whole result is clipped to what its type holds."""
    result = real_power(base.astype(np.float64), size.astype(np.float64))
    if base.dtype.kind == "f":
        return result.astype(base.dtype)
    return saturating(result, base.dtype)


def _or_inverse(result, exponent):
    """One divided by the result, in float64, where the exponent is negative."""
    if not np.any(exponent < 0):
        return result
    inverse = (1 / result.astype(np.float64)).astype(result.dtype)
    return np.where(exponent < 0, inverse, result)[()]


def _highest_bit(dtype):
    """What Numba gives for `0 ** -1`."""
    return dtype.type(1) << dtype.type(8 * dtype.itemsize - 1)
