"""`cmath` as Numba's code computes it, from functions of real numbers: with its NaNs,
infinities and zeros. Not modelled: the last bits of libdevice, and contraction (FMA).
"""

import numpy as np

from thirty_two_lanes.language.complex_numbers import make_complex

_LARGEST = float(np.finfo(np.float32).max)
_LEAST = float(np.finfo(np.float32).tiny)
_LOG_4 = np.log(4.0)


def _of_parts(function):
    """A function of a complex number, made of one of its parts that returns parts."""

    def of_complex(value):
        parts = function(value.real, value.imag)
        return make_complex(*(part.astype(value.real.dtype) for part in parts))

    return of_complex


def _turned(function, back=lambda real, imaginary, x, y: (imaginary, -real)):
    """A function by way of another: `-j * function(j * value)`."""

    def of_parts(x, y):
        return back(*function(-y, x), x, y)

    return of_parts


def _exp(x, y):
    size, cosine, sine = np.exp(x), np.cos(y), np.sin(y)
    real, imaginary = size * cosine, size * sine
    endless = np.isinf(x) & (x > 0)
    real = np.where(endless & (cosine == 0), cosine, real)
    imaginary = np.where(endless & (sine == 0), sine, imaginary)
    odd = np.isnan(y) | np.isinf(y)
    real = np.where(endless & odd, x, real)
    imaginary = np.where(np.isnan(x) & (y == 0), y, imaginary)
    nothing = odd & np.isinf(x) & (x < 0)
    return np.where(nothing, 0, real), np.where(nothing, 0, imaginary)


def _sqrt(x, y):
    large = (np.abs(x) >= _most(x)) | (np.abs(y) >= _most(x))
    a, b = np.where(large, x * 0.25, x), np.where(large, y * 0.25, y)
    root = np.sqrt((np.abs(a) + np.hypot(a, b)) * 0.5)
    right = a >= 0
    real = np.where(right, root, np.abs(b) / (2 * root))
    imaginary = np.where(right, b / (2 * root), np.copysign(root, b))
    real = np.where(large, real * 2, real)  # as Numba has it: the real part alone
    left, zero = x < 0, y - y
    end = np.isinf(x)
    real = np.where(end, np.where(left, np.abs(zero), x), real)
    imaginary = np.where(end, np.copysign(np.where(left, x, zero), y), imaginary)
    real, imaginary = (np.where(np.isnan(x), x, part) for part in (real, imaginary))
    plain = ((x == 0) & (y == 0)) | np.isinf(y)
    return np.where(plain, np.abs(y), real), np.where(plain, y, imaginary)


def _most(x):
    """Where a square root could overflow."""
    return float(np.finfo(x.dtype).max) / (1 + np.sqrt(2))


def _cosh(x, y):
    cosine, sine = np.cos(y), np.sin(y)
    plain = np.isnan(y) | (y == 0)
    real = np.where(plain, np.abs(x), np.copysign(x, cosine))
    imaginary = np.where(plain, y, np.copysign(x, sine))
    imaginary = np.where(x < 0, -imaginary, imaginary)
    end = np.isinf(x)
    return (
        np.where(end, real, cosine * np.cosh(x)),
        np.where(end, imaginary, sine * np.sinh(x)),
    )


def _sinh(x, y):
    cosine, sine = np.cos(y), np.sin(y)
    real = np.where(np.isnan(y), x, np.where(cosine == 0, cosine, cosine * x))
    imaginary = np.where(sine == 0, sine, sine * np.abs(x))
    end = np.isinf(x)
    return (
        np.where(end, real, cosine * np.sinh(x)),
        np.where(end, imaginary, sine * np.cosh(x)),
    )


def _tanh(x, y):
    high, turn, low = np.tanh(x), np.tan(y), 1.0 / np.cosh(x)
    scale = 1.0 + (high * turn) ** 2
    real, imaginary = high * (1.0 + turn * turn) / scale, turn / scale * low * low
    still = np.where(np.isinf(y), 0.0, np.copysign(0.0, np.sin(2.0 * y)))
    end = np.isinf(x)
    return np.where(end, np.copysign(1.0, x), real), np.where(end, still, imaginary)


def _roots(x, y):
    """The square roots of `1 - value` and `1 + value`."""
    return *_sqrt(1.0 - x, -y), *_sqrt(1.0 + x, y)


