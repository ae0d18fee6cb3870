"""Random programs of values of many types, in the statements that Numba's tests use.

The other programs of this folder are of numbers. These have tuples, named tuples,
enumerations, records, texts, values that may be None, inner functions, and loops over
all that Numba iterates. A program is right if it leaves what Python leaves, or `njit`.
`python -m tests.specimens.random_kernels.typed 5000 --first 0` says what is wrong.
"""

import argparse
import enum
import linecache
import math
import random
import re
import warnings
from collections import Counter, namedtuple
from contextlib import contextmanager, suppress
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from numba import cuda, njit

from helpers import emulate
from tests.specimens.random_kernels.typed_rows import DEVICE, EXPRESSIONS, STATEMENTS
from thirty_two_lanes.core.errors import EmulatorFault, ExplainedError, UnsupportedError

THREADS, CELLS = 12, 8
ARGUMENTS = "a, n, q, u, m, z, r, t, s, p, kind, out"
KINDS = "ifbztsp"
RECORD = np.dtype([("x", "f8"), ("k", "i4"), ("v", "f4", (2,))])
Pair = namedtuple("Pair", "k x")


class Kind(enum.Enum):
    ROUND = 2
    FLAT = 3


class Size(enum.IntEnum):
    SMALL = 3
    LARGE = 7


def arguments():
    """What a program reads and writes, each time anew."""
    i = np.arange(THREADS)
    records = np.zeros(THREADS, RECORD).view(np.recarray)
    records.x, records.k, records.v[:, 1] = i / 2, 5 - i, i
    numbers = i / 4 + 1, (i * 7 - 20).astype("i4"), (i * 9 - 60).astype("i1")
    more = (i * 3).astype("u4"), np.arange(12.0).reshape(4, 3), i - 1j * (i % 3)
    values = (3, 2.5), (5, -6, 7), Pair(4, 0.25), Kind.FLAT
    return *numbers, *more, records, *values, np.zeros((THREADS, CELLS))


class Writer:
    """A program that grows line by line."""

    def __init__(self, seed):
        self.random = random.Random(f"typed {seed}")
        self.names = {kind: [] for kind in KINDS}
        self.lines, self.depth, self.fuel, self.count = [], 1, 9, 0
        self.loops, self.features = 0, Counter()

    def line(self, text):
        """Add a line; `{i}` in it stands for an expression of that kind."""
        self.lines.append("    " * self.depth + self.filled(text))

    def filled(self, text, depth=2):
        return re.sub(r"{(\w)}", lambda it: self.expression(it[1], depth), text)

    def expression(self, kind, depth=2):
        """An expression of a kind, as text."""
        leaves, rows = EXPRESSIONS[kind]
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice([*leaves, *self.names[kind] * 2])
        text = self.random.choice(rows)
        self.features[text] += 1
        return f"({self.filled(text, depth - 1)})"

    def statement(self):
        """One statement, which may hold others."""
        self.fuel -= 1
        rows = [row for row in STATEMENTS if self.fuel > 0 or not row.nests]
        rows = [row for row in rows if self.loops or not row.in_loop]
        (row,) = self.random.choices(rows, [row.weight for row in rows])
        self.features[row.write.__name__] += 1
        row.write(self)

    def block(self, head, most=3, loop=False):
        """The lines under a head; names that they bring are gone behind them."""
        self.line(head)
        with self.further_in(loop):
            for _ in range(self.random.randint(1, most)):
                self.statement()

    @contextmanager
    def further_in(self, loop=False):
        before = {kind: list(names) for kind, names in self.names.items()}
        self.depth, self.loops = self.depth + 1, self.loops + loop
        yield
        self.depth, self.loops, self.names = self.depth - 1, self.loops - loop, before

    def new(self, kind):
        """A name that nothing has yet."""
        self.count += 1
        return f"{kind}{self.count}"

    def set(self, kind, value):
        """A variable of a kind, old or new, and its line."""
        old = self.names[kind]
        name = self.random.choice(old) if old and self.random.random() < 0.5 else None
        name = name or self.new(kind)
        self.line(f"{name} = {value}")
        if name not in old:
            old.append(name)
        return name


