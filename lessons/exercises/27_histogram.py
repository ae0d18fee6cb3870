"""Exercises of lesson 27: many counts at once."""

import numpy as np
from numba import cuda, uint32

from helpers import emulate
from helpers.exercises.arguments import InOut
from helpers.exercises.exercise import Fix, Predict, SpeedUp


def make_adding(stride, copies, apart):
    """A kernel whose lanes add to cells of bins that lie in copies."""
    @cuda.jit
    def add_once(out):
        own = cuda.shared.array(8192, uint32)
        lane = cuda.threadIdx.x
        value, copy = stride * lane, lane % copies
        cell = 256 * copy + value if apart else copies * value + copy
        own[cell] = 0
        cuda.syncwarp()
        cuda.atomic.add(own, cell, 1)
        out[lane] = own[cell]
    return add_once


class CopiesAndBanks(Predict):
    """Lane `l` of a warp has the value `$stride * l` and adds 1 to the bin of this value.
    There are 256 bins of type uint32 in shared memory. How many wavefronts does this
    one request take?

    Predict, as a dictionary with four keys: `"one"`, where all lanes share one copy of
    the bins; `"behind"`, where there are four copies, one behind the other, and lane
    `l` adds to cell `256 * (l % 4) + value`; `"beside"`, where the four copies of a
    bin lie side by side, in the cells `4 * value + l % 4`; and `"own"`, where each lane
    has a copy, and adds to cell `32 * value + l`.
    """

    points = 2
    choices = {"stride": (2, 4, 6)}

    def truth(self):
        layouts = {
            "one": (1, False),
            "behind": (4, True),
            "beside": (4, False),
            "own": (32, False),
        }
        return {name: self.wavefronts(*layout) for name, layout in layouts.items()}

    def wavefronts(self, copies, apart):
        """The wavefronts of one atomic request."""
        out = np.zeros(32, np.uint32)
        run = emulate(make_adding(self.stride, copies, apart))[1, 32](out)
        return run.bank_conflicts.by_kind["atomic"].wavefronts

    why = {
        "one": "Only values that differ by a multiple of 32 meet in a bank.",
        "behind": "256 is a multiple of 32: each copy has a bin in the same bank.",
        "beside": "Four cells for each bin put the values four times as far apart.",
        "own": "32 for each value changes no bank, and each lane has its own.",
    }
    wrong = {
        "atomics take turns": lambda self: self.truth() | {"one": 32},
        "four copies, a quarter": lambda self: (
            self.truth() | {"behind": max(1, self.truth()["one"] // 4)}
        ),
        "copies always help": lambda self: self.truth() | {"beside": 1},
        "a copy for each lane still meets": lambda self: self.truth() | {"own": 2},
    }
    hints = {
        "wrong": (
            "In which bank is a cell, and how many different cells does the request "
            "want of one bank?",
            "Cell `c` is in bank `c % 32`. A request takes as many wavefronts as the "
            "most different words that it wants of one bank.",
            "Write down the cells of lanes 0 to 16, and take the remainder by 32. "
            "256 is a multiple of 32, so a copy behind another one changes no bank.",
        )
    }


class Letters(SpeedUp):
    """Count how often each letter occurs in `text`, an array of $type with the numbers
    0 to 255: `counts[0]` is for the letter a, `counts[25]` for z, and capital letters
    (from 65 on) count as small ones (from 97 on). All else is not counted. `counts` is
    0 at first.

    The kernel is right, but adds each letter in global memory. Count in shared memory,
    without a bank conflict, and let each block add to each element of `counts` once.
    """

    stars, points = 2, 4
    choices = {"type": ("uint8", "int32")}
    even, ragged = (2048, 1024), (1, 77, 1500)
    budget = {"atomics": 4 * 26, "conflicts": 0}

    def inputs(self, rng, size):
        signs = rng.choice(list(b"etaoinETAOIN zZ@[`{\x00\xc1\xff"), size)
        text = np.where(rng.random(size) < 0.5, signs, rng.integers(0, 256, size))
        counts = InOut(np.zeros(26, np.uint32))
        return {"counts": counts, "text": text.astype(self.type)}

    def launch(self, size):
        return 4, 128

    def spec(self, counts, text):
        small = [np.count_nonzero(text == sign) for sign in range(97, 123)]
        capital = [np.count_nonzero(text == sign) for sign in range(65, 91)]
        return np.add(small, capital)

    setup = "SIZE = 26 * 32"
    given = '''
        @cuda.jit
        def letters(counts, text):
            """Each thread adds 1 to the count of each of its letters."""
            for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
                letter = (text[i] | 32) - 97
                if 0 <= letter < 26:
                    cuda.atomic.add(counts, letter, 1)
    '''
    answer = '''
        @cuda.jit
        def letters(counts, text):
            """Count in the lane's copy, then add up the copies of each letter."""
            own = cuda.shared.array(SIZE, uint32)
            thread, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
            for cell in range(thread, SIZE, cuda.blockDim.x):
                own[cell] = 0
            cuda.syncthreads()
            for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
                letter = (text[i] | 32) - 97
                if 0 <= letter < 26:
                    cuda.atomic.add(own, 32 * letter + lane, 1)
            cuda.syncthreads()
            if thread < 26:
                total = 0
                for turn in range(32):
                    total += own[32 * thread + (thread + turn) % 32]
                cuda.atomic.add(counts, thread, total)
    '''
    clear = """for cell in range(thread, SIZE, cuda.blockDim.x):
        own[cell] = 0
    cuda.syncthreads()"""
    wrong = {
        "never cleared": ("uninitialised", clear, ""),
        "cleared in part": ("uninitialised",
            "for cell in range(thread, SIZE, cuda.blockDim.x):\n        own[cell] = 0",
            "own[thread] = 0"),
        "no barrier after clearing": ("race", clear,
            clear.replace("\n    cuda.syncthreads()", "")),
        "no barrier before adding up": ("race",
            "cuda.syncthreads()\n    if thread < 26:", "if thread < 26:"),
        "not atomic": ("race",
            "cuda.atomic.add(own, 32 * letter + lane, 1)",
            "own[32 * letter + lane] += 1"),
        "the blocks not atomic": ("race",
            "cuda.atomic.add(counts, thread, total)", "counts[thread] += total"),
        "small letters only": ("wrong", "(text[i] | 32) - 97", "text[i] - 97"),
        "without z": ("wrong", "letter < 26", "letter < 25"),
        "no lower end": ("bounds", "0 <= letter < 26", "letter < 26"),
        "no upper end": ("bounds", "0 <= letter < 26", "0 <= letter"),
        "one element of each thread": ("wrong",
            "cuda.gridsize(1)):", "text.size):"),
        "one copy": ("over_budget:conflicts",
            "32 * letter + lane, 1", "32 * letter, 1"),
        "copies one behind the other": ("over_budget:conflicts",
            "32 * letter + lane, 1", "26 * lane + letter, 1",
            "own[32 * thread + (thread + turn) % 32]", "own[26 * turn + thread]"),
        "adding up down a column": ("over_budget:conflicts",
            "(thread + turn) % 32", "turn"),
        "all in global memory": ("over_budget:atomics",
            "cuda.atomic.add(own, 32 * letter + lane, 1)",
            "cuda.atomic.add(counts, letter, 1)"),
        "all in one block": ("over_budget:share",
            "range(cuda.grid(1), text.size, cuda.gridsize(1))",
            "range(thread, 0 if cuda.blockIdx.x else text.size, cuda.blockDim.x)"),
        "each copy by itself": ("over_budget:atomics",
            "            total += own[32 * thread + (thread + turn) % 32]\n"
            "        cuda.atomic.add(counts, thread, total)",
            "            total = own[32 * thread + (thread + turn) % 32]\n"
            "            cuda.atomic.add(counts, thread, total)"),
    }
    hints = {
        "over_budget:conflicts": (
            "Which cells do the 32 lanes of one request touch, and in which banks?",
            "With 32 copies side by side, cell `32 * letter + lane` is in bank `lane`, "
            "whatever the letter is.",
            "When you add up, let thread `t` begin with its copy `t % 32`: cell "
            "`32 * t + (t + turn) % 32`.",
        ),
        "over_budget:work": (
            "Which lines execute most instructions: those for the letters, or those for "
            "the 832 cells?",
            "To clear the cells and to add them up is work, too. Share it among the "
            "threads of the block.",
            "Clear with `range(thread, SIZE, cuda.blockDim.x)`, and let each of 26 "
            "threads add up one letter.",
        ),
        "over_budget:atomics": (
            "How many times does a block add to an element of `counts`?",
            "Add up a letter's copies in a variable, and add that to `counts` once.",
            "After the second barrier, let thread `t` below 26 add up the 32 copies "
            "of letter `t`.",
        ),
    }


class Remainders(Fix):
    """Count how many elements of `a` have each remainder from 0 to 63 when they are
    divided by 64. `counts` is 0 at first, and no element is negative. The kernel has
    two faults.
    """

    stars, points = 1, 3
    choices = {"type": ("int32", "uint32")}
    even, ragged = (1024, 512), (1, 130, 700)
    lines = 3
    budget = {"atomics": 128, "lines": 3}

    def inputs(self, rng, size):
        a = rng.integers(0, np.iinfo(self.type).max, size, endpoint=True)
        return {"counts": InOut(np.zeros(64, np.uint32)), "a": a.astype(self.type)}

    def launch(self, size):
        return 2, 96

    def spec(self, counts, a):
        return np.bincount(a % 64, minlength=64)

    setup = "CELLS = 64 * 4"
    answer = '''
        @cuda.jit
        def remainders(counts, a):
            """Count in one of four copies, then add up the copies."""
            own = cuda.shared.array(CELLS, uint32)
            thread, copy = cuda.threadIdx.x, cuda.threadIdx.x % 4
            for cell in range(thread, CELLS, cuda.blockDim.x):
                own[cell] = 0
            cuda.syncthreads()
            for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
                cuda.atomic.add(own, 4 * (a[i] % 64) + copy, 1)
            cuda.syncthreads()
            if thread < 64:
                total = 0
                for copy in range(4):
                    total += own[4 * thread + copy]
                cuda.atomic.add(counts, thread, total)
    '''
    fault = (
        "for cell in range(thread, CELLS, cuda.blockDim.x):\n        own[cell] = 0",
        "own[thread] = 0",
        "cuda.syncthreads()\n    if thread < 64:",
        "if thread < 64:",
    )
    wrong = {
        "only the barrier": ("uninitialised",
            "for cell in range(thread, CELLS, cuda.blockDim.x):\n        own[cell] = 0",
            "own[thread] = 0"),
        "only the clearing": ("race",
            "cuda.syncthreads()\n    if thread < 64:", "if thread < 64:"),
        "a barrier for warps only": ("race",
            "cuda.syncthreads()\n    if thread < 64:",
            "cuda.syncwarp()\n    if thread < 64:"),
        "the barrier in the branch": ("barrier",
            "cuda.syncthreads()\n    if thread < 64:\n        total = 0",
            "if thread < 64:\n        cuda.syncthreads()\n        total = 0"),
        "one thread clears all, with no barrier": ("race",
            "for cell in range(thread, CELLS, cuda.blockDim.x):\n        own[cell] = 0"
            "\n    cuda.syncthreads()",
            "for cell in range(thread, CELLS, cuda.blockDim.x):\n        own[cell] = 0"),
        "beyond the end": ("bounds",
            "range(thread, CELLS, cuda.blockDim.x)",
            "range(thread, CELLS + 1, cuda.blockDim.x)"),
        "three copies": ("wrong", "for copy in range(4)", "for copy in range(3)"),
    }


class SixteenAtOnce(SpeedUp):
    """The bytes of `words` are counted by their upper six bits: `counts[k]` is how many
    bytes lie from `4 * k` to `4 * k + 3`. `counts` is 0 at first, and the size of `words`
    is a multiple of four. The kernel is right, but each thread loads 4 bytes at a time.
    Let it load 16.
    """

    stars, points = 3, 4
    even, ragged, multiple = (2048, 1024), (4, 100, 1028), 4
    budget = {"requests": 24, "conflicts": 0}

    def inputs(self, rng, size):
        words = rng.integers(0, 2**32, size)
        alike = rng.random(size) < rng.choice((0, 0.97))    # for a large count
        words = np.where(alike, 0x01010101 * rng.integers(256), words)
        words = words.astype(np.uint32)
        return {"counts": InOut(np.zeros(64, np.uint32)), "words": words}

    def launch(self, size):
        return 2, 128

    def spec(self, counts, words):
        return np.bincount(words.view(np.uint8) // 4, minlength=64)

    setup = "from helpers import load4\n\nCELLS = 64 * 32"
    start = '''
        @cuda.jit
        def sixteen_at_once(counts, words):
            """Count the bytes of $each in the lane's copy, then add up."""
            own = cuda.shared.array(CELLS, uint32)
            thread, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
            for cell in range(thread, CELLS, cuda.blockDim.x):
                own[cell] = 0
            cuda.syncthreads()'''
    end = """
            cuda.syncthreads()
            if thread < 64:
                total = 0
                for turn in range(32):
                    total += own[32 * thread + (thread + turn) % 32]
                cuda.atomic.add(counts, thread, total)
    """
    given = start.replace("$each", "one word") + """
            for i in range(cuda.grid(1), words.size, cuda.gridsize(1)):
                for shift in range(2, 32, 8):
                    value = words[i] >> shift & 63
                    cuda.atomic.add(own, 32 * value + lane, 1)""" + end
    answer = start.replace("$each", "four words") + """
            for i in range(4 * cuda.grid(1), words.size, 4 * cuda.gridsize(1)):
                four = load4(words, i)
                for k in range(4):
                    for shift in range(2, 32, 8):
                        value = four[k] >> shift & 63
                        cuda.atomic.add(own, 32 * value + lane, 1)""" + end
    wrong = {
        "three words of four": ("wrong", "for k in range(4)", "for k in range(3)"),
        "the first word four times": ("wrong", "four[k]", "four[0]"),
        "lower bits": ("wrong", "range(2, 32, 8)", "range(0, 32, 8)"),
        "four places apart": ("wrong",
            "range(4 * cuda.grid(1), words.size, 4 * cuda.gridsize(1))",
            "range(4 * cuda.grid(1), words.size, 16 * cuda.gridsize(1))"),
        "groups that overlap": ("wrong",
            "words.size, 4 * cuda.gridsize(1)", "words.size, cuda.gridsize(1)"),
        "beyond the end": ("bounds",
            "range(4 * cuda.grid(1), words.size,", "range(4 * cuda.grid(1), words.size + 1,"),
        "no barrier": ("race", "cuda.syncthreads()\n    if thread < 64", "if thread < 64"),
        "word by word": ("over_budget:requests",
            "four = load4(words, i)",
            "four = words[i], words[i + 1], words[i + 2], words[i + 3]"),
        "one copy": ("over_budget:conflicts", "32 * value + lane, 1", "32 * value, 1"),
        "all in one block": ("over_budget:share",
            "range(4 * cuda.grid(1), words.size, 4 * cuda.gridsize(1))",
            "range(4 * thread, 0 if cuda.blockIdx.x else words.size, 512)"),
    }
