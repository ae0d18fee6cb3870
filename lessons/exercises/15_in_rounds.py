"""Exercises of lesson 15 in which a block fills its tile again and again."""

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, SpeedUp, Write

NO_BARRIER = "cuda.syncthreads()", "pass"
WARPS_ONLY = "cuda.syncthreads()", "cuda.syncwarp()"


class Relay(SpeedUp):
    """A block of 64 threads walks along `a`, 64 elements a round. In each round, each
    thread adds $how of its neighbours' elements to its total, right $sign left;
    threads 63 and 0 are neighbours, too. Beyond the end, elements count as 0.

    The kernel waits twice a round. Use one barrier a round.
    """

    stars, points, work = 3, 4, 2
    choices = {
        "ufunc": ("subtract", "multiply"),
        "type": ("float32", "int32"),
        "rounds": (8, 7),
    }

    @property
    def even(self):
        return 64 * self.rounds, 128

    ragged = 1, 65, 200

    @property
    def budget(self):
        return {
            "barriers": self.rounds,
            "loads": {"a": 1},
            "shared_bytes": 512,
        }

    @property
    def how(self):
        return {"subtract": "the difference", "multiply": "the product"}[
            self.ufunc
        ]

    @property
    def sign(self):
        return {"subtract": "-", "multiply": "*"}[self.ufunc]

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -100, 100, size)
        near = np.arange(size) % 4 > 1  # the other factor of a product is large
        a[near] = rng.uniform(-50, 50, near.sum())
        return {"out": Out(64, self.type), "a": a}

    def launch(self, size):
        return 1, 64

    def spec(self, a):
        rounds = np.pad(a, (0, -a.size % 64)).reshape(-1, 64)
        right, left = np.roll(rounds, -1, axis=1), np.roll(rounds, 1, axis=1)
        return getattr(np, self.ufunc)(right, left).sum(axis=0)

    given = """
        @cuda.jit
        def relay(out, a):
            \"\"\"Fill the tile, wait, use both neighbours, wait.\"\"\"
            tile = cuda.shared.array(64, $type)
            thread = cuda.threadIdx.x
            right, left = (thread + 1) % 64, (thread + 63) % 64
            total = $type(0)
            for first in range(0, a.size, 64):
                i = first + thread
                tile[thread] = a[i] if i < a.size else $type(0)
                cuda.syncthreads()
                total += tile[right] $sign tile[left]
                cuda.syncthreads()
            out[thread] = total
    """
    answer = """
        @cuda.jit
        def relay(out, a):
            \"\"\"Fill a tile, wait, use both neighbours; tiles take turns.\"\"\"
            tile = cuda.shared.array((2, 64), $type)
            thread = cuda.threadIdx.x
            right, left = (thread + 1) % 64, (thread + 63) % 64
            total = $type(0)
            turn = 0
            for first in range(0, a.size, 64):
                i = first + thread
                tile[turn, thread] = a[i] if i < a.size else $type(0)
                cuda.syncthreads()
                total += tile[turn, right] $sign tile[turn, left]
                turn = 1 - turn
            out[thread] = total
    """
    wrong = {
        "one tile and one barrier": ("race", "turn = 1 - turn", "turn = 0"),
        "the barrier after the use": (
            *("race", *NO_BARRIER, "turn = 1 - turn"),
            "turn = 1 - turn\n        cuda.syncthreads()",
        ),
        "no barrier": ("race", *NO_BARRIER),
        "a barrier for warps only": ("race", *WARPS_ONLY),
        "a barrier every other round": (
            *("race", "cuda.sync", "if turn == 0:\n            cuda.sync"),
        ),
        "two tiles and two barriers": (
            *("over_budget:barriers", "turn = 1 - turn"),
            "turn = 1 - turn\n        cuda.syncthreads()",
        ),
        "three tiles": (
            *("over_budget:shared_bytes", "(2, 64)", "(3, 64)"),
            *("turn = 1 - turn", "turn = (turn + 1) % 3"),
        ),
        "no tile": (
            "over_budget:loads",
            """
            @cuda.jit
            def relay(out, a):
                thread = cuda.threadIdx.x
                right, left = (thread + 1) % 64, (thread + 63) % 64
                total = $type(0)
                for first in range(0, a.size, 64):
                    one = a[first + right] if first + right < a.size else $type(0)
                    other = a[first + left] if first + left < a.size else $type(0)
                    total += one $sign other
                out[thread] = total
            """,
        ),
        "no guard": ("bounds", "a[i] if i < a.size else $type(0)", "a[i]"),
        "a loop of each thread's own": (
            *("barrier", "range(0, a.size, 64)", "range(thread, a.size, 64)"),
            *("i = first + thread", "i = first"),
        ),
        "the total of the last round": ("wrong", "total +=", "total ="),
        "no circle": ("wrong", "(thread + 63) % 64", "max(thread - 1, 0)"),
    }
    hints = {
        "race": (
            "With one barrier a round, how far may one warp be ahead of another?",
            "A warp may fill the tile of the next round while another one still reads "
            "this round's, so those two must not share cells.",
            "Make the tile `(2, 64)`, and use one row in even rounds and the other in "
            "odd ones.",
        ),
    }


