"""The dotted names that kernels know functions by, however they were imported."""

import cmath
import functools
import math

import numba.cuda
import numba.cuda.libdevice
import numpy as np

from thirty_two_lanes.language.operators import FUNCTIONS, OPERATORS
from thirty_two_lanes.language.warp_intrinsics import (
    ATOMICS,
    BARRIERS,
    CACHE_HINTS,
    INTRINSICS,
)

_ROOTS = {"cuda": numba.cuda, "math": math, "cmath": cmath, "np": np}


def dotted_name(value) -> str | None:
    """`cuda.grid` for that function, whatever the kernel calls it; None for what has no
    name.
    """
    try:
        return _names().get(value)
    except TypeError:
        return None


@functools.cache
def _names():
    known = {
        *INTRINSICS,
        *ATOMICS,
        *BARRIERS,
        *CACHE_HINTS,
        *OPERATORS,
        *FUNCTIONS,
        "cuda.shared.array",
        "cuda.local.array",
        "cuda.const.array_like",
    }
    dotted = {name for name in known if name.split(".")[0] in _ROOTS and "." in name}
    names = {}
    for name in sorted(dotted):
        root, *path = name.split(".")
        value = _ROOTS[root]
        for part in path:
            if part in "xyz" and len(path) == 2:
                name = f"{root}.{path[0]}"
                break
            value = getattr(value, part, None)
        if value is not None:
            names.setdefault(value, name)
    return names
