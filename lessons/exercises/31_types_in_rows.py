"""Exercises of lesson 31, continued: sums and roots in float32 that stay exact enough."""

import numpy as np

from helpers.exercises.exercise import Explain, Out, Write


class Softmax(Write):
    """Turn each row of `a` into weights that add up to 1: the exponential of $signed,
    divided by the row's sum of these. A block is one warp and takes one row, of any
    length. The numbers may be as large as 1,000, whose exponential no `float32` can
    hold; the specification shows a way around that.
    """

    stars, points = 3, 5
    choices = {"extreme": ("max", "min")}
    even, ragged = ((4, 64), (2, 96)), ((1, 1), (3, 31), (2, 33), (5, 170))
    budget, work, rtol = (
        {"float64": 0, "sectors": 4, "loads": {"a": 3}},
        2,
        1e-3,
    )
    setup = "ALL = 0xFFFFFFFF"

    def inputs(self, rng, rows, cols):
        a = rng.choice([-895, -300, 300, 895], (rows, 1)) + np.zeros(cols)
        a += rng.uniform(-5, 5, (rows, cols))
        far = 100 if self.extreme == "max" else -100
        a[:, [0, cols // 2, -1]] -= far
        a[1::4, min(32, cols - 1)] += 2 * far
        a[::4, -1] += 2 * far
        a[2::4, rng.integers(cols // 2, cols)] += 2 * far
        return {"out": Out((rows, cols)), "a": a.astype(np.float32)}

    def launch(self, rows, cols):
        return rows, 32

    def spec(self, a):
        best = getattr(a, self.extreme)(axis=1, keepdims=True)
        powers = np.exp(-np.abs(a - best))
        return powers / powers.sum(axis=1, keepdims=True)

    @property
    def signed(self):
        return (
            "each element" if self.extreme == "max" else "minus each element"
        )

    @property
    def sign(self):
        return "" if self.extreme == "max" else "-"

    @property
    def other(self):
        return "min" if self.extreme == "max" else "max"

    @property
    def worst(self):
        return "-math.inf" if self.extreme == "max" else "math.inf"

    @property
    def power(self):
        if self.extreme == "max":
            return "math.exp(a[row, col] - best)"
        return "math.exp(best - a[row, col])"

    answer = """
        @cuda.jit
        def softmax(out, a):
            \"\"\"Each block turns a row into weights.\"\"\"
            row, lane, cols = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
            best = float32($worst)
            for col in range(lane, cols, 32):
                best = $extreme(best, a[row, col])
            for bit in range(5):
                best = $extreme(best, cuda.shfl_xor_sync(ALL, best, 1 << bit))
            total = float32(0)
            for col in range(lane, cols, 32):
                total += $power
            for bit in range(5):
                total += cuda.shfl_xor_sync(ALL, total, 1 << bit)
            for col in range(lane, cols, 32):
                out[row, col] = $power / total
    """
    others = {
        "powers are stored, and each lane divides its own": (
            "total += $power",
            "power = $power\n        out[row, col] = power\n        total += power",
            "out[row, col] = $power / total",
            "out[row, col] /= total",
        ),
    }
    wrong = {
        "the exponential alone": (
            "wrong",
            "$power",
            "math.exp($sign a[row, col])",
        ),
        "compares with zero": ("wrong", "float32($worst)", "float32(0)"),
        "the other end of the row": (
            "wrong",
            "$extreme(best, a",
            "$other(best, a",
            "$extreme(best, cuda",
            "$other(best, cuda",
            "float32($worst)",
            "float32(-($worst))",
        ),
        "each lane has its own best": (
            "wrong",
            "$extreme(best, cuda.shfl_xor_sync(ALL, best, 1 << bit))",
            "best",
        ),
        "lane 0 alone has the sum": (
            "wrong",
            "+= cuda.shfl_xor",
            "+= cuda.shfl_down",
        ),
        "a step of the sum is missing": (
            "wrong",
            "bit in range(5):\n        total",
            "bit in range(1, 5):\n        total",
        ),
        "the first columns alone": (
            "wrong",
            "cols, 32):\n        total",
            "min(cols, 32), 32):\n        total",
        ),
        "one column too many": (
            "bounds",
            "range(lane, cols, 32)",
            "range(lane, cols + 1, 32)",
        ),
        "powers, not weights": ("wrong", " / total", ""),
        "lanes without an element go home": (
            "uninitialised",
            "best = float32",
            "if lane >= cols:\n        return\n    best = float32",
        ),
        "an infinity without a type": (
            "over_budget:float64",
            "float32($worst)",
            "$worst",
        ),
        "one thread for each row": (
            "over_budget:work",
            """
            @cuda.jit
            def softmax(out, a):
                \"\"\"The first lane of each block takes the row.\"\"\"
                row, cols = cuda.blockIdx.x, a.shape[1]
                if cuda.threadIdx.x == 0:
                    best = float32($worst)
                    for col in range(cols):
                        best = $extreme(best, a[row, col])
                    total = float32(0)
                    for col in range(cols):
                        total += $power
                    for col in range(cols):
                        out[row, col] = $power / total
            """,
        ),
        "every lane takes the whole row": (
            "over_budget:loads",
            """
            @cuda.jit
            def softmax(out, a):
                \"\"\"Each lane finds the row's best and sum for itself.\"\"\"
                row, lane, cols = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
                best = float32($worst)
                for col in range(cols):
                    best = $extreme(best, a[row, col])
                total = float32(0)
                for col in range(cols):
                    total += $power
                for col in range(lane, cols, 32):
                    out[row, col] = $power / total
            """,
        ),
    }
    hints = {
        "wrong": (
            "Is the first value that differs NaN, or infinite? What is the exponential "
            "of 900?",
            "A fraction keeps its value if both parts are divided by the same number, "
            "such as the exponential of the row's largest exponent.",
            "Find that exponent with all lanes first, and hand it to all of them, as "
            "`shfl_xor_sync` does. Then the largest power is 1.",
        ),
        "over_budget:float64": (
            "Which line is the first that `assemble` shows with float64?",
            "`math.inf` is a Python number, and so a float64.",
            "Give each constant its type, and begin each sum with `float32(0)`.",
        ),
    }


class LayerNorm(Write):
    """Normalise each row of `a`: subtract its mean, and divide by the square root of
    (variance + $eps). A block is one warp and takes one row, of any length. The mean is
    much larger than the spread of the numbers; use only `float32`.
    """

    stars, points = 3, 5
    choices = {"eps": (0.5, 1.0, 0.25), "centre": (2000, -2000, 3000)}
    even, ragged = ((4, 64), (2, 96)), ((1, 1), (3, 31), (2, 33), (5, 170))
    budget, work, rtol = (
        {"float64": 0, "sectors": 4, "loads": {"a": 3}},
        2,
        1e-3,
    )
    setup = "ALL = 0xFFFFFFFF"

    def inputs(self, rng, rows, cols):
        a = self.centre + rng.integers(0, 160, (rows, cols)) / 16
        a += rng.integers(0, 2000, (rows, 1)) * np.sign(self.centre)
        a *= rng.choice((-1, 1), (rows, 1))
        return {"out": Out((rows, cols)), "a": a.astype(np.float32)}

    def launch(self, rows, cols):
        return rows, 32

    def spec(self, a):
        wide = a.astype(np.float64)
        mean, variance = wide.mean(axis=1), wide.var(axis=1)
        return (wide - mean[:, None]) / np.sqrt(variance + self.eps)[:, None]

    answer = """
        @cuda.jit
        def layer_norm(out, a):
            \"\"\"Each block normalises a row.\"\"\"
            row, lane, cols = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
            mean = float32(0)
            for col in range(lane, cols, 32):
                mean += a[row, col]
            for bit in range(5):
                mean += cuda.shfl_xor_sync(ALL, mean, 1 << bit)
            mean /= float32(cols)
            squares = float32(0)
            for col in range(lane, cols, 32):
                away = a[row, col] - mean
                squares += away * away
            for bit in range(5):
                squares += cuda.shfl_xor_sync(ALL, squares, 1 << bit)
            root = math.sqrt(squares / float32(cols) + float32($eps))
            for col in range(lane, cols, 32):
                out[row, col] = (a[row, col] - mean) / root
    """
    others = {
        "differences are stored, and each lane divides its own": (
            "away = a[row, col] - mean",
            "away = a[row, col] - mean\n        out[row, col] = away",
            "out[row, col] = (a[row, col] - mean) / root",
            "out[row, col] /= root",
        ),
    }
    wrong = {
        "the mean square less the squared mean": (
            "wrong",
            "away = a[row, col] - mean",
            "away = a[row, col]",
            "squares / float32(cols)",
            "squares / float32(cols) - mean * mean",
        ),
        "one fewer in the variance": (
            "wrong",
            "squares / float32(cols)",
            "squares / float32(cols - 1)",
        ),
        "nothing is added to the variance": ("wrong", " + float32($eps)", ""),
        "added to the root": (
            "wrong",
            "math.sqrt(squares / float32(cols) + float32($eps))",
            "math.sqrt(squares / float32(cols)) + float32($eps)",
        ),
        "no root": ("wrong", "math.sqrt(", "("),
        "the sum for the mean": (
            "wrong",
            "mean /= float32(cols)",
            "mean /= float32(32)",
        ),
        "each lane has its own mean": (
            "wrong",
            "mean += cuda.shfl_xor_sync(ALL, mean, 1 << bit)",
            "pass",
        ),
        "lane 0 alone has the mean": (
            "wrong",
            "shfl_xor_sync(ALL, mean",
            "shfl_down_sync(ALL, mean",
        ),
        "one column too many": (
            "bounds",
            "range(lane, cols, 32)",
            "range(lane, cols + 1, 32)",
        ),
        "the mean is not subtracted": (
            "wrong",
            "= (a[row, col] - mean) / root",
            "= a[row, col] / root",
        ),
        "divided by a whole number": (
            "over_budget:float64",
            "/= float32(cols)",
            "/= cols",
        ),
        "a float64 to be safe": (
            "over_budget:float64",
            "squares = float32(0)",
            "squares = 0.0",
        ),
        "lanes without an element go home": (
            "uninitialised",
            "mean = float32",
            "if lane >= cols:\n        return\n    mean = float32",
        ),
        "every lane takes the whole row": (
            "over_budget:loads",
            """
            @cuda.jit
            def layer_norm(out, a):
                \"\"\"Each lane finds the row's mean and variance for itself.\"\"\"
                row, lane, cols = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
                mean = float32(0)
                for col in range(cols):
                    mean += a[row, col] / float32(cols)
                squares = float32(0)
                for col in range(cols):
                    squares += (a[row, col] - mean) * (a[row, col] - mean)
                root = math.sqrt(squares / float32(cols) + float32($eps))
                for col in range(lane, cols, 32):
                    out[row, col] = (a[row, col] - mean) / root
            """,
        ),
    }
    hints = {
        "wrong": (
            "How large are the squares that you add up, and how much of such a sum can a "
            "`float32` hold?",
            "A `float32` has about seven digits. Where two large numbers nearly cancel, "
            "only the digits are left that were rounded away.",
            "Go through the row twice: find the mean first, then add up the squares of "
            "what is left when the mean is subtracted.",
        ),
        "over_budget:float64": (
            "Which type has the number of columns, and what becomes of a `float32` that "
            "is divided by it?",
            "A whole number beside a `float32` makes a float64.",
            "Divide by `float32(cols)`, and begin each sum with `float32(0)`.",
        ),
    }


class OneLiteral(Explain):
    """`value = value * 1.004 + 100` stands in a loop, and `value` begins as a `float32`
    element. Why is the whole loop in float64, and how can it be that the kernel still
    gives nearly the same numbers as the one with `float32(1.004)`, but takes longer?
    """

    stars, points = 2, 3
    rubric = {
        "a Python number is a float64, and a float32 times it is a float64": 1,
        "a variable has one type for the whole loop": 1,
        "most GPUs have fewer units for float64, and the result is rounded to float32 "
        "at the end": 1,
    }
    model = (
        "1.004 is a float64, and so is a float32 times it; since `value` must have one "
        "type for the whole loop, it is float64 from the beginning. The result is "
        "rounded to float32 when it is stored, so the numbers hardly differ, but a "
        "multiprocessor has fewer units for float64 and completes fewer of these "
        "operations in a cycle."
    )
