"""More exercises of lesson 15: the threads of a block work on one tile."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import full, numbers
from helpers.exercises.exercise import Fix, Out, Write

NO_BARRIER = "cuda.syncthreads()", "pass"
WARPS_ONLY = "cuda.syncthreads()", "cuda.syncwarp()"


class Largest(Fix):
    """Find the $most element of each block of $block; the last block may have fewer.
    The kernel is right in some orders of the warps only: make it right in every order.
    """

    stars, points, lines = 2, 2, 1
    budget = {"lines": 1}
    choices = {
        "ufunc": ("maximum", "minimum"),
        "block": (256, 128),
        "type": ("float32", "int32"),
    }
    even, ragged, ordered = (512,), (1, 257, 600), ("a",)

    @property
    def most(self):
        return {"maximum": "largest", "minimum": "smallest"}[self.ufunc]

    @property
    def more(self):
        return {"maximum": "larger", "minimum": "smaller"}[self.ufunc]

    @property
    def beats(self):
        return {"maximum": ">", "minimum": "<"}[self.ufunc]

    @property
    def half(self):
        return self.block // 2

    def inputs(self, rng, size):
        a = full(self.type, rng.permutation(3 * size)[:size] / 3 - size / 3)
        return {"out": Out(ceil(size / self.block), self.type), "a": a}

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        return getattr(np, self.ufunc).reduceat(
            a, range(0, a.size, self.block)
        )

    answer = """
        @cuda.jit
        def largest(out, a):
            \"\"\"Halve the block again and again; keep the $more of two cells.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            tile[thread] = a[min(cuda.grid(1), a.size - 1)]
            half = $half
            while half > 0:
                cuda.syncthreads()
                if thread < half and tile[thread + half] $beats tile[thread]:
                    tile[thread] = tile[thread + half]
                half //= 2
            if thread == 0:
                out[cuda.blockIdx.x] = tile[0]
    """
    fault = "while half > 0:\n        cuda.syncthreads()", "while half > 0:"
    head = fault[0], "cuda.syncthreads()\n    while half > 0:"
    wrong = {
        "a barrier before the loop": ("race", *head),
        "a barrier after the loop": (
            *(
                "race",
                *fault,
                "if thread == 0",
                "cuda.syncthreads()\n    if thread == 0",
            ),
        ),
        "a barrier at the end of a round": (
            *(
                "race",
                *fault,
                "half //= 2",
                "half //= 2\n        cuda.syncthreads()",
            ),
        ),
        "a barrier in the branch": (
            *("barrier", *fault, "tile[thread] = tile[thread + half]"),
            "cuda.syncthreads()\n            tile[thread] = tile[thread + half]",
        ),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "a barrier for those that still work": (
            *(
                "barrier",
                "cuda.sync",
                "if thread < half:\n            cuda.sync",
            ),
        ),
        "threads that are done leave": (
            *("barrier", "half //= 2"),
            "if thread >= half:\n            return\n        half //= 2",
        ),
        "the other comparison": (
            "wrong",
            "if thread < half and",
            "if thread < half and not",
        ),
        "two barriers for one": (
            *("over_budget:lines", *head),
            *("half //= 2", "half //= 2\n        cuda.syncthreads()"),
        ),
        "one round too few": ("wrong", "half > 0", "half > 1"),
        "without the cell in the middle": (
            "wrong",
            "thread < half",
            "thread < half - 1",
        ),
        "each thread stores its own": (
            *("race", "if thread == 0:\n        out", "if True:\n        out"),
        ),
    }
    hints = {
        "race": (
            "In which round did the other thread of the report store, and in which "
            "round is its cell loaded?",
            "A round loads what the round before has stored, so the block must wait in "
            "each round.",
            "The first round loads what the line above the loop stored: where in the "
            "loop does one barrier come before that load, too?",
        ),
        "barrier": (
            "How many threads come to your barrier in the last round, when `half` is 1?",
            "A barrier is for all threads of the block, also for those with nothing left "
            "to compare.",
            "Put it in the loop, outside the `if`.",
        ),
    }


class BlockScan(Write):
    """Make prefix sums in each block of $block elements: `out[i]` is the sum of `a[i]`
    and of all elements before it in the same block. Load each element once, into one
    tile in shared memory that has as many cells as the block has threads. Add up in a
    few rounds: no thread may add all elements one by one.
    """

    stars, points = 2, 3
    choices = {"block": (64, 128), "type": ("float32", "int32")}
    ragged = 1, 65, 200

    @property
    def even(self):
        return 4 * self.block, self.block

    @property
    def budget(self):
        rounds = {64: 6, 128: 7}[self.block]
        warps = 4 * self.block // 32
        return {
            "shared_bytes": 4 * self.block,
            "barriers": 2 * rounds + 1,
            "loads": {"a": 1},
            "shared_requests": 4 * rounds * warps,
        }

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -50, 100, size)
        return {"out": Out(size, self.type), "a": a}

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        parts = np.split(a, range(self.block, a.size, self.block))
        return np.concatenate([np.cumsum(part) for part in parts])

    answer = """
        @cuda.jit
        def block_scan(out, a):
            \"\"\"Each block makes the prefix sums of its elements.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            i = cuda.grid(1)
            tile[thread] = a[i] if i < a.size else $type(0)
            step = 1
            while step < $block:
                cuda.syncthreads()
                taken = tile[thread - step] if thread >= step else $type(0)
                cuda.syncthreads()
                tile[thread] += taken
                step *= 2
            if i < a.size:
                out[i] = tile[thread]
    """
    others = {
        "pairs, pairs of pairs, and down again": (
            """while step < $block:
        cuda.syncthreads()
        taken = tile[thread - step] if thread >= step else $type(0)
        cuda.syncthreads()
        tile[thread] += taken
        step *= 2""",
            """while step < $block:
        cuda.syncthreads()
        last = 2 * step * (thread + 1) - 1
        if last < $block:
            tile[last] += tile[last - step]
        step *= 2
    step //= 4
    while step > 0:
        cuda.syncthreads()
        last = 2 * step * (thread + 1) - 1
        if last + step < $block:
            tile[last + step] += tile[last]
        step //= 2
    cuda.syncthreads()""",
        ),
    }
    add = "taken = tile[thread - step] if thread >= step else $type(0)"
    wrong = {
        "no first barrier": ("race", *NO_BARRIER),
        "no second barrier": (
            *(
                "race",
                "cuda.syncthreads()\n        tile",
                "pass\n        tile",
            ),
        ),
        "in one line": (
            *(
                "race",
                f"{add}\n        cuda.syncthreads()\n        tile[thread] += taken",
            ),
            "if thread >= step:\n            tile[thread] += tile[thread - step]",
        ),
        "barriers for warps only": ("race", *WARPS_ONLY, *WARPS_ONLY),
        "barriers for those that add": (
            *(
                "barrier",
                f"cuda.syncthreads()\n        {add}\n        cuda.syncthreads()",
            ),
            """if thread < step:
            break
        cuda.syncthreads()
        taken = tile[thread - step]
        cuda.syncthreads()""",
        ),
        "an early return": (
            *("barrier", "tile[thread] = a[i] if i < a.size else $type(0)"),
            "if i >= a.size:\n        return\n    tile[thread] = a[i]",
        ),
        "no guard of the store": ("bounds", "if i < a.size:", "if True:"),
        "no guard of the load": (
            "bounds",
            "a[i] if i < a.size else $type(0)",
            "a[i]",
        ),
        "round the corner": ("bounds", " if thread >= step else $type(0)", ""),
        "one round too few": ("wrong", "step < $block", "step < $block // 2"),
        "all cells but the first": (
            "wrong",
            "thread >= step",
            "thread > step",
        ),
        "from the right": (
            *("wrong", add),
            "taken = tile[thread + step] if thread + step < $block else $type(0)",
        ),
        "two tiles": (
            "over_budget:shared_bytes",
            """
            @cuda.jit
            def block_scan(out, a):
                tile = cuda.shared.array((2, $block), $type)
                thread = cuda.threadIdx.x
                i = cuda.grid(1)
                total = a[i] if i < a.size else $type(0)
                turn, step = 0, 1
                while step < $block:
                    tile[turn, thread] = total
                    cuda.syncthreads()
                    if thread >= step:
                        total += tile[turn, thread - step]
                    turn = 1 - turn
                    step *= 2
                if i < a.size:
                    out[i] = total
            """,
        ),
        "each thread adds up from the start": (
            "over_budget:loads",
            """
            @cuda.jit
            def block_scan(out, a):
                i = cuda.grid(1)
                if i < a.size:
                    total = $type(0)
                    for j in range(i - cuda.threadIdx.x, i + 1):
                        total += a[j]
                    out[i] = total
            """,
        ),
        "each thread adds up the tile": (
            "over_budget:shared_requests",
            """
            @cuda.jit
            def block_scan(out, a):
                tile = cuda.shared.array($block, $type)
                thread = cuda.threadIdx.x
                i = cuda.grid(1)
                tile[thread] = a[i] if i < a.size else $type(0)
                cuda.syncthreads()
                total = $type(0)
                for j in range(thread + 1):
                    total += tile[j]
                if i < a.size:
                    out[i] = total
            """,
        ),
    }
    hints = {
        "race": (
            "In one round a thread loads a cell and stores to its own: who needs the old "
            "value of that cell?",
            "A round needs two orders: stores of the round before come before this "
            "round's loads, and all loads of this round come before its stores.",
            "Keep what you load in a variable, with a barrier before the load and one "
            "after it.",
        ),
        "over_budget:shared_requests": (
            "How many additions does the last thread make, and how many rounds of "
            "doubling would it take?",
            "After the round with step 1 each cell holds the sum of 2 elements, after "
            "step 2 of 4, after step 4 of 8.",
            "In each round, add the cell `step` places before your own, and double "
            "`step`.",
        ),
    }
