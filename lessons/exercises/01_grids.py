"""Exercises of lesson 1, continued: grids with two axes, and with too few threads."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, InOut, Out, Write


class AddBias(Write):
    """Add a bias to a matrix: each $line of `out` is that $line of `a` plus its own
    element of `bias`. One thread takes one element.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "line": ("column", "row"),
        "type": ("float32", "int32", "uint32"),
    }
    even, ragged = ((32, 96), (64, 32)), ((1, 1), (33, 70), (97, 31), (8, 65))
    budget, work = {"sectors": 4}, 4

    def inputs(self, rng, rows, cols):
        a = numbers(rng, self.type, -1000, 1000, (rows, cols))
        n = {"column": cols, "row": rows}[self.line]
        bias = numbers(rng, self.type, -1000, 1000, n)
        return {"out": Out((rows, cols), self.type), "a": a, "bias": bias}

    def launch(self, rows, cols):
        return (ceil(cols / 32), ceil(rows / 8)), (32, 8)

    def spec(self, a, bias):
        return a + bias.reshape(self.shape)

    @property
    def shape(self):
        return {"column": (1, -1), "row": (-1, 1)}[self.line]

    @property
    def mine(self):
        return {"column": "col", "row": "row"}[self.line]

    @property
    def other(self):
        return {"column": "row", "row": "col"}[self.line]

    @property
    def other_axis(self):
        return {"column": 0, "row": 1}[self.line]

    @property
    def axis(self):
        return {"column": 1, "row": 0}[self.line]

    answer = """
        @cuda.jit
        def add_bias(out, a, bias):
            \"\"\"Each thread that has an element adds the bias of its $line.\"\"\"
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = a[row, col] + bias[$mine]
    """
    wrong = {
        "no guard": (
            "bounds",
            "if row < out.shape[0] and col < out.shape[1]:",
            "if True:",
        ),
        "a guard for rows only": ("bounds", " and col < out.shape[1]", ""),
        "a guard for columns only": ("bounds", "row < out.shape[0] and ", ""),
        "a guard for one axis or the other": ("bounds", " and ", " or "),
        "a guard with the axes swapped": (
            "wrong",
            "row < out.shape[0] and col < out.shape[1]",
            "row < out.shape[1] and col < out.shape[0]",
        ),
        "the other axis of the bias": (
            "bounds",
            "bias[$mine]",
            "bias[$other]",
        ),
        "swapped coordinates": ("wrong", "col, row =", "row, col ="),
        "no bias": ("wrong", " + bias[$mine]", ""),
        "one bias for all": ("wrong", "bias[$mine]", "bias[0]"),
        "the place in the block": (
            "wrong",
            "bias[$mine]",
            "bias[min($mine, cuda.threadIdx.x)]",
        ),
        "only whole blocks": (
            "tail",
            "row < out.shape[0] and col < out.shape[1]",
            "row < out.shape[0] // 8 * 8 and col < out.shape[1] // 32 * 32",
        ),
        "blocks that lie on their side": (
            "over_budget:sectors",
            "col, row = cuda.grid(2)",
            "col = cuda.blockIdx.x * 32 + cuda.threadIdx.y * 4 + cuda.threadIdx.x // 8\n"
            "    row = cuda.blockIdx.y * 8 + cuda.threadIdx.x % 8",
        ),
    }


