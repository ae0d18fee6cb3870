"""What stands for an argument in a description, beside inputs; and sizes."""

from typing import NamedTuple

import numpy as np


class Out(NamedTuple):
    """An array that the kernel is to fill: unwritten when it starts."""

    shape: object
    dtype: object = np.float32


class InOut(NamedTuple):
    """An array that the kernel is to change, as it is when it starts."""

    array: np.ndarray


POISON = 0xCD  # each byte of what is unwritten
SMALL = 2  # bytes of a type that is filled as far as it can be
SCALES = 8  # the exponent, up or down


def full(kind, values, most=None) -> np.ndarray:
    """Values as numbers of a type, whole ones so many times as large that they fill a
    quarter of it or an eighth, and all or a half of one of 8 or 16 bits: a kernel that
    keeps them in a narrower type, or as floats, gives other results. `most` is the
    largest magnitude that they could have.
    """
    kind, values = np.dtype(kind), np.asarray(values)
    if kind.kind == "f":
        return values.astype(kind)
    most = np.abs(values).max(initial=1) if most is None else most
    room = 0 if kind.itemsize <= SMALL else 2
    times = 2.0 ** (int(np.log2(np.iinfo(kind).max / most)) - room)
    return (values * times).astype(np.int64).astype(kind)


def numbers(rng, kind, low, high, shape) -> np.ndarray:
    """Random numbers of a type; floats are between two limits, times a power of two
    that is drawn, too; or elsewhere, where `rng` has them: no number of a kernel's own
    is larger than all of them, and none smaller.
    """
    values, most = rng.uniform(low, high, shape), max(abs(low), abs(high))
    if np.dtype(kind).kind == "f":
        if isinstance(rng, Elsewhere):
            return rng.floats(np.dtype(kind), values / most)
        values = np.ldexp(values, rng.integers(-SCALES, SCALES, endpoint=True))
    return full(kind, values, most)


class Elsewhere(np.random.Generator):
    """Random numbers that say where floats are, of values from -1 to 1."""

    def __init__(self, rng):
        super().__init__(rng.bit_generator)
        self.asked = False

    def floats(self, kind, values) -> np.ndarray:
        raise NotImplementedError


def whole_size(size) -> tuple:
    """A size as a tuple."""
    return size if isinstance(size, tuple) else (size,)


def held_by(argument):
    """The value that a launch gets and may change."""
    if isinstance(argument, Out):
        cells = np.empty(argument.shape, argument.dtype)
        np.ndarray(cells.nbytes, np.uint8, cells)[...] = POISON  # as unwritten memory
        return cells
    if isinstance(argument, InOut):
        return argument.array.copy("K")
    return argument.copy("K") if isinstance(argument, np.ndarray) else argument


def plain(argument):
    """An argument as the specification gets it."""
    if isinstance(argument, InOut):
        return argument.array.copy()
    return argument


def shaken(argument, seed):
    """Likewise, each float as the next one, up or down."""
    given = plain(argument)
    if getattr(given, "dtype", None) is None or given.dtype.kind != "f":
        return given
    up = np.random.default_rng(seed).random(given.shape) < 0.5
    return np.nextafter(given, np.where(up, np.inf, -np.inf).astype(given.dtype))
