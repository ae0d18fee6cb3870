"""What Numba's registries for CUDA know: an expression for each, and what comes of it.

known.toml has the expressions by what they are about, each under one of three words.
"right": it leaves what Python leaves, or `njit`, whose types Numba has here, too.
"refused": Numba refuses it, and so do we. "not yet": Numba takes it, and the emulator
refuses it by name. `python -m tests.language.known` sorts them again.
"""

# ruff: noqa: F401    the expressions use these names

import builtins
import cmath
import json
import math
import re
import tomllib
import warnings
import weakref
from contextlib import suppress
from pathlib import Path
from textwrap import indent

import numpy as np
from numba import cuda, float32, float64, int32, int64, njit, typeof, uint8
from numba.core.errors import NumbaError
from numba.core.types import Module
from numba.cuda.descriptor import cuda_target

from helpers import emulate
from tests.frontend.by_python import function_of
from tests.language.features import Colour, Kind, Point, twice
from thirty_two_lanes.core.errors import EmulatorFault, ExplainedError, UnsupportedError
from thirty_two_lanes.core.ir import ArrayType
from thirty_two_lanes.frontend.inference import typed_ir
from thirty_two_lanes.frontend.types import our_type

TABLE = Path(__file__).with_suffix(".toml")
THREADS, CELLS = 4, 8
WORDS = "right", "refused", "not yet"
RECORD = np.dtype([("x", "f4"), ("k", "i4"), ("v", "f4", (2,))])
TEXT, BYTES, EMPTY = "abc", b"abc", ()
HOMES = {np: "np.", np.linalg: "np.linalg.", math: "math.", cmath: "cmath."}
HOMES[builtins] = ""


