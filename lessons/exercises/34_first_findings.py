"""Two more exercises of lesson 34: a test that passes, and what a report says first."""

from textwrap import indent

import numpy as np

from helpers import emulate
from helpers.exercises import sources
from helpers.exercises.exercise import Explain, Predict


class ItPasses(Explain):
    """A test launches a kernel for 1,024 elements, all of them 1, in blocks of 256, once,
    and compares the sum that comes out. It passes. Name three changes of this test, and
    for each a fault that it would find.
    """

    stars, points = 2, 3
    rubric = {
        "a size that is no multiple of the block, such as 1,000 or 1: the tail, guards": 1,
        "random numbers: an element that is taken twice and another left out, indices": 1,
        "several seeds, or a look at the races: an order that was lucky": 1,
    }
    model = (
        "With 1,000 elements, or one, the last block is not full, which shows a missing "
        "guard and cells that nobody filled. With random numbers an element that was "
        "taken twice no longer makes up for one that was left out. With several seeds, "
        "and `run.races` in each, a missing barrier shows that the first order hid."
    )


POOL = {
    "an update by all": ("out[0] += a[thread]",),
    "cells that two threads share": (
        "tile[thread % 32] = a[thread]",
        "cuda.syncthreads()",
        "out[thread] = tile[thread % 32]",
    ),
    "a tile that is half full": (
        "if thread < 32:",
        "    tile[thread] = a[thread]",
        "cuda.syncthreads()",
        "out[thread] = tile[63 - thread]",
    ),
    "a barrier for the first warp": (
        "tile[thread] = a[thread]",
        "if thread < 32:",
        "    cuda.syncthreads()",
        "out[thread] = tile[thread]",
    ),
    "the next one": (
        "if thread < a.size:",
        "    out[thread] = a[thread + 1] - a[thread]",
    ),
    "nothing wrong": (
        "tile[thread] = a[thread]",
        "tile[thread] = 2 * tile[thread]",
        "out[thread] = tile[thread]",
    ),
    "backwards": (
        "tile[thread] = a[thread]",
        "cuda.syncthreads()",
        "out[63 - thread] = tile[63 - thread]",
    ),
}


WHY = {
    "race": "Two threads touch one cell, one of them stores, and nothing orders them.",
    "barrier": "Some threads of the block do not come to the barrier.",
    "uninitialised": "A cell is read to which no thread has stored.",
    "error": "The last thread's index is one more than its condition asks about.",
    "nothing": "What one thread stores and another loads has a barrier between.",
}


class FirstFinding(Predict):
    """Each of these is the body of a kernel that is launched with one block of 64
    threads; `a` and `out` have 64 elements, `tile` is a shared array of 64 numbers, and
    `thread` is `cuda.threadIdx.x`. What does `emulate` report first? Answer with a
    dictionary: `{"A": ..., "B": ..., "C": ..., "D": ...}`.

    $listing
    """

    stars, points = 1, 2
    options = "race", "barrier", "uninitialised", "error", "nothing"
    choices = {
        "picked": ((1, 4, 2, 5), (0, 6, 2, 3), (2, 4, 6, 1), (5, 3, 0, 2))
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

    def finding(self, lines):
        head = (
            "@cuda.jit\ndef kernel(out, a):",
            "    thread = cuda.threadIdx.x",
        )
        tile = "    tile = cuda.shared.array(64, float32)"
        text = "\n".join([*head, tile, self.code(lines)])
        launch = emulate(sources.kernel_of(text, "kernel"))[1, 64]
        try:
            run = launch(
                np.zeros(64, np.float32), np.arange(64, dtype=np.float32)
            )
        except IndexError:
            return "error"
        found = {
            "race": run.races,
            "barrier": run.barriers,
            "uninitialised": run.uninitialised,
        }
        return next((word for word, told in found.items() if told), "nothing")

    def truth(self):
        return {key: self.finding(lines) for key, lines in self.bodies.items()}

    @property
    def why(self):
        return {key: WHY[found] for key, found in self.truth().items()}

    wrong = {
        "a barrier makes all right": lambda self: {
            key: "nothing"
            if "cuda.syncthreads()" in lines
            else self.finding(lines)
            for key, lines in self.bodies.items()
        },
        "a guard makes all right": lambda self: {
            key: "nothing" if lines[0][:2] == "if" else self.finding(lines)
            for key, lines in self.bodies.items()
        },
        "each fault is a race": lambda self: {
            key: "nothing" if told == "nothing" else "race"
            for key, told in self.truth().items()
        },
        "shared memory starts at zero": lambda self: {
            key: "nothing" if told in ("uninitialised", "barrier") else told
            for key, told in self.truth().items()
        },
    }
