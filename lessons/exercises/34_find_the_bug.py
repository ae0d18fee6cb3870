"""Exercises of lesson 34: wrong kernels, each with a belief behind it."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, InOut, Out

TYPES = "float32", "int32", "uint32"
WHOLE = "int32", "uint32", "int64"


class Average(Fix):
    """Compute the average of `a`; `out[0]` is 0 when the kernel starts. The given kernel
    is right in some orders of the blocks only: fix it.
    """

    stars, points, lines = 2, 2, 3
    choices = {"block": (128, 256), "type": ("float32", "float64")}
    ragged = 1, 33, 700

    @property
    def budget(self):
        return {"lines": 3, "atomics": 4 * self.block}

    @property
    def even(self):
        return 4 * self.block, 2 * self.block

    def inputs(self, rng, size):
        most = 8 * self.block   # so that some are more than there are elements
        a = numbers(rng, self.type, 1, most, size) * rng.choice((-1, 1))
        a = np.where(rng.random(size) < 0.9, a, -a)     # most of one sign
        return {"out": InOut(np.zeros(1, self.type)), "a": a.astype(self.type)}

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        return a.mean(dtype=np.float64)

    answer = """
        @cuda.jit
        def average(out, a):
            \"\"\"Each thread adds its part of the average.\"\"\"
            i = cuda.grid(1)
            if i < a.size:
                cuda.atomic.add(out, 0, a[i] / float32(a.size))
    """
    part = "        cuda.atomic.add(out, 0, a[i] / float32(a.size))"
    whole = "        cuda.atomic.add(out, 0, a[i])\n"
    last = "        if i == a.size - 1:\n            out[0] /= a.size"
    fault = (
        *(
            "adds its part of the average.",
            "adds its element; the last one divides.",
        ),
        *(part, whole + last),
    )
    wrong = {
        "a barrier before the division": (
            *("race", part),
            whole + "    cuda.syncthreads()\n    if i == a.size - 1:\n"
            "        out[0] /= a.size",
        ),
        "a fence before the division": (
            *("race", part, whole + "        cuda.threadfence()\n" + last),
        ),
        "the first thread divides": (
            *("race", part, whole + last.replace("a.size - 1", "0")),
        ),
        "each thread divides": (
            "race",
            part,
            whole + "        out[0] /= a.size",
        ),
        "each block's last thread divides": (
            *("race", part),
            whole + "        if cuda.threadIdx.x == $block - 1:\n"
            "            out[0] /= a.size",
        ),
        "the division is atomic, too": (
            *("wrong", part),
            whole + "        if i == a.size - 1:\n"
            "            total = cuda.atomic.add(out, 0, 0)\n"
            "            cuda.atomic.add(out, 0, total / a.size - total)",
        ),
        "no atomic": ("race", "cuda.atomic.add(out, 0, ", "out[0] += ("),
        "parts of all threads, not of all elements": (
            *("tail", "(a.size)", "(cuda.gridsize(1))"),
        ),
        "two halves of each part": (
            "over_budget:atomics",
            part,
            "\n".join(2 * [part.replace("(a.size)", "(2 * a.size)")]),
        ),
        "parts of a block": ("wrong", "/ float32(a.size)", "/ $block"),
        "whole parts": ("wrong", "a[i] / float", "a[i] // float"),
        "no guard": ("bounds", "if i < a.size:", "if True:"),
        "the first element forgotten": ("wrong", "if i < a", "if 0 < i < a"),
        "one thread does all": (
            *("over_budget:lines", part),
            "        if i == a.size - 1:\n"
            "            total = 0.0\n"
            "            for k in range(a.size):\n"
            "                total += a[k]\n"
            "            out[0] = total / a.size",
        ),
    }
    hints = {
        "race between blocks": (
            "The thread that divides has the highest number. What makes it wait for "
            "the others?",
            "Nothing within a launch: blocks and warps run in any order, and a barrier "
            "waits for one block only.",
            "Divide before you add, so that no thread has to be the last.",
        ),
    }


class Brightest(Fix):
    """Find the largest element of `a`; `out[0]` is 0 when the kernel starts, and all
    elements are larger. Threads look and then store, as if that were one step: fix it.
    """

    stars, points, lines = 1, 1, 2
    choices = {"block": (64, 128), "type": WHOLE}
    ragged = 1, 33, 700

    @property
    def budget(self):
        return {"lines": 2, "atomics": 4 * self.block}

    @property
    def even(self):
        return 4 * self.block, 2 * self.block

    def inputs(self, rng, size):
        a = 1 + rng.integers(0, np.iinfo(self.type).max, size, self.type)
        return {"out": InOut(np.zeros(1, self.type)), "a": a}

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        return a.max()

    answer = """
        @cuda.jit
        def brightest(out, a):
            \"\"\"Each thread offers its element.\"\"\"
            i = cuda.grid(1)
            if i < a.size:
                cuda.atomic.max(out, 0, a[i])
    """
    offer = "cuda.atomic.max(out, 0, a[i])"
    fault = offer, "if a[i] > out[0]:\n            out[0] = a[i]"
    wrong = {
        "a built-in maximum": ("race", offer, "out[0] = max(out[0], a[i])"),
        "looks first, to save atomics": (
            *("race", offer, "if a[i] > out[0]:\n            " + offer),
        ),
        "the store alone is atomic": (
            *("race", offer),
            "if a[i] > out[0]:\n            cuda.atomic.exch(out, 0, a[i])",
        ),
        "looks with an atomic, then stores with one": (
            *("wrong", offer),
            "if a[i] > cuda.atomic.max(out, 0, 0):\n"
            "            cuda.atomic.exch(out, 0, a[i])",
        ),
        "a fence between the two": (
            *("race", offer),
            "if a[i] > out[0]:\n            cuda.threadfence()\n"
            "            out[0] = a[i]",
        ),
        "looks twice": (
            *("race", offer),
            "if a[i] > out[0]:\n            if a[i] > out[0]:\n"
            "                out[0] = a[i]",
        ),
        "offers twice": ("over_budget:atomics", offer, f"{offer}\n        {offer}"),
        "the smallest": ("wrong", "atomic.max", "atomic.min"),
        "the sum": ("wrong", "atomic.max", "atomic.add"),
        "no guard": ("bounds", "if i < a.size:", "if True:"),
        "the last block left out": (
            *("wrong", "i < a.size", "i < a.size - $block"),
        ),
    }
    hints = {
        "race between blocks": (
            "How many steps are there between the look at `out[0]` and the store to it?",
            "Another thread may store between the two, and its larger number is lost.",
            "`cuda.atomic.max` looks and stores in one step; leave no plain look before "
            "it.",
        ),
    }


class UpsideDown(Fix):
    """Turn an image upside down: its last row becomes the first. The kernel is right
    for square images, and touches too many sectors even there: find the one belief
    behind both, and fix it.
    """

    stars, points, lines, any_block = 1, 2, 1, True
    budget = {"lines": 1, "sectors": 4}
    choices = {"type": ("float32", "int32")}
    even, ragged = ((64, 64), (32, 128)), ((1, 1), (33, 70), (90, 20))

    def inputs(self, rng, rows, cols):
        image = numbers(rng, self.type, -256, 256, (rows, cols))
        return {"out": Out((rows, cols), self.type), "image": image}

    def launch(self, rows, cols):
        return (ceil(cols / 32), ceil(rows / 8)), (32, 8)

    def spec(self, image):
        return image[::-1]

    answer = """
        @cuda.jit
        def upside_down(out, image):
            \"\"\"Each thread moves one pixel to the other end of its column.\"\"\"
            col, row = cuda.grid(2)
            rows, cols = image.shape
            if row < rows and col < cols:
                out[rows - 1 - row, col] = image[row, col]
    """
    fault = "col, row = cuda.grid(2)", "row, col = cuda.grid(2)"
    wrong = {
        "the guard turned instead": (
            *("bounds", "col, row = ", "row, col = "),
            *("row < rows and col < cols", "row < cols and col < rows"),
        ),
        "the shape turned, too": (
            *("bounds", "rows, cols = image", "cols, rows = image"),
        ),
        "no guard": ("bounds", "if row < rows and col < cols:", "if True:"),
        "one guard": ("bounds", "row < rows and col < cols", "row < rows"),
        "either guard": ("bounds", " and ", " or "),
        "left and right": (
            *("wrong", "[rows - 1 - row, col]", "[row, cols - 1 - col]"),
        ),
        "a copy": ("wrong", "rows - 1 - row", "row"),
        "half a turn": ("wrong", "row, col] = ", "row, cols - 1 - col] = "),
        "as many rows as columns": (
            "bounds",
            "rows - 1 - row, col]",
            "cols - 1 - row, col]",
        ),
        "the last row forgotten": (
            "wrong",
            "row < rows and",
            "row < rows - 1 and",
        ),
    }
    hints = {
        "wrong unwritten": (
            "Take an image of 33 rows and 70 columns: how many threads are there along "
            "x, and how many rows does the kernel reach?",
            "The first number of `cuda.grid(2)` is along x, as is the first of the "
            "launch.",
            "Let x be the column: neighbouring lanes then take neighbouring elements.",
        ),
    }


class Weighted(Fix):
    """Multiply the row of weights `x` by the matrix `a`: `out` is `x @ a`. Each block
    takes the weights $block at a time into a tile. The kernel is right as long as no
    warp is faster than another: fix it.
    """

    stars, points, lines = 2, 3, 1
    budget = {"lines": 1, "loads": {"x": 2}}
    choices = {"block": (64, 128), "type": TYPES}

    @property
    def even(self):
        return (2 * self.block, 2 * self.block), (4 * self.block, self.block)

    @property
    def ragged(self):
        return (1, 1), (self.block + 1, 70), (3 * self.block - 1, 33)

    def inputs(self, rng, weights, cols):
        a = numbers(rng, self.type, -9, 9, (weights, cols))
        x = numbers(rng, self.type, -9, 9, weights)
        return {"out": Out(cols, self.type), "a": a, "x": x}

    def launch(self, weights, cols):
        return ceil(cols / self.block), self.block

    def spec(self, a, x):
        return x @ a

    answer = """
        @cuda.jit
        def weighted(out, a, x):
            \"\"\"Each thread adds up one column, with its weights from a tile.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread, col = cuda.threadIdx.x, cuda.grid(1)
            total = $type(0)
            for first in range(0, x.size, $block):
                if first + thread < x.size:
                    tile[thread] = x[first + thread]
                cuda.syncthreads()
                if col < out.size:
                    for k in range(min($block, x.size - first)):
                        total += tile[k] * a[first + k, col]
                cuda.syncthreads()
            if col < out.size:
                out[col] = total
    """
    second = "    cuda.syncthreads()\n    if col < out.size:\n        out"
    after = "if col < out.size:\n        out"
    fault = second, after
    wrong = {
        "for warps only": ("race", second, second.replace("threads", "warp")),
        "a fence, which nobody waits at": (
            *("race", second, second.replace("syncthreads", "threadfence")),
        ),
        "after the loop": ("race", second, second[4:]),
        "before the loop": (
            *(
                "race",
                "total = $type(0)",
                "total = $type(0)\n    cuda.syncthreads()",
            ),
            *(second, after),
        ),
        "twice in the same place": (
            *("race", "        cuda.syncthreads()\n        if col"),
            "        cuda.syncthreads()\n        cuda.syncthreads()\n        if col",
            *(second, after),
        ),
        "moved to the end of the loop": (
            *(
                "race",
                "        cuda.syncthreads()\n        if col",
                "        if col",
            ),
        ),
        "for threads with a column": (
            *("barrier", second, "        cuda.syncthreads()\n    " + after),
        ),
        "for threads with a weight": (
            *("barrier", second),
            "    if first + thread < x.size:\n            cuda.syncthreads()\n    "
            + after,
        ),
        "past the tile": (
            *("over_budget:loads", second, after),
            *("tile[k] * a", "x[first + k] * a"),
        ),
        "one tile only": (
            "wrong",
            "x.size, $block)",
            "min(x.size, $block), $block)",
        ),
        "whole tiles only": (
            *(
                "bounds",
                "range(min($block, x.size - first))",
                "range($block)",
            ),
        ),
        "rows for columns": (
            "bounds",
            "a[first + k, col]",
            "a[col, first + k]",
        ),
    }
    hints = {
        "race": (
            "In which round of the loop is the store of the report, and in which one "
            "the load?",
            "A warp that has finished a round may store the next tile while another "
            "still reads this one.",
            "Let all threads wait at the end of each round, too, outside of every `if`.",
        ),
        "over_budget:loads": (
            "What is the tile for? How often does a block load each weight with it?",
            "Once. Without it, each thread of the block loads each weight.",
            "Keep the tile, and make its threads wait where one may overwrite a weight "
            "that another still needs.",
        ),
    }
