"""Exercises of lesson 11: what is on its way, and what is near?"""

from math import ceil

import numpy as np

from helpers.exercises.exercise import Explain, Out, Predict, SpeedUp


class InFlight(Predict):
    """A memory gives $rate GB/s, and a load takes $latency ns. By Little's law: how
    many bytes must be in flight to keep it busy? How many threads does that take, at
    least, if each has one load of a `float32` in flight, and how many if each has four
    loads of 16 bytes? And how many GB/s can $few threads reach at most, with one load
    of a `float32` each? Answer with a dictionary that has the keys "bytes", "threads
    of one", "threads of four" and "rate". (A GB is 10^9 bytes, and a ns 10^-9 s.)
    """

    stars, points = 1, 2
    choices = {"memory": ((400, 4000), (500, 2000), (800, 1000))}
    few = 100_000

    latency = property(lambda self: self.memory[0])
    rate = property(lambda self: self.memory[1])

    def truth(self):
        needed = self.latency * self.rate
        return {
            "bytes": needed,
            "threads of one": needed // 4,
            "threads of four": needed // 64,
            "rate": 4 * self.few // self.latency,
        }

    why = {
        "bytes": "The rate times the latency: the units cancel.",
        "threads of one": "A float32 is 4 bytes, and each thread has one of them.",
        "threads of four": "Four loads of 16 bytes are 64 bytes a thread.",
        "rate": "The same law, the other way round: the bytes in flight by the latency.",
    }
    wrong = {
        "a float is a byte": lambda self: (
            self.truth() | {"threads of one": self.latency * self.rate}
        ),
        "a thread has one load": lambda self: (
            self.truth() | {"threads of four": self.latency * self.rate // 16}
        ),
        "the bandwidth is there for everybody": lambda self: (
            self.truth() | {"rate": self.rate}
        ),
        "the latency does not matter": lambda self: (
            self.truth() | {"bytes": 1000 * self.rate}
        ),
    }
    hints = {
        "wrong": (
            "How many bytes arrive during the time that one load takes?",
            "So many must be on their way at any moment. Each thread has its share of "
            "them: how many bytes is that?",
            "Bytes in flight are rate times latency, and threads are these over the "
            "bytes of one thread. For the last question, divide by the latency.",
        )
    }


class TwoChains(SpeedUp):
    """Each thread walks `steps` cells along `chain` from `starts[0, i]`, and as many from
    `starts[1, i]`; `out[i]` is the $of of the cells at which it ends. The kernel is
    right, but a thread has one load in flight at any time. Let it have two: walk both
    ways in one loop. The limit on instructions leaves no room for a second one.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "ufunc": ("maximum", "minimum", "add"),
        "type": ("uint32", "int32"),
        "threads": (64, 32),
    }
    even, ragged = ((64, 40), (128, 64)), ((1, 1), (33, 1), (50, 45))
    budget = {"warp_instructions": 540}

    def inputs(self, rng, n, steps):
        chain = rng.permutation(3 * n + 64).astype(self.type)
        starts = rng.integers(0, chain.size, (2, n)).astype(self.type)
        out = Out(n, self.type)
        return {"out": out, "chain": chain, "starts": starts, "steps": steps}

    def launch(self, n, steps):
        return ceil(n / self.threads), self.threads

    def spec(self, chain, starts, steps):
        for _ in range(steps):
            starts = chain[starts]
        return getattr(np, self.ufunc)(*starts)

    @property
    def of(self):
        return {"maximum": "larger", "minimum": "smaller", "add": "sum"}[self.ufunc]

    @property
    def result(self):
        return {
            "maximum": "max(one, other)",
            "minimum": "min(one, other)",
            "add": "one + other",
        }[self.ufunc]

    given = """
        @cuda.jit
        def two_chains(out, chain, starts, steps):
            \"\"\"Each thread walks along the chain from two cells.\"\"\"
            i = cuda.grid(1)
            if i < out.size:
                one, other = starts[0, i], starts[1, i]
                for _ in range(steps):
                    one = chain[one]
                for _ in range(steps):
                    other = chain[other]
                out[i] = $result
    """
    answer = """
        @cuda.jit
        def two_chains(out, chain, starts, steps):
            \"\"\"Each thread walks along the chain from two cells.\"\"\"
            i = cuda.grid(1)
            if i < out.size:
                one, other = starts[0, i], starts[1, i]
                for _ in range(steps):
                    one = chain[one]
                    other = chain[other]
                out[i] = $result
    """
    wrong = {
        "no guard": ("bounds", "if i < out.size:", "if True:"),
        "guard one too far": ("bounds", "i < out.size", "i <= out.size"),
        "guard of both starts": ("bounds", "i < out.size", "i < starts.size"),
        "one way alone": ("wrong", "            other = chain[other]\n", ""),
        "the other one first": (
            "over_budget:warp_instructions",
            "one = chain[one]\n            other = chain[other]",
            "other = chain[other]\n        for _ in range(steps):\n"
            "            one = chain[one]",
        ),
        "one start": ("wrong", "starts[1, i]", "starts[0, i]"),
        "the other follows the one": ("wrong", "chain[other]", "chain[one]"),
        "a step too few": ("wrong", "range(steps)", "range(steps - 1)"),
        "a step too many": ("wrong", "range(steps)", "range(steps + 1)"),
        "forty steps": ("wrong", "range(steps)", "range(40)"),
        "the cell after": (
            "wrong",
            "chain[one]",
            "chain[(one + 1) % chain.size]",
        ),
        "forgets the other": ("wrong", "out[i] = $result", "out[i] = one"),
        "keeps the way in memory": (
            "over_budget:warp_instructions",
            "other = chain[other]",
            "other = chain[other]\n            out[i] = $result",
        ),
        "walks in the starts": (
            "writes_input",
            "one = chain[one]",
            "one = chain[one]\n            starts[0, i] = one",
        ),
    }
    hints = {
        "over_budget:warp_instructions": (
            "When can the first load of the second loop leave? And how often does a "
            "thread count to `steps`?",
            "The two ways do not need each other, so both can take a step in each "
            "round of one loop.",
            "In one loop, load the next cell of both; a thread then waits once for "
            "two loads.",
        ),
    }


class LatencyHidden(Explain):
    """One thread that follows a chain of cells in global memory waits hundreds of
    nanoseconds at each step. The kernel `read` loads from the same memory, and moves
    thousands of gigabytes a second. How can it be so fast, when none of its loads
    takes less time?
    """

    stars, points = 2, 3
    rubric = {
        "a load of the chain needs the number that the one before brings; a load of "
        "`read` does not": 1,
        "many loads are on their way at once, of one thread and of many": 1,
        "while one warp waits another asks: the latency is hidden, not shorter": 1,
    }
    model = (
        "A step along the chain cannot begin before the previous load has ended, so "
        "the waits add up. The loads of `read` do not depend on one another: while "
        "one warp waits, others ask, and with enough requests on their way memory "
        "works all the time, though no load becomes shorter; with more on their way "
        "than needed, each even waits in a queue."
    )