class Scan(Write):
    """Make prefix sums of an array of any length with one block of $block threads, which
    walks along `a`, $block elements a round: `out[i]` is the sum of `a[i]` and of all
    elements before it. Load each element once, and add up in a few rounds, as in
    `block_scan`.
    """

    stars, points = 3, 5
    choices = {"block": (64, 96), "type": ("float32", "int32")}
    ragged = 1, 65, 200

    @property
    def even(self):
        return 3 * self.block, self.block

    @property
    def budget(self):
        rounds, warps = {64: (6, 2), 96: (7, 3)}[self.block]
        return {
            "loads": {"a": 1},
            "barriers": 3 * (2 * rounds + 2),
            "shared_bytes": 1024,
            "shared_requests": 3 * 4 * rounds * warps,
        }

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -50, 100, size)
        return {"out": Out(size, self.type), "a": a}

    def launch(self, size):
        return 1, self.block

    def spec(self, a):
        return np.cumsum(a)

    @property
    def last(self):
        return self.block - 1

    answer = """
        @cuda.jit
        def scan(out, a):
            \"\"\"One block makes the prefix sums of the array.\"\"\"
            tile = cuda.shared.array($block, $type)
            thread = cuda.threadIdx.x
            carry = $type(0)
            for first in range(0, a.size, $block):
                i = first + thread
                own = a[i] if i < a.size else $type(0)
                tile[thread] = own
                step = 1
                while step < $block:
                    cuda.syncthreads()
                    taken = tile[thread - step] if thread >= step else $type(0)
                    cuda.syncthreads()
                    tile[thread] += taken
                    step *= 2
                if i < a.size:
                    out[i] = carry + tile[thread]
                cuda.syncthreads()
                carry += tile[$last]
                cuda.syncthreads()
    """
    wrong = {
        "no barrier before the carry": (
            *("race", "cuda.syncthreads()\n        carry", "carry"),
        ),
        "no barrier after the carry": (
            *(
                "race",
                "carry += tile[$last]\n        cuda.syncthreads()",
                "carry += tile[$last]",
            ),
        ),
        "no barrier before the loads": ("race", *NO_BARRIER),
        "no barrier before the stores": (
            *(
                "race",
                "cuda.syncthreads()\n            tile",
                "pass\n            tile",
            ),
        ),
        "only threads with an element wait": (
            *(
                "barrier",
                "for first in range(0, a.size, $block):\n        i = first + thread",
            ),
            "for i in range(thread, a.size, $block):",
        ),
        "no carry": ("wrong", "carry + tile", "tile"),
        "the carry of the last round only": ("wrong", "carry +=", "carry ="),
        "the carry of the thread's own cell": (
            "wrong",
            "tile[$last]",
            "tile[thread]",
        ),
        "no guard of the load": (
            "bounds",
            "a[i] if i < a.size else $type(0)",
            "a[i]",
        ),
        "no guard of the store": ("bounds", "if i < a.size:\n", "if True:\n"),
        "one round too few": ("wrong", "step < $block", "step < $block // 2"),
        "whole rounds only": (
            "tail",
            "range(0, a.size, $block)",
            "range(0, a.size - $last, $block)",
        ),
        "without the element itself": (
            *("wrong", "carry + tile[thread]", "carry + tile[thread] - own"),
        ),
        "one thread does all": (
            "over_budget:work",
            """
            @cuda.jit
            def scan(out, a):
                if cuda.threadIdx.x == 0:
                    total = $type(0)
                    for i in range(a.size):
                        total += a[i]
                        out[i] = total
            """,
        ),
        "each thread adds up from the start": (
            "over_budget:loads",
            """
            @cuda.jit
            def scan(out, a):
                for i in range(cuda.threadIdx.x, a.size, $block):
                    total = $type(0)
                    for j in range(i + 1):
                        total += a[j]
                    out[i] = total
            """,
        ),
    }
    hints = {
        "race": (
            "The cells of the tile live through all rounds: whose load of the last round "
            "does the store in the report overtake?",
            "Everyone needs the round's last cell for the carry, and the next round fills "
            "it anew.",
            "Put a barrier before the line that adds the last cell to the carry, and one "
            "after it.",
        ),
    }
