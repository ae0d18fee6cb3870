"""Exercises of lesson 23: tiles that hang over the edge, and what they save."""

from math import ceil

import numpy as np
from numba import cuda, float32

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Predict, SpeedUp, Write


def small(rng, shape, kind):
    """Numbers for a product; whole ones may wrap around, in any order the same."""
    return numbers(rng, kind, -9, 10, shape)


class LoadsOfAProduct(Predict):
    """A tiled kernel, such as `make_tiled($tile)` of the lesson, multiplies $m × $k by
    $k × $n. How often is an element of `a` loaded from global memory, and how often one
    of `b`? Answer with a dictionary: `{"a": ..., "b": ...}`.
    """

    stars, points = 1, 1
    choices = {"tile": (16, 8), "m": (100, 50), "n": (70, 36), "k": (20, 40)}

    def truth(self):
        c = np.zeros((self.m, self.n), np.float32)
        a = np.ones((self.m, self.k), np.float32)
        b = np.ones((self.k, self.n), np.float32)
        blocks = ceil(self.n / self.tile), ceil(self.m / self.tile)
        run = emulate(tiled(self.tile))[blocks, (self.tile, self.tile)](
            c, a, b
        )
        return {name: int(run.reuse[name].loads.max()) for name in "ab"}

    why = {
        "a": "The blocks of one row of blocks need it, and each loads it once, also one "
        "that hangs over the edge.",
        "b": "The blocks of one column of blocks need it, and each loads it once, also "
        "one that hangs over the edge.",
    }
    wrong = {
        "rows and columns swapped": lambda self: dict(
            zip("ab", reversed(self.truth().values()), strict=True)
        ),
        "as often as with no tile": lambda self: {"a": self.n, "b": self.m},
        "whole tiles only": lambda self: {
            "a": self.n // self.tile,
            "b": self.m // self.tile,
        },
        "once": lambda self: {"a": 1, "b": 1},
        "once a step along `k`": lambda self: dict.fromkeys(
            "ab", ceil(self.k / self.tile)
        ),
    }


def tiled(size):
    """The tiled product of the lesson."""

    @cuda.jit
    def multiply_tiled(c, a, b):
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for at in range(0, a.shape[1], size):
            in_a = row < a.shape[0] and at + x < a.shape[1]
            in_b = at + y < b.shape[0] and col < b.shape[1]
            tile_a[y, x] = a[row, at + x] if in_a else float32(0)
            tile_b[y, x] = b[at + y, col] if in_b else float32(0)
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total

    return multiply_tiled


