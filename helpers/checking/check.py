"""Is the answer right? `check` compares with a reference, `expect` waits for an error.

Lessons and graders call these two; arrays may live on the host or on the device.
"""

from dataclasses import dataclass
from numbers import Number, Real

import numpy as np

from helpers.checking.diagnosis import Evidence
from helpers.checking.tolerance import tolerance_for
from thirty_two_lanes.core.errors import (
    ArgumentError,
    short_traceback,
    shown,
    with_article,
    wrapped,
)


@short_traceback
def check(actual, expected, rtol=None, atol=None):
    """Say that the values agree, or raise an AssertionError with the likely cause.

    Integers and booleans must be equal. Floats may differ by `rtol` times the expected
    value, or times the typical one (the median) where that is larger, since sums that
    cancel leave their rounding behind; where all should be whole numbers, they must be
    nearer than 1/4. With `atol`, NumPy's rule holds: atol + rtol * abs(expected).
    NaN agrees with NaN only; one expected scalar stands for every value.
    """
    actual, expected = comparable(on_host(actual), on_host(expected))
    limits = limit("rtol", rtol), limit("atol", atol)
    expected = fitted(expected, actual)
    tolerance = tolerance_for(actual, expected, *limits)
    wrong = ~tolerance.agree(actual, expected)
    if wrong.any():
        raise AssertionError(Evidence(actual, expected, wrong, tolerance).report())
    return Agreement(actual.size, tolerance.largest_error(actual, expected))


@short_traceback
def expect(*errors):
    """Show the error that is expected here and go on; fail if nothing goes wrong."""
    kinds = [isinstance(it, type) and issubclass(it, BaseException) for it in errors]
    if not kinds or not all(kinds):
        raise ArgumentError(
            "`expect` takes the kind of error that is to come, as in "
            "`with expect(IndexError):`"
        )
    return Expectation(errors)


@dataclass(frozen=True)
class Expectation:
    """The kinds of errors that a block of lines is to end with."""

    errors: tuple

    def __enter__(self):
        return self

    @short_traceback
    def __exit__(self, kind, error, traceback):
        if error is None:
            names = " or ".join(with_article(it.__name__) for it in self.errors)
            raise AssertionError(f"expected {names}, but nothing went wrong")
        if not isinstance(error, self.errors):
            return False
        print(wrapped(f"{named(error, self.errors)}: {error}"))
        return True


def named(error, expected):
    """The error's class, and the one that was expected where that is another."""
    name = type(error).__name__
    kinds = [it.__name__ for it in expected if isinstance(error, it)]
    return name if name in kinds else f"{name} ({with_article(kinds[0])})"


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
    try:
        return np.asarray(copy_to_host() if copy_to_host else values)
    except ValueError:
        raise ArgumentError(
            "`check` takes numbers or arrays of them: the rows of this list have "
            "different lengths"
        ) from None


def comparable(actual, expected):
    """Both arrays, if their values can be compared."""
    kinds = [kind_of(it) for it in (actual, expected)]
    if kinds[0] != kinds[1] or "no number" in kinds:
        raise ArgumentError(
            "`check` compares numbers with numbers, but got "
            f"{shown(actual.reshape(-1)[:3].tolist())} and "
            f"{shown(expected.reshape(-1)[:3].tolist())}"
        )
    return actual, expected


def kind_of(values) -> str:
    """What the values of an array are."""
    if values.dtype.kind == "O":
        numbers = all(isinstance(it, Number) for it in values.flat)
        return "numbers" if numbers else "no number"
    kind = values.dtype.kind  # of texts, bytes and records, each its own
    return kind if kind in "USV" else "numbers"


def limit(name, value):
    """A tolerance: a number, 0 or more, or None."""
    if value is None or isinstance(value, Real) and value >= 0:
        return value
    said = shown(value)
    raise ArgumentError(f"`{name}` of `check` is a number, 0 or more, not {said}")


def fitted(expected, actual):
    """The expected values in the shape of the actual ones."""
    if expected.ndim and expected.shape != actual.shape:
        swapped = expected.shape == actual.shape[::-1]
        raise AssertionError(
            f"the shapes differ: got {actual.shape}, expected {expected.shape}"
            + (": are rows and columns swapped?" if swapped else "")
        )
    return np.broadcast_to(expected, actual.shape)
