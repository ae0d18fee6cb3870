"""Exercises of lesson 18: how much shared memory a block takes, and what lies in it."""

import math

import numpy as np

from helpers.exercises.arguments import full, numbers
from helpers.exercises.exercise import Explain, Fix, Out, Predict, Write
from thirty_two_lanes.core.occupancy import occupancy_of

H200 = 9, 0
KB = 1024


class BlocksThatFit(Predict):
    """How many blocks does a multiprocessor of an H200 hold at a time? It has room for
    2,048 threads, and 228 KB of shared memory, of which the system keeps 1 KB for each
    block. Registers are plenty.

    Predict, as a dictionary with four keys: `"none"`, for blocks of $threads threads
    that take no shared memory; `"some"`, if they take $small KB each; `"much"`, if they
    take $large KB each; and `"warps"`, how many *warps* it holds in the last case.
    """

    stars, points = 1, 2
    choices = {"threads": (256, 128, 512), "small": (12, 8, 10), "large": (76, 57, 38)}

    def held(self, kb):
        return occupancy_of(H200, self.threads, 0, kb * KB)

    def truth(self):
        """By the rules of NVIDIA's occupancy calculator."""
        most = self.held(self.large)
        found = {"none": self.held(0).blocks, "some": self.held(self.small).blocks}
        return found | {"much": most.blocks, "warps": most.warps}

    why = {
        "none": "Only the threads take room.",
        "some": "The scarcer of two resources decides: is it the threads?",
        "much": "Each block takes what it asks for, and what the system keeps for it.",
        "warps": "A block has as many warps as its threads fill.",
    }
    wrong = {
        "memory alone decides": lambda self: (
            self.truth() | {"some": 228 // (self.small + 1)}
        ),
        "nothing is kept": lambda self: self.truth() | {"much": 228 // self.large},
        "one at a time": lambda self: self.truth() | {"none": 1, "some": 1},
        "threads for warps": lambda self: (
            self.truth() | {"warps": self.truth()["much"] * self.threads}
        ),
    }


class BlockForTile(Predict):
    """Each block of a kernel has a tile of $kb KB of dynamic shared memory, however
    many threads it has. So far these are $few. Make room for at least $warps warps on a
    multiprocessor of an H200: it has room for 2,048 threads and for 228 KB of shared
    memory, of which the system keeps 1 KB for each block. Registers are plenty.

    Choose the block, and answer with a dictionary of four keys: `"blocks"`, how many
    blocks the tiles leave at a time; `"threads"`, the fewest threads per block, a power
    of two, with which a multiprocessor holds $warps warps; `"bytes"`, the fourth number
    in the brackets of the launch; and `"each"`, how many numbers each thread would need
    in flight if the blocks kept their $few threads, to have as many on their way as
    $warps warps with one number a thread.
    """

    stars, points = 2, 3
    choices = {"kb": (100, 75, 112), "few": (128, 64), "warps": (32, 16)}

    def held(self, threads):
        return occupancy_of(H200, threads, 0, self.kb * KB)

    def truth(self):
        """By the rules of NVIDIA's occupancy calculator."""
        enough = (2**k for k in range(5, 11) if self.held(2**k).warps >= self.warps)
        return {
            "blocks": self.held(self.few).blocks,
            "threads": min(enough),
            "bytes": self.kb * KB,
            "each": math.ceil(self.warps / self.held(self.few).warps),
        }

    why = {
        "blocks": "Each block takes its tile, and what the system keeps for it.",
        "threads": "All blocks that fit add their warps, and a warp has 32 threads.",
        "bytes": "The launch says the bytes of the tile; the system adds its own.",
        "each": "In flight is what each thread has, times the threads that there are.",
    }
    wrong = {
        "one at a time": lambda self: self.truth() | {"blocks": 1},
        "each block alone": lambda self: self.truth() | {"threads": 32 * self.warps},
        "as many as there can be": lambda self: self.truth() | {"threads": 2048},
        "with what is kept": lambda self: self.truth() | {"bytes": (self.kb + 1) * KB},
        "in KB": lambda self: self.truth() | {"bytes": self.kb},
        "of one block": lambda self: (
            self.truth() | {"each": 32 * self.warps // self.few}
        ),
    }


class TurnRows(Fix):
    """Move each row of two tables of $cols columns $step places to the left; what leaves
    a row at its front comes back at its end. A block moves one row of both, through two
    arrays in its dynamic shared memory, of which it has exactly enough. They overlap.
    Change one line.
    """

    stars, points = 2, 3
    choices = {
        "wide": ("float64", "float32", "int64"),
        "narrow": ("int16", "uint8"),
        "step": (3, 5),
        "cols": (64, 96, 40),
    }
    even, ragged = (4, 16), (1, 3, 7)
    lines = 1

    def inputs(self, rng, rows):
        shape = rows, self.cols
        return {
            "new_sums": Out(shape, self.wide),
            "new_marks": Out(shape, self.narrow),
            "sums": numbers(rng, self.wide, -1000, 1000, shape),
            "marks": numbers(rng, self.narrow, 0, 200, shape),
        }

    def launch(self, rows):
        return rows, self.cols, 0, self.cols * self.record_bytes

    def spec(self, sums, marks):
        return tuple(np.roll(it, -self.step, axis=1) for it in (sums, marks))

    @property
    def record_bytes(self):
        return np.dtype(self.wide).itemsize + np.dtype(self.narrow).itemsize

    @property
    def skip(self):
        return np.dtype(self.wide).itemsize // np.dtype(self.narrow).itemsize

    @property
    def budget(self):
        return {
            "lines": 1,
            "loads": {"sums": 1, "marks": 1},
            "shared_bytes": self.cols * self.record_bytes,
        }

    setup = "STEP = $step"
    answer = '''
        @cuda.jit
        def turn_rows(new_sums, new_marks, sums, marks):
            """Each block moves one row of both tables to the left."""
            size = cuda.blockDim.x
            wide = cuda.shared.array(0, $wide)[:size]
            narrow = cuda.shared.array(0, $narrow)[$skip * size:]
            row, col = cuda.blockIdx.x, cuda.threadIdx.x
            wide[col] = sums[row, col]
            narrow[col] = marks[row, col]
            cuda.syncthreads()
            there = (col + STEP) % size
            new_sums[row, col] = wide[there]
            new_marks[row, col] = narrow[there]
    '''
    fault = "[$skip * size:]", "[size:]"
    wrong = {
        "no slice at all": ("race", "[$skip * size:]", ""),
        "behind the end": ("bounds", "[$skip * size:]", "[2 * $skip * size:]"),
        "one too far": ("bounds", "[$skip * size:]", "[$skip * size + 1:]"),
        "one too near": ("race", "[$skip * size:]", "[$skip * size - 1:]"),
        "an array of its own": ("over_budget:shared_bytes",
            "(0, $narrow)[$skip * size:]", "(1024, $narrow)"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "no tile": ("over_budget:loads",
            "= wide[there]", "= sums[row, there]",
            "= narrow[there]", "= marks[row, there]"),
    }
    hints = {
        "race": (
            "At which byte does each of the two arrays begin, and where does the first "
            "one end?",
            "A slice counts in elements of its own array.",
            "How many elements of the second type have the size of one of the first?",
        ),
        "bounds": (
            "How many elements are left in the second array, behind the start of its "
            "slice?",
            "A slice counts in elements of its own array, not in bytes.",
            "How many elements of the second type have the size of one of the first?",
        ),
    }


class SortRecords(Write):
    """Each block sorts a row of two tables by the keys, the smallest first; each label
    stays with its key, and equal keys keep their order.

    A block has a thread for each column, and the launch gives it dynamic shared memory
    for exactly that many keys and labels. A thread finds the place of its record by
    counting how many others belong before it. Loads and stores of all four arrays are
    coalesced.
    """

    stars, points = 2, 4
    choices = {"key": ("float32", "int32", "float64"), "label": ("int16", "uint8")}
    even, ragged = ((2, 64), (5, 32)), ((1, 1), (3, 33), (1, 77), (4, 7))
    limits = None, 1024  # threads of a block
    ordered = ("keys",)

    def inputs(self, rng, rows, cols):
        label = np.iinfo(self.label)
        return {
            "sorted_keys": Out((rows, cols), self.key),
            "sorted_labels": Out((rows, cols), self.label),
            "keys": full(self.key, rng.integers(0, 40, (rows, cols)) / 3),
            "labels": rng.integers(
                label.min, label.max, (rows, cols), self.label, endpoint=True
            ),
        }

    def launch(self, rows, cols):
        return rows, cols, 0, cols * self.record_bytes

    def spec(self, keys, labels):
        order = np.argsort(keys, axis=1, kind="stable")
        rows = np.arange(len(keys))[:, None]
        return keys[rows, order], labels[rows, order]

    @property
    def record_bytes(self):
        return np.dtype(self.key).itemsize + np.dtype(self.label).itemsize

    @property
    def budget(self):
        return {
            "loads": {"keys": 1, "labels": 1, "sorted_keys": 0},
            "sectors": "ideal",
            "shared_bytes": 64 * self.record_bytes,
        }

    @property
    def skip(self):
        return np.dtype(self.key).itemsize // np.dtype(self.label).itemsize

    setup = "SKIP = $skip  # labels in the bytes of a key"
    answer = '''
        @cuda.jit
        def sort_records(sorted_keys, sorted_labels, keys, labels):
            """Each block sorts a row by counting what belongs before each record."""
            size = cuda.blockDim.x
            tile = cuda.shared.array(0, $key)[:size]
            names = cuda.shared.array(0, $label)[SKIP * size:]
            row, col = cuda.blockIdx.x, cuda.threadIdx.x
            key = keys[row, col]
            tile[col] = key
            cuda.syncthreads()
            place = 0
            for other in range(size):
                before = (tile[other] == key) & (other < col)
                place += before | (tile[other] < key)
            cuda.syncthreads()
            tile[place] = key
            names[place] = labels[row, col]
            cuda.syncthreads()
            sorted_keys[row, col] = tile[col]
            sorted_labels[row, col] = names[col]
    '''
    wrong = {
        "first barrier missing": ("race", "cuda.syncthreads()\n    place", "place"),
        "second barrier missing": ("race",
            "cuda.syncthreads()\n    tile", "place %= size\n    tile"),
        "third barrier missing": ("race", "cuda.syncthreads()\n    sorted", "sorted"),
        "two arrays that are one": ("race", "[SKIP * size:]", "[:size]"),
        "equal keys at one place": ("race",
            "before = (tile[other] == key) & (other < col)", "before = False"),
        "equal keys turned round": ("wrong", "other < col", "other > col"),
        "labels left behind": ("wrong", "= names[col]", "= labels[row, col]"),
        "the output as a tile": ("over_budget:loads",
            "tile[col] = key", "sorted_keys[row, col] = key", "(tile[other]",
            "(sorted_keys[row, other]", "(tile[other]", "(sorted_keys[row, other]"),
        "keys from global memory": ("over_budget:loads",
            "tile[other] <", "keys[row, other] <"),
        "labels scattered": ("over_budget:sectors",
            "names[place] = ", "sorted_labels[row, place] = ",
            "sorted_labels[row, col] = names[col]", ""),
        "an array of its own": ("over_budget:shared_bytes",
            "array(0, $label)[SKIP * size:]", "array(1024, $label)"),
    }


class WorthTheRoom(Explain):
    """A kernel looks up a table of 100 KB again and again, at places that are far
    apart. Each block brings the table into its tile first; blocks have 128 threads, and
    the kernel is slow. How many warps does a multiprocessor of an H200 hold? What would
    you change first, and what would you compare the result with?
    """

    stars, points = 2, 3
    rubric = {
        "two blocks fit, since each takes 101 of 228 KB: 8 warps of 64": 1,
        "larger blocks: as many tiles fit, but 1,024 threads share each of them": 1,
        "the kernel without a tile, which L1 serves, since the table may fit there": 1,
    }
    model = (
        "Each block takes 101 of 228 KB, so two fit, and two blocks of 128 threads are 8 "
        "warps of 64. I would make the blocks larger: two of 1,024 threads take as much "
        "shared memory and are 64 warps. And I would compare it with the kernel that "
        "looks up the table in global memory: it may fit in L1."
    )