def program(seed):
    """The lines of a seed, and what they were made of."""
    writer = Writer(seed)
    for _ in range(writer.random.randint(3, 7)):
        writer.statement()
    last = [name for kind in "ifb" for name in writer.names[kind][-2:]]
    for cell, name in enumerate(last):
        writer.line(f"out[i, {cell}] = {name}")
    return writer.lines, writer.features


class Target(NamedTuple):
    """What runs a program: Python, njit or a kernel."""

    decorate: object  # (function, device) -> what is called
    unroll: object  # its `literal_unroll`


PYTHON = Target(lambda function, device: function, iter)
KERNEL = Target(
    lambda function, device: cuda.jit(device=device)(function),
    getattr(cuda, "literal_unroll", None),
)
NJIT = Target(
    lambda function, device: njit(error_model="numpy")(function), numba.literal_unroll
)


@cache
def names_of(target) -> dict:
    """What a program names, as a target has it."""
    names = {"np": np, "math": math, "cuda": cuda, "literal_unroll": target.unroll}
    names |= {"Pair": Pair, "Kind": Kind, "Size": Size, "MODE": "fast", "EMPTY": ()}
    executed(DEVICE, "<device>", names)
    for name in re.findall(r"^def (\w+)", DEVICE, re.MULTILINE):
        names[name] = target.decorate(names[name], True)
    return names


def executed(text, file, names):
    """Run a source, whose lines messages can quote."""
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    with warnings.catch_warnings(action="ignore"):  # such as `7 is not None`
        exec(compile(text, file, "exec"), names)


def function_of(lines, number, target, file):
    """The function of some lines; of one thread, or of all, by their `number`."""
    given, first = (", i", []) if number is None else ("", [f"    i = {number}"])
    text = "\n".join([f"def program({ARGUMENTS}{given}):", *first, *lines, ""])
    names = dict(names_of(target))
    executed(text, file, names)
    return target.decorate(names["program"], False)


def fault_of(lines, seed="") -> str:
    """What is wrong with the emulator's run of some lines; "" where nothing is, and
    "refused: …" where it refuses them.
    """
    file = f"<typed {seed}>"
    kernel = function_of(lines, "cuda.grid(1)", KERNEL, file)
    actual = arguments()
    try:
        with warnings.catch_warnings(action="ignore"):
            emulate(kernel)[1, THREADS](*actual)
    except EmulatorFault as error:
        return f"fault: {error}"
    except UnsupportedError as error:
        return f"not yet: {error}"
    except ExplainedError as error:
        return f"refused: {error}"
    for target in (PYTHON, NJIT):
        thread = function_of(lines, None, target, file)
        if _same(_one_by_one(thread), actual):
            return ""
    return "wrong values"


def _one_by_one(function):
    """What is left by one thread after the other; an exception ends its thread."""
    given = arguments()
    for i in range(THREADS):
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            try:
                function(*given, np.int64(i))
            except numba.core.errors.NumbaError:
                raise
            except Exception:  # whatever a thread raises
                continue
    return given


def _same(expected, actual) -> bool:
    """Are the results and the records the same?"""
    pairs = [(expected[-1], actual[-1])]
    records = expected[6], actual[6]
    pairs += [tuple(it[name] for it in records) for name in RECORD.names]
    return all(np.allclose(*pair, rtol=1e-9, equal_nan=True) for pair in pairs)


def main():
    """Run programs, and say how many are right and what the others are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    told = Counter()
    with suppress(KeyboardInterrupt):  # says how far it came
        for seed in range(given.first, given.first + given.count):
            fault = fault_of(program(seed)[0], seed)
            told[fault.partition(":")[0] or "right"] += 1
            if fault:
                print(seed, " ".join(fault.split()), flush=True)
    print(*(f"{count} {word}" for word, count in told.most_common()), sep=", ")


if __name__ == "__main__":
    main()
