"""What identifies a measurement: a kernel's code, its arguments and its launch.

Two launches of one form run the same instructions over arrays of the same shapes, so
what was measured of the one holds for the other; comments and names are no part of it.
"""

import ast
import hashlib
import types
from dataclasses import dataclass, field

import numba
import numpy as np

from thirty_two_lanes.core.source import contents, definition_of

# what `@cuda.jit` takes and the machine code depends on; `lineinfo` changes none of it
OPTIONS = {
    "debug": False, "fastmath": False, "forceinline": False, "inline": "never",
    "launch_bounds": None, "max_registers": None, "opt": True,
    "shared_memory_carveout": None,
}
IGNORED = "annotation", "ctx", "returns"    # fields of a syntax tree
ALIGNMENT = 256  # bytes, of whatever the driver allocates


@dataclass(frozen=True)
class Form:
    """The form of a launch; the kernel's name is for people and is not compared."""

    kernel: str = field(compare=False)
    code: str                       # a digest of the source, callees included
    constants: tuple[str, ...]      # what the code takes from outside, and its options
    arguments: tuple[str, ...]
    launch: str


def form_of(kernel, launch, arguments):
    """The form in which this kernel is launched, as `launch_text` puts it."""
    sources, constants = [], []
    for function in with_callees(kernel):
        sources.append(function.source)
        constants += function.constants()
    return Form(
        kernel=kernel.__name__,
        code=hashlib.sha256(repr(sources).encode()).hexdigest()[:12],
        constants=tuple(constants),
        arguments=tuple(describe(argument) for argument in arguments),
        launch=launch,
    )


# ---------------------------------------------------------------- the launch


def launch_text(blocks, threads, shared_bytes=0):
    """A launch in words; the ones at the end of its dimensions are left out."""
    shared = f", {shared_bytes:,} dynamic shared bytes" if shared_bytes else ""
    return f"{count(blocks, 'block')} × {count(threads, 'thread')}{shared}"


def count(size, noun):
    sizes = [int(n) for n in (size if isinstance(size, (tuple, list)) else (size,))]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    number = f"{sizes[0]:,}" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"
    return f"{number} {noun}" if sizes == [1] else f"{number} {noun}s"


# ---------------------------------------------------------------- the arguments


def describe(argument):
    """An argument's type, and the shape of an array or the value of a scalar."""
    if isinstance(argument, (tuple, list)):
        return f"({', '.join(describe(item) for item in argument)})"
    if isinstance(argument, (bool, int, float, complex)):
        argument = np.asarray(argument)[()]     # the type that Numba takes it for
    if isinstance(argument, np.generic):
        return f"{argument.dtype} {argument!s}"
    if hasattr(argument, "dtype") and hasattr(argument, "strides"):
        return describe_array(argument)
    return type(argument).__name__


def describe_array(array):
    dtype, shape = np.dtype(array.dtype), tuple(array.shape)
    # an array of that layout over no memory: device arrays know fewer flags
    like = np.lib.stride_tricks.as_strided(np.empty(0, dtype), shape, array.strides)
    text = f"{dtype}[{', '.join(map(str, shape))}]"
    if not like.flags.c_contiguous:
        text += " F" if like.flags.f_contiguous else f" strides {tuple(array.strides)}"
    start = misalignment(array)
    return f"{text} from byte {start}" if start else text


def misalignment(array):
    """Where a device array begins, counted from an aligned address."""
    interface = getattr(array, "__cuda_array_interface__", None)
    return interface["data"][0] % ALIGNMENT if interface else 0


# ---------------------------------------------------------------- the code


def with_callees(kernel):
    """The kernel and the device functions that it calls, each once, in order of use."""
    found, waiting = {}, [("", kernel)]
    while waiting:
        name, dispatcher = waiting.pop(0)
        if id(dispatcher) not in found:
            found[id(dispatcher)] = function = Function(name, dispatcher)
            waiting += function.callees()
    return list(found.values())


class Function:
    """A compiled function: its source, and what that takes from outside."""

    def __init__(self, name, dispatcher):
        self.prefix = f"{name}." if name else ""
        self.options = dispatcher.targetoptions
        self.py_func = dispatcher.py_func
        self.tree = definition_of(self.py_func)
        self.source = canonical(self.tree) if self.tree else bytecode(self.py_func)

    def callees(self):
        return [
            (name, value) for name, value in self.outside() if hasattr(value, "py_func")
        ]

    def constants(self):
        """What it takes from outside, as `name = value`."""
        values = self.outside() + self.attributes()
        options = [(k, self.options.get(k, v)) for k, v in OPTIONS.items()]
        values += [(k, v) for k, v in options if v != OPTIONS[k]]
        texts = ((name, text_of(value)) for name, value in values)
        return [f"{self.prefix}{name} = {text}" for name, text in texts if text]

    def outside(self):
        """The names that it reads and does not set, with their values."""
        code, function = self.py_func.__code__, self.py_func
        cells = map(contents, function.__closure__ or ())
        closure = dict(zip(code.co_freevars, cells, strict=True))
        scope = {**function.__globals__, **closure}
        names = self.names() - set(code.co_varnames) - set(code.co_cellvars)
        return [(name, scope[name]) for name in sorted(names) if name in scope]

    def names(self):
        if not self.tree:
            return {*self.py_func.__code__.co_names, *self.py_func.__code__.co_freevars}
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}

    def attributes(self):
        """The numbers that it takes from modules, such as `math.pi`."""
        modules = {k: v for k, v in self.outside() if isinstance(v, types.ModuleType)}
        used = {
            (node.value.id, node.attr)
            for node in ast.walk(self.tree or ast.Module([], []))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        taken = (
            (f"{name}.{attribute}", getattr(modules.get(name), attribute, None))
            for name, attribute in sorted(used)
        )
        return [pair for pair in taken if isinstance(pair[1], int | float)]


def canonical(definition):
    """A definition as nested lists, alike in all versions of Python."""
    body = definition.body
    if ast.get_docstring(definition, clean=False) is not None:
        body = body[1:]
    return [branch(definition.args), branch(body)]


def branch(node):
    if isinstance(node, list):
        return [branch(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    # which empty fields there are depends on the version
    fields = [
        [name, branch(value)]
        for name, value in ast.iter_fields(node)
        if name not in IGNORED and value not in (None, [])
    ]
    return [type(node).__name__, *fields]


def bytecode(function):
    code = function.__code__
    return [code.co_code.hex(), repr(code.co_consts), code.co_names]


def text_of(value):
    """A value from outside as text; None for what the source already says."""
    if isinstance(value, (bool, int, float, complex, str, tuple, np.generic)):
        return repr(value)
    if isinstance(value, (numba.types.Type, np.dtype)):
        return str(value)
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{describe_array(value)} {digest[:12]}"
    return None
