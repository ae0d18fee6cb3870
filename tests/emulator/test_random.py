"""The emulator against `numba.njit`, thread by thread, on kernels that a seed wrote.

Threads of a warp that store at one line in the same turns of the loops around it must
do so in one request.
"""

import json
import re

import numpy as np
import pytest
from numba import cuda, njit

from helpers import emulate
from tests.paths import RECORDED
from tests.specimens.random_kernels import sources
from tests.specimens.random_launches import (
    BLOCKS,
    SIZE,
    STEPS,
    THREADS,
    arrays,
    compiled,
)

MORE = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 60))


@pytest.mark.parametrize("seed", [*range(8), *MORE])
def test_a_random_kernel_gives_what_njit_gives_and_reconverges(seed):
    """Each thread gets what njit gets; a warp's stores of one turn are one request."""
    check_program(seed)


def check_program(seed):
    """Hold one program's results and its stores' requests against njit's."""
    kernel = compiled(sources(seed)[0], "kernel", as_kernel, seed)
    inputs, outputs = arrays(seed)
    expected, trace = thread_by_thread(seed)

    run = emulate(kernel)[BLOCKS, THREADS](SIZE, *inputs, *outputs)

    for wanted, got in zip(expected, outputs, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    requests = {
        int(re.search(r"# store (\d+)", site.text)[1]): row.requests
        for site, row in run.coalescing.by_line.items()
        if row.kind == "store"
    }
    assert requests_of(trace) == requests


def thread_by_thread(seed):
    """What njit gives: the outputs, and what each thread noted."""
    function = compiled(sources(seed)[1], "thread", as_njit, seed)
    inputs, outputs = arrays(seed)
    trace = np.full((SIZE, STEPS), -1)
    for t in range(SIZE):
        function(t, np.int32(t % THREADS % 32), SIZE, *inputs, *outputs, trace)
    return outputs, trace


def requests_of(trace):
    """Requests by store, from what each thread noted: one for each warp and turn."""
    counts = {}
    threads = np.arange(SIZE)
    warps = threads // THREADS * 8 + threads % THREADS // 32
    for warp in np.unique(warps):
        for code in np.unique(trace[warps == warp]):
            if code >= 0:
                counts[code % 1000] = counts.get(code % 1000, 0) + 1
    return counts


def as_kernel(function, device=False):
    return cuda.jit(device=True)(function) if device else cuda.jit(function)


def as_njit(function, device=False):
    return njit(error_model="numpy")(function)


def test_a_gpu_agreed_bit_for_bit_when_it_was_asked():
    """Thousands of kernels were run there, and no value differed."""
    file = RECORDED / "random_kernels.json"
    recorded = json.loads(file.read_text(encoding="utf-8"))

    assert recorded["kernels"] >= 2000
    assert {} == recorded["differ"]
