"""Exercises of lesson 12: which elements do neighbouring threads take?"""

from math import ceil

import numpy as np

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, Out, Predict, SpeedUp
from helpers.exercises.sources import kernel_of


class Sectors(Predict):
    """A warp loads from an array `a` of type $type that begins where a line begins:
    each of its 32 lanes loads one element. How many sectors does each of these
    requests touch? Answer with a dictionary:

    - "moved on": lane i loads `a[i + $offset]`
    - "apart": lane i loads `a[$stride * i]`
    - "backwards": lane i loads `a[31 - i]`
    - "in pairs": lane i loads `a[i // 2]`
    """

    stars, points = 1, 2
    choices = {
        "type": ("float32", "float64", "int16"),
        "offset": (3, 5, 9),
        "stride": (2, 3, 5),
    }

    def truth(self):
        """The sectors of each load, counted."""
        return {
            name: self.sectors(index) for name, index in self.indices.items()
        }

    def sectors(self, index):
        kernel = kernel_of(
            "@cuda.jit\ndef load(out, a):\n"
            "    i = cuda.threadIdx.x\n"
            f"    out[i] = a[{index}]\n",
            "load",
        )
        a = np.ones(256, self.type)
        return (
            emulate(kernel)[1, 32](a[:32].copy(), a)
            .coalescing.by_kind["load"]
            .sectors
        )

    @property
    def indices(self):
        return {
            "moved on": f"i + {self.offset}",
            "apart": f"{self.stride} * i",
            "backwards": "31 - i",
            "in pairs": "i // 2",
        }

    why = {
        "moved on": "They begin within a sector and end within one, which counts, too.",
        "apart": "Sectors count whole, also where lanes leave out elements of them.",
        "backwards": "A request touches the same sectors in any order of its lanes.",
        "in pairs": "Two lanes that load the same element need it once.",
    }
    wrong = {
        "a sector for each lane": lambda self: dict.fromkeys(self.indices, 32),
        "an offset costs nothing": lambda self: (
            self.truth() | {"moved on": self.truth()["backwards"]}
        ),
        "backwards costs more": lambda self: self.truth() | {"backwards": 32},
        "each lane has bytes of its own": lambda self: (
            self.truth() | {"in pairs": self.truth()["backwards"]}
        ),
        "the stride is free": lambda self: (
            self.truth() | {"apart": self.truth()["backwards"]}
        ),
    }


