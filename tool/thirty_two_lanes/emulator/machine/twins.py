"""Twins: NumPy functions that the emulator runs in the place of Numba intrinsics.

A twin gets the intrinsic's operands as NumPy values that broadcast against (lanes,
blocks), tuples of them, and arrays as `Lanes`; it returns a value, a tuple of them, or
None.
"""

from traceback import walk_tb

import numpy as np

from thirty_two_lanes.core.errors import (
    EmulatorFault,
    ExplainedError,
    UnsupportedError,
    of_a_library,
)
from thirty_two_lanes.core.events import Fence
from thirty_two_lanes.core.source import package_of, place
from thirty_two_lanes.emulator.machine.accesses.access import load, store
from thirty_two_lanes.emulator.machine.accesses.async_copies import taking_part
from thirty_two_lanes.emulator.machine.accesses.wide_access import (
    commit_copies,
    copy_wide,
    load_wide,
    store_wide,
    wait_copies,
)
from thirty_two_lanes.language.operators import convert
from thirty_two_lanes.language.twin_registry import is_of_threads


class Lanes:
    """An array as a twin sees it, in the threads of a warp that call the intrinsic."""

    def __init__(self, warp, array, references, active):
        self._warp, self._array, self._active = warp, array, active
        self._references = references
        self.dtype, self.shape = array.dtype, getattr(array, "shape", None)

    def load(self, index, elements=1):
        """`array[index]`, or several neighbours in one request, as a tuple."""
        given = self._at(index, self._references.loaded)
        if elements == 1:
            return load(*given, self._active)
        return load_wide(*given, elements, self._active)

    def store(self, index, value):
        """`array[index] = value`, or a tuple of neighbours in one request."""
        given = self._at(index, self._references.stored)
        if isinstance(value, tuple):
            return store_wide(*given, value, self._active)
        return store(*given, value, self._active)

    def load_acquire(self, index):
        """`array[index]`, and what was released with it."""
        return load(*self._at(index, self._references.acquired), self._active)

    def store_release(self, index, value):
        """`array[index] = value`, after all that these threads did."""
        for listener in self._warp.listeners["fence"]:
            listener(Fence("grid", self._active, self._warp.who, of_store=True))
        store(*self._at(index, self._references.released), value, self._active)

    def copy_async(self, index, source, source_index, elements, inside=None):
        """Begin to copy neighbours of another array to `array[index]` and the next; or
        zeros, in threads that are not `inside`.
        """
        if inside is None:
            values = source.load(source_index, elements)
        else:
            values = source._load_or_zero(source_index, elements, inside)
        references = self._references.stored, self._references.arrived
        given = self._warp, *references, self._array, _indices(index)
        copy_wide(*given, values, self._active)

    def _load_or_zero(self, index, elements, inside):
        """`array[index]` and its neighbours; threads that are outside read nothing."""
        threads = taking_part(self._warp, self._active) & inside
        if not threads.any():
            return (self.dtype.type(0),) * elements
        part = Lanes(self._warp, self._array, self._references, threads)
        values = part.load(index, elements)
        values = (values,) if elements == 1 else values
        return tuple(np.where(threads, it, self.dtype.type(0)) for it in values)

    def _at(self, index, reference):
        return self._warp, reference, self._array, _indices(index)


class Threads:
    """The threads of a warp that call an intrinsic."""

    def __init__(self, warp, active):
        self._warp, self._active = warp, active

    def commit_copies(self):
        """Make a group of the copies that they began."""
        commit_copies(self._warp, self._active)

    def wait_copies(self, pending):
        """Wait until at most so many of their groups are under way."""
        wait_copies(self._warp, pending, self._active)


def _indices(index):
    return index if isinstance(index, tuple) else (index,)


def run(warp, instruction, operands, active):
    """What the twin returns, in the types that Numba gave the intrinsic."""
    given = [
        Lanes(warp, operand, references, active)
        if hasattr(operand, "cells")
        else operand
        for operand, references in zip(operands, instruction.references, strict=True)
    ]
    if is_of_threads(instruction.function):
        given.insert(0, Threads(warp, active))
    try:
        value = instruction.function(*given)
    except (ExplainedError, MemoryError):
        raise
    except Exception as error:
        told = _stopped(instruction.function, error)
        if of_a_library(package_of(instruction.function)):
            raise EmulatorFault(told + _OF_OURS) from error
        raise UnsupportedError(told) from error
    return _typed(value, instruction.result)


_OF_OURS = (
    ": that is a fault of the emulator and not of the kernel; please report the kernel "
    "and its launch to those who make Thirty-Two Lanes"
)


def _stopped(twin, error) -> str:
    """What a twin raised, and where: mostly that is code of the reader's."""
    file = twin.__code__.co_filename
    lines = [
        line
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_code.co_filename == file
    ]
    where = place(twin, lines[-1]) if lines else "before its first line"
    return (
        f"the twin `{twin.__name__}` that stands for this call stopped with "
        f"{type(error).__name__}: {error} ({where})"
    )


def _typed(value, dtype):
    if isinstance(dtype, tuple):
        return tuple(_typed(v, d) for v, d in zip(value, dtype, strict=True))
    if isinstance(dtype, np.dtype):
        return convert(np.asarray(value)[()], dtype)
    return None
