"""What a kernel takes from modules: their arrays, tuples and numbers."""

import re
from textwrap import indent
from types import ModuleType

import numpy as np
import pytest
from numba import cuda

from tests.frontend.by_python import by_python_and_kernel
from tests.specimens.kernels import BUILT_IN, message
from thirty_two_lanes.emulator import KernelError

mod, package = ModuleType("mod"), ModuleType("package")
package.mod = mod
mod.A = np.arange(12.0).reshape(3, 4) + 1
mod.V = np.array([2, 0, 1])
mod.ZERO = np.array(7.5)
mod.RECORDS = np.array([(1.5, 2), (3.5, 4)], [("x", "f8"), ("k", "i8")])
mod.NUMBER, mod.TRIPLE, mod.PAIRS = 5, (1, 2.5, 3), ((1, 2), (3, 4))
mod.ARRAYS = np.arange(3.0), np.arange(3.0) * 2
mod.NESTED = (np.arange(3.0), 2), (np.arange(2.0) + 5, 7)
NAMES = {"mod": mod, "package": package}

LINES = [
    "out[i] = mod.A[i % 3, 1] + mod.A[1][i % 4]",
    "for x in mod.V:\n    out[i] += x * 2 ** i",
    "for j, x in enumerate(mod.V):\n    out[i] += x * j",
    "for x, y in zip(mod.V, mod.A):\n    out[i] += x * y[1]",
    "out[i] = len(mod.A) + len(mod.V) + mod.A.shape[1] * mod.A.ndim",
    "b = mod.A\nif i > 3:\n    b = mod.A.T\nout[i] = b[2, 1]",
    "b = mod.V if i > 3 else mod.V[1:]\nout[i] = b[0]",
    "c = cuda.const.array_like(mod.A)\nout[i] = c[1, 2] + c.shape[0]",
    "out[i] = package.mod.A[1, 1] + package.mod.NUMBER",
    "inner = package.mod\nout[i] = inner.A[1, 1] + inner.NUMBER",
    "x, y, z = mod.TRIPLE\nout[i] = x + y + z + mod.TRIPLE[1]",
    "out[i] = mod.PAIRS[1][0] + mod.PAIRS[i % 2][1]",
    "out[i] = mod.ARRAYS[1][1] + mod.ARRAYS[i % 2][2]",
    "for x in mod.ARRAYS:\n    out[i] += x[i % 3]",
    "out[i] = mod.NESTED[0][0][1] + mod.NESTED[1][0][1] * mod.NESTED[1][1]",
    "out[i] = mod.RECORDS[1]['x'] + mod.RECORDS['k'][0] + mod.ZERO[()]",
    "out[i] = 1 if i in mod.V else 2",
    "x, y, z = mod.V\nout[i] = x + 10 * y + 100 * z",
    "for j in np.ndindex(mod.A.shape):\n    out[i] += mod.A[j] * mod.A.flat[2]",
]


@pytest.mark.parametrize("lines", LINES)
def test_a_modules_values_are_used_like_globals(lines):
    """Numba freezes them when it compiles the kernel, as it does globals."""
    expected, actual = by_python_and_kernel(lines, NAMES)
    assert expected == actual


@pytest.mark.parametrize("lines", LINES[::6])
def test_a_device_function_uses_a_modules_arrays(lines):
    """The kernel passes none of them."""
    device = "@cuda.jit(device=True)\ndef f(out, i):\n" + indent(lines, "    ") + "\n"
    expected, actual = by_python_and_kernel("f(out, i)", NAMES, device)
    assert expected == actual


def test_a_modules_arrays_can_be_passed_on():
    """To a device function, one by one, in a tuple, and as `*tuple`."""
    device = """\
        @cuda.jit(device=True)
        def f(x, y, both):
            return x[1] + 10 * y[2] + 100 * both[1][1]

    """
    lines = "out[i] = f(*mod.ARRAYS, mod.ARRAYS) + f(mod.V, mod.A[0], mod.ARRAYS)"
    expected, actual = by_python_and_kernel(lines, NAMES, device)
    assert expected == actual


@cuda.jit
def reads_outside_of_a_modules_array(out):
    out[0] = package.mod.A[0, 3 + cuda.threadIdx.x]


def test_errors_name_a_modules_array_as_the_source_does():
    """With the path to it."""
    kernel = reads_outside_of_a_modules_array
    assert "package.mod.A" in message(IndexError, kernel, 1, 2, np.zeros(4))


@cuda.jit(device=True)
def store_into(array):
    array[0, 0] = 1


@cuda.jit
def stores_into_a_modules_array(out):
    mod.A[0, 0] = 1


@cuda.jit
def adds_to_a_modules_array(out):
    b = mod.A[0]
    cuda.atomic.add(b, 0, 1)


@cuda.jit
def passes_a_modules_array_to_be_written(out):
    store_into(mod.A)


@pytest.mark.parametrize(
    "kernel",
    [
        stores_into_a_modules_array,
        adds_to_a_modules_array,
        passes_a_modules_array_to_be_written,
    ],
)
def test_a_frozen_array_cannot_be_written(kernel):
    """It lies in constant memory; Numba types it as one that can be written."""
    said = message(KernelError, kernel, 1, 4, np.zeros(4))
    assert re.match("`mod.A` is outside the kernel, .* frozen", said)
    assert 1 == mod.A[0, 0]


@cuda.jit
def calls_a_method(out):
    out[0] = mod.V.sum()


@pytest.mark.skipif(BUILT_IN, reason="there are no methods")
def test_a_method_of_a_modules_array_is_refused_with_the_remedy():
    """Numba cannot compile it; of a global's array it can."""
    said = message(KernelError, calls_a_method, 1, 1, np.zeros(1))
    assert "a method of a module's array" in said and "`A = module.A`" in said
