"""Exercises of lesson 16: where does a number live, and how often is it fetched?"""

from math import ceil

import numpy as np

from helpers import assemble, emulate
from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Predict, SpeedUp
from helpers.exercises.sources import kernel_of
from helpers.exercises.variants import filled


class WhereItLives(Predict):
    """Where do these variables of the kernel below live? For a number, say where its
    value is; for an array, where its elements are. Answer with a dictionary that has
    the keys "s", "t", "u", "a", "total" and "i".

        @cuda.jit
        def spread(out, a, places):
            $shared = cuda.shared.array(128, float32)
            $local = cuda.local.array(64, float32)
            $constant = cuda.const.array_like(WEIGHTS)
            i = cuda.threadIdx.x
            for k in range(64):
                $local[k] = 0
            $shared[i] = a[i]
            cuda.syncthreads()
            total = float32(0)
            for k in range(4):
                total += $constant[places[i] % 4] * $shared[i ^ k]
            $local[places[i]] += total
            out[i] = $local[i % 64]
    """

    stars, points = 1, 2
    choices = {"names": (("s", "t", "u"), ("t", "u", "s"), ("u", "s", "t"))}
    options = ("registers", "local", "shared", "constant", "global")
    asked = ("s", "t", "u", "a", "total", "i")

    shared = property(lambda self: self.names[0])
    local = property(lambda self: self.names[1])
    constant = property(lambda self: self.names[2])

    def truth(self):
        """Where the emulator saw accesses; what it counts nowhere is an array of
        constants or, if its type is a number, a register.
        """
        kernel, arguments = self.kernel(), self.arguments()
        run = emulate(kernel)[1, 128](*arguments)
        tables = {
            "global": run.coalescing,
            "shared": run.bank_conflicts,
            "local": run.local_memory,
        }
        seen = {
            row.array: place
            for place, table in tables.items()
            for row in table.by_line.values()
        }
        by_line = assemble(kernel)[1, 128](*arguments).variables
        types = {
            name: it for line in by_line.values() for name, it in line.items()
        }
        return {
            name: seen.get(
                name, "constant" if "[" in types[name] else "registers"
            )
            for name in self.asked
        }

    def kernel(self):
        _, _, text = filled(type(self).__doc__, self).partition("\n\n")
        weights = "WEIGHTS = np.array([2, -3, 5, 7], np.float32)\n\n\n"
        return kernel_of(weights + filled(text, self), "spread")

    def arguments(self):
        places = np.arange(128) % 64
        return np.ones(128, np.float32), np.ones(128, np.float32), places

    @property
    def why(self):
        return {
            self.shared: "All threads of the block read what one of them stores.",
            self.local: "Its index comes from data, and a register has no address.",
            self.constant: "It is made of an array outside the kernel, and no kernel changes it.",
            "a": "The host hands it over, and all blocks read it.",
            "total": "One number of one thread needs no address.",
            "i": "One number of one thread needs no address.",
        }

    wrong = {
        "local is near": lambda self: self.truth() | {self.local: "registers"},
        "arrays are local": lambda self: self.truth() | {self.shared: "local"},
        "inputs are constant": lambda self: self.truth() | {"a": "constant"},
        "variables are local": lambda self: (
            self.truth() | {"total": "local", "i": "local"}
        ),
    }


