"""Values made of data again: numbers, arrays, types, tuples and what has a name in a
module of a short list. Whatever the data are, only such a value comes of them.
"""

import base64
import binascii
import importlib
import keyword
import re
from collections import namedtuple
from enum import Enum, IntEnum
from functools import cache
from math import prod
from unicodedata import normalize

import numba
import numpy as np

from helpers.exercises.packing import MODULES, OURS

NO_ENUM = "an enumeration of no numbers"
NUMBER_KINDS = "biufc"
DEEPEST = 20
MOST_DIGITS = 400
REFUSED = re.compile(  # names and sizes alone: a submission chooses the words
    r"(the module |an array of the type |what raises )?[A-Za-z_]\w{0,60}"
    r"|an (array|answer) of [\d,]{1,20} bytes",
    re.ASCII,
)


class Malformed(Exception):
    """What was handed over is no answer; the message is for the learner."""


def require(holds, message):
    if not holds:
        raise Malformed(message)


def is_name(text) -> bool:
    return (
        isinstance(text, str)
        and len(text) <= 100
        and text.isidentifier()
        and normalize("NFKC", text) == text  # as Python reads names: else two are one
        and not keyword.iskeyword(text)
        and not text.startswith("__")  # as __builtins__
    )


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
    return from_hex(data["float"])


def from_hex(text) -> float:
    try:
        return float.fromhex(text)
    except (TypeError, ValueError, OverflowError):
        raise Malformed("no number") from None


def complex_of(data, depth):
    parts = data["complex"]
    require(isinstance(parts, list) and len(parts) == 2, "no number")
    return complex(*map(from_hex, parts))


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
    items = tuple(value_of(it, depth) for it in data["tuple"])
    if "fields" not in data:
        return items
    kind = named_tuple_of({"named tuple": data.get("class"), **data}, depth)
    require(len(items) == len(kind._fields), "a named tuple of other names")
    return kind(*items)


def named_tuple_of(data, depth):
    """The class of a named tuple; one for all of the same names."""
    name, fields = data["named tuple"], data.get("fields")
    some = isinstance(fields, list) and len(fields) <= 100
    require(some and all(map(is_name, [name, *fields])), "a named tuple of no names")
    plain = len({*fields}) == len(fields) and not any(it[0] == "_" for it in fields)
    require(plain, "a named tuple of no names")
    return named_tuple(name, *fields)


@cache
def named_tuple(name, *fields):
    return namedtuple(name, fields)


def enum_of(data, depth):
    """An enumeration, or one of its members."""
    name, rows = data["enum"], data.get("members")
    some = isinstance(rows, list) and 0 < len(rows) <= 100
    require(some and all(isinstance(it, list) and len(it) == 2 for it in rows), NO_ENUM)
    names = [row[0] for row in rows]
    require(all(map(is_name, [name, *names])) and len({*names}) == len(names), NO_ENUM)
    require(not any(it[0] == "_" or it == "mro" for it in names), NO_ENUM)
    values = [value_of(row[1], depth) for row in rows]
    require(all(type(it) in (int, float) for it in values), NO_ENUM)
    is_whole = data.get("whole") is True
    require(not is_whole or all(type(it) is int for it in values), NO_ENUM)
    members = tuple(zip(names, values, strict=True))
    try:
        found = enumeration(name, is_whole, members)
    except (TypeError, ValueError, AttributeError):
        raise Malformed(NO_ENUM) from None
    if "member" not in data:
        return found
    require(data["member"] in names, NO_ENUM)
    return found[data["member"]]


@cache
def enumeration(name, is_whole, members):
    """An enumeration, one for all that are alike: their members are compared."""
    return (IntEnum if is_whole else Enum)(name, members)


def slice_of(data, depth):
    parts = data["slice"]
    require(isinstance(parts, list) and len(parts) == 3, "no slice")
    values = [value_of(it, depth) for it in parts]
    require(all(it is None or type(it) is int for it in values), "no slice")
    return slice(*values)


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
    "complex": complex_of,
    "enum": enum_of,
    "named tuple": named_tuple_of,
    "slice": slice_of,
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
