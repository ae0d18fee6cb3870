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


def whole_size(size) -> tuple:
    """A size as a tuple."""
    return size if isinstance(size, tuple) else (size,)
