"""Numba's types of a launch's arguments; what a kernel cannot take is refused here."""

import contextlib
import inspect

import numpy as np

from thirty_two_lanes.core.errors import (
    KernelError,
    LaunchError,
    shown,
    with_article,
)
from thirty_two_lanes.core.ir import ArrayType
from thirty_two_lanes.frontend.kernels import argument_names
from thirty_two_lanes.frontend.types import our_type


def argument_types(kernel, arguments) -> tuple:
    """Numba's types of a launch's arguments; raises LaunchError."""
    names = argument_names(kernel)
    if len(arguments) != len(names):
        raise LaunchError(
            f"`{kernel.py_func.__name__}` takes {len(names)} arguments "
            f"({', '.join(names)}) but got {len(arguments)}"
        )
    named = zip(arguments, names, strict=True)
    if kernel.specialized:  # by one signature, and launched without a look at types
        for argument, name in named:
            if not isinstance(argument, int):  # which may have any number of bits
                _type(kernel, argument, name)
        return next(iter(kernel.overloads))
    types = tuple(_type(kernel, argument, name) for argument, name in named)
    return types if kernel._can_compile else _chosen(kernel, arguments, types)


def _chosen(kernel, arguments, types) -> tuple:
    """The types of the signature that Numba's own dispatcher chooses of several."""
    try:
        return kernel._cuda_call(*arguments).argument_types
    except TypeError as error:
        what = "fit none of them"
        if "Ambiguous" in str(error):
            what = "fit more than one of them alike"
        signatures = " or ".join(map(_listed, kernel.overloads))
        raise KernelError(
            f"`{kernel.py_func.__name__}` was compiled for {signatures} only, and the "
            f"arguments of this launch, {_listed(types)}, {what}: change the signature "
            "or the arguments"
        ) from error


def _listed(types) -> str:
    return f"({', '.join(map(str, types))})"


def _type(kernel, argument, name):
    """Numba's type of an argument."""
    found = None
    with contextlib.suppress(Exception):
        found = kernel.typeof_pyval(argument)
    if found is None or not _is_known(our_type(found), argument):
        raise LaunchError(f"argument `{name}` {_unusable(argument)}")
    return found


def _is_known(ours, argument) -> bool:
    """Has an argument of this type of ours a value in kernels? None has none, and may
    be passed.
    """
    if isinstance(ours, tuple) and isinstance(argument, tuple):
        return all(map(_is_known, ours, argument))
    if isinstance(ours, ArrayType):
        return ours.dtype is not None and ours.dtype.kind not in "OUS"
    return ours is not None or argument is None


def _unusable(argument) -> str:
    """Why a kernel cannot take an argument, and what to pass instead."""
    if type(argument) is np.ndarray or hasattr(argument, "__cuda_array_interface__"):
        dtype = np.dtype(argument.dtype)
        return f"is an array of {_ELEMENTS.get(dtype.kind, _OTHERS).format(dtype)}"
    if isinstance(argument, int):
        return f"is {shown(argument)}, which does not fit into 64 bits"
    if isinstance(argument, tuple):
        kinds = [type(item).__name__ for item in _leaves(argument)]
        return f"is a tuple of {', '.join(dict.fromkeys(kinds))}: {_TAKES}"
    if hasattr(argument, "py_func") or inspect.isroutine(argument):
        function = getattr(argument, "py_func", argument)
        return (
            f"is the function `{function.__name__}`, which cannot be passed to a "
            "kernel: let the kernel call it by its name"
        )
    return f"is {with_article(type(argument).__name__)}: {_TAKES}{_instead(argument)}"


def _leaves(items):
    """The items of a tuple, and of the tuples in it."""
    for item in items:
        yield from _leaves(item) if isinstance(item, tuple) else (item,)


_TEXTS = (
    "texts ({}), which kernels here cannot read: pass numbers that stand for them, as "
    "`np.unique(…, return_inverse=True)` gives"
)
_OTHERS = "{}, which a GPU does not support: convert it, as with `.astype(np.float32)`"
_ELEMENTS = {
    "U": _TEXTS,
    "S": _TEXTS,
    "O": "Python objects, which cannot go to a GPU: give it a type, as with "
    "`np.array(…, dtype=np.float32)`",
}
_TAKES = "a kernel takes NumPy or device arrays, numbers, and tuples of numbers"


def _instead(argument) -> str:
    """How to make an array of what is none."""
    if hasattr(argument, "to_numpy"):
        return ". Pass an array of its numbers: `.to_numpy()`"
    if isinstance(argument, list):
        return " (np.array(…) makes an array from a list)"
    if isinstance(argument, (set, frozenset, dict)):
        return " (np.array(list(…)) makes an array of its items)"
    if isinstance(argument, np.generic):
        return ""
    if hasattr(argument, "__array__") or isinstance(argument, (memoryview, range)):
        return " (np.asarray(…) makes an array of it)"
    return ""
