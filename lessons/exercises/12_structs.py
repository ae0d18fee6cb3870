"""One exercise more of lesson 12: the numbers of a struct lie side by side."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, SpeedUp


class TakeApart(SpeedUp):
    """`structs` holds the numbers x, y, z and mass of each particle, one particle after
    the other. Take it apart: the rows of `out` are $rows, and column i belongs to
    particle i. The kernel is right; no request may touch more sectors than its bytes
    need. Load each number once.
    """

    stars, points, any_block = 2, 3, True
    work = 20  # so that a tile in shared memory is an answer, too
    choices = {
        "order": ((0, 1, 2, 3), (3, 0, 1, 2), (1, 0, 3, 2)),
        "type": ("float32", "int32", "uint32"),
    }
    even, ragged = (512, 256), (1, 33, 257, 300)
    budget = {
        "sectors": "ideal",
        "loads": {"structs": 1},
        "requests": 8 * 512 // 32,  # of a tile: four loads and four stores a warp
    }

    def inputs(self, rng, n):
        structs = numbers(rng, self.type, -9000, 9000, 4 * n)
        return {"out": Out((4, n), self.type), "structs": structs}

    def launch(self, n):
        return ceil(n / 128), 128

    def spec(self, structs):
        return np.take(structs.reshape(-1, 4), self.order, axis=1).T

    def name_of(self, row):
        return ("x", "y", "z", "mass")[self.order[row]]

    @property
    def rows(self):
        return ", ".join(map(self.name_of, range(4)))

    @property
    def stores(self):
        lines = (f"out[{row}, i] = {self.name_of(row)}" for row in range(4))
        return "\n        ".join(lines)

    @property
    def last(self):
        return self.name_of(3)

    setup = "from helpers import load4\n\nORDER = $order"
    given = """
        @cuda.jit
        def take_apart(out, structs):
            \"\"\"Each thread takes one struct of four numbers apart.\"\"\"
            i = cuda.grid(1)
            if i < out.shape[1]:
                for row in range(4):
                    out[row, i] = structs[4 * i + ORDER[row]]
    """
    answer = """
        @cuda.jit
        def take_apart(out, structs):
            \"\"\"Each thread takes one struct of four numbers apart.\"\"\"
            i = cuda.grid(1)
            if i < out.shape[1]:
                x, y, z, mass = load4(structs, 4 * i)
                $stores
    """
    wrong = {
        "no guard": ("bounds", "if i < out.shape[1]:", "if True:"),
        "guard of all numbers": (
            "bounds",
            "i < out.shape[1]",
            "i < structs.size",
        ),
        "hard-coded size": ("bounds", "out.shape[1]", "512"),
        "every struct the first": ("wrong", "4 * i)", "0)"),
        "a row twice": ("wrong", "out[3, i]", "out[2, i]"),
        "the wrong order": ("wrong", "x, y, z, mass =", "y, x, z, mass ="),
        "no last element": (
            "tail",
            "i < out.shape[1]",
            "i < out.shape[1] // 2 * 2",
        ),
        "writes the input": (
            "writes_input",
            "= $last",
            "= structs[4 * i] = $last",
        ),
        "16 bits": ("wrong", "= $last", "= np.int16($last)"),
        "the struct again after a store": (
            "over_budget:loads",
            "x, y, z, mass = load4(structs, 4 * i)",
            "x, y, z, mass = load4(structs, 4 * i)\n        out[0, i] = x\n"
            "        x, y, z, mass = load4(structs, 4 * i)",
        ),
        "stores twice": (
            "over_budget:requests",
            "$stores",
            "$stores\n        $stores",
        ),
        "one thread does all": (
            "over_budget:requests",
            "if i < out.shape[1]:",
            "for i in range(0 if i else out.shape[1]):",
        ),
        "all in one block": (
            "over_budget:share",
            "if i < out.shape[1]:",
            "size = 0 if cuda.blockIdx.x else out.shape[1]\n"
            "    for i in range(cuda.threadIdx.x, size, 128):",
        ),
        "one field apart": (
            "over_budget:sectors",
            "x, y, z, mass = load4(structs, 4 * i)",
            "x, y, z, _ = load4(structs, 4 * i)\n"
            "        mass = structs[4 * i + 3]",
        ),
        "neighbours, one by one": (
            "over_budget:sectors",
            "x, y, z, mass = load4(structs, 4 * i)",
            "x, y = structs[4 * i], structs[4 * i + 1]\n"
            "        z, mass = structs[4 * i + 2], structs[4 * i + 3]",
        ),
    }
    hints = {
        "over_budget:sectors": (
            "How far apart, in bytes, are the numbers that lanes 0 and 1 load in one "
            "request, and what lies between them?",
            "The thread wants all four numbers that lie there: load all of them in "
            "one request.",
            "`load4` loads four neighbours at once, from an index that is a multiple "
            "of four.",
        ),
    }
