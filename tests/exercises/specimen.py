"""Two small exercises, to try the judge on: neighbours' sums, by a tile."""

from math import ceil

import numpy as np

from helpers.exercises.exercise import Fix, Out, Predict, Write


class PairSums(Write):
    """Add each element to its right neighbour in a block of $threads; the last one in
    a block, and the last of all, stay alone.
    """

    points = 4
    choices = {"threads": (64, 32), "type": ("float32", "int32")}
    even, ragged = (256, 64), (1, 33, 100)
    budget = {"loads": {"a": 1}, "sectors": "ideal", "barriers": 1}
    hints = {"race": ("who?", "why?", "where?")}

    def inputs(self, rng, n):
        return {"out": Out(n, self.type), "a": rng.integers(1, 99, n).astype(self.type)}

    def launch(self, n):
        return ceil(n / self.threads), self.threads

    def spec(self, a):
        right = np.append(a[1:], 0).astype(a.dtype)
        right[self.threads - 1 :: self.threads] = 0
        return a + right

    setup = "THREADS = $threads\nCELLS = THREADS + 1"
    answer = """
        @cuda.jit
        def pair_sums(out, a):
            \"\"\"Add two neighbours of a tile.\"\"\"
            tile = cuda.shared.array(CELLS, $type)
            t, i = cuda.threadIdx.x, cuda.grid(1)
            tile[t] = a[i] if i < a.size else 0
            if t == 0:
                tile[THREADS] = 0
            cuda.syncthreads()
            if i < a.size:
                out[i] = tile[t] + tile[t + 1]
    """
    wrong = {"no barrier": ("race", "cuda.syncthreads()\n", "pass\n")}


class FixPairSums(Fix, PairSums):
    """Find the line at fault."""

    fault = ("tile[t + 1]", "tile[t]")
    lines = 1
    budget = {"lines": 1}


class SlowPairSums(FixPairSums):
    """Find the line that loads too much."""

    fault = ("+ tile[t + 1]", "+ tile[t + 1] + 0 * a[i]")
    budget = {"lines": 1, "loads": {"a": 1}}


class SumsOfItsOwn(PairSums):
    """Read no output."""

    budget = {"loads": {"out": 0}}


class FewInstructions(PairSums):
    """Keep all warps short."""

    budget = {"warp_instructions": 160}


class Strides(Predict):
    """How many sectors does a request of stride $stride take?"""

    points = 2
    choices = {"stride": (2, 4)}
    wrong = {"one": lambda self: {"sectors": 1, "free": "yes"}}
    options = ("yes", "no")

    def truth(self):
        return {"sectors": 4 * self.stride, "free": "no"}
