"""Exercises of lesson 2: what do 32 lanes do together, and what in turn?"""

from math import ceil

import numpy as np
from numba import cuda

from helpers import emulate
from helpers.exercises.exercise import Out, Predict, SpeedUp


class ActiveShare(Predict):
    """A kernel copies one element a thread, and there are exactly as many elements as
    threads. What share of all lanes is active, in blocks of $sizes threads?

    Answer with a dictionary from the size of a block to the share, such as
    {$example: 0.9, ...}: 1 is all of them. 0.01 more or less is near enough.
    """

    stars, points = 1, 2
    tolerance = 0.01
    choices = {"threads": ((16, 48, 96), (8, 40, 128), (24, 80, 64))}

    @property
    def sizes(self):
        first, second, third = self.threads
        return f"{first}, {second} and {third}"

    @property
    def example(self):
        return self.threads[0]

    def truth(self):
        return {threads: active_share(threads) for threads in self.threads}

    def belief(self, share):
        """What somebody predicts by a rule of one size."""
        return {threads: share(threads) for threads in self.threads}

    why = (
        "A block has whole warps of 32 lanes: those of its last warp that have no "
        "thread count, and are idle."
    )
    wrong = {
        "all lanes, always": lambda self: self.belief(lambda n: 1.0),
        "the lanes that are idle": lambda self: self.belief(
            lambda n: -n % 32 / 32
        ),
        "whole warps alone": lambda self: self.belief(
            lambda n: n // 32 * 32 / n
        ),
        "the last warp alone": lambda self: self.belief(lambda n: n % 32 / 32),
        "of 128 lanes": lambda self: self.belief(lambda n: n / 128),
    }


