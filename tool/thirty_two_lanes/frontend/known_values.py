"""Values that are known when a kernel is lowered, as constants of our IR."""

import enum

import numpy as np

from thirty_two_lanes.core import ir


def constant_value(value, dtype):
    """A Const for a Python value of one of our types, or None."""
    value = plain(value)
    if isinstance(dtype, np.dtype) and isinstance(
        value, (int, float, complex, np.generic)
    ):
        return ir.Const(dtype.type(value))
    if isinstance(dtype, tuple) and isinstance(value, tuple):
        items = [constant_value(v, d) for d, v in zip(dtype, value, strict=True)]
        return None if None in items else ir.Const(tuple(i.value for i in items))
    return None


def plain(value):
    """A value as a number: that of a member of an enumeration."""
    return value.value if isinstance(value, enum.Enum) else value


def are_texts(value) -> bool:
    """Is this a string, or a tuple of them?"""
    parts = value if isinstance(value, tuple) and value else (value,)
    return all(isinstance(part, str) for part in parts)


def is_enum_class(value) -> bool:
    """Is this a class of an enumeration?"""
    return isinstance(value, enum.EnumMeta)


def static_index(part):
    """An index that is written out in the source."""
    if isinstance(part, slice):
        return ir.Slice(*map(static_index, (part.start, part.stop, part.step)))
    if isinstance(part, int):
        return ir.Const(np.int64(part))
    return part
