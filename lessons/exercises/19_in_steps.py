"""An exercise of lesson 19: a block counts, adds up and looks up, a step at a time."""

import numpy as np

from helpers.exercises.exercise import Out, Write

NO_BARRIER = "cuda.syncthreads()", "pass"


class Equalise(Write):
    """Spread the grey levels of a picture over the whole range: a pixel of level v
    becomes $last times the share of pixels that are at most as bright as v, rounded
    down. There are $levels levels and one block of $levels threads, a thread for each
    level; a picture may have many more pixels, or fewer. Load each pixel twice at most.
    """

    stars, points = 3, 4
    choices = {"levels": (64, 32), "type": ("uint8", "int32")}
    even, ragged = (512, 256), (1, 65, 700)

    @property
    def budget(self):
        return {"loads": {"a": 2}, "shared_bytes": 8 * self.levels}

    @property
    def last(self):
        return self.levels - 1

    def inputs(self, rng, size):
        a = rng.integers(1, self.levels, size) ** 2 // self.levels
        a[-1] = self.levels - 1
        return {"out": Out(size, self.type), "a": a.astype(self.type)}

    def launch(self, size):
        return 1, self.levels

    def spec(self, a):
        at_most = np.cumsum(np.bincount(a, minlength=self.levels))
        return self.last * at_most[a] // a.size

    answer = """
        @cuda.jit
        def equalise(out, a):
            \"\"\"Spread the grey levels of a picture over the whole range.\"\"\"
            counts = cuda.shared.array($levels, int32)
            level = cuda.threadIdx.x
            counts[level] = 0
            cuda.syncthreads()
            for i in range(level, a.size, $levels):
                cuda.atomic.add(counts, a[i], 1)
            cuda.syncthreads()
            at_most = 0
            for other in range(level + 1):
                at_most += counts[other]
            cuda.syncthreads()
            counts[level] = $last * at_most // a.size
            cuda.syncthreads()
            for i in range(level, a.size, $levels):
                out[i] = counts[a[i]]
    """
    wrong = {
        "counts that nobody set to 0": (
            "uninitialised",
            "counts[level] = 0",
            "pass",
        ),
        "no barrier before counting": ("race", *NO_BARRIER),
        "no barrier after counting": (
            *("race", "cuda.syncthreads()\n    at_most", "at_most"),
        ),
        "no barrier before the store": (
            *(
                "race",
                "cuda.syncthreads()\n    counts[level] =",
                "counts[level] =",
            ),
        ),
        "no barrier after the store": (
            *("race", "a.size\n    cuda.syncthreads()", "a.size"),
        ),
        "counting with no atomic": (
            *("race", "cuda.atomic.add(counts, a[i], 1)", "counts[a[i]] += 1"),
        ),
        "pixels that are darker": (
            "wrong",
            "range(level + 1)",
            "range(level)",
        ),
        "the level's own count": (
            "wrong",
            "$last * at_most",
            "$last * counts[level]",
        ),
        "the last level counts as the one before": (
            "wrong",
            "a[i], 1)",
            "min(a[i], $last - 1), 1)",
        ),
        "one level too many": (
            "wrong",
            "$last * at_most",
            "$levels * at_most",
        ),
        "rounded up": (
            "wrong",
            "$last * at_most",
            "a.size - 1 + $last * at_most",
        ),
        "as many pixels as at first": (
            "wrong",
            "at_most // a.size",
            "at_most // 512",
        ),
        "whole rounds of pixels only": (
            *("tail", "range(level, a.size, $levels):\n        out"),
            "range(level, a.size // $levels * $levels, $levels):\n        out",
        ),
        "each thread looks at all pixels": (
            "over_budget:loads",
            """
            @cuda.jit
            def equalise(out, a):
                spread = cuda.shared.array($levels, int32)
                level = cuda.threadIdx.x
                at_most = 0
                for i in range(a.size):
                    at_most += a[i] <= level
                spread[level] = $last * at_most // a.size
                cuda.syncthreads()
                for i in range(level, a.size, $levels):
                    out[i] = spread[a[i]]
            """,
        ),
        "one thread counts": (
            *(
                "over_budget:work",
                "range(level, a.size, $levels):\n        cuda",
            ),
            "range(a.size if level == 0 else 0):\n        cuda",
        ),
    }
    hints = {
        "race": (
            "There are four steps: set to 0, count, add up, look up. To which two do the "
            "lines of the report belong?",
            "A thread counts for all levels and then adds up what all threads counted, "
            "so each step must wait for the one before.",
            "Count with `cuda.atomic.add`, put a barrier between any two steps, and load "
            "all counts that you need before anyone overwrites them.",
        ),
    }
