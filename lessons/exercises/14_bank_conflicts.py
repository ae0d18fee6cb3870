"""Exercises of lesson 14: which lanes want the same bank?"""

from functools import cache

import numpy as np
from numba import cuda, float32, float64, int8

from helpers import emulate
from helpers.exercises.arguments import full, numbers
from helpers.exercises.exercise import Out, Predict, SpeedUp, Write


@cache
def make_walk(dtype):
    """A kernel whose lanes load elements of a type that lie some way apart."""
    @cuda.jit
    def walk(out, stride, broadcast):
        """Load an element for each lane, or the same one for each pair of lanes."""
        cells = cuda.shared.array(1024, dtype)
        lane = cuda.threadIdx.x
        for cell in range(lane, 1024, 32):
            cells[cell] = cell % 100
        cuda.syncthreads()
        out[lane] = cells[(lane // 2 if broadcast else lane) * stride]
    return walk


class BankConflicts(Predict):
    """The lanes of a warp load elements of a shared array, $stride elements apart:
    lane `l` loads element `$stride * l`. How many bank conflicts has this request?

    Predict, as a dictionary with five keys: for elements of type `"int8"`, `"float32"`
    and `"float64"`; for `"padded"`, elements of type float32 that lie one farther
    apart, $padded; and for `"pairs"`, elements of type float32, $stride apart, where
    two neighbouring lanes load the same one, `$stride * (l // 2)`.
    """

    points = 3
    choices = {"stride": (16, 12, 24)}

    @property
    def padded(self):
        return self.stride + 1

    def truth(self):
        asked = {
            "int8": (int8, self.stride, False),
            "float32": (float32, self.stride, False),
            "float64": (float64, self.stride, False),
            "padded": (float32, self.padded, False),
            "pairs": (float32, self.stride, True),
        }
        out = np.zeros(32)
        return {
            name: emulate(make_walk(dtype))[1, 32](out, *how)
            .bank_conflicts.by_kind["load"].conflicts
            for name, (dtype, *how) in asked.items()
        }

    why = {
        "int8": "Four elements share a word: the words lie a quarter as far apart.",
        "float32": "Only what a bank wants beyond the first wavefront is a conflict.",
        "float64": "An element has two words, and two wavefronts are the ideal.",
        "padded": "A distance that shares no factor with 32 reaches every bank.",
        "pairs": "Lanes that want the same word take it in one wavefront.",
    }
    wrong = {
        "wavefronts": lambda self: {n: it + 1 for n, it in self.truth().items()},
        "one rule for all types": lambda self: (
            dict.fromkeys(self.truth(), np.gcd(self.stride, 32) - 1) | {"padded": 0}
        ),
        "the same word is a conflict": lambda self: (
            self.truth() | {"pairs": self.truth()["float32"]}
        ),
        "a longer stride is worse": lambda self: (
            self.truth() | {"padded": self.truth()["float32"] + 1}
        ),
    }
    hints = {
        "wrong": (
            "Write down the words of lanes 0 to 7, and their banks. After how many "
            "lanes does the first bank come again?",
            "One wavefront gives a word of four bytes to every lane that asks for it. "
            "Requests for 8 bytes a lane go by half warps: ideally two wavefronts.",
            "Count the different words in the fullest bank: of 32 lanes, or of each "
            "half for float64. The wavefronts beyond the ideal are the conflicts.",
        )
    }


class TurnFloat64(Write):
    """Transpose each matrix of a stack, of at most 32 × 32 elements: rows become
    columns. A block of 32 × 32 threads has one matrix, and brings it through a tile.

    Its elements have 8 bytes, and the tile may have one column of padding.
    """

    points = 2
    choices = {"type": ("float64", "int64", "uint64")}
    even, ragged = ((1, 32, 32), (2, 32, 32)), ((3, 1, 1), (1, 20, 7), (2, 5, 32))
    limits = None, 32, 32
    budget = {"conflicts": 0, "sectors": "ideal", "shared_bytes": 32 * 33 * 8}

    def inputs(self, rng, count, rows, cols):
        a = numbers(rng, self.type, -4000, 4000, (count, rows, cols))
        return {"out": Out((count, cols, rows), self.type), "a": a}

    def launch(self, count, rows, cols):
        return count, (32, 32)

    def spec(self, a):
        return a.transpose(0, 2, 1)

    @property
    def half(self):
        return self.type.replace("64", "32")

    answer = '''
        @cuda.jit
        def turn_float64(out, a):
            """Write a tile by rows, read it by columns."""
            tile = cuda.shared.array((32, 33), $type)
            rows, cols = a.shape[1:]
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            if y < rows and x < cols:
                tile[y, x] = a[cuda.blockIdx.x, y, x]
            cuda.syncthreads()
            if y < cols and x < rows:
                out[cuda.blockIdx.x, y, x] = tile[x, y]
    '''
    wrong = {
        "no padding": ("over_budget:conflicts", "(32, 33)", "(32, 32)"),
        "a row of padding": ("over_budget:conflicts", "(32, 33)", "(33, 32)"),
        "two columns": ("over_budget:conflicts", "(32, 33)", "(32, 34)"),
        "three columns": ("over_budget:shared_bytes", "(32, 33)", "(32, 35)"),
        "a narrower tile": ("wrong", "(32, 33), $type", "(32, 33), $half"),
        "no tile": ("over_budget:sectors",
            "out[cuda.blockIdx.x, y, x] = tile[x, y]",
            "out[cuda.blockIdx.x, y, x] = a[cuda.blockIdx.x, x, y]"),
        "no guard of the load": ("bounds", "if y < rows and x < cols:", "if True:"),
        "no guard of the store": ("bounds", "if y < cols and x < rows:", "if True:"),
        "the load's guard twice": ("bounds",
            "y < cols and x < rows", "y < rows and x < cols"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "not turned": ("wrong", "= tile[x, y]", "= tile[y, x]"),
        "the first matrix alone": ("wrong", "a[cuda.blockIdx.x, y, x]", "a[0, y, x]"),
    }


class Swizzle(SpeedUp):
    """Each row of 32 numbers becomes its running $ufunc: element `k` the $word of
    the elements up to `k`. A block of 32 threads has 32 rows; each goes along one.

    The kernel is right, but has bank conflicts. Remove them without using more
    shared memory.
    """

    stars, points = 2, 4
    choices = {"op": ("max", "min"), "type": ("float32", "int32")}
    even, ragged, work = (32, 64), (1, 33, 70), 2
    budget = {"shared_bytes": 4096, "conflicts": 0, "sectors": "ideal", "loads": {"a": 1}}
    ordered = ("a",)

    def inputs(self, rng, rows):
        up = 1 if self.op == "max" else -1
        a = rng.uniform(0, 100, (rows, 32)) + 2 * up * np.arange(32) - 50 - 32 * up
        return {"out": Out((rows, 32), self.type), "a": full(self.type, a)}

    def launch(self, rows):
        return -(-rows // 32), 32

    def spec(self, a):
        return getattr(np, self.ufunc).accumulate(a, axis=1)

    @property
    def ufunc(self):
        return self.op + "imum"

    @property
    def word(self):
        return "largest" if self.op == "max" else "smallest"

    given = '''
        @cuda.jit
        def swizzle(out, a):
            """Bring rows, let each lane go along one, take rows."""
            tile = cuda.shared.array((32, 32), $type)
            lane, first = cuda.threadIdx.x, 32 * cuda.blockIdx.x
            count = min(32, a.shape[0] - first)
            for row in range(count):
                tile[row, lane] = a[first + row, lane]
            cuda.syncthreads()
            if lane < count:
                for k in range(1, 32):
                    tile[lane, k] = $op(tile[lane, k], tile[lane, k - 1])
            cuda.syncthreads()
            for row in range(count):
                out[first + row, lane] = tile[row, lane]
    '''
    answer = '''
        @cuda.jit
        def swizzle(out, a):
            """Bring rows, shuffled, let each lane go along one, take rows."""
            tile = cuda.shared.array((32, 32), $type)
            lane, first = cuda.threadIdx.x, 32 * cuda.blockIdx.x
            count = min(32, a.shape[0] - first)
            for row in range(count):
                tile[row, lane ^ row] = a[first + row, lane]
            cuda.syncthreads()
            if lane < count:
                so_far = tile[lane, lane]
                for k in range(1, 32):
                    so_far = $op(so_far, tile[lane, k ^ lane])
                    tile[lane, k ^ lane] = so_far
            cuda.syncthreads()
            for row in range(count):
                out[first + row, lane] = tile[row, lane ^ row]
    '''

    wrong = {
        "a column of padding": ("over_budget:shared_bytes", "(32, 32)", "(32, 33)"),
        "stored as it came": ("wrong", "lane ^ row] = a", "lane] = a"),
        "taken as it lies": ("wrong", "= tile[row, lane ^ row]", "= tile[row, lane]"),
        "first barrier missing": ("race", "cuda.syncthreads()\n    if", "if"),
        "second barrier missing": ("race", "cuda.syncthreads()\n    for", "for"),
        "no guard of the rows": ("bounds", "min(32, a.shape[0] - first)", "32"),
        "stops too early": ("wrong", "range(1, 32)", "range(1, 31)"),
        "starts with zero": ("wrong", "so_far = tile[lane, lane]", "so_far = 0"),
        "starts in global memory": ("over_budget:sectors",
            "so_far = tile[lane, lane]", "so_far = a[first + lane, 0]"),
        "brings the rows twice": ("over_budget:loads",
            "cuda.syncthreads()\n    if",
            "for row in range(count):\n        tile[row, lane ^ row] = a[first + row, lane]"
            "\n    cuda.syncthreads()\n    if"),
        "leaves before the barrier": ("barrier",
            "count = min",
            "if lane >= a.shape[0] - first:\n        return\n    count = min"),
    }


class HalfBlock(Write):
    """Transpose a matrix: rows become columns. A block of 16 × 16 threads brings a
    tile of 16 × 16 elements, so that a warp covers two rows of it, and turns it.

    Neither the stores to the tile nor the loads from it may have a bank conflict.
    One padding frees the stores and another one the loads: what frees both?
    """

    stars, points = 3, 4
    choices = {"type": ("float32", "int32", "uint32")}
    even, ragged = ((32, 48), (16, 64)), ((1, 1), (17, 40), (50, 9))
    budget = {"shared_bytes": 4 * 16 * 18, "conflicts": 0, "sectors": "ideal"}

    def inputs(self, rng, rows, cols):
        a = numbers(rng, self.type, -10_000, 10_000, (rows, cols))
        return {"out": Out((cols, rows), self.type), "a": a}

    def launch(self, rows, cols):
        return (-(-cols // 16), -(-rows // 16)), (16, 16)

    def spec(self, a):
        return a.T

    answer = '''
        @cuda.jit
        def half_block(out, a):
            """Write a tile by rows, shuffled, read it by columns."""
            tile = cuda.shared.array((16, 16), $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = 16 * cuda.blockIdx.x, 16 * cuda.blockIdx.y
            rows, cols = a.shape
            if top + y < rows and left + x < cols:
                tile[y, x ^ y] = a[top + y, left + x]
            cuda.syncthreads()
            if left + y < cols and top + x < rows:
                out[left + y, top + x] = tile[x, y ^ x]
    '''
    wrong = {
        "no padding": ("over_budget:conflicts", "x ^ y", "x", "y ^ x", "y"),
        "17 columns": ("over_budget:conflicts",
            "(16, 16)", "(16, 17)", "x ^ y", "x", "y ^ x", "y"),
        "18 columns": ("over_budget:conflicts",
            "(16, 16)", "(16, 18)", "x ^ y", "x", "y ^ x", "y"),
        "48 columns": ("over_budget:shared_bytes",
            "(16, 16)", "(16, 48)", "x ^ y", "x", "y ^ x", "y"),
        "shuffled one way": ("wrong", "tile[x, y ^ x]", "tile[x, y]"),
        "no guard of the load": ("bounds",
            "if top + y < rows and left + x < cols:", "if True:"),
        "no guard of the store": ("bounds",
            "if left + y < cols and top + x < rows:", "if True:"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no tile": ("over_budget:sectors",
            "= tile[x, y ^ x]", "= a[top + x, left + y]"),
        "brings the answer": ("constant",
            "@cuda.jit", "EXPECTED = np.zeros((48, 32), np.int32)\n\n\n@cuda.jit",
            "tile[x, y ^ x]", "EXPECTED[(left + y) % 48, (top + x) % 32]"),
    }
    hints = {
        "over_budget:conflicts": (
            "Which banks hold the two rows that a warp stores, and the two columns "
            "that it loads?",
            "Two rows of 16 fill the 32 banks if they begin 16 words apart; two "
            "columns, if the rows begin 2 words apart. No padding does both.",
            "Leave the rows 16 words long, and let each row keep its elements in an "
            "order of its own.",
        )
    }


class Bitonic(Write):
    """Sort each block's part of an array, $order: 64 elements, and as many as
    there are for the last block. A block has a thread for each element.

    A step compares elements whose numbers differ in one bit, `i` and `i ^ step`, and
    swaps them if they are in the wrong order. For `run` = 2, 4, 8, … 64 and each time
    for `step` = `run / 2`, … 4, 2, 1: in the order above where `i & run` is 0, and
    elsewhere the other way round. After the last step the block is sorted.
    """

    stars, points = 3, 6
    choices = {"order": ("the smallest first", "the largest first")}
    even, ragged, work = (128, 192), (1, 2, 65, 150), 2
    budget = {"barriers": 22, "conflicts": 0, "loads": {"a": 1}, "sectors": "ideal"}
    ordered = ("a",)

    def inputs(self, rng, n):
        a = full(np.float32, rng.integers(-500, 500, n) / 4)
        return {"out": Out(n, np.float32), "a": a}

    def launch(self, n):
        return -(-n // 64), 64

    def spec(self, a):
        parts = [np.sort(a[k : k + 64])[:: self.step] for k in range(0, a.size, 64)]
        return np.concatenate(parts)

    @property
    def step(self):
        return 1 if self.order == "the smallest first" else -1

    @property
    def last(self):
        return "np.inf" if self.step == 1 else "-np.inf"

    @property
    def wrong_way(self):
        return "mine > its" if self.step == 1 else "mine < its"

    answer = '''
        @cuda.jit
        def bitonic(out, a):
            """Each block sorts its elements: in runs of 2, of 4, and so on."""
            tile = cuda.shared.array(64, float32)
            thread, i = cuda.threadIdx.x, cuda.grid(1)
            tile[thread] = a[i] if i < a.size else $last
            cuda.syncthreads()
            run = 2
            while run <= 64:
                step = run // 2
                while step > 0:
                    other = thread ^ step
                    if thread < other:
                        mine, its = tile[thread], tile[other]
                        if ($wrong_way) == (thread & run == 0):
                            tile[thread], tile[other] = its, mine
                    cuda.syncthreads()
                    step //= 2
                run *= 2
            if i < a.size:
                out[i] = tile[thread]
    '''
    wrong = {
        "first barrier missing": ("race", "cuda.syncthreads()", ""),
        "barrier missing in the loop": ("race",
            "cuda.syncthreads()\n            step //", "step //"),
        "leaves before the barrier": ("barrier",
            "tile[thread] =", "if i >= a.size:\n        return\n    tile[thread] ="),
        "barrier for each run": ("race",
            "cuda.syncthreads()\n            step //= 2\n        run",
            "step //= 2\n        cuda.syncthreads()\n        run"),
        "both swap": ("race", "if thread < other:", "if True:"),
        "no guard": ("bounds", "if i < a.size:", "if True:"),
        "zeros at the end": ("tail", "else $last", "else 0"),
        "all runs upwards": ("wrong", "== (thread & run == 0)", ""),
        "the wrong way round": ("wrong", "thread & run == 0", "thread & run != 0"),
        "one run missing": ("wrong", "run <= 64", "run < 64"),
        "two barriers a step": ("over_budget:barriers",
            "if thread < other:", "cuda.syncthreads()\n            if thread < other:"),
        "a pair for each thread": ("over_budget:conflicts",
            "other = thread ^ step",
            "me = 2 * thread - thread % step\n            other = me + step",
            "if thread < other", "if thread < 32", "tile[thread], tile[other]",
            "tile[me], tile[other]", "thread & run", "me & run",
            "tile[thread], tile[other]", "tile[me], tile[other]"),
    }
