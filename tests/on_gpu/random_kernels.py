"""Random kernels on a GPU and in the emulator.

    python -m tests.on_gpu.random_kernels 2000

Each kernel runs on both with the same inputs; each output must be equal bit for bit.
The compiler's contraction of products and sums (FMA) is switched off, since it is the
compiler's choice and not modelled. Writes what it saw to `tests/recorded/`.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from multiprocessing import get_context

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import nvvm

from helpers import device, emulate
from helpers.measuring.timing import versions
from tests.paths import RECORDED
from tests.specimens.random_kernels import sources
from tests.specimens.random_launches import (
    BLOCKS,
    OUTPUTS,
    SIZE,
    THREADS,
    arrays,
    compiled,
)

COMMAND = "python -m tests.on_gpu.random_kernels"


def main(count=2000, processes=8):
    """Run the kernels of the seeds 0 to count - 1 and write what differs."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        found = list(pool.map(differences, range(count), chunksize=8))
    differ = {seed: text for seed, text in enumerate(found) if text}
    result = {
        "command": f"{COMMAND} {count}", "gpu": device.name, "kernels": count,
        "date": date.today().isoformat(), "versions": versions(), "differ": differ,
    }
    RECORDED.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, sort_keys=True)
    (RECORDED / "random_kernels.json").write_text(text + "\n", encoding="utf-8")
    print(f"{count} kernels, {len(differ)} differ")
    for seed, told in list(differ.items())[:20]:
        print(seed, told)


def differences(seed):
    """What the GPU and the emulator do not agree on; empty when on everything."""
    without_contraction()
    kernel = compiled(sources(seed)[0], "kernel", as_kernel, seed)
    inputs, here = arrays(seed)
    _, there = arrays(seed)
    try:
        emulate(kernel)[BLOCKS, THREADS](SIZE, *inputs, *here)
        kernel[BLOCKS, THREADS](SIZE, *inputs, *there)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    pairs = zip(OUTPUTS, here, there, strict=True)
    told = (compared(np.dtype(dtype).name, *pair) for dtype, *pair in pairs)
    return "; ".join(filter(None, told))


def compared(name, here, there):
    """How many values of an output differ, and the first of them."""
    same = (here == there) | (np.isnan(here) & np.isnan(there))
    if same.all():
        return ""
    first = np.flatnonzero(~same)[0]
    return (
        f"{name}: {np.count_nonzero(~same)} differ, [{first}] is {here[first]!r} here "
        f"and {there[first]!r} on the GPU"
    )


def as_kernel(function, device=False):
    return cuda.jit(device=True)(function) if device else cuda.jit(lto=False)(function)


def without_contraction():
    """Have libNVVM round each product and each sum by itself."""
    if isinstance(nvvm.compile_ir, partial):
        return
    nvvm.compile_ir = partial(nvvm.compile_ir, fma=0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
