"""Is the answer right? `check` compares with a reference, `expect` waits for an error.

Lessons and graders call these two; arrays may live on the host or on the device.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import fill

import numpy as np

from helpers.checking.diagnosis import Evidence
from helpers.checking.tolerance import tolerance_for
from helpers.core.errors import with_article

WIDTH = 96      # characters of output that a notebook's page holds in a line


def check(actual, expected, rtol=None, atol=None):
    """Say that the values agree, or raise an AssertionError with the likely cause.

    Integers and booleans must be equal. Floats may differ by `rtol` times the expected
    value, or times the typical one (the median) where that is larger, since sums that
    cancel leave their rounding behind; where all should be whole numbers, they must be
    nearer than 1/4. With `atol`, NumPy's rule holds: atol + rtol * abs(expected).
    NaN agrees with NaN only; one expected scalar stands for every value.
    """
    actual, expected = on_host(actual), on_host(expected)
    expected = fitted(expected, actual)
    tolerance = tolerance_for(actual, expected, rtol, atol)
    wrong = ~tolerance.agree(actual, expected)
    if wrong.any():
        raise AssertionError(Evidence(actual, expected, wrong, tolerance).report())
    return Agreement(actual.size, tolerance.largest_error(actual, expected))


@contextmanager
def expect(*errors):
    """Show the error that is expected here and go on; fail if nothing goes wrong."""
    try:
        yield
    except errors as error:
        print(wrapped(f"{named(error, errors)}: {error}"))
    else:
        names = " or ".join(with_article(error.__name__) for error in errors)
        raise AssertionError(f"expected {names}, but nothing went wrong")


def named(error, expected):
    """The error's class, and the one that was expected where that is another."""
    name = type(error).__name__
    kinds = [it.__name__ for it in expected if isinstance(error, it)]
    return name if name in kinds else f"{name} ({with_article(kinds[0])})"


def wrapped(text):
    """A text in lines that fit a notebook's page; what is indented stays so."""
    return "\n".join(
        fill(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        for line in text.splitlines()
    )


@dataclass(frozen=True)
class Agreement:
    """That all values agree, and how closely; None where they had to be equal."""

    values: int
    largest_relative_error: float | None = None

    def __repr__(self):
        if not self.values:
            return "✓ nothing to compare: both are empty"
        one = self.values == 1
        agree = "1 value agrees" if one else f"{self.values:,} values agree"
        if not self.largest_relative_error:
            return f"✓ {agree}"
        return f"✓ {agree}, largest relative error {self.largest_relative_error:.1e}"


def on_host(values):
    """The values as a NumPy array, copied from the device if they live there."""
    copy_to_host = getattr(values, "copy_to_host", None)
    return np.asarray(copy_to_host() if copy_to_host else values)


def fitted(expected, actual):
    """The expected values in the shape of the actual ones."""
    if expected.ndim and expected.shape != actual.shape:
        swapped = expected.shape == actual.shape[::-1]
        raise AssertionError(
            f"the shapes differ: got {actual.shape}, expected {expected.shape}"
            + (": are rows and columns swapped?" if swapped else "")
        )
    return np.broadcast_to(expected, actual.shape)