@cuda.jit
def copy(out, a):
    """Each thread copies its element."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def active_share(threads):
    """The active share of a copy with blocks of this size, as the emulator counts it."""
    a = np.ones(4 * threads, np.float32)
    run = emulate(copy)[4, threads](np.zeros_like(a), a)
    return round(float(run.divergence.active_share), 3)


class TwoWays(SpeedUp):
    """Elements of even index take one branch, those of odd index the other. The kernel
    does that, and each warp executes both branches. Bring it within its budget.
    """

    stars, points, any_block = 2, 3, True
    choices = {"grows": (0, 1), "steps": (24, 20), "rate": (0.05, 0.02)}
    even, ragged = (256, 384), (1, 2, 33, 151, 255)
    setup = "ROUNDS = $steps"

    @property
    def budget(self):
        return {
            "warp_instructions": 64 * self.steps,
            "active": 0.95,
            "operations": 1100 * self.steps,
        }

    def inputs(self, rng, n):
        # near the fixed points of both: larger ones grow without a limit
        return {"out": Out(n), "a": rng.uniform(-1, 3, n).astype(np.float32)}

    def launch(self, n):
        return ceil(n / 64), 64

    def spec(self, a):
        grow, bend = a[self.grows :: 2].copy(), a[self.bends :: 2].copy()
        for _ in range(self.steps):
            grow = grow * np.float32(self.keep) + np.float32(self.rate)
            bend = bend - bend * bend * np.float32(self.rate)
        out = np.empty_like(a)
        out[self.grows :: 2], out[self.bends :: 2] = grow, bend
        return out

    @property
    def bends(self):
        return 1 - self.grows

    @property
    def keep(self):
        return round(1 - self.rate, 2)

    @property
    def ways(self):
        grow = f"value * float32({self.keep}) + float32({self.rate})"
        bend = f"value - value * value * float32({self.rate})"
        return (bend, grow) if self.grows else (grow, bend)

    @property
    def even_way(self):
        return self.ways[0]

    @property
    def odd_way(self):
        return self.ways[1]

    @property
    def even_steps(self):
        return f"value = {self.even_way}; " * self.steps

    @property
    def odd_steps(self):
        return f"value = {self.odd_way}; " * self.steps

    given = """
        @cuda.jit
        def two_ways(out, a):
            \"\"\"Elements of even index take one branch, those of odd index the other.\"\"\"
            i = cuda.grid(1)
            if i < a.size:
                value = a[i]
                if i % 2 == 0:
                    for _ in range(ROUNDS):
                        value = $even_way
                else:
                    for _ in range(ROUNDS):
                        value = $odd_way
                out[i] = value
    """
    answer = """
        @cuda.jit
        def two_ways(out, a):
            \"\"\"The first threads take the even elements, the others the odd ones.\"\"\"
            thread, half = cuda.grid(1), (a.size + 1) // 2
            if thread < half:
                i = 2 * thread
                value = a[i]
                for _ in range(ROUNDS):
                    value = $even_way
                out[i] = value
            elif thread < a.size:
                i = 2 * (thread - half) + 1
                value = a[i]
                for _ in range(ROUNDS):
                    value = $odd_way
                out[i] = value
    """
    wrong = {
        "no guard": ("bounds", "elif thread < a.size:", "else:"),
        "half rounded down": ("bounds", "(a.size + 1) // 2", "a.size // 2"),
        "the halves side by side": (
            "wrong",
            "i = 2 * thread",
            "i = thread",
            "i = 2 * (thread - half) + 1",
            "i = thread",
        ),
        "the branches swapped": ("wrong", "$even_way", "$odd_way"),
        "odd elements from the start": (
            "race",
            "2 * (thread - half) + 1",
            "2 * (thread - half)",
        ),
        "one branch for all": ("wrong", "$odd_way", "$even_way"),
        "one step too few": ("wrong", "range(ROUNDS)", "range(ROUNDS - 1)"),
        "works in the input": (
            "writes_input",
            "value = a[i]\n        for _ in range(ROUNDS):\n            value = $even_way",
            "a[i] *= float32(1)\n        value = a[i]\n        for _ in range(ROUNDS):\n"
            "            value = $even_way",
        ),
        "both branches for all, without a loop": (
            "over_budget:operations",
            """
            @cuda.jit
            def two_ways(out, a):
                \"\"\"Each thread computes both, whose steps are all written down.\"\"\"
                i = cuda.grid(1)
                if i < a.size:
                    value = a[i]
                    $even_steps
                    even, value = value, a[i]
                    $odd_steps
                    out[i] = even if i % 2 == 0 else value
            """,
        ),
        "half a warp each": (
            "over_budget:warp_instructions",
            """
            @cuda.jit
            def two_ways(out, a):
                \"\"\"16 lanes take even elements, the other 16 the odd ones.\"\"\"
                half = cuda.laneid // 16
                i = cuda.grid(1) - cuda.laneid + 2 * (cuda.laneid % 16) + half
                if i < a.size:
                    value = a[i]
                    if half == 0:
                        for _ in range(ROUNDS):
                            value = $even_way
                    else:
                        for _ in range(ROUNDS):
                            value = $odd_way
                    out[i] = value
            """,
        ),
        "both branches for all": (
            "over_budget:warp_instructions",
            """
            @cuda.jit
            def two_ways(out, a):
                \"\"\"Each thread computes both, and keeps one.\"\"\"
                i = cuda.grid(1)
                if i < a.size:
                    value = a[i]
                    for _ in range(ROUNDS):
                        value = $even_way
                    even, value = value, a[i]
                    for _ in range(ROUNDS):
                        value = $odd_way
                    out[i] = even if i % 2 == 0 else value
            """,
        ),
        "both branches, without a loop": (
            "over_budget:active",
            """
            @cuda.jit
            def two_ways(out, a):
                \"\"\"Each warp takes both branches, whose steps are all written down.\"\"\"
                i = cuda.grid(1)
                if i < a.size:
                    value = a[i]
                    if i % 2 == 0:
                        $even_steps
                    else:
                        $odd_steps
                    out[i] = value
            """,
        ),
        "busywork for all lanes": (
            "over_budget:warp_instructions",
            """
            @cuda.jit
            def two_ways(out, a):
                \"\"\"All lanes count to 1,000 first, so that few are idle on average.\"\"\"
                i = cuda.grid(1)
                if i < a.size:
                    value, busy = a[i], 0
                    for turn in range(1000):
                        busy += turn * i
                    if i % 2 == 0:
                        for _ in range(ROUNDS):
                            value = $even_way
                    else:
                        for _ in range(ROUNDS):
                            value = $odd_way
                    out[i] = value if busy >= 0 else float32(0)
            """,
        ),
    }
    hints = {
        "over_budget:warp_instructions": (
            "Write down the branch that each lane of the first warp takes. How many "
            "instructions does the warp execute for them?",
            "A warp executes both branches as soon as two of its lanes disagree; it "
            "also does where each lane computes both and keeps one. Who takes which "
            "element is up to you.",
            "Let whole warps take even elements, and other warps odd ones: compute `i` "
            "from the thread's number so that all lanes of a warp agree.",
        ),
    }
