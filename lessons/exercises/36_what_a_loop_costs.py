"""Exercises of lesson 36: what a loop makes a warp execute, and whose gain is whose."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, Out, Predict, SpeedUp


class InstructionsOfALoop(Predict):
    """The compiler has written the body of a loop out $times times, so that each turn of
    the loop in the machine makes $times steps. The body of one step has $body machine
    instructions. Another $counting, once in a turn, count and jump back. How many
    instructions does a warp execute for $steps steps? And how many would it be if the
    body were not written out? Answer with a dictionary:
    `{"written out": ..., "not": ...}`.
    """

    stars, points = 1, 2
    choices = {
        "times": (4, 16),
        "body": (6, 9),
        "counting": (8, 12),
        "steps": (320, 1600),
    }

    def truth(self):
        turns = self.steps // self.times
        return {
            "written out": self.steps * self.body + turns * self.counting,
            "not": self.steps * (self.body + self.counting),
        }

    why = {
        "written out": "Each step has a body of its own, and each turn counts once.",
        "not": "Each turn makes one step, and counts for it.",
    }
    wrong = {
        "the other way round": lambda self: dict(
            zip(self.truth(), reversed(self.truth().values()), strict=True)
        ),
        "a body for each turn": lambda self: self.truth()
        | {"written out": self.steps // self.times * (self.body + self.counting)},
        "what is counted comes once": lambda self: {
            "written out": self.steps * self.body + self.counting,
            "not": self.steps * self.body + self.counting,
        },
        "a turn for each step, both times": lambda self: {
            "written out": self.steps * (self.times * self.body + self.counting),
            "not": self.steps * (self.body + self.counting),
        },
    }


LOOPS = {  # the first line of a loop, and is its length known?
    "for k in range(TILE)": True,
    "for k in range(n)": False,
    "for k in range(a.shape[1])": False,
    "for k in range(tile.shape[1])": True,
    "for k in range(cuda.blockDim.x)": False,
    "for k in range(at, at + 8)": True,
    "for k in range(0, TILE, 4)": True,
    "for k in range(thread, TILE)": False,
    "for k in range(min(n, 8))": False,
}


class KnownLengths(Predict):
    """Each of these is a loop of one kernel. `TILE = 32` stands above the kernel. `n` and
    `a` are arguments, a number and an array; `tile` is `cuda.shared.array((16, 8),
    float32)`; `thread` is `cuda.threadIdx.x`; and `at` is some number that was computed
    before. Is the number of steps "known" to the compiler, which could write the loop
    out whole, or "unknown"? Answer with a dictionary:
    `{"A": ..., "B": ..., "C": ..., "D": ...}`.

    $listing
    """

    stars, points = 1, 2
    options = "known", "unknown"
    choices = {"picked": ((0, 2, 5, 7), (3, 1, 6, 4), (4, 5, 8, 0), (2, 3, 7, 6))}

    @property
    def loops(self):
        lines = list(LOOPS)
        return dict(zip("ABCD", (lines[n] for n in self.picked), strict=True))

    @property
    def listing(self):
        told = (f"    {name}: {line}:" for name, line in self.loops.items())
        return "\n".join(told).lstrip()

    def truth(self):
        return {
            name: "known" if LOOPS[line] else "unknown"
            for name, line in self.loops.items()
        }

    why = (
        "A kernel is compiled for the types of its arguments, not for their values, and "
        "not for a launch."
    )
    wrong = {
        "the other way round": lambda self: {
            name: "unknown" if it == "known" else "known"
            for name, it in self.truth().items()
        },
        "all are": lambda self: dict.fromkeys("ABCD", "known"),
        "only what is a number is": lambda self: {
            name: "known" if line == "for k in range(TILE)" else "unknown"
            for name, line in self.loops.items()
        }
        | {"A": "unknown"},
    }


class WhoseGain(Explain):
    """A kernel reads a table in global memory in a loop, `for k in range(n)`. A colleague
    copies the table into shared memory, and loops there with `for k in range($length)`,
    since $length is what `n` always was. It is four times as fast, and the report says:
    "shared memory is four times as fast here". What else has changed? Name the launch
    that would show what shared memory gains alone, and another that would show what the
    rest does.
    """

    stars, points = 2, 4
    choices = {"length": (32, 64)}
    rubric = {
        "the loop's length is known now, so it can be written out whole": 1,
        "so each step counts less, or nothing, and its indices are constants": 1,
        "a launch from global memory with the known length shows the loop's part": 1,
        "beside it, the launch from shared memory with the same loop shows the other": 1,
    }
    model = (
        "The length of the loop is known, too, so the compiler writes it out, and needs "
        "neither the counting of `range` nor new indices in each step. I would measure "
        "the loop of known length over global memory. Against the old kernel it shows "
        "what the loop gains; against the new one, what shared memory does."
    )


class LeanLoop(SpeedUp):
    """Add up each column of `a`: each thread adds up one. The kernel is right, but `range`
    keeps count with instructions that copy registers. Write a loop that needs fewer.
    """

    stars, points = 2, 3
    choices = {"what": ("sum", "max"), "threads": (64, 128)}
    ragged = ((1, 1), (70, 50), (3, 260))
    budget = {"moves": 24}

    @property
    def ordered(self):
        return ("a",) if self.what == "max" else ()

    @property
    def even(self):
        return ((24, 2 * self.threads),)

    def inputs(self, rng, rows, cols):
        a = numbers(rng, np.float32, -9, 10, (rows, cols))
        return {"out": Out(cols), "a": a}

    def launch(self, rows, cols):
        return ceil(cols / self.threads), self.threads

    def spec(self, a):
        return getattr(np, self.what)(a, axis=0)

    @property
    def start(self):
        return {"sum": "float32(0)", "max": "float32(-np.inf)"}[self.what]

    @property
    def step(self):
        cell = "a[row, col]"
        return {"sum": f"total + {cell}", "max": f"max(total, {cell})"}[self.what]

    given = """
        @cuda.jit
        def lean_loop(out, a):
            \"\"\"Each thread goes down a column.\"\"\"
            col = cuda.grid(1)
            if col < out.size:
                total = $start
                for row in range(a.shape[0]):
                    total = $step
                out[col] = total
    """
    answer = """
        @cuda.jit
        def lean_loop(out, a):
            \"\"\"Each thread goes down a column.\"\"\"
            col = cuda.grid(1)
            if col < out.size:
                total, row = $start, 0
                while row < a.shape[0]:
                    total = $step
                    row += 1
                out[col] = total
    """
    wrong = {
        "a range with a step": (
            *("over_budget:moves", "total, row = $start, 0", "total = $start"),
            *("while row < a.shape[0]:", "for row in range(0, a.shape[0], 1):"),
            *("row += 1", "pass"),
        ),
        "a range without a sign": (
            *("over_budget:moves", "total, row = $start, 0", "total = $start"),
            *("while row < a.shape[0]:", "for row in range(uint32(a.shape[0])):"),
            *("row += 1", "pass"),
        ),
        "no guard": ("bounds", "if col < out.size:", "if True:"),
        "one row too many": ("bounds", "row < a.shape[0]", "row <= a.shape[0]"),
        "one row too few": ("wrong", "row < a.shape[0]", "row < a.shape[0] - 1"),
        "not the first row": ("wrong", "$start, 0", "$start, 1"),
        "every second row": ("wrong", "row += 1", "row += 2"),
        "as many rows as columns": (
            *("bounds", "row < a.shape[0]", "row < a.shape[1]"),
        ),
        "32 rows at most": ("tail", "row < a.shape[0]", "row < min(a.shape[0], 32)"),
    }
    hints = {
        "over_budget:moves": (
            "Ask `assemble` which line the instructions that copy registers belong to.",
            "`range` keeps two numbers, the next one and how many are left, and asks at "
            "each step whether there is a next one.",
            "Count in a variable of your own, from 0, in a `while` loop.",
        ),
    }
