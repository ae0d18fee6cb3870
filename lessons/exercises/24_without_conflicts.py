"""An exercise of lesson 24: a thread's rows and columns, so that wide loads are free of
conflicts.
"""

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, SpeedUp


class InPlace(SpeedUp):
    """Make `c = a.T @ b` for `a` with 64 columns, in one block of 8 × 8 threads: each
    has 8 × 8 sums. The kernel is right, but loads and stores of neighbouring lanes are
    32 bytes apart, and loads have bank conflicts: `emulate` says on which line. Give each
    thread other elements of `c`.
    """

    stars, points = 3, 4
    choices = {"type": ("float32", "int32", "uint32")}
    even, ragged = ((4,), (8,)), ((1,), (3,), (9,))
    budget = {"conflicts": 0}

    def inputs(self, rng, k):
        a, b = (numbers(rng, self.type, -9, 10, (k, 64)) for _ in "ab")
        return {"c": Out((64, 64), self.type), "a": a, "b": b}

    def launch(self, k):
        return 1, (8, 8)

    def spec(self, a, b):
        return a.T @ b

    setup = "from helpers import load4"
    given = '''
        @cuda.jit
        def in_place(c, a, b):
            """Each thread adds up a square of 8 × 8 elements."""
            row_a = cuda.shared.array(64, $type)
            row_b = cuda.shared.array(64, $type)
            sums = cuda.local.array((8, 8), $type)
            p = cuda.local.array(8, $type)
            q = cuda.local.array(8, $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            for i in range(8):
                for j in range(8):
                    sums[i, j] = 0
            for k in range(a.shape[0]):
                row_a[8 * y + x] = a[k, 8 * y + x]
                row_b[8 * y + x] = b[k, 8 * y + x]
                cuda.syncthreads()
                for g in range(0, 8, 4):
                    p[g], p[g + 1], p[g + 2], p[g + 3] = load4(row_a, 8 * y + g)
                    q[g], q[g + 1], q[g + 2], q[g + 3] = load4(row_b, 8 * x + g)
                for i in range(8):
                    for j in range(8):
                        sums[i, j] += p[i] * q[j]
                cuda.syncthreads()
            for i in range(8):
                for j in range(8):
                    c[8 * y + i, 8 * x + j] = sums[i, j]
    '''
    answer = '''
        @cuda.jit
        def in_place(c, a, b):
            """Each thread adds up four squares of 4 × 4, 32 apart."""
            row_a = cuda.shared.array(64, $type)
            row_b = cuda.shared.array(64, $type)
            sums = cuda.local.array((8, 8), $type)
            p = cuda.local.array(8, $type)
            q = cuda.local.array(8, $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            for i in range(8):
                for j in range(8):
                    sums[i, j] = 0
            for k in range(a.shape[0]):
                row_a[8 * y + x] = a[k, 8 * y + x]
                row_b[8 * y + x] = b[k, 8 * y + x]
                cuda.syncthreads()
                for g in range(0, 8, 4):
                    p[g], p[g + 1], p[g + 2], p[g + 3] = load4(row_a, 4 * y + 8 * g)
                    q[g], q[g + 1], q[g + 2], q[g + 3] = load4(row_b, 4 * x + 8 * g)
                for i in range(8):
                    for j in range(8):
                        sums[i, j] += p[i] * q[j]
                cuda.syncthreads()
            for i in range(8):
                for j in range(8):
                    c[4 * y + 32 * (i // 4) + i % 4, 4 * x + 32 * (j // 4) + j % 4] = sums[i, j]
    '''
    wrong = {
        "stores where it stored before": ("wrong",
            "c[4 * y + 32 * (i // 4) + i % 4, 4 * x + 32 * (j // 4) + j % 4]",
            "c[8 * y + i, 8 * x + j]"),
        "rows alone": ("over_budget:conflicts", "load4(row_b, 4 * x + 8 * g)",
            "load4(row_b, 8 * x + g)", "4 * x + 32 * (j // 4) + j % 4", "8 * x + j"),
        "no first barrier": ("race", "cuda.syncthreads()", ""),
        "no second barrier": ("race",
            "p[i] * q[j]\n        cuda.syncthreads()", "p[i] * q[j]"),
        "all rows but the last": ("wrong", "range(a.shape[0])", "range(a.shape[0] - 1)"),
        "rows and columns swapped": ("wrong",
            "c[4 * y + 32 * (i // 4) + i % 4, 4 * x + 32 * (j // 4) + j % 4]",
            "c[4 * x + 32 * (j // 4) + j % 4, 4 * y + 32 * (i // 4) + i % 4]"),
        "one by one, eight apart": ("over_budget:conflicts",
            "load4(row_b, 4 * x + 8 * g)",
            "(row_b[8 * x + g], row_b[8 * x + g + 1], row_b[8 * x + g + 2], "
            "row_b[8 * x + g + 3])",
            "4 * x + 32 * (j // 4) + j % 4", "8 * x + j"),
        "too far apart": ("bounds", "4 * y + 8 * g", "4 * y + 16 * g"),
    }
    hints = {
        "over_budget:conflicts": (
            "Which cells of `row_b` do the eight lanes with x = 0 to 7 load at once, "
            "and which banks are these?",
            "A load of 16 bytes by eight lanes has no conflict if they take 128 bytes "
            "side by side.",
            "Let thread x take the columns from 4 * x on, four of them, and four more "
            "32 further on; the same for y and the rows. The sums are then elsewhere "
            "in `c`.",
        )
    }
