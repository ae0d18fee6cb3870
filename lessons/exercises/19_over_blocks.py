"""More exercises of lesson 19: what barriers cannot order, atomics and fences do."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import InOut, Out, Write

NO_BARRIER = "cuda.syncthreads()", "pass"
WARPS_ONLY = "cuda.syncthreads()", "cuda.syncwarp()"


class Dot(Write):
    """Make the dot product of `a` and `b`, which may have more elements than the 4 blocks
    of $block have threads. `out[0]` is 0 when the kernel starts. Add up in each block
    first: the budget has one atomic operation a block on global memory.
    """

    stars, points = 2, 3
    choices = {"block": (128, 64), "type": ("float32", "int32")}
    ragged = 1, 65, 513, 700

    @property
    def even(self):
        return 8 * self.block, 4 * self.block

    @property
    def budget(self):
        cells = 4 * self.block
        return {
            "atomics": 4,
            "sectors": 4,
            "conflicts": 0,
            "shared_bytes": cells,
        }

    @property
    def half(self):
        return self.block // 2

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -10, 60, size)
        b = numbers(rng, self.type, 1, 5, size)
        if rng.random() < 0.5:
            b = -b  # most of one sign, so that the sum is large
        b = np.where(rng.random(size) < 0.9, b, -b)
        return {"out": InOut(np.zeros(1, self.type)), "a": a, "b": b}

    def launch(self, size):
        return 4, self.block

    def spec(self, a, b):
        return np.sum(a * b)

    answer = """
        @cuda.jit
        def dot(out, a, b):
            \"\"\"Add up the products of `a` and `b`.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            total = $type(0)
            for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
                total += a[i] * b[i]
            tile[thread] = total
            half = $half
            while half > 0:
                cuda.syncthreads()
                if thread < half:
                    tile[thread] += tile[thread + half]
                half //= 2
            if thread == 0:
                cuda.atomic.add(out, 0, tile[0])
    """
    strided = "range(cuda.grid(1), a.size, cuda.gridsize(1))"
    tree = """half = $half
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            tile[thread] += tile[thread + half]
        half //= 2"""
    wrong = {
        "no barrier": ("race", *NO_BARRIER),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "a barrier for those that add": (
            *("barrier", "cuda.syncthreads()\n        if thread < half:"),
            "if thread < half:\n            cuda.syncthreads()",
        ),
        "blocks add with no atomic": (
            *("race", "cuda.atomic.add(out, 0, tile[0])", "out[0] += tile[0]"),
        ),
        "an atomic of each thread": (
            *("over_budget:atomics", tree, ""),
            *("if thread == 0:\n        cuda.atomic.add(out, 0, tile[0])",),
            "cuda.atomic.add(out, 0, tile[thread])",
        ),
        "each thread adds the block's sum": (
            *(
                "race",
                "if thread == 0:\n        cuda",
                "if True:\n        cuda",
            ),
        ),
        "one element a thread": (
            *(
                "wrong",
                f"for i in {strided}:",
                "i = cuda.grid(1)\n    if i < a.size:",
            ),
        ),
        "one element too many": ("bounds", "a.size, cuda", "a.size + 1, cuda"),
        "elements that stand together": (
            *("over_budget:sectors", f"for i in {strided}:"),
            "each = (a.size + 4 * $block - 1) // (4 * $block)\n"
            "    start = each * cuda.grid(1)\n"
            "    for i in range(start, min(start + each, a.size)):",
        ),
        "a stride of the block": (
            "wrong",
            "cuda.gridsize(1))",
            "cuda.blockDim.x)",
        ),
        "half from the start": ("wrong", "half = $half", "half = $half // 2"),
        "cells that stand apart": (
            *("over_budget:conflicts", tree),
            """step = 1
    while step < $block:
        cuda.syncthreads()
        if thread < $half // step:
            tile[2 * step * thread] += tile[2 * step * thread + step]
        step *= 2""",
        ),
        "all threads add in the block's first cell": (
            *("over_budget:conflicts", "tile[thread] = total"),
            """if thread == 0:
        tile[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(tile, 0, total)
    cuda.syncthreads()""",
            *(tree, ""),
        ),
        "one thread of the block adds up": (
            *("over_budget:work", tree),
            """cuda.syncthreads()
    if thread == 0:
        for other in range(1, $block):
            tile[0] += tile[other]""",
        ),
        "only the first block works": (
            *("wrong", "if thread == 0:", "if cuda.grid(1) == 0:"),
        ),
        "a sum for a product": ("wrong", "a[i] * b[i]", "a[i] + b[i]"),
    }
    hints = {
        "over_budget:atomics": (
            "How many threads execute the atomic, and how many of them must?",
            "A block can add up its threads' sums in shared memory, with barriers; "
            "only blocks need an atomic among themselves.",
            "Halve the block again and again, as `largest` does, and let thread 0 add "
            "what is left in the first cell.",
        ),
    }


