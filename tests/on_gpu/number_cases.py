"""Expressions of numbers that are special: what a GPU is asked once, and the emulator
always.

A case is a kernel whose threads compute every expression of one row of the inputs, all
numbers of one type with all of another. Left out is what a GPU answers as the compiler
has it: the sign of a zero beside a literal 0, a shift by a literal of 64 and more, a
float that no uint8 holds, widened at once; and whatever is rounded by CUDA's library.
"""

from typing import NamedTuple

import numpy as np
from numba import cuda

INTEGERS = ("i1", "i4", "i8", "u1", "u4", "u8")
FLOATS = ("f2", "f4", "f8")
NAMES = {
    name: np.dtype("?" if name == "b1" else name).name
    for name in ("b1", "i2", "u2", *INTEGERS, *FLOATS)
} | {"b1": "bool_"}
RESULT = {"f": np.float64, "i": np.int64}
ARITHMETIC = {"add": "x + y", "sub": "x - y", "mul": "x * y"}
WITH_SMALL = {"floordiv": "x // y", "mod": "x % y"}
EXTREMES = {"min": "min(x, y)", "max": "max(x, y)"}
COMPARISONS = {
    "lt": "x < y",
    "le": "x <= y",
    "gt": "x > y",
    "ge": "x >= y",
    "eq": "x == y",
    "ne": "x != y",
}
BITS = {
    "and": "x & y",
    "or": "x | y",
    "xor": "x ^ y",
    "shl": "x << y",
    "shr": "x >> y",
}
EXPONENTS = (
    *(0, 1, 2, 3, 5, 31, 32, 63, 64, 65535, 65536, 65537, 65538, 100000, 100001),
    *(2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1),
    *(-1, -2, -3, -31, -65536, -65537, -100001, -(2**31), -(2**53), -(2**62) - 1),
    -(2**63) + 1,
)


class Case(NamedTuple):
    """A kernel's name, its expressions (label, kind of result, text), its inputs."""

    name: str
    rows: tuple
    inputs: tuple


def cases():
    """All of them."""
    types = ("b1", *INTEGERS, *FLOATS)
    pairs = [binary(a, b) for a in types for b in types]
    return [*pairs, *map(unary, types), *map(three, FLOATS), *powers(), *rounds()]


def numbers(name):
    """The special numbers of a type."""
    if name == "b1":
        return np.array([False, True])
    return floats(name) if name[0] == "f" else integers(name)


def integers(name):
    info = np.iinfo(name)
    small = (0, 1, 2, 3, 7, -1, -2, -3, -7, 10, 31, 32, 33, 63, 64, 65, 100, 200, 255)
    large = (2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**32 + 33, -(2**32))
    kept = [v for v in (*small, *large, 2**53 + 1) if info.min <= v <= info.max]
    kept += [info.max, info.max - 1, info.min, info.min + 1]
    return np.array(list(dict.fromkeys(kept)), name)


def floats(name):
    info = np.finfo(name)
    least = float(info.smallest_subnormal)
    kept = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 0.1, 0.75, 7.0]
    kept += [1e-3, 127.5, 255.5, 32767.5, 65504.0, np.inf, -np.inf, np.nan]
    kept += [float(info.max), -float(info.max), float(info.tiny), least, -3 * least]
    if name != "f2":
        kept += [2.0**31, 2147483647.0, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63)]
        kept += [2.0**64, 1e30, 16777217.0, 1e-40, -1e-40]
    if name == "f8":
        kept += [1e300, 1e-310, 2.0**53 + 2]
    return np.array(kept).astype(name)


def product(*columns):
    """Each with each."""
    places = np.meshgrid(*(np.arange(len(c)) for c in columns), indexing="ij")
    return tuple(c[p.ravel()] for c, p in zip(columns, places, strict=True))


def binary(a, b):
    """Every operator of two types."""
    kind = "f" if "f" in a + b else "i"
    rows = [*as_rows(kind, ARITHMETIC | WITH_SMALL), *as_rows("i", COMPARISONS)]
    rows.append(("div", "f", "x / y"))
    if "b1" not in (a, b):
        rows += as_rows(kind, EXTREMES)
    if kind == "i":
        rows += as_rows("i", BITS)
    return Case(f"{a} {b}", tuple(rows), product(numbers(a), numbers(b)))


