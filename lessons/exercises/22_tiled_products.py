"""More exercises of lesson 22: products of matrices, in tiles of other shapes."""

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import InOut, Out, SpeedUp, Write


class Product:
    """A product of matrices whose sides are multiples of 32."""

    stars, tile, block = 3, 8, (8, 8)
    even = (32, 64, 64), (64, 32, 32)
    ragged = (32, 32, 32), (32, 96, 64), (96, 32, 96)
    multiple = 32

    def inputs(self, rng, rows, inner, cols):
        a, b = (
            numbers(rng, np.float32, -9, 10, (rows, inner)),
            numbers(rng, np.float32, -9, 10, (inner, cols)),
        )
        return {"c": Out((rows, cols)), "a": a, "b": b}

    def spec(self, a, b):
        return a @ b


class WideTile(Product, SpeedUp):
    """Multiply two matrices whose sides are multiples of 32. A block makes a tile of
    $tile × $tile of `c`. The kernel is right, but loads each element for each thread.
    Load it once for each block, and wait at two barriers for every $wide steps of the
    sum.

    No lanes may queue at a bank. A warp has four rows of a block: in rows of $wide words,
    which of them begin in the same bank? `PITCH` may serve as a longer row.
    """

    points = 5
    choices = {"times": (2, 4)}
    wide = property(lambda self: self.times * self.tile)

    @property
    def budget(self):
        rows, inner, cols = self.even[0]
        return {
            "loads": {"a": cols // self.tile, "b": rows // self.tile},
            "barriers": 2 * inner // self.wide,
            "conflicts": 0,
        }

    def launch(self, rows, inner, cols):
        return (cols // self.tile, rows // self.tile), self.block

    setup = "TILE, WIDE = $tile, $wide\nPITCH = WIDE + TILE"
    given = """
        @cuda.jit
        def wide_tile(c, a, b):
            \"\"\"Each thread makes one element of the product.\"\"\"
            col, row = cuda.grid(2)
            total = float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, col]
            c[row, col] = total
    """
    answer = """
        @cuda.jit
        def wide_tile(c, a, b):
            \"\"\"Each thread makes one element of the product.\"\"\"
            tile_a = cuda.shared.array((TILE, PITCH), float32)
            tile_b = cuda.shared.array((WIDE, TILE), float32)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col, row = cuda.grid(2)
            total = float32(0)
            for at in range(0, a.shape[1], WIDE):
                for part in range(0, WIDE, TILE):
                    tile_a[y, part + x] = a[row, at + part + x]
                    tile_b[part + y, x] = b[at + part + y, col]
                cuda.syncthreads()
                for k in range(WIDE):
                    total += tile_a[y, k] * tile_b[k, x]
                cuda.syncthreads()
            c[row, col] = total
    """
    wrong = {
        "no first barrier": (
            "race",
            "cuda.syncthreads()\n        for k",
            "for k",
        ),
        "no second barrier": (
            "race",
            "cuda.syncthreads()\n    c[row, col]",
            "pass\n    c[row, col]",
        ),
        "no barrier": (
            "race",
            "cuda.syncthreads()\n        for k",
            "for k",
            "cuda.syncthreads()\n    c[row, col]",
            "pass\n    c[row, col]",
        ),
        "half a tile": (
            "uninitialised",
            "range(0, WIDE, TILE)",
            "range(0, TILE, TILE)",
        ),
        "adds half a tile": (
            "wrong",
            "for k in range(WIDE)",
            "for k in range(TILE)",
        ),
        "b on its side": (
            "wrong",
            "tile_a[y, k] * tile_b[k, x]",
            "tile_a[y, k] * tile_b[k % TILE, k // TILE]",
        ),
        "the same part twice": (
            "wrong",
            "b[at + part + y, col]",
            "b[at + y, col]",
        ),
        "no walk": ("wrong", "a[row, at + part + x]", "a[row, part + x]"),
        "hard-coded side": ("bounds", "a.shape[1], WIDE", "64, WIDE"),
        "sides of at most 64": (
            "tail",
            "    c[row, col] = total",
            "    if row < 64 and col < 64:\n        c[row, col] = total",
        ),
        "a fresh sum each step": (
            "wrong",
            "cuda.syncthreads()\n        for k",
            "cuda.syncthreads()\n        total = float32(0)\n        for k",
        ),
        "square tiles": (
            "over_budget:barriers",
            "TILE, WIDE = $tile, $wide",
            "TILE, WIDE = $tile, $tile",
        ),
        "rows without padding": (
            "over_budget:conflicts",
            "(TILE, PITCH)",
            "(TILE, WIDE)",
        ),
        "one word of padding": (
            "over_budget:conflicts",
            "PITCH = WIDE + TILE",
            "PITCH = WIDE + 1",
        ),
        "a tile of one of them": (
            "over_budget:loads",
            "tile_a[y, k] * tile_b",
            "a[row, at + k] * tile_b",
        ),
        "a barrier for each part": (
            "over_budget:barriers",
            "b[at + part + y, col]",
            "b[at + part + y, col]\n            cuda.syncthreads()",
        ),
    }
    hints = {
        "over_budget:barriers": (
            "How many steps of the sum do your tiles give between two barriers?",
            "A tile need not be square: that of `a` may be wider than the block, and "
            "that of `b` taller.",
            "Let each thread load several elements of each matrix, as many columns of "
            "`a` and rows of `b` apart as the block is wide, and add up all products "
            "that they give before the next barrier.",
        ),
        "over_budget:conflicts": (
            "At which four rows of the tile is a warp at the same time, and in which "
            "bank does each of them begin?",
            "The four rows must begin in banks that are eight apart, so that eight "
            "lanes of each fit in between.",
            "Give the tile of `a` rows of `PITCH` words. One word more is not enough: "
            "then neighbouring rows overlap.",
        ),
    }


class TwoRows(Product, Write):
    """Multiply two matrices whose sides are multiples of 32, and $what `c`. A block of
    $tile × $tile threads makes $high rows and $tile columns of `c`, so that each thread
    makes two elements. Load each element of `a` and `b` once for each block.
    """

    points = 6
    choices = {"ufunc": ("add", "subtract")}
    even, ragged = ((32, 32, 64), (64, 64, 32)), ((32, 32, 32), (32, 96, 32), (96, 32, 96))
    high = property(lambda self: 2 * self.tile)
    sign = property(lambda self: {"add": "+", "subtract": "-"}[self.ufunc])

    @property
    def budget(self):
        rows, inner, cols = self.even[0]
        return {
            "loads": {"a": cols // self.tile, "b": rows // self.high},
            "barriers": 2 * inner // self.tile,
        }

    def inputs(self, rng, rows, inner, cols):
        c = numbers(rng, np.float32, -100, 100, (rows, cols))
        return super().inputs(rng, rows, inner, cols) | {"c": InOut(c)}

    def launch(self, rows, inner, cols):
        return (cols // self.tile, rows // self.high), self.block

    def spec(self, c, a, b):
        return getattr(np, self.ufunc)(c, a @ b)

    @property
    def what(self):
        return {
            "add": "add the product to",
            "subtract": "subtract the product from",
        }[self.ufunc]

    setup = "TILE, HIGH = $tile, $high"
    answer = """
        @cuda.jit
        def two_rows(c, a, b):
            \"\"\"Each thread makes two elements of the product.\"\"\"
            tile_a = cuda.shared.array((HIGH, TILE), float32)
            tile_b = cuda.shared.array((TILE, TILE), float32)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col = TILE * cuda.blockIdx.x + x
            row = HIGH * cuda.blockIdx.y + y
            upper, lower = float32(0), float32(0)
            for at in range(0, a.shape[1], TILE):
                tile_a[y, x] = a[row, at + x]
                tile_a[y + TILE, x] = a[row + TILE, at + x]
                tile_b[y, x] = b[at + y, col]
                cuda.syncthreads()
                for k in range(TILE):
                    upper += tile_a[y, k] * tile_b[k, x]
                    lower += tile_a[y + TILE, k] * tile_b[k, x]
                cuda.syncthreads()
            c[row, col] $sign= upper
            c[row + TILE, col] $sign= lower
    """
    others = {
        "two sums in an array": (
            "upper, lower = float32(0), float32(0)",
            "sums = cuda.local.array(2, float32)\n    sums[0] = sums[1] = 0",
            "upper += tile_a[y, k] * tile_b[k, x]\n            "
            "lower += tile_a[y + TILE, k] * tile_b[k, x]",
            "for half in range(2):\n                "
            "sums[half] += tile_a[y + TILE * half, k] * tile_b[k, x]",
            *("$sign= upper", "$sign= sums[0]", "$sign= lower", "$sign= sums[1]"),
        ),
    }
    wrong = {
        "no first barrier": (
            "race",
            "cuda.syncthreads()\n        for k",
            "for k",
        ),
        "no second barrier": (
            "race",
            "cuda.syncthreads()\n    c[row, col]",
            "pass\n    c[row, col]",
        ),
        "blocks of one tile": (
            "race",
            "row = HIGH * cuda.blockIdx.y",
            "row = TILE * cuda.blockIdx.y",
        ),
        "half a tile": (
            "uninitialised",
            "tile_a[y + TILE, x] = a[row + TILE, at + x]",
            "",
        ),
        "replaces c": ("wrong", "$sign= upper", "= upper", "$sign= lower", "= lower"),
        "one element alone": ("wrong", "c[row + TILE, col] $sign= lower", ""),
        "the upper one twice": ("wrong", "$sign= lower", "$sign= upper"),
        "the lower one from above": (
            "wrong",
            "lower += tile_a[y + TILE, k]",
            "lower += tile_a[y, k]",
        ),
        "neighbouring rows": (
            "wrong",
            "a[row + TILE, at + x]",
            "a[row + 1, at + x]",
        ),
        "no walk": ("wrong", "b[at + y, col]", "b[y, col]"),
        "hard-coded side": ("bounds", "a.shape[1], TILE", "64, TILE"),
        "b for each row": (
            "over_budget:loads",
            "tile_b[k, x]\n        cuda",
            "b[at + k, col]\n        cuda",
        ),
        "one row after the other": (
            "over_budget:loads",
            """
            @cuda.jit
            def two_rows(c, a, b):
                \"\"\"Each thread makes one element of the product, then another.\"\"\"
                tile_a = cuda.shared.array((TILE, TILE), float32)
                tile_b = cuda.shared.array((TILE, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col = TILE * cuda.blockIdx.x + x
                for half in range(2):
                    row = TILE * (2 * cuda.blockIdx.y + half) + y
                    total = float32(0)
                    for at in range(0, a.shape[1], TILE):
                        tile_a[y, x] = a[row, at + x]
                        tile_b[y, x] = b[at + y, col]
                        cuda.syncthreads()
                        for k in range(TILE):
                            total += tile_a[y, k] * tile_b[k, x]
                        cuda.syncthreads()
                    c[row, col] $sign= total
            """,
        ),
    }
    hints = {
        "wrong": (
            "By how much does the first value differ, and do you find that number in one "
            "of the matrices?",
            "A sum must have each product once; and `c` holds numbers at the start, of "
            "which the task says what becomes of them.",
            "Follow thread (0, 0): which products are in its upper sum and in its lower "
            "one, and does `$sign=` take them to `c`?",
        ),
        "over_budget:loads": (
            "How often does your block load the same tile of `b`?",
            "Both elements of a thread lie in one column, and need the same tile of "
            "`b`: keep two sums, and use the tile for both.",
            "Load one tile of `b` and two of `a`, one below the other, at each step "
            "of the walk.",
        ),
        "race between blocks": (
            "Which rows does each block make, and where do those of the next one "
            "begin?",
            "A block makes twice as many rows as it has rows of threads, so the next "
            "one begins that much further down; and each step has a barrier before "
            "its tiles are used and one after.",
            "The row of a thread's upper element is `HIGH` times the block's row, plus "
            "the thread's own row in the block.",
        ),
    }
