"""Twins by intrinsic: the NumPy function that the emulator runs in the place of what
Numba's `@intrinsic` makes.
"""

_TWINS = {}


def twin(intrinsic):
    """Register the NumPy function that the emulator runs in an intrinsic's place."""

    def register(function):
        _TWINS[intrinsic] = function
        return function

    return register


def twin_of(value):
    """The twin of an intrinsic, or None."""
    try:
        return _TWINS.get(value)
    except TypeError:
        return None


def is_intrinsic(value) -> bool:
    """Is this what Numba's `@intrinsic` makes of a function?"""
    return type(value).__name__ == "_Intrinsic"
