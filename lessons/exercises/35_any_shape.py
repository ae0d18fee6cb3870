"""Exercises of lesson 35: tiles over an edge, sums in pieces, rounds of blocks."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Fix, Out, Predict, Write


class LastRound(Predict):
    """A GPU has $cores multiprocessors, and each works on one tile at a time. A product
    has $rows × $cols tiles of equal work, and the sum of each takes $steps steps. All
    multiprocessors begin together, and each takes the next tile when it is free.

    Predict, as a dictionary with three keys: `"whole"`, after how many steps all tiles
    are done; `"busy"`, for which share of that time, in %, a multiprocessor is busy on
    average; `"split"`, after how many steps all are done if the tiles of the last round
    are each cut into as many equal parts as still fit into one round. (Adding the parts
    takes no time here.)
    """

    points = 2
    choices = {
        "sizes": ((8, 6, 3, 24), (16, 7, 5, 40), (12, 5, 5, 36), (10, 3, 7, 60)),
    }

    @property
    def cores(self):
        return self.sizes[0]

    @property
    def rows(self):
        return self.sizes[1]

    @property
    def cols(self):
        return self.sizes[2]

    @property
    def steps(self):
        return self.sizes[3]

    @property
    def tiles(self):
        return self.rows * self.cols

    def truth(self):
        rounds = ceil(self.tiles / self.cores)
        last = self.tiles - (rounds - 1) * self.cores
        parts = self.cores // last
        return {
            "whole": rounds * self.steps,
            "busy": 100 * self.tiles / (rounds * self.cores),
            "split": (rounds - 1) * self.steps + ceil(self.steps / parts),
        }

    why = {
        "whole": "A round takes a tile's steps, however few tiles are in it.",
        "busy": "Compare the tiles that there are with those that the rounds have "
        "places for.",
        "split": "Only the last round becomes shorter: by as many times as there are "
        "parts of each of its tiles.",
    }
    wrong = {
        "a round in part": lambda self: (
            self.truth() | {"whole": self.tiles * self.steps / self.cores}
        ),
        "the last round alone": lambda self: (
            self.truth() | {"busy": 100 * (self.tiles % self.cores) / self.cores}
        ),
        "all rounds are cut": lambda self: (
            self.truth() | {"split": ceil(self.tiles * self.steps / self.cores) - 1}
        ),
        "the last round is gone": lambda self: (
            self.truth() | {"split": self.tiles // self.cores * self.steps}
        ),
    }
    hints = {
        "wrong": (
            "Draw the multiprocessors as rows and the tiles as bars, round by round.",
            "How many tiles are left for the last round? The others idle.",
            "With twice as many multiprocessors as tiles in the last round, each tile "
            "can be cut in two, and the round takes half as long.",
        )
    }


class RowsOfAnyLength(Fix):
    """Add up each row of a matrix. `src` holds its rows one after another, each of
    `length` numbers. A block of 64 threads takes one row, 64 numbers at a time, and
    copies them to shared memory, with zeros beyond the row's end; thread 0 adds them
    up. Some sums are too large or too small, and at the last row the kernel reads
    beyond the end.
    """

    stars, points = 2, 3
    choices = {"type": ("float32", "int32", "uint32")}
    even, ragged = ((3, 64), (2, 128)), ((3, 1), (2, 65), (1, 63), (4, 100))
    budget = {"lines": 1}
    setup = "from helpers import commit_copies, copy_or_zero_async, wait_copies"

    def inputs(self, rng, rows, length):
        src = numbers(rng, self.type, -99, 100, rows * length)
        return {"dst": Out(rows, self.type), "src": src, "length": length}

    def launch(self, rows, length):
        return rows, 64

    def spec(self, src, length):
        return src.reshape(-1, length).sum(axis=1, dtype=src.dtype)

    answer = '''
        @cuda.jit
        def rows_of_any_length(dst, src, length):
            """Add up a row, 64 numbers at a time, with zeros beyond its end."""
            tile = cuda.shared.array(64, $type)
            x, first = cuda.threadIdx.x, length * cuda.blockIdx.x
            total = $type(0)
            for at in range(0, length, 64):
                inside = at + x < length
                copy_or_zero_async(tile, x, src, first + at + x, inside)
                commit_copies()
                wait_copies(0)
                cuda.syncthreads()
                if x == 0:
                    for k in range(64):
                        total += tile[k]
                cuda.syncthreads()
            if x == 0:
                dst[cuda.blockIdx.x] = total
    '''
    fault = "inside = at + x < length", "inside = at < length"
    wrong = {
        "the end of all rows": ("tail", "inside = at + x < length",
            "inside = first + at + x < src.size"),
        "one too many": ("bounds", "at + x < length", "at + x <= length"),
        "one too few": ("wrong", "at + x < length", "at + x < length - 1"),
        "the first tile alone": ("bounds", "at + x < length", "x < length"),
        "always inside": ("bounds", "inside = at + x < length", "inside = True"),
        "never inside": ("wrong", "inside = at + x < length", "inside = False"),
        "no wait": ("race", "wait_copies(0)", "pass"),
        "no first barrier": ("race",
            "wait_copies(0)\n        cuda.syncthreads()", "wait_copies(0)"),
        "no second barrier": ("race",
            "total += tile[k]\n        cuda.syncthreads()", "total += tile[k]"),
    }
    hints = {
        "bounds": (
            "For which numbers of a tile is `inside` true, and for which should it be?",
            "A tile begins at `at`; a thread's own number is x further on.",
            "Compare the place of the thread's number in its row with the row's length.",
        ),
        "wrong": (
            "For which numbers of a tile is `inside` true, and for which should it be?",
            "Behind the end of a row the next row begins: what is there is in `src`, "
            "but not in the row.",
            "Compare the place of the thread's number in its row with the row's length.",
        ),
    }


class SumsInPieces(Write):
    """Few rows, and long ones: cut each row of `a` into `pieces`, and store the sum of
    piece `p` of row `r` to `parts[r, p]`. The block (p, r), of 64 threads, takes piece
    `p` of row `r`. All pieces have the same length, the smallest multiple of 64 for
    which so many pieces are enough; so the last piece that has numbers may be shorter,
    and pieces behind it have none: their sum is 0. Each number is loaded once.
    """

    stars, points = 3, 4
    choices = {"type": ("float32", "int32")}
    even = ((2, 512, 4), (3, 192, 3))
    ragged = ((1, 1, 1), (2, 100, 3), (3, 65, 1), (1, 300, 4), (2, 63, 2))
    budget = {"sectors": "ideal", "loads": {"a": 1}}
    work = 3

    def inputs(self, rng, rows, length, pieces):
        a = numbers(rng, self.type, -99, 100, (rows, length))
        return {"parts": Out((rows, pieces), self.type), "a": a, "pieces": pieces}

    def launch(self, rows, length, pieces):
        return (pieces, rows), 64

    def spec(self, a, pieces):
        each = 64 * ceil(ceil(a.shape[1] / 64) / pieces)
        filled = np.pad(a, ((0, 0), (0, each * pieces - a.shape[1])))
        return filled.reshape(len(a), pieces, each).sum(axis=2, dtype=a.dtype)

    answer = '''
        @cuda.jit
        def sums_in_pieces(parts, a, pieces):
            """Add up a piece of a row: a thread's numbers, then a tree."""
            sums = cuda.shared.array(64, $type)
            x, piece, row = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
            tiles = (a.shape[1] + 63) // 64
            length = (tiles + pieces - 1) // pieces * 64
            begin = piece * length
            end = min(begin + length, a.shape[1])
            total = $type(0)
            for at in range(begin + x, end, 64):
                total += a[row, at]
            sums[x] = total
            half = 32
            while half > 0:
                cuda.syncthreads()
                if x < half:
                    sums[x] += sums[x + half]
                half //= 2
            if x == 0:
                parts[row, piece] = sums[0]
    '''
    wrong = {
        "the last pieces to the row's end": ("wrong",
            "min(begin + length, a.shape[1])", "a.shape[1]"),
        "no end of the row": ("bounds",
            "min(begin + length, a.shape[1])", "begin + length"),
        "whole tiles alone": ("tail", "(a.shape[1] + 63) // 64", "a.shape[1] // 64"),
        "pieces that are too short": ("tail",
            "(tiles + pieces - 1) // pieces", "tiles // pieces"),
        "not a multiple of 64": ("tail",
            "(tiles + pieces - 1) // pieces * 64",
            "(a.shape[1] + pieces - 1) // pieces"),
        "no barrier": ("race", "cuda.syncthreads()", "pass"),
        "half of the tree": ("wrong", "half = 32", "half = 16"),
        "every pieces-th number": ("wrong",
            "range(begin + x, end, 64)", "range(begin + x, end, 64 * pieces)"),
        "pieces of the first row": ("wrong", "a[row, at]", "a[0, at]"),
        "64 numbers in a row for each thread": ("over_budget:sectors",
            "for at in range(begin + x, end, 64):\n        total += a[row, at]",
            "own = length // 64\n    for at in range(begin + own * x, "
            "min(begin + own * x + own, end)):\n        total += a[row, at]"),
    }
    hints = {
        "wrong": (
            "With 300 numbers and 4 pieces, which numbers belong to each piece?",
            "300 numbers are five tiles of 64. Four pieces need two tiles each: 128, "
            "128, 44 numbers and none.",
            "Round the tiles up, then the tiles of a piece: `(tiles + pieces - 1) // "
            "pieces`. A piece ends where its length ends or where the row does.",
        ),
        "bounds": (
            "Which piece reaches beyond the end of the row?",
            "A piece ends where its length ends or where the row does, whichever comes "
            "first.",
            "Take the smaller one with `min`. A piece that begins beyond the end then "
            "has no numbers, and its loop no step.",
        ),
    }
