"""The kernel language, a row for each feature: a piece of a kernel and what it gives.

The rows are in features.toml. `python -m tests.language.features` writes
docs/LANGUAGE.md from them, and test_language.py runs each. `here` is "yes", "not yet"
(the emulator refuses what a GPU would run), "never" (Numba refuses it) or "no" (it
stays out); `kernel` is the body of a kernel, in which `i` is `cuda.grid(1)`; `gives` is
what it leaves in `out`, as NumPy says it."""

# ruff: noqa: F401    the rows use these names

import cmath
import enum
import math
import tomllib
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numba import cuda, float32, float64, int32, uint32
from numba.cuda import libdevice
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float32,
    xoroshiro128p_uniform_float32,
)

from tests.paths import ROOT

ROWS = Path(__file__).with_suffix(".toml")
PAGE = ROOT / "docs" / "LANGUAGE.md"
BLOCKS, THREADS = 2, 32
EIGHT = 8
literal_unroll = getattr(cuda, "literal_unroll", None)
PAIR = (2, 3)
TABLE = np.arange(64.0) ** 2
Point = namedtuple("Point", "x y")
tables = ModuleType("tables")
tables.SQUARES, tables.PAIR = TABLE, PAIR
ON_DEVICE = {}


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 5


class Kind(enum.Enum):
    ROUND = 2
    FLAT = 3


RECORD = np.dtype([("x", "f4"), ("k", "i4"), ("v", "f4", (2,))])


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit(device=True)
def both(x, y=1):
    return x + y, x - y


@cuda.jit(device=True)
def first_above(array, x):
    for place in range(array.size):
        if array[place] > x:
            return place
    return None


@cuda.jit(device=True)
def fill_first(array, value):
    array[0] = value


@cuda.jit(device=True)
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@cuda.jit
def plain_dispatcher(x):
    return x + 3


def undecorated(x):
    return x


def arguments():
    """What a row may name as arguments of its kernel, each time anew."""
    i = np.arange(BLOCKS * THREADS)
    records = np.zeros(64, RECORD)
    records["x"], records["k"] = i / 2, i
    records["v"] = np.stack([i, 2 * i], 1)
    return {
        "a": (i / 4 + 1).astype(np.float32),
        "d": i / 8 + 0.25,
        "n": i.astype(np.int32),
        "u": (i * 77777777).astype(np.uint32),
        "w": i.astype(np.uint64) * 0x123456789ABCDE,
        "q": i.astype(np.int8),
        "b": i % 3 == 0,
        "z": (i / 4 + 1j * (i % 5)).astype(np.complex64),
        "h": (i / 8).astype(np.float16),
        "m": np.arange(64, dtype=np.float32).reshape(8, 8),
        "f": np.asfortranarray(np.arange(64.0).reshape(8, 8)),
        "r": records,
        "t": (3, 2.5),
        "p": Point(2, 0.5),
        "e": Kind.FLAT,
        "g": i.astype("m8[s]"),
        "zero": np.array(7.5),
        "empty": np.zeros(64, np.int32),
        "states": np.zeros(64),
        "out": np.zeros(64),
    }


class Row(NamedTuple):
    """A feature, whether it is here, a kernel's lines, and what they leave in `out`."""

    feature: str
    here: str
    kernel: str = ""
    gives: str = ""
    why: str = ""
    numba_cuda_only: bool = False
    test: str = ""  # the file and name of its own test, where it has no kernel


def sections() -> dict[str, list[Row]]:
    """The rows of features.toml, by section."""
    tables = tomllib.loads(ROWS.read_text(encoding="utf-8"))
    return {name: [Row(**row) for row in rows] for name, rows in tables.items()}


NOT_MODELLED = """\
## What is not modelled

- The last bits: a compiler makes `a * b + c` one fused operation (FMA), with one
  rounding; here there are two. `math` functions of a GPU differ from NumPy's in their
  last bits, and with `fastmath=True` in more than those.
- Time: caches, occupancy, latency, how long anything takes. `measure` shows what was
  measured on a GPU.
- The order of blocks and warps on a GPU: a seed (`emulate(kernel, seed=3)`, or
  `EMULATOR_SEED=3` for all launches) chooses one order, the same each time.
- Registers and machine code, and what the compiler leaves out or keeps in registers.
- Several devices, other processes (IPC), code of other languages (`link=`).
"""


def page() -> str:
    """The page that the rows write."""
    lines = [
        "# The language of kernels",
        "",
        "What `numba.cuda` has, and what runs in the emulator.",
        "Each row is in `tests/language/features.toml`. Most have a kernel that the",
        "tests run: `yes` gives what NumPy gives, `no` is refused in a sentence that",
        "names the line. The others name the file that tests them.",
        "`python -m tests.language.features` writes this page from the rows.",
    ]
    for section, rows in sections().items():
        lines += [
            "",
            f"## {section}",
            "",
            "| feature | here | tested by |",
            "|---|---|---|",
        ]
        lines += [_line(row) for row in rows]
    return "\n".join([*lines, "", *_built_in(), "", NOT_MODELLED])


def _built_in():
    """What the target inside Numba lacks."""
    rows = [row for part in sections().values() for row in part if row.numba_cuda_only]
    return [
        "## Without numba-cuda",
        "",
        "macOS has only the `numba.cuda` that is built into Numba. There, these are",
        "missing or different, and `min` and `max` of numbers are the emulator's own:",
        "",
        *(f"- {row.feature}" for row in rows),
    ]


def _line(row):
    answer = _ANSWERS[row.here] + (f"; {row.why}" if row.why else "")
    answer += " (numba-cuda only)" if row.numba_cuda_only else ""
    tested = "its result" if row.here == "yes" else "its refusal"
    tested = f"`{row.test.split('::')[0]}`" if row.test else tested
    return f"| {row.feature} | {answer} | {tested} |"


_ANSWERS = {
    "yes": "yes",
    "no": "no",
    "not yet": "no, not yet",
    "never": "no: Numba refuses it",
}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