class Product(Write):
    """Multiply matrices of any size, m × k by k × n, with blocks of $tile × $tile
    threads. Tiles in shared memory divide the loads of each element by $tile.
    """

    stars, points = 2, 3
    choices = {"tile": (16, 8), "type": ("float32", "int32")}
    even, ragged = ((32, 32, 48),), ((1, 1, 1), (17, 100, 9))
    setup = "TILE = $tile"

    @property
    def budget(self):
        loads = {"a": 48 // self.tile, "b": 32 // self.tile}
        return {"loads": loads, "sectors": 4, "conflicts": 0}

    def inputs(self, rng, m, k, n):
        a, b = small(rng, (m, k), self.type), small(rng, (k, n), self.type)
        return {"c": Out((m, n), self.type), "a": a, "b": b}

    def launch(self, m, k, n):
        blocks = ceil(n / self.tile), ceil(m / self.tile)
        return blocks, (self.tile, self.tile)

    def spec(self, a, b):
        return a @ b

    answer = """
        @cuda.jit
        def product(c, a, b):
            \"\"\"Multiply `a` by `b`, in tiles.\"\"\"
            tile_a = cuda.shared.array((TILE, TILE), $type)
            tile_b = cuda.shared.array((TILE, TILE), $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col, row = cuda.grid(2)
            total = $type(0)
            for at in range(0, a.shape[1], TILE):
                in_a = row < a.shape[0] and at + x < a.shape[1]
                in_b = at + y < b.shape[0] and col < b.shape[1]
                tile_a[y, x] = a[row, at + x] if in_a else $type(0)
                tile_b[y, x] = b[at + y, col] if in_b else $type(0)
                cuda.syncthreads()
                for k in range(TILE):
                    total += tile_a[y, k] * tile_b[k, x]
                cuda.syncthreads()
            if row < c.shape[0] and col < c.shape[1]:
                c[row, col] = total
    """
    others = {
        "the last element in place of those beyond the edge": (
            *("a[row, at + x] if in_a else $type(0)",
              "a[min(row, a.shape[0] - 1), min(at + x, a.shape[1] - 1)]"),
            *("b[at + y, col] if in_b else $type(0)",
              "b[min(at + y, b.shape[0] - 1), min(col, b.shape[1] - 1)]"),
            *("range(TILE):", "range(min(TILE, a.shape[1] - at)):"),
        ),
    }
    second = "tile_b[k, x]\n        cuda.syncthreads()", "tile_b[k, x]"
    wrong = {
        "no first barrier": ("race", "cuda.syncthreads()", "pass"),
        "no second barrier": ("race", *second),
        "no barrier": ("race", "cuda.syncthreads()", "pass", *second),
        "an early return": (
            *("barrier", "total = $type(0)"),
            "if row >= c.shape[0] or col >= c.shape[1]:\n        return\n"
            "    total = $type(0)",
        ),
        "no zeros in the tile of `a`": ("bounds", " if in_a else $type(0)", ""),
        "no zeros in the tile of `b`": ("bounds", " if in_b else $type(0)", ""),
        "cells beyond the edge that nobody fills": (
            *("uninitialised", "tile_a[y, x] = a[row, at + x] if in_a else $type(0)"),
            "if in_a:\n            tile_a[y, x] = a[row, at + x]",
        ),
        "the edge of `a` on one side": (
            *("bounds", "row < a.shape[0] and at + x", "at + x"),
        ),
        "no guard of the store": (
            *("bounds", "if row < c.shape[0] and col", "if col"),
        ),
        "whole steps only": (
            *("tail", "range(0, a.shape[1], TILE)"),
            "range(0, a.shape[1] - TILE + 1, TILE)",
        ),
        "the first tile only": (
            *("wrong", "range(0, a.shape[1], TILE)", "range(0, TILE, TILE)"),
        ),
        "rows of both": ("wrong", "tile_b[k, x]", "tile_b[x, k]"),
        "a tile that lies on its side": (
            *("over_budget:conflicts", "tile_b[y, x]", "tile_b[x, y]"),
            *("tile_b[k, x]", "tile_b[x, k]"),
        ),
        "no tile": (
            "over_budget:loads",
            """
            @cuda.jit
            def product(c, a, b):
                col, row = cuda.grid(2)
                if row < c.shape[0] and col < c.shape[1]:
                    total = $type(0)
                    for k in range(a.shape[1]):
                        total += a[row, k] * b[k, col]
                    c[row, col] = total
            """,
        ),
        "a tile of `a` only": (
            *(
                "over_budget:loads",
                "tile_b[y, x] = b[at + y, col] if in_b else $type(0)",
            ),
            "pass",
            *(
                "for k in range(TILE):",
                "for k in range(min(TILE, a.shape[1] - at)):",
            ),
            *("tile_b[k, x]", "b[at + k, min(col, b.shape[1] - 1)]"),
        ),
    }
    hints = {
        "bounds": (
            "Which of the three matrices is it, and which threads of the last block "
            "along each axis have no element there?",
            "A thread may lie inside `a` and outside `b`: each matrix has two edges "
            "of its own.",
            "Put a zero into the tile where the element lies outside, with a condition "
            "for `a`, one for `b`, and one for the store to `c`.",
        ),
        "race": (
            "Do the two lines of the report belong to one step along `k`, or to two?",
            "A tile is filled, used and filled anew, so there are two orders to keep.",
            "One barrier between filling and using, and one after using, at the end of "
            "the loop.",
        ),
    }


class TimesTransposed(SpeedUp):
    """Make `c = a @ b.T`: each element is the sum of products of a row of `a` and a
    row of `b`. The kernel is right, but it loads each element far too often. The
    blocks have 32 × 32 threads.
    """

    stars, points = 2, 3
    choices = {"wide": ("n", "m"), "type": ("float32", "int32", "uint32")}
    # more steps than there are tiles along a row or column; and three blocks in a row
    ragged = (40, 70, 33), (3, 20, 70)

    @property
    def even(self):
        return ((32, 32, 64) if self.wide == "n" else (64, 32, 32),)

    @property
    def budget(self):
        loads = {"a": 2, "b": 1} if self.wide == "n" else {"a": 1, "b": 2}
        room = 2 * 4 * 32 * 33
        return {"loads": loads, "sectors": 4, "conflicts": 0, "shared_bytes": room}

    def inputs(self, rng, m, k, n):
        a, b = small(rng, (m, k), self.type), small(rng, (n, k), self.type)
        return {"c": Out((m, n), self.type), "a": a, "b": b}

    def launch(self, m, k, n):
        return (ceil(n / 32), ceil(m / 32)), (32, 32)

    def spec(self, a, b):
        return a @ b.T

    @property
    def flat(self):
        return {"n": "y", "m": "x"}[self.wide]

    given = """
        @cuda.jit
        def times_transposed(c, a, b):
            \"\"\"Each thread adds up the products of two rows.\"\"\"
            col, row = cuda.grid(2)
            if row < c.shape[0] and col < c.shape[1]:
                total = $type(0)
                for k in range(a.shape[1]):
                    total += a[row, k] * b[col, k]
                c[row, col] = total
    """
    answer = """
        @cuda.jit
        def times_transposed(c, a, b):
            \"\"\"Load a tile of each by rows, wait, add products, wait.\"\"\"
            tile_a = cuda.shared.array((32, 32), $type)
            tile_b = cuda.shared.array((32, 33), $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col, row = cuda.grid(2)
            row_b = 32 * cuda.blockIdx.x + y
            total = $type(0)
            for at in range(0, a.shape[1], 32):
                in_a = row < a.shape[0] and at + x < a.shape[1]
                in_b = row_b < b.shape[0] and at + x < b.shape[1]
                tile_a[y, x] = a[row, at + x] if in_a else $type(0)
                tile_b[y, x] = b[row_b, at + x] if in_b else $type(0)
                cuda.syncthreads()
                for k in range(32):
                    total += tile_a[y, k] * tile_b[x, k]
                cuda.syncthreads()
            if row < c.shape[0] and col < c.shape[1]:
                c[row, col] = total
    """
    others = {
        "the last element in place of those beyond the edge": (
            *("a[row, at + x] if in_a else $type(0)",
              "a[min(row, a.shape[0] - 1), min(at + x, a.shape[1] - 1)]"),
            *("b[row_b, at + x] if in_b else $type(0)",
              "b[min(row_b, b.shape[0] - 1), min(at + x, b.shape[1] - 1)]"),
            *("range(32):", "range(min(32, a.shape[1] - at)):"),
        ),
    }
    second = "tile_b[x, k]\n        cuda.syncthreads()", "tile_b[x, k]"
    wrong = {
        "no first barrier": ("race", "cuda.syncthreads()", "pass"),
        "no second barrier": ("race", *second),
        "an early return": (
            *("barrier", "total = $type(0)"),
            "if row >= c.shape[0] or col >= c.shape[1]:\n        return\n"
            "    total = $type(0)",
        ),
        "a tile that is not padded": (
            "over_budget:conflicts",
            "(32, 33)",
            "(32, 32)",
        ),
        "a tile that is padded by two": (
            "over_budget:conflicts",
            "(32, 33)",
            "(32, 34)",
        ),
        "stored by columns": (
            *("over_budget:conflicts", "(32, 33)", "(32, 32)"),
            *("tile_b[y, x]", "tile_b[x, y]", "tile_b[x, k]", "tile_b[k, x]"),
        ),
        "columns from global memory": (
            *(
                "over_budget:sectors",
                "row_b = 32 * cuda.blockIdx.x + y",
                "row_b = col",
            ),
            *(
                "row_b < b.shape[0] and at + x",
                "row_b < b.shape[0] and at + y",
            ),
            *(
                "tile_b[y, x] = b[row_b, at + x]",
                "tile_b[x, y] = b[row_b, at + y]",
            ),
        ),
        "not transposed": ("wrong", "tile_b[x, k]", "tile_b[k, x]"),
        "rows of the other block": (
            "wrong",
            "32 * cuda.blockIdx.x",
            "32 * cuda.blockIdx.y",
        ),
        "blocks of one row, or column, alone": (
            *("tail", "if row < c.shape[0]"),
            "if cuda.blockIdx.$flat == 0 and row < c.shape[0]",
        ),
        "no zeros in the tile of `a`": (
            "bounds",
            " if in_a else $type(0)",
            "",
        ),
        "no zeros in the tile of `b`": (
            "bounds",
            " if in_b else $type(0)",
            "",
        ),
        "no guard of the store": (
            *("bounds", "row < c.shape[0] and col < c.shape[1]:", "True:"),
        ),
        "whole steps only": (
            *("tail", "range(0, a.shape[1], 32)"),
            "range(0, a.shape[1] - 32 + 1, 32)",
        ),
        "steps along the rows of `a`": (
            *("tail", "range(0, a.shape[1], 32)", "range(0, a.shape[0], 32)"),
        ),
        "steps along the rows of `b`": (
            *("tail", "range(0, a.shape[1], 32)", "range(0, b.shape[0], 32)"),
        ),
    }
    hints = {
        "over_budget:conflicts": (
            "In the inner loop, which cells of the tile of `b` do lanes 0 and 1 read, "
            "and how far apart are they?",
            "The tile comes by rows and is read by columns: its rows begin in the same "
            "bank if they are 32 cells long.",
            "Make the rows of that tile one cell longer.",
        ),
        "over_budget:sectors": (
            "Along which axis of `b` do lanes with neighbouring x go?",
            "Global memory is read along rows; through a tile, rows become columns "
            "without further sectors.",
            "Load `b` with `at + x` as its column and a row that depends on y and on "
            "the block's column.",
        ),
    }
