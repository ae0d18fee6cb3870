"""Exercises of lesson 13: what threads of a block bring once, and share.

In one file: what has the lesson's own name comes first in its assignment.
"""

from math import ceil

import numpy as np
from numba import cuda, float32

from helpers import emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, Out, Predict, Write


@cuda.jit
def load_all(out, a, b, m, x, window, tile, radius):
    """Each thread loads what `reuse` asks about; the ends of arrays are neighbours."""
    i, first = cuda.grid(1), cuda.blockIdx.x * 64 - radius
    out[i] = a[i] * b[0]
    for col in range(x.size):
        out[i] += m[i, col] * x[col]
    for k in range(i - radius, i + radius + 1):
        out[i] += window[k % window.size]
    cells = cuda.shared.array(80, float32)
    for cell in range(cuda.threadIdx.x, 64 + 2 * radius, 64):
        cells[cell] = tile[(first + cell) % tile.size]


class Reuse(Predict):
    """How often is an element loaded from global memory, on average over its array?
    Each thread's load counts, also where a warp's lanes take the same element. Each
    launch has $blocks blocks of 64 threads, and as many elements in `out` as
    threads. Predict, as a dictionary with six keys:
    `"a"` and `"b"` of `out[i] = a[i] * b[0]`, where `b` has just one element;
    `"m"` and `"x"` of `out[row] += m[row, col] * x[col]`, where a thread goes along
    each row; `"window"` of the sum of `a[i]` and $radius neighbours on each side;
    `"tile"` of the same sums through a tile of 64 elements with its halo.
    In both sums, the ends of the array are neighbours.
    """

    choices = {"blocks": (4, 8), "radius": (4, 2, 6)}

    def truth(self):
        threads = 64 * self.blocks
        shapes = {"a": threads, "b": 1, "m": (threads, 8), "x": 8}
        shapes |= {"window": threads, "tile": threads}
        arrays = [np.ones(shape, np.float32) for shape in shapes.values()]
        out = np.zeros(threads, np.float32)
        run = emulate(load_all)[self.blocks, 64](out, *arrays, self.radius)
        return {name: float(run.reuse[name].loads.mean()) for name in shapes}

    why = {
        "a": "Each thread loads an element that no other thread needs.",
        "b": "Each thread loads it; that a warp does so by one request counts nothing.",
        "m": "An element belongs to one row, and that to one thread.",
        "x": "Each thread goes along all of it.",
        "window": "An element is in the middle of one window, and in others beside it.",
        "tile": "Elements next to a block's end are in its halo, and in another's tile.",
    }
    wrong = {
        "one load for all threads": lambda self: self.truth() | {"b": 1},
        "one load a warp": lambda self: self.truth() | {"b": 2 * self.blocks},
        "the vector once": lambda self: self.truth() | {"x": 1},
        "no middle": lambda self: self.truth() | {"window": 2 * self.radius},
        "no halo": lambda self: self.truth() | {"tile": 1},
        "half a halo": lambda self: (
            self.truth() | {"tile": 1 + self.radius / 64}
        ),
    }
    hints = {
        "wrong": (
            "Write down what one thread loads. How many threads load the same element?",
            "Count loads by threads, not by requests of a warp; a cache changes "
            "nothing about what the source asks for.",
            "All loads of the launch, divided by the elements of that array.",
        )
    }


