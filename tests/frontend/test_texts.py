"""Strings and bytes that are known when a kernel is compiled."""

import numpy as np
import pytest
from numba import cuda

from tests.frontend.by_python import by_python_and_kernel
from tests.specimens.kernels import BUILT_IN, message
from thirty_two_lanes.core.errors import UnsupportedError

DEVICE = """\
@cuda.jit(device=True)
def change(x, mode):
    if mode == "up":
        return x + 1
    elif mode != "down":
        return 0 * x
    return x - 1

@cuda.jit(device=True)
def passed_on(x, mode):
    return change(x, mode) if mode in ("up", "down") else -1.0

@cuda.jit(device=True)
def within(x, mode):
    return x if mode in "upward" else -x

"""


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            "out[i] = change(a[i], 'up') + 3 * change(a[i], 'down') "
            "+ change(a[i], MODE)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "out[i] = passed_on(a[i], 'up') + 3 * passed_on(a[i], MODE)",
            marks=pytest.mark.slow,
        ),
        "out[i] = within(a[i], 'ward') + 3 * within(a[i], 'down')",
        "mode = MODE\nout[i] = 1 if mode == 'other' and len(mode) == 5 else 2",
    ],
)
def test_a_string_chooses_what_a_device_function_does(lines):
    """Numba compiles the function once for each string."""
    expected, actual = by_python_and_kernel(lines, {"MODE": "other"}, DEVICE)
    assert expected == actual


@pytest.mark.skipif(BUILT_IN, reason="the package's own")
@pytest.mark.parametrize(
    "lines",
    [
        "out[i] = LETTERS[0] + LETTERS[i % 3] + len(LETTERS) + b'xyz'[i % 2]",
        "for x in LETTERS:\n    out[i] += x * 2 ** i",
        "x, y, z = LETTERS[::-1]\nout[i] = x + 2 * y + 3 * z",
    ],
)
def test_bytes_are_an_array_of_small_numbers(lines):
    """Frozen, like an array from outside the kernel."""
    expected, actual = by_python_and_kernel(lines, {"LETTERS": b"abc"})
    assert expected == actual


@cuda.jit
def chooses_by_thread(out):
    mode = "up" if cuda.threadIdx.x > 3 else "down"
    out[0] = 1 if mode == "up" else 2


@pytest.mark.slow
@pytest.mark.skipif(BUILT_IN, reason="the package's own")
def test_a_string_that_differs_between_threads_is_refused_with_its_line():
    """A GPU would compare it character by character."""
    said = message(UnsupportedError, chooses_by_thread, 1, 8, np.zeros(1))
    assert "a string that differs between paths is not emulated" in said
    assert 'mode = "up" if' in said
