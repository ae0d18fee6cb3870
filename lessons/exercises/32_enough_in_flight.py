"""Exercises of lesson 32: what lets blocks in, more numbers a thread, the last block."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Predict, SpeedUp
from thirty_two_lanes.core.occupancy import occupancy_of

H200 = 9, 0
KB = 1024
FMAS = 1024  # of a thread
LATENCY = 4  # cycles, of an FMA
SCHEDULERS = 4


class WarpsLetIn(Predict):
    """How many warps of a kernel does a multiprocessor of an H200 hold at a time? A
    block has $threads threads; a thread takes $registers registers, and a block $kb KB
    of shared memory.

    A multiprocessor has places for 64 warps. Each of its four parts has 16,384
    registers, of which a warp gets a multiple of 256, and takes an equal share of the
    warps. There are 228 KB of shared memory, of which the system keeps 1 KB for each
    block.

    Predict, as a dictionary with four keys: `"registers"`, for how many blocks the
    registers leave room; `"shared"`, for how many the shared memory does; `"warps"`,
    how many warps are held; `"freed"`, how many if a block takes no shared memory.
    """

    stars, points = 1, 2
    choices = {"case": ((256, 33, 60), (128, 49, 30), (256, 49, 70))}

    threads = property(lambda self: self.case[0])
    registers = property(lambda self: self.case[1])
    kb = property(lambda self: self.case[2])

    def held(self, kb):
        return occupancy_of(H200, self.threads, self.registers, kb * KB)

    def truth(self):
        """By the rules of NVIDIA's occupancy calculator."""
        held = self.held(self.kb)
        return {
            "registers": held.limits["registers"],
            "shared": held.limits["shared memory"],
            "warps": held.warps,
            "freed": self.held(0).warps,
        }

    why = {
        "registers": "A warp gets whole pieces of registers, of one part.",
        "shared": "Each block takes what it asks for, and what the system keeps for it.",
        "warps": "The scarcest of the resources decides, and blocks come whole.",
        "freed": "Then another resource is the scarcest.",
    }
    wrong = {
        "registers to the last one": lambda self: (
            self.truth() | {"registers": 65536 // (self.threads * self.registers)}
        ),
        "nothing is kept": lambda self: self.truth() | {"shared": 228 // self.kb + 1},
        "registers alone decide": lambda self: (
            self.truth() | {"warps": self.truth()["freed"]}
        ),
        "blocks for warps": lambda self: (
            self.truth() | {"warps": self.truth()["shared"]}
        ),
        "all are let in": lambda self: self.truth() | {"freed": 64},
    }


class PointsAtOnce(SpeedUp):
    """Evaluate a polynomial at many points; `weights` has its coefficients, the one of
    the highest power first. Each thread has $each points, a block's threads apart. The
    kernel is right, but takes one point after the other: it loads all weights for each
    of them, and has one chain of FMAs in flight. Take all points of a thread at
    once, so that each load of a weight serves $each of them.
    """

    stars, points = 2, 3
    choices = {
        "each": (4, 3, 2),
        "threads": (64, 128),
        "type": ("float32", "float64"),
    }
    ragged = ((1, 1), (33, 3), (129, 2), (700, 4))
    limits = None, 16

    @property
    def even(self):
        block = self.each * self.threads
        return (2 * block, 8), (block, 5)

    @property
    def budget(self):
        return {
            "loads": {"weights": 2 * self.threads, "points": 1, "out": 0},
            "sectors": "ideal",
        }

    def inputs(self, rng, n, terms):
        return {
            "out": Out(n, self.type),
            "points": rng.uniform(0.1, 1, n).astype(self.type),
            "weights": numbers(rng, self.type, 1, 9, terms),
        }

    def launch(self, n, terms):
        return ceil(n / (self.each * self.threads)), self.threads

    def spec(self, points, weights):
        return np.polyval(weights, points)

    setup = "EACH = $each"
    given = '''
        @cuda.jit
        def points_at_once(out, points, weights):
            """Each thread evaluates a polynomial at one point after the other."""
            first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
            for n in range(EACH):
                i = first + n * cuda.blockDim.x
                if i < out.size:
                    at, value = points[i], $type(0)
                    for k in range(weights.size):
                        value = value * at + weights[k]
                    out[i] = value
    '''
    answer = '''
        @cuda.jit
        def points_at_once(out, points, weights):
            """Each thread evaluates a polynomial at all of its points."""
            first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
            at = cuda.local.array(EACH, $type)
            value = cuda.local.array(EACH, $type)
            for n in range(EACH):
                i = first + n * cuda.blockDim.x
                at[n] = points[i] if i < out.size else $type(0)
                value[n] = 0
            for k in range(weights.size):
                weight = weights[k]
                for n in range(EACH):
                    value[n] = value[n] * at[n] + weight
            for n in range(EACH):
                i = first + n * cuda.blockDim.x
                if i < out.size:
                    out[i] = value[n]
    '''
    wrong = {
        "loads beyond the end": ("bounds",
            "points[i] if i < out.size else $type(0)", "points[i]"),
        "stores beyond the end": ("bounds", "if i < out.size:", "if True:"),
        "one too far": ("bounds", "if i < out.size:", "if i <= out.size:"),
        "loses the last": ("tail", "if i < out.size:", "if i < out.size // 2 * 2:"),
        "one point alone": ("wrong",
            "for n in range(EACH):\n        i = first + n * cuda.blockDim.x\n        if",
            "for n in range(1):\n        i = first + n * cuda.blockDim.x\n        if"),
        "the first point for all": ("wrong", "value[n] * at[n]", "value[n] * at[0]"),
        "no highest power": ("wrong",
            "range(weights.size)", "range(1, weights.size)"),
        "weights backwards": ("wrong", "= weights[k]", "= weights[weights.size - 1 - k]"),
        "points of the first block": ("wrong",
            "points[i]", "points[cuda.threadIdx.x + n * cuda.blockDim.x]"),
        "a weight for each point": ("over_budget:loads",
            "for k in range(weights.size):\n        weight = weights[k]\n"
            "        for n in range(EACH):\n"
            "            value[n] = value[n] * at[n] + weight",
            "for n in range(EACH):\n        for k in range(weights.size):\n"
            "            value[n] = value[n] * at[n] + weights[k]"),
        "neighbours for a thread": ("over_budget:sectors",
            "first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x",
            "first = EACH * cuda.grid(1)",
            "i = first + n * cuda.blockDim.x\n        at", "i = first + n\n        at",
            "i = first + n * cuda.blockDim.x\n        if", "i = first + n\n        if"),
    }
    hints = {
        "over_budget:loads": (
            "For how many points does a thread use a weight that it has loaded?",
            "Let the loop over the weights be the outer one, and the loop over a "
            "thread's points the inner one.",
            "Keep the points and their values in two arrays of `cuda.local.array(EACH, "
            "...)`: each index is known, so they are in registers.",
        ),
    }


class OneBlockMore(Predict):
    """Each scheduler of a multiprocessor can issue one FMA of a warp in a cycle, and
    its result is there after $latency cycles. There are four schedulers, which take
    equal shares of a block's warps. A thread makes $fmas FMAs, in $chains, and nothing
    else. A GPU has 132 multiprocessors, and each holds $places blocks of $threads
    threads at a time, which end together.

    Predict, as a dictionary with three keys, all in cycles: `"alone"`, how long a block
    takes that has a multiprocessor for itself; `"round"`, how long a launch of
    132 · $places blocks takes; and `"more"`, how long one of a block more takes.
    """

    stars, points = 3, 3
    choices = {"case": ((256, 1, 8), (128, 2, 8), (128, 1, 8))}

    latency, fmas = LATENCY, FMAS
    threads = property(lambda self: self.case[0])
    places = property(lambda self: self.case[2])

    @property
    def chains(self):
        return "one chain" if self.case[1] == 1 else f"{self.case[1]} chains"

    def cycles(self, blocks):
        """Of blocks that share a multiprocessor: they issue, or wait for results."""
        issued = blocks * self.threads // 32 // SCHEDULERS * FMAS
        return max(issued, LATENCY * FMAS // self.case[1])

    def truth(self):
        alone, full = self.cycles(1), self.cycles(self.places)
        return {"alone": alone, "round": full, "more": full + alone}

    why = {
        "alone": "Are the block's chains enough to have an FMA to issue in each cycle?",
        "round": "How many FMAs does each scheduler issue for all blocks that share it?",
        "more": "The last block begins when others have ended, and is alone.",
    }
    wrong = {
        "alone as if it were full": lambda self: (
            self.truth() | {"alone": self.threads // 128 * FMAS}
        ),
        "a round of blocks in turn": lambda self: (
            self.truth() | {"round": self.places * self.cycles(1)}
        ),
        "as long as another round": lambda self: (
            self.truth() | {"more": 2 * self.cycles(self.places)}
        ),
        "its share of a round": lambda self: (
            self.truth()
            | {"more": self.cycles(self.places) * (self.places + 1) // self.places}
        ),
    }
