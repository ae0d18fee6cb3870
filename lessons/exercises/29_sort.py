"""Exercises of lesson 29: places that are counted."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Predict, Write


class PassesOfASort(Predict):
    """Keys of $bits bits are sorted by digits of $width bits, from the last digit on.

    Predict, as a dictionary with four keys: `"passes"`, over how many digits; `"words"`,
    how many words each tile publishes in a pass with look-back; `"launches"`, how many
    there are if each digit takes three; and `"moves"`, how many times a key is loaded or
    stored in global memory if all digits are counted once, in a launch of their own, and
    each digit is then one pass with look-back.
    """

    points = 2
    choices = {"bits": (32, 64), "width": (4, 8)}

    def truth(self):
        passes = self.bits // self.width
        return {
            "passes": passes,
            "words": 2**self.width,
            "launches": 3 * passes,
            "moves": 2 * passes + 1,
        }

    why = {
        "passes": "Each pass sorts by one digit, and a digit has $width of the bits.",
        "words": "A tile says of each value of a digit how many of its keys have it.",
        "launches": "Each digit is counted, scanned and scattered.",
        "moves": "A pass loads and stores each key; to count the digits loads it, too.",
    }
    wrong = {
        "a pass for each bit": lambda self: self.truth() | {"passes": self.bits},
        "a word for each bit": lambda self: self.truth() | {"words": self.width},
        "one launch a digit": lambda self: (
            self.truth() | {"launches": self.bits // self.width}
        ),
        "counted for nothing": lambda self: (
            self.truth() | {"moves": self.truth()["moves"] - 1}
        ),
        "counted in each pass": lambda self: (
            self.truth() | {"moves": 3 * self.bits // self.width}
        ),
    }
    hints = {
        "wrong": (
            "Into how many digits is a key cut, and how many values can a digit have?",
            "A digit of w bits has 2 ** w values; b bits are b / w digits.",
            "Count on your fingers for two digits: a launch that loads each key and "
            "counts; then two passes, each of which loads it and stores it.",
        )
    }


class RanksByBallot(Write):
    """`out[i]` says how many keys in lower lanes of the same warp have the digit of
    `a[i]`: its bits $first to $last. Blocks have 96 threads. Let the lanes vote, and
    use no shared memory.
    """

    stars, points = 2, 4
    choices = {"first": (0, 4), "type": ("int32", "uint32")}
    even, ragged = (192, 96), (1, 33, 130)
    budget, work = {"loads": {"a": 1}, "shared_bytes": 0, "sectors": "ideal"}, 2

    @property
    def last(self):
        return self.first + 3

    @property
    def end(self):
        return self.first + 4

    @property
    def mask(self):
        return 15 << self.first

    def inputs(self, rng, size):
        a = numbers(rng, "int32", 0, 2**20, size)
        few = rng.integers(0, 3, size, np.int32) << self.first
        a = np.where(rng.random(size) < 0.5, a, few)
        return {"out": Out(size, "int32"), "a": a.astype(self.type)}

    def launch(self, size):
        return ceil(size / 96), 96

    def spec(self, a):
        digits = a & self.mask
        return [
            np.count_nonzero(digits[i - i % 32 : i] == digits[i]) for i in range(a.size)
        ]

    setup = "ALL = 0xFFFFFFFF"
    answer = '''
        @cuda.jit
        def ranks_by_ballot(out, a):
            """Keep the lanes that agree in each bit, and count those below."""
            i = cuda.grid(1)
            digit = a[min(i, a.size - 1)]
            peers = uint32(ALL)
            for k in range($first, $end):
                mine = digit >> k & 1
                ones = uint32(cuda.ballot_sync(ALL, mine))
                peers &= ones if mine else ~ones
            if i < a.size:
                out[i] = cuda.popc(uint32(peers & cuda.lanemask_lt()))
    '''
    wrong = {
        "no guard of the load": ("bounds", "a[min(i, a.size - 1)]", "a[i]"),
        "no guard of the store": ("bounds", "if i < a.size:", "if True:"),
        "itself, too": ("wrong", "out[i] = cuda", "out[i] = 1 + cuda"),
        "those above": ("wrong", "cuda.lanemask_lt()", "~cuda.lanemask_lt()"),
        "all peers": ("wrong", "uint32(peers & cuda.lanemask_lt())", "peers"),
        "three bits": ("wrong", "$first, $end", "$first, $last"),
        "five bits": ("wrong", "$first, $end", "$first, 1 + $end"),
        "the other bits": ("wrong", "$first, $end",
            "4 - $first, 8 - $first"),
        "only those with a 1": ("wrong", "peers &= ones if mine else ~ones",
            "peers &= ones"),
        "the last bit decides": ("wrong", "peers &= ones if mine else ~ones",
            "peers = ones if mine else ~ones"),
        "by asking each lane": ("over_budget:work", """
            @cuda.jit
            def ranks_by_ballot(out, a):
                i = cuda.grid(1)
                digit = int32(a[min(i, a.size - 1)] & $mask)
                rank = 0
                for lane in range(32):
                    other = cuda.shfl_sync(ALL, digit, lane)
                    if lane < cuda.laneid and other == digit:
                        rank += 1
                if i < a.size:
                    out[i] = rank
            """),
    }
    hints = {
        "wrong": (
            "Take two lanes and one bit. When can they still have the same digit?",
            "`ballot_sync` gives the lanes whose bit is 1. If this lane's bit is 0, its "
            "peers are the others.",
            "Begin with all lanes; after each of four bits keep those that agree; count "
            "those that are also in `lanemask_lt()`.",
        )
    }


class StablePartition(Write):
    """Each block of 256 threads brings its own 256 elements into another order: first
    those that are $early, then those that are $late, and within both in the order in
    which they were.
    """

    stars, points = 2, 4
    choices = {"early": ("even", "odd"), "type": ("int32", "uint32")}
    even, ragged = (512, 256), (1, 33, 700)
    budget = {"loads": {"a": 1}, "atomics": 0, "barriers": 4}

    @property
    def late(self):
        return {"even": "odd", "odd": "even"}[self.early]

    @property
    def bit(self):
        return int(self.late == "odd")

    @property
    def order(self):
        return 1 - self.bit, self.bit

    def inputs(self, rng, size):
        return {"out": Out(size, self.type), "a": numbers(rng, self.type, 0, 999, size)}

    def launch(self, size):
        return ceil(size / 256), 256

    def spec(self, a):
        parts = np.split(a, range(256, a.size, 256))
        return np.concatenate(
            [part[part % 2 == it] for part in parts for it in self.order]
        )

    setup = "ALL = 0xFFFFFFFF"
    answer = '''
        @cuda.jit
        def stable_partition(out, a):
            """Count those that are $late before each element, by votes."""
            counts = cuda.shared.array(8, int32)
            i, thread = cuda.grid(1), cuda.threadIdx.x
            lane, warp = thread % 32, thread // 32
            value = a[min(i, a.size - 1)]
            late = i < a.size and value & 1 == $bit
            votes = uint32(cuda.ballot_sync(ALL, late))
            if lane == 0:
                counts[warp] = cuda.popc(votes)
            cuda.syncthreads()
            before, total = cuda.popc(uint32(votes & cuda.lanemask_lt())), 0
            for k in range(8):
                if k < warp:
                    before += counts[k]
                total += counts[k]
            first = 256 * cuda.blockIdx.x
            if late:
                out[min(first + 256, a.size) - total + before] = value
            elif i < a.size:
                out[first + thread - before] = value
    '''
    wrong = {
        "no barrier": ("bounds", "cuda.syncthreads()", ""),
        "a barrier for warps only": ("bounds",
            "cuda.syncthreads()", "cuda.syncwarp()"),
        "no guard of the load": ("bounds", "a[min(i, a.size - 1)]", "a[i]"),
        "no guard of the store": ("bounds", "elif i < a.size:", "else:"),
        "each warp alone": ("race", "if k < warp:", "if k < 0:"),
        "the others first": ("wrong", "value & 1 == $bit", "value & 1 != $bit"),
        "whole blocks only": ("bounds", "min(first + 256, a.size)", "first + 256"),
        "from behind": ("wrong", "- total + before] = value",
            "- 1 - before] = value"),
        "all in the first block": ("race", "first + thread - before",
            "thread - before"),
        "one thread does all": ("over_budget:loads", """
            @cuda.jit
            def stable_partition(out, a):
                first = 256 * cuda.blockIdx.x
                place = first
                if cuda.threadIdx.x == 0:
                    for last in range(2):
                        for i in range(first, min(first + 256, a.size)):
                            if (a[i] & 1 == $bit) == (last == 1):
                                out[place] = a[i]
                                place += 1
            """),
        "places by atomics": ("wrong", """
            @cuda.jit
            def stable_partition(out, a):
                ends = cuda.shared.array(2, int32)
                i, thread = cuda.grid(1), cuda.threadIdx.x
                first = 256 * cuda.blockIdx.x
                value = a[min(i, a.size - 1)]
                late = i < a.size and value & 1 == $bit
                if thread < 2:
                    ends[thread] = 0
                cuda.syncthreads()
                if i < a.size and not late:
                    cuda.atomic.add(ends, 1, 1)
                cuda.syncthreads()
                if i < a.size:
                    if late:
                        out[first + cuda.atomic.add(ends, 1, 1)] = value
                    else:
                        out[first + cuda.atomic.add(ends, 0, 1)] = value
            """),
    }
    hints = {
        "wrong": (
            "How many elements of the block come before this one and go to the end?",
            "Those in lower lanes of its warp, by a vote; and those of the warps before, "
            "which must be told through shared memory.",
            "An early element moves back by that number. A late one goes that many "
            "places behind where the late ones begin: the block's end less their total.",
        )
    }
