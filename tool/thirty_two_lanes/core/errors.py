"""What a kernel or a launch can do wrong, in sentences, without internals.

Errors leave by doors, functions with `short_traceback`: a reader sees lines of their
own and the sentence, in a script, in a notebook and under pytest. With the environment
variable `EMULATOR_DEBUG=1` they leave as they are, with our frames and their causes.
"""

import os
import reprlib
import sys
import warnings
from functools import partial, wraps
from textwrap import fill
from types import TracebackType

PACKAGES = {__name__.split(".")[0]}  # ours: the tool, and what is built on it
WIDTH = 100  # characters that a notebook's page holds in a line; it breaks inside words


class ExplainedError(Exception):
    """An error whose message is complete: a traceback of ours would bury it.

    One that stopped a launch of `emulate` has a `run`: what was found before that; and
    the `site` at which it stopped, where it is known.
    """

    site = None

    def placed(self, site):
        """Itself, with the site at which it stopped a launch."""
        self.site = site
        return self

    def _render_traceback_(self):
        """What IPython asks an error for."""
        return rendered(self)


class KernelError(ExplainedError, TypeError):
    """A kernel that no GPU could run: what, where, and what to write instead."""


class UnsupportedError(KernelError, NotImplementedError):
    """A kernel that a GPU would run and the emulator cannot, yet."""


class EmulatorFault(UnsupportedError):
    """An error that the emulator did not expect: its own fault, not the kernel's."""


class LaunchError(ExplainedError, ValueError):
    """A launch that no GPU would accept: its shape, its memory or its arguments."""


class ArgumentError(ExplainedError, TypeError, ValueError):
    """What a function of the course cannot take: which argument, and what it takes."""


class NoRowError(ExplainedError, KeyError):
    """A row that a table does not have; which ones it has."""

    __str__ = Exception.__str__  # a KeyError's is in quotes


class KernelIndexError(ExplainedError, IndexError):
    """An index outside its array, seen while a kernel ran; by the first thread in `at`,
    (block, warp, lane) among the blocks that ran together. `outside` says which index
    it was, for the advice, of which one change of the source may be the `edit`.
    """

    at = ()
    outside = edit = None


class NoValueError(Exception):
    """A variable, by its name, is read before it has a value; who catches this adds
    the line.
    """


class BarrierError(ExplainedError, RuntimeError):
    """Threads wait at a barrier, or for lanes of a mask, and would wait for ever: at
    these `sites`. One change of the source that mends it may be the `edit`.
    """

    sites = ()
    edit = None


class NoProgressError(ExplainedError, RuntimeError):
    """A loop that does not end: all threads wait for something that none will do."""


def shown(value) -> str:
    """A value of the reader's in a few characters, and nothing of where it lies."""
    if " at 0x" in repr(value):
        return with_article(type(value).__name__)
    return reprlib.repr(value)


def wrapped(text) -> str:
    """A text in lines that fit a notebook's page, broken between words; what goes on is
    further in.
    """
    return "\n".join(it if len(it) <= WIDTH else _filled(it) for it in text.split("\n"))


def _filled(line):
    margin = " " * (len(line) - len(line.lstrip()) + 4)
    options = {"break_on_hyphens": False, "break_long_words": False}
    return fill(line, WIDTH, subsequent_indent=margin, **options)


def with_article(noun) -> str:
    """A noun with "a" or "an" in front."""
    return f"{'an' if noun[:1] in 'AEIOUaeiou' else 'a'} {noun}"


def coordinates(number, sizes) -> str:
    """Where a thread is in its block, or a block in the grid: `7`, or `(7, 1)` where
    the launch has several axes; x varies fastest.
    """
    axes = max((axis + 1 for axis, size in enumerate(sizes) if size > 1), default=1)
    parts = []
    for size in sizes[:axes]:
        number, part = divmod(int(number), int(size))
        parts.append(part)
    return str(parts[0]) if axes == 1 else str(tuple(parts))


def is_a_part(package):
    """Let a package that is built on the tool be as quiet in tracebacks as the tool."""
    PACKAGES.add(package)


def of_a_library(module) -> bool:
    """Has no reader written the lines of this module?"""
    return module.split(".")[0] in {*PACKAGES, "numba"}


def debugging() -> bool:
    """Does the reader ask for our frames and causes?"""
    return os.environ.get("EMULATOR_DEBUG", "") not in ("", "0")


def short_traceback(function):
    """Decorate an entry point: explained errors leave it without our traceback."""

    @wraps(function)
    def entry(*arguments, **options):
        __tracebackhide__ = True  # of this frame, which pytest and IPython heed
        try:
            return function(*arguments, **options)
        except BaseException as error:
            wrongly_called = error.__traceback__.tb_next is None
            if debugging() or not (wrongly_called or _is_complete(error)):
                raise
            error.__context__ = None
            if not isinstance(error, ExplainedError):
                error._render_traceback_ = partial(rendered, error)
            raise error.with_traceback(None) from None

    return entry


def with_doors(kind):
    """Decorate a class: its `assert_…` methods are entry points."""
    for name, method in list(vars(kind).items()):
        if name.startswith("assert_"):
            setattr(kind, name, short_traceback(method))
    return kind


def complete(error):
    """An error of any class, marked as one whose message is complete."""
    error.is_complete = True
    return error


def _is_complete(error) -> bool:
    kinds = (ExplainedError, AssertionError, KeyboardInterrupt)
    return isinstance(error, kinds) or getattr(error, "is_complete", False)


def is_of_kernel(error) -> bool:
    """Is this what a kernel did wrong while it ran, and not the emulator?"""
    return _is_complete(error) and not isinstance(
        error, (UnsupportedError, LaunchError, KeyboardInterrupt)
    )


def readers_part(error):
    """An error's traceback up to the reader's last line, if its message is complete or
    it left by a door.
    """
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    by_a_door = frames and "__tracebackhide__" in frames[-1].tb_frame.f_locals
    if by_a_door or _is_complete(error):
        while frames and of_a_library(_module_of(frames[-1].tb_frame)):
            frames.pop()
    shown = None
    for frame in reversed(frames):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shown


def _module_of(frame) -> str:
    return frame.f_globals.get("__name__", "")


def rendered(error):
    """What IPython shows of an error, of which it would show the last frame always."""
    shell = sys.modules["IPython"].get_ipython()
    seen = error.__traceback__ if debugging() else readers_part(error)
    lines = shell.InteractiveTB.structured_traceback(type(error), error, seen)
    return [*lines[:-1], *map(wrapped, lines[-1:])]  # the last is the sentence


def show_readers_part():
    """Let scripts end with the reader's part of a traceback, too."""
    show = sys.excepthook

    def shortened(kind, error, traceback):
        if not debugging():
            error = error.with_traceback(readers_part(error))
        show(kind, error, error.__traceback__)

    sys.excepthook = shortened


def warn(sentence):
    """Warn at the line that called the package, in lines that fit a notebook's page."""
    place = "x" * 40  # Python puts the file, the line and the kind before the sentence
    text = wrapped(f"{place} {sentence}").removeprefix(f"{place} ")
    warnings.warn(text, stacklevel=caller_level())


def caller_level() -> int:
    """The `stacklevel` with which a warning names the line that called the package."""
    level, frame = 1, sys._getframe(1)
    ours = (*PACKAGES, "contextlib", "functools")  # which run functions of ours
    while frame.f_back and _module_of(frame).startswith(ours):
        level, frame = level + 1, frame.f_back
    return level
