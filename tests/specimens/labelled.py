"""Kernels with a label: what is true of each by construction, for judges and tools.

A family is a function of switches, such as which barriers are there. It gives a kernel
and says from the switches what is true; each combination is a case. On a GPU the
same cases run under the tools of the field (`sanitizer_on_gpu.py`).
"""

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numba import cuda

CLEAN, MINOR, RACE = "clean", "minor", "race"


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, and the truth: "clean", "minor" or "race", and where.

    "minor" is within a warp, or all write the same. `unseen` says why racecheck cannot
    see a race that is there; a case that `hangs` is not run on a GPU.
    """

    kernel: object
    launch: tuple
    arguments: tuple
    verdict: str
    space: str = "shared"
    unseen: str = ""
    hangs: str = ""
    name: str = ""

    def fresh(self, send=cuda.to_device):
        """The arguments of one launch, arrays sent to the device or copied."""
        return [made(argument, send) for argument in self.arguments]

    @property
    def module(self):
        """The name of the file that the kernel stands in."""
        return self.kernel.py_func.__module__

    @property
    def first_line(self):
        """The kernel's first line in its file."""
        return self.kernel.py_func.__code__.co_firstlineno

    @property
    def digest(self):
        """Tells a recording of this kernel from that of an earlier text."""
        text = inspect.getsource(self.kernel.py_func)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def made(argument, send):
    """One argument of a launch."""
    if hasattr(argument, "made"):
        return argument.made(send)
    return send(argument) if isinstance(argument, np.ndarray) else argument


@dataclass(frozen=True)
class Tail:
    """An array without its first elements, as a view keeps its place in memory."""

    array: np.ndarray
    first: int

    def made(self, send):
        return send(self.array)[self.first :]


@dataclass(frozen=True)
class Unwritten:
    """An array that nobody wrote before the launch."""

    size: int
    dtype: str = "i4"

    def made(self, send):
        return cuda.device_array(self.size, np.dtype(self.dtype))


@dataclass(frozen=True)
class Family:
    """A function of switches that gives a case, and the values of each switch."""

    make: Callable
    switches: dict

    def cases(self):
        """A case for each combination of the switches."""
        for values in product(*self.switches.values()):
            settings = dict(zip(self.switches, values, strict=True))
            case = self.make(**settings)
            parts = (f"{name}{int(value)}" for name, value in settings.items())
            name = "_".join([self.make.__name__, *parts])
            yield Case(**{**vars(case), "name": name})


def family(**switches):
    """Make a function of switches a family."""
    return lambda make: Family(make, switches)


def cases_of(namespace):
    """All cases of the families of a module, in the order of their text."""
    families = [value for value in namespace.values() if isinstance(value, Family)]
    return [case for family in families for case in family.cases()]


def clean_if(condition, otherwise=RACE):
    return CLEAN if condition else otherwise


def ramp(count, dtype=np.int32):
    """Different numbers, so that no two threads write the same by chance."""
    return np.arange(1, count + 1).astype(dtype)


def zeros(*shape, dtype=np.int32):
    return np.zeros(shape, dtype)