def sections() -> dict:
    """The expressions, by section and word."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def values():
    """What an expression may name as arguments of its kernel, each time anew."""
    i = np.arange(THREADS)
    records = np.zeros(THREADS, RECORD).view(np.recarray)
    records.x, records.k, records.v = i / 2, i, np.stack([i, 2 * i], 1)
    return {
        **{"a": (i / 4 + 1).astype("f4"), "d": i / 8 + 0.25, "h": (i / 8).astype("f2")},
        **{"n": (i + 1).astype("i4"), "l": i * 3 - 4, "q": (i - 2).astype("i1")},
        **{"u": (i + 7).astype("u4"), "w": (i + 2**60).astype("u8"), "b": i % 2 == 0},
        **{"z": (i + 1j * (i + 1)).astype("c8"), "y": i - 1j * (i + 2)},
        **{"g": (i + 1).astype("m8[s]"), "dt": (i + 10).astype("M8[s]")},
        **{"m": np.arange(16.0).reshape(4, 4), "f": np.arange(16.0).reshape(4, 4).T},
        **{"m3": np.arange(8).reshape(2, 2, 2), "s": np.arange(20)[::2]},
        **{"zero": np.array(7.5), "r": records},
        **{"t": (3, 2.5), "ut": (5, 6, 7), "nt": ((1, 2.0), 3), "p": Point(2, 0.5)},
        **{"e": Kind.FLAT, "ie": Colour.GREEN},
    }


def became(expression) -> str:
    """One of the words; or what is wrong with what the emulator makes of it."""
    try:
        stored = _stored(expression)
        kernel = cuda.jit(_function(expression, stored, "cuda.grid(1)"))
        launch = emulate(kernel)[1, THREADS]
        actual = _left(lambda arguments: launch(*arguments), expression)
    except EmulatorFault:
        return "a fault of its own"
    except UnsupportedError:
        return "not yet"
    except ExplainedError:
        return "refused"
    for function in _oracles(expression, stored):
        if _agree(_left(_one_by_one(function), expression), actual):
            return "right"
    return "wrong"


def _oracles(expression, stored):
    """The same lines for one thread: as Python, and as `njit` compiles them."""
    compiled = njit(error_model="numpy")
    for decorate in (lambda function: function, compiled):
        names = {**globals(), "twice": decorate(twice.py_func)}
        yield decorate(_function(expression, stored, names=names))


def _one_by_one(function):
    """Runs a function for one thread after the other; what it raises ends a thread."""

    def run(arguments):
        for i in range(THREADS):
            with suppress(ArithmeticError, LookupError, TypeError, ValueError):
                function(*arguments, np.int64(i))

    return run


def _left(run, expression):
    """What is left in the results, or None where an oracle cannot run the lines."""
    given = values()
    results = np.zeros(THREADS * CELLS), np.zeros(THREADS, complex)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            run([*(given[name] for name in _names(expression)), *results])
        except ExplainedError:
            raise
        except (NumbaError, AttributeError, NameError, NotImplementedError):
            return None
    return results


def _agree(expected, actual) -> bool:
    return expected is not None and all(
        np.allclose(one, other, rtol=1e-6, equal_nan=True)
        for one, other in zip(expected, actual, strict=True)
    )


def _names(expression) -> list:
    """The arguments that an expression names."""
    found = re.findall(r"(?<![.\w\"'])[a-z]\w*(?![\w\"'(=])", expression)
    return [name for name in values() if name in found]


def _function(expression, stored="", number=None, names=None):
    """A function of the arguments, whose last lines store what the expression is."""
    given = ", ".join([*_names(expression), "out", "zout", *([] if number else "i")])
    first = f"i = {number}\n" if number else ""
    body = indent(f"{first}value = {expression}\n{stored}", "    ")
    return function_of(f"def kernel({given}):\n{body}", names or globals())


def _stored(expression) -> str:
    """The lines that store what an expression is, by its type; none for what has no
    number: an enumeration's class, a dtype, an iterator.
    """
    given = values()
    results = np.zeros(1), np.zeros(1, complex)
    arguments = [given[name] for name in _names(expression)]
    types = [*map(typeof, arguments), *map(typeof, results)]
    function = _function(expression, number="cuda.grid(1)")
    typed = next(
        t for n, t in typed_ir(function, types).types.items() if n.startswith("value")
    )
    ours = our_type(typed)
    if str(typed).startswith("range"):
        return f"for k in value:\n    out[{CELLS} * i] += 10 * k + 1"
    if isinstance(ours, np.dtype):
        name = {"c": "zout[i]", "m": "", "M": ""}.get(ours.kind, "out[i]")
        return f"{name} = value" if name else ""
    if isinstance(ours, ArrayType):
        if ours.dtype.kind not in "biufc":
            return ""
        into = "zout[i] += k" if ours.dtype.kind == "c" else "out[i] += k"
        return f"for k in value.flat:\n    {into}" if ours.ndim else ""
    return _stored_items(ours)


def _stored_items(ours) -> str:
    """The lines for a tuple of numbers."""
    places = enumerate(ours if isinstance(ours, tuple) else ())
    return "\n".join(
        f"out[{CELLS} * i + {place}] = value[{place}]"
        for place, dtype in places
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    )


# what there is


def registered() -> set:
    """The public functions, methods and attributes that Numba types for CUDA, as
    expressions name them: `np.sin`, `math.sqrt`, `abs`, `.mean`.
    """
    context = cuda_target.typing_context
    context.refresh()
    templates = [
        one
        for kind, several in context._attributes.items()
        if not isinstance(kind, Module)  # those of `cuda` are in features.toml
        for one in several
    ]
    names = {f".{getattr(one, '_attr', None)}" for one in templates}
    names |= {
        f".{name.removeprefix('resolve_')}"
        for one in templates
        for name in dir(one)
        if name.startswith("resolve_")
    }
    keys = (*context._functions, *context._globals)
    functions = {key() if isinstance(key, weakref.ref) else key for key in keys}
    for home, prefix in HOMES.items():
        held = ((name, value) for name, value in vars(home).items() if callable(value))
        names |= {f"{prefix}{name}" for name, value in held if value in functions}
    return {name for name in names if "_" not in (name[0], name[1])} - {".None"}


def unnamed(expressions) -> set:
    """What is registered, and no expression names."""
    text = " ".join(expressions)
    words = {*re.findall(r"[\w.]+", text), *re.findall(r"\.\w+", text)}
    return registered() - words


def sorted_again(table) -> dict:
    """The expressions under what becomes of them now."""
    again = {}
    for section, words in table.items():
        again[section] = {}
        for expression in (it for row in words.values() for it in row):
            again[section].setdefault(became(expression), []).append(expression)
    return again


def written(table) -> str:
    """The table as text."""
    lines = ["# What Numba knows on CUDA; known.py says how to read and to write it."]
    for section, words in table.items():
        lines += ["", f"[{json.dumps(section)}]"]
        for word, expressions in words.items():
            lines += [f"{json.dumps(word)} = [", *_filled(expressions), "]"]
    return "\n".join([*lines, ""])


def _filled(expressions):
    """Lines of as many expressions as fit."""
    line = "   "
    for text in map(json.dumps, expressions):
        if len(line) + len(text) > 86 and line.strip():
            yield line
            line = "   "
        line += f" {text},"
    yield line


if __name__ == "__main__":
    TABLE.write_text(written(sorted_again(sections())), encoding="utf-8")
