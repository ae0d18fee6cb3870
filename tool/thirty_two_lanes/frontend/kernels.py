"""A kernel as Numba's dispatcher has it: what stands between a launch's brackets, and
its arguments' names. What no launch can be is refused here.
"""

import inspect
from functools import partial

import numpy as np

from thirty_two_lanes.core import hardware
from thirty_two_lanes.core.errors import (
    KernelError,
    LaunchError,
    short_traceback,
    shown,
    with_article,
)


def is_kernel(value) -> bool:
    """Is this what `@cuda.jit` makes of a function?"""
    of_cuda = hasattr(value, "configure") and hasattr(value, "targetoptions")
    return of_cuda and has_function(value)


def has_function(value) -> bool:
    """Did a decorator of Numba's make this of a function?"""
    return inspect.isfunction(getattr(value, "py_func", None))


def require_kernel(value, verb):
    """Refuse what a verb cannot launch, and say what to write."""
    if not is_kernel(value):
        raise KernelError(
            f"`{verb}` takes a kernel, a function with `@cuda.jit`, not "
            f"{_described(value, verb)}"
        )
    if value.targetoptions.get("device"):
        raise device_function(value.py_func)


def device_function(function) -> KernelError:
    """The error of who launches a device function."""
    from thirty_two_lanes.frontend.refusals.refusals import at

    name = f"`{function.__name__}`"
    what = "is a device function: kernels can call it, but it cannot be launched"
    return at(function, None, f"{name} {what}")


def _described(value, verb) -> str:
    """What is no kernel, and what to write instead."""
    if value is None or hasattr(value, "is_launch"):
        form = f"{verb}(kernel)[blocks, threads](…)"
        return f"a launch: the brackets come after, `{form}`"
    if has_function(value):
        name = value.py_func.__name__
        return (
            f"`{name}`, which Numba compiles for the CPU (`@njit`, `@jit`): put "
            "`@cuda.jit` above it instead"
        )
    if callable(value) and not isinstance(value, type):
        name = getattr(value, "__name__", type(value).__name__)
        return f"the plain function `{name}`: put `@cuda.jit` above it"
    return with_article(type(value).__name__)


def missing_brackets(kernel, verb=None) -> LaunchError:
    """The error of who calls a kernel without its brackets."""
    name = kernel.py_func.__name__
    what = f"{verb}({name})" if verb else name
    return LaunchError(
        f"the launch configuration is missing: write `{what}[blocks, threads](…)`"
    )


def refuse_named(kernel, named):
    """Refuse a launch's arguments that are given by name."""
    if named:
        wanted = ", ".join(argument_names(kernel))
        raise LaunchError(
            f"a kernel takes positional arguments only, not `{next(iter(named))}=…`: "
            f"write `{kernel.py_func.__name__}[blocks, threads]({wanted})`"
        )


def bracketed(config) -> tuple:
    """What stands between a launch's brackets; raises LaunchError."""
    if not isinstance(config, tuple) or not 2 <= len(config) <= 4:
        raise LaunchError(
            "a launch needs both in its brackets: [blocks, threads], and at most a "
            "stream and the bytes of dynamic shared memory after them"
        )
    return config


class Verb:
    """A kernel that waits for its brackets, and then for its arguments:
    `_run(config, *arguments)` is what its verb does.
    """

    verb = ""

    @short_traceback
    def __getitem__(self, config):
        return partial(self._launched, configuration(*bracketed(config)))

    @short_traceback
    def __call__(self, *arguments, **named):
        raise missing_brackets(self.kernel, self.verb)

    @short_traceback
    def _launched(self, config, *arguments, **named):
        refuse_named(self.kernel, named)
        return self._run(config, *arguments)


def configuration(blocks, threads, stream=0, shared_bytes=0):
    """A launch configuration, each dimension three numbers; raises LaunchError."""
    is_default = stream is None or isinstance(stream, int) and stream == 0
    is_stream = hasattr(stream, "__cuda_stream__") or hasattr(stream, "handle")
    if not is_default and not is_stream:
        raise LaunchError(
            "the third value in the brackets is a stream (`cuda.stream()`) or 0, not "
            f"{shown(stream)}; dynamic shared memory is the fourth"
        )
    if not isinstance(shared_bytes, (int, np.integer)) or shared_bytes < 0:
        raise LaunchError(
            "the fourth value in the brackets is the dynamic shared memory in bytes, a "
            f"whole number, 0 or more, not {shown(shared_bytes)}"
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
    are_whole = all(isinstance(part, (int, np.integer)) for part in parts)
    if not 1 <= len(parts) <= 3 or not are_whole:
        divided = any(isinstance(part, float) for part in parts)
        remedy = ": use `//` instead of `/` to divide" if divided else ""
        raise LaunchError(
            f"the number of {what} must be a whole number or up to three of them, "
            f"not {shown(value)}{remedy}"
        )
    parts = tuple(map(int, parts))
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
                f"{shown(value)}"
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
