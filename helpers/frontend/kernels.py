"""A kernel as Numba's dispatcher has it: what stands between a launch's brackets, its
arguments' names and types. What no launch can be is refused here.
"""

import contextlib
import inspect

import numpy as np

from helpers.core import hardware
from helpers.core.errors import KernelError, LaunchError
from helpers.core.ir import ArrayType
from helpers.frontend.types import our_type


def is_kernel(value) -> bool:
    """Is this what `@cuda.jit` makes of a function?"""
    return hasattr(value, "py_func") and hasattr(value, "targetoptions")


def bracketed(config) -> tuple:
    """What stands between a launch's brackets; raises LaunchError."""
    if not isinstance(config, tuple) or not 2 <= len(config) <= 4:
        raise LaunchError("a launch needs both in its brackets: [blocks, threads]")
    return config


def configuration(blocks, threads, stream=0, shared_bytes=0):
    """A launch configuration, each dimension three numbers; raises LaunchError."""
    if not isinstance(shared_bytes, (int, np.integer)) or shared_bytes < 0:
        raise LaunchError(
            "the fourth value in the brackets is the dynamic shared memory in bytes, a "
            f"whole number, 0 or more, not {shared_bytes!r}"
        )
    grid_dim = _dimensions(blocks, "blocks", hardware.MAX_GRID_DIM)
    block_dim = _dimensions(threads, "threads", hardware.MAX_BLOCK_DIM)
    most = hardware.H200.multiprocessor.shared_bytes_per_block
    if shared_bytes > most:
        raise LaunchError(
            f"{shared_bytes:,} bytes of dynamic shared memory are too many: a block "
            f"gets at most {most:,} on an H200"
        )
    return grid_dim, block_dim, int(shared_bytes)


def _dimensions(value, what, limits):
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3 or not all(
        isinstance(p, (int, np.integer)) for p in parts
    ):
        raise LaunchError(
            f"the number of {what} must be a whole number or up to three of them, "
            f"not {value!r}"
            + (
                ": use `//` instead of `/` to divide"
                if any(isinstance(p, float) for p in parts)
                else ""
            )
        )
    parts = tuple(int(p) for p in parts)
    total = int(np.prod(parts))
    if what == "threads" and total > hardware.MAX_THREADS_PER_BLOCK:
        raise LaunchError(
            f"{' × '.join(f'{p:,}' for p in parts)} threads per block are too many: "
            f"a block holds at most {hardware.MAX_THREADS_PER_BLOCK:,}. Use smaller "
            "blocks, and more of them"
        )
    for part, limit in zip(parts, limits, strict=False):
        if part < 1:
            raise LaunchError(
                f"a launch needs at least 1 along each axis of its {what}, but got "
                f"{value!r}"
            )
        if part > limit:
            raise LaunchError(
                f"{part:,} {what} along one axis are too many: at most {limit:,}"
            )
    return parts + (1,) * (3 - len(parts))


def argument_names(kernel) -> tuple[str, ...]:
    """The names of a kernel's arguments, in their order."""
    code = kernel.py_func.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or (
        code.co_kwonlyargcount
    ):
        raise LaunchError(
            f"`{kernel.py_func.__name__}` has arguments with `*`, which a kernel "
            "cannot have: name each argument"
        )
    return code.co_varnames[: code.co_argcount]


def argument_types(kernel, arguments) -> tuple:
    """Numba's types of a launch's arguments; raises LaunchError."""
    names = argument_names(kernel)
    if len(arguments) != len(names):
        raise LaunchError(
            f"`{kernel.py_func.__name__}` takes {len(names)} arguments "
            f"({', '.join(names)}) but got {len(arguments)}"
        )
    types = tuple(_type(kernel, a, n) for a, n in zip(arguments, names, strict=True))
    return _declared(kernel, types)


def _declared(kernel, types):
    """The argument types of the eager signature that is nearest to these, or these."""
    if kernel._can_compile:
        return types
    found = min(kernel.overloads, key=lambda declared: _distance(declared, types))
    if _distance(found, types) == np.inf:
        signatures = " or ".join(_listed(declared) for declared in kernel.overloads)
        raise KernelError(
            f"`{kernel.py_func.__name__}` was compiled for {signatures} only, but this "
            f"launch passes {_listed(types)}: change the signature or the arguments"
        )
    return found


def _listed(types) -> str:
    return f"({', '.join(map(str, types))})"


def _distance(declared, types) -> float:
    """How far these types are from declared ones: arrays must be of their kind, numbers
    may be converted.
    """
    total = 0
    for ours, other in zip(declared, types, strict=True):
        ours, other = our_type(ours), our_type(other)
        if not isinstance(ours, np.dtype) or not isinstance(other, np.dtype):
            total += 0 if ours == other else 1 if _same_bits(ours, other) else np.inf
        elif ours != other:
            total += 1 if np.can_cast(other, ours) else 2
    return total


def _same_bits(ours, other) -> bool:
    """Are these arrays of whole numbers of one size? Numba accepts either."""
    both = (ours, other)
    if not all(isinstance(array, ArrayType) for array in both):
        return False
    sizes = {(array.ndim, array.dtype.itemsize) for array in both}
    return len(sizes) == 1 and all(array.dtype.kind in "iu" for array in both)


def _type(kernel, argument, name):
    """Numba's type of an argument."""
    found = None
    with contextlib.suppress(Exception):
        found = kernel.typeof_pyval(argument)
    unknown = found is None or our_type(found) is None and argument is not None
    if unknown:
        raise LaunchError(f"argument `{name}` {_unusable(argument)}")
    return found


def _unusable(argument) -> str:
    """Why a kernel cannot take an argument."""
    if type(argument) is np.ndarray:
        return (
            f"is an array of {argument.dtype}, which a GPU does not support: convert "
            "it, as with `.astype(np.float32)`"
        )
    if isinstance(argument, int):
        return f"is {argument}, which does not fit into 64 bits"
    hint = " (np.array(…) makes an array from a list)"
    return (
        f"is a {type(argument).__name__}: a kernel takes NumPy or device "
        "arrays, numbers, and tuples of numbers"
        + (hint if isinstance(argument, list) else "")
    )
