"""Exercises of lesson 12: which elements do neighbouring threads take?"""

from math import ceil

import numpy as np

from helpers.exercises.exercise import Out, SpeedUp


class Mirror(SpeedUp):
    """Mirror a matrix, $way. The kernel is right, and slow: its warps touch far more
    sectors than they need.
    """

    stars, points = 1, 2
    choices = {
        "axis": (1, 0),
        "type": ("float32", "int32", "uint32"),
    }
    even, ragged = ((64, 64), (32, 96)), ((1, 1), (33, 70), (97, 31))
    budget = {"sectors": 5}

    def inputs(self, rng, rows, cols):
        a = rng.integers(0, 1000, (rows, cols)).astype(self.type)
        return {"out": Out((rows, cols), self.type), "a": a}

    def launch(self, rows, cols):
        return (ceil(cols / 32), ceil(rows / 8)), (32, 8)

    def spec(self, a):
        return np.flip(a, self.axis)

    @property
    def way(self):
        return ("upside down", "left for right")[self.axis]

    @property
    def there(self):
        return ("rows - 1 - row, col", "row, cols - 1 - col")[self.axis]

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
        "swapped coordinates": (
            "over_budget:sectors",
            "col, row = ",
            "row, col = ",
        ),
    }
