"""Exercises of lesson 1: which thread takes which element, and which take none?"""

from itertools import count
from math import ceil

import numpy as np
from numba import cuda

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, Out, Predict, Write


class Affine(Write):
    """Write a kernel that scales and shifts: each thread takes one element of `x`,
    multiplies it by `factor`, and then $words `offset`.
    """

    stars, points, any_block = 1, 2, True
    choices = {
        "ufunc": ("add", "subtract"),
        "type": ("float32", "int32", "uint32"),
    }
    even, ragged = (512, 128), (1, 31, 129, 1000)
    budget, work = {"sectors": 4}, 4

    def inputs(self, rng, n):
        x = numbers(rng, self.type, -1000, 1000, n)
        factor, offset = numbers(rng, self.type, -9, 9, 2)
        return {
            "out": Out(n, self.type),
            "x": x,
            "factor": factor,
            "offset": offset,
        }

    def launch(self, n):
        return ceil(n / 128), 128

    def spec(self, x, factor, offset):
        return getattr(np, self.ufunc)(factor * x, offset)

    @property
    def words(self):
        return {"add": "adds", "subtract": "subtracts"}[self.ufunc]

    @property
    def sign(self):
        return {"add": "+", "subtract": "-"}[self.ufunc]

    answer = """
        @cuda.jit
        def affine(out, x, factor, offset):
            \"\"\"Each thread that has an element scales and shifts it.\"\"\"
            i = cuda.grid(1)
            if i < out.size:
                out[i] = factor * x[i] $sign offset
    """
    wrong = {
        "no guard": ("bounds", "if i < out.size:", "if True:"),
        "the guard lets one too many in": (
            "bounds",
            "i < out.size",
            "i <= out.size",
        ),
        "the guard keeps one out": (
            "wrong",
            "i < out.size",
            "i < out.size - 1",
        ),
        "the size of one launch": ("bounds", "i < out.size", "i < 512"),
        "each block takes the same elements": (
            "race",
            "cuda.grid(1)",
            "cuda.threadIdx.x",
        ),
        "shifted first": (
            "wrong",
            "factor * x[i] $sign offset",
            "factor * (x[i] $sign offset)",
        ),
        "the offset is left out": ("wrong", " $sign offset", ""),
        "reads the output": ("uninitialised", "out[i] = ", "out[i] += "),
        "an element of 16 bits": ("wrong", "x[i]", "int16(x[i])"),
        "works in the input": (
            "writes_input",
            "out[i] = factor * x[i] $sign offset",
            "x[i] = factor * x[i] $sign offset\n        out[i] = x[i]",
        ),
        "never reads the input": ("wrong", "x[i]", "i"),
        "a constant": ("constant", "factor * x[i] $sign offset", "1"),
        "numbers of its own": (
            "constant",
            """
            EXPECTED = np.arange(512)


            @cuda.jit
            def affine(out, x, factor, offset):
                \"\"\"Each thread hands out what was known before.\"\"\"
                i = cuda.grid(1)
                if i < out.size:
                    out[i] = EXPECTED[i % 512]
            """,
        ),
        "one thread does all": (
            "over_budget:work",
            "if i < out.size:\n        out[i]",
            "if i == 0:\n        for i in range(out.size):\n            out[i]",
        ),
    }


class Blend(Write):
    """Blend two pictures, each stored as an array of pixels with one index: pixel `i` of
    `out` is $words pixel `i` of `a` and pixel `i` of `b`.
    """

    stars, points, any_block = 1, 2, True
    choices = {
        "ufunc": ("maximum", "minimum", "multiply"),
        "type": ("float32", "int32"),
    }
    even, ragged = (512, 64), (1, 65, 63, 300)
    budget, work = {"sectors": 4}, 4

    def inputs(self, rng, n):
        a, b = rng.uniform(-300, 300, (2, n)).astype(self.type)
        return {"out": Out(n, self.type), "a": a, "b": b}

    def launch(self, n):
        return ceil(n / 64), 64

    def spec(self, a, b):
        return getattr(np, self.ufunc)(a, b)

    @property
    def ordered(self):
        return () if self.ufunc == "multiply" else ("a", "b")

    @property
    def words(self):
        return {
            "maximum": "the brighter (larger) of",
            "minimum": "the darker (smaller) of",
            "multiply": "the product of",
        }[self.ufunc]

    @property
    def blended(self):
        return {
            "maximum": "max(a[i], b[i])",
            "minimum": "min(a[i], b[i])",
            "multiply": "a[i] * b[i]",
        }[self.ufunc]

    answer = """
        @cuda.jit
        def blend(out, a, b):
            \"\"\"Each thread that has a pixel blends the two at its place.\"\"\"
            i = cuda.grid(1)
            if i < out.size:
                out[i] = $blended
    """
    wrong = {
        "no guard": ("bounds", "if i < out.size:", "if True:"),
        "the guard lets one too many in": (
            "bounds",
            "i < out.size",
            "i <= out.size",
        ),
        "the guard by the wrong size": (
            "bounds",
            "i < out.size",
            "i < cuda.gridsize(1)",
        ),
        "only the first block": (
            "wrong",
            "i < out.size",
            "i < min(out.size, 64)",
        ),
        "each block takes the same elements": (
            "race",
            "cuda.grid(1)",
            "cuda.threadIdx.x",
        ),
        "an operation for another picture": (
            "wrong",
            "$blended",
            "a[i] - b[i]",
        ),
        "one picture only": ("wrong", "$blended", "a[i]"),
        "the neighbour's pixel": ("wrong", "b[i]", "b[max(i - 1, 0)]"),
        "blends into an input": (
            "writes_input",
            "out[i] = $blended",
            "b[i] = $blended\n        out[i] = b[i]",
        ),
        "every second thread, two pixels each": (
            "over_budget:sectors",
            """
            @cuda.jit
            def blend(out, a, b):
                \"\"\"Each thread takes two pixels, one after the other.\"\"\"
                first = 2 * cuda.grid(1)
                for i in range(first, min(first + 2, out.size)):
                    out[i] = $blended
            """,
        ),
    }


