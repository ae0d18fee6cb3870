"""Answers made of data again, in the process that judges: no line of them runs.

Of a function's source only its definition is compiled, without decorators, defaults
and annotations, which would run; what it takes from outside is a number, an array, a
type, a module of a short list or another such function. All else is refused.
"""

import ast
import base64
import binascii
import importlib
import keyword
import re
from itertools import count
from math import prod
from textwrap import dedent

import numba
import numpy as np
from numba import cuda

from helpers.grading.sandbox.packing import MODULES, OPTIONS, OURS
from thirty_two_lanes.core.source import lines_of, remember

MOST_FUNCTIONS = 16
MOST_NAMES = 200
MOST_SOURCE = 60_000  # characters of a function
MOST_LINES = 1_000
MOST_DIGITS = 400
DEEPEST = 20
NUMBER_KINDS = "biufc"
REFUSED = re.compile(  # names and sizes alone: a submission chooses the words
    r"(the module |an array of the type |what raises )?[A-Za-z_]\w{0,60}"
    r"|an (array|answer) of [\d,]{1,20} bytes",
    re.ASCII,
)

_number = count(1)


class Malformed(Exception):
    """What was handed over is no answer; the message is for the learner."""


def answer_of(data):
    """The kernel, the prediction or the text that data describe; raises Malformed."""
    require(isinstance(data, dict) and len(data) == 1, "no answer was handed over")
    if "kernel" in data:
        return kernel_of(data["kernel"])
    return value_of(data.get("value"))


def require(holds, message):
    if not holds:
        raise Malformed(message)


# ---------------------------------------------------------------- functions


def kernel_of(functions):
    """The dispatcher of the first of some functions, with those that it calls."""
    require(isinstance(functions, list) and functions, "there is no kernel")
    require(
        len(functions) <= MOST_FUNCTIONS,
        f"a kernel may consist of {MOST_FUNCTIONS} functions, not {len(functions):,}",
    )
    return Builder(functions).dispatcher(0)


class Builder:
    """Makes functions of data, each once."""

    def __init__(self, functions):
        self.functions, self.made, self.begun = functions, {}, set()

    def dispatcher(self, index):
        """The function at an index of the list, compiled for the emulator."""
        known = type(index) is int and 0 <= index < len(self.functions)
        require(known, "a function that it calls was not handed over")
        if index not in self.made:
            require(index not in self.begun, "a function calls itself")
            self.begun.add(index)
            self.made[index] = self.build(self.functions[index])
        return self.made[index]

    def build(self, data):
        require(isinstance(data, dict), "a function is not described")
        name, given = data.get("name"), data.get("names")
        require(is_name(name), "a function has no name")
        require(isinstance(given, dict), "a function's names are not described")
        require(len(given) <= MOST_NAMES, "a function uses too many names")
        require(all(map(is_name, given)), "a function uses a name that is none")
        definition = definition_of(data.get("source"), name)
        used = {it.id for it in ast.walk(definition) if isinstance(it, ast.Name)}
        names = {k: self.outside(k, v) for k, v in given.items() if k in used}
        function = defined(definition, data["source"], names)
        options, types = options_of(data.get("options")), data.get("signatures") or []
        require(isinstance(types, list) and len(types) <= 4, "too many signatures")
        signatures = [signature_of(it) for it in types]
        try:
            return cuda.jit(signatures or None, **options)(function)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise Malformed(f"its options are refused: {error}"[:300]) from None

    def outside(self, name, data):
        if isinstance(data, dict) and "function" in data:
            return self.dispatcher(data["function"])
        try:
            return value_of(data)
        except Malformed as error:
            raise Malformed(f"it takes `{name}` from outside: {error}") from None


def is_name(text) -> bool:
    return (
        isinstance(text, str)
        and len(text) <= 100
        and text.isidentifier()
        and not keyword.iskeyword(text)
        and not text.startswith("__")  # as __builtins__
    )


