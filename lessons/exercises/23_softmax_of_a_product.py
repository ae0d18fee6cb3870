"""The last exercise of lesson 23: two products, and a softmax between them."""

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Write


class Attention(Write):
    """Attention, for queries `q`, keys `k` and values `v`: row i of `k` and row i of `v`
    belong together. A block of $threads threads makes the row of one query. Each key's
    score is the dot product of query and key, divided by the square root of the number
    of their columns; the weights are
    the scores' exponentials, divided by their sum; the row is the sum of the values, each
    times its weight. There are at most 256 keys. The exponential of a score may be
    too large or too small for a float32. Make the exponential of each score once in a
    block.
    """

    stars, points = 3, 6
    choices = {"threads": (64, 96), "keys": (64, 50)}
    ragged, limits = ((1, 1, 1), (2, 250, 33), (2, 21, 100)), (None, 256, None)
    rtol = 1e-3
    setup = "KEYS = 256"

    @property
    def budget(self):
        pairs = 3 * self.threads * self.keys  # of a thread and a key, in all blocks
        return {"loads": {"k": 3, "v": 3}, "operations": 7 * pairs}

    @property
    def even(self):
        return ((3, self.keys, 16),)

    def inputs(self, rng, queries, keys, length):
        q = rng.normal(size=(queries, length)).astype(np.float32)
        k = rng.normal(size=(keys, length)).astype(np.float32)
        v = numbers(rng, np.float32, -2, 9, (keys, length))
        far = np.arange(keys) % 8 > 3
        # scores far above zero, far below it, and close together
        q[:3, 0] = rng.permutation((12, -12, rng.normal()))[:queries]
        k[:, 0] = np.sqrt(length) * np.where(far, 20, 10)
        largest = keys - 1
        if keys > 200 and rng.random() < 0.5:
            largest = rng.integers(keys // 2, keys)
        k[largest, 0] = 30 * np.sqrt(length)  # the score that is farthest from zero
        return {"out": Out((queries, length)), "q": q, "k": k, "v": v}

    def launch(self, queries, keys, length):
        return queries, self.threads

    def spec(self, q, k, v):
        scores = q @ k.T / np.sqrt(q.shape[1])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights @ v / weights.sum(axis=1, keepdims=True)

    answer = """
        @cuda.jit
        def attention(out, q, k, v):
            \"\"\"Each block makes the row of one query.\"\"\"
            weights = cuda.shared.array(KEYS, float32)
            row, thread = cuda.blockIdx.x, cuda.threadIdx.x
            keys, length = k.shape
            for key in range(thread, keys, $threads):
                score = float32(0)
                for j in range(length):
                    score += q[row, j] * k[key, j]
                weights[key] = score / math.sqrt(float32(length))
            cuda.syncthreads()
            most = weights[0]
            for key in range(keys):
                most = max(most, weights[key])
            cuda.syncthreads()
            for key in range(thread, keys, $threads):
                weights[key] = math.exp(weights[key] - most)
            cuda.syncthreads()
            whole = float32(0)
            for key in range(keys):
                whole += weights[key]
            for j in range(thread, length, $threads):
                total = float32(0)
                for key in range(keys):
                    total += weights[key] * v[key, j]
                out[row, j] = total / whole
    """
    weigh = """cuda.syncthreads()
    for key in range(thread, keys, $threads):
        weights[key] = math.exp(weights[key] - most)
    cuda.syncthreads()"""
    wrong = {
        "no barrier after the scores": ("race", "cuda.syncthreads()", "pass"),
        "no barrier after the largest": (
            *("race", "cuda.syncthreads()\n    for key", "for key"),
        ),
        "no barrier after the weights": (
            *("race", "cuda.syncthreads()\n    whole", "whole"),
        ),
        "exponentials that overflow": (
            "wrong",
            "weights[key] - most",
            "weights[key]",
        ),
        "the larger of two": (
            *("wrong", "for key in range(keys):\n        most"),
            "for key in range(min(keys, 2)):\n        most",
        ),
        "compares with zero": ("wrong", "most = weights[0]", "most = float32(0)"),
        "the largest of the first keys": (
            *("wrong", "for key in range(keys):\n        most"),
            "for key in range(keys - 1):\n        most",
        ),
        "each thread's own largest": (
            *("wrong", "for key in range(keys):\n        most"),
            "for key in range(thread, keys, $threads):\n        most",
        ),
        "not divided by the root": (
            "wrong",
            " / math.sqrt(float32(length))",
            "",
        ),
        "divided by the length": (
            "wrong",
            "math.sqrt(float32(length))",
            "length",
        ),
        "not divided by the sum": ("wrong", "total / whole", "total"),
        "a thread's own sum": (
            *("wrong", "for key in range(keys):\n        whole"),
            "for key in range(thread, keys, $threads):\n        whole",
        ),
        "only as many keys as threads": (
            *("uninitialised", "in range(thread, keys, $threads):"),
            "in range(thread, min(keys, $threads), $threads):",
        ),
        "keys for values": (
            "wrong",
            "weights[key] * v[key, j]",
            "weights[key] * k[key, j]",
        ),
        "exponentials that each thread makes": (
            *("over_budget:operations", weigh, "cuda.syncthreads()"),
            *("whole += weights[key]", "whole += math.exp(weights[key] - most)"),
            *("weights[key] * v", "math.exp(weights[key] - most) * v"),
        ),
        "the largest twice": (
            *("over_budget:operations", "for key in range(keys):\n        most"),
            "for key in range(2 * keys):\n        key = key % keys\n        most",
        ),
        "the first query only": ("wrong", "q[row, j]", "q[0, j]"),
        "no end of the keys": (
            "bounds",
            "range(thread, keys, $threads):",
            "range(thread, 256, $threads):",
        ),
        "threads with no column leave": (
            *("barrier", "keys, length = k.shape"),
            "keys, length = k.shape\n    if thread >= length:\n        return",
        ),
        "one thread makes all scores": (
            *("over_budget:work", "for key in range(thread, keys, $threads):"),
            "for key in range(keys if thread == 0 else 0):",
        ),
        "scores anew for each column": (
            "over_budget:loads",
            """
            @cuda.jit
            def attention(out, q, k, v):
                row = cuda.blockIdx.x
                keys, length = k.shape
                root = math.sqrt(float32(length))
                for j in range(cuda.threadIdx.x, length, $threads):
                    most = float32(-np.inf)
                    total = whole = float32(0)
                    for key in range(keys):
                        score = float32(0)
                        for i in range(length):
                            score += q[row, i] * k[key, i]
                        score /= root
                        before, most = most, max(most, score)
                        shrink = math.exp(before - most)
                        weight = math.exp(score - most)
                        whole = whole * shrink + weight
                        total = total * shrink + weight * v[key, j]
                    out[row, j] = total / whole
            """,
        ),
    }
    hints = {
        "race": (
            "Scores, largest score, weights, sum: which step reads cells that other "
            "threads stored in the step before?",
            "A tile that is overwritten in place needs a barrier on both sides: before "
            "its cells are read, and before they are overwritten.",
            "Wait after the scores, after the search for the largest, and after the "
            "weights.",
        ),
        "wrong": (
            "Are values NaN or infinite, or just different?",
            "Nothing changes if the same number is subtracted from all scores of a "
            "query.",
            "Subtract the largest score before the exponential.",
        ),
    }