class Reverse(Fix):
    """Reverse a whole array: the last element first. Each block hands its elements over
    in a tile, and they come out reversed, but in the wrong place. Change one line.
    """

    points = 2
    choices = {"type": ("float32", "int32", "float64"), "threads": (128, 64)}
    even, ragged = (512, 384), (1, 129, 1000, 77)
    budget = {"lines": 1, "loads": {"a": 1}}
    lines = 1

    def inputs(self, rng, n):
        return {"out": Out(n, self.type), "a": numbers(rng, self.type, -n, n, n)}

    def launch(self, n):
        return ceil(n / self.threads), self.threads

    def spec(self, a):
        return a[::-1]

    setup = "THREADS = $threads"
    answer = '''
        @cuda.jit
        def reverse(out, a):
            """The threads of a block hand their elements over, last to first."""
            tile = cuda.shared.array(THREADS, $type)
            thread = cuda.threadIdx.x
            first = cuda.blockIdx.x * THREADS
            count = min(THREADS, a.size - first)
            if thread < count:
                tile[thread] = a[first + thread]
            cuda.syncthreads()
            j = a.size - first - count + thread
            if thread < count:
                out[j] = tile[count - 1 - thread]
    '''
    fault = ("j = a.size - first - count + thread", "j = first + thread")
    wrong = {
        "reversed twice": ("wrong", "- count + thread", "- 1 - thread"),
        "the next block's place": ("bounds", "- first - count", "- first"),
        "size of the example": ("bounds", "a.size - first -", "512 - first -"),
        "one too far": ("bounds", "- count + thread", "- count + thread + 1"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no tile": ("over_budget:lines",
            "tile[count - 1 - thread]", "tile[thread]", "- first - count +",
            "- 1 - first -"),
        "past the tile": ("over_budget:loads",
            "a.size - first - count + thread", "first + thread",
            "tile[count - 1 - thread]", "a[a.size - 1 - j]"),
    }
    hints = {
        "wrong": (
            "Where does the first block's last element go, and the last block's?",
            "A block that starts `k` elements after the beginning ends `k` elements "
            "before the end.",
            "They end at `a.size - first`. Where do `count` of them begin?",
        )
    }


class Pool(Write):
    """Pooling: each element becomes the $word of itself and the $reach before it;
    before the first element there is none, not even a 0.

    Practise a halo: bring each element into a tile about once, with those that the
    block needs besides. (Whether such a tile pays is another question: L1 would serve
    the loads as well.) A halo begins within a sector, so a request may touch five.
    """

    stars, points = 2, 3
    choices = {"reduce": ("max", "min"), "reach": (3, 5), "type": ("float32", "int32")}
    even, ragged = (512, 768), (1, 2, 257, 1000)
    budget = {"loads": {"a": 1.1}, "sectors": 5}
    ordered = ("a",)

    def inputs(self, rng, n):
        sign = {"max": -1, "min": 1}[self.reduce]
        a = sign * numbers(rng, self.type, 1, 100_000, n)
        return {"out": Out(n, self.type), "a": a}

    def launch(self, n):
        return ceil(n / 256), 256

    def spec(self, a):
        padded = np.concatenate([np.full(self.reach, a[0]), a])
        windows = [padded[k : k + a.size] for k in range(self.reach + 1)]
        return getattr(np, self.reduce)(windows, axis=0)

    @property
    def word(self):
        return {"max": "largest", "min": "smallest"}[self.reduce]

    @property
    def far(self):
        return {"max": -10_000, "min": 10_000}[self.reduce]

    setup = "THREADS = 256\nREACH = $reach\nWIDTH = THREADS + REACH"
    answer = '''
        @cuda.jit
        def pool(out, a):
            """Each thread finds the $word of its element and those before it."""
            tile = cuda.shared.array(WIDTH, $type)
            thread = cuda.threadIdx.x
            first = cuda.blockIdx.x * THREADS - REACH
            for cell in range(thread, WIDTH, THREADS):
                if first + cell < a.size:
                    tile[cell] = a[max(first + cell, 0)]
            cuda.syncthreads()
            i = cuda.grid(1)
            if i < a.size:
                found = tile[thread]
                for k in range(1, REACH + 1):
                    found = $reduce(found, tile[thread + k])
                out[i] = found
    '''
    wrong = {
        "no guard": ("bounds", "if first + cell < a.size:", "if True:"),
        "no guard of the start": ("bounds", "max(first + cell, 0)", "first + cell"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no halo": ("uninitialised",
            "range(thread, WIDTH", "range(thread + REACH, WIDTH"),
        "zeros before": ("wrong",
            "a[max(first + cell, 0)]", "a[first + cell] if first + cell >= 0 else 0"),
        "a tile of 16 bits": ("wrong", "(WIDTH, $type)", "(WIDTH, int16)"),
        "ten thousand before": ("wrong", "a[max(first + cell, 0)]",
            "a[first + cell] if first + cell >= 0 else $type($far)"),
        "a tile at one size": ("over_budget:loads",
            "found = tile[thread]", "found = a[i]", "tile[thread + k]",
            "tile[thread + k] if a.size == 512 else a[max(i - REACH + k, 0)]",
            "found = a[i]",
            "found = tile[thread] if a.size == 512 else a[max(i - REACH, 0)]"),
        "window too short": ("wrong", "range(1, REACH + 1)", "range(1, REACH)"),
        "leaves before the barrier": ("barrier",
            "first =", "if cuda.grid(1) >= a.size:\n        return\n    first ="),
        "the sum": ("wrong",
            "$reduce(found, tile[thread + k])", "found + tile[thread + k]"),
        "the tile is not used": ("over_budget:loads",
            "tile[thread + k]", "a[max(i - REACH + k, 0)]"),
    }
    hints = {
        "wrong": (
            "Compare the first elements of the result with those further on: are only "
            "they wrong? Then look at the tile's cells before the array.",
            "What is in such a cell takes part in the first windows. For which value "
            "does the $word stay what it is without the cell?",
            "An element that is in the window anyway changes nothing: the first one of "
            "the array.",
        )
    }


