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


WIDER = {1: 1, 2: 1, 4: 20_000, 8: 2**40}  # by the bytes of a whole number's type


def full(kind, values) -> np.ndarray:
    """Values as numbers of a type, whole ones so many times as large that no narrower
    type holds them: a kernel that narrows what it keeps gives other results.
    """
    kind = np.dtype(kind)
    if kind.kind == "f":
        return np.asarray(values).astype(kind)
    return np.asarray(values * WIDER[kind.itemsize]).astype(np.int64).astype(kind)


def numbers(rng, kind, low, high, shape) -> np.ndarray:
    """Random numbers of a type; floats are between two limits."""
    return full(kind, rng.uniform(low, high, shape))


def whole_size(size) -> tuple:
    """A size as a tuple."""
    return size if isinstance(size, tuple) else (size,)
