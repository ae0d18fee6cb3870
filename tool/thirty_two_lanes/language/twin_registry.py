"""Twins by intrinsic: the NumPy function that the emulator runs in the place of what
Numba's `@intrinsic` makes.
"""

_TWINS = {}
_OF_THREADS, _LOADING = set(), set()


def twin(intrinsic, *, of_threads=False, loads=False):
    """Register the NumPy function that the emulator runs in an intrinsic's place.

    One that is `of_threads` gets the threads that call it before the operands; one that
    `loads` does nothing else, as an element's load.
    """

    def register(function):
        _TWINS[intrinsic] = function
        if of_threads:
            _OF_THREADS.add(function)
        if loads:
            _LOADING.add(function)
        return function

    return register


def is_of_threads(function) -> bool:
    """Does a twin get the threads that call it?"""
    return function in _OF_THREADS


def is_loading(function) -> bool:
    """Does a twin load, and nothing else?"""
    return function in _LOADING


def twin_of(value):
    """The twin of an intrinsic, or None."""
    try:
        return _TWINS.get(value)
    except TypeError:
        return None


def is_intrinsic(value) -> bool:
    """Is this what Numba's `@intrinsic` makes of a function?"""
    return type(value).__name__ == "_Intrinsic"