class Life(Write):
    """One step of the game of life, in a world that $world.
    A cell is 1 if it is alive and else 0. One that is alive stays so if 2 or 3 of the 8
    cells around it are alive; a dead one comes to life if their number is in `$born`.

    A block makes 16 × 16 cells, and each cell of `old` is loaded little more than once.
    """

    stars, points = 3, 5
    choices = {"mode": ("wrap", "constant"), "born": ((3,), (3, 6))}
    even, ragged = ((32, 48), (16, 64)), ((1, 1), (17, 35), (5, 40))
    budget = {"loads": {"old": 1.3}}

    def inputs(self, rng, rows, cols):
        old = rng.integers(0, 2, (rows, cols)).astype(np.uint8)
        return {"new": Out((rows, cols), "uint8"), "old": old}

    def launch(self, rows, cols):
        return (ceil(cols / 16), ceil(rows / 16)), (16, 16)

    def spec(self, old):
        (rows, cols), wide = old.shape, np.pad(old, 1, self.mode)
        nine = [(y, x) for y in range(3) for x in range(3)]
        count = sum(wide[y : y + rows, x : x + cols] for y, x in nine) - old
        lives = np.where(old, np.isin(count, (2, 3)), np.isin(count, self.born))
        return lives.astype(np.uint8)

    @property
    def wraps(self):
        return self.mode == "wrap"

    @property
    def world(self):
        return "goes on at the opposite edge" if self.wraps else "is dead outside"

    @property
    def cell(self):
        return self.cells[not self.wraps]

    @property
    def other_cell(self):
        return self.cells[self.wraps]

    cells = (
        "old[row % rows, col % cols]",
        "old[row, col] if 0 <= row < rows and 0 <= col < cols else 0",
    )
    setup = "TILE = 16\nWIDE = TILE + 2"
    answer = '''
        @cuda.jit
        def life(new, old):
            """Bring a tile and its halo, wait, and count living neighbours."""
            tile = cuda.shared.array((WIDE, WIDE), uint8)
            rows, cols = old.shape
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = cuda.blockIdx.x * TILE - 1, cuda.blockIdx.y * TILE - 1
            for cell in range(TILE * y + x, WIDE * WIDE, TILE * TILE):
                row, col = top + cell // WIDE, left + cell % WIDE
                tile[cell // WIDE, cell % WIDE] = $cell
            cuda.syncthreads()
            alive = tile[y + 1, x + 1]
            around = 0
            for dy in range(3):
                for dx in range(3):
                    around += tile[y + dy, x + dx]
            around -= alive
            col, row = cuda.grid(2)
            if row < rows and col < cols:
                new[row, col] = around in (2, 3) if alive else around in $born
    '''
    wrong = {
        "no guard": ("bounds", "if row < rows and col < cols:", "if True:"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no halo": ("uninitialised", "WIDE * WIDE, TILE", "TILE * TILE, TILE"),
        "no corners": ("uninitialised",
            "tile[cell // WIDE, cell % WIDE] =",
            "if cell not in (0, WIDE - 1):\n            tile[cell // WIDE, cell % WIDE] ="),
        "the other border": ("wrong", "$cell", "$other_cell"),
        "counts itself": ("wrong", "around -= alive", ""),
        "rows and columns swapped": ("wrong", "col, row = cuda", "row, col = cuda"),
        "four neighbours": ("wrong",
            "around += tile", "around += (dx + dy) % 2 * tile"),
        "size of the example": ("bounds", "= old.shape", "= 32, 48"),
        "without a tile": ("over_budget:loads",
            "around += tile[y + dy, x + dx]",
            "row, col = top + y + dy, left + x + dx\n            around += $cell"),
    }
