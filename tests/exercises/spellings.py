"""Ways to spell a kernel: what stands above it, and what stands in its first line. Each
is a text with `{}` where another kernel's text goes, and a line that uses it.
"""

from typing import NamedTuple


class Spelling(NamedTuple):
    """What stands above a kernel, a line of the kernel, and pairs of old and new."""

    above: str = ""
    line: str = "pass"
    edits: tuple = ()


def taking(value, use="0 * {}"):
    """A value that the kernel takes from outside."""
    return Spelling(f"TAKEN = {value}", f"spare = {use.format('TAKEN')}")


def calling(above, call="step(1)"):
    """A device function that the kernel calls."""
    return Spelling(above, f"spare = {call}")


DEVICE = "@cuda.jit(device=True)\ndef step(x):\n    return x + 1"
COLOUR = "from enum import Enum, IntEnum\nclass Colour({}):\n    RED = 1\n    BLUE = 2"
PLACE = (
    "from collections import namedtuple\nPlace = namedtuple('Place', 'row col')\n"
    "PLACE = Place(1, 2.5)"
)
RECORDS = "RECORDS = np.zeros(2, [('a', np.int32)])"

SPELLINGS = {
    "as it is": Spelling(),
    # values
    "a whole number": taking("3"),
    "a large whole number": taking("2**62"),
    "a float": taking("0.1"),
    "an infinity": taking("math.inf", "{} > 1"),
    "a truth": taking("True"),
    "a complex number": taking("2 + 1j"),
    "a complex number that is no number": taking("complex('nan+infj')"),
    "a number of NumPy": taking("np.float32(1.5)"),
    "a small number of NumPy": taking("np.int8(-3)"),
    "a truth of NumPy": taking("np.bool_(True)"),
    "a complex number of NumPy": taking("np.complex64(1j)"),
    "a tuple": taking("(1, 2)", "{}[1]"),
    "a tuple in a tuple": taking("((1, 2.5), 3)", "{}[0][1]"),
    "a tuple of types": taking("(float32, int32)", "{}[0](1)"),
    "a named tuple": Spelling(PLACE, "spare = PLACE.col + PLACE[0]"),
    "a named tuple's class": Spelling(PLACE, "spare = Place(1, 2).col"),
    "a member of a list of whole numbers": Spelling(
        COLOUR.format("IntEnum") + "\nRED = Colour.RED", "spare = 2 * RED"
    ),
    "a list of whole numbers": Spelling(
        COLOUR.format("IntEnum"), "spare = 2 * Colour.BLUE"
    ),
    "a member of a list": Spelling(
        COLOUR.format("Enum") + "\nRED = Colour.RED", "spare = RED == RED"
    ),
    "a list": Spelling(COLOUR.format("Enum"), "spare = Colour.RED == Colour.BLUE"),
    "none": taking("None", "{} is None"),
    "a text": taking("'abc'", "{} == 'abc'"),
    "an array": taking("np.arange(9)", "{}[3]"),
    "an array of none": taking("np.zeros(0)", "{}.size"),
    "a constant array": taking("np.arange(9)", "cuda.const.array_like({})[1]"),
    "records": Spelling(RECORDS, "spare = RECORDS[1].a"),
    "a dictionary": taking("{1: 2}", "{}[1]"),
    "a list of Python": taking("[1, 2]", "{}[1]"),
    "a set": taking("{1, 2}", "1 in {}"),
    "a range": taking("range(3)", "1 in {}"),
    "a slice": taking("slice(1)", "{}"),
    "bytes": taking("b'ab'", "{}[0]"),
    "a fraction": Spelling("from fractions import Fraction\nF = Fraction(1, 2)", "F"),
    "an object": taking("object()", "{} is None"),
    "a generator": taking("(k for k in range(3))", "{}"),
    "a number of its own class": Spelling(
        "class Mine(int):\n    pass\nMINE = Mine(3)", "spare = 2 * MINE"
    ),
    "a date": taking("np.datetime64('2020-01-01')", "{}"),
    # types
    "a type by another name": taking("float32", "{}(1)"),
    "a type of NumPy": taking("np.float32", "{}(1)"),
    "a type of Python": taking("float", "{}(1)"),
    "a dtype": Spelling(
        "KIND = np.dtype('float32')", "spare = cuda.local.array(2, KIND)"
    ),
    "a type of numba.types": Spelling(
        "from numba import types", "spare = types.int16(1)"
    ),
    "a type for an array": Spelling(
        "from numba import types as t", "spare = cuda.local.array(2, t.f4)"
    ),
    "a record's type": Spelling(
        "import numba\nKIND = numba.from_dtype(np.dtype([('a', 'i4')]))",
        "spare = cuda.local.array(2, KIND)",
    ),
    # modules and their functions
    "a module by another name": Spelling("import math as m", "spare = m.sqrt(2.0)"),
    "a function of a module": Spelling("from math import sqrt", "spare = sqrt(2.0)"),
    "a number of a module": Spelling("from math import pi", "spare = pi"),
    "numba": Spelling("import numba", "spare = numba.float32(1)"),
    "cuda of numba": Spelling("import numba", "spare = numba.cuda.grid(1)"),
    "cuda by another name": Spelling("from numba import cuda as gpu", "gpu.grid(1)"),
    "an operator": Spelling("import operator", "spare = operator.add(1, 2)"),
    "a function of operator": Spelling("from operator import mul", "spare = mul(1, 2)"),
    "a module of another name": Spelling("import cmath", "spare = cmath.sqrt(1j)"),
    "a module that kernels have no use for": Spelling("import os", "spare = os.sep"),
    "a ufunc": Spelling("from numpy import sqrt", "spare = sqrt(2.0)"),
    "libdevice": Spelling("from numba.cuda import libdevice", "libdevice.expf(1.0)"),
    "a function of libdevice": Spelling(
        "from numba.cuda.libdevice import expf", "spare = expf(float32(1))"
    ),
    "a function of cuda": taking("cuda.grid", "{}(1)"),
    "a barrier by another name": taking("cuda.syncwarp", "{}()"),
    "the place of a thread": Spelling(
        "from numba.cuda import threadIdx", "spare = threadIdx.x"
    ),
    "shared of cuda": Spelling(
        "from numba.cuda import shared", "shared.array(3, int32)"
    ),
    "a function of a stub": taking(
        "cuda.atomic.add", "{}(cuda.local.array(1, int32), 0, 1)"
    ),
    "an array's function": taking("cuda.local.array", "{}(2, int32)"),
    "helpers": Spelling(
        "from helpers import load4", "spare = load4(a, 0)[0] if a.size > 4 else a[0]"
    ),
    "a builtin": taking("max", "{}(1, 2)"),
    "a builtin that kernels have not": taking("sorted", "{}((1, 2))"),
    # device functions
    "a device function": calling(DEVICE),
    "a device function that nothing calls": Spelling(DEVICE),
    "a device function of a lambda": calling(
        "step = cuda.jit(device=True)(lambda x: x + 1)"
    ),
    "a device function of a lambda on three lines": calling(
        "step = cuda.jit(device=True)(\n    lambda x:\n    x + 1\n)"
    ),
    "two lambdas on one line": calling(
        "step, other = (cuda.jit(device=True)(it) for it in (lambda x: x, lambda y: 2))"
    ),
    "a device function without a decorator": calling(
        "def plain(x):\n    return x + 1\nstep = cuda.jit(device=True)(plain)"
    ),
    "a device function with the kernels' decorator": calling(
        "@cuda.jit\ndef step(x):\n    return x + 1"
    ),
    "a device function with a default": calling(
        "@cuda.jit(device=True)\ndef step(x, by=2):\n    return x + by"
    ),
    "a device function with a default from outside": calling(
        "BY = 3\n@cuda.jit(device=True)\ndef step(x, by=BY):\n    return x + by"
    ),
    "a device function that is inlined": calling(
        DEVICE.replace("True", "True, inline='always'")
    ),
    "a device function in another": calling(
        DEVICE + "\n@cuda.jit(device=True)\ndef twice(x):\n    return step(step(x))",
        "twice(1)",
    ),
    "a device function made by another": calling(
        "def make(by):\n    @cuda.jit(device=True)\n    def step(x):\n"
        "        return x + by\n    return step\nstep = make(3)"
    ),
    "a device function of a factory's lambda": calling(
        "def make(by):\n    return cuda.jit(device=True)(lambda x: x + by)\n"
        "step = make(3)"
    ),
    "a device function with a signature": calling(
        DEVICE.replace("device=True", "'int64(int64)', device=True")
    ),
    "a device function with annotations": calling(
        DEVICE.replace("(x)", "(x: int) -> int")
    ),
    "a device function with a less indented text": calling(
        "def make():\n    @cuda.jit(device=True)\n    def step(x):\n"
        "        '''It\nadds.'''\n        return x + 1\n    return step\nstep = make()"
    ),
    "a function of Python": calling("def step(x):\n    return x + 1"),
    "a device function that is wrapped": calling(
        "import functools\ndef plain(x):\n    return x\n"
        "@functools.wraps(plain)\ndef other(x):\n    return x + 1\n"
        "step = cuda.jit(device=True)(other)"
    ),
    "many device functions": calling(
        "def made(before):\n    @cuda.jit(device=True)\n    def step(x):\n"
        "        return before(x) + 1\n    return step\n"
        f"{DEVICE}\nfor _ in range(20):\n    step = made(step)"
    ),
    # how it is written
    "a barrier more": Spelling(line="cuda.syncwarp()"),
    "a semicolon": Spelling(line="spare = 1; spare += 2"),
    "an if in one line": Spelling(line="if a.size: spare = 1"),
    "a name of other letters": Spelling(line="größe = 1"),
    "a walrus": Spelling(line="spare = (size := a.size)"),
    "a continued line": Spelling(line="spare = 1 + \\\n        2"),
    "a backslash in the first column": Spelling(line="spare = 1\n\\\n    spare = 2"),
    "a form feed": Spelling(line="spare = 1  # \x0c x"),
    "a line separator": Spelling(line="spare = '\u2028' == 'x'"),
    "a text of several lines": Spelling(line="'''one\ntwo'''"),
    "a function in the kernel": Spelling(
        line="def inner(x):\n        return x + 1\n    spare = inner(1)"
    ),
    "a lambda in the kernel": Spelling(
        line="inner = lambda x: x + 1; spare = inner(1)"
    ),
    "a global": Spelling("G = 3", "global G"),
    "a comprehension": Spelling(line="spare = sum([k for k in (1, 2)])"),
    "an assertion": Spelling(line="assert a.size >= 0"),
    "an error": Spelling(line="if a.size < 0: raise ValueError"),
    "a match": Spelling(line="match a.size:\n        case 1: spare = 1"),
    "a with": Spelling(line="with a: pass"),
    "a try": Spelling(
        line="try:\n        spare = 1\n    except Exception:\n        spare = 2"
    ),
    "a print": Spelling(line="print(a.size)"),
    "a debugger's name": Spelling(line="__spare = 1"),
    "a parenthesis at the decorator": Spelling(edits=("@cuda.jit\n", "@cuda.jit()\n")),
    "fast mathematics": Spelling(edits=("@cuda.jit\n", "@cuda.jit(fastmath=True)\n")),
    "an option of the driver": Spelling(
        edits=("@cuda.jit\n", "@cuda.jit(max_registers=32)\n")
    ),
    "other options": Spelling(edits=("@cuda.jit\n", "@cuda.jit(lineinfo=True)\n")),
    "a debugged kernel": Spelling(
        edits=("@cuda.jit\n", "@cuda.jit(debug=True, opt=False)\n")
    ),
    "a decorator by another name": Spelling(
        "jit = cuda.jit", edits=("@cuda.jit\n", "@jit\n")
    ),
    "a device function for a kernel": Spelling(
        edits=("@cuda.jit\n", "@cuda.jit(device=True)\n")
    ),
    "annotations": Spelling(edits=("(out, a)", "(out: 'array', a) -> None")),
    "names of its own": Spelling(edits=("(out, a)", "(out, a, *more)")),
    "a default": Spelling(edits=("(out, a)", "(out, a, n=3)")),
    "arguments by position": Spelling(edits=("(out, a)", "(out, a, /)")),
    "arguments by name": Spelling(edits=("(out, a)", "(out, *, a)")),
}
