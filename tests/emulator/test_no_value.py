"""A variable without a value: named, with the line that reads it.

A plain launch stops where no lane of a warp has one; `emulate` goes on with 0, and
reports it, as it does where some lanes have none.
"""

import numpy as np
import pytest
from numba import cuda

from tests.specimens.kernels import line_of, message
from tests.specimens.no_value import CASES, NUMBERS, reads_an_array
from thirty_two_lanes import emulate
from thirty_two_lanes.emulator import KernelError


@pytest.mark.parametrize(("kernel", "name", "text"), CASES)
def test_the_variable_and_the_line_that_reads_it_are_named(kernel, name, text):
    """Not the first line of the straight piece of code that holds it."""
    with pytest.raises(KernelError) as told:
        kernel[1, 32](np.ones(32))
    said = str(told.value)
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
    (found,) = emulate(calls_it)[1, 1](np.ones(32)).unset

    assert ("y", line_of(reads_within_a_function, "return k + y")) == (
        found.variable,
        found.line,
    )
    assert line_of(calls_it, "a[0] =") == found.site.called_from


@pytest.mark.parametrize(("kernel", "name", "text"), NUMBERS)
def test_the_report_names_the_same_variable_and_line(kernel, name, text):
    """Once for each thread that reads it."""
    (found,) = emulate(kernel)[1, 32](np.ones(32)).unset

    assert (name, line_of(kernel, text), 32) == (
        found.variable,
        found.line,
        found.threads,
    )


def test_an_array_without_a_value_stops_the_report_too():
    """There is nothing to go on with."""
    assert "`part` has no value" in message(
        KernelError, reads_an_array, 1, 32, np.ones(32)
    )


@cuda.jit
def sets_it_in_one_lane(a):
    i = cuda.grid(1)
    if i == 5:
        s = a[1]
    a[i] = s


def test_the_threads_that_have_not_set_it_are_counted_with_the_first_of_them():
    """All but one of those in three blocks; they go on with 0."""
    a = np.ones(120)

    (found,) = emulate(sets_it_in_one_lane)[3, 40](a).unset

    assert (119, 3, "0", "0") == found[2:]
    assert [5] == np.flatnonzero(a).tolist()


@cuda.jit
def uses_what_a_loop_leaves(counts, out):
    i = cuda.grid(1)
    for k in range(counts[i]):
        out[i] += k
    out[i] = k


def test_a_loop_without_a_turn_leaves_its_variable_unset():
    """In the threads that have none: every third one."""
    counts = np.arange(96) % 3

    (found,) = emulate(uses_what_a_loop_leaves)[1, 96](counts, np.zeros(96)).unset

    assert ("k", 32, "0") == (found.variable, found.threads, found.thread)


@cuda.jit(device=True)
def only_if(x):
    if x > 3:
        y = x
    return y


@cuda.jit
def calls_it_again(a, out):
    i = cuda.grid(1)
    for k in range(2):
        out[i] += only_if(a[i] - k)


def test_a_function_does_not_keep_what_it_set_when_it_was_called_before():
    """The first call sets `y` in threads 4 to 31, and the second in one fewer."""
    (found,) = emulate(calls_it_again)[1, 32](np.arange(32.0), np.zeros(32)).unset

    assert 5 == found.threads


@cuda.jit
def sets_it_in_its_first_turn(a, out):
    i = cuda.grid(1)
    for k in range(3):
        if k == 0:
            s = a[i]
        else:
            s = s + 1
    if i < 20:
        kept = s
    if i < 20:
        out[i] = kept


def test_a_variable_that_is_set_wherever_it_is_read_is_no_finding():
    """By an earlier turn, or under the same condition."""
    out = np.zeros(32)

    run = emulate(sets_it_in_its_first_turn)[1, 32](np.ones(32), out)

    assert ((), 20 * [3.0] + 12 * [0.0]) == (run.unset, out.tolist())


@cuda.jit
def takes_it_from(lane, out):
    t = cuda.threadIdx.x
    if t == 0:
        value = out[3]
    out[t] = cuda.shfl_sync(0xFFFFFFFF, value, lane)


def test_a_shuffle_may_take_it_from_the_lane_that_set_it():
    """As the CUDA guide does; from another lane it is a read."""
    said = [emulate(takes_it_from)[1, 32](lane, np.ones(32)).unset for lane in (0, 7)]

    assert [(), ("value", 32)] == [said[0], (said[1][0].variable, said[1][0].threads)]
