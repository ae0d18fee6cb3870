"""Complex arithmetic as Numba's code computes it, part by part: the same in every
layout, which NumPy's own is not. Not modelled: the compiler's contraction (FMA).
"""

import numpy as np


def make_complex(real, imaginary):
    """A complex number of its parts."""
    result = np.empty(np.broadcast(real, imaginary).shape, np.result_type(real, 1j))
    result.real, result.imag = real, imaginary
    return result[()]


def multiply(a, b):
    """`a * b`."""
    real = a.real * b.real - a.imag * b.imag
    return make_complex(real, a.real * b.imag + a.imag * b.real)


def divide(a, b):
    """`a / b`: Smith's method, as in CPython."""
    real, imaginary, scale = _smith(a, b)
    return make_complex(real / scale, imaginary / scale)


def ufunc_divide(a, b):
    """`np.divide(a, b)`: the same, and by zero its parts by those zeros."""
    if a.dtype.kind != "c":
        return np.divide(a, b)
    real, imaginary, scale = _smith(a, b)
    once = a.real.dtype.type(1) / scale
    zero = (b.real == 0) & (b.imag == 0)
    return make_complex(
        np.where(zero, a.real / b.real, real * once),
        np.where(zero, a.imag / b.imag, imaginary * once),
    )


def _smith(a, b):
    """A quotient's parts, and what both are to be divided by."""
    by_real = np.abs(b.real) >= np.abs(b.imag)
    more, less = np.where(by_real, (b.real, b.imag), (b.imag, b.real))
    ratio = less / more
    real = np.where(by_real, a.real + a.imag * ratio, a.real * ratio + a.imag)
    imaginary = np.where(by_real, a.imag - a.real * ratio, a.imag * ratio - a.real)
    return real, imaginary, more + less * ratio


def power(a, b):
    """`a ** b`: by length and angle, as in CPython."""
    size, angle = np.hypot(a.real, a.imag), np.arctan2(a.imag, a.real)
    length, phase = np.power(size, b.real), angle * b.real
    turns = b.imag != 0
    length = np.where(turns, length / np.exp(angle * b.imag), length)
    phase = np.where(turns, phase + b.imag * np.log(size), phase)
    direction = make_complex(np.cos(phase), np.sin(phase))
    result = multiply(make_complex(length, np.zeros_like(length)), direction)
    one, zero = a.dtype.type(1), a.dtype.type(0)
    result = np.where((a.real == 0) & (b.real == 0), zero, result)
    return np.where((b.real == 0) & (b.imag == 0), one, result)[()]
