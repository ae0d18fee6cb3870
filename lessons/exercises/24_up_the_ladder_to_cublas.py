"""Exercises of lesson 24: sums in registers, lanes in place, copies in the background."""

from functools import cache

import numpy as np
from numba import cuda, float32, uint32

from helpers import emulate, load4
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, Out, Predict, SpeedUp


@cache
def one_step(rows, cols):
    """A kernel in which each thread of a warp loads a step's numbers by fours, its
    lanes in eight rows of four.
    """

    @cuda.jit
    def load_step(out):
        tile_a = cuda.shared.array(256, float32)
        tile_b = cuda.shared.array(256, float32)
        thread = uint32(cuda.threadIdx.x)
        for at in range(thread, 256, 32):
            tile_a[at] = tile_b[at] = float32(at)
        cuda.syncthreads()
        total = float32(0)
        for i in range(0, rows, 4):
            total += load4(tile_a, uint32(4 * (thread // 4) + 8 * i))[0]
        for j in range(0, cols, 4):
            total += load4(tile_b, uint32(4 * (thread % 4) + 4 * j))[0]
        out[thread] = total

    return load_step


class RowsOfAThread(Fix):
    """Multiply matrices whose sides are multiples of 16. In a block of 16 × 4 threads,
    each adds up four elements of a column of `c`. The sums are right, but not all of
    them are stored where they belong.
    """

    choices = {"type": ("float32", "int32", "uint32")}
    multiple = 16
    even, ragged = ((16, 16, 16), (32, 16, 16)), ((48, 16, 32), (16, 48, 48))
    budget = {"lines": 1}

    def inputs(self, rng, m, k, n):
        a, b = (numbers(rng, self.type, -9, 10, it) for it in ((m, k), (k, n)))
        return {"c": Out((m, n), self.type), "a": a, "b": b}

    def launch(self, m, k, n):
        return (n // 16, m // 16), (16, 4)

    def spec(self, a, b):
        return a @ b

    answer = '''
        @cuda.jit
        def rows_of_a_thread(c, a, b):
            """Each thread adds up four elements of a column of c."""
            tile_a = cuda.shared.array((16, 16), $type)
            tile_b = cuda.shared.array((16, 16), $type)
            sums = cuda.local.array(4, $type)
            sums[:] = 0
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            top, left = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
            for at in range(0, a.shape[1], 16):
                for i in range(4):
                    tile_a[4 * i + y, x] = a[top + 4 * i + y, at + x]
                    tile_b[4 * i + y, x] = b[at + 4 * i + y, left + x]
                cuda.syncthreads()
                for k in range(16):
                    of_b = tile_b[k, x]
                    for i in range(4):
                        sums[i] += tile_a[4 * i + y, k] * of_b
                cuda.syncthreads()
            for i in range(4):
                c[top + 4 * i + y, left + x] = sums[i]
    '''
    fault = "c[top + 4 * i + y, left + x]", "c[top + 4 * y + i, left + x]"
    wrong = {
        "stored in one row": ("wrong", "c[top + 4 * i + y,", "c[top + y,"),
        "no first barrier": ("race", "cuda.syncthreads()", ""),
        "no second barrier": ("race",
            "* of_b\n        cuda.syncthreads()", "* of_b"),
        "sums that nobody clears": ("uninitialised", "sums[:] = 0", "pass"),
        "the numbers of one step": ("wrong",
            "tile_a[4 * i + y, k] * of_b", "tile_a[4 * i + y, 0] * of_b"),
        "one tile": ("tail", "range(0, a.shape[1], 16)", "range(0, 16, 16)"),
        "a tile too few": ("wrong",
            "range(0, a.shape[1], 16)", "range(16, a.shape[1], 16)"),
        "the first column of blocks": ("tail",
            "c[top + 4 * i + y, left + x] = sums[i]",
            "if left == 0:\n            c[top + 4 * i + y, left + x] = sums[i]"),
    }
    hints = {
        "wrong": (
            "Take the thread with y = 1, and its sum `sums[2]`. Of which row of the tile "
            "of `a` are the numbers in it?",
            "Of row 4 * 2 + 1. An element of `c` is in the row whose numbers of `a` it "
            "has.",
            "Store `sums[i]` in the row whose numbers were added to it: the index of "
            "`tile_a` in the innermost loop says which.",
        )
    }


class Limits(Predict):
    """A thread has $rows × $cols sums. In each step it loads $rows numbers of `a` and
    $cols of `b` from shared memory with `load4`. Its warp's lanes are placed as in the
    lesson, in eight rows of four: a load of `a` takes $of_a wavefronts, and one of `b`
    takes $of_b.

    Predict, as a dictionary with three keys, for one step of a warp: `"fused"`, its
    `FFMA`; `"wavefronts"`, those of its loads; `"most"`, the share of the peak, in %,
    that this number of wavefronts allows, to a whole percent. A multiprocessor serves
    one wavefront in a cycle, and at the peak it does four `FFMA` in a cycle.
    """

    points = 2
    choices = {"rows": (4, 8), "cols": (4, 8, 12)}

    @property
    def of_a(self):
        return self.of_each[0]

    @property
    def of_b(self):
        return self.of_each[1]

    @property
    def of_each(self):
        """The wavefronts of one load of a, and of one of b."""
        four, more, twice = (self.wavefronts(*it) for it in ((4, 4), (8, 4), (4, 8)))
        return more - four, twice - four

    def wavefronts(self, rows, cols):
        """What the loads of a step take, by the emulator."""
        run = emulate(one_step(rows, cols))[1, 32](np.zeros(32, np.float32))
        return run.bank_conflicts.by_kind["load"].wavefronts

    def truth(self):
        fused, taken = self.rows * self.cols, self.wavefronts(self.rows, self.cols)
        return {
            "fused": fused,
            "wavefronts": taken,
            "most": min(100, 25 * fused / taken),
        }

    why = {
        "fused": "Each number of `a` is multiplied by each of `b`.",
        "wavefronts": "One `load4` brings four numbers; count the loads first.",
        "most": "In each cycle of a wavefront there is time for four `FFMA`.",
    }
    wrong = {
        "one sum for each number": lambda self: (
            self.truth() | {"fused": self.rows + self.cols}
        ),
        "a load for each number": lambda self: (
            self.truth()
            | {"wavefronts": self.of_a * self.rows + self.of_b * self.cols}
        ),
        "as many of a as of b": lambda self: (
            self.truth() | {"wavefronts": (self.rows + self.cols) // 4}
        ),
        "one FFMA in a cycle": lambda self: (
            self.truth() | {"most": 100 * self.truth()["most"] / 25}
        ),
    }
    hints = {
        "wrong": (
            "How many products does a thread make of its numbers, and how many loads "
            "of four numbers bring them?",
            "Each number of `a` is multiplied by each of `b`. An `FFMA` of a warp does "
            "32 products, one in each lane.",
            "At the peak an `FFMA` takes a quarter of a cycle. Compare that with the "
            "cycles of shared memory for each `FFMA`, and cut it off at 100%.",
        )
    }


class FourByFour(SpeedUp):
    """Multiply matrices whose sides are multiples of 32. Each thread of a block of
    8 × 8 adds up 4 × 4 elements, 8 rows and 8 columns apart. The kernel is right, but
    for each product it loads both of its numbers from shared memory.
    """

    stars, points = 2, 3
    choices = {"type": ("float32", "int32", "uint32")}
    multiple = 32
    even, ragged = ((32, 32, 32), (64, 32, 32)), ((96, 32, 64), (32, 64, 96))
    budget = {"shared_requests": 576}

    def inputs(self, rng, m, k, n):
        a, b = (numbers(rng, self.type, -9, 10, it) for it in ((m, k), (k, n)))
        return {"c": Out((m, n), self.type), "a": a, "b": b}

    def launch(self, m, k, n):
        return (n // 32, m // 32), (8, 8)

    def spec(self, a, b):
        return a @ b

    given = '''
        @cuda.jit
        def four_by_four(c, a, b):
            """Each thread adds up 4 × 4 elements of c, 8 apart."""
            tile_a = cuda.shared.array((32, 8), $type)
            tile_b = cuda.shared.array((8, 32), $type)
            sums = cuda.local.array((4, 4), $type)
            sums[:] = 0
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
            for at in range(0, a.shape[1], 8):
                for q in range(4):
                    tile_a[8 * q + y, x] = a[row + 8 * q, at + x]
                    tile_b[y, 8 * q + x] = b[at + y, col + 8 * q]
                cuda.syncthreads()
                for k in range(8):
                    for i in range(4):
                        for j in range(4):
                            sums[i, j] += tile_a[8 * i + y, k] * tile_b[k, 8 * j + x]
                cuda.syncthreads()
            for i in range(4):
                for j in range(4):
                    c[row + 8 * i, col + 8 * j] = sums[i, j]
    '''
    answer = '''
        @cuda.jit
        def four_by_four(c, a, b):
            """Load eight numbers, add all their products."""
            tile_a = cuda.shared.array((32, 8), $type)
            tile_b = cuda.shared.array((8, 32), $type)
            sums, of_a = cuda.local.array((4, 4), $type), cuda.local.array(4, $type)
            sums[:] = 0
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
            for at in range(0, a.shape[1], 8):
                for q in range(4):
                    tile_a[8 * q + y, x] = a[row + 8 * q, at + x]
                    tile_b[y, 8 * q + x] = b[at + y, col + 8 * q]
                cuda.syncthreads()
                for k in range(8):
                    for i in range(4):
                        of_a[i] = tile_a[8 * i + y, k]
                    for j in range(4):
                        of_b = tile_b[k, 8 * j + x]
                        for i in range(4):
                            sums[i, j] += of_a[i] * of_b
                cuda.syncthreads()
            for i in range(4):
                for j in range(4):
                    c[row + 8 * i, col + 8 * j] = sums[i, j]
    '''
    second = "of_a[i] * of_b\n        cuda.syncthreads()", "of_a[i] * of_b"
    wrong = {
        "no first barrier": ("race", "cuda.syncthreads()", ""),
        "no second barrier": ("race", *second),
        "only b is kept": ("over_budget:shared_requests",
            "of_a[i] * of_b", "tile_a[8 * i + y, k] * of_b"),
        "the numbers of one step": ("wrong", "of_a[i] = tile_a[8 * i + y, k]",
            "of_a[i] = tile_a[8 * i + y, 0]"),
        "neighbouring rows, stored 8 apart": ("wrong",
            "tile_a[8 * i + y, k]", "tile_a[4 * y + i, k]"),
        "sums that nobody clears": ("uninitialised", "sums[:] = 0", "pass"),
        "a step too few": ("wrong",
            "range(0, a.shape[1], 8)", "range(8, a.shape[1], 8)"),
        "four steps": ("tail", "range(0, a.shape[1], 8)", "range(0, 32, 8)"),
        "the first column of blocks": ("tail", "c[row + 8",
            "if col < 32:\n                c[row + 8"),
        "stored in one row": ("race", "c[row + 8 * i,", "c[row - y + 8 * i,"),
    }
    hints = {
        "over_budget:shared_requests": (
            "In one step of k, how many different numbers of each tile does a thread "
            "need for its 16 products?",
            "Four of each: a number that is loaded once can stay in a register for "
            "four products.",
            "Before the products of a step, load the four numbers of `tile_a` into a "
            "local array; load a number of `tile_b` in the loop over j, and use it "
            "for all i.",
        )
    }


class ColumnSums(Fix):
    """Add up each column. A block of 64 threads takes 256 columns. While it adds up one
    row, it copies the next one into the other half of its room. Sometimes a row is
    overwritten before all threads have added it up.
    """

    stars, points = 2, 3
    choices = {"type": ("float32", "int32", "uint32")}
    even, ragged = ((4, 1), (8, 2)), ((1, 1), (5, 3), (2, 2))
    budget = {"lines": 2, "conflicts": 0, "sectors": "ideal"}
    setup = "from helpers import commit_copies, copy4_async, wait_copies"

    def inputs(self, rng, rows, blocks):
        src = numbers(rng, self.type, -99, 100, (rows, 256 * blocks))
        return {"dst": Out(256 * blocks, self.type), "src": src}

    def launch(self, rows, blocks):
        return blocks, 64

    def spec(self, src):
        return src.sum(axis=0, dtype=src.dtype)

    answer = '''
        @cuda.jit
        def column_sums(dst, src):
            """Copy the next row while adding up this one."""
            tiles = cuda.shared.array((2, 256), $type)
            sums = cuda.local.array(4, $type)
            sums[:] = 0
            x, at = cuda.threadIdx.x, 256 * cuda.blockIdx.x
            copy4_async(tiles, (0, 4 * x), src, (0, at + 4 * x))
            commit_copies()
            for row in range(1, src.shape[0] + 1):
                wait_copies(0)
                cuda.syncthreads()
                if row < src.shape[0]:
                    copy4_async(tiles, (row % 2, 4 * x), src, (row, at + 4 * x))
                    commit_copies()
                for j in range(4):
                    sums[j] += tiles[(row - 1) % 2, x + 64 * j]
            for j in range(4):
                dst[at + x + 64 * j] = sums[j]
    '''
    fault = (
        "        wait_copies(0)\n        cuda.syncthreads()\n",
        "        wait_copies(0)\n",
        "            commit_copies()\n        for j",
        "            commit_copies()\n        cuda.syncthreads()\n        for j",
    )
    wrong = {
        "no wait": ("race", "wait_copies(0)", ""),
        "waits for all but the last": ("race", "wait_copies(0)", "wait_copies(1)"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "the barrier before the wait": ("race",
            "wait_copies(0)\n        cuda.syncthreads()",
            "cuda.syncthreads()\n        wait_copies(0)"),
        "one half": ("race", "% 2", "% 1"),
        "a row too many": ("bounds", "if row < src.shape[0]", "if row <= src.shape[0]"),
        "the first row again": ("wrong",
            "src, (row, at + 4 * x)", "src, (0, at + 4 * x)"),
        "stored twice": ("race", "dst[at + x + 64 * j]", "dst[at + j]"),
    }
    hints = {
        "race": (
            "Which row may another warp still be adding up when this one begins to "
            "copy the next but one?",
            "The copy of a row goes where the last row but one was. Before it begins, "
            "all threads must have added that up.",
            "A barrier tells that all have. Begin the copies behind it.",
        )
    }
