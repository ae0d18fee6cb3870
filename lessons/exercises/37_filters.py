"""Exercises of lesson 37: filters whose threads walk down an image."""

from math import ceil

import numpy as np
from numba import cuda, float32, int32

from helpers import emulate, load4
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Predict, SpeedUp


def some(rng, shape, kind):
    """Whole numbers of a type, whose small sums are exact."""
    return numbers(rng, kind, -9, 10, shape)


def make_strip(rows, side):
    """A kernel whose threads walk down a strip and count their products."""
    wide = -(-(side + 3) // 4) * 4

    @cuda.jit
    def walk(products, src):
        near, done = cuda.local.array(wide, float32), int32(0)
        col = 4 * cuda.grid(1)
        for row in range(rows + side - 1):
            for j in range(0, wide, 4):
                near[j], near[j + 1], near[j + 2], near[j + 3] = load4(
                    src, (row, col + j))
            for _ in range(side * side):     # a sum of each row, a weight
                done += 4                    # four sums side by side
        products[cuda.grid(1)] = done + int32(0 * near[0])

    return walk


class Strips(Predict):
    """An image is filtered with $side × $side weights. Each thread makes a strip of four
    columns and $rows rows. It walks down: it loads the pixels of a row that its four
    columns need, with as few `load4` as that takes, and adds their products to all
    $side rows of sums that it has under way, also to those that belong to the strip
    above. How many requests for loads does a warp make for its strips, and how many
    products does a thread make? Answer with a dictionary:
    `{"loads": ..., "products": ...}`.
    """

    stars, points = 1, 2
    choices = {"side": (3, 5, 7), "rows": (16, 32)}

    def truth(self):
        wide = 4 * 32 + 8
        src = np.zeros((self.rows + self.side - 1, wide), np.float32)
        products = np.zeros(32, np.int32)
        run = emulate(make_strip(self.rows, self.side))[1, 32](products, src)
        loads = run.coalescing.by_kind["load"].requests
        return {"loads": loads, "products": int(products[0])}

    @property
    def fours(self):
        """The loads of a row."""
        return ceil((self.side + 3) / 4)

    why = {
        "loads": "A strip needs rows of pixels above and below it, too, and four "
        "columns need those beside them.",
        "products": "Each row of pixels goes into all the rows of sums under way, four "
        "of a row, with all weights of a row.",
    }
    wrong = {
        "no more rows than the strip's": lambda self: (
            self.truth() | {"loads": self.rows * self.fours}
        ),
        "one load a row": lambda self: (
            self.truth() | {"loads": self.rows + self.side - 1}
        ),
        "a load of each pixel": lambda self: (
            self.truth() | {"loads": (self.rows + self.side - 1) * (self.side + 3)}
        ),
        "each row of sums loads": lambda self: (
            self.truth() | {"loads": self.rows * self.side * self.fours}
        ),
        "only its own products": lambda self: (
            self.truth() | {"products": 4 * self.side**2 * self.rows}
        ),
        "one column": lambda self: (
            self.truth() | {"products": self.side**2 * (self.rows + self.side - 1)}
        ),
        "one row of sums": lambda self: (
            self.truth() | {"products": 4 * self.side * (self.rows + self.side - 1)}
        ),
    }
    hints = {
        "wrong": (
            "Which rows of pixels does the first row of the strip need, and which the "
            "last? Which columns do four columns need?",
            "There are `side - 1` more rows of pixels than rows in the strip, and "
            "`side - 1` more columns than four. A `load4` brings four of them.",
            "For each row of pixels a thread makes `side` rows of four sums larger, "
            "each by `side` products.",
        )
    }


class ThreeRows(SpeedUp):
    """A filter of nine weights: `out[row, col]` is the sum of `src[row + i, col + j]` times
    the weight of row `i`, column `j`, whose rows are `FIRST`, `SECOND` and `THIRD`.
    `src` has two rows and two columns more than `out`. A thread makes up to $rows rows
    of a column: `ROWS`. The kernel is right, but it loads each row of pixels three
    times. Load each once.
    """

    stars, points, any_block = 2, 3, True
    choices = {"rows": (16, 8), "type": ("float32", "int32")}
    setup = "ROWS = $rows\nFIRST, SECOND, THIRD = (1, -2, 3), (2, 4, -1), (-3, 1, 2)"
    ragged = (1, 1), (37, 70), (9, 33)

    @property
    def even(self):
        return (4 * self.rows, 64), (2 * self.rows, 32)

    @property
    def budget(self):
        return {"loads": {"src": 3 * (1 + 2 / self.rows)}}

    def inputs(self, rng, rows, cols):
        src = some(rng, (rows + 2, cols + 2), self.type)
        return {"out": Out((rows, cols), self.type), "src": src}

    def launch(self, rows, cols):
        return (ceil(cols / 32), ceil(rows / (2 * self.rows))), (32, 2)

    def spec(self, src):
        rows, cols = src.shape[0] - 2, src.shape[1] - 2
        weights = np.array([[1, -2, 3], [2, 4, -1], [-3, 1, 2]], src.dtype)
        return sum(
            weights[i, j] * src[i : i + rows, j : j + cols]
            for i in range(3)
            for j in range(3)
        )

    given = '''
        @cuda.jit
        def three_rows(out, src):
            """Each thread walks down some rows, and loads nine pixels in each."""
            col, strip = cuda.grid(2)
            if col < out.shape[1]:
                for row in range(ROWS * strip, min(ROWS * strip + ROWS, out.shape[0])):
                    total = $type(0)
                    for j in range(3):
                        total += FIRST[j] * src[row, col + j]
                        total += SECOND[j] * src[row + 1, col + j]
                        total += THIRD[j] * src[row + 2, col + j]
                    out[row, col] = total
    '''
    answer = '''
        @cuda.jit
        def three_rows(out, src):
            """Load a row, finish one sum with it, go on with one, begin one."""
            col, strip = cuda.grid(2)
            top = ROWS * strip
            if top < out.shape[0] and col < out.shape[1]:
                begun = more = $type(0)
                for row in range(top, min(top + ROWS, out.shape[0]) + 2):
                    a, b, c = src[row, col], src[row, col + 1], src[row, col + 2]
                    done = more + THIRD[0] * a + THIRD[1] * b + THIRD[2] * c
                    more = begun + SECOND[0] * a + SECOND[1] * b + SECOND[2] * c
                    begun = FIRST[0] * a + FIRST[1] * b + FIRST[2] * c
                    if row >= top + 2:
                        out[row - 2, col] = done
    '''
    others = {
        "loops over a local array, which the compiler keeps in registers": (
            """
            @cuda.jit
            def three_rows(out, src):
                col, strip = cuda.grid(2)
                sums, top = cuda.local.array(3, $type), ROWS * strip
                for i in range(3):
                    sums[i] = 0
                if top < out.shape[0] and col < out.shape[1]:
                    for row in range(top, min(top + ROWS, out.shape[0]) + 2):
                        sums[0], sums[1], sums[2] = sums[1], sums[2], 0
                        for j in range(3):
                            pixel = src[row, col + j]
                            sums[0] += THIRD[j] * pixel
                            sums[1] += SECOND[j] * pixel
                            sums[2] += FIRST[j] * pixel
                        if row >= top + 2:
                            out[row - 2, col] = sums[0]
            """,
        ),
    }
    wrong = {
        "finished too early": ("race", "if row >= top + 2:", "if True:"),
        "a row of sums too few": ("wrong", "if row >= top + 2:", "if row > top + 2:"),
        "too few rows": (
            *("wrong", "min(top + ROWS, out.shape[0]) + 2"),
            "min(top + ROWS, out.shape[0]) + 1",
        ),
        "whole strips": (
            *("bounds", "min(top + ROWS, out.shape[0]) + 2"),
            "top + ROWS + 2",
        ),
        "no guard of the columns": (
            *("bounds", "if top < out.shape[0] and col < out.shape[1]:"),
            "if top < out.shape[0]:",
        ),
        "weights upside down": (
            *("wrong", "more + THIRD[0] * a + THIRD[1] * b + THIRD[2] * c"),
            "more + FIRST[0] * a + FIRST[1] * b + FIRST[2] * c",
            *("begun = FIRST[0] * a + FIRST[1] * b + FIRST[2] * c",),
            "begun = THIRD[0] * a + THIRD[1] * b + THIRD[2] * c",
        ),
        "begins with what is there": ("wrong", "begun = FIRST", "begun += FIRST"),
        "never goes on": ("wrong", "done = more +", "done = begun +"),
        "a pixel is loaded again": (
            *("over_budget:loads", "done = more + THIRD[0] * a"),
            "done = more + THIRD[0] * src[max(row - 1, 0) + min(row, 1), col]",
        ),
    }
    hints = {
        "over_budget:loads": (
            "For which three rows of `out` does a thread need one row of pixels?",
            "While it has a row of pixels, it can add that to three sums: one that this "
            "row finishes, one in the middle, and one that begins.",
            "Keep two sums from one turn to the next. Each turn: load three pixels; "
            "finish the older sum and store it; go on with the other; begin a new one.",
        ),
        "race": (
            "In which turns of the loop is a sum complete?",
            "The first two rows of pixels of a strip complete no row of it.",
            "Store only from the third turn on, and to the row two above.",
        ),
    }


class LargestAround(SpeedUp):
    """`out[row, col]` is the largest of the five rows and five columns of `src` that begin
    at `src[row, col]`; `src` has four rows and four columns more than `out`. A block of
    $threads threads, `THREADS`, makes $rows rows, `ROWS`, of as many columns. The kernel
    is right, but it loads each pixel 25 times. Let the block walk down, share each row
    in a tile, and keep what is needed again in registers.
    """

    stars, points = 3, 4
    choices = {"rows": (16, 8), "threads": (64, 96), "type": ("float32", "int32")}
    ragged, ordered = ((1, 1), (37, 70), (9, 130)), ("src",)

    @property
    def setup(self):
        threads = self.threads
        return f"ROWS, THREADS, WIDE = {self.rows}, {threads}, {threads + 4}"

    @property
    def even(self):
        return (2 * self.rows, 2 * self.threads), (self.rows, self.threads)

    @property
    def budget(self):
        each = (1 + 4 / self.rows) * (1 + 4 / self.threads)
        return {"loads": {"src": ceil(100 * each) / 100}, "conflicts": 0}

    def inputs(self, rng, rows, cols):
        src = some(rng, (rows + 4, cols + 4), self.type)
        return {"out": Out((rows, cols), self.type), "src": src}

    def launch(self, rows, cols):
        return (ceil(cols / self.threads), ceil(rows / self.rows)), self.threads

    def spec(self, src):
        windows = np.lib.stride_tricks.sliding_window_view(src, (5, 5))
        return windows.max(axis=(2, 3))

    given = '''
        @cuda.jit
        def largest_around(out, src):
            """Each thread makes some rows of a column, and loads 25 pixels in each."""
            col, top = cuda.grid(1), ROWS * cuda.blockIdx.y
            if col < out.shape[1]:
                for row in range(top, min(top + ROWS, out.shape[0])):
                    largest = src[row, col]
                    for i in range(5):
                        for j in range(5):
                            largest = max(largest, src[row + i, col + j])
                    out[row, col] = largest
    '''
    answer = '''
        @cuda.jit
        def largest_around(out, src):
            """Share a row, wait, find its largest of five, compare five rows, wait."""
            tile = cuda.shared.array(WIDE, $type)
            x, col, top = cuda.threadIdx.x, cuda.grid(1), ROWS * cuda.blockIdx.y
            a = b = c = d = $type(0)
            for row in range(top, min(top + ROWS, out.shape[0]) + 4):
                for k in range(x, WIDE, THREADS):
                    if col - x + k < src.shape[1]:
                        tile[k] = src[row, col - x + k]
                cuda.syncthreads()
                if col < out.shape[1]:
                    e = max(tile[x], tile[x + 1], tile[x + 2], tile[x + 3], tile[x + 4])
                    if row >= top + 4:
                        out[row - 4, col] = max(a, b, c, d, e)
                    a, b, c, d = b, c, d, e
                cuda.syncthreads()
    '''
    others = {
        "a ring in a local array": (
            """
            @cuda.jit
            def largest_around(out, src):
                tile = cuda.shared.array(WIDE, $type)
                kept = cuda.local.array(5, $type)
                x, col, top = cuda.threadIdx.x, cuda.grid(1), ROWS * cuda.blockIdx.y
                for row in range(top, min(top + ROWS, out.shape[0]) + 4):
                    for k in range(x, WIDE, THREADS):
                        if col - x + k < src.shape[1]:
                            tile[k] = src[row, col - x + k]
                    cuda.syncthreads()
                    if col < out.shape[1]:
                        here = (row - top) % 5
                        kept[here] = tile[x]
                        for k in range(1, 5):
                            kept[here] = max(kept[here], tile[x + k])
                        if row >= top + 4:
                            largest = kept[0]
                            for k in range(1, 5):
                                largest = max(largest, kept[k])
                            out[row - 4, col] = largest
                    cuda.syncthreads()
            """,
        ),
    }
    wrong = {
        "no first barrier": ("race", "cuda.syncthreads()\n        if col", "if col"),
        "no second barrier": (
            *("race", "a, b, c, d = b, c, d, e\n        cuda.syncthreads()"),
            "a, b, c, d = b, c, d, e",
        ),
        "only where there is a column": (
            *("barrier", "a, b, c, d = b, c, d, e\n        cuda.syncthreads()"),
            "a, b, c, d = b, c, d, e\n            cuda.syncthreads()",
        ),
        "no guard of the loads": (
            *("bounds", "if col - x + k < src.shape[1]:", "if True:"),
        ),
        "stored too early": ("race", "if row >= top + 4:", "if True:"),
        "no halo": (
            *("uninitialised", "range(x, WIDE, THREADS)", "range(x, THREADS, THREADS)"),
        ),
        "four rows": ("wrong", "max(a, b, c, d, e)", "max(b, c, d, e)"),
        "four columns": (
            *("wrong", "tile[x + 3], tile[x + 4])", "tile[x + 3], tile[x + 3])"),
        ),
        "nothing moves up": ("wrong", "a, b, c, d = b, c, d, e", "d = e"),
        "whole strips": (
            *("bounds", "min(top + ROWS, out.shape[0]) + 4", "top + ROWS + 4"),
        ),
        "past the tile": (
            *("over_budget:loads", "e = max(tile[x], tile[x + 1], "),
            "e = max(tile[x], src[row, col + 1], ",
        ),
    }
    hints = {
        "over_budget:loads": (
            "How many threads need the same pixel of a row, and in how many rows of "
            "`out` does a thread need the same row?",
            "Five threads need it: share the row in a tile. And the largest of a row's "
            "five pixels serves five rows of `out`: a variable can keep it.",
            "In each turn: fill the tile with a row and four pixels more, wait, take the "
            "largest of five from it, compare it with those of the four rows before, "
            "and wait again.",
        ),
        "race": (
            "Do the report's two lines belong to the same row, or to two rows?",
            "The tile must be full before anybody takes from it, and nobody may fill it "
            "again while another still takes.",
            "All threads have to wait twice in each turn: after the tile is filled, and "
            "at the turn's end.",
        ),
    }