def _far(x, y):
    """Is a number large? And the logarithm of its size."""
    size = np.log(np.hypot(x * 0.5, y * 0.5)) + _LOG_4
    return (np.abs(x) > _LARGEST / 4) | (np.abs(y) > _LARGEST / 4), size


def _acos(x, y):
    far, size = _far(x, y)
    a, b, c, d = _roots(x, y)
    real = np.where(far, np.arctan2(np.abs(y), x), 2.0 * np.arctan2(a, c))
    return real, np.where(far, np.copysign(size, -y), np.arcsinh(c * b - d * a))


def _acosh(x, y):
    far, size = _far(x, y)
    (a, b), (c, d) = _sqrt(x - 1.0, y), _sqrt(x + 1.0, y)
    imaginary = np.where(far, np.arctan2(y, x), 2.0 * np.arctan2(b, c))
    return np.where(far, size, np.arcsinh(a * c + b * d)), imaginary


def _asinh(x, y):
    far, size = _far(x, y)
    (a, b), (c, d) = _sqrt(1.0 + y, -x), _sqrt(1.0 - y, x)
    real = np.where(far, np.copysign(size, x), np.arcsinh(a * d - c * b))
    near = np.arctan2(y, a * c - b * d)
    return real, np.where(far, np.arctan2(y, np.abs(x)), near)


def _atanh(x, y):
    sign = np.where(x < 0, -1.0, 1.0).astype(x.dtype)
    real, imaginary = _right_atanh(x * sign, y * sign)
    return real * sign, np.where(np.isnan(y), y, imaginary) * sign


def _right_atanh(x, y):
    """The same where no real part is negative."""
    height, rest = np.abs(y), 1 - x
    real = np.log1p(4.0 * x / (rest * rest + height * height)) * 0.25
    imaginary = -np.arctan2(-2.0 * y, rest * (1 + x) - height * height) * 0.5
    pole = (x == 1) & (height < np.sqrt(_LEAST))
    above = -np.log(np.sqrt(height) / np.sqrt(np.hypot(height, 2.0)))
    beside = np.copysign(np.arctan2(2.0, -height) / 2, y)
    real = np.where(pole, np.where(height == 0, np.inf, above), real)
    imaginary = np.where(pole, np.where(height == 0, y, beside), imaginary)
    limit = np.sqrt(_LARGEST / 4)
    far = np.isnan(x) | (x > limit) | (height > limit)
    half = np.hypot(x * 0.5, y * 0.5)
    flat = np.where(np.isinf(x), 0.0, x / 4.0 / half / half)
    flat = np.where(np.isinf(y), np.copysign(0.0, x), flat)
    side = -np.copysign(np.pi / 2, -y)
    return np.where(far, flat, real), np.where(far, side, imaginary)


def _back_from_atanh(real, imaginary, x, y):
    return imaginary, np.where(np.isinf(x) & np.isnan(y), real, -real)


def rect(radius, angle):
    """The complex number at a distance and an angle."""
    parts = []
    for part in (np.cos(angle), np.sin(angle)):
        at_zero = (part == 0) & np.isinf(radius)
        parts.append(np.where(at_zero, part / radius, part * radius))
    odd = ~np.isfinite(angle)
    zero, end = odd & (radius == 0), odd & np.isinf(radius)
    real = np.where(zero, np.abs(radius), np.where(end, radius, parts[0]))
    imaginary = np.where(zero, 0, np.where(end, angle, parts[1]))
    dtype = parts[0].dtype
    return make_complex(real.astype(dtype), imaginary.astype(dtype))


FUNCTIONS = {
    f"cmath.{name}": _of_parts(function)
    for name, function in {
        "exp": _exp,
        "sqrt": _sqrt,
        "cosh": _cosh,
        "sinh": _sinh,
        "tanh": _tanh,
        "cos": lambda x, y: _cosh(-y, x),
        "sin": _turned(_sinh),
        "tan": _turned(_tanh),
        "acos": _acos,
        "acosh": _acosh,
        "asinh": _asinh,
        "atanh": _atanh,
        "asin": _turned(_asinh),
        "atan": _turned(_atanh, _back_from_atanh),
    }.items()
} | {"cmath.rect": rect}
