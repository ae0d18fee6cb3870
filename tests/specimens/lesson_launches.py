"""What the lessons launch and define; each is executed once in a process."""

import hashlib
import inspect
import os
from functools import cache
from typing import NamedTuple
from unittest import mock

import numpy as np

import helpers
from helpers.measuring import timing
from tests.paths import ROOT
from tests.specimens.labelled import Case
from thirty_two_lanes.assembly import compilation, recorded
from thirty_two_lanes.core.errors import short_traceback

LESSONS = ROOT / "lessons"
SETTINGS = {
    "MPLBACKEND": "Agg",
    recorded.SETTING: recorded.PREFER,
}
UNRECORDED = (
    "a kernel's machine code is not recorded: run `python -m lessons.assemblies`"
)


class Executed(NamedTuple):
    """A case for each launch that was emulated and ended, with its Run; all names."""

    launches: list
    names: dict


@cache
def executed(lesson):
    """A lesson, executed as a script that has no compiler and no clock beside it."""
    noted = []
    names = {"__name__": "__main__", "__file__": str(lesson)}
    code = compile(lesson.read_text(encoding="utf-8"), str(lesson), "exec")

    def known(kernel, launch, arguments, form):
        return timing.recorded(form)

    with (
        mock.patch.dict(os.environ, SETTINGS),
        mock.patch.object(helpers, "emulate", noting(noted)),
        mock.patch.object(compilation, "missing", lambda: UNRECORDED),
        mock.patch.object(timing, "measured", known),
    ):
        exec(code, names)
    return Executed(named(lesson.stem, noted), names)


def launches(lesson):
    """A case for each launch that a lesson emulates and that ends, with its Run."""
    return executed(lesson).launches


def noting(noted):
    """The verb `emulate`, which adds each launch that ends to these."""
    emulate = helpers.emulate

    @short_traceback
    def emulate_and_note(kernel, **options):
        return Noting(kernel, emulate(kernel, **options), noted)

    return emulate_and_note


class Noting:
    """An emulation that keeps what it is launched with."""

    def __init__(self, kernel, emulation, noted):
        self.kernel, self.emulation, self.noted = kernel, emulation, noted

    @short_traceback
    def __getitem__(self, config):
        emulated = self.emulation[config]

        @short_traceback
        def launched(*arguments):
            kept = tuple(map(kept_as, arguments))
            run = emulated(*arguments)
            self.noted.append((self.kernel, config, kept, run))
            return run

        return launched


def kept_as(argument):
    """A copy of what a launch is given, on the host."""
    if hasattr(argument, "copy_to_host"):
        return argument.copy_to_host()
    return np.array(argument) if isinstance(argument, np.ndarray) else argument


def named(stem, noted):
    """The launches of a lesson, each with its Run; equal ones once. A name tells what
    is launched: a recording holds for every edition of the lesson that launches it.
    """
    found = {}
    for kernel, config, arguments, run in noted:
        which = f"{kernel.py_func.__name__}_{identity(kernel, config, arguments)[:8]}"
        case = Case(kernel, config, arguments, "clean", name=f"lesson_{stem}_{which}")
        found.setdefault(case.name, (case, run))
    return [*found.values()]


def identity(kernel, config, arguments):
    """The same for launches that do the same."""
    digest = hashlib.sha256()
    for part in (*texts(kernel.py_func), *map(as_bytes, (config, *arguments))):
        digest.update(part)
    return digest.hexdigest()


def texts(function):
    """A function's source, and the values and the functions that it names."""
    yield inspect.getsource(function).encode()
    known = inspect.getclosurevars(function)
    for name, value in sorted({**known.globals, **known.nonlocals}.items()):
        if hasattr(value, "py_func"):
            yield from texts(value.py_func)
        elif not inspect.ismodule(value) and not inspect.isroutine(value):
            yield name.encode()
            yield as_bytes(value)


def as_bytes(value):
    """An array's cells, or what a value is shown as."""
    return value.tobytes() if hasattr(value, "tobytes") else repr(value).encode()


def lessons():
    """All lessons, in order."""
    return sorted(LESSONS.glob("[0-9]*.py"))
