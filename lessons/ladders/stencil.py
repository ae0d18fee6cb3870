"""The ladders of stencils: a step of a cube's cells, an 11 × 11 filter, and two filters
at once, beside a copy of the same bytes; and some rungs in CUDA C++.

Kernels, launches and what is right are the lesson's.
"""

from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels

LESSON = "28"
TITLE = "Stencil and convolution"
SOURCE = Path(__file__).with_suffix(".cu")
CUBE, IMAGE = 512, 8192
SHAPE = (CUBE,) * 3
CELLS, PIXELS = CUBE**3, IMAGE**2


def named(title, works, sizes):
    """Works by their whole names."""
    return {f"{title}, {name}": (*work, sizes) for name, work in works.items()}


def launch_of(ours, rung, shape):
    """The blocks and threads of one of the lesson's rungs."""
    _, threads, *sides = rung
    return ours["over"](shape, *sides[: len(shape)]), threads


def numba_work(ours, rung, shape, *arrays):
    """A launch of one of the lesson's rungs."""
    arrays = [cuda.as_cuda_array(it) for it in arrays]
    launch = *launch_of(ours, rung, shape), cuda.default_stream()
    return lambda: rung[0][launch](*arrays)


# ------------------------------------------------------------------ the cube


class Cube:
    """A cube's cells, and an output whose cells inside begin as NaN."""

    def __init__(self, cupy):
        cupy.random.seed(28)
        self.cupy, self.ours = cupy, lesson_kernels(LESSON)
        self.src = cupy.random.random(SHAPE, dtype=np.float32)
        self.out = cupy.empty_like(self.src)
        self.stepped = self.ours["stepped"](self.src).astype(np.float32)
        self.clear()

    def clear(self):
        """Cells inside are NaN, and the surface is what it stays."""
        self.out[:] = self.src
        self.out[1:-1, 1:-1, 1:-1] = np.nan

    def right(self, expected):
        good = bool(self.cupy.allclose(self.out, expected, rtol=1e-5, atol=1e-6))
        self.clear()
        return good

    def step(self, rung, flat=False):
        """A step by one of the lesson's rungs, and its check."""
        arrays = [it.ravel() if flat else it for it in (self.out, self.src)]
        work = numba_work(self.ours, rung, SHAPE, *arrays)
        return work, partial(self.right, self.stepped)


def steps(bench):
    """A step of the cube, rung by rung."""
    cube = Cube(bench.cupy)
    rungs = {name: cube.ours[name.upper()] for name in ("plain", "tiled", "walk", "fours")}
    rungs["plain, 256 threads"] = (rungs["plain"][0], (32, 8), 32, 8, 1)
    known = cube.ours["known"](cube.src)
    works = {
        "copy": (
            lambda: cube.cupy.copyto(cube.out, cube.src),
            partial(cube.right, cube.src),
        ),
        **{name: cube.step(rung) for name, rung in rungs.items()},
        "known": cube.step(known, flat=True),
    }
    for name, rung in {**rungs, "known": known}.items():
        if kernel := twins(bench.cupy).get(f"step_{name}"):
            launch = launch_of(cube.ours, rung, SHAPE)
            work = partial(kernel, *launch, (cube.out, cube.src, *map(np.int32, SHAPE)))
            works[f"{name} in C++"] = work, partial(cube.right, cube.stepped)
    return named("step", works, {"bytes": 8 * CELLS})


# ------------------------------------------------------------------ the image


class Image:
    """An image with a margin, its filtered pixels, and an output that begins as NaN."""

    def __init__(self, cupy, ours, weights):
        cupy.random.seed(28)
        self.cupy = cupy
        self.src = cupy.random.random((IMAGE + 10, IMAGE + 12), dtype=np.float32)
        self.out = cupy.full((IMAGE, IMAGE), np.nan, np.float32)
        expected = ours["filtered"](self.src, self.out.shape, weights)
        self.expected = expected.astype(np.float32)

    def right(self):
        good = bool(self.cupy.allclose(self.out, self.expected, rtol=1e-4, atol=1e-4))
        self.out.fill(np.nan)
        return good


