"""Exercises of lesson 15: which accesses does a barrier order, and for whom?"""

from math import ceil
from textwrap import indent

import numpy as np

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises import sources
from helpers.exercises.exercise import Explain, Fix, InOut, Predict

TYPES = "float32", "int32", "uint32"
NO_BARRIER = "cuda.syncthreads()", "pass"
WARPS_ONLY = "cuda.syncthreads()", "cuda.syncwarp()"


class Shift(Fix):
    """Each thread replaces its element of `a` by the element $places to the right; the
    first element follows the last. There is one block, with a thread for each element.
    The kernel has a race: fix it.
    """

    stars, points, lines = 1, 1, 3
    budget = {"lines": 3}
    choices = {"step": (1, 2, 5), "type": TYPES}
    even, ragged, limits = (64, 256), (1, 33, 97, 1000), (1024,)

    @property
    def places(self):
        return f"{self.step} place{'s' * (self.step > 1)}"

    def inputs(self, rng, size):
        return {"a": InOut(numbers(rng, self.type, -1000, 1000, size))}

    def launch(self, size):
        return 1, size

    def spec(self, a):
        return np.roll(a, -self.step)

    answer = """
        @cuda.jit
        def shift(a):
            \"\"\"Each thread takes a neighbour's element, in place.\"\"\"
            thread = cuda.threadIdx.x
            taken = a[(thread + $step) % a.size]
            cuda.syncthreads()
            a[thread] = taken
    """
    in_one_line = """taken = a[(thread + $step) % a.size]
    cuda.syncthreads()
    a[thread] = taken"""
    fault = in_one_line, "a[thread] = a[(thread + $step) % a.size]"
    wrong = {
        "two lines and no barrier": ("race", *NO_BARRIER),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "a fence, which nobody waits at": (
            *("race", "cuda.syncthreads()", "cuda.threadfence()"),
        ),
        "the barrier after the line": (
            *("race", in_one_line),
            "a[thread] = a[(thread + $step) % a.size]\n    cuda.syncthreads()",
        ),
        "the barrier before the line": (
            *("race", in_one_line),
            "cuda.syncthreads()\n    a[thread] = a[(thread + $step) % a.size]",
        ),
        "the store not for all": (
            *(
                "wrong",
                "()\n    a[thread]",
                "()\n    if thread > 0:\n        a[thread]",
            ),
        ),
        "to the left": ("wrong", "thread + ", "thread - "),
        "no way round": ("bounds", " % a.size", ""),
        "the way round after 256": ("bounds", "% a.size", "% 256"),
        "one thread does all": (
            *("over_budget:lines", in_one_line),
            """if thread == 0:
        for turn in range($step):
            first = a[0]
            for i in range(a.size - 1):
                a[i] = a[i + 1]
            a[a.size - 1] = first""",
        ),
    }
    hints = {
        "race in one line": (
            "The line is a load and a store. Which cell does thread 0 load, and who "
            "stores to it?",
            "All threads must have loaded before the first one stores: this is a write "
            "after read.",
            "Keep what you load in a variable, wait for the block, then store it.",
        ),
    }


POOL = {
    "the neighbour's cell, in place": (
        "tile[thread] = a[thread]",
        "cuda.syncthreads()",
        "tile[thread] = tile[(thread + 1) % 64]",
        "cuda.syncthreads()",
        "out[thread] = tile[thread]",
    ),
    "two threads, one cell": (
        "tile[thread // 2] = a[thread]",
        "cuda.syncthreads()",
        "out[thread] = tile[thread // 2]",
    ),
    "backwards at once": (
        "tile[thread] = a[thread]",
        "out[thread] = tile[63 - thread]",
    ),
    "its own cell": (
        "tile[thread] = a[thread]",
        "tile[thread] = 2 * tile[thread]",
        "cuda.syncthreads()",
        "out[thread] = tile[63 - thread]",
    ),
    "filled anew too early": (
        "tile[thread] = a[thread]",
        "cuda.syncthreads()",
        "taken = tile[63 - thread]",
        "tile[thread] = taken + a[thread]",
        "out[thread] = tile[thread]",
    ),
    "there and back": (
        "tile[63 - thread] = a[thread]",
        "out[thread] = tile[63 - thread]",
    ),
}


WHY = {
    "RAW": "What a thread loads, another one stores, and nothing makes it wait.",
    "WAR": "A thread stores where another one may still have to load.",
    "WAW": "Two threads store to one cell, and nothing says which of them is last.",
    "none": "Between any two threads at one cell there is a barrier.",
}


