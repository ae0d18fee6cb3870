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
SMALL = 2  # bytes of whole numbers that stay as they are
SCALES = 8  # the exponent, up or down
LARGE, NEAR = 0.4, 0.75  # of floats at both ends, the large ones; of their exponent


def full(kind, values, most=None) -> np.ndarray:
    """Values as numbers of a type, whole ones so many times as large that they fill a
    quarter of it or an eighth: a kernel that keeps them in a narrower type, or as
    floats, gives other results. `most` is the largest magnitude that they could have.
    """
    kind, values = np.dtype(kind), np.asarray(values)
    if kind.kind == "f" or kind.itemsize <= SMALL:
        return values.astype(kind)
    most = np.abs(values).max(initial=1) if most is None else most
    times = 2 ** (int(np.log2(np.iinfo(kind).max / most)) - 2)
    return (values * times).astype(np.int64).astype(kind)


def numbers(rng, kind, low, high, shape) -> np.ndarray:
    """Random numbers of a type; floats are between two limits, times a power of two
    that is drawn, too; or at the ends of their type, where `rng` asks for that: no
    number of a kernel's own is larger than all of them, and none smaller.
    """
    values, most = rng.uniform(low, high, shape), max(abs(low), abs(high))
    if np.dtype(kind).kind == "f":
        if isinstance(rng, Ends):
            return rng.numbers(np.dtype(kind), values / most)
        values = np.ldexp(values, rng.integers(-SCALES, SCALES, endpoint=True))
    return full(kind, values, most)


class Ends(np.random.Generator):
    """Random numbers of which `numbers` makes floats at the ends of their type: some as
    large as a share of its exponents lets them be, and the others as near to 0.
    """

    def __init__(self, rng, share):
        super().__init__(rng.bit_generator)
        self.share, self.asked = share, False

    def numbers(self, kind, values) -> np.ndarray:
        """Numbers of a type, of values from -1 to 1."""
        self.asked, limits = True, np.finfo(kind)
        many, most = LARGE * values.size + self.random(), self.share * limits.maxexp
        far = self.permutation(values.size).reshape(values.shape) < int(many)
        sizes = np.ldexp(np.abs(values), np.where(far, int(most), -int(NEAR * most)))
        sizes = np.clip(sizes, float(limits.tiny), float(limits.max))
        return np.copysign(sizes, values).astype(kind)


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
