"""One more exercise of lesson 28: two steps of a stencil in one launch."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, SpeedUp


class TwoSteps(SpeedUp):
    """One step makes `|s[i] - s[i + 2]| + s[i + 1]` of three neighbours. `out` is what two
    steps make of `src`, which has four elements more. The kernel is right, but each
    thread makes three elements of the first step by itself, with nine loads. Let a
    block of $threads threads, `THREADS`, share both: the elements in one tile, the
    first step in another.
    """

    stars, points = 3, 4
    choices = {"threads": (128, 256), "type": ("float32", "int32")}
    ragged = 1, 50, 300

    @property
    def setup(self):
        threads = self.threads
        return f"THREADS, ONE, TWO = {threads}, {threads + 2}, {threads + 4}"

    @property
    def even(self):
        return 4 * self.threads, 2 * self.threads

    @property
    def budget(self):
        return {
            "loads": {"src": 1 + 4 / self.threads},
            "shared_requests": 4 * 8 * (self.threads // 32 + 1),  # eight a warp, a halo
            "sectors": 5,
            "conflicts": 0,
        }

    def inputs(self, rng, size):
        src = numbers(rng, self.type, -9, 10, size + 4)
        return {"out": Out(size, self.type), "src": src}

    def launch(self, size):
        return ceil(size / self.threads), self.threads

    def spec(self, src):
        for _ in range(2):
            src = np.abs(src[:-2] - src[2:]) + src[1:-1]
        return src

    given = '''
        @cuda.jit(device=True)
        def step(cells, i):
            """What a step makes of three neighbours."""
            return abs(cells[i] - cells[i + 2]) + cells[i + 1]

        @cuda.jit
        def two_steps(out, src):
            """Each thread makes three elements of one step, and of them its own."""
            i = cuda.grid(1)
            if i < out.size:
                a, b, c = step(src, i), step(src, i + 1), step(src, i + 2)
                out[i] = abs(a - c) + b
    '''
    answer = '''
        @cuda.jit(device=True)
        def step(cells, i):
            """What a step makes of three neighbours."""
            return abs(cells[i] - cells[i + 2]) + cells[i + 1]

        @cuda.jit
        def two_steps(out, src):
            """Share the elements, wait, share one step of them, wait, step again."""
            tile = cuda.shared.array(TWO, $type)
            once = cuda.shared.array(ONE, $type)
            x, i = cuda.threadIdx.x, cuda.grid(1)
            for k in range(x, TWO, THREADS):
                if i - x + k < src.size:
                    tile[k] = src[i - x + k]
            cuda.syncthreads()
            for k in range(x, ONE, THREADS):
                if i - x + k + 2 < src.size:
                    once[k] = step(tile, k)
            cuda.syncthreads()
            if i < out.size:
                out[i] = step(once, x)
    '''
    wrong = {
        "no first barrier": (
            *("race", "cuda.syncthreads()\n    for k", "for k"),
        ),
        "no second barrier": (
            *("race", "cuda.syncthreads()\n    if i", "if i"),
        ),
        "an early return": (
            *("barrier", "for k in range(x, TWO, THREADS):"),
            "if i >= out.size:\n        return\n    for k in range(x, TWO, THREADS):",
        ),
        "no guard of the loads": (
            *("bounds", "if i - x + k < src.size:", "if True:"),
        ),
        "no guard of the store": ("bounds", "if i < out.size:", "if True:"),
        "a halo of one": (
            *("uninitialised", "range(x, TWO, THREADS)", "range(x, ONE, THREADS)"),
        ),
        "no halo in the middle": (
            *("uninitialised", "range(x, ONE, THREADS)", "range(x, THREADS, THREADS)"),
        ),
        "only one step": ("wrong", "step(once, x)", "once[x]"),
        "the first step again": ("wrong", "step(once, x)", "step(tile, x)"),
        "the first step from global memory": (
            *("over_budget:loads", "step(tile, k)", "step(src, i - x + k)"),
        ),
        "the first step three times": (
            *("over_budget:shared_requests", "out[i] = step(once, x)"),
            "a, b, c = step(tile, x), step(tile, x + 1), step(tile, x + 2)\n"
            "        out[i] = abs(a - c) + b",
        ),
    }
    hints = {
        "uninitialised": (
            "How many elements of the first step do all threads of a block need "
            "together, and how many of `src` does that take?",
            "A step needs two more than it makes. Two steps need four more.",
            "Both tiles are longer than the block, so some threads fill two cells: "
            "`for k in range(x, TWO, THREADS)`.",
        ),
        "over_budget:shared_requests": (
            "How many threads make the same element of the first step?",
            "Three. One of them can make it for all, and store it in a tile.",
            "Fill a second tile with the first step, two elements longer than the block, "
            "and wait before you make the second step from it.",
        ),
    }
