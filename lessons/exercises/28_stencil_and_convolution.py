"""Exercises of lesson 28: neighbours in tiles and in registers."""

from math import ceil

import numpy as np
from numba import cuda, float32

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, Out, Predict, SpeedUp


def some(rng, shape, kind):
    """Whole numbers of a type, whose small sums are exact."""
    return numbers(rng, kind, -9, 10, shape)


def make_loading(wide, high, radius):
    """A kernel whose blocks only fill a tile with a halo."""
    halo_wide, halo_high = wide + 2 * radius, high + 2 * radius

    @cuda.jit
    def load_tile(out, src):
        tile = cuda.shared.array((halo_high, halo_wide), float32)
        left, top = cuda.blockIdx.x * wide, cuda.blockIdx.y * high
        for y in range(cuda.threadIdx.y, halo_high, high):
            for x in range(cuda.threadIdx.x, halo_wide, wide):
                tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        x, y = cuda.threadIdx.x + radius, cuda.threadIdx.y + radius
        out[top + y - radius, left + x - radius] = tile[y, x]

    return load_tile


class LoadsOfAHalo(Predict):
    """Blocks of $wide × $high threads take a step of a large layer. Each thread makes one
    cell, of all cells that are at most $radius away from it along both axes. A block
    first loads its tile with the whole halo, corners too. How many cells does a block
    load? Some cells are in the tiles of more blocks than others: how often is one
    loaded that is in the most? Answer with a dictionary: `{"block": ..., "most": ...}`.
    """

    stars, points = 1, 2
    choices = {"wide": (32, 16), "high": (8, 12), "radius": (2, 3)}

    def truth(self):
        rows, cols = (3 * it + 2 * self.radius for it in (self.high, self.wide))
        src = np.ones((rows, cols), np.float32)
        out = np.zeros((3 * self.high, 3 * self.wide), np.float32)
        kernel = make_loading(self.wide, self.high, self.radius)
        run = emulate(kernel)[(3, 3), (self.wide, self.high)](out, src)
        loads = run.reuse["src"].loads
        return {"block": int(loads.sum()) // 9, "most": int(loads.max())}

    def halo(self, times):
        """The cells of a tile that grows so many times by the radius."""
        more = times * self.radius
        return (self.wide + more) * (self.high + more)

    why = {
        "block": "The halo lies on both sides of the tile, along both axes.",
        "most": "Where the corners of blocks meet, each of them needs the cell.",
    }
    wrong = {
        "a halo on one side": lambda self: self.truth() | {"block": self.halo(1)},
        "no halo": lambda self: self.truth() | {"block": self.halo(0)},
        "no corners": lambda self: (
            self.truth() | {"block": self.halo(2) - 4 * self.radius**2}
        ),
        "once": lambda self: self.truth() | {"most": 1},
        "by two blocks": lambda self: self.truth() | {"most": 2},
        "once for each neighbour": lambda self: (
            self.truth() | {"most": (2 * self.radius + 1) ** 2}
        ),
    }
    hints = {
        "wrong": (
            "How many rows and how many columns has the tile with its halo?",
            "The halo goes around the tile, so it adds twice the radius to each side. "
            "Which cells lie in the halo of more than one block?",
            "Look at the place where four blocks meet: whose tiles hold its cells?",
        )
    }


class WalkDown(SpeedUp):
    """`out[row, col]` is the sum of `src[row, col]` and the four elements below it, and
    `src` has four rows more than `out`. A thread makes up to $rows rows of a column:
    `ROWS`. The kernel is right, but it loads each element five times. Keep what is
    needed again in registers.
    """

    stars, points, any_block = 2, 3, True
    choices = {"rows": (16, 8), "type": ("float32", "int32")}
    ragged = (1, 1), (37, 70), (9, 33)
    setup = "ROWS = $rows"

    @property
    def even(self):
        return (4 * self.rows, 64), (2 * self.rows, 32)

    @property
    def budget(self):
        return {"loads": {"src": 1 + 4 / self.rows}, "sectors": 4}

    def inputs(self, rng, rows, cols):
        src = some(rng, (rows + 4, cols), self.type)
        return {"out": Out((rows, cols), self.type), "src": src}

    def launch(self, rows, cols):
        return (ceil(cols / 32), ceil(rows / (2 * self.rows))), (32, 2)

    def spec(self, src):
        return src[:-4] + src[1:-3] + src[2:-2] + src[3:-1] + src[4:]

    given = '''
        @cuda.jit
        def walk_down(out, src):
            """Each thread walks down some rows, and loads five elements in each."""
            col, strip = cuda.grid(2)
            if col < out.shape[1]:
                for row in range(ROWS * strip, min(ROWS * strip + ROWS, out.shape[0])):
                    total = $type(0)
                    for i in range(5):
                        total += src[row + i, col]
                    out[row, col] = total
    '''
    answer = '''
        @cuda.jit
        def walk_down(out, src):
            """Walk down some rows, with the last four elements in registers."""
            col, strip = cuda.grid(2)
            top = ROWS * strip
            if top < out.shape[0] and col < out.shape[1]:
                a, b = src[top, col], src[top + 1, col]
                c, d = src[top + 2, col], src[top + 3, col]
                for row in range(top, min(top + ROWS, out.shape[0])):
                    e = src[row + 4, col]
                    out[row, col] = a + b + c + d + e
                    a, b, c, d = b, c, d, e
    '''
    others = {
        "loops over a local array, which the compiler keeps in registers": (
            """
            @cuda.jit
            def walk_down(out, src):
                col, strip = cuda.grid(2)
                last = cuda.local.array(5, $type)
                top = ROWS * strip
                if top >= out.shape[0]:
                    return
                here = min(col, out.shape[1] - 1)
                for k in range(4):
                    last[k + 1] = src[top + k, here]
                for row in range(top, min(top + ROWS, out.shape[0])):
                    for k in range(4):
                        last[k] = last[k + 1]
                    last[4] = src[row + 4, here]
                    total = $type(0)
                    for k in range(5):
                        total += last[k]
                    if col == here:
                        out[row, col] = total
            """,
        ),
    }
    wrong = {
        "nothing moves up": ("wrong", "a, b, c, d = b, c, d, e", "pass"),
        "one stays behind": ("wrong", "a, b, c, d = b, c, d, e", "b, c, d = c, d, e"),
        "moved the other way": (
            *("wrong", "a, b, c, d = b, c, d, e", "a, b, c, d = e, a, b, c"),
        ),
        "a row too early": ("wrong", "e = src[row + 4, col]", "e = src[row + 3, col]"),
        "no guard of the columns": (
            *("bounds", "if top < out.shape[0] and col < out.shape[1]:"),
            "if top < out.shape[0]:",
        ),
        "no guard of the rows": (
            *("bounds", "if top < out.shape[0] and col < out.shape[1]:"),
            "if col < out.shape[1]:",
        ),
        "whole strips": (
            *("bounds", "min(top + ROWS, out.shape[0])", "top + ROWS"),
        ),
        "the last row forgotten": (
            *("wrong", "min(top + ROWS, out.shape[0])"),
            "min(top + ROWS, out.shape[0] - 1)",
        ),
        "one is loaded again": (
            *("over_budget:loads", "a + b + c + d + e", "a + b + c + src[row + 3, col] + e"),
        ),
        "five loads": (
            *("over_budget:loads", "a + b + c + d + e"),
            "src[row, col] + src[row + 1, col] + src[row + 2, col] "
            "+ src[row + 3, col] + e",
        ),
    }
    hints = {
        "over_budget:loads": (
            "Which of the five elements of a row did the thread have in the row before?",
            "Four of them. A variable is a register: what it holds needs no load.",
            "Load four elements before the loop. In each row load one, add five, and "
            "let each variable take the next one's element.",
        ),
        "bounds": (
            "Which threads have no column, and which have no row of `out` at all?",
            "The loads before the loop happen even if the loop has no turn.",
            "Ask for row and column before the first load.",
        ),
    }


class RowByRow(Fix):
    """A block of $threads threads walks down all rows of $threads columns. `out[row, col]`
    is the sum of `src[row, col]` and of the elements left and right of it; `src` has a
    column more on each side. Threads share a row in `tile`. Now and then a sum is
    wrong. Fix it by adding one line.
    """

    stars, points, lines = 2, 3, 1
    choices = {"threads": (64, 96), "type": ("float32", "int32")}
    setup = "WIDE = $threads + 2"

    @property
    def budget(self):
        return {"lines": 1, "loads": {"src": 1 + 2 / self.threads}}

    @property
    def even(self):
        return (6, 2 * self.threads), (4, self.threads)

    ragged = (1, 1), (5, 70), (3, 130)

    def inputs(self, rng, rows, cols):
        src = some(rng, (rows, cols + 2), self.type)
        return {"out": Out((rows, cols), self.type), "src": src}

    def launch(self, rows, cols):
        return ceil(cols / self.threads), self.threads

    def spec(self, src):
        return src[:, :-2] + src[:, 1:-1] + src[:, 2:]

    second = "tile[x + 1] + tile[x + 2]\n        cuda.syncthreads()"
    fault = second, "tile[x + 1] + tile[x + 2]"
    answer = '''
        @cuda.jit
        def row_by_row(out, src):
            """Row by row, share a row, wait, add three elements, wait."""
            tile = cuda.shared.array(WIDE, $type)
            x, col = cuda.threadIdx.x, cuda.grid(1)
            for row in range(out.shape[0]):
                for k in range(x, WIDE, cuda.blockDim.x):
                    if col - x + k < src.shape[1]:
                        tile[k] = src[row, col - x + k]
                cuda.syncthreads()
                if col < out.shape[1]:
                    out[row, col] = tile[x] + tile[x + 1] + tile[x + 2]
                cuda.syncthreads()
    '''
    wrong = {
        "only where there is a column": (
            *("barrier", second),
            "tile[x + 1] + tile[x + 2]\n            cuda.syncthreads()",
        ),
        "a barrier in another place": (
            *("race", second, "tile[x + 1] + tile[x + 2]"),
            *("for row in range", "cuda.syncthreads()\n    for row in range"),
        ),
        "after the loop": (
            "race",
            second,
            "tile[x + 1] + tile[x + 2]\n    cuda.syncthreads()",
        ),
        "the first one moved": (
            *("race", "cuda.syncthreads()\n        if col", "if col"),
        ),
        "a fence": (
            *("race", second),
            "tile[x + 1] + tile[x + 2]\n        cuda.threadfence_block()",
        ),
        "a warp's barrier": (
            *("race", second),
            "tile[x + 1] + tile[x + 2]\n        cuda.syncwarp()",
        ),
        "another element": ("wrong", "tile[x + 1] +", "tile[x] +"),
        "one line that passes the tile by": (
            *("over_budget:loads", "tile[x] + tile[x + 1] + tile[x + 2]\n        cuda"),
            "src[row, col] + src[row, col + 1] + src[row, col + 2]\n        cuda",
        ),
        "without a tile": (
            "over_budget:loads",
            """
            @cuda.jit
            def row_by_row(out, src):
                col = cuda.grid(1)
                if col < out.shape[1]:
                    for row in range(out.shape[0]):
                        total = src[row, col] + src[row, col + 1]
                        out[row, col] = total + src[row, col + 2]
            """,
        ),
    }
    hints = {
        "race": (
            "Do the report's two lines belong to the same row, or to two rows?",
            "A warp that is done with a row goes on to the next one, and stores it in "
            "the tile while another warp still adds.",
            "All threads have to wait between the sum and the next row: at the end of "
            "the loop, outside the condition.",
        ),
        "over_budget:loads": (
            "How often does the kernel load an element of `src` before your change, and "
            "how often after it?",
            "The threads fill `tile` so that each element of a row is loaded once. That "
            "works: leave it.",
            "Let the sum take its elements from `tile`, and let the threads wait where "
            "one of them may overwrite what another still needs.",
        ),
    }
