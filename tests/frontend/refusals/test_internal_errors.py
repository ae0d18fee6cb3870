"""What an error of the front end's own gets: one sentence with the line it is about."""

import numpy as np
from numba import cuda

from tests.specimens.kernels import line_of, message
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import UnsupportedError

HERE = "test_internal_errors.py"


def stumble(*arguments):
    raise KeyError("$phi3")


@cuda.jit(device=True)
def fill_first(array, value):
    array[0] = value  # in a device function


@cuda.jit
def calls_a_function(a):
    i = cuda.grid(1)
    if i == 0:
        fill_first(a, 1)


@cuda.jit
def stores(a):
    i = cuda.grid(1)
    a[i] = 1  # in a kernel


@cuda.jit
def calls_a_library(a):
    total = a.sum()  # in Numba's library
    a[0] = total


def refused(kernel):
    """What the refusal of a kernel says."""
    return message(UnsupportedError, kernel, 1, 32, np.zeros(32))


def test_an_error_in_a_device_function_names_its_line(monkeypatch):
    """The statement at hand is there, and not in the kernel that calls it."""
    monkeypatch.setattr(ir, "Store", stumble)

    text = refused(calls_a_function)

    line = line_of(fill_first, "# in a device function")
    assert f"({HERE}, line {line})" in text and "by a fault of its own" in text
    assert "KeyError" not in text and "$" not in text


def test_an_error_in_numbas_library_names_the_line_that_calls_it(monkeypatch):
    """A reader cannot change Numba's own source."""
    monkeypatch.setattr(ir, "View", stumble)

    text = refused(calls_a_library)

    line = line_of(calls_a_library, "# in Numba's library")
    assert f"({HERE}, line {line})" in text and "by a fault of its own" in text
    assert "KeyError" not in text and "$" not in text


def test_no_local_variable_decides_which_line_an_error_names(monkeypatch):
    """An object that looks like the front end's may be at work where it goes wrong."""

    class Decoy:
        def __init__(self):
            self.function, self.line = stores.py_func, 1

        def store(self, *arguments):
            raise KeyError("$phi3")

    monkeypatch.setattr(ir, "Store", Decoy().store)

    text = refused(stores)

    line = line_of(stores, "# in a kernel")
    assert f"({HERE}, line {line})" in text and "by a fault of its own" in text
    assert "KeyError" not in text and "$" not in text
