"""More exercises of lesson 17: products whose vector stays near."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import InOut, Out, Write


class MatVec(Write):
    """Multiply the matrix `a` by the vector `x`. There is a warp for every $each rows.
    Load each number of `x` once for all $each rows of the warp, not once for each row.
    """

    stars, points, any_block = 3, 4, True
    choices = {"each": (2, 4), "warps": (4, 2)}
    even, ragged = ((32, 96), (16, 64)), ((1, 1), (17, 33), (35, 31))

    @property
    def budget(self):
        rows, _ = self.even[0]
        return {"sectors": 4, "loads": {"a": 1, "x": rows / self.each}}

    def inputs(self, rng, rows, cols):
        a = numbers(rng, np.float32, -9, 10, (rows, cols))
        x = numbers(rng, np.float32, -9, 10, cols)
        return {"out": Out(rows), "a": a, "x": x}

    def launch(self, rows, cols):
        return ceil(rows / (self.each * self.warps)), 32 * self.warps

    def spec(self, a, x):
        return a @ x

    setup = "EACH = $each"
    answer = """
        @cuda.jit
        def mat_vec(out, a, x):
            \"\"\"Each warp makes EACH elements of the product.\"\"\"
            lane, first = cuda.laneid, EACH * (cuda.grid(1) // 32)
            totals = cuda.local.array(EACH, float32)
            for k in range(EACH):
                totals[k] = 0
            for col in range(lane, x.size, 32):
                factor = x[col]
                for k in range(EACH):
                    if first + k < out.size:
                        totals[k] += a[first + k, col] * factor
            for k in range(EACH):
                total = totals[k]
                for step in (16, 8, 4, 2, 1):
                    total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
                if lane == 0 and first + k < out.size:
                    out[first + k] = total
    """
    wrong = {
        "no guard": ("bounds", "if first + k < out.size:", "if True:"),
        "guards the first row": (
            "bounds",
            "if first + k < out.size:",
            "if first < out.size:",
        ),
        "sums begin with anything": (
            "uninitialised",
            "totals[k] = 0",
            "totals[0] = 0",
        ),
        "warps overlap": (
            "race",
            "EACH * (cuda.grid(1) // 32)",
            "cuda.grid(1) // 32",
        ),
        "one row each": (
            "wrong",
            "range(EACH):\n        total =",
            "range(1):\n        total =",
        ),
        "a step is missing": ("wrong", "(16, 8, 4, 2, 1)", "(8, 4, 2, 1)"),
        "whole warps of columns": (
            "tail",
            "range(lane, x.size, 32)",
            "range(lane, x.size // 32 * 32, 32)",
        ),
        "hard-coded width": (
            "bounds",
            "range(lane, x.size, 32)",
            "range(lane, 96, 32)",
        ),
        "x once for each row": (
            "over_budget:loads",
            "factor = x[col]",
            "",
            "col] * factor",
            "col] * x[col]",
        ),
        "a thread for each row": (
            "over_budget:sectors",
            """
            @cuda.jit
            def mat_vec(out, a, x):
                \"\"\"Each thread makes one element of the product.\"\"\"
                row = cuda.grid(1)
                if row < out.size:
                    total = float32(0)
                    for col in range(x.size):
                        total += a[row, col] * x[col]
                    out[row] = total
            """,
        ),
        "a lane for each row": (
            "over_budget:loads",
            """
            @cuda.jit
            def mat_vec(out, a, x):
                \"\"\"The first lanes of a warp make an element each.\"\"\"
                lane, row = cuda.laneid, EACH * (cuda.grid(1) // 32) + cuda.laneid
                if lane < EACH and row < out.size:
                    total = float32(0)
                    for at in range(x.size):
                        col = (at + lane) % x.size
                        total += a[row, col] * x[col]
                    out[row] = total
            """,
        ),
    }
    hints = {
        "over_budget:loads": (
            "How many rows need `x[col]`, and how many of them does your warp make?",
            "A number that a thread uses several times belongs in a register.",
            "Load `x[col]` into a variable before the loop over the warp's rows, and "
            "keep one sum for each row.",
        ),
    }


class Csr(Write):
    """Multiply a sparse matrix by the vector `x`, and $what `y`.
    The matrix is in CSR, the format of most libraries: `values` holds the elements of
    row 0 from left to right, then those of row 1, and so on; `columns` holds their
    columns; and those of row i lie from `starts[i]` up to, but not including,
    `starts[i + 1]`. A row may be empty. There are 32 threads for each row.
    """

    stars, points, any_block = 3, 5, True
    choices = {"ufunc": ("add", "subtract"), "warps": (4, 2, 8)}
    even, ragged = ((32, 110), (16, 96)), ((1, 1), (5, 33), (19, 70))
    budget = {"sectors": 6, "loads": {"values": 1, "columns": 1}}
    fixed = ("starts", "columns")

    def inputs(self, rng, rows, cols):
        lengths = np.minimum(np.resize((cols, 0, 75, 33, 64, 5), rows), cols)
        columns = []
        for length in rng.permutation(lengths):
            band = min(10 * length // 9, cols)
            first = rng.choice((rng.integers(cols - band + 1), cols - band))
            columns.append(first + np.sort(rng.permutation(band)[:length]))
        starts = np.cumsum([0, *map(len, columns)])
        columns = np.concatenate(columns)
        values = numbers(rng, np.float32, -9, 10, len(columns))
        return {
            "y": InOut(numbers(rng, np.float32, -99, 100, rows)),
            "starts": starts.astype(np.int32),
            "columns": columns.astype(np.int32),
            "values": values,
            "x": numbers(rng, np.float32, -9, 10, cols),
        }

    def launch(self, rows, cols):
        return ceil(rows / self.warps), 32 * self.warps

    def spec(self, y, starts, columns, values, x):
        rows = zip(starts[:-1], starts[1:], strict=True)
        products = [values[i:j] @ x[columns[i:j]] for i, j in rows]
        return getattr(np, self.ufunc)(y, products)

    @property
    def what(self):
        return {
            "add": "add the product to",
            "subtract": "subtract the product from",
        }[self.ufunc]

    @property
    def sign(self):
        return {"add": "+", "subtract": "-"}[self.ufunc]

    answer = """
        @cuda.jit
        def csr(y, starts, columns, values, x):
            \"\"\"Each warp makes one sum.\"\"\"
            lane, row = cuda.laneid, cuda.grid(1) // 32
            total = float32(0)
            if row < y.size:
                for k in range(starts[row] + lane, starts[row + 1], 32):
                    total += values[k] * x[columns[k]]
            for step in (16, 8, 4, 2, 1):
                total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
            if lane == 0 and row < y.size:
                y[row] $sign= total
    """
    wrong = {
        "no guard": ("bounds", "if row < y.size:", "if True:"),
        "guard one too far": (
            "bounds",
            "if row < y.size:",
            "if row <= y.size:",
        ),
        "rows end too late": (
            "bounds",
            "starts[row + 1], 32",
            "starts[row + 1] + 1, 32",
        ),
        "no columns": ("wrong", "x[columns[k]]", "x[k % x.size]"),
        "stores the product": ("wrong", "$sign= total", "= total"),
        "one turn a row": (
            "wrong",
            "for k in range(starts[row] + lane, starts[row + 1], 32):",
            "k = starts[row] + lane\n        if k < starts[row + 1]:",
        ),
        "a step is missing": ("wrong", "(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"),
        "each lane stores": ("race", "if lane == 0 and", "if"),
        "a thread for each row": (
            "over_budget:sectors",
            """
            @cuda.jit
            def csr(y, starts, columns, values, x):
                \"\"\"Each thread adds up one row.\"\"\"
                row = cuda.grid(1)
                if row < y.size:
                    total = float32(0)
                    for k in range(starts[row], starts[row + 1]):
                        total += values[k] * x[columns[k]]
                    y[row] $sign= total
            """,
        ),
        "a stretch for each lane": (
            "over_budget:sectors",
            "for k in range(starts[row] + lane, starts[row + 1], 32):",
            "many = (starts[row + 1] - starts[row] + 31) // 32\n"
            "        first = starts[row] + lane * many\n"
            "        for k in range(first, min(first + many, starts[row + 1])):",
        ),
        "one lane does all": (
            "over_budget:work",
            "range(starts[row] + lane, starts[row + 1], 32)",
            "range(starts[row + 1 if lane else row], starts[row + 1])",
        ),
    }
    hints = {
        "over_budget:sectors": (
            "Which elements of `values` do lanes 0 and 1 load in the same request, and "
            "how far apart are they?",
            "The elements of one row lie side by side in `values` and `columns`: let "
            "the lanes of a warp share a row.",
            "Lane i begins at `starts[row] + i` and goes on by 32; shuffles add up the "
            "lanes' sums, and one lane stores.",
        ),
    }