class Cubic(SpeedUp):
    """Evaluate a polynomial at many points. Its coefficients, the one of the highest
    power first, are in `weights`; they never change, and `WEIGHTS` is a copy that is
    known at compile time. The
    kernel is right, but loads everything again and again. Load each point once from
    global memory, and nothing else from there.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "weights": ([2, -3, 5, 7], [3, 5, -2, 4], [-4, 3, 6, -5]),
        "threads": (128, 64),
    }
    even, ragged = (512, 256), (1, 33, 129, 300)
    budget = {"loads": {"points": 1, "weights": 0, "out": 0}}
    budget |= {"requests": 2 * 512 // 32, "float64": 0}
    fixed = ("weights",)
    captured = 4

    def inputs(self, rng, n):
        points = numbers(rng, np.float32, -2, 2, n)
        weights = np.array(self.weights, np.float32)
        return {"out": Out(n), "points": points, "weights": weights}

    def launch(self, n):
        return ceil(n / self.threads), self.threads

    def spec(self, points, weights):
        return np.polyval(weights, points)

    setup = "WEIGHTS = np.array($weights, np.float32)"
    given = """
        @cuda.jit
        def cubic(out, points, weights):
            \"\"\"Each thread evaluates a cubic at one point.\"\"\"
            i = cuda.grid(1)
            if i < out.size:
                out[i] = weights[0]
                for k in range(1, 4):
                    out[i] = out[i] * points[i] + weights[k]
    """
    answer = """
        @cuda.jit
        def cubic(out, points, weights):
            \"\"\"Each thread evaluates a cubic at one point.\"\"\"
            constant = cuda.const.array_like(WEIGHTS)
            i = cuda.grid(1)
            if i < out.size:
                x, value = points[i], constant[0]
                for k in range(1, 4):
                    value = value * x + constant[k]
                out[i] = value
    """
    wrong = {
        "no guard": ("bounds", "if i < out.size:", "if True:"),
        "guard one too far": ("bounds", "i < out.size", "i <= out.size"),
        "stops too early": ("wrong", "range(1, 4)", "range(1, 3)"),
        "begins twice": ("wrong", "range(1, 4)", "range(4)"),
        "weights backwards": ("wrong", "constant[k]", "constant[4 - k]"),
        "hard-coded size": ("bounds", "out.size", "512"),
        "loses the last": ("tail", "i < out.size", "i < out.size // 2 * 2"),
        "points of the thread": ("wrong", "points[i]", "points[cuda.threadIdx.x]"),
        "points in eighths": (
            "wrong",
            "points[i]",
            "float32(round(8 * points[i])) / float32(8)",
        ),
        "weights from memory": (
            "over_budget:loads",
            "constant = cuda.const.array_like(WEIGHTS)",
            "constant = weights",
        ),
        "the point again after each store": (
            "over_budget:loads",
            "value = value * x + constant[k]",
            "value = value * points[i] + constant[k]\n            out[i] = value",
        ),
        "stores each step": (
            "over_budget:requests",
            "value = value * x + constant[k]",
            "out[i] = value = value * x + constant[k]",
        ),
        "adds up in memory": (
            "over_budget:loads",
            "x, value = points[i], constant[0]",
            "x, out[i] = points[i], constant[0]",
            "value = value * x + constant[k]",
            "out[i] = out[i] * x + constant[k]",
            "out[i] = value",
            "",
        ),
        "an array of its own": (
            "constant",
            "@cuda.jit",
            "POINTS = np.arange(512) / np.float32(8)\n\n\n@cuda.jit",
            "points[i]",
            "points[i] + POINTS[i]",
        ),
    }
    hints = {
        "over_budget:loads": (
            "Which of the numbers in the loop are the same in each of its turns?",
            "What a thread uses several times belongs in a variable, a register; what "
            "all lanes need at the same moment belongs in constant memory.",
            "Load the point into a variable before the loop, keep the value in "
            "another, and make an array of `WEIGHTS` by `cuda.const.array_like`.",
        ),
    }


class ColumnWindow(SpeedUp):
    """Each thread goes down one column of `a` and stores $what of every three
    neighbours. The kernel is right, but loads elements up to three times. Load each of
    them once.
    """

    stars, points, work, any_block = 3, 4, 2, True
    choices = {
        "ufunc": ("add", "maximum", "minimum"),
        "type": ("float32", "int32"),
        "threads": (128, 64),
    }
    even, ragged = ((16, 256), (9, 128)), ((1, 1), (2, 33), (17, 130))
    budget = {"loads": {"a": 1, "out": 0}, "requests": (18 + 16) * 256 // 32}

    @property
    def ordered(self):
        return () if self.ufunc == "add" else ("a",)

    def inputs(self, rng, rows, cols):
        a = numbers(rng, self.type, -99, 100, (rows + 2, cols))
        return {"out": Out((rows, cols), self.type), "a": a}

    def launch(self, rows, cols):
        return ceil(cols / self.threads), self.threads

    def spec(self, a):
        return getattr(np, self.ufunc).reduce([a[:-2], a[1:-1], a[2:]])

    @property
    def what(self):
        words = {"add": "sum", "maximum": "maximum", "minimum": "minimum"}
        return f"the {words[self.ufunc]}"

    def of(self, *three):
        if self.ufunc == "add":
            return " + ".join(three)
        return f"{self.ufunc[:3]}({', '.join(three)})"

    @property
    def of_all(self):
        return self.of("a[row, col]", "a[row + 1, col]", "a[row + 2, col]")

    @property
    def of_held(self):
        return self.of("above", "here", "below")

    @property
    def of_two(self):
        return self.of("here", "here", "below")

    @property
    def of_next(self):
        return self.of("found", "held[k]")

    given = """
        @cuda.jit
        def column_window(out, a):
            \"\"\"Each thread goes down one column.\"\"\"
            col = cuda.grid(1)
            if col < out.shape[1]:
                for row in range(out.shape[0]):
                    out[row, col] = $of_all
    """
    answer = """
        @cuda.jit
        def column_window(out, a):
            \"\"\"Each thread goes down one column.\"\"\"
            col = cuda.grid(1)
            if col < out.shape[1]:
                above, here = a[0, col], a[1, col]
                for row in range(out.shape[0]):
                    below = a[row + 2, col]
                    out[row, col] = $of_held
                    above, here = here, below
    """
    others = {
        "loops over a local array, which the compiler keeps in registers": (
            """
            @cuda.jit
            def column_window(out, a):
                col, held = cuda.grid(1), cuda.local.array(3, $type)
                if col < out.shape[1]:
                    for k in range(2):
                        held[k + 1] = a[k, col]
                    for row in range(out.shape[0]):
                        for k in range(2):
                            held[k] = held[k + 1]
                        held[2] = a[row + 2, col]
                        found = held[0]
                        for k in range(1, 3):
                            found = $of_next
                        out[row, col] = found
            """,
        ),
    }
    wrong = {
        "no guard": ("bounds", "if col < out.shape[1]:", "if True:"),
        "guard one too far": ("bounds", "col < out", "col <= out"),
        "hard-coded height": ("bounds", "range(out.shape[0])", "range(16)"),
        "one row too many": ("bounds", "range(out.shape[0])", "range(a.shape[0])"),
        "one row too few": ("wrong", "range(out.shape[0])", "range(out.shape[0] - 1)"),
        "the window stands": ("wrong", "above, here = here, below", "pass"),
        "slides in the wrong order": (
            "wrong",
            "above, here = here, below",
            "here = below\n            above = here",
        ),
        "two of three": ("wrong", "$of_held", "$of_two"),
        "begins with nothing": ("wrong", "a[0, col], a[1, col]", "0, 0"),
        "writes the input": ("writes_input", "= $of_held", "= a[row, col] = $of_held"),
        "stores twice": (
            "over_budget:requests",
            "out[row, col] = $of_held",
            "out[row, col] = out[row, col] = $of_held",
        ),
        "all come back": (
            "over_budget:loads",
            "above, here = here, below",
            "above, here = a[row + 1, col], a[row + 2, col]",
        ),
    }
    hints = {
        "over_budget:loads": (
            "Which of the three numbers of one row does the same thread need for the "
            "next row, too?",
            "Two of the three: keep them in variables, so that each row brings one new "
            "number.",
            "Load the first two before the loop; in it, load one, store the result, "
            "and let each variable take the value of the one below it.",
        ),
        "wrong": (
            "What do your variables hold in the second row, and what should they hold?",
            "The window slides down by one: what was here is above, and what was below "
            "is here.",
            "Assign the upper variable first, or both at once: once `here` has its new "
            "value, the old one is gone.",
        ),
    }
