"""`cuda.fp16`: functions of float16, one row each.

NumPy computes a float16 in float32 and rounds once, as the instructions for float16 do.
Not modelled: the last bit of the approximations (`hsin`, `hexp`, `htanh_approx`, …).
"""

import operator

import numpy as np

from thirty_two_lanes.language import comparison
from thirty_two_lanes.language.rounding import (
    MODES,
    TO_WHOLE,
    fma,
    rounded,
    saturating,
    to_float,
)

FLOAT16 = np.dtype(np.float16)


def _saturated(function):
    """Clipped to 0 … 1; a NaN becomes 0."""

    def clipped(*operands):
        result = function(*operands)
        inside = np.clip(result, FLOAT16.type(0), FLOAT16.type(1)) + FLOAT16.type(0)
        return np.where(np.isnan(result), FLOAT16.type(0), inside)[()]

    return clipped


def _relu(*operands):
    result = fma(*operands)
    return np.where(result <= 0, FLOAT16.type(0), result)[()]


def _or_unordered(compare):
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def _unequal(a, b):
    return (a != b) & ~np.isnan(a) & ~np.isnan(b)


def _sign_of_infinity(a):
    return np.where(np.isinf(a), np.copysign(1, a), 0).astype(np.int32)[()]


def _via_float32(function):
    return lambda a: function(a.astype(np.float32)).astype(FLOAT16)[()]


def _to_whole(mode, dtype):
    return lambda a: saturating(TO_WHOLE[mode](a), np.dtype(dtype))


def _from_double(value):
    return rounded("rn", value.astype(FLOAT16), 0)


_ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_ORDER = {name: getattr(operator, name) for name in ("eq", "ge", "gt", "le", "lt")} | {
    "ne": _unequal
}
_WHOLE = {
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "ll": np.int64,
    "ull": np.uint64,
}

_ROWS = {
    **{f"__h{name}": function for name, function in _ARITHMETIC.items()},
    **{f"__h{name}_rn": function for name, function in _ARITHMETIC.items()},
    **{f"__h{n}_sat": _saturated(function) for n, function in _ARITHMETIC.items()},
    **{f"__h{name}": function for name, function in _ORDER.items()},
    **{f"__h{name}u": _or_unordered(f) for name, f in _ORDER.items()},
    "__hdiv": operator.truediv,
    "__hfma": fma,
    "__hfma_sat": _saturated(fma),
    "__hfma_relu": _relu,
    "__hneg": operator.neg,
    "__habs": np.abs,
    "__hisnan": np.isnan,
    "__hisinf": _sign_of_infinity,
    "__hmax": comparison.fmax,
    "__hmin": comparison.fmin,
    "__hmax_nan": comparison.maximum,
    "__hmin_nan": comparison.minimum,
    "hrcp": lambda a: FLOAT16.type(1) / a,
    "hrsqrt": _via_float32(lambda a: np.float32(1) / np.sqrt(a)),
    "hexp10": _via_float32(lambda a: np.float32(10) ** a),
    "htanh_approx": np.tanh,
    "__half2float": lambda a: a.astype(np.float32),
    "__double2half": _from_double,
    "__float2half": _from_double,
    "__half_as_short": lambda a: a.view(np.int16),
    "__half_as_ushort": lambda a: a.view(np.uint16),
    "__short_as_half": lambda a: a.view(FLOAT16),
    "__ushort_as_half": lambda a: a.view(FLOAT16),
    "__half2char_rz": _to_whole("rz", np.int8),
    "__half2uchar_rz": _to_whole("rz", np.uint8),
    **{
        f"__half2{name}_{mode}": _to_whole(mode, dtype)
        for name, dtype in _WHOLE.items()
        for mode in MODES
    },
    **{
        f"__{name}2half_{mode}": to_float(mode, FLOAT16)
        for name in (*_WHOLE, "float")
        for mode in MODES
    },
    **{
        f"h{name}": getattr(np, name)
        for name in (
            "sin cos log log2 log10 exp exp2 sqrt tanh floor ceil rint trunc "
        ).split()
    },
}

_SHORT = {name[2:]: row for name, row in _ROWS.items() if name.startswith("__h")}
FUNCTIONS = {f"cuda.fp16.{name}": row for name, row in {**_SHORT, **_ROWS}.items()}
