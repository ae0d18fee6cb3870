"""An exercise of lesson 20: all threads of each block store, and of the last one load."""

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import InOut, Out, Write


class SumsOfAll(Write):
    """Add up each column of `a`, which has $threads of them. There are 4 blocks of
    $threads threads, a thread for each column. Block 0 takes the rows 0, 4, 8 and so on,
    block 1 those one further on, and so forth; each block stores its sums in its row of
    `parts`. The last block adds up the rows of `parts`, and stores the sums to `out`.
    `finished[0]` is 0 at first, and must be 0 again at the end, for the next launch.
    """

    stars, points = 3, 6
    choices = {"threads": (64, 128), "type": ("float32", "int32")}
    even, ragged = (16, 8), (1, 3, 21)

    budget = {"atomics": 5, "conflicts": 0, "loads": {"a": 1}}

    def inputs(self, rng, rows):
        return {
            "out": Out(self.threads, self.type),
            "parts": Out((4, self.threads), self.type),
            "finished": InOut(np.zeros(1, np.int32)),
            "a": numbers(rng, self.type, 1, 90, (rows, self.threads)),
        }

    def launch(self, rows):
        return 4, self.threads

    def spec(self, a):
        parts = [a[block::4].sum(0, dtype=a.dtype) for block in range(4)]
        return {"out": a.sum(0), "parts": np.stack(parts), "finished": 0}

    answer = """
        @cuda.jit
        def sums_of_all(out, parts, finished, a):
            \"\"\"Each block adds up its rows; the last one adds up their sums.\"\"\"
            last = cuda.shared.array(1, int32)
            block, column = cuda.blockIdx.x, cuda.threadIdx.x
            part = $type(0)
            for row in range(block, a.shape[0], cuda.gridDim.x):
                part += a[row, column]
            parts[block, column] = part
            cuda.syncthreads()
            if column == 0:
                cuda.threadfence()
                ticket = cuda.atomic.add(finished, 0, 1)
                cuda.threadfence()
                last[0] = ticket == cuda.gridDim.x - 1
            cuda.syncthreads()
            if last[0]:
                whole = $type(0)
                for other in range(cuda.gridDim.x):
                    whole += parts[other, column]
                out[column] = whole
                if column == 0:
                    cuda.atomic.exch(finished, 0, 0)
    """
    others = {
        "each thread fences, too": (
            "parts[block, column] = part",
            "parts[block, column] = part\n    cuda.threadfence()",
        ),
    }
    stored = "parts[block, column] = part\n    cuda.syncthreads()"
    draw = "ticket = cuda.atomic.add(finished, 0, 1)"
    asked = "last[0] = ticket == cuda.gridDim.x - 1\n    cuda.syncthreads()"
    reset = "if column == 0:\n            cuda.atomic.exch(finished, 0, 0)"
    wrong = {
        "no barrier before the fence": (
            *("race", stored, "parts[block, column] = part"),
        ),
        "a fence of each thread for that barrier": (
            *("race", stored, "parts[block, column] = part\n    cuda.threadfence()"),
        ),
        "no barrier before `last` is loaded": (
            *("race", asked, "last[0] = ticket == cuda.gridDim.x - 1"),
        ),
        "barriers of warps": (
            *("race", "cuda.syncthreads()", "cuda.syncwarp()"),
        ),
        "no fence before the ticket": (
            *("race", f"cuda.threadfence()\n        {draw}", draw),
        ),
        "no fence after the ticket": (
            *("race", f"{draw}\n        cuda.threadfence()", draw),
        ),
        "a fence of the block after the ticket": (
            *("race", f"{draw}\n        cuda.threadfence()"),
            f"{draw}\n        cuda.threadfence_block()",
        ),
        "the block with the highest number": (
            *("race", "ticket == cuda.gridDim.x - 1"),
            "block == cuda.gridDim.x - 1",
        ),
        "the count is left": ("wrong", reset, "pass"),
        "the count is set back by a store": (
            *("race", "cuda.atomic.exch(finished, 0, 0)", "finished[0] = 0"),
        ),
        "one block too many": (
            *("wrong", "== cuda.gridDim.x - 1", "== cuda.gridDim.x"),
        ),
        "the last block's own sums": ("wrong", "parts[other,", "parts[block,"),
        "thread 0 of the last block alone": (
            *("wrong", "if last[0]:", "if last[0] and column == 0:"),
        ),
        "rows that follow each other": (
            *("wrong", "range(block, a.shape[0], cuda.gridDim.x)"),
            "range(4 * block, min(4 * block + 4, a.shape[0]))",
        ),
    }
    hints = {
        "race between blocks": (
            "Who stored the cell of the report, and whose fence comes after that store?",
            "A fence waits for no other thread: before thread 0's fence, all threads of "
            "its block must have stored.",
            "All store, barrier; thread 0: fence, draw, fence, and `last[0] = ...`; "
            "barrier; if `last[0]`, all load.",
        ),
    }
