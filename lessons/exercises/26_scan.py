"""Exercises of lesson 26: everything before an element, at once."""

from functools import cache
from math import ceil

import numpy as np
from numba import cuda, int32

from helpers import emulate
from helpers.exercises.arguments import InOut, numbers
from helpers.exercises.exercise import Fix, Out, Predict, SpeedUp, Write


@cache
def step_of(step, padding, size=1024):
    """A kernel that makes one step of the upward sweep over a tile."""
    cells = size + padding * size // 32

    @cuda.jit
    def one_step(out):
        tile = cuda.shared.array(cells, int32)
        for i in range(cuda.threadIdx.x, cells, cuda.blockDim.x):
            tile[i] = i
        cuda.syncthreads()
        right = 2 * step * (cuda.threadIdx.x + 1) - 1
        if right < size:
            left = right - step
            out[cuda.threadIdx.x] = tile[left + padding * (left // 32)]
    return one_step


class StepsOfAScan(Predict):
    """A tile of $size elements is scanned once by doubling the distance, and once by
    two sweeps, as in the figures of the lesson.

    Predict, as a dictionary with four keys: `"doubling"` and `"sweeps"`, the additions
    of elements that each of them makes; and, for a tile of 1,024 elements of 4 bytes,
    the bank conflicts of one request of a whole warp in the upward step of distance
    $step, when its lanes load their left elements: `"conflicts"` without padding, and
    `"padded"` with one unused cell after each 32.
    """

    points = 2
    choices = {"size": (64, 128, 256), "step": (2, 4, 8)}

    def truth(self):
        return {
            "doubling": self.additions(range(step, self.size) for step in self.steps()),
            "sweeps": self.additions(
                range(first * step - 1, self.size, 2 * step)
                for first, steps in ((2, self.steps()), (3, self.steps()[:-1]))
                for step in steps
            ),
            "conflicts": self.conflicts(0),
            "padded": self.conflicts(1),
        }

    def steps(self):
        """The distances 1, 2, 4 and so on."""
        return [1 << k for k in range(self.size.bit_length() - 1)]

    def additions(self, targets):
        """How many elements are added to."""
        return sum(map(len, targets))

    def conflicts(self, padding):
        """Those of the first warp, whose lanes all load."""
        kernel = step_of(self.step, padding)
        run = emulate(kernel)[1, 32](np.zeros(32, np.int32))
        return run.bank_conflicts.by_kind["load"].conflicts

    why = {
        "doubling": "In a step of distance d, all elements but the first d are added to.",
        "sweeps": "Each step up adds half as often as the last; the way down adds, too.",
        "conflicts": "The lanes load cells that lie 2 * $step words apart.",
        "padded": "An unused cell moves all that comes behind it on by one bank.",
    }
    wrong = {
        "a loop": lambda self: self.truth() | {"doubling": self.size - 1},
        "all add in each step": lambda self: (
            self.truth() | {"doubling": self.size * len(self.steps())}
        ),
        "only upwards": lambda self: self.truth() | {"sweeps": self.size - 1},
        "wavefronts": lambda self: self.truth() | {"conflicts": 2 * self.step},
        "the padding is no use": lambda self: (
            self.truth() | {"padded": self.truth()["conflicts"]}
        ),
    }
    hints = {
        "wrong": (
            "In a step of distance d, which elements are added to? Count them for 16 "
            "elements in the figures first.",
            "Doubling adds to all but the first d. The sweeps add to a half, a quarter, "
            "an eighth of the elements, and on the way down to those between.",
            "Neighbouring lanes load 2d words apart. Two words share a bank if they are "
            "a multiple of 32 words apart, unused cells included.",
        )
    }


class RunningTotals(Fix):
    """Blocks of 32 threads take tiles of 32 elements in turn: `out[tile]` is the sum of
    all elements up to the end of the tile. A block waits until the block before has
    said in `ready` that its total is there.

    The totals came out right, but the kernel has races: nothing orders a total and the
    word that says that it is there. Fix two lines.
    """

    stars, points, lines = 2, 3, 2
    budget = {"lines": 2}
    choices = {"type": ("int32", "uint32")}
    even, ragged = (320, 64), (1, 33, 500)

    def inputs(self, rng, size):
        tiles = ceil(size / 32)
        return {
            "out": Out(tiles, self.type),
            "a": numbers(rng, self.type, -20, 100, size),
            "ready": InOut(np.zeros(tiles, np.int32)),
            "taken": InOut(np.zeros(1, np.int32)),
        }

    def launch(self, size):
        return ceil(size / 32), 32

    def spec(self, a, ready, taken):
        ends = [*range(31, a.size - 1, 32), a.size - 1]
        return {
            "out": np.cumsum(a, dtype=a.dtype)[ends],
            "ready": np.ones_like(ready),
            "taken": taken + ready.size,
        }

    setup = "from helpers import load_acquire, store_release\n\nALL = 0xFFFFFFFF"
    answer = '''
        @cuda.jit
        def running_totals(out, a, ready, taken):
            """Each block adds up its elements, and the total of the block before."""
            lane = cuda.threadIdx.x
            tile = cuda.atomic.add(taken, 0, 1) if lane == 0 else 0
            tile = cuda.shfl_sync(ALL, tile, 0)
            i = 32 * tile + lane
            total = int32(a[i]) if i < a.size else int32(0)
            for k in range(5):
                total += cuda.shfl_xor_sync(ALL, total, 1 << k)
            if lane == 0:
                if tile > 0:
                    while load_acquire(ready, tile - 1) == 0:
                        pass
                    total += int32(out[tile - 1])
                out[tile] = total
                store_release(ready, tile, 1)
    '''
    acquire = "load_acquire(ready, tile - 1)", "ready[tile - 1]"
    release = "store_release(ready, tile, 1)", "ready[tile] = 1"
    fault = *acquire, *release
    wrong = {
        "only acquired": ("race", *release),
        "only released": ("race", *acquire),
        "released before the total": ("race",
            "        out[tile] = total\n        store_release(ready, tile, 1)",
            "        store_release(ready, tile, 1)\n        out[tile] = total"),
        "acquired after the total": ("race",
            "            while load_acquire(ready, tile - 1) == 0:\n"
            "                pass\n            total += int32(out[tile - 1])",
            "            total += int32(out[tile - 1])\n"
            "            while load_acquire(ready, tile - 1) == 0:\n"
            "                pass"),
        "acquires its own word": ("timeout", "tile - 1) == 0", "tile) == 0"),
        "without the total before": ("wrong",
            "total += int32(out[tile - 1])", "total += int32(0)"),
        "says 2": ("wrong", "tile, 1)", "tile, 2)"),
    }


class RunningMaximum(Write):
    """Make the running $most in each block of 256 elements: `out[i]` is the $most of
    `a[i]` and of all elements before it in the same block. Let the lanes of a warp
    hand values over by shuffles.
    """

    stars, points = 2, 4
    choices = {"most": ("maximum", "minimum"), "type": ("float32", "int32")}
    even, ragged = (1024, 256), (1, 33, 700)
    budget = {"barriers": 2, "shared_requests": 150, "sectors": "ideal"}
    ordered = ("a",)

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -1000, 1000, size)
        return {"out": Out(size, self.type), "a": a}

    def launch(self, size):
        return ceil(size / 256), 256

    def spec(self, a):
        best = getattr(np, self.most)
        parts = np.split(a, range(256, a.size, 256))
        return np.concatenate([best.accumulate(part) for part in parts])

    @property
    def pick(self):
        return "max" if self.most == "maximum" else "min"

    setup = "ALL = 0xFFFFFFFF"
    answer = '''
        @cuda.jit
        def running_maximum(out, a):
            """Scan each warp, then those before it, by the $most, not the sum."""
            found = cuda.shared.array(8, $type)
            i = cuda.grid(1)
            lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
            best = a[min(i, a.size - 1)]
            for k in range(5):
                before = cuda.shfl_up_sync(ALL, best, 1 << k)
                if lane >= 1 << k:
                    best = $pick(best, before)
            if lane == 31:
                found[warp] = best
            cuda.syncthreads()
            for k in range(warp):
                best = $pick(best, found[k])
            if i < a.size:
                out[i] = best
    '''
    wrong = {
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no guard of the load": ("bounds", "a[min(i, a.size - 1)]", "a[i]"),
        "no guard of the store": ("bounds", "if i < a.size:", "if True:"),
        "leaves before the barrier": ("barrier",
            "best = a[min(i, a.size - 1)]",
            "if i >= a.size:\n        return\n    best = a[i]"),
        "each warp alone": ("wrong", "for k in range(warp)", "for k in range(0)"),
        "one step too few": ("wrong", "range(5)", "range(4)"),
        "the other way": ("wrong", "shfl_up", "shfl_down"),
        "0 beyond the warp": ("wrong",
            "        if lane >= 1 << k:\n            best = $pick(best, before)",
            "        best = $pick(best, before if lane >= 1 << k else $type(0))"),
        "through shared memory": ("over_budget:barriers", """
            @cuda.jit
            def running_maximum(out, a):
                tile = cuda.shared.array(256, $type)
                i = cuda.grid(1)
                thread = cuda.threadIdx.x
                best = a[min(i, a.size - 1)]
                step = 1
                while step < 256:
                    tile[thread] = best
                    cuda.syncthreads()
                    if thread >= step:
                        best = $pick(best, tile[thread - step])
                    cuda.syncthreads()
                    step *= 2
                if i < a.size:
                    out[i] = best
            """),
    }


class ScanFours(SpeedUp):
    """Each block, one warp, makes prefix sums of 128 elements of its own. The kernel is
    right, but takes one element a lane and carries the sum over, four times. Give each
    lane four neighbours: it needs one load, one store and one scan of the warp.

    The length of `a` is a multiple of 4.
    """

    stars, points = 3, 4
    choices = {"type": ("float32", "int32")}
    even, ragged, multiple = (512, 128), (4, 132, 700), 4
    budget = {"requests": 8, "sectors": "ideal"}

    def inputs(self, rng, size):
        a = numbers(rng, self.type, -50, 100, size)
        return {"out": Out(size, self.type), "a": a}

    def launch(self, size):
        return ceil(size / 128), 32

    def spec(self, a):
        parts = np.split(a, range(128, a.size, 128))
        return np.concatenate([np.cumsum(part, dtype=a.dtype) for part in parts])

    setup = "from helpers import load4, store4\n\nALL = 0xFFFFFFFF"
    given = '''
        @cuda.jit
        def scan_fours(out, a):
            """Scan 32 elements after 32, and carry the sum over."""
            lane = cuda.threadIdx.x
            carry = $type(0)
            for turn in range(4):
                i = 128 * cuda.blockIdx.x + 32 * turn + lane
                total = a[i] if i < a.size else $type(0)
                for k in range(5):
                    before = cuda.shfl_up_sync(ALL, total, 1 << k)
                    if lane >= 1 << k:
                        total += before
                total += carry
                carry = cuda.shfl_sync(ALL, total, 31)
                if i < a.size:
                    out[i] = total
    '''
    answer = '''
        @cuda.jit
        def scan_fours(out, a):
            """Add up four elements, scan the lanes' sums, and store four."""
            lane = cuda.threadIdx.x
            i = 128 * cuda.blockIdx.x + 4 * lane
            p = q = r = s = $type(0)
            if i < a.size:
                p, q, r, s = load4(a, i)
            q += p
            r += q
            s += r
            total = s
            for k in range(5):
                before = cuda.shfl_up_sync(ALL, total, 1 << k)
                if lane >= 1 << k:
                    total += before
            before = cuda.shfl_up_sync(ALL, total, 1)
            if lane == 0:
                before = $type(0)
            if i < a.size:
                store4(out, i, (before + p, before + q, before + r, before + s))
    '''
    others = {
        "sums in an array": ('''
            @cuda.jit
            def scan_fours(out, a):
                sums = cuda.local.array(4, $type)
                sums[:] = 0
                lane = cuda.threadIdx.x
                i = 128 * cuda.blockIdx.x + 4 * lane
                if i < a.size:
                    four = load4(a, i)
                    sums[0] = four[0]
                    for k in range(1, 4):
                        sums[k] = sums[k - 1] + four[k]
                total = sums[3]
                for k in range(5):
                    before = cuda.shfl_up_sync(ALL, total, 1 << k)
                    if lane >= 1 << k:
                        total += before
                before = total - sums[3]
                for k in range(4):
                    sums[k] += before
                if i < a.size:
                    store4(out, i, (sums[0], sums[1], sums[2], sums[3]))
            ''',),
    }
    wrong = {
        "no guard of the load": ("bounds",
            "if i < a.size:\n        p, q", "if True:\n        p, q"),
        "no guard of the store": ("bounds",
            "if i < a.size:\n        store4", "if True:\n        store4"),
        "with its own sum before": ("wrong",
            "before = cuda.shfl_up_sync(ALL, total, 1)\n", "before = total\n"),
        "lane 0 adds its own": ("wrong", "if lane == 0:", "if lane == 32:"),
        "not added up within": ("wrong", "r += q", "r += p"),
        "one step too few": ("wrong", "range(5)", "range(4)"),
        "whole tiles only": ("tail",
            "if i < a.size:\n        store4",
            "if 128 * (cuda.blockIdx.x + 1) <= a.size:\n        store4"),
        "one by one out": ("over_budget:requests",
            "store4(out, i, (before + p, before + q, before + r, before + s))",
            "out[i] = before + p\n        out[i + 1] = before + q\n"
            "        out[i + 2] = before + r\n        out[i + 3] = before + s"),
        "never loads": ("wrong", "p, q, r, s = load4(a, i)", "p = $type(i)"),
    }
