"""Exercises of lesson 11: what is on its way, and what is near?"""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, Out, Predict, Write


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


class Embedding(Write):
    """Look up words in a table: row i of `out` is the row of `table` whose number is
    `words[i]`. Where that is negative there is no word, and all of the row is $empty.
    """

    stars, points = 2, 3
    choices = {
        "empty": (0, 1),
        "type": ("float32", "int32"),
        "threads": ((32, 8), (64, 8)),
    }
    even, ragged = ((16, 64), (32, 128)), ((1, 1), (5, 33), (37, 30))
    budget = {"sectors": 4}

    def inputs(self, rng, n, width):
        known = 35 + n + n % 8
        words = rng.integers(0, known, n)
        none = rng.random(n) < 0.3
        words[none] = -rng.integers(1, 10 ** rng.integers(1, 10, none.sum()))
        words[rng.permutation(n)[:2]] = (0, known - 1)[:n]
        table = numbers(rng, self.type, -9000, 9000, (known, width))
        out = Out((n, width), self.type)
        return {"out": out, "table": table, "words": words.astype(np.int32)}

    def launch(self, n, width):
        return (ceil(width / self.across), ceil(n / self.down)), self.threads

    def spec(self, table, words):
        return np.where(words[:, None] < 0, self.empty, table[words % len(table)])

    across = property(lambda self: self.threads[0])
    down = property(lambda self: self.threads[1])

    answer = """
        @cuda.jit
        def embedding(out, table, words):
            \"\"\"Each thread makes one element.\"\"\"
            col, i = cuda.grid(2)
            if i < out.shape[0] and col < out.shape[1]:
                word = words[i]
                if word >= 0:
                    out[i, col] = table[word, col]
                else:
                    out[i, col] = $empty
    """
    wrong = {
        "no guard": (
            "bounds",
            "if i < out.shape[0] and col < out.shape[1]:",
            "if True:",
        ),
        "no guard of the rows": ("bounds", " and col < out.shape[1]", ""),
        "guard one too far": ("bounds", "col < out", "col <= out"),
        "takes the last word": ("bounds", "if word >= 0:", "if True:"),
        "word 0 is none": ("wrong", "word >= 0", "word > 0"),
        "only -1 is none": ("bounds", "word >= 0", "word != -1"),
        "nothing for no word": ("wrong", "out[i, col] = $empty", "pass"),
        "copies the table": ("wrong", "table[word, col]", "table[i, col]"),
        "swapped coordinates": ("wrong", "col, i = cuda", "i, col = cuda"),
        "hard-coded width": ("bounds", "col < out.shape[1]", "col < 128"),
        "four of a row a warp": (
            "over_budget:sectors",
            "col, i = cuda.grid(2)",
            "thread = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x\n"
            "    col = cuda.blockIdx.x * cuda.blockDim.x + thread // cuda.blockDim.y\n"
            "    i = cuda.blockIdx.y * cuda.blockDim.y + thread % cuda.blockDim.y",
        ),
        "a thread does a row": (
            "over_budget:work",
            "if i < out.shape[0] and col < out.shape[1]:",
            "for col in range(0 if col or i >= out.shape[0] else out.shape[1]):",
        ),
    }
    hints = {
        "bounds negative": (
            "Which numbers can stand in `words`, and what does an array do with a "
            "negative index?",
            "Numba counts a negative index from the end, as Python does: -1 is the "
            "last row. It is no error, and it is not what is asked for.",
            "Guard the two coordinates, and load from `table` only where the word is "
            "not negative.",
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
