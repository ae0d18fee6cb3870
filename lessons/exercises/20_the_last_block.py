"""Exercises of lesson 20: what the last block sees, and what it does."""

from math import ceil
from textwrap import indent

import numpy as np

from helpers import emulate
from helpers.exercises import sources
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, InOut, Out, Predict, Write

NO_BARRIER = "cuda.syncthreads()", "pass"
WARPS_ONLY = "cuda.syncthreads()", "cuda.syncwarp()"
STORE, FENCE = "parts[block] = 2 * block", "cuda.threadfence()"
DRAW = "ticket = cuda.atomic.add(finished, 0, 1)"
WHOLE = "    out[0] = parts[0] + parts[1] + parts[2] + parts[3]"
POOL = {
    "both fences": (STORE, FENCE, DRAW, FENCE, "if ticket == 3:", WHOLE),
    "the second fence for the last block alone": (
        *(STORE, FENCE, DRAW, "if ticket == 3:"),
        *("    cuda.threadfence()", WHOLE),
    ),
    "a barrier of the grid": (
        *(STORE, "cuda.cg.this_grid().sync()", "if block == 0:", WHOLE),
    ),
    "nobody loads another's part": (
        *(STORE, DRAW, "if ticket == 3:", "    out[0] = parts[block]"),
    ),
    "the highest number": (STORE, FENCE, DRAW, FENCE, "if block == 3:", WHOLE),
    "both fences before the ticket": (
        *(STORE, FENCE, FENCE, DRAW, "if ticket == 3:", WHOLE),
    ),
    "the ticket before the store": (
        *(DRAW, FENCE, STORE, FENCE, "if ticket == 3:", WHOLE),
    ),
    "barriers of the block": (
        *(STORE, "cuda.syncthreads()", DRAW, "cuda.syncthreads()"),
        *("if ticket == 3:", WHOLE),
    ),
}
WHY = {
    "none": "Between each store of a part and its load there is a fence, a signal and "
    "a fence, a barrier of the grid, or only the block's own order.",
    "race": "A part is loaded by another block than its own, and not each store comes "
    "before it by a fence, a signal that the loader has seen, and a fence.",
}


class SeesAll(Predict):
    """Each of these is the end of a kernel that is launched with 4 blocks of one thread.
    `block` is `cuda.blockIdx.x`, `parts` has 4 cells, `finished[0]` is 0 at first, and
    `out` has one cell. Does CUDA promise that a thread that loads from `parts` finds what was
    stored there? Then `emulate` with `strict=True` reports "none", else a "race". Answer
    with a dictionary: `{"A": ..., "B": ..., "C": ..., "D": ...}`.

    $listing
    """

    stars, points = 1, 2
    options = "race", "none"
    choices = {
        "picked": ((6, 0, 4, 5), (1, 5, 3, 2), (4, 2, 5, 1), (0, 6, 7, 3)),
    }

    @property
    def bodies(self):
        pool = list(POOL.values())
        return dict(zip("ABCD", (pool[n] for n in self.picked), strict=True))

    @property
    def listing(self):
        told = (
            f"{key}:\n\n{self.code(it)}" for key, it in self.bodies.items()
        )
        return "\n\n".join(told)

    def code(self, lines):
        return indent("\n".join(lines), "    ")

    def found(self, lines):
        head = (
            "@cuda.jit\ndef kernel(out, parts, finished):",
            "    block = cuda.blockIdx.x",
        )
        kernel = sources.kernel_of(
            "\n".join([*head, self.code(lines)]), "kernel"
        )
        cells = (np.zeros(n, np.int32) for n in (1, 4, 1))
        run = emulate(kernel, strict=True)[4, 1](*cells)
        return "race" if run.races else "none"

    def truth(self):
        return {key: self.found(lines) for key, lines in self.bodies.items()}

    @property
    def why(self):
        return {key: WHY[kind] for key, kind in self.truth().items()}

    wrong = {
        "two fences are enough, wherever they are": lambda self: {
            key: "none" if lines.count(FENCE) > 1 else kind
            for (key, lines), kind in zip(
                self.bodies.items(), self.truth().values(), strict=True
            )
        },
        "whatever waits is enough": lambda self: dict.fromkeys("ABCD", "none"),
        "blocks always race": lambda self: dict.fromkeys("ABCD", "race"),
    }


class OneFence(Explain):
    """In a colleague's kernel each block stores its part, fences, and draws a ticket; the
    block with the highest ticket adds up the parts at once. "I left the second fence
    out," says the colleague, "and on our GPU 1,000 launches were right." What do you
    answer? Say what each of the two fences is for, and what the launches show.
    """

    stars, points = 2, 3
    rubric = {
        "the fence before the ticket: whoever sees the ticket can see the part": 1,
        "the fence after it: the loads do not find copies that are older than the "
        "ticket, such as those in the block's own L1": 1,
        "the launches show this GPU and this code; CUDA promises it with both only": 1,
    }
    model = (
        "The fence before the ticket makes each part visible before the ticket that "
        "announces it; the fence after it makes the last block load nothing that is "
        "older than the tickets, such as a copy that its L1 has kept. Your launches were "
        "right since this GPU and this code happened to load the new parts; CUDA "
        "promises it only with both fences."
    )


class LastBlock(Write):
    """Each block of $block threads finds $what of its elements and stores it to its
    cell of `parts`; the block that finishes last finds $what of all parts and stores it
    to `out[0]`. Any block may be the last: count the blocks that have finished in
    `finished[0]`, which is 0 at first. What it holds at the end is up to you: the count,
    or 0 again for the next launch. No element is negative.
    """

    stars, points = 2, 5
    choices = {
        "ufunc": ("add", "maximum"),
        "block": (64, 128),
        "type": ("float32", "int32"),
    }
    ragged = 1, 200

    @property
    def even(self):
        return 4 * self.block, 2 * self.block

    budget = {"atomics": 5, "conflicts": 0, "loads": {"a": 1}}

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
        return {"out": whole, "parts": parts}  # either value of `finished` is right

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
        "counting from 0 again in the next launch": (
            "out[0] = whole",
            "out[0] = whole\n            cuda.atomic.exch(finished, 0, 0)",
        ),
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