def as_rows(kind, texts):
    return [(label, kind, text) for label, text in texts.items()]


def unary(a):
    """Every conversion, and every operator of one operand."""
    kind = "f" if a[0] == "f" else "i"
    to = [b for b in NAMES if (a, b) not in {("f2", "b1"), ("f4", "u1"), ("f8", "u1")}]
    rows = [(f"to {b}", "if"[b[0] == "f"], f"np.{NAMES[b]}(x)") for b in to]
    rows += [("neg", kind, "-x"), ("pos", kind, "+x"), ("int", "i", "int(x)")]
    rows += [("abs", kind, "abs(x)")]
    rows += [("invert", "i", "~x")] if kind == "i" else []
    rows += [("not", "i", "not x")] if a != "f2" else []
    return Case(a, tuple(rows), (numbers(a),))


def three(a):
    """The least and the greatest of three, and of tuples."""
    texts = {
        f"{name} {label}": text.format(name)
        for name in ("min", "max")
        for label, text in {
            "3": "{0}(x, y, z)",
            "tuple": "{0}((x, y, z))",
            "nested": "{0}({0}(x, y), z)",
        }.items()
    }
    some = numbers(a)[[0, 1, 3, 5, 11, -15 % len(numbers(a)), 19, 21, 22]]
    return Case(f"{a} {a} {a}", tuple(as_rows("f", texts)), product(some, some, some))


def powers():
    """Powers with exponents that are whole, and too large."""
    for a, b in (("i4", "i8"), ("i8", "i8"), ("u4", "u4"), ("u8", "u8"), ("f8", "i8")):
        held = np.iinfo(b)
        exponents = [e for e in EXPONENTS if held.min <= e <= held.max]
        bases = {
            "i": [0, 1, 2, 3, -1, -2, -3, 10, 46341, 2**31 - 1],
            "u": [0, 1, 2, 3, 10, 65537],
            "f": [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan],
        }[a[0]]
        inputs = product(np.array(bases, a), np.array(exponents, b))
        kind = "f" if a[0] == "f" else "i"
        yield Case(f"{a} ** {b}", (("pow", kind, "x ** y"),), inputs)


def rounds():
    """Numbers rounded to digits, few and far too many."""
    for a in ("f4", "f8"):
        least = 5e-324 if a == "f8" else 1e-45
        values = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.15, 2.675, 1234.5678, -1234.5678]
        values += [1e10 / 3, 1e22, 1e-30, 123456789.123, np.inf, -np.inf, np.nan]
        values += [1e37, least, 25.0, 35.0, 1e300 if a == "f8" else 3e38]
        digits = [*range(-45, 46), 100, 300, 330, -300, -330, 2000, -2000]
        inputs = product(np.array(values).astype(a), np.array(digits, "i8"))
        yield Case(f"round {a}", (("round", "f", "round(x, y)"),), inputs)


def answers(case, launched) -> dict:
    """What threads give for each expression, as int64 words; `launched(kernel)` is
    given a grid and arguments.
    """
    names = "xyz"[: len(case.inputs)]
    lines = [f"def kernel({', '.join(n.upper() for n in names)}, floats, whole):"]
    lines += ["    i = cuda.grid(1)", "    if i < X.size:"]
    lines += [f"        {n} = {n.upper()}[i]" for n in names]
    outputs = {"f": "floats", "i": "whole"}
    lines += [
        f"        {outputs[kind]}[{place}, i] = {text}"
        for place, (_, kind, text) in enumerate(case.rows)
    ]
    namespace = {"cuda": cuda, "np": np}
    exec("\n".join(lines), namespace)
    count = len(case.inputs[0])
    floats, whole = (np.full((len(case.rows), count), 77, RESULT[k]) for k in "fi")
    inputs = (np.ascontiguousarray(column) for column in case.inputs)
    kernel = launched(cuda.jit(namespace["kernel"]))
    kernel[-(-count // 128), 128](*inputs, floats, whole)
    floats[np.isnan(floats)] = np.nan  # one NaN for all
    words = {"f": floats.view(np.int64), "i": whole}
    return {
        label: words[kind][place] for place, (label, kind, _) in enumerate(case.rows)
    }
