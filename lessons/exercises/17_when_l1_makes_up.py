"""Exercises of lesson 17: who comes back for the rest of a sector, and when?"""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, Out, Predict, SpeedUp


class RowsApart(Predict):
    """Each lane of a warp walks along a row of its own of a float32 matrix, number by
    number. The first row begins where a line begins, and each other one begins $apart
    numbers after the one before it. Answer with a dictionary:

    - "sectors": how many sectors does a request touch?
    - "new": how many lanes go on to another sector in the step from column 7 to 8?
    - "steps": in how many of the steps to columns 8, 9, ... 15 does some lane go on to
      another sector?
    - "in one bank": how many lanes, at most, meet in one bank of L1 in a request?
    """

    stars, points = 1, 2
    choices = {"apart": (2052, 2050, 2056, 2049)}

    def sectors(self, column):
        """Each lane's sector in this step."""
        return (self.apart * np.arange(32) + column) // 8

    def going_on(self, column):
        """The lanes whose sector is another one than in the step before."""
        return int(np.sum(self.sectors(column) != self.sectors(column - 1)))

    def truth(self):
        """All of it, counted from the addresses."""
        banks = self.apart * np.arange(32) % 32
        return {
            "sectors": len({*self.sectors(0).tolist()}),
            "new": self.going_on(8),
            "steps": sum(self.going_on(column) > 0 for column in range(8, 16)),
            "in one bank": int(np.bincount(banks).max()),
        }

    why = {
        "sectors": "The rows are far apart: no two lanes share a sector.",
        "new": "A lane goes on where its address passes a multiple of 8 numbers.",
        "steps": "Lanes that begin at different places of a sector go on in different "
        "steps.",
        "in one bank": "A number's place in its line, of 32 numbers, says its bank.",
    }
    wrong = {
        "lanes side by side": lambda self: self.truth() | {"sectors": 4},
        "a lane at a time": lambda self: self.truth() | {"new": 1},
        "L1 has it all": lambda self: self.truth() | {"steps": 0},
        "rows meet": lambda self: self.truth() | {"in one bank": 32},
    }


class ColumnEnds(SpeedUp):
    """For each column of the matrix `a`, store its largest number $word its smallest
    one. The kernel is right, but each thread goes down its column twice. When it comes
    back to a number, nobody knows whether a cache still has it. Load each number once.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "ufunc": ("subtract", "add"),
        "type": ("float32", "int32"),
        "threads": (64, 32),
    }
    even, ragged = ((32, 128), (64, 64)), ((1, 1), (2, 33), (37, 70), (45, 31))
    budget, ordered = {"sectors": 4, "loads": {"a": 1}}, ("a",)

    def inputs(self, rng, rows, cols):
        a = numbers(rng, self.type, -900, 900, (rows, cols))
        return {"out": Out(cols, self.type), "a": a}

    def launch(self, rows, cols):
        return ceil(cols / self.threads), self.threads

    def spec(self, a):
        return getattr(np, self.ufunc)(a.max(axis=0), a.min(axis=0))

    @property
    def word(self):
        return {"subtract": "less", "add": "plus"}[self.ufunc]

    @property
    def sign(self):
        return {"subtract": "-", "add": "+"}[self.ufunc]

    given = """
        @cuda.jit
        def column_ends(out, a):
            \"\"\"Each thread finds both ends of one column.\"\"\"
            col = cuda.grid(1)
            if col < out.size:
                high = a[0, col]
                for row in range(1, a.shape[0]):
                    high = max(high, a[row, col])
                low = a[0, col]
                for row in range(1, a.shape[0]):
                    low = min(low, a[row, col])
                out[col] = high $sign low
    """
    answer = """
        @cuda.jit
        def column_ends(out, a):
            \"\"\"Each thread finds both ends of one column.\"\"\"
            col = cuda.grid(1)
            if col < out.size:
                high = low = a[0, col]
                for row in range(1, a.shape[0]):
                    value = a[row, col]
                    high = max(high, value)
                    low = min(low, value)
                out[col] = high $sign low
    """
    wrong = {
        "no guard": ("bounds", "if col < out.size:", "if True:"),
        "guard one too far": ("bounds", "col < out.size", "col <= out.size"),
        "a row too many": ("bounds", "a.shape[0])", "a.shape[0] + 1)"),
        "the last row is missing": ("wrong", "a.shape[0])", "a.shape[0] - 1)"),
        "begins with zero": ("wrong", "high = low = a[0, col]", "high = low = $type(0)"),
        "the ends swapped": ("wrong", "high $sign low", "low $sign high + low"),
        "a fixed height": ("wrong", "a.shape[0])", "32)"),
        "the second pass, from memory": (
            "over_budget:loads",
            "low = min(low, value)",
            "high = max(high, value)\n"
            "        for row in range(1, a.shape[0]):\n"
            "            low = min(low, a[a.shape[0] - row, col])",
        ),
        "columns far apart": (
            "over_budget:sectors",
            "cuda.grid(1)\n    if col < out.size",
            "cuda.grid(1)\n    many = (out.size + 15) // 16\n"
            "    col = col % 16 * many + col // 16\n"
            "    if cuda.grid(1) < 16 * many and col < out.size",
        ),
    }
    hints = {
        "over_budget:loads": (
            "Between the two loads of one number, how many others does the thread load?",
            "What a thread needs twice it can use twice in the same step.",
            "Load the number into a variable, and give it to `max` and to `min`.",
        ),
    }


class WinsAndLoses(Explain):
    """In this lesson each step of `sum_rows` requests 32 sectors and each step of
    `sum_columns` four. With a thread for each sum, `sum_rows` wins all the same. With
    32 threads for each sum, sums of columns are three times as fast. Why does the
    wasteful order win with few threads and lose with many?
    """

    stars, points = 2, 3
    rubric = {
        "with few threads most of the time is spent waiting for loads": 1,
        "row sums wait for L2 or memory less often, since L1 still has the rest of "
        "each sector": 1,
        "with many threads such waits are hidden, and requests for 32 sectors in one "
        "bank fill L1's data path": 1,
    }
    model = (
        "Few threads spend most of their time waiting for loads, and the lanes of "
        "sum_rows need new sectors in one step of eight only, because L1 still has the "
        "rest of their sectors. With many threads others load while some wait, so such "
        "waits no longer count; but then the data path of L1 is full: the lanes of row "
        "sums meet in one bank, so a request takes 32 cycles, and one of column sums "
        "a single one."
    )