class GridStride(Write):
    """Let `out[i]` be the $ask of `a[i]` and `limit`, on a grid that may have fewer
    threads than there are elements: a thread takes several, or none. The number of
    blocks differs from launch to launch, so let the kernel ask for it.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "ufunc": ("minimum", "maximum"),
        "type": ("float32", "int32"),
        "threads": (64, 32),
    }
    even, ragged = (768, 384), (1, 65, 1000, 3001)
    budget, work = {"sectors": 4}, 4

    def inputs(self, rng, n):
        a = numbers(rng, self.type, -1000, 1000, n)
        return {
            "out": Out(n, self.type),
            "a": a,
            "limit": numbers(rng, self.type, -600, 600, 1)[0],
        }

    def launch(self, n):
        return 2 + n % 5, self.threads

    def spec(self, a, limit):
        return getattr(np, self.ufunc)(a, limit)

    @property
    def ask(self):
        return {"minimum": "smaller", "maximum": "larger"}[self.ufunc]

    @property
    def function(self):
        return {"minimum": "min", "maximum": "max"}[self.ufunc]

    answer = """
        @cuda.jit
        def grid_stride(out, a, limit):
            \"\"\"Each thread takes several elements.\"\"\"
            for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
                out[i] = $function(a[i], limit)
    """
    wrong = {
        "an element for each thread": (
            "wrong",
            "for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):",
            "i = cuda.grid(1)\n    if i < out.size:",
        ),
        "goes on by a block": ("race", "cuda.gridsize(1)", "cuda.blockDim.x"),
        "the grid of one launch": (
            "race",
            "cuda.gridsize(1)",
            "5 * cuda.blockDim.x",
        ),
        "every thread does all": ("race", "cuda.grid(1), ", "0, "),
        "starts at its place in the block": (
            "race",
            "cuda.grid(1)",
            "cuda.threadIdx.x",
        ),
        "goes on one too far": (
            "wrong",
            "cuda.gridsize(1)",
            "cuda.gridsize(1) + 1",
        ),
        "ends one too early": ("wrong", "out.size", "out.size - 1"),
        "ends one too late": ("bounds", "out.size", "out.size + 1"),
        "the limit of the other side": (
            "wrong",
            "$function(a[i], limit)",
            "limit",
        ),
        "whole rounds only": (
            "tail",
            "range(cuda.grid(1), out.size, cuda.gridsize(1))",
            "range(cuda.grid(1), out.size // 32 * 32, cuda.gridsize(1))",
        ),
        "a piece for each thread": (
            "over_budget:sectors",
            """
            @cuda.jit
            def grid_stride(out, a, limit):
                \"\"\"Each thread takes a piece of neighbours.\"\"\"
                each = (out.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
                first = cuda.grid(1) * each
                for i in range(first, min(first + each, out.size)):
                    out[i] = $function(a[i], limit)
            """,
        ),
        "one block does all": (
            "over_budget:work",
            """
            @cuda.jit
            def grid_stride(out, a, limit):
                \"\"\"One warp takes all elements, eight times.\"\"\"
                if cuda.grid(1) < 1:
                    for i in range(out.size):
                        out[i] = $function(a[i], limit)
            """,
        ),
    }
    hints = {
        "race with itself": (
            "Which elements does thread 0 of block 0 take, and which thread 0 of "
            "block 1?",
            "If each thread goes on by the number of *all* threads, no two of them "
            "ever meet.",
            "`cuda.gridsize(1)` is the number of threads in the grid, and `range` "
            "takes a step.",
        ),
        "over_budget:sectors": (
            "Which elements do threads 0 and 1 load in the same round?",
            "A request loads for 32 threads at once, and needs fewest sectors if their "
            "elements lie side by side.",
            "A thread's own next element is not its neighbour in memory: it is as far "
            "away as there are threads in the grid.",
        ),
    }


class EverySecond(Write):
    """Add `step` to every second element of `a`, in place, beginning with element
    $first. The other elements keep what they hold. The grid may have fewer
    threads than there are such elements.

    Each sector holds elements that change, so every sector must be loaded and stored.
    The number of requests is yours to choose.
    """

    stars, points, any_block = 3, 4, True
    choices = {
        "first": (1, 0),
        "type": ("float32", "int32"),
        "threads": (64, 32),
    }
    even, ragged = (768, 1280), (1, 2, 3, 65, 1001, 1350)
    budget, work = {"requests": 24, "sectors": 8}, 4

    def inputs(self, rng, n):
        a = numbers(rng, self.type, -1000, 1000, n)
        step = numbers(rng, self.type, -9, 9, 1)[0]
        return {"a": InOut(a), "step": step}

    def launch(self, n):
        return 2 + n % 5, self.threads

    def spec(self, a, step):
        a[self.first :: 2] += step
        return a

    @property
    def begin(self):
        return "2 * cuda.grid(1)" + self.first * " + 1"

    answer = """
        @cuda.jit
        def every_second(a, step):
            \"\"\"Each thread takes several of the elements that change.\"\"\"
            for i in range($begin, a.size, 2 * cuda.gridsize(1)):
                a[i] += step
    """
    wrong = {
        "the other elements": (
            "wrong",
            "$begin",
            "2 * cuda.grid(1) + 1 - $first",
        ),
        "every element": (
            "wrong",
            "$begin",
            "cuda.grid(1)",
            "2 * cuda.gridsize(1)",
            "cuda.gridsize(1)",
        ),
        "goes on by one grid": (
            "race",
            "2 * cuda.gridsize(1)",
            "cuda.gridsize(1)",
        ),
        "begins at its own place": (
            "wrong",
            "$begin",
            "cuda.grid(1) + $first",
        ),
        "one round": (
            "wrong",
            "for i in range($begin, a.size, 2 * cuda.gridsize(1)):",
            "i = $begin\n    if i < a.size:",
        ),
        "ends one too late": ("bounds", "a.size,", "a.size + 1,"),
        "ends two too early": ("wrong", "a.size,", "a.size - 2,"),
        "the grid of one launch": (
            "wrong",
            "2 * cuda.gridsize(1)",
            "10 * cuda.blockDim.x",
        ),
        "asks each element": (
            "over_budget:requests",
            """
            @cuda.jit
            def every_second(a, step):
                \"\"\"Each thread asks whether its elements change.\"\"\"
                for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
                    if i % 2 == $first:
                        a[i] += step
            """,
        ),
        "adds nothing to the others": (
            "over_budget:requests",
            """
            @cuda.jit
            def every_second(a, step):
                \"\"\"Each thread adds something to its elements, or nothing.\"\"\"
                for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
                    a[i] += step if i % 2 == $first else 0
            """,
        ),
        "a piece for each thread": (
            "over_budget:sectors",
            """
            @cuda.jit
            def every_second(a, step):
                \"\"\"Each thread takes a piece of neighbours.\"\"\"
                each = (a.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
                each += each % 2
                begin = cuda.grid(1) * each
                for i in range(begin + $first, min(begin + each, a.size), 2):
                    a[i] += step
            """,
        ),
    }
    hints = {
        "over_budget:requests": (
            "How many of the 32 threads of a request change an element?",
            "A request counts once, for 16 threads as for 32: let every thread take an "
            "element that changes.",
            "Number the elements that change 0, 1, 2, …: thread t takes number t "
            "first. Which index of `a` is that, and how far away is its next one?",
        ),
    }


class IdealOfEight(Explain):
    """`every_second` touches 8 sectors with each full request, and the emulator calls 4
    ideal. Is there a kernel that does the same with fewer sectors in all? Say why, and
    what that ideal leaves out.
    """

    stars, points = 2, 3
    rubric = {
        "no: all sectors of the array must be loaded and stored": 1,
        "because each sector of 32 bytes holds elements that change": 1,
        "the ideal counts only the bytes that the threads ask for, as if they lay "
        "side by side": 1,
    }
    model = (
        "No. A sector is 32 bytes, or 8 elements, and 4 of them change, so every "
        "sector must be loaded and stored. The ideal of 4 is for the 128 bytes that "
        "32 threads ask for, if they lay side by side; here they are spread over twice "
        "as many."
    )
