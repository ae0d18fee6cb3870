"""A variable without a value: named, with the line that reads it."""

import numpy as np
import pytest
from numba import cuda

from tests.specimens.kernels import line_of, message
from tests.specimens.no_value import CASES
from thirty_two_lanes.emulator import KernelError

HERE = "test_no_value.py"


@pytest.mark.parametrize(("kernel", "name", "text"), CASES)
def test_the_variable_and_the_line_that_reads_it_are_named(kernel, name, text):
    """Not the first line of the straight piece of code that holds it."""
    said = message(KernelError, kernel, 1, 32, np.ones(32))
    assert said.startswith(f"`{name}` has no value on the path that the threads took")
    assert f"(no_value.py, line {line_of(kernel, text)})" in said and text in said


@cuda.jit(device=True)
def reads_within_a_function(a, i):
    k = i + 1
    if a[0] < 0:
        y = a[i]
    k = k * 2
    return k + y


@cuda.jit
def calls_it(a):
    a[0] = reads_within_a_function(a, 2)


def test_a_line_of_a_device_function_is_named_with_its_caller():
    """Both lines."""
    said = message(KernelError, calls_it, 1, 1, np.ones(32))
    line = line_of(reads_within_a_function, "return k + y")
    caller = line_of(calls_it, "a[0] =")
    assert said.startswith("`y` has no value")
    assert f"({HERE}, line {line}, called from line {caller})" in said
