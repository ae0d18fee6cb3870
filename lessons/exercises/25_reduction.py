"""Exercises of lesson 25: many numbers in, one number out."""

from math import ceil

import numpy as np
from numba import cuda, float32

from helpers import emulate
from helpers.exercises.arguments import full, numbers
from helpers.exercises.exercise import Fix, InOut, Out, Predict, SpeedUp, Write


@cuda.jit
def interleaved(out, step):
    """Add to each cell whose number is a multiple of twice the step."""
    cells = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    cells[thread] = thread
    cuda.syncthreads()
    if thread % (2 * step) == 0:
        out[thread] = cells[thread]


@cuda.jit
def strided(out, step):
    """Add to the same cells, by the first threads."""
    cells = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    cells[thread] = thread
    cuda.syncthreads()
    if 2 * step * thread < 256:
        out[thread] = cells[2 * step * thread]


class StepOfATree(Predict):
    """A block of 256 threads adds up 256 numbers of type float32 in shared memory, as a
    tree: a step of s adds to some cells what is s cells further on.

    Predict, as a dictionary with three keys. `"lanes"`: in a step of $step, thread `t`
    adds to cell `t` if `t % (2 * $step) == 0`; in how many lanes of the first warp does
    it? `"wavefronts"`: in a step of $step, thread `t` adds to cell `2 * $step * t`, if
    there is one; how many wavefronts does the first warp take to load these cells?
    `"warps"`: in a step of $half, thread `t` adds to cell `t` if `t < $half`; in how many
    warps of the block does a thread add?
    """

    points = 2
    choices = {"step": (2, 4, 16), "half": (64, 128, 32)}

    def truth(self):
        out = np.zeros(256, np.float32)
        lanes, wide = (emulate(it)[1, 256](out, self.step) for it in (interleaved, strided))
        loads = wide.bank_conflicts.by_kind["load"]
        return {
            "lanes": lanes.bank_conflicts.by_kind["load"].active_lanes // 8,
            "wavefronts": loads.wavefronts // loads.requests,
            "warps": ceil(self.half / 32),
        }

    why = {
        "lanes": "The condition is true for one thread in 2 * $step.",
        "wavefronts": "Cells 32 words apart queue; threads without a cell do not.",
        "warps": "The threads that add are neighbours: they fill whole warps.",
    }
    wrong = {
        "all lanes add": lambda self: self.truth() | {"lanes": 32},
        "lanes of the block": lambda self: self.truth() | {"lanes": 128 // self.step},
        "no conflicts": lambda self: self.truth() | {"wavefronts": 1},
        "the stride is the step": lambda self: self.truth() | {"wavefronts": self.step},
        "all warps add": lambda self: self.truth() | {"warps": 8},
        "threads that add": lambda self: self.truth() | {"warps": self.half},
    }
    hints = {
        "wrong": (
            "Write down the first few threads that add, and the cells that they load.",
            "A warp is 32 neighbours; a cell's bank is its number modulo 32.",
            "Cells 32 apart are in one bank. How many of the first warp's cells are?",
        )
    }


class Spread(Fix):
    """Each block of 128 threads computes the variance of its 128 numbers: their mean
    first, then the mean of the squares of what they differ by. Some warps may use a
    wrong mean.
    """

    stars, points = 2, 3
    choices = {"type": ("float32", "float64")}
    even, ragged = (512, 256), (128,)
    multiple = 128
    budget = {"lines": 1}

    def inputs(self, rng, n):
        return {"out": Out(n // 128, self.type), "a": numbers(rng, self.type, -9, 9, n)}

    def launch(self, n):
        return n // 128, 128

    def spec(self, a):
        return a.reshape(-1, 128).var(axis=1)

    fault = "cuda.syncthreads()\n    tile[thread] = v", "tile[thread] = v"
    answer = '''
        @cuda.jit
        def spread(out, a):
            """Add up a block's numbers, then the squares of their differences."""
            tile = cuda.shared.array(128, $type)
            thread, value = cuda.threadIdx.x, a[cuda.grid(1)]
            tile[thread] = value
            for half in (64, 32, 16, 8, 4, 2, 1):
                cuda.syncthreads()
                if thread < half:
                    tile[thread] += tile[thread + half]
            cuda.syncthreads()
            value -= tile[0] / $type(128)
            cuda.syncthreads()
            tile[thread] = value * value
            for half in (64, 32, 16, 8, 4, 2, 1):
                cuda.syncthreads()
                if thread < half:
                    tile[thread] += tile[thread + half]
            if thread == 0:
                out[cuda.blockIdx.x] = tile[0] / $type(128)
    '''
    mean = "    value -= tile[0] / $type(128)\n"
    wrong = {
        "a barrier for warps only": ("race",
            "cuda.syncthreads()\n    tile[thread] = value * value",
            "cuda.syncwarp()\n    tile[thread] = value * value"),
        "a fence": ("race", "cuda.syncthreads()\n    tile[thread] = value * value",
            "cuda.threadfence_block()\n    tile[thread] = value * value"),
        "after the squares": ("race",
            "cuda.syncthreads()\n    tile[thread] = value * value",
            "tile[thread] = value * value\n    cuda.syncthreads()"),
        "before the mean": ("race", f"{mean}    cuda.syncthreads()\n",
            f"    cuda.syncthreads()\n{mean}"),
        "for the threads that add": ("barrier",
            "cuda.syncthreads()\n    tile[thread] = value * value",
            "if thread < 64:\n        cuda.syncthreads()\n"
            "    tile[thread] = value * value"),
        "a second tile": ("over_budget:lines",
            "cuda.syncthreads()\n    tile[thread] = value * value",
            "squares = cuda.shared.array(128, $type)\n"
            "    squares[thread] = value * value\n    cuda.syncthreads()\n"
            "    tile[thread] = squares[thread]"),
    }


class RowArgmax(Write):
    """Find the column in which each row of a matrix is $which: a warp for each row. If
    several are, the first one counts. Each number is loaded once, and there is no
    shared memory.
    """

    stars, points, any_block = 2, 3, True
    choices = {"which": ("largest", "smallest"), "type": ("float32", "int32")}
    even, ragged = ((40, 128), (36, 64)), ((1, 1), (3, 31), (5, 33), (7, 100))
    budget = {"sectors": "ideal", "loads": {"a": 1}, "shared_bytes": 0}
    work, ordered = 2, ("a",)
    setup = "ALL = 0xFFFFFFFF"

    def inputs(self, rng, rows, cols):
        a = rng.integers(-12, 13, (rows, cols))     # many are equal
        row = np.arange(min(rows, 32))
        best = 20 if self.better == ">" else -20
        a[row, row % cols] = best   # once in each lane
        again = row[row + 32 < cols]
        a[again, again + 32] = best     # and in the same lane once more
        a[-1, -1] = best + np.sign(best)    # no column may be left out
        a[::2] += -(10**6) if self.better == ">" else 10**6     # all on one side of 0
        a = full(self.type, a)
        return {"places": Out(rows, np.int32), "a": a}

    def launch(self, rows, cols):
        return ceil(rows / 2), 64

    def spec(self, a):
        return getattr(np, self.numpy)(a, axis=1)

    @property
    def numpy(self):
        return "argmax" if self.which == "largest" else "argmin"

    @property
    def better(self):
        return ">" if self.which == "largest" else "<"

    answer = '''
        @cuda.jit
        def row_argmax(places, a):
            """Each lane finds its best of a row, then the lanes compare."""
            row, place = cuda.grid(1) // 32, min(cuda.laneid, a.shape[1] - 1)
            if row < a.shape[0]:
                value = a[row, place]
                for col in range(cuda.laneid + 32, a.shape[1], 32):
                    other = a[row, col]
                    if other $better value:
                        value, place = other, col
                for step in (16, 8, 4, 2, 1):
                    other = cuda.shfl_down_sync(ALL, value, step)
                    there = cuda.shfl_down_sync(ALL, place, step)
                    if other $better value or other == value and there < place:
                        value, place = other, there
                if cuda.laneid == 0:
                    places[row] = place
    '''
    wrong = {
        "no guard of the rows": ("bounds", "if row < a.shape[0]:", "if True:"),
        "lanes beyond a row": ("bounds",
            "min(cuda.laneid, a.shape[1] - 1)", "cuda.laneid"),
        "starts at 0": ("wrong",
            "min(cuda.laneid, a.shape[1] - 1)", "0",
            "value = a[row, place]", "value = $type(0)",
            "range(cuda.laneid + 32,", "range(cuda.laneid,"),
        "any of several": ("wrong", "or other == value and there < place", ""),
        "the last of several": ("wrong", "there < place", "there > place"),
        "the last of a lane's": ("wrong", "other $better value:", "other $better= value:"),
        "the first 32 columns": ("wrong",
            "range(cuda.laneid + 32, a.shape[1], 32)", "range(0)"),
        "values but not places": ("wrong",
            "value, place = other, there", "value = other"),
        "a step is missing": ("wrong", "(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"),
        "the other way": ("wrong", "other $better value:", "value $better other:"),
        "all lanes store": ("race", "if cuda.laneid == 0:", "if True:"),
        "columns that stand together": ("over_budget:sectors",
            "range(cuda.laneid + 32, a.shape[1], 32)",
            "range(cuda.laneid * ((a.shape[1] + 31) // 32),"
            " min(a.shape[1], (cuda.laneid + 1) * ((a.shape[1] + 31) // 32)))"),
        "loads twice": ("over_budget:loads", "value = a[row, place]",
            "value = a[row, place] + 0 * a[row, 0]"),
        "one lane does all": ("over_budget:loads",
            "range(cuda.laneid + 32, a.shape[1], 32)",
            "range(0 if cuda.laneid == 0 else a.shape[1], a.shape[1])"),
    }
    hints = {
        "wrong": (
            "What does a lane need from another to know which of two columns to keep?",
            "Two shuffles: one for the number, one for its column, both of the same lane.",
            "Where two numbers are equal, keep the smaller column.",
        )
    }


class WideDistance(SpeedUp):
    """Add up the squared differences of two arrays of the same length, a multiple of four; `out[0]`
    is 0 when the kernel starts. The kernel is right, but loads one number at a time.
    Let it load four, and make a quarter of the requests.
    """

    stars, points = 3, 5
    choices = {"type": ("float32", "int32")}
    even, ragged = (4096, 2048), (4, 36, 1500, 3000)
    multiple = 4
    budget = {"atomics": 4, "requests": 2 * 4096 // 128 + 4, "sectors": "ideal"}

    def inputs(self, rng, n):
        a, b = rng.uniform(-400, 400, (2, n)).astype(self.type)
        if self.type == "float32":
            a, b = (numbers(rng, self.type, -400, 400, n) for _ in "ab")
        return {"out": InOut(np.zeros(1, self.type)), "a": a, "b": b}

    def launch(self, n):
        return 4, 128

    def spec(self, a, b):
        return np.sum((a - b) ** 2)

    setup = """
        from helpers import load4

        ALL = 0xFFFFFFFF
    """
    given = '''
        @cuda.jit
        def wide_distance(out, a, b):
            """Add up a thread's share, one number a load, then a warp's and a block's."""
            sums = cuda.shared.array(4, $type)
            thread, total = cuda.threadIdx.x, $type(0)
            for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
                total += (a[i] - b[i]) ** 2
            for step in (16, 8, 4, 2, 1):
                total += cuda.shfl_down_sync(ALL, total, step)
            if thread % 32 == 0:
                sums[thread // 32] = total
            cuda.syncthreads()
            if thread == 0:
                cuda.atomic.add(out, 0, sums[0] + sums[1] + sums[2] + sums[3])
    '''
    answer = '''
        @cuda.jit
        def wide_distance(out, a, b):
            """Add up a thread's share, four numbers a load, then a warp's and a block's."""
            sums = cuda.shared.array(4, $type)
            thread, total = cuda.threadIdx.x, $type(0)
            for i in range(4 * cuda.grid(1), a.size, 4 * cuda.gridsize(1)):
                p, q = load4(a, i), load4(b, i)
                for k in range(4):
                    total += (p[k] - q[k]) ** 2
            for step in (16, 8, 4, 2, 1):
                total += cuda.shfl_down_sync(ALL, total, step)
            if thread % 32 == 0:
                sums[thread // 32] = total
            cuda.syncthreads()
            if thread == 0:
                cuda.atomic.add(out, 0, sums[0] + sums[1] + sums[2] + sums[3])
    '''
    wide = "p, q = load4(a, i), load4(b, i)"
    wrong = {
        "no multiple of four": ("refused", "range(4 * cuda.grid(1)", "range(cuda.grid(1)"),
        "a step of the grid": ("wrong", "4 * cuda.gridsize(1))", "cuda.gridsize(1) // 4 * 4)"),
        "no loop": ("wrong", "a.size, 4 * cuda.gridsize(1)):",
            "min(a.size, 4 * cuda.gridsize(1)), 4 * cuda.gridsize(1)):"),
        "beyond the end": ("bounds", "a.size, 4 *", "a.size + 4, 4 *"),
        "three of four": ("wrong", "range(4):", "range(3):"),
        "one number a load": ("over_budget:requests", wide,
            "p = a[i], a[i + 1], a[i + 2], a[i + 3]\n"
            "        q = b[i], b[i + 1], b[i + 2], b[i + 3]"),
        "four of one array": ("over_budget:requests", wide,
            "p, q = load4(a, i), (b[i], b[i + 1], b[i + 2], b[i + 3])"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "an atomic of each warp": ("over_budget:atomics",
            "    if thread % 32 == 0:\n        sums[thread // 32] = total\n"
            "    cuda.syncthreads()\n    if thread == 0:\n"
            "        cuda.atomic.add(out, 0, sums[0] + sums[1] + sums[2] + sums[3])",
            "    if thread % 32 == 0:\n        cuda.atomic.add(out, 0, total)"),
        "blocks with no atomic": ("race",
            "cuda.atomic.add(out, 0, sums[0] + sums[1] + sums[2] + sums[3])",
            "out[0] += sums[0] + sums[1] + sums[2] + sums[3]"),
        "one warp of four": ("wrong", "sums[0] + sums[1] + sums[2] + sums[3]", "sums[0]"),
        "a step is missing": ("wrong", "(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"),
    }
