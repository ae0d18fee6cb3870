"""How far apart two values may be and still agree: what `check` allows.

Integers agree when they are equal; floats when rounding can explain the difference.
"""

from dataclasses import dataclass

import numpy as np

# by the bytes of the coarser float: room for sums of some thousand terms
RTOL = {2: 1e-2, 4: 1e-5, 8: 1e-12}
QUARTER = 0.25  # whole numbers that differ do so by at least 1
ROUNDINGS = 2  # that a sum of whole numbers may have, and be held to a quarter


@dataclass(frozen=True)
class Exactly:
    """The tolerance of integers, booleans and whatever else is not a float."""

    def agree(self, actual, expected):
        return np.asarray(actual == expected)

    def largest_error(self, actual, expected):
        return None


@dataclass(frozen=True)
class Within:
    """The tolerance of floats."""

    rtol: float
    atol: float | None  # None: the typical value instead
    typical: float
    whole_below: float  # where whole numbers are exact: 0 for nowhere

    def agree(self, actual, expected):
        """Which values agree?"""
        same = np.asarray(actual == expected, bool)
        actual, expected = as_float(actual), as_float(expected)
        same |= np.isnan(actual) & np.isnan(expected)
        finite = np.isfinite(actual) & np.isfinite(expected)
        near = distance(actual, expected) <= self.allowed(np.abs(expected))
        return same | (finite & near)

    def allowed(self, size):
        """How far a value may be from an expected one of this size."""
        if self.atol is not None:
            return self.atol + self.rtol * size
        allowed = self.rtol * np.maximum(size, self.typical)
        return np.where(size < self.whole_below, np.minimum(allowed, QUARTER), allowed)

    def errors(self, actual, expected):
        """The relative errors, 0 where nothing finite and nonzero was expected."""
        size = np.maximum(np.abs(as_float(expected)), self.typical)
        error = distance(actual, expected)
        usable = np.isfinite(error) & np.isfinite(size) & (size > 0)
        return np.divide(error, size, out=np.zeros_like(error), where=usable)

    def largest_error(self, actual, expected):
        return float(self.errors(actual, expected).max(initial=0))


def tolerance_for(actual, expected, rtol, atol):
    """What `check` allows between these arrays."""
    floats = [a.dtype for a in (actual, expected) if a.dtype.kind in "fc"]
    if not floats and rtol is None and atol is None:
        return Exactly()
    coarsest = max((np.finfo(d) for d in floats), key=lambda f: f.eps, default=None)
    if rtol is None:
        rtol = RTOL.get(coarsest.dtype.itemsize, RTOL[8]) if coarsest else 0
        whole = coarsest and is_whole(expected)
        exact = QUARTER / (ROUNDINGS * coarsest.eps) if whole else 0
        return Within(rtol, atol, typical_size(expected), exact)
    return Within(rtol, atol, typical_size(expected), whole_below=0)


def typical_size(values):
    """The median size of the finite nonzero values."""
    sizes = np.abs(as_float(values))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    return float(np.median(sizes)) if sizes.size else 0.0


def is_whole(values):
    """Are all values whole numbers?"""
    if values.dtype.kind == "c":
        return False
    return bool(np.all(values == np.floor(as_float(values))))


def as_float(values):
    kind = complex if values.dtype.kind == "c" else float
    return values.astype(kind, copy=False)


def distance(actual, expected):
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf
        return np.abs(as_float(actual) - as_float(expected))
