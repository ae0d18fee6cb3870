"""The same lines twice: as Python for one thread after another, and as a kernel."""

import itertools
import linecache
from textwrap import dedent, indent
from types import SimpleNamespace

import numpy as np
from numba import cuda

from helpers import emulate

THREADS = 32
_files = itertools.count()


def by_python_and_kernel(lines, names, device=""):
    """What lines leave in `out[i]`, of arrays `a` and `m`: by Python, and by us.

    `device` holds definitions of device functions that the lines may call.
    """
    source = "def kernel(out, a, m):\n    i = cuda.grid(1)\n"
    source = dedent(device) + source + indent(dedent(lines), "    ")
    expected, actual = _arguments(), _arguments()
    plain = SimpleNamespace(
        grid=lambda axes: plain.thread,
        jit=lambda **options: lambda function: function,
        const=SimpleNamespace(array_like=np.array),
        local=SimpleNamespace(array=np.zeros),
    )
    function = function_of(source, {**names, "cuda": plain})
    for plain.thread in range(THREADS):
        function(*expected)
    kernel = cuda.jit(function_of(source, {**names, "cuda": cuda}))
    emulate(kernel)[1, THREADS](*actual)
    return expected[0].tolist(), actual[0].tolist()


def _arguments():
    number = np.arange(THREADS)
    return np.zeros(THREADS), number / 4 + 1, np.arange(THREADS * 3.0).reshape(-1, 3)


def function_of(source, names):
    """The function `kernel` of a source, whose lines messages can quote."""
    file = f"<lines {next(_files)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    names = {"np": np, **names}
    exec(compile(source, file, "exec"), names)
    return names["kernel"]