def definition_of(source, name):
    """The definition in a function's source, without what would run."""
    require(isinstance(source, str) and source.strip(), "its source is not to be had")
    lines = source.count("\n")
    require(
        len(source) <= MOST_SOURCE and lines <= MOST_LINES,
        f"`{name}` has {lines:,} lines; {MOST_LINES:,} lines of together "
        f"{MOST_SOURCE:,} characters are the most",
    )
    try:
        body = ast.parse(dedent(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"`{name}` cannot be read: {type(error).__name__}") from None
    one = len(body) == 1 and isinstance(body[0], ast.FunctionDef)
    require(one, f"`{name}` is not one plain function")
    definition = body[0]
    arguments = definition.args
    bare = not (arguments.defaults or any(arguments.kw_defaults))
    require(bare, f"`{name}` has arguments with defaults: pass them instead")
    contexts = [it for it in ast.walk(definition) if isinstance(it, ast.With)]
    require(not contexts, f"`{name}` has a `with`, which kernels cannot use")
    definition.decorator_list, definition.returns = [], None
    if getattr(definition, "type_params", None):
        definition.type_params = []
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return definition


def defined(definition, source, names):
    """The function of a definition; only the `def` runs."""
    file = f"<{definition.name}, handed in {next(_number)}>"
    first, last = definition.lineno - 1, definition.end_lineno
    lines = lines_of(dedent(source))[first:last]  # above them, a text may be a decoy
    remember("\n" * first + "".join(lines), file)
    try:
        code = compile(ast.Module([definition], []), file, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"it cannot be compiled: {type(error).__name__}") from None
    namespace = dict(names)
    exec(code, namespace)
    return namespace[definition.name]


def options_of(data) -> dict:
    """What `@cuda.jit` was given, as far as it matters to a judge."""
    require(isinstance(data, dict), "its options are not described")
    require(data.keys() <= set(OPTIONS), "it has options that nobody knows")
    inline = data.get("inline", "never")
    require(inline in ("never", "always", True, False), "its inlining is not known")
    flags = {k: v for k, v in data.items() if k != "inline"}
    require(
        all(type(it) in (bool, int) for it in flags.values()),
        "its options are not numbers",
    )
    return data


def signature_of(data):
    """The types of a declared signature."""
    require(isinstance(data, list) and len(data) <= 64, "a signature is not described")
    types = tuple(value_of(it) for it in data)
    require(
        all(isinstance(it, numba.types.Type) for it in types),  # Numba runs texts
        "a signature is not of types",
    )
    return types


# ---------------------------------------------------------------- values


def value_of(data, depth=0):
    """The value that data describe."""
    require(depth < DEEPEST, "it is nested too deeply")
    if data is None or type(data) in (bool, str):
        return data
    require(isinstance(data, dict), "it is no value")
    for kind, rebuild in REBUILD.items():
        if kind in data:
            return rebuild(data, depth + 1)
    what = data.get("refused")
    what = what if isinstance(what, str) and REFUSED.fullmatch(what) else "something"
    raise Malformed(
        f"{what} cannot be handed over; numbers, tuples, arrays, types and functions "
        "with `@cuda.jit` can"
    )


def int_of(data, depth):
    text = data["int"]
    right = isinstance(text, str) and len(text) <= MOST_DIGITS and text.isascii()
    require(right and text.removeprefix("-").isdecimal(), "no number")
    return int(text)


def float_of(data, depth):
    try:
        return float.fromhex(data["float"])
    except (TypeError, ValueError, OverflowError):
        raise Malformed("no number") from None


def array_of(data, depth):
    """An array of numbers; a number of NumPy's where it is marked as one."""
    dtype, shape = numbers_dtype(data["array"]), data.get("shape")
    right = isinstance(shape, list) and len(shape) <= 8
    require(right and all(type(n) is int and n >= 0 for n in shape), "no shape")
    try:
        raw = base64.b64decode(data.get("bytes", ""), validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise Malformed("an array without its numbers") from None
    require(len(raw) == prod(shape) * dtype.itemsize, "an array of another size")
    try:
        array = np.frombuffer(raw, dtype).reshape(shape).copy()
    except (ValueError, OverflowError):  # no elements along impossible axes
        raise Malformed("an array of another size") from None
    return array[()] if data.get("scalar") is True and not shape else array


def numbers_dtype(text):
    """A type of NumPy's that holds numbers."""
    require(isinstance(text, str) and len(text) < 8, "an array of no type")
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        raise Malformed("an array of no type") from None
    require(dtype.kind in NUMBER_KINDS, "no type of numbers")
    return dtype


def tuple_of(data, depth):
    require(isinstance(data["tuple"], list) and len(data["tuple"]) <= 4096, "no tuple")
    return tuple(value_of(it, depth) for it in data["tuple"])


def dict_of(data, depth):
    """A prediction of several values, whose names are words or numbers."""
    rows = data["dict"]
    require(isinstance(rows, list) and len(rows) <= 100, "no dictionary")
    require(all(isinstance(it, list) and len(it) == 2 for it in rows), "no dictionary")
    keys = [value_of(key, depth) for key, _ in rows]
    require(all(type(it) in (str, int, bool) for it in keys), "no names")
    return {key: value_of(row[1], depth) for key, row in zip(keys, rows, strict=True)}


def type_of(data, depth):
    """A type of Numba's that has a name."""
    found = getattr(numba.types, data["type"], None) if is_name(data["type"]) else None
    require(isinstance(found, numba.types.Type), "a type that has no name")
    return found


def array_type_of(data, depth):
    """The type of an array in a signature."""
    parts = data["array type"]
    require(isinstance(parts, list) and len(parts) == 3, "no type of an array")
    name, ndim, layout = parts
    known = type(ndim) is int and 1 <= ndim <= 8 and layout in ("C", "F", "A")
    require(known, "no type of an array")
    return numba.types.Array(type_of({"type": name}, depth), ndim, layout)


def module_of(data, depth):
    allowed = data["module"] in MODULES and data["module"] != OURS
    require(allowed, "the module is not one of those allowed")
    return importlib.import_module(data["module"])


def member_of(data, depth):
    """A function or a type of an allowed module."""
    parts = data["member"]
    require(isinstance(parts, list) and len(parts) == 2, "no function")
    module, name = parts
    known = module in MODULES and is_name(name)
    require(known, "the module is not one of those allowed")
    found = getattr(importlib.import_module(module), name, None)
    require(callable(found), "no function of that name")
    return found


REBUILD = {
    "int": int_of,
    "float": float_of,
    "array type": array_type_of,
    "array": array_of,
    "tuple": tuple_of,
    "dict": dict_of,
    "dtype": lambda data, depth: numbers_dtype(data["dtype"]),
    "type": type_of,
    "module": module_of,
    "member": member_of,
    "ellipsis": lambda data, depth: ...,
}