class FirstHazard(Predict):
    """Each of these is the body of a kernel that is launched with one block of 64
    threads; `tile` is a shared array of 64 numbers, and `thread` is
    `cuda.threadIdx.x`. Of which kind is the first race that `emulate` reports, in
    `run.races` or, if there is none, in `run.races.minor`? Answer with a dictionary:
    `{"A": ..., "B": ..., "C": ..., "D": ...}`.

    $listing
    """

    stars, points = 1, 2
    options = "RAW", "WAR", "WAW", "none"
    choices = {
        "picked": ((2, 0, 1, 3), (4, 1, 5, 2), (5, 2, 4, 1), (1, 3, 0, 2)),
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

    def hazard(self, lines):
        head = (
            "@cuda.jit\ndef kernel(out, a):",
            "    thread = cuda.threadIdx.x",
        )
        tile = "    tile = cuda.shared.array(64, float32)"
        text = "\n".join([*head, tile, self.code(lines)])
        kernel = sources.kernel_of(text, "kernel")
        run = emulate(kernel)[1, 64](
            np.zeros(64, np.float32), np.ones(64, np.float32)
        )
        return next((it.kind for it in [*run.races, *run.races.minor]), "none")

    def truth(self):
        return {key: self.hazard(lines) for key, lines in self.bodies.items()}

    @property
    def why(self):
        return {key: WHY[kind] for key, kind in self.truth().items()}

    wrong = {
        "each race is a RAW": lambda self: dict.fromkeys("ABCD", "RAW"),
        "a store that comes too early is a RAW": lambda self: {
            key: {"WAR": "RAW", "RAW": "WAR"}.get(kind, kind)
            for key, kind in self.truth().items()
        },
        "right today is no race": lambda self: dict.fromkeys("ABCD", "none"),
        "two stores of one line are in order": lambda self: {
            key: {"WAW": "none"}.get(kind, kind)
            for key, kind in self.truth().items()
        },
    }


class EarlyReturn(Fix):
    """Each block reverses the order of its $block elements of `a`, in place; the last
    block may have fewer. Threads that have no element return before the barrier: keep
    it, and make all threads of a block reach it.
    """

    stars, points, lines = 1, 2, 5
    budget = {"lines": 6}
    choices = {"block": (64, 128, 96), "type": TYPES}
    even, ragged = (384, 768), (1, 63, 97, 200, 129)

    def inputs(self, rng, size):
        return {"a": InOut(numbers(rng, self.type, -1000, 1000, size))}

    def launch(self, size):
        return ceil(size / self.block), self.block

    def spec(self, a):
        parts = np.split(a, range(self.block, a.size, self.block))
        return np.concatenate([part[::-1] for part in parts])

    answer = """
        @cuda.jit
        def early_return(a):
            \"\"\"Store where there is an element, wait, load where there is one.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            i = cuda.grid(1)
            here = min($block, a.size - $block * cuda.blockIdx.x)
            if i < a.size:
                tile[thread] = a[i]
            cuda.syncthreads()
            if i < a.size:
                a[i] = tile[here - 1 - thread]
    """
    guarded = """if i < a.size:
        tile[thread] = a[i]
    cuda.syncthreads()
    if i < a.size:
        a[i] = tile[here - 1 - thread]"""
    fault = (
        guarded,
        """if i >= a.size:
        return
    tile[thread] = a[i]
    cuda.syncthreads()
    a[i] = tile[here - 1 - thread]""",
    )
    wrong = {
        "all in the branch": (
            *("barrier", guarded),
            """if i < a.size:
        tile[thread] = a[i]
        cuda.syncthreads()
        a[i] = tile[here - 1 - thread]""",
        ),
        "a barrier in each branch": (
            *("barrier", guarded),
            """if i < a.size:
        tile[thread] = a[i]
        cuda.syncthreads()
        a[i] = tile[here - 1 - thread]
    else:
        cuda.syncthreads()""",
        ),
        "the return after the first store": (
            *("bounds", guarded),
            """tile[thread] = a[i]
    if i >= a.size:
        return
    cuda.syncthreads()
    a[i] = tile[here - 1 - thread]""",
        ),
        "the barrier before the return": (
            *("race", guarded),
            """cuda.syncthreads()
    if i >= a.size:
        return
    tile[thread] = a[i]
    a[i] = tile[here - 1 - thread]""",
        ),
        "no barrier": ("race", *NO_BARRIER),
        "no tile": (
            *("race", guarded),
            """if i >= a.size:
        return
    a[i] = a[i - thread + here - 1 - thread]""",
        ),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "no guard of the load": (
            *(
                "bounds",
                "if i < a.size:\n        tile",
                "if True:\n        tile",
            ),
        ),
        "no guard of the store": (
            *(
                "bounds",
                "if i < a.size:\n        a[i]",
                "if True:\n        a[i]",
            ),
        ),
        "as if each block were full": (
            *(
                "uninitialised",
                "min($block, a.size - $block * cuda.blockIdx.x)",
            ),
            "$block",
        ),
        "as if each block were full, and zeros in the tile": (
            *(
                "tail",
                "min($block, a.size - $block * cuda.blockIdx.x)",
                "$block",
            ),
            *("if i < a.size:\n        tile[thread] = a[i]",),
            "tile[thread] = a[i] if i < a.size else $type(0)",
        ),
        "the last element forgotten": (
            *(
                "wrong",
                "if i < a.size:\n        a[i]",
                "if i < a.size - 1:\n        a[i]",
            ),
        ),
    }
    hints = {
        "barrier": (
            "Take 65 elements in blocks of 64: which threads of the second block come "
            "to the barrier?",
            "Guard the loads and stores, and never the barrier.",
            "Two conditions, one before the barrier and one after it, in place of the "
            "`return`.",
        ),
    }


class RightToday(Explain):
    """In a colleague's kernel each thread stores to a tile and, with no barrier, loads
    its neighbour's cell. `emulate` reports a race. "It has passed its tests a thousand
    times on our GPU," says the colleague, "so I leave the barrier out." What do you
    answer? Say what the tests show and what they do not, and what the barrier changes.
    """

    stars, points = 2, 3
    rubric = {
        "tests saw some orders of the warps, and another order gives another answer": 1,
        "another GPU, compiler, block size or load can bring that other order": 1,
        "the barrier makes each store come before the loads in every order": 1,
    }
    model = (
        "The tests show that the answer was right in the orders in which the warps "
        "happened to run; nothing promises that order, and another GPU, another block "
        "size or another version of the compiler may bring a different one. With the "
        "barrier, all stores come before all loads in any order, so that the answer "
        "follows from the code and not from luck."
    )
