"""More exercises of lesson 23: products that are asked for in another form."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Write


def small(rng, shape, kind):
    """Whole numbers, the sums of whose products any order gives exactly."""
    return numbers(rng, kind, -9, 10, shape)


class Symmetric(Write):
    """Make the $side triangle of `c = a.T @ a`, with its diagonal, and zeros in the rest
    of `c`. The blocks have 16 × 16 threads; those with nothing but zeros to store load
    nothing.
    """

    stars, points = 2, 4
    choices = {"side": ("lower", "upper"), "type": ("float32", "int32")}
    even, ragged = ((32, 48), (16, 64)), ((1, 1), (35, 20))
    budget = {"loads": {"a": 4}, "sectors": 4, "conflicts": 0}
    setup = "TILE = 16"

    @property
    def function(self):
        return {"lower": "tril", "upper": "triu"}[self.side]

    @property
    def least(self):
        return {"lower": ">=", "upper": "<="}[self.side]

    def inputs(self, rng, k, n):
        return {
            "c": Out((n, n), self.type),
            "a": small(rng, (k, n), self.type),
        }

    def launch(self, k, n):
        return (ceil(n / 16), ceil(n / 16)), (16, 16)

    def spec(self, a):
        return getattr(np, self.function)(a.T @ a)

    answer = """
        @cuda.jit
        def symmetric(c, a):
            \"\"\"Make the $side triangle of `a.T @ a`.\"\"\"
            down = cuda.shared.array((TILE, TILE), $type)
            across = cuda.shared.array((TILE, TILE), $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col, row = cuda.grid(2)
            left = TILE * cuda.blockIdx.y + x
            total = $type(0)
            if cuda.blockIdx.y $least cuda.blockIdx.x:
                for at in range(0, a.shape[0], TILE):
                    inside = at + y < a.shape[0]
                    down[y, x] = $type(0)
                    across[y, x] = $type(0)
                    if inside and left < a.shape[1]:
                        down[y, x] = a[at + y, left]
                    if inside and col < a.shape[1]:
                        across[y, x] = a[at + y, col]
                    cuda.syncthreads()
                    for k in range(TILE):
                        total += down[k, y] * across[k, x]
                    cuda.syncthreads()
            if row < c.shape[0] and col < c.shape[1]:
                c[row, col] = total if row $least col else $type(0)
    """
    others = {
        "a branch for the zeros": (
            "c[row, col] = total if row $least col else $type(0)",
            "if row $least col:\n            c[row, col] = total\n"
            "        else:\n            c[row, col] = 0",
        ),
        "the last element in place of those beyond the edge": (
            *("inside and left < a.shape[1]", "True"),
            *("a[at + y, left]",
              "a[min(at + y, a.shape[0] - 1), min(left, a.shape[1] - 1)]"),
            *("inside and col < a.shape[1]", "True"),
            *("a[at + y, col]",
              "a[min(at + y, a.shape[0] - 1), min(col, a.shape[1] - 1)]"),
            *("range(TILE):", "range(min(TILE, a.shape[0] - at)):"),
        ),
    }
    by_block = "if cuda.blockIdx.y $least cuda.blockIdx.x:"
    wrong = {
        "no first barrier": ("race", "cuda.syncthreads()", "pass"),
        "no second barrier": (
            *(
                "race",
                "across[k, x]\n            cuda.syncthreads()",
                "across[k, x]",
            ),
        ),
        "threads of the other triangle go elsewhere": (
            *("barrier", by_block, "if row $least col:"),
        ),
        "an early return": (
            *("barrier", "total = $type(0)"),
            "if row >= c.shape[0] or col >= c.shape[1]:\n        return\n"
            "    total = $type(0)",
        ),
        "all blocks load": ("over_budget:loads", by_block, "if True:"),
        "the other blocks": (
            *("wrong", by_block, "if cuda.blockIdx.x $least cuda.blockIdx.y:"),
        ),
        "both triangles of a block on the diagonal": (
            *("wrong", "total if row $least col else $type(0)", "total"),
        ),
        "zeros that nobody stores": (
            *("wrong", "if row < c.shape[0] and col < c.shape[1]:"),
            "if row < c.shape[0] and col < c.shape[1] and row $least col:",
        ),
        "no diagonal": (
            "wrong",
            "total if row $least col",
            "total if row != col",
        ),
        "rows for columns": ("wrong", "down[k, y]", "down[y, k]"),
        "no edge of `a` below": ("bounds", "at + y < a.shape[0]", "True"),
        "no edge of `a` on the right": (
            "bounds",
            "inside and left < a.shape[1]",
            "inside",
        ),
        "no guard of the store": (
            *(
                "bounds",
                "if row < c.shape[0] and col < c.shape[1]:",
                "if True:",
            ),
        ),
        "whole steps only": (
            *("tail", "range(0, a.shape[0], TILE)"),
            "range(0, a.shape[0] - TILE + 1, TILE)",
        ),
        "no tile": (
            "over_budget:loads",
            """
            @cuda.jit
            def symmetric(c, a):
                col, row = cuda.grid(2)
                if row < c.shape[0] and col < c.shape[1]:
                    total = $type(0)
                    if row $least col:
                        for k in range(a.shape[0]):
                            total += a[k, row] * a[k, col]
                    c[row, col] = total
            """,
        ),
    }
    hints = {
        "over_budget:loads": (
            "How many blocks lie wholly on the other side of the diagonal, and what do "
            "their threads load?",
            "A condition on `blockIdx` is the same for all threads of a block, so there "
            "may be barriers inside.",
            "Let the loop run only in blocks of the $side triangle, and let all blocks "
            "store.",
        ),
        "barrier": (
            "In a block on the diagonal, which threads belong to the triangle, and which "
            "come to the barrier?",
            "A condition round a barrier must be the same for all threads of the block.",
            "Ask `blockIdx` before the loop, and row and column only for the store.",
        ),
    }
