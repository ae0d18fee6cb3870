"""Values that are known when a kernel is lowered, as constants of our IR."""

import numpy as np

from . import ir


def constant_value(value, dtype):
    """A Const for a Python value of one of our types, or None."""
    if isinstance(dtype, np.dtype) and isinstance(
        value, (int, float, complex, np.generic)
    ):
        return ir.Const(dtype.type(value))
    if isinstance(dtype, tuple) and isinstance(value, tuple):
        return ir.Const(tuple(d.type(v) for d, v in zip(dtype, value, strict=True)))
    return None


def static_index(part):
    """An index that is written out in the source."""
    if isinstance(part, slice):
        return ir.Slice(
            *(
                None if p is None else ir.Const(np.int64(p))
                for p in (part.start, part.stop, part.step)
            )
        )
    if isinstance(part, int):
        return ir.Const(np.int64(part))
    return part
