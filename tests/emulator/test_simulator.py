"""The emulator against Numba's own simulator, at tiny sizes, in a process of its own.

The simulator's types are NumPy's, so all is int64 and float64.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda, float64, int64

from tests.paths import ROOT

KERNELS = {}


def case(blocks, threads, *arguments):
    """Remember a kernel with its launch."""

    def remember(kernel):
        KERNELS[kernel.__name__] = (kernel, blocks, threads, arguments)
        return kernel

    return remember


def ramp(size, dtype=np.int64):
    return (np.arange(size) * 37 % 101 - 50).astype(dtype)


@case(2, 16, ramp(32), np.zeros(32, np.int64))
def reverse(a, out):
    cells = cuda.shared.array(16, int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t] = a[i]
    cuda.syncthreads()
    out[i] = cells[15 - t]


@case(2, 8, ramp(16, np.float64), np.zeros(2))
def total(a, out):
    part = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    half = 4
    cuda.syncthreads()
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@case((2, 2), (4, 4), ramp(64, np.float64).reshape(8, 8), np.zeros((8, 8)))
def square(a, out):
    left = cuda.shared.array((4, 4), float64)
    right = cuda.shared.array((4, 4), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    value = 0.0
    for k in range(2):
        left[ty, tx] = a[row, 4 * k + tx]
        right[ty, tx] = a[4 * k + ty, col]
        cuda.syncthreads()
        for i in range(4):
            value += left[ty, i] * right[i, tx]
        cuda.syncthreads()
    out[row, col] = value


@case(1, 16, ramp(16), np.zeros(16, np.int64))
def scan(a, out):
    cells = cuda.shared.array((2, 16), int64)
    t = cuda.threadIdx.x
    cells[0, t] = a[t]
    now, distance = 0, 1
    cuda.syncthreads()
    while distance < 16:
        cells[1 - now, t] = cells[now, t]
        if t >= distance:
            cells[1 - now, t] += cells[now, t - distance]
        now = 1 - now
        distance *= 2
        cuda.syncthreads()
    out[t] = cells[now, t]


@case(3, 8, ramp(24), np.zeros(5, np.int64))
def histogram(a, out):
    counts = cuda.shared.array(5, int64)
    t = cuda.threadIdx.x
    if t < 5:
        counts[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, a[cuda.grid(1)] % 5, 1)
    cuda.syncthreads()
    if t < 5:
        cuda.atomic.add(out, t, counts[t])


@case(1, (4, 2), np.zeros(8, np.int64))
def votes(out):
    t = cuda.threadIdx.x + 4 * cuda.threadIdx.y
    out[t] = cuda.syncthreads_count(1 if t % 3 == 0 else 0)
    for k in range(2):
        out[t] += 10 * cuda.syncthreads_or(1 if t == k else 0)
        out[t] += 100 * cuda.syncthreads_and(1 if t != 9 else 0)


def results():
    """What each kernel leaves in its last argument, by name."""
    found = {}
    for name, (kernel, blocks, threads, arguments) in KERNELS.items():
        arguments = [argument.copy() for argument in arguments]
        cuda.jit(kernel)[blocks, threads](*arguments)
        found[name] = arguments[-1].tolist()
    return found


@pytest.fixture(scope="module")
def simulated():
    """The simulator's results."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.emulator.test_simulator"],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=ROOT,
    )
    return json.loads(done.stdout) if done.returncode == 0 else pytest.fail(done.stderr)


@pytest.fixture(scope="module")
def emulated():
    """The emulator's results, or those of the GPU that is there."""
    import helpers  # noqa: F401    launches are answered from here on

    return results()


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_gives_what_numbas_simulator_gives(name, simulated, emulated):
    """Barriers, shared memory and atomics, bit for bit."""
    assert simulated[name] == emulated[name]


if __name__ == "__main__":
    print(json.dumps(results()))
