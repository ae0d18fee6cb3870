"""The lesser and the greater of two numbers, with NaN and zeros of both signs.

`lesser` and `greater` compare, as Python's min and max do: the second number is chosen
if it is less, or greater. `fmin` and `fmax` are CUDA's instructions: a number wins over
NaN, and -0 is less than 0. NumPy's own choose among zeros as the layout has it.
"""

import numpy as np


def lesser(a, b):
    """b where it is less than a, or else a."""
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    return _of_zeros(np.minimum(a, np.fmin(a, b)), a, b, lambda x, y: x)


def greater(a, b):
    """b where it is greater than a, or else a."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    return _of_zeros(np.maximum(a, np.fmax(a, b)), a, b, lambda x, y: x)


def fmin(a, b):
    """The lesser number; -0 of two zeros."""
    return _of_zeros(np.fmin(a, b), a, b, np.bitwise_or)


def fmax(a, b):
    """The greater number; 0 of two zeros."""
    return _of_zeros(np.fmax(a, b), a, b, np.bitwise_and)


def minimum(a, b):
    """The lesser, or NaN; -0 of two zeros."""
    return _of_zeros(np.minimum(a, b), a, b, np.bitwise_or)


def maximum(a, b):
    """The greater, or NaN; 0 of two zeros."""
    return _of_zeros(np.maximum(a, b), a, b, np.bitwise_and)


def first(ufunc):
    """One of NumPy's four functions, with the first of two zeros."""
    return lambda a, b: _of_zeros(ufunc(a, b), a, b, lambda x, y: x)


def _of_zeros(result, a, b, choose):
    """A result; of two zeros, what `choose` makes of their bits."""
    if result.dtype.kind != "f" or result.all():
        return result
    bits = f"u{result.dtype.itemsize}"
    zero = choose(a.view(bits), b.view(bits)).view(result.dtype)
    return np.where((a == 0) & (b == 0), zero, result)[()]
