"""One exercise more of lesson 12: rows that are anywhere, and lanes side by side."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Write


class Embedding(Write):
    """Look up words in a table: row i of `out` is the row of `table` whose number is
    `words[i]`. Where that is negative there is no word, and all of the row is $empty.
    """

    stars, points, any_block = 2, 3, True
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
