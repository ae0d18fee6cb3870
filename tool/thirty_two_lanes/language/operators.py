"""What each operator of the IR computes, lane by lane: one table, and the conversions
of a GPU.

An entry is Python source with a place for each operand; operands already have the types
that Numba inferred, so that NumPy computes in those types. FUNCTIONS has what is called
by name. Two terms of a product and a sum are not fused into one rounding. Not modelled:
the compiler's contraction (FMA).
"""

import operator

import numpy as np

from thirty_two_lanes.language import (
    comparison,
    complex_numbers,
    float16,
    libdevice,
    math_functions,
    rounding,
)
from thirty_two_lanes.language.comparison import greater, lesser
from thirty_two_lanes.language.division import floor_divide, modulo
from thirty_two_lanes.language.math_functions import left_shift, right_shift
from thirty_two_lanes.language.powers import power, static_power

UFUNCS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}  # may take `out`

PYTHON_OPERATORS = {
    getattr(operator, name): name.rstrip("_")
    for name in (
        "add sub mul truediv floordiv mod pow "
        "lshift rshift and_ or_ xor lt le gt ge eq ne "
    ).split()
}

OPERATORS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "truediv": "{} / {}",
    "floordiv": "floor_divide({}, {})",
    "mod": "modulo({}, {})",
    "pow": "power({}, {})",
    "static pow": "static_power({}, {})",
    "lshift": "left_shift({}, {})",
    "rshift": "right_shift({}, {})",
    "and": "{} & {}",
    "or": "{} | {}",
    "xor": "{} ^ {}",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "ge": "{} >= {}",
    "eq": "{} == {}",
    "ne": "{} != {}",
    "neg": "-{}",
    "pos": "+{}",
    "invert": "~{}",
    "not": "np.logical_not({})",
    "abs": "np.abs({})",
    "round": "np.rint({})",
    "min": "lesser({}, {})",
    "max": "greater({}, {})",
    "real": "np.real({})",
    "imag": "np.imag({})",
    "in range": "in_range({}, {}, {})",
    "choose": "choose({}, {})",
    "view": "{}.view({}.dtype)",
    "cuda.selp": "np.where({}, {}, {})[()]",
}

FUNCTIONS = {
    **math_functions.FUNCTIONS,
    **float16.FUNCTIONS,
    **libdevice.FUNCTIONS,
    "cuda.fma": rounding.fma,
    "complex mul": complex_numbers.multiply,
    "complex div": complex_numbers.divide,
    "fmin": comparison.fmin,
    "fmax": comparison.fmax,
}


def source(name: str, operands: list[str]) -> str:
    """The Python expression of an operator on operands that are expressions."""
    if name == "choose":
        return f"choose({operands[0]}, ({', '.join(operands[1:])},))"
    if name in FUNCTIONS:
        return f"functions[{name!r}]({', '.join(operands)})"
    return OPERATORS[name].format(*operands)


def convert(value, dtype):
    """A value in another type as the GPU converts: floats to integers saturate, at 16
    bits where fewer are wanted, and truncate; a float16 goes to the nearest.
    """
    if value.dtype == dtype:
        return value
    if dtype.kind in "iu" and value.dtype.kind == "f":
        if value.dtype.itemsize == 2:
            return rounding.saturating(np.rint(value), dtype)
        wide = np.dtype(f"{dtype.kind}{max(dtype.itemsize, 2)}")
        return rounding.saturating(value, wide).astype(dtype, copy=False)
    return value.astype(dtype)


def in_range(value, stop, step):
    """Does a range go on with `value`?"""
    if isinstance(step, np.generic):
        return value < stop if step > 0 else value > stop
    return np.where(step > 0, value < stop, value > stop)


def choose(index, items):
    """The item of a tuple at an index that the lanes computed."""
    if isinstance(items[0], tuple):
        return tuple(choose(index, parts) for parts in zip(*items, strict=True))
    result = items[0]
    for number, item in enumerate(items[1:], 1):
        result = np.where(
            (index == number) | (index == number - len(items)), item, result
        )
    return result[()]


def compute_into(ufunc, left, right, spare):
    """`ufunc(left, right)`, in the memory of `spare`, one of them, where it fits."""
    other = right if spare is left else left
    fits = spare.ndim and (spare.shape == other.shape or other.ndim == 0)
    if fits and spare.dtype == other.dtype:
        return ufunc(left, right, spare)
    return ufunc(left, right)


NAMESPACE = {
    "np": np,
    "functions": FUNCTIONS,
    **{
        function.__name__: function
        for function in (
            *(power, static_power, floor_divide, modulo, left_shift, right_shift),
            *(lesser, greater, in_range, choose, convert, compute_into),
        )
    },
}
