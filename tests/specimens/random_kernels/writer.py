"""Writes one random program: names, indented lines, expressions, and what it used."""

import random
import re
from collections import Counter
from contextlib import contextmanager

from tests.specimens.random_kernels.data import CODES, PLAIN_CODES
from tests.specimens.random_kernels.expressions import ENDS_THREAD, EXPRESSIONS, LEAVES

CASTS = {
    "i": "np.int64", "u": "np.uint32", "f": "np.float64",
    "h": "np.float16", "c": "np.complex128", "b": "bool",
}


class Writer:
    """A program that grows line by line.

    `whole` says that no thread can have left yet, so that a warp may wait for its
    lanes; `stay`, that none may leave now. `loops` are the turns' names, which njit's
    twin notes, and `without` the features that are left out.
    """

    def __init__(self, seed, threads, plain=False, without=()):
        self.random = random.Random(seed)
        self.plain, self.threads, self.without = plain, threads, without
        self.features, self.arrays = Counter(), {}
        self.lines, self.depth, self.stores, self.loops = [], 1, 0, []
        self.codes = PLAIN_CODES if plain else CODES
        self.kinds = "iuf" if plain else self.some_kinds()
        self.variables = {kind: [] for kind in "iufhcb"} | {"i": ["t"]}
        self.fuel = 10  # nested statements that may still be begun
        self.whole, self.stay, self.long, self.names = True, False, False, 0

    def some_kinds(self):
        """Floats of 16 bits and complex numbers are in some kernels only."""
        half, both = self.random.random() < 0.2, self.random.random() < 0.25
        return "iuf" + "h" * half + "c" * both

    def may_have(self, row):
        """May a row of a table be drawn now?"""
        if row.name in self.without or (self.plain and not row.plain):
            return False
        if self.stay and row.name in ENDS_THREAD:
            return False
        return row.when is None or row.when(self)

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def write(self, *lines):
        for line in lines:
            self.line(line)

    def name(self, hint):
        self.names += 1
        return f"{hint}{self.names}"

    def array(self, name):
        """An argument of the kernel, which it has from now on."""
        self.arrays[name] = None
        return name

    @contextmanager
    def block(self, head):
        """The lines under a head; names that they bring are gone behind them."""
        self.line(head)
        self.depth += 1
        outside = {kind: list(names) for kind, names in self.variables.items()}
        yield
        self.variables = outside
        self.depth -= 1

    def kind(self):
        return self.pick("i", "i", "f", "f", "u", *self.kinds)

    def expression(self, kind, depth=2):
        """An expression of a kind, as text."""
        if depth <= 0 or (kind != "b" and self.chance(0.15)):
            return self.leaf(kind)
        row = EXPRESSIONS[kind].draw(self)
        if row.name in ENDS_THREAD:
            self.whole = False
        return re.sub(r"{(\w)}", lambda m: self.filled(m[1], depth - 1), row.write)

    def filled(self, kind, depth):
        if kind.isupper():
            return self.cell(kind.lower())
        return self.expression(kind, depth)

    def leaf(self, kind):
        if kind == "b":
            return f"({self.leaf('i')} > {self.leaf('i')})"
        cells = [""] * len(self.codes[kind])
        known = [*self.variables[kind] * 3, *LEAVES[kind], *cells]
        return self.pick(*known) or self.cell(kind)

    def cell(self, kind):
        """A cell of an array that the kernel is given."""
        name = f"a_{self.pick(*self.codes[kind])}"
        if not self.plain and self.chance(0.1):
            self.features["uniform index of a global array"] += 1
            return f"{self.array(name)}[{self.pick('-1', '-2', '5', '-n')}]"
        return f"{self.array(name)}[{self.index()}]"

    def index(self):
        i = self.pick("t", "t", "lane", *self.variables["i"])
        signed = f"({i}) % n", f"({i} + 3) % n", f"({i}) % n - n"
        return self.pick(*signed, f"np.uint32({i}) % np.uint32(n)", "t % n", "7")

    def safely(self, kind, depth=1):
        """An expression with which no thread ends, for what a warp waits in."""
        with self.staying():
            return self.expression(kind, depth)

    @contextmanager
    def staying(self):
        """What no thread may leave, if all are here: a loop with warp operations."""
        before, self.stay = self.stay, self.stay or self.whole
        yield
        self.stay = before

    def variable(self, kind, value):
        """A new variable of a kind, and its line."""
        name = self.name(kind)
        self.line(f"{name} = {CASTS[kind]}({value})")
        self.variables[kind].append(name)
        return name
