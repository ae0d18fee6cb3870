"""Exercises of lesson 22: who loads which tile, and who uses it again?"""

from math import ceil

import numpy as np

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, Out, Predict, Write
from helpers.exercises.sources import kernel_of


class TileWalk(Predict):
    """A product of two $n × $n matrices is made in tiles of $tile × $tile, as by
    `make_tiled($tile)` of this lesson. Blocks and threads are (x, y), as in the lesson.
    Block $block is at step $step of its walk; the first step is 0. Which elements does
    its thread $thread load? And how often is each element of `a` loaded by all threads
    together? Answer with a dictionary that has the keys "row of a", "column of a",
    "row of b", "column of b" and "loads".
    """

    stars, points = 1, 3
    choices = {
        "sizes": ((6, 3), (12, 4), (9, 3)),
        "block": ((1, 0), (1, 1), (0, 1)),
        "thread": ((1, 2), (0, 1), (2, 0)),
    }

    n = property(lambda self: self.sizes[0])
    tile = property(lambda self: self.sizes[1])
    step = property(lambda self: self.n // self.tile - 1)

    def truth(self):
        """Where the loads of one thread, and of all, were counted."""
        one, every = self.loads(self.only), self.loads("True")
        (row_a, col_a), (row_b, col_b) = (
            np.argwhere(one[name])[0].tolist() for name in "ab"
        )
        return {
            "row of a": row_a,
            "column of a": col_a,
            "row of b": row_b,
            "column of b": col_b,
            "loads": int(every["a"].max()),
        }

    @property
    def only(self):
        """The condition that is true for the thread in question at its step."""
        (bx, by), (x, y) = self.block, self.thread
        return (
            f"(cuda.blockIdx.y, cuda.blockIdx.x, y, x) == ({by}, {bx}, {y}, {x})"
            f" and at == {self.step * self.tile}"
        )

    def loads(self, condition):
        """How often each element is loaded by the threads that meet a condition."""
        kernel = kernel_of(
            "@cuda.jit\n"
            "def walk(a, b):\n"
            "    x, y = cuda.threadIdx.x, cuda.threadIdx.y\n"
            "    col, row = cuda.grid(2)\n"
            f"    tile = cuda.shared.array((2, {self.tile}, {self.tile}), float32)\n"
            f"    for at in range(0, {self.n}, {self.tile}):\n"
            f"        if {condition}:\n"
            "            tile[0, y, x] = a[row, at + x]\n"
            "            tile[1, y, x] = b[at + y, col]\n",
            "walk",
        )
        blocks, a = self.n // self.tile, np.ones((self.n, self.n), np.float32)
        run = emulate(kernel)[(blocks, blocks), (self.tile, self.tile)](
            a, a.copy()
        )
        return {name: run.reuse[name].loads for name in "ab"}

    def turned(self):
        """The truth with rows for columns."""
        told = self.truth()
        swapped = {
            f"{one} of {name}": told[f"{other} of {name}"]
            for name in "ab"
            for one, other in (("row", "column"), ("column", "row"))
        }
        return told | swapped

    why = {
        "row of a": "The element of `c` gives it: `y` of the block, and of the thread.",
        "column of a": "The walk goes along the row; `x` is the place in the tile.",
        "row of b": "The walk goes down the column; `y` is the place in the tile.",
        "column of b": "The element of `c` gives it: `x` of the block and thread.",
        "loads": "Each block that needs a tile of `a` loads it once.",
    }
    wrong = {
        "rows for columns": turned,
        "once for each thread": lambda self: self.truth() | {"loads": self.n},
        "once in all": lambda self: self.truth() | {"loads": 1},
        "the step before": lambda self: (
            self.truth()
            | {
                "column of a": self.truth()["column of a"] - self.tile,
                "row of b": self.truth()["row of b"] - self.tile,
            }
        ),
        "each block at the top left": lambda self: (
            self.truth()
            | {"row of a": self.thread[1], "column of b": self.thread[0]}
        ),
    }


class PoolWindows(Write):
    """`out[i, j]` is the $word of the $window × $window elements of `a` from row i and
    column j on. A block makes a tile of $tile × $tile of `out`, and loads each element
    that it needs once.
    """

    stars, points = 2, 4
    choices = {
        "ufunc": ("maximum", "minimum"),
        "window": (3, 2),
        "tile": (8, 16),
    }
    even, ragged = ((16, 32), (32, 16)), ((1, 1), (9, 20), (17, 5))
    ordered = ("a",)

    @property
    def budget(self):
        rows, cols = self.even[0]
        halo = self.window - 1
        loaded = (1 + halo / self.tile) ** 2 * rows * cols
        mean = loaded / ((rows + halo) * (cols + halo))
        return {"loads": {"a": ceil(100 * mean) / 100}}

    def inputs(self, rng, rows, cols):
        shape = rows + self.window - 1, cols + self.window - 1
        a = (rng.permutation(shape[0] * shape[1]).reshape(shape) - 300) / 3
        return {"out": Out((rows, cols)), "a": a.astype(np.float32)}

    def launch(self, rows, cols):
        return (-(-cols // self.tile), -(-rows // self.tile)), self.block

    def spec(self, a):
        shape = self.window, self.window
        windows = np.lib.stride_tricks.sliding_window_view(a, shape)
        return getattr(np, self.ufunc).reduce(windows, axis=(2, 3))

    block = property(lambda self: (self.tile, self.tile))
    word = property(lambda self: self.ufunc)
    of = property(lambda self: self.ufunc[:3])

    setup = "TILE, WINDOW = $tile, $window\nSIDE = TILE + WINDOW - 1"
    answer = """
        @cuda.jit
        def pool_windows(out, a):
            \"\"\"Each thread makes one element of out.\"\"\"
            tile = cuda.shared.array((SIDE, SIDE), float32)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            top, left = TILE * cuda.blockIdx.y, TILE * cuda.blockIdx.x
            for r in range(y, SIDE, TILE):
                for c in range(x, SIDE, TILE):
                    if top + r < a.shape[0] and left + c < a.shape[1]:
                        tile[r, c] = a[top + r, left + c]
            cuda.syncthreads()
            if top + y < out.shape[0] and left + x < out.shape[1]:
                best = tile[y, x]
                for r in range(WINDOW):
                    for c in range(WINDOW):
                        best = $of(best, tile[y + r, x + c])
                out[top + y, left + x] = best
    """
    wrong = {
        "no guard of the loads": (
            "bounds",
            "if top + r < a.shape[0] and left + c < a.shape[1]:",
            "if True:",
        ),
        "no guard of the stores": (
            "bounds",
            "if top + y < out.shape[0] and left + x < out.shape[1]:",
            "if True:",
        ),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "threads leave early": (
            "barrier",
            "for r in range(y, SIDE, TILE):",
            "if top + y >= out.shape[0] or left + x >= out.shape[1]:\n"
            "        return\n"
            "    for r in range(y, SIDE, TILE):",
        ),
        "no halo": (
            "uninitialised",
            "range(y, SIDE, TILE)",
            "range(y, TILE, TILE)",
        ),
        "a halo on one side": (
            "uninitialised",
            "range(x, SIDE, TILE)",
            "range(x, TILE, TILE)",
        ),
        "loads as many as it stores": (
            "uninitialised",
            "top + r < a.shape[0] and left + c < a.shape[1]",
            "top + r < out.shape[0] and left + c < out.shape[1]",
        ),
        "the tile on its side": (
            "wrong",
            "tile[y + r, x + c]",
            "tile[x + r, y + c]",
        ),
        "a row too few": (
            "wrong",
            "for r in range(WINDOW)",
            "for r in range(WINDOW - 1)",
        ),
        "begins with nothing": (
            "wrong",
            "best = tile[y, x]",
            "best = float32(0)",
        ),
        "a tile a thread": ("uninitialised", "cuda.shared", "cuda.local"),
        "each thread its window": (
            "over_budget:loads",
            "tile[y + r, x + c]",
            "a[top + y + r, left + x + c]",
        ),
        "no thread but the first": (
            "over_budget:work",
            "if top + r < a.shape[0] and left + c < a.shape[1]:\n"
            "                tile[r, c] = a[top + r, left + c]",
            "pass\n"
            "    if x == 0 and y == 0:\n"
            "        for r in range(min(SIDE, a.shape[0] - top)):\n"
            "            for c in range(min(SIDE, a.shape[1] - left)):\n"
            "                tile[r, c] = a[top + r, left + c]",
        ),
    }
    hints = {
        "uninitialised": (
            "Which elements of `a` does the thread in the last row and column of a full "
            "block need, and who loads them?",
            "A tile of the output needs more of the input: a halo of the window's width "
            "less one, below and to the right.",
            "There are more cells than threads: let each thread load its own cell and "
            "those a tile further down and to the right, as long as they exist.",
        ),
        "over_budget:loads": (
            "How many threads of a block need the same element of `a`?",
            "Load the tile with its halo into shared memory once; then read each "
            "window there.",
            "Let loops with a step of the block's side load all cells, put a barrier "
            "after them, and use `tile` from there on.",
        ),
    }


class DistanceMatrix(Write):
    """Compare all pairs of points: `out[i, j]` is $what of point i of `p`
    and point j of `q`. Row 0 of `p` and of `q` holds x, row 1 holds y. A block makes a
    tile of $tile × $tile of `out`, and loads each point that it needs once.
    """

    stars, points = 2, 4
    choices = {"power": (2, 1), "tile": (16, 8)}
    even, ragged = ((32, 48), (48, 16)), ((1, 1), (17, 40), (5, 33))

    @property
    def budget(self):
        rows, cols = self.even[0]
        loads = {"p": cols // self.tile, "q": rows // self.tile}
        return {"loads": loads, "shared_bytes": 16 * self.tile}

    def inputs(self, rng, rows, cols):
        return {
            "out": Out((rows, cols)),
            "p": numbers(rng, np.float32, -50, 50, (2, rows)),
            "q": numbers(rng, np.float32, -50, 50, (2, cols)),
        }

    def launch(self, rows, cols):
        return (-(-cols // self.tile), -(-rows // self.tile)), self.block

    def spec(self, p, q):
        apart = np.abs(p[:, :, None] - q[:, None, :])
        return (apart**self.power).sum(axis=0)

    block = property(lambda self: (self.tile, self.tile))

    @property
    def what(self):
        return {
            1: "the sum of the absolute differences of the coordinates",
            2: "the sum of the squared differences of the coordinates",
        }[self.power]

    @property
    def far(self):
        return {2: "dx * dx + dy * dy", 1: "abs(dx) + abs(dy)"}[self.power]

    setup = "TILE = $tile"
    answer = """
        @cuda.jit
        def distance_matrix(out, p, q):
            \"\"\"Each thread makes one distance.\"\"\"
            tile_p = cuda.shared.array((2, TILE), float32)
            tile_q = cuda.shared.array((2, TILE), float32)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col, row = cuda.grid(2)
            first = TILE * cuda.blockIdx.y + x
            if y < 2 and first < p.shape[1]:
                tile_p[y, x] = p[y, first]
            if y < 2 and col < q.shape[1]:
                tile_q[y, x] = q[y, col]
            cuda.syncthreads()
            if row < out.shape[0] and col < out.shape[1]:
                dx, dy = tile_p[0, y] - tile_q[0, x], tile_p[1, y] - tile_q[1, x]
                out[row, col] = $far
    """
    wrong = {
        "no guard of the loads": ("bounds", " and first < p.shape[1]", ""),
        "no guard of the stores": (
            "bounds",
            "if row < out.shape[0] and col < out.shape[1]:",
            "if True:",
        ),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "threads leave early": (
            "barrier",
            "if y < 2 and first < p.shape[1]:",
            "if row >= out.shape[0] or col >= out.shape[1]:\n"
            "        return\n"
            "    if y < 2 and first < p.shape[1]:",
        ),
        "x alone is loaded": (
            "uninitialised",
            "if y < 2 and col",
            "if y < 1 and col",
        ),
        "the first block's points": (
            "wrong",
            "TILE * cuda.blockIdx.y + x",
            "x",
        ),
        "the points of the columns": ("bounds", "p[y, first]", "p[y, col]"),
        "swapped in the tile": ("wrong", "tile_p[0, y]", "tile_p[0, x]"),
        "along x alone": ("wrong", "$far", "dx * dx"),
        "all threads load": (
            "bounds",
            "if y < 2 and col < q.shape[1]:",
            "if col < q.shape[1]:",
        ),
        "each thread its points": (
            "over_budget:loads",
            "tile_p[0, y] - tile_q[0, x], tile_p[1, y] - tile_q[1, x]",
            "p[0, row] - q[0, col], p[1, row] - q[1, col]",
        ),
        "a tile of one of them": (
            "over_budget:loads",
            "tile_p[0, y] - tile_q[0, x], tile_p[1, y] - tile_q[1, x]",
            "p[0, row] - tile_q[0, x], p[1, row] - tile_q[1, x]",
        ),
    }
    hints = {
        "over_budget:loads": (
            "How many threads of a block need point i of `p`, and how many point j of "
            "`q`?",
            "A block needs as many points of `p` as it has rows, and as many of `q` as "
            "it has columns: load them into shared memory once.",
            "Let the first two rows of threads load x and y; `threadIdx.x` counts the "
            "points, also those of `p`. Then a barrier.",
        ),
    }


class HalfTheLoads(Explain):
    """A product with tiles of 32 × 32 loads each element half as often as one with
    tiles of 16 × 16. A colleague concludes that it takes half the time. Why does that
    not follow?
    """

    stars, points = 2, 3
    rubric = {
        "only the time that these loads cost can shrink": 1,
        "caches served most of these loads, so memory moves as many bytes": 1,
        "the loads from shared memory are as many for each product as before": 1,
    }
    model = (
        "Only the time that these loads cost can shrink. The caches served most of them "
        "already, so memory moves as many bytes as before. And a product still takes its "
        "two numbers from shared memory: with either tile the compiler makes 40 loads "
        "for 32 products, and with tiles of 32 × 32 the warps wait most for room in "
        "the queue to it."
    )
