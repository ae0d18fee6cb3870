"""How random kernels are compiled, and what they are launched with."""

import linecache
import math

import numpy as np
from numba import cuda, njit

from tests.specimens.random_kernels import HELPERS

THREADS, BLOCKS, SIZE = 40, 3, 101
STEPS = 4096  # noted stores of one thread, at most
INPUTS = (np.int32, np.int64, np.int8, np.uint32, np.float32, np.float64)
OUTPUTS = (np.int64, np.float64, np.int8)


def arrays(seed):
    """What a program reads, and what it writes."""
    rng = np.random.default_rng(seed)
    inputs = [
        rng.integers(*((0, 2**32) if dtype is np.uint32 else (-100, 100)), SIZE)
        for dtype in INPUTS
    ]
    outputs = [np.zeros(4 * SIZE, dtype) for dtype in OUTPUTS]
    return [a.astype(d) for a, d in zip(inputs, INPUTS, strict=True)], outputs


def compiled(text, name, decorate, seed):
    """A function made from source text that errors can quote."""
    file = f"<random {name} {seed}>"
    text = f"{HELPERS}\n\n{text}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"np": np, "math": math, "cuda": cuda, "note": note}
    exec(compile(text, file, "exec"), namespace)
    for helper in ("helper_i", "helper_f"):
        namespace[helper] = decorate(namespace[helper], device=True)
    return decorate(namespace[name])


@njit
def note(trace, t, noted, code):
    if noted < trace.shape[1]:
        trace[t, noted] = code
    return noted + 1
