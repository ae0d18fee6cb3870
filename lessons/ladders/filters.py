"""The ladder of filters: 11 × 11 weights, rung by rung, and two filters of 11 weights at
once, beside a copy of the same bytes; and some rungs in CUDA C++.

Kernels, launches and what is right are the lesson's.
"""

from functools import cache, partial
from pathlib import Path

import numpy as np

from lessons.baselines import lesson_kernels
from lessons.ladders.stencil import launch_of, named, numba_work

LESSON = "37"
TITLE = "Filters"
SOURCE = Path(__file__).with_suffix(".cu")
IMAGE = 8192
PIXELS = IMAGE**2


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


RUNGS = {  # each rung of the image, by the lesson's name
    "plain": "F_PLAIN",
    "constant": "F_CONSTANT",
    "constant, in parts": "F_CONSTANT_IN_PARTS",
    "fours": "F_FOURS",
    "fours, in parts": "F_FOURS_IN_PARTS",
    "walking, whole": "WALKING_WHOLE",
    "walking": "WALKING",
    "walking, 62 rows": "WALKING_62",
    "two rows a turn": "PAIRS",
    "ahead": "AHEAD",
}


def filters(bench):
    """An 11 × 11 filter, rung by rung."""
    ours = lesson_kernels(LESSON)
    image = Image(bench.cupy, ours, ours["WEIGHTS"])
    weights = bench.cupy.asarray(ours["WEIGHTS"])
    works = {}
    for name, rung in ((name, ours[found]) for name, found in RUNGS.items()):
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
        numba_work(ours, (ours["make_fours"](weights), *launch), to.shape, to, src)
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
            numba_work(ours, ours["BOTH"], one.shape, image.out, image.src),
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
        f"constexpr int SIDE = {ours['SIDE']}, ROWS = {ours['STRIP']};",
        f"__device__ constexpr float WEIGHTS[SIDE][SIDE] = {{{', '.join(rows)}}};",
    )
    code = "\n".join([*lines, SOURCE.read_text("utf-8")])
    module = cupy.RawModule(code=code, backend="nvcc", options=("-O3",))
    names = [f"filter_{it}" for it in ("plain", "constant", "ahead")]
    return {name: module.get_function(name) for name in names}


LADDERS = {
    "11 × 11 weights, 8192^2 pixels": ("filter, ahead in C++", filters),
    "11 weights across and 11 down": ("separable, copy", both),
}
