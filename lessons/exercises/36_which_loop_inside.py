"""The last exercise of lesson 36: which of two loops is the inner one."""

from math import ceil

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, SpeedUp


def small(rng, shape, kind):
    """Whole numbers, the sums of whose products any order gives exactly."""
    return numbers(rng, kind, -9, 10, shape)


class FourRows(SpeedUp):
    """Multiply matrices of any size, m × k by k × n, in tiles of 16 × 16, with blocks of
    16 × 4 threads: each thread makes 4 elements of one column of `c`, 4 rows apart. The
    kernel does so, one element after the other, and loads each cell of the tile of `b`
    four times. Make as few requests to shared memory as if it were loaded once and used
    for all four.
    """

    stars, points = 3, 5
    choices = {"type": ("float32", "int32", "uint32"), "wide": ("n", "m")}
    ragged = ((40, 51, 33),)

    @property
    def even(self):
        return ((32, 32, 48) if self.wide == "n" else (48, 32, 32),)

    @property
    def budget(self):
        loads = {"a": 3, "b": 2} if self.wide == "n" else {"a": 2, "b": 3}
        return {
            "shared_requests": 2112,
            "loads": loads,
            "conflicts": 0,
            "sectors": 4,
            "shared_bytes": 2048,
        }

    def inputs(self, rng, m, k, n):
        a, b = small(rng, (m, k), self.type), small(rng, (k, n), self.type)
        return {"c": Out((m, n), self.type), "a": a, "b": b}

    def launch(self, m, k, n):
        return (ceil(n / 16), ceil(m / 16)), (16, 4)

    def spec(self, a, b):
        return a @ b

    answer = """
        @cuda.jit
        def four_rows(c, a, b):
            \"\"\"Each thread makes four elements of a column.\"\"\"
            tile_a = cuda.shared.array((16, 16), $type)
            tile_b = cuda.shared.array((16, 16), $type)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            col = 16 * cuda.blockIdx.x + x
            first = 16 * cuda.blockIdx.y
            total = cuda.local.array(4, $type)
            for part in range(4):
                total[part] = $type(0)
            for at in range(0, a.shape[1], 16):
                for j in range(y, 16, 4):
                    in_a = first + j < a.shape[0] and at + x < a.shape[1]
                    in_b = at + j < b.shape[0] and col < b.shape[1]
                    tile_a[j, x] = a[first + j, at + x] if in_a else $type(0)
                    tile_b[j, x] = b[at + j, col] if in_b else $type(0)
                cuda.syncthreads()
                for k in range(16):
                    cell = tile_b[k, x]
                    for part in range(4):
                        total[part] += tile_a[y + 4 * part, k] * cell
                cuda.syncthreads()
            for part in range(4):
                row = first + y + 4 * part
                if row < c.shape[0] and col < c.shape[1]:
                    c[row, col] = total[part]
    """
    others = {
        "the last element in place of those beyond the edge": (
            *("a[first + j, at + x] if in_a else $type(0)",
              "a[min(first + j, a.shape[0] - 1), min(at + x, a.shape[1] - 1)]"),
            *("b[at + j, col] if in_b else $type(0)",
              "b[min(at + j, b.shape[0] - 1), min(col, b.shape[1] - 1)]"),
            *("range(16):\n            cell",
              "range(min(16, a.shape[1] - at)):\n            cell"),
        ),
    }
    inner = """for k in range(16):
                    cell = tile_b[k, x]
                    for part in range(4):
                        total[part] += tile_a[y + 4 * part, k] * cell"""
    one_after_the_other = """for part in range(4):
                    for k in range(16):
                        total[part] += tile_a[y + 4 * part, k] * tile_b[k, x]"""
    given = answer.replace(inner, one_after_the_other)
    first_barrier = (
        "cuda.syncthreads()\n        for k in range(16)",
        "for k in range(16)",
    )
    wrong = {
        "no first barrier": ("race", *first_barrier),
        "no second barrier": (
            *("race", "cell\n        cuda.syncthreads()", "cell"),
        ),
        "an early return": (
            *("barrier", "total = cuda.local.array(4, $type)"),
            "if col >= c.shape[1]:\n        return\n"
            "    total = cuda.local.array(4, $type)",
        ),
        "one row of each tile": (
            *(
                "uninitialised",
                "for j in range(y, 16, 4):",
                "for j in range(y, 4, 4):",
            ),
        ),
        "totals that begin with nothing": (
            *("uninitialised", "total[part] = $type(0)", "pass"),
        ),
        "rows side by side": ("wrong", "y + 4 * part, k", "4 * y + part, k"),
        "four rows, and one stored": (
            *("wrong", "range(4):\n        row", "range(1):\n        row"),
        ),
        "no zeros in the tile of `a`": (
            "bounds",
            " if in_a else $type(0)",
            "",
        ),
        "no zeros in the tile of `b`": (
            "bounds",
            " if in_b else $type(0)",
            "",
        ),
        "no guard of the store": (
            *("bounds", "row < c.shape[0] and col < c.shape[1]:", "True:"),
        ),
        "whole steps only": (
            *(
                "tail",
                "range(0, a.shape[1], 16)",
                "range(0, a.shape[1] - 15, 16)",
            ),
        ),
        "as it was given": (
            *(
                "over_budget:shared_requests",
                "for k in range(16):\n            cell",
            ),
            "for part in range(4):\n            cell",
            *(
                "cell = tile_b[k, x]\n            for part in range(4):",
                "for k in range(16):",
            ),
            *("* cell", "* tile_b[k, x] * 1"),
        ),
        "no tile of `b`": (
            *("over_budget:loads", "cell = tile_b[k, x]"),
            "cell = b[min(at + k, b.shape[0] - 1), min(col, b.shape[1] - 1)]",
        ),
    }
    hints = {
        "over_budget:shared_requests": (
            "Which of the two factors is the same in all four sums, for one `k`?",
            "A loop's order decides how often a cell is read: what the inner loop does "
            "not change can be read before it.",
            "Let the loop over `k` be the outer one; read the cell of `b` into a "
            "variable, and use it for all four sums.",
        ),
    }
