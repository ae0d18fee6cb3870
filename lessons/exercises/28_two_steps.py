"""One more exercise of lesson 28: two steps of a stencil in one launch."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, SpeedUp


SECOND_TILE = """
    for k in range(x, ONE, THREADS):
        if i - x + k + 6 < src.size:
            once[k] = step(tile, k)
    cuda.syncthreads()"""


class TwoSteps(SpeedUp):
    """One step makes `s[i + 3]` plus the differences, without their signs, of those as far
    to the left of it as to the right: `|s[i] - s[i + 6]|`, `|s[i + 1] - s[i + 5]|` and
    `|s[i + 2] - s[i + 4]|`. `out` is what two steps make of `src`, which has twelve
    elements more. The kernel is right, but each thread makes seven elements of the
    first step by itself, with 49 loads. Let a block of $threads threads, `THREADS`,
    share both: the elements in one tile, the first step in another.
    """

    stars, points = 3, 4
    choices = {"threads": (128, 256), "type": ("float32", "int32")}
    ragged = 1, 50, 300

    @property
    def setup(self):
        threads = self.threads
        return f"THREADS, ONE, TWO = {threads}, {threads + 6}, {threads + 12}"

    @property
    def even(self):
        return 4 * self.threads, 2 * self.threads

    @property
    def budget(self):
        return {
            "loads": {"src": 1 + 12 / self.threads},
            "operations": 64 * 4 * self.threads,  # 18 of two steps, and indices
            "sectors": 5,
            "conflicts": 0,
        }

    def inputs(self, rng, size):
        src = numbers(rng, self.type, -9, 10, size + 12)
        return {"out": Out(size, self.type), "src": src}

    def launch(self, size):
        return ceil(size / self.threads), self.threads

    def spec(self, src):
        for _ in range(2):
            windows = np.lib.stride_tricks.sliding_window_view(src, 7)
            left, right = windows[:, :3], windows[:, :3:-1]
            src = np.abs(left - right).sum(axis=1, dtype=src.dtype) + windows[:, 3]
        return src

    given = '''
        @cuda.jit(device=True)
        def step(cells, i):
            """What a step makes of seven neighbours."""
            far, near = abs(cells[i] - cells[i + 6]), abs(cells[i + 2] - cells[i + 4])
            return cells[i + 3] + far + abs(cells[i + 1] - cells[i + 5]) + near

        @cuda.jit
        def two_steps(out, src):
            """Each thread makes seven elements of one step, and of them its own."""
            i, once = cuda.grid(1), cuda.local.array(7, $type)
            if i < out.size:
                for k in range(7):
                    once[k] = step(src, i + k)
                out[i] = step(once, 0)
    '''
    answer = '''
        @cuda.jit(device=True)
        def step(cells, i):
            """What a step makes of seven neighbours."""
            far, near = abs(cells[i] - cells[i + 6]), abs(cells[i + 2] - cells[i + 4])
            return cells[i + 3] + far + abs(cells[i + 1] - cells[i + 5]) + near

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
                if i - x + k + 6 < src.size:
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
        "half of the halo": (
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
        "the first step seven times": (
            *("over_budget:operations", "out[i] = step(once, x)"),
            "for k in range(7):\n            mine[k] = step(tile, x + k)\n"
            "        out[i] = step(mine, 0)",
            *("once = cuda.shared.array(ONE", "mine = cuda.local.array(7"),
            *(SECOND_TILE, ""),
        ),
        "the first step seven times, from registers": (
            *("over_budget:operations", "out[i] = step(once, x)"),
            "for k in range(13):\n            near[k] = tile[x + k]\n"
            "        for k in range(7):\n            mine[k] = step(near, k)\n"
            "        out[i] = step(mine, 0)",
            *("once = cuda.shared.array(ONE", "mine = cuda.local.array(7"),
            "x, i = cuda",
            "near = cuda.local.array(13, $type)\n    x, i = cuda",
            *(SECOND_TILE, ""),
        ),
    }
    hints = {
        "uninitialised": (
            "How many elements of the first step do all threads of a block need "
            "together, and how many of `src` does that take?",
            "A step needs six more than it makes. Two steps need twelve more.",
            "Both tiles are longer than the block, so some threads fill two cells: "
            "`for k in range(x, TWO, THREADS)`.",
        ),
        "over_budget:operations": (
            "How many threads make the same element of the first step?",
            "Seven. One of them can make it for all, and store it in a tile.",
            "Fill a second tile with the first step, six elements longer than the block, "
            "and wait before you make the second step from it.",
        ),
    }
