"""Answers as data: what the process that ran a submission hands over. `check` asks for
it, too, so that it refuses what a grader would.

A kernel is the source of its function and what that takes from outside; no pickle, no
code object. Whatever a submission did to its process, the other side checks all of it.
"""

import ast
import base64
import builtins
import inspect
import sys
import types
from enum import Enum, EnumMeta, IntEnum
from numbers import Number

import numba
import numpy as np

from helpers.exercises.sources import tree_of
from thirty_two_lanes.core.source import contents, globals_of, source_of

MODULES = (
    "builtins",
    "cmath",
    "helpers",
    "math",
    "numba",
    "numba.core.types",  # what `from numba import types` gives
    "numba.cuda",
    "numba.cuda.libdevice",
    "numba.cuda.types",
    "numba.types",
    "numpy",
    "operator",
)
OURS = "helpers"  # whose functions a kernel may use, not what else it leads to
OPTIONS = "device", "fastmath", "inline", "forceinline", "debug", "opt", "max_registers"
LARGEST_ARRAY = 2**20  # bytes


def packed(answer):
    """A kernel, a prediction or a text as data; `{"refused": …}` for anything else."""
    if is_dispatcher(answer):
        return {"kernel": Functions().of_kernel(answer)}
    return {"value": value_data(answer)}


def is_dispatcher(value) -> bool:
    """Did `@cuda.jit` make this of a function?"""
    function = getattr(value, "py_func", None)
    return inspect.isfunction(function) and hasattr(value, "targetoptions")


class Functions:
    """The functions that a kernel consists of, each once; the kernel is the first."""

    def __init__(self):
        self.found = []
        self.data = []

    def of_kernel(self, dispatcher) -> list:
        self.number(dispatcher)
        return self.data

    def number(self, dispatcher) -> int:
        """The index of a function in the list."""
        for index, known in enumerate(self.found):
            if known is dispatcher:
                return index
        self.found.append(dispatcher)
        self.data.append(None)
        index = len(self.found) - 1
        self.data[index] = self.function_data(dispatcher)
        return index

    def function_data(self, dispatcher) -> dict:
        function = dispatcher.py_func
        given = {k: dispatcher.targetoptions.get(k) for k in OPTIONS}
        name, source = text_of(function)
        named = function.__kwdefaults__ or {}
        return {
            "name": name,
            "source": source,
            "defaults": [value_data(it) for it in function.__defaults__ or ()],
            "named defaults": {k: value_data(v) for k, v in named.items()},
            "options": {k: v for k, v in given.items() if plain(v)},
            "signatures": [
                [type_data(it) for it in types_] for types_ in declared(dispatcher)
            ],
            "names": {
                name: self.outside(value) for name, value in outside(function).items()
            },
        }

    def outside(self, value):
        """What a function takes from outside: another function, or a value."""
        if is_dispatcher(value):
            return {"function": self.number(value)}
        return value_data(value)


def text_of(function) -> tuple[str, str]:
    """A function's name, and its lines from its decorators on, or those of its tree
    where they cannot stand alone, as a `lambda`; "" where they are not known.
    """
    tree = tree_of(function)
    if tree is None:
        return function.__name__, ""
    text = "\n".join(source_of(function).lines)
    try:
        alone = isinstance(ast.parse(text).body[0], ast.FunctionDef)
    except SyntaxError:  # its dedented lines; a text in them begins further left
        alone = False
    return tree.name, text if alone else ast.unparse(tree)


def declared(dispatcher) -> list:
    """The argument types with which a kernel was declared, if it was."""
    if getattr(dispatcher, "_can_compile", True):
        return []
    return list(getattr(dispatcher, "overloads", {}))


def outside(function) -> dict:
    """The names that a function and those within it read from outside, with values."""
    names = set(globals_of(function.__code__))
    found = {k: v for k, v in function.__globals__.items() if k in names}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return found | {name: contents(cell) for name, cell in cells}


def missing(function) -> set:
    """The names that a function and those that it calls will want, and lack so far."""
    known = function.__globals__.keys() | vars(builtins).keys()
    lacked = set(globals_of(function.__code__)) - known
    called = [it for it in outside(function).values() if is_dispatcher(it)]
    return lacked.union(*(missing(it.py_func) for it in called))


# ---------------------------------------------------------------- values


def plain(value) -> bool:
    return type(value) in (bool, int, str, float)


def value_data(value):
    """A value as data."""
    if value is None or type(value) in (bool, str):
        return value
    if value is Ellipsis:
        return {"ellipsis": True}
    for kind, pack in PACKERS.items():
        if isinstance(value, kind):
            return pack(value)
    return member_data(value)


def number_data(value):
    """A number by its type and its digits, in which no bit is lost."""
    if isinstance(value, int):
        return {"int": int.__repr__(value)}
    if isinstance(value, float):
        return {"float": float.hex(value)}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    return {"refused": type(value).__name__}


def enum_data(kind):
    """The class of an enumeration: its name, and its members' values."""
    rows = [[name, value_data(it.value)] for name, it in kind.__members__.items()]
    return {"enum": kind.__name__, "whole": issubclass(kind, IntEnum), "members": rows}


def tuple_data(value):
    """A tuple's items, and the names of those that have one."""
    items = {"tuple": [value_data(it) for it in value]}
    if fields := getattr(type(value), "_fields", None):
        return items | {"class": type(value).__name__, "fields": [*fields]}
    return items


def named_tuple_data(kind):
    """The class of a named tuple."""
    fields = getattr(kind, "_fields", ())
    return {"named tuple": kind.__name__, "fields": [*fields]}


def array_data(array):
    """An array's type, shape and bytes."""
    if type(array) is not np.ndarray or array.dtype.hasobject:
        return {"refused": f"an array of the type {type(array).__name__}"}
    if array.nbytes > LARGEST_ARRAY:
        return {"refused": f"an array of {array.nbytes:,} bytes"}
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"array": array.dtype.str, "shape": list(array.shape), "bytes": data}


def type_data(value):
    """A type of Numba's, by name; of an array by what it is made of."""
    if isinstance(value, numba.types.Array):
        return {"array type": [str(value.dtype), value.ndim, value.layout]}
    return {"type": str(value)}


def module_data(value):
    name = value.__name__
    if name in MODULES and name != OURS:
        return {"module": name}
    return {"refused": f"the module {name}"}


PACKERS = {
    # an array of no dimensions; before numbers: some of NumPy's are
    np.generic: lambda value: array_data(np.asarray(value)) | {"scalar": True},
    Enum: lambda value: enum_data(type(value)) | {"member": value.name},
    EnumMeta: enum_data,
    Number: number_data,
    np.ndarray: array_data,
    tuple: tuple_data,
    slice: lambda it: {"slice": [value_data(n) for n in (it.start, it.stop, it.step)]},
    dict: lambda value: {"dict": [[*map(value_data, it)] for it in value.items()]},
    np.dtype: lambda value: {"dtype": value.str},
    numba.types.Type: type_data,
    types.ModuleType: module_data,
}


def member_data(value):
    """A function or a type that is known by its module and its name."""
    name = getattr(value, "__name__", "")
    if isinstance(value, type) and issubclass(value, tuple) and value is not tuple:
        return named_tuple_data(value)
    for module in MODULES:
        if name and getattr(sys.modules.get(module), name, None) is value:
            return {"member": [module, name]}
    return {"refused": type(value).__name__}
