"""The rungs of the lesson "Multiply matrices as fast as cuBLAS", beside cuBLAS.

A rung is right if its result is cuBLAS's, bit for bit. Products of any shape have a ladder
of their own.
"""

from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels

LESSON = "24"
SLOW = 2  # rungs at the bottom, which are left out at 8192


@cache
def kernels():
    """The lesson's, each compiled once for all sizes and runs."""
    return lesson_kernels(LESSON)


def square(bench, n):
    """Products of n × n matrices by every rung, by its twins in CUDA C++ and by cuBLAS."""
    cupy, ours = bench.cupy, kernels()
    a, b, a_turned, c = matrices(cupy, n, n, n)
    right, sizes = partial(filled_with, c, cupy.matmul(a, b)), {"flops": 2 * n**3}
    works = {"cuBLAS": lambda: cupy.matmul(a, b, out=c)}
    for name in list(ours["RUNGS"])[SLOW if n > 4096 else 0 :]:
        works[name] = launch(ours, name, c, a, a_turned, b)
    twins = native(cupy, c, a, a_turned, b)
    works |= {name: work for name, work in twins.items() if n <= 4096 or "last" in name}
    return {f"{name} {n}": (work, right, sizes) for name, work in works.items()}


def filled_with(array, expected):
    """Does an array hold what it should, bit for bit? Afterwards it holds NaN."""
    good = bool((array == expected).all())
    array.fill(np.nan)
    return good


def matrices(cupy, m, k, n):
    """Two factors between -0.5 and 0.5, the first one turned, too, and their product."""
    a = cupy.random.random((m, k), dtype=np.float32) - np.float32(0.5)
    b = cupy.random.random((k, n), dtype=np.float32) - np.float32(0.5)
    return a, b, cupy.ascontiguousarray(a.T), cupy.full((m, n), np.nan, np.float32)


def launch(ours, name, c, a, a_turned, b):
    """A rung's launch."""
    kernel, *_, turned = ours["RUNGS"][name]
    arrays = [cuda.as_cuda_array(it) for it in (c, a_turned if turned else a, b)]
    blocks, threads = ours["launch"](name, *c.shape)
    return lambda: kernel[blocks, threads](*arrays)


def native(cupy, c, a, a_turned, b):
    """The rungs in CUDA C++."""
    source = Path(__file__).with_suffix(".cu").read_text("utf-8")
    module = cupy.RawModule(code=source, backend="nvcc", options=("-O3",))
    m, n = c.shape
    sizes = [np.uint32(it) for it in (m, b.shape[0], n)]
    launches = {
        "columns": ((n // 64, m // 64), 512, a, ()),
        "squares": ((n // 128, m // 128), 256, a, ()),
        "last": ((n // 128, m // 256), 256, a_turned, (np.uint32(m), np.uint32(n))),
    }

    def work(name, grid, threads, first, more):
        kernel = module.get_function(name)
        return lambda: kernel(grid, (threads,), (c, first, b, *sizes, *more))

    return {f"CUDA C++ {name}": work(name, *it) for name, it in launches.items()}


SWEEP = {
    f"{cols} columns, {steps} steps{', snake' if snake else ''}": (cols, steps, snake)
    for cols in (8, 16)
    for steps in (8, 16)
    for snake in (False, True)
}


def sweep_work(bench, choice, n=4096):
    """The kernel with its copies in the background, with another tile or order."""
    cupy, ours = bench.cupy, lesson_kernels(LESSON)
    a, b, a_turned, c = matrices(cupy, n, n, n)
    cols, steps, snake = choice
    order = ours["ORDERS"]["snake" if snake else "by columns"]
    step = ours["make_large_step"](cols, order)
    kernel = ours["make_async"](ours["make_place"](cols), step, cols, steps)
    ours["RUNGS"]["variant"] = kernel, 16 * cols, 128, 256, True
    work = launch(ours, "variant", c, a, a_turned, b)
    work()      # compiles it
    right = partial(filled_with, c, cupy.matmul(a, b))
    return work, right, {"flops": 2 * n**3}


LADDERS = {
    "4096": ("cuBLAS 4096", partial(square, n=4096)),
    "8192": ("cuBLAS 8192", partial(square, n=8192)),
}