class Mirror(SpeedUp):
    """Mirror a matrix, $way. The kernel is right, but slow: its warps touch far more
    sectors than they need. Load each element once, and store it once.
    """

    stars, points, any_block = 1, 2, True
    choices = {
        "axis": (1, 0),
        "type": ("float32", "int32", "uint32"),
    }
    even, ragged = ((64, 64), (32, 32), (32, 96)), ((1, 1), (33, 70), (97, 31))
    budget = {"sectors": 4, "requests": 2 * 64 * 64 // 32}

    def inputs(self, rng, rows, cols):
        a = numbers(rng, self.type, -9000, 9000, (rows, cols))
        return {"out": Out((rows, cols), self.type), "a": a}

    def launch(self, rows, cols):
        return (ceil(cols / 32), ceil(rows / 8)), (32, 8)

    def spec(self, a):
        return np.flip(a, self.axis)

    @property
    def way(self):
        return ("upside down", "left to right")[self.axis]

    @property
    def there(self):
        return ("rows - 1 - row, col", "row, cols - 1 - col")[self.axis]

    @property
    def elsewhere(self):
        return ("row, cols - 1 - col", "rows - 1 - row, col")[self.axis]

    given = """
        @cuda.jit
        def mirror(out, a):
            \"\"\"Each thread moves one element.\"\"\"
            rows, cols = a.shape
            col = cuda.blockIdx.x * 32 + cuda.threadIdx.y * 4 + cuda.threadIdx.x // 8
            row = cuda.blockIdx.y * 8 + cuda.threadIdx.x % 8
            if row < rows and col < cols:
                out[$there] = a[row, col]
    """
    answer = """
        @cuda.jit
        def mirror(out, a):
            \"\"\"Each thread moves one element.\"\"\"
            rows, cols = a.shape
            col, row = cuda.grid(2)
            if row < rows and col < cols:
                out[$there] = a[row, col]
    """
    wrong = {
        "no guard": ("bounds", "if row < rows and col < cols:", "if True:"),
        "guard one too far": ("bounds", "col < cols:", "col <= cols:"),
        "hard-coded size": (
            "bounds",
            "rows, cols = a.shape",
            "rows, cols = 64, 64",
        ),
        "off by one": ("bounds", "- 1 -", "-"),
        "swapped coordinates": ("wrong", "col, row = ", "row, col = "),
        "the other axis": ("wrong", "out[$there]", "out[$elsewhere]"),
        "not mirrored": ("wrong", "out[$there]", "out[row, col]"),
        "writes the input": (
            "writes_input",
            "= a[row, col]",
            "= a[row, col] = 1",
        ),
        "16 bits": ("wrong", "= a[row, col]", "= np.int16(a[row, col])"),
        "stores twice": (
            "over_budget:requests",
            "out[$there] = a[row, col]",
            "out[$there] = out[$there] = a[row, col]",
        ),
        "loads twice": (
            "over_budget:requests",
            "= a[row, col]",
            "= a[row, col] + 0 * a[row, 0]",
        ),
        "four of a row a warp": (
            "over_budget:sectors",
            "col, row = cuda.grid(2)",
            "x, y = cuda.threadIdx.x, cuda.threadIdx.y\n"
            "    col = cuda.blockIdx.x * 32 + y * 4 + x % 4\n"
            "    row = cuda.blockIdx.y * 8 + x // 4",
        ),
        "a thread does a row": (
            "over_budget:requests",
            "if row < rows and col < cols:\n        out[$there]",
            "if row < rows and col == 0:\n"
            "        for col in range(cols):\n            out[$there]",
        ),
        "all in one block": (
            "over_budget:share",
            "if row < rows and col < cols:\n        out[$there]",
            "rows = 0 if cuda.blockIdx.x + cuda.blockIdx.y else rows\n"
            "    for k in range(row * 32 + col, rows * 32, 256):\n"
            "        for col in range(k % 32, cols, 32):\n"
            "            row = k // 32\n            out[$there]",
        ),
        "all in one warp of each block": (
            "over_budget:share",
            "if row < rows and col < cols:\n        out[$there]",
            "end = rows if row % 8 == 0 and col < cols else 0\n"
            "    for row in range(row, min(row + 8, end)):\n        out[$there]",
        ),
        "an array of its own": (
            "constant",
            "@cuda.jit",
            "EXPECTED = np.arange(4096).reshape(64, 64)\n\n\n@cuda.jit",
            "a[row, col]",
            "EXPECTED[row % 64, col % 64]",
        ),
    }
    hints = {
        "over_budget:sectors": (
            "Take the 32 lanes of one warp: `threadIdx.x` runs from 0 to 31, and "
            "`threadIdx.y` stays. In which rows and columns are their elements?",
            "The lanes of a warp belong side by side in one row of the matrix.",
            "`threadIdx.x` must be the column within the block, and `threadIdx.y` the "
            "row.",
        ),
    }


class SeveralEach(Fix):
    """Each thread multiplies $each elements of `a` by a factor. The result is right,
    and each request touches $each times as many sectors as it needs. Change at most
    two lines.
    """

    stars, points, any_block = 2, 3, True
    lines = 2
    choices = {
        "each": (4, 2, 8),
        "type": ("float32", "int32"),
        "threads": (128, 64),
    }
    budget = {"sectors": 4, "lines": 2}
    even, ragged = (2048, 1024), (1, 33, 1025, 1999)

    def inputs(self, rng, n):
        a = numbers(rng, self.type, -100, 100, n)
        factor = numbers(rng, self.type, -9, 9, 1)[0]
        return {"out": Out(n, self.type), "a": a, "factor": factor}

    def launch(self, n):
        return ceil(n / (self.each * self.threads)), self.threads

    def spec(self, a, factor):
        return factor * a

    setup = "EACH = $each"
    answer = """
        @cuda.jit
        def several_each(out, a, factor):
            \"\"\"Each thread multiplies EACH elements by a factor.\"\"\"
            first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
            for k in range(EACH):
                i = first + k * cuda.blockDim.x
                if i < a.size:
                    out[i] = factor * a[i]
    """
    fault = (
        "EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x",
        "EACH * cuda.grid(1)",
        "first + k * cuda.blockDim.x",
        "first + k",
    )
    wrong = {
        "no guard": ("bounds", "if i < a.size:", "if True:"),
        "guards the first alone": (
            "bounds",
            "if i < a.size:",
            "if first < a.size:",
        ),
        "first line alone": ("race", "k * cuda.blockDim.x", "k"),
        "second line alone": (
            "race",
            "EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x",
            "EACH * cuda.grid(1)",
        ),
        "blocks overlap": (
            "race",
            "EACH * cuda.blockDim.x",
            "cuda.blockDim.x",
        ),
        "a grid apart": (
            "race",
            "k * cuda.blockDim.x",
            "k * cuda.gridsize(1)",
        ),
        "one too few": ("wrong", "range(EACH)", "range(EACH - 1)"),
        "no sign": ("wrong", "factor * a[i]", "factor * abs(a[i])"),
        "a fixed factor": ("wrong", "factor * a[i]", "2 * a[i]"),
        "two neighbours each": (
            "over_budget:sectors",
            "cuda.blockIdx.x + cuda.threadIdx.x",
            "cuda.blockIdx.x + 2 * cuda.threadIdx.x",
            "k * cuda.blockDim.x",
            "k // 2 * 2 * cuda.blockDim.x + k % 2",
        ),
        "written anew": (
            "over_budget:lines",
            """
            @cuda.jit
            def several_each(out, a, factor):
                \"\"\"Each thread multiplies EACH elements by a factor.\"\"\"
                step = cuda.gridsize(1)
                for at in range(cuda.grid(1), a.size, step):
                    out[at] = factor * a[at]
            """,
        ),
    }
    hints = {
        "over_budget:sectors": (
            "Take k = 0: which elements do lanes 0, 1 and 2 load?",
            "At each k, the lanes of a warp must take neighbours; what one thread "
            "does from one k to the next does not matter.",
            "A thread's own next element lies a block further on.",
        ),
        "race with itself": (
            "Which two threads store the same element?",
            "The elements of a block begin where those of the block before end, and "
            "a thread's elements must skip all other threads of its block.",
            "Follow thread 0 and thread 1 of block 0 through their loops: the two "
            "lines must fit together.",
        ),
    }
