"""Exercises of lesson 19: who shares a cell with whom, how blocks update one, and how
one block tells another what it has stored.
"""

from math import ceil
from textwrap import indent

import numpy as np

from helpers import emulate
from helpers.exercises import sources
from helpers.exercises.arguments import full, numbers
from helpers.exercises.exercise import Fix, InOut, Out, Predict

POOL = {
    "each thread in the block's cell": ("out[cuda.blockIdx.x] += 1",),
    "the blocks in one cell": (
        "cuda.atomic.add(here, 0, 1)",
        "cuda.syncthreads()",
        "if thread == 0:",
        "    out[0] += here[0]",
    ),
    "one thread in the block's cell": (
        "cuda.atomic.add(here, 0, 1)",
        "cuda.syncthreads()",
        "if thread == 0:",
        "    out[cuda.blockIdx.x] += here[0]",
    ),
    "the threads in shared memory": (
        "here[0] += 1",
        "cuda.syncthreads()",
        "if thread == 0:",
        "    cuda.atomic.add(out, 0, here[0])",
    ),
    "one atomic for each thread": ("cuda.atomic.add(out, 0, 1)",),
    "no barrier before the count is loaded": (
        "cuda.atomic.add(here, 0, 1)",
        "if thread == 0:",
        "    cuda.atomic.add(out, 0, here[0])",
    ),
    "a fence for an atomic": (
        "if thread == 0:",
        "    cuda.threadfence()",
        "    out[0] += 64",
        "    cuda.threadfence()",
    ),
}
WHY = {
    "block": "Threads of one block touch one cell, one of them without an atomic, and "
    "no barrier is between.",
    "grid": "Threads of different blocks touch one cell, one of them without an atomic.",
    "none": "Each cell belongs to one thread, or atomics and barriers order its threads.",
}


