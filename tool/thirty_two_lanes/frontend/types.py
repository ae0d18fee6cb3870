"""Numba's types made into ours: NumPy dtypes, `ir.ArrayType`, tuples, or None."""

import numpy as np
from numba import typeof
from numba.core import types as core_types
from numba.core.errors import NumbaNotImplementedError
from numba.np import numpy_support

from thirty_two_lanes.core.ir import ArrayType, Optional


def our_type(numba_type):
    """Our type of a Numba type; None for what has no value: a module, a function."""
    kind = type(numba_type).__name__
    if kind in ("IntegerLiteral", "BooleanLiteral"):
        numba_type = numba_type.literal_type
        kind = type(numba_type).__name__
    if kind == "Boolean":
        return np.dtype(np.bool_)
    if kind in ("Integer", "Float", "Complex", "NPDatetime", "NPTimedelta"):
        return np.dtype(str(numba_type))
    if kind in ("Array", "Bytes") or kind.endswith("Array"):
        return ArrayType(_element(numba_type.dtype), numba_type.ndim)
    if kind == "Record":
        return ArrayType(_element(numba_type), 0)
    if isinstance(getattr(numba_type, "types", None), tuple):
        return tuple(our_type(item) for item in numba_type.types)
    if kind.endswith("UniTuple"):
        return (our_type(numba_type.dtype),) * numba_type.count
    if is_vector(numba_type):
        return (our_type(numba_type.base_type),) * numba_type.num_elements
    if kind in ("EnumMember", "IntEnumMember"):
        return our_type(numba_type.dtype)
    if kind == "Optional":
        return Optional(our_type(numba_type.type))
    if kind == "Omitted":
        return our_type(typeof(numba_type.value))
    return None


def is_vector(numba_type) -> bool:
    """Is this one of CUDA's vectors, such as `float4`?"""
    return hasattr(numba_type, "base_type") and hasattr(numba_type, "attr_names")


def is_text(numba_type) -> bool:
    """Is this the type of a string?"""
    return type(numba_type).__name__ in ("UnicodeType", "StringLiteral")


def field_names(numba_type) -> tuple:
    """The names of what a named tuple or a vector is made of."""
    return tuple(getattr(numba_type, "fields", getattr(numba_type, "attr_names", ())))


def loop_of(ufunc, numba_types):
    """The types that a ufunc of NumPy computes in: of its operands, and of its result.

    Numba's own choice, of the loops that it has for a GPU.
    """
    scalars = [getattr(t, "dtype", t) for t in numba_types]
    loop = numpy_support.ufunc_find_matching_loop(ufunc, scalars)
    return tuple(map(our_type, loop.inputs)), our_type(loop.outputs[0])


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
