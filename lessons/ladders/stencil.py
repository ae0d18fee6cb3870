"""The ladder of a stencil: a step of a cube's cells, beside a copy of the same bytes; and
some rungs in CUDA C++.

Kernels, launches and what is right are the lesson's.
"""

from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels

LESSON = "28"
TITLE = "Stencil"
SOURCE = Path(__file__).with_suffix(".cu")
CUBE = 512
SHAPE = (CUBE,) * 3


def named(title, works, sizes):
    """Works by their whole names."""
    return {f"{title}, {name}": (*work, sizes) for name, work in works.items()}


def launch_of(ours, rung, shape):
    """The blocks and threads of one of a lesson's rungs."""
    _, threads, covers = rung
    return ours["over"](shape, covers), threads


def numba_work(ours, rung, shape, *arrays):
    """A launch of one of a lesson's rungs."""
    arrays = [cuda.as_cuda_array(it) for it in arrays]
    launch = *launch_of(ours, rung, shape), cuda.default_stream()
    return lambda: rung[0][launch](*arrays)


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


STEPS = {  # each rung of the cube, but for the last, by the lesson's name
    "plain": "PLAIN",
    "plain, 256 threads": "PLAIN_256",
    "tiled": "TILED",
    "walk": "WALK",
    "walk, 16 layers": "WALK_16",
    "layer": "LAYER",
    "layer, two tiles": "TWO_LAYERS",
    "layer, 16 layers": "LAYER_16",
    "fours": "FOURS",
}


def steps(bench):
    """A step of the cube, rung by rung."""
    cube = Cube(bench.cupy)
    rungs = {name: cube.ours[found] for name, found in STEPS.items()}
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
    return named("step", works, {"bytes": 8 * CUBE**3})


# ------------------------------------------------------------------ CUDA C++


@cache
def twins(cupy):
    """The kernels in C++, with the lesson's numbers, compiled by nvcc."""
    ours = lesson_kernels(LESSON)
    lines = (
        f"constexpr float SHARE = {float(ours['SHARE'])}f;",
        f"constexpr int LAYERS = {ours['LAYERS']};",
        f"constexpr int HEIGHT = {CUBE}, WIDTH = {CUBE};",
    )
    code = "\n".join([*lines, SOURCE.read_text("utf-8")])
    module = cupy.RawModule(code=code, backend="nvcc", options=("-O3",))
    names = [f"step_{it}" for it in ("plain", "walk", "layer", "known")]
    return {name: module.get_function(name) for name in names}


# ------------------------------------------------------------------ the sweep

LADDERS = {"a step of 512^3 cells": ("step, copy", steps)}
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
    rung = kernel, (across, down), (4 * across, down, layers)
    return *cube.step(rung, flat=True), {"bytes": 8 * CUBE**3}
