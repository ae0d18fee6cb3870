"""NumPy's own loops, to be called from machine code: what a function of the table
computes there has the bits that it has here.

A ufunc's C structure, public since NumPy 1.0 (numpy/ufuncobject.h), lists its loops in
the order of `ufunc.types`. Each is tried before it is trusted.
"""

import ctypes
from functools import cache

import numpy as np

from thirty_two_lanes.language.operators import FUNCTIONS

LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)  # cells, count, steps, data


class _Ufunc(ctypes.Structure):
    """What comes behind the head of every Python object."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    ]


@cache
def loop_of(name, dtypes):
    """The address of a function's loop for floats of these types, and that of its
    data; or None.
    """
    ufunc = FUNCTIONS.get(name)
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1 or ufunc.nin != len(dtypes):
        return None
    if any(dtype.kind != "f" or dtype != dtypes[0] for dtype in dtypes):
        return None
    char = dtypes[0].char
    wanted = f"{char * ufunc.nin}->{char}"
    if char not in "fd" or wanted not in ufunc.types:
        return None
    known = _Ufunc.from_address(id(ufunc) + object.__basicsize__)
    if (known.nin, known.nout, known.ntypes) != (ufunc.nin, 1, ufunc.ntypes):
        return None
    place = ufunc.types.index(wanted)
    found = known.functions[place], (known.data[place] or 0) if known.data else 0
    return found if _agrees(ufunc, found, dtypes[0]) else None


def _agrees(ufunc, found, dtype) -> bool:
    """Does a loop give for single numbers what its function gives for many?"""
    numbers = np.linspace(-20, 20, 64).astype(dtype)
    inputs = [np.roll(numbers, shift) for shift in range(ufunc.nin)]
    result = np.zeros_like(numbers)
    one = (ctypes.c_int64 * 1)(1)
    steps = (ctypes.c_int64 * (ufunc.nin + 1))(*[dtype.itemsize] * (ufunc.nin + 1))
    loop = LOOP(found[0])
    starts = [a.__array_interface__["data"][0] for a in (*inputs, result)]
    for offset in range(0, numbers.nbytes, dtype.itemsize):
        cells = (ctypes.c_void_p * len(starts))(*(s + offset for s in starts))
        loop(cells, one, steps, found[1])
    with np.errstate(all="ignore"):
        return result.tobytes() == ufunc(*inputs).tobytes()
