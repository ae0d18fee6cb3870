"""A variable without a value: named, with the line that reads it."""

import numpy as np
import pytest
from numba import cuda

from helpers.emulator import KernelError
from tests.specimens.kernels import line_of, message

HERE = "test_no_value.py"


@cuda.jit
def reads_behind_other_lines(a):
    i = cuda.grid(1)
    if a[0] < 0:
        y = a[i]
    b = a[1] + 3
    c = b * 2
    a[i] = c - y


@cuda.jit
def reads_an_array(a):
    if a[0] < 0:
        part = a[1:]
    b = a[1]
    a[2] = b
    a[3] = part[1]


@cuda.jit
def reads_in_a_condition(a):
    if a[0] < 0:
        y = a[1]
    a[2] = 3
    if y > 3:
        a[3] = 1


@cuda.jit
def reads_a_copy(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    z = y
    a[3] = z + x


@cuda.jit
def reads_the_second_version(a):
    y = 0.0
    if a[0] < 0:
        x = a[1]
    if a[0] > 0:
        y = y + a[2]
        a[1] = y / x


@cuda.jit
def stores_it(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    a[1] = x
    a[3] = y


@cuda.jit
def shuffles_it(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    a[1] = x
    a[3] = cuda.shfl_sync(0xFFFFFFFF, y, 3)


@cuda.jit
def stores_it_to_a_part(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    a[1] = x
    a[2:4] = y


CASES = [
    (stores_it, "y", "a[3] = y"),
    (stores_it_to_a_part, "y", "a[2:4] = y"),
    (shuffles_it, "y", "a[3] = cuda.shfl_sync(0xFFFFFFFF, y, 3)"),
    (reads_behind_other_lines, "y", "a[i] = c - y"),
    (reads_an_array, "part", "a[3] = part[1]"),
    (reads_in_a_condition, "y", "if y > 3:"),
    (reads_a_copy, "y", "a[3] = z + x"),
    (reads_the_second_version, "x", "a[1] = y / x"),
]
KERNELS = [kernel for kernel, *_ in CASES]


@pytest.mark.parametrize(("kernel", "name", "text"), CASES)
def test_the_variable_and_the_line_that_reads_it_are_named(kernel, name, text):
    """Not the first line of the straight piece of code that holds it."""
    said = message(KernelError, kernel, 1, 32, np.ones(32))
    assert said.startswith(f"`{name}` has no value on the path that the threads took")
    assert f"({HERE}, line {line_of(kernel, text)})" in said and text in said


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
