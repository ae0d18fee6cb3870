"""An exercise of lesson 19: blocks add up what each has added up for itself."""

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import InOut, Write

NO_BARRIER = "cuda.syncthreads()", "pass"
WARPS_ONLY = "cuda.syncthreads()", "cuda.syncwarp()"


class Dot(Write):
    """Make the dot product of `a` and `b`, which may have more elements than the 4 blocks
    of $block have threads. `out[0]` is 0 when the kernel starts. Add up in each block
    first: the budget has one atomic operation a block on global memory. And let the
    block halve, as in `highest`: where many threads change one shared cell by atomics,
    these wait for one another, and `emulate` counts them as bank conflicts, of which
    the budget has none.
    """

    stars, points = 2, 3
    choices = {"block": (128, 64), "type": ("float32", "int32")}
    ragged = 1, 65, 513, 700

    @property
    def even(self):
        return 8 * self.block, 4 * self.block

    @property
    def budget(self):
        cells = 4 * self.block
        return {
            "atomics": 4,
            "sectors": 4,
            "conflicts": 0,
            "shared_bytes": cells,
        }

    @property
    def half(self):
        return self.block // 2

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -10, 60, size)
        b = numbers(rng, self.type, 1, 5, size)
        if rng.random() < 0.5:
            b = -b  # most of one sign, so that the sum is large
        b = np.where(rng.random(size) < 0.9, b, -b)
        return {"out": InOut(np.zeros(1, self.type)), "a": a, "b": b}

    def launch(self, size):
        return 4, self.block

    def spec(self, a, b):
        return np.sum(a * b)

    answer = """
        @cuda.jit
        def dot(out, a, b):
            \"\"\"Add up the products of `a` and `b`.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            total = $type(0)
            for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
                total += a[i] * b[i]
            tile[thread] = total
            half = $half
            while half > 0:
                cuda.syncthreads()
                if thread < half:
                    tile[thread] += tile[thread + half]
                half //= 2
            if thread == 0:
                cuda.atomic.add(out, 0, tile[0])
    """
    strided = "range(cuda.grid(1), a.size, cuda.gridsize(1))"
    tree = """half = $half
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            tile[thread] += tile[thread + half]
        half //= 2"""
    wrong = {
        "no barrier": ("race", *NO_BARRIER),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "a barrier for those that add": (
            *("barrier", "cuda.syncthreads()\n        if thread < half:"),
            "if thread < half:\n            cuda.syncthreads()",
        ),
        "blocks add with no atomic": (
            *("race", "cuda.atomic.add(out, 0, tile[0])", "out[0] += tile[0]"),
        ),
        "an atomic of each thread": (
            *("over_budget:atomics", tree, ""),
            *("if thread == 0:\n        cuda.atomic.add(out, 0, tile[0])",),
            "cuda.atomic.add(out, 0, tile[thread])",
        ),
        "each thread adds the block's sum": (
            *(
                "race",
                "if thread == 0:\n        cuda",
                "if True:\n        cuda",
            ),
        ),
        "one element a thread": (
            *(
                "wrong",
                f"for i in {strided}:",
                "i = cuda.grid(1)\n    if i < a.size:",
            ),
        ),
        "one element too many": ("bounds", "a.size, cuda", "a.size + 1, cuda"),
        "elements that stand together": (
            *("over_budget:sectors", f"for i in {strided}:"),
            "each = (a.size + 4 * $block - 1) // (4 * $block)\n"
            "    start = each * cuda.grid(1)\n"
            "    for i in range(start, min(start + each, a.size)):",
        ),
        "a stride of the block": (
            "wrong",
            "cuda.gridsize(1))",
            "cuda.blockDim.x)",
        ),
        "half from the start": ("wrong", "half = $half", "half = $half // 2"),
        "cells that stand apart": (
            *("over_budget:conflicts", tree),
            """step = 1
    while step < $block:
        cuda.syncthreads()
        if thread < $half // step:
            tile[2 * step * thread] += tile[2 * step * thread + step]
        step *= 2""",
        ),
        "all threads add in the block's first cell": (
            *("over_budget:conflicts", "tile[thread] = total"),
            """if thread == 0:
        tile[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(tile, 0, total)
    cuda.syncthreads()""",
            *(tree, ""),
        ),
        "one thread of the block adds up": (
            *("over_budget:work", tree),
            """cuda.syncthreads()
    if thread == 0:
        for other in range(1, $block):
            tile[0] += tile[other]""",
        ),
        "only the first block works": (
            *("wrong", "if thread == 0:", "if cuda.grid(1) == 0:"),
        ),
        "a sum for a product": ("wrong", "a[i] * b[i]", "a[i] + b[i]"),
    }
    hints = {
        "over_budget:atomics": (
            "How many threads execute the atomic, and how many of them must?",
            "A block can add up its threads' sums in shared memory, with barriers; "
            "only blocks need an atomic among themselves.",
            "Halve the block again and again, as `largest` does, and let thread 0 add "
            "what is left in the first cell.",
        ),
    }
