"""The ladders of stencils: a step of a cube's cells, an 11 × 11 filter, and two filters
at once, beside a copy of the same bytes; and some rungs in CUDA C++.
"""

from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels

SOURCE = Path(__file__).with_suffix(".cu")
CUBE, IMAGE = 512, 8192
CELLS, PIXELS = CUBE**3, IMAGE**2


def numba_work(kernel, launch, *arrays):
    """A launch of one of the lesson's kernels."""
    arrays = [cuda.as_cuda_array(it) for it in arrays]
    stream = cuda.default_stream()
    return lambda: kernel[*launch, stream](*arrays)


def named(title, works, sizes):
    """Works by their whole names."""
    return {f"{title}, {name}": (*work, sizes) for name, work in works.items()}


# ------------------------------------------------------------------ the cube


class Cube:
    """A cube's cells, what a step makes of them, and an output that begins as NaN."""

    def __init__(self, cupy):
        cupy.random.seed(28)
        self.cupy = cupy
        self.src = s = cupy.random.random((CUBE,) * 3, dtype=np.float32)
        self.out, self.stepped = cupy.empty_like(s), s.copy()
        inner = (slice(1, -1),) * 3
        for axis in range(3):
            for side in slice(None, -2), slice(2, None):
                where = (*inner[:axis], side, *inner[axis + 1 :])
                self.stepped[inner] += np.float32(0.125) * (s[where] - s[inner])
        self.clear()

    def clear(self):
        """Cells inside are NaN, and the surface is what it stays."""
        self.out[:] = self.src
        self.out[1:-1, 1:-1, 1:-1] = np.nan

    def right(self, expected):
        good = bool(self.cupy.allclose(self.out, expected, rtol=1e-5, atol=1e-6))
        self.clear()
        return good


def steps(bench):
    """A step of the cube, rung by rung."""
    it, ours = Cube(bench.cupy), lesson_kernels("28")
    works = {"copy": (lambda: it.cupy.copyto(it.out, it.src), partial(it.right, it.src))}
    right = partial(it.right, it.stepped)
    for name, (kernel, launch) in step_rungs(ours).items():
        works[name] = numba_work(kernel, launch, it.out, it.src), right
    shape = [np.int32(CUBE)] * 3
    for name in "plain", "layers", "fours":
        kernel = twins(bench.cupy)[f"step_{name}"]
        launch = step_rungs(ours)[name][1]
        arguments = it.out, it.src, *shape
        works[f"{name} in C++"] = partial(kernel, *launch, arguments), right
    return named("step", works, {"bytes": 8 * CELLS})


