"""From a kernel, a launch configuration and arguments to a run: what can be refused, is
refused here.
"""

import contextlib
import warnings
import weakref

import numpy as np

from .. import hardware
from .constants import plain
from .device_memory import note_array_written
from .errors import LaunchError, caller_level
from .lowering import kernel_ir
from .machine import Launch
from .raising import raise_noted
from .translate import translate
from .types import our_type

_programs = (
    weakref.WeakKeyDictionary()
)  # kernel: {argument types: (program, captured values)}


def is_kernel(value) -> bool:
    """Is this what `@cuda.jit` makes of a function?"""
    return hasattr(value, "py_func") and hasattr(value, "targetoptions")


def bracketed(config) -> tuple:
    """What stands between a launch's brackets; raises LaunchError."""
    if not isinstance(config, tuple) or not 2 <= len(config) <= 4:
        raise LaunchError("a launch says both in its brackets: [blocks, threads]")
    return config


def configuration(blocks, threads, stream=0, shared_bytes=0):
    """A launch configuration, each dimension three numbers; raises LaunchError."""
    grid_dim = _dimensions(blocks, "blocks", hardware.MAX_GRID_DIM)
    block_dim = _dimensions(threads, "threads", hardware.MAX_BLOCK_DIM)
    if shared_bytes > hardware.H200.shared_bytes_per_block:
        raise LaunchError(
            f"{shared_bytes:,} bytes of dynamic shared memory are too many: a block "
            f"gets {hardware.H200.shared_bytes_per_block:,} at most, on an H200"
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
            f"{' × '.join(f'{p:,}' for p in parts)} threads a block are too many: a "
            f"block "
            f"holds {hardware.MAX_THREADS_PER_BLOCK:,} at most. Use smaller blocks "
            "and more of them"
        )
    for part, limit in zip(parts, limits, strict=False):
        if part < 1:
            raise LaunchError(
                f"a launch needs at least 1 along each axis of its {what}, and got "
                f"{value!r}"
            )
        if part > limit:
            raise LaunchError(
                f"{part:,} {what} along one axis are too many: {limit:,} at most"
            )
    return parts + (1,) * (3 - len(parts))


def prepare(kernel, config, arguments, **options) -> Launch:
    """A kernel's launch, to be run; NumPy arguments will be changed in place.

    The options are those of `machine.Launch`.
    """
    grid_dim, block_dim, shared_bytes = config
    names = tuple(
        kernel.py_func.__code__.co_varnames[: kernel.py_func.__code__.co_argcount]
    )
    if len(arguments) != len(names):
        raise LaunchError(
            f"`{kernel.py_func.__name__}` takes {len(names)} arguments "
            f"({', '.join(names)}) and got {len(arguments)}"
        )
    types = tuple(_type(kernel, a, n) for a, n in zip(arguments, names, strict=True))
    types = _declared(kernel, types)
    program = program_of(kernel, types)
    values = [_value(a, our_type(t)) for a, t in zip(arguments, types, strict=True)]
    return Launch(
        program,
        grid_dim,
        block_dim,
        values,
        names,
        shared_bytes=shared_bytes,
        **options,
    )


def run(kernel, config, arguments, **options):
    """A plain launch: nobody follows each byte, so what may be written counts as so."""
    launch = prepare(kernel, config, arguments, **options)
    launch.run()
    names = kernel.py_func.__code__.co_varnames
    for name, value in zip(names, arguments, strict=False):
        if name in launch.program.written:
            note_array_written(value)
    raise_noted(launch.memory)


def _declared(kernel, types):
    """The argument types of an eager signature that takes these, or these."""
    if kernel._can_compile:
        return types
    fitting = (declared for declared in kernel.overloads if _takes(declared, types))
    return next(fitting, types)


def _takes(declared, types) -> bool:
    """Do arrays meet arrays of their kind, and numbers numbers?"""
    pairs = [tuple(map(our_type, pair)) for pair in zip(declared, types, strict=True)]
    return all(
        isinstance(ours, np.dtype) if isinstance(other, np.dtype) else ours == other
        for ours, other in pairs
    )


def program_of(kernel, types):
    """The program of a kernel for some argument types, translated once."""
    programs = _programs.setdefault(kernel, {})
    if types not in programs:
        program = translate(kernel_ir(kernel.py_func, types, kernel.targetoptions))
        used = static_shared_bytes(program)
        if used > hardware.STATIC_SHARED_BYTES:
            raise LaunchError(
                f"`{program.name}` declares {used:,} bytes of shared arrays; a block "
                f"may "
                f"declare {hardware.STATIC_SHARED_BYTES:,} at most. Use smaller "
                f"tiles, or "
                "dynamic shared memory"
            )
        programs[types] = program, global_numbers(kernel)
    program, before = programs[types]
    _tell_of_changes(program.name, before, global_numbers(kernel))
    return program


def global_numbers(kernel) -> dict:
    """The numbers that a kernel takes from the names around it, as they are now."""
    function = kernel.py_func
    names = (
        name for name in function.__code__.co_names if name in function.__globals__
    )
    values = {name: function.__globals__[name] for name in names}
    return {n: v for n, v in values.items() if isinstance(v, (int, float, np.generic))}


def _tell_of_changes(kernel, before, now):
    """Warn of a global that changed since a kernel was compiled with it."""
    for name in before.keys() & now.keys():
        if before[name] != now[name]:
            warnings.warn(
                f"`{kernel}` was compiled with {name} = {before[name]} and keeps it, "
                f"though {name} is {now[name]} now: run the cell that defines "
                f"`{kernel}` again",
                stacklevel=caller_level(),
            )


def static_shared_bytes(program) -> int:
    """The bytes of shared memory that a program declares."""
    return sum(
        int(np.prod(a.shape)) * a.dtype.itemsize
        for a in program.allocations
        if a.space == "shared"
    )


def _type(kernel, argument, name):
    """Numba's type of an argument."""
    found = None
    with contextlib.suppress(Exception):
        found = kernel.typeof_pyval(argument)
    unknown = found is None or our_type(found) is None and argument is not None
    if unknown:
        raise LaunchError(
            f"argument `{name}` is a {type(argument).__name__}: a kernel takes NumPy "
            f"or device "
            "arrays, numbers, and tuples of numbers"
            + (
                " (np.array(…) makes an array of a list)"
                if isinstance(argument, list)
                else ""
            )
        )
    return found


def _value(argument, dtype):
    """An argument as the machine takes it: numbers in the type that Numba gave them."""
    number = plain(argument)
    if isinstance(dtype, tuple):
        return tuple(_value(item, d) for item, d in zip(number, dtype, strict=True))
    if not isinstance(dtype, np.dtype):
        return argument
    whole = dtype.kind in "iu" and isinstance(number, int)
    return dtype.type(_wrapped(number, dtype) if whole else number)


def _wrapped(number, dtype) -> int:
    """A whole number cut to the bits of a type, as an eager signature cuts it."""
    bits = 8 * dtype.itemsize
    cut = int(number) & ((1 << bits) - 1)
    return cut - (1 << bits) if dtype.kind == "i" and cut >> (bits - 1) else cut
