"""More exercises of lesson 12: lanes side by side in a row, and what a neighbour needs."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, Out, Write


class RowSums(Write):
    """Add up the $of in each row of the matrix `a`, and store the sum of row i in
    `out[i]`. There are 32 threads, a warp, for each row; the last block may have more
    warps than rows are left.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "ufunc": ("square", "abs"),
        "type": ("float32", "int32"),
        "warps": (4, 2, 8),
    }
    even, ragged = ((16, 128), (8, 256)), ((1, 1), (17, 33), (9, 31), (5, 100))
    budget = {"sectors": 4, "loads": {"a": 1}}

    def inputs(self, rng, rows, cols):
        a = numbers(rng, self.type, -20, 20, (rows, cols))
        return {"out": Out(rows, self.type), "a": a}

    def launch(self, rows, cols):
        return ceil(rows / self.warps), 32 * self.warps

    def spec(self, a):
        return getattr(np, self.ufunc)(a).sum(axis=1, dtype=a.dtype)

    @property
    def of(self):
        return {"square": "squares", "abs": "absolute values"}[self.ufunc]

    @property
    def term(self):
        return {"square": "value * value", "abs": "abs(value)"}[self.ufunc]

    answer = """
        @cuda.jit
        def row_sums(out, a):
            \"\"\"Each warp makes one sum.\"\"\"
            lane, row = cuda.laneid, cuda.grid(1) // 32
            total = $type(0)
            if row < a.shape[0]:
                for col in range(lane, a.shape[1], 32):
                    value = a[row, col]
                    total += $term
            for step in (16, 8, 4, 2, 1):
                total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
            if lane == 0 and row < out.size:
                out[row] = total
    """
    wrong = {
        "no guard": ("bounds", "if row < a.shape[0]:", "if True:"),
        "no guard of the store": (
            "bounds",
            "if lane == 0 and row < out.size:",
            "if lane == 0:",
        ),
        "the sum of the values": ("wrong", "$term", "value"),
        "a step is missing": ("wrong", "(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"),
        "whole warps of columns": (
            "tail",
            "range(lane, a.shape[1], 32)",
            "range(lane, a.shape[1] // 32 * 32, 32)",
        ),
        "hard-coded width": (
            "wrong",
            "range(lane, a.shape[1], 32)",
            "range(lane, 128, 32)",
        ),
        "each lane stores": ("race", "if lane == 0 and", "if"),
        "adds up in memory": (
            "uninitialised",
            "for step in (16, 8, 4, 2, 1):\n"
            "        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)\n"
            "    if lane == 0 and row < out.size:\n        out[row] = total",
            "if row < out.size:\n        cuda.atomic.add(out, row, total)",
        ),
        "a thread for each row": (
            "over_budget:sectors",
            """
            @cuda.jit
            def row_sums(out, a):
                \"\"\"Each thread adds up one row.\"\"\"
                row = cuda.grid(1)
                if row < a.shape[0]:
                    total = $type(0)
                    for col in range(a.shape[1]):
                        value = a[row, col]
                        total += $term
                    out[row] = total
            """,
        ),
        "a stretch for each lane": (
            "over_budget:sectors",
            "range(lane, a.shape[1], 32)",
            "range(a.shape[1] * lane // 32, a.shape[1] * (lane + 1) // 32)",
        ),
        "one lane does all": (
            "over_budget:work",
            "range(lane, a.shape[1], 32)",
            "range(a.shape[1] if lane == 0 else 0)",
        ),
    }
    hints = {
        "over_budget:sectors": (
            "Which elements do the 32 lanes of a warp load in the first turn of the "
            "loop?",
            "They must be 32 neighbours of one row; each lane adds every 32nd number.",
            "Let a warp take a row: `cuda.grid(1) // 32` is its row, and lane i begins "
            "at column i and goes on by 32. Shuffles add up the 32 sums.",
        ),
        "uninitialised": (
            "What was in `out[row]` before this launch?",
            "Nobody wrote it: a sum that is added to it is added to arbitrary bytes.",
            "Let the lanes of a warp add up their sums by shuffles, and let one lane "
            "store the result.",
        ),
    }


class OffsetOrStride(Explain):
    """In this lesson an offset of one element makes each load request touch 5 sectors
    instead of 4, and the kernel is hardly slower. With a stride of eight elements a
    request touches 32, and the kernel takes more than twice as long. In both, a request
    uses only a part of some sectors. Why does only one of them cost so much?
    """

    stars, points = 2, 3
    rubric = {
        "with an offset, the neighbouring warp needs the rest of the shared sector": 1,
        "so a cache still has it, and memory moves hardly more": 1,
        "with a stride nobody needs the rest: the loads bring eight times the bytes": 1,
    }
    model = (
        "The fifth sector of one warp is the first one of its neighbour, so it comes "
        "from a cache, and memory moves hardly more bytes than before. With stride 8 no "
        "warp needs the elements in between, and seven eighths of each sector are loaded "
        "for nothing: the loads bring eight times as many bytes from memory as it uses."
    )