def step_rungs(ours):
    """Each rung's kernel and its launch."""
    layers, many = ours["LAYERS"], -(-CUBE // ours["LAYERS"])
    one = (CUBE // 32, CUBE // 8, CUBE // 4), (32, 8, 4)
    walk = (CUBE // 32, CUBE // 8, many), (32, 8)
    return {
        "plain": (ours["step_plain"], one),
        "tiled": (ours["step_tiled"], one),
        "layers": (ours["make_layers"](layers), walk),
        "walk": (ours["make_walk"](layers), walk),
        "fours": (ours["make_fours"](layers), ((CUBE // 256, CUBE // 4, many), (64, 4))),
    }


# ------------------------------------------------------------------ the image


class Image:
    """An image with a margin, its filtered pixels, and an output that begins as NaN."""

    def __init__(self, cupy, weights):
        cupy.random.seed(28)
        self.cupy, side = cupy, len(weights)
        self.src = cupy.random.random((IMAGE + 10, IMAGE + 12), dtype=np.float32)
        self.expected = cupy.zeros((IMAGE, IMAGE))
        for i in range(side):
            for j in range(side):
                part = self.src[i : i + IMAGE, j : j + IMAGE]
                self.expected += float(weights[i, j]) * part
        self.expected = self.expected.astype(np.float32)
        self.out = cupy.full((IMAGE, IMAGE), np.nan, np.float32)

    def right(self):
        good = bool(self.cupy.allclose(self.out, self.expected, rtol=1e-4, atol=1e-4))
        self.out.fill(np.nan)
        return good


ONE = (IMAGE // 32, IMAGE // 8), (32, 8)
FOUR = (IMAGE // 128, IMAGE // 8), (32, 8)


def strips(rows, threads):
    """A launch of threads that walk down strips of some rows."""
    return (IMAGE // (4 * threads), -(-IMAGE // rows)), (threads, 1)


def filters(bench):
    """An 11 × 11 filter, rung by rung."""
    ours = lesson_kernels("28")
    it = Image(bench.cupy, ours["WEIGHTS"])
    weights = bench.cupy.asarray(ours["WEIGHTS"])
    walk = strips(ours["STRIP"], ours["ACROSS"])
    made = ours["STRIP"], ours["add_row"], ours["WEIGHTS"]
    rungs = {
        "plain": (ours["filter_plain"], ONE, weights),
        "constant": (ours["filter_constant"], ONE),
        "fours": (ours["filter_fours"], FOUR),
        "walking": (ours["make_walking"](*made), walk),
        "ahead": (ours["make_ahead"](*made), walk),
    }
    works = {
        name: (numba_work(kernel, launch, it.out, it.src, *more), it.right)
        for name, (kernel, launch, *more) in rungs.items()
    }
    shape = [np.int32(IMAGE)] * 2
    for name, launch in {"plain": ONE, "constant": ONE, "ahead": walk}.items():
        kernel = twins(bench.cupy)[f"filter_{name}"]
        more = [weights] if name == "plain" else []
        work = partial(kernel, *launch, (it.out, it.src, *more, *shape))
        works[f"{name} in C++"] = work, it.right
    return named("filter", works, {"flops": 2 * 121 * PIXELS})


def both(bench):
    """Two filters of 11 weights, one after the other and at once."""
    cupy, ours = bench.cupy, lesson_kernels("28")
    bell = ours["BELL"]
    it = Image(cupy, np.outer(bell, bell))
    middle = cupy.empty((IMAGE + 10, IMAGE), np.float32)
    across = numba_work(
        ours["filter_rows"], ((FOUR[0][0], FOUR[0][1] + 2), FOUR[1]), middle, it.src
    )
    down = numba_work(ours["filter_columns"], FOUR, it.out, middle)
    made = ours["FUSED_ROWS"], ours["add_weighed"], bell
    walk = strips(ours["FUSED_ROWS"], ours["FUSED_ACROSS"])
    one, two = cupy.zeros((2, IMAGE, IMAGE), np.float32)
    works = {
        "copy": (lambda: cupy.copyto(one, two), lambda: True),
        "two launches": (lambda: (across(), down()), it.right),
        "walking": (numba_work(ours["make_walking"](*made), walk, it.out, it.src), it.right),
    }
    return named("separable", works, {"bytes": 8 * PIXELS})


# ------------------------------------------------------------------ CUDA C++


@cache
def twins(cupy):
    """The kernels in C++, with the lesson's numbers, compiled by nvcc."""
    ours = lesson_kernels("28")
    rows = ("{" + ", ".join(f"{it!r}f" for it in row.tolist()) + "}"
            for row in ours["WEIGHTS"].astype(float))
    lines = (
        "constexpr int SIDE = 11;",
        f"__device__ constexpr float WEIGHTS[SIDE][SIDE] = {{{', '.join(rows)}}};",
        f"constexpr float SHARE = {float(ours['SHARE'])}f;",
        f"constexpr int LAYERS = {ours['LAYERS']}, ROWS = {ours['STRIP']};",
    )
    code = "\n".join([*lines, SOURCE.read_text("utf-8")])
    module = cupy.RawModule(code=code, backend="nvcc", options=("-O3",))
    names = [f"step_{it}" for it in ("plain", "layers", "fours")]
    names += [f"filter_{it}" for it in ("plain", "constant", "ahead")]
    return {name: module.get_function(name) for name in names}


LADDERS = {
    "a step of 512^3 cells": ("step, copy", steps),
    "11 × 11 weights, 8192^2 pixels": ("filter, ahead in C++", filters),
    "11 weights across and 11 down": ("separable, copy", both),
}