def filters(bench):
    """An 11 × 11 filter, rung by rung."""
    ours = lesson_kernels(LESSON)
    image = Image(bench.cupy, ours, ours["WEIGHTS"])
    weights = bench.cupy.asarray(ours["WEIGHTS"])
    rungs = {
        "plain": ours["F_PLAIN"],
        "constant": ours["F_CONSTANT"],
        "fours": ours["F_FOURS"],
        "walking": ours["WALKING"],
        "ahead": ours["AHEAD"],
    }
    works = {}
    for name, rung in rungs.items():
        arrays = image.out, image.src, *([weights] if name == "plain" else [])
        works[name] = numba_work(ours, rung, image.out.shape, *arrays), image.right
        if kernel := twins(bench.cupy).get(f"filter_{name}"):
            launch = launch_of(ours, rung, image.out.shape)
            work = partial(kernel, *launch, (*arrays, *map(np.int32, image.out.shape)))
            works[f"{name} in C++"] = work, image.right
    return named("filter", works, {"flops": 2 * 121 * PIXELS})


def both(bench):
    """Two filters of 11 weights, one after the other and at once."""
    cupy, ours = bench.cupy, lesson_kernels(LESSON)
    bell = ours["BELL"]
    image = Image(cupy, ours, np.outer(bell, bell))
    middle = cupy.empty((IMAGE + 10, IMAGE), np.float32)
    launch = ours["F_FOURS"][1:]
    across, down = (
        numba_work(ours, (ours["make_wide"](weights), *launch), to.shape, to, src)
        for weights, to, src in (
            (bell[None], middle, image.src),
            (bell[:, None], image.out, middle),
        )
    )
    one, two = cupy.zeros((2, IMAGE, IMAGE), np.float32)
    works = {
        "copy": (lambda: cupy.copyto(one, two), lambda: True),
        "two launches": (lambda: (across(), down()), image.right),
        "walking": (
            numba_work(ours, ours["FUSED"], one.shape, image.out, image.src),
            image.right,
        ),
    }
    return named("separable", works, {"bytes": 8 * PIXELS})


# ------------------------------------------------------------------ CUDA C++


@cache
def twins(cupy):
    """The kernels in C++, with the lesson's numbers, compiled by nvcc."""
    ours = lesson_kernels(LESSON)
    rows = (
        "{" + ", ".join(f"{it!r}f" for it in row.tolist()) + "}"
        for row in ours["WEIGHTS"].astype(float)
    )
    lines = (
        f"constexpr int SIDE = {ours['SIDE']};",
        f"__device__ constexpr float WEIGHTS[SIDE][SIDE] = {{{', '.join(rows)}}};",
        f"constexpr float SHARE = {float(ours['SHARE'])}f;",
        f"constexpr int LAYERS = {ours['LAYERS']}, ROWS = {ours['STRIP']};",
        f"constexpr int HEIGHT = {CUBE}, WIDTH = {CUBE};",
    )
    code = "\n".join([*lines, SOURCE.read_text("utf-8")])
    module = cupy.RawModule(code=code, backend="nvcc", options=("-O3",))
    names = [f"step_{it}" for it in ("plain", "walk", "known")]
    names += [f"filter_{it}" for it in ("plain", "constant", "ahead")]
    return {name: module.get_function(name) for name in names}


# ------------------------------------------------------------------ the sweep

LADDERS = {
    "a step of 512^3 cells": ("step, copy", steps),
    "11 × 11 weights, 8192^2 pixels": ("filter, ahead in C++", filters),
    "11 weights across and 11 down": ("separable, copy", both),
}
SWEEP = {
    f"{layers} layers, {across} × {down} threads": (layers, across, down)
    for across, down in ((32, 8), (32, 4), (32, 16), (64, 4), (64, 8), (128, 4))
    for layers in (2, 3, 4, 5, 6, 8, 16, 64)
}


def sweep_work(bench, choice):
    """The step's last rung with other walks and blocks."""
    layers, across, down = choice
    cube = Cube(bench.cupy)
    kernel = cube.ours["make_known"](layers, CUBE, CUBE)
    rung = kernel, (across, down), 4 * across, down, layers
    return *cube.step(rung, flat=True), {"bytes": 8 * CELLS}