class FixGuard(Fix):
    """Each thread combines an element of `x` with the next one: `out` has one element
    fewer than `x`. The kernel is right at some sizes and reaches outside the arrays at
    others. Fix it; one line is enough.
    """

    stars, points, any_block = 1, 2, True
    choices = {
        "guard": ("i <= out.size", "i < x.size", "i < cuda.gridsize(1)"),
        "ufunc": ("subtract", "add", "multiply"),
    }
    even, ragged = (512, 128), (1, 127, 129, 300)
    lines, budget, work = 1, {"lines": 1}, 4

    def inputs(self, rng, n):
        return {
            "out": Out(n, np.int32),
            "x": numbers(rng, np.int32, -1000, 1000, n + 1),
        }

    def launch(self, n):
        return ceil(n / 128), 128

    def spec(self, x):
        return getattr(np, self.ufunc)(x[1:], x[:-1])

    @property
    def sign(self):
        return {"subtract": "-", "add": "+", "multiply": "*"}[self.ufunc]

    fault = "i < out.size", "$guard"
    answer = """
        @cuda.jit
        def fix_guard(out, x):
            \"\"\"Each thread that has an element combines it with the next one.\"\"\"
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i + 1] $sign x[i]
    """
    wrong = {
        "no guard": ("bounds", "if i < out.size:", "if True:"),
        "a guard for x only": ("bounds", "i < out.size", "i + 1 <= x.size"),
        "a guard that is one short": (
            "wrong",
            "i < out.size",
            "i < out.size - 1",
        ),
        "a guard that keeps the first out": (
            "wrong",
            "i < out",
            "0 < i < out",
        ),
        "the size of one launch": ("bounds", "i < out.size", "i < 512"),
        "goes around the end": ("bounds", "i < out.size", "i - x.size < 0"),
        "guards the load only": (
            "bounds",
            "if i < out.size:\n        out[i] = x[i + 1] $sign x[i]",
            "out[i] = x[i + 1] $sign x[i] if i < out.size else 0",
        ),
        "the last element instead of none": (
            "bounds",
            "i < out.size:\n        out[i] = x[i + 1]",
            "i < x.size:\n        out[i] = x[min(i + 1, out.size)]",
        ),
        "written anew": (
            "over_budget:lines",
            """
            @cuda.jit
            def fix_guard(out, x):
                \"\"\"Each thread that has an element combines it with the next.\"\"\"
                mine = cuda.grid(1)
                if mine >= out.size:
                    return
                out[mine] = x[mine + 1] $sign x[mine]
            """,
        ),
        "one thread does all": (
            "over_budget:lines",
            "if i < out.size:\n        out[i]",
            "if i == 0:\n        for i in range(out.size):\n            out[i]",
        ),
    }


class BlocksNeeded(Predict):
    """A kernel gives each thread one element, in blocks of $threads threads, on the
    smallest number of blocks that leaves no element out. For each number of elements,
    how many blocks are there, and how many threads are idle, with no element?

    Answer with a dictionary with the keys $keys.
    """

    stars, points = 1, 2
    choices = {"threads": (96, 64, 160), "blocks": (7, 5, 11)}

    @property
    def sizes(self):
        whole = self.threads * self.blocks
        return whole, whole + 1, whole - 30

    @property
    def keys(self):
        return ", ".join(repr(key) for key in self.answers(lambda n: (0, 0)))

    def answers(self, ask):
        """A dictionary of what a function of a size says, blocks and idle threads."""
        told = {}
        for n in self.sizes:
            told[f"blocks for {n}"], told[f"idle for {n}"] = ask(n)
        return told

    def truth(self):
        return self.answers(lambda n: blocks_and_idle(n, self.threads))

    def belief(self, blocks):
        """What somebody predicts who takes so many blocks."""
        return self.answers(
            lambda n: (blocks(n), abs(blocks(n) * self.threads - n))
        )

    @property
    def why(self):
        of_blocks = "What does not fill a block takes a whole one, and no block is split."
        idle = "All blocks have $threads threads; those beyond the elements are idle."
        return self.answers(lambda n: (of_blocks, idle))

    wrong = {
        "always one block more": lambda self: self.belief(
            lambda n: n // self.threads + 1
        ),
        "rounded down": lambda self: self.belief(lambda n: n // self.threads),
        "the remainder has nothing to do": lambda self: self.answers(
            lambda n: (ceil(n / self.threads), n % self.threads)
        ),
        "no thread is idle": lambda self: self.answers(
            lambda n: (ceil(n / self.threads), 0)
        ),
    }


@cuda.jit
def mark(out, idle):
    """Each thread marks its element, or counts itself as idle."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1
    else:
        cuda.atomic.add(idle, 0, 1)


def blocks_and_idle(n, threads):
    """The smallest grid that marks all elements, and its idle threads, by trial."""
    for blocks in count(1):
        marked, idle = np.zeros(n, np.int32), np.zeros(1, np.int32)
        emulate(mark)[blocks, threads](marked, idle)
        if marked.all():
            return blocks, int(idle[0])
