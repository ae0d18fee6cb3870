"""The product of any shape, beside cuBLAS: thirty shapes, thin, flat, deep and odd.

For each shape: one tile for all, whole; the best tile without cutting its sums; the plan
that the model likes best; and the fastest of some that it likes.
"""

from functools import cache, partial

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels

LESSON = "35"
TITLE = "Products of any shape"
CUBES = 64, 128, 256, 512, 768, 1000, 1024, 1536, 2000, 2048, 3001, 4096, 8192
SHAPES = (
    *((n, n, n) for n in CUBES),
    (4097, 4100, 4099),
    (5000, 3000, 7000),
    (1000, 10000, 1000),
    (16384, 4096, 64),
    (64, 4096, 16384),
    (4096, 128, 4096),
    (16384, 64, 16384),
    (16384, 1024, 256),
    (777, 5000, 123),
    (100, 1000, 10000),
    (2500, 1500, 500),
    (256, 16384, 256),
    (64, 16384, 64),
    (128, 16384, 128),
    (4567, 333, 9001),
    (5000, 100, 5000),
    (1023, 1025, 1027),
)


@cache
def kernels():
    """The lesson's, each compiled once for all shapes and runs."""
    return lesson_kernels(LESSON)


def words(m, k, n) -> str:
    """A shape as it is written."""
    return f"{m} × {k} × {n}"


def shape(bench, m, k, n):
    """A product by each kind of plan, and by cuBLAS."""
    cupy, ours = bench.cupy, kernels()
    a, b = (
        cupy.random.random(it, dtype=np.float32) - np.float32(0.5)
        for it in ((m, k), (k, n))
    )
    c = cupy.full((m, n), np.nan, np.float32)
    exact = cupy.matmul(a.astype(np.float64), b.astype(np.float64))
    bound = ours["bound"](k) * cupy.matmul(abs(a), abs(b))

    def right():
        good = bool((abs(c - exact) <= bound).all())
        c.fill(np.nan)
        return good

    arrays = [cuda.as_cuda_array(it.ravel()) for it in (c, a, b)]
    works = {"cuBLAS": partial(cupy.matmul, a, b, out=c)}
    for name, (plan, room) in plans(ours, arrays, (m, k, n)).items():
        given = plan, arrays[0], room, *arrays[1:], m, k, n
        works[name] = partial(ours["launch"], *given)
    flops = {"flops": 2 * m * k * n}
    return {f"{it} {words(m, k, n)}": (go, right, flops) for it, go in works.items()}


def plans(ours, arrays, sizes):
    """The plans that a ladder compares, with their rooms, by name."""
    found = ours["plans_for"](*sizes)
    whole = [it for it in found if it[1] == it[2]]
    one = [it for it in whole if it[0] == ours["ONE_TILE"]]
    choose = partial(ours["chosen"], arrays=arrays, sizes=sizes)
    return {
        "one tile": choose(one[:1]),
        "whole tiles": choose(whole),
        "the model's plan": choose(found[:1]),
        "any shape": choose(found[: ours["TRIES"]]),
    }


LADDERS = {
    words(*sizes): (
        f"cuBLAS {words(*sizes)}",
        partial(shape, m=sizes[0], k=sizes[1], n=sizes[2]),
    )
    for sizes in SHAPES
}
