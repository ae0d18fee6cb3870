"""Numba's types made into ours: NumPy dtypes, `ir.ArrayType`, tuples, or None."""

import numpy as np
from numba.core import types as core_types
from numba.core.errors import NumbaNotImplementedError
from numba.np import numpy_support

from .ir import ArrayType


def our_type(numba_type):
    """Our type of a Numba type; None for what has no value: a module, a function."""
    kind = type(numba_type).__name__
    if kind in ("IntegerLiteral", "BooleanLiteral"):
        numba_type = numba_type.literal_type
        kind = type(numba_type).__name__
    if kind == "Boolean":
        return np.dtype(np.bool_)
    if kind in ("Integer", "Float", "Complex", "NPDatetime", "NPTimedelta"):
        return np.dtype(_scalar_name(numba_type))
    if kind == "Array" or kind.endswith("Array"):
        return ArrayType(_element(numba_type.dtype), numba_type.ndim)
    if kind == "Record":
        return ArrayType(_element(numba_type), 0)
    if isinstance(getattr(numba_type, "types", None), tuple):
        return tuple(our_type(item) for item in numba_type.types)
    if kind in ("UniTuple", "NamedUniTuple"):
        return (our_type(numba_type.dtype),) * numba_type.count
    return None


def _scalar_name(numba_type):
    return str(numba_type)


def _element(numba_type):
    """The NumPy type of an array's elements, numbers or records; None for others."""
    try:
        return numpy_support.as_dtype(numba_type)
    except (NotImplementedError, NumbaNotImplementedError):
        return None


def named_dtype(value):
    """The dtype that a value names (`float32`, `np.float32`), or None."""
    if isinstance(value, core_types.Type) or type(value).__module__.startswith("numba"):
        found = our_type(value)
        return found if isinstance(found, np.dtype) else None
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    return None
