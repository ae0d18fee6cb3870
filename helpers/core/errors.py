"""What a kernel or a launch can do wrong, in sentences, without internals."""

import functools
import sys

PACKAGE = __name__.split(".")[0]


class ExplainedError(Exception):
    """An error whose message is complete: a traceback of ours would bury it."""


class KernelError(ExplainedError, TypeError):
    """A kernel that no GPU could run: what, where, and what to write instead."""


class UnsupportedError(KernelError, NotImplementedError):
    """A kernel that a GPU would run and the emulator cannot, yet."""


class LaunchError(ExplainedError, ValueError):
    """A launch that no GPU would accept: its shape, its memory or its arguments."""


class KernelIndexError(ExplainedError, IndexError):
    """An index outside its array, seen while a kernel ran."""


class NoValueError(Exception):
    """A variable is read before it has a value; who catches this adds the line."""


class BarrierError(ExplainedError, RuntimeError):
    """Threads wait at a barrier, or for lanes of a mask, and would wait for ever."""


class NoProgressError(ExplainedError, RuntimeError):
    """A loop that does not end: all threads wait for something that none will do."""


def short_traceback(function):
    """Decorate an entry point: explained errors leave it without our traceback."""

    @functools.wraps(function)
    def entry(*arguments, **options):
        try:
            return function(*arguments, **options)
        except (ExplainedError, KeyboardInterrupt) as error:
            raise error.with_traceback(None) from None

    return entry


def caller_level() -> int:
    """The `stacklevel` with which a warning names the line that called the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
