"""Exercises of lesson 21: rows in, columns out."""

from functools import cache

import numpy as np
from numba import cuda, float32

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Predict, SpeedUp, Write


@cuda.jit
def directly(dst, src):
    """Each thread moves one element across the diagonal."""
    col, row = cuda.grid(2)
    dst[col, row] = src[row, col]


@cache
def through_tile(width):
    """A kernel that transposes through tiles whose rows have `width` elements."""
    @cuda.jit
    def transpose(dst, src):
        tile = cuda.shared.array((32, width), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
        tile[y, x] = src[top + y, left + x]
        cuda.syncthreads()
        dst[left + y, top + x] = tile[x, y]
    return transpose


class Rungs(Predict):
    """A matrix of $rows × $cols elements of type float32 is transposed by blocks of
    32 × 32 threads: directly, `dst[col, row] = src[row, col]`; or by rows into a
    tile of 32 × 32 and by columns out of it; or through a tile of 32 × $width.

    Predict, as a dictionary with four keys: `"direct"` and `"tiled"`, the sectors that
    one request touches when it stores to `dst`; `"tile"` and `"padded"`, the bank
    conflicts of one request that loads from the tile of 32 × 32 and 32 × $width.
    """

    points = 2
    choices = {"width": (33, 34, 36), "rows": (64, 128), "cols": (32, 96)}

    def truth(self):
        runs = map(self.run, (directly, through_tile(32), through_tile(self.width)))
        direct, tile, padded = runs
        store = {it: it.coalescing.by_kind["store"] for it in (direct, tile)}
        load = {it: it.bank_conflicts.by_kind["load"] for it in (tile, padded)}
        return {
            "direct": store[direct].sectors / store[direct].requests,
            "tiled": store[tile].sectors / store[tile].requests,
            "tile": load[tile].conflicts / load[tile].requests,
            "padded": load[padded].conflicts / load[padded].requests,
        }

    def run(self, kernel):
        """The emulated launch of a transpose."""
        src = np.zeros((self.rows, self.cols), np.float32)
        launch = (self.cols // 32, self.rows // 32), (32, 32)
        return emulate(kernel)[launch](np.empty_like(src.T, order="C"), src)

    why = {
        "direct": "Neighbouring lanes have neighbouring rows of `dst`.",
        "tiled": "What a warp loads from a column of the tile, it stores along a row.",
        "tile": "The cells of a column are 32 words apart.",
        "padded": "As many cells of a column meet as the greatest common divisor of width and 32.",
    }
    wrong = {
        "sectors of a row": lambda self: self.truth() | {"direct": 4},
        "the column stays": lambda self: self.truth() | {"tiled": 32},
        "wavefronts": lambda self: self.truth() | {"tile": 32},
        "a tile has no conflicts": lambda self: self.truth() | {"tile": 0},
        "the padding is a column each": lambda self: (
            self.truth() | {"padded": self.width - 32}
        ),
    }
    hints = {
        "wrong": (
            "Which elements do the 32 lanes of one warp store, and which load?",
            "A sector has 8 elements of 4 bytes. A column of a tile lies `width` words "
            "apart; its conflicts follow from what the width shares with 32.",
            "All lanes of a warp have one `y` and different `x`. Put `x` = 0, 1, 2, 3 "
            "into both indices of the line, and see how far apart they are.",
        )
    }


class Tiles:
    """What exercises have in common that turn matrices by tiles of 32 × 32."""

    choices = {"type": ("float32", "int32", "uint32")}
    even, ragged = ((64, 32), (32, 96)), ((1, 1), (70, 20), (40, 65), (130, 100))
    budget = {"conflicts": 0, "sectors": "ideal", "requests": 128}

    def inputs(self, rng, rows, cols):
        src = numbers(rng, self.type, -50_000, 50_000, (rows, cols))
        return {"dst": Out((cols, rows), self.type), "src": src}

    def launch(self, rows, cols):
        return (-(-cols // 32), -(-rows // 32)), (32, 32)


class Transpose(Tiles, Write):
    """Transpose a matrix of any size: rows become columns. Loads and stores are
    coalesced, without a bank conflict.
    """

    points = 2

    def spec(self, src):
        return src.T

    setup = "TILE = 32\nWIDTH = TILE + 1"
    answer = '''
        @cuda.jit
        def transpose(dst, src):
            """Load what there is of a tile, wait, store what there is."""
            tile = cuda.shared.array((TILE, WIDTH), $type)
            rows, cols = src.shape
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
            if top + y < rows and left + x < cols:
                tile[y, x] = src[top + y, left + x]
            cuda.syncthreads()
            if left + y < cols and top + x < rows:
                dst[left + y, top + x] = tile[x, y]
    '''
    wrong = {
        "no guard of the load": ("bounds",
            "if top + y < rows and left + x < cols:", "if True:"),
        "no guard of the store": ("bounds",
            "if left + y < cols and top + x < rows:", "if True:"),
        "one guard for both": ("bounds",
            "left + y < cols and top + x < rows", "top + y < rows and left + x < cols"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "leaves before the barrier": ("barrier",
            "if top + y <", "if left + x >= cols:\n        return\n    if top + y <"),
        "no padding": ("over_budget:conflicts", "TILE + 1", "TILE"),
        "padding on the wrong axis": ("over_budget:conflicts",
            "(TILE, WIDTH)", "(WIDTH, TILE)"),
        "directly": ("over_budget:sectors", "= tile[x, y]", "= src[top + x, left + y]"),
        "never loads": ("constant", "= src[top + y, left + x]", "= top + y"),
        "loads twice": ("over_budget:requests",
            "= src[top + y, left + x]", "= src[top + y, left + x] + 0 * src[top, left]"),
        "columns in, rows out": ("over_budget:sectors", "x, y = cuda", "y, x = cuda"),
    }


class Rotate(Tiles, Write):
    """Rotate a matrix of any size by a quarter turn, $way. Loads and stores are
    coalesced, and there are no bank conflicts.
    """

    stars, points = 2, 3
    choices = {"turns": (-1, 1), **Tiles.choices}

    def spec(self, src):
        return np.rot90(src, self.turns)

    @property
    def way(self):
        return "clockwise" if self.turns == -1 else "anticlockwise"

    places = property(
        lambda self: ("left + y, rows - 1 - top - x", "cols - 1 - left - y, top + x")
    )
    place = property(lambda self: self.places[self.turns == 1])
    other_place = property(lambda self: self.places[self.turns == -1])

    setup = "TILE = 32\nWIDTH = TILE + 1"
    answer = '''
        @cuda.jit
        def rotate(dst, src):
            """Turn a matrix by a quarter, $way."""
            tile = cuda.shared.array((TILE, WIDTH), $type)
            rows, cols = src.shape
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
            if top + y < rows and left + x < cols:
                tile[y, x] = src[top + y, left + x]
            cuda.syncthreads()
            if left + y < cols and top + x < rows:
                dst[$place] = tile[x, y]
    '''
    wrong = {
        "clears the input": ("writes_input",
            "= tile[x, y]", "= tile[x, y]\n        src[top + x, left + y] = 0"),
        "sides of at most 96": ("tail", "if left + y < cols and top + x < rows:",
            "if left + y < min(cols, 96) and top + x < min(rows, 96):"),
        "transposed": ("wrong", "$place", "left + y, top + x"),
        "the other way": ("wrong", "$place", "$other_place"),
        "stores twice": ("over_budget:requests",
            "        dst[$place]", "        dst[$place] = 0\n        dst[$place]"),
        "off by one": ("bounds", "- 1 - ", "- "),
        "no guard of the load": ("bounds", "top + y < rows and left + x < cols", "True"),
        "no guard of the store": ("bounds", "left + y < cols and top + x < rows", "True"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no padding": ("over_budget:conflicts", "TILE + 1", "TILE"),
        "directly": ("over_budget:sectors", "= tile[x, y]", "= src[top + x, left + y]"),
    }
    hints = {
        "wrong": (
            "Where does the first row of `src` end up, and where does its first element?",
            "A transpose puts element `[row, col]` at `[col, row]`. A turn also counts "
            "one of the two from the other end, and which one says which way it turns.",
            "Clockwise, the first row becomes the last column, from top to bottom; "
            "anticlockwise, the first column, from bottom to top.",
        )
    }


class WideTurn(Tiles, SpeedUp):
    """Transpose a matrix whose sides are multiples of four. The kernel is right, but
    each thread moves four elements one by one. Let it move them at once, with fewer
    requests.
    """

    stars, points = 3, 5
    even, ragged = ((64, 32), (32, 96)), ((4, 4), (68, 20), (40, 68), (132, 100))
    multiple = 4
    budget = {"requests": 32, "conflicts": 0, "sectors": "ideal"}

    def launch(self, rows, cols):
        return (-(-cols // 32), -(-rows // 32)), (8, 32)

    def spec(self, src):
        return src.T

    setup = """
        from helpers import load4, store4

        TILE = 32
        WIDTH = TILE + 1
    """
    given = '''
        @cuda.jit
        def wide_turn(dst, src):
            """Load four elements of a row, one by one, store four of a column."""
            tile = cuda.shared.array((TILE, WIDTH), $type)
            rows, cols = src.shape
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
            for k in range(x, TILE, 8):
                if top + y < rows and left + k < cols:
                    tile[y, k] = src[top + y, left + k]
            cuda.syncthreads()
            for k in range(x, TILE, 8):
                if left + y < cols and top + k < rows:
                    dst[left + y, top + k] = tile[k, y]
    '''
    answer = '''
        @cuda.jit
        def wide_turn(dst, src):
            """Load four elements of a row at once, store four of a column."""
            tile = cuda.shared.array((TILE, WIDTH), $type)
            rows, cols = src.shape
            x, y = 4 * cuda.threadIdx.x, cuda.threadIdx.y
            left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
            if top + y < rows and left + x < cols:
                four = load4(src, (top + y, left + x))
                for k in range(4):
                    tile[y, x + k] = four[k]
            cuda.syncthreads()
            if left + y < cols and top + x < rows:
                four = tile[x, y], tile[x + 1, y], tile[x + 2, y], tile[x + 3, y]
                store4(dst, (left + y, top + x), four)
    '''
    wrong = {
        "no guard of the load": ("bounds", "top + y < rows and left + x < cols", "True"),
        "no guard of the store": ("bounds", "left + y < cols and top + x < rows", "True"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no padding": ("over_budget:conflicts", "TILE + 1", "TILE"),
        "four columns of padding": ("over_budget:conflicts", "TILE + 1", "TILE + 4"),
        "two elements swapped": ("wrong",
            "tile[x + 1, y], tile[x + 2, y]", "tile[x + 2, y], tile[x + 1, y]"),
        "guard of whole tiles": ("tail",
            "if left + y < cols and top + x < rows:",
            "if left + TILE <= cols and top + TILE <= rows:"),
        "one by one out": ("over_budget:requests",
            "store4(dst, (left + y, top + x), four)",
            "for k in range(4):\n            dst[left + y, top + x + k] = four[k]"),
        "no multiple of four": ("bounds", "x, y = 4 *", "x, y = 5 *"),
    }


class Diagonals(Tiles, Write):
    """Store the diagonals of a matrix as rows: element `i` of row `d` is
    `src[i, (d $sign i) % cols]`, so that a diagonal goes on at the other edge.
    Loads and stores are coalesced, though rows may begin within a sector.
    """

    stars, points = 3, 5
    choices = {"sign": ("+", "-"), **Tiles.choices}
    budget = {"conflicts": 0, "sectors": 5, "requests": 128}

    def spec(self, src):
        rows, cols = src.shape
        i, d = np.arange(rows), np.arange(cols)[:, None]
        return src[i, (d + self.step * i) % cols]

    @property
    def step(self):
        return 1 if self.sign == "+" else -1

    setup = "TILE = 32\nWIDTH = TILE + 1"
    answer = '''
        @cuda.jit
        def diagonals(dst, src):
            """Load a skewed tile by rows, wait, store it by columns."""
            tile = cuda.shared.array((TILE, WIDTH), $type)
            rows, cols = src.shape
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
            i, d = top + y, left + x
            if i < rows and d < cols:
                tile[y, x] = src[i, (d $sign i) % cols]
            cuda.syncthreads()
            i, d = top + x, left + y
            if i < rows and d < cols:
                dst[d, i] = tile[x, y]
    '''
    wrong = {
        "no guard of the load": ("bounds", "if i < rows and d < cols:", "if True:"),
        "no guard of the columns": ("bounds",
            "if i < rows and d < cols:\n        dst", "if i < rows:\n        dst"),
        "too steep": ("wrong", "d $sign i", "d $sign 2 * i"),
        "not skewed": ("wrong", "(d $sign i) % cols", "d"),
        "not around the edge": ("bounds", "(d $sign i) % cols", "d $sign i"),
        "rows for columns": ("bounds", "% cols", "% rows"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no padding": ("over_budget:conflicts", "TILE + 1", "TILE"),
        "directly": ("over_budget:sectors",
            "= tile[x, y]", "= src[i, (d $sign i) % cols]"),
        "stored by columns": ("over_budget:sectors",
            "i, d = top + x, left + y", "", "= tile[x, y]", "= tile[y, x]"),
    }
