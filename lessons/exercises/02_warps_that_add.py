"""Exercises of lesson 2, continued: lanes that add up."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Write


class WarpSum(Write):
    """$ask each group of 32 numbers: warp w writes `totals[w]`. A warp loads its numbers
    in one request, stores once, and needs no shared memory. The last group may be
    shorter. All numbers are positive.
    """

    stars, points, any_block = 2, 3, True
    choices = {"ufunc": ("add", "maximum"), "type": ("float32", "int32")}
    even, ragged = (512, 128), (1, 33, 96, 1000)
    budget, work = {"requests": 32, "shared_bytes": 0}, 2
    setup = "ALL = 0xFFFFFFFF"

    def inputs(self, rng, n):
        a = numbers(rng, self.type, 1, 1000, n)
        return {"totals": Out(ceil(n / 32), self.type), "a": a}

    def launch(self, n):
        return ceil(n / 64), 64

    def spec(self, a):
        return getattr(np, self.ufunc).reduceat(a, np.arange(0, a.size, 32))

    @property
    def ask(self):
        return {"add": "Add up", "maximum": "Find the largest of"}[self.ufunc]

    @property
    def combined(self):
        return {
            "add": "value + cuda.shfl_down_sync(ALL, value, step)",
            "maximum": "max(value, cuda.shfl_down_sync(ALL, value, step))",
        }[self.ufunc]

    @property
    def pair(self):
        return {"add": "value + a[k]", "maximum": "max(value, a[k])"}[
            self.ufunc
        ]

    @property
    def cells(self):
        return {
            "add": "mine[t] + mine[t + step]",
            "maximum": "max(mine[t], mine[t + step])",
        }[self.ufunc]

    answer = """
        @cuda.jit
        def warp_sum(totals, a):
            \"\"\"Each warp combines its 32 numbers.\"\"\"
            i = cuda.grid(1)
            value = a[i] if i < a.size else $type(0)
            for step in (16, 8, 4, 2, 1):
                value = $combined
            if cuda.laneid == 0 and i < a.size:
                totals[i // 32] = value
    """
    wrong = {
        "no guard": ("bounds", "a[i] if i < a.size else $type(0)", "a[i]"),
        "no guard at the end": ("bounds", " and i < a.size", ""),
        "lanes without a number go home": (
            "uninitialised",
            "value = a[i] if i < a.size else $type(0)",
            "if i >= a.size:\n        return\n    value = a[i]",
        ),
        "something for lanes without a number": (
            "tail",
            "else $type(0)",
            "else $type(2_000_000_000)",
        ),
        "one step is missing": ("wrong", "8, 4, 2, 1", "8, 4, 2"),
        "the first step is missing": ("wrong", "(16, 8,", "(8,"),
        "values go up": ("wrong", "shfl_down", "shfl_up"),
        "all lanes store": ("race", "cuda.laneid == 0 and ", ""),
        "the last lane stores": ("wrong", "laneid == 0", "laneid == 31"),
        "a cell for each block": ("race", "i // 32", "i // 64"),
        "no shuffle": ("wrong", "$combined", "value"),
        "a constant": ("wrong", "totals[i // 32] = value", "totals[i // 32] = 1"),
        "one lane does all": (
            "over_budget:requests",
            """
            @cuda.jit
            def warp_sum(totals, a):
                \"\"\"Lane 0 of each warp takes all 32 numbers.\"\"\"
                i = cuda.grid(1)
                if cuda.laneid == 0 and i < a.size:
                    value = a[i]
                    for k in range(i + 1, min(i + 32, a.size)):
                        value = $pair
                    totals[i // 32] = value
            """,
        ),
        "a tree in shared memory": (
            "over_budget:shared_bytes",
            """
            @cuda.jit
            def warp_sum(totals, a):
                \"\"\"The threads of a block meet in shared memory.\"\"\"
                mine = cuda.shared.array(64, $type)
                i, t = cuda.grid(1), cuda.threadIdx.x
                mine[t] = a[i] if i < a.size else $type(0)
                for step in (16, 8, 4, 2, 1):
                    cuda.syncthreads()
                    if t % 32 < step:
                        mine[t] = $cells
                if t % 32 == 0 and i < a.size:
                    totals[i // 32] = mine[t]
            """,
        ),
    }