class WhoMeets(Predict):
    """Each of these is the end of a kernel that is launched with 4 blocks of 64 threads.
    `out` has 4 cells, `thread` is `cuda.threadIdx.x`, and `here` is a shared array of
    one cell, which holds 0 before a barrier. Between whom does `emulate` report a race:
    between threads of one "block", between those of different blocks of the "grid", or
    is there "none"? Answer with a dictionary:
    `{"A": ..., "B": ..., "C": ..., "D": ...}`.

    $listing
    """

    stars, points = 1, 2
    options = "block", "grid", "none"
    choices = {
        "picked": ((0, 1, 4, 3), (2, 6, 5, 1), (3, 4, 6, 0), (5, 2, 0, 6)),
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

    def scope(self, lines):
        head = (
            "@cuda.jit\ndef kernel(out):",
            "    thread = cuda.threadIdx.x",
            "    here = cuda.shared.array(1, int32)",
            "    if thread == 0:",
            "        here[0] = 0",
            "    cuda.syncthreads()",
        )
        text = "\n".join([*head, self.code(lines)])
        kernel = sources.kernel_of(text, "kernel")
        run = emulate(kernel)[4, 64](np.zeros(4, np.int32))
        return next((it.scope for it in run.races), "none")

    def truth(self):
        return {key: self.scope(lines) for key, lines in self.bodies.items()}

    @property
    def why(self):
        return {key: WHY[kind] for key, kind in self.truth().items()}

    wrong = {
        "a barrier orders all blocks": lambda self: {
            key: {"grid": "none"}.get(kind, kind)
            for key, kind in self.truth().items()
        },
        "each race is between blocks": lambda self: {
            key: {"block": "grid"}.get(kind, kind)
            for key, kind in self.truth().items()
        },
        "whoever adds is alone": lambda self: dict.fromkeys("ABCD", "none"),
    }


class Highest(Fix):
    """Find the $most element of `a`. Each block of $block finds its own, and thread 0
    takes it to `out[0]`, which is $beyond all elements at the start. There it meets the
    other blocks, and some results get lost: fix it.
    """

    stars, points, lines = 1, 2, 2
    choices = {
        "ufunc": ("maximum", "minimum"),
        "block": (64, 128),
        "type": ("float32", "int32"),
    }
    even, ragged, ordered = (512,), (1, 65, 300), ("a",)

    @property
    def budget(self):
        return {"lines": 2, "atomics": 512 // self.block}

    @property
    def most(self):
        return {"maximum": "largest", "minimum": "smallest"}[self.ufunc]

    @property
    def update(self):
        return {"maximum": "max", "minimum": "min"}[self.ufunc]

    @property
    def other(self):
        return {"maximum": "min", "minimum": "max"}[self.ufunc]

    @property
    def beats(self):
        return {"maximum": ">", "minimum": "<"}[self.ufunc]

    @property
    def beyond(self):
        return {"maximum": "below", "minimum": "above"}[self.ufunc]

    @property
    def worst(self):
        sign = {"maximum": -1, "minimum": 1}[self.ufunc]
        return sign * {"float32": np.inf, "int32": 2**31 - 1}[self.type]

    @property
    def half(self):
        return self.block // 2

    def inputs(self, rng, size):
        a = full(self.type, rng.permutation(3 * size)[:size] / 3 - size / 3)
        found = getattr(np, f"arg{self.update}")(a)
        last = rng.integers(2 * size // 3, size)  # beyond a bound of listed sizes
        a[[found, last]] = a[[last, found]]
        return {"out": InOut(np.full(1, self.worst, self.type)), "a": a}

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        return getattr(np, self.ufunc).reduce(a)

    answer = """
        @cuda.jit
        def highest(out, a):
            \"\"\"Each block finds its $most element; thread 0 takes it to `out`.\"\"\"
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
                cuda.atomic.$update(out, 0, tile[0])
    """
    taken = "cuda.atomic.$update(out, 0, tile[0])"
    plain = "if tile[0] $beats out[0]:\n            out[0] = tile[0]"
    fault = taken, plain
    wrong = {
        "a fence, which nobody waits at": (
            *("race", taken, f"cuda.threadfence()\n        {plain}"),
        ),
        "in one line": (
            "race",
            taken,
            "out[0] = $update(out[0], tile[0])",
        ),
        "an atomic after a plain load": (
            *("race", taken, f"if tile[0] $beats out[0]:\n            {taken}"),
        ),
        "a barrier of thread 0": (
            *("barrier", taken, f"cuda.syncthreads()\n        {taken}"),
        ),
        "the sum": ("wrong", "cuda.atomic.$update", "cuda.atomic.add"),
        "the other end": ("wrong", "cuda.atomic.$update", "cuda.atomic.$other"),
        "the first block alone": (
            "wrong",
            "if thread == 0:",
            "if cuda.grid(1) == 0:",
        ),
        "an atomic of each thread": (
            *("over_budget:atomics", f"if thread == 0:\n        {taken}"),
            "cuda.atomic.$update(out, 0, a[min(cuda.grid(1), a.size - 1)])",
        ),
        "each thread takes the block's": (
            *("race", "if thread == 0:", "if True:"),
        ),
        "no barrier": ("race", "cuda.syncthreads()", "pass"),
    }
    hints = {
        "race between blocks": (
            "What may another block do between your load of `out[0]` and your store?",
            "Comparing and storing must be one step, which nothing can come between.",
            "There is an atomic that keeps the $most of two: `cuda.atomic.$update`.",
        ),
    }


class Message(Fix):
    """Block 0 puts $times times each element of `a` in `box`, and says so in `flag`,
    which is 0 at first; block 1 waits for that, and copies the box to `out`. Each block
    has one thread. Both have a fence, and each fence is at the wrong place: fix that.
    """

    stars, points, lines = 1, 2, 8
    choices = {"times": (2, 3, 5), "type": ("int32", "float32")}
    even, ragged = (16, 32), (1, 7, 45)

    budget = {"lines": 8, "loads": {"a": 1}}

    def inputs(self, rng, size):
        return {
            "out": Out(size, self.type),
            "box": Out(size, self.type),
            "flag": InOut(np.zeros(1, np.int32)),
            "a": numbers(rng, self.type, -90, 90, size),
        }

    def launch(self, size):
        return 2, 1

    def spec(self, a):
        return {"out": self.times * a, "box": self.times * a}

    answer = """
        @cuda.jit
        def message(out, box, flag, a):
            \"\"\"Block 0 fills the box and sets the flag; block 1 empties it.\"\"\"
            if cuda.blockIdx.x == 0:
                for i in range(a.size):
                    box[i] = $times * a[i]
                cuda.threadfence()
                cuda.atomic.add(flag, 0, 1)
            else:
                while cuda.atomic.add(flag, 0, 0) < 1:
                    pass
                cuda.threadfence()
                for i in range(a.size):
                    out[i] = box[i]
    """
    told = "cuda.threadfence()\n        cuda.atomic.add(flag, 0, 1)"
    told_early = "cuda.atomic.add(flag, 0, 1)\n        cuda.threadfence()"
    asked = "while cuda.atomic.add(flag, 0, 0) < 1:\n            pass"
    seen = f"{asked}\n        cuda.threadfence()"
    seen_late = f"cuda.threadfence()\n        {asked}"
    filled_box = "for i in range(a.size):\n            box[i] = $times * a[i]"
    fault = told, told_early, seen, seen_late
    wrong = {
        "the writer's fence alone": ("race", seen, seen_late),
        "the reader's fence alone": ("race", told, told_early),
        "no fence at all": (
            *("race", told, "cuda.atomic.add(flag, 0, 1)"),
            *(seen, asked),
        ),
        "barriers for the fences": (
            *("race", told, told.replace("threadfence", "syncthreads")),
            *(seen, seen.replace("threadfence", "syncthreads")),
        ),
        "fences of the block": (
            *("race", told, told.replace("threadfence", "threadfence_block")),
            *(seen, seen.replace("threadfence", "threadfence_block")),
        ),
        "both fences before the flag": (
            *("race", told, f"cuda.threadfence()\n        {told}"),
            *(seen, asked),
        ),
        "the reader fences while it waits": (
            *("race", seen, asked.replace("pass", "cuda.threadfence()")),
        ),
        "a flag that is stored": (
            *("race", "cuda.atomic.add(flag, 0, 1)", "flag[0] = 1"),
        ),
        "the reader does not wait": ("race", f"{asked}\n        ", ""),
        "the flag before the box": (
            *("race", f"{filled_box}\n        {told}"),
            f"{told}\n        {filled_box}",
        ),
        "the box twice as full": ("wrong", "= $times * a[i]", "= 2 * $times * a[i]"),
        "one element too few": (
            *("wrong", "for i in range(a.size):\n            out"),
            "for i in range(1, a.size):\n            out",
        ),
    }
    hints = {
        "race between blocks": (
            "What must have arrived before the flag is set? And what must not be older "
            "than the flag that was seen?",
            "A fence orders what its own thread does before it and after it: on each "
            "side, which two things are to stay in order?",
            "Store, fence, signal in block 0; signal, fence, load in block 1.",
        ),
    }