class LastBlock(Write):
    """Each block of $block threads finds $what of its elements and stores it to its
    cell of `parts`; the block that finishes last finds $what of all parts and stores it
    to `out[0]`. Any block may be the last: count the blocks that have finished in
    `finished[0]`, which is 0 at first. Each block needs a fence before it counts itself,
    and the last one another after that, before it loads `parts`. No element is negative.
    """

    stars, points = 3, 6
    choices = {
        "ufunc": ("add", "maximum"),
        "block": (64, 128),
        "type": ("float32", "int32"),
    }
    ragged = 1, 200

    @property
    def even(self):
        return 4 * self.block, 2 * self.block

    budget = {"atomics": 4, "conflicts": 0, "loads": {"a": 1}}

    @property
    def what(self):
        return {"add": "the sum", "maximum": "the largest"}[self.ufunc]

    @property
    def half(self):
        return self.block // 2

    @property
    def join(self):
        cells = "tile[thread], tile[thread + half]"
        return (
            f"max({cells})"
            if self.ufunc == "maximum"
            else cells.replace(",", " +")
        )

    @property
    def join_parts(self):
        return {"add": "whole + parts[i]", "maximum": "max(whole, parts[i])"}[
            self.ufunc
        ]

    def inputs(self, rng, size):
        blocks = ceil(size / self.block)
        a = numbers(rng, self.type, 1, 250, size)
        if size == 1:
            a[0] = 0  # the least that an element may be
        return {
            "out": Out(1, self.type),
            "parts": Out(blocks, self.type),
            "finished": InOut(np.zeros(1, np.int32)),
            "a": a,
        }

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        parts = getattr(np, self.ufunc).reduceat(
            a, range(0, a.size, self.block)
        )
        whole = getattr(np, self.ufunc).reduce(parts)
        return {"out": whole, "parts": parts, "finished": parts.size}

    answer = """
        @cuda.jit
        def last_block(out, parts, finished, a):
            \"\"\"Each block makes its part; the last one to finish makes the whole.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            i = cuda.grid(1)
            tile[thread] = a[i] if i < a.size else $type(0)
            half = $half
            while half > 0:
                cuda.syncthreads()
                if thread < half:
                    tile[thread] = $join
                half //= 2
            if thread == 0:
                parts[cuda.blockIdx.x] = tile[0]
                cuda.threadfence()
                ticket = cuda.atomic.add(finished, 0, 1)
                cuda.threadfence()
                if ticket == cuda.gridDim.x - 1:
                    whole = $type(0)
                    for i in range(parts.size):
                        whole = $join_parts
                    out[0] = whole
    """
    tree = """half = $half
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            tile[thread] = $join
        half //= 2"""
    others = {
        "the last block's threads take the parts by turns": (
            "thread = cuda.threadIdx.x",
            "last = cuda.shared.array(1, int32)\n    thread = cuda.threadIdx.x",
            """if ticket == cuda.gridDim.x - 1:
            whole = $type(0)
            for i in range(parts.size):
                whole = $join_parts
            out[0] = whole""",
            f"""last[0] = ticket == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        whole = $type(0)
        for i in range(thread, parts.size, cuda.blockDim.x):
            whole = $join_parts
        tile[thread] = whole
        {tree.replace(chr(10), chr(10) + "    ")}
        if thread == 0:
            out[0] = tile[0]""",
        ),
    }
    draw = "ticket = cuda.atomic.add(finished, 0, 1)"
    first_fence = f"cuda.threadfence()\n        {draw}"
    ask = f"{draw}\n        cuda.threadfence()\n        if ticket == cuda.gridDim.x - 1:"
    wrong = {
        "no fence": (
            *("race", f"{first_fence}\n        cuda.threadfence()", draw),
        ),
        "no fence but the one after the atomic": ("race", first_fence, draw),
        "no fence but the one before the atomic": (
            *("race", ask, ask.replace("cuda.threadfence()\n        if", "if")),
        ),
        "the fence before the store": (
            *(
                "race",
                "parts[cuda.blockIdx.x] = tile[0]\n        cuda.threadfence()",
            ),
            "cuda.threadfence()\n        parts[cuda.blockIdx.x] = tile[0]",
        ),
        "a barrier for the fence": (
            *("barrier", first_fence, f"cuda.syncthreads()\n        {draw}"),
        ),
        "a fence of the block": (
            *("race", first_fence, f"cuda.threadfence_block()\n        {draw}"),
        ),
        "counting with no atomic": (
            *("race", ask),
            "finished[0] += 1\n        if finished[0] == cuda.gridDim.x:",
        ),
        "block 0, whenever it is done": (
            *("race", ask),
            "cuda.atomic.add(finished, 0, 1)\n        if cuda.blockIdx.x == 0:",
        ),
        "the block with the highest number": (
            *("race", "ticket == cuda.gridDim.x - 1"),
            "cuda.blockIdx.x == cuda.gridDim.x - 1",
        ),
        "block 0, if all have finished by then": (
            *("race", ask),
            "cuda.atomic.add(finished, 0, 1)\n        cuda.threadfence()\n"
            "        if cuda.blockIdx.x == 0 and "
            "cuda.atomic.add(finished, 0, 0) == cuda.gridDim.x:",
        ),
        "the first block to finish": ("race", "== cuda.gridDim.x - 1", "== 0"),
        "one block more than there are": (
            "wrong",
            "cuda.gridDim.x - 1",
            "cuda.gridDim.x",
        ),
        "each thread counts": ("race", "if thread == 0:", "if True:"),
        "no barrier in the block": ("race", *NO_BARRIER),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "an early return": (
            *("barrier", "tile[thread] = a[i] if i < a.size else $type(0)"),
            "if i >= a.size:\n        return\n    tile[thread] = a[i]",
        ),
        "no guard": ("bounds", "a[i] if i < a.size else $type(0)", "a[i]"),
        "a hard-coded number of blocks": ("wrong", "cuda.gridDim.x - 1", "3"),
        "one part too few": (
            "wrong",
            "range(parts.size)",
            "range(1, parts.size)",
        ),
        "one thread adds up the block": (
            *("over_budget:work", tree),
            """cuda.syncthreads()
    if thread == 0:
        for half in range(1, $block):
            tile[thread] = $join""",
        ),
    }
    hints = {
        "race between blocks": (
            "Which thread stores to the cell of the report, and how does the other one "
            "know that it has?",
            "An atomic counts who has finished; that what they stored is seen before "
            "that count takes a fence.",
            "In thread 0 of each block: store the part, `cuda.threadfence()`, the atomic "
            "that counts the block, and another fence before the parts are loaded.",
        ),
    }
